"""Beside anchored Elo: how far judges differ under each rating method, and whether the methods agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from core.counts import BoolArray, FloatArray, PairScores
from core.leaderboard.order_ratings import ORDERS, rate
from core.leaderboard.raee import Prior, board
from core.leaderboard.ratings import METHODS, Ratings, met
from core.votes import NoUsableVotes

if TYPE_CHECKING:
    import pandas as pd

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
