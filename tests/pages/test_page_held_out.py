"""Correcting for order, confidence weights and Likert scales in the real app: numbers, words and
figures.
"""

from pathlib import Path

import numpy as np
import pytest
from apps import OPENED, new_app, opened, texts
from evidence_of import result
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.questions.labels.confidence_weights import confidence_weighted
from core.questions.labels.ordinal_model import of_scores, ordinal
from core.questions.labels.position_aware_btd import one_order, position_aware
from core.questions.labels.words import SIMULATED_CONFIDENCE
from core.questions.labels.words import confidence_weighted as weighed_words
from core.questions.labels.words import ordinal as ordinal_words
from core.questions.labels.words import position_aware as order_words
from core.questions.order.method import position_bias
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store import Store
from core.store.vote_queries import (
    confidence_counts,
    direct_scores,
    order_counts,
    positions,
    vote_counts,
)
from pages.shared.cached import get_store

MAIN = REPOSITORY / "pages" / "main.py"
HOSTILE = "<img src=x onerror=alert(1)>"
DEMO = Selection(datasets=(DEMO_DATASET,))
BIASED = "sim-judge-first-slot"


def table(page: AppTest, column: str):
    return next(frame.value for frame in page.dataframe if frame.value.columns[0] == column)


def copied(page: AppTest, word: str, capsys) -> str:
    (code,) = (block.value for block in page.code if word in block.value)
    # The app holds the store's file, so the copy uses the open one.
    exec(code.replace(OPENED, "STORE"), {"STORE": get_store()})  # noqa: S102
    return capsys.readouterr().out


@pytest.mark.thorough
def test_votes_as_they_are_show_what_core_computes(app: AppTest) -> None:
    """Failed votes leave a few comparisons of the demo out of balance: too few to matter."""
    page = opened(app, "position_bias", tab="Correcting for order", judge=BIASED)
    found = position_aware(order_counts(get_store(), DEMO)[BIASED], rng=np.random.default_rng(0))
    assert 0 < found.fit.unbalanced < found.fit.n_items / 3
    counts = positions(get_store(), DEMO)[BIASED]
    said = order_words(BIASED, found, position_bias(counts))
    assert said in texts(page)
    # The few unbalanced comparisons show nothing, but the page's own answer stands above.
    assert "no position bias" not in said
    assert "within pairs of both orders it favours the response shown first" in said
    above = result("position", positions=counts).sentence
    (answer,) = (place for place, text in enumerate(texts(page)) if above in text)
    assert answer < texts(page).index(said)
    row = table(page, "judge").set_index("judge").loc[BIASED]
    assert row["corrected on all labels"] == ("yes" if found.fit.delta else "no")
    assert (row["unbalanced"], row["z"]) == (found.fit.unbalanced, found.fit.z)


@pytest.mark.thorough
def test_correcting_one_order_each_shows_what_core_computes(app: AppTest, capsys) -> None:
    page = opened(
        app, "position_bias", tab="Correcting for order", judge=BIASED, order_votes="one order each"
    )
    counts = one_order(order_counts(get_store(), DEMO)[BIASED], rng=np.random.default_rng(0))
    found = position_aware(counts, rng=np.random.default_rng(0))
    assert order_words(BIASED, found) in texts(page)
    assert found.delta.high < 0
    assert "it favours the response shown first" in order_words(BIASED, found)
    row = table(page, "judge").set_index("judge").loc[BIASED]
    assert (row["δ"], row["low"], row["high"]) == (
        found.delta.value,
        found.delta.low,
        found.delta.high,
    )
    rules = table(page, "rule").set_index("rule")
    assert rules["MAE"].to_list() == found.scores.mae.value.tolist()
    assert rules["ΔMAE"].to_list() == found.scores.mae_change.value.tolist()
    assert len(page.get("plotly_chart")) == 1
    out = copied(page, "one_order", capsys)
    assert f"{found.delta}" in out


@pytest.mark.thorough
def test_confidence_weights_show_what_core_computes(app: AppTest, capsys) -> None:
    judge = "sim-judge-careful"
    page = opened(app, "votes_to_labels", tab="Confidence weights", judge=judge)
    counts, votes = vote_counts(get_store(), DEMO), confidence_counts(get_store(), DEMO)
    found = confidence_weighted(counts[judge], votes[judge], rng=np.random.default_rng(0))
    assert weighed_words(judge, found) in texts(page)
    assert SIMULATED_CONFIDENCE in texts(page)
    rules = table(page, "rule").set_index("rule")
    assert rules["MAE"].to_list() == found.scores.mae.value.tolist()
    row = table(page, "judge").set_index("judge").loc[judge]
    assert (row["unanimous"], row["z"]) == (found.unanimous, found.weighing.z)
    assert any(
        text.startswith(
            "Not applicable to sim-person-1, sim-person-2, sim-person-3: Weighing by confidence"
        )
        for text in texts(page)
    )
    assert str(found.weighing) in copied(page, "confidence_weighted", capsys)


def test_votes_loaded_from_a_file_are_not_called_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "dataset": "real",
            "item_id": f"i{k}",
            "judge": "j",
            "vote": int(rng.integers(-1, 2)),
            "gold": k % 3 - 1,
            "confidence": float(rng.choice([0.6, 0.8, 0.95])),
        }
        for k in range(120)
    ]
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        store.load(reading(rows))
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    page = opened(new_app(), "votes_to_labels", tab="Confidence weights")
    assert any("equal weights" in text for text in texts(page))
    assert SIMULATED_CONFIDENCE not in texts(page)


def test_a_judge_without_confidence_says_why(app: AppTest) -> None:
    page = opened(app, "votes_to_labels", tab="Confidence weights", judge="sim-person-1")
    assert any("none was given" in text for text in texts(page))
    # The judges that have one are still compared.
    assert len(page.get("plotly_chart")) == 1


def test_likert_tab_shows_what_core_computes(app: AppTest, capsys) -> None:
    page = opened(app, "votes_to_labels", tab="Likert scales")
    judge, gold = (page.selectbox(key=f"likert_{who}").value for who in ("judge", "gold"))
    assert gold == "sim-person-1"
    scores = direct_scores(get_store(), DEMO)
    found = ordinal(of_scores(scores[judge], scores[gold]), rng=np.random.default_rng(0))
    assert ordinal_words(judge, gold, found) in texts(page)
    assert table(page, "rule")["MAE"].to_list() == found.scores.mae.value.tolist()
    thresholds = table(page, "level")
    assert thresholds["threshold"].to_list() == (found.fit.location + found.fit.cuts).tolist()
    assert len(page.get("plotly_chart")) == 2
    assert str(found.fit.to_frame()) in copied(page, "score_levels", capsys)
    page.selectbox(key="likert_judge").set_value(gold).run()
    assert any("cannot be gold for itself" in text for text in texts(page))


def test_votes_alone_have_no_likert_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_path
) -> None:
    path = tmp_path / "votes.duckdb"
    rows = [
        {
            "dataset": "few",
            "item_id": f"i{k}",
            "judge": HOSTILE,
            "vote": k % 3 - 1,
            "gold": 1,
            "position": "ab",
        }
        for k in range(10)
    ]
    with Store.open(path) as store:
        store.load(reading(rows))
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    page = opened(new_app(), "votes_to_labels", tab="Likert scales")
    assert any("this data set has no direct scores" in text for text in texts(page))
    page = opened(new_app(), "position_bias", tab="Correcting for order")
    assert any("at least 20 labelled comparisons" in text for text in texts(page))
    assert {"corrected-door-label", "corrected-door-file"} <= {each.key for each in page.button}
    assert not any(HOSTILE in element.value for element in page.markdown)
