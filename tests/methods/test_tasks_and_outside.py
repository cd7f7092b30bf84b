"""Boards by category against a published meta-analysis and simulation; outside boards, hostile or
real.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import first_of
from scipy.stats import kendalltau, spearmanr

from core.errors import InvalidOption, NoUsableVotes, UnreadableFile
from core.questions.boards.anchored import ELO_PER_NAT, board
from core.questions.boards.check_words import outside
from core.questions.boards.robustness import between_tasks, heterogeneity
from core.questions.boards.standings import (
    _kendalls,
    _spearmans,
    compare_outside,
    rank_agreement,
    read_outside,
)
from core.records import PairScores

BCG = (
    (4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761),
    (180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232),
    (17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825),
)  # fmt: skip


def star(scores: dict[str, np.ndarray]) -> PairScores:
    models = (*sorted(scores), "ref")
    rows = [(k, i, s) for k, name in enumerate(models[:-1]) for i, s in enumerate(scores[name])]
    code, item, score = np.array(rows, dtype=float).reshape(-1, 3).T
    return PairScores(
        models=models,
        model_1=code.astype(int),
        model_2=np.full(len(rows), len(models) - 1),
        item=item.astype(int),
        score=score,
        n_votes=np.ones(len(rows), dtype=int),
    )


# ---- between tasks


def test_der_simonian_and_laird_on_the_bcg_trials():
    """Thirteen vaccine trials, log relative risks (Berkey 1995; metafor's dat.bcg): Q 152.23, I²
    92.12 %, τ² 0.3088 and mean −0.7141 by DL, Q-profile interval of τ² 0.1197 to 1.1115."""
    a, b, c, d = np.array(BCG, dtype=float).T
    y = np.log(a / (a + b)) - np.log(c / (c + d))
    v = 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
    found = heterogeneity(y, v)
    assert found.q == pytest.approx(152.2330, abs=5e-5)
    assert found.i2 == pytest.approx(0.9212, abs=5e-5)
    assert found.tau2.value == pytest.approx(0.3088, abs=5e-5)
    assert found.mean.value == pytest.approx(-0.7141, abs=5e-5)
    assert found.tau2.low == pytest.approx(0.1197, abs=5e-5)
    assert found.tau2.high == pytest.approx(1.1115, abs=5e-5)
    assert found.p_value < 1e-20


@pytest.mark.thorough
@pytest.mark.parametrize("tau", [0.0, 50.0])
def test_the_variance_between_tasks_is_recovered_and_intervals_cover(tau):
    rng = np.random.default_rng(7)
    covered = profiled = 0
    estimates = []
    repeats = 1_500
    for _ in range(repeats):
        v = rng.uniform(20, 60, 10) ** 2
        y = 100 + tau * rng.standard_normal(10) + np.sqrt(v) * rng.standard_normal(10)
        found = heterogeneity(y, v)
        estimates.append(found.tau2.value)
        covered += found.mean.low <= 100 <= found.mean.high
        profiled += found.tau2.low <= tau**2 <= found.tau2.high
    assert 0.935 <= covered / repeats <= 1
    # At τ = 0 the lower end is 0 in 97.5 % of draws: the interval is one-sided there. Nor is a τ
    # missed from above that chance alone could hide.
    assert 0.96 <= profiled / repeats <= 0.99
    if tau:
        assert np.mean(estimates) == pytest.approx(tau**2, rel=0.06)
    assert min(estimates) == 0


@pytest.mark.parametrize(("tasks", "prompts"), first_of((2, 10), (2, 30), (4, 20)))
def test_tasks_that_look_alike_by_chance_are_not_known_to_be_alike(tasks, prompts):
    """True SD 100: the plain Q-profile interval is 0 to 0 for one model in six with two tasks of
    ten.
    """
    rng, held, points = np.random.default_rng(8), 0, 0
    for _ in range(300):
        p = 1 / (1 + np.exp(-(60 + 100 * rng.standard_normal(tasks)) / ELO_PER_NAT))
        by_task = {
            f"t{k}": star({"m": (rng.random(prompts) < share).astype(float)})
            for k, share in enumerate(p)
        }
        (row,) = between_tasks(by_task, "ref").rows
        held += row.tau.low <= 100 <= row.tau.high
        points += row.tau.high < 1
    assert points == 0
    assert held / 300 >= 0.94


def test_equal_tasks_have_no_variance_between_them_and_the_mean_of_each():
    rng = np.random.default_rng(0)
    pairs = star({name: rng.choice([0, 0.5, 1], 50) for name in "abc"})
    found = between_tasks({"x": pairs, "y": pairs, "z": pairs}, "ref")
    elo = {row.model: row.elo.value for row in board(pairs, "ref").rows}
    for row in found.rows:
        assert (row.tau2, row.q, row.i2, row.tau.low) == (0, pytest.approx(0, abs=1e-20), 0, 0)
        assert row.mean.value == pytest.approx(elo[row.model])
        assert (row.n_tasks, row.prompts) == (3, 150)
    assert [row.model for row in found.rows] == [row.model for row in board(pairs, "ref").rows]


def test_one_task_tells_no_variance_and_tasks_without_the_anchor_are_named():
    rng = np.random.default_rng(1)
    pairs = star({"a": rng.choice([0.0, 1.0], 30)})
    other = PairScores(models=("a", "b"), model_1=np.array([0]), model_2=np.array([1]), item=np.array([0]),
                       score=np.array([1.0]), n_votes=np.array([1]))  # fmt: skip
    found = between_tasks({"x": pairs, "empty": other}, "ref")
    assert found.left_out == ("empty",)
    (row,) = found.rows
    assert (row.n_tasks, row.tau, row.mean.has_interval, row.p_value) == (1, None, False, None)
    assert row.mean.value == board(pairs, "ref").rows[0].elo.value
    with pytest.raises(NoUsableVotes):
        between_tasks({"empty": other}, "ref")


def test_a_model_that_is_good_at_one_task_alone_stands_out():
    rng = np.random.default_rng(2)
    tasks = {
        f"t{k}": star(
            {
                "even": (rng.random(150) < 0.6).astype(float),
                "patchy": (rng.random(150) < (0.9 if k == 0 else 0.4)).astype(float),
            }
        )
        for k in range(5)
    }
    found = {row.model: row for row in between_tasks(tasks, "ref").rows}
    assert found["patchy"].tau.value > 100
    assert found["patchy"].p_value < 1e-6
    assert found["patchy"].tau.low > 50
    assert found["even"].p_value > 0.01


# ---- outside boards


def written(rows: dict[str, object], head: str = "model,score") -> bytes:
    return (head + "\n" + "".join(f"{name},{score}\n" for name, score in rows.items())).encode()


def test_a_leaderboard_in_the_form_of_arena_hard_is_read(native: Path):
    path = native / "arenahard" / "tiny_arena_leaderboard.csv"
    found = read_outside(path.read_bytes(), name=path.name)
    assert len(found.models) == 6
    assert (found.models[0], found.score[0], found.scale) == ("model-a", 82.63, "percent")
    assert found.ignored == ("rating_q025", "rating_q975", "ci", "avg_tokens", "date")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "names: nothing"),
        (b"name,score\na,1\nb,2\n", "one column 'model', and it names: name, score"),
        (b"model,score,Score\na,1,1\nb,2,2\n", "one column 'score'"),
        (b"model,score\na,1\nb,good\n", "row 3: score 'good' is not a finite number"),
        (b"model,score\na,1\nb,inf\n", "row 3: score 'inf'"),
        (b"model,score\na,1\nb,\n", "row 3: score ''"),
        (b"model,score\na,1\n,2\n", "row 3: no model"),
        (b"model,score\na,1\na,2\n", "row 3: model 'a' a second time"),
        (b"model,score\na,1\nb\n", "row 3: 1 cells under 2 columns"),
        (b"model,score\na,1\n", "1 models; a leaderboard has 2"),
        (b"model,score\n\xff,1\n", "byte 12 is not UTF-8"),
        (b'model,score\n"a,1\n', "not a CSV file"),
        (b"x" * 5_000_001, "at most 5,000,000"),
    ],
)
def test_what_cannot_be_read_is_named(content, said):
    with pytest.raises(UnreadableFile) as error:
        read_outside(content, name="board.csv")
    assert str(error.value).startswith("board.csv")
    assert said in str(error.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_named(content):
    try:
        found = read_outside(b"model,score\n" + content, name="x")
    except UnreadableFile:
        return
    assert len(set(found.models)) == len(found.models) >= 2
    assert np.isfinite(found.score).all()


@pytest.fixture(scope="module")
def here():
    rng = np.random.default_rng(3)
    return board(star({f"m{k:02d}": rng.choice([0, 0.5, 1], 60) for k in range(14)}), "ref")


@pytest.mark.parametrize("scale", ["elo", "percent", "share"])
def test_the_board_itself_is_a_perfect_partner_on_every_scale(here, scale):
    def score(elo: float) -> float:
        # Another anchor moves every Elo alike.
        p = 1 / (1 + np.exp(-(elo + 40) / ELO_PER_NAT))
        return {"elo": elo + 1040, "percent": 100 * p, "share": p}[scale]

    rows = {row.model: score(row.elo.value) for row in here.rows} | {"REF": score(0.0)}
    theirs = read_outside(written(rows), name="x")
    assert theirs.scale == scale
    found = compare_outside(here, theirs, rng=np.random.default_rng(0))
    assert found.kendall.value == pytest.approx(1)
    assert found.spearman.value == pytest.approx(1)
    assert found.mean_abs_elo == pytest.approx(0, abs=1e-9)
    assert found.mean_abs_p == pytest.approx(0, abs=1e-12)
    assert (found.jaccard, found.only_here, found.only_outside) == (1, (), ())
    assert len(found.models) == 15
    reversed_ = {name: -value for name, value in rows.items()}
    turned = compare_outside(
        here, read_outside(written(reversed_), name="x"), rng=np.random.default_rng(0)
    )
    assert turned.kendall.value == pytest.approx(-1)


def test_numbers_against_plain_ones_and_names_without_a_partner(here):
    rng = np.random.default_rng(1)
    rows = {row.model: row.elo.value + 80 * rng.standard_normal() for row in here.rows[2:]} | {
        "other": 3.0,
        "M01": 1.0,
    }
    found = compare_outside(here, read_outside(written(rows), name="x"), rng=rng)
    matched = [row for row in here.rows if row.model in rows]
    x, y = (
        np.array([row.elo.value for row in matched]),
        np.array([rows[row.model] for row in matched]),
    )
    assert found.kendall.value == pytest.approx(kendalltau(x, y).statistic)
    assert found.spearman.value == pytest.approx(spearmanr(x, y).statistic)
    assert found.kendall.low < found.kendall.value < found.kendall.high
    d = (y - y.mean()) - (x - x.mean())
    assert found.mean_abs_elo == pytest.approx(np.abs(d).mean())
    tops = [{matched[i].model for i in np.argsort(-values)[:10]} for values in (x, y)]
    assert found.jaccard == len(tops[0] & tops[1]) / len(tops[0] | tops[1])
    left = {row.model for row in here.rows[:2]}
    assert set(found.only_here) == {"ref", *left} - ({"m01"} if "m01" in left else set())
    assert "other" in found.only_outside


def test_few_models_and_perfect_orders_have_no_interval_of_their_agreement():
    rng, above = np.random.default_rng(3), {3: 0, 5: 0, 6: 0, 12: 0}
    for models in above:
        for _ in range(100):
            found = rank_agreement(
                rng.random(models), rng.random(models), rng=rng, level=0.95, resamples=300
            )
            assert models >= 6 or not any(one.has_interval for one in found)
            above[models] += any(one.low > 0 for one in found)
    # Unrelated boards lie wholly above 0 in one case of forty.
    assert max(above.values()) <= 6
    order = np.arange(9.0)
    for other in (order, -order):
        tau, rho = rank_agreement(order, other, rng=rng, level=0.95, resamples=300)
        assert abs(tau.value) == pytest.approx(1)
        assert not tau.has_interval
        assert not rho.has_interval


def test_a_missing_interval_of_an_order_is_explained(here):
    rows = {row.model: row.elo.value for row in here.rows}
    same = compare_outside(
        here, read_outside(written(rows), name="x"), rng=np.random.default_rng(0)
    )
    assert "Kendall τ is 1.00 (no interval: a perfect order" in outside(same)
    few = compare_outside(
        here,
        read_outside(written(dict(list(rows.items())[:4])), name="x"),
        rng=np.random.default_rng(0),
    )
    assert "(no interval: it needs 6 models)" in outside(few)


def test_resampled_rank_correlations_are_those_of_the_resample():
    rng = np.random.default_rng(2)
    one, two = rng.integers(0, 6, 12).astype(float), rng.standard_normal(12)
    drawn = rng.multinomial(12, np.full(12, 1 / 12), size=20)
    tau, rho = _kendalls(one, two, drawn), _spearmans(one, two, drawn)
    for k, times in enumerate(drawn):
        x, y = np.repeat(one, times), np.repeat(two, times)
        assert tau[k] == pytest.approx(kendalltau(x, y).statistic)
        assert rho[k] == pytest.approx(spearmanr(x, y).statistic)


def test_scales_that_cannot_be_and_scores_without_an_elo(here):
    rows = {row.model: row.elo.value for row in here.rows}
    with pytest.raises(InvalidOption, match="no win rates"):
        compare_outside(
            here, read_outside(written(rows), name="x"), rng=np.random.default_rng(0), scale="share"
        )
    certain = {row.model: k / 13 for k, row in enumerate(reversed(here.rows))}
    found = compare_outside(
        here, read_outside(written(certain), name="x"), rng=np.random.default_rng(0)
    )
    assert np.isnan(found.outside_elo).sum() == 2
    # Two models of the board are tied, and the file ranks them.
    assert 0.95 < found.kendall.value < 1
    assert found.mean_abs_elo > 0
    few = compare_outside(
        here, read_outside(written({"m00": 1, "zz": 2}), name="x"), rng=np.random.default_rng(0)
    )
    assert (few.models, few.kendall, few.jaccard) == (("m00",), None, None)
    assert few.mean_abs_elo == 0
    none = compare_outside(
        here, read_outside(written({"y": 1, "zz": 2}), name="x"), rng=np.random.default_rng(0)
    )
    assert (none.models, none.mean_abs_elo, none.mean_abs_p) == ((), None, None)


def test_names_alike_but_for_case_are_matched_only_if_alone():
    pairs = star({"Model": np.ones(4), "model": np.zeros(4), "solo": np.ones(4)})
    theirs = read_outside(written({"MODEL": 1, "SOLO": 2, "model": 3}), name="x")
    found = compare_outside(board(pairs, "ref"), theirs, rng=np.random.default_rng(0))
    partner = dict(zip(found.models, found.outside_score.tolist(), strict=True))
    assert partner == {"model": 3, "Model": 1, "solo": 2}
    twice = compare_outside(
        board(star({"Ab": np.ones(4), "aB": np.zeros(4)}), "ref"),
        read_outside(written({"AB": 1, "ref": 2}), name="x"),
        rng=np.random.default_rng(0),
    )
    assert twice.models == ("ref",)
