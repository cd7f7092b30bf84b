"""What a paper's table is made from: counts of a selection, and settings that papers vary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bounds import within_models
from ..errors import NoUsableVotes
from ..finding.evidence import Counted, Evidence
from ..questions.boards.anchors import anchors as models_that_anchor
from ..questions.boards.ask import pair_scores
from ..questions.labels.btd import MINIMUM_LABELS, BTDFit, BTDOptions, fit
from ..records import NO_GOLD, DirectScores, ListRankings, PairScores, VoteCounts
from ..stats.estimate import DataFrame, data_frame
from ..store import vote_queries as queries

if TYPE_CHECKING:
    from ..questions.boards.anchored import Prior
    from ..schema import Selection
    from ..store.connection import Snapshot

NOTHING = "No judge of the selection has what it needs."
MOST_FITTED = 12
"""Judges for whom rules are fitted on many splits; of more, those with most votes on gold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What papers vary beside the options of an audit.

    by : the column whose values are tasks, or prompts.  judge : for what is shown of one judge;
        None: the one with most votes on gold.  sizes : votes a comparison.
    """

    by: str = "category"
    judge: str | None = None
    prior: Prior = "jeffreys"
    sizes: tuple[int, ...] = (2, 4, 8, 12)


def scores_in(
    store: Snapshot, selection: Selection, *, column: str, value: str
) -> dict[str | None, PairScores]:
    """Pair scores of the votes with one value of a column, of each judge and pooled."""
    inside = replace(selection, where=(*selection.where, (column, value)))
    return pair_scores(store, inside, pooled=True)


class Asked:
    """Counts of a selection with results that several tables share; each is made when needed."""

    def __init__(self, counted: Counted, settings: Settings | None = None) -> None:
        self.counted, self.settings = counted, settings or Settings()
        self.options = counted.options

    def rng(self) -> np.random.Generator:
        """A new generator of the audit's seed, so that a table is the same whatever came before."""
        return np.random.default_rng(self.options.seed)

    @property
    def btd(self) -> BTDOptions:
        """How BTD is fitted."""
        return BTDOptions(alpha=self.options.alpha, kappa=self.options.kappa)

    @property
    def splits(self) -> dict[str, Any]:
        """Splits as `evaluate` and its kin take them."""
        return {"n_splits": self.options.splits or 20, "share": self.options.calibration_share}

    @cached_property
    def votes(self) -> dict[str, VoteCounts]:
        """Votes of every judge that is no person; NoUsableVotes without one."""
        found = {
            name: votes
            for name, votes in (self.counted.votes if self.counted.about else {}).items()
            if name not in self.counted.people
        }
        if not found:
            raise NoUsableVotes("It needs votes of a judge that compares two responses.")
        return found

    @cached_property
    def labelled(self) -> dict[str, VoteCounts]:
        """Judges with enough votes on gold to fit BTD, those with most first."""
        sizes = {
            name: int(votes.n[votes.gold != NO_GOLD].sum()) for name, votes in self.votes.items()
        }
        enough = {
            name: each
            for name in sorted(sizes, key=lambda name: (-sizes[name], name))
            if len(each := self.votes[name].labelled()) >= MINIMUM_LABELS
        }
        if not enough:
            raise NoUsableVotes(
                f"It needs gold on at least {MINIMUM_LABELS} comparisons of a judge."
            )
        return dict(list(enough.items())[:MOST_FITTED])

    @property
    def judge(self) -> str:
        """The judge of tables about one."""
        return self.settings.judge or next(iter(self.labelled))

    @cached_property
    def fits(self) -> dict[str, BTDFit]:
        """BTD of each judge on all its labels."""
        return {name: fit(votes.cells()[0], self.btd) for name, votes in self.labelled.items()}

    @cached_property
    def tasks(self) -> dict[str, dict[str, VoteCounts]]:
        """Value of the column of tasks → judge → its votes."""
        self.votes  # noqa: B018  says what is missing
        by_value = self.counted.ask(queries.vote_counts_by, column=self.settings.by)
        found = {
            value: {name: votes for name, votes in of.items() if name in self.votes}
            for value, of in by_value.items()
            if value
        }
        if len(found) < 2:
            raise NoUsableVotes(
                f"It needs votes with two values of {self.settings.by!r} or more (--by COLUMN)."
            )
        return found

    def evidence(self) -> Iterable[Evidence]:
        """All that is known of each judge."""
        return [self.counted.of(name) for name in self.votes]

    @cached_property
    def pairs(self) -> dict[str | None, PairScores]:
        """Scores of model pairs by each judge, pooled under None."""
        self.votes  # noqa: B018  says what is missing
        found, _ = within_models(
            self.counted.ask(pair_scores, pooled=True), self.options.anchors or ()
        )
        return found

    @cached_property
    def anchors(self) -> tuple[str, ...]:
        """Anchors of boards; NoUsableVotes where no model met two others."""
        found = self.options.anchors or models_that_anchor(self.pairs[None], minimum=2)
        if not found:
            raise NoUsableVotes("It needs three models or more of which one met the others.")
        return tuple(found)

    @property
    def anchor(self) -> str:
        """The anchor of tables about one."""
        return self.anchors[0]

    @cached_property
    def by_judge(self) -> dict[str, PairScores]:
        """Scores by each judge."""
        return {name: each for name, each in self.pairs.items() if name is not None}

    @cached_property
    def scores(self) -> dict[str, DirectScores]:
        """Direct scores of each judge; raises NoUsableVotes without any."""
        if not self.counted.summary.scores:
            raise NoUsableVotes("It needs direct scores: item_id, model, judge and score.")
        found: dict[str, DirectScores] = self.counted.ask(queries.direct_scores)
        return found

    @cached_property
    def rankings(self) -> dict[str, ListRankings]:
        """Listwise judgements of each judge; raises NoUsableVotes without any."""
        if not self.counted.summary.rankings:
            raise NoUsableVotes(
                "It needs rankings of several candidates: run, slot, score and rank."
            )
        found: dict[str, ListRankings] = self.counted.ask(queries.list_rankings)
        return found


def together(frames: Mapping[str, DataFrame], name: str = "judge") -> DataFrame:
    """Tables one below the other, whose they are in a first column; NoUsableVotes without any."""
    if not frames:
        raise NoUsableVotes(NOTHING)
    import pandas as pd

    parts = []
    for whose, each in frames.items():
        rest = each.drop(columns=name, errors="ignore")
        rest.insert(0, name, whose)
        parts.append(rest)
    return pd.concat(parts, ignore_index=True)


def rows(found: Iterable[Mapping[str, Any]], why: str = "") -> DataFrame:
    """A table of rows; NoUsableVotes, with why, without any."""
    listed = list(found)
    if not listed:
        raise NoUsableVotes(why or NOTHING)
    return data_frame(listed)
