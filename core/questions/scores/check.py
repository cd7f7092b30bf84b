"""Judges of single answers: do their scores, or their pass and fail, say what people say?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ...finding.check import (
    Check,
    CheckResult,
    Grade,
    Limits,
    Unknown,
    differs,
    points_span,
    share_span,
    worse,
)
from ...finding.wording import count, enumerated, interval, number, percent
from ...stats.estimate import Estimate
from ...stats.intervals import mean_interval
from ..data.check import with_rows
from .drift import Drift
from .evidence import ScoreEvidence
from .table import UNDECIDED

LEAST_KAPPA = 0.40
"""People who agree less than this among themselves excuse no judge."""
LEAST_LEANING = 0.02
"""A leniency whose interval touches this share of the scale is too small to warn of; so is, of
scores that are cut, a difference in the share that passes."""


def _says(fine: str, above: str, below: str = "") -> Callable[[Any, Estimate, Grade], str]:
    """What a headline says of a check: that it is fine, or what is wrong, by the estimate's sign
    where that matters.
    """

    def said(_: ScoreEvidence, estimate: Estimate, grade: Grade) -> str:
        if grade not in ("warn", "fail"):
            return fine
        return below if below and estimate.value < 0 else above

    return said


def _why(evidence: ScoreEvidence, name: str) -> Unknown:
    return Unknown(evidence.agreement.unknown.get(name, "it cannot be computed"))


def _association(evidence: ScoreEvidence) -> Estimate | Unknown:
    if evidence.table.several:
        return Unknown("there are several people, beside whom it stands", applicable=False)
    if not evidence.table.same_scale:
        return Unknown("people say pass or fail, which AUROC measures", applicable=False)
    return evidence.agreement.association or _why(evidence, "association")


def _association_sentence(evidence: ScoreEvidence, r: Estimate) -> str:
    what = "pass and fail go" if evidence.table.says_pass else "scores go"
    return f"Its {what} with the person's: r {interval(r)} on {count(r.n, 'item')}"


def _or_noisy(_: ScoreEvidence, __: Estimate, grade: str) -> str:
    return "Or this person's scores are noisy." if grade in ("warn", "fail") else ""


def _follows(_: ScoreEvidence, r: Estimate, grade: Grade) -> str:
    if grade == "fail":
        against = r.has_interval and r.high < 0
        return f"{'goes against' if against else 'hardly follows'} the person's scores"
    return f"follows the person's scores{' only loosely' if grade == 'warn' else ''}"


ASSOCIATION = Check(
    name="association",
    title="correlation",
    subject="Correlation with a person's scores",
    question="Do its scores rise and fall with a person's?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_least",
        0.50,
        0.30,
        "Blind to shift and scale: what no recalibration repairs.",
        items=30,
        unit="number",
    ),
    needs="scores by a person on the same answers",
    more_of="that a person scored",
    advice="Do not rank answers by its scores; let a second person score some, to tell noise of "
    "people from that of the judge.",
    estimate=_association,
    sentence=_association_sentence,
    then=_or_noisy,
    decisive=True,
    short=_follows,
    figure="r with the person",
)


def _beside_people(evidence: ScoreEvidence) -> Estimate | Unknown:
    if not evidence.table.several:
        return Unknown("no answer was scored by two people", applicable=False)
    if evidence.table.kind == "labels":
        return evidence.people.difference or Unknown(str(evidence.people.reason))
    of = evidence.ceiling
    return of.association_gain or Unknown(of.reason or "it or people give one score to all")


def _people_sentence(evidence: ScoreEvidence, gain: Estimate) -> str:
    of = evidence.ceiling
    if of.people_association is None or of.judge_association is None:
        return (
            f"It is nearer to the other people {differs(gain.value, 'more', 'less')} often than a "
            f"left-out person ({points_span(gain)})"
        )
    return (
        f"Two people agree r {number(of.people_association.value, '.2f')} with each other, the "
        f"judge {number(of.judge_association.value, '.2f')} with one of them: a difference of "
        f"{interval(gain)}"
    )


PEOPLE = Check(
    name="people",
    title="people",
    subject="Its place among people",
    question="Does it go with people as they go with each other?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_least",
        -0.10,
        -0.20,
        "r with a person minus r of two people: one more person has 0, a constant never.",
        items=30,
        unit="number",
    ),
    needs="scores by two people or more on the same answers",
    more_of="that two people scored",
    advice="Do not use its scores in place of a person's.",
    estimate=_beside_people,
    sentence=_people_sentence,
    short=_says(
        "goes with people as they go with each other",
        "goes with people less than they go with each other",
    ),
    figure="r with people beside theirs",
)


def _auroc(evidence: ScoreEvidence) -> Estimate | Unknown:
    if evidence.table.says_pass:
        return Unknown("it says pass or fail, which TPR and TNR measure", applicable=False)
    if evidence.table.people_passing is None:
        return Unknown("nothing says from which score people pass an answer", applicable=False)
    return evidence.agreement.auroc or _why(evidence, "auroc")


def _auroc_sentence(_: ScoreEvidence, area: Estimate) -> str:
    return (
        "An answer that people pass has a higher score than one that they fail: AUROC "
        f"{interval(area)}, 0.5 is chance, on {count(area.n, 'item')}"
    )


def _tells_apart(_: ScoreEvidence, __: Estimate, grade: Grade) -> str:
    hardly = "hardly " if grade == "fail" else ""
    roughly = " only roughly" if grade == "warn" else ""
    return f"{hardly}tells what people pass from what they fail{roughly}"


AUROC = Check(
    name="auroc",
    title="tells apart",
    subject="Telling passes from fails (AUROC)",
    question="Do answers that people pass get higher scores?",
    page="scores",
    kind="scores",
    limits=Limits("at_least", 0.75, 0.60, "Quality, whatever the cut.", unit="number"),
    needs="people's pass or fail, five of each",
    more_of="that people passed or failed",
    advice="No cut makes its scores a good pass or fail: change the judge or its prompt.",
    estimate=_auroc,
    sentence=_auroc_sentence,
    decisive=True,
    short=_tells_apart,
    figure="AUROC",
)


def _kappa(evidence: ScoreEvidence) -> Estimate | Unknown:
    if not evidence.table.several:
        return Unknown("with one noisy person a fair judge has a low one too", applicable=False)
    return evidence.agreement.kappa_weighted or _why(evidence, "kappa_weighted")


def _kappa_sentence(_: ScoreEvidence, kappa: Estimate) -> str:
    return f"It gives people's very scores by κ_w {interval(kappa)} on {count(kappa.n, 'item')}"


def _peoples_kappa(evidence: ScoreEvidence, limits: Limits) -> Limits:
    """What people reach among themselves, and never less than .40."""
    theirs = evidence.ceiling.people_kappa
    if theirs is None:
        return limits
    floor = min(limits.caution, LEAST_KAPPA)
    return replace(limits, caution=max(floor, min(limits.caution, theirs.value)))


KAPPA = Check(
    name="kappa_weighted",
    title="levels",
    subject="Agreement in size (weighted κ)",
    question="Does it give the scores that people give?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_least", 0.60, None, "Or what people reach among themselves.", items=30, unit="number"
    ),
    needs="scores by two people or more",
    more_of="that two people scored",
    advice="Recalibrate its scores, or use their order alone.",
    estimate=_kappa,
    sentence=_kappa_sentence,
    limits_for=_peoples_kappa,
    short=_says("gives the scores that people give", "gives other scores than people"),
    figure="κ_w",
)


def _leaning(evidence: ScoreEvidence) -> Estimate | Unknown:
    if evidence.table.says_pass and evidence.which.design == "one verdict":
        return Unknown("people looked only at answers of one verdict")
    return evidence.leniency.bias or Unknown(str(evidence.leniency.reason))


def _leniency_sentence(evidence: ScoreEvidence, bias: Estimate) -> str:
    more = differs(bias.value, "more", "less")
    if evidence.table.says_pass:
        return f"It passes {more} often than people ({points_span(bias)})"
    at = evidence.leniency.points
    size = number(abs(at.value), ".2f") if at else ""
    higher = "higher" if bias.value >= 0 else "lower"
    ends = f"{at.low:+.2f} to {at.high:+.2f}, " if at and at.has_interval else ""
    scale = f"on a scale of {evidence.table.low:g} to {evidence.table.high:g}"
    return f"It scores {size} {higher} than people {scale} ({ends}{count(bias.n, 'item')})"


def _lenient(check: Check, evidence: ScoreEvidence) -> CheckResult:
    """A warning needs more than an interval beyond 0: a judge more exact than people has that."""
    bias = check.estimate(evidence)
    if isinstance(bias, Unknown):
        return check.unknown(evidence, bias)
    result = check.graded(evidence, bias)
    if result.grade == "warn" and bias.low <= LEAST_LEANING and bias.high >= -LEAST_LEANING:
        small = f"{check.sentence(evidence, bias)}; too little to matter if the estimate stays."
        return replace(result, grade="unclear", sentence=small, p_value=math.nan)
    if (asked := _two_scales(evidence)) is not None:
        return replace(result, sentence=asked)
    return result


MOST_OF_FEW_LEVELS = 5
LEAST_ABOVE = 0.20


def _two_scales(evidence: ScoreEvidence) -> str | None:
    """The question whether people and it use two scales, where the scores of one of them are whole
    numbers up to 5 and 20 % of the other's lie above all of these, beyond 5; else None.
    """
    table = evidence.table
    theirs = table.people[~np.isnan(table.people)]
    own = table.judge[~np.isnan(table.judge)]
    if table.says_pass or not len(theirs) or not len(own):
        return None
    for who, few, other, many in (("People", theirs, "it", own), ("It", own, "people", theirs)):
        highest = float(few.max())
        levels = 2 <= highest <= MOST_OF_FEW_LEVELS and bool((few == np.round(few)).all())
        above = float((many > highest).mean())
        if levels and many.max() > MOST_OF_FEW_LEVELS and above >= LEAST_ABOVE:
            return (
                f"{who} gave {few.min():g} to {highest:g} and {other} gave more to "
                f"{percent(above)}: are these two scales?"
            )
    return None


def _strict(evidence: ScoreEvidence, bias: Estimate, grade: Grade) -> str:
    if grade not in ("warn", "fail"):
        return "is as strict as people"
    if evidence.table.says_pass:
        return f"passes {'more' if bias.value > 0 else 'less'} often than people"
    if _two_scales(evidence) is not None:
        return "may use another scale than people"
    return f"scores {'higher' if bias.value > 0 else 'lower'} than people"


LENIENCY = Check(
    name="leniency",
    title="strictness",
    subject="Leniency",
    question="Does it score higher or lower than people?",
    page="scores",
    kind="scores",
    limits=Limits(
        "signed",
        0.05,
        0.125,
        "Half a level of five fails; a cut or recalibration corrects it.",
        unit="points",
    ),
    needs="scores by people on the same scale",
    more_of="that people scored",
    advice="Use a cut that was chosen on people's labels, or recalibrate: not the score as it is.",
    estimate=_leaning,
    sentence=_leniency_sentence,
    compose=_lenient,
    short=_strict,
    figure="beside people",
)


def _ratio(evidence: ScoreEvidence) -> Estimate | Unknown:
    if evidence.table.says_pass:
        return Unknown("it says pass or fail", applicable=False)
    return evidence.spread.ratio or Unknown(str(evidence.spread.reason))


def _spread_sentence(_: ScoreEvidence, ratio: Estimate) -> str:
    return (
        f"Its scores spread {number(ratio.value, '.2f')} times as wide as people's "
        f"({ratio.low:.2f} to {ratio.high:.2f}, {count(ratio.n, 'item')})"
        if ratio.has_interval
        else f"Its scores spread {number(ratio.value, '.2f')} times as wide as people's"
    )


def _spread(check: Check, evidence: ScoreEvidence) -> CheckResult:
    """Too little or too much of the scale: the worse of both."""
    ratio = check.estimate(evidence)
    if isinstance(ratio, Unknown):
        return check.unknown(evidence, ratio)
    narrow = check.graded(evidence, ratio)
    wide = check.graded(evidence, ratio, limits=check.limits_of(evidence, "spread_above"))
    return worse(narrow, wide)


SPREAD = Check(
    name="spread",
    title="spread",
    subject="Spread of its scores",
    question="Does it use as much of the scale as people?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_least",
        0.75,
        0.50,
        "A judge that keeps to the middle hides differences; recalibration corrects it.",
        worst="warn",
        items=30,
        unit="number",
    ),
    more_limits={
        "spread_above": Limits(
            "at_most", 1.33, None, "4/3, as .75 is 3/4.", items=30, unit="number"
        )
    },
    needs="scores by people on the same scale",
    more_of="that people scored",
    advice="Use the order of its scores, or recalibrate them.",
    estimate=_ratio,
    sentence=_spread_sentence,
    compose=_spread,
    short=lambda _, ratio, grade: (
        "uses as much of the scale as people"
        if grade not in ("warn", "fail")
        else f"uses {'less' if ratio.value < 1 else 'more'} of the scale than people"
    ),
    figure="spread of people's",
)

Side = Literal["tpr", "tnr"]
VERBS: dict[Side, tuple[str, str]] = {"tpr": ("passes", "passed"), "tnr": ("fails", "failed")}


def _rate(evidence: ScoreEvidence, side: Side) -> Estimate | Unknown:
    passing = evidence.passing
    rate = passing.tpr if side == "tpr" else passing.tnr
    if evidence.table.passing is None:
        return Unknown("nothing says from which score it passes an answer", applicable=False)
    return rate or Unknown(passing.unknown.get(side, "no answer has both verdicts"))


def _rate_sentence(evidence: ScoreEvidence, rate: Estimate, side: Side) -> str:
    does, did = VERBS[side]
    return f"It {does} {percent(rate.value)} of the answers that people {did} ({share_span(rate)})"


def _rate_result(check: Check, evidence: ScoreEvidence, side: Side) -> CheckResult:
    """The rate itself, or with several people what it gains on a left-out person.

    Where a score is cut, a better cut repairs it: such a judge is warned of at most, and beside one
    person only where `_noise_of_one` is no reason. Where the judge itself says pass or fail,
    fewer answers than it takes to be *ok* may show that it is not: at 4 to 9 answers the interval
    lies below a limit that is the truth in 2.5 % of draws at most, counted out over the binomial.
    """
    rate = check.estimate(evidence)
    if isinstance(rate, Unknown):
        return check.unknown(evidence, rate)
    passing = evidence.passing
    gain = passing.tpr_gain if side == "tpr" else passing.tnr_gain
    if gain is None:
        result = check.graded(evidence, rate)
        if result.grade == "unknown" and evidence.table.says_pass:
            limits = check.limits_of(evidence)
            few = check.graded(evidence, rate, limits=replace(limits, items=rate.n))
            if few.grade in ("warn", "fail"):
                result = replace(few, limits=limits)
    else:
        figures = (
            f"{check.sentence(evidence, rate)}, {differs(gain.value, 'more', 'less')} often than a "
            f"left-out person ({points_span(gain)})"
        )
        limits = check.limits_of(evidence, f"{side}_gain")
        result = check.graded(evidence, gain, figures=figures, limits=limits)
    if result.grade in ("warn", "fail") and not evidence.table.says_pass:
        noise = None if gain is not None else _noise_of_one(evidence, side)
        if noise is None:
            return replace(result, grade="warn")
        sentence = f"{check.sentence(evidence, rate)}; {noise}."
        result = replace(result, grade="unclear", sentence=sentence, p_value=math.nan)
    return result


def _noise_of_one(evidence: ScoreEvidence, side: Side) -> str | None:
    """That one person's noise may be why scores, cut, have a low TPR or TNR; None if it is not.

    A judge as noisy as a noisy person has low ones. Noise makes neither another share of passes
    than the person's, nor scores that are shown not to follow.
    """
    table = evidence.table
    both = (table.people_verdict != UNDECIDED) & ~np.isnan(table.passed)
    judge, person = table.passed[both], table.people_verdict[both]
    more = mean_interval(table.unit[both], judge - person, ends=(-1.0, 1.0), level=evidence.level)
    follows = (AUROC if evidence.likeness == "auroc" else ASSOCIATION).result(evidence)
    if more.beyond(LEAST_LEANING) or follows.grade in ("warn", "fail"):
        return None
    own, theirs = (float(said.mean()) for said in (judge, person))
    if side == "tnr":
        own, theirs = 1 - own, 1 - theirs
    return (
        f"it {VERBS[side][0]} about as many answers as the person, {percent(own)} beside "
        f"{percent(theirs)}, so that noise of either may be all of it"
    )


def _rate_check(side: Side, title: str, of: str, what: str) -> Check:
    does, did = VERBS[side]
    other = VERBS["tnr" if side == "tpr" else "tpr"][0]
    return Check(
        name=side,
        title=title,
        subject=f"The rate at which {of} are found ({side.upper()})",
        question=f"Does it {does[:-2] if does == 'passes' else 'fail'} what people {did}?",
        page="scores",
        kind="scores",
        limits=Limits(
            "at_least", 0.90, 0.80, "What teams want of a judge that decides; a coin has .50."
        ),
        more_limits={
            f"{side}_gain": Limits(
                "at_least", -0.10, -0.20, "Beside a left-out person.", unit="points"
            )
        },
        needs=f"answers that people {did}",
        more_of=f"that people {did}",
        advice=f"Look at the answers that people {did} and it did not: its prompt misses {what}.",
        estimate=lambda evidence: _rate(evidence, side),
        sentence=lambda evidence, rate: _rate_sentence(evidence, rate, side),
        compose=lambda check, evidence: _rate_result(check, evidence, side),
        decisive=True,
        short=_says(f"{does} what people {did}", f"{other} answers that people {did}"),
        figure=side.upper(),
    )


TPR = _rate_check("tpr", "passes found", "passes", "what is good enough")
TNR = _rate_check("tnr", "fails found", "failures", "a fault")


def _length(evidence: ScoreEvidence) -> Estimate | Unknown:
    effect = evidence.length
    return effect.instrumented or effect.raw or Unknown(str(effect.reason))


def _length_sentence(_: ScoreEvidence, slope: Estimate) -> str:
    return (
        f"One standard deviation more of length adds {differs(slope.value, 'more', 'less')} of the "
        f"scale than people give it ({points_span(slope)})"
    )


def _length_result(check: Check, evidence: ScoreEvidence) -> CheckResult:
    """With one person both slopes have to say so: neither alone is free of the person's noise."""
    slope, effect = check.estimate(evidence), evidence.length
    if isinstance(slope, Unknown):
        return check.unknown(evidence, slope)
    result = check.graded(evidence, slope)
    if effect.instrumented is not None or effect.partial is None:
        return result
    partial = effect.partial
    one_side = slope.excludes(0) and partial.excludes(0) and slope.value * partial.value > 0
    caution = check.limits_of(evidence).caution
    both_small = slope.within(caution) and partial.within(caution)
    if (result.grade in ("warn", "fail") and not one_side) or (
        result.grade == "ok" and not both_small
    ):
        sentence = (
            f"{check.sentence(evidence, slope)}; at equal scores of the person "
            f"{differs(partial.value, 'more', 'less')} ({points_span(partial)}): one person's "
            "noise lets neither decide."
        )
        return replace(result, grade="unclear", sentence=sentence, p_value=math.nan)
    return result


SCORE_LENGTH = Check(
    name="score_length",
    title="length",
    subject="What length adds",
    question="Does a longer answer score higher than people would have it?",
    page="scores",
    kind="scores",
    limits=Limits(
        "signed",
        0.03,
        0.08,
        "Of the scale, per standard deviation of length.",
        items=30,
        unit="points",
    ),
    needs="the answers or their lengths, and scores by people",
    more_of="with answers and people's scores",
    advice="Compare answers of like length, or tell the judge that length is no merit.",
    estimate=_length,
    sentence=_length_sentence,
    compose=_length_result,
    short=_says(
        "takes no answer's length for merit", "favours long answers", "favours short answers"
    ),
    figure="a standard deviation of length",
)


def _worst_group(evidence: ScoreEvidence) -> Estimate | Unknown:
    worst = evidence.drift.worst
    if worst is None:
        return Unknown(evidence.drift.reason or "it needs two categories with ten items each")
    return worst.difference


def stands_out(found: Drift | None, *, what: str = "", others: str) -> str:
    """The group in which leniency is farthest from that of the others."""
    worst = None if found is None else found.worst
    if found is None or worst is None:
        return ""
    return (
        f"Beside people it scores {what}{worst.group} "
        f"{differs(worst.difference.value, 'higher', 'lower')} than the other {others} "
        f"({points_span(worst.difference)}, widened for {len(found.groups)})"
    )


DRIFT = Check(
    name="drift",
    title="groups",
    subject="Leniency by category",
    question="Is it as strict in every category?",
    page="scores",
    kind="scores",
    limits=Limits(
        "signed",
        0.05,
        0.125,
        "As leniency; its interval is Bonferroni's for the number of categories.",
        unit="points",
    ),
    needs="a column category, and scores by people",
    more_of="in its worst category",
    advice="Do not compare categories by its scores.",
    estimate=_worst_group,
    sentence=lambda evidence, _: stands_out(evidence.drift, what="category ", others="categories"),
    short=_says(
        "is as strict in every category",
        "is less strict in one category",
        "is stricter in one category",
    ),
    figure="worst category",
)


def _worst_period(evidence: ScoreEvidence) -> Estimate | Unknown:
    found = evidence.drift_over_time
    if found is None:
        return Unknown("no column of the file has dates such as 2026-01-31", applicable=False)
    if found.worst is None:
        return Unknown(found.reason or "it needs two periods with ten items each")
    return found.worst.difference


DRIFT_OVER_TIME = Check(
    name="drift_over_time",
    title="over time",
    subject="Leniency over time",
    question="Is it as strict at all times?",
    page="scores",
    kind="scores",
    limits=Limits(
        "signed",
        0.05,
        0.125,
        "As leniency; its interval is Bonferroni's for the number of days, months or years.",
        unit="points",
    ),
    needs="a column with dates, and scores by people",
    more_of="in its worst period",
    advice="Do not compare times by its scores: the judge, its prompt or what it judges changed.",
    estimate=_worst_period,
    sentence=lambda evidence, _: stands_out(evidence.drift_over_time, others="periods"),
    short=_says(
        "is as strict at all times", "was less strict for a time", "was stricter for a time"
    ),
    figure="worst period",
)


def _icc(evidence: ScoreEvidence) -> Estimate | Unknown:
    repeats = evidence.repeatability
    if repeats.icc_3_k is None:
        return Unknown(str(repeats.reason))
    return replace(repeats.icc_3_k, n=repeats.n_items)


def _icc_sentence(evidence: ScoreEvidence, icc: Estimate) -> str:
    k = evidence.repeatability.k
    return f"The mean of {k} runs has ICC(3,k) {interval(icc)} on {count(icc.n, 'item')}"


SCORE_REPEATABILITY = Check(
    name="score_repeatability",
    title="repeats",
    subject="Repeatability",
    question="Does it give the same score when asked again?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_least",
        0.75,
        0.50,
        "Koo & Li (2016): good from .75, poor below .50, from 30 items.",
        items=30,
        unit="number",
    ),
    needs="repeated scores (column run)",
    more_of="scored more than once",
    advice="Ask several times and take the mean: one score is a draw of luck.",
    estimate=_icc,
    sentence=_icc_sentence,
    short=_says("repeats itself", "gives other scores when asked again"),
    figure="ICC(3,k)",
)


def _missing(evidence: ScoreEvidence) -> Estimate | Unknown:
    return evidence.missing or Unknown("it has no output")


def _missing_sentence(evidence: ScoreEvidence, missing: Estimate) -> str:
    lacking, total = evidence.scores.missing, evidence.scores.outputs
    if not lacking:
        return f"{count(total, 'score')}; every output has one"
    said = (
        f"{lacking:,} of {count(total, 'output')} have no score: {percent(missing.value, 1)} "
        f"({share_span(missing)})"
    )
    of = evidence.scores.unscored
    if of.by_status:
        said += f", {enumerated(f'{n:,} {WHY[status]}' for status, n in of.by_status)}"
    if judged := of.passed + of.failed:
        said += f"; people failed {of.failed:,} of the {judged:,} that they judged"
    return said


WHY = {"unparsed": "without a grade", "refused": "refused", "error": "in error"}
"""What became of an answer without a score."""
MOSTLY = 0.8


def _go_to_a_person(evidence: ScoreEvidence) -> bool:
    """Whether people say what is right of most answers without a score, which go to a person."""
    of = evidence.scores.unscored
    return of.passed + of.failed >= MOSTLY * evidence.scores.missing > 0


def _data(check: Check, evidence: ScoreEvidence) -> CheckResult:
    """The worse of outputs without a score and of rows of the files that were not read whole."""
    missing = check.estimate(evidence)
    if isinstance(missing, Unknown):
        return check.unknown(evidence, missing)
    result = check.graded(evidence, missing)
    if not evidence.scores.missing:
        said = f"{check.sentence(evidence, missing)}."
        result = replace(result, grade="ok", sentence=said, needed_items=None, more_items=None)
    elif result.grade == "fail" and _go_to_a_person(evidence):
        said = f"{check.sentence(evidence, missing)}. Those go to a person."
        result = replace(result, grade="warn", sentence=said)
    return with_rows(check, evidence, result, evidence.rows_read)


SCORE_DATA = Check(
    name="score_data",
    title="readable",
    subject="Completeness of the data",
    question="Does every output have a score, and was every row read?",
    page="start",
    kind="scores",
    limits=Limits("at_most", 0.02, 0.10, "Outputs without a score are not missing at random."),
    needs="scores",
    more_of="with an output",
    advice="Find out why outputs have no score, or rows were rejected, before you count the "
    "others.",
    estimate=_missing,
    sentence=_missing_sentence,
    compose=_data,
    decisive=True,
    short=_says(
        "leaves hardly an answer without a score",
        "leaves answers without a score, or rows were rejected",
    ),
    figure="without a score",
)

CHECKS: tuple[Check, ...] = (
    TNR,
    TPR,
    ASSOCIATION,
    PEOPLE,
    AUROC,
    KAPPA,
    LENIENCY,
    SPREAD,
    SCORE_LENGTH,
    DRIFT,
    DRIFT_OVER_TIME,
    SCORE_REPEATABILITY,
    SCORE_DATA,
)
