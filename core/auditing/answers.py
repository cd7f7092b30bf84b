"""The answer of an audit to the question of each page, about the judge that fares worst in it.

Report and Markdown say it, and a page that is opened without a judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from ..finding.answer import Answer, by_judge
from ..finding.check import GRADES
from ..finding.wording import NAMED
from ..questions.agreement.results import REPEATABILITY
from ..questions.agreement.words import agreement_answer
from ..questions.boards.standings import Standings
from ..questions.boards.words import board_answer, circle_of
from ..questions.labels.words import labels_answer
from ..questions.scores.card import said_of
from .card import card_of
from .questions import findings_of

if TYPE_CHECKING:
    from .results import Audit, JudgeAudit


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
    made: dict[str, Callable[[Audit], Answer | None]] = {
        "agreement": _agreement,
        "votes_to_labels": _labels,
        "leaderboard": _board,
    }
    # Of a question whose room does not say it yet, the place among pages.
    places = {"agreement": 40, "votes_to_labels": 50}
    found = [(places.get(page, 60), page, make(audit)) for page, make in made.items()]
    found += [
        (question.page_place, question.page or question.name, question.said(findings))
        for question, findings in findings_of(audit.judges)
    ]
    return {page: said for _, page, said in sorted(found, key=itemgetter(0)) if said is not None}


def _judges(audit: Audit) -> Sequence[JudgeAudit]:
    """The judges; the people where they alone voted."""
    return [judge for judge in audit.judges if judge.rater_type != "human"] or audit.judges


def _agreement(audit: Audit) -> Answer | None:
    judges = _judges(audit)
    asked = [judge for judge in judges if judge[REPEATABILITY]] or judges
    if not asked:
        return None
    found = by_judge(one for judge in judges for one in judge.checks)

    def badness(judge: JudgeAudit) -> int:
        of = found[judge.judge]
        return max(GRADES.index(of[check].grade) for check in ("repeatability", "coin_share"))

    return agreement_answer(found, max(asked, key=badness).judge, None, audit.agreement.pairs)


def _labels(audit: Audit) -> Answer | None:
    known = [judge for judge in _judges(audit) if judge.splits]
    if not known:
        return None

    def error(judge: JudgeAudit) -> float:
        return judge.splits.scores["majority"].mae if judge.splits else 0.0

    worst = max(known, key=error)
    assert worst.splits is not None
    return labels_answer(worst.judge, worst.splits)


def _board(audit: Audit) -> Answer | None:
    if not audit.boards:
        return None
    shown = next(iter(audit.boards.values()))[0]
    if shown.judge is not None:
        return None
    # What another anchor would say needs the votes.
    pooled = {
        anchor: some[0].board for anchor, some in audit.boards.items() if some[0].judge is None
    }
    return board_answer(
        Standings(board=shown.board, lead=None, others=()), circle=circle_of(pooled)
    )
