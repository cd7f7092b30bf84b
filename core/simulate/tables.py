"""Direct scores and listwise rankings drawn from known parameters, beside the demo's votes.

The model (ours): response of model m to item i has quality q = θ_m + e_im with e standard Gumbel,
as in `simulate.votes`. A judge feels f = q + slot pull + u + ε. u ~ Logistic(0, idiosyncrasy) is
its lasting view of the response; ε ~ Logistic(0, 1/discrimination) is new in each run.

- Scores: round(5.5 + 1.3·(f + leniency·SPREAD)), cut to 1 … 10; no slots, so no pull. SPREAD is
  about the standard deviation of q over the models and items of the demo.
- Rankings: `candidates` of the models at random are shown in every run, each run in another order.
  The pull is 2·position_bias·(n − 1 − 2·slot)/(n − 1): the first slot gains what the last one
  loses. score = round(50 + 12·f), cut to 0 … 100; ranks by f. A response says itself, where
  warranted, that it is not sure with chance ½·σ(q − mean q of those shown); a run of a judge sees
  that with chance .9 (`calibrated_uncertainty`). It has a major error with chance .4·σ(mean q − q),
  something unsupported with .6·σ(mean q − q), and a run of a judge flags either with chance .9.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidOption
from ..records import FloatArray
from .votes import World, coded_words, demo_world, seeded, write_table

if TYPE_CHECKING:
    import pyarrow as pa


SCORED_ITEMS, SCORE_RUNS = 70, 3
SPREAD = 1.6
RANKED_ITEMS, ORDERS, CANDIDATES = 60, 7, 4


def simulate_scores(world: World, *, items: int, runs: int, rng: np.random.Generator) -> pa.Table:
    """Direct scores of every judge of the world, one row per (item, model, judge, run); people
    score once.
    """
    import pyarrow as pa

    models, quality = _qualities(world, items, rng)
    parts = []
    for code, judge in enumerate(world.judges):
        repeats = runs if judge.rater_type == "llm" else 1
        lasting = judge.idiosyncrasy * rng.logistic(size=quality.shape)
        felt = (quality + lasting)[..., None] + rng.logistic(
            size=(*quality.shape, repeats)
        ) / judge.discrimination
        item, model, run = (grid.ravel() for grid in np.indices(felt.shape))
        score = np.clip(np.round(5.5 + 1.3 * (felt + judge.leniency * SPREAD)), 1, 10).ravel()
        parts.append((item, model, np.full(len(item), code), run, score))
    item, model, judge_code, run, score = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return pa.table(
        {
            "dataset": pa.array([world.dataset] * len(item)),
            "item_id": coded_words([f"scored-{k:04d}" for k in range(items)], item),
            "category": coded_words(
                [entry.name for entry in world.categories], item % len(world.categories)
            ),
            "model": coded_words(models, model),
            "judge": coded_words([entry.name for entry in world.judges], judge_code),
            "run": run,
            "score": score,
            "rater_type": coded_words([entry.rater_type for entry in world.judges], judge_code),
        }
    )


def simulate_rankings(
    world: World, *, items: int, orders: int, rng: np.random.Generator, candidates: int = CANDIDATES
) -> pa.Table:
    """Listwise judgements of the world's LLM judges, one row per (item, judge, run, candidate)."""
    import pyarrow as pa

    if not 2 <= candidates <= len(world.strengths):
        raise InvalidOption(
            f"candidates {candidates}: from 2 to the world's {len(world.strengths)} models"
        )
    models, quality = _qualities(world, items, rng)
    shown = rng.permuted(np.tile(np.arange(len(models)), (items, 1)), axis=1)[:, :candidates]
    true = np.take_along_axis(quality, shown, axis=1)
    best = true == true.max(axis=1, keepdims=True)
    slot = rng.permuted(np.tile(np.arange(candidates), (items, orders, 1)), axis=2)
    slot[:, 0] = np.arange(candidates)  # run 0 is the order as given
    judges = [entry for entry in world.judges if entry.rater_type == "llm"]
    parts = []
    for code, judge in enumerate(judges):
        lasting = judge.idiosyncrasy * rng.logistic(size=true.shape)
        pull = 2 * judge.position_bias * (candidates - 1 - 2 * slot) / (candidates - 1)
        felt = (
            (true + lasting)[:, None] + pull + rng.logistic(size=slot.shape) / judge.discrimination
        )
        rank = 1 + (-felt).argsort(axis=2).argsort(axis=2)
        item, run, place = (grid.ravel() for grid in np.indices(felt.shape))
        score = np.clip(np.round(50 + 12 * felt), 0, 100)
        columns = (shown[item, place], best[item, place], slot, rank, score)
        parts.append(
            (item, run, np.full(len(item), code), *(np.ravel(column) for column in columns))
        )
    item, run, judge_code, model, is_best, slot_of, rank_of, score_of = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    ahead = true - true.mean(axis=1, keepdims=True)
    cautious = rng.random(true.shape) < 0.5 / (1 + np.exp(-ahead))
    # Of each judge, item and run, by the candidate that stands in the order as given.
    shape = (len(judges), *slot.shape)
    seen = cautious[:, None] & (rng.random(shape) < 0.9)
    # Faults are the responses' own, too, and more often those of the worse ones.
    faults = {}
    for name, most in (("major_error", 0.4), ("unsupported", 0.6)):
        faulty = rng.random(true.shape) < most / (1 + np.exp(ahead))
        faults[name] = (faulty[:, None] & (rng.random(shape) < 0.9)).ravel().astype(np.int64)
    return pa.table(
        {
            "dataset": pa.array([world.dataset] * len(item)),
            "item_id": coded_words([f"ranked-{k:04d}" for k in range(items)], item),
            "category": coded_words(
                [entry.name for entry in world.categories], item % len(world.categories)
            ),
            "judge": coded_words([entry.name for entry in judges], judge_code),
            "run": run,
            "candidate": coded_words(models, model),
            "slot": slot_of,
            "score": score_of,
            "rank": rank_of,
            "calibrated_uncertainty": seen.ravel().astype(np.int64),
            **faults,
            "is_best": is_best.astype(np.int64),
        }
    )


def write_demo_scores(path: Path, *, seed: int, items: int = SCORED_ITEMS) -> int:
    """Write the demo's direct scores as CSV and return how many there are."""
    rng = seeded(seed)
    return write_table(simulate_scores(demo_world(), items=items, runs=SCORE_RUNS, rng=rng), path)


def write_demo_rankings(path: Path, *, seed: int, items: int = RANKED_ITEMS) -> int:
    """Write the demo's rankings as CSV and return how many rows there are."""
    rng = seeded(seed)
    return write_table(simulate_rankings(demo_world(), items=items, orders=ORDERS, rng=rng), path)


def _qualities(world: World, items: int, rng: np.random.Generator) -> tuple[list[str], FloatArray]:
    if items < 1:
        raise InvalidOption(f"--items {items}: at least one item")
    strength = np.array([theta for _, theta in world.strengths])
    return [model for model, _ in world.strengths], strength + rng.gumbel(
        size=(items, len(strength))
    )
