"""What other data lend to few labels: scores, priors, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from draws import seeded
from test_evaluation import simulated

from core.errors import InvalidOption, UnknownName
from core.questions.labels.btd import Bounds, BTDOptions, fit
from core.questions.labels.evaluation import (
    FEWEST,
    PairedChange,
    ShrinkageGain,
    evaluate,
    paired_change,
    shrinkage_gain,
)
from core.questions.labels.figure import prior_weights_figure, priors_figure
from core.questions.labels.shrinkage import (
    NAMES,
    STRENGTHS,
    WEAK,
    CandidatePrior,
    Prior,
    by_item_name,
    candidate_priors,
    pool,
    same_items,
    shrunken_fit,
)
from core.questions.labels.words import bound, helps, shrinkage_answer, some, weighed
from core.records import VoteCounts
from core.stats.estimate import Estimate

pytestmark = pytest.mark.usefixtures("one_blas_thread")


def shifted(counts: VoteCounts, items: int, comparisons: int) -> VoteCounts:
    return replace(counts, item=counts.item + items, comparison=counts.comparison + comparisons)


WHOLE = fit(simulated(10, 60).cells()[0])


def small_gain(prior: object = WEAK, **options: object) -> ShrinkageGain:
    counts = simulated(5, 150, per_item=(1, 3))
    return shrinkage_gain(counts, prior, rng=seeded(), n_splits=10, resamples=200, **options)


def test_scores_are_those_of_evaluate_and_differences_those_of_the_scores() -> None:
    counts = simulated(5, 150, per_item=(1, 3))
    gain = small_gain()
    alone = evaluate(counts, rng=seeded(), n_splits=10, resamples=200)
    for key in ("majority", "threshold", "btd", "btd_shrunk"):
        one, other = gain.evaluation.scores[key], alone.scores[key]
        assert (one.mae, one.mae_low, one.pa, one.regret) == (
            other.mae,
            other.mae_low,
            other.pa,
            other.regret,
        )
    scores = gain.evaluation.scores
    for change, key in ((gain.beside_btd, "btd"), (gain.beside_threshold, "threshold")):
        assert (change.key, change.beside) == ("btd_shrunk", key)
        assert change.mae.value == scores["btd_shrunk"].mae - scores[key].mae
        assert change.pa.value == scores["btd_shrunk"].pa - scores[key].pa
        assert change.mae.low <= change.mae.value <= change.mae.high
        assert change.pa.low <= change.pa.value <= change.pa.high
    assert list(gain.to_frame()["beside"]) == ["btd", "threshold"]


def test_a_paired_interval_knows_that_errors_go_together() -> None:
    """Intervals of MAE are wider than that of a difference."""
    value = small_gain().evaluation
    one = paired_change(value, "btd_shrunk", "btd")
    other = paired_change(value, "btd", "btd_shrunk")
    assert (other.mae.low, other.mae.high) == pytest.approx((-one.mae.high, -one.mae.low))
    score = value.scores["btd"]
    assert one.mae.high - one.mae.low < score.mae_item_high - score.mae_item_low
    with pytest.raises(UnknownName, match="was not compared"):
        paired_change(value, "constant", "btd")
    quick = evaluate(simulated(5, 60), rng=seeded(), n_splits=3, resamples=0)
    with pytest.raises(InvalidOption, match="resamples = 0"):
        paired_change(quick, "btd", "majority")


@pytest.mark.thorough
def test_a_paired_interval_covers_the_long_run_difference() -> None:
    """200 draws of 120 items, two fixed labellings: 95 % intervals hold the true difference in 90
    to 98 %.
    """
    rng, held = np.random.default_rng(3), 0
    n, of_truth = 120, 0.2 * 2 - 0.1 * 2
    for _ in range(200):
        gold = rng.choice([-1, 1], size=n)
        first, second = (np.where(rng.random(n) < wrong, -gold, gold) for wrong in (0.2, 0.1))
        counts = VoteCounts(
            comparison=np.arange(n),
            item=np.arange(n),
            plus=np.where(gold > 0, 1, 0),
            tie=np.zeros(n, dtype=np.int64),
            minus=np.where(gold < 0, 1, 0),
            gold=gold,
        )
        given = {"ci_sc": first, "longest": second}
        found = evaluate(
            counts, rng=rng, methods=list(given), given=given, n_splits=5, share=0.2, resamples=100
        )
        change = paired_change(found, "ci_sc", "longest")
        held += change.mae.low <= of_truth <= change.mae.high
    assert 0.90 <= held / 200 <= 0.98


def test_nu_on_its_bound_is_counted_over_the_splits() -> None:
    gain = small_gain(share=FEWEST)
    theta = gain.evaluation.theta
    low, high = np.log([1e-4, 1e3])
    assert gain.on_bound == int(((theta[:, 1] == low) | (theta[:, 1] == high)).sum())
    tight = small_gain(options=BTDOptions(bounds=Bounds(nu=(0.9, 1.1))))
    assert tight.on_bound >= 8
    assert "ends on a bound (0.9 or 1.1)" in bound(tight, Bounds(nu=(0.9, 1.1)))
    assert "the sign that a prior may be needed" in bound(tight, Bounds(nu=(0.9, 1.1)))
    extreme = replace(WHOLE, at_bounds=("nu",))
    assert "So does the fit on all 60 labels" in bound(tight, Bounds(), extreme)
    assert "may be needed" in bound(tight, Bounds(), WHOLE)
    assert "mostly by themselves" in bound(replace(tight, on_bound=0), Bounds())


def judges_by_category() -> dict[str, dict[str, VoteCounts]]:
    found: dict[str, dict[str, VoteCounts]] = {}
    for place, category in enumerate("xyz"):
        found[category] = {
            judge: shifted(
                simulated(10 * place + k, 80, per_item=(1, 2)), 1_000 * place, 1_000 * place
            )
            for k, judge in enumerate(("one", "two"))
        }
    return found


def test_priors_are_pools_of_the_fits_of_other_categories() -> None:
    by_category = judges_by_category()
    found = candidate_priors("one", by_category["x"], category="x", by_category=by_category)
    assert list(found) == list(NAMES)
    own = pool([fit(by_category[c]["one"].cells()[0]) for c in "yz"], source="")
    every = pool(
        [fit(by_category[c][j].cells()[0]) for c in "yz" for j in ("one", "two")], source=""
    )
    for kind, expected in (("own", own), ("all", every)):
        prior = found[kind].prior
        assert isinstance(prior, Prior)
        np.testing.assert_array_equal(prior.theta0, expected.theta0)
        np.testing.assert_array_equal(prior.precision, expected.precision)
        assert prior is found[kind].whole
    assert found["all"].donors == ("one, y", "two, y", "one, z", "two, z")
    assert found["own"].donors == ("y", "z")
    assert found["weak"].prior is WEAK
    assert found["datasets"].reason == "no other data set has votes of this judge"


def test_no_label_of_the_task_is_lent() -> None:
    """Turning every gold label of the task changes no prior of other categories, however items are
    shared.
    """
    by_category = judges_by_category()
    shared = by_category["y"]["one"]
    # A third of y's items are also items of the task.
    by_category["y"]["one"] = replace(
        shared, item=np.where(shared.item % 3 == 0, shared.item - 1_000, shared.item)
    )
    task = by_category["x"]
    inside = np.isin(by_category["y"]["one"].item, task["one"].item)
    assert inside.any()
    before = candidate_priors("one", task, category="x", by_category=by_category)
    turned = {category: dict(voters) for category, voters in by_category.items()}
    turned["y"]["one"] = replace(
        by_category["y"]["one"],
        gold=np.where(inside, -by_category["y"]["one"].gold, by_category["y"]["one"].gold),
    )
    after = candidate_priors("one", task, category="x", by_category=turned)
    for kind in ("own", "all"):
        np.testing.assert_array_equal(before[kind].whole.theta0, after[kind].whole.theta0)


def test_other_judges_lend_as_same_items_does() -> None:
    counts = simulated(4, 80, per_item=(1, 3))
    task = {"one": counts, "two": simulated(4, 80, per_item=(1, 3), n=4)}
    offer = candidate_priors("one", task, BTDOptions(alpha=2.0))["judges"]
    gains = [
        shrinkage_gain(
            counts, prior, BTDOptions(alpha=2.0), rng=seeded(), n_splits=5, resamples=200
        )
        for prior in (offer.prior, same_items(counts, {"two": task["two"]}, BTDOptions(alpha=2.0)))
    ]
    assert gains[0].beside_btd.mae == gains[1].beside_btd.mae
    unlike = shrinkage_gain(
        counts,
        same_items(counts, {"two": task["two"]}),
        BTDOptions(alpha=2.0),
        rng=seeded(),
        n_splits=5,
        resamples=200,
    )
    assert (unlike.evaluation.shrunken.theta != gains[0].evaluation.shrunken.theta).any()
    weak = shrunken_fit(task["two"], options=BTDOptions(alpha=2.0))
    assert offer.whole.theta0 == pytest.approx([weak.beta, weak.eta0, weak.gamma])


def test_what_is_missing_says_why() -> None:
    counts = simulated(4, 60)
    alone = candidate_priors("one", {"one": counts})
    assert alone["judges"].reason == "no other judge voted on these labelled comparisons"
    assert alone["own"].reason == "the votes have fewer than two categories"
    by_category = judges_by_category()
    whole = candidate_priors("one", {"one": counts}, by_category=by_category)
    assert (
        whole["all"].reason
        == "choose one category as the task, so that the others can serve as priors"
    )
    few = {"x": {"one": counts}, "y": {"one": shifted(simulated(1, 19), 500, 500)}}
    told = candidate_priors("one", few["x"], category="x", by_category=few)["own"]
    assert told.prior is None
    assert told.left_out == {"y": "has 19 labelled comparisons; 20 are needed"}
    assert told.reason == "no other category has 20 labelled comparisons of other items"


def test_data_sets_that_share_questions_lend_only_the_others() -> None:
    own, other = simulated(1, 60), shifted(simulated(2, 90), 60, 60)
    names = [f"q{k}" for k in range(60)] + [f"q{k}" for k in range(30, 120)]
    by_dataset = {"here": by_item_name(own, names), "there": by_item_name(other, names)}
    offer = candidate_priors("one", {"one": own}, dataset="here", by_dataset=by_dataset)["datasets"]
    expected = pool([fit(other.rows(np.arange(90) >= 30).cells()[0])], source="")
    np.testing.assert_array_equal(offer.whole.theta0, expected.theta0)
    alike = [*names[:60], *names[:60], *names[:30]]
    same = {"here": by_item_name(own, alike), "there": by_item_name(other, alike)}
    refused = candidate_priors("one", {"one": own}, dataset="here", by_dataset=same)["datasets"]
    assert refused.left_out == {
        "there": "has 0 labelled comparisons, 90 more on items of the task; 20 are needed"
    }


def with_change(gain: ShrinkageGain, **ends: Estimate) -> ShrinkageGain:
    return replace(gain, beside_btd=replace(gain.beside_btd, **ends))


def test_words_follow_the_numbers() -> None:
    gain = small_gain(share=0.3)
    offer = CandidatePrior(kind="weak", prior=WEAK, whole=WEAK)
    better = with_change(gain, mae=Estimate(-0.02, -0.03, -0.01))
    worse = with_change(gain, mae=Estimate(0.02, 0.01, 0.03))
    level = with_change(gain, mae=Estimate(-0.01, -0.03, 0.01))
    scores = gain.evaluation.scores
    text = shrinkage_answer("any", offer, better)
    assert text.startswith(
        f"any: with 30 % of the items labelled ({gain.evaluation.calibration:.0f} comparisons), "
    )
    assert (
        "shrinking towards a fixed weak prior lowers the error beside its own fit by 0.020 (0.010 "
        "to 0.030)" in text
    )
    assert f"from {scores['btd'].mae:.3f} to {scores['btd_shrunk'].mae:.3f}" in text
    assert f"n {gain.evaluation.n:,}" in text
    assert "raises the error beside its own fit by 0.020 (0.010 to 0.030)" in shrinkage_answer(
        "any", offer, worse
    )
    assert (
        "is not shown to change the error beside its own fit (−0.010, −0.030 to +0.010)"
        in shrinkage_answer("any", offer, level)
    )
    assert f"Compared with the threshold rule ({scores['threshold'].mae:.3f}) it " in text
    assert [helps(one) for one in (better, worse, level)] == [True, False, False]
    few = small_gain(share=FEWEST)
    told = shrinkage_answer(
        "any", offer, worse, with_change(few, mae=Estimate(-0.02, -0.03, -0.01))
    )
    assert (
        f"With {few.evaluation.calibration:.0f} labelled comparisons it lowers that error by 0.020"
        in told
    )
    assert weighed(gain).startswith("λ is fixed at 1")
    prior = Prior(theta0=WEAK.theta0, precision=WEAK.precision, source="any")
    learned = small_gain(prior)
    weight = learned.evaluation.shrunken.weight
    assert f"prior alone {100 * weight[:, -1].mean():.0f} %" in weighed(learned)
    assert f"own fit {100 * weight[:, 0].mean():.0f} %" in weighed(learned)


def test_many_names_are_cut() -> None:
    assert some(["a", "b"]) == "a; b"
    assert some([str(k) for k in range(14)]).endswith("; 11; and 2 more")


def test_figures_show_what_core_found() -> None:
    gain, few = small_gain(share=0.3), small_gain(share=FEWEST)
    names = list(NAMES.values())[:2]
    fig = priors_figure(
        {"many": dict.fromkeys(names, gain), "few": {names[0]: few}}, chosen=names[1]
    )
    filled, hollow = fig.data[0], fig.data[2]
    assert list(filled.x) == [gain.beside_btd.mae.value] * 2
    assert filled.x + filled.error_x.array == pytest.approx([gain.beside_btd.mae.high] * 2)
    assert list(hollow.x) == [few.beside_btd.mae.value]
    assert [key for (key,) in filled.customdata] == names
    assert list(filled.marker.line.width) == [0, 3]
    prior = Prior(theta0=WEAK.theta0, precision=WEAK.precision, source="any")
    fits = small_gain(prior).evaluation.shrunken
    bars = prior_weights_figure(fits).data[0]
    assert list(bars.y) == fits.weight.mean(axis=0).tolist()
    assert list(bars.x) == ["0 (own fit)", "0.1", "30", "100", "∞ (prior alone)"]
    assert len(STRENGTHS) == 5
    assert sum(bars.y) == pytest.approx(1)


def check_math_of_rewardbench_2_gains(shared_data: Path) -> None:
    """gpt-5.4-mini on Math, 5 % of the items: BTD .4639; README's shrunken BTD is the same number
    as here.
    """
    from benchmarks.rewardbench2 import cells, priors

    path = shared_data / "votes" / "rewardbench2_pairs.csv.gz"
    found = cells(path)
    cell = ("gpt-5.4-mini [base]", "Math")
    by_category: dict[str, dict[str, VoteCounts]] = {}
    # Items of a category are numbered by themselves there: set apart, as in a store's one
    # numbering.
    for place, ((judge, category), counts) in enumerate(found.items()):
        by_category.setdefault(category, {})[judge] = shifted(
            counts, 10_000 * [c for _, c in found].index(category), 0
        )
        assert place < 15
    offered = candidate_priors(
        cell[0], by_category["Math"], category="Math", by_category=by_category
    )
    assert offered["all"].whole.theta0 == pytest.approx(priors(found)[cell].theta0)
    gain = shrinkage_gain(by_category["Math"][cell[0]], offered["all"].prior, rng=seeded())
    assert round(gain.evaluation.scores["btd"].mae, 4) == 0.4639
    assert gain.beside_btd.mae.high < 0


def test_records_name_their_fields() -> None:
    change = small_gain().beside_btd
    assert isinstance(change, PairedChange)
    names = [
        "key",
        "beside",
        "mae",
        "mae_low",
        "mae_high",
        "pa",
        "pa_low",
        "pa_high",
        "n",
        "n_items",
        "level",
    ]
    assert list(change.to_frame()) == names
