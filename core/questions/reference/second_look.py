"""Who was right where judge and people differ: what a second look says of both.

docs/verdicts.md, Disagreements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...records import BoolArray, FloatArray, IntArray
from ...stats.estimate import Estimate
from ...stats.intervals import wilson_by_item
from .weigh import share_of_strata

SUREST = 20
"""Disagreements that are shown first: those in which the judge is most likely right."""
NOT_LOOKED = -1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SecondLook:
    """What became of the answers of one judge that were looked at again.

    looked : disagreements with an answer. agreements : agreements with one.
    taken_out : rows in which neither was right, or it is unclear.
    people_wrong : share of the disagreements in which the judge is right.
    as_labelled : share right by the labels as they were.
    right : share right by the second look, weighed; None without a look at each part, and `most`
        is then its upper bound, as errors that judge and people share are not seen.
    """

    judge: str
    metric: str
    looked: int
    agreements: int
    taken_out: int
    people_wrong: Estimate | None
    as_labelled: float
    right: Estimate | None
    most: float | None


def order_of_disagreements(
    differs: BoolArray, strength: FloatArray, *, agreements: int, seed: int
) -> IntArray:
    """Places of the rows to look at: the 20 strongest disagreements, then the others and so many
    agreements in random order, unmarked.

    strength : (n,) how likely the judge is right; less of NaN.
    """
    rng = np.random.default_rng(seed)
    first = surest(differs, strength)
    rest = np.setdiff1d(np.flatnonzero(differs), first)
    agreed = rng.permutation(np.flatnonzero(~differs))[:agreements]
    return np.concatenate([first, rng.permutation(np.concatenate([rest, agreed]))])


def surest(differs: BoolArray, strength: FloatArray) -> IntArray:
    """Places of the `SUREST` strongest disagreements, the strongest first."""
    places = np.flatnonzero(differs)
    order = np.argsort(-np.nan_to_num(strength[places], nan=-math.inf), kind="stable")
    return np.asarray(places[order[:SUREST]])


def second_look(
    differs: BoolArray,
    strength: FloatArray,
    judge_right: IntArray,
    unit: IntArray,
    *,
    taken_out: int,
    judge: str,
    metric: str,
    level: float = 0.95,
) -> SecondLook:
    """What the second look says of people's errors, and of the share of right verdicts.

    differs : (n,) whether judge and people differ, of all answers with a label.
    judge_right : (n,) 1 where the judge is right by the second look, 0 where not, −1 where nobody
        looked, or it stays open.

    Strata are the 20 strongest disagreements, the other ones and the agreements: share right
    = Σ W_s·p_s with W ~ Dirichlet(N_s + ½) and p_s ~ Beta(k_s + ½, m_s − k_s + ½); a correction of
    disagreements alone would count every error that both made as right. Intervals are quantiles of
    4,000 draws.

    Source: ours, docs/verdicts.md.
    """
    looked = judge_right != NOT_LOOKED
    disagreed = differs & looked
    people_wrong = None
    if disagreed.any():
        people_wrong = wilson_by_item(
            unit[disagreed],
            np.ones(int(disagreed.sum()), dtype=np.int64),
            judge_right[disagreed] == 1,
            level=level,
        )
    stratum = np.where(differs, 1, 2)
    stratum[surest(differs, strength)] = 0
    sizes, seen, right = (
        np.bincount(stratum[rows], minlength=3)
        for rows in (np.ones(len(differs), bool), looked, looked & (judge_right == 1))
    )
    right_of_all = share_of_strata(
        sizes, seen.astype(np.float64), right.astype(np.float64), n=int(seen.sum()), level=level
    )
    most = None
    if right_of_all is None:
        unseen = np.where(seen > 0, right / np.maximum(seen, 1), 1.0)
        most = float(sizes @ unseen) / max(sizes.sum(), 1)
    return SecondLook(
        judge=judge,
        metric=metric,
        looked=int(disagreed.sum()),
        agreements=int((~differs & looked).sum()),
        taken_out=taken_out,
        people_wrong=people_wrong,
        as_labelled=float((~differs).mean()) if len(differs) else math.nan,
        right=right_of_all,
        most=most,
    )
