"""Bradley–Terry, Glicko-2 and TrueSkill: held to libraries, integrals, published examples and
laws.
"""

import itertools
import math

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm, truncnorm

from core.errors import InvalidOption, NoUsableVotes, UnknownName
from core.questions.boards.anchored import ELO_PER_NAT, board
from core.questions.boards.judge_dispersion import rating_spread
from core.questions.boards.ratings import (
    ALGORITHMS,
    RAEE,
    Ratings,
    Settings,
    _after_draw,
    _after_win,
    _glicko_player,
    _trueskill_pass,
    bradley_terry,
    glicko2,
    trueskill,
)
from core.records import PairScores

METHODS = [name for name in ALGORITHMS if name != RAEE]


def rate(pairs: PairScores, anchor: str, *, method: str, **settings) -> Ratings:
    return ALGORITHMS[method](pairs, anchor, Settings(**settings))


def scores_of(games: list[tuple[int, int, int, float]], models: int = 5) -> PairScores:
    """Pair scores from (model, model, prompt, score of the first)."""
    rows = [(a, b, i, s) if a < b else (b, a, i, 1 - s) for a, b, i, s in games]
    one, two, item, score = np.array(sorted(rows), dtype=float).reshape(-1, 4).T
    return PairScores(
        models=tuple(f"m{k}" for k in range(models)),
        model_1=one.astype(int),
        model_2=two.astype(int),
        item=item.astype(int),
        score=score,
        n_votes=np.ones(len(rows), dtype=int),
    )


def drawn(
    strength: list[float], prompts: int, seed: int, *, ties: bool = True, star: bool = False
) -> PairScores:
    rng = np.random.default_rng(seed)
    games = []
    for a, b in itertools.combinations(range(len(strength)), 2):
        if star and a:
            continue
        p = 1 / (1 + math.exp(strength[b] - strength[a]))
        for i in range(prompts):
            won = float(rng.random() < p)
            games.append((a, b, i, 0.5 if ties and rng.random() < 0.25 else won))
    return scores_of(games, len(strength))


def by_name(found) -> dict[str, float]:
    return dict(zip(found.models, found.elo.value.tolist(), strict=True))


# ---- Bradley–Terry


@pytest.mark.parametrize("seed", range(3))
def test_bradley_terry_agrees_with_choix_on_games_without_ties(seed):
    pairs = drawn([0.0, 0.4, -0.7, 1.1, 0.2], 40, seed, ties=False)
    data = [
        (a, b) if s == 1 else (b, a)
        for a, b, s in zip(pairs.model_1.tolist(), pairs.model_2.tolist(), pairs.score, strict=True)
    ]
    theirs = choix.opt_pairwise(5, data, tol=1e-14)
    ours = by_name(bradley_terry(pairs, "m0"))
    for k in range(5):
        assert ours[f"m{k}"] == pytest.approx(
            ELO_PER_NAT * (theirs[k] - theirs[0]), abs=1e-6 * ELO_PER_NAT
        )


def test_bradley_terry_agrees_with_evalica_game_by_game_with_ties_as_half_wins():
    pairs = drawn([0.0, 0.4, -0.7, 1.1, 0.2], 40, 7)
    winners = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    theirs = evalica.bradley_terry(
        pairs.model_1.tolist(), pairs.model_2.tolist(), [winners[s] for s in pairs.score.tolist()],
        tie_weight=0.5, tolerance=1e-13, limit=100_000,
    ).scores  # fmt: skip
    ours = by_name(bradley_terry(pairs, "m0"))
    for k in range(5):
        assert ours[f"m{k}"] == pytest.approx(
            ELO_PER_NAT * math.log(theirs[k] / theirs[0]), abs=1e-6
        )


def test_bradley_terry_maximises_the_likelihood_of_fractional_scores():
    rng = np.random.default_rng(3)
    pairs = drawn([0.0, 0.5, -0.5, 0.3], 30, 3)
    pairs = PairScores(
        models=pairs.models, model_1=pairs.model_1, model_2=pairs.model_2, item=pairs.item,
        score=rng.choice([0, 0.25, 0.5, 0.75, 1], len(pairs)), n_votes=pairs.n_votes,
    )  # fmt: skip

    def loss(theta: np.ndarray) -> float:
        x = np.append(0.0, theta)
        d = x[pairs.model_1] - x[pairs.model_2]
        return float(
            (pairs.score * np.logaddexp(0, -d) + (1 - pairs.score) * np.logaddexp(0, d)).sum()
        )

    best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9, "maxiter": 500}).x
    ours = by_name(bradley_terry(pairs, "m0"))
    assert [ours[f"m{k}"] / ELO_PER_NAT for k in (1, 2, 3)] == pytest.approx(best, abs=1e-6)


def test_four_teams_of_a_textbook():
    """Wikipedia, Bradley–Terry model: strengths 0.640, 1.043, 0.660, 2.270 of four teams."""
    wins = {(0, 1): 2, (0, 3): 1, (1, 0): 3, (1, 2): 5, (2, 1): 3, (2, 3): 1, (3, 0): 4, (3, 2): 3}
    counter = itertools.count()
    pairs = scores_of(
        [(a, b, next(counter), 1.0) for (a, b), n in wins.items() for _ in range(n)], 4
    )
    strength = {
        name: math.exp(elo / ELO_PER_NAT)
        for name, elo in by_name(bradley_terry(pairs, "m0")).items()
    }
    expected = (0.640, 1.043, 0.660, 2.270)
    assert [strength[f"m{k}"] for k in range(4)] == pytest.approx(
        [x / 0.640 for x in expected], abs=2e-3
    )


def test_on_a_star_it_is_the_plain_share_and_its_interval_the_sample_variance():
    pairs = drawn([0.0, 0.6, -0.4], 50, 5, star=True)
    found = bradley_terry(pairs, "m0")
    for k in (1, 2):
        s = 1 - pairs.score[pairs.model_2 == k]
        p, place = s.mean(), found.models.index(f"m{k}")
        se = ELO_PER_NAT * s.std(ddof=1) / math.sqrt(50) / (p * (1 - p))
        assert found.elo.value[place] == pytest.approx(
            ELO_PER_NAT * math.log(p / (1 - p)), abs=1e-6
        )
        assert found.elo.high[place] - found.elo.value[place] == pytest.approx(
            1.959963985 * se, rel=1e-6
        )
        row = next(row for row in board(pairs, "m0").rows if row.model == f"m{k}")
        assert found.elo.value[place] == pytest.approx(
            row.elo.value, abs=0.02 * abs(row.elo.value) + 0.5
        )


def test_models_without_a_finite_strength_have_a_reason_and_leave_the_others_alone():
    core = drawn([0.0, 0.5, -0.5], 20, 1)
    games = [
        (a, b, i, s)
        for a, b, i, s in zip(core.model_1, core.model_2, core.item, core.score, strict=True)
    ]
    games += [(3, 0, i, 1.0) for i in range(20)]  # never beaten
    games += [(4, 1, i, 0.0) for i in range(20)]  # never won
    games += [(5, 6, i, 0.5) for i in range(20)]  # met nobody of the rest
    games += [(7, 3, i, 0.0) for i in range(5)]  # lost to the unbeaten: nothing says more
    found = bradley_terry(scores_of(games, 8), "m0")
    reason = dict(zip(found.models, found.reason, strict=True))
    assert reason["m3"].startswith("above any number")
    assert reason["m4"].startswith("below any number")
    assert reason["m5"] == reason["m6"] == "never met the anchor, directly or through others"
    assert reason["m7"].startswith("its games do not tie it")
    plain, now = by_name(bradley_terry(core, "m0")), by_name(found)
    for name in ("m0", "m1", "m2"):
        assert reason[name] == ""
        assert now[name] == pytest.approx(plain[name], abs=1e-6)
    assert set(found.models[:3]) == {"m0", "m1", "m2"}
    assert np.isnan(found.elo.value[3:]).all()


@pytest.mark.thorough
def test_the_interval_of_bradley_terry_covers():
    """Equal models that all met on shared prompts: 95 % intervals hold the true 0."""
    held = total = 0
    for seed in range(150):
        found = bradley_terry(drawn([0.0] * 4, 60, seed), "m0")
        others = [k for k, name in enumerate(found.models) if name != "m0"]
        held += int(((found.elo.low[others] < 0) & (found.elo.high[others] > 0)).sum())
        total += len(others)
    assert 0.91 <= held / total <= 0.98


# ---- Glicko-2 and TrueSkill


def test_a_fit_without_a_rest_is_not_taken_for_certainty():
    """One tie, or ties alone, fit exactly; three models that tie twice once gave the root of
    -1e-33.
    """
    games = [(0, 1, item, 0.5) for item in range(5)] + [(0, 2, 0, 0.5)]
    found = bradley_terry(scores_of(games, models=3), "m0")
    width = dict(zip(found.models, (found.elo.high - found.elo.low) / 2, strict=True))
    assert width["m0"] == 0
    # h = 1/(N·¼): 4/5 on five prompts, 4 on one; variance h²/(4 + h).
    assert width["m1"] == pytest.approx(1.959964 * ELO_PER_NAT * math.sqrt(0.8**2 / 4.8))
    assert width["m2"] == pytest.approx(1.959964 * ELO_PER_NAT * math.sqrt(2))
    rng, pairs = np.random.default_rng(0), list(itertools.combinations(range(3), 2))
    for _ in range(200):
        games = [
            (*pair, item, rng.choice([0.0, 0.5, 0.5, 1.0])) for item in range(2) for pair in pairs
        ]
        found = bradley_terry(scores_of(games, models=3), "m0")
        rated = ~np.isnan(found.elo.value) & (np.array(found.models) != "m0")
        assert (found.elo.high > found.elo.value)[rated].all()


def test_glicko_reproduces_the_example_of_its_paper():
    """Glickman (2013): 1500 ± 200 against 1400, 1550, 1700 gives 1464.06 ± 151.52, volatility
    0.05999.
    """
    player = _glicko_player()
    player.vol, player.rd = 0.06, 200
    player.update_player([1400, 1550, 1700], [30, 100, 300], [1, 0, 0])
    assert player.rating == pytest.approx(1464.06, abs=0.01)
    assert player.rd == pytest.approx(151.52, abs=0.01)
    assert player.vol == pytest.approx(0.05999, abs=1e-5)


def moments(mu: float, sigma: float, likelihood) -> tuple[float, float]:
    """Mean and deviation of a normal skill after a game, by integration."""
    ends = (mu - 12 * sigma, mu + 12 * sigma)
    mass, first, second = (
        quad(
            lambda x, power: x**power * norm.pdf(x, mu, sigma) * likelihood(x),
            *ends,
            args=(power,),
            epsabs=0,
        )[0]
        for power in range(3)
    )
    return first / mass, math.sqrt(second / mass - (first / mass) ** 2)


@pytest.mark.thorough
@pytest.mark.parametrize("ties", [True, False])
def test_two_players_of_trueskill_are_the_integrals(ties):
    """Each player's skill has the mean and deviation of its exact posterior after every game."""
    pairs = drawn([0.0, 0.5, -0.5], 5, 2, ties=ties)
    rows = np.random.default_rng(0).permutation(len(pairs))
    mu, sigma = _trueskill_pass(pairs, rows)
    share = float((pairs.score == 0.5).mean())
    assert bool(share) == ties
    beta = 25 / 6
    margin = math.sqrt(2) * beta * norm.ppf((1 + share) / 2)
    skills = [(25.0, 25 / 3)] * 3
    for row in rows:
        a, b, s = pairs.model_1[row], pairs.model_2[row], pairs.score[row]

        def after(own, other, score):
            noise = math.sqrt(2 * beta**2 + other[1] ** 2)
            if score == 0.5:
                low, high = other[0] - margin, other[0] + margin
                return moments(
                    *own, lambda x: norm.cdf((high - x) / noise) - norm.cdf((low - x) / noise)
                )
            sign = 2 * score - 1
            return moments(*own, lambda x: norm.cdf((sign * (x - other[0]) - margin) / noise))

        skills[a], skills[b] = after(skills[a], skills[b], s), after(skills[b], skills[a], 1 - s)
    assert mu == pytest.approx([skill[0] for skill in skills], abs=1e-6)
    assert sigma == pytest.approx([skill[1] for skill in skills], abs=1e-6)


def test_trueskills_factors_are_moments_of_a_cut_normal():
    """Far out too, where a winner was hopeless or a draw was."""
    for t in (-5.0, -0.3, 0.0, 0.4, 3.0):
        mean, variance = truncnorm.stats(-t, math.inf)
        assert _after_win(t) == pytest.approx((mean, 1 - variance), rel=1e-9)
        for edge in (0.05, 0.5, 2.0):
            mean, variance = truncnorm.stats(-edge - t, edge - t)
            assert _after_draw(t, edge) == pytest.approx((mean, 1 - variance), rel=1e-9, abs=1e-15)
    assert _after_win(-60.0) == (60.0, pytest.approx(1.0))
    assert _after_draw(60.0, 1.0) == (-59.0, 1.0)
    assert _after_draw(-60.0, 1.0) == (59.0, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_planted_strengths_are_recovered(method):
    truth = [0.0, 0.8, 0.3, -0.4, -1.0]
    found = rate(
        drawn(truth, 300, 11, ties=False), "m0", method=method, rng=np.random.default_rng(0)
    )
    assert found.models == ("m1", "m2", "m0", "m3", "m4")
    ours = by_name(found)
    # Glicko-2 and TrueSkill start from a prior and TrueSkill is probit: within 35 points, BT within
    # 4 SE.
    assert [ours[f"m{k}"] for k in range(5)] == pytest.approx(
        [ELO_PER_NAT * x for x in truth], abs=35
    )
    assert found.elo.value[found.models.index("m0")] == 0


@pytest.mark.parametrize("method", METHODS)
def test_relabelling_permutes_and_turning_every_vote_negates(method):
    pairs = drawn([0.0, 0.7, -0.6], 30, 4)
    plain = by_name(rate(pairs, "m0", method=method, rng=np.random.default_rng(0), orders=3))
    turned = PairScores(
        models=pairs.models, model_1=pairs.model_1, model_2=pairs.model_2, item=pairs.item,
        score=1 - pairs.score, n_votes=pairs.n_votes,
    )  # fmt: skip
    negated = by_name(rate(turned, "m0", method=method, rng=np.random.default_rng(0), orders=3))
    assert [negated[name] for name in plain] == pytest.approx(
        [-plain[name] for name in plain], abs=1e-4
    )
    renamed = PairScores(
        models=("x", "y", "z"), model_1=pairs.model_1, model_2=pairs.model_2, item=pairs.item,
        score=pairs.score, n_votes=pairs.n_votes,
    )  # fmt: skip
    again = by_name(rate(renamed, "x", method=method, rng=np.random.default_rng(0), orders=3))
    assert [again[name] for name in "xyz"] == [plain[f"m{k}"] for k in range(3)]


@given(st.integers(0, 10_000))
def test_another_anchor_only_moves_the_zero_of_bradley_terry(seed):
    pairs = drawn([0.0, 0.3, -0.3], 25, seed)
    one, two = by_name(bradley_terry(pairs, "m0")), by_name(bradley_terry(pairs, "m1"))
    for name in one:
        assert two[name] == pytest.approx(one[name] - one["m1"], abs=1e-5)


def test_orders_matter_little_and_the_same_seed_gives_the_same():
    pairs = drawn([0.0, 0.5, -0.5], 80, 6)
    for method in (glicko2, trueskill):
        found = method(pairs, "m0", rng=np.random.default_rng(1))
        assert (found.order_sd[found.elo.value != 0] > 0).all()
        assert found.order_sd.max() < 25
        assert (
            found.elo.value.tolist()
            == method(pairs, "m0", rng=np.random.default_rng(1)).elo.value.tolist()
        )
        assert (found.elo.low <= found.elo.value).all()
        assert (found.elo.value <= found.elo.high).all()


def test_draws_alone_put_all_at_zero():
    pairs = scores_of([(0, 1, i, 0.5) for i in range(20)], 2)
    for method in METHODS:
        found = rate(pairs, "m0", method=method, rng=np.random.default_rng(0))
        assert found.elo.value == pytest.approx(0, abs=1e-6)


def test_errors_name_what_is_wrong():
    pairs = drawn([0.0, 0.5], 5, 0)
    with pytest.raises(UnknownName, match="'gone'"):
        bradley_terry(pairs, "gone")
    with pytest.raises(NoUsableVotes, match="met no other"):
        bradley_terry(scores_of([(0, 1, 0, 1.0)], 3), "m2")
    with pytest.raises(InvalidOption, match="orders"):
        glicko2(pairs, "m0", rng=np.random.default_rng(0), orders=0)


# ---- judges side by side


def test_spread_is_what_the_cells_say_and_equal_judges_have_none():
    judges = {
        name: drawn([0.0, 0.6, -0.2, 0.3], 60, seed, star=True) for seed, name in enumerate("abc")
    }
    found = rating_spread(judges, "m0", rng=np.random.default_rng(0), orders=2)
    assert [row.method for row in found.methods] == ["raee", *METHODS]
    boards = [
        {row.model: row.elo.value for row in board(pairs, "m0").rows} for pairs in judges.values()
    ]
    sds = [np.std([known[name] for known in boards], ddof=1) for name in ("m1", "m2", "m3")]
    raee, terry = found.methods[:2]
    assert raee.sd.value == pytest.approx(np.mean(sds))
    assert raee.sd.low < raee.sd.value < raee.sd.high
    assert (raee.n_models, raee.n_judges, raee.pearson) == (3, 3, None)
    assert terry.pearson == pytest.approx(1, abs=1e-4)
    assert terry.excess.value == pytest.approx(terry.sd.value - raee.sd.value)
    same = rating_spread(
        dict.fromkeys("ab", judges["a"]), "m0", rng=np.random.default_rng(0), orders=2
    )
    assert same.methods[0].sd.value == 0
    assert same.methods[1].sd.value == pytest.approx(0, abs=1e-9)
    alone = rating_spread({"a": judges["a"]}, "m0", rng=np.random.default_rng(0), orders=2)
    assert alone.methods[0].sd is None
    with pytest.raises(NoUsableVotes):
        rating_spread(judges, "gone", rng=np.random.default_rng(0))
