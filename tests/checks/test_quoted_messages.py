"""Sentences about people, labels and uses, each from a small input of which it is true."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pandas as pd
import pytest

import core
from core.__main__ import main
from core.reporting.document import to_json
from core.reporting.html import report
from core.reporting.text import to_text


def sentence(audit, check, judge=0):
    return next(one.sentence for one in audit.scores[judge].checks if one.check == check)


def pass_fail(n=600, good=0.7, tpr=0.95, tnr=0.68, seed=0):
    """A judge of these rates, exact in every hundred answers of either class."""
    truth = np.arange(n) % 100 < 100 * good
    place = np.where(truth, np.cumsum(truth), np.cumsum(~truth)) % 100
    passes = np.where(truth, place < 100 * tpr, place >= 100 * tnr)
    order = np.random.default_rng(seed).permutation(n)
    return pd.DataFrame(
        {
            "item_id": [f"q{k}" for k in range(n)],
            "judge_passed": np.where(passes, "pass", "fail")[order],
            "human_passed": np.where(truth, "pass", "fail")[order],
        }
    )


def levels(people, judge):
    columns = {"item_id": range(len(judge)), "judge_score": judge, **people}
    return pd.DataFrame(columns)


def test_two_people_against_each_other_and_a_copy_of_the_judge():
    rng = np.random.default_rng(1)
    first = rng.integers(1, 6, 120)
    noise = np.clip(first + rng.integers(-1, 2, 120), 1, 5)
    turned = core.audit(levels({"annotator_1": noise, "annotator_2": 6 - first}, first))
    said = sentence(turned, "who")
    assert "annotator_1 and annotator_2 go against each other: is a scale turned?" in said
    assert "they are no reference. " in said
    assert "Let them label 30 together and write down what they differ on." in said
    copied = core.audit(levels({"annotator_1": first, "annotator_2": noise}, first))
    assert (
        "annotator_1's labels are the judge's own: if they were copied, this says nothing."
    ) in sentence(copied, "who")
    assert copied.scores[0].overall.use["decide"].answer != "yes"


def test_labelled_answers_that_are_shorter_are_named():
    rows = pass_fail(1000)
    short = np.arange(1000) < 100
    rng = np.random.default_rng(2)
    length = np.where(short, rng.integers(3, 9, 1000), rng.integers(6, 30, 1000))
    rows["response"] = [" ".join(["word"] * k) for k in length]
    rows.loc[~short, "human_passed"] = ""
    audit = core.audit(rows)
    said = "People looked at answers that differ from the rest: they are shorter (by "
    assert audit.scores[0].headline.startswith(said)
    assert said in sentence(audit, "labels")
    assert audit.scores[0].overall.use["measure"].answer == "not shown"


def test_what_a_judge_that_decides_and_one_that_only_measures_say_first():
    good = core.audit(pass_fail(1000, tpr=0.96, tnr=0.93)).scores[0]
    both = "It fails 93 % of what people failed and passes 96 % of what they passed."
    assert (good.overall.word, good.headline) == ("May decide", both)
    careful = pass_fail(1000, tpr=0.96, tnr=0.93)
    # It is far surer than it is right.
    careful["confidence"] = 0.5
    limited = core.audit(careful).scores[0]
    assert limited.overall.word == "May decide, with care"
    assert limited.headline == both
    leaky = core.audit(pass_fail(1000, tnr=0.66)).scores[0]
    assert leaky.overall.word == "May measure, not decide"
    assert leaky.headline.startswith("It passes 34 % of what people failed")


def test_a_rate_without_reversals_is_no_noise():
    rows = [
        {"item_id": f"q{k}", "model_a": "m", "model_b": "n", "judge": "j", "position": order}
        | {"vote": 1 if k % 2 else -1, "gold": 1 if k % 2 else -1}
        for k in range(12)
        for order in ("ab", "ba")
    ]
    audit = core.audit(rows, splits=0)
    (said,) = (one.sentence for one in audit.checks if one.check == "stability")
    assert said.startswith("0 % of verdicts reverse")
    assert "may be noise" not in said


FILES = {
    "leaky": pass_fail(),
    "good": pass_fail(1000, tpr=0.96, tnr=0.93),
    "constant": levels({"human_score": np.arange(60) % 5 + 1}, np.full(60, 3)),
}


@pytest.mark.parametrize("name", FILES)
def test_text_markdown_and_report_and_document_have_one_headline(tmp_path, name):
    path, markdown, document = (tmp_path / f"a.{end}" for end in ("csv", "md", "json"))
    FILES[name].to_csv(path, index=False)
    given = ["audit", str(path), "--markdown", str(markdown), "--json", str(document)]
    assert main(given) == 0
    audit = core.audit(path)
    scores = audit.scores[0]
    first = to_text(audit).splitlines()[0]
    assert first == f"{scores.overall.word}: {scores.whose}. {scores.headline}"
    assert first in markdown.read_text(encoding="utf-8").replace("\\", "")
    assert scores.headline in unescape(report(audit))
    assert json.loads(document.read_text())["headline"] == first
    (written,) = json.loads(document.read_text())["overall"].values()
    (known,) = json.loads(to_json(audit))["overall"].values()
    assert written == known
    assert written["verdict"] == scores.overall.verdict
    assert {use: one["answer"] for use, one in written["use"].items()} == {
        use: one.answer for use, one in scores.overall.use.items()
    }


def test_a_confident_judge_by_six_commands_and_six_lines(tmp_path, capsys):
    rng = np.random.default_rng(3)
    rows = pass_fail(400, good=0.65, tpr=0.97, tnr=0.96)
    right = rows["judge_passed"] == rows["human_passed"]
    rows["confidence"] = np.where(right, rng.uniform(0.8, 1, 400), rng.uniform(0.5, 0.9, 400))
    path, people, apart = (tmp_path / f"{name}.csv" for name in ("judged", "people", "apart"))
    rows.round(3).to_csv(path, index=False)
    given = ["audit", str(path), "--all", "--error", ".05"]
    assert main([*given, "--to-people", str(people), "--disagreements", str(apart)]) == 0
    text = capsys.readouterr().out
    audit = core.audit(path, error=0.05)
    evidence = audit.scores[0].evidence
    # The reliability diagram and TH-Score.
    diagram = evidence.calibration.reliability
    assert "Right by stated confidence: " in text
    for n in diagram.n[diagram.n > 0]:
        assert f"of {n:,} at 0." in text
    middle = evidence.th[1]
    assert f"TH-Score {middle.th.value:.2f} at ε {middle.epsilon:g}: " in text
    # The threshold with its promise.
    limit = next(one for one in audit.scores[0].alone.shares if one.error == 0.05)
    assert f"at ≤ 5 % error, from {limit.threshold:.4g} up ({limit.wrong} of {limit.n}" in text
    # What goes to a person, and what the two differ on, out and back.
    sent = core.to_people(path, error=0.05)
    assert len(pd.read_csv(people)) == sent.num_rows > 0
    table = core.disagreements(path)
    written = pd.read_csv(apart)
    assert len(written) == table.num_rows == (~right).sum() + 30
    differ = [row.people_say != f"gold: {row.judge_says}" for row in written.itertuples()]
    written["who_is_right"] = np.where(differ, "judge", "")
    written.to_csv(apart, index=False)
    assert main(["audit", str(path), "--all", "--labels-from", str(apart)]) == 0
    text = capsys.readouterr().out
    (look,) = core.audit(path, labels_from=apart).second_looks
    assert look.looked == (~right).sum()
    assert f"Of {look.looked} disagreements looked at again {look.looked} were the people's" in text
    assert "errors that both made are not seen without agreements looked at" in text
