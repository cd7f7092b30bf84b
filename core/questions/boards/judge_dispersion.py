"""How far judges differ on a model: by each rating algorithm, and by direct scores against votes.

A measure is an array (judges, models), NaN where a judge has no number of a model. Measures are
compared on the cells that all of them have, so that none gains by leaving out hard ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal, get_args

import numpy as np

from ...records import BoolArray, FloatArray, PairScores
from ...stats.estimate import DataFrame, Estimate, rows_frame
from ...stats.intervals import t_quantile
from .anchored import Board, Prior, judges_that_met
from .anchors import kendall_tau
from .ratings import ALGORITHMS, ORDERS, RAEE, Ratings, Result, Settings
from .score_board import ScoreBoard, ScoreBoards
from .standings import rank_agreement


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MethodSpread:
    """One rating method over several judges, on the models and judges that every method could rate.

    sd : mean over models of the SD across judges, Elo points, with a t interval over models.
    spread : SD over models of the mean of judges; relative : sd/spread, which does not depend on
        the scale.
    excess : sd minus RAEE's on the same models, with a paired t interval over them.
    pearson, kendall : of the means of judges with RAEE's.  None where there are too few models or
        judges.
    n_models, n_rated : models with two judges or more, and with one or more; n_judges : judges.
    """

    method: str
    sd: Estimate | None
    spread: float | None
    relative: float | None
    excess: Estimate | None
    pearson: float | None
    kendall: float | None
    n_models: int
    n_rated: int
    n_judges: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RatingSpread:
    """RAEE first, then the other methods.

    elo : method → (judges, models), NaN where it cannot rate.  models : those that some judge
        rates.
    pooled : rating of each other method on the pooled votes, where they were given.
    """

    methods: tuple[MethodSpread, ...]
    models: tuple[str, ...]
    elo: dict[str, FloatArray]
    pooled: dict[str, Ratings]

    def to_frame(self) -> DataFrame:
        """One row per method."""
        return rows_frame(MethodSpread, self.methods)


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

    The SD across judges is taken model by model (n - 1 in the denominator) over cells (judge,
    model) that all four methods rate, so that a method gains nothing by leaving the hard ones out.
    Judges that share prompts and habits are no random sample: the interval is about other models,
    not about other judges.

    Parameters
    ----------
    judged : pair scores of each judge, of one selection; those that did not meet the anchor are
        left out.
    rng : for the orders of Glicko-2 and TrueSkill.
    pooled : scores of all votes together, to rate too.

    Raises NoUsableVotes if no judge met the anchor.
    Source: docs/methods.md §6; [RAEE] compares dispersion across judges.
    """
    seen = judges_that_met(judged, anchor)
    settings = Settings(rng=rng, orders=orders, prior=prior)
    models = tuple(name for name in next(iter(seen.values())).models if name != anchor)
    elo = {method: np.full((len(seen), len(models)), np.nan) for method in ALGORITHMS}
    rated: dict[int, dict[str, Result]] = {}
    for place, pairs in enumerate(seen.values()):
        rated[id(pairs)] = _by_method(pairs, anchor, settings)
        for method, found in rated[id(pairs)].items():
            known = found.elos()
            elo[method][place] = [known[name].value if name in known else np.nan for name in models]
    on_board = ~np.isnan(elo[RAEE]).all(axis=0)
    elo = {method: values[:, on_board] for method, values in elo.items()}
    usable = np.all([~np.isnan(values) for values in elo.values()], axis=0)
    together: dict[str, Result] = {}
    if pooled is not None:
        # The votes of one judge need no second rating.
        together = rated.get(id(pooled)) or _by_method(pooled, anchor, settings)
    return RatingSpread(
        methods=tuple(_method_spread(method, elo, usable, level) for method in elo),
        models=tuple(name for name, kept in zip(models, on_board, strict=True) if kept),
        elo=elo,
        pooled={method: found for method, found in together.items() if isinstance(found, Ratings)},
    )


def _by_method(pairs: PairScores, anchor: str, settings: Settings) -> dict[str, Result]:
    return {method: rate(pairs, anchor, settings) for method, rate in ALGORITHMS.items()}


def _method_spread(
    method: str, elo: Mapping[str, FloatArray], usable: BoolArray, level: float
) -> MethodSpread:
    mean, sd = _mean_and_sd(elo[method], usable)
    reference, reference_sd = _mean_and_sd(elo[RAEE], usable)
    rated, several = (usable.sum(axis=0) >= least for least in (1, 2))
    mean, reference = mean[rated], reference[rated]
    pearson = kendall = None
    # A board on which all are equal has no correlation.
    if method != RAEE and len(mean) >= 3 and min(mean.std(), reference.std()) > 1e-9:
        pearson, kendall = float(np.corrcoef(mean, reference)[0, 1]), kendall_tau(mean, reference)
    return MethodSpread(
        method=method,
        **_across_models(mean, sd, usable, level),
        excess=None
        if method == RAEE
        else mean_over_models((sd - reference_sd)[several], level=level),
        pearson=pearson,
        kendall=kendall,
        n_rated=int(rated.sum()),
    )


Measure = Literal["mean score", "p by scores", "p by votes", "Elo by scores", "Elo by votes"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
BY_VOTES: tuple[Measure, ...] = ("p by votes", "Elo by votes")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dispersed:
    """One measure of one model over judges.

    mean, sd : over the judges, n − 1 below; se : sd/√judges; cv : sd/|mean|.
    None with fewer than two judges; cv is None for Elo, which is 0 for the anchor itself.
    """

    measure: Measure
    model: str
    n_judges: int
    mean: float
    sd: float | None
    se: float | None
    cv: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Spread:
    """One measure over models.

    sd, se, cv : means over models with two judges or more; sd has a t interval over models.
    spread : SD over models of the mean of judges; relative : sd/spread, in which no scale enters.
    reason : why there is none.
    """

    measure: Measure
    sd: Estimate | None
    se: float | None
    cv: float | None
    spread: float | None
    relative: float | None
    n_models: int
    n_judges: int
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dispersion:
    """Dispersion across judges by measure, and how the orders of models compare.

    shared : all measures are on the same (judge, model), those that have both scores and votes.
    excess : SD of p by scores minus SD of p by votes, mean over models with a paired t interval;
        None unless shared.
    kendall, spearman : order of models by judges' mean p by scores against that by votes, the
        anchor among
    them, with bootstrap intervals over the n_ordered models.  None with fewer than three; intervals
    as `core.questions.boards.standings.rank_agreement`.
    """

    rows: tuple[Dispersed, ...]
    measures: tuple[Spread, ...]
    shared: bool
    excess: Estimate | None
    kendall: Estimate | None
    spearman: Estimate | None
    n_ordered: int

    def to_frame(self) -> DataFrame:
        """One row per (measure, model)."""
        return rows_frame(Dispersed, self.rows)


def dispersion(
    scores: ScoreBoards | None,
    votes: Mapping[str, Board],
    anchor: str,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1_000,
) -> Dispersion:
    """SD, SE and CV across judges of direct scores, their p by proportional odds, and p and Elo by
    votes.

    Where two judges have both scores and votes on a model, every measure uses only such (judge,
    model), so that none gains by leaving out hard ones. p by scores and p by votes are on one
    scale, so their SDs are compared directly; the share of SD in the spread of models (`relative`)
    compares all measures. An SD across judges holds the judges' sampling errors too: with few items
    per judge it shows little else.

    Parameters
    ----------
    scores : of every judge against `anchor`; None where there are no direct scores.
    votes : board of every judge against the same anchor; empty where there are no votes.
    rng : for the bootstrap over models of the two correlations.

    Source: docs/methods.md §6; [RAEE] compares dispersion across judges. The common cells and the
    paired interval are ours. Judges are no random sample: the interval is about other models, not
    other judges.
    """
    models, values = _cells(scores, votes)
    have = {name: ~np.isnan(cells) for name, cells in values.items()}
    both = have["p by scores"] & have["p by votes"]
    several = both.sum(axis=0) >= 2
    shared = bool(several.any())
    rows, measures, means, sds = [], [], {}, {}
    for name in MEASURES:
        used = both if shared else have[name]
        means[name], sds[name] = mean, sd = _mean_and_sd(values[name], used)
        n = used.sum(axis=0)
        rows += [
            _dispersed(name, models[k], int(n[k]), float(mean[k]), float(sd[k]))
            for k in np.flatnonzero(n)
        ]
        measures.append(_spread(name, mean, sd, used, scores, votes, level))
    excess = (sds["p by scores"] - sds["p by votes"])[several]
    # The anchor is a model too: it beats itself half of the time.
    compared = ~np.isnan(means["p by scores"]) & ~np.isnan(means["p by votes"])
    one, two = (np.append(means[name][compared], 0.5) for name in ("p by scores", "p by votes"))
    kendall, spearman = rank_agreement(one, two, rng=rng, level=level, resamples=resamples)
    return Dispersion(
        rows=tuple(rows),
        measures=tuple(measures),
        shared=shared,
        excess=mean_over_models(excess, level=level) if shared else None,
        kendall=kendall,
        spearman=spearman,
        n_ordered=len(one) if compared.any() else 0,
    )


def _cells(
    scores: ScoreBoards | None, votes: Mapping[str, Board]
) -> tuple[list[str], dict[str, FloatArray]]:
    """Models, and every measure as (judges, models), NaN where there is none."""
    by_scores = {} if scores is None else scores.judges
    judges = sorted({*by_scores, *votes})
    models = sorted(
        {row.model for known in (by_scores, votes) for one in known.values() for row in one.rows}
    )
    values: dict[str, FloatArray] = {
        name: np.full((len(judges), len(models)), np.nan) for name in MEASURES
    }
    place = {name: code for code, name in enumerate(models)}
    for name, attribute in zip(
        MEASURES, ("mean", "p.value", "p.value", "elo.value", "elo.value"), strict=True
    ):
        boards: Mapping[str, Board | ScoreBoard] = votes if name in BY_VOTES else by_scores
        for judge, found in boards.items():
            columns = [place[row.model] for row in found.rows]
            values[name][judges.index(judge), columns] = list(
                map(attrgetter(attribute), found.rows)
            )
    return models, values


def _dispersed(measure: Measure, model: str, n: int, mean: float, sd: float) -> Dispersed:
    known = n > 1
    return Dispersed(
        measure=measure,
        model=model,
        n_judges=n,
        mean=mean,
        sd=sd if known else None,
        se=sd / math.sqrt(n) if known else None,
        cv=sd / abs(mean) if known and _has_cv(measure) and mean else None,
    )


def _spread(
    measure: Measure,
    mean: FloatArray,
    sd: FloatArray,
    used: BoolArray,
    scores: ScoreBoards | None,
    votes: Mapping[str, Board],
    level: float,
) -> Spread:
    n = used.sum(axis=0)
    several = n > 1
    found = _across_models(mean[n > 0], sd, used, level)
    se = cv = reason = None
    if found["sd"] is not None:
        found["sd"] = replace(found["sd"], low=float(np.maximum(found["sd"].low, 0.0)))
        se = float((sd[several] / np.sqrt(n[several])).mean())
        if _has_cv(measure) and (mean[several] != 0).all():
            cv = float((sd[several] / np.abs(mean[several])).mean())
    elif measure in BY_VOTES and not votes:
        reason = "no votes against this anchor."
    elif measure not in BY_VOTES and scores is None:
        reason = "no direct scores beside this anchor's."
    else:
        reason = "no model has two judges."
    return Spread(measure=measure, se=se, cv=cv, reason=reason, **found)


def _has_cv(measure: Measure) -> bool:
    """An SD in units of a mean needs a scale whose 0 means none; Elo's is the anchor."""
    return not measure.startswith("Elo")


def _mean_and_sd(values: FloatArray, used: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Of each column over its used rows; an SD over fewer than two is NaN, so is a mean
    over none.
    """
    n = used.sum(axis=0)
    mean = np.where(n > 0, np.where(used, values, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = np.where(used, (values - mean) ** 2, 0.0).sum(axis=0)
    return mean, np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)


def _across_models(
    known: FloatArray, sd: FloatArray, used: BoolArray, level: float
) -> dict[str, Any]:
    """What `MethodSpread` and `Spread` share.  known : mean of judges of each model that
    has one.
    """
    several = used.sum(axis=0) > 1
    over = mean_over_models(sd[several], level=level)
    spread = float(known.std(ddof=1)) if len(known) > 1 else None
    return {
        "sd": over,
        "spread": spread,
        "relative": over.value / spread if over is not None and spread else None,
        "n_models": int(several.sum()),
        "n_judges": int(used.any(axis=1).sum()),
    }


def mean_over_models(values: FloatArray, *, level: float = 0.95) -> Estimate | None:
    """Mean with a t interval over models; no interval with one, None without any."""
    n = len(values)
    if not n:
        return None
    mean = float(values.mean())
    if n < 2:
        return Estimate(mean, n=n, level=level)
    half = t_quantile(n - 1, level) * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n=n, level=level)
