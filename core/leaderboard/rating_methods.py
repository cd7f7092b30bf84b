"""Bradley–Terry strengths by a maintained library, and the result that every rating algorithm shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..errors import NoUsableVotes, UnknownName
from ..records import BoolArray, FloatArray, PairScores
from ..stats.estimate import Estimate, Estimates, flat
from ..stats.intervals import check_level
from .anchored import ELO_PER_NAT

if TYPE_CHECKING:
    import pandas as pd


class DidNotConverge(NoUsableVotes):
    """Bradley–Terry strengths that the solver could not settle."""


class Result(Protocol):
    """What every algorithm returns, `anchored.Board` too."""

    def elos(self) -> dict[str, Estimate]:
        """Elo over the anchor of each model that has one, best first; n counts prompts or games."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ratings:
    """Rating of every model of a selection by one method, best first, those without a number last, by name.

    elo : points over the anchor, which is 0; NaN where `reason` says why there is no number. Its n counts
        games of the model, a prompt of one pair being one game. Interval: Bradley–Terry's is clustered by
        prompt; the others have the method's own posterior.
    order_sd : SD of the Elo over `orders` random orders of the prompts; 0 where order does not matter.
    games : of the selection; `games_an_order` of them were played in each order.
    """

    method: str
    anchor: str
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

    def to_frame(self) -> pd.DataFrame:
        """One row per model."""
        import pandas as pd

        columns = ["model", "elo", "elo_low", "elo_high", "n", "order_sd", "reason", "method"]
        return pd.DataFrame({"model": self.models, "n": self.elo.n} | flat(self))[columns]


def bradley_terry(pairs: PairScores, anchor: str, *, level: float = 0.95) -> Ratings:
    """Maximum-likelihood Bradley–Terry strengths by evalica from all pairs, not only those with the anchor.

    P(i beats j) = sᵢ/(sᵢ + sⱼ); a prompt is one game with score S for i and 1 - S for j, so a tie is half a
    win. Elo = (400/ln 10)·ln(sᵢ/s_anchor).

    Interval (ours): sandwich H⁻¹·Σ_g u_g·u_gᵀ·H⁻¹·G/(G - 1) over G prompts, u_g the gradient of one prompt,
    H the Hessian with the anchor fixed at 0; NaN with fewer than two prompts. A variance is at least
    h²/(4 + h), h the model's entry of H⁻¹: a model with one prompt or only ties fits without a rest and
    would be known exactly. It is the least that a corrected board row can have, but for the prior.

    Finite strengths exist only among models that won and lost, directly or through others, against each
    other (Ford's condition); those beyond get no number and the reason. That is the limit of the likelihood,
    not an approximation.

    Raises
    ------
    UnknownName : the anchor is no model.  NoUsableVotes : it met nobody.  DidNotConverge : no fit.

    Source: docs/methods.md §6; Bradley & Terry (1952); Ford (1957).
    """
    check_level(level)
    from scipy.sparse.csgraph import connected_components
    from scipy.special import ndtri

    code = anchor_code(pairs, anchor)
    wins = win_matrix(pairs)
    _, part = connected_components(wins > 0, directed=True, connection="strong")
    rated = part == part[code]
    strength = _log_strength(wins, rated)
    elo = ELO_PER_NAT * (strength - strength[code])
    half = float(ndtri((1 + level) / 2)) * ELO_PER_NAT * _clustered_error(pairs, strength, code)
    half[code] = 0.0
    found = Estimates(elo, elo - half, elo + half, level=level)
    return in_rank_order(pairs, "bradley_terry", anchor, found, _beyond(wins, code, rated))


def met(pairs: PairScores, anchor: str) -> bool:
    """Whether some other model has votes against the anchor."""
    if anchor not in pairs.models:
        return False
    code = pairs.models.index(anchor)
    return bool(((pairs.model_1 == code) | (pairs.model_2 == code)).any())


def anchor_code(pairs: PairScores, anchor: str) -> int:
    """Place of an anchor that met somebody."""
    if anchor not in pairs.models:
        raise UnknownName(
            f"anchor {anchor!r} is no model of this selection; there are: {', '.join(pairs.models)}"
        )
    if not met(pairs, anchor):
        raise NoUsableVotes(f"anchor {anchor!r} met no other model in this selection")
    return pairs.models.index(anchor)


def win_matrix(pairs: PairScores) -> FloatArray:
    """(models, models) wins of the row's model over the column's, a tie being half a win."""
    size = len(pairs.models)
    wins = np.zeros((size, size))
    np.add.at(wins, (pairs.model_1, pairs.model_2), pairs.score)
    np.add.at(wins, (pairs.model_2, pairs.model_1), 1 - pairs.score)
    return wins


def _log_strength(wins: FloatArray, rated: BoolArray) -> FloatArray:
    """Natural-log strengths of the rated models, NaN for others."""
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
    scores = fitted.scores.sort_index().to_numpy(dtype=np.float64)
    strength[known] = np.log(scores)
    total = inner + inner.T
    expected = (total / (1 + np.exp(strength[known][None, :] - strength[known][:, None]))).sum(axis=1)
    if not np.allclose(expected, inner.sum(axis=1), rtol=1e-7, atol=1e-7):
        raise DidNotConverge(
            "Bradley–Terry did not converge on this selection: some models are all but unbeaten; use the "
            "anchored board"
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

    def reached(graph: FloatArray) -> set[int]:
        return set(breadth_first_order(graph > 0, code, return_predecessors=False).tolist())

    joined, below, above = reached(wins + wins.T), reached(wins), reached(wins.T)
    return [
        ""
        if rated[model]
        else "never met the anchor, directly or through others"
        if model not in joined
        else "below any number: never won or tied, directly or through others, against a rated model"
        if model in below
        else "above any number: never lost or tied, directly or through others, against a rated model"
        if model in above
        else "its games do not tie it to the anchor: one of the two always won, or always lost"
        for model in range(len(wins))
    ]


def in_rank_order(
    pairs: PairScores,
    method: str,
    anchor: str,
    elo: Estimates,
    reason: list[str],
    *,
    order_sd: FloatArray | None = None,
    orders: int = 1,
    games_an_order: int | None = None,
) -> Ratings:
    """Ratings of `pairs.models`, best first; those without a number, which have a reason, last."""
    unknown = np.isnan(elo.value)
    sd = np.zeros(len(elo)) if order_sd is None else order_sd
    # Equal ratings stand in order of name, whatever the rounding.
    place = np.where(unknown, np.inf, -np.round(elo.value, 9)).tolist()
    order = sorted(range(len(elo)), key=lambda m: (place[m], pairs.models[m]))
    low, high, sd = (np.where(unknown, np.nan, x)[order] for x in (elo.low, elo.high, sd))
    n = np.bincount(np.concatenate([pairs.model_1, pairs.model_2]), minlength=len(elo)).astype(np.int64)
    return Ratings(
        method=method,
        anchor=anchor,
        models=tuple(pairs.models[m] for m in order),
        elo=Estimates(elo.value[order], low, high, n[order], elo.level),
        reason=tuple(reason[m] for m in order),
        order_sd=sd,
        orders=orders,
        games=len(pairs),
        games_an_order=len(pairs) if games_an_order is None else games_an_order,
    )
