"""What the page Scores says: the cut, two versions, the map, and who may stand in for a person."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..checks.check import Unknown, differs, points_span, share_span
from ..scores.cut import Cut
from ..scores.pass_rate import PassRate
from ..scores.people import AltTest, LeftOut
from ..scores.raters import RaterPair
from ..scores.recalibration import ScoreRecalibration
from ..scores.versions import VersionDifference
from ..stats.estimate import Estimate
from ..wording import count, interval, number, percent
from .tables import TEXT, Column

if TYPE_CHECKING:
    from ..checks.score_evidence import ScoreEvidence


def cut_sentence(found: Cut | Unknown) -> str:
    """The cut and what it costs, beside passing and failing everything."""
    if isinstance(found, Unknown):
        return found.reason
    where = f"Pass from {found.cut:g} on" if math.isfinite(found.cut) else "Fail every answer"
    trivial = {"passing": found.pass_all.value, "failing": found.fail_all.value}
    best = min(trivial, key=trivial.__getitem__)
    said = (
        f"{where}: on answers that did not choose it, it costs {interval(found.cost)} per answer; "
        f"passing everything {number(found.pass_all.value, '.2f')}, failing everything "
        f"{number(found.fail_all.value, '.2f')}"
    )
    shown = "" if found.better else f" No cut is shown to beat {best} everything."
    return f"{said}.{shown}"


def cut_rates(found: Cut) -> str:
    """What the cut does with the answers of each class, on answers that did not choose it."""
    return (
        f"Passes {percent(found.tpr.value)} of what people passed ({share_span(found.tpr)}) · "
        f"fails {percent(found.tnr.value)} of what they failed ({share_span(found.tnr)})"
    )


def true_rate(found: PassRate) -> str:
    """The true pass rate beside the judge's, and what more labels would give."""
    if found.corrected is None:
        alone = "" if found.labels is None else f"By labels alone {_share(found.labels)} pass. "
        return f"{alone}Not corrected by the judge: {found.reason}."
    judge = "" if found.judge is None else f"; the judge says {percent(found.judge.value)}"
    more = max(found.to_halve - found.n_labelled, 0)
    saves = "" if found.saves else " The judge saves no labels here."
    return (
        f"{_share(found.corrected)} pass by people's standard{judge}. {count(more, 'more label')} "
        f"would halve the interval.{saves}"
    )


AS_RANDOM = (
    "The labels count as if they were drawn at random within the judge's passes and fails; where "
    "you chose them otherwise, the interval claims no more than that."
)


def _share(found: Estimate) -> str:
    return f"{percent(found.value)} ({share_span(found)})"


def versions_sentence(a: str, b: str, found: VersionDifference) -> str:
    """Version B beside version A, by people, and what the judge adds between them."""
    what = "passes" if found.of == "pass" else "scores"
    of_scale = "" if found.of == "pass" else " of the scale"

    def differ(one: Estimate) -> str:
        words = ("more often", "less often") if found.of == "pass" else ("higher", "lower")
        return f"{differs(one.value, *words)}{of_scale} ({points_span(one)})"

    best = found.difference or found.labels
    if best is None:
        said = f"No pair of answers of {a} and {b} has people's labels"
    else:
        open_ = "" if best.excludes(0) else ", which may be 0"
        said = f"{b} {what} {differ(best)} than {a}{open_}"
    if found.judge is not None:
        said += f"; as the judge sees it {differ(found.judge)}"
    if found.bias is not None:
        to = b if found.bias.value >= 0 else a
        shown = "it favours" if found.bias.excludes(0) else "it is not shown to favour"
        said += f". Beside people {shown} {to} ({points_span(found.bias)})"
    few = "" if found.reason is None else f" Judge and labels are not joined: {found.reason}."
    return f"{said}.{few}"


def map_sentence(found: ScoreRecalibration | Unknown) -> str:
    """Whether a map brings the scores nearer to people's, on answers that did not make it."""
    if isinstance(found, Unknown):
        return found.reason
    if found.change is None or found.error_before is None:
        return (
            "Judge and people are not on one scale: the map gives the share of people that passes, "
            f"off by {percent(found.error_after, 1)} (root mean square, held out)."
        )
    helps = found.helps
    verb = "brings" if helps else "is not shown to bring"
    leaning = ""
    if found.bias_before is not None:
        leaning = (
            f" Mean difference from people: {differs(found.bias_before, 'high', 'low')} before, "
            f"{differs(found.bias_after, 'high', 'low')} after."
        )
    return (
        f"A map {verb} its scores nearer to people's: {percent(found.error_before, 1)} of the "
        f"scale off before, {percent(found.error_after, 1)} after (root mean square, on "
        f"{count(found.n, 'answer')} that did not make the map).{leaning}"
    )


def alternative_sentence(found: AltTest) -> str:
    """The Alternative Annotator Test in words."""
    if found.omega is None or found.rho is None:
        return f"The Alternative Annotator Test is not made: {found.reason}."
    won = sum(person.won for person in found.people)
    may = "may" if found.passes else "may not"
    few = " With fewer than three people it says little." if found.few else ""
    return (
        f"Alternative Annotator Test: ω {found.omega:.2f}, ρ {found.rho:.2f}. It wins against "
        f"{won} of {len(found.people)} people given ε {found.epsilon:g}, so that it {may} take a "
        "person's place by that test; it is as near to the others as a left-out person in "
        f"{percent(found.rho)} of answers.{few}"
    )


def further(evidence: ScoreEvidence) -> list[str]:
    """What is said below the checks where it is known: the cut, a map, versions, stand-ins."""
    said = []
    if not isinstance(evidence.cut, Unknown):
        said.append(f"Cut: {cut_sentence(evidence.cut)} {cut_rates(evidence.cut)}.")
    if not isinstance(evidence.recalibration, Unknown) and evidence.recalibration.helps:
        said.append(map_sentence(evidence.recalibration))
    said += [versions_sentence(a, b, one) for (a, b), one in evidence.versions.items()]
    if evidence.alternative.omega is not None:
        said.append(alternative_sentence(evidence.alternative))
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
