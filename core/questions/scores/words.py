"""What the page Scores says: the cut, two versions, the map, and who may stand in for a person."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...finding.answer import Answer, difference, line, measured, share
from ...finding.check import Unknown, differs
from ...finding.tables import TEXT, Column
from ...finding.wording import count, interval, number, percent, signed
from ..confidence.results import CALIBRATION, TH
from ..confidence.words import alone_at, at_least, in_short
from ..reference.second_look import SecondLook
from .alone import NO_PASS_MARK, Alone
from .by_model import BY_MODEL, FAVOURS, ByModel
from .check import TNR, TPR, stands_out
from .cut import Cut
from .pass_rate import PassRate
from .people import AltTest, LeftOut
from .raters import RaterPair
from .recalibration import ScoreRecalibration
from .versions import VersionDifference

if TYPE_CHECKING:
    from .evidence import ScoreEvidence


def cut_answer(found: Cut) -> Answer:
    """The cut and what it costs, beside passing and failing everything."""
    trivial = {"passing": found.pass_all.value, "failing": found.fail_all.value}
    best = min(trivial, key=trivial.__getitem__)
    if not found.better:
        said = f"No cut is shown to beat {best} everything."
    elif math.isfinite(found.cut):
        said = f"Pass from {found.cut:g} on: that beats passing or failing everything."
    else:
        said = "Fail every answer: no cut is cheaper."
    figures = (
        f"cut {found.cut:g}" if not found.better and math.isfinite(found.cut) else "",
        f"costs {measured(found.cost)} per answer on answers that did not choose it, passing "
        f"everything {number(found.pass_all.value, '.2f')}, failing everything "
        f"{number(found.fail_all.value, '.2f')}",
        f"passes {share(found.tpr)} of what people passed",
        f"fails {share(found.tnr)} of what they failed",
    )
    return Answer(headline=said, figures=line(figures), good=found.better)


def true_rate_answer(found: PassRate) -> Answer:
    """The true pass rate beside the judge's, and what more labels would give."""
    if found.corrected is None:
        alone = found.labels
        said = (
            "How many answers pass by people's standard cannot be said."
            if alone is None
            else f"By people's labels alone {percent(alone.value)} of the answers pass."
        )
        why = f"not corrected by the judge: {found.reason}"
        return Answer(headline=said, figures=line((alone and share(alone), why)), good=False)
    judge = "" if found.judge is None else f"; the judge says {percent(found.judge.value)}"
    more = max(found.to_halve - found.n_labelled, 0)
    figures = (
        share(found.corrected),
        f"{count(more, 'more label')} would halve the interval",
        "" if found.saves else "the judge saves no labels here",
    )
    passing = percent(found.corrected.value)
    return Answer(
        headline=f"{passing} of the answers pass by people's standard{judge}.",
        figures=line(figures),
    )


AS_RANDOM = (
    "The labels count as if they were drawn at random within the judge's passes and fails; where "
    "you chose them otherwise, the interval claims no more than that."
)


def versions_answer(a: str, b: str, found: VersionDifference) -> Answer:
    """Version B beside version A, by people, and what the judge adds between them."""
    of_scale = " points" if found.of == "pass" else " points of the scale"
    best = found.difference or found.labels
    taste = found.bias is not None and found.bias.excludes(0)
    if best is None:
        said = f"No pair of answers of {a} and {b} has people's labels"
    else:
        what, more, less = (
            ("passes", "more often", "less often")
            if found.of == "pass"
            else ("scores", "higher", "lower")
        )
        said = f"{b} {what} {more if best.value >= 0 else less} than {a}"
        said += "" if best.excludes(0) else "; that may be chance"
    if taste and found.bias is not None:
        said += f"; the judge favours {b if found.bias.value >= 0 else a}"
    figures = (
        best and f"{b} less {a} {difference(best, unit=of_scale)}",
        found.judge and f"as the judge sees it {difference(found.judge, unit=' points')}",
        found.bias and f"judge beside people {difference(found.bias, unit=' points')}",
        count(found.n, "pair"),
        found.reason and f"judge and labels are not joined: {found.reason}",
    )
    good = best is not None and best.excludes(0) and not taste
    return Answer(headline=f"{said}.", figures=line(figures), good=good)


def map_answer(found: ScoreRecalibration) -> Answer:
    """Whether a map brings the scores nearer to people's, on answers that did not make it."""
    after = percent(found.error_after, 1)
    if found.change is None or found.error_before is None:
        return Answer(
            headline="A map gives, for each score, the share of such answers that people pass.",
            figures=f"off by {after} (root mean square, held out)",
        )
    brings = "brings" if found.helps else "is not shown to bring"
    leaning = ""
    if found.bias_before is not None:
        before, left = (signed(100 * bias, 1) for bias in (found.bias_before, found.bias_after))
        leaning = f"higher than people by {before} points before, {left} after"
    figures = (
        f"{percent(found.error_before, 1)} of the scale off before, {after} after (root mean "
        "square)",
        leaning,
        f"{count(found.n, 'answer')} that did not make the map",
    )
    return Answer(
        headline=f"A map {brings} its scores nearer to people's.",
        figures=line(figures),
        good=found.helps,
    )


def alternative_answer(found: AltTest, *, constant: bool = False) -> Answer:
    """The Alternative Annotator Test in words.

    constant : the judge gives one score to all, which is near to everybody and takes nobody's
        place.
    """
    test = "the Alternative Annotator Test"
    if found.omega is None or found.rho is None:
        return Answer(headline=f"T{test[1:]} is not made.", figures=str(found.reason))
    won = sum(person.won for person in found.people)
    figures = (
        f"ω {found.omega:.2f}: it wins against {won} of {len(found.people)} people given ε "
        f"{found.epsilon:g}",
        f"ρ {found.rho:.2f}: as near to the others as a left-out person in "
        f"{percent(found.rho)} of answers",
        "with fewer than three people the test says little" if found.few else "",
    )
    may = "may" if found.passes and not constant else "may not"
    return Answer(
        headline=f"By {test} it {may} take a person's place.",
        figures=line(figures),
        good=bool(found.passes) and not found.few and not constant,
    )


def by_model_answer(found: ByModel) -> Answer:
    """Whether it follows people within the answers of one model, or from model to model alone."""
    within, between = found.within, found.between
    if within is None:
        return Answer(
            headline="What it says within one model is not known.", figures="", good=False
        )
    apart = within.has_interval and within.low > 0
    said = "It follows people within the answers of one model"
    if not apart:
        said = "It is not shown to follow people within the answers of one model"
        if between is not None and between.has_interval and between.low > 0:
            said = "It follows people from model to model, but is not shown to within one"
    figures = (
        f"r within models {interval(within)}",
        ""
        if between is None
        else f"between the means of {found.models} models {interval(between)}",
        count(found.n, "answer"),
    )
    return Answer(headline=f"{said}.", figures=line(figures), good=apart)


def favours_sentence(evidence: ScoreEvidence) -> str:
    """The model to whose answers it is shown to be kinder, or harder, than to the others'."""
    worst = None if (found := evidence[FAVOURS]) is None else found.worst
    shown = worst is not None and worst.difference.excludes(0)
    return f"{stands_out(found, others='models')}." if shown else ""


def further(evidence: ScoreEvidence) -> list[str]:
    """What is said below the checks where it is known: the cut, a map, versions, stand-ins."""
    said = []
    cut, recalibration = evidence.cut, evidence.recalibration
    # A judge that says pass or fail itself has no other cut, and no scale to repair.
    if not evidence.table.says_pass:
        said += [] if isinstance(cut, Unknown) else [cut_answer(cut)]
        if not isinstance(recalibration, Unknown) and recalibration.helps:
            said.append(map_answer(recalibration))
    if evidence[BY_MODEL].within is not None:
        said.append(by_model_answer(evidence[BY_MODEL]))
    said += [versions_answer(a, b, one) for (a, b), one in evidence.versions.items()]
    if evidence.alternative.omega is not None:
        blind = evidence.follows.constant is not None or evidence.who.is_reference is False
        said.append(alternative_answer(evidence.alternative, constant=blind))
    lines = [f"{each.headline.rstrip('.')} ({each.figures})." for each in said]
    return [*filter(None, [one_person_sentence(evidence), favours_sentence(evidence)]), *lines]


ERRORS_OF_ONE = (0.05, 0.10)
"""Shares of wrong verdicts of one person, of which it is said what they do to a judge."""


def one_person_sentence(evidence: ScoreEvidence) -> str:
    """What a judge that is always right would do beside a person who errs; of a judge that is shown
    not to find passes or fails by one person's standard, else empty.

    The person passes a share q and errs on a share e, so p = (q − e)/(1 − 2e) pass in truth; a
    judge without errors has TPR = p(1 − e)/q and TNR = (1 − p)(1 − e)/(1 − q). Source: ours,
    docs/verdicts.md.
    """
    q = evidence.passing.always_pass
    if not evidence.who.one or not evidence.table.says_pass or q is None:
        return ""
    if all(check.result(evidence).grade != "fail" for check in (TNR, TPR)):
        return ""
    said = []
    for e in ERRORS_OF_ONE:
        p = (q - e) / (1 - 2 * e)
        if 0 < p < 1:
            passes, fails = p * (1 - e) / q, (1 - p) * (1 - e) / (1 - q)
            said.append((percent(e), percent(fails), percent(passes)))
    if not said:
        return ""
    (first, fails_of, passes_of), *more = said
    others = "".join(f"; of one who errs on {e}, {fails} and {passes}" for e, fails, passes in more)
    return (
        f"A judge that is always right would fail {fails_of} of what a person failed who errs on "
        f"{first}, and pass {passes_of} of what that person passed{others}."
    )


def confidence_sentences(evidence: ScoreEvidence) -> list[str]:
    """The reliability diagram in words, and the TH-Score at its middle ε.

    "Right by stated confidence: 99 % of 203 at 0.85, 100 % of 183 at 0.95."
    """
    calibration, scores = evidence[CALIBRATION], evidence[TH]
    if calibration is None:
        return []
    bins = [
        f"{percent(right.value)} of {n:,} at {number(stated, '.2f')}"
        for stated, right, n in zip(
            calibration.reliability.confidence,
            calibration.reliability.accuracy,
            calibration.reliability.n,
            strict=True,
        )
        if n
    ]
    said = [f"Right by stated confidence: {', '.join(bins)}."]
    if scores:
        middle = scores[len(scores) // 2]
        right = f", right in {share(middle.accuracy)}" if middle.n else ""
        said.append(
            f"TH-Score {number(middle.th.value, '.2f')} at ε {middle.epsilon:g}: "
            f"{percent(middle.share)} of its verdicts are that sure{right}."
        )
    return said


SURE_BY = {
    "stated": "the confidence that it states",
    "repeats": "the share of its runs behind a verdict",
    "distance": "the distance of a score from the one that passes",
}
"""What says how sure a verdict is."""


def alone_sentences(alone: Alone, error: float) -> list[str]:
    """What it may decide alone at the error that is asked about, then at the others, and by
    verdict.

    "Alone: 38 % of the answers at ≤ 10 % error, from 0.944 up (45 of 577 wrong, at most 9.9 %); 62
    % to a person."
    """
    if alone.reason == NO_PASS_MARK:
        return []
    if alone.reason is not None:
        return [f"Alone: nothing is promised, as {alone.reason}."]
    by = f"Sureness is {SURE_BY[alone.by or 'stated']}."
    said = []
    if alone.shares:
        first = next(one for one in alone.shares if one.error == error)
        rule: dict[str, Any] = {"blind": alone.blind, "blind_from": alone.blind_from}
        said.append(f"Alone: {alone_at(first, **rule)}")
        others = "; ".join(in_short(one, **rule) for one in alone.shares if one.error != error)
        said.append(f"Alone at other errors: {others}.")
    sides = {
        name: next(one for one in of if one.error == error)
        for name, of in alone.of_verdict.items()
        if of
    }
    shares = [
        f"{'passes' if name == 'pass' else 'fails'} "
        + ("nothing" if one.threshold is None else f"{percent(one.share)}, from {at_least(one)}")
        for name, one in sides.items()
    ]
    if shares:
        said.append(
            f"Alone by verdict, each at ≤ {percent(error)} error: it {'; it '.join(shares)}. {by}"
        )
    return said


def second_look_sentences(found: SecondLook) -> list[str]:
    """Whose errors they were, and the share right that this gives.

    "Of 60 looked at again 23 were the person's error (38 %; 27–51)."
    """
    said = []
    wrong = found.people_wrong
    if wrong is not None:
        said.append(
            f"Of {count(found.looked, 'disagreement')} looked at again "
            f"{round(wrong.value * found.looked):,} were the people's error ({share(wrong)})."
        )
    if found.taken_out:
        said.append(
            f"Left out, as nobody can say who is right: {count(found.taken_out, 'answer')}."
        )
    as_labelled = f"as labelled {percent(found.as_labelled)}"
    if found.right is not None:
        said.append(
            f"Right by the second look, weighed with {count(found.agreements, 'agreement')}: "
            f"{share(found.right)}; {as_labelled}. The other "
            "figures are by the labels as they were."
        )
    elif found.most is not None:
        said.append(
            f"Right by the second look: at most {percent(found.most)} ({as_labelled}), as "
            "errors that both made are not seen without agreements looked at."
        )
    return said


LEFT_OUT = (
    Column("person left out", "person", TEXT),
    Column("n", "n", ",d", "answers that the person, the judge and another person judged"),
    Column(
        "judge as near", "judge_wins", ".3f", "share of answers: the judge is as near or nearer"
    ),
    Column("person as near", "person_wins", ".3f", "share of answers: the person is"),
    Column("p", "p_value", ".4f", "of the person being better by ε or more"),
    Column("won", lambda one: _won(one), TEXT, "by Benjamini and Yekutieli's rule at .05"),
)


def _won(person: LeftOut) -> str:
    return "yes" if person.won else "no"


RATER_PAIRS = (
    Column("rater", "first", TEXT),
    Column("beside", "second", TEXT),
    Column(
        "agreement", "agreement", ".3f", "κ weighted, r without one scale, share equal of labels"
    ),
    Column("bias", "bias", "+.3f", "first less second, share of the scale"),
    Column("answers", "n", ",d"),
)


def pair_sentence(pair: RaterPair) -> str:
    """Two raters in words, for a cell of the matrix."""
    if pair.agreement is None:
        return f"{count(pair.n, 'answer')}; agreement undefined"
    leaning = "" if pair.bias is None else f"; {differs(pair.bias, 'higher', 'lower')}"
    return f"{interval(pair.agreement)} on {count(pair.n, 'answer')}{leaning}"
