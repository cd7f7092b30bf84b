"""Pass or fail an audit by conditions such as `ece>0.1`, for use in a build."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .auditing import Audit, JudgeAudit
from .errors import InvalidOption
from .stats.estimate import Estimate

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def _value(found: Estimate | None) -> float | None:
    return None if found is None else found.value


METRICS: dict[str, Callable[[JudgeAudit], float | None]] = {
    "ece": lambda judge: judge.calibration.ece if judge.calibration else None,
    "ace": lambda judge: judge.calibration.ace if judge.calibration else None,
    "mce": lambda judge: judge.calibration.mce if judge.calibration else None,
    "brier": lambda judge: judge.calibration.brier if judge.calibration else None,
    "nll": lambda judge: judge.calibration.nll if judge.calibration else None,
    "accuracy": lambda judge: _value(judge.accuracy),
    "bias_decided": lambda judge: _value(judge.position.bias_decided if judge.position else None),
    "flip_rate": lambda judge: _value(judge.position.flip_rate if judge.position else None),
    "icc_3_k": lambda judge: _value(judge.repeatability.icc_3_k if judge.repeatability else None),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Fail when `metric` `sign` `limit` holds."""

    metric: str
    sign: str
    limit: float

    def __str__(self) -> str:
        return f"{self.metric}{self.sign}{self.limit:g}"


def parse_gate(text: str) -> Gate:
    """Read `ece>0.1`; raises InvalidOption with what is allowed."""
    match = re.fullmatch(r"\s*(\w+)\s*(<=|>=|<|>)\s*(\S+)\s*", text)
    if match is None:
        raise InvalidOption(
            f"--fail-if {text!r}: write it as METRIC>NUMBER, with < <= > or >=, such as ece>0.1."
        )
    metric, sign, limit = match.groups()
    if metric not in METRICS:
        raise InvalidOption(
            f"--fail-if {text!r}: there is no metric {metric!r}; choose from {', '.join(METRICS)}."
        )
    try:
        number = float(limit)
    except ValueError:
        number = float("nan")
    if number != number:
        raise InvalidOption(f"--fail-if {text!r}: {limit!r} is not a number.")
    return Gate(metric=metric, sign=sign, limit=number)


def failed_gates(audit: Audit, gates: Sequence[Gate]) -> list[str]:
    """One sentence for each judge and gate that fails; an unknown value fails too, and is named."""
    failures = []
    for gate in gates:
        for judge in audit.judges:
            value = METRICS[gate.metric](judge)
            if value is None:
                failures.append(f"{gate}: {judge.judge} has no {gate.metric}.")
            elif OPERATORS[gate.sign](value, gate.limit):
                failures.append(f"{gate}: {judge.judge} has {gate.metric} {value:.6g}.")
    return failures
