"""Does it favour length, its own family, or a change that should not matter?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...finding.check import differs, points_span
from ...finding.evidence import Counted, Evidence
from ...finding.fields import ends
from ...finding.question import Finding, OfAll, Question
from ...finding.wording import ONE_ITEM, count
from ...stats.estimate import Estimate
from . import check
from .favours import most_favoured
from .results import CHANGES, FAVOURS, LENGTH, OWN_FAMILY


def _unknown(finding: Finding) -> dict[str, str]:
    reasons = {}
    length, family = finding[LENGTH], finding[OWN_FAMILY]
    if length is None:
        reasons["length"] = "no vote decides between responses of known, different length"
    elif length.beyond_gold is None:
        reasons["length beyond gold"] = (
            "gold prefers the longer, or the shorter, response nearly always"
        )
    if family is None:
        reasons["own family"] = "no family was named"
    elif family.difference is None:
        reasons["own family beyond gold"] = (
            "it met too few models of its family, or one side nearly always won"
        )
    if not finding[CHANGES]:
        reasons["robustness"] = "no item was judged again with a change"
    for change in finding[CHANGES]:
        if change.effect is None:
            reasons[f"effect of {change.name}"] = (
                "it has no repeats in one order, and flips may be noise"
            )
        elif not change.effect.has_interval:
            reasons[f"interval of the effect of {change.name}"] = ONE_ITEM
    return reasons


def _length(finding: Finding) -> dict[str, Any] | None:
    """How often the longer response is preferred, and by how much more than gold on
    balanced items.
    """
    length = finding[LENGTH]
    if length is None:
        return None
    beyond = length.beyond_gold or Estimate(math.nan)
    return {
        "longer": length.longer_rate.value,
        "gold_longer": length.gold_rate,
        "difference": beyond.value,
        "low": beyond.low,
        "high": beyond.high,
        "n": beyond.n or length.items,
    }


def _own_family(finding: Finding) -> dict[str, Any] | None:
    family = finding[OWN_FAMILY]
    return (
        None
        if family is None
        else ends(family.difference, "difference") | {"against": family.against}
    )


def _changes(finding: Finding) -> dict[str, Any] | None:
    """Net flips by each change, and of what kind it is."""
    return {
        change.name: ends(change.effect, "flips") | {"n_items": change.n_items, "kind": change.kind}
        for change in finding[CHANGES]
    } or None


def _favoured(finding: Finding) -> list[dict[str, Any]]:
    return [
        {"model": favour.model} | ends(favour.difference, "difference")
        for favour in finding[FAVOURS]
    ]


def _favours_a_model(evidence: Evidence) -> Iterator[str]:
    every = evidence[FAVOURS]
    worst = most_favoured(every)
    widened = f", widened for {count(len(every), 'model')}" if len(every) > 1 else ""
    if worst is not None:
        yield (
            f"{evidence.judge} prefers the answers of {worst.model} "
            f"{differs(worst.difference.value, 'more', 'less')} often than gold does "
            f"({points_span(worst.difference)}{widened})."
        )


def _read_as_own(counted: Counted) -> Iterator[str]:
    for judge, models in counted.namesakes.items():
        yield (
            f"{judge} judged {' and '.join(models)}, which bears its name: read as its own family. "
            "Its maker's other models are not; name a family to add them."
        )


QUESTION = Question(
    name="leaning",
    place=50,
    title="What it favours",
    checks=check.CHECKS,
    results=(LENGTH, OWN_FAMILY, FAVOURS, CHANGES),
    document={
        "length": _length,
        "own_family": _own_family,
        "favours": _favoured,
        "robustness": _changes,
    },
    notes=_favours_a_model,
    unknown={95: _unknown},
    of_all=OfAll(notes={100: _read_as_own}),
)
