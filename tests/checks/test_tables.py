"""Frames that pages show: they hold the results' numbers, and what is unknown stays a number
column.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from outcomes import of_votes

from core.finding import tables
from core.finding.tables import TEXT, Column, frame_of
from core.questions.confidence.alone import threshold_for_risk
from core.questions.confidence.calibration_error import (
    by_chance,
    calibration,
    calibration_intervals,
    confidence_gap,
    noise_floor,
)
from core.questions.confidence.recalibration import recalibrate
from core.questions.confidence.selective import risk_coverage
from core.questions.confidence.th_scores import th_score
from core.questions.confidence.words import (
    CALIBRATIONS,
    NEAR_CERTAIN,
    RECALIBRATIONS,
    THRESHOLDS,
    Measured,
    Recalibrated,
    before_and_after,
)
from core.records import OutcomeCounts
from core.stats.estimate import Estimate


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
    results = {
        name: Measured(
            found=calibration(one),
            intervals=calibration_intervals(one, rng=seeded()),
            floor=noise_floor(one, rng=seeded()),
            gap=confidence_gap(one),
            missing=10,
        )
        for name, one in judged.items()
    }
    frame = frame_of(CALIBRATIONS, results).set_index("judge")
    assert list(frame.index) == ["careful", "boaster"]
    row, one = frame.loc["boaster"], results["boaster"]
    assert (row["ECE"], row["NLL"], row["n"]) == (one.found.ece, one.found.nll, 300)
    assert row["by chance up to"] == by_chance(one.floor)
    assert by_chance(one.floor) == max(one.floor.ece.high, one.floor.ece_high_clustered)
    assert (row["ECE low"], row["ECE high"]) == (one.intervals.ece.low, one.intervals.ece.high)
    assert row["ECE low"] <= row["ECE"] <= row["ECE high"]
    assert (frame["without confidence"] == 10).all()


def test_a_threshold_that_nobody_has_is_a_column_of_numbers(judged):
    found = {
        name: (threshold_for_risk(one, alpha=0.001, delta=0.1), risk_coverage(one))
        for name, one in judged.items()
    }
    frame = frame_of(THRESHOLDS, found)
    assert frame["threshold"].dtype.kind == "f"
    assert frame["threshold"].isna().all()
    assert frame["AURC"].tolist() == [risk_coverage(one).aurc for one in judged.values()]


def test_near_certain(judged):
    scores = {name: th_score(one, 0.1) for name, one in judged.items()}
    frame = frame_of(NEAR_CERTAIN, scores)
    assert frame["TH-Score"].tolist() == [one.th.value for one in scores.values()]
    assert frame["high"].tolist() == [one.th.high for one in scores.values()]


def test_before_and_after_a_map(judged):
    known = judged["boaster"]
    found = recalibrate(known, method="isotonic", rng=seeded())
    one = Recalibrated(
        found=found,
        intervals_before=calibration_intervals(known, rng=seeded()),
        intervals_after=calibration_intervals(found.recalibrated_outcomes, rng=seeded()),
        floor=noise_floor(found.recalibrated_outcomes, rng=seeded()),
    )
    before, after = one.intervals_before, one.intervals_after
    frame = before_and_after(one).set_index("measure")
    assert {"accuracy", "stated", "ECE", "ACE", "MCE", "Brier", "NLL"} == set(frame.index)
    assert (frame.loc["ECE", "before low"], frame.loc["ECE", "before high"]) == (
        before.ece.low,
        before.ece.high,
    )
    assert (frame.loc["NLL", "after"], frame.loc["NLL", "after high"]) == (
        found.after.nll,
        after.nll.high,
    )
    assert frame.loc["MCE"].isna().sum() == 4
    row = frame_of(RECALIBRATIONS, {"boaster": one}).iloc[0]
    assert (row["ECE after"], row["after low"], row["after high"]) == (
        found.after.ece,
        after.ece.low,
        after.ece.high,
    )
    assert row["by chance up to"] == by_chance(one.floor)


def test_columns_that_may_be_left_out_and_ends_that_come_last():
    columns = (
        Column("rate", "rate", ends_last=True),
        Column("n", "n", ",d"),
        Column("note", "note", TEXT, optional=True),
    )
    rows = [
        SimpleNamespace(rate=Estimate(0.5, 0.4, 0.6), n=3, note=None),
        SimpleNamespace(rate=None, n=0, note=None),
    ]
    frame = tables.frame(columns, rows)
    assert list(frame) == ["rate", "n", "rate low", "rate high"]
    assert frame["rate low"].tolist()[0] == 0.4
    assert frame["rate low"].isna().tolist() == [False, True]
    assert columns[0].text(rows[0]) == "0.500 (0.400 to 0.600)"
    rows[1].note = "nobody voted"
    assert tables.frame(columns, rows)["note"].dropna().tolist() == ["nobody voted"]


def test_numbers_beside_none_keep_their_digits():
    import pandas as pd

    from pages.shared.numbers import _as_numbers

    mixed = _as_numbers(pd.Series([None, 0.0031, 0.273], dtype=object))
    assert (mixed.dtype.kind, mixed.tolist()[1:]) == ("f", [0.0031, 0.273])
    for other in (["a", None], [True, None]):
        assert _as_numbers(pd.Series(other, dtype=object)).tolist() == other


def test_a_shown_table_and_its_downloads_bear_one_name():
    from streamlit.testing.v1 import AppTest

    def page() -> None:
        import pandas as pd

        from core.finding.tables import Column
        from pages.shared import numbers

        frame = pd.DataFrame({"model": ["x"], "elo": [12.3]})
        columns = (Column("model", "model", ""), Column("Elo", "elo", "+.0f"))
        numbers.show(columns, frame.itertuples(), "board", frame, alt="Board")

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert list(app.dataframe[0].value) == ["model", "Elo"]
    ids = [button.proto.id for button in app.get("download_button")]
    assert [one.rsplit("-", 2)[-2:] for one in ids] == [["board", "csv"], ["board", "parquet"]]


def test_equal_values_are_shown_each_with_its_own_interval():
    import pandas as pd

    from pages.shared.numbers import _with_texts

    columns = (Column("right", "found", ".2f"),)
    given = [(0.5, 0.4, 0.6), (0.5, 0.1, 0.9), (0.7, 0.6, 0.8), None]
    rows = [SimpleNamespace(found=None if ends is None else Estimate(*ends, n=9)) for ends in given]
    shown = pd.DataFrame({"right": [0.5, 0.5, 0.7, float("nan")]})
    texts = [columns[0].text(row) for row in rows]
    drawn = _with_texts(shown, {"right": texts})._translate(False, False)["body"]
    said = ["0.50 (0.40 to 0.60)", "0.50 (0.10 to 0.90)", "0.70 (0.60 to 0.80)", "–"]
    assert [line[1]["display_value"] for line in drawn] == said == texts
