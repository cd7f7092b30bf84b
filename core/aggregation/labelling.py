"""The labels that a rule gives, comparison by comparison: to hand out, to look into, to count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.aggregation.aggregators import AGGREGATORS, DERIVED, confidence_labels, derived_name, greedy_pair
from core.aggregation.btd import CHANCES, BTDFit, apply, decide, features, probabilities
from core.aggregation.shrinkage import shrunken_fit
from core.counts import NO_GOLD, NO_SIDE, BoolArray, FloatArray, IntArray, SingleVotes, VoteCounts
from core.intervals import Proportion, clustered_proportion
from core.votes import VOTE_LABELS, UnknownName

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LabelTable:
    """Majority and calibrated label of each row of `counts`, and p(-1), p(0), p(+1), shape (rows, 3)."""

    counts: VoteCounts
    calibrated: IntArray
    p: FloatArray

    def to_frame(self) -> pd.DataFrame:
        """One row a comparison; gold is missing where it is unknown."""
        import pandas as pd

        counts = self.counts
        gold = pd.array(counts.gold, dtype="Int64")
        gold[counts.gold == NO_GOLD] = pd.NA
        columns = {name: getattr(counts, name) for name in ("comparison", "plus", "tie", "minus")}
        columns |= {"gold": gold, "majority": counts.label, "calibrated": self.calibrated}
        return pd.DataFrame(columns | dict(zip(CHANCES, self.p.T, strict=True)))


def label_table(counts: VoteCounts, fit: BTDFit) -> LabelTable:
    """Calibrated label of every comparison, labelled or not; p sums to 1. Source: [BTD] §4."""
    s, t = features(counts, alpha=fit.alpha, kappa=fit.kappa)
    p = probabilities(np.array([fit.beta, fit.eta0, fit.gamma]), s, t)
    return LabelTable(counts=counts, calibrated=decide(p), p=p)


def rule_labels(key: str, counts: VoteCounts, fit: BTDFit) -> IntArray | None:
    """Label that a rule gives each comparison when it is calibrated on every label that there is.

    key : `btd`, which is `fit`, `btd_shrunk`, which leans on the weak prior with the smoothing and loss of
    `fit`, or a rule of AGGREGATORS. None for a rule that is not sure of its labels (random) or needs more
    than counts. Raises UnknownName for any other key.
    """
    if key == "btd":
        return apply(fit, counts)
    if key == "btd_shrunk":
        return apply(shrunken_fit(counts, alpha=fit.alpha, kappa=fit.kappa, loss=fit.loss), counts)
    if key not in AGGREGATORS:
        known = ", ".join(["btd", "btd_shrunk", *AGGREGATORS])
        raise UnknownName(f"There is no aggregator {key!r}; choose from {known}.")
    forecast = AGGREGATORS[key].forecast
    if forecast is None:
        return None
    cells, cell = counts.cells()
    chance = forecast(cells, np.where(cells.gold == NO_GOLD, 0.0, cells.weight)[None])[0]
    if (chance.max(axis=1) < 1).any():
        return None
    label: IntArray = chance.argmax(axis=1) - 1
    return label[cell]


NO_VOTE = -9

WEIGHINGS = {"soft_sc_min": "min", "soft_sc_mean": "mean", "soft_sc_product": "product", "ci_sc": "sum"}


def given_labels(
    counts: VoteCounts,
    votes: SingleVotes,
    *,
    judge: str | None = None,
    judges: Mapping[str, VoteCounts] | None = None,
) -> tuple[dict[str, IntArray], dict[str, str]]:
    """Labels by rules that need more than counts, one a row of `counts`, and why others have none.

    A rule needs its input on every comparison of `counts`, so that all rules are judged on the same ones.
    votes : of the same judge and selection; votes on other comparisons are left out.
    judge, judges : its name and the votes of all judges, among whom USC and GSA are sought as `usc(judge)`
    and `gsa(judge)`.
    """
    row = np.searchsorted(counts.comparison, votes.comparison)
    row[row == len(counts)] = 0
    kept = counts.comparison[row] == votes.comparison
    row, vote, confidence, side = row[kept], votes.vote[kept], votes.confidence[kept], votes.side[kept]
    labels: dict[str, IntArray] = {}
    reasons: dict[str, str] = {}
    without = int(np.isnan(confidence).sum())
    for key, weigh in WEIGHINGS.items():
        if without:
            some = "none of its votes has one" if without == len(vote) else f"{without:,} votes have none"
            reasons[key] = f"needs the confidence of each vote; {some}"
        else:
            labels[key] = confidence_labels(row, vote, confidence, rows=len(counts), weigh=weigh)
    _label_by_orders(votes, kept, row, counts, labels, reasons)
    if judge is not None and judges is not None:
        _label_by_derived(judge, judges, counts, labels, reasons)
    longest = np.full(len(counts), NO_SIDE)
    known = side != NO_SIDE
    # The first vote with known lengths speaks for the comparison: later writes win, so in reverse.
    longest[row[known][::-1]] = side[known][::-1]
    missing = int((longest == NO_SIDE).sum())
    if missing:
        some = "none is known" if missing == len(counts) else f"{missing:,} comparisons lack them"
        reasons["longest"] = f"needs the lengths of both answers; {some}"
    else:
        labels["longest"] = longest
    return labels, reasons


def _label_by_orders(
    votes: SingleVotes,
    kept: BoolArray,
    row: IntArray,
    counts: VoteCounts,
    labels: dict[str, IntArray],
    reasons: dict[str, str],
) -> None:
    """Greedy pair: the first run in each order; equal runs of one order: the vote stored first."""
    if votes.shown is None or votes.run is None:
        return
    shown, run, vote = votes.shown[kept], votes.run[kept], votes.vote[kept]
    first = {}
    for order in (1, -1):
        rows = np.flatnonzero(shown == order)
        rows = rows[np.lexsort([rows, run[rows], row[rows]])]
        seen, start = np.unique(row[rows], return_index=True)
        first[order] = np.full(len(counts), NO_VOTE)
        first[order][seen] = vote[rows[start]]
    missing = int(((first[1] == NO_VOTE) | (first[-1] == NO_VOTE)).sum())
    if missing:
        some = "none has both" if missing == len(counts) else f"{missing:,} comparisons lack one"
        reasons["greedy_pair"] = f"needs a vote in each order (column position); {some}"
    else:
        labels["greedy_pair"] = greedy_pair(first[1], first[-1])


def _label_by_derived(
    judge: str,
    judges: Mapping[str, VoteCounts],
    counts: VoteCounts,
    labels: dict[str, IntArray],
    reasons: dict[str, str],
) -> None:
    """USC and GSA: what the judge derived from this one says; of several votes the majority."""
    for rule in DERIVED:
        name = derived_name(rule, judge)
        if name not in judges:
            reasons[rule] = f"needs votes of the judge {name}, which another model call makes; there are none"
            continue
        said = judges[name]
        row = np.searchsorted(said.comparison, counts.comparison)
        row[row == len(said)] = 0
        missing = int((said.comparison[row] != counts.comparison).sum()) if len(said) else len(counts)
        if missing:
            reasons[rule] = f"needs a vote of {name} on every comparison; {missing:,} have none"
        else:
            labels[rule] = said.label[row]


def label_shares(item: IntArray, labels: Mapping[str, IntArray]) -> dict[str, tuple[Proportion, ...]]:
    """Share of -1, 0, +1 among the labels of each source, with Wilson intervals clustered by item (ours)."""
    one = np.ones(len(item), dtype=np.int64)
    return {
        source: tuple(clustered_proportion(item, one, (label == y).astype(np.int64)) for y in VOTE_LABELS)
        for source, label in labels.items()
    }
