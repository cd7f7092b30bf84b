"""400 votes of two judges with their own servers out of a job file: a server and then the app are
killed, restarted and gone on with, and what could not be read is settled by hand.
"""

from __future__ import annotations

import csv
import json
import re
import tomllib
from contextlib import ExitStack
from pathlib import Path

from judging_jobs import pairs, until
from judging_server import Server
from visits import start_app, stop_app, visiting

from core.store import Store

ITEMS, HELD = 100, 61
EACH = 2 * ITEMS
IN_FLIGHT = 4
UNREAD = {7: "two verdicts", 90: "prose"}
"""Calls of the steady judge, and what it says to them."""


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
concurrency = {IN_FLIGHT}
""",
        encoding="utf-8",
    )
    return str(job), str(items)


def read(page, words: str) -> str:
    """The text that matches, once it is there."""
    found = page.get_by_text(re.compile(words)).first
    found.wait_for()
    return str(found.inner_text())


def test_two_judges_killed_restarted_resumed_and_settled(chromium, tmp_path: Path) -> None:
    store = tmp_path / "votes.duckdb"
    app, address = start_app(store)
    try:
        with Server(fault=lambda n, body: UNREAD.get(n)) as steady, ExitStack() as servers:
            with visiting(chromium, address) as visitor:
                page = visitor.page
                with Server(hold_after=HELD) as mortal:
                    port = int(mortal.url.rpartition(":")[2].partition("/")[0])
                    job, items = files(tmp_path, steady.url, mortal.url)
                    visitor.open("/collect")
                    page.get_by_role("button", name="Open a job file").click()
                    page.set_input_files(
                        "[data-testid=stPopoverBody] [data-testid=stFileUploaderDropzoneInput]", job
                    )
                    read(page, "Fields filled from job.toml. Add the file of items, questions.csv")
                    page.keyboard.press("Escape")
                    visitor.settle()
                    assert page.get_by_label("Model", exact=True).count() == 2
                    page.set_input_files(
                        "[data-testid=stColumn] [data-testid=stFileUploaderDropzoneInput]", items
                    )
                    read(page, rf"^{2 * EACH} calls to 127\.0\.0\.1, price unknown")
                    visitor.settle()

                    with page.expect_download() as download:
                        page.get_by_role("button", name="Save as a job file").click()
                    saved = tomllib.loads(Path(download.value.path()).read_text(encoding="utf-8"))
                    given = tomllib.loads(Path(job).read_text(encoding="utf-8"))
                    assert saved["judge"] == given["judge"]
                    assert (saved["items"], saved["votes"]) == ("questions.csv", 2)
                    assert saved["give-up"] == 3

                    page.get_by_role("button", name="Start", exact=True).click()
                    read(page, f"steady: {EACH} of {EACH} answered")
                    assert mortal.calls > HELD
                # The server was killed, with calls in flight.
                read(page, "mortal stopped")
                said = read(page, r"mortal: \d+ of 200 answered.*stopped before its end")
                answered = int(re.search(r"mortal: (\d+) of", said)[1])
                assert HELD <= answered < EACH
                restarted = servers.enter_context(Server(port=port, hold_after=20))
                page.locator("[class*=st-key-collect-resume-] button").click()
                until(lambda: restarted.calls == 20 + IN_FLIGHT)
                read(page, rf"mortal: {answered + 20} of {EACH} answered")
                # Beside a live job no second one is proposed.
                assert not page.get_by_label("Model", exact=True).count()

            app.kill()
            app.wait()
            app, address = start_app(store)
            restarted.release()
            with visiting(chromium, address) as visitor:
                page = visitor.page
                visitor.open("/collect")
                read(page, "^Started .* and interrupted: ")
                page.locator("[class*=st-key-collect-resume-] button").click()
                read(page, f"Collected: {2 * EACH} of {2 * EACH} requests answered")
                # Nothing that was answered was asked again; what the app took with it was.
                assert restarted.calls == EACH - answered + IN_FLIGHT
                # Each reply that could not be read is asked about once.
                assert steady.calls == EACH + len(UNREAD)

                # What could not be read is read by a person, one after the other.
                page.get_by_text("Settle by hand what could not be read").click()
                for left, verdict in ((2, "A is better"), (1, "Neither (tie)")):
                    read(page, rf"^{left} left\. steady on item q\d+: what does it say\?")
                    page.get_by_role("button", name=verdict).click()
                page.get_by_text("Settle by hand what could not be read").wait_for(state="detached")
                visitor.settle()
    finally:
        stop_app(app)
    with Store.open(store) as opened:
        kept = opened.query(
            "select key, judge, item_id, position, vote, body, raw from replies where status = 'ok'"
        ).to_pylist()
        votes = [row for row in opened.export().to_pylist() if row["dataset"] == "questions"]
    assert len({row["key"] for row in kept}) == len(kept) == len(votes) == 2 * EACH
    assert len({(row["judge"], row["item_id"], row["position"]) for row in votes}) == 2 * EACH
    # They are votes of the judge like all others, and the ledger says who read them.
    settled = [row for row in kept if "settled" in json.loads(row["body"] or "{}")]
    assert {json.loads(row["body"])["settled"] for row in settled} == {"by hand"}
    assert {row["judge"] for row in settled} == {"steady"}
    assert {row["raw"][:10] for row in settled} == {"Both have ", '{"verdict"'}
    first = min(settled, key=lambda row: (row["item_id"], row["position"]))
    assert sorted(abs(row["vote"]) for row in settled) == [0, 1]
    assert first["vote"] == (-1 if first["position"] == "ba" else 1)
    stored = {(row["judge"], row["item_id"], row["position"]): row["vote"] for row in votes}
    for row in settled:
        assert stored[row["judge"], row["item_id"], row["position"]] == row["vote"]
