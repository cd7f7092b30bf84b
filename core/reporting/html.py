"""An audit as one HTML file that needs nothing else: verdicts first, then tables, and figures
beside them.

It holds the audit's own numbers, each with all its digits; what needs votes beyond the audit is
left out rather than computed anew. Nothing depends on the clock or the machine: the same audit
gives the same bytes.

`report.html.j2` has the markup; text is escaped unless it was made there, and nothing is fetched
from any host. Here are the columns of its tables and what its sections hold.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..auditing.answers import headlines, page_answers
from ..auditing.card import card_of, panels
from ..auditing.figure import MOST_ROWS, evidence_strip
from ..auditing.overall import GRADE_OF, SIGNS, because, confidence_line, missing
from ..auditing.questions import findings_of
from ..auditing.results import Audit
from ..bounds import MOST_DRAWN
from ..finding.answer import Answer
from ..finding.check import Grade
from ..finding.figure import COLOURS, Theme, rater_styles, to_json
from ..finding.question import Folded, Heading, Paragraph, Picture
from ..finding.question import Part as NeutralPart
from ..finding.svg import svg, two_themes
from ..finding.tables import TEXT, Column
from ..finding.wording import number as written
from ..finding.wording import one_line
from ..questions.agreement.figure import control_figure
from ..questions.change.results import WORDS
from ..questions.scores.figure import levels_picture
from ..questions.versions.results import FIGURES
from ..stats.estimate import Estimate
from .document import options_of
from .text import beside_checks

if TYPE_CHECKING:
    from jinja2 import Template

    from ..finding.figure import Figure

Part = tuple[Any, ...]
"""A macro of the template and its arguments."""

PROBLEM: dict[Theme, str] = {"light": "#a84700", "dark": "#f0803c"}
"""Colour of words that warn: the figures' orange, on white as dark as text has to be (4.5 to 1)."""


def report(audit: Audit) -> str:
    """The file as text, to be written as UTF-8."""
    names = ", ".join(reading.name for reading in audit.readings) or ", ".join(
        audit.summary.datasets
    )
    said = page_answers(audit)
    placed: list[tuple[int, str, str, Callable[[Audit], Iterator[Part]]]] = [
        (0, "first", "The answer", first_parts),
        (10, "scores", "Judges of single answers", scores_parts),
        (25, "versions", "Versions compared", _compared),
        (30, "against", "Since the last audit", _against),
        (40, "series", "Over the files", _series),
        (50, "verdicts", "Verdicts", _verdicts),
        (60, "judges", "Judges", _judges),
        (150, "notes", "Notes", _notes),
        (160, "options", "Options and input", _provenance),
    ]
    answered = {}
    for question, found in findings_of(audit.judges):
        key = question.page or question.name
        shown = partial(_parts, question.section, found)
        placed.append((question.section_place, key, question.title, shown))
    for finding in audit.findings:
        for section in finding.question.of_all.sections:
            shown = partial(_parts, section.parts, finding)
            placed.append((section.place, section.key, section.title, shown))
            answered[section.key] = section.page or section.key
    parts_of: dict[tuple[str, str], list[Part]] = {}
    for _, key, title, make in sorted(placed, key=itemgetter(0)):
        parts_of.setdefault((key, title), []).extend(make(audit))
    sections = [
        (key, title, [*_said(said.get(answered.get(key, key))), *parts])
        for (key, title), parts in parts_of.items()
        if parts
    ]
    return made_file(f"Audit of {names}", _top(audit), sections)


def made_file(
    title: str,
    top: Sequence[tuple[str, ...]],
    sections: Sequence[tuple[str, str, Sequence[Part]]],
    *,
    brief: bool = False,
) -> str:
    """The file of these sections: no script, and nothing that is fetched.

    brief : printed on two pages.
    """
    return _template().render(
        title=title,
        top=top,
        sections=sections,
        brief=brief,
        **{
            theme: asdict(COLOURS[theme]) | {"problem": problem}
            for theme, problem in PROBLEM.items()
        },
    )


def _parts(
    made: Callable[[Any], Iterator[NeutralPart]], found: Any, audit: Audit
) -> Iterator[Part]:
    """What a question shows of what it found."""
    for part in made(found):
        if isinstance(part, Picture):
            yield one_figure(part.draw, part.caption, audit if part.styled else None)
        elif isinstance(part, Heading):
            yield "words", "h3", part.words
        elif isinstance(part, Paragraph):
            yield "words", "p", part.words
        elif isinstance(part, Folded):
            tables = [(name, part.columns, rows) for name, rows in part.tables]
            yield "folded", part.caption, tables
        else:
            yield "table", part.caption, part.columns, part.rows


def _said(answer: Answer | None) -> Iterator[Part]:
    if answer is not None:
        yield "words", "p", answer.headline, "answer"
        if answer.figures:
            yield "words", "p", answer.figures


def markup(words: object) -> Markup:
    """Text from anywhere as harmless markup; line breaks and what cannot be printed become
    spaces.
    """
    return words if isinstance(words, Markup) else Markup(html.escape(one_line(str(words))))


def number_markup(value: float | None, form: str = ".3f") -> Markup:
    """A number as it is read, with all its digits in the `value` of its element; unknown
    is a dash.
    """
    if value is None or not math.isfinite(value):
        return Markup("–")
    return Markup(f'<data value="{float(value)!r}">{written(value, form)}</data>')


def p_value(p: float | None) -> Markup:
    """As the verdicts print it: three digits, and the far tail as such."""
    if p is None or not p < 0.001:
        return number_markup(p, ".3g")
    return Markup(f'<data value="{float(p)!r}">&lt; .001</data>')


def cell(column: Column, row: object) -> Markup:
    """A row's value in a column: an estimate with its interval, a number with all its digits, or
    text.
    """
    found = column.of(row)
    if column.form == "p" and not isinstance(found, str | Estimate):
        return p_value(found)
    if isinstance(found, Estimate):
        value, low, high = (
            number_markup(one, column.form) for one in (found.value, found.low, found.high)
        )
        known = (
            math.isfinite(found.value) and math.isfinite(found.low) and math.isfinite(found.high)
        )
        return Markup(f"{value} <small>({low} to {high})</small>") if known else value
    if isinstance(found, str) or found is None or column.form.endswith("d"):
        return markup(column.text(row))
    return number_markup(found, column.form)


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=markup,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["cell"] = cell
    return environment.get_template("report.html.j2")


WIDTH, NARROW = 672, 358
"""Pixels of a figure on a screen and on a phone, which gets a drawing of its own."""
STRIP = 1088


def one_figure(
    make: Callable[..., Figure],
    alt: str,
    audit: Audit | None = None,
    *,
    narrow: Callable[..., Figure] | None = None,
    width: int = WIDTH,
) -> Part:
    """What `make` gives in both themes, with the styles of the audit's judges where that is given.

    narrow : the figure for a phone, where it is another one.
    """
    drawn = []
    for make_one, broad in ((make, width), (narrow or make, NARROW)):
        both = []
        for theme in PROBLEM:
            raters = {judge.judge: judge.rater_type for judge in audit.judges} if audit else {}
            styles = {"styles": rater_styles(raters, theme=theme)} if audit else {}
            fig = json.loads(to_json(make_one(theme=theme, **styles)))
            both.append(svg(fig, width=broad, alt=one_line(alt)))
        drawn += [Markup(part) for part in two_themes(*both)]
    return "figure", *drawn


def _top(audit: Audit) -> list[tuple[str, ...]]:
    found = audit.summary
    raters = "1 rater" if len(found.judges) == 1 else f"{len(found.judges):,} raters"
    unread = sum(reading.n_unread for reading in audit.readings)
    counted = (
        f"{raters}, {found.votes:,} votes on {found.comparisons:,} comparisons of {found.items:,} "
        f"items; {found.unparsed:,} outputs without a vote, "
        f"{sum(reading.n_rejected for reading in audit.readings):,} rejected "
        f"rows{f', {unread:,} confidences that could not be read' if unread else ''}. Intervals "
        f"are at {100 * audit.options.level:g} %."
    )
    simulated = [("Simulated demo data: these judges and models do not exist.", "simulated")]
    return [(headlines(audit), "answer"), *(simulated if found.simulated else []), (counted,)]


JUDGE = Column("judge", "judge", TEXT)
VERDICTS = (
    Column("check", "check", TEXT),
    Column("grade", lambda one: _graded(one.grade), TEXT),
    Column("finding", "sentence", TEXT),
)


def _graded(grade: Grade) -> Markup:
    return _sign(grade, grade)


CHECKED = (
    Column("judge", lambda row: row[0].judge, TEXT),
    Column("verdict", lambda row: _sign(GRADE_OF[row[0].verdict], row[0].word), TEXT),
    Column("found", lambda row: row[0].said.figures, TEXT),
    Column("what to do", lambda row: " ".join(row[0].advice), TEXT),
)


def first_parts(audit: Audit) -> Iterator[Part]:
    """The decision card of the best judge, the evidence as a picture, and a row per judge on one
    page.
    """
    if not audit.judges:
        return
    people = [person.judge for person in audit.people]
    order = [judge.judge for judge in audit.judges]
    cards = [card_of(judge) for judge in audit.judges]
    best = card_of(audit.judges[0], audit.judges)
    grade = GRADE_OF[best.verdict]
    word = f"{SIGNS[grade]} {best.word}: {best.judge} ({best.made})"
    yield "words", "p", word, f"card grade-{grade}"
    yield "words", "p", best.said.headline
    yield "words", "p", best.said.figures
    if best.advice:
        yield "words", "p", f"What to do: {' '.join(best.advice)}"
    rows = [name for name in order if name not in people][:MOST_ROWS] or order[:MOST_ROWS]
    evidence = panels(audit.checks, audit.options.rules)
    drawn = partial(
        evidence_strip,
        evidence,
        people=[name for name in people if name not in rows],
        chosen=rows[0],
    )
    if any(panel.values for panel in evidence):
        yield one_figure(
            partial(drawn, rows),
            "Evidence for each judge, the best first",
            narrow=partial(drawn, rows[:1], narrow=True),
            width=STRIP,
        )
    if len(cards) > 1:
        yield "table", "All raters, the best judge first", CHECKED, [(one,) for one in cards]


def _sign(grade: Grade, word: str) -> Markup:
    return Markup(f'<span class="grade-{grade}">{SIGNS[grade]} {word}</span>')


def _verdicts(audit: Audit) -> Iterator[Part]:
    """Every check of each judge; of people only where they alone voted."""
    for judge in audit.asked_about:
        grade = GRADE_OF[judge.overall.verdict]
        verdict = because(judge.judge, judge.overall, judge.checks)
        words = f"{verdict} {confidence_line(judge.checks)}"
        yield "words", "h3", f"{SIGNS[grade]} {words}", f"grade-{grade}"
        yield "table", "", VERDICTS, judge.checks


def scores_parts(audit: Audit, *, answered: bool = False) -> Iterator[Part]:
    """The best first: the verdict, what was found, and every check, or those that are answered."""
    for place, scores in enumerate(audit.scores):
        grade = GRADE_OF[scores.overall.verdict]
        words = because(scores.whose, scores.overall, scores.checks)
        yield "words", "h3", f"{SIGNS[grade]} {words}", f"grade-{grade}"
        yield "words", "p", scores.headline
        if scores.figures:
            yield "words", "p", scores.figures
        checks = [one for one in scores.checks if not answered or one.grade != "unknown"]
        yield "table", "", VERDICTS, checks
        for sentence in beside_checks(audit, scores):
            yield "words", "p", sentence
        if place < MOST_DRAWN and (picture := levels_picture(scores.evidence, scores.whose)):
            yield from drawn(picture)


def drawn(picture: Picture, audit: Audit | None = None) -> Iterator[Part]:
    """A picture below what it shows."""
    yield "words", "p", picture.caption
    yield one_figure(picture.draw, picture.caption, audit)


RATERS = (
    JUDGE,
    Column("kind", "rater_type", TEXT),
    Column("votes", "votes.n", ",d"),
    Column("A", "votes.plus", ",d"),
    Column("tie", "votes.tie", ",d"),
    Column("B", "votes.minus", ",d"),
    Column("no vote", "votes.failed", ",d"),
    Column("right", "accuracy"),
    Column("exact", "exact"),
    Column("best constant", "confusion.constant"),
    Column("ECE", "calibration.ece"),
    Column("flip rate", "position.flip_rate.value"),
    Column("ICC(3,k)", "repeatability.icc_3_k.value"),
)


def _judges(audit: Audit) -> Iterator[Part]:
    yield "table", "Raters", RATERS, audit.judges


COMPARED = (
    Column("figure", lambda row: FIGURES[row.figure], TEXT),
    Column("older", "old"),
    Column("newer", "new"),
    Column("difference", "difference", "+.3f", ends=("low", "high")),
    Column("items", "difference.n", ",d"),
    Column("note", "reason", TEXT, optional=True),
)


def _compared(audit: Audit) -> Iterator[Part]:
    for each in audit.comparisons:
        yield "listed", each.sentences()
        yield "table", f"{each.old} and {each.whose}", COMPARED, each.figures


def _against(audit: Audit) -> Iterator[Part]:
    if audit.against is not None:
        yield "listed", audit.against.sentences()


CHARTS = (
    Column("judge", "judge", TEXT),
    Column("figure", lambda chart: WORDS[chart.measure], TEXT),
    Column("first four files", "usual"),
    Column("newest, change", lambda chart: chart.change[-1], "+.3f"),
    Column("moving average", lambda chart: chart.average[-1], "+.3f"),
    Column("limit", lambda chart: chart.limit[-1]),
    Column("items", "n_items", ",d"),
    Column("way", "way", TEXT),
)
MOST_CHARTS = 6


def _series(audit: Audit) -> Iterator[Part]:
    series = audit.series
    if series is None:
        return
    yield "listed", series.sentences()
    if not series.known:
        return
    accuracies = [chart for chart in series.known if chart.measure == "accuracy"]
    for chart in list(dict.fromkeys([*series.left, *accuracies]))[:MOST_CHARTS]:
        title = f"{chart.judge}: {WORDS[chart.measure]} over {len(chart.files)} files"
        files = [series.files[place] for place in chart.files]
        yield one_figure(partial(control_figure, chart, files), title, audit)
    yield "table", "Control charts", CHARTS, series.known


def _notes(audit: Audit) -> Iterator[Part]:
    if notes := [*missing(audit.checks), *audit.notes]:
        yield "listed", notes


FILES = (
    Column("name", "name", TEXT),
    Column("format", "format", TEXT),
    Column("rows", "rows", ",d"),
    Column("votes", "n_read", ",d"),
    Column("rejected", "n_rejected", ",d"),
    Column("without confidence", "n_unread", ",d"),
    Column("sha256", "sha256", TEXT),
)
OPTIONS = (Column("option", itemgetter(0), TEXT), Column("value", itemgetter(1), TEXT))


def _provenance(audit: Audit) -> Iterator[Part]:
    """What was read, byte for byte, and with which options, so that anyone can make the
    file again.
    """
    if audit.readings:
        yield "table", "Files", FILES, audit.readings
    else:
        yield "words", "p", f"Data sets of the store: {', '.join(audit.summary.datasets)}."
    yield "table", "Options", OPTIONS, list(_flat(options_of(audit)))


def _flat(options: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name} ")
        else:
            words = (
                value
                if isinstance(value, str)
                else json.dumps(value, ensure_ascii=False, default=str)
            )
            yield prefix + name, words
