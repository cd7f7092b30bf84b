"""What moved since an older audit, and over a series of files: results and their sentences."""

from __future__ import annotations

from dataclasses import dataclass

from ...finding.wording import count
from .charts import FIRST, Chart
from .votes import Shift

WORDS = {
    "accuracy": "accuracy",
    "position": "position bias",
    "flips": "flips with the order",
    "calibration": "squared error of confidence",
    "agreement": "agreement with others",
    "leniency": "leniency",
    "distance": "distance from people",
    "tpr": "share passed of what people pass",
    "tnr": "share failed of what people fail",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Against:
    """What moved since an older audit.

    name : of what was compared with.  paired : by common items, not by an audit's figures alone.
    shifts : one per judge and measure, and of scores metric.  common : comparisons that both have.
    alone : judges that only one audit has.  answers : scored answers that both have.
    """

    name: str
    paired: bool
    common: int
    shifts: tuple[Shift, ...]
    alone: tuple[str, ...]
    answers: int = 0

    @property
    def moved(self) -> tuple[Shift, ...]:
        """Those of which an interval says that the judge, or the data, moved them."""
        ways = ("rises", "falls")
        return tuple(each for each in self.shifts if each.way in ways or each.data_way in ways)

    def sentences(self) -> list[str]:
        """What changed, in plain words; the first sentence is the answer."""
        known = [each for each in self.shifts if each.way is not None]
        shared = [
            count(n, noun)
            for n, noun in ((self.common, "common comparison"), (self.answers, "common answer"))
            if n or (noun == "common comparison" and not self.answers)
        ]
        where = f"Against {self.name}, " + (
            " and ".join(shared) if self.paired else "by its figures alone, items not paired"
        )
        alone = [f"Only one of the two has {', '.join(self.alone)}."] if self.alone else []
        if not known:
            return [f"{where}: nothing can be compared.", *alone]
        if not self.moved:
            least = f"none of {count(len(known), 'figure')} is shown to have changed"
            return [f"{where}: nothing moved; {least}.", *alone]
        judges = sorted({each.judge for each in known if each.way in ("rises", "falls")})
        data = sorted({each.judge for each in known if each.data_way in ("rises", "falls")})
        parts = []
        if judges:
            which = "the judge changed" if self.paired else "its figures changed"
            parts.append(f"{which} ({', '.join(judges)})")
        if data:
            parts.append(f"the data did (items of {', '.join(data)} that only one has)")
        first = f"{where}: {' and '.join(parts)}."
        level = known[0].judge_change.level if known[0].judge_change else 0.95
        chance = (
            f"Of {len(known)} figures about {(1 - level) * len(known):.1f} would move by chance."
        )
        return [first, *map(_sentence, self.moved), chance, *alone]


def _sentence(shift: Shift) -> str:
    """One figure that moved."""
    parts = []
    for change, way, whose in (
        (shift.judge_change, shift.way, "on common items" if shift.paired else "not paired"),
        (shift.data_change, shift.data_way, "from items that only one audit has"),
    ):
        if change is not None and way in ("rises", "falls"):
            parts.append(
                f"{way} by {100 * abs(change.value):.1f} points {whose} "
                f"({100 * change.low:+.1f} to {100 * change.high:+.1f}, {count(change.n, 'item')})"
            )
    values = f"{shift.old:.3f} → {shift.new:.3f}"
    return f"{shift.judge}: {WORDS[shift.measure]} {'; '.join(parts)}; {values}."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FileSeries:
    """Control charts over files, of which the last is the one that is audited.

    files : names, oldest first.  charts : one per judge and measure, and of scores metric.
    """

    files: tuple[str, ...]
    charts: tuple[Chart, ...]

    @property
    def known(self) -> list[Chart]:
        return [chart for chart in self.charts if chart.way is not None]

    @property
    def left(self) -> list[Chart]:
        """Charts that are beyond their limits at some file."""
        return [chart for chart in self.known if chart.beyond]

    def file(self, chart: Chart, place: int) -> str:
        """The name of a chart's file."""
        return self.files[chart.files[place]]

    def sentences(self) -> list[str]:
        """What drifted, in plain words; the first sentence is the answer."""
        where = f"Series of {len(self.files)} files, {self.files[0]} to {self.files[-1]}"
        known = self.known
        if not known:
            reasons = dict.fromkeys(chart.reason for chart in self.charts if chart.reason)
            return [f"{where}: no figure has a control chart ({'; '.join(reasons)})."]
        if not self.left:
            return [f"{where}: none of {count(len(known), 'figure')} left its limits."]
        names = ", ".join(dict.fromkeys(chart.judge for chart in self.left))
        chance = (1 - known[0].level) * len(known)
        return [
            f"{where}: {count(len(self.left), 'figure')} left "
            f"{'its' if len(self.left) == 1 else 'their'} limits ({names}).",
            *map(self._sentence, self.left),
            f"Of {count(len(known), 'figure')} about {chance:.1f} would by chance.",
        ]

    def _sentence(self, chart: Chart) -> str:
        """One figure that left its limits."""
        assert chart.average is not None
        assert chart.limit is not None
        assert chart.change is not None
        first, after = chart.beyond[0], len(chart.files) - FIRST
        return (
            f"{chart.judge}: {WORDS[chart.measure]} {chart.way} with {self.file(chart, first)}; "
            f"the moving average is {100 * chart.average[first]:+.1f} points from the first "
            f"{FIRST} files, where {100 * chart.limit[first]:.1f} may be chance "
            f"({count(chart.n_items, 'item')}). It is beyond the limits at {len(chart.beyond)} of "
            f"{after} files; the newest file alone has {100 * chart.change[-1]:+.1f}."
        )
