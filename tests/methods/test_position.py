"""Position bias: published tables, real judges, laws, and judges with a planted bias."""

from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidOption
from core.questions.order.method import PositionBias, flips_by, position_bias
from core.records import PositionCounts

TALLIES = ("first", "second", "tie", "pairs", "flips", "hard_flips")
REPEATS = ("same_order_pairs", "same_order_disagreements")


def make(item: list[int] | None = None, **columns: list[float]) -> PositionCounts:
    """Position counts from the columns that matter; the others are 0, one category,
    unknown margin.
    """
    n = len(next(iter(columns.values())))
    values = {
        name: np.zeros(n, dtype=np.int64) for name in (*TALLIES, *REPEATS, "slot_sum", "category")
    }
    values |= {name: np.array(column) for name, column in columns.items()}
    return PositionCounts(
        comparison=np.arange(n),
        item=np.arange(n) if item is None else np.array(item),
        categories=("all",) if "category" not in columns else ("maths", "code", "unused"),
        **({"margin": np.full(n, np.nan)} | values),
    )


def from_votes(votes: pd.DataFrame) -> PositionCounts:
    """Counts of one judge from votes in canonical form, by plain loops."""
    votes = votes[votes["position"].isin(["ab", "ba"]) & votes["vote"].notna()]
    rows = []
    for (item, *_), group in votes.groupby(["item_id", "model_a", "model_b"], sort=True):
        orders: dict[str, dict[int, int]] = {"ab": {}, "ba": {}}
        for order, run, vote in zip(group["position"], group["run"], group["vote"], strict=True):
            orders[order][run] = int(vote)
        ab, ba = orders["ab"], orders["ba"]
        slots = [*ab.values(), *(-vote for vote in ba.values())]
        both = [(ab[run], ba[run]) for run in ab.keys() & ba.keys()]
        repeats = [
            abs(one - two)
            for order in (ab, ba)
            for one, two in combinations([order[run] for run in sorted(order)], 2)
        ]
        rows.append(
            {
                "item": item,
                "first": slots.count(1),
                "second": slots.count(-1),
                "tie": slots.count(0),
                "pairs": len(both),
                "flips": sum(one != two for one, two in both),
                "hard_flips": sum(one * two == -1 for one, two in both),
                "same_order_pairs": len(repeats),
                "same_order_disagreements": sum(difference > 0 for difference in repeats),
                "slot_sum": sum(one - two for one, two in both),
            }
        )
    columns = {name: [row[name] for row in rows] for name in (*TALLIES, *REPEATS, "slot_sum")}
    return make(item=pd.factorize(np.array([row["item"] for row in rows]))[0].tolist(), **columns)


def read(shared_data: Path, name: str, judge: str) -> PositionBias:
    votes = pd.read_csv(shared_data / "votes" / f"{name}.csv.gz", low_memory=False)
    return position_bias(from_votes(votes[votes["judge"] == judge]))


def test_published_table_with_both_denominators(golden: Path) -> None:
    """[BTD] Table 1, where 14.5 is 14.58 cut off; its column with ties is bias_all."""
    for row in pd.read_csv(golden / "btd_position_bias.csv").itertuples():
        bias = position_bias(make(first=[row.first], second=[row.second], tie=[row.tie]))
        assert 100 * bias.bias_all.value == pytest.approx(row.bias_published_percent, abs=0.1)
        if row.ties_allowed == "no":
            assert bias.bias_decided.value == bias.bias_all.value


def test_the_two_denominators_differ_where_ties_are() -> None:
    bias = position_bias(make(first=[220], second=[199], tie=[253]))
    assert bias.bias_decided.value == pytest.approx(21 / 419)
    assert bias.bias_all.value == pytest.approx(21 / 672)


def check_o1_mini_on_judgebench(shared_data: Path) -> None:
    votes = pd.read_csv(shared_data / "votes" / "judgebench.csv.gz")
    judge = next(name for name in votes["judge"].unique() if "o1-mini" in name)
    bias = position_bias(from_votes(votes[votes["judge"] == judge]))
    assert (bias.first, bias.second, bias.tie, bias.pairs) == (367, 289, 44, 350)
    assert bias.bias_decided.value == pytest.approx(0.118902, abs=5e-7)
    assert bias.bias_all.value == pytest.approx(0.111429, abs=5e-7)
    assert bias.flip_rate.value == pytest.approx(0.314286, abs=5e-7)
    assert bias.hard_flip_rate.value == pytest.approx(0.217143, abs=5e-7)
    assert bias.same_order_disagreement is None
    assert bias.direction == "first"
    assert bias.p_value < 0.001


def check_chatgpt_flips_on_faireval(shared_data: Path) -> None:
    bias = read(shared_data, "faireval", "ChatGPT [Vanilla_NoRules]")
    assert bias.flip_rate.value == pytest.approx(0.818182, abs=5e-7)


def check_a_right_judge_with_unbalanced_orders(shared_data: Path) -> None:
    """gpt-4o-mini of judgeconf: gold sits first where one order was asked, and no pair flips."""
    bias = read(shared_data, "judgeconf", "gpt-4o-mini")
    assert bias.bias_decided.value == pytest.approx(0.406593, abs=5e-7)
    assert (bias.pairs, bias.flips, bias.towards_first, bias.towards_second) == (78, 0, 0, 0)
    assert bias.p_value == 1
    assert bias.direction is None


def check_repeats_show_what_order_adds(shared_data: Path) -> None:
    votes = pd.read_csv(shared_data / "votes" / "pba_repeat.csv.gz")
    judge = sorted(votes["judge"].unique())[0]
    bias = position_bias(from_votes(votes[votes["judge"] == judge]))
    assert bias.same_order_pairs > 0
    assert bias.excess.value == pytest.approx(
        bias.flip_rate.value - bias.same_order_disagreement.value
    )
    assert bias.excess.low < bias.excess.value < bias.excess.high


def test_unknown_is_none_never_zero() -> None:
    nothing = position_bias(make(first=[0]))
    for name in (
        "bias_decided",
        "bias_all",
        "flip_rate",
        "hard_flip_rate",
        "excess",
        "p_value",
        "direction",
    ):
        assert getattr(nothing, name) is None
    one_order = position_bias(make(first=[5], second=[2], tie=[1]))
    assert one_order.bias_decided is not None
    assert one_order.p_value is None
    only_ties = position_bias(make(tie=[4, 3]))
    assert only_ties.bias_decided is None
    assert only_ties.bias_all.value == 0
    assert only_ties.bias_all.low < 0 < only_ties.bias_all.high


def test_sign_test_agrees_with_scipy() -> None:
    from scipy.stats import binomtest

    for k, m in [(0, 1), (3, 3), (12, 5), (40, 77), (0, 30), (500, 431)]:
        counts = make(pairs=[1] * (k + m), slot_sum=[2] * k + [-1] * m)
        expected = binomtest(k, k + m, 0.5).pvalue
        assert position_bias(counts).p_value == pytest.approx(expected, rel=1e-12)


cells = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.integers(0, 9),
        st.integers(0, 9),
        st.integers(0, 4),
        st.integers(-4, 4),
    ).map(
        # A pair of orders leans by at most two votes.
        lambda row: (*row[:4], max(-2 * row[3], min(2 * row[3], row[4])))
    ),
    min_size=1,
    max_size=30,
)


@given(cells)
def test_swapping_the_slots_negates_the_bias(rows: list[tuple[int, ...]]) -> None:
    first, second, tie, pairs, d = (list(column) for column in zip(*rows, strict=True))
    kept = position_bias(make(first=first, second=second, tie=tie, pairs=pairs, slot_sum=d))
    swapped = position_bias(
        make(first=second, second=first, tie=tie, pairs=pairs, slot_sum=[-x for x in d])
    )
    assert kept.p_value == swapped.p_value
    for name in ("bias_decided", "bias_all", "bias_pairs"):
        one, other = getattr(kept, name), getattr(swapped, name)
        if one is None:
            assert other is None
            continue
        assert other.value == pytest.approx(-one.value, abs=1e-12)
        if not one.has_interval:
            # Within pairs one item says nothing of others.
            assert (name, one.n, other.has_interval) == ("bias_pairs", 1, False)
            continue
        assert one.low <= one.value + 1e-12
        assert one.value <= one.high + 1e-12
        assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-9)


@given(cells, st.randoms(use_true_random=False))
def test_row_order_does_not_matter_and_votes_are_conserved(
    rows: list[tuple[int, ...]], random: Random
) -> None:
    def bias(rows: list[tuple[int, ...]]) -> PositionBias:
        first, second, tie, pairs, d = (list(column) for column in zip(*rows, strict=True))
        return position_bias(
            make(first=first, second=second, tie=tie, pairs=pairs, flips=pairs, slot_sum=d)
        )

    shuffled = list(rows)
    random.shuffle(shuffled)
    one, two = bias(rows), bias(shuffled)
    assert one.first + one.second + one.tie == sum(sum(row[:3]) for row in rows)
    assert one.to_frame().iloc[0, :2].tolist() == two.to_frame().iloc[0, :2].tolist()
    # As text: of a single item there is no interval, and no NaN is equal to another.
    assert repr((one.p_value, one.flip_rate)) == repr((two.p_value, two.flip_rate))


def test_flips_by_category_add_up_and_keep_empty_groups() -> None:
    counts = make(
        pairs=[2, 3, 1, 4], flips=[1, 0, 1, 2], hard_flips=[1, 0, 0, 1], category=[0, 0, 1, 1]
    )
    table = flips_by(counts, "category")
    assert table.groups == ("maths", "code", "unused")
    assert table.pairs.tolist() == [5, 5, 0]
    # Items weigh alike, however many pairs they have: (1/2 + 0)/2 and (1 + 2/4)/2.
    assert table.rate.value[:2] == pytest.approx([0.25, 0.75])
    assert table.hard_rate.value[:2] == pytest.approx([0.25, 0.125])
    assert np.isnan(table.rate.value[2])
    assert (table.rate.low[:2] < table.rate.value[:2]).all()
    assert table.to_frame()["flips"].sum() == position_bias(counts).flips


def test_margin_bins_are_open_below_and_hold_their_upper_edge() -> None:
    margin = [0.0, 0.2, 0.2 + 1e-12, 0.25, 0.6000000000000001, 1.0, np.nan]
    counts = make(pairs=[1] * 7, flips=[1, 0, 0, 1, 0, 0, 1], margin=margin)
    table = flips_by(counts, "margin", bins=5)
    assert table.comparisons.tolist() == [3, 1, 1, 0, 1, 1]
    assert table.groups[-1] == "no other judge"
    assert table.low_edge[:5] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])
    assert np.isnan(table.high_edge[-1])
    assert np.isnan(table.rate.value[3])


def test_wrong_options_are_named() -> None:
    counts = make(pairs=[1])
    with pytest.raises(InvalidOption, match="colour"):
        flips_by(counts, "colour")
    with pytest.raises(InvalidOption, match="bins"):
        flips_by(counts, "margin", bins=0)


def planted(
    rng: np.random.Generator, lean: float, items: int = 200, tie: float = 0.3
) -> PositionCounts:
    """A judge with `runs` of both orders per item: an item's own lean, and `lean` towards the first
    slot.
    """
    truth = rng.normal(0, 1, size=(items, 1, 1))
    order = np.array([1, -1]).reshape(1, 1, 2)
    slot = order * truth + lean + rng.logistic(0, 1, size=(items, 2, 2))
    slot = np.where(np.abs(slot) < tie, 0, np.sign(slot)).astype(int)
    vote = slot * order
    return make(
        first=(slot == 1).sum(axis=(1, 2)),
        second=(slot == -1).sum(axis=(1, 2)),
        tie=(slot == 0).sum(axis=(1, 2)),
        pairs=[2] * items,
        flips=(vote[..., 0] != vote[..., 1]).sum(axis=1),
        hard_flips=(vote[..., 0] * vote[..., 1] == -1).sum(axis=1),
        slot_sum=slot.sum(axis=(1, 2)),
        same_order_pairs=[2] * items,
        same_order_disagreements=(vote[:, 0] != vote[:, 1]).sum(axis=1),
    )


def test_items_weigh_alike_however_often_they_were_asked() -> None:
    """One item asked 40 times, 36 of them opposite, beside nine asked once: four of those too."""
    counts = make(
        pairs=[40, *[1] * 9],
        flips=[38, 1, 1, 1, 1, 1, 0, 0, 0, 0],
        hard_flips=[36, 1, 1, 1, 1, 0, 0, 0, 0, 0],
        slot_sum=[72, 2, 2, 2, 2, 1, 0, 0, 0, 0],
        same_order_pairs=[10, 0, 0, 0, 0, 0, 0, 0, 0, 2],
        same_order_disagreements=[1, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    )
    bias = position_bias(counts)
    assert bias.flip_rate.value == pytest.approx((38 / 40 + 5) / 10)
    assert bias.hard_flip_rate.value == pytest.approx((36 / 40 + 4) / 10)
    # A change to or from a tie counts half.
    assert bias.half_flip_rate.value == pytest.approx((37 / 40 + 4.5) / 10)
    assert bias.bias_pairs.value == pytest.approx((72 / 80 + 4 + 0.5) / 10)
    # Of the two items that have repeats too: (38/40 − 1/10 + 0 − 1/2)/2.
    assert bias.excess.value == pytest.approx((38 / 40 - 1 / 10 - 1 / 2) / 2)
    assert (bias.flip_rate.n, bias.excess.n, bias.pairs) == (10, 2, 49)


@pytest.mark.thorough
def test_planted_bias_is_found_and_no_bias_is_not() -> None:
    rng = np.random.default_rng(1)
    found = [position_bias(planted(rng, 0.6)) for _ in range(50)]
    assert all(bias.p_value < 0.05 and bias.direction == "first" for bias in found)
    assert np.mean([bias.excess.value for bias in found]) > 0.02
    false_alarms = [position_bias(planted(rng, 0.0)).p_value < 0.05 for _ in range(1000)]
    assert np.mean(false_alarms) <= 0.065


@pytest.mark.thorough
def test_intervals_cover_the_truth() -> None:
    """Shares of one item are dependent and votes tie; 93 to 98 % of 95 % intervals hold the planted
    value.
    """
    rng = np.random.default_rng(2)
    big = position_bias(planted(rng, 0.3, items=400_000))
    draws = [position_bias(planted(rng, 0.3, items=80)) for _ in range(1200)]
    for name in ("bias_all", "excess", "flip_rate"):
        truth = getattr(big, name).value
        held = [getattr(d, name).low <= truth <= getattr(d, name).high for d in draws]
        assert 0.93 <= np.mean(held) <= 0.98, name
