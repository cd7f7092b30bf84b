"""Is its confidence worth anything?"""

from __future__ import annotations

from ...finding.question import Question
from . import check

QUESTION = Question(name="confidence", place=30, title="Calibration", checks=check.CHECKS)
