"""The first screen in words and numbers: a judge's verdict as a card, and what is drawn of all
judges.

A card is the verdict in one word, a headline with its figures, and what to do about it. Every
number is the estimate of a check (`verdicts`), and the word follows from the grades alone
(`rules.overall`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..finding.answer import Answer, Found, bad, difference, good, line, longest, measured, share
from ..finding.check import CheckResult, Limits
from ..finding.wording import count, enumerated, percent
from ..questions.accuracy.check import BLIND
from ..questions.accuracy.results import DIRECTION, EXACT
from ..stats.estimate import Estimate
from ..store.browse import Summary
from .checks import BY_NAME, Rules
from .overall import Overall, OverallVerdict, checks_made, confidence_line, what_to_do

if TYPE_CHECKING:
    from .results import JudgeAudit

PEOPLE = "People's own votes: nobody else labelled what they judged."
ADD_JUDGES = (
    "Load the votes of judges on the same comparisons, or look at the Leaderboard that people make."
)
NEARLY_ALWAYS = 0.9
"""A judge whose accuracy is shown to reach this is right nearly always; below, mostly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is said of one judge first: the verdict in a word and how much it rests on, the headline
    and its figures, and what to do.
    """

    judge: str
    verdict: OverallVerdict
    word: str
    made: str
    said: Answer
    advice: tuple[str, ...]


MANY_TIES = 0.10
"""Share of ties in gold from which the exact label stands beside half credit, which leaves ties
out.
"""


def card_of(judge: JudgeAudit, others: Sequence[JudgeAudit] = ()) -> Card:
    """The card of one judge or person of an audit.

    others : of all judges, if this is the one to use, so that it says which must not be.
    """
    towards = judge[DIRECTION]
    ties = towards.gold_ties if towards else 0.0
    refused = {
        other.judge: other.overall.word
        for other in others
        if other.judge != judge.judge
        and other.rater_type != "human"
        and other.overall.verdict == "do_not_trust"
    }
    return card(
        judge.judge,
        judge.overall,
        judge.checks,
        [part for finding in judge.findings for part in finding.question.figures(finding)],
        exact=judge[EXACT] if ties >= MANY_TIES else None,
        person=judge.rater_type == "human",
        refused=refused,
    )


def card(
    judge: str,
    overall: Overall,
    results: Sequence[CheckResult],
    figures: Sequence[str | None] = (),
    *,
    exact: Estimate | None = None,
    person: bool = False,
    refused: Mapping[str, str] | None = None,
) -> Card:
    """The card of one judge.

    results : one per check.  figures : what questions add to the line of figures.
    exact : share of gold's very labels, ties included, where it is to stand beside half credit.
    person : the votes are people's, by whom judges are measured where there is no gold.
    refused : other judges not to be trusted → the words of their cards, named where there is room.
    """
    of = {result.check: result for result in results}
    alone = person and of["accuracy"].interval is None and of["agreement"].interval is None
    headline = PEOPLE if alone else _headline(judge, overall, of, exact is not None, refused or {})
    return Card(
        judge=judge,
        verdict=overall.verdict,
        word=overall.word,
        made=checks_made(results),
        said=Answer(
            headline=headline, figures=_figures(of, figures, exact), good=overall.verdict == "trust"
        ),
        advice=(ADD_JUDGES,) if alone else tuple(dict.fromkeys(_advice(overall, of))),
    )


def _headline(
    judge: str, overall: Overall, of: Found, ties: bool, refused: Mapping[str, str]
) -> str:
    """What to do with a judge and why, from grades alone; whom not to use where there is room."""
    fine = [part for part in (_merit(of, ties), _order(of), _honest(of)) if part]
    graver = sorted(overall.because, key=lambda check: BY_NAME[check].gravity)
    faults = list(dict.fromkeys(said for check in graver if (said := _fault(check, of))))
    off = str(BY_NAME["calibration"].fault)
    if bad(of["overconfidence"]) and off in faults:
        faults.remove(off)
    lead = f"{overall.word}: "
    if overall.verdict == "do_not_trust":
        first = [f"{lead}{judge} {' and '.join(faults[:n])}." for n in (2, 1)]
    elif overall.verdict == "cannot_say":
        first = [f"{lead}{_nothing_said(judge, of, faults)}."]
    elif overall.verdict == "trust_with_limits" and faults:
        parts = [(fine[:2], faults[:2]), (fine[:1], faults[:2]), (fine[:1], faults[:1])]
        first = [f"{lead}{judge} {_but(well, ill)}" for well, ill in parts]
    else:
        first = [f"{lead}{judge} {enumerated(fine[:n])}." for n in (3, 2, 1)]
    if not refused:
        return longest(first, [judge])
    words = {*refused.values()}
    word = words.pop() if len(words) == 1 else "Not for decisions"
    others = f"{word}: {next(iter(refused)) if len(refused) == 1 else f'{len(refused)} others'}."
    return longest(
        [f"{first[0]} {others}", *(f"{one} {others}" for one in first), *first], [judge, *refused]
    )


def _nothing_said(judge: str, of: Found, faults: Sequence[str]) -> str:
    """Why no verdict can be given yet."""
    known = of["accuracy"].interval or of["agreement"].interval
    cause = of["accuracy"].fault
    if cause is not None:
        return f"{judge} {cause}"
    if known is None:
        return BY_NAME["accuracy"].not_known.replace(" it ", f" {judge} ")
    if BLIND in faults:
        return f"{judge} {BLIND}"
    if of["accuracy"].interval is None:
        return f"{judge} {BY_NAME['agreement'].not_shown}"
    if good(of["accuracy"]):
        return f"of {judge} nothing is known but how often it is right"
    return f"{judge} {BY_NAME['accuracy'].not_shown}"


def _but(well: Sequence[str], ill: Sequence[str]) -> str:
    faults = " and ".join(ill)
    return f"{enumerated(well)}, but {faults}." if well else f"{faults}."


def _merit(of: Found, ties: bool) -> str:
    """How right it is shown to be; empty where that is not."""
    right, people = of["accuracy"], of["agreement"]
    if good(right) and right.interval is not None:
        often = "nearly always" if right.interval.low >= NEARLY_ALWAYS else "mostly"
        return f"is {often} right{' where gold decides' if ties and bad(of['ties']) else ''}"
    if right.interval is not None and right.interval.low > 0.5:
        return "is better than a coin"
    if right.interval is None and good(people):
        return "agrees with people as people do"
    return ""


def _order(of: Found) -> str:
    return "ignores order" if good(of["position"]) and good(of["stability"]) else ""


def _honest(of: Found) -> str:
    checks = ("calibration", "overconfidence", "discrimination")
    return "is honest about doubt" if all(good(of[check]) for check in checks) else ""


def _fault(check: str, of: Found) -> str:
    """What a check holds against a judge, in a few words; empty where it is fine."""
    result = of[check]
    found = result.interval
    enough = result.limits.caution if result.limits is not None else math.inf
    graver = not good(result) and result.grade not in ("unknown", "unclear")
    if check == "accuracy" and graver and found is not None and found.low >= enough:
        # Right often enough, and no more often than a rule that reads nothing.
        return BLIND
    return BY_NAME[check].said(result)


def _figures(of: Found, figures: Sequence[str | None], exact: Estimate | None) -> str:
    right, people, off = (of[name].interval for name in ("accuracy", "agreement", "calibration"))
    parts: list[str | None] = []
    if exact is not None:
        parts.append(f"right label {percent(exact.value)}")
    if right is not None:
        parts.append(f"{'where gold decides' if exact else 'right'} {share(right)}")
    elif people is not None:
        parts.append(f"beside people {difference(people, unit=' points')}")
    parts += figures
    if off is not None:
        parts.append(f"confidence off {measured(off, 1, 100).replace(' (', ' points (')}")
    n = next((found.n for found in (right, people, off) if found is not None), 0)
    return line([*parts, count(n, "item") if n else None])


def _advice(overall: Overall, of: Mapping[str, CheckResult]) -> list[str]:
    advice = what_to_do(overall, of)
    if overall.verdict == "trust":
        advice.append("Use it, and repeat the audit when judge, prompt or models change.")
        advice.append(confidence_line(list(of.values())))
    return advice


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Panel:
    """One question of the evidence strip: an estimate of each judge that has one, and the limits.

    scale : numbers are drawn times this.  reference : a line and what it is.
    empty : what to add where no judge has an estimate.
    """

    title: str
    axis: str
    values: Mapping[str, Estimate]
    limits: Limits
    scale: float
    reference: tuple[float, str] | None
    empty: str


def panels(results: Sequence[CheckResult], rules: Rules) -> tuple[Panel, ...]:
    """Right, honest about confidence, ignores order, repeats itself; without gold the first is
    people's.

    Values are the estimates of the checks.
    """

    def of(check: str) -> dict[str, Estimate]:
        return {
            r.judge: estimate
            for r in results
            if r.check == check and (estimate := r.interval) is not None
        }

    def panel(
        title: str, axis: str, check: str, values: Mapping[str, Estimate], *line: tuple[float, str]
    ) -> Panel:
        limits = rules.limits[check]
        return Panel(
            title=title,
            axis=axis,
            values=values,
            limits=limits,
            scale=1.0 if limits.unit == "number" else 100.0,
            reference=line[0] if line else None,
            empty=f"Add {BY_NAME[check].needs}",
        )

    right, people = of("accuracy"), of("agreement")
    merit = panel("Right", "share right, %", "accuracy", right, (0.5, "guessing"))
    if not right and people:
        line = (0.0, "a person")
        merit = panel("Agrees with people", "points beyond a person", "agreement", people, line)
    return (
        merit,
        panel("Honest confidence", "off by, points", "calibration", of("calibration")),
        panel("Ignores order", "points for the first", "position", of("position"), (0.0, "")),
        panel("Repeats itself", "reliability, 0 to 1", "repeatability", of("repeatability")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What share of the votes has something that checks need, and how to add it."""

    name: str
    share: float
    how: str


def holdings(found: Summary, *, by_people: bool = False) -> tuple[Holding, ...]:
    """Gold, order, confidence and repeats of a selection: shares of its votes, of its judges for
    repeats.

    by_people : gold is the majority of people's votes, which nobody gave as a right label.
    """
    judges, votes = found.judges, max(found.votes, 1)

    def holding(name: str, n: int, of: int, how: str) -> Holding:
        return Holding(name=name, share=n / max(of, 1), how=how)

    return (
        holding(
            "gold by people's majority" if by_people else "gold",
            sum(one.labelled for one in judges),
            votes,
            "Add a column gold with the right label of each comparison, or a second file with "
            "gold alone.",
        ),
        holding(
            "order",
            sum(one.with_position for one in judges),
            votes,
            "Add a column position: which response was shown first (ab or ba); ask in both orders.",
        ),
        holding(
            "confidence",
            sum(one.with_confidence for one in judges),
            votes,
            "Add a column confidence, 0 to 1, with each vote.",
        ),
        holding(
            "repeats",
            sum(one.runs > 1 for one in judges),
            len(judges),
            "Ask the same more than once, and number the times in a column run.",
        ),
    )
