"""A table in PostgreSQL, connected in the browser: the judge's verdict, and nothing secret on the
screen.
"""

from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from visits import start_app, stop_app, visiting
from warehouses import PASSWORD, absent, running

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo_votes.csv.gz"


def test_browser_connects_a_table_in_postgresql(
    chromium, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := absent("postgresql"):
        pytest.skip(reason)
    tables = tmp_path / "tables"
    tables.mkdir()
    pq.write_table(pa_csv.read_csv(DEMO), tables / "votes.parquet")
    monkeypatch.setenv("APPELLATE_WAREHOUSE_USER", "auditor")
    monkeypatch.setenv("APPELLATE_WAREHOUSE_PASSWORD", PASSWORD)
    with running("postgresql", tables) as engine:
        server, address = start_app(tmp_path / "votes.duckdb")
        try:
            with visiting(chromium, address) as visitor:
                page = visitor.page
                visitor.open("/start")
                page.get_by_role("tab", name="Connect").click()
                page.get_by_label("Engine", exact=True).fill(
                    f"postgresql://{engine.url.rpartition('@')[2]}"
                )
                page.get_by_label("Table", exact=True).fill("votes")
                page.keyboard.press("Enter")
                page.get_by_role("button", name="Look at it").click()
                page.get_by_role("button", name="Connect", exact=True).click()
                page.get_by_text("rejected, 0 duplicates").wait_for()
                visitor.settle()
                assert "Disconnect" in visitor.text()
                page.get_by_role("link", name="Verdict").click()
                visitor.arrive("Verdict")
                connected = page.locator(".st-key-card").inner_text()
                assert PASSWORD not in page.content()
                visitor.open("/?dataset=demo+%28simulated%29")
                assert page.locator(".st-key-card").inner_text() == connected
        finally:
            stop_app(server)
