"""The Listwise page: its numbers are core's, on the demo and on choices alone."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from apps import judge_of, opened
from streamlit.testing.v1 import AppTest

from core.finding.answer import MOST_WORDS, words
from core.questions.lists import words as list_sentences
from core.questions.lists.method import Weights, improvement, in_top_set, pooled_improvements
from core.questions.lists.orders import order_sensitivity, order_sweep
from core.questions.lists.parts import parts_alone
from core.questions.lists.slots import slot_corrected
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries


@pytest.fixture
def page(app: AppTest) -> AppTest:
    return opened(app, "listwise")


def assert_said(page, *of):
    said = list_sentences.candidates_answer(*of)
    full = list_sentences.order_sentence(*of)
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


@pytest.fixture
def ranked(store_path):
    with Store.open(store_path) as store:
        return queries.list_rankings(store, Selection())


def answers_of(judge, ranked):
    """What core says on each tab."""
    rng, shown = np.random.default_rng(0), ranked[judge]
    return {
        "How many orders": [list_sentences.orders_answer(judge, order_sweep(shown, rng=rng))],
        "Parts": [list_sentences.parts_answer(judge, parts_alone(shown))],
        "Judges": [
            list_sentences.judges_answer({n: order_sensitivity(r) for n, r in ranked.items()}),
            list_sentences.pooled_answer(
                pooled_improvements(improvement(r) for r in ranked.values())
            ),
        ],
    }


@pytest.mark.parametrize("tab", ["How many orders", "Parts", "Judges"])
def test_every_tab_begins_with_its_headline_and_figures(page, ranked, tab):
    page.query_params["tab"] = tab
    page.run()
    assert not page.exception
    assert page.dataframe
    shown = {text.value for text in page.text}
    for said in answers_of(judge_of(page), ranked)[tab]:
        assert words(said.headline, ranked) <= MOST_WORDS
        assert {said.headline, said.figures} <= shown


@pytest.mark.parametrize(
    ("tab", "key", "mark"),
    [
        ("Consensus", "changed", "sim-judge-boaster"),
        ("How many orders", "orders", "2 orders"),
        ("Parts", "part", "first places"),
        ("Judges", "order-decides", "sim-judge-boaster"),
    ],
)
def test_a_mark_leads_to_the_runs_of_its_items(app, ranked, tab, key, mark):
    """What a link with the mark shows: every first place of the items that core counts."""
    judge = "sim-judge-boaster"
    page = opened(app, "listwise", tab=tab, judge=judge, **{key: mark})
    assert page.selectbox(key=key).value == mark
    table = ranked[judge]
    sweep = order_sweep(table, rng=np.random.default_rng(0))
    items = {
        "changed": improvement(table).changed,
        "orders": sweep.missed[1],
        "part": next(part.differs for part in parts_alone(table) if part.part == "top"),
        "order-decides": order_sensitivity(table).decided,
    }[key]
    first = in_top_set(table) & np.isin(table.item, items)
    assert 0 < len(items) < 60
    said = [caption.value for caption in page.caption]
    (about,) = [text for text in said if text.startswith(f"{len(items)} items ")]
    assert f"; {first.sum():,} first places on them" in about
    (shown,) = [each.value for each in page.dataframe if "run" in each.value]
    names = {f"ranked-{item:04d}" for item in items}
    assert set(shown["item"]) == names if len(shown) < 200 else set(shown["item"]) < names


def test_the_item_whose_judgements_are_read_is_in_the_address(app):
    page = opened(app, "listwise", ranked="ranked-0007")
    assert page.selectbox(key="ranked").value == "ranked-0007"
    (runs,) = [each.value for each in page.dataframe if "run" in each.value]
    assert set(runs["item_id"]) == {"ranked-0007"}


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
    for tab in ("Consensus", "How many orders", "Parts", "Slots", "Judges"):
        page.query_params["tab"] = tab
        page.run()
        shown += [frame.value for frame in page.dataframe]
    assert not [name for frame in shown for name in frame.columns if "_" in name]
    slots = next(frame for frame in shown if "slot" in frame.columns)
    assert slots["slot"].tolist() == [1, 2, 3, 4]
