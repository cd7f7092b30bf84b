"""The vote-budget planner on held-out comparisons: its votes and error beside those of other rules.

Planner and fits see a calibration set with all its votes; the votes of every other comparison are then drawn
one by one. The expectation over the order of a comparison's votes is exact, so nothing is simulated.
Source: ours, docs/methods.md §9.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..aggregation.btd import DEFAULTS, BTDOptions, decide, fit_many
from ..errors import InvalidOption, TooFewLabels
from ..records import BoolArray, FloatArray, IntArray, VoteCounts, majority
from ..stats.estimate import DataFrame, Estimate, data_frame, flat
from ..stats.intervals import check_level
from ..stats.splits import change_intervals, item_losses, mean_losses, splits
from .budget import (
    PRIOR,
    Lattice,
    labelled_cells,
    lattice_of,
    least_risk,
    posterior,
    price_for,
    state_cells,
    still_open,
    stopping,
    usual_votes,
)
from .protocol import chances

TOLERANCES = (0.0, 0.002, 0.003)
UNANIMOUS = (2, 3, 4)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrialRow:
    """One rule on held-out comparisons, mean over splits.

    votes : per comparison.  saved : share of n votes.  mae : 0 to 2.
    added : MAE minus that of BTD on n votes; its interval is over items (`core.stats.splits`), which leaves
        out which items calibrate. NaN with one item.
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
    """Where a rule stops and what it says: shares of orders (sets or 1, states), labels likewise."""

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
    """Plan on the calibration part of each split, ask vote by vote on the rest, and count votes and errors.

    A comparison with votes w comes to state s and stops there with chance H(s | w)·(share of the orders of s
    that did not stop before)·stop(s): the exact mean over all orders of its votes.

    Rules: the planner at each of `tolerances` (rows `planner-0.002` …; 0 gives the labels of n votes);
    `btd-k`, `majority-k`, `posterior-k`: k votes always, with BTD fitted on k votes, the majority, or the
    planner's own label; `unanimous-m`: stop if the first m votes agree, else ask all n, planner's label.
    votes, step, minimum, prior : as `core.experiments.budget.learn`; the others as `splits.splits`.

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
    enough = known.plus + known.tie + known.minus >= n
    if not enough.any():
        raise InvalidOption(f"No labelled comparison has {n} votes; plan for fewer.")
    drawn = splits(known.rows(enough), rng=rng, n_splits=n_splits, share=share, minimum=minimum_labels)
    cells = drawn.cells
    reach = chances(np.stack([cells.minus, cells.tie, cells.plus], axis=1), lattice.votes)
    # (3, sets, states): calibration comparisons by gold and by how their votes fell at each checkpoint.
    seen = np.stack([drawn.calibration[:, cells.gold == y] @ reach[cells.gold == y] for y in (-1, 0, 1)])
    fitted = [_fitted(lattice, i, seen, options) for i in range(len(lattice.levels))]
    last = lattice.level(-1)
    joint = posterior(lattice, seen[:, :, last].sum(axis=0), fitted[-1], prior=prior)
    found = _planners(lattice, joint, tolerances, step) + _others(lattice, joint, fitted)

    outcomes = [_on_cells(rule, lattice, reach, cells.gold) for rule in found]
    reference = next(
        error for rule, (error, _) in zip(found, outcomes, strict=True) if rule.key == f"btd-{n}"
    )

    def mean(values: FloatArray) -> float:
        return float(mean_losses(drawn, [values]).mean())

    added = [mean(error - reference) for error, _ in outcomes]
    by_item = item_losses(drawn, [error - reference for error, _ in outcomes])
    over_items = change_intervals(by_item, added, level=level)
    rows = {}
    for i, (rule, (error, n_votes)) in enumerate(zip(found, outcomes, strict=True)):
        used, itself = mean(n_votes), rule.key == f"btd-{n}"
        rows[rule.key] = TrialRow(
            key=rule.key,
            name=rule.name,
            votes=used,
            saved=1 - used / n,
            mae=mean(error),
            added=Estimate(added[i], 0.0, 0.0, level=level) if itself else over_items[i],
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
    """Chances of gold in each state of a checkpoint by BTD fitted on that many votes, (sets, states, 3)."""
    ways = lattice.votes[lattice.level(i)]
    by_gold = seen[:, :, lattice.level(i)]
    cells = labelled_cells(ways, by_gold.sum(axis=1))
    weights = by_gold.transpose(1, 0, 2).reshape(by_gold.shape[1], -1)
    return fit_many(cells, weights, options).probabilities(state_cells(ways))


def _planners(lattice: Lattice, joint: FloatArray, tolerances: Sequence[float], step: int) -> list[_Rule]:
    mass, least = joint.sum(axis=-1), least_risk(joint)
    label = decide(joint / mass[..., None])
    rules = []
    for tolerance in dict.fromkeys(tolerances):
        price = price_for(lattice, joint, tolerance, step=step) if tolerance else np.zeros(len(joint))
        stop = stopping(lattice, joint, price, step=step)
        stopped = still_open(lattice, stop) * stop
        rules.append(
            _Rule(
                key=f"planner-{tolerance:g}",
                name=f"Planner, added error up to {tolerance:g}" if tolerance else "Planner, same labels",
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
        rules.append(
            _Rule(
                key=f"unanimous-{m}",
                name=f"Stop if the first {m} agree",
                stopped=still_open(lattice, stop) * stop,
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
