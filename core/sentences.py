"""Answers of the Confusion and Position pages, one plain sentence each, by the cut-offs of `verdicts`."""

from __future__ import annotations

from collections.abc import Mapping

from core.confusion import Confusion, commonest_error
from core.intervals import Proportion
from core.order_balance import OrderBalance
from core.position import PositionBias
from core.verbosity import Verbosity
from core.verdicts import UNPAIRED, Verdict, accuracy, percent

SAYS = {1: "A better", 0: "a tie", -1: "B better"}
"""What a label says, in words."""


def confusion(judge: str, value: Confusion, *, noun: str = "votes") -> Verdict:
    """Accuracy under the table's tie rule, and the commonest error; `noun` is what was compared with gold."""
    unit = f"decided {noun}" if value.ties in ("drop_votes", "drop_both") else noun
    if value.ties in ("drop_gold", "drop_both"):
        unit += " on untied comparisons"
    rate = None
    if value.accuracy is not None and value.accuracy_low is not None and value.accuracy_high is not None:
        rate = Proportion(
            value=value.accuracy,
            low=value.accuracy_low,
            high=value.accuracy_high,
            n=value.n,
            level=value.level,
            deff=value.deff,
            method="Wilson at n/deff",
        )
    found = accuracy(judge, rate, value.constant, unit=unit)
    worst = commonest_error(value)
    if worst is None:
        return found
    gold, says, count = worst
    errors = value.n - int(value.counts.trace())
    sentence = (
        f"{found.sentence} Its commonest error: saying {SAYS[says]} where gold says {SAYS[gold]} "
        f"({count:,} of {errors:,} errors)."
    )
    return Verdict(judge=judge, check=found.check, verdict=found.verdict, sentence=sentence)


def unbalanced(values: Mapping[str, PositionBias]) -> str | None:
    """Warning that raw slot shares mislead where votes lack a partner in the other order, else None."""
    loose = [
        judge for judge, one in values.items() if one.unpaired > UNPAIRED * (one.first + one.second + one.tie)
    ]
    if not loose:
        return None
    return (
        f"{len(loose)} of {len(values)} judges have more than {percent(UNPAIRED)} of their votes in one "
        "order only. Their raw first and second shares also show where the better response happened to sit: "
        "read the bias within pairs and the test instead."
    )


def order_balance(judge: str, value: OrderBalance | None) -> str:
    """Whether half of the votes from each order beats all from one."""
    if value is None:
        return f"{judge}: no comparison has both a gold label and votes in both orders."
    ab, ba, balanced, both = (f"{one:.3f}" for one in value.mae)
    n = int(value.votes[0])
    if value.gain is None or value.gain_low is None or value.gain_high is None:
        return (
            f"{judge}: from one vote a comparison, MAE is {ab} with A first and {ba} with B first; both "
            f"votes together give {both}, at twice the price (n {value.n:,} comparisons). A fair trial of "
            "balance needs two votes or more in each order."
        )
    found = (
        f"{judge}: at {n} votes a comparison, MAE is {ab} with A always first, {ba} with B always first and "
        f"{balanced} with half of each"
    )
    interval = (
        f"gain {value.gain:+.3f}, {value.gain_low:+.3f} to {value.gain_high:+.3f}, n {value.n:,} comparisons"
    )
    if value.gain_low > 0:
        return f"{found}: balance helps ({interval})."
    if value.gain_high < 0:
        return f"{found}: balance hurts ({interval})."
    return f"{found}: balance is not shown to matter ({interval})."


def verbosity(judge: str, value: Verbosity | None) -> str:
    """Whether a judge prefers the longer response more than gold does."""
    if value is None:
        return f"{judge}: no decided vote on responses of known, different length."
    found = (
        f"{judge}: prefers the longer response in {percent(value.longer_rate)} of {value.n:,} decided votes "
        f"({percent(value.longer_rate_low)} to {percent(value.longer_rate_high)})"
    )
    if value.excess is None or value.gold_rate is None:
        return f"{found}; without gold it is unknown whether the longer ones are better."
    found += f", gold in {percent(value.gold_rate)}"
    if value.excess_low is None or value.excess_high is None:
        return f"{found}; too few items for an interval of the difference."
    interval = (
        f"difference {100 * value.excess:+.1f} points, "
        f"{100 * value.excess_low:+.1f} to {100 * value.excess_high:+.1f}"
    )
    if value.excess_low > 0:
        return f"{found}: it favours length ({interval})."
    if value.excess_high < 0:
        return f"{found}: it favours brevity ({interval})."
    return f"{found}: no preference for length is shown ({interval})."
