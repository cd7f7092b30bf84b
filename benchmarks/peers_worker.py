"""What other packages say of planted judges, run by an interpreter that has them installed.

`benchmarks.peers` starts it with a folder of JSON files, each a list of rows; it prints a JSON list
with the file, the tool, what it flagged and the processor seconds of the call. It imports nothing
of ours, so that the packages need no place in our environment.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def _lines(path: Path, rows: list[Row]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def judge_audit(kind: str, rows: list[Row], folder: Path) -> list[str]:
    """Findings of severity `serious` or worse, of every command that applies."""
    from judge_audit_mcp.calibrate import calibrate
    from judge_audit_mcp.probes import PROBES

    found = []
    if kind == "pairs":
        votes = [
            {
                "item_id": row["item_id"],
                "choice": row["slot"],
                "variant": "swapped" if row["swapped"] else "",
                "judge_model": "j",
            }
            for row in rows
        ]
        found.append(PROBES["position"](_lines(folder / "votes.jsonl", votes)))
        own = [
            {"item_id": row["item_id"], "choice": row["choice"], "judge_model": "j"}
            for row in rows
            if not row["swapped"]
        ]
        gold = [
            {"item_id": row["item_id"], "choice": row["gold"]} for row in rows if not row["swapped"]
        ]
        found.append(calibrate(*_both(folder, own, gold)))
    else:
        name = "label" if kind == "passed" else "score"
        own = [
            {
                "item_id": row["item_id"],
                name: row["judge"],
                "output_len": row.get("length", 0),
                "judge_model": "j",
            }
            for row in rows
        ]
        gold = [
            {"item_id": row["item_id"], name if kind == "passed" else "human_score": row["human"]}
            for row in rows
        ]
        judged, labelled = _both(folder, own, gold)
        found.append(calibrate(judged, labelled))
        if kind == "scores":
            scale = {"scale_min": 1.0, "scale_max": 5.0}
            found.append(PROBES["distribution"](judged, **scale))
            found.append(PROBES["length_confound"](judged, gold_path=labelled))
    serious = ("serious", "invalidating")
    return [one.id for each in found for one in each.findings if one.severity in serious]


def _both(folder: Path, own: list[Row], gold: list[Row]) -> tuple[str, str]:
    return _lines(folder / "own.jsonl", own), _lines(folder / "gold.jsonl", gold)


def judgekit(kind: str, rows: list[Row], folder: Path) -> list[str]:
    """Probes whose interval lies outside the band of an innocent judge."""
    from judgekit.audit import run_audit
    from judgekit.schema import VERDICT_ADAPTER

    def verdicts(who: str) -> list[Any]:
        made = []
        for row in rows:
            one: Row = {"item_id": row["item_id"], "judge_id": who}
            if kind == "scores":
                one |= {"kind": "graded", "score": row[who], "candidate_len": row["length"]}
            elif kind == "passed":
                one |= {"kind": "binary", "label": row[who] == "pass"}
            elif who == "judge":
                one |= {
                    "kind": "pairwise",
                    "choice": row["choice"].lower(),
                    "swapped": row["swapped"],
                    "a_len": row["length_a"],
                    "b_len": row["length_b"],
                }
            elif not row["swapped"]:
                one |= {"kind": "pairwise", "choice": row["gold"].lower()}
            else:
                continue
            made.append(VERDICT_ADAPTER.validate_python(one))
        return made

    return [flag.name for flag in run_audit(verdicts("judge"), verdicts("human")).flags]


def judgekeeper(kind: str, rows: list[Row], folder: Path) -> list[str]:
    """The level of `check`, unless it is usable, on pass and fail: of levels, from 4 on."""
    from judgekeeper.cli import main

    if kind == "pairs":
        raise NotImplementedError

    def word(value: str | float) -> str:
        return value if isinstance(value, str) else "pass" if value >= 4 else "fail"

    table = [
        {
            "id": row["item_id"],
            "verdict": word(row["judge"]),
            "label": word(row["human"]),
            "output": row["item_id"],
        }
        for row in rows
    ]
    path, out = _lines(folder / "table.jsonl", table), folder / "report"
    main(["check", path, "--out", str(out)])
    (report,) = out.rglob("report.json")
    level: str = json.loads(report.read_text(encoding="utf-8"))["verdict"]["level"]
    return [] if level == "usable" else [level]


def judgecal(kind: str, rows: list[Row], folder: Path) -> list[str]:
    """The position probe, whose two passes are the two orders; its other probes need a judge."""
    from judgecal.core import Judgment
    from judgecal.probes.base import ProbeConfig
    from judgecal.probes.position import PositionProbe

    if kind != "pairs":
        raise NotImplementedError
    judgments = [
        Judgment(
            custom_id=str(place),
            verdict="first" if row["slot"] == "A" else "second",
            raw_text=None,
            meta={
                "probe": "position",
                "condition": "swap" if row["swapped"] else "orig",
                "item_id": row["item_id"],
                "first_is_a": not row["swapped"],
                "repeat": 0,
            },
        )
        for place, row in enumerate(rows)
    ]
    found = PositionProbe().analyze(judgments, ProbeConfig())
    return [
        one.name
        for one in found.estimates
        if one.null_value is not None and not one.ci_low <= one.null_value <= one.ci_high
    ]


TOOLS: dict[str, Callable[[str, list[Row], Path], list[str]]] = {
    "judge-audit-mcp": judge_audit,
    "judgekit": judgekit,
    "judgekeeper": judgekeeper,
    "judgecal": judgecal,
}


def answers(folder: Path, tools: Sequence[str]) -> Iterator[Row]:
    """Every file by every tool, or those of `tools`, that takes its kind."""
    for path in sorted(folder.glob("*.json")):
        rows = json.loads(path.read_text(encoding="utf-8"))
        kind = path.name.partition("-")[0]
        for tool in tools or TOOLS:
            with tempfile.TemporaryDirectory() as place:
                start = time.process_time()
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        flags = TOOLS[tool](kind, rows, Path(place))
                except NotImplementedError:
                    continue
                seconds = time.process_time() - start
            yield {"file": path.stem, "tool": tool, "flags": flags, "seconds": seconds}


if __name__ == "__main__":
    print(json.dumps(list(answers(Path(sys.argv[1]), sys.argv[2:]))))
