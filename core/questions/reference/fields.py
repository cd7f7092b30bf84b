"""Who and which as fields of the JSON document."""

from __future__ import annotations

from typing import Any

from ...finding.fields import estimate
from .which import Which
from .who import Who


def reference_fields(of: Who) -> dict[str, Any]:
    """The people beside a judge, and whether they are a reference."""
    return {
        "people": of.people,
        "agreement": estimate(of.agreement),
        "is_reference": of.is_reference,
        "against": list(of.against),
        "copied": list(of.copied),
        "reason": of.reason,
    }


def labels_fields(of: Which | None, *, unit: str = "item") -> dict[str, Any] | None:
    """Which answers have a label, and how these were drawn; None without a label."""
    if of is None:
        return None
    return {
        "n": of.labelled,
        "judged": of.n,
        "design": of.design,
        "asked": of.design == "asked",
        "differs": of.differs,
        "unit": unit,
    }
