"""What are scores of single answers worth?"""

from __future__ import annotations

from ...finding.question import Question
from ..confidence.check import SCORE_CHECKS
from . import check

QUESTION = Question(
    name="scores",
    place=70,
    title="Judges of single answers",
    score_checks=(*check.CHECKS, *SCORE_CHECKS),
)
