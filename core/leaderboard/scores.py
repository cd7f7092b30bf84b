"""Direct scores (say 1–10) as they were given: their statistics by judge and model, and how judges agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NoUsableVotes
from ..records import BoolArray, DirectScores, FloatArray, IntArray
from ..stats.intervals import check_level, clustered_proportion, dense_codes, mean_interval

if TYPE_CHECKING:
    import pandas as pd


KENDALL_ROWS = 1_500
"""With more responses Kendall τ_b has no interval: its cost grows with their square."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreStatistics:
    """Scores of one judge for one model, or for all of them (`model` None).

    n : scores.  items : items.  mean, mean_low, mean_high : of (item, model) means over runs, clustered by
    item; no interval with one item, nor where every judge gave one and the same score.
    sd : of the scores, n − 1 below.
    kurtosis : excess, m₄/m₂² − 3 with moments over n; None where all scores are equal.
    top, top_low, top_high : share of scores at the highest that any judge of the selection gave.
    """

    judge: str
    model: str | None
    n: int
    items: int
    mean: float
    mean_low: float | None
    mean_high: float | None
    sd: float | None
    kurtosis: float | None
    top: float
    top_low: float
    top_high: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScorePair:
    """Two judges on the `n` responses (item, model) that both scored, of `items` items.

    pearson, kendall (τ_b) : of their means over runs.  kappa : Cohen κ of those rounded to whole scores;
    weighted_kappa : with quadratic weights.  Intervals clustered by item.
    None where undefined: one judge gave all the same score, or there are too few responses.
    """

    judge_1: str
    judge_2: str
    n: int
    items: int
    pearson: float | None
    pearson_low: float | None
    pearson_high: float | None
    kendall: float | None
    kendall_low: float | None
    kendall_high: float | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    weighted_kappa: float | None
    weighted_kappa_low: float | None
    weighted_kappa_high: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirectStatistics:
    """Every judge over all models, then by model; every pair of judges.  highest : score anyone gave."""

    rows: tuple[ScoreStatistics, ...]
    pairs: tuple[ScorePair, ...]
    highest: float
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a (judge, model), as `rows`."""
        import pandas as pd

        names = [field.name for field in fields(ScoreStatistics)]
        return pd.DataFrame([[getattr(row, name) for name in names] for row in self.rows], columns=names)


def pairs_frame(found: DirectStatistics) -> pd.DataFrame:
    """One row a pair of judges."""
    import pandas as pd

    names = [field.name for field in fields(ScorePair)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in found.pairs], columns=names)


def direct_statistics(judged: Mapping[str, DirectScores], *, level: float = 0.95) -> DirectStatistics:
    """Mean, SD, excess kurtosis and share at the top of every judge, and agreement of every two judges.

    Mean: Σ_i S_i/Σ_i n_i over items i with n_i responses whose means over runs sum to S_i;
    SE² = G/(G − 1)·Σ_i(S_i − mean·n_i)²/N², t with G − 1 degrees of freedom for G items. Where that is wider,
    the interval is `intervals.mean_interval` with the lowest and the highest score that the judge gave
    as ends (that any judge gave, if it gave one alone): 20 items at 10 do not show that a mean is exactly 10,
    and mean ± t·SE holds .48 where 3 % are not. It is cut at the scores that any judge gave (ours).

    Agreement: intervals are t(G − 1)·√(G/(G − 1)·Σ_i(sum of pulls of item i)²), a pull being what a response
    moves the coefficient by to first order; for Pearson and τ_b on the scale of atanh, for κ cut at −1 and 1.

    Parameters
    ----------
    judged : scores of each judge, of one selection, which share the codes of items and models; a judge
        without scores is left out.

    A judge that gives the highest score to everybody measures nothing, which the share at the top shows
    (ours). Scores are rounded half up for κ alone: on a scale of 0 to 1 it means little.

    Raises NoUsableVotes if there is no score.  Source: methods §6; Cohen (1960, 1968).
    """
    check_level(level)
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
            rows.append(_statistics(name, scores.models[code], scores, scores.model == code, scale, level))
    means = {name: response_means(scores) for name, scores in judged.items()}
    pairs = [_pair(one, two, means[one], means[two], level) for one, two in combinations(judged, 2)]
    return DirectStatistics(rows=tuple(rows), pairs=tuple(pairs), highest=highest, level=level)


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
    part = DirectScores(
        models=scores.models,
        categories=scores.categories,
        **{name: getattr(scores, name)[keep] for name in ("item", "category", "model", "run", "score")},
    )
    _, item, value = response_means(part)
    own = float(scores.score.min()), float(scores.score.max())
    mean, low, high = _mean(item, value, scale if own[0] == own[1] else own, scale, level)
    spread = part.score - part.score.mean()
    m2, m4 = float((spread**2).mean()), float((spread**4).mean())
    told_apart = float(np.ptp(part.score)) > 0
    at_top = (part.score == scale[1]).astype(np.int64)
    top = clustered_proportion(part.item, np.ones(len(part), dtype=np.int64), at_top, level=level)
    return ScoreStatistics(
        judge=judge,
        model=model,
        n=len(part),
        items=len(np.unique(item)),
        mean=mean,
        mean_low=low,
        mean_high=high,
        sd=float(part.score.std(ddof=1)) if len(part) > 1 else None,
        kurtosis=m4 / m2**2 - 3 if told_apart else None,
        top=top.value,
        top_low=top.low,
        top_high=top.high,
    )


def _mean(
    item: IntArray, value: FloatArray, ends: tuple[float, float], scale: tuple[float, float], level: float
) -> tuple[float, float | None, float | None]:
    """Mean over responses and its interval, as `direct_statistics` says."""
    from scipy.special import stdtrit

    found = mean_interval(item, value, ends=ends, level=level)
    mean, items = found.value, found.n
    if items < 2 or scale[0] == scale[1]:
        return mean, None, None
    pull = np.bincount(dense_codes(item), value - mean) / len(value)
    error = math.sqrt(items / (items - 1) * float((pull**2).sum()))
    half = float(stdtrit(items - 1, (1 + level) / 2)) * error
    return mean, max(min(found.low, mean - half), scale[0]), min(max(found.high, mean + half), scale[1])


def _pair(
    judge_1: str,
    judge_2: str,
    one: tuple[IntArray, IntArray, FloatArray],
    two: tuple[IntArray, IntArray, FloatArray],
    level: float,
) -> ScorePair:
    _, in_one, in_two = np.intersect1d(one[0], two[0], assume_unique=True, return_indices=True)
    x, y = one[2][in_one], two[2][in_two]
    item = np.unique(one[1][in_one], return_inverse=True)[1]
    found: dict[str, float | None] = {}
    for name, measure in (("pearson", _pearson), ("kendall", _kendall)):
        found |= _with_interval(name, measure(x, y), item, level, fisher=True)
    whole_x, whole_y = np.floor(x + 0.5), np.floor(y + 0.5)
    for name, weighted in (("kappa", _kappa), ("weighted_kappa", _weighted_kappa)):
        found |= _with_interval(name, weighted(whole_x, whole_y), item, level, fisher=False)
    items = int(item.max()) + 1 if len(item) else 0
    return ScorePair(judge_1=judge_1, judge_2=judge_2, n=len(x), items=items, **found)


Pulled = tuple[float, FloatArray | None] | None
"""A coefficient and what each response pulls it by (None: not computed); None where it is undefined."""


def _pearson(x: FloatArray, y: FloatArray) -> Pulled:
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    zx, zy = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = float(np.clip((zx * zy).mean(), -1, 1))
    return r, (zx * zy - r / 2 * (zx**2 + zy**2)) / len(x)


def _kendall(x: FloatArray, y: FloatArray) -> Pulled:
    """Kendall τ_b and the pull of each row; undefined with fewer than three rows or all equal."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    # Means over runs that are equal but for rounding are ties.
    x, y = x.round(9), y.round(9)
    if len(x) > KENDALL_ROWS:
        from scipy.stats import kendalltau

        return float(kendalltau(x, y).statistic), None
    above, besides = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    same = (above * besides).mean(axis=1)
    untied_x, untied_y = np.abs(above).mean(axis=1), np.abs(besides).mean(axis=1)
    s, ux, uy = same.mean(), untied_x.mean(), untied_y.mean()
    tau = float(s / np.sqrt(ux * uy))
    pull = 2 * (same - s) / np.sqrt(ux * uy) - tau * ((untied_x - ux) / ux + (untied_y - uy) / uy)
    return tau, pull / len(x)


def _kappa(x: FloatArray, y: FloatArray) -> Pulled:
    if not len(x):
        return None
    levels, code = np.unique(np.concatenate([x, y]), return_inverse=True)
    in_x, in_y = code[: len(x)], code[len(x) :]
    share_x, share_y = (np.bincount(part, minlength=len(levels)) / len(x) for part in (in_x, in_y))
    agreed, chance = (in_x == in_y).astype(np.float64), float(share_x @ share_y)
    if len(levels) < 2 or chance >= 1:
        return None
    kappa = (float(agreed.mean()) - chance) / (1 - chance)
    moved = share_y[in_x] + share_x[in_y] - 2 * chance
    return kappa, (agreed - agreed.mean() - (1 - kappa) * moved) / (1 - chance) / len(x)


def _weighted_kappa(x: FloatArray, y: FloatArray) -> Pulled:
    """1 − mean (x − y)² / its expectation for independent x and y, which quadratic weights come to."""
    if not len(x):
        return None
    mx, my = x.mean(), y.mean()
    expected = float((x**2).mean() + (y**2).mean() - 2 * mx * my)
    if np.ptp(np.concatenate([x, y])) == 0 or expected <= 0:
        return None
    apart = (x - y) ** 2
    kappa = 1 - float(apart.mean()) / expected
    moved = x**2 + y**2 - 2 * (x * my + y * mx) + 2 * mx * my - expected
    return kappa, -(apart - apart.mean() - (1 - kappa) * moved) / expected / len(x)


def _with_interval(
    name: str, found: Pulled, item: IntArray, level: float, *, fisher: bool
) -> dict[str, float | None]:
    """`name`, `name_low` and `name_high`; the interval as `direct_statistics` says."""
    from scipy.special import stdtrit

    if found is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    value, pull = found
    items = int(item.max()) + 1
    if pull is None or items < 2 or (fisher and abs(value) > 1 - 1e-12):
        return {name: value, f"{name}_low": None, f"{name}_high": None}
    error = np.sqrt(items / (items - 1) * (np.bincount(item, pull) ** 2).sum())
    half = float(stdtrit(items - 1, (1 + level) / 2) * error)
    if fisher:
        centre, half = np.arctanh(value), half / (1 - value**2)
        low, high = float(np.tanh(centre - half)), float(np.tanh(centre + half))
    else:
        # All agree: nothing pulls, and the interval would be a point.
        if error < 1e-12:
            return {name: value, f"{name}_low": None, f"{name}_high": None}
        low, high = max(value - half, -1.0), min(value + half, 1.0)
    return {name: value, f"{name}_low": low, f"{name}_high": high}
