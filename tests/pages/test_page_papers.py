"""The page Papers: an item by its address, with its table; where a model is asked, its command."""

import pytest
from apps import all_text, new_app, opened

from core.papers.figure import MAIN
from core.papers.items import ITEMS
from core.papers.planted import PLANTED

PAPERS = ("BTD", "TH", "PCF", "RAEE")


def test_another_paper_begins_with_its_own_figure(app):
    """Two papers have a Figure 2; what was chosen of one is not kept for the other."""
    page = opened(app, "papers", paper="BTD")
    assert page.selectbox(key="paper-item").value == MAIN["BTD"] == "Figure 2"
    for paper in ("TH", "PCF", "RAEE", "BTD"):
        page.segmented_control(key="paper").set_value(paper).run()
        assert page.selectbox(key="paper-item").value == MAIN[paper]
        assert page.subheader[0].value.startswith(f"{paper} {MAIN[paper]}: ")


def test_what_asks_a_model_is_a_command(app):
    page = opened(app, "papers", **{"paper": "TH", "paper-item": "§3.1, SC"})
    assert [code.value for code in page.code] == ["appellate collect --preset th-self"]


def test_what_the_data_lack_is_said(app):
    page = opened(app, "papers", **{"paper": "RAEE", "paper-item": "Table 15"})
    assert "It needs a published board" in all_text(page)


def test_the_column_of_tasks_and_the_splits_are_chosen(app):
    chosen = {"paper": "BTD", "paper-item": "Table 2"}
    page = opened(app, "papers", **chosen)
    assert not any(box.key == "paper-splits" for box in page.selectbox)
    box = page.selectbox(key="paper-by")
    assert box.value == "category"
    (table,) = page.dataframe
    assert {"Math", "all"} <= set(table.value.columns)
    other = next(name for name in box.options if name != "category")
    box.set_value(other).run()
    (table,) = page.dataframe
    assert "Math" not in table.value.columns
    page.selectbox(key="paper-item").set_value("§5, splits").run()
    page.selectbox(key="paper-splits").set_value(5).run()
    assert not page.exception


def test_what_was_planted_in_the_demo_stands_beside_the_table(app):
    page = opened(app, "papers", **{"paper": "RAEE", "paper-item": "E.1"})
    assert f"Planted in the demo: {PLANTED['RAEE E.1']}." in all_text(page)


@pytest.mark.thorough
@pytest.mark.parametrize("paper", PAPERS)
def test_every_item_with_a_table_has_the_columns_of_its_caption(app, paper):
    """All items of a paper in one visit: the table holds what the caption names, or what is lacking."""
    page = opened(app, "papers", paper=paper)
    lacking = []
    for item in ITEMS:
        if item.paper != paper or item.table is None:
            continue
        page.selectbox(key="paper-item").set_value(item.number).run()
        assert not page.exception, item.name
        assert page.subheader[0].value.startswith(f"{item.name}: "), item.name
        if not len(page.dataframe):
            lacking.append(item.name)
            continue
        columns = set(page.dataframe[0].value.columns)
        assert not set(item.columns) - columns, item.name
    assert lacking == (["RAEE Table 15"] if paper == "RAEE" else [])


DEMO = "demo (simulated)"
NOTHING_DRAWN = {("collect", ""), ("start", ""), ("leaderboard", "Outside board")}
"""Places that ask a model or a file first."""


@pytest.mark.thorough
def test_every_place_of_the_records_holds_a_figure_or_a_table(store_path, monkeypatch):
    monkeypatch.setenv("APPELLATE_STORE", str(store_path))
    places = {(item.page, item.tab) for item in ITEMS if item.page} - NOTHING_DRAWN
    empty = []
    for page, tab in sorted(places):
        shown = opened(new_app(), page, dataset=DEMO, **({"tab": tab} if tab else {}))
        if not (shown.get("plotly_chart") or shown.dataframe):
            empty.append((page, tab))
    assert not empty
    assert len(places) > 20
