"""Cells that a store keeps are what their SELECTs say of its votes, whatever was done to them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from core.importers import ReadOptions, read
from core.labelling.desk import open_desk
from core.records import value_codes
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries
from core.store.cells import CELLS

HEAD = "item_id,model_a,model_b,category,judge,run,position,vote,confidence,gold,status\n"
VOTES = """1,a,b,x,j,0,ab,1,.9,1,
1,a,b,x,j,0,ba,1,.8,1,
1,a,b,x,j,1,ab,-1,.7,1,
1,a,b,y,j,-3,ba,1,.7,1,
1,a,b,,k,41,,1,,1,
2,b,c,y,j,0,ab,0,,0,
2,b,c,y,j,0,ba,,,0,refused
"""


def put(store: Store, rows: str, **options: object) -> None:
    options_of = ReadOptions(labels="1/0/-1")
    store.load(read([("votes.csv", (HEAD + rows).encode())], options_of)[0], **options)  # type: ignore[arg-type]


def kept_and_counted(store: Store, name: str, sql: str) -> tuple[list[object], list[object]]:
    kept = store.rows(f"select * from {name}")
    counted = store.rows(f"select * from ({sql.format(votes='votes')}) c")
    return sorted(kept, key=repr), sorted(counted, key=repr)


def check(store: Store, rows: int | None = None) -> None:
    for name, sql in CELLS.items():
        kept, counted = kept_and_counted(store, name, sql)
        assert kept == counted
        assert rows is None or bool(kept) == bool(rows)


def test_cells_follow_every_change_of_the_votes():
    with Store.open(None) as store:
        put(store, VOTES, dataset="d")
        check(store, rows=1)
        put(store, "3,a,c,x,j,0,ab,1,.9,1,\n", dataset="d")
        check(store, rows=1)
        put(
            store,
            VOTES.replace("2,b,c,y,j,0,ab,0", "2,b,c,y,j,0,ab,-1"),
            dataset="d",
            on_conflict="replace",
        )
        check(store, rows=1)
        put(store, VOTES, dataset="e")
        check(store, rows=1)
        store.delete_dataset("d")
        check(store, rows=1)
        store.delete_dataset("e")
        check(store, rows=0)


def test_the_tables_of_cells_have_the_columns_of_their_selects():
    described = "select column_name, column_type from (describe {})"
    with Store.open(None) as store:
        for name, sql in CELLS.items():
            kept, counted = (f"select * from {name}", sql.format(votes="votes"))
            assert store.rows(described.format(kept)) == store.rows(described.format(counted))


def test_cells_follow_labels_given_one_by_one():
    """Both sides, ties, what nobody can tell, taken back and given anew; with a category or not."""
    rows = "".join(f"{n},a,b,{'x' * (n % 2)},j,0,ab,1,,,\n" for n in range(24))
    with Store.open(None) as store:
        put(store, rows, dataset="d")
        desk = open_desk(store, "d", seed=1)
        for turn, key in enumerate("120bx" * 4):
            desk.answer("me", desk.cards("me")[0], key)
            if turn % 5 == 2:
                desk.undo("me")
                check(store, rows=1)
                desk.answer("me", desk.cards("me")[0], "2")
        labelled = "select distinct position, vote from votes where human"
        assert {*store.rows(labelled)} == {(side, vote) for side in (1, -1) for vote in (1, 0, -1)}
        check(store, rows=1)


def test_runs_write_each_vote_at_the_place_of_its_run():
    with Store.open(None) as store:
        put(store, VOTES)
        runs = store.query(
            """select r.*, j.name from runs r join judges j on j.id = r.judge
               join comparisons c on c.id = r.comparison join items i on i.id = c.item
               where i.name = '1' order by j.name, negative"""
        ).to_pylist()
    forward, backward, other = runs
    # Base 4 holds a vote plus 2, base 6 the sum of both orders plus 3.
    assert (forward["block"], forward["ab_votes"], forward["ba_votes"]) == (0, 3 + 1 * 4, 3)
    assert (forward["both_votes"], forward["n_both"], forward["flips"], forward["asked_both"]) == (
        5,
        1,
        0,
        0,
    )
    assert (backward["block"], backward["negative"], backward["ba_votes"]) == (0, True, 3 * 4**3)
    assert (other["block"], other["neither_votes"], other["n_neither"]) == (40, 3 * 4, 1)


@pytest.mark.parametrize("run", [-(2**63), 2**63 - 1])
def test_any_number_of_a_run_can_be_counted(run):
    with Store.open(None) as store:
        put(store, f"1,a,b,x,j,{run},ab,1,.9,1,\n")
        check(store, rows=1)


def test_twenty_runs_fit_a_row():
    rng = np.random.default_rng(0)
    votes = rng.integers(-1, 2, (2, 45))
    rows = [
        f"1,a,b,x,j,{run},{order},{votes[k, run]},,,\n"
        for k, order in enumerate(("ab", "ba"))
        for run in range(45)
    ]
    with Store.open(None) as store:
        put(store, "".join(rows))
        blocks = store.rows("select block, ab_votes, ba_votes, both_votes from runs order by block")
    assert len(blocks) == 3
    for column, base, wanted in (
        (1, 4, votes[0] + 2),
        (2, 4, votes[1] + 2),
        (3, 6, votes.sum(axis=0) + 3),
    ):
        digits = [(block[column] // base**k) % base for block in blocks for k in range(20)]
        assert digits == [*wanted.tolist(), *[0] * 15]


def same(one: object, two: object) -> bool:
    """Equal records, whatever arrays are in them."""
    if isinstance(one, dict):
        assert isinstance(two, dict)
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    if hasattr(one, "__slots__") and not isinstance(one, tuple):
        return all(same(getattr(one, name), getattr(two, name)) for name in one.__slots__)
    return one == two


@pytest.fixture(scope="module")
def in_one_language() -> Iterator[Store]:
    """Votes of judges and of a person, all in one language."""
    head = HEAD.replace("\n", ",rater_type,lang\n")
    rows = VOTES.replace(",k,41,,1,,1,\n", ",k,41,,1,,1,,human\n").splitlines()
    lines = [row if "human" in row else row + ",llm" for row in rows]
    with Store.open(None) as store:
        text = head + "".join(f"{line},en\n" for line in lines)
        store.load(read([("votes.csv", text.encode())], ReadOptions(labels="1/0/-1"))[0])
        yield store


@pytest.mark.parametrize(
    "ask",
    [
        queries.vote_counts,
        queries.order_counts,
        queries.positions,
        queries.outputs,
        queries.summary,
        lambda store, chosen: queries.pair_scores(store, chosen, pooled=True),
        lambda store, chosen: queries.ratings(store, chosen, anchors=("b",)),
        lambda store, chosen: queries.vote_counts_by(store, chosen, "category"),
    ],
)
@pytest.mark.parametrize("gold", ["given", "humans", "j"])
@pytest.mark.parametrize("judges", [None, pytest.param(("k",), marks=pytest.mark.thorough)])
def test_votes_that_no_cell_tells_are_counted_by_the_same_statements(
    ask, gold, judges, in_one_language
):
    """A condition that all votes meet, on a column that cells lack, changes no answer."""
    told = ask(in_one_language, Selection(gold=gold, judges=judges))
    untold = ask(in_one_language, Selection(gold=gold, judges=judges, where=(("lang", "en"),)))
    assert same(told, untold)


def test_codes_of_numbers_are_their_places_among_the_distinct_ones():
    rng = np.random.default_rng(2)
    fine = [0.7, 0.1 + 0.2, 0.3, np.nan, 0.0, 1.0]
    for values in (
        [0.5, np.nan, 0.25],
        fine,
        [np.nan],
        [],
        rng.random(50),
        rng.integers(9, size=50) / 8,
    ):
        parts = np.array_split(np.array(values, dtype=np.float64), 3)
        codes, distinct = value_codes(parts)
        expected, places = np.unique(np.concatenate(parts), return_inverse=True)
        assert np.array_equal(distinct, expected, equal_nan=True)
        assert np.concatenate(codes).tolist() == places.tolist()
