"""Leaderboards in figures and sentences: tiers, anchors, circles, and who leads."""

import numpy as np
import pytest
from places import REPOSITORY

from core.finding.figure import rater_styles
from core.questions.boards.anchored import board, met
from core.questions.boards.anchors import anchor_swap, anchors, triangles
from core.questions.boards.figure import board_figure, judge_key, swap_figure, swap_key
from core.questions.boards.standings import Standings, lead, most_reversing, standings
from core.questions.boards.words import (
    leader_sentence,
    mid_region,
    no_board,
    sound,
    triangle_summaries,
    triangles_frame,
)
from core.records import PairScores

MAIN = REPOSITORY / "pages" / "main.py"


CYCLE = {"sim-hazel", "sim-birch", "sim-elm"}


def scored(outcomes: dict[tuple[str, str], np.ndarray]) -> PairScores:
    """Pair scores from (model, model) → score of the first on prompts 0, 1, 2 …; NaN: not
    played.
    """
    models = tuple(sorted({name for pair in outcomes for name in pair}))
    rows = [
        (*sorted((models.index(one), models.index(two))), item, s if one < two else 1 - s)
        for (one, two), scores in outcomes.items()
        for item, s in enumerate(scores)
        if not np.isnan(s)
    ]
    low, high, item, score = np.array(rows, dtype=float).reshape(-1, 4).T
    return PairScores(
        models=models,
        model_1=low.astype(int),
        model_2=high.astype(int),
        item=item.astype(int),
        score=score,
        n_votes=np.ones(len(rows), dtype=int),
    )


def judged(pairs: PairScores, anchor: str):
    boards = {name: board(pairs, name) for name in anchors(pairs, minimum=2)}
    compared = tuple(dict.fromkeys([anchor, *anchors(pairs)]))
    found = standings(pairs, boards[anchor], boards=boards, swap=anchor_swap(pairs, compared))
    return found, triangle_summaries(triangles(pairs), boards), boards


@pytest.mark.thorough
@pytest.mark.parametrize("models", [3, 10, 30])
def test_the_best_of_equal_models_rarely_leads(models):
    """Of thirty models that equal the anchor one is above it at 95 % in more than half of the
    boards.
    """
    rng, prompts = np.random.default_rng(20), 80
    led = 0
    for _ in range(200):
        pairs = PairScores(
            models=(*(f"m{i:02}" for i in range(models)), "z"),
            model_1=np.arange(models).repeat(prompts),
            model_2=np.full(models * prompts, models),
            item=np.tile(np.arange(prompts), models),
            score=(rng.random(models * prompts) < 0.5).astype(float),
            n_votes=np.ones(models * prompts, dtype=np.int64),
        )
        shown = board(pairs, "z")
        said = leader_sentence(Standings(board=shown, lead=None, others=()))
        led += "leads" in said
        assert ("as the best of" in said) == (shown.rows[0].p.low > 0.5 and "leads" not in said)
    assert led / 200 <= 0.05


@pytest.mark.thorough
def test_the_planted_circle_is_named_and_nothing_else_is_intransitive(demo_pairs):
    found, told, _ = judged(demo_pairs[None], "sim-anchor-one")
    circles = [triangle for triangle in told if triangle.intransitive]
    assert [one.words for one in circles] == [
        "sim-birch beats sim-elm, sim-elm beats sim-hazel, sim-hazel beats sim-birch"
    ]
    assert circles[0] is told[0]
    # The circle bends the triangles that share one of its edges, and only those.
    assert sum(triangle.broken for triangle in told) == 7
    said = leader_sentence(found, told)
    assert said.startswith(
        "sim-hazel leads: against sim-anchor-one it scores 64 % (53 to 75 %, 70 prompts)"
    )
    assert f"intransitive: {circles[0].words}." in said
    assert "depends on the anchor" in said
    assert not sound(found, told)


def test_the_lead_is_the_paired_difference_that_the_tiers_test(demo_pairs):
    found = board(demo_pairs[None], "sim-anchor-one")
    first = lead(demo_pairs[None], found)
    pairs = demo_pairs[None]
    code = {name: pairs.models.index(name) for name in ("sim-anchor-one", "sim-birch", "sim-hazel")}

    def score(name: str) -> np.ndarray:
        rows = (pairs.model_1 == code["sim-anchor-one"]) & (pairs.model_2 == code[name])
        return 1 - pairs.score[rows]

    d = score("sim-hazel") - score("sim-birch")
    t = 3.1546140633  # t of 69 degrees of freedom at 1 - .05/21/2: seven models are 21 pairs
    error = d.std(ddof=1) / np.sqrt(70)
    gap = first.difference
    assert (first.leader, first.runner_up, gap.n, first.paired) == (
        "sim-hazel",
        "sim-birch",
        70,
        True,
    )
    assert (gap.value, gap.low, gap.high) == pytest.approx(
        (d.mean(), d.mean() - t * error, d.mean() + t * error)
    )
    # At 95 % for this pair alone it was "more than chance"; picked from 21 pairs it is not.
    assert d.mean() - 1.9949454 * error > 0 > gap.low
    assert (gap.level, first.compared) == (pytest.approx(1 - 0.05 / 21), 21)
    assert first.top_tier == ("sim-hazel", "sim-birch")
    # A finite pool and κ narrow intervals; they do not set models apart.
    narrowed = lead(pairs, board(pairs, "sim-anchor-one", pool=71, kappa_factor=0.5))
    assert narrowed.difference == gap


@pytest.mark.parametrize("seed", range(6))
def test_a_lead_excludes_zero_exactly_when_the_second_starts_a_tier(seed):
    rng = np.random.default_rng(seed)
    pairs = scored({(name, "z"): rng.choice([0, 0.5, 1], 40, p=[0.3, 0.3, 0.4]) for name in "abc"})
    found = board(pairs, "z")
    gap = lead(pairs, found).difference
    assert (gap.low > 0) == (found.rows[1].tier == 2)
    assert gap.low <= gap.value <= gap.high


@pytest.mark.thorough
def test_models_that_are_alike_are_not_said_to_depend_on_the_anchor():
    """Twelve equal models that all met each other: hardly any draw is called reversed or
    intransitive.
    """
    names = [f"m{i:02d}" for i in range(12)]
    claims = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pairs = scored(
            {
                (x, y): rng.integers(0, 2, 60).astype(float)
                for i, x in enumerate(names)
                for y in names[i + 1 :]
            }
        )
        found, told, _ = judged(pairs, "m00")
        claims += any(other.reversals for other in found.others) or any(
            t.intransitive for t in told
        )
    # Family-wise error of either claim is at most 5 %: five or more of 20 have a chance below .3 %.
    assert claims < 5


def test_a_judge_that_turns_with_the_anchor_is_found():
    """Beside y the judge likes a, beside z it likes b, each nine times in ten."""
    rng = np.random.default_rng(1)

    def often(p: float) -> np.ndarray:
        return (rng.random(200) < p).astype(float)

    pairs = scored(
        {
            ("a", "y"): often(0.9),
            ("b", "y"): often(0.1),
            ("c", "y"): often(0.5),
            ("y", "z"): often(0.5),
        }
        | {("a", "z"): often(0.1), ("b", "z"): often(0.9), ("c", "z"): often(0.5)}
    )
    found, told, _ = judged(pairs, "y")
    other = most_reversing(found)
    assert other.anchor == "z"
    assert ("a", "b") in other.reversals
    assert ("b", "a") not in other.reversals
    assert other.kendall_tau == -1
    said = leader_sentence(found, told)
    assert "1 of 1 others (z, Kendall τ -1.00) reverses models by more than chance" in said
    assert not sound(found, told)


def test_words_where_the_anchor_wins_or_is_level():
    losing = scored({("a", "z"): np.tile([0.0, 0.0, 1.0, 0.0], 25), ("b", "z"): np.zeros(100)})
    found, told, _ = judged(losing, "z")
    assert leader_sentence(found, told).startswith(
        "No model beats the anchor, z; a, the best of them, scores 25 %"
    )
    level = scored({("a", "z"): np.tile([0.0, 1.0], 50), ("b", "z"): np.zeros(100)})
    found, told, _ = judged(level, "z")
    assert leader_sentence(found, told).startswith(
        "a is first, but not shown to be better than the anchor"
    )
    assert "Whether another anchor would rank them alike is unknown" in leader_sentence(found, told)


def test_the_corrected_interval_is_said_when_asked_for(demo_pairs):
    found, told, _ = judged(demo_pairs[None], "sim-anchor-one")
    row = found.board.rows[0]
    assert f"({row.elo_corrected.low:+.0f} to {row.elo_corrected.high:+.0f})" in leader_sentence(
        found, told, corrected=True
    )
    assert f"({row.elo.low:+.0f} to {row.elo.high:+.0f})" in leader_sentence(found, told)


def test_no_board_says_why():
    two = scored({("a", "b"): np.tile([1.0, 0.0, 1.0, 1.0], 20)})
    assert no_board(two).startswith(
        "Only two models met, so there is nothing to rank: against b, a scores 75 %"
    )
    apart = scored({("a", "b"): np.ones(3), ("c", "d"): np.ones(3)})
    assert "no model met two others. Those that met: a and b; c and d." in no_board(apart)
    assert not anchors(apart, minimum=2)
    none = PairScores(models=(), **{name: np.zeros(0, int) for name in ("model_1", "model_2", "item")},
                      score=np.zeros(0), n_votes=np.zeros(0, int))  # fmt: skip
    assert "this selection has none" in no_board(none)


def test_mid_region_against_the_mark(demo_pairs):
    assert mid_region(board(demo_pairs[None], "sim-anchor-one")) == (
        "100 % of 7 models score between 20 % and 80 % against sim-anchor-one; 95 % are wanted."
    )
    far = scored({("a", "z"): np.ones(50), ("b", "z"): np.tile([0.0, 1.0], 25)})
    assert mid_region(board(far, "z")).startswith("50 % of 2 models")
    assert "many points of Elo" in mid_region(board(far, "z"))


def test_met_and_frames(demo_pairs):
    pairs = demo_pairs[None]
    assert met(pairs, "sim-willow")
    assert not met(pairs, "gone")
    found, told, _ = judged(pairs, "sim-anchor-one")
    frame = found.to_frame()
    swap = anchor_swap(pairs, anchors(pairs)).to_frame().set_index(["anchor_1", "anchor_2"])
    for row in frame.itertuples():
        assert row.kendall_tau == swap.loc[("sim-anchor-one", row.anchor), "kendall_tau"]
    shown = triangles_frame(triangles(pairs), told)
    assert len(shown) == len(told) == 13
    assert shown["verdict"].tolist().count("intransitive") == 1
    assert (shown["verdict"] == "not shown to be broken").sum() == 6
    assert set(shown.loc[0, ["a", "b", "c"]]) == CYCLE


def test_board_figure_holds_the_boards_numbers(demo_pairs):
    found = board(demo_pairs[None], "sim-anchor-one")
    judges = {name: board(pairs, "sim-anchor-one") for name, pairs in demo_pairs.items() if name}
    styles = rater_styles(judges)
    fig = board_figure(found, judged=judges, styles=styles, chosen="sim-elm")
    pooled = next(trace for trace in fig.data if trace.name == "all, pooled")
    assert list(pooled.x) == [row.elo.value for row in found.rows]
    assert pooled.x + np.array(pooled.error_x.array) == pytest.approx(
        [row.elo.high for row in found.rows]
    )
    assert pooled.x - np.array(pooled.error_x.arrayminus) == pytest.approx(
        [row.elo.low for row in found.rows]
    )
    assert [key for (key,) in pooled.customdata] == [row.model for row in found.rows]
    assert [width > 0 for width in pooled.marker.line.width] == [
        row.model == "sim-elm" for row in found.rows
    ]
    careful = next(trace for trace in fig.data if trace.name == "sim-judge-careful")
    assert list(careful.x) == [row.elo.value for row in judges["sim-judge-careful"].rows]
    assert careful.marker.symbol == styles["sim-judge-careful"].symbol
    assert careful.customdata[0][0] == judge_key(
        "sim-judge-careful", judges["sim-judge-careful"].rows[0].model
    )
    # Tiers are told by their names, not by shades alone.
    assert [note.text for note in fig.layout.annotations] == [f"tier {i}" for i in range(1, 5)]
    corrected = board_figure(found, corrected=True).data[0]
    assert corrected.x + np.array(corrected.error_x.array) == pytest.approx(
        [row.elo_corrected.high for row in found.rows]
    )
    ticks = dict(zip(fig.layout.xaxis.tickvals, fig.layout.xaxis.ticktext, strict=True))
    assert ticks[0] == "0<br>50 %"
    assert ticks[200] == "+200<br>76 %"


def test_swap_figure_is_centred_and_its_distances_are_the_shifts(demo_pairs):
    pairs = demo_pairs[None]
    one, two = board(pairs, "sim-anchor-one"), board(pairs, "sim-anchor-two")
    (row,) = anchor_swap(pairs, ("sim-anchor-one", "sim-anchor-two")).rows
    fig = swap_figure(one, two, row.models)
    here, there = fig.data[:2]
    assert np.mean(here.x) == pytest.approx(0, abs=1e-9)
    shift = dict(zip(row.models, row.shifts, strict=True))
    names = [found.model for found in one.rows if found.model in row.models]
    assert np.array(there.x) - here.x == pytest.approx([shift[name] for name in names])
    assert [key for (key,) in there.customdata] == [
        swap_key("sim-anchor-two", name) for name in names
    ]
    assert here.marker.symbol != there.marker.symbol


def test_a_large_board_stays_within_what_a_browser_draws():
    rng = np.random.default_rng(0)
    pairs = scored(
        {(f"model-{i:03d}-{'x' * 60}", "z"): rng.integers(0, 2, 5).astype(float) for i in range(60)}
    )
    found = board(pairs, "z")
    many = {f"judge {j}": found for j in range(20)}
    fig = board_figure(found, judged=many, styles=rater_styles(many))
    assert sum(len(trace.x) for trace in fig.data) <= 1000
    assert len(board_figure(found, shown=15).data[0].x) == 15
    assert max(len(text) for text in fig.layout.yaxis.ticktext) <= 24
    # Names are cut in the middle, so those that differ at the start still do.
    assert len(set(fig.layout.yaxis.ticktext)) == 60
