"""Anchor swap: does the leaderboard depend on which model is the anchor, and do three models' gaps
add up?
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidOption, UnknownName
from ...records import BoolArray, FloatArray, IntArray, PairScores
from ...stats.estimate import DataFrame, data_frame, flat, rows_frame
from ...stats.intervals import check_level
from .anchored import ELO_PER_NAT, Board, Prior, dispersion_factor, elo_of_p, win_probability

CHUNK_CELLS = 4_000_000
"""Triangles are worked on in chunks of this many (triangle, prompt) cells, to bound memory."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SwapRow:
    """Two anchors' boards compared on the systems that are on both, the two anchors left out.

    models : those systems; shifts : their Elo on the board of anchor_2 minus that of anchor_1,
        centred by the mean.
    kendall_tau : τ_b of the two orders, None with fewer than two systems or if one board ties them
        all.
    mean_abs_centred_shift : Elo points, None without a common system.  mean_shift : what was taken
        off.
    """

    anchor_1: str
    anchor_2: str
    models: tuple[str, ...]
    shifts: FloatArray
    mean_shift: float | None
    kendall_tau: float | None
    mean_abs_centred_shift: float | None

    @property
    def reason(self) -> str | None:
        """What is undefined and why; None if nothing is."""
        if self.mean_abs_centred_shift is None:
            return "no Kendall τ and no shift, because no third model is on both boards."
        if self.kendall_tau is not None:
            return None
        if len(self.models) > 1:
            return "no Kendall τ, because one board ties them all."
        return "no Kendall τ, because only one third model is on both boards."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnchorSwap:
    """Every pair of anchors once, in the order given."""

    rows: tuple[SwapRow, ...]

    def to_frame(self) -> DataFrame:
        """One row per pair of anchors; `models` is their number."""
        frame = rows_frame(SwapRow, self.rows).drop(columns="shifts")
        return frame.assign(models=frame["models"].map(len))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Triangles:
    """Additivity of Elo gaps round every triple that met in all three pairings, one row per triple
    (a, b, c).

    gap_ab, gap_bc, gap_ca : Elo of the first against the second, from all prompts of the pair.
    residual : gap_ab + gap_bc + gap_ca, 0 when the gaps add up, positive round a circle a > b > c >
        a.
    n : prompts common to the three pairs.  residual_common, z : of those prompts alone, NaN with
        fewer than two or
        without variance.  p_value : of the cautious test, two-sided.  p_holm : adjusted for the
            number of triples.
    broken : p_holm < 1 - level.
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    c: tuple[str, ...]
    gap_ab: FloatArray
    gap_bc: FloatArray
    gap_ca: FloatArray
    residual: FloatArray
    n: IntArray
    residual_common: FloatArray
    z: FloatArray
    p_value: FloatArray
    p_holm: FloatArray
    broken: BoolArray

    def __len__(self) -> int:
        return len(self.a)

    @property
    def tested(self) -> BoolArray:
        """Which triangles could be tested."""
        return ~np.isnan(self.z)

    def to_frame(self) -> DataFrame:
        """One row per triangle."""
        return data_frame(flat(self))


def anchors(pairs: PairScores, *, minimum: int = 3) -> tuple[str, ...]:
    """Models that met at least `minimum` others, most opponents first, then by name.

    Source: docs/methods.md §6 (three is the default of an audit without `--anchor`).
    """
    if minimum < 1:
        raise InvalidOption(f"minimum = {minimum}: needs at least 1")
    size = len(pairs.models)
    met = np.divmod(np.unique(pairs.model_1 * size + pairs.model_2), max(size, 1))
    opponents = np.bincount(np.concatenate(met), minlength=size)
    enough = np.flatnonzero(opponents >= minimum).tolist()
    return tuple(
        pairs.models[m] for m in sorted(enough, key=lambda m: (-opponents[m], pairs.models[m]))
    )


def anchor_swap(
    pairs: PairScores,
    anchors: tuple[str, ...],
    *,
    prior: Prior = "jeffreys",
    boards: Mapping[str, Board] | None = None,
    beside: str | None = None,
) -> AnchorSwap:
    """Compare the boards of every two anchors.

    shift_m = Elo₂(m) - Elo₁(m) over systems m on both boards, both anchors left out; centred by
    their mean, since another anchor moves the zero. τ_b = (concordant - discordant)/√(untied on 1 ·
    untied on 2).

    boards : of an anchor, to compare in place of all its models in `pairs`, as that of a panel.
    beside : an anchor; only its pairs with the others are compared.

    Raises UnknownName for an anchor that is no model, InvalidOption for one given twice.
    Source: [RAEE] anchor swap; docs/methods.md §6.
    """
    unknown = [name for name in anchors if name not in pairs.models]
    if unknown:
        raise UnknownName(f"anchor {unknown[0]!r} is no model of this selection")
    if len(set(anchors)) < len(anchors):
        raise InvalidOption("anchors: one is given twice")
    gap = _gaps(pairs, prior)
    for name, shown in (boards or {}).items():
        column = pairs.models.index(name)
        gap[:, column] = np.nan
        gap[[pairs.models.index(row.model) for row in shown.rows], column] = [
            row.elo.value for row in shown.rows
        ]
    rows = []
    for name_1, name_2 in combinations(anchors, 2):
        if beside is not None and beside not in (name_1, name_2):
            continue
        code_1, code_2 = pairs.models.index(name_1), pairs.models.index(name_2)
        elo_1, elo_2 = gap[:, code_1], gap[:, code_2]
        common = ~np.isnan(elo_1) & ~np.isnan(elo_2)
        common[[code_1, code_2]] = False
        shift = elo_2[common] - elo_1[common]
        mean = float(shift.mean()) if len(shift) else None
        centred = shift - (mean or 0.0)
        rows.append(
            SwapRow(
                anchor_1=name_1,
                anchor_2=name_2,
                models=tuple(pairs.models[m] for m in np.flatnonzero(common)),
                shifts=centred,
                mean_shift=mean,
                kendall_tau=kendall_tau(elo_1[common], elo_2[common]),
                mean_abs_centred_shift=float(np.abs(centred).mean()) if len(shift) else None,
            )
        )
    return AnchorSwap(rows=tuple(rows))


def triangles(pairs: PairScores, *, prior: Prior = "jeffreys", level: float = 0.95) -> Triangles:
    """Additivity residual of every triple of models that met each other, least p first (ours).

    residual = Δ(b,c) - (Δ(b,a) + Δ(a,c)) = Δ(a,b) + Δ(b,c) + Δ(c,a), the same up to sign whichever
    of the three is the anchor. A broken triangle is intransitive judging: no single Elo scale can
    hold the three.

    z on the N prompts common to the three pairs: rᵢ = γ·Σ (Sᵢ - S̄)/(p̄(1 - p̄)) over ab, bc, ca;
    z = residual_common·√N/sd(rᵢ), γ = 400/ln 10, has its size where N is large and no pair is
    one-sided. Elsewhere a pair that was won throughout adds no variance, and |z| passes 1.96 in up
    to a fifth of additive triples. So p is that of residual_common/SE with t(N - 1), where SE² is
    the larger of var(rᵢ)/N and the three pairs' dispersion-corrected SE² (`anchored.board`) added
    up. With thousands of triples some p are small by chance, hence Holm's.

    prior : as for `anchored.board`.  level : 1 - level is what p_holm must stay below for `broken`.

    Source: docs/methods.md §6 (ours); Holm (1979).
    """
    from scipy.special import stdtr

    check_level(level)
    gap = _gaps(pairs, prior)
    met = ~np.isnan(gap)
    triples = np.array(
        [
            (a, b, c)
            for a in range(len(gap))
            for b in np.flatnonzero(met[a, a + 1 :]) + a + 1
            for c in np.flatnonzero(met[a, b + 1 :] & met[b, b + 1 :]) + b + 1
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    n, residual_common, z, cautious = _common(pairs, triples, prior)
    p_value = 2 * stdtr(np.maximum(n - 1, 1), -np.abs(cautious))
    p_holm = holm(p_value)
    a, b, c = triples.T
    columns: dict[str, Any] = {
        "gap_ab": gap[a, b],
        "gap_bc": gap[b, c],
        "gap_ca": gap[c, a],
        "n": n,
    }
    columns["residual"] = columns["gap_ab"] + columns["gap_bc"] + columns["gap_ca"]
    columns |= {"residual_common": residual_common, "z": z, "p_value": p_value, "p_holm": p_holm}
    columns["broken"] = p_holm < 1 - level
    # Triples without a z go last.
    order = np.lexsort((-np.abs(np.where(np.isnan(z), 0, z)), p_value))
    first, second, third = (tuple(pairs.models[m] for m in column) for column in triples[order].T)
    return Triangles(
        a=first, b=second, c=third, **{name: values[order] for name, values in columns.items()}
    )


def _gaps(pairs: PairScores, prior: Prior) -> FloatArray:
    """(models, models) Elo of the row's model against the column's; NaN where they never met."""
    size = len(pairs.models)
    code = pairs.model_1 * size + pairs.model_2
    n = np.bincount(code, minlength=size * size).astype(np.int64)
    total = np.asarray(np.bincount(code, pairs.score, minlength=size * size), dtype=np.float64)
    p, _ = win_probability(n, total, prior=prior)
    upper = np.where(n > 0, elo_of_p(p), np.nan).reshape(size, size)
    # The prior is the same on both sides, so the gap seen from the other model is its exact
    # negative.
    return np.where(np.isnan(upper), -upper.T, upper)


def kendall_tau(one: ArrayLike, two: ArrayLike) -> float | None:
    """τ_b of two orders of the same models; None with fewer than two or if one of them ties all."""
    # Sums of thirds differ in their last bits with the order of rows; equal Elo must stay a tie.
    sign_1, sign_2 = (
        np.sign(np.round(np.subtract.outer(values, values), 9))
        for values in map(np.asarray, (one, two))
    )
    untied = float(np.abs(sign_1).sum()) * float(np.abs(sign_2).sum())
    return float((sign_1 * sign_2).sum()) / math.sqrt(untied) if untied else None


def _common(
    pairs: PairScores, triples: IntArray, prior: Prior
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Common prompts, residual, z and its cautious form of each triple (a, b, c), from those
    prompts.
    """
    legs = triples[:, [0, 1, 0]] * len(pairs.models) + triples[:, [1, 2, 2]]
    used, leg_row = np.unique(legs, return_inverse=True)
    leg_row = leg_row.reshape(-1, 3)
    code = pairs.model_1 * len(pairs.models) + pairs.model_2
    keep = np.isin(code, used)
    # A prompt with fewer than three of the pairs is common to no triple; mostly that is all but a
    # few.
    _, item, judged = np.unique(pairs.item[keep], return_inverse=True, return_counts=True)
    keep[keep] = judged[item] >= 3
    items, column = np.unique(pairs.item[keep], return_inverse=True)
    scores = np.full((len(used), len(items)), np.nan)
    scores[np.searchsorted(used, code[keep]), column] = pairs.score[keep]
    n = np.zeros(len(triples), dtype=np.int64)
    residual, z, cautious = np.full((3, len(triples)), np.nan)
    step = max(1, CHUNK_CELLS // max(1, len(items)))
    # Round the triangle a → b → c → a the third leg is seen from c.
    way = np.array([1.0, 1.0, -1.0])[:, None]
    for start in range(0, len(triples), step):
        part = slice(start, start + step)
        s = scores[leg_row[part]]
        common = ~np.isnan(s).any(axis=1, keepdims=True)
        count = common.sum(axis=2, keepdims=True)
        total = np.where(common, s, 0).sum(axis=2, keepdims=True)
        p, mass = win_probability(count, total, prior=prior)
        residual[part] = np.where(count > 0, way * elo_of_p(p), np.nan).sum(axis=(1, 2))
        centred = np.where(common, s - total / np.maximum(count, 1), 0)
        r = (way * ELO_PER_NAT * centred / (p * (1 - p))).sum(axis=1)
        n[part] = count[:, 0, 0]
        variance = (r**2).sum(axis=1) / np.maximum(n[part] - 1, 1)
        error = np.sqrt(variance / np.maximum(n[part], 1))
        known = (n[part] > 1) & (error > 1e-9)
        squares = np.where(common, s**2, 0).sum(axis=2, keepdims=True)
        spread = dispersion_factor(np.maximum(count, 1), total, squares)
        own = np.sqrt((ELO_PER_NAT**2 / (p * (1 - p)) * spread / (mass + 1)).sum(axis=(1, 2)))
        z[part] = np.where(known, residual[part] / np.where(known, error, 1), np.nan)
        cautious[part] = np.where(known, residual[part] / np.maximum(error, own), np.nan)
    return n, residual, z, cautious


def holm(p: FloatArray) -> FloatArray:
    """Holm's adjusted p-values; NaN stays NaN and is no test."""
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted
