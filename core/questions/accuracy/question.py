"""How often is it right?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from ...bounds import MOST_DRAWN
from ...finding.answer import Answer
from ...finding.fields import ends, written
from ...finding.question import Finding, Heading, Part, Picture, Question, Table
from ...finding.tables import TEXT, Column
from ...finding.wording import ONE_ITEM, SAYS
from ..agreement.words import errors_answer
from ..reference.results import WHICH
from . import check
from .confusion_matrix import Confusion
from .results import BLIND_RULE, CATEGORIES, CONFUSION, CREDIT, DIRECTION, EXACT, WRONG_CATEGORY

SHARES = (
    Column("judge", "judge", TEXT),
    Column("n", "confusion.n", ",d"),
    Column("share right", "confusion.accuracy"),
    Column("best constant answer", "confusion.constant"),
)
SAID = (
    Column("", itemgetter(0), TEXT),
    *(Column(SAYS[said], itemgetter(2 - said), ",d") for said in (1, 0, -1)),
    *(Column(f"{SAYS[said]}, share", itemgetter(5 - said)) for said in (1, 0, -1)),
)


def _drawn(name: str, drawn: Any, **given: Any) -> Any:
    from ..agreement import figure

    return getattr(figure, name)(drawn, **given)


def _of_gold(table: Confusion) -> list[tuple[Any, ...]]:
    """A row of each label that gold gives."""
    cells = {gold: [(gold + 1, said + 1) for said in (1, 0, -1)] for gold in (1, 0, -1)}
    return [
        (
            f"gold says {SAYS[gold]}",
            *(table.counts[at] for at in row),
            *(table.share[at] for at in row),
        )
        for gold, row in cells.items()
    ]


def _section(findings: Sequence[Finding]) -> Iterator[Part]:
    rows = [each for each in findings if each[CONFUSION]]
    tables = {each.judge: table for each in rows if (table := each[CONFUSION])}
    if not rows:
        return
    yield Table("Share right of all votes with gold", SHARES, rows)
    yield Picture("Share right", partial(_drawn, "accuracies", tables))
    caption = "What was said, by what gold says: votes, and shares of the row"
    for place, (judge, table) in enumerate(tables.items()):
        yield Heading(judge)
        yield Table(caption, SAID, _of_gold(table))
        if place < MOST_DRAWN:
            drawn = partial(_drawn, "confusion_matrix", table)
            yield Picture(f"Confusion of {judge}", drawn, styled=False)


def _said(findings: Sequence[Finding]) -> Answer | None:
    """About the judge that is wrong most; about people where they alone voted."""
    judges = [each for each in findings if not each.is_person] or findings
    tables = [(each, table) for each in judges if (table := each[CONFUSION]) and table.accuracy]
    if not tables:
        return None

    def right(judged: tuple[Finding, Confusion]) -> float:
        accuracy = judged[1].accuracy
        return accuracy.value if accuracy else 0.0

    worst, table = min(tables, key=right)
    return errors_answer(worst.judge, worst.checks["accuracy"], table, "votes")


def _no_accuracy(finding: Finding) -> dict[str, str]:
    reasons: dict[str, str] = {}
    exact, table = finding[EXACT], finding[CONFUSION]
    if exact is None:
        paired = finding.options.correctness == "both_orders" and table is not None
        which = (
            "with gold was judged in both orders of one run"
            if paired
            else "that it judged has a gold label"
        )
        reasons["accuracy"] = f"no comparison {which}"
    elif not exact.has_interval:
        reasons["interval of the accuracy"] = ONE_ITEM
    if table is None:
        reasons["confusion table"] = "no comparison that it judged has a gold label"
    return reasons


def _no_half_credit(finding: Finding) -> dict[str, str]:
    towards, rule = finding[DIRECTION], finding[BLIND_RULE]
    if towards is None:
        return {"half credit": "no comparison that it judged has decided gold"}
    reasons = {}
    if not towards.credit.has_interval:
        reasons["interval of the half credit"] = ONE_ITEM
    if towards.among_decided is None:
        reasons["share right among decided votes"] = "all its votes on decided gold are ties"
    if rule is None:
        reasons["blind rule"] = (
            "neither label, model, place nor length tells gold without the answers"
        )
    elif not rule.right.has_interval:
        reasons["half credit beyond a blind rule"] = "gold says nearly always what that rule says"
    return reasons


def _confusion_fields(finding: Finding) -> dict[str, Any] | None:
    table = finding[CONFUSION]
    return (
        None if table is None else {"labels": list(table.labels), "counts": table.counts.tolist()}
    )


def _direction_fields(finding: Finding) -> dict[str, Any] | None:
    """Half credit, and the rule without reading that is least shown to be beaten."""
    towards, rule = finding[DIRECTION], finding[BLIND_RULE]
    if towards is None:
        return None
    blind = rule and {
        "rule": rule.rule,
        "value": rule.right.value,
        "low": rule.right.low,
        "high": rule.right.high,
    }
    return ends(towards.credit, "value") | {
        "among_decided": towards.among_decided,
        "decided_share": towards.decided_share,
        "gold_ties": towards.gold_ties,
        "blind_rule": blind,
    }


QUESTION = Question(
    name="accuracy",
    place=10,
    title="Errors",
    page="confusion",
    page_place=20,
    section_place=80,
    checks=check.CHECKS,
    results=(EXACT, DIRECTION, CREDIT, BLIND_RULE, CONFUSION),
    own_counts={"by_category": (CATEGORIES, WRONG_CATEGORY, WHICH), "positions": (BLIND_RULE,)},
    document={
        "accuracy": lambda finding: written(finding[EXACT], ("value", "low", "high", "n")),
        "confusion": _confusion_fields,
        "direction": _direction_fields,
    },
    unknown={10: _no_accuracy, 85: _no_half_credit},
    said=_said,
    section=_section,
)
