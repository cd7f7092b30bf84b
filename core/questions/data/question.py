"""Which outputs gave no verdict, and was every row read?"""

from __future__ import annotations

from ...finding.question import Question
from . import check

QUESTION = Question(name="data", place=60, title="Outputs and rows", checks=check.CHECKS)
