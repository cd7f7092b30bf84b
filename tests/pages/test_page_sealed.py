"""No page, document, sheet or export holds the texts of what is sealed for proofs."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
import streamlit as st
from apps import new_app, opened

from core.__main__ import main
from core.places import NAMES
from core.store import Store, parts

N = 60
PLANTED = re.compile(r"(?:Question|Answer|Reason) zq(\d+)z")

pytestmark = pytest.mark.usefixtures("one_split")


def judged(path: Path, version: str, wrong: int) -> str:
    """Pass or fail of answers, half of them labelled, with a word in each text that names it."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        columns = ("item_id", "judge", "judge_passed", "human_passed", "prompt", "response")
        out.writerow((*columns, "rationale"))
        for k in range(N):
            truth = k % 3 > 0
            texts = (f"Question zq{k}z?", f"Answer zq{k}z.", f"Reason zq{k}z.")
            said = int(truth != (k % wrong == 1))
            label = int(truth) if k % 2 else ""
            out.writerow((f"q{k}", f"gpt@{version}", said, label, *texts))
    return str(path)


@pytest.fixture
def store(tmp_path: Path) -> tuple[Path, set[int]]:
    """A store that was split, and the numbers of its sealed items."""
    path = tmp_path / "s.duckdb"
    files = [judged(tmp_path / "v1.csv", "v1", 3), judged(tmp_path / "v2.csv", "v2", 7)]
    assert main(["import", *files, "--version", "none", "--store", str(path)]) == 0
    with Store.open(path) as opened_store:
        with opened_store.change() as change:
            held = parts.split(change, "seed")
        names = opened_store.rows("select id, name from items")
    return path, {int(name[1:]) for item, name in names if held.is_sealed(item)}


def shown(text: str) -> set[int]:
    return {int(number) for number in PLANTED.findall(text)}


def test_no_output_holds_what_is_sealed(store, tmp_path, capsys):
    path, sealed = store
    assert len(sealed) > N / 2
    out = {name: tmp_path / f"out.{name}" for name in ("json", "md", "xml", "html", "brief", "csv")}
    exported, people = tmp_path / "all.csv", tmp_path / "people.csv"
    audit = ["audit", str(path), "--all", "--compare", "--disagreements", str(out["csv"])]
    audit += ["--json", str(out["json"]), "--markdown", str(out["md"]), "--junit", str(out["xml"])]
    assert main([*audit, "--to-people", str(people)]) == 0
    assert main(["report", str(path), "--html", str(out["html"])]) == 0
    assert main(["report", str(path), "--brief", "--html", str(out["brief"])]) == 0
    assert main(["export", str(exported), "--what", "scores", "--store", str(path)]) == 0
    sheet = tmp_path / "sheet.csv"
    assert main(["label", str(path), "--dataset", "v1", "--sheet", str(sheet)]) == 0
    texts = {
        each.name: each.read_text("utf-8") for each in (*out.values(), exported, people, sheet)
    }
    texts["terminal"] = "".join(capsys.readouterr())
    assert {name for name, text in texts.items() if shown(text) & sealed} == set()
    # What is open is there, so that the search finds what there is.
    assert shown(texts["all.csv"])
    assert shown(texts["out.csv"])
    assert shown(texts["sheet.csv"])


@pytest.mark.thorough
def test_no_page_holds_what_is_sealed(store, monkeypatch):
    path, sealed = store
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    app = new_app()
    held = {}
    names = sorted(NAMES, key=lambda name: name != "verdict")
    for name in names:
        page = opened(app, name)
        assert not page.exception, name
        everything = "\n".join(f"{each}" for block in (page.main, page.sidebar) for each in block)
        everything += "\n".join(each.value.to_csv() for each in page.dataframe)
        held[name] = shown(everything) & sealed
    st.cache_resource.clear()
    assert {name for name, numbers in held.items() if numbers} == set()
