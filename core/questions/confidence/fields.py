"""What the JSON says of confidence."""

from __future__ import annotations

from typing import Any

from ...finding.fields import ends, estimate, fields
from ...finding.question import Finding
from ...stats.estimate import flat
from .kinds import KindOfConfidence
from .results import CALIBRATION, CONSTANT, DISCRIMINATION, ECE, FLOOR, GAP, KINDS, TH, Judged

TH_FIELDS = ("epsilon", "accuracy", "share", "th")


def measures(found: Finding | Judged) -> dict[str, Any] | None:
    """Every measure of calibration, with the bins; None without a confidence."""
    measured, floor = found[CALIBRATION], found[FLOOR]
    if measured is None:
        return None
    bins = flat(measured.reliability, names=("low", "high", "n", "confidence", "accuracy"))
    return {
        **fields(measured, ("n", "accuracy", "mean_confidence", "ece")),
        "ece_floor": floor and {"mean": floor.ece.value, "high": floor.ece.high},
        **fields(measured, ("ace", "mce", "brier", "nll")),
        "th": [fields(score, TH_FIELDS) for score in found[TH]],
        "bins": [
            dict(zip(bins, values, strict=True)) for values in zip(*bins.values(), strict=True)
        ],
    }


def stated_confidence(evidence: Judged) -> dict[str, Any] | None:
    """What the stated confidence of a judge of single answers is worth, as of a judge of pairs."""
    measured, gap = measures(evidence), evidence[GAP]
    return measured and measured | {
        "ece_interval": estimate(evidence[ECE]),
        "gap": estimate(None if gap is None else gap.gap),
        "auroc": estimate(evidence[DISCRIMINATION]),
    }


def discrimination(finding: Finding) -> dict[str, Any] | None:
    """AUROC of its confidence."""
    auroc = finding[DISCRIMINATION]
    return None if auroc is None else ends(auroc, "auroc") | {"constant": finding[CONSTANT]}


def kinds(finding: Finding) -> list[dict[str, Any]]:
    """Every kind of confidence, one beside the other."""
    return [_kind(each) for each in finding[KINDS]]


def _kind(found: KindOfConfidence) -> dict[str, Any]:
    measured = found.calibration
    return {
        "kind": found.kind or "not given",
        "by": found.by,
        **fields(measured, ("n", "accuracy", "mean_confidence")),
        **fields(measured, ("ece", "ace", "mce", "brier", "nll")),
        "auroc": estimate(found.auroc),
        "th": [fields(score, TH_FIELDS) for score in found.th],
    }
