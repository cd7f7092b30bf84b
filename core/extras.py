"""Optional packages: which extra brings each, and one sentence where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from .errors import MissingExtra
from .installation import INSTALLED

COLLECT = ("litellm", "pydantic", "httpx", "aiohttp")
"""Packages that collecting votes from models needs."""
APP = ("streamlit", "pandas", "plotly")
"""Packages that the dashboard needs."""
EXTRA_OF = {
    **dict.fromkeys(APP, "app"),
    "markdown_it": "app",
    "python_calamine": "app",
    "plotly": "report",
    **dict.fromkeys(COLLECT, "collect"),
    "evalica": "ratings",
    "glicko2": "ratings",
}
"""Module → the extra that is named where it is absent; drivers of engines have their own sentence.
"""


def install(extra: str) -> str:
    """The command that installs an extra here.

    >>> install("report")
    "pip install '.[report]'"
    """
    return f"pip install '{'appellate' if INSTALLED else '.'}[{extra}]'"


def missing(package: str, purpose: str = "This") -> MissingExtra:
    """What to say where a package is not there.

    purpose : what needs it, as the subject of the sentence.
    """
    extra = EXTRA_OF[package]
    return MissingExtra(
        f"{purpose} needs {package}, which is not installed: {install(extra)} "
        f"(the extra {extra}) brings it."
    )


def installed(package: str) -> bool:
    """Whether a package can be imported; it is not."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def require(*packages: str, purpose: str = "This") -> None:
    """Check that packages are installed, without importing them.

    Raises MissingExtra, which names the first that is not.
    """
    for package in packages:
        if not installed(package):
            raise missing(package, purpose)
