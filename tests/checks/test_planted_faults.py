"""Planted faults are found on the user's machine, and what is not planted is not."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from patience import LONG
from places import REPOSITORY

from benchmarks import faults


def test_a_table_of_planted_faults(capsys: pytest.CaptureFixture[str]) -> None:
    faults.main(["--draws", "3"])
    text = capsys.readouterr().out
    for fault in faults.FAULTS:
        row = next(line for line in text.splitlines() if fault.name in line)
        found, alarms = re.findall(r"(\d) of 3 \(", row)
        assert (int(found), fault.check in row) == (3, True), row
        assert int(alarms) <= 1, row
    assert text.endswith("Every fault was found in most draws.\n")


@pytest.mark.thorough
def test_a_judge_without_the_fault_is_not_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same names, and nothing planted."""
    innocent = tuple(replace(fault, parameters=()) for fault in faults.FAULTS)
    monkeypatch.setattr(faults, "FAULTS", innocent)
    found = faults.planted(3, 5)
    assert sum(each.power for each in found) <= 2
    assert any("Missed in most draws: answers by coin" in line for line in faults.table(found))


@pytest.mark.thorough
def test_the_same_seed_says_the_same() -> None:
    assert faults.planted(1, 3) == faults.planted(1, 3)


@pytest.mark.parametrize("words", [["--draws", "0"], ["--draws", "1001"], ["--seed", "-1"]])
def test_impossible_numbers_are_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        faults.main(words)
    assert words[0] in capsys.readouterr().err


@pytest.mark.thorough
def test_as_a_process_with_few_false_alarms() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", "--draws", "20"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=True,
    )
    counts = [re.findall(r"(\d+) of 20 \(", line) for line in done.stdout.splitlines()]
    rows = [(int(found), int(alarms)) for found, alarms in filter(None, counts)]
    assert len(rows) == len(faults.FAULTS)
    assert all(found >= 18 for found, _ in rows)
    # 5 % each at most: more than 4 of 20, or 12 of 120, by chance in under 1 % of runs.
    assert all(alarms <= 4 for _, alarms in rows)
    assert sum(alarms for _, alarms in rows) <= 2 * len(rows)
