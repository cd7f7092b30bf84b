"""Bradley–Terry–Davidson aggregation: the votes of a comparison become one label, calibrated on few labels.

Votes enter through their counts only, so a fit works on distinct vote patterns (c⁺, c⁰, c⁻) whatever the
number of comparisons, and a hundred calibration sets are fitted in one batched solve. Source: [BTD] §4.

BTD on comparisons that the fit has not seen, so that a table of its labels does not flatter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import AppellateError, InvalidOption, TooFewLabels
from ..records import NO_GOLD, FloatArray, IntArray, VoteCells, VoteCounts, majority
from ..stats.intervals import dense_codes
from .solver import LOSSES, Loss, Problem, probabilities, solve

if TYPE_CHECKING:
    import pandas as pd

    from ..records import BoolArray


MINIMUM_LABELS = 20
"""Fewest labelled comparisons that a fit accepts (methods §1)."""

PARAMETERS = ("beta", "nu", "gamma")
CHANCES = ("p(-1)", "p(0)", "p(+1)")
"""Columns of the probabilities of the labels in tables."""

LABEL_NAMES = ("B better (-1)", "tie (0)", "A better (+1)")

__all__ = [
    "MINIMUM_LABELS",
    "PARAMETERS",
    "BTDFit",
    "BTDFits",
    "Bounds",
    "DecisionMap",
    "NotConverged",
    "Penalty",
    "apply",
    "decide",
    "decision_map",
    "drps",
    "features",
    "fit",
    "fit_many",
    "probabilities",
    "risks",
]


class NotConverged(AppellateError):
    """The solver stopped before it reached a minimum, so there are no parameters to report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Box of the fit. `nu` is on the natural scale; the solver works on η₀ = ln ν."""

    beta: tuple[float, float] = (1e-3, 5.0)
    nu: tuple[float, float] = (1e-4, 1e3)
    gamma: tuple[float, float] = (-10.0, 10.0)

    def __post_init__(self) -> None:
        for name in PARAMETERS:
            low, high = getattr(self, name)
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise InvalidOption(
                    f"Bounds of {name}: {low:g} to {high:g}; the first must be below the second."
                )
        if self.nu[0] <= 0:
            raise InvalidOption(f"Bounds of nu: {self.nu[0]:g} to {self.nu[1]:g}; nu must be above 0.")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Penalty:
    """(1/m)·(θ − θ₀)ᵀP(θ − θ₀) for θ = (β, η₀, γ), added to the mean loss of m labelled comparisons (ours).

    centre : θ₀, (3,) or (sets, 3).  precision : P, (3, 3) or (sets, 3, 3), positive semidefinite.
    """

    centre: FloatArray
    precision: FloatArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BTDFit:
    """Parameters fitted on one calibration set.

    beta : weight of the vote margin.  nu, eta0 : tie propensity, eta0 = ln nu.
    gamma : weight of the log tie share.
    drps : value of the minimised loss, a mean over the calibration set (DRPS unless `loss` says otherwise).
    n_items : labelled comparisons fitted on.  at_bounds : parameters that ended on their box.
    """

    beta: float
    nu: float
    gamma: float
    eta0: float
    drps: float
    n_items: int
    at_bounds: tuple[str, ...]
    converged: bool
    notes: tuple[str, ...]
    alpha: float
    kappa: float
    loss: Loss

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        row = {
            "beta": self.beta,
            "nu": self.nu,
            "gamma": self.gamma,
            "drps": self.drps,
            "n_items": self.n_items,
        }
        return pd.DataFrame([row | {"at_bounds": ", ".join(self.at_bounds), "notes": " ".join(self.notes)}])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BTDFits:
    """Parameters fitted on several calibration sets at once, one row a set.

    theta : (sets, 3) as β, η₀, γ.  at_bounds : (sets, 3), the parameter ended on its box.
    labels : (sets, 3), labelled comparisons by gold -1, 0, +1.
    gamma_fixed, beta_fixed : the votes could not identify the parameter and it was set, see `fit_many`.
    """

    theta: FloatArray
    drps: FloatArray
    labels: FloatArray
    at_bounds: BoolArray
    gamma_fixed: BoolArray
    beta_fixed: BoolArray
    alpha: float
    kappa: float
    loss: Loss

    def to_frame(self) -> pd.DataFrame:
        """One row a calibration set."""
        import pandas as pd

        beta, eta0, gamma = self.theta.T
        columns = {"beta": beta, "nu": np.exp(eta0), "gamma": gamma, "drps": self.drps}
        return pd.DataFrame(columns | {"n_items": self.labels.sum(axis=1)})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DecisionMap:
    """What a fit decides for each way n votes can fall, beside majority; one row a (plus, tie, minus)."""

    n: int
    plus: IntArray
    tie: IntArray
    minus: IntArray
    decision: IntArray
    majority: IntArray
    p: FloatArray

    def to_frame(self) -> pd.DataFrame:
        """One row a vote pattern, with p(-1), p(0), p(+1)."""
        import pandas as pd

        columns = {"plus": self.plus, "tie": self.tie, "minus": self.minus}
        columns |= {"decision": self.decision, "majority": self.majority}
        return pd.DataFrame(columns | dict(zip(CHANCES, self.p.T, strict=True)))


def features(
    votes: VoteCells | VoteCounts, *, alpha: float = 1.0, kappa: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Vote margin and tie share of each row: s = ½·ln((c⁺+α)/(c⁻+α)), t = ln((c⁰+κ)/(n+κ)) ≤ 0.

    Both in natural-log units, shape (rows,). Raises InvalidOption unless α > 0 and κ > 0. Source: [BTD] §4.
    """
    if not (np.isfinite(alpha) and np.isfinite(kappa) and alpha > 0 and kappa > 0):
        raise InvalidOption(f"Smoothing alpha = {alpha:g}, kappa = {kappa:g}: both must be above 0.")
    n = votes.plus + votes.tie + votes.minus
    # Written from the larger side, so that exchanging A and B negates s to the last digit.
    larger, smaller = np.maximum(votes.plus, votes.minus), np.minimum(votes.plus, votes.minus)
    s = np.sign(votes.plus - votes.minus) * 0.5 * np.log((larger + alpha) / (smaller + alpha))
    return s, np.log((votes.tie + kappa) / (n + kappa))


def drps(p: FloatArray, gold: IntArray) -> FloatArray:
    """Discrete ranked probability score of each row: (F₋₁ − 1{y ≤ −1})² + (F₀ − 1{y ≤ 0})², in [0, 2].

    `p` is (…, rows, 3) in the order -1, 0, +1. Source: [BTD] §4.
    """
    below = p[..., 0] - (gold <= -1)
    upto = p[..., 0] + p[..., 1] - (gold <= 0)
    return np.asarray(below**2 + upto**2)


def risks(p: FloatArray) -> FloatArray:
    """Expected absolute error of deciding -1, 0, +1, shape (…, 3).

    R(−1) = p(0) + 2p(+1), R(0) = p(+1) + p(−1), R(+1) = 2p(−1) + p(0). Source: [BTD] §4.
    """
    minus, tie, plus = p[..., 0], p[..., 1], p[..., 2]
    return np.stack([tie + 2 * plus, plus + minus, 2 * minus + tie], axis=-1)


def decide(p: FloatArray) -> IntArray:
    """Label of least expected absolute error: +1 if p(+1) > ½, −1 if p(−1) > ½, else 0.

    The same as the least of `risks`; an exact tie of risks goes to 0 (ours). Source: [BTD] §4.
    """
    return (p[..., 2] > 0.5).astype(np.int64) - (p[..., 0] > 0.5).astype(np.int64)


def apply(fit: BTDFit, votes: VoteCells | VoteCounts) -> IntArray:
    """Calibrated label of each row of votes, labelled or not."""
    s, t = features(votes, alpha=fit.alpha, kappa=fit.kappa)
    return decide(probabilities(np.array([fit.beta, fit.eta0, fit.gamma]), s, t))


def fit(
    cells: VoteCells,
    *,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    loss: Loss = "drps",
) -> BTDFit:
    """Fit (β, ν, γ) on all labelled cells by least mean DRPS.

    It is `fit_many` with one calibration set; errors and edge rules are there. Source: [BTD] §4.
    """
    fits = fit_many(cells, cells.weight[None, :], alpha=alpha, kappa=kappa, bounds=bounds, loss=loss)
    beta, eta0, gamma = fits.theta[0].tolist()
    return BTDFit(
        beta=beta,
        nu=_natural(eta0, bounds or Bounds()),
        gamma=gamma,
        eta0=eta0,
        drps=float(fits.drps[0]),
        n_items=round(float(fits.labels[0].sum())),
        at_bounds=tuple(name for name, hit in zip(PARAMETERS, fits.at_bounds[0], strict=True) if hit),
        converged=True,
        notes=_notes(fits),
        alpha=alpha,
        kappa=kappa,
        loss=loss,
    )


def fit_many(
    cells: VoteCells,
    weights: FloatArray,
    *,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    loss: Loss = "drps",
    penalty: Penalty | None = None,
    minimum: int = MINIMUM_LABELS,
    starts: FloatArray | None = None,
) -> BTDFits:
    """Fit (β, ν, γ) on many calibration sets in one solve, each by least weighted mean DRPS in the box.

    weights : (sets, cells), comparisons of each cell in a calibration set; unlabelled cells count nothing.
    loss : `drps`, or for an ablation `log` or `mae` (expected absolute error, [BTD] eq. 8).
    penalty : added to the loss; `drps` of the result then holds it too.
    minimum : fewest labels of a set; a penalised fit needs none, and answers with its centre.
    starts : (sets, k, 3), where to begin instead of looking over the box, for fits near known ones.

    Starts are one fixed point and the lowest local minima of a fixed grid over the box, so a fit needs no
    seed (ours). With every t of a set equal, η₀ and γ are not identified apart and γ is 0; with every s zero,
    β is not identified and is 1 (ours); either moves to the nearest bound if the box does not hold it. A
    penalty identifies both, and neither is set.

    Raises TooFewLabels below `minimum` labelled comparisons, NotConverged if the best start did not reach a
    minimum.
    Source: [BTD] §4 for loss and box; the solver is ours.
    """
    bounds = bounds or Bounds()
    if loss not in LOSSES:
        raise InvalidOption(f"loss {loss!r}: choose from {', '.join(LOSSES)}.")
    if not len(cells):
        raise TooFewLabels(f"BTD needs at least {MINIMUM_LABELS} labelled comparisons to fit; there are 0.")
    s, t = features(cells, alpha=alpha, kappa=kappa)
    order = np.lexsort([t, s])
    s, t, gold = s[order], t[order], cells.gold[order]
    first = np.flatnonzero(np.append(True, (np.diff(s) != 0) | (np.diff(t) != 0)))
    weights = weights[:, order]
    by_label = np.stack([np.add.reduceat(weights * (gold == y), first, axis=1) for y in (-1, 0, 1)])
    s, t = s[first], t[first]
    labels = by_label.sum(axis=2).T
    fewest = float(labels.sum(axis=1).min(initial=np.inf))
    # Weights may be sums of chances, which miss a whole number by rounding.
    if fewest < minimum - 1e-6:
        raise TooFewLabels(f"BTD needs at least {minimum} labelled comparisons to fit; there are {fewest:g}.")

    seen = by_label.sum(axis=0) > 0
    t_low, t_high = np.where(seen, t, np.inf).min(axis=1), np.where(seen, t, -np.inf).max(axis=1)
    gamma_fixed, beta_fixed = t_low == t_high, ~(seen & (s != 0)).any(axis=1)
    size = np.maximum(labels.sum(axis=1), 1.0)
    centre = pull = None
    if penalty is not None:
        centre = np.broadcast_to(penalty.centre, (len(labels), 3))
        pull = np.broadcast_to(penalty.precision, (len(labels), 3, 3)) / size[:, None, None]
        free = ~pull.any(axis=(1, 2))
        gamma_fixed, beta_fixed = gamma_fixed & free, beta_fixed & free
    box = np.array([bounds.beta, np.log(bounds.nu), bounds.gamma])
    low, high = np.tile(box[:, 0], (len(labels), 1)), np.tile(box[:, 1], (len(labels), 1))
    low[gamma_fixed, 2] = high[gamma_fixed, 2] = np.clip(0.0, *bounds.gamma)
    low[beta_fixed, 0] = high[beta_fixed, 0] = np.clip(1.0, *bounds.beta)

    problem = Problem(
        s=s,
        t=t,
        weight=by_label / size[:, None],
        low=low,
        high=high,
        loss=loss,
        centre=centre,
        pull=pull,
        starts=starts,
    )
    theta, value, converged = solve(problem)
    if not converged.all():
        raise NotConverged(
            f"{np.count_nonzero(~converged)} of {len(converged)} BTD fits did not converge; "
            "try wider bounds or more labelled comparisons."
        )
    on_box = (theta <= box[:, 0]) | (theta >= box[:, 1])
    on_box[:, 0] &= ~beta_fixed
    on_box[:, 2] &= ~gamma_fixed
    return BTDFits(
        theta=theta,
        drps=value,
        labels=labels,
        at_bounds=on_box,
        gamma_fixed=gamma_fixed,
        beta_fixed=beta_fixed,
        alpha=alpha,
        kappa=kappa,
        loss=loss,
    )


def decision_map(fit: BTDFit, n: int) -> DecisionMap:
    """Decide every (c⁺, c⁰, c⁻) with c⁺ + c⁰ + c⁻ = n, beside the majority label; C(n + 2, 2) rows."""
    if n < 1:
        raise InvalidOption(f"n = {n}: a decision map needs at least one vote.")
    plus, minus = (grid.ravel() for grid in np.mgrid[0 : n + 1, 0 : n + 1])
    plus, minus = plus[plus + minus <= n].astype(np.int64), minus[plus + minus <= n].astype(np.int64)
    tie = n - plus - minus
    nothing = np.zeros(len(plus))
    votes = VoteCells(plus=plus, tie=tie, minus=minus, gold=np.full(len(plus), NO_GOLD), weight=nothing)
    s, t = features(votes, alpha=fit.alpha, kappa=fit.kappa)
    p = probabilities(np.array([fit.beta, fit.eta0, fit.gamma]), s, t)
    return DecisionMap(
        n=n, plus=plus, tie=tie, minus=minus, decision=decide(p), majority=majority(plus, tie, minus), p=p
    )


def _natural(eta0: float, bounds: Bounds) -> float:
    """ν = exp(η₀), with a bound returned as the number that was given."""
    low, high = bounds.nu
    return low if eta0 <= np.log(low) else high if eta0 >= np.log(high) else float(np.exp(eta0))


def _notes(fits: BTDFits) -> tuple[str, ...]:
    missing = [name for name, count in zip(LABEL_NAMES, fits.labels[0], strict=True) if count == 0]
    notes = [f"No comparison is labelled {name}, so the fit has not seen that label." for name in missing]
    gamma = fits.theta[0, 2]
    if fits.gamma_fixed[0]:
        notes.append(
            f"Every comparison has the same share of ties, so ν and γ cannot be told apart: γ = {gamma:g}."
        )
    if fits.beta_fixed[0]:
        notes.append("Every comparison has as many votes for A as for B, so β cannot be learned.")
    return tuple(notes)


def held_out_labels(
    counts: VoteCounts,
    *,
    rng: np.random.Generator,
    folds: int = 10,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    loss: Loss = "drps",
) -> IntArray:
    """BTD label of each comparison, labelled or not, in {-1, 0, +1}: `decide` on `held_out_forecast`."""
    return decide(
        held_out_forecast(counts, rng=rng, folds=folds, alpha=alpha, kappa=kappa, bounds=bounds, loss=loss)
    )


def held_out_forecast(
    counts: VoteCounts,
    *,
    rng: np.random.Generator,
    folds: int = 10,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    loss: Loss = "drps",
) -> FloatArray:
    """p(-1), p(0), p(+1) of each comparison, by a fit on the labelled comparisons of all other items (ours).

    Items are dealt at random into `folds` of equal size (as many as there are items, if fewer); the forecast
    of a comparison comes from the fit without its fold.

    Returns
    -------
    (comparisons, 3), rows summing to 1, labelled or not.

    Raises
    ------
    TooFewLabels : without a fold fewer than 20 labelled comparisons remain.  InvalidOption : folds below 2.

    Source: [BTD] §4 for the fit.
    """
    if folds < 2:
        raise InvalidOption(f"folds = {folds}: needs at least 2, or nothing is held out")
    item = dense_codes(counts.item)
    items = int(item.max(initial=-1)) + 1
    if items < 2:
        raise TooFewLabels("BTD labels need two items or more, one to label and others to fit on.")
    folds = min(folds, items)
    fold = (rng.permutation(items) % folds)[item]
    cells, cell = counts.cells()
    inside = np.bincount(fold * len(cells) + cell, minlength=folds * len(cells)).reshape(folds, len(cells))
    weights = np.where(cells.gold == NO_GOLD, 0.0, cells.weight - inside)
    fits = fit_many(cells, weights, alpha=alpha, kappa=kappa, bounds=bounds, loss=loss)
    s, t = features(cells, alpha=alpha, kappa=kappa)
    forecast: FloatArray = probabilities(fits.theta, s, t)[fold, cell]
    return forecast
