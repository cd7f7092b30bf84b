"""Boards of direct scores in figures and sentences."""

import dataclasses

import numpy as np
import pytest
from test_direct_scores import drawn, scored

from core.finding.answer import MOST_WORDS, words
from core.finding.figure import rater_styles
from core.questions.boards import score_words as score_sentences
from core.questions.boards.anchored import Board, board
from core.questions.boards.figure import scores_figure
from core.questions.boards.judge_dispersion import MEASURES, dispersion
from core.questions.boards.score_board import score_boards
from core.questions.boards.score_spread import score_abstention
from core.questions.boards.scores import direct_statistics
from core.stats.estimate import Estimate

HOSTILE = "<img src=x onerror=alert(1)>"


def votes_of(p: dict[str, dict[str, float]], n: int = 400) -> dict[str, Board]:
    """Boards of judges from (judge → model → share of wins against m0)."""
    from core.records import PairScores

    boards = {}
    for judge, shares in p.items():
        models = ("m0", *sorted(shares))
        item, model = (grid.ravel() for grid in np.indices((n, len(shares))))
        wins = np.array([round(n * shares[name]) for name in models[1:]])
        boards[judge] = board(
            PairScores(
                models=models,
                model_1=np.zeros(len(item), dtype=int),
                model_2=model + 1,
                item=item,
                score=1.0 - (item < wins[model]),
                n_votes=np.ones(len(item), dtype=int),
            ),
            "m0",
        )
    return boards


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    return {
        name: drawn(rng, items=60, beta=(0.0, 1.0, -1.0, 0.4)) for name in ("one", "two", "three")
    }


def test_dispersion_is_numpy_over_judges(judged):
    boards = score_boards(judged, "m0")
    votes = votes_of(
        {name: {"m1": 0.7, "m2": 0.3 + k / 20, "m3": 0.6} for k, name in enumerate(judged)}
    )
    found = dispersion(boards, votes, "m0", rng=np.random.default_rng(0))
    assert found.shared
    frame = found.to_frame().set_index(["measure", "model"])
    scores = {
        m: [row.p.value for one in boards.judges.values() for row in one.rows if row.model == m]
        for m in ("m1", "m2", "m3")
    }
    for model, p in scores.items():
        row = frame.loc[("p by scores", model)]
        assert row["sd"] == pytest.approx(np.std(p, ddof=1), abs=1e-12)
        assert row["se"] == pytest.approx(np.std(p, ddof=1) / 3**0.5, abs=1e-12)
        assert row["cv"] == pytest.approx(np.std(p, ddof=1) / np.mean(p), abs=1e-12)
    by_votes = [row.p.value for one in votes.values() for row in one.rows if row.model == "m2"]
    assert frame.loc[("p by votes", "m2"), "sd"] == pytest.approx(
        np.std(by_votes, ddof=1), abs=1e-12
    )
    assert frame.loc["Elo by votes"]["cv"].isna().all()
    # A steady judge on two of three models: the excess is the paired difference of SDs.
    expected = (
        np.mean([np.std(scores[m], ddof=1) for m in scores]) - frame.loc["p by votes"]["sd"].mean()
    )
    assert found.excess.value == pytest.approx(expected, abs=1e-12)
    assert (found.kendall.value, found.n_ordered) == (1.0, 4)


def test_one_kind_alone_says_why_the_other_is_missing(judged):
    alone = dispersion(score_boards(judged, "m0"), {}, "m0", rng=np.random.default_rng(0))
    reasons = {row.measure: row.reason for row in alone.measures}
    assert reasons["p by votes"] == "no votes against this anchor."
    assert reasons["p by scores"] is None
    assert score_sentences.beside_votes(alone).startswith("There are no votes")
    votes = votes_of({"one": {"m1": 0.6}, "two": {"m1": 0.7}})
    without = dispersion(None, votes, "m0", rng=np.random.default_rng(0))
    assert {row.measure: row.reason for row in without.measures}["mean score"].startswith(
        "no direct scores"
    )
    assert without.excess is None
    assert [row.measure for row in without.measures] == list(MEASURES)


def test_common_cells_only_are_compared(judged):
    votes = votes_of({"one": {"m1": 0.7}, "two": {"m1": 0.6}, "stranger": {"m1": 0.1}})
    found = dispersion(score_boards(judged, "m0"), votes, "m0", rng=np.random.default_rng(0))
    assert {row.measure: (row.n_models, row.n_judges) for row in found.measures} == dict.fromkeys(
        MEASURES, (1, 2)
    )
    assert found.kendall is None
    assert "Fewer than three models" in score_sentences.beside_votes(found)


def test_the_measure_on_which_judges_agree_more_is_named():
    rng = np.random.default_rng(1)
    # Judges of scores disagree on models by far, voters not at all; then the other way round.
    split = {
        f"j{k}": drawn(rng, items=150, beta=(0.0, *(1.5 * rng.normal(size=6)))) for k in range(4)
    }
    alike = {f"j{k}": drawn(rng, items=150, beta=(0.0, -3, -2, -1, 1, 2, 3)) for k in range(4)}
    names = [f"m{k}" for k in range(1, 7)]
    steady = votes_of({j: dict(zip(names, np.linspace(0.2, 0.8, 6), strict=True)) for j in split})
    wild = votes_of({j: dict(zip(names, rng.random(6), strict=True)) for j in split})

    def said(scores, votes):
        return score_sentences.agree_more(
            dispersion(score_boards(scores, "m0"), votes, "m0", rng=np.random.default_rng(0))
        )

    assert "these judges agree more on votes." in said(split, steady)
    assert "these judges agree more on scores." in said(alike, wild)


def test_words_follow_from_the_board():
    rng = np.random.default_rng(2)
    clear = {"judge": drawn(rng, items=150, beta=(0.0, 2.0, 0.5))}
    boards, statistics = score_boards(clear, "m0"), direct_statistics(clear)
    said = score_sentences.leader(boards.mean)
    assert said.startswith(
        "By direct scores m1 leads: its score beats that of m0 with probability "
    )
    assert "150 items, judge" in said
    assert "is more than chance" in said
    assert score_sentences.scores_kind(boards, statistics) == "finding"
    assert score_sentences.leader(score_boards(clear, "m1").mean).startswith(
        "By direct scores no model beats"
    )
    equal = {"judge": drawn(rng, items=40, beta=(0.0, 0.0, 0.0))}
    boards = score_boards(equal, "m0")
    assert "not shown to be better than the anchor" in score_sentences.leader(boards.mean)
    assert score_sentences.scores_kind(boards, direct_statistics(equal)) == "warning"


def test_the_best_of_equal_models_rarely_leads():
    """At 95 % one of ten equals is above the anchor in more than a quarter of the boards."""
    rng, led, said = np.random.default_rng(22), 0, ""
    for _ in range(100):
        found = score_boards({"judge": drawn(rng, items=40, beta=(0.0,) * 11)}, "m0").mean
        said = score_sentences.leader(found)
        led += "leads" in said
        assert ("as the best of 10" in said) == (found.rows[0].p.low > 0.5 and "leads" not in said)
    assert led <= 6


def test_headlines_follow_from_the_board():
    rng = np.random.default_rng(2)

    def said(beta, anchor="m0", votes=None, items=150):
        judged = {"judge": drawn(rng, items=items, beta=beta)}
        boards = score_boards(judged, anchor)
        beside = dispersion(boards, votes or {}, anchor, rng=np.random.default_rng(0))
        told = score_sentences.scores_answer(boards, direct_statistics(judged), beside)
        assert words(told.headline) <= MOST_WORDS
        return told, boards.mean

    steady = {"judge": drawn(np.random.default_rng(2), items=150, beta=(0.0, 2.0, 0.5))}
    boards, statistics = score_boards(steady, "m0"), direct_statistics(steady)
    votes = votes_of({"judge": {"m1": 0.9, "m2": 0.6}})
    told, found = said((0.0, 2.0, 0.5), votes=votes)
    assert told.headline == "By direct scores m1 leads alone; votes rank models the same."
    best, lead = found.rows[0].p, found.lead
    assert told.figures.startswith(
        f"m1 {100 * best.value:.0f} % ({100 * best.low:.0f}–{100 * best.high:.0f}) against m0 · "
        f"lead over m2 +{100 * lead.value:.1f} points ({100 * lead.low:.1f}–{100 * lead.high:.1f})"
    )
    assert told.figures.endswith("150 items · 1 judge")
    assert told.good
    turned, _ = said((0.0, 2.0, 0.5), votes=votes_of({"judge": {"m1": 0.6, "m2": 0.9}}))
    assert turned.headline == (
        "By direct scores m1 leads alone; votes are not shown to order models differently."
    )
    apart = dataclasses.replace(
        dispersion(boards, {}, "m0", rng=np.random.default_rng(0)), kendall=Estimate(0.2, -0.2, 0.6)
    )
    assert score_sentences.scores_answer(boards, statistics, apart).headline == (
        "By direct scores m1 leads alone; votes order models differently."
    )
    assert said((0.0, 2.0, 0.5))[0].headline == "By direct scores m1 leads alone."
    close, found = said((0.0, 2.0, 2.0))
    assert found.lead.low <= 0
    assert close.headline.endswith("is first, though its lead may be chance.")
    below, _ = said((0.0, 2.0, 0.5), anchor="m1")
    assert below.headline == "By direct scores no model beats m1; m2 comes nearest."
    equal, _ = said((0.0, 0.0, 0.0), items=40)
    assert "is first, but not shown to beat m0" in equal.headline
    assert not equal.good
    assert said((0.0, 2.0))[0].headline == "By direct scores m1 beats m0."
    lone = score_sentences.alone_answer(
        direct_statistics({"one": scored(np.array([[[3.0]], [[5.0]]]), models=("m0",))})
    )
    assert lone.headline == "Only m0 was scored, so it can be compared with no other model."
    assert lone.figures.startswith("one on m0 4.00")


def test_headlines_of_abstention_follow_from_its_numbers():
    rng = np.random.default_rng(7)
    # A judge whose runs differ where a response of m1 is bad: without those m1 looks better.
    bad = rng.random((200, 2)) < 0.5
    bad[:, 0] = False
    runs = np.where(bad[..., None], [2.0, 6.0], [8.0, 8.0])
    found = score_abstention({"judge": scored(runs)}, threshold=0.2)
    told = score_sentences.scores_abstained_answer(found)
    assert told.headline.startswith("Without doubtful responses m1 scores higher, beyond chance")
    assert words(told.headline) <= MOST_WORDS
    share = 1 - bad.mean()
    change = 8 - runs[:, 1].mean()
    assert told.figures.startswith(
        f"{100 * share:.0f} % of 400 scored responses stay · m1 +{change:.2f}"
    )
    assert not told.good
    mild = score_sentences.scores_abstained_answer(
        score_abstention({"judge": scored(runs)}, threshold=0.5)
    )
    assert mild.headline.startswith("No judge doubts any of its responses")
    assert mild.good


def test_a_crowded_top_is_said():
    generous = {
        "kind": scored(np.where(np.random.default_rng(3).random((60, 2, 1)) < 0.8, 10.0, 9.0))
    }
    said = score_sentences.crowded(direct_statistics(generous))
    assert said.startswith("Ceiling effect: share of scores at the highest given, 10: kind ")
    assert (
        score_sentences.scores_kind(score_boards(generous, "m0"), direct_statistics(generous))
        == "warning"
    )
    spread = {"judge": drawn(np.random.default_rng(4), items=60, beta=(0.0, 0.5))}
    assert score_sentences.crowded(direct_statistics(spread)) is None


def test_the_figure_plots_the_boards_and_escapes_names():
    rng = np.random.default_rng(5)
    models = ("m0", HOSTILE, "m2")
    judged = {
        name: scored(rng.integers(1, 11, (30, 3, 1)).astype(float), models=models)
        for name in (HOSTILE, "b")
    }
    found = score_boards(judged, "m0")
    votes = votes_of({"b": {"m2": 0.4}})["b"]
    fig = scores_figure(found, styles=rater_styles(judged), votes=votes)
    mean = next(trace for trace in fig.data if trace.name == "scores, mean of judges")
    assert list(mean.x) == pytest.approx([100 * row.p.value for row in found.mean.rows])
    assert list(np.array(mean.x) + np.array(mean.error_x.array)) == pytest.approx(
        [100 * row.p.high for row in found.mean.rows]
    )
    drawn_votes = next(trace for trace in fig.data if trace.name == "votes")
    assert list(drawn_votes.x) == pytest.approx([100 * row.p.value for row in votes.rows])
    assert "<img" not in fig.to_json()
    lone = scores_figure(score_boards({"b": judged["b"]}, "m0"), styles=rater_styles(judged))
    assert [trace.name for trace in lone.data] == ["scores, b", "50 %"]
