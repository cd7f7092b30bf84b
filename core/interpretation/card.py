"""The first screen in words and numbers: a judge's verdict as a card, and what is drawn of all
judges.

A card is the verdict in one word, one sentence of what was found, and what to do about it. Every
number is the estimate of a check (`verdicts`), and the word follows from the grades alone
(`rules.overall`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..checks import BY_NAME, Rules
from ..checks.check import CheckResult, Limits
from ..checks.overall import Overall, OverallVerdict, checks_made, confidence_line, need_of
from ..stats.estimate import Estimate
from ..store.browse import Summary
from ..wording import number, percent, percent_span, points

if TYPE_CHECKING:
    from ..audit_results import JudgeAudit

WORDS: dict[OverallVerdict, str] = {
    "trust": "Trust",
    "trust_with_limits": "Trust with limits",
    "cannot_say": "Cannot say yet",
    "do_not_trust": "Do not trust",
}
"""The verdict as one reads it on a card."""

PEOPLE = "these are people's own votes, and nobody else labelled what they did"
ADD_JUDGES = (
    "Load the votes of judges on the same comparisons, or look at the Leaderboard that people make."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is said of one judge first: the verdict in a word and how much it rests on, what was
    found, and what to do.
    """

    judge: str
    verdict: OverallVerdict
    word: str
    made: str
    sentence: str
    advice: tuple[str, ...]


MANY_TIES = 0.10
"""Share of ties in gold from which the exact label stands beside half credit, which leaves ties
out.
"""


def card_of(judge: JudgeAudit) -> Card:
    """The card of one judge or person of an audit."""
    ties = judge.direction.gold_ties if judge.direction else 0.0
    return card(
        judge.judge,
        judge.overall,
        judge.checks,
        judge.position.flip_rate if judge.position else None,
        exact=judge.exact if ties >= MANY_TIES else None,
        person=judge.rater_type == "human",
    )


def card(
    judge: str,
    overall: Overall,
    results: Sequence[CheckResult],
    flips: Estimate | None,
    *,
    exact: Estimate | None = None,
    person: bool = False,
) -> Card:
    """The card of one judge.

    results : one per check.  flips : share of verdicts that change when the order is
        swapped.
    exact : share of gold's very labels, ties included, where it is to stand beside half credit.
    person : the votes are people's, by whom judges are measured where there is no gold.
    """
    of = {result.check: result for result in results}
    alone = person and of["accuracy"].interval is None and of["agreement"].interval is None
    parts = [PEOPLE if alone else _merit(of, exact), _order(flips), _stated(of["calibration"])]
    if of["category"].grade in ("warn", "fail"):
        parts.insert(1, of["category"].sentence.partition(" (")[0])
    found = "; ".join(parts)
    return Card(
        judge=judge,
        verdict=overall.verdict,
        word=WORDS[overall.verdict],
        made=checks_made(results),
        sentence=f"{found[0].upper()}{found[1:]}.",
        advice=(ADD_JUDGES,) if alone else tuple(dict.fromkeys(_advice(overall, of))),
    )


def _merit(of: Mapping[str, CheckResult], exact: Estimate | None) -> str:
    right = of["accuracy"].interval
    if right is not None:
        ends = f" ({percent_span(right)})" if right.has_interval else ""
        with_ties = f"; with gold's ties {percent(exact.value)} exactly" if exact else ""
        return (
            f"right on {percent(right.value)}{ends}, ties counting half, "
            f"{_beside_guessing(right)}{with_ties}"
        )
    if (people := of["agreement"].interval) is not None:
        if not people.excludes(0):
            return "not shown to agree with people more or less often than a person does"
        size = points(abs(people.value)).lstrip("+")
        more = "more" if people.value >= 0 else "less"
        return f"says what people say {size} points {more} often than a person"
    return "there are no gold labels to say how often it is right"


def _beside_guessing(right: Estimate) -> str:
    """A distance only where the interval shows one."""
    if not right.excludes(0.5):
        return "not shown to differ from guessing"
    side = "above" if right.value >= 0.5 else "below"
    return f"{abs(round(100 * right.value) - 50)} points {side} guessing"


def _order(flips: Estimate | None) -> str:
    if flips is None:
        return "never asked in both orders"
    return f"{percent(flips.value)} of verdicts change when the responses swap places"


def _stated(calibration: CheckResult) -> str:
    if calibration.estimate is None:
        return "no confidence with gold to check"
    if calibration.estimate.low <= 0:
        return "stated confidence is not shown to be off"
    return f"stated confidence is off by {number(100 * calibration.estimate.value, '.1f')} points"


def _advice(overall: Overall, of: Mapping[str, CheckResult]) -> list[str]:
    graded = [check for check in overall.because if of[check].grade in ("warn", "fail")]
    advice = [BY_NAME[check].advice for check in graded]
    for check in overall.because:
        if of[check].grade == "unknown":
            advice.append(f"Add {need_of(of[check])}.")
        elif of[check].grade == "unclear":
            more = "It sits at a limit: look at what errors cost"
            if of[check].more_items:
                more = f"Add about {need_of(of[check])}"
            advice.append(f"{more}, to settle whether {check.replace('_', ' ')} is good enough.")
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
        panel("Honest confidence", "confidence off by, points", "calibration", of("calibration")),
        panel(
            "Ignores order", "points for the one shown first", "position", of("position"), (0.0, "")
        ),
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
