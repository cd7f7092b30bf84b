"""The grid of tasks, judges, numbers of votes and rules is what `evaluate` gives in each cell."""

import json

import numpy as np
import pytest
from apps import opened
from places import REPOSITORY

from benchmarks import rewardbench2
from core.__main__ import main
from core.aggregation.evaluation import evaluate
from core.errors import InvalidOption, NoUsableVotes
from core.experiments.grid import task_grid
from core.experiments.sweeps import subsample
from core.interpretation.votes_to_labels import grid_answer
from core.records import VoteCounts

DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"


def drawn(rng, items=120, votes=6):
    gold = rng.integers(-1, 2, size=items)
    side = np.where(gold == 0, 0.5, np.where(gold == 1, 0.8, 0.2))
    plus = rng.binomial(votes - 1, side)
    return VoteCounts(
        comparison=np.arange(items),
        item=np.arange(items),
        plus=plus,
        tie=np.ones(items, dtype=np.int64),
        minus=votes - 1 - plus,
        gold=gold,
    )


def test_a_cell_is_what_evaluate_gives_with_all_votes_and_with_fewer():
    rng = np.random.default_rng(0)
    by_task = {task: {judge: drawn(rng) for judge in "ab"} for task in ("x", "y")}
    grid = task_grid(by_task, sizes=(2,), n_splits=20, resamples=200)
    assert [(c.task, c.judge, c.votes) for c in grid.cells[:3]] == [
        ("x", "a", None),
        ("x", "a", 2),
        ("x", "b", None),
    ]
    counts = by_task["y"]["b"]
    for votes in (None, 2):
        cell = next(c for c in grid.cells if (c.task, c.judge, c.votes) == ("y", "b", votes))
        used = counts if votes is None else subsample(counts, 2, rng=np.random.default_rng(0))
        alone = evaluate(used, rng=np.random.default_rng(0), n_splits=20, resamples=200)
        mae = {score.key: score.mae for score in cell.scores}
        assert mae == {key: score.mae for key, score in alone.scores.items()}
        assert cell.gain == mae["majority"] - mae["btd"]
    assert len(grid.to_frame()) == sum(len(cell.scores) for cell in grid.cells)
    assert "of 4 tasks and judges" in grid_answer(grid)


def test_what_cannot_be_told_is_left_out_with_its_reason():
    rng = np.random.default_rng(1)
    grid = task_grid(
        {"x": {"many": drawn(rng), "few": drawn(rng, items=5)}}, sizes=(9,), n_splits=5, resamples=0
    )
    assert [cell.judge for cell in grid.cells] == ["many"]
    assert grid.left_out["x", "many", 9] == "no labelled comparison has 9 votes"
    assert set(grid.left_out) == {("x", "many", 9), ("x", "few", None), ("x", "few", 9)}
    with pytest.raises(NoUsableVotes, match="No task and judge"):
        task_grid({"x": {"few": drawn(rng, items=5)}}, n_splits=5, resamples=0)
    with pytest.raises(InvalidOption, match="grid votes"):
        task_grid({}, sizes=(0,))


def test_the_command_writes_the_grid_and_needs_it_for_numbers_of_votes(tmp_path, capsys):
    out = tmp_path / "audit.json"
    judge = ["--judge", "sim-judge-careful", "--splits", "10"]
    assert (
        main(["audit", str(DEMO), "--grid", "--grid-votes", "2", "--json", str(out), *judge]) == 0
    )
    rows = json.loads(out.read_text())["grid"]
    assert {row["votes"] for row in rows} == {None, 2}
    assert len({row["task"] for row in rows}) > 1
    assert main(["audit", str(DEMO), "--grid-votes", "2"]) == 2
    assert "--grid" in capsys.readouterr().err


def test_the_page_shows_the_grid(app):
    page = opened(app, "votes_to_labels", votes_to_labels="Tasks and judges")
    assert not page.exception
    assert any("majority − BTD" in frame.value.columns for frame in page.dataframe)


@pytest.mark.thorough
def test_on_rewardbench_the_grid_is_the_table_of_the_results(shared_data):
    cells = rewardbench2.cells(shared_data / "votes" / "rewardbench2_pairs.csv.gz")
    by_task: dict[str, dict[str, VoteCounts]] = {}
    for (judge, category), votes in cells.items():
        by_task.setdefault(category, {})[judge] = votes
    grid = task_grid(by_task, resamples=0)
    results = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
    assert len(grid.cells) == 15
    for cell in grid.cells:
        mae = {score.key: (score.mae, score.pa) for score in cell.scores}
        row = next(
            line
            for line in results.splitlines()
            if line.startswith(f"| {cell.judge} | {cell.task} | {cell.n} |")
        )
        shown = [part.strip(" *") for part in row.split("|")[4:7]]
        for key, text in zip(("majority", "threshold", "btd"), shown, strict=True):
            assert text == f"{mae[key][0]:.3f} / {mae[key][1]:.3f}"
