"""What `pages/shared/first_picture.py` saves: from a page's address to its first picture, with it
and without, in turns in one browser.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from benchmarks import browser
from benchmarks.files import REPOSITORY
from benchmarks.timing import Row, Skipped, Timing

SAVED_MS = 300
"""Milliseconds that it has to save, on both loads, to be worth its code."""
PAGES = {"Verdict": "", "Reliability diagrams": "calibration"}
HERE, IMPORT = "Path(__file__).parent", "from pages.shared import first_picture"
OFF = """
first_picture.prepare = first_picture.rest_follows = lambda: None
first_picture.HEADERS = {}
"""


def rows(loads: Mapping[str, Path], *, repeats: int = 5) -> Iterator[Row | Skipped]:
    """Visits of two pages on each load, by its name; a first visit of each is not counted."""
    if (reason := browser.missing()) is not None:
        yield Skipped(what="first picture without its module", reason=reason)
        return
    for load, store in loads.items():
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            script = Path(folder) / "without.py"
            script.write_text(_without(), encoding="utf-8")
            # One process at a time may hold a store.
            copy = shutil.copy(store, folder)
            ours = stack.enter_context(browser.served("app.py", REPOSITORY, store))
            theirs = stack.enter_context(browser.served(str(script), REPOSITORY, Path(copy)))
            opened = stack.enter_context(browser.chromium())
            for name, path in PAGES.items():
                mine, other = [], []
                try:
                    for _ in range(1 + repeats):
                        mine.append(browser.first_picture(opened, f"{ours}/{path}"))
                        other.append(browser.first_picture(opened, f"{theirs}/{path}"))
                except TimeoutError as error:
                    yield Skipped(what=f"first picture of {name}, {load}", reason=str(error))
                    continue
                yield Row(
                    what=f"first picture of {name}, {load}",
                    ours=Timing(runs=tuple(mine[1:])),
                    instead="without first_picture.py",
                    theirs=Timing(runs=tuple(other[1:])),
                )


def _without() -> str:
    """The launcher with all that the module does switched off."""
    text = (REPOSITORY / "app.py").read_text(encoding="utf-8")
    assert HERE in text
    assert IMPORT in text
    line = next(line for line in text.splitlines() if line.startswith(IMPORT))
    return text.replace(HERE, f"Path({str(REPOSITORY)!r})").replace(line, line + OFF)
