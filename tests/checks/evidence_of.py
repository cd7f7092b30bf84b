"""Evidence on a judge from plain counts, without a store: what a check says of these very votes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from core.auditing.checks import BY_NAME, CHECKS
from core.auditing.options import AuditOptions
from core.auditing.overall import Overall, overall_verdict
from core.finding.check import CheckResult
from core.finding.evidence import Counted, Evidence
from core.records import (
    NO_GOLD,
    FirstVotes,
    LengthCounts,
    OrderCounts,
    OutcomeCounts,
    OutputCounts,
    PositionCounts,
    VoteCounts,
)
from core.schema import RowsRead
from core.store import vote_queries as queries
from core.store.browse import JudgeSummary, Summary
from core.store.file_queries import by_file


def evidence_of(
    votes: VoteCounts | None = None,
    *,
    judge: str = "j",
    outcomes: OutcomeCounts | None = None,
    positions: PositionCounts | None = None,
    orders: OrderCounts | None = None,
    ratings: Any = None,
    lengths: LengthCounts | None = None,
    outputs: OutputCounts | None = None,
    categories: Mapping[str, VoteCounts] | None = None,
    perturbed: Iterable[Any] = (),
    first: FirstVotes | None = None,
    people: Mapping[str, VoteCounts] | None = None,
    others: Mapping[str, VoteCounts] | None = None,
    models: Any = None,
    gold: str = "given",
    rows: RowsRead | None = None,
    failed: int = 0,
    n: int | None = None,
    **options: Any,
) -> Evidence:
    """Evidence on one judge; what is not given is not known, verdicts without confidence apart.

    perturbed : as `vote_queries.perturbed_votes` has it.  people, others : further raters.
    models : (comparison codes, 2) ids of the two models that meet.  rows : those of the files.
    failed : outputs without a verdict.  n : votes, those of `votes` if it is not given.
    """
    beside = {**(people or {}), **(others or {})}
    of_all = beside if votes is None else {judge: votes, **beside}
    if models is None:
        codes = (int(each.comparison.max(initial=-1)) + 1 for each in of_all.values())
        models = np.full((max(codes, default=0), 2), -1, dtype=np.int64)
    if outcomes is None and votes is not None and (votes.gold != NO_GOLD).any():
        outcomes = _without_confidence(votes.labelled())
    answers: dict[Any, Any] = {
        queries.vote_counts: of_all,
        queries.vote_counts_by: {
            category: {judge: counts} for category, counts in (categories or {}).items()
        },
        queries.compared_models: np.asarray(models),
        queries.comparison_names: None,
        queries.perturbed_votes: tuple(perturbed),
        queries.weighed_votes: {},
        queries.rows_read: rows,
        queries.dated_columns: (),
        queries.of_several_temperatures: frozenset(),
        queries.confidence_counts: {},
        by_file: {},
    }
    for query, counts in (
        (queries.outcomes, outcomes),
        (queries.positions, positions),
        (queries.order_counts, orders),
        (queries.ratings, ratings),
        (queries.length_counts, lengths),
        (queries.outputs, outputs),
        (queries.first_votes, first),
    ):
        answers[query] = {} if counts is None else {judge: counts}

    def about(name: str, counts: VoteCounts | None) -> JudgeSummary:
        cast = (0, 0, 0) if counts is None else (counts.plus, counts.tie, counts.minus)
        plus, tie, minus = (int(np.sum(of_each)) for of_each in cast)
        total = n if n is not None and name == judge else plus + tie + minus
        return JudgeSummary(
            name=name,
            rater_type="human" if name in (people or {}) else "llm",
            plus=plus,
            tie=tie,
            minus=minus,
            n=total,
            failed=failed if name == judge else 0,
            labelled=0,
            with_confidence=0,
            with_position=0,
            runs=1,
        )

    raters = {judge: votes, **beside}
    summary = Summary(
        votes=0,
        items=0,
        comparisons=0,
        unparsed=failed,
        statuses={},
        datasets=("votes",),
        judges=tuple(about(name, counts) for name, counts in raters.items()),
        models=(),
        categories=dict.fromkeys(categories or {}, 1),
        simulated=False,
    )
    options.setdefault("splits", 0)
    counted = Counted(
        lambda query, **_: answers[query], summary, AuditOptions(**options), gold=gold
    )
    return counted.of(judge)


def _without_confidence(labelled: VoteCounts) -> OutcomeCounts:
    right = np.choose(labelled.gold + 1, [labelled.minus, labelled.tie, labelled.plus])
    return OutcomeCounts(
        item=labelled.item, confidence=np.full(len(labelled), np.nan), n=labelled.n, correct=right
    )


def result(check: str, votes: VoteCounts | None = None, **given: Any) -> CheckResult:
    """What one check says of these counts."""
    return BY_NAME[check].result(evidence_of(votes, **given))


def confidence_results(outcomes: OutcomeCounts | None) -> list[CheckResult]:
    """The three checks of confidence, in the order of the page Calibration."""
    evidence = evidence_of(outcomes=outcomes)
    checks = ("overconfidence", "calibration", "discrimination")
    return [BY_NAME[check].result(evidence) for check in checks]


def overall(evidence: Evidence) -> Overall:
    """The overall verdict from all checks."""
    return overall_verdict(evidence, [check.result(evidence) for check in CHECKS])


def votes_of(vote: Any, gold: Any, *, item: Any = None) -> VoteCounts:
    """One vote per comparison."""
    return VoteCounts(**_rows(vote, gold, item))


def _rows(vote: Any, gold: Any, item: Any) -> dict[str, Any]:
    vote, gold = np.atleast_1d(vote), np.atleast_1d(gold).astype(np.int64)
    vote = vote[:, None] if vote.ndim == 1 else vote
    return {
        "comparison": np.arange(len(vote)),
        "item": np.arange(len(vote)) if item is None else np.asarray(item),
        "plus": (vote == 1).sum(axis=1),
        "tie": (vote == 0).sum(axis=1),
        "minus": (vote == -1).sum(axis=1),
        "gold": np.broadcast_to(gold, len(vote)).copy(),
    }


def shown(
    ab: Any, ba: Any = None, gold: Any = NO_GOLD, *, first_is_a: Any = None
) -> dict[str, Any]:
    """Votes, positions and orders of comparisons of one item each, from votes in both orders.

    ab, ba : (comparisons,) or (comparisons, votes) votes for A where A, and where B was shown
        first.  Where each comparison was shown in one order only `ba` is None and `first_is_a`
        says which.
    """
    ab = np.asarray(ab)
    ab = ab[:, None] if ab.ndim == 1 else ab
    size, each = ab.shape
    nothing = np.full((size, 0), 0)
    if ba is None:
        a_first = np.broadcast_to(np.asarray(first_is_a), size)
        cast = ab
        of_ab = np.stack([(ab == label).sum(axis=1) for label in (-1, 0, 1)], axis=1)
        of_ba = np.where(a_first[:, None], 0, of_ab)
        of_ab = of_ab - of_ba
        slot = np.where(a_first[:, None], ab, -ab)
        orders, pairs = [ab], 0
        swapped = nothing
    else:
        ba = np.asarray(ba)
        ba = ba[:, None] if ba.ndim == 1 else ba
        cast = np.concatenate([ab, ba], axis=1)
        of_ab, of_ba = (
            np.stack([(votes == label).sum(axis=1) for label in (-1, 0, 1)], axis=1)
            for votes in (ab, ba)
        )
        slot = np.concatenate([ab, -ba], axis=1)
        orders, pairs = [ab, ba], each
        swapped = ab - ba
    votes = votes_of(cast, gold)
    alike = np.zeros(size, np.int64)
    same = 0
    for of_order in orders:
        for one in range(of_order.shape[1]):
            for other in range(one):
                alike += of_order[:, one] != of_order[:, other]
                same += 1
    positions = PositionCounts(
        comparison=votes.comparison,
        item=votes.item,
        category=np.zeros(size, np.int64),
        categories=("",),
        first=(slot == 1).sum(axis=1),
        second=(slot == -1).sum(axis=1),
        tie=(slot == 0).sum(axis=1),
        pairs=np.full(size, pairs),
        flips=(swapped != 0).sum(axis=1),
        hard_flips=(np.abs(swapped) == 2).sum(axis=1),
        slot_sum=swapped.sum(axis=1),
        same_order_pairs=np.full(size, same),
        same_order_disagreements=alike,
        margin=np.full(size, np.nan),
    )
    return {
        "votes": votes,
        "positions": positions,
        "orders": OrderCounts(
            comparison=votes.comparison, item=votes.item, ab=of_ab, ba=of_ba, gold=votes.gold
        ),
    }


def outcomes_of(confidence: Any, right: Any, *, each: int = 1) -> OutcomeCounts:
    """Items of `each` verdicts alike."""
    right = np.asarray(right, dtype=np.int64)
    return OutcomeCounts(
        item=np.arange(len(right)),
        confidence=np.broadcast_to(np.asarray(confidence, dtype=np.float64), len(right)).copy(),
        n=np.full(len(right), each),
        correct=each * right,
    )


def positions_of(size: int, **columns: Any) -> PositionCounts:
    """Comparisons of one item each, all judged in one pair of orders unless `columns` say else."""
    given: dict[str, Any] = {
        field.name: np.zeros(size, np.int64)
        for field in fields(PositionCounts)
        if field.name != "categories"
    }
    given |= {
        "comparison": np.arange(size),
        "item": np.arange(size),
        "pairs": np.ones(size, np.int64),
        "margin": np.full(size, np.nan),
        "categories": ("",),
    }
    return PositionCounts(**given | {name: np.asarray(values) for name, values in columns.items()})


def swapped(flips: int, pairs: int, *, towards: int = 0) -> PositionCounts:
    """So many opposite verdicts, half to either slot, or all to one."""
    hard = np.zeros(pairs, np.int64)
    hard[:flips] = 1
    side = np.where(np.arange(pairs) % 2 == 0, 1, -1) if not towards else np.full(pairs, towards)
    return positions_of(pairs, flips=hard, hard_flips=hard, slot_sum=2 * hard * side)
