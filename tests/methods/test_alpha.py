"""Krippendorff α and Fleiss κ against the krippendorff package, a textbook table and laws."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidOption
from core.questions.agreement.reliability import (
    InterRaterReliability,
    inter_rater_reliability,
    label_table,
    split_comparisons,
)
from core.records import NO_GOLD, VoteCounts

MISSING = 9

PATTERNS = st.lists(
    st.lists(st.sampled_from([-1, 0, 1, MISSING]), min_size=4, max_size=4), min_size=1, max_size=40
)


def rater(labels: np.ndarray, items: np.ndarray | None = None) -> VoteCounts:
    """One vote per comparison; `MISSING` is none."""
    seen = np.flatnonzero(labels != MISSING)
    label = labels[seen]
    return VoteCounts(
        comparison=seen,
        item=seen if items is None else items[seen],
        plus=(label == 1).astype(np.int64),
        tie=(label == 0).astype(np.int64),
        minus=(label == -1).astype(np.int64),
        gold=np.full(len(seen), NO_GOLD),
    )


def found(
    matrix: np.ndarray, *, iterations: int = 20, items: np.ndarray | None = None
) -> InterRaterReliability:
    """Rows are comparisons, columns raters."""
    raters = {f"r{k}": rater(column, items) for k, column in enumerate(np.asarray(matrix).T)}
    return inter_rater_reliability(raters, rng=np.random.default_rng(0), iterations=iterations)


def oracle(matrix: np.ndarray, level: str) -> float | None:
    import krippendorff

    data = np.where(matrix == MISSING, np.nan, matrix).T.astype(float)
    counted = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
    if len(np.unique(counted[~np.isnan(counted)])) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(krippendorff.alpha(data, value_domain=[-1, 0, 1], level_of_measurement=level))


@given(PATTERNS)
def test_alpha_agrees_with_the_krippendorff_package(rows: list[list[int]]) -> None:
    matrix = np.array(rows)
    result = found(matrix)
    for level, found_alpha in (
        ("nominal", result.alpha_nominal),
        ("ordinal", result.alpha_ordinal),
    ):
        expected = oracle(matrix, level)
        assert (found_alpha is None) == (expected is None)
        assert found_alpha is None or found_alpha.value == pytest.approx(
            expected, rel=1e-9, abs=1e-9
        )
    assert (result.reason is None) == (result.alpha_nominal is not None)


def fleiss_by_hand(table: np.ndarray) -> float:
    """Fleiss (1971), eqs. 1 to 8, word for word."""
    subjects, n = len(table), table[0].sum()
    p_j = table.sum(axis=0) / (subjects * n)
    p_i = [(sum(c * c for c in row) - n) / (n * (n - 1)) for row in table]
    return (np.mean(p_i) - (p_j**2).sum()) / (1 - (p_j**2).sum())


def test_fleiss_kappa_of_the_paper() -> None:
    """The five diagnoses of Fleiss (1971), table 1 (κ .430), check the oracle; ours has three
    labels.
    """
    table = np.array(
        [
            *((0, 0, 0, 6, 0), (0, 3, 0, 0, 3), (0, 1, 4, 0, 1), (0, 0, 0, 0, 6), (0, 3, 0, 3, 0)),
            *((2, 0, 4, 0, 0), (0, 0, 4, 0, 2), (2, 0, 3, 1, 0), (2, 0, 0, 4, 0), (0, 0, 0, 0, 6)),
            *((1, 0, 0, 5, 0), (1, 1, 0, 4, 0), (0, 3, 3, 0, 0), (1, 0, 0, 5, 0), (0, 2, 0, 3, 1)),
            *((0, 0, 5, 0, 1), (3, 0, 0, 1, 2), (5, 1, 0, 0, 0), (0, 2, 0, 4, 0), (1, 0, 2, 0, 3)),
            *((0, 0, 0, 0, 6), (0, 1, 0, 5, 0), (0, 2, 0, 1, 3), (2, 0, 0, 4, 0), (1, 0, 0, 4, 1)),
            *((0, 5, 0, 1, 0), (4, 0, 0, 0, 2), (0, 2, 0, 4, 0), (1, 0, 5, 0, 0), (0, 0, 0, 0, 6)),
        ]
    )
    assert fleiss_by_hand(table) == pytest.approx(0.430, abs=5e-4)
    merged = np.column_stack([table[:, :2].sum(axis=1), table[:, 2], table[:, 3:].sum(axis=1)])
    matrix = np.array([np.repeat([-1, 0, 1], row) for row in merged])
    result = found(matrix)
    assert result.fleiss.value == pytest.approx(fleiss_by_hand(merged), abs=1e-12)
    assert (result.fleiss_n, result.fleiss_raters, result.n, result.labels) == (30, 6, 30, 180)


def test_fleiss_takes_the_commonest_number_of_raters() -> None:
    rng = np.random.default_rng(2)
    matrix = rng.choice([-1, 0, 1], size=(50, 4))
    matrix[:20, 3] = MISSING
    matrix[20:25, 1:] = MISSING
    result = found(matrix)
    assert (result.fleiss_n, result.fleiss_raters, result.n) == (25, 4, 45)
    table = np.array([[(row == label).sum() for label in (-1, 0, 1)] for row in matrix[25:]])
    assert result.fleiss.value == pytest.approx(fleiss_by_hand(table), abs=1e-12)


def test_votes_of_one_rater_are_one_label() -> None:
    one = VoteCounts(
        comparison=np.array([0, 1]),
        item=np.array([0, 1]),
        plus=np.array([3, 1]),
        tie=np.array([1, 0]),
        minus=np.array([0, 1]),
        gold=np.full(2, NO_GOLD),
    )
    raters = {"one": one, "two": rater(np.array([MISSING, -1, -1]))}
    comparison, table, item = label_table(raters)
    assert table.tolist() == [[0, 0, 1], [1, 1, 0], [1, 0, 0]]
    assert comparison.tolist() == item.tolist() == [0, 1, 2]
    assert split_comparisons(raters).tolist() == [1]
    assert inter_rater_reliability({"one": one}, rng=np.random.default_rng(0)).alpha_nominal is None


@given(PATTERNS, st.permutations(range(4)))
def test_names_of_raters_and_labels_do_not_matter(rows: list[list[int]], order: list[int]) -> None:
    matrix = np.array(rows)
    first = found(matrix)
    for other in (matrix[:, order], np.where(matrix == MISSING, MISSING, -matrix)):
        second = found(other)
        for name in ("alpha_nominal", "alpha_ordinal", "fleiss", "raw"):
            one, two = getattr(first, name), getattr(second, name)
            assert (one is None) == (two is None)
            if one is not None and name == "raw":
                assert two == pytest.approx(one, rel=1e-9, abs=1e-9)
            elif one is not None:
                assert two.value == pytest.approx(one.value, rel=1e-9, abs=1e-9)
    for one in (first.alpha_nominal, first.alpha_ordinal, first.fleiss):
        assert one is None or not one.has_interval or one.low <= one.value <= one.high


def test_perfect_agreement_is_one_and_one_label_is_nothing() -> None:
    same = np.repeat(np.array([[1], [0], [-1]] * 10), 3, axis=1)
    result = found(same)
    assert (
        result.alpha_nominal.value,
        result.alpha_ordinal.value,
        result.fleiss.value,
    ) == pytest.approx((1, 1, 1))
    assert not result.alpha_nominal.has_interval
    constant = found(np.ones((20, 3), dtype=np.int64))
    assert (constant.alpha_nominal, constant.fleiss) == (None, None)
    assert "one label" in constant.reason
    apart = found(np.array([[1, MISSING], [MISSING, 1]]))
    assert (apart.n, apart.raw) == (0, None)
    assert "no comparison" in apart.fleiss_reason
    with pytest.raises(InvalidOption, match="iterations"):
        inter_rater_reliability({}, rng=np.random.default_rng(0), iterations=0)


@pytest.mark.thorough
def test_interval_covers_with_several_comparisons_an_item() -> None:
    """Three comparisons of an item are equally hard; nominal 95 %."""
    rng = np.random.default_rng(7)

    def draw(items: int) -> tuple[np.ndarray, np.ndarray]:
        n = 3 * items
        hard = np.repeat(rng.random(items) < 0.4, 3)
        truth = rng.choice([-1, 0, 1], size=n, p=[0.4, 0.2, 0.4])
        miss = hard[:, None] & (rng.random((n, 3)) < 0.8)
        return np.where(miss, rng.choice([-1, 0, 1], (n, 3)), truth[:, None]), np.arange(n) // 3

    matrix, items = draw(200_000)
    truth = found(matrix, items=items, iterations=1)
    results = []
    for _ in range(400):
        matrix, items = draw(80)
        results.append(found(matrix, items=items, iterations=300))
    for name in ("alpha_nominal", "alpha_ordinal", "fleiss"):
        held = [
            getattr(one, name).low <= getattr(truth, name).value <= getattr(one, name).high
            for one in results
        ]
        assert 0.92 <= np.mean(held) <= 0.975, name


def check_raters_of_wmt23(shared_data: Path) -> None:
    """Ten raters, three per comparison: the package has the votes as they are."""
    frame = pd.read_csv(shared_data / "votes" / "wmt23_ende_humans.csv.gz")
    wide = frame.pivot_table(
        index=["item_id", "model_a", "model_b"], columns="judge", values="vote"
    )
    matrix = wide.fillna(MISSING).to_numpy().astype(np.int64)
    result = found(matrix)
    assert (result.n, result.labels, result.fleiss_raters) == (520, 1560, 3)
    assert result.alpha_nominal.value == pytest.approx(oracle(matrix, "nominal"), abs=1e-9)
    assert result.alpha_ordinal.value == pytest.approx(oracle(matrix, "ordinal"), abs=1e-9)
