"""Direct scores as a board: the chance that a model's score beats the anchor's, by judge and on
average.

Scores of models, each on a judge's own scale, become one shift per model by proportional odds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...errors import AppellateError, InvalidOption, NoUsableVotes
from ...extras import require
from ...records import BoolArray, DirectScores, FloatArray, IntArray
from ...stats.estimate import DataFrame, Estimate, Estimates, data_frame, rows_frame
from ...stats.intervals import check_level, t_quantile, t_quantiles
from .anchored import elo_of_p, pairs_of

MAX_LEVELS = 100
"""Scores with more distinct values are grouped into this many levels of like mass, equal scores
together.
"""
BOUND = 15.0
"""Without a prior a model whose scores are all at one end has no finite log odds; it stops here."""
MAX_STEPS = 200
GRADIENT_TOLERANCE = 1e-10


class NoMaximum(AppellateError):
    """The solver stopped before the likelihood was at its greatest, so there are no odds
    to report.
    """


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OddsFit:
    """logit P(score ≤ level k) = θ_k − β_model of one judge; a higher β is a better model.

    models : those that the judge scored, `beta` of each: natural-log odds, centred on 0.
    levels : (K,) scores used, ascending; with more than 100 the least of each group.
    thresholds : θ, (K − 1,), ascending.
    weight : (models, K), responses on each level, those of one item and model sharing a weight of
        1.
    prior_weight : (models, K), responses added to them.
    separated : models whose β stopped at a bound, which happens with `prior` 0 only.
    """

    models: tuple[str, ...]
    levels: tuple[float, ...]
    thresholds: FloatArray
    beta: FloatArray
    weight: FloatArray
    prior_weight: FloatArray
    separated: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """One row per model: its β and the fitted chance of each level."""
        frame = data_frame({"model": self.models, "beta": self.beta})
        chances = np.diff(below(self), axis=1)
        return frame.assign(**{f"{level:g}": chances[:, k] for k, level in enumerate(self.levels)})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Levels:
    """Rows of direct scores as (model, level) with a weight: the runs of one (item, model)
    share 1.
    """

    models: tuple[str, ...]
    levels: tuple[float, ...]
    item: IntArray
    model: IntArray
    level: IntArray
    weight: FloatArray

    @classmethod
    def of(cls, scores: DirectScores) -> Levels:
        """Number the models that were scored and the levels that were used."""
        used, model = np.unique(scores.model, return_inverse=True)
        values, level = np.unique(scores.score, return_inverse=True)
        response = scores.item * len(used) + model
        _, place, runs = np.unique(response, return_inverse=True, return_counts=True)
        if len(values) > MAX_LEVELS:
            # The place of a score among all, as mid-rank share, says which group it is in.
            times = np.bincount(level)
            middle = (np.cumsum(times) - times / 2) / len(level)
            group = np.unique((middle * MAX_LEVELS).astype(np.int64), return_inverse=True)[1]
            values, level = values[np.unique(group, return_index=True)[1]], group[level]
        return cls(
            models=tuple(scores.models[code] for code in used),
            levels=tuple(values.tolist()),
            item=scores.item,
            model=model.astype(np.int64),
            level=level.astype(np.int64),
            weight=1 / runs[place],
        )

    def table(self) -> FloatArray:
        """(models, K): weight on each level."""
        cell, size = self.model * len(self.levels) + self.level, len(self.models) * len(self.levels)
        total = np.bincount(cell, self.weight, minlength=size)
        return np.asarray(total, dtype=np.float64).reshape(len(self.models), -1)


def fit_odds(scores: DirectScores | Levels, *, prior: float = 1.0) -> OddsFit:
    """Fit logit P(Y ≤ k) = θ_k − β_model by maximum likelihood on the counts models × levels.

    Newton's method on the analytic gradient; the log likelihood is concave. The runs of one (item,
    model) share a weight of 1, so that weights count responses. Levels that nobody used have no
    threshold.

    prior : responses added to each model, spread over the levels as all models together (ours). It
        is for scores what
    the half win and half loss of the board are for votes: a model that got the top score every time
    keeps finite odds. 0 is plain maximum likelihood: such a model's β stops 15 away from the
    others' and is named in `separated`.

    Raises NoUsableVotes for fewer than two models or one and the same score for all, InvalidOption
    for a prior below 0.
    Source: docs/methods.md §6; McCullagh (1980).
    """
    if not (np.isfinite(prior) and prior >= 0):
        raise InvalidOption(f"prior = {prior:g}: a number of responses from 0 up; 1 is usual")
    rows = Levels.of(scores) if isinstance(scores, DirectScores) else scores
    if len(rows.models) < 2:
        raise NoUsableVotes("only one model was scored, so there is nothing to compare it with")
    if len(rows.levels) < 2:
        raise NoUsableVotes(
            f"every response got the same score, {rows.levels[0]:g}: models cannot be compared by "
            "it"
        )
    weight = rows.table()
    added = np.tile(prior * weight.sum(axis=0) / weight.sum(), (len(weight), 1))
    theta, beta, at_bound = _maximise(weight + added)
    middle = float(beta[~at_bound].mean())
    return OddsFit(
        models=rows.models,
        levels=rows.levels,
        thresholds=theta - middle,
        beta=beta - middle,
        weight=weight,
        prior_weight=added,
        separated=tuple(
            name for name, stuck in zip(rows.models, at_bound.tolist(), strict=True) if stuck
        ),
    )


def below(found: OddsFit) -> FloatArray:
    """P(score below level k) of each model, (models, K + 1): 0, σ(θ − β), 1."""
    from scipy.special import expit

    inner = expit(found.thresholds - found.beta[:, None])
    edge = np.ones((len(inner), 1))
    return np.concatenate([0 * edge, inner, edge], axis=1)


def chances(found: OddsFit, anchor: str) -> tuple[FloatArray, FloatArray]:
    """p = P(Y_model > Y_anchor) + ½P(Y_model = Y_anchor) and the influence of a response on it.

    p : (models,), ½ for the anchor.  influence : (models, K, models), how much one response of a
        model on a level moves
    each p, to first order: gradient of p times the inverse information times the score of that
    response.

    Source: docs/methods.md §6.
    """
    from scipy.special import expit

    models, k = found.weight.shape
    fixed = found.models.index(anchor)
    edges = below(found)
    share, middle = np.diff(edges, axis=1), (edges[:, 1:] + edges[:, :-1]) / 2
    p = share @ middle[fixed]

    # p = Σ_k P_k·½(G_k + G_k−1) for the model's P and the anchor's cumulative G.
    z = found.thresholds - found.beta[:, None]
    slope = expit(z) * expit(-z)
    by_own = slope * -np.diff(middle[fixed])
    by_anchor = slope[fixed] * (share[:, :-1] + share[:, 1:]) / 2
    gradient = np.zeros((models, k - 1 + models))
    gradient[:, : k - 1] = by_own + by_anchor
    gradient[np.arange(models), k - 1 + np.arange(models)] -= by_own.sum(axis=1)
    gradient[:, k - 1 + fixed] -= by_anchor.sum(axis=1)
    p[fixed], gradient[fixed] = 0.5, 0.0

    at_bound = np.isin(np.array(found.models, dtype=object), found.separated)
    moved = _solve(
        found.weight + found.prior_weight, found.thresholds, found.beta, gradient.T, at_bound
    )
    # Score of a response on level k: +(1 − F) at its upper threshold, −F at its lower one, and the
    # gap's.
    by_theta, step = np.zeros((models, k, k - 1)), np.arange(k - 1)
    by_theta[:, step, step] = 1 - edges[:, 1:-1]
    by_theta[:, step + 1, step] -= edges[:, 1:-1]
    by_beta = -by_theta.sum(axis=2)
    steep, inner = 1 / np.expm1(np.diff(found.thresholds)), np.arange(1, k - 1)
    by_theta[:, inner, inner] += steep
    by_theta[:, inner, inner - 1] -= steep
    influence = np.einsum("mkj,jt->mkt", by_theta, moved[: k - 1])
    influence += by_beta[:, :, None] * moved[k - 1 :][:, None, :]
    return p, influence


def _maximise(n: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """θ, β of greatest likelihood, β 0 for the model that spreads most, and which β stopped at a
    bound.
    """
    level = np.cumsum(n.sum(axis=0)) / n.sum()
    theta = np.log(level[:-1] / (1 - level[:-1]))
    beta = np.zeros(len(n))
    reference = int((n * (1 - n / n.sum(axis=1, keepdims=True))).sum(axis=1).argmax())
    value = _log_likelihood(n, theta, beta)
    for _ in range(MAX_STEPS):
        slope = _gradient(n, theta, beta)
        by_theta, by_beta = slope[: len(theta)], slope[len(theta) :]
        at_bound = (np.abs(beta) >= BOUND) & (by_beta * beta >= 0)
        fixed = at_bound | (np.arange(len(n)) == reference)
        by_beta = np.where(fixed, 0.0, by_beta)
        if max(np.abs(by_theta).max(), np.abs(by_beta).max()) <= GRADIENT_TOLERANCE * n.sum():
            return theta, beta, at_bound
        step = _solve(n, theta, beta, np.concatenate([by_theta, by_beta])[:, None], fixed)[:, 0]
        step *= min(1.0, 5.0 / np.abs(step).max())
        for halving in range(60):
            there = theta + step[: len(theta)] / 2**halving
            shifted = np.clip(beta + step[len(theta) :] / 2**halving, -BOUND, BOUND)
            # At the top rounding hides whether a step rises; there Newton's own step is right.
            if (np.diff(there) > 0).all() and (better := _log_likelihood(n, there, shifted)) >= (
                value - 1e-13 * abs(value)
            ):
                break
        else:
            break
        theta, beta, value = there, shifted, better
    raise NoMaximum("the proportional-odds fit did not converge; score more responses")


def _log_likelihood(n: FloatArray, theta: FloatArray, beta: FloatArray) -> float:
    """Σ n·ln P. With σ(a) − σ(b) = σ(a)·σ(−b)·(1 − e^(b − a)) no difference of near numbers is
    taken.
    """
    from scipy.special import log_expit

    z = theta - beta[:, None]
    gap = n[:, 1:-1].sum(axis=0) @ np.log(-np.expm1(-np.diff(theta)))
    return float((n[:, :-1] * log_expit(z) + n[:, 1:] * log_expit(-z)).sum() + gap)


def _gradient(n: FloatArray, theta: FloatArray, beta: FloatArray) -> FloatArray:
    from scipy.special import expit

    z = theta - beta[:, None]
    by_z = n[:, :-1] * expit(-z) - n[:, 1:] * expit(z)
    by_theta = by_z.sum(axis=0)
    steep = n[:, 1:-1].sum(axis=0) / np.expm1(np.diff(theta))
    by_theta[1:] += steep
    by_theta[:-1] -= steep
    return np.concatenate([by_theta, -by_z.sum(axis=1)])


def _solve(
    n: FloatArray, theta: FloatArray, beta: FloatArray, right: FloatArray, fixed: BoolArray
) -> FloatArray:
    """Information⁻¹ · right, (K − 1 + models, columns); β where `fixed` do not move.

    The information is diagonal in β, so only a matrix of thresholds is left to solve. With no β
    fixed it is singular along the shift of all θ and β; a shift moves no p, so any solution will
    do.
    """
    from scipy.special import expit

    z = theta - beta[:, None]
    v = (n[:, :-1] + n[:, 1:]) * expit(z) * expit(-z)
    k = len(theta)
    information = np.diag(v.sum(axis=0))
    # e^g/(e^g − 1)², written so that a wide gap does not overflow.
    gap, low = np.diff(theta), np.arange(k - 1)
    c = n[:, 1:-1].sum(axis=0) * np.exp(-gap) / np.expm1(-gap) ** 2
    information[low, low] += c
    information[low + 1, low + 1] += c
    information[low, low + 1] -= c
    information[low + 1, low] -= c
    free = ~fixed
    if free.all():
        free = np.arange(len(n)) != int(n.sum(axis=1).argmax())
    by_theta, by_beta, v = right[:k], right[k:][free], v[free]
    own = v.sum(axis=1)
    moved = np.zeros_like(right)
    moved[:k] = np.linalg.solve(information - (v.T / own) @ v, by_theta + (v.T / own) @ by_beta)
    moved[k:][free] = (by_beta + v @ moved[:k]) / own[:, None]
    return moved


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreRow:
    """One model against the anchor, by direct scores.

    n : items on which it was scored.  n_judges : judges behind it.
    mean : mean score, of items first, then of judges.
    p : P(Y > Y_anchor) + ½P(Y = Y_anchor); with several judges the mean of theirs.
    elo : points that p stands for, 400 per factor of ten in odds.
    No interval with fewer than two items.
    """

    model: str
    n: int
    n_judges: int
    mean: float
    p: Estimate
    se_p: float | None
    elo: Estimate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreBoard:
    """Models in order of p, the anchor left out.

    judges : that scored the anchor and another model.
    lead : p of the first minus p of the second, with its interval at 1 - (1 - level)/(M(M - 1)/2)
        for M
    models, any two of which might have been first; None where there is no second.
    """

    anchor: str
    anchor_mean: float
    judges: tuple[str, ...]
    rows: tuple[ScoreRow, ...]
    lead: Estimate | None
    n_items: int
    level: float

    def to_frame(self) -> DataFrame:
        """One row per model."""
        return rows_frame(ScoreRow, self.rows)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreBoards:
    """The mean of judges, the board of each, and why a judge has none."""

    mean: ScoreBoard
    judges: dict[str, ScoreBoard]
    left_out: dict[str, str]

    def to_frame(self) -> DataFrame:
        """One row per (judge, model), the mean of judges first, with no judge."""
        require("pandas", purpose="A data frame")
        import pandas as pd

        named = [("", self.mean), *self.judges.items()]
        return pd.concat(
            [known.to_frame().assign(judge=name) for name, known in named], ignore_index=True
        )


def scored_anchors(judged: Mapping[str, DirectScores]) -> tuple[str, ...]:
    """Models that some judge scored beside another one; by number of responses, then name."""
    responses: Counter[str] = Counter()
    for scores in judged.values():
        code, rows = np.unique(scores.model, return_counts=True)
        if len(code) > 1:
            responses.update(
                {scores.models[i]: n for i, n in zip(code, rows.tolist(), strict=True)}
            )
    return tuple(sorted(responses, key=lambda name: (-responses[name], name)))


def score_boards(
    judged: Mapping[str, DirectScores], anchor: str, *, prior: float = 1.0, level: float = 0.95
) -> ScoreBoards:
    """Fit proportional odds to every judge's scores, and rank models by the chance to score above
    the anchor.

    p = P(Y_model > Y_anchor) + ½P(Y_model = Y_anchor) for two responses drawn from the fitted
    distributions: how often the model's score beats the anchor's, a tie being half a win, whatever
    the judge's scale is. The mean of judges weighs all alike that scored both the anchor and the
    model.

    Interval (ours): logit p ± t·SE/(p(1 − p)), t with one degree of freedom less than the items of
    the rarer of the two. SE² = G/(G − 1)·Σ_items(sum of pulls)² + Σ over prior responses of
    weight·pull², where a pull is what one response moves p by
    (`chances`). Items are the independent unit, so all models' and judges'
    scores of one item are summed before they are squared.

    Parameters
    ----------
    judged : scores of each judge, of one selection, which share the codes of items and models.
    prior : responses added to each model of a judge, as `core.questions.boards.score_board.fit`.

    Raises NoUsableVotes if no judge scored the anchor and another model, or gave two different
    scores.
    Source: docs/methods.md §6; sandwich variance clustered by item, Liang & Zeger (1986).
    """
    check_level(level)
    left_out: dict[str, str] = {}
    parts: dict[str, _Part] = {}
    for name, scores in judged.items():
        rows = Levels.of(scores)
        if anchor not in rows.models:
            left_out[name] = f"did not score {anchor}."
            continue
        try:
            parts[name] = _Part.of(rows, fit_odds(rows, prior=prior), anchor, scores.score)
        except NoUsableVotes as error:
            left_out[name] = f"{error}."
    if not parts:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise NoUsableVotes(f"no judge compares a model with {anchor} by direct scores. {reasons}")
    return ScoreBoards(
        mean=_board(parts, anchor, level),
        judges={name: _board({name: part}, anchor, level) for name, part in parts.items()},
        left_out=left_out,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Part:
    """What a board needs of one judge.

    items : (G,) codes.  influence : (G, models), how far each item moves each p.
    of_prior : (cells, models), of prior responses, each times the root of its weight.
    mean : (models,) mean score over items.  scored : (models, G), whether the item was scored.
    """

    fit: OddsFit
    p: FloatArray
    items: IntArray
    influence: FloatArray
    of_prior: FloatArray
    mean: FloatArray
    scored: BoolArray

    @classmethod
    def of(cls, rows: Levels, found: OddsFit, anchor: str, score: FloatArray) -> _Part:
        from scipy.sparse import csr_array

        p, influence = chances(found, anchor)
        models, k = found.weight.shape
        cells = influence.reshape(models * k, models)
        items, item = np.unique(rows.item, return_inverse=True)
        spread = csr_array(
            (rows.weight, (item, rows.model * k + rows.level)), (len(items), models * k)
        )
        scored = csr_array((rows.weight, (rows.model, item)), (models, len(items))).toarray()
        total = np.bincount(rows.model, rows.weight * score, minlength=models)
        return cls(
            fit=found,
            p=p,
            items=items,
            influence=spread @ cells,
            of_prior=np.sqrt(found.prior_weight.reshape(-1, 1)) * cells,
            mean=total / scored.sum(axis=1),
            scored=scored > 0.5,
        )


def _board(parts: Mapping[str, _Part], anchor: str, level: float) -> ScoreBoard:
    from scipy.special import expit

    names = sorted({name for part in parts.values() for name in part.fit.models})
    place = {name: code for code, name in enumerate(names)}
    items = np.unique(np.concatenate([part.items for part in parts.values()]))
    of_part = [np.array([place[name] for name in part.fit.models]) for part in parts.values()]
    judges = np.bincount(np.concatenate(of_part), minlength=len(names))
    p, mean = np.zeros((2, len(names)))
    by_item = np.zeros((len(items), len(names)))
    of_prior = []
    scored = np.zeros((len(names), len(items)), dtype=bool)
    for part, columns in zip(parts.values(), of_part, strict=True):
        at = np.searchsorted(items, part.items)
        p[columns] += part.p / judges[columns]
        mean[columns] += part.mean / judges[columns]
        by_item[np.ix_(at, columns)] += part.influence / judges[columns]
        added = np.zeros((len(part.of_prior), len(names)))
        added[:, columns] = part.of_prior / judges[columns]
        of_prior.append(added)
        scored[np.ix_(columns, at)] |= part.scored
    n = scored.sum(axis=1)
    fixed = place[anchor]
    by_prior = np.concatenate(of_prior)
    se = _error(by_item, by_prior)
    fewest = np.minimum(n, n[fixed])
    logit, half = (
        np.log(p) - np.log1p(-p),
        t_quantiles(np.maximum(fewest - 1, 1), level) * se / (p * (1 - p)),
    )
    low, high = (np.where(fewest > 1, expit(logit + side), np.nan) for side in (-half, half))
    chance = Estimates(p, low, high, n, level)
    elo = Estimates(elo_of_p(p), elo_of_p(low), elo_of_p(high), n, level)
    ranked = sorted(
        (code for code in place.values() if code != fixed),
        key=lambda c: (-p[c].round(12), names[c]),
    )
    rows = tuple(
        ScoreRow(
            model=names[code],
            n=int(n[code]),
            n_judges=int(judges[code]),
            mean=float(mean[code]),
            p=chance[code],
            se_p=float(se[code]) if fewest[code] > 1 else None,
            elo=elo[code],
        )
        for code in ranked
    )
    lead = None
    if len(ranked) > 1:
        one, two = ranked[:2]
        ahead, both = float(p[one] - p[two]), min(fewest[one], fewest[two])
        off, sure = np.nan, 1 - (1 - level) / pairs_of(len(ranked))
        if both > 1:
            error = _error(by_item[:, one] - by_item[:, two], by_prior[:, one] - by_prior[:, two])
            off = float(t_quantile(both - 1, sure) * error)
        lead = Estimate(ahead, ahead - off, ahead + off, n=int(min(n[one], n[two])), level=sure)
    return ScoreBoard(
        anchor=anchor,
        anchor_mean=float(mean[fixed]),
        judges=tuple(parts),
        rows=rows,
        lead=lead,
        n_items=len(items),
        level=level,
    )


def _error(by_item: FloatArray, by_prior: FloatArray) -> FloatArray:
    """SE from the influences of the items and of the prior responses."""
    groups = len(by_item)
    inflation = groups / (groups - 1) if groups > 1 else np.nan
    return np.asarray(np.sqrt(inflation * (by_item**2).sum(axis=0) + (by_prior**2).sum(axis=0)))
