"""Recalibration maps against scikit-learn, and what they gain on unseen items."""

import numpy as np
import pytest
from outcomes import of_judge, of_votes
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from core.errors import InvalidOption, TooFewLabels
from core.questions.confidence.calibration_error import calibration
from core.questions.confidence.recalibration import recalibrate

METHODS = ("temperature", "platt", "isotonic", "histogram")


def overconfident(rng, items=1500, each=1, slope=0.4, intercept=0.2):
    """A judge whose accuracy is σ(slope·logit(c) + intercept)."""
    confidence = rng.uniform(0.5, 0.999, items * each).round(3)
    right = rng.random(items * each) < expit(slope * logit(confidence) + intercept)
    return np.repeat(np.arange(items), each), confidence, right.astype(int)


def test_platt_equals_scikit_learn():
    item, confidence, right = overconfident(np.random.default_rng(0))
    found = recalibrate(
        of_votes(item, confidence, right), method="platt", rng=np.random.default_rng(0)
    )
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
        logit(confidence)[:, None], right
    )
    assert found.slope == pytest.approx(theirs.coef_[0, 0], abs=1e-5)
    assert found.intercept == pytest.approx(theirs.intercept_[0], abs=1e-5)


def test_temperature_equals_scikit_learn():
    item, confidence, right = overconfident(np.random.default_rng(1))
    found = recalibrate(
        of_votes(item, confidence, right), method="temperature", rng=np.random.default_rng(0)
    )
    theirs = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(
        logit(confidence)[:, None], right
    )
    assert found.slope == pytest.approx(theirs.coef_[0, 0], abs=1e-5)
    assert found.intercept == 0


def test_isotonic_equals_scikit_learn():
    item, confidence, right = overconfident(np.random.default_rng(2), items=300)
    found = recalibrate(
        of_votes(item, confidence, right), method="isotonic", rng=np.random.default_rng(0)
    )
    theirs = IsotonicRegression(out_of_bounds="clip").fit(confidence, right)
    np.testing.assert_allclose(found.recalibrated, theirs.predict(found.confidence), atol=1e-9)


def test_histogram_gives_the_accuracy_of_the_bin():
    confidence = [0.95] * 10 + [0.65] * 10
    outcomes = of_votes(range(20), confidence, [1] * 6 + [0] * 4 + [1] * 2 + [0] * 8)
    found = recalibrate(outcomes, method="histogram", rng=np.random.default_rng(0))
    mapped = dict(zip(found.confidence.round(3).tolist(), found.recalibrated.tolist(), strict=True))
    assert (mapped[0.95], mapped[0.91], mapped[0.65]) == (0.6, 0.6, 0.2)
    # Nothing was seen between .7 and .8: the stated confidence stays.
    assert mapped[0.75] == pytest.approx(0.75)


@pytest.mark.parametrize("method", ["temperature", "platt"])
def test_planted_maps_are_recovered(method):
    intercept = 0.0 if method == "temperature" else 0.5
    item, confidence, right = overconfident(
        np.random.default_rng(3), items=40_000, intercept=intercept
    )
    found = recalibrate(
        of_votes(item, confidence, right), method=method, rng=np.random.default_rng(0)
    )
    assert found.slope == pytest.approx(0.4, abs=0.04)
    assert found.intercept == pytest.approx(intercept, abs=0.06)


@pytest.mark.parametrize("method", METHODS)
def test_held_out_calibration_improves(method):
    item, confidence, right = overconfident(np.random.default_rng(4), items=1000, each=2)
    outcomes = of_votes(item, confidence, right)
    found = recalibrate(outcomes, method=method, rng=np.random.default_rng(1))
    assert found.before.ece == calibration(outcomes).ece > 0.1
    assert found.after.ece < 0.07
    assert found.after.brier < found.before.brier
    assert found.after.nll < found.before.nll
    assert (found.after.n, found.after.items, found.after.accuracy) == (
        2000,
        1000,
        found.before.accuracy,
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_judge_that_knows_nothing_gains_nothing_from_memory(method):
    """An item repeats one coin toss eight times at a confidence of its own: folds by vote would
    learn it.
    """
    rng = np.random.default_rng(5)
    item = np.repeat(np.arange(200), 8)
    confidence = 0.6 + 0.0015 * rng.permutation(200)
    outcomes = of_votes(item, confidence[item], rng.integers(0, 2, 200)[item])
    found = recalibrate(outcomes, method=method, rng=np.random.default_rng(2))
    assert found.after.brier > 0.24


@pytest.mark.parametrize("method", METHODS)
def test_maps_stay_in_range_and_do_not_depend_on_row_order(method):
    rng = np.random.default_rng(6)
    item, confidence, right = overconfident(rng, items=60, each=3)
    order = rng.permutation(len(item))
    found, again = (
        recalibrate(
            of_votes(item[o], confidence[o], right[o]), method=method, rng=np.random.default_rng(3)
        )
        for o in (np.arange(len(item)), order)
    )
    assert ((found.recalibrated >= 0) & (found.recalibrated <= 1)).all()
    assert found.after.ece == pytest.approx(again.after.ece, abs=1e-9)
    frame = found.to_frame().set_index("measure")
    assert frame.loc["ece", "change"] == pytest.approx(found.after.ece - found.before.ece)


def test_perfect_separation_stops_at_the_bound():
    """Right above .8, wrong below: the likelihood has no maximum, so the fit ends at its bound,
    silently.
    """
    confidence = np.r_[np.linspace(0.55, 0.7, 20), np.linspace(0.85, 0.95, 20)]
    found = recalibrate(
        of_votes(range(40), confidence, confidence > 0.8),
        method="platt",
        rng=np.random.default_rng(0),
    )
    assert abs(found.slope) <= 100
    assert found.after.brier < 0.01


def check_reward_model(shared_data):
    """JudgeBench, Skywork-Reward-Gemma-2-27B: a temperature of 14 takes most of its overconfidence
    away.
    """
    judge = "Skywork_Skywork-Reward-Gemma-2-27B [reward_model]"
    outcomes = of_judge(shared_data, "judgebench", judge)
    found = recalibrate(outcomes, method="temperature", rng=np.random.default_rng(0))
    assert 1 / found.slope == pytest.approx(14.4, abs=0.1)
    assert round(found.before.ece, 6) == 0.294954
    assert found.after.ece < 0.06


def test_what_cannot_be_fitted_is_said():
    rng = np.random.default_rng(7)
    right = of_votes(range(30), np.linspace(0.5, 0.9, 30), [1] * 30)
    with pytest.raises(TooFewLabels, match="right and wrong"):
        recalibrate(right, method="platt", rng=rng)
    assert recalibrate(right, method="isotonic", rng=rng).after.ece == 0
    with pytest.raises(TooFewLabels, match="5 items; there are 3"):
        recalibrate(of_votes([0, 1, 2], [0.5, 0.6, 0.7], [1, 0, 1]), method="isotonic", rng=rng)
    with pytest.raises(InvalidOption, match="method"):
        recalibrate(right, method="beta", rng=rng)
    with pytest.raises(InvalidOption, match="folds"):
        recalibrate(right, method="platt", rng=rng, folds=1)
