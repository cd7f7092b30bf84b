"""Who says what is right, which answers they labelled, and does a judge follow them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...finding.question import Finding, Question
from . import check
from .fields import labels_fields, reference_fields
from .results import RIGHT_OVER_TIME, WEIGHED, WHICH, WHO


def _said(written: Callable[[Any], Any], of: Any) -> Callable[[Finding], Any]:
    return lambda finding: written(finding[of])


QUESTION = Question(
    name="reference",
    place=75,
    title="Who, which, follows",
    checks=check.CHECKS,
    score_checks=check.SCORE_CHECKS,
    results=(WHO, WHICH, WEIGHED, RIGHT_OVER_TIME),
    document={"reference": _said(reference_fields, WHO), "labels": _said(labels_fields, WHICH)},
)
