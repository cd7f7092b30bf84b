"""Appellate, installed: the public API of its core, imported when it is first used.

The wheel puts this file above the checkout: `core/` is `appellate.core` there. It is no part of a
checkout, where the API is imported from `core`.
"""

from typing import TYPE_CHECKING, Any

from . import core
from .core import __version__ as __version__

if TYPE_CHECKING:
    from .core import *  # noqa: F403

__all__ = core.__all__


def __getattr__(name: str) -> Any:
    if name not in core.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(core, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *core.__all__})
