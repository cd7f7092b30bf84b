"""A judge that does not read the answers is not trusted, and one that does is not suspected of it.

Judges and gold are drawn by plain uniform numbers here, so that nothing of the method is trusted.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from evidence_of import evidence_of, overall, shown, votes_of

from core.finding.evidence import Evidence
from core.questions.accuracy.check import ACCURACY
from core.questions.accuracy.method import BEYOND_BLIND
from core.questions.accuracy.results import BLIND_RULE, CREDIT
from core.records import LengthCounts
from core.stats.estimate import Estimate

TWO_MODELS = np.array([0, 1])
KINDS = ((1, 1), (-1, 1), (1, -1), (-1, -1))
"""Vote and gold of an item."""


def one_sided(rng: np.random.Generator, items: int, share: float) -> Any:
    """Gold that is +1 on so large a share of the items."""
    return np.where(rng.permutation(items) < round(share * items), 1, -1)


def right_on(rng: np.random.Generator, gold: Any, share: float) -> Any:
    return np.where(rng.random(len(gold)) < share, gold, -gold)


def grade(evidence: Evidence) -> str:
    return ACCURACY.result(evidence).grade


def accuracy_sentence(evidence: Evidence) -> str:
    return ACCURACY.result(evidence).sentence


def longer(gold: Any, votes: Any) -> LengthCounts:
    """Response A is the longer one throughout."""
    return LengthCounts(
        comparison=np.arange(len(gold)),
        item=np.arange(len(gold)),
        longer=(votes == 1).astype(np.int64),
        shorter=(votes == -1).astype(np.int64),
        tie=np.zeros(len(gold), np.int64),
        gold=gold,
    )


def always_the_same_model() -> Evidence:
    """Two models, gold prefers the first in 90 %, and so does the judge, in both orders."""
    gold = one_sided(np.random.default_rng(0), 300, 0.9)
    votes = np.ones(300, dtype=np.int64)
    return evidence_of(**shown(votes, votes, gold), models=np.tile(TWO_MODELS, (300, 1)))


def always_pass() -> Evidence:
    """Pass or fail of 300 answers, of which 270 are right, and a judge that passes all."""
    return evidence_of(votes_of(np.ones(300), one_sided(np.random.default_rng(0), 300, 0.9)))


def always_the_first_slot() -> Evidence:
    """One order, gold in the first slot in all rows."""
    gold = np.random.default_rng(0).choice([-1, 1], 300)
    return evidence_of(**shown(gold, gold=gold, first_is_a=gold == 1))


def mostly_the_first_slot() -> Evidence:
    """One order, gold in the first slot in nine of ten."""
    rng = np.random.default_rng(0)
    gold = rng.choice([-1, 1], 300)
    first_is_a = (gold == 1) == (rng.random(300) < 0.9)
    return evidence_of(**shown(np.where(first_is_a, 1, -1), gold=gold, first_is_a=first_is_a))


def always_the_longer() -> Evidence:
    """Gold prefers the longer answer in 90 %, and so does the judge, in both orders."""
    gold = one_sided(np.random.default_rng(0), 300, 0.9)
    votes = np.ones(300, dtype=np.int64)
    return evidence_of(**shown(votes, votes, gold), lengths=longer(gold, votes))


@pytest.mark.parametrize(
    ("judge", "rule"),
    [
        (always_the_same_model, "the same model of each pair"),
        (always_pass, "the same label always"),
        (always_the_first_slot, "the response shown first"),
        (mostly_the_first_slot, "the response shown first"),
        (always_the_longer, "the longer response"),
    ],
)
def test_a_judge_that_ignores_the_answers_is_never_trusted(judge: Any, rule: str) -> None:
    evidence = judge()
    # By its half credit alone each of them is fine.
    assert evidence[CREDIT].low > 0.70
    assert evidence[BLIND_RULE].rule == rule
    assert grade(evidence) in ("unclear", "warn")
    assert overall(evidence).verdict == "cannot_say"
    assert rule in accuracy_sentence(evidence)


def test_what_cannot_be_told_from_a_rule_says_what_to_label() -> None:
    said = accuracy_sentence(always_the_first_slot())
    assert (
        "Gold prefers the response shown first in 100 %, and it does in 100 %: whether it reads "
        "the answers cannot be told; label about 10 more items where gold does not." in said
    )


def test_right_where_the_rule_is_right_and_wrong_weigh_alike() -> None:
    """90 of 100 right where the label is +1, 6 of 10 where it is not: (.90 + .60)/2."""
    gold = np.repeat([1, -1], [100, 10])
    vote = np.concatenate([np.repeat([1, -1], [90, 10]), np.repeat([-1, 1], [6, 4])])
    rule = evidence_of(votes_of(vote, gold))[BLIND_RULE]
    assert rule is not None
    assert rule.right.value == pytest.approx(0.75)
    assert (rule.share, rule.follows) == (pytest.approx(100 / 110), pytest.approx(94 / 110))
    assert rule.fewest == 10


@pytest.mark.parametrize("orders", ["both", "unknown"])
def test_gold_that_is_always_the_chosen_one_suspects_nobody(orders: str) -> None:
    """A is the chosen response by construction, so no judge could follow that: .85 stays ok."""
    rng = np.random.default_rng(1)
    gold = np.ones(300, dtype=np.int64)
    ab, ba = right_on(rng, gold, 0.85), right_on(rng, gold, 0.85)
    given = shown(ab, ba, gold) if orders == "both" else {"votes": votes_of(ab, gold)}
    evidence = evidence_of(**given, models=np.tile(TWO_MODELS, (300, 1)))
    assert evidence[BLIND_RULE] is None
    assert grade(evidence) == "ok"


def test_with_both_orders_a_slot_is_no_rule() -> None:
    """Its half credit is one half already."""
    rng = np.random.default_rng(2)
    gold = rng.choice([-1, 1], 200)
    evidence = evidence_of(**shown(np.ones(200), -np.ones(200), gold))
    assert evidence[BLIND_RULE] is None
    assert evidence[CREDIT] is not None
    assert evidence[CREDIT].value == pytest.approx(0.5)


def test_a_judge_that_merely_leans_on_a_rule_keeps_what_it_shows() -> None:
    """Right on 85 % beside gold that prefers one model in 90 %: it does not follow the model."""
    rng = np.random.default_rng(3)
    gold = one_sided(rng, 300, 0.9)
    ab, ba = right_on(rng, gold, 0.85), right_on(rng, gold, 0.85)
    evidence = evidence_of(**shown(ab, ba, gold), models=np.tile(TWO_MODELS, (300, 1)))
    assert evidence[BLIND_RULE] is not None
    assert evidence[BLIND_RULE].beaten
    assert grade(evidence) == "ok"


@pytest.mark.thorough
def test_judges_that_read_keep_ok_and_blind_ones_do_not_get_it() -> None:
    """Of those whose half credit is ok, 99 % of judges right on .85 and 90 % of those right on .75
    stay so, and few less where gold says the other thing on ten items only; of all that
    follow a rule, with errors or without, none gets it.
    """
    rng = np.random.default_rng(11)
    cells = [(items, side) for items in (100, 300) for side in (0.5, 0.7, 0.9)]

    @cache
    def of_counts(counts: tuple[int, ...]) -> tuple[bool, bool]:
        vote, gold = np.repeat(KINDS, counts, axis=0).T
        models = np.tile(TWO_MODELS, (len(gold), 1))
        evidence = evidence_of(**shown(vote, vote, gold), models=models)
        assert evidence[CREDIT] is not None
        return evidence[CREDIT].low >= 0.70, grade(evidence) == "ok"

    def graded(votes: Any, gold: Any) -> tuple[bool, bool]:
        """Whether its half credit alone is ok, and whether the check is. Items are alike, so that
        only the numbers of each kind matter.
        """
        return of_counts(tuple(((votes == v) & (gold == g)).sum() for v, g in KINDS))

    # Nearly all that are right on .85 deserve it, and three of ten that are right on .75.
    for right, draws, least, at_worst in ((0.85, 150, 0.99, 0.95), (0.75, 300, 0.90, 0.85)):
        counted = np.zeros((len(cells), 2), dtype=np.int64)
        for place, (items, side) in enumerate(cells):
            for _ in range(draws):
                gold = one_sided(rng, items, side)
                counted[place] += graded(right_on(rng, gold, right), gold)
        deserve, kept = counted.T
        assert kept.sum() >= least * deserve.sum(), (right, counted)
        assert (kept >= at_worst * deserve).all(), (right, counted)
    for follows in (1.0, 0.97, 0.9):
        passed = 0
        for items, side in cells:
            for _ in range(100):
                gold = one_sided(rng, items, side)
                always = np.ones(items, np.int64)
                passed += graded(right_on(rng, always, follows), gold)[1]
        # Of 600; of 2 % that got it, as few would be seen in 1 of 100 runs.
        assert passed <= 4, (follows, passed)


@pytest.mark.thorough
def test_the_half_credit_beyond_a_rule_holds_its_truth() -> None:
    """One half for a judge that follows the rule at any rate, however one-sided gold is."""
    rng = np.random.default_rng(5)

    @cache
    def right(counts: tuple[int, ...]) -> Estimate:
        rule = evidence_of(votes_of(*np.repeat(KINDS, counts, axis=0).T))[BLIND_RULE]
        assert rule is not None
        return rule.right

    for items, side, follows in ((60, 0.8, 0.7), (100, 0.9, 0.5), (300, 0.95, 0.9)):
        held = above = 0
        agrees = round(side * items)
        for first, second in zip(
            rng.binomial(agrees, follows, 1000),
            rng.binomial(items - agrees, follows, 1000),
            strict=True,
        ):
            found = right((first, agrees - first, second, items - agrees - second))
            held += found.low <= 0.5 <= found.high
            above += found.low > BEYOND_BLIND
        assert held >= 930, (items, side, follows)
        assert above <= 25
