"""How many votes are behind a mark, all of them in parts, and the errors that tell most, against
pandas.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from levels import first_of
from readings import reading

from core.schema import Selection
from core.store import Store
from core.store.vote_queries import Mark, count_behind, telling_errors, votes_behind

ALL = Selection()
MARKS = [
    Mark(),
    Mark(judge="j1", correct=False),
    Mark(judges=("j1", "p2")),
    Mark(judge="j2", flip="hard"),
    Mark(judge="j1", label=0),
    Mark(comparisons=(0, 3, 4), judges=("p1",)),
    Mark(vote=1, category="x"),
]


def rows(seed: int = 0, items: int = 30) -> pd.DataFrame:
    """Two judges in both orders and three people, all at random."""
    rng = np.random.default_rng(seed)
    found = []
    for item in range(items):
        gold = int(rng.integers(-1, 2))
        about = {
            "item_id": f"q{item}",
            "model_a": "m",
            "model_b": "n",
            "gold": gold,
            "category": "xy"[item % 2],
        }
        for judge in ("j1", "j2"):
            for run in (0, 1):
                for position in ("ab", "ba"):
                    sure = float(rng.integers(50, 100)) / 100
                    vote = int(rng.integers(-1, 2))
                    own = {"judge": judge, "run": run, "position": position, "confidence": sure}
                    found.append(about | own | {"vote": vote, "rater_type": "llm"})
        for person in ("p1", "p2", "p3"):
            vote = int(rng.integers(-1, 2))
            found.append(about | {"judge": person, "run": 0, "vote": vote, "rater_type": "human"})
    return pd.DataFrame(found)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with Store.open(None) as opened:
        opened.load(reading(rows(), name="votes.csv"))
        yield opened


@pytest.mark.parametrize("mark", first_of(*MARKS, n=3))
def test_the_count_is_that_of_the_votes_and_parts_make_the_whole(store: Store, mark: Mark) -> None:
    whole = votes_behind(store, ALL, mark=mark, limit=None)
    assert count_behind(store, ALL, mark=mark) == whole.num_rows
    parts = [
        votes_behind(store, ALL, mark=mark, limit=7, offset=start)
        for start in range(0, whole.num_rows, 7)
    ]
    assert pa.concat_tables(parts).equals(whole)


def test_many_votes_are_listed_in_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = votes_behind(store, ALL, mark=Mark(), limit=None)
    monkeypatch.setattr("core.store.marks.LISTED_AT_ONCE", 50)
    assert votes_behind(store, ALL, mark=Mark(), limit=None).equals(whole)


def test_nothing_behind_a_mark_counts_none(store: Store) -> None:
    assert count_behind(store, ALL, mark=Mark(judge="p1", flip="flip")) == 0


def test_the_surest_error_is_the_one_that_pandas_finds(store: Store) -> None:
    frame = rows()
    for judge in ("j1", "j2"):
        wrong = frame[(frame.judge == judge) & (frame.vote != frame.gold)]
        surest = wrong[wrong.confidence == wrong.confidence.max()]
        apart = (surest.vote - surest.gold).abs()
        expected = surest[apart == apart.max()].iloc[0]
        (found,) = telling_errors(store, ALL, judge)["surest"].to_pylist()
        assert [found[name] for name in ("item_id", "run", "position", "vote")] == [
            expected[name] for name in ("item_id", "run", "position", "vote")
        ]


def test_a_flip_is_a_pair_of_one_run_that_goes_from_one_response_to_the_other(store: Store) -> None:
    for judge in ("j1", "j2"):
        one, two = telling_errors(store, ALL, judge)["flipped"].to_pylist()
        assert {one["position"], two["position"]} == {"ab", "ba"}
        assert [one[name] for name in ("item_id", "judge", "run")] == [
            two[name] for name in ("item_id", "judge", "run")
        ]
        assert {one["vote"], two["vote"]} == {1, -1}


def test_against_people_shows_people_who_agree_and_a_judge_who_says_another(store: Store) -> None:
    found = telling_errors(store, ALL, "j1")["against people"].to_pandas()
    (theirs,) = set(found[found.rater_type == "human"].vote)
    assert found[found.rater_type == "human"].judge.nunique() == 3
    said = found[found.judge == "j1"].vote.value_counts()
    assert said.idxmax() != theirs or (said == said.max()).sum() > 1
    assert set(found.judge) == {"j1", "p1", "p2", "p3"}


def test_a_person_is_held_to_the_other_people(store: Store) -> None:
    found = telling_errors(store, ALL, "p1")
    assert set(found) == {"against people"}
    frame = found["against people"].to_pandas().set_index("judge")
    assert frame.loc["p2", "vote"] == frame.loc["p3", "vote"] != frame.loc["p1", "vote"]


def test_filters_hold_for_the_judge_but_people_are_all_of_the_data_set(store: Store) -> None:
    asked = Selection(judges=("j1",), where=(("category", "y"),))
    found = telling_errors(store, asked, "j1")
    assert set(found["surest"]["category"].to_pylist()) == {"y"}
    assert "p1" in found["against people"]["judge"].to_pylist()
