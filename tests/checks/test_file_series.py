"""Control charts over a series of files: changes by least squares, limits, and what is said."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_against import scored, votes, written

import core
from benchmarks.change import JUDGES, file_series
from core.__main__ import main
from core.errors import InvalidOption
from core.questions.agreement.figure import control_figure
from core.questions.change.charts import FIRST, WEIGHT, Chart, control_chart
from core.questions.change.results import FileSeries
from core.questions.change.votes import Cells
from core.reporting.build import to_markdown


def cells(table: np.ndarray, item: np.ndarray | None = None) -> dict[int, Cells]:
    """One file per column; NaN is a cell that the file does not have."""
    item = np.arange(len(table)) if item is None else item
    found = {}
    for place, column in enumerate(table.T):
        rows = np.flatnonzero(~np.isnan(column))
        found[place] = Cells(rows, item[rows], column[rows])
    return found


def test_changes_are_differences_of_means_where_all_files_have_all_items() -> None:
    table = np.random.default_rng(1).random((40, 9))
    chart = control_chart("j", "accuracy", cells(table))
    means = table.mean(axis=0)
    assert chart.change == pytest.approx(means - means[:FIRST].mean())
    assert chart.usual == pytest.approx(means[:FIRST].mean())
    average, expected = 0.0, []
    for change in chart.change[FIRST:]:
        average = WEIGHT * change + (1 - WEIGHT) * average
        expected.append(average)
    assert chart.average[FIRST:] == pytest.approx(expected)
    assert np.isnan(chart.average[:FIRST]).all()


def test_files_with_some_common_items_are_joined_by_least_squares() -> None:
    """Beside least squares with a column per cell and file; two cells of an item count half."""
    rng = np.random.default_rng(2)
    table = rng.random((120, 9)) + 0.3 * rng.random((120, 1))
    table[rng.random(table.shape) < 0.4] = np.nan
    item = np.arange(120) // 2
    chart = control_chart("j", "accuracy", cells(table, item))
    shared = (~np.isnan(table)).sum(axis=1) > 1
    table, item = table[shared], item[shared]
    row, file = np.nonzero(~np.isnan(table))
    design = np.zeros((len(row), len(table) + 9))
    design[np.arange(len(row)), row] = 1
    design[np.arange(len(row)), len(table) + file] = 1
    root = np.sqrt(1 / np.bincount(item)[item][row])
    found = np.linalg.lstsq(design * root[:, None], table[row, file] * root, rcond=None)[0]
    b = found[len(table) :]
    assert chart.change == pytest.approx(b - b[:FIRST].mean())


def test_a_file_without_common_items_is_left_out_and_the_reason_said() -> None:
    table = np.random.default_rng(3).random((60, 9))
    table[:30, 8], table[30:, :8] = np.nan, np.nan
    chart = control_chart("j", "accuracy", cells(table))
    assert chart.files == tuple(range(8))
    few = control_chart("j", "accuracy", cells(table[:, 1:]), need="it has gold")
    assert few.way is None
    assert few.reason == "it has gold on 10 items of other files in 7 files, and 8 are needed"
    apart = np.full((40, 10), np.nan)
    apart[:20, :5] = apart[20:, 5:] = 1
    assert control_chart("j", "accuracy", cells(apart)).reason == (
        "no common items join all files to the first"
    )


def test_the_sign_of_position_is_that_of_the_first_files() -> None:
    table = np.random.default_rng(4).normal(-0.3, 0.1, (80, 9))
    table[:, 6:] -= 0.2
    chart = control_chart("j", "position", cells(table), signed=True)
    assert chart.usual == pytest.approx(0.3, abs=0.03)
    assert chart.way == "rises"
    assert control_chart("j", "position", cells(table)).way == "falls"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", JUDGES)
def test_charts_rarely_leave_their_limits_by_chance(kind: str) -> None:
    """At most 5 % a chart over the whole series, with three standard errors of 100 draws."""
    ways = file_series(kind, 0.0, 10, 21, first=0.2, draws=100)
    assert set(ways) == {"accuracy", "position", "flips"}
    for measure, counts in ways.items():
        share = 1 - counts["stays"] / 100
        assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100), measure


@pytest.mark.thorough
def test_a_lasting_fall_of_five_points_is_found() -> None:
    ways = file_series("steady", 0.05, 12, 22, draws=50)
    assert ways["accuracy"]["falls"] / 50 >= 0.9


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Nine files; in the last three the judge is wrong on a fifth of the items more."""
    folder = tmp_path_factory.mktemp("weeks")
    rng = np.random.default_rng(5)
    paths = []
    for week in range(9):
        p = np.where(np.arange(100) < (80 if week < 6 else 60), 0.97, 0.03)
        frame = votes(rng.random(100) < p, judge=f"v{week}").assign(dataset=f"of {week}")
        paths.append(written(frame, folder / f"week{week}.csv"))
    return paths


@pytest.mark.thorough
def test_a_drift_is_said_wherever_an_audit_is_read(
    weeks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One judge in every file is one judge; the audited file is not counted twice."""
    out = tmp_path / "audit.json"
    more = ["--isolated", "--splits", "0"]
    assert main(["audit", weeks[-1], "--series", *weeks, "--json", str(out), *more]) == 0
    said = capsys.readouterr().out
    assert "Series of 9 files, week0.csv to week8.csv: 2 figures left their limits (v8)." in said
    assert "v8: accuracy falls with week6.csv" in said
    document = json.loads(out.read_text(encoding="utf-8"))["series"]
    (accuracy,) = (each for each in document["charts"] if each["measure"] == "accuracy")
    assert accuracy["way"] == "falls"
    assert accuracy["beyond"] == ["week6.csv", "week7.csv", "week8.csv"]
    assert accuracy["average"][:4] == [None] * 4
    (agreement,) = (each for each in document["charts"] if each["measure"] == "agreement")
    assert agreement["reason"].startswith("it and others have votes on 10 items")
    found = core.audit(weeks[-1], series=weeks[:-1], splits=0)
    assert found.series is not None
    report = core.report(found)
    for text in (core.to_text(found), to_markdown(found), report):
        assert "accuracy falls with week6" in text.replace("\\", "")
    assert "Control charts" in report


@pytest.mark.thorough
def test_nothing_moved_is_said_and_too_few_files_are_refused(
    weeks: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--isolated", "--splits", "0"]
    steady = [weeks[0], *weeks[:6], *weeks[:2]]
    found = core.audit(steady[0], series=steady[1:], splits=0).series
    assert found is not None
    assert found.sentences() == [
        "Series of 9 files, week0.csv to week0.csv: none of 4 figures left its limits."
    ]
    assert main(["audit", weeks[0], "--series", *weeks[1:4], *more]) == 2
    assert "--series: 4 files with the one that is audited" in capsys.readouterr().err
    with pytest.raises(InvalidOption, match="a control chart needs 8"):
        core.audit(weeks[0], series=weeks[1:3], splits=0)


@pytest.mark.thorough
def test_judges_of_single_answers_have_charts(tmp_path: Path) -> None:
    frames = [scored(0.0 if week < 6 else 0.8, seed=week) for week in range(9)]
    paths = [written(frame, tmp_path / f"s{k}.csv") for k, frame in enumerate(frames)]
    found = core.audit(paths[-1], series=paths[:-1], splits=0).series
    assert found is not None
    leniency = {chart.measure: chart for chart in found.charts}["leniency"]
    assert leniency.n_items == 150
    means = pd.Series([(f.judge_score - f.human_score).mean() / 4 for f in frames])
    sign = np.sign(means[:FIRST].mean())
    assert leniency.change == pytest.approx(sign * (means - means[:FIRST].mean()))
    assert leniency.beyond[-1] == 8


def test_the_figure_draws_the_chart() -> None:
    table = np.random.default_rng(6).random((40, 9))
    table[:, 6:] += 0.5
    chart = control_chart("j", "accuracy", cells(table))
    assert isinstance(chart, Chart)
    names = [f"f{k}" for k in range(9)]
    drawn = {trace.name: trace for trace in control_figure(chart, names).data}
    assert list(drawn["this file alone"].y) == pytest.approx(list(100 * chart.change))
    assert list(drawn["beyond the limits"].x) == list(chart.beyond) == [6, 7, 8]
    assert FileSeries(files=tuple(names), charts=(chart,)).left == [chart]
