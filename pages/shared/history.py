"""Scripts in the page that Streamlit serves: by `history.js` Back leads to the page before, as it
was left; by `label_keys.js` a press on the page Label is for the card that is read.
"""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAME = "appellate.js"
SCRIPT = b"\n".join(
    (Path(__file__).parent / name).read_bytes() for name in ("history.js", "label_keys.js")
)
TAG = f'<script src="./{NAME}"></script></head>'.encode()
END = b"</head>"


def _script(_: Request) -> Response:
    return Response(SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


ROUTE = Route(f"/{NAME}", _script)


class WithHistory:
    """Adds the script to Streamlit's own page; every other answer passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started: Message | None = None
        body = bytearray()

        async def send_with_script(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start" and _is_page(message):
                started = message
            elif started is None:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    page = bytes(body).replace(END, TAG, 1)
                    headers = MutableHeaders(scope=started)
                    if "content-length" in headers:
                        headers["content-length"] = str(len(page))
                    await send(started)
                    await send({"type": "http.response.body", "body": page})

        http = scope["type"] == "http" and scope["method"] == "GET"
        await self.app(
            _unpacked(scope) if http else scope, receive, send_with_script if http else send
        )


def _unpacked(scope: Scope) -> Scope:
    """A request for a page asks for it as it is: Streamlit packs the page of a deep link, and the
    script would not get into that one.
    """
    if "." in scope.get("path", "").rpartition("/")[2]:
        return scope
    headers = [pair for pair in scope.get("headers", []) if pair[0] != b"accept-encoding"]
    return {**scope, "headers": headers}


def _is_page(message: Message) -> bool:
    """Whether an answer is a page as it is: not a report that is downloaded, and not packed."""
    headers = MutableHeaders(scope=message)
    return (
        message["status"] == 200
        and headers.get("content-type", "").startswith("text/html")
        and "content-disposition" not in headers
        and headers.get("content-encoding", "identity") == "identity"
    )
