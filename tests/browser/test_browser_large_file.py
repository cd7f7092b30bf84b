"""A file of a million votes through the browser: one sees how far it is, and the server keeps
little of it.
"""

import time
from pathlib import Path

import numpy as np
import pytest
from patience import LONG
from visits import start_app, stop_app, visiting

FEW, VOTES = 1_000, 1_000_000
UPLOADS = "votes.duckdb.uploads-*"
MOST_KEPT = 1.5
"""Resident memory after loading, above that before, as a multiple of the file."""
# Each new text of the bar of progress, from when the page is watched.
TEXTS = """
() => {
  window.said = [];
  new MutationObserver(() => document.querySelectorAll('[data-testid=stProgress]').forEach((bar) => {
    const text = bar.innerText + ' ' + bar.querySelector('[role=progressbar]')?.ariaValueNow;
    if (window.said.at(-1) !== text) window.said.push(text);
  })).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
}
"""


def votes_file(path: Path, votes: int) -> Path:
    """Write a file of comparisons of a judge, ten votes each."""
    rng = np.random.default_rng(0)
    vote, gold = rng.integers(-1, 2, votes), rng.integers(-1, 2, votes // 10)
    first, sure = rng.integers(0, 2, votes), rng.integers(50, 101, votes)
    with path.open("w", encoding="utf-8") as file:
        file.write("item_id,model_a,model_b,judge,run,position,vote,confidence,gold\n")
        file.writelines(
            f"item-{k // 10},hazel,birch,a-judge,{k % 10},{'ab' if first[k] else 'ba'},{vote[k]},"
            f"{sure[k] / 100:.2f},{gold[k // 10]}\n"
            for k in range(votes)
        )
    return path


def drop(visitor, file: Path) -> None:
    visitor.open("/start")
    visitor.page.evaluate(TEXTS)
    visitor.page.set_input_files("[data-testid=stFileUploaderDropzoneInput]", [str(file)])
    visitor.page.locator(".st-key-load button").wait_for()


def load(visitor) -> None:
    visitor.page.locator(".st-key-load button").click()
    visitor.page.get_by_role("button", name="To the verdict").wait_for()
    visitor.settle()


def resident(process: int) -> int:
    """Bytes of a process in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@pytest.mark.thorough
def test_browser_a_million_votes_show_progress_and_leave_little_in_memory(chromium, tmp_path):
    file = votes_file(tmp_path / "million.csv", VOTES)
    size = file.stat().st_size
    server, address = start_app(tmp_path / "votes.duckdb")
    try:
        with visiting(chromium, address) as visitor:
            # What reads and stores a file is loaded with the first one.
            drop(visitor, votes_file(tmp_path / "few.csv", FEW))
            load(visitor)
            before = resident(server.pid)
            drop(visitor, file)
            assert len(set(visitor.page.evaluate("window.said.splice(0)"))) > 2
            load(visitor)
            assert len(set(visitor.page.evaluate("window.said"))) > 2
            # What is free is given back some seconds later.
            end = time.monotonic() + min(LONG, 30)
            time.sleep(3)
            while (kept := resident(server.pid) - before) > MOST_KEPT * size:
                assert time.monotonic() < end, f"{kept / size:.2f} x the file of {size:,} bytes"
                time.sleep(1)
        # The tab could still come back: its file waits for it.
        assert size in [file.stat().st_size for file in tmp_path.glob(f"{UPLOADS}/*")]
    finally:
        stop_app(server)
    assert not [*tmp_path.glob(UPLOADS)]
