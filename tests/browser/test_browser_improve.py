"""The whole loop as a new user does it: a file of answers that people passed or failed is collected
and audited, the prompt is changed and tried, and the change is proven or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from judging_walk import BETTER, Grader, answers
from visits import start_app, stop_app, visiting

CAREFUL = "Judge carefully whether the answer is right.\n\n{{prompt}}\n\n{{response}}"
MOST_CLICKS = 8


class Clicks:
    """Counts what a visitor clicks on; a file is chosen in one click more."""

    def __init__(self, page) -> None:
        self.page, self.count = page, 0

    def __call__(self, place) -> None:
        self.count += 1
        place.first.click()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[str]:
    """An app with an own store."""
    server, address = start_app(tmp_path / "votes.duckdb")
    yield address
    stop_app(server)


def test_collected_audited_changed_and_proven_in_few_clicks(chromium, app, tmp_path):
    """A change that helps; what is said of others `tests/pages/test_page_versions.py` and the walk by
    commands hold.
    """
    with Grader() as judge, visiting(chromium, app) as visitor:
        page = visitor.page
        click = Clicks(page)

        def write(label: str, text: str) -> None:
            field = page.get_by_label(label, exact=True).first
            field.fill(text)
            field.press("Control+Enter" if "{{" in text else "Enter")
            visitor.settle()

        def wait_for(words: str) -> None:
            page.get_by_text(re.compile(words)).first.wait_for()

        visitor.open("/")
        click(page.get_by_role("link", name="Collect"))
        visitor.arrive("Collect")
        write("Base URL", judge.url)
        write("Model", "llama3")
        click.count += 1
        labelled = answers(tmp_path / "answers.csv", 120, labelled=120)
        page.set_input_files("[data-testid=stFileUploaderDropzoneInput]", str(labelled))
        wait_for("120 calls to 127")
        wait_for("human_passed is a person's verdict: 120 labels")
        click(page.get_by_role("button", name="Start", exact=True))
        wait_for("Collected: 120 of 120")
        click(page.get_by_role("button", name="To the verdict"))
        visitor.arrive("Verdict")
        wait_for("of what people failed")
        click(page.get_by_role("link", name="Collect"))
        visitor.arrive("Collect")
        # Model, server, items and labels are those of the last job: only the prompt is written.
        write("Your own prompt", CAREFUL)
        wait_for("a new version, llama3@v2")
        click(page.get_by_role("button", name="Try 3", exact=True))
        wait_for("So it is")
        assert judge.calls == 123
        visitor.settle()
        click(page.get_by_role("button", name="Start", exact=True))
        wait_for("Prove llama3@v2")
        # A second version splits the store before its first verdict, as on the command line.
        wait_for("items are open, the others sealed for")
        assert judge.calls == 243
        visitor.settle()
        click(page.get_by_role("button", name="Prove llama3@v2"))
        visitor.arrive("Improve")
        wait_for(BETTER)
        assert click.count <= MOST_CLICKS
