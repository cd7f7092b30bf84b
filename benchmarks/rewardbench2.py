"""The README's table: aggregators on RewardBench 2 pairs by judge and category, 5 % of items to calibrate.

    python -m benchmarks.rewardbench2 [rewardbench2_pairs.csv.gz]

Prints Markdown. Each cell of the table is `core.evaluation.evaluate` with its defaults and seed 0.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from core import queries
from core.evaluation import Evaluation, evaluate
from core.importers import ReadOptions, read
from core.store import Store
from core.votes import Selection

VOTES = Path(__file__).resolve().parents[2] / "shared" / "data" / "votes" / "rewardbench2_pairs.csv.gz"
METHODS = ("majority", "threshold", "btd")
SHORT = {"majority": "SC", "threshold": "Threshold", "btd": "BTD"}


def evaluations(path: Path) -> dict[tuple[str, str], Evaluation]:
    """Evaluation of each judge and category of a file of votes."""
    found = {}
    with Store.open(None) as store:
        for reading in read([(path.name, path)], ReadOptions()):
            store.load(reading)
        for category in queries.values(store, Selection(), "category"):
            counts = queries.vote_counts(store, Selection(where=(("category", category),)))
            for judge, votes in counts.items():
                found[judge, category] = evaluate(votes, methods=METHODS, rng=np.random.default_rng(0))
    return dict(sorted(found.items()))


def table(found: dict[tuple[str, str], Evaluation]) -> str:
    """Markdown: MAE / PA of each method, bold if in the top cluster; regret of BTD; MAE with all labels."""
    names = [f"{SHORT[key]} MAE / PA" for key in METHODS]
    lines = [
        f"| judge | category | n | {' | '.join(names)} | BTD, all labels | regret of BTD |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for (judge, category), result in found.items():
        cells = []
        for key in METHODS:
            score = result.scores[key]
            text = f"{score.mae:.3f} / {score.pa:.3f}"
            cells.append(f"**{text}**" if score.top_cluster else text)
        last = f"{result.mae_all_labels:.3f} | {result.scores['btd'].regret:.3f}"
        lines.append(f"| {judge} | {category} | {result.n} | {' | '.join(cells)} | {last} |")
    means = [
        f"{np.mean([result.scores[key].mae for result in found.values()]):.3f} / "
        f"{np.mean([result.scores[key].pa for result in found.values()]):.3f}"
        for key in METHODS
    ]
    everything = np.mean([result.mae_all_labels for result in found.values()])
    regret = np.mean([result.scores["btd"].regret for result in found.values()])
    lines.append(f"| mean | | | {' | '.join(means)} | {everything:.3f} | {regret:.3f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("votes", nargs="?", type=Path, default=VOTES)
    found = evaluations(parser.parse_args().votes)
    print(table(found))
    below = sum(result.scores["btd"].mae < result.scores["majority"].mae for result in found.values())
    one = next(iter(found.values()))
    print(
        f"\nMean over {one.n_splits} random splits by item, {one.share:.0%} of the items for calibration, "
        f"8 votes a comparison. Bold: top cluster by MAE. BTD is below SC in {below} of {len(found)} rows."
    )


if __name__ == "__main__":
    main()
