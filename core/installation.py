"""Where Appellate runs from, a checkout or an installed package, and how its dashboard is started
there.

The wheel puts the checkout below one package: `core/` becomes `appellate/core/`, `app.py` becomes
`appellate/app.py`. Streamlit puts the folder of the script that it runs on `sys.path`, so the
dashboard finds `core` and `pages` in either place, and what lies beside `core` is found from ROOT.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = (ROOT / "__init__.py").exists()
"""Whether ROOT is the package `appellate`; a checkout is no package."""
API = "appellate" if INSTALLED else "core"
"""The package to import the public API from."""
PROGRAM = "appellate" if INSTALLED else "python -m core"
"""How the command line is started."""
SETTINGS = ROOT / ".streamlit" / "config.toml"


class _LeftOut(MetaPathFinder):
    """Finds nothing, and lets nobody else find one package."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, *_: object) -> None:
        """Say that the package is not there."""
        if name == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def leave_out(package: str) -> None:
    """Let the rest of this process run as if a package were not installed.

    pyarrow imports pandas, where there is one, to ask whether a list is a Series: a third of the
    time that a small file takes.
    """
    sys.meta_path.insert(0, _LeftOut(package))


def leave_out_fortran() -> None:
    """Put an empty module in the place of numpy's Fortran wrapper for the rest of this process.

    scipy.special copies every name of numpy, and so imports the wrapper, which nothing here needs:
    a tenth of the time that a small file takes.
    """
    if "numpy.f2py" not in sys.modules:
        import numpy

        empty = ModuleType("numpy.f2py")
        sys.modules[empty.__name__] = empty
        vars(numpy)["f2py"] = empty


def data_folder() -> Path:
    """Folder of the default store: `data/` of a checkout, the user's data directory if
    installed.
    """
    if not INSTALLED:
        return ROOT / "data"
    from platformdirs import user_data_path

    return user_data_path("appellate", appauthor=False)


def settings(path: Path = SETTINGS) -> dict[str, Any]:
    """Streamlit's settings as the file has them, by their full names
    (`theme.light.primaryColor`).
    """

    def flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
        for name, value in table.items():
            if isinstance(value, dict):
                yield from flat(value, f"{prefix}{name}.")
            else:
                yield f"{prefix}{name}", value

    return dict(flat(tomllib.loads(path.read_text(encoding="utf-8")), ""))


def variable(setting: str) -> str:
    """The environment variable that sets one of Streamlit's settings:
    `server.maxUploadSize` → ….
    """
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", setting))
    return f"STREAMLIT_{name.replace('.', '_').upper()}"


def flags(values: Mapping[str, Any]) -> list[str]:
    """Settings as arguments of `streamlit run`. It takes lists of the theme as JSON, others item by
    item.
    """
    arguments = []
    for name, value in values.items():
        one_by_one = isinstance(value, list) and not name.startswith("theme.")
        for each in value if one_by_one else [value]:
            arguments += [f"--{name}", each if isinstance(each, str) else json.dumps(each)]
    return arguments


def dashboard(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The command that serves the dashboard with every setting of the file, wherever it is started.

    arguments : of `streamlit run`; they win over the environment, and both over the file.
    """
    given = {argument.removeprefix("--").partition("=")[0] for argument in arguments}
    values = {
        name: value
        for name, value in settings().items()
        if name not in given and variable(name) not in environment
    }
    # -P: the working directory is the user's, and a module there must not stand in for one of ours.
    run = [sys.executable, "-P", "-m", "streamlit", "run", str(ROOT / "app.py")]
    return [*run, *flags(values), *arguments]


def serve(arguments: Sequence[str], *, store: Path | None = None) -> int:
    """Serve the dashboard until it is stopped, and return its exit code."""
    environment = os.environ | ({} if store is None else {"APPELLATE_STORE": str(store.absolute())})
    command = dashboard(arguments, environment)
    if os.name == "posix":
        # Signals then reach the server itself.
        os.execve(command[0], command, environment)
    return subprocess.run(command, env=environment, check=False).returncode
