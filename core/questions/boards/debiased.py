"""Debiased win rates: what gold labels would give, from many judge votes and few labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal, get_args

import numpy as np

from ...errors import InvalidOption, NoUsableVotes, TooFewLabels, UnknownName
from ...records import NO_GOLD, BoolArray, FloatArray, IntArray, VoteCounts
from ...stats import intervals
from ...stats.estimate import DataFrame, Estimate, data_frame, flat

Weighting = Literal["full", "tuned"]

LEAST_LABELLED = 10
"""Labelled items that an interval needs; coverage was verified from here on (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebiasedRate(Estimate):
    """Mean score θ̂ that gold would give side A, a tie being half a win; judge and labels alone
    beside it.

    n : comparisons.  weight : λ, weight of the judge's votes, 0 to 1.
    judge : mean score by the judge's votes on all comparisons, biased as the judge is.
    labels : mean score by the labelled comparisons alone; its interval is made like that of θ̂.
    bias : mean of judge minus gold on the labelled comparisons.
    n_labelled, n_unlabelled : comparisons; items_labelled, items_unlabelled : items that have some.
    """

    weight: float
    judge: float
    labels: Estimate
    bias: float
    n_labelled: int
    n_unlabelled: int
    items_labelled: int
    items_unlabelled: int
    weighting: Weighting

    @property
    def gain(self) -> float:
        """Length of the interval against that by labels alone; below 1 the judge's votes help."""
        return (self.high - self.low) / (self.labels.high - self.labels.low)


def oriented(counts: VoteCounts, rows: BoolArray | IntArray, flipped: BoolArray) -> VoteCounts:
    """The chosen rows with A and B exchanged where `flipped`, so that side A is the same model in
    all.

    flipped : (rows of counts,). Exchanging A and B swaps `plus` and `minus` and negates gold.
    """
    chosen, turn = counts.rows(rows), flipped[rows]
    return replace(
        chosen,
        plus=np.where(turn, chosen.minus, chosen.plus),
        minus=np.where(turn, chosen.plus, chosen.minus),
        gold=np.where(turn & (chosen.gold != NO_GOLD), -chosen.gold, chosen.gold),
    )


def debiased_rate(
    counts: VoteCounts, *, weighting: Weighting = "full", level: float = 0.95
) -> DebiasedRate:
    """Score E[(Y + 1)/2] of side A under gold, from votes on all comparisons and gold on a random
    part.

    With f = (mean vote + 1)/2 and y = (gold + 1)/2: θ̂ = λ·mean f(unlabelled) + mean(y − λ·f), λ =
    1. Interval: the ends −λ and 1 of the range of y − λ·f are added to the labelled as two items
       more, then
    θ ± t(G − 1)·√(λ²·V_f + V_r + 2λ·C), with the variances of the two means and their covariance by
    item, G labelled items; widened to hold θ̂ and cut at 0 and 1.

    Without the two, a judge that errs in one direction only and was not caught at it looks perfect:
    plain prediction-powered inference then falls to .6 to .9 at 95 %. Half as large (±½), as first
    planned, they leave holes (.76 where 50 labels hold 1.4 such errors on average); the ends of the
    range leave none.

    Parameters
    ----------
    counts : of one judge, oriented so that side A is the model in question; gold on some
        comparisons, which must be a random part of all, or else the rest differs in a way that
        nothing here can see.
    weighting : `full` has λ = 1; `tuned` takes the λ in [0, 1] of least variance,
        Cov(y, f)/(Var f·(1 + n/N)) on the labelled, so that a judge that knows nothing does no
        harm. Without unlabelled comparisons λ is 0.
    level : of all intervals.

    Raises TooFewLabels for fewer than 10 items with gold, InvalidOption for a level or weighting
    not allowed.
    Source: docs/methods.md §9 (ours); Angelopoulos et al. (2023) prediction-powered inference,
    Angelopoulos, Duchi & Zrnic (2023) for λ; the two added ends, the clustering by item and their
    labels-only counterpart ours.
    """
    intervals.check_level(level)
    if weighting not in get_args(Weighting):
        raise InvalidOption(f"weighting = {weighting!r}: must be 'full' or 'tuned'")
    item = intervals.dense_codes(counts.item)
    known = counts.gold != NO_GOLD
    f = (1 + (counts.plus - counts.minus) / (counts.plus + counts.tie + counts.minus)) / 2
    y, f_known, f_rest = (counts.gold[known] + 1) / 2, f[known], f[~known]
    size = int(item.max(initial=-1)) + 1
    rest = sums_by_item(item[~known], f_rest, size)
    items_labelled, items_unlabelled = (
        int((n > 0).sum()) for n in (np.bincount(item[known]), rest[1])
    )
    if items_labelled < LEAST_LABELLED:
        raise TooFewLabels(
            f"A debiased rate needs gold on at least {LEAST_LABELLED} items, a random part of all; "
            f"there are {items_labelled}."
        )
    weight = 1.0 if weighting == "full" else _tuned(y, f_known, len(f_rest))
    if items_unlabelled < 2:
        weight = 0.0
    value, labels = (
        rectified_mean(
            sums_by_item(item[known], y - factor * f_known, size),
            rest,
            factor,
            ends=(-factor, 1.0),
            level=level,
        )
        for factor in (weight, 0.0)
    )
    return DebiasedRate(
        **asdict(replace(value, n=len(f))),
        weight=weight,
        judge=float(f.mean()),
        labels=replace(labels, n=len(y)),
        bias=float((f_known - y).mean()),
        n_labelled=len(y),
        n_unlabelled=len(f_rest),
        items_labelled=items_labelled,
        items_unlabelled=items_unlabelled,
        weighting=weighting,
    )


def _tuned(y: FloatArray, f: FloatArray, n_rest: int) -> float:
    variance = float(f.var())
    if variance < 1e-12 or not n_rest:
        return 0.0
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    return float(np.clip(covariance / (variance * (1 + len(y) / n_rest)), 0, 1))


def sums_by_item(item: IntArray, value: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Sum and number of values of each item, (size,).  item : codes 0 … size − 1."""
    n = np.bincount(item, minlength=size).astype(np.float64)
    return np.bincount(item, weights=value, minlength=size).astype(np.float64), n


def rectified_mean(
    labelled: tuple[FloatArray, FloatArray],
    rest: tuple[FloatArray, FloatArray],
    weight: float,
    *,
    ends: tuple[float, float],
    within: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> Estimate:
    """weight·(mean of rest) + (mean of labelled), a ratio estimator by item, as `debiased_rate`.

    labelled : sums and numbers by item of label − weight·judge, where there is a label.  rest : of
        the judge's, where there is none, with the same codes of items.
    ends : values of the two items that are added to the labelled.  within : where to cut.
    """
    (total, n), groups = labelled, int((labelled[1] > 0).sum())
    estimate = float(total.sum() / n.sum())
    centre, influence = intervals.influence_values(total, n, ends)
    variance = float((influence**2).sum())
    if weight:
        rest_total, rest_n = rest
        rest_groups = int((rest_n > 0).sum())
        rest_mean = float(rest_total.sum() / rest_n.sum())
        rest_influence = (rest_total - rest_mean * rest_n) * weight / float(rest_n.sum())
        variance += rest_groups / (rest_groups - 1) * float((rest_influence**2).sum())
        # An item may have comparisons of both kinds; without one this is 0.
        variance += 2 * float((influence[: len(rest_influence)] * rest_influence).sum())
        estimate, centre = estimate + weight * rest_mean, centre + weight * rest_mean
    half = intervals.t_quantile(groups - 1, level) * math.sqrt(max(variance, 0.0))
    estimate, low, high = np.clip((estimate, centre - half, centre + half), *within).tolist()
    return Estimate(estimate, min(low, estimate), max(high, estimate), level=level)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RoganGladen:
    """Share of A among comparisons without ties, corrected by the judge's sensitivity and
    specificity.

    rate : None where undefined, without an interval where that is, with the reason in `reason`.
    sensitivity : share of gold A that the judge calls A, of n_a; specificity : share of gold B that
        it calls
    B, of n_b; None without such labels.
    """

    rate: Estimate | None
    sensitivity: float | None
    specificity: float | None
    n_a: int
    n_b: int
    reason: str | None


def rogan_gladen(counts: VoteCounts, *, level: float = 0.95) -> RoganGladen:
    """Two-class correction of the judge's rate: (q + sp − 1)/(se + sp − 1), cut at 0 and 1.

    q is the share of A among the judge's majority labels on unlabelled comparisons, se and sp its
    hit rates on gold A and gold B. Interval of Lang & Reiczigel at n/deff: with n' = n + z², one
    success and one failure added to se and sp, p' the rate of these, J = se' + sp' − 1 and
    d = 2z²·(p'·se'(1 − se')/n_se' − (1 − p')·sp'(1 − sp')/n_sp'),
    p' + d ± z/J·√(q'(1 − q')/n' + p'²·se'(1 − se')/n_se' + (1 − p')²·sp'(1 − sp')/n_sp').

    Unlike `debiased_rate` it needs no random labels among all comparisons, only within gold A and
    within gold B; it knows no ties, so with a tie in gold or in the labels it is undefined, and so
    it is where the judge is no better than chance (se + sp ≤ 1).

    Source: Rogan & Gladen (1978); Lang & Reiczigel (2014); design effects by item ours.
    """
    intervals.check_level(level)
    label, known = counts.label, counts.gold != NO_GOLD
    parts = {
        "a": (counts.gold == 1, label == 1),
        "b": (counts.gold == -1, label == -1),
        "rest": (~known, label == 1),
    }
    n = {name: int(chosen.sum()) for name, (chosen, _) in parts.items()}
    hits = {
        name: float(hit[chosen].mean()) if n[name] else None
        for name, (chosen, hit) in parts.items()
    }
    se, sp, q = hits["a"], hits["b"], hits["rest"]
    rate: Estimate | None = None
    reason: str | None = None
    ties = int((counts.gold == 0).sum()) + int((label == 0).sum())
    if ties:
        reason = f"it knows two classes, and gold or the judge's labels have {ties:,} ties"
    elif se is None or sp is None or q is None:
        reason = "it needs labels of both classes and comparisons without one"
    elif se + sp <= 1:
        reason = (
            f"the judge is no better than chance at telling A from B (sensitivity "
            f"{se:.2f}, specificity {sp:.2f})"
        )
    else:
        value = min(max((q + sp - 1) / (se + sp - 1), 0.0), 1.0)
        rate = Estimate(value, n=n["rest"], level=level)
        z = intervals.z_quantile(level)
        q_, v_q = _plus(counts.item, *parts["rest"], z**2 / 2)
        se_, v_se = _plus(counts.item, *parts["a"], 1.0)
        sp_, v_sp = _plus(counts.item, *parts["b"], 1.0)
        youden = se_ + sp_ - 1
        if youden <= 0:
            reason = (
                "the judge tells A from B hardly better than a coin, "
                "so an interval cannot be estimated"
            )
        else:
            p = (q_ + sp_ - 1) / youden
            centre = p + 2 * z**2 * (p * v_se - (1 - p) * v_sp)
            half = z / youden * math.sqrt(v_q + p**2 * v_se + (1 - p) ** 2 * v_sp)
            low, high = (min(max(end, 0.0), 1.0) for end in (centre - half, centre + half))
            rate = replace(rate, low=min(low, value), high=max(high, value))
    return RoganGladen(
        rate=rate, sensitivity=se, specificity=sp, n_a=n["a"], n_b=n["b"], reason=reason
    )


def _plus(item: IntArray, chosen: BoolArray, hit: BoolArray, more: float) -> tuple[float, float]:
    """Rate with `more` hits and misses added to n/deff verdicts, and its variance rate·(1 −
    rate)/n.
    """
    one = np.ones(int(chosen.sum()), dtype=np.int64)
    hits = hit[chosen].astype(np.int64)
    n = len(one) / intervals.design_effect(item[chosen], one, hits)
    rate = (n * float(hits.mean()) + more) / (n + 2 * more)
    return rate, rate * (1 - rate) / (n + 2 * more)


COLUMNS = (
    *(
        "model",
        "value",
        "low",
        "high",
        "judge",
        "bias",
        "labels",
        "labels_low",
        "labels_high",
        "gain",
    ),
    *(
        "weight",
        "n_labelled",
        "n_unlabelled",
        "items_labelled",
        "items_unlabelled",
        "rogan_gladen_value",
    ),
    *(
        "rogan_gladen_low",
        "rogan_gladen_high",
        "rogan_gladen_sensitivity",
        "rogan_gladen_specificity",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DebiasedRow:
    """One model against the anchor: its debiased rate, and the two-class correction beside it."""

    model: str
    rate: DebiasedRate
    two_class: RoganGladen


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DebiasedBoard:
    """Debiased win rates against one anchor, best first.

    reasons : why another model that met the anchor has no rate.
    """

    rows: tuple[DebiasedRow, ...]
    reasons: dict[str, str]

    def to_frame(self) -> DataFrame:
        """One row per model."""
        rows = []
        for row in self.rows:
            two = row.two_class
            found = {name: getattr(two.rate, name, None) for name in ("value", "low", "high")}
            found |= {"sensitivity": two.sensitivity, "specificity": two.specificity}
            own = {"model": row.model, "gain": row.rate.gain} | flat(row.rate)
            rows.append(own | {f"rogan_gladen_{name}": value for name, value in found.items()})
        return data_frame(rows, columns=list(COLUMNS))


def pooled_votes(judges: Iterable[VoteCounts]) -> VoteCounts:
    """Votes of several judges of one selection together, each vote weighing the same."""
    known = list(judges)
    if not known:
        raise NoUsableVotes("there is no judge to pool")
    joined = {
        field.name: np.concatenate([getattr(one, field.name) for one in known])
        for field in fields(VoteCounts)
    }
    comparison, first, row = np.unique(joined["comparison"], return_index=True, return_inverse=True)
    sums = {
        name: np.bincount(row, weights=joined[name], minlength=len(comparison)).astype(np.int64)
        for name in ("plus", "tie", "minus")
    }
    return VoteCounts(
        comparison=comparison, item=joined["item"][first], gold=joined["gold"][first], **sums
    )


def hide_gold(counts: VoteCounts, *, share: float, rng: np.random.Generator) -> VoteCounts:
    """Keep the gold of a random `share` of the items that have some: what fewer labels would have
    shown.
    """
    if not 0 <= share <= 1:
        raise InvalidOption(f"share = {share}: must be between 0 and 1")
    labelled = np.unique(counts.item[counts.gold != NO_GOLD])
    kept = rng.permutation(labelled)[: round(share * len(labelled))]
    return replace(counts, gold=np.where(np.isin(counts.item, kept), counts.gold, NO_GOLD))


def debiased_board(
    counts: VoteCounts,
    anchor: str,
    *,
    model_a: Sequence[str],
    model_b: Sequence[str],
    weighting: Weighting = "full",
    level: float = 0.95,
) -> DebiasedBoard:
    """`debiased_rate` of every model that met `anchor`, its comparisons turned so that it is side
    A.

    model_a, model_b : name by code of comparison (`core.store.vote_queries.comparison_names`).
    A model with too few labels has a reason instead of a rate; a model compared with itself is left
    out.

    Raises UnknownName if `anchor` is in no comparison of these votes, InvalidOption as
    `debiased_rate`.
    Source: docs/methods.md §9 (ours).
    """
    a, b = (np.asarray(side, dtype=object)[counts.comparison] for side in (model_a, model_b))
    met = (a == anchor) ^ (b == anchor)
    if not met.any():
        raise UnknownName(f"anchor {anchor!r} is in no comparison of these votes")
    candidate = np.where(a == anchor, b, a)
    rows, reasons = [], {}
    for model in sorted(set(candidate[met].tolist())):
        votes = oriented(counts, met & (candidate == model), a == anchor)
        try:
            rate = debiased_rate(votes, weighting=weighting, level=level)
        except TooFewLabels as error:
            reasons[model] = str(error)
            continue
        rows.append(DebiasedRow(model=model, rate=rate, two_class=rogan_gladen(votes, level=level)))
    rows.sort(key=lambda row: (-row.rate.value, row.model))
    return DebiasedBoard(rows=tuple(rows), reasons=reasons)


def most_misjudged(found: DebiasedBoard) -> DebiasedRow | None:
    """The model whose rate by the judge is farthest from what gold would give; None
    without a row.
    """
    return max(found.rows, key=lambda row: abs(row.rate.judge - row.rate.value), default=None)
