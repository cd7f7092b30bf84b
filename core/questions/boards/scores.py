"""Direct scores (say 1–10) as they were given: their statistics by judge and model, and how judges
agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...errors import NoUsableVotes
from ...records import BoolArray, DirectScores, FloatArray, IntArray, kept_rows
from ...stats import intervals
from ...stats.association import kappa, kendall, pearson, weighted_kappa, with_interval
from ...stats.estimate import DataFrame, Estimate, rows_frame


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreStatistics:
    """Scores of one judge for one model, or for all of them (`model` None).

    n : scores.  items : items.  mean : of (item, model) means over runs, clustered by item; no
        interval with
    one item, nor where every judge gave one and the same score.
    sd : of the scores, n − 1 below.
    kurtosis : excess, m₄/m₂² − 3 with moments over n; None where all scores are equal.
    top : share of scores at the highest that any judge of the selection gave.
    """

    judge: str
    model: str | None
    n: int
    items: int
    mean: Estimate
    sd: float | None
    kurtosis: float | None
    top: Estimate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScorePair:
    """Two judges on the `n` responses (item, model) that both scored, of `items` items.

    pearson, kendall (τ_b) : of their means over runs.  kappa : Cohen κ of those rounded to whole
        scores;
    weighted_kappa : with quadratic weights.  Intervals clustered by item.
    None where undefined: one judge gave all the same score, or there are too few responses.
    """

    judge_1: str
    judge_2: str
    n: int
    items: int
    pearson: Estimate | None
    kendall: Estimate | None
    kappa: Estimate | None
    weighted_kappa: Estimate | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirectStatistics:
    """Every judge over all models, then by model; every pair of judges.  highest : score anyone
    gave.
    """

    rows: tuple[ScoreStatistics, ...]
    pairs: tuple[ScorePair, ...]
    highest: float

    def to_frame(self) -> DataFrame:
        """One row per (judge, model), as `rows`."""
        return rows_frame(ScoreStatistics, self.rows)


def direct_statistics(
    judged: Mapping[str, DirectScores], *, level: float = 0.95
) -> DirectStatistics:
    """Mean, SD, excess kurtosis and share at the top of every judge, and agreement of every two
    judges.

    Mean: Σ_i S_i/Σ_i n_i over items i with n_i responses whose means over runs sum to S_i;
    SE² = G/(G − 1)·Σ_i(S_i − mean·n_i)²/N², t with G − 1 degrees of freedom for G items. Where that
    is wider, the interval is `intervals.mean_interval` with the lowest and the highest score that
    the judge gave as ends (that any judge gave, if it gave one alone): 20 items at 10 do not show
    that a mean is exactly 10, and mean ± t·SE holds .48 where 3 % are not. It is cut at the scores
    that any judge gave (ours).

    Agreement: intervals are t(G − 1)·√(G/(G − 1)·Σ_i(sum of influences in item i)²), an influence
    being what a response moves the coefficient by to first order; for Pearson and τ_b on the scale
    of atanh, for κ cut at −1 and 1.

    judged : scores of each judge, of one selection, which share the codes of items and models; a
        judge without scores
    is left out.

    A judge that gives the highest score to everybody measures nothing, which the share at the top
    shows (ours). Scores are rounded half up for κ alone: on a scale of 0 to 1 it means little.

    Raises NoUsableVotes if there is no score.  Source: docs/methods.md §6; Cohen (1960, 1968).
    """
    intervals.check_level(level)
    judged = {name: scores for name, scores in judged.items() if len(scores)}
    if not judged:
        raise NoUsableVotes("no judge of this selection gave a direct score")
    lowest = min(float(scores.score.min()) for scores in judged.values())
    highest = max(float(scores.score.max()) for scores in judged.values())
    scale = lowest, highest
    rows = []
    for name, scores in judged.items():
        rows.append(_statistics(name, None, scores, np.ones(len(scores), dtype=bool), scale, level))
        for code in np.unique(scores.model):
            rows.append(
                _statistics(name, scores.models[code], scores, scores.model == code, scale, level)
            )
    means = {name: response_means(scores) for name, scores in judged.items()}
    pairs = [_pair(one, two, means[one], means[two], level) for one, two in combinations(judged, 2)]
    return DirectStatistics(rows=tuple(rows), pairs=tuple(pairs), highest=highest)


def response_means(scores: DirectScores) -> tuple[IntArray, IntArray, FloatArray]:
    """Key item·models + model of each response, ascending; its item; its mean score over runs."""
    key, place, runs = np.unique(
        scores.item * len(scores.models) + scores.model, return_inverse=True, return_counts=True
    )
    return key, key // len(scores.models), np.bincount(place, scores.score) / runs


def _statistics(
    judge: str,
    model: str | None,
    scores: DirectScores,
    keep: BoolArray,
    scale: tuple[float, float],
    level: float,
) -> ScoreStatistics:
    part = replace(scores, **kept_rows(scores, keep))
    _, item, value = response_means(part)
    own = float(scores.score.min()), float(scores.score.max())
    spread = part.score - part.score.mean()
    m2, m4 = float((spread**2).mean()), float((spread**4).mean())
    return ScoreStatistics(
        judge=judge,
        model=model,
        n=len(part),
        items=len(np.unique(item)),
        mean=_mean(item, value, scale if own[0] == own[1] else own, scale, level),
        sd=float(part.score.std(ddof=1)) if len(part) > 1 else None,
        kurtosis=m4 / m2**2 - 3 if float(np.ptp(part.score)) > 0 else None,
        top=intervals.clustered_share(part.item, part.score == scale[1], level=level),
    )


def _mean(
    item: IntArray,
    value: FloatArray,
    ends: tuple[float, float],
    scale: tuple[float, float],
    level: float,
) -> Estimate:
    """Mean over responses and its interval, as `direct_statistics` says."""
    found = intervals.mean_interval(item, value, ends=ends, level=level)
    mean, items = found.value, found.n
    if items < 2 or scale[0] == scale[1]:
        return Estimate(mean, n=items, level=level)
    influence = np.bincount(intervals.dense_codes(item), value - mean) / len(value)
    error = math.sqrt(items / (items - 1) * float((influence**2).sum()))
    half = intervals.t_quantile(items - 1, level) * error
    low, high = (
        max(min(found.low, mean - half), scale[0]),
        min(max(found.high, mean + half), scale[1]),
    )
    return replace(found, low=low, high=high)


def _pair(
    judge_1: str,
    judge_2: str,
    one: tuple[IntArray, IntArray, FloatArray],
    two: tuple[IntArray, IntArray, FloatArray],
    level: float,
) -> ScorePair:
    in_one, in_two = intervals.common_places(one[0], two[0])
    x, y = one[2][in_one], two[2][in_two]
    item = np.unique(one[1][in_one], return_inverse=True)[1]
    whole_x, whole_y = np.floor(x + 0.5), np.floor(y + 0.5)
    return ScorePair(
        judge_1=judge_1,
        judge_2=judge_2,
        n=len(x),
        items=int(item.max(initial=-1)) + 1,
        pearson=with_interval(pearson(x, y), item, level, fisher=True),
        kendall=with_interval(kendall(x, y), item, level, fisher=True),
        kappa=with_interval(kappa(whole_x, whole_y), item, level, fisher=False),
        weighted_kappa=with_interval(weighted_kappa(whole_x, whole_y), item, level, fisher=False),
    )
