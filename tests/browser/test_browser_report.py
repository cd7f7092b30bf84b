"""The HTML report in a browser: no script, no request, and Overview hands it out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from visits import LONG_MILLISECONDS

from benchmarks.planted_votes import FILES, many_judges
from core.__main__ import main

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo_votes.csv.gz"
HOSTILE = "</script><img src=x onerror=document.title=1>"


def numbers(source: str) -> list[str]:
    return re.findall(r'<data value="([^"]*)">', source)


KINDS = ("votes", "answers", "scores", "rankings")


@pytest.fixture(scope="module")
def demo_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "report.html"
    assert main(["report", str(DEMO), "--html", str(out)]) == 0
    return out


def opened(chromium: Any, file: Path, **options: Any) -> tuple[Any, list[str], list[str]]:
    """A page that shows the file, what it asked for, and what it complained about."""
    context = chromium.new_context(**options)
    context.set_default_timeout(LONG_MILLISECONDS)
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    return page, asked, complaints


@pytest.mark.parametrize(
    ("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 26)")]
)
@pytest.mark.parametrize("kind", ["whole", *KINDS])
def test_a_file_shows_its_figures_offline_and_fits_a_phone(
    chromium: Any, demo_report: Path, tmp_path: Path, kind: str, scheme: str, ground: str
) -> None:
    out = demo_report
    if kind != "whole":
        out = tmp_path / "brief.html"
        votes = str(DEMO.with_name(f"demo_{kind}.csv.gz"))
        assert main(["report", votes, "--splits", "0", "--brief", "--html", str(out)]) == 0
        assert out.stat().st_size <= 500_000
    page, asked, complaints = opened(
        chromium,
        out,
        color_scheme=scheme,
        offline=True,
        java_script_enabled=kind == "whole",
        viewport={"width": 390, "height": 844},
    )
    assert page.locator("script").count() == 0
    for width, shown, hidden in ((390, ".slim", ".broad"), (1440, ".broad", ".slim")):
        page.set_viewport_size({"width": width, "height": 844})
        figures = page.locator(f"{shown} > svg")
        assert figures.count() >= {"whole": 20, "votes": 4}.get(kind, 2)
        for place in range(figures.count()):
            assert figures.nth(place).is_visible()
            box = figures.nth(place).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        assert not any(one.is_visible() for one in page.locator(hidden).all())
        root = page.locator("html")
        assert root.evaluate("root => root.scrollWidth <= innerWidth")
    body = page.locator("body")
    assert body.evaluate("body => getComputedStyle(body).backgroundColor") == ground
    texts = page.locator(".broad text")
    if texts.count():
        ink = texts.last.evaluate("text => getComputedStyle(text).fill")
        assert ink != ground
    assert asked == [out.as_uri()]
    assert complaints == []
    page.context.close()


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.parametrize("judges", [None, 12])
def test_report_prints_on_four_pages_a_judge_and_sums_up_on_one(
    chromium: Any, demo_report: Path, tmp_path: Path, judges: int | None
) -> None:
    out, raters = demo_report, 7
    if judges:
        raters, out, votes = judges, tmp_path / "report.html", tmp_path / "votes.csv"
        table, _ = many_judges(np.random.default_rng(6), judges=judges, items=60, stated=True)
        votes.write_bytes(FILES["plain"][1](table))
        assert main(["report", str(votes), "--splits", "3", "--html", str(out)]) == 0
    page, *_ = opened(chromium, out)
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "15mm")
    assert pages(page.pdf(format="A4", margin=margin)) <= 4 * raters
    page.add_style_tag(
        content="section:not(#first) { display: none; } #first { break-after: auto !important; }"
    )
    assert pages(page.pdf(format="A4", margin=margin)) == 1
    assert page.locator("#first tbody tr").count() == raters
    page.context.close()


def test_report_reads_without_scripts(chromium: Any, demo_report: Path) -> None:
    page, asked, _ = opened(
        chromium, demo_report, java_script_enabled=False, viewport={"width": 390, "height": 800}
    )
    assert (
        "May decide: sim-judge-careful is nearly always right" in page.locator("main").inner_text()
    )
    assert page.locator(".slim > svg").first.is_visible()
    assert page.get_by_text("Stated confidence against what was right").is_visible()
    assert asked == [demo_report.as_uri()]
    page.context.close()


def test_report_runs_nothing_that_votes_say(chromium: Any, tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    rows = (
        f"{item},{HOSTILE} "
        f"{judge},{(item * judge) % 3 - 1},{item % 3 - 1},0.{5 + item % 5},{position}\n"
        for item in range(60)
        for judge in (1, 2)
        for position in ("ab", "ba")
    )
    votes.write_text(
        "item_id,judge,vote,gold,confidence,position\n" + "".join(rows), encoding="utf-8"
    )
    out = tmp_path / "report.html"
    assert main(["report", str(votes), "--splits", "3", "--html", str(out)]) == 0
    page, asked, complaints = opened(chromium, out)
    assert page.locator("img, iframe").count() == 0
    assert page.title() == "Audit of votes.csv"
    assert HOSTILE in page.locator("#verdicts").inner_text()
    assert asked == [out.as_uri()]
    assert complaints == []
    page.context.close()


def test_the_brief_report_prints_on_two_pages(chromium: Any, tmp_path: Path) -> None:
    out = tmp_path / "brief.html"
    assert main(["report", str(DEMO), "--splits", "0", "--brief", "--html", str(out)]) == 0
    page, *_ = opened(chromium, out)
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "15mm")
    assert pages(page.pdf(format="A4", margin=margin)) <= 2
    page.context.close()


def shared(visitor: Any, button: str, to: Path) -> str:
    """Name of the file behind a button of *Share*, which then lies there."""
    visitor.open("/")
    visitor.page.get_by_role("button", name="Share").first.click()
    with visitor.page.expect_download() as waiting:
        visitor.page.get_by_role("button", name=button).click()
    waiting.value.save_as(to)
    return str(waiting.value.suggested_filename)


def test_share_hands_out_the_report_of_the_command(visitor: Any, tmp_path: Path) -> None:
    """As the command makes of all files of the demo."""
    out, here = tmp_path / "command.html", tmp_path / "report.html"
    files = [str(DEMO.with_name(f"demo_{kind}.csv.gz")) for kind in (*KINDS, "fuser")]
    assert main(["report", *files, "--html", str(out)]) == 0
    assert shared(visitor, "All tables and figures", here) == "report-demo-simulated.html"
    source = here.read_text(encoding="utf-8")
    assert numbers(source) == numbers(out.read_text(encoding="utf-8"))
    assert "Simulated demo data" in source


def test_share_gives_one_small_file_that_opens_from_disk(
    visitor: Any, chromium: Any, tmp_path: Path
) -> None:
    out = tmp_path / "verdict.html"
    assert shared(visitor, "Two pages", out) == "verdict-demo-simulated.html"
    assert out.stat().st_size <= 500_000
    page, asked, complaints = opened(
        chromium, out, offline=True, viewport={"width": 390, "height": 844}
    )
    assert page.locator("script").count() == 0
    assert page.locator(".slim > svg").count() >= 4
    assert page.get_by_text("sim-judge-careful").first.is_visible()
    assert page.locator("html").evaluate("root => root.scrollWidth <= innerWidth")
    assert asked == [out.as_uri()]
    assert complaints == []
    page.context.close()
