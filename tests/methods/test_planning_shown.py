"""Experiments in figures and sentences: how much is enough, and what carries over."""

import dataclasses

import numpy as np
import pytest
from draws import seeded
from test_experiments import noisier, simulated, tasks_of

from core.finding.answer import MOST_WORDS, words
from core.finding.figure import rater_styles
from core.questions.labels.btd import decision_map
from core.questions.planning.comparison import compare, parameter_grid
from core.questions.planning.figure import (
    compared_figure,
    distance_figure,
    parameters_figure,
    sweep_figure,
    ties_figure,
    transfer_figure,
    transfer_key,
    transferred_figure,
)
from core.questions.planning.parameter_transfer import task_distances, transfer, transfer_prediction
from core.questions.planning.sweeps import label_sweep, vote_sweep
from core.questions.planning.words import (
    comparison_answer,
    enough_answer,
    enough_labels,
    enough_votes,
    labels_answer,
    parameters_answer,
    prediction_answer,
    transfer_answer,
    votes_answer,
)
from core.records import NO_GOLD, VoteCounts

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def votes_found():
    return vote_sweep(
        simulated(7, 600, theta=(1.6, 0.5, 1.0)), rng=seeded(), n_splits=10, subsamples=4
    )


@pytest.fixture(scope="module")
def labels_found():
    return label_sweep(simulated(11, 800), rng=seeded(), n_splits=30)


@pytest.fixture(scope="module")
def tasks() -> dict[str, VoteCounts]:
    return tasks_of(100, [(1.5, eta, 0.3) for eta in (-3.0, -1.0, 1.0, 3.0)])


@pytest.fixture(scope="module")
def moved(tasks):
    return transfer(tasks, rng=seeded(), n_splits=20)


def with_ends(found, high: list[float], low: list[float] | None = None):
    """A sweep whose intervals of the rise above the most votes end at `high`, under each rule."""
    ends = {"high": high} if low is None else {"high": high, "low": low}
    columns = {name: np.repeat(np.array(end)[:, None], 3, axis=1) for name, end in ends.items()}
    return dataclasses.replace(found, more=dataclasses.replace(found.more, **columns))


def test_enough_votes_are_the_fewest_shown_to_be_near(votes_found):
    assert enough_votes(with_ends(votes_found, [0.1, 0.05, 0.02, 0.0])) == 8
    assert enough_votes(with_ends(votes_found, [0.1, 0.05, 0.009, 0.0])) == 4
    assert enough_votes(with_ends(votes_found, [0.001, 0.05, 0.009, 0.0])) == 4
    assert enough_votes(with_ends(votes_found, [0.001, -0.05, 0.009, 0.0])) == 1


def test_votes_are_said_to_pay_to_be_enough_or_not_to_be_known(votes_found):
    column = votes_found.methods.index("btd")
    high = [0.1, 0.05, 0.02, 0.0]
    pays = votes_answer("j", with_ends(votes_found, high, [0.05, 0.03, 0.01, 0.0]))
    error = votes_found.mae.value[-1, column]
    assert pays.startswith(f"j: more votes pay up to all 8: BTD errs {error:.3f} (")
    assert f"with 1 it errs {votes_found.more.value[0, column]:.3f} more (0.050 to 0.100)" in pays
    assert pays.endswith("on 600 labelled comparisons (intervals leave out which 30 calibrate).")
    unknown = votes_answer("j", with_ends(votes_found, high, [0.05, 0.03, -0.01, 0.0]))
    assert "whether fewer than 8 votes would do is not known" in unknown
    enough = votes_answer("j", with_ends(votes_found, [0.1, 0.05, 0.009, 0.0]))
    assert enough.startswith("j: 4 votes per comparison do nearly as well as 8: BTD errs ")
    assert f"{votes_found.more.value[2, column]:.3f} more" in enough
    fewer = dataclasses.replace(votes_found.more, value=-np.abs(votes_found.more.value))
    less = dataclasses.replace(votes_found, more=fewer)
    one = votes_answer("j", with_ends(less, [0.009, 0.009, 0.009, 0.0], [-0.3, -0.2, -0.1, 0.0]))
    assert one.startswith("j: 1 vote per comparison does nearly as well as 8")
    assert f"{votes_found.more.value[0, column]:.3f} less (−0.009 to 0.300) with 1" in one


def test_enough_labels_are_the_fewest_near_the_error_of_all(labels_found):
    column = labels_found.methods.index("btd")
    mae = labels_found.mae.value.copy()
    everything = labels_found.mae_all_labels[0]
    for gaps, expected in (
        ([0.05, 0.02, 0.005, *[0.001] * 7], 60),
        ([0.05, 0.005, 0.02, *[0.001] * 7], 80),
        ([0.005] * 10, 20),
        ([0.05] * 10, None),
    ):
        mae[:, column] = everything + np.array(gaps)
        ends = {
            name: dataclasses.replace(getattr(labels_found, name), value=mae.copy())
            for name in ("mae", "mae_item")
        }
        found = dataclasses.replace(labels_found, **ends)
        assert enough_labels(found) == expected
        said = labels_answer("j", found)
        start = f"{expected} labelled comparisons bring BTD within 0.01" if expected else "even 200"
        assert said.startswith(f"j: {start}")
        short = enough_answer("j", found)
        assert words(short.headline) <= MOST_WORDS
        start = f"{expected} labels calibrate BTD" if expected else "Even 200 labels are too few"
        assert short.headline.startswith(start)
        assert short.good == (expected is not None)
        size = expected or 200
        error = mae[found.sizes.tolist().index(size), column]
        assert short.figures.startswith(f"error {error:.3f} (")
        assert f" with {size} · {everything:.3f} with all" in short.figures
        assert "ajority, which needs no labels" in said
        assert ("With 20 it errs" in said) == (expected != 20)
        assert "never less" not in said
    mae[:, labels_found.methods.index("majority")] = 0.0
    level = dataclasses.replace(labels_found.mae, value=mae)
    assert labels_answer("j", dataclasses.replace(labels_found, mae=level)).endswith(
        "errs 0.000, and BTD with labels never less."
    )


def test_transfer_says_how_often_and_where_worst(moved):
    said = transfer_answer(moved, "categories")
    worse = moved.change.low > 0
    assert not worse.diagonal().any()
    assert said.startswith(
        f"In {12 - worse.sum()} of 12 pairs of categories a transferred fit is not shown to cost "
        "more: "
    )
    worst = np.where(worse, moved.change.value, 0).max()
    row, column = np.unravel_index(np.where(worse, moved.change.value, -1).argmax(), (4, 4))
    assert (
        f"Worst shown: fitted on {moved.tasks[row]}, the error on {moved.tasks[column]} rises by"
        in said
    )
    assert f"rises by {worst:.3f}" in said
    # Two pairs beside it that rise by more, without being shown to.
    change, low = moved.change.value.copy(), moved.change.low.copy()
    others = [(a, b) for a in range(4) for b in range(4) if a != b and (a, b) != (row, column)]
    for place in others:
        low[place] = -1.0
    for place in others[:2]:
        change[place] = worst + 0.01
    unsure = dataclasses.replace(
        moved, change=dataclasses.replace(moved.change, value=change, low=low)
    )
    said = transfer_answer(unsure, "categories")
    assert "In 11 of 12 pairs" in said
    assert f"rises by {worst:.3f}" in said
    assert said.endswith(" 2 pairs rise by more, but not shown beyond chance.")
    change[others[1]] = worst / 2
    assert transfer_answer(unsure, "categories").endswith(
        " 1 pair rises by more, but not shown beyond chance."
    )
    change[others[0]] = worst / 2
    assert "beyond chance" not in transfer_answer(unsure, "categories")
    lower = dataclasses.replace(moved.change, low=moved.change.low - 9)
    quiet = dataclasses.replace(moved, change=lower)
    assert transfer_answer(quiet, "judges").endswith(".")
    assert "Worst" not in transfer_answer(quiet, "judges")


def test_prediction_is_said_for_both_targets(tasks, moved):
    told = transfer_prediction(moved, task_distances(tasks), rng=seeded())
    joint = told.kinds.index("joint")
    said = prediction_answer(told)
    assert f"ρ {told.rho[0, joint]:.2f}" in said
    assert f"ρ {told.rho[1, joint]:.2f}" in said
    assert "(4 tasks)" in said
    unsure = dataclasses.replace(told, p_value=np.full((2, 3), 0.5))
    assert prediction_answer(unsure).count("is not shown to go with") == 2
    alike = dataclasses.replace(told, rho=np.full((2, 3), np.nan))
    assert prediction_answer(alike).count("unknown") == 2


def test_comparison_names_the_best_and_whether_it_differs():
    good = simulated(32, 500)
    values = {"good": good, "bad": noisier(good, 33, 0.6)}
    found = compare(values, rng=seeded(), baseline="bad", n_splits=20)
    said = comparison_answer(found, "judge")
    difference = next(one for one in found.differences if one.rule == "btd")
    assert said.startswith("good errs least of 2 under BTD: ")
    assert f"That is {-difference.delta.value:.3f} less" in said
    back = comparison_answer(compare(values, rng=seeded(), baseline="good", n_splits=20), "judge")
    assert "The other, bad, is shown to err more, by" in back
    alike = compare(
        {"a": good, "b": noisier(good, 1, 0.02)}, rng=seeded(), n_splits=5, resamples=200
    )
    assert "shown" in comparison_answer(alike, "judge")
    unlabelled = dataclasses.replace(good, gold=np.full(500, NO_GOLD))
    none = compare({"a": unlabelled}, rng=seeded(), n_splits=5)
    assert comparison_answer(none, "temperature").startswith(
        "No value of temperature has labels enough"
    )
    assert comparison_answer(none, "judge").startswith("No judge has labels enough")


def test_parameters_count_the_regimes():
    groups = {("few", "j"): simulated(1, 900, theta=(1.5, -1.0, 0.2))}
    groups["many", "j"] = simulated(2, 900, theta=(1.5, 6.5, 0.2))
    found = parameter_grid(groups, rng=seeded(), n_splits=30)
    assert found.tables["few", "j"].regime == "low correction"
    assert found.tables["many", "j"].regime == "high correction"
    said = parameters_answer(found)
    assert "ties is high in 1 and low in 1 of 2 groups" in said
    assert said.endswith("no guide to another.")
    empty = parameter_grid({("tiny", "j"): simulated(3, 10)}, rng=seeded())
    assert parameters_answer(empty).startswith("No task has labels enough")
    fig = parameters_figure(found, groups=list(found.tables))
    shown = [x for trace in fig.data if trace.mode == "markers" for x in trace.x if x is not None]
    middle = [np.sqrt(table.q1[1] * table.q3[1]) for table in found.tables.values()]
    assert shown == pytest.approx(middle)


@pytest.mark.parametrize("measure", ["mae", "pa"])
@pytest.mark.parametrize("over", ["votes", "labels"])
def test_sweep_figure_plots_the_sweep(over, measure, votes_found, labels_found):
    found = votes_found if over == "votes" else labels_found
    fig = sweep_figure(found, measure, theme="dark")
    over_draws, by_item = (getattr(found, f"{measure}{end}") for end in ("", "_item"))
    lines = [trace for trace in fig.data if trace.mode == "lines+markers"]
    assert len(lines) == len(found.methods)
    for m, trace in enumerate(lines):
        assert list(trace.y) == over_draws.value[:, m].tolist()
        assert trace.y + trace.error_y.array == pytest.approx(by_item.high[:, m])
        assert trace.y - trace.error_y.arrayminus == pytest.approx(by_item.low[:, m])
    drawn = {"mae": "mean absolute error", "pa": "pairwise accuracy"}[measure]
    assert drawn in fig.layout.yaxis.title.text
    # The error of BTD on every label is no accuracy.
    assert ("BTD, all labels" in {trace.name for trace in fig.data}) == (measure == "mae")
    assert list(fig.layout.xaxis.ticktext) == [str(size) for size in found.sizes]


def test_matrix_plots_each_cell_and_escapes_names(tasks):
    hostile = {HOSTILE if name == "task 0" else name: counts for name, counts in tasks.items()}
    found = transfer(hostile, rng=seeded(), n_splits=5)
    key = transfer_key(HOSTILE, "task 1")
    fig = transfer_figure(found, chosen=key)
    cells = fig.data[0]
    assert [data[0] for data in cells.customdata] == [
        transfer_key(a, b) for a in found.tasks for b in found.tasks
    ]
    place = [data[0] for data in cells.customdata].index(key)
    shown = cells.text[place].replace("<b>", "").replace("</b>", "").replace("−", "-")
    assert float(shown) == pytest.approx(found.change[0, 1].value, abs=0.0006)
    framed = fig.layout.shapes[-1]
    assert [shape for shape in fig.layout.shapes if shape.line.width == 3] == [framed]
    assert framed.path.startswith(f"M{cells.x[place] - 0.48},{cells.y[place] - 0.46}H")
    assert sum(shape.path.count("M") for shape in fig.layout.shapes) == len(cells.x)
    distances = task_distances(hostile)
    apart = distance_figure(found, distances, chosen=key)
    assert list(apart.data[1].y) == [
        found.loss_change[i, j] for i in range(4) for j in range(4) if i != j
    ]
    for drawn in (fig, apart):
        assert "<img" not in drawn.to_json().replace('"' + HOSTILE, '"')


def test_borrowed_map_outlines_where_fits_differ(moved):
    names = moved.tasks
    own, borrowed = (decision_map(moved.fits[names[i]], 8) for i in (0, 3))
    fig = transferred_figure(own, borrowed, seen={(8, 0, 0): 5})
    squares = fig.data[0]
    differ = own.decision != borrowed.decision
    assert differ.any()
    assert [width > 0 for width in squares.marker.line.width] == differ.tolist()
    assert [len(text) == 2 for text in squares.text] == differ.tolist()


def test_comparison_figures_plot_it_and_escape_names():
    good = simulated(32, 200)
    found = compare(
        {HOSTILE: good, "b": noisier(good, 33, 0.5)}, rng=seeded(), n_splits=5, resamples=200
    )
    fig = compared_figure(found, styles=rater_styles([HOSTILE, "b"]))
    shown = sorted(
        x for trace in fig.data if trace.mode == "markers" for x in trace.x if x is not None
    )
    scores = [
        one.evaluation.scores[rule].mae for one in found.values.values() for rule in found.rules
    ]
    assert shown == sorted(scores)
    ties = ties_figure(found)
    values = {one.tie_votes.value for one in found.values.values()}
    assert values <= {x for trace in ties.data if trace.mode == "markers" for x in trace.x}
    for drawn in (fig, ties):
        assert "<img" not in drawn.to_json()
