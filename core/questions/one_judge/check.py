"""Is one name one judge: the same in every file that was read."""

from __future__ import annotations

from ...finding.check import AnyEvidence, Check, CheckResult, Limits, Unknown, p_value
from ...finding.wording import count, number, percent, points
from ...stats.estimate import Estimate
from .results import BETWEEN_FILES


def _difference(evidence: AnyEvidence) -> Estimate | Unknown:
    found = evidence[BETWEEN_FILES]
    return Unknown("fewer than 20 items are in two files") if found is None else found.difference


def _one_judge(check: Check, evidence: AnyEvidence) -> CheckResult:
    """Warns where the judge is shown to differ between two files, else ok."""
    found = evidence[BETWEEN_FILES]
    if found is None:
        return check.unknown(evidence, Unknown("fewer than 20 items are in two files"))
    difference, limits = found.difference, check.limits_of(evidence)
    did = {"right": "right on", "vote": "its mean vote is", "score": "its mean score is"}
    before, after = (
        percent(value) if found.measure == "right" else number(value, ".2f")
        for value in (found.before, found.after)
    )
    written = points if found.measure == "right" else (lambda value: number(value, "+.2f"))
    unit = " points" if found.measure == "right" else ""
    ends = f", {written(difference.low)} to {written(difference.high)}"
    what = (
        f"{did[found.measure]} {before} in {found.earlier} and {after} in {found.later}, on the "
        f"same {count(difference.n, 'item')} ({written(difference.value)}{unit}"
        f"{ends if difference.has_interval else ''})"
    )
    sentence = (
        f"{evidence.judge} is two judges here: {what}. Tell them apart with `--version file`."
        if found.shown
        else f"{evidence.judge} is not shown to be two judges: {what}."
    )
    return CheckResult(
        judge=evidence.judge,
        check=check.name,
        grade="warn" if found.shown else "ok",
        sentence=sentence,
        estimate=difference,
        limits=limits,
        p_value=p_value(difference, limits),
        metric=evidence.metric,
    )


ONE_JUDGE = Check(
    name="one_judge",
    title="one judge",
    gravity=80,
    fault="is two judges in these files",
    subject="Being one judge in all files",
    question="Is it the same judge in every file?",
    page="verdict",
    limits=Limits(
        "signed",
        0.0,
        None,
        "A difference between two files that is no chance at 1 − .01/pairs of files.",
        worst="warn",
        items=20,
        unit="points",
    ),
    needs="20 items that two files have",
    more_of="that two files have",
    advice="Tell its versions apart with `--version file`: a figure over both is of neither.",
    estimate=_difference,
    sentence=lambda *_: "",
    compose=_one_judge,
    short=lambda _evidence, _difference, grade: (
        "is two judges in these files" if grade == "warn" else "is one judge in all files"
    ),
    figure="between files",
    asked=lambda evidence: evidence[BETWEEN_FILES] is not None,
)

CHECKS: tuple[Check, ...] = (ONE_JUDGE,)
