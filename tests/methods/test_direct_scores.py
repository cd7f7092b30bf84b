"""Direct scores: statistics and agreement against scipy and scikit-learn, odds against
other fits.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import first_of
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

from core.errors import InvalidOption, NoUsableVotes
from core.questions.boards.score_board import (
    BOUND,
    MAX_LEVELS,
    Levels,
    below,
    chances,
    fit_odds,
    score_boards,
    scored_anchors,
)
from core.questions.boards.score_words import alone
from core.questions.boards.scores import direct_statistics
from core.records import DirectScores
from core.stats.intervals import mean_interval

CUTS = np.linspace(-3, 3, 9)


def scored(score: np.ndarray, *, models: tuple[str, ...] | None = None) -> DirectScores:
    """Scores of shape (items, models, runs); NaN was not scored."""
    item, model, run = (grid.ravel() for grid in np.indices(score.shape))
    keep = ~np.isnan(score.ravel())
    return DirectScores(
        models=models or tuple(f"m{k}" for k in range(score.shape[1])),
        categories=("",),
        item=item[keep],
        category=np.zeros(keep.sum(), dtype=int),
        model=model[keep],
        run=run[keep],
        score=score.ravel()[keep],
    )


def drawn(
    rng: np.random.Generator,
    *,
    items: int,
    beta: tuple[float, ...],
    runs: int = 1,
    item_sd: float = 0.0,
    lasting: float = 0.0,
) -> DirectScores:
    """Scores 1–10 of the model itself, with what all models and all runs of an item share."""
    shared = item_sd * rng.normal(size=(items, 1, 1)) + lasting * rng.normal(
        size=(items, len(beta), 1)
    )
    latent = np.array(beta)[None, :, None] + shared + rng.logistic(size=(items, len(beta), runs))
    return scored(1.0 + np.searchsorted(CUTS, latent))


def true_chance(shift: float, *, sd: float = 0.0) -> float:
    """P(Y > Y_anchor) + ½P(=) in the population that `drawn` draws from, by quadrature."""
    node, weight = np.polynomial.hermite_e.hermegauss(80)
    weight = weight / weight.sum()

    def edges(beta: float) -> np.ndarray:
        inner = [weight @ expit(cut - beta - sd * node) for cut in CUTS]
        return np.array([0.0, *inner, 1.0])

    anchor, model = edges(0.0), edges(shift)
    return float(np.diff(model) @ (anchor[1:] + anchor[:-1]) / 2)


# ---- statistics


def test_statistics_are_those_of_scipy():
    found = drawn(np.random.default_rng(1), items=40, beta=(0.0, 1.0), runs=3)
    rows = {row.model: row for row in direct_statistics({"judge": found}).rows}
    own = found.score[found.model == 1]
    assert rows["m1"].n == 120
    assert rows["m1"].items == 40
    assert rows["m1"].sd == pytest.approx(own.std(ddof=1), abs=1e-12)
    assert rows["m1"].kurtosis == pytest.approx(stats.kurtosis(own), abs=1e-12)
    assert rows[None].kurtosis == pytest.approx(stats.kurtosis(found.score), abs=1e-12)
    by_item = own.reshape(40, 3).mean(axis=1)
    expected = stats.t.interval(0.95, 39, loc=by_item.mean(), scale=stats.sem(by_item))
    # One item more at each end of what the judge gave; no end is nearer than by mean ± t·SE.
    mean = mean_interval(np.arange(40), by_item, ends=(found.score.min(), found.score.max()))
    assert rows["m1"].mean.low == pytest.approx(min(mean.low, expected[0]), abs=1e-12)
    assert rows["m1"].mean.high == pytest.approx(max(mean.high, expected[1]), abs=1e-12)
    assert rows["m1"].top.value == np.mean(own == found.score.max())


@pytest.mark.thorough
def test_the_mean_of_all_models_holds_its_level_although_they_share_items():
    rng, hits = np.random.default_rng(2), 0
    truth = float(np.mean([1 + (1 - expit(CUTS[:, None] - 0.0)).sum()]))
    for _ in range(600):
        # All four models are equal, and an item shifts the scores of all of them together.
        score = np.clip(
            truth + 1.5 * rng.normal(size=(30, 1, 1)) + rng.normal(size=(30, 4, 1)), -99, 99
        )
        row = direct_statistics({"judge": scored(score)}).rows[0]
        hits += row.mean.low <= truth <= row.mean.high
    # The two added items widen it a little.
    assert 0.93 <= hits / 600 <= 0.99


@pytest.mark.thorough
@pytest.mark.parametrize(("items", "share"), first_of((20, 0.97), (60, 0.97), (20, 0.9), (10, 0.5)))
def test_the_mean_holds_its_level_near_the_top_of_the_scale(items, share):
    """Mean ± t·SE alone holds .48 of 20 items of which 3 % are not at the top, and is often a
    point.
    """
    rng, truth, held = np.random.default_rng(23), 8 + 2 * share, 0
    other = scored(np.arange(1.0, 11.0).reshape(10, 1, 1))
    for _ in range(300):
        score = np.where(rng.random((items, 1, 1)) < share, 10.0, 8.0)
        row = direct_statistics({"j": scored(score), "other": other}).rows[0]
        assert row.mean.low < row.mean.high <= 10
        held += row.mean.low <= truth <= row.mean.high
    assert held / 300 >= 0.94


def test_a_mean_far_from_the_ends_keeps_the_plain_interval():
    score = drawn(np.random.default_rng(24), items=30, beta=(0.0,))
    row = direct_statistics({"j": score}).rows[0]
    half = stats.t.ppf(0.975, 29) * score.score.std(ddof=1) / np.sqrt(30)
    assert row.mean.low <= row.mean.value - half
    assert row.mean.high >= row.mean.value + half
    assert row.mean.high - row.mean.low < 2.4 * half


def test_scores_of_one_value_and_no_scores_have_words_and_no_crash():
    found = direct_statistics({"j": scored(np.full((9, 1, 1), 10.0))})
    assert (found.rows[0].mean.value, found.rows[0].mean.has_interval) == (10, False)
    assert "a mean of 10.00 (no interval: no judge gave another score) on 9 items" in alone(found)
    empty = scored(np.full((2, 1, 1), np.nan))
    assert direct_statistics({"j": scored(np.full((9, 1, 1), 10.0)), "empty": empty}).pairs == ()
    for nothing in ({}, {"empty": empty}):
        with pytest.raises(NoUsableVotes, match="direct score"):
            direct_statistics(nothing)


def test_a_judge_that_gives_the_top_score_to_everybody_is_seen_as_such():
    generous, other = (
        scored(np.full((20, 3, 1), 10.0)),
        drawn(np.random.default_rng(3), items=20, beta=(0, 1, 2)),
    )
    found = direct_statistics({"generous": generous, "other": other})
    row = found.rows[0]
    assert (row.top.value, row.sd, row.kurtosis) == (1.0, 0.0, None)
    assert found.highest == 10
    pair = found.pairs[0]
    assert pair.pearson is None
    assert pair.kendall is None
    assert pair.kappa is not None
    with pytest.raises(NoUsableVotes, match="generous: every response got the same score, 10"):
        score_boards({"generous": generous}, "m0")


# ---- agreement of judges


@given(seed=st.integers(0, 10**6), runs=st.integers(1, 2))
def test_agreement_is_that_of_scipy_and_scikit_learn(seed, runs):
    rng = np.random.default_rng(seed)
    one = drawn(rng, items=25, beta=(0.0, 1.0, -1.0), runs=runs, item_sd=1.5)
    noisy = np.clip(one.score + rng.integers(-2, 3, len(one)), 1, 10).reshape(25, 3, runs)
    # One judge skipped a model on some items.
    noisy[:5, 2] = np.nan
    two = scored(noisy)
    found = direct_statistics({"one": one, "two": two}).pairs[0]
    x = one.score.reshape(25, 3, runs).mean(axis=2).ravel()
    y = noisy.mean(axis=2).ravel()
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    assert (found.n, found.items) == (70, 25)
    assert found.pearson.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert found.kendall.value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    whole = [np.floor(values + 0.5).astype(int) for values in (x, y)]
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*whole), abs=1e-12)
    # Quadratic weights by the scores themselves: all scores from the least to the greatest are
    # classes.
    classes = np.arange(min(map(min, whole)), max(map(max, whole)) + 1)
    quadratic = cohen_kappa_score(*whole, labels=classes, weights="quadratic")
    assert found.weighted_kappa.value == pytest.approx(quadratic, abs=1e-12)
    for name in ("pearson", "kendall", "kappa", "weighted_kappa"):
        one = getattr(found, name)
        assert one.low <= one.value <= one.high


@pytest.mark.thorough
def test_agreement_intervals_hold_their_level_although_models_share_items():
    rng, names = np.random.default_rng(4), ("pearson", "kendall", "kappa", "weighted_kappa")

    def judges(items: int) -> dict[str, DirectScores]:
        # Half of what is felt belongs to the item, which four models share.
        felt = rng.normal(size=(items, 1, 1)) + rng.normal(size=(items, 4, 1))
        return {
            name: scored(np.clip(np.round(5.5 + 1.2 * (felt + rng.normal(size=felt.shape))), 1, 10))
            for name in ("one", "two")
        }

    large = [direct_statistics(judges(350)).pairs[0] for _ in range(60)]
    truth = {name: np.mean([getattr(pair, name).value for pair in large]) for name in names}
    hits = dict.fromkeys(names, 0)
    for _ in range(500):
        pair = direct_statistics(judges(50)).pairs[0]
        for name in names:
            hits[name] += getattr(pair, name).low <= truth[name] <= getattr(pair, name).high
    assert {name: 0.92 <= hit / 500 <= 0.975 for name, hit in hits.items()} == dict.fromkeys(
        names, True
    ), hits


def test_means_that_differ_by_rounding_alone_are_equal():
    """(.1 + .2 + .3)/3 depends on the order of the three; they rank nothing."""
    orders = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1], [0.3, 0.1, 0.2]]
    even = scored(np.array(orders).reshape(4, 1, 3))
    means = np.bincount(even.item, even.score) / 3
    assert np.ptp(means) > 0
    (pair,) = direct_statistics(
        {"even": even, "other": scored(np.arange(4.0).reshape(4, 1, 1))}
    ).pairs
    assert (pair.pearson, pair.kendall) == (None, None)


def test_judges_without_a_common_response_have_no_agreement():
    score = np.full((4, 2, 1), np.nan)
    one, two = score.copy(), score.copy()
    one[:2], two[2:] = 5.0, 6.0
    pair = direct_statistics({"one": scored(one), "two": scored(two)}).pairs[0]
    assert pair.n == 0
    assert pair.pearson is pair.kendall is pair.kappa is pair.weighted_kappa is None


# ---- proportional odds


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_no_other_optimiser_finds_a_greater_likelihood(prior):
    rng = np.random.default_rng(5)
    found = fit_odds(drawn(rng, items=40, beta=(0.0, 0.7, -1.2, 2.0), item_sd=1.0), prior=prior)
    n = found.weight + found.prior_weight
    k = n.shape[1]

    def loss(x: np.ndarray) -> float:
        theta = np.cumsum(np.concatenate([x[:1], np.exp(x[1 : k - 1])]))
        inner = expit(theta - np.concatenate([[0.0], x[k - 1 :]])[:, None])
        edge = np.ones((len(n), 1))
        return -float(
            (n * np.log(np.diff(np.hstack([0 * edge, inner, edge]), axis=1) + 1e-300)).sum()
        )

    starts = rng.normal(scale=0.3, size=(3, k + 2))
    best = min(
        (minimize(loss, x, method="BFGS", options={"gtol": 1e-7}) for x in starts),
        key=lambda r: r.fun,
    )
    ours = -float((n * np.log(np.diff(below(found), axis=1))).sum())
    assert ours <= best.fun + 1e-9
    np.testing.assert_allclose(found.beta[1:] - found.beta[0], best.x[k - 1 :], atol=1e-4)


def test_two_levels_are_logistic_regression():
    rng = np.random.default_rng(6)
    good = rng.random((60, 3, 1)) < np.array([0.3, 0.5, 0.8])[None, :, None]
    found = fit_odds(scored(good.astype(float)), prior=0.0)
    model = np.indices(good.shape)[1].ravel()
    oracle = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(
        np.eye(3)[model][:, 1:], good.ravel()
    )
    np.testing.assert_allclose(found.beta[1:] - found.beta[0], oracle.coef_[0], atol=1e-7)
    assert found.beta[0] - found.thresholds[0] == pytest.approx(oracle.intercept_[0], abs=1e-7)


def test_two_models_on_two_levels_are_mann_whitney():
    rng = np.random.default_rng(7)
    score = np.stack([rng.random(50) < 0.35, rng.random(50) < 0.6], axis=1)[:, :, None].astype(
        float
    )
    found = fit_odds(scored(score), prior=0.0)
    u = stats.mannwhitneyu(score[:, 1, 0], score[:, 0, 0]).statistic / 2500
    assert chances(found, "m0")[0][1] == pytest.approx(u, abs=1e-9)


def test_on_ten_levels_of_its_own_kind_it_is_near_mann_whitney():
    found = drawn(np.random.default_rng(8), items=4000, beta=(0.0, 0.8))
    u = (
        stats.mannwhitneyu(found.score[found.model == 1], found.score[found.model == 0]).statistic
        / 4000**2
    )
    p = score_boards({"judge": found}, "m0").mean.rows[0].p.value
    assert p == pytest.approx(u, abs=2e-3)


def test_known_odds_are_recovered():
    beta = (0.0, 0.6, -1.1, 2.3)
    found = fit_odds(drawn(np.random.default_rng(9), items=20_000, beta=beta))
    np.testing.assert_allclose(found.beta - found.beta[0], beta, atol=0.06)
    np.testing.assert_allclose(found.thresholds - found.beta[0], CUTS, atol=0.06)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("items", "beta", "runs", "item_sd", "lasting"),
    [
        (20, (0.0, 0.5, -1.0), 1, 1.0, 0.0),
        (60, (0.0, 3.0), 1, 0.0, 0.0),
        (40, (0.0, 0.8), 3, 0.7, 0.7),
    ],
)
def test_intervals_of_p_hold_their_level(items, beta, runs, item_sd, lasting):
    rng, sets = np.random.default_rng(10), 500
    truth = {
        f"m{k}": true_chance(b, sd=float(np.hypot(item_sd, lasting)))
        for k, b in enumerate(beta)
        if k
    }
    hits = dict.fromkeys(truth, 0)
    for _ in range(sets):
        data = drawn(rng, items=items, beta=beta, runs=runs, item_sd=item_sd, lasting=lasting)
        for row in score_boards({"judge": data}, "m0").mean.rows:
            hits[row.model] += row.p.low <= truth[row.model] <= row.p.high
    assert min(hits.values()) / sets >= 0.93, hits
    assert max(hits.values()) / sets <= 0.98, hits


def test_separated_models_keep_finite_odds_by_the_prior_and_are_named_without_it():
    score = np.concatenate(
        [
            np.full((30, 1, 1), 10.0),
            np.random.default_rng(11).integers(3, 9, (30, 1, 1)).astype(float),
        ],
        axis=1,
    )
    data = scored(score)
    plain = fit_odds(data, prior=0.0)
    assert plain.separated == ("m0",)
    assert plain.beta[0] - plain.beta[1] == pytest.approx(BOUND)
    assert fit_odds(data).separated == ()
    row = score_boards({"judge": data}, "m1").mean.rows[0]
    # Thirty wins of thirty: the interval is about that of the board's votes, not a point.
    assert 0.95 < row.p.value < 1
    assert 0.75 < row.p.low < 0.95
    assert np.isfinite([row.elo.value, row.elo.low, row.elo.high]).all()


@pytest.mark.thorough
@given(seed=st.integers(0, 10**6))
def test_laws_of_the_board(seed):
    rng = np.random.default_rng(seed)
    data = drawn(rng, items=15, beta=tuple(rng.normal(size=4)), runs=2)
    board = score_boards({"judge": data}, "m0").mean
    # A stretched scale changes nothing: only the order of scores counts.
    stretched = scored(np.exp(data.score).reshape(15, 4, 2))
    same = score_boards({"judge": stretched}, "m0").mean
    for one, two in zip(board.rows, same.rows, strict=True):
        assert (one.model, one.p.value, one.p.low) == pytest.approx(
            (two.model, two.p.value, two.p.low), abs=1e-9
        )
        assert one.p.low < one.p.value < one.p.high
        # Anchor and model change places.
        back = {row.model: row for row in score_boards({"judge": data}, one.model).mean.rows}["m0"]
        assert back.p.value == pytest.approx(1 - one.p.value, abs=1e-9)
        assert back.se_p == pytest.approx(one.se_p, abs=1e-9)
    # A judge twice is the judge once: the mean and its interval do not pretend to know more.
    twice = score_boards({"judge": data, "copy": data}, "m0").mean
    assert [row.p.value for row in twice.rows] == pytest.approx(
        [row.p.value for row in board.rows], abs=1e-12
    )
    for once, both in zip(board.rows, twice.rows, strict=True):
        assert (
            0.5**0.5 * once.se_p <= both.se_p <= once.se_p
        )  # only the prior's part of the variance is halved
    # Reversing the scale mirrors p.
    mirrored = {
        row.model: row
        for row in score_boards({"judge": scored(-data.score.reshape(15, 4, 2))}, "m0").mean.rows
    }
    for row in board.rows:
        assert mirrored[row.model].p.value == pytest.approx(1 - row.p.value, abs=1e-8)


def test_a_pull_is_what_a_response_moves():
    data = drawn(np.random.default_rng(12), items=20, beta=(0.0, 1.0, -0.5))
    found = fit_odds(data)
    p, pull = chances(found, "m0")
    rows = Levels.of(data)
    for row in (0, 17, 44):
        weight = rows.weight.copy()
        weight[row] += 1e-4
        # The prior's spread follows the weights; hold it still by adding it as rows of their own.
        models, k = found.weight.shape
        held = Levels(
            models=rows.models,
            levels=rows.levels,
            item=np.concatenate([rows.item, np.zeros(models * k, dtype=int)]),
            model=np.concatenate([rows.model, np.repeat(np.arange(models), k)]),
            level=np.concatenate([rows.level, np.tile(np.arange(k), models)]),
            weight=np.concatenate([weight, found.prior_weight.ravel()]),
        )
        moved = (chances(fit_odds(held, prior=0.0), "m0")[0] - p) / 1e-4
        np.testing.assert_allclose(moved, pull[rows.model[row], rows.level[row]], atol=1e-6)


def test_runs_of_a_response_share_one_weight():
    score = np.random.default_rng(13).integers(1, 11, (20, 2, 1)).astype(float)
    once = score_boards({"judge": scored(score)}, "m0").mean.rows[0]
    thrice = score_boards({"judge": scored(np.repeat(score, 3, axis=2))}, "m0").mean.rows[0]
    assert (thrice.p.value, thrice.se_p, thrice.n) == pytest.approx(
        (once.p.value, once.se_p, once.n), abs=1e-9
    )


def test_many_distinct_scores_are_grouped():
    score = np.random.default_rng(14).normal(size=(400, 2, 1)) + np.array([0, 0.5])[None, :, None]
    rows = Levels.of(scored(score))
    assert len(rows.levels) == MAX_LEVELS
    u = stats.mannwhitneyu(score[:, 1, 0], score[:, 0, 0]).statistic / 400**2
    assert score_boards({"judge": scored(score)}, "m0").mean.rows[0].p.value == pytest.approx(
        u, abs=0.01
    )


def test_judges_that_cannot_be_compared_say_why():
    data = drawn(np.random.default_rng(15), items=10, beta=(0.0, 1.0))
    lonely = data.score.reshape(10, 2, 1).copy()
    lonely[:, 1] = np.nan
    elsewhere = data.score.reshape(10, 2, 1).copy()
    elsewhere[:, 0] = np.nan
    judged = {"both": data, "lonely": scored(lonely), "elsewhere": scored(elsewhere)}
    found = score_boards(judged, "m0")
    assert found.mean.judges == ("both",)
    assert found.left_out["lonely"].startswith("only one model was scored")
    assert found.left_out["elsewhere"] == "did not score m0."
    assert scored_anchors(judged) == ("m0", "m1")
    assert scored_anchors({"lonely": judged["lonely"]}) == ()
    with pytest.raises(InvalidOption, match="prior"):
        fit_odds(data, prior=-1.0)
