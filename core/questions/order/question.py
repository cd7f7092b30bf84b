"""Does order decide?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ...finding.answer import Answer, bad, difference
from ...finding.check import GRADES
from ...finding.fields import written
from ...finding.question import Finding, Part, Picture, Question, Table
from ...finding.tables import TEXT, Column
from . import check
from .results import DECIDED_POSITION, POSITION, SLOT_GAIN, SLOTS_DIFFER
from .words import changes, order_answer

FIELDS = (
    *("first", "second", "tie", "bias_decided", "bias_all", "pairs"),
    *("flip_rate", "hard_flip_rate", "same_order_disagreement", "p_value"),
)
JUDGE = Column("judge", "judge", TEXT)
LEANS = (
    JUDGE,
    *(Column(slot, f"position.{slot}", ",d") for slot in ("first", "second", "tie")),
    Column("of decided votes", "position.bias_decided", "+.3f"),
    Column("of all votes", "position.bias_all", "+.3f"),
    Column("within pairs", "position.bias_pairs", "+.3f"),
)
FLIPS = (
    JUDGE,
    Column("pairs", "position.pairs", ",d"),
    Column("flip rate", "position.flip_rate"),
    Column("A to B or back", "position.hard_flip_rate"),
    Column("repeats, same order", "position.same_order_disagreement"),
    Column("p, paired orders", "position.p_value", "p"),
)


def _said(findings: Sequence[Finding]) -> Answer | None:
    """About the judge whose checks of order are worst; of equals the one that flips most."""
    known = [each for each in findings if each[POSITION]]
    if not known:
        return None

    def badness(each: Finding) -> tuple[int, float]:
        position = each[POSITION]
        flips = position and position.flip_rate
        worse = max(GRADES.index(each.checks[name].grade) for name in ("position", "stability"))
        return worse, flips.value if flips else 0.0

    judges = [each for each in known if not each.is_person]
    worst = max(judges or known, key=badness)
    position = worst[POSITION]
    flips = position.hard_flip_rate if position else None
    return order_answer({each.judge: each.checks for each in known}, worst.judge, flips)


def _figures(finding: Finding) -> list[str | None]:
    """Verdicts that change with the order, and what the first place gains if too much."""
    slot = finding.checks["position"]
    too_much = bad(slot) and slot.interval is not None
    gain = difference(slot.interval, unit=" points") if too_much and slot.interval else None
    return [changes(finding[POSITION]), gain and f"for the first {gain}"]


def _drawn(name: str, findings: Sequence[Finding], **given: Any) -> Any:
    from . import figure

    return getattr(figure, name)({each.judge: each[POSITION] for each in findings}, **given)


def _failed(name: str, caption: str, findings: Sequence[Finding]) -> Picture | None:
    """The picture of the judges that fail a check."""
    rows = [each for each in findings if each[POSITION]]
    names = ", ".join(each.judge for each in rows)
    return Picture(f"{caption}: {names}", partial(_drawn, name, rows)) if rows else None


def _section(findings: Sequence[Finding]) -> Iterator[Part]:
    rows = [each for each in findings if each[POSITION]]
    if not rows:
        return

    caption = "Bias towards the first response shown; within pairs, quality cannot pass for it"
    yield Table(caption, LEANS, rows)
    yield Picture("Position bias by judge", partial(_drawn, "slot_biases", rows))
    yield Table("Verdicts that change with the order", FLIPS, rows)
    yield Picture("Flips by judge", partial(_drawn, "flips", rows))


def _unknown(finding: Finding) -> dict[str, str]:
    position = finding[POSITION]
    if position:
        return dict(position.unknown)
    return {"position figures": "none of its votes says which response was shown first"}


QUESTION = Question(
    name="order",
    place=20,
    title="Position bias",
    page="position_bias",
    page_place=30,
    section_place=75,
    checks=check.CHECKS,
    results=(POSITION, SLOT_GAIN, SLOTS_DIFFER),
    own_counts={"positions": (POSITION, SLOT_GAIN, SLOTS_DIFFER, DECIDED_POSITION)},
    document={"position": lambda finding: written(finding[POSITION], FIELDS)},
    unknown={70: _unknown},
    said=_said,
    figures=_figures,
    section=_section,
    failed={
        "position": partial(_failed, "slot_biases", "Which place gains"),
        "stability": partial(_failed, "flips", "How often the verdict changes with the order"),
    },
)
