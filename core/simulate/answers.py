"""A judge of single answers drawn from known parameters, with people who judged some of them too.

The model (ours): the answer of bot b to item i has quality q = e_i + e_ib + gain·[new bot], where
e_i ~ N(0, ½) is how easy the item is and e_ib ~ N(0, ½). Its length is
L = LENGTH·q + √(1 − LENGTH²)·N(0, 1), shown by as many sentences as L has sixths of a normal
distribution. A rater sees x = q + leniency + length·L + favour·[new bot] + category + N(0, noise)
anew in each run; it passes the answer if x > PASS_FROM, and its level is
1 + the number of `STEPS` below x. People differ from each other by their noise alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidOption
from ..records import FloatArray, IntArray
from .votes import FILLERS, coded_words, seeded, write_table

if TYPE_CHECKING:
    import pyarrow as pa

DATASET = "demo (simulated)"
BOTS = ("sim-bot-old", "sim-bot-new")
CATEGORIES = ("Billing", "Delivery", "Returns")
PEOPLE = ("sim-person-1", "sim-person-2", "sim-person-3")
ANSWERED_ITEMS = 150
LABELLED = 0.7
"""Share of the items that people judged too, the first ones."""
RUNS = 2
GAIN = 0.2
"""How much better the new bot is, in standard deviations of quality."""
LENGTH = 0.4
NOISE = 0.4
PASS_FROM = -0.3
STEPS = (-1.2, -0.4, 0.4, 1.2)
REASONS = ("It misses what was asked.", "It answers a part of it.", "It answers what was asked.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreJudge:
    """What a judge of single answers adds to quality, in its standard deviations.

    length : per standard deviation of length.  favour : to the new bot.  category : to the last of
    `CATEGORIES`.
    """

    name: str = "sim-scorer-generous"
    leniency: float = 0.3
    length: float = 0.15
    favour: float = 0.3
    category: float = 0.3


def simulate_answers(
    *, items: int, rng: np.random.Generator, judge: ScoreJudge | None = None
) -> pa.Table:
    """Pass and fail (`resolved`) and levels of 1 to 5 (`helpfulness`) of two bots' answers.

    The judge scores every answer, levels in two runs; of the first 70 % of the items one person
    says pass or fail, and three give levels. One row per (item, bot, rater, metric, run), canonical
    columns of scores.

    Raises InvalidOption for fewer than one item.
    """
    import pyarrow as pa

    if items < 1:
        raise InvalidOption(f"--items {items}: at least one item")
    judge = judge or ScoreJudge()
    item, bot = (grid.ravel() for grid in np.indices((items, len(BOTS))))
    quality = np.sqrt(0.5) * (rng.standard_normal(items)[item] + rng.standard_normal(len(item)))
    quality = quality + GAIN * bot
    longer = LENGTH * quality + np.sqrt(1 - LENGTH**2) * rng.standard_normal(len(item))
    category = item % len(CATEGORIES)
    pulled = quality + judge.leniency + judge.length * longer + judge.favour * bot
    pulled = pulled + judge.category * (category == len(CATEGORIES) - 1)
    every = np.arange(len(item))
    labelled = np.flatnonzero(item < max(round(LABELLED * items), 1))

    def seen(feeling: FloatArray, rows: IntArray) -> FloatArray:
        return feeling[rows] + NOISE * rng.standard_normal(len(rows))

    parts: list[tuple[IntArray, str, str, int, FloatArray]] = []
    for rater, feeling, rows in ((judge.name, pulled, every), (PEOPLE[0], quality, labelled)):
        passed = (seen(feeling, rows) > PASS_FROM).astype(np.float64)
        parts.append((rows, rater, "resolved", 0, passed))
    for rater in (judge.name, *PEOPLE):
        feeling, rows = (pulled, every) if rater == judge.name else (quality, labelled)
        for run in range(RUNS if rater == judge.name else 1):
            level = 1.0 + (seen(feeling, rows)[:, None] > np.array(STEPS)).sum(axis=1)
            parts.append((rows, rater, "helpfulness", run, level))
    answer, score = (np.concatenate([part[place] for part in parts]) for place in (0, 4))
    sizes = [len(part[0]) for part in parts]
    raters, metrics = (
        np.repeat(np.array([part[place] for part in parts], dtype=object), sizes)
        for place in (1, 2)
    )
    levels = metrics == "helpfulness"
    sentences = np.searchsorted([-0.97, -0.43, 0.0, 0.43, 0.97], longer)
    responses = [
        f"Simulated answer {i + 1} of {BOTS[b]}." + "".join(FILLERS[:n])
        for i, b, n in zip(item.tolist(), bot.tolist(), sentences.tolist(), strict=True)
    ]
    of_judge = raters == judge.name
    grade = np.where(levels, np.clip((score - 1) // 1.5, 0, 2), 2 * score).astype(np.int64)
    return pa.table(
        {
            "dataset": pa.array([DATASET] * len(answer)),
            "item_id": coded_words([f"answered-{k:04d}" for k in range(items)], item[answer]),
            "category": coded_words(CATEGORIES, category[answer]),
            "model": coded_words(BOTS, bot[answer]),
            "judge": pa.array(raters.tolist()),
            "metric": pa.array(metrics.tolist()),
            "run": np.repeat([part[3] for part in parts], sizes),
            "score": score.astype(np.int64),
            "scale_low": np.where(levels, 1, 0),
            "scale_high": np.where(levels, 5, 1),
            "rater_type": pa.array(["llm" if own else "human" for own in of_judge.tolist()]),
            "prompt": coded_words(
                [f"Simulated question {k + 1}" for k in range(items)], item[answer]
            ),
            "response": coded_words(responses, answer),
            "rationale": coded_words(REASONS, np.where(of_judge, grade, -1)),
        }
    )


def write_demo_answers(path: Path, *, seed: int, items: int = ANSWERED_ITEMS) -> int:
    """Write the demo's judge of single answers as CSV and return how many rows there are."""
    return write_table(simulate_answers(items=items, rng=seeded(seed)), path)
