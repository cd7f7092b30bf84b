"""Direct scores and rankings in the app: dropped, read back, loaded; pages about votes say where
they are.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from apps import all_text, new_app
from levels import first_of
from places import REPOSITORY
from streamlit.testing.v1 import AppTest

from core.importers import read, read_back
from core.schema import Selection
from core.store import Store, default_path
from pages.shared import cached

PAGES = REPOSITORY / "pages"
ABOUT_VOTES = (
    *("verdict", "calibration", "votes_to_labels", "confusion", "position_bias", "agreement"),
)
SCORES = "item_id,model,judge,score,category\n" + "".join(
    f"q{i},{model},{judge},{1 + (i + k) % 10},{'math' if i % 2 else 'code'}\n"
    for i in range(12)
    for k, model in enumerate(("x", "y", "![z](u)"))
    for judge in ("j", "k")
)
LISTS = "item,candidate,judge,slot,rank\ni,a,j,0,1\ni,b,j,1,2\n"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    with Store.open(tmp_path / "votes.duckdb") as store:
        store.set_flag("demo deleted", "yes")
        for name, text in (("scores.csv", SCORES), ("lists.csv", LISTS)):
            store.load(read([(name, text.encode())])[0])
    yield new_app()
    st.cache_resource.clear()


@pytest.mark.parametrize("page", first_of(*ABOUT_VOTES, n=2))
def test_a_page_about_votes_says_what_the_data_set_holds_instead(app, page):
    if page != "verdict":
        app.switch_page(f"{page}.py")
    app.run()
    app.selectbox(key="dataset").set_value("scores").run()
    there = "There are 72 direct scores, which the page Scores shows."
    assert ("2 raters · 72 scores" if page == "verdict" else there) in all_text(app)
    assert app.title[0].value
    assert app.multiselect(key="judges").options == ["j", "k"]
    app.selectbox(key="dataset").set_value("lists").run()
    assert "There is 1 listwise ranking, which the page Listwise consensus shows." in all_text(app)


def test_scores_are_shown_where_votes_rank_nobody(app):
    """Two models met, which is no board; the same data set's direct scores are still there."""
    votes = "dataset,item_id,judge,model_a,model_b,vote\n" + "".join(
        f"scores,q{i},j,x,y,{1 if i % 3 else -1}\n" for i in range(12)
    )
    store = cached.get_store()
    store.load(read([("votes.csv", votes.encode())])[0])
    app.switch_page("leaderboard.py").run()
    app.selectbox(key="dataset").set_value("scores").run()
    assert "Of the votes: Only two models met" in all_text(app)
    assert app.selectbox(key="scores_anchor").options == ["![z](u)", "x", "y"]
    assert app.dataframe


def test_scores_are_dropped_read_back_loaded_and_listed(app):
    app.switch_page("start.py").run()
    mine = SCORES.replace("q1,", "r1,")
    app.file_uploader(key="files").set_value([("mine.csv", mine.encode(), "text/csv")])
    app.run()
    for sentence in read_back(read([("mine.csv", mine.encode())])[0]):
        assert sentence in all_text(app)
    assert (
        "72 direct scores of 2 raters on 12 items read from 72 rows; nothing was rejected."
        in all_text(app)
    )
    app.button(key="load").click().run()
    assert "72 direct scores loaded into mine." in all_text(app)
    assert "72 direct scores of 2 raters are in: see the page Scores." in all_text(app)
    (frame,) = [each.value for each in app.dataframe if each.value.columns[0] == "data set"]
    assert frame.set_index("data set")[["scores", "rankings"]].to_dict("index") == {
        "lists": {"scores": 0, "rankings": 1},
        "mine": {"scores": 72, "rankings": 0},
        "scores": {"scores": 72, "rankings": 0},
    }
    with Store.open(default_path()) as store:
        assert len(store.export(Selection(datasets=("mine",)), kind="scores")) == 72


def test_a_missing_column_is_asked_for(app):
    app.switch_page("start.py").run()
    text = "item_id,model,judge,points\n1,m,j,4\n2,m,j,5\n"
    app.file_uploader(key="files").set_value([("who.csv", text.encode(), "text/csv")])
    app.run()
    (format,) = [each for each in app.selectbox if each.label == "Format"]
    format.set_value("direct_scores").run()
    assert "Choose under “Columns” which column is: score." in all_text(app)
    (score,) = [each for each in app.selectbox if each.label == "score"]
    score.set_value("points").run()
    assert "2 direct scores of 1 rater on 2 items" in all_text(app)
    app.button(key="load").click().run()
    assert "2 direct scores loaded into who." in all_text(app)


def test_answers_judged_alone_beside_people_are_loaded_unasked(app):
    app.switch_page("start.py").run()
    passed = "case_id,judge_passed,human_passed\n1,pass,fail\n2,fail,fail\n3,N/A,pass\n"
    people = "item,llm,annotator_1,annotator_2\n1,4,5,4\n2,2,2,\n"
    app.file_uploader(key="files").set_value(
        [(f"{name}.csv", text.encode(), "text/csv") for name, text in
         (("passed", passed), ("people", people))]
    )  # fmt: skip
    app.run()
    text = all_text(app)
    assert "the judge gave 1; gold says 0" in text
    assert "person annotator_1 gave 5" in text
    app.button(key="load").click().run()
    assert "3 direct scores loaded into passed" in all_text(app)
    assert "5 direct scores loaded into people" in all_text(app)
    with Store.open(default_path()) as store:
        rows = store.export(Selection(datasets=("passed",)), kind="scores").to_pandas()
    assert rows["gold"].tolist() == [0, 0, 1]
    assert rows["status"].tolist() == ["ok", "ok", "unparsed"]


@pytest.mark.parametrize(("column", "scores"), first_of(("score", [4, 1]), ("passed", [1, 0])))
def test_a_score_and_pass_or_fail_are_asked_about_once(app, column, scores):
    app.switch_page("start.py").run()
    text = "item_id,judge,score,passed\n1,j,4,pass\n2,j,1,fail\n"
    app.file_uploader(key="files").set_value([("both.csv", text.encode(), "text/csv")])
    app.run()
    (which,) = [each for each in app.selectbox if each.label == "Which column is the score?"]
    assert which.value is None
    which.set_value(column).run()
    app.button(key="load").click().run()
    with Store.open(default_path()) as store:
        rows = store.export(Selection(datasets=("both",)), kind="scores").to_pandas()
    assert rows["score"].tolist() == scores


@pytest.mark.parametrize(
    "page", first_of("start", "leaderboard", *ABOUT_VOTES, "listwise", "juries", n=3)
)
def test_scores_of_one_application_stop_no_page(app, page):
    text = "case_id,judge_passed,human_passed\n1,pass,fail\n2,fail,fail\n3,N/A,pass\n"
    with Store.open(default_path()) as store:
        store.load(read([("app.csv", text.encode())])[0])
    if page != "verdict":
        app.switch_page(f"{page}.py")
    app.run()
    if page != "start":
        app.selectbox(key="dataset").set_value("app").run()
    assert not app.exception
    if page == "leaderboard":
        assert "Of 2 direct scores none names a model" in all_text(app)


@pytest.mark.parametrize(
    "head",
    first_of(
        "id,helpfulness_llm,helpfulness_human",
        "id,faithfulness_llm,faithfulness_human,relevance_llm,relevance_human",
        "id,gpt4,rater1,rater2",
    ),
)
def test_a_spreadsheet_of_scores_beside_people_is_loaded_without_a_question(app, head):
    app.switch_page("start.py").run()
    columns = head.count(",")
    rows = "\n".join(
        ",".join([f"q{k}", *(str(1 + (k * (3 + c) + c) % 5) for c in range(columns))])
        for k in range(40)
    )
    app.file_uploader(key="files").set_value([("ours.csv", f"{head}\n{rows}".encode(), "text/csv")])
    app.run()
    app.button(key="load").click().run()
    assert "loaded into ours" in all_text(app)
