"""What is planted in the demo's judges, and what an audit finds of it, in a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..auditing.checks import BY_NAME
from ..auditing.overall import SIGNS
from ..finding.wording import enumerated
from ..simulate.answers import LEVELS, PASSES
from ..simulate.votes import DEMO_DATASET

if TYPE_CHECKING:
    from ..auditing.results import Audit

PLANTED: dict[str, dict[str, str]] = {
    DEMO_DATASET: {
        "sim-judge-first-slot": "prefers what stands first",
        "sim-judge-boaster": "is far too sure",
        "sim-judge-decisive": "hardly ever ties",
    },
    PASSES: {
        "sim-judge-first-slot": "passes far too much",
        "sim-judge-boaster": "passes much and is too sure",
    },
    LEVELS: {
        "sim-judge-first-slot": "scores a level too high",
        "sim-judge-boaster": "scores half a level too high and likes long answers",
    },
}
"""Of each of the demo's data sets: a judge → its fault in words. The parameters are those of
`simulate.votes.demo_world`; sim-judge-careful has no fault."""


def story(audit: Audit) -> list[str]:
    """What is planted in a data set of the demo, and the checks that fail or warn, in a line each;
    nothing of another data set.
    """
    planted = [
        fault for name in audit.selection.datasets or () for fault in PLANTED.get(name, {}).items()
    ]
    if not planted:
        return []
    judges = {one.judge for one in audit.asked_about} | {one.judge for one in audit.scores}
    results = [*audit.checks, *(result for one in audit.scores for result in one.checks)]
    wrong: dict[str, list[str]] = {}
    for grade in ("fail", "warn"):
        for result in results:
            if result.judge in judges and result.grade == grade:
                words = wrong.setdefault(result.judge, [])
                words.append(f"{SIGNS[result.grade]} {BY_NAME[result.check].title}")
    faults = enumerated(f"{judge} {fault}" for judge, fault in planted)
    found = "; ".join(f"{judge} {' '.join(words)}" for judge, words in wrong.items())
    return [f"Planted: {faults}; nothing in sim-judge-careful.", f"Found: {found}."]
