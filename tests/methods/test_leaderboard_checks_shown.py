"""What leaderboards are checked by, in figures and sentences."""

import dataclasses

import numpy as np
import pytest
from draws import seeded
from test_page_leaderboard import HOSTILE, scored

from core.finding.answer import MOST_WORDS, words
from core.questions.agreement.reliability import icc
from core.questions.boards import check_words as said
from core.questions.boards.anchored import board, subsample_errors
from core.questions.boards.ask import pair_doubts
from core.questions.boards.check_figure import (
    abstention_figure,
    pooling_figure,
    screening_figure,
    subsample_figure,
)
from core.questions.boards.figure import outside_figure, ratings_figure, task_key, tasks_figure
from core.questions.boards.judge_dispersion import rating_spread
from core.questions.boards.judges import mean_of_judges, pooling, screening
from core.questions.boards.robustness import (
    Abstained,
    Abstention,
    abstention,
    between_tasks,
    changes,
    differing,
)
from core.questions.boards.standings import compare_outside, read_outside
from core.records import PairDoubt, PairScores
from core.schema import Selection
from core.stats.estimate import Estimate
from core.store.vote_queries import pair_scores, ratings

ANCHOR = "sim-anchor-one"


@pytest.fixture(scope="module")
def judged(demo_pairs) -> dict[str, PairScores]:
    return {name: pairs for name, pairs in demo_pairs.items() if name is not None}


@pytest.fixture(scope="module")
def spread(demo_pairs, judged):
    return rating_spread(judged, ANCHOR, rng=seeded(), pooled=demo_pairs[None])


def test_other_ratings_in_words(spread, judged):
    told = said.other_ratings(spread)
    assert told.startswith(
        "Kendall τ of 7 models with their order by anchored Elo is 1.00 by Bradley–Terry"
    )
    assert (
        "Among these judges a model's Elo has an SD of 24 (12 to 36) points (8 judges, anchored "
        "Elo); Bradley–Terry 21, not shown to differ" in told
    )
    # The spread of judges round their mean, and not of the difference of two, which is wider by √2.
    across = np.nanmean(np.nanstd(spread.elo["raee"], axis=0, ddof=1))
    assert f"{across:.0f} (12 to 36)" in told
    alone = said.other_ratings(
        rating_spread({"a": judged["sim-person-1"]}, ANCHOR, rng=seeded(), orders=2)
    )
    assert "Dispersion needs two judges" in alone


def test_a_rating_under_which_judges_differ_more_is_named():
    """Two judges alike in who wins and unlike in how often they tie: TrueSkill's scale hears the
    ties.
    """
    draws = np.random.default_rng(3)
    base = {name: draws.random(200) for name in "abcdefgh"}
    one = scored(
        {
            (name, "z"): (u < 0.3 + 0.05 * k).astype(float)
            for k, (name, u) in enumerate(base.items())
        }
    )
    two = scored(
        {
            (name, "z"): np.where(np.abs(u - 0.3 - 0.05 * k) < 0.2, 0.5, u < 0.3 + 0.05 * k)
            for k, (name, u) in enumerate(base.items())
        }
    )
    found = rating_spread({"one": one, "two": two}, "z", rng=seeded(), orders=2)
    by_name = {row.method: row for row in found.methods}
    told = said.other_ratings(found)
    row = by_name["trueskill"]
    clear = row.excess.low > 0 or row.excess.high < 0
    word = "more" if row.excess.value > 0 else "less"
    assert (
        f"TrueSkill {row.sd.value:.0f}, "
        f"{f'{word} on other models too' if clear else 'not shown to differ'}" in told
    )


def test_judges_and_screening_in_words(demo_votes, judged):
    repeats = {
        name: icc(t) for name, t in ratings(demo_votes, Selection(), anchors=(ANCHOR,)).items()
    }
    pooled = mean_of_judges(judged, ANCHOR)
    found = pooling(
        judged, ANCHOR, rng=seeded(), icc={name: one.icc_3_1.value for name, one in repeats.items()}
    )
    told = said.judges(pooled, found)
    # Of eight judges the fuser, which read the others, is not pooled.
    assert told.startswith(
        "The mean of 7 judges puts sim-hazel first with +105 Elo (+56 to +153). One judge knows"
    )
    assert (
        "to ±59 points, all 7 pooled to ±48; errors that correlate by ρ = 0.64 predict ±49" in told
    )
    assert "repeatability as ρ = 0.83 (as RAEE has it) ±55." in told
    short = said.judges_answer(pooled, found)
    assert short.headline == (
        "All seven judges pooled know a model's Elo 1.2 times as closely as one of them."
    )
    assert short.figures == (
        "one judge ±59 Elo · all 7 ±48 · predicted ±49, by repeatability ±55 · sim-hazel +105 Elo "
        "(56–153)"
    )
    assert said.judges_answer(pooled, None).headline == "What pooling judges gains is unknown."
    assert "repeatability" not in said.judges(pooled, pooling(judged, ANCHOR, rng=seeded()))
    cuts = screening(judged, ANCHOR, icc=repeats, cuts=(0.9, 0.95, 1.0))
    by_cut = {row.cut: said.screened(cuts, row) for row in cuts.rows}
    assert by_cut[0.9].startswith(
        "All 4 judges with repeats pass; the least repeatable has ICC(3,k) 0.94"
    )
    assert by_cut[0.95].startswith(
        "3 of 4 judges pass; without the others the mean interval is 109 Elo wide, 10"
    )
    assert "wider, not narrower" in by_cut[0.95]
    assert by_cut[0.95].endswith("Dropped: sim-judge-boaster.")
    assert by_cut[1.0].startswith(
        "No judge repeats itself as well as that; of 4, the best has ICC(3,k) 0.99"
    )


def test_few_judges_and_equal_scores_in_words(judged):
    name, pairs = next(iter(judged.items()))
    turned = dataclasses.replace(pairs, score=1 - pairs.score)
    opposed = {"yes": pairs, "no": turned}
    told = said.judges(mean_of_judges(opposed, ANCHOR), pooling(opposed, ANCHOR, rng=seeded()))
    assert "all 2 pooled to ±0; errors that correlate by ρ = -1.00 predict ±0." in told
    same = {"one": pairs, "two": pairs}
    hardly = said.judges_answer(mean_of_judges(same, ANCHOR), pooling(same, ANCHOR, rng=seeded()))
    assert hardly.headline == (
        "Pooling all two judges tells hardly more of a model's Elo than one judge."
    )
    repeats = icc(np.array([[1, 1], [0, 1], [-1, -1], [1, 0]]))
    alone = screening({name: pairs}, ANCHOR, icc={name: repeats}, cuts=(0.0,))
    assert said.screened(alone, alone.rows[1]).startswith(
        "The one judge passes; it has ICC(3,k) 0."
    )
    here = board(pairs, ANCHOR)
    content = "model,score\n" + "".join(f"{row.model},50\n" for row in here.rows)
    flat = compare_outside(here, read_outside(content.encode(), name="x"), rng=seeded())
    assert said.outside(flat).startswith("All models of both boards are equal on one of them")


def test_abstention_in_words(demo_votes):
    doubts = pair_doubts(demo_votes, Selection())
    found = abstention(doubts, ANCHOR)
    row = next(row for row in found.rows if row.threshold == 0.2)
    told = said.abstained(found, row, changes(doubts, ANCHOR, threshold=0.2))
    assert told.startswith(
        "Without prompts on which a judge's runs differ by an SD above 0.2, 78 % of 1,960 judged"
    )
    assert "Most: sim-maple, -4.5 points (-7.1 to -2.1), more than chance." in told
    # The most changed of several: what one model alone would show is not enough for the best of
    # seven.
    one = changes(doubts, ANCHOR, threshold=0.2)[0]
    one = dataclasses.replace(one, delta=dataclasses.replace(one.delta, high=-0.001))
    assert "more than chance" in said.abstained(found, row, (one,))
    assert "which may be chance" in said.abstained(
        found, row, (one, *changes(doubts, ANCHOR, threshold=0.2))
    )
    told = said.abstained_answer(found, row, changes(doubts, ANCHOR, threshold=0.2))
    assert told.headline.startswith("Without doubtful prompts sim-maple scores lower")
    assert "and one other changes, beyond chance" in told.headline
    order = "stays" if row.kendall == 1 else "changes"
    assert told.headline.endswith(f"beyond chance; the order of models {order}.")
    assert words(told.headline) <= MOST_WORDS
    assert told.figures.startswith(
        "78 % of 1,960 judged prompts stay · sim-maple −4.5 points (−7.1"
    )
    assert f"τ {row.kendall:.2f} with all prompts" in told.figures
    assert not told.good
    several = (one, *changes(doubts, ANCHOR, threshold=0.2)[1:])
    wide = [dataclasses.replace(one, delta=dataclasses.replace(one.delta, low=-9, high=9))
            for one in several]  # fmt: skip
    open_ = said.abstained_answer(found, row, wide)
    assert open_.headline.startswith("Without doubtful prompts no model is shown to score")
    assert open_.good
    raised = [dataclasses.replace(one, delta=Estimate(0.2, 0.19, 0.21)) for one in several]
    both = said.abstained_answer(found, dataclasses.replace(row, kendall=1.0), raised).headline
    assert f"{raised[0].model} scores higher and" in both
    assert both.endswith("others change, beyond chance; the order of models stays.")
    assert words(both) <= MOST_WORDS
    none = Abstained(threshold=0.0, coverage=0.0, n=0, n_models=0, delta_p=None, delta_elo=None, se_elo=None,
                     cv=None, kendall=None)  # fmt: skip
    empty = Abstention(rule="confidence", judges=(), rows=(found.rows[0], none), n=5, n_unknown=0)
    assert said.abstained(empty, none, ()).startswith(
        "Nothing is left without prompts of which a judge is less"
    )
    nothing = said.abstained_answer(empty, none, ())
    assert nothing.headline.startswith("Nothing is left at this threshold")
    assert nothing.figures == "0 % of 5 judged prompts stay"
    assert not nothing.good
    every = dataclasses.replace(row, coverage=1.0)
    assert said.abstained_answer(found, every, ()).headline.startswith("No judge doubts any")


def test_subsamples_in_words(demo_pairs):
    wins = scored({(name, "z"): np.random.default_rng(k).integers(0, 2, 200).astype(float)
                   for k, name in enumerate("ab")})  # fmt: skip
    assert said.subsampled(subsample_errors(wins, "z", sizes=(50, 100), rng=seeded())).endswith(
        "is right."
    )
    told = said.subsampled(subsample_errors(demo_pairs[None], ANCHOR, sizes=(18, 35), rng=seeded()))
    assert "so that error is too large: votes that tie or are averaged vary less" in told
    assert said.subsampled(subsample_errors(wins, "z", sizes=(500,), rng=seeded())).startswith(
        "No model has more"
    )


def test_tasks_in_words():
    draws = np.random.default_rng(2)

    def board_of(p: float) -> PairScores:
        return scored(
            {("even", "z"): np.tile([0.0, 1.0], 75), ("odd", "z"): (draws.random(150) < p) * 1.0}
        )

    spread = between_tasks({"x": board_of(0.9), "y": board_of(0.3), "w": board_of(0.3)}, "z")
    assert [row.model for row in differing(spread)] == ["odd"]
    told = said.tasks(spread)
    assert (
        "The Elo of 1 of 2 models over 3 categories depends on the category by more than chance"
        in told
    )
    assert "most that of odd, by an SD of" in told
    same = board_of(0.5)
    assert "cannot be excluded" in said.tasks(between_tasks({"x": same, "y": same}, "z"))
    assert said.tasks(between_tasks({"x": same, "y": same}, "z")).startswith(
        "No Elo of 2 models over 2 categories"
    )
    assert said.tasks(between_tasks({"x": same}, "z")).startswith(
        "No model met the anchor in two categories"
    )


@pytest.mark.thorough
def test_equal_models_are_rarely_said_to_differ_between_tasks():
    claims = 0
    for seed in range(40):
        draws = np.random.default_rng(seed)
        tasks = {
            str(t): scored(
                {(f"m{k}", "z"): draws.integers(0, 2, 60).astype(float) for k in range(8)}
            )
            for t in range(4)
        }
        claims += bool(differing(between_tasks(tasks, "z")))
    # Family-wise 5 %: seven or more of 40 have a chance below .4 %.
    assert claims < 7


def test_an_outside_board_in_words(demo_pairs):
    here = board(demo_pairs[None], ANCHOR)
    content = (
        "model,score\n"
        + "".join(f"{row.model},{row.elo.value + 5}\n" for row in here.rows[1:])
        + "other,1\n"
    )
    alike = compare_outside(here, read_outside(content.encode(), name="x"), rng=seeded())
    told = said.outside(alike)
    short = said.outside_answer(alike)
    assert short.headline == "Both boards rank their common models alike."
    assert short.figures.startswith("Kendall τ 1.00")
    assert short.figures.endswith("6 common models · 2 here and 1 there without partner")
    for tau, headline in (
        (Estimate(0.6, 0.2, 0.9), "Both boards rank their common models similarly, but not alike."),
        (
            Estimate(0.3, -0.2, 0.8),
            "The other board is not shown to rank the common models as this one does.",
        ),
    ):
        assert said.outside_answer(dataclasses.replace(alike, kendall=tau)).headline == headline
    assert told.startswith(
        "On the 6 models of both boards, Kendall τ is 1.00 (no interval: a perfect order"
    )
    assert told.endswith("2 here and 1 there have no partner.")
    few = compare_outside(
        here, read_outside(b"model,score\nsim-elm,1\nq,2\n", name="x"), rng=seeded()
    )
    assert said.outside_answer(few).headline.startswith("Too few models stand on both boards")
    assert said.outside(few).startswith(
        "Too few models stand on both boards to compare them: 1 match"
    )


def test_figures_hold_the_results_numbers(demo_votes, demo_pairs, judged, spread):
    here, found = board(demo_pairs[None], ANCHOR), spread
    fig = ratings_figure(here, found.pooled, chosen="sim-elm")
    names = [row.model for row in here.rows]
    assert [trace.name for trace in fig.data[:4]] == [
        "anchored Elo",
        "Bradley–Terry",
        "Glicko-2",
        "TrueSkill",
    ]
    assert list(fig.data[0].x) == [row.elo.value for row in here.rows]
    for trace, rated in zip(fig.data[1:4], found.pooled.values(), strict=True):
        elo = dict(zip(rated.models, rated.elo.value, strict=True))
        keys = [key for (key,) in trace.customdata]
        assert set(keys) == set(names)
        assert list(trace.x) == [elo[key] for key in keys]
    assert len({trace.marker.symbol for trace in fig.data[:4]}) == 4
    assert len(ratings_figure(here, found.pooled, shown=3).data[1].x) == 3

    repeats = {
        name: icc(t) for name, t in ratings(demo_votes, Selection(), anchors=(ANCHOR,)).items()
    }
    grown = pooling(
        judged, ANCHOR, rng=seeded(), icc={name: one.icc_3_1.value for name, one in repeats.items()}
    )
    lines = {trace.name: trace for trace in pooling_figure(grown).data}
    assert list(lines["observed, 95 % of juries"].y) == [
        np.sqrt(size.observed.value) for size in grown.sizes
    ]
    assert list(lines[f"σ²(ρ + (1 − ρ)/J), observed ρ {grown.rho:.2f}"].y) == [
        np.sqrt(size.predicted) for size in grown.sizes
    ]
    assert len(pooling_figure(pooling(judged, ANCHOR, rng=seeded())).data) == 2

    cuts = screening(judged, ANCHOR, icc=repeats, cuts=(0.5, 0.95, 1.0))
    drawn = screening_figure(cuts, cut=0.9).data[0]
    assert list(drawn.y) == [
        row.width for row in cuts.rows if row.cut is not None and row.width is not None
    ]
    assert list(drawn.text) == ["4", "3"]

    dropped = abstention(pair_doubts(demo_votes, Selection()), ANCHOR)
    change, error = abstention_figure(dropped, threshold=0.2).data
    kept = [row for row in dropped.rows if row.n]
    assert list(change.y) == [row.delta_elo for row in kept]
    assert list(error.y) == [row.se_elo for row in kept]
    assert [width > 0 for width in change.marker.line.width] == [
        row.threshold == 0.2 for row in kept
    ]

    errors = subsample_errors(demo_pairs[None], ANCHOR, sizes=(18, 35), rng=seeded())
    dots = subsample_figure(errors).data[1:]
    assert [len(trace.x) for trace in dots] == [7, 7]
    assert list(dots[0].y) == errors.se_empirical[errors.n == 18].tolist()

    by_task = {
        name: pair_scores(demo_votes, Selection(where=(("category", name),)), pooled=True)[None]
        for name in ("Math", "Safety")
    }
    tasks = between_tasks(by_task, ANCHOR)
    *small, mean = [trace for trace in tasks_figure(tasks).data if trace.customdata is not None]
    assert list(mean.x) == [row.mean.value for row in tasks.rows]
    assert [trace.name for trace in small] == ["Math", "Safety"]
    assert list(small[0].x) == [row.elo.value for row in tasks.boards["Math"].rows]
    assert small[0].customdata[0][0] == task_key("Math", tasks.boards["Math"].rows[0].model)

    content = "model,score\n" + "".join(f"{row.model},{row.elo.value + 5}\n" for row in here.rows)
    beside = compare_outside(here, read_outside(content.encode(), name="x"), rng=seeded())
    marks = outside_figure(beside, here).data[1]
    assert list(marks.x) == beside.elo.tolist()
    assert list(marks.y) == beside.outside_elo.tolist()


def test_hostile_names_are_escaped_in_every_figure():
    draws = np.random.default_rng(0)
    pairs = scored({(name, "z"): draws.choice([0, 0.5, 1], 30) for name in (HOSTILE, "b", "c")})
    here = board(pairs, "z")
    spread = rating_spread({HOSTILE: pairs, "k": pairs}, "z", rng=seeded(), orders=1, pooled=pairs)
    doubts = {
        HOSTILE: PairDoubt(
            pairs=pairs, run_sd=draws.random(len(pairs)), confidence=np.ones(len(pairs))
        )
    }
    noisy = icc(
        draws.choice([-1.0, 0, 1], (30, 1)) * np.ones((1, 3)) * draws.choice([1.0, 1, 0], (30, 3))
    )
    cuts = screening(
        {HOSTILE: pairs, "k": pairs}, "z", icc={HOSTILE: noisy, "k": noisy}, cuts=(0.0,)
    )
    rows = "".join(f'"{row.model}",{row.elo.value}\n' for row in here.rows)
    beside = compare_outside(
        here, read_outside(f"model,score\n{rows}".encode(), name=HOSTILE), rng=seeded()
    )
    figs = [
        ratings_figure(here, spread.pooled),
        tasks_figure(between_tasks({HOSTILE: pairs, "t": pairs}, "z")),
        outside_figure(beside, here),
        screening_figure(cuts, cut=0.5),
        abstention_figure(abstention(doubts, "z"), threshold=0.2),
        subsample_figure(subsample_errors(pairs, "z", sizes=(10,), rng=seeded())),
        pooling_figure(pooling({HOSTILE: pairs, "k": pairs}, "z", rng=seeded())),
    ]
    for fig in figs:
        drawn = [
            fig.layout.xaxis.title.text,
            fig.layout.yaxis.title.text or "",
            *(fig.layout.yaxis.ticktext or ()),
        ]
        drawn += [trace.name or "" for trace in fig.data]
        drawn += [text for trace in fig.data for text in (trace.hovertext or ())]
        assert not any("<img" in text for text in drawn)
