"""Rules compared on the same splits: labels, recommendations, maps and figures."""

from pathlib import Path

import numpy as np
import pytest
from one_by_one import weighed

from core.errors import UnknownName
from core.questions.labels.btd import apply, decision_map, fit
from core.questions.labels.evaluation import Evaluation, evaluate
from core.questions.labels.figure import (
    MOST_VOTES,
    decision_figure,
    errors_figure,
    pattern_key,
    share_key,
    shares_figure,
)
from core.questions.labels.rules import given_labels, label_shares, rule_labels
from core.questions.labels.words import FEW_VOTES, recommend
from core.records import NO_SIDE, VoteCounts, WeighedVotes
from core.schema import Selection
from core.stats.intervals import clustered_proportion
from core.stats.splits import splits
from core.store import Store
from core.store.vote_queries import vote_counts


def make(rows: list[tuple[int, int, int, int]], *, per_item: int = 1) -> VoteCounts:
    """Rows of (plus, tie, minus, gold)."""
    plus, tie, minus, gold = np.array(rows, dtype=np.int64).T
    code = np.arange(len(rows))
    return VoteCounts(
        comparison=code, item=code // per_item, plus=plus, tie=tie, minus=minus, gold=gold
    )


def random_counts(seed: int, n: int = 300, *, per_item: int = 1) -> VoteCounts:
    rng = np.random.default_rng(seed)
    gold = rng.integers(-1, 2, size=n)
    chance = np.where(np.arange(1, -2, -1) == gold[:, None], 0.6, 0.2)
    return make(
        [(*rng.multinomial(5, one), int(y)) for one, y in zip(chance, gold, strict=True)],
        per_item=per_item,
    )


def test_rule_labels_are_those_of_the_rules() -> None:
    counts = random_counts(1)
    fitted = fit(counts.cells()[0])
    assert (rule_labels("btd", counts, fitted) == apply(fitted, counts)).all()
    assert (rule_labels("majority", counts, fitted) == counts.label).all()
    constant = rule_labels("constant", counts, fitted)
    assert constant is not None
    error = {y: np.abs(y - counts.gold).mean() for y in (-1, 0, 1)}
    assert set(constant.tolist()) == {min(error, key=error.__getitem__)}
    threshold = rule_labels("threshold", counts, fitted)
    assert threshold is not None
    mean = np.abs(counts.plus - counts.minus) / 5
    assert mean[threshold != 0].min() > mean[threshold == 0].max()
    assert rule_labels("random", counts, fitted) is None
    assert rule_labels("longest", counts, fitted) is None
    with pytest.raises(UnknownName, match="no aggregator"):
        rule_labels("nothing", counts, fitted)


def votes_of(
    counts: VoteCounts, confidence: float, side: int = 1, without: int = 0
) -> WeighedVotes:
    """All votes state one confidence, but for the first few."""
    numbers = np.stack([counts.minus, counts.tie, counts.plus], axis=1)
    comparison = np.repeat(counts.comparison, numbers.sum(axis=1))
    vote = np.concatenate([np.repeat([-1, 0, 1], row) for row in numbers])
    stated = np.full(len(vote), confidence)
    stated[:without] = np.nan
    return weighed(comparison, vote, confidence=stated, side=np.full(len(vote), side))


def test_equal_confidences_make_ci_sc_majority() -> None:
    counts = random_counts(2)
    labels, reasons = given_labels(counts, votes_of(counts, 0.5))
    assert reasons == {}
    assert (labels["ci_sc"] == counts.label).all()
    assert (labels["longest"] == 1).all()


def test_rules_without_their_input_say_what_is_missing() -> None:
    counts = random_counts(3, 40)
    votes = votes_of(counts, 0.5, side=NO_SIDE, without=3)
    labels, reasons = given_labels(counts, votes)
    assert labels == {}
    assert reasons["ci_sc"] == "needs the confidence of each vote; 3 votes have none"
    assert reasons["longest"] == "needs the lengths of both answers; none is known"
    # Votes on comparisons that are not asked about do not matter.
    later = counts.rows(np.arange(len(counts)) >= 3)
    assert "ci_sc" in given_labels(later, votes)[0]


@pytest.mark.parametrize("per_item", [1, 3])
def test_labels_from_outside_change_no_number_of_other_rules(per_item: int) -> None:
    counts = random_counts(4, per_item=per_item)
    labels = {
        "longest": np.random.default_rng(5).integers(-1, 2, size=len(counts)),
        "ci_sc": counts.label,
    }
    alone = evaluate(counts, rng=np.random.default_rng(0), resamples=0)
    beside = evaluate(counts, rng=np.random.default_rng(0), resamples=0, given=labels)
    # The random dummy adds thirds, whose sum depends on the number of cells in its last digit.
    for key in ("btd", "majority", "threshold", "constant"):
        score, other = alone.scores[key], beside.scores[key]
        assert (score.mae, score.mae_low, score.pa) == (other.mae, other.mae_low, other.pa)
    assert beside.scores["ci_sc"].mae == beside.scores["majority"].mae


def test_cells_of_a_pattern_are_dealt_without_favour() -> None:
    counts = make([(2, 0, 0, 1)] * 60 + [(0, 0, 2, -1)] * 60)
    outside = np.tile([0, 0, 1], 40)
    drawn = splits(
        counts, rng=np.random.default_rng(0), n_splits=4_000, share=0.25, given={"x": outside}
    )
    assert (drawn.calibration.sum(axis=1) == 30).all()
    assert (drawn.calibration <= drawn.cells.weight).all()
    share = drawn.calibration.mean(axis=0) / drawn.cells.weight
    assert np.abs(share - 0.25).max() < 0.005


def test_numbers_do_not_depend_on_resamples() -> None:
    counts = random_counts(6)
    fast = evaluate(counts, rng=np.random.default_rng(0), resamples=0)
    full = evaluate(counts, rng=np.random.default_rng(0), resamples=200)
    for key, score in full.scores.items():
        other = fast.scores[key]
        assert (score.mae, score.mae_low, score.pa_high, score.regret) == (
            *(other.mae, other.mae_low, other.pa_high, other.regret),
        )
        assert other.top_cluster is None
        assert np.isnan(other.mae_item_low)
    assert fast.majority_p_value is None


def evaluated(counts: VoteCounts) -> Evaluation:
    return evaluate(counts, rng=np.random.default_rng(0), n_splits=20, resamples=1_000)


def test_recommendation_where_calibration_pays() -> None:
    """A judge that sees A or B in every tie: only agreement of all its votes is a true
    preference.
    """
    rows = [(4, 0, 0, 1), (0, 0, 4, -1)] * 40 + [(3, 0, 1, 0), (1, 0, 3, 0)] * 40
    found = evaluated(make(rows))
    alone = recommend("any", found, most_votes=1)
    assert alone.sentence.endswith(FEW_VOTES[1])
    assert recommend("any", found, most_votes=2).sentence.endswith(FEW_VOTES[2])
    assert "BTD rarely gains" not in recommend("any", found, most_votes=3).sentence
    said = recommend("any", found, most_votes=8)
    assert said.grade == "warn"
    assert said.sentence == (
        "BTD labels better than majority: average error 0.000 (0.000 to 0.047) against "
        f"{found.scores['majority'].mae:.3f} ({found.scores['majority'].mae_item_low:.3f} to "
        f"{found.scores['majority'].mae_item_high:.3f}), 100 % less; not significantly different: "
        "Shrunken BTD, Threshold (0 is always right, 2 always the opposite; n 160 labelled "
        "comparisons, 20 of them to calibrate on)."
    )
    assert found.majority_p_value is not None
    assert found.majority_p_value < 0.01


def test_recommendation_where_majority_is_enough() -> None:
    rng = np.random.default_rng(8)
    gold = rng.choice([-1, 1], size=200)
    rows = [(5, 0, 0, 1) if y == 1 else (0, 0, 5, -1) for y in gold]
    said = recommend("any", evaluated(make(rows)), most_votes=8)
    assert said.grade == "ok"
    assert said.sentence.startswith("Majority is enough: ")
    assert "0.000 (0.000 to 0.038)" in said.sentence


def test_recommendation_where_no_judge_is_as_good() -> None:
    rng = np.random.default_rng(9)
    rows = [
        (*rng.multinomial(4, [0.5, 0, 0.5]), int(y)) for y in rng.choice([-1, 0, 0, 0, 1], size=200)
    ]
    said = recommend("any", evaluated(make(rows)), most_votes=8)
    assert said.grade == "fail"
    assert said.sentence.startswith("No rule is shown to beat labels without any vote. ")


def test_recommendation_without_resamples_names_no_cluster() -> None:
    said = recommend(
        "any", evaluate(random_counts(10), rng=np.random.default_rng(0), resamples=0), most_votes=8
    )
    assert said.grade == "unknown"
    assert "not significantly different" not in said.sentence


def check_recommendation_on_rewardbench_2(shared_data: Path) -> None:
    """All categories of gpt-5.4 [base] at 5 %: MAE .334 for BTD, .333 threshold, .416 majority."""
    from core.importers import read

    path = shared_data / "votes" / "rewardbench2_pairs.csv.gz"
    with Store.open() as store:
        for one in read([(path.name, path)]):
            store.load(one)
        counts = vote_counts(store, Selection())["gpt-5.4 [base]"].labelled()
    found = evaluate(counts, rng=np.random.default_rng(0), resamples=2_000)
    assert {key: round(found.scores[key].mae, 3) for key in ("btd", "threshold", "majority")} == {
        "btd": 0.334,
        "threshold": 0.333,
        "majority": 0.416,
    }
    said = recommend("any", found, most_votes=8)
    assert said.grade == "warn"
    assert said.sentence.startswith("Threshold labels better than majority: average error 0.333 (")
    assert "BTD is behind at 0.334" in said.sentence


def test_maps_show_what_core_decides() -> None:
    counts = random_counts(11)
    drawn = decision_map(fit(counts.cells()[0]), 5)
    seen = {(3, 1, 1): 7, (5, 0, 0): 2}
    for by, decision in (("calibrated", drawn.decision), ("majority", drawn.majority)):
        fig = decision_figure(drawn, by=by, seen=seen, chosen=pattern_key(3, 1, 1))
        shown = {
            (x, 5 - x - y, y): (trace.name, data[0], hover, width)
            for trace in fig.data
            if trace.x[0] is not None
            for x, y, data, hover, width in zip(
                trace.x,
                trace.y,
                trace.customdata,
                trace.hovertext,
                trace.marker.line.width,
                strict=True,
            )
        }
        assert len(shown) == 21
        words = {1: "A better", 0: "a tie", -1: "B better"}
        rows = zip(drawn.plus, drawn.tie, drawn.minus, decision, drawn.p, strict=True)
        for plus, tie, minus, label, p in rows:
            name, key, hover, width = shown[int(plus), int(tie), int(minus)]
            assert name == words[int(label)]
            said = f"p(A better) {p[2]:.3f}<br>p(tie) {p[1]:.3f}<br>p(B better) {p[0]:.3f}"
            assert (said in hover) == (by == "calibrated")
            known = (int(plus), int(tie), int(minus)) in seen
            assert key == (pattern_key(plus, tie, minus) if known else None)
            assert (width == 4) == (key == pattern_key(3, 1, 1))
    assert (
        (MOST_VOTES + 1) * (MOST_VOTES + 2) // 2 <= 1_000 < (MOST_VOTES + 2) * (MOST_VOTES + 3) // 2
    )


def test_errors_figure_shows_both_intervals() -> None:
    found = evaluated(random_counts(12))
    fig = errors_figure(found)
    scores = list(found.scores.values())
    items, over_splits = fig.data[0], fig.data[2]
    assert list(items.x) == list(over_splits.x) == [score.mae for score in scores]
    assert items.x + items.error_x.array == pytest.approx([score.mae_item_high for score in scores])
    assert over_splits.x - over_splits.error_x.arrayminus == pytest.approx(
        [s.mae_low for s in scores]
    )
    assert {key for (key,) in items.customdata} == {s.name for s in scores if s.key != "random"} | {
        None
    }


def test_label_shares_are_clustered_proportions_and_drawn() -> None:
    counts = random_counts(13, per_item=3)
    shares = label_shares(
        counts.item, {"gold": counts.gold, "majority": counts.label, "calibrated": counts.gold}
    )
    tie = clustered_proportion(
        counts.item, np.ones(len(counts), np.int64), (counts.label == 0).astype(int)
    )
    assert (shares["majority"][1].value, shares["majority"][1].low) == (tie.value, tie.low)
    assert sum(one.value for one in shares["gold"]) == pytest.approx(1)
    fig = shares_figure(shares, chosen=share_key("gold", 0))
    assert [trace.name for trace in fig.data] == ["gold", "majority", "calibrated"]
    assert list(fig.data[1].y) == [shares["majority"][y + 1].value for y in (1, 0, -1)]
    assert list(fig.data[0].marker.line.width) == [0, 3, 0]
