"""Listwise consensus: a hand-computed example, published sign tests, laws, a planted judge."""

import dataclasses
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidOption, NoUsableVotes
from core.finding.answer import difference
from core.finding.wording import percent, points
from core.questions.lists.method import COMPONENTS, Weights, consensus, improvement
from core.questions.lists.orders import order_sensitivity, order_sweep
from core.questions.lists.words import gained, orders_answer
from core.questions.lists.words import slots as slots_said
from core.questions.order.method import sign_test
from core.records import InvalidCounts, ListRankings


def rankings(rows, *, candidates=("a", "b", "c", "d"), categories=("",)):
    """Rows of dicts with item, run, candidate, and what else is given."""
    blank = {"category": 0, "slot": 0, "score": np.nan, "rank": 0, "chosen": 0, "best": -1}
    blank |= {"calibrated_uncertainty": -1, "major_error": -1, "unsupported": -1}
    filled = [blank | row for row in rows]
    columns = {
        name: np.array([row[name] for row in filled])
        for name in ("item", "run", "candidate", *blank)
    }
    return ListRankings(candidates=candidates, categories=categories, **columns)


def planted(rng, *, items, runs, q, n=4):
    """Choices: each order puts the best first with chance q, else one of the others; slots at
    random.
    """
    shape = (items, runs)
    best = rng.integers(n, size=items)
    wrong = (best[:, None] + rng.integers(1, n, size=shape)) % n
    pick = np.where(rng.random(shape) < q, best[:, None], wrong)
    slot = rng.permuted(np.tile(np.arange(n), (*shape, 1)), axis=2)
    item, run, candidate = (grid.ravel() for grid in np.indices((items, runs, n)))
    unknown = np.full(len(item), -1)
    return ListRankings(
        categories=("",),
        candidates=tuple("abcdefgh"[:n]),
        item=item,
        category=np.zeros_like(item),
        run=run,
        candidate=candidate,
        slot=slot.ravel(),
        score=np.full(len(item), np.nan),
        rank=np.zeros_like(item),
        chosen=(pick[:, :, None] == np.arange(n)).astype(np.int64).ravel(),
        calibrated_uncertainty=unknown,
        major_error=unknown,
        unsupported=unknown,
        best=(best[item] == candidate).astype(np.int64),
    )


def plurality_accuracy(rng, *, k, q, n=4, draws=400_000):
    """Credit of the most chosen candidates after k independent orders, counted by a plain
    simulation.
    """
    wrong = (1 - q) / (n - 1)
    votes = rng.multinomial(k, [q] + [wrong] * (n - 1), size=draws)
    most = votes.max(axis=1, keepdims=True)
    return float(((votes[:, 0] == most[:, 0]) / (votes == most).sum(axis=1)).mean())


HAND = rankings(
    [
        {
            "item": 0,
            "run": 0,
            "candidate": 0,
            "score": 90,
            "rank": 1,
            "calibrated_uncertainty": 0,
            "best": 0,
        },
        {
            "item": 0,
            "run": 0,
            "candidate": 1,
            "score": 80,
            "rank": 2,
            "calibrated_uncertainty": 1,
            "best": 1,
        },
        {
            "item": 0,
            "run": 0,
            "candidate": 2,
            "score": 10,
            "rank": 3,
            "calibrated_uncertainty": 0,
            "best": 0,
        },
        {
            "item": 0,
            "run": 1,
            "candidate": 0,
            "score": 60,
            "rank": 2,
            "calibrated_uncertainty": 0,
            "best": 0,
        },
        {
            "item": 0,
            "run": 1,
            "candidate": 1,
            "score": 95,
            "rank": 1,
            "calibrated_uncertainty": 1,
            "best": 1,
        },
        {
            "item": 0,
            "run": 1,
            "candidate": 2,
            "score": 20,
            "rank": 3,
            "calibrated_uncertainty": 1,
            "best": 0,
        },
    ]
)


def test_consensus_equals_a_hand_computed_example():
    found = consensus(HAND)
    # a: s̄ 75, B 75, v ½, u 0; b: s̄ 87.5, B 75, v ½, u 1; c: s̄ 15, B 0, v 0, u ½.
    np.testing.assert_allclose(found.score, [75, 87.5, 15])
    np.testing.assert_allclose(found.borda, [75, 75, 0])
    np.testing.assert_allclose(found.top, [0.5, 0.5, 0])
    np.testing.assert_allclose(found.uncertainty, [0, 1, 0.5])
    np.testing.assert_allclose(
        found.consensus,
        [
            0.5 * 75 + 0.25 * 75 + 0.2 * 50,
            0.5 * 87.5 + 0.25 * 75 + 0.2 * 50 + 0.05 * 100,
            0.5 * 15 + 0.05 * 50,
        ],
    )
    assert found.winner.tolist() == [False, True, False]
    assert found.candidate == ("a", "b", "c")
    assert found.runs.tolist() == [2, 2, 2]
    overall = improvement(HAND).overall
    assert (overall.direct.value, overall.consensus.value, overall.improved, overall.regressed) == (
        0,
        1,
        1,
        0,
    )


def test_weights_are_renormalised_and_tolerance_widens_the_winners():
    found = consensus(HAND, weights=Weights(score=2, borda=0, top=0, uncertainty=0))
    np.testing.assert_allclose(found.consensus, [75, 87.5, 15])
    assert found.weights.score == 1
    assert consensus(HAND, tolerance=20).winner.tolist() == [True, True, False]


def test_equal_highest_scores_share_the_first_place():
    table = rankings(
        [
            {"item": 0, "run": 0, "candidate": c, "score": s, "best": b}
            for c, s, b in ((0, 70, 1), (1, 70, 0), (2, 5, 0))
        ]
    )
    found = consensus(table)
    np.testing.assert_allclose(found.top, [0.5, 0.5, 0])
    assert found.missing == ("borda", "uncertainty")
    overall = improvement(table).overall
    assert overall.direct.value == overall.consensus.value == 0.5
    assert overall.direct_set == 2


def test_published_sign_tests(golden):
    """[PCF] Table 2: 30 improved and 14 regressed give p = 0.0226, 39 / 15 give 0.0015, 69 / 29
    6.6e−5.
    """
    assert sign_test(30, 14) == pytest.approx(0.0226, abs=5e-5)
    assert sign_test(39, 15) == pytest.approx(0.0015, abs=5e-5)
    assert sign_test(69, 29) == pytest.approx(6.6e-5, abs=5e-7)
    rows = (golden / "pcf_published.csv").read_text().splitlines()[1:3]
    for row in rows:
        *_, direct, pooled, improved, regressed = row.split(",")
        gain = (int(improved) - int(regressed)) / 300 * 100
        # The published gain is in credits; items worth a share move it by less than a credit each.
        assert abs(float(pooled) - float(direct) - gain) < 1.1


def test_choices_alone_give_what_choices_allow():
    table = planted(np.random.default_rng(5), items=40, runs=5, q=0.7)
    found = consensus(table)
    assert found.missing == ("score", "borda", "uncertainty")
    assert np.isnan(found.score).all()
    np.testing.assert_allclose(found.consensus, 100 * found.top)
    with pytest.raises(InvalidOption, match="No weight is left"):
        consensus(table, weights=Weights(score=1, borda=1, top=0, uncertainty=0))


def test_any_one_order_is_the_mean_over_an_items_own_orders():
    """By hand: item 0 has three orders, two of them right; item 1 has one, which is wrong."""
    rows = [
        {
            "item": item,
            "run": run,
            "candidate": c,
            "slot": c,
            "chosen": int(c == pick),
            "best": int(c == 0),
        }
        for item, run, pick in ((0, 0, 1), (0, 1, 0), (0, 2, 0), (1, 0, 1))
        for c in (0, 1)
    ]
    overall = improvement(rankings(rows)).overall
    assert (overall.direct.value, overall.consensus.value) == (0, 0.5)
    assert overall.single.value == pytest.approx((2 / 3 + 0) / 2)
    assert overall.gain.value == pytest.approx((1 / 3 + 0) / 2)
    assert overall.gain.low <= overall.gain.value <= overall.gain.high


def test_the_answer_and_the_tab_of_orders_say_the_same_gain_over_one_order():
    """The first order alone and any one order are different yardsticks; each is named."""
    table = planted(np.random.default_rng(9), items=300, runs=5, q=0.55)
    found, sweep = improvement(table), order_sweep(table, rng=np.random.default_rng(0))
    last = sweep.rows[-1].gain
    assert found.overall.single.value == pytest.approx(sweep.rows[0].accuracy.value)
    assert (
        found.overall.gain.value,
        found.overall.gain.low,
        found.overall.gain.high,
    ) == pytest.approx((last.value, last.low, last.high))
    share, gain = percent(sweep.rows[0].accuracy.value, 1), points(last.value)
    ends = f"({points(last.low)} to {points(last.high)})"
    assert (
        f"any one order (mean over orders) on {share}, a change by {gain} points {ends}"
        in gained(found)
    )
    said = orders_answer("judge", sweep).figures
    assert said.startswith(f"right {share} (")
    assert difference(last, unit=" points") in said


def test_planted_order_sensitive_judge_gains_what_simulation_predicts():
    """q = 0.6 right top choice in each order, wrong ones spread evenly over three: K from
    1 to 7.
    """
    table = planted(np.random.default_rng(11), items=3_000, runs=7, q=0.6)
    sweep = order_sweep(table, rng=np.random.default_rng(0))
    found = sweep.to_frame()
    assert found["subsets"].tolist() == [comb(7, k) for k in range(1, 8)]
    truth = np.array(
        [plurality_accuracy(np.random.default_rng(k), k=k, q=0.6) for k in range(1, 8)]
    )
    assert ((found["low"] <= truth) & (truth <= found["high"])).all()
    predicted = truth[-1] - truth[0]
    assert predicted > 0.25
    assert sweep.rows[-1].gain.low <= predicted <= sweep.rows[-1].gain.high
    # Right majorities: the observed error is that of a binomial, below Hoeffding's bound.
    binomial = [
        sum(comb(k, j) * 0.6**j * 0.4 ** (k - j) for j in range(k // 2 + 1)) for k in range(1, 8)
    ]
    np.testing.assert_allclose(found["majority_error"], binomial, atol=0.03)
    assert (found["majority_error"] <= found["bound"]).all()
    assert sweep.q == pytest.approx(0.6, abs=0.02)


@pytest.mark.thorough
def test_the_interval_of_the_accuracy_covers():
    truth = plurality_accuracy(np.random.default_rng(0), k=5, q=0.6)
    rng, held = np.random.default_rng(1), 0
    for _ in range(400):
        rate = improvement(planted(rng, items=80, runs=5, q=0.6)).overall.consensus
        held += rate.low <= truth <= rate.high
    assert 0.92 <= held / 400 <= 0.985


def test_the_interval_of_a_gain_covers_orders_that_rarely_matter():
    """One order in three errs on one item in twenty: of 15 items, t alone holds it in .54."""
    rng = np.random.default_rng(6)
    held = []
    for _ in range(200):
        hard = rng.random(15) < 0.05
        rows = [
            {"item": item, "run": run, "candidate": code, "slot": code}
            | {"chosen": int(code == int(hard[item] and run == 0)), "best": int(code == 0)}
            for item in range(15)
            for run in range(3)
            for code in range(2)
        ]
        found = order_sweep(rankings(rows), rng=rng)
        # One order is wrong a third of the time on such an item, all three together never.
        held.append(found.rows[-1].gain.low <= 0.05 / 3 <= found.rows[-1].gain.high)
        assert found.rows[0].gain.value == found.rows[0].gain.low == found.rows[0].gain.high == 0
    assert np.mean(held) >= 0.94


def test_sentences_at_the_edges():
    """Slots numbered from 1 leave slot 0 empty; one item has no interval; a mean can contradict its
    test.
    """
    rows = [
        {
            "item": 0,
            "run": run,
            "candidate": code,
            "slot": 1 + (code + run) % 2,
            "chosen": code,
            "best": code,
        }
        for run in range(2)
        for code in range(2)
    ]
    made = rankings(rows)
    assert slots_said(order_sensitivity(made)).startswith(
        "Slot 2 comes first in 50.0 % of its 2 runs"
    )
    said = orders_answer("judge", order_sweep(made, rng=np.random.default_rng(0)))
    assert said.headline == "More orders than one are not shown to help judge."
    assert said.figures.endswith("with 2, +0.0 points · 1 item")
    overall = improvement(made).overall
    assert "of 1 item (" in gained(improvement(made))
    odd = dataclasses.replace(
        overall,
        improved=12,
        regressed=1,
        p_value=0.003,
        first_share=0.5,
        consensus=dataclasses.replace(overall.direct, value=overall.direct.value - 0.01),
    )
    assert "not demonstrably more often than" in gained(
        dataclasses.replace(improvement(made), overall=odd)
    )


def test_no_bound_where_one_order_is_wrong_more_often_than_right():
    table = planted(np.random.default_rng(2), items=50, runs=3, q=0.3)
    assert all(row.bound is None for row in order_sweep(table, rng=np.random.default_rng(0)).rows)


def test_a_judge_that_reads_content_only_is_not_order_sensitive():
    table = planted(np.random.default_rng(3), items=30, runs=4, q=1.0)
    found = order_sensitivity(table)
    assert found.changed.value == 0
    assert found.pairs == 0
    np.testing.assert_allclose(found.to_frame()["pull"], 0, atol=1e-12)
    np.testing.assert_allclose(found.to_frame()["best_win"], 1)


def test_a_judge_that_takes_the_first_slot_is_found():
    table = planted(np.random.default_rng(4), items=200, runs=6, q=1.0)
    first = rankings(
        [
            {
                "item": int(table.item[i]),
                "run": int(table.run[i]),
                "candidate": int(table.candidate[i]),
                "slot": int(table.slot[i]),
                "chosen": int(table.slot[i] == 0),
                "best": int(table.best[i]),
            }
            for i in range(len(table))
        ]
    )
    slots = order_sensitivity(first).to_frame()
    assert slots.win.tolist() == [1, 0, 0, 0]
    np.testing.assert_allclose(slots.chance, 0.25)
    assert slots.expected[0] < 0.5
    assert slots.best_win.tolist() == [1, 0, 0, 0]


def placed(rng, *, items, runs, candidates, pull, noise=1.0):
    """Candidates of unequal quality in random slots; `pull` is what the first slot adds to a
    candidate.
    """
    quality = rng.gumbel(size=(items, 1, candidates))
    slot = rng.permuted(np.tile(np.arange(candidates), (items, runs, 1)), axis=2)
    seen = quality + pull * (slot == 0) + noise * rng.gumbel(size=slot.shape)
    item, run, candidate = (axis.ravel() for axis in np.indices(slot.shape))
    unknown = np.full(slot.size, -1)
    return ListRankings(
        categories=("",),
        candidates=tuple("abcdefgh"[:candidates]),
        item=item,
        category=np.zeros(slot.size, dtype=np.int64),
        run=run,
        candidate=candidate,
        slot=slot.ravel(),
        score=np.full(slot.size, np.nan),
        rank=np.zeros(slot.size, dtype=np.int64),
        chosen=(seen == seen.max(axis=2, keepdims=True)).astype(np.int64).ravel(),
        calibrated_uncertainty=unknown,
        major_error=unknown,
        unsupported=unknown,
        best=unknown,
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("items", "runs", "candidates", "pull", "share"), [(60, 2, 2, 1.0, 0.5), (60, 4, 4, 1.0, 0.9)]
)
def test_a_slot_that_decides_is_found_and_no_other(items, runs, candidates, pull, share):
    """A candidate beside its own run hid half of the pull with two orders: it was found in none of
    100.
    """
    rng = np.random.default_rng(25)
    found = {
        size: np.mean([
            "effect of its own" in slots_said(order_sensitivity(
                placed(rng, items=items, runs=runs, candidates=candidates, pull=size)
            ))
            for _ in range(100)
        ])
        for size in (0.0, pull)
    }  # fmt: skip
    assert found[0.0] <= 0.06
    assert found[pull] >= share


def test_the_pull_of_a_slot_is_paired_with_the_same_candidates_in_other_slots():
    """Three runs of one item, two of another: a is chosen where it stands first, b in its one other
    run.
    """
    rows = [
        {"item": item, "run": run, "candidate": "ab".index(name), "slot": slot, "chosen": int(name == chosen)}
        for item, run, order, chosen in (
            (0, 0, "ab", "a"), (0, 1, "ba", "b"), (0, 2, "ab", "b"), (1, 0, "ab", "a"), (1, 1, "ab", "a")
        )
        for slot, name in enumerate(order)
    ]  # fmt: skip
    slots = order_sensitivity(rankings(rows, candidates=("a", "b"))).to_frame()
    # Slot 1 holds a, b, a in item 0; elsewhere a wins 0 of 1 and b 1 of 2. Item 1 has no other
    # slot.
    assert slots.win[0] == pytest.approx(4 / 5)
    assert slots.expected[0] == pytest.approx((0 + 0.5 + 0) / 3)
    assert slots.pull[0] == pytest.approx((1 + 0.5 + 0) / 3)
    assert np.isnan(slots.pull_low[0])
    assert "interval unknown" in slots_said(
        order_sensitivity(rankings(rows, candidates=("a", "b")))
    )
    still = [row for row in rows if row["item"] == 1]
    assert "nothing is known of slots" in slots_said(
        order_sensitivity(rankings(still, candidates=("a", "b")))
    )


@given(st.integers(0, 2**32 - 1))
def test_laws(seed):
    """Row order does not matter; relabelling candidates permutes; slots' wins add up to
    the runs.
    """
    rng = np.random.default_rng(seed)
    table = planted(rng, items=8, runs=3, q=0.5)
    fields = {name: getattr(table, name) for name in ListRankings.__dataclass_fields__}
    arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
    names = {"categories": table.categories, "candidates": table.candidates}
    shuffle = rng.permutation(len(table))
    mixed = ListRankings(**names, **{name: value[shuffle] for name, value in arrays.items()})
    one, two = consensus(table), consensus(mixed)
    np.testing.assert_array_equal(one.consensus, two.consensus)
    assert one.candidate == two.candidate
    relabelled = ListRankings(**names, **(arrays | {"candidate": 3 - table.candidate}))
    np.testing.assert_array_equal(
        consensus(relabelled).consensus.reshape(8, 4)[:, ::-1], one.consensus.reshape(8, 4)
    )
    slots = order_sensitivity(table).to_frame()
    assert float((slots.win * slots.n).sum()) == pytest.approx(8 * 3)
    sweep = order_sweep(table, rng=rng)
    overall = improvement(table).overall
    assert sweep.rows[-1].accuracy.value == pytest.approx(overall.consensus.value)


def check_choices(shared_data):
    """Against a plain count with pandas: accuracy of single orders, and which slots are chosen."""
    pd = pytest.importorskip("pandas")
    raw = pd.read_csv(shared_data / "votes" / "listwise_choices.csv.gz", dtype={"permutation": str})
    raw = raw[raw.pick_slot.notna() & (raw.judge == raw.judge.iloc[0])].head(600)
    rows = []
    items = {name: code for code, name in enumerate(raw["item"].unique())}
    for record in raw.itertuples():
        shown = record.permutation.zfill(4)
        for slot, candidate in enumerate(shown):
            rows.append(
                {
                    "item": items[record.item],
                    "run": record.perm_id,
                    "candidate": int(candidate),
                    "slot": slot,
                    "chosen": int(slot == "ABCD".index(record.pick_slot)),
                    "best": int(slot == "ABCD".index(record.gold_slot)),
                }
            )
    table = rankings(rows)
    sensitivity = order_sensitivity(table)
    share = raw.pick_slot.value_counts(normalize=True)
    np.testing.assert_allclose(
        sensitivity.to_frame()["win"], [share.get(slot, 0) for slot in "ABCD"]
    )
    by_item = raw.groupby("item").pick_candidate.agg(["nunique", "size"])
    several = by_item[by_item["size"] >= 2]
    assert sensitivity.changed.value == pytest.approx((several["nunique"] > 1).mean())
    assert sensitivity.changed.n == len(several)


def test_unusable_rankings_are_refused():
    with pytest.raises(NoUsableVotes, match="No listwise"):
        consensus(ListRankings(**_empty()))
    ragged = rankings(
        [
            {"item": 0, "run": r, "candidate": c, "chosen": int(c == 0)}
            for r, c in ((0, 0), (0, 1), (1, 0))
        ]
    )
    with pytest.raises(InvalidCounts, match="different candidates"):
        consensus(ragged)
    unknown = rankings(
        [{"item": 0, "run": 0, "candidate": c, "chosen": int(c == 0)} for c in (0, 1)]
    )
    with pytest.raises(NoUsableVotes, match="is_best"):
        improvement(unknown)
    with pytest.raises(NoUsableVotes, match="two orders"):
        order_sensitivity(unknown)
    with pytest.raises(InvalidOption, match="weights are 0 or more"):
        Weights(score=-1)


def _empty():
    whole = ListRankings.__dataclass_fields__
    names = {"categories": (), "candidates": ()}
    return names | {name: np.zeros(0, dtype=np.int64) for name in whole if name not in names}


def test_frames_have_a_row_each():
    table = planted(np.random.default_rng(0), items=5, runs=3, q=0.8)
    assert len(consensus(table).to_frame()) == 20
    assert len(order_sweep(table, rng=np.random.default_rng(0)).to_frame()) == 3
    assert len(order_sensitivity(table).to_frame()) == 4
    assert len(improvement(table).to_frame()) == 1
    assert set(COMPONENTS) == set(Weights.__dataclass_fields__)
