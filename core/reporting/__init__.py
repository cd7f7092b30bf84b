"""An audit as one HTML file that needs nothing else: verdicts first, then tables, and figures beside them.

It holds the audit's own numbers, each with all its digits; what needs votes beyond the audit is left out
rather than computed anew. Nothing depends on the clock or the machine: the same audit gives the same bytes.
"""

from __future__ import annotations

from ..auditing import Audit
from ..interpretation.verdicts import WORDS, Grade, answer, missing, overall
from . import html as sections
from .html import Html, page, section, table, tag

SIGNS: dict[Grade, str] = {"ok": "✓", "warn": "!", "fail": "✗", "unknown": "?"}


def report(audit: Audit) -> str:
    """The file as text, to be written as UTF-8."""
    names = ", ".join(reading.name for reading in audit.readings) or ", ".join(audit.summary.datasets)
    parts = [
        ("verdicts", "Verdicts", (*_verdicts(audit),)),
        ("judges", "Judges", sections.judges(audit)),
        ("calibration", "Calibration", sections.calibration(audit)),
        ("position", "Position bias", sections.position(audit)),
        ("confusion", "Confusion", sections.confusion(audit)),
        ("aggregation", "Aggregation", sections.aggregation(audit)),
        ("agreement", "Repeatability and agreement", sections.agreement(audit)),
        ("leaderboards", "Leaderboards", sections.leaderboards(audit)),
        ("notes", "Notes", _notes(audit)),
        ("options", "Options and input", sections.provenance(audit)),
    ]
    return page(
        f"Audit of {names}", _top(audit), [(key, title, section(key, title, *x)) for key, title, x in parts]
    )


def _top(audit: Audit) -> Html:
    found = audit.summary
    raters = "1 rater" if len(found.judges) == 1 else f"{len(found.judges):,} raters"
    counted = (
        f"{raters}, {found.votes:,} votes on {found.comparisons:,} comparisons of {found.items:,} items; "
        f"{found.unparsed:,} outputs without a vote, "
        f"{sum(reading.rejects.num_rows for reading in audit.readings):,} rejected rows. "
        f"Intervals are at {100 * audit.options.level:g} %."
    )
    simulated = "Simulated demo data: these judges and models do not exist."
    return Html(
        tag("p", answer(audit.verdicts), kind="answer")
        + (tag("p", simulated, kind="simulated") if found.simulated else "")
        + tag("p", counted)
    )


def _verdicts(audit: Audit) -> list[Html]:
    parts = []
    for judge in audit.judges:
        own = [verdict for verdict in audit.verdicts if verdict.judge == judge.judge]
        rows = [
            (
                verdict.check,
                tag("span", f"{SIGNS[verdict.verdict]} {verdict.verdict}", kind=f"grade-{verdict.verdict}"),
                verdict.sentence,
            )
            for verdict in own
        ]
        grade = overall(own)
        parts += [
            tag("h3", f"{SIGNS[grade]} {judge.judge} {WORDS[grade][0]}", kind=f"grade-{grade}"),
            table("", ("check", "grade", "finding"), rows, texts=("grade", "finding")),
        ]
    return parts


def _notes(audit: Audit) -> list[Html]:
    listed = [*missing(audit.verdicts), *audit.notes]
    return [Html(f"<ul>{''.join(tag('li', sections.text(note)) for note in listed)}</ul>")] if listed else []
