"""A judge's verdicts in brief: one grade, its worst findings, and what is missing for a fuller audit."""

from __future__ import annotations

from collections.abc import Sequence

from core.verdicts import CHECKS, Grade, Verdict

WORST_FIRST: tuple[Grade, ...] = ("fail", "warn", "ok", "unknown")
WORDS: dict[Grade, str] = {
    "fail": "not to be trusted as it is",
    "warn": "to be used with care",
    "ok": "no problem found",
    "unknown": "cannot be told",
}
NEEDS = {
    "accuracy": "gold labels",
    "calibration": "a confidence with each vote, and gold labels",
    "overconfidence": "a confidence with each vote, and gold labels",
    "position": "votes in both orders (column position)",
    "ties": "gold labels",
    "repeatability": "repeated votes (column run)",
    "agreement": "a second judge or human on the same comparisons",
}
"""What a check needs when it is unknown."""


def overall(verdicts: Sequence[Verdict]) -> Grade:
    """Worst grade of a judge's checks; unknown only if accuracy is unknown and nothing else was found.

    A judge whose accuracy is not known is never `ok`: what was checked can be fine and the judge still wrong.
    """
    grades = {verdict.check: verdict.verdict for verdict in verdicts}
    worst = min(grades.values(), key=WORST_FIRST.index, default="unknown")
    return "unknown" if worst == "ok" and grades.get("accuracy") == "unknown" else worst


def worst(verdicts: Sequence[Verdict], count: int = 3) -> tuple[Verdict, ...]:
    """The `count` worst findings: fails before warnings, then in the order of `verdicts.CHECKS`."""
    found = [verdict for verdict in verdicts if verdict.verdict in ("fail", "warn")]
    return tuple(sorted(found, key=lambda v: (WORST_FIRST.index(v.verdict), CHECKS.index(v.check)))[:count])


def missing(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """What would let more be checked, one sentence a need, with how many judges lack it."""
    lacking: dict[str, dict[str, set[str]]] = {}
    for verdict in verdicts:
        if verdict.verdict == "unknown" and verdict.check in NEEDS:
            lacking.setdefault(NEEDS[verdict.check], {}).setdefault(verdict.check, set()).add(verdict.judge)
    return tuple(
        f"{' and '.join(checks).capitalize()} of {len(set.union(*checks.values()))} "
        f"{'judge needs' if len(set.union(*checks.values())) == 1 else 'judges need'} {need}, or more of it."
        for need, checks in lacking.items()
    )


def answer(verdicts: Sequence[Verdict]) -> str:
    """Can these judges be trusted? One sentence with how many are graded how, worst first."""
    judges = dict.fromkeys(verdict.judge for verdict in verdicts)
    grades = {judge: overall([v for v in verdicts if v.judge == judge]) for judge in judges}
    if len(grades) == 1:
        ((judge, grade),) = grades.items()
        worst_first = worst([v for v in verdicts if v.judge == judge], 1)
        return f"{judge} is {WORDS[grade]}." + "".join(f" {verdict.sentence}" for verdict in worst_first)
    parts = []
    for grade in ("ok", "warn", "fail", "unknown"):
        names = [judge for judge, found in grades.items() if found == grade]
        if names:
            listed = ", ".join(names) if len(names) <= 3 else f"{len(names)} judges"
            parts.append(f"{listed}: {WORDS[grade]}")
    return f"{len(grades)} judges. {'; '.join(parts)}."
