"""Does order decide?"""

from __future__ import annotations

from ...finding.question import Question
from . import check

QUESTION = Question(name="order", place=20, title="Position bias", checks=check.CHECKS)
