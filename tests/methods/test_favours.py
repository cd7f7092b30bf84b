"""A judge that favours the answers of one model is named, whoever made it, without --family."""

from __future__ import annotations

import json

import numpy as np
import pytest

import core
from core.__main__ import main

MODELS = ("claude", "gemini", "llama", "mistral")


def compared(rng, *, favour=0.0, items=300, models=MODELS, right=0.85):
    """Votes in both orders: right on 85 %, and `favour` of those about llama go to it."""
    rows = []
    for k in range(items):
        a, b = rng.choice(models, 2, replace=False)
        gold = rng.choice([-1, 1])
        vote = gold if rng.random() < right else -gold
        if "llama" in (a, b) and rng.random() < favour:
            vote = 1 if a == "llama" else -1
        common = {"item_id": f"q{k}", "model_a": a, "model_b": b, "judge": "j", "gold": gold}
        rows += [common | {"position": order, "vote": vote} for order in ("ab", "ba")]
    return rows


def scored(rng, *, kinder=0.0, items=120):
    rows = []
    for k in range(items):
        for model in MODELS:
            quality = int(rng.integers(2, 5))
            own = quality + int(model == "llama" and rng.random() < kinder)
            own += int(rng.integers(-1, 2))
            rows.append(
                {
                    "item_id": f"q{k}",
                    "model": model,
                    "judge": "j",
                    "score": min(5, max(1, own)),
                    "human": quality,
                }
            )
    return rows


def test_of_pairs_in_text_and_json(tmp_path, capsys):
    rng = np.random.default_rng(1)
    written = tmp_path / "a.json"
    path = tmp_path / "votes.json"
    path.write_text(
        json.dumps(
            [
                {k: (v if isinstance(v, str) else int(v)) for k, v in row.items()}
                for row in compared(rng, favour=0.3)
            ]
        )
    )
    assert main(["audit", str(path), "--splits", "0", "--all", "--json", str(written)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "points more often than gold does (+" in text
    assert "j prefers the answers of llama" in text
    assert "widened for 4 models)" in text
    found = json.loads(written.read_text())["judges"]["j"]
    of_model = {one["model"]: one for one in found["favours"]}
    assert {*of_model} == {*MODELS}
    assert of_model["llama"]["low"] > 0
    assert found["own_family"] is None


def test_of_single_answers(capsys):
    rng = np.random.default_rng(2)
    (scores,) = core.audit(scored(rng, kinder=0.6)).scores
    from core.questions.scores.words import favours_sentence

    said = favours_sentence(scores.evidence)
    assert said.startswith("Beside people it scores llama ")
    assert "higher than the other models (+" in said
    assert "widened for 4)" in said


def test_of_two_models_one_is_named():
    rng = np.random.default_rng(3)
    rows = compared(rng, favour=0.3, models=("claude", "llama"))
    (judge,) = core.audit(rows, splits=0).judges
    (favour,) = judge.favours
    assert favour.model == "claude"
    assert favour.difference.high < -0.05
    assert "points less often than gold does" in " ".join(judge.notes)


def test_a_model_that_always_stands_first_is_not_told_from_its_place():
    rng = np.random.default_rng(4)
    rows = compared(rng, favour=0.3, models=("claude", "llama"))
    once = []
    for row in rows[::2]:
        swap = row["model_a"] != "llama"
        turned = row | {"model_a": "llama", "model_b": "claude"}
        once.append(turned | {"vote": -row["vote"], "gold": -row["gold"]} if swap else turned)
    (judge,) = core.audit(once, splits=0).judges
    assert judge.favours == ()


@pytest.mark.thorough
@pytest.mark.parametrize("right", [0.7, 0.9])
def test_judges_without_a_favour_are_rarely_named(right):
    """Of 80 draws of each kind; the widened intervals leave 0 out in .05 of judges at most."""
    rng = np.random.default_rng(5)
    named = 0
    for _ in range(80):
        (judge,) = core.audit(compared(rng, items=100, right=right), splits=0).judges
        named += any("prefers the answers" in note for note in judge.notes)
    assert named <= 80 * 0.05 + 3 * np.sqrt(80 * 0.05 * 0.95)
