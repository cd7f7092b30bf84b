"""The image, without an engine to build it: what it copies, what it runs, and how it is asked
whether it lives.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import LONG
from places import REPOSITORY

from core import __version__

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXT = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
LINES = re.sub(r"\\\n", " ", "\n".join(x for x in TEXT.splitlines() if not x.startswith("#")))
STEPS = [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in LINES.splitlines() if line]
VARIABLES = dict(word.split("=", 1) for word in shlex.split(dict(STEPS)["ENV"]))


def of(instruction: str) -> list[str]:
    return [text for name, text in STEPS if name == instruction]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file system that the copying steps make."""
    root = tmp_path_factory.mktemp("image")
    for text in of("COPY"):
        *sources, target = text.split()
        place = root / target.lstrip("/")
        for source in sources:
            path = REPOSITORY / source
            if path.is_dir():
                shutil.copytree(path, place, dirs_exist_ok=True)
            else:
                into = place / path.name if target.endswith("/") else place
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, into)
    return root


@pytest.mark.thorough
def test_the_image_has_what_the_wheel_has(image: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {
            file.filename: archive.read(file) for file in archive.infolist() if not file.is_dir()
        }
    ours = {name: content for name, content in packed.items() if name.startswith("appellate/")}
    there = {
        str(path.relative_to(image / "opt")): path.read_bytes()
        for path in (image / "opt").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert there == ours


def test_packages_are_those_of_the_locks(image: Path) -> None:
    (install,) = (text for text in of("RUN") if "pip install" in text)
    assert "--require-hashes" in install
    locks = re.findall(r"-r (\S+)", install)
    assert len(locks) == 2
    for lock in locks:
        name = Path(lock).name
        content = (image / lock.lstrip("/")).read_text(encoding="utf-8")
        assert content == (REPOSITORY / "requirements" / name).read_text(encoding="utf-8")
    everything, sign_in = (
        set(re.findall(r"^([\w.-]+)==", (image / lock[1:]).read_text("utf-8"), flags=re.MULTILINE))
        for lock in locks
    )
    assert {"streamlit", "litellm", "evalica"} <= everything
    assert "authlib" in sign_in
    # Two versions of one package would not install.
    assert not everything & sign_in


def test_the_image_is_slim_and_runs_as_nobody_special() -> None:
    (base,) = of("FROM")
    found = re.fullmatch(r"python:(3\.\d+)-slim-\w+", base)
    assert found
    assert f"Programming Language :: Python :: {found[1]}" in PROJECT["classifiers"]
    (user,) = of("USER")
    assert re.search(rf"useradd --uid [1-9]\d+ .*{user}", of("RUN")[0])
    names = [name for name, _ in STEPS]
    # After this nothing more is done as root.
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])
    (volume,) = of("VOLUME")
    assert Path(VARIABLES["APPELLATE_STORE"]).parent == Path(volume)
    assert f"--owner={user}" in of("RUN")[0]
    assert of("RUN")[0].endswith(volume)


def test_what_is_copied_is_not_ignored() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[1] == "*"
    kept = [line[1:] for line in ignored if line.startswith("!")]
    for text in of("COPY"):
        for source in text.split()[:-1]:
            assert any(Path(source).match(pattern) for pattern in kept), source
    for secret in ("data/votes.duckdb", ".streamlit/secrets.toml", ".git", ".venv"):
        assert not any(Path(secret).match(pattern) for pattern in kept), secret


def environment(image: Path, folder: Path, **more: str) -> dict[str, str]:
    """The image's variables, with its places below this folder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        **VARIABLES,
        "PYTHONPATH": str(image / VARIABLES["PYTHONPATH"].lstrip("/")),
        "APPELLATE_STORE": str(folder / "votes.duckdb"),
        **more,
    }


def command(instruction: str) -> list[str]:
    """The words of an instruction, with this Python."""
    words: list[str] = json.loads(of(instruction)[0][of(instruction)[0].index("[") :])
    assert words[0] == "python" or instruction == "CMD"
    return [sys.executable, *words[1:]] if words[0] == "python" else words


@pytest.mark.thorough
def test_a_mounted_folder_is_audited(image: Path, tmp_path: Path) -> None:
    for name in ("core.py", "appellate.py", "numpy.py"):
        (tmp_path / name).write_text("raise SystemExit(9)", encoding="utf-8")
    for arguments, expected in (
        (["--version"], f"appellate {__version__}\n"),
        (["simulate", "votes.csv", "--items", "3"], "votes.csv: "),
        (["audit", "votes.csv", "--splits", "0"], "\nJudges: 7; "),
    ):
        done = subprocess.run(
            [*command("ENTRYPOINT"), *arguments],
            cwd=tmp_path,
            env=environment(image, tmp_path),
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert expected in done.stdout, done.stderr


@contextmanager
def started(image: Path, folder: Path, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [*command("ENTRYPOINT"), *command("CMD")],
            cwd=folder,
            env=environment(image, folder, **more),
            stdout=log,
            stderr=log,
        )
    try:
        yield server
    finally:
        server.kill()
        server.wait(LONG)


@pytest.mark.thorough
def test_the_app_starts_and_says_that_it_lives(image: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    health = command("HEALTHCHECK")

    def healthy() -> bool:
        asked = environment(image, tmp_path, STREAMLIT_SERVER_PORT=port)
        return subprocess.run(health, env=asked, capture_output=True, check=False).returncode == 0

    with started(image, tmp_path, STREAMLIT_SERVER_PORT=port) as server:
        # Nobody said who may come in.
        assert server.wait(LONG) == 1
        assert "open to anyone" in (tmp_path / "log").read_text(encoding="utf-8")
    assert not healthy()
    allowed = {"STREAMLIT_SERVER_PORT": port, "APPELLATE_ALLOW_REMOTE": "1"}
    deadline = time.monotonic() + LONG
    with started(image, tmp_path, **allowed) as server:
        while not healthy():
            assert server.poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.5)
    assert not healthy()
