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
from ...stats.estimate import DataFrame, Estimate, rows_frame

KENDALL_ROWS = 1_500
"""With more responses of many different scores Kendall τ_b has no interval: its cost grows with
their square."""
KENDALL_CELLS = 1 << 16
"""Up to so many pairs of levels it is counted from their table, however many responses there are.
"""


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


def kendall_tau(
    x: FloatArray, y: FloatArray, item: IntArray, *, level: float = 0.95
) -> Estimate | None:
    """Kendall τ_b of two columns with its interval clustered by item, as `direct_statistics` has
    it; without an interval above 1,500 rows of more than 65,536 pairs of values.

    item : (rows,) codes 0, 1, 2 … without gaps.  The n is the number of rows. None with fewer than
    3 rows, or where a column is constant. Source: Kendall (1945).
    """
    return _with_interval(_kendall(x, y), item, level, fisher=True)


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
        pearson=_with_interval(_pearson(x, y), item, level, fisher=True),
        kendall=_with_interval(_kendall(x, y), item, level, fisher=True),
        kappa=_with_interval(_kappa(whole_x, whole_y), item, level, fisher=False),
        weighted_kappa=_with_interval(_weighted_kappa(whole_x, whole_y), item, level, fisher=False),
    )


Influenced = tuple[float, FloatArray | None] | None
"""A coefficient and the influence of each response (None: not computed); None where it is
undefined.
"""


def _all_equal(values: FloatArray) -> bool:
    """Whether means over runs differ by rounding alone."""
    return bool(np.ptp(values.round(9)) == 0)


def _pearson(x: FloatArray, y: FloatArray) -> Influenced:
    if len(x) < 3 or _all_equal(x) or _all_equal(y):
        return None
    zx, zy = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = float(np.clip((zx * zy).mean(), -1, 1))
    return r, (zx * zy - r / 2 * (zx**2 + zy**2)) / len(x)


def _kendall(x: FloatArray, y: FloatArray) -> Influenced:
    """Kendall τ_b and the influence of each row; undefined with fewer than three rows or
    all equal.
    """
    if len(x) < 3 or _all_equal(x) or _all_equal(y):
        return None
    # Means over runs that are equal but for rounding are ties.
    x, y = x.round(9), y.round(9)
    levels_x, place_x = np.unique(x, return_inverse=True)
    levels_y, place_y = np.unique(y, return_inverse=True)
    if len(levels_x) * len(levels_y) <= KENDALL_CELLS:
        cells = _cells(place_x, place_y, (len(levels_x), len(levels_y)))
        same, untied_x, untied_y = (values[place_x, place_y] for values in cells)
    elif len(x) > KENDALL_ROWS:
        from scipy.stats import kendalltau

        return float(kendalltau(x, y).statistic), None
    else:
        above, besides = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
        same = (above * besides).mean(axis=1)
        untied_x, untied_y = np.abs(above).mean(axis=1), np.abs(besides).mean(axis=1)
    s, ux, uy = same.mean(), untied_x.mean(), untied_y.mean()
    tau = float(s / np.sqrt(ux * uy))
    influence = 2 * (same - s) / np.sqrt(ux * uy) - tau * (
        (untied_x - ux) / ux + (untied_y - uy) / uy
    )
    return tau, influence / len(x)


def _cells(
    place_x: IntArray, place_y: IntArray, size: tuple[int, int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of a row with each pair of levels: share of rows in its order less those against it, and of
    rows with another x, and with another y.
    """
    n = len(place_x)
    counts = np.bincount(place_x * size[1] + place_y, minlength=size[0] * size[1])
    table: FloatArray = counts.reshape(size).astype(np.float64) / n

    def before(part: FloatArray) -> FloatArray:
        """Share of rows below in x and in y."""
        summed = part.cumsum(axis=0).cumsum(axis=1)
        padded = np.zeros(size)
        padded[1:, 1:] = summed[:-1, :-1]
        return padded

    turned = table[:, ::-1]
    concordant = before(table) + before(table[::-1, ::-1])[::-1, ::-1]
    discordant = before(turned)[:, ::-1] + before(turned[::-1, ::-1])[::-1, ::-1][:, ::-1]
    of_x, of_y = 1 - table.sum(axis=1), 1 - table.sum(axis=0)
    return (
        concordant - discordant,
        np.broadcast_to(of_x[:, None], size),
        np.broadcast_to(of_y, size),
    )


def _kappa(x: FloatArray, y: FloatArray) -> Influenced:
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


def _weighted_kappa(x: FloatArray, y: FloatArray) -> Influenced:
    """1 − mean (x − y)² / its expectation for independent x and y, which quadratic weights
    come to.
    """
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
    found: Influenced, item: IntArray, level: float, *, fisher: bool
) -> Estimate | None:
    """The coefficient with its interval, as `direct_statistics` says."""
    if found is None:
        return None
    value, influence = found
    items = int(item.max()) + 1
    alone = Estimate(value, n=len(item), level=level)
    if influence is None or items < 2 or (fisher and abs(value) > 1 - 1e-12):
        return alone
    error = np.sqrt(items / (items - 1) * (np.bincount(item, influence) ** 2).sum())
    half = intervals.t_quantile(items - 1, level) * float(error)
    if fisher:
        centre, half = np.arctanh(value), half / (1 - value**2)
        low, high = float(np.tanh(centre - half)), float(np.tanh(centre + half))
    elif error < 1e-12:
        # All agree: nothing moves it, and the interval would be a point.
        return alone
    else:
        low, high = max(value - half, -1.0), min(value + half, 1.0)
    return replace(alone, low=low, high=high)
