"""Direct scores as a board: the chance that a model's score beats the anchor's, by judge and on average."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NoUsableVotes
from ..records import BoolArray, DirectScores, FloatArray, IntArray
from ..stats.estimate import Estimate, Estimates, rows_frame
from ..stats.intervals import check_level
from .anchored import elo_of_p
from .proportional_odds import Levels, OddsFit, chances, fit

if TYPE_CHECKING:
    import pandas as pd


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
    lead : p of the first minus p of the second, with its interval; None where there is no second.
    """

    anchor: str
    anchor_mean: float
    judges: tuple[str, ...]
    rows: tuple[ScoreRow, ...]
    lead: Estimate | None
    n_items: int
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row per model."""
        return rows_frame(ScoreRow, self.rows)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreBoards:
    """The mean of judges, the board of each, and why a judge has none."""

    mean: ScoreBoard
    judges: dict[str, ScoreBoard]
    fits: dict[str, OddsFit]
    left_out: dict[str, str]

    def to_frame(self) -> pd.DataFrame:
        """One row per (judge, model), the mean of judges first, with no judge."""
        import pandas as pd

        named = [("", self.mean), *self.judges.items()]
        return pd.concat([known.to_frame().assign(judge=name) for name, known in named], ignore_index=True)


def scored_anchors(judged: Mapping[str, DirectScores]) -> tuple[str, ...]:
    """Models that some judge scored beside another one; by number of responses, then name."""
    responses: dict[str, int] = {}
    for scores in judged.values():
        code, rows = np.unique(scores.model, return_counts=True)
        if len(code) > 1:
            for name, n in zip((scores.models[i] for i in code), rows.tolist(), strict=True):
                responses[name] = responses.get(name, 0) + n
    return tuple(sorted(responses, key=lambda name: (-responses[name], name)))


def score_boards(
    judged: Mapping[str, DirectScores], anchor: str, *, prior: float = 1.0, level: float = 0.95
) -> ScoreBoards:
    """Fit proportional odds to every judge's scores, and rank models by the chance to score above the anchor.

    p = P(Y_model > Y_anchor) + ½P(Y_model = Y_anchor) for two responses drawn from the fitted distributions:
    how often the model's score beats the anchor's, a tie being half a win, whatever the judge's scale is.
    The mean of judges weighs all alike that scored both the anchor and the model.

    Interval (ours): logit p ± t·SE/(p(1 − p)), t with one degree of freedom less than the items of the rarer
    of the two. SE² = G/(G − 1)·Σ_items(sum of pulls)² + Σ over prior responses of weight·pull², where a pull
    is what one response moves p by (`core.leaderboard.score_board.chances`). Items are the independent
    unit, so all models' and judges' scores of one item are summed before they are squared.

    Parameters
    ----------
    judged : scores of each judge, of one selection, which share the codes of items and models.
    anchor : model to compare with.
    prior : responses added to each model of a judge, as `core.leaderboard.proportional_odds.fit`.

    Raises
    ------
    NoUsableVotes : no judge scored the anchor and another model, or gave two different scores.

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
            parts[name] = _Part.of(rows, fit(rows, prior=prior), anchor, scores.score)
        except NoUsableVotes as error:
            left_out[name] = f"{error}."
    if not parts:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise NoUsableVotes(f"no judge compares a model with {anchor} by direct scores. {reasons}")
    return ScoreBoards(
        mean=_board(parts, anchor, level),
        judges={name: _board({name: part}, anchor, level) for name, part in parts.items()},
        fits={name: part.fit for name, part in parts.items()},
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
        spread = csr_array((rows.weight, (item, rows.model * k + rows.level)), (len(items), models * k))
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
    from scipy.special import expit, stdtrit

    names = sorted({name for part in parts.values() for name in part.fit.models})
    place = {name: code for code, name in enumerate(names)}
    items = np.unique(np.concatenate([part.items for part in parts.values()]))
    judges = np.zeros(len(names))
    for part in parts.values():
        judges[[place[name] for name in part.fit.models]] += 1
    p, mean = np.zeros((2, len(names)))
    by_item = np.zeros((len(items), len(names)))
    of_prior = []
    scored = np.zeros((len(names), len(items)), dtype=bool)
    for part in parts.values():
        columns = np.array([place[name] for name in part.fit.models])
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
    t = stdtrit(np.maximum(fewest - 1, 1), (1 + level) / 2)
    logit, half = np.log(p) - np.log1p(-p), t * se / (p * (1 - p))
    low, high = (np.where(fewest > 1, expit(logit + side), np.nan) for side in (-half, half))
    chance = Estimates(p, low, high, n, level)
    elo = Estimates(elo_of_p(p), elo_of_p(low), elo_of_p(high), n, level)
    ranked = sorted(
        (code for code in place.values() if code != fixed), key=lambda c: (-p[c].round(12), names[c])
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
        ahead = float(p[one] - p[two])
        known = min(fewest[one], fewest[two]) > 1
        off = (
            float(
                max(t[one], t[two])
                * _error(by_item[:, one] - by_item[:, two], by_prior[:, one] - by_prior[:, two])
            )
            if known
            else np.nan
        )
        lead = Estimate(ahead, ahead - off, ahead + off, n=int(min(n[one], n[two])), level=level)
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
