"""Does it favour length, its own family, or a change that should not matter?"""

from __future__ import annotations

from ...finding.question import Question
from . import check

QUESTION = Question(name="leaning", place=50, title="What it favours", checks=check.CHECKS)
