"""Reference-anchored Elo: models ranked by their votes against one anchor, with closed-form
uncertainty.

`subsample_errors` compares the closed form with subsamples of the board's own prompts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidOption, NoUsableVotes, UnknownName
from ...records import BoolArray, FloatArray, IntArray, PairScores
from ...stats.estimate import DataFrame, Estimate, Estimates, data_frame, flat
from ...stats.intervals import beta_interval, common_places, n_distinct

ELO_PER_NAT = 400 / math.log(10)
"""Elo points of one unit of log odds."""

MID_REGION = (0.2, 0.8)
"""Win probabilities where the Elo map is near linear (Source: [RAEE] §2)."""

TIER_ALPHA = 0.05
"""Chance, at most, that a board of equal models has a second tier; shared by all its pairs of
models.
"""

KAPPA_NOTE = (
    "Every SE is multiplied by κ_R = {:.3g}. Judges that agree less then give a narrower "
    "interval, which is backwards; "
    "the corrected interval measures what it mimics."
)

Prior = Literal["jeffreys", "laplace"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoardRow:
    """One model against the anchor.

    n : prompts.  wins, ties, losses : per-prompt shares summed over prompts, so they may be
        fractions; they
    add up to n, and wins + ties/2 = ΣS.
    p : posterior mean win probability, a tie being half a win, with the published credible
        interval.
    elo : points above the anchor, 400 per factor of ten in odds.
    p_corrected, elo_corrected : the same with the variance that ties and averaged votes leave
        (ours).
    tier : 1 is the top (ours).
    """

    model: str
    n: int
    wins: float
    ties: float
    losses: float
    p: Estimate
    p_corrected: Estimate
    se_p: float
    se_p_corrected: float
    elo: Estimate
    elo_corrected: Estimate
    se_elo: float
    se_elo_corrected: float
    tier: int

    def interval(self, corrected: bool) -> tuple[Estimate, Estimate]:
        """p and Elo with the published interval, or with the dispersion-corrected one."""
        return (self.p_corrected, self.elo_corrected) if corrected else (self.p, self.elo)

    def columns(self) -> dict[str, float | int | str]:
        """Column of a frame or document → number; a corrected interval is `p_low_corrected` and so
        on.
        """
        named = {
            re.sub("_corrected_(low|high)", r"_\1_corrected", name): x
            for name, x in flat(self).items()
        }
        return {
            name: x for name, x in named.items() if name not in ("p_corrected", "elo_corrected")
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Board:
    """Leaderboard against one anchor, best first; the anchor itself is Elo 0 and not a row.

    n_items : distinct prompts behind it.  mid_region_coverage : share of the rows with p in [0.2,
        0.8].
    never_met : models of the selection without a vote against the anchor; they have no number.
    notes : warnings about the options used.
    """

    anchor: str
    rows: tuple[BoardRow, ...]
    never_met: tuple[str, ...]
    n_items: int
    mid_region_coverage: float
    prior: Prior
    pool: int | None
    kappa_factor: float | None
    level: float
    notes: tuple[str, ...]

    def elos(self) -> dict[str, Estimate]:
        """Elo of each model, with the dispersion-corrected interval; n counts prompts."""
        return {row.model: row.elo_corrected for row in self.rows}

    def to_frame(self) -> DataFrame:
        """One row per model."""
        return data_frame([row.columns() for row in self.rows])


def elo_of_p(p: FloatArray | float) -> FloatArray:
    """Elo gap of a win probability: (400/ln 10)·ln(p/(1 - p)) points; ∓∞ at 0 and 1.

    Source: [RAEE] §2.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(ELO_PER_NAT * (np.log(p) - np.log1p(-np.asarray(p, dtype=np.float64))))


def win_probability(
    n: FloatArray | IntArray, total: FloatArray, *, prior: Prior = "jeffreys"
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean p̄ and a + b of the win probability.

    a = ΣS + c, b = N - ΣS + c, p̄ = a/(a + b); c = ½ (Jeffreys) or 1 (Laplace).

    Source: [RAEE] §2.
    """
    if prior not in get_args(Prior):
        raise InvalidOption(f"prior = {prior!r}: must be 'jeffreys' or 'laplace'")
    pseudo = 0.5 if prior == "jeffreys" else 1.0
    mass = np.asarray(n + 2 * pseudo, dtype=np.float64)
    return (total + pseudo) / mass, mass


def standard_error(
    p: FloatArray,
    mass: FloatArray,
    *,
    n: FloatArray | IntArray | None = None,
    pool: int | None = None,
) -> FloatArray:
    """SE(p̄) = √(p̄(1 - p̄)/(a + b + 1)), × √((M - N)/(M - 1)) for N of a finite pool of M prompts.

    `mass` is a + b. With Jeffreys a + b + 1 = N + 2.

    Source: [RAEE] App. B, Table 9.
    """
    return np.asarray(np.sqrt(p * (1 - p) / (mass + 1) * _pool_factor(n, pool)))


def board(
    pairs: PairScores,
    anchor: str,
    *,
    prior: Prior = "jeffreys",
    level: float = 0.95,
    pool: int | None = None,
    kappa_factor: float | None = None,
) -> Board:
    """Rank all models that met `anchor` by their win probability against it.

    p̄ = a/(a + b), a = ΣS + ½, b = N - ΣS + ½; interval: quantiles of Beta(a, b).
    Elo = (400/ln 10)·ln(p̄/(1 - p̄)), its interval the same map of the ends;
    SE(Elo) = (400/ln 10)·SE(p̄)/(p̄(1 - p̄)). N counts prompts, not votes.

    Corrected interval (ours): Beta(p̄·m, (1 - p̄)·m), m = (a + b + 1)/f - 1,
    f = min(1, (ΣS² - N·S̄² + ¼)/(N·S̄(1 - S̄) + ¼)): ties and averaged votes vary less than
    win-or-lose.

    Parameters
    ----------
    pairs : scores of model pairs by prompt.
    anchor : model that is Elo 0.
    prior : `jeffreys` adds ½ to each side, `laplace` 1.
    level : of all intervals.
    pool : M, size of the finite population of prompts: SE × √((M - N)/(M - 1)); its square divides
        the a + b + 1 of both intervals (ours). N = M: the interval is the point.
    kappa_factor : κ_R in (0, 1], multiplies every SE and narrows the intervals alike. Off by
        default: less agreement shrinks the interval, which is backwards; a note says so.

    Tiers (ours): down the board, a new tier starts at the first model whose paired per-prompt
    difference from the tier's leader is beyond its half width at .05/(M(M - 1)/2) for M models on
    the board (Bonferroni over all pairs; see `score_difference`). So at most one board of equal
    models in twenty has a second tier, however many models there are. Wins, ties and losses come
    from `PairScores.tie`; without it 1 - |2S - 1| of a prompt is tied.

    Raises UnknownName: no such model. NoUsableVotes: the anchor met nobody in this selection.
    InvalidOption: level, prior or kappa_factor not allowed, or a model with more prompts than the
    pool.
    Source: [RAEE] §2, App. B, C; docs/methods.md §6.
    """
    if kappa_factor is not None and not 0 < kappa_factor <= 1:
        raise InvalidOption(f"kappa_factor = {kappa_factor}: must be above 0 and at most 1")
    model, item, score, tie = against(pairs, anchor)
    codes, row_of = np.unique(model, return_inverse=True)
    n = np.bincount(row_of)
    if pool is not None and (n > pool).any():
        worst = int(n.argmax())
        met_most = pairs.models[codes[worst]]
        raise InvalidOption(
            f"pool = {pool}: smaller than the {n[worst]} prompts of {met_most} against {anchor}"
        )
    total, ties, squares = (
        np.bincount(row_of, x).astype(np.float64) for x in (score, tie, score**2)
    )
    p, mass = win_probability(n, total, prior=prior)
    shrink = np.broadcast_to(_pool_factor(n, pool) * (kappa_factor or 1.0) ** 2, p.shape)
    dispersion = dispersion_factor(n, total, squares)
    elo = elo_of_p(p)
    wins, losses = total - ties / 2, n - total - ties / 2
    columns: dict[str, Any] = {"model": [pairs.models[code] for code in codes], "n": n.tolist()}
    columns |= {"wins": wins.tolist(), "ties": ties.tolist(), "losses": losses.tolist()}
    for suffix, factor in (("", shrink), ("_corrected", shrink * dispersion)):
        error = np.sqrt(p * (1 - p) / (mass + 1) * factor)
        low, high = limits(p, error, level=level)
        columns[f"se_p{suffix}"] = error.tolist()
        columns[f"se_elo{suffix}"] = (ELO_PER_NAT / (p * (1 - p)) * error).tolist()
        columns[f"p{suffix}"] = list(Estimates(p, low, high, n, level))
        columns[f"elo{suffix}"] = list(Estimates(elo, elo_of_p(low), elo_of_p(high), n, level))
    # Equal scores stand in alphabetical order, so that the board never depends on the order of
    # rows.
    order = sorted(
        range(len(codes)), key=lambda row: (-round(float(elo[row]), 9), columns["model"][row])
    )
    # Tiers rank models, whatever the pool and κ: they use the observed variance alone.
    tier = _tiers(order, row_of, item, score, p, np.sqrt(p * (1 - p) / (mass + 1) * dispersion))
    ranked = {anchor, *columns["model"]}
    return Board(
        anchor=anchor,
        rows=tuple(
            BoardRow(tier=tier[row], **{name: x[row] for name, x in columns.items()})
            for row in order
        ),
        never_met=tuple(name for name in pairs.models if name not in ranked),
        n_items=n_distinct(item),
        mid_region_coverage=float(((p >= MID_REGION[0]) & (p <= MID_REGION[1])).mean()),
        prior=prior,
        pool=pool,
        kappa_factor=kappa_factor,
        level=level,
        notes=() if kappa_factor is None else (KAPPA_NOTE.format(kappa_factor),),
    )


def anchor_rows(pairs: PairScores, anchor: str) -> BoolArray:
    """Rows in which the anchor takes part; none if no model is called so."""
    code = pairs.models.index(anchor) if anchor in pairs.models else -1
    return np.asarray((pairs.model_1 == code) | (pairs.model_2 == code))


def met(pairs: PairScores, anchor: str) -> bool:
    """Whether some other model has votes against the anchor."""
    return bool(anchor_rows(pairs, anchor).any())


def judges_that_met(judged: Mapping[str, PairScores], anchor: str) -> dict[str, PairScores]:
    """Those of the judges under whom the anchor met another model, or NoUsableVotes without any."""
    seen = {name: pairs for name, pairs in judged.items() if met(pairs, anchor)}
    if not seen:
        raise NoUsableVotes(
            f"anchor {anchor!r} met no other model under any judge of this selection"
        )
    return seen


def anchor_code(pairs: PairScores, anchor: str) -> int:
    """Place of an anchor that met somebody."""
    if anchor not in pairs.models:
        raise UnknownName(
            f"anchor {anchor!r} is no model of this selection; there are: {', '.join(pairs.models)}"
        )
    if not met(pairs, anchor):
        raise NoUsableVotes(f"anchor {anchor!r} met no other model in this selection")
    return pairs.models.index(anchor)


def against(pairs: PairScores, anchor: str) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Candidate code, item, candidate's score and tied share of every row that has the anchor."""
    code, rows = anchor_code(pairs, anchor), anchor_rows(pairs, anchor)
    flip = pairs.model_1[rows] == code
    score = np.where(flip, 1 - pairs.score[rows], pairs.score[rows])
    tie = 1 - np.abs(2 * score - 1) if pairs.tie is None else pairs.tie[rows]
    return np.where(flip, pairs.model_2[rows], pairs.model_1[rows]), pairs.item[rows], score, tie


def limits(p: ArrayLike, se: ArrayLike, *, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the Beta with mean p̄ and standard deviation `se`, elementwise; the point if
    that is 0.

    With the posterior's own SE that is Beta(a, b), the interval of a `board`; the corrected SE
    gives its corrected one.
    """
    mean, error = np.asarray(p, dtype=np.float64), np.asarray(se, dtype=np.float64)
    known = error > 0
    scaled = np.divide(mean * (1 - mean), error**2, out=np.full(mean.shape, 2.0), where=known) - 1
    low, high = beta_interval(mean * scaled, (1 - mean) * scaled, level=level)
    return np.where(known, low, mean), np.where(known, high, mean)


def _pool_factor(n: FloatArray | IntArray | None, pool: int | None) -> FloatArray:
    """Variance left when N of M prompts are known: (M - N)/(M - 1); 1 without a pool, 0
    for N = M.
    """
    if n is None or pool is None:
        return np.ones(1)
    return np.asarray((pool - n) / max(pool - 1, 1), dtype=np.float64)


def dispersion_factor(n: IntArray, total: FloatArray, squares: FloatArray) -> FloatArray:
    """f: observed variance of the prompt scores against that of win-or-lose with the same mean, at
    most 1.
    """
    mean = total / n
    return np.minimum(1, (squares - n * mean**2 + 0.25) / (n * mean * (1 - mean) + 0.25))


def _tiers(
    order: list[int],
    row_of: IntArray,
    item: IntArray,
    score: FloatArray,
    p: FloatArray,
    se: FloatArray,
) -> dict[int, int]:
    """Tier of each row, walking down the board."""
    sorted_rows = np.lexsort((item, row_of))
    items, place = np.unique(item[sorted_rows], return_inverse=True)
    score, ends = (
        score[sorted_rows],
        np.searchsorted(row_of[sorted_rows], np.arange(len(order) + 1)),
    )
    leaders = np.full(len(items), np.nan)
    tier: dict[int, int] = {}
    current, leader = 0, -1
    for row in order:
        own = slice(ends[row], ends[row + 1])
        if leader >= 0:
            d = leaders[place[own]] - score[own]
            fewest = min(ends[leader + 1] - ends[leader], ends[row + 1] - ends[row])
            pair = [leader, row]
            difference, half, _, _ = _difference(
                d[~np.isnan(d)], fewest, p[pair], se[pair], len(order)
            )
        if leader < 0 or (abs(difference) > 1e-12 and abs(difference) > half):
            current, leader = current + 1, row
            leaders[:] = np.nan
            leaders[place[own]] = score[own]
        tier[row] = current
    return tier


def score_difference(
    one: tuple[IntArray, FloatArray],
    two: tuple[IntArray, FloatArray],
    p: FloatArray,
    se: FloatArray,
    *,
    models: int,
) -> tuple[float, float, int, bool]:
    """Difference of two models' scores, its half width, prompts, and whether it was taken prompt by
    prompt.

    On n common prompts the mean difference and t(n - 1)·sd/√n; with fewer than two of them, or
    without variance, p̄₁ - p̄₂ and t(n - 1)·√(SE₁² + SE₂²), n the fewer prompts of the two. t is at
    .05/(M(M - 1)/2) for a board of M `models`: so far out, normal quantiles would part equal models
    of few prompts.
    """
    in_one, in_two = common_places(one[0], two[0])
    return _difference(
        one[1][in_one] - two[1][in_two], min(len(one[0]), len(two[0])), p, se, models
    )


def pairs_of(models: int) -> int:
    """M(M - 1)/2, the pairs of models that share `TIER_ALPHA`; 1 for a model alone."""
    return max(models * (models - 1) // 2, 1)


def _difference(
    d: FloatArray, fewest: int, p: FloatArray, se: FloatArray, models: int
) -> tuple[float, float, int, bool]:
    """`score_difference` from the differences on common prompts; `fewest` prompts of
    either model.
    """
    from scipy.special import stdtrit

    n, tail = len(d), TIER_ALPHA / pairs_of(models) / 2
    error = float(d.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    # The same prompts, always decided alike: rounding must not pass for a tiny variance.
    if error <= 1e-12:
        half = float(-stdtrit(max(fewest - 1, 1), tail) * np.hypot(se[0], se[1]))
        return float(p[0] - p[1]), half, int(fewest), False
    return float(d.mean()), float(-stdtrit(n - 1, tail)) * error, n, True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SubsampleErrors:
    """SE(p̄) predicted beside the SD over subsamples, one row per (model, n); pool = the model's
    prompts.
    """

    model: tuple[str, ...]
    n: IntArray
    pool: IntArray
    se_analytic: FloatArray
    se_finite: FloatArray
    se_empirical: FloatArray
    draws: int

    def to_frame(self) -> DataFrame:
        """One row per model and number of prompts."""
        return data_frame(flat(self)).drop(columns="draws")


def subsample_errors(
    pairs: PairScores,
    anchor: str,
    *,
    sizes: tuple[int, ...],
    rng: np.random.Generator,
    draws: int = 500,
) -> SubsampleErrors:
    """SE(p̄) predicted from all prompts, beside the SD of p̄ over `draws` subsamples of n prompts.

    se_analytic = √(p̄(1 - p̄)/(n + 2)) with p̄ from all M prompts of the model; se_finite = √((M -
    n)/(M - 1)) times that, the one to compare, as subsamples are drawn without replacement. Sizes
    of M or more are left out.

    Source: [RAEE] Table 9.
    """
    model, _, score, _ = against(pairs, anchor)
    rows: list[tuple[object, ...]] = []
    for code in np.unique(model):
        values = score[model == code]
        m = len(values)
        usable = np.array([size for size in sorted(set(sizes)) if 1 <= size < m], dtype=np.int64)
        if not len(usable):
            continue
        p, _ = win_probability(np.array([m]), values.sum(keepdims=True))
        # Prompts with one score are alike, so a subsample is a hypergeometric draw of counts of
        # scores.
        distinct, times = np.unique(values, return_counts=True)
        drawn = [
            rng.multivariate_hypergeometric(times, int(size), size=draws) @ distinct
            for size in usable
        ]
        empirical = win_probability(usable[:, None], np.stack(drawn))[0].std(axis=1, ddof=1)
        mass = np.asarray(usable + 1.0, dtype=np.float64)
        errors = standard_error(p, mass), standard_error(p, mass, n=usable, pool=m), empirical
        rows += [
            (pairs.models[code], size, m, *found)
            for size, *found in zip(usable, *errors, strict=True)
        ]
    names, *columns = zip(*rows, strict=True) if rows else [()] * 6
    n, pool, analytic, finite, empirical = (np.array(column) for column in columns)
    return SubsampleErrors(
        model=tuple(names),
        n=n.astype(np.int64),
        pool=pool.astype(np.int64),
        se_analytic=analytic,
        se_finite=finite,
        se_empirical=empirical,
        draws=draws,
    )
