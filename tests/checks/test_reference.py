"""Who the people are, which answers they labelled, and whether a judge follows them."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ttest_ind

import core
from core.auditing.checks import LIMITS
from core.questions.reference.weigh import weigh, youden
from core.questions.reference.which import compared, design_of, which
from core.questions.reference.who import who
from core.questions.scores.card import score_answer
from core.questions.scores.evidence import JudgedScores, ScoreEvidence
from core.questions.scores.overall import check_scores, overall_of_scores
from core.questions.scores.table import ScoreTable
from core.reporting.text import to_text
from core.stats.estimate import Estimate


def verdict(judge, people, **more):
    drawn = more.pop("drawn", None)
    table = ScoreTable.of(judge, people, **more)
    scores = JudgedScores(
        judge="j",
        metric="score",
        table=table,
        runs=table.judge[:, None],
        outputs=len(table),
        missing=0,
        drawn=drawn,
    )
    evidence = ScoreEvidence(scores, LIMITS)
    results = check_scores(evidence)
    overall = overall_of_scores(evidence, results)
    headline = score_answer(evidence, overall, results).headline
    return evidence, overall, {r.check: r for r in results}, headline


def noisy(quality, noise, rng):
    return np.clip(np.round(3 + quality + noise * rng.normal(size=len(quality))), 1, 5)


def test_a_constant_beside_two_people_is_not_to_be_used():
    rng = np.random.default_rng(0)
    quality = rng.normal(size=100)
    people = np.stack([noisy(quality, 1.0, rng) for _ in range(2)], axis=1)
    _, overall, of, headline = verdict(np.full(100, 3.0), people, low=1, high=5)
    assert (overall.word, headline) == ("Not to be used", "It gives 3 to all 100 answers.")
    assert {use.answer for use in overall.use.values()} == {"no"}
    assert of["who"].grade == "ok"


@pytest.mark.parametrize("levels", [True, False])
def test_people_who_toss_coins_are_no_reference(levels):
    rng = np.random.default_rng(1)
    draw = rng.integers(1, 6, (300, 4)) if levels else rng.integers(0, 2, (300, 4))
    evidence, overall, of, headline = verdict(draw[:, 0], draw[:, 1:])
    assert evidence.who.is_reference is False
    assert "they are no reference" in headline
    assert (overall.verdict, overall.because) == ("cannot_say", ("who",))
    assert {use.answer for use in overall.use.values()} == {"not shown"}
    assert of["who"].sentence.startswith("Any two of 3 people agree r ")
    # What stands beside such people is settled by nothing.
    by_people = {"tnr", "tpr", "association", "auroc", "people", "kappa_weighted"}
    assert {of[name].grade for name in by_people} <= {"unclear", "unknown"}


def test_a_person_upside_down_is_named():
    rng = np.random.default_rng(2)
    quality = rng.normal(size=120)
    people = np.stack([noisy(quality, 0.6, rng) for _ in range(3)], axis=1)
    people[:, 2] = 6 - people[:, 2]
    table = ScoreTable.of(noisy(quality, 0.5, rng), people, names=("anna", "ben", "cem"))
    assert who(table).against == ("cem",)
    copied = ScoreTable.of(people[:, 0], people[:, :2], names=("anna", "ben"))
    assert who(copied).copied == ("anna",)


def judged(rng, n, share, tpr, tnr):
    truth = (rng.random(n) < share).astype(int)
    passes = np.where(truth == 1, rng.random(n) < tpr, rng.random(n) >= tnr).astype(int)
    return truth, passes


def drawn(rows, m, rng):
    picked = np.zeros(len(rows), dtype=bool)
    picked[rng.permutation(np.flatnonzero(rows))[:m]] = True
    return picked


def test_labels_of_one_verdict_leave_rates_unknown():
    rng = np.random.default_rng(3)
    truth, passes = judged(rng, 1000, 0.85, 0.95, 0.6)
    labelled = drawn(passes == 0, 100, rng)
    gold = np.where(labelled, truth, np.nan)
    evidence, overall, of, headline = verdict(passes, gold, low=0, high=1, kind="pass_fail")
    assert evidence.which.design == "one verdict"
    assert evidence.passing.tpr is None
    assert overall.word == "Cannot say yet"
    assert headline == "People looked only at what it fails."
    assert of["leniency"].grade == "unknown"
    good = int(truth[labelled].sum())
    assert f"and passed {good} of those 100. How many it lets through" in of["labels"].sentence


def test_what_one_person_who_errs_does_to_a_judge_that_is_always_right():
    """Beside 70 % that pass, a person who errs on a tenth makes a perfect judge fail 79 %."""
    rows = [
        {"item_id": f"i{k}", "judge_passed": "pass" if k % 2 else "fail"}
        | {"human_passed": "pass" if k % 100 < 66 else "fail"}
        for k in range(300)
    ]
    said = to_text(core.audit(rows))
    assert (
        "A judge that is always right would fail 90 % of what a person failed who errs on" in said
    )
    rng = np.random.default_rng(0)
    truth = rng.random(400_000) < 0.70
    person = truth ^ (rng.random(400_000) < 0.10)
    assert np.mean(~truth[~person]) == pytest.approx(0.794, abs=0.004)
    assert "of one who errs on 10 %, 79 % and 95 %." in said


def test_a_rate_by_one_named_person_is_that_persons_standard():
    rows = [
        {
            "item_id": f"i{k}",
            "judge": name,
            "rater_type": kind,
            "score": "pass" if passes else "fail",
        }
        for k in range(120)
        for name, kind, passes in (
            ("j", "llm", k % 5 > 1),
            ("Anna", "human", k % 9 > 3 or k % 5 > 1),
        )
    ]
    assert "pass rate by Anna's standard" in to_text(core.audit(rows[: 2 * 119] + rows[-2:-1]))
    as_gold = [
        row | {"gold": other["score"]} for row, other in zip(rows[::2], rows[1::2], strict=True)
    ]
    as_gold[-1]["gold"] = None
    assert "true pass rate" in to_text(core.audit(as_gold))


def test_fifty_of_each_class_are_read_both_ways_until_somebody_says_which():
    rng = np.random.default_rng(4)
    truth, passes = judged(rng, 1000, 0.9, 0.95, 0.85)
    labelled = drawn(truth == 1, 50, rng) | drawn(truth == 0, 50, rng)
    gold = np.where(labelled, truth, np.nan)
    given = {"low": 0, "high": 1, "kind": "pass_fail"}
    evidence, _, of, headline = verdict(passes, gold, **given)
    assert evidence.which.design == "asked"
    rate = evidence.pass_rate.corrected
    assert rate.low < truth.mean() < rate.high
    assert "As many labels pass as fail. If so many of each class" in of["labels"].sentence
    assert "say --labels-drawn" in headline
    said, *_ = verdict(passes, gold, drawn="classes", **given)
    narrow = said.pass_rate.corrected
    assert narrow.low < truth.mean() < narrow.high
    assert narrow.high - narrow.low < rate.high - rate.low


def test_the_pass_rate_by_verdict_has_one_interval():
    """As the first of two readings, and where somebody says that labels were drawn so."""
    rng = np.random.default_rng(11)
    truth, passes = judged(rng, 1000, 0.9, 0.95, 0.9)
    labelled = drawn(truth == 1, 50, rng) | drawn(truth == 0, 50, rng)
    gold = np.where(labelled, truth, np.nan)
    given = {"low": 0, "high": 1, "kind": "pass_fail"}
    asked, *_ = verdict(passes, gold, **given)
    said, *_ = verdict(passes, gold, drawn="verdicts", **given)
    assert asked.readings[0].rate == said.pass_rate.corrected == said.weighed.rate


@pytest.mark.parametrize("design", ["verdicts", "classes"])
@pytest.mark.parametrize(("share", "tnr"), [(0.7, 0.9), (0.9, 0.68)])
def test_weighed_rates_hold_the_truth(design, share, tnr):
    """Labels by half of either verdict, or of either class: truth of all answers, 150 draws."""
    rng = np.random.default_rng(5)
    held = dict.fromkeys(("tpr", "tnr", "rate", "right", "youden"), 0)
    right = share * 0.95 + (1 - share) * tnr
    known = {"tpr": 0.95, "tnr": tnr, "rate": share, "right": right, "youden": 0.95 + tnr - 1}
    for _ in range(150):
        truth, passes = judged(rng, 1000, share, 0.95, tnr)
        of = truth if design == "classes" else passes
        labelled = drawn(of == 1, 50, rng) | drawn(of == 0, 50, rng)
        rates = weigh(passes, np.where(labelled, truth, -1), design)
        for name, value in known.items():
            rate = getattr(rates, name)
            held[name] += rate.low <= value <= rate.high
    # .95 less three standard errors of 150 draws.
    assert min(held.values()) >= 0.95 * 150 - 3 * np.sqrt(150 * 0.95 * 0.05), held


def test_a_leaky_judge_never_decides_and_a_good_one_is_not_refused():
    """TPR .95; a TNR of .68 is refused in most draws of 300 answers, one of .93 in none."""
    rng = np.random.default_rng(6)
    answers = {tnr: [] for tnr in (0.68, 0.93)}
    for tnr in answers:
        for _ in range(25):
            truth, passes = judged(rng, 300, 0.7, 0.95, tnr)
            _, overall, *_ = verdict(passes, truth, low=0, high=1)
            answers[tnr].append(overall.use["decide"].answer)
            assert overall.use["measure"].answer == "yes"
    assert answers[0.68].count("yes") == 0
    assert answers[0.68].count("no") >= 12
    assert answers[0.93].count("no") == 0


def test_labelled_answers_are_compared_with_the_others_as_scipy_does():
    rng = np.random.default_rng(7)
    inside = rng.random(600) < 0.3
    names = np.where(inside, rng.integers(0, 3, 600), rng.integers(1, 4, 600)).astype(str)
    of = compared(inside, {"category": names})["category"]
    table = [[int((names[s] == k).sum()) for k in "0123"] for s in (inside, ~inside)]
    assert of.p_value == pytest.approx(chi2_contingency(table, correction=False)[1])
    length = rng.normal(size=600) - 0.8 * inside
    blank = np.full(600, -1)
    shown = which(blank, blank, inside, {"length": length, "score": rng.normal(size=600)})
    assert shown.differs == "length"
    assert shown.columns["length"].size == pytest.approx(-0.8, abs=0.25)
    # Twelve labels have few degrees of freedom: a normal tail would name a column too often.
    few = np.arange(600) < 12
    of = compared(few, {"length": length})["length"]
    welch = ttest_ind(length[few], length[~few], equal_var=False)
    assert of.p_value == pytest.approx(welch.pvalue)


def test_designs_are_read_off_the_labels():
    rng = np.random.default_rng(8)
    truth, passes = judged(rng, 1000, 0.7, 0.9, 0.8)

    def design(labelled):
        return design_of(passes, np.where(labelled, truth, -1), labelled)

    assert design(np.ones(1000, bool)) == "all"
    assert design((passes == 0) | drawn(passes == 1, 70, rng)) == "verdicts"
    assert design(drawn(passes == 1, 50, rng) | drawn(passes == 0, 50, rng)) == "verdicts"
    assert design(drawn(passes == 1, 60, rng)) == "one verdict"
    assert design(drawn(truth == 1, 50, rng) | drawn(truth == 0, 50, rng)) == "asked"
    assert design(drawn(np.ones(1000, bool), 201, rng)) in ("random", "asked")


def test_youden_is_by_mover():
    j = youden(Estimate(0.9, 0.8, 0.95, n=50), Estimate(0.8, 0.6, 0.9, n=30))
    assert (j.value, j.low) == (pytest.approx(0.7), pytest.approx(0.7 - np.hypot(0.1, 0.2)))
    assert j.high == pytest.approx(0.7 + np.hypot(0.05, 0.1))
