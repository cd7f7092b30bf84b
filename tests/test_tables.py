"""Frames that pages show: they hold the results' numbers, and what is unknown stays a number column."""

import numpy as np
import pytest

from core.confidence.calibration_error import (
    by_chance,
    calibration,
    calibration_intervals,
    confidence_gap,
    noise_floor,
)
from core.confidence.recalibration import recalibrate
from core.confidence.selective import risk_coverage, threshold_for_risk
from core.confidence.th_scores import th_score
from core.records import OutcomeCounts
from core.reporting import tables
from tests.outcomes import of_votes


def seeded() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def judged() -> dict[str, OutcomeCounts]:
    rng = np.random.default_rng(8)
    stated = rng.integers(50, 101, 300) / 100
    return {
        "careful": of_votes(np.arange(300), stated, rng.random(300) < stated),
        "boaster": of_votes(np.arange(300), stated, rng.random(300) < stated - 0.3),
    }


def test_calibrations(judged):
    results = {name: calibration(one) for name, one in judged.items()}
    frame = tables.calibrations(
        results,
        intervals={name: calibration_intervals(one, rng=seeded()) for name, one in judged.items()},
        floors={name: noise_floor(one, rng=seeded()) for name, one in judged.items()},
        gaps={name: confidence_gap(one) for name, one in judged.items()},
        outcomes={name: of_votes(range(310), [0.5] * 310, [1] * 310) for name in judged},
    ).set_index("judge")
    assert list(frame.index) == ["careful", "boaster"]
    row, floor = frame.loc["boaster"], noise_floor(judged["boaster"], rng=seeded())
    assert (row["ECE"], row["NLL"], row["n"]) == (results["boaster"].ece, results["boaster"].nll, 300)
    assert row["by chance up to"] == by_chance(floor) == max(floor.ece_high, floor.ece_high_clustered)
    assert row["ECE low"] <= row["ECE"] <= row["ECE high"]
    assert (frame["without confidence"] == 10).all()


def test_a_threshold_that_nobody_has_is_a_column_of_numbers(judged):
    found = {name: threshold_for_risk(one, alpha=0.001, delta=0.1) for name, one in judged.items()}
    frame = tables.thresholds(found, {name: risk_coverage(one) for name, one in judged.items()})
    assert frame["threshold"].dtype.kind == "f"
    assert frame["threshold"].isna().all()
    assert frame["AURC"].tolist() == [risk_coverage(one).aurc for one in judged.values()]


def test_near_certain(judged):
    scores = {name: th_score(one, 0.1) for name, one in judged.items()}
    frame = tables.near_certain(scores, dict.fromkeys(judged, (1.0, 2.0)))
    assert frame["TH-Score"].tolist() == [one.th for one in scores.values()]
    assert frame[["low", "high"]].to_numpy().tolist() == [[1.0, 2.0]] * 2


def test_before_and_after_a_map(judged):
    known = judged["boaster"]
    found = recalibrate(known, method="isotonic", rng=seeded())
    before = calibration_intervals(known, rng=seeded())
    after = calibration_intervals(found.recalibrated_outcomes, rng=seeded())
    frame = tables.before_and_after(found, before, after).set_index("measure")
    assert {"accuracy", "stated", "ECE", "ACE", "MCE", "Brier", "NLL"} == set(frame.index)
    assert (frame.loc["ECE", "before low"], frame.loc["ECE", "before high"]) == before.ece
    assert (frame.loc["NLL", "after"], frame.loc["NLL", "after high"]) == (found.after.nll, after.nll[1])
    assert frame.loc["MCE"].isna().sum() == 4
    floor = noise_floor(found.recalibrated_outcomes, rng=seeded())
    row = tables.recalibrations({"boaster": (found, before, after, floor)}).iloc[0]
    assert (row["ECE after"], row["after low"], row["after high"]) == (found.after.ece, *after.ece)
    assert row["by chance up to"] == by_chance(floor)


def test_numbers_beside_none_keep_their_digits():
    import pandas as pd

    from pages.shared.widgets import _as_numbers

    mixed = _as_numbers(pd.Series([None, 0.0031, 0.273], dtype=object))
    assert (mixed.dtype.kind, mixed.tolist()[1:]) == ("f", [0.0031, 0.273])
    for other in (["a", None], [True, None]):
        assert _as_numbers(pd.Series(other, dtype=object)).tolist() == other
