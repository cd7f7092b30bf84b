"""Each cut-off decides at its own value, and a sentence never says more than its number."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from core.agreement.kappa import agreement_matrix
from core.agreement.reliability import icc
from core.bias import position_bias
from core.confidence.calibration_error import ConfidenceGap, calibration, confidence_gap, noise_floor
from core.interpretation import verdicts
from core.interpretation.format import interval, percent
from core.records import NO_GOLD, OutcomeCounts, PositionCounts, VoteCounts
from core.stats.estimate import Estimate


def proportion(value: float, low: float, high: float, n: int = 500) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, level=0.95)


@pytest.mark.parametrize(
    ("value", "grade"),
    [
        (proportion(0.70, 0.65, 0.75), "ok"),
        (proportion(0.58, 0.53, 0.63), "warn"),
        (proportion(0.40, 0.35, 0.45), "fail"),
        (proportion(0.90, 0.70, 0.97, n=29), "unknown"),
        (None, "unknown"),
    ],
)
def test_accuracy_is_graded_against_the_best_constant_answer(value: Estimate | None, grade: str) -> None:
    assert verdicts.accuracy("j", value, 0.55).verdict == grade


def test_a_share_below_one_never_prints_as_all() -> None:
    assert percent(0.9996) == "over 99.9 %"
    assert percent(0.997) == "99.7 %"
    assert percent(0.0004) == "under 0.1 %"
    assert percent(1.0) == "100 %"
    assert percent(0.0) == "0 %"
    assert percent(0.314286) == "31 %"


def outcomes(confidence: float, correct: int, items: int) -> OutcomeCounts:
    right = np.zeros(items, np.int64)
    right[:correct] = 1
    return OutcomeCounts(
        item=np.arange(items),
        confidence=np.full(items, confidence),
        n=np.ones(items, np.int64),
        correct=right,
    )


@pytest.mark.parametrize(
    ("confidence", "correct", "items", "grade"),
    [
        (0.8, 800, 1000, "ok"),
        (0.95, 640, 1000, "fail"),
        (0.87, 800, 1000, "warn"),
        (0.9, 10, 20, "unknown"),
    ],
)
def test_calibration_is_graded_against_its_noise_floor(
    confidence: float, correct: int, items: int, grade: str
) -> None:
    data = outcomes(confidence, correct, items)
    floor = noise_floor(data, rng=np.random.default_rng(0))
    assert verdicts.calibration("j", calibration(data), floor).verdict == grade


def test_votes_of_one_item_that_agree_are_not_taken_for_miscalibration() -> None:
    """A calibrated judge, eight equal votes an item: by the floor of independent ones a third would fail."""
    rng, called = np.random.default_rng(1), 0
    for _ in range(200):
        right = 8 * (rng.random(60) < 0.8)
        data = OutcomeCounts(
            item=np.arange(60), confidence=np.full(60, 0.8), n=np.full(60, 8), correct=right.astype(np.int64)
        )
        floor = noise_floor(data, rng=rng, draws=200)
        called += verdicts.calibration("j", calibration(data), floor).verdict != "ok"
    assert called / 200 < 0.12


def test_overconfidence_needs_an_interval_that_excludes_nothing() -> None:
    over = confidence_gap(outcomes(0.95, 640, 1000))
    assert verdicts.overconfidence("j", over).verdict == "fail"
    assert "overconfident" in verdicts.overconfidence("j", over).sentence
    under = confidence_gap(outcomes(0.55, 800, 1000))
    assert verdicts.overconfidence("j", under).verdict == "warn"
    assert "underconfident" in verdicts.overconfidence("j", under).sentence
    level = confidence_gap(outcomes(0.8, 795, 1000))
    assert verdicts.overconfidence("j", level).verdict == "ok"
    assert isinstance(level, ConfidenceGap)


def positions(**columns: list[int]) -> PositionCounts:
    n = len(columns["pairs"])
    given: dict[str, Any] = {
        field.name: np.zeros(n, np.int64) for field in fields(PositionCounts) if field.name != "categories"
    }
    given |= {
        "comparison": np.arange(n),
        "item": np.arange(n),
        "margin": np.full(n, np.nan),
        "categories": ("",),
    }
    return PositionCounts(**given | {name: np.array(values) for name, values in columns.items()})


def test_a_judge_without_a_flip_is_not_biased_whatever_its_shares() -> None:
    """Gold sits first in every comparison, and the judge is right in both orders."""
    found = verdicts.position("j", position_bias(positions(pairs=[1] * 50, first=[1] * 50, second=[1] * 50)))
    assert found.verdict == "ok"
    assert "biased" not in found.sentence


def test_a_judge_that_takes_the_first_is_biased() -> None:
    flipping = {
        "pairs": [1] * 50,
        "first": [2] * 50,
        "flips": [1] * 50,
        "hard_flips": [1] * 50,
        "slot_sum": [2] * 50,
    }
    found = verdicts.position("j", position_bias(positions(**flipping)))
    assert found.verdict == "fail"
    assert "biased towards the first response shown" in found.sentence


def test_flips_both_ways_are_a_warning_not_a_bias() -> None:
    both_ways = [1, -1] * 10 + [0] * 40
    flips = [abs(d) for d in both_ways]
    data = positions(pairs=[1] * 60, first=[1] * 60, second=[1] * 60, flips=flips, slot_sum=both_ways)
    found = verdicts.position("j", position_bias(data))
    assert found.verdict == "warn"
    assert "biased" not in found.sentence


def test_a_lean_that_a_few_items_make_is_no_bias() -> None:
    """Forty comparisons of four items lean to the first, twenty of two others to the second: p is small
    only because comparisons of one item count as independent."""
    lean = [1] * 40 + [-1] * 20
    item = np.repeat(np.arange(6), 10)
    ones = [1] * 60
    data = positions(
        pairs=ones, flips=ones, first=[d + 1 for d in lean], second=[1 - d for d in lean],
        slot_sum=[2 * d for d in lean], item=item.tolist(),
    )  # fmt: skip
    bias = position_bias(data)
    assert bias.p_value is not None
    assert bias.p_value < 0.05
    found = verdicts.position("j", bias)
    assert found.verdict == "warn"
    assert "biased" not in found.sentence


def test_no_pairs_is_unknown_not_unbiased() -> None:
    assert verdicts.position("j", None).verdict == "unknown"
    assert verdicts.position("j", position_bias(positions(pairs=[0] * 9, first=[1] * 9))).verdict == "unknown"


def votes(plus: int, tie: int, gold: list[int]) -> VoteCounts:
    n = len(gold)
    ones = np.ones(n, np.int64)
    return VoteCounts(
        comparison=np.arange(n), item=np.arange(n), plus=plus * ones, tie=tie * ones, minus=0 * ones,
        gold=np.array(gold),
    )  # fmt: skip


def test_ties_are_compared_on_comparisons_with_gold_only() -> None:
    assert verdicts.ties("j", votes(1, 0, [1, 0] * 50)).verdict == "warn"
    assert verdicts.ties("j", votes(1, 1, [1, 0] * 50)).verdict == "ok"
    assert verdicts.ties("j", votes(1, 0, [NO_GOLD] * 50)).verdict == "unknown"
    assert "ties more often than gold" in verdicts.ties("j", votes(1, 1, [1, 1] * 50)).sentence


def test_repeatability_marks() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice([-1.0, 0.0, 1.0], size=(200, 1))
    assert verdicts.repeatability("j", icc(truth + rng.normal(0, 0.1, (200, 3)))).verdict == "ok"
    assert verdicts.repeatability("j", icc(truth + rng.normal(0, 0.9, (200, 3)))).verdict != "ok"
    assert verdicts.repeatability("j", icc(np.zeros((200, 3)))).verdict == "unknown"
    assert verdicts.repeatability("j", None).verdict == "unknown"


@pytest.mark.parametrize(
    ("failed", "labelled", "grade"),
    [(0, 300, "ok"), (0, 49, "warn"), (0, 0, "warn"), (30, 300, "warn"), (200, 300, "fail")],
)
def test_data(failed: int, labelled: int, grade: str) -> None:
    assert verdicts.data("j", 1000, failed, labelled).verdict == grade


def people(*labels: list[int]) -> dict[str, VoteCounts]:
    """One vote per comparison by each rater."""
    found = {}
    for i, label in enumerate(labels):
        votes = np.array(label)
        found[f"r{i}"] = VoteCounts(
            comparison=np.arange(len(votes)), item=np.arange(len(votes)), gold=np.full(len(votes), NO_GOLD),
            plus=(votes > 0).astype(np.int64), tie=(votes == 0).astype(np.int64),
            minus=(votes < 0).astype(np.int64),
        )  # fmt: skip
    return found


def test_agreement_is_held_against_how_people_agree() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice([-1, 1], 400)
    noisy = [np.where(rng.random(400) < 0.25, -truth, truth).tolist() for _ in range(2)]
    pair = agreement_matrix(people(*noisy)).pairs[0]
    assert pair.kappa is not None
    assert verdicts.agreement("r0", pair, 1).verdict == "warn"
    assert verdicts.agreement("r0", pair, 1, pair.kappa.value).verdict == "ok"
    # The grade stands at this judge's κ and its interval, never behind that of people.
    assert f"κ {interval(pair.kappa)}: less than moderate; people" in (
        verdicts.agreement("r0", pair, 1, 0.9).sentence
    )
    assert verdicts.agreement("r0", None, 0).verdict == "unknown"
    unrelated = agreement_matrix(people(truth.tolist(), rng.choice([-1, 1], 400).tolist())).pairs[0]
    assert verdicts.agreement("r0", unrelated, 1).verdict == "fail"


def test_two_that_never_agree_fail_and_two_that_always_do_are_not_certain_to() -> None:
    truth = np.random.default_rng(0).choice([-1, 1], 60)
    opposed = agreement_matrix(people(truth.tolist(), (-truth).tolist())).pairs[0]
    assert opposed.kappa is not None
    assert opposed.kappa.value <= opposed.kappa.high < -0.5
    assert verdicts.agreement("r0", opposed, 1).verdict == "fail"
    same = agreement_matrix(people(truth.tolist(), truth.tolist())).pairs[0]
    assert same.kappa.value == same.kappa.high == 1
    assert 0.8 < same.kappa.low < 0.95


def test_a_gap_prints_no_more_than_it_can_be() -> None:
    few = OutcomeCounts(
        item=np.arange(2), confidence=np.full(2, 0.99), n=np.full(2, 20), correct=np.array([0, 12])
    )
    gap = confidence_gap(few)
    assert gap is not None
    assert gap.gap.high > 1 or gap.gap.low < -1
    assert "-100.0 to +100.0" in verdicts.overconfidence("j", gap).sentence


def test_a_judge_with_only_failed_outputs_fails_on_data() -> None:
    assert verdicts.data("j", 0, 5, 0).verdict == "fail"
