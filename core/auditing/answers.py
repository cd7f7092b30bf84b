"""The answer of an audit to the question of each page, about the judge that fares worst in it.

Report and Markdown say it, and a page that is opened without a judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..finding.answer import Answer
from ..finding.wording import NAMED
from ..questions.scores.card import said_of
from .card import card_of
from .questions import findings_of

if TYPE_CHECKING:
    from .results import Audit


def overview_answer(audit: Audit) -> Answer:
    """Which judge to use, and which not: the headline of the best judge's card; of scores alone
    that of the best of them.
    """
    if audit.judges:
        return card_of(audit.judges[0], audit.judges).said
    return said_of(audit.scores[0])


def headlines(audit: Audit) -> str:
    """Which judge to use, and what is said first of each of the best judges of scores and lists."""
    parts = [overview_answer(audit).headline] if audit.judges else []
    parts += [said_of(scores).headline for scores in audit.scores[:NAMED]]
    if len(audit.scores) > NAMED:
        parts.append(f"{len(audit.scores) - NAMED} more by scores.")
    return " ".join([*parts, *(lists.headline for lists in audit.rankings[:NAMED])])


def page_answers(audit: Audit) -> dict[str, Answer]:
    """Page → what it answers, of the pages whose question the audit answers."""
    answers = [
        (question, question.said(findings)) for question, findings in findings_of(audit.judges)
    ]
    answers += [
        (finding.question, finding.question.of_all.said(finding)) for finding in audit.findings
    ]
    return {
        question.page or question.name: answer
        for question, answer in sorted(answers, key=lambda each: each[0].page_place)
        if answer is not None
    }
