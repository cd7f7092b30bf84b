"""Votes and scores in one file: two forms, each row of one; and scores that no text can hold."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import core
from core.__main__ import main
from core.errors import UnreadableFile
from core.importers import read

HEADER = "item_id,model_a,model_b,judge,vote,position,gold,score,human_score"
PAIRS = [
    f"i{i},m1,m2,j,{vote},{order},{vote},,"
    for i, vote in enumerate([1, -1, 1, 1] * 5)
    for order in ("ab", "ba")
]
SINGLE = [f"s{i},,,j,,,,{1 + i % 5},{1 + (i * 3) % 5}" for i in range(30)]


def text(*rows: str) -> bytes:
    return "\n".join([HEADER, *rows]).encode()


def test_rows_of_votes_and_rows_of_scores_are_read_as_both(tmp_path: Path) -> None:
    """The scores were outputs of the judge that are missing: "it often gives no verdict"."""
    mixed = [row for pair in zip(PAIRS, SINGLE, strict=False) for row in pair] + PAIRS[30:]
    votes, scores = read([("both.csv", text(*mixed))])
    assert (votes.kind, scores.kind) == ("votes", "scores")
    assert (votes.rows, votes.n_rejected, scores.rows, scores.n_rejected) == (40, 0, 30, 0)
    assert "40 rows compare two answers, 30 score one: read as both." in votes.notes
    (alone,) = read([("both.csv", text(*PAIRS))])
    columns = ["item_id", "judge", "vote", "position", "gold"]
    assert votes.votes.select(columns).to_pylist() == alone.votes.select(columns).to_pylist()
    lines = ["item_id,judge,score,human_score", *(row.replace(",,,j,,,,", ",j,") for row in SINGLE)]
    (apart,) = read([("both.csv", "\n".join(lines).encode())])
    columns = ["item_id", "judge", "score", "gold"]
    assert scores.votes.select(columns).to_pylist() == apart.votes.select(columns).to_pylist()
    audit = core.audit(text(*mixed), splits=0)
    assert audit.summary.unparsed == 0
    assert [found.judge for found in audit.scores] == ["j"]


def test_a_bad_row_of_either_form_keeps_its_number() -> None:
    rows = [PAIRS[0], SINGLE[0], PAIRS[1].replace(",1,ba", ",9,ba"), *PAIRS[2:], *SINGLE[1:]]
    rows[10] = "s99,,,j,,,,many,2"
    votes, scores = read([("both.csv", text(*rows))])
    assert [row["row"] for row in (*votes.rejected.to_pylist(), *scores.rejected.to_pylist())] == [
        3,
        11,
    ]


def test_rows_with_both_beside_rows_of_one_are_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row[:-1] + "3," if i < 4 else row for i, row in enumerate(PAIRS)]
    file = tmp_path / "both.csv"
    file.write_bytes(text(*rows, *SINGLE))
    assert main(["audit", str(file)]) == 2
    said = capsys.readouterr().err
    assert (
        "40 rows with a vote in 'vote', 30 with a score in 'score' alone, and 4 with both" in said
    )


def test_a_vote_that_is_missing_is_an_output_without_a_verdict() -> None:
    """A score beside it makes no answer of two a single one."""
    rows = [*PAIRS, "i99,m1,m2,j,,ab,1,3,"]
    (votes,) = read([("votes.csv", text(*rows))])
    assert votes.rows == 41


def test_a_table_in_memory_of_both_is_refused() -> None:
    frame = pd.read_csv(io.BytesIO(text(*PAIRS, *SINGLE)))
    with pytest.raises(UnreadableFile, match="two tables"):
        core.audit(frame)


def test_a_lone_surrogate_in_a_score_costs_its_row() -> None:
    """A log with one was an error that nobody foresaw (exit 70)."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as log:
        head = {"eval": {"task": "t", "model": "m"}, "status": "success", "version": 2}
        log.writestr("header.json", json.dumps(head))
        for i, value in enumerate(["C", "I", "\ud800", "C", "C"]):
            sample = {"id": i, "epoch": 1, "input": "q", "output": {}, "scores": {"s": value}}
            log.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample))
    (scores,) = read([("log.eval", packed.getvalue())])
    assert scores.n_rejected == 1
    assert scores.votes.num_rows == 4
    assert scores.rejected["value"].to_pylist() == ["\\ud800"]
