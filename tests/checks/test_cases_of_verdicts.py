"""Small files that misled verdicts: what is said first of each, in text, document and report alike."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import numpy as np
import pytest

import core
from core.reporting.document import to_json
from core.reporting.html import report
from core.reporting.text import to_text

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "balanced-50-50-labels": ("76 % or 89 % of the answers pass: say --labels-drawn", {}),
    "coins-passfail-300": ("The people agree r -0.01 with each other: they are no reference", {}),
    "coins-scores-300": ("The people agree r 0.01 with each other: they are no reference", {}),
    "const3-two-people": ("Not to be used: j const3. It gives 3 to all 100 answers", {}),
    "l30_cyclic": ("Nobody leads: p beats r, r beats s and s beats p", {}),
    "m24_mixed_pair_and_scores": ("scores of single answers: 60", {}),
    "p04b_only_disagreements_labelled": ("it is right -0.3 points more often than the other", {}),
    "p06_clusters_20_paraphrases": ("right 85 % (60–95)", {}),
    "p06_clusters_20_paraphrases ": ("right 85 % (60–95)", {"cluster": "source_question"}),
    "p09_always_wrong_small_category": ("but is wrong on safety", {}),
    "p12_position_only_on_ties": ("favours the answer it sees first where gold ties", {}),
    "p19b_all_gold_ties": ("was compared with gold that is all ties", {}),
    "p41_votes_in_slot_terms": ("reverses with the order more than noise can", {}),
    "p44_chosen_always_A_judge_says_A": ("may say one label without reading", {}),
    "s04_scale_1_10_vs_1_3": ("are these two scales?", {}),
    "s18_verification_bias": ("fails 64 % (44–84)", {}),
    "s18b_only_fails_reviewed": ("People looked only at what it fails", {}),
    "s20_na_on_hard": ("It gives no verdict on 51 of 200; people failed 22 of those", {}),
    "s21_one_adversarial_person": ("annotator_3 goes against the others", {}),
    "s31_pf_two_people_disagree": ("The people agree r 0.17 with each other: they are no", {}),
}
ALLOWED = {
    "p12_position_only_on_ties",
    "p09_always_wrong_small_category",
    "m24_mixed_pair_and_scores",
    "s20_na_on_hard",
    "s18_verification_bias",
    "s04_scale_1_10_vs_1_3",
    "balanced-50-50-labels",
}
"""Judges that may measure, of which some may decide with care."""


FALSE = {
    "const3-two-people": "no check warns",
    "l30_cyclic": "s leads alone",
    "m24_mixed_pair_and_scores": "often gives no verdict",
    "p04b_only_disagreements_labelled": "old is better",
    "p19b_all_gold_ties": "no gold label",
    "p41_votes_in_slot_terms": "may be noise",
    "p44_chosen_always_A_judge_says_A": "nearly always right",
    "s04_scale_1_10_vs_1_3": "higher than people on a scale",
    "s18_verification_bias": "fails 43 %",
    "s18b_only_fails_reviewed": "fails 100 %",
    "s20_na_on_hard": "passes 0 %",
    "s21_one_adversarial_person": "shown to be at least -0.27",
}
"""What was said of them and is not true."""


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_of_a_file_that_misled(shared_data, case):
    wanted, options = CASES[case]
    path = shared_data.parent / "cases" / "verdicts" / f"{case.strip()}.csv"
    if not path.exists():
        pytest.skip("../shared/cases is not in this checkout")
    audit = core.audit(path, splits=0, **options)
    assert wanted in to_text(audit)
    assert case not in FALSE or FALSE[case] not in to_text(audit)
    document = json.loads(to_json(audit))
    assert document["headline"].startswith(to_text(audit).splitlines()[0])
    measures = {one["use"]["measure"]["answer"] for one in document["overall"].values()}
    assert ("yes" in measures) == (case.strip() in ALLOWED)
    shown = unescape(report(audit))
    for judge in audit.scores:
        assert judge.headline in shown


def test_gold_that_is_always_the_first_answer_is_asked_about():
    rows = [
        {"item_id": f"q{k}", "model_a": "m", "model_b": "n", "judge": "j", "gold": 1}
        | {"vote": 1 if k % 50 else -1}
        for k in range(200)
    ]
    said = to_text(core.audit(rows, splits=0))
    assert (
        "Gold is one label throughout. If that answer was always shown first, always saying so "
        "would do this: give both orders, or --map position=COLUMN."
    ) in said
    assert said.startswith("Cannot say yet: j may say one label without reading.")


def test_each_verdict_has_a_share_of_its_own_that_it_decides_alone():
    rng = np.random.default_rng(5)
    sure = rng.uniform(0.5, 1.0, 600)
    passes = rng.random(600) < 0.6
    # Of what it passes it is right as often as it says; of what it fails by a coin.
    right = np.where(passes, rng.random(600) < 0.90 + 0.1 * sure, rng.random(600) < 0.5)
    rows = [
        {"item_id": f"i{k}", "judge_passed": "pass" if passes[k] else "fail"}
        | {"confidence": round(float(sure[k]), 3)}
        | {"human_passed": "pass" if passes[k] == right[k] else "fail"}
        for k in range(600)
    ]
    said = to_text(core.audit(rows))
    (line,) = (each for each in said.splitlines() if each.startswith("  Alone by verdict"))
    assert re.search(r"it fails nothing.*; it passes [1-9][0-9]? %, from 0\.[0-9]+", line), line


def test_answers_without_a_verdict_go_to_a_person():
    """Fifty of two hundred are not graded, and people failed half of them."""
    rows = [
        {
            "item_id": f"i{k}",
            "judge_passed": "N/A" if k % 4 == 0 else ("pass" if k % 3 else "fail"),
            "human_passed": ("pass" if k % 8 else "fail")
            if k % 4 == 0
            else ("pass" if k % 3 else "fail"),
        }
        for k in range(200)
    ]
    audit = core.audit(rows)
    (scores,) = audit.scores
    (data,) = (one for one in scores.checks if one.check == "score_data")
    assert data.grade == "warn"
    assert "people failed 25 of the 50 that they judged. Those go to a person." in data.sentence
    assert scores.headline == (
        "It gives no verdict on 50 of 200; people failed 25 of those: they go to a person."
    )
    assert scores.overall.word == "May decide, with care"
    # A judge that is shown to be wrong on the others is first told that.
    wrong = [
        row | {"judge_passed": "pass"} if row["judge_passed"] == "fail" and k % 2 else row
        for k, row in enumerate(rows)
    ]
    assert core.audit(wrong).scores[0].headline.startswith("It passes 66 % of what people failed")
    # Where nobody says what becomes of them, nothing is known.
    left = [row | {"human_passed": ""} if row["judge_passed"] == "N/A" else row for row in rows]
    assert core.audit(left).scores[0].overall.word == "Not to be used"


def test_temperatures_are_no_repeats():
    rows = [
        {
            "item_id": f"q{k}",
            "model_a": "m1",
            "model_b": "m2",
            "judge": "j",
            "vote": 1 if (k + run) % 3 else -1,
            "run": run,
            "gold": 1 if k % 2 else -1,
            "temperature": temperature,
        }
        for k in range(60)
        for run, temperature in enumerate((0.0, 0.7, 1.0))
    ]
    graded = {}
    for name, given in (("several", rows), ("one", [row | {"temperature": 0.7} for row in rows])):
        audit = core.audit(given, splits=0)
        graded[name] = next(one for one in audit.checks if one.check == "repeatability")
    assert graded["several"].grade == "unknown"
    assert "different temperatures, which are no repeats" in graded["several"].sentence
    assert "temperatures" not in graded["one"].sentence
