"""The same planted judges by other packages that audit judges: `python -m benchmarks.peers`.

Judges of single answers and of pairs with one planted fault, 60 and 300 items, are given to
judge-audit-mcp, judgekit, judgekeeper and judgecal, and to our audit: which name the fault, how
many clean judges are flagged, and processor seconds without the start of a process. The packages of
`requirements/peers.txt` lie in an environment of their own, whose interpreter is `--python`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.planted_scores import Planted, draw, draw_verdicts
from core.one_call import audit

SIZES = (60, 300)
DRAWS = 10
Row = dict[str, Any]

CLEAN = "none"
FAULTS = {
    "scores": (
        "lenient one level",
        "compressed .4",
        "noisy, r .35",
        "inverted",
        "length .11 per SD",
        "coin",
    ),
    "passed": ("always passes", "coin"),
    "pairs": ("first slot", "length", "coin"),
}
NAMES = {
    "ours": {
        "lenient one level": "leniency",
        "compressed .4": "spread",
        "noisy, r .35": "association",
        "inverted": "association",
        "length .11 per SD": "score_length",
        "length": "length",
        "first slot": "position",
        "passed coin": "association",
        "always passes": "tnr",
        "coin": "association",
        "pairs coin": "accuracy",
    },
    "judge-audit-mcp": {
        "compressed .4": "bias.dist",
        "noisy, r .35": "cal.",
        "inverted": "cal.",
        "length .11 per SD": "bias.length.controlled",
        "coin": "cal.",
        "passed coin": "cal.",
        "always passes": "cal.",
        "first slot": "bias.position.skew",
        "pairs coin": "cal.",
    },
    "judgekit": {
        "compressed .4": "central tendency",
        "length .11 per SD": "verbosity bias",
        "length": "verbosity bias (pairwise)",
        "first slot": "position preference",
    },
    "judgekeeper": {
        "noisy, r .35": "",
        "inverted": "",
        "coin": "",
        "passed coin": "",
        "always passes": "",
    },
    "judgecal": {"first slot": ""},
}
"""Fault → what a flag that names it begins with; a tool does not claim the others. `judgekeeper`
and `judgecal` have one verdict for what they look at."""


def named(tool: str, kind: str, fault: str) -> str | None:
    """How a flag begins that names the fault; None where the tool has no such question."""
    of_tool = NAMES[tool]
    return of_tool.get(f"{kind} {fault}", of_tool.get(fault))


def rows_of(kind: str, fault: str, n: int, rng: np.random.Generator) -> list[Row]:
    """One file: a row per answer, or per pair and order."""
    if kind == "scores":
        one = draw(Planted(fault=fault), n, rng)
        size = np.maximum((400 + 150 * one.length).astype(int), 1)
        return [
            {"item_id": f"i{k:04d}", "judge": float(j), "human": float(h), "length": int(length)}
            for k, (j, h, length) in enumerate(zip(one.judge, one.people[:, 0], size, strict=True))
        ]
    if kind == "passed":
        judge, gold = draw_verdicts(fault, n, rng)
        words = ("fail", "pass")
        return [
            {"item_id": f"i{k:04d}", "judge": words[int(j)], "human": words[int(h)]}
            for k, (j, h) in enumerate(zip(judge, gold, strict=True))
        ]
    rows = []
    better, longer = rng.standard_normal((2, n))
    for k in range(n):
        gold = "A" if better[k] > 0 else "B"
        for swapped in (False, True):
            felt = better[k] + 0.3 * rng.standard_normal()
            if fault == "length":
                felt += 0.9 * longer[k]
            elif fault == "first slot":
                felt += -0.8 if swapped else 0.8
            elif fault == "coin":
                felt = rng.standard_normal()
            choice = "A" if felt > 0 else "B"
            rows.append(
                {
                    "item_id": f"i{k:04d}",
                    "swapped": swapped,
                    "choice": choice,
                    "slot": choice if not swapped else "BA"["AB".index(choice)],
                    "gold": gold,
                    "length_a": int(500 + 100 * longer[k]),
                    "length_b": int(500 - 100 * longer[k]),
                }
            )
    return rows


def ours(kind: str, rows: list[Row]) -> list[str]:
    """Checks that warn or fail."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    if kind == "pairs":
        frame = pd.DataFrame(
            {
                "item_id": frame.item_id,
                "judge": "j",
                "position": np.where(frame.swapped, "ba", "ab"),
                "vote": np.where(frame.choice == "A", 1, -1),
                "gold": np.where(frame.gold == "A", 1, -1),
                "length_a": frame.length_a,
                "length_b": frame.length_b,
            }
        )
    elif kind == "passed":
        frame = frame.rename(columns={"judge": "judge_passed", "human": "human_passed"})
    else:
        frame = frame.rename(columns={"judge": "judge_score", "human": "human_score"})
    found = audit(frame, splits=0)
    results = [*found.checks, *(result for one in found.scores for result in one.checks)]
    return [result.check for result in results if result.grade in ("warn", "fail")]


def run(draws: int, python: str) -> list[Row]:
    """Every planted file by every tool."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for kind, faults in FAULTS.items():
            for fault in (CLEAN, *faults):
                for n in SIZES:
                    for turn in range(draws * (2 if fault == CLEAN else 1)):
                        rng = np.random.default_rng([turn, n, *kind.encode(), *fault.encode()])
                        rows = rows_of(kind, fault, n, rng)
                        name = f"{kind}-{fault}-{n}-{turn}"
                        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
                        start = time.process_time()
                        flags = ours(kind, rows)
                        seconds = time.process_time() - start
                        found.append(
                            {"file": name, "tool": "ours", "flags": flags, "seconds": seconds}
                        )
        worker = Path(__file__).with_name("peers_worker.py")
        told = subprocess.run(
            [python, str(worker), place], capture_output=True, text=True, check=False
        )
        if told.returncode:
            raise SystemExit(f"{worker.name} did not run:\n{told.stderr[-2000:]}")
        found += json.loads(told.stdout)
    return found


def table(found: Sequence[Row], draws: int) -> list[str]:
    """A row per fault, a column per tool and size."""
    by: dict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
    for row in found:
        kind, fault, n, _ = row["file"].split("-")
        by[row["tool"], kind, fault, n].append(row)
    tools = list(NAMES)
    columns = [(tool, str(n)) for tool in tools for n in SIZES]
    lines = [
        "| planted | " + " | ".join(f"{tool}, {n}" for tool, n in columns) + " |",
        "|---|" + "--:|" * len(columns),
    ]
    words = {"scores": "scores", "passed": "pass/fail", "pairs": "pairs"}
    for kind, faults in FAULTS.items():
        for fault in faults:
            cells = []
            for tool, n in columns:
                begins, rows = named(tool, kind, fault), by[tool, kind, fault, n]
                if begins is None or not rows:
                    cells.append("–")
                    continue
                hits = sum(any(flag.startswith(begins) for flag in row["flags"]) for row in rows)
                cells.append(f"{hits} of {len(rows)}")
            lines.append(f"| {words[kind]}: {fault} | {' | '.join(cells)} |")
    for kind in FAULTS:
        cells = []
        for tool, n in columns:
            rows = by[tool, kind, CLEAN, n]
            flagged = sum(bool(row["flags"]) for row in rows)
            cells.append(f"{flagged} of {len(rows)}" if rows else "–")
        lines.append(f"| {words[kind]}: clean, flagged | {' | '.join(cells)} |")
    cells = []
    for tool, n in columns:
        seconds = [
            row["seconds"] for row in found if row["tool"] == tool and f"-{n}-" in row["file"]
        ]
        cells.append(f"{np.median(seconds):.3f}" if seconds else "–")
    lines.append(f"| processor seconds of a call, median | {' | '.join(cells)} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"of each fault ({DRAWS})")
    parser.add_argument("--python", default=sys.executable, help="interpreter with the packages")
    options = parser.parse_args(arguments)
    print("\n".join(table(run(options.draws, options.python), options.draws)))


if __name__ == "__main__":
    main()
