"""The Listwise page: its numbers are core's, on the demo and on choices alone."""

from dataclasses import replace

import pandas as pd
import pytest
from apps import judge_of, opened
from streamlit.testing.v1 import AppTest

from core.consensus.listwise import Weights, improvement
from core.consensus.listwise_orders import order_sensitivity
from core.consensus.slots import slot_corrected
from core.interpretation import listwise as list_sentences
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries


@pytest.fixture
def page(app: AppTest) -> AppTest:
    return opened(app, "listwise")


def assert_said(page, *of):
    said = list_sentences.candidates_answer(*of)
    full = list_sentences.answer(*of)
    assert [text.value for text in page.text[:3]] == [said.headline, said.figures, full]


def test_the_page_says_what_core_says(page, store_path):
    judge = judge_of(page)
    with Store.open(store_path) as store:
        selection = Selection(datasets=(page.selectbox(key="dataset").value,))
        rankings = queries.list_rankings(store, selection)[judge]
    assert_said(page, judge, improvement(rankings), order_sensitivity(rankings))
    parts = improvement(rankings).by_category
    mean = 100 * sum(part.consensus.value for part in parts) / len(parts)
    assert len(parts) == 5
    assert any(f"{mean:.1f} % by consensus" in text.value for text in page.text)
    page.slider(key="weight-score").set_value(0.0).run()
    changed = improvement(rankings, weights=Weights(score=0.0))
    assert_said(page, judge, changed, order_sensitivity(rankings))
    assert not page.exception


def test_items_are_named_as_in_the_file(page, store_path):
    names = set(page.dataframe[-1].value["item"])
    assert names == {f"ranked-{k:04d}" for k in range(60)}
    with Store.open(store_path) as store:
        assert list(queries.ranked_items(store, Selection())) == sorted(names)


@pytest.mark.parametrize("tab", ["How many orders", "Slots", "Judges"])
def test_every_tab_opens(page, tab):
    page.query_params["tab"] = tab
    page.run()
    assert not page.exception
    assert page.dataframe


def test_a_mark_of_a_slot_leads_to_its_first_places(app, store_path):
    page = opened(app, "listwise", tab="Slots", slots="slot 3")
    judge = judge_of(page)
    with Store.open(store_path) as store:
        selection = Selection(datasets=(page.selectbox(key="dataset").value,))
        rankings = queries.list_rankings(store, selection)[judge]
        behind = replace(selection, judges=(judge,))
        stored = store.export(behind, kind="rankings").to_pandas()
    found, corrected = order_sensitivity(rankings), slot_corrected(rankings)
    said = list_sentences.slots_answer(judge, found, corrected)
    assert {said.headline, said.figures} <= {text.value for text in page.text}
    (shown,) = [frame.value for frame in page.dataframe if "candidate" in frame.value]
    first = {
        (item, run): rows[rows["score"] == rows["score"].max()]
        for (item, run), rows in stored.groupby(["item_id", "run"])
    }
    expected = pd.concat(first.values())
    expected = expected[expected["slot"] == 2]
    assert len(shown) == len(expected) > 0
    keys = ["item", "run", "candidate"]
    own = expected.rename(columns={"item_id": "item"})[keys]
    assert sorted(shown[keys].itertuples(index=False)) == sorted(own.itertuples(index=False))
    said = f"{len(shown)} first places in slot 3"
    assert said in [caption.value for caption in page.caption]


def test_tables_are_headed_in_words_and_count_slots_from_one(page):
    shown = []
    for tab in ("Consensus", "How many orders", "Slots", "Judges"):
        page.query_params["tab"] = tab
        page.run()
        shown += [frame.value for frame in page.dataframe]
    assert not [name for frame in shown for name in frame.columns if "_" in name]
    slots = next(frame for frame in shown if "slot" in frame.columns)
    assert slots["slot"].tolist() == [1, 2, 3, 4]
