"""Figures of the verdict: the evidence strip, the trust map of many judges, and the check
matrix.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..finding.figure import COLOURS, Tile, error_bars, figure, hover, label, tiled, tint, undimmed
from ..finding.forest import DENSE, DENSE_ROW, row_names
from ..finding.wording import number
from ..stats.estimate import Estimate, Estimates
from .checks import BY_NAME
from .overall import SIGNS

if TYPE_CHECKING:
    from ..finding.check import CheckResult, Grade
    from ..finding.figure import Colours, Figure, Theme, Trace
    from .card import Panel

MOST_ROWS = 12
"""Judges in the strip and the matrix; more are shown on request."""
ALL_ROWS = 100
"""Judges that a page has room for."""
WIDEST_BAND = 0.2
"""People farther apart than this, as a share, are no band that a judge could be in."""
NAMED = 5
ROW, LONG_ROW = 22, 30
"""Height of a row of the strip, and of one with names in two lines."""
HEADS = 36
"""Pixels for the heads of a matrix, in two lines."""
ZONE = 0.16
"""How strong the colour of a limit zone is."""
HEAD, FOOT, GAP = 24, 38, 0.022
NARROW_HEAD, NARROW_FOOT, NARROW_GAP = 20, 41, 0.06
LEAST_INNER = 56
"""Height of a panel's inside that the word at its reference line needs."""
NOTES = 0.7
"""Rows' height below the rows for the names of band and zones."""


def grade_colour(colours: Colours, grade: Grade) -> str:
    """Colour of a grade as text; unknown is neutral."""
    found: str = colours.neutral if grade == "unknown" else getattr(colours, grade)
    return found


def evidence_strip(
    panels: Sequence[Panel],
    rows: Sequence[str],
    *,
    people: Sequence[str] = (),
    chosen: str | None = None,
    narrow: bool = False,
    theme: Theme = "light",
) -> Figure:
    """Panels with shared rows: a dot with its interval per judge, the chosen one in the accent
    colour.

    People are a band from the lowest to the highest, unless they are rows, or lines where they are
    far apart; zones beyond a limit are shaded and signed. A mark's key is the judge. `narrow` puts
    two panels in a line, for a phone: of two rows one is called *this*, the other *best*, and a
    single row needs no name.
    """
    colours = COLOURS[theme]
    columns = 2 if narrow else len(panels)
    head, foot, gap = (NARROW_HEAD, NARROW_FOOT, NARROW_GAP) if narrow else (HEAD, FOOT, GAP)
    names = ["this" if row == chosen else "best" for row in rows] if narrow else row_names(rows)
    if narrow and len(rows) == 1:
        names = [""]
    high = LONG_ROW if any("<br>" in name for name in names) else ROW
    high = DENSE_ROW if len(rows) > DENSE else high
    inner = max(round(high * (len(rows) + NOTES)), LEAST_INNER)
    each, lines = head + inner + foot, math.ceil(len(panels) / columns)
    drawn = _Drawn()
    width = (1 - gap * (columns - 1)) / columns
    for place, panel in enumerate(panels):
        line, column = divmod(place, columns)
        axes = (f"x{place + 1 if place else ''}", f"y{line + 1 if line else ''}")
        across = (column * (width + gap), column * (width + gap) + width)
        top = 1 - line / lines
        down = (top - (head + inner) / (each * lines), top - head / (each * lines))
        if not column:
            # Rows are named once, at the left.
            named = {**_rows(names, rows, chosen), "domain": down, "anchor": axes[0]}
            drawn.axes[f"yaxis{axes[1][1:]}"] = named
            if not panel.values:
                # An axis stands where it has a trace.
                nothing = {"type": "scatter", "x": [None], "y": [None], "hoverinfo": "skip"}
                drawn.traces.append(nothing | {"xaxis": axes[0], "yaxis": axes[1]})
        _panel(drawn, panel, rows, people, chosen, axes, across, down, colours)
    return figure(
        "",
        "",
        theme=theme,
        height=each * lines,
        legend=False,
        traces=drawn.traces,
        x_axis=drawn.axes.pop("xaxis", None),
        y_axis=drawn.axes.pop("yaxis", None),
        layout={
            "margin": {"t": 0, "b": 0, "l": 4, "r": 12},
            "shapes": drawn.shapes,
            "annotations": drawn.notes,
            **drawn.axes,
        },
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Drawn:
    """What panels are made of, for one figure; Plotly looks at all of a kind anew with each that is
    added.
    """

    traces: list[Trace] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    axes: dict[str, dict[str, Any]] = field(default_factory=dict)


def _rows(names: Sequence[str], rows: Sequence[str], chosen: str | None) -> dict[str, Any]:
    return {
        "tickvals": list(range(len(rows))),
        "ticktext": [
            f"<b>{n}</b>" if row == chosen else n for n, row in zip(names, rows, strict=True)
        ],
        "tickfont": {"size": 12 if len(rows) > DENSE else 13},
        "range": [len(rows) + NOTES - 0.5, -0.5],
        "showgrid": False,
        "showline": False,
        "ticks": "",
        "fixedrange": True,
    }


def _panel(
    drawn: _Drawn,
    panel: Panel,
    rows: Sequence[str],
    people: Sequence[str],
    chosen: str | None,
    axes: tuple[str, str],
    across: tuple[float, float],
    down: tuple[float, float],
    colours: Colours,
) -> None:
    x, y = axes
    found = {row: panel.values[row].scaled(panel.scale) for row in rows if row in panel.values}
    persons = [panel.values[one].scaled(panel.scale).value for one in people if one in panel.values]
    ends = _ends(panel, [*found.values()], persons)
    drawn.axes[f"xaxis{x[1:]}"] = {
        "domain": across,
        "anchor": y,
        "range": ends,
        "nticks": 5,
        "fixedrange": True,
        "visible": bool(found),
        "title": {"text": panel.axis if found else "", "standoff": 4, "font": {"size": 12}},
    }
    said = {"xref": "paper", "yref": "paper", "showarrow": False, "xanchor": "left", "x": across[0]}
    title = {"text": f"<b>{panel.title}</b>", "y": down[1], "yanchor": "bottom"}
    drawn.notes.append(said | title | {"font": {"size": 13}})
    if not found:
        middle = said | {"x": sum(across) / 2, "xanchor": "center", "yanchor": "middle"}
        text = {"text": _wrapped(panel.empty), "y": sum(down) / 2}
        drawn.notes.append(middle | text | {"font": {"color": colours.neutral, "size": 12}})
        return
    words = [panel.scale * panel.reference[0]] if panel.reference else []
    words += [(min(persons) + max(persons)) / 2] if persons else []
    _zones(drawn, panel, ends, words, axes, colours)
    if persons:
        _people(drawn, persons, WIDEST_BAND * panel.scale, ends, axes, colours)
    if panel.reference:
        at, name = panel.scale * panel.reference[0], panel.reference[1]
        if ends[0] <= at <= ends[1]:
            line = {"color": colours.neutral, "width": 1, "dash": "dot"}
            ends_of_line = {"x0": at, "x1": at, "y0": 0, "y1": 1}
            place = {"type": "line", "xref": x, "yref": f"{y} domain"}
            drawn.shapes.append(place | ends_of_line | {"line": line})
            _note(
                drawn,
                name,
                at,
                axes,
                colours.neutral,
                textangle=-90,
                y=0.5,
                xanchor="left",
                yanchor="middle",
            )
    for mine in (False, True):
        marks = {row: one for row, one in found.items() if (row == chosen) == mine}
        if marks:
            colour = colours.accent if mine else colours.neutral
            drawn.traces.append(_dots(panel, marks, rows, axes, colour, mine))


def _dots(
    panel: Panel,
    marks: Mapping[str, Estimate],
    rows: Sequence[str],
    axes: tuple[str, str],
    colour: str,
    mine: bool,
) -> Trace:
    digits = ".2f" if panel.scale == 1 else ".1f"
    return {
        "type": "scatter",
        "x": [one.value for one in marks.values()],
        "y": [rows.index(row) for row in marks],
        "xaxis": axes[0],
        "yaxis": axes[1],
        "mode": "markers",
        "customdata": [[row] for row in marks],
        "error_x": error_bars(
            Estimates.of(list(marks.values())), colour, thickness=3 if mine else 1.5, width=0
        ),
        "marker": {"color": colour, "size": 12 if mine else 9, "symbol": "circle"},
        **hover(
            f"<b>{label(row, limit=80)}</b><br>{panel.axis}: {number(one.value, digits)}"
            + (
                f" ({number(one.low, digits)} to {number(one.high, digits)})"
                if one.has_interval
                else ""
            )
            for row, one in marks.items()
        ),
        **undimmed(1),
    }


def _ends(panel: Panel, found: Sequence[Estimate], persons: Sequence[float]) -> tuple[float, float]:
    """What the axis shows: all intervals, the limits near them, and the best value."""
    if not found:
        return (0.0, 1.0)
    limits = panel.limits
    seen = [*persons]
    for one in found:
        seen += [one.low, one.high] if one.has_interval else [one.value]
    seen.append(panel.scale * limits.caution)
    if panel.reference:
        seen.append(panel.scale * panel.reference[0])
    seen.append(1.0 * panel.scale if limits.shape == "at_least" and limits.caution > 0 else 0.0)
    low, high = min(seen), max(seen)
    pad = 0.04 * (high - low)
    return low - pad, high + pad


def _zones(
    drawn: _Drawn,
    panel: Panel,
    ends: tuple[float, float],
    words: Sequence[float],
    axes: tuple[str, str],
    colours: Colours,
) -> None:
    """Shade what is beyond the limits, each with its sign.

    words : where words stand at the lower edge, which need room.
    """
    for start, end, grade in _spans(panel):
        low, high = max(start, ends[0]), min(end, ends[1])
        if low >= high:
            continue
        colour = grade_colour(colours, grade)
        _shade(drawn, (low, high), axes, tint(colour, colours.page, ZONE))
        if high - low > 0.1 * (ends[1] - ends[0]):
            places = (low + share * (high - low) for share in (0.5, 0.92, 0.08))
            room = 0.135 * (ends[1] - ends[0])
            free = (at for at in places if all(abs(at - word) >= room for word in words))
            if (place := next(free, None)) is not None:
                _note(drawn, SIGNS[grade], place, axes, colour)


def _spans(panel: Panel) -> list[tuple[float, float, Grade]]:
    """Where a value is beyond caution, and where beyond failure; of a signed check on both
    sides.
    """
    limits = panel.limits
    caution = panel.scale * limits.caution
    failure = (
        None if limits.failure is None or limits.worst == "warn" else panel.scale * limits.failure
    )
    if limits.shape == "at_least":
        failed = -math.inf if failure is None else failure
        return [(failed, caution, "warn"), (-math.inf, failed, "fail")]
    failed = math.inf if failure is None else failure
    above: list[tuple[float, float, Grade]] = [
        (caution, failed, "warn"),
        (failed, math.inf, "fail"),
    ]
    mirrored = [(-high, -low, grade) for low, high, grade in above]
    return above + mirrored if limits.shape == "signed" else above


def _people(
    drawn: _Drawn,
    persons: Sequence[float],
    widest: float,
    ends: tuple[float, float],
    axes: tuple[str, str],
    colours: Colours,
) -> None:
    low, high = min(persons), max(persons)
    spans = [(low, high)] if high - low <= widest else [(one, one) for one in persons]
    thin, colour = 0.006 * (ends[1] - ends[0]), tint(colours.human, colours.page, 0.55)
    for start, end in spans:
        _shade(drawn, (start - thin, end + thin), axes, colour)
    _note(drawn, "people", (low + high) / 2, axes, colours.text)


def _shade(drawn: _Drawn, span: tuple[float, float], axes: tuple[str, str], colour: str) -> None:
    drawn.shapes.append(
        {
            "type": "rect",
            "xref": axes[0],
            "yref": f"{axes[1]} domain",
            "x0": span[0],
            "x1": span[1],
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"width": 0},
            "fillcolor": colour,
        }
    )


def _note(
    drawn: _Drawn, text: str, at: float, axes: tuple[str, str], colour: str, **more: Any
) -> None:
    """A word at the lower edge of a panel, below its rows."""
    drawn.notes.append(
        {
            "xref": axes[0],
            "yref": f"{axes[1]} domain",
            "x": at,
            "y": 0.0,
            "text": text,
            "showarrow": False,
            "borderpad": 0,
            "yanchor": "bottom",
            "xanchor": "center",
            "font": {"size": 12, "color": colour},
        }
        | more
    )


def _wrapped(text: str, width: int = 26) -> str:
    import textwrap

    return "<br>".join(textwrap.wrap(text, width))


def trust_map(
    right: Mapping[str, Estimate],
    flips: Mapping[str, Estimate],
    *,
    chosen: str | None = None,
    height: int = 340,
    theme: Theme = "light",
) -> Figure:
    """Accuracy against verdicts that change with the order, both with intervals; the best five are
    named.

    The upper left is best. A mark's key is the judge; judges without either value have none.
    """
    colours = COLOURS[theme]
    known = [name for name in right if name in flips]
    known.sort(key=lambda name: right[name].low, reverse=True)
    fig = figure(
        "verdicts changed by swapping, %",
        "share right, %",
        theme=theme,
        height=height,
        legend=False,
    )
    for mine in (False, True):
        names = [name for name in known if (name == chosen) == mine]
        across = [flips[name].scaled(100) for name in names]
        up = [right[name].scaled(100) for name in names]
        colour = colours.accent if mine else colours.neutral
        if not names:
            continue
        fig.add_scatter(
            x=[one.value for one in across],
            y=[one.value for one in up],
            mode="markers",
            customdata=[[name] for name in names],
            error_x=error_bars(
                Estimates.of(across), tint(colour, colours.page, 1), thickness=1, width=0
            ),
            error_y=error_bars(
                Estimates.of(up), tint(colour, colours.page, 1), thickness=1, width=0
            ),
            marker={"color": colour, "size": 11 if mine else 7},
            **hover(
                f"<b>{label(name, limit=80)}</b><br>right {number(u.value, '.1f')} %, "
                f"changed {number(a.value, '.1f')} %"
                for name, a, u in zip(names, across, up, strict=True)
            ),
            **undimmed(1),
        )
    best = sorted(known[:NAMED], key=lambda name: -right[name].value)
    if not known:
        return fig
    ends = [
        100 * end
        for name in known
        for end in (flips[name].low, flips[name].high, flips[name].value)
    ]
    tops = [100 * right[name].value for name in known]
    far, low, high = max(ends), min(tops), max(tops)
    # In a column right of all marks: the best lie close, and names at their marks would overlap.
    for place, name in enumerate(best):
        fig.add_annotation(
            x=100 * flips[name].value,
            y=100 * right[name].value,
            axref="x",
            ayref="y",
            ax=1.04 * far,
            ay=high - place * 0.1 * (high - low),
            text=label(name, limit=18),
            xanchor="left",
            font={"size": 12, "color": colours.accent if name == chosen else colours.text},
            arrowcolor=colours.neutral,
            arrowwidth=0.6,
            arrowhead=0,
            standoff=5,
        )
    fig.update_xaxes(range=[-0.03 * far, 1.55 * far], nticks=6, title_font_size=12)
    fig.update_yaxes(title_font_size=12)
    return fig


def _head(title: str) -> str:
    """A title above a column, which beside long names has room for ten letters."""
    return title.replace(" ", "<br>", 1) if len(title) > 10 else title


def _sign(grade: Grade) -> str:
    """A sign of a grade; of what is not known none, as the line below says what it needs."""
    return "" if grade == "unknown" else SIGNS[grade]


def check_matrix(
    results: Sequence[CheckResult],
    rows: Sequence[str],
    checks: Sequence[str],
    *,
    signs: Mapping[str, Grade],
    theme: Theme = "light",
) -> Figure:
    """Judges × checks: the sign of each grade on its colour; a cell's key is `matrix_key`.

    signs : the grade that stands for a judge's overall verdict.
    """
    of = {(r.judge, r.check): r for r in results}
    dense = len(rows) > DENSE
    high = HEADS + (DENSE_ROW if dense else 24) * len(rows)
    tiles = [
        _tile(of[judge, check], (x, y), _sign(of[judge, check].grade), theme)
        for y, judge in enumerate(rows)
        for x, check in enumerate(checks)
        if (judge, check) in of
    ]
    marks, shapes = tiled(
        tiles, size=10 if dense else 22, text_size=12 if dense else 14, theme=theme, chosen=None
    )
    heads = [_head(BY_NAME[check].title) for check in checks]
    sides = [f"{SIGNS[signs[name]]} {label(name)}" for name in rows]
    bare = {"showgrid": False, "showline": False, "ticks": "", "fixedrange": True}
    return figure(
        "",
        "",
        theme=theme,
        height=high,
        legend=False,
        traces=[marks],
        x_axis={
            "tickvals": list(range(len(heads))),
            "ticktext": heads,
            "range": [-0.5, len(heads) - 0.5],
            "automargin": False,
            "side": "top",
            "tickangle": 0,
            "tickfont": {"size": 12},
            **bare,
        },
        y_axis={
            "tickvals": list(range(len(sides))),
            "ticktext": sides,
            "range": [len(sides) - 0.5, -0.5],
            "tickfont": {"size": 12 if dense else 13},
            **bare,
        },
        layout={"margin": {"t": HEADS, "b": 0, "l": 4, "r": 4}, "shapes": shapes},
    )


def check_grid(
    results: Sequence[CheckResult], judge: str, checks: Sequence[str], *, theme: Theme = "light"
) -> Figure:
    """The checks of one judge, three in a line, for a phone: sign and name on the colour of the
    grade.
    """
    of = {r.check: r for r in results if r.judge == judge}
    tiles = [
        _tile(of[check], (k % 3, k // 3), f"{_sign(of[check].grade)} {BY_NAME[check].title}", theme)
        for k, check in enumerate(checks)
    ]
    lines = math.ceil(len(checks) / 3)
    hidden = {"visible": False, "fixedrange": True}
    marks, shapes = tiled(tiles, size=18, text_size=13, theme=theme, chosen=None)
    return figure(
        "",
        "",
        theme=theme,
        height=20 * lines,
        legend=False,
        traces=[marks],
        x_axis={**hidden, "range": [-0.5, 2.5]},
        y_axis={**hidden, "range": [lines - 0.5, -0.5]},
        layout={"margin": dict.fromkeys("tblr", 0), "shapes": shapes},
    )


def _tile(result: CheckResult, at: tuple[int, int], text: str, theme: Theme) -> Tile:
    colours, judge, check = COLOURS[theme], result.judge, result.check
    share = 0.0 if result.grade == "unknown" else 0.3
    colour = tint(grade_colour(colours, result.grade), colours.page, share)
    said = _wrapped(label(result.sentence, limit=400), 60)
    said = f"<b>{label(judge, limit=80)}</b>, {check.replace('_', ' ')}<br>{said}"
    return Tile(*at, matrix_key(judge, check), colour, text, said)


def matrix_key(judge: str, check: str) -> str:
    """Key of a cell, also what a select box would show."""
    return f"{judge}: {check.replace('_', ' ')}"
