"""When a prior is refused: by the labels, by its own tasks, and for judges that tell nothing."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from places import REPOSITORY

from benchmarks import shrinkage as simulation
from benchmarks.shrinkage import Task, draw
from core.questions.labels.btd import drps, features, fit, fit_many, probabilities
from core.questions.labels.evaluation import shrinkage_gain
from core.questions.labels.prior_check import FORECAST, check_prior, transfer_loss
from core.questions.labels.shrinkage import (
    Prior,
    ShrunkenFits,
    pool,
    same_items,
    shrunken,
    shrunken_fit,
)
from core.questions.labels.words import prior_use
from core.records import VoteCells, VoteCounts
from core.stats.splits import calibration_sets, splits

pytestmark = pytest.mark.usefixtures("one_blas_thread")

GOOD = Task(ties=0.3, sees=1.6, mistaken=0.6, shy=0.6)
HALF, NONE, RANDOM = replace(GOOD, ties=0.5), replace(GOOD, ties=0.0), replace(GOOD, sees=0.0)


def prior_of(*tasks: Task, seed: int = 0) -> Prior:
    cells = [
        draw(task, np.random.default_rng([seed, place])).cells()[0]
        for place, task in enumerate(tasks)
    ]
    return pool([fit(one) for one in cells], source="others", cells=cells)


def fits_of(
    task: Task, prior: Prior, labels: int = 20, n_splits: int = 20
) -> tuple[ShrunkenFits, VoteCounts]:
    counts = draw(task, np.random.default_rng(7))
    drawn = splits(
        counts, rng=np.random.default_rng(8), n_splits=n_splits, share=1e-9, minimum=labels
    )
    found = shrunken(calibration_sets(drawn), prior, rng=np.random.default_rng(9))
    plain = fit_many(drawn.cells, drawn.calibration).theta
    unchecked = shrunken(
        calibration_sets(drawn), replace(prior, checked=False), rng=np.random.default_rng(9)
    )
    # The checks choose between the fit as it was and the plain one, set by set.
    assert found.checks is not None
    assert unchecked.checks is None
    chosen = np.where(found.checks.used[:, None], unchecked.theta, plain)
    np.testing.assert_allclose(found.theta, chosen, atol=1e-9)
    assert (found.weight[~found.checks.used] == [1, 0, 0, 0, 0]).all()
    assert found.to_frame()["prior_used"].tolist() == found.checks.used.tolist()
    return found, counts


def test_a_prior_of_tasks_without_ties_is_refused_for_a_task_with_half_ties() -> None:
    found, _ = fits_of(HALF, prior_of(NONE, NONE, NONE, NONE))
    assert not found.checks.used.any()
    assert found.checks.unlike_labels.all()


def test_a_prior_of_good_judges_is_refused_for_a_random_one() -> None:
    found, _ = fits_of(RANDOM, prior_of(GOOD, GOOD, GOOD, GOOD), labels=40)
    assert found.checks.used.mean() <= 0.1


def test_a_prior_of_random_judges_is_refused_for_a_good_one() -> None:
    found, _ = fits_of(GOOD, prior_of(RANDOM, RANDOM, RANDOM))
    assert found.checks.no_better_than_a_coin.all()
    assert not found.checks.used.any()
    assert "which response is better" in found.checks.reason()


def test_a_random_judge_among_good_ones_makes_the_tasks_of_a_prior_unlike() -> None:
    alike, mixed = prior_of(GOOD, GOOD, GOOD, GOOD), prior_of(HALF, NONE, RANDOM)
    assert float(alike.transfer[0]) < 0.01
    assert float(mixed.transfer[0]) > 0.04
    found, _ = fits_of(GOOD, mixed)
    assert found.checks.unlike_tasks.all()
    assert "not alike" in found.checks.reason()


@pytest.mark.parametrize("labels", [20, 60])
def test_a_prior_of_alike_tasks_is_used(labels: int) -> None:
    found, _ = fits_of(GOOD, prior_of(GOOD, GOOD, GOOD, GOOD), labels)
    assert found.checks.used.mean() >= 0.9


def test_two_tasks_say_nothing_of_each_other_and_only_the_labels_are_checked() -> None:
    prior = prior_of(GOOD, RANDOM)
    assert prior.transfer is None
    found, _ = fits_of(GOOD, prior)
    assert np.isnan(found.checks.transfer).all()
    assert not found.checks.unlike_tasks.any()


def test_the_misfit_is_the_three_scores_written_out() -> None:
    rng = np.random.default_rng(1)
    cells = VoteCells(
        plus=rng.integers(0, 5, 9),
        tie=rng.integers(0, 3, 9),
        minus=rng.integers(0, 5, 9),
        gold=rng.integers(-1, 2, 9),
        weight=np.ones(9),
    )
    weights = rng.integers(1, 6, (2, 9)).astype(float)
    theta = np.array([1.1, 1.4, 0.7])
    found = check_prior(cells, weights, theta, None)
    s, t = features(cells)
    p = probabilities(theta, s, t)
    for place in range(2):
        ties = scores = direction = np.zeros(2)
        for row in range(9):
            of_label = [float(drps(p[row], np.array(y))) for y in (-1, 0, 1)]
            sign = np.sign(s[row]) * np.array([-1, 0, 1])
            for name, value in (("s", of_label), ("t", [0, 1, 0]), ("d", sign)):
                mean = p[row] @ np.array(value)
                away = np.array(
                    [value[cells.gold[row] + 1] - mean, p[row] @ (np.array(value) - mean) ** 2]
                )
                away = weights[place, row] * away
                if name == "s":
                    scores = scores + away
                elif name == "t":
                    ties = ties + away
                else:
                    direction = direction + away
        z = [scores[0] / np.sqrt(scores[1])]
        z += [abs(one[0]) / np.sqrt(one[1] + 0.25) for one in (ties, direction)]
        assert found.misfit[place] == pytest.approx(max(z), abs=1e-6)
        assert found.limit[place] == pytest.approx(FORECAST * np.sqrt(weights[place].sum() / 20))


def test_transfer_is_the_error_of_the_others_minus_the_own() -> None:
    cells = [
        draw(task, np.random.default_rng(k)).cells()[0] for k, task in enumerate((GOOD, HALF, NONE))
    ]
    theta = np.stack([fit(one).theta for one in cells])

    def mae(of: np.ndarray, one: VoteCells) -> float:
        p = probabilities(of, *features(one))
        label = (p[:, 2] > 0.5).astype(int) - (p[:, 0] > 0.5)
        return float(one.weight @ np.abs(label - one.gold) / one.weight.sum())

    expected = [
        mae((theta.sum(axis=0) - theta[k]) / 2, one) - mae(theta[k], one)
        for k, one in enumerate(cells)
    ]
    found = transfer_loss(cells, [one.weight[None] for one in cells], theta[None])
    assert found == pytest.approx([np.mean(expected)])


def test_judges_of_the_same_items_are_checked_set_by_set() -> None:
    counts = draw(GOOD, np.random.default_rng(3), 300)
    judges = {str(k): draw(GOOD, np.random.default_rng([4, k]), 300) for k in range(3)}
    drawn = splits(counts, rng=np.random.default_rng(5), n_splits=6, by_name=True)
    prior = same_items(counts, judges)(drawn)
    assert prior.transfer.shape == (6,)
    found = shrunken(calibration_sets(drawn), prior, rng=np.random.default_rng(6))
    assert found.checks.transfer == pytest.approx(prior.transfer)
    two = same_items(counts, dict(list(judges.items())[:2]))(drawn)
    assert two.transfer is None


def test_results_say_whether_the_prior_was_used_and_why_not() -> None:
    counts, prior = draw(HALF, np.random.default_rng(7)), prior_of(NONE, NONE, NONE)
    gain = shrinkage_gain(
        counts, prior, rng=np.random.default_rng(0), n_splits=5, share=1e-9, resamples=100
    )
    assert gain.beside_btd.mae.value == 0
    told = prior_use(gain)
    assert told.startswith(
        "The prior is used in 0 of 5 calibration sets; the others get BTD's own fit."
    )
    assert "the labels do not look as the prior forecasts (5)" in told
    whole = shrunken_fit(counts, prior, rng=np.random.default_rng(0))
    assert whole.theta == pytest.approx(fit(counts.cells()[0]).theta)
    assert whole.notes[0] == "The plain fit: the prior (others) is not used."
    assert "do not look as the prior forecasts" in whole.notes[1]


PRINTED = "a random judge among good ones"


@cache
def unlike(name: str) -> simulation.Regrets:
    """A few tasks of each kind, and for PRINTED those that the script draws."""
    tasks, n_splits, seed = (24, 15, 4) if name == PRINTED else (3, 8, 5)
    world = {name: simulation.UNLIKE[name]}
    return simulation.simulated(world, seed, tasks=tasks, n_splits=n_splits)[name]


@pytest.mark.thorough
def test_the_worst_case_is_bounded_and_the_gain_is_kept() -> None:
    """A few tasks of each kind, with a margin for their number; the table of
    benchmarks/printed/shrinkage.md has more.
    """
    alike = simulation.simulated(simulation.ALIKE, 5, tasks=5, n_splits=8)
    for labels, least in ((20, 0.8), (40, 0.7), (60, 0.7)):
        rows = np.concatenate([by_labels[labels] for by_labels in alike.values()])
        assert simulation.kept(rows) >= least
    for name in simulation.UNLIKE:
        for labels, rows in unlike(name).items():
            assert simulation.above(rows, 2)[0] <= (0.008 if labels == 20 else 0.005)
    assert max(simulation.above(unlike(name)[20], 1)[0] for name in simulation.UNLIKE) > 0.02


@pytest.mark.thorough
def test_the_tables_of_the_results_are_what_the_script_prints() -> None:
    """One kind of each table, drawn from a stream of its own."""
    printed = REPOSITORY / "benchmarks" / "printed" / "shrinkage.md"
    results = printed.read_text(encoding="utf-8")
    ties = "alike, 20 % ties"
    alike = simulation.simulated({ties: simulation.ALIKE[ties]}, 4, tasks=24, n_splits=15)
    for name, table in (
        (ties, simulation.alike_table(alike)),
        (PRINTED, simulation.unlike_table({PRINTED: unlike(PRINTED)})),
    ):
        assert table.splitlines()[2:] == [
            row for row in results.splitlines() if row.startswith(f"| {name} |")
        ]
