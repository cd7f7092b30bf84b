"""Examples, Improve and Other biases on each kind of data: what they open with."""

from pathlib import Path

import pytest
import streamlit as st
from apps import all_text, judge_of, new_app, opened
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.importers import read
from core.places import NAMES
from core.simulate.answers import PASSES
from core.store import Store


def filled(path: Path, readings: list, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    st.cache_resource.clear()
    with Store.open(path) as store:
        for each in readings:
            store.load(each)
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    return new_app()


def heads(page: AppTest) -> list[str]:
    return [each.value for each in page.subheader]


def test_single_answers_on_which_people_differ_can_be_read(tmp_path, monkeypatch):
    file = REPOSITORY / "data" / "demo_answers.csv.gz"
    app = filled(tmp_path / "answers.duckdb", read([(file.name, file)]), monkeypatch)
    disagreement = "sim-judge-careful says pass, people say sim-person-1: fail."
    said = all_text(opened(app, "examples", dataset=PASSES))
    assert disagreement in said
    assert "Simulated answer" in said
    page = opened(app, "improve", dataset=PASSES)
    said = all_text(page)
    assert disagreement in said
    assert "It answers what was asked." in said
    assert heads(page)[-2:] == [
        "Single answers on which judge and people differ",
        "What to do about it",
    ]
    labels = {button.label for button in page.button}
    assert {"Scores · Recalibrate", NAMES["label"]} <= labels
    assert NAMES["juries"] not in labels
    st.cache_resource.clear()


def test_what_a_file_does_not_say_is_not_shown(tmp_path, monkeypatch):
    """No model, no metric, no prompt: none of it stands there as "nan"."""
    file = tmp_path / "few.csv"
    rows = [
        f"t{k},answer {k},{'pass' if k % 3 else 'fail'},{'pass' if k % 2 else 'fail'}"
        for k in range(60)
    ]
    file.write_text("\n".join(["id,output,human_passed,judge_passed", *rows]), encoding="utf-8")
    app = filled(tmp_path / "few.duckdb", read([(file.name, file)]), monkeypatch)
    # Beside two pictures the checks as a matrix, and for a phone those that are settled.
    specs = [one.proto.spec for one in opened(app, "verdict").get("plotly_chart")]
    assert len(specs) == 4
    assert sum("follows people" in spec for spec in specs) == 1
    said = all_text(opened(app, "examples"))
    assert "judge says pass, people say fail." in said
    assert "nan" not in said.lower().split()
    st.cache_resource.clear()


def test_without_gold_examples_show_what_changed_when_swapped(tmp_path, monkeypatch):
    rows = [
        {"item_id": f"q{k}", "judge": "j", "vote": 1 if place == "ab" else -1, "position": place}
        | {"response_a": f"this {k}", "response_b": f"that {k}"}
        for k in range(20)
        for place in ("ab", "ba")
    ]
    app = filled(tmp_path / "no_gold.duckdb", [reading(rows)], monkeypatch)
    page = opened(app, "examples")
    assert any("Changed when the responses swapped" in each.value for each in page.markdown)
    assert "j saw A first and said A is better." in all_text(page)
    st.cache_resource.clear()


def test_improve_begins_with_errors_and_says_what_is_known_of_each_way_out(app):
    page = opened(app, "improve")
    assert heads(page)[:1] == ["Show me"]
    assert heads(page)[-1:] == ["What to do about it"]
    assert any("Wrong where it was surest" in each.value for each in page.markdown)
    assert "sim-judge-first-slot favours the answer it sees first" in all_text(page)


def test_other_biases_open_with_the_judge_that_length_sways_most(app):
    judge = judge_of(opened(app, "leaning"))
    assert judge == "sim-judge-boaster"
