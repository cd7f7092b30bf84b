"""What repeated votes are worth on RewardBench 2 pairs at three temperatures.

    python -m benchmarks.effective_votes [rewardbench2_temperature.csv.gz]

Prints Markdown: errors of the majority by number of votes, as a beta-binomial predicts them and as
they are over all draws of so many votes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.rewardbench2 import VOTES
from core.importers import ReadOptions, read
from core.questions.agreement.repeats import EffectiveVotes, effective_votes
from core.schema import Selection
from core.store import Store
from core.store.vote_queries import vote_counts

TEMPERATURES = VOTES.with_name("rewardbench2_temperature.csv.gz")
SHOWN = (1, 3, 5, 8)


def worths(path: Path) -> dict[str, EffectiveVotes]:
    """The effective number of votes of each judge that repeats itself."""
    with Store.open(None) as store:
        for reading in read([(path.name, path)], ReadOptions()):
            store.load(reading)
        counts = vote_counts(store, Selection())
    found = {judge: effective_votes(of_judge) for judge, of_judge in counts.items()}
    return {judge: each for judge, each in found.items() if each is not None}


def table(found: dict[str, EffectiveVotes]) -> str:
    """Markdown: one row per judge."""
    heads = " | ".join(f"wrong with {n}: predicted / seen" for n in SHOWN)
    lines = [f"| judge | votes | worth | {heads} |", f"|---|--:|--:|{'--:|' * len(SHOWN)}"]
    for judge, each in found.items():
        worth = each.effective
        errors = {row.n: f"{row.predicted:.4f} / {row.observed.value:.4f}" for row in each.errors}
        cells = " | ".join(errors.get(n, "–") for n in SHOWN)
        lines.append(
            f"| {judge} | {each.votes} | {worth.value:.2f} ({worth.low:.2f} to {worth.high:.2f}) "
            f"| {cells} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=TEMPERATURES)
    print(table(worths(parser.parse_args().path)))
