"""Small files that are wide take no more of a machine than others, in commands and on pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from apps import NAMES
from patience import LONG
from places import PYTHONPATH, REPOSITORY
from wide_files import WIDE

RESIDENT, SECONDS = 2 * 1024**3, 60
PAGES_OF_ALL = ("verdict", "agreement", "leaderboard")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="needs fork and the accounting of Linux"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wide")


@pytest.fixture(scope="module")
def attempts(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """What came of every file with every command and page."""
    done = subprocess.run(
        [sys.executable, "tests/pages/wide_attempts.py", str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=20 * LONG,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {(line["file"], line["what"]): line for line in lines}


def finished(done: dict[str, Any]) -> str:
    """What an attempt said that ended well and within the bounds."""
    said: str = done["said"]
    assert (done["code"], done["status"]) == (0, 0), said[-2000:]
    assert "Traceback" not in said
    assert done["resident"] < RESIDENT, f"{done['resident'] / 1024**2:,.0f} MB"
    assert done["cpu"] < SECONDS, f"{done['cpu']:.0f} s"
    return said


@pytest.mark.parametrize("file", WIDE)
def test_a_wide_file_is_imported_and_audited_and_reported(
    file: str, attempts: dict[tuple[str, str], dict[str, Any]], folder: Path
) -> None:
    html, found = ((folder / file).with_suffix(end) for end in (".html", ".json"))
    loaded = finished(attempts[file, "import"])
    assert "loaded into" in loaded
    assert len(loaded) < 2_000
    finished(attempts[file, "audit"])
    finished(attempts[file, "report"])
    audited, names = json.loads(found.read_text(encoding="utf-8")), file.partition(" ")[0]
    notes = " ".join(audited["notes"])
    if names == "5,000":
        noun = "models" if "models" in file else "judges"
        assert f"of 5,000 {noun}" in notes
        assert f"of 5,000 {noun}" in html.read_text(encoding="utf-8")
    else:
        assert "are audited" not in notes
        assert "Leaderboards hold" not in notes
    assert html.stat().st_size < 40 * 1024**2


@pytest.mark.parametrize("page", PAGES_OF_ALL)
@pytest.mark.parametrize("file", WIDE)
def test_a_page_answers_on_a_wide_file(
    file: str, page: str, attempts: dict[tuple[str, str], dict[str, Any]]
) -> None:
    drawn = json.loads(finished(attempts[file, page]))
    assert drawn["title"] == [NAMES[page]]
    assert not drawn["wrong"], drawn["wrong"]
    text = "\n".join(drawn["said"])
    assert ("300 of 5,000 judges are audited" in text) == ("judges" in file)
    if "models" in file and page == "leaderboard":
        count = file.partition(" ")[0]
        assert f"Leaderboards hold 300 of {count} models" in text
