"""Risk against coverage, AUROC, and the threshold on how sure the label of a comparison is.

`alone.threshold_for_risk` keeps or drops single verdicts by their stated confidence, `guarantee`
whole comparisons. docs/methods.md §5 and §9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...errors import NoUsableVotes
from ...extras import require
from ...records import NO_GOLD, ConfidenceCounts, FloatArray, IntArray, OutcomeCounts, VoteCounts
from ...stats import intervals
from ...stats.binning import rank_values, usable
from ...stats.estimate import DataFrame, Estimate, Estimates, data_frame, flat
from ...stats.repeated_votes import share_behind
from ..labels.btd import CHANCES, apply, fit
from .alone import RiskThreshold, cuts, threshold_for_risk


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RiskCoverage:
    """Error rate among the verdicts kept if those below a confidence are dropped, (cuts,),
    strictest first.

    threshold : least confidence kept.  n, errors : verdicts kept and the wrong ones.  coverage : n
        over all.
    risk : errors / n, with a Wilson interval at n/deff.  aurc : mean risk over all coverages.
    error_rate : risk at full coverage, the curve of a confidence that says nothing.
    """

    threshold: FloatArray
    n: IntArray
    errors: IntArray
    coverage: FloatArray
    risk: Estimates
    aurc: float
    error_rate: float
    deff: float

    def to_frame(self) -> DataFrame:
        """One row per cut."""
        return data_frame(flat(self, names=("threshold", "coverage", "risk", "n", "errors")))


def risk_coverage(outcomes: OutcomeCounts, *, level: float = 0.95) -> RiskCoverage:
    """Error rate of the most confident verdicts against the share of verdicts kept.

    Verdicts of equal confidence enter together; within such a tie errors enter pro rata, so
    AURC = 1/N·Σ_{j=1..N} (expected error rate of the first j) does not depend on the order of rows.

    Source: El-Yaniv & Wiener (2010), Geifman & El-Yaniv (2017); ties ours.
    """
    from scipy.special import digamma

    known = usable(outcomes)
    cut, n, errors = cuts(known)
    total, wrong = n.cumsum(), errors.cumsum()
    before, rate = total - n, errors / n
    # Σ_{j=1..m} (E + j·r)/(A + j) = m·r + (E − A·r)·(H(A + m) − H(A)), with H the harmonic numbers.
    harmonic = digamma(total + 1.0) - digamma(before + 1.0)
    area = n * rate + (wrong - errors - before * rate) * harmonic
    deff = intervals.design_effect(known.item, known.n, known.n - known.correct)
    low, high = intervals.wilson(wrong, total, level=level, deff=deff)
    return RiskCoverage(
        threshold=cut,
        n=total,
        errors=wrong,
        coverage=total / total[-1],
        risk=Estimates(wrong / total, low, high, n=total, level=level),
        aurc=float(area.sum() / total[-1]),
        error_rate=float(wrong[-1] / total[-1]),
        deff=deff,
    )


Sureness = Literal["share", "stated", "btd"]
"""How sure a label is: the share of votes for it, their mean stated confidence, or BTD's
probability.
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decisions:
    """One label per comparison, how sure it is by a rule of `Sureness` (0 to 1, or NaN),
    and gold.
    """

    comparison: IntArray
    item: IntArray
    label: IntArray
    confidence: FloatArray
    gold: IntArray
    sureness: Sureness

    def __len__(self) -> int:
        return len(self.label)

    def to_frame(self) -> DataFrame:
        """One row per comparison; gold is missing where it is unknown or was used up by a fit."""
        require("pandas", purpose="A data frame")
        import pandas as pd

        gold = pd.array(self.gold, dtype="Int64")
        gold[self.gold == NO_GOLD] = pd.NA
        return pd.DataFrame(flat(self) | {"gold": gold})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Guarantee:
    """The lowest sureness from which on labels are wrong at most in `alpha`, with probability 1 −
    `delta`.

    threshold : None if no cut passes, which `note` then explains.
    kept : share of all comparisons at or above it, labelled or not.  wrong : share of wrong labels
        among the
    labelled ones kept.  everything : the same with all kept.  Intervals are clustered by item.
    n_items : labelled items, of which one comparison each was tested; `test` has the cuts and their
        bounds.
    n_labelled, n : comparisons with gold, and all.
    """

    threshold: float | None
    kept: Estimate | None
    wrong: Estimate | None
    everything: Estimate
    alpha: float
    delta: float
    sureness: Sureness
    n: int
    n_labelled: int
    n_items: int
    note: str
    test: RiskThreshold

    def to_frame(self) -> DataFrame:
        """One row; shares with their intervals."""
        row: dict[str, object] = {"sureness": self.sureness, "threshold": self.threshold}
        shares = {
            "kept": self.kept,
            "wrong": self.wrong,
            "wrong without threshold": self.everything,
        }
        for name, share in shares.items():
            for end, field in (("", "value"), (" low", "low"), (" high", "high")):
                row[name + end] = getattr(share, field, None)
        names = ("alpha", "delta", "n", "n_labelled", "n_items")
        return data_frame([row | {name: getattr(self, name) for name in names}])


def stated_behind(
    counts: VoteCounts, votes: ConfidenceCounts, *, of_all: bool = False
) -> FloatArray:
    """Mean stated confidence of the votes behind each majority (or of all), NaN where none states
    any.
    """
    rows = len(counts)
    if not rows:
        return np.zeros(0)
    order = np.argsort(counts.comparison, kind="stable")
    row = order[
        np.minimum(np.searchsorted(counts.comparison, votes.comparison, sorter=order), rows - 1)
    ]
    behind = counts.comparison[row] == votes.comparison
    if not of_all:
        behind &= votes.vote == counts.label[row]
    stating = behind & ~np.isnan(votes.confidence)
    row, sums = row[stating], votes.n[stating] * votes.confidence[stating]
    n = np.bincount(row, votes.n[stating], minlength=rows)
    total = np.bincount(row, sums, minlength=rows)
    return np.asarray(np.divide(total, n, out=np.full(rows, np.nan), where=n > 0))


def by_share(counts: VoteCounts) -> Decisions:
    """Majority label of each comparison, as sure as the share of votes for it.

    Without a unique mode the label is 0, as sure as the share of any of the modes (`share_behind`).
    """
    return _decisions(counts, counts.label, share_behind(counts), "share")


def by_stated_confidence(counts: VoteCounts, votes: ConfidenceCounts) -> Decisions:
    """Majority label of each comparison, as sure as the votes for it state on average.

    NaN where no vote for the label states a confidence; such a comparison can be neither kept nor
    tested.
    votes : of the same judge and selection; votes on other comparisons are left out.
    """
    return _decisions(counts, counts.label, stated_behind(counts, votes), "stated")


def by_btd(counts: VoteCounts, *, rng: np.random.Generator) -> Decisions:
    """BTD label of each comparison, as sure as the fitted probability of that label.

    BTD is fitted on a random half of the labelled items. Their gold is then used up: it is missing
    in the result, so that a threshold is tested on items that the fit has not seen, for the very
    fit that will be used (ours).

    Raises TooFewLabels for fewer than 20 labelled comparisons in that half. Source: [BTD] §4 for
    the fit.
    """
    known = counts.gold != NO_GOLD
    items = np.unique(counts.item[known])
    fitted_on = rng.permutation(items)[: len(items) // 2]
    used = known & np.isin(counts.item, fitted_on)
    found = fit(counts.rows(used).cells()[0])
    label = apply(found, counts)
    p = found.probabilities(counts)
    sure = p[np.arange(len(label)), label + len(CHANCES) // 2]
    decided = _decisions(counts, label, sure, "btd")
    return replace(decided, gold=np.where(used, NO_GOLD, counts.gold))


def guarantee(
    decisions: Decisions,
    *,
    alpha: float,
    delta: float,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Guarantee:
    """Lowest sureness from which on at most `alpha` of the labels are wrong, with probability ≥ 1 −
    `delta`.

    A label is wrong if it differs from gold. Comparisons of one item are not independent, so one
    labelled comparison of each item is drawn at random, without looking at labels or sureness, and
    the cuts are tested on those alone, as `threshold_for_risk` does: independent draws, exact
    bounds. The promise is for a comparison drawn at random from an item like these, if it is kept;
    where all items have as many comparisons that is the share of wrong labels among all that are
    kept. To take the comparisons for independent would break it, and weighing by an effective
    number breaks it where few items have many.

    decisions : labels with their sureness. It must not have been fitted to the gold that is in it.
    alpha, delta : share of wrong labels allowed, probability of a broken promise allowed.
    rng : draws the comparison of each item; with one comparison per item nothing is left to chance.
    level : of the intervals of the shares, which are over all comparisons.

    Raises NoUsableVotes if no comparison has both gold and a sureness, InvalidOption for alpha,
    delta outside (0, 1).
    Source: docs/methods.md §9 (ours), by §5's fixed-sequence test; Angelopoulos et al. (2021) §3.2.
    """
    sure = ~np.isnan(decisions.confidence)
    tested = sure & (decisions.gold != NO_GOLD)
    if not tested.any():
        raise NoUsableVotes(
            "A threshold needs comparisons that have gold and a label with a sureness; this judge "
            "has none."
        )
    missed = decisions.label != decisions.gold
    drawn = _one_of_each_item(decisions, tested, rng)
    test = threshold_for_risk(_outcomes(decisions, drawn), alpha=alpha, delta=delta)

    def share(rows: np.ndarray, hit: np.ndarray) -> Estimate:
        return intervals.clustered_share(decisions.item[rows], hit[rows], level=level)

    kept = wrong = None
    if test.threshold is not None:
        above = sure & (decisions.confidence >= test.threshold - 1e-9)
        kept = share(np.ones(len(decisions), dtype=bool), above)
        wrong = share(above & tested, missed)
    return Guarantee(
        threshold=test.threshold,
        kept=kept,
        wrong=wrong,
        everything=share(tested, missed),
        alpha=alpha,
        delta=delta,
        sureness=decisions.sureness,
        n=len(decisions),
        n_labelled=int(tested.sum()),
        n_items=len(drawn),
        note=test.note,
        test=test,
    )


def label_outcomes(decisions: Decisions) -> OutcomeCounts:
    """Right and wrong labels of all comparisons with gold, for a risk–coverage curve beside the
    threshold.
    """
    return _outcomes(decisions, np.flatnonzero(decisions.gold != NO_GOLD))


def _outcomes(decisions: Decisions, rows: IntArray) -> OutcomeCounts:
    return OutcomeCounts(
        item=decisions.item[rows],
        confidence=decisions.confidence[rows],
        n=np.ones(len(rows), dtype=np.int64),
        correct=(decisions.label == decisions.gold)[rows].astype(np.int64),
    )


def kept_comparisons(decisions: Decisions, found: Guarantee) -> IntArray:
    """Codes of the comparisons at or above the threshold, the surest first; none without a
    threshold.
    """
    if found.threshold is None:
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(-decisions.confidence, kind="stable")
    return decisions.comparison[order][decisions.confidence[order] >= found.threshold - 1e-9]


def _one_of_each_item(
    decisions: Decisions, tested: np.ndarray, rng: np.random.Generator
) -> IntArray:
    """A random row of each item among those to test; the order of rows does not matter."""
    rows = np.flatnonzero(tested)
    rows = rows[np.lexsort((decisions.comparison[rows], decisions.item[rows]))]
    each = np.bincount(intervals.dense_codes(decisions.item[rows]))
    first = each.cumsum() - each
    return rows[first + np.floor(rng.random(len(each)) * each).astype(np.int64)]


def _decisions(counts: VoteCounts, label: IntArray, sure: FloatArray, rule: Sureness) -> Decisions:
    return Decisions(
        comparison=counts.comparison,
        item=counts.item,
        label=label,
        confidence=sure,
        gold=counts.gold,
        sureness=rule,
    )


LEAST = 5
"""Items with a right verdict, and items with a wrong one, below which there is no interval."""


def auroc(outcomes: OutcomeCounts, *, level: float = 0.95) -> Estimate:
    """P(a right verdict is surer than a wrong one) + ½·P(both equally sure), with an interval by
    item.

    With M right verdicts and W wrong ones, V(r) the share of wrong verdicts less sure than right
    verdict r (equal: ½) and V(w) the share of right ones surer than wrong verdict w: AUROC θ =
    ΣV(r)/M = ΣV(w)/W. With aᵢ = Σ(V(r) − θ) and bᵢ = Σ(V(w) − θ) over item i's right and wrong
    verdicts, var = I_M/(I_M − 1)·Σaᵢ²/M² + I_W/(I_W − 1)·Σbᵢ²/W² + 2·I/(I − 1)·Σaᵢbᵢ/(M·W), where
    I_M items have a right verdict, I_W a wrong one and I are all of them. The interval is logit θ ±
    t·√var/(θ(1 − θ)), t with one degree of freedom less than `effective_items` of right, or of
    wrong, verdicts, whichever are fewer: I_M − 1 or I_W − 1 where items have one of each.

    Verdicts without a confidence are left out; the n of θ is the number of items. NaN without a
    right or without a wrong verdict; ends are NaN with fewer than 5 items of either. A constant
    confidence has θ = ½ exactly. At θ = 0 or 1, where the variance is 0, the ends are Wilson's at
    min(I_M, I_W) (ours).

    Raises NoUsableVotes if no verdict has a confidence, InvalidOption for a level outside (0, 1).
    Source: DeLong, DeLong & Clarke-Pearson (1988); Obuchowski (1997) for clusters; logit by Pepe
    (2003) §5.2.
    """
    intervals.check_level(level)
    known = usable(outcomes)
    item = intervals.dense_codes(known.item)
    items = int(item.max()) + 1
    right, wrong = known.correct.astype(np.float64), (known.n - known.correct).astype(np.float64)
    rights, wrongs = float(right.sum()), float(wrong.sum())
    if not rights or not wrongs:
        return Estimate(math.nan, n=items, level=level)
    of_right, of_wrong = _placements(known.confidence, right, wrong)
    theta = float(right @ of_right) / rights
    with_right, with_wrong = (intervals.n_distinct(item[column > 0]) for column in (right, wrong))
    fewest = min(with_right, with_wrong)
    if fewest < LEAST:
        return Estimate(theta, n=items, level=level)
    if theta in (0.0, 1.0):
        ends = intervals.wilson(theta * fewest, fewest, level=level)
        return Estimate(theta, float(ends[0]), float(ends[1]), n=items, level=level)
    a = np.bincount(item, right * (of_right - theta)) / rights
    b = np.bincount(item, wrong * (of_wrong - theta)) / wrongs
    variance = _spread(a, a, with_right) + _spread(b, b, with_wrong) + 2 * _spread(a, b, items)
    from scipy.special import expit, logit

    error = math.sqrt(max(variance, 0.0)) / (theta * (1 - theta))
    effective = min(
        intervals.effective_items(np.bincount(item, column)) for column in (right, wrong)
    )
    half = float(intervals.t_quantiles(max(effective - 1, 1.0), level)) * error
    low, high = (float(expit(logit(theta) + sign * half)) for sign in (-1, 1))
    return Estimate(theta, min(low, theta), max(high, theta), n=items, level=level)


def _placements(
    confidence: FloatArray, right: FloatArray, wrong: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of each row, the share of wrong verdicts that are less sure and of right ones that
    are surer.
    """
    value = rank_values(confidence)
    wrong_at, right_at = np.bincount(value, wrong), np.bincount(value, right)
    below = (np.cumsum(wrong_at) - wrong_at / 2) / wrong_at.sum()
    above = 1 - (np.cumsum(right_at) - right_at / 2) / right_at.sum()
    return below[value], above[value]


def _spread(a: FloatArray, b: FloatArray, items: int) -> float:
    return items / (items - 1) * float(a @ b)
