"""What a leaderboard says in words: who leads, whether that is separable, whether another anchor agrees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from core.anchors import AnchorSwap, Triangles
from core.counts import PairScores
from core.raee import MID_REGION, TIER_Z, Board, BoardRow, against, board, score_difference
from core.verdicts import percent

if TYPE_CHECKING:
    import pandas as pd

PAIRED_MINIMUM = 10
"""Common prompts of two models below which their difference is not taken prompt by prompt."""

MID_REGION_WANTED = 0.95
"""Share of a board that should lie in the mid region (Source: methods §6)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lead:
    """The first of a board over the second, in win probability against the anchor.

    difference, low, high : mean difference of the scores on the `n` prompts that both played, if `paired`;
    else of the two win probabilities, and n is the smaller number of prompts. The interval excludes 0
    exactly when the second starts a new tier.
    top_tier : models of the first tier.
    """

    leader: str
    runner_up: str
    difference: float
    low: float
    high: float
    n: int
    paired: bool
    top_tier: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OtherAnchor:
    """The board of another anchor beside the one at hand; both anchors are left out of the comparison.

    models : those on both boards.  kendall_tau, mean_abs_centred_shift : as `anchors.SwapRow`.
    reversals : (here above, there above) of two models whose order is more than chance on both boards, and
    opposite (both p-values times the number of pairs and anchors below 1 - level, so that many models do not
    make reversals).  mid_region_coverage : of the other board.  n_items : prompts behind it.
    """

    anchor: str
    models: tuple[str, ...]
    kendall_tau: float | None
    mean_abs_centred_shift: float | None
    reversals: tuple[tuple[str, str], ...]
    leader: str
    mid_region_coverage: float
    n_items: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Standings:
    """What is said of a board: the lead (None with one model) and the other anchors, in the swap's order."""

    board: Board
    lead: Lead | None
    others: tuple[OtherAnchor, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row an other anchor; `models` and `reversals` are their numbers."""
        import pandas as pd

        names = [field.name for field in fields(OtherAnchor)]
        rows = [[getattr(other, name) for name in names] for other in self.others]
        frame = pd.DataFrame(rows, columns=names)
        return frame.assign(
            models=frame["models"].map(len),
            reversals=frame["reversals"].map(len),
            mid_region_enough=frame["mid_region_coverage"] >= MID_REGION_WANTED,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TriangleTold:
    """A triangle as plain facts. `intransitive`: broken, and every model beats the next all the way round."""

    words: str
    broken: bool
    intransitive: bool


def standings(pairs: PairScores, shown: Board, *, boards: Mapping[str, Board], swap: AnchorSwap) -> Standings:
    """Compare a board with those of other anchors (ours).

    Parameters
    ----------
    pairs : what all boards were made from.
    shown : the board to speak of.
    boards : board of each anchor by name, same prior.
    swap : of all those anchors; a pair without a row in it is left out.

    Source: [RAEE] anchor swap; methods §6; reversals ours.
    """
    others = []
    compared = [row for row in swap.rows if shown.anchor in (row.anchor_1, row.anchor_2)]
    tests = sum(len(row.models) * (len(row.models) - 1) // 2 for row in compared)
    plain = _plain(pairs, shown)
    here = _differences(pairs, plain)
    for row in compared:
        name = row.anchor_2 if row.anchor_1 == shown.anchor else row.anchor_1
        others.append(
            OtherAnchor(
                anchor=name,
                models=row.models,
                kendall_tau=row.kendall_tau,
                mean_abs_centred_shift=row.mean_abs_centred_shift,
                reversals=_reversals(plain, row.models, (here, _differences(pairs, boards[name])), tests),
                leader=boards[name].rows[0].model,
                mid_region_coverage=boards[name].mid_region_coverage,
                n_items=boards[name].n_items,
            )
        )
    return Standings(board=shown, lead=lead(pairs, shown), others=tuple(others))


def met(pairs: PairScores, anchor: str) -> bool:
    """Whether some other model has votes against the anchor."""
    if anchor not in pairs.models:
        return False
    code = pairs.models.index(anchor)
    return bool(((pairs.model_1 == code) | (pairs.model_2 == code)).any())


def mid_region(shown: Board) -> str:
    """How much of a board lies where Elo is near linear in the win probability."""
    low, high = (percent(end) for end in MID_REGION)
    enough = shown.mid_region_coverage >= MID_REGION_WANTED
    share = percent(shown.mid_region_coverage)
    if not enough and share == percent(MID_REGION_WANTED):
        # 94.7 % is too little and must not read as the 95 % that are wanted.
        share = percent(math.floor(1000 * shown.mid_region_coverage) / 1000, 1)
    found = (
        f"{share} of {len(shown.rows):,} models score between {low} and {high} "
        f"against {shown.anchor}; {percent(MID_REGION_WANTED)} are wanted"
    )
    return f"{found}." if enough else f"{found}: outside that range a small difference is many points of Elo."


def lead(pairs: PairScores, shown: Board) -> Lead | None:
    """The first of a board over the second, with the interval that tiers test; None with one model.

    d̄ ± t(n - 1)·sd(d)/√n over common prompts, d the per-prompt difference of the two scores; with fewer than
    two of them, or without variance, p̄₁ - p̄₂ ± 1.96·√(SE₁² + SE₂²) with the dispersion-corrected SE. A
    finite pool and κ do not enter.

    Source: methods §6 (ours).
    """
    if len(shown.rows) < 2:
        return None
    plain = _plain(pairs, shown)
    first, second = plain.rows[:2]
    model, item, score, _ = against(pairs, shown.anchor)
    places = [model == pairs.models.index(row.model) for row in (first, second)]
    one, two = ((item[place], score[place]) for place in places)
    p, se = np.array([first.p, second.p]), np.array([first.se_p_corrected, second.se_p_corrected])
    difference, error, n, paired = score_difference(one, two, p, se)
    return Lead(
        leader=first.model,
        runner_up=second.model,
        difference=difference,
        low=difference - TIER_Z * error,
        high=difference + TIER_Z * error,
        n=n,
        paired=paired,
        top_tier=tuple(row.model for row in plain.rows if row.tier == 1),
    )


def _plain(pairs: PairScores, shown: Board) -> Board:
    """The board without finite pool and κ, which change intervals but not what sets models apart."""
    if shown.pool is None and shown.kappa_factor is None:
        return shown
    return board(pairs, shown.anchor, prior=shown.prior, level=shown.level)


def answer(found: Standings, told: Sequence[TriangleTold] = (), *, corrected: bool = False) -> str:
    """Who leads, by how much, whether that is separable, and whether the ranking survives another anchor.

    Parameters
    ----------
    found : of `standings`.
    told : triangles in words, worst first (`triangle_words`).
    corrected : say the dispersion-corrected interval instead of the published one.
    """
    parts = (_first(found.board, corrected), _separable(found.lead), _survives(found, told))
    return " ".join(part for part in parts if part)


def sound(found: Standings, told: Sequence[TriangleTold] = ()) -> bool:
    """The first is alone in its tier, no other anchor reverses models, and no triangle is broken."""
    alone = found.lead is None or len(found.lead.top_tier) == 1
    reversed_somewhere = any(other.reversals for other in found.others)
    return alone and not reversed_somewhere and not any(triangle.broken for triangle in told)


def most_reversing(found: Standings) -> OtherAnchor | None:
    """The other anchor with most reversals, of these the one with the least τ; None without another."""
    compared = [other for other in found.others if other.kendall_tau is not None]
    return max(compared, key=lambda one: (len(one.reversals), -(one.kendall_tau or 0.0)), default=None)


def no_board(pairs: PairScores) -> str:
    """Why a selection without an anchor has no board, with the result where just two models met."""
    if not len(pairs):
        return "A leaderboard needs votes on two or more named models; this selection has none."
    if len(pairs.models) == 2:
        row = board(pairs, pairs.models[1]).rows[0]
        return (
            f"Only two models met, so there is nothing to rank: against {pairs.models[1]}, {row.model} "
            f"scores {_share(row)}."
        )
    met = sorted(set(zip(pairs.model_1.tolist(), pairs.model_2.tolist(), strict=True)))
    listed = "; ".join(f"{pairs.models[a]} and {pairs.models[b]}" for a, b in met[:5])
    more = f"; and {len(met) - 5} more" if len(met) > 5 else ""
    return (
        "There is no leaderboard: it ranks models by their votes against one common opponent, the anchor, "
        f"and no model met two others. Those that met: {listed}{more}."
    )


def triangle_words(found: Triangles, boards: Mapping[str, Board]) -> tuple[TriangleTold, ...]:
    """The triangles that could be tested as three facts each, worst first: who beats whom round the triangle.

    x beats y if the dispersion-corrected interval of its Elo on the board of y excludes 0. The walk goes
    in the direction of the residual, so that three wins in a row are a circle: intransitive judging.

    Source: methods §6 (ours).
    """
    rows = {(row.model, anchor): row for anchor, known in boards.items() for row in known.rows}
    told = []
    for i in np.flatnonzero(~np.isnan(found.z)).tolist():
        walk = [found.a[i], found.b[i], found.c[i]]
        if found.residual[i] < 0:
            walk.reverse()
        legs = [(x, y, rows[x, y]) for x, y in zip(walk, [*walk[1:], walk[0]], strict=True)]
        told.append(
            TriangleTold(
                words=", ".join(_fact(*leg) for leg in legs),
                broken=bool(found.broken[i]),
                intransitive=bool(found.broken[i]) and all(row.elo_low_corrected > 0 for _, _, row in legs),
            )
        )
    return tuple(told)


def triangles_frame(found: Triangles, told: Sequence[TriangleTold]) -> pd.DataFrame:
    """One row a triangle that could be tested, worst first, with its words and its verdict."""
    import pandas as pd

    frame = found.to_frame().head(len(told)).drop(columns=["broken"])
    verdicts = [
        "intransitive" if one.intransitive else "does not add up" if one.broken else "not shown to be broken"
        for one in told
    ]
    words = pd.DataFrame({"triangle": [one.words for one in told], "verdict": verdicts})
    return pd.concat([words, frame], axis=1)


def _fact(x: str, y: str, row: BoardRow) -> str:
    if row.elo_low_corrected > 0:
        return f"{x} beats {y}"
    return f"{y} beats {x}" if row.elo_high_corrected < 0 else f"{x} and {y} not told apart"


def _reversals(
    one: Board,
    models: Sequence[str],
    z: tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]],
    tests: int,
) -> tuple[tuple[str, str], ...]:
    """(above on one, above on two), most certain first; `tests` is the number of pairs tested in all."""
    from scipy.special import ndtr

    found = []
    for upper, lower in permutations(models, 2):
        # Both differences must be more than chance, so the weaker one decides.
        weaker = min(z[0][upper, lower], z[1][lower, upper])
        if weaker > 0 and tests * 2 * ndtr(-weaker) < 1 - one.level:
            found.append((weaker, upper, lower))
    return tuple((upper, lower) for _, upper, lower in sorted(found, key=lambda f: (-f[0], f[1:])))


def _differences(pairs: PairScores, shown: Board) -> dict[tuple[str, str], float]:
    """z of the score difference of every two models of a board.

    On common prompts, if they are ten or more and their differences vary; else that of two independent p̄.
    """
    model, item, score, _ = against(pairs, shown.anchor)
    codes, row = np.unique(model, return_inverse=True)
    items, column = np.unique(item, return_inverse=True)
    played, s = np.zeros((2, len(codes), len(items)))
    played[row, column], s[row, column] = 1.0, score - 0.5
    n = played @ played.T
    total, squares = s @ played.T, s**2 @ played.T
    mean = (total - total.T) / np.maximum(n, 1)
    variance = (squares + squares.T - 2 * s @ s.T - n * mean**2) / np.maximum(n - 1, 1)
    by_name = {known.model: known for known in shown.rows}
    rows = [by_name[pairs.models[code]] for code in codes]
    p, se = np.array([known.p for known in rows]), np.array([known.se_p_corrected for known in rows])
    apart = (p[:, None] - p) / np.sqrt(se[:, None] ** 2 + se**2)
    paired = (n >= PAIRED_MINIMUM) & (variance > 1e-9)
    z = np.where(paired, mean / np.sqrt(np.where(paired, variance / np.maximum(n, 1), 1)), apart)
    return {
        (rows[i].model, rows[j].model): float(z[i, j]) for i in range(len(rows)) for j in range(len(rows))
    }


def _limits(row: BoardRow, corrected: bool) -> tuple[float, float, float, float]:
    if corrected:
        return row.p_low_corrected, row.p_high_corrected, row.elo_low_corrected, row.elo_high_corrected
    return row.p_low, row.p_high, row.elo_low, row.elo_high


def _share(row: BoardRow, corrected: bool = False) -> str:
    low, high, elo_low, elo_high = _limits(row, corrected)
    return (
        f"{percent(row.p)} ({percent(low).removesuffix(' %')} to {percent(high)}, {row.n:,} prompts), "
        f"{_signed(row.elo)} Elo ({_signed(elo_low)} to {_signed(elo_high)})"
    )


def _signed(elo: float) -> str:
    return f"{elo:+.0f}" if round(elo) else "0"


def _first(shown: Board, corrected: bool) -> str:
    best = shown.rows[0]
    low, high, _, _ = _limits(best, corrected)
    score = f"scores {_share(best, corrected)}"
    if high < 0.5:
        return f"No model beats the anchor, {shown.anchor}; {best.model}, the best of them, {score}."
    if low <= 0.5:
        return (
            f"{best.model} is first, but not shown to be better than the anchor: "
            f"against {shown.anchor} it {score}."
        )
    return f"{best.model} leads: against {shown.anchor} it {score}."


def _separable(found: Lead | None) -> str:
    if found is None:
        return ""
    prompts = "on the same prompts" if found.paired else f"on {found.n:,} prompts or more each"
    lead_over = (
        f"Its lead over {found.runner_up}, {100 * found.difference:.1f} points "
        f"({100 * found.low:.1f} to {100 * found.high:.1f} {prompts}),"
    )
    if len(found.top_tier) == 1:
        return f"{lead_over} is more than chance: it is alone in the top tier."
    return f"{lead_over} may be chance: {len(found.top_tier)} models share the top tier."


def _survives(found: Standings, told: Sequence[TriangleTold]) -> str:
    compared = [other for other in found.others if other.kendall_tau is not None]
    worst = most_reversing(found)
    broken = [triangle for triangle in told if triangle.broken]
    circle = next((triangle for triangle in broken if triangle.intransitive), None)
    parts = []
    if worst is not None and worst.reversals:
        turned = sum(bool(other.reversals) for other in compared)
        which = worst.anchor if turned == 1 else f"most of all {worst.anchor}"
        parts.append(
            f"The ranking depends on the anchor: {turned} of {len(compared)} others "
            f"({which}, Kendall τ {worst.kendall_tau or 0.0:.2f}) "
            f"{'reverses' if turned == 1 else 'reverse'} models by more than chance."
        )
    elif circle is not None:
        parts.append("The ranking depends on the anchor.")
    elif compared:
        least = min(other.kendall_tau or 0.0 for other in compared)
        many = (
            f"{len(compared)} other anchors"
            if len(compared) > 1
            else f"the other anchor, {compared[0].anchor}"
        )
        parts.append(
            f"The ranking is not shown to change under {many} "
            f"({'lowest ' if len(compared) > 1 else ''}Kendall τ {least:.2f})."
        )
    else:
        parts.append("Whether another anchor would rank them alike is unknown: no other model met enough.")
    if broken:
        worst_words = (circle or broken[0]).words
        parts.append(
            f"{len(broken):,} of {len(told):,} triangles of models do not add up; "
            f"{'intransitive' if circle else 'worst'}: {worst_words}."
        )
    return " ".join(parts)
