"""From the press of a key on a slider to the new figure in Chromium: the app beside a bare one-chart app."""

from __future__ import annotations

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

WHAT = "**key press to new figure, Calibration page**"
GOAL_RATIO = 1.5
START_SECONDS, SHOWN_MS = 240, 60_000
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")

BARE = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st

bins = st.slider("Bins", 2, 20, 10)
x = (np.arange(bins) + 0.5) / bins
st.plotly_chart(go.Figure(go.Scatter(x=x, y=x**2, mode="lines+markers")))
"""

# The figure is mounted anew on each change: while it is gone nothing counts, and what comes back must differ.
PRESS = """
() => {
  const drawn = () => {
    const layer = document.querySelector('.js-plotly-plot .scatterlayer');
    const marks = layer ? [...layer.querySelectorAll('.point')] : [];
    return marks.map((mark) => mark.getAttribute('transform')).join();
  };
  const sliders = [...document.querySelectorAll('[data-testid=stSlider]')];
  const slider = sliders.find((one) => one.innerText.includes('Bins')).querySelector('input');
  slider.focus();
  const old = drawn();
  window.timedPress = new Promise((done, fail) => {
    slider.addEventListener('keydown', () => {
      const start = performance.now();
      const look = () => {
        const now = drawn();
        if (now && now !== old) done(performance.now() - start);
        else if (performance.now() - start > 60000) fail(new Error('no new figure within a minute'));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, {once: true, capture: true});
  });
}
"""


def rows(*, n_votes: int = 1_000_000, repeats: int = 9) -> list[Row | Skipped]:
    """Time both apps in turns in one browser."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return [Skipped(what=WHAT, reason="no chromium on the PATH")]
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return [Skipped(what=WHAT, reason="Playwright is not installed")]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE, encoding="utf-8")
        store = Path(folder) / "votes.duckdb"
        with Store.open(store) as votes:
            table = random_votes(n_votes, judges=1, rng=np.random.default_rng(0))
            votes.load(as_reading(table, name="random votes"))
        ours = stack.enter_context(served("app.py", REPOSITORY, store))
        theirs = stack.enter_context(served(str(bare), Path(folder), store))
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=chromium, args=list(CHROMIUM)
        )
        stack.callback(browser.close)
        pages = []
        for address in (f"{ours}/calibration", theirs):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.wait_for_selector(".js-plotly-plot .scatterlayer .point", timeout=SHOWN_MS)
            settle(page)
            pages.append(page)
        for page in pages:
            _press(page, "ArrowLeft")
        mine, other = [], []
        for turn in range(repeats):
            key = "ArrowRight" if turn % 2 else "ArrowLeft"
            mine.append(_press(pages[0], key))
            other.append(_press(pages[1], key))
    return [
        Row(
            what=WHAT,
            ours=Timing(runs=tuple(mine)),
            instead="bare Streamlit app with one chart",
            theirs=Timing(runs=tuple(other)),
            goal_ratio=GOAL_RATIO,
        )
    ]


def _press(page: Any, key: str) -> float:
    page.bring_to_front()
    page.evaluate(PRESS)
    page.keyboard.press(key)
    taken = float(page.evaluate("() => window.timedPress"))
    settle(page)
    return taken


def settle(page: Any, patience: float = SHOWN_MS) -> None:
    """Wait until the script rests and the last figure is drawn; at most `patience` milliseconds."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=patience)
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
