"""A judge's verdicts in brief: one grade, its worst findings, and what is missing for a fuller audit."""

from __future__ import annotations

from collections.abc import Sequence

from core.words.verdicts import CHECKS, NOT_GRADED, Grade, Verdict

WORDS: dict[Grade, tuple[str, str]] = {
    "ok": ("passes every check that could be made", "pass every check that could be made"),
    "warn": ("needs care", "need care"),
    "fail": ("fails a check", "fail a check"),
    "unknown": ("cannot be graded", "cannot be graded"),
}
"""Of one judge, of several."""

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

NAMED = 3
"""Judges that an answer names one by one; more are counted."""


def overall(verdicts: Sequence[Verdict]) -> Grade:
    """Worst grade of a judge's checks; unknown if accuracy is unknown and nothing was found wrong.

    A judge whose accuracy is not known is never `ok`: what was checked can be fine and the judge still wrong.
    """
    grades = {verdict.check: verdict.verdict for verdict in verdicts}
    for grade in ("fail", "warn"):
        if grade in grades.values():
            return grade
    return "unknown" if grades.get("accuracy", "unknown") == "unknown" else "ok"


def worst(verdicts: Sequence[Verdict], count: int = 3) -> tuple[Verdict, ...]:
    """The `count` worst findings: fails before warnings, then in the order of `verdicts.CHECKS`."""
    found = [verdict for verdict in verdicts if verdict.verdict in ("fail", "warn")]
    return tuple(sorted(found, key=lambda v: (v.verdict != "fail", CHECKS.index(v.check)))[:count])


def missing(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """What would let more be checked, one sentence a need, with how many judges lack it."""
    lacking: dict[str, dict[str, set[str]]] = {}
    for verdict in verdicts:
        hopeless = verdict.sentence.startswith(NOT_GRADED)
        if verdict.verdict == "unknown" and verdict.check in NEEDS and not hopeless:
            lacking.setdefault(NEEDS[verdict.check], {}).setdefault(verdict.check, set()).add(verdict.judge)
    sentences = []
    for need, checks in lacking.items():
        raters = len(set.union(*checks.values()))
        who = f" for {raters} raters" if raters > 1 else ""
        sentences.append(f"{' and '.join(checks).capitalize()}{who}: add {need}, or more of what is there.")
    return tuple(sentences)


def answer(verdicts: Sequence[Verdict]) -> str:
    """Can they be trusted? Who is graded how, or what is worst of a single one, and if no accuracy is known.

    A judge whose accuracy is unknown has its other findings, so that accuracy is unknown of all is said too.
    """
    of_judge: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        of_judge.setdefault(verdict.judge, []).append(verdict)
    accuracies = [verdict.verdict for verdict in verdicts if verdict.check == "accuracy"]
    known = any(grade != "unknown" for grade in accuracies) or not accuracies
    unsure = (
        [] if known else [f"Whether {'it' if len(of_judge) == 1 else 'any of them'} is right is unknown."]
    )
    if len(of_judge) == 1:
        ((judge, checks),) = of_judge.items()
        said = [f"{judge} {WORDS[overall(checks)][0]}.", *(v.sentence for v in worst(checks, 1))]
        return " ".join([*said, *unsure])
    parts = []
    for grade, (of_one, of_several) in WORDS.items():
        names = [judge for judge, checks in of_judge.items() if overall(checks) == grade]
        if len(names) == 1:
            parts.append(f"{names[0]} {of_one}")
        elif names:
            who = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= NAMED else str(len(names))
            parts.append(f"{who} {of_several}")
    return " ".join([f"{len(of_judge)} raters: {'; '.join(parts)}.", *unsure])
