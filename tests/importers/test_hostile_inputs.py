"""What hostile files take of a machine, and what they do to the votes that were there: nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import LONG
from places import PYTHONPATH, REPOSITORY

RESIDENT, SECONDS = 2 * 1024**3, 60


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and the accounting of Linux")
def test_no_input_takes_much_or_changes_what_is_there(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "tests/importers/hostile_inputs.py", str(tmp_path)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=20 * LONG,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    imported, audited, reported = (
        {each["name"]: each["code"] for each in found if each["command"] == verb}
        for verb in ("import", "audit", "report")
    )
    assert len(imported) >= 450
    assert len(audited) >= 450
    assert {name for name, code in audited.items() if code == 0} == {*reported}
    wrong = [
        each
        for each in found
        if each["code"] not in (0, 2)
        or each["status"]
        or each["resident"] > RESIDENT
        or each["cpu"] > SECONDS
        or not each["kept"]
        or "Traceback" in each["said"]
        or "not enough memory" in each["said"]
        # Refused in one line that names the file or what is wrong.
        or (each["code"] == 2 and not each["said"].startswith("appellate: "))
    ]
    assert not wrong, wrong
    found = [each for each in found if each["command"] == "import"]
    refused = {each["name"] for each in found if each["code"] == 2}
    assert {
        "a kilobyte of gzip with a million commas.csv.gz",
        "a new key in every row.jsonl",
        "nested a thousand deep.json",
        "a billion rows of nothing.parquet",
        "a pipe",
        "a folder without a file",
    } <= refused
    limits = {each["name"]: each["said"] for each in found}
    # Of a folder what is a file is read, and nothing else is waited for.
    assert "1 vote loaded" in limits["a folder with a pipe, a loop and votes"]
    assert "more than 10,000" in limits["a kilobyte of gzip with a million commas.csv.gz"]
    assert "more than 10,000" in limits["a new key in every row.jsonl"]
    assert "deeper than 64" in limits["nested a thousand deep.json"]
