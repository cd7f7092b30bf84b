"""What everything costs on this machine, beside what a user would write instead, as one Markdown
table.

    python -m benchmarks [--votes 1000000] [--judges 1] [--repeats 9] [--only step file import
    rivals …]

Goals are goals: nothing fails if one is missed, for the machine may be busy or small.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import (
    browser,
    engines,
    files,
    first_picture,
    interactions,
    judging,
    next_card,
    questions,
    rivals,
)
from benchmarks.timing import Row, Skipped, busy, load_now, machine, table

PARTS = ("step", "file", "import", "browser", "pages", "scale", "judging", "rivals", "engines")
FEW = 9_984


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--votes", type=int, default=1_000_000, help="votes of the simulated store")
    parser.add_argument("--judges", type=int, default=1, help="judges who share them; one is timed")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument(
        "--large", type=int, default=9_999_936, help="votes of the files that are loaded"
    )
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--file", type=Path, default=files.VOTES, help="real votes to audit")
    parser.add_argument(
        "--results", type=Path, default=rivals.RESULTS, help="JSON file that keeps ratios"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args(arguments)

    before = load_now()
    found: list[Row | Skipped] = []
    beside: list[rivals.Rival] = []
    there: list[engines.There] = []
    for part in options.only:
        print(f"timing: {part}", file=sys.stderr)
        if part == "step":
            found += questions.rows(
                options.votes,
                judges=options.judges,
                repeats=options.repeats,
                n_splits=options.splits,
            )
        elif part == "file":
            found += files.rows(options.file, repeats=min(options.repeats, 5))
        elif part == "import":
            found.append(files.importing(repeats=options.repeats))
            found.append(files.small_audit(repeats=options.repeats))
        elif part == "judging":
            found += judging.rows(repeats=options.repeats)
        elif part == "pages":
            from benchmarks import screenshots  # with Streamlit, which the other parts do without

            found += interactions.rows(repeats=min(options.repeats, 5))
            found.append(next_card.row())
            with tempfile.TemporaryDirectory() as folder:
                store = screenshots.made(screenshots.many, Path(folder))
                found += browser.first_pictures(
                    store, what="65 judges", repeats=min(options.repeats, 3)
                )
                demo = interactions.demo_store(Path(folder) / "demo.duckdb")
                found += first_picture.rows({"65 judges": store, "demo": demo})
        elif part == "scale":
            with tempfile.TemporaryDirectory() as folder:
                large, small = (
                    browser.random_store(Path(folder), n, judges=4) for n in (options.large, FEW)
                )
                found += browser.key_presses(
                    large, what=f", {options.large:,} votes", repeats=options.repeats
                )
                found += browser.pages_at_scale(large, small, repeats=min(options.repeats, 3))
        elif part == "rivals":
            beside = rivals.run(options.large)
        elif part == "engines":
            there = [*engines.run(options.large)]
        else:
            found += browser.rows(n_votes=options.votes, repeats=options.repeats)
    print(f"{machine()}\n{busy(before, load_now())}\n")
    if "step" in options.only:
        shared = "one judge" if options.judges == 1 else f"each of {options.judges} judges"
        print(
            f"Without a file named: {options.votes:,} simulated votes, {shared}, 12 a comparison.\n"
        )
    if beside:
        print(f"{rivals.table(beside)}\n")
    if there:
        print(f"{engines.table(there)}\n")
    timed = [rivals.of_row(row) for row in found if isinstance(row, Row)]
    kept = [*beside, *(row for row in timed if row), *(engines.recorded(there) if there else ())]
    rivals.record(kept, options.results)
    if not found:
        return
    print(table(found))
    print("\nMedian (least) of several runs in turns. Ratio of medians: below 1 ours is faster.")


if __name__ == "__main__":
    main()
