"""Several files of one judge, such as one a week: `python -m benchmarks.weekly [--draws 500]`.

Files of votes on the same items are drawn with a known truth, read together, and counted. Printed
are how often the 95 % interval of accuracy holds the truth, its width beside that of one file with
a column of runs, how often `one_judge` warns of a judge that did not change and of one that fell by
15 points; and how often labels alone take two files for the same items.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from core.importers import read
from core.importers.same_items import FEWEST_LABELS, LABEL_KAPPA, kappa_of_labels
from core.questions.accuracy.method import half_credit
from core.questions.one_judge.method import between_files
from core.schema import Selection
from core.stats.estimate import Estimate
from core.store import Store
from core.store import vote_queries as queries
from core.store.file_queries import by_file

DRAWS, WEEKS = 500, 8
EASY, HARD, HARD_SHARE = 0.98, 0.65, 0.4
"""A judge is right on easy and hard items so often, and again on the same ones."""
FEW_HARD = 0.18
TRUTH = EASY + (HARD - EASY) * HARD_SHARE
SAID = "item_id,judge,vote,gold"


def weeks(
    rng: np.random.Generator, items: int, fall: Sequence[float], *, hard: float = HARD_SHARE
) -> list[np.ndarray]:
    """Votes and gold of each week, (2, items); the judge is right less often by `fall` of it.

    hard : share of hard items.
    """
    right = np.where(rng.random(items) < hard, HARD, EASY)
    gold = rng.choice([1, -1], items)
    return [
        np.stack([np.where(rng.random(items) < right - less, gold, -gold), gold]) for less in fall
    ]


def as_files(votes: Sequence[np.ndarray]) -> list[tuple[str, bytes]]:
    """A CSV a week."""
    return [
        (
            f"week{week}.csv",
            "\n".join([SAID, *(f"q{i},j,{v},{g}" for i, (v, g) in enumerate(both.T))]).encode(),
        )
        for week, both in enumerate(votes, 1)
    ]


def as_one_file(votes: Sequence[np.ndarray]) -> list[tuple[str, bytes]]:
    """The same votes with a column of runs."""
    lines = [f"{SAID},run"]
    for run, both in enumerate(votes):
        lines += [f"q{i},j,{v},{g},{run}" for i, (v, g) in enumerate(both.T)]
    return [("all.csv", "\n".join(lines).encode())]


def accuracy(files: list[tuple[str, bytes]]) -> tuple[Estimate, bool]:
    """Accuracy by the product, and whether `one_judge` warns."""
    with Store.holding(read(files)) as store:
        counts = queries.vote_counts(store, Selection())["j"]
        judged = by_file(store, Selection()).get(("j", None))
    right, found = half_credit(counts), judged and between_files(judged)
    assert right is not None
    return right, bool(found and found.shown)


def steady(draws: int, *, items: int = 120, seed: int = 0) -> tuple[float, float, float]:
    """Coverage, widest relative difference to the width of one file (each tenth draw), and share of
    warnings.
    """
    rng = np.random.default_rng(seed)
    held, warned, wider = 0, 0, 0.0
    for draw in range(draws):
        votes = weeks(rng, items, [0.0] * WEEKS)
        right, warns = accuracy(as_files(votes))
        held += right.low <= TRUTH <= right.high
        warned += warns
        if draw % 10:
            continue
        one, _ = accuracy(as_one_file(votes))
        wider = max(wider, abs((right.high - right.low) / (one.high - one.low) - 1))
    return held / draws, wider, warned / draws


def warnings(
    draws: int, *, fall: float, hard: float = HARD_SHARE, items: int = 200, seed: int = 1
) -> float:
    """Share of pairs of files of which `one_judge` warns, where the judge fell."""
    rng = np.random.default_rng(seed)
    drawn = (weeks(rng, items, [0.0, fall], hard=hard) for _ in range(draws))
    return sum(accuracy(as_files(votes))[1] for votes in drawn) / draws


def joined(draws: int, *, common: int, same: bool, levels: int, seed: int = 2) -> float:
    """Share of pairs of files whose labels alone make them of the same items; of the same items 3 %
    of the labels were corrected.

    levels : 2 is pass or fail, of which 70 % pass.
    """
    rng = np.random.default_rng(seed)
    share = [0.3, 0.7] if levels == 2 else None
    found = 0
    for _ in range(draws):
        first, other = rng.choice(levels, (2, common), p=share).astype(float)
        if same:
            other = np.where(rng.random(common) < 0.03, other, first)
        found += kappa_of_labels(first, other) >= LABEL_KAPPA
    return found / draws


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weekly", description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS)
    draws = parser.parse_args(arguments).draws
    held, wider, warned = steady(draws)
    print(f"{WEEKS} weeks of a steady judge, 120 items, {draws} draws: covers {held:.3f}")
    print(f"width beside one file with {WEEKS} runs: differs by at most {wider:.1%}")
    print(f"one_judge warns of it in {warned:.3f}")
    print(f"one_judge warns of two equal weeks in {warnings(draws, fall=0.0):.3f}")
    for hard in (HARD_SHARE, FEW_HARD):
        before = EASY + (HARD - EASY) * hard
        print(
            f"one_judge warns of a fall of 15 points from {before:.0%}, 200 items, in "
            f"{warnings(draws, fall=0.15, hard=hard):.3f}"
        )
    for levels in (2, 5):
        for common in (FEWEST_LABELS, 20, 50):
            apart = 1 - joined(draws, common=common, same=True, levels=levels)
            together = joined(draws, common=common, same=False, levels=levels)
            print(
                f"labels of {levels} values, {common} in common: same items kept apart "
                f"{apart:.3f}, other items joined {together:.3f}"
            )


if __name__ == "__main__":
    main()
