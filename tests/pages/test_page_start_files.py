"""Files as people have them, dropped on Start: what is asked, and what is stored after one click."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from apps import all_text, calm, new_app, opened
from levels import first_of
from places import REPOSITORY
from start_files import ASKED, FILES, NEW, OLD, ROWS, pairs, table
from streamlit.testing.v1 import AppTest

from core.schema import Selection
from core.store import Store

CASES = REPOSITORY.parent / "shared" / "cases" / "start"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    st.cache_resource.clear()
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        store.set_flag("demo deleted", "yes")
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    yield opened(new_app(), "start")
    st.cache_resource.clear()


def dropped(app: AppTest, name: str, data: bytes) -> int:
    """Drop a file and answer with the first choice whatever is asked; how often it was."""
    app.file_uploader(key="files").set_value([(name, data, "text/csv")])
    calm(app.run())
    decisions = 0
    while asked := [box for box in app.selectbox if box.label == "Answer" and box.value is None]:
        calm(asked[0].select_index(0).run())
        decisions += 1
    return decisions


def sheet(app: AppTest, data_columns: list[str]) -> dict[str, str]:
    """Column of the file → what the sheet says it holds; every column is there once."""
    (heads,) = [
        list(frame.value.columns) for frame in app.dataframe if len(frame.value.columns) >= 6
    ]
    assert sorted(head.partition(": ")[2] for head in heads) == sorted(data_columns)
    return {head.partition(": ")[2]: head.partition(": ")[0] for head in heads}


def stored(path: Path, kind: str) -> list[dict[str, Any]]:
    with Store.open(path) as store:
        return store.export(Selection(), kind=kind).to_pylist()


@pytest.mark.parametrize("name", first_of(*FILES, n=4))
def test_a_file_as_people_have_it_is_loaded_with_one_click(app, tmp_path, name: str) -> None:
    data, kind, judged = FILES[name]
    assert dropped(app, name, data) == ASKED.get(name, 0)
    sheet(app, list(ROWS[name][0]))
    assert "nothing was rejected" in all_text(app)
    calm(app.button(key="load").click().run())
    rows = stored(tmp_path / "votes.duckdb", kind)
    assert len(rows) == judged
    if kind == "votes" and name != "researcher.csv":
        for row in rows:
            assert row["response_a"].startswith((OLD, "Das Paket")), row
            assert row["response_b"].startswith((NEW, "Bitte senden")), row
        first = {row["item_id"][-3:]: row["vote"] for row in rows}
        assert [first[str(100 + i)] for i in range(6)] == [-1, -1, 1, -1, 0, 1]
    if kind == "scores":
        assert all(row["response"].startswith(OLD) for row in rows)


def test_the_sheet_shows_every_column_and_what_it_holds_used_ones_first(app) -> None:
    rows = pairs()
    dropped(app, "ab.csv", table(rows))
    said = sheet(app, list(rows[0]))
    assert list(said.items())[:4] == [
        ("Ticket", "Item"),
        ("GPT-4o verdict", "Judge says"),
        ("Human (Anna)", "Person says"),
        ("Old bot reply", "Answer A"),
    ]
    assert said["New bot reply"] == "Answer B"
    assert list(said.items())[-1] == ("Shift", "Not used")


@pytest.mark.thorough
@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not here")
@pytest.mark.parametrize(
    ("name", "most", "kind"),
    [
        ("ab-export-40.csv", 0, "votes"),
        ("length-right.csv", 0, "votes"),
        ("length-swapped.csv", 0, "votes"),
        ("models-as-answers.csv", 2, "votes"),
        ("noten-40.csv", 1, "scores"),
        ("one-month.csv", 0, "scores"),
        ("passfail-40.csv", 0, "scores"),
        ("same-question-80.csv", 0, "scores"),
    ],
)
def test_each_case_needs_no_more_decisions_than_are_wanted(
    app, tmp_path, name: str, most: int, kind: str
) -> None:
    assert dropped(app, name, (CASES / name).read_bytes()) <= most
    calm(app.button(key="load").click().run())
    rows = stored(tmp_path / "votes.duckdb", kind)
    assert rows
    if name == "ab-export-40.csv":
        assert "Sorry to hear that!" in rows[0]["response_a"]
    if name in ("noten-40.csv", "passfail-40.csv"):
        assert all(row["response"] for row in rows)
    if name == "noten-40.csv":
        assert {row["judge"] for row in rows if row["rater_type"] == "human"} == {"Anna", "Ben"}
    if name == "one-month.csv":
        assert all(row["timestamp"] for row in rows)
