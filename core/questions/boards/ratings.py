"""Other ratings of the same games: Bradley–Terry, and Glicko-2 and TrueSkill averaged over orders.

`ALGORITHMS` holds every rating algorithm, the anchored board among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...errors import InvalidOption, NoUsableVotes
from ...extras import require
from ...records import BoolArray, FloatArray, IntArray, PairScores
from ...stats.estimate import DataFrame, Estimate, Estimates, data_frame, flat
from ...stats.intervals import z_quantile
from .anchored import ELO_PER_NAT, Prior, anchor_code, board

NEVER_MET = "never met the anchor, directly or through others"
THROUGH = "directly or through others, against a rated model"


class DidNotConverge(NoUsableVotes):
    """Bradley–Terry strengths that the solver could not settle."""


class Result(Protocol):
    """What every algorithm returns, `anchored.Board` too."""

    def elos(self) -> dict[str, Estimate]:
        """Elo over the anchor of each model that has one, best first; n counts prompts or games."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ratings:
    """Rating of every model of a selection by one method, best first, those without a number last,
    by name.

    elo : points over the anchor, which is 0; NaN where `reason` says why there is no number. Its n
        counts games of the model, a prompt of one pair being one game. Interval: Bradley–Terry's is
        clustered by prompt; the others have the method's own posterior.
    order_sd : SD of the Elo over `orders` random orders of the prompts; 0 where order does not
        matter.
    games : of the selection; `games_an_order` of them were played in each order.
    """

    method: str
    models: tuple[str, ...]
    elo: Estimates
    reason: tuple[str, ...]
    order_sd: FloatArray
    orders: int
    games: int
    games_an_order: int

    def elos(self) -> dict[str, Estimate]:
        """Elo of each model that has a number."""
        named = zip(self.models, self.elo, self.reason, strict=True)
        return {model: elo for model, elo, reason in named if not reason}

    def to_frame(self) -> DataFrame:
        """One row per model."""
        columns = ["model", "elo", "elo_low", "elo_high", "n", "order_sd", "reason", "method"]
        return data_frame({"model": self.models, "n": self.elo.n} | flat(self))[columns]


def bradley_terry(pairs: PairScores, anchor: str, *, level: float = 0.95) -> Ratings:
    """Maximum-likelihood Bradley–Terry strengths by evalica from all pairs, not only those with the
    anchor.

    P(i beats j) = sᵢ/(sᵢ + sⱼ); a prompt is one game with score S for i and 1 - S for j, so a tie
    is half a win. Elo = (400/ln 10)·ln(sᵢ/s_anchor).

    Interval (ours): sandwich H⁻¹·Σ_g u_g·u_gᵀ·H⁻¹·G/(G - 1) over G prompts, u_g the gradient of one
    prompt, H the Hessian with the anchor fixed at 0; NaN with fewer than two prompts. A variance is
    at least h²/(4 + h), h the model's entry of H⁻¹: a model with one prompt or only ties fits
    without a rest and would be known exactly. It is the least that a corrected board row can have,
    but for the prior.

    Finite strengths exist only among models that won and lost, directly or through others, against
    each other (Ford's condition); those beyond get no number and the reason. That is the limit of
    the likelihood, not an approximation.

    Raises UnknownName if the anchor is no model, NoUsableVotes if it met nobody, DidNotConverge
    without a fit.
    Source: docs/methods.md §6; Bradley & Terry (1952); Ford (1957).
    """
    from scipy.sparse.csgraph import connected_components

    code = anchor_code(pairs, anchor)
    wins = win_matrix(pairs)
    _, part = connected_components(wins > 0, directed=True, connection="strong")
    rated = part == part[code]
    strength = _log_strength(wins, rated)
    elo = ELO_PER_NAT * (strength - strength[code])
    half = z_quantile(level) * ELO_PER_NAT * _clustered_error(pairs, strength, code)
    half[code] = 0.0
    found = Estimates(elo, elo - half, elo + half, level=level)
    return in_rank_order(pairs, "bradley_terry", found, _beyond(wins, code, rated))


def win_matrix(pairs: PairScores) -> FloatArray:
    """(models, models) wins of the row's model over the column's, a tie being half a win."""
    size = len(pairs.models)
    wins = np.zeros((size, size))
    np.add.at(wins, (pairs.model_1, pairs.model_2), pairs.score)
    np.add.at(wins, (pairs.model_2, pairs.model_1), 1 - pairs.score)
    return wins


def _log_strength(wins: FloatArray, rated: BoolArray) -> FloatArray:
    """Natural-log strengths of the rated models, NaN for others."""
    require("evalica", purpose="Bradley–Terry")
    import evalica

    strength = np.full(len(wins), np.nan)
    known = np.flatnonzero(rated)
    inner = wins[np.ix_(known, known)]
    one, two = np.nonzero(inner)
    if not len(one):
        strength[known] = 0.0
        return strength
    fitted = evalica.bradley_terry(
        one.tolist(),
        two.tolist(),
        [evalica.Winner.X] * len(one),
        weights=inner[one, two].tolist(),
        tolerance=1e-13,
        limit=100_000,
    )
    strength[known] = np.log(fitted.scores.sort_index().to_numpy(dtype=np.float64))
    total = inner + inner.T
    expected = (total / (1 + np.exp(strength[known][None, :] - strength[known][:, None]))).sum(
        axis=1
    )
    if not np.allclose(expected, inner.sum(axis=1), rtol=1e-7, atol=1e-7):
        raise DidNotConverge(
            "Bradley–Terry did not converge on this selection: some models are all but unbeaten; "
            "use the anchored board"
        )
    return strength


def _clustered_error(pairs: PairScores, strength: FloatArray, code: int) -> FloatArray:
    """SE of the log strengths over the anchor's, clustered by prompt; NaN where unknown."""
    from scipy.sparse import csr_array

    error = np.full(len(strength), np.nan)
    inside = ~np.isnan(strength[pairs.model_1]) & ~np.isnan(strength[pairs.model_2])
    one, two, score = pairs.model_1[inside], pairs.model_2[inside], pairs.score[inside]
    _, item = np.unique(pairs.item[inside], return_inverse=True)
    prompts = int(item.max(initial=-1)) + 1
    free = np.flatnonzero(~np.isnan(strength) & (np.arange(len(strength)) != code))
    if prompts < 2 or not len(free):
        return error
    p = 1 / (1 + np.exp(strength[two] - strength[one]))
    size = len(strength)
    hessian = np.zeros((size, size))
    np.subtract.at(hessian, (one, two), p * (1 - p))
    hessian += hessian.T
    np.fill_diagonal(hessian, -hessian.sum(axis=1))
    left = score - p
    gradient = csr_array(
        (np.concatenate([left, -left]), (np.concatenate([item, item]), np.concatenate([one, two]))),
        shape=(prompts, size),
    )
    meat = (gradient.T @ gradient).toarray() * prompts / (prompts - 1)
    bread = np.linalg.inv(hessian[np.ix_(free, free)])
    alone = np.diag(bread)
    least = alone**2 / (4 + alone)
    error[free] = np.sqrt(np.maximum(np.diag(bread @ meat[np.ix_(free, free)] @ bread), least))
    return error


def _beyond(wins: FloatArray, code: int, rated: BoolArray) -> list[str]:
    """Why a model has no finite Bradley–Terry strength; empty where it has one."""
    from scipy.sparse.csgraph import breadth_first_order

    def reached(graph: FloatArray) -> BoolArray:
        return np.isin(
            np.arange(len(wins)), breadth_first_order(graph > 0, code, return_predecessors=False)
        )

    reasons = {
        "": rated,
        NEVER_MET: ~reached(wins + wins.T),
        f"below any number: never won or tied, {THROUGH}": reached(wins),
        f"above any number: never lost or tied, {THROUGH}": reached(wins.T),
    }
    rest = "its games do not tie it to the anchor: one of the two always won, or always lost"
    return [
        str(reason) for reason in np.select(list(reasons.values()), list(reasons), default=rest)
    ]


def in_rank_order(
    pairs: PairScores,
    method: str,
    elo: Estimates,
    reason: list[str],
    *,
    order_sd: FloatArray | float = 0.0,
    orders: int = 1,
    games_an_order: int | None = None,
) -> Ratings:
    """Ratings of `pairs.models`, best first; those without a number, which have a reason, last."""
    unknown = np.isnan(elo.value)
    # Equal ratings stand in order of name, whatever the rounding.
    place = np.where(unknown, np.inf, -np.round(elo.value, 9)).tolist()
    order = sorted(range(len(elo)), key=lambda m: (place[m], pairs.models[m]))
    low, high, sd = (np.where(unknown, np.nan, x)[order] for x in (elo.low, elo.high, order_sd))
    n = np.bincount(np.concatenate([pairs.model_1, pairs.model_2]), minlength=len(elo)).astype(
        np.int64
    )
    return Ratings(
        method=method,
        models=tuple(pairs.models[m] for m in order),
        elo=Estimates(elo.value[order], low, high, n[order], elo.level),
        reason=tuple(reason[m] for m in order),
        order_sd=sd,
        orders=orders,
        games=len(pairs),
        games_an_order=len(pairs) if games_an_order is None else games_an_order,
    )


ORDERS = 8
"""Random orders of the prompts over which ratings are averaged (ours)."""
MOST_GAMES = 10_000
"""Games of one order; beyond, each order takes that many, of a random part of the prompts (ours).
"""
GAMES_A_PERIOD = 15
"""Most games of a model in one rating period: Glickman asks for 10 to 15, and more overshoot at the
start.
"""
VOLATILITY = 0.001
"""Start of the volatility, in Glicko's units a rating period; 0.06, as for people who change, would
make the last games weigh most."""
GLICKO_SCALE = 173.7178
MU, SIGMA, BETA = 25.0, 25 / 3, 25 / 6
"""TrueSkill's start: mean and deviation of a skill, and deviation of a performance around it."""


def glicko2(
    pairs: PairScores,
    anchor: str,
    *,
    rng: np.random.Generator,
    orders: int = ORDERS,
    level: float = 0.95,
) -> Ratings:
    """Glicko-2 by the library glicko2, minus the anchor's rating, averaged over random orders of
    the prompts.

    Start 1500, deviation 350, τ = 0.5; a prompt of one pair is one game with its score S.
    Volatility starts at 0.001, as models do not change from prompt to prompt, and a period without
    a game leaves a model as it is (ours). In a rating period the busiest model has about 15 games.
    Interval: ± z·√(RD² + RD_anchor²), averaged over orders. Ratings depend on the order of games,
    hence the average and `order_sd` (ours).

    The library's step 5 has the rating where the paper has its deviation φ; here it has φ.

    Source: Glickman (2013), "Example of the Glicko-2 system"; docs/methods.md §6.
    """
    return _in_orders(pairs, anchor, "glicko2", _glicko_pass, rng=rng, orders=orders, level=level)


def trueskill(
    pairs: PairScores,
    anchor: str,
    *,
    rng: np.random.Generator,
    orders: int = ORDERS,
    level: float = 0.95,
) -> Ratings:
    """TrueSkill as Elo over the anchor, averaged over random orders of the prompts.

    μ = 25, σ = 25/3, β = 25/6; τ = 0 as models do not change from prompt to prompt (ours).
    TrueSkill knows wins, draws and losses only: a prompt is won if S > ½, drawn if S = ½ (ours);
    the draw probability is the share of such prompts, at most .999. A game of two updates
    both by the closed form, μ ± σ²/c·v(t, ε) and σ²·(1 − σ²/c²·w(t, ε)) with c² = 2β² + σ₁² + σ₂²,
    t = (μ₁ − μ₂)/c and the margin of a draw ε·c = √2·β·Φ⁻¹((1 + draw probability)/2).
    Elo = (400/ln 10)·logit Φ(Δμ/(√2·β)), of the win probability without draws (ours); interval: the
    same map of Δμ ± z·√(σ² + σ_anchor²).

    Source: Herbrich, Minka & Graepel (2006); docs/methods.md §6.
    """
    return _in_orders(
        pairs, anchor, "trueskill", _trueskill_pass, rng=rng, orders=orders, level=level
    )


def _in_orders(
    pairs: PairScores,
    anchor: str,
    method: str,
    play: Callable[[PairScores, IntArray], tuple[FloatArray, FloatArray]],
    *,
    rng: np.random.Generator,
    orders: int,
    level: float,
) -> Ratings:
    """Play the prompts in random orders and average (rating, deviation) of each model over them."""
    if orders < 1:
        raise InvalidOption(f"orders = {orders}: needs at least 1")
    from scipy.sparse.csgraph import connected_components
    from scipy.special import log_ndtr

    code = anchor_code(pairs, anchor)
    wins = win_matrix(pairs)
    _, part = connected_components(wins + wins.T > 0, directed=False)
    joined = part == part[code]
    items, item = np.unique(pairs.item, return_inverse=True)
    played = []
    for _ in range(orders):
        place = rng.permutation(len(items))[item]
        played.append(play(pairs, np.argsort(place, kind="stable")[:MOST_GAMES]))
    gap = np.array([rating - rating[code] for rating, _ in played])
    half = z_quantile(level) * np.mean(
        [np.hypot(deviation, deviation[code]) for _, deviation in played], axis=0
    )
    half[code] = 0.0

    def elo(value: FloatArray) -> FloatArray:
        if method == "glicko2":
            return value
        x = value / (math.sqrt(2) * BETA)
        return np.asarray(ELO_PER_NAT * (log_ndtr(x) - log_ndtr(-x)))

    mean = gap.mean(axis=0)
    sd = elo(gap).std(axis=0, ddof=1) if orders > 1 else np.full(len(mean), np.nan)
    return in_rank_order(
        pairs,
        method,
        Estimates(
            np.where(joined, elo(mean), np.nan), elo(mean - half), elo(mean + half), level=level
        ),
        ["" if known else NEVER_MET for known in joined],
        order_sd=sd,
        orders=orders,
        games_an_order=min(len(pairs), MOST_GAMES),
    )


def _glicko_pass(pairs: PairScores, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    players = [_glicko_player() for _ in pairs.models]
    one, two, score = (x[rows] for x in (pairs.model_1, pairs.model_2, pairs.score))
    busiest = int(np.bincount(np.concatenate([one, two])).max())
    period = np.arange(len(rows)) * max(1, round(busiest / GAMES_A_PERIOD)) // len(rows)
    for now in range(int(period[-1]) + 1):
        chosen = period == now
        who = np.concatenate([one[chosen], two[chosen]])
        other = np.concatenate([two[chosen], one[chosen]])
        result = np.concatenate([score[chosen], 1 - score[chosen]])
        before = [(player.rating, player.rd) for player in players]
        games: dict[int, list[tuple[float, float, float]]] = {}
        for model, opponent, won in zip(who.tolist(), other.tolist(), result.tolist(), strict=True):
            games.setdefault(model, []).append((*before[opponent], won))
        for model, played in games.items():
            players[model].update_player(*map(list, zip(*played, strict=True)))
    return np.array([player.rating for player in players]), np.array(
        [player.rd for player in players]
    )


def _glicko_player() -> Any:
    require("glicko2", purpose="Glicko-2")
    from glicko2 import Player  # type: ignore[import-untyped]

    class Corrected(Player):  # type: ignore[misc]
        def _f(self, x: float, delta: float, v: float, a: float) -> float:
            # Step 5 of the paper; the library takes the rating for the deviation φ here.
            ex, spread = math.exp(x), (self.rd / GLICKO_SCALE) ** 2 + v
            step = ex * (delta**2 - spread - ex) / (2 * (spread + ex) ** 2) - (x - a) / self._tau**2
            return float(step)

    return Corrected(vol=VOLATILITY)


def _trueskill_pass(pairs: PairScores, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    from scipy.special import ndtri

    one, two, score = pairs.model_1[rows].tolist(), pairs.model_2[rows].tolist(), pairs.score[rows]
    drawn = np.abs(score - 0.5) < 1e-9
    # With draws alone the margin would be infinite.
    share = min(float(drawn.mean()), 0.999)
    margin = math.sqrt(2) * BETA * float(ndtri((1 + share) / 2))
    mu = [MU] * len(pairs.models)
    variance = [SIGMA**2] * len(pairs.models)
    for i, j, won, tied in zip(one, two, (score > 0.5).tolist(), drawn.tolist(), strict=True):
        if not won and not tied:
            i, j = j, i
        c = math.sqrt(2 * BETA**2 + variance[i] + variance[j])
        t, edge = (mu[i] - mu[j]) / c, margin / c
        v, w = _after_draw(t, edge) if tied else _after_win(t - edge)
        mu[i], mu[j] = mu[i] + variance[i] / c * v, mu[j] - variance[j] / c * v
        variance[i], variance[j] = (x * (1 - x / c**2 * w) for x in (variance[i], variance[j]))
    return np.array(mu), np.sqrt(variance)


def _after_win(x: float) -> tuple[float, float]:
    """v and w of a win: mean of a standard normal above -x, and the share of variance that goes."""
    below = _cdf(x)
    if below <= 0:
        # So far out the mean of the tail is its edge.
        return -x, 1.0
    v = _density(x) / below
    return v, v * (v + x)


def _after_draw(t: float, edge: float) -> tuple[float, float]:
    """v and w of a draw: the same of a standard normal between -edge - t and edge - t."""
    # The lower tail has all its digits, the upper one has not.
    away, sign = abs(t), math.copysign(1.0, t)
    low, high = -edge - away, edge - away
    between = _cdf(high) - _cdf(low)
    if between <= 0:
        return sign * min(high, 0.0), 1.0
    v = (_density(low) - _density(high)) / between
    return sign * v, v**2 + (high * _density(high) - low * _density(low)) / between


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`prior` is for the anchored board, `rng` and `orders` for Glicko-2 and TrueSkill."""

    rng: np.random.Generator
    orders: int = ORDERS
    prior: Prior = "jeffreys"


RAEE = "raee"
ALGORITHMS: dict[str, Callable[[PairScores, str, Settings], Result]] = {
    RAEE: lambda pairs, anchor, use: board(pairs, anchor, prior=use.prior),
    "bradley_terry": lambda pairs, anchor, use: bradley_terry(pairs, anchor),
    "glicko2": lambda pairs, anchor, use: glicko2(pairs, anchor, rng=use.rng, orders=use.orders),
    "trueskill": lambda pairs, anchor, use: trueskill(
        pairs, anchor, rng=use.rng, orders=use.orders
    ),
}
"""Rating of (pair scores, anchor, settings) by each algorithm, in the order of tables."""
