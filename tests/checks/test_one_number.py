"""One quantity has one value: the text, its table, the JSON, the Markdown, the checks and the gates
show the same to the last digit.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from levels import first_of
from places import REPOSITORY
from readings import reading

from core.auditing.options import AuditOptions
from core.auditing.results import Audit
from core.auditing.run import audit
from core.importers import read
from core.reporting.build import to_junit, to_markdown
from core.reporting.document import to_json
from core.reporting.gates import parse_gate
from core.reporting.text import METRICS, to_text
from core.schema import ImportResult, Selection
from core.store import Store

DATA = REPOSITORY / "data"
NATIVE = REPOSITORY / "tests" / "data" / "native"
FILES: dict[str, list[Path]] = {
    "demo": [DATA / "demo_votes.csv.gz"],
    "example of the first slot": [DATA / "example_first_shown.csv"],
    **{
        f"{tool} {path.name[:40]}": [path]
        for tool in ("alpacaeval", "judgebench", "mtbench")
        for path in sorted((NATIVE / tool).glob("*.json*"))
        if path.name != "judge-1_single.jsonl"
    },
    "arenahard": sorted((NATIVE / "arenahard").glob("*.jsonl")),
    "pandalm": sorted((NATIVE / "pandalm").glob("*.json")),
}
REAL = [
    "faireval",
    "judgebench",
    "judgeconf",
    "ko_arena_hard",
    "pandalm",
    "pba_position",
    "pba_repeat",
    "rewardbench2_pairs",
    "rewardbench2_temperature",
    "wmt23_ende_humans",
]
Judge = dict[str, Any]


def part(name: str, key: str) -> Callable[[Judge], float | None]:
    """A figure of a judge in the document; None where it, or its part, is null."""
    return lambda judge: (judge[name] or {}).get(key)


def gap(judge: Judge) -> float | None:
    """How much confidence is above the share right."""
    stated = judge["calibration"]
    return stated and stated["mean_confidence"] - stated["accuracy"]


SAME = {
    "accuracy": part("direction", "value"),
    "stability": part("position", "hard_flip_rate"),
    "calibration": part("calibration", "ece"),
    "overconfidence": gap,
    "discrimination": part("discrimination", "auroc"),
    "repeatability": part("repeatability", "icc_3_k"),
    "length": part("length", "difference"),
    "own_family": part("own_family", "difference"),
}
"""What a check estimates, and the same quantity among a judge's figures."""
ENDS = {"accuracy": "direction", "discrimination": "discrimination", "length": "length"}
"""Checks whose interval is among the figures too."""
FIGURES: dict[str, Callable[[Judge], float | None]] = {
    **{name: part("calibration", name) for name in ("ece", "ace", "mce", "brier", "nll")},
    "accuracy": part("direction", "value"),
    "exact": part("accuracy", "value"),
    "bias_decided": part("position", "bias_decided"),
    "flip_rate": part("position", "flip_rate"),
    "icc_3_k": part("repeatability", "icc_3_k"),
}
"""What each gate compares, by its place in the document."""
TABLE = {
    "right": FIGURES["accuracy"],
    "exact": FIGURES["exact"],
    "ECE": FIGURES["ece"],
    "bias decided": FIGURES["bias_decided"],
    "flips": FIGURES["flip_rate"],
    "ICC(3,k)": FIGURES["icc_3_k"],
}
"""Columns of the table of judges."""
PRINTED = {
    "accuracy": (r"Right on ([\d.]+) %", 100.0, 0),
    "stability": (r"([\d.]+) % of verdicts reverse", 100.0, 0),
    "calibration": (r"off by ([\d.]+) points", 100.0, 1),
    "discrimination": (r"AUROC ([\d.]+)", 1.0, 2),
    "repeatability": (r"ICC\(3,k\) (-?[\d.]+)", 1.0, 2),
}
"""The number that the sentence of a check begins with: where it stands, scale and digits."""


def audited(readings: list[ImportResult]) -> Audit:
    with Store.open() as store:
        for each in readings:
            store.load(each)
        return audit(store, Selection(), AuditOptions(splits=0), readings=readings)


def rows_of_the_table(text: str) -> dict[str, dict[str, str]]:
    """Judge → cells of the text's table of judges by heading."""
    lines = iter(text.splitlines())
    next(line for line in lines if line == "Judges")
    heads = re.split(r"\s{2,}", next(lines).strip())
    rows = {}
    for line in lines:
        if not line.strip():
            break
        cells = re.split(r"\s{2,}", line.strip())
        assert len(cells) == len(heads), line
        rows[cells[0]] = dict(zip(heads, cells, strict=True))
    return rows


def differences(found: Audit) -> Iterator[str]:
    """Where two places show one quantity of a judge with two values."""
    document = json.loads(to_json(found))
    text = to_text(found)
    table = rows_of_the_table(text)
    judges: dict[str, Judge] = document["judges"]
    compared = 0
    for check in document["verdicts"]:
        name, judge = check["check"], judges[check["judge"]]
        if check["sentence"] not in text:
            yield f"{check['judge']}, {name}: the text has another sentence"
        if name not in SAME or check["estimate"] is None:
            continue
        figure = SAME[name](judge)
        exactly = figure == check["estimate"]
        if name == "overconfidence":
            exactly = figure == pytest.approx(check["estimate"], abs=1e-12)
        # Repeats that change more than their order may say are graded by what order adds.
        if name == "stability" and "often than a repeat" in check["sentence"]:
            continue
        if name == "stability" and "counting half" in check["sentence"]:
            continue
        compared += 1
        if not exactly:
            yield f"{check['judge']}, {name}: check {check['estimate']}, figure {figure}"
        if name in ENDS:
            ends = [judge[ENDS[name]][end] for end in ("low", "high")]
            if judge["discrimination"] and judge["discrimination"]["constant"]:
                continue
            if ends != [check["low"], check["high"]]:
                yield f"{check['judge']}, {name}: ends {check['low'], check['high']} and {ends}"
        if name in PRINTED and (match := re.search(PRINTED[name][0], check["sentence"])):
            _, scale, digits = PRINTED[name]
            printed, value = match[1], scale * float(check["estimate"])
            if abs(float(printed) - value) > 0.5 * 10.0**-digits + 1e-9:
                yield f"{check['judge']}, {name}: says {printed} of {value}"
    for name, judge in judges.items():
        for head, figure_of in TABLE.items():
            value = figure_of(judge)
            written = "–" if value is None else f"{value:.3f}"
            if table[name][head] != written:
                yield f"{name}, {head}: table {table[name][head]}, JSON {written}"
        compared += len(TABLE)
    passing = {judge.judge for judge in found.asked_about}
    for metric, figure_of in FIGURES.items():
        gate = parse_gate(f"{metric}>-1e9")
        said = dict.fromkeys(judges, "")
        for sentence in gate.tested(found).reasons:
            for name in judges:
                if sentence.startswith(f"{gate}: {name} has "):
                    said[name] = sentence.removeprefix(f"{gate}: {name} has ")
        for name in passing:
            value = figure_of(judges[name])
            wanted = f"no {metric}." if value is None else f"{metric} {value:.6g}."
            compared += 1
            if said[name] != wanted:
                yield f"{name}, {metric}: gate {said[name]!r}, JSON {wanted!r}"
    junit = to_junit(found)
    for check in document["verdicts"]:
        if check["verdict"] in ("fail", "warn") and check["judge"] in passing:
            plain = re.sub(r"\\(.)", r"\1", to_markdown(found))
            start = check["sentence"].partition("&")[0].partition("<")[0].partition("@")[0]
            if start not in plain or start.partition('"')[0] not in junit:
                yield f"{check['judge']}, {check['check']}: not in the Markdown or the JUnit"
            break
    assert compared >= len(judges) * len(TABLE) + len(passing) * len(FIGURES)


def test_every_gate_has_its_place_in_the_document() -> None:
    assert set(FIGURES) == set(METRICS)


@pytest.mark.parametrize("name", first_of(*FILES, n=3))
def test_one_quantity_is_shown_alike_everywhere(name: str) -> None:
    readings = read([(path.name, path) for path in FILES[name]])
    assert [*differences(audited(readings))] == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", REAL)
def test_one_quantity_of_a_real_file_is_shown_alike_everywhere(
    shared_data: Path, name: str
) -> None:
    path = shared_data / "votes" / f"{name}.csv.gz"
    assert [*differences(audited(read([(path.name, path)])))] == []


def uneven() -> list[dict[str, Any]]:
    """One item with 100 votes, half of them right, and 40 items with one, 36 right; a sixth of the
    outputs has no verdict, and a tie stands where gold decides.
    """
    rows = []
    for item in range(41):
        for run in range(100 if not item else 1):
            right = run < 50 if not item else item > 4
            vote = 1 if right else 0 if item == 4 else -1
            rows.append(
                {
                    "item_id": f"i{item}",
                    "judge": "j",
                    "run": run,
                    "vote": vote,
                    "gold": 1,
                    "confidence": 0.9,
                    "position": "ab" if run % 2 else "ba",
                    "status": "ok",
                }
            )
    for item in range(41, 61):
        rows.append({**rows[-1], "item_id": f"i{item}", "run": 0, "vote": None, "status": "error"})
    return rows


def test_unequal_votes_and_missing_outputs_have_one_value_too() -> None:
    """Weighing votes and items in two places said +28.6 and +1.0 points on one page."""
    found = audited([reading(uneven())])
    assert [*differences(found)] == []
    (judge,) = found.judges
    (accuracy,) = [result for result in found.checks if result.check == "accuracy"]
    # 36 of 41 items, and half of the 20 without a verdict: (0.5 + 36 + 0.5 + 10)/61.
    assert accuracy.estimate is not None
    assert accuracy.estimate.value == pytest.approx((0.5 + 36 + 0.5 + 10) / 61)
    assert judge.accuracy == accuracy.estimate
    assert "Outputs without a verdict count half." in accuracy.sentence
    # Verdicts weigh alike in every figure of confidence.
    (over,) = [result for result in found.checks if result.check == "overconfidence"]
    assert over.estimate is not None
    assert over.estimate.value == pytest.approx(0.9 - (50 + 36) / 140)
    assert judge.calibration is not None
    assert judge.calibration.ece == pytest.approx(over.estimate.value)
    assert not math.isnan(over.estimate.low)
