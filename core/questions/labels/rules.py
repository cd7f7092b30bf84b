"""Every rule that turns the votes of a comparison into one label, in one registry, and the labels
they give.

A rule answers with a forecast: the probability that it gives -1, 0, +1. Most rules are sure; the
random dummy is not, and its expected error is then exact. Rules that need more than counts get
their labels from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidOption, UnknownName
from ...extras import require
from ...records import (
    NO_GOLD,
    NO_SIDE,
    NO_VOTE,
    FloatArray,
    IntArray,
    LengthCounts,
    VoteCells,
    VoteCounts,
    WeighedVotes,
    kept_rows,
)
from ...schema import VOTE_LABELS
from ...stats.estimate import DataFrame, Estimate
from ...stats.intervals import clustered_share
from ...stats.splits import sets_of_weights
from .btd import CHANCES, Bounds, BTDFit, BTDOptions, apply, decide, fit_many
from .shrinkage import WEAK, shrunken, shrunken_fit

Needs = Literal["votes", "labels", "orders", "derived", "lengths", "confidence"]
REASONS: dict[str, str] = {
    "orders": "needs a vote in each order of every comparison; the orders were not given",
    "derived": (
        "needs the votes of a judge named for it, as usc(judge) or gsa(judge); none were given"
    ),
    "lengths": "needs the lengths of both answers; none were given",
    "confidence": "needs the confidence of each vote; none was given",
}

Forecast = Callable[[VoteCells, FloatArray, BTDOptions], FloatArray]
"""(cells, calibration weights (sets, cells), options) → p(-1), p(0), p(+1), (sets or 1, cells, 3).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of aggregation.

    forecast : None where labels must be given, by comparison.  fitted : learns the parameters of
        BTD.
    dummy : uses no vote, a baseline.
    """

    name: str
    source: str
    needs: Needs = "votes"
    forecast: Forecast | None = None
    fitted: bool = False
    dummy: bool = False


def one_hot(labels: IntArray) -> FloatArray:
    """Forecast that is sure of its labels: (…,) in {-1, 0, +1} → (…, 3)."""
    return np.eye(3)[labels + 1]


def _btd(cells: VoteCells, calibration: FloatArray, options: BTDOptions) -> FloatArray:
    return one_hot(decide(fit_many(cells, calibration, options).probabilities(cells)))


def _shrunken(cells: VoteCells, calibration: FloatArray, options: BTDOptions) -> FloatArray:
    """With the weak prior, which learns nothing from which comparisons share an item."""
    fits = shrunken(sets_of_weights(cells, calibration), WEAK, options)
    return one_hot(decide(fits.probabilities(cells)))


def _majority(cells: VoteCells, calibration: FloatArray, options: BTDOptions) -> FloatArray:
    return one_hot(cells.label)[None]


def thresholds(cells: VoteCells, calibration: FloatArray) -> FloatArray:
    """τ of the threshold rule for each calibration set, shape (sets,), in [0, 1).

    The rule says sign(m) where |m| > τ, else 0, with m the mean vote. Between neighbouring values
    of |m| (0 and those observed in the set) the calibration MAE is constant; τ is the middle of the
    widest run of such stretches that has the least MAE. Equal widths: the lowest run. Source: ours,
    docs/methods.md §2.
    """
    mean = (cells.plus - cells.minus) / cells.n
    size = np.abs(mean)
    cuts = np.unique(np.append(size, 0.0))
    loss = np.where(
        size[:, None] > cuts,
        np.abs(np.sign(mean) - cells.gold)[:, None],
        np.abs(cells.gold)[:, None],
    )
    largest = np.where(calibration > 0, size, 0.0).max(axis=1)
    inside = cuts < largest[:, None]
    error = np.where(inside, calibration @ loss, np.inf)
    # Weights are whole numbers of comparisons, so equal errors are equal in floating point too.
    least = inside & (error == error.min(axis=1, keepdims=True))
    sets = len(calibration)
    start, width, best_start, best_width = (
        np.zeros(sets),
        np.zeros(sets),
        np.zeros(sets),
        np.zeros(sets),
    )
    for j in range(len(cuts) - 1):
        goes_on = least[:, j] & least[:, j - 1] if j else np.zeros(sets, dtype=bool)
        start = np.where(goes_on, start, cuts[j])
        width = np.where(least[:, j], np.where(goes_on, width, 0.0) + cuts[j + 1] - cuts[j], 0.0)
        wider = width > best_width + 1e-12
        best_start, best_width = (
            np.where(wider, start, best_start),
            np.where(wider, width, best_width),
        )
    return np.asarray(best_start + best_width / 2)


def _threshold(cells: VoteCells, calibration: FloatArray, options: BTDOptions) -> FloatArray:
    mean = (cells.plus - cells.minus) / cells.n
    decided = np.abs(mean) > thresholds(cells, calibration)[:, None]
    return one_hot(np.where(decided, np.sign(mean), 0).astype(np.int64))


def _constant(cells: VoteCells, calibration: FloatArray, options: BTDOptions) -> FloatArray:
    """The one label with the least calibration MAE; equal ones: 0 first, then +1."""
    candidates = np.array([0, 1, -1])
    error = calibration @ np.abs(candidates - cells.gold[:, None])
    label = candidates[error.argmin(axis=1)]
    return np.broadcast_to(one_hot(label)[:, None], (len(label), len(cells), 3))


def _random(cells: VoteCells, calibration: FloatArray, options: BTDOptions) -> FloatArray:
    return np.full((1, len(cells), 3), 1 / 3)


def greedy_pair(first_ab: IntArray, first_ba: IntArray) -> IntArray:
    """Label of two votes, one in each order: their median, rounded away from zero.

    (0, +1) → +1, (+1, −1) → 0: the sign of the sum. Votes are canonical, whatever order was shown.
    Source: [BTD] §5 (GD, FS).
    """
    return np.asarray(np.sign(first_ab + first_ba).astype(np.int64))


DERIVED = ("usc", "gsa")
"""Rules by which another model call reads a judge's votes and decides (universal self-consistency;
generative self-aggregation). What it decides arrives as votes of a judge of its own. Source: [BTD]
§5."""


def derived_name(rule: str, judge: str) -> str:
    """Name of the judge that carries what a rule of DERIVED decided from a judge's votes:
    `usc(judge)`.
    """
    return f"{rule}({judge})"


def confidence_labels(votes: Mapping[str, NDArray[Any]], weigh: str) -> IntArray:
    """Label of each comparison by the confidences of its votes: the largest of three scores wins.

    The score of a label is the `min`, `mean` or `product` (Soft-SC) or the `sum` (CI-SC) of the
    confidences of its votes; a label without a vote has none. Equal largest scores: 0 (ours).
    votes : `stated`, `lowest`, `total` and `product` as in WeighedVotes, (rows, 3); `sum` and
        `mean` need the
    first and the third alone. Source: [BTD] §5.
    """
    stated, total = votes["stated"], votes["total"]
    score = total
    if weigh == "mean":
        score = total / np.maximum(stated, 1)
    elif weigh != "sum":
        score = votes[{"min": "lowest", "product": "product"}[weigh]]
    score = np.where(stated > 0, score, -1.0)
    best = score >= score.max(axis=1, keepdims=True) - 1e-12
    return np.where(best.sum(axis=1) == 1, best.argmax(axis=1) - 1, 0).astype(np.int64)


RULES: dict[str, Rule] = {
    "btd": Rule(name="BTD", source="[BTD] §4", needs="labels", forecast=_btd, fitted=True),
    "btd_shrunk": Rule(
        name="Shrunken BTD", source="ours", needs="labels", forecast=_shrunken, fitted=True
    ),
    "majority": Rule(name="Majority (SC)", source="[BTD] §5", forecast=_majority),
    "threshold": Rule(name="Threshold", source="ours", needs="labels", forecast=_threshold),
    "greedy_pair": Rule(name="Greedy pair (GD, FS)", source="[BTD] §5", needs="orders"),
    "usc": Rule(name="USC", source="[BTD] §5", needs="derived"),
    "gsa": Rule(name="GSA", source="[BTD] §5", needs="derived"),
    "soft_sc_min": Rule(name="Soft-SC (min)", source="[BTD] §5", needs="confidence"),
    "soft_sc_mean": Rule(name="Soft-SC (mean)", source="[BTD] §5", needs="confidence"),
    "soft_sc_product": Rule(name="Soft-SC (product)", source="[BTD] §5", needs="confidence"),
    "ci_sc": Rule(name="CI-SC", source="[BTD] §5", needs="confidence"),
    "constant": Rule(
        name="Constant", source="ours", needs="labels", forecast=_constant, dummy=True
    ),
    "random": Rule(name="Random", source="ours", forecast=_random, dummy=True),
    "longest": Rule(name="Longest answer", source="ours", needs="lengths", dummy=True),
}
"""Rules by key, in the order of tables."""


def forecast_by(
    key: str, cells: VoteCells, calibration: FloatArray, options: BTDOptions
) -> FloatArray:
    """Forecast of a rule that needs no labels from outside."""
    rule = RULES[key].forecast
    assert rule is not None  # callers sort the others out
    return rule(cells, calibration, options)


def forecast_losses(forecast: FloatArray, gold: IntArray) -> tuple[FloatArray, FloatArray]:
    """Expected |ŷ − y| and 1{ŷ = y}, (…, cells), of a forecast (…, cells, 3)."""
    off = np.abs(np.arange(-1, 2) - gold[:, None])
    return (forecast * off).sum(axis=-1), (forecast * (off == 0)).sum(axis=-1)


def check_known(keys: Iterable[str]) -> None:
    """Raise UnknownName for a key that is not in RULES."""
    for key in keys:
        if key not in RULES:
            raise UnknownName(f"There is no aggregator {key!r}; choose from {', '.join(RULES)}.")


def dummies(
    counts: Mapping[str, VoteCounts], lengths: Mapping[str, LengthCounts], *, level: float = 0.95
) -> dict[str, Estimate]:
    """Accuracy of each dummy, by name, on every comparison with gold that any judge saw, each
    counted once.

    constant : gold's commonest label, chosen with all labels known, so a ceiling for every
        constant.
    random : each label with probability ⅓, hence ⅓ exactly, without an interval.
    longest : the longer response; only on comparisons whose responses have known, different
        lengths, and left out where there are none. Intervals: Wilson clustered by item. Empty
        without gold.

    Source: docs/methods.md §2.
    """
    item, gold = _distinct([(c.comparison, c.item, c.gold) for c in counts.values()])
    if not len(gold):
        return {}
    commonest = max(VOTE_LABELS, key=lambda label: int((gold == label).sum()))
    found = {
        "constant": clustered_share(item, gold == commonest, level=level),
        "random": Estimate(1 / len(VOTE_LABELS), n=len(gold), level=level),
    }
    item, longer_is = _distinct([(c.comparison, c.item, c.gold) for c in lengths.values()])
    if len(longer_is):
        found["longest"] = clustered_share(item, longer_is == 1, level=level)
    return {RULES[key].name: accuracy for key, accuracy in found.items()}


def _distinct(columns: list[tuple[IntArray, IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    """Item and gold of the labelled comparisons of several judges, each comparison once."""
    if not columns:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    comparison, item, gold = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    labelled = gold != NO_GOLD
    _, first = np.unique(comparison[labelled], return_index=True)
    return item[labelled][first], gold[labelled][first]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LabelTable:
    """Majority and calibrated label of each row of `counts`, and p(-1), p(0), p(+1), shape (rows,
    3).
    """

    counts: VoteCounts
    calibrated: IntArray
    p: FloatArray

    def to_frame(self) -> DataFrame:
        """One row per comparison; gold is missing where it is unknown."""
        require("pandas", purpose="A data frame")
        import pandas as pd

        counts = self.counts
        gold = pd.array(counts.gold, dtype="Int64")
        gold[counts.gold == NO_GOLD] = pd.NA
        columns = {name: getattr(counts, name) for name in ("comparison", "plus", "tie", "minus")}
        columns |= {"gold": gold, "majority": counts.label, "calibrated": self.calibrated}
        return pd.DataFrame(columns | dict(zip(CHANCES, self.p.T, strict=True)))


def label_table(counts: VoteCounts, fit: BTDFit) -> LabelTable:
    """Calibrated label of every comparison, labelled or not; p sums to 1. Source: [BTD] §4."""
    p = fit.probabilities(counts)
    return LabelTable(counts=counts, calibrated=decide(p), p=p)


def rule_labels(key: str, counts: VoteCounts, fit: BTDFit) -> IntArray | None:
    """Label that a rule gives each comparison when it is calibrated on every label that there is.

    key : of RULES; `btd` is `fit`, and `btd_shrunk` is shrunk towards the weak prior with the
        smoothing and
    loss of `fit`, in the default bounds. None for a rule that is not sure of its labels (random) or
    needs more than counts. Raises UnknownName for any other key.
    """
    check_known([key])
    if key == "btd":
        return apply(fit, counts)
    if key == "btd_shrunk":
        return apply(shrunken_fit(counts, options=replace(fit.options, bounds=Bounds())), counts)
    forecast = RULES[key].forecast
    if forecast is None:
        return None
    cells, cell = counts.cells()
    chance = forecast(cells, np.where(cells.gold == NO_GOLD, 0.0, cells.weight)[None], fit.options)[
        0
    ]
    if (chance.max(axis=1) < 1).any():
        return None
    return np.asarray(chance.argmax(axis=1) - 1)[cell]


WEIGHINGS = {
    "soft_sc_min": "min",
    "soft_sc_mean": "mean",
    "soft_sc_product": "product",
    "ci_sc": "sum",
}


def given_labels(
    counts: VoteCounts,
    votes: WeighedVotes,
    *,
    judge: str | None = None,
    judges: Mapping[str, VoteCounts] | None = None,
) -> tuple[dict[str, IntArray], dict[str, str]]:
    """Labels by rules that need more than counts, one per row of `counts`, and why others have
    none.

    A rule needs its input on every comparison of `counts`, so that all rules are judged on the same
    ones.
    votes : of the same judge and selection; votes on other comparisons are left out.
    judge, judges : its name and the votes of all judges, among whom USC and GSA are sought as
        `usc(judge)`
    and `gsa(judge)`.
    """
    own = np.isin(votes.comparison, counts.comparison)
    if own.sum() != len(counts):
        raise InvalidOption(
            "A comparison has no vote here; take counts and votes of one selection."
        )
    votes = WeighedVotes(**kept_rows(votes, own))
    n, stated = int(votes.n.sum()), int(votes.stated.sum())
    found: dict[str, IntArray | str] = {}
    without = _lacking(n - stated, n, "none of its votes has one", "votes have none")
    by_label = {name: getattr(votes, name) for name in ("stated", "lowest", "total", "product")}
    for key, weigh in WEIGHINGS.items():
        found[key] = (
            f"needs the confidence of each vote; {without}"
            if without
            else confidence_labels(by_label, weigh)
        )
    if votes.first is not None:
        found["greedy_pair"] = _by_orders(votes.first)
    if judge is not None and judges is not None:
        found |= {rule: _by_derived(derived_name(rule, judge), judges, counts) for rule in DERIVED}
    unknown = int((votes.side == NO_SIDE).sum())
    missing = _lacking(unknown, len(counts), "none is known", "comparisons lack them")
    found["longest"] = f"needs the lengths of both answers; {missing}" if missing else votes.side
    labels = {key: value for key, value in found.items() if not isinstance(value, str)}
    return labels, {key: value for key, value in found.items() if isinstance(value, str)}


def _lacking(missing: int, total: int, all_of_them: str, some: str) -> str:
    """How many lack something, in words; empty if none does."""
    return (all_of_them if missing == total else f"{missing:,} {some}") if missing else ""


def _by_orders(first: IntArray) -> IntArray | str:
    """Greedy pair: the first run in each order."""
    absent = int((first == NO_VOTE).any(axis=1).sum())
    missing = _lacking(absent, len(first), "none has both", "comparisons lack one")
    if missing:
        return f"needs a vote in each order (column position); {missing}"
    return greedy_pair(first[:, 0], first[:, 1])


def _by_derived(name: str, judges: Mapping[str, VoteCounts], counts: VoteCounts) -> IntArray | str:
    """USC and GSA: what the judge derived from this one says; of several votes the majority."""
    if name not in judges:
        return f"needs votes of the judge {name}, which another model call makes; there are none"
    derived = judges[name]
    row = np.searchsorted(derived.comparison, counts.comparison)
    row[row == len(derived)] = 0
    missing = (
        int((derived.comparison[row] != counts.comparison).sum()) if len(derived) else len(counts)
    )
    if missing:
        return f"needs a vote of {name} on every comparison; {missing:,} have none"
    return derived.label[row]


def label_shares(item: IntArray, labels: Mapping[str, IntArray]) -> dict[str, tuple[Estimate, ...]]:
    """Share of -1, 0, +1 among the labels of each source, with Wilson intervals clustered by item
    (ours).
    """
    return {
        source: tuple(clustered_share(item, label == y) for y in VOTE_LABELS)
        for source, label in labels.items()
    }
