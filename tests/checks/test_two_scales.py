"""A judge whose scores lie far above all of people's may be on another scale, and so may people."""

from __future__ import annotations

from pathlib import Path

import pytest

import core


@pytest.mark.parametrize("header", ["judge_score,human_score", "human_score,judge_score"])
@pytest.mark.parametrize(("highest", "asked"), [(10, True), (5, False)])
def test_two_scales_are_asked_for(tmp_path: Path, highest: int, asked: bool, header: str) -> None:
    rows = [f"a{k},{1 + k % highest},{1 + (k % highest) * 3 // highest}" for k in range(200)]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join([f"item_id,{header}", *rows]) + "\n")
    audit = core.audit(file)
    (leniency,) = (each for each in audit.scores[0].checks if each.check == "leniency")
    assert ("are these two scales?" in leniency.sentence) == asked
    assert ("may use another scale than people" in core.to_text(audit)) == asked
