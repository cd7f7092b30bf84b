"""What the place of a response does: of one order, of both, and of ties that come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evidence_of import evidence_of, overall, result, shown

from core.questions.order.method import first_slot_gain


def one_order(
    rng: np.random.Generator, items: int, right: float, lean: float, *, balanced: bool = True
) -> dict[str, Any]:
    """Each comparison in one order, gold in either slot; the judge is right on `right`, and takes
    the first slot with chance `lean` whatever it thinks. Four models meet, each as often first as
    second unless `balanced` is False.
    """
    gold = rng.choice([-1, 1], items)
    pair = np.stack([rng.permutation(4)[:2] for _ in range(items)])
    first_is_a = rng.random(items) < 0.5
    if not balanced:
        # Model 0 is always shown first.
        first_is_a = np.where(pair[:, 0] == 0, True, np.where(pair[:, 1] == 0, False, first_is_a))
    vote = np.where(rng.random(items) < right, gold, -gold)
    vote = np.where(rng.random(items) < lean, np.where(first_is_a, 1, -1), vote)
    return {**shown(vote, gold=gold, first_is_a=first_is_a), "models": pair}


def test_what_the_first_slot_gains_by_hand() -> None:
    """Right on 9 of 10 with gold first and on 6 of 12 with gold second: ½·(.90 − .50)."""
    gold_first = np.arange(22) < 10
    gold = np.ones(22, dtype=np.int64)
    right = np.isin(np.arange(22), [*range(9), *range(10, 16)])
    given = shown(np.where(right, 1, -1), gold=gold, first_is_a=gold_first)
    gain = first_slot_gain(given["orders"])
    assert gain is not None
    assert gain.value == pytest.approx(0.2)
    few = shown(np.where(right, 1, -1)[:19], gold=gold[:19], first_is_a=gold_first[:19])
    assert first_slot_gain(few["orders"]) is None


def test_one_order_can_warn_and_is_not_the_check_that_trust_needs() -> None:
    rng = np.random.default_rng(0)
    leaning = one_order(rng, 600, 0.9, 0.5)
    found = result("position", **leaning)
    assert found.grade == "warn"
    assert "In one order: the response shown first gains " in found.sentence
    fair = one_order(rng, 600, 0.95, 0.0)
    assert result("position", **fair).grade == "unknown"
    verdict = overall(evidence_of(**fair))
    assert (verdict.verdict, "position" in verdict.because) == ("trust_with_limits", True)


def test_a_model_that_is_mostly_shown_first_may_explain_the_slot() -> None:
    rng = np.random.default_rng(1)
    found = result("position", **one_order(rng, 600, 0.9, 0.5, balanced=False))
    assert found.grade == "unknown"
    assert "or the model shown first is easier to call" in found.sentence


def test_gold_in_one_slot_alone_says_nothing_of_a_lean() -> None:
    """A judge that takes the first slot, where gold always is: right on all, and not trusted."""
    gold = np.random.default_rng(2).choice([-1, 1], 300)
    given = shown(gold, gold=gold, first_is_a=gold == 1)
    assert first_slot_gain(given["orders"]) is None
    assert result("accuracy", **given).grade == "unclear"
    assert overall(evidence_of(**given)).verdict == "cannot_say"


@pytest.mark.thorough
def test_one_order_alone_seldom_warns_of_a_fair_judge() -> None:
    rng, warned = np.random.default_rng(3), 0
    for _ in range(400):
        warned += result("position", **one_order(rng, 100, 0.8, 0.0)).grade == "warn"
    assert warned <= 0.05 * 400


def test_verdicts_that_all_become_ties_are_not_stable() -> None:
    """None reverses, and every one changes."""
    found = result("stability", **shown(np.ones(60), np.zeros(60)))
    assert found.grade == "warn"
    assert found.sentence.startswith("0 % of verdicts reverse when the order is swapped (")
    assert "50 % change, to or from a tie counting half (" in found.sentence
    assert found.limits is not None
    assert (found.limits.caution, found.limits.failure) == (0.30, 0.40)


def test_opposite_flips_keep_their_own_limits() -> None:
    reverse = np.where(np.arange(400) < 110, -1, 1)
    found = result("stability", **shown(np.ones(400), reverse))
    # 27.5 % reverse: beyond 20 %, while the half of all changes is within 30 %... unclear.
    assert found.grade == "warn"
    assert found.limits is not None
    assert found.limits.caution == 0.20
    assert "counting half" not in found.sentence


@pytest.mark.parametrize("items", [100, 300])
def test_honest_judges_with_unstable_ties_seldom_warn(items: int) -> None:
    """30 % of votes are ties that come and go: at a limit of .20 they warned."""
    rng, warned = np.random.default_rng(items), 0
    for _ in range(200):
        better = rng.choice([-1, 1], items)
        ab, ba = (np.where(rng.random(items) < 0.3, 0, better) for _ in range(2))
        warned += result("stability", **shown(ab, ba)).grade in ("warn", "fail")
    assert warned <= 0.05 * 200


def test_a_noisy_judge_is_told_from_one_that_the_order_moves() -> None:
    rng = np.random.default_rng(4)
    noisy = [np.where(rng.random((300, 3)) < 0.6, 1, -1) for _ in range(2)]
    said = result("stability", **shown(*noisy))
    assert said.grade == "warn"
    assert (
        "As many change when asked again: the judge is noisy, the order is not to blame."
        in said.sentence
    )
    moved = np.ones((300, 3)), np.where(np.arange(300)[:, None] < 150, -1, 1) * np.ones((300, 3))
    said = result("stability", **shown(*moved))
    assert said.grade == "fail"
    assert "noisy" not in said.sentence
