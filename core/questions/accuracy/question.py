"""How often is it right?"""

from __future__ import annotations

from ...finding.question import Question
from . import check

QUESTION = Question(name="accuracy", place=10, title="How often it is right", checks=check.CHECKS)
