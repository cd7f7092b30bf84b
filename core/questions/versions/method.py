"""Two versions of a judge on what both judged: paired differences by unit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import TooFewLabels
from ...records import BoolArray, FloatArray, IntArray
from ...stats.estimate import Estimate
from ...stats.intervals import check_level, common_places, dense_codes, mean_interval
from ..agreement.paired import JudgeVotes, PairedMeasure, Values, compare_judges, paired_measure
from ..scores.agreement import score_agreement
from ..scores.cut import best_cut
from ..scores.table import SAME, UNDECIDED, ScoreTable
from .proof import labels_wanted
from .results import Comparison, Kind, PassMark, VersionFigure

DRAWS, SEED = 1000, 0
"""Resamples of units for the interval of a pass mark that is carried over."""
NO_LABEL = "no item that both judged has a label"

if TYPE_CHECKING:
    from ..scores.evidence import JudgedScores


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Losses:
    """How far two versions are from people, on what both judged; a comparison or answer a row.

    unit : (n,) code of the item, or cluster.  old, new : (n,) loss, 0 to 1: wrong (a tie ½), or
        distance in shares of the scale; NaN without a label.  parted : (n,) whether their verdicts
        differ.
    """

    kind: Kind
    unit: IntArray
    old: FloatArray
    new: FloatArray
    parted: BoolArray

    @property
    def counts(self) -> dict[str, int]:
        """How many there are, how many parted, and of those the ones that a version got nearer."""
        d = (self.old - self.new)[self.parted]
        return {
            "n": len(np.unique(self.unit)),
            "judged": len(self.unit),
            "parted": int(self.parted.sum()),
            "fixed": int((d > SAME).sum()),
            "broken": int((d < -SAME).sum()),
        }


def _figure(
    name: str,
    unit: IntArray,
    old: FloatArray,
    new: FloatArray,
    *,
    ends: tuple[float, ...] = (-1.0, 1.0),
    within: tuple[float, float] = (-1.0, 1.0),
    level: float,
) -> VersionFigure:
    """A figure of both versions and new − old, units weighed alike (`mean_interval`)."""
    both = ~np.isnan(old) & ~np.isnan(new)
    if not both.any():
        return VersionFigure(figure=name, reason=NO_LABEL)
    code = dense_codes(unit[both])
    n = np.bincount(code)
    before, after = (np.bincount(code, side[both]) / n for side in (old, new))
    return VersionFigure(
        figure=name,
        old=float(before.mean()),
        new=float(after.mean()),
        difference=mean_interval(
            np.arange(len(n)), after - before, ends=ends, within=within, level=level
        ),
    )


def vote_losses(old: JudgeVotes, new: JudgeVotes) -> Losses:
    """Share of each version's votes on a comparison that are not right, a tie counting half; they
    part where their majority labels differ.
    """
    in_old, in_new = common_places(old.counts.comparison, new.counts.comparison)
    sides = old.counts.rows(in_old), new.counts.rows(in_new)
    wrong = []
    for counts in sides:
        right = np.where(counts.gold == 1, counts.plus, counts.minus) + counts.tie / 2
        wrong.append(np.where(np.abs(counts.gold) == 1, 1 - right / counts.n, np.nan))
    parted = sides[0].label != sides[1].label
    return Losses(kind="pairs", unit=sides[0].item, old=wrong[0], new=wrong[1], parted=parted)


def compare_votes(
    old: JudgeVotes, new: JudgeVotes, names: tuple[str, str], *, level: float = 0.95
) -> Comparison:
    """Two versions of a judge of pairs, on the comparisons that both voted on.

    gain = mean over items of (share right of the newer) − (of the older), a tie counting half:
    `compare_judges`. Beside it at the same level: position bias by its size, flips and ties, and
    where both state confidence its squared error and overconfidence.

    old, new : codes of comparisons and items are shared.  Source: docs/methods.md §8 (ours).
    """
    check_level(level)
    losses = vote_losses(old, new)
    codes = old.counts.comparison[common_places(old.counts.comparison, new.counts.comparison)[0]]
    measures = {row.measure: row for row in compare_judges(new, old, level=level).measures}
    extra = _position(new, old, codes, level), _ties(new, old, codes, level)
    found = [measures["right"], extra[0], measures["flips"], extra[1]]
    found += [each for each in (measures["brier"], measures["overconfidence"]) if not each.reason]
    figures = tuple(
        VersionFigure(
            figure=row.measure,
            old=row.two,
            new=row.one,
            difference=row.difference,
            reason=row.reason,
        )
        for row in found
    )
    return made(losses, figures, figures[0].difference, names, None)


def _ties(new: JudgeVotes, old: JudgeVotes, codes: IntArray, level: float) -> PairedMeasure:
    def values(votes: JudgeVotes) -> Values:
        counts = votes.counts.rows(np.isin(votes.counts.comparison, codes))
        return counts.item, counts.tie.astype(np.float64), counts.n.astype(np.float64)

    return paired_measure("ties", [values(new), values(old)], (-1.0, 1.0), NO_LABEL, level=level)


def _position(new: JudgeVotes, old: JudgeVotes, codes: IntArray, level: float) -> PairedMeasure:
    def values(votes: JudgeVotes) -> Values:
        placed = votes.placed
        if placed is None:
            none = np.zeros(0, dtype=np.int64)
            return none, np.zeros(0), np.zeros(0)
        keep = np.isin(placed.comparison, codes) & (placed.pairs > 0)
        item = votes.counts.item[np.searchsorted(votes.counts.comparison, placed.comparison[keep])]
        return item, placed.slot_sum[keep] / 2.0, placed.pairs[keep].astype(np.float64)

    sides = [values(new), values(old)]
    signs = (1.0 if sides[0][1].sum() >= 0 else -1.0, 1.0 if sides[1][1].sum() >= 0 else -1.0)
    need = "no item was voted in both orders of one run by both"
    return paired_measure("position", sides, (-1.0, 1.0), need, level=level, signs=signs)


def score_losses(old: JudgedScores, new: JudgedScores) -> tuple[Losses, ScoreTable, ScoreTable]:
    """Losses on the answers that both versions scored, and those answers of each, in one order.

    Of pass and fail the share of runs that say otherwise than most people; of levels the distance
    from the mean of people in shares of the scale. Levels beside people who say pass or fail are
    verdicts, where a pass mark is set.
    """
    before, after = _common(old, new)
    low, high = min(before.low, after.low), max(before.high, after.high)
    verdicts = all(
        table.passing is not None and table.people_passing is not None for table in (before, after)
    ) and not (before.kind == "levels" and before.same_scale)
    if verdicts:
        truth = after.people_verdict
        losses = [
            np.where(truth == UNDECIDED, np.nan, np.abs(table.passed - truth))
            for table in (before, after)
        ]
        parted = before.verdict != after.verdict
    else:
        width = (high - low) or 1.0
        known = after.same_scale
        losses = [
            np.abs(table.judge - after.reference) / width if known else np.full(len(table), np.nan)
            for table in (before, after)
        ]
        parted = np.abs(before.judge - after.judge) > SAME
    kind: Kind = "pass_fail" if verdicts else "levels"
    if before.kind == "pass_fail":
        kind = "pass_fail"
    return (
        Losses(kind=kind, unit=after.unit, old=losses[0], new=losses[1], parted=parted),
        replace(before, low=low, high=high),
        replace(after, low=low, high=high),
    )


def _common(old: JudgedScores, new: JudgedScores) -> tuple[ScoreTable, ScoreTable]:
    """The answers that both scored, in one order, beside the same people."""

    def keys(scores: JudgedScores) -> list[tuple[int, str]]:
        names = (*scores.models, "")
        item = range(len(scores.table)) if scores.item is None else scores.item.tolist()
        model = [-1] * len(scores.table) if scores.model is None else scores.model.tolist()
        return [(own, names[code]) for own, code in zip(item, model, strict=True)]

    place = {key: row for row, key in enumerate(keys(old))}
    rows = [(place[key], row) for row, key in enumerate(keys(new)) if key in place]
    rows = [
        (one, two)
        for one, two in rows
        if not (math.isnan(old.table.judge[one]) or math.isnan(new.table.judge[two]))
    ]
    of_old, of_new = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    before, after = old.table.rows(of_old), new.table.rows(of_new)
    if not (after.persons > 0).any():
        # Gold that stands in the older version's file alone is of the same answers.
        after = replace(
            after,
            people=before.people,
            names=before.names,
            people_passing=before.people_passing,
            same_scale=before.same_scale,
        )
    before = replace(
        before,
        people=after.people,
        names=after.names,
        people_passing=after.people_passing,
        same_scale=after.same_scale,
        unit=after.unit,
    )
    return before, after


def compare_scores(
    old: JudgedScores, new: JudgedScores, names: tuple[str, str], *, level: float = 0.95
) -> Comparison:
    """Two versions of a judge of single answers, on the answers that both scored.

    gain = mean over units of loss(old) − loss(new) with the losses of `score_losses`, by
    `mean_interval` with its two added units. Beside it at the same level: of pass and fail TPR and
    TNR over the units of people's passes and fails, the pass rate, leniency and, where both state
    confidence, its squared error and overconfidence; of levels leniency, the share of equal scores,
    weighted κ of each, and the pass mark carried over.

    Source: docs/methods.md §11 (ours).
    """
    check_level(level)
    losses, before, after = score_losses(old, new)
    unit = losses.unit
    if losses.kind == "pass_fail":
        first = _figure("right", unit, 1 - losses.old, 1 - losses.new, level=level)
        gain, mark = first.difference, None
        figures = [first, *_of_verdicts(old, new, before, after, losses, level)]
    else:
        first = _figure("distance", unit, losses.old, losses.new, level=level)
        gain = None if first.difference is None else _turned(first.difference)
        figures = [first, *_of_levels(before, after, losses, level)]
        mark = carried(before, after)
    return made(losses, tuple(figures), gain, names, new.metric, mark)


def _turned(found: Estimate) -> Estimate:
    return replace(found, value=-found.value, low=-found.high, high=-found.low)


def _of_verdicts(
    old: JudgedScores,
    new: JudgedScores,
    before: ScoreTable,
    after: ScoreTable,
    losses: Losses,
    level: float,
) -> list[VersionFigure]:
    unit, truth = losses.unit, after.people_verdict
    figures = [
        _figure(name, unit[rows], 1 - losses.old[rows], 1 - losses.new[rows], level=level)
        for name, rows in (("tpr", truth == 1), ("tnr", truth == 0))
    ]
    figures.append(_figure("passed", unit, before.passed, after.passed, level=level))
    lenient = [
        np.where(truth == UNDECIDED, np.nan, table.passed - truth) for table in (before, after)
    ]
    figures.append(_figure("leniency", unit, *lenient, level=level))
    return figures


def _of_levels(
    before: ScoreTable, after: ScoreTable, losses: Losses, level: float
) -> list[VersionFigure]:
    width, unit = (after.high - after.low) or 1.0, losses.unit
    if not after.same_scale or after.kind == "labels":
        return []
    tables = (before, after)
    lenient = [(table.judge - after.reference) / width for table in tables]
    exact = [
        np.where(np.isnan(apart), np.nan, np.abs(apart) * width <= SAME).astype(np.float64)
        for apart in lenient
    ]
    kappa = [score_agreement(table, level=level).kappa_weighted for table in tables]
    return [
        _figure("leniency", unit, *lenient, level=level),
        _figure("exact", unit, *exact, level=level),
        VersionFigure(
            figure="kappa_weighted",
            old=None if kappa[0] is None else kappa[0].value,
            new=None if kappa[1] is None else kappa[1].value,
            reason=None if all(kappa) else "κ needs scores of both that vary",
        ),
    ]


def carried(before: ScoreTable, after: ScoreTable) -> PassMark | None:
    """The score from which the newer version passes as large a share of the common answers as the
    older one does from its pass mark; None without one.

    c₂ is the score of the newer whose share of answers at or above it is nearest to the older's
    share at or above c₁; its interval are the 2.5 % and 97.5 % quantiles over 1,000 resamples of
    units. From 50 labels on, 10 of each class, `best_cut` says beside it what people's labels ask
    for. Source: docs/methods.md §11 (ours).
    """
    if before.passing is None or not len(before):
        return None
    rng = np.random.default_rng(SEED)
    code = dense_codes(after.unit)
    units = int(code.max()) + 1
    scores = np.unique(after.judge)
    passes_old = (before.judge >= before.passing - SAME).astype(np.float64)
    of_old = np.bincount(code, passes_old, minlength=units)
    size = np.bincount(code, minlength=units).astype(np.float64)
    of_new = np.stack(
        [np.bincount(code, after.judge >= each - SAME, minlength=units) for each in scores]
    )
    weights = rng.multinomial(units, np.full(units, 1 / units), size=DRAWS)
    weights = np.vstack([np.ones(units), weights]).astype(np.float64)
    total = weights @ size
    shares = (weights @ of_new.T) / total[:, None]
    target = (weights @ of_old) / total
    marks = scores[np.abs(shares - target[:, None]).argmin(axis=1)]
    mark = float(marks[0])
    passes_new = after.judge >= mark - SAME
    try:
        by_labels = best_cut(after, rng=np.random.default_rng(SEED)).cut
    except TooFewLabels:
        by_labels = math.inf
    low, high = np.quantile(marks[1:], (0.025, 0.975), method="nearest")
    return PassMark(
        old=float(before.passing),
        new=mark,
        low=float(low),
        high=float(high),
        passed=float((passes_new & (passes_old > 0)).mean()),
        changed=float((passes_new != (passes_old > 0)).mean()),
        n=len(before),
        by_labels=by_labels if math.isfinite(by_labels) else None,
    )


def made(
    losses: Losses,
    figures: tuple[VersionFigure, ...],
    gain: Estimate | None,
    names: tuple[str, str],
    metric: str | None,
    mark: PassMark | None = None,
) -> Comparison:
    """The comparison, with the labels that a proof would most likely take."""
    counts = losses.counts
    share = (counts["fixed"] + 1) / (counts["fixed"] + counts["broken"] + 2)
    return Comparison(
        old=names[0],
        new=names[1],
        metric=metric,
        kind=losses.kind,
        gain=gain,
        figures=figures,
        labels_wanted=labels_wanted(share, 1),
        mark=mark,
        n=counts["n"],
        judged=counts["judged"],
        parted=counts["parted"],
        fixed=counts["fixed"],
        broken=counts["broken"],
    )
