"""An audit as a notebook shows it: the answer, a bar per judge, and a sign per check.

Plain HTML with inline SVG: no script, no library, and every text of the file escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..auditing.answers import headlines
from ..auditing.checks import CHECKS, SCORE_CHECKS
from ..auditing.overall import GRADE_OF, SIGNS
from ..auditing.results import Audit, JudgeAudit
from ..finding.check import Check, CheckResult
from ..finding.wording import one_line, percent, target
from ..questions.accuracy.results import CREDIT
from ..questions.scores.audited import ScoreAudit
from ..stats.estimate import Estimate

MOST_BYTES = 20_000
"""Size of the HTML, which a notebook keeps in its file."""
MOST_JUDGES = 20
"""Judges that are drawn, and rows of the table."""
NAME, HEADLINE, SENTENCE = 40, 900, 90
"""Characters that are shown of a judge's name, of the answer, and of a sentence in a hover text."""
COLOURS = {
    "ok": "#2e7d32",
    "warn": "#b26a00",
    "fail": "#c62828",
    "unclear": "#5c6bc0",
    "unknown": "#757575",
}
BAR, ROW, LEFT = 300, 20, 190


def to_html(audit: Audit) -> str:
    """The answer, a picture and the table of checks in under `MOST_BYTES` bytes."""
    judges = audit.judges[:MOST_JUDGES]
    # Sentences as hover texts are what can be spared, then rows.
    for length in (SENTENCE, 0):
        html = _page(audit, judges, length)
        if len(html.encode()) < MOST_BYTES:
            return html
    while len(html.encode()) >= MOST_BYTES:
        judges = judges[: len(judges) // 2]
        html = _page(audit, judges, 0)
    return html


def _page(audit: Audit, judges: tuple[JudgeAudit, ...], length: int) -> str:
    scores = audit.scores[: max(MOST_JUDGES - len(judges), 0)]
    left_out = len(audit.judges) - len(judges)
    more = f"<p>… and {left_out:,} more judges; to_frame() has all.</p>" if left_out else ""
    signs = "✓ ok · ! needs care · ✗ fails · ~ unclear · ? not known"
    return (
        f"<div><p><b>{_text(headlines(audit), HEADLINE)}</b></p>"
        f"{_picture(judges)}{_table(CHECKS, judges, length) if judges else ''}{more}"
        f"{_table(SCORE_CHECKS, scores, length) if scores else ''}"
        f"<p>{signs} · intervals: {target(audit.options.level)}</p></div>"
    )


def _text(text: str, most: int) -> str:
    line = one_line(text)
    return escape(line if len(line) <= most else f"{line[: most - 1]}…")


def _picture(judges: tuple[JudgeAudit, ...]) -> str:
    """A bar per judge of its accuracy with the interval; empty where none has one."""
    drawn = [(judge, right) for judge in judges if (right := judge[CREDIT]) is not None]
    if not drawn:
        return ""
    height = ROW * (len(drawn) + 1)
    rows = "".join(
        _bar(judge, accuracy, ROW * (place + 1)) for place, (judge, accuracy) in enumerate(drawn)
    )
    middle = LEFT + BAR // 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{LEFT + BAR + 60}" '
        f'height="{height}" font-family="sans-serif" font-size="12" fill="currentColor">'
        "<title>Accuracy of each judge on decided gold, half credit for ties</title>"
        f'<text x="{LEFT}" y="13">Right, of 100 %; the line is at 50 %</text>{rows}'
        f'<line x1="{middle}" x2="{middle}" y1="{ROW}" y2="{height}" stroke="currentColor" '
        'stroke-dasharray="3"/></svg>'
    )


def _bar(judge: JudgeAudit, accuracy: Estimate, y: int) -> str:
    colour = COLOURS[GRADE_OF[judge.overall.verdict]]
    middle, width = y + ROW // 2, round(BAR * accuracy.value, 1)
    ends = ""
    if accuracy.has_interval:
        low, high = (round(LEFT + BAR * end, 1) for end in (accuracy.low, accuracy.high))
        ends = (
            f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}" stroke="currentColor" '
            'stroke-width="2"/>'
        )
    return (
        f'<text x="0" y="{middle + 4}">{_text(judge.judge, LEFT // 8)}</text>'
        f'<rect x="{LEFT}" y="{y + 4}" width="{width}" height="{ROW - 8}" fill="{colour}" '
        f'fill-opacity="0.5"/>{ends}'
        f'<text x="{LEFT + BAR + 6}" y="{middle + 4}">{percent(accuracy.value)}</text>'
    )


def _table(checks: Sequence[Check], judges: Sequence[JudgeAudit | ScoreAudit], length: int) -> str:
    """A row per check and a column per judge would be wide: a row per judge, a sign per check."""
    asked = {result.check for judge in judges for result in judge.checks}
    shown = [check.name for check in checks if check.name in asked]
    names = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in shown)
    return (
        f"<table><thead><tr><th>judge</th><th>verdict</th>{names}</tr></thead><tbody>"
        + "".join(_row(judge, shown, length) for judge in judges)
        + "</tbody></table>"
    )


def _cell(result: CheckResult | None, length: int) -> str:
    """A sign, empty where the judge was not asked."""
    if result is None:
        return "<td></td>"
    title = f' title="{_text(result.sentence, length)}"' if length else ""
    return f'<td{title} style="color:{COLOURS[result.grade]}">{SIGNS[result.grade]}</td>'


def _row(judge: JudgeAudit | ScoreAudit, shown: Sequence[str], length: int) -> str:
    of = {result.check: result for result in judge.checks}
    cells = "".join(_cell(of.get(name), length) for name in shown)
    verdict = judge.overall.verdict.replace("_", " ")
    name = judge.whose if isinstance(judge, ScoreAudit) else judge.judge
    return f"<tr><td>{_text(name, NAME)}</td><td>{verdict}</td>{cells}</tr>"
