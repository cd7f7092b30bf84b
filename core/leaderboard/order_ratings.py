"""Glicko-2 and TrueSkill by maintained libraries: ratings that depend on the order of games, so averaged.

`ALGORITHMS` holds every rating algorithm, the anchored board among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidOption
from ..records import FloatArray, IntArray, PairScores
from ..stats.estimate import Estimates
from ..stats.intervals import check_level
from .anchored import ELO_PER_NAT, Prior, board
from .rating_methods import Ratings, Result, anchor_code, bradley_terry, in_rank_order, win_matrix

ORDERS = 8
"""Random orders of the prompts over which ratings are averaged (ours)."""
MOST_GAMES = 10_000
"""Games of one order; beyond, each order takes that many, of a random part of the prompts (ours)."""
GAMES_A_PERIOD = 15
"""Most games of a model in one rating period: Glickman asks for 10 to 15, and more overshoot at the start."""
VOLATILITY = 0.001
"""Start of the volatility, in Glicko's units a rating period; 0.06, as for people who change, would make the
last games weigh most."""
GLICKO_SCALE = 173.7178


def glicko2(
    pairs: PairScores, anchor: str, *, rng: np.random.Generator, orders: int = ORDERS, level: float = 0.95
) -> Ratings:
    """Glicko-2 by the library glicko2, minus the anchor's rating, averaged over random orders of the prompts.

    Start 1500, deviation 350, τ = 0.5; a prompt of one pair is one game with its score S. Volatility starts
    at 0.001, as models do not change from prompt to prompt, and a period without a game leaves a model as it
    is (ours). In a rating period the busiest model has about 15 games. Interval: ± z·√(RD² + RD_anchor²),
    averaged over orders. Ratings depend on the order of games, hence the average and `order_sd` (ours).

    The library's step 5 has the rating where the paper has its deviation φ; here it has φ.

    Source: Glickman (2013), "Example of the Glicko-2 system"; docs/methods.md §6.
    """
    return _in_orders(pairs, anchor, "glicko2", _glicko_pass, rng=rng, orders=orders, level=level)


def trueskill(
    pairs: PairScores, anchor: str, *, rng: np.random.Generator, orders: int = ORDERS, level: float = 0.95
) -> Ratings:
    """TrueSkill by the library trueskill, as Elo over the anchor, averaged over random orders of the prompts.

    μ = 25, σ = 25/3, β = 25/6; τ = 0 as models do not change from prompt to prompt (ours). TrueSkill knows
    wins, draws and losses only: a prompt is won if S > ½, drawn if S = ½ (ours); the draw probability is the
    share of such prompts. Elo = (400/ln 10)·logit Φ(Δμ/(√2·β)), of the win probability without draws (ours);
    interval: the same map of Δμ ± z·√(σ² + σ_anchor²).

    Source: Herbrich, Minka & Graepel (2006); docs/methods.md §6.
    """
    return _in_orders(pairs, anchor, "trueskill", _trueskill_pass, rng=rng, orders=orders, level=level)


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
    check_level(level)
    if orders < 1:
        raise InvalidOption(f"orders = {orders}: needs at least 1")
    from scipy.sparse.csgraph import connected_components
    from scipy.special import log_ndtr, ndtri

    code = anchor_code(pairs, anchor)
    wins = win_matrix(pairs)
    _, part = connected_components(wins + wins.T > 0, directed=False)
    joined = part == part[code]
    items, item = np.unique(pairs.item, return_inverse=True)
    played = []
    for _ in range(orders):
        place = rng.permutation(len(items))[item]
        rows = np.argsort(place, kind="stable")[:MOST_GAMES]
        played.append(play(pairs, rows))
    gap = np.array([rating - rating[code] for rating, _ in played])
    error = np.mean([np.hypot(deviation, deviation[code]) for _, deviation in played], axis=0)
    error[code] = 0.0
    half = float(ndtri((1 + level) / 2)) * error

    def elo(value: FloatArray) -> FloatArray:
        if method == "glicko2":
            return value
        x = value / (math.sqrt(2) * 25 / 6)
        return np.asarray(ELO_PER_NAT * (log_ndtr(x) - log_ndtr(-x)))

    mean = gap.mean(axis=0)
    sd = elo(gap).std(axis=0, ddof=1) if orders > 1 else np.full(len(mean), np.nan)
    return in_rank_order(
        pairs,
        method,
        anchor,
        Estimates(np.where(joined, elo(mean), np.nan), elo(mean - half), elo(mean + half), level=level),
        ["" if known else "never met the anchor, directly or through others" for known in joined],
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
    return np.array([player.rating for player in players]), np.array([player.rd for player in players])


def _glicko_player() -> Any:
    from glicko2 import Player  # type: ignore[import-untyped]

    class Corrected(Player):  # type: ignore[misc]
        def _f(self, x: float, delta: float, v: float, a: float) -> float:
            # Step 5 of the paper; the library takes the rating for the deviation φ here.
            ex, spread = math.exp(x), (self.rd / GLICKO_SCALE) ** 2 + v
            step = ex * (delta**2 - spread - ex) / (2 * (spread + ex) ** 2) - (x - a) / self._tau**2
            return float(step)

    return Corrected(vol=VOLATILITY)


def _trueskill_pass(pairs: PairScores, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    from trueskill import TrueSkill, calc_draw_margin  # type: ignore[import-untyped]

    one, two, score = pairs.model_1[rows].tolist(), pairs.model_2[rows].tolist(), pairs.score[rows]
    drawn = np.abs(score - 0.5) < 1e-9
    # With draws alone the margin would be infinite.
    rules = TrueSkill(tau=0.0, draw_probability=min(float(drawn.mean()), 0.999))
    margin = calc_draw_margin(rules.draw_probability, 2, rules)
    mu = [rules.mu] * len(pairs.models)
    variance = [rules.sigma**2] * len(pairs.models)
    noise = 2 * rules.beta**2
    # Two players are the closed form of the library's graph, at a fifteenth of its cost.
    for i, j, won, tied in zip(one, two, (score > 0.5).tolist(), drawn.tolist(), strict=True):
        if not won and not tied:
            i, j = j, i
        c = math.sqrt(noise + variance[i] + variance[j])
        t, edge = (mu[i] - mu[j]) / c, margin / c
        v = rules.v_draw(t, edge) if tied else rules.v_win(t, edge)
        w = rules.w_draw(t, edge) if tied else rules.w_win(t, edge)
        mu[i], mu[j] = mu[i] + variance[i] / c * v, mu[j] - variance[j] / c * v
        variance[i], variance[j] = (x * (1 - x / c**2 * w) for x in (variance[i], variance[j]))
    return np.array(mu), np.sqrt(variance)


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
    "trueskill": lambda pairs, anchor, use: trueskill(pairs, anchor, rng=use.rng, orders=use.orders),
}
"""Rating of (pair scores, anchor, settings) by each algorithm, in the order of tables."""
