"""What is said of a judge: every case in which an earlier rule misled, and sentences follow from
figures.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from core.agreement.kappa import agreement_matrix
from core.agreement.reliability import icc
from core.interpretation import summary, verdicts
from core.interpretation.format import percent
from core.interpretation.rules import LIMITS, Rules
from core.interpretation.verdicts import NOT_GRADED, Verdict
from core.records import NO_GOLD, LengthCounts, OutcomeCounts, PositionCounts, VoteCounts
from core.stats.estimate import Estimate
from core.store.browse import JudgeSummary


def votes(vote: Any, gold: Any, *, item: Any = None) -> VoteCounts:
    """One vote per comparison."""
    vote, gold = np.asarray(vote), np.asarray(gold)
    return VoteCounts(
        comparison=np.arange(len(vote)),
        item=np.arange(len(vote)) if item is None else np.asarray(item),
        plus=(vote == 1).astype(np.int64),
        tie=(vote == 0).astype(np.int64),
        minus=(vote == -1).astype(np.int64),
        gold=gold,
    )


def outcomes(confidence: Any, right: Any, *, each: int = 1) -> OutcomeCounts:
    """Items of `each` verdicts alike."""
    right = np.asarray(right, dtype=np.int64)
    return OutcomeCounts(
        item=np.arange(len(right)),
        confidence=np.broadcast_to(np.asarray(confidence, dtype=np.float64), len(right)).copy(),
        n=np.full(len(right), each),
        correct=each * right,
    )


def positions(n: int, **columns: Any) -> PositionCounts:
    """Comparisons of one item each."""
    given: dict[str, Any] = {
        field.name: np.zeros(n, np.int64)
        for field in fields(PositionCounts)
        if field.name != "categories"
    }
    given |= {
        "comparison": np.arange(n),
        "item": np.arange(n),
        "pairs": np.ones(n, np.int64),
        "margin": np.full(n, np.nan),
        "categories": ("",),
    }
    return PositionCounts(**given | {name: np.asarray(values) for name, values in columns.items()})


def swapped(flips: int, pairs: int, *, towards: int = 0) -> PositionCounts:
    """So many opposite verdicts, half to either slot, or all to one."""
    hard = np.zeros(pairs, np.int64)
    hard[:flips] = 1
    side = np.where(np.arange(pairs) % 2 == 0, 1, -1) if not towards else np.full(pairs, towards)
    return positions(pairs, flips=hard, hard_flips=hard, slot_sum=2 * hard * side)


def counted(n: int, failed: int = 0) -> JudgeSummary:
    numbers = dict.fromkeys(
        ("plus", "tie", "minus", "labelled", "with_confidence", "with_position", "runs"), 0
    )
    return JudgeSummary(name="j", rater_type="llm", n=n, failed=failed, **numbers)


# The cases of the table.
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize("items", [30, 50, 100])
def test_a_good_judge_does_not_fail_because_gold_is_always_the_first_name(items: int) -> None:
    """Chosen and rejected: the commonest label is what no judge can see."""
    rng, right = np.random.default_rng(items), []
    for _ in range(200):
        right.append(
            verdicts.accuracy("j", votes(np.where(rng.random(items) < 0.95, 1, -1), np.ones(items)))
        )
    assert {one.verdict for one in right} <= {"ok", "unclear", "warn"}
    assert np.mean([one.verdict == "ok" for one in right]) >= 0.90
    assert "no judge" not in right[0].sentence


def test_a_judge_that_decides_where_gold_ties_is_graded_on_decided_gold() -> None:
    """Right on 47 % of three labels, where gold ties on half, but on 80 % of what gold decides."""
    gold = np.tile([1, 0, -1, 0], 250)
    vote = np.where(gold == 0, 1, gold)
    vote[::10] = -vote[::10]
    found = verdicts.accuracy("j", votes(vote, gold))
    assert found.verdict == "ok"
    assert "without looking 50 %" in found.sentence


def test_ties_on_the_hardest_do_not_raise_the_accuracy() -> None:
    """Agreement among decided verdicts rises from .80 to .91 by such ties; half credit falls."""
    right = np.arange(1000) < 800
    vote = np.where(right, 1, -1)
    cautious = vote.copy()
    cautious[500:900] = 0
    honest, gamed = (verdicts.accuracy("j", votes(one, np.ones(1000))) for one in (vote, cautious))
    assert honest.estimate is not None
    assert gamed.estimate is not None
    assert gamed.estimate < honest.estimate


def test_differing_from_another_judge_is_no_fault() -> None:
    rng = np.random.default_rng(0)
    gold = rng.choice([-1, 1], 300)
    good, bad = votes(gold, gold), votes(rng.choice([-1, 1], 300), gold)
    (pair,) = agreement_matrix({"good": good, "bad": bad}).pairs
    found = verdicts.agreement("good", pair, 1)
    assert found.verdict == "unknown"
    assert found.sentence.startswith(NOT_GRADED)
    assert "κ" in found.sentence


def test_no_kappa_where_one_label_dominates() -> None:
    gold = np.ones(200, dtype=np.int64)
    almost = gold.copy()
    almost[:6] = -1
    (pair,) = agreement_matrix(
        {"a": votes(almost, gold), "b": votes(np.roll(almost, 6), gold)}
    ).pairs
    assert "κ" not in verdicts.agreement("a", pair, 1, one_label=0.97).sentence


@pytest.mark.parametrize("items", [30, 100, 300])
def test_flips_of_a_noisy_judge_are_no_position_bias(items: int) -> None:
    """Right on 55 %, no order effect, no repeats: position failed in 69 to 95 % of draws."""
    rng, failed, alarms = np.random.default_rng(items), 0, 0
    for _ in range(300):
        ab, ba = (np.where(rng.random(items) < 0.55, 1, -1) for _ in range(2))
        flips = (ab != ba).astype(np.int64)
        counts = positions(items, flips=flips, hard_flips=flips, slot_sum=ab - ba)
        bias, stability = verdicts.position("j", counts), verdicts.stability("j", counts)
        failed += "fail" in (bias.verdict, stability.verdict)
        alarms += bias.verdict == "warn"
    assert failed <= 2
    assert alarms / 300 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)
    assert "may be noise" in stability.sentence


def test_one_flip_more_or_less_changes_no_grade() -> None:
    """21 of 419 failed and 20 did not; ECE .161 failed and .159 was ok."""
    assert (
        verdicts.position("j", swapped(20, 419)).verdict
        == verdicts.position("j", swapped(21, 419)).verdict
    )
    assert (
        verdicts.stability("j", swapped(20, 419)).verdict
        == verdicts.stability("j", swapped(21, 419)).verdict
    )
    right = np.arange(200) < 158
    below, above = (verdicts.calibration("j", outcomes(stated, right)) for stated in (0.949, 0.951))
    assert below.estimate == pytest.approx(0.159)
    assert above.estimate == pytest.approx(0.161)
    assert below.verdict == above.verdict


def test_alike_votes_of_few_items_are_not_graded() -> None:
    """20 items of 8 equal votes, all right: called underconfident in a quarter to half of draws."""
    found = verdicts.overconfidence("j", outcomes(0.95, np.ones(20), each=8))
    assert found.verdict == "unknown"
    assert "fewer than 30 items" in found.sentence
    assert verdicts.calibration("j", outcomes(0.95, np.ones(4), each=8)).verdict == "unknown"


def test_a_calibrated_judge_with_alike_votes_is_seldom_warned_of() -> None:
    rng, warned = np.random.default_rng(3), 0
    for _ in range(400):
        warned += verdicts.overconfidence(
            "j", outcomes(0.95, rng.random(40) < 0.95, each=8)
        ).verdict in ("warn", "fail")
    assert warned / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("items", [30, 100, 400])
def test_a_coin_is_seldom_called_worse_than_guessing(items: int) -> None:
    rng, worse = np.random.default_rng(items), 0
    for _ in range(1000):
        found = verdicts.accuracy(
            "j", votes(rng.choice([-1, 1], items), rng.choice([-1, 1], items))
        )
        worse += "worse than guessing" in found.sentence
    assert worse / 1000 <= 0.025 + 2 * np.sqrt(0.025 * 0.975 / 1000)


def test_stating_less_than_it_is_right_is_a_caution_not_a_failure() -> None:
    always = outcomes(0.7, np.ones(200))
    assert verdicts.overconfidence("j", always).verdict == "warn"
    surely = outcomes(0.9, np.ones(100))
    assert {
        check("j", surely).verdict for check in (verdicts.overconfidence, verdicts.calibration)
    } <= {"ok", "warn"}


def test_best_of_many_is_by_the_lower_bound_and_no_person() -> None:
    credits = {
        "lucky": Estimate(1.0, 0.65, 1.0, n=7),
        "person": Estimate(0.99, 0.97, 1.0, n=400),
        "few": Estimate(0.95, 0.80, 0.99, n=40),
        "many": Estimate(0.90, 0.87, 0.93, n=400),
    }
    said = summary.best_supported(credits, people=("person",))
    assert said == (
        "Best supported of 2 judges: many, right on 90 % of decided gold (87 % to 93 %, 400 items)."
    )
    assert summary.best_supported({"lucky": credits["lucky"]}) is None


def test_votes_that_follow_length_are_found() -> None:
    rng = np.random.default_rng(0)
    gold = rng.choice([-1, 1], 600)
    follows = rng.random(600) < 0.5
    longer = np.where(follows, 1, np.where(rng.random(600) < 0.85, gold, -gold))
    counts = LengthCounts(
        comparison=np.arange(600),
        item=np.arange(600),
        longer=(longer == 1).astype(np.int64),
        shorter=(longer == -1).astype(np.int64),
        tie=np.zeros(600, np.int64),
        gold=gold,
    )
    assert verdicts.length("j", counts).verdict in ("warn", "fail")
    one_sided = replace(counts, gold=np.ones(600, np.int64))
    said = verdicts.length("j", one_sided)
    assert said.verdict == "unknown"
    assert "mere errors would look like a preference" in said.sentence


def test_position_cannot_be_known_from_one_order() -> None:
    found = verdicts.position(
        "j", positions(90, pairs=np.zeros(90, np.int64), first=np.ones(90, np.int64))
    )
    assert found.verdict == "unknown"
    assert verdicts.position("j", None).verdict == "unknown"


# Further rules.
# --------------------------------------------------------------------------------------------


def test_bias_to_a_slot_fails_with_its_direction() -> None:
    first, second = (verdicts.position("j", swapped(40, 50, towards=side)) for side in (1, -1))
    assert first.verdict == second.verdict == "fail"
    assert "for the response shown first" in first.sentence
    assert "for the one shown second" in second.sentence


def test_only_repeats_let_stability_fail() -> None:
    noisy = swapped(60, 100)
    assert verdicts.stability("j", noisy).verdict == "warn"
    steady = replace(noisy, same_order_pairs=np.ones(100, np.int64))
    assert verdicts.stability("j", steady).verdict == "fail"
    restless = replace(steady, same_order_disagreements=noisy.flips)
    found = verdicts.stability("j", restless)
    assert found.verdict == "warn"
    assert "0.0 points" in found.sentence


def test_a_constant_confidence_is_called_one() -> None:
    found = verdicts.discrimination("j", outcomes(0.9, np.arange(100) < 80))
    assert found.verdict == "warn"
    assert "separates nothing" in found.sentence
    assert (
        "no wrong verdict"
        in verdicts.discrimination("j", outcomes(np.linspace(0.5, 1, 50), np.ones(50))).sentence
    )


def test_a_judge_that_reaches_people_is_not_failed() -> None:
    rng = np.random.default_rng(0)
    gold = np.ones(2000, dtype=np.int64)
    judge = votes(np.where(rng.random(2000) < 0.62, 1, -1), gold)
    alone = verdicts.accuracy("j", judge)
    beside = verdicts.accuracy("j", judge, ceiling=Estimate(0.60, 0.58, 0.62, n=2000))
    assert alone.verdict == "warn"
    assert beside.verdict in ("ok", "unclear")
    assert beside.caution == pytest.approx(0.60)
    assert "A left-out person says what the others say in 60 %." in beside.sentence


def test_the_weakest_category_is_named_with_an_interval_for_its_choice() -> None:
    judge = votes(np.ones(200), np.ones(200))
    weak = votes(np.where(np.arange(100) < 55, 1, -1), np.ones(100))
    few = votes(-np.ones(20), np.ones(20))
    said = verdicts.accuracy(
        "j", judge, categories={"easy": judge, "hard": weak, "few": few}
    ).sentence
    assert "Weakest of 2 categories with 30 items or more: hard, 55 %" in said
    assert "at least 60 % in 1 of them" in said


@pytest.mark.parametrize(
    ("judge", "gold", "grade"), [(0.0, 0.5, "warn"), (0.5, 0.5, "ok"), (0.9, 0.5, "warn")]
)
def test_ties_are_compared_with_those_of_gold(judge: float, gold: float, grade: str) -> None:
    place = np.arange(200) / 200
    counts = votes(np.where(place < judge, 0, 1), np.where(place < gold, 0, 1))
    assert verdicts.ties("j", counts).verdict == grade
    assert verdicts.ties("j", votes([1] * 50, [NO_GOLD] * 50)).verdict == "unknown"


def test_repeatability_is_graded_by_its_whole_interval() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(200, 1))
    assert verdicts.repeatability("j", icc(truth + rng.normal(0, 0.1, (200, 3)))).verdict == "ok"
    assert verdicts.repeatability("j", icc(rng.normal(0, 1, (200, 3)))).verdict in ("warn", "fail")
    assert verdicts.repeatability("j", icc(np.zeros((200, 3)))).verdict == "unknown"
    assert verdicts.repeatability("j", None).verdict == "unknown"


@pytest.mark.parametrize(
    ("failed", "grade"), [(0, "ok"), (22, "unclear"), (60, "warn"), (200, "fail")]
)
def test_outputs_without_a_verdict(failed: int, grade: str) -> None:
    from core.interpretation.estimates import missing_outputs

    missing = (np.arange(1000) < failed).astype(np.int64)
    share = missing_outputs(np.arange(1000), np.ones(1000, np.int64), missing)
    counts = votes(np.ones(1000 - failed), np.ones(1000 - failed))
    assert verdicts.data("j", counted(1000 - failed, failed), share, counts).verdict == grade


def test_other_limits_change_the_grade_and_stand_in_the_verdict() -> None:
    counts = swapped(26, 400, towards=1)
    strict = {**LIMITS, "position": replace(LIMITS["position"], caution=0.01, failure=0.03)}
    by_default, strictly = (
        verdicts.position("j", counts, rules=Rules(limits=one)) for one in (LIMITS, strict)
    )
    assert (by_default.verdict, strictly.verdict) == ("ok", "fail")
    assert (strictly.caution, strictly.failure) == (0.01, 0.03)
    assert "±3 points" in strictly.sentence


def test_unclear_says_how_many_items_would_decide() -> None:
    found = verdicts.accuracy("j", votes(np.where(np.arange(40) < 31, 1, -1), np.ones(40)))
    assert found.verdict == "unclear"
    assert found.needed_items is not None
    assert f"about {found.needed_items:,} items would decide" in found.sentence
    at_limit = verdicts.accuracy("j", votes(np.where(np.arange(100) < 70, 1, -1), np.ones(100)))
    assert at_limit.needed_items is None
    assert "the estimate sits at the limit" in at_limit.sentence


def test_several_judges_are_named_for_failures_and_for_warnings_that_stand() -> None:
    def verdict(judge: str, low: float, high: float, grade: Any) -> Verdict:
        return Verdict(judge, "position", grade, "…", estimate=(low + high) / 2, low=low, high=high)

    sure, lucky = verdict("sure", 0.10, 0.18, "warn"), verdict("lucky", 0.001, 0.12, "warn")
    fine = [verdict(f"fine-{i}", -0.05, 0.05, "ok") for i in range(40)]
    assert summary.standing([sure, lucky, *fine]) == (sure,)


def test_a_share_below_one_never_prints_as_all() -> None:
    assert percent(0.9996) == "over 99.9 %"
    assert percent(0.997) == "99.7 %"
    assert percent(0.0004) == "under 0.1 %"
    assert percent(1.0) == "100 %"
    assert percent(0.0) == "0 %"
    assert percent(0.314286) == "31 %"
