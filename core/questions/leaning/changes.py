"""Does a change that should not matter, or an attack inside a response, move a judge's verdicts?

The same items were judged as they are and with a change. A change of one response, which of the two
is fixed at random by item, moves verdicts if that response is preferred more often with it: noise
flips verdicts both ways alike, so it cannot pass for a shift, repeats or not. A change of both
sides has no direction, and counts as flips beyond those of repeats.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...records import FloatArray, OrderCounts
from ...schema import Perturbed
from ...stats.estimate import Estimate
from ...stats.intervals import item_means, mean_interval

ATTACK = "attack"
"""A change whose name begins so asks for the verdict; what it loses by asking is no fault."""

ChangeKind = Literal["attack", "one_side", "both_sides"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a change did to a judge's verdicts.

    effect : by item, at a level shared by all changes of the judge (Bonferroni). Of one side the
        mean of [P(changed response) with − without], a tie ½; of both sides flips beyond those of
        repeats; None without repeats.
    flips : share of verdicts that differ from one without the change, noise among them.
    """

    name: str
    kind: ChangeKind
    effect: Estimate | None
    flips: float
    n_items: int


def changes(
    votes: Iterable[tuple[Perturbed, OrderCounts, OrderCounts]], *, level: float = 0.95
) -> dict[str, tuple[Change, ...]]:
    """The changes of each judge, from its votes without and with each, in the order of their names.

    Votes are compared on the same comparison in the same shown order. With shares p and q of the
    votes −1, 0 and +1 without and with the change: of one side (side = ±1) ½·side·Σ vote·(q − p);
    of both sides 1 − Σ p·q minus 1 − Σ n·p·(n·p − 1)/(n·(n − 1)) of n ≥ 2 repeats without it. Rows
    are averaged to items.
    """
    parts: dict[tuple[str, str], list[FloatArray]] = defaultdict(list)
    for meant, plain, changed in votes:
        parts[meant.judge, meant.change].append(_matched(meant.side, plain, changed))
    rows = {
        key: joined for key, each in sorted(parts.items()) if len(joined := np.concatenate(each))
    }
    tried = Counter(judge for judge, _ in rows)
    found: dict[str, tuple[Change, ...]] = {}
    for (judge, change), each in rows.items():
        one = _change(change, each, 1 - (1 - level) / tried[judge])
        found[judge] = (*found.get(judge, ()), one)
    return found


def _matched(side: int, plain: OrderCounts, changed: OrderCounts) -> FloatArray:
    """Rows of comparison and order: item, side, shift, flips, and disagreement of repeats (NaN
    without).
    """
    _, here, there = np.intersect1d(plain.comparison, changed.comparison, return_indices=True)
    own = np.concatenate([plain.ab[here], plain.ba[here]])
    other = np.concatenate([changed.ab[there], changed.ba[there]])
    both = (own.sum(axis=1) > 0) & (other.sum(axis=1) > 0)
    own, other, item = own[both], other[both], np.tile(plain.item[here], 2)[both]
    n = own.sum(axis=1)
    p, q = own / n[:, None], other / other.sum(axis=1)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        noise = 1 - (own * (own - 1)).sum(axis=1) / (n * (n - 1))
    shift = side * ((q - p) @ np.array([-0.5, 0.0, 0.5]))
    return np.stack([item, np.full(len(n), side), shift, 1 - (p * q).sum(axis=1), noise], axis=1)


def _change(name: str, rows: FloatArray, level: float) -> Change:
    side, shift, flips, noise = rows[:, 1:].T
    item, one_sided = rows[:, 0].astype(np.int64), bool(side.all())
    value = shift if one_sided else flips - noise
    known = ~np.isnan(value)
    effect = None
    if known.any():
        means = item_means(item[known], value[known])
        effect = mean_interval(np.arange(len(means)), means, ends=(-1.0, 1.0), level=level)
    attack = one_sided and name.startswith(ATTACK)
    return Change(
        name=name,
        kind="attack" if attack else "one_side" if one_sided else "both_sides",
        effect=effect,
        flips=float(item_means(item, flips).mean()),
        n_items=len(np.unique(item)),
    )
