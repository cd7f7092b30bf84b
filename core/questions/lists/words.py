"""Sentences and tables of the Listwise page: does the order of candidates decide, do more orders
help?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...finding.answer import Answer, difference, in_words, line, named, share
from ...finding.tables import TEXT, Column
from ...finding.wording import count, p_value, percent, percent_span, points, points_ends
from ...stats.estimate import Estimate
from ...stats.intervals import bonferroni_interval
from .method import Improvement, Improvements, Pooled
from .orders import OrderSensitivity, OrderSweep, Slot
from .parts import FlaggedWinner, PartAlone
from .slots import SlotCorrected

SIGNIFICANT = 0.05


CANDIDATES = {
    "item": "item",
    "candidate": "candidate",
    "runs": "runs",
    "consensus": "consensus score",
    "winner": "wins",
    "best": "is the best",
    "score": "mean score",
    "borda": "rank score (Borda)",
    "top": "share of first places",
    "uncertainty": "aptly unsure",
}
"""Heading of each column of a `Consensus`, whose rows may be thousands."""
ACCURACY = (
    Column("category", "category", ""),
    Column("items", "n", "d"),
    Column("consensus right", "consensus", ends=("consensus low", "consensus high")),
    Column("first order right", "direct", ends=("first low", "first high")),
    Column("any one order right", "single", ends=("one low", "one high")),
    Column("improved", "improved", "d"),
    Column("regressed", "regressed", "d"),
    Column("p", "p_value", ".2g"),
    Column("consensus minus any one", "gain", ends=("minus low", "minus high")),
    Column("by chance", "chance"),
)
ORDERS = (
    Column("orders K", "k", "d"),
    Column("items", "n", "d"),
    Column("right", "accuracy", ends=("low", "high")),
    Column("gain over any one", "gain", ends=("gain low", "gain high")),
    Column("majority wrong", "majority_error"),
    Column("Hoeffding bound", "bound"),
    Column("subsets", "subsets", "d"),
)
# Slots count from 1 in words and figure, from 0 in files.
SLOTS = (
    Column("slot", lambda row: row.slot + 1, "d"),
    Column("runs", "win.n", "d"),
    Column("comes first", "win", ends=("low", "high")),
    Column("its candidates elsewhere", "expected"),
    Column("difference", "pull"),
    Column("chance", "chance"),
    Column("runs with the best", "best.n", "d"),
    Column("right where it differs", "best", ends=("right low", "right high")),
)


PART_NAMES = {
    "score": "scores",
    "borda": "ranks",
    "top": "first places",
    "uncertainty": "calibrated uncertainty",
    "all": "all parts",
}
"""What each part of the consensus score is called."""
PARTS = (
    Column("part", lambda part: PART_NAMES[part.part], TEXT),
    Column("right", "right", ends=("low", "high")),
    Column("minus all parts", "change", ends=("minus low", "minus high")),
    Column("winners per item", "winners"),
)
FLAGGED = (
    Column("fault", lambda flag: flag.fault.replace("_", " "), TEXT),
    Column("winners of all orders", "consensus", ends=("consensus low", "consensus high")),
    Column("winners of the first order", "direct", ends=("direct low", "direct high")),
    Column("difference", "change", ends=("difference low", "difference high")),
    Column("all candidates", "all"),
)
ALL_JUDGES = "all judges together"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgeRow:
    """What order does to a judge, and what the consensus of all orders does; or all judges
    together.
    """

    judge: str
    changed: Estimate | None
    overall: Improvement | Pooled | None


def _right(title: str, field: str) -> Column:
    """Share of items right by a field of `Improvement`; all judges together have none."""
    return Column(
        f"{title} right",
        lambda row: getattr(row.overall, field, None),
        ends=(f"{title} low", f"{title} high"),
        optional=True,
    )


JUDGES = (
    Column("judge", "judge", TEXT),
    Column("n", "changed.n", "d"),
    Column("order decides", "changed", ends=("low", "high"), optional=True),
    _right("first order", "direct"),
    _right("any one order", "single"),
    _right("consensus", "consensus"),
    Column("improved", "overall.improved", "d", optional=True),
    Column("regressed", "overall.regressed", "d", optional=True),
    Column("p", "overall.p_value", ".2g", optional=True),
)


def judge_rows(
    names: Iterable[str],
    found: Mapping[str, Improvements],
    sensitive: Mapping[str, OrderSensitivity],
    together: Pooled | None,
) -> list[JudgeRow]:
    """A row for each judge, then the one of all together."""
    rows = [
        JudgeRow(
            judge=name,
            changed=sensitive[name].changed if name in sensitive else None,
            overall=found[name].overall if name in found else None,
        )
        for name in names
    ]
    if together is not None:
        rows.append(JudgeRow(judge=ALL_JUDGES, changed=None, overall=together))
    return rows


def order_sentence(
    judge: str, found: Improvements | None, sensitivity: OrderSensitivity | None
) -> str:
    """Order sensitivity, and whether the consensus of all orders is right more often than the first
    order.
    """
    changed = None if sensitivity is None else sensitivity.changed
    if changed is None:
        first = f"{judge}: no item was judged in two orders, so their effect is unknown."
    else:
        first = (
            f"{judge}: the first place depends on the order of the candidates on "
            f"{percent(changed.value)} of items ({percent_span(changed)}, n {changed.n:,})."
        )
    return first if found is None else f"{first} {gained(found)}"


def candidates_answer(
    judge: str, found: Improvements | None, sensitivity: OrderSensitivity | None
) -> Answer:
    """On how many items the winner depends on the order, and whether averaging orders helps."""
    changed = None if sensitivity is None else sensitivity.changed
    gain = None if found is None else found.overall.gain
    if changed is None:
        says = f"Whether candidate order decides for {judge} is unknown: each item has one order"
    elif changed.value == 0:
        says = f"The winner of {judge} is the same in every candidate order"
    else:
        says = (
            f"The winner of {judge} depends on candidate order for {percent(changed.value)} of "
            "items"
        )
    if gain is not None and changed is not None and changed.value:
        helps = "helps" if gain.low > 0 else "hurts" if gain.high < 0 else "is not shown to help"
        says = f"{says}; averaging orders {helps}"
    parts = []
    if changed is not None:
        parts.append(f"order decides {share(changed)}")
    if found is not None:
        overall = found.overall
        parts.append(
            f"consensus {percent(overall.consensus.value, 1)} against "
            f"{percent(overall.single.value, 1)} in one order, "
            f"{difference(overall.gain, unit=' points')}"
        )
    if changed is not None:
        parts.append(count(changed.n, "item"))
    good = changed is not None and not changed.low > 0
    return Answer(headline=f"{says}.", figures=line(parts), good=good)


def headline(judge: str, found: Improvements | None, sensitivity: OrderSensitivity | None) -> str:
    """What order does to the winner, and what pooling orders does, in at most twenty words."""
    if sensitivity is None:
        return f"{judge} ranked each item in one order, so what order does is unknown."
    changed = sensitivity.changed
    depends = f"{judge}'s winner depends on candidate order for {percent(changed.value)} of items"
    if found is None:
        return f"{depends}; no item says which candidate is best."
    gain = found.overall.gain
    if not gain.has_interval or gain.low <= 0 <= gain.high:
        return f"{depends}; averaging orders is not shown to help."
    return f"{depends}; averaging orders {'helps' if gain.value > 0 else 'hurts'}."


def figures(
    found: Improvements | None, sensitivity: OrderSensitivity | None, corrected: SlotCorrected
) -> str:
    """The numbers behind `headline`, with intervals."""
    parts = []
    if sensitivity is not None:
        changed = sensitivity.changed
        parts.append(
            f"order decides {percent(changed.value)} of {changed.n:,} items "
            f"({percent_span(changed)})"
        )
    if found is not None:
        overall = found.overall
        parts.append(
            f"consensus right on {percent(overall.consensus.value, 1)}, any one order on "
            f"{percent(overall.single.value, 1)}: {points(overall.gain.value)} points "
            f"{_known_ends(overall.gain)}"
        )
        if not overall.first_order_is_special:
            parts.append(
                f"against the first order improved {overall.improved:,}, regressed "
                f"{overall.regressed:,}, {p_value(overall.p_value)}"
            )
    if corrected.right is not None and corrected.change is not None and corrected.slots.any():
        parts.append(
            f"slots taken out {percent(corrected.right.value, 1)}, "
            f"{points(corrected.change.value)} points on most picks {_known_ends(corrected.change)}"
        )
    return " · ".join(parts)


def gained(found: Improvements) -> str:
    """Consensus against the first order, with the sign test, and against any one order.

    Where the best stands in one slot of most first orders, the first order is no fair test and
    comes last.
    """
    overall = found.overall
    counted = (
        f"improved {overall.improved:,}, regressed {overall.regressed:,}, "
        f"{p_value(overall.p_value)}"
    )
    before, alone, after = overall.direct, overall.single, overall.consensus
    # The test counts items; shared first places can move the mean the other way.
    change = (overall.improved - overall.regressed) * (after.value - before.value)
    verdict = "not demonstrably more often than"
    if overall.p_value <= SIGNIFICANT and change > 0:
        verdict = "more often than" if overall.improved > overall.regressed else "less often than"
    items = "item" if overall.n == 1 else "items"
    consensus = (
        f"The consensus of all orders is right on {percent(after.value, 1)} of {overall.n:,} "
        f"{items} ({percent_span(after, 1)})"
    )
    one = (
        f"any one order (mean over orders) on {percent(alone.value, 1)}, a change by "
        f"{points(overall.gain.value)} points {_known_ends(overall.gain)}"
    )
    if overall.first_order_is_special:
        slot, share = overall.first_slot + 1, percent(overall.first_share)
        return (
            f"{consensus}, {one}. The first order alone is right on {percent(before.value, 1)} "
            f"(consensus: {counted}), but in it the best stands in slot {slot} on {share} of the "
            "items, so that measures the slot as much as the judge."
        )
    first = f"{verdict} the first order alone with {percent(before.value, 1)}: {counted}"
    return f"{consensus}, {first}; {one}."


def judges_answer(found: Mapping[str, OrderSensitivity]) -> Answer:
    """For which judge order decides least often, and for which most often.

    The two are picked among several, so their intervals are widened for the number of judges
    before the difference counts as more than chance.
    """
    steady = sorted(found, key=lambda name: found[name].changed.value)
    first, last = steady[0], steady[-1]
    least, most = found[first].changed, found[last].changed
    if first == last:
        headline = (
            f"Candidate order decides who comes first for {first} on {percent(least.value)} of "
            "items."
        )
    elif least.value == most.value:
        headline = f"Candidate order decides equally often for all {in_words(len(found))} judges."
    else:
        below, above = (bonferroni_interval(one, len(found)) for one in (least, most))
        chance = "" if below.high < above.low else ", which may be chance"
        headline = (
            f"Candidate order decides least often for {first} and most often for {last}{chance}."
        )
    return Answer(
        headline=headline,
        figures=line(
            [
                *(
                    f"{name} {share(found[name].changed)} of {count(found[name].changed.n, 'item')}"
                    for name in dict.fromkeys((first, last))
                ),
                len(found) > 2 and f"{len(found):,} judges",
            ]
        ),
        good=not most.low > 0,
    )


def pooled_answer(found: Pooled) -> Answer:
    """Whether the consensus sets more items right than wrong, over all judges; where first orders
    test a slot, for how many of them averaging orders helps.
    """
    counted = f"improved {found.improved:,}, regressed {found.regressed:,}"
    if found.same_slot:
        hurts = f" and hurts {found.hurt:,}" if found.hurt else ""
        return Answer(
            headline=f"All judges together: averaging orders helps {found.helped:,} of "
            f"{found.judges:,} judges{hurts}.",
            figures=f"against first orders {counted}, which measures the slot: there the best "
            f"stands in one slot for {count(found.same_slot, 'judge')}",
            good=not found.hurt,
        )
    if found.improved == found.regressed:
        compared = "as many items right as wrong"
    else:
        word = "more" if found.improved > found.regressed else "fewer"
        compared = f"{word} items right than wrong"
    chance = found.improved != found.regressed and not found.p_value <= SIGNIFICANT
    return Answer(
        headline=f"All judges together: the consensus of orders sets {compared}"
        f"{', which may be chance' if chance else ''}.",
        figures=line(
            [
                f"improved {found.improved:,}",
                f"regressed {found.regressed:,}",
                f"{p_value(found.p_value)} if judges of the same items were independent, which "
                "they are not",
                count(found.judges, "judge"),
            ]
        ),
        good=found.improved >= found.regressed,
    )


def parts_answer(judge: str, found: Sequence[PartAlone]) -> Answer:
    """Whether one part of the consensus alone is right as often as all of them."""
    whole = next(part for part in found if part.part == "all")
    alone = [part for part in found if part.part != "all"]
    apart = {part.part: bonferroni_interval(part.change, len(alone)) for part in alone}
    worse = [PART_NAMES[name] for name, gap in apart.items() if gap.high < 0]
    better = [PART_NAMES[name] for name, gap in apart.items() if gap.low > 0]
    if len(alone) == 1:
        headline = f"{judge} gave {PART_NAMES[alone[0].part]} only, so there is one part."
    elif better:
        headline = (
            f"The consensus of {judge} is right more often by {named(better)} alone than by all "
            "parts."
        )
    elif len(worse) == len(alone):
        headline = (
            f"The consensus of {judge} is right more often by all parts than by any one alone."
        )
    elif worse:
        headline = (
            f"The consensus of {judge} is right less often by {named(worse)} alone than by all "
            "parts."
        )
    else:
        headline = f"No part alone is shown to change how often the consensus of {judge} is right."
    return Answer(
        headline=headline,
        figures=line(
            [
                f"all parts {share(whole.right, 1)}",
                *(
                    f"{PART_NAMES[part.part]} "
                    f"{difference(part.change, unit='' if place else ' points')}"
                    for place, part in enumerate(alone)
                ),
                count(whole.right.n, "item"),
            ]
        ),
        good=not better,
    )


def flags_answer(judge: str, found: Sequence[FlaggedWinner]) -> Answer:
    """Whether pooling orders puts answers first that the judge itself flags more or less often."""
    apart = [bonferroni_interval(flag.change, len(found)) for flag in found]
    more, less = any(gap.low > 0 for gap in apart), any(gap.high < 0 for gap in apart)
    if more != less:
        often = "more" if more else "less"
        headline = f"Pooling orders puts answers first that {judge} flags {often} often."
    else:
        changes = "changes" if more else "is not shown to change"
        headline = f"Pooling orders {changes} how often {judge} flags what it puts first."
    return Answer(
        headline=headline,
        figures=line(
            [
                *(
                    f"{flag.fault.replace('_', ' ')} {share(flag.consensus, 1)}, first order "
                    f"{percent(flag.direct.value, 1)}, {difference(flag.change, unit=' points')}"
                    for flag in found
                ),
                count(found[0].consensus.n, "item"),
            ]
        ),
        good=not more,
    )


def macro(found: Improvements) -> str:
    """Accuracy with every category weighing the same, however many items it has."""
    if not found.by_category:
        return "One category only, so no mean over categories."
    return (
        f"Mean over {len(found.by_category)} categories, each weighing the same: "
        f"{percent(found.macro_direct, 1)} by the first order, {percent(found.macro_consensus, 1)} "
        "by consensus."
    )


def orders_answer(judge: str, found: OrderSweep) -> Answer:
    """How much is gained by more orders, and the fewest whose accuracy is within one point of all.

    By the estimates; whether more orders help at all is by the interval of the paired gain.
    """
    one, last = found.rows[0], found.rows[-1]
    every = in_words(last.k)
    near = next(row for row in found.rows if row.accuracy.value >= last.accuracy.value - 0.01)
    if last.k == 1:
        headline = f"Each item has one order for {judge}, so what more would gain is unknown."
    elif last.gain.high < 0:
        headline = f"{judge} is right less often by {every} orders than by any one."
    elif not last.gain.low > 0:
        headline = f"More orders than one are not shown to help {judge}."
    elif near.k == last.k:
        headline = f"Fewer orders than all {every} cost {judge} a point of accuracy or more."
    else:
        few = "order is" if near.k == 1 else "orders are"
        headline = (
            f"{in_words(near.k).capitalize()} {few} nearly as good as all {every} for {judge}."
        )
    parts = [f"right {share(one.accuracy, 1)} with 1"]
    if near.k not in (1, last.k):
        parts.append(f"{percent(near.accuracy.value, 1)} with {near.k}")
    if last.k > 1:
        parts.append(
            f"{percent(last.accuracy.value, 1)} with {last.k}, "
            f"{difference(last.gain, unit=' points')}"
        )
    return Answer(
        headline=headline,
        figures=line([*parts, count(found.n, "item")]),
        good=last.k > 1 and not last.gain.high < 0,
    )


def slots_answer(judge: str, found: OrderSensitivity, corrected: SlotCorrected) -> Answer:
    """Whether a slot has an effect of its own, and whether winners without it are right more
    often.
    """
    most = _most_pulling(found)
    if most is None:
        return Answer(headline=f"No candidate changed its slot, so slots of {judge} are unknown.")
    apart = decides(found)
    change = corrected.change if corrected.slots.any() else None
    if not apart:
        effect = f"No slot is shown to sway {judge}"
    else:
        more = "more often" if most.pull.value > 0 else "less often"
        effect = f"{judge} picks slot {most.slot + 1} {more} than the same candidates elsewhere"
    mended = ""
    if change is not None and change.excludes(0):
        mended = "; without the slots' pull it is right " + (
            "more often" if change.value > 0 else "less often"
        )
    return Answer(
        headline=f"{effect}{mended}.",
        figures=line(
            [
                f"slot {most.slot + 1} first in {share(most.win, 1)}",
                f"{difference(most.pull, unit=' points')} from the same candidates elsewhere",
                change
                and corrected.right
                and corrected.plurality
                and f"right {percent(corrected.right.value, 1)} without slots, by most picks "
                f"{percent(corrected.plurality.value, 1)}, {difference(change, unit=' points')}",
                count(most.win.n, "run"),
            ]
        ),
        good=not apart,
    )


def decides(found: OrderSensitivity) -> bool:
    """Whether the slot that departs most does so beyond chance, as the worst of several."""
    most = _most_pulling(found)
    used = sum(row.pull.n > 0 for row in found.slots)
    return most is not None and bonferroni_interval(most.pull, used).excludes(0)


def _most_pulling(found: OrderSensitivity) -> Slot | None:
    used = [row for row in found.slots if row.pull.n]
    return max(used, key=lambda row: abs(row.pull.value)) if used else None


def slots(found: OrderSensitivity) -> str:
    """The slot that departs most from what its candidates get in other slots.

    It is the worst of several, so its interval is widened for their number (`bonferroni_interval`)
    before it counts as deciding.
    """
    most = _most_pulling(found)
    if most is None:
        return "No candidate was shown in two slots, so nothing is known of slots."
    win, pull = most.win, most.pull
    sentence = (
        f"Slot {most.slot + 1} comes first in {percent(win.value, 1)} of its {win.n:,} runs "
        f"({percent_span(win, 1)}), {points(pull.value)} points {_known_ends(pull)} from what the "
        "same candidates get in other slots."
    )
    if decides(found):
        return f"{sentence} The slot has an effect of its own."
    return f"{sentence} That is within chance: no slot effect is shown."


def without_slots(corrected: SlotCorrected) -> str:
    """What taking the slots out of the picks does to the winners, as far as labels tell."""
    if corrected.gain is None:
        return "Too few items have picks that differ between orders to take slots out."
    if not corrected.slots.any():
        return "Slots do not predict its picks beyond chance, so the most picks decide."
    if corrected.right is None or corrected.plurality is None or corrected.change is None:
        return "Winners without the slots' pull are below; no item says which is the best."
    return (
        f"With the slots' pull taken out, which uses no label, the winner is right on "
        f"{percent(corrected.right.value, 1)} of {corrected.right.n:,} items, by most picks on "
        f"{percent(corrected.plurality.value, 1)}: {points(corrected.change.value)} points "
        f"{_known_ends(corrected.change)}."
    )


def _known_ends(gap: Estimate) -> str:
    return points_ends(gap) if gap.has_interval else "(interval unknown)"
