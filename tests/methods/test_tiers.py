"""Tiers and leads allow for every pair of models on the board, and still find a planted gap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from levels import first_of

from core.questions.boards.anchored import board
from core.questions.boards.standings import Standings, lead
from core.questions.boards.words import leader_sentence, named
from core.records import PairScores


def equal_models(rng: np.random.Generator, models: int, prompts: int) -> PairScores:
    """Models that each win half of the prompts against z."""
    return PairScores(
        models=(*(f"m{k}" for k in range(models)), "z"),
        model_1=np.repeat(np.arange(models), prompts),
        model_2=np.full(models * prompts, models),
        item=np.tile(np.arange(prompts), models),
        score=rng.integers(0, 2, models * prompts).astype(np.float64),
        n_votes=np.full(models * prompts, 2),
    )


@pytest.mark.parametrize("kind", first_of("common", "few", "own"))
@pytest.mark.parametrize(("models", "boards"), first_of((7, 300), (20, 120)))
def test_boards_of_equal_models_have_one_tier(models: int, boards: int, kind: str) -> None:
    """Uncorrected, 41 to 45 % of boards of seven equal models had more.

    With normal quantiles a third of those did whose models have few prompts, or none in common.
    """
    rng, several = np.random.default_rng(21), 0
    for _ in range(boards):
        prompts = {"common": 60, "few": 5, "own": 6}[kind]
        pairs = equal_models(rng, models, prompts)
        if kind == "own":
            pairs.item[:] = np.arange(len(pairs))
        several += board(pairs, "z").rows[-1].tier > 1
    assert several / boards <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / boards)


@pytest.mark.parametrize("models", [7, 20])
def test_a_planted_gap_still_starts_a_tier(models: int) -> None:
    """One model wins 80 % of 200 prompts, the others half of them: it is alone in nine of ten
    boards.
    """
    rng, found = np.random.default_rng(22), 0
    for _ in range(40):
        pairs = equal_models(rng, models, 200)
        pairs.score[:200] = rng.random(200) < 0.8
        shown = board(pairs, "z")
        first = lead(pairs, shown)
        assert first is not None
        assert first.compared == models * (models - 1) // 2
        found += first.top_tier == ("m0",)
    assert found >= 36


def test_a_lead_says_which_pairs_its_interval_allows_for() -> None:
    pairs = equal_models(np.random.default_rng(23), 7, 50)
    shown = board(pairs, "z")
    first = lead(pairs, shown)
    assert first is not None
    assert first.difference.level == pytest.approx(1 - 0.05 / 21)
    said = leader_sentence(Standings(board=shown, lead=first, others=()))
    assert "on the same prompts, 95 % for all 21 pairs of models at once), may be chance" in said


def test_a_lead_on_one_prompt_each_stays_within_what_shares_can_differ_by() -> None:
    """Of 1,000 models that met at random, a few met the anchor, once each: t(1) has no ends to
    speak of.
    """
    pairs = equal_models(np.random.default_rng(24), 7, 1)
    pairs.item[:] = np.arange(len(pairs))
    shown = board(pairs, "z")
    said = leader_sentence(Standings(board=shown, lead=lead(pairs, shown), others=()))
    assert "(-100.0 to 100.0 on 1 prompt or more each, " in said
    assert ", 1 prompt)" in said
    assert "1 prompts" not in said


def test_many_names_are_counted() -> None:
    assert named(["a", "b"]) == "a, b"
    assert named([f"m{k}" for k in range(991)]) == "m0, m1, m2, m3, m4 and 986 more"
