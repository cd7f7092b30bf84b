"""Agreement of all pairs at once is that of each pair alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.questions.agreement.kappa import (
    NOTHING,
    _by_items,
    _by_products,
    agreement_matrix,
    cohen_kappa,
)
from core.records import NO_GOLD, VoteCounts


def labels_of(judges: int, comparisons: int, rng: np.random.Generator) -> np.ndarray:
    """Labels 0, 1, 2, or nothing for a quarter; the first judge always says the same."""
    truth = rng.integers(0, 3, comparisons)
    found = np.where(
        rng.random((judges, comparisons)) < 0.6, truth, rng.integers(0, 3, (judges, comparisons))
    )
    found[0] = 2
    return np.where(rng.random(found.shape) < 0.25, NOTHING, found).astype(np.int8)


def test_products_and_items_give_the_same_sums():
    labels = labels_of(7, 90, np.random.default_rng(0))
    products, items = _by_products(labels), _by_items(labels, np.arange(90))
    for name in products.__slots__:
        assert getattr(products, name) == pytest.approx(getattr(items, name), rel=1e-12)


@pytest.mark.parametrize("per_item", [1, 3])
def test_each_pair_is_as_alone(per_item):
    labels = labels_of(6, 60, np.random.default_rng(1))
    counts = {}
    for k, row in enumerate(labels):
        seen = np.flatnonzero(row < NOTHING)
        votes = {
            name: (row[seen] == place).astype(np.int64)
            for place, name in enumerate(("minus", "tie", "plus"))
        }
        gold = np.full(len(seen), NO_GOLD)
        counts[str(k)] = VoteCounts(comparison=seen, item=seen // per_item, gold=gold, **votes)
    together = {(pair.judge_1, pair.judge_2): pair for pair in agreement_matrix(counts).pairs}
    assert list(together) == list(combinations(counts, 2))
    for (one, two), pair in together.items():
        (alone,) = agreement_matrix({name: counts[name] for name in (one, two)}).pairs
        both = np.flatnonzero((labels[int(one)] < NOTHING) & (labels[int(two)] < NOTHING))
        kappa = cohen_kappa(*(labels[int(name)][both].astype(np.int64) - 1 for name in (one, two)))
        assert pair.n == alone.n == len(both)
        assert (pair.kappa is None) == (kappa is None)
        if pair.kappa is not None and alone.kappa is not None:
            assert pair.kappa.value == kappa
            assert [pair.kappa.low, pair.kappa.high] == pytest.approx(
                [alone.kappa.low, alone.kappa.high]
            )
            assert pair.raw == alone.raw
