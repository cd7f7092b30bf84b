"""What comparing two versions of a judge finds, and its sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...finding.check import rater_of
from ...finding.wording import count, minus, number, percent, points, signed, signed_ends
from ...stats.estimate import DataFrame, Estimate, rows_frame

Kind = Literal["pairs", "pass_fail", "levels"]
Decision = Literal["better", "worse", "not_shown", "no_labels"]

ANSWERS: dict[Kind, str] = {"pairs": "right", "pass_fail": "right", "levels": "distance"}
"""Kind of judgement → the figure that says which version is better."""
FIGURES = {
    "right": "right",
    "distance": "distance from people, in shares of the scale",
    "tpr": "passed of what people pass",
    "tnr": "failed of what people fail",
    "passed": "passed",
    "leniency": "leniency",
    "exact": "same score as people",
    "kappa_weighted": "weighted κ",
    "position": "position bias",
    "flips": "changed by order",
    "ties": "ties",
    "brier": "squared error of confidence",
    "overconfidence": "overconfidence",
    "unparsed": "outputs without a verdict",
    "cost_per_1000": "cost of 1,000",
}
"""Figure → what it is called."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VersionFigure:
    """One figure of two versions on what both judged.

    old, new : the figure of each.  difference : new − old, paired by unit, its n the units; None
    where `reason` says why, or where a figure has no value by unit.
    """

    figure: str
    old: float | None = None
    new: float | None = None
    difference: Estimate | None = None
    reason: str | None = None

    @property
    def moved(self) -> bool:
        """Whether it is shown to differ."""
        return self.difference is not None and self.difference.excludes(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassMark:
    """The score from which the newer version passes as large a share as the older one did.

    old : from which the older passes.  new : carried, `low` and `high` its interval.
    passed : share of the common answers that pass under both.  changed : share that changes sides.
    n : common answers.
    by_labels : the cut that costs least by people's labels; None with too few.
    """

    old: float
    new: float
    low: float
    high: float
    passed: float
    changed: float
    n: int
    by_labels: float | None

    def sentence(self, names: tuple[str, str]) -> str:
        """The mark, and how many answers it moves."""
        said = (
            f"Pass from {self.new:g} on {names[1]} ({self.low:g} to {self.high:g}), where "
            f"{names[0]} passed from {self.old:g}: {percent(self.passed)} of "
            f"{count(self.n, 'common answer')} pass under both; {percent(self.changed)} change "
            "sides."
        )
        if self.by_labels is not None and not self.low <= self.by_labels <= self.high:
            said += f" By people's labels {names[1]} should pass from {self.by_labels:g}."
        return said


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Comparison:
    """Two versions of a judge on the units that both judged.

    old, new : names of the judges.  metric : that was scored; None of pairs.
    gain : of the figure that decides, `ANSWERS[kind]`, positive where the newer is better: mean
        over units of loss(old) − loss(new), −1 to 1; None where no label is known.
    figures : that figure first, then those beside it.
    n : units that both judged.  judged : comparisons or answers that both judged.
    parted : of these, those on which their verdicts differ.
    fixed, broken : of the parted with a label, where the newer, or the older, is nearer to it.
    labels_wanted : labels of parted ones that would most likely decide; None where none would.
    mark : the pass mark carried over, of levels.
    seen : units that were open while the newer version was written.  tried : sentences of the tries
        to prove one of this family better.
    """

    old: str
    new: str
    metric: str | None
    kind: Kind
    gain: Estimate | None
    figures: tuple[VersionFigure, ...]
    n: int
    judged: int
    parted: int
    fixed: int
    broken: int
    labels_wanted: int | None
    mark: PassMark | None = None
    seen: int = 0
    tried: tuple[str, ...] = ()

    @property
    def decision(self) -> Decision:
        """Which is better, as far as the interval shows it."""
        if self.gain is None:
            return "no_labels"
        if not self.gain.has_interval or not self.gain.excludes(0):
            return "not_shown"
        return "better" if self.gain.low > 0 else "worse"

    @property
    def whose(self) -> str:
        """The newer version, and what it scored."""
        return self.new if self.metric is None else rater_of(self.new, self.metric)

    def sentences(self) -> list[str]:
        """Which version is better, in plain words; the first sentence is the answer."""
        said = [self._answer()]
        if self.seen:
            said.append(
                f"{self.seen:,} of these items were open while {self.new} was written; this figure "
                "flatters it."
            )
        said += [self._class_guard()] if self.decision == "better" else []
        said += [self._beside()]
        said += [self.mark.sentence((self.old, self.new))] if self.mark is not None else []
        return [*filter(None, said), *self.tried]

    def _answer(self) -> str:
        headline, figures, then = self.answer()
        if self.decision in ("better", "worse"):
            return f"{headline}: {figures}."
        return f"{headline} ({figures}). {then}" if figures else f"{headline}. {then}"

    def answer(self) -> tuple[str, str, str]:
        """What was found, its figures, and what follows; of each what there is, the first two
        without a final stop.
        """
        parted = f"{self.parted:,} of {self.judged:,}"
        what = f" on {self.metric}" if self.metric not in (None, "score") else ""
        if self.gain is None:
            return (
                f"{self.new} and {self.old} part{what} on {parted} "
                f"{'comparisons' if self.kind == 'pairs' else 'answers'}; no label says who is "
                "right",
                "",
                "`prove` asks about those only.",
            )
        span = f"{minus(signed(100 * self.gain.value, 1))} points"
        if self.gain.has_interval:
            low, high = (minus(points(end)) for end in (self.gain.low, self.gain.high))
            span += f", {low} to {high}"
        if self.decision in ("better", "worse"):
            first = self.figures[0]
            assert first.old is not None
            assert first.new is not None
            way = f"{self.new} is {self.decision} than {self.old}{what}"
            items = count(self.gain.n, "item")
            if self.kind == "levels":
                figures = (
                    f"{percent(first.new)} of the scale from people against {percent(first.old)} "
                    f"on the same {items} ({span})"
                )
            else:
                figures = (
                    f"right on {percent(first.new)} against {percent(first.old)} of the same "
                    f"{items} ({span})"
                )
            return way, figures, ""
        way = f"{self.new} is not shown to be better than {self.old}{what}"
        follows = f"nothing favours {self.new} where they do."
        if self.labels_wanted is not None:
            wanted = count(self.labels_wanted, "label")
            follows = f"about {wanted} there would decide a gain of this size: `prove`."
        items = count(self.gain.n, "item")
        return way, f"{span}; {items}", f"They part on {parted}; {follows}"

    def _class_guard(self) -> str:
        """What a better version does worse to one class."""
        for figure, does in (
            ("tnr", "passes more of what people fail (TNR"),
            ("tpr", "fails more of what people pass (TPR"),
        ):
            change = next((f.difference for f in self.figures if f.figure == figure), None)
            if change is not None and change.high < 0:
                ends = minus(signed_ends(change.scaled(100), 1))
                return (
                    f"Better overall, but it {does} {minus(points(change.value))} points, {ends})."
                )
        return ""

    def _beside(self) -> str:
        """Which figures beside the answer moved, and how many would by chance."""
        beside = [each for each in self.figures[1:] if each.difference is not None]
        if not beside:
            return ""
        moved = [
            f"{FIGURES[each.figure]} {number(each.old, '.2f')} → {number(each.new, '.2f')}"
            for each in beside
            if each.moved
        ]
        assert beside[0].difference is not None
        chance = (1 - beside[0].difference.level) * len(beside)
        return (
            f"Beside: {', '.join(moved) if moved else 'no figure is shown to have moved'}. Of "
            f"{count(len(beside), 'figure')} about {chance:.1f} would move by chance."
        )

    def to_frame(self) -> DataFrame:
        """One row per figure."""
        return rows_frame(VersionFigure, self.figures)


def document_of(comparison: Comparison) -> dict[str, Any]:
    """A comparison, as the JSON document of an audit has it."""
    mark = comparison.mark
    return {
        "old": comparison.old,
        "new": comparison.new,
        "metric": comparison.metric,
        "kind": comparison.kind,
        "decision": comparison.decision,
        "gain": None if comparison.gain is None else _written(comparison.gain),
        "unit": "items",
        "figures": [
            {
                "figure": each.figure,
                "old": each.old,
                "new": each.new,
                "difference": None if each.difference is None else _written(each.difference),
                "reason": each.reason,
            }
            for each in comparison.figures
        ],
        "n_items": comparison.n,
        "judged": comparison.judged,
        "parted": comparison.parted,
        "fixed": comparison.fixed,
        "broken": comparison.broken,
        "labels_wanted": comparison.labels_wanted,
        "seen": comparison.seen,
        "tries": list(comparison.tried),
        **(
            {}
            if mark is None
            else {"pass_mark": {name: getattr(mark, name) for name in PassMark.__slots__}}
        ),
        "sentences": comparison.sentences(),
    }


def _written(found: Estimate) -> dict[str, Any]:
    low, high = (found.low, found.high) if found.has_interval else (None, None)
    return {
        "value": found.value,
        "low": low,
        "high": high,
        "level": found.level,
        "n_items": found.n,
    }
