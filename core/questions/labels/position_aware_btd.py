"""BTD with a term for the order in which each vote was shown, so that unbalanced orders need not be
dropped.

u = β·s + δ·(share of `ab` votes − ½). One more parameter costs more than it brings where there is
little to correct, so by default δ enters only where the calibration labels show that the order
matters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidOption, NoUsableVotes
from ...records import NO_GOLD, FloatArray, IntArray, OrderCounts, VoteCells, VoteCounts
from ...stats.estimate import DataFrame, Estimate, data_frame, flat
from ...stats.intervals import check_level, resample_items, z_quantile
from ...stats.splits import (
    CalibrationSets,
    HeldOut,
    HeldOutScores,
    Splits,
    calibration_sets,
    everything,
    held_out_scores,
    item_losses,
    splits,
)
from .btd import DEFAULTS, BTDFits, BTDOptions, boxes, decide, drps, features, fit_many
from .solver import FIXED_START, Objective, label_probabilities, minimise

DELTA_BOUNDS = (-10.0, 10.0)
START_DELTAS = (0.0, -1.5, 1.5)
PRECISION = 0.1
"""Weight of δ²/m in the loss, m comparisons fitted on: a weak prior that there is no bias (ours).
"""
CUT = 1.96
"""A smaller score statistic leaves δ at 0 (ours): with 20 labels of weak judges that takes about
nine tenths of the harm of a needless δ away."""

NAMES = ("Position-aware BTD", "BTD", "Position-aware BTD, untested", "Majority (SC)")
BALANCED_NOTE = (
    "Every labelled comparison has as many votes in one order as in the other, so δ is 0."
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PositionAwareFit:
    """BTD with a term for the order: u = β·s + δ·(share of `ab` votes − ½).

    beta, nu, gamma, eta0, options : as in `core.questions.labels.btd.BTDFit`.
    delta : what u gains from votes all in `ab` over votes all in `ba` with the same counts. Below 0
        takes back a bias to the response shown first, above 0 one to the second.
    z : score statistic of δ at plain BTD's optimum, standard normal where the order does not
        matter.
    drps : mean DRPS of the fit.  n_items : labelled comparisons fitted on.
    unbalanced : those among them with more votes in one order than in the other.
    notes : what could not be identified, in words.
    """

    beta: float
    nu: float
    gamma: float
    eta0: float
    delta: float
    z: float
    drps: float
    n_items: int
    unbalanced: int
    notes: tuple[str, ...]
    options: BTDOptions

    @property
    def theta(self) -> FloatArray:
        """(β, η₀, γ, δ)."""
        return np.array([self.beta, self.eta0, self.gamma, self.delta])

    def probabilities(self, counts: OrderCounts) -> FloatArray:
        """p(-1), p(0), p(+1) of each comparison, (rows, 3), labelled or not."""
        s, t = features(votes_of_both_orders(counts), self.options)
        return np.asarray(order_probabilities(self.theta[None], s, t, share_ab(counts))[0])

    def to_frame(self) -> DataFrame:
        """One row."""
        names = ("beta", "nu", "gamma", "delta", "z", "drps", "n_items", "unbalanced")
        return data_frame([flat(self, names=names) | {"notes": " ".join(self.notes)}])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PositionAware(HeldOut):
    """Position-aware BTD on all labels, how sure δ is, and what it gains on held-out items.

    fit : with δ = 0 unless its score statistic reaches ±1.96.
    delta : as estimated, whatever the test says, ± z·SD over `draws` refits on items drawn with
        replacement; 0 to 0 where δ is not identified.
    scores : on the same splits, δ where the test of each calibration set asks for it; plain BTD; δ
        always; and majority.
    """

    fit: PositionAwareFit
    delta: Estimate
    scores: HeldOutScores


def share_ab(counts: OrderCounts) -> FloatArray:
    """Share of each comparison's votes with model_a shown first, in [0, 1], minus ½."""
    ab = counts.ab.sum(axis=1)
    return np.asarray(ab / (ab + counts.ba.sum(axis=1)) - 0.5)


def votes_of_both_orders(counts: OrderCounts) -> VoteCounts:
    """The same votes without their order."""
    return VoteCounts.of(
        counts.ab + counts.ba, comparison=counts.comparison, item=counts.item, gold=counts.gold
    )


def order_probabilities(
    theta: FloatArray, s: FloatArray, t: FloatArray, order: FloatArray
) -> FloatArray:
    """p(-1), p(0), p(+1) with u = β·s + δ·order and η = η₀ + γ·t: θ (fits, 4) → (fits, rows, 3)."""
    beta, eta0, gamma, delta = theta.T[:, :, None]
    return np.stack(label_probabilities(beta * s + delta * order, eta0 + gamma * t), axis=-1)


def plain(base: BTDFits) -> FloatArray:
    """Plain BTD's parameters with δ = 0, (fits, 4)."""
    return np.column_stack([base.theta, np.zeros(len(base.theta))])


def order_score(sets: CalibrationSets, order: FloatArray, base: BTDFits) -> FloatArray:
    """−Σg/√Σ_i g_i² over the labelled comparisons of each set, g = ∂DRPS/∂δ at plain BTD's optimum.

    g_i is the sum over the comparisons of an item, which are one observation.
    """
    cells = sets.cells
    m, _, p = np.moveaxis(
        order_probabilities(plain(base), *features(cells, base.options), order), -1, 0
    )
    d = p - m
    slope = 2 * (p - (cells.gold == 1)) * p * (1 - d) - 2 * (m - (cells.gold == -1)) * m * (1 + d)
    g = np.where(cells.gold == NO_GOLD, 0.0, slope * order)
    code = sets.item_of_set
    by_item = np.bincount(code, weights=g[sets.set, sets.cell])
    of_set = np.empty(len(by_item), dtype=np.int64)
    of_set[code] = sets.set
    total, squares = (
        np.bincount(of_set, weights=part, minlength=len(g)) for part in (by_item, by_item**2)
    )
    spread = np.sqrt(squares)
    # 0 − …, so that what is exactly 0 is no -0.
    return np.asarray((0.0 - total) / np.where(spread > 0, spread, 1.0))


def fit_orders(
    cells: VoteCells, order: FloatArray, weights: FloatArray, base: BTDFits
) -> FloatArray:
    """(β, η₀, γ, δ) of many calibration sets, starting from plain BTD's fits: (sets, 4)."""
    s, t = features(cells, base.options)
    fits = len(weights)
    weights = np.where(cells.gold == NO_GOLD, 0.0, weights)
    precision = np.zeros((fits, 4, 4))
    precision[:, 3, 3] = PRECISION / weights.sum(axis=1)
    weights = weights / weights.sum(axis=1, keepdims=True)
    low, high = boxes(base.options.bounds, base.beta_fixed, base.gamma_fixed)
    # δ needs a comparison out of balance.
    balanced = ~((weights > 0) & (order != 0)).any(axis=1)
    least, most = (np.where(balanced, 0.0, end) for end in DELTA_BOUNDS)
    start = [np.column_stack([base.theta, np.full(fits, delta)]) for delta in START_DELTAS]
    objective = Objective(
        x=np.stack([s, order]),
        y=np.stack([np.ones_like(t), t]),
        in_u=(0, 3),
        weight=np.stack([weights * (cells.gold == y) for y in (-1, 0, 1)]),
        centre=np.zeros((fits, 4)),
        precision=precision,
    )
    theta, _ = minimise(
        objective,
        np.stack([*start, np.tile([*FIXED_START, 0.0], (fits, 1))]),
        np.column_stack([low, least]),
        np.column_stack([high, most]),
    )
    theta[balanced] = plain(base)[balanced]
    return theta


def fit_position_aware(
    counts: OrderCounts, options: BTDOptions = DEFAULTS, *, tested: bool = True
) -> PositionAwareFit:
    """Fit (β, η₀, γ, δ) on all labelled comparisons by least mean DRPS + 0.1·δ²/m.

    u = β·s + δ·(share of `ab` votes − ½), η = η₀ + γ·t; all else as [BTD] §4. δ ∈ [−10, 10]; the
    small term is a weak prior on 0. Starts are plain BTD's optimum with δ of 0 and ±1.5, and a
    fixed one.

    tested : keep δ = 0, which is plain BTD, unless |z| ≥ 1.96, with z = −Σg/√Σ_i g_i² over items,
    g_i the sum of an item's ∂DRPS/∂δ at plain BTD's optimum: its sign is that of δ.

    With every comparison balanced δ is not identified and is 0. With every share the same but not
    ½, δ also takes up how much more often A is better: the notes say so. Swapping A and B in votes,
    labels and orders leaves θ and the loss and negates decisions.

    Raises as `core.questions.labels.btd.fit_many`. Source: ours, docs/methods.md §9.1.
    """
    votes = votes_of_both_orders(counts)
    known = votes.gold != NO_GOLD
    sets, order = _everything(counts.ab.sum(axis=1)[known], votes.rows(known))
    cells, weights = sets.cells, sets.weights
    base = fit_many(cells, weights, options)
    z = float(order_score(sets, order, base)[0])
    used = not tested or abs(z) >= CUT
    theta = fit_orders(cells, order, weights, base) if used else plain(base)
    loss = drps(order_probabilities(theta, *features(cells, options), order), cells.gold)[0]
    notes = []
    if not order.any():
        notes.append(BALANCED_NOTE)
    elif not used:
        notes.append(f"The labels do not show that the order matters (z = {z:.2f}), so δ is 0.")
    elif (order == order[0]).all():
        notes.append(
            "Every labelled comparison has the same share of each order, so δ also holds how much "
            "more often A is better than B; it does not measure the position bias alone."
        )
    if abs(theta[0, 3]) >= DELTA_BOUNDS[1]:
        notes.append(f"δ ended on its bound of {theta[0, 3]:g}.")
    beta, eta0, gamma, delta = theta[0].tolist()
    return PositionAwareFit(
        beta=beta,
        nu=float(np.exp(eta0)),
        gamma=gamma,
        eta0=eta0,
        delta=delta,
        z=z,
        drps=float(cells.weight @ loss / cells.weight.sum()),
        n_items=int(known.sum()),
        unbalanced=int(cells.weight[order != 0].sum()),
        notes=tuple(notes),
        options=options,
    )


def apply(fit: PositionAwareFit, counts: OrderCounts) -> IntArray:
    """Calibrated label of each comparison, labelled or not."""
    return decide(fit.probabilities(counts))


def position_aware(
    counts: OrderCounts,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = 20,
    level: float = 0.95,
    draws: int = 200,
) -> PositionAware:
    """Fit on all labels, refit with items redrawn for an interval of δ, and compare on held-out
    items.

    The splits are those of `splits.splits`: `share` of the items, at least `minimum` comparisons,
    to calibrate on; the rules of `PositionAware.scores` are judged on the rest. A calibration set
    whose comparisons are all balanced has δ = 0.

    Raises TooFewLabels as `splits` and `fit_many`; NoUsableVotes if nothing is labelled. Source:
    ours.
    """
    check_level(level)
    if draws < 20:
        raise InvalidOption(f"{draws} bootstrap draws: use at least 20.")
    known = counts.gold != NO_GOLD
    if not known.any():
        raise NoUsableVotes("No comparison with a known order has a gold label to calibrate on.")
    free = fit_position_aware(counts, options, tested=False)
    votes = votes_of_both_orders(counts)
    drawn = splits(
        votes,
        rng=rng,
        n_splits=n_splits,
        share=share,
        minimum=minimum,
        given={"ab": counts.ab.sum(axis=1)},
    )
    scores = _scores(drawn, level, options)
    half = _half_width(drawn, free, rng, draws, level) if free.unbalanced else 0.0
    delta = Estimate(free.delta, free.delta - half, free.delta + half, n=free.n_items, level=level)
    return PositionAware(fit=fit_position_aware(counts, options), delta=delta, scores=scores)


def one_order(counts: OrderCounts, *, rng: np.random.Generator) -> OrderCounts:
    """Keep the votes of one order of each comparison, drawn at random, as if there were no others
    (ours).

    A comparison with votes in one order only keeps that one.
    """
    ab, ba = counts.ab.sum(axis=1), counts.ba.sum(axis=1)
    keep_ab = (rng.random(len(counts)) < 0.5) & (ab > 0) | (ba == 0)
    return replace(
        counts,
        ab=np.where(keep_ab[:, None], counts.ab, 0),
        ba=np.where(keep_ab[:, None], 0, counts.ba),
    )


def _everything(ab: IntArray, votes: VoteCounts) -> tuple[CalibrationSets, FloatArray]:
    """One set of all rows, cells being distinct (votes, gold, votes in `ab`), and share of `ab`
    minus ½.
    """
    columns = np.column_stack([votes.plus, votes.tie, votes.minus, votes.gold, ab])
    distinct, cell, weight = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
    plus, tie, minus, gold, ab = distinct.T
    cells = VoteCells(plus=plus, tie=tie, minus=minus, gold=gold, weight=weight.astype(np.float64))
    sets = replace(everything(votes), cells=cells, cell=cell.reshape(-1))
    return sets, ab / np.maximum(cells.n, 1) - 0.5


def _scores(drawn: Splits, level: float, options: BTDOptions) -> HeldOutScores:
    cells, weights = drawn.cells, drawn.calibration
    order = drawn.given["ab"] / cells.n - 0.5
    base = fit_many(cells, weights, options)
    always, without = fit_orders(cells, order, weights, base), plain(base)
    z = order_score(calibration_sets(drawn), order, base)
    tested = np.where(np.abs(z)[:, None] >= CUT, always, without)
    s, t = features(cells, options)
    forecasts = [order_probabilities(theta, s, t, order) for theta in (tested, without, always)]
    labels = [*(decide(p) for p in forecasts), cells.label[None]]
    errors = [np.abs(label - cells.gold).astype(np.float64) for label in labels]
    ranked = [*(drps(p, cells.gold) for p in forecasts), np.full((1, len(cells)), np.nan)]
    return held_out_scores(
        item_losses(drawn, errors + ranked),
        NAMES,
        calibration=float(weights.sum(axis=1).mean()),
        level=level,
    )


def _half_width(
    drawn: Splits, free: PositionAwareFit, rng: np.random.Generator, draws: int, level: float
) -> float:
    """z·SD of δ over refits on items drawn with replacement; 95 % held in .96 of unbiased
    judges.
    """
    cells = drawn.cells
    group, times = resample_items(drawn.item, rng=rng, iterations=draws)
    table = np.bincount(group * len(cells) + drawn.cell, minlength=times.shape[1] * len(cells))
    weights = times @ table.reshape(-1, len(cells))
    # Items differ in size: without this a draw of small ones could fall below the fewest labels of
    # a fit.
    weights *= free.n_items / weights.sum(axis=1, keepdims=True)
    order = drawn.given["ab"] / cells.n - 0.5
    delta = fit_orders(cells, order, weights, fit_many(cells, weights, free.options))[:, 3]
    return z_quantile(level) * float(delta.std(ddof=1))
