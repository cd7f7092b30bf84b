"""What the votes say of one judge: counts in, results of methods out, each computed once.

A count enters by `Counted`, a method makes a result of it here, and checks, tables, JSON and gates
read that result: one number has one home.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from ..bounds import STEADINESS_VOTES
from ..records import NO_GOLD, OutcomeCounts, OutputCounts, PositionCounts, VoteCounts
from ..stats.repeated_votes import outcomes_by_share
from ..store import vote_queries as queries
from ..store.file_queries import by_file
from .question import Question
from .result import Results

if TYPE_CHECKING:
    import pyarrow as pa

    from ..auditing.options import AuditOptions
    from ..records import (
        ByFile,
        ConfidenceCounts,
        FirstVotes,
        IntArray,
        LengthCounts,
        OrderCounts,
        RatingTable,
        WeighedVotes,
    )
    from ..schema import RowsRead
    from ..store.browse import JudgeSummary, Summary
    from .check import Limits


T = TypeVar("T")
LARGEST = "weighed"
"""Counts that are as large as all others together."""


class Counted(Results):
    """What the votes of a selection are counted to, by judge; each count is asked for when needed.

    ask : a query of `store.vote_queries` and its options → its answer. An audit asks one snapshot
        of the store, a page its cache.
    anchors : gives the models that repeated votes are oriented by.
    """

    def __init__(
        self,
        ask: Callable[..., Any],
        summary: Summary,
        options: AuditOptions,
        *,
        gold: str = "given",
        anchors: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        super().__init__()
        self._ask = ask
        self.summary, self.options, self.gold = summary, options, gold
        self._anchors = anchors
        self._evidence: dict[str, Evidence] = {}
        self._levels: dict[float, Counted] = {}
        self._answers: dict[tuple[Any, ...], Any] = {}
        self.about = {judge.name: judge for judge in summary.judges}
        self.people = frozenset(
            judge.name for judge in summary.judges if judge.rater_type == "human"
        )

    def ask(self, query: Callable[..., T], **given: Any) -> T:
        """The answer of a query, asked once."""
        key = (query, *sorted(given.items()))
        if key not in self._answers:
            self._answers[key] = self._ask(query, **given)
        answer: T = self._answers[key]
        return answer

    def forget(self, query: Callable[..., Any]) -> None:
        """Let go of a query's answers, which are asked for again if they are needed again."""
        self._answers = {key: answer for key, answer in self._answers.items() if key[0] != query}

    @cached_property
    def anchors(self) -> tuple[str, ...]:
        """Models that repeated votes are oriented by."""
        return self._anchors()

    @cached_property
    def rows_read(self) -> RowsRead | None:
        """The rows of the files, and how many were not read whole."""
        read: RowsRead | None = self._ask(queries.rows_read)
        return read

    @cached_property
    def by_file(self) -> dict[tuple[str, str | None], ByFile]:
        """What each judge said in each file, where there are several."""
        return dict(self._ask(by_file))

    @cached_property
    def votes(self) -> dict[str, VoteCounts]:
        """Votes per comparison."""
        return dict(self._ask(queries.vote_counts))

    @cached_property
    def outcomes(self) -> dict[str, OutcomeCounts]:
        """Right and wrong verdicts by confidence."""
        return dict(self._ask(queries.outcomes, rule=self.options.correctness))

    @cached_property
    def positions(self) -> dict[str, PositionCounts]:
        """Votes by the slot shown first."""
        return dict(self._ask(queries.positions))

    @cached_property
    def orders(self) -> dict[str, OrderCounts]:
        """Votes in each order, with gold; asked for only where some judge saw one order alone, or
        voted so often that its steadiness can be told.
        """
        one_order = any(not counts.pairs.any() for counts in self.positions.values())
        most = max((int(counts.n.max(initial=0)) for counts in self.votes.values()), default=0)
        wanted = self.positions and (one_order or most >= STEADINESS_VOTES)
        return dict(self._ask(queries.order_counts)) if wanted else {}

    @cached_property
    def ratings(self) -> dict[str, RatingTable]:
        """Repeated votes."""
        return dict(self._ask(queries.ratings, anchors=self.anchors))

    @cached_property
    def weighed(self) -> dict[str, WeighedVotes]:
        """What rules beyond counts need, where there are splits or a grid."""
        wanted = self.options.splits or self.options.grid
        return dict(self._ask(queries.weighed_votes)) if wanted else {}

    @cached_property
    def by_confidence(self) -> dict[str, ConfidenceCounts]:
        """Votes by the confidence that they state."""
        return dict(self._ask(queries.confidence_counts))

    @cached_property
    def lengths(self) -> dict[str, LengthCounts]:
        """Votes on responses of known, different length."""
        return dict(self._ask(queries.length_counts))

    @cached_property
    def outputs(self) -> dict[str, OutputCounts]:
        """Votes beside outputs that have none, where some have none."""
        return dict(self._ask(queries.outputs)) if self.summary.unparsed else {}

    @cached_property
    def by_category(self) -> dict[str, dict[str, VoteCounts]]:
        """Category → judge → votes, where there are several."""
        several = len(self.summary.categories) > 1
        return dict(self._ask(queries.vote_counts_by, column="category")) if several else {}

    @cached_property
    def first_votes(self) -> dict[str, FirstVotes]:
        """The first vote on each comparison, where a judge voted twice on some with gold."""
        repeated = any(
            bool(((counts.n > 1) & (counts.gold != NO_GOLD)).any())
            for counts in self.votes.values()
        )
        return dict(self._ask(queries.first_votes)) if repeated else {}

    @cached_property
    def namesakes(self) -> Mapping[str, tuple[str, ...]]:
        """Judge without a named family → the models that bear its name."""
        judges = [name for name in self.about if name not in self.people]
        return self.options.namesakes(judges, self.summary.models)

    @cached_property
    def names(self) -> pa.Table | None:
        """Models of the comparisons, where a judge is of a family."""
        wanted = self.options.families or self.namesakes
        return self._ask(queries.comparison_names) if wanted else None

    @cached_property
    def models(self) -> IntArray:
        """Ids of the two models of each comparison, −1 where they have no names."""
        models: IntArray = self._ask(queries.compared_models)
        return models

    def of(self, judge: str) -> Evidence:
        """All that is known of one judge."""
        if judge not in self._evidence:
            self._evidence[judge] = Evidence(self, judge)
        return self._evidence[judge]

    def settle(
        self, questions: Iterable[Question], *, release: Callable[[], None] = lambda: None
    ) -> None:
        """Make the results that have counts of their own, and let go of these counts.

        Results are small, counts are as many as votes: of ten million few fit in memory at once.
        release : lets go of what other counts are made from, before the largest are asked for.
        """
        listed = list(questions)
        own = [name for each in listed for name in (*each.own_counts, *each.of_all.own_counts)]
        for counts in sorted(dict.fromkeys(own), key=lambda name: name == LARGEST):
            if counts == LARGEST:
                release()
            for question in listed:
                for judge, result in product(self.about, question.own_counts.get(counts, ())):
                    self.of(judge)[result]
                for result in question.of_all.own_counts.get(counts, ()):
                    self[result]
            self.release(counts)

    def release(self, counts: str) -> None:
        """Let go of counts, which are asked for again if they are needed again."""
        self.__dict__.pop(counts, None)

    def at_level(self, level: float) -> Counted:
        """The same counts, for results with intervals of another level."""
        if level not in self._levels:
            options = replace(self.options, level=level, splits=0)
            self._levels[level] = Counted(
                self._ask, self.summary, options, gold=self.gold, anchors=self._anchors
            )
        return self._levels[level]


class Evidence(Results):
    """Results on one judge, each made when it is first asked for; None where votes cannot tell."""

    metric = None
    options: AuditOptions

    def __init__(self, counted: Counted, judge: str) -> None:
        self.counted, self.judge = counted, judge
        super().__init__()
        self.options, self.level = counted.options, counted.options.level
        self.limits: Mapping[str, Limits] = counted.options.rules.limits

    def counts(self, query: Callable[..., Mapping[str, T]], **given: Any) -> T | None:
        """What a query counts of this judge; None where it has nothing of it."""
        return self.counted.ask(query, **given).get(self.judge)

    @property
    def about(self) -> JudgeSummary:
        """How many votes of which kind it has."""
        return self.counted.about[self.judge]

    @property
    def votes(self) -> VoteCounts | None:
        """Its votes per comparison."""
        return self.counted.votes.get(self.judge)

    @property
    def outcomes(self) -> OutcomeCounts | None:
        """Its right and wrong verdicts."""
        return self.counted.outcomes.get(self.judge)

    @cached_property
    def stated(self) -> OutcomeCounts | None:
        """Its verdicts on gold that have a confidence; None without one. By share of votes the
        verdict is the majority of a repeated comparison.
        """
        if self.options.confidence_by == "share":
            return None if self.votes is None else outcomes_by_share(self.votes)
        stated = None if self.outcomes is None else self.outcomes.with_confidence()
        return stated if stated is not None and stated.n.sum() else None

    @property
    def positions(self) -> PositionCounts | None:
        """Its votes by the slot shown first."""
        return self.counted.positions.get(self.judge)

    @property
    def by_file(self) -> ByFile | None:
        """What it said in each file, where there are several."""
        return self.counted.by_file.get((self.judge, None))

    @property
    def outputs(self) -> OutputCounts | None:
        """Its outputs, where some have no vote."""
        return self.counted.outputs.get(self.judge)

    @property
    def is_person(self) -> bool:
        """Whether the votes are a human rater's."""
        return self.judge in self.counted.people

    @property
    def has_gold(self) -> bool:
        """Whether any comparison that it judged has a gold label."""
        return self.votes is not None and bool((self.votes.gold != NO_GOLD).any())

    @property
    def orders(self) -> OrderCounts | None:
        """Its votes by order, where that is known and of use."""
        return self.counted.orders.get(self.judge)

    @property
    def lengths(self) -> LengthCounts | None:
        """Its votes on responses of known, different length."""
        return self.counted.lengths.get(self.judge)

    @cached_property
    def other_people(self) -> dict[str, VoteCounts]:
        """Votes of the people beside it."""
        return {
            name: self.counted.votes[name]
            for name in sorted(self.counted.people)
            if name != self.judge and name in self.counted.votes
        }


def makes_gold(judge: str, people: Collection[str], gold: str) -> bool:
    """Whether gold, as a selection forms it, holds the judge's own votes."""
    return gold == judge or (gold == "humans" and judge in people)
