"""Debiased rates on the Leaderboard page, the guarantee over comparisons on Calibration: as core
has them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from apps import new_app, opened, texts
from draws import seeded
from levels import first_of
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.questions.boards.check_words import corrected, debiased
from core.questions.boards.debiased import debiased_board, hide_gold, most_misjudged, pooled_votes
from core.questions.confidence.figure import cut_key
from core.questions.confidence.selective import (
    by_btd,
    by_share,
    by_stated_confidence,
    guarantee,
    kept_comparisons,
)
from core.questions.confidence.words import SURENESS_NAMES, guaranteed
from core.records import VoteCounts, independent
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store import Store
from core.store import vote_queries as queries

MAIN = REPOSITORY / "pages" / "main.py"
JUDGE, ANCHOR = "sim-judge-careful", "sim-birch"
DEMO = Selection(datasets=(DEMO_DATASET,))
HOSTILE = "<img src=x onerror=alert(1)>"


def demo() -> tuple[dict[str, VoteCounts], dict[str, list[str]]]:
    from pages.shared.cached import get_store

    names = queries.comparison_names(get_store(), DEMO)
    sides = {name: names[name].to_pylist() for name in ("model_a", "model_b")}
    return queries.vote_counts(get_store(), DEMO), sides


@pytest.mark.parametrize("judge", first_of(JUDGE, None))
def test_debiased_tab_shows_the_numbers_of_core(app: AppTest, judge: str | None) -> None:
    query = {
        "anchor": ANCHOR,
        "tab": "Own family",
        "debiased_labels": "40",
        "debiased_weight": "tuned",
    }
    opened(app, "leaning", **query, **({"voter": judge} if judge else {}))
    counts, sides = demo()
    pooled = pooled_votes(counts[name] for name in independent(counts))
    votes = hide_gold(counts[judge] if judge else pooled, share=0.4, rng=seeded())
    expected = debiased_board(votes, ANCHOR, weighting="tuned", **sides)
    worst = most_misjudged(expected)
    assert worst is not None
    said = debiased(worst.model, ANCHOR, judge, worst.rate)
    assert said in texts(app)
    assert corrected(worst.two_class) in texts(app)
    shown = app.dataframe[0].value.set_index("model")
    assert list(shown.index) == [row.model for row in expected.rows]
    for row in expected.rows:
        one = shown.loc[row.model]
        assert (one["wins %"], one["low"], one["high"]) == pytest.approx(
            (100 * row.rate.value, 100 * row.rate.low, 100 * row.rate.high), abs=1e-9
        )
        assert (one["n labelled"], one["weight"]) == (row.rate.n_labelled, row.rate.weight)
    other = expected.rows[-1].model
    app.selectbox(key="debiased_model").set_value(other).run()
    assert not app.exception
    assert any(text.startswith(f"{other} wins") for text in texts(app))


def test_too_few_labels_are_said(app: AppTest) -> None:
    opened(app, "leaning", anchor=ANCHOR, tab="Own family", debiased_labels="5")
    assert any("needs gold on at least 10 items" in text for text in texts(app))
    assert {"debiased-door-label", "debiased-door-file"} <= {each.key for each in app.button}
    app.button(key="debiased-door-label").click().run()
    assert not app.exception
    assert [title.value for title in app.title] == ["Label"]


@pytest.mark.parametrize("sureness", first_of("btd", "share", "stated"))
def test_threshold_over_comparisons_is_cores(app: AppTest, sureness: str) -> None:
    query = {"tab": "Threshold", "unit": "comparisons", "sureness": SURENESS_NAMES[sureness]}
    opened(app, "calibration", **query, judge=JUDGE, target="20", certainty="90")
    from pages.shared.cached import get_store

    counts = demo()[0][JUDGE]
    made = {
        "share": lambda: by_share(counts),
        "stated": lambda: by_stated_confidence(
            counts, queries.confidence_counts(get_store(), DEMO)[JUDGE]
        ),
        "btd": lambda: by_btd(counts, rng=seeded()),
    }[sureness]()
    found = guarantee(made, alpha=0.2, delta=0.1, rng=seeded())
    assert found.threshold is not None
    assert guaranteed(JUDGE, found) in texts(app)
    row = app.dataframe[0].value.iloc[0]
    assert (row["threshold"], row["kept"], row["wrong"]) == (
        found.threshold,
        found.kept.value,
        found.wrong.value,
    )
    app.selectbox(key="settled").set_value(cut_key(JUDGE, found.threshold)).run()
    assert not app.exception
    votes = app.dataframe[0].value
    assert set(votes["judge"]) == {JUDGE}
    assert len(kept_comparisons(made, found)) == round(found.kept.value * found.n)


def test_votes_without_confidence_still_have_a_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is calibrated, a label is as sure as its votes agree."""
    rng = np.random.default_rng(1)
    path = tmp_path / "votes.duckdb"
    rows = []
    for item in range(60):
        gold = rng.choice([1, -1])
        easy = rng.random() < 0.7
        for run in range(5):
            vote = gold if rng.random() < (0.99 if easy else 0.5) else -gold
            rows.append(
                {
                    "item_id": f"i{item}",
                    "judge": HOSTILE,
                    "run": run,
                    "vote": int(vote),
                    "gold": int(gold),
                }
            )
    store = Store.open(path)
    store.load(reading(rows, name="bare"))
    store.close()
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    st.cache_resource.clear()
    app = opened(new_app(), "calibration", dataset="bare", target="20", tab="Threshold")
    # Repeated votes are calibrated by their share, and a share is of a comparison.
    assert app.segmented_control(key="rule").value == "share of votes"
    assert not any(text.startswith("Not applicable") for text in texts(app))
    assert any(text.startswith(f"{HOSTILE}: keep a label where at least") for text in texts(app))
    st.cache_resource.clear()


def test_without_gold_calibration_offers_no_controls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error is known then, so a target for it would promise nothing."""
    path = tmp_path / "votes.duckdb"
    store = Store.open(path)
    store.load(
        reading([{"item_id": f"i{k}", "judge": "j", "vote": 1} for k in range(5)], name="bare")
    )
    store.close()
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    st.cache_resource.clear()
    app = opened(new_app(), "calibration", dataset="bare")
    assert any(text.startswith("Not applicable: Calibration needs votes") for text in texts(app))
    assert "target" not in [slider.key for slider in app.slider]
    st.cache_resource.clear()
