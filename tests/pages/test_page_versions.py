"""Versions of a judge on Compare and Improve: core's sentences, what parts, and a proof by cards."""

import csv
from pathlib import Path

import pytest
import streamlit as st
from apps import all_text, new_app, opened
from readings import reading

import core
from core.__main__ import main
from core.store import Store, parts

N = 400

pytestmark = pytest.mark.usefixtures("one_split")


def truth(k: int) -> bool:
    return k % 3 > 0


def judged(path: Path, version: str, wrong: int) -> str:
    """Pass or fail of 400 answers; every fifth is labelled, every `wrong`-th is judged wrongly."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["item_id", "judge", "judge_passed", "human_passed", "prompt", "response"])
        for k in range(N):
            label = int(truth(k)) if k % 5 == 2 else ""
            said = int(truth(k) != (k % wrong == 1))
            out.writerow([f"q{k}", f"gpt@{version}", said, label, f"Question {k}?", f"Text {k}."])
    return str(path)


def filled(tmp_path: Path, old: int, new: int) -> Path:
    path = tmp_path / "s.duckdb"
    files = [judged(tmp_path / "v1.csv", "v1", old), judged(tmp_path / "v2.csv", "v2", new)]
    assert main(["import", *files, "--version", "none", "--store", str(path)]) == 0
    return path


@pytest.fixture(autouse=True)
def _no_store_is_kept():
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def test_compare_says_what_the_command_says(tmp_path, monkeypatch):
    path = filled(tmp_path, 4, 50)
    (found,) = core.audit(path, compare=["v1", "v2"]).comparisons
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    page = opened(new_app(), "compare")
    for said in (*found.answer(), *found.sentences()[1:]):
        assert said in all_text(page)
    shown = next(each.value for each in page.dataframe if "prompt" in each.value)
    assert len(shown) == found.parted


def test_versions_of_a_judge_of_pairs_show_where_they_part(tmp_path, monkeypatch):
    path = tmp_path / "s.duckdb"
    rows = [
        {"item_id": f"q{k}", "model_a": "m", "model_b": "n", "gold": 1, "judge": judge}
        | {"vote": 1 if k % wrong else -1, "response_a": f"this {k}"}
        for k in range(60)
        for judge, wrong in (("gpt", 3), ("gpt@v2", 20))
    ]
    with Store.open(path) as store:
        store.load(reading(rows))
    (found,) = core.audit(path, compare=["v1", "v2"]).comparisons
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    page = opened(new_app(), "compare")
    assert all(said in all_text(page) for said in found.answer())
    assert any(f"{found.parted:,} comparisons" in each.value for each in page.caption)


def proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: int, new: int) -> str:
    """What Improve says at the end of a proof, each card labelled by the truth."""
    path = filled(tmp_path, old, new)
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    page = opened(new_app(), "improve")
    page.button(key="prove").click().run()
    for _ in range(60):
        if not any(button.key == "proof-pass" for button in page.button):
            break
        assert "gpt@v1:" not in all_text(page)
        (question,) = (text.value for text in page.text if text.value.startswith("Question "))
        k = int(question.removeprefix("Question ").removesuffix("?"))
        page.button(key="proof-pass" if truth(k) else "proof-fail").click().run()
    said = all_text(page)
    st.cache_resource.clear()
    with Store.open(path) as store:
        held = parts.read(store)
    assert held is not None
    assert [each.said in said for each in held.tries] == [True]
    assert f"{len(held.items):,} items open" in said
    return said


def test_a_better_version_is_proven_by_cards(tmp_path, monkeypatch):
    said = proven(tmp_path, monkeypatch, 4, 50)
    assert "gpt@v2 is better than gpt@v1: where they part, it was right in " in said


def test_a_version_that_gains_nothing_ends_in_the_sentence_for_that(tmp_path, monkeypatch):
    said = proven(tmp_path, monkeypatch, 6, 7)
    assert "gpt@v2 is not shown to be better than gpt@v1. First try, " in said
    assert "Another wording will hardly help" in said


def test_two_columns_of_verdicts_are_compared_as_the_command_does(tmp_path, monkeypatch):
    """A file with a column for each of two prompts: the first question is which is better."""
    path = tmp_path / "prompts.csv"
    rows = ["prompt,response,human_passed,judge_v1,judge_v2"]
    rows += [
        f"Question {k}?,Text {k}.,{int(truth(k))},{int(truth(k) != (k % 5 == 1))},"
        f"{int(truth(k) != (k % 40 == 1))}"
        for k in range(N)
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    (found,) = core.audit(path, compare=["judge_v1", "judge_v2"]).comparisons
    store = tmp_path / "s.duckdb"
    assert main(["import", str(path), "--store", str(store)]) == 0
    monkeypatch.setenv("APPELLATE_STORE", str(store))
    page = opened(new_app(), "compare")
    for said in (*found.answer(), *found.sentences()[1:]):
        assert said in all_text(page)
    assert not page.exception
