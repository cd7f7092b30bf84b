"""Pooled judges, screening, abstention: laws, simulations with known correlation, the demo through
SQL.
"""

import numpy as np
import pytest
from places import REPOSITORY

from core.errors import InvalidOption, NoUsableVotes
from core.questions.agreement.reliability import icc
from core.questions.boards.anchored import board
from core.questions.boards.ask import pair_doubts
from core.questions.boards.judges import mean_of_judges, pooling, predicted_variance, screening
from core.questions.boards.robustness import RULES, abstention, changes
from core.records import PairDoubt, PairScores, RatingTable
from core.schema import Selection
from core.store import Store
from core.store.vote_queries import pair_scores, ratings

DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"
ANCHOR = "sim-anchor-one"


def star(scores: np.ndarray, items: np.ndarray | None = None) -> PairScores:
    """Scores (models, prompts) of m000, m001 … against `ref`."""
    models, prompts = scores.shape
    names = (*(f"m{k:03d}" for k in range(models)), "ref")
    code = np.repeat(np.arange(models), prompts)
    return PairScores(
        models=names,
        model_1=code,
        model_2=np.full(len(code), models),
        item=np.tile(np.arange(prompts) if items is None else items, models),
        score=scores.reshape(-1),
        n_votes=np.ones(len(code), dtype=int),
    )


def rows(pairs: PairScores, keep: np.ndarray) -> PairScores:
    names = ("model_1", "model_2", "item", "score", "n_votes")
    return PairScores(models=pairs.models, **{name: getattr(pairs, name)[keep] for name in names})


def correlated(
    rho: float, *, judges: int, models: int, prompts: int, seed: int
) -> dict[str, PairScores]:
    """Judges whose prompt scores have SD .25 and correlation ρ; models are independent
    replicates.
    """
    rng = np.random.default_rng(seed)
    common = rng.choice([-1.0, 1.0], (models, prompts))
    own = rng.choice([-1.0, 1.0], (judges, models, prompts))
    scores = 0.5 + 0.25 * (np.sqrt(rho) * common + np.sqrt(1 - rho) * own)
    return {f"j{k}": star(scores[k]) for k in range(judges)}


@pytest.fixture(scope="module")
def demo():
    from core.importers import read

    with Store.open() as store:
        for reading in read([(DEMO.name, DEMO)]):
            store.load(reading)
        scores = pair_scores(store, Selection())
        repeats = {
            name: icc(table)
            for name, table in ratings(store, Selection(), anchors=(ANCHOR,)).items()
        }
        return scores, repeats, pair_doubts(store, Selection())


# ---- pooling


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_judges_without_any_variance_are_taken_to_err_together(score):
    """Copies of a judge that always says the same know no more than it; other prompts are news."""
    one = star(np.full((1, 10), score))
    (alone,) = mean_of_judges({"a": one}, "ref").rows
    (copies,) = mean_of_judges(dict.fromkeys("abcde", one), "ref").rows
    assert copies.se_elo == pytest.approx(alone.se_elo)
    elsewhere = star(np.full((1, 10), score), items=np.arange(10, 20))
    (apart,) = mean_of_judges({"a": one, "b": elsewhere}, "ref").rows
    assert apart.se_elo == pytest.approx(alone.se_elo / np.sqrt(2))


def test_no_variance_is_below_zero():
    """Judges that contradict each other always, and repeats that correlate below 0."""
    scores = np.random.default_rng(0).choice([0.0, 0.5, 1.0], (4, 30))
    judged = {"a": star(scores), "b": star(1 - scores)}
    assert all(row.se_elo >= 0 for row in mean_of_judges(judged, "ref").rows)
    found = pooling(judged, "ref", rng=np.random.default_rng(0), icc={"a": -3.0, "b": None})
    assert found.rho == pytest.approx(-1)
    last = found.sizes[-1]
    assert (last.observed.value, last.predicted, last.predicted_runs) == pytest.approx(
        (0, 0, 0), abs=1e-9
    )
    assert min(last.observed.value, last.observed.low, last.predicted, last.predicted_runs) >= 0


def test_one_judge_is_its_own_mean(demo):
    scores, _, _ = demo
    alone = mean_of_judges({"x": scores["sim-judge-careful"]}, ANCHOR)
    own = board(scores["sim-judge-careful"], ANCHOR).rows
    assert [row.model for row in alone.rows] == [row.model for row in own]
    for one, row in zip(alone.rows, own, strict=True):
        assert one.elo.value == pytest.approx(row.elo.value)
        assert one.se_elo == pytest.approx(row.se_elo_corrected)
        assert (one.sd_judges, one.n_judges, one.prompts) == (None, 1, row.n)


def test_twins_pool_to_one_and_order_of_judges_does_not_matter(demo):
    scores, _, _ = demo
    one = scores["sim-judge-decisive"]
    twins, alone = mean_of_judges({"a": one, "b": one}, ANCHOR), mean_of_judges({"a": one}, ANCHOR)
    assert [row.se_elo for row in twins.rows] == pytest.approx([row.se_elo for row in alone.rows])
    assert [row.sd_judges for row in twins.rows] == [0.0] * len(twins.rows)
    turned = mean_of_judges(dict(reversed(scores.items())), ANCHOR)
    assert [row.elo.value for row in turned.rows] == pytest.approx(
        [r.elo.value for r in mean_of_judges(scores, ANCHOR).rows]
    )


def test_mean_is_over_the_judges_that_rated_a_model():
    rng = np.random.default_rng(0)
    scores = rng.choice([0, 0.5, 1], (2, 3, 30))
    one, two = star(scores[0]), star(scores[1])
    keep = two.model_1 != 1
    two = rows(two, keep)
    found = {row.model: row for row in mean_of_judges({"a": one, "b": two}, "ref").rows}
    assert (found["m001"].n_judges, found["m000"].n_judges) == (1, 2)
    alone = {row.model: row for row in board(one, "ref").rows}
    assert found["m001"].elo.value == pytest.approx(alone["m001"].elo.value)
    assert found["m001"].se_elo == pytest.approx(alone["m001"].se_elo_corrected)


def test_judges_on_different_prompts_err_independently():
    rng = np.random.default_rng(1)
    scores = rng.choice([0.0, 1.0], (2, 1, 50))
    found = mean_of_judges(
        {"a": star(scores[0]), "b": star(scores[1], np.arange(100, 150))}, "ref"
    ).rows[0]
    errors = [board(star(s), "ref").rows[0].se_elo_corrected for s in scores]
    assert found.se_elo == pytest.approx(np.hypot(*errors) / 2)
    assert found.prompts == 100


@pytest.mark.thorough
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8])
def test_the_variance_formula_holds_with_known_correlation(rho):
    """800 replicates of 5 judges on 150 prompts: what the formula predicts is what the pooled Elo
    does.
    """
    judged = correlated(rho, judges=5, models=800, prompts=150, seed=3)
    found = pooling(judged, "ref", rng=np.random.default_rng(0))
    assert found.rho == pytest.approx(rho, abs=0.01)
    gaps = np.array([[row.elo.value for row in sorted(board(one, "ref").rows, key=lambda r: r.model)]
                     for one in judged.values()])  # fmt: skip
    for size in found.sizes:
        truth = gaps[: size.size].mean(axis=0).var(ddof=1)
        # A variance of 800 draws has an SE of 5 %.
        assert size.observed.value == pytest.approx(
            predicted_variance(found.sigma2, found.rho, size.size), rel=0.02
        )
        assert truth / size.predicted == pytest.approx(1, abs=0.2)
    assert found.sizes[-1].juries == 1
    assert found.sizes[-1].between is None


def test_the_papers_rho_promises_less_than_pooling_gives():
    judged = correlated(0.3, judges=4, models=20, prompts=100, seed=1)
    found = pooling(
        judged, "ref", rng=np.random.default_rng(0), icc={"j0": 0.9, "j1": 0.8, "j2": None}
    )
    assert found.rho_runs == pytest.approx(0.85)
    last = found.sizes[-1]
    assert last.predicted_runs == pytest.approx(found.sigma2 * (0.85 + 0.15 / 4))
    assert last.predicted < last.predicted_runs
    assert abs(last.observed.value - last.predicted) < abs(
        last.observed.value - last.predicted_runs
    )


def test_many_judges_are_sampled_and_refusals_say_why():
    judged = correlated(0.5, judges=12, models=3, prompts=40, seed=2)
    found = pooling(judged, "ref", rng=np.random.default_rng(0), juries=50)
    assert [size.juries for size in found.sizes] == [12, *[50] * 9, 12, 1]
    with pytest.raises(NoUsableVotes, match="two judges"):
        pooling({"j0": judged["j0"]}, "ref", rng=np.random.default_rng(0))
    with pytest.raises(NoUsableVotes, match="'gone'"):
        mean_of_judges(judged, "gone")
    with pytest.raises(InvalidOption):
        pooling(judged, "ref", rng=np.random.default_rng(0), juries=1)


# ---- screening


def noisy(share: float, seed: int) -> RatingTable:
    """A judge that errs on this share of runs."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([-1.0, 0.0, 1.0], (80, 1))
    votes = np.where(rng.random((80, 4)) < share, rng.choice([-1.0, 0.0, 1.0], (80, 4)), truth)
    return RatingTable(item=np.arange(80), ratings=votes, orders="ab", oriented=True)


def test_screening_keeps_the_steady_judges_and_none_when_all_fall(demo):
    judged = correlated(0.4, judges=3, models=5, prompts=60, seed=0)
    repeats = {"j0": icc(noisy(0.05, 0)), "j1": icc(noisy(0.5, 1)), "j2": icc(noisy(0.9, 2))}
    assert screening(judged, "ref", icc=repeats, cuts=(-2,)).rows[1].judges == tuple(judged)
    found = screening(judged, "ref", icc=repeats, cuts=(-1, 0.5, 0.9, 1))
    assert [row.judges for row in found.rows] == [
        tuple(judged),
        tuple(judged),
        *(tuple(n for n in judged if repeats[n].icc_3_k.value >= cut) for cut in (0.5, 0.9, 1)),
    ]
    assert found.rows[0].width == found.rows[1].width
    assert found.rows[0].kendall == pytest.approx(1)
    assert found.rows[3].judges == ("j0",)
    assert found.rows[3].width > found.rows[0].width
    last = found.rows[-1]
    assert (last.judges, last.width, last.sd_judges, last.kendall, last.n_models) == (
        (),
        None,
        None,
        None,
        0,
    )
    scores, known, _ = demo
    real = screening(scores, ANCHOR, icc=known, cuts=(0.95,))
    assert real.unknown == ("sim-person-1", "sim-person-2", "sim-person-3")
    assert "sim-judge-boaster" not in real.rows[1].judges
    whole = mean_of_judges({name: scores[name] for name in real.rows[0].judges}, ANCHOR)
    assert real.rows[0].width == pytest.approx(
        np.mean([row.elo.high - row.elo.low for row in whole.rows])
    )
    with pytest.raises(NoUsableVotes, match="repeatedly"):
        screening(judged, "ref", icc={})
    with pytest.raises(InvalidOption):
        screening(judged, "ref", icc=repeats, cuts=(2,))


# ---- abstention


def test_doubts_of_the_demo_are_plain_means_and_deviations(demo):
    """SQL against a plain walk over the file's rows."""
    import csv
    import gzip
    import statistics

    scores, _, doubts = demo
    runs: dict[tuple, dict[int, list[float]]] = {}
    confident: dict[tuple, list[float]] = {}
    with gzip.open(DEMO, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["status"] != "ok" or row["judge"] != "sim-judge-first-slot":
                continue
            pair = tuple(sorted((row["model_a"], row["model_b"])))
            vote = int(row["vote"]) * (1 if row["model_a"] == pair[0] else -1)
            key = (*pair, row["item_id"])
            runs.setdefault(key, {}).setdefault(int(row["run"]), []).append(vote / 2)
            confident.setdefault(key, []).append(float(row["confidence"]))
    found = doubts["sim-judge-first-slot"]
    assert found.pairs.score.tolist() == scores["sim-judge-first-slot"].score.tolist()
    expected = {
        key: (
            statistics.stdev([sum(v) / 2 for v in by_run.values() if len(v) == 2]),
            statistics.fmean(confident[key]),
        )
        for key, by_run in runs.items()
    }
    pairs = found.pairs
    items = sorted({key[2] for key in runs})
    ours = {
        (pairs.models[a], pairs.models[b], items[i]): values
        for a, b, i, values in zip(
            pairs.model_1.tolist(), pairs.model_2.tolist(), pairs.item.tolist(),
            zip(found.run_sd.tolist(), found.confidence.tolist(), strict=True), strict=True,
        )
    }  # fmt: skip
    assert ours.keys() == expected.keys()
    assert [ours[key] for key in sorted(ours)] == [
        pytest.approx(expected[key]) for key in sorted(ours)
    ]
    # People vote once and state no confidence.
    assert np.isnan(doubts["sim-person-1"].run_sd).all()
    assert np.isnan(doubts["sim-person-1"].confidence).all()


def test_orders_are_never_taken_for_runs():
    from benchmarks.random_votes import as_reading
    from core.simulate.votes import coded_words, vote_table

    votes = [  # item, run, position, vote
        *(("both", run, "ab", 1) for run in range(2)), *(("both", run, "ba", -1) for run in range(2)),
        ("single", 0, "ab", 1), ("single", 1, "ba", -1),
        *(("mixed", run, "ab", vote) for run, vote in enumerate((1, 1, -1))), ("mixed", 3, "ba", -1),
    ]  # fmt: skip
    columns = list(zip(*votes, strict=True))
    zero = np.zeros(len(votes), dtype=int)
    table = vote_table(
        {
            "dataset": coded_words(["d"], zero), "item_id": list(columns[0]),
            "model_a": coded_words(["z"], zero),
            "model_b": coded_words(["ref"], zero), "judge": coded_words(["j"], zero),
            "run": np.array(columns[1]), "position": list(columns[2]), "vote": np.array(columns[3]),
            "rater_type": coded_words(["llm"], zero), "status": coded_words(["ok"], zero),
        }
    )  # fmt: skip
    with Store.open() as store:
        store.load(as_reading(table, name="x"))
        found = pair_doubts(store, Selection())["j"]
    # A judge that always takes the first is steady in both orders; one run an order tells nothing.
    by_item = dict(
        zip(("both", "mixed", "single"), found.run_sd[np.argsort(found.pairs.item)], strict=True)
    )
    assert by_item["both"] == 0
    assert np.isnan(by_item["single"])
    assert by_item["mixed"] == pytest.approx(np.std([1, 1, 0], ddof=1))


@pytest.mark.parametrize("rule", RULES)
def test_abstention_without_a_threshold_changes_nothing_and_strictness_only_drops(demo, rule):
    _, _, doubts = demo
    found = abstention(doubts, ANCHOR, rule=rule)
    first = found.rows[0]
    assert (first.threshold, first.coverage, first.delta_p, first.delta_elo, first.n) == (
        None,
        1,
        0,
        0,
        found.n,
    )
    assert first.kendall == pytest.approx(1)
    coverage = [row.coverage for row in found.rows]
    assert coverage == sorted(coverage, reverse=True)
    assert found.rows[-1].coverage < 1
    assert found.judges == tuple(name for name in doubts if "judge" in name)
    # Seven models met the anchor on 70 prompts under seven raters.
    assert found.n + found.n_unknown == 7 * 70 * 7
    mildest = {"run_sd": 1.0, "confidence": 0.0}[rule]
    (_, all_kept) = abstention(doubts, ANCHOR, rule=rule, thresholds=(mildest,)).rows
    assert (all_kept.coverage, all_kept.delta_p, all_kept.se_elo) == (1, 0, first.se_elo)


def test_abstention_against_boards_by_hand():
    rng = np.random.default_rng(4)
    pairs = star(rng.choice([0, 0.5, 1], (2, 40)))
    sd = rng.choice([0.0, 0.2, 0.4], len(pairs))
    doubts = {"j": PairDoubt(pairs=pairs, run_sd=sd, confidence=np.full(len(pairs), np.nan))}
    found = abstention(doubts, "ref", thresholds=(0.2,)).rows[1]
    keep = sd < 0.3
    left = rows(pairs, keep)
    before, after = ({row.model: row for row in board(x, "ref").rows} for x in (pairs, left))
    assert found.coverage == keep.mean()
    assert found.delta_p == pytest.approx(
        np.mean([abs(after[m].p.value - before[m].p.value) for m in before])
    )
    moved = [abs(after[m].elo.value - before[m].elo.value) for m in before]
    assert found.delta_elo == pytest.approx(np.mean(moved))
    assert found.cv is None
    told = {one.model: one for one in changes(doubts, "ref", threshold=0.2)}
    for model, code in (("m000", 0), ("m001", 1)):
        own = pairs.model_1 == code
        s, k = pairs.score[own], keep[own]
        assert told[model].delta.value == pytest.approx(s[k].mean() - s.mean())
        assert (told[model].n, told[model].kept) == (40, k.sum())
        assert told[model].delta.low < told[model].delta.value < told[model].delta.high
    nothing = changes(doubts, "ref", threshold=1.0)
    assert all(one.delta.value == 0 == one.delta.low for one in nothing)
    with pytest.raises(NoUsableVotes, match="confidence"):
        abstention(doubts, "ref", rule="confidence")
    with pytest.raises(InvalidOption):
        abstention(doubts, "ref", thresholds=(1.5,))
    with pytest.raises(InvalidOption):
        abstention(doubts, "ref", rule="whim")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("prompts", "kept", "p"), [(20, 3, 0.7), (10, 1, 0.5), (50, 5, 0.9), (10, 9, 0.5)]
)
def test_the_interval_of_a_change_covers_with_few_prompts_kept(prompts, kept, p):
    """Three kept prompts that were all won say little of others; without added prompts .08 to .69
    held.
    """
    rng = np.random.default_rng(6)
    pairs = star((rng.random((800, prompts)) < p).astype(float))
    doubt = np.tile(np.where(np.arange(prompts) < kept, 0.0, 0.5), 800)
    doubts = {"j": PairDoubt(pairs=pairs, run_sd=doubt, confidence=np.ones(len(pairs)))}
    found = changes(doubts, "ref", threshold=0.1)
    assert len(found) == 800
    assert np.mean([one.delta.low <= 0 <= one.delta.high for one in found]) >= 0.95
    assert all(-1 <= one.delta.low <= one.delta.value <= one.delta.high <= 1 for one in found)


def test_the_interval_of_a_change_covers():
    """Doubt unrelated to the score: dropping changes nothing in truth, 95 % intervals hold 0."""
    rng = np.random.default_rng(5)
    pairs = star(rng.choice([0.0, 0.5, 1.0], (600, 80)))
    doubts = {
        "j": PairDoubt(pairs=pairs, run_sd=rng.random(len(pairs)), confidence=np.ones(len(pairs)))
    }
    found = changes(doubts, "ref", threshold=0.6)
    held = np.mean([one.delta.low <= 0 <= one.delta.high for one in found])
    assert 0.92 <= held <= 0.98
