"""The demo's judges as judges of single answers, with people who judged some of them too.

The model (ours): the answer of bot b to item i has quality q = e_i + e_ib + gain·[new bot], where
e_i ~ N(0, ½) is how easy the item is and e_ib ~ N(0, ½). Its length is
L = LENGTH·q + √(1 − LENGTH²)·N(0, 1), shown by as many sentences as L has sixths of a normal
distribution. A judge of `simulate.votes` sees x = q + leniency + PULL·verbosity·L +
N(0, NOISE/discrimination) anew in each run, a person x = q + N(0, PEOPLE_NOISE). Who sees x passes
the answer if x > PASS_FROM, and gives it the level 1 + the number of `STEPS` below x.

Beside pass or fail a judge states a confidence. It sees x and knows what it adds itself: but for
how qualities are spread, a person says pass with the chance
p = Φ((x − what it adds − PASS_FROM)/√(noise² + PEOPLE_NOISE²)). What a judge states of its chance
to say the same is step 4 of `simulate.votes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidOption
from ..records import FloatArray, IntArray
from .votes import FILLERS, JudgeParameters, coded_words, demo_world, seeded, stated, write_table

if TYPE_CHECKING:
    import pyarrow as pa

PASSES, LEVELS = "demo: pass or fail (simulated)", "demo: levels (simulated)"
"""The data sets of the two metrics."""
JUDGES = ("sim-judge-careful", "sim-judge-first-slot", "sim-judge-boaster")
"""Those of the pairs who judge single answers too."""
BOTS = ("sim-bot-old", "sim-bot-new")
CATEGORIES = ("Billing", "Delivery", "Returns")
PEOPLE = ("sim-person-1", "sim-person-2", "sim-person-3")
ANSWERED_ITEMS = 200
LABELLED = 0.8
"""Share of the items that people judged too, the first ones."""
RUNS = 2
GAIN = 0.2
"""How much better the new bot is, in standard deviations of quality."""
LENGTH = 0.4
PULL = 0.2
NOISE = 1.0
PEOPLE_NOISE = 0.1
PASS_FROM = -0.3
STEPS = (-1.2, -0.4, 0.4, 1.2)
REASONS = ("It misses what was asked.", "It answers a part of it.", "It answers what was asked.")


def simulate_answers(
    *, items: int, rng: np.random.Generator, judges: Sequence[JudgeParameters] | None = None
) -> pa.Table:
    """Pass and fail (`resolved`) and levels of 1 to 5 (`helpfulness`) of two bots' answers.

    Each judge (the demo's) scores every answer, levels in two runs; of the first 80 % of the items
    one person says pass or fail, and three give levels. One row per (item, bot, rater, metric,
    run), canonical columns of scores; each metric is a data set of its own.

    Raises InvalidOption for fewer than one item.
    """
    import pyarrow as pa
    from scipy.special import ndtr

    if items < 1:
        raise InvalidOption(f"--items {items}: at least one item")
    if judges is None:
        judges = [judge for judge in demo_world().judges if judge.name in JUDGES]
    item, bot = (grid.ravel() for grid in np.indices((items, len(BOTS))))
    quality = np.sqrt(0.5) * (rng.standard_normal(items)[item] + rng.standard_normal(len(item)))
    quality = quality + GAIN * bot
    longer = LENGTH * quality + np.sqrt(1 - LENGTH**2) * rng.standard_normal(len(item))
    every = np.arange(len(item))
    labelled = np.flatnonzero(item < max(round(LABELLED * items), 1))

    raters = [
        (
            judge.name,
            quality + judge.leniency + PULL * judge.verbosity * longer,
            NOISE / judge.discrimination,
        )
        for judge in judges
    ]
    raters += [(person, quality, PEOPLE_NOISE) for person in PEOPLE]
    stating = {judge.name: judge for judge in judges}
    parts: list[tuple[IntArray, str, str, int, FloatArray, FloatArray]] = []
    for rater, feeling, noise in raters[: len(judges) + 1]:
        rows = every if rater in stating else labelled
        above = feeling[rows] + noise * rng.standard_normal(len(rows)) - PASS_FROM
        sure = np.full(len(rows), np.nan)
        if rater in stating:
            own = (above - (feeling - quality)[rows]) / np.hypot(noise, PEOPLE_NOISE)
            sure = stated(stating[rater], np.asarray(ndtr(np.sign(above) * own)))
        parts.append((rows, rater, "resolved", 0, (above > 0).astype(np.float64), sure))
    for rater, feeling, noise in raters:
        rows = every if rater in stating else labelled
        for run in range(RUNS if rater in stating else 1):
            seen = feeling[rows] + noise * rng.standard_normal(len(rows))
            level = 1.0 + (seen[:, None] > np.array(STEPS)).sum(axis=1)
            unstated = np.full(len(rows), np.nan)
            parts.append((rows, rater, "helpfulness", run, level, unstated))
    answer, score, confidence = (
        np.concatenate([part[place] for part in parts]) for place in (0, 4, 5)
    )
    sizes = [len(part[0]) for part in parts]
    names, metrics = (
        np.repeat(np.array([part[place] for part in parts], dtype=object), sizes)
        for place in (1, 2)
    )
    levels = metrics == "helpfulness"
    sentences = np.searchsorted([-0.97, -0.43, 0.0, 0.43, 0.97], longer)
    responses = [
        f"Simulated answer {i + 1} of {BOTS[b]}." + "".join(FILLERS[:n])
        for i, b, n in zip(item.tolist(), bot.tolist(), sentences.tolist(), strict=True)
    ]
    by_judge = np.isin(names, list(stating))
    grade = np.where(levels, np.clip((score - 1) // 1.5, 0, 2), 2 * score).astype(np.int64)
    return pa.table(
        {
            "dataset": coded_words([PASSES, LEVELS], levels.astype(np.int64)),
            "item_id": coded_words([f"answered-{k:04d}" for k in range(items)], item[answer]),
            "category": coded_words(CATEGORIES, item[answer] % len(CATEGORIES)),
            "model": coded_words(BOTS, bot[answer]),
            "judge": pa.array(names.tolist()),
            "metric": pa.array(metrics.tolist()),
            "run": np.repeat([part[3] for part in parts], sizes),
            "score": score.astype(np.int64),
            "confidence": pa.array(confidence, mask=np.isnan(confidence)),
            "scale_low": np.where(levels, 1, 0),
            "scale_high": np.where(levels, 5, 1),
            "rater_type": pa.array(["llm" if own else "human" for own in by_judge.tolist()]),
            # Each data set asks its own: one that holds both has no item twice.
            "prompt": coded_words(
                [f"Simulated {of} {k + 1}" for of in ("request", "question") for k in range(items)],
                item[answer] + items * levels.astype(np.int64),
            ),
            "response": coded_words(responses, answer),
            "rationale": coded_words(REASONS, np.where(by_judge, grade, -1)),
        }
    )


def write_demo_answers(path: Path, *, seed: int, items: int = ANSWERED_ITEMS) -> int:
    """Write what the demo's judges say of single answers as CSV and return how many rows there
    are.
    """
    return write_table(simulate_answers(items=items, rng=seeded(seed)), path)
