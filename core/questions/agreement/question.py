"""Does it repeat itself, and say what people say?"""

from __future__ import annotations

from ...finding.question import Question
from . import check

QUESTION = Question(
    name="agreement", place=40, title="Repeatability and agreement", checks=check.CHECKS
)
