"""Sentence and table of the Confusion page: how often a judge is right, and what it gets wrong most."""

from __future__ import annotations

from ..agreement.confusion_matrix import Confusion, commonest_error
from . import verdicts
from .format import SAYS
from .tables import TEXT, Column
from .verdicts import Verdict


def confusion(judge: str, value: Confusion, *, noun: str = "votes") -> Verdict:
    """Accuracy under the table's tie rule, and the commonest error; `noun` is what was compared with gold."""
    unit = f"decided {noun}" if value.ties in ("drop_votes", "drop_both") else noun
    if value.ties in ("drop_gold", "drop_both"):
        unit += " on untied comparisons"
    found = verdicts.accuracy(judge, value.accuracy, value.constant, unit=unit)
    worst = commonest_error(value)
    if worst is None:
        return found
    gold, says, count = worst
    errors = value.n - int(value.counts.trace())
    sentence = (
        f"{found.sentence} Its commonest error: saying {SAYS[says]} where gold says {SAYS[gold]} "
        f"({count:,} of {errors:,} errors)."
    )
    return Verdict(judge, found.check, found.verdict, sentence)


def cell_key(gold: int, verdict: int) -> str:
    """Name of a cell, also what a select box shows."""
    return f"gold says {SAYS[gold]}, judge says {SAYS[verdict]}"


def _error(table: Confusion) -> str:
    worst = commonest_error(table)
    return cell_key(*worst[:2]) if worst else "none"


def _errors(table: Confusion) -> int:
    worst = commonest_error(table)
    return worst[2] if worst else 0


ACCURACY = (
    Column("n", "n", ",d"),
    Column("share right", "accuracy", ends=("low", "high")),
    Column("commonest error", _error, TEXT),
    Column("of it", _errors, ",d"),
    Column("best constant", "constant"),
    Column("right: A better", lambda table: float(table.share.value[2, 2])),
    Column("right: a tie", lambda table: float(table.share.value[1, 1])),
    Column("right: B better", lambda table: float(table.share.value[0, 0])),
)
"""A row per judge: accuracy, its commonest error, and the share right where gold says each label."""
