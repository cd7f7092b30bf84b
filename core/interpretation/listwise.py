"""What the Listwise page says in words: does the order of candidates decide, and do more orders help?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ..consensus.listwise import Improvements, OrderSensitivity, OrderSweep
from ..stats.intervals import bonferroni_factor
from .ensembles import points
from .format import percent

SIGNIFICANT = 0.05
SAME_SLOT = 0.8
"""If the best stands in one slot of the first order on more items than this, that order is no fair test."""


def answer(
    judge: str, found: Improvements | None, sensitivity: OrderSensitivity | None
) -> tuple[str, Literal["finding", "warning"]]:
    """Order sensitivity, and whether the consensus of all orders is right more often than the first order."""
    said, kind = [], "finding"
    if sensitivity is not None:
        changed = sensitivity.changed
        said.append(
            f"{judge}: who comes first depends on the order of the candidates on {percent(changed.value)} of "
            f"items ({percent(changed.low)} to {percent(changed.high)}, n {changed.n:,})."
        )
        kind = "warning" if changed.low > 0 else kind
    else:
        said.append(f"{judge}: no item was judged in two orders, so their effect is unknown.")
        kind = "warning"
    if found is not None:
        said.append(gained(found))
    return " ".join(said), "warning" if kind == "warning" else "finding"


def gained(found: Improvements) -> str:
    """Consensus against the first order, with the sign test, and against any one order.

    Where the best stands in one slot of most first orders, the first order is no fair test and comes last.
    """
    overall = found.overall
    counted = f"improved {overall.improved:,}, regressed {overall.regressed:,}, {p_value(overall.p_value)}"
    before, alone, after = overall.direct, overall.single, overall.consensus
    # The test counts items; shared first places can move the mean the other way.
    change = (overall.improved - overall.regressed) * (after.value - before.value)
    verdict = "not demonstrably more often than"
    if overall.p_value <= SIGNIFICANT and change > 0:
        verdict = "more often than" if overall.improved > overall.regressed else "less often than"
    items = "item" if overall.n == 1 else "items"
    said = (
        f"The consensus of all orders is right on {percent(after.value, 1)} of {overall.n:,} {items} "
        f"({percent(after.low, 1)} to {percent(after.high, 1)})"
    )
    ends = f"({points(overall.gain_low)} to {points(overall.gain_high)})"
    ends = "(interval unknown)" if np.isnan(overall.gain_low) else ends
    one = (
        f"any one order (mean over orders) on {percent(alone.value, 1)}, a change by "
        f"{points(overall.gain)} points {ends}"
    )
    if overall.first_share > SAME_SLOT and overall.chance < SAME_SLOT:
        slot, share = overall.first_slot + 1, percent(overall.first_share)
        return (
            f"{said}, {one}. The first order alone is right on {percent(before.value, 1)} (consensus: "
            f"{counted}), but in it the best stands in slot {slot} on {share} of the items, so that measures "
            "the slot as much as the judge."
        )
    first = f"{verdict} the first order alone with {percent(before.value, 1)}: {counted}"
    return f"{said}, {first}; {one}."


def judges(found: Mapping[str, OrderSensitivity]) -> str:
    """On how many items order decides for the steadiest judge and for the least steady one."""

    def told(name: str) -> str:
        changed = found[name].changed
        low, high = percent(changed.low), percent(changed.high)
        return f"{percent(changed.value)} of {changed.n:,} items ({low} to {high})"

    steady = sorted(found, key=lambda name: found[name].changed.value)
    first, last = steady[0], steady[-1]
    if first == last:
        return f"{first}: order decides who comes first on {told(first)}."
    return (
        f"Of {len(found):,} judges order decides who comes first least often for {first}, on {told(first)}, "
        f"and most often for {last}, on {told(last)}."
    )


def macro(found: Improvements) -> str:
    """Accuracy with every category weighing the same, however many items it has."""
    if not found.by_category:
        return "One category only, so no mean over categories."
    return (
        f"Mean over {len(found.by_category)} categories, each weighing the same: "
        f"{percent(found.macro_direct, 1)} by the first order, {percent(found.macro_consensus, 1)} by "
        "consensus."
    )


def enough(found: OrderSweep) -> str:
    """How much is left to gain from more orders: the fewest whose accuracy is within one point of all."""
    last = found.accuracy[-1]
    near = int(found.k[(found.accuracy >= last - 0.01).argmax()])
    orders = len(found.k)
    change, low, high = (points(float(part[-1])) for part in (found.gain, found.gain_low, found.gain_high))
    gain = f"{change} points ({low} to {high})" if found.n > 1 else f"{change} points (interval unknown)"
    if orders == 1:
        return f"Every item has one order, so nothing is known about more (n {found.n:,})."
    return (
        f"{orders} orders instead of any one (mean over orders, {percent(float(found.accuracy[0]), 1)}) "
        f"change accuracy by {gain}, n {found.n:,}; "
        f"{near} {'gives' if near == 1 else 'give'} within one point of all {orders}."
    )


def slots(found: OrderSensitivity) -> str:
    """The slot that departs most from what its candidates get in other slots.

    It is the worst of several, so its interval is widened for their number (`bonferroni_factor`) before it is
    said to decide.
    """
    table = found.slots
    used = ~np.isnan(table.pull)
    if not used.any():
        return "No candidate was shown in two slots, so nothing is known of slots."
    most = int(np.where(used, abs(table.pull), -1.0).argmax())
    pull, low, high = table.pull[most], table.pull_low[most], table.pull_high[most]
    reach = pull - low if pull > 0 else high - pull
    outside = abs(pull) > bonferroni_factor(int(used.sum()), level=table.level) * reach
    ends = "interval unknown" if np.isnan(low) else f"{points(float(low))} to {points(float(high))}"
    said = (
        f"Slot {most + 1} comes first in {percent(table.win[most], 1)} of its {table.n[most]:,} runs "
        f"({percent(table.low[most], 1)} to {percent(table.high[most], 1)}), {points(float(pull))} points "
        f"({ends}) from what the same candidates get in other slots."
    )
    return said + (" The slot itself decides." if outside else " That is within chance: no slot stands out.")


def p_value(p: float) -> str:
    """A p-value in the digits that matter."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}" if p < 0.01 else f"p = {p:.2f}"
