"""No page, document, sheet or export holds the texts of what is sealed for proofs."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection
from pathlib import Path

import pytest
import streamlit as st
from apps import new_app, opened

from core.__main__ import main
from core.places import NAMES
from core.store import Store, parts

N = 60
PLANTED = re.compile(r"(?:Question|Answer|Reason) zq(\d+)z")
DRAWN = re.compile(
    r"\d+-\d+-\d+ [0-9:.]+|\d+-\d+ [0-9:.]+|id='[^']*'|0x[0-9a-f]+|[0-9a-f]{8,64}|\d+ (?:ms|seconds)"
)
"""What differs between two runs of the same page."""
HASH = re.compile(r"\b[0-9a-f]{8,64}\b|\d+ (?:ms|seconds)")

pytestmark = pytest.mark.usefixtures("one_split")


def judged(path: Path, version: str, wrong: int, turned: Collection[int] = ()) -> str:
    """Pass or fail of answers, half of them labelled, with a word in each text that names it.

    turned : answers of which the verdict is the opposite.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        columns = ("item_id", "judge", "judge_passed", "human_passed", "prompt", "response")
        out.writerow((*columns, "rationale"))
        for k in range(N):
            truth = k % 3 > 0
            texts = (f"Question zq{k}z?", f"Answer zq{k}z.", f"Reason zq{k}z.")
            said = int(truth != (k % wrong == 1) != (k in turned))
            label = int(truth) if k % 2 else ""
            out.writerow((f"q{k}", f"gpt@{version}", said, label, *texts))
    return str(path)


def split(folder: Path, turned: Collection[int] = ()) -> tuple[Path, set[int]]:
    """A store that was split, and the numbers of its sealed items.

    turned : items on which the later version says the opposite.
    """
    folder.mkdir()
    path = folder / "s.duckdb"
    files = [judged(folder / "v1.csv", "v1", 3), judged(folder / "v2.csv", "v2", 7, turned)]
    assert main(["import", *files, "--version", "none", "--store", str(path)]) == 0
    with Store.open(path) as opened_store:
        with opened_store.change() as change:
            held = parts.split(change, "seed")
        names = opened_store.rows("select id, name from items")
    return path, {int(name[1:]) for item, name in names if held.is_sealed(item)}


@pytest.fixture
def store(tmp_path: Path) -> tuple[Path, set[int]]:
    return split(tmp_path / "split")


def shown(text: str) -> set[int]:
    return {int(number) for number in PLANTED.findall(text)}


def outputs(path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """All that commands say and write of a store."""
    folder.mkdir()
    out = {name: folder / f"out.{name}" for name in ("json", "md", "xml", "html", "brief", "csv")}
    exported, people = folder / "all.csv", folder / "people.csv"
    audit = ["audit", str(path), "--all", "--compare", "--disagreements", str(out["csv"])]
    audit += ["--json", str(out["json"]), "--markdown", str(out["md"]), "--junit", str(out["xml"])]
    assert main([*audit, "--to-people", str(people)]) == 0
    assert main(["report", str(path), "--html", str(out["html"])]) == 0
    assert main(["report", str(path), "--brief", "--html", str(out["brief"])]) == 0
    assert main(["export", str(exported), "--what", "scores", "--store", str(path)]) == 0
    sheet = folder / "sheet.csv"
    assert main(["label", str(path), "--dataset", "v1", "--sheet", str(sheet)]) == 0
    texts = {
        each.name: each.read_text("utf-8") for each in (*out.values(), exported, people, sheet)
    }
    return {**texts, "terminal": "".join(capsys.readouterr())}


def test_no_output_holds_what_is_sealed(store, tmp_path, capsys):
    path, sealed = store
    assert len(sealed) > N / 2
    texts = outputs(path, tmp_path / "out", capsys)
    assert {name for name, text in texts.items() if shown(text) & sealed} == set()
    # What is open is there, so that the search finds what there is.
    assert shown(texts["all.csv"])
    assert shown(texts["out.csv"])
    assert shown(texts["sheet.csv"])


def test_no_figure_of_a_later_version_has_what_is_sealed(store, tmp_path, capsys):
    """Whatever the later version says of sealed items, every output is the same."""
    path, sealed = store
    other, same = split(tmp_path / "turned", sealed)
    assert same == sealed
    capsys.readouterr()
    first = outputs(path, tmp_path / "out", capsys)
    second = outputs(other, tmp_path / "other", capsys)
    assert "gpt@v2" in first["out.json"]
    # The order of a sheet of labels is drawn anew each time.
    for name, text in first.items() - {("sheet.csv", first["sheet.csv"])}:
        moved = second[name].replace(str(tmp_path / "turned"), str(tmp_path / "split"))
        assert HASH.sub("", moved.replace("/other/", "/out/")) == HASH.sub("", text), name


def test_disagreements_of_versions_are_read_once_the_store_is_split(tmp_path, capsys):
    path, sheet = tmp_path / "s.duckdb", tmp_path / "out.csv"
    files = [judged(tmp_path / "v1.csv", "v1", 3), judged(tmp_path / "v2.csv", "v2", 7)]
    for file, n_sealed in zip(files, (0, N // 2), strict=True):
        assert main(["import", file, "--version", "none", "--store", str(path)]) == 0
        assert main(["audit", str(path), "--disagreements", str(sheet)]) in (0, 1)
        with Store.open(path) as opened_store, opened_store.snapshot() as moment:
            names = parts.open_names(moment)
        is_open = {*range(N)} if names is None else {int(name[1:]) for name in names}
        assert N - len(is_open) >= n_sealed
        assert shown(sheet.read_text("utf-8")) <= is_open
    assert "the others sealed for `prove`" in capsys.readouterr().err
    assert main(["audit", str(path), "--disagreements", str(sheet)]) in (0, 1)
    assert "sealed for `prove`" not in capsys.readouterr().err


def pages(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """All that pages show of a store."""
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    app = new_app()
    held = {}
    for name in sorted(NAMES, key=lambda name: name != "verdict"):
        page = opened(app, name)
        assert not page.exception, name
        everything = "\n".join(f"{each}" for block in (page.main, page.sidebar) for each in block)
        held[name] = everything + "\n".join(each.value.to_csv() for each in page.dataframe)
    st.cache_resource.clear()
    return held


@pytest.mark.thorough
def test_no_page_holds_what_is_sealed(store, monkeypatch):
    path, sealed = store
    held = pages(path, monkeypatch)
    assert {name for name, text in held.items() if shown(text) & sealed} == set()


@pytest.mark.thorough
def test_no_page_has_a_figure_of_a_later_version_with_what_is_sealed(store, tmp_path, monkeypatch):
    path, sealed = store
    first = pages(path, monkeypatch)
    second = pages(split(tmp_path / "turned", sealed)[0], monkeypatch)
    moved = {name: text.replace("/turned/", "/split/") for name, text in second.items()}
    for name, text in first.items() - {("label", first.get("label", ""))}:
        assert DRAWN.sub("", moved[name]) == DRAWN.sub("", text), name
