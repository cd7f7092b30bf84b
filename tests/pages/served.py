"""The real server in a process of its own, and visitors without a browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import httpx
from patience import LONG
from places import REPOSITORY
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """`streamlit run SCRIPT` on a free port, from when it answers until the end of the block."""

    def __init__(
        self,
        script: str,
        store: Path,
        arguments: Callable[[int], list[str]] = lambda port: [],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.store, self.log = store, store.with_suffix(".log")
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            script,
            "--server.port",
            str(self.port),
        ]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *arguments(self.port)],
                cwd=REPOSITORY,
                env={
                    **os.environ,
                    "APPELLATE_STORE": str(store),
                    "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
                    **(environment or {}),
                },
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if httpx.get(f"{self.url}/_stcore/health").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.2)
        raise RuntimeError(self.log.read_text())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(LONG)

    def memory(self) -> int:
        """Resident bytes of the server."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


class Session:
    """A visitor's socket. `run` asks for a page and returns all that it sent, as text."""

    def __init__(self, server: Server, cookies: Mapping[str, str] | None = None) -> None:
        self.id = ""
        cookies = cookies or {}
        named = "; ".join(f"{name}={value}" for name, value in cookies.items())
        self._connecting = connect(
            f"ws://localhost:{server.port}/_stcore/stream",
            subprotocols=["streamlit", cookies.get("_streamlit_xsrf", "none")],  # type: ignore[list-item]
            origin=server.url,  # type: ignore[arg-type]
            additional_headers={"Cookie": named} if named else None,
            max_size=None,
        )

    def __enter__(self) -> Self:
        self.socket: ClientConnection = self._connecting.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._connecting.__exit__(*raised)

    def run(
        self,
        page: str = "",
        query: str = "",
        *,
        controls: Iterable[WidgetState] = (),
        part: str = "",
    ) -> str:
        """What is sent of a page, or of a part of it alone, with these values of controls."""
        asked = BackMsg()
        asked.rerun_script.page_name = page
        asked.rerun_script.query_string = query
        asked.rerun_script.fragment_id = part
        asked.rerun_script.widget_states.widgets.extend(controls)
        self.socket.send(asked.SerializeToString())
        texts: list[str] = []
        self.sent: list[ForwardMsg] = []
        while True:
            message = ForwardMsg()
            message.ParseFromString(self.socket.recv(timeout=LONG))
            texts.append(str(message))
            self.sent.append(message)
            self.id = self.id or message.new_session.initialize.session_id
            if message.WhichOneof("type") != "script_finished":
                continue
            if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                texts.clear()
            else:
                return "\n".join(texts)
