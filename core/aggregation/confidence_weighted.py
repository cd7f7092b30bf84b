"""BTD on votes that count more where the judge's confidence has been right: does confidence help aggregate?

A vote counts w(c), the evidence of its calibrated confidence; w is learned on calibration labels only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.aggregation.aggregators import confidence_labels
from core.aggregation.btd import MINIMUM_LABELS, Bounds, decide, drps, fit_many, probabilities
from core.aggregation.held_out import HeldOutScores, calibration_rows, held_out_scores, losses_by_item
from core.aggregation.weighing import Weighing, fit_weighted, learn_weighings
from core.counts import FloatArray, IntArray, SingleVotes, VoteCounts
from core.votes import InvalidOption, NoUsableVotes

if TYPE_CHECKING:
    import pandas as pd

GRID_POINTS = 101
RULES = ("Confidence-weighted BTD", "BTD", "CI-SC", "Majority (SC)")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConfidenceWeighted:
    """What weighing votes by confidence gains on held-out items, and the weights learned on all labels.

    scores : confidence-weighted BTD, plain BTD, CI-SC and majority, all on the votes with a confidence.
    confidence, weight : w(c) on a grid of stated confidences, from all labels; the mean vote has weight 1.
    slope : of w's logistic; 0 where confidence says nothing about which votes are right.
    beta, nu, gamma : of BTD on the weighted votes, from all labels.
    votes, without : votes used, and votes left out because they carry no confidence.
    votes_per_comparison : mean of those used.  unanimous : share of the comparisons with two of them or more
        on which all are equal, NaN if there is none: high at a low temperature.
    """

    scores: HeldOutScores
    confidence: FloatArray
    weight: FloatArray
    weighing: Weighing
    beta: float
    nu: float
    gamma: float
    votes: int
    without: int
    votes_per_comparison: float
    unanimous: float
    alpha: float
    kappa: float

    def to_frame(self) -> pd.DataFrame:
        """One row a rule, as `scores`."""
        return self.scores.to_frame()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Rows:
    """Labelled comparisons and their votes with a confidence; `row` is the comparison of each vote."""

    item: IntArray
    gold: IntArray
    row: IntArray
    vote: IntArray
    confidence: FloatArray
    without: int

    def counted(self, weight: FloatArray) -> FloatArray:
        """Sum of weights of the votes -1, 0, +1 on each comparison, (3, rows)."""
        place = (self.vote + 1) * len(self.gold) + self.row
        summed = np.bincount(place, weights=weight, minlength=3 * len(self.gold))
        return np.asarray(summed.reshape(3, -1), dtype=np.float64)


def confidence_weighted(
    counts: VoteCounts,
    votes: SingleVotes,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> ConfidenceWeighted:
    """Compare BTD on votes weighted by calibrated confidence with BTD on the same votes unweighted.

    In each split the weights (`Weighing`) and the fit are learned on the calibration comparisons alone; the
    other comparisons are decided and scored. Votes without a confidence are left out for every rule.
    counts, votes : of one judge and one selection. If all confidences are equal so are the weights, and the
    two rules are the same.

    Raises
    ------
    NoUsableVotes : nothing has gold, or no vote on it has a confidence.
    TooFewLabels : as `core.splits.splits`.  InvalidOption : `minimum` below 20.

    Source: ours, methods §9.4.
    """
    if minimum < MINIMUM_LABELS:
        raise InvalidOption(f"minimum = {minimum}: BTD needs at least {MINIMUM_LABELS} labelled comparisons")
    rows = _rows(counts, votes)
    chosen = calibration_rows(rows.item, rng=rng, n_splits=n_splits, share=share, minimum=minimum)
    ones = np.ones(len(rows.vote))
    minus, tie, plus = rows.counted(ones).astype(np.int64)
    unweighted = VoteCounts(
        comparison=np.arange(len(rows.gold)), item=rows.item, plus=plus, tie=tie, minus=minus, gold=rows.gold
    )
    cells, cell = unweighted.cells()
    held = np.stack([np.bincount(cell[part], minlength=len(cells)) for part in chosen]).astype(np.float64)
    base = fit_many(cells, held, alpha=alpha, kappa=kappa, bounds=bounds)
    s, t = _features(rows.counted(ones), alpha, kappa)
    by_confidence = confidence_labels(rows.row, rows.vote, rows.confidence, rows=len(rows.gold), weigh="sum")
    fixed = [np.abs(label - rows.gold) for label in (by_confidence, unweighted.label)]

    total, times = np.zeros((len(rows.gold), 2 * len(RULES))), np.zeros(len(rows.gold), dtype=np.int64)
    total[:, len(RULES) + 2 :] = np.nan
    weighings, theta = _learn(rows, chosen, base.theta, alpha, kappa, bounds)
    for part, weighing, plain, own in zip(chosen, weighings, base.theta, theta, strict=True):
        p = p_base = probabilities(plain, s, t)
        # Equal weights are plain BTD itself: a second solve could round an exact ½ the other way.
        if weighing.scale:
            p = probabilities(own, *_features(rows.counted(weighing(rows.confidence)), alpha, kappa))
        losses = [np.abs(decide(chances) - rows.gold) for chances in (p, p_base)] + fixed
        losses += [drps(p, rows.gold), drps(p_base, rows.gold)]
        away = np.ones(len(rows.gold), dtype=bool)
        away[part] = False
        total[away, : len(losses)] += np.stack(losses, axis=1)[away]
        times += away
    scores = held_out_scores(
        losses_by_item(rows.item, total, times),
        RULES,
        n_splits=n_splits,
        calibration=float(np.mean([len(part) for part in chosen])),
        level=level,
    )
    everything = fit_many(cells, cells.weight[None], alpha=alpha, kappa=kappa, bounds=bounds).theta
    (weighing,), ((beta, eta0, gamma),) = _learn(
        rows, [np.arange(len(rows.gold))], everything, alpha, kappa, bounds
    )
    grid = np.linspace(0, 1, GRID_POINTS)
    return ConfidenceWeighted(
        scores=scores,
        confidence=grid,
        weight=weighing(grid),
        weighing=weighing,
        beta=float(beta),
        nu=float(np.exp(eta0)),
        gamma=float(gamma),
        votes=len(rows.vote),
        without=rows.without,
        votes_per_comparison=len(rows.vote) / len(rows.gold),
        unanimous=_unanimous(unweighted),
        alpha=alpha,
        kappa=kappa,
    )


def _rows(counts: VoteCounts, votes: SingleVotes) -> _Rows:
    known = counts.labelled()
    if not len(known):
        raise NoUsableVotes("No comparison has a gold label, so no confidence can be held against it.")
    row = np.minimum(np.searchsorted(known.comparison, votes.comparison), len(known) - 1)
    labelled = known.comparison[row] == votes.comparison
    stated = labelled & ~np.isnan(votes.confidence)
    if not stated.any():
        raise NoUsableVotes(
            "Weighing by confidence needs the confidence of votes on comparisons with gold; none was given."
        )
    kept, row = np.unique(row[stated], return_inverse=True)
    return _Rows(
        item=known.item[kept],
        gold=known.gold[kept],
        row=row,
        vote=votes.vote[stated],
        confidence=votes.confidence[stated],
        without=int((labelled & ~stated).sum()),
    )


def _unanimous(counts: VoteCounts) -> float:
    votes = np.stack([counts.plus, counts.tie, counts.minus])
    repeated = votes.sum(axis=0) > 1
    return (
        float((votes.max(axis=0) == votes.sum(axis=0))[repeated].mean()) if repeated.any() else float("nan")
    )


def _learn(
    rows: _Rows,
    chosen: list[IntArray],
    base: FloatArray,
    alpha: float,
    kappa: float,
    bounds: Bounds | None,
) -> tuple[list[Weighing], FloatArray]:
    """Weights and (β, η₀, γ) from the comparisons of each set; those of `base` where weights are equal."""
    right = (rows.vote == rows.gold[rows.row]).astype(np.float64)
    weighings = learn_weighings(rows.confidence, right, rows.row, chosen)
    theta = base.copy()
    unequal = [i for i, one in enumerate(weighings) if one.scale]
    if unequal:
        parts = [chosen[i] for i in unequal]
        made = [_features(rows.counted(weighings[i](rows.confidence)), alpha, kappa) for i in unequal]
        s = [one[0][part] for one, part in zip(made, parts, strict=True)]
        t = [one[1][part] for one, part in zip(made, parts, strict=True)]
        theta[unequal] = fit_weighted(s, t, [rows.gold[part] for part in parts], base[unequal], bounds)
    return weighings, theta


def _features(votes: FloatArray, alpha: float, kappa: float) -> tuple[FloatArray, FloatArray]:
    """Those of `core.aggregation.btd.features`, for counts that are no whole numbers: (3, rows) → s, t."""
    minus, tie, plus = votes
    return 0.5 * np.log((plus + alpha) / (minus + alpha)), np.log((tie + kappa) / (votes.sum(axis=0) + kappa))
