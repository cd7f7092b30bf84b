"""Shrunken BTD: its two ends, an independent solver, laws, when a prior helps and when it must not
hurt.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize
from test_btd import HIGH, LOW, calibration_set, collapsed, plain_objective
from test_evaluation import simulated, with_gold

from core.errors import InvalidOption, TooFewLabels
from core.questions.labels import btd
from core.questions.labels.btd import (
    Bounds,
    BTDOptions,
    drps,
    features,
    fit,
    fit_many,
    probabilities,
)
from core.questions.labels.evaluation import evaluate
from core.questions.labels.shrinkage import (
    WEAK,
    WEAK_PRECISION,
    Prior,
    pool,
    same_items,
    shrunken,
    shrunken_fit,
)
from core.records import FloatArray, VoteCells, VoteCounts
from core.stats.splits import CalibrationSets, Splits, calibration_sets, everything, splits

pytestmark = pytest.mark.usefixtures("one_blas_thread")


def one_set(cells: VoteCells) -> CalibrationSets:
    """Cells of whole weight as one calibration set of single comparisons."""
    cell = np.repeat(np.arange(len(cells)), cells.weight.astype(np.int64))
    return CalibrationSets(
        cells=cells,
        set=np.zeros_like(cell),
        cell=cell,
        item=np.arange(len(cell)),
        n_items=np.array([len(cell)]),
    )


def random_prior(rng: np.random.Generator, strength: float | None = None) -> Prior:
    root = rng.normal(size=(3, 3))
    return Prior(
        theta0=np.array([rng.uniform(0.2, 3), rng.uniform(-3, 6), rng.uniform(-1, 3)]),
        precision=root @ root.T,
        source="any",
        strength=strength,
    )


def held_out(drawn: Splits, theta: FloatArray) -> float:
    """Mean DRPS on the evaluation parts."""
    error = drps(probabilities(theta, *features(drawn.cells)), drawn.cells.gold)
    weight = drawn.evaluation
    return float(((weight * error).sum(axis=1) / weight.sum(axis=1)).mean())


@pytest.mark.parametrize("number", range(0, 60, 7))
def test_the_ends_are_the_plain_fit_and_the_prior(number):
    sets = one_set(calibration_set(number))
    rng = np.random.default_rng(number)
    plain = fit_many(sets.cells, sets.weights).theta
    np.testing.assert_array_equal(shrunken(sets, random_prior(rng, 0.0)).theta, plain)
    prior = random_prior(rng, float("inf"))
    narrow = Bounds(beta=(0.5, 1.0), nu=(0.5, 2.0), gamma=(0.0, 0.5))
    np.testing.assert_array_equal(shrunken(sets, prior).theta[0], prior.theta0)
    clipped = np.clip(prior.theta0, [0.5, np.log(0.5), 0.0], [1.0, np.log(2.0), 0.5])
    np.testing.assert_array_equal(
        shrunken(sets, prior, BTDOptions(bounds=narrow)).theta[0], clipped
    )
    stiff = Prior(theta0=prior.theta0, precision=np.eye(3), source="any", strength=1e7)
    assert shrunken(sets, stiff).theta[0] == pytest.approx(prior.theta0, abs=1e-4)


def test_the_penalised_objective_is_never_above_an_independent_solver():
    box = list(zip(LOW, HIGH, strict=True))
    for number in range(0, 200, 5):
        rng = np.random.default_rng([11, number])
        cells = collapsed(calibration_set(number))
        prior = random_prior(rng, float(10 ** rng.uniform(-2, 2)))
        pull = prior.strength * prior.precision / cells.weight.sum()

        def penalised(theta, cells=cells, prior=prior, pull=pull):
            value, gradient = plain_objective(theta, cells)
            away = theta - prior.theta0
            return value + away @ pull @ away, gradient + 2 * pull @ away

        ours = penalised(shrunken(one_set(cells), prior).theta[0])[0]
        starts = [prior.theta0, *rng.uniform(LOW, HIGH, size=(5, 3))]
        options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500}
        theirs = min(
            optimize.minimize(
                penalised, x, jac=True, bounds=box, method="L-BFGS-B", options=options
            ).fun
            for x in starts
        )
        assert ours <= theirs + 1e-6, number


@pytest.mark.parametrize("strength", [1.0, None])
def test_exchanging_a_and_b_changes_nothing(strength):
    prior = random_prior(np.random.default_rng(1), strength)
    for seed in range(3):
        counts = simulated(seed, 60, per_item=(1, 3))
        mirrored = VoteCounts(
            comparison=counts.comparison,
            item=counts.item,
            plus=counts.minus,
            tie=counts.tie,
            minus=counts.plus,
            gold=-counts.gold,
        )
        one, other = (
            shrunken_fit(votes, prior, rng=np.random.default_rng(5)) for votes in (counts, mirrored)
        )
        assert [one.beta, one.eta0, one.gamma] == pytest.approx(
            [other.beta, other.eta0, other.gamma], abs=1e-6
        )
        assert (btd.apply(one, counts) == -btd.apply(other, mirrored)).all()


def test_ten_times_the_comparisons_bear_ten_times_the_prior():
    cells = calibration_set(1)
    tenfold = VoteCells(
        plus=cells.plus, tie=cells.tie, minus=cells.minus, gold=cells.gold, weight=10 * cells.weight
    )
    prior = random_prior(np.random.default_rng(2), 0.7)
    stiffer = Prior(theta0=prior.theta0, precision=prior.precision, source="any", strength=7.0)
    one, ten = shrunken(one_set(cells), prior).theta, shrunken(one_set(tenfold), stiffer).theta
    assert one == pytest.approx(ten, abs=1e-6)


def test_many_labels_overrule_any_prior():
    """Votes simulated with θ = (1.2, 2, 1): a wrong prior matters less and less."""
    truth = np.array([1.2, 2.0, 1.0])
    wrong = Prior(
        theta0=np.array([0.3, -2.0, 3.0]), precision=np.diag(WEAK_PRECISION), source="wrong"
    )
    away = []
    for size in (100, 2_000, 40_000):
        found = shrunken_fit(simulated(3, size), wrong, rng=np.random.default_rng(0))
        away.append(np.abs(np.array([found.beta, found.eta0, found.gamma]) - truth).max())
    assert away[0] > away[1] > away[2]
    assert away[2] < 0.1


def judges(thetas: FloatArray, seed: int, size: int = 2_000) -> list[VoteCounts]:
    found = []
    for place, theta in enumerate(thetas):
        counts = simulated(1_000 * seed + place, size)
        rng = np.random.default_rng([seed, place])
        p = probabilities(theta, *features(counts))
        gold = (rng.random(size)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1) - 1
        found.append(with_gold(counts, gold))
    return found


def own_pooled_shrunken(thetas: FloatArray, seed: int) -> FloatArray:
    """Held-out DRPS of each judge with 20 labels: own fit, pooled fit, shrunken towards it."""
    votes = judges(thetas, seed)
    fits = [fit(one.cells()[0]) for one in votes]
    rows = []
    for place, counts in enumerate(votes):
        prior = pool(
            [one for other, one in enumerate(fits) if other != place], source="other judges"
        )
        drawn = splits(counts, rng=np.random.default_rng(seed), n_splits=40, share=0.01)
        leaning = shrunken(calibration_sets(drawn), prior, rng=np.random.default_rng(seed))
        assert leaning.weight.sum(axis=1) == pytest.approx(1)
        rows.append(
            [
                held_out(drawn, fit_many(drawn.cells, drawn.calibration).theta),
                held_out(drawn, prior.theta0[None]),
                held_out(drawn, leaning.theta),
            ]
        )
    return np.array(rows)


@pytest.mark.thorough
def test_alike_judges_help_each_other():
    """20 labels, θ of the judges within ± .1, .3, .1: each does better than alone.

    The pooled fit, right here by construction, gains .031. Cross-validation alone would keep .028
    of it. The checks, which do not know that these judges are alike, refuse the prior to the
    calibration sets whose few decided labels hardly tell a judge from a coin; .018 is left, and
    more than half must be.
    """
    found = np.concatenate(
        [
            own_pooled_shrunken(
                np.array([1.2, 2.5, 1.0])
                + np.random.default_rng(seed).normal(size=(4, 3)) * [0.1, 0.3, 0.1],
                seed,
            )
            for seed in range(2)
        ]
    )
    assert (found[:, 2] < found[:, 0]).all()
    gain = (found[:, :1] - found[:, 1:]).mean(axis=0)
    assert gain[0] > 0.025
    assert gain[1] > 0.5 * gain[0]


@pytest.mark.thorough
def test_unlike_judges_do_not_mislead():
    """20 labels, judges that share nothing: within .002 of the better of own and pooled fit, on
    average.
    """
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        thetas = np.column_stack(
            [rng.uniform(0.2, 3, 4), rng.uniform(-3, 6, 4), rng.uniform(-1, 3, 4)]
        )
        found.append(own_pooled_shrunken(thetas, seed))
    found = np.concatenate(found)
    assert (found[:, 1] - found[:, 0]).mean() > 0.05  # the pooled fit alone would be far off
    assert (found[:, 2] - found[:, :2].min(axis=1)).mean() <= 0.002


def test_a_pool_is_the_mean_of_its_fits_and_doubts_few_of_them():
    fits = [fit(calibration_set(number)) for number in (1, 11, 21, 31)]
    theta = np.array([[one.beta, one.eta0, one.gamma] for one in fits])
    for prior in (pool(fits, source="x"), pool(fits[::-1], source="x")):
        assert prior.theta0 == pytest.approx(theta.mean(axis=0))
        away = theta - theta.mean(axis=0)
        spread = (away.T @ away + 3 * np.diag(1 / np.array(WEAK_PRECISION))) / (4 - 1 + 3)
        assert prior.precision @ spread == pytest.approx(np.eye(3), abs=1e-9)
    alone = pool(fits[:1], source="x")
    assert alone.precision == pytest.approx(np.diag(WEAK_PRECISION))
    with pytest.raises(InvalidOption, match="at least one fit"):
        pool([], source="x")


@pytest.mark.parametrize("per_item", [(1, 1), (1, 5)])
def test_calibration_sets_hold_what_the_splits_drew_and_folds_keep_items_whole(per_item):
    counts = simulated(8, 150, per_item=per_item)
    for by_name in (False, True):
        drawn = splits(
            counts, rng=np.random.default_rng(1), n_splits=12, share=0.2, by_name=by_name
        )
        assert drawn.single == (per_item == (1, 1) and not by_name)
        sets = calibration_sets(drawn)
        np.testing.assert_array_equal(sets.weights, drawn.calibration)
        fold = sets.folds(5, rng=np.random.default_rng(2))
        for place in range(12):
            item, dealt = sets.item[sets.set == place], fold[sets.set == place]
            assert len(set(item.tolist())) == sets.n_items[place]
            pairs = set(zip(item.tolist(), dealt.tolist(), strict=True))
            assert len(pairs) == sets.n_items[place]
            of_fold = np.bincount([k for _, k in pairs], minlength=5)
            assert of_fold.max() - of_fold.min() <= 1


def test_other_judges_lend_only_the_labels_of_the_calibration_set():
    counts = simulated(4, 80, per_item=(1, 3))
    other = simulated(4, 80, per_item=(1, 3), n=4)
    lend = same_items(counts, {"other": other.rows(np.arange(len(other)) % 7 > 0)})
    drawn = splits(counts, rng=np.random.default_rng(0), n_splits=4, by_name=True)
    before = lend(drawn)
    assert before.theta0.shape == (4, 3)
    inside = np.isin(np.arange(len(other)), drawn.entry_row[drawn.entry_split == 0])
    turned = with_gold(other, np.where(inside, other.gold, -other.gold))
    after = same_items(counts, {"other": turned.rows(np.arange(len(other)) % 7 > 0)})(drawn)
    np.testing.assert_array_equal(before.theta0[0], after.theta0[0])
    assert before.theta0[1] != pytest.approx(after.theta0[1])
    single = simulated(5, 100)
    unnamed = splits(single, rng=np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="by name"):
        same_items(single, {"other": single})(unnamed)


def check_twenty_labels_go_further(shared_data: Path):
    """RewardBench 2, 20 comparisons (24, as items are whole): lower held-out DRPS for all three
    judges.
    """
    from benchmarks.rewardbench2 import VOTES
    from core.importers import read
    from core.schema import Selection
    from core.store import Store
    from core.store import vote_queries as queries

    assert shared_data.exists()
    with Store.open(None) as store:
        for reading in read([(VOTES.name, VOTES)]):
            store.load(reading)
        of_judge = queries.vote_counts(store, Selection())
    assert len(of_judge) == 3
    for judge, counts in of_judge.items():
        others = {name: votes for name, votes in of_judge.items() if name != judge}
        drawn = splits(counts, rng=np.random.default_rng(0), share=1e-6, by_name=True)
        leaning = shrunken(
            calibration_sets(drawn), same_items(counts, others)(drawn), rng=np.random.default_rng(0)
        )
        own = held_out(drawn, fit_many(drawn.cells, drawn.calibration).theta)
        assert held_out(drawn, leaning.theta) < own - 0.01, judge


def test_a_prior_changes_no_other_rule():
    counts = simulated(6, 300, per_item=(1, 2))
    options = {"n_splits": 10, "resamples": 200}
    fixed = evaluate(counts, rng=np.random.default_rng(1), **options)
    learned = evaluate(
        counts,
        rng=np.random.default_rng(1),
        prior=random_prior(np.random.default_rng(3)),
        **options,
    )
    for key in ("btd", "majority", "threshold"):
        one, other = fixed.scores[key], learned.scores[key]
        assert (one.mae, one.mae_item_low, one.regret) == (
            other.mae,
            other.mae_item_low,
            other.regret,
        )
    assert fixed.shrunken is not None
    assert learned.shrunken is not None
    assert fixed.shrunken.to_frame()["own_fit"].tolist() == [0.0] * 10
    assert np.isnan(fixed.shrunken.held_out).all()
    assert learned.shrunken.source == "any"
    lent = evaluate(
        counts, rng=np.random.default_rng(1), prior=same_items(counts, {"twin": counts}), **options
    )
    assert lent.scores["btd"].mae == fixed.scores["btd"].mae
    assert (
        evaluate(counts, rng=np.random.default_rng(1), methods=["btd"], **options).shrunken is None
    )


def test_shrunken_scores_are_those_of_its_parameters():
    counts = simulated(9, 200, per_item=(1, 3))
    found = evaluate(counts, rng=np.random.default_rng(2), n_splits=8, resamples=0)
    drawn = splits(counts, rng=np.random.default_rng(2), n_splits=8)
    theta = shrunken(calibration_sets(drawn), WEAK).theta
    np.testing.assert_array_equal(found.shrunken.theta, theta)
    label = btd.decide(probabilities(theta, *features(drawn.cells)))
    error = (drawn.evaluation * np.abs(label - drawn.cells.gold)).sum(
        axis=1
    ) / drawn.evaluation.sum(axis=1)
    assert found.scores["btd_shrunk"].mae == pytest.approx(error.mean())


def test_one_fit_says_what_it_leans_on():
    counts = simulated(10, 60)
    prior = replace(random_prior(np.random.default_rng(4)), checked=False)
    found = shrunken_fit(counts, prior, rng=np.random.default_rng(0))
    assert found.notes[0] == "Shrunken towards any."
    assert "Cross-validation weighs the plain fit" in found.notes[1]
    cells = counts.cells()[0]
    p = probabilities(np.array([found.beta, found.eta0, found.gamma]), *features(cells))
    assert found.drps == pytest.approx(cells.weight @ drps(p, cells.gold) / 60)
    assert found.drps >= fit(cells).drps - 1e-12
    assert found.n_items == 60
    held = shrunken_fit(
        counts,
        Prior(theta0=np.array([9.0, 2.0, 1.0]), precision=np.eye(3), source="far", strength=np.inf),
    )
    assert (held.beta, held.at_bounds) == (5.0, ("beta",))


def test_votes_without_ties_are_no_obstacle():
    """All t equal: a plain fit sets γ to 0, a penalty identifies it."""
    counts = simulated(11, 100)
    decided = VoteCounts(
        comparison=counts.comparison,
        item=counts.item,
        plus=counts.plus + counts.tie,
        tie=np.zeros_like(counts.tie),
        minus=counts.minus,
        gold=counts.gold,
    )
    assert fit(decided.cells()[0]).gamma == 0
    assert shrunken_fit(decided).gamma != 0
    learned = replace(random_prior(np.random.default_rng(5)), checked=False)
    assert shrunken_fit(decided, learned, rng=np.random.default_rng(0)).gamma != 0


def test_one_item_cannot_be_cross_validated():
    counts = simulated(12, 1, per_item=(30, 30))
    prior = replace(random_prior(np.random.default_rng(6)), checked=False)
    found = shrunken(everything(counts), prior, rng=np.random.default_rng(0))
    assert len(set(found.weight[0].tolist())) == 1
    assert np.isnan(found.held_out).all()


def test_impossible_priors_and_options_are_refused():
    sets = everything(simulated(13, 40))
    learned = random_prior(np.random.default_rng(7))
    with pytest.raises(TooFewLabels, match="there are 19"):
        shrunken(everything(simulated(13, 19)), WEAK)
    with pytest.raises(InvalidOption, match="rng"):
        shrunken(sets, learned)
    for theta0, precision, strength in (
        (np.array([np.nan, 0, 0]), np.eye(3), None),
        (np.zeros(2), np.eye(3), None),
        (np.zeros(3), -np.eye(3), None),
        (np.zeros(3), np.eye(2), None),
        (np.zeros(3), np.eye(3), -1.0),
    ):
        with pytest.raises(InvalidOption, match="Prior"):
            Prior(theta0=theta0, precision=precision, source="x", strength=strength)
    with pytest.raises(InvalidOption, match="at least one other judge"):
        same_items(simulated(13, 40), {})
