"""Commands take a store where they take files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import core
from core.__main__ import main
from core.store import Store

ITEMS = 24


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    rows = ["item_id,judge,vote,gold,position"]
    for item in range(ITEMS):
        gold = 1 if item % 2 else -1
        for position in ("ab", "ba"):
            rows.append(f"q{item},j,{gold if item % 5 else -gold},{gold},{position}")
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(rows), encoding="utf-8")
    return file


@pytest.fixture
def store(votes: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    store = votes.with_name("kept.duckdb")
    assert main(["import", str(votes), "--store", str(store)]) == 0
    capsys.readouterr()
    return store


def document(path: Path, *arguments: object) -> dict:
    assert main(["audit", *map(str, arguments), "--splits", "0", "--json", str(path)]) == 0
    return json.loads(path.read_text("utf-8"))


def test_audit_of_a_store_is_that_of_its_files(votes, store, tmp_path, capsys):
    before = store.read_bytes()
    of_file = document(tmp_path / "file.json", votes)
    of_store = document(tmp_path / "store.json", store)
    for key in of_file:
        if key not in ("input", "options"):
            assert of_store[key] == of_file[key], key
    assert of_store["input"]["items"] == ITEMS
    # With a file beside it, the same judgements count once.
    both = document(tmp_path / "both.json", store, votes, "--against", store)
    assert (both["input"]["items"], both["input"]["votes"]) == (ITEMS, 2 * ITEMS)
    assert both["against"]["common"] == ITEMS
    assert store.read_bytes() == before


def test_labels_of_a_sheet_go_into_no_store_that_is_audited(votes, store, tmp_path, capsys):
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "item_id,label\n" + "\n".join(f"q{item},A" for item in range(ITEMS)), encoding="utf-8"
    )
    sheet = ("--labels-from", labels, "--key", "item_id")
    of_file = document(tmp_path / "file.json", votes, *sheet)
    of_store = document(tmp_path / "store.json", store, *sheet)
    assert of_store["judges"] == of_file["judges"]
    assert core.audit(store, labels_from=labels, key="item_id", splits=0).judges["j"].direction
    with Store.open(store, read_only=True) as kept:
        assert {row["judge"] for row in kept.export().to_pylist()} == {"j"}


def test_report_doctor_and_label_take_a_store(store, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["report", str(store), "--splits", "0", "--html", str(page)]) == 0
    assert page.read_text("utf-8").startswith("<!")
    capsys.readouterr()
    assert main(["doctor", str(store)]) == 0
    said = capsys.readouterr().out
    assert f"Read: {2 * ITEMS} votes of 1 judge and {ITEMS} items; 0 rejected" in said
    assert said.rstrip().endswith(f"audit {store}")
    sheet = tmp_path / "sheet.csv"
    assert main(["label", str(store), "--sheet", str(sheet), "--count", "7"]) == 0
    assert f"7 of {ITEMS} items of votes" in capsys.readouterr().out
    assert sheet.is_file()


def test_options_of_reading_are_refused_for_a_store_alone(store, capsys):
    copy = store.with_name("copy.duckdb")
    shutil.copy(store, copy)
    for command in (
        ["audit", str(store)],
        ["audit", str(store), str(copy)],
        ["doctor", str(store)],
    ):
        assert main([*command, "--labels", "A/B"]) == 2
        assert "is a store, whose columns are known" in capsys.readouterr().err
