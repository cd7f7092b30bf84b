"""An audit for a build server: JUnit XML of checks and gates, and Markdown for a pull request."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from datetime import date
from xml.etree import ElementTree

from ..auditing.answers import overview_answer
from ..auditing.checks import BY_NAME, CHECKS, SCORE_CHECKS
from ..auditing.overall import GRADE_OF, SIGNS, Overall, because
from ..auditing.results import Audit
from ..finding.check import Check, CheckResult
from ..finding.wording import count, one_line, target
from ..questions.scores.card import said_of
from ..questions.scores.evidence import ScoreEvidence
from .text import gates


def to_junit(audit: Audit) -> str:
    """JUnit XML: a test suite per judge (people as for gates), a test case per check.

    `fail` is a failure, and `unknown` is skipped. The sentence of every check stands in its output,
    and the overall verdict is a case of its own. Gates are the last suite, `gates`, a case for
    each.
    """
    root = ElementTree.Element("testsuites", name="appellate audit")
    for judge in audit.asked_about:
        _suite(root, judge.judge, judge.overall, judge.checks)
    for scores in audit.scores:
        _suite(root, scores.whose, scores.overall, scores.checks)
    if audit.gates:
        cases = [
            (
                result.gate,
                "ok" if result.passed else "fail",
                " ".join(result.reasons) or f"{result.gate}: no judge fails.",
            )
            for result in audit.gates
        ]
        _cases(root, "gates", cases)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(
    root: ElementTree.Element, name: str, overall: Overall, checks: Sequence[CheckResult]
) -> None:
    """The test suite of one judge."""
    verdict = "fail" if overall.verdict == "do_not_trust" else "ok"
    cases = [("overall", verdict, because(name, overall, checks))]
    cases += [(result.check, result.grade, result.sentence) for result in checks]
    _cases(root, name, cases)


def _cases(root: ElementTree.Element, name: str, cases: Sequence[tuple[str, str, str]]) -> None:
    """A test suite; of each case its name, its grade and what is said of it."""
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
        case = ElementTree.SubElement(
            suite, "testcase", classname=one_line(name), name=one_line(check)
        )
        if grade in ("fail", "unknown"):
            kind = "failure" if grade == "fail" else "skipped"
            ElementTree.SubElement(case, kind, message=one_line(text))
        ElementTree.SubElement(case, "system-out").text = one_line(text)


def to_markdown(audit: Audit, *, made: date | None = None) -> str:
    """A summary for a pull request: which judge to use, what was audited, a row per judge from the
    best to the worst with a sign per check, and every finding.

    made : the day, if it is to stand there.
    """
    lines = ["## Audit of judges", ""]
    for compared in audit.comparisons:
        first, *others = map(_escaped, compared.sentences())
        lines += [f"**{first}**", "", *others, ""]
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
    if audit.gates:
        title, tested = gates(audit)
        lines += [f"**{title}**", ""]
        lines += [*(f"- {SIGNS[grade]} {_escaped(line)}" for grade, line in tested), ""]
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
        cells = "".join(f" {of.get(check.name, '')} |" for check in shown)
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
