"""Which verdicts to keep: risk against coverage, and a confidence threshold with a guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np

from core.binning import EDGE_TOLERANCE, rank_values, usable
from core.counts import BoolArray, FloatArray, IntArray, OutcomeCounts
from core.intervals import clopper_pearson, design_effect, wilson
from core.votes import InvalidOption

if TYPE_CHECKING:
    import pandas as pd

GRID_CUTS = 20


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RiskCoverage:
    """Error rate among the verdicts kept if those below a confidence are dropped, (cuts,), strictest first.

    threshold : least confidence kept.  n, errors : verdicts kept and the wrong ones.  coverage : n over all.
    risk : errors / n, with the Wilson interval `risk_low` to `risk_high` at n/deff.  aurc : mean risk over
    all coverages.  error_rate : risk at full coverage, the curve of a confidence that says nothing.
    """

    threshold: FloatArray
    n: IntArray
    errors: IntArray
    coverage: FloatArray
    risk: FloatArray
    risk_low: FloatArray
    risk_high: FloatArray
    aurc: float
    error_rate: float
    deff: float
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a cut."""
        import pandas as pd

        names = ("threshold", "coverage", "risk", "risk_low", "risk_high", "n", "errors")
        return pd.DataFrame({name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RiskThreshold:
    """The lowest confidence at which the error rate is at most `alpha`, right with probability 1 − `delta`.

    threshold, coverage, error_rate, bound : None if no cut passes, which `note` then explains.  coverage :
    fraction of the verdicts at or above it.  bound : upper bound of their error rate.
    cut, cut_n, cut_errors, cut_bound, passed : (cuts,) the grid, strictest first; the threshold is the last
    passed.
    """

    threshold: float | None
    coverage: float | None
    error_rate: float | None
    bound: float | None
    n: int
    alpha: float
    delta: float
    note: str
    cut: FloatArray
    cut_n: IntArray
    cut_errors: IntArray
    cut_bound: FloatArray
    passed: BoolArray

    def to_frame(self) -> pd.DataFrame:
        """One row a cut of the grid."""
        import pandas as pd

        names = ("cut", "cut_n", "cut_errors", "cut_bound", "passed")
        return pd.DataFrame({name: getattr(self, name) for name in names})


def risk_coverage(outcomes: OutcomeCounts, *, level: float = 0.95) -> RiskCoverage:
    """Error rate of the most confident verdicts against the share of verdicts kept.

    Verdicts of equal confidence enter together; within such a tie errors enter pro rata, so
    AURC = 1/N·Σ_{j=1..N} (expected error rate of the first j) does not depend on the order of rows.

    Source: El-Yaniv & Wiener (2010), Geifman & El-Yaniv (2017); ties ours.
    """
    from scipy.special import digamma

    known = usable(outcomes)
    cut, n, errors = _cuts(known)
    total, wrong = n.cumsum(), errors.cumsum()
    before, rate = total - n, errors / n
    # Σ_{j=1..m} (E + j·r)/(A + j) = m·r + (E − A·r)·(H(A + m) − H(A)), with H the harmonic numbers.
    harmonic = digamma(total + 1.0) - digamma(before + 1.0)
    area = n * rate + (wrong - errors - before * rate) * harmonic
    deff = design_effect(known.item, known.n, known.n - known.correct)
    low, high = wilson(wrong, total, level=level, deff=deff)
    return RiskCoverage(
        threshold=cut,
        n=total,
        errors=wrong,
        coverage=total / total[-1],
        risk=wrong / total,
        risk_low=low,
        risk_high=high,
        aurc=float(area.sum() / total[-1]),
        error_rate=float(wrong[-1] / total[-1]),
        deff=deff,
        level=level,
    )


def threshold_for_risk(outcomes: OutcomeCounts, *, alpha: float, delta: float) -> RiskThreshold:
    """Lowest confidence above which the judge errs at most `alpha`, with probability at least 1 − `delta`.

    Fixed-sequence testing of up to 20 distinct-confidence cuts, fixed without labels, strictest first: from
    the first that keeps n ≥ ⌈ln δ/ln(1 − α)⌉ verdicts, below which no bound passes, in equal steps of
    verdicts kept to the last, which keeps all. Continue while the one-sided level-δ Clopper–Pearson bound is
    ≤ α; the last cut that passes is the answer, and none is a valid one. Picking the best-looking cut and
    then bounding it fails far more often than δ.

    Items are the independent unit, so n is the effective number N²/Σnᵢ² (the verdicts if each has its own
    item) rounded down, with the errors scaled to it and rounded up. That is an approximation, good while
    items have about as many verdicts each; where a few items hold most verdicts it can promise too much, and
    `core.confidence.guarantee`, which draws one comparison an item, does not.

    Raises
    ------
    InvalidOption : alpha or delta outside (0, 1).
    NoUsableVotes : no verdict has a confidence.

    Source: methods §5 (ours); Learn then Test, Angelopoulos et al. (2021) §3.2.
    """
    for name, value in (("alpha", alpha), ("delta", delta)):
        if not 0 < value < 1:
            raise InvalidOption(f"{name}: {value} is not between 0 and 1")
    known = usable(outcomes)
    cut, n, errors = _cuts(known)
    n, errors = n.cumsum(), errors.cumsum()
    effective = np.floor(n**2 / _squared_item_totals(known) + EDGE_TOLERANCE)
    needed = ceil(log(delta) / log(1 - alpha) - EDGE_TOLERANCE)
    enough = np.flatnonzero(effective >= needed)
    grid = np.zeros(0, dtype=np.int64)
    if len(enough):
        first = int(enough[0])
        steps = np.linspace(n[first], n[-1], GRID_CUTS)
        few = len(cut) - first <= GRID_CUTS
        grid = np.arange(first, len(cut)) if few else np.unique(np.searchsorted(n, steps - EDGE_TOLERANCE))
    scaled = np.ceil(errors[grid] * effective[grid] / n[grid] - EDGE_TOLERANCE)
    _, bound = clopper_pearson(scaled, effective[grid], level=1 - delta, side="upper")
    passed = np.logical_and.accumulate(bound <= alpha + 1e-12)
    last = int(passed.sum()) - 1
    if not len(grid):
        note = f"needs at least {needed:,} independent verdicts; there are {int(effective.max()):,}"
    elif last < 0:
        share = 100 * n[grid[0]] / n[-1]
        note = (
            f"the fewest verdicts that can be tested, the {share:.3g} % of confidence {cut[grid[0]]:.4g} and "
            f"above (n {n[grid[0]]:,}), may err up to {100 * bound[0]:.1f} %; allowed are {100 * alpha:.3g} %"
        )
    else:
        note = f"{last + 1} of {len(grid)} cuts pass"
    chosen = grid[last] if last >= 0 else None
    return RiskThreshold(
        threshold=None if chosen is None else float(cut[chosen]),
        coverage=None if chosen is None else float(n[chosen] / n[-1]),
        error_rate=None if chosen is None else float(errors[chosen] / n[chosen]),
        bound=None if chosen is None else float(bound[last]),
        n=int(n[-1]),
        alpha=alpha,
        delta=delta,
        note=note,
        cut=cut[grid],
        cut_n=n[grid],
        cut_errors=errors[grid],
        cut_bound=bound,
        passed=passed,
    )


def _cuts(known: OutcomeCounts) -> tuple[FloatArray, IntArray, IntArray]:
    """Distinct confidences from high to low, with the verdicts and the wrong ones at each."""
    code = rank_values(known.confidence)
    n = np.bincount(code, weights=known.n).astype(np.int64)
    errors = np.bincount(code, weights=known.n - known.correct).astype(np.int64)
    value = np.full(len(n), np.inf)
    np.minimum.at(value, code, known.confidence)
    seen = np.flatnonzero(n)[::-1]
    return value[seen], n[seen], errors[seen]


def _squared_item_totals(known: OutcomeCounts) -> FloatArray:
    """Σnᵢ² over items, of the verdicts kept at each cut of `_cuts`."""
    code = rank_values(known.confidence)
    order = np.lexsort((-code, known.item))
    item, n = known.item[order], known.n[order]
    running = n.cumsum()
    starts = np.flatnonzero(np.concatenate([[True], item[1:] != item[:-1]]))
    offset = np.repeat(running[starts] - n[starts], np.diff(np.append(starts, len(item))))
    before = running - n - offset
    growth = np.bincount(code[order], weights=(2 * before + n) * n)
    seen = np.flatnonzero(np.bincount(code, weights=known.n))[::-1]
    total: FloatArray = growth[seen].cumsum()
    return total
