"""The Data page through the real app: drop, answer, read back, load, rename, export, delete."""

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
import pytest
import streamlit as st
from apps import all_text, calm, new_app, opened
from levels import first_of
from places import REPOSITORY
from streamlit.testing.v1 import AppTest
from tool_files import FILES

from core.errors import AppellateError, render
from core.importers import ReadOptions, inspect, read, read_back, template
from core.schema import Selection
from core.store import Store
from core.store.browse import describe_import, reject_reasons, stored, summary
from pages.sections.data.columns import OPTIONS

PAGES = REPOSITORY / "pages"
HOSTILE = "![pixel](http://host.invalid/p.png) <img src=x onerror=alert(1)> =1+1"
SPREADSHEET = """prompt_id;Judge model;Winner;first shown;human label
p1;gpt-4o;A;A;A
p1;gpt-4o;A;B;A
p2;gpt-4o;tie;A;B
p2;gpt-4o;B;B;B
p3;claude;A;A;A
p3;claude;maybe;B;A
"""
# As model names, judge gpt-4o said A, A on p1; as slots, the A shown with B first is a vote for B.
PLAIN = "item_id,judge,vote,gold\n1,j,1,1\n2,j,-1,1\n3,j,0,-1\n"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one file in it, to be copied."""
    path = tmp_path_factory.mktemp("first") / "votes.duckdb"
    with Store.open(path) as store:
        store.set_flag("demo deleted", "yes")
        store.load(read([("first.csv", PLAIN.encode())])[0])
    return path


@pytest.fixture
def app(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(shutil.copy(first, tmp_path / "votes.duckdb")))
    yield opened(new_app(), "start")
    st.cache_resource.clear()


def drop(app: AppTest, *files: tuple[str, bytes | str | Path]) -> AppTest:
    given = []
    for name, data in files:
        content = data.read_bytes() if isinstance(data, Path) else data
        given.append((name, content.encode() if isinstance(content, str) else content, "text/csv"))
    app.file_uploader(key="files").set_value(given)
    return calm(app.run())


def widget(app: AppTest, kind: str, label: str):
    (found,) = [each for each in app.get(kind) if each.label == label]
    return found


def frame(app: AppTest, first_column: str) -> pd.DataFrame:
    (found,) = [each.value for each in app.dataframe if each.value.columns[0] == first_column]
    return found


def can_load(app: AppTest) -> bool:
    return any(button.key == "load" for button in app.button)


def load(app: AppTest) -> AppTest:
    return calm(app.button(key="load").click().run())


def exported(path: Path, *names: str) -> pd.DataFrame:
    with Store.open(path) as store:
        return store.export(Selection(datasets=names or None)).to_pandas()


def store_path(app: AppTest) -> Path:
    from core.store import default_path

    return default_path()


def means(app: AppTest, label: str):
    """The box of a label that is not understood."""
    (found,) = [each for each in app.selectbox if str(each.key).endswith(f"-{label}")]
    return found


@pytest.mark.thorough
def test_labels_that_no_vocabulary_has_are_explained_one_by_one(app) -> None:
    says = ("the x", "the y", "draw", "timeout")
    rows = "".join(f"q{i},j,x,y,{says[i % 4]}\n" for i in range(8))
    drop(app, ("words.csv", "item_id,judge,model_a,model_b,vote\n" + rows))
    assert not can_load(app)
    assert means(app, "draw").value == "tie"
    for label, meaning in (("the x", "A"), ("the y", "B"), ("timeout", "failed")):
        assert not can_load(app)
        calm(means(app, label).set_value(meaning).run())
    load(app)
    found = exported(store_path(app), "words")
    assert found["vote"].fillna(9).tolist() == [1, -1, 0, 9] * 2
    assert found["status"].tolist() == ["ok", "ok", "ok", "unparsed"] * 2


def test_a_label_outside_the_vocabulary_is_rejected_or_explained(app) -> None:
    drop(
        app, ("ours.csv", "item_id,judge,winner\n1,j,model_a\n2,j,model_b\n3,j,model_a\n4,j,skip\n")
    )
    assert "1 rejected" in all_text(app)
    calm(means(app, "skip").set_value("failed").run())
    assert "nothing was rejected" in all_text(app)
    load(app)
    assert exported(store_path(app), "ours")["status"].tolist() == ["ok"] * 3 + ["unparsed"]


SIDES = (
    "grader,question_no,annotator_says,certainty_pct,order_shown,left_system,right_system\n"
    "g1,q1,left,90,AB,m1,m2\ng1,q1,right,80,BA,m1,m2\ng1,q2,draw,55,AB,m1,m2\ng2,q1,left,70,BA,m1,m2\n"
)


@pytest.mark.parametrize(
    ("refers", "votes"), first_of(("slot", [1, 1, 0, -1]), ("model", [1, -1, 0, 1]))
)
def test_columns_of_unknown_names_are_suggested_and_taken_when_confirmed(
    app, refers, votes
) -> None:
    drop(app, ("sides.csv", SIDES))
    assert "Suggested from names and values" in all_text(app)
    assert not can_load(app)
    assert widget(app, "selectbox", "Judge").value == "grader"
    calm(widget(app, "checkbox", "These columns are right").set_value(True).run())
    assert not can_load(app)
    calm(widget(app, "radio", "The labels name").set_value(refers).run())
    load(app)
    found = exported(store_path(app), "sides")
    assert found["vote"].tolist() == votes
    assert found["position"].tolist() == ["ab", "ba", "ab", "ba"]
    assert found["confidence"].tolist() == [0.9, 0.8, 0.55, 0.7]
    assert found[["judge", "item_id", "model_a", "model_b"]].iloc[3].tolist() == [
        "g2",
        "q1",
        "m1",
        "m2",
    ]


def test_no_answer_about_another_data_set_stands_above_a_file_that_is_open(app) -> None:
    drop(app, ("sides.csv", SIDES))
    assert "This file is not in yet" in all_text(app)
    assert "3 votes of 1 rater" not in all_text(app)
    drop(app)
    assert "3 votes of 1 rater" in all_text(app)


def test_says_what_is_in_and_what_is_missing(app):
    assert "3 votes of 1 rater on 3 comparisons of 3 items are in." in all_text(app)
    assert "gold for 100 % of the votes, order shown for 0 %, confidence for 0 %" in all_text(app)
    assert "position bias cannot be tested" in all_text(app)
    assert frame(app, "data set")["votes, failed too"].tolist() == [3]


def test_a_link_to_a_data_set_that_is_not_here_says_so_on_every_page_until_one_is_chosen(app):
    with Store.open(store_path(app)) as store:
        store.load(read([("second.csv", PLAIN.encode())])[0])
    linked = new_app()
    linked.query_params["dataset"] = "gone"
    said = "The link asks for the data set gone, which is not here. This is second."
    assert said in all_text(calm(linked.run()))
    assert said in all_text(calm(linked.switch_page("confusion.py").run()))
    assert "gone" not in all_text(calm(linked.selectbox(key="dataset").set_value("first").run()))
    assert "gone" not in all_text(calm(linked.selectbox(key="dataset").set_value("second").run()))


def test_a_file_in_the_canonical_form_is_read_back_and_loaded(app):
    drop(app, ("mine.csv", template()))
    reading = read([("mine.csv", template().encode())])[0]
    for sentence in (*read_back(reading), describe_import(reading)):
        assert sentence in all_text(app)
    load(app)
    assert app.session_state["selection"] == Selection(datasets=("my-data",), gold="given")
    assert "4 votes loaded into my-data." in all_text(app)
    assert exported(store_path(app), "my-data")["vote"].tolist() == [1, -1, 0, -1]


def test_a_spreadsheet_is_asked_what_its_labels_name(app):
    drop(app, ("ours.csv", SPREADSHEET))
    assert not can_load(app)
    assert "nothing is guessed" in all_text(app)
    refers = widget(app, "radio", "The labels name")
    assert refers.value is None
    calm(refers.set_value("slot").run())
    assert "judge gpt-4o saw B first and said B is better; gold says A" in all_text(app)
    rejects = frame(app, "row")
    assert rejects[["row", "column", "value"]].to_numpy().tolist() == [[6, "Winner", "maybe"]]
    assert frame(app, "n")["n"].tolist() == [1]
    assert not [text.value for text in app.text if "--" in text.value]
    load(app)
    expected = read([("ours.csv", SPREADSHEET.encode())], ReadOptions(label_refers="slot"))[0]
    found = exported(store_path(app), "ours")
    assert found["vote"].tolist() == [1, -1, 0, 1, 1] == expected.votes["vote"].to_pylist()
    assert found["position"].tolist() == ["ab", "ba", "ab", "ba", "ab"]
    assert found["gold"].tolist() == [1, 1, -1, -1, 1]


def test_models_that_no_column_names_are_called_as_one_says(app):
    drop(app, ("ours.csv", SPREADSHEET))
    calm(widget(app, "radio", "The labels name").set_value("slot").run())
    calm(widget(app, "text_input", "A is called").set_value("old bot").run())
    calm(widget(app, "text_input", "B is called").set_value("new bot").run())
    assert "judge gpt-4o saw B first and said new bot (B) is better" in all_text(app)
    load(app)
    with Store.open(store_path(app)) as store:
        about = summary(store, Selection(datasets=("ours",)))
    assert about.models == ("new bot", "old bot")
    assert about.votes == 5
    lines = SPREADSHEET.splitlines()
    named = "\n".join([f"{lines[0]};model_a;model_b", *(f"{line};m;n" for line in lines[1:])])
    drop(app, ("named.csv", named))
    assert "A is called" not in {box.label for box in app.text_input}


def test_copied_python_reads_the_file_as_the_page_did(app, tmp_path, monkeypatch, capsys):
    (tmp_path / "ours.csv").write_text(SPREADSHEET, encoding="utf-8")
    drop(app, ("ours.csv", SPREADSHEET))
    calm(widget(app, "radio", "The labels name").set_value("slot").run())
    calm(widget(app, "selectbox", "True or human label (gold)").set_value("").run())
    st.cache_resource.clear()
    monkeypatch.chdir(tmp_path)
    exec(app.code[0].value, {})  # noqa: S102 - this is what the reader is told to do
    assert capsys.readouterr().out == "5 votes loaded into ours, 1 rejected\n"
    found = exported(tmp_path / "votes.duckdb", "ours")
    assert found["vote"].tolist() == [1, -1, 0, 1, 1]
    assert found["gold"].isna().all()


@pytest.mark.thorough
def test_a_file_whose_data_set_was_deleted_can_be_loaded_again(app):
    drop(app, ("second.csv", PLAIN))
    load(app)
    assert not can_load(app)
    calm(app.button(key="delete").click().run())
    assert "Deleted second: 3 votes." in all_text(app)
    load(app)
    assert "3 votes loaded into second." in all_text(app)


@pytest.mark.thorough
def test_the_other_answer_gives_the_other_votes(app):
    drop(app, ("ours.csv", SPREADSHEET))
    calm(widget(app, "radio", "The labels name").set_value("model").run())
    load(app)
    assert exported(store_path(app), "ours")["vote"].tolist() == [1, 1, 0, -1, 1]


def test_labels_are_not_asked_for_where_nothing_says_what_was_shown_first(app):
    drop(app, ("ours.csv", "item_id,judge,winner\n1,j,A\n2,j,B\n"))
    assert can_load(app)
    assert not app.radio
    calm(widget(app, "selectbox", "Shown first (position)").set_value("=ab").run())
    assert not app.radio
    load(app)
    assert exported(store_path(app), "ours")["position"].tolist() == ["ab", "ab"]


def test_numbers_that_can_be_read_in_several_ways_are_asked_about(app):
    drop(app, ("ours.csv", "item_id,judge,winner\n1,j,1\n2,j,0\n"))
    assert not can_load(app)
    labels = widget(app, "selectbox", "Labels are written as")
    assert labels.value is None
    calm(labels.set_value("0/1").run())
    load(app)
    assert exported(store_path(app), "ours")["vote"].tolist() == [-1, 1]


def test_columns_under_any_name_can_be_mapped_and_unmapped(app):
    drop(app, ("ours.csv", "case,who said so,pick,gold\n1,j,1,1\n2,j,-1,yes\n"))
    assert "which column is" in all_text(app)
    calm(widget(app, "selectbox", "Prompt or item (item_id)").set_value("case").run())
    calm(widget(app, "text_input", "Judge").set_value("who said so").run())
    calm(widget(app, "selectbox", "Verdict (vote)").set_value("pick").run())
    calm(widget(app, "checkbox", "These columns are right").set_value(True).run())
    calm(widget(app, "selectbox", "True or human label (gold)").set_value("").run())
    load(app)
    found = exported(store_path(app), "ours")
    assert found["vote"].tolist() == [1, -1]
    assert found["gold"].isna().all()
    assert found["gold (in the file)"].tolist() == ["1", "yes"]


def test_a_leaderboard_file_is_asked_for_its_models_and_then_settles_by_itself(app):
    rows = "1,llama,base,gpt-4o,llama\n2,llama,base,gpt-4o,tie\n1,qwen,base,gpt-4o,base\n"
    drop(app, ("ours.csv", f"Prompt,Model,Baseline,Judge,Winner\n{rows}"))
    calm(widget(app, "selectbox", "Prompt or item (item_id)").set_value("Prompt").run())
    assert "If they are names of models, choose under “Columns”" in all_text(app)
    assert "Not used: Model, Baseline." in all_text(app)
    calm(widget(app, "selectbox", "Author of A (model_a)").set_value("Model").run())
    calm(widget(app, "selectbox", "Author of B (model_b)").set_value("Baseline").run())
    assert "Not used" not in all_text(app)
    load(app)
    assert exported(store_path(app), "ours")["vote"].tolist() == [1, 0, -1]


def test_a_file_of_one_judge_says_that_its_name_can_be_typed(app):
    drop(app, ("ours.csv", "Prompt ID;Winner;Human says;Score confidence\n1;A;B;80%\n2;B;B;91%\n"))
    assert "If one judge gave every verdict, type its name there." in all_text(app)
    assert widget(app, "selectbox", "True or human label (gold)").value == "Human says"
    assert widget(app, "selectbox", "Confidence").value == "Score confidence"


def test_a_column_a_judge_with_one_of_them_as_gold(app):
    drop(app, ("wide.csv", "item_id,gpt,claude,human\n1,A,B,A\n2,tie,A,B\n"))
    assert widget(app, "selectbox", "True or human label (gold)").value == "human"
    calm(widget(app, "text_input", "Data set").set_value("mine").run())
    load(app)
    found = exported(store_path(app), "mine")
    assert found["judge"].tolist() == ["gpt", "claude"] * 2
    assert found["vote"].tolist() == [1, -1, 0, 1]
    assert found["gold"].tolist() == [1, 1, -1, -1]


def test_two_scores_with_a_tie_margin(app):
    drop(app, ("scores.csv", "item_id,judge,score_a,score_b\n1,j,8,7\n2,j,8,7.5\n3,j,1,9\n"))
    calm(widget(app, "number_input", "Tie margin").set_value(0.5).run())
    load(app)
    assert exported(store_path(app), "scores")["vote"].tolist() == [1, 0, -1]


def test_scores_of_two_models_become_votes_where_that_is_chosen(app):
    rows = "".join(
        f"{item},{model},j,{score}\n"
        for item, scores in enumerate([(4, 2), (3, 3.5), (1, 5)])
        for model, score in zip("xy", scores, strict=True)
    )
    drop(app, ("answers.csv", "item_id,model,judge,score\n" + rows))
    box = widget(app, "selectbox", "Make votes of the scores on")
    assert box.value is None
    assert not [each for each in app.number_input if each.label == "Tie margin"]
    calm(box.set_value("score").run())
    calm(widget(app, "number_input", "Tie margin").set_value(0.5).run())
    code = "".join(each.value for each in app.code)
    assert "votes_of='score'" in code
    assert "tie_margin=0.5" in code
    load(app)
    assert "6 direct scores loaded into answers." in all_text(app)
    assert exported(store_path(app), "answers")["vote"].tolist() == [1, 0, -1]


def test_the_scale_of_confidence_can_be_corrected(app):
    drop(app, ("scale.csv", "item_id,judge,vote,confidence\n1,j,1,1\n2,j,-1,0.5\n"))
    assert "with confidence 100%" in all_text(app)
    calm(widget(app, "selectbox", "Confidence is").set_value(100).run())
    assert "with confidence 1%" in all_text(app)


@pytest.mark.thorough
def test_levels_and_logits_are_asked_for_and_loaded_as_what_they_are(app):
    head = "item_id,judge,vote,confidence\n"
    levels = "".join(f"{i},j,{i % 2},{1 + i % 5}\n" for i in range(20)).replace(",0,", ",-1,")
    drop(app, ("levels.csv", head + levels))
    box = widget(app, "selectbox", "Confidence is")
    assert box.value is None
    assert box.options == ["levels 1 to 5", "levels 1 to 7", "levels 1 to 10"]
    assert "are no probabilities from 0 to 1 as they stand" in all_text(app)
    assert not can_load(app)
    calm(box.set_value("1-5").run())
    assert "with confidence 100%" in all_text(app)
    load(app)
    found = exported(store_path(app), "levels")
    assert found["confidence"].tolist() == [0.2, 0.4, 0.6, 0.8, 1.0] * 4
    assert set(found["confidence_kind"]) == {"level"}


FEW = "item_id,judge,vote\n" + "".join(
    f"{i},j,{'dunno' if i % 4 == 0 else 'A'}\n" for i in range(40)
)


def test_many_rejected_rows_stand_in_the_open_and_loading_the_rest_is_said_twice(app):
    drop(app, ("part.csv", FEW + "40,j,B\n"))
    assert not can_load(app)
    said = all_text(app)
    assert "10 of 41 rows would be left out (24 %)" in said
    assert "row 1, column vote: 'dunno'. not a label of A/B" in said
    calm(widget(app, "checkbox", "Load the other 31 all the same").set_value(True).run())
    load(app)
    assert len(exported(store_path(app), "part")) == 31


SURE = ("high-ish", "n/a?", "0.7", "0.8", "0.6", "0.9", "0.7", "0.8", "0.9", "0.6")
"""Of ten confidences two cannot be read."""


def test_votes_whose_confidence_cannot_be_read_are_kept_and_the_receipt_names_the_first(app):
    rows = "".join(f"{i},j,{(1, -1)[i % 2]},{sure}\n" for i, sure in enumerate(SURE))
    drop(app, ("sure.csv", "item_id,judge,vote,confidence\n" + rows))
    said = all_text(app)
    assert "nothing was rejected; 2 confidences that could not be read left out." in said
    first = "The first is 'high-ish' in row 1: not a number; write it with a decimal point"
    assert f"cannot be read for 2 votes, which are kept without it. {first}" in said
    listed = frame(app, "row")
    assert listed[["row", "value", "kept"]].to_numpy().tolist() == [
        [1, "high-ish", True],
        [2, "n/a?", True],
    ]
    assert "Rejected: 0; confidences not read: 2" in [box.label for box in app.expander]
    load(app)
    assert "10 votes loaded into sure, 2 confidences that could not be read left out." in all_text(
        app
    )
    found = exported(store_path(app), "sure")
    assert found["confidence"].isna().tolist() == [True, True, *[False] * 8]
    assert found["vote"].tolist() == [1, -1] * 5


def test_many_confidences_that_cannot_be_read_stand_in_the_open_and_half_of_them_stop_a_file(app):
    rows = "".join(f"{i},j,{(1, -1)[i % 2]},{SURE[i] if i else '?'}\n" for i in range(9))
    drop(app, ("many.csv", "item_id,judge,vote,confidence\n" + rows))
    assert not can_load(app)
    assert "2 of 9 rows would lose their confidence (22 %). For example row" in all_text(app)
    calm(widget(app, "checkbox", "Load all 9 all the same").set_value(True).run())
    assert can_load(app)
    rows = "".join(f"{i},j,{(1, -1)[i % 2]},{SURE[i // 2] if i else '?'}\n" for i in range(7))
    drop(app, ("half.csv", "item_id,judge,vote,confidence\n" + rows))
    said = all_text(app)
    assert "half.csv: 4 of 7 rows have a confidence that could not be read, more than half" in said
    assert "Or leave the confidences out with “Columns” confidence=." in said
    assert not can_load(app)


def test_what_is_missing_is_said_before_columns_are_confirmed_and_the_judge_is_typed(app):
    rows = "".join(
        f"q{i},old {i},new {i},{('Old', 'New', 'Tie')[i % 3]},{50 + i}\n" for i in range(40)
    )
    drop(app, ("bots.csv", "Question,Old bot reply,New bot reply,Verdict,Sure\n" + rows))
    assert "which column is: Judge" in all_text(app)
    assert not [box for box in app.checkbox if box.label == "These columns are right"]
    (judge,) = [box for box in app.text_input if box.label == "Judge"]
    calm(judge.set_value("gpt-4o").run())
    calm(widget(app, "checkbox", "These columns are right").set_value(True).run())
    load(app)
    found = exported(store_path(app), "bots")
    assert found["vote"].tolist()[:3] == [1, -1, 0]
    assert set(found["judge"]) == {"gpt-4o"}
    assert found["response_a"][0] == "old 0"
    assert (found["model_a"][0], found["model_b"][0]) == ("Old", "New")
    assert found["confidence"][0] == 0.5


def test_a_file_most_of_whose_rows_are_rejected_cannot_be_loaded(app):
    rows = "".join(f"{i},j,{'?' if i < 3 else 'A'}\n" for i in range(5))
    drop(app, ("mostly.csv", "item_id,judge,vote\n" + rows))
    calm(widget(app, "selectbox", "Labels are written as").set_value("A/B").run())
    assert "mostly.csv: 3 of 5 rows were rejected, more than half" in all_text(app)
    assert "or use “Labels are written as”" in all_text(app)
    assert not can_load(app)


def test_a_column_by_which_rows_of_one_comparison_differ_is_asked_about(app):
    rows = "".join(f"{i},j,{1 - 2 * (i % 2)},{who}\n" for i in range(9) for who in ("x", "y"))
    drop(app, ("providers.csv", "item_id,judge,vote,provider\n" + rows))
    assert "Rows of one comparison and judge differ in column 'provider'" in all_text(app)
    assert not can_load(app)
    box = widget(app, "selectbox", "That column is")
    assert box.value is None
    calm(box.set_value("model_a=provider").run())
    load(app)
    found = exported(store_path(app), "providers")
    assert sorted(set(found["model_a"])) == ["x", "y"]
    assert set(found["run"]) == {0}


@pytest.mark.thorough
def test_rows_that_differ_in_a_column_can_be_said_to_be_repeats(app):
    rows = "".join(f"{i},j,{vote},{who}\n" for i in range(9) for who, vote in (("x", 1), ("y", -1)))
    drop(app, ("again.csv", "item_id,judge,says,provider\n" + rows))
    calm(widget(app, "selectbox", "Answer").set_value("a run").run())
    load(app)
    assert sorted(exported(store_path(app), "again")["run"]) == [0] * 9 + [1] * 9


def test_pass_and_fail_are_offered_as_scores_and_never_as_votes(app):
    rows = "".join(f"{i},j,{'pass' if i % 3 else 'fail'}\n" for i in range(6))
    drop(app, ("checks.csv", "item_id,judge,vote\n" + rows))
    assert "'fail' and 'pass' judge single answers" in all_text(app)
    assert not [box for box in app.selectbox if box.label == "Labels are written as"]
    load(app)
    assert "6 direct scores loaded into checks." in all_text(app)


def test_a_broken_file_leaves_the_store_and_the_other_files_alone(app):
    latin = "item_id,judge,vote\n1,Jürgen,1\n".encode("latin-1") + "2,Zoë,1\n".encode()
    drop(app, ("latin.csv", latin), ("good.csv", PLAIN), ("none.csv", b""))
    assert "latin.csv" in all_text(app)
    assert "UTF-8" in all_text(app)
    assert "the file is empty" in all_text(app)
    assert "2 of 3 not ready to load" in all_text(app)
    load(app)
    assert "3 votes loaded into good." in all_text(app)
    with Store.open(store_path(app)) as store:
        assert [found.name for found in store.datasets()] == ["first", "good"]


def test_the_same_file_twice_says_so_and_changes_nothing(app):
    before = exported(store_path(app))
    drop(app, ("first.csv", PLAIN))
    load(app)
    assert "Loaded before as first: nothing to do." in all_text(app)
    pd.testing.assert_frame_equal(exported(store_path(app)), before)


def test_conflicts_are_kept_until_the_user_replaces_them(app):
    other = PLAIN.replace("1,j,1,1", "1,j,-1,1")
    drop(app, ("first.csv", other))
    load(app)
    assert "1 conflict (kept as stored)" in all_text(app)
    assert exported(store_path(app))["vote"].tolist() == [1, -1, 0]
    (button,) = [each for each in app.button if each.label.startswith("Replace")]
    calm(button.click().run())
    assert exported(store_path(app)).set_index("item_id")["vote"].to_dict() == {
        "1": -1,
        "2": -1,
        "3": 0,
    }
    assert not [each for each in app.button if each.label.startswith("Replace")]


def test_gold_from_a_second_file(app):
    drop(app, ("votes.csv", "item_id,judge,vote\n1,j,1\n9,j,-1\n"))
    load(app)
    assert "No vote has gold" in all_text(app)
    drop(app, ("gold.csv", "item_id,model_a,model_b,gold\n1,A,B,1\n9,A,B,1\n"))
    calm(widget(app, "selectbox", "Gold for data set").set_value("votes").run())
    load(app)
    assert "2 comparisons given gold" in all_text(app)
    assert exported(store_path(app), "votes")["gold"].tolist() == [1, 1]


def test_rename_delete_and_an_empty_store(app):
    app.text_input(key="new-name").set_value("renamed").run()
    calm(app.button(key="rename").click().run())
    assert "first is now named renamed." in all_text(app)
    assert app.session_state["selection"] == Selection(datasets=("renamed",), gold="given")
    calm(app.button(key="delete").click().run())
    assert "Deleted renamed: 3 votes." in all_text(app)
    assert "No votes are in yet" in all_text(app)
    assert "Load a file above" in all_text(app)
    drop(app, ("first.csv", PLAIN))
    load(app)
    assert "3 votes loaded into first." in all_text(app)
    assert app.session_state["selection"] == Selection(datasets=("first",), gold="given")


def test_a_name_that_is_taken_is_refused_in_words(app):
    drop(app, ("second.csv", PLAIN))
    load(app)
    app.text_input(key="new-name").set_value("first").run()
    calm(app.button(key="rename").click().run())
    assert "There is already a data set named 'first'" in all_text(app)


@pytest.mark.thorough
def test_a_deleted_demo_stays_deleted(tmp_path, monkeypatch):
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "demo.duckdb"))
    app = opened(new_app(), "start")
    assert any("Simulated demo data" in element.value for element in app.markdown)
    # Pairs, passes, levels: each is a data set.
    while "No votes are in yet" not in all_text(app):
        calm(app.button(key="delete").click().run())
    st.cache_resource.clear()
    assert "No votes are in yet" in all_text(opened(new_app(), "start"))
    st.cache_resource.clear()


def test_hostile_names_reach_no_markup(app):
    text = f'item_id,judge,"{HOSTILE}",vote\n1,"{HOSTILE}",x,A\n2,"{HOSTILE}",x,"{HOSTILE}"\n3,j,y,B\n4,j,y,B\n'
    drop(app, (f"{HOSTILE}.csv", text), (f"bad {HOSTILE}.csv", b"x"))
    calm(widget(app, "checkbox", "Load the other 3 all the same").set_value(True).run())
    load(app)
    marked_up = [*app.markdown, *app.caption, *app.title, *app.subheader]
    assert not [element.value for element in marked_up if "pixel" in element.value]
    labelled = [
        each for kind in ("button", "expander", "selectbox", "radio") for each in app.get(kind)
    ]
    assert not [each.label for each in labelled if "pixel" in each.label]
    assert HOSTILE in exported(store_path(app))["judge"].tolist()


@pytest.mark.thorough
def test_own_export_gives_the_same_store(app, tmp_path):
    from core.store.export import write_file

    drop(app, ("ours.csv", SPREADSHEET))
    calm(widget(app, "radio", "The labels name").set_value("slot").run())
    load(app)
    with Store.open(store_path(app)) as store:
        table = store.export()
        write_file(table, tmp_path / "out.csv")
        for name in ("first", "ours"):
            store.delete_dataset(name)
    app = opened(new_app(), "start")
    drop(app, ("out.csv", tmp_path / "out.csv"))
    load(app)
    with Store.open(store_path(app)) as store:
        assert store.export().equals(table)


def test_labels_are_added_to_the_data_set_that_is_chosen(app):
    rows = "".join(f"q{k},j,{k % 2 or -1}\n" for k in range(6))
    drop(app, ("bare.csv", "item_id,judge,vote\n" + rows))
    load(app)
    drop(app)
    calm(app.selectbox(key="managed").set_value("bare").run())
    sheet = "item_id,label\n" + "".join(f"q{k},{'AB'[k % 2]}\n" for k in range(4)) + "q9,A\n"
    uploader = app.file_uploader(key="stored-labels")
    calm(uploader.set_value([("people.csv", sheet.encode(), "text/csv")]).run())
    calm(app.button(key="add-labels").click().run())
    assert "bare: 4 of 5 labels found their answer" in all_text(app)
    found = exported(store_path(app), "bare").drop_duplicates("item_id")
    assert found["gold"].fillna(9).tolist() == [1, -1, 1, -1, 9, 9]
    uploader = app.file_uploader(key="stored-labels")
    calm(uploader.set_value([("people.csv", b"a,b\n1,2\n", "text/csv")]).run())
    calm(app.button(key="add-labels").click().run())
    assert "people.csv: " in all_text(app)
    assert app.button(key="labels-here").label == "Label here"


def test_native_files(app, native):
    (path,) = (native / "judgebench").glob("*judge-1*")
    drop(app, (path.name, path))
    assert "JudgeBench" in "\n".join(each.value for each in app.caption)
    load(app)
    with Store.open(store_path(app)) as store:
        assert "JudgeBench" in [found.name for found in store.datasets()]


def test_the_baseline_of_arena_hard_can_be_named(app, native):
    (path,) = (native / "arenahard").glob("*v0.1*")
    drop(app, (path.name, path))
    assert "name it with “Name of the baseline”" in all_text(app)
    calm(widget(app, "text_input", "Name of the baseline").set_value("gpt-4-0314").run())
    assert "B is gpt-4-0314" in all_text(app)
    load(app)
    assert set(exported(store_path(app), "tiny-arena-v0.1")["model_b"]) == {"gpt-4-0314"}


def test_pandalm_results_ask_for_the_test_set(app, native):
    folder = native / "pandalm"
    result, test_set = folder / "judge-1-testset-v1.json", folder / "testset-v1.json"
    drop(app, (result.name, result))
    assert "Give the test set (testset-v1.json) together with this file" in all_text(app)
    assert not can_load(app)
    drop(app, (result.name, result), (test_set.name, test_set))
    load(app)
    found = exported(store_path(app), "PandaLM")
    assert found.groupby("rater_type")["judge"].nunique().to_dict() == {"human": 3, "llm": 1}


@pytest.mark.thorough
def test_a_large_packed_canonical_file(app):
    path = PAGES.parent / "data" / "demo_votes.csv.gz"
    drop(app, (path.name, path))
    load(app)
    assert (
        len(exported(store_path(app), "demo (simulated)"))
        == 57120
        == gzip.decompress(path.read_bytes()).count(b"\n") - 1
    )


def test_receipt_counts_rejects_by_reason_whatever_item_they_name():
    rows = "".join(f"{k},j,{k % 2 or -1},0\n{k},j,0,0\n" for k in range(3))
    reading = read([("x.csv", f"item_id,judge,vote,run\n{rows}".encode())])[0]
    counted = reject_reasons(reading)
    assert counted["n"].sum() == reading.rejects.num_rows == 6
    assert counted["n"].tolist() == [3, 3]
    assert (
        describe_import(reading) == "0 votes of 0 raters on 0 items read from 6 rows; 6 rejected."
    )


def test_receipt_never_rounds_a_share_up_to_all_or_down_to_none(tmp_path):
    rows = [f"{k},j,1,{'1' if k else ''},{'0.5' if not k else ''}" for k in range(300)]
    text = "item_id,judge,vote,gold,confidence\n" + "\n".join(rows)
    with Store.open(None) as store:
        store.load(read([("x.csv", text.encode())])[0])
        from core.store.vote_queries import summary

        said = stored(summary(store, Selection()))
    assert "gold for 99.7 % of the votes" in said.figures
    assert "confidence for 0.3 %" in said.figures
    assert len(said.gaps) == 1


def test_a_column_can_be_left_out_and_the_first_shown_named_in_words():
    options = ReadOptions(mapping=(("gold", ""),), label_refers="slot")
    assert "gold" not in inspect(SPREADSHEET.encode(), "x.csv", options).mapping
    votes = read([("x.csv", SPREADSHEET.encode())], options)[0].votes
    assert votes["gold"].null_count == votes.num_rows
    assert votes["position"].to_pylist() == ["ab", "ba", "ab", "ba", "ab"]


def test_receipt_counts_what_says_nothing(tmp_path):
    from core.store.vote_queries import summary

    for empty, said in ((1, "1 more without a verdict"), (2, "2 more without a verdict")):
        rows = "".join(f"{k},j,{'' if k < empty else 1}\n" for k in range(4))
        reading = read([("x.csv", f"item_id,judge,vote\n{rows}".encode())])[0]
        assert f", {empty} of them without a verdict;" in describe_import(reading)
        with Store.open(None) as store:
            store.load(reading)
            assert said in stored(summary(store, Selection())).figures


NAMED = "item_id,judge,model_a,model_b,vote\n" + "".join(
    f"q{i},j,Qwen,Llama 3,{said}\n"
    for i, said in enumerate(["Qwen", "llama 3", "tie", "Qwen", "Llama", "n/a"])
)


def test_labels_that_name_no_model_of_the_file_are_shown_as_rejected(app):
    drop(app, ("named.csv", NAMED))
    if widget(app, "selectbox", "Labels are written as").value is None:
        calm(widget(app, "selectbox", "Labels are written as").set_value("names").run())
    told = frame(app, "label").set_index("label")["read as"].to_dict()
    better = "that model is better"
    assert told == {
        "Qwen": better,
        "llama 3": better,
        "tie": "tie",
        "Llama": "rejected",
        "n/a": "rejected",
    }
    assert set(frame(app, "row")["value"]) == {
        label for label, said in told.items() if said == "rejected"
    }
    assert any("row 2 of a spreadsheet" in caption.value for caption in app.caption)


@pytest.mark.thorough
def test_only_pages_that_can_say_something_are_offered_after_loading(app):
    drop(app, ("plain.csv", "item_id,judge,vote\n1,j,1\n2,j,\n"))
    load(app)
    assert {button.label for button in app.button if button.label.startswith("To ")} == {
        "To the verdict"
    }
    assert "1 of the 2 votes read holds no verdict" in all_text(app)
    drop(app, ("mine.csv", template()))
    load(app)
    assert {button.label for button in app.button if button.label.startswith("To ")} == {
        "To the verdict",
        "To Reliability diagrams",
    }


def test_items_of_scores_are_told_from_those_of_votes(app):
    assert "items" in frame(app, "data set")
    with Store.open(store_path(app)) as store:
        scores = "item_id,model,judge,score\n9,x,j,3\n8,y,j,5\n"
        store.load(read([("first.csv", scores.encode())], ReadOptions(format="direct_scores"))[0])
    listed = frame(opened(new_app(), "start"), "data set")
    assert listed["items of all kinds"].tolist() == [5]
    assert "items" not in listed


def linked(**parameters: str) -> AppTest:
    app = new_app()
    for name, value in parameters.items():
        app.query_params[name] = value
    return calm(app.run())


def test_a_link_to_a_judge_who_is_not_here_says_so_until_another_is_chosen(app):
    found = linked(judges="nobody")
    said = "The link asks for nobody, not among the raters of first. All are shown."
    assert said in all_text(found)
    assert said in all_text(calm(found.switch_page("start.py").run()))
    assert "nobody" not in all_text(calm(found.multiselect(key="judges").set_value(["j"]).run()))
    assert "not among" not in all_text(linked(judges="j"))


@pytest.mark.thorough
def test_a_bare_address_opens_the_newest_data_set_and_stays_there(app):
    with Store.open(store_path(app)) as store:
        store.load(read([("second.csv", PLAIN.encode())])[0])
    bare = linked()
    assert bare.selectbox(key="dataset").value == "second"
    with Store.open(store_path(app)) as store:
        store.load(read([("a third.csv", PLAIN.encode())])[0])
    assert linked().selectbox(key="dataset").value == "a third"
    assert calm(bare.run()).selectbox(key="dataset").value == "second"
    assert linked(dataset="first").selectbox(key="dataset").value == "first"


TOOLS = REPOSITORY / "tests" / "data" / "tools"


@pytest.mark.parametrize(
    ("name", "recognised", "sentence", "loaded"),
    first_of(
        (
            "inspect.json",
            "Recognised: Inspect log",
            "item s0: judge lab/judge-one gave 1 on model_graded_qa to lab/answerer",
            "19 direct scores loaded into nature",
        ),
        (
            "promptfoo.json",
            "Recognised: promptfoo results",
            "judge openai:gpt-judge saw A first and said m-one (A) is better",
            "2 votes loaded into promptfoo",
        ),
        (
            "mlflow_traces.jsonl",
            "Recognised: MLflow traces",
            "item request-0: person ann@example.org gave 0 on clear to app",
            "4 direct scores loaded into MLflow",
        ),
        (
            "ragas.csv",
            "Recognised: a table of answers with a column per metric",
            "judge ragas gave 0.5 on faithfulness",
            "9 direct scores loaded into ragas",
        ),
        n=2,
    ),
)
def test_a_tools_file_is_recognised_read_back_and_loaded(app, name, recognised, sentence, loaded):
    drop(app, (name, TOOLS / name))
    assert any(each.value.startswith(recognised) for each in app.caption)
    assert sentence in all_text(app)
    calm(app.button(key="load").click().run())
    assert loaded in all_text(app)


def test_a_tools_file_that_cannot_be_read_names_the_one_that_can(app):
    header = "q,[a] x,Status,Score,Named Scores,Grader Reason,Comment,[b] x,Status\n"
    drop(app, ("out.csv", header))
    assert "-o results.json" in all_text(app)
    assert not [each for each in app.button if each.key == "load"]


def test_columns_of_metrics_can_be_chosen(app):
    drop(app, ("ragas.csv", TOOLS / "ragas.csv"))
    box = widget(app, "multiselect", "Columns of metrics")
    assert box.value == ["faithfulness", "answer_relevancy", "context_recall"]
    calm(box.set_value(["faithfulness"]).run())
    assert "on faithfulness" in all_text(app)
    assert "on answer_relevancy" not in all_text(app)


def test_labels_in_a_second_file_are_joined_and_loaded(app):
    log = "item_id,judge,score\n" + "".join(f"q{k},gpt,{k % 2}\n" for k in range(12))
    drop(app, ("log.csv", log))
    (uploader,) = [each for each in app.file_uploader if each.label == "Sheet of labels"]
    sheet = "item_id,label\n" + "".join(f"q{k},pass\n" for k in range(8)) + "q99,fail\n"
    uploader.set_value([("sheet.csv", sheet.encode(), "text/csv")])
    calm(app.run())
    assert "8 of 9 labels found their answer by column 'item_id'; 1 did not" in all_text(app)
    calm(app.button(key="load").click().run())
    assert "12 direct scores loaded" in all_text(app)
    assert "8 direct scores loaded" in all_text(app)


def read_by_the_page(app: AppTest, files: list[Path]) -> None:
    """One drop of all: nothing is asked, what `read` reads is said with its first rows, what it
    refuses is refused in the same words; then all that holds votes is loaded, row by row.
    """
    drop(app, *[(path.name, path) for path in files])
    said, loaded, refused = all_text(app), {}, []
    for path in files:
        test_sets = [each for each in files if each.name == "testset-v1.json" != path.name]
        beside = test_sets if path.parent.name == "pandalm" else []
        try:
            found = read([(each.name, each) for each in (*beside, path)])[len(beside) :]
        except AppellateError as error:
            refused.append(render(error, OPTIONS))
            continue
        for reading in found:
            assert describe_import(reading) in said, path.name
            assert [line for line in read_back(reading, 10) if line not in said] == [], path.name
            for name in reading.votes["dataset"].unique().to_pylist():
                loaded.setdefault((name, reading.kind), []).append(reading)
    assert [words for words in refused if words not in said] == []
    load(app)
    with Store.open(store_path(app)) as store:
        for (name, kind), readings in loaded.items():
            if len(readings) == 1 and not readings[0].gold_only:
                rows = pc.equal(readings[0].votes["dataset"], name)
                stored_rows = store.export(Selection(datasets=(name,)), kind=kind)
                assert stored_rows.num_rows == pc.sum(rows).as_py(), name


@pytest.mark.thorough
def test_the_files_of_tools_are_read_by_the_page(app):
    read_by_the_page(app, [path for path in FILES if path.name != "german.csv"])


@pytest.mark.thorough
def test_real_files_of_tools_are_read_by_the_page(app, shared_data):
    folder = shared_data / "native"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".md"]
    assert len(files) == 46
    read_by_the_page(app, files)


def test_scores_of_single_answers_lead_to_the_overview_and_to_scores(app):
    rows = "".join(f"{i},{'yes' if i % 9 else 'no'},yes\n" for i in range(30))
    drop(app, ("passed.csv", f"case_id,judge_passed,human_passed\n{rows}".encode()))
    app.button(key="load").click().run()
    labels = {button.label for button in app.button}
    assert {"To the verdict", "To Scores"} <= labels
    assert "To the Leaderboard" not in labels


def test_several_files_of_one_data_set_are_about_the_same_items(app) -> None:
    def week(number: int) -> str:
        votes = (1 if (i * number) % 7 else -1 for i in range(40))
        rows = (f"q{i},j,{vote},1\n" for i, vote in enumerate(votes))
        return "item_id,judge,vote,gold\n" + "".join(rows)

    drop(app, ("week1.csv", week(1)), ("week2.csv", week(7)), ("copy.csv", week(7) + "\n"))
    for box in [each for each in app.text_input if each.label == "Data set"]:
        box.set_value("weeks")
    calm(app.run())
    load(app)
    with Store.open(store_path(app)) as store:
        there = {each.name: (each.votes, each.items) for each in store.datasets()}
        assert there["weeks"] == (80, 40)
