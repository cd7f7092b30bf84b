"""What brings a store from one layout to the next: statements of one change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Params = Sequence[Any] | Mapping[str, Any] | None


class Statements(Protocol):
    """A change of the store, as far as upgrades need it."""

    def execute(self, sql: str, params: Params = None) -> None:
        """Run one statement for what it does."""

    def count(self, sql: str, params: Params = None) -> int:
        """The whole number that a statement gives, 0 for null."""

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """The rows of an answer."""
