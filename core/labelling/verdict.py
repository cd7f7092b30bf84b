"""What labels drawn at random show of a judge, and may be looked at after every one of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import InvalidOption
from ..records import BoolArray, FloatArray, IntArray
from ..stats.by_verdict import class_rate
from ..stats.estimate import Estimate
from ..stats.intervals import wilson_by_item
from .wealth import Wealth, log_needed, row_path

Grade = Literal["ok", "warn", "fail", "unclear"]

Limits = tuple[float, float]
"""Caution and failure of the check *accuracy*, .70 and .60 unless a person says otherwise."""
ALPHA = 0.05
LEAST_LABELS = 10
"""Labels before which nothing is said."""
LEAST_FORECAST = 15
"""Labels before which nothing is foretold."""
MOST_UNDECIDED = 0.10
"""Share of labels that say "cannot tell", or stay skipped, above which a grade is *unclear*."""
FUTURES = 200
AHEAD = 4
"""How many plans ahead a forecast looks."""
GRID = np.arange(1, 100) / 100
"""Values of the mean that the interval keeps or rules out."""
UNDECIDED = 0.5
"""What a label counts where the person cannot tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many labels were planned before the first one.

    labels : n*, at which an ordinary interval is looked at once; None without a plan, and where it
        was changed after the first label.
    """

    labels: int | None = 200

    @property
    def log_needed(self) -> float:
        """Logarithm of the wealth that shows a limit passed: 80 with a plan, which has the other
        half of the error, else 40.
        """
        return log_needed(ALPHA / 2 if self.labels else ALPHA)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LabelledRow:
    """Labels of one judge's items, in the order in which they were drawn.

    stratum : (N,) of all of its items, in the order of drawing.
    credit : (n,) what the judge gets for each labelled item, 0 to 1; NaN where the label is a tie,
        or "both bad", which says nothing of a share of decided labels.
    undecided : (n,) "cannot tell", or still skipped: counted as ½.
    by_verdict : the mean is over the items of a class that labels tell, and strata are the judge's
        two verdicts: of the class an item of stratum 1 gets 1, one of stratum 0 nothing.
    """

    stratum: IntArray
    credit: FloatArray
    undecided: BoolArray
    by_verdict: bool = False

    def __post_init__(self) -> None:
        if len(self.credit) != len(self.undecided) or len(self.credit) > len(self.stratum):
            raise InvalidOption("credit, undecided: one entry per label, and no more than items")
        known = self.credit[~np.isnan(self.credit)]
        if len(known) and (known.min() < 0 or known.max() > 1):
            raise InvalidOption("credit: what a judge gets is within 0 to 1")

    @property
    def sizes(self) -> IntArray:
        return np.bincount(self.stratum, minlength=1)[None, :]

    @property
    def decided(self) -> BoolArray:
        """(n,) labels that say something of the mean."""
        return ~np.isnan(self.credit) & ~self.undecided

    def payoffs(self, limits: FloatArray) -> FloatArray:
        """(n, L) labels as they are bet on: a tie is the limit itself, which no bet feels."""
        x = np.where(self.undecided, UNDECIDED, self.credit)[:, None]
        return np.where(np.isnan(x), limits, x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """How many more labels decide, over futures drawn from the labels so far.

    low, high : a tenth and nine tenths of the futures need fewer; None beyond the horizon.
    horizon : labels that a future has at most, from now.
    by_end : share of futures that decide by the end of the plan, or of the items.  left : labels
        until then.
    """

    low: int | None
    high: int | None
    horizon: int
    by_end: float
    left: int

    @property
    def futile(self) -> bool:
        """Whether it is less likely than not that the labels that are left decide."""
        return self.by_end < 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the labels so far show of one judge.

    n : labels, n_items : items that it has votes on.  ties, undecided : labels among them.
    grade : latched at label `since`; `unclear` before.  by_plan : the ordinary interval at the end
        of the plan showed it, not the wealth.
    right : share right of decided labels, a tie of the judge counting half, with the interval that
        holds whenever one stops; None before 10 labels.
    planned : the ordinary interval, once the plan has ended.
    """

    n: int
    n_items: int
    ties: int
    undecided: int
    grade: Grade
    since: int | None
    by_plan: bool
    right: Estimate | None
    planned: Estimate | None

    @property
    def too_undecided(self) -> bool:
        return self.undecided > MOST_UNDECIDED * self.n


def standing(row: LabelledRow, plan: Plan, *, limits: Limits) -> Standing:
    """Grade of a judge by the labels so far, latched, and the interval that holds at any time.

    Above caution is *ok*, below failure *fail*, below caution *warn*; shown by the wealth
    (`Wealth`) after any label from the tenth on, at 40, or at 80 with a plan, whose end adds
    Wilson's interval by item at α = .025, once. The first side that is shown stands; *warn* may
    become *fail*. More than a tenth of undecided labels make any grade *unclear*. The interval has
    the values of the mean, in steps of .01, that neither bet rules out at 40.

    Whatever the truth, the chance that a grade is ever wrong is 5 % at most.
    Source: docs/methods.md §12 (ours).
    """
    both = np.array(limits)
    n = len(row.credit)
    up, down = row_path(row.payoffs(both), row.stratum[:n], row.sizes[0], both)
    needed = plan.log_needed
    grade: Grade = "unclear"
    since, by_plan = None, False
    planned = None
    for t in range(LEAST_LABELS - 1, n):
        shown = _grade(up[t, 0] >= needed, down[t, :2] >= needed)
        if t + 1 == plan.labels:
            planned = ordinary(row, t + 1)
            late = _by_interval(planned, limits)
            if shown == "unclear" and grade == "unclear" and late != "unclear":
                shown, by_plan = late, True
        grade, since = _latched(grade, since, shown, t + 1)
    right = None
    if n >= LEAST_LABELS and row.decided.any():
        right = anytime_mean(row)
    undecided = int(row.undecided.sum())
    if undecided > MOST_UNDECIDED * n:
        grade, since = "unclear", None
    return Standing(
        n=n,
        n_items=len(row.stratum),
        ties=int((np.isnan(row.credit) & ~row.undecided).sum()),
        undecided=undecided,
        grade=grade,
        since=since,
        by_plan=by_plan and grade != "unclear",
        right=right,
        planned=planned,
    )


def _grade(above: bool | np.bool_, below: BoolArray) -> Grade:
    """below : under caution, under failure."""
    if above:
        return "ok"
    return "fail" if below[1] else "warn" if below[0] else "unclear"


def _by_interval(interval: Estimate, limits: Limits) -> Grade:
    if not interval.has_interval:
        return "unclear"
    return _grade(interval.low > limits[0], np.array([interval.high < limit for limit in limits]))


def _latched(before: Grade, since: int | None, shown: Grade, t: int) -> tuple[Grade, int | None]:
    if before == "unclear" or (before, shown) == ("warn", "fail"):
        return (shown, t) if shown != "unclear" else (before, since)
    return before, since


def anytime_mean(row: LabelledRow) -> Estimate:
    """Mean over all items, with the interval that holds whenever one stops: values in steps of .01
    that neither bet rules out at 40. Some label must be decided.
    """
    n = int(row.decided.sum())
    value = float(row.credit[row.decided].mean())
    needed = log_needed(ALPHA)
    stratum = row.stratum[: len(row.credit)]
    up, down = row_path(row.payoffs(GRID), stratum, row.sizes[0], GRID, last_only=True)
    kept = (up[0] < needed) & (down[0] < needed)
    places = np.flatnonzero(kept)
    if not len(places):
        # All items are labelled, and the mean lies between two values of the grid.
        return Estimate(value, value, value, n=n, level=1 - ALPHA)
    low = 0.0 if places[0] == 0 else float(GRID[places[0]] - 0.01)
    high = 1.0 if places[-1] == len(GRID) - 1 else float(GRID[places[-1]] + 0.01)
    return Estimate(value, min(low, value), max(high, value), n=n, level=1 - ALPHA)


def ordinary(row: LabelledRow, n: int) -> Estimate:
    """Interval of the first n labels at half the error, as at a plan's end: Wilson's by item; of a
    class `class_rate`, once either verdict has a label.
    """
    labelled = np.bincount(row.stratum[:n], minlength=2)
    if row.by_verdict and labelled.all():
        k = np.array([(row.credit[:n] == credit).sum() for credit in (1, 0)])
        value, low, high = class_rate(k, labelled[::-1], row.sizes[0, ::-1], level=1 - ALPHA / 2)
        return Estimate(float(value), float(low), float(high), n=int(k.sum()), level=1 - ALPHA / 2)
    credit = np.where(row.undecided, UNDECIDED, row.credit)[:n]
    kept = np.flatnonzero(~np.isnan(credit)).astype(np.int64)
    return wilson_by_item(
        kept, np.ones(len(kept)), credit[kept], half_credit=True, level=1 - ALPHA / 2
    )


def forecast(
    row: LabelledRow,
    plan: Plan,
    *,
    limits: Limits,
    rng: np.random.Generator,
    futures: int = FUTURES,
    between: Callable[[], object] = bool,
) -> Forecast | None:
    """How many more labels are likely to decide; None before 15 labels, or without an item left.

    Each future draws the share right from Beta(Σx + 1, n − Σx + 1), the share of ties from
    Beta(ties + ½, decided + ½), and goes on as `standing` does up to min(N, 4·n*) labels. Of a
    class it draws the share of either verdict that is of it, from Beta(k + ½, m − k + ½).

    between : called before each label of the futures, for who lets others go first.
    Source: ours, docs/methods.md §12.
    """
    n, items = len(row.credit), len(row.stratum)
    until = min(items, plan.labels or items)
    horizon = min(items, AHEAD * (plan.labels or 50)) - n
    if n < LEAST_FORECAST or horizon <= 0:
        return None
    both = np.array(limits)
    bets = Wealth(row.sizes, both)
    for t, x in enumerate(row.payoffs(both)):
        bets.add(x[None], row.stratum[t : t + 1])
    right = _futures(row, (futures, horizon), rng)
    bets = bets.repeated(futures)
    when = np.full(futures, np.inf)
    needed = plan.log_needed
    for k in range(horizon):
        between()
        x = np.where(np.isnan(right[:, k])[:, None], both, right[:, k, None])
        bets.add(x, np.full(futures, row.stratum[n + k]))
        shown = (bets.up[:, 0] >= needed) | (bets.down >= needed).any(axis=1)
        if n + k + 1 == plan.labels:
            shown |= _ends_decided(row, right[:, : k + 1], limits)
        when[shown & np.isinf(when)] = k + 1
        if np.isfinite(when).all():
            break
    low, high = (float(np.quantile(when, share, method="higher")) for share in (0.1, 0.9))
    return Forecast(
        low=None if math.isinf(low) else int(low),
        high=None if math.isinf(high) else int(high),
        horizon=horizon,
        by_end=float((when <= max(until - n, 0)).mean()) if until > n else 0.0,
        left=max(until - n, 0),
    )


def _futures(row: LabelledRow, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Credits of the labels to come, NaN for ties or another class; (futures, horizon)."""
    futures, horizon = shape
    n = len(row.credit)
    known = ~np.isnan(row.credit)
    if row.by_verdict:
        ahead = row.stratum[n : n + horizon]
        m = np.bincount(row.stratum[:n], minlength=2)
        k = np.bincount(row.stratum[:n][known], minlength=2)
        share = rng.beta(k + 0.5, m - k + 0.5, (futures, 2))
        return np.where(rng.random(shape) < share[:, ahead], ahead, np.nan)
    decided = _counted(row)
    total, ties = float(decided.sum()), n - len(decided)
    right = rng.beta(total + 1, len(decided) - total + 1, futures)
    tied = rng.random(shape) < rng.beta(ties + 0.5, len(decided) + 0.5, futures)[:, None] * (
        ties > 0
    )
    return np.where(tied, np.nan, rng.random(shape) < right[:, None])


def _counted(row: LabelledRow) -> FloatArray:
    """Credits without ties, what nobody can tell as ½."""
    credit = np.where(row.undecided, UNDECIDED, row.credit)
    return np.asarray(credit[~np.isnan(credit)])


def _ends_decided(row: LabelledRow, future: FloatArray, limits: Limits) -> BoolArray:
    """Whether the ordinary interval at the end of the plan is on one side of a limit."""
    return np.array(
        [
            _by_interval(
                ordinary(
                    LabelledRow(
                        stratum=row.stratum,
                        credit=np.concatenate([row.credit, drawn]),
                        undecided=np.concatenate([row.undecided, np.zeros(len(drawn), dtype=bool)]),
                        by_verdict=row.by_verdict,
                    ),
                    len(row.credit) + len(drawn),
                ),
                limits,
            )
            != "unclear"
            for drawn in future
        ]
    )
