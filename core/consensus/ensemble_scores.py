"""Members, voting rules and fusers side by side: accuracy, calibration, cost, and who departs from whom."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.confidence.calibration import Calibration, calibration
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
    items: int
    level: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnsembleScore:
    """One member, rule or fuser on the labelled comparisons that it and all members judged.

    kind : `member`, `rule`, `fuser`, or `member by BTD`: the votes of the judge `member` alone, under BTD.
    fitted : its labels come from a fit on gold labels (of other items).
    accuracy : share of labels equal to gold.  calibration, th : None without a confidence on each.
    against : key of the best member that needs no more labels: of all members as they vote, and for one that
    is fitted of all members by BTD too.  against_best : accuracy minus that one's, on the same comparisons.
    Both None for the best one itself.
    differs, right, wrong : comparisons on which its label differs from the majority of judges, and on how
    many of those it is right while the majority is wrong, and the other way round.
    departures : codes of the comparisons on which its label differs.
    cost : mean cost of one verdict in the currency of the votes, None if some part of it is unknown.
    """

    key: str
    name: str
    kind: str
    member: str | None
    fitted: bool
    n: int
    accuracy: Proportion
    calibration: Calibration | None
    th: ThScore | None
    against: str | None
    against_best: Difference | None
    differs: int
    right: int
    wrong: int
    departures: IntArray
    cost: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnsembleTable:
    """Scores by key, members first; why rules are missing; accuracy of each rule without each member.

    best_member : key of the most accurate member as it votes.  best_fitted : key of the most accurate member
    as it votes or by BTD, None if nothing could be fitted.  without : (rules, members), None where a rule
    cannot be made; `rules` names the rows.  n : labelled comparisons.
    """

    scores: dict[str, EnsembleScore]
    not_applicable: dict[str, str]
    best_member: str
    best_fitted: str | None
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
            row: dict[str, object] = {
                name: getattr(score, name) for name in ("key", "name", "kind", "fitted", "n")
            }
            rate, measured = score.accuracy, score.calibration
            row |= {"accuracy": rate.value, "accuracy_low": rate.low, "accuracy_high": rate.high}
            for name in ("ece", "ace", "mce", "brier", "nll"):
                row[name] = None if measured is None else getattr(measured, name)
            row["th"] = None if score.th is None else score.th.th
            gap = score.against_best
            row["against"] = score.against and self.scores[score.against].name
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
) -> EnsembleTable:
    """Judge members, voting rules, BTD over the pooled votes, and fusers, on comparisons with gold.

    BTD is fitted on gold labels, which mends any judge's ties and scale. So every member is judged by BTD on
    its own votes too, with the same items held out, and a fitted jury is compared with the best of those:
    what it gains over a member as it votes may be the fit's work and none of the jury's (ours).

    fusers : by judge, as `core.consensus.ensembles.fuser_verdicts`; each is judged on the rows that it has.
    costs : mean cost of a verdict by judge; a rule costs what its members cost together, a fuser that and
    its own. A cost that is not known stays unknown, never 0.

    The difference to the best member is optimistic for no rule: that member was picked on these same
    comparisons, which favours it. Leave-one-member-out is the rule without the member minus the rule.

    Raises NoUsableVotes if no common comparison has gold. Source: [TH] §5; paired intervals are ours.
    """
    known = jury.gold != NO_GOLD
    if not known.any():
        raise NoUsableVotes("No comparison that all members judged has a gold label.")
    costs = costs or {}
    everything = _sum([costs.get(name) for name in jury.names])
    found: dict[str, tuple[str, str, Verdicts, IntArray, float | None]] = {}
    all_rows, every = np.flatnonzero(known), np.arange(len(jury))
    for place, name in enumerate(jury.names):
        own = np.full(len(jury), np.nan) if jury.confidence is None else jury.confidence[place]
        verdicts = Verdicts(label=jury.label[place], confidence=own)
        found[name] = (name, "member", verdicts, every, costs.get(name))
    rules, skipped = applicable(jury)
    voted = {key: combine(jury, key) for key in rules}
    for key, verdicts in voted.items():
        found[key] = (RULES[key].name, "rule", verdicts, every, everything)
    by_btd: dict[str, str] = {}
    try:
        alone = {name: btd_verdicts(jury, rng=deepcopy(rng), member=name) for name in jury.names}
        found["btd"] = ("BTD over pooled votes", "rule", btd_verdicts(jury, rng=rng), every, everything)
        for name, verdicts in alone.items():
            by_btd[f"btd of {name}"] = name
            found[f"btd of {name}"] = (
                f"BTD on {name}'s votes",
                "member by BTD",
                verdicts,
                every,
                costs.get(name),
            )
    except AppellateError as error:
        # Without its members by BTD there is nothing to hold a fitted jury against.
        skipped["btd"] = str(error)
    for name, (verdicts, rows) in (fusers or {}).items():
        if (known[rows]).any():
            found[name] = (name, "fuser", verdicts, rows, _sum([everything, costs.get(name)]))
        else:
            skipped[name] = "judged none of the labelled comparisons of the members"
    hits = {key: float((found[key][2].label == jury.gold)[known].mean()) for key in (*jury.names, *by_btd)}
    best = max(jury.names, key=hits.__getitem__)
    best_fitted = max(hits, key=hits.__getitem__) if by_btd else None
    scores = {}
    for key, (name, kind, verdicts, rows, cost) in found.items():
        kept = known[rows]
        at = rows[kept]
        label, gold, item = verdicts.label[kept], jury.gold[at], jury.item[at]
        fitted = best_fitted is not None and (key == "btd" or key in by_btd)
        against = best_fitted if fitted and best_fitted is not None else best
        right, best_right = label == gold, found[against][2].label[at] == gold
        majority = voted["majority"].label[at]
        measured = _measure(item, verdicts.confidence[kept], right, epsilon, level)
        scores[key] = EnsembleScore(
            key=key,
            name=name,
            kind=kind,
            member=by_btd.get(key),
            fitted=fitted,
            n=len(at),
            accuracy=clustered_proportion(
                item, np.ones(len(at), np.int64), right.astype(np.int64), level=level
            ),
            calibration=measured[0],
            th=measured[1],
            against=None if key == against else against,
            against_best=None if key == against else paired(item, right, best_right, level=level),
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
        best_member=best,
        best_fitted=best_fitted,
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
        plus=jury.plus[keep],
        tie=jury.tie[keep],
        minus=jury.minus[keep],
    )


def paired(item: IntArray, one: FloatArray, two: FloatArray, *, level: float = 0.95) -> Difference:
    """Mean of one − two over comparisons, with an interval that takes items as the unit.

    It is `core.intervals.mean_interval` with the ends −1 and 1, cut where the accuracy of the second leaves
    no room: with its interval [a, b], a difference lies between −b and 1 − a (ours).
    """
    difference = one.astype(np.float64) - two
    value, low, high = mean_interval(item, difference, ends=(-1.0, 1.0), level=level)
    rate = clustered_proportion(item, np.ones(len(two), np.int64), two.astype(np.int64), level=level)
    low, high = np.clip((low, high), -rate.high, 1 - rate.low).tolist()
    items = len(np.unique(item))
    return Difference(value=value, low=low, high=high, n=len(difference), items=items, level=level)


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
    epsilon: float,
    level: float,
) -> tuple[Calibration | None, ThScore | None]:
    if np.isnan(confidence).any():
        return None, None
    outcomes = OutcomeCounts(
        item=item,
        confidence=np.clip(confidence, 0.0, 1.0),
        n=np.ones(len(item), dtype=np.int64),
        correct=right.astype(np.int64),
    )
    return calibration(outcomes, level=level), th_score(outcomes, epsilon, level=level)


def _sum(parts: list[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
