"""Stores that cannot be used, and stores of earlier layouts, as a visitor of the real app meets
them.
"""

import re

import pytest
from earlier_stores import unpacked
from test_browser_frame import TITLES, pages_in_navigation
from unusable_stores import SAID, give_up_rights, unusable
from visits import start_app, stop_app, visiting

from core.store.schema import VERSION
from core.store.upgrades import OLDEST

WITH_LABELS = 9
"""The first layout that has labels given here."""


def assert_calm(visitor) -> None:
    """Neither Streamlit's box for what went wrong, nor a traceback."""
    assert visitor.page.locator("[data-testid=stException]").count() == 0
    assert not re.search(r"Traceback|redacted|encountered an error", visitor.text())


@pytest.mark.parametrize("kind", sorted(SAID.keys() - {"cut"}))
def test_browser_says_why_a_store_cannot_be_used(kind, chromium, at_home, tmp_path):
    """On every page of one that is damaged; that each page says so of every kind
    `tests/pages/test_page_unusable.py` holds.
    """
    with unusable(kind, tmp_path) as path:
        server, address = start_app(path, preexec_fn=give_up_rights if kind == "no right" else None)
        try:
            with visiting(chromium, address, within=at_home()) as visitor:
                visitor.open("/")
                links = visitor.page.locator("[data-testid=stSidebarNav]")
                for page in pages_in_navigation() if kind == "damaged" else ("verdict", "start"):
                    if page == "verdict":
                        visitor.open("/")
                    else:
                        links.get_by_role("link", name=TITLES[page], exact=True).click()
                    visitor.arrive(TITLES[page])
                    said = visitor.page.locator(".st-key-unusable")
                    assert said.count() == 1, page
                    sentence = said.locator("[data-testid=stText]").inner_text()
                    assert SAID[kind] in sentence
                    assert_calm(visitor)
                said.get_by_role("button", name="Try again").click()
                visitor.settle()
                assert said.count() == 1
                assert_calm(visitor)
        finally:
            stop_app(server)


@pytest.mark.parametrize(
    "name", [f"layout-{layout}" for layout in (OLDEST, WITH_LABELS, int(VERSION) - 1)]
)
def test_browser_opens_stores_of_earlier_layouts(name, chromium, at_home, tmp_path):
    """The figures are those of the files that went in, and of the labels that were given. That no
    layout loses anything `tests/store/test_upgrades.py` holds.
    """
    labels = int(name.split("-")[1]) >= WITH_LABELS
    # The file has 24 votes of one judge and 12 of a person; two people gave nine labels.
    votes, raters = (45, 4) if labels else (36, 2)
    server, address = start_app(unpacked(name, tmp_path))
    try:
        with visiting(chromium, address, within=at_home()) as visitor:
            visitor.open("/start?dataset=labelled")
            said = visitor.text()
            assert f"was upgraded from layout {name.split('-')[1]} to {VERSION}" in said
            assert f"{votes} votes of {raters} raters on 24 comparisons of 24 items are in" in said
            assert_calm(visitor)
            visitor.open("/?dataset=labelled")
            assert_calm(visitor)
    finally:
        stop_app(server)


def test_browser_says_that_the_store_was_deleted_when_a_label_is_given(chromium, at_home, tmp_path):
    path = unpacked("layout-9", tmp_path)
    server, address = start_app(path)
    try:
        with visiting(chromium, address, within=at_home()) as visitor:
            visitor.open("/label?dataset=labelled")
            path.unlink()
            visitor.page.get_by_role("button", name="Left").first.click()
            visitor.page.get_by_text("was deleted or moved away while it was open here").wait_for()
            assert_calm(visitor)
            visitor.open("/")
            assert "was deleted or moved away while it was open here" in visitor.text()
            assert_calm(visitor)
    finally:
        stop_app(server)
