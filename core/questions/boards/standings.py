"""A board beside others: those of other anchors, and an imported leaderboard (model, score).

Who leads by how much, which models another anchor reverses, and do two boards rank the same models
alike?
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ...errors import InvalidOption, UnreadableFile
from ...records import FloatArray, IntArray, PairScores
from ...stats.estimate import DataFrame, Estimate, data_frame, flat, rows_frame
from .anchored import (
    ELO_PER_NAT,
    TIER_ALPHA,
    Board,
    against,
    board,
    elo_of_p,
    pairs_of,
    score_difference,
)
from .anchors import AnchorSwap

PAIRED_MINIMUM = 10
"""Common prompts of two models below which their difference is not taken prompt by prompt."""

MID_REGION_WANTED = 0.95
"""Share of a board that should lie in the mid region (Source: docs/methods.md §6)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lead:
    """The first of a board over the second, in win probability against the anchor.

    difference : of the scores, their mean on the n prompts that both played, if `paired`; else of
        the two win
    probabilities, and n is the smaller number of prompts. The interval is at 1 - .05/`compared`,
    and excludes 0 exactly when the second starts a new tier.
    compared : M(M - 1)/2 pairs of the M models on the board, any of which might have been the first
        two.
    top_tier : models of the first tier.
    """

    leader: str
    runner_up: str
    difference: Estimate
    compared: int
    paired: bool
    top_tier: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OtherAnchor:
    """The board of another anchor beside the one at hand; both anchors are left out of the
    comparison.

    models : those on both boards.  kendall_tau, mean_abs_centred_shift : as `anchors.SwapRow`.
    reversals : (here above, there above) of two models whose order is more than chance on both
        boards, and
    opposite (both p-values times the number of pairs and anchors below 1 - level, so that many
    models do not
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

    @property
    def mid_region_enough(self) -> bool:
        """Whether as much of the other board lies in the mid region as should."""
        return self.mid_region_coverage >= MID_REGION_WANTED


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Standings:
    """The lead of a board (None with one model) and its other anchors, in the swap's order."""

    board: Board
    lead: Lead | None
    others: tuple[OtherAnchor, ...]

    def to_frame(self) -> DataFrame:
        """One row per other anchor; `models` and `reversals` are their numbers."""
        frame = rows_frame(OtherAnchor, self.others)
        return frame.assign(
            models=frame["models"].map(len),
            reversals=frame["reversals"].map(len),
            mid_region_enough=[other.mid_region_enough for other in self.others],
        )


def standings(
    pairs: PairScores,
    shown: Board,
    *,
    boards: Mapping[str, Board],
    swap: AnchorSwap,
    scores: Mapping[str, PairScores] | None = None,
) -> Standings:
    """Compare a board with those of other anchors (ours).

    pairs : what the board was made from, and all others unless `scores` has that by anchor.
    boards : board of each anchor by name, same prior as `shown`.
    swap : of the anchor at hand with all those; a pair without a row in it is left out.

    Source: [RAEE] anchor swap; docs/methods.md §6; reversals ours.
    """
    made_from = scores or {}
    rows = [row for row in swap.rows if shown.anchor in (row.anchor_1, row.anchor_2)]
    compared = [
        (row.anchor_2 if row.anchor_1 == shown.anchor else row.anchor_1, row) for row in rows
    ]
    tests = sum(math.comb(len(row.models), 2) for row in rows)
    plain = _plain(pairs, shown)
    here = _differences(pairs, plain)
    others = tuple(
        OtherAnchor(
            anchor=name,
            models=row.models,
            kendall_tau=row.kendall_tau,
            mean_abs_centred_shift=row.mean_abs_centred_shift,
            reversals=_reversals(
                plain,
                row.models,
                (here, _differences(made_from.get(name, pairs), boards[name])),
                tests,
            ),
            leader=boards[name].rows[0].model,
            mid_region_coverage=boards[name].mid_region_coverage,
            n_items=boards[name].n_items,
        )
        for name, row in compared
    )
    return Standings(board=shown, lead=lead(pairs, shown), others=others)


def lead(pairs: PairScores, shown: Board) -> Lead | None:
    """The first of a board over the second, with the interval that tiers test; None with one model.

    Formulas as in `anchored.score_difference`, with the dispersion-corrected SE. All M models of
    the board share the .05, as the first two are picked from all pairs. A finite pool and κ do not
    enter.

    Source: docs/methods.md §6 (ours).
    """
    if len(shown.rows) < 2:
        return None
    plain = _plain(pairs, shown)
    first, second = plain.rows[:2]
    model, item, score, _ = against(pairs, shown.anchor)
    places = [model == pairs.models.index(row.model) for row in (first, second)]
    one, two = ((item[place], score[place]) for place in places)
    p, se = (
        np.array([first.p.value, second.p.value]),
        np.array([first.se_p_corrected, second.se_p_corrected]),
    )
    difference, half, n, paired = score_difference(one, two, p, se, models=len(plain.rows))
    compared = pairs_of(len(plain.rows))
    return Lead(
        leader=first.model,
        runner_up=second.model,
        difference=Estimate(
            difference, difference - half, difference + half, n=n, level=1 - TIER_ALPHA / compared
        ),
        compared=compared,
        paired=paired,
        top_tier=tuple(row.model for row in plain.rows if row.tier == 1),
    )


def _plain(pairs: PairScores, shown: Board) -> Board:
    """The board without finite pool and κ, which change intervals but not what sets models
    apart.
    """
    if shown.pool is None and shown.kappa_factor is None:
        return shown
    return board(pairs, shown.anchor, prior=shown.prior, level=shown.level)


def most_reversing(found: Standings) -> OtherAnchor | None:
    """The other anchor with most reversals, of these the one with the least τ; None without
    another.
    """
    compared = [other for other in found.others if other.kendall_tau is not None]
    return max(
        compared, key=lambda one: (len(one.reversals), -(one.kendall_tau or 0.0)), default=None
    )


def _reversals(
    one: Board, models: Sequence[str], apart: tuple[_Differences, _Differences], tests: int
) -> tuple[tuple[str, str], ...]:
    """(above on one, above on two), most certain first; `tests` is the number of pairs tested in
    all.
    """
    from scipy.special import ndtr

    # Row above column on one, and below it on two; both must be more than chance, so the weaker
    # one decides.
    weaker = np.minimum(apart[0].of(models), apart[1].of(models).T)
    found = np.argwhere((weaker > 0) & (tests * 2 * ndtr(-weaker) < 1 - one.level))
    certain = [(-weaker[u, v], models[u], models[v]) for u, v in found.tolist()]
    return tuple((upper, lower) for _, upper, lower in sorted(certain))


@dataclass(frozen=True, slots=True, eq=False)
class _Differences:
    """z of the score difference of every two models: of the one in a row over that in a column.

    place : row and column of each.
    """

    place: Mapping[str, int]
    z: FloatArray

    def of(self, models: Sequence[str]) -> FloatArray:
        """Those of these models, in their order."""
        chosen = [self.place[name] for name in models]
        return self.z[np.ix_(chosen, chosen)]


def _differences(pairs: PairScores, shown: Board) -> _Differences:
    """z of the score difference of every two models of a board.

    On common prompts, if they are ten or more and their differences vary; else that of two
    independent p̄.
    """
    model, item, score, _ = against(pairs, shown.anchor)
    codes, place = np.unique(model, return_inverse=True)
    items, column = np.unique(item, return_inverse=True)
    played, s = np.zeros((2, len(codes), len(items)))
    played[place, column], s[place, column] = 1.0, score - 0.5
    n, total, squares = (x @ played.T for x in (played, s, s**2))
    mean = (total - total.T) / np.maximum(n, 1)
    variance = (squares + squares.T - 2 * s @ s.T - n * mean**2) / np.maximum(n - 1, 1)
    by_name = {row.model: row for row in shown.rows}
    names = [pairs.models[code] for code in codes]
    p, se = np.array([(by_name[name].p.value, by_name[name].se_p_corrected) for name in names]).T
    apart = (p[:, None] - p) / np.sqrt(se[:, None] ** 2 + se**2)
    paired = (n >= PAIRED_MINIMUM) & (variance > 1e-9)
    z = np.where(paired, mean / np.sqrt(np.where(paired, variance / np.maximum(n, 1), 1)), apart)
    return _Differences({name: at for at, name in enumerate(names)}, z)


Scale = Literal["percent", "share", "elo"]
SCALES: tuple[Scale, ...] = get_args(Scale)
TOP_SCORE: dict[Scale, float] = {"share": 1.0, "percent": 100.0, "elo": math.inf}

MOST_BYTES = 5_000_000
MOST_MODELS = 20_000
TOP = 10
RESAMPLES = 2_000
LEAST_FOR_INTERVAL = 6
"""With fewer models resamples hold so few orders that the interval misses, or is the point (ours).
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutsideBoard:
    """Models and scores of a file, in its order; a higher score is better.

    scale : what the scores can be, by their range: share (all 0 to 1), percent (all 0 to 100), else
        elo.
    ignored : other columns of the file.
    """

    name: str
    models: tuple[str, ...]
    score: FloatArray
    scale: Scale
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutsideComparison:
    """The models on both boards, in the order of this board; the anchor is one of them, at Elo 0.

    elo : of this board.  outside_elo : of the outside one, moved to the same mean, as its zero is
        another;
    NaN for a score of 0 or 100 %.  p, outside_p : the win probabilities that they stand for.
    kendall (τ_b), spearman : with bootstrap intervals over models; None with fewer than three or
        without
    differences, intervals also as `rank_agreement`.  mean_abs_elo, mean_abs_p : mean |difference|.
    jaccard : shared part of the two top tens, of `top` models each; None unless more than ten
        match.
    only_here, only_outside : models without a partner, by exact name or, failing that, in another
        case.
    """

    name: str
    scale: Scale
    models: tuple[str, ...]
    outside_score: FloatArray
    elo: FloatArray
    outside_elo: FloatArray
    p: FloatArray
    outside_p: FloatArray
    kendall: Estimate | None
    spearman: Estimate | None
    mean_abs_elo: float | None
    mean_abs_p: float | None
    jaccard: float | None
    top: int
    only_here: tuple[str, ...]
    only_outside: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """One row per model on both boards."""
        names = ("outside_score", "elo", "outside_elo", "p", "outside_p")
        frame = data_frame({"model": self.models} | flat(self, names=names))
        return frame.assign(difference=frame["outside_elo"] - frame["elo"])


def read_outside(content: bytes, *, name: str) -> OutsideBoard:
    """Read a CSV with the columns `model` and `score`, whatever else it has.

    Raises UnreadableFile if it is not UTF-8 text or larger than 5 MB, for a column missing or
    twice, a row without a model, with a score that is no finite number or with another number of
    cells, a model twice, or fewer than two.
    """
    if len(content) > MOST_BYTES:
        raise UnreadableFile(
            f"{name}: {len(content):,} bytes; a leaderboard of at most {MOST_BYTES:,} is read"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"{name}: byte {error.start} is not UTF-8; save the file as UTF-8 CSV"
        ) from error
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise UnreadableFile(f"{name}: not a CSV file ({error})") from error
    header = [cell.strip().casefold() for cell in rows[0]] if rows else []
    for column in ("model", "score"):
        if header.count(column) != 1:
            found = ", ".join(header[:10]) or "nothing"
            raise UnreadableFile(
                f"{name}: the first line must name one column {column!r}, and it names: {found}"
            )
    scores: dict[str, float] = {}
    for line, cells in enumerate(rows[1:], start=2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise UnreadableFile(
                f"{name}, row {line}: {len(cells)} cells under {len(header)} columns"
            )
        model, score = (cells[header.index(column)].strip() for column in ("model", "score"))
        if not model:
            raise UnreadableFile(f"{name}, row {line}: no model; remove the row or name it")
        if model in scores:
            raise UnreadableFile(
                f"{name}, row {line}: model {model!r} a second time; keep one row per model"
            )
        scores[model] = _number(score, f"{name}, row {line}")
    if not 2 <= len(scores) <= MOST_MODELS:
        raise UnreadableFile(
            f"{name}: {len(scores):,} models; a leaderboard has 2 to {MOST_MODELS:,}"
        )
    value = np.array(list(scores.values()))
    scales = [scale for scale, top in TOP_SCORE.items() if value.min() >= 0 and value.max() <= top]
    return OutsideBoard(
        name=name,
        models=tuple(scores),
        score=value,
        scale=scales[0] if scales else "elo",
        ignored=tuple(cell for cell in header if cell not in ("model", "score")),
    )


def compare_outside(
    here: Board,
    outside: OutsideBoard,
    *,
    rng: np.random.Generator,
    scale: Scale | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> OutsideComparison:
    """Compare two boards on the models that both have.

    The outside score becomes Elo: (400/ln 10)·logit of a win rate (`share`, `percent`), or as it is
    (`elo`); then both means over common models are made equal, as the two boards have different
    zeros. Names match exactly or, if that leaves one alone, in lower case; nothing is guessed.
    Intervals: percentile bootstrap over models.

    here : this board; its anchor counts as a model at Elo 0.  scale : of the scores; None takes the
        file's own.

    Raises InvalidOption for a scale that the scores cannot have.
    Source: docs/methods.md §6 (centring, intervals and matching ours).
    """
    scale = scale or outside.scale
    if scale not in SCALES:
        raise InvalidOption(f"scale = {scale!r}: must be one of {', '.join(SCALES)}")
    if scale != "elo" and (outside.score.min() < 0 or outside.score.max() > TOP_SCORE[scale]):
        raise InvalidOption(
            f"{outside.name}: scores from {outside.score.min():g} to {outside.score.max():g} are "
            f"no win rates from 0 to {TOP_SCORE[scale]:g}; choose another scale"
        )
    own = {row.model: row.elo.value for row in here.rows} | {here.anchor: 0.0}
    partner = _partners(tuple(own), outside.models)
    models = sorted(partner, key=lambda name: (-round(own[name], 9), name))
    place = np.array([outside.models.index(partner[name]) for name in models], dtype=np.int64)
    score, elo = outside.score[place], np.array([own[name] for name in models])
    theirs = score.copy() if scale == "elo" else elo_of_p(score / TOP_SCORE[scale])
    theirs[~np.isfinite(theirs)] = np.nan
    known = ~np.isnan(theirs)
    if known.any():
        theirs = theirs - theirs[known].mean() + elo[known].mean()
    p, outside_p = (1 / (1 + np.exp(-x / ELO_PER_NAT)) for x in (elo, theirs))
    matched = set(partner.values())
    kendall, spearman = rank_agreement(elo, score, rng=rng, level=level, resamples=resamples)
    return OutsideComparison(
        name=outside.name,
        scale=scale,
        models=tuple(models),
        outside_score=score,
        elo=elo,
        outside_elo=theirs,
        p=p,
        outside_p=outside_p,
        kendall=kendall,
        spearman=spearman,
        mean_abs_elo=float(np.abs(theirs - elo)[known].mean()) if known.any() else None,
        mean_abs_p=float(np.abs(outside_p - p)[known].mean()) if known.any() else None,
        jaccard=_jaccard(elo, score, models),
        top=TOP,
        only_here=tuple(name for name in own if name not in partner),
        only_outside=tuple(name for name in outside.models if name not in matched),
    )


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UnreadableFile(
            f"{place}: score {text[:40]!r} is not a finite number; write it like 82.6"
        )
    return value


def _partners(here: tuple[str, ...], there: tuple[str, ...]) -> dict[str, str]:
    """Name here → name there: exact, else the only one that differs in case."""
    exact = set(here) & set(there)
    left: dict[str, list[str]] = {}
    for name in there:
        if name not in exact:
            left.setdefault(name.casefold(), []).append(name)
    folded = [name.casefold() for name in here if name not in exact]
    found = {name: name for name in here if name in exact}
    for name in here:
        twins = left.get(name.casefold(), [])
        if name not in exact and len(twins) == 1 and folded.count(name.casefold()) == 1:
            found[name] = twins[0]
    return found


def _jaccard(elo: FloatArray, score: FloatArray, models: list[str]) -> float | None:
    if len(models) <= TOP:
        return None
    one, two = (
        set(sorted(models, key=lambda name: (-values[models.index(name)], name))[:TOP])
        for values in (np.round(elo, 9).tolist(), score.tolist())
    )
    return len(one & two) / len(one | two)


def rank_agreement(
    one: FloatArray, two: FloatArray, *, rng: np.random.Generator, level: float, resamples: int
) -> tuple[Estimate | None, Estimate | None]:
    """Kendall τ_b and Spearman ρ of the same models, with percentile intervals over models.

    None with fewer than three models or where all of a board are equal. No interval with fewer than
    six, nor where the orders are the same or each other's reverse: every resample is then as
    perfect, so it would be the point, and of three unrelated models one pair of boards in six would
    agree with certainty.
    """
    # Equal scores must stay ties whatever the rounding.
    one, two = np.round(one, 9), np.round(two, 9)
    n = len(one)
    if n < 3 or min(np.ptp(one), np.ptp(two)) == 0:
        return None, None
    from scipy.stats import kendalltau, spearmanr

    tau, rho = (float(measure(one, two).statistic) for measure in (kendalltau, spearmanr))
    if n < LEAST_FOR_INTERVAL or abs(tau) > 1 - 1e-9:
        return Estimate(tau, n=n, level=level), Estimate(rho, n=n, level=level)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=resamples)

    def within(value: float, resampled: FloatArray) -> Estimate:
        known = resampled[~np.isnan(resampled)]
        ends = (
            np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
            if len(known)
            else (math.nan, math.nan)
        )
        return Estimate(value, float(ends[0]), float(ends[1]), n=n, level=level)

    return within(tau, _kendalls(one, two, drawn)), within(rho, _spearmans(one, two, drawn))


def _kendalls(one: FloatArray, two: FloatArray, drawn: IntArray) -> FloatArray:
    """τ_b of each resample, given as how often each model is drawn."""
    sign_1, sign_2 = (np.sign(x[:, None] - x[None, :]) for x in (one, two))
    weight = drawn.astype(np.float64)

    def total(pairs: FloatArray) -> FloatArray:
        return np.asarray(((weight @ pairs) * weight).sum(axis=1))

    untied = np.sqrt(total(np.abs(sign_1)) * total(np.abs(sign_2)))
    return np.asarray(
        np.divide(total(sign_1 * sign_2), untied, out=np.full(len(drawn), np.nan), where=untied > 0)
    )


def _spearmans(one: FloatArray, two: FloatArray, drawn: IntArray) -> FloatArray:
    """ρ of each resample: the correlation of its mid-ranks."""
    weight = drawn.astype(np.float64)
    ranks = []
    for x in (one, two):
        below, equal = (
            compare.outer(x, x).astype(np.float64) for compare in (np.greater, np.equal)
        )
        ranks.append(weight @ below.T + weight @ equal.T / 2)
    n = weight.sum(axis=1, keepdims=True)
    centred = [rank - (weight * rank).sum(axis=1, keepdims=True) / n for rank in ranks]
    cross = (weight * centred[0] * centred[1]).sum(axis=1)
    scale = np.sqrt((weight * centred[0] ** 2).sum(axis=1) * (weight * centred[1] ** 2).sum(axis=1))
    return np.asarray(np.divide(cross, scale, out=np.full(len(drawn), np.nan), where=scale > 1e-9))
