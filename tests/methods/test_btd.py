"""BTD fit: derivatives, laws, an independent solver as oracle, recovery of planted parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from levels import first_of
from scipy import optimize

from core.errors import InvalidOption, TooFewLabels
from core.questions.labels import btd, solver
from core.questions.labels import solver as btd_solver
from core.records import NO_GOLD, FloatArray, VoteCells

pytestmark = pytest.mark.usefixtures("one_blas_thread")


LOW = np.array([1e-3, np.log(1e-4), -10.0])
HIGH = np.array([5.0, np.log(1e3), 10.0])


def cells_of(plus, tie, minus, gold, weight=None) -> VoteCells:
    arrays = [np.asarray(values, dtype=np.int64) for values in (plus, tie, minus, gold)]
    weight = np.ones(len(arrays[0])) if weight is None else np.asarray(weight, dtype=np.float64)
    return VoteCells(plus=arrays[0], tie=arrays[1], minus=arrays[2], gold=arrays[3], weight=weight)


def swapped(cells: VoteCells) -> VoteCells:
    return cells_of(cells.minus, cells.tie, cells.plus, -cells.gold, cells.weight)


def simulated(rng: np.random.Generator, size: int, n: int, theta: FloatArray) -> VoteCells:
    """Votes with their own lean and tie share in each comparison; gold drawn from BTD with
    `theta`.
    """
    tie = rng.beta(1, 2, size)
    plus = (1 - tie) / (1 + np.exp(-2 * rng.normal(0, 1.5, size)))
    votes = np.array([rng.multinomial(n, p) for p in np.column_stack([plus, tie, 1 - plus - tie])])
    cells = cells_of(votes[:, 0], votes[:, 1], votes[:, 2], np.zeros(size))
    p = btd.probabilities(np.asarray(theta), *btd.features(cells))
    gold = (rng.random(size)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1) - 1
    return cells_of(cells.plus, cells.tie, cells.minus, gold)


def collapsed(cells: VoteCells) -> VoteCells:
    key = np.stack([cells.plus, cells.tie, cells.minus, cells.gold], axis=1)[cells.weight > 0]
    unique, of_row = np.unique(key, axis=0, return_inverse=True)
    return cells_of(*unique.T, np.bincount(of_row.ravel(), weights=cells.weight[cells.weight > 0]))


def plain_objective(theta, cells, *, alpha=1.0, kappa=1.0):
    """Weighted mean DRPS written straight from docs/methods.md §1, without the module
    under test.
    """
    return plain_loss(theta, cells, *sides_and_ties(cells, alpha, kappa))


def sides_and_ties(cells, alpha=1.0, kappa=1.0):
    s = 0.5 * np.log((cells.plus + alpha) / (cells.minus + alpha))
    t = np.log((cells.tie + kappa) / (cells.plus + cells.tie + cells.minus + kappa))
    return s, t


def plain_loss(theta, cells, s, t):
    logits = np.array([-theta[0] * s, theta[1] + theta[2] * t, theta[0] * s])
    p = np.exp(logits - logits.max(axis=0))
    p /= p.sum(axis=0)
    below, upto = p[0] - (cells.gold <= -1), p[0] + p[1] - (cells.gold <= 0)
    by_p = np.array([2 * (below + upto), 2 * upto, np.zeros_like(s)])
    by_logit = p * (by_p - (p * by_p).sum(axis=0))
    weight = cells.weight / cells.weight.sum()
    gradient = [
        weight @ (s * (by_logit[2] - by_logit[0])),
        weight @ by_logit[1],
        weight @ (t * by_logit[1]),
    ]
    return float(weight @ (below**2 + upto**2)), np.array(gradient)


def box_of(cells: VoteCells) -> list[tuple[float, float]]:
    """The box of docs/methods.md §1, with γ = 0 where all t are equal."""
    shares = (cells.tie + 1) / (cells.plus + cells.tie + cells.minus + 1)
    low, high = LOW.copy(), HIGH.copy()
    if len(set(shares.tolist())) == 1:
        low[2] = high[2] = 0.0
    return list(zip(low, high, strict=True))


def independent_minimum(cells: VoteCells, rng: np.random.Generator, starts: int = 8) -> float:
    points = [np.array([1.0, 0.0, 0.0]), *rng.uniform(LOW, HIGH, size=(starts, 3))]
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500}
    cells = collapsed(cells)
    box = box_of(cells)
    runs = (
        optimize.minimize(
            plain_loss,
            x,
            args=(cells, *sides_and_ties(cells)),
            jac=True,
            bounds=box,
            method="L-BFGS-B",
            options=options,
        )
        for x in points
    )
    return min(float(run.fun) for run in runs)


def calibration_set(number: int) -> VoteCells:
    """Set `number` of 200: all sizes and numbers of votes, every tenth of an awkward kind."""
    rng = np.random.default_rng([7, number])
    size = int(rng.choice([20, 25, 40, 80, 200]))
    n = int(rng.integers(1, 13))
    theta = np.array([rng.uniform(0.05, 5), rng.uniform(-5, 6.9), rng.uniform(-3, 6)])
    cells = simulated(rng, size, n, theta)
    gold = cells.gold
    match number % 10:
        case 0:  # labels that have nothing to do with the votes
            gold = rng.integers(-1, 2, size)
        case 1:  # no label is a tie
            gold = np.where(gold == 0, 1, gold)
        case 2:  # every label is a tie
            gold = np.zeros(size)
        case 3:  # votes separate the labels perfectly
            gold = np.sign(cells.plus - cells.minus)
        case 4:  # the judge is always wrong
            gold = -np.sign(cells.plus - cells.minus)
        case 5:  # one class only
            gold = np.ones(size)
        case 6:  # the judge never ties and has a constant number of votes: all t equal
            cells = cells_of(cells.plus + cells.tie, np.zeros(size), cells.minus, gold)
    return cells_of(cells.plus, cells.tie, cells.minus, gold)


def test_features_by_hand():
    s, t = btd.features(cells_of([3], [1], [0], [1]), btd.BTDOptions(kappa=0.5))
    assert s == pytest.approx([0.5 * np.log(4 / 1)])
    assert t == pytest.approx([np.log(1.5 / 4.5)])


def test_drps_by_hand():
    p = np.array([[0.2, 0.3, 0.5]] * 3)
    expected = [0.8**2 + 0.5**2, 0.2**2 + 0.5**2, 0.2**2 + 0.5**2]
    assert btd.drps(p, np.array([-1, 0, 1])) == pytest.approx(expected)


@pytest.mark.parametrize("loss", btd_solver.LOSSES)
def test_derivatives_are_those_of_finite_differences(loss):
    rng = np.random.default_rng(3)
    weight = rng.random((3, 1, 12))
    y = np.stack([np.ones(12), -rng.random(12) * 2])
    objective = btd_solver.Objective(x=rng.normal(size=(1, 12)), y=y, weight=weight, loss=loss)
    theta, step, one = np.array([[1.3, 0.6, 0.8]]), 1e-5, np.zeros(1, dtype=np.int64)
    _, gradient, hessian = objective(theta, one)
    for i in range(3):
        move = step * np.eye(3)[i]
        above = objective(theta + move, one)
        under = objective(theta - move, one)
        assert gradient[0, i] == pytest.approx((above[0] - under[0])[0] / (2 * step), abs=1e-8)
        assert hessian[0, i] == pytest.approx((above[1] - under[1])[0] / (2 * step), abs=1e-8)


@pytest.mark.thorough
def test_objective_is_never_above_an_independent_solver_on_200_sets():
    rng = np.random.default_rng(11)
    excess = []
    for number in range(200):
        cells = calibration_set(number)
        fit = btd.fit(cells)
        theta = np.array([fit.beta, fit.eta0, fit.gamma])
        assert (theta >= LOW).all()
        assert (theta <= HIGH).all()
        assert fit.drps == pytest.approx(plain_objective(theta, cells)[0], abs=1e-12)
        excess.append(fit.drps - independent_minimum(cells, rng))
    assert max(excess) <= 1e-6


@pytest.mark.parametrize("number", first_of(20, 25, 41, 103, 157, 195))
def test_objective_is_never_above_differential_evolution(number):
    cells = calibration_set(number)
    search = optimize.differential_evolution(
        lambda theta: plain_objective(theta, cells)[0],
        box_of(cells),
        rng=np.random.default_rng(5),
        tol=1e-10,
        maxiter=150,
    )
    assert btd.fit(cells).drps <= search.fun + 1e-6


def test_fits_together_are_the_fits_alone():
    rng = np.random.default_rng(2)
    cells = simulated(rng, 300, 8, np.array([1.2, 2.0, 1.0]))
    weights = (rng.random((25, 300)) < 0.2).astype(np.float64)
    together = btd.fit_many(cells, weights)
    for row, weight in enumerate(weights):
        alone = btd.fit(cells_of(cells.plus, cells.tie, cells.minus, cells.gold, weight))
        assert together.drps[row] == pytest.approx(alone.drps, abs=1e-12)
        assert together.theta[row] == pytest.approx([alone.beta, alone.eta0, alone.gamma], abs=1e-4)


def random_cells(draw_seed: int) -> VoteCells:
    rng = np.random.default_rng(draw_seed)
    theta = np.array([rng.uniform(0.3, 3), rng.uniform(-2, 4), rng.uniform(-1, 3)])
    return simulated(rng, int(rng.integers(20, 120)), int(rng.integers(2, 13)), theta)


seeds = st.integers(min_value=0, max_value=10**6)


@settings(max_examples=40, deadline=None)
@given(seed=seeds)
def test_swapping_a_and_b_keeps_the_objective_and_negates_decisions(seed):
    cells = random_cells(seed)
    fit, mirrored = btd.fit(cells), btd.fit(swapped(cells))
    assert mirrored.drps == pytest.approx(fit.drps, abs=1e-10)
    assert (btd.apply(fit, swapped(cells)) == -btd.apply(fit, cells)).all()
    if not fit.at_bounds:
        assert [mirrored.beta, mirrored.eta0, mirrored.gamma] == pytest.approx(
            [fit.beta, fit.eta0, fit.gamma], abs=1e-3
        )


@settings(max_examples=25, deadline=None)
@given(seed=seeds, factor=st.floats(min_value=1.0, max_value=1e6))
def test_scaling_all_weights_leaves_the_fit(seed, factor):
    cells = random_cells(seed)
    fit = btd.fit(cells)
    scaled = btd.fit(
        cells_of(cells.plus, cells.tie, cells.minus, cells.gold, cells.weight * factor)
    )
    assert scaled.drps == pytest.approx(fit.drps, abs=1e-10)
    if not fit.at_bounds:
        assert [scaled.beta, scaled.eta0, scaled.gamma] == pytest.approx(
            [fit.beta, fit.eta0, fit.gamma], abs=1e-3
        )


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_order_of_rows_and_collapsing_do_not_matter(seed):
    cells = random_cells(seed)
    shuffle = np.random.default_rng(seed).permutation(len(cells))
    arrays = [values[shuffle] for values in (cells.plus, cells.tie, cells.minus, cells.gold)]
    fit = btd.fit(cells)
    for other in (cells_of(*arrays), collapsed(cells)):
        assert btd.fit(other).drps == pytest.approx(fit.drps, abs=1e-10)
        assert btd.fit(other).n_items == fit.n_items


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_no_other_point_of_the_box_is_better(seed):
    cells = random_cells(seed)
    best = btd.fit(cells).drps
    for theta in np.random.default_rng(seed).uniform(LOW, HIGH, size=(200, 3)):
        assert best <= plain_objective(theta, cells)[0] + 1e-12


@settings(max_examples=100, deadline=None)
@given(
    theta=st.tuples(st.floats(1e-3, 5), st.floats(-9, 6.9), st.floats(-10, 10)),
    n=st.integers(min_value=1, max_value=16),
)
def test_deciding_by_half_is_deciding_by_least_risk(theta, n):
    plus, minus = (grid.ravel() for grid in np.mgrid[0 : n + 1, 0 : n + 1])
    keep = plus + minus <= n
    plus, minus = plus[keep], minus[keep]
    p = btd.probabilities(
        np.array(theta), *btd.features(cells_of(plus, n - plus - minus, minus, np.zeros(len(plus))))
    )
    risk = btd.risks(p)
    decision = btd.decide(p)
    assert p.sum(axis=1) == pytest.approx(np.ones(len(p)))
    chosen = np.take_along_axis(risk, decision[:, None] + 1, axis=1)[:, 0]
    assert (chosen <= risk.min(axis=1) + 1e-12).all()
    clear = np.abs(p[:, [0, 2]] - 0.5).min(axis=1) > 1e-9
    assert (decision[clear] == risk[clear].argmin(axis=1) - 1).all()


def test_an_exact_tie_of_risks_is_a_tie():
    assert btd.decide(np.array([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0]])).tolist() == [
        0,
        0,
        0,
    ]


def test_planted_parameters_are_recovered_as_the_set_grows():
    theta = np.array([1.4, 2.0, 1.2])
    errors = []
    for size in (300, 3_000, 60_000):
        fits = [
            btd.fit(simulated(np.random.default_rng([size, k]), size, 8, theta)) for k in range(4)
        ]
        estimates = np.array([[fit.beta, fit.eta0, fit.gamma] for fit in fits])
        errors.append(np.sqrt(((estimates - theta) ** 2).mean(axis=0)))
    assert (errors[2] < errors[0]).all()
    assert errors[2] == pytest.approx(np.zeros(3), abs=0.06)


def test_nu_at_its_bound_is_reported():
    cells = cells_of([4, 3, 1] * 10, [0, 1, 2] * 10, [0, 0, 1] * 10, [0] * 30)
    fit = btd.fit(cells)
    assert fit.nu == 1e3
    assert "nu" in fit.at_bounds
    assert (btd.apply(fit, cells) == 0).all()


def test_a_class_without_labels_is_named():
    fit = btd.fit(cells_of([4, 0] * 15, [0, 1] * 15, [1, 4] * 15, [1, -1] * 15))
    assert len(fit.notes) == 1
    assert "tie (0)" in fit.notes[0]


def test_equal_tie_shares_set_gamma_to_zero_and_say_so():
    cells = cells_of([4, 0, 3, 2] * 10, [0] * 40, [0, 4, 1, 2] * 10, [1, -1, 1, 0] * 10)
    fit = btd.fit(cells)
    assert fit.gamma == 0
    assert any("γ = 0" in note for note in fit.notes)
    assert "gamma" not in fit.at_bounds


def test_even_votes_cannot_teach_beta_and_the_fit_says_so():
    fit = btd.fit(cells_of([2, 1, 0] * 10, [0, 2, 4] * 10, [2, 1, 0] * 10, [1, 0, 0] * 10))
    assert any("β" in note for note in fit.notes)
    assert "beta" not in fit.at_bounds


def test_too_few_labels_are_refused_with_their_number():
    unlabelled = cells_of([1] * 50, [0] * 50, [0] * 50, [1] * 19 + [NO_GOLD] * 31)
    with pytest.raises(TooFewLabels, match="at least 20 labelled comparisons to fit; there are 19"):
        btd.fit(unlabelled)
    with pytest.raises(TooFewLabels, match="there are 0"):
        btd.fit(cells_of([], [], [], []))


def test_working_in_blocks_changes_nothing(monkeypatch):
    cells = random_cells(9)
    whole = btd.fit(cells)
    monkeypatch.setattr(btd_solver, "BLOCK", 200)
    assert btd.fit(cells).drps == pytest.approx(whole.drps, abs=1e-12)


def test_unlabelled_comparisons_do_not_change_a_fit():
    labelled = random_cells(4)
    extra = random_cells(5)
    both = cells_of(
        *(
            np.concatenate([getattr(labelled, k), getattr(extra, k)])
            for k in ("plus", "tie", "minus")
        ),
        np.concatenate([labelled.gold, np.full(len(extra), NO_GOLD)]),
    )
    assert btd.fit(both).drps == pytest.approx(btd.fit(labelled).drps, abs=1e-10)
    assert btd.fit(both).n_items == len(labelled)


def test_a_fit_that_does_not_converge_is_an_error(monkeypatch):
    monkeypatch.setattr(solver, "MAX_STEPS", 1)
    with pytest.raises(btd.NotConverged, match="1 of 1"):
        btd.fit(random_cells(8))


@pytest.mark.parametrize(
    "bounds",
    [
        {"beta": (1.0, 1.0)},
        {"nu": (0.0, 10.0)},
        {"gamma": (3.0, -3.0)},
        {"beta": (0.1, float("inf"))},
    ],
)
def test_impossible_bounds_are_refused(bounds):
    with pytest.raises(InvalidOption):
        btd.Bounds(**bounds)


def test_impossible_smoothing_and_losses_are_refused():
    with pytest.raises(InvalidOption, match="alpha"):
        btd.BTDOptions(alpha=0.0)
    with pytest.raises(InvalidOption, match="loss"):
        btd.BTDOptions(loss="brier")  # type: ignore[arg-type]


def test_bounds_hold_the_fit():
    bounds = btd.Bounds(beta=(0.2, 0.5), nu=(1.0, 2.0), gamma=(1.0, 2.0))
    fit = btd.fit(random_cells(6), btd.BTDOptions(bounds=bounds))
    assert 0.2 <= fit.beta <= 0.5
    assert 1.0 - 1e-12 <= fit.nu <= 2.0 + 1e-12
    assert 1.0 <= fit.gamma <= 2.0


@pytest.mark.parametrize("loss", ["log", "mae"])
def test_other_losses_minimise_what_they_say(loss):
    cells = random_cells(12)
    fit = btd.fit(cells, btd.BTDOptions(loss=loss))

    def objective(theta):
        p = btd.probabilities(np.asarray(theta), *btd.features(cells))
        of_gold = p[np.arange(len(cells)), cells.gold + 1]
        return (
            -np.log(of_gold)
            if loss == "log"
            else np.abs(np.arange(-1, 2) - cells.gold[:, None]) * p
        ).sum() / len(cells)

    box = list(zip(LOW, HIGH, strict=True))
    starts = [[1.0, 0.0, 0.0], [2.0, 2.0, 1.0], [0.5, 4.0, 3.0]]
    best = min(optimize.minimize(objective, x, bounds=box, method="L-BFGS-B").fun for x in starts)
    assert objective([fit.beta, fit.eta0, fit.gamma]) == pytest.approx(fit.drps, abs=1e-12)
    assert fit.drps <= best + 1e-6


def test_decision_map_covers_every_split_of_the_votes():
    fit = btd.fit(random_cells(3))
    decisions = btd.decision_map(fit, 6)
    assert len(decisions.plus) == 28
    assert (decisions.plus + decisions.tie + decisions.minus == 6).all()
    frame = decisions.to_frame().set_index(["plus", "minus"])
    for plus, minus in ((5, 1), (0, 6), (2, 2)):
        assert frame.decision[plus, minus] == -frame.decision[minus, plus]
    assert frame.majority[4, 1] == 1
    assert frame.majority[3, 3] == 0
    with pytest.raises(InvalidOption):
        btd.decision_map(fit, 0)
