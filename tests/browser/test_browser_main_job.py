"""The main job as a user does it, from cold start to download; only localhost is asked for
anything.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from visits import start_app, stop_app, visiting


@pytest.fixture(scope="module")
def cold_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app that nobody has opened yet."""
    server, address = start_app(tmp_path_factory.mktemp("cold") / "votes.duckdb")
    yield address
    stop_app(server)


def enlarged(small: Path, folder: Path, *, pairs: int = 350) -> Path:
    """A reward model's file of as many pairs as JudgeBench has, in the form of a small one."""
    rng = random.Random(0)
    record = json.loads(small.read_text(encoding="utf-8").splitlines()[0])
    lines = []
    for i in range(pairs):
        gap = rng.gauss(0, 3)
        scores = [round(gap, 3), round(-gap, 3)]
        for judgment, shown in zip(record["judgments"], (scores, scores[::-1]), strict=True):
            judgment["judgment"]["scores"] = shown
            judgment["decision"] = "A>B" if shown[0] > shown[1] else "B>A"
        right = rng.random() < 0.7
        # Answers to one question would be one item.
        record |= {"pair_id": f"pair-{i}", "question": f"Question {i}?"}
        record |= {"label": "A>B" if (gap > 0) == right else "B>A"}
        lines.append(json.dumps(record))
    path = folder / small.name
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_browser_main_job(chromium, cold_app: str, native: Path, tmp_path: Path) -> None:
    (small,) = (native / "judgebench").glob("*reward_model*")
    with_confidence = enlarged(small, tmp_path)
    with visiting(chromium, cold_app) as visitor:
        page = visitor.page
        # A cold start shows the demo, and says that it is simulated.
        visitor.open("/")
        assert visitor.title() == "Verdict"
        assert "Simulated demo data" in visitor.text()

        # Upload a file as JudgeBench writes it, and load it.
        page.get_by_role("link", name="Start", exact=True).click()
        visitor.arrive("Start")
        page.set_input_files("[data-testid=stFileUploaderDropzoneInput]", str(with_confidence))
        page.wait_for_selector("[class*=st-key-file-]")
        visitor.settle()
        assert "judgebench" in visitor.text()
        page.locator(".st-key-load button").click()
        page.get_by_role("button", name="To the verdict").wait_for()
        visitor.settle()
        page.get_by_role("button", name="To the verdict").click()
        visitor.arrive("Verdict")
        assert "Simulated demo data" not in visitor.text()

        # A bin of the reliability diagram leads to its votes.
        page.get_by_role("link", name="Reliability diagrams").click()
        visitor.arrive("Reliability diagrams")
        click_first_mark(visitor)
        assert visitor.votes_shown() > 0

        # A slider on Votes to labels changes the MAE.
        page.get_by_role("link", name="Calibrated aggregation").click()
        visitor.arrive("Calibrated aggregation")
        before = maes(visitor)
        page.get_by_text("Copy as Python").click()
        lines = page.locator("code")
        lines.first.wait_for()
        slider = (
            page.locator("[data-testid=stSlider]")
            .filter(has_text="Calibration share")
            .locator("input")
        )
        slider.focus()
        for share in ("6 %", "7 %", "8 %", "9 %"):
            page.keyboard.press("ArrowRight")
            page.locator("[data-testid=stSlider]").filter(has_text=share).wait_for()
        # Its lines to copy, once opened, stay open and come last.
        lines.filter(has_text="share=0.09").first.wait_for()
        visitor.settle()
        after = maes(visitor)
        assert before.keys() == after.keys()
        assert any(before[method] != after[method] for method in before)

        # On the demo another anchor gives another board.
        visitor.open("/leaderboard?dataset=demo+%28simulated%29")
        first = visitor.text()
        anchor = page.locator("[data-testid=stSelectbox]").filter(has_text="Anchor").first
        anchor.locator("input").click()
        page.get_by_role("option", name="sim-anchor-two").click()
        page.wait_for_url("**anchor=sim-anchor-two**")
        page.get_by_text(re.compile(r"%.* against sim-anchor-two ")).first.wait_for()
        assert "against sim-anchor-two" not in first
        assert "against sim-anchor-one" in first

        # Any table downloads.
        page.locator(".st-key-download button").first.click()
        with page.expect_download() as download:
            page.get_by_role("button", name="CSV").first.click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert len(list(csv.reader(io.StringIO(text)))) > 2
    assert visitor.watch.hosts - {""} == {"localhost"}


def click_first_mark(visitor) -> None:
    """Click a drawn bin, as a hand would."""
    points = visitor.page.locator("[data-testid=stPlotlyChart] .scatterlayer .points path.point")
    points.first.wait_for()
    points.first.click(force=True)
    visitor.settle()
    visitor.page.get_by_text("votes").first.wait_for()


def maes(visitor) -> dict[str, str]:
    """MAE of each rule from the table that the page offers for download."""
    button = visitor.page.locator(".st-key-rules-csv button")
    menu = visitor.page.locator(".st-key-download button").first
    menu.click()
    button.wait_for()
    with visitor.page.expect_download() as download:
        button.click()
    visitor.page.keyboard.press("Escape")
    button.wait_for(state="hidden")
    text = Path(download.value.path()).read_text(encoding="utf-8")
    return {row["rule"]: row["MAE"] for row in csv.DictReader(io.StringIO(text))}
