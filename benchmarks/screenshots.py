"""The pictures of the documentation: the Overview with the demo, with 65 judges, without gold, and
empty.

    python -m benchmarks.screenshots [docs/screenshots]

The app is served with a store made for each and looked at in Chromium, 1440 × 900, light; sizes and
colours of the pictures follow the pages.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.browser import CHROMIUM, served, settle
from benchmarks.files import REPOSITORY
from benchmarks.planted_votes import FILES, many_judges
from core.importers import read
from core.store import Store
from pages.shared.cached import DEMO, DEMO_DELETED

HERE = REPOSITORY / "docs" / "screenshots"
WIDE, HIGH = 1440, 900
PATIENCE_MS = 300_000


def demo(store: Store, folder: Path) -> None:
    """The demo, as an empty store gets it."""
    for reading in read([(path.name, path) for path in DEMO]):
        store.load(reading, simulated=True)


def many(store: Store, folder: Path) -> None:
    """65 simulated judges in the shape of LLMBar."""
    table, _ = many_judges(np.random.default_rng(6), stated=True)
    table["dataset"] = np.full(table["judge"].size, "65 judges", dtype=object)
    suffix, write = FILES["plain"]
    file = folder / f"65-judges{suffix}"
    file.write_bytes(write(table))
    for reading in read([(file.name, file)]):
        store.load(reading, simulated=True)


def no_gold(store: Store, folder: Path) -> None:
    """The demo's votes without gold and without people, of whom agreement would be asked."""
    import pandas as pd

    votes = pd.read_csv(next(file for file in DEMO if file.name == "demo_votes.csv.gz"))
    votes = votes[votes["rater_type"] == "llm"].drop(columns="gold").assign(dataset="without gold")
    file = folder / "without-gold.csv"
    votes.to_csv(file, index=False)
    for reading in read([(file.name, file)]):
        store.load(reading, simulated=True)


def empty(store: Store, folder: Path) -> None:
    """Nothing, the demo deleted."""
    store.set_flag(DEMO_DELETED, "yes")


PICTURES: dict[str, Callable[[Store, Path], None]] = {
    "demo": demo,
    "65-judges": many,
    "no-gold": no_gold,
    "empty": empty,
}


def made(fill: Callable[[Store, Path], None], folder: Path) -> Path:
    """A store filled by one of them, in a folder."""
    path = folder / "votes.duckdb"
    with Store.open(path) as store:
        fill(store, folder)
    return path


def take(out: Path, names: Sequence[str] = tuple(PICTURES)) -> list[Path]:
    """Write overview-NAME.png for each name into the folder; gives the files."""
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    written = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as scratch:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM), timeout=PATIENCE_MS
        )
        for name in names:
            folder = Path(scratch) / name
            folder.mkdir()
            with served("app.py", REPOSITORY, made(PICTURES[name], folder)) as address:
                page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
                page.set_default_timeout(PATIENCE_MS)
                page.goto(address)
                page.wait_for_selector("[data-testid=stMain] h1")
                settle(page, PATIENCE_MS)
                # Figures are drawn, and sized to what they hold, after the script rests.
                page.wait_for_timeout(3000)
                written.append(out / f"overview-{name}.png")
                page.screenshot(path=written[-1])
                page.close()
        browser.close()
    return written


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.screenshots",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("out", type=Path, nargs="?", default=HERE)
    parser.add_argument("--only", nargs="+", choices=PICTURES, default=tuple(PICTURES))
    options = parser.parse_args(arguments)
    for file in take(options.out, options.only):
        print(f"{file}: {file.stat().st_size // 1000} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
