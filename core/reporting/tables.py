"""What pages tabulate and offer to download: one row a judge, columns as they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..bias.length import Verbosity
from ..bias.position import OrderBalance, PositionBias
from ..confidence.calibration_error import (
    Calibration,
    CalibrationIntervals,
    ConfidenceGap,
    NoiseFloor,
    by_chance,
)
from ..confidence.recalibration import Recalibration
from ..confidence.selective import RiskCoverage, RiskThreshold
from ..confidence.th_scores import ThScore
from ..plots.position import ORDER_NAMES
from ..records import OutcomeCounts

if TYPE_CHECKING:
    import pandas as pd


class Framed(Protocol):
    """A result."""

    def to_frame(self) -> pd.DataFrame: ...


POSITIONS = {
    "first": "first",
    "second": "second",
    "tie": "tie",
    "bias_decided": "bias decided",
    "bias_decided_low": "low",
    "bias_decided_high": "high",
    "bias_all": "bias all",
    "bias_all_low": "bias all low",
    "bias_all_high": "bias all high",
    "unpaired": "unpaired votes",
    "pairs": "pairs",
    "bias_pairs": "bias in pairs",
    "flip_rate": "flips",
    "flip_rate_low": "flips low",
    "flip_rate_high": "flips high",
    "hard_flip_rate": "hard flips",
    "hard_flip_rate_low": "hard flips low",
    "hard_flip_rate_high": "hard flips high",
    "same_order_disagreement": "same order differs",
    "excess": "excess",
    "towards_first": "lean first",
    "towards_second": "lean second",
    "p_value": "p",
}
"""Columns of `PositionBias`, as they are read."""
POSITIONS_SHOWN = (
    *("judge", "first", "second", "tie", "bias decided", "low", "high", "bias all", "pairs", "bias in pairs"),
    *("p", "flips", "flips low", "flips high", "excess", "hard flips", "lean first", "lean second"),
)
"""Columns that about fit a window, the less telling ones last; the other intervals are in the downloads."""
ORDERS = {
    "judge": "judge",
    "orders": "orders",
    "votes": "votes each",
    "mae": "MAE",
    "mae_low": "low",
    "mae_high": "high",
    "n": "n",
}
LENGTHS = {
    "judge": "judge",
    "n": "decided votes",
    "longer_rate": "prefers longer",
    "longer_rate_low": "low",
    "longer_rate_high": "high",
    "judge_rate": "where gold is known",
    "n_gold": "votes with decided gold",
    "gold_rate": "gold prefers longer",
    "excess": "difference",
    "excess_low": "difference low",
    "excess_high": "difference high",
}

MEASURES = {"ece": "ECE", "ace": "ACE", "brier": "Brier", "nll": "NLL"}
"""Measures that have an interval, as they are written."""


def calibrations(
    results: Mapping[str, Calibration],
    *,
    intervals: Mapping[str, CalibrationIntervals],
    floors: Mapping[str, NoiseFloor],
    gaps: Mapping[str, ConfidenceGap],
    outcomes: Mapping[str, OutcomeCounts],
) -> pd.DataFrame:
    """Each measure with its interval where it has one.

    outcomes : all verdicts of each judge, those without a confidence included, which are counted.
    """
    import pandas as pd

    def row(judge: str) -> dict[str, object]:
        one, floor, gap = results[judge], floors[judge], gaps[judge]

        def interval(name: str) -> dict[str, float]:
            low, high = getattr(intervals[judge], name)
            return {f"{MEASURES[name]} low": low, f"{MEASURES[name]} high": high}

        return {
            "judge": judge,
            "n": one.n,
            "accuracy": one.accuracy,
            "stated": one.mean_confidence,
            "gap": gap.gap,
            "gap low": gap.gap_low,
            "gap high": gap.gap_high,
            "ECE": one.ece,
            **interval("ece"),
            "by chance up to": by_chance(floor),
            "ACE": one.ace,
            "MCE": one.mce,
            "Brier": one.brier,
            "NLL": one.nll,
            # Measures side by side fit a window; their intervals follow.
            **interval("ace"),
            **interval("brier"),
            **interval("nll"),
            "by chance": floor.ece_mean,
            "NLL clipped": one.nll_clipped,
            "items": one.items,
            "accuracy low": one.accuracy_low,
            "accuracy high": one.accuracy_high,
            "without confidence": int(outcomes[judge].n.sum()) - one.n,
        }

    return pd.DataFrame([row(judge) for judge in results])


def near_certain(scores: Mapping[str, ThScore], bands: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """TH-Score of each judge with its interval, and the two rates behind it."""
    import pandas as pd

    return pd.DataFrame(
        {
            "judge": judge,
            "n": one.n,
            "TH-Score": one.th,
            "low": bands[judge][0],
            "high": bands[judge][1],
            "share": one.share,
            "accuracy": one.accuracy,
            "accuracy low": one.accuracy_low,
            "accuracy high": one.accuracy_high,
        }
        for judge, one in scores.items()
    )


def thresholds(found: Mapping[str, RiskThreshold], curves: Mapping[str, RiskCoverage]) -> pd.DataFrame:
    """Threshold of each judge, what it keeps and promises, beside the error rate of all its verdicts."""
    import pandas as pd

    results: Sequence[RiskThreshold] = list(found.values())
    return pd.DataFrame(
        {
            "judge": list(found),
            "n": [one.n for one in results],
            "threshold": _numbers(one.threshold for one in results),
            "share kept": _numbers(one.coverage for one in results),
            "error rate": _numbers(one.error_rate for one in results),
            "errs at most": _numbers(one.bound for one in results),
            "error of all": [curves[judge].error_rate for judge in found],
            "AURC": [curves[judge].aurc for judge in found],
            "why": [one.note for one in results],
        }
    )


def before_and_after(
    found: Recalibration, before: CalibrationIntervals, after: CalibrationIntervals
) -> pd.DataFrame:
    """One row a measure, before and after a map, with intervals where it has them."""
    frame = found.to_frame().set_index("measure")
    for when, ends in (("before", before), ("after", after)):
        frame = frame.join(ends.to_frame().set_index("measure").add_prefix(f"{when} "))
    columns = ["before", "before low", "before high", "after", "after low", "after high", "change", "n"]
    names = {**MEASURES, "mean_confidence": "stated", "mce": "MCE"}
    return frame[columns].rename(index=names).reset_index()


def recalibrations(
    found: Mapping[str, tuple[Recalibration, CalibrationIntervals, CalibrationIntervals, NoiseFloor]],
) -> pd.DataFrame:
    """ECE of each judge before and after a map, with intervals and the floor of after; Brier and NLL."""
    import pandas as pd

    return pd.DataFrame(
        {
            "judge": judge,
            "n": one.after.n,
            "ECE before": one.before.ece,
            "low": before.ece[0],
            "high": before.ece[1],
            "ECE after": one.after.ece,
            "after low": after.ece[0],
            "after high": after.ece[1],
            "by chance up to": by_chance(floor),
            "Brier before": one.before.brier,
            "Brier after": one.after.brier,
            "NLL before": one.before.nll,
            "NLL after": one.after.nll,
        }
        for judge, (one, before, after, floor) in found.items()
    )


def positions(results: Mapping[str, PositionBias]) -> pd.DataFrame:
    """Slot shares, bias within pairs and flips of each judge, with their intervals."""
    return _rows(results)[["judge", *POSITIONS]].rename(columns=POSITIONS)


def orders(balances: Mapping[str, OrderBalance | None]) -> pd.DataFrame:
    """Error of majority labels by the order of the votes, a row a judge and order that has votes."""
    frame = _rows({judge: one for judge, one in balances.items() if one}).query("votes > 0")
    frame["orders"] = frame["orders"].map(ORDER_NAMES)
    return frame[list(ORDERS)].rename(columns=ORDERS)


def lengths(found: Mapping[str, Verbosity]) -> pd.DataFrame:
    """How often each judge, and gold, prefers the longer response."""
    return _rows(found)[list(LENGTHS)].rename(columns=LENGTHS)


def _rows(results: Mapping[str, Framed]) -> pd.DataFrame:
    """Frames of all judges below each other, each row with its judge."""
    import pandas as pd

    frames = [one.to_frame().assign(judge=judge) for judge, one in results.items()]
    return pd.concat(frames, ignore_index=True)


def _numbers(values: Iterable[float | None]) -> list[float]:
    """NaN where there is none, so that a column without any number is still one of numbers."""
    return [float("nan") if value is None else value for value in values]
