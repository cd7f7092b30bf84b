"""A forest: one row per judge or group, a mark for each estimate with its interval."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from ..stats.estimate import Estimate, Estimates
from .figure import COLOURS, SHARE_TICKS, Style, accent, error_bars, figure, hover, label, undimmed
from .tables import field_of
from .wording import interval, minus

if TYPE_CHECKING:
    from .figure import Figure, Theme, Trace


NAME_LIMIT = 24
"""Characters a line, of two, of a name beside the axis: a phone has no room for more; hover texts
do.
"""
LEAST_HEIGHT = 190
ROW_HEIGHT, LINE_HEIGHT = 14, 14
APART = 0.26
MOST_TICKS = 6
DENSE, DENSE_ROW = 24, 14
"""More rows than this are so many pixels high, and their names short."""


Unit = Literal["", "%", "points"]


@dataclass(frozen=True, slots=True)
class ForestMark:
    """One mark: an estimate, what it rests on in words, and the key that a click gives, if any."""

    row: str
    found: Estimate
    n: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Marks of one quantity: filled, `hollow`, or `plain` (a small neutral bar, no judge's marker).

    rows : also of those whose value is unknown, and has no mark.
    """

    name: str
    rows: Sequence[str]
    marks: Sequence[ForestMark]
    look: str = "filled"


def series(
    name: str,
    results: Mapping[str, Any],
    value: str | Callable[[Any], Estimate | None],
    n: str | Callable[[Any], str],
    *,
    look: str = "filled",
    key: Callable[[str], str | None] | None = str,
) -> Series:
    """A mark for each result, in the row of its name.

    value : field of a result, such as "rate.labels", or a function of it, "" for the result itself;
        an estimate, a number that has no interval, or None (as NaN: unknown).
    n : what it rests on: a function of a result, or a template in which {0} is the result.
    key : of a mark by its row; by default the row's name, None for marks that are not to be clicked
        on.
    """
    marks = []
    for row, result in results.items():
        found = value(result) if callable(value) else field_of(result, value) if value else result
        known = (
            found if isinstance(found, Estimate) else Estimate(math.nan if found is None else found)
        )
        if not math.isnan(known.value):
            about = n(result) if callable(n) else n.format(result)
            marks.append(ForestMark(row, known, about, key and key(row)))
    return Series(name, list(results), marks, look)


class Shown(TypedDict, total=False):
    """Where a forest is shown: in which theme, and the key of the mark to ring."""

    theme: Theme
    chosen: str | None


class Look(Shown, total=False):
    """The same, with the styles of rows or one for all, by default the accent."""

    styles: Mapping[str, Style] | Style


def forest(
    series: Sequence[Series],
    x_title: str,
    *,
    x_range: tuple[float, float] | None = None,
    reference: float | None = None,
    missing: str = "unknown",
    unit: Unit = "",
    **looks: Unpack[Look],
) -> Figure:
    """Draw estimates with their intervals, rows in the order in which they first occur.

    x_range : shown; by default what the intervals need, with the reference.
    reference : x of a thin line, such as "no bias".
    missing : said in the row of a name whose every value is unknown.
    unit : in which ticks and hover texts give a value between −1 and 1, as sentences do.
    """
    theme, chosen = looks.get("theme", "light"), looks.get("chosen")
    styles = looks.get("styles") or accent(theme)
    colours = COLOURS[theme]
    rows = list(dict.fromkeys(row for one in series for row in one.rows))
    lines = max([len(series), *(2 for row in rows if len(row) > NAME_LIMIT)])
    dense = len(rows) > DENSE
    # A lower one pushes the axis title into its ticks.
    each = DENSE_ROW if dense else ROW_HEIGHT + LINE_HEIGHT * lines
    height = max(LEAST_HEIGHT, 92 + len(rows) * each)
    traces: list[Trace] = []
    for place, one in enumerate(series):
        offset = APART * (place - (len(series) - 1) / 2)
        drawn = [styles if isinstance(styles, Style) else styles[mark.row] for mark in one.marks]
        ringed = [mark.key is not None and mark.key == chosen for mark in one.marks]
        found = Estimates.of([mark.found for mark in one.marks])
        traces.append(
            {
                "type": "scatter",
                "x": found.value,
                "y": [rows.index(mark.row) + offset for mark in one.marks],
                "mode": "markers",
                "name": label(one.name),
                "showlegend": False,
                "customdata": [[mark.key] for mark in one.marks],
                "error_x": error_bars(found, colours.neutral),
                "marker": {
                    "symbol": [_symbol(style, one.look) for style in drawn],
                    "color": [
                        colours.neutral if one.look == "plain" else style.colour for style in drawn
                    ],
                    "size": 7 if dense else 10,
                    "line": {
                        "color": [
                            colours.text if ring else style.colour
                            for ring, style in zip(ringed, drawn, strict=True)
                        ],
                        "width": [
                            3 if ring else 0 if one.look == "filled" else 2 for ring in ringed
                        ],
                    },
                },
                **hover(_hover(one.name, mark, unit) for mark in one.marks),
                **undimmed(1),
            }
        )
        # The legend speaks of the quantity, not of the judge whose mark comes first.
        traces.append(
            {
                "type": "scatter",
                "x": [None],
                "y": [None],
                "mode": "markers",
                "name": label(one.name),
                "hoverinfo": "skip",
                "marker": {
                    "symbol": _symbol(Style(colour="", symbol="circle"), one.look),
                    "color": colours.neutral,
                    "size": 10,
                    "line": {"color": colours.neutral, "width": 1.5},
                },
            }
        )
    seen = {mark.row for one in series for mark in one.marks}
    look_missing = {"showarrow": False, "xanchor": "left", "font": {"color": colours.neutral}}
    absent = [
        {"xref": "paper", "x": 0.02, "y": place, "text": missing, **look_missing}
        for place, row in enumerate(rows)
        if row not in seen
    ]
    dotted = {"color": colours.neutral, "width": 1, "dash": "dot"}
    upright = {"type": "line", "xref": "x", "yref": "y domain", "y0": 0, "y1": 1, "line": dotted}
    # On a phone more labels of shares would be turned on their side.
    across: dict[str, Any] = {"range": x_range, "nticks": 5}
    if unit == "%":
        across["tickformat"] = SHARE_TICKS
    elif unit == "points":
        seen_at = [] if reference is None else [reference]
        for mark in (mark for one in series for mark in one.marks):
            ends = (mark.found.low, mark.found.high) if mark.found.has_interval else ()
            seen_at += [mark.found.value, *ends]
        across |= point_ticks(*(x_range or (min(seen_at), max(seen_at)))) if seen_at else {}
    return figure(
        x_title,
        "",
        theme=theme,
        height=height,
        legend=len(series) > 1,
        traces=traces,
        x_axis=across,
        y_axis={
            "tickvals": list(range(len(rows))),
            "ticktext": row_names(rows),
            "tickfont": {"size": 12 if dense else 13},
            "range": [len(rows) - 0.5, -0.5],
            "showgrid": False,
            "ticks": "",
        },
        layout={
            "shapes": None if reference is None else [upright | {"x0": reference, "x1": reference}],
            "annotations": absent or None,
        },
    )


def point_ticks(low: float, high: float) -> dict[str, Any]:
    """Ticks of a difference between −1 and 1 in points: an axis has no format for them.

    >>> point_ticks(-0.2, 0.3)["ticktext"]
    ['−30', '−20', '−10', '0', '+10', '+20', '+30', '+40']
    """
    low, high = 100 * low, 100 * high
    spread = max(high - low, 1e-3)
    power = 10 ** math.floor(math.log10(spread / MOST_TICKS))
    step = next(power * n for n in (1, 2, 5, 10) if spread / (power * n) <= MOST_TICKS)
    # One beyond either end: the axis shows a little more than its marks.
    places = range(math.floor(low / step) - 1, math.ceil(high / step) + 2)
    digits = max(0, -math.floor(math.log10(step)))
    return {
        "tickvals": [place * step / 100 for place in places],
        "ticktext": [minus(f"{place * step:+.{digits}f}") if place else "0" for place in places],
    }


def row_names(rows: Sequence[str]) -> list[str]:
    """Names beside an axis: on two lines if need be, on one where rows are many and low."""
    return (
        [label(row, limit=22) for row in rows]
        if len(rows) > DENSE
        else [two_lines(row) for row in rows]
    )


def two_lines(name: str) -> str:
    """A name beside an axis: long ones often differ only near their end, so one line is
    not enough.
    """
    text = " ".join(name.split())
    if len(text) <= NAME_LIMIT:
        return label(text)
    cut = 1 + max(text.rfind(mark, NAME_LIMIT // 2, NAME_LIMIT) for mark in " -_/.:")
    cut = cut or NAME_LIMIT
    return f"{label(text[:cut])}<br>{label(text[cut:], limit=NAME_LIMIT)}"


def narrow_lines(name: str, width: int = 10, lines: int = 3) -> str:
    """A name above a column of a matrix: on a phone a column is as wide as a word."""
    found = [""]
    for part in re.findall(r"[^ \-_/.:]*[ \-_/.:]?", " ".join(name.split())):
        if found[-1] and len((found[-1] + part).rstrip()) > width:
            found.append("")
        found[-1] += part
    kept = [*found[: lines - 1], "".join(found[lines - 1 :])]
    return "<br>".join(label(line, limit=width + 2) for line in kept if line.strip())


def _symbol(style: Style, look: str) -> str:
    if look == "plain":
        return "line-ns-open"
    symbol = style.symbol.removesuffix("-open")
    return f"{symbol}-open" if look == "hollow" or style.symbol.endswith("-open") else symbol


def _hover(name: str, mark: ForestMark, unit: Unit) -> str:
    found = f"{interval(mark.found.scaled(100), '.1f')} {unit}" if unit else None
    value = f"{label(name)} {found or interval(mark.found, '.3f')}"
    return f"<b>{label(mark.row, limit=80)}</b><br>{value}<br>{label(mark.n)}"
