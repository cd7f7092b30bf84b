"""What is said of a judge: every case in which an earlier rule misled, and sentences follow from
figures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from evidence_of import outcomes_of, positions_of, result, swapped, votes_of
from levels import first_of

from core.auditing.checks import LIMITS
from core.auditing.overall import standing
from core.finding.check import CheckResult, p_value
from core.finding.wording import percent
from core.records import NO_GOLD, LengthCounts, OutputCounts
from core.stats.estimate import Estimate

# The cases of the table.
# -----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("items", [30, 50, 100])
def test_a_good_judge_does_not_fail_because_gold_is_always_the_first_name(items: int) -> None:
    """Chosen and rejected: the commonest label is what no judge can see, unless it says no other."""
    rng, right = np.random.default_rng(items), []
    for _ in range(200):
        said = rng.random(items) < 0.9
        one = result("accuracy", votes_of(np.where(said, 1, -1), np.ones(items)))
        if said.mean() >= 0.95:
            assert one.grade in ("unclear", "warn")
            assert "always shown first" in one.sentence
        else:
            right.append(one)
    assert {one.grade for one in right} <= {"ok", "unclear", "warn"}
    assert np.mean([one.grade == "ok" for one in right]) >= {30: 0.40}.get(items, 0.90)
    assert "no judge" not in right[0].sentence


def test_a_judge_that_decides_where_gold_ties_is_graded_on_decided_gold() -> None:
    """Right on 47 % of three labels, where gold ties on half, but on 80 % of what gold decides."""
    gold = np.tile([1, 0, -1, 0], 250)
    vote = np.where(gold == 0, 1, gold)
    vote[::10] = -vote[::10]
    found = result("accuracy", votes_of(vote, gold))
    assert found.grade == "ok"
    assert "With ties: 40 % exactly (without looking: 50 %)." in found.sentence


def test_ties_on_the_hardest_do_not_raise_the_accuracy() -> None:
    """Agreement among decided verdicts rises from .80 to .91 by such ties; half credit falls."""
    right = np.arange(1000) < 800
    vote = np.where(right, 1, -1)
    cautious = vote.copy()
    cautious[500:900] = 0
    honest, gamed = (result("accuracy", votes_of(one, np.ones(1000))) for one in (vote, cautious))
    assert honest.estimate is not None
    assert gamed.estimate is not None
    assert gamed.estimate.value < honest.estimate.value


def test_differing_from_another_judge_is_no_fault() -> None:
    rng = np.random.default_rng(0)
    gold = rng.choice([-1, 1], 300)
    good, bad = votes_of(gold, gold), votes_of(rng.choice([-1, 1], 300), gold)
    found = result("agreement", good, judge="good", others={"bad": bad})
    assert (found.grade, found.applicable) == ("unknown", False)
    assert "κ" in found.sentence


def test_no_kappa_where_one_label_dominates() -> None:
    gold = np.ones(200, dtype=np.int64)
    almost = gold.copy()
    almost[:6] = -1
    judge, other = votes_of(almost, gold), votes_of(np.roll(almost, 6), gold)
    found = result("agreement", judge, others={"other": other})
    assert "agrees with other" in found.sentence
    assert "κ" not in found.sentence


@pytest.mark.parametrize("items", first_of(30, 100, 300))
def test_flips_of_a_noisy_judge_are_no_position_bias(items: int) -> None:
    """Right on 55 %, no order effect, no repeats: position failed in 69 to 95 % of draws."""
    rng, failed, alarms = np.random.default_rng(items), 0, 0
    for _ in range(300):
        ab, ba = (np.where(rng.random(items) < 0.55, 1, -1) for _ in range(2))
        flips = (ab != ba).astype(np.int64)
        counts = positions_of(items, flips=flips, hard_flips=flips, slot_sum=ab - ba)
        bias, stability = (
            result("position", positions=counts),
            result("stability", positions=counts),
        )
        failed += "fail" in (bias.grade, stability.grade)
        alarms += bias.grade == "warn"
    assert failed <= 2
    assert alarms / 300 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)
    assert "may be noise" in stability.sentence


def test_one_flip_more_or_less_changes_no_grade() -> None:
    """21 of 419 failed and 20 did not; ECE .161 failed and .159 was ok."""
    assert (
        result("position", positions=swapped(20, 419)).grade
        == result("position", positions=swapped(21, 419)).grade
    )
    assert (
        result("stability", positions=swapped(20, 419)).grade
        == result("stability", positions=swapped(21, 419)).grade
    )
    right = np.arange(200) < 158
    below, above = (
        result("calibration", outcomes=outcomes_of(stated, right)) for stated in (0.949, 0.951)
    )
    assert below.estimate.value == pytest.approx(0.159)
    assert above.estimate.value == pytest.approx(0.161)
    assert below.grade == above.grade


def test_alike_votes_of_few_items_are_not_graded() -> None:
    """20 items of 8 equal votes, all right: called underconfident in a quarter to half of draws."""
    found = result("overconfidence", outcomes=outcomes_of(0.95, np.ones(20), each=8))
    assert found.grade == "unknown"
    assert "fewer than 30 items" in found.sentence
    assert result("calibration", outcomes=outcomes_of(0.95, np.ones(4), each=8)).grade == "unknown"


def test_a_calibrated_judge_with_alike_votes_is_seldom_warned_of() -> None:
    rng, warned = np.random.default_rng(3), 0
    for _ in range(400):
        warned += result(
            "overconfidence", outcomes=outcomes_of(0.95, rng.random(40) < 0.95, each=8)
        ).grade in ("warn", "fail")
    assert warned / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.thorough
@pytest.mark.parametrize("items", first_of(30, 100, 400))
def test_a_coin_is_seldom_called_worse_than_guessing(items: int) -> None:
    rng, worse = np.random.default_rng(items), 0
    for _ in range(1000):
        found = result("accuracy", votes_of(rng.choice([-1, 1], items), rng.choice([-1, 1], items)))
        worse += "worse than guessing" in found.sentence
    assert worse / 1000 <= 0.025 + 2 * np.sqrt(0.025 * 0.975 / 1000)


def test_stating_less_than_it_is_right_is_a_caution_not_a_failure() -> None:
    always = outcomes_of(0.7, np.ones(200))
    assert result("overconfidence", outcomes=always).grade == "warn"
    surely = outcomes_of(0.9, np.ones(100))
    assert {
        result(check, outcomes=surely).grade for check in ("overconfidence", "calibration")
    } <= {"ok", "warn"}


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
    assert result("length", lengths=counts).grade in ("warn", "fail")
    one_sided = replace(counts, gold=np.ones(600, np.int64))
    said = result("length", lengths=one_sided)
    assert said.grade == "unknown"
    assert "mere errors would look like a preference" in said.sentence


def test_position_cannot_be_known_from_one_order() -> None:
    one_order = positions_of(90, pairs=np.zeros(90, np.int64), first=np.ones(90, np.int64))
    found = result("position", positions=one_order)
    assert found.grade == "unknown"
    assert result("position", positions=None).grade == "unknown"


# Further rules.
# --------------------------------------------------------------------------------------------


def test_bias_to_a_slot_fails_with_its_direction() -> None:
    first, second = (
        result("position", positions=swapped(40, 50, towards=side)) for side in (1, -1)
    )
    assert first.grade == second.grade == "fail"
    assert first.sentence.startswith("The response shown first gains ")
    assert second.sentence.startswith("The response shown second gains ")


def test_only_repeats_let_stability_fail() -> None:
    noisy = swapped(60, 100)
    assert result("stability", positions=noisy).grade == "warn"
    steady = replace(noisy, same_order_pairs=np.ones(100, np.int64))
    assert result("stability", positions=steady).grade == "fail"
    restless = replace(steady, same_order_disagreements=noisy.flips)
    found = result("stability", positions=restless)
    assert found.grade == "warn"
    assert "0.0 points" in found.sentence


def test_a_constant_confidence_is_called_one() -> None:
    found = result("discrimination", outcomes=outcomes_of(0.9, np.arange(100) < 80))
    assert found.grade == "warn"
    assert "separates nothing" in found.sentence
    assert (
        "no wrong verdicts with a confidence"
        in result(
            "discrimination", outcomes=outcomes_of(np.linspace(0.5, 1, 50), np.ones(50))
        ).sentence
    )


def test_a_judge_that_reaches_people_is_not_failed() -> None:
    rng = np.random.default_rng(0)
    gold = np.ones(2000, dtype=np.int64)

    def right(share: float) -> Any:
        return votes_of(np.where(rng.random(2000) < share, 1, -1), gold)

    judge = right(0.64)
    people = {name: right(0.80) for name in ("ann", "bob", "cem", "dua", "eva")}
    alone = result("accuracy", judge)
    beside = result("accuracy", judge, people=people, gold="humans")
    assert (alone.grade, beside.grade) == ("warn", "warn")
    people = {name: right(0.70) for name in people}
    beside = result("accuracy", judge, people=people, gold="humans")
    # Five people right on .70: four others of one are right on the decided ones more often.
    assert beside.limits is not None
    assert 0.60 <= beside.limits.caution < 0.70
    assert beside.limits.failure == pytest.approx(beside.limits.caution - 0.10)
    assert beside.grade in ("ok", "unclear")
    assert "A left-out person says what the others say in " in beside.sentence


def test_the_weakest_category_is_named_with_an_interval_for_its_choice() -> None:
    judge = votes_of(np.ones(200), np.ones(200))
    weak = votes_of(np.where(np.arange(100) < 55, 1, -1), np.ones(100))
    few = votes_of(np.where(np.arange(20) < 11, 1, -1), np.ones(20))
    found = result("category", judge, categories={"easy": judge, "hard": weak, "few": few})
    assert found.sentence.startswith("Weakest of 2 categories: hard, right on 55 % (")
    assert "at least 60 % is shown in 1 of them" in found.sentence
    assert found.estimate is not None
    assert found.estimate.level == pytest.approx(0.975)
    # Neither beyond caution nor within it: 55 of 100 may be .60.
    assert found.grade == "unclear"
    alone = result("category", judge, categories={"easy": judge, "few": few})
    assert (alone.grade, alone.applicable) == ("unknown", False)


@pytest.mark.parametrize(
    ("judge", "gold", "grade"), [(0.0, 0.5, "warn"), (0.5, 0.5, "ok"), (0.9, 0.5, "warn")]
)
def test_ties_are_compared_with_those_of_gold(judge: float, gold: float, grade: str) -> None:
    place = np.arange(200) / 200
    counts = votes_of(np.where(place < judge, 0, 1), np.where(place < gold, 0, 1))
    assert result("ties", counts).grade == grade
    assert result("ties", votes_of([1] * 50, [NO_GOLD] * 50)).grade == "unknown"


def test_repeatability_is_graded_by_its_whole_interval() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(200, 1))
    assert result("repeatability", ratings=truth + rng.normal(0, 0.1, (200, 3))).grade == "ok"
    assert result("repeatability", ratings=rng.normal(0, 1, (200, 3))).grade in ("warn", "fail")
    assert result("repeatability", ratings=np.zeros((200, 3))).grade == "unknown"
    assert result("repeatability", ratings=None).grade == "unknown"


@pytest.mark.parametrize(
    ("failed", "grade"), [(0, "ok"), (22, "unclear"), (60, "warn"), (200, "fail")]
)
def test_outputs_without_a_verdict(failed: int, grade: str) -> None:
    missing, item = (np.arange(1000) < failed).astype(np.int64), np.arange(1000)
    outputs = OutputCounts(
        comparison=item,
        item=item,
        plus=1 - missing,
        tie=0 * missing,
        minus=0 * missing,
        missing=missing,
        gold=np.ones(1000, np.int64),
    )
    counts = votes_of(np.ones(1000 - failed), np.ones(1000 - failed))
    given: dict[str, Any] = {"outputs": outputs, "failed": failed} if failed else {}
    assert result("data", counts, **given).grade == grade


def test_other_limits_change_the_grade_and_stand_in_the_verdict() -> None:
    counts = swapped(26, 400, towards=1)
    by_default = result("position", positions=counts)
    strictly = result("position", positions=counts, limits={"position": (0.01, 0.03)})
    assert (by_default.grade, strictly.grade) == ("ok", "fail")
    assert by_default.limits == LIMITS["position"]
    assert strictly.limits is not None
    assert (strictly.limits.caution, strictly.limits.failure) == (0.01, 0.03)
    assert "±3 points" in strictly.sentence


def test_unclear_says_how_many_items_would_decide() -> None:
    found = result("accuracy", votes_of(np.where(np.arange(40) < 31, 1, -1), np.ones(40)))
    assert found.grade == "unclear"
    assert found.needed_items is not None
    assert f"about {found.needed_items:,} items would decide" in found.sentence
    at_limit = result("accuracy", votes_of(np.where(np.arange(100) < 70, 1, -1), np.ones(100)))
    assert at_limit.needed_items is None
    assert "it sits near the limit" in at_limit.sentence


def test_several_judges_are_named_for_failures_and_for_warnings_that_stand() -> None:
    def finding(judge: str, low: float, high: float, grade: Any) -> CheckResult:
        estimate = Estimate((low + high) / 2, low, high, n=100)
        return CheckResult(
            judge=judge,
            check="position",
            grade=grade,
            sentence="…",
            estimate=estimate,
            p_value=p_value(estimate, LIMITS["position"]),
        )

    sure, lucky = finding("sure", 0.10, 0.18, "warn"), finding("lucky", 0.001, 0.12, "warn")
    fine = [finding(f"fine-{i}", -0.05, 0.05, "ok") for i in range(40)]
    assert standing([sure, lucky, *fine]) == (sure,)


def test_a_share_below_one_never_prints_as_all() -> None:
    assert percent(0.9996) == "over 99.9 %"
    assert percent(0.997) == "99.7 %"
    assert percent(0.0004) == "under 0.1 %"
    assert percent(1.0) == "100 %"
    assert percent(0.0) == "0 %"
    assert percent(0.314286) == "31 %"
