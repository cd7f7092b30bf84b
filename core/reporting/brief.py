"""An audit to send: what to do with each judge, what fails as pictures, three errors to read.

One file on two printed pages, the same in markup, figures and safety as the whole report (`html`),
with less in it. *Share* in the app and `report --brief` write it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from ..auditing.card import card_of
from ..auditing.questions import all_questions
from ..auditing.results import Audit, JudgeAudit
from ..finding.tables import TEXT, Column
from ..finding.wording import SAYS, count
from ..labelling.disagreements import disagreements, in_short
from ..questions.accuracy.results import CONFUSION
from ..questions.agreement.figure import confusion_matrix
from ..questions.juries.figure import pictures
from ..store.marks import Telling, telling_errors
from .document import to_json
from .html import CHECKED, Part, drawn, first_parts, made_file, one_figure, scores_parts

if TYPE_CHECKING:
    import pyarrow as pa

    from ..finding.figure import Figure, Theme
    from ..finding.question import Finding, Picture
    from ..questions.lists.results import ListwiseAudit
    from ..store.connection import Database, Snapshot

MOST_FIGURES = 4
MOST_JUDGES = 12
MOST_ANSWERS = 3
MOST_CHARACTERS = 260
HEADINGS: dict[Telling, str] = {
    "surest": "Wrong where it was surest",
    "flipped": "Changed when the responses swapped places",
    "against people": "Against all people",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Examples:
    """What is to be read beside the figures.

    errors : votes, of the judge that is to be used.  answers : on which judges and people differ.
    """

    errors: Mapping[Telling, pa.Table] = field(default_factory=dict)
    answers: Sequence[Mapping[str, Any]] = ()


def examples(store: Database | Snapshot, audit: Audit) -> Examples:
    """The errors that tell most, of what was audited."""
    errors, answers = {}, []
    if audit.without_people:
        errors = telling_errors(store, audit.selection, audit.without_people[0].judge)
    if audit.scores:
        answers = disagreements(store, audit, with_agreements=0).slice(0, MOST_ANSWERS).to_pylist()
    return Examples(errors=errors, answers=answers)


def brief(
    audit: Audit,
    *,
    shown: Examples | None = None,
    texts: bool = True,
    made: date | None = None,
    command: str = "",
) -> str:
    """The file as text, to be written as UTF-8: two pages of A4 where it is printed.

    shown : what is to be read (`examples`).  texts : with prompts, answers and reasons.
    made : the day, if it is to stand there.  command : that makes the file.
    """
    names = ", ".join(reading.name for reading in audit.readings) or ", ".join(
        audit.summary.datasets
    )
    kinds = (
        ("first", "The answer", _answer(audit) if audit.judges else ()),
        ("scores", "Judges of single answers", scores_parts(audit, answered=True)),
        ("listwise", "Judges of lists", _lists(audit.rankings)),
    )
    sections = [(key, title, parts) for key, title, made_of in kinds if (parts := list(made_of))]
    if failed := list(_failed(audit)):
        sections.append(("failed", "What fails", failed))
    if shown and shown.errors:
        sections.append(("errors", "Errors to read", list(_cards(shown.errors, texts=texts))))
    if shown and shown.answers:
        parts = [("table", "", DIFFERS, _answers(shown.answers, texts=texts))]
        sections.append(("answers", "Judge and people differ", parts))
    sections.append(("made", "How this was made", list(_made(audit, command))))
    about = audit.summary
    scores, rankings = (sum(rater.n for rater in of) for of in (about.scores, about.rankings))
    size = (
        f"{count(about.votes, 'vote')} on {count(about.items, 'item')}" if about.votes else "",
        count(scores, "score") if scores else "",
        count(rankings, "ranking") if rankings else "",
        made.isoformat() if made else "",
        "Simulated: these judges and models do not exist" if about.simulated else "",
    )
    return made_file(
        f"Audit of {names}",
        [(" · ".join(filter(None, size)), "simulated" if about.simulated else "")],
        sections,
        brief=True,
    )


def _made(audit: Audit, command: str) -> Iterator[Part]:
    """By which the figures can be made again, and told from others."""
    if command:
        yield "words", "p", f"Command: {command}"
    digest = hashlib.sha256(to_json(audit).encode())
    yield "words", "p", f"SHA-256 of the audit as JSON: {digest.hexdigest()}"


def _lists(audits: Sequence[ListwiseAudit]) -> Iterator[Part]:
    """What order does to each judge of lists and what pooling orders gains, as lines and
    pictures.
    """
    for each in audits[:MOST_JUDGES]:
        yield "words", "h3", each.headline
        if each.figures:
            yield "words", "p", each.figures
    for picture in pictures(audits[:MOST_JUDGES]):
        yield from drawn(picture)


def _answer(audit: Audit) -> Iterator[Part]:
    """Card and strip as in the whole report, and a row per judge on what to do."""
    parts = list(first_parts(audit))
    yield from (part for part in parts if part[0] != "table")
    judges = audit.asked_about
    rows = [(card_of(judge),) for judge in judges[:MOST_JUDGES]]
    yield "table", "", CHECKED, rows
    if len(judges) > MOST_JUDGES:
        more = f"{len(judges) - MOST_JUDGES:,} more judges are in the whole report."
        yield "words", "p", more


Failing = Callable[["list[JudgeAudit]"], "tuple[str, Callable[..., Figure]] | None"]
"""Judges that fail a check → words and a figure."""


def _failed(audit: Audit) -> Iterator[Part]:
    """A figure for each check that fails of a judge, once for all judges that fail in it."""
    # Of each check what is drawn once, and how.
    makers: dict[str, tuple[object, Failing]] = {
        check: (make, partial(_of_question, check, make))
        for question in all_questions()
        for check, make in question.failed.items()
    }
    makers |= dict.fromkeys(("accuracy", "ties"), (_confusion, _confusion))
    shown: set[object] = set()
    for check, (what, make) in makers.items():
        failing = [
            judge
            for judge in audit.judges
            if any(one.check == check and one.grade == "fail" for one in judge.checks)
        ]
        if not failing or what in shown or len(shown) == MOST_FIGURES:
            continue
        if made := make(failing):
            shown.add(what)
            words, figure = made
            yield "words", "p", words
            yield one_figure(figure, words, audit)
    for judge in audit.judges:
        for one in judge.checks:
            if one.grade == "fail" and one.check not in makers:
                yield "words", "p", f"{judge.judge}: {one.sentence}"


def _of_question(
    check: str, make: Callable[[Sequence[Finding]], Picture | None], failing: list[JudgeAudit]
) -> tuple[str, Callable[..., Figure]] | None:
    found = [
        finding
        for judge in failing
        for finding in judge.findings
        if check in finding.question.failed
    ]
    picture = make(found)
    return None if picture is None else (picture.caption, picture.draw)


def _confusion(failing: list[JudgeAudit]) -> tuple[str, Callable[..., Figure]] | None:
    known = [(judge.judge, table) for judge in failing if (table := judge[CONFUSION])]
    if not known:
        return None
    worst, table = known[-1]

    def drawn(*, theme: Theme, styles: object) -> Figure:
        """Of one judge, so that no style tells judges apart."""
        return confusion_matrix(table, theme=theme)

    return f"What gold says, and what {worst} says", drawn


SAID = (
    Column("", lambda row: row[0], TEXT),
    Column("said", lambda row: row[1], TEXT),
    Column("response A", lambda row: row[2], TEXT),
    Column("response B", lambda row: row[3], TEXT),
)


def _cards(errors: Mapping[Telling, pa.Table], *, texts: bool) -> Iterator[Part]:
    """One comparison per kind of error, its texts cut where they are long."""
    rows = []
    for kind, heading in HEADINGS.items():
        if kind not in errors:
            continue
        votes = errors[kind].to_pylist()
        first = votes[0]
        said = "; ".join(_said(vote) for vote in votes[:4])
        gold = "" if first["gold"] is None else f"; gold: {SAYS[int(first['gold'])]}"
        prompt = _cut(first.get("prompt")) if texts else ""
        rows.append(
            (
                heading,
                f"{first['item_id']}: {prompt + ' ' if prompt else ''}{said}{gold}",
                _side(first, "a", texts=texts),
                _side(first, "b", texts=texts),
            )
        )
    yield "table", "", SAID, rows


def _said(vote: Mapping[str, Any]) -> str:
    sure = "" if vote["confidence"] is None else f", {100 * vote['confidence']:.0f} % sure"
    order = {"ab": ", A shown first", "ba": ", B shown first"}.get(vote["position"] or "", "")
    return f"{vote['judge']} says {SAYS[int(vote['vote'])]}{sure}{order}"


def _side(vote: Mapping[str, Any], side: str, *, texts: bool) -> str:
    text = _cut(vote.get(f"response_{side}")) if texts else ""
    return f"{vote[f'model_{side}']}{': ' + text if text else ''}"


DIFFERS = (
    Column("", lambda row: row[0], TEXT),
    Column("said", lambda row: row[1], TEXT),
    Column("answer", lambda row: row[2], TEXT),
)


def _answers(rows: Sequence[Mapping[str, Any]], *, texts: bool) -> list[tuple[str, str, str]]:
    """Who said what of each answer, its texts cut where they are long."""
    told = []
    for row in rows:
        about, said = in_short(row)
        shown = [_cut(row[name]) for name in ("question", "answer", "judge_reason") if texts]
        told.append((about, said, " → ".join(filter(None, shown))))
    return told


def _cut(text: object) -> str:
    words = str(text) if text else ""
    return words if len(words) <= MOST_CHARACTERS else f"{words[: MOST_CHARACTERS - 1]}…"
