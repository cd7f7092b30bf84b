"""What are scores of single answers worth?"""

from __future__ import annotations

from ...finding.question import OfAll, Question
from ..confidence.check import SCORE_CHECKS
from . import check
from .by_category import SCORE_CATEGORY
from .fields import scores_document
from .results import AUDITED, SCORES

QUESTION = Question(
    name="scores",
    place=70,
    title="Judges of single answers",
    score_checks=(*check.CHECKS, SCORE_CATEGORY, *SCORE_CHECKS),
    of_all=OfAll(
        results=(SCORES,),
        notes={20: lambda counted: counted[AUDITED][1]},
        document={"scores": scores_document},
    ),
)
