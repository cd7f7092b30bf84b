"""An audit as text for a terminal: which judge to use first, then verdicts, then tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

from ..auditing.answers import overview_answer, page_answers
from ..auditing.card import card_of
from ..auditing.overall import GRADE_OF, SIGNS, because, confidence_line
from ..auditing.questions import findings_of
from ..auditing.results import Audit, JudgeAudit
from ..finding.check import Grade
from ..finding.question import Table
from ..finding.tables import TEXT, Column
from ..finding.wording import count, one_line, target
from ..places import NAMES
from ..questions.confidence.results import ALONE, TH
from ..questions.confidence.words import alone_of_votes
from ..questions.scores.audited import ScoreAudit
from ..questions.scores.words import (
    alone_sentences,
    confidence_sentences,
    further,
    second_look_sentences,
)
from ..stats.estimate import Estimate

MOST_PASSED = 10
"""Gates that passed and are named one by one; `--strict` alone has more."""
MARKS_OF = {verdict: SIGNS[grade] for verdict, grade in GRADE_OF.items()}
MARKS = {"ok": "ok", "warn": "WARN", "fail": "FAIL", "unclear": "~", "unknown": "?"}

METRICS = {
    "ece": "calibration.ece",
    "ace": "calibration.ace",
    "mce": "calibration.mce",
    "brier": "calibration.brier",
    "nll": "calibration.nll",
    "accuracy": "accuracy.value",
    "exact": "exact.value",
    "bias_decided": "position.bias_decided.value",
    "flip_rate": "position.flip_rate.value",
    "icc_3_k": "repeatability.icc_3_k.value",
}
"""What a gate can test, and which field of a `JudgeAudit` it is."""


def _th(judge: JudgeAudit) -> str | None:
    scores = judge[TH]
    middle = scores[len(scores) // 2] if scores else None
    return f"{middle.th.value:.2f} ({middle.epsilon:g})" if middle else None


JUDGES = (
    Column("judge", "judge", TEXT),
    Column("votes", "votes.n", ",d"),
    Column("right", METRICS["accuracy"]),
    Column("exact", METRICS["exact"]),
    Column("ECE", METRICS["ece"]),
    Column("TH(ε)", _th),
    Column("bias decided", METRICS["bias_decided"]),
    Column("flips", METRICS["flip_rate"]),
    Column("pairs", "position.pairs", ",d"),
    Column("ICC(3,k)", METRICS["icc_3_k"]),
)


def to_text(audit: Audit) -> str:
    """Readable summary of an audit; control characters in names become spaces: text from votes is
    hostile.
    """
    lines = [*_compared(audit), *_first(audit), "", _counted(audit)]
    if not any(lines):
        lines = []
    lines += _gates(audit)
    for moved in (audit.against, audit.series):
        if moved is not None:
            lines += ["", *moved.sentences()]
    for scores in audit.scores:
        lines += ["", _score_headline(scores)]
        lines += [f"  {part}" for part in _said(scores)]
        lines += [
            f"  {MARKS[result.grade]:4}  {result.check:19}  {result.sentence}"
            for result in scores.checks
        ]
        lines += [f"  {sentence}" for sentence in beside_checks(audit, scores)]
    if lists := _above(audit):
        lines += ["", *lists] if lines else lists
    if not audit.summary.votes:
        lines += [*_of_all(audit), *_asked_tables(audit)]
        if audit.notes:
            lines += ["", "Notes", *(f"  {note}" for note in audit.notes)]
        return "\n".join(one_line(line) for line in lines)
    for judge in audit.judges:
        verdict = because(judge.judge, judge.overall, judge.checks)
        lines += ["", f"{verdict} {confidence_line(judge.checks)}"]
        lines += [
            f"  {MARKS[result.grade]:4}  {result.check:14}  {result.sentence}"
            for result in judge.checks
        ]
        if judge.overall.may("measure"):
            lines += [f"  {said}" for said in alone_of_votes(judge[ALONE], audit.options.error)]
    for page, said in page_answers(audit).items():
        lines += ["", f"{NAMES.get(page, page.capitalize())}: {said.headline}"]
        lines += [f"  {said.figures}"] if said.figures else []
    lines += ["", "Judges", *_table(JUDGES, audit.judges)]
    for question, findings in findings_of(audit.judges):
        lines += _parts(question.lines(findings))
    lines += [*_of_all(audit), *_asked_tables(audit)]
    if audit.notes:
        lines += ["", "Notes", *(f"  {note}" for note in audit.notes)]
    return "\n".join(one_line(line) for line in lines)


def _above(audit: Audit) -> list[str]:
    """What was found of all raters that stands above the judges."""
    return [line for finding in audit.findings for line in finding.question.of_all.above(finding)]


def _of_all(audit: Audit) -> list[str]:
    """What was found of all raters together."""
    placed = [
        (place, made, finding)
        for finding in audit.findings
        for place, made in finding.question.of_all.lines.items()
    ]
    return [
        line
        for _, made, finding in sorted(placed, key=itemgetter(0))
        for line in _parts(made(finding))
    ]


def _asked_tables(audit: Audit) -> list[str]:
    """The tables that were asked for: the grid of rules, the jury, checks of leaderboards."""
    lines = []
    for finding in audit.findings:
        for table in finding.question.of_all.tables(finding):
            lines += ["", table.caption, *_table(table.columns, table.rows[:MOST_LINES])]
            if (more := len(table.rows) - MOST_LINES) > 0:
                lines.append(f"  … and {more:,} more; all of them are in the JSON.")
    return lines


def _parts(made: Iterable[str | Table]) -> list[str]:
    """Lines, and tables with their captions, as lines."""
    lines = []
    for part in made:
        if isinstance(part, str):
            lines.append(part)
        else:
            lines += ["", part.caption, *_table(part.columns, part.rows)]
    return lines


def _counted(audit: Audit) -> str:
    """What was audited, in numbers."""
    found = audit.summary
    if not found.votes:
        return _scores_read(audit) if audit.scores else ""
    named = {reading.mapping.get("judge", "") for reading in audit.readings}
    fixed = ", ".join(sorted(name[1:] for name in named if name.startswith("=")))
    judges = f"{len(found.judges)} ({fixed}, in no column)" if fixed else str(len(found.judges))
    of_answers = sum(rater.n for rater in found.scores)
    scored = f"scores of single answers: {of_answers:,}; " if of_answers else ""
    return (
        f"Judges: {judges}; votes: {found.votes:,}; {scored}comparisons: {found.comparisons:,}; "
        f"items: {found.items:,}; outputs without a vote: {found.unparsed:,}; {_not_whole(audit)}; "
        f"duplicates left out: {sum(reading.duplicates for reading in audit.readings):,}. "
        f"Intervals: {target(audit.options.level)}.{_gold(audit.selection.gold)}{_clusters(audit)}"
    )


def _not_whole(audit: Audit) -> str:
    """Rows of the files that were not read whole."""
    unread = sum(reading.n_unread for reading in audit.readings)
    return f"rejected rows: {sum(reading.n_rejected for reading in audit.readings):,}" + (
        f"; confidences that could not be read: {unread:,}" if unread else ""
    )


def _clusters(audit: Audit) -> str:
    said = audit.summary.clusters
    return "" if said is None else f" {said}"


def _gold(gold: str | None) -> str:
    """What was taken for true, where it is not the file's gold."""
    if gold in (None, "given"):
        return ""
    return f" Gold: {'the majority of people' if gold == 'humans' else f'the majority of {gold}'}."


def _said(scores: ScoreAudit) -> list[str]:
    return [part for part in (scores.headline, scores.figures) if part]


def beside_checks(audit: Audit, scores: ScoreAudit) -> list[str]:
    """What is said below the checks."""
    looked = [
        sentence
        for look in audit.second_looks
        if (look.judge, look.metric) == (scores.judge, scores.metric)
        for sentence in second_look_sentences(look)
    ]
    return [
        *further(scores.evidence),
        *confidence_sentences(scores.evidence),
        *alone_sentences(scores.alone, audit.options.error),
        *looked,
    ]


def _scores_read(audit: Audit) -> str:
    people = sorted({name for scores in audit.scores for name in scores.evidence.table.names})
    said = f"; people: {', '.join(people)}" if people else ""
    unread = sum(rater.failed for rater in audit.summary.scores)
    said += f"; without a score: {unread:,}" if unread else ""
    named = sorted({reading.mapping.get("judge", "") for reading in audit.readings})
    fixed = ", ".join(name[1:] for name in named if name.startswith("="))
    judges = f"{len({scores.judge for scores in audit.scores})}"
    judges += f" ({fixed}, in no column)" if fixed else ""
    return (
        f"Judges of single answers: {judges}; metrics: "
        f"{', '.join(sorted({scores.metric for scores in audit.scores}))}; scores: "
        f"{sum(rater.n for rater in audit.summary.scores):,}{said}; {_not_whole(audit)}. "
        f"Intervals: {target(audit.options.level)}.{_clusters(audit)}"
    )


def _score_headline(scores: ScoreAudit) -> str:
    """Judge, metric and verdict, with what was not checked."""
    return because(scores.whose, scores.overall, scores.checks)


MOST_LINES = 60
SHOWN_JUDGES, SHOWN_LAST = 12, 3
"""Judges of the short text: the best, and the worst."""


def shortened(audit: Audit, most: int = MOST_LINES) -> str:
    """The audit in at most `most` lines, and the tables that were asked for: which judge to use, a
    line per judge from the best to the worst, and what fails or needs care.

    The last line says what was left out, if anything was.
    """
    whole = to_text(audit).splitlines()
    if len(whole) <= most:
        return "\n".join(whole)
    lines = [*_compared(audit), *_first(audit), "", *_verdicts(audit)]
    for scores in audit.scores:
        lines += ["", _score_headline(scores), *(f"  {part}" for part in _said(scores))]
        lines += [f"  {part}" for part in alone_sentences(scores.alone, audit.options.error)[:1]]
    if lists := _above(audit):
        lines += ["", *lists]
    for moved in (audit.against, audit.series):
        if moved is not None:
            lines += ["", *moved.sentences()]
    lines += ["", *(line for line in (_counted(audit),) if line)]
    lines += _gates(audit, MOST_PASSED)
    problems = _problems(audit)
    room = most - 1 - len(lines) - 2
    if problems and room > 0:
        lines += ["", "What fails or needs care", *problems[: room - 1]]
    lines = [one_line(line) for line in lines][: most - 1]
    left = f"… {len(whole):,} lines have every check and table: audit --all, or to_text(audit)."
    tables = [one_line(line) for line in _asked_tables(audit)]
    return "\n".join([*lines, left, *tables])


def gates(audit: Audit) -> tuple[str, list[tuple[Grade, str]]]:
    """What is said of the gates of the build, and a grade and a line for each, those that failed
    first; many that passed are counted.
    """
    failed = [result for result in audit.gates if not result.passed]
    passed = [result for result in audit.gates if result.passed]
    lines: list[tuple[Grade, str]] = [
        ("fail", reason) for result in failed for reason in result.reasons
    ]
    if len(passed) > MOST_PASSED:
        lines.append(("ok", f"{count(len(passed), 'gate')} passed"))
    else:
        lines += [("ok", result.gate) for result in passed]
    return f"Gates: {len(failed)} of {len(audit.gates)} failed", lines


def _gates(audit: Audit, most: int | None = None) -> list[str]:
    """The gates as lines, at most so many."""
    if not audit.gates:
        return []
    title, listed = gates(audit)
    lines = [f"  {MARKS[grade]:4}  {line}" for grade, line in listed[:most]]
    if more := len(listed) - len(lines):
        lines.append(f"  … and {more:,} more")
    return ["", title, *lines]


def _compared(audit: Audit) -> list[str]:
    """What was asked for first: whether a version is better, each comparison with a line behind."""
    return [line for each in audit.comparisons for line in (*each.sentences(), "")]


def _first(audit: Audit) -> list[str]:
    """Which judge to use, and the figures of that."""
    if not audit.judges and not audit.scores:
        return []
    said = overview_answer(audit)
    return [said.headline, *([said.figures] if said.figures else [])]


def _verdicts(audit: Audit) -> list[str]:
    """A line per judge, the best first and the worst last, people below them."""
    lines = []
    for title, raters in (("Judges", audit.without_people), ("People", audit.people)):
        if not raters:
            continue
        shown = raters
        if len(raters) > SHOWN_JUDGES + SHOWN_LAST:
            shown = (*raters[:SHOWN_JUDGES], *raters[-SHOWN_LAST:])
        cards = [card_of(judge) for judge in shown]
        # People are whom judges are measured by: no verdict on them.
        rows = [
            (f"{MARKS_OF[card.verdict]} {card.word}" if title == "Judges" else "", card.judge)
            for card in cards
        ]
        words, names = (max(map(len, column)) for column in zip(*rows, strict=True))
        listed = [
            f"  {word:{words}}  {name:{names}}  {card.said.figures}".rstrip()
            for (word, name), card in zip(rows, cards, strict=True)
        ]
        if len(shown) < len(raters):
            between = len(raters) - len(shown)
            listed.insert(SHOWN_JUDGES, f"  … {between:,} more between them")
        lines += [f"{title}, best first", *listed]
    return lines


def _problems(audit: Audit) -> list[str]:
    """What is shown to fail or to need care of each judge, the judges in their order."""
    return [
        f"  {MARKS[result.grade]:4}  {result.judge}: {result.sentence}"
        for grade in ("fail", "warn")
        for result in audit.checks
        if result.grade == grade
    ]


def _table(columns: Sequence[Column], rows: Sequence[object]) -> list[str]:
    """Columns as wide as needed: names to the left, numbers to the right."""
    grid = [
        [column.name for column in columns],
        *([one_line(_cell(column, row)) for column in columns] for row in rows),
    ]
    widths = [max(map(len, cells)) for cells in zip(*grid, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if column.form else cell.ljust(width)
            for column, cell, width in zip(columns, row, widths, strict=True)
        ).rstrip()
        for row in grid
    ]


def _cell(column: Column, row: object) -> str:
    value = column.of(row)
    if value is None:
        return "–"
    if isinstance(value, Estimate):
        return column.text(row)
    return value if isinstance(value, str) else format(value, column.form)
