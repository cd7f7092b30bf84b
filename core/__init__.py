"""Appellate's statistics: votes of LLM judges in, numbers with intervals out. Never imports
Streamlit.

The names in `__all__` are the public API, the only stable one. `__init__.pyi` lists them and where
they are, for type checkers and for this module, which imports each when it is first used: `import
core` stays light.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _places() -> dict[str, tuple[str, str]]:
    """Public name → its module, relative to this package, and its name there."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        name.asname or name.name: (f".{line.module}", name.name)
        for line in stub.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }


_PLACES = _places()
__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, there = _PLACES[name]
    found = import_module(module, __name__)
    # `vote_queries` is a module of the package `store`.
    value = (
        getattr(found, there)
        if hasattr(found, there)
        else import_module(f"{module}.{there}", __name__)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
