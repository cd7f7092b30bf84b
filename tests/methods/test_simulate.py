"""The simulator's planted truth comes back out of its votes by plain pandas, without our
methods.
"""

from __future__ import annotations

import gzip
import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from btd_counts import simulate_counts
from hypothesis import given, settings
from hypothesis import strategies as st
from places import REPOSITORY
from scipy import stats

from benchmarks.random_votes import as_reading, random_votes
from core.errors import InvalidOption
from core.schema import COLUMN_NAMES, STATUSES, VOTES
from core.simulate.votes import (
    DEMO_DATASET,
    Category,
    JudgeParameters,
    World,
    demo_world,
    matchups,
    simulate,
    tie_threshold,
    write_demo,
)

DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"
COMPARISON = ["item_id", "model_a", "model_b"]
ELO_PER_NAT = 400 / math.log(10)


@pytest.fixture(scope="module")
def demo() -> pd.DataFrame:
    return pd.read_csv(DEMO)


def expit(x):
    return 1 / (1 + np.exp(-np.asarray(x, dtype=float)))


def logit(p):
    return np.log(p) - np.log1p(-p)


def one_judge(
    judge: JudgeParameters, *, items: int, tie: float = 0.5, difference: float = 0.5, seed: int = 1
):
    """Votes of one judge in a world of two models."""
    world = World(
        dataset="two models",
        strengths=(("strong", difference), ("weak", 0.0)),
        anchors=("weak",),
        judges=(judge,),
        categories=(Category(name="only", plus=(1 - tie) / 2, tie=tie, minus=(1 - tie) / 2),),
    )
    return world, simulate(world, items=items, rng=np.random.default_rng(seed)).to_pandas()


# Bytes and shape


def test_shipped_demo_is_what_the_simulator_writes(tmp_path):
    written = tmp_path / "again.csv.gz"
    assert write_demo(written) == 57_120
    assert gzip.decompress(written.read_bytes()) == gzip.decompress(DEMO.read_bytes())
    assert DEMO.stat().st_size < 600_000


def test_same_seed_same_bytes_other_seed_other_votes(tmp_path):
    paths = [tmp_path / name for name in ("a.csv.gz", "b.csv.gz", "c.csv.gz", "d.csv")]
    for path, seed in zip(paths, (3, 3, 4, 3), strict=True):
        write_demo(path, seed=seed, items=5)
    first, same, other, plain = (path.read_bytes() for path in paths)
    assert first == same
    assert first != other
    assert gzip.decompress(first) == plain
    assert first[4:8] == bytes(4), "gzip header holds a time stamp"


def test_demo_is_canonical_and_calls_itself_simulated(demo):
    assert [name for name in COLUMN_NAMES if name in demo.columns] == list(demo.columns)
    assert set(demo.dataset) == {DEMO_DATASET}
    for column in ("item_id", "model_a", "model_b", "judge"):
        assert demo[column].str.startswith("sim-").all()
    assert demo.prompt.str.contains("Simulated").all()
    assert not demo.duplicated([*COMPARISON, "judge", "run", "position"]).any()
    assert (demo.model_a != demo.model_b).all()
    assert (demo.response_a.str.len() == demo.length_a).all()
    assert (demo.response_b.str.len() == demo.length_b).all()
    assert demo.confidence.dropna().between(0, 1).all()


def test_demo_has_twelve_votes_in_both_orders_and_three_people(demo):
    judges = demo[demo.rater_type == "llm"].groupby("judge")
    assert len(judges) == 4
    for _, votes in judges:
        per_comparison = votes.groupby(COMPARISON)
        assert (per_comparison.size() == 12).all()
        assert set(votes.run) == set(range(6))
        assert (per_comparison.position.agg(lambda x: (x == "ab").sum()) == 6).all()
    people = demo[demo.rater_type == "human"]
    assert people.judge.nunique() == 3
    assert people.confidence.isna().all()
    assert people.groupby([*COMPARISON, "judge"]).size().eq(1).all()


def test_demo_meetings(demo):
    met = {
        frozenset(pair)
        for pair in demo[["model_a", "model_b"]].drop_duplicates().itertuples(index=False)
    }
    world = demo_world()
    assert len(world.strengths) == 8
    for anchor in world.anchors:
        assert all(
            frozenset((anchor, model)) in met for model, _ in world.strengths if model != anchor
        )
    assert all(frozenset(pair) in met for pair in itertools.combinations(world.cycle, 2))
    assert len(met) == 6 * 2 + 1 + 3


def test_failed_calls_are_no_votes(demo):
    failed = demo.status != "ok"
    assert set(demo.status) == {"ok", "refused", "unparsed"} <= set(STATUSES)
    assert demo.vote[failed].isna().all()
    assert demo.confidence[failed].isna().all()
    assert demo.vote[~failed].isin((-1, 0, 1)).all()
    for judge in demo_world().judges:
        calls = failed[demo.judge == judge.name]
        assert stats.binomtest(int(calls.sum()), len(calls), judge.failure_share).pvalue > 1e-3


# What is planted in the model


def test_label_shares_are_those_of_the_published_table(golden):
    published = pd.read_csv(golden / "btd_label_distribution.csv").set_index("task")
    world = replace(demo_world(), judges=(JudgeParameters(name="one", runs=1, orders="random"),))
    votes = simulate(world, items=2000, rng=np.random.default_rng(5)).to_pandas()
    for category, rows in votes.groupby("category"):
        task = published.loc[f"RB2-{category}"]
        for label, column in ((1, "a"), (0, "tie"), (-1, "b")):
            per_item = (rows.gold == label).groupby(rows.item_id).mean()
            z = (per_item.mean() - task[column] / task.total) / per_item.sem()
            assert abs(z) < 4, (category, label)


@given(share=st.floats(0.02, 0.98))
@settings(max_examples=25, deadline=None)
def test_tie_threshold_gives_the_share(share):
    world = demo_world()
    c = tie_threshold(
        world, Category(name="any", plus=(1 - share) / 2, tie=share, minus=(1 - share) / 2)
    )
    d = np.array([difference for _, _, difference in matchups(world)])
    within = stats.logistic.cdf(c, loc=d) - stats.logistic.cdf(-c, loc=d)
    assert within.mean() == pytest.approx(share, abs=1e-12)


def test_gold_without_ties_is_bradley_terry():
    world = replace(
        demo_world(),
        categories=(Category(name="decided", plus=0.5, tie=0.0, minus=0.5),),
        judges=(JudgeParameters(name="one", runs=1, orders="random"),),
    )
    votes = simulate(world, items=4000, rng=np.random.default_rng(2)).to_pandas()
    for first, second, d in matchups(world):
        as_a = votes[(votes.model_a == first) & (votes.model_b == second)]
        as_b = votes[(votes.model_a == second) & (votes.model_b == first)]
        wins = int((as_a.gold == 1).sum() + (as_b.gold == -1).sum())
        assert stats.binomtest(wins, len(as_a) + len(as_b), float(expit(d))).pvalue > 1e-4, (
            first,
            second,
        )


def test_position_bias_and_tie_width_come_back_exactly():
    """Given x, logit P(+1) = λ(x − w) and −logit P(−1) = λ(x + w): their differences
    isolate both.
    """
    runs, strength, bias, width = 20_000, 1.0, 0.5, 0.8
    judge = JudgeParameters(
        name="one", discrimination=strength, tie_width=width, position_bias=bias, runs=runs
    )
    world, votes = one_judge(judge, items=8, difference=0.0)
    c = tie_threshold(world, world.categories[0])
    rates = votes.groupby(["item_id", "position"]).vote.agg(
        plus=lambda v: (v == 1).mean(), minus=lambda v: (v == -1).mean()
    )
    ab, ba = (rates.xs(position, level="position") for position in ("ab", "ba"))
    usable = (np.minimum(ab, ba).min(axis=1) > 0.05) & (np.maximum(ab, ba).max(axis=1) < 0.95)
    assert usable.sum() >= 3
    ab, ba = logit(ab[usable]), logit(ba[usable])
    error = 4 * math.sqrt(2 / (runs * 0.05 * 0.95))
    for found in (ab.plus - ba.plus, ba.minus - ab.minus):
        assert found.to_numpy() == pytest.approx(np.full(len(ab), 2 * strength * bias), abs=error)
    for found in (ab, ba):
        span = (-found.plus - found.minus).to_numpy()
        assert span == pytest.approx(np.full(len(ab), 2 * strength * width * c), abs=error)


def test_verbosity_comes_back_exactly():
    """Two judges that differ in verbosity only: their logits differ by λ·verbosity·ln(length
    ratio).
    """
    plain = JudgeParameters(
        name="plain", discrimination=1.0, idiosyncrasy=0.0, runs=40_000, tie_width=0.3
    )
    world, _ = one_judge(plain, items=1)
    world = replace(world, judges=(plain, replace(plain, name="wordy", verbosity=0.7)))
    votes = simulate(world, items=3, rng=np.random.default_rng(8)).to_pandas()
    ratio = np.log(votes.length_a / votes.length_b).groupby(votes.item_id).first()
    rate = votes.assign(plus=votes.vote == 1).pivot_table(
        index="item_id", columns="judge", values="plus"
    )
    assert ratio.abs().max() > 0.3
    assert rate.min().min() > 0.05
    assert rate.max().max() < 0.95
    error = 4 * math.sqrt(2 / (80_000 * 0.05))
    assert (logit(rate.wordy) - logit(rate.plain)).to_numpy() == pytest.approx(
        0.7 * ratio.to_numpy(), abs=error
    )


def test_idiosyncrasy_is_a_lasting_error():
    """Without noise between votes, repeats agree, yet the judge is wrong where its opinion crosses
    a line.
    """
    judge = JudgeParameters(name="one", discrimination=1e6, idiosyncrasy=0.5)
    _, votes = one_judge(judge, items=500)
    assert votes.groupby("item_id").vote.nunique().eq(1).all()
    assert 0.05 < (votes.vote != votes.gold).mean() < 0.5


@pytest.mark.parametrize(
    ("overconfidence", "slope"), [(0.0, 1.0), (1.5, 1.0), (2.0, 0.5), (-0.5, 1.2)]
)
def test_accuracy_by_stated_confidence_is_the_planted_curve(overconfidence, slope):
    judge = JudgeParameters(
        name="one",
        overconfidence=overconfidence,
        confidence_slope=slope,
        runs=20,
        position_bias=0.3,
    )
    _, votes = one_judge(judge, items=1500, seed=4)
    checked = 0
    for stated, rows in votes.groupby("confidence"):
        if len(rows) < 200 or not 0.05 <= stated <= 0.95:
            continue
        accuracy = (rows.vote == rows.gold).mean()
        # A stated .70 stands for .675 to .725; given the confidence, votes are right independently.
        low, high = expit(
            (logit(np.array([stated - 0.025, stated + 0.025])) - overconfidence) / slope
        )
        noise = 4.5 * math.sqrt(0.25 / len(rows))
        assert low - noise <= accuracy <= high + noise, stated
        checked += 1
    assert checked >= 5


# What is planted in the demo


def gap(votes: pd.DataFrame) -> float:
    return votes.confidence.mean() - (votes.vote == votes.gold).mean()


def test_demo_judges_have_their_planted_faults(demo):
    ok = demo[demo.status == "ok"]
    judges = {name.removeprefix("sim-judge-"): votes for name, votes in ok.groupby("judge")}
    tie = {name: (votes.vote == 0).mean() for name, votes in judges.items()}
    slot = {
        n: (v.vote * np.where(v.position == "ab", 1, -1)).pipe(lambda x: x[x != 0].mean())
        for n, v in judges.items()
    }
    gold_ties = (ok.drop_duplicates(COMPARISON).gold == 0).mean()
    assert abs(gold_ties - 0.5) < 0.03
    assert abs(tie["careful"] - gold_ties) < 0.01
    assert tie["decisive"] < 0.03
    assert slot["first-slot"] > 0.3
    assert all(abs(slot[name]) < 0.05 for name in ("careful", "decisive", "boaster"))
    assert abs(gap(judges["careful"])) < 0.005
    assert gap(judges["boaster"]) > 0.25
    accuracy = {name: (votes.vote == votes.gold).mean() for name, votes in judges.items()}
    assert max(accuracy, key=accuracy.get) == "careful"
    people = [accuracy[name] for name in accuracy if name.startswith("sim-person")]
    assert all(0.6 < value < 0.8 for value in people)


def prompt_scores(votes: pd.DataFrame, anchor: str) -> pd.DataFrame:
    """Mean score of each candidate against the anchor, items × candidates; within order, then
    across.
    """
    rows = votes[(votes.model_a == anchor) | (votes.model_b == anchor)]
    anchor_is_a = rows.model_a == anchor
    candidate = rows.model_b.where(anchor_is_a, rows.model_a).rename("candidate")
    score = (rows.vote.where(~anchor_is_a, -rows.vote) + 1) / 2
    by_order = (
        score.groupby([rows.item_id, candidate, rows.position]).mean().rename("score").reset_index()
    )
    return by_order.pivot_table(index="item_id", columns="candidate", values="score")


def inversions(order: list[str], truth: dict[str, float]) -> int:
    """Pairs in the wrong order: one for each swap of neighbours."""
    return sum(truth[one] < truth[two] for one, two in itertools.combinations(order, 2))


def test_each_anchor_recovers_the_planted_order(demo):
    ok = demo[demo.status == "ok"]
    truth = dict(demo_world().strengths)
    for _, votes in [("all", ok), *ok[ok.rater_type == "llm"].groupby("judge")]:
        for anchor in demo_world().anchors:
            board = prompt_scores(votes, anchor).mean().sort_values(ascending=False)
            assert len(board) == 7
            assert inversions(list(board.index), truth) <= 1


def residual_z(scores: dict[str, pd.DataFrame], a: str, b: str, c: str) -> tuple[float, float]:
    """Residual Δ(B,C) - Δ(B,A) - Δ(A,C) in Elo and its z over common prompts
    (docs/methods.md §6).
    """
    s = pd.concat([scores[c][b], scores[a][b], scores[c][a]], axis=1).dropna().to_numpy()
    p = (s.sum(axis=0) + 0.5) / (len(s) + 1)
    sign = np.array([1, -1, -1])
    residual = ELO_PER_NAT * (logit(p) * sign).sum()
    r = ELO_PER_NAT * ((s - s.mean(axis=0)) / (p * (1 - p)) * sign).sum(axis=1)
    return residual, residual * math.sqrt(len(s)) / r.std(ddof=1)


def test_the_cycle_is_the_triangle_that_does_not_add_up(demo):
    world = demo_world()
    ok = demo[demo.status == "ok"]
    models = [model for model, _ in world.strengths]
    met = {frozenset(pair[:2]) for pair in matchups(world)}
    edges = {frozenset(pair) for pair in itertools.combinations(world.cycle, 2)}
    triangles = [
        t
        for t in itertools.combinations(models, 3)
        if all(frozenset(e) in met for e in itertools.combinations(t, 2))
    ]
    assert len(triangles) == 13
    for _, votes in [("all", ok), *ok[ok.rater_type == "llm"].groupby("judge")]:
        scores = {model: prompt_scores(votes, model) for model in models}
        first, second, third = world.cycle
        assert (
            min(
                scores[second][first].mean(),
                scores[third][second].mean(),
                scores[first][third].mean(),
            )
            > 0.5
        )
        found = {t: residual_z(scores, *t) for t in triangles}
        planted = next(t for t in triangles if set(t) == set(world.cycle))
        assert max(found, key=lambda t: abs(found[t][0])) == planted
        assert max(found, key=lambda t: abs(found[t][1])) == planted
        assert abs(found[planted][1]) > 10
        for t, (residual, z) in found.items():
            bent = sum(frozenset(e) in edges for e in itertools.combinations(t, 2))
            if bent == 0:
                assert abs(z) < 3.5, t
            elif bent == 1:
                assert abs(residual) < 0.6 * abs(found[planted][0]), t


# Generators for tests and benchmarks


def test_simulated_counts_have_btd_gold():
    """Gold shares of the commonest cells against the formula, worked out by hand here."""
    counts = simulate_counts(
        beta=1.2,
        nu=3.0,
        gamma=0.8,
        comparisons=300_000,
        votes=4,
        comparisons_per_item=3,
        rng=np.random.default_rng(9),
    )
    assert (counts.plus + counts.tie + counts.minus == 4).all()
    assert len(np.unique(counts.item)) == 100_000
    cells = pd.crosstab(counts.plus * 100 + counts.tie * 10 + counts.minus, counts.gold)
    assert len(cells) == 15
    for code, observed in cells.iterrows():
        plus, tie, minus = (int(digit) for digit in f"{code:03d}")
        u = 1.2 * 0.5 * math.log((plus + 1) / (minus + 1))
        weight = np.array([math.exp(-u), 3.0 * ((tie + 1) / 5) ** 0.8, math.exp(u)])
        expected = weight / weight.sum() * observed.sum()
        assert stats.chisquare(observed[[-1, 0, 1]], expected).pvalue > 1e-4, (plus, tie, minus)


def test_random_votes_are_calibrated_and_balanced():
    votes = random_votes(
        120_000, judges=2, models=5, runs=3, rng=np.random.default_rng(3)
    ).to_pandas()
    assert len(votes) == 120_000
    assert not votes.duplicated([*COMPARISON, "judge", "run", "position"]).any()
    assert (votes.model_a != votes.model_b).all()
    shares = votes.drop_duplicates("item_id").gold.value_counts()
    assert (
        stats.chisquare(shares[[-1, 0, 1]], np.array([0.25, 0.5, 0.25]) * shares.sum()).pvalue
        > 1e-4
    )
    assert (votes.position == "ab").mean() == 0.5
    for confidence, rows in votes.groupby("confidence"):
        assert (
            stats.binomtest(int((rows.vote == rows.gold).sum()), len(rows), confidence).pvalue
            > 1e-4
        )


def test_a_reading_of_simulated_votes_has_the_schema_of_the_importers():
    table = random_votes(500, rng=np.random.default_rng(1))
    reading = as_reading(table, name="random")
    assert reading.votes.schema.equals(VOTES.schema())
    assert reading.votes.select(COLUMN_NAMES).equals(table)
    assert reading.votes["row"].to_pylist() == list(range(1, 501))
    other = as_reading(random_votes(500, rng=np.random.default_rng(2)), name="random")
    assert reading.sha256 == as_reading(table, name="random").sha256 != other.sha256


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("demo.xlsx", {}, "demo.xlsx"),
        ("demo.csv", {"items": 0}, "0 items"),
        ("demo.csv", {"seed": -1}, "--seed -1"),
    ],
)
def test_what_cannot_be_written_is_named(tmp_path, name, options, words):
    with pytest.raises(InvalidOption, match=words):
        write_demo(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_worlds_without_sense_are_refused():
    world = demo_world()
    with pytest.raises(InvalidOption, match="'nobody' has no strength"):
        matchups(replace(world, anchors=("nobody",)))
    with pytest.raises(InvalidOption, match="0 matchups"):
        simulate(replace(world, anchors=(), cycle=()), items=2, rng=np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="0 votes"):
        random_votes(0, rng=np.random.default_rng(0))


# The same through the product: file → importer → store → counts → methods


@pytest.fixture(scope="module")
def loaded():
    from core.importers import read
    from core.store import Store

    (reading,) = read([(DEMO.name, DEMO)])
    assert reading.rejects.num_rows == 0
    assert reading.duplicates == 0
    assert reading.votes.num_rows == 57_120
    with Store.open() as store:
        assert store.load(reading, simulated=True).loaded == 57_120
        yield store


@pytest.mark.thorough
def test_demo_file_loads_as_what_was_simulated():
    from core.importers import read

    (reading,) = read([(DEMO.name, DEMO)])
    drawn = simulate(demo_world(), items=70, rng=np.random.default_rng(0))
    for name in COLUMN_NAMES:
        assert reading.votes[name].to_pylist() == drawn[name].to_pylist(), name


@pytest.mark.thorough
def test_boards_of_the_product_recover_the_planted_order(loaded, demo):
    from core.questions.boards.anchored import board
    from core.schema import Selection
    from core.store.vote_queries import pair_scores

    truth = dict(demo_world().strengths)
    llm = tuple(judge.name for judge in demo_world().judges if judge.rater_type == "llm")
    for judge, pairs in pair_scores(loaded, Selection(judges=llm), pooled=True).items():
        rows = demo[
            (demo.status == "ok") & (demo.judge.isin(llm) if judge is None else demo.judge == judge)
        ]
        for anchor in demo_world().anchors:
            result = board(pairs, anchor)
            assert inversions([row.model for row in result.rows], truth) <= 1
            plain = prompt_scores(rows, anchor)
            for row in result.rows:
                assert row.n == 70
                assert row.p.value == pytest.approx((plain[row.model].sum() + 0.5) / 71, abs=1e-12)


def test_anchor_swap_of_the_product_flags_the_cycle_first(loaded):
    from core.questions.boards.anchors import triangles
    from core.schema import Selection
    from core.store.vote_queries import pair_scores

    pairs = pair_scores(loaded, Selection(), pooled=True)[None]
    found = triangles(pairs)
    world = demo_world()
    edges = {frozenset(pair) for pair in itertools.combinations(world.cycle, 2)}
    assert len(found) == 13
    assert {found.a[0], found.b[0], found.c[0]} == set(world.cycle)
    assert found.broken[0]
    for a, b, c, broken in zip(found.a, found.b, found.c, found.broken, strict=True):
        bent = any(frozenset(pair) in edges for pair in itertools.combinations((a, b, c), 2))
        assert broken == bent, (a, b, c)


def test_position_verdict_finds_the_biased_judge_and_not_the_careful_one(loaded):
    from evidence_of import result

    from core.schema import Selection
    from core.store.vote_queries import positions

    counts = positions(loaded, Selection())
    biased = result("position", positions=counts["sim-judge-first-slot"])
    assert biased.grade == "fail"
    assert biased.sentence.startswith("The response shown first gains")
    assert result("position", positions=counts["sim-judge-careful"]).grade == "ok"
    assert result("position", positions=counts["sim-person-1"]).grade == "unknown"


def test_calibration_of_the_product_finds_the_boaster_and_clears_the_careful_judge(loaded):
    from core.questions.confidence.calibration_error import calibration, noise_floor
    from core.schema import Selection
    from core.store.vote_queries import outcomes

    found = outcomes(loaded, Selection())
    careful, boaster = (
        found[f"sim-judge-{name}"].with_confidence() for name in ("careful", "boaster")
    )
    assert calibration(boaster).ece > 0.25
    assert calibration(careful).ece < noise_floor(careful, rng=np.random.default_rng(0)).ece.high


def test_btd_fit_recovers_the_parameters_of_simulated_counts():
    from core.questions.labels.btd import fit

    counts = simulate_counts(
        beta=1.2, nu=3.0, gamma=0.8, comparisons=200_000, votes=12, rng=np.random.default_rng(6)
    )
    found = fit(counts.cells()[0])
    assert found.beta == pytest.approx(1.2, abs=0.03)
    assert math.log(found.nu) == pytest.approx(math.log(3.0), abs=0.06)
    assert found.gamma == pytest.approx(0.8, abs=0.06)
