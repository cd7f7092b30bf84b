"""An imported leaderboard (model, score) beside a board: do they rank the same models alike?"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ..errors import InvalidOption, UnreadableFile
from ..records import FloatArray, IntArray
from ..stats.estimate import Estimate
from .anchored import ELO_PER_NAT, Board, elo_of_p

if TYPE_CHECKING:
    import pandas as pd

Scale = Literal["percent", "share", "elo"]
SCALES: tuple[Scale, ...] = get_args(Scale)

MOST_BYTES = 5_000_000
MOST_MODELS = 20_000
TOP = 10
RESAMPLES = 2_000
LEAST_FOR_INTERVAL = 6
"""With fewer models resamples hold so few orders that the interval misses, or is the point (ours)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutsideBoard:
    """Models and scores of a file, in its order; a higher score is better.

    scale : what the scores can be, by their range: share (all 0 to 1), percent (all 0 to 100), else elo.
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

    elo : of this board.  outside_elo : of the outside one, moved to the same mean, as its zero is another;
    NaN for a score of 0 or 100 %.  p, outside_p : the win probabilities that they stand for.
    kendall (τ_b), spearman : with bootstrap intervals over models; None with fewer than three or without
    differences, intervals also as `rank_agreement`.  mean_abs_elo, mean_abs_p : mean |difference|.
    jaccard : shared part of the two top tens, of `top` models each; None unless more than ten match.
    only_here, only_outside : models without a partner, by exact name or, failing that, in another case.
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
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row per model on both boards."""
        import pandas as pd

        names = ("outside_score", "elo", "outside_elo", "p", "outside_p")
        frame = pd.DataFrame({"model": self.models} | {name: getattr(self, name) for name in names})
        return frame.assign(difference=frame["outside_elo"] - frame["elo"])


def read_outside(content: bytes, *, name: str) -> OutsideBoard:
    """Read a CSV with the columns `model` and `score`, whatever else it has.

    Raises
    ------
    UnreadableFile : not UTF-8 text, larger than 5 MB, a column missing or twice, a row without a model, with
        a score that is no finite number or with another number of cells, a model twice, or fewer than two.
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
            raise UnreadableFile(f"{name}, row {line}: {len(cells)} cells under {len(header)} columns")
        model, score = (cells[header.index(column)].strip() for column in ("model", "score"))
        if not model:
            raise UnreadableFile(f"{name}, row {line}: no model; remove the row or name it")
        if model in scores:
            raise UnreadableFile(f"{name}, row {line}: model {model!r} a second time; keep one row per model")
        scores[model] = _number(score, f"{name}, row {line}")
    if not 2 <= len(scores) <= MOST_MODELS:
        raise UnreadableFile(f"{name}: {len(scores):,} models; a leaderboard has 2 to {MOST_MODELS:,}")
    value = np.array(list(scores.values()))
    scale: Scale = "elo"
    if value.min() >= 0:
        scale = "share" if value.max() <= 1 else "percent" if value.max() <= 100 else "elo"
    return OutsideBoard(
        name=name,
        models=tuple(scores),
        score=value,
        scale=scale,
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

    The outside score becomes Elo: (400/ln 10)·logit of a win rate (`share`, `percent`), or as it is (`elo`);
    then both means over common models are made equal, as the two boards have different zeros. Names match
    exactly or, if that leaves one alone, in lower case; nothing is guessed. Intervals: percentile bootstrap
    over models.

    Parameters
    ----------
    here : this board; its anchor counts as a model at Elo 0.
    scale : of the scores; None takes the file's own.

    Raises
    ------
    InvalidOption : a scale that the scores cannot have.

    Source: docs/methods.md §6 (centring, intervals and matching ours).
    """
    scale = scale or outside.scale
    if scale not in SCALES:
        raise InvalidOption(f"scale = {scale!r}: must be one of {', '.join(SCALES)}")
    top_score = {"percent": 100.0, "share": 1.0, "elo": math.inf}[scale]
    if scale != "elo" and (outside.score.min() < 0 or outside.score.max() > top_score):
        raise InvalidOption(
            f"{outside.name}: scores from {outside.score.min():g} to {outside.score.max():g} are no win "
            f"rates from 0 to {top_score:g}; choose another scale"
        )
    own = {row.model: row.elo.value for row in here.rows} | {here.anchor: 0.0}
    partner = _partners(tuple(own), outside.models)
    models = sorted(partner, key=lambda name: (-round(own[name], 9), name))
    place = np.array([outside.models.index(partner[name]) for name in models], dtype=np.int64)
    score, elo = outside.score[place], np.array([own[name] for name in models])
    theirs = score.copy() if scale == "elo" else elo_of_p(score / top_score)
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
        level=level,
    )


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UnreadableFile(f"{place}: score {text[:40]!r} is not a finite number; write it like 82.6")
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

    None with fewer than three models or where all of a board are equal. No interval with fewer than six, nor
    where the orders are the same or each other's reverse: every resample is then as perfect, so it would be
    the point, and of three unrelated models one pair of boards in six would agree with certainty.
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
        ends = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if len(known) else (math.nan, math.nan)
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
        below, equal = (compare.outer(x, x).astype(np.float64) for compare in (np.greater, np.equal))
        ranks.append(weight @ below.T + weight @ equal.T / 2)
    n = weight.sum(axis=1, keepdims=True)
    centred = [rank - (weight * rank).sum(axis=1, keepdims=True) / n for rank in ranks]
    cross = (weight * centred[0] * centred[1]).sum(axis=1)
    scale = np.sqrt((weight * centred[0] ** 2).sum(axis=1) * (weight * centred[1] ** 2).sum(axis=1))
    return np.asarray(np.divide(cross, scale, out=np.full(len(drawn), np.nan), where=scale > 1e-9))
