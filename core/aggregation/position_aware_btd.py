"""BTD that knows in which order each vote was asked, so that unbalanced orders need not be thrown away.

u = β·s + δ·(share of `ab` votes − ½). One more parameter costs more than it brings where there is little to
correct, so by default δ enters only where the calibration labels show that the order matters.

The solver of position-aware BTD: four parameters in a box, many calibration sets at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidOption, NoUsableVotes
from ..records import NO_GOLD, FloatArray, IntArray, OrderCounts, VoteCells, VoteCounts
from ..stats.intervals import check_level, dense_codes, resample_items
from ..stats.splits import (
    CalibrationSets,
    HeldOutScores,
    Splits,
    calibration_sets,
    held_out_scores,
    item_losses,
    splits,
)
from .btd import Bounds, BTDFits, decide, drps, features, fit_many
from .solver import FIXED_START, minimise

if TYPE_CHECKING:
    import pandas as pd


DELTA_BOUNDS = (-10.0, 10.0)
START_DELTAS = (0.0, -1.5, 1.5)
PRECISION = 0.1
"""Weight of δ²/m in the loss, m comparisons fitted on: a weak prior that there is no bias (ours)."""


def chances_of(theta: FloatArray, s: FloatArray, t: FloatArray, order: FloatArray) -> FloatArray:
    """(fits, 4) → (fits, rows, 3)."""
    u = theta[:, :1] * s + theta[:, 3:] * order
    eta = theta[:, 1:2] + theta[:, 2:3] * t
    weight = np.stack([-u, eta, u], axis=-1)
    weight = np.exp(weight - weight.max(axis=-1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def plain(base: BTDFits) -> FloatArray:
    """Plain BTD's parameters with δ = 0, (fits, 4)."""
    return np.column_stack([base.theta, np.zeros(len(base.theta))])


def order_score(sets: CalibrationSets, order: FloatArray, base: BTDFits) -> FloatArray:
    """−Σg/√Σ_i g_i² over the labelled comparisons of each set, g = ∂DRPS/∂δ at plain BTD's optimum.

    g_i is the sum over the comparisons of an item, which are one observation.
    """
    cells = sets.cells
    s, t = features(cells, alpha=base.alpha, kappa=base.kappa)
    m, _, p = np.moveaxis(chances_of(plain(base), s, t, order), -1, 0)
    d = p - m
    slope = 2 * (p - (cells.gold == 1)) * p * (1 - d) - 2 * (m - (cells.gold == -1)) * m * (1 + d)
    g = np.where(cells.gold == NO_GOLD, 0.0, slope * order)
    code = sets.item_of_set
    by_item = np.bincount(code, weights=g[sets.set, sets.cell])
    of_set = np.empty(len(by_item), dtype=np.int64)
    of_set[code] = sets.set
    total, squares = (np.bincount(of_set, weights=part, minlength=len(g)) for part in (by_item, by_item**2))
    spread = np.sqrt(squares)
    # 0 − …, so that what is exactly 0 is no -0.
    return np.asarray((0.0 - total) / np.where(spread > 0, spread, 1.0))


def fit_orders(
    cells: VoteCells, order: FloatArray, weights: FloatArray, base: BTDFits, bounds: Bounds | None
) -> FloatArray:
    """(β, η₀, γ, δ) of many calibration sets, starting from plain BTD's fits: (sets, 4)."""
    bounds = bounds or Bounds()
    s, t = features(cells, alpha=base.alpha, kappa=base.kappa)
    fits = len(weights)
    weights = np.where(cells.gold == NO_GOLD, 0.0, weights)
    ridge = PRECISION / weights.sum(axis=1)
    weights = weights / weights.sum(axis=1, keepdims=True)
    by_label = np.stack([weights * (cells.gold == y) for y in (-1, 0, 1)])
    box = np.array([bounds.beta, np.log(bounds.nu), bounds.gamma, DELTA_BOUNDS])
    low, high = np.tile(box[:, 0], (fits, 1)), np.tile(box[:, 1], (fits, 1))
    # What plain BTD cannot identify this fit cannot either; δ needs a comparison out of balance.
    for parameter, fixed in ((0, base.beta_fixed), (2, base.gamma_fixed)):
        low[fixed, parameter] = high[fixed, parameter] = base.theta[fixed, parameter]
    balanced = ~((weights > 0) & (order != 0)).any(axis=1)
    low[balanced, 3] = high[balanced, 3] = 0.0
    of_base = [np.column_stack([base.theta, np.full(fits, delta)]) for delta in START_DELTAS]
    start = np.stack([*of_base, np.tile([*FIXED_START, 0.0], (fits, 1))])
    design = np.stack([s, np.ones_like(s), t, order])

    def derivatives(theta: FloatArray, row: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        value, gradient, hessian = _derivatives(theta, design, by_label[:, row])
        value += ridge[row] * theta[:, 3] ** 2
        gradient[:, 3] += 2 * ridge[row] * theta[:, 3]
        hessian[:, 3, 3] += 2 * ridge[row]
        return value, gradient, hessian

    theta, _ = minimise(derivatives, start, low, high)
    theta[balanced] = plain(base)[balanced]
    return theta


def _derivatives(
    theta: FloatArray, design: FloatArray, by_label: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean DRPS, its gradient and Hessian; design rows are s, 1, t and the order."""
    s, _, t, order = design
    value, g_u, g_eta, h_uu, h_cross, h_eta = drps_in_u_and_eta(chances_of(theta, s, t, order), by_label)
    # u moves with β and δ, η with η₀ and γ.
    moves_u = np.array([True, False, False, True])
    gradient = np.where(moves_u, g_u @ design.T, g_eta @ design.T)
    products = (design[:, None] * design[None]).reshape(16, -1).T
    by_pair = [(h @ products).reshape(-1, 4, 4) for h in (h_uu, h_cross, h_eta)]
    both, neither = moves_u[:, None] & moves_u, ~moves_u[:, None] & ~moves_u
    return value, gradient, np.where(both, by_pair[0], np.where(neither, by_pair[2], by_pair[1]))


def drps_in_u_and_eta(chances: FloatArray, by_label: FloatArray) -> tuple[FloatArray, ...]:
    """Mean DRPS of each set and, row by row, its derivatives: by u, by η, by u², by u and η, by η².

    DRPS is w·m² − 2am + w·p² − 2cp + a + c with m = p(−1), p = p(+1), and shares a, c of gold −1, +1 in w.
    chances : (sets, rows, 3).  by_label : (3, sets, rows), share of a set's comparisons by gold.
    """
    m, z, p = chances[..., 0], chances[..., 1], chances[..., 2]
    a, _, c = by_label
    w = by_label.sum(axis=0)
    value = (w * (m * m + p * p) - 2 * a * m - 2 * c * p + a + c).sum(axis=1)
    d = p - m
    spread = 1 - z - d * d
    am, cp = 2 * (w * m - a) * m, 2 * (w * p - c) * p
    m_u, p_u = -m * (1 + d), p * (1 - d)
    g_u, g_eta = cp * (1 - d) - am * (1 + d), -z * (am + cp)
    h_uu = 2 * w * (m_u * m_u + p_u * p_u) + am * ((1 + d) ** 2 - spread) + cp * ((1 - d) ** 2 - spread)
    h_cross = z * (am * (1 + 2 * d) - cp * (1 - 2 * d) - 2 * w * (m_u * m + p_u * p))
    h_eta = z * (2 * w * z * (m * m + p * p) + (am + cp) * (2 * z - 1))
    return value, g_u, g_eta, h_uu, h_cross, h_eta


CUT = 1.96
"""A smaller score statistic leaves δ at 0 (ours): with 20 labels of weak judges that takes about nine tenths
of the harm of a needless δ away."""

RULES = ("Position-aware BTD", "BTD", "Position-aware BTD, untested", "Majority (SC)")
BALANCED_NOTE = "Every labelled comparison has as many votes in one order as in the other, so δ is 0."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PositionAwareFit:
    """BTD with a term for the order: u = β·s + δ·(share of `ab` votes − ½).

    beta, nu, gamma, eta0, alpha, kappa : as in `core.aggregation.btd.BTDFit`.
    delta : what u gains from votes all in `ab` over votes all in `ba` with the same counts. Below 0 takes
        back a lean to the response shown first, above 0 a lean to the one shown second.
    z : score statistic of δ at plain BTD's optimum, standard normal where the order does not matter.
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
    alpha: float
    kappa: float

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        names = ("beta", "nu", "gamma", "delta", "z", "drps", "n_items", "unbalanced")
        row: dict[str, object] = {name: getattr(self, name) for name in names}
        return pd.DataFrame([row | {"notes": " ".join(self.notes)}])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PositionAware:
    """Position-aware BTD on all labels, how sure δ is, and what it gains on held-out items.

    fit : with δ = 0 unless its score statistic reaches ±1.96.
    delta : as estimated, whatever the test says.  delta_low, delta_high : δ ± z·SD over `draws` refits on
        items drawn with replacement, at `level`. All three are 0 where δ is not identified.
    scores : on the same splits, δ where the test of each calibration set asks for it; plain BTD; δ always;
        and majority.
    """

    fit: PositionAwareFit
    delta: float
    delta_low: float
    delta_high: float
    scores: HeldOutScores
    draws: int
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a rule, as `scores`."""
        return self.scores.to_frame()


def share_ab(counts: OrderCounts) -> FloatArray:
    """Share of each comparison's votes that were asked with model_a first, in [0, 1], minus ½."""
    ab = counts.ab.sum(axis=1)
    return np.asarray(ab / (ab + counts.ba.sum(axis=1)) - 0.5)


def pooled(counts: OrderCounts) -> VoteCounts:
    """The same votes without their order."""
    both = counts.ab + counts.ba
    return VoteCounts(
        comparison=counts.comparison,
        item=counts.item,
        plus=both[:, 2],
        tie=both[:, 1],
        minus=both[:, 0],
        gold=counts.gold,
    )


def fit(
    counts: OrderCounts,
    *,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    tested: bool = True,
) -> PositionAwareFit:
    """Fit (β, η₀, γ, δ) on all labelled comparisons by least mean DRPS + 0.1·δ²/m.

    u = β·s + δ·(share of `ab` votes − ½), η = η₀ + γ·t; all else as [BTD] §4. δ ∈ [−10, 10]; the small term
    is a weak prior on 0. Starts are plain BTD's optimum with δ of 0 and ±1.5, and a fixed one.

    tested : keep δ = 0, which is plain BTD, unless |z| ≥ 1.96, with z = −Σg/√Σ_i g_i² over items,
    g_i the sum of an item's ∂DRPS/∂δ at plain BTD's optimum: its sign is that of δ.

    With every comparison balanced δ is not identified and is 0. With every share the same but not ½, δ also
    takes up how much more often A is better: said in the notes. Swapping A and B in votes, labels and orders
    leaves θ and the loss and negates decisions.

    Raises as `core.aggregation.btd.fit_many`. Source: ours, methods §9.1.
    """
    votes = pooled(counts)
    known = votes.gold != NO_GOLD
    sets, order = _everything(counts.ab.sum(axis=1)[known], votes.rows(known))
    cells, weights = sets.cells, sets.weights
    base = fit_many(cells, weights, alpha=alpha, kappa=kappa, bounds=bounds)
    z = float(order_score(sets, order, base)[0])
    used = not tested or abs(z) >= CUT
    theta = fit_orders(cells, order, weights, base, bounds) if used else plain(base)
    s, t = features(cells, alpha=alpha, kappa=kappa)
    loss = drps(chances_of(theta, s, t, order), cells.gold)[0]
    notes = []
    if not order.any():
        notes.append(BALANCED_NOTE)
    elif not used:
        notes.append(f"The labels do not show that the order matters (z = {z:.2f}), so δ is 0.")
    elif (order == order[0]).all():
        notes.append(
            "Every labelled comparison has the same share of each order, so δ also holds how much more often "
            "A is better than B; it does not measure the position bias alone."
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
        alpha=alpha,
        kappa=kappa,
    )


def probabilities(fit: PositionAwareFit, counts: OrderCounts) -> FloatArray:
    """p(-1), p(0), p(+1) of each comparison, (rows, 3), labelled or not."""
    s, t = features(pooled(counts), alpha=fit.alpha, kappa=fit.kappa)
    theta = np.array([[fit.beta, fit.eta0, fit.gamma, fit.delta]])
    return np.asarray(chances_of(theta, s, t, share_ab(counts))[0])


def apply(fit: PositionAwareFit, counts: OrderCounts) -> IntArray:
    """Calibrated label of each comparison, labelled or not."""
    return decide(probabilities(fit, counts))


def position_aware(
    counts: OrderCounts,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = 20,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    level: float = 0.95,
    draws: int = 200,
) -> PositionAware:
    """Fit on all labels, refit with items redrawn for an interval of δ, and compare on held-out items.

    The splits are those of `splits.splits`: `share` of the items, at least `minimum` comparisons, to
    calibrate on; the rules of `PositionAware.scores` are judged on the rest. A calibration set whose
    comparisons are all balanced has δ = 0.

    Raises TooFewLabels as `splits` and `fit_many`; NoUsableVotes if nothing is labelled. Source: ours.
    """
    check_level(level)
    if draws < 20:
        raise InvalidOption(f"{draws} bootstrap draws: use at least 20.")
    known = counts.gold != NO_GOLD
    if not known.any():
        raise NoUsableVotes("No comparison with a known order has a gold label to calibrate on.")
    free = fit(counts, alpha=alpha, kappa=kappa, bounds=bounds, tested=False)
    votes = pooled(counts)
    drawn = splits(
        votes, rng=rng, n_splits=n_splits, share=share, minimum=minimum, given={"ab": counts.ab.sum(axis=1)}
    )
    scores = _scores(drawn, level, alpha, kappa, bounds)
    low, high = (0.0, 0.0)
    if free.unbalanced:
        low, high = _delta_interval(drawn, free, rng, draws, level, bounds)
    return PositionAware(
        fit=fit(counts, alpha=alpha, kappa=kappa, bounds=bounds),
        delta=free.delta,
        delta_low=low,
        delta_high=high,
        scores=scores,
        draws=draws,
        level=level,
    )


def thin(counts: OrderCounts, share: FloatArray, *, votes: int, rng: np.random.Generator) -> OrderCounts:
    """Draw `votes` votes of each comparison, round(share · votes) of them from `ab` (ours).

    share : (rows,) wanted share of `ab` in [0, 1]. An order with fewer votes gives what it has. It makes
    unbalanced votes out of balanced ones, to see what that costs. Comparisons left without a vote are
    dropped.
    """
    wanted = np.rint(share * votes).astype(np.int64)
    kept = [
        rng.multivariate_hypergeometric(row, min(int(n), int(row.sum())))
        for order, of_order in ((counts.ab, wanted), (counts.ba, votes - wanted))
        for row, n in zip(order, of_order, strict=True)
    ]
    ab, ba = np.array(kept[: len(counts)]).reshape(-1, 3), np.array(kept[len(counts) :]).reshape(-1, 3)
    left = (ab.sum(axis=1) + ba.sum(axis=1)) > 0
    return OrderCounts(
        comparison=counts.comparison[left],
        item=counts.item[left],
        ab=ab[left],
        ba=ba[left],
        gold=counts.gold[left],
    )


def one_order(counts: OrderCounts, *, rng: np.random.Generator) -> OrderCounts:
    """Keep the votes of one order of each comparison, drawn at random: as if asked in one order (ours).

    A comparison asked in one order only keeps that one.
    """
    ab, ba = counts.ab.sum(axis=1), counts.ba.sum(axis=1)
    keep_ab = (rng.random(len(counts)) < 0.5) & (ab > 0) | (ba == 0)
    return replace(
        counts,
        ab=np.where(keep_ab[:, None], counts.ab, 0),
        ba=np.where(keep_ab[:, None], 0, counts.ba),
    )


def _everything(ab: IntArray, votes: VoteCounts) -> tuple[CalibrationSets, FloatArray]:
    """One set of all rows, cells being distinct (votes, gold, votes in `ab`), and share of `ab` minus ½."""
    columns = np.column_stack([votes.plus, votes.tie, votes.minus, votes.gold, ab])
    distinct, cell, weight = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
    plus, tie, minus, gold, ab = distinct.T
    cells = VoteCells(plus=plus, tie=tie, minus=minus, gold=gold, weight=weight.astype(np.float64))
    item = dense_codes(votes.item)
    everything = CalibrationSets(
        cells=cells,
        set=np.zeros(len(votes), dtype=np.int64),
        cell=cell.reshape(-1),
        item=item,
        n_items=np.array([int(item.max(initial=-1)) + 1]),
    )
    return everything, ab / np.maximum(cells.n, 1) - 0.5


def _scores(
    drawn: Splits,
    level: float,
    alpha: float,
    kappa: float,
    bounds: Bounds | None,
) -> HeldOutScores:
    cells, weights = drawn.cells, drawn.calibration
    order = drawn.given["ab"] / cells.n - 0.5
    base = fit_many(cells, weights, alpha=alpha, kappa=kappa, bounds=bounds)
    always, without = fit_orders(cells, order, weights, base, bounds), plain(base)
    z = order_score(calibration_sets(drawn), order, base)
    tested = np.where(np.abs(z)[:, None] >= CUT, always, without)
    s, t = features(cells, alpha=alpha, kappa=kappa)
    chances = [chances_of(theta, s, t, order) for theta in (tested, without, always)]
    labels = [*(decide(p) for p in chances), cells.label[None]]
    errors = [np.abs(label - cells.gold).astype(np.float64) for label in labels]
    ranked = [*(drps(p, cells.gold) for p in chances), np.full((1, len(cells)), np.nan)]
    return held_out_scores(
        item_losses(drawn, errors + ranked),
        RULES,
        n_splits=len(weights),
        calibration=float(weights.sum(axis=1).mean()),
        level=level,
    )


def _delta_interval(
    drawn: Splits,
    free: PositionAwareFit,
    rng: np.random.Generator,
    draws: int,
    level: float,
    bounds: Bounds | None,
) -> tuple[float, float]:
    """δ ± z·SD over refits on items drawn with replacement; at 95 % it held 0 in .96 of unbiased judges."""
    from scipy.special import ndtri

    cells = drawn.cells
    group, times = resample_items(drawn.item, rng=rng, iterations=draws)
    table = np.bincount(group * len(cells) + drawn.cell, minlength=times.shape[1] * len(cells))
    weights = times @ table.reshape(-1, len(cells))
    # Items differ in size: without this a draw of small ones could fall below the fewest labels of a fit.
    weights *= free.n_items / weights.sum(axis=1, keepdims=True)
    order = drawn.given["ab"] / cells.n - 0.5
    base = fit_many(cells, weights, alpha=free.alpha, kappa=free.kappa, bounds=bounds)
    delta = fit_orders(cells, order, weights, base, bounds)[:, 3]
    half = float(ndtri((1 + level) / 2) * delta.std(ddof=1))
    return free.delta - half, free.delta + half
