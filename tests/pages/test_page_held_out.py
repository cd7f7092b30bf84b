"""Correcting for order, confidence weights and Likert scales in the real app: numbers, words and
figures.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from apps import new_app, opened, texts
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.aggregation.confidence_weights import confidence_weighted
from core.aggregation.ordinal_model import of_scores, ordinal
from core.aggregation.position_aware_btd import one_order, position_aware
from core.bias import position_bias
from core.interpretation import verdicts
from core.interpretation.votes_to_labels import SIMULATED_CONFIDENCE, across_judges, effect
from core.interpretation.votes_to_labels import confidence_weighted as weighed_words
from core.interpretation.votes_to_labels import ordinal as ordinal_words
from core.interpretation.votes_to_labels import position_aware as order_words
from core.plots.aggregation import changes_figure, levels_figure, rules_figure, weights_figure
from core.plots.base import Style, rater_styles
from core.records import PositionCounts
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.stats.estimate import Estimate, Estimates
from core.stats.splits import HeldOutScores
from core.store import Store
from core.store.vote_queries import (
    confidence_counts,
    direct_scores,
    order_counts,
    positions,
    vote_counts,
)
from pages.shared.cached import get_store

MAIN = REPOSITORY / "pages" / "main.py"
HOSTILE = "<img src=x onerror=alert(1)>"
DEMO = Selection(datasets=(DEMO_DATASET,))
BIASED = "sim-judge-first-slot"
STYLE = Style(colour="#0072b2", symbol="circle")


def table(page: AppTest, column: str):
    return next(frame.value for frame in page.dataframe if frame.value.columns[0] == column)


def copied(page: AppTest, word: str, capsys) -> str:
    (code,) = (block.value for block in page.code if word in block.value)
    # The app holds the store's file, so the copy uses the open one.
    exec(code.replace("Store.open(default_path())", "STORE"), {"STORE": get_store()})  # noqa: S102
    return capsys.readouterr().out


def test_votes_as_they_are_show_what_core_computes(app: AppTest) -> None:
    """Failed votes leave a few comparisons of the demo out of balance: too few to matter."""
    page = opened(app, "position_bias", order="Correcting for order", rater=BIASED)
    found = position_aware(order_counts(get_store(), DEMO)[BIASED], rng=np.random.default_rng(0))
    assert 0 < found.fit.unbalanced < found.fit.n_items / 3
    counts = positions(get_store(), DEMO)[BIASED]
    said = order_words(BIASED, found, position_bias(counts))
    assert said in texts(page)
    # The few unbalanced comparisons show nothing, but the page's own answer stands above.
    assert "no position bias" not in said
    assert "within pairs of both orders it favours the response shown first" in said
    above = verdicts.position(BIASED, counts).sentence
    (answer,) = (place for place, text in enumerate(texts(page)) if above in text)
    assert answer < texts(page).index(said)
    row = table(page, "judge").set_index("judge").loc[BIASED]
    assert row["corrected on all labels"] == ("yes" if found.fit.delta else "no")
    assert (row["unbalanced"], row["z"]) == (found.fit.unbalanced, found.fit.z)


def test_balanced_orders_have_nothing_to_correct() -> None:
    from test_position_aware import judged

    rng = np.random.default_rng(0)
    found = position_aware(judged(1, 200, bias=1.0, ab="balanced"), rng=rng, n_splits=3, draws=20)
    assert "nothing to correct: the fit is plain BTD" in order_words("j", found)


def test_correcting_one_order_each_shows_what_core_computes(app: AppTest, capsys) -> None:
    page = opened(
        app,
        "position_bias",
        order="Correcting for order",
        rater=BIASED,
        order_votes="one order each",
    )
    counts = one_order(order_counts(get_store(), DEMO)[BIASED], rng=np.random.default_rng(0))
    found = position_aware(counts, rng=np.random.default_rng(0))
    assert order_words(BIASED, found) in texts(page)
    assert found.delta.high < 0
    assert "it favours the response shown first" in order_words(BIASED, found)
    row = table(page, "judge").set_index("judge").loc[BIASED]
    assert (row["δ"], row["low"], row["high"]) == (
        found.delta.value,
        found.delta.low,
        found.delta.high,
    )
    rules = table(page, "rule").set_index("rule")
    assert rules["MAE"].to_list() == found.scores.mae.value.tolist()
    assert rules["ΔMAE"].to_list() == found.scores.mae_change.value.tolist()
    assert len(page.get("plotly_chart")) == 1
    out = copied(page, "one_order", capsys)
    assert f"{found.delta}" in out


def test_confidence_weights_show_what_core_computes(app: AppTest, capsys) -> None:
    judge = "sim-judge-careful"
    page = opened(app, "votes_to_labels", aggregation="Confidence weights", rater=judge)
    counts, votes = vote_counts(get_store(), DEMO), confidence_counts(get_store(), DEMO)
    found = confidence_weighted(counts[judge], votes[judge], rng=np.random.default_rng(0))
    assert weighed_words(judge, found) in texts(page)
    assert SIMULATED_CONFIDENCE in texts(page)
    rules = table(page, "rule").set_index("rule")
    assert rules["MAE"].to_list() == found.scores.mae.value.tolist()
    row = table(page, "judge").set_index("judge").loc[judge]
    assert (row["unanimous"], row["z"]) == (found.unanimous, found.weighing.z)
    assert any(
        text.startswith(
            "Not applicable to sim-person-1, sim-person-2, sim-person-3: Weighing by confidence"
        )
        for text in texts(page)
    )
    assert str(found.weighing) in copied(page, "confidence_weighted", capsys)


def test_votes_loaded_from_a_file_are_not_called_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "dataset": "real",
            "item_id": f"i{k}",
            "judge": "j",
            "vote": int(rng.integers(-1, 2)),
            "gold": k % 3 - 1,
            "confidence": float(rng.choice([0.6, 0.8, 0.95])),
        }
        for k in range(120)
    ]
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        store.load(reading(rows))
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    page = opened(new_app(), "votes_to_labels", aggregation="Confidence weights")
    assert any("equal weights" in text for text in texts(page))
    assert SIMULATED_CONFIDENCE not in texts(page)


def test_a_judge_without_confidence_says_why(app: AppTest) -> None:
    page = opened(app, "votes_to_labels", aggregation="Confidence weights", rater="sim-person-1")
    assert any("none was given" in text for text in texts(page))
    # The judges that have one are still compared.
    assert len(page.get("plotly_chart")) == 1


def test_likert_tab_shows_what_core_computes(app: AppTest, capsys) -> None:
    page = opened(app, "votes_to_labels", aggregation="Likert scales")
    judge, gold = (page.selectbox(key=f"likert_{who}").value for who in ("judge", "gold"))
    assert gold == "sim-person-1"
    scores = direct_scores(get_store(), DEMO)
    found = ordinal(of_scores(scores[judge], scores[gold]), rng=np.random.default_rng(0))
    assert ordinal_words(judge, gold, found) in texts(page)
    assert table(page, "rule")["MAE"].to_list() == found.scores.mae.value.tolist()
    thresholds = table(page, "level")
    assert thresholds["threshold"].to_list() == (found.fit.location + found.fit.cuts).tolist()
    assert len(page.get("plotly_chart")) == 2
    assert str(found.fit.to_frame()) in copied(page, "score_levels", capsys)
    page.selectbox(key="likert_judge").set_value(gold).run()
    assert any("cannot be gold for itself" in text for text in texts(page))


def test_votes_alone_have_no_likert_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_path
) -> None:
    path = tmp_path / "votes.duckdb"
    rows = [
        {
            "dataset": "few",
            "item_id": f"i{k}",
            "judge": HOSTILE,
            "vote": k % 3 - 1,
            "gold": 1,
            "position": "ab",
        }
        for k in range(10)
    ]
    with Store.open(path) as store:
        store.load(reading(rows))
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    page = opened(new_app(), "votes_to_labels", aggregation="Likert scales")
    assert any("this data set has no direct scores" in text for text in texts(page))
    page = opened(new_app(), "position_bias", order="Correcting for order")
    assert any("at least 20 labelled comparisons" in text for text in texts(page))
    assert not any(HOSTILE in element.value for element in page.markdown)


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
    calm = replace(within, p_value=0.3)
    assert order_words("j", unsure, calm) == order_words("j", unsure)
    second = replace(made[0], delta=Estimate(1.0, 0.5, 1.5))
    assert "it favours the response shown second" in order_words("j", second)


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
