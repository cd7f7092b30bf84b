"""How much one view holds: of more, the largest part is shown, and a sentence says so.

Pairs of judges and of models grow with the square of their number, so that a file of a hundred
kilobytes could ask for hours. Data sets have no bound: what is reckoned of them grows as they do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from .records import IntArray, PairScores
from .schema import Selection

MOST_JUDGES = 500
"""Judges of one audit; 124,750 pairs of them."""
MOST_METRICS = 300
"""Metrics of one audit, each of a judge: one with two thousand scorers took minutes."""
MOST_WAITED_FOR = 300
"""Judges and models that pages show while one waits."""
MOST_COMPARED = 1_000
"""Judges whose agreement is reckoned pair by pair in one call; 499,500 pairs."""
MOST_MODELS = 1_000
"""Models of one audit's leaderboards; 499,500 pairs of them."""
MOST_ANCHORS = 30
"""Anchors of one audit: every two are compared, so the work grows with their square."""
MOST_SWAPPED = 100
"""Models that a page compares as anchors, two by two, and as triangles, three by three."""
MOST_LISTED = 2_000
"""Pairs of judges in the table of a report; the JSON has all."""
MOST_DRAWN = 20
"""Judges with a figure of their own in a report, and models in the figure of a board; its tables
have all of them.
"""
MOST_BOARDS = 12
"""Anchors whose leaderboard a report shows; the JSON has all."""
STEADINESS_VOTES = 4
"""Decided votes on a comparison: so many tell the square of its steadiness without bias."""
MOST_NAMED = 20
"""Names in one line of the terminal."""


def within_judges(
    selection: Selection,
    judges: Iterable[tuple[str, bool, int]],
    *,
    others: Iterable[tuple[str, int]] = (),
    most: int = MOST_JUDGES,
    remedy: str = "Name judges to audit others.",
) -> tuple[Selection, str | None]:
    """A selection of at most `most` judges, and the sentence that says so; None if it is all of it.

    judges : name, whether a human, and number of votes, of all that are selected. Of too many those
        that are no humans come first, then those with most votes, then names in order.
    others : name and number of judgements of raters who gave scores or rankings; of those without
        votes as many are left.
    remedy : how to choose others.
    """
    every = list(judges)
    if len(every) <= most:
        return selection, None
    first = sorted(every, key=lambda judge: (judge[1], -judge[2], judge[0]))[:most]
    judged = {name for name, _, _ in every}
    beside = sorted((-n, name) for name, n in others if name not in judged)[:most]
    kept = tuple(sorted({name for name, _, _ in first} | {name for _, name in beside}))
    return replace(selection, judges=kept), (
        f"{most:,} of {len(every):,} judges are audited: those that are no humans before those "
        f"that are, and of each those with most votes. {remedy}"
    )


def within_models(
    pairs: Mapping[str | None, PairScores],
    anchors: Collection[str] = (),
    *,
    most: int = MOST_MODELS,
    remedy: str = "Select a part of the votes to see others.",
) -> tuple[dict[str | None, PairScores], str | None]:
    """Pair scores of at most `most` models, and the sentence that says so; None if of all.

    pairs : of each judge, and pooled under None, which counts whose votes are most; all have the
        same models. A judge none of whose pairs is left has no scores.
    anchors : models that were asked for, which stay however few their votes.
    remedy : how to choose others.
    """
    pooled = pairs[None]
    names = models_with_most_votes(pooled, anchors, most=most)
    if len(names) == len(pooled.models):
        return dict(pairs), None
    within = {judge: of_models(scores, names) for judge, scores in pairs.items()}
    return {judge: scores for judge, scores in within.items() if judge is None or len(scores)}, (
        f"Leaderboards hold {len(names):,} of {len(pooled.models):,} models, those with most "
        f"votes. {remedy}"
    )


def models_with_most_votes(
    scores: PairScores, anchors: Collection[str] = (), *, most: int
) -> tuple[str, ...]:
    """At most `most` models in the order of `scores`: the anchors, then those with most votes."""
    if len(scores.models) <= most:
        return scores.models
    codes = np.concatenate([scores.model_1, scores.model_2])
    votes = np.bincount(codes, np.tile(scores.n_votes, 2), len(scores.models))
    asked = np.isin(scores.models, list(anchors))
    votes = np.where(asked, votes.max(initial=0) + 1, votes)
    # Names are in order, and the sort keeps it among equals.
    kept = np.sort(np.argsort(-votes, kind="stable")[:most])
    return tuple(scores.models[model] for model in kept)


def of_models(scores: PairScores, models: Collection[str]) -> PairScores:
    """The rows both of whose models are among `models`; what is no model here has none."""
    wanted = set(models)
    names = [name for name in scores.models if name in wanted]
    if len(names) == len(scores.models):
        return scores
    place = {name: code for code, name in enumerate(names)}
    code: IntArray = np.array([place.get(name, -1) for name in scores.models], dtype=np.int64)
    rows = (code[scores.model_1] >= 0) & (code[scores.model_2] >= 0)
    return replace(
        scores,
        models=tuple(names),
        model_1=code[scores.model_1[rows]],
        model_2=code[scores.model_2[rows]],
        item=scores.item[rows],
        score=scores.score[rows],
        n_votes=scores.n_votes[rows],
        tie=None if scores.tie is None else scores.tie[rows],
    )


def some_of(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Names as one line, of many the first and how many more."""
    left = len(names) - most
    return ", ".join(names) if left <= 0 else f"{', '.join(names[:most])} and {left:,} more"
