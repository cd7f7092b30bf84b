"""Sentences and tables of Position bias: order of the responses, balance of orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...finding.answer import Answer, Found, bad, difference, good, in_words, line, longest, share
from ...finding.check import CheckResult
from ...finding.tables import TEXT, Column, frame
from ...finding.wording import count, percent, signed, signed_span
from ...stats.estimate import Estimate
from .balance import OrderBalance
from .method import PositionBias

if TYPE_CHECKING:
    import pandas as pd

SLOTS = {True: "first", False: "second"}


def changes(position: PositionBias | None) -> str | None:
    """Verdicts that change with the order, beside those that change when asked again alike."""
    if position is None or position.flip_rate is None:
        return None
    said = f"order changes {percent(position.flip_rate.value)}"
    excess = position.excess
    if excess is None or not excess.has_interval:
        return said
    if not excess.excludes(0):
        return f"{said}, a repeat as much"
    more = "more" if excess.value > 0 else "less"
    return f"{said}, {abs(100 * excess.value):.1f} points {more} than a repeat"


def order_answer(found: Mapping[str, Found], judge: str, flips: Estimate | None) -> Answer:
    """Whether order decides for one judge, and for how many of the others.

    found : the checks of order of every judge.  flips : share of its verdicts that reverse.
    """
    position, stability = found[judge]["position"], found[judge]["stability"]
    slot = position.interval
    others = [of["position"] for name, of in found.items() if name != judge]
    others = [one for one in others if one.grade != "unknown"]
    if bad(position) and slot is not None:
        said = f"{judge} favours the answer it sees {SLOTS[slot.value > 0]}"
        ways = [f"{said}; {_of_others(others)}", said] if others else [said]
    elif bad(stability):
        ways = [f"{judge} changes verdicts when answers swap places, but favours neither place"]
        if not good(position):
            ways = [f"{judge} changes verdicts when answers swap places"]
    elif good(position):
        alone = f"{judge} does not care which answer it sees first"
        ways = [alone]
        if others and all(good(one) for one in others):
            many = "judges" if len(others) > 1 else "judge"
            does = "do" if len(others) > 1 else "does"
            ways = [f"{alone}; nor {does} the other {in_words(len(others))} {many}", alone]
    elif slot is None and not others:
        ways = ["Nobody was asked in both orders, so whether order decides is unknown"]
    elif slot is None:
        ways = [f"Whether order decides for {judge} is unknown: it was never asked in both orders"]
    else:
        ways = [f"Whether order decides for {judge} is not settled"]
    limits = position.limits
    limit = ""
    if limits is not None and limits.failure is not None:
        at = limits.failure if position.grade in ("warn", "fail") else limits.caution
        limit = f", limit ±{100 * at:g}"
    return Answer(
        headline=f"{longest(ways, found)}.",
        figures=line(
            [
                slot and f"for the first {difference(slot, unit=' points')}{limit}",
                flips and f"reversed {share(flips)}",
                slot and count(slot.n, "item"),
            ]
        ),
        good=good(position) and not bad(stability),
    )


def _of_others(others: Sequence[CheckResult]) -> str:
    """How many of the other judges favour a place too."""
    fine, lean = sum(map(good, others)), sum(map(bad, others))
    who = "the other judge" if len(others) == 1 else f"the other {in_words(len(others))} judges"
    if fine == len(others):
        return f"{who} {'does' if len(others) == 1 else 'do'} not"
    if lean:
        of = "" if lean == len(others) else f"{in_words(lean)} of "
        return f"{of}{who} {'favours' if lean == 1 else 'favour'} a place too"
    return f"of {who} this is not settled"


UNPAIRED = 0.05
"""More votes than this without a partner in the other order: raw slot shares are confounded with
quality.
"""
ORDER_NAMES = {
    "ab": "A always first",
    "ba": "B always first",
    "balanced": "half of each",
    "both": "both orders in full",
}

POSITIONS = (
    Column("first", "first", ",d"),
    Column("second", "second", ",d"),
    Column("tie", "tie", ",d"),
    Column("bias decided", "bias_decided", "+.3f", ends=("low", "high")),
    Column("bias all", "bias_all", "+.3f"),
    Column("unpaired votes", "unpaired", ",d"),
    Column("pairs", "pairs", ",d"),
    Column("bias in pairs", "bias_pairs", "+.3f"),
    Column("flips", "flip_rate"),
    Column("hard flips", "hard_flip_rate"),
    Column("same order differs", "same_order_disagreement"),
    Column("excess", "excess", "+.3f"),
    Column("favours first", "towards_first", ",d"),
    Column("favours second", "towards_second", ",d"),
    Column("p", "p_value", ".2g"),
)
"""A row per judge: slot shares, bias within pairs and flips."""
POSITIONS_SHOWN = (
    *(
        "judge",
        "first",
        "second",
        "tie",
        "bias decided",
        "low",
        "high",
        "bias all",
        "pairs",
        "bias in pairs",
    ),
    *(
        "p",
        "flips",
        "flips low",
        "flips high",
        "excess",
        "hard flips",
        "favours first",
        "favours second",
    ),
)
"""Columns that about fit a window, the less telling ones last; the other intervals are in the
downloads.
"""

_ORDERS = (
    Column("judge", lambda row: row[0], TEXT),
    Column("orders", lambda row: ORDER_NAMES[row[1].orders[row[2]]], TEXT),
    Column("votes each", lambda row: int(row[1].votes[row[2]]), ",d"),
    Column("MAE", lambda row: row[1].mae[row[2]], ends=("low", "high")),
    Column("n", lambda row: row[1].n, ",d"),
)


def orders(balances: Mapping[str, OrderBalance | None]) -> pd.DataFrame:
    """Error of majority labels by the order of the votes, a row per judge and order that
    has votes.
    """
    known = [(judge, one) for judge, one in balances.items() if one]
    rows = [(judge, one, place) for judge, one in known for place, n in enumerate(one.votes) if n]
    return frame(_ORDERS, rows)


def unbalanced(values: Mapping[str, PositionBias]) -> str | None:
    """Warning that raw slot shares mislead where votes lack a partner in the other order, else
    None.
    """
    loose = [
        judge
        for judge, one in values.items()
        if one.unpaired > UNPAIRED * (one.first + one.second + one.tie)
    ]
    if not loose:
        return None
    return (
        f"{len(loose)} of {len(values)} judges have more than {percent(UNPAIRED)} of their votes "
        "in one order only. Their raw first and second shares also show where the better response "
        "happened to sit: read the bias within pairs and the test instead."
    )


def order_balance(judge: str, value: OrderBalance | None) -> str:
    """Whether half of the votes from each order beats all from one."""
    if value is None:
        return f"{judge}: no comparison has both a gold label and votes in both orders."
    ab, ba, balanced, both = (f"{one:.3f}" for one in value.mae.value)
    n, gain = int(value.votes[0]), value.gain
    if gain is None:
        return (
            f"{judge}: from one vote per comparison, MAE is {ab} with A first and {ba} with B "
            f"first; both votes together give {both}, at twice the price (n {value.n:,} "
            "comparisons). A fair trial of balance needs two votes or more in each order."
        )
    found = (
        f"{judge}: at {n} votes per comparison, MAE is {ab} with A always first, {ba} with B "
        f"always first and {balanced} with half of each"
    )
    if not gain.has_interval:
        return (
            f"{found}: whether balance matters is not known, as {value.reason} (gain over the mean "
            f"of the two {signed(gain.value, 3)}, n {value.n:,} comparisons)."
        )
    interval = (
        f"gain over the mean of the two {signed(gain.value, 3)}, "
        f"{signed_span(gain.low, gain.high, 3)}, n {value.n:,} comparisons"
    )
    if gain.excludes(0):
        return f"{found}: balance {'helps' if gain.value > 0 else 'hurts'} ({interval})."
    return f"{found}: balance is not shown to matter ({interval})."
