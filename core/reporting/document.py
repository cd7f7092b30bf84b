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

from ..auditing.answers import headlines
from ..auditing.overall import OVERALL_WORDS
from ..auditing.results import Audit, JudgeAudit
from ..finding.check import CheckResult
from ..finding.fields import estimate, fields
from ..finding.wording import one_line
from ..questions.change.files import document_of
from ..questions.change.series import series_document
from ..questions.confidence.alone import DecidedAlone
from ..questions.confidence.results import ALONE
from ..questions.reference.second_look import SecondLook
from ..questions.versions.results import document_of as comparison_document

SCHEMA = "appellate.audit/4"
JUDGE_KEYS = (
    *("votes", "accuracy", "calibration", "position", "confusion", "btd", "repeatability"),
    *("direction", "confidences", "effective_votes", "discrimination", "length", "own_family"),
    *("favours", "robustness", "alternative", "reference", "labels"),
)
"""Keys of a judge in the order of the contract; those of other questions follow by name."""
DOCUMENT_KEYS = ("scores", "listwise", "agreement", "leaderboards", "anchor_swap")
"""Keys of what is found of all raters, in the order of the contract."""
ASKED_KEYS = (
    *("listwise_pooled", "anchors", "grid", "forced_choice", "jury", "board_checks", "outside"),
)
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
    for seen in audit.second_looks:
        made["scores"][seen.judge][seen.metric]["second_look"] = _second_look(seen)
    document = {
        "schema": SCHEMA,
        "headline": one_line(headlines(audit)) or None,
        "input": _input(audit),
        "options": options_of(audit),
        "judges": {
            judge.judge: _judge(judge, "cluster" if found.units < found.items else "item")
            for judge in audit.judges
        },
        **{key: made[key] for key in DOCUMENT_KEYS if key in made},
        "verdicts": [
            *(_check(result) for result in audit.checks),
            *(_check(result) for scores in audit.scores for result in scores.checks),
        ],
        "overall": _overall(audit),
        "notes": list(audit.notes),
    }
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


def _second_look(found: SecondLook) -> dict[str, Any]:
    """What a second look at disagreements says."""
    names = ("looked", "agreements", "taken_out", "as_labelled", "most")
    return {name: getattr(found, name) for name in names} | {
        "people_wrong": estimate(found.people_wrong),
        "right": estimate(found.right),
    }


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
