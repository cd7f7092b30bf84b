"""Tables of docs/results.md: what a prior of other tasks gains with few labels, and what it risks.

    python -m benchmarks.shrinkage [--tasks 24] [--splits 15] [--seed 4]

Prints Markdown. Votes and gold come from a latent difference of quality, not from the model of BTD
and without a line of its code. The limits of `core.questions.labels.prior_check` were chosen on
seeds 1 and 3.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.questions.labels.btd import decide, features, fit, fit_many
from core.questions.labels.prior_check import check_prior
from core.questions.labels.rules import one_hot
from core.questions.labels.shrinkage import pool, shrunken
from core.questions.labels.solver import probabilities
from core.records import FloatArray, VoteCounts
from core.stats.splits import calibration_sets, mean_losses, splits

SIZE, VOTES = 800, 8
LENDERS = 6
LABELS = (20, 40, 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a task and its judge are like; the difference of quality of two responses is standard
    normal.

    ties : share of gold ties.  sees : weight of the difference in a vote, 0 for a random judge.
    mistaken : SD of what the judge misjudges alike in every vote of a comparison.
    shy : half-width of the difference that the judge calls a tie, in SD of a vote's own noise.
    """

    ties: float
    sees: float
    mistaken: float
    shy: float


def draw(task: Task, rng: np.random.Generator, size: int = SIZE) -> VoteCounts:
    """Votes of one judge on `size` items with one comparison each, all labelled."""
    quality = rng.normal(size=size)
    width = np.quantile(np.abs(rng.normal(size=20_000)), task.ties) if task.ties else 0.0
    gold = np.where(np.abs(quality) < width, 0, np.sign(quality)).astype(np.int64)
    seen = task.sees * quality + task.mistaken * rng.normal(size=size)
    felt = seen[:, None] + rng.normal(size=(size, VOTES))
    vote = np.where(np.abs(felt) < task.shy, 0, np.sign(felt))
    place = np.arange(size)
    plus, tie, minus = ((vote == label).sum(axis=1) for label in (1, 0, -1))
    return VoteCounts(comparison=place, item=place, plus=plus, tie=tie, minus=minus, gold=gold)


def near(centre: Task, rng: np.random.Generator) -> Task:
    """A task like another, as the categories of one benchmark are."""
    return Task(
        ties=float(
            np.clip(centre.ties + rng.normal(scale=0.04 if centre.ties else 0.0), 0.0, 0.95)
        ),
        sees=centre.sees * float(np.exp(rng.normal(scale=0.15))),
        mistaken=centre.mistaken * float(np.exp(rng.normal(scale=0.15))),
        shy=centre.shy * float(np.exp(rng.normal(scale=0.15))),
    )


def anything(rng: np.random.Generator) -> Task:
    """A task of which nothing is known."""
    return Task(
        ties=rng.choice([0.0, rng.uniform(0.05, 0.7)]),
        sees=rng.uniform(0.0, 3.0),
        mistaken=rng.uniform(0.0, 2.0),
        shy=rng.uniform(0.0, 1.5),
    )


def usual(ties: float, rng: np.random.Generator) -> Task:
    """A good judge of some kind on a task with this share of gold ties."""
    return Task(
        ties=ties,
        sees=rng.uniform(1.0, 2.5),
        mistaken=rng.uniform(0.3, 1.2),
        shy=rng.uniform(0.3, 1.0),
    )


World = Callable[[np.random.Generator], tuple[Task, list[Task]]]
"""Draws a task, and those that its prior is pooled from."""


def _alike(ties: float) -> World:
    def world(rng: np.random.Generator) -> tuple[Task, list[Task]]:
        centre = usual(ties, rng)
        return near(centre, rng), [near(centre, rng) for _ in range(LENDERS)]

    return world


def _apart(
    change: Callable[[Task], Task], lenders: Callable[[Task], Task], ties: float = 0.3
) -> World:
    """A task and its lenders that would be alike but for one change on either side."""

    def world(rng: np.random.Generator) -> tuple[Task, list[Task]]:
        centre = usual(ties, rng)
        return change(near(centre, rng)), [lenders(near(centre, rng)) for _ in range(LENDERS)]

    return world


def _with_ties(share: float) -> Callable[[Task], Task]:
    return lambda task: replace(task, ties=share)


def _same(task: Task) -> Task:
    return task


def _random_judge(task: Task) -> Task:
    return replace(task, sees=0.0)


def _one_anew(rng: np.random.Generator) -> tuple[Task, list[Task]]:
    centre, other = usual(0.3, rng), anything(rng)
    name = str(rng.choice(["ties", "sees", "mistaken", "shy"]))
    task = replace(near(centre, rng), **{name: getattr(other, name)})
    return task, [near(centre, rng) for _ in range(LENDERS)]


def _anything(rng: np.random.Generator) -> tuple[Task, list[Task]]:
    return anything(rng), [anything(rng) for _ in range(4)]


ALIKE: dict[str, World] = {"alike, half ties": _alike(0.5), "alike, 20 % ties": _alike(0.2)}
UNLIKE: dict[str, World] = {
    "half ties, prior of tasks without ties": _apart(_with_ties(0.5), _with_ties(0.0)),
    "no ties, prior of tasks with half ties": _apart(_with_ties(0.0), _with_ties(0.5)),
    "a random judge among good ones": _apart(_random_judge, _same),
    "a good judge among random ones": _apart(_same, _random_judge),
    "everything drawn at random, prior of 4 tasks": _anything,
    "alike but for one parameter drawn at random": _one_anew,
}


RULES = ("BTD", "unchecked", "checked")

Regrets = dict[int, FloatArray]
"""By number of labels: regret of each task by rule of RULES, and the share of sets that use the
prior.
"""


def regrets(world: World, rng: np.random.Generator, *, tasks: int, n_splits: int) -> Regrets:
    """Mean over splits of the MAE above that of BTD fitted on all labels, (tasks, rules + 1)."""
    found: dict[int, list[list[float]]] = {labels: [] for labels in LABELS}
    for _ in range(tasks):
        task, lenders = world(rng)
        counts = draw(task, rng)
        cells = [draw(one, rng).cells()[0] for one in lenders]
        prior = pool([fit(one) for one in cells], source="other tasks", cells=cells)
        for labels, rows in found.items():
            drawn = splits(counts, rng=rng, n_splits=n_splits, share=1e-9, minimum=labels)
            everything = np.concatenate([drawn.calibration, drawn.cells.weight[None]])
            plain = fit_many(drawn.cells, everything).theta
            unchecked = shrunken(calibration_sets(drawn), replace(prior, checked=False), rng=rng)
            used = check_prior(drawn.cells, drawn.calibration, prior.theta0, prior.transfer).used
            checked = np.where(used[:, None], unchecked.theta, plain[:-1])
            off = np.abs(np.arange(-1, 2) - drawn.cells.gold[:, None])
            errors = [
                (one_hot(decide(probabilities(theta, *features(drawn.cells)))) * off).sum(axis=2)
                for theta in (plain[:-1], unchecked.theta, checked, plain[-1:])
            ]
            mae = mean_losses(drawn, errors).mean(axis=0)
            rows.append([*(mae[:-1] - mae[-1]).tolist(), float(used.mean())])
    return {labels: np.array(rows) for labels, rows in found.items()}


def simulated(
    worlds: Mapping[str, World], seed: int, *, tasks: int, n_splits: int
) -> dict[str, Regrets]:
    """`regrets` of each world, each with a stream of its own."""
    return {
        name: regrets(
            world, np.random.default_rng([seed, *name.encode()]), tasks=tasks, n_splits=n_splits
        )
        for name, world in worlds.items()
    }


def kept(found: FloatArray) -> float:
    """Share of the unchecked prior's gain over BTD that is left with the checks."""
    btd, unchecked, checked = found.mean(axis=0)[:3]
    return float((btd - checked) / (btd - unchecked))


def above(found: FloatArray, rule: int) -> tuple[float, float]:
    """Mean regret above BTD's, and that of the worst task."""
    change = found[:, rule] - found[:, 0]
    return float(change.mean()), float(change.max())


def alike_table(found: Mapping[str, Regrets]) -> str:
    """Markdown: mean regret on alike tasks, and what is kept of the gain."""
    lines = [
        "| tasks | labels | BTD | unchecked prior | checked prior | gain kept | prior used |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, by_labels in found.items():
        for labels, rows in by_labels.items():
            btd, unchecked, checked, used = rows.mean(axis=0).tolist()
            lines.append(
                f"| {name} | {labels} | {btd:.4f} | {unchecked:.4f} | {checked:.4f} | "
                f"{kept(rows):.0%} | {used:.0%} |"
            )
    return "\n".join(lines)


def unlike_table(found: Mapping[str, Regrets]) -> str:
    """Markdown: regret above BTD's where the prior is of unlike tasks, the mean and the
    worst task.
    """
    lines = [
        "| tasks | labels | BTD | unchecked, above BTD (worst task) | checked, above BTD (worst "
        "task) | prior used |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, by_labels in found.items():
        for labels, rows in by_labels.items():
            before, after = (
                "{:+.4f} ({:+.3f})".format(*above(rows, rule)).replace("-", "−") for rule in (1, 2)
            )
            lines.append(
                f"| {name} | {labels} | {rows[:, 0].mean():.4f} | {before} | {after} | "
                f"{rows[:, 3].mean():.0%} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=24, help="tasks drawn of each kind")
    parser.add_argument(
        "--splits", type=int, default=15, help="calibration sets of each task and size"
    )
    parser.add_argument("--seed", type=int, default=4)
    options = parser.parse_args()
    for worlds, table in ((ALIKE, alike_table), (UNLIKE, unlike_table)):
        found = simulated(worlds, options.seed, tasks=options.tasks, n_splits=options.splits)
        print(f"{table(found)}\n", flush=True)


if __name__ == "__main__":
    main()
