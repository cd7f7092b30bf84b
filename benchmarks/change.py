"""How often what moved between two files, or along a series, is found: simulated judges in both
orders, whose votes are drawn by code that shares nothing with the methods.

    python -m benchmarks.change [--draws 300] [--items 300] [--only two series]

Prints Markdown. The steady judge is right on 85 % of items with .98 and wrong on the others as
often; the wavering one has a chance of its own for each item (Beta with 1.7 and .3).
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from core.questions.change.charts import vote_charts
from core.questions.change.votes import SideVotes, shifts
from core.records import FloatArray, OrderCounts, PositionCounts, VoteCounts

ITEMS, DRAWS = 300, 300
FALL = 0.05
FALLS_FROM = 6
"""Files of a series before its judge falls."""
JUDGES = ("steady", "wavering")

Ways = dict[str, Counter[str]]
"""By measure: number of draws in which it is said to rise, to fall, to stay."""


def chances(kind: str, items: int, fall: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """A judge's chances to be right, (items,), and those after some items that it had right turned
    so that its accuracy fell by `fall`.
    """
    if kind == "steady":
        right = np.where(rng.random(items) < 0.85, 0.98, 0.02)
    else:
        right = rng.beta(1.7, 0.3, items)
    turned = rng.random(items) < fall / max(float((2 * right - 1)[right > 0.5].sum() / items), 1e-9)
    return right, np.where(turned & (right > 0.5), 1 - right, right)


def draw(right: FloatArray, rng: np.random.Generator, runs: int, first: float = 0.0) -> SideVotes:
    """Votes that are right with a probability by item, in both orders; with probability `first` the
    response shown first wins instead.
    """
    items = np.arange(len(right))
    gold = np.where(items % 2, 1, -1)
    orders = []
    for sign in (1, -1):
        is_right = rng.random((len(right), runs)) < right[:, None]
        vote = np.where(is_right, gold[:, None], -gold[:, None])
        vote = np.where(rng.random(vote.shape) < first, sign, vote)
        orders.append(vote)
    ab, ba = orders
    tallies = [
        np.stack([(votes == each).sum(axis=1) for each in (-1, 0, 1)], axis=1) for votes in orders
    ]
    minus, tie, plus = (tallies[0] + tallies[1]).T
    none = np.zeros(len(right), dtype=np.int64)
    placed = PositionCounts(
        comparison=items,
        item=items,
        category=none,
        categories=("",),
        first=((ab == 1).sum(axis=1) + (ba == -1).sum(axis=1)),
        second=((ab == -1).sum(axis=1) + (ba == 1).sum(axis=1)),
        tie=none,
        pairs=np.full(len(right), runs),
        flips=(ab != ba).sum(axis=1),
        hard_flips=(ab != ba).sum(axis=1),
        slot_sum=(ab - ba).sum(axis=1),
        same_order_pairs=none,
        same_order_disagreements=none,
        margin=np.full(len(right), np.nan),
    )
    about = {"comparison": items, "item": items, "gold": gold}
    return SideVotes(
        counts=VoteCounts(**about, plus=plus, tie=tie, minus=minus),
        orders=OrderCounts(**about, ab=tallies[0], ba=tallies[1]),
        placed=placed,
        stated=None,
        others=None,
    )


def two_files(
    kind: str,
    fall: float,
    seed: int,
    *,
    runs: int = 1,
    first: tuple[float, float] = (0, 0),
    draws: int = DRAWS,
    items: int = ITEMS,
) -> Ways:
    """What `--against` says of a file and a later one."""
    rng = np.random.default_rng(seed)
    ways: Ways = defaultdict(Counter)
    for _ in range(draws):
        before, after = chances(kind, items, fall, rng)
        sides = draw(before, rng, runs, first[0]), draw(after, rng, runs, first[1])
        for each in shifts("j", *sides):
            ways[each.measure][each.way] += 1
    return ways


def file_series(
    kind: str,
    fall: float,
    files: int,
    seed: int,
    *,
    first: float = 0.0,
    draws: int = DRAWS,
    items: int = ITEMS,
) -> Ways:
    """What `--series` says of files in one order of time; the judge falls before the seventh."""
    rng = np.random.default_rng(seed)
    ways: Ways = defaultdict(Counter)
    for _ in range(draws):
        before, after = chances(kind, items, fall, rng)
        sides = {
            file: draw(before if file < FALLS_FROM else after, rng, 1, first)
            for file in range(files)
        }
        for chart in vote_charts("j", sides):
            if chart.way is not None:
                ways[chart.measure][chart.way] += 1
    return ways


def of_two(draws: int, items: int) -> Iterator[str]:
    """False alarms of two files, and falls that are found with one, two and four runs."""
    yield f"| two files, {items} items, {draws} draws | steady | wavering |"
    yield "|---|--:|--:|"
    for first in (0.0, 0.2):
        shares = []
        for kind in JUDGES:
            ways = two_files(kind, 0.0, 11, first=(first, first), draws=draws, items=items)
            alarms = [of[way] / draws for of in ways.values() for way in ("rises", "falls")]
            shares.append(f"{min(alarms):.3f} to {max(alarms):.3f}")
        yield f"| false alarms, {first:.0%} for the response shown first | {' | '.join(shares)} |"
    for runs in (1, 2, 4):
        ways = [two_files(kind, FALL, 12, runs=runs, draws=draws, items=items) for kind in JUDGES]
        yield f"| a fall of 5 points found, {runs} run{'s' * (runs > 1)} | {_falls(ways, draws)} |"


def of_series(draws: int, items: int) -> Iterator[str]:
    """Charts beyond their limits by chance, and lasting falls that are found."""
    yield f"| series, {items} items a file, {draws} draws | steady | wavering |"
    yield "|---|--:|--:|"
    still = [file_series(kind, 0.0, 10, 21, first=0.2, draws=draws, items=items) for kind in JUDGES]
    for measure in ("accuracy", "position", "flips"):
        shares = [f"{1 - ways[measure]['stays'] / draws:.3f}" for ways in still]
        yield f"| {measure} beyond its limits in ten files by chance | {' | '.join(shares)} |"
    for files in (10, 14):
        ways = [file_series(kind, FALL, files, 22, draws=draws, items=items) for kind in JUDGES]
        yield f"| a fall of 5 points found by file {files} | {_falls(ways, draws)} |"


def _falls(ways: Sequence[Ways], draws: int) -> str:
    return " | ".join(f"{of['accuracy']['falls'] / draws:.2f}" for of in ways)


PARTS = {"two": of_two, "series": of_series}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.change",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--items", type=int, default=ITEMS, help="of each file")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args(arguments)
    for part in options.only:
        print("\n".join(PARTS[part](options.draws, options.items)), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
