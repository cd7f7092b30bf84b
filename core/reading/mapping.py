"""What a user has said of a file, in the terms of a plan, and how it is typed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Said:
    """Decisions that only the owner of a file can take; empty ones are left to the evidence.

    mapping : role → column.  orders : two columns of verdicts, of answers shown as they stand and
    turned.  runs : columns that repeat one judgement.  judges, people : columns of a rater each.
    labels : word → A, B, tie, pass, fail, a number, or failed (no verdict).  position : word → ab
    or ba.  refers : labels name the models, or the first and second shown.  unit : rows of one item
    are `runs` of one answer, or `rows` on their own.  unused : columns to be left out.
    version : column that tells versions of a judge apart.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    orders: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    position: Mapping[str, str] = field(default_factory=dict)
    refers: str | None = None
    unit: str | None = None
    unused: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    table: str | None = None
    version: str | None = None

    @property
    def columns(self) -> set[str]:
        """Columns of which it says what they are."""
        return {*self.mapping.values(), *self.orders, *self.runs, *self.judges, *self.people}


def typed(flag: str, *values: str) -> str:
    """An option with its values as it is typed: one that begins as an option does behind a sign.

    >>> typed("--label-map", "-1=B", "1=A")
    '--label-map=-1=B --label-map 1=A'
    """
    apart = [f"{flag}={shlex.quote(value)}" for value in values if value.startswith("-")]
    plain = [shlex.quote(value) for value in values if not value.startswith("-")]
    return " ".join([*apart, *([flag, *plain] if plain or not apart else [])])
