"""r of judge and people within models and between them, and runs at several temperatures."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import core
from core.__main__ import main
from core.questions.scores.by_model import by_model
from core.questions.scores.table import ScoreTable


def table(judge, people, unit=None):
    return ScoreTable.of(judge, np.asarray(people)[:, None], unit=unit, low=-20, high=20)


def drawn(rng, n=300, models=6, within=0.0):
    """Scores of models that differ; within a model judge and person share `within` of quality."""
    model = rng.integers(0, models, n)
    shared = rng.normal(size=n)
    judge, person = (
        2.0 * model + within * shared + np.sqrt(1 - within**2) * rng.normal(size=n)
        for _ in range(2)
    )
    return model, judge, person


def by_pandas(model, judge, person):
    rows = pd.DataFrame({"model": model, "judge": judge, "person": person})
    means = rows.groupby("model").transform("mean")
    within = np.corrcoef(rows.judge - means.judge, rows.person - means.person)[0, 1]
    of_model = rows.groupby("model").mean()
    return within, np.corrcoef(of_model.judge, of_model.person)[0, 1]


def test_both_are_those_of_centred_scores_and_of_means():
    rng = np.random.default_rng(1)
    model, judge, person = drawn(rng, within=0.7)
    unit = np.arange(len(model)) // 2
    found = by_model(table(judge, person, unit), model)
    within, between = by_pandas(model, judge, person)
    assert found.within.value == pytest.approx(within)
    assert found.between.value == pytest.approx(between)
    assert (found.models, found.n, found.within.n) == (6, 300, 150)
    # Each value without a unit is that of the other rows: the jackknife by hand.
    left = [by_pandas(*(c[unit != u] for c in (model, judge, person))) for u in range(150)]
    for estimate, values in zip((found.within, found.between), np.transpose(left), strict=True):
        z = np.arctanh(np.clip(values, -1 + 1 / 300, 1 - 1 / 300))
        error = max(np.sqrt(149 / 150 * ((z - z.mean()) ** 2).sum()), 0.5 / np.sqrt(150))
        centre = np.arctanh(np.clip(estimate.value, -1 + 1 / 300, 1 - 1 / 300))
        assert estimate.low == pytest.approx(np.tanh(centre - 1.97601 * error), abs=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("within", [0.0, 0.6])
def test_the_interval_within_holds_the_truth(within):
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        model, judge, person = drawn(rng, n=200, within=within)
        estimate = by_model(table(judge, person), model).within
        held += estimate.low <= within**2 <= estimate.high
    assert held >= 0.95 * 300 - 3 * np.sqrt(300 * 0.95 * 0.05)


def test_what_cannot_be_told_says_why():
    rng = np.random.default_rng(2)
    model, judge, person = drawn(rng, models=2)
    two = by_model(table(judge, person), model)
    assert two.between is None
    assert two.unknown == {"between": "it needs 3 models, and there are 2"}
    for codes in (None, np.zeros(300, dtype=np.int64), np.full(300, -1)):
        none = by_model(table(judge, person), codes)
        assert (none.within, none.between) == (None, None)
        assert "two models with 10 answers" in none.unknown["within"]
    flat = by_model(table(2.0 * model, person), model)
    assert flat.unknown["within"] == "one side says the same of all answers of a model"
    # A model with nine answers is left out.
    few = np.r_[model, np.full(9, 2)]
    assert by_model(table(np.r_[judge, judge[:9]], np.r_[person, person[:9]]), few).n == 300


def test_text_and_json_say_that_it_only_ranks_models(tmp_path, capsys):
    rng = np.random.default_rng(4)
    path, written = tmp_path / "judged.csv", tmp_path / "a.json"
    pd.DataFrame(
        {
            "item_id": [f"q{k // 6}" for k in range(240)],
            "model": [f"m{k % 6}" for k in range(240)],
            "judge": "llm",
            "score": np.round(2.0 * (np.arange(240) % 6) + rng.normal(size=240), 3),
            "human": np.round(2.0 * (np.arange(240) % 6) + rng.normal(size=240), 3),
        }
    ).to_csv(path, index=False)
    assert main(["audit", str(path), "--all", "--json", str(written)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "It follows people from model to model, but is not shown to within one" in text
    assert "between the means of 6 models" in text
    found = json.loads(written.read_text())["scores"]["llm"]["score"]["by_model"]
    assert found["within"]["low"] < 0 < found["within"]["high"]
    assert found["between"]["value"] > 0.9
    assert (found["models"], found["n"]) == (6, 240)


@pytest.mark.parametrize("several", [True, False])
def test_scores_at_several_temperatures_are_no_repeats(several):
    rng = np.random.default_rng(5)
    rows = [
        {
            "item_id": f"q{k}",
            "judge": "j",
            "score": int(np.clip(k % 5 + 1 + rng.integers(-1, 2), 1, 5)),
            "run": run,
            "human": k % 5 + 1,
            "temperature": temperature if several else 0.7,
        }
        for k in range(60)
        for run, temperature in enumerate((0.0, 0.7, 1.0))
    ]
    audit = core.audit(rows)
    (scores,) = audit.scores
    result = next(one for one in scores.checks if one.check == "score_repeatability")
    assert (result.grade == "unknown") == several
    assert ("different temperatures, which are no repeats" in result.sentence) == several
    assert (scores.evidence.repeatability.icc_3_k is None) == several
