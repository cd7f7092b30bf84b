"""The Listwise page: its numbers are core's, on the demo and on choices alone."""

import pytest
from apps import judge_of, opened
from streamlit.testing.v1 import AppTest

from core.consensus.listwise import Weights, improvement
from core.consensus.listwise_orders import order_sensitivity
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


def test_tables_are_headed_in_words_and_count_slots_from_one(page):
    shown = []
    for tab in ("Consensus", "How many orders", "Slots", "Judges"):
        page.query_params["tab"] = tab
        page.run()
        shown += [frame.value for frame in page.dataframe]
    assert not [name for frame in shown for name in frame.columns if "_" in name]
    slots = next(frame for frame in shown if "slot" in frame.columns)
    assert slots["slot"].tolist() == [1, 2, 3, 4]
