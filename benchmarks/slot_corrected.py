"""The slot-corrected winner against plurality on real listwise picks, with all orders and with two.

    python -m benchmarks.slot_corrected [listwise_choices.csv.gz]

Prints Markdown. Balanced: the orders in which every candidate stands in every slot once. Two
orders: the mean over all pairs of the six; intervals are by item.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.rewardbench2 import VOTES
from core.finding.wording import percent, points, points_ends
from core.importers import ReadOptions, read
from core.questions.lists.slots import SlotCorrected, slot_corrected
from core.records import IntArray, ListRankings
from core.schema import Selection
from core.store import Store
from core.store.vote_queries import list_rankings

CHOICES = VOTES.with_name("listwise_choices.csv.gz")

Gains = dict[str, tuple[SlotCorrected, SlotCorrected, tuple[SlotCorrected, ...]]]
"""Judge → with all orders, with balanced ones, and with each pair of orders."""


def gains(path: Path) -> Gains:
    """The comparison for each judge of a file of listwise picks."""
    with Store.open(None) as store:
        for reading in read([(path.name, path)], ReadOptions()):
            store.load(reading)
        rankings = list_rankings(store, Selection())
    return {
        judge: (
            slot_corrected(every),
            slot_corrected(of_runs(every, balanced(every))),
            tuple(slot_corrected(of_runs(every, two)) for two in _pairs(every)),
        )
        for judge, every in rankings.items()
    }


def of_runs(rankings: ListRankings, runs: IntArray) -> ListRankings:
    """The rankings of some runs alone."""
    kept = np.isin(rankings.run, runs)
    columns = (name for name in rankings.__dataclass_fields__ if not name.endswith("s"))
    return replace(rankings, **{name: getattr(rankings, name)[kept] for name in columns})


def balanced(rankings: ListRankings) -> IntArray:
    """As many runs as there are slots, in which every candidate of an item stands in each
    slot once.
    """
    first = rankings.item == np.bincount(rankings.item).argmax()
    slots = int(rankings.slot.max()) + 1
    for some in combinations(np.unique(rankings.run), slots):
        rows = first & np.isin(rankings.run, some)
        places = set(zip(rankings.candidate[rows], rankings.slot[rows], strict=True))
        if len(places) == slots**2:
            return np.array(some)
    raise SystemExit("No runs show every candidate in every slot once.")


def _pairs(rankings: ListRankings) -> list[IntArray]:
    return [np.array(two) for two in combinations(np.unique(rankings.run), 2)]


def table(of_judges: Gains) -> str:
    """Markdown: one row per judge."""
    lines = [
        "| judge | items | plurality, 6 orders | corrected | difference, points | plurality, "
        "4 balanced | difference, points | plurality, 2 | corrected, 2 |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for judge, (every, four, pairs) in of_judges.items():
        before = float(np.mean([pair.plurality.value for pair in pairs]))
        after = float(np.mean([pair.right.value for pair in pairs]))
        lines.append(
            f"| {judge} | {every.right.n:,} | {percent(every.plurality.value, 1)} | "
            f"{percent(every.right.value, 1)} | {points(every.change.value)} "
            f"{points_ends(every.change)} | {percent(four.plurality.value, 1)} | "
            f"{points(four.change.value)} {points_ends(four.change)} | "
            f"{percent(before, 1)} | {percent(after, 1)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=CHOICES)
    print(table(gains(parser.parse_args().path)))
