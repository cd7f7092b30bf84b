"""Votes on K ordered levels with the level that gold gives, and how direct scores and votes become such."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from core.counts import NO_GOLD, BoolArray, DirectScores, FloatArray, IntArray, InvalidCounts, VoteCounts
from core.votes import InvalidOption, NoUsableVotes

MAX_LEVELS = 21
"""More whole numbers than this between the least and the greatest score are no Likert scale (ours)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LevelCounts:
    """Votes of one judge on K ordered levels, one row a thing rated, with the level that gold gives it.

    levels : (rows, K), votes on each level, lowest first.  gold : 0 … K − 1, or NO_GOLD.
    scale : what the K levels are called, ascending, e.g. -2 … 2 or 1 … 10.
    """

    item: IntArray
    levels: IntArray
    gold: IntArray
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.levels.ndim != 2 or not len(self.item) == len(self.levels) == len(self.gold):
            raise InvalidCounts("LevelCounts: item, levels and gold of one record differ in length")
        k = self.levels.shape[1]
        if k < 2 or k != len(self.scale) or any(np.diff(self.scale) <= 0):
            raise InvalidCounts(f"LevelCounts: {k} levels need {k} ascending names, at least 2")
        if len(self.levels) and (self.levels.min() < 0 or self.levels.sum(axis=1).min() < 1):
            raise InvalidCounts("LevelCounts: a row without a vote, or a count below zero")
        known = self.gold[self.gold != NO_GOLD]
        if len(known) and (known.min() < 0 or known.max() >= k):
            raise InvalidCounts(
                f"LevelCounts.gold: {known.min()} to {known.max()} is not within 0 to {k - 1}"
            )

    def __len__(self) -> int:
        return len(self.item)

    def rows(self, keep: BoolArray | IntArray) -> LevelCounts:
        kept = {f.name: getattr(self, f.name)[keep] for f in fields(self) if f.name != "scale"}
        return LevelCounts(**kept, scale=self.scale)


def of_votes(counts: VoteCounts) -> LevelCounts:
    """Votes -1, 0, +1 as three levels."""
    return LevelCounts(
        item=counts.item,
        levels=np.column_stack([counts.minus, counts.tie, counts.plus]),
        gold=np.where(counts.gold == NO_GOLD, NO_GOLD, counts.gold + 1),
        scale=(-1.0, 0.0, 1.0),
    )


def of_scores(
    judge: DirectScores, gold: DirectScores, *, scale: tuple[float, ...] | None = None
) -> LevelCounts:
    """Levels of one judge's repeated scores, one row a (item, model), and the median score of another rater.

    A score stands on the nearest level, a half on the one nearer the middle of the scale; so does the median
    over the runs of `gold`. Answers that `gold` did not score have no gold.
    scale : levels, ascending; None for the whole numbers from the least to the greatest score of both.
    judge, gold : of one selection, so that their codes are shared.

    Raises
    ------
    NoUsableVotes : the two raters scored no answer in common.
    InvalidOption : a score outside `scale`, or no scale given and more than 21 whole numbers.

    Source: ours, methods §9.3.
    """
    if judge.models != gold.models:
        raise InvalidCounts("of_scores: the two raters come from different selections")
    key, place = np.unique(_answer(judge), return_inverse=True)
    rated, of_gold = np.unique(_answer(gold), return_inverse=True)
    if not np.isin(key, rated).any():
        raise NoUsableVotes("The two raters scored no answer in common, so one cannot be gold for the other.")
    scale = scale or _whole_numbers(judge, gold)
    levels = np.zeros((len(key), len(scale)), dtype=np.int64)
    np.add.at(levels, (place, _level(judge.score, scale)), 1)
    median = np.array([np.median(gold.score[of_gold == code]) for code in range(len(rated))])
    at = np.minimum(np.searchsorted(rated, key), len(rated) - 1)
    return LevelCounts(
        item=key // len(judge.models),
        levels=levels,
        gold=np.where(rated[at] == key, _level(median, scale)[at], NO_GOLD),
        scale=scale,
    )


def nearest(value: FloatArray, centre: float) -> IntArray:
    """Nearest whole number; a half goes towards the centre."""
    half = np.abs(value - np.floor(value) - 0.5) < 1e-9
    towards = np.where(value > centre, np.floor(value), np.ceil(value))
    return np.where(half, towards, np.rint(value)).astype(np.int64)


def _answer(scores: DirectScores) -> IntArray:
    return scores.item * len(scores.models) + scores.model


def _whole_numbers(*raters: DirectScores) -> tuple[float, ...]:
    low = int(np.floor(min(rater.score.min() for rater in raters)))
    high = int(np.ceil(max(rater.score.max() for rater in raters)))
    if high - low + 1 > MAX_LEVELS:
        raise InvalidOption(
            f"scale: scores go from {low} to {high}, more than {MAX_LEVELS} whole numbers; give the levels"
        )
    return tuple(float(x) for x in range(low, max(high, low + 1) + 1))


def _level(score: FloatArray, scale: tuple[float, ...]) -> IntArray:
    levels = np.array(scale)
    outside = (score < levels[0] - 0.5) | (score > levels[-1] + 0.5)
    if outside.any():
        raise InvalidOption(
            f"scale: the score {score[outside][0]:g} is outside {levels[0]:g} to {levels[-1]:g}; "
            "give levels that hold every score"
        )
    return nearest(np.interp(score, levels, np.arange(len(levels))), (len(levels) - 1) / 2)
