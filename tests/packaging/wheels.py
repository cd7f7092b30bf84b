"""Wheels of a checkout, and environments that they are installed in."""

import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from places import REPOSITORY

NO_NETWORK = ("--no-deps", "--no-index", "--disable-pip-version-check", "--quiet")


def build(folder: Path, source: Path = REPOSITORY) -> Path:
    """The wheel of a checkout or an sdist, built with what is installed here."""
    pip = [sys.executable, "-m", "pip", "wheel", *NO_NETWORK, "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass
class Environment:
    """A fresh environment: where its packages and its programs are."""

    packages: Path
    scripts: Path


def environment(folder: Path, wheel: Path) -> Environment:
    """An environment in `folder` with a wheel in it, and nothing that the wheel needs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    places = sysconfig.get_paths("venv", vars={"base": str(folder), "platbase": str(folder)})
    made = Environment(Path(places["purelib"]), Path(places["scripts"]))
    python = str(made.scripts / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", *NO_NETWORK]
    subprocess.run([*pip, str(wheel)], check=True)
    return made


def closure(requirements: Iterable[str]) -> set[str]:
    """Distributions, of those installed here, that requirements bring: names in lower case.

    What an extra of theirs would bring is not among them.
    """
    from packaging.requirements import Requirement

    brought: set[str] = set()
    waiting = [*requirements]
    while waiting:
        requirement = Requirement(waiting.pop())
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        marker = requirement.marker
        if name in brought or (marker is not None and not marker.evaluate({"extra": ""})):
            continue
        brought.add(name)
        waiting += distribution(name).requires or []
    return brought


def size(name: str) -> int:
    """Bytes of an installed distribution, its byte code included."""
    files = distribution(name).files or []
    return sum(path.stat().st_size for file in files if (path := Path(file.locate())).is_file())


def link(names: Iterable[str], packages: Path) -> None:
    """Let an environment see distributions that are installed here, and no others."""
    for name in names:
        files = distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(sysconfig.get_paths()["purelib"]) / top)


def run(
    environment: Environment, folder: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `appellate` of an environment in a folder."""
    return subprocess.run(
        [str(environment.scripts / "appellate"), *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
