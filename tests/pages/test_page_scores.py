"""The Scores page and the first screen of judges of single answers: they say what the audit says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from apps import all_text, new_app, opened, texts
from streamlit.testing.v1 import AppTest

from core.audit_results import AuditOptions
from core.importers import ReadOptions, read
from core.schema import Selection
from core.score_auditing import audit_scores
from core.store import Store


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Pass and fail, and levels by a judge and three people, in one store."""
    rng, folder = np.random.default_rng(5), tmp_path_factory.mktemp("scored")
    gold = rng.random(200) < 0.8
    judge = np.where(rng.random(200) < 0.9, gold, ~gold)
    words = np.array(["fail", "pass"])
    pd.DataFrame(
        {"case_id": range(200), "judge_passed": words[judge * 1], "human_passed": words[gold * 1]}
    ).to_csv(folder / "passed.csv", index=False)
    quality = rng.normal(size=90)
    columns = {
        name: np.clip(np.round(quality + 0.5 * rng.normal(size=90) + 3), 1, 5).astype(int)
        for name in ("llm", "annotator_1", "annotator_2", "annotator_3")
    }
    pd.DataFrame({"item_id": range(90), "response": "some words", **columns}).to_csv(
        folder / "levels.csv", index=False
    )
    path = folder / "scores.duckdb"
    with Store.open(path) as store:
        for name in ("passed", "levels"):
            for reading in read([(f"{name}.csv", folder / f"{name}.csv")], ReadOptions()):
                store.load(reading, dataset=name)
    return path


@pytest.fixture
def app(scored, monkeypatch) -> AppTest:
    monkeypatch.setenv("APPELLATE_STORE", str(scored))
    return new_app()


def audited(path, dataset):
    with Store.open(path) as store:
        return audit_scores(store, Selection(datasets=(dataset,)), AuditOptions())


@pytest.mark.parametrize("dataset", ["passed", "levels"])
def test_the_page_says_what_the_audit_says(app, scored, dataset):
    page = opened(app, "scores", dataset=dataset)
    (found,) = audited(scored, dataset)
    shown = texts(page)
    assert f"{found.whose}: {found.headline}" in shown
    assert not found.figures or found.figures in shown
    for result in found.checks:
        assert any(result.sentence in text for text in shown) == result.applicable


def test_a_cell_opens_its_answers(app, scored):
    page = opened(app, "scores", dataset="passed", levels="people fail, judge pass")
    table = page.dataframe[0].value
    assert set(table["score"]) == {1.0}
    assert set(table["gold"]) == {0.0}
    (found,) = audited(scored, "passed")
    assert len(table) == found.evidence.passing.counts[0, 1]


@pytest.mark.parametrize("dataset", ["passed", "levels"])
def test_the_first_screen_has_the_verdict(app, scored, dataset):
    page = opened(app, "overview", dataset=dataset)
    (found,) = audited(scored, dataset)
    said = all_text(page)
    assert found.headline in said
    assert f"{found.whose} ·" in said


def test_a_selection_of_votes_says_what_to_load(store_path, monkeypatch):
    monkeypatch.setenv("APPELLATE_STORE", str(store_path))
    page = opened(new_app(), "scores")
    assert "no judge of single answers" in all_text(page) or page.selectbox(key="scored").value
