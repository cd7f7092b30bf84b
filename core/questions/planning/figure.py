"""Figures of How many votes: error against votes and labels, values compared, transfer, vote
budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from ...finding.figure import (
    COLOURS,
    Tile,
    accent,
    error_bars,
    figure,
    hover,
    ideal_trace,
    label,
    tiled,
    tint,
    trace,
    undimmed,
)
from ...finding.forest import Look, forest, series
from ...finding.wording import SAYS, ends
from ...stats.estimate import Estimate, Estimates
from ..labels.figure import (
    SIGNS,
    label_colours,
    legend_square,
    pattern_figure,
    pattern_key,
    pattern_squares,
)
from ..labels.rules import RULES
from .grid import cell_mae, cell_name

if TYPE_CHECKING:
    from ...finding.figure import Figure, Style, Theme, Trace
    from ..labels.btd import DecisionMap
    from ..labels.figure import Pattern
    from .budget import BudgetTrial
    from .comparison import ComparedValue, Comparison, ParameterGrid
    from .grid import Grid
    from .parameter_transfer import TaskDistances, Transfer
    from .sweeps import Sweep


LOOKS = {
    "btd": ("circle", "solid"),
    "btd_shrunk": ("diamond", "dash"),
    "threshold": ("square", "dash"),
    "majority": ("triangle-up-open", "dot"),
    "soft_sc_min": ("triangle-down", "dashdot"),
    "soft_sc_mean": ("pentagon", "dashdot"),
    "soft_sc_product": ("x", "dashdot"),
    "ci_sc": ("star", "longdash"),
}
MOST_GROUPS = 40
"""Groups that the figure of parameters draws; the table has them all."""


Swept = Literal["mae", "pa"]
SWEPT: dict[Swept, str] = {"mae": "mean absolute error", "pa": "pairwise accuracy"}


def sweep_figure(
    found: Sweep, measure: Swept = "mae", *, chosen: str | None = None, theme: Theme = "light"
) -> Figure:
    """MAE or pairwise accuracy of each rule against votes or labels, with intervals by item; narrow
    bars vary over draws.

    The dotted line is the MAE of BTD fitted on every label. Rules are drawn a little apart to be
    distinguished. A click on a mark gives the name of its rule; the marks of `chosen` are larger.
    """
    colours = COLOURS[theme]
    votes = found.over == "votes"
    sizes = found.sizes.astype(np.float64)
    x = np.log2(sizes) if votes else sizes
    step = float(np.diff(x).min()) if len(x) > 1 else 1.0
    traces = []
    if measure == "mae":
        all_labels = found.mae_all_labels
        traces.append(ideal_trace(x=x, y=all_labels, name="BTD, all labels", theme=theme))
    over_items, over_all = {"mae": (found.mae_item, found.mae), "pa": (found.pa_item, found.pa)}[
        measure
    ]
    for m, key in enumerate(found.methods):
        symbol, dash = LOOKS.get(key, ("x", "dashdot"))
        colour = colours.accent if key.startswith("btd") else colours.text
        by_item, over_draws = (
            Estimates(one.value[:, m], one.low[:, m], one.high[:, m])
            for one in (over_items, over_all)
        )
        place = x + step * 0.12 * (m - (len(found.methods) - 1) / 2)
        other: Swept = "pa" if measure == "mae" else "mae"
        beside = {"mae": found.mae, "pa": found.pa}[other].value[:, m]
        said = (
            f"<b>{label(RULES[key].name)}</b>, {size} {found.over}<br>{measure.upper()} "
            f"{one.value:.3f} ({ends(one)})<br>over draws {draws.low:.3f} to {draws.high:.3f}<br>"
            f"{other.upper()} {value:.3f}<br>n {found.n:,} comparisons"
            for size, one, draws, value in zip(
                found.sizes, by_item, over_draws, beside, strict=True
            )
        )
        name = RULES[key].name
        about = {"customdata": [[name]] * len(place), **hover(said), **undimmed(1)}
        curve = trace(place, by_item.value, label(name), colour, dash=dash, **about)
        spread = {
            "type": "scatter",
            "x": place,
            "y": by_item.value,
            "mode": "markers",
            "showlegend": False,
            "hoverinfo": "skip",
            "marker": {"size": 1, "color": colour, "opacity": 0},
            "error_y": error_bars(over_draws, colour, width=0, thickness=4),
        }
        marks = {
            "mode": "lines+markers",
            "marker": {"symbol": symbol, "size": 15 if name == chosen else 10, "color": colour},
            "error_y": error_bars(by_item, colour, width=4, thickness=1.2),
        }
        traces += [curve | marks, spread]
    return figure(
        "votes per comparison" if votes else "labelled comparisons to calibrate on",
        SWEPT[measure],
        theme=theme,
        height=400,
        traces=traces,
        x_axis={"tickvals": x, "ticktext": [str(size) for size in found.sizes.tolist()]},
    )


def grid_figure(grid: Grid, **looks: Unpack[Look]) -> Figure:
    """MAE of BTD (filled) and the majority (hollow) in each cell with all votes, the cells in which
    they differ most first.
    """
    whole = [cell for cell in grid.cells if cell.votes is None]
    apart = sorted(whole, key=lambda cell: -abs(cell.gain or 0.0))[:MOST_GROUPS]
    cells = {cell_name(cell): cell for cell in apart}
    drawn = [
        series(name, cells, partial(cell_mae, key=key), "{0.n:,} comparisons", look=look)
        for name, key, look in (("Majority", "majority", "hollow"), ("BTD", "btd", "filled"))
    ]
    return forest(drawn, "mean absolute error", **looks)


def compared_figure(
    found: Comparison, *, styles: Mapping[str, Style] | None = None, theme: Theme = "light"
) -> Figure:
    """MAE of each value under BTD and majority, with intervals by item."""
    looks = {"btd": "filled", "majority": "hollow"}
    drawn = []
    for rule in found.rules:
        errors = {name: (_error(one, rule), one.n_labelled) for name, one in found.values.items()}
        name, n = RULES[rule].name, "n {0[1]:,} comparisons"
        drawn.append(
            series(name, errors, itemgetter(0), n, look=looks.get(rule, "filled"), key=None)
        )
    return forest(
        drawn,
        "mean absolute error",
        styles=_styles(found, styles, theme),
        missing="too few labels",
        theme=theme,
    )


def _error(one: ComparedValue, rule: str) -> Estimate | None:
    score = one.evaluation.scores[rule] if one.evaluation else None
    return Estimate(score.mae, score.mae_item_low, score.mae_item_high) if score else None


def ties_figure(
    found: Comparison, *, styles: Mapping[str, Style] | None = None, theme: Theme = "light"
) -> Figure:
    """Share of ties among the votes of each value, and among the gold labels of what it judged."""
    with_gold = {name: one for name, one in found.values.items() if one.tie_gold is not None}
    gold = series(
        "among gold", with_gold, "tie_gold", "n {0.n_labelled:,} labels", look="plain", key=None
    )
    votes = series("ties among votes", found.values, "tie_votes", "n {0.n_votes:,} votes", key=None)
    looks = _styles(found, styles, theme)
    return forest([votes, gold], "share of ties", styles=looks, theme=theme, unit="%")


def parameters_figure(
    found: ParameterGrid,
    *,
    groups: Sequence[tuple[str, str]],
    styles: Mapping[str, Style] | None = None,
    theme: Theme = "light",
) -> Figure:
    """Quartiles of ν of some groups (task, judge) on a log scale; 10 and 100 part the regimes.

    Groups of one judge are named by their task.
    """
    quartiles, looks = {}, {}
    one_judge = len({judge for _, judge in groups}) == 1
    for task, judge in groups:
        table = found.tables[task, judge]
        row = judge if not task else task if one_judge else f"{task} · {judge}"
        looks[row] = (styles or {}).get(judge) or accent(theme)
        mean, low, high = (float(part[1]) for part in (table.mean, table.q1, table.q3))
        # The mean of a skewed ν can lie beyond its quartiles, but a mark stands in its interval.
        middle = Estimate(float(np.sqrt(low * high)), low, high)
        quartiles[row] = middle, f"{table.regime}, mean {mean:,.1f}"
    fig = forest(
        [series("ν from Q1 to Q3 over splits", quartiles, itemgetter(0), itemgetter(1), key=None)],
        "ν, Q1 to Q3 over splits",
        styles=looks,
        theme=theme,
    )
    for cut in (10, 100):
        fig.add_vline(x=cut, line={"color": COLOURS[theme].neutral, "width": 1, "dash": "dot"})
    fig.update_xaxes(
        type="log",
        tickvals=[0.01, 0.1, 1, 10, 100, 1000],
        ticktext=[".01", ".1", "1", "10", "100", "1,000"],
    )
    return fig


def _styles(
    found: Comparison, styles: Mapping[str, Style] | None, theme: Theme
) -> Mapping[str, Style] | Style:
    return {name: (styles or {}).get(name, accent(theme)) for name in found.values}


CELL = 50
"""Height of a row of the transfer matrix, pixels."""
NAME_LIMIT = 12
LINE = 16
"""Characters a line, of three, of a long name beside the matrix."""


def transfer_key(fitted_on: str, evaluated_on: str) -> str:
    """Key of a cell, also what a select box shows."""
    return f"{fitted_on} → {evaluated_on}"


def transfer_figure(
    found: Transfer, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Change of MAE by fitting on the row task instead of the column's own; key `transfer_key`.

    The stronger the colour, the larger the change; a fall has another colour and a minus. Cells
    whose change is shown, all pairs at once, have a heavier number.
    """
    colours = COLOURS[theme]
    k, change = len(found.tasks), found.change.value
    largest = max(float(np.abs(change).max()), 1e-9)
    shown = (found.change.low > 0) | (found.change.high < 0)
    tiles = [
        Tile(
            *(column, row, transfer_key(found.tasks[row], found.tasks[column])),
            tint(
                colours.raters[1] if change[row, column] > 0 else colours.accent,
                colours.page,
                float(abs(change[row, column])) / largest,
            ),
            _cell_text(found, row, column, bool(shown[row, column])),
            _cell_hover(found, row, column),
        )
        for row in range(k)
        for column in range(k)
    ]
    marks, shapes = tiled(tiles, size=44, text_size=12 if k < 7 else 10, theme=theme, chosen=chosen)
    # Long names cannot head a column on a phone, and what tells judges apart is often their end.
    numbered = max(len(name) for name in found.tasks) > NAME_LIMIT
    heads = [str(i + 1) if numbered else label(name) for i, name in enumerate(found.tasks)]
    rows = [
        f"{_wrapped(name)} · {i + 1}" if numbered else heads[i]
        for i, name in enumerate(found.tasks)
    ]
    axis = {"tickvals": list(range(k)), "showgrid": False, "ticks": "", "fixedrange": True}
    return figure(
        "evaluated on",
        "fitted on",
        theme=theme,
        height=110 + CELL * min(k, 12) if k <= 12 else 110 + 30 * k,
        legend=False,
        traces=[marks],
        x_axis={"range": [-0.5, k - 0.5], "side": "top", "ticktext": heads, **axis},
        y_axis={"range": [k - 0.5, -0.5], "ticktext": rows, **axis},
        layout={"shapes": shapes},
    )


def transferred_figure(
    own: DecisionMap,
    borrowed: DecisionMap,
    *,
    seen: Mapping[Pattern, int],
    theme: Theme = "light",
    height: int = 380,
) -> Figure:
    """What n votes become by a task's own fit, and heavily outlined where the transferred fit says
    otherwise.

    A letter is the own label; where they differ, own then transferred. Squares without a comparison
    are pale.
    """
    fill = label_colours(theme)
    patterns = list(zip(own.plus.tolist(), own.tie.tolist(), own.minus.tolist(), strict=True))
    decided = list(zip(own.decision.tolist(), borrowed.decision.tolist(), strict=True))
    counted = [seen.get(pattern, 0) for pattern in patterns]
    signs = [SIGNS[a] if a == b else f"{SIGNS[a]}{SIGNS[b]}" for a, b in decided]
    outlines = [2.5 if a != b else 0 for a, b in decided]
    said = (
        f"<b>{pattern_key(*pattern)}</b><br>own fit: {SAYS[a]}<br>transferred: {SAYS[b]}<br>n "
        f"{n:,} comparisons"
        for pattern, (a, b), n in zip(patterns, decided, counted, strict=True)
    )
    colours = [fill[a] for a, _ in decided]
    traces = [pattern_squares(own.n, patterns, counted, colours, signs, outlines, said, theme)]
    traces += [legend_square(vote, theme) for vote in (1, 0, -1)]
    return pattern_figure(traces, own.n, theme=theme, height=height)


def distance_figure(
    found: Transfer, distances: TaskDistances, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Distance of two tasks (votes and gold together) against the loss of fits on all labels
    (DRPS).
    """
    colours = COLOURS[theme]
    place = [distances.tasks.index(name) for name in found.tasks]
    k = len(place)
    pairs = [(row, column) for row in range(k) for column in range(k) if row != column]
    keys = [transfer_key(found.tasks[row], found.tasks[column]) for row, column in pairs]
    x = [float(distances.joint[place[row], place[column]]) for row, column in pairs]
    y = [float(found.loss_change[row, column]) for row, column in pairs]
    marks: Trace = {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "markers",
        "showlegend": False,
        "customdata": [[key] for key in keys],
        "marker": {
            "size": 9,
            "color": colours.accent,
            "line": {"color": colours.text, "width": [3 if key == chosen else 0 for key in keys]},
        },
        **hover(
            f"<b>{label(key, limit=90)}</b><br>distance {a:.3f}<br>DRPS change {b:+.4f}"
            f"<br>MAE change {found.change[pair].value:+.3f}"
            for key, a, b, pair in zip(keys, x, y, pairs, strict=True)
        ),
        **undimmed(1),
    }
    zero = ideal_trace(x=(0.0, max(x)), y=(0.0, 0.0), name="no loss", theme=theme)
    return figure(
        "energy distance, votes and gold together",
        "DRPS change",
        theme=theme,
        height=320,
        legend=False,
        traces=[zero, marks],
    )


def _cell_text(found: Transfer, row: int, column: int, shown: bool) -> str:
    if row == column:
        return f"{found.mae[row, row]:.2f}"
    change = round(found.change[row, column].value, 3)
    if change == 0:
        return "0"
    text = f"{change:+.3f}".replace("0.", ".", 1).replace("-", "−")
    return f"<b>{text}</b>" if shown else text


def _cell_hover(found: Transfer, row: int, column: int) -> str:
    fitted, evaluated = (label(found.tasks[i], limit=60) for i in (row, column))
    n = f"n {int(found.n[column]):,} comparisons, {found.n_splits} splits"
    if row == column:
        return f"<b>{fitted}</b>, own labels<br>MAE {found.mae[row, row]:.3f}<br>{n}"
    change = found.change[row, column]
    return (
        f"<b>{evaluated}</b>, labels of {fitted}<br>MAE {found.mae[row, column]:.3f} instead of "
        f"{found.mae[column, column]:.3f}<br>change {change.value:+.3f} "
        f"({ends(change, '+.3f')})<br>{n}"
    )


def _wrapped(name: str) -> str:
    """A long name in up to three lines; the middle goes first, as names differ near their ends."""
    text = " ".join(name.split())
    if len(text) > 3 * LINE:
        text = f"{text[: 2 * LINE - 2]}… {text[-LINE:]}"
    return "<br>".join(label(line) for line in wrap(text, LINE))


HIDDEN = 0.12
"""Rules that add more error than this would flatten the figure; the table has them."""


def budget_figure(
    found: BudgetTrial, *, style: Style, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Mean votes per comparison against the error added to that of BTD on all votes, with intervals
    by item.

    One series for the planner at each tolerance, one for BTD on fixed numbers of votes, one for the
    simple
    rules. chosen : key of a row to ring.
    """
    colours = COLOURS[theme]
    looks: tuple[tuple[str, str, dict[str, Any], str], ...] = (
        (
            "planner-",
            "planner",
            {"color": style.colour, "symbol": style.symbol, "size": 11},
            "lines+markers",
        ),
        (
            "btd-",
            "BTD, as many votes on all",
            {"color": colours.text, "symbol": "square-open"},
            "lines+markers",
        ),
        (
            "unanimous-",
            "stop if the first agree",
            {"color": colours.neutral, "symbol": "x"},
            "markers",
        ),
    )
    everything = f"error of all {found.votes} votes"
    traces = [ideal_trace(x=(0, found.votes), y=(0, 0), name=everything, theme=theme)]
    for kind, name, marker, mode in looks:
        rows = [
            row
            for key, row in found.rows.items()
            if key.startswith(kind) and row.added.value <= HIDDEN
        ]
        rows.sort(key=lambda row: row.votes)
        if not rows:
            continue
        added = Estimates.of([row.added for row in rows])
        said = (
            f"<b>{label(row.name)}</b><br>{row.votes:.2f} votes per comparison, {row.saved:.1%} "
            f"saved<br>added error {row.added.value:+.4f} ({ends(row.added, '+.4f')})<br>MAE "
            f"{row.mae:.4f}<br>n {found.n:,} comparisons"
            for row in rows
        )
        votes, colour = [row.votes for row in rows], marker["color"]
        ring = {"color": colours.text, "width": [3 if row.key == chosen else 1 for row in rows]}
        curve = trace(votes, added.value.tolist(), name, colour, width=1, **hover(said))
        marks = {"error_y": error_bars(added, colour), "marker": marker | {"line": ring}}
        traces.append(curve | marks | {"mode": mode})
    return figure(
        "mean votes per comparison",
        "added error (MAE)",
        theme=theme,
        traces=traces,
        x_axis={"range": [0, found.votes + 0.3]},
    )
