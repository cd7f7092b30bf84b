"""Judges of single answers: planted judges get the verdict that they deserve, in every output."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from core.__main__ import main
from core.auditing.checks import LIMITS, SCORE_CHECKS
from core.auditing.overall import GRADE_OF, SIGNS
from core.finding.answer import MOST_WORDS, words
from core.finding.check import GRADES
from core.questions.scores.card import score_answer
from core.questions.scores.evidence import JudgedScores, ScoreEvidence
from core.questions.scores.overall import check_scores, overall_of_scores
from core.questions.scores.table import ScoreTable
from core.stats.estimate import Estimate
from core.use.one_call import audit

OF_ONE_FILE = [check for check in SCORE_CHECKS if check.name not in ("one_judge", "score_category")]
SCORE_RATES = {check.name: check for check in SCORE_CHECKS}
WORDS = np.array(["fail", "pass"])
N = 300


def people_of(rng, passes=0.87):
    return (rng.random(N) < passes).astype(int)


def planted(kind, gold, rng):
    """What a judge says of answers that people pass or fail."""
    if kind == "always":
        return np.ones(N, dtype=int)
    if kind == "coin":
        return rng.integers(0, 2, N)
    right = np.where(gold == 1, rng.random(N) < 0.95, rng.random(N) < 0.85)
    return np.where(right, gold, 1 - gold)


def evidence_of(judge, people, **more):
    table = ScoreTable.of(judge, people, **more)
    runs = np.asarray(judge, dtype=float)[:, None]
    scores = JudgedScores(
        judge="j", metric="score", table=table, runs=runs, outputs=len(table), missing=0
    )
    return ScoreEvidence(scores, LIMITS)


def verdict_of(evidence):
    results = check_scores(evidence)
    return overall_of_scores(evidence, results), {result.check: result for result in results}


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [
        ("always", {"do_not_trust"}),
        ("coin", {"do_not_trust"}),
        ("fair", {"trust", "trust_with_limits"}),
    ],
)
def test_pass_and_fail_of_300_answers(kind, allowed):
    rng = np.random.default_rng(3)
    verdicts = []
    for _ in range(20):
        gold = people_of(rng)
        verdicts.append(verdict_of(evidence_of(planted(kind, gold, rng), gold))[0].verdict)
    assert sum(verdict in allowed for verdict in verdicts) >= 19, verdicts


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two columns of words, as a spreadsheet has them."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("passed")
    gold = people_of(rng)
    for kind in ("always", "coin", "fair"):
        said = WORDS[planted(kind, gold, rng)]
        lines = ["case_id,judge_passed,human_passed"]
        lines += [
            f"{k},{one},{two}" for k, (one, two) in enumerate(zip(said, WORDS[gold], strict=True))
        ]
        (folder / f"{kind}.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder, gold


def test_a_spreadsheet_is_answered_and_asks_nothing(files, capsys):
    folder, gold = files
    assert main(["audit", str(folder / "always.csv")]) == 0
    said = capsys.readouterr().out
    assert "Not to be used: judge. It passes all 300 answers." in said
    assert f"passes 100 % (98–100) of {gold.sum()} items that people passed" in said
    assert main(["audit", str(folder / "fair.csv"), "--strict"]) in (0, 1)


@pytest.mark.parametrize(("kind", "code"), [("always", 1), ("coin", 1), ("fair", 0)])
def test_gates_documents_and_junit_have_scores(files, capsys, kind, code):
    folder, gold = files
    out = [folder / f"{kind}.{suffix}" for suffix in ("json", "xml", "md")]
    arguments = [("--json", out[0]), ("--junit", out[1]), ("--markdown", out[2])]
    flat = [str(part) for pair in arguments for part in pair]
    gates = ["--fail-if", "overall=do_not_trust", "--fail-if", "tnr[score]<0.4"]
    assert main(["audit", str(folder / f"{kind}.csv"), *flat, *gates]) == code
    capsys.readouterr()
    document = json.loads(out[0].read_text(encoding="utf-8"))
    scored = document["scores"]["judge"]["score"]
    judged = [line.split(",")[1] for line in (folder / f"{kind}.csv").read_text().splitlines()[1:]]
    failed = np.array(judged) == "fail"
    assert scored["tnr"]["value"] == pytest.approx(failed[gold == 0].mean(), abs=1e-12)
    assert scored["tnr"]["n_items"] == (gold == 0).sum()
    assert scored["scale"] == {"low": 0.0, "high": 1.0, "kind": "pass_fail"}
    overall = document["overall"]["judge"]
    assert overall["metrics"]["score"]["verdict"] == overall["verdict"]
    made = [check for check in document["verdicts"] if check["metric"] == "score"]
    assert [check["check"] for check in made] == [check.name for check in OF_ONE_FILE]
    suite, _gates = ElementTree.parse(out[1]).iter("testsuite")
    assert suite.get("name") == "judge"
    assert len(suite.findall("testcase")) == 1 + len(OF_ONE_FILE)
    sign = SIGNS[GRADE_OF[overall["verdict"]]]
    row = f"| judge | {sign} {overall['verdict'].replace('_', ' ')} | 300 |"
    assert row in out[2].read_text("utf-8")


@pytest.mark.parametrize(
    ("failed", "passed_by_it", "grade"),
    [(2, 2, "unknown"), (3, 3, "warn"), (4, 4, "fail"), (9, 9, "fail"), (9, 0, "unknown")],
)
def test_few_answers_show_that_a_judge_misses_faults_but_not_that_it_finds_them(
    failed, passed_by_it, grade
):
    gold = np.repeat([0, 1], [failed, 60 - failed])
    judge = np.where(np.arange(60) < passed_by_it, 1, gold)
    evidence = evidence_of(judge, gold, low=0, high=1)
    overall, results = verdict_of(evidence)
    assert results["tnr"].grade == grade
    assert grade != "fail" or overall.verdict == "do_not_trust"
    assert results["tnr"].interval == evidence.passing.tnr  # one interval, also where it is shown
    if passed_by_it:
        levels_cut = evidence_of(
            judge * 3.0 + 1, gold * 3.0 + 1, low=1, high=5, passing=3, kind="levels"
        )
        assert verdict_of(levels_cut)[1]["tnr"].grade == "unknown"


@pytest.mark.parametrize(
    ("missed", "failed_besides", "grade", "verdict"),
    [(45, 45, "unclear", "trust_with_limits"), (45, 0, "warn", "trust_with_limits")],
)
def test_the_noise_of_one_person_may_be_all_of_a_low_rate_of_scores(
    missed, failed_besides, grade, verdict
):
    """Of 80 that the person fails 35 get 2, the others and the passes 4 or 5 alike."""
    person = np.repeat([1.0, 2.0, 4.0, 5.0], [20, 60, 200, 320])
    judge = person.copy()
    judge[20 : 20 + missed] = 4
    judge[80 : 80 + failed_besides] = 2
    overall, of = verdict_of(evidence_of(judge, person, low=1, high=5, passing=3))
    assert of["association"].grade == "ok"
    assert (of["tnr"].grade, overall.verdict) == (grade, verdict)
    assert "tnr" in overall.because
    same = "it fails about as many answers as the person, 13 % beside 13 %"
    assert (same in of["tnr"].sentence) == (grade == "unclear")


@pytest.mark.parametrize("failed", range(2, 10))
def test_few_answers_seldom_condemn_a_judge_at_a_limit(failed):
    """Counted over all outcomes: at a true rate of the limit, a bad grade is said in .025 at most."""
    wrong = {"warn": 0.0, "fail": 0.0}
    for grade, rate in (("warn", 0.9), ("fail", 0.8)):
        for right in range(failed + 1):
            gold = np.repeat([0, 1], [failed, 60 - failed])
            judge = np.where(np.arange(60) < failed - right, 1, gold)
            given = SCORE_RATES["tnr"].result(evidence_of(judge, gold, low=0, high=1)).grade
            beyond = given in ("warn", "fail") if grade == "warn" else given == "fail"
            chance = math.comb(failed, right) * rate**right * (1 - rate) ** (failed - right)
            wrong[grade] += beyond * chance
    assert max(wrong.values()) <= 0.0251


def test_an_unknown_figure_of_scores_fails_its_gate_and_a_wrong_name_is_refused(files, capsys):
    file = str(files[0] / "fair.csv")
    assert main(["audit", file, "--fail-if", "auroc<0.5"]) == 0
    assert main(["audit", file, "--fail-if", "tnr[other]<0.5"]) == 1
    assert "nothing in the audit has tnr[other]" in capsys.readouterr().err
    assert main(["audit", file, "--fail-if", "beauty<0.5"]) == 2
    assert "or of scores from tpr, tnr" in capsys.readouterr().err
    assert main(["audit", file, "--fail-if", "ece[score]<0.5"]) == 2


def levels(values):
    return np.clip(np.round(values + 3), 1, 5)


def test_levels_lenient_compressed_and_inverted():
    rng = np.random.default_rng(1)
    quality = rng.normal(size=N)
    person = levels(quality + 0.5 * rng.normal(size=N))
    fair = quality + 0.4 * rng.normal(size=N)
    overall, of = verdict_of(evidence_of(levels(fair + 1), person))
    assert (overall.verdict, of["leniency"].grade) == ("trust_with_limits", "fail")
    assert "higher than people on a scale of 1 to 5" in of["leniency"].sentence
    _, of = verdict_of(evidence_of(np.round(3 + 0.5 * fair), person))
    assert of["spread"].grade == "warn"
    overall, of = verdict_of(evidence_of(6 - levels(fair), person))
    assert (overall.verdict, of["association"].grade) == ("do_not_trust", "fail")
    overall, _ = verdict_of(evidence_of(levels(fair), person))
    assert (overall.verdict, overall.word) == ("trust_with_limits", "May measure, not decide")


@pytest.mark.parametrize(
    ("judge", "said", "figures"),
    [
        (lambda fair: fair, "It follows the person's scores; no check warns.", "r with"),
        (lambda fair: fair + 1, "scores, but scores higher than people.", "beside people +"),
        (lambda fair: fair - 1, "scores, but scores lower than people.", "beside people −"),
        (lambda fair: 0.5 * fair, "but uses less of the scale", "spread of people's 0."),
        (lambda fair: -fair, "It goes against the person's scores: do not use", "person −0."),
        (
            lambda fair: np.roll(fair, 7),
            "It hardly follows the person's scores: do not use",
            "r with",
        ),
    ],
)
def test_the_headline_of_scores_says_what_decided_in_few_words(judge, said, figures):
    rng = np.random.default_rng(1)
    quality = rng.normal(size=N)
    person = levels(quality + 0.5 * rng.normal(size=N))
    evidence = evidence_of(levels(judge(quality + 0.4 * rng.normal(size=N))), person)
    overall, of = verdict_of(evidence)
    answer = score_answer(evidence, overall, list(of.values()))
    assert said in answer.headline
    assert figures in answer.figures
    assert "300 items" in answer.figures
    assert words(answer.headline) <= MOST_WORDS
    assert not re.search(r"\d", answer.headline)


def test_every_check_of_scores_has_words_for_a_headline():
    evidence = evidence_of(np.tile([1, 2, 3, 4], 20), np.tile([2, 2, 3, 4], 20))
    for check in SCORE_CHECKS:
        assert check.figure, check.name
        said = {
            check.short(evidence, Estimate(value), grade)
            for value in (-0.3, 0.3)
            for grade in GRADES
        }
        assert len(said) > 1, check.name
        assert max(map(words, said)) <= 11, said


def test_leniency_that_changes_with_the_date_is_graded():
    rng = np.random.default_rng(4)
    people = rng.integers(1, 5, 120)
    late = np.arange(120) >= 60
    frame = pd.DataFrame(
        {
            "item_id": [f"q{k}" for k in range(120)],
            "judge_score": people,
            "human_score": people,
            "created_at": np.where(late, "2026-05-02 10:00", "2026-04-30 09:00"),
        }
    )

    def said(frame):
        (scores,) = audit(frame, splits=0).scores
        return next(result for result in scores.checks if result.check == "drift_over_time"), scores

    steady, _ = said(frame)
    assert steady.grade in ("ok", "unknown"), steady
    wavering = frame.judge_score + np.where(late, rng.integers(0, 3, 120), 0)
    drifting, scores = said(frame.assign(judge_score=wavering.clip(1, 5)))
    assert drifting.grade == "fail"
    assert "it scores 2026-0" in drifting.sentence
    assert "widened for 2" in drifting.sentence
    assert scores.overall.verdict == "trust_with_limits"
    assert "drift_over_time" in scores.overall.because
    undated, _ = said(frame.drop(columns="created_at"))
    assert not undated.applicable


def test_several_people_take_the_place_of_association():
    rng = np.random.default_rng(2)
    quality = rng.normal(size=N)
    people = np.stack([levels(quality + 0.6 * rng.normal(size=N)) for _ in range(3)], axis=1)
    evidence = evidence_of(levels(quality + 0.5 * rng.normal(size=N)), people)
    overall, of = verdict_of(evidence)
    assert overall.verdict in ("trust", "trust_with_limits")
    assert not of["association"].applicable
    assert of["people"].sentence.startswith("Two people agree r 0.")
    coin, of = verdict_of(evidence_of(rng.permutation(people[:, 0]), people))
    assert (coin.verdict, coin.because) == ("do_not_trust", ("follows",))


def test_the_headline_names_the_worse_class():
    gold = np.repeat([1, 0], [200, 100])
    judge = np.where(np.arange(300) % 10 < 3, 0, 1)
    judge[200:] = 0
    evidence = evidence_of(judge, gold)
    overall, of = verdict_of(evidence)
    said = score_answer(evidence, overall, list(of.values()))
    assert said.headline.startswith("It fails 30 % of what people passed")
    assert said.figures.startswith("fails 100 % (96–100) of 100 items that people failed")
    assert "true pass rate 67 %" in said.figures


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (60, "; always passing would be right more often."),
        (24, "; always passing would be right as often."),
        (18, "; it is not shown to be right more often than always passing."),
        (4, "people failed."),
    ],
)
def test_the_headline_compares_with_passing_everything(wrong, said):
    """People pass 176 of 200 answers; the judge errs on so many, at least a quarter of them good."""
    gold = np.repeat([1, 0], [176, 24])
    judge = gold.copy()
    judge[: wrong // 4] = 0
    judge[200 - min(wrong - wrong // 4, 24) :] = 1
    judge[wrong // 4 : max(wrong - 24, wrong // 4)] = 0
    evidence = evidence_of(judge, gold)
    overall, of = verdict_of(evidence)
    assert score_answer(evidence, overall, list(of.values())).headline.endswith(said)


def test_one_score_to_all_is_unknown_and_never_ok():
    rng = np.random.default_rng(4)
    overall, of = verdict_of(evidence_of(np.full(N, 4.0), levels(rng.normal(size=N)), high=5.0))
    assert of["association"].grade == "unknown"
    assert "gives one score to all (4)" in of["association"].sentence
    assert (overall.verdict, overall.word) == ("do_not_trust", "Not to be used")
    assert of["follows"].sentence == "It gives 4 to all 300 answers: it follows nobody."


def test_people_alone_are_no_judge(tmp_path: Path, capsys):
    file = tmp_path / "people.csv"
    rows = [f"{k},anna,{k % 5 + 1},human" for k in range(20)]
    file.write_text("item_id,judge,score,rater_type\n" + "\n".join(rows), encoding="utf-8")
    assert main(["audit", str(file)]) == 2
    assert "All scores are people's (anna)" in capsys.readouterr().err


def test_text_report_and_json_have_the_cut_and_who_may_stand_in(tmp_path: Path, capsys):
    """Levels beside three people, with a level that passes: the same figures everywhere."""
    rng = np.random.default_rng(4)
    quality = rng.normal(size=120)
    level = {
        name: np.clip(np.round(3 + quality + 0.4 * rng.normal(size=120)), 1, 5).astype(int)
        for name in ("llm", "annotator_1", "annotator_2", "annotator_3")
    }
    file, page, out = (tmp_path / name for name in ("scores.csv", "report.html", "audit.json"))
    pd.DataFrame({"item_id": range(120), **level}).to_csv(file, index=False)
    options = [str(file), "--pass-from", "score=4", "--wrong-pass", "3", "--isolated"]
    assert main(["audit", *options, "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert main(["report", *options, "--html", str(page)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))["scores"]["llm"]["score"]
    assert found["cut"]["price"] == 3
    cut = found["cut"]
    shown = "Pass from {:g} on" if cut["better"] else "cut {:g} · costs"
    assert shown.format(cut["score"]) in said
    for text in (said, page.read_text(encoding="utf-8")):
        assert f"ω {found['omega']:.2f}: " in text
        assert f"ρ {found['rho']:.2f}: " in text
    cheap = [*options[:3], "--wrong-pass", "0.2", "--isolated"]
    assert main(["audit", *cheap, "--json", str(out)]) == 0
    other = json.loads(out.read_text(encoding="utf-8"))["scores"]["llm"]["score"]["cut"]
    assert other["score"] < found["cut"]["score"]
