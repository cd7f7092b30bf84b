"""The Calibration page: core's numbers in the real app, its figures, its sentences, and its
refusals.
"""

from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from apps import OPENED, new_app, opened, texts
from draws import seeded
from evidence_of import confidence_results
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.questions.confidence import words as sentences
from core.questions.confidence.alone import threshold_for_risk
from core.questions.confidence.calibration_error import (
    calibration,
    calibration_intervals,
    confidence_gap,
    noise_floor,
)
from core.questions.confidence.figure import cut_key
from core.questions.confidence.recalibration import recalibrate
from core.questions.confidence.selective import risk_coverage
from core.questions.confidence.th_scores import SWEEP_EPSILONS, th_score, th_sweep
from core.records import OutcomeCounts
from core.schema import CorrectnessRule, Selection
from core.simulate.votes import DEMO_DATASET
from core.store import Store
from core.store.vote_queries import outcomes

MAIN = REPOSITORY / "pages" / "main.py"
BOASTER = "sim-judge-boaster"


def demo(rule: CorrectnessRule = "single") -> dict[str, OutcomeCounts]:
    from pages.shared.cached import get_store

    found = outcomes(get_store(), Selection(datasets=(DEMO_DATASET,)), rule=rule)
    return {
        judge: one.with_confidence() for judge, one in found.items() if len(one.with_confidence())
    }


def without_minus_zero(value: float) -> float:
    """As tables show it: what would read -0.000 is 0."""
    return 0.0 if -0.0005 <= value < 0 else value


@pytest.mark.parametrize("rule", ["single", "both_orders"])
def test_page_shows_the_numbers_of_core(app: AppTest, rule: CorrectnessRule) -> None:
    opened(app, "calibration", rule={"single": "each vote", "both_orders": "both orders"}[rule])
    expected = demo(rule)
    shown = app.dataframe[0].value.set_index("judge")
    # Worst first.
    assert list(shown.index) == sorted(
        expected, key=lambda judge: -calibration(expected[judge]).ece
    )
    for judge, known in expected.items():
        one, gap = calibration(known), confidence_gap(known)
        ends, floor = calibration_intervals(known, rng=seeded()), noise_floor(known, rng=seeded())
        row = shown.loc[judge]
        assert gap is not None
        assert (
            row["n"],
            row["accuracy"],
            row["ECE"],
            row["ACE"],
            row["MCE"],
            row["Brier"],
            row["NLL"],
        ) == (*(one.n, one.accuracy.value, one.ece, one.ace, one.mce, one.brier, one.nll),)
        assert (row["gap"], row["gap low"], row["gap high"]) == (
            *(without_minus_zero(end) for end in (gap.gap.value, gap.gap.low, gap.gap.high)),
        )
        assert (row["ECE low"], row["ECE high"]) == (ends.ece.low, ends.ece.high)
        assert (row["NLL low"], row["NLL high"]) == (ends.nll.low, ends.nll.high)
        assert row["NLL clipped"] == one.nll_clipped
        assert row["by chance"] == floor.ece.value
        assert row["by chance up to"] == max(floor.ece.high, floor.ece_high_clustered)
    worst = max(expected, key=lambda judge: calibration(expected[judge]).ece)
    known = expected[worst]
    overconfidence, error, _ = confidence_results(known)
    assert texts(app)[0].startswith(f"{worst} claims ")
    answer = next(text for text in texts(app) if text.startswith(f"{worst}: "))
    assert answer.startswith(
        f"{worst}: {overconfidence.sentence} {error.sentence} Confidence ranks"
    )
    assert answer.endswith(f"Of {len(expected)} judges it has the largest ECE.")


def test_audit_and_page_agree(app: AppTest) -> None:
    from core.auditing.options import AuditOptions
    from core.auditing.run import audit
    from pages.shared.cached import get_store

    opened(app, "calibration", judge=BOASTER)
    found = audit(
        get_store(), Selection(datasets=(DEMO_DATASET,), judges=(BOASTER,)), AuditOptions(splits=0)
    )
    judge = found.judges[0]
    assert judge.calibration is not None
    assert judge.floor is not None
    row = app.dataframe[0].value.iloc[0]
    assert (row["ECE"], row["by chance"]) == (judge.calibration.ece, judge.floor.ece.value)
    for checked in found.checks:
        if checked.check in ("calibration", "overconfidence", "discrimination"):
            assert checked.sentence in "\n".join(texts(app))


@pytest.mark.parametrize("scale", ["formula", "published"])
def test_near_certain_votes(app: AppTest, scale: str) -> None:
    opened(app, "th_score", scale=scale, epsilon="0.15", judge=BOASTER)
    known = demo()[BOASTER]
    score = th_score(known, 0.15, scale=scale)
    band = th_sweep(known, scale=scale).th[SWEEP_EPSILONS.index(0.15)]
    assert (score.th.low, score.th.high) == pytest.approx((band.low, band.high))
    assert sentences.near_certain(BOASTER, score) in texts(app)
    row = app.dataframe[0].value.iloc[0]
    assert (row["TH-Score"], row["low"], row["high"]) == (
        score.th.value,
        score.th.low,
        score.th.high,
    )
    assert (row["accuracy low"], row["accuracy high"]) == (score.accuracy.low, score.accuracy.high)
    app.selectbox(key="sure").set_value(cut_key(BOASTER, 0.85)).run()
    assert not app.exception
    votes = app.dataframe[0].value
    assert (votes["confidence"] > 0.85 + 1e-9).all()
    assert set(votes["judge"]) == {BOASTER}


def test_threshold_and_the_votes_that_it_keeps(app: AppTest) -> None:
    judge = "sim-judge-first-slot"
    opened(app, "calibration", tab="Threshold", judge=judge, target="10", certainty="90")
    known = demo()[judge]
    found = threshold_for_risk(known, alpha=0.1, delta=0.1)
    assert found.threshold is not None
    assert sentences.selective(judge, risk_coverage(known), found) in texts(app)
    row = app.dataframe[0].value.iloc[0]
    assert (row["threshold"], row["share kept"], row["errs at most"]) == (
        *(found.threshold, found.coverage, found.bound),
    )
    app.selectbox(key="kept").set_value(cut_key(judge, found.threshold)).run()
    app.toggle(key="kept_wrong").set_value(True).run()
    assert not app.exception
    votes = app.dataframe[0].value
    assert (votes["confidence"] >= found.threshold - 1e-9).all()
    assert (votes["vote"] != votes["gold"]).all()
    errors = int(found.cut_errors[found.cut == found.threshold][0])
    assert len(votes) == min(200, errors)


def test_no_threshold_is_an_answer(app: AppTest) -> None:
    opened(app, "calibration", tab="Threshold", judge=BOASTER, target="1")
    assert any("no threshold keeps its error rate at or below 1 %" in text for text in texts(app))
    assert np.isnan(app.dataframe[0].value["threshold"].iloc[0])


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_recalibration_before_and_after(app: AppTest, method: str) -> None:
    opened(app, "calibration", tab="Recalibration", map=method, judge=BOASTER)
    known = demo()[BOASTER]
    found = recalibrate(known, method=method, rng=seeded())
    moved = found.recalibrated_outcomes
    after = calibration_intervals(moved, rng=seeded())
    shown = app.dataframe[0].value.set_index("measure")
    assert (shown.loc["ECE", "before"], shown.loc["ECE", "after"]) == (
        found.before.ece,
        found.after.ece,
    )
    assert (shown.loc["NLL", "after low"], shown.loc["NLL", "after high"]) == (
        after.nll.low,
        after.nll.high,
    )
    said = sentences.recalibrated(
        BOASTER,
        sentences.Recalibrated(
            found=found,
            intervals_before=calibration_intervals(known, rng=seeded()),
            intervals_after=after,
            floor=noise_floor(moved, rng=seeded()),
        ),
    )
    assert said in texts(app)
    assert calibration(moved).ece == found.after.ece


@pytest.mark.parametrize(
    "view", ["Reliability", "Near-certain votes", "Threshold", "Recalibration"]
)
def test_copied_code_runs_and_gives_the_number_shown(
    app: AppTest, view: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from pages.shared.cached import get_store

    # The address of before leads to the sweep.
    opened(app, "calibration", tab=view, judge="sim-judge-careful")
    # The app holds the store's file, so the copy uses the open one.
    exec(app.code[0].value.replace(OPENED, "STORE"), {"STORE": get_store()})  # noqa: S102
    printed = capsys.readouterr().out
    frame = app.dataframe[0].value
    if view == "Reliability":
        assert f"sim-judge-careful {frame['ECE'].iloc[0]}" in printed
    elif view == "Near-certain votes":
        assert printed.startswith(f"{frame['TH-Score'].iloc[0]} {frame['share'].iloc[0]} ")
    elif view == "Threshold":
        assert str(frame["threshold"].iloc[0]) in printed.split()
        assert str(frame["AURC"].iloc[0]) in printed.split()
    else:
        assert f"{frame.set_index('measure').loc['ECE', 'after']:.6f}" in printed


def test_judges_without_a_confidence_are_named_with_the_reason(app: AppTest) -> None:
    opened(app, "calibration")
    assert any(
        text.startswith("Not applicable: sim-person-1, sim-person-2, sim-person-3: no confidence")
        for text in texts(app)
    )


def test_nothing_to_measure_says_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        store.load(
            reading([{"item_id": f"i{k}", "judge": "j", "vote": 1, "gold": 1} for k in range(40)])
        )
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    app = new_app()
    opened(app, "calibration")
    assert any("Load a column confidence" in text for text in texts(app))
    assert "Right or wrong by" not in {control.label for control in app.get("button_group")}
    st.cache_resource.clear()


def test_without_gold_the_page_leads_to_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        votes = [
            {"item_id": f"i{k}", "judge": "j", "vote": 1, "confidence": 0.9} for k in range(40)
        ]
        store.load(reading(votes))
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    app = new_app()
    opened(app, "calibration")
    assert {"Label 20 now", "Add a file of labels"} <= {button.label for button in app.button}
    st.cache_resource.clear()


def test_the_page_says_which_of_several_kinds_it_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        store.load(
            reading(
                [
                    {
                        "item_id": f"i{k}",
                        "judge": "j",
                        "vote": 1 if k % 4 else -1,
                        "gold": 1,
                        "confidence": 0.75 if k < 80 else 0.99,
                        "confidence_kind": "self" if k < 80 else "logprob",
                    }
                    for k in range(120)
                ]
            )
        )
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    app = new_app()
    opened(app, "calibration")
    said = [text for text in texts(app) if "several kinds" in text]
    assert len(said) == 1
    assert said[0].startswith("j: its confidences are of several kinds")
    assert "'self', which most items have, is measured and 'logprob' left out" in said[0]
    assert app.dataframe[0].value.iloc[0]["n"] == 80
    st.cache_resource.clear()
