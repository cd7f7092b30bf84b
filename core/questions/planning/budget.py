"""Vote budget: how many votes does a comparison need, and when is another one not worth its price?

Votes are collected one after another (or `step` at a time). After each, the planner knows how they
fell and, from a pilot whose comparisons have all n votes, how the rest tend to fall and what gold
then is. It stops where the error that further votes are expected to save costs more than they do.
There are few ways that up to n votes can fall (`Lattice`), so the best rule is solved backwards
from n, for many calibration sets at once, and `trial` counts votes and errors on held-out
comparisons exactly. All of it is ours (methods §9.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...errors import InvalidOption, TooFewLabels
from ...records import BoolArray, FloatArray, IntArray, VoteCells, VoteCounts, majority
from ...stats.estimate import DataFrame, Estimate, data_frame, flat
from ...stats.intervals import check_level
from ...stats.splits import change_intervals, item_losses, mean_losses, splits
from ..labels.btd import DEFAULTS, BTDFit, BTDOptions, decide, fit, fit_many, risks, state_cells
from .protocol import chances

MAX_VOTES = 20
"""More votes per comparison than this are not planned for: the ways they can fall grow with their
cube.
"""

PRIOR = 1.0
"""Pilot comparisons' worth of prior, spread evenly over the ways n votes can fall."""

_ROUNDING = 1e-12
"""A gain below this is rounding: where no further vote can change the label, the planner stops."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lattice:
    """The ways votes can have fallen at each checkpoint, where the planner may stop.

    levels : (checkpoints,) votes at each, the last is n.  votes : (states, 3) votes -1, 0, +1.
    start : (checkpoints + 1,) first state of each checkpoint.
    back : for each checkpoint but the first, (its states, states of the one before): chance that a
        state's votes, but for the last `step`, are those.
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
    """Checkpoints from `minimum` (default `step`) to `votes`, every `step` votes; errors
    as `plan`.
    """
    least = step if minimum is None else minimum
    if step < 1 or not step <= votes <= MAX_VOTES or votes % step:
        raise InvalidOption(
            f"{votes} votes, {step} at a time: use up to {MAX_VOTES}, a multiple of the step."
        )
    if not step <= least <= votes or least % step:
        raise InvalidOption(
            f"At least {least} votes: use a multiple of {step} from {step} to {votes}."
        )
    levels = tuple(range(least, votes + 1, step))
    ways = [
        np.array(
            [(n - t - a, t, a) for a in range(n + 1) for t in range(n + 1 - a)], dtype=np.int64
        )
        for n in levels
    ]
    start = np.cumsum([0, *map(len, ways)]).tolist()
    back = tuple(chances(after, here) for here, after in pairwise(ways))
    return Lattice(levels=levels, votes=np.concatenate(ways), start=tuple(start), back=back)


def posterior(
    lattice: Lattice, weight: FloatArray, p: FloatArray, *, prior: float = PRIOR
) -> FloatArray:
    """Joint chance P(s, y) of each state and gold, (sets, states, 3); over a checkpoint it sums to
    1.

    weight : (sets, ways) pilot comparisons by the way their n votes fell.  p : (sets, ways, 3) of
        gold then.
    """
    if not (np.isfinite(prior) and prior > 0):
        raise InvalidOption(f"Prior of {prior:g} comparisons: it must be above 0.")
    ways = lattice.ways
    place = {way: row for row, way in enumerate(map(tuple, ways.tolist()))}
    mirrored = [place[plus, tie, minus] for minus, tie, plus in place]
    # The model of gold treats A and B alike, so the votes may too: it doubles what the pilot
    # teaches.
    alike = weight + weight[:, mirrored] + 2 * prior / len(ways)
    joint = (alike / alike.sum(axis=1, keepdims=True))[:, :, None] * p
    reach = chances(ways, lattice.votes)
    return np.stack([joint[:, :, y] @ reach for y in range(3)], axis=-1)


def least_risk(joint: FloatArray) -> FloatArray:
    """Chance of a state times the least expected absolute error there, (…, states)."""
    return np.asarray(risks(joint).min(axis=-1))


def stopping(lattice: Lattice, joint: FloatArray, price: FloatArray, *, step: int) -> BoolArray:
    """Whether to stop in each state, (sets, states), at a price of each set, by backward
    induction.
    """
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
    """Share of the orders of a state's votes in which the planner has not stopped before, (sets,
    states).

    All orders of the same votes are equally likely whatever is still to come, so this one number
    serves every comparison: it comes to s and stops there with chance H(s | its votes)·share·stop.
    """
    share = np.ones(stop.shape)
    for i in range(1, len(lattice.levels)):
        before, here = lattice.level(i - 1), lattice.level(i)
        share[:, here] = (share[:, before] * ~stop[:, before]) @ lattice.back[i - 1].T
    return share


def price_for(lattice: Lattice, joint: FloatArray, tolerance: float, *, step: int) -> FloatArray:
    """Highest price of each set whose expected error is within `tolerance` of that of n votes,
    (sets,).

    By bisection of √price from 0 to 1: the error rises with the price, and no vote saves an error
    above 1.
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


KEPT = 0.9
"""The number of votes planned for is the largest that this share of the pilot's comparisons has."""

TOLERANCE = 0.002
"""Mean absolute error that may be added by asking for fewer votes, unless a price is given."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pilot:
    """What a pilot teaches: how votes fall, and what gold is.

    lattice : the ways votes can have fallen at each checkpoint, up to n votes.  step : votes
        between two.
    joint : (states, 3) chance of a state and gold -1, 0, +1; over a checkpoint it sums to 1.
    fit : BTD at n votes, where gold's chances come from.
    n_comparisons : with n votes or more.  left_out : comparisons with fewer.
    """

    lattice: Lattice
    step: int
    joint: FloatArray
    fit: BTDFit
    n_comparisons: int
    left_out: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BudgetPlan:
    """When to stop asking, and which label to give then; arrays have one entry a state: votes so
    far.

    votes : n, the most per comparison.
    price : absolute error (0 to 2) that a vote must be expected to save.
    stop : whether to stop there.  decision : the label then.
    p : (states, 3) chance that gold is -1, 0, +1.  risk : expected absolute error of the decision.
    reached : share of comparisons that come there.
    expected_votes, expected_mae : of a comparison under the plan.  fixed_mae : with n votes always.
        Both errors are what the pilot's model expects; `trial` measures them on held-out
        comparisons.
    saved : 1 − expected_votes / n.  n_comparisons : of the pilot.
    """

    votes: int
    price: float
    plus: IntArray
    tie: IntArray
    minus: IntArray
    stop: BoolArray
    decision: IntArray
    p: FloatArray
    risk: FloatArray
    reached: FloatArray
    expected_votes: float
    expected_mae: float
    fixed_mae: float
    saved: float
    n_comparisons: int

    def to_frame(self) -> DataFrame:
        """One row per state, fewest votes first."""
        names = ("plus", "tie", "minus", "stop", "decision", "risk", "reached")
        return data_frame(flat(self, names=names))


def learn(
    cells: VoteCells,
    options: BTDOptions = DEFAULTS,
    *,
    votes: int | None = None,
    step: int = 1,
    minimum: int | None = None,
    known: BTDFit | None = None,
    prior: float = PRIOR,
) -> Pilot:
    """Learn how votes fall and what gold is from a pilot whose comparisons have all n votes.

    With W(w) the chance of each way w that n votes fall (the pilot's shares, A and B exchanged
    alike, plus `prior` comparisons spread evenly) and p(y | w) the BTD fit at n votes, a state s of
    fewer votes has P(s, y) = Σ W(w)·H(s | w)·p(y | w), H the hypergeometric chance that the first
    votes are s. So gold's chances at s are the mean of what they may become, and no further vote is
    expected to add error.

    cells : labelled or not; votes are learned from all, gold from the labelled.
    votes : n; None is the largest number that nine tenths of the comparisons have. Comparisons with
        more
    count with all ways to draw n of them, those with fewer are left out.
    step : votes collected at a time, 2 for one in each order. Their order within a comparison is
        not used.
    minimum : fewest votes, a multiple of `step`.
    known : a fit to use instead of one on the cells' own labels, with its options.

    Raises InvalidOption for options that do not go together, TooFewLabels as
    `core.questions.labels.btd.fit`.
    Source: ours, docs/methods.md §9.6.
    """
    if not len(cells):
        raise TooFewLabels(
            "The planner learns from a pilot with all its votes; there is no comparison."
        )
    lattice = lattice_of(
        usual_votes(cells, step) if votes is None else votes, step=step, minimum=minimum
    )
    enough = cells.n >= lattice.levels[-1]
    if not enough.any():
        raise InvalidOption(
            f"No comparison of the pilot has {lattice.levels[-1]} votes; plan for fewer."
        )
    drawn = chances(cells.votes, lattice.ways) * (cells.weight * enough)[:, None]
    if known is None:
        by_gold = np.stack([drawn[cells.gold == y].sum(axis=0) for y in (-1, 0, 1)])
        known = fit(labelled_cells(lattice.ways, by_gold), options)
    p = known.probabilities(state_cells(lattice.ways))
    return Pilot(
        lattice=lattice,
        step=step,
        joint=posterior(lattice, drawn.sum(axis=0)[None], p[None], prior=prior)[0],
        fit=known,
        n_comparisons=round(float(drawn.sum())),
        left_out=round(float(cells.weight[~enough].sum())),
    )


def plan(pilot: Pilot, *, price: float | None = None, tolerance: float = TOLERANCE) -> BudgetPlan:
    """Best rule of stopping at a price, or the one that saves most votes at a bounded expected
    error.

    The value of a state is the lesser of its least expected absolute error and price·step plus the
    expected value of the next state; where both are equal it stops. Solved backwards from n votes.

    price : absolute error per vote; None chooses the highest whose expected error is at most
        `tolerance`
    above that of n votes. 0 stops only where no further vote can change the label, so labels are
    those of n votes; infinity stops at once.

    Raises InvalidOption for a price or tolerance below 0. Source: ours, docs/methods.md §9.6.
    """
    lattice, joint = pilot.lattice, pilot.joint
    if price is None:
        if not (np.isfinite(tolerance) and tolerance >= 0):
            raise InvalidOption(f"Added error of {tolerance:g}: it must be 0 or more.")
        chosen = price_for(lattice, joint[None], tolerance, step=pilot.step)
    else:
        if not price >= 0:
            raise InvalidOption(f"Price {price:g} of a vote: it must be 0 or more.")
        chosen = np.array([price])
    stop = stopping(lattice, joint[None], chosen, step=pilot.step)
    mass, least = joint.sum(axis=1), least_risk(joint)
    open_ = still_open(lattice, stop)[0]
    at_end = open_ * stop[0]
    expected = float((at_end * mass) @ lattice.n)
    p = joint / mass[:, None]
    return BudgetPlan(
        votes=lattice.levels[-1],
        price=float(chosen[0]),
        plus=lattice.votes[:, 2],
        tie=lattice.votes[:, 1],
        minus=lattice.votes[:, 0],
        stop=stop[0],
        decision=decide(p),
        p=p,
        risk=least / mass,
        reached=mass * open_,
        expected_votes=expected,
        expected_mae=float(at_end @ least),
        fixed_mae=float(least[lattice.level(-1)].sum()),
        saved=1 - expected / lattice.levels[-1],
        n_comparisons=pilot.n_comparisons,
    )


def labelled_cells(votes: IntArray, weight: FloatArray) -> VoteCells:
    """As `state_cells`, with each gold label in turn; weight : (3, rows) comparisons by gold -1, 0,
    +1.
    """
    minus, tie, plus = np.tile(votes, (3, 1)).T
    gold = np.repeat(np.array([-1, 0, 1]), len(votes))
    return VoteCells(plus=plus, tie=tie, minus=minus, gold=gold, weight=weight.ravel())


def usual_votes(cells: VoteCells, step: int) -> int:
    """Largest number of votes, a multiple of `step`, that nine tenths of the comparisons have."""
    order = np.argsort(cells.n)[::-1]
    share = cells.weight[order].cumsum() / cells.weight.sum()
    usual = min(int(cells.n[order][(share >= KEPT - 1e-9).argmax()]), MAX_VOTES)
    return max(usual - usual % step, step) if step > 0 else usual


TOLERANCES = (0.0, 0.002, 0.003)
UNANIMOUS = (2, 3, 4)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrialRow:
    """One rule on held-out comparisons, mean over splits.

    votes : per comparison.  saved : share of n votes.  mae : 0 to 2.
    added : MAE minus that of BTD on n votes; its interval is over items (`core.stats.splits`),
        which leaves out which items calibrate. NaN with one item.
    expected_votes, expected_mae : what the planner's model expected; None for other rules.
    """

    key: str
    name: str
    votes: float
    saved: float
    mae: float
    added: Estimate
    expected_votes: float | None = None
    expected_mae: float | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BudgetTrial:
    """The planner beside fixed numbers of votes and simple rules, on the same splits.

    rows : by key.  votes : n.  step : votes collected at a time.  n : labelled comparisons with n
    votes or more, and their items.  left_out : labelled comparisons with fewer.
    calibration : mean comparisons of a calibration set.
    """

    rows: dict[str, TrialRow]
    votes: int
    step: int
    n: int
    left_out: int
    calibration: float

    def to_frame(self) -> DataFrame:
        """One row per rule."""
        return data_frame([flat(row) for row in self.rows.values()])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Rule:
    """Where a rule stops and what it says: shares of orders (sets or 1, states), labels
    likewise.
    """

    key: str
    name: str
    stopped: FloatArray
    label: IntArray
    expected_votes: float | None = None
    expected_mae: float | None = None


def trial(
    counts: VoteCounts,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    tolerances: Sequence[float] = TOLERANCES,
    votes: int | None = None,
    step: int = 1,
    minimum: int | None = None,
    n_splits: int = 100,
    share: float = 0.05,
    minimum_labels: int = 20,
    prior: float = PRIOR,
    level: float = 0.95,
) -> BudgetTrial:
    """Plan on the calibration part of each split, ask vote by vote on the rest, and count votes and
    errors.

    A comparison with votes w comes to state s and stops there with chance H(s | w)·(share of the
    orders of s that did not stop before)·stop(s): the exact mean over all orders of its votes.

    Rules: the planner at each of `tolerances` (rows `planner-0.002` …; 0 gives the labels of n
    votes); `btd-k`, `majority-k`, `posterior-k`: k votes always, with BTD fitted on k votes, the
    majority, or the planner's own label; `unanimous-m`: stop if the first m votes agree, else use
    all n, planner's label.
    votes, step, minimum, prior : as `learn`; the others as `splits.splits`.

    Raises InvalidOption and TooFewLabels as those. Source: ours, docs/methods.md §9.6.
    """
    check_level(level)
    for tolerance in tolerances:
        if not (np.isfinite(tolerance) and tolerance >= 0):
            raise InvalidOption(f"Added error of {tolerance:g}: it must be 0 or more.")
    known = counts.labelled()
    if not len(known):
        raise TooFewLabels("No comparison has a gold label, so the planner cannot be tried.")
    n = usual_votes(known.cells()[0], step) if votes is None else votes
    lattice = lattice_of(n, step=step, minimum=minimum)
    enough = known.n >= n
    if not enough.any():
        raise InvalidOption(f"No labelled comparison has {n} votes; plan for fewer.")
    drawn = splits(
        known.rows(enough), rng=rng, n_splits=n_splits, share=share, minimum=minimum_labels
    )
    cells = drawn.cells
    reach = chances(cells.votes, lattice.votes)
    # (3, sets, states): calibration comparisons by gold and by how their votes fell at each
    # checkpoint.
    seen = np.stack(
        [drawn.calibration[:, cells.gold == y] @ reach[cells.gold == y] for y in (-1, 0, 1)]
    )
    fitted = [_fitted(lattice, i, seen, options) for i in range(len(lattice.levels))]
    joint = posterior(lattice, seen[:, :, lattice.level(-1)].sum(axis=0), fitted[-1], prior=prior)
    found = _planners(lattice, joint, tolerances, step) + _others(lattice, joint, fitted)

    outcomes = {rule.key: _on_cells(rule, lattice, reach, cells.gold) for rule in found}
    itself = f"btd-{n}"
    reference = outcomes[itself][0]

    def mean(values: FloatArray) -> float:
        return float(mean_losses(drawn, [values]).mean())

    changes = [error - reference for error, _ in outcomes.values()]
    added = change_intervals(
        item_losses(drawn, changes), [mean(change) for change in changes], level=level
    )
    rows = {}
    for rule, change in zip(found, added, strict=True):
        error, n_votes = outcomes[rule.key]
        used = mean(n_votes)
        rows[rule.key] = TrialRow(
            key=rule.key,
            name=rule.name,
            votes=used,
            saved=1 - used / n,
            mae=mean(error),
            added=Estimate(change.value, 0.0, 0.0, level=level) if rule.key == itself else change,
            expected_votes=rule.expected_votes,
            expected_mae=rule.expected_mae,
        )
    return BudgetTrial(
        rows=rows,
        votes=n,
        step=step,
        n=drawn.n,
        left_out=int((~enough).sum()),
        calibration=float(drawn.calibration.sum(axis=1).mean()),
    )


def _fitted(lattice: Lattice, i: int, seen: FloatArray, options: BTDOptions) -> FloatArray:
    """Chances of gold in each state of a checkpoint by BTD fitted on that many votes, (sets,
    states, 3).
    """
    ways = lattice.votes[lattice.level(i)]
    by_gold = seen[:, :, lattice.level(i)]
    cells = labelled_cells(ways, by_gold.sum(axis=1))
    weights = by_gold.transpose(1, 0, 2).reshape(by_gold.shape[1], -1)
    return fit_many(cells, weights, options).probabilities(state_cells(ways))


def _planners(
    lattice: Lattice, joint: FloatArray, tolerances: Sequence[float], step: int
) -> list[_Rule]:
    mass, least = joint.sum(axis=-1), least_risk(joint)
    label = decide(joint / mass[..., None])
    rules = []
    for tolerance in dict.fromkeys(tolerances):
        price = (
            price_for(lattice, joint, tolerance, step=step) if tolerance else np.zeros(len(joint))
        )
        stop = stopping(lattice, joint, price, step=step)
        stopped = still_open(lattice, stop) * stop
        rules.append(
            _Rule(
                key=f"planner-{tolerance:g}",
                name=f"Planner, added error up to {tolerance:g}"
                if tolerance
                else "Planner, same labels",
                stopped=stopped,
                label=label,
                expected_votes=float((stopped * mass @ lattice.n).mean()),
                expected_mae=float((stopped * least).sum(axis=1).mean()),
            )
        )
    return rules


def _others(lattice: Lattice, joint: FloatArray, fitted: list[FloatArray]) -> list[_Rule]:
    """A fixed number of votes, and asking on unless the first few agree."""
    own = decide(joint / joint.sum(axis=-1)[..., None])
    minus, tie, plus = lattice.votes.T
    modal = majority(plus, tie, minus)[None]
    rules = []
    for i, k in enumerate(lattice.levels):
        at = (lattice.n == k)[None].astype(np.float64)
        calibrated = np.zeros(own.shape, dtype=np.int64)
        calibrated[:, lattice.level(i)] = decide(fitted[i])
        so_many = f"{k} votes" if k > 1 else "1 vote"
        rules += [
            _Rule(key=f"btd-{k}", name=f"BTD, {so_many}", stopped=at, label=calibrated),
            _Rule(key=f"majority-{k}", name=f"Majority (SC), {so_many}", stopped=at, label=modal),
            _Rule(key=f"posterior-{k}", name=f"Planner's label, {so_many}", stopped=at, label=own),
        ]
    for m in (k for k in UNANIMOUS if k in lattice.levels[:-1]):
        agreed: BoolArray = (lattice.votes.max(axis=1) == m) & (lattice.n == m)
        stop = (agreed | (lattice.n == lattice.levels[-1]))[None]
        stopped = still_open(lattice, stop) * stop
        rules.append(
            _Rule(
                key=f"unanimous-{m}",
                name=f"Stop if the first {m} agree",
                stopped=stopped,
                label=own,
            )
        )
    return rules


def _on_cells(
    rule: _Rule, lattice: Lattice, reach: FloatArray, gold: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Expected error and votes of each cell of comparisons, (sets or 1, cells) each."""
    sets = np.broadcast_shapes(rule.stopped.shape, rule.label.shape)[0]
    error = np.empty((sets, len(gold)))
    for y in (-1, 0, 1):
        here = gold == y
        error[:, here] = (rule.stopped * np.abs(rule.label - y)) @ reach[here].T
    return error, (rule.stopped * lattice.n) @ reach.T
