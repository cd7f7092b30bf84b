"""Comparisons as cards, in the real app: behind marks, for disagreements, and a judge's telling
errors.
"""

import io
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st
from apps import all_text, new_app, opened
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.questions.agreement.figure import cell_key
from core.questions.agreement.kappa import disagreements
from core.questions.agreement.paired import WORDS, verdict_table
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store import Store
from core.store.vote_queries import (
    Mark,
    comparison_names,
    count_behind,
    telling_errors,
    vote_counts,
    votes_behind,
)

PAGES = REPOSITORY / "pages"
DEMO = Selection(datasets=(DEMO_DATASET,))
HOSTILE = "![p](http://host.invalid/p.png) <img src=x onerror=alert(1)> :red[r]"
BOASTER, CAREFUL = "sim-judge-boaster", "sim-judge-careful"


def badges(page: AppTest) -> str:
    return "\n".join(element.value for element in page.markdown)


def html(page: AppTest) -> str:
    """What the page shows as HTML: texts whose differing words are marked."""
    return "\n".join(element.proto.body for element in page.get("html"))


def download(page: AppTest, key: str) -> pd.DataFrame:
    """The file that a download button gives, made by its function."""
    from pages.shared import widgets

    made: dict[str, bytes] = {}

    def kept(label, make, file, mime, key, on_click):
        made[key] = make() if key == wanted else b""

    wanted = key
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(widgets.st, "download_button", kept)
        page.run()
    return pd.read_csv(io.BytesIO(made[key]))


def test_a_card_has_one_vote_and_the_total_stands_beside_it(app: AppTest, store_path: Path) -> None:
    page = opened(app, "confusion", judge=BOASTER, cell=cell_key(0, -1))
    with Store.open(store_path) as store:
        total = count_behind(store, DEMO, mark=Mark(judge=BOASTER, gold=0, vote=-1))
    assert total > 200
    assert f"{total:,} votes" in [element.value for element in page.caption]
    first = page.dataframe[0].value.iloc[0]
    assert f"1 of {total:,}" in all_text(page)
    order = "A" if first["position"] == "ab" else "B"
    assert f"{BOASTER} saw {order} first and said B is better" in all_text(page)
    assert first["response_a"] in re.sub("<[^>]*>", "", html(page)) + all_text(page)
    assert "wrong" in badges(page)
    assert page.button(key="cell-card-previous").disabled


def test_a_word_finds_the_cards_whose_texts_have_it(app: AppTest, store_path: Path) -> None:
    page = opened(app, "confusion", judge=BOASTER, cell=cell_key(0, -1))
    page.text_input(key="cell-find").set_value("(SAFETY)").run()
    mark = Mark(judge=BOASTER, gold=0, vote=-1)
    with Store.open(store_path) as store:
        every = votes_behind(store, DEMO, mark=mark, limit=None).to_pandas()
        found = count_behind(store, DEMO, mark=replace(mark, text="(SAFETY)"))
    texts = (
        every[["prompt", "response_a", "response_b", "rationale"]].fillna("").agg(" ".join, axis=1)
    )
    assert 0 < found == texts.str.lower().str.contains("(safety)", regex=False).sum() < len(every)
    assert f"{found:,} votes" in [element.value for element in page.caption]
    page.text_input(key="cell-find").set_value("no such %_ word").run()
    assert "None of these votes has a text with “no such %_ word”." in all_text(page)


def test_next_and_previous_turn_the_cards_and_another_mark_starts_anew(app: AppTest) -> None:
    page = opened(app, "confusion", judge=BOASTER, cell=cell_key(0, -1))
    page.button(key="cell-card-next").click().run()
    page.button(key="cell-card-next").click().run()
    third = page.dataframe[0].value.iloc[2]
    assert "\n3 of" in all_text(page)
    assert f"{third['item_id']} · {third['category']}" in all_text(page)
    page.button(key="cell-card-previous").click().run()
    assert "\n2 of" in all_text(page)
    page.selectbox(key="cell").set_value(cell_key(-1, 1)).run()
    assert "\n1 of" in all_text(page)


def test_cards_go_on_behind_the_first_rows_of_the_table(app: AppTest) -> None:
    page = opened(app, "confusion", judge=BOASTER, cell=cell_key(0, -1))
    page.session_state["cell-card"] = (page.session_state["cell-card"][0], 200)
    page.run()
    assert "\n201 of" in all_text(page)
    assert "Table, 201 to 400" in [element.label for element in page.expander]
    assert page.dataframe[0].value.iloc[0]["item_id"] in all_text(page)


def test_the_download_has_all_votes(app: AppTest, store_path: Path) -> None:
    page = opened(app, "confusion", judge=BOASTER, cell=cell_key(0, -1))
    found = download(page, "cell-votes-csv")
    with Store.open(store_path) as store:
        assert len(found) == count_behind(store, DEMO, mark=Mark(judge=BOASTER, gold=0, vote=-1))
    assert set(found["judge"]) == {BOASTER}


def test_a_disagreement_is_one_row_with_both_verdicts_and_nobody_else(
    app: AppTest, store_path: Path
) -> None:
    page = opened(app, "agreement")
    options = page.selectbox(key="disagree").options
    (chosen,) = [
        key for key in options if BOASTER in key and CAREFUL in key and "fuser(" not in key
    ]
    page.selectbox(key="disagree").set_value(chosen).run()
    with Store.open(store_path) as store:
        counts, names = vote_counts(store, DEMO), comparison_names(store, DEMO)
    both = {name: counts[name] for name in counts if name in chosen}
    codes = disagreements(*both.values())
    shown = page.dataframe[0].value
    assert list(shown) == ["item_id", "model_a", "model_b", *both, "gold"]
    assert len(shown) == 200 < len(codes)
    assert (shown[BOASTER] != shown[CAREFUL]).all()
    pd.testing.assert_frame_equal(
        download(page, "disagree-votes-csv"), verdict_table(names, both, codes), check_dtype=False
    )
    assert f"{len(codes):,} comparisons" in [element.value for element in page.caption]
    card = [line for line in all_text(page).splitlines() if " of 12 votes" in line]
    assert {line.partition(":")[0] for line in card} == set(both)


def test_verdicts_in_the_table_are_those_of_pandas(store_path: Path) -> None:
    with Store.open(store_path) as store:
        counts, names = vote_counts(store, DEMO), comparison_names(store, DEMO)
        votes = store.export(DEMO).to_pandas()
    codes = disagreements(counts[BOASTER], counts[CAREFUL])[:50]
    table = verdict_table(names, {name: counts[name] for name in (BOASTER, CAREFUL)}, codes)
    votes = votes[votes.status == "ok"]
    for row in table.to_dict("records"):
        own = votes[(votes.item_id == row["item_id"]) & (votes.model_a == row["model_a"])]
        own = own[own.model_b == row["model_b"]]
        assert WORDS[own.gold.iloc[0]] == row["gold"]
        for judge in (BOASTER, CAREFUL):
            said = own[own.judge == judge].vote.value_counts()
            top = said[said == said.max()].index
            assert row[judge] == WORDS[top[0] if len(top) == 1 else 0]


def test_many_raters_are_counted_in_place_of_a_column_each(store_path: Path) -> None:
    with Store.open(store_path) as store:
        counts, names = vote_counts(store, DEMO), comparison_names(store, DEMO)
    many = {f"{name}{k}": own for name, own in counts.items() for k in range(2)}
    table = verdict_table(names, many, counts[BOASTER].comparison[:5])
    said = table[[f"say {WORDS[label]}" for label in (1, 0, -1)]].sum(axis=1)
    assert set(said) <= {2 * len(counts), 2 * len(counts) - 2}


@pytest.mark.thorough
def test_the_overview_shows_the_errors_that_tell_most(app: AppTest, store_path: Path) -> None:
    page = opened(app, "verdict", judge=BOASTER)
    with Store.open(store_path) as store:
        found = telling_errors(store, DEMO, BOASTER)
    assert set(found) == {"surest", "flipped", "against people"}
    for votes in found.values():
        assert f"{votes['item_id'][0]} · {votes['category'][0]}" in all_text(page)
    assert f"{BOASTER} saw A first and said A is better" in all_text(page)
    page.selectbox(key="judge").set_value("sim-person-1").run()
    assert "swapped places: nothing to show: no votes in both orders differ." in all_text(page)


def test_texts_of_a_card_are_only_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    row = {
        "model_a": HOSTILE,
        "model_b": "n",
        "judge": HOSTILE,
        "gold": -1,
        "vote": 1,
        "confidence": 0.9,
    }
    row |= dict.fromkeys(("prompt", "response_a", "response_b", "rationale", "category"), HOSTILE)
    with Store.open(tmp_path / "votes.duckdb") as store:
        store.load(reading([row | {"item_id": f"{HOSTILE} {k}"} for k in range(3)]))
    page = new_app()
    page = opened(page, "confusion", cell=cell_key(-1, 1))
    assert HOSTILE in all_text(page)
    markup = [*page.markdown, *page.caption]
    assert not [element.value for element in markup if "host.invalid" in element.value]
    st.cache_resource.clear()
