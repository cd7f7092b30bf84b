"""Files as people have them, dropped on Start: what is asked, and what is stored after one click."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from apps import all_text, calm, new_app, opened
from levels import first_of
from places import REPOSITORY
from streamlit.testing.v1 import AppTest
from test_workbooks import workbook

from core.schema import Selection
from core.store import Store

CASES = REPOSITORY.parent / "shared" / "cases" / "start"
N = 24
OLD, NEW = "The parcel is on its way to you, as of today.", "Please send a photo of the damage."


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    st.cache_resource.clear()
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        store.set_flag("demo deleted", "yes")
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    yield opened(new_app(), "start")
    st.cache_resource.clear()


def table(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def pairs(*, gold: bool = True) -> list[dict[str, Any]]:
    """An export of a test of two bots, of which the judge and Anna say who is better."""
    says = ("New bot", "new bot", "Old bot", "NEW BOT", "tie", "Old")
    return [
        {
            "Ticket": f"T-{100 + i}",
            "Created": f"{1 + i % 28:02d}/08/2026",
            "Team": ("Delivery", "Tech")[i % 2],
            "Customer question": f"Where is my parcel number {i}, please?",
            "Old bot reply": f"{OLD} {i}",
            "New bot reply": f"{NEW} {i}",
            "GPT-4o verdict": says[i % 6],
            "GPT conf.": f"{60 + i}%",
            **({"Human (Anna)": says[(i * 5) % 6]} if gold else {}),
            "Shift": "late" if i % 7 == 3 else "",
            "Cost $": f"0.00{i + 10}",
        }
        for i in range(N)
    ]


def german_pairs() -> list[dict[str, Any]]:
    says = ("Neuer Bot", "neuer Bot", "Alter Bot", "Neu", "unentschieden", "Alt")
    return [
        {
            "Vorgang": f"V-{100 + i}",
            "Erstellt": f"{1 + i % 28:02d}.08.2026",
            "Kundenfrage": f"Wo ist mein Paket Nummer {i}, bitte?",
            "Antwort alter Bot": f"Das Paket ist heute auf dem Weg zu Ihnen. {i}",
            "Antwort neuer Bot": f"Bitte senden Sie uns ein Foto des Schadens. {i}",
            "Urteil GPT-4o": says[i % 6],
            "Sicherheit": f"{60 + i} %",
            "Mensch (Anna)": says[(i * 5) % 6],
            "Notizen": "dringend" if i == 3 else "",
        }
        for i in range(N)
    ]


def log() -> list[dict[str, Any]]:
    return [
        {
            "trace_id": f"5f1d{i:04x}",
            "release": ("v1", "v2")[i % 2],
            "user_input": f"Where is my parcel number {i}, please?",
            "assistant_output": f"{OLD} {i}",
            "llm_judge": "PASS" if i % 3 else "FAIL",
            "human_review": ("", "ok", "not ok", "ok")[i % 4],
            "channel": ("mail", "chat")[i // 2 % 2],
        }
        for i in range(N)
    ]


def levels() -> list[dict[str, Any]]:
    return [
        {
            "No": 1 + i,
            "Question": f"Where is my parcel number {i}, please?",
            "Assistant answer": f"{OLD} {i}",
            "AI score (1-5)": 1 + i % 5,
            "Human 1": 1 + (i * 2) % 5,
            "Human 2": 1 + (i * 3) % 5,
            "Comment": "check" if i == 3 else "",
        }
        for i in range(N)
    ]


def researchers() -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"q{i // 4}",
            "judge_model": ("judge-large", "judge-small")[i % 2],
            "answer_a_model": "alpha-7b",
            "answer_b_model": "beta-7b",
            "presented": ("ab", "ba")[i // 2 % 2],
            "verdict": ("A>B", "B>A", "A>B", "A=B", "A>B")[i % 5],
            "verbalized_conf": f"0.{60 + i % 30}",
            "reference": ("A>B", "B>A")[i // 4 % 2],
        }
        for i in range(2 * N)
    ]


def rated() -> list[dict[str, Any]]:
    return [
        {
            "run_id": 10 + i,
            "input": f"Where is my parcel number {i % 3}, please?",
            "output": f"{OLD} {i}",
            "helpfulness": 1 + i % 5,
            "correctness": i % 2,
            "model": ("prod", "candidate")[i % 2],
        }
        for i in range(2 * N)
    ]


def book() -> bytes:
    rows = pairs()
    return workbook({"Tickets": [list(rows[0]), *(list(row.values()) for row in rows)]})


FILES = {
    "ab.csv": (table(pairs()), "votes", N),
    "ab.xlsx": (book(), "votes", N),
    "ab-deutsch.csv": (table(german_pairs(), ";"), "votes", N),
    "log.csv": (table(log()), "scores", N),
    "levels.csv": (table(levels()), "scores", 3 * N),
    "researcher.csv": (table(researchers()), "votes", 2 * N),
    "no-gold-pairs.csv": (table(pairs(gold=False)), "votes", N),
    "no-gold-scores.csv": (table(rated()), "scores", 4 * N),
}
"""Name → the file, what it holds and how many judgements."""


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
    # Where orders were turned, only their owner knows what a label names.
    assert dropped(app, name, data) == (name == "researcher.csv")
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
