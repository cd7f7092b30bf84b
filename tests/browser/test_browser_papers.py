"""Views of the papers' tables in a real browser, in one visit each by desk and by phone: figures whole,
nothing beside the screen, and a mark that leads to its votes by its address.
"""

from collections.abc import Iterator
from urllib.parse import quote_plus

import numpy as np
import pandas as pd
import pytest
from visits import REPOSITORY, start_app, stop_app, visiting

from core.importers import read
from core.papers.figure import MAIN, NAMES
from core.papers.items import BY_NAME, ITEMS
from core.papers.record import PAPERS
from core.store import Store

DEMO = "dataset=demo+(simulated)"
VIEWS = {
    "grid": f"/votes_to_labels?tab=Tasks+and+judges&cell=Math+·+sim-judge-boaster&{DEMO}",
    "forced": f"/votes_to_labels?tab=Forced+choice&prompt=sim-judge-careful+·+gold+ties&{DEMO}",
    "jury": "/juries?dataset=fused&departing=fuser(steady)",
    "jury-share": f"/juries?jury-by=share&{DEMO}",
    "without": f"/juries?tab=Without+one+judge&without=sim-judge-boaster&{DEMO}",
    "consensus": f"/listwise?changed=sim-judge-boaster&ranked=ranked-0007&{DEMO}",
    "parts": f"/listwise?tab=Parts&part=first+places&{DEMO}",
    "judges": f"/listwise?tab=Judges&order-decides=sim-judge-boaster&{DEMO}",
    "board": f"/leaderboard?tab=Board&judged=sim-hazel,+by+sim-judge-boaster&{DEMO}",
    "abstention": f"/leaderboard?tab=Abstention&{DEMO}",
    "direct": f"/leaderboard?tab=Direct+scores&scored=sim-elm&scores-abstained=sim-elm&{DEMO}",
    "share": f"/calibration?rule=share+of+votes&judge=sim-judge-boaster&{DEMO}",
    "votes": f"/planning?tab=How+many+votes&weigh-confidence=true&votes-sweep=Majority+(SC)&{DEMO}",
    "accuracy": f"/planning?tab=How+many+votes&votes-sweep-drawn=pairwise+accuracy&{DEMO}",
}
LEADS_TO_VOTES = {"grid", "forced", "jury", "without", "board", "votes"}


def fused(rng: np.random.Generator) -> bytes:
    """Three judges and a fuser that is right where two of them are, on 60 items."""
    gold = rng.choice([-1, 1], size=60)
    right = {name: rng.random(60) < 0.7 for name in ("steady", "second", "third")}
    right["fuser(steady)"] = np.sum([*right.values()], axis=0) + (rng.random(60) < 0.4) > 1
    rows = [
        {"item_id": f"q{item}", "judge": judge, "vote": gold[item] * (1 if hit else -1)}
        | {"gold": gold[item], "confidence": 0.8, "dataset": "fused"}
        for judge, hits in right.items()
        for item, hit in enumerate(hits.tolist())
    ]
    return pd.DataFrame(rows).to_csv(index=False).encode()


@pytest.fixture(scope="module")
def own_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app with the demo and a jury with a fuser."""
    path = tmp_path_factory.mktemp("papers") / "votes.duckdb"
    files = [
        ("fused.csv", fused(np.random.default_rng(1))),
        *(
            (file, (REPOSITORY / "data" / file).read_bytes())
            for file in ("demo_votes.csv.gz", "demo_scores.csv.gz", "demo_rankings.csv.gz")
        ),
    ]
    with Store.open(path) as store:
        for reading in read(files):
            store.load(reading)
    server, address = start_app(path)
    yield address
    stop_app(server)


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_browser_the_views_of_the_papers_are_whole(chromium, own_app, theme, width):
    with visiting(
        chromium, own_app, viewport={"width": width, "height": 900}, color_scheme=theme
    ) as visitor:
        for name, path in VIEWS.items():
            visitor.open(path)
            visitor.page.locator("[data-testid=stPlotlyChart]:visible").first.wait_for()
            visitor.settle()
            figures = visitor.figures()
            assert not visitor.page.locator("[data-testid=stException]").count(), name
            assert figures, name
            assert not [figure["overlaps"] for figure in figures if figure["overlaps"]], name
            assert not [figure["cut"] for figure in figures if figure["cut"]], name
            assert visitor.fits_across(), name
            if name in LEADS_TO_VOTES:
                assert visitor.votes_shown() > 0, name


DRAWN = """() => [...document.querySelectorAll('[data-testid=stDataFrame]')]
  .every((table) => table.querySelector('.dvn-scroller'))"""
TABLES = """() => [...document.querySelectorAll('[data-testid=stDataFrame] .dvn-scroller')]
  .filter((table) => table.getBoundingClientRect().width > 0)
  .map((table) => table.scrollWidth - table.clientWidth)"""


def test_browser_no_table_of_the_leaderboard_is_cut(chromium, own_app):
    widths = {}
    with visiting(chromium, own_app, viewport={"width": 1440, "height": 900}) as visitor:
        visitor.open(f"/leaderboard?{DEMO}")
        names = visitor.page.get_by_role("tab").all_inner_texts()
        for place, name in enumerate(names):
            visitor.page.get_by_role("tab", name=name, exact=True).click()
            visitor.in_address("tab", name if place else None)
            visitor.settle()
            visitor.figures()
            visitor.page.wait_for_function(DRAWN)
            widths[name] = visitor.page.evaluate(TABLES)
    assert sum(map(len, widths.values())) > len(widths)
    assert not {name for name, beyond in widths.items() if max(beyond, default=0) > 1}, widths


def test_browser_items_are_one_click_from_the_navigation_and_their_figures_drawn(chromium, own_app):
    with visiting(chromium, own_app, viewport={"width": 1440, "height": 900}) as visitor:
        visitor.open(f"/?{DEMO}")
        in_navigation = visitor.page.locator("[data-testid=stSidebarNav] a[href$='/papers']")
        assert in_navigation.count() == 1
        in_navigation.click()
        for paper in PAPERS:
            visitor.page.locator(".st-key-paper").get_by_text(paper, exact=True).click()
            heading = visitor.page.get_by_role("heading", name=f"{paper} {MAIN[paper]}:")
            heading.wait_for()
            visitor.settle()
            figure = visitor.page.locator("[data-testid=stPlotlyChart]:visible").first
            figure.wait_for()
            # In the first screen, as its reader sees it.
            assert figure.bounding_box()["y"] < 600, paper
        for paper in PAPERS:
            visitor.open(f"/papers?{DEMO}&paper={paper}")
            visitor.settle()
            links = visitor.page.locator(".st-key-paper-items a[href^='papers?']")
            assert links.count() == sum(item.paper == paper for item in ITEMS), paper
        for name in NAMES:
            item = BY_NAME[name]
            query = f"paper={item.paper}&paper-item={quote_plus(item.number)}"
            visitor.open(f"/papers?{DEMO}&{query}")
            visitor.page.locator("[data-testid=stPlotlyChart]:visible").first.wait_for()
            visitor.settle()
            figures = visitor.figures()
            assert figures, name
            assert not [figure for figure in figures if figure["overlaps"] or figure["cut"]], name
