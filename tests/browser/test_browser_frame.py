"""The frame of the app in a real browser: deep links, the URL as state, themes, a phone, hostile
names.
"""

import re
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from visits import start_app, stop_app, visiting

from core.places import NAMES
from core.store import Store
from pages.shared import first_picture

PAGES = Path(__file__).resolve().parents[2] / "pages"
TITLES = NAMES


def pages_in_navigation() -> list[str]:
    """Addresses of all places and methods, in order."""
    return list(NAMES)


def query(visitor) -> dict[str, list[str]]:
    return parse_qs(urlsplit(visitor.page.url).query)


# `test_browser_access.py` opens every page by its link; what the link says of the sidebar is the same
# code for all.
@pytest.mark.parametrize("name", ["calibration", "verdict", "leaderboard"])
def test_browser_deep_link(visitor, name):
    visitor.open(f"/{name}?category=Math")
    assert visitor.title() == TITLES[name]
    assert visitor.page.locator("[data-testid=stSidebarNav] a").count() == len(
        pages_in_navigation()
    )
    filters = visitor.page.locator("[data-testid=stSidebar] [data-testid=stSelectbox] input")
    assert [filters.nth(k).input_value() for k in range(2)] == ["demo (simulated)", "Math"]
    assert visitor.page.locator("[data-testid=stException]").count() == 0
    assert visitor.page.get_by_text("Page not found").count() == 0
    assert query(visitor)["category"] == ["Math"]


def test_browser_a_click_on_a_bin_shows_its_votes(visitor):
    visitor.open("/calibration?judges=sim-judge-boaster")
    marks = visitor.page.locator(".st-key-bin-figure path.point")
    marks.last.wait_for()
    marks.last.click(force=True)
    visitor.page.wait_for_selector(".st-key-bin-behind")
    visitor.settle()
    assert query(visitor)["bin"] == ["sim-judge-boaster: 0.9 to 1"]
    assert visitor.votes_shown() == 7152
    visitor.page.reload()
    visitor.settle()
    visitor.page.wait_for_selector(".st-key-bin-behind")


def test_browser_slider_is_in_the_url_and_filters_follow_from_page_to_page(visitor):
    visitor.open("/calibration?judges=sim-judge-careful&category=Math")
    visitor.page.locator("[data-testid=stSlider] input").first.focus()
    visitor.page.keyboard.press("ArrowRight")
    visitor.page.wait_for_url("**bins=11**")
    visitor.page.get_by_role("link", name="Verdict").click()
    visitor.page.wait_for_url(f"{visitor.url}/?**")
    visitor.arrive("Verdict")
    found = query(visitor)
    assert found.pop("dataset") == ["demo (simulated)"]
    assert found == {"judges": ["sim-judge-careful"], "category": ["Math"]}


@pytest.mark.parametrize(
    "visitor", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True
)
def test_browser_charts_have_the_colour_of_the_page(visitor):
    visitor.open("/calibration")
    paper = visitor.page.locator(".js-plotly-plot:visible .main-svg").first
    paper.wait_for()
    page = visitor.page.locator("[data-testid=stApp]")
    colour = "e => getComputedStyle(e).backgroundColor"
    assert paper.evaluate(colour) == page.evaluate(colour)


def test_browser_a_table_downloads(visitor):
    visitor.open("/calibration")
    visitor.page.locator(".st-key-download button").first.click()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="CSV", exact=True).first.click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith('"judge","n","accuracy"')
    assert len(lines) == 6


def test_browser_security_headers(app_url):
    with urllib.request.urlopen(app_url) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "img-src 'self' data: blob:" in policy
    assert "connect-src 'self'" in policy
    assert "'unsafe-eval'" not in policy
    assert "http" not in policy


def test_browser_fetches_the_code_of_figures_with_the_page(new_visitor, app_url):
    with urllib.request.urlopen(app_url) as answer:
        link = re.fullmatch(
            r"<\./(static/js/PlotlyChart\.[^>]+)>; rel=modulepreload", answer.headers["Link"]
        )
    assert link is not None
    with urllib.request.urlopen(f"{app_url}/{link[1]}") as answer:
        assert "javascript" in answer.headers["Content-Type"]
        assert "Link" not in answer.headers
    new_visitor.open("/calibration")
    new_visitor.page.locator(".js-plotly-plot:visible .main-svg").first.wait_for()
    begun = """(end) => performance.getEntriesByType('resource').filter((one) => one.name.endsWith(end))
      .map((one) => one.startTime)"""
    assert len(new_visitor.page.evaluate(begun, link[1])) == 1
    assert (
        new_visitor.page.evaluate(begun, link[1])[0]
        < new_visitor.page.evaluate(begun, "/_stcore/health")[0]
    )


def test_browser_says_that_it_can_draw_figures(new_visitor):
    asked = []
    new_visitor.page.on(
        "response", lambda one: asked.append(one) if first_picture.LOADED in one.url else None
    )
    new_visitor.open("/")
    strip = new_visitor.page.locator(".st-key-wide-strip .js-plotly-plot .main-svg").first
    strip.wait_for()
    new_visitor.page.locator(".st-key-wide-matrix .js-plotly-plot .main-svg").first.wait_for()
    assert [one.headers["content-type"] for one in asked] == ["image/gif"]
    # The figure that fetches the code is seen by nobody and takes no room.
    ahead = new_visitor.page.locator(".st-key-ahead")
    assert ahead.count() == 1
    assert not ahead.is_visible()
    new_visitor.page.get_by_role("link", name="Reliability diagrams").click()
    new_visitor.arrive("Reliability diagrams")
    assert len(asked) == 1


def test_browser_hostile_names_are_only_text(chromium, tmp_path):
    from readings import reading

    hostile = '<img src="http://host.invalid/p.png" onerror="document.title=1"> ![p](http://host.invalid/q.png)'
    rows = [
        {
            "dataset": hostile,
            "item_id": f"i{k}",
            "category": f"{hostile} {k % 2}",
            "judge": f"{hostile} {k % 3}",
            "vote": k % 3 - 1,
            "gold": 1,
            "confidence": 0.1 * (k % 10),
            "prompt": hostile,
        }
        for k in range(120)
    ]
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        store.load(reading(rows))
    server, address = start_app(path)
    try:
        with visiting(chromium, address) as visitor:
            for name in pages_in_navigation():
                visitor.open(f"/{name}" if name != "verdict" else "/")
                # A link within the app may carry the name of the data set in its query.
                leads = """[...document.querySelectorAll('img[src], a[href]')].filter(
                    each => new URL(each.src || each.href).host.includes('invalid')).length"""
                assert visitor.page.evaluate(leads) == 0
            bin_key = quote(f"{hostile} 0: 0.8 to 0.9")
            visitor.open(f"/calibration?bin={bin_key}")
            visitor.page.wait_for_selector(".st-key-bin-behind")
            visitor.page.locator("path.point").first.hover(force=True)
            visitor.page.wait_for_selector(".hoverlayer text")
            assert "<img src=" in visitor.page.locator(".hoverlayer:has(text)").first.text_content()
            assert visitor.page.locator("img[src*=invalid], a[href*=invalid]").count() == 0
    finally:
        stop_app(server)


def test_browser_the_code_of_tables_and_listings_is_loaded_when_one_is_opened(new_visitor):
    """Both are a megabyte and more, for which the first picture would wait."""
    files = []
    new_visitor.page.on("request", lambda sent: files.append(sent.url.rpartition("/")[2]))

    def loaded(what: str) -> bool:
        return any(what in name for name in files)

    new_visitor.open("/")
    new_visitor.figures()
    assert loaded("PlotlyChart")
    assert not loaded("SyntaxHighlighter")
    assert not loaded("DataFrame")
    new_visitor.page.get_by_text("Numbers: Raters and their verdicts").click()
    new_visitor.page.locator("[data-testid=stDataFrame]").wait_for()
    assert loaded("DataFrame")
    assert not loaded("SyntaxHighlighter")
    new_visitor.page.get_by_text("Copy as Python").click()
    new_visitor.page.get_by_text("from core import").wait_for()
    new_visitor.page.get_by_text("Numbers: Raters and their verdicts").click()
    new_visitor.page.locator("[data-testid=stDataFrame]").wait_for(state="detached")


def test_browser_limits_that_are_sent_grade_the_whole_page(visitor):
    visitor.open("/")
    failed = visitor.page.locator("[class*=st-key-word-fail]")
    assert not failed.count()
    visitor.page.get_by_text("Limits", exact=True).click()
    for end, share in (("caution", "99.9"), ("failure", "99.5")):
        box = visitor.page.get_by_role("spinbutton", name=f"Accuracy: {end} below (%)")
        box.fill(share)
        box.press("Tab")
    visitor.page.get_by_role("button", name="Grade by these").click()
    failed.wait_for()
    assert box.input_value() == "99.5"


def test_browser_a_button_goes_to_another_page_with_its_state_in_the_url(visitor):
    visitor.open("/?category=Math&judge=sim-judge-careful")
    visitor.page.get_by_text("Every check in words").click()
    visitor.page.get_by_role("button", name="See confidence").click()
    visitor.page.wait_for_url("**/calibration?**judge=**")
    visitor.arrive("Reliability diagrams")
    found = query(visitor)
    assert found.pop("dataset") == ["demo (simulated)"]
    assert found == {"judge": ["sim-judge-careful"], "category": ["Math"]}
