"""Every count of the store against plain Python and pandas on the same votes."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import REPOSITORY
from readings import reading

from core.errors import InvalidOption, NoUsableVotes, UnknownName
from core.importers import read
from core.records import NO_GOLD
from core.schema import STATUSES, Selection
from core.store import Store
from core.store import vote_queries as queries
from core.store.vote_queries import (
    Mark,
    filter_columns,
    outcomes,
    pair_scores,
    positions,
    ratings,
    summary,
    values,
    vote_counts,
    votes_behind,
)

ALL = Selection()
O1 = "o1-mini-2024-09-12 [arena_hard]"
CHATGPT = "ChatGPT [Vanilla_NoRules]"
DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"
CAREFUL = "sim-judge-careful"


def frame_of(shared_data: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(shared_data / "votes" / f"{name}.csv.gz", dtype={"item_id": str})


def store_of(frame: pd.DataFrame | list[dict]) -> Store:
    store = Store.open()
    report = store.load(reading(frame))
    assert report.loaded == len(frame)
    return store


@pytest.fixture(scope="module")
def demo():
    """Twelve items of the demo, failed votes left out: the frame, and a store that holds it."""
    frame = pd.read_csv(DEMO, dtype={"item_id": str})
    few = sorted(frame.item_id.unique())[:12]
    frame = frame[frame.item_id.isin(few) & (frame.status == "ok")].reset_index(drop=True)
    with store_of(frame) as store:
        yield frame, store


# The oracles: dictionaries from rows, written from methods.md and not from the SQL.


def counts_oracle(frame: pd.DataFrame) -> dict:
    tally = Counter()
    for row in frame.itertuples():
        tally[row.judge, row.item_id, row.model_a, row.model_b, row.vote, gold_of(row)] += 1
    found = defaultdict(lambda: [0, 0, 0])
    for (judge, item, a, b, vote, gold), n in tally.items():
        found[judge, item, a, b, gold][1 - int(vote)] += n
    return Counter((judge, *counts, gold) for (judge, *_, gold), counts in found.items())


def gold_of(row) -> int:
    return NO_GOLD if pd.isna(row.gold) else int(row.gold)


def outcomes_oracle(frame: pd.DataFrame, rule: str) -> dict:
    found = defaultdict(lambda: [0, 0])
    frame = frame[frame.gold.notna()]
    if rule == "single":
        rows = [(r.judge, r.item_id, r.confidence, r.vote == r.gold) for r in frame.itertuples()]
    else:
        rows = []
        for (judge, item, *_), shown in runs_of(frame).items():
            if {"ab", "ba"} <= shown.keys():
                pair = (shown["ab"], shown["ba"])
                right = np.sign(sum(r.vote for r in pair)) == pair[0].gold
                # NaN plus anything is NaN: a missing confidence makes the mean missing.
                rows.append((judge, item, sum(r.confidence for r in pair) / 2, right))
    for judge, item, confidence, right in rows:
        confidence = None if pd.isna(confidence) else round(confidence, 12)
        found[judge, item, confidence][0] += 1
        found[judge, item, confidence][1] += int(right)
    return Counter((judge, confidence, *counts) for (judge, _, confidence), counts in found.items())


def runs_of(frame: pd.DataFrame) -> dict:
    """(judge, item, models, run) → position → row, for votes with known position."""
    found = defaultdict(dict)
    for row in frame[frame.position.notna()].itertuples():
        found[row.judge, row.item_id, row.model_a, row.model_b, row.run][row.position] = row
    return found


def positions_oracle(frame: pd.DataFrame) -> dict:
    cast, everyone, pairs = defaultdict(list), defaultdict(list), defaultdict(list)
    for row in frame.itertuples():
        comparison = (row.item_id, row.model_a, row.model_b)
        everyone[comparison].append((row.judge, row.vote))
        if not pd.isna(row.position):
            cast[row.judge, *comparison].append((row.position, int(row.vote)))
    for (*key, _), shown in runs_of(frame).items():
        if {"ab", "ba"} <= shown.keys():
            pairs[tuple(key)].append((int(shown["ab"].vote), int(shown["ba"].vote)))
    rows = []
    for (judge, *comparison), votes in cast.items():
        slots = Counter(vote if position == "ab" else -vote for position, vote in votes)
        both = pairs[judge, *comparison]
        repeats = [
            pair
            for order in ("ab", "ba")
            for pair in combinations([vote for position, vote in votes if position == order], 2)
        ]
        others = [vote for other, vote in everyone[tuple(comparison)] if other != judge]
        rows.append(
            (
                judge,
                *(slots[1], slots[-1], slots[0]),
                len(both),
                sum(ab != ba for ab, ba in both),
                sum(abs(ab - ba) == 2 for ab, ba in both),
                sum(ab - ba for ab, ba in both),
                len(repeats),
                sum(one != two for one, two in repeats),
                round(abs(sum(others) / len(others)), 12) if others else None,
            )
        )
    return Counter(rows)


def pairs_oracle(frame: pd.DataFrame, *, pooled: bool) -> dict:
    votes = defaultdict(lambda: defaultdict(list))
    for row in frame.itertuples():
        if row.model_a == row.model_b:
            continue
        low, high = sorted((row.model_a, row.model_b))
        score = (1 + row.vote * (1 if row.model_a == low else -1)) / 2
        first = None
        if not pd.isna(row.position):
            first = row.model_a if row.position == "ab" else row.model_b
        votes[None if pooled else row.judge, low, high, row.item_id][first].append(score)
    return Counter(
        (
            judge,
            low,
            high,
            round(float(np.mean([np.mean(v) for v in orders.values()])), 12),
            round(float(np.mean([np.mean(np.array(v) == 0.5) for v in orders.values()])), 12),
            sum(map(len, orders.values())),
        )
        for (judge, low, high, _), orders in votes.items()
    )


def check_all(frame: pd.DataFrame, store: Store) -> None:
    counted = vote_counts(store, ALL)
    assert counts_oracle(frame) == Counter(
        (judge, *row)
        for judge, c in counted.items()
        for row in zip(
            c.plus.tolist(), c.tie.tolist(), c.minus.tolist(), c.gold.tolist(), strict=True
        )
    )
    for rule in ("single", "both_orders"):
        # Means of two confidences that differ in the last bit only are told apart in the store.
        found = defaultdict(lambda: [0, 0])
        for judge, o in outcomes(store, ALL, rule=rule).items():
            columns = (o.item.tolist(), o.confidence.tolist(), o.n.tolist(), o.correct.tolist())
            for item, confidence, n, correct in zip(*columns, strict=True):
                cell = found[judge, item, None if np.isnan(confidence) else round(confidence, 12)]
                cell[0] += n
                cell[1] += correct
        assert outcomes_oracle(frame, rule) == Counter(
            (judge, confidence, *counts) for (judge, _, confidence), counts in found.items()
        )
    shown = [
        "first",
        "second",
        "tie",
        "pairs",
        "flips",
        "hard_flips",
        "slot_sum",
        "same_order_pairs",
    ]
    shown += ["same_order_disagreements", "margin"]
    assert positions_oracle(frame) == Counter(
        (judge, *row[:-1], None if np.isnan(row[-1]) else round(row[-1], 12))
        for judge, p in positions(store, ALL).items()
        for row in zip(*(getattr(p, name).tolist() for name in shown), strict=True)
    )
    scores = pair_scores(store, ALL, pooled=True)
    for pooled in (False, True):
        assert pairs_oracle(frame, pooled=pooled) == Counter(
            (judge, s.models[one], s.models[two], round(score, 12), round(tie, 12), n)
            for judge, s in scores.items()
            if (judge is None) == pooled
            for one, two, score, tie, n in zip(
                *(c.tolist() for c in (s.model_1, s.model_2, s.score, s.tie, s.n_votes)),
                strict=True,
            )
        )


def test_counts_agree_with_plain_python_on_the_demo(demo):
    check_all(*demo)


def test_vote_counts_agree_with_pandas(demo):
    check_vote_counts(*demo)


def check_vote_counts(frame: pd.DataFrame, store: Store) -> None:
    found = vote_counts(store, ALL)
    comparison = ["judge", "item_id", "model_a", "model_b"]
    wide = frame.assign(n=1).pivot_table(
        index=comparison, columns="vote", values="n", aggfunc="sum"
    )
    wide = wide.reindex(columns=[1, 0, -1])
    gold = frame.groupby(comparison).gold.first().fillna(NO_GOLD).astype(int)
    for judge, expected in wide.fillna(0).astype(int).groupby(level="judge"):
        counts = found[judge]
        np.testing.assert_array_equal(
            np.stack([counts.plus, counts.tie, counts.minus], axis=1), expected.to_numpy()
        )
        np.testing.assert_array_equal(counts.gold, gold[[judge]].to_numpy())


MADE_UP = st.lists(
    st.fixed_dictionaries(
        {
            "item_id": st.sampled_from(["i1", "i2"]),
            # Model names run against their order of loading, and pairs come in both orientations.
            "models": st.sampled_from([("z", "a"), ("a", "z"), ("m", "z"), ("m", "m")]),
            "judge": st.sampled_from(["j", "k"]),
            "run": st.integers(0, 2),
            "position": st.sampled_from(["ab", "ba", None]),
            "vote": st.sampled_from([-1, 0, 1]),
            "confidence": st.sampled_from([None, 0.0, 0.3, 0.7, 1.0]),
            "failed": st.sampled_from([False, False, False, True]),
        }
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda row: tuple(
        row[key] for key in ("item_id", "models", "judge", "run", "position")
    ),
)


def made_up(rows: list[dict]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    frame["model_a"], frame["model_b"] = zip(*frame.pop("models"), strict=True)
    frame["gold"] = [{"z": 1.0, "a": 0.0, "m": np.nan}[model] for model in frame.model_a]
    failed = frame.pop("failed")
    frame["status"] = np.where(failed, "unparsed", "ok")
    frame["vote"] = frame.vote.astype(float).mask(failed)
    frame["confidence"] = frame.confidence.astype(float)
    return frame


@pytest.mark.thorough
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MADE_UP)
def test_counts_agree_with_plain_python_on_any_votes(rows):
    frame = made_up(rows)
    usable = frame[frame.status == "ok"]
    with store_of(frame) as store:
        if usable.empty:
            with pytest.raises(NoUsableVotes):
                vote_counts(store, ALL)
            return
        check_all(usable, store)


@pytest.mark.thorough
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MADE_UP, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    records = []
    for order in (rows, shuffled):
        frame = made_up(order)
        with store_of(frame) as store:
            if (frame.status != "ok").all():
                return
            found = [
                vote_counts(store, ALL),
                outcomes(store, ALL),
                positions(store, ALL),
                ratings(store, ALL),
            ]
            found.append(pair_scores(store, ALL, pooled=True))
        records.append(
            [
                {judge: [getattr(r, name) for name in r.__slots__] for judge, r in result.items()}
                for result in found
            ]
        )
    np.testing.assert_equal(records[0], records[1])


def test_codes_are_shared_by_judges_and_records(demo):
    whole, _ = demo
    pairs = whole.drop_duplicates("item_id").set_index("item_id")
    first = whole.model_a.eq(whole.item_id.map(pairs.model_a)) & whole.model_b.eq(
        whole.item_id.map(pairs.model_b)
    )
    check_codes(whole[first].reset_index(drop=True))


def check_codes(frame: pd.DataFrame) -> None:
    """Of votes on one comparison an item."""
    with store_of(frame) as store:
        counts = vote_counts(store, ALL)
        items = sorted(frame.item_id.unique())
        for judge, group in frame.groupby("judge"):
            expected = [items.index(item) for item in sorted(group.item_id.unique())]
            assert counts[judge].item.tolist() == expected
            assert counts[judge].comparison.tolist() == expected
        for judge, found in positions(store, ALL).items():
            group = frame[(frame.judge == judge) & frame.position.notna()]
            assert found.item.tolist() == [
                items.index(item) for item in sorted(group.item_id.unique())
            ]
            label = dict(zip(frame.item_id, frame.category, strict=True))
            assert [found.categories[c] for c in found.category] == [
                label[items[i]] for i in found.item
            ]


def check_figures_of_judgebench(store: Store) -> None:
    single = outcomes(store, ALL)[O1]
    assert single.n.sum() == 700
    assert single.correct.sum() / 700 == pytest.approx(0.727143, abs=5e-7)
    paired = outcomes(store, ALL, rule="both_orders")[O1]
    assert paired.n.sum() == 350
    assert paired.correct.sum() / 350 == pytest.approx(0.657143, abs=5e-7)
    shown = positions(store, ALL)[O1]
    assert (shown.first.sum(), shown.second.sum(), shown.tie.sum()) == (367, 289, 44)
    assert shown.pairs.sum() == 350
    assert shown.flips.sum() / 350 == pytest.approx(0.314286, abs=5e-7)
    assert shown.hard_flips.sum() / 350 == pytest.approx(0.217143, abs=5e-7)
    with pytest.raises(InvalidOption, match="'single' and 'both_orders'"):
        outcomes(store, ALL, rule="all")


# Ratings for the ICC.


@pytest.mark.parametrize("anchors", [(), ("sim-anchor-one",)])
def test_ratings_agree_with_pandas(demo, anchors):
    frame, _ = demo
    by = ["judge", "item_id", "model_a", "model_b"]
    # Where a judge failed once, its complete runs are fewer: the next tests are about those.
    whole = frame[frame.groupby(by).vote.transform("size") == 12].reset_index(drop=True)
    one_order = whole[(whole.judge == CAREFUL) & (whole.position == "ab")].assign(judge="one order")
    # An order that is missing somewhere does not count; here it was asked on one comparison.
    other = whole[
        (whole.judge == CAREFUL) & (whole.position == "ba") & (whole.model_b == "sim-anchor-one")
    ]
    once = other.head(1).assign(judge="one order")
    votes = pd.concat([whole, one_order, once], ignore_index=True)
    with store_of(votes) as store:
        found = check_ratings(votes, store, anchors)
    assert found[CAREFUL].orders == "both"
    assert found["one order"].orders == "ab"
    assert found[CAREFUL].ratings.shape[1] == 6


def check_ratings(frame: pd.DataFrame, store: Store, anchors: tuple[str, ...]) -> dict:
    found = ratings(store, Selection(), anchors=anchors)
    if anchors:
        (anchor,) = anchors
        frame = frame.assign(vote=frame.vote * np.where(frame.model_b == anchor, 1, -1))
        frame = frame[(frame.model_a == anchor) != (frame.model_b == anchor)]
    for judge, group in frame.groupby("judge"):
        wide = group.pivot_table(
            index=["dataset", "item_id", "model_a", "model_b"],
            columns=["run", "position"],
            values="vote",
        )
        table = found[judge]
        assert table.oriented == bool(anchors)
        if table.orders == "both":
            expected = wide.dropna().T.groupby(level="run").mean().T
            assert not wide.isna().any().any()
        else:
            expected = wide.xs(table.orders, axis=1, level="position").dropna()
            assert wide.isna().any().any()
        np.testing.assert_array_equal(table.ratings, expected.to_numpy())
    return found


def ratings_rows(cells: dict[str, str]) -> list[dict]:
    """Rows from item → a word a run: + - or = in `ab`, after a slash in `ba`; ! failed, . not
    asked.
    """
    rows = []
    for item, text in cells.items():
        for run, word in enumerate(text.split()):
            for position, sign in zip(("ab", "ba"), word.split("/"), strict=False):
                if sign != ".":
                    vote = {"+": 1, "=": 0, "-": -1, "!": None}[sign]
                    rows.append(
                        {
                            "item_id": item,
                            "judge": "j",
                            "run": run,
                            "position": position,
                            "vote": vote,
                            "status": "ok" if vote is not None else "error",
                            "model_a": "x",
                            "model_b": "y",
                        }
                    )
    return rows


@pytest.mark.parametrize(
    ("cells", "orders", "expected"),
    [
        # Both orders in every run: means; a failed vote takes its run away, so `c` has too few
        # runs.
        ({"a": "+/- =/+", "b": "-/- -/=", "c": "+/! +/+"}, "both", [[0, 0.5], [-1, -0.5]]),
        # One run was not asked in `ba`: the order with most votes counts alone.
        ({"a": "+/- =/+", "b": "-/. -/="}, "ab", [[1, 0], [-1, -1]]),
        ({"a": "./- =/+", "b": "./+ ./="}, "ba", [[-1, 1], [1, 0]]),
        # k is the most common number of runs, the larger when equal; one run is no repeat.
        ({"a": "+ +", "b": "+ -", "c": "= = =", "d": "+"}, "ab", [[1, 1], [1, -1]]),
        ({"a": "+ +", "c": "= = =", "d": "+"}, "ab", [[0, 0, 0]]),
    ],
)
def test_ratings_take_the_common_number_of_complete_runs(cells, orders, expected):
    with store_of(ratings_rows(cells)) as store:
        table = ratings(store, ALL)["j"]
        assert table.orders == orders
        assert table.ratings.tolist() == expected


def test_ratings_need_repeats_and_know_their_anchors():
    with store_of(ratings_rows({"a": "+/- ", "b": "-/-"})) as store:
        assert ratings(store, ALL) == {}
        with pytest.raises(UnknownName, match="No model named 'z'"):
            ratings(store, ALL, anchors=("z",))
    rows = ratings_rows({"a": "+ ="})
    rows += [row | {"model_a": "y", "model_b": "x", "item_id": "b"} for row in rows]
    rows += [row | {"model_a": "p", "model_b": "q", "item_id": "c"} for row in rows[:2]]
    with store_of(rows) as store:
        assert ratings(store, ALL, anchors=("y",))["j"].ratings.tolist() == [[1, 0], [-1, 0]]
        # Between two anchors the one named first is the anchor.
        assert ratings(store, ALL, anchors=("x", "y"))["j"].ratings.tolist() == [[-1, 0], [1, 0]]


# Gold, filters, names.


def test_gold_from_the_humans_or_from_a_judge(demo):
    check_gold(*demo, judge="sim-judge-boaster", other=CAREFUL)


def check_gold(frame: pd.DataFrame, store: Store, *, judge: str, other: str) -> None:

    def modal(votes: pd.Series) -> int:
        top = votes.mode()
        return int(top.iloc[0]) if len(top) == 1 else 0

    key = ["item_id", "model_a", "model_b"]
    for gold, voters in (
        ("humans", frame[frame.rater_type == "human"]),
        (other, frame[frame.judge == other]),
    ):
        labels = voters.groupby(key).vote.apply(modal).rename("gold").reset_index()
        expected = frame.drop(columns="gold").merge(labels, on=key, how="left")
        selection = Selection(judges=(judge,), rater_types=("llm",), gold=gold)
        found = vote_counts(store, selection)
        assert list(found) == [judge]
        c = found[judge]
        assert counts_oracle(expected[expected.judge == judge]) == Counter(
            (judge, *row)
            for row in zip(*(x.tolist() for x in (c.plus, c.tie, c.minus, c.gold)), strict=True)
        )
    with pytest.raises(UnknownName, match="No gold named 'human'; did you mean 'humans'"):
        vote_counts(store, Selection(gold="human"))


def test_filters(demo):
    frame, store = demo
    check_filters(frame, store, judge=CAREFUL, category="Math")


def check_filters(frame: pd.DataFrame, store: Store, *, judge: str, category: str) -> None:
    dataset = frame.dataset[0]
    for where, expected in (
        ((("category", category),), frame.category == category),
        ((("item_id", frame.item_id[0]),), frame.item_id == frame.item_id[0]),
        ((("vote", "+1"), ("position", "ab")), (frame.vote == 1) & (frame.position == "ab")),
        ((("confidence", ".50"),), frame.confidence == 0.5),
        ((("confidence", ""), ("gold", "-1")), frame.confidence.isna() & (frame.gold == -1)),
        ((("judge", judge), ("rater_type", "llm"), ("dataset", dataset)), frame.judge == judge),
        (
            (("model_a", frame.model_a[0]), ("model_b", frame.model_b[0])),
            (frame.model_a == frame.model_a[0]) & (frame.model_b == frame.model_b[0]),
        ),
        ((("status", "ok"), ("run", "0"), ("rationale", "")), frame.run == 0),
    ):
        if expected.sum():
            found = vote_counts(store, Selection(where=where))
            assert sum(c.n_votes for c in found.values()) == expected.sum()
            assert (
                sum(p.score.size for p in pair_scores(store, Selection(where=where)).values()) > 0
            )
        else:
            with pytest.raises(NoUsableVotes):
                vote_counts(store, Selection(where=where))
    assert len(vote_counts(store, Selection(judges=(judge,)))) == 1


def test_extra_columns_filter_too():
    rows = [
        {
            "item_id": f"i{n}",
            "judge": "j",
            "vote": 1,
            'it\'s "q"; --': "a" if n % 2 else "b",
            "constant": "c",
        }
        for n in range(6)
    ]
    rows[0].pop('it\'s "q"; --')
    with store_of(rows) as store:
        where = (('it\'s "q"; --', "b"),)
        assert vote_counts(store, Selection(where=where))["j"].n_votes == 2
        assert values(store, ALL, 'it\'s "q"; --') == ("a", "b")
        assert values(store, Selection(where=where), "item_id") == ("i2", "i4")
        assert filter_columns(store) == ('it\'s "q"; --',)
        with pytest.raises(UnknownName, match="No column named 'constnt'; did you mean 'constant'"):
            vote_counts(store, Selection(where=(("constnt", "c"),)))
        with pytest.raises(NoUsableVotes, match="constant = d"):
            vote_counts(store, Selection(where=(("constant", "d"),)))


@pytest.mark.parametrize(
    "ask",
    [
        summary,
        vote_counts,
        outcomes,
        positions,
        pair_scores,
        ratings,
        lambda s, x: votes_behind(s, x, mark=Mark()),
    ],
)
def test_unknown_names_and_empty_selections(ask):
    with store_of([{"dataset": "d", "item_id": "i", "judge": "gpt-4", "vote": 1}]) as store:
        with pytest.raises(UnknownName, match="No judge named 'gpt'; did you mean 'gpt-4'"):
            ask(store, Selection(judges=("gpt",)))
        with pytest.raises(UnknownName, match="No data set named 'zzz'; there is: 'd'"):
            ask(store, Selection(datasets=("zzz",)))
        with pytest.raises(UnknownName, match="No rater type named 'people'"):
            ask(store, Selection(rater_types=("people",)))
        for selection in (
            Selection(judges=()),
            Selection(datasets=()),
            Selection(rater_types=("human",)),
            Selection(where=(("vote", "0"),)),
        ):
            with pytest.raises(NoUsableVotes):
                ask(store, selection)


def test_values_are_in_order_of_size():
    rows = [
        {"item_id": "i", "judge": "j", "vote": 1, "run": n, "temperature": t}
        for n, t in ((2, 0.7), (10, 0.0))
    ]
    with store_of(rows) as store:
        assert values(store, ALL, "run") == ("2", "10")
        assert values(store, ALL, "temperature") == ("0.0", "0.7")
        assert values(store, ALL, "category") == ()
        assert filter_columns(store) == ("run", "temperature")
        with pytest.raises(UnknownName):
            values(store, ALL, "nonsense")


def test_summary():
    rows = [
        {
            "item_id": "i",
            "judge": "j",
            "vote": 1,
            "confidence": 0.5,
            "position": "ab",
            "gold": 1,
            "category": "c",
        },
        {"item_id": "i", "judge": "j", "vote": 0, "run": 1, "category": "c"},
        {"item_id": "k", "judge": "j", "vote": -1},
        {"item_id": "f", "judge": "j", "vote": None, "status": "unparsed"},
        {
            "item_id": "i",
            "judge": "p",
            "vote": None,
            "status": "refused",
            "rater_type": "human",
            "rationale": "no",
        },
    ]
    with store_of([row | {"dataset": "d"} for row in rows]) as store:
        found = summary(store, ALL)
        assert (found.votes, found.items, found.comparisons, found.unparsed) == (3, 2, 2, 2)
        assert found.statuses == {"ok": 3, "unparsed": 1, "refused": 1}
        assert found.categories == {"": 1, "c": 2}
        assert (found.models, found.datasets) == (("A", "B"), ("d",))
        assert not found.simulated
        first, second = found.judges
        assert (first.name, first.rater_type, first.plus, first.tie, first.minus, first.n) == (
            "j",
            "llm",
            1,
            1,
            1,
            3,
        )
        assert (
            first.failed,
            first.labelled,
            first.with_confidence,
            first.with_position,
            first.runs,
        ) == (1, 2, 1, 1, 2)
        assert (second.name, second.rater_type, second.n, second.failed) == ("p", "human", 0, 1)
        assert found.to_frame()["n"].tolist() == [3, 0]
        # Only failed votes: there is something to say, though nothing to compute.
        assert summary(store, Selection(judges=("p",))).votes == 0


# The votes behind a mark.


def test_votes_behind_a_mark_are_those_it_counts(demo):
    """On one run of one pair an item, so that a judge has two votes on a comparison."""
    whole, _ = demo
    pairs = whole.drop_duplicates("item_id").set_index("item_id")
    first = whole.model_a.eq(whole.item_id.map(pairs.model_a)) & whole.model_b.eq(
        whole.item_id.map(pairs.model_b)
    )
    frame = whole[first & (whole.run == 0) & whole.judge.str.startswith("sim-judge")].reset_index(
        drop=True
    )
    paired = frame.groupby(["judge", "item_id"]).vote.transform("size") == 2
    frame = frame[paired].reset_index(drop=True)
    with store_of(frame) as store:
        check_marks(
            frame, store, scored="sim-judge-boaster", paired="sim-judge-first-slot", category="Math"
        )


def check_marks(
    frame: pd.DataFrame, store: Store, *, scored: str, paired: str, category: str
) -> None:
    """Of votes on one comparison an item, in both orders.

    scored : judge with a confidence.  paired : judge whose pairs are looked at.
    """

    def behind(**asked) -> int:
        try:
            return votes_behind(store, ALL, mark=Mark(**asked), limit=10**6).num_rows
        except NoUsableVotes:
            return 0

    judge, mine = scored, frame[frame.judge == scored]
    edges = np.linspace(0, 1, 11)
    inside = [behind(judge=judge, confidence=(low, high)) for low, high in pairwise(edges)]
    bins = np.clip(np.ceil(mine.confidence * 10 - 1e-9), 1, 10)
    assert inside == [int((bins == b).sum()) for b in range(1, 11)]
    right = mine.vote == mine.gold
    assert behind(judge=judge, correct=True) == right.sum()
    assert behind(judge=judge, correct=False, vote=1) == (~right & (mine.vote == 1)).sum()
    assert (
        behind(judge=judge, gold=-1, category=category)
        == ((mine.gold == -1) & (mine.category == category)).sum()
    )

    mine = frame[frame.judge == paired]
    shown = mine.vote * mine.position.map({"ab": 1, "ba": -1})
    slots = [behind(judge=paired, slot=slot) for slot in ("first", "second", "tie")]
    assert slots == [int((shown == sign).sum()) for sign in (1, -1, 0)]
    apart = mine.groupby("item_id").vote.agg(lambda votes: abs(votes.iloc[0] - votes.iloc[1]))
    flips = [behind(judge=paired, flip=flip) for flip in ("same", "flip", "hard")]
    assert flips == [2 * int(wanted.sum()) for wanted in (apart == 0, apart > 0, apart == 2)]
    both = np.sign(mine.groupby("item_id").vote.sum()) == mine.groupby("item_id").gold.first()
    assert behind(judge=paired, correct=True, rule="both_orders") == 2 * both.sum()
    assert (
        behind(judge=paired, counts=(2, 0, 0))
        == 2 * (mine.groupby("item_id").vote.sum() == 2).sum()
    )
    sums = mine.groupby("item_id").vote.agg(["sum", "count"])
    # Two votes: one against the other, or two ties, have no unique mode or the mode tie.
    per_item = mine.groupby("item_id").vote.apply(lambda votes: sorted(votes.tolist()))
    label_plus = sum(votes == [1, 1] for votes in per_item)
    assert behind(judge=paired, label=1) == 2 * label_plus
    assert sum(behind(judge=paired, label=label) for label in (-1, 0, 1)) == int(
        sums["count"].sum()
    )
    pair = (mine.model_b.iloc[0], mine.model_a.iloc[0])
    assert (
        behind(judge=paired, models=pair)
        == mine[["model_a", "model_b"]].isin(pair).all(axis=1).sum()
    )
    some = tuple(mine.item_id.unique()[:3])
    assert behind(items=some) == frame.item_id.isin(some).sum()
    counts = vote_counts(store, ALL)[paired]
    codes = tuple(counts.comparison[counts.tie == 2].tolist())
    tied = votes_behind(store, ALL, mark=Mark(judge=paired, comparisons=codes), limit=10**6)
    assert set(tied["item_id"].to_pylist()) == {
        item for item, votes in per_item.items() if votes == [0, 0]
    }
    n = frame.item_id.nunique()
    with pytest.raises(InvalidOption, match=f"codes go from 0 to {n - 1}"):
        behind(comparisons=(n,))
    assert votes_behind(store, ALL, mark=Mark(), limit=7).num_rows == 7
    with pytest.raises(UnknownName, match="No judge named"):
        votes_behind(store, ALL, mark=Mark(judge="nobody"))


def test_votes_behind_show_the_gold_of_the_selection_and_the_texts():
    rows = [
        {
            "item_id": "i",
            "judge": "j",
            "vote": 1,
            "confidence": 0.7,
            "gold": -1,
            "rationale": "why",
            "note": "n",
        },
        {"item_id": "i", "judge": "p", "vote": 1, "rater_type": "human", "gold": -1},
        {"item_id": "k", "judge": "j", "vote": 1, "confidence": 0.0},
    ]
    with store_of(rows) as store:
        mark = Mark(judge="j", correct=True, confidence=(0.6, 0.7))
        found = votes_behind(store, Selection(gold="humans"), mark=mark).to_pylist()
        assert [(r["item_id"], r["gold"], r["rationale"], r["note"]) for r in found] == [
            ("i", 1, "why", "n")
        ]
        with pytest.raises(NoUsableVotes):
            votes_behind(store, ALL, mark=mark)
        # 0 is in the first bin, and the edge below belongs to the bin before.
        assert votes_behind(store, ALL, mark=Mark(confidence=(0.0, 0.1)))[
            "item_id"
        ].to_pylist() == ["k"]
        with pytest.raises(NoUsableVotes):
            votes_behind(store, ALL, mark=Mark(confidence=(0.7, 0.8)))


def test_questions_asked_together_see_one_state_of_the_store():
    with Store.open() as store:
        store.load(reading([{"item_id": "1", "judge": "a", "vote": 1}], name="x.csv"))
        with store.snapshot() as moment:
            before = summary(moment, ALL)
            store.load(reading([{"item_id": "2", "judge": "b", "vote": 1}], name="y.csv"))
            assert (
                list(vote_counts(moment, ALL)) == [judge.name for judge in before.judges] == ["a"]
            )
        assert list(vote_counts(store, ALL)) == ["a", "b"]


# Large real files.


@pytest.mark.thorough
def test_real_files(shared_data, subtests):
    """The same counts on real votes, and reference figures of an independent implementation."""

    @contextmanager
    def opened(name: str) -> Iterator[tuple[pd.DataFrame, Store]]:
        frame = frame_of(shared_data, name)
        with subtests.test(name), store_of(frame) as store:
            yield frame, store

    with opened("judgebench") as (frame, store):
        check_all(frame, store)
        check_figures_of_judgebench(store)
        check_filters(frame, store, judge=O1, category="mmlu-pro-math")
        scored = frame.judge[frame.judge.str.startswith("Skywork")].iloc[0]
        check_marks(frame, store, scored=scored, paired=O1, category="mmlu-pro-math")
    with opened("judgeconf") as (frame, store):
        check_all(frame, store)
        shown = positions(store, ALL)["gpt-4o-mini"]
        assert (shown.pairs.sum(), shown.flips.sum()) == (78, 0)
    with opened("faireval") as (frame, store):
        check_all(frame, store)
        check_codes(frame)
        shown = positions(store, ALL)[CHATGPT]
        assert shown.flips.sum() / shown.pairs.sum() == pytest.approx(0.818182, abs=5e-7)
    with opened("pba_repeat") as (frame, store):
        check_all(frame, store)
        for anchors, rows in (((), 168), (("human",), 72)):
            table = check_ratings(frame, store, anchors)["gpt-4-0613"]
            assert (table.orders, table.ratings.shape) == ("both", (rows, 3))
    with opened("pandalm") as (frame, store):
        check_gold(frame, store, judge="gpt-3.5-turbo", other="pandalm-7b")
    for name in ("rewardbench2_pairs", "ko_arena_hard"):
        with opened(name) as (frame, store):
            check_vote_counts(frame, store)


def test_every_status_but_ok_is_an_output_without_a_verdict():
    rows = "".join(
        f"{i},x,y,j,{1 if name == 'ok' else ''},{name}\n" for i, name in enumerate(STATUSES)
    )
    text = "item_id,model_a,model_b,judge,vote,status\n" + rows
    with Store.open(None) as store:
        store.load(read([("votes.csv", text.encode())])[0])
        found = summary(store, Selection())
        assert (found.votes, found.unparsed) == (1, len(STATUSES) - 1)
        assert found.statuses == dict.fromkeys(STATUSES, 1)
        assert queries.outputs(store, Selection())["j"].missing.sum() == len(STATUSES) - 1
