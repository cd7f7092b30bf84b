"""Glicko-2 and TrueSkill by maintained libraries: ratings that depend on the order of games, so averaged.

Beside anchored Elo: how far judges differ under each rating method, and whether the methods agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidOption, NoUsableVotes
from ..records import BoolArray, FloatArray, IntArray, PairScores
from ..stats.intervals import check_level
from .anchored import ELO_PER_NAT, Prior, board
from .rating_methods import (
    METHODS,
    Method,
    Ratings,
    anchor_code,
    bradley_terry,
    met,
    ratings,
    win_matrix,
)

if TYPE_CHECKING:
    import pandas as pd


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

    Source: Glickman (2013), "Example of the Glicko-2 system"; methods §6.
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

    Source: Herbrich, Minka & Graepel (2006); methods §6.
    """
    return _in_orders(pairs, anchor, "trueskill", _trueskill_pass, rng=rng, orders=orders, level=level)


def rate(
    pairs: PairScores, anchor: str, *, method: Method, rng: np.random.Generator, orders: int = ORDERS
) -> Ratings:
    """Rate by the method of that name."""
    if method == "bradley_terry":
        return bradley_terry(pairs, anchor)
    if method not in METHODS:
        raise InvalidOption(f"method = {method!r}: must be one of {', '.join(METHODS)}")
    return {"glicko2": glicko2, "trueskill": trueskill}[method](pairs, anchor, rng=rng, orders=orders)


def _in_orders(
    pairs: PairScores,
    anchor: str,
    method: Method,
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
    return ratings(
        pairs,
        method,
        anchor,
        np.where(joined, elo(mean), np.nan),
        (elo(mean - half), elo(mean + half)),
        reason=["" if known else "never met the anchor, directly or through others" for known in joined],
        order_sd=sd,
        orders=orders,
        games_an_order=min(len(pairs), MOST_GAMES),
        level=level,
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


RAEE = "raee"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MethodSpread:
    """One method over several judges, on the models and judges that every method could rate.

    sd : mean over models of the SD across judges, Elo points; sd_low, sd_high: t interval over models.
    spread : SD over models of the mean of judges; relative : sd/spread, which does not depend on the scale.
    excess, excess_low, excess_high : sd minus RAEE's on the same models, with a paired t interval over them.
    pearson, kendall : of the means of judges with RAEE's.  None where there are too few models or judges.
    n_models, n_rated : models with two judges or more, and with one or more; n_judges : judges.
    """

    method: str
    sd: float | None
    sd_low: float | None
    sd_high: float | None
    spread: float | None
    relative: float | None
    excess: float | None
    excess_low: float | None
    excess_high: float | None
    pearson: float | None
    kendall: float | None
    n_models: int
    n_rated: int
    n_judges: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RatingSpread:
    """RAEE first, then the other methods.

    pooled : rating of each method on the pooled votes, where they were given.
    models : that met the anchor.  elo : of each method, (judges, models); NaN where it has no number.
    """

    methods: tuple[MethodSpread, ...]
    pooled: dict[str, Ratings]
    models: tuple[str, ...]
    judges: tuple[str, ...]
    elo: dict[str, FloatArray]
    anchor: str
    level: float

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        names = [field.name for field in fields(MethodSpread)]
        return pd.DataFrame([[getattr(row, name) for name in names] for row in self.methods], columns=names)


def rating_spread(
    judged: Mapping[str, PairScores],
    anchor: str,
    *,
    rng: np.random.Generator,
    pooled: PairScores | None = None,
    prior: Prior = "jeffreys",
    orders: int = ORDERS,
    level: float = 0.95,
) -> RatingSpread:
    """Rate every judge's votes by RAEE, Bradley–Terry, Glicko-2 and TrueSkill, and compare (ours).

    The SD across judges is taken model by model (n - 1 in the denominator) over cells (judge, model) that all
    four methods rate, so that a method gains nothing by leaving the hard ones out. Judges that share prompts
    and habits are no random sample: the interval speaks of other models, not of other judges.

    Parameters
    ----------
    judged : pair scores of each judge, of one selection; those that did not meet the anchor are left out.
    anchor : Elo 0 of every method.
    rng : for the orders of Glicko-2 and TrueSkill.
    pooled : scores of all votes together, to rate too.

    Raises
    ------
    NoUsableVotes : no judge met the anchor.

    Source: methods §6; [RAEE] compares dispersion across judges.
    """
    seen = {name: pairs for name, pairs in judged.items() if met(pairs, anchor)}
    if not seen:
        raise NoUsableVotes(f"anchor {anchor!r} met no other model under any judge of this selection")
    models = tuple(name for name in next(iter(seen.values())).models if name != anchor)
    elo = {method: np.full((len(seen), len(models)), np.nan) for method in (RAEE, *METHODS)}
    rated: dict[int, dict[str, Ratings]] = {}
    for place, pairs in enumerate(seen.values()):
        by_name = {row.model: row.elo for row in board(pairs, anchor, prior=prior).rows}
        elo[RAEE][place] = [by_name.get(name, np.nan) for name in models]
        rated[id(pairs)] = _by_method(pairs, anchor, rng, orders)
        for method, found in rated[id(pairs)].items():
            known = dict(zip(found.models, found.elo.tolist(), strict=True))
            elo[method][place] = [known.get(name, np.nan) for name in models]
    on_board = ~np.isnan(elo[RAEE]).all(axis=0)
    elo = {method: values[:, on_board] for method, values in elo.items()}
    usable = np.all([~np.isnan(values) for values in elo.values()], axis=0)
    together = {}
    if pooled is not None:
        # The votes of one judge need no second rating.
        together = rated.get(id(pooled)) or _by_method(pooled, anchor, rng, orders)
    return RatingSpread(
        methods=tuple(_spread(method, elo, usable, level) for method in elo),
        pooled=together,
        models=tuple(name for name, kept in zip(models, on_board.tolist(), strict=True) if kept),
        judges=tuple(seen),
        elo={str(method): values for method, values in elo.items()},
        anchor=anchor,
        level=level,
    )


def _by_method(pairs: PairScores, anchor: str, rng: np.random.Generator, orders: int) -> dict[str, Ratings]:
    return {method: rate(pairs, anchor, method=method, rng=rng, orders=orders) for method in METHODS}


def _spread(method: str, elo: Mapping[str, FloatArray], usable: BoolArray, level: float) -> MethodSpread:
    columns = usable.sum(axis=0) >= 1
    several = usable.sum(axis=0) >= 2
    mean, sd = _mean_and_sd(elo[method], usable)
    reference, reference_sd = _mean_and_sd(elo[RAEE], usable)
    values: dict[str, float | None] = dict.fromkeys(
        (
            "sd",
            "sd_low",
            "sd_high",
            "excess",
            "excess_low",
            "excess_high",
            "spread",
            "relative",
            "pearson",
            "kendall",
        )
    )
    if columns.sum() >= 2:
        values["spread"] = float(mean[columns].std(ddof=1))
    if columns.sum() >= 3 and method != RAEE:
        from scipy.stats import kendalltau

        # A board on which all are equal has no correlation.
        if min(mean[columns].std(), reference[columns].std()) > 1e-9:
            values["pearson"] = float(np.corrcoef(mean[columns], reference[columns])[0, 1])
            values["kendall"] = float(
                kendalltau(mean[columns].round(9), reference[columns].round(9)).statistic
            )
    if several.any():
        values |= _with_interval("sd", sd[several], level)
        if values["spread"]:
            values["relative"] = float(sd[several].mean()) / values["spread"]
        if method != RAEE:
            values |= _with_interval("excess", (sd - reference_sd)[several], level)
    return MethodSpread(
        method=method,
        **values,
        n_models=int(several.sum()),
        n_rated=int(columns.sum()),
        n_judges=int(usable.any(axis=1).sum()),
    )


def _mean_and_sd(values: FloatArray, usable: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Of each column over its usable rows; an SD over fewer than two is NaN."""
    n = usable.sum(axis=0)
    inside = np.where(usable, values, 0.0)
    mean = inside.sum(axis=0) / np.maximum(n, 1)
    squares = np.where(usable, (values - mean) ** 2, 0.0).sum(axis=0)
    return mean, np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)


def _with_interval(name: str, values: FloatArray, level: float) -> dict[str, float | None]:
    """Mean with a t interval; no interval with fewer than two values."""
    from scipy.special import stdtrit

    mean, n = float(values.mean()), len(values)
    if n < 2:
        return {name: mean, f"{name}_low": None, f"{name}_high": None}
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(values.std(ddof=1)) / math.sqrt(n)
    return {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}
