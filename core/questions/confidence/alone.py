"""What a judge may decide alone: the sureness from which on it errs at most as often as allowed.

docs/methods.md §5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidOption
from ...records import BoolArray, FloatArray, IntArray, OutcomeCounts
from ...stats import intervals
from ...stats.binning import EDGE_TOLERANCE, rank_values, usable
from ...stats.estimate import DataFrame, data_frame, flat

ERRORS = (0.01, 0.02, 0.05, 0.10)
"""Shares of wrong verdicts that are asked about, each a promise of its own."""
BROKEN = 0.05
"""Probability that such a promise is broken."""
OF_THE_WALK, OF_ALL = 0.95, 0.05
"""How δ is shared by the walk over cuts and the test of all verdicts."""
MORE_DEPENDENT = 0.10
"""Added to the correlation of errors within an item, which few items show too small."""
MOST_CUTS, STEPS = 10_000, 2_000
ENOUGH = 1.2
"""Verdicts, as a multiple of the fewest that allow an error, from which a walk begins there."""
BEGINS_AT = 1.5
"""Errors allowed at the first cut, as a multiple of α·n."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RiskThreshold:
    """The lowest confidence at which the error rate is at most `alpha`, right with probability 1 −
    `delta`.

    threshold, coverage, error_rate, bound : None if no cut passes, which `note` then explains.
        coverage : fraction of the verdicts at or above it.  bound : upper bound of their error
        rate.
    bound_all : the bound of all verdicts, at .05·δ. None with too few verdicts to test.
    cut, cut_n, cut_errors, cut_bound, passed : (cuts,) those that were tested, strictest first:
        the walk as far as the first that failed, and all verdicts.
    """

    threshold: float | None
    coverage: float | None
    error_rate: float | None
    bound: float | None
    bound_all: float | None
    n: int
    alpha: float
    delta: float
    note: str
    cut: FloatArray
    cut_n: IntArray
    cut_errors: IntArray
    cut_bound: FloatArray
    passed: BoolArray

    def to_frame(self) -> DataFrame:
        """One row per cut that was tested."""
        return data_frame(flat(self, names=("cut", "cut_n", "cut_errors", "cut_bound", "passed")))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedAlone:
    """What is decided alone with at most `error` wrong, with probability .95.

    threshold : least sureness of what is; None where nothing is, which `note` explains.
    share : of all verdicts and missing ones.  n, wrong : verdicts with a label among them.
    bound : upper bound of their error rate.
    """

    error: float
    threshold: float | None
    share: float
    n: int
    wrong: int
    bound: float | None
    note: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cuts:
    """The verdicts that are kept at each distinct confidence, strictest first.

    confidence : of the cut.  n, errors : verdicts kept and the wrong ones among them.
    size : how many independent verdicts n count as.  scaled : errors among so many, rounded up.
    """

    confidence: FloatArray
    n: IntArray
    errors: IntArray
    size: IntArray
    scaled: IntArray


def sized_cuts(outcomes: OutcomeCounts) -> Cuts:
    """What no promise changes, once for all of them.

    Raises NoUsableVotes if no verdict has a confidence.
    """
    known = usable(outcomes)
    confidence, n, errors = cuts(known)
    n, errors = n.cumsum(), errors.cumsum()
    size = _independent(known, n)
    scaled = np.ceil(errors * size / n - EDGE_TOLERANCE).astype(np.int64)
    return Cuts(confidence=confidence, n=n, errors=errors, size=size, scaled=scaled)


def decided_alone(
    outcomes: OutcomeCounts,
    *,
    errors: Sequence[float] = ERRORS,
    delta: float = BROKEN,
    sureness: FloatArray | None = None,
    total: int = 0,
) -> tuple[DecidedAlone, ...]:
    """What may be decided alone with at most each of `errors` wrong.

    outcomes : of the verdicts with a label.
    sureness : of all verdicts, NaN where unknown; total : verdicts and missing ones, of which the
        share is. By default it is of the verdicts with a label.

    Raises as `threshold_for_risk`.
    """
    sized = sized_cuts(outcomes)
    return tuple(_decided(sized, error, delta, sureness, total) for error in errors)


def _decided(
    sized: Cuts, error: float, delta: float, sureness: FloatArray | None, total: int
) -> DecidedAlone:
    found = _threshold(sized, error, delta)
    if found.threshold is None:
        return DecidedAlone(
            error=error, threshold=None, share=0.0, n=0, wrong=0, bound=None, note=found.note
        )
    place = int(np.flatnonzero(found.passed)[-1])
    share = found.coverage or 0.0
    if sureness is not None:
        share = int((sureness >= found.threshold - EDGE_TOLERANCE).sum()) / total
    return DecidedAlone(
        error=error,
        threshold=found.threshold,
        share=share,
        n=int(found.cut_n[place]),
        wrong=int(found.cut_errors[place]),
        bound=found.bound,
        note=found.note,
    )


def allowed_errors(sizes: int | IntArray, alpha: float, delta: float) -> IntArray:
    """Most errors among so many verdicts with which the one-sided level-δ Clopper–Pearson bound is
    at most α; −1 where not even none would do.
    """
    from scipy.special import bdtr, bdtrik

    n = np.asarray(sizes, dtype=np.int64)
    # As a real number, which a whole one next to it may miss by rounding.
    about = np.nan_to_num(np.floor(bdtrik(delta, n.astype(np.float64), alpha)), nan=0.0)
    tried = np.stack([np.clip(about + step, 0, n) for step in (-1, 0, 1)])
    fits = bdtr(tried, n, alpha) <= delta * (1 + EDGE_TOLERANCE)
    allowed: IntArray = np.where(fits, tried, -1).max(axis=0).astype(np.int64)
    return allowed


def _fewest(errors: int, alpha: float, delta: float) -> int:
    """Fewest verdicts that allow so many errors."""
    enough = 1
    while allowed_errors(enough, alpha, delta) < errors:
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if allowed_errors(middle, alpha, delta) < errors:
            too_few = middle
        else:
            enough = middle
    return enough


def first_cut(n: int, alpha: float, delta: float) -> int:
    """Verdicts of the first cut to test, of n.

    With m_k the fewest that allow k errors: from n ≥ 1.2·m₂ the largest m_k ≤ max(m₂, 1.5·α·n);
    from 1.2·m₁ m₁; else m₀. A first cut that allows no error fails by a single wrong verdict.
    """
    none, single, two = (_fewest(errors, alpha, delta) for errors in range(3))
    if n < ENOUGH * two:
        return single if n >= ENOUGH * single else none
    limit = int(max(two, BEGINS_AT * alpha * n))
    return _fewest(int(allowed_errors(min(limit, n), alpha, delta)), alpha, delta)


def threshold_for_risk(outcomes: OutcomeCounts, *, alpha: float, delta: float) -> RiskThreshold:
    """Lowest confidence above which the judge errs at most `alpha`, with probability at least 1 −
    `delta`.

    Fixed-sequence testing of all distinct confidences (above 10,000: of 2,000 in equal steps),
    strictest first: from `first_cut`, at .95·δ, as long as the one-sided Clopper–Pearson bound is
    at most α. The last cut that passes is the threshold. Then all verdicts at .05·δ: if they pass,
    nothing need be dropped, whatever the walk said; so a good judge whose confidence says nothing,
    or whose surest verdicts are its worst, is not held back by it. None is a valid answer. Picking
    the best-looking cut and then bounding it fails far more often than δ.

    Verdicts of one item are not independent: n kept verdicts count as
    ⌊n/(1 + (K − 1)·min(1, ICC + .1))⌋ with K = Σs²/Σs over the kept verdicts s of each item (Kish)
    and ICC(1) of the errors, at least 0; errors are scaled to it and rounded up. Where a few items
    hold most verdicts it can promise too much; `guarantee` draws one comparison per item.

    Raises InvalidOption for alpha or delta outside (0, 1), NoUsableVotes if no verdict has a
    confidence.
    Source: docs/methods.md §5 (ours); Learn then Test, Angelopoulos et al. (2021) §3.2; Kish
    (1965).
    """
    return _threshold(sized_cuts(outcomes), alpha, delta)


def _threshold(sized: Cuts, alpha: float, delta: float) -> RiskThreshold:
    for name, value in (("alpha", alpha), ("delta", delta)):
        if not 0 < value < 1:
            raise InvalidOption(f"{name}: {value} is not between 0 and 1")
    cut, n, errors, size = sized.confidence, sized.n, sized.errors, sized.size
    scaled = sized.scaled
    total = int(size.max())
    walk_level, all_level = OF_THE_WALK * delta, OF_ALL * delta
    begins = first_cut(total, alpha, walk_level)
    tested = np.flatnonzero(size >= begins)
    if len(cut) > MOST_CUTS and len(tested) > STEPS:
        steps = np.linspace(n[tested[0]], n[-1], STEPS)
        tested = np.unique(np.searchsorted(n, steps - EDGE_TOLERANCE))
    passing = scaled[tested] <= allowed_errors(size[tested], alpha, walk_level)
    passed = np.logical_and.accumulate(passing)
    until = min(int(passed.sum()) + 1, len(tested))
    tested, passed = tested[:until], passed[:until]
    bound = intervals.clopper_pearson(scaled[tested], size[tested], level=1 - walk_level)
    bound_all = None
    if len(tested):
        last = len(cut) - 1
        bound_all = float(
            intervals.clopper_pearson(scaled[last:], size[last:], level=1 - all_level)[0]
        )
        all_pass = bool(scaled[last] <= allowed_errors(size[last], alpha, all_level))
        if tested[-1] != last:
            tested, passed = np.append(tested, last), np.append(passed, all_pass)
            bound = np.append(bound, bound_all)
        elif all_pass and not passed[-1]:
            passed[-1], bound[-1] = True, bound_all
    place = int(np.flatnonzero(passed)[-1]) if passed.any() else None
    if not len(tested):
        needed = math.ceil(math.log(walk_level) / math.log(1 - alpha) - EDGE_TOLERANCE)
        note = f"needs at least {needed:,} independent verdicts; there are {total:,}"
    elif place is None:
        share = 100 * n[tested[0]] / n[-1]
        note = (
            f"the first verdicts that are tested, the {share:.3g} % of confidence "
            f"{cut[tested[0]]:.4g} and above (n {n[tested[0]]:,}), may err up to "
            f"{100 * bound[0]:.1f} %; allowed are {100 * alpha:.3g} %"
        )
    else:
        note = f"{int(passed.sum())} of {len(tested)} cuts pass"
    chosen = None if place is None else int(tested[place])
    return RiskThreshold(
        threshold=None if chosen is None else float(cut[chosen]),
        coverage=None if chosen is None else float(n[chosen] / n[-1]),
        error_rate=None if chosen is None else float(errors[chosen] / n[chosen]),
        bound=None if place is None else float(bound[place]),
        bound_all=bound_all,
        n=int(n[-1]),
        alpha=alpha,
        delta=delta,
        note=note,
        cut=cut[tested],
        cut_n=n[tested],
        cut_errors=errors[tested],
        cut_bound=bound,
        passed=passed,
    )


def cuts(known: OutcomeCounts) -> tuple[FloatArray, IntArray, IntArray]:
    """Distinct confidences from high to low, with the verdicts and the wrong ones at each."""
    code = rank_values(known.confidence)
    n = np.bincount(code, weights=known.n).astype(np.int64)
    errors = np.bincount(code, weights=known.n - known.correct).astype(np.int64)
    value = np.full(len(n), np.inf)
    np.minimum.at(value, code, known.confidence)
    seen = np.flatnonzero(n)[::-1]
    return value[seen], n[seen], errors[seen]


def _independent(known: OutcomeCounts, n: IntArray) -> IntArray:
    """How many independent verdicts the n kept at each cut count as."""
    kish = _squared_item_totals(known) / n
    dependence = min(1.0, _error_correlation(known) + MORE_DEPENDENT)
    size: IntArray = np.floor(n / (1 + (kish - 1) * dependence) + EDGE_TOLERANCE).astype(np.int64)
    return size


def _error_correlation(known: OutcomeCounts) -> float:
    """ICC(1) of errors within items, at least 0; 1 of a single item, which shows nothing of it."""
    code = intervals.dense_codes(known.item)
    each = np.bincount(code, known.n)
    wrong = np.bincount(code, known.n - known.correct)
    items, n = len(each), float(each.sum())
    if items < 2:
        return 1.0
    between = float(((wrong - each * wrong.sum() / n) ** 2 / each).sum()) / (items - 1)
    within = float(wrong.sum() - (wrong**2 / each).sum()) / max(n - items, 1.0)
    return max((between - within) / max(between + (n / items - 1) * within, 1e-12), 0.0)


def _squared_item_totals(known: OutcomeCounts) -> FloatArray:
    """Σsᵢ² over items, of the verdicts kept at each cut of `cuts`."""
    code = rank_values(known.confidence)
    order = np.lexsort((-code, known.item))
    item, n = known.item[order], known.n[order]
    running = n.cumsum()
    starts = np.flatnonzero(np.concatenate([[True], item[1:] != item[:-1]]))
    offset = np.repeat(running[starts] - n[starts], np.diff(np.append(starts, len(item))))
    before = running - n - offset
    growth = np.bincount(code[order], weights=(2 * before + n) * n)
    seen = np.flatnonzero(np.bincount(code, weights=known.n))[::-1]
    return np.asarray(growth[seen].cumsum())
