"""The benchmark of planted score judges: its draws are what they say, and its tables whole."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.planted_scores import (
    FAULTS,
    TABLES,
    Planted,
    at_least,
    at_most,
    draw,
    fair,
    main,
    run,
)


def test_draws_are_what_they_say() -> None:
    """Sizes of what is planted, by plain numpy on many answers."""
    rng = np.random.default_rng(0)

    def apart(fault: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        one = draw(Planted(fault=fault), 60_000, rng)
        return one.judge - one.people[:, 0], one.length, one.category, one.judge

    difference, length, category, judge = apart("none")
    assert abs(difference.mean()) < 0.03
    assert abs(np.polyfit(length, difference, 1)[0]) < 0.02
    assert set(np.unique(judge)) == {1, 2, 3, 4, 5}
    assert apart("lenient one level")[0].mean() > 0.8
    assert 0.35 < apart("lenient half a level")[0].mean() < 0.5
    difference, length, *_ = apart("length .11 per SD")
    assert np.polyfit(length, difference / 4, 1)[0] == pytest.approx(0.11, abs=0.01)
    difference, _, category, _ = apart("one category + 1 SD")
    assert difference[category == 0].mean() - difference[category > 0].mean() > 0.9
    noisy = draw(Planted(fault="noisy, r .35"), 60_000, rng)
    assert np.corrcoef(noisy.judge, noisy.people[:, 0])[0, 1] == pytest.approx(0.35, abs=0.02)


@pytest.mark.thorough
def test_every_table_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.planted_scores.SIZES", (30,))
    monkeypatch.setattr("benchmarks.planted_scores.FAR", 100)
    usual = [one for one in fair() if one.noise == one.judge_noise == 0.5 and one.shape == "even"]
    monkeypatch.setattr("benchmarks.planted_scores.fair", lambda: usual)
    main(["--draws", "1", "--workers", "1"])
    shown = capsys.readouterr().out
    assert all(fault in shown for fault in FAULTS)
    for words in (
        "false alarms of fair",
        "always passes",
        "the 36",
        "0.8, 0.9/0.7",
        "judge alone",
        "SD ratio",
    ):
        assert words in shown
    assert len(TABLES) == 7


def test_faults_are_found_and_fair_judges_left_alone() -> None:
    lenient = run(Planted(fault="lenient one level"), 100, 20)
    assert lenient.alarms("leniency") >= 19
    assert run(Planted(fault="inverted"), 100, 20).verdicts["do_not_trust"] >= 19
    beside = run(Planted(people=3), 100, 20)
    assert beside.verdicts["do_not_trust"] == 0
    assert beside.alarms("people") == 0


@pytest.mark.thorough
def test_beside_three_people_fair_judges_may_measure_and_no_inverted_one() -> None:
    fair_judge = run(Planted(people=3), 100, 60)
    assert fair_judge.may["measure"] >= 48
    assert run(Planted(fault="inverted", people=3), 30, 60).verdicts["do_not_trust"] == 60
    noisy = run(Planted(fault="noisy, r .35", people=3), 100, 60)
    assert noisy.may["decide"] == noisy.verdicts["trust"] == 0


def test_what_is_not_as_wanted_is_marked() -> None:
    assert at_least(0.93, 0.9299, 3) == "0.930 !"
    assert at_least(None, 0.1) == "0.10"
    assert at_most(0.05, 0.07, 400) == "0.070"
    assert at_most(0.05, 0.08, 400) == "0.080 !"
