"""What is judged on held-out items, in figures and sentences."""

from dataclasses import replace

import numpy as np
import pytest

from core.finding.figure import Style, rater_styles
from core.questions.labels.confidence_weights import confidence_weighted
from core.questions.labels.figure import changes_figure, levels_figure, rules_figure, weights_figure
from core.questions.labels.ordinal_model import ordinal
from core.questions.labels.position_aware_btd import position_aware
from core.questions.labels.words import across_judges, effect
from core.questions.labels.words import confidence_weighted as weighed_words
from core.questions.labels.words import ordinal as ordinal_words
from core.questions.labels.words import position_aware as order_words
from core.questions.order.method import position_bias
from core.records import PositionCounts
from core.stats.estimate import Estimate, Estimates
from core.stats.splits import HeldOutScores

HOSTILE = "<img src=x onerror=alert(1)>"


STYLE = Style(colour="#0072b2", symbol="circle")


def test_balanced_orders_have_nothing_to_correct() -> None:
    from test_position_aware import judged

    rng = np.random.default_rng(0)
    found = position_aware(judged(1, 200, bias=1.0, ab="balanced"), rng=rng, n_splits=3, draws=20)
    assert "nothing to correct: the fit is plain BTD" in order_words("j", found)


def scores_with(mae: tuple[float, float], drps: tuple[float, float]) -> HeldOutScores:
    """The first rule's change beside the second, as (low, high)."""

    def change(low: float, high: float) -> Estimates:
        return Estimates(*(np.array([0.0, end]) for end in ((low + high) / 2, low, high)))

    return HeldOutScores(
        names=("new", "old"),
        mae=Estimates(
            np.array([0.2, 0.2 - sum(mae) / 2]), np.array([0.1, 0.1]), np.array([0.3, 0.3])
        ),
        mae_change=change(*mae),
        drps=np.array([0.2, 0.2 - sum(drps) / 2]),
        drps_change=change(*drps),
        n=100,
        items=100,
        calibration=20.0,
    )


GOOD, BAD, UNSURE = (-0.3, -0.1), (0.1, 0.3), (-0.1, 0.1)


@pytest.fixture(scope="module")
def made():
    """Results of small simulated judges, to be given other scores."""
    from test_confidence_weighted import judged as confident
    from test_position_aware import judged

    rng = np.random.default_rng(0)
    return (
        position_aware(judged(1, 200, bias=1.0, ab="mixed"), rng=rng, n_splits=5, draws=30),
        confidence_weighted(*confident(1, 200, 3, informative=1.0), rng=rng, n_splits=5),
    )


@pytest.mark.parametrize(
    ("mae", "drps", "advice"),
    [
        (GOOD, GOOD, "Use it."),
        (GOOD, UNSURE, "Use it."),
        (UNSURE, GOOD, "use it where probabilities matter."),
        (UNSURE, UNSURE, "Leave it out."),
        (BAD, GOOD, "Leave it out."),
        (BAD, BAD, "Leave it out."),
    ],
)
def test_advice_follows_the_intervals(made, mae, drps, advice) -> None:
    scores = scores_with(mae, drps)
    words = {GOOD: "lowers", BAD: "raises", UNSURE: "does not change"}
    assert (effect(scores, "mae", 1), effect(scores, "drps", 1)) == (words[mae], words[drps])
    for said in (
        order_words("j", replace(made[0], scores=scores)),
        weighed_words("j", replace(made[1], scores=scores)),
    ):
        assert said.endswith(advice)
        assert f"{mae[0]:+.4f} to {mae[1]:+.4f}".replace("-", "−") in said


def test_no_change_at_all_is_said_in_words(made) -> None:
    said = order_words("j", replace(made[0], scores=scores_with((0.0, 0.0), (0.0, 0.0))))
    assert "leaves the error as it is and leaves the forecast error (DRPS) as it is" in said
    assert said.endswith("Leave it out.")


def test_weighing_across_judges_names_how_often_votes_agree(made) -> None:
    helped = replace(made[1], scores=scores_with(UNSURE, GOOD), unanimous=0.9)
    alone = replace(helped, unanimous=float("nan"))
    not_helped = replace(made[1], scores=scores_with(UNSURE, UNSURE))
    said = across_judges({"one": alone, "two": helped, "three": not_helped})
    assert said.endswith(
        "2 of 3 judges, in brackets how often their repeated votes all agree: two (90 %), one (no "
        "repeats)."
    )
    assert across_judges({"three": not_helped}).endswith("of 0 of 1 judges.")


def test_figures_draw_the_results_and_escape_names(made) -> None:
    scores = {HOSTILE: made[0].scores, "b": made[1].scores}
    fig = changes_figure(scores, styles=rater_styles(list(scores)))
    filled, hollow = (trace for trace in fig.data if len(trace.x) == 2)
    assert list(filled.x) == [one.mae_change.value[1] for one in scores.values()]
    assert list(hollow.x) == [one.drps_change.value[1] for one in scores.values()]
    assert filled.x + filled.error_x.array == pytest.approx(
        [s.mae_change.high[1] for s in scores.values()]
    )
    assert "<img" not in str(fig.to_json())
    fig = rules_figure(made[0].scores, style=STYLE, x_title="error")
    assert list(fig.data[0].x) == made[0].scores.mae.value.tolist()
    fig = weights_figure(made[1], style=STYLE)
    assert list(fig.data[1].y) == made[1].weight.tolist()


def test_levels_figure_draws_both_shares() -> None:
    from test_ordinal import rated

    found = ordinal(rated(1, 200, 5, 3), rng=np.random.default_rng(0), n_splits=3)
    fig = levels_figure(found, style=STYLE)
    assert [list(bar.y) for bar in fig.data] == [
        found.gold_share.tolist(),
        found.said_share.tolist(),
    ]
    assert list(fig.data[0].x) == ["0", "1", "2", "3", "4"]
    assert sum(found.said_share) == pytest.approx(1)
    for mae, words in (
        (GOOD, "are closer to g than"),
        (BAD, "comes nearer to g than"),
        (UNSURE, "not significantly different"),
    ):
        said = ordinal_words("j", "g", replace(found, scores=scores_with(mae, UNSURE)))
        assert words in said


def test_a_lean_is_named_only_where_the_interval_shows_it(made) -> None:
    assert "it favours the response shown first (δ −" in order_words("j", made[0])
    unsure = replace(made[0], delta=Estimate(0.1, -0.2, 0.4))
    assert "no position bias is shown (δ 0.10 (−0.20 to 0.40))" in order_words("j", unsure)
    # Pairs of both orders are other votes: what they show is not taken back by an unsure δ.
    once = np.ones(40, dtype=np.int64)
    within = position_bias(
        PositionCounts(
            comparison=np.arange(40),
            item=np.arange(40),
            category=np.zeros(40, dtype=np.int64),
            categories=("",),
            first=once * 2,
            second=once * 0,
            tie=once * 0,
            pairs=once,
            flips=once,
            hard_flips=once,
            slot_sum=once * 2,
            same_order_pairs=once * 0,
            same_order_disagreements=once * 0,
            margin=np.full(40, np.nan),
        )
    )
    said = order_words("j", unsure, within)
    assert "no lean" not in said
    assert "shown first (40 comparisons towards the first, 0 towards the second)" in said
    assert "(δ 0.10 (−0.20 to 0.40))" in said
    level = replace(within, p_value=0.3)
    assert order_words("j", unsure, level) == order_words("j", unsure)
    second = replace(made[0], delta=Estimate(1.0, 0.5, 1.5))
    assert "it favours the response shown second" in order_words("j", second)
