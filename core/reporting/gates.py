"""Gates of a build: what fails it, tested on an audit.

A gate's result is a part of the audit (`with_gates`), so that text, JSON, Markdown and JUnit show
the same.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from ..auditing.checks import BY_NAME
from ..auditing.overall import OVERALL_WORDS, Overall, UseName
from ..auditing.results import Audit, GateResult, GateValue, JudgeAudit
from ..errors import InvalidOption
from ..finding.check import GRADES
from ..finding.tables import field_of
from ..questions.change.files import COMPARED
from ..questions.scores.evidence import ScoreEvidence
from ..questions.versions.results import Comparison
from ..stats.estimate import Estimate
from .text import METRICS

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


SCORE_METRICS: dict[str, Callable[[ScoreEvidence], Estimate | None]] = {
    "tpr": lambda evidence: evidence.passing.tpr,
    "tnr": lambda evidence: evidence.passing.tnr,
    "association": lambda evidence: evidence.agreement.association,
    "kappa_weighted": lambda evidence: evidence.agreement.kappa_weighted,
    "auroc": lambda evidence: evidence.agreement.auroc,
    "bias": lambda evidence: evidence.leniency.points,
    "pass_rate.corrected": lambda evidence: evidence.pass_rate.corrected,
    "pass_rate.judge": lambda evidence: evidence.pass_rate.judge,
}
"""What a gate can test of scores, each that of the JSON document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Fail when `metric` `sign` `limit` holds, of its size if `size`.

    of : the metric that was scored, for a figure of scores; without it the worst has to pass.
    """

    metric: str
    sign: str
    limit: float
    size: bool = False
    of: str | None = None

    def __str__(self) -> str:
        return f"{self.named}{self.sign}{self.limit:g}"

    @property
    def named(self) -> str:
        """The metric as it was written: `ece` or `abs(bias_decided)`."""
        metric = self.metric if self.of is None else f"{self.metric}[{self.of}]"
        return f"abs({metric})" if self.size else metric

    def tested(self, audit: Audit) -> GateResult:
        """What each judge has; an unknown value fails too, and is named."""
        if self.metric in METRICS:
            estimates = [
                (judge.judge, _estimate_at(judge, METRICS[self.metric]))
                for judge in audit.asked_about
            ]
        else:
            estimates = [
                (scores.whose, SCORE_METRICS[self.metric](scores.evidence))
                for scores in audit.scores
                if self.of in (None, scores.metric)
            ]
        reasons = [] if estimates else [f"{self}: nothing in the audit has {self.named}."]
        values = []
        for judge, estimate in estimates:
            if estimate is None or math.isnan(estimate.value):
                reasons.append(f"{self}: {judge} has no {self.metric}.")
                values.append(GateValue(judge=judge, value=None, passed=False))
                continue
            value = abs(estimate.value) if self.size else estimate.value
            passed = not OPERATORS[self.sign](value, self.limit)
            if not passed:
                reasons.append(f"{self}: {judge} has {self.named} {value:.6g}.")
            low, high = _ends(estimate)
            values.append(
                GateValue(judge=judge, value=estimate.value, low=low, high=high, passed=passed)
            )
        return GateResult(gate=str(self), reasons=tuple(reasons), values=tuple(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictGate:
    """Fail when a check, or the overall verdict, is this or worse.

    strict : `unclear` fails like `fail`, and `cannot_say` like `do_not_trust`.
    """

    check: str
    verdict: str
    strict: bool = False

    def __str__(self) -> str:
        return f"{self.check}={self.verdict}"

    def tested(self, audit: Audit) -> GateResult:
        """What each judge was graded."""
        order: tuple[str, ...] = tuple(OVERALL_WORDS) if self.check == "overall" else GRADES
        failing = set(order[order.index(self.verdict) :])
        if self.strict:
            failing |= {"cannot_say"} if self.check == "overall" else {"unclear"}
        elif self.verdict != "unclear":
            failing -= {"unclear", "unknown"} - {self.verdict}
        results = [result for judge in audit.asked_about for result in judge.checks]
        results += [result for scores in audit.scores for result in scores.checks]
        values = [
            GateValue(judge=result.whose, value=result.grade, passed=result.grade not in failing)
            for result in results
            if result.check == self.check
        ]
        if self.check == "overall":
            given = [(judge.judge, judge.overall.verdict) for judge in audit.asked_about]
            given += [(scores.whose, scores.overall.verdict) for scores in audit.scores]
            values = [
                GateValue(judge=judge, value=verdict, passed=verdict not in failing)
                for judge, verdict in given
            ]
        return GateResult(
            gate=str(self),
            reasons=tuple(
                f"{self}: {each.judge} is {each.value}." for each in values if not each.passed
            ),
            values=tuple(values),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UseGate:
    """Fail when a judge is not shown to be fit for a use: to decide, to measure or to sort.

    use : None: what a judge is for by what it says, to decide if that is pass or fail, else to
        measure.
    """

    use: UseName | None

    def __str__(self) -> str:
        return "use!=yes" if self.use is None else f"use.{self.use}!=yes"

    def tested(self, audit: Audit) -> GateResult:
        """The answer for each judge, with what it rests on where it is no yes."""
        given: list[tuple[str, Overall, UseName]] = [
            (judge.judge, judge.overall, self.use or "measure") for judge in audit.asked_about
        ]
        given += [
            (scores.whose, scores.overall, self.use or default_use(scores.evidence))
            for scores in audit.scores
        ]
        reasons = [] if given else [f"{self}: nothing in the audit says what a judge may do."]
        values = []
        for judge, overall, use in given:
            of = overall.use[use]
            if of.answer != "yes":
                reasons.append(f"{self}: {judge} to {use}: {of.answer}. {of.because}")
            values.append(GateValue(judge=judge, value=of.answer, passed=of.answer == "yes"))
        return GateResult(gate=str(self), reasons=tuple(reasons), values=tuple(values))


def default_use(evidence: ScoreEvidence) -> UseName:
    """What a judge of single answers is for where nobody says it: one that says pass or fail
    decides, and levels measure.
    """
    return "decide" if evidence.table.says_pass else "measure"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftGate:
    """Fail when a measure of a judge is shown to rise, or to fall, on items that an older audit has
    too.
    """

    measure: str
    way: str

    def __str__(self) -> str:
        return f"{self.measure} {self.way}"

    def tested(self, audit: Audit) -> GateResult:
        """How far each judge moved; what cannot be compared fails too, and is named.

        Raises InvalidOption: there is no older audit.
        """
        if audit.against is None:
            raise InvalidOption(f"--fail-if {str(self)!r}: name the last audit with --against.")
        compared = [each for each in audit.against.shifts if each.measure == self.measure]
        reasons = [] if compared else [f"{self}: no judge is in both audits."]
        values = []
        for each in compared:
            change = each.judge_change
            if change is None or each.way is None:
                reasons.append(f"{self}: {each.judge} cannot be compared: {each.reason}.")
                values.append(GateValue(judge=each.judge, value=None, passed=False))
                continue
            if each.way == self.way:
                reasons.append(
                    f"{self}: {each.judge} has {each.new:.3f} after {each.old:.3f} "
                    f"({100 * change.low:+.1f} to {100 * change.high:+.1f} points)."
                )
            low, high = _ends(change)
            passed = each.way != self.way
            values.append(
                GateValue(judge=each.judge, value=change.value, low=low, high=high, passed=passed)
            )
        return GateResult(gate=str(self), reasons=tuple(reasons), values=tuple(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class GainGate:
    """Fail when the gain of a version over an older one compares so with `limit`.

    sign, limit : as of `Gate`.
    """

    sign: str
    limit: float

    def __str__(self) -> str:
        return f"gain{self.sign}{self.limit:g}"

    def tested(self, audit: Audit) -> GateResult:
        """The gain of each newer version; an unknown one fails too, and is named."""
        reasons, values = [], []
        for each in compared_versions(audit, self):
            gain = each.gain
            if gain is None:
                reasons.append(f"{self}: no label says whether {each.whose} is better.")
                values.append(GateValue(judge=each.whose, value=None, passed=False))
                continue
            passed = not OPERATORS[self.sign](gain.value, self.limit)
            low, high = _ends(gain)
            if not passed:
                reasons.append(f"{self}: {each.whose} gains {gain.value:.6g} over {each.old}.")
            values.append(
                GateValue(judge=each.whose, value=gain.value, low=low, high=high, passed=passed)
            )
        return GateResult(gate=str(self), reasons=tuple(reasons), values=tuple(values))


SHOWN = {"better": "yes", "worse": "no", "not_shown": "not shown", "no_labels": "no labels"}
"""What a comparison says → the answer to "is it better?"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterGate:
    """Fail when a version is not shown to be better than the older one.

    judge : of this version; None of every newer version that was compared.
    """

    judge: str | None = None

    def __str__(self) -> str:
        return f"better{'' if self.judge is None else f':{self.judge}'}!=yes"

    def tested(self, audit: Audit) -> GateResult:
        """Whether each newer version is better, with the sentence where it is not."""
        found = [each for each in compared_versions(audit, self) if self.judge in (None, each.new)]
        values = []
        reasons = [] if found else [f"{self}: {self.judge} is not compared with an older version."]
        for each in found:
            answer = SHOWN[each.decision]
            low, high = (None, None) if each.gain is None else _ends(each.gain)
            if answer != "yes":
                reasons.append(f"{self}: {answer}. {each.sentences()[0]}")
            values.append(
                GateValue(
                    judge=each.whose, value=answer, low=low, high=high, passed=answer == "yes"
                )
            )
        return GateResult(gate=str(self), reasons=tuple(reasons), values=tuple(values))


def compared_versions(audit: Audit, gate: GainGate | BetterGate) -> tuple[Comparison, ...]:
    """The comparisons that a gate tests. Raises InvalidOption: none was asked for."""
    if not audit.comparisons:
        raise InvalidOption(f"--fail-if {str(gate)!r}: name the versions with --compare.")
    return audit.comparisons


AnyGate = Gate | VerdictGate | UseGate | ShiftGate | GainGate | BetterGate


def _estimate_at(judge: JudgeAudit, path: str) -> Estimate | None:
    """The figure of a judge at a path, with its ends where it has an interval."""
    value = field_of(judge, path)
    estimate = field_of(judge, path.removesuffix(".value"))
    return estimate if isinstance(estimate, Estimate) or value is None else Estimate(value)


def _ends(estimate: Estimate) -> tuple[float | None, float | None]:
    return (estimate.low, estimate.high) if estimate.has_interval else (None, None)


def parse_gate(text: str, *, strict: bool = False) -> AnyGate:
    """Read `ece>0.1`, `abs(bias_decided)>0.1`, `position=fail`, `overall=do_not_trust`,
    `use.measure!=yes`, `accuracy falls`, `gain<0.02` or `better:gpt@v2!=yes`.

    Raises InvalidOption with what is allowed.
    """
    moving = re.fullmatch(r"\s*(\w+)\s+(rises|falls)\s*", text)
    if moving:
        if moving[1] not in COMPARED:
            raise InvalidOption(
                f"--fail-if {text!r}: {moving[1]!r} is not compared; choose from "
                f"{', '.join(COMPARED)}."
            )
        return ShiftGate(measure=moving[1], way=moving[2])
    used = re.fullmatch(r"\s*use(?:\.(\w+))?\s*!=\s*yes\s*", text)
    if used:
        if used[1] is None:
            return UseGate(use=None)
        for use in get_args(UseName):
            if use == used[1]:
                return UseGate(use=use)
        raise InvalidOption(
            f"--fail-if {text!r}: {used[1]!r} is no use; choose from "
            f"{', '.join(get_args(UseName))}."
        )
    better = re.fullmatch(r"\s*better(?:\s*:\s*(.+?))?\s*!=\s*yes\s*", text)
    if better:
        return BetterGate(judge=better[1])
    named = re.fullmatch(r"\s*(\w+)\s*=\s*(\w+)\s*", text)
    if named:
        check, verdict = named.groups()
        if check not in (*BY_NAME, "overall"):
            raise InvalidOption(
                f"--fail-if {text!r}: there is no check {check!r}; choose from overall, "
                f"{', '.join(BY_NAME)}."
            )
        allowed = (
            ("cannot_say", "do_not_trust", "trust_with_limits")
            if check == "overall"
            else GRADES[1:]
        )
        if verdict not in allowed:
            raise InvalidOption(f"--fail-if {text!r}: {verdict!r} is none of {', '.join(allowed)}.")
        return VerdictGate(check=check, verdict=verdict, strict=strict)
    match = re.fullmatch(
        r"\s*(abs\()?\s*([\w.]+)(?:\[([^\]]+)\])?\s*(\))?\s*(<=|>=|<|>)\s*(\S+)\s*", text
    )
    if match is None or bool(match[1]) != bool(match[4]):
        raise InvalidOption(
            f"--fail-if {text!r}: write it as METRIC>NUMBER, with < <= > or >=, such as ece>0.1 or "
            "abs(bias_decided)>0.1, or as CHECK=VERDICT, such as position=fail or "
            "overall=do_not_trust, as use.measure!=yes, with --against as accuracy falls, or with "
            "--compare as gain<0.02 or better:JUDGE!=yes."
        )
    size, metric, of, _, sign, limit = match.groups()
    if metric not in METRICS and metric not in SCORE_METRICS and metric != "gain":
        raise InvalidOption(
            f"--fail-if {text!r}: there is no metric {metric!r}; choose from {', '.join(METRICS)}, "
            f"or of scores from {', '.join(SCORE_METRICS)}."
        )
    if of is not None and metric not in SCORE_METRICS:
        raise InvalidOption(
            f"--fail-if {text!r}: only figures of scores have a metric in brackets: "
            f"{', '.join(SCORE_METRICS)}."
        )
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise InvalidOption(f"--fail-if {text!r}: {limit!r} is not a number.")
    if metric == "gain":
        return GainGate(sign=sign, limit=number)
    return Gate(metric=metric, sign=sign, limit=number, size=bool(size), of=of)


def strict_gates(use: UseName | None = None) -> list[AnyGate]:
    """What `--strict` alone fails on: a judge that is not shown to be fit for its use, or one that
    must not be trusted.

    use : what judges are for; None takes it from what they say (`default_use`).
    """
    return [UseGate(use=use), VerdictGate(check="overall", verdict="do_not_trust")]


def with_gates(audit: Audit, gates: Sequence[AnyGate]) -> Audit:
    """The audit with the result of each gate, in their order."""
    return replace(audit, gates=tuple(gate.tested(audit) for gate in gates))


def failures(audit: Audit) -> list[str]:
    """One sentence for each gate and judge that fails."""
    return [sentence for gate in audit.gates for sentence in gate.reasons]
