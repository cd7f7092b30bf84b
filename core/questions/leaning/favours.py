"""Does a judge prefer the answers of one model, whoever made it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...records import NO_GOLD, IntArray, VoteCounts
from ...stats.estimate import Estimate
from ...stats.intervals import check_level, n_distinct
from .preference import side_preference

MOST_MODELS = 20
"""More models than this are a leaderboard: each has too few comparisons of its own."""
LEAST_ITEMS = 10
"""Items with gold on which a model must have met another."""
ONE_SIDED = 0.80
"""A model that stands on one side more often than this cannot be told from its side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Favour:
    """How much more often a judge prefers a model's answers than gold does, −1 to 1.

    difference : `side_preference`, balanced, at the level shared by all models (Bonferroni); its n
        is the items on which the model met another.
    """

    model: str
    difference: Estimate


def favours(
    votes: VoteCounts,
    models: IntArray,
    names: Mapping[int, str],
    *,
    shuffled: bool = False,
    level: float = 0.95,
) -> tuple[Favour, ...]:
    """Every model's, by name; of two models the first alone, whose negative is the other's.

    models : (rows, 2) ids of the models of responses A and B, −1 without a name.
    names : id → name.  shuffled : both orders were shown, so that no model has a side.

    Raises InvalidOption for a level outside (0, 1). Source: ours, docs/methods.md §4.
    """
    check_level(level)
    labelled = (votes.gold != NO_GOLD) & (models[:, 0] != models[:, 1]) & (models >= 0).all(axis=1)
    present = sorted(np.unique(models[labelled]).tolist(), key=names.__getitem__)
    if len(present) > MOST_MODELS:
        return ()
    sides = {}
    for model in present[: 1 if len(present) == 2 else None]:
        of_a, of_b = (labelled & (column == model) for column in models.T)
        side = of_a.astype(np.int8) - of_b.astype(np.int8)
        met = side != 0
        one_sided = max((side > 0).sum(), (side < 0).sum()) > ONE_SIDED * max(met.sum(), 1)
        if n_distinct(votes.item[met]) >= LEAST_ITEMS and (shuffled or not one_sided):
            sides[names[model]] = side
    shared = 1 - (1 - level) / max(len(sides), 1)
    found = {
        name: side_preference(votes, side, balanced=True, level=shared)
        for name, side in sides.items()
    }
    return tuple(Favour(model=name, difference=of) for name, of in found.items() if of is not None)


def most_favoured(found: tuple[Favour, ...], least: float = 0.05) -> Favour | None:
    """The model whose interval is farthest from 0, if it leaves 0 out and `least` is reached."""

    def distance(favour: Favour) -> float:
        return max(favour.difference.low, -favour.difference.high)

    worst = max(found, key=distance, default=None)
    if worst is None or not distance(worst) > 0 or abs(worst.difference.value) < least:
        return None
    return worst
