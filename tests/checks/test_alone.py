"""What a judge of single answers may decide alone, from a file to every output."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.importers import ReadOptions, read
from core.questions.confidence.alone import ERRORS
from core.reporting.document import to_json
from core.reporting.html import report
from core.reporting.text import to_text
from core.schema import Selection
from core.store import Store


def audited(tmp_path, columns, **options):
    path = tmp_path / "judged.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    (reading,) = read([(path.name, path)], ReadOptions())
    with Store.holding([reading]) as store:
        found = audit(store, Selection(), AuditOptions(**options), readings=[reading])
    return found, found.scores[0]


@pytest.fixture
def chances():
    """1,000 P(yes): sure ones are right in 98 %, the others in 70 %."""
    rng = np.random.default_rng(3)
    sure = rng.random(1000) < 0.5
    p = np.where(sure, rng.uniform(0.95, 0.99, 1000), rng.uniform(0.6, 0.8, 1000)).round(4)
    says = rng.random(1000) < 0.5
    right = rng.random(1000) < np.where(sure, 0.98, 0.7)
    return {
        "trace_id": range(1000),
        "judge": "llm",
        "p_yes": np.where(says, p, 1 - p).round(4),
        "human": np.where(right, says, ~says).astype(int),
    }


def test_a_column_of_p_yes_is_read_with_nothing_asked(tmp_path, chances):
    found, scores = audited(tmp_path, chances)
    table = scores.evidence.table
    assert table.says_pass
    p = np.array(chances["p_yes"])
    assert sorted(scores.evidence.scores.confidence) == sorted(np.maximum(p, 1 - p))
    assert int((table.verdict == 1).sum()) == int((p >= 0.5).sum())
    assert any("probability that an answer passes" in note for note in found.readings[0].notes)


def test_p_yes_beside_questions_and_answers_is_the_judges(tmp_path, chances):
    """No column names the judge: who said P(yes) is one, whatever people's column is beside it."""
    columns = {
        "prompt": [f"Question {k}?" for k in range(1000)],
        "response": [f"Answer {k}." for k in range(1000)],
        "p_yes": chances["p_yes"],
        "human": chances["human"],
    }
    _, scores = audited(tmp_path, columns)
    assert scores.evidence.table.says_pass
    assert scores.alone.shares


def test_the_share_is_said_at_each_error_in_text_json_and_report(tmp_path, chances):
    found, scores = audited(tmp_path, chances, error=0.1)
    ten = scores.alone.shares[ERRORS.index(0.1)]
    p, human = np.array(chances["p_yes"]), np.array(chances["human"])
    sure, wrong = np.maximum(p, 1 - p), (p >= 0.5) != human
    kept = sure >= ten.threshold - 1e-9
    assert (ten.n, ten.wrong, ten.share) == (kept.sum(), wrong[kept].sum(), kept.mean())
    # The walk has .95 of δ, or all of them .05 of it.
    assert ten.bound == pytest.approx(beta.ppf(1 - 0.0475, ten.wrong + 1, ten.n - ten.wrong))
    # 49 % may be decided at 10 %, and more: the promise is of all that is decided together.
    assert 0.45 < ten.share < 0.9
    bound = math.ceil(1000 * ten.bound - 1e-9) / 10
    said = (
        f"Alone: {100 * ten.share:.0f} % of the answers at ≤ 10 % error, from "
        f"{ten.threshold:.4g} up ({ten.wrong} of {ten.n} wrong, at most {bound:.1f} %)"
    )
    text = to_text(found)
    assert said in text
    assert all(f"≤ {error:.0%}".replace("%", " %") in text for error in ERRORS)
    assert said in report(found)
    written = json.loads(to_json(found))["scores"]["llm"]["score"]
    assert [one["error"] for one in written["alone"]["at"]] == list(ERRORS)
    assert written["alone"]["at"][-1]["share"] == ten.share
    assert written["confidence"]["bins"]
    assert written["confidence"]["ece_floor"]["high"] > 0
    assert len(written["confidence"]["th"]) == 3


def test_stated_confidence_beside_pass_and_fail_is_graded(tmp_path, chances):
    p = np.array(chances["p_yes"])
    columns = {
        "trace_id": chances["trace_id"],
        "judge_passed": (p >= 0.5).astype(int),
        "confidence": np.maximum(p, 1 - p),
        "human_passed": chances["human"],
    }
    _, scores = audited(tmp_path, columns)
    _, of_chances = audited(tmp_path, chances)
    assert scores.alone == of_chances.alone
    grades = {result.check: result.grade for result in scores.checks}
    assert grades["score_discrimination"] == "ok"


def test_a_judge_that_is_not_shown_to_measure_decides_nothing_alone(tmp_path, chances):
    coin = np.random.default_rng(4).permutation(chances["human"])
    _, scores = audited(tmp_path, chances | {"human": coin})
    assert scores.alone.shares == ()
    assert "follow" in scores.alone.reason


def test_without_a_confidence_runs_are_the_sureness_and_else_it_is_said(tmp_path):
    rng = np.random.default_rng(5)
    human = rng.random(200) < 0.6
    once = {"item_id": range(200), "judge_passed": human * 1, "human_passed": human * 1}
    found, scores = audited(tmp_path, once)
    assert "ask it three times" in to_text(found)
    share = np.where(rng.random(200) < 0.7, 1.0, 2 / 3)
    right = rng.random(200) < np.where(share == 1, 1.0, 0.75)
    says = np.where(right, human, ~human)
    runs = {
        "item_id": np.repeat(range(200), 3),
        "judge": "llm",
        "run": np.tile([1, 2, 3], 200),
        "judge_passed": np.where(
            (np.tile([1, 2, 3], 200) == 3) & np.repeat(share < 1, 3),
            ~np.repeat(says, 3),
            np.repeat(says, 3),
        )
        * 1,
        "human_passed": np.repeat(human, 3) * 1,
    }
    _, scores = audited(tmp_path, runs)
    assert scores.alone.by == "repeats"
    at = scores.alone.shares[ERRORS.index(0.05)]
    assert at.threshold == pytest.approx(1.0)
    assert at.share == pytest.approx(float((share == 1).mean()))


def test_always_passing_that_would_do_as_well_is_said_instead_of_a_share(tmp_path):
    rng = np.random.default_rng(6)
    human = rng.random(2000) < 0.97
    says = np.where(rng.random(2000) < 0.99, human, ~human)
    found, scores = audited(
        tmp_path,
        {
            "item_id": range(2000),
            "judge_passed": says * 1,
            "confidence": np.round(rng.uniform(0.9, 1, 2000), 3),
            "human_passed": human * 1,
        },
    )
    assert scores.alone.blind == "passing"
    assert "Alone: passing everything would do as well at ≤ 5 % error." in to_text(found)
