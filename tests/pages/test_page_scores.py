"""The Scores page and the first screen of judges of single answers: they say what the audit says."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from apps import all_text, new_app, opened, texts
from streamlit.testing.v1 import AppTest

from core.auditing.options import AuditOptions
from core.importers import ReadOptions, read
from core.labelling.disagreements import as_csv, disagreements
from core.questions.scores import words as sentences
from core.questions.scores.audit import audit_scores
from core.questions.scores.figure import pair_key
from core.schema import Selection
from core.store import Store


@dataclass
class Chosen:
    """Judges of single answers, as lists of answers take them."""

    scores: tuple
    selection: Selection
    options: AuditOptions


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
    dates = [f"2026-0{1 + k % 3}-1{k % 10}" for k in range(90)]
    texts_ = {"response": "some words", "created_at": dates}
    pd.DataFrame({"item_id": range(90), **texts_, **columns}).to_csv(
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


def shows(page, answer):
    return {answer.headline, answer.figures} <= set(texts(page))


def audited(path, dataset):
    with Store.open(path) as store:
        return audit_scores(store, Selection(datasets=(dataset,)), AuditOptions())


@pytest.mark.parametrize("dataset", ["passed", "levels"])
def test_the_page_says_what_the_audit_says(app, scored, dataset):
    page = opened(app, "scores", dataset=dataset)
    (found,) = audited(scored, dataset)
    shown = texts(page)
    assert f"{found.whose}. {found.headline}" in "".join(shown)
    assert not found.figures or found.figures in shown
    for result in found.checks:
        assert any(result.sentence in text for text in shown) == result.applicable


def cards(page):
    """What stands on the cards of answers: the lines that name a rater and what it said."""
    return [text for text in texts(page) if re.match(r"[\w-]+: (?:pass|fail|[\d.]+)", text)]


def test_a_cell_opens_its_answers(app, scored):
    page = opened(app, "scores", dataset="passed", levels="people fail, judge pass")
    (found,) = audited(scored, "passed")
    wrong = found.evidence.passing.counts[0, 1]
    assert any(f"of {wrong}" in text for text in texts(page))
    said = cards(page)
    assert said
    assert {text.partition(": ")[2] for text in said if not text.startswith("gold")} == {"pass"}
    assert {text for text in said if text.startswith("gold")} == {"gold: fail"}


def test_a_cell_of_judge_and_person_opens_the_answers_that_part_them_most(app, scored):
    (found,) = audited(scored, "levels")
    table, pair = found.evidence.table, found.evidence.pairs[1]
    page = opened(app, "scores", dataset="levels", pair=pair_key(pair))
    apart = np.abs(table.judge - table.people[:, 1])
    said = cards(page)
    shown = [text for text in said if text.startswith(f"{pair.first}: ")]
    person = [text for text in said if text.startswith(f"{pair.second}: ")]
    most = [
        abs(float(a.rpartition(" ")[2]) - float(b.rpartition(" ")[2]))
        for a, b in zip(shown, person, strict=True)
    ]
    assert most == sorted(apart.tolist(), reverse=True)[:2]
    assert "some words" in texts(page)


def test_the_price_moves_the_cut_and_its_figures(app, scored):
    said = {}
    for price, cost in (("1 : 1", 1.0), ("10 : 1", 10.0)):
        page = opened(
            new_app(),
            "scores",
            dataset="levels",
            tab="Pass or fail",
            price=price,
            **{"pass-from": "3"},
        )
        with Store.open(scored) as store:
            options = AuditOptions(pass_from={"score": 3.0}, wrong_pass=cost)
            (found,) = audit_scores(store, Selection(datasets=("levels",)), options)
        said[price] = sentences.cut_answer(found.evidence.cut)
        assert shows(page, said[price])
    assert said["1 : 1"] != said["10 : 1"]


def test_every_tab_says_what_the_evidence_says(app, scored):
    (found,) = audited(scored, "passed")
    page = opened(new_app(), "scores", dataset="passed", tab="True rate")
    assert shows(page, sentences.true_rate_answer(found.evidence.pass_rate))
    (found,) = audited(scored, "levels")
    page = opened(new_app(), "scores", dataset="levels", tab="Recalibrate")
    assert shows(page, sentences.map_answer(found.evidence.recalibration))
    page = opened(new_app(), "scores", dataset="levels", **{"scores-people": "crowd"})
    assert shows(page, sentences.alternative_answer(found.evidence.alternative_of("crowd")))
    page = opened(new_app(), "scores", dataset="levels", tab="Steadiness", period="2026-02")
    assert any("than the other periods" in text for text in texts(page))
    assert cards(page)


@pytest.mark.parametrize("dataset", ["passed", "levels"])
def test_the_first_screen_has_the_verdict(app, scored, dataset):
    page = opened(app, "verdict", dataset=dataset)
    (found,) = audited(scored, dataset)
    said = all_text(page)
    assert found.headline in said
    assert f"{found.whose} ·" in said
    # Levels, how often each, and the checks that apply.
    assert len(page.get("plotly_chart")) == 4


def test_scores_that_no_person_gave_lead_to_labels(tmp_path, monkeypatch):
    path = tmp_path / "alone.duckdb"
    rows = "".join(f"q{k},j,{1 + k % 5}\n" for k in range(40))
    with Store.open(path) as store:
        (reading,) = read([("alone.csv", f"item_id,judge,score\n{rows}".encode())])
        store.load(reading)
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    app = new_app()
    for page in ("verdict", "scores"):
        shown = opened(app, page)
        assert "What to do: Add scores by a person on the same answers." in all_text(shown)
        assert {"label-answers-label", "label-answers-file"} <= {one.key for one in shown.button}


def test_a_selection_of_votes_says_what_to_load(store_path, monkeypatch):
    monkeypatch.setenv("APPELLATE_STORE", str(store_path))
    page = opened(new_app(), "scores")
    assert "no judge of single answers" in all_text(page) or page.selectbox(key="scored").value


def test_what_it_may_decide_alone_has_its_diagram_th_score_and_threshold(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    p = rng.uniform(0.02, 0.98, 400).round(3)
    path = tmp_path / "chances.csv"
    human = (rng.random(400) < np.where(p > 0.5, 0.95, 0.05)).astype(int)
    pd.DataFrame({"trace_id": range(400), "judge": "llm", "p_yes": p, "human": human}).to_csv(
        path, index=False
    )
    with Store.open(tmp_path / "s.duckdb") as store:
        for reading in read([(path.name, path)], ReadOptions()):
            store.load(reading, dataset="chances")
        (found,) = audit_scores(store, Selection(datasets=("chances",)), AuditOptions())
        listed = disagreements(store, Chosen((found,), Selection(), AuditOptions()))
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "s.duckdb"))
    page = opened(new_app(), "scores", dataset="chances", tab="Alone", error="10%")
    assert not page.exception
    assert set(sentences.alone_sentences(found.alone, 0.1)) <= set(texts(page))
    table = next(frame.value for frame in page.dataframe if "errors allowed" in frame.value)
    assert table["from"].tolist() == pytest.approx(
        [np.nan if one.threshold is None else one.threshold for one in found.alone.shares],
        nan_ok=True,
    )
    assert "Where it is nearly certain" in [each.value for each in page.subheader]
    rows = [row | {"who_is_right": "judge"} for row in listed.to_pylist()]
    filled = as_csv(type(listed).from_pylist(rows, listed.schema))
    page.file_uploader(key="second-look").set_value(("back.csv", filled, "text/csv")).run()
    assert not page.exception
    assert any("were the people's error (100 %" in text for text in texts(page))
