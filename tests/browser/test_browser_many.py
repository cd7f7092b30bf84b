"""Sixty-five judges in the shape of a real benchmark; what is too much for a page is in
`tests/pages/test_wide_files.py`.
"""

import numpy as np
import pytest
from judging_jobs import until
from test_browser_frame import pages_in_navigation
from visits import start_app, stop_app, visiting

from benchmarks.planted_votes import FILES, many_judges
from core.importers import read
from core.store import Store

# That pages open, fit and keep their texts apart is known of the demo; here of far more.

DESK = {"viewport": {"width": 1440, "height": 900}}
LONGEST = 3_000
LONGEST_OF_ALL = 3_600
"""Where all judges are asked for: rows of 14 px, so that their letters have 12."""
MOST_ENTRIES = 12


@pytest.fixture(scope="module")
def many_url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    table, _ = many_judges(np.random.default_rng(6), stated=True)
    suffix, write = FILES["plain"]
    file, path = folder / f"votes{suffix}", folder / "votes.duckdb"
    file.write_bytes(write(table))
    with Store.open(path) as store:
        for reading in read([(file.name, file)]):
            store.load(reading, simulated=True)
    server, address = start_app(path)
    yield address
    stop_app(server)


def readable(visitor, longest=LONGEST):
    assert visitor.page.locator("[data-testid=stException]").count() == 0
    assert visitor.height() <= longest
    for figure in visitor.figures():
        assert figure["legend"] <= MOST_ENTRIES
        assert (figure["overlaps"], figure["cut"]) == ([], [])


@pytest.mark.parametrize("name", pages_in_navigation())
def test_browser_every_page_reads_with_65_judges(chromium, at_home, many_url, name):
    with visiting(chromium, many_url, within=at_home(**DESK)) as visitor:
        visitor.open(f"/{name}" if name != "verdict" else "/")
        readable(visitor)
        if name == "verdict":
            # Nobody chose a judge: the empty box says whom the card is about.
            box = visitor.page.locator(".st-key-card input").first
            assert box.get_attribute("placeholder") == "best: judge-00"
            assert (
                visitor.page.locator(".st-key-wide-strip .ytick text").first.text_content()
                == "judge-00"
            )


JURY = "&".join(f"jury=judge-{place:02}" for place in range(65))
"""A jury begins with five, so all are asked for by name."""


@pytest.mark.parametrize(
    "path", ["/?", "/position_bias?", "/confusion?", f"/juries?{JURY}&", "/calibration?"]
)
def test_browser_all_of_65_judges_on_request(chromium, at_home, many_url, path):
    with visiting(chromium, many_url, within=at_home(**DESK)) as visitor:
        visitor.open(f"{path}all_judges=true")
        # A hidden figure for phones has no marks.
        until(lambda: max((figure["marks"] for figure in visitor.figures()), default=0) >= 65)
        readable(visitor, LONGEST_OF_ALL)


def test_browser_judges_stand_in_the_order_of_the_question_or_of_their_names(
    chromium, at_home, many_url
):
    with visiting(chromium, many_url, within=at_home(**DESK)) as visitor:
        rows = ".st-key-wrong-figure .ytick text"
        visitor.open("/confusion")
        visitor.page.locator(rows).first.wait_for()
        # They are drawn better and better; which of the last few is the worst is chance.
        assert visitor.page.locator(rows).first.text_content() in {
            f"judge-{place}" for place in range(60, 65)
        }
        visitor.page.get_by_role("radio", name="by name").click()
        visitor.page.wait_for_url("**sorted_errors=by+name**")
        visitor.settle()
        visitor.figures()
        assert visitor.page.locator(rows).first.text_content() == "judge-00"
