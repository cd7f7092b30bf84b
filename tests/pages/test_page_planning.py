"""The Experiments page: its words follow from numbers, its figures plot them, and the app shows
core's.
"""

import dataclasses

import numpy as np
import pytest
from apps import OPENED, judge_of, opened, texts
from draws import seeded
from levels import first_of
from places import REPOSITORY
from streamlit.testing.v1 import AppTest

from core.questions.planning.comparison import compare, parameter_grid
from core.questions.planning.figure import transfer_key
from core.questions.planning.parameter_transfer import task_distances, transfer, transfer_prediction
from core.questions.planning.sweeps import label_sweep, vote_sweep, votes_source
from core.questions.planning.words import (
    comparison_answer,
    enough_answer,
    labels_answer,
    parameters_answer,
    plan_answer,
    prediction_answer,
    transfer_answer,
    votes_answer,
)
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store.vote_queries import confidence_counts, order_counts, vote_counts, vote_counts_by
from pages.shared.cached import get_store

MAIN = REPOSITORY / "pages" / "main.py"
DEMO = Selection(datasets=(DEMO_DATASET,))
TABS = ("How many votes", "How many labels", "Transfer", "Compare", "Parameters", "Vote budget")


@pytest.mark.thorough
def test_the_first_tab_says_and_shows_core_s_sweep(app: AppTest, capsys) -> None:
    page = opened(app, "planning")
    judge = judge_of(page)
    orders = order_counts(get_store(), DEMO)[judge]
    source = votes_source(vote_counts(get_store(), DEMO)[judge], orders)
    assert source is orders
    found = vote_sweep(orders, rng=seeded())
    said = plan_answer(judge, found)
    assert texts(page)[:2] == [said.headline, said.figures]
    assert votes_answer(judge, found) in texts(page)
    shown = next(frame.value for frame in page.dataframe if "votes" in frame.value)
    assert shown["MAE"].tolist() == pytest.approx(found.mae.value.ravel().tolist())
    assert (shown["n"] == found.n).all()
    assert f"{found.mae.value[0, 0]:.6f}" in printed(page, capsys)


def printed(page: AppTest, capsys: pytest.CaptureFixture[str]) -> str:
    """What the page's own lines print."""
    (code,) = (block.value for block in page.main.code)
    capsys.readouterr()
    exec(code.replace(OPENED, "STORE"), {"STORE": get_store()})  # noqa: S102
    return capsys.readouterr().out


@pytest.mark.parametrize("over", first_of("labels", "votes"))
def test_a_mark_of_a_sweep_leads_to_what_its_rule_labels_wrongly(app: AppTest, over) -> None:
    judge = "sim-judge-careful"
    chosen = {f"{over}-sweep": "Majority (SC)"}
    page = opened(app, "planning", tab=f"How many {over}", judges=judge, **chosen)
    votes = vote_counts(get_store(), DEMO)[judge].labelled()
    wrong = votes.rows(votes.label != votes.gold)
    assert len(wrong) > 0
    assert any(each.value.startswith(f"{wrong.n_votes:,} vote") for each in page.caption)


@pytest.mark.thorough
def test_a_mark_of_ci_sc_leads_to_what_its_sums_of_confidence_label_wrongly(app: AppTest) -> None:
    """Own calculation: the label with the largest sum of confidences, 0 between equal ones."""
    judge = "sim-judge-boaster"
    page = opened(
        app, "planning", tab="How many votes", judges=judge, weigh_confidence="true",
        **{"votes-sweep": "CI-SC", "weigh-confidence": "true"},
    )  # fmt: skip
    votes = vote_counts(get_store(), DEMO)[judge].labelled()
    stated = confidence_counts(get_store(), DEMO)[judge]
    wrong = []
    for comparison, gold in zip(votes.comparison.tolist(), votes.gold.tolist(), strict=True):
        own = stated.comparison == comparison
        sums = [
            float((stated.confidence * stated.n)[own & (stated.vote == vote)].sum())
            for vote in (-1, 0, 1)
        ]
        best = [vote - 1 for vote in range(3) if sums[vote] > max(sums) - 1e-12]
        wrong.append((best[0] if len(best) == 1 else 0) != gold)
    n = votes.rows(np.array(wrong)).n_votes
    assert n > 0
    assert any(each.value.startswith(f"{n:,} vote") for each in page.caption)


@pytest.mark.thorough
def test_labels_are_core_s_and_their_lines_run(app: AppTest, capsys) -> None:
    page = opened(app, "planning", tab="How many labels")
    judge = judge_of(page)
    found = label_sweep(vote_counts(get_store(), DEMO)[judge], rng=seeded())
    said = enough_answer(judge, found)
    assert texts(page)[:2] == [said.headline, said.figures]
    assert labels_answer(judge, found) in texts(page)
    assert f"{found.mae.value[0, 0]:.6f}" in printed(page, capsys)


def test_transfer_is_core_s_and_its_lines_run(app: AppTest, capsys) -> None:
    page = opened(app, "votes_to_labels", tab="Transfer")
    judge = judge_of(page)
    by_category = vote_counts_by(get_store(), DEMO, "category")
    tasks = {name: judges[judge] for name, judges in by_category.items()}
    found = transfer(tasks, rng=seeded())
    assert transfer_answer(found, "categories") in texts(page)
    told = transfer_prediction(found, task_distances(tasks), rng=seeded())
    assert prediction_answer(told) in texts(page)
    out = printed(page, capsys)
    assert f"{found.mae[0, 1]:.6f}" in out
    assert f"{told.rho[0, 2]:.6f}" in out


@pytest.mark.thorough
def test_comparison_is_core_s_and_its_lines_run(app: AppTest, capsys) -> None:
    page = opened(app, "compare", tab="Settings")
    reference = page.selectbox(key="against").value
    found = compare(vote_counts(get_store(), DEMO), rng=seeded(), baseline=reference)
    assert comparison_answer(found, "judge") in texts(page)
    assert f"{found.to_frame()['mae'][0]:.6f}" in printed(page, capsys)


def test_parameters_are_core_s_and_their_lines_run(app: AppTest, capsys) -> None:
    judge = "sim-judge-careful"
    page = opened(app, "votes_to_labels", tab="Parameters", judges=judge)
    by_category = vote_counts_by(
        get_store(), dataclasses.replace(DEMO, judges=(judge,)), "category"
    )
    groups = {
        (task, name): one for task, judges in by_category.items() for name, one in judges.items()
    }
    found = parameter_grid(groups, rng=seeded())
    assert parameters_answer(found) in texts(page)
    assert f"{found.to_frame()['beta_mean'][0]:.6f}" in printed(page, capsys)


@pytest.mark.thorough
def test_a_chosen_pair_shows_both_fits(app: AppTest) -> None:
    page = opened(app, "votes_to_labels", tab="Transfer", pair=transfer_key("Math", "Safety"))
    assert page.selectbox(key="pair").value == transfer_key("Math", "Safety")
    parameters = next(frame.value for frame in page.dataframe if "parameter" in frame.value)
    assert parameters["fitted on"].unique().tolist() == ["Math", "Safety"]
    assert parameters["parameter"].tolist() == ["β", "ν", "γ"] * 2
    judges = page.segmented_control(key="between").set_value("judges").run()
    assert not judges.exception
    assert any("pairs of judges" in text for text in texts(judges))


@pytest.mark.thorough
def test_columns_of_the_file_can_be_compared(app: AppTest, capsys) -> None:
    page = opened(app, "compare", tab="Settings", compare_by="category")
    judge = judge_of(page)
    values = {
        name: judges[judge]
        for name, judges in vote_counts_by(get_store(), DEMO, "category").items()
    }
    shown = next(frame.value for frame in page.dataframe if "MAE minus reference" in frame.value)
    assert shown["category"].unique().tolist() == list(values)
    found = compare(values, rng=seeded(), baseline=page.selectbox(key="against").value)
    assert shown["MAE"].tolist() == pytest.approx(found.to_frame()["mae"].tolist())
    assert f"{found.to_frame()['mae'][0]:.6f}" in printed(page, capsys)


@pytest.mark.parametrize("tab", first_of(*TABS, n=2))
def test_without_gold_every_tab_says_what_is_missing(
    app: AppTest, tab: str, tmp_path, monkeypatch
) -> None:
    import streamlit as st

    from core.importers import read
    from core.store import Store

    path = tmp_path / "plain.csv"
    rows = [f"i{k},a,b,j{k % 2},{run},{(k + run) % 3 - 1}" for k in range(60) for run in range(3)]
    path.write_text("\n".join(["item_id,model_a,model_b,judge,run,vote", *rows]), encoding="utf-8")
    target = tmp_path / "plain.duckdb"
    with Store.open(target) as store:
        for reading in read([(path.name, path)]):
            store.load(reading)
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(target))
    page = opened(app, "planning", tab=tab)
    st.cache_resource.clear()
    said = " ".join(texts(page))
    assert "gold" in said or "label" in said
