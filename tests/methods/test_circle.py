"""A leaderboard that is a circle says that nobody leads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import core
from core.auditing.answers import page_answers


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
    assert headline == "Which of y and x is better is open."


@pytest.mark.parametrize("seed", range(4))
def test_equal_models_make_no_circle(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [("x", "y"), ("y", "z"), ("z", "x")]
    headline = board_headline(tmp_path, {pair: (60, int(rng.binomial(60, 0.5))) for pair in pairs})
    assert "Nobody leads" not in headline
