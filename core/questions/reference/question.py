"""Who says what is right, which answers they labelled, and does a judge follow them?"""

from __future__ import annotations

from ...finding.question import Question
from . import check

QUESTION = Question(
    name="reference", place=75, title="Who, which, follows", score_checks=check.SCORE_CHECKS
)
