"""Sentences and tables of Other biases: length."""

from __future__ import annotations

from ...finding.tables import Column
from ...finding.wording import percent, percent_span
from .preference import Verbosity

LENGTHS = (
    Column("decided votes", "n", ",d"),
    Column("prefers longer", "longer_rate", ends=("low", "high")),
    Column("where gold is known", "judge_rate"),
    Column("votes with decided gold", "n_gold", ",d"),
    Column("gold prefers longer", "gold_rate"),
    Column("beyond gold", "beyond_gold", "+.3f"),
)
"""A row per judge: how often it, and gold, prefers the longer response."""


def verbosity(judge: str, value: Verbosity | None) -> str:
    """How often a judge, and gold on the same comparisons, prefers the longer response."""
    if value is None:
        return f"{judge}: no decided vote on responses of known, different length."
    found = (
        f"{judge}: prefers the longer response in {percent(value.longer_rate.value)} of "
        f"{value.n:,} decided votes ({percent_span(value.longer_rate)})"
    )
    if value.judge_rate is None or value.gold_rate is None:
        return f"{found}; without gold it is unknown whether the longer ones are better."
    return (
        f"{found}; where gold decides, in {percent(value.judge_rate)} of {value.n_gold:,}, and "
        f"gold in {percent(value.gold_rate)} of them."
    )
