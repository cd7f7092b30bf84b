"""The Ensembles page: its numbers are core's, its words follow from them, and hostile names are
text.
"""

import numpy as np
import pytest
from apps import opened
from streamlit.testing.v1 import AppTest

from core.questions.juries.method import combine, compare, members
from core.questions.juries.words import jury_answer, jury_sentence
from core.records import NO_GOLD
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries


@pytest.fixture
def page(app: AppTest) -> AppTest:
    return opened(app, "juries")


def test_the_page_says_what_core_says(page, store_path):
    with Store.open(store_path) as store:
        selection = Selection(datasets=(page.selectbox(key="dataset").value,))
        counts, votes = (
            queries.vote_counts(store, selection),
            queries.confidence_counts(store, selection),
        )
        chosen = page.multiselect(key="jury").value
        jury = members({name: counts[name] for name in chosen}, votes)
        found = compare(jury, rng=np.random.default_rng(0), costs=queries.costs(store, selection))
    said = jury_answer(found)
    assert [text.value for text in page.text[:3]] == [
        said.headline,
        said.figures,
        jury_sentence(found),
    ]
    assert any(f"{found.n:,} comparisons" in caption.value for caption in page.caption)


def test_a_jury_of_one_is_refused_in_words(page):
    page.multiselect(key="jury").set_value(page.multiselect(key="jury").value[:1]).run()
    assert not page.exception
    assert any("two judges or more" in text.value for text in page.text)


def test_a_jury_of_people_is_told_that_people_are_no_members(page):
    """Three people are chosen in the sidebar, so "choose them in the sidebar" was no help."""
    page.segmented_control(key="raters").set_value("human").run()
    assert not page.exception
    (said,) = (text.value for text in page.text if "members" in text.value)
    assert (
        "People cannot be members here, and 3 human raters and 0 of the judges are selected" in said
    )


def test_the_table_says_who_used_gold_labels_and_who_is_compared_with_whom(page):
    shown = page.dataframe[0].value
    fitted = shown[shown["fitted on gold labels"]]
    jury = page.multiselect(key="jury").value
    assert fitted["who"].tolist() == [
        "BTD over pooled votes",
        *(f"BTD on {name}'s votes" for name in jury),
    ]
    by_name = shown.set_index("who")
    best = by_name.loc[jury, "share right"].idxmax()
    assert by_name.loc["Majority of judges", "compared with"] == best
    assert by_name.loc["BTD over pooled votes", "compared with"] in (*jury, *fitted["who"])


def test_the_tab_without_a_judge_tabulates_what_it_draws(page):
    page.query_params["tab"] = "Without one judge"
    page.run()
    assert not page.exception
    shown = page.dataframe[0].value
    assert shown["without"].tolist() == page.multiselect(key="jury").value
    assert (shown["low"] <= shown["change of share right"]).all()
    assert (shown["change of share right"] <= shown["high"]).all()


def test_a_mark_without_a_judge_leads_to_what_is_labelled_otherwise(app, store_path):
    page = opened(app, "juries", tab="Without one judge")
    chosen = page.multiselect(key="jury").value
    with Store.open(store_path) as store:
        selection = Selection(datasets=(page.selectbox(key="dataset").value,))
        counts = queries.vote_counts(store, selection)
        jury = members(
            {name: counts[name] for name in chosen}, queries.confidence_counts(store, selection)
        )
    whole = combine(jury, "majority").label
    other = {
        name: (jury.gold != NO_GOLD) & (combine(jury.without(name), "majority").label != whole)
        for name in chosen
    }
    name = max(chosen, key=lambda one: other[one].sum())
    page.selectbox(key="without").set_value(name).run()
    (cards,) = [each.value for each in page.dataframe if "vote" in each.value]
    assert other[name].any()
    assert set(cards["judge"]) <= {*chosen}
    behind = sum(
        counts[one].n[np.isin(counts[one].comparison, jury.comparison[other[name]])].sum()
        for one in chosen
    )
    assert any(caption.value == f"{behind:,} votes" for caption in page.caption)


def test_the_table_is_headed_in_words(page):
    shown = page.dataframe[0].value
    assert not [name for name in shown.columns if "_" in name]
    assert shown["share right"].max() <= 1
