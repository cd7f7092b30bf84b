"""Is a version better than another, by labels only where the two part: valid whenever one stops.

docs/methods.md §13.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from ...records import FloatArray

STAKES = np.array((0.06, 0.12, 0.20, 0.30, 0.42, 0.56, 0.72, 0.88))
ALPHA = 0.05
"""Probability at most that any try of a session claims a gain where there is none."""
FEWEST_LABELS = 12
"""Labels from which a try whose losses do not favour it is given up."""
MOST_LABELS = 60
"""Labels of a try, unless more are allowed."""
State = Literal["better", "worse", "not_shown", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Where a try stands.

    state : `not_shown` where it was given up or is out of labels, `open` where labels go on.
    attempt : number of the try.  labels : of parted items; `right` of them favour the newer,
        `wrong` the older version.
    parted : share of all items on which the two part.
    low, high : bounds of the gain over all items, valid whenever one stops.
    labels_wanted : more labels that most likely decide; None where the labels do not favour it.
    """

    state: State
    attempt: int
    labels: int
    right: int
    wrong: int
    parted: float
    low: float
    high: float
    labels_wanted: int | None


def spent(attempt: int, alpha: float = ALPHA) -> float:
    """What a try may spend of the probability of a false claim: α·6/(π²k²), which sums to α."""
    return alpha * 6 / (math.pi * attempt) ** 2


def log_wealth(d: FloatArray, m: float = 0.0) -> FloatArray:
    """Logarithm of mean over stakes s of Π(1 + s(d − m)/(1 + m)), after each label.

    d : (n,) loss(old) − loss(new) of each label in order, −1 to 1.  m : −1 < m < 1, the mean that
    is bet against. Where d has a mean of m at most, it exceeds 1/a with probability a at most,
    whenever one looks (Ville 1939).
    """
    bets = np.log1p(STAKES[:, None] * (np.asarray(d, dtype=np.float64) - m) / (1 + m)).cumsum(
        axis=1
    )
    top = bets.max(axis=0)
    wealth: FloatArray = top + np.log(np.exp(bets - top).mean(axis=0))
    return wealth


def bounds(d: FloatArray, a: float) -> tuple[float, float]:
    """The mean of d lies between them but for a probability of a on each side, whenever one looks;
    never wider with a further label. On a grid of .01.
    """
    if not len(d):
        return -1.0, 1.0
    grid, needed = np.arange(-0.99, 0.995, 0.01), -math.log(a)
    low = [m for m in grid if log_wealth(d, float(m)).max() >= needed]
    high = [m for m in grid if log_wealth(-d, -float(m)).max() >= needed]
    return float(max(low, default=-1.0)), float(min(high, default=1.0))


@cache
def labels_wanted(p: float, attempt: int) -> int | None:
    """Labels that a proof most likely takes: (ln 1/a_k + .7)/g, where the newer version is right on
    a share p of the parted and g = p·ln 2p + (1 − p)·ln 2(1 − p); None at a half or below.
    """
    if p <= 0.5:
        return None
    growth = math.log(2 * p) * p + ((1 - p) * math.log(2 * (1 - p)) if p < 1 else 0.0)
    return round((-math.log(spent(attempt)) + 0.7) / growth)


def sign_test(fixed: int, broken: int) -> float:
    """P(Bin(fixed + broken, ½) ≥ fixed): of labels that were all there before."""
    n = fixed + broken
    return float(sum(math.comb(n, x) for x in range(fixed, n + 1)) / 2**n)


def state_of(d: FloatArray, attempt: int, *, most: int = MOST_LABELS, ended: bool = False) -> State:
    """Where a try stands: *better* once the wealth of d reaches 1/a_k, *worse* once that of −d
    does; neither is taken back. Given up from 12 labels on whose sum is not above 0, and at `most`.

    d, attempt, most, ended : as of `prove`.
    """
    needed = -math.log(spent(attempt))
    if len(d) and (log_wealth(d) >= needed).any():
        return "better"
    if len(d) and (log_wealth(-d) >= needed).any():
        return "worse"
    given_up = len(d) >= FEWEST_LABELS and d.sum() <= 0
    return "not_shown" if ended or given_up or len(d) >= most else "open"


def prove(
    d: FloatArray, attempt: int, *, parted: float, most: int = MOST_LABELS, ended: bool = False
) -> Proof:
    """Where a try stands after these labels of parted items (`state_of`), with bounds of the gain
    over all items.

    d : (n,) loss(old) − loss(new), in the order in which the labels were asked for.  parted : share
    of all items on which the two part.  most : labels of a try.  ended : no more are to come.

    Source: ours; Ville (1939), Waudby-Smith & Ramdas (2024) on betting.
    """
    d = np.asarray(d, dtype=np.float64)
    right, wrong = int((d > 0).sum()), int((d < 0).sum())
    low, high = bounds(d, spent(attempt))
    whole = labels_wanted((right + 1) / (right + wrong + 2), attempt)
    return Proof(
        state=state_of(d, attempt, most=most, ended=ended),
        attempt=attempt,
        labels=len(d),
        right=right,
        wrong=wrong,
        parted=parted,
        low=parted * low,
        high=parted * high,
        labels_wanted=None if whole is None else max(whole - len(d), 1),
    )
