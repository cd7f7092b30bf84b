"""How often a judge is right: half credit on decided gold, exactly gold's label, by category, and
beyond what a judge reaches that does not read the answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...records import (
    NO_GOLD,
    BoolArray,
    FloatArray,
    IntArray,
    LengthCounts,
    OrderCounts,
    OutputCounts,
    VoteCounts,
    distinct,
)
from ...stats.estimate import Estimate
from ...stats.intervals import (
    clopper_pearson,
    item_means,
    mean_interval,
    weighed_sides,
    wilson_by_item,
)
from ...stats.periods import periods

MISSING_COUNTS = 0.05
"""A larger share of outputs without a verdict counts in the accuracy, as half right."""
CATEGORY_ITEMS = 30
"""Fewer items than this in a category: it is not named."""
PERIOD_ITEMS = 10
"""Fewer items than this in a period: it is not shown."""
PAIR_ITEMS = 20
"""Models that meet on fewer items than this are no pair of which one could be known beforehand."""
LEAST_ON_A_SIDE = 4
"""Fewer items than this where a blind rule is right, or wrong: it cannot be told from reading."""
BEYOND_BLIND = 0.55
"""Half credit that a judge has to be shown to exceed, where every blind rule has one half."""
NEARLY_ALWAYS = 0.95
"""A judge that does what a blind rule does on so many items may as well follow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Half credit on decided gold by item; the share right among decided votes, and how many
    decide.

    gold_ties : share of the comparisons with gold that gold calls a tie, which half credit leaves
        out.
    """

    credit: Estimate
    among_decided: float | None
    decided_share: float
    gold_ties: float


def decided(counts: VoteCounts) -> VoteCounts:
    """Only the comparisons whose gold is no tie."""
    return counts.rows((counts.gold == 1) | (counts.gold == -1))


def credit(counts: VoteCounts) -> FloatArray:
    """Share right of each row on decided gold, a tie counting half: 0 to 1."""
    right = np.where(counts.gold == 1, counts.plus, counts.minus) + counts.tie / 2
    return np.asarray(right / counts.n, dtype=np.float64)


def half_credit(counts: VoteCounts, *, level: float = 0.95) -> Estimate | None:
    """Half credit on decided gold: right 1, tie ½, opposite 0; the interval is `wilson_by_item`.

    A coin, and a judge that always ties, get ½. None without a comparison whose gold is decided.

    >>> votes = VoteCounts.of(
    ...     np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]]),
    ...     comparison=np.arange(3),
    ...     item=np.arange(3),
    ...     gold=np.ones(3, dtype=np.int64),
    ... )
    >>> half_credit(votes).value
    0.5
    """
    rows = decided(counts)
    if not len(rows):
        return None
    return wilson_by_item(rows.item, rows.n, credit(rows) * rows.n, half_credit=True, level=level)


def direction(counts: VoteCounts, *, level: float = 0.95) -> Direction | None:
    """`half_credit` with the two shares behind it; None without decided gold."""
    right = half_credit(counts, level=level)
    if right is None:
        return None
    rows = decided(counts)
    n_decided = int(rows.plus.sum() + rows.minus.sum())
    n_right = int(np.where(rows.gold == 1, rows.plus, rows.minus).sum())
    return Direction(
        credit=right,
        among_decided=n_right / n_decided if n_decided else None,
        decided_share=n_decided / (n_decided + int(rows.tie.sum())),
        gold_ties=float((counts.labelled().gold == 0).mean()),
    )


def exact_by_chance(counts: VoteCounts) -> float:
    """Share of votes with gold's very label that a judge reaches by always saying a tie, or by a
    coin, whichever is more.
    """
    labelled = counts.labelled()
    ties = float(labelled.n[labelled.gold == 0].sum() / labelled.n.sum())
    return max(ties, (1 - ties) / 2)


def tie_gap(counts: VoteCounts, *, level: float = 0.95) -> Estimate | None:
    """Share of ties of the judge minus that of gold on the same comparisons, −1 to 1; None without
    gold.
    """
    labelled = counts.labelled()
    if not len(labelled):
        return None
    gap = item_means(labelled.item, labelled.tie / labelled.n - (labelled.gold == 0), labelled.n)
    return mean_interval(np.arange(len(gap)), gap, ends=(-1.0, 1.0), level=level)


def missing_outputs(
    counts: VoteCounts | None, outputs: OutputCounts | None, *, level: float = 0.95
) -> Estimate | None:
    """Share of outputs without a verdict, by item; `outputs` where some have none."""
    if outputs is not None:
        return wilson_by_item(outputs.item, outputs.n, outputs.missing, level=level)
    if counts is None:
        return None
    return wilson_by_item(counts.item, counts.n, np.zeros(len(counts), np.int64), level=level)


def with_missing_as_ties(outputs: OutputCounts | None) -> VoteCounts | None:
    """Votes with the outputs that have none as ties, where those are many enough to count."""
    if outputs is None or outputs.missing.sum() <= MISSING_COUNTS * outputs.n.sum():
        return None
    return VoteCounts(
        comparison=outputs.comparison,
        item=outputs.item,
        plus=outputs.plus,
        tie=outputs.tie + outputs.missing,
        minus=outputs.minus,
        gold=outputs.gold,
    )


def by_category(
    categories: Mapping[str, VoteCounts], *, items: int = CATEGORY_ITEMS, level: float = 0.95
) -> dict[str, Estimate]:
    """Half credit on decided gold in each category with enough items, the weakest first.

    All intervals are Bonferroni's for the number of categories, as one is chosen; none for fewer
    than two.
    """
    # No more items than rows: of thousands of categories hardly one may be large enough.
    several = {name: counts for name, counts in categories.items() if len(counts) >= items}
    first = {name: half_credit(counts, level=level) for name, counts in several.items()}
    large = [name for name, right in first.items() if right is not None and right.n >= items]
    if len(large) < 2:
        return {}
    adjusted = 1 - (1 - level) / len(large)
    of_each = {name: half_credit(categories[name], level=adjusted) for name in large}
    rights = {name: right for name, right in of_each.items() if right is not None}
    return dict(sorted(rights.items(), key=lambda pair: pair[1].value))


LEAST_OF_A_CATEGORY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongCategory:
    """A category in which a judge is shown to be right too seldom, few as its items are.

    right : sum of half credits of its items.  high : one-sided upper end of their share.
    """

    name: str
    right: float
    items: int
    high: float


def wrong_category(
    categories: Mapping[str, VoteCounts], *, below: float, level: float = 0.95
) -> WrongCategory | None:
    """The category whose upper end is lowest, if it is below a share: exact, so of few items too.

    The upper end is Clopper and Pearson's at (1 − level)/K for the K categories with four items of
    decided gold or more, of half credits by item that are rounded up. None without one.
    """
    by_item = {}
    for name, counts in categories.items():
        rows = decided(counts)
        means = item_means(rows.item, credit(rows), rows.n) if len(rows) else np.empty(0)
        if len(means) >= LEAST_OF_A_CATEGORY:
            by_item[name] = means
    if len(by_item) < 2:
        return None
    one_sided = 1 - (1 - level) / len(by_item)

    def of(name: str, means: FloatArray) -> WrongCategory:
        right, n = float(means.sum()), len(means)
        high = float(clopper_pearson(math.ceil(right - 1e-9), n, level=one_sided))
        return WrongCategory(name=name, right=right, items=n, high=high)

    worst = min((of(*pair) for pair in by_item.items()), key=lambda each: each.high)
    return worst if worst.high < below else None


def over_time(
    days: Mapping[str, VoteCounts], *, items: int = PERIOD_ITEMS, level: float = 0.95
) -> dict[str, Estimate]:
    """Half credit on decided gold in each period with enough items, the earliest first.

    Intervals are those of `by_category`; none for fewer than two periods.

    days : votes by what a column of dates says, such as `2026-01-31`.
    """
    votes = by_period(days)
    found = by_category(votes, items=items, level=level)
    return {name: found[name] for name in votes if name in found}


def by_period(days: Mapping[str, VoteCounts]) -> dict[str, VoteCounts]:
    """Votes of each day, week, month, quarter or year (`periods`), the earliest first."""
    counts = list(days.values())
    coded = periods(list(days), [len(decided(each)) for each in counts])
    if coded is None:
        return {}
    code, names = coded
    return {
        name: joined([counts[row] for row in np.flatnonzero(code == place)])
        for place, name in enumerate(names)
    }


def joined(parts: Sequence[VoteCounts]) -> VoteCounts:
    """Votes of several records as one, each row of them a row."""
    fields = (*VoteCounts.COUNTS, "gold")
    return VoteCounts(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    )


LEAST_DIFFERING = 10
LEAST_AGREEING = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyDiffering:
    """That gold was given only where judges differ.

    judges : how many judge.  share : of the comparisons of two judges or more, those on which they
        differ.  labelled : of those, how many have gold.
    """

    judges: int
    share: float
    labelled: int


def only_differing(judges: Sequence[VoteCounts], *, level: float = 0.95) -> OnlyDiffering | None:
    """Whether comparisons on which judges agree have no gold, and that is no chance.

    Judges agree on more than 5 % of the comparisons, 10 or more on which they differ have gold, and
    labels drawn at random would all be such with a probability below 1 − level. How often a judge
    is right is then not known. Source: ours.
    """
    if len(judges) < 2:
        return None
    size = 1 + max(int(votes.comparison.max(initial=-1)) for votes in judges)
    n, least, most = np.zeros(size, np.int64), np.full(size, 2), np.full(size, -2)
    labelled = np.zeros(size, np.bool_)
    for votes in judges:
        n[votes.comparison] += 1
        least[votes.comparison] = np.minimum(least[votes.comparison], votes.label)
        most[votes.comparison] = np.maximum(most[votes.comparison], votes.label)
        labelled[votes.comparison] |= votes.gold != NO_GOLD
    several, differ = n > 1, (n > 1) & (least != most)
    gold = int(labelled.sum())
    if not several.any() or gold < LEAST_DIFFERING or (labelled & ~differ).any():
        return None
    share = float(differ.sum() / several.sum())
    if 1 - share <= LEAST_AGREEING or share**gold >= 1 - level:
        return None
    return OnlyDiffering(judges=len(judges), share=share, labelled=gold)


SAME_LABEL, SAME_MODEL = "the same label always", "the same model of each pair"
INVISIBLE = (SAME_LABEL, SAME_MODEL)
"""Rules that no judge can follow where gold is theirs throughout: A is then the chosen response, or
a model is called `chosen` or `correct` by whoever wrote the file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindRule:
    """How far a judge is right beyond a rule that answers without reading.

    rule : what the rule always prefers, in words.
    right : ½·(share right where the rule is right + share right where it is wrong); ½ for whoever
        follows the rule, and for a coin. Without an interval where either side has too few items.
    share : items on which gold is as the rule says.  follows : items on which the judge is.
    fewest : items on the smaller side.
    shown_blind : the whole interval, Bonferroni's over the rules tried, is below .55.
    """

    rule: str
    right: Estimate
    share: float
    follows: float
    fewest: int
    shown_blind: bool

    @property
    def beaten(self) -> bool:
        """Whether the judge is shown to read: its low end is above .55."""
        return self.right.has_interval and self.right.low > BEYOND_BLIND

    @property
    def too_few(self) -> bool:
        """Whether gold is so one-sided that reading cannot be told from the rule."""
        return self.fewest < LEAST_ON_A_SIDE


def blind_rule(
    counts: VoteCounts,
    *,
    orders: OrderCounts | None = None,
    order_known: bool = False,
    lengths: LengthCounts | None = None,
    models: IntArray | None = None,
    level: float = 0.95,
) -> BlindRule | None:
    """The rule without reading that a judge is least shown to beat.

    Rules: the same label always (where the order is unknown); the response shown first (where each
    comparison was shown in one order; of both orders the half credit itself says it); the same
    model of a pair, the one that gold prefers (where two meet on ≥ 20 items); the longer response.
    Where gold is one label, or one model of each pair, throughout because that is the chosen one,
    neither is a rule that a judge could follow; but of a judge that gives the same label as gold on
    95 % or more nobody knows whether that answer was always shown first.

    With m₊ and m₋ the means over items of the credit where the rule is right and where it is wrong,
    b = ½(m₊ + m₋) (`weighed_sides`). Every rule has to be beaten, so the least b counts and its
    level is not adjusted; to call a judge blind it is, by Bonferroni over the rules.

    Parameters
    ----------
    counts : votes with gold.  orders, lengths : of the same comparisons, where known.
    order_known : whether the votes say which response was shown first.
    models : (comparison codes, 2) ids of the two models that meet, −1 if unknown.

    None without decided gold or where no rule applies. Source: ours, docs/methods.md §10.
    """
    rows = decided(counts)
    if not len(rows):
        return None
    rules = dict(_rules(rows, orders, order_known, lengths, models))
    tried = [
        rule
        for name, favoured in rules.items()
        if (favoured != 0).any()
        and (
            (rule := _against(name, rows, favoured, level)).fewest
            or name not in INVISIBLE
            or (name == SAME_LABEL and rule.follows >= NEARLY_ALWAYS)
        )
    ]
    if not tried:
        return None
    # What cannot be told is the least sure of all.
    least = min(tried, key=lambda rule: (not rule.too_few, _low(rule), rule.right.value))
    if least.too_few:
        return least
    adjusted = 1 - (1 - level) / len(tried)
    wide = _against(least.rule, rows, rules[least.rule], adjusted).right
    return replace(least, shown_blind=wide.has_interval and wide.high < BEYOND_BLIND)


def _low(rule: BlindRule) -> float:
    return rule.right.low if rule.right.has_interval else -1.0


def _rules(
    rows: VoteCounts,
    orders: OrderCounts | None,
    order_known: bool,
    lengths: LengthCounts | None,
    models: IntArray | None,
) -> Iterator[tuple[str, IntArray]]:
    """Rules that could be followed, and the label that each gives every row; 0: none."""
    # Where the order is known, a judge sees slots, not labels.
    if not order_known:
        commonest = 1 if rows.gold.sum() >= 0 else -1
        yield (SAME_LABEL, np.full(len(rows), commonest))
    if models is not None:
        yield (SAME_MODEL, _same_model(rows, models[rows.comparison]))
    if orders is not None:
        shown = _shown_first(rows, orders)
        if shown is not None:
            yield ("the response shown first", shown)
    if lengths is not None:
        longer = _longer(rows, lengths)
        if longer is not None:
            yield ("the longer response", longer)


def _same_model(rows: VoteCounts, models: IntArray) -> IntArray:
    """The label of the model of a pair that gold prefers; 0 for pairs that seldom meet."""
    a_first = models[:, 0] <= models[:, 1]
    # A pair as one number, for which no model is known is 0.
    numbers = int(models.max(initial=-1)) + 2
    first, second = models.min(axis=1) + 1, models.max(axis=1) + 1
    pair, code, _ = distinct(first * numbers + second)
    towards_first = np.where(a_first, rows.gold, -rows.gold)
    preferred = np.where(np.bincount(code, towards_first, minlength=len(pair)) >= 0, 1, -1)
    items = int(rows.item.max(initial=0)) + 1
    met = distinct(code * items + rows.item)[0] // items
    often = np.bincount(met, minlength=len(pair)) >= PAIR_ITEMS
    label = np.where(a_first, preferred[code], -preferred[code])
    return np.where(often[code] & (pair[code] >= numbers), label, 0)


def _shown_first(rows: VoteCounts, orders: OrderCounts) -> IntArray | None:
    """The label of the response shown first; None where a comparison was shown in both orders."""
    a_first, b_first = orders.ab.sum(axis=1) > 0, orders.ba.sum(axis=1) > 0
    if (a_first & b_first).any():
        return None
    return _placed(rows, orders.comparison, np.where(a_first, 1, -1))


def _longer(rows: VoteCounts, lengths: LengthCounts) -> IntArray | None:
    """The label of the longer response, where gold says which of its sides that is."""
    used = np.isin(lengths.gold, (-1, 1))
    if not used.any():
        return None
    gold_is_longer = _placed(rows, lengths.comparison[used], lengths.gold[used])
    return gold_is_longer * rows.gold


def _placed(rows: VoteCounts, comparison: IntArray, value: IntArray) -> IntArray:
    """Values by comparison in the rows of `rows`; 0 where there is none."""
    size = 1 + max(int(comparison.max(initial=-1)), int(rows.comparison.max(initial=-1)))
    table = np.zeros(size, dtype=np.int64)
    table[comparison] = value
    return np.asarray(table[rows.comparison])


def _against(rule: str, rows: VoteCounts, favoured: IntArray, level: float) -> BlindRule:
    used: BoolArray = favoured != 0
    kept, label = rows.rows(used), favoured[used]
    right, agrees = credit(kept), kept.gold == label
    sides = [item_means(kept.item[side], right[side]) for side in (agrees, ~agrees)]
    said = np.where(label == 1, kept.plus, kept.minus) / kept.n
    fewest = min(map(len, sides))
    return BlindRule(
        rule=rule,
        right=weighed_sides(sides[0], sides[1], (0.5, 0.5), level=level)
        if fewest >= LEAST_ON_A_SIDE
        else Estimate(_half_of_both(sides), n=sum(map(len, sides)), level=level),
        share=float(item_means(kept.item, agrees.astype(np.float64)).mean()),
        follows=float(item_means(kept.item, said).mean()),
        fewest=fewest,
        shown_blind=False,
    )


def _half_of_both(sides: list[FloatArray]) -> float:
    """½(m₊ + m₋), NaN where a side has no item."""
    return float(sum(side.mean() for side in sides) / 2) if min(map(len, sides)) else float("nan")
