"""What the check robustness finds of what was planted: `python -m benchmarks.perturbed`.

Judges vote on items as they are and with a change. False alarms where the change moves nothing,
however noisy the judge is, and the share of draws in which a judge that obeys an attack fails. The
draws share no code with the check.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.auditing.options import AuditOptions
from core.finding.check import CheckResult
from core.finding.evidence import Counted
from core.questions.leaning.check import ROBUSTNESS
from core.records import NO_GOLD, OrderCounts
from core.schema import Perturbed
from core.store.browse import Summary

DRAWS = 400
NOMINAL = 0.05
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A judge, and what a change does to its votes.

    sides : the change is in one response, drawn by item; else in both.
    votes : per item and order.  orders : 1 or 2.
    spread : SD of an item's log odds: 0 is a coin, 8 nearly always the same vote.
    slot : log odds for the response shown first.  ties : probability of one.
    obeys : probability that a vote is for the changed response, whatever it is; below 0 against it.
    changes : how many changes were tried.
    """

    name: str
    items: int
    sides: bool = True
    votes: int = 1
    orders: int = 2
    spread: float = 2.0
    slot: float = 0.0
    ties: float = 0.1
    obeys: float = 0.0
    changes: int = 1


def counts(vote: Array) -> Array:
    """(items, 3) votes −1, 0, +1 out of (items, votes)."""
    return np.stack([(vote == label).sum(axis=1) for label in (-1, 0, 1)], axis=1).astype(np.int64)


def voted(planted: Planted, odds: Array, side: Array, rng: np.random.Generator) -> OrderCounts:
    """Votes of one judge on all items; side is 0 where nothing was changed."""
    shown = {}
    for place, order in enumerate(("ab", "ba")):
        sign = 1 - 2 * place
        p = 1 / (1 + np.exp(-(odds + sign * planted.slot)))
        size = (planted.items, planted.votes if place < planted.orders else 0)
        vote = np.where(rng.random(size) < p[:, None], 1, -1)
        vote[rng.random(size) < planted.ties] = 0
        led = (rng.random(size) < abs(planted.obeys)) & (side != 0)[:, None]
        told = np.broadcast_to((np.sign(planted.obeys) * side)[:, None], size)
        shown[order] = counts(np.where(led, told, vote))
    codes = np.arange(planted.items)
    return OrderCounts(comparison=codes, item=codes, gold=np.full(planted.items, NO_GOLD), **shown)


def grades(
    planted: Planted, draws: int, rng: np.random.Generator, *, attack: bool = False
) -> Counter[str]:
    """What the check says in so many draws."""
    found: Counter[str] = Counter()
    for _ in range(draws):
        odds = rng.normal(0, planted.spread, planted.items)
        plain = voted(planted, odds, np.zeros(planted.items), rng)
        rows = []
        for number in range(planted.changes):
            side = rng.choice([-1, 1], planted.items) if planted.sides else np.zeros(planted.items)
            changed = voted(planted, odds, side, rng)
            name = f"{'attack' if attack else 'change'}-{number}"
            for value in sorted(set(side)):
                kept = side == value
                part = OrderCounts(
                    **{field: getattr(changed, field)[kept] for field in OrderCounts.__slots__}
                )
                rows.append((Perturbed(judge="judge", change=name, side=int(value)), plain, part))
        found[checked(rows).grade] += 1
    return found


NOBODY = Summary(
    votes=0, items=0, comparisons=0, unparsed=0, statuses={}, datasets=(), judges=(), models=(),
    categories={}, simulated=False,
)  # fmt: skip


def checked(rows: list[tuple[Perturbed, OrderCounts, OrderCounts]]) -> CheckResult:
    """What the check of the product says of these votes, the only ones that it asks for."""
    counted = Counted(lambda query: rows, NOBODY, AuditOptions(splits=0))
    return ROBUSTNESS.result(counted.of("judge"))


def harmless() -> Iterator[Planted]:
    """Changes that move nothing, of judges from a coin to one that always says the same."""
    for items, sides, votes, spread, slot in itertools.product(
        (10, 30, 100, 300), (True, False), (1, 4), (0.0, 2.0, 8.0), (0.0, 1.0)
    ):
        if not sides and votes == 1:
            continue
        where = "one response" if sides else "both"
        name = f"change of {where}, {votes} votes per order, spread {spread:g}, slot {slot:g}"
        yield Planted(name=name, items=items, sides=sides, votes=votes, spread=spread, slot=slot)
    for items in (30, 100):
        yield Planted(
            name="change of one response, one order only", items=items, orders=1, slot=1.0
        )
        yield Planted(name="seven changes", items=items, changes=7)


def alarms(found: Counter[str]) -> int:
    """Draws with a warning or a failure."""
    return found["warn"] + found["fail"]


def most_by_chance(draws: int) -> float:
    """Share of false alarms that pooled draws may show."""
    return NOMINAL + 2 * math.sqrt(NOMINAL * (1 - NOMINAL) / draws)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS)
    draws = parser.parse_args().draws
    rng = np.random.default_rng(0)
    pooled: dict[int, Counter[str]] = {}
    for one in harmless():
        found = grades(one, draws, rng)
        pooled.setdefault(one.items, Counter()).update(found)
        if alarms(found) > draws * most_by_chance(draws):
            print(f"- {one.items} items, {one.name}: {alarms(found)} of {draws}")
    print("\n| items | false alarms | draws |\n|--:|--:|--:|")
    for items, found in pooled.items():
        print(f"| {items} | {alarms(found) / found.total():.3f} | {found.total():,} |")
    heads = ("judge that obeys", "items", "votes per order", "warns or fails", "fails", "ok")
    print(f"\n| {' | '.join(heads)} |\n|{'--:|' * len(heads)}")
    for obeys, items, votes in itertools.product((0.0, 0.1, 0.3, 0.5, 1.0), (30, 100, 300), (1, 4)):
        given = grades(
            Planted(name="", items=items, votes=votes, obeys=obeys), draws, rng, attack=True
        )
        shares = [alarms(given) / draws, given["fail"] / draws, given["ok"] / draws]
        print(
            f"| {obeys:.0%} | {items} | {votes} | "
            + " | ".join(f"{share:.2f}" for share in shares)
            + " |"
        )


if __name__ == "__main__":
    main()
