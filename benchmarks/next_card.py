"""How long a person who labels waits for the next card: from the press of a key to its texts,
beside a bare app that draws the same few elements in a fragment, in turns in one browser.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.browser import SHOWN_MS, chromium, missing, served, settle
from benchmarks.files import REPOSITORY
from benchmarks.timing import Row, Skipped, Timing
from core.importers import read
from core.labelling.desk import open_desk
from core.store import Store

RATIO = 1.5
"""What was wanted beside the bare fragment."""
WHAT = "next card to label"
COMPARISONS, JUDGES, LABELLED = 300, 4, 25

BARE = """
import streamlit as st


def step():
    st.session_state["place"] += 1


@st.fragment
def card():
    place = st.session_state.setdefault("place", 0)
    st.text(f"{place} of 200 labels")
    with st.container(border=True):
        st.text(f"Question {place}?")
    with st.container(border=True):
        for column, side in zip(st.columns(2), ("Left", "Right")):
            with column:
                st.caption(side)
                st.html(f"<div>The answer is {place} on the {side}</div>")
    with st.container(horizontal=True):
        for key in ("1", "0", "2", "B", "X", "S", "U"):
            st.button(key, key=key, shortcut=key, on_click=step)


card()
"""

# Until both texts are others than they were.
WATCH = """
() => {
  const texts = () => [...document.querySelectorAll('[data-testid=stHtml]')]
    .map((box) => box.textContent).filter((text) => text.startsWith('The answer'));
  const old = texts();
  window.timed = new Promise((done, fail) => {
    document.addEventListener('keydown', () => {
      const start = performance.now();
      const look = () => {
        const now = texts();
        if (now.length >= 2 && now.every((text, place) => text !== old[place]))
          done(performance.now() - start);
        else if (performance.now() - start > 60000) fail(new Error('no new card within a minute'));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, {once: true, capture: true});
  });
}
"""


def row(*, repeats: int = 15) -> Row | Skipped:
    """Presses of a key on the page Label after 25 labels, when it also shows what they say."""
    if (reason := missing()) is not None:
        return Skipped(what=WHAT, reason=reason)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        store, script = Path(folder) / "votes.duckdb", Path(folder) / "bare.py"
        _labelled(store)
        script.write_text(BARE, encoding="utf-8")
        ours = stack.enter_context(served("app.py", REPOSITORY, store))
        theirs = stack.enter_context(served(str(script), Path(folder), store))
        browser = stack.enter_context(chromium())
        page, bare = _opened(browser, f"{ours}/label"), _opened(browser, theirs)
        mine, other = [], []
        for turn in range(2 + repeats):
            key = "1" if turn % 2 else "2"
            mine.append(_timed(page, key))
            other.append(_timed(bare, key))
    return Row(
        what=WHAT,
        ours=Timing(runs=tuple(mine[2:])),
        instead="fragment of a bare app with the same elements",
        theirs=Timing(runs=tuple(other[2:])),
        goal_ratio=RATIO,
    )


def _labelled(path: Path) -> None:
    """A store of votes with texts and without gold, of which some comparisons are labelled."""
    rng = np.random.default_rng(0)
    lines = ["item_id,model_a,model_b,judge,run,position,vote,prompt,response_a,response_b"]
    for item in range(COMPARISONS):
        texts = f"Question {item}?,The answer is {item} good,The answer is {item} bad"
        for judge in range(JUDGES):
            vote = 1 if rng.random() < 0.5 + 0.1 * judge else -1
            lines.append(f"q{item},alpha,beta,judge-{judge},0,ab,{vote},{texts}")
    with Store.open(path) as store:
        for reading in read([("votes.csv", "\n".join(lines).encode())]):
            store.load(reading)
        desk = open_desk(store, "votes", seed=0)
        while desk.session.count("me") < LABELLED:
            desk.answer("me", desk.cards("me")[0], "1")


def _opened(browser: Any, address: str) -> Any:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.locator("[data-testid=stHtml]").filter(has_text="The answer").first.wait_for(
        timeout=SHOWN_MS
    )
    settle(page)
    return page


def _timed(page: Any, key: str) -> float:
    page.bring_to_front()
    page.evaluate(WATCH)
    page.keyboard.press(key)
    taken = float(page.evaluate("() => window.timed"))
    settle(page)
    return taken
