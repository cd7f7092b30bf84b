"""Bradley–Terry–Davidson aggregation: the votes of a comparison become one label, calibrated on few
labels.

Votes enter through their counts only, so a fit works on distinct vote patterns (c⁺, c⁰, c⁻)
whatever the number of comparisons, and a hundred calibration sets are fitted in one batched solve.
Source: [BTD] §4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...errors import InvalidOption, TooFewLabels
from ...records import NO_GOLD, BoolArray, FloatArray, IntArray, VoteCells, VoteCounts
from ...stats.estimate import DataFrame, data_frame, flat
from ...stats.intervals import dense_codes
from .solver import LOSSES, Loss, NotConverged, Objective, probabilities, solve

MINIMUM_LABELS = 20
"""Fewest labelled comparisons that a fit accepts (docs/methods.md §1)."""

PARAMETERS = ("beta", "nu", "gamma")
SAME = 1e-12
"""Features that differ by less, of weighted votes, are the same."""
CHANCES = ("p(-1)", "p(0)", "p(+1)")
"""Columns of the probabilities of the labels in tables."""

LABEL_NAMES = ("B better (-1)", "tie (0)", "A better (+1)")


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
            raise InvalidOption(
                f"Bounds of nu: {self.nu[0]:g} to {self.nu[1]:g}; nu must be above 0."
            )

    @property
    def box(self) -> FloatArray:
        """Lowest and highest (β, η₀, γ), (3, 2)."""
        return np.array([self.beta, np.log(self.nu), self.gamma])


def check_smoothing(alpha: float, kappa: float) -> None:
    """Raise InvalidOption unless α > 0 and κ > 0."""
    if not (np.isfinite(alpha) and np.isfinite(kappa) and alpha > 0 and kappa > 0):
        raise InvalidOption(
            f"Smoothing alpha = {alpha:g}, kappa = {kappa:g}: both must be above 0."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BTDOptions:
    """How BTD is fitted.

    alpha, kappa : smoothing of the vote margin and of the tie share, above 0 (`features`).
    bounds : box of the parameters.
    loss : `drps`, or for an ablation `log` or `mae` (expected absolute error; ours).
    """

    alpha: float = 1.0
    kappa: float = 1.0
    bounds: Bounds = field(default_factory=Bounds)
    loss: Loss = "drps"

    def __post_init__(self) -> None:
        check_smoothing(self.alpha, self.kappa)
        if self.loss not in LOSSES:
            raise InvalidOption(f"loss {self.loss!r}: choose from {', '.join(LOSSES)}.")


DEFAULTS = BTDOptions()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BTDFit:
    """Parameters fitted on one calibration set.

    beta : weight of the vote margin.  nu, eta0 : tie propensity, eta0 = ln nu.
    gamma : weight of the log tie share.
    drps : value of the minimised loss, a mean over the calibration set (DRPS unless `loss` says
        otherwise).
    n_items : labelled comparisons fitted on.  at_bounds : parameters that ended on their box.
    """

    beta: float
    nu: float
    gamma: float
    eta0: float
    drps: float
    n_items: int
    at_bounds: tuple[str, ...]
    notes: tuple[str, ...]
    options: BTDOptions

    @property
    def theta(self) -> FloatArray:
        """(β, η₀, γ)."""
        return np.array([self.beta, self.eta0, self.gamma])

    def probabilities(self, votes: VoteCells | VoteCounts) -> FloatArray:
        """p(-1), p(0), p(+1) of each row of votes, (rows, 3)."""
        return probabilities(self.theta, *features(votes, self.options))

    def to_frame(self) -> DataFrame:
        """One row."""
        row = flat(self, names=(*PARAMETERS, "drps", "n_items"))
        return data_frame(
            [row | {"at_bounds": ", ".join(self.at_bounds), "notes": " ".join(self.notes)}]
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BTDFits:
    """Parameters fitted on several calibration sets at once, one row per set.

    theta : (sets, 3) as β, η₀, γ.  at_bounds : (sets, 3), the parameter ended on its box.
    labels : (sets, 3), labelled comparisons by gold -1, 0, +1.
    gamma_fixed, beta_fixed : the votes could not identify the parameter and it was set, see
        `fit_many`.
    """

    theta: FloatArray
    drps: FloatArray
    labels: FloatArray
    at_bounds: BoolArray
    gamma_fixed: BoolArray
    beta_fixed: BoolArray
    options: BTDOptions

    def probabilities(self, votes: VoteCells | VoteCounts) -> FloatArray:
        """p(-1), p(0), p(+1) of each row of votes by each fit, (sets, rows, 3)."""
        return probabilities(self.theta, *features(votes, self.options))

    def to_frame(self) -> DataFrame:
        """One row per calibration set."""
        columns = dict(zip(PARAMETERS, natural(self.theta).T, strict=True)) | {"drps": self.drps}
        return data_frame(columns | {"n_items": self.labels.sum(axis=1)})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DecisionMap:
    """What a fit decides for each way n votes can fall, beside majority; one row per (plus, tie,
    minus).
    """

    n: int
    plus: IntArray
    tie: IntArray
    minus: IntArray
    decision: IntArray
    majority: IntArray
    p: FloatArray

    def to_frame(self) -> DataFrame:
        """One row per vote pattern, with p(-1), p(0), p(+1)."""
        columns = flat(self, names=("plus", "tie", "minus", "decision", "majority"))
        return data_frame(columns | dict(zip(CHANCES, self.p.T, strict=True)))


def natural(theta: FloatArray) -> FloatArray:
    """(β, η₀, γ) → (β, ν, γ), ν = exp(η₀); (…, 3)."""
    return np.stack([theta[..., 0], np.exp(theta[..., 1]), theta[..., 2]], axis=-1)


def features(
    votes: VoteCells | VoteCounts, options: BTDOptions = DEFAULTS
) -> tuple[FloatArray, FloatArray]:
    """Vote margin and tie share of each row: s = ½·ln((c⁺+α)/(c⁻+α)), t = ln((c⁰+κ)/(n+κ)) ≤ 0.

    Both in natural-log units, shape (rows,). Source: [BTD] §4.
    """
    alpha, kappa = options.alpha, options.kappa
    # Written from the larger side, so that exchanging A and B negates s to the last digit.
    larger, smaller = np.maximum(votes.plus, votes.minus), np.minimum(votes.plus, votes.minus)
    s = np.sign(votes.plus - votes.minus) * 0.5 * np.log((larger + alpha) / (smaller + alpha))
    return s, np.log((votes.tie + kappa) / (votes.n + kappa))


def drps(p: FloatArray, gold: IntArray) -> FloatArray:
    """Discrete ranked probability score of each row: (F₋₁ − 1{y ≤ −1})² + (F₀ − 1{y ≤ 0})², in [0,
    2].

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
    return decide(fit.probabilities(votes))


def fit(cells: VoteCells, options: BTDOptions = DEFAULTS) -> BTDFit:
    """Fit (β, ν, γ) on all labelled cells by least mean DRPS.

    It is `fit_many` with one calibration set; errors and edge rules are there. Source: [BTD] §4.
    """
    fits = fit_many(cells, cells.weight[None, :], options)
    return single_fit(
        fits.theta[0],
        options,
        drps=float(fits.drps[0]),
        n_items=round(float(fits.labels[0].sum())),
        at_bounds=fits.at_bounds[0],
        notes=_notes(fits),
    )


def single_fit(
    theta: FloatArray,
    options: BTDOptions,
    *,
    drps: float,
    n_items: int,
    at_bounds: BoolArray,
    notes: tuple[str, ...],
) -> BTDFit:
    """θ = (β, η₀, γ) as a fit to apply; a bound of ν is returned as the number that was given."""
    beta, eta0, gamma = theta.tolist()
    low, high = options.bounds.nu
    return BTDFit(
        beta=beta,
        nu=low if eta0 <= np.log(low) else high if eta0 >= np.log(high) else float(np.exp(eta0)),
        gamma=gamma,
        eta0=eta0,
        drps=drps,
        n_items=n_items,
        at_bounds=tuple(name for name, hit in zip(PARAMETERS, at_bounds, strict=True) if hit),
        notes=notes,
        options=options,
    )


def fit_many(
    cells: VoteCells,
    weights: FloatArray,
    options: BTDOptions = DEFAULTS,
    *,
    penalty: tuple[FloatArray, FloatArray] | None = None,
    minimum: int = MINIMUM_LABELS,
    starts: FloatArray | None = None,
) -> BTDFits:
    """Fit (β, ν, γ) on many calibration sets in one solve, each by least weighted mean DRPS in the
    box.

    weights : (sets, cells), comparisons of each cell in a calibration set; unlabelled cells count
        nothing.
    penalty : θ₀, (3,) or (sets, 3), and P, (3, 3) or (sets, 3, 3), positive semidefinite: (1/m)·(θ
        − θ₀)ᵀP(θ − θ₀)
    is added to the mean loss of m labelled comparisons (ours); `drps` of the result then holds it
    too.
    minimum : fewest labels of a set; a penalised fit needs none, and answers with its centre.
    starts : (sets, k, 3), where to begin instead of looking over the box, for fits near known ones.

    Starts are one fixed point and the lowest local minima of a fixed grid over the box, so a fit
    needs no seed (ours). With every t of a set equal, η₀ and γ are not identified apart and γ is 0;
    with every s zero, β is not identified and is 1 (ours); either moves to the nearest bound if the
    box does not hold it. A penalty identifies both, and neither is set.

    Raises TooFewLabels below `minimum` labelled comparisons, NotConverged if the best start did not
    reach a minimum.
    Source: [BTD] §4 for loss and box; the solver is ours.
    """
    if not len(cells):
        raise TooFewLabels(
            f"BTD needs at least {MINIMUM_LABELS} labelled comparisons to fit; there are 0."
        )
    s, t, by_label = _patterns(cells, weights, options)
    labels = by_label.sum(axis=2).T
    fewest = float(labels.sum(axis=1).min(initial=np.inf))
    # Weights may be sums of chances, which miss a whole number by rounding.
    if fewest < minimum - 1e-6:
        raise TooFewLabels(
            f"BTD needs at least {minimum} labelled comparisons to fit; there are {fewest:g}."
        )

    size = np.maximum(labels.sum(axis=1), 1.0)
    seen = by_label.sum(axis=0) > 0
    beta_fixed, gamma_fixed = not_identified(s, t, seen)
    centre = precision = None
    if penalty is not None:
        theta0, weighed = penalty
        centre = np.broadcast_to(theta0, (len(labels), 3))
        precision = np.broadcast_to(weighed, (len(labels), 3, 3)) / size[:, None, None]
        free = ~precision.any(axis=(1, 2))
        gamma_fixed, beta_fixed = gamma_fixed & free, beta_fixed & free
    low, high = boxes(options.bounds, beta_fixed, gamma_fixed)
    objective = Objective(
        x=s[None],
        y=np.stack([np.ones_like(t), t]),
        weight=by_label / size[:, None],
        loss=options.loss,
        centre=centre,
        precision=precision,
    )
    theta, value, converged = solve(objective, low, high, starts=starts)
    if not converged.all():
        raise NotConverged(
            f"{np.count_nonzero(~converged)} of {len(converged)} BTD fits did not converge; "
            "try wider bounds or more labelled comparisons."
        )
    on_box = (theta <= options.bounds.box[:, 0]) | (theta >= options.bounds.box[:, 1])
    on_box[:, 0] &= ~beta_fixed
    on_box[:, 2] &= ~gamma_fixed
    return BTDFits(
        theta=theta,
        drps=value,
        labels=labels,
        at_bounds=on_box,
        gamma_fixed=gamma_fixed,
        beta_fixed=beta_fixed,
        options=options,
    )


def not_identified(s: FloatArray, t: FloatArray, seen: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Sets, (sets,) each, that cannot identify β, as every s seen is 0, and γ, as every t seen is
    the same.

    seen : (sets, rows).  s, t : (rows,) or (sets, rows).
    """
    least, most = np.where(seen, t, np.inf).min(axis=1), np.where(seen, t, -np.inf).max(axis=1)
    return np.asarray(~(seen & (np.abs(s) > SAME)).any(axis=1)), np.asarray(
        np.abs(most - least) <= SAME
    )


def boxes(
    bounds: Bounds, beta_fixed: BoolArray, gamma_fixed: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest (β, η₀, γ) of each set, (sets, 3): β at 1 and γ at 0 where they
    are fixed.
    """
    low, high = (np.tile(end, (len(beta_fixed), 1)) for end in bounds.box.T)
    low[beta_fixed, 0] = high[beta_fixed, 0] = np.clip(1.0, *bounds.beta)
    low[gamma_fixed, 2] = high[gamma_fixed, 2] = np.clip(0.0, *bounds.gamma)
    return low, high


def _patterns(
    cells: VoteCells, weights: FloatArray, options: BTDOptions
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distinct (s, t) of the cells, and each set's weight on them by gold -1, 0, +1, (3, sets,
    patterns).
    """
    s, t = features(cells, options)
    order = np.lexsort([t, s])
    s, t, gold = s[order], t[order], cells.gold[order]
    first = np.flatnonzero(np.append(True, (np.diff(s) != 0) | (np.diff(t) != 0)))
    weights = weights[:, order]
    by_label = np.stack([np.add.reduceat(weights * (gold == y), first, axis=1) for y in (-1, 0, 1)])
    return s[first], t[first], by_label


def decision_map(fit: BTDFit, n: int) -> DecisionMap:
    """Decide every (c⁺, c⁰, c⁻) with c⁺ + c⁰ + c⁻ = n, beside the majority label; C(n + 2,
    2) rows.
    """
    if n < 1:
        raise InvalidOption(f"n = {n}: a decision map needs at least one vote.")
    plus, minus = (grid.ravel() for grid in np.mgrid[0 : n + 1, 0 : n + 1])
    plus, minus = (
        plus[plus + minus <= n].astype(np.int64),
        minus[plus + minus <= n].astype(np.int64),
    )
    votes = state_cells(np.column_stack([minus, n - plus - minus, plus]))
    p = fit.probabilities(votes)
    return DecisionMap(
        n=n, plus=plus, tie=votes.tie, minus=minus, decision=decide(p), majority=votes.label, p=p
    )


def state_cells(votes: IntArray) -> VoteCells:
    """Ways that votes can fall, (rows, 3) by vote -1, 0, +1, as cells without gold."""
    minus, tie, plus = votes.T
    nothing = np.zeros(len(votes))
    return VoteCells(
        plus=plus, tie=tie, minus=minus, gold=np.full(len(votes), NO_GOLD), weight=nothing
    )


def _notes(fits: BTDFits) -> tuple[str, ...]:
    missing = [name for name, count in zip(LABEL_NAMES, fits.labels[0], strict=True) if count == 0]
    notes = [
        f"No comparison is labelled {name}, so the fit has not seen that label." for name in missing
    ]
    gamma = fits.theta[0, 2]
    if fits.gamma_fixed[0]:
        notes.append(
            "Every comparison has the same share of ties, so ν and γ are not identified "
            f"separately: γ = {gamma:g}."
        )
    if fits.beta_fixed[0]:
        notes.append("Every comparison has as many votes for A as for B, so β cannot be learned.")
    return tuple(notes)


def held_out_labels(
    counts: VoteCounts, options: BTDOptions = DEFAULTS, *, rng: np.random.Generator, folds: int = 10
) -> IntArray:
    """BTD label of each comparison, labelled or not, in {-1, 0, +1}: `decide` on
    `held_out_forecast`.
    """
    return decide(held_out_forecast(counts, options, rng=rng, folds=folds))


def held_out_forecast(
    counts: VoteCounts, options: BTDOptions = DEFAULTS, *, rng: np.random.Generator, folds: int = 10
) -> FloatArray:
    """p(-1), p(0), p(+1) of each comparison, by a fit on the labelled comparisons of all other
    items (ours).

    Items are dealt at random into `folds` of equal size (as many as there are items, if fewer); the
    forecast of a comparison comes from the fit without its fold. (comparisons, 3), labelled or not.

    Raises TooFewLabels if without a fold fewer than 20 labelled comparisons remain, InvalidOption
    for folds below 2.
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
    inside = np.bincount(fold * len(cells) + cell, minlength=folds * len(cells)).reshape(
        folds, len(cells)
    )
    weights = np.where(cells.gold == NO_GOLD, 0.0, cells.weight - inside)
    return np.asarray(fit_many(cells, weights, options).probabilities(cells)[fold, cell])
