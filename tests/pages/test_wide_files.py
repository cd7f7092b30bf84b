"""Small files that are wide take no more of a machine than others, in commands and on pages."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from apps import TITLES
from places import PYTHONPATH, REPOSITORY
from wide_files import WIDE

RESIDENT, SECONDS = 2 * 1024**3, 60
PAGES_OF_ALL = ("overview", "agreement", "leaderboard")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="needs the accounting of Linux"),
]


def bounded() -> None:
    """A backstop: what runs away ends itself."""
    resource.setrlimit(resource.RLIMIT_CPU, (2 * SECONDS, 2 * SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (3 * RESIDENT, 3 * RESIDENT))


def finished(*arguments: str, store: Path) -> str:
    """What a process said that ended well and within the bounds."""
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": PYTHONPATH, "APPELLATE_STORE": str(store)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=bounded,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said[-2000:]
    assert used.ru_maxrss * 1024 < RESIDENT, f"{used.ru_maxrss / 1024:,.0f} MB"
    assert used.ru_utime + used.ru_stime < SECONDS, f"{used.ru_utime + used.ru_stime:.0f} s"
    return said


@pytest.fixture(scope="module", params=list(WIDE))
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wide") / str(request.param)
    path.write_bytes(WIDE[str(request.param)]())
    return path


@pytest.fixture(scope="module")
def store(file: Path) -> Path:
    return file.with_suffix(".duckdb")


def test_a_wide_file_is_imported_and_audited_and_reported(file: Path, store: Path) -> None:
    html, found = file.with_suffix(".html"), file.with_suffix(".json")
    loaded = finished("-m", "core", "import", str(file), "--store", str(store), store=store)
    assert "loaded into" in loaded
    assert len(loaded) < 2_000
    finished("-m", "core", "audit", str(file), "--json", str(found), store=store)
    finished("-m", "core", "report", str(file), "--html", str(html), store=store)
    audited, names = json.loads(found.read_text(encoding="utf-8")), file.name.partition(" ")[0]
    notes = " ".join(audited["notes"])
    if names == "5,000":
        noun = "models" if "models" in file.name else "judges"
        assert f"of 5,000 {noun}" in notes
        assert f"of 5,000 {noun}" in html.read_text(encoding="utf-8")
    else:
        assert "are audited" not in notes
        assert "Leaderboards hold" not in notes
    assert html.stat().st_size < 40 * 1024**2


@pytest.mark.parametrize("page", PAGES_OF_ALL)
def test_a_page_answers_on_a_wide_file(file: Path, store: Path, page: str) -> None:
    if not store.exists():
        finished("-m", "core", "import", str(file), "--store", str(store), store=store)
    drawn = json.loads(finished("tests/pages/one_page.py", page, store=store).splitlines()[-1])
    assert drawn["title"] == [TITLES[page]]
    assert not drawn["wrong"], drawn["wrong"]
    text = "\n".join(drawn["said"])
    judges = "judges" in file.name or "columns" in file.name
    assert ("300 of 5,000 judges are audited" in text) == judges
    if "models" in file.name and page == "leaderboard":
        count = file.name.partition(" ")[0]
        assert f"Leaderboards hold 300 of {count} models" in text
