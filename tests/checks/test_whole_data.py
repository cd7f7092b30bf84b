"""Rows that were rejected choose the votes that are kept: they are part of the check `data`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from evidence_of import evidence_of, overall, result, votes_of

from core.__main__ import main
from core.schema import RowsRead


@pytest.mark.parametrize(
    ("lost", "rows", "grade"),
    [
        (0, 1000, "ok"),
        (6, 1000, "ok"),
        (16, 1000, "ok"),
        (40, 1000, "warn"),
        (130, 1000, "fail"),
        (2, 8, "unknown"),
    ],
)
@pytest.mark.parametrize("unread", [0, 0.5, 1])
def test_rows_that_were_not_read_whole_are_graded_as_outputs_without_a_verdict_are(
    lost: int, rows: int, grade: str, unread: float
) -> None:
    """Whether they were rejected, or lost a confidence that could not be read."""
    votes = votes_of(np.ones(200), np.ones(200))
    read = RowsRead(rows=rows, rejected=lost - int(unread * lost), unread=int(unread * lost))
    found = result("data", votes, rows=read)
    assert found.grade == grade
    if lost:
        what = {
            0: "were rejected, and",
            0.5: f"were rejected ({lost // 2}) or have a confidence that could not be read "
            f"({lost // 2}), and",
            1: "have a confidence that could not be read, and",
        }[unread]
        assert f"of {rows:,} rows of the files {what} what was kept is not a " in found.sentence
        assert found.sentence.startswith("200 votes, 200 items with gold; every output has a ")


def test_the_worse_of_rows_and_outputs_decides() -> None:
    votes = votes_of(np.ones(200), np.ones(200))
    assert (
        overall(evidence_of(votes, rows=RowsRead(rows=1000, rejected=300))).verdict
        == "do_not_trust"
    )
    assert overall(evidence_of(votes, rows=RowsRead(rows=1000, rejected=300))).because == ("data",)


def test_a_file_of_which_a_fifth_was_rejected_is_not_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every output of the rows that were kept has a verdict."""
    lines = ["item_id,judge,vote,gold,position"]
    for item in range(200):
        position = "aside" if item % 5 == 0 else "ab"
        lines.append(f"{item},j,{1 if item % 7 else -1},1,{position}")
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(lines))
    assert main(["audit", str(file), "--splits", "0", "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["input"]["files"][0]["rejected"] == 40
    (data,) = [check for check in document["verdicts"] if check["check"] == "data"]
    assert data["verdict"] == "fail"
    assert "20.0 % of 200 rows of the files were rejected" in data["sentence"]
    assert data["estimate"] == pytest.approx(0.2)
    assert document["overall"]["j"] == {
        "verdict": "do_not_trust",
        "because": ["data"],
        "unchecked": document["overall"]["j"]["unchecked"],
        "use": document["overall"]["j"]["use"],
    }
    assert main(["audit", str(file), "--splits", "0", "--fail-if", "data=fail"]) == 1
