"""The checks of a judge, those of every question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..errors import InvalidOption
from ..finding.check import Check, Limits
from .questions import all_questions

CHECKS: tuple[Check, ...] = tuple(
    check for question in all_questions() for check in question.checks
)
"""All checks of votes, in the order in which they are shown."""
SCORE_CHECKS: tuple[Check, ...] = tuple(
    check for question in all_questions() for check in question.score_checks
)
"""All checks of scores of single answers."""
BY_NAME: dict[str, Check] = {check.name: check for check in (*CHECKS, *SCORE_CHECKS)}
LIMITS: dict[str, Limits] = {
    name: limits
    for check in BY_NAME.values()
    for name, limits in {check.name: check.limits, **check.more_limits}.items()
}
"""The limits of every check and of its parts, by default."""


def limits_with(changed: Mapping[str, tuple[float, float | None]]) -> dict[str, Limits]:
    """`LIMITS` with other numbers for some checks: check → (caution, failure).

    Raises InvalidOption for a check without limits, and for limits in the wrong order or not
    finite.
    """
    used = dict(LIMITS)
    for check, (caution, failure) in changed.items():
        if check not in LIMITS:
            raise InvalidOption(
                f"limit of {check!r}: there is no such check; choose from {', '.join(LIMITS)}"
            )
        if (failure is None) != (LIMITS[check].failure is None):
            wanted = "CAUTION,FAILURE" if failure is None else "CAUTION alone: it never fails"
            raise InvalidOption(f"limit of {check}: give {wanted}")
        ordered = [caution] if failure is None else [caution, failure]
        if not all(math.isfinite(limit) for limit in ordered):
            raise InvalidOption(f"limit of {check}: use finite numbers")
        falling = LIMITS[check].shape == "at_least"
        if failure is not None and (failure > caution if falling else failure < caution):
            order = "at most" if falling else "at least"
            raise InvalidOption(
                f"limit of {check}: failure {failure:g} has to be {order} caution {caution:g}"
            )
        used[check] = replace(LIMITS[check], caution=caution, failure=failure)
    return used


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """By what a judge is graded: the limits of every check, and the level of the intervals."""

    limits: Mapping[str, Limits] = field(default_factory=lambda: LIMITS)
    level: float = 0.95
