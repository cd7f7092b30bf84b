"""Judges of single answers in the JSON: fractions, estimates with their ends."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from ...finding.check import Unknown
from ...finding.fields import ends, estimate, estimated
from ...finding.question import Finding
from ...stats.estimate import Estimate
from ...stats.intervals import n_distinct
from ..confidence.fields import stated_confidence
from ..reference.fields import labels_fields, reference_fields
from ..reference.results import WHICH, WHO
from .alone import Alone
from .by_category import BY_CATEGORY
from .by_model import BY_MODEL, FAVOURS, ByModel
from .cut import Cut
from .drift import Drift
from .evidence import ScoreEvidence
from .recalibration import ScoreRecalibration
from .results import SCORES


def scores_document(finding: Finding) -> dict[str, dict[str, Any]]:
    """Judge → metric → its figures, each estimate as value, low, high and n_items.

    What a second look says is known to the audit alone.
    """
    of_judge: dict[str, dict[str, Any]] = {}
    for audit in finding[SCORES]:
        of_judge.setdefault(audit.judge, {})[audit.metric] = _scored(audit.evidence) | {
            "reference": reference_fields(audit.evidence[WHO]),
            "labels": labels_fields(audit.evidence[WHICH], unit=_unit(audit.evidence)),
            "follows": _follows(audit.evidence),
            "confidence": stated_confidence(audit.evidence),
            "alone": _alone(audit.alone),
            "second_look": None,
        }
    return of_judge


def _unit(evidence: ScoreEvidence) -> str:
    """What intervals count."""
    table, item = evidence.table, evidence.scores.item
    items = len(table) if item is None else n_distinct(item)
    return "cluster" if n_distinct(table.unit) < items else "item"


def _follows(evidence: ScoreEvidence) -> dict[str, Any]:
    of = evidence.follows
    return {"measure": of.measure, "constant": of.constant, "enough": of.enough} | ends(
        of.estimate, "value"
    )


def _design(evidence: ScoreEvidence) -> str | None:
    of = evidence[WHICH]
    return None if of is None else of.design


def _rate(found: Estimate | None, evidence: ScoreEvidence) -> dict[str, Any] | None:
    """A rate of pass or fail, and by what it is weighed: null where it is of the labels."""
    if found is None:
        return None
    return estimated(found) | {"weighed": _design(evidence) if evidence.weighed else None}


def _scored(evidence: ScoreEvidence) -> dict[str, Any]:
    table, agreement, passing = evidence.table, evidence.agreement, evidence.passing
    rates, effect = evidence.pass_rate, evidence.length
    return {
        "n": len(table),
        "scale": {"low": table.low, "high": table.high, "kind": table.kind},
        "association": estimate(agreement.association),
        "kappa_weighted": estimate(agreement.kappa_weighted),
        "tau": estimate(agreement.tau),
        "auroc": estimate(agreement.auroc),
        "bias": estimate(evidence.leniency.points),
        "bias_share": estimate(evidence.leniency.bias),
        "bias_by_level": [
            {"score": level.score, **estimated(level.bias)} for level in evidence.leniency.by_level
        ],
        "sd_ratio": estimate(evidence.spread.ratio),
        "tpr": _rate(passing.tpr, evidence),
        "tnr": _rate(passing.tnr, evidence),
        "right": _rate(passing.right, evidence),
        "always_pass": passing.always_pass,
        "people": estimate(evidence.people.difference),
        "ceiling": {
            "people": estimate(evidence.ceiling.people_association),
            "judge": estimate(evidence.ceiling.judge_association),
        },
        "by_model": _by_model(evidence[BY_MODEL]),
        "favours": [
            {"model": favour.group, **estimated(favour.difference)}
            for favour in getattr(evidence[FAVOURS], "groups", ())
        ],
        "repeatability": estimate(evidence.repeatability.icc_3_k),
        "length": estimate(effect.instrumented or effect.raw),
        "drift": _drift(evidence.drift),
        "categories": [
            {"category": rate.category, "rate": rate.side, **estimated(rate.rate)}
            for rate in (evidence[BY_CATEGORY] if evidence.table.says_pass else ())
        ],
        "drift_over_time": _drift(evidence.drift_over_time),
        "pass_rate": {
            "judge": estimate(rates.judge),
            "labels": estimate(rates.labels),
            "corrected": _rate(rates.corrected, evidence),
        },
        "cut": _cut(evidence.cut),
        "omega": evidence.alternative.omega,
        "rho": evidence.alternative.rho,
        "epsilon": evidence.alternative.epsilon,
        "versions": [
            {"a": a, "b": b, "of": one.of}
            | {name: estimate(getattr(one, name)) for name in VERSION_FIELDS}
            for (a, b), one in evidence.versions.items()
        ],
        "recalibration": _recalibration(evidence.recalibration),
    }


def _by_model(found: ByModel) -> dict[str, Any]:
    """r of judge and people within models and between them."""
    return {
        "within": estimate(found.within),
        "between": estimate(found.between),
        "models": found.models,
        "n": found.n,
    }


def _alone(found: Alone) -> dict[str, Any]:
    """What it may decide alone, by the error that is allowed."""
    return {
        "by": found.by,
        "reason": found.reason,
        "at": [asdict(one) for one in found.shares],
        "of_verdict": {
            name: [asdict(one) for one in side] for name, side in found.of_verdict.items()
        },
        "blind": found.blind,
        "blind_from": found.blind_from,
    }


def _drift(found: Drift | None) -> list[dict[str, Any]]:
    groups = () if found is None else found.groups
    return [{"group": group.group, **estimated(group.difference)} for group in groups]


VERSION_FIELDS = ("difference", "labels", "judge", "bias")


def _cut(cut: Cut | Unknown) -> dict[str, Any] | None:
    if isinstance(cut, Unknown):
        return None
    estimates = ("cost", "tpr", "tnr", "pass_all", "fail_all")
    return {
        "score": cut.cut if math.isfinite(cut.cut) else None,
        "price": cut.price_fp,
        "better": cut.better,
        "n": cut.n,
        **{name: estimated(getattr(cut, name)) for name in estimates},
    }


def _recalibration(found: ScoreRecalibration | Unknown) -> dict[str, Any] | None:
    if isinstance(found, Unknown):
        return None
    names = ("error_before", "error_after", "bias_before", "bias_after", "n")
    return {name: getattr(found, name) for name in names} | {"change": estimate(found.change)}
