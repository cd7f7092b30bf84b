"""A proof by labels where two versions part: its wealth, its bounds, what a try may spend."""

import math

import numpy as np
import pytest

from core.questions.versions.proof import (
    STAKES,
    bounds,
    labels_wanted,
    log_wealth,
    prove,
    sign_test,
    spent,
)


def test_all_tries_together_spend_five_percent() -> None:
    assert sum(spent(k) for k in range(1, 100_000)) == pytest.approx(0.05, abs=1e-5)
    assert spent(1) == pytest.approx(0.0303964, abs=1e-7)


def test_wealth_is_the_mean_over_stakes() -> None:
    d = np.array([1.0, -0.5, 1.0])
    by_hand = np.mean([(1 + s) * (1 - s / 2) * (1 + s) for s in STAKES])
    assert log_wealth(d)[-1] == pytest.approx(math.log(by_hand))


@pytest.mark.parametrize(("attempt", "labels"), [(1, 24), (3, 37), (10, 51), (40, 67)])
def test_labels_foreseen_for_eleven_to_three(attempt: int, labels: int) -> None:
    assert labels_wanted(11 / 14, attempt) == labels
    assert labels_wanted(0.5, attempt) is None


def test_states() -> None:
    assert prove(np.zeros(0), 1, parted=0.1).state == "open"
    assert prove(np.ones(20), 1, parted=0.1).state == "better"
    assert prove(-np.ones(20), 1, parted=0.1).state == "worse"
    even = np.tile([1.0, -1.0], 6)
    assert prove(even, 1, parted=0.1).state == "not_shown"
    assert prove(even[:10], 1, parted=0.1).state == "open"
    assert prove(np.tile([1.0, 1.0, -1.0], 20), 40, parted=0.1).state == "not_shown"


def test_better_is_never_taken_back() -> None:
    found = prove(np.concatenate([np.ones(12), -np.ones(12)]), 1, parted=0.1)
    assert found.state == "better"
    assert (found.right, found.wrong) == (12, 12)


def test_bounds_hold_the_mean_and_never_widen() -> None:
    rng = np.random.default_rng(0)
    d = np.where(rng.random(60) < 0.8, 1.0, -1.0)
    before = (-1.0, 1.0)
    for n in range(0, 61, 6):
        low, high = bounds(d[:n], spent(1))
        assert before[0] <= low <= 0.6 <= high <= before[1]
        before = low, high


def test_sign_test_is_the_binomial_tail() -> None:
    from scipy.stats import binomtest

    assert sign_test(24, 3) == pytest.approx(binomtest(24, 27, alternative="greater").pvalue)
