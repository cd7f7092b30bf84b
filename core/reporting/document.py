"""An audit as the JSON document `appellate.audit/4`, which other programs read.

Fractions are 0 to 1, TH-Score is in percent points, Elo in points; unknown is null, with the reason
in `notes`. Nothing in it depends on the clock or the machine: the same input and seed give the same
bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..auditing.overall import OVERALL_WORDS
from ..auditing.results import Audit, JudgeAudit
from ..finding.check import CheckResult, Unknown
from ..finding.fields import ends, estimate, estimated, fields
from ..questions.change.files import document_of
from ..questions.change.series import series_document
from ..questions.confidence.alone import DecidedAlone
from ..questions.confidence.fields import stated_confidence
from ..questions.confidence.results import ALONE
from ..questions.lists import output as listwise
from ..questions.reference.fields import labels_fields, reference_fields
from ..questions.reference.results import WHICH, WHO
from ..questions.reference.second_look import SecondLook
from ..questions.scores.alone import Alone
from ..questions.scores.cut import Cut
from ..questions.scores.drift import Drift
from ..questions.scores.evidence import ScoreEvidence
from ..questions.scores.recalibration import ScoreRecalibration
from ..questions.versions.results import document_of as comparison_document
from ..stats.estimate import Estimate
from ..stats.intervals import n_distinct

SCHEMA = "appellate.audit/4"
JUDGE_KEYS = (
    *("votes", "accuracy", "calibration", "position", "confusion", "btd", "repeatability"),
    *("direction", "confidences", "effective_votes", "discrimination", "length", "own_family"),
    *("robustness", "alternative", "reference", "labels"),
)
"""Keys of a judge in the order of the contract; those of other questions follow by name."""
DOCUMENT_KEYS = ("agreement", "leaderboards", "anchor_swap")
"""Keys of what is found of all raters, in the order of the contract."""
ASKED_KEYS = ("anchors", "grid", "forced_choice", "jury", "board_checks", "outside")
"""Those of what is not always there; those of other questions follow by name."""


def to_json(audit: Audit) -> str:
    """The document as text: two spaces of indent, keys in the order of the contract, no NaN."""
    return json.dumps(_plain(to_document(audit)), indent=2, ensure_ascii=False, allow_nan=False)


def to_document(audit: Audit) -> dict[str, Any]:
    """The document as nested dicts and lists."""
    found = audit.summary
    made = {
        key: value
        for finding in audit.findings
        for key, write in finding.question.of_all.document.items()
        if (value := write(finding)) is not None
    }
    document = {
        "schema": SCHEMA,
        "input": _input(audit),
        "options": options_of(audit),
        "judges": {
            judge.judge: _judge(judge, "cluster" if found.units < found.items else "item")
            for judge in audit.judges
        },
        "scores": _scores(audit),
        "listwise": {each.judge: listwise.document(each, estimated) for each in audit.rankings},
        **{key: made[key] for key in DOCUMENT_KEYS if key in made},
        "verdicts": [
            *(_check(result) for result in audit.checks),
            *(_check(result) for scores in audit.scores for result in scores.checks),
        ],
        "overall": _overall(audit),
        "notes": list(audit.notes),
    }
    if (together := listwise.over_judges(audit.rankings)) is not None:
        document["listwise_pooled"] = asdict(together)
    document |= {
        key: made[key]
        for key in (*ASKED_KEYS, *sorted(made))
        if key in made and key not in document
    }
    if audit.against is not None:
        document["against"] = document_of(audit.against)
    if audit.series is not None:
        document["series"] = series_document(audit.series)
    if audit.comparisons:
        document["comparisons"] = [comparison_document(each) for each in audit.comparisons]
    if audit.gates:
        document["gates"] = [
            {
                "gate": result.gate,
                "passed": result.passed,
                "reasons": result.reasons,
                "values": [asdict(value) for value in result.values],
            }
            for result in audit.gates
        ]
    return document


def _input(audit: Audit) -> dict[str, Any]:
    found = audit.summary
    sampled = next((reading.sampled for reading in audit.readings if reading.sampled), None)
    return {
        **({"sampled": asdict(sampled)} if sampled else {}),
        "files": [
            {
                "name": reading.name,
                "sha256": reading.sha256,
                "format": reading.format,
                "rows": reading.rows,
                "votes": reading.n_read,
                "rejected": reading.n_rejected,
                "unread": reading.n_unread,
            }
            for reading in audit.readings
        ],
        "votes": found.votes,
        "items": found.items,
        "units": found.units or found.score_units,
        "comparisons": found.comparisons,
        "judges": len(found.judges),
        "people": len(
            {judge.name for judge in found.judges if judge.rater_type == "human"}
            | {rater.name for rater in found.scores if rater.rater_type == "human"}
        ),
        "scores": sum(rater.n for rater in found.scores),
        "metrics": sorted({scores.metric for scores in audit.scores}),
        "models": len(found.models),
        "unparsed": found.unparsed + sum(rater.failed for rater in found.scores),
        "duplicates": sum(reading.duplicates for reading in audit.readings),
    }


def options_of(audit: Audit) -> dict[str, Any]:
    """What was selected, and how it was read and audited."""
    selection = audit.selection
    chosen: dict[str, Any] = {
        "datasets": selection.datasets,
        "judges": selection.judges,
        "rater_types": selection.rater_types,
        "where": [f"{column}={value}" for column, value in selection.where],
        "gold": selection.gold,
    }
    reading = {} if audit.reading_options is None else {"reading": asdict(audit.reading_options)}
    for name in ("items", "version"):
        # Said of several files or versions only.
        if reading and reading["reading"][name] is None:
            del reading["reading"][name]
    own = asdict(audit.options)
    if audit.options.outside is not None:
        # Where a file lies is the machine's.
        own["outside"] = Path(audit.options.outside).name
    return chosen | own | reading


def _check(result: CheckResult) -> dict[str, Any]:
    """One check of one judge: grade, sentence, the estimate with its ends, and the limits."""
    found, limits = result.interval, result.limits
    return {
        "judge": result.judge,
        "check": result.check,
        "metric": result.metric,
        "verdict": result.grade,
        "applicable": result.applicable,
        "sentence": result.sentence,
        "estimate": found and found.value,
        "low": found and found.low,
        "high": found and found.high,
        "n_items": found and found.n,
        "caution": limits and limits.caution,
        "failure": limits and limits.failure,
        "needed_items": result.needed_items,
    }


def _overall(audit: Audit) -> dict[str, Any]:
    """Of each judge, not of people, the verdict on its votes; with scores that of each metric, and
    the worst.
    """
    error = audit.options.error
    overall: dict[str, Any] = {
        judge.judge: _with_alone(asdict(judge.overall), _alone_of(judge), error)
        for judge in audit.without_people
    }
    order = list(OVERALL_WORDS)
    for scores in audit.scores:
        own = _with_alone(asdict(scores.overall), scores.alone.shares, error)
        of_judge = overall.setdefault(scores.judge, dict(own))
        of_judge.setdefault("metrics", {})[scores.metric] = own
        if order.index(own["verdict"]) > order.index(of_judge["verdict"]):
            of_judge |= own
    return overall


def _alone_of(judge: JudgeAudit) -> Sequence[DecidedAlone]:
    """What a judge of pairs may decide alone; nothing where it may not measure."""
    return judge[ALONE] if judge.overall.may("measure") else ()


def _with_alone(
    overall: dict[str, Any], shares: Sequence[DecidedAlone], error: float
) -> dict[str, Any]:
    """The verdict with what may be decided alone at the error that is said first; null if nothing
    is known of it.
    """
    if decide := overall["use"].get("decide"):
        decide["alone"] = next((asdict(one) for one in shares if one.error == error), None)
    return overall


def _scores(found: Audit) -> dict[str, dict[str, Any]]:
    """Judge → metric → its figures, each estimate as value, low, high and n_items."""
    of_judge: dict[str, dict[str, Any]] = {}
    looks = {(look.judge, look.metric): look for look in found.second_looks}
    for audit in found.scores:
        of_judge.setdefault(audit.judge, {})[audit.metric] = _scored(audit.evidence) | {
            "reference": reference_fields(audit.evidence[WHO]),
            "labels": labels_fields(audit.evidence[WHICH], unit=_unit(audit.evidence)),
            "follows": _follows(audit.evidence),
            "confidence": stated_confidence(audit.evidence),
            "alone": _alone(audit.alone),
            "second_look": _second_look(looks.get((audit.judge, audit.metric))),
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
        "repeatability": estimate(evidence.repeatability.icc_3_k),
        "length": estimate(effect.instrumented or effect.raw),
        "drift": _drift(evidence.drift),
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


def _second_look(found: SecondLook | None) -> dict[str, Any] | None:
    """What a second look at disagreements says; None without one."""
    if found is None:
        return None
    names = ("looked", "agreements", "taken_out", "as_labelled", "most")
    return {name: getattr(found, name) for name in names} | {
        "people_wrong": estimate(found.people_wrong),
        "right": estimate(found.right),
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


def _judge(judge: JudgeAudit, unit: str) -> dict[str, Any]:
    made = {
        "votes": fields(judge.votes, ("plus", "tie", "minus", "n")),
        "alone": [asdict(one) for one in _alone_of(judge)],
        **{
            key: write(finding)
            for finding in judge.findings
            for key, write in finding.question.document.items()
        },
    }
    if made["labels"] is not None:
        made["labels"]["unit"] = unit
    return {key: made[key] for key in (*JUDGE_KEYS, *sorted(made.keys() - set(JUDGE_KEYS)))}


def _plain(value: Any) -> Any:
    """NumPy scalars as Python's, NaN and infinities as null."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
