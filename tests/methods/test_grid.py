"""The grid of tasks, judges, numbers of votes and rules is what `evaluate` gives in each cell."""

import json

import numpy as np
import pytest
from apps import opened
from places import REPOSITORY

from benchmarks import rewardbench2
from core.__main__ import main
from core.errors import InvalidOption, NoUsableVotes
from core.questions.labels.evaluation import evaluate
from core.questions.labels.rules import WEIGHINGS, confidence_labels
from core.questions.labels.words import grid_answer
from core.questions.planning.grid import task_grid
from core.questions.planning.sweeps import labels_by_confidence, subsample, vote_sweep
from core.records import ConfidenceCounts, VoteCounts

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
    assert "of 4 tasks and judges" in grid_answer(grid).headline


def stated(rng, counts):
    """A confidence on every vote, alike on some votes for one label of a comparison."""
    row, label = np.nonzero(counts.votes)
    each = np.repeat(np.arange(len(row)), counts.votes[row, label])
    confidence = rng.integers(5, 11, size=len(each)) / 10
    return ConfidenceCounts(
        comparison=counts.comparison[row[each]],
        vote=label[each] - 1,
        confidence=confidence,
        n=np.ones(len(each), dtype=np.int64),
    )


def test_rules_by_confidence_on_drawn_votes():
    """All votes drawn: as if none were; one vote: what it says; of two, what the surer says."""
    rng = np.random.default_rng(3)
    counts = drawn(rng)
    votes = stated(rng, counts)
    per_label = np.zeros((len(counts), 3))
    np.add.at(per_label, (votes.comparison, votes.vote + 1), votes.confidence)
    every = labels_by_confidence(counts, votes, rng=rng)
    sums = {"stated": counts.votes, "total": per_label}
    assert every["ci_sc"].tolist() == confidence_labels(sums, "sum").tolist()
    one = subsample(counts, 1, rng=rng)
    for labels in labels_by_confidence(one, votes, rng=rng).values():
        assert labels.tolist() == one.label.tolist()
    # One vote for each side, sure by .9 and .6: the first wins by every rule.
    pair = counts.rows(np.array([0]))
    split = VoteCounts.of(
        np.array([[1, 0, 1]]), comparison=pair.comparison, item=pair.item, gold=pair.gold
    )
    said = ConfidenceCounts(
        comparison=np.array([0, 0]),
        vote=np.array([-1, 1]),
        confidence=np.array([0.9, 0.6]),
        n=np.array([1, 1]),
    )
    for labels in labels_by_confidence(split, said, rng=rng).values():
        assert labels.tolist() == [-1]
    unknown = ConfidenceCounts(
        comparison=said.comparison, vote=said.vote, confidence=np.array([0.9, np.nan]), n=said.n
    )
    with pytest.raises(NoUsableVotes, match="some have none"):
        labels_by_confidence(split, unknown, rng=rng)


def test_a_sweep_with_rules_by_confidence_leaves_the_others_as_they_are():
    rng = np.random.default_rng(4)
    counts = drawn(rng)
    few = {"sizes": (2, 4), "subsamples": 2, "n_splits": 5}
    plain = vote_sweep(counts, rng=np.random.default_rng(0), **few)
    more = vote_sweep(counts, rng=np.random.default_rng(0), confidences=stated(rng, counts), **few)
    assert more.methods == (*plain.methods, *WEIGHINGS)
    majority = plain.methods.index("majority")
    np.testing.assert_allclose(more.mae.value[:, majority], plain.mae.value[:, majority])
    grid = task_grid(
        {"x": {"a": counts}},
        sizes=(2,),
        n_splits=5,
        resamples=0,
        confidences={"a": stated(rng, counts)},
    )
    keys = {cell.votes: {score.key for score in cell.scores} for cell in grid.cells}
    assert keys[2] - keys[None] == set(WEIGHINGS)


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


@pytest.mark.thorough
def test_the_page_shows_the_grid_that_the_command_writes(app, tmp_path):
    """With the same α, κ and share both are one grid; a row of the figure leads to its votes."""
    out = tmp_path / "audit.json"
    judge, chosen = "sim-judge-careful", "Math · sim-judge-careful"
    how = ["--alpha", "2", "--kappa", "0.5", "--calibration-share", "0.1", "--grid-votes", "2"]
    assert main(["audit", str(DEMO), "--grid", *how, "--judge", judge, "--json", str(out)]) == 0
    rows = json.loads(out.read_text())["grid"]
    query = {"alpha": "2.0", "kappa_ties": "0.5", "grid-share": "10", "grid-votes": "2"}
    page = opened(
        app, "votes_to_labels", tab="Tasks and judges", judges=judge, cell=chosen, **query
    )
    shown = next(f.value for f in page.dataframe if "majority − BTD" in f.value.columns)
    names = {"BTD": "btd", "Majority (SC)": "majority", "CI-SC": "ci_sc"}
    seen = 0
    for cell in shown.to_dict("records"):
        for name, key in names.items():
            votes = None if cell["votes"] == "all" else int(cell["votes"])
            row = next(
                row
                for row in rows
                if (row["task"], row["votes"], row["rule"]) == (cell["task"], votes, key)
            )
            assert cell[name] == pytest.approx(row["mae"])
            seen += 1
    assert seen == len([row for row in rows if row["rule"] in names.values()])
    assert page.selectbox(key="cell").value == chosen
    behind = next(f.value for f in page.dataframe if "item_id" in f.value.columns)
    assert {*behind["judge"]} == {judge}
    assert {*behind["category"]} == {"Math"}


@pytest.mark.thorough
def test_on_rewardbench_the_grid_is_the_table_of_the_results(shared_data):
    cells = rewardbench2.cells(shared_data / "votes" / "rewardbench2_pairs.csv.gz")
    by_task: dict[str, dict[str, VoteCounts]] = {}
    for (judge, category), votes in cells.items():
        by_task.setdefault(category, {})[judge] = votes
    grid = task_grid(by_task, resamples=0)
    printed = REPOSITORY / "benchmarks" / "printed" / "rewardbench2.md"
    results = printed.read_text(encoding="utf-8")
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
