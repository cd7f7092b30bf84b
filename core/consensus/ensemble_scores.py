"""Members, voting rules and fusers side by side: accuracy, calibration, cost, and who departs from whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.confidence.calibration import Calibration, CalibrationIntervals, calibration, calibration_intervals
from core.confidence.th_score import ThScore, th_score
from core.consensus.ensembles import RULES, Members, Verdicts, applicable, btd_verdicts, combine
from core.counts import NO_GOLD, FloatArray, IntArray, OutcomeCounts
from core.intervals import Proportion, clustered_proportion, mean_interval
from core.votes import AppellateError, NoUsableVotes, UnknownName

if TYPE_CHECKING:
    import pandas as pd

EPSILON = 0.05
"""Tail of the TH-Score shown in the table."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Difference:
    """Mean paired difference of two accuracies, `low` to `high` at `level` over items; NaN with one item."""

    value: float
    low: float
    high: float
    n: int
    level: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnsembleScore:
    """One member, rule or fuser on the labelled comparisons that it and all members judged.

    accuracy : share of labels equal to gold.  calibration, intervals, th : None without a confidence on each.
    against_best : accuracy minus the best member's, on the same comparisons; None for that member.
    differs, right, wrong : comparisons on which its label differs from the majority of judges, and on how
    many of those it is right while the majority is wrong, and the other way round.
    departures : codes of the comparisons on which its label differs.
    cost : mean cost of one verdict in the currency of the votes, None if some part of it is unknown.
    """

    key: str
    name: str
    kind: str
    n: int
    accuracy: Proportion
    calibration: Calibration | None
    intervals: CalibrationIntervals | None
    th: ThScore | None
    against_best: Difference | None
    differs: int
    right: int
    wrong: int
    departures: IntArray
    cost: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnsembleTable:
    """Scores by key, members first; why rules are missing; accuracy of each rule without each member.

    best_member : key of the most accurate member.  without : (rules, members), NaN where a rule cannot be
    made; `rules` names the rows.  n : labelled comparisons.
    """

    scores: dict[str, EnsembleScore]
    not_applicable: dict[str, str]
    best_member: str
    rules: tuple[str, ...]
    without: tuple[tuple[Difference | None, ...], ...]
    n: int
    left_out: int
    unlabelled: int

    def to_frame(self) -> pd.DataFrame:
        """One row a member, rule or fuser."""
        import pandas as pd

        rows = []
        for score in self.scores.values():
            row: dict[str, object] = {name: getattr(score, name) for name in ("key", "name", "kind", "n")}
            rate, measured = score.accuracy, score.calibration
            row |= {"accuracy": rate.value, "accuracy_low": rate.low, "accuracy_high": rate.high}
            for name in ("ece", "ace", "mce", "brier", "nll"):
                row[name] = None if measured is None else getattr(measured, name)
            row["th"] = None if score.th is None else score.th.th
            gap = score.against_best
            row |= {f"against_best_{name}": gap and getattr(gap, name) for name in ("value", "low", "high")}
            row |= {name: getattr(score, name) for name in ("differs", "right", "wrong", "cost")}
            rows.append(row)
        return pd.DataFrame(rows)


def compare(
    jury: Members,
    *,
    rng: np.random.Generator,
    fusers: Mapping[str, tuple[Verdicts, IntArray]] | None = None,
    costs: Mapping[str, float | None] | None = None,
    epsilon: float = EPSILON,
    level: float = 0.95,
    iterations: int = 1000,
) -> EnsembleTable:
    """Judge members, voting rules, BTD over the pooled votes, and fusers, on comparisons with gold.

    fusers : by judge, as `core.consensus.ensembles.fuser_verdicts`; each is judged on the rows that it has.
    costs : mean cost of a verdict by judge; a rule costs what its members cost together, a fuser that and
    its own. A cost that is not known stays unknown, never 0.

    The difference to the best member is optimistic for no rule: the best member was picked on these same
    comparisons, which favours it. Leave-one-member-out is the rule without the member minus the rule.

    Raises NoUsableVotes if no common comparison has gold. Source: [TH] §5; paired intervals are ours.
    """
    known = jury.gold != NO_GOLD
    if not known.any():
        raise NoUsableVotes("No comparison that all members judged has a gold label.")
    costs = costs or {}
    everything = _sum([costs.get(name) for name in jury.names])
    found: dict[str, tuple[str, str, Verdicts, IntArray, float | None]] = {}
    all_rows = np.flatnonzero(known)
    for place, name in enumerate(jury.names):
        own = np.full(len(jury), np.nan) if jury.confidence is None else jury.confidence[place]
        verdicts = Verdicts(label=jury.label[place], confidence=own)
        found[name] = (name, "member", verdicts, np.arange(len(jury)), costs.get(name))
    rules, skipped = applicable(jury)
    voted = {key: combine(jury, key) for key in rules}
    for key, verdicts in voted.items():
        found[key] = (RULES[key].name, "rule", verdicts, np.arange(len(jury)), everything)
    try:
        pooled = btd_verdicts(jury, rng=rng)
        found["btd"] = ("BTD over pooled votes", "rule", pooled, np.arange(len(jury)), everything)
    except AppellateError as error:
        skipped["btd"] = str(error)
    for name, (verdicts, rows) in (fusers or {}).items():
        if (known[rows]).any():
            found[name] = (name, "fuser", verdicts, rows, _sum([everything, costs.get(name)]))
        else:
            skipped[name] = "judged none of the labelled comparisons of the members"
    hits = [(jury.label[place] == jury.gold)[known].mean() for place in range(len(jury.names))]
    best = int(np.argmax(hits))
    scores = {}
    for key, (name, kind, verdicts, rows, cost) in found.items():
        kept = known[rows]
        at = rows[kept]
        label, gold, item = verdicts.label[kept], jury.gold[at], jury.item[at]
        right, best_right = label == gold, jury.label[best][at] == gold
        majority = voted["majority"].label[at]
        measured = _measure(item, verdicts.confidence[kept], right, rng, epsilon, level, iterations)
        scores[key] = EnsembleScore(
            key=key,
            name=name,
            kind=kind,
            n=len(at),
            accuracy=clustered_proportion(
                item, np.ones(len(at), np.int64), right.astype(np.int64), level=level
            ),
            calibration=measured[0],
            intervals=measured[1],
            th=measured[2],
            against_best=None if key == jury.names[best] else paired(item, right, best_right, level=level),
            differs=int((label != majority).sum()),
            right=int(((label != majority) & right).sum()),
            wrong=int(((label != majority) & (majority == gold)).sum()),
            departures=jury.comparison[at][label != majority],
            cost=cost,
        )
    names = tuple(voted)
    return EnsembleTable(
        scores=scores,
        not_applicable=skipped,
        best_member=jury.names[best],
        rules=names,
        without=tuple(_without(jury, key, voted[key], all_rows, level) for key in names),
        n=len(all_rows),
        left_out=jury.left_out,
        unlabelled=int((~known).sum()),
    )


def drop(jury: Members, name: str) -> Members:
    """The same comparisons without one member. Raises UnknownName for a judge that is no member."""
    from dataclasses import replace

    if name not in jury.names:
        raise UnknownName(f"{name!r} is no member; members are {', '.join(jury.names)}.")
    keep = [place for place, one in enumerate(jury.names) if one != name]
    return replace(
        jury,
        names=tuple(jury.names[place] for place in keep),
        label=jury.label[keep],
        confidence=None if jury.confidence is None else jury.confidence[keep],
    )


def paired(item: IntArray, one: FloatArray, two: FloatArray, *, level: float = 0.95) -> Difference:
    """Mean of one − two over comparisons, with an interval that takes items as the unit.

    It is `core.intervals.mean_interval` with the ends −1 and 1.
    """
    difference = one.astype(np.float64) - two
    value, low, high = mean_interval(item, difference, ends=(-1.0, 1.0), level=level)
    return Difference(value=value, low=low, high=high, n=len(difference), level=level)


def _without(
    jury: Members, key: str, whole: Verdicts, rows: IntArray, level: float
) -> tuple[Difference | None, ...]:
    """Accuracy of a rule without each member, minus with all; None where one member alone would be left."""
    if len(jury.names) < 3:
        return (None,) * len(jury.names)
    gold, item = jury.gold[rows], jury.item[rows]
    full = whole.label[rows] == gold
    return tuple(
        paired(item, combine(drop(jury, name), key).label[rows] == gold, full, level=level)
        for name in jury.names
    )


def _measure(
    item: IntArray,
    confidence: FloatArray,
    right: FloatArray,
    rng: np.random.Generator,
    epsilon: float,
    level: float,
    iterations: int,
) -> tuple[Calibration | None, CalibrationIntervals | None, ThScore | None]:
    if np.isnan(confidence).any():
        return None, None, None
    outcomes = OutcomeCounts(
        item=item,
        confidence=np.clip(confidence, 0.0, 1.0),
        n=np.ones(len(item), dtype=np.int64),
        correct=right.astype(np.int64),
    )
    return (
        calibration(outcomes, level=level),
        calibration_intervals(outcomes, rng=rng, level=level, iterations=iterations),
        th_score(outcomes, epsilon, level=level),
    )


def _sum(parts: list[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
