"""Votes collected as a user does it: started, reloaded in the middle, stopped, resumed, read on the
pages.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from judging_jobs import pairs
from judging_server import Server
from visits import start_app, stop_app, visiting

from core.store import Store

KEY = "sk-planted-4f1d8a77c2e94b06"
VARIABLE = "PLANTED_API_KEY"
ITEMS, VOTES, AT_ONCE = 20, 40, 16


@dataclass
class Place:
    address: str
    folder: Path
    judge: Server
    stop: Callable[[], None]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """An app with an own store and a key in its environment, and a server of models."""
    monkeypatch.setenv(VARIABLE, KEY)
    with Server(hold_after=AT_ONCE) as judge:
        app, address = start_app(tmp_path / "votes.duckdb")
        try:
            yield Place(address, tmp_path, judge, lambda: stop_app(app))
        finally:
            stop_app(app)


def items_file(folder: Path) -> Path:
    path = folder / "questions.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ("item_id", "prompt", "response_a", "response_b", "model_a", "model_b", "gold")
        )
        writer.writerows(
            (item.item_id, item.prompt, *item.responses, *item.models, item.gold)
            for item in pairs(ITEMS)
        )
    return path


def wait_for(page, words: str) -> None:
    page.get_by_text(re.compile(words)).first.wait_for()


def choose(page, label: str, option: str) -> None:
    page.locator("[data-testid=stSelectbox]").filter(has_text=label).first.locator("input").click()
    page.get_by_role("option", name=option, exact=True).click()


def write(page, label: str, text: str) -> None:
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")


def test_browser_collect(chromium, place: Place) -> None:
    received: list[bytes] = []

    def keep(frame: str | bytes) -> None:
        received.append(frame if isinstance(frame, bytes) else frame.encode())

    def planted_in_sight() -> bool:
        return (
            KEY in page.content()
            or KEY in page.url
            or any(KEY.encode() in frame for frame in received)
        )

    with visiting(chromium, place.address) as visitor:
        page = visitor.page
        page.on("websocket", lambda opened: opened.on("framereceived", keep))
        visitor.open("/collect")
        assert visitor.title() == "Collect"
        write(page, "Base URL", place.judge.url)
        write(page, "Model", "boastful")
        wait_for(page, "Key: none is sent")
        visitor.settle()
        choose(page, "Key", VARIABLE)
        wait_for(page, f"{VARIABLE}, found")
        page.set_input_files(
            "[data-testid=stFileUploaderDropzoneInput]", str(items_file(place.folder))
        )
        wait_for(page, "Into data set")
        write(page, "Votes per comparison", "2")
        choose(page, "Confidence", "self")
        wait_for(page, rf"{VOTES} calls to 127\.0\.0\.1, price unknown")
        assert place.judge.calls == 0
        page.get_by_role("button", name="Start", exact=True).click()

        # A reload in the middle finds the run where it is.
        wait_for(page, rf"^{AT_ONCE} of {VOTES} answered")
        assert not planted_in_sight()
        page.reload()
        visitor.settle()
        wait_for(page, rf"^{AT_ONCE} of {VOTES} answered")

        # Stopped, it keeps what was under way; resumed, it asks for the rest only.
        page.locator("[class*=st-key-collect-stop-] button").click()
        wait_for(page, "Stopping: waiting for the calls in flight")
        place.judge.release()
        wait_for(page, f"{VOTES - 2 * AT_ONCE} calls to 127")
        assert place.judge.calls == 2 * AT_ONCE
        page.locator("[class*=st-key-collect-resume-] button").click()
        wait_for(page, f"Collected: {VOTES} of {VOTES} requests answered")
        assert place.judge.calls == VOTES
        assert place.judge.keys == {f"Bearer {KEY}"}

        # What was collected is on the pages.
        page.get_by_role("button", name="To Reliability diagrams").click()
        visitor.arrive("Reliability diagrams")
        wait_for(page, r"boastful.*\.$")
        assert not planted_in_sight()
        page.get_by_role("link", name="Position bias").click()
        visitor.arrive("Position bias")
        assert "boastful" in visitor.text()
        assert not planted_in_sight()
    place.stop()

    with Store.open(place.folder / "votes.duckdb") as store:
        rows = [row for row in store.export().to_pylist() if row["dataset"] == "questions"]
        kept = store.query("select key from replies")["key"].to_pylist()
    assert len(kept) == len(set(kept)) == VOTES
    assert (
        len({(row["item_id"], row["run"], row["position"]) for row in rows}) == len(rows) == VOTES
    )
    assert {row["judge"] for row in rows} == {"boastful"}
    assert all(row["confidence"] is not None for row in rows)
    assert received
    for file in place.folder.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file.name
