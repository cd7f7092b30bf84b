"""The same planted judges by other packages that audit judges: `python -m benchmarks.peers`.

Judges of single answers and of pairs with one planted fault, 60 and 300 items, are given to
judge-audit-mcp, judgekit, judgekeeper and judgecal, and to our audit: which name the fault, how
many clean judges are flagged, and processor seconds without the start of a process; `--only noise`
asks what a noisy judge and a noisy person look like. The packages of `requirements/peers.txt` lie
in an environment of their own, whose interpreter is `--python`.
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
from core.questions.scores.agreement import score_agreement
from core.questions.scores.table import ScoreTable
from core.use.one_call import audit

SIZES = (60, 300)
DRAWS, NOISE_DRAWS = 10, 400
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
NOISY = "noisy, r .35"
FAIR = {
    f"fair, noise {noise:g}": Planted(noise=noise, judge_noise=noise) for noise in (0.3, 0.5, 0.8)
}
"""Judges as noisy as their person."""
LIMITS_ON_R = (0.5, 0.55, 0.6, 0.65, 0.7)
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
        one = draw(FAIR.get(fault) or Planted(fault=fault), n, rng)
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


def ours(kind: str, rows: list[Row]) -> tuple[list[str], bool]:
    """Checks that warn or fail, and whether the judge is trusted without a limit."""
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
    flags = [result.check for result in results if result.grade in ("warn", "fail")]
    (overall,) = found.overall.values() or (one.overall for one in found.scores)
    return flags, overall.verdict == "trust"


def planted(folder: Path, kind: str, fault: str, n: int, turn: int) -> tuple[str, list[Row]]:
    """One file in a folder: its name without an ending, and its rows."""
    rng = np.random.default_rng([turn, n, *kind.encode(), *fault.encode()])
    rows = rows_of(kind, fault, n, rng)
    name = f"{kind}-{fault}-{n}-{turn}"
    (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    return name, rows


def told(python: str, folder: Path, *tools: str) -> list[Row]:
    """What the other packages, or some of them, say of the files of a folder."""
    worker = Path(__file__).with_name("peers_worker.py")
    ran = subprocess.run(
        [python, str(worker), str(folder), *tools], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise SystemExit(f"{worker.name} did not run:\n{ran.stderr[-2000:]}")
    answers: list[Row] = json.loads(ran.stdout)
    return answers


def run(draws: int, python: str) -> list[Row]:
    """Every planted file by every tool."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        for kind, faults in FAULTS.items():
            for fault in (CLEAN, *faults):
                for n in SIZES:
                    for turn in range(draws * (2 if fault == CLEAN else 1)):
                        name, rows = planted(Path(place), kind, fault, n, turn)
                        start = time.process_time()
                        flags, trusted = ours(kind, rows)
                        seconds = time.process_time() - start
                        found.append(
                            {
                                "file": name,
                                "tool": "ours",
                                "flags": flags,
                                "trusted": trusted,
                                "seconds": seconds,
                            }
                        )
        found += told(python, Path(place))
    return found


def noise(draws: int, sizes: Sequence[int], python: str) -> list[str]:
    """Of a noisy judge, and of fair ones beside people as noisy as they are, the share that is
    named: by the packages that claim it, and by the interval of r below several limits.
    """
    judges = (NOISY, *FAIR)
    columns = [(judge, n) for n in sizes for judge in judges]
    tools = [tool for tool in NAMES if tool != "ours" and NOISY in NAMES[tool]]
    limits = {f"interval of r below {limit:g}": limit for limit in LIMITS_ON_R}
    hits: dict[tuple[str, str, int], int] = defaultdict(int)
    r_of: dict[tuple[str, int], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as place:
        for judge, n in columns:
            for turn in range(draws):
                _, rows = planted(Path(place), "scores", judge, n, turn)
                judged, human = ([row[who] for row in rows] for who in ("judge", "human"))
                r = score_agreement(ScoreTable.of(judged, human)).association
                if r is not None:
                    r_of[judge, n].append(r.value)
                    for name, limit in limits.items():
                        hits[name, judge, n] += r.high < limit
        for row in told(python, Path(place), *tools):
            _, judge, n, _ = row["file"].split("-")
            begins = named(row["tool"], "scores", NOISY) or ""
            hits[row["tool"], judge, int(n)] += any(
                flag.startswith(begins) for flag in row["flags"]
            )
    lines = [
        "| named as noisy | " + " | ".join(f"{judge}, {n}" for judge, n in columns) + " |",
        "|---|" + "--:|" * len(columns),
        "| mean r | " + " | ".join(f"{np.mean(r_of[column]):.2f}" for column in columns) + " |",
    ]
    for rule in (*tools, *limits):
        cells = " | ".join(f"{hits[rule, judge, n] / draws:.2f}" for judge, n in columns)
        lines.append(f"| {rule} | {cells} |")
    return lines


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
    for fault in (NOISY, CLEAN):
        # The one verdict of judgekeeper is whether a judge is *usable*.
        cells = []
        for tool, n in columns:
            rows = by[tool, "scores", fault, n] if tool in ("ours", "judgekeeper") else []
            trusted = sum(row.get("trusted", not row["flags"]) for row in rows)
            cells.append(f"{trusted} of {len(rows)}" if rows else "–")
        lines.append(
            f"| scores: {'clean' if fault == CLEAN else fault}, trusted | {' | '.join(cells)} |"
        )
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
    parser.add_argument("--draws", type=int, help=f"of each fault ({DRAWS}, noise {NOISE_DRAWS})")
    parser.add_argument("--python", default=sys.executable, help="interpreter with the packages")
    parser.add_argument("--only", choices=("faults", "noise"), default="faults")
    parser.add_argument("--items", type=int, nargs="+", default=SIZES, help="of --only noise")
    options = parser.parse_args(arguments)
    if options.only == "noise":
        lines = noise(options.draws or NOISE_DRAWS, options.items, options.python)
    else:
        draws = options.draws or DRAWS
        lines = table(run(draws, options.python), draws)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
