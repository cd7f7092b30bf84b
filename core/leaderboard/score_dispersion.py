"""Which measure do judges agree on more: direct scores, or votes against an anchor?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..records import BoolArray, FloatArray
from .anchored import Board
from .outside import rank_agreement
from .score_board import ScoreBoards

if TYPE_CHECKING:
    import pandas as pd


Measure = Literal["mean score", "p by scores", "p by votes", "Elo by scores", "Elo by votes"]
MEASURES: tuple[Measure, ...] = ("mean score", "p by scores", "p by votes", "Elo by scores", "Elo by votes")
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

    sd, sd_low, sd_high, se, cv : means over models with two judges or more, t interval over models.
    spread : SD over models of the mean of judges; relative : sd/spread, in which no scale enters.
    reason : why there is none.
    """

    measure: Measure
    sd: float | None
    sd_low: float | None
    sd_high: float | None
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
    excess, excess_low, excess_high : SD of p by scores minus SD of p by votes, mean over models with a paired
    t interval; None unless shared, with two models or more.
    kendall, spearman : order of models by judges' mean p by scores against that by votes, the anchor among
    them, with bootstrap intervals over the n_ordered models.  None with fewer than three; intervals as
    `core.leaderboard.outside.rank_agreement`.
    """

    anchor: str
    rows: tuple[Dispersed, ...]
    measures: tuple[Spread, ...]
    shared: bool
    excess: float | None
    excess_low: float | None
    excess_high: float | None
    kendall: float | None
    kendall_low: float | None
    kendall_high: float | None
    spearman: float | None
    spearman_low: float | None
    spearman_high: float | None
    n_ordered: int
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a (measure, model)."""
        import pandas as pd

        names = [field.name for field in fields(Dispersed)]
        return pd.DataFrame([[getattr(row, name) for name in names] for row in self.rows], columns=names)


def measures_frame(found: Dispersion) -> pd.DataFrame:
    """One row a measure."""
    import pandas as pd

    names = [field.name for field in fields(Spread)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in found.measures], columns=names)


def dispersion(
    scores: ScoreBoards | None,
    votes: Mapping[str, Board],
    anchor: str,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1_000,
) -> Dispersion:
    """SD, SE and CV across judges of direct scores, their p by proportional odds, and p and Elo by votes.

    Where two judges have both scores and votes on a model, every measure uses only such (judge, model), so
    that none gains by leaving out hard ones. p by scores and p by votes are on one scale, so their SDs are
    compared directly; the share of SD in the spread of models (`relative`) compares all measures. An SD
    across judges holds the judges' sampling errors too: with few items a judge it shows little else.

    Parameters
    ----------
    scores : of every judge against `anchor`; None where there are no direct scores.
    votes : board of every judge against the same anchor; empty where there are no votes.
    rng : for the bootstrap over models of the two correlations.

    Source: methods §6; [RAEE] compares dispersion across judges. The common cells and the paired interval
    are ours. Judges are no random sample: the interval speaks of other models, not of other judges.
    """
    models, values = _cells(scores, votes)
    have = {name: ~np.isnan(cells) for name, cells in values.items()}
    both = have["p by scores"] & have["p by votes"]
    shared = bool((both.sum(axis=0) >= 2).any())
    used = {name: both if shared else known for name, known in have.items()}
    rows, measures = [], []
    for name in MEASURES:
        mean, sd = _mean_and_sd(values[name], used[name])
        n = used[name].sum(axis=0)
        for place in np.flatnonzero(n).tolist():
            rows.append(_dispersed(name, models[place], int(n[place]), mean[place], sd[place]))
        measures.append(_spread(name, mean, sd, used[name], scores, votes, level))
    compared: dict[str, float | None] = dict.fromkeys(("excess", "excess_low", "excess_high"))
    several = both.sum(axis=0) >= 2
    if shared:
        (_, by_scores), (_, by_votes) = (_mean_and_sd(values[m], both) for m in ("p by scores", "p by votes"))
        compared |= _over_models("excess", (by_scores - by_votes)[several], level)
    one, two = _ordered(values, used)
    n_ordered = len(one)
    compared |= rank_agreement(one, two, rng=rng, level=level, resamples=resamples)
    return Dispersion(
        anchor=anchor,
        rows=tuple(rows),
        measures=tuple(measures),
        shared=shared,
        n_ordered=n_ordered,
        level=level,
        **compared,
    )


def _cells(scores: ScoreBoards | None, votes: Mapping[str, Board]) -> tuple[list[str], dict[str, FloatArray]]:
    """Models, and every measure as (judges, models), NaN where there is none."""
    by_scores = {} if scores is None else scores.judges
    judges = sorted({*by_scores, *votes})
    named = {row.model for known in by_scores.values() for row in known.rows}
    models = sorted(named | {row.model for known in votes.values() for row in known.rows})
    values: dict[str, FloatArray] = {name: np.full((len(judges), len(models)), np.nan) for name in MEASURES}
    place = {name: code for code, name in enumerate(models)}
    for at, judge in enumerate(judges):
        for scored in by_scores[judge].rows if judge in by_scores else ():
            column = place[scored.model]
            values["mean score"][at, column] = scored.mean
            values["p by scores"][at, column] = scored.p
            values["Elo by scores"][at, column] = scored.elo
        for met in votes[judge].rows if judge in votes else ():
            values["p by votes"][at, place[met.model]] = met.p
            values["Elo by votes"][at, place[met.model]] = met.elo
    return models, values


def _mean_and_sd(values: FloatArray, used: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Of each column over its used rows; an SD over fewer than two is NaN, so is a mean over none."""
    n = used.sum(axis=0)
    mean = np.where(n > 0, np.where(used, values, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = np.where(used, (values - mean) ** 2, 0.0).sum(axis=0)
    return mean, np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)


def _dispersed(measure: Measure, model: str, n: int, mean: float, sd: float) -> Dispersed:
    known = n > 1
    return Dispersed(
        measure=measure,
        model=model,
        n_judges=n,
        mean=float(mean),
        sd=float(sd) if known else None,
        se=float(sd) / math.sqrt(n) if known else None,
        cv=float(sd) / abs(float(mean)) if known and _has_cv(measure) and mean else None,
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
    found: dict[str, float | None] = dict.fromkeys(("sd", "sd_low", "sd_high", "se", "cv", "relative"))
    reason = None
    if several.any():
        found |= _over_models("sd", sd[several], level)
        if found["sd_low"] is not None:
            found["sd_low"] = max(found["sd_low"], 0.0)
        found["se"] = float((sd[several] / np.sqrt(n[several])).mean())
        if _has_cv(measure) and (mean[several] != 0).all():
            found["cv"] = float((sd[several] / np.abs(mean[several])).mean())
    elif measure in BY_VOTES and not votes:
        reason = "no votes against this anchor."
    elif measure not in BY_VOTES and scores is None:
        reason = "no direct scores beside this anchor's."
    else:
        reason = "no model has two judges."
    known = mean[n > 0]
    spread = float(known.std(ddof=1)) if len(known) > 1 else None
    if found["sd"] is not None and spread:
        found["relative"] = found["sd"] / spread
    return Spread(
        measure=measure,
        **found,
        spread=spread,
        n_models=int(several.sum()),
        n_judges=int(used.any(axis=1).sum()),
        reason=reason,
    )


def _has_cv(measure: Measure) -> bool:
    """An SD in units of a mean needs a scale whose 0 means none; Elo's is the anchor."""
    return not measure.startswith("Elo")


def _over_models(name: str, values: FloatArray, level: float) -> dict[str, float | None]:
    """Mean with a t interval; no interval with fewer than two values."""
    from scipy.special import stdtrit

    mean, n = float(values.mean()), len(values)
    if n < 2:
        return {name: mean, f"{name}_low": None, f"{name}_high": None}
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(values.std(ddof=1)) / math.sqrt(n)
    return {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}


def _ordered(
    values: Mapping[str, FloatArray], used: Mapping[str, BoolArray]
) -> tuple[FloatArray, FloatArray]:
    """Mean of judges' p by scores and by votes on the models that have both, and on the anchor: a half."""
    (one, _), (two, _) = (_mean_and_sd(values[name], used[name]) for name in ("p by scores", "p by votes"))
    known = ~np.isnan(one) & ~np.isnan(two)
    if not known.any():
        return np.zeros(0), np.zeros(0)
    return np.append(one[known], 0.5), np.append(two[known], 0.5)
