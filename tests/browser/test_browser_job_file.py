"""Two judges with their own servers out of a job file: one server is killed, restarted, and gone on
with.
"""

from __future__ import annotations

import csv
import re
import tomllib
from pathlib import Path

import pytest
from judging_jobs import pairs
from judging_server import Server
from visits import start_app, stop_app, visiting

from core.store import Store

ITEMS, HELD = 100, 61
EACH = 2 * ITEMS


def files(folder: Path, first: str, second: str) -> tuple[str, str]:
    """A job file and its items."""
    items, job = folder / "questions.csv", folder / "job.toml"
    with items.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("item_id", "prompt", "response_a", "response_b", "gold"))
        writer.writerows(
            (item.item_id, item.prompt, *item.responses, item.gold) for item in pairs(ITEMS)
        )
    job.write_text(
        f"""items = "questions.csv"
votes = 2
give-up = 3

[[judge]]
name = "steady"
model = "openai/fair"
base-url = "{first}"
concurrency = 8

[[judge]]
name = "mortal"
model = "openai/first"
base-url = "{second}"
concurrency = 4
""",
        encoding="utf-8",
    )
    return str(job), str(items)


@pytest.mark.thorough
def test_two_judges_one_killed_restarted_and_resumed(chromium, tmp_path: Path) -> None:
    app, address = start_app(tmp_path / "votes.duckdb")
    try:
        with Server() as steady, visiting(chromium, address) as visitor:
            page = visitor.page

            def wait_for(words: str) -> str:
                found = page.get_by_text(re.compile(words)).first
                found.wait_for()
                return str(found.inner_text())

            with Server(hold_after=HELD) as mortal:
                port = int(mortal.url.rpartition(":")[2].partition("/")[0])
                job, items = files(tmp_path, steady.url, mortal.url)
                visitor.open("/collect")
                page.get_by_role("button", name="Open a job file").click()
                page.set_input_files("[data-testid=stFileUploaderDropzoneInput]", job)
                wait_for("Fields filled from job.toml. Add the file of items, questions.csv")
                page.keyboard.press("Escape")
                visitor.settle()
                assert page.get_by_label("Model", exact=True).count() == 2
                page.set_input_files(
                    "[data-testid=stColumn] [data-testid=stFileUploaderDropzoneInput]", items
                )
                wait_for(rf"^{2 * EACH} calls to 127\.0\.0\.1, price unknown")
                visitor.settle()

                with page.expect_download() as download:
                    page.get_by_role("button", name="Save as a job file").click()
                saved = tomllib.loads(Path(download.value.path()).read_text(encoding="utf-8"))
                given = tomllib.loads(Path(job).read_text(encoding="utf-8"))
                assert saved["judge"] == given["judge"]
                assert (saved["items"], saved["votes"], saved["give-up"]) == ("questions.csv", 2, 3)

                page.get_by_role("button", name="Start", exact=True).click()
                wait_for(rf"steady: {EACH} of {EACH} answered")
                assert mortal.calls > HELD
            # Killed, with calls in flight.
            wait_for("mortal stopped")
            said = wait_for(r"mortal: \d+ of 200 answered.*stopped before its end")
            answered = int(re.search(r"mortal: (\d+) of", said)[1])
            assert HELD <= answered < EACH
            with Server(port=port) as restarted:
                page.locator("[class*=st-key-collect-resume-] button").click()
                wait_for(f"Collected: {2 * EACH} of {2 * EACH} requests answered")
                # Nothing that was answered was asked again.
                assert restarted.calls == EACH - answered
            assert steady.calls == EACH
    finally:
        stop_app(app)
    with Store.open(tmp_path / "votes.duckdb") as store:
        kept = store.query("select key, judge from replies where status = 'ok'").to_pylist()
        votes = [row for row in store.export().to_pylist() if row["dataset"] == "questions"]
    assert len({row["key"] for row in kept}) == len(kept) == len(votes) == 2 * EACH
    assert len({(row["judge"], row["item_id"], row["position"]) for row in votes}) == 2 * EACH
