"""What a visitor waits for in Chromium, beside a bare one-chart app in the same run.

`rows`: from the press of a key on a slider to the new figure. `first_pictures`: from the address of
a page to its first picture; `pages_at_scale`: the same with many votes beside the page itself with
few.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.files import REPOSITORY
from benchmarks.random_votes import as_reading, random_votes
from benchmarks.timing import Row, Skipped, Timing
from core.store import Store

WHAT = "**key press to new figure, {} page**"
SLIDERS = {
    "Reliability diagrams": ("calibration", "Bins"),
    "Calibrated aggregation": ("votes_to_labels", "Calibration share"),
}
"""Page → its path, and a slider that changes its figures."""
GOAL_RATIO = 1.5
COLD_RATIO = 2.0
PAGES = {
    "Verdict": "",
    "Reliability diagrams": "calibration",
    "Confusion matrices": "confusion",
    "Position bias": "position_bias",
    "Agreement": "agreement",
    "Calibrated aggregation": "votes_to_labels",
    "Juries": "juries",
    "How many votes": "planning",
    "Anchor-swap leaderboard": "leaderboard",
}
OTHER_PAGE = "collect"
PAIRED = "many votes beside few"
START_SECONDS, SHOWN_MS = 240, 60_000
CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
)

BARE = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st

bins = st.slider("Bins", 2, 20, 10)
x = (np.arange(bins) + 0.5) / bins
st.plotly_chart(go.Figure(go.Scatter(x=x, y=x**2, mode="lines+markers")))
"""

# A figure stands when its first mark is drawn.
DRAWN = """
() => [...document.querySelectorAll('.js-plotly-plot')].some((plot) => plot.querySelector(
  '.scatterlayer .point, .scatterlayer .js-line, .barlayer .point, .heatmaplayer image, .shapelayer path'))
"""

# Figures are mounted anew on each change: while one is gone nothing counts, and what comes back
# must differ.
PRESS = """
(label) => {
  const drawn = () => {
    const marks = [...document.querySelectorAll('.js-plotly-plot .scatterlayer .point')];
    return [document.querySelectorAll('.js-plotly-plot .main-svg').length,
            marks.map((mark) => mark.getAttribute('transform')).join()];
  };
  const sliders = [...document.querySelectorAll('[data-testid=stSlider]')];
  const slider = sliders.find((one) => one.innerText.includes(label)).querySelector('input');
  slider.focus();
  const [layers, old] = drawn();
  window.timedPress = new Promise((done, fail) => {
    slider.addEventListener('keydown', () => {
      const start = performance.now();
      const look = () => {
        const [there, now] = drawn();
        if (there >= layers && now && now !== old) done(performance.now() - start);
        else if (performance.now() - start > 60000) fail(new Error('no new figure within a minute'));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, {once: true, capture: true});
  });
}
"""


def rows(*, n_votes: int = 1_000_000, repeats: int = 9) -> list[Row | Skipped]:
    """Key presses on the sliders of both pages, on simulated votes of one judge."""
    with tempfile.TemporaryDirectory() as folder:
        return key_presses(random_store(Path(folder), n_votes), repeats=repeats)


def key_presses(store: Path, *, what: str = "", repeats: int = 9) -> list[Row | Skipped]:
    """From the press of a key on a slider to the new figure, both apps in turns in one browser."""
    if (reason := missing()) is not None:
        return [Skipped(what=WHAT.format(name) + what, reason=reason) for name in SLIDERS]
    found: list[Row | Skipped] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ours = stack.enter_context(served("app.py", REPOSITORY, store))
        theirs = stack.enter_context(bare_app(Path(folder), store))
        browser = stack.enter_context(chromium())
        bare = _opened(browser, theirs)
        _press(bare, "ArrowLeft", "Bins")
        for name, (path, slider) in SLIDERS.items():
            page = _opened(browser, f"{ours}/{path}")
            # From 10 bins to 9 and back: 11 group confidences in steps of .05 as 10 do.
            _press(page, "ArrowLeft", slider)
            mine, other = [], []
            for turn in range(repeats):
                key = "ArrowLeft" if turn % 2 else "ArrowRight"
                mine.append(_press(page, key, slider))
                other.append(_press(bare, key, "Bins"))
            page.close()
            found.append(
                Row(
                    what=WHAT.format(name) + what,
                    ours=Timing(runs=tuple(mine)),
                    instead="bare Streamlit app with one chart",
                    theirs=Timing(runs=tuple(other)),
                    goal_ratio=GOAL_RATIO,
                )
            )
    return found


def _opened(browser: Any, address: str) -> Any:
    """A page that has drawn its figures."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_selector(".js-plotly-plot .scatterlayer .point", timeout=SHOWN_MS)
    settle(page)
    return page


def first_pictures(store: Path, *, what: str, repeats: int = 3) -> list[Row | Skipped]:
    """From a page's address to its first picture, on a store.

    cold : the first visit on a server that has only served another page.  warm : later visits to
        the same.
    """
    if (reason := missing()) is not None:
        return [Skipped(what=f"first pictures, {what}", reason=reason)]
    found: list[Row | Skipped] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        theirs = stack.enter_context(bare_app(Path(folder), store))
        browser = stack.enter_context(chromium())
        first_picture(browser, theirs)
        for name, path in PAGES.items():
            times: dict[str, list[float]] = {"cold": [], "warm": [], "bare": []}
            try:
                for _ in range(repeats):
                    with served("app.py", REPOSITORY, store) as ours:
                        _visit(browser, f"{ours}/{OTHER_PAGE}")
                        for when in ("cold", "warm"):
                            times["bare"].append(first_picture(browser, theirs))
                            times[when].append(first_picture(browser, f"{ours}/{path}"))
            except TimeoutError as error:
                found.append(Skipped(what=f"first picture of {name}, {what}", reason=str(error)))
                continue
            for when, goal in (("cold", COLD_RATIO), ("warm", GOAL_RATIO)):
                found.append(
                    Row(
                        what=f"first picture of {name}, {what}, {when}",
                        ours=Timing(runs=tuple(times[when])),
                        instead="bare Streamlit app with one chart",
                        theirs=Timing(runs=tuple(times["bare"])),
                        goal_ratio=goal,
                    )
                )
    return found


def pages_at_scale(large: Path, small: Path, *, repeats: int = 3) -> list[Row | Skipped]:
    """From a page's address to its first picture on its first visit: a large store beside a small
    one.
    """
    sides = [
        {row.what: row for row in first_pictures(store, what=PAIRED, repeats=repeats)}
        for store in (large, small)
    ]
    found: list[Row | Skipped] = []
    for what, mine in sides[0].items():
        other = sides[1].get(what)
        if isinstance(mine, Skipped):
            found.append(mine)
        elif isinstance(other, Row) and what.endswith("cold"):
            found.append(
                Row(
                    what=what,
                    ours=mine.ours,
                    instead="the same page with few votes",
                    theirs=other.ours,
                    goal_ratio=COLD_RATIO,
                )
            )
    return found


def random_store(folder: Path, n_votes: int, *, judges: int = 1) -> Path:
    """A store of simulated votes."""
    store = folder / f"{n_votes}.duckdb"
    with Store.open(store) as votes:
        table = random_votes(n_votes, judges=judges, rng=np.random.default_rng(0))
        votes.load(as_reading(table, name="random votes"))
    return store


def missing() -> str | None:
    """What is not here of what a browser needs; None if all is."""
    if shutil.which("chromium") is None:
        return "no chromium on the PATH"
    return None if importlib.util.find_spec("playwright") else "Playwright is not installed"


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM)
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def bare_app(folder: Path, store: Path) -> Iterator[str]:
    """Address of an app that draws one chart and does nothing else."""
    script = folder / "bare.py"
    script.write_text(BARE, encoding="utf-8")
    with served(str(script), folder, store) as address:
        yield address


def _visit(browser: Any, address: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    settle(page)
    page.close()


def first_picture(browser: Any, address: str) -> float:
    """Milliseconds until the first mark of a figure is drawn; the visit then goes on to its end.

    Raises TimeoutError if there is none.
    """
    from playwright.sync_api import TimeoutError as NotDrawn

    page = browser.new_page(viewport={"width": 1440, "height": 900})
    try:
        begun = time.perf_counter()
        page.goto(address, wait_until="commit")
        try:
            page.wait_for_function(DRAWN, polling="raf", timeout=SHOWN_MS)
        except NotDrawn:
            raise TimeoutError(f"no picture within {SHOWN_MS / 1000:g} s") from None
        taken = (time.perf_counter() - begun) * 1000
        settle(page, patience=5 * SHOWN_MS)
        return taken
    finally:
        page.close()


def _press(page: Any, key: str, slider: str) -> float:
    page.bring_to_front()
    page.evaluate(PRESS, slider)
    page.keyboard.press(key)
    taken = float(page.evaluate("() => window.timedPress"))
    settle(page)
    return taken


def settle(page: Any, patience: float = SHOWN_MS) -> None:
    """Wait until the script rests and the last figure is drawn; at most `patience` milliseconds."""
    page.wait_for_selector(
        "[data-testid=stApp][data-test-script-state=notRunning]", timeout=patience
    )
    # Streamlit reports that it rests a moment before the last figure is drawn.
    page.wait_for_timeout(500)


@contextmanager
def served(script: str, folder: Path, store: Path) -> Iterator[str]:
    """Address of `streamlit run SCRIPT`, from when it answers until the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)],
        cwd=folder,
        env={
            **os.environ,
            "APPELLATE_STORE": str(store),
            "STREAMLIT_SERVER_ADDRESS": "localhost",
            "STREAMLIT_SERVER_HEADLESS": "true",
            "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
            "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}"
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()
                break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if time.monotonic() > deadline or server.poll() is not None:
                    raise RuntimeError(f"{Path(script).name} did not start") from None
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
