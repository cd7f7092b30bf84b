"""What the vote-budget planner saves on RewardBench 2 pairs, by judge and category, beside simpler
rules.

    python -m benchmarks.budget [rewardbench2_pairs.csv.gz]

Prints Markdown. Each row is `core.questions.planning.budget.trial` with seed 0: the planner is
calibrated on 5 % of the items with all their votes and asks the others vote by vote.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.rewardbench2 import VOTES
from core.importers import ReadOptions, read
from core.questions.planning.budget import BudgetTrial, TrialRow, trial
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries

Trials = Mapping[tuple[str, str], BudgetTrial]
"""Of each judge and category."""

N_SPLITS = 100
SHARE = 0.05
"""Of the items, to calibrate on."""

SUMMARY = (
    "planner-0",
    "planner-0.002",
    "planner-0.003",
    *(f"btd-{k}" for k in range(1, 9)),
    *(f"unanimous-{m}" for m in (2, 3, 4)),
    "majority-8",
)


def trials(path: Path) -> dict[tuple[str, str], BudgetTrial]:
    """Trial of each judge and category of a file of votes."""
    of_cells = {}
    with Store.open(None) as store:
        for reading in read([(path.name, path)], ReadOptions()):
            store.load(reading)
        for category in queries.values(store, Selection(), "category"):
            counts = queries.vote_counts(store, Selection(where=(("category", category),)))
            for judge, votes in counts.items():
                of_cells[judge, category] = trial(
                    votes, n_splits=N_SPLITS, share=SHARE, rng=np.random.default_rng(0)
                )
    return dict(sorted(of_cells.items()))


def table(of_cells: Trials) -> str:
    """Markdown: one row per judge and category."""
    lines = [
        "| judge | category | n | MAE, 8 votes | same labels: saved | ≤ .002: saved | added MAE "
        "[95 %] | ≤ .003: saved | added MAE [95 %] | BTD, 6 votes: added MAE |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for (judge, category), result in of_cells.items():
        rows = result.rows
        cells = [
            judge,
            category,
            str(result.n),
            f"{rows['btd-8'].mae:.3f}",
            f"{rows['planner-0'].saved:.1%}",
        ]
        for key in ("planner-0.002", "planner-0.003"):
            cells += [f"{rows[key].saved:.1%}", _added(rows[key])]
        lines.append(f"| {' | '.join(cells)} | {_signed(rows['btd-6'].added.value)} |")
    return "\n".join(lines)


def summary(of_cells: Trials) -> str:
    """Markdown: mean of each rule over the judges and categories, and its worst one."""
    lines = [
        "| rule | votes | saved | MAE | added MAE | worst added |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for key in SUMMARY:
        rows = [result.rows[key] for result in of_cells.values()]
        votes, saved, mae = (
            float(np.mean([getattr(row, name) for row in rows]))
            for name in ("votes", "saved", "mae")
        )
        added = float(np.mean([row.added.value for row in rows]))
        worst = max(row.added.value for row in rows)
        name = rows[0].name
        name = f"**{name}**" if key.startswith("planner") else name
        lines.append(
            f"| {name} | {votes:.2f} | {saved:.1%} | {mae:.4f} | {_signed(added)} | "
            f"{_signed(worst)} |"
        )
    return "\n".join(lines)


def _signed(value: float) -> str:
    text = f"{value:+.4f}"
    return "0" if float(text) == 0 else text


def _added(row: TrialRow) -> str:
    return f"{_signed(row.added.value)} [{_signed(row.added.low)}, {_signed(row.added.high)}]"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("votes", nargs="?", type=Path, default=VOTES)
    of_cells = trials(parser.parse_args(arguments).votes)
    votes = next(iter(of_cells.values())).votes
    print(f"{summary(of_cells)}\n\n{table(of_cells)}")
    print(
        f"\nMean over {N_SPLITS} random splits by item; {SHARE:.0%} of the items calibrate and "
        f"keep all {votes} votes, which `saved` leaves out. Exact over the orders of the votes. "
        "Intervals: t over items."
    )


if __name__ == "__main__":
    main()
