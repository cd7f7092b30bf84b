"""A leaderboard that is a circle says that nobody leads."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import numpy as np
import pytest

import core
from core.auditing.answers import page_answers
from core.reporting.html import report
from core.reporting.text import to_text


def board_headline(folder: Path, votes: dict[tuple[str, str], tuple[int, int]]) -> str:
    """Pair of models → comparisons, and how many of them the first wins."""
    rows = [
        f"{a}{b}{k},{a},{b},j,{1 if k < wins else -1}"
        for (a, b), (n, wins) in votes.items()
        for k in range(n)
    ]
    file = folder / "votes.csv"
    file.write_text("\n".join(["item_id,model_a,model_b,judge,vote", *rows]) + "\n")
    audit = core.audit(file, anchors=("z", "x", "y") if len(votes) > 1 else ("x",))
    return page_answers(audit)["leaderboard"].headline


def test_three_models_that_beat_each_other_in_turn_have_no_leader(tmp_path: Path) -> None:
    votes = {("x", "y"): (60, 50), ("y", "z"): (60, 50), ("z", "x"): (60, 50)}
    assert board_headline(tmp_path, votes) == ("Nobody leads: x beats y, y beats z and z beats x.")


def test_an_order_has_a_leader(tmp_path: Path) -> None:
    votes = {("x", "y"): (60, 50), ("y", "z"): (60, 33), ("x", "z"): (60, 55)}
    assert board_headline(tmp_path, votes).startswith("x leads alone")


def test_two_battles_decide_nothing(tmp_path: Path) -> None:
    headline = board_headline(tmp_path, {("y", "x"): (2, 2)})
    assert headline == "Nobody leads yet: the board rests on 2 prompts, too few to rank."


def test_models_that_never_met_are_named_as_groups(tmp_path: Path) -> None:
    rows = [
        f"q{k},{a},{b},j,{1 if k % 3 else -1}"
        for group in ("abcd", "wxyz")
        for place, a in enumerate(group)
        for b in group[:place]
        for k in range(20)
    ]
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(["item_id,model_a,model_b,judge,vote", *rows]) + "\n")
    audit = core.audit(file, splits=0)
    said = page_answers(audit)["leaderboard"]
    assert said.headline.endswith("two groups of models never met.")
    assert not said.good
    # Text and report say the same.
    assert said.headline in to_text(audit)
    assert said.headline in unescape(report(audit))


@pytest.mark.parametrize("seed", range(4))
def test_equal_models_make_no_circle(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [("x", "y"), ("y", "z"), ("z", "x")]
    headline = board_headline(tmp_path, {pair: (60, int(rng.binomial(60, 0.5))) for pair in pairs})
    assert "Nobody leads" not in headline
