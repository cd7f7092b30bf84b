"""Rows that were rejected choose the votes that are kept: they are part of the check `data`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from evidence_of import evidence_of, overall, result, votes_of

from core.__main__ import main


@pytest.mark.parametrize(
    ("rejected", "rows", "grade"),
    [
        (0, 1000, "ok"),
        (5, 1000, "ok"),
        (15, 1000, "ok"),
        (40, 1000, "warn"),
        (130, 1000, "fail"),
        (2, 8, "unknown"),
    ],
)
def test_rejected_rows_are_graded_as_outputs_without_a_verdict_are(
    rejected: int, rows: int, grade: str
) -> None:
    votes = votes_of(np.ones(200), np.ones(200))
    found = result("data", votes, rows=(rejected, rows))
    assert found.grade == grade
    if rejected:
        assert f"of {rows:,} rows of the files were rejected" in found.sentence
        assert found.sentence.startswith("200 votes, 200 items with gold; every output has a ")


def test_the_worse_of_rows_and_outputs_decides() -> None:
    votes = votes_of(np.ones(200), np.ones(200))
    assert overall(evidence_of(votes, rows=(300, 1000))).verdict == "do_not_trust"
    assert overall(evidence_of(votes, rows=(300, 1000))).because == ("data",)


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
    }
    assert main(["audit", str(file), "--splits", "0", "--fail-if", "data=fail"]) == 1
