"""Headlines of the page Scores follow from the numbers below them, in few words."""

import re
from dataclasses import replace

import numpy as np
import pytest

from core.finding.answer import MOST_WORDS, words
from core.questions.scores import words as sentences
from core.questions.scores.cut import Cut
from core.questions.scores.pass_rate import PassRate
from core.questions.scores.people import AltTest
from core.questions.scores.recalibration import ScoreRecalibration
from core.questions.scores.versions import VersionDifference
from core.stats.estimate import Estimate

NONE = np.zeros(0)


def about(value, half, n=100):
    return Estimate(value, value - half, value + half, n)


CUT = Cut(
    cut=3.0,
    cost=about(0.10, 0.03),
    tpr=about(0.9, 0.05),
    tnr=about(0.8, 0.05),
    pass_all=about(0.3, 0.05),
    fail_all=about(0.7, 0.05),
    better=True,
    price_fp=1.0,
    price_fn=1.0,
    candidates=4,
    n=100,
    units=100,
    passed=NONE.astype(np.int64),
)
RATE = PassRate(
    judge=about(0.91, 0.02),
    labels=about(0.84, 0.06),
    corrected=about(0.85, 0.04),
    to_halve=300,
    saves=True,
    n=300,
    units=300,
    n_labelled=100,
    units_labelled=100,
    reason=None,
)
VERSIONS = VersionDifference(
    of="pass",
    difference=about(0.08, 0.05),
    weight=0.5,
    labels=about(0.08, 0.07),
    judge=about(0.1, 0.03),
    bias=about(0.02, 0.05),
    n=200,
    units=200,
    n_labelled=60,
    units_labelled=60,
    reason=None,
)
MAP = ScoreRecalibration(
    error_before=0.2,
    error_after=0.12,
    change=about(-0.03, 0.01),
    bias_before=0.1,
    bias_after=0.0,
    score=NONE,
    mapped=NONE,
    recalibrated=NONE,
    folds=10,
    n=150,
    units=150,
)
TEST = AltTest(omega=1.0, rho=0.9, passes=True, epsilon=0.2, people=(), few=False, reason=None)
FAR = {"difference": about(0.01, 0.05), "labels": about(0.01, 0.05)}


@pytest.mark.parametrize(
    ("answer", "said", "good"),
    [
        (sentences.cut_answer(CUT), "Pass from 3 on: that beats", True),
        (
            sentences.cut_answer(replace(CUT, better=False)),
            "No cut is shown to beat passing everything.",
            False,
        ),
        (sentences.cut_answer(replace(CUT, cut=float("inf"))), "Fail every answer", True),
        (
            sentences.true_rate_answer(RATE),
            "85 % of the answers pass by people's standard; the judge says 91 %.",
            True,
        ),
        (
            sentences.true_rate_answer(replace(RATE, corrected=None, reason="too few labels")),
            "By people's labels alone 84 % of the answers pass.",
            False,
        ),
        (
            sentences.true_rate_answer(
                replace(RATE, corrected=None, labels=None, reason="too few labels")
            ),
            "cannot be said.",
            False,
        ),
        (sentences.versions_answer("a", "b", VERSIONS), "b passes more often than a.", True),
        (
            sentences.versions_answer("a", "b", replace(VERSIONS, of="score", **FAR)),
            "b scores higher than a; that may be chance.",
            False,
        ),
        (
            sentences.versions_answer("a", "b", replace(VERSIONS, bias=about(-0.1, 0.05))),
            "b passes more often than a; the judge favours a.",
            False,
        ),
        (
            sentences.versions_answer("a", "b", replace(VERSIONS, difference=None, labels=None)),
            "No pair of answers of a and b has people's labels.",
            False,
        ),
        (sentences.map_answer(MAP), "A map brings its scores nearer to people's.", True),
        (
            sentences.map_answer(replace(MAP, change=about(-0.03, 0.05))),
            "A map is not shown to bring its scores nearer to people's.",
            False,
        ),
        (sentences.alternative_answer(TEST), "it may take a person's place.", True),
        (
            sentences.alternative_answer(replace(TEST, passes=False)),
            "it may not take a person's place.",
            False,
        ),
        (
            sentences.alternative_answer(replace(TEST, omega=None, reason="one person")),
            "is not made.",
            True,
        ),
    ],
)
def test_a_headline_follows_from_its_numbers(answer, said, good):
    assert said in answer.headline
    assert words(answer.headline) <= MOST_WORDS
    assert not re.search(r"\(|–", answer.headline)
    assert answer.figures
    assert answer.good == good
