"""An audit for a build server: gates that fail it, JUnit XML of the checks, Markdown for a pull
request.
"""

from __future__ import annotations

import html
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from xml.etree import ElementTree

from ..auditing.answers import overview_answer
from ..auditing.checks import BY_NAME, CHECKS, SCORE_CHECKS
from ..auditing.overall import GRADE_OF, OVERALL_WORDS, SIGNS, Overall, because
from ..auditing.results import Audit
from ..errors import InvalidOption
from ..finding.check import GRADES, Check, CheckResult
from ..finding.tables import field_of
from ..finding.wording import count, one_line, target
from ..questions.change.files import COMPARED
from ..questions.scores.card import said_of
from ..questions.scores.evidence import ScoreEvidence
from ..stats.estimate import Estimate
from .text import METRICS

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


SCORE_METRICS: dict[str, Callable[[ScoreEvidence], float | None]] = {
    "tpr": lambda evidence: _value(evidence.passing.tpr),
    "tnr": lambda evidence: _value(evidence.passing.tnr),
    "association": lambda evidence: _value(evidence.agreement.association),
    "kappa_weighted": lambda evidence: _value(evidence.agreement.kappa_weighted),
    "auroc": lambda evidence: _value(evidence.agreement.auroc),
    "bias": lambda evidence: _value(evidence.leniency.points),
    "pass_rate.corrected": lambda evidence: _value(evidence.pass_rate.corrected),
    "pass_rate.judge": lambda evidence: _value(evidence.pass_rate.judge),
}
"""What a gate can test of scores, each that of the JSON document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Fail when `metric` `sign` `limit` holds, of its size if `size`.

    of : the metric that was scored, for a figure of scores; without it the worst has to pass.
    """

    metric: str
    sign: str
    limit: float
    size: bool = False
    of: str | None = None

    def __str__(self) -> str:
        return f"{self.named}{self.sign}{self.limit:g}"

    @property
    def named(self) -> str:
        """The metric as it was written: `ece` or `abs(bias_decided)`."""
        metric = self.metric if self.of is None else f"{self.metric}[{self.of}]"
        return f"abs({metric})" if self.size else metric

    def failures(self, audit: Audit) -> list[str]:
        """One sentence per judge that fails; an unknown value fails too, and is named."""
        found = []
        if self.metric in METRICS:
            values = [
                (judge.judge, field_of(judge, METRICS[self.metric])) for judge in audit.asked_about
            ]
        else:
            values = [
                (scores.whose, SCORE_METRICS[self.metric](scores.evidence))
                for scores in audit.scores
                if self.of in (None, scores.metric)
            ]
        if not values:
            found.append(f"{self}: nothing in the audit has {self.named}.")
        for judge, value in values:
            if value is None or math.isnan(value):
                found.append(f"{self}: {judge} has no {self.metric}.")
                continue
            value = abs(value) if self.size else value
            if OPERATORS[self.sign](value, self.limit):
                found.append(f"{self}: {judge} has {self.named} {value:.6g}.")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictGate:
    """Fail when a check, or the overall verdict, is this or worse.

    strict : `unclear` fails like `fail`, and `cannot_say` like `do_not_trust`.
    exactly : only this one fails, not what is worse.
    """

    check: str
    verdict: str
    strict: bool = False
    exactly: bool = False

    def __str__(self) -> str:
        return f"{self.check}={self.verdict}"

    def failures(self, audit: Audit) -> list[str]:
        """One sentence per judge that fails."""
        order: tuple[str, ...] = tuple(OVERALL_WORDS) if self.check == "overall" else GRADES
        failing = set(order[order.index(self.verdict) :])
        if self.strict:
            failing |= {"cannot_say"} if self.check == "overall" else {"unclear"}
        elif self.verdict != "unclear":
            failing -= {"unclear", "unknown"} - {self.verdict}
        if self.exactly:
            failing = {self.verdict}
        results = [result for judge in audit.asked_about for result in judge.checks]
        results += [result for scores in audit.scores for result in scores.checks]
        given: list[tuple[str, str]] = [
            (result.whose, result.grade) for result in results if result.check == self.check
        ]
        if self.check == "overall":
            given = [(judge.judge, judge.overall.verdict) for judge in audit.asked_about]
            given += [(scores.whose, scores.overall.verdict) for scores in audit.scores]
        return [f"{self}: {judge} is {word}." for judge, word in given if word in failing]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftGate:
    """Fail when a measure of a judge is shown to rise, or to fall, on items that an older audit has
    too.
    """

    measure: str
    way: str

    def __str__(self) -> str:
        return f"{self.measure} {self.way}"

    def failures(self, audit: Audit) -> list[str]:
        """One sentence per judge that fails; what cannot be compared fails too, and is named.

        Raises InvalidOption: there is no older audit.
        """
        if audit.against is None:
            raise InvalidOption(f"--fail-if {str(self)!r}: name the last audit with --against.")
        found = []
        compared = [each for each in audit.against.shifts if each.measure == self.measure]
        if not compared:
            found.append(f"{self}: no judge is in both audits.")
        for each in compared:
            change = each.judge_change
            if change is None or each.way is None:
                found.append(f"{self}: {each.judge} cannot be compared: {each.reason}.")
            elif each.way == self.way:
                found.append(
                    f"{self}: {each.judge} has {each.new:.3f} after {each.old:.3f} "
                    f"({100 * change.low:+.1f} to {100 * change.high:+.1f} points)."
                )
        return found


def parse_gate(text: str, *, strict: bool = False) -> Gate | VerdictGate | ShiftGate:
    """Read `ece>0.1`, `abs(bias_decided)>0.1`, `position=fail`, `overall=do_not_trust` or
    `accuracy falls`.

    Raises InvalidOption with what is allowed.
    """
    moving = re.fullmatch(r"\s*(\w+)\s+(rises|falls)\s*", text)
    if moving:
        if moving[1] not in COMPARED:
            raise InvalidOption(
                f"--fail-if {text!r}: {moving[1]!r} is not compared; choose from "
                f"{', '.join(COMPARED)}."
            )
        return ShiftGate(measure=moving[1], way=moving[2])
    named = re.fullmatch(r"\s*(\w+)\s*=\s*(\w+)\s*", text)
    if named:
        check, verdict = named.groups()
        if check not in (*BY_NAME, "overall"):
            raise InvalidOption(
                f"--fail-if {text!r}: there is no check {check!r}; choose from overall, "
                f"{', '.join(BY_NAME)}."
            )
        allowed = (
            ("cannot_say", "do_not_trust", "trust_with_limits")
            if check == "overall"
            else GRADES[1:]
        )
        if verdict not in allowed:
            raise InvalidOption(f"--fail-if {text!r}: {verdict!r} is none of {', '.join(allowed)}.")
        return VerdictGate(check=check, verdict=verdict, strict=strict)
    match = re.fullmatch(
        r"\s*(abs\()?\s*([\w.]+)(?:\[([^\]]+)\])?\s*(\))?\s*(<=|>=|<|>)\s*(\S+)\s*", text
    )
    if match is None or bool(match[1]) != bool(match[4]):
        raise InvalidOption(
            f"--fail-if {text!r}: write it as METRIC>NUMBER, with < <= > or >=, such as ece>0.1 or "
            "abs(bias_decided)>0.1, or as CHECK=VERDICT, such as position=fail or "
            "overall=do_not_trust, or, with --against, as accuracy falls."
        )
    size, metric, of, _, sign, limit = match.groups()
    if metric not in METRICS and metric not in SCORE_METRICS:
        raise InvalidOption(
            f"--fail-if {text!r}: there is no metric {metric!r}; choose from {', '.join(METRICS)}, "
            f"or of scores from {', '.join(SCORE_METRICS)}."
        )
    if of is not None and metric not in SCORE_METRICS:
        raise InvalidOption(
            f"--fail-if {text!r}: only figures of scores have a metric in brackets: "
            f"{', '.join(SCORE_METRICS)}."
        )
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise InvalidOption(f"--fail-if {text!r}: {limit!r} is not a number.")
    return Gate(metric=metric, sign=sign, limit=number, size=bool(size), of=of)


def strict_gates() -> list[VerdictGate]:
    """What `--strict` alone fails on: any check that fails or is unclear, an unknown accuracy, any
    judge not known to be good.
    """
    return [
        VerdictGate(check="overall", verdict="do_not_trust", strict=True),
        *(
            VerdictGate(check=check.name, verdict="fail", strict=True)
            for check in (*CHECKS, *SCORE_CHECKS)
        ),
        VerdictGate(check="accuracy", verdict="unknown", exactly=True),
    ]


def failed_gates(audit: Audit, gates: Sequence[Gate | VerdictGate | ShiftGate]) -> list[str]:
    """One sentence for each judge and gate that fails."""
    return [sentence for gate in gates for sentence in gate.failures(audit)]


def to_junit(audit: Audit, *, strict: bool = False) -> str:
    """JUnit XML: a test suite per judge (people as for gates), a test case per check.

    `fail` is a failure; if `strict`, so are `unclear` and an unknown accuracy. Otherwise `unknown`
    is skipped. The sentence of every check stands in its output, and the overall verdict is a case
    of its own.
    """
    root = ElementTree.Element("testsuites", name="appellate audit")
    for judge in audit.asked_about:
        _suite(root, judge.judge, judge.overall, judge.checks, strict=strict)
    for scores in audit.scores:
        _suite(root, scores.whose, scores.overall, scores.checks, strict=strict)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(
    root: ElementTree.Element,
    name: str,
    overall: Overall,
    checks: Sequence[CheckResult],
    *,
    strict: bool,
) -> None:
    """The test suite of one judge."""
    bad = {"do_not_trust", "cannot_say"} if strict else {"do_not_trust"}
    verdict = "fail" if overall.verdict in bad else "ok"
    cases = [("overall", verdict, because(name, overall, checks))]
    cases += [
        (result.check, "fail" if strict and _not_known(result) else result.grade, result.sentence)
        for result in checks
    ]
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=one_line(name),
        tests=str(len(cases)),
        failures=str(sum(grade == "fail" for _, grade, _ in cases)),
        errors="0",
        skipped=str(sum(grade == "unknown" for _, grade, _ in cases)),
    )
    for check, grade, text in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=one_line(name), name=check)
        if grade in ("fail", "unknown"):
            kind = "failure" if grade == "fail" else "skipped"
            ElementTree.SubElement(case, kind, message=one_line(text))
        ElementTree.SubElement(case, "system-out").text = one_line(text)


def _not_known(result: CheckResult) -> bool:
    """What fails `--strict` beside failures, as `strict_gates` has it."""
    return result.grade == "unclear" or (result.check == "accuracy" and result.grade == "unknown")


def to_markdown(audit: Audit, *, made: date | None = None) -> str:
    """A summary for a pull request: which judge to use, what was audited, a row per judge from the
    best to the worst with a sign per check, and every finding.

    made : the day, if it is to stand there.
    """
    lines = ["## Audit of judges", ""]
    if audit.judges:
        said = overview_answer(audit)
        lines += [f"**{_escaped(said.headline)}**", "", _escaped(said.figures), ""]
        for title, raters in (("judge", audit.without_people), ("person", audit.people)):
            rows = [(rater.judge, rater.overall, rater.checks, rater.votes.n) for rater in raters]
            lines += _matrix(CHECKS, rows, title)
    if audit.scores:
        lines += [_escaped(said_of(scores).headline) for scores in audit.scores]
        lines += [""]
        lines += _matrix(
            SCORE_CHECKS,
            [(s.whose, s.overall, s.checks, _scored(s.evidence)) for s in audit.scores],
            "judge",
        )
    for moved in (audit.against, audit.series):
        if moved is not None:
            lines += [*(f"- {_escaped(each)}" for each in moved.sentences()), ""]
    lines += [_audited(audit, made), ""]
    results = [*audit.checks, *(result for scores in audit.scores for result in scores.checks)]
    for grade in ("fail", "warn"):
        lines += [_finding(result) for result in results if result.grade == grade]
    return "\n".join(lines).rstrip() + "\n"


def _scored(evidence: ScoreEvidence) -> int:
    """Answers that a judge scored."""
    return sum(not math.isnan(score) for score in evidence.table.judge.tolist())


def _audited(audit: Audit, made: date | None) -> str:
    """How much was audited, when, and what the signs mean."""
    found = audit.summary
    parts = [
        f"{count(found.votes, 'vote')} on {count(found.items, 'item')}" if found.votes else "",
        made.isoformat() if made else "",
        f"intervals: {target(audit.options.level)}",
        "✓ ok",
        "! needs care",
        "✗ fails",
        "~ unclear",
        "? not known",
        "simulated" if found.simulated else "",
    ]
    return " · ".join(filter(None, parts))


def _matrix(
    checks: Sequence[Check],
    judges: Sequence[tuple[str, Overall, Sequence[CheckResult], int]],
    title: str,
) -> list[str]:
    """A table with a row per judge and a sign per check; what is known of nobody has no column.

    judges : name, overall verdict, results, and how much each judged.
    """
    if not judges:
        return []
    known = {
        result.check
        for _, _, results, _ in judges
        for result in results
        if result.grade != "unknown"
    }
    shown = [check for check in checks if check.name in known]
    heads = "".join(f" {check.name.replace('_', ' ')} |" for check in shown)
    lines = [f"| {title} | verdict | n |{heads}", "|---|---|--:|" + ":-:|" * len(shown)]
    for judge, overall, results, n in judges:
        of = {result.check: SIGNS[result.grade] for result in results}
        cells = "".join(f" {of[check.name]} |" for check in shown)
        verdict = f"{SIGNS[GRADE_OF[overall.verdict]]} {overall.verdict.replace('_', ' ')}"
        lines.append(f"| {_escaped(judge)} | {verdict} | {n:,} |{cells}")
    return [*lines, ""]


def _finding(result: CheckResult) -> str:
    check = BY_NAME[result.check].words
    who = _escaped(result.whose)
    return f"- {SIGNS[result.grade]} **{who}**, {check}: {_escaped(result.sentence)}"


_REFERENCES = re.compile(r"(?<=[@#!$&%~])(?=\w)|(?<=://)|(?<=www\.)|(?<=\bGH-)", re.IGNORECASE)
_HASH = re.compile(r"\b(?=[0-9]*[a-f])[0-9a-f]{7,64}\b", re.IGNORECASE)
"""Where a host of code would begin a mention, the number of an issue, a link or a commit's hash: in
the page that it makes of the Markdown, so that no mark of Markdown's own keeps it from it.
"""
_NOTHING = "\u200b"


def _escaped(text: str) -> str:
    """Text from votes in Markdown: no markup, no HTML, no mention of a user, issue or address."""
    split = _HASH.sub(lambda run: re.sub("(.{6})", rf"\1{_NOTHING}", run.group()), one_line(text))
    plain = html.escape(_REFERENCES.sub(_NOTHING, split), quote=False)
    return re.sub(r"([\\`*_{}\[\]()#+!|~@>-])", r"\\\1", plain)
