"""Shrunken BTD: with few labels, a fit is shrunk towards a prior from other tasks, other judges or
none.

The penalised fit minimises mean DRPS + (λ/m)·(θ − θ₀)ᵀD²(θ − θ₀) in the box of BTD. A `Prior` holds
θ₀ and D²; its weight λ is fixed with the prior or learned by cross-validation within the
calibration set, where λ = 0 is the plain fit and λ = ∞ is θ₀. A learned prior is used only on the
calibration sets whose labels do not speak against it (`prior_check`); the others get the plain fit.
`candidate_priors` are those that a judge's votes allow.
Source: ours, docs/methods.md §9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ...errors import AppellateError, InvalidOption, TooFewLabels
from ...records import FloatArray, IntArray, VoteCells, VoteCounts
from ...stats.estimate import DataFrame, data_frame
from ...stats.splits import CalibrationSets, Splits, everything
from . import btd
from .btd import DEFAULTS, BTDOptions
from .prior_check import PriorChecks, check_prior, transfer_loss
from .solver import FIXED_START, label_losses, probabilities

STRENGTHS = (0.0, 0.1, 30.0, 100.0, float("inf"))
"""λ that cross-validation weighs: the plain fit and close to it, the prior itself and close to it.

None lies halfway: where tasks are of two kinds, a fit halfway between them is like neither. This
grid and the weights exp(−H) were chosen among thirty by simulation and on RewardBench 2
(benchmarks/rewardbench2.py): of those within .002 of the better of plain fit and prior where judges
differ, it does best where they are alike and was in the top cluster everywhere.
"""

FOLDS = 5

WEAK_PRECISION = (3.0, 0.3, 2.0)
"""D² of the weak prior, of β, η₀ and γ (docs/methods.md §9)."""

PSEUDO_FITS = 3.0
"""Fits that the weak prior counts for when the spread of a few fits is estimated."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Prior:
    """Gaussian prior on θ: mean and precision.

    theta0 : (β, η₀, γ), (3,) or (sets, 3).  precision : D², (3, 3) or (sets, 3, 3).
    source : in words, for the reader.
    strength : λ; None is learned by cross-validation within each calibration set.
    transfer : MAE that the tasks pooled lose when the others decide them, one or (sets,); None: not
        known.
    checked : use it only where `check_prior` finds nothing against it; a fixed λ is never checked.
    """

    theta0: FloatArray
    precision: FloatArray
    source: str
    strength: float | None = None
    transfer: FloatArray | None = None
    checked: bool = True

    def __post_init__(self) -> None:
        if self.theta0.shape[-1] != 3 or not np.isfinite(self.theta0).all():
            raise InvalidOption("Prior.theta0: needs a finite β, η₀ and γ.")
        if self.precision.shape[-2:] != (3, 3) or np.linalg.eigvalsh(self.precision).min() < 0:
            raise InvalidOption(
                "Prior.precision: needs a 3 × 3 matrix without negative eigenvalues."
            )
        if self.strength is not None and not self.strength >= 0:
            raise InvalidOption(
                f"Prior.strength {self.strength:g}: use 0 or more, or None to learn it."
            )


WEAK = Prior(
    theta0=np.array(FIXED_START),
    precision=np.diag(WEAK_PRECISION),
    source="a weak prior near β 1.2, η₀ 2.5, γ 1",
    strength=1.0,
)
"""Always there, whatever the data."""

PriorOfSplits = Callable[[Splits], Prior]
"""A prior that depends on which items calibrate."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShrunkenFits:
    """Shrunken parameters of several calibration sets.

    theta : (sets, 3) as β, η₀, γ.  weight : (sets, strengths), what each λ of `strengths`
        contributed.
    held_out : (sets, strengths), cross-validated mean DRPS of each λ; NaN where λ was not learned.
    source : of the prior.  checks : of the prior, None where it was not checked. Where they find
        something
    against it, θ is the plain fit and λ = 0 has all the weight.
    """

    theta: FloatArray
    weight: FloatArray
    held_out: FloatArray
    strengths: FloatArray
    source: str
    options: BTDOptions
    checks: PriorChecks | None = None

    def probabilities(self, votes: VoteCells | VoteCounts) -> FloatArray:
        """p(-1), p(0), p(+1) of each row of votes by each fit, (sets, rows, 3)."""
        return probabilities(self.theta, *btd.features(votes, self.options))

    def to_frame(self) -> DataFrame:
        """One row per calibration set, with the weight of the plain fit and of the prior itself."""
        columns = dict(zip(btd.PARAMETERS, btd.natural(self.theta).T, strict=True))
        columns["own_fit"] = self.weight[:, self.strengths == 0].sum(axis=1)
        columns["prior_alone"] = self.weight[:, np.isinf(self.strengths)].sum(axis=1)
        columns["prior_used"] = (
            np.ones(len(self.theta), dtype=bool) if self.checks is None else self.checks.used
        )
        return data_frame(columns)


def pool(
    fits: Sequence[btd.BTDFit], *, source: str, cells: Sequence[VoteCells] | None = None
) -> Prior:
    """Prior from fits on other tasks or judges: their mean, and D² the inverse of their spread.

    D⁻² = (Σ (θ_k − θ₀)(θ_k − θ₀)ᵀ + ν·W⁻¹)/(K − 1 + ν) with W the precision of the weak prior and ν
    = 3 fits that it counts for, so that two fits that happen to agree do not make a rigid prior. λ
    is learned.
    cells : labelled votes of each fit, which show how well the tasks decide each other
        (`transfer_loss`).

    The fits must not have seen a label of what will be evaluated: those of other tasks may use all
    their labels, for they are other items; for other judges on the same items see `same_items`.
    Source: ours.
    """
    if not fits:
        raise InvalidOption("A pooled prior needs at least one fit of another task or judge.")
    theta = np.stack([one.theta for one in fits])[None]
    found = _pooled(theta, source)
    transfer = None
    if cells is not None:
        weights = [of_task.weight[None] for of_task in cells]
        transfer = transfer_loss(cells, weights, theta, fits[0].options)
    return Prior(
        theta0=found.theta0[0], precision=found.precision[0], source=source, transfer=transfer
    )


def same_items(
    counts: VoteCounts, others: Mapping[str, VoteCounts], options: BTDOptions = DEFAULTS
) -> PriorOfSplits:
    """Prior from other judges on the same calibration comparisons, so that no label of the rest
    leaks in.

    Each other judge is fitted, with the weak prior, on its votes on the calibration comparisons of
    a split; then as `pool`. `counts` and `others` must come from one selection, whose comparison
    codes they share. Give the result to `evaluate(prior=...)`, or call it with `splits(...,
    by_name=True)`. The options are those of the fit that the prior is for, as θ means something
    else under another smoothing.
    """
    if not others:
        raise InvalidOption("A prior of other judges needs the votes of at least one other judge.")

    def prior(drawn: Splits) -> Prior:
        known = counts.labelled()
        if drawn.single or drawn.n != len(known):
            raise InvalidOption(
                "A prior of other judges needs splits of the same votes, drawn by name."
            )
        wanted = known.comparison[drawn.entry_row]
        n_sets = len(drawn.calibration)
        theta, of_judge, weighed = [], [], []
        for votes in others.values():
            cells, cell = votes.cells()
            of_judge.append(cells)
            row = np.full(1 + max(wanted.max(), votes.comparison.max(initial=0)), -1)
            row[votes.comparison] = np.arange(len(votes))
            found = row[wanted]
            seen = found >= 0
            place = drawn.entry_split[seen] * len(cells) + cell[found[seen]]
            weights = np.bincount(place, minlength=n_sets * len(cells)).reshape(n_sets, -1)
            weighed.append(weights.astype(np.float64))
            theta.append(_penalised(cells, weighed[-1], WEAK, 1.0, options))
        fits = np.stack(theta, axis=1)
        pooled = _pooled(fits, f"{len(others)} other judges on the same items")
        return replace(pooled, transfer=transfer_loss(of_judge, weighed, fits, options))

    return prior


def shrunken(
    sets: CalibrationSets,
    prior: Prior,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator | None = None,
) -> ShrunkenFits:
    """Fit (β, η₀, γ) on each calibration set, shrunk towards the prior.

    A fixed λ: the penalised fit. Else every λ of STRENGTHS is fitted with each of FOLDS parts of
    the items left out, and the answer is Σ_λ w_λ·θ_λ over the fits on the whole set, w_λ ∝
    exp(−H_λ), H_λ the sum of DRPS over the comparisons when left out. Averaging over λ loses less
    than picking one: with a few dozen labels the best λ is mostly chance. A set of one item cannot
    be divided, and each λ weighs the same. Where `check_prior` finds something against the prior,
    the answer is the plain fit.

    rng : deals items to folds; needed only where λ is learned.
    Raises TooFewLabels below 20 labelled comparisons, else as `fit_many`. Source: ours,
    docs/methods.md §9.
    """
    weights = sets.weights
    fewest = weights.sum(axis=1).min(initial=np.inf)
    if fewest < btd.MINIMUM_LABELS:
        raise TooFewLabels(
            f"Shrunken BTD needs at least {btd.MINIMUM_LABELS} labelled comparisons to fit; there "
            f"are {fewest:g}."
        )
    if prior.strength is not None:
        return ShrunkenFits(
            theta=_penalised(sets.cells, weights, prior, prior.strength, options),
            weight=np.ones((len(weights), 1)),
            held_out=np.full((len(weights), 1), np.nan),
            strengths=np.array([prior.strength]),
            source=prior.source,
            options=options,
        )
    if rng is None:
        raise InvalidOption("Cross-validation of λ deals items to folds and needs an rng.")

    fits = [_penalised(sets.cells, weights, prior, strength, options) for strength in STRENGTHS]
    theta = np.stack(fits, axis=1)
    held_out = _cross_validated(sets, prior, theta, rng, options)
    held_out[sets.n_items == 1] = np.nan
    weight = np.exp(np.nan_to_num(held_out.min(axis=1, keepdims=True) - held_out))
    weight /= weight.sum(axis=1, keepdims=True)
    checks = None
    if prior.checked:
        checks = check_prior(sets.cells, weights, prior.theta0, prior.transfer, options)
        weight[~checks.used] = np.equal(STRENGTHS, 0.0)
    return ShrunkenFits(
        theta=np.einsum("sl,sli->si", weight, theta),
        weight=weight,
        held_out=held_out / weights.sum(axis=1)[:, None],
        strengths=np.array(STRENGTHS),
        source=prior.source,
        options=options,
        checks=checks,
    )


def shrunken_fit(
    counts: VoteCounts,
    prior: Prior = WEAK,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator | None = None,
) -> btd.BTDFit:
    """Shrunken BTD on every labelled comparison, as a fit to apply; `drps` is its loss without the
    penalty.

    Errors and edge rules as `shrunken`. Source: ours, docs/methods.md §9.
    """
    sets = everything(counts)
    found = shrunken(sets, prior, options, rng=rng)
    theta, weight = found.theta[0], sets.cells.weight
    losses = label_losses(options.loss, *found.probabilities(sets.cells)[0].T)
    notes = [f"Shrunken towards {found.source}."]
    if found.checks is not None and not found.checks.used[0]:
        notes = [
            f"The plain fit: the prior ({found.source}) is not used.",
            f"The prior is not used, as {found.checks.reason()}.",
        ]
    elif prior.strength is None:
        own, alone = found.strengths == 0, np.isinf(found.strengths)
        notes.append(
            f"Cross-validation weighs the plain fit {found.weight[0, own].sum():.2f} and the "
            f"prior alone {found.weight[0, alone].sum():.2f}."
        )
    low, high = options.bounds.box.T
    return btd.single_fit(
        theta,
        options,
        drps=float(weight @ np.choose(sets.cells.gold + 1, losses) / weight.sum()),
        n_items=round(float(weight.sum())),
        at_bounds=(theta <= low) | (theta >= high),
        notes=tuple(notes),
    )


def _penalised(
    cells: VoteCells,
    weights: FloatArray,
    prior: Prior,
    strength: float,
    options: BTDOptions,
    starts: FloatArray | None = None,
) -> FloatArray:
    """Fits with one λ: (sets, 3)."""
    if np.isinf(strength):
        low, high = options.bounds.box.T
        return np.broadcast_to(np.clip(prior.theta0, low, high), (len(weights), 3))
    penalty = (prior.theta0, strength * prior.precision) if strength else None
    return btd.fit_many(cells, weights, options, penalty=penalty, minimum=0, starts=starts).theta


def _cross_validated(
    sets: CalibrationSets,
    prior: Prior,
    theta: FloatArray,
    rng: np.random.Generator,
    options: BTDOptions,
) -> FloatArray:
    """Sum of DRPS over the comparisons of each set, each forecast by fits without its item's fold.

    theta : (sets, strengths, 3), fits on the whole sets, near which the others are searched for.
    Returns (sets, strengths).
    """
    n_sets, n_cells = len(theta), len(sets.cells)
    fold = sets.folds(FOLDS, rng=rng)
    part = sets.set * FOLDS + fold
    out = np.bincount(part * n_cells + sets.cell, minlength=n_sets * FOLDS * n_cells)
    out = out.reshape(n_sets, FOLDS, n_cells).astype(np.float64)
    train = (sets.weights[:, None] - out).reshape(-1, n_cells)
    of_fold = Prior(
        theta0=np.repeat(np.broadcast_to(prior.theta0, (n_sets, 3)), FOLDS, axis=0),
        precision=np.repeat(np.broadcast_to(prior.precision, (n_sets, 3, 3)), FOLDS, axis=0),
        source=prior.source,
    )
    s, t = btd.features(sets.cells, options)
    held_out = np.empty((n_sets, len(STRENGTHS)))
    for place, strength in enumerate(STRENGTHS):
        starts = np.repeat(theta[:, [place]], FOLDS, axis=0)
        fitted = _penalised(sets.cells, train, of_fold, strength, options, starts)
        error = btd.drps(probabilities(fitted, s, t), sets.cells.gold).reshape(
            n_sets, FOLDS, n_cells
        )
        held_out[:, place] = (out * error).sum(axis=(1, 2))
    return held_out


def _pooled(theta: FloatArray, source: str) -> Prior:
    """Prior of each set from (sets, fits, 3)."""
    centre = theta.mean(axis=1)
    away = theta - centre[:, None]
    spread = np.einsum("ski,skj->sij", away, away) + PSEUDO_FITS * np.diag(
        1 / np.array(WEAK_PRECISION)
    )
    precision = np.linalg.inv(spread / (theta.shape[1] - 1 + PSEUDO_FITS))
    return Prior(theta0=centre, precision=(precision + precision.swapaxes(1, 2)) / 2, source=source)


Kind = Literal["all", "own", "judges", "datasets", "weak"]

NAMES: dict[Kind, str] = {
    "all": "all judges' other categories",
    "own": "this judge's other categories",
    "judges": "other judges on the same items",
    "datasets": "this judge in other data sets",
    "weak": "a fixed weak prior",
}
"""Priors by kind, the one that helped most on real votes first."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CandidatePrior:
    """A candidate prior, or the reason it is unavailable.

    prior : for `evaluate`, which must not see a label of what it evaluates.  whole : for a fit on
        every label of the task, whose other comparisons have none.  Both None where there is a
        `reason`.
    donors : tasks or judges whose fits were pooled.  left_out : those that could not be, and why.
    """

    kind: Kind
    prior: Prior | PriorOfSplits | None = None
    whole: Prior | None = None
    donors: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    reason: str | None = None

    @property
    def name(self) -> str:
        return NAMES[self.kind]


def candidate_priors(
    judge: str,
    task: Mapping[str, VoteCounts],
    options: BTDOptions = DEFAULTS,
    *,
    category: str | None = None,
    by_category: Mapping[str, Mapping[str, VoteCounts]] | None = None,
    dataset: str | None = None,
    by_dataset: Mapping[str, VoteCounts] | None = None,
) -> dict[Kind, CandidatePrior]:
    """Every prior of NAMES for the votes of `judge` on a task, or why there is none.

    task : votes of each judge on the task.  category : which one the task is, None if it is all of
        them.
    by_category : votes by category, then judge, with the item codes of `task`.
    dataset, by_dataset : the data set of the task, and the judge's votes in each, with item codes
        of their
    own (`by_item_name`).
    A donor of another task is fitted without the items of this one, and needs 20 labels.
    Source: ours, docs/methods.md §9.
    """
    items = task[judge].item
    by_category, by_dataset = by_category or {}, by_dataset or {}
    elsewhere = {name: votes for name, votes in by_dataset.items() if name != dataset}
    there = by_dataset[dataset].item if dataset is not None and dataset in by_dataset else items[:0]
    found: dict[Kind, CandidatePrior] = {}
    kinds: tuple[tuple[Kind, dict[str, VoteCounts], IntArray], ...] = (
        ("all", _others(by_category, category, None), items),
        ("own", _others(by_category, category, judge), items),
        ("datasets", elsewhere, there),
    )
    for kind, votes, taken in kinds:
        if votes:
            found[kind] = _of_tasks(kind, votes, taken, options)
        else:
            found[kind] = CandidatePrior(
                kind=kind, reason=_missing(kind, category, len(by_category))
            )
    found["judges"] = _of_judges(judge, task, options)
    found["weak"] = CandidatePrior(kind="weak", prior=WEAK, whole=WEAK)
    return {kind: found[kind] for kind in NAMES}


def by_item_name(counts: VoteCounts, item_ids: Sequence[str]) -> VoteCounts:
    """The same votes with items of one name made one item, as data sets may share their questions.

    item_ids : name of the item of each comparison code.
    """
    code = np.unique(np.asarray(item_ids, dtype=object).astype(str), return_inverse=True)[1]
    return replace(counts, item=code[counts.comparison].astype(np.int64))


def _others(
    by_category: Mapping[str, Mapping[str, VoteCounts]], category: str | None, judge: str | None
) -> dict[str, VoteCounts]:
    """Votes of each other category, of one judge or of each."""
    if category is None:
        return {}
    return {
        name if judge else f"{voter}, {name}": votes
        for name, voters in by_category.items()
        if name != category
        for voter, votes in voters.items()
        if judge in (None, voter)
    }


def _missing(kind: Kind, category: str | None, categories: int) -> str:
    """Why no other task has votes."""
    if kind == "datasets":
        return "no other data set has votes of this judge"
    if categories < 2:
        return "the votes have fewer than two categories"
    if category is None:
        return "choose one category as the task, so that the others can serve as priors"
    return "the judge has votes in no other category"


def _of_tasks(
    kind: Kind, votes: Mapping[str, VoteCounts], taken: IntArray, options: BTDOptions
) -> CandidatePrior:
    """Prior of the fits of other tasks, each without the items in `taken`."""
    fits: dict[str, btd.BTDFit] = {}
    cells: list[VoteCells] = []
    left_out: dict[str, str] = {}
    for name, counts in votes.items():
        known = counts.labelled()
        apart = known.rows(~np.isin(known.item, taken))
        if len(apart) < btd.MINIMUM_LABELS:
            shared = (
                f", {len(known) - len(apart):,} more on items of the task"
                if len(apart) < len(known)
                else ""
            )
            left_out[name] = (
                f"has {len(apart)} labelled comparisons{shared}; {btd.MINIMUM_LABELS} are needed"
            )
            continue
        try:
            of_task = apart.cells()[0]
            fits[name] = btd.fit(of_task, options)
            cells.append(of_task)
        except AppellateError as error:
            left_out[name] = str(error)
    if not fits:
        who = "category" if kind != "datasets" else "data set"
        reason = f"no other {who} has {btd.MINIMUM_LABELS} labelled comparisons of other items"
        return CandidatePrior(kind=kind, left_out=left_out, reason=reason)
    prior = pool(list(fits.values()), source=NAMES[kind], cells=cells)
    return CandidatePrior(
        kind=kind, prior=prior, whole=prior, donors=tuple(fits), left_out=left_out
    )


def _of_judges(judge: str, task: Mapping[str, VoteCounts], options: BTDOptions) -> CandidatePrior:
    """Prior of other judges on the comparisons that calibrate."""
    known = task[judge].labelled()
    others, left_out = {}, {}
    for name, votes in task.items():
        if name == judge:
            continue
        both = votes.rows(np.isin(votes.comparison, known.comparison))
        if len(both) < btd.MINIMUM_LABELS:
            left_out[name] = (
                f"judged {len(both)} of the labelled comparisons; {btd.MINIMUM_LABELS} are needed"
            )
        else:
            others[name] = both
    if not others:
        reason = "no other judge voted on these labelled comparisons"
        return CandidatePrior(kind="judges", left_out=left_out, reason=reason)
    fits = [shrunken_fit(votes, WEAK, options) for votes in others.values()]
    cells = [votes.labelled().cells()[0] for votes in others.values()]
    return CandidatePrior(
        kind="judges",
        prior=same_items(known, others, options),
        whole=pool(fits, source=NAMES["judges"], cells=cells),
        donors=tuple(others),
        left_out=left_out,
    )
