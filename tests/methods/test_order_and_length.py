"""Orders held against each other, and preference for length: counts, errors and intervals."""

from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from evidence_of import result
from hypothesis import given, settings
from hypothesis import strategies as some
from readings import reading

from core.errors import InvalidOption
from core.finding.figure import rater_styles
from core.finding.forest import forest, series
from core.finding.wording import percent_span
from core.questions.leaning import words
from core.questions.leaning.preference import verbosity
from core.questions.order import words as sentences
from core.questions.order.balance import order_balance
from core.questions.order.method import position_bias
from core.records import NO_GOLD, LengthCounts, OrderCounts, majority
from core.schema import Selection
from core.stats.estimate import Estimate
from core.store import Store
from core.store.vote_queries import Mark, length_counts, order_counts, positions, votes_behind


def real(shared_data: Path, name: str) -> Store:
    from core.importers import read

    store = Store.open()
    path = shared_data / "votes" / f"{name}.csv.gz"
    for one in read([(path.name, path)]):
        store.load(one)
    return store


def orders(
    rows: list[tuple[tuple[int, ...], tuple[int, ...], int]], item: list[int] | None = None
) -> OrderCounts:
    """Rows of (votes -1, 0, +1 in `ab`, the same in `ba`, gold)."""
    ab, ba, gold = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    code = np.arange(len(rows))
    return OrderCounts(
        comparison=code, item=code if item is None else np.array(item), ab=ab, ba=ba, gold=gold
    )


def check_judges(shared_data: Path) -> None:
    """Figures of the shared folder's README and the specification."""
    store = real(shared_data, "judgebench")
    one = position_bias(positions(store, Selection())["o1-mini-2024-09-12 [arena_hard]"])
    assert (one.first, one.second, one.tie, one.pairs, one.unpaired) == (367, 289, 44, 350, 0)
    rounded = tuple(
        round(x, 6)
        for x in (
            one.bias_decided.value,
            one.bias_all.value,
            one.flip_rate.value,
            one.hard_flip_rate.value,
        )
    )
    assert rounded == (0.118902, 0.111429, 0.314286, 0.217143)
    assert one.bias_pairs.value == one.bias_all.value
    mark = Mark(judge="o1-mini-2024-09-12 [arena_hard]", flip="flip")
    assert votes_behind(store, Selection(), mark=mark).num_rows == 2 * one.flips == 220
    chatgpt = position_bias(
        positions(real(shared_data, "faireval"), Selection())["ChatGPT [Vanilla_NoRules]"]
    )
    assert round(chatgpt.flip_rate.value, 6) == 0.818182


def check_raw_share_of_a_right_judge_is_no_bias(shared_data: Path) -> None:
    """gpt-4o-mini: raw .406593, as gold sits first where only one order was asked; within pairs
    nothing.
    """
    found = positions(real(shared_data, "judgeconf"), Selection())
    results = {judge: position_bias(one) for judge, one in found.items()}
    one = results["gpt-4o-mini"]
    assert round(one.bias_decided.value, 6) == 0.406593
    assert (one.pairs, one.flips, one.bias_pairs.value, one.unpaired) == (78, 0, 0.0, 273 - 156)
    assert result("position", positions=found["gpt-4o-mini"]).grade == "ok"
    assert "5 of 5 judges" in sentences.unbalanced(results)


def check_no_warning_where_orders_are_balanced(shared_data: Path) -> None:
    found = positions(real(shared_data, "judgebench"), Selection())
    assert sentences.unbalanced({judge: position_bias(one) for judge, one in found.items()}) is None


def test_counts_by_order_and_length_equal_pandas() -> None:
    rng = np.random.default_rng(5)
    n = 400
    frame = pd.DataFrame(
        {
            "item_id": rng.integers(0, 30, n).astype(str),
            "model_a": "x",
            "model_b": rng.choice(["y", "z"], n),
            "judge": rng.choice(["j1", "j2"], n),
            "run": np.arange(n),
            "position": rng.choice(["ab", "ba", None], n),
            "vote": rng.integers(-1, 2, n),
            "length_a": rng.integers(1, 4, n),
            "length_b": rng.integers(1, 4, n),
        }
    )
    of_pair = frame.groupby(["item_id", "model_b"]).ngroup()
    gold = rng.choice([-1, 0, 1, np.nan], of_pair.max() + 1)
    frame["gold"] = pd.array(gold[of_pair], dtype="Int64")
    store = Store.open()
    store.load(reading(frame.astype(object).where(frame.notna(), None).to_dict("records")))
    for judge, found in order_counts(store, Selection()).items():
        mine = frame[(frame["judge"] == judge) & frame["position"].notna()]
        assert len(found) == mine.groupby(["item_id", "model_b"]).ngroups
        for order in ("ab", "ba"):
            votes = mine[mine["position"] == order]["vote"]
            assert getattr(found, order).sum(axis=0).tolist() == [
                int((votes == v).sum()) for v in (-1, 0, 1)
            ]
        assert sorted(found.gold.tolist()) == sorted(
            mine.groupby(["item_id", "model_b"])["gold"].first().fillna(NO_GOLD).tolist()
        )
    for judge, lengths in length_counts(store, Selection()).items():
        mine = frame[(frame["judge"] == judge) & (frame["length_a"] != frame["length_b"])]
        side = np.sign(mine["length_a"] - mine["length_b"])
        assert int(lengths.longer.sum()) == int((mine["vote"] == side).sum())
        assert int(lengths.shorter.sum()) == int((mine["vote"] == -side).sum())
        assert int(lengths.tie.sum()) == int((mine["vote"] == 0).sum())
        votes = lengths.longer + lengths.shorter + lengths.tie
        for label in (-1, 0, 1):
            assert int(votes[lengths.gold == label].sum()) == int(
                (mine["gold"] * side == label).sum()
            )


three = some.tuples(some.integers(0, 3), some.integers(0, 3), some.integers(0, 3))


@settings(deadline=None, max_examples=40)
@given(some.lists(some.tuples(three, three, some.sampled_from([-1, 0, 1])), min_size=1, max_size=4))
def test_expected_errors_equal_every_subset_counted(rows: list[tuple]) -> None:
    """The exact expectation over draws without replacement, by listing every draw."""
    usable = [row for row in rows if min(sum(row[0]), sum(row[1])) >= 2]
    if not usable:
        return
    result = order_balance(orders(rows), votes=2)

    def votes(counts: tuple[int, ...]) -> list[int]:
        return [vote for vote, count in zip((-1, 0, 1), counts, strict=True) for _ in range(count)]

    def error(draws: list[tuple[int, ...]], gold: int) -> float:
        labels = [
            int(majority(*(np.array([draw.count(vote)]) for vote in (1, 0, -1)))[0])
            for draw in draws
        ]
        return float(np.mean([abs(label - gold) for label in labels]))

    expected = np.zeros(4)
    for ab, ba, gold in usable:
        a, b = votes(ab), votes(ba)
        halves = [x + y for x, y in product(combinations(a, 1), combinations(b, 1))]
        both = [x + y for x, y in product(combinations(a, 2), combinations(b, 2))]
        expected += [
            error(draws, gold)
            for draws in (list(combinations(a, 2)), list(combinations(b, 2)), halves, both)
        ]
    assert result.mae.value == pytest.approx(expected / len(usable), abs=1e-12)
    assert result.gain.value == pytest.approx(
        expected[:2].mean() / len(usable) - expected[2] / len(usable), abs=1e-12
    )
    assert (result.n, result.left_out) == (len(usable), len(rows) - len(usable))


def test_balance_helps_a_judge_that_follows_the_slot() -> None:
    """It votes for the first shown; gold is a tie: each order errs by 1, half of each by 0."""
    result = order_balance(orders([((0, 0, 4), (4, 0, 0), 0)] * 30))
    assert result.votes.tolist() == [4, 4, 4, 8]
    assert result.mae.value.tolist() == [1, 1, 0, 0]
    # Two items more, one of them against it: 30/32 ± t(29)·SE.
    assert result.gain.value == 1
    assert 0.7 < result.gain.low < 30 / 32
    assert 1 <= result.gain.high < 1.1
    assert "balance helps" in sentences.order_balance("j", result)


def test_one_vote_an_order_says_what_is_missing() -> None:
    result = order_balance(orders([((0, 0, 1), (1, 0, 0), 1)] * 25 + [((0, 0, 1), (0, 0, 0), 1)]))
    assert result.gain is None
    assert "two or more" in result.reason
    assert np.isnan(result.mae.value[2])
    assert (result.n, result.left_out) == (25, 1)
    assert result.mae.value[[0, 1, 3]].tolist() == [0, 2, 1]
    assert "two votes or more in each order" in sentences.order_balance("j", result)


def test_one_item_says_that_it_says_nothing_of_others() -> None:
    one = replace(orders([((0, 0, 4), (4, 0, 0), 0)] * 30), item=np.zeros(30, dtype=np.int64))
    result = order_balance(one)
    assert (result.gain.value, result.gain.has_interval) == (1, False)
    said = sentences.order_balance("j", result)
    assert "all comparisons are of one item, which says nothing of others (gain" in said
    assert "nan" not in said


def test_gain_that_no_comparison_showed_yet_has_an_interval() -> None:
    """A judge that is nearly always right: a t interval of the gain is a point in 15 % of sets of
    40.
    """
    result = order_balance(orders([((0, 0, 4), (0, 0, 4), 1)] * 40))
    assert result.gain.value == 0
    assert result.gain.low < -0.04
    assert result.gain.high > 0.04


def test_a_million_votes_of_one_order_are_one_row_of_chances() -> None:
    rows = [((0, 0, 10**6), (10**6, 0, 0), 1), ((4, 1, 3), (2, 2, 4), 0)] * 10
    result = order_balance(orders(rows), votes=4)
    assert result.mae.value[0] == pytest.approx(
        order_balance(orders(rows[1:2]), votes=4).mae.value[0] / 2
    )


def test_no_gold_or_no_second_order_is_none_and_odd_votes_are_refused() -> None:
    assert order_balance(orders([((0, 0, 2), (0, 0, 2), NO_GOLD)])) is None
    assert order_balance(orders([((0, 0, 2), (0, 0, 0), 1)])) is None
    assert "no comparison" in sentences.order_balance("j", None)
    with pytest.raises(InvalidOption, match="votes = 3"):
        order_balance(orders([((0, 0, 4), (0, 0, 4), 1)]), votes=3)


def test_interval_of_the_error_solves_the_score_equation_of_its_effective_number() -> None:
    rng = np.random.default_rng(6)
    rows = [
        (tuple(rng.multinomial(4, [0.2, 0.3, 0.5])), tuple(rng.multinomial(4, [0.4, 0.3, 0.3])), 1)
        for _ in range(60)
    ]
    result = order_balance(orders(rows), votes=4)
    label = np.array([majority(*(np.array([ab[k]]) for k in (2, 1, 0)))[0] for ab, _, _ in rows])
    half = np.abs(label - 1) / 2
    share = half.mean()
    # Votes of 0 to 2 as shares: variance between items against the binomial, ¼ added to both.
    effective = 60 * (60 * share * (1 - share) + 0.25) / (60 * half.var(ddof=1) + 0.25)
    for end in (result.mae.low[0] / 2, result.mae.high[0] / 2):
        assert abs(end - share) == pytest.approx(
            1.959963985 * np.sqrt(end * (1 - end) / effective), abs=1e-8
        )


def lengths(rows: list[tuple[int, int, int, int]]) -> LengthCounts:
    longer, shorter, tie, gold = np.array(rows, dtype=np.int64).T
    code = np.arange(len(rows))
    return LengthCounts(
        comparison=code, item=code, longer=longer, shorter=shorter, tie=tie, gold=gold
    )


def test_verbosity_is_what_exceeds_gold() -> None:
    one = verbosity(lengths([(3, 1, 0, 1)] * 20 + [(3, 1, 0, -1)] * 20 + [(0, 0, 4, 0)] * 5))
    assert (one.n, one.longer, one.longer_rate.value) == (160, 120, 0.75)
    assert (one.judge_rate, one.gold_rate, one.n_gold) == (0.75, 0.5, 160)
    # Gold ties on 5 of the 45 items, and so does the judge.
    assert one.beyond_gold.value == pytest.approx(0.25 * 40 / 45)
    assert one.beyond_gold.low < 0.22 < one.beyond_gold.high
    assert words.verbosity("j", one) == (
        "j: prefers the longer response in 75 % of 160 decided votes "
        f"({percent_span(one.longer_rate)}); "
        "where gold decides, in 75 % of 160, and gold in 50 % of them."
    )


def test_verbosity_without_gold_or_decided_votes() -> None:
    one = verbosity(lengths([(3, 1, 0, NO_GOLD)] * 5))
    assert (one.beyond_gold, one.gold_rate) == (None, None)
    assert "without gold" in words.verbosity("j", one)
    assert verbosity(lengths([(0, 0, 2, 1)])) is None
    agreeing = verbosity(lengths([(2, 0, 0, 1)] * 9))
    # Gold prefers the longer one throughout: mere errors would look like a preference.
    assert agreeing.beyond_gold is None


@given(
    some.lists(
        some.tuples(*[some.integers(0, 5)] * 3, some.sampled_from([-1, 0, 1])),
        min_size=2,
        max_size=20,
    )
)
def test_shorter_for_longer_negates_the_excess(rows: list[tuple[int, int, int, int]]) -> None:
    one, other = (
        verbosity(lengths(rows)),
        verbosity(lengths([(s, longer, t, -g) for longer, s, t, g in rows])),
    )
    if one is None or one.beyond_gold is None:
        assert other is None or other.beyond_gold is None
        return
    assert other.beyond_gold.value == pytest.approx(-one.beyond_gold.value, abs=1e-12)
    assert other.longer_rate.value == pytest.approx(1 - one.longer_rate.value, abs=1e-12)
    if one.beyond_gold.has_interval:
        assert (other.beyond_gold.low, other.beyond_gold.high) == pytest.approx(
            (-one.beyond_gold.high, -one.beyond_gold.low), abs=1e-9
        )
        assert one.beyond_gold.low <= one.beyond_gold.value + 1e-12 <= one.beyond_gold.high + 2e-12


@pytest.mark.thorough
def test_excess_interval_covers_the_truth() -> None:
    """Three votes an item with a lasting opinion: .95 coverage within simulation error of 400
    draws.
    """
    rng = np.random.default_rng(7)
    hits = SimpleNamespace(inside=0, draws=400)
    for _ in range(hits.draws):
        item_rate = rng.beta(6, 4, size=80)
        longer = rng.binomial(3, item_rate)
        gold = np.where(rng.random(80) < 0.5, 1, -1)
        one = verbosity(
            lengths([(k, 3 - k, 0, g) for k, g in zip(longer.tolist(), gold.tolist(), strict=True)])
        )
        hits.inside += one.beyond_gold.low <= 0.6 - 0.5 <= one.beyond_gold.high
    assert 0.92 <= hits.inside / hits.draws <= 0.98


def test_long_names_break_at_a_word_and_keep_their_end() -> None:
    name = "Skywork_Skywork-Reward-Gemma-2-27B <b>"
    one = series("x", {name: Estimate(0.1, 0.0, 0.2)}, "", "n 5")
    fig = forest([one], styles=rater_styles([name]), x_title="x")
    assert fig.layout.yaxis.ticktext == ("Skywork_Skywork-Reward-<br>Gemma-2-27B &lt;b&gt;",)
