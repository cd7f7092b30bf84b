"""Samples of whole items beside all rows: how often a check's interval, computed from a sample,
holds the value that the check has on all rows.

    python -m benchmarks.sampled [FILE …] [--share 0.1] [--seeds 20]

Each file is audited whole once and, for each seed, as a sample of `--share` of its rows, drawn as
`--most-rows` draws. Counted are all judges × checks that have a value both times and an interval in
the sample. Left out are the expected calibration error, the coin share and the weakest category,
which noise biases in any number of items (docs/methods.md §10). Without a file the votes are those
of `random_votes`.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.random_votes import as_reading, random_votes
from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.finding.check import CheckResult
from core.importers import read
from core.schema import ImportResult, Selection
from core.store import Store
from core.warehouse.sample import sample_of

BIASED = ("calibration", "coin_share", "category")
SIMULATED = 480_000


def checks_of(reading: ImportResult) -> dict[tuple[str, str, str | None], CheckResult]:
    """Every check that has a value, by judge, name and metric."""
    with Store.holding([reading]) as store:
        found = audit(store, Selection(), AuditOptions(splits=0), readings=[reading])
    return {
        (check.judge, check.check, check.metric): check
        for rater in (*found.judges, *found.scores)
        for check in rater.checks
        if check.estimate is not None and check.check not in BIASED
    }


def coverage(reading: ImportResult, share: float, seeds: int) -> Iterator[Counter[str]]:
    """Of each seed: intervals, those that hold the value of all rows, grades that are the same, and
    grades that turn from ok to fail or back.
    """
    whole = checks_of(reading)
    most = round(reading.votes.num_rows * share)
    for seed in range(seeds):
        counts: Counter[str] = Counter()
        for key, check in checks_of(sample_of(reading, most, seed)).items():
            low, high = check.estimate.low, check.estimate.high
            if key not in whole or not (math.isfinite(low) and math.isfinite(high)):
                continue
            counts["intervals"] += 1
            counts["hold"] += low - 1e-12 <= whole[key].estimate.value <= high + 1e-12
            counts["same grade"] += check.grade == whole[key].grade
            counts["ok against fail"] += {check.grade, whole[key].grade} == {"ok", "fail"}
        yield counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    readings = [(file.name, read([(file.name, file)])[0]) for file in given.files] or [
        (
            f"random_votes, {SIMULATED:,}",
            as_reading(random_votes(SIMULATED, rng=np.random.default_rng(0)), name="votes"),
        )
    ]
    print(
        "| votes | rows | share | intervals | hold | lowest seed | same grade | ok against fail |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, reading in readings:
        seeds = list(coverage(reading, given.share, given.seeds))
        total = sum(seeds, Counter())
        lowest = min(counts["hold"] / counts["intervals"] for counts in seeds)
        print(
            f"| {name} | {reading.votes.num_rows:,} | {given.share:g} | {total['intervals']:,} | "
            f"{total['hold'] / total['intervals']:.3f} | {lowest:.3f} | "
            f"{total['same grade'] / total['intervals']:.3f} | {total['ok against fail']} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
