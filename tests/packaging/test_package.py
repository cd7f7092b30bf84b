"""The wheel in an environment of its own, and the dashboard from a folder that is not ours."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from patience import LONG
from places import REPOSITORY
from wheels import NO_NETWORK, build

from core import __main__ as command_line
from core import __version__, installation
from core.use import commands

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
SETTINGS = installation.settings()
# Only what is set for the test: a visitor's own settings of Streamlit or Appellate must not decide
# it.
BARE = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("STREAMLIT_", "APPELLATE_"))
}
OF_ITS_OWN = ("server.port", "browser.serverPort", "server.cookieSecret", "secrets.files")
"""Settings that differ between two servers: ports, what is drawn at random, and folders."""
CONTRARY = """
[server]
address = "0.0.0.0"
port = 1
allowedHosts = ["*"]
[browser]
gatherUsageStats = true
[client]
showErrorDetails = "full"
[theme.light]
primaryColor = "#ff0000"
"""
SIX_LINES = """
from pathlib import Path
from appellate import Selection, Store, audit, read, to_json
store = Store.open()
for reading in read([("votes.csv", Path("votes.csv"))]):
    store.load(reading)
print(to_json(audit(store, Selection())))
"""
VOTES = "item_id,model_a,model_b,judge,run,vote,confidence,gold\n" + "".join(
    f"{item},x,y,{judge},{run},{'A' if (item + run) % 3 else 'B'},0.{7 + item % 3},A\n"
    for item in range(20)
    for judge in ("one", "two")
    for run in range(2)
)


def test_a_checkout_is_not_installed() -> None:
    assert (installation.INSTALLED, installation.API, installation.PROGRAM) == (
        False,
        "core",
        "python -m core",
    )
    assert installation.data_folder() == REPOSITORY / "data"


def test_every_setting_becomes_an_argument() -> None:
    command = installation.dashboard([], {})
    assert command[1:4] == ["-P", "-m", "streamlit"]
    assert {word[2:] for word in command if word.startswith("--")} == set(SETTINGS)
    assert {"server.allowedHosts", "theme.light.primaryColor", "theme.sidebar.paddingTop"} <= set(
        SETTINGS
    )
    hosts = [after for word, after in pairwise(command) if "allowedHosts" in word]
    assert hosts == SETTINGS["server.allowedHosts"]


def test_what_the_user_sets_wins() -> None:
    command = installation.dashboard(
        ["--server.port=80", "--server.allowedHosts", "judges.example.org"],
        {"STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "9"},
    )
    assert command[-3:] == ["--server.port=80", "--server.allowedHosts", "judges.example.org"]
    assert "--server.port" not in command
    assert command.count("--server.allowedHosts") == 1
    assert "--server.maxUploadSize" not in command


def test_command_passes_what_it_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    served: list[tuple[list[str], Path | None]] = []

    def serve(arguments: list[str], *, store: Path | None = None) -> int:
        served.append((arguments, store))
        return 0

    monkeypatch.setattr(commands, "serve", serve)
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    more = ["--", "--server.allowedHosts", "judges.example.org"]
    assert (
        command_line.main(
            ["app", "--port", "80", "--address", "::1", "--store", "own.duckdb", *more]
        )
        == 0
    )
    assert command_line.main(["app"]) == 0
    assert served == [
        ([*more[1:], "--server.port", "80", "--server.address", "::1"], Path("own.duckdb")),
        ([], tmp_path / "votes.duckdb"),
    ]


def test_dashboard_refuses_an_open_network(tmp_path: Path) -> None:
    environment = {
        **BARE,
        "PYTHONPATH": str(REPOSITORY),
        "APPELLATE_STORE": str(tmp_path / "votes.duckdb"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "core", "app", "--address", "0.0.0.0"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 1
    assert "open to anyone" in done.stderr


def test_variables_are_those_of_streamlit() -> None:
    from streamlit import config

    options = config.get_config_options()
    for setting in SETTINGS:
        assert installation.variable(setting) == options[setting].env_var


@dataclass
class Served:
    """What a server showed: headers of its page, what it sent to a browser, its settings and who
    set them.
    """

    headers: dict[str, str]
    session: bytes
    settings: dict[str, Any]
    arguments: set[str]
    output: str


def _session(port: int) -> bytes:
    """Configuration and theme that the server sends to a browser."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.sync.client import connect

    address = f"localhost:{port}"
    with connect(
        f"ws://{address}/_stcore/stream",
        origin=f"http://{address}",
        subprotocols=["streamlit"],
        max_size=None,
    ) as browser:
        browser.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
        found = b""
        while True:
            message = ForwardMsg.FromString(browser.recv(LONG))
            if message.HasField("new_session"):
                new = message.new_session
                found = new.config.SerializeToString(
                    deterministic=True
                ) + new.custom_theme.SerializeToString(deterministic=True)
            if message.HasField("script_finished"):
                return found


@contextmanager
def _running(
    command: Sequence[str], folder: Path, log: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield server
    finally:
        server.terminate()
        try:
            server.wait(LONG)
        except subprocess.TimeoutExpired:
            server.kill()
            raise


def serve(
    command: Sequence[str], folder: Path, probe: Path, *, path: str = "", **variables: str
) -> Served:
    """Start a dashboard in `folder`, look at it as a browser does, stop it, and read its settings.

    command : ends with the option that takes the port.
    """
    written = probe / f"{folder.name}.json"
    environment = {
        **BARE,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(probe), path))),
        "SETTINGS_TO": str(written),
        "HOME": str(probe),
        "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
        **variables,
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = written.with_suffix(".log")
    with _running([*command, str(port)], folder, log, environment) as server:

        def waited() -> None:
            assert server.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.1)

        deadline = time.monotonic() + LONG
        while True:
            try:
                with urllib.request.urlopen(f"http://localhost:{port}/", timeout=5) as answer:
                    headers = {name.lower(): value for name, value in answer.headers.items()}
                    break
            except OSError:
                waited()
        session = _session(port)
        server.send_signal(signal.SIGUSR1)
        while not written.exists():
            waited()
    found = json.loads(written.read_text(encoding="utf-8"))
    settings = {name: value for name, (value, _) in found.items() if name not in OF_ITS_OWN}
    arguments = {name for name, (_, where) in found.items() if where.startswith("command-line")}
    assert found["server.port"][0] == port
    del headers["date"]
    return Served(headers, session, settings, arguments, log.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a `sitecustomize` by which a server writes its settings when it is signalled."""
    folder = tmp_path_factory.mktemp("probe")
    (folder / "sitecustomize.py").write_text(
        """
import json, os, signal, sys

def plain(value):
    # Lists and numbers of the theme come from the command line as JSON, and Streamlit reads them so.
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value

def write(*_):
    options = sys.modules["streamlit.config"].get_config_options()
    target = os.environ["SETTINGS_TO"]
    with open(target + ".part", "w") as file:
        json.dump({name: [plain(x.value), x.where_defined] for name, x in options.items()}, file)
    os.replace(target + ".part", target)

signal.signal(signal.SIGUSR1, write)
""",
        encoding="utf-8",
    )
    return folder


@pytest.fixture(scope="module")
def checkout(probe: Path, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """The dashboard as `make run` serves it."""
    make = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^run: .*\n\t\$\(BIN\)/streamlit run app\.py$", make, flags=re.MULTILINE)
    store = tmp_path_factory.mktemp("checkout") / "votes.duckdb"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port"]
    return serve(command, REPOSITORY, probe, APPELLATE_STORE=str(store))


@dataclass
class Environment:
    """A fresh environment in which only Appellate is new. `folder` holds a file of votes and
    nothing else.
    """

    packages: Path
    scripts: Path
    folder: Path
    variables: dict[str, str]

    @property
    def data(self) -> Path:
        return Path(self.variables["XDG_DATA_HOME"])

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.scripts / command), *arguments],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    root = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root / "venv")], check=True)
    places = sysconfig.get_paths(
        "venv", vars={"base": str(root / "venv"), "platbase": str(root / "venv")}
    )
    packages, scripts = Path(places["purelib"]), Path(places["scripts"])
    (packages / "dependencies.pth").write_text(
        sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8"
    )
    pip = [sys.executable, "-m", "pip", "--python", str(scripts / "python"), "install", *NO_NETWORK]
    subprocess.run([*pip, str(wheel)], check=True)
    folder = root / "elsewhere"
    folder.mkdir()
    (folder / "votes.csv").write_text(VOTES, encoding="utf-8")
    own = {"HOME": str(root), "XDG_DATA_HOME": str(root / "data"), "PYTHONPATH": ""}
    return Environment(packages, scripts, folder, {**BARE, **own})


@pytest.mark.thorough
def test_dashboard_of_a_checkout_from_an_empty_folder(
    checkout: Served, probe: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    store = tmp_path / "votes.duckdb"
    command = [sys.executable, "-m", "core", "app", "--store", str(store), "--port"]
    served = serve(command, folder, probe, path=str(REPOSITORY))
    assert served.settings == checkout.settings
    assert served.headers == checkout.headers
    assert served.session == checkout.session
    assert set(SETTINGS) <= served.arguments
    assert "content-security-policy" in served.headers
    assert served.settings["server.allowedHosts"] == SETTINGS["server.allowedHosts"]
    assert store.exists()
    assert not any(folder.iterdir())


@pytest.mark.thorough
def test_installed_dashboard_beside_contrary_settings(
    checkout: Served, installed: Environment, probe: Path, tmp_path: Path
) -> None:
    """`.streamlit/config.toml` of the working directory does not loosen what ours sets."""
    folder = tmp_path / "contrary"
    (folder / ".streamlit").mkdir(parents=True)
    (folder / ".streamlit" / "config.toml").write_text(CONTRARY, encoding="utf-8")
    command = [str(installed.scripts / "appellate"), "app", "--port"]
    served = serve(command, folder, probe, XDG_DATA_HOME=str(installed.data))
    assert served.settings == checkout.settings
    assert served.headers == checkout.headers
    assert served.session == checkout.session
    assert set(SETTINGS) <= served.arguments
    store = installed.data / "appellate" / "votes.duckdb"
    assert store.exists()
    assert f"the store is {store}" in served.output
    assert "Traceback" not in served.output


@pytest.mark.thorough
def test_wheel_brings_one_name(installed: Environment) -> None:
    names = {path.name for path in installed.packages.iterdir()} - {
        "dependencies.pth",
        "__pycache__",
    }
    assert names == {"appellate", f"appellate-{__version__}.dist-info"}
    below = {path.name for path in (installed.packages / "appellate").iterdir()} - {"__pycache__"}
    assert {"core", "pages", "data", "app.py", "py.typed", ".streamlit"} <= below
    assert (installed.packages / "appellate" / "core" / "reporting" / "report.html.j2").is_file()
    data = {path.name for path in (installed.packages / "appellate" / "data").iterdir()}
    examples = {"example_first_shown.csv", "example_overconfident.csv"}
    assert data == {
        "README.md",
        *examples,
        *(f"demo_{kind}.csv.gz" for kind in ("votes", "fuser", "answers", "scores", "rankings")),
    }


@pytest.mark.thorough
def test_installed_commands(installed: Environment) -> None:
    assert installed.run("appellate", "--version").stdout == f"appellate {__version__}\n"
    assert (
        installed.run("python", "-m", "appellate", "--version").stdout
        == f"appellate {__version__}\n"
    )
    assert installed.run("appellate", "audit", "--help").stdout.startswith(
        "usage: appellate audit "
    )
    audited = installed.run("appellate", "audit", "votes.csv", "--splits", "0")
    assert audited.returncode == 0, audited.stderr
    assert "\nJudges: 2; votes: 80;" in audited.stdout
    assert "appellate audit FILE" in installed.run("appellate", "audit").stderr


@pytest.mark.thorough
def test_installed_store_lies_with_the_users_data(installed: Environment) -> None:
    store = installed.data / "appellate" / "votes.duckdb"
    loaded = installed.run("appellate", "import", "votes.csv", "--dataset", "mine")
    assert loaded.returncode == 0, loaded.stderr
    assert f"the store is {store}" in loaded.stderr
    assert store.exists()
    own = installed.folder / "own.duckdb"
    assert installed.run("appellate", "import", "votes.csv", "--store", str(own)).stderr == ""
    assert own.exists()
    own.unlink()
    written = installed.run("appellate", "export", "out.csv", "--dataset", "mine")
    assert written.returncode == 0, written.stderr
    (installed.folder / "out.csv").unlink()


@pytest.mark.thorough
def test_installed_library(installed: Environment) -> None:
    as_document = installed.run("python", "-c", SIX_LINES)
    assert as_document.returncode == 0, as_document.stderr
    from_command = installed.run("appellate", "audit", "votes.csv", "--json", "-")
    assert json.loads(as_document.stdout)["judges"] == json.loads(from_command.stdout)["judges"]
    names = (
        "import appellate, sys; print('core' in sys.modules, 'pandas' "
        "in sys.modules, len(dir(appellate)))"
    )
    assert installed.run("python", "-c", names).stdout.startswith("False False ")
    absent = installed.run("python", "-c", "import core")
    assert "No module named 'core'" in absent.stderr
    every = (
        "from appellate import *; import appellate; print(appellate.__all__ "
        "== appellate.core.__all__)"
    )
    assert installed.run("python", "-c", every).stdout == "True\n"


@pytest.mark.thorough
def test_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    hatch = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(hatch, cwd=REPOSITORY, check=True, capture_output=True)
    (sdist,) = tmp_path.glob("*.tar.gz")

    def files(path: Path) -> dict[str, int]:
        with zipfile.ZipFile(path) as archive:
            return {file.filename: file.CRC for file in archive.infolist()}

    assert files(build(tmp_path / "again", sdist)) == files(wheel)
