"""Figures with a row per model: the board, other anchors, ratings, categories, outside boards,
scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from ...finding.figure import (
    COLOURS,
    MARKERS,
    MAX_POINTS,
    Style,
    accent,
    error_bars,
    figure,
    hover,
    ideal_trace,
    label,
    undimmed,
)
from ...finding.wording import elo_ends, signed_elo
from ...stats.estimate import Estimate, Estimates
from .anchored import ELO_PER_NAT, Board, BoardRow
from .check_words import METHOD_NAMES
from .ratings import RAEE, Result
from .robustness import BetweenTasks
from .score_board import ScoreBoards, ScoreRow
from .standings import OutsideComparison

if TYPE_CHECKING:
    from ...finding.figure import Figure, Theme
    from ...finding.forest import Shown


ROW_HEIGHT, ROW_HEIGHT_WITH_MORE = 20, 26
ROW_HEIGHT_OF_METHODS, ROW_HEIGHT_OF_TASKS, ROW_HEIGHT_OF_SCORES = 34, 28, 32
NAME_LIMIT = 24
"""Characters of a model's name beside the axis: what a phone has room for; the hover text has the
rest.
"""
LEGEND_ENTRY = 16
"""Between one line per entry, as on a phone, and two entries per line."""
TICK_STEPS = (10, 25, 50, 100, 200, 400, 1000)


class RowMark(NamedTuple):
    """A mark in the row of a model: its place along the axis, hover text, and the key that a click
    gives.
    """

    model: str
    x: Estimate
    hover: str
    key: str


class ModelRows:
    """A figure with a row per model, the first on top, that series of marks are added to.

    entries : of the legend.  start : x that the axis reaches in any case.
    """

    def __init__(
        self,
        models: Iterable[str],
        x_title: str,
        *,
        row_height: int,
        entries: int,
        start: float = 0,
        **shown: Unpack[Shown],
    ) -> None:
        self.rows = {model: place for place, model in enumerate(models)}
        theme = shown.get("theme", "light")
        self.theme, self.chosen, self.reach = theme, shown.get("chosen"), [start]
        self.fig = figure(
            x_title,
            "",
            theme=theme,
            height=max(200, 100 + row_height * len(self.rows) + LEGEND_ENTRY * entries),
            legend=entries > 0,
            y_axis={
                "tickmode": "array",
                "tickvals": list(self.rows.values()),
                "ticktext": [label(_shortened(name)) for name in self.rows],
                "tickfont": {"size": 12},
                "range": [len(self.rows) - 0.4, -0.6],
                "showgrid": False,
                "ticks": "",
            },
            layout={"margin": {"t": 8}},
        )

    def add(
        self,
        name: str,
        style: Style,
        marks: Iterable[RowMark],
        *,
        offset: float = 0,
        size: int = 9,
        opacity: float = 1,
        bars: bool = True,
    ) -> None:
        """Draw one series, of the models that have a row, `offset` below its middle.

        name : as the legend shows it, names from votes made safe by `label`.  bars : draw
            intervals.
        """
        drawn = [mark for mark in marks if mark.model in self.rows]
        found = Estimates.of([mark.x for mark in drawn])
        x = found.value.tolist()
        keys = [mark.key for mark in drawn]
        along = {"x": found.value, "error_x": error_bars(found, style.colour)} if bars else {"x": x}
        self.reach += [*x, *found.low, *found.high] if bars else x
        self.fig.add_scatter(
            **along,
            y=[self.rows[mark.model] + offset for mark in drawn],
            mode="markers",
            name=name,
            customdata=[[key] for key in keys],
            marker=_marker(style, size, keys, self.chosen, self.theme, opacity=float(opacity)),
            **hover(mark.hover for mark in drawn),
            **undimmed(opacity),
        )

    def ends(self) -> tuple[float, float]:
        """Least and largest x of all marks and their intervals."""
        return float(np.nanmin(self.reach)), float(np.nanmax(self.reach))

    def along_elo(self, *, probabilities: bool = False) -> Figure:
        """The figure, its axis in Elo, with a line at 0."""
        _elo_axis(self.fig, *self.ends(), probabilities=probabilities)
        return self.with_line(0, "0")

    def with_line(self, x: float, name: str) -> Figure:
        """The figure, with a thin line across all rows, such as at the anchor's Elo."""
        line = ideal_trace(x=(x, x), y=(-0.6, len(self.rows) - 0.4), name=name, theme=self.theme)
        self.fig.add_trace(line)
        self.fig.data[-1].showlegend = False
        return self.fig


def _shortened(name: str) -> str:
    """Cut the middle of a long name: versions, which tell models apart, stand at the end."""
    text = " ".join(name.split())
    return text if len(text) <= NAME_LIMIT else f"{text[: NAME_LIMIT - 11]}…{text[-10:]}"


def _elo_axis(fig: Figure, low: float, high: float, *, probabilities: bool) -> None:
    """Few round ticks that a phone has room for; under each Elo the win probability that it stands
    for.
    """
    pad = 0.05 * (high - low) + 5
    span = high - low + 2 * pad
    step = next((step for step in TICK_STEPS if span / step <= 5), TICK_STEPS[-1])
    ticks = np.arange(np.ceil((low - pad) / step), np.floor((high + pad) / step) + 1) * step
    p = 1 / (1 + np.exp(-ticks / ELO_PER_NAT))
    fig.update_xaxes(
        range=[low - pad, high + pad],
        tickmode="array",
        tickangle=0,
        tickvals=ticks,
        ticktext=[
            f"{signed_elo(tick)}<br>{100 * share:.0f} %" if probabilities else signed_elo(tick)
            for tick, share in zip(ticks, p, strict=True)
        ],
    )


def _marker(
    style: Style,
    size: int,
    keys: Sequence[str],
    chosen: str | None,
    theme: Theme,
    *,
    opacity: float = 1.0,
) -> dict[str, object]:
    open_symbol = style.symbol.endswith("-open")
    return {
        "symbol": style.symbol,
        "color": style.colour,
        "size": size,
        "opacity": opacity,
        "line": {
            "color": style.colour if open_symbol else COLOURS[theme].text,
            "width": [3 if key == chosen else 1.5 if open_symbol else 0 for key in keys],
        },
    }


def board_figure(
    board: Board,
    *,
    judged: Mapping[str, Board] | None = None,
    styles: Mapping[str, Style] | None = None,
    judge: str | None = None,
    corrected: bool = False,
    shown: int | None = None,
    **page: Unpack[Shown],
) -> Figure:
    """Elo of each model against the anchor, best on top, with its interval; shaded bands are tiers.

    Parameters
    ----------
    board : what to draw, of all judges pooled or of one `judge`, whose style it then has.
    judged : board of each judge against the same anchor: a dot under the row; left out where all of
        them would be more than `MAX_POINTS`.
    styles : of the judges.
    corrected : draw the dispersion-corrected interval instead of the published one.
    shown : draw only so many models from the top.
    chosen : key of a mark (`model`, or `judge_key`) to ring.

    Source: [RAEE] §2; tiers and the corrected interval ours.
    """
    ranked = board.rows[:shown]
    dots = judged or {}
    if len(ranked) * len(dots) > MAX_POINTS:
        dots = {}
    rows = ModelRows(
        [row.model for row in ranked],
        "Elo, win probability",
        row_height=ROW_HEIGHT_WITH_MORE if dots else ROW_HEIGHT,
        entries=len(dots) + 1 if dots else 0,
        **page,
    )
    _tier_bands(rows.fig, ranked, rows.theme)
    known_styles = styles or {}
    for name, known in dots.items():
        marks = [
            RowMark(
                row.model,
                row.elo,
                f"{_hover(row, corrected)}<br>judge {label(name)}",
                judge_key(name, row.model),
            )
            for row in known.rows
        ]
        rows.add(
            _short(name), known_styles[name], marks, offset=0.28, size=7, opacity=0.75, bars=False
        )
    marks = [
        RowMark(row.model, row.interval(corrected)[1], _hover(row, corrected), row.model)
        for row in ranked
    ]
    rows.add(
        _short(judge) if judge else "all, pooled",
        known_styles[judge] if judge else accent(rows.theme),
        marks,
        size=10,
    )
    return rows.along_elo(probabilities=True)


def swap_figure(
    one: Board, two: Board, models: Sequence[str], *, corrected: bool = False, **page: Unpack[Shown]
) -> Figure:
    """Elo of the models on both boards, each board centred on its mean over them, one row per
    model.

    Filled marks are the board `one`, open ones `two`; they lie above each other where the anchor
    does not matter. Their distance is the centred shift of `anchors.SwapRow`, whose `models` to
    give. The key of a mark is `swap_key(anchor, model)`.

    Source: [RAEE] anchor swap; docs/methods.md §6.
    """
    listed = [row.model for row in one.rows if row.model in models]
    rows = ModelRows(listed, "Elo, centred", row_height=ROW_HEIGHT_WITH_MORE, entries=2, **page)
    colours = COLOURS[rows.theme].raters
    for known, colour, symbol, offset in (
        (one, colours[0], "circle", -0.15),
        (two, colours[1], "diamond-open", 0.15),
    ):
        by_name = {row.model: row for row in known.rows}
        drawn = [by_name[name] for name in listed]
        mean = float(np.mean([row.elo.value for row in drawn])) if drawn else 0.0
        about = f"<br>against {label(known.anchor)}<br>centred "
        marks = [
            RowMark(
                row.model,
                row.interval(corrected)[1].shifted(-mean),
                f"{_hover(row, corrected)}{about}{signed_elo(row.elo.value - mean)}",
                swap_key(known.anchor, row.model),
            )
            for row in drawn
        ]
        name = f"against {_short(known.anchor)}"
        rows.add(name, Style(colour=colour, symbol=symbol), marks, offset=offset, size=10)
    return rows.along_elo()


def judge_key(judge: str, model: str) -> str:
    """Key of one judge's dot of a model, also what a select box shows."""
    return f"{model}, by {judge}"


def swap_key(anchor: str, model: str) -> str:
    """Key of a model on the board of an anchor."""
    return f"{model} against {anchor}"


def _tier_bands(fig: Figure, rows: Sequence[BoardRow], theme: Theme) -> None:
    """Shade every other tier and number all of them at the right, so that colour does not tell
    alone.
    """
    last = {row.tier: place for place, row in enumerate(rows)}
    first = {
        tier: next(place for place, row in enumerate(rows) if row.tier == tier) for tier in last
    }
    colours = COLOURS[theme]
    bands = [
        {
            "type": "rect",
            "xref": "x domain",
            "x0": 0,
            "x1": 1,
            "y0": start - 0.5,
            "y1": last[tier] + 0.5,
            "fillcolor": colours.grid,
            "opacity": 0.45,
            "line": {"width": 0},
            "layer": "below",
        }
        for tier, start in first.items()
        if tier % 2
    ]
    names = [
        {
            "text": f"tier {tier}",
            "x": 1.01,
            "xref": "paper",
            "xanchor": "left",
            "y": (start + last[tier]) / 2,
            "showarrow": False,
            "font": {"size": 12, "color": colours.neutral},
        }
        for tier, start in first.items()
    ]
    fig.update_layout(shapes=bands, annotations=names, margin_r=48)


def _short(name: str) -> str:
    return label(name, limit=NAME_LIMIT)


def _hover(row: BoardRow, corrected: bool) -> str:
    p, elo = row.interval(corrected)
    return (
        f"<b>{label(row.model)}</b><br>Elo {signed_elo(elo.value)} {elo_ends(elo)}"
        f"<br>win probability {p.value:.3f} ({p.low:.3f} to {p.high:.3f})"
        f"<br>n {row.n:,} prompts, tier {row.tier}"
    )


def _elo_hover(model: str, name: str, elo: Estimate, n: str) -> str:
    ends = (
        elo_ends(elo)
        if elo.has_interval
        else f"({signed_elo(elo.value)} to {signed_elo(elo.value)})"
    )
    return f"<b>{label(model)}</b><br>{label(name)}<br>Elo {signed_elo(elo.value)} {ends}<br>{n}"


def ratings_figure(
    board: Board, others: Mapping[str, Result], *, shown: int | None = None, **page: Unpack[Shown]
) -> Figure:
    """Elo over the anchor of each model on the board: anchored, and by each other method, with
    intervals.

    The key of a mark is its model. Models without a number by a method have no mark of it.
    """
    methods: dict[str, Result] = {RAEE: board, **others}
    rows = ModelRows(
        [row.model for row in board.rows[:shown]],
        "Elo",
        row_height=ROW_HEIGHT_OF_METHODS,
        entries=len(methods),
        **page,
    )
    for place, (method, found) in enumerate(methods.items()):
        name = METHOD_NAMES.get(method, method)
        unit = "prompts" if method == RAEE else "games"
        marks = [
            RowMark(model, elo, _elo_hover(model, name, elo, f"n {elo.n:,} {unit}"), model)
            for model, elo in found.elos().items()
        ]
        # Open markers for the others, so that colour does not tell alone.
        other = Style(colour=COLOURS[rows.theme].raters[place], symbol=f"{MARKERS[place]}-open")
        style = accent(rows.theme) if method == RAEE else other
        rows.add(_short(name), style, marks, offset=0.2 * (place - (len(methods) - 1) / 2))
    return rows.along_elo()


def tasks_figure(found: BetweenTasks, *, shown: int | None = None, **page: Unpack[Shown]) -> Figure:
    """Mean over categories of each model's Elo with its interval, and below it the Elo of each
    category.

    The key of a mean is the model, that of a category's mark `task_key`; the latter are left out
    where they would be more than `MAX_POINTS`.
    """
    spreads = found.rows[:shown]
    dots = found.boards if len(spreads) * len(found.boards) <= MAX_POINTS else {}
    rows = ModelRows(
        [row.model for row in spreads],
        "Elo",
        row_height=ROW_HEIGHT_OF_TASKS,
        entries=len(dots) + 1,
        **page,
    )
    colours = COLOURS[rows.theme].raters
    for place, (task, board) in enumerate(dots.items()):
        name, colour = task or "no category", colours[place % len(colours)]
        marks = [
            RowMark(
                model,
                elo,
                _elo_hover(model, name, elo, f"n {elo.n:,} prompts"),
                task_key(task, model),
            )
            for model, elo in board.elos().items()
        ]
        style = Style(colour=colour, symbol=f"{MARKERS[place % len(MARKERS)]}-open")
        rows.add(_short(name), style, marks, offset=0.28, size=7, bars=False)
    name = "mean of categories"
    means = []
    for row in spreads:
        n = f"n {row.prompts:,} prompts in {row.n_tasks} categories"
        means.append(
            RowMark(row.model, row.mean, _elo_hover(row.model, name, row.mean, n), row.model)
        )
    rows.add(name, accent(rows.theme), means)
    return rows.along_elo()


def task_key(task: str, model: str) -> str:
    """Key of a model's mark in one category, also what a select box shows."""
    return f"{model} in {task or 'no category'}"


def outside_figure(
    found: OutsideComparison, board: Board, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Elo on this board, with its interval, against Elo by the file, centred alike; the line is
    equality.
    """
    limits = {row.model: (row.elo_corrected.low, row.elo_corrected.high) for row in board.rows}
    # Where scores of 0 or 100 % are, there is no Elo to draw; a browser cannot show thousands.
    keep = np.flatnonzero(~np.isnan(found.outside_elo))[:MAX_POINTS]
    names = [found.models[k] for k in keep]
    x, y = found.elo[keep], found.outside_elo[keep]
    ends = np.array([limits.get(name, (0.0, 0.0)) for name in names]).reshape(-1, 2)
    low, high = float(min([0.0, *x, *y])) - 20, float(max([0.0, *x, *y])) + 20
    fig = figure(
        "Elo here",
        f"Elo by {_short(found.name)}, centred",
        theme=theme,
        height=460,
        square=True,
        legend=False,
        traces=[ideal_trace(x=(low, high), y=(low, high), name="equal", theme=theme)],
    )
    fig.add_scatter(
        x=x,
        y=y,
        mode="markers",
        name="models",
        customdata=[[name] for name in names],
        error_x=error_bars(Estimates(x, *ends.T), COLOURS[theme].neutral, thickness=1),
        marker=_marker(accent(theme), 9, names, chosen, theme),
        **hover(
            f"<b>{label(name)}</b><br>here {signed_elo(a)} Elo<br>there {signed_elo(b)} Elo "
            f"(score {score:g})"
            for name, a, b, score in zip(names, x, y, found.outside_score[keep], strict=True)
        ),
        **undimmed(1),
    )
    return fig


def scores_figure(
    found: ScoreBoards,
    *,
    styles: Mapping[str, Style],
    votes: Board | None = None,
    shown: int | None = None,
    **page: Unpack[Shown],
) -> Figure:
    """One row per model: filled the mean of judges by scores, small marks each judge, hollow by
    votes.

    votes : board against the same anchor, with its corrected interval. A model without votes has no
        hollow
    mark. Judges' marks are left out where there is one judge, or more than a thousand marks.
    """
    ranked = found.mean.rows[:shown]
    several = len(found.judges) > 1 and len(ranked) * len(found.judges) <= MAX_POINTS
    dots = found.judges if several else {}
    rows = ModelRows(
        [row.model for row in ranked],
        f"beats {_short(found.mean.anchor)}, %",
        row_height=ROW_HEIGHT_OF_SCORES,
        entries=len(dots) + 1 + (votes is not None),
        start=50,
        **page,
    )
    for judge, known in dots.items():
        marks = [_score_mark(row, f"judge {label(judge)}") for row in known.rows]
        rows.add(_short(judge), styles[judge], marks, offset=0.3, size=7, opacity=0.75, bars=False)
    only = next(iter(found.judges)) if len(found.judges) == 1 else None
    marks = [_score_mark(row, f"n {row.n:,} items, {row.n_judges} judges") for row in ranked]
    name = f"scores, {_short(only)}" if only else "scores, mean of judges"
    rows.add(name, styles[only] if only else accent(rows.theme), marks, offset=-0.12, size=10)
    if votes is not None:
        marks = []
        for row in votes.rows:
            p, ends = row.p_corrected, f"({row.p_corrected.low:.3f} to {row.p_corrected.high:.3f})"
            said = (
                f"<b>{label(row.model)}</b><br>by votes {p.value:.3f} {ends}<br>n {row.n:,} prompts"
            )
            marks.append(RowMark(row.model, p.scaled(100), said, row.model))
        style = Style(colour=COLOURS[rows.theme].neutral, symbol="diamond-open")
        rows.add("votes", style, marks, offset=0.1)
    low, high = rows.ends()
    rows.fig.update_xaxes(range=[max(0.0, low - 3), min(100.0, high + 3)], nticks=7)
    return rows.with_line(50, "50 %")


def _score_mark(row: ScoreRow, about: str) -> RowMark:
    ends = f" ({row.p.low:.3f} to {row.p.high:.3f})" if row.p.has_interval else ""
    by_scores = f"by scores {row.p.value:.3f}{ends}<br>mean score {row.mean:.2f}"
    said = f"<b>{label(row.model)}</b><br>{by_scores}<br>{about}"
    return RowMark(row.model, row.p.scaled(100), said, row.model)
