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
from xml.etree import ElementTree

from ..audit_results import Audit
from ..errors import InvalidOption
from ..interpretation.format import one_line
from ..interpretation.summary import OVERALL_WORDS, SIGNS, answer, because
from ..interpretation.tables import field_of
from ..interpretation.verdicts import CHECKS, GRADES, Verdict
from .text import METRICS

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Fail when `metric` `sign` `limit` holds, of its size if `size`."""

    metric: str
    sign: str
    limit: float
    size: bool = False

    def __str__(self) -> str:
        return f"{self.named}{self.sign}{self.limit:g}"

    @property
    def named(self) -> str:
        """The metric as it was written: `ece` or `abs(bias_decided)`."""
        return f"abs({self.metric})" if self.size else self.metric

    def failures(self, audit: Audit) -> list[str]:
        """One sentence per judge that fails; an unknown value fails too, and is named."""
        found = []
        for judge in audit.judges:
            value = field_of(judge, METRICS[self.metric])
            if value is None or math.isnan(value):
                found.append(f"{self}: {judge.judge} has no {self.metric}.")
                continue
            value = abs(value) if self.size else value
            if OPERATORS[self.sign](value, self.limit):
                found.append(f"{self}: {judge.judge} has {self.named} {value:.6g}.")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictGate:
    """Fail when a check, or the overall verdict, is this or worse.

    strict : `unclear` fails like `fail`, and `cannot_say` like `do_not_trust`.
    """

    check: str
    verdict: str
    strict: bool = False

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
        found: list[tuple[str, str]] = [
            (v.judge, v.verdict) for v in audit.verdicts if v.check == self.check
        ]
        if self.check == "overall":
            found = [(judge, one.verdict) for judge, one in audit.overall.items()]
        return [f"{self}: {judge} is {given}." for judge, given in found if given in failing]


def parse_gate(text: str, *, strict: bool = False) -> Gate | VerdictGate:
    """Read `ece>0.1`, `abs(bias_decided)>0.1`, `position=fail` or `overall=do_not_trust`.

    Raises InvalidOption with what is allowed.
    """
    named = re.fullmatch(r"\s*(\w+)\s*=\s*(\w+)\s*", text)
    if named:
        check, verdict = named.groups()
        if check not in (*CHECKS, "overall"):
            raise InvalidOption(
                f"--fail-if {text!r}: there is no check {check!r}; choose from overall, "
                f"{', '.join(CHECKS)}."
            )
        allowed = (
            ("cannot_say", "do_not_trust", "trust_with_limits")
            if check == "overall"
            else GRADES[1:]
        )
        if verdict not in allowed:
            raise InvalidOption(f"--fail-if {text!r}: {verdict!r} is none of {', '.join(allowed)}.")
        return VerdictGate(check=check, verdict=verdict, strict=strict)
    match = re.fullmatch(r"\s*(abs\()?\s*(\w+)\s*(\))?\s*(<=|>=|<|>)\s*(\S+)\s*", text)
    if match is None or bool(match[1]) != bool(match[3]):
        raise InvalidOption(
            f"--fail-if {text!r}: write it as METRIC>NUMBER, with < <= > or >=, such as ece>0.1 or "
            "abs(bias_decided)>0.1, or as CHECK=VERDICT, such as position=fail or "
            "overall=do_not_trust."
        )
    size, metric, _, sign, limit = match.groups()
    if metric not in METRICS:
        raise InvalidOption(
            f"--fail-if {text!r}: there is no metric {metric!r}; choose from {', '.join(METRICS)}."
        )
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise InvalidOption(f"--fail-if {text!r}: {limit!r} is not a number.")
    return Gate(metric=metric, sign=sign, limit=number, size=bool(size))


def strict_gates() -> list[VerdictGate]:
    """What `--strict` alone fails on: any check that fails or is unclear, any judge not known to be
    good.
    """
    return [
        VerdictGate(check="overall", verdict="do_not_trust", strict=True),
        *(VerdictGate(check=check, verdict="fail", strict=True) for check in CHECKS),
    ]


def failed_gates(audit: Audit, gates: Sequence[Gate | VerdictGate]) -> list[str]:
    """One sentence for each judge and gate that fails."""
    return [sentence for gate in gates for sentence in gate.failures(audit)]


def to_junit(audit: Audit, *, strict: bool = False) -> str:
    """JUnit XML: a test suite per judge, a test case per check.

    `fail` is a failure, as is `unclear` if `strict`; `unknown` is skipped. The sentence of every
    check stands in its output, and the overall verdict is a case of its own.
    """
    root = ElementTree.Element("testsuites", name="appellate audit")
    for judge in audit.judges:
        checks = [v for v in audit.verdicts if v.judge == judge.judge]
        found = audit.overall[judge.judge]
        sentence = because(judge.judge, found, checks)
        bad = {"do_not_trust", "cannot_say"} if strict else {"do_not_trust"}
        cases = [("overall", "fail" if found.verdict in bad else "ok", sentence)]
        cases += [
            (v.check, "fail" if strict and v.verdict == "unclear" else v.verdict, v.sentence)
            for v in checks
        ]
        failures = sum(grade == "fail" for _, grade, _ in cases)
        skipped = sum(grade == "unknown" for _, grade, _ in cases)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=one_line(judge.judge),
            tests=str(len(cases)),
            failures=str(failures),
            errors="0",
            skipped=str(skipped),
        )
        for check, grade, text in cases:
            case = ElementTree.SubElement(
                suite, "testcase", classname=one_line(judge.judge), name=check
            )
            if grade in ("fail", "unknown"):
                kind = "failure" if grade == "fail" else "skipped"
                ElementTree.SubElement(case, kind, message=one_line(text))
            ElementTree.SubElement(case, "system-out").text = one_line(text)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def to_markdown(audit: Audit) -> str:
    """A summary for a pull request: the answer, a row per judge with a sign per check, and every
    finding.
    """
    lines = ["## Audit of judges", "", _escaped(answer(audit.verdicts, audit.overall)), ""]
    lines.append(
        "| judge | verdict | " + " | ".join(check.replace("_", " ") for check in CHECKS) + " |"
    )
    lines.append("|---|---|" + ":-:|" * len(CHECKS))
    for judge, found in audit.overall.items():
        signs = {v.check: SIGNS[v.verdict] for v in audit.verdicts if v.judge == judge}
        cells = " | ".join(signs.get(check, "") for check in CHECKS)
        lines.append(f"| {_escaped(judge)} | {found.verdict.replace('_', ' ')} | {cells} |")
    lines += ["", "✓ ok · ! needs care · ✗ fails · ~ unclear · ? not known", ""]
    for grade in ("fail", "warn"):
        lines += [_finding(v) for v in audit.verdicts if v.verdict == grade]
    return "\n".join(lines).rstrip() + "\n"


def _finding(found: Verdict) -> str:
    check = found.check.replace("_", " ")
    return (
        f"- {SIGNS[found.verdict]} **{_escaped(found.judge)}**, {check}: {_escaped(found.sentence)}"
    )


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
