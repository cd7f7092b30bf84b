"""Is one name one judge?"""

from __future__ import annotations

from ...finding.question import Question
from . import check

QUESTION = Question(
    name="one_judge",
    place=80,
    title="One name, one judge",
    checks=check.CHECKS,
    score_checks=check.CHECKS,
)
