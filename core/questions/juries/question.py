"""Is a jury of judges better than the best of them: what outputs write of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...finding.check import Unknown
from ...finding.evidence import Counted
from ...finding.fields import estimate
from ...finding.question import (
    CHECKED,
    Finding,
    Heading,
    OfAll,
    Paragraph,
    Part,
    Question,
    Section,
    Table,
)
from .jury import Jury
from .method import EnsembleScore
from .results import JURY, TRIED_JURY
from .words import fusers_alone, jury_answer, rules_departures, score_columns

MEASURES = ("ece", "ace", "mce", "brier", "nll")


def _notes(counted: Counted) -> Iterator[str]:
    tried = counted[TRIED_JURY]
    if isinstance(tried, Unknown):
        yield f"No jury. {tried.reason}"


def _sentences(jury: Jury) -> tuple[str, ...]:
    return (*fusers_alone(jury.table), *rules_departures(jury.table))


def _lines(finding: Finding) -> Iterator[str]:
    if (jury := finding[JURY]) is not None:
        answer = jury_answer(jury.table)
        yield from ("", f"Juries: {answer.headline}", f"  {answer.figures}")
        yield from (f"  {sentence}" for sentence in _sentences(jury))


def _tables(finding: Finding) -> Iterator[Table]:
    if (jury := finding[JURY]) is not None:
        rows = [*jury.table.scores.values()]
        yield Table("Members, rules and fusers", score_columns(jury.table), rows)


def _section(finding: Finding) -> Iterator[Part]:
    if (jury := finding[JURY]) is not None:
        answer = jury_answer(jury.table)
        yield Heading(answer.headline)
        yield Paragraph(answer.figures)
        yield from map(Paragraph, _sentences(jury))
        yield from _tables(finding)


def _document(jury: Jury | None) -> dict[str, Any] | None:
    if jury is None:
        return None
    table = jury.table

    def row(score: EnsembleScore) -> dict[str, Any]:
        measured = score.calibration
        return {
            "name": score.name,
            "kind": score.kind,
            "fitted": score.fitted,
            "n": score.n,
            "accuracy": estimate(score.accuracy),
            "against": score.against and table.scores[score.against].name,
            "against_best": estimate(score.against_best),
            "alone": score.alone,
            "against_alone": estimate(score.against_alone),
            "differs": score.differs,
            "right": score.right,
            "wrong": score.wrong,
            **{name: getattr(measured, name, None) for name in MEASURES},
            "th": score.th and score.th.th.value,
            "epsilon": score.th and score.th.epsilon,
            "cost": score.cost,
        }

    return {
        "members": list(jury.members.names),
        "confidence": jury.members.kind,
        "n": table.n,
        "left_out": table.left_out,
        "rows": [row(score) for score in table.scores.values()],
        "without": {
            rule: dict(zip(jury.members.names, map(estimate, gaps), strict=True))
            for rule, gaps in zip(table.rules, table.without, strict=True)
        },
        "not_applicable": table.not_applicable,
    }


QUESTION = Question(
    name="juries",
    place=100,
    title="Juries",
    of_all=OfAll(
        results=(JURY,),
        notes={40: _notes},
        document={"jury": lambda finding: _document(finding[JURY])},
        lines={30: _lines},
        tables=_tables,
        sections=(Section(place=CHECKED[0], key=CHECKED[1], title=CHECKED[2], parts=_section),),
    ),
)
