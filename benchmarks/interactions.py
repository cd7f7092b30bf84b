"""What a visitor waits for on the demo: from a key press, a choice or a click on a link to the
first figure that changed, beside a bare app with one chart, in turns in one browser.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.browser import SHOWN_MS, chromium, missing, served, settle
from benchmarks.files import REPOSITORY
from benchmarks.timing import Row, Skipped, Timing
from core.importers import read
from core.store import Store

STEP_RATIO, PAGE_RATIO = 2.0, 3.0
"""What was wanted: beside a slider step of the bare app, and beside a change of its page."""
DEMO = ("answers", "votes", "scores", "rankings")
"""Files of the demo; a bare address opens on the data set that was loaded last, which has votes."""

BARE = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st


def chart(power):
    bins = st.slider("Bins", 2, 20, 10, key=f"bins-{power}")
    x = (np.arange(bins) + 0.5) / bins
    st.plotly_chart(go.Figure(go.Scatter(x=x, y=x**power, mode="lines+markers")))


def one():
    chart(2)


def two():
    chart(3)


st.navigation([st.Page(one, title="One"), st.Page(two, title="Two")]).run()
"""

# The clock starts anew with each event: of a choice that is typed it runs from the last key.
WATCH = """
() => {
  const MARKS = '.point, .js-line, .xtick text, .ytick text, .shapelayer path';
  const PARTS = ['transform', 'd', 'style'];
  const figures = () => [...document.querySelectorAll('.js-plotly-plot')]
    .filter((plot) => plot.getBoundingClientRect().width > 0)
    .map((plot) => [...plot.querySelectorAll(MARKS)]
      .map((mark) => [...PARTS.map((part) => mark.getAttribute(part)), mark.textContent].join())
      .join(';'))
    .filter((drawn) => drawn);
  const old = new Set(figures());
  let start = null;
  const begin = () => { start = performance.now(); };
  for (const act of ['keydown', 'click']) document.addEventListener(act, begin, true);
  window.timed = new Promise((done, fail) => {
    const first = performance.now();
    const look = () => {
      const changed = start !== null && figures().some((drawn) => !old.has(drawn));
      if (changed) done(performance.now() - start);
      else if (performance.now() - first > 60000) fail(new Error('no new figure within a minute'));
      else return requestAnimationFrame(look);
      for (const act of ['keydown', 'click']) document.removeEventListener(act, begin, true);
    };
    requestAnimationFrame(look);
  });
}
"""

Act = Callable[[Any, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """What is done on a page.  act : with a tab and the number of the turn, so that each turn
    changes what is shown.
    """

    what: str
    path: str
    act: Act
    page: bool = False


def slider(label: str) -> Act:
    """An arrow key on a slider, there and back."""

    def press(page: Any, turn: int) -> None:
        box = page.locator("[data-testid=stSlider]:visible").filter(has_text=label)
        box.locator("input").first.focus()
        page.keyboard.press("ArrowLeft" if turn % 2 else "ArrowRight")

    return press


def box(label: str, options: tuple[str, str]) -> Act:
    """One of two options typed into a select box in turns."""

    def choose(page: Any, turn: int) -> None:
        page.get_by_role("combobox", name=label, exact=True).first.focus()
        page.keyboard.type(options[turn % 2])
        page.get_by_role("option", name=options[turn % 2]).first.wait_for(timeout=SHOWN_MS)
        page.keyboard.press("Enter")

    return choose


def link(titles: tuple[str, str]) -> Act:
    """A click on the link of one of two pages in turns."""

    def go(page: Any, turn: int) -> None:
        page.locator("[data-testid=stSidebarNavLink]").filter(has_text=titles[turn % 2]).click()

    return go


CAREFUL, DECISIVE = "sim-judge-careful", "sim-judge-decisive"
INTERACTIONS = (
    Interaction(what="bins, Reliability diagrams", path="calibration", act=slider("Bins")),
    Interaction(what="ε, TH-Score sweep", path="th_score", act=slider("ε")),
    Interaction(what="category, Verdict", path="", act=box("Category", ("Math", "Safety"))),
    Interaction(what="judge, Verdict", path="", act=box("Judge", (CAREFUL, DECISIVE))),
    Interaction(what="BTD α, Calibrated aggregation", path="votes_to_labels", act=slider("α")),
    Interaction(
        what="judge, Calibrated aggregation",
        path="votes_to_labels",
        act=box("Judge", (CAREFUL, DECISIVE)),
    ),
    Interaction(
        what="judge, Vote budget",
        path="planning?tab=Vote+budget",
        act=box("Judge", (CAREFUL, DECISIVE)),
    ),
    Interaction(
        what="page, Confusion matrices and Reliability diagrams",
        path="calibration",
        act=link(("Confusion matrices", "Reliability diagrams")),
        page=True,
    ),
    Interaction(
        what="page, Verdict and Position bias",
        path="",
        act=link(("Position bias", "Verdict")),
        page=True,
    ),
)


def rows(*, repeats: int = 5) -> Iterator[Row | Skipped]:
    """Each interaction on the demo beside the bare app's slider, or its change of page; a first
    turn of both is not counted.
    """
    if (reason := missing()) is not None:
        yield from (Skipped(what=one.what, reason=reason) for one in INTERACTIONS)
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        store, script = Path(folder) / "votes.duckdb", Path(folder) / "bare.py"
        demo_store(store)
        script.write_text(BARE, encoding="utf-8")
        ours = stack.enter_context(served("app.py", REPOSITORY, store))
        theirs = stack.enter_context(served(str(script), Path(folder), store))
        browser = stack.enter_context(chromium())
        for one in INTERACTIONS:
            instead = link(("Two", "One")) if one.page else slider("Bins")
            page, bare = _opened(browser, f"{ours}/{one.path}"), _opened(browser, theirs)
            mine, other = [], []
            try:
                for turn in range(2 + repeats):
                    mine.append(_timed(page, one.act, turn))
                    other.append(_timed(bare, instead, turn))
            except Exception as error:
                yield Skipped(what=one.what, reason=str(error).partition("\n")[0])
                continue
            finally:
                page.close()
                bare.close()
            yield Row(
                what=f"first new figure: {one.what}",
                ours=Timing(runs=tuple(mine[2:])),
                instead="change of a bare app's page" if one.page else "slider of a bare app",
                theirs=Timing(runs=tuple(other[2:])),
                goal_ratio=PAGE_RATIO if one.page else STEP_RATIO,
            )


def demo_store(path: Path) -> Path:
    """A store of the demo."""
    with Store.open(path) as demo:
        data = [REPOSITORY / "data" / f"demo_{kind}.csv.gz" for kind in DEMO]
        for reading in read([(each.name, each) for each in data]):
            demo.load(reading, simulated=True)
    return path


def _opened(browser: Any, address: str) -> Any:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.wait_for_selector(".js-plotly-plot:visible .main-svg", timeout=SHOWN_MS)
    settle(page)
    return page


def _timed(page: Any, act: Act, turn: int) -> float:
    page.bring_to_front()
    page.evaluate(WATCH)
    act(page, turn)
    taken = float(page.evaluate("() => window.timed"))
    settle(page)
    return taken
