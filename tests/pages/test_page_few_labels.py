"""Debiased rates on the Leaderboard page, the guarantee over comparisons on Calibration: as core
has them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from apps import new_app, opened, texts
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.confidence.selective import (
    by_btd,
    by_share,
    by_stated_confidence,
    guarantee,
    kept_comparisons,
    label_outcomes,
    risk_coverage,
)
from core.errors import InvalidOption, NoUsableVotes, UnknownName
from core.interpretation.calibration import SURENESS_NAMES, guaranteed
from core.interpretation.leaderboard_checks import corrected, debiased
from core.leaderboard.debiased import (
    debiased_board,
    debiased_rate,
    hide_gold,
    most_misjudged,
    oriented,
    pooled,
)
from core.plots.base import COLOURS, Style
from core.plots.calibration import cut_key, guarantee_figure
from core.plots.leaderboard_checks import debiased_figure
from core.records import NO_GOLD, VoteCounts
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store import Store
from core.store import vote_queries as queries

MAIN = REPOSITORY / "pages" / "main.py"
JUDGE, ANCHOR = "sim-judge-careful", "sim-birch"
DEMO = Selection(datasets=(DEMO_DATASET,))
HOSTILE = "<img src=x onerror=alert(1)>"


def seeded() -> np.random.Generator:
    return np.random.default_rng(0)


def demo() -> tuple[dict[str, VoteCounts], dict[str, list[str]]]:
    from pages.shared.cached import get_store

    names = queries.comparison_names(get_store(), DEMO)
    sides = {name: names[name].to_pylist() for name in ("model_a", "model_b")}
    return queries.vote_counts(get_store(), DEMO), sides


@pytest.mark.parametrize("judge", [JUDGE, None])
def test_debiased_tab_shows_the_numbers_of_core(app: AppTest, judge: str | None) -> None:
    query = {
        "anchor": ANCHOR,
        "board": "Debiased",
        "debiased_labels": "40",
        "debiased_weight": "tuned",
    }
    opened(app, "leaderboard", **query, **({"voter": judge} if judge else {}))
    counts, sides = demo()
    votes = hide_gold(counts[judge] if judge else pooled(counts.values()), share=0.4, rng=seeded())
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
    opened(app, "leaderboard", anchor=ANCHOR, board="Debiased", debiased_labels="5")
    assert any("needs gold on at least 10 items" in text for text in texts(app))


@pytest.mark.parametrize("sureness", ["share", "stated", "btd"])
def test_threshold_over_comparisons_is_cores(app: AppTest, sureness: str) -> None:
    query = {"part": "Threshold", "unit": "comparisons", "sureness": SURENESS_NAMES[sureness]}
    opened(app, "calibration", **query, stated_by=JUDGE, target="20", certainty="90")
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
    app = opened(new_app(), "calibration", dataset="bare", target="20")
    assert any(text.startswith("Not applicable: Calibration needs votes") for text in texts(app))
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


def test_board_turns_the_candidate_to_side_a_and_pools() -> None:
    code = np.arange(40)
    rng = np.random.default_rng(2)
    votes = rng.multinomial(3, [0.5, 0.2, 0.3], size=40)
    gold = np.where(code < 24, rng.choice([-1, 0, 1], 40), NO_GOLD)
    counts = VoteCounts(
        comparison=code, item=code, plus=votes[:, 0], tie=votes[:, 1], minus=votes[:, 2], gold=gold
    )
    a = ["ref" if c % 2 else "m" for c in code]
    b = ["m" if c % 2 else "ref" for c in code]
    found = debiased_board(counts, "ref", model_a=a, model_b=b)
    turned = oriented(counts, np.ones(40, bool), code % 2 == 1)
    np.testing.assert_array_equal(turned.plus, np.where(code % 2, votes[:, 2], votes[:, 0]))
    assert [row.model for row in found.rows] == ["m"]
    assert found.rows[0].rate.value == debiased_rate(turned).value
    twice = debiased_board(pooled([counts, counts]), "ref", model_a=a, model_b=b)
    assert twice.rows[0].rate.value == pytest.approx(found.rows[0].rate.value, abs=1e-12)
    assert pooled([counts, counts]).n_votes == 2 * counts.n_votes
    few = debiased_board(hide_gold(counts, share=0.2, rng=seeded()), "ref", model_a=a, model_b=b)
    assert (few.rows, most_misjudged(few)) == ((), None)
    assert "at least 10 items" in few.reasons["m"]
    with pytest.raises(UnknownName):
        debiased_board(counts, "nobody", model_a=a, model_b=b)
    with pytest.raises(InvalidOption):
        hide_gold(counts, share=2, rng=seeded())
    with pytest.raises(NoUsableVotes):
        pooled([])


def test_figures_plot_the_results_and_escape_names() -> None:
    code = np.arange(300)
    rng = np.random.default_rng(3)
    right = rng.random(300) < 0.9
    gold = rng.choice([-1, 1], 300)
    vote = np.where(right, gold, -gold)
    counts = VoteCounts(
        comparison=code,
        item=code,
        plus=(vote == 1) * 3,
        tie=np.zeros(300, dtype=np.int64),
        minus=(vote == -1) * 3 + 1,
        gold=np.where(code < 100, gold, NO_GOLD),
    )
    found = debiased_board(counts, "ref", model_a=[HOSTILE] * 300, model_b=["ref"] * 300)
    style = Style(colour=COLOURS["light"].accent, symbol="circle")
    fig = debiased_figure(found, style=style)
    rate = found.rows[0].rate
    points = [trace for trace in fig.data if trace.x is not None and trace.x[0] is not None]
    assert [trace.x[0] for trace in points] == [rate.value, rate.labels.value, rate.judge]
    assert points[0].x[0] + points[0].error_x.array[0] == pytest.approx(rate.high)
    assert "<img" not in str(fig.to_json())
    decisions = by_share(counts)
    settled = guarantee(decisions, alpha=0.2, delta=0.1, rng=seeded())
    curve = risk_coverage(label_outcomes(decisions))
    drawn = guarantee_figure({HOSTILE: curve}, {HOSTILE: settled}, styles={HOSTILE: style})
    assert drawn.layout.xaxis.title.text == "share of comparisons kept, the surest first"
    # Keys of marks are data, shown nowhere as HTML.
    shown = [trace.name for trace in drawn.data] + [str(trace.hovertext) for trace in drawn.data]
    assert not any("<img" in (text or "") for text in shown)
