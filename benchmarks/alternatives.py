"""What a user would write instead, with the libraries at hand. The answers are the same; a test
says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from core.questions.labels.btd import Bounds
from core.records import FloatArray, IntArray, VoteCells, VoteCounts

KEY = ["judge", "item_id", "model_a", "model_b"]
STARTS = 5


def read_csv(path: Path) -> pd.DataFrame:
    return pd.read_csv(path)


def vote_counts(votes: pd.DataFrame) -> pd.DataFrame:
    """Votes +1, 0, -1 of each judge and comparison, with gold, from a frame of votes."""
    counted = (
        votes.assign(plus=votes["vote"] == 1, tie=votes["vote"] == 0, minus=votes["vote"] == -1)
        .groupby(KEY, sort=False)
        .agg({"plus": "sum", "tie": "sum", "minus": "sum", "gold": "first"})
    )
    return counted.reset_index()


def outcomes(votes: pd.DataFrame) -> pd.DataFrame:
    """Right and wrong votes of each judge, item and confidence."""
    right = votes.assign(correct=votes["vote"] == votes["gold"])
    return right.groupby(["judge", "item_id", "confidence"], sort=False)["correct"].agg(
        ["size", "sum"]
    )


def first_and_flips(votes: pd.DataFrame) -> pd.DataFrame:
    """Of each judge: votes for the response shown first, and runs in both orders that changed the
    verdict.
    """
    shown = votes["vote"].where(votes["position"] == "ab", -votes["vote"])
    first = (shown == 1).groupby(votes["judge"]).sum()
    both = votes.pivot_table(
        index=[*KEY, "run"], columns="position", values="vote", sort=False
    ).dropna()
    flips = (both["ab"] != both["ba"]).groupby("judge").sum()
    return pd.DataFrame({"first": first, "flips": flips})


def btd(s: FloatArray, t: FloatArray, gold: IntArray, weight: FloatArray, *, seed: int = 0) -> Any:
    """One BTD fit: L-BFGS-B with the analytic gradient of the mean DRPS, one fixed and four drawn
    starts.
    """
    used = weight > 0
    s, t, gold, weight = s[used], t[used], gold[used], weight[used] / weight[used].sum()
    is_minus, is_plus = (gold == -1).astype(float), (gold == 1).astype(float)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        u, eta = theta[0] * s, theta[1] + theta[2] * t
        largest = np.maximum(np.abs(u), eta)
        minus, tie, plus = np.exp(-u - largest), np.exp(eta - largest), np.exp(u - largest)
        total = minus + tie + plus
        minus, tie, plus = minus / total, tie / total, plus / total
        a, b, drift = minus - is_minus, plus - is_plus, plus - minus
        du = 2 * weight * (a * minus * (-1 - drift) + b * plus * (1 - drift))
        deta = -2 * weight * tie * (a * minus + b * plus)
        return float(weight @ (a**2 + b**2)), np.array([du @ s, deta.sum(), deta @ t])

    box = Bounds()
    bounds = [box.beta, tuple(np.log(box.nu)), box.gamma]
    low, high = np.array(bounds).T
    starts = [
        np.array([1.0, 0.0, 1.0]),
        *np.random.default_rng(seed).uniform(low, high, (STARTS - 1, 3)),
    ]
    found = [minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in starts]
    return min(found, key=lambda result: result.fun)


def features(cells: VoteCells | VoteCounts) -> tuple[FloatArray, FloatArray]:
    """s and t of the BTD model at α = κ = 1."""
    n = cells.plus + cells.tie + cells.minus
    return 0.5 * np.log((cells.plus + 1) / (cells.minus + 1)), np.log((cells.tie + 1) / (n + 1))


def decide(theta: FloatArray, s: FloatArray, t: FloatArray) -> IntArray:
    """Label of least expected absolute error."""
    weights = np.exp([-theta[0] * s, theta[1] + theta[2] * t, theta[0] * s])
    minus, _, plus = weights / weights.sum(axis=0)
    return (plus > 0.5).astype(np.int64) - (minus > 0.5).astype(np.int64)


def btd_step(cells: VoteCells, n: int) -> IntArray:
    """One fit, and its decision for every way n votes can fall."""
    fitted = btd(*features(cells), cells.gold, cells.weight)
    plus, minus = (side.ravel() for side in np.mgrid[0 : n + 1, 0 : n + 1])
    possible = plus + minus <= n
    plus, minus = plus[possible], minus[possible]
    s, t = 0.5 * np.log((plus + 1) / (minus + 1)), np.log((n - plus - minus + 1) / (n + 1))
    return decide(fitted.x, s, t)


def split_maes(
    votes: VoteCounts, *, rng: np.random.Generator, n_splits: int = 100, share: float = 0.05
) -> tuple[float, float]:
    """Mean MAE of BTD and of majority over random splits by item, one fit after another; no
    intervals.
    """
    s, t = features(votes)
    item = np.unique(votes.item, return_inverse=True)[1]
    items = int(item.max()) + 1
    wanted = max(round(share * items), 20)
    errors = []
    for _ in range(n_splits):
        chosen = np.zeros(items, dtype=bool)
        chosen[rng.choice(items, wanted, replace=False)] = True
        known = chosen[item]
        fitted = btd(s[known], t[known], votes.gold[known], np.ones(np.count_nonzero(known)))
        labels = decide(fitted.x, s[~known], t[~known])
        gold = votes.gold[~known]
        errors.append((np.abs(labels - gold).mean(), np.abs(votes.label[~known] - gold).mean()))
    calibrated, majority = np.mean(errors, axis=0)
    return float(calibrated), float(majority)


def sklearn_calibration(
    correct: IntArray, stated: FloatArray, bins: int = 10
) -> tuple[Any, float, float]:
    """Reliability curve, Brier score and log loss by scikit-learn."""
    curve = calibration_curve(correct, stated, n_bins=bins)
    return curve, float(brier_score_loss(correct, stated)), float(log_loss(correct, stated))


def pandas_ece(votes: pd.DataFrame, bins: int = 10) -> float:
    """Expected calibration error by cut and groupby."""
    edges = np.arange(bins + 1) / bins
    # As in ours, a confidence on an edge is in the lower bin, though 0.7 · 10 is 7.000000000000001.
    of_bin = pd.cut(votes["confidence"].round(9), edges.round(9), include_lowest=True)
    means = (
        votes.assign(correct=votes["vote"] == votes["gold"])
        .groupby(of_bin, observed=True)
        .agg(n=("correct", "size"), right=("correct", "mean"), stated=("confidence", "mean"))
    )
    return float((means["n"] * (means["right"] - means["stated"]).abs()).sum() / means["n"].sum())
