"""The benchmarks run, and what they time ours against gives the same answers. No time is
asserted.
"""

import json

import numpy as np
import pandas as pd
import pytest
from btd_counts import simulate_counts
from places import REPOSITORY

from benchmarks import alternatives, budget, engines, files, interactions
from benchmarks.__main__ import main
from benchmarks.random_votes import as_reading, random_votes
from benchmarks.timing import Row, Skipped, Timing, in_turns, machine, met, table
from core.questions.confidence.calibration_error import calibration
from core.questions.labels.btd import decision_map, fit
from core.questions.labels.evaluation import evaluate
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries
from core.store.export import write_file


@pytest.fixture(scope="module")
def votes():
    """A few thousand votes of two judges: as a frame, and asked of a store."""
    table = random_votes(4_800, judges=2, rng=np.random.default_rng(3))
    with Store.open(None) as store:
        store.load(as_reading(table, name="few"))
        asked = {
            ask: getattr(queries, ask)(store, Selection())
            for ask in ("vote_counts", "outcomes", "positions")
        }
    return table.to_pandas(), asked


def test_pandas_counts_what_the_store_counts(votes):
    frame, asked = votes
    counted = alternatives.vote_counts(frame)
    for judge, ours in asked["vote_counts"].items():
        theirs = counted[counted["judge"] == judge]
        columns = ["plus", "tie", "minus", "gold"]
        mine = pd.DataFrame({name: getattr(ours, name) for name in columns})
        assert mine.value_counts().to_dict() == theirs[columns].astype(int).value_counts().to_dict()
    right = alternatives.outcomes(frame)
    shown = alternatives.first_and_flips(frame)
    for judge, ours in asked["outcomes"].items():
        theirs = right.loc[judge]
        assert (len(ours), ours.n.sum(), ours.correct.sum()) == (len(theirs), *theirs.sum())
        position = asked["positions"][judge]
        assert [position.first.sum(), position.flips.sum()] == shown.loc[judge].tolist()


def test_other_calibration_measures_are_ours(votes):
    frame, asked = votes
    for judge, outcomes in asked["outcomes"].items():
        of_judge = frame[frame["judge"] == judge]
        ours = calibration(outcomes)
        correct, stated = (
            (of_judge["vote"] == of_judge["gold"]).to_numpy(),
            of_judge["confidence"].to_numpy(),
        )
        _, brier, _ = alternatives.sklearn_calibration(correct, stated)
        assert (ours.brier, alternatives.pandas_ece(of_judge)) == pytest.approx(
            (brier, ours.ece), abs=1e-12
        )
        # scikit-learn clips a confidence of 1 closer to 1 than we do, at the machine's precision.
        calm = of_judge[of_judge["confidence"] < 1]
        inside = outcomes.confidence < 1
        known = type(outcomes)(
            **{
                name: getattr(outcomes, name)[inside]
                for name in ("item", "confidence", "n", "correct")
            }
        )
        _, _, nll = alternatives.sklearn_calibration(
            (calm["vote"] == calm["gold"]).to_numpy(), calm["confidence"].to_numpy()
        )
        assert calibration(known).nll == pytest.approx(nll, abs=1e-12)


def test_scipy_finds_the_fit_and_the_table_that_we_find():
    counts = simulate_counts(
        beta=1.2, nu=3.0, gamma=0.8, comparisons=600, rng=np.random.default_rng(8)
    )
    cells = counts.cells()[0]
    ours = fit(cells)
    theirs = alternatives.btd(*alternatives.features(cells), cells.gold, cells.weight)
    assert theirs.fun == pytest.approx(ours.drps, abs=1e-6)
    assert ours.drps <= theirs.fun + 1e-9
    np.testing.assert_array_equal(alternatives.btd_step(cells, 12), decision_map(ours, 12).decision)
    found = evaluate(counts, methods=("btd", "majority"), n_splits=20, rng=np.random.default_rng(1))
    btd, majority = alternatives.split_maes(counts, n_splits=20, rng=np.random.default_rng(1))
    for key, mae in (("btd", btd), ("majority", majority)):
        # Other splits of the same labels: within the spread of twenty of them.
        assert abs(mae - found.scores[key].mae) < 4 * (
            found.scores[key].mae_high - found.scores[key].mae
        )


@pytest.mark.thorough
def test_every_part_prints_a_line(capsys, tmp_path):
    file = tmp_path / "few.csv.gz"
    write_file(
        random_votes(2_400, judges=2, rng=np.random.default_rng(4)).select(
            [
                "item_id",
                "model_a",
                "model_b",
                "judge",
                "run",
                "position",
                "vote",
                "confidence",
                "gold",
            ]
        ),
        file,
    )
    kept = tmp_path / "results.json"
    few = ["--votes", "3000", "--splits", "5", "--repeats", "2", "--only", "step"]
    main([*few, "file", "--file", str(file), "--results", str(kept)])
    # What is timed again takes the place of its line.
    main([*few, "--file", str(file), "--results", str(kept)])
    rows = json.loads(kept.read_text())["rows"]
    assert len({(row["work"], row["against"]) for row in rows}) == len(rows) > 5
    names = {"work", "against", "ours_s", "theirs_s", "ratio", "low", "high", "wanted", "met"}
    assert all(set(row) == names and row["low"] <= row["high"] for row in rows)
    shown = capsys.readouterr().out
    for what in (
        "slider step",
        "table of 5 splits",
        "count votes",
        "full audit of the 2,400-vote file",
        "export",
    ):
        assert f"{what}" in shown
    assert "skipped" not in shown
    assert str(tmp_path) not in shown


def test_what_a_visitor_waits_for_has_its_goal_beside_a_bare_app():
    wanted = ("bins", "ε", "category", "judge, Verdict", "BTD α", "judge, Calibrated aggregation")
    said = [one.what for one in interactions.INTERACTIONS]
    for start in (*wanted, "judge, Vote budget"):
        assert [one for one in said if one.startswith(start)], start
    assert any(one.page for one in interactions.INTERACTIONS)
    for one in interactions.INTERACTIONS:
        page = one.path.partition("?")[0] or "verdict"
        assert (REPOSITORY / "pages" / f"{page}.py").exists()


@pytest.mark.thorough
def test_an_engine_is_started_and_audited_as_the_file_is():
    of_file, of_engine = engines.run(1_200, ("parquet",))
    assert (of_engine.engine, of_engine.equal) == ("parquet", True)
    assert of_engine.rows > of_file.rows == 0


def test_an_absent_file_is_a_reason(tmp_path):
    (row,) = files.rows(tmp_path / "absent.csv.gz")
    assert "absent.csv.gz is not here" in table([row])
    assert str(tmp_path) not in table([row])


@pytest.mark.thorough
def test_importing_is_timed_in_fresh_processes():
    row = files.importing(repeats=1)
    assert row.ours.least > 0
    assert row.theirs.least > 0


def test_rows_of_the_table():
    slow, fast = Timing(runs=(4.0, 30.0, 20.0)), Timing(runs=(10.0, 10.0))
    rows = [
        Row(what="in time", ours=fast, goal_ms=15),
        Row(what="late", ours=slow, instead="other", theirs=fast, goal_ms=15),
        Row(what="too many times", ours=slow, instead="other", theirs=fast, goal_ratio=1.5),
        Row(what="no goal", ours=slow),
        Skipped(what="left out", reason="it is not here"),
    ]
    assert [met(row) for row in rows[:4]] == ["yes", "no (least: yes)", "no (least: yes)", "–"]
    printed = table(rows).splitlines()
    assert printed[3] == "| late | 20 (4) | other | 10 (10) | 2 | ≤ 15 ms | no (least: yes) |"
    assert printed[6] == "| left out | skipped: it is not here | | | | | |"
    assert len({line.count("|") for line in printed}) == 1


def test_turns_alternate():
    said = []
    ours, theirs = in_turns(lambda: said.append("a"), lambda: said.append("b"), repeats=2)
    assert said == ["a", "b"] * 3
    assert (len(ours.runs), len(theirs.runs)) == (2, 2)


def test_machine_is_named_without_a_host():
    import platform

    assert platform.node() not in machine()
    assert "cores" in machine()
    assert "duckdb" in machine()


def test_the_budget_benchmark_prints_what_the_planner_saves(tmp_path, capsys):
    """Every comparison has eight votes alike: two of them suffice, and no label changes."""
    gold = np.where(np.arange(400) % 3 > 0, 1, -1)
    frame = pd.DataFrame(
        {
            "item_id": np.arange(400).repeat(8),
            "model_a": "one",
            "model_b": "two",
            "judge": "judge",
            "run": np.tile(np.arange(8), 400),
            "category": "all",
            "vote": gold.repeat(8),
            "gold": gold.repeat(8),
        }
    )
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    budget.main([str(path)])
    printed = capsys.readouterr().out
    rows = {
        row.split(" | ")[0].strip("| *"): row.strip("| ").split(" | ")
        for row in printed.splitlines()
        if row.startswith("|")
    }
    assert rows["BTD, 8 votes"][1:5] == ["8.00", "0.0%", rows["BTD, 8 votes"][3], "0"]
    assert rows["Stop if the first 2 agree"][1:3] == ["2.00", "75.0%"]
    planned = rows["Planner, same labels"]
    assert float(planned[1]) < 8
    assert planned[4] == "0"
    assert rows["judge"][:3] == ["judge", "all", "400"]
    assert "100 random splits" in printed
    assert "5% of the items" in printed
    assert "all 8 votes" in printed
