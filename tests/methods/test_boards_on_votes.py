"""Whole boards from votes: real files of 75 models and of five judges, a planted ranking and
circle.
"""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.random_votes import as_reading
from core.questions.boards.anchored import board, met
from core.questions.boards.anchors import anchors, triangles
from core.questions.boards.judge_dispersion import rating_spread
from core.questions.boards.judges import mean_of_judges
from core.schema import Selection
from core.simulate.votes import demo_world, simulate
from core.store import Store
from core.store.vote_queries import pair_scores


def scores_of(path: Path):
    from core.importers import read

    with Store.open() as store:
        for reading in read([(path.name, path)]):
            store.load(reading)
        return pair_scores(store, Selection(), pooled=True)


def check_intervals_and_tiers_of_75_models(shared_data):
    pooled = scores_of(shared_data / "votes" / "ko_arena_hard.csv.gz")[None]
    assert anchors(pooled, minimum=2) == ("claude-3.7-sonnet",)
    found = board(pooled, "claude-3.7-sonnet")
    assert (len(found.rows), found.n_items, found.never_met) == (75, 500, ())
    assert {row.n for row in found.rows} == {500}
    assert [row.model for row in found.rows[:3]] == [
        "o3-high",
        "o3-medium",
        "gemini-2.5-pro-exp-03-25",
    ]
    for row in found.rows:
        assert row.elo.low < row.elo.value < row.elo.high
        assert row.elo_corrected.high - row.elo_corrected.low < row.elo.high - row.elo.low
    tiers = [row.tier for row in found.rows]
    assert tiers == sorted(tiers)
    assert set(tiers) == set(range(1, max(tiers) + 1))
    assert 10 <= max(tiers) <= 40


def check_dispersion_of_five_judges(shared_data):
    scores = scores_of(shared_data / "votes" / "pba_position.csv.gz")
    judged = {
        name: pairs for name, pairs in scores.items() if name is not None and met(pairs, "human")
    }
    assert sorted(judged) == [
        "claude-3-haiku-20240307", "gemini-pro", "gpt-3.5-turbo-0125", "gpt-3.5-turbo-1106", "gpt-4-0613",
    ]  # fmt: skip
    found = mean_of_judges(judged, "human")
    by_judge = {
        name: {row.model: row.elo.value for row in board(pairs, "human").rows}
        for name, pairs in judged.items()
    }
    for row in found.rows:
        elos = [known[row.model] for known in by_judge.values() if row.model in known]
        assert (row.n_judges, row.elo.value) == (5, pytest.approx(np.mean(elos)))
        assert row.sd_judges == pytest.approx(np.std(elos, ddof=1))
    spread = rating_spread(judged, "human", rng=np.random.default_rng(0), orders=2)
    # A judge by whom a model won every prompt leaves that cell, which Bradley–Terry cannot rate.
    cells = ~np.isnan(spread.elo["bradley_terry"])
    assert 0 < (~cells).sum() < 5
    own = [
        spread.elo["raee"][cells[:, m], m].std(ddof=1)
        for m in range(len(spread.models))
        if cells[:, m].sum() > 1
    ]
    assert spread.methods[0].sd.value == pytest.approx(np.mean(own))
    # These judges disagree by more than a hundred points a model, whichever the method.
    assert all(
        100 < row.sd.value < 250 and (row.kendall is None or row.kendall > 0.9)
        for row in spread.methods
    )


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_either_anchor_recovers_the_planted_ranking_and_the_planted_circle_is_flagged(seed):
    world = demo_world()
    with Store.open() as store:
        store.load(
            as_reading(simulate(world, items=70, rng=np.random.default_rng(seed)), name="demo")
        )
        pooled = pair_scores(store, Selection(), pooled=True)[None]
    strength = dict(world.strengths)
    for anchor in world.anchors:
        ranking = [row.model for row in board(pooled, anchor).rows]
        planted = sorted(ranking, key=lambda name: -strength[name])
        assert len(ranking) == 7
        swapped = [k for k in range(7) if ranking[k] != planted[k]]
        # At most one pair of neighbours stands the other way round.
        assert len(swapped) in (0, 2)
        assert not swapped or swapped[1] - swapped[0] == 1
    found = triangles(pooled)
    circle = next(
        i for i in range(len(found)) if {found.a[i], found.b[i], found.c[i]} == set(world.cycle)
    )
    assert found.broken[circle]
    assert circle == 0
