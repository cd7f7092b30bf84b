"""The first screen in words and numbers: a judge's verdict as a card, and what is drawn of all
judges.

A card is the verdict in one word, one sentence of what was found, and what to do about it. Every
number is the estimate of a check (`verdicts`), and the word follows from the grades alone
(`rules.overall`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..stats.estimate import Estimate
from ..store.browse import Summary
from .format import number, percent, percent_span, points
from .rules import CONFIDENCE_CHECKS, Limits, Overall, OverallVerdict, Rules
from .summary import NEEDS, confidence_line, need_of
from .verdicts import Verdict

WORDS: dict[OverallVerdict, str] = {
    "trust": "Trust",
    "trust_with_limits": "Trust with limits",
    "cannot_say": "Cannot say yet",
    "do_not_trust": "Do not trust",
}
"""The verdict as one reads it on a card."""

ADVICE = {
    "accuracy": (
        "Do not decide by its verdicts alone: compare it with another judge, or change its prompt."
    ),
    "position": "Ask in both orders and take the majority: one order alone favours a place.",
    "stability": "Ask in both orders and take the majority.",
    "confidence": "Do not use its stated confidence as it is: recalibrate it, or leave it out.",
    "repeatability": "Ask several times and take the majority: one vote is a draw of luck.",
    "agreement": (
        "Let people decide where it matters: it says less often than a person what people say."
    ),
    "ties": "Turn its votes into labels with calibrated votes: its share of ties is not gold's.",
    "length": "Compare models whose responses are of like length, or control for length.",
    "own_family": "Judge models of its own family with a judge of another family.",
    "robustness": (
        "Keep it from responses that may be written for it: a sentence in one moves its verdicts."
    ),
    "data": "Find out why outputs have no verdict before you count the others.",
}
"""What to do where a check warns or fails; the three checks of confidence share one line."""

CHECK_NAMES = {
    "accuracy": "right",
    "position": "position",
    "stability": "order",
    "calibration": "calibrated",
    "overconfidence": "overconfident",
    "discrimination": "separates",
    "repeatability": "repeats",
    "agreement": "agreement",
    "ties": "ties",
    "length": "length",
    "own_family": "own family",
    "robustness": "robust",
    "data": "data",
}
"""Checks as the head of a column."""


PEOPLE = "these are people's own votes, and nobody else labelled what they did"
ADD_JUDGES = (
    "Load the votes of judges on the same comparisons, or look at the Leaderboard that people make."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is said of one judge first: the verdict in a word, what was found, and what to do."""

    judge: str
    verdict: OverallVerdict
    word: str
    sentence: str
    advice: tuple[str, ...]


def card(
    judge: str,
    overall: Overall,
    checks: Sequence[Verdict],
    flips: Estimate | None,
    *,
    person: bool = False,
) -> Card:
    """The card of one judge.

    checks : its verdicts, one per check.  flips : share of verdicts that change when the order is
        swapped.
    person : the votes are people's, by whom judges are measured where there is no gold.
    """
    of = {verdict.check: verdict for verdict in checks}
    alone = person and of["accuracy"].interval is None and of["agreement"].interval is None
    found = "; ".join([PEOPLE if alone else _merit(of), _order(flips), _stated(of["calibration"])])
    return Card(
        judge=judge,
        verdict=overall.verdict,
        word=WORDS[overall.verdict],
        sentence=f"{found[0].upper()}{found[1:]}.",
        advice=(ADD_JUDGES,) if alone else tuple(dict.fromkeys(_advice(overall, of))),
    )


def _merit(of: Mapping[str, Verdict]) -> str:
    right = of["accuracy"].interval
    if right is not None:
        ends = f" ({percent_span(right)})" if right.has_interval else ""
        return (
            f"right on {percent(right.value)}{ends}, ties counting half, {_beside_guessing(right)}"
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


def _stated(calibration: Verdict) -> str:
    if calibration.estimate is None:
        return "no confidence with gold to check"
    if calibration.low is not None and calibration.low <= 0:
        return "stated confidence is not shown to be off"
    return f"stated confidence is off by {number(100 * calibration.estimate, '.1f')} points"


def _advice(overall: Overall, of: Mapping[str, Verdict]) -> list[str]:
    graded = [check for check in overall.because if of[check].verdict in ("warn", "fail")]
    said = [ADVICE["confidence" if check in CONFIDENCE_CHECKS else check] for check in graded]
    for check in overall.because:
        if of[check].verdict == "unknown" and check in NEEDS:
            said.append(f"Add {need_of(of[check])}.")
        elif of[check].verdict == "unclear":
            lacking = of[check].more_items and check in NEEDS
            more = "It sits at a limit: look at what errors cost"
            if lacking:
                more = f"Add about {need_of(of[check])}"
            said.append(f"{more}, to settle whether {check.replace('_', ' ')} is good enough.")
    if overall.verdict == "trust":
        said.append("Use it, and repeat the audit when judge, prompt or models change.")
        said.append(confidence_line(list(of.values())))
    return said


def ranked(verdicts: Sequence[Verdict], people: Collection[str] = ()) -> list[str]:
    """Judges by the low end of their accuracy, best first; without gold by that of agreement with
    people.

    Those of whom neither is known follow in the order given. Of people alone, the people.
    """
    names = list(dict.fromkeys(verdict.judge for verdict in verdicts))
    candidates = [name for name in names if name not in people] or names
    low = {
        check: {v.judge: v.low for v in verdicts if v.check == check and v.low is not None}
        for check in ("accuracy", "agreement")
    }

    def key(name: str) -> tuple[float, float]:
        return tuple(-of.get(name, -math.inf) for of in low.values())  # type: ignore[return-value]

    return sorted(candidates, key=key)


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


def panels(verdicts: Sequence[Verdict], rules: Rules) -> tuple[Panel, ...]:
    """Right, honest about confidence, ignores order, repeats itself; without gold the first is
    people's.

    Values are the estimates of the checks.
    """

    def of(check: str) -> dict[str, Estimate]:
        return {
            v.judge: found
            for v in verdicts
            if v.check == check and (found := v.interval) is not None
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
            empty=f"Add {NEEDS[check]}",
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
