"""Aggregation rules: by hand, against a plain reimplementation, and under exchange of A and B."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_by_one import weighed
from test_evaluation import simulated

from benchmarks.random_votes import as_reading, random_votes
from core.importers import read
from core.questions.labels.btd import BTDOptions
from core.questions.labels.evaluation import evaluate
from core.questions.labels.rules import (
    DERIVED,
    REASONS,
    RULES,
    confidence_labels,
    derived_name,
    given_labels,
    greedy_pair,
    one_hot,
    thresholds,
)
from core.records import VoteCells, VoteCounts, WeighedVotes
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries


def cells_of(votes, gold, weight=None) -> VoteCells:
    plus, tie, minus = np.array(votes, dtype=np.int64).T
    weight = np.ones(len(gold)) if weight is None else np.asarray(weight, dtype=np.float64)
    return VoteCells(
        plus=plus, tie=tie, minus=minus, gold=np.array(gold, dtype=np.int64), weight=weight
    )


def labels(key: str, cells: VoteCells) -> list[int]:
    forecast = RULES[key].forecast(cells, cells.weight[None], BTDOptions())
    assert forecast.shape == (1, len(cells), 3)
    return (forecast[0].argmax(axis=1) - 1).tolist()


def plain_threshold(cells: VoteCells, weight: np.ndarray) -> float:
    """Methods §2 in a plain loop: score every midpoint, join equal neighbours, take the
    widest run.
    """
    used = [
        (p, t, m, y, w)
        for p, t, m, y, w in zip(
            cells.plus, cells.tie, cells.minus, cells.gold, weight, strict=True
        )
        if w
    ]
    observed = sorted({0.0} | {abs(p - m) / (p + t + m) for p, t, m, _, _ in used})
    stretches = list(itertools.pairwise(observed))

    def error(tau: float) -> float:
        return sum(
            w * abs((np.sign(p - m) if abs(p - m) / (p + t + m) > tau else 0) - y)
            for p, t, m, y, w in used
        )

    errors = [error((low + high) / 2) for low, high in stretches]
    best, widest = 0.0, 0.0
    start = None
    for i, (low, high) in enumerate(stretches):
        if errors[i] > min(errors):
            start = None
            continue
        start = low if start is None else start
        if high - start > widest + 1e-12:
            best, widest = (start + high) / 2, high - start
    return best


votes = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)).filter(lambda v: sum(v) > 0),
    min_size=1,
    max_size=25,
)


def test_majority_without_a_unique_mode_is_a_tie():
    cells = cells_of([(3, 1, 2), (2, 0, 2), (1, 1, 1), (0, 2, 3), (1, 4, 0)], [0] * 5)
    assert labels("majority", cells) == [1, 0, 0, -1, 0]


def test_threshold_by_hand():
    # |m| of .25 is wrong to decide, .5 and more is right: τ lies between them.
    cells = cells_of([(5, 0, 3), (6, 0, 2), (8, 0, 0), (2, 0, 6), (3, 0, 5)], [0, 1, 1, -1, 0])
    assert thresholds(cells, cells.weight[None]) == pytest.approx([0.375])
    assert labels("threshold", cells) == [0, 1, 1, -1, 0]


def test_threshold_takes_the_middle_of_the_widest_run():
    # Deciding at .5 neither helps nor harms, so every τ from .25 to 1 is as good: the middle is
    # .625.
    cells = cells_of([(5, 0, 3), (6, 0, 2), (6, 0, 2), (8, 0, 0)], [0, 0, 1, 1])
    assert thresholds(cells, cells.weight[None]) == pytest.approx([0.625])


@settings(max_examples=150, deadline=None)
@given(votes=votes, data=st.data())
def test_thresholds_of_many_sets_are_those_of_a_plain_loop(votes, data):
    size = len(votes)
    cells = cells_of(votes, data.draw(st.lists(st.integers(-1, 1), min_size=size, max_size=size)))
    weights = np.array(
        [data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)) for _ in range(3)],
        dtype=np.float64,
    )
    expected = [plain_threshold(cells, weight) for weight in weights]
    assert thresholds(cells, weights) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(votes=votes, data=st.data())
def test_swapping_a_and_b_negates_labels(votes, data):
    gold = data.draw(st.lists(st.integers(-1, 1), min_size=len(votes), max_size=len(votes)))
    cells = cells_of(votes, gold)
    mirrored = cells_of([vote[::-1] for vote in votes], [-y for y in gold])
    for key in ("majority", "threshold"):
        assert labels(key, mirrored) == [-label for label in labels(key, cells)]


def test_constant_says_the_label_of_least_error():
    always_plus = cells_of([(1, 0, 0)] * 3, [1, 1, -1], weight=[5, 5, 2])
    even = cells_of([(1, 0, 0)] * 2, [1, -1])
    assert labels("constant", always_plus) == [1, 1, 1]
    assert labels("constant", even) == [0, 0]


def test_random_is_uniform():
    cells = cells_of([(1, 0, 0)] * 2, [1, 0])
    assert RULES["random"].forecast(cells, cells.weight[None], BTDOptions()) == pytest.approx(
        np.full((1, 2, 3), 1 / 3)
    )


def by_label(row, vote, confidence):
    votes = weighed(row, vote, confidence=confidence)
    return {name: getattr(votes, name) for name in ("stated", "lowest", "total", "product")}


@pytest.mark.parametrize(
    ("weigh", "expected"),
    [
        ("min", [-1, 0]),  # +1 .2, -1 .5 | +1 .6, 0 .6
        ("mean", [1, 0]),  # +1 .55, -1 .5
        ("product", [-1, 0]),  # +1 .18, -1 .5
        ("sum", [1, 0]),  # +1 1.1, -1 .5
    ],
)
def test_confidence_rules_by_hand(weigh, expected):
    row = np.array([0, 0, 0, 1, 1])
    vote = np.array([1, 1, -1, 1, 0])
    confidence = np.array([0.9, 0.2, 0.5, 0.6, 0.6])
    assert confidence_labels(by_label(row, vote, confidence), weigh).tolist() == expected


def test_a_label_of_zero_confidence_beats_a_label_without_votes():
    row, vote = np.array([0]), np.array([-1])
    for weigh in ("min", "mean", "product", "sum"):
        assert confidence_labels(by_label(row, vote, np.array([0.0])), weigh).tolist() == [-1]


def test_rules_without_a_forecast_say_what_they_need():
    for rule in RULES.values():
        assert rule.forecast is not None or rule.needs in REASONS


def test_one_hot_order_is_minus_tie_plus():
    assert one_hot(np.array([-1, 0, 1])).tolist() == np.eye(3).tolist()


def test_a_greedy_pair_is_the_median_rounded_away_from_zero():
    ab, ba = (np.array(votes) for votes in ([0, 1, 1, -1, 0, 0, -1], [1, -1, 1, 0, 0, -1, -1]))
    assert greedy_pair(ab, ba).tolist() == [1, 0, 1, -1, 0, -1, -1]


def votes_and_counts(
    rows: list[tuple[int, int, int, int]], *, comparisons: int
) -> tuple[VoteCounts, WeighedVotes]:
    """From (comparison, vote, shown, run)."""
    comparison, vote, shown, run = (np.array(column) for column in zip(*rows, strict=True))
    count = [np.bincount(comparison[vote == label], minlength=comparisons) for label in (1, 0, -1)]
    kept = sum(count) > 0
    codes = np.flatnonzero(kept)
    counts = VoteCounts(
        comparison=codes,
        item=codes,
        plus=count[0][kept],
        tie=count[1][kept],
        minus=count[2][kept],
        gold=np.zeros(len(codes), dtype=np.int64),
    )
    return counts, weighed(comparison, vote, shown=shown, run=run)


def test_a_greedy_pair_takes_the_first_run_in_each_order():
    rows = [(0, -1, 1, 5), (0, 0, 1, 2), (0, 1, -1, 0), (0, -1, -1, 1), (0, -1, 0, 0)]
    rows += [(3, 1, -1, 7), (3, -1, 1, 9), (3, 1, 1, 9)]
    counts, votes = votes_and_counts(rows, comparisons=4)
    found, reasons = given_labels(counts, votes)
    assert found["greedy_pair"].tolist() == [1, 0]
    assert "greedy_pair" not in reasons


def test_a_greedy_pair_needs_both_orders_everywhere():
    counts, votes = votes_and_counts(
        [(0, 1, 1, 0), (0, 1, -1, 0), (1, 1, 1, 0), (1, 0, 1, 1)], comparisons=2
    )
    found, reasons = given_labels(counts, votes)
    assert "greedy_pair" not in found
    assert (
        reasons["greedy_pair"]
        == "needs a vote in each order (column position); 1 comparisons lack one"
    )
    counts, votes = votes_and_counts([(0, 1, 0, 0), (1, 1, 0, 0)], comparisons=2)
    assert given_labels(counts, votes)[1]["greedy_pair"].endswith("none has both")


def test_usc_and_gsa_are_votes_of_a_judge_named_for_them():
    assert (derived_name("usc", "gpt"), DERIVED) == ("usc(gpt)", ("usc", "gsa"))
    counts, votes = votes_and_counts([(place, 1, 0, 0) for place in range(4)], comparisons=4)
    usc, _ = votes_and_counts(
        [
            (0, -1, 0, 0),
            (1, 1, 0, 0),
            (1, 1, 0, 1),
            (1, 0, 0, 2),
            (2, 0, 0, 0),
            (3, 1, 0, 0),
            (4, 1, 0, 0),
        ],
        comparisons=5,
    )
    found, reasons = given_labels(
        counts,
        votes,
        judge="gpt",
        judges={"gpt": counts, "usc(gpt)": usc, "gsa(gpt)": usc.rows(usc.comparison > 1)},
    )
    assert found["usc"].tolist() == [-1, 1, 0, 1]
    assert reasons["gsa"] == "needs a vote of gsa(gpt) on every comparison; 2 have none"
    reasons = given_labels(counts, votes, judge="other", judges={"usc(gpt)": usc})[1]
    assert reasons["usc"].startswith("needs votes of the judge usc(other)")
    result = evaluate(simulated(1, 100), rng=np.random.default_rng(0), n_splits=5, resamples=0)
    assert {"usc", "gsa", "greedy_pair"} <= set(result.not_applicable)


def test_the_store_tells_first_runs_of_both_orders():
    table = random_votes(600, judges=2, rng=np.random.default_rng(3))
    with Store.open(None) as store:
        store.load(as_reading(table, name="few"))
        votes, orders = (
            ask(store, Selection()) for ask in (queries.weighed_votes, queries.order_counts)
        )
        counts = queries.vote_counts(store, Selection())
    frame = table.to_pandas()
    for judge, own in votes.items():
        of_judge = frame[frame["judge"] == judge]
        assert (of_judge["position"] == "ab").sum() == orders[judge].ab.sum()
        found, reasons = given_labels(counts[judge], own)
        assert "greedy_pair" in found
        assert "greedy_pair" not in reasons
        firsts = (
            of_judge.sort_values("run")
            .groupby(["item_id", "model_a", "model_b", "position"])["vote"]
            .first()
        )
        both = firsts.unstack("position")
        expected = np.sign(both["ab"].astype(int) + both["ba"].astype(int))
        assert (
            np.bincount(found["greedy_pair"] + 1).tolist()
            == expected.value_counts().sort_index().tolist()
        )


def test_the_store_tells_first_votes():
    """Of the lowest run, shown ab before ba before in an order that is not known."""
    rng = np.random.default_rng(3)
    rows = [
        f"{item},a,b,{judge},{run},{order},{rng.integers(-1, 2)}"
        for item in range(50)
        for judge in "jk"
        for run in rng.permutation(np.arange(-1, 3))[: rng.integers(1, 4)]
        for order in rng.permutation(["ab", "ba", ""])[: rng.integers(1, 4)]
    ]
    text = "\n".join(["item_id,model_a,model_b,judge,run,position,vote", *rows])
    with Store.open(None) as store:
        store.load(read([("votes.csv", text.encode())])[0])
        asked = queries.first_votes(store, Selection())
        names = queries.comparison_names(store, Selection())["item_id"].to_pylist()
    places = {"ab": 0, "ba": 1, "": 2}
    firsts: dict[str, dict[str, int]] = {}
    cells = [row.split(",") for row in rows]
    for item, _, _, judge, _, _, vote in sorted(
        cells, key=lambda cell: (-int(cell[4]), -places[cell[5]])
    ):
        firsts.setdefault(judge, {})[item] = int(vote)
    for judge, own in asked.items():
        codes = own.comparison.tolist()
        assert dict(zip([names[c] for c in codes], own.vote.tolist(), strict=True)) == firsts[judge]


@pytest.mark.parametrize("confident", [True, False])
def test_votes_weighed_by_the_store_give_the_labels_of_votes_one_by_one(confident: bool) -> None:
    rng = np.random.default_rng(8)
    lines, rows = (
        ["item_id,model_a,model_b,judge,run,position,vote,confidence,length_a,length_b"],
        [],
    )
    for item in range(60):
        for run in rng.permutation(np.arange(-2, 4)):
            for shown, order in ((1, "ab"), (-1, "ba")):
                sure = rng.choice([0, 0.3, 0.5, 0.6, 0.9]) if confident else np.nan
                vote, length = rng.integers(-1, 2), rng.integers(1, 3)
                stated = sure if confident else ""
                lines.append(f"{item},a,b,j,{run},{order},{vote},{stated},{length},2")
                rows.append((item, vote, sure, np.sign(length - 2), shown, run))
    with Store.open(None) as store:
        store.load(read([("votes.csv", "\n".join(lines).encode())])[0])
        counts, names = (
            queries.vote_counts(store, Selection())["j"],
            queries.comparison_names(store, Selection()),
        )
        collapsed = queries.weighed_votes(store, Selection())["j"]
    place = {name: code for code, name in enumerate(names["item_id"].to_pylist())}
    item, vote, sure, side, shown, run = (np.array(column) for column in zip(*rows, strict=True))
    code = np.array([place[str(name)] for name in item])
    single = weighed(code, vote, confidence=sure, side=side, shown=shown, run=run)
    wanted, reasons = given_labels(counts, single)
    found, said = given_labels(counts, collapsed)
    assert len(collapsed) == len(counts)
    assert said == reasons
    assert found.keys() == wanted.keys()
    for rule, labels in wanted.items():
        assert (found[rule] == labels).all(), rule
    assert ("ci_sc" in found) == confident
    some = counts.rows(counts.item % 3 == 0)
    assert all(
        (given_labels(some, collapsed)[0][rule] == given_labels(some, single)[0][rule]).all()
        for rule in found
    )
