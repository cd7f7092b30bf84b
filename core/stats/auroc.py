"""Does a confidence separate right from wrong verdicts: area under the ROC curve, clustered by item."""

from __future__ import annotations

import math

import numpy as np

from ..records import FloatArray, OutcomeCounts
from .binning import usable
from .estimate import Estimate
from .intervals import check_level, dense_codes, wilson

LEAST = 5
"""Items with a right verdict, and items with a wrong one, below which there is no interval."""


def auroc(outcomes: OutcomeCounts, *, level: float = 0.95) -> Estimate:
    """P(a right verdict is surer than a wrong one) + ½·P(both equally sure), with an interval by item.

    With M right verdicts and W wrong ones, V(r) the share of wrong verdicts less sure than right verdict r
    (equal: ½) and V(w) the share of right ones surer than wrong verdict w: AUROC θ = ΣV(r)/M = ΣV(w)/W. With
    aᵢ = Σ(V(r) − θ) and bᵢ = Σ(V(w) − θ) over item i's right and wrong verdicts,
    var = I_M/(I_M − 1)·Σaᵢ²/M² + I_W/(I_W − 1)·Σbᵢ²/W² + 2·I/(I − 1)·Σaᵢbᵢ/(M·W), where I_M items have a
    right verdict, I_W a wrong one and I are all of them. The interval is logit θ ± t·√var/(θ(1 − θ)), t with
    min(I_M, I_W) − 1 degrees of freedom.

    Parameters
    ----------
    outcomes : verdicts with gold; those without a confidence are left out.

    Returns
    -------
    θ, its n the number of items. NaN without a right or without a wrong verdict; ends are NaN with fewer than
    5 items of either. A constant confidence has θ = ½ exactly. At θ = 0 or 1, where the variance is 0, the
    ends are Wilson's at min(I_M, I_W) (ours).

    Raises
    ------
    NoUsableVotes : no verdict has a confidence.
    InvalidOption : level outside (0, 1).

    Source: DeLong, DeLong & Clarke-Pearson (1988); Obuchowski (1997) for clusters; logit by Pepe (2003) §5.2.
    """
    check_level(level)
    known = usable(outcomes)
    item = dense_codes(known.item)
    items = int(item.max()) + 1
    right, wrong = known.correct.astype(np.float64), (known.n - known.correct).astype(np.float64)
    rights, wrongs = float(right.sum()), float(wrong.sum())
    if not rights or not wrongs:
        return Estimate(math.nan, n=items, level=level)
    of_right, of_wrong = _placements(known.confidence, right, wrong)
    theta = float(right @ of_right) / rights
    fewest = min(len(np.unique(item[right > 0])), len(np.unique(item[wrong > 0])))
    if fewest < LEAST:
        return Estimate(theta, n=items, level=level)
    if theta in (0.0, 1.0):
        ends = wilson(theta * fewest, fewest, level=level)
        return Estimate(theta, float(ends[0]), float(ends[1]), n=items, level=level)
    a = np.bincount(item, right * (of_right - theta)) / rights
    b = np.bincount(item, wrong * (of_wrong - theta)) / wrongs
    with_right, with_wrong = (len(np.unique(item[column > 0])) for column in (right, wrong))
    variance = _spread(a, a, with_right) + _spread(b, b, with_wrong) + 2 * _spread(a, b, items)
    from scipy.special import expit, logit, stdtrit

    error = math.sqrt(max(variance, 0.0)) / (theta * (1 - theta))
    half = float(stdtrit(fewest - 1, (1 + level) / 2)) * error
    low, high = (float(expit(logit(theta) + sign * half)) for sign in (-1, 1))
    return Estimate(theta, min(low, theta), max(high, theta), n=items, level=level)


def _placements(
    confidence: FloatArray, right: FloatArray, wrong: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of each row, the share of wrong verdicts that are less sure and of right ones that are surer."""
    # Means of two orders may differ in their last bit: nine decimals are enough to tell confidences apart.
    _, value = np.unique(np.rint(confidence * 1e9), return_inverse=True)
    wrong_at, right_at = np.bincount(value, wrong), np.bincount(value, right)
    below = (np.cumsum(wrong_at) - wrong_at / 2) / wrong_at.sum()
    above = 1 - (np.cumsum(right_at) - right_at / 2) / right_at.sum()
    return below[value], above[value]


def _spread(a: FloatArray, b: FloatArray, items: int) -> float:
    return items / (items - 1) * float(a @ b)
