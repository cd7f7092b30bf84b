"""Exact optimal stopping: after how many votes, fallen how, is the next one not worth its price?

There are few ways that up to n votes can fall (`Lattice`), so the best rule is solved backwards from n, for
many calibration sets at once. Everything about one comparison follows from the hypergeometric chance that its
first votes are so and so. All of it is ours; `core.experiments.budget` says what for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.aggregation.btd import risks
from core.counts import BoolArray, FloatArray, IntArray
from core.draws import chances
from core.votes import InvalidOption

MAX_VOTES = 20
"""More votes a comparison than this are not planned for: the ways they can fall grow with their cube."""

PRIOR = 1.0
"""Pilot comparisons' worth of prior, spread evenly over the ways n votes can fall."""

_ROUNDING = 1e-12
"""A gain below this is rounding: where no further vote can change the label, the planner stops."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lattice:
    """The ways votes can have fallen at each checkpoint, where the planner may stop.

    levels : (checkpoints,) votes at each, the last is n.  votes : (states, 3) votes -1, 0, +1.
    start : (checkpoints + 1,) first state of each checkpoint.
    back : for each checkpoint but the first, (its states, states of the one before): chance that a state's
        votes, but for the last ones asked for, are those.
    """

    levels: tuple[int, ...]
    votes: IntArray
    start: tuple[int, ...]
    back: tuple[FloatArray, ...]

    @property
    def n(self) -> IntArray:
        """Votes in each state, (states,)."""
        return np.asarray(self.votes.sum(axis=1))

    @property
    def ways(self) -> IntArray:
        """States of the last checkpoint: the ways that n votes can fall, (ways, 3)."""
        return self.votes[self.level(-1)]

    def level(self, i: int) -> slice:
        """States of a checkpoint; -1 is the last."""
        i %= len(self.levels)
        return slice(self.start[i], self.start[i + 1])


def lattice_of(votes: int, *, step: int = 1, minimum: int | None = None) -> Lattice:
    """Checkpoints from `minimum` (default `step`) to `votes`, every `step` votes; errors as `plan`."""
    least = step if minimum is None else minimum
    if step < 1 or not step <= votes <= MAX_VOTES or votes % step:
        raise InvalidOption(
            f"{votes} votes, {step} at a time: use up to {MAX_VOTES}, a multiple of the step."
        )
    if not step <= least <= votes or least % step:
        raise InvalidOption(f"At least {least} votes: use a multiple of {step} from {step} to {votes}.")
    levels = tuple(range(least, votes + 1, step))
    ways = [
        np.array([(n - t - a, t, a) for a in range(n + 1) for t in range(n + 1 - a)], dtype=np.int64)
        for n in levels
    ]
    start = np.cumsum([0, *map(len, ways)]).tolist()
    back = tuple(chances(after, here) for here, after in pairwise(ways))
    return Lattice(levels=levels, votes=np.concatenate(ways), start=tuple(start), back=back)


def posterior(lattice: Lattice, weight: FloatArray, p: FloatArray, *, prior: float = PRIOR) -> FloatArray:
    """Joint chance P(s, y) of each state and gold, (sets, states, 3); over a checkpoint it sums to 1.

    weight : (sets, ways) pilot comparisons by the way their n votes fell.  p : (sets, ways, 3) of gold then.
    """
    if not (np.isfinite(prior) and prior > 0):
        raise InvalidOption(f"Prior of {prior:g} comparisons: it must be above 0.")
    ways = lattice.ways
    place = {way: row for row, way in enumerate(map(tuple, ways.tolist()))}
    mirrored = [place[plus, tie, minus] for minus, tie, plus in place]
    # The model of gold treats A and B alike, so the votes may too: it doubles what the pilot teaches.
    alike = weight + weight[:, mirrored] + 2 * prior / len(ways)
    joint = (alike / alike.sum(axis=1, keepdims=True))[:, :, None] * p
    reach = chances(ways, lattice.votes)
    return np.stack([joint[:, :, y] @ reach for y in range(3)], axis=-1)


def least_risk(joint: FloatArray) -> FloatArray:
    """Chance of a state times the least expected absolute error there, (…, states)."""
    return np.asarray(risks(joint).min(axis=-1))


def stopping(lattice: Lattice, joint: FloatArray, price: FloatArray, *, step: int) -> BoolArray:
    """Whether to stop in each state, (sets, states), at a price of each set, by backward induction."""
    mass, value = joint.sum(axis=-1), least_risk(joint)
    stop = np.ones(value.shape, dtype=bool)
    for i in range(len(lattice.levels) - 2, -1, -1):
        here, after = lattice.level(i), lattice.level(i + 1)
        # P(s)·P(s' | s) = P(s')·H(s | s'): with values times chances, going on is one product.
        go_on = value[:, after] @ lattice.back[i] + price[:, None] * step * mass[:, here]
        stop[:, here] = value[:, here] <= go_on + _ROUNDING * mass[:, here]
        value[:, here] = np.where(stop[:, here], value[:, here], go_on)
    return stop


def still_open(lattice: Lattice, stop: BoolArray) -> FloatArray:
    """Share of the orders of a state's votes in which the planner has not stopped before, (sets, states).

    All orders of the same votes are equally likely whatever is still to come, so this one number serves
    every comparison: it comes to s and stops there with chance H(s | its votes)·share·stop.
    """
    share = np.ones(stop.shape)
    for i in range(1, len(lattice.levels)):
        before, here = lattice.level(i - 1), lattice.level(i)
        share[:, here] = (share[:, before] * ~stop[:, before]) @ lattice.back[i - 1].T
    return share


def price_for(lattice: Lattice, joint: FloatArray, tolerance: float, *, step: int) -> FloatArray:
    """Highest price of each set whose expected error is within `tolerance` of that of n votes, (sets,).

    By bisection of √price from 0 to 1: the error rises with the price, and no vote saves an error above 1.
    """
    least = least_risk(joint)
    allowed = least[:, lattice.level(-1)].sum(axis=1) + tolerance + _ROUNDING
    low, high = np.zeros(len(joint)), np.ones(len(joint))
    for _ in range(24):
        middle = (low + high) / 2
        stop = stopping(lattice, joint, middle**2, step=step)
        within = (still_open(lattice, stop) * stop * least).sum(axis=1) <= allowed
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return np.asarray(low**2)
