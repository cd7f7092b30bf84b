"""Does a judge follow people within the answers of one model, or only from model to model?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...finding.result import Result
from ...records import FloatArray, IntArray
from ...stats.estimate import Estimate, OneRow
from ...stats.intervals import check_level
from ...stats.jackknife import ROUNDING
from .agreement import NO_ORDER, NOBODY, fisher_jackknife
from .drift import drift
from .table import ScoreTable

LEAST_ANSWERS = 10
"""Answers that a model must have, scored by the judge and by people, to count."""
LEAST_MODELS = 3
"""Models whose means have a correlation: that of two is 1 or −1."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ByModel(OneRow):
    """Pearson r of judge and people within models and between them; None where `unknown` says why.

    within : of the answers' distances from their models' means.  between : of the models' means.
    models : models with at least 10 answers.  n : their answers.
    """

    within: Estimate | None
    between: Estimate | None
    models: int
    n: int
    unknown: dict[str, str] = field(default_factory=dict)


def by_model(table: ScoreTable, model: IntArray | None, *, level: float = 0.95) -> ByModel:
    """r of all answers, taken apart: a judge can rank models and tell no two answers of one apart.

    With j the judge's mean over runs and h the mean over people, and for model g of n answers
    W_jh = Σ(j − j̄_g)(h − h̄_g): within r = ΣW_jh/√(ΣW_jj·ΣW_hh) over models; between is r of the
    pairs (j̄_g, h̄_g), each model once. Both have an interval on Fisher's scale by leaving units out
    (as `score_agreement`): that of `between` is for these models, not for others.

    model : (n,) who wrote each answer, −1 for nobody; None where no answer says it.

    Raises InvalidOption for a level outside (0, 1).
    Source: ours, docs/methods.md §11; Robinson (1950) for the two correlations.
    """
    check_level(level)
    scored = ~np.isnan(table.judge) & (table.persons > 0)
    kept, codes = scored & False, np.zeros(0, dtype=np.int64)
    if model is not None:
        each = np.bincount(model[scored & (model >= 0)], minlength=1)
        kept = scored & (model >= 0)
        kept[kept] = each[model[kept]] >= LEAST_ANSWERS
        codes = np.unique(model[kept], return_inverse=True)[1].reshape(-1)
    models = int(codes.max()) + 1 if len(codes) else 0
    reason = NO_ORDER if table.kind == "labels" else None if scored.any() else NOBODY
    if reason is None and models < 2:
        reason = f"it needs two models with {LEAST_ANSWERS} answers that people scored"
    unknown = dict.fromkeys(("within", "between"), reason) if reason else {}
    within = between = None
    if reason is None:
        known = table.rows(np.flatnonzero(kept))
        unit, units = known.unit_codes()
        of_units = _left_out(known.judge, known.reference, codes, unit, units)
        within = _shown(of_units[0], level)
        between = None if models < LEAST_MODELS else _shown(of_units[1], level)
        flat = "one side says the same of all answers of a model"
        few = f"it needs {LEAST_MODELS} models, and there are {models}"
        unknown |= {} if within else {"within": flat}
        unknown |= {} if between else {"between": few if models < LEAST_MODELS else flat}
    return ByModel(
        within=within,
        between=between,
        models=models,
        n=int(kept.sum()),
        unknown={name: str(why) for name, why in unknown.items()},
    )


def _shown(values: FloatArray, level: float) -> Estimate | None:
    return None if np.isnan(values[0]) else fisher_jackknife(values, level=level)


def _left_out(
    judge: FloatArray, people: FloatArray, model: IntArray, unit: IntArray, units: int
) -> tuple[FloatArray, FloatArray]:
    """r within and between, of all units and then without each, (1 + units,) each.

    Without a unit only the models change that it has answers of, so that what each cell of unit and
    model takes along is summed.
    """
    x, y = judge - judge.mean(), people - people.mean()
    columns = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    models = int(model.max()) + 1
    cell, place = np.unique(unit * models + model, return_inverse=True)
    of_cell, of_model = (
        np.array([np.bincount(code, column) for column in columns], dtype=np.float64)
        for code in (place.reshape(-1), model)
    )
    whole = _parts(of_model)
    without = _parts(of_model[:, cell % models] - of_cell)
    lost = whole[:, cell % models] - without
    sums = np.array(
        [
            np.append(total, total - np.bincount(cell // models, part, minlength=units))
            for total, part in zip(whole.sum(axis=1), lost, strict=True)
        ]
    )
    s_xx, s_yy, s_xy, n, m_x, m_y, m_xx, m_yy, m_xy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        between = m_xx - m_x**2 / n, m_yy - m_y**2 / n, m_xy - m_x * m_y / n
    return _correlation(s_xx, s_yy, s_xy), _correlation(*between)


def _parts(sums: FloatArray) -> FloatArray:
    """(9, k) of k models: W of both, of each; 1 if it has an answer; its means and their products.

    sums : (6, k) n, Σx, Σy, Σx², Σy², Σxy.
    """
    n, s_x, s_y, s_xx, s_yy, s_xy = sums
    known = n > 0.5
    count = np.where(known, n, 1.0)
    m_x, m_y = np.where(known, s_x / count, 0.0), np.where(known, s_y / count, 0.0)
    inside = s_xx - count * m_x**2, s_yy - count * m_y**2, s_xy - count * m_x * m_y
    parts: FloatArray = np.stack(
        [
            *(np.where(known, part, 0.0) for part in inside),
            *(known.astype(np.float64), m_x, m_y, m_x**2, m_y**2, m_x * m_y),
        ]
    )
    return parts


def _correlation(xx: FloatArray, yy: FloatArray, xy: FloatArray) -> FloatArray:
    """r of sums of squares, NaN where rounding alone is left of one."""
    real = (xx > ROUNDING * max(xx[0], 1.0)) & (yy > ROUNDING * max(yy[0], 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)
    values: FloatArray = np.where(real, r, np.nan)
    return values


FAVOURS = Result(
    "favours",
    lambda evidence: (
        drift(
            evidence.table,
            group=evidence.scores.model,
            names=evidence.scores.models,
            level=evidence.level,
        )
        if evidence.scores.model is not None and len(evidence.scores.models) > 1
        else None
    ),
)
"""Leniency to the answers of each model less that to the others'; None without models."""

BY_MODEL = Result(
    "by_model",
    lambda evidence: by_model(evidence.table, evidence.scores.model, level=evidence.level),
)
"""r of judge and people within models and between them."""
