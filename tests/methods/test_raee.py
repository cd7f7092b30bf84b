"""Anchored boards, subsampling, anchor swap and triangles: published tables, coverage, laws, real
boards.
"""

from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidOption, NoUsableVotes, UnknownName
from core.questions.boards.anchored import (
    ELO_PER_NAT,
    board,
    elo_of_p,
    standard_error,
    subsample_errors,
)
from core.questions.boards.anchors import anchor_swap, anchors, triangles
from core.records import InvalidCounts, PairScores


def make(scores: dict[tuple[str, str], dict[int, float]], ties: bool = False) -> PairScores:
    """Pair scores from (model, model) → prompt → score of the first named; `ties`: every ½ is a
    tie.
    """
    models = tuple(sorted({name for pair in scores for name in pair}))
    rows = []
    for (one, two), by_item in scores.items():
        turned = one > two
        low, high = sorted((models.index(one), models.index(two)))
        rows += [(low, high, item, 1 - s if turned else s) for item, s in by_item.items()]
    low, high, item, score = np.array(rows, dtype=float).reshape(-1, 4).T
    return PairScores(
        models=models,
        model_1=low.astype(int),
        model_2=high.astype(int),
        item=item.astype(int),
        score=score,
        n_votes=np.ones(len(rows), dtype=int),
        tie=(score == 0.5).astype(float) if ties else None,
    )


def from_votes(votes: pd.DataFrame) -> PairScores:
    """Pair scores from votes in canonical form, by plain pandas: mean within order, then across
    orders.
    """
    swapped = votes["model_a"] > votes["model_b"]
    frame = pd.DataFrame(
        {
            "low": votes["model_a"].where(~swapped, votes["model_b"]),
            "high": votes["model_b"].where(~swapped, votes["model_a"]),
            "item": pd.factorize(votes["item_id"])[0],
            # The order shown, seen from the model with the smaller name.
            "order": (votes["position"] == "ab") ^ swapped,
            "score": (1 + votes["vote"].where(~swapped, -votes["vote"])) / 2,
            "tie": (votes["vote"] == 0).astype(float),
        }
    )
    keys = ["low", "high", "item"]
    by_order = frame.groupby([*keys, "order"])[["score", "tie"]].mean()
    rows = by_order.groupby(keys).mean().reset_index()
    models = tuple(sorted(set(rows["low"]) | set(rows["high"])))
    code = {name: i for i, name in enumerate(models)}
    return PairScores(
        models=models,
        model_1=rows["low"].map(code).to_numpy(),
        model_2=rows["high"].map(code).to_numpy(),
        item=rows["item"].to_numpy(),
        score=rows["score"].to_numpy(),
        n_votes=frame.groupby(keys).size().to_numpy(),
        tie=rows["tie"].to_numpy(),
    )


def against(anchor: str, **models: list[float]) -> PairScores:
    """Scores of each model against the anchor on prompts 0, 1, 2 …"""
    return make({(name, anchor): dict(enumerate(values)) for name, values in models.items()})


# ---- published figures


def test_elo_map_of_the_paper(golden: Path) -> None:
    """[RAEE] Table 12."""
    table = pd.read_csv(golden / "raee_elo_of_p.csv")
    assert np.abs(elo_of_p(table["p"].to_numpy()) - table["elo"].to_numpy()).max() < 0.05


def test_finite_population_of_the_paper(golden: Path) -> None:
    """[RAEE] Table 9: p̄(1 - p̄) = .24992 and N + 2 in the denominator; 1e-6 from the printed SE."""
    table = pd.read_csv(golden / "raee_finite_population.csv")
    n = table["n"].to_numpy()
    p = np.full(len(n), 0.5 - np.sqrt(0.25 - 0.24992))
    analytic = standard_error(p, n + 1.0)
    finite = np.array(
        [
            standard_error(p[:1], r.n + 1.0, n=np.array([r.n]), pool=r.pool)[0]
            for r in table.itertuples()
        ]
    )
    assert np.abs(analytic - table["se_analytic"]).max() < 1e-6
    factor = finite / analytic
    assert np.abs(table["se_analytic"] * factor - table["se_fpc"]).max() < 1e-6
    assert np.abs(table["se_fpc"] * 0.85 - table["se_fpc_kappa_0.85"]).max() < 1e-6


# ---- one board


def test_board_by_hand() -> None:
    """3 wins, 1 tie, 1 loss: a = 4, b = 2."""
    from scipy.stats import beta

    row = board(against("ref", m=[1, 1, 1, 0.5, 0]), "ref").rows[0]
    assert (row.n, row.wins, row.ties, row.losses, row.tier) == (5, 3, 1, 1, 1)
    assert row.p.value == pytest.approx(4 / 6)
    assert [row.p.low, row.p.high] == pytest.approx(list(beta(4, 2).ppf([0.025, 0.975])), abs=1e-12)
    assert row.elo.value == pytest.approx(400 * np.log10(2))
    assert row.elo.low == pytest.approx(400 * np.log10(row.p.low / (1 - row.p.low)))
    assert row.se_p == pytest.approx(beta(4, 2).std())
    assert row.se_elo == pytest.approx(ELO_PER_NAT * row.se_p / (4 / 6 * 2 / 6))
    f = (3.25 - 5 * 0.49 + 0.25) / (5 * 0.7 * 0.3 + 0.25)
    m = 7 / f - 1
    corrected = beta(4 / 6 * m, 2 / 6 * m)
    assert [row.p_corrected.low, row.p_corrected.high] == pytest.approx(
        list(corrected.ppf([0.025, 0.975]))
    )
    assert row.se_p_corrected == pytest.approx(row.se_p * np.sqrt(f))
    laplace = board(against("ref", m=[1, 1, 1, 0.5, 0]), "ref", prior="laplace").rows[0]
    assert laplace.p.value == pytest.approx(4.5 / 7)


def test_ties_are_told_from_one_win_and_one_loss() -> None:
    scores = {("m", "ref"): {0: 0.5, 1: 0.5, 2: 0.75}}
    unknown = board(make(scores), "ref").rows[0]
    assert (unknown.wins, unknown.ties, unknown.losses) == pytest.approx((0.5, 2.5, 0))
    pairs = make(scores)
    known = PairScores(
        **{
            f: getattr(pairs, f)
            for f in ("models", "model_1", "model_2", "item", "score", "n_votes")
        },
        tie=np.array([1.0, 0.0, 0.5]),
    )
    row = board(known, "ref").rows[0]
    assert (row.wins, row.ties, row.losses) == pytest.approx((1, 1.5, 0.5))
    with pytest.raises(InvalidCounts, match="ties"):
        PairScores(
            **{
                f: getattr(pairs, f)
                for f in ("models", "model_1", "model_2", "item", "score", "n_votes")
            },
            tie=np.array([1.0, 0.0, 0.6]),
        )


def test_finite_pool_narrows_to_the_point() -> None:
    pairs = against("ref", m=[1, 1, 1, 0, 0, 0.5, 1, 0])
    free, half, whole = (board(pairs, "ref", pool=pool).rows[0] for pool in (None, 16, 8))
    assert half.se_p == pytest.approx(free.se_p * np.sqrt(8 / 15))
    assert free.p.low < half.p.low < half.p.value == free.p.value < half.p.high < free.p.high
    assert (whole.p.low, whole.p.high, whole.se_p, whole.elo.low) == (
        whole.p.value,
        whole.p.value,
        0,
        whole.elo.value,
    )
    with pytest.raises(InvalidOption, match="pool = 7"):
        board(pairs, "ref", pool=7)
    assert board(against("ref", m=[1]), "ref", pool=1).rows[0].se_p == 0


def test_kappa_factor_scales_the_error_and_warns() -> None:
    pairs = against("ref", m=[1, 1, 1, 0, 0, 0.5, 1, 0])
    plain, scaled = board(pairs, "ref"), board(pairs, "ref", kappa_factor=0.85)
    assert scaled.rows[0].se_p == pytest.approx(0.85 * plain.rows[0].se_p)
    assert scaled.rows[0].p.low > plain.rows[0].p.low
    assert plain.notes == ()
    assert "backwards" in scaled.notes[0]
    for wrong in (0, 1.2, -1):
        with pytest.raises(InvalidOption, match="kappa_factor"):
            board(pairs, "ref", kappa_factor=wrong)


def test_a_model_that_never_met_the_anchor_has_no_number() -> None:
    pairs = make({("m", "ref"): {0: 1.0}, ("m", "far"): {0: 1.0}})
    found = board(pairs, "ref")
    assert [row.model for row in found.rows] == ["m"]
    assert found.never_met == ("far",)
    with pytest.raises(UnknownName, match="nobody"):
        board(pairs, "nobody")
    alone = PairScores(
        models=("alone", "m", "ref"),
        model_1=np.array([1]),
        model_2=np.array([2]),
        item=np.array([0]),
        score=np.array([1.0]),
        n_votes=np.array([1]),
    )
    with pytest.raises(NoUsableVotes, match="alone"):
        board(alone, "alone")


def test_tiers_use_paired_differences() -> None:
    """b loses to a on 8 of 80 prompts and never wins: the paired z sees it, the intervals overlap
    widely.
    """
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 80).astype(float)
    b = a.copy()
    b[np.flatnonzero(a)[:8]] = 0
    found = board(against("ref", a=a.tolist(), b=b.tolist(), twin=b.tolist()), "ref")
    assert [(row.model, row.tier) for row in found.rows] == [("a", 1), ("b", 2), ("twin", 2)]
    assert found.rows[1].p.high > found.rows[0].p.low
    apart = make(
        {
            ("a", "ref"): {i: float(i % 10 > 0) for i in range(100)},
            ("b", "ref"): {1000 + i: float(i % 2) for i in range(100)},
        }
    )
    assert [row.tier for row in board(apart, "ref").rows] == [1, 2]


def test_mid_region_leaves_the_anchor_out() -> None:
    found = board(against("ref", easy=[1] * 50, even=[1, 0] * 25, low=[0] * 50), "ref")
    assert found.mid_region_coverage == pytest.approx(1 / 3)
    assert found.n_items == 50
    assert found.to_frame()["model"].tolist() == ["easy", "even", "low"]


scores = st.lists(st.sampled_from([0, 0.25, 0.5, 0.75, 1]), min_size=1, max_size=40)


@pytest.mark.thorough
@given(st.lists(scores, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_board_laws(models: list[list[float]], random: Random) -> None:
    names = [f"m{i}" for i in range(len(models))]
    pairs = against("ref", **dict(zip(names, models, strict=True)))
    found = board(pairs, "ref")
    order = list(range(len(pairs)))
    random.shuffle(order)
    shuffled = PairScores(
        models=pairs.models,
        **{f: getattr(pairs, f)[order] for f in ("model_1", "model_2", "item", "score", "n_votes")},
    )
    pd.testing.assert_frame_equal(board(shuffled, "ref").to_frame(), found.to_frame(), rtol=1e-9)
    renamed = board(against("a_ref", **dict(zip(names, models, strict=True))), "a_ref")
    pd.testing.assert_frame_equal(renamed.to_frame(), found.to_frame(), rtol=1e-9)
    mirrored = against("ref", **{n: [1 - s for s in v] for n, v in zip(names, models, strict=True)})
    mirror = {row.model: row for row in board(mirrored, "ref").rows}
    assert [row.elo.value for row in found.rows] == sorted(
        (row.elo.value for row in found.rows), reverse=True
    )
    for row in found.rows:
        values = models[names.index(row.model)]
        assert row.wins + row.ties + row.losses == pytest.approx(row.n)
        assert row.wins + row.ties / 2 == pytest.approx(sum(values))
        assert min(row.wins, row.ties, row.losses) >= -1e-9
        assert row.p.low <= row.p.value <= row.p.high
        assert row.p_corrected.low <= row.p.value <= row.p_corrected.high
        assert row.se_p_corrected <= row.se_p
        other = mirror[row.model]
        assert (other.elo.value, other.elo.low) == pytest.approx(
            (-row.elo.value, -row.elo.high), rel=1e-9, abs=1e-6
        )
        assert (other.wins, other.losses) == pytest.approx((row.losses, row.wins))


# ---- coverage


def test_published_interval_covers_without_ties() -> None:
    """Exact: binomial probability of each outcome, averaged over p in [0.1, 0.9]; nominal 95 %."""
    from scipy.stats import binom

    for n in (20, 60, 200):
        wins = np.arange(n + 1)
        rows = [board(against("ref", m=[1.0] * k + [0.0] * (n - k)), "ref").rows[0] for k in wins]
        low, high = np.array([(row.p.low, row.p.high) for row in rows]).T
        grid = np.linspace(0.1, 0.9, 201)
        held = [binom.pmf(wins, n, p)[(low <= p) & (p <= high)].sum() for p in grid]
        assert 0.93 <= np.mean(held) <= 0.97


@pytest.mark.thorough
@pytest.mark.parametrize(("p_win", "p_tie"), [(0.3, 0.4), (0.6, 0.2), (0.2, 0.3)])
def test_corrected_interval_covers_with_ties(p_win: float, p_tie: float) -> None:
    rng = np.random.default_rng(7)
    n, reps = 100, 3000
    drawn = rng.choice([1.0, 0.5, 0.0], size=(reps, n), p=[p_win, p_tie, 1 - p_win - p_tie])
    pairs = against("ref", **{f"m{i}": row.tolist() for i, row in enumerate(drawn)})
    rows = board(pairs, "ref").to_frame()
    truth = p_win + p_tie / 2
    corrected = ((rows["p_low_corrected"] <= truth) & (truth <= rows["p_high_corrected"])).mean()
    published = ((rows["p_low"] <= truth) & (truth <= rows["p_high"])).mean()
    assert 0.93 <= corrected <= 0.97
    assert published > corrected


# ---- subsampling


def test_closed_form_error_matches_subsamples() -> None:
    """[RAEE] Table 9's comparison: without ties the finite-population SE is what subsamples show,
    to 5 %.
    """
    rng = np.random.default_rng(8)
    pairs = against("ref", m=rng.integers(0, 2, 160).astype(float).tolist())
    table = subsample_errors(pairs, "ref", sizes=(80, 16, 40, 160, 500), rng=rng, draws=4000)
    assert table.n.tolist() == [16, 40, 80]
    assert table.se_empirical[1:] == pytest.approx(table.se_finite[1:], rel=0.05)
    assert (table.se_finite < table.se_analytic).all()
    assert len(subsample_errors(pairs, "ref", sizes=(200,), rng=rng).to_frame()) == 0


# ---- anchor swap


def tournament(strength: dict[str, float], prompts: int, rng: np.random.Generator) -> PairScores:
    """Bradley–Terry votes of every pair on the same prompts, without ties."""
    rows = {}
    for one, two in combinations(strength, 2):
        p = 1 / (1 + np.exp(strength[two] - strength[one]))
        rows[one, two] = dict(enumerate((rng.random(prompts) < p).astype(float)))
    return make(rows)


def test_anchor_swap_on_additive_strengths() -> None:
    from scipy.stats import kendalltau

    rng = np.random.default_rng(9)
    strength = dict(zip("abcdefg", np.linspace(-1, 1, 7), strict=True))
    pairs = tournament(strength, 3000, rng)
    assert anchors(pairs) == tuple("abcdefg")
    swap = anchor_swap(pairs, ("a", "d", "g"))
    assert [(row.anchor_1, row.anchor_2) for row in swap.rows] == [
        ("a", "d"),
        ("a", "g"),
        ("d", "g"),
    ]
    for row in swap.rows:
        assert row.models == tuple(
            name for name in "abcdefg" if name not in (row.anchor_1, row.anchor_2)
        )
        elo_1, elo_2 = (
            {r.model: r.elo.value for r in board(pairs, anchor).rows}
            for anchor in (row.anchor_1, row.anchor_2)
        )
        shift = np.array([elo_2[m] - elo_1[m] for m in row.models])
        assert row.shifts == pytest.approx(shift - shift.mean())
        assert row.mean_abs_centred_shift == pytest.approx(np.abs(shift - shift.mean()).mean())
        expected = kendalltau(
            [elo_1[m] for m in row.models], [elo_2[m] for m in row.models]
        ).statistic
        assert row.kendall_tau == pytest.approx(expected, abs=1e-12)
        assert row.kendall_tau == 1
        assert row.mean_abs_centred_shift < 25
        gap = ELO_PER_NAT * (strength[row.anchor_1] - strength[row.anchor_2])
        assert row.mean_shift == pytest.approx(gap, abs=25)
    assert swap.to_frame()["models"].tolist() == [5, 5, 5]


@given(st.lists(st.tuples(scores, scores), min_size=2, max_size=7))
def test_kendall_tau_agrees_with_scipy_with_ties(
    models: list[tuple[list[float], list[float]]],
) -> None:
    from scipy.stats import kendalltau

    rows = {("x", "y"): {0: 1.0}}
    for i, (one, two) in enumerate(models):
        rows[f"m{i}", "x"] = dict(enumerate(one))
        rows[f"m{i}", "y"] = dict(enumerate(two))
    pairs = make(rows)
    found = anchor_swap(pairs, ("x", "y")).rows[0]
    elo = [{r.model: r.elo.value for r in board(pairs, anchor).rows} for anchor in ("x", "y")]
    one, two = ([e[m] for m in found.models] for e in elo)
    if len(set(one)) == 1 or len(set(two)) == 1:
        assert found.kendall_tau is None
    else:
        assert found.kendall_tau == pytest.approx(kendalltau(one, two).statistic, abs=1e-12)


def test_anchors_without_common_systems_say_none() -> None:
    pairs = make({("a", "b"): {0: 1.0}, ("c", "d"): {0: 1.0}})
    row = anchor_swap(pairs, ("a", "c")).rows[0]
    assert (row.kendall_tau, row.mean_abs_centred_shift, row.models) == (None, None, ())
    assert anchors(pairs) == ()
    assert anchors(pairs, minimum=1) == ("a", "b", "c", "d")
    with pytest.raises(UnknownName, match="nobody"):
        anchor_swap(pairs, ("a", "nobody"))
    with pytest.raises(InvalidOption, match="twice"):
        anchor_swap(pairs, ("a", "a"))
    with pytest.raises(InvalidOption, match="minimum"):
        anchors(pairs, minimum=0)


# ---- triangles


def test_a_planted_cycle_is_broken_and_the_rest_is_not() -> None:
    rng = np.random.default_rng(10)
    pairs = tournament(dict(zip("abcdef", np.linspace(-0.6, 0.6, 6), strict=True)), 400, rng)
    turned = (pairs.model_1 == 0) & (pairs.model_2 == 5)
    score = np.where(turned, rng.random(len(pairs)) < 0.8, pairs.score).astype(float)
    planted = PairScores(
        **{f: getattr(pairs, f) for f in ("models", "model_1", "model_2", "item", "n_votes")},
        score=score,
    )
    found = triangles(planted)
    assert len(found) == 20
    broken = {
        frozenset(t)
        for t, b in zip(zip(found.a, found.b, found.c, strict=True), found.broken, strict=True)
        if b
    }
    assert broken == {frozenset("af" + other) for other in "bcde"}
    assert np.abs(found.z[0]) == np.abs(found.z).max()
    assert not triangles(pairs).broken.any()


def test_triangle_by_the_formula() -> None:
    """Prompts missing from one pair count for its gap but not for z; no model has a special part in
    it.
    """
    rng = np.random.default_rng(11)
    scores = {
        pair: {i: float(rng.choice([0, 0.5, 1])) for i in range(start, 60)}
        for start, pair in zip((0, 5, 10), (("a", "b"), ("c", "b"), ("a", "c")), strict=True)
    }
    pairs = make(scores)
    found = triangles(pairs)
    assert (found.a, found.b, found.c, found.n.tolist()) == (("a",), ("b",), ("c",), [50])
    elo = {(m, x): r.elo.value for x in "abc" for r in board(pairs, x).rows for m in [r.model]}
    expected = elo["b", "c"] - (elo["b", "a"] + elo["a", "c"])
    assert found.residual[0] == pytest.approx(expected)
    common = make(
        {pair: {i: s for i, s in rows.items() if i >= 10} for pair, rows in scores.items()}
    )
    p = {(m, x): r.p.value for x in "abc" for r in board(common, x).rows for m in [r.model]}
    s = {pair: np.array(list(rows.values())) for pair, rows in scores.items()}
    s = {pair: values[-50:] for pair, values in s.items()}
    s |= {(two, one): 1 - values for (one, two), values in s.items()}
    r = sum(
        sign * ELO_PER_NAT * (s[m, x] - s[m, x].mean()) / (p[m, x] * (1 - p[m, x]))
        for sign, (m, x) in ((1, ("b", "c")), (-1, ("b", "a")), (-1, ("a", "c")))
    )
    residual = elo_of_p(p["b", "c"]) - elo_of_p(p["b", "a"]) - elo_of_p(p["a", "c"])
    assert found.residual_common[0] == pytest.approx(residual)
    assert found.z[0] == pytest.approx(residual * np.sqrt(50) / r.std(ddof=1))
    for names in permutations("abc"):
        renamed = make(
            {tuple(names["abc".index(m)] for m in pair): rows for pair, rows in scores.items()}
        )
        assert abs(triangles(renamed).z[0]) == pytest.approx(abs(found.z[0]))


def test_triangles_that_cannot_be_tested_are_not_numbers() -> None:
    apart = make({("a", "b"): {0: 1.0, 1: 0.0}, ("b", "c"): {2: 1.0}, ("a", "c"): {3: 1.0}})
    found = triangles(apart)
    assert found.n.tolist() == [0]
    assert np.isnan([found.z[0], found.residual_common[0], found.p_holm[0]]).all()
    assert not np.isnan(found.residual[0])
    assert not found.broken[0]
    none = triangles(make({("a", "b"): {0: 1.0}, ("b", "c"): {0: 1.0}}))
    assert len(none) == 0
    assert len(none.to_frame()) == 0


def additive(models: int, prompts: int, tie: float, step: float, rng) -> PairScores:
    """Strengths `step` logits apart; P(tie) = 2·tie·min(p, 1 − p)."""
    one, two = np.array(list(combinations(range(models), 2))).T
    p = 1 / (1 + np.exp(step * (one - two)))[:, None]
    half_tie, u = tie * np.minimum(p, 1 - p), rng.random((len(one), prompts))
    return PairScores(
        models=tuple(f"m{i}" for i in range(models)),
        model_1=one.repeat(prompts),
        model_2=two.repeat(prompts),
        item=np.tile(np.arange(prompts), len(one)),
        score=np.where(u < p - half_tie, 1.0, np.where(u < p + half_tie, 0.5, 0.0)).ravel(),
        n_votes=np.ones(len(one) * prompts, dtype=np.int64),
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("models", "prompts", "tie", "step"),
    [(3, 3, 0, 0), (3, 5, 0, 0), (6, 5, 0.2, 0.4), (8, 20, 0, 0.5), (3, 80, 0, 2)],
)
def test_models_that_add_up_are_not_said_to_be_broken(models, prompts, tie, step) -> None:
    """By a normal quantile of z alone some triangle is, in up to .37 of such sets."""
    rng = np.random.default_rng(18)
    alarms = [triangles(additive(models, prompts, tie, step, rng)).broken.any() for _ in range(200)]
    assert np.mean(alarms) <= 0.05


@pytest.mark.parametrize(("prompts", "p", "found_in"), [(40, 0.7, 0.95), (100, 0.6, 0.9)])
def test_a_circle_is_still_found_on_few_prompts(prompts, p, found_in) -> None:
    rng = np.random.default_rng(19)
    found = []
    for _ in range(100):
        pairs = additive(3, prompts, 0, 0, rng)
        # Of ab, ac and bc the second is seen from the other side.
        wins = rng.random((3, prompts)) < np.array([[p], [1 - p], [p]])
        found.append(triangles(replace(pairs, score=wins.ravel().astype(float))).broken[0])
    assert np.mean(found) >= found_in


@pytest.mark.thorough
def test_triangle_z_has_its_size() -> None:
    """4,000 additive triangles, half of the prompts deciding all three votes by one draw: 5 % ±
    1.5.
    """
    rng = np.random.default_rng(12)
    reps, prompts = 4000, 200
    strength = np.array([-0.5, 0.1, 0.6])
    legs = np.array(list(combinations(range(3), 2)))
    p = 1 / (1 + np.exp(strength[legs[:, 1]] - strength[legs[:, 0]]))
    u = rng.random((reps, 3, prompts))
    u[:, :, ::2] = u[:, :1, ::2]
    score = (u < p[:, None]).astype(float)
    z = [
        triangles(
            PairScores(
                models=("a", "b", "c"),
                model_1=legs[:, 0].repeat(prompts),
                model_2=legs[:, 1].repeat(prompts),
                item=np.tile(np.arange(prompts), 3),
                score=score[rep].reshape(-1),
                n_votes=np.ones(3 * prompts, dtype=int),
            )
        ).z[0]
        for rep in range(reps)
    ]
    assert 0.035 <= (np.abs(z) > 1.959964).mean() <= 0.065


# ---- real boards


def check_board_of_75_models(shared_data: Path) -> None:
    votes = pd.read_csv(shared_data / "votes" / "ko_arena_hard.csv.gz")
    pairs = from_votes(votes)
    found = board(pairs, "claude-3.7-sonnet", pool=1000)
    assert len(found.rows) == 75
    assert found.n_items == 500
    frame = found.to_frame()
    assert frame["n"].between(499, 500).all()
    assert (frame["elo_low"] < frame["elo"]).all()
    assert (frame["tier"].diff().dropna() >= 0).all()
    name = frame["model"].iloc[10]
    own = votes[votes["model_a"] == name]
    by_order = own.groupby(["item_id", "position"])["vote"].mean().groupby("item_id").mean()
    a, b = (by_order + 1).sum() / 2 + 0.5, (1 - by_order).sum() / 2 + 0.5
    assert frame["p"].iloc[10] == pytest.approx(a / (a + b), abs=1e-12)
    assert anchors(pairs) == ("claude-3.7-sonnet",)


def check_boards_of_eight_judges(shared_data: Path) -> None:
    """Items of this file name the model, so no two models share a prompt and tiers go by the
    unpaired z.
    """
    votes = pd.read_csv(shared_data / "votes" / "pba_position.csv.gz")
    for judge, own in votes.groupby("judge"):
        pairs = from_votes(own)
        found = board(pairs, "human")
        assert 1 + len(found.rows) + len(found.never_met) == len(pairs.models), judge
        frame = found.to_frame()
        assert (frame["wins"] + frame["ties"] + frame["losses"]).to_numpy() == pytest.approx(
            frame["n"]
        )
        assert (frame["se_p_corrected"] <= frame["se_p"]).all()
        assert 1 < frame["tier"].max() < len(frame), judge
        # Prompts in place of items: the same numbers, other tiers.
        own = own.assign(item_id=own["item_id"].str.rpartition("|")[0])
        paired = board(from_votes(own), "human").to_frame()
        assert paired["n"].tolist() == frame["n"].tolist()
        assert paired["p"].tolist() == pytest.approx(frame["p"].tolist())
