"""Confusion tables: real judges, tie rules, laws, and scikit-learn as oracle."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidOption
from core.questions.accuracy.confusion_matrix import confusion
from core.records import NO_GOLD, VoteCounts


def make(rows: list[tuple[int, int, int, int]], item: list[int] | None = None) -> VoteCounts:
    """Rows of (plus, tie, minus, gold)."""
    plus, tie, minus, gold = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    code = np.arange(len(rows))
    return VoteCounts(
        comparison=code,
        item=code if item is None else np.array(item),
        plus=plus,
        tie=tie,
        minus=minus,
        gold=gold,
    )


def from_votes(votes: pd.DataFrame) -> VoteCounts:
    """Counts of one judge from votes in canonical form, by plain pandas."""
    keys = ["item_id", "model_a", "model_b"]
    counts = pd.crosstab([votes[key] for key in keys], votes["vote"])
    counts = counts.reindex(columns=[1, 0, -1], fill_value=0)
    gold = votes.groupby(keys)["gold"].first().fillna(NO_GOLD).astype(int)
    return make(
        [(*row, g) for row, g in zip(counts.to_numpy().tolist(), gold, strict=True)],
        item=pd.factorize(counts.index.get_level_values("item_id"))[0].tolist(),
    )


def check_gpt_35_on_pandalm(shared_data: Path) -> None:
    votes = pd.read_csv(shared_data / "votes" / "pandalm.csv.gz")
    counts = from_votes(votes[votes["judge"] == "gpt-3.5-turbo"])
    table = confusion(counts)
    assert table.counts.tolist() == [[360, 20, 86], [45, 5, 42], [71, 13, 332]]
    assert table.n == 974
    assert table.accuracy.value == pytest.approx(0.715606, abs=5e-7)
    assert table.accuracy.low < table.accuracy.value < table.accuracy.high
    forced = confusion(counts, ties="drop_both")
    assert forced.counts.tolist() == [[360, 0, 86], [0, 0, 0], [71, 0, 332]]
    assert forced.dropped == 974 - forced.n


def check_o1_mini_on_judgebench(shared_data: Path) -> None:
    votes = pd.read_csv(shared_data / "votes" / "judgebench.csv.gz")
    judge = next(name for name in votes["judge"].unique() if "o1-mini" in name)
    table = confusion(from_votes(votes[votes["judge"] == judge]))
    assert (table.n, table.accuracy.value) == (700, pytest.approx(0.727143, abs=5e-7))


def test_every_tie_rule_says_what_a_tie_is() -> None:
    counts = make([(2, 1, 0, 1), (0, 1, 1, 0), (1, 0, 0, 0), (0, 0, 3, -1), (5, 5, 5, NO_GOLD)])
    kept = confusion(counts)
    assert kept.counts.tolist() == [[3, 0, 0], [1, 1, 1], [0, 1, 2]]
    assert (kept.n, kept.without_gold, kept.dropped) == (9, 15, 0)
    # Items weigh alike, whatever their votes.
    assert kept.accuracy.value == pytest.approx((2 / 3 + 1 / 2 + 0 + 1) / 4)
    decided = confusion(counts, ties="drop_votes")
    assert (decided.n, decided.dropped, decided.accuracy.value) == (7, 2, pytest.approx(2 / 4))
    gold_decided = confusion(counts, ties="drop_gold")
    assert (gold_decided.n, gold_decided.dropped, gold_decided.accuracy.value) == (
        6,
        3,
        pytest.approx(5 / 6),
    )
    both = confusion(counts, ties="drop_both")
    assert (both.n, both.dropped, both.accuracy.value) == (5, 4, 1)


def test_labels_of_an_aggregator_count_each_comparison_once() -> None:
    counts = make([(2, 1, 0, 1), (0, 4, 4, 0), (0, 0, 3, 1), (1, 0, 0, NO_GOLD)])
    table = confusion(counts, labels=counts.label)
    assert table.unit == "comparisons"
    assert table.counts.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert (table.n, table.without_gold) == (3, 1)


def test_nothing_labelled_is_none_not_zero() -> None:
    table = confusion(make([(1, 0, 0, NO_GOLD)]))
    assert (table.accuracy, table.n) == (None, 0)
    assert np.isnan(table.share.value).all()


def test_votes_of_one_item_widen_the_interval() -> None:
    rows = [(4, 0, 0, 1)] * 30 + [(0, 0, 4, 1)] * 10
    table = confusion(make(rows))
    alone = confusion(make([(1, 0, 0, 1)] * 30 + [(0, 0, 1, 1)] * 10))
    width, alone_width = (t.accuracy.high - t.accuracy.low for t in (table, alone))
    assert width == pytest.approx(alone_width, rel=0.03)


def test_wrong_options_are_named() -> None:
    counts = make([(1, 0, 0, 1)])
    with pytest.raises(InvalidOption, match="half"):
        confusion(counts, ties="half")
    with pytest.raises(InvalidOption, match="labels"):
        confusion(counts, labels=np.array([2]))
    with pytest.raises(InvalidOption, match="labels"):
        confusion(counts, labels=np.array([1, 1]))


votes_and_gold = st.lists(
    st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1])), min_size=1, max_size=60
)


@settings(deadline=None)  # the first import of scikit-learn takes seconds
@given(votes_and_gold)
def test_agrees_with_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    from sklearn.metrics import accuracy_score, confusion_matrix

    vote, gold = np.array(pairs).T
    counts = make([(v == 1, v == 0, v == -1, g) for v, g in pairs])
    table = confusion(counts)
    assert table.counts.tolist() == confusion_matrix(gold, vote, labels=[-1, 0, 1]).tolist()
    assert table.accuracy.value == pytest.approx(accuracy_score(gold, vote), abs=1e-12)
    if len(gold) > 1:
        assert table.accuracy.low <= table.accuracy.value <= table.accuracy.high
    rows = table.counts.sum(axis=1) > 0
    assert table.share.value[rows].sum(axis=1) == pytest.approx(1)
    assert table.to_frame()["count"].sum() == len(pairs)


@given(votes_and_gold)
def test_swapping_the_models_turns_the_table_round(pairs: list[tuple[int, int]]) -> None:
    counts = confusion(make([(v == 1, v == 0, v == -1, g) for v, g in pairs])).counts
    swapped = confusion(make([(v == -1, v == 0, v == 1, -g) for v, g in pairs])).counts
    assert swapped.tolist() == counts[::-1, ::-1].tolist()
