"""Is the new one better? The share of wins between two models, as gold would say it."""

import numpy as np
import pytest

from core.questions.agreement.two_models import two_models
from core.questions.boards.debiased import debiased_rate
from core.records import NO_GOLD, VoteCounts


def votes(label, gold) -> VoteCounts:
    """One vote per item; side A of every comparison is the model with id 7."""
    label = np.asarray(label, dtype=np.int64)
    n = len(label)
    return VoteCounts(
        comparison=np.arange(n),
        item=np.arange(n),
        plus=(label == 1).astype(np.int64),
        tie=(label == 0).astype(np.int64),
        minus=(label == -1).astype(np.int64),
        gold=np.asarray(gold, dtype=np.int64),
    )


def pairs(n: int):
    return np.tile([7, 9], (n, 1))


def test_the_line_is_that_of_the_debiased_board():
    rng = np.random.default_rng(0)
    said = rng.choice([1, -1], 200)
    gold = np.where(np.arange(200) < 40, rng.choice([1, -1], 200), NO_GOLD)
    counts = votes(said, gold)
    found = two_models("j", counts, pairs(200), ("new bot", "old bot"))
    rate = debiased_rate(counts)
    assert (found.share.value, found.share.low, found.share.high) == pytest.approx(
        (rate.value, rate.low, rate.high)
    )
    assert found.sentence.startswith(f"new bot against old bot: {100 * rate.value:.0f} % (")
    assert found.sentence.endswith("not settled; j corrected by 40 labels")


def test_the_one_in_question_comes_first_whatever_side_it_is_on():
    counts = votes(np.repeat([1, -1], [90, 10]), np.full(100, NO_GOLD))
    found = two_models("j", counts, pairs(100), ("old bot", "new bot"))
    assert found.model == "new bot"
    assert found.share.value == pytest.approx(0.1)
    assert "old bot is better; by the votes of j, which no label corrects" in found.sentence


def test_a_judge_that_saw_no_pair_of_them_says_nothing():
    counts = votes([1, 1], [1, 1])
    assert two_models("j", counts, np.array([[7, 7], [9, 9]]), ("a", "b")) is None
