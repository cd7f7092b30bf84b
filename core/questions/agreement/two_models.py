"""Is the new one better? Two models that were compared, in one line, as gold would say it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import TooFewLabels
from ...finding.wording import count, percent, percent_span
from ...records import IntArray, VoteCounts
from ...stats.estimate import Estimate
from ...stats.intervals import mean_interval
from ..boards.debiased import DebiasedRate, debiased_rate, oriented

NEWER, OLDER = ("new", "candidate", "challenger"), ("old", "base", "current", "prod")
"""What is in the name of the model in question, and of the one that it is to beat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoModels:
    """Win share of one model against another, a tie being half a win.

    share : corrected by the comparisons with gold where 10 items or more have it, else that of the
        judge's votes.  labels : comparisons that correct it; 0 without.
    """

    model: str
    against: str
    judge: str
    share: Estimate
    labels: int

    @property
    def sentence(self) -> str:
        """The share, whether that settles it, and what it rests on."""
        share = self.share
        ends = f" ({percent_span(share).replace(' %', '')})" if share.has_interval else ""
        settled = "not settled"
        if share.excludes(0.5):
            settled = f"{self.model if share.value > 0.5 else self.against} is better"
        by = f"by the votes of {self.judge}, which no label corrects"
        if self.labels:
            by = f"{self.judge} corrected by {count(self.labels, 'label')}"
        return f"{self.model} against {self.against}: {percent(share.value)}{ends}, {settled}; {by}"


def two_models(
    judge: str, counts: VoteCounts, models: IntArray, names: tuple[str, str], *, level: float = 0.95
) -> TwoModels | None:
    """The two models of a data set beside one another; None where one judge saw no comparison of
    them.

    counts : of `judge`.  models : ids by code of comparison (`compared_models`).
    names : of the two ids, in their order.
    """
    ids = np.unique(models)
    first = _in_question(names)
    sides = models[counts.comparison]
    met = sides[:, 0] != sides[:, 1]
    if not met.any():
        return None
    votes = oriented(counts, met, sides[:, 0] != ids[first])
    share: Estimate
    try:
        share = debiased_rate(votes, level=level)
    except TooFewLabels:
        won = (1 + (votes.plus - votes.minus) / votes.n) / 2
        share = mean_interval(votes.item, won, ends=(0.0, 1.0), level=level)
    return TwoModels(
        model=names[first],
        against=names[1 - first],
        judge=judge,
        share=share,
        labels=share.n_labelled if isinstance(share, DebiasedRate) else 0,
    )


def _in_question(names: tuple[str, str]) -> int:
    """Which of two is asked about: the one whose name says so, else the first."""
    low = [name.casefold() for name in names]
    for place in (0, 1):
        if any(word in low[place] for word in NEWER) or any(
            word in low[1 - place] for word in OLDER
        ):
            return place
    return 0
