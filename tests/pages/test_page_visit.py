"""One visit, one answer: what the Overview says of which judge, of two models, and of what a file has."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from apps import all_text, new_app, opened
from readings import reading
from streamlit.testing.v1 import AppTest

from core.auditing.card import holdings
from core.auditing.options import AuditOptions
from core.auditing.overall import checks_made
from core.auditing.run import audit
from core.finding.wording import percent
from core.labelling.words import FEW, what_labels_bring
from core.questions.agreement.two_models import two_models
from core.schema import Selection
from core.store import Store
from core.store.browse import stored
from core.store.vote_queries import compared_models, summary, vote_counts

Fill = Callable[[list[dict]], AppTest]


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fill:
    """The app on a store of these votes."""
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))

    def fill(rows: list[dict]) -> AppTest:
        with Store.open(tmp_path / "votes.duckdb") as store:
            store.load(reading(rows))
        return new_app()

    yield fill
    st.cache_resource.clear()


def rows_of(judge: str, right: int, *, gold: int = 40, **more: object) -> list[dict]:
    """40 items in both orders and twice each, `right` of them as gold says; gold on the first."""
    return [
        {"item_id": f"q{item}", "model_a": "old bot", "model_b": "new bot", "judge": judge}
        | {"run": run, "position": position, "vote": 1 if item < right else -1}
        | {"gold": 1 if item < gold else None}
        | more
        for item in range(40)
        for run in (0, 1)
        for position in ("ab", "ba")
    ]


def titles(app: AppTest) -> list[list[str]]:
    """Titles of the panels of each figure that has any."""
    figures = [json.loads(one.proto.spec)["layout"] for one in app.get("plotly_chart")]
    said = [[note["text"] for note in one.get("annotations", ())] for one in figures]
    found = [[text[3:-4] for text in one if re.fullmatch("<b>.+</b>", text)] for one in said]
    return [one for one in found if one]


@pytest.mark.thorough
def test_people_follow_the_judges_in_lists_and_are_not_recommended(filled):
    people = rows_of("ann", 40, rater_type="human") + rows_of("bob", 39, rater_type="human")
    page = opened(filled(people + rows_of("good", 38) + rows_of("poor", 22)), "verdict")
    box = page.selectbox(key="judge")
    assert box.options[:2] == ["good", "poor"]
    assert {*box.options[2:]} == {"ann", "bob"}
    assert box.placeholder == "best: good"
    rows = [
        json.loads(one.proto.spec)["layout"].get("yaxis", {}).get("ticktext") or []
        for one in page.get("plotly_chart")
    ]
    # Its rows are the judges; people's checks stand in words below it.
    (matrix,) = [one for one in rows if any("✓" in row for row in one)]
    assert [row.split()[-1] for row in matrix] == box.options[:2]


def test_a_strip_has_a_panel_for_what_is_known_and_no_other(filled):
    page = opened(filled(rows_of("j", 36)), "verdict")
    assert titles(page) == [["Right", "Ignores order", "Repeats itself"]] * 2


def test_which_of_two_models_is_better_stands_on_the_first_screen(filled):
    page = opened(filled(rows_of("j", 14, gold=20)), "verdict", judge="j")
    from pages.shared.cached import get_store

    selection = Selection(datasets=("votes",))
    names = ("old bot", "new bot")
    models = compared_models(get_store(), selection)
    ordered = names if models[0, 0] < models[0, 1] else names[::-1]
    said = two_models("j", vote_counts(get_store(), selection)["j"], models, ordered)
    assert said.labels > 0
    assert said.sentence in all_text(page)
    assert said.sentence.startswith("new bot against old bot: ")
    page.button(key="to-board").click().run()
    assert [title.value for title in page.title] == ["Anchor-swap leaderboard"]
    assert list(page.query_params["judge"]) == ["j"]


def test_the_word_stands_beside_how_many_of_the_checks_that_apply_were_made(filled):
    page = opened(filled(rows_of("j", 36)), "verdict")
    from pages.shared.cached import get_store

    checks = audit(get_store(), Selection(), AuditOptions(splits=0)).judges[0].checks
    apply = [one for one in checks if one.applicable]
    made = f"{sum(one.grade != 'unknown' for one in apply)} of {len(apply)} checks made"
    assert len(apply) < len(checks)
    assert made == checks_made(checks)
    assert [text.value for text in page.text if re.match(rf"[✓!~✗] .+ · {made}$", text.value)]


def test_a_file_without_gold_leads_to_its_own_items_to_label(filled):
    page = opened(filled(rows_of("j", 36, gold=0)), "verdict")
    assert what_labels_bring(40, 0) in all_text(page)
    door = page.button(key="label-now")
    assert door.label == f"Label {FEW} now"
    door.click().run()
    assert [title.value for title in page.title] == ["Label"]


@pytest.mark.parametrize("labelled", [1, 20, 99, 101, 199])
def test_gold_is_known_for_one_share_on_data_and_overview(labelled):
    rows = [
        {"item_id": f"q{k}", "judge": "j", "vote": 1, "gold": 1 if k < labelled else None}
        for k in range(200)
    ]
    with Store.open(None) as store:
        store.load(reading(rows))
        found = summary(store, Selection())
    share = percent(holdings(found)[0].share)
    assert f"gold for {share} of the votes" in stored(found).figures
