"""The tab Connect: a table on another engine, read as a file is, is a data set of every page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from apps import all_text, calm, new_app, opened
from places import REPOSITORY
from streamlit.testing.v1 import AppTest
from test_warehouse import odd_votes, scored

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.importers import read
from core.schema import Selection
from core.store import Store
from pages.shared import cached

ROOT = REPOSITORY
TEXTS = frozenset(("prompt", "response_a", "response_b", "rationale"))
PAGES = (
    *("verdict", "position_bias", "calibration", "agreement", "confusion", "votes_to_labels"),
    *("juries", "leaderboard", "planning"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of tables, beside a store with the demo's votes."""
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    tables = tmp_path / "tables"
    tables.mkdir()
    shutil.copy(ROOT / "data" / "demo_votes.csv.gz", tables / "demo.csv.gz")
    (tables / "odd.csv").write_text(odd_votes(), encoding="utf-8")
    with Store.open(tmp_path / "votes.duckdb") as store:
        store.set_flag("demo deleted", "yes")
        store.load(read([("demo.csv.gz", tables / "demo.csv.gz")])[0], dataset="stored")
    yield tables
    st.cache_resource.clear()


def look(app: AppTest, url: str, table: str) -> AppTest:
    app.text_input(key="connect-address").set_value(url)
    app.text_input(key="connect-table").set_value(table).run()
    return calm(app.button(key="connect-look").click().run())


def shown(app: AppTest) -> list[str]:
    """What a page says and shows, without prompts and responses, which stay where they are."""
    frames = [each.value for each in app.main.dataframe]
    numbers = [
        frame.drop(columns=[*TEXTS.intersection(frame)]).to_csv(index=False) for frame in frames
    ]
    said = [text.value for text in app.main.text if not text.value.startswith("Simulated ")]
    return [*said, *numbers]


@pytest.mark.thorough
def test_every_page_shows_of_a_connected_table_what_it_shows_of_the_same_votes_in_the_store(
    folder: Path,
) -> None:
    app = look(opened(new_app(), "start"), f"csv://{folder}", "demo")
    calm(app.button(key="connect").click().run())
    (name,) = cached.connected()
    assert app.selectbox(key="dataset").value == name
    assert "rejected, 0 duplicates" in all_text(app)
    assert "rows and" in "\n".join(text.value for text in app.sidebar.text)
    for page in PAGES:
        found = {}
        for dataset in (name, "stored"):
            found[dataset] = shown(opened(new_app(), page, dataset=dataset))
        assert found[name] == found["stored"], page
        assert found[name]
    app = calm(opened(new_app(), "start"))
    app.button(key="disconnect-0").click().run()
    assert not cached.connected()
    assert calm(app).selectbox(key="dataset").value == "stored"


@pytest.mark.thorough
def test_scores_of_a_connected_table_have_their_page(folder: Path) -> None:
    (folder / "passes.csv").write_text(scored("passes"), encoding="utf-8")
    app = look(opened(new_app(), "start"), f"csv://{folder}", "passes")
    calm(app.button(key="connect").click().run())
    ((name, one),) = cached.connected().items()
    assert (one.info.votes, one.info.scores, one.info.items) == (0, 100, 100)
    assert "100 scores read of 100 rows" in all_text(app)
    found = all_text(opened(new_app(), "scores", dataset=name))
    with Store.open() as store:
        store.load(read([("passes.csv", folder / "passes.csv")])[0])
        (of_file,) = audit(store, Selection(), AuditOptions(splits=0)).scores
    assert of_file.headline in found


def test_a_table_is_read_with_the_options_of_a_file(folder: Path) -> None:
    app = look(opened(new_app(), "start"), f"csv://{folder}", "odd")
    key = next(
        box.key.rpartition("-long-")[0] for box in app.selectbox if "-long-item_id" in str(box.key)
    )
    assert "connect" not in [button.key for button in app.button]
    app.selectbox(key=f"{key}-long-item_id").set_value("Prompt no.")
    app.text_input(key=f"{key}-long-judge").set_value("who")
    calm(app.selectbox(key=f"{key}-long-vote").set_value("says").run())
    calm(app.checkbox(key=f"{key}-confirmed").check().run())
    calm(app.radio(key=f"{key}-refers").set_value("slot").run())
    calm(app.button(key="connect").click().run())
    said = "11 rejected, 2 duplicates left out, 1 kept without their confidence."
    assert said in all_text(app)
    assert "rows rejected: column says" in all_text(app)


def test_what_cannot_be_connected_is_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(new_app(), "start")
    for url, table, said in (
        ("mysql://there/x", "votes", "no such engine"),
        (f"csv://{folder}", "nowhere", "Name one with “Table”"),
        ("postgresql://127.0.0.1:1/x", "votes", "lost or never made"),
        ("postgresql://me:hidden@127.0.0.1:1/x", "votes", "Leave the password out"),
    ):
        app = look(app, url, table)
        assert said in all_text(app), url
        assert "hidden" not in all_text(app)
    monkeypatch.setitem(__import__("sys").modules, "clickhouse_connect", None)
    app = look(app, "clickhouse://127.0.0.1", "votes")
    assert "appellate[clickhouse]" in all_text(app)


def test_where_others_come_in_only_named_engines_are_offered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPELLATE_ALLOW_REMOTE", "1")
    app = opened(new_app(), "start")
    assert "APPELLATE_WAREHOUSES" in all_text(app)
    assert "connect-address" not in [box.key for box in app.text_input]
    monkeypatch.setenv("APPELLATE_WAREHOUSES", f"csv://{folder}")
    app = calm(app.run())
    assert app.selectbox(key="connect-engine").options == [f"csv://{folder}"]
