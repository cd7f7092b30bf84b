"""Figures of the first screen: the evidence on every judge side by side, and which checks each one passes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..interpretation.overview import CHECK_WORDS, SIGNS, measured
from ..interpretation.rules import LIMITS
from ..interpretation.summary import NEEDS
from ..stats.estimate import Estimates
from .base import COLOURS, Tile, Trace, add_tiles, error_bars, figure, hover, label, tint, undimmed

if TYPE_CHECKING:
    from ..interpretation.verdicts import Verdict
    from .base import Colours, Figure, Theme

ROW, HEAD, FOOT = 24, 56, 46
"""Heights in pixels: of a judge's row, of a panel's title, of its axis."""
TILE = 26
NAME_LIMIT = 24
GAP = 0.025


@dataclass(frozen=True, slots=True)
class Panel:
    """One question of the evidence; `ends` are always in view."""

    check: str
    title: str
    axis: str
    ends: tuple[float, float]


PANELS = (
    Panel("accuracy", "Is it right?", "share right", (0.45, 1.0)),
    Panel("overconfidence", "Is it honest about confidence?", "stated too little · too much", (-0.25, 0.25)),
    Panel("position", "Does it ignore the order?", "for the second · the first shown", (-0.25, 0.25)),
    Panel("repeatability", "Does it repeat itself?", "ICC of repeats", (0.4, 1.0)),
)
AGREEMENT = Panel("agreement", "Does it say what people say?", "judge − a person", (-0.25, 0.15))
"""In place of the first where nobody has gold."""

Checks = Mapping[str, Mapping[str, "Verdict"]]
"""Judge → check → verdict."""


def evidence(
    checks: Checks,
    rows: Sequence[str],
    chosen: str,
    *,
    people: Collection[str] = (),
    stacked: bool = False,
    theme: Theme = "light",
) -> Figure:
    """A dot with its interval per judge and question, rows in the order given, the chosen one in the accent.

    The limits' zones are shaded, people are a band, guessing is a line; a question without any answer says
    what to add. A mark's key is its judge.

    people : raters that make the band.  stacked : panels below each other, for a narrow page.
    """
    colours = COLOURS[theme]
    no_gold = all(checks[name]["accuracy"].interval is None for name in checks)
    first = AGREEMENT if no_gold and any(checks[name]["agreement"].interval for name in checks) else PANELS[0]
    panels = (first, *PANELS[1:])
    height = HEAD + FOOT + ROW * len(rows)
    fig = figure("", "", theme=theme, height=height * (len(panels) if stacked else 1), legend=False)
    top = HEAD / fig.layout.height
    layout: dict[str, Any] = {"margin": {"l": 8, "r": 12, "t": 0, "b": 0}}
    annotations: list[Trace] = []
    shapes: list[Trace] = []
    for place, panel in enumerate(panels):
        number = "" if place == 0 else str(place + 1)
        x, y = f"x{number}", f"y{number}"
        if stacked:
            upper = 1 - place / len(panels)
            across, down = (0.0, 1.0), (upper - 1 / len(panels) + FOOT / fig.layout.height, upper - top)
        else:
            width = (1 - GAP * (len(panels) - 1)) / len(panels)
            left = place * (width + GAP)
            across, down = (left, left + width), (FOOT / height, 1 - top)
        shown = {name: checks[name][panel.check] for name in rows}
        start, end = _range(panel, shown.values())
        layout[f"xaxis{number}"] = {
            "domain": across,
            "anchor": y,
            "range": (start, end),
            "title": {"text": panel.axis, "standoff": 2, "font": {"size": 12}},
            "tickformat": {"share": ".0%", "points": ".0%", "number": ".1f"}[LIMITS[panel.check].unit],
            "nticks": 5,
            "automargin": False,
        }
        layout[f"yaxis{number}"] = {
            "domain": down,
            "anchor": x,
            "range": (len(rows) - 0.5, -0.5),
            "tickvals": list(range(len(rows))),
            "ticktext": [_name(name, chosen) for name in rows],
            "showticklabels": stacked or place == 0,
            "showgrid": False,
            "ticks": "",
        }
        own = checks[chosen][panel.check]
        shapes += _zones(panel, own, (start, end), x, y, colours)
        seen = [one.value for name in people if (one := checks[name][panel.check].interval) is not None]
        if seen:
            shapes.append(_area(min(seen), max(seen), x, y, tint(colours.accent, colours.page, 0.6)))
        answer = f"<b>{panel.title}</b><br>{SIGNS[own.verdict]} {label(measured(own))}"
        paper = ("paper", "paper")
        annotations.append(_note(answer, across[0], down[1], paper, colours.text, yanchor="bottom"))
        if any(found.interval for found in shown.values()):
            fig.add_trace(_dots(shown, chosen, x, y, colours))
            annotations += [
                _note("not known", start, row, (x, y), colours.neutral, xshift=6)
                for row, found in enumerate(shown.values())
                if found.interval is None
            ]
        else:
            words = _wrapped(f"Not known. Add {NEEDS[panel.check]}.", 30)
            annotations.append(_note(words, start, (len(rows) - 1) / 2, (x, y), colours.neutral, xshift=6))
    fig.update_layout(shapes=shapes, annotations=annotations, **layout)
    return fig


def _range(panel: Panel, shown: Any) -> tuple[float, float]:
    """What is always in view, and every interval, with room for a mark at either end."""
    known = [found.interval for found in shown if found.interval is not None]
    seen = [end for one in known for end in (one.low, one.value, one.high) if not math.isnan(end)]
    start, end = min([panel.ends[0], *seen]), max([panel.ends[1], *seen])
    room = 0.04 * (end - start)
    return start - room, end + room


def _name(name: str, chosen: str) -> str:
    short = label(name, limit=NAME_LIMIT)
    return f"<b>{short}</b>" if name == chosen else short


def _dots(shown: Mapping[str, Verdict], chosen: str, x: str, y: str, colours: Colours) -> Trace:
    rows = [(row, name, found) for row, (name, found) in enumerate(shown.items()) if found.interval]
    found = Estimates.of([one.interval for _, _, one in rows if one.interval is not None])
    is_chosen = [name == chosen for _, name, _ in rows]
    return {
        "type": "scatter",
        "mode": "markers",
        "xaxis": x,
        "yaxis": y,
        "x": found.value,
        "y": [row for row, _, _ in rows],
        "customdata": [[name] for _, name, _ in rows],
        "error_x": error_bars(found, colours.neutral),
        "marker": {
            "opacity": 1,
            "symbol": ["diamond" if own else "circle" for own in is_chosen],
            "size": [13 if own else 9 for own in is_chosen],
            "color": [colours.accent if own else colours.neutral for own in is_chosen],
        },
        **hover(
            f"<b>{label(name, limit=80)}</b><br>{SIGNS[one.verdict]} {label(measured(one))}"
            for _, name, one in rows
        ),
        **undimmed(1),
    }


def _note(text: str, x: float, y: float, refs: tuple[str, str], colour: str, **more: Any) -> Trace:
    place = {"x": x, "y": y, "xref": refs[0], "yref": refs[1], "xanchor": "left", "align": "left"}
    return {"text": text, "showarrow": False, "font": {"color": colour}, **place, **more}


def _zones(
    panel: Panel, graded: Verdict, shown: tuple[float, float], x: str, y: str, colours: Colours
) -> list[Trace]:
    """Where a check warns, lightly, and where it fails; and the line of guessing or of no lean."""
    limits, (start, end) = LIMITS[panel.check], shown
    caution = limits.caution if graded.caution is None else graded.caution
    failure = limits.failure if graded.failure is None else graded.failure
    stop = caution if failure is None else failure
    if limits.shape == "at_least":
        bands = [(stop, caution, 0.15), (start, stop, 0.4)]
    else:
        mild = limits.failing_side == "above"
        bands = [(caution, stop, 0.15), (stop, end, 0.4), (-stop, -caution, 0.15)]
        bands.append((start, -stop, 0.15 if mild else 0.4))
    found = [
        _area(low, high, x, y, tint(colours.raters[1], colours.page, share))
        for low, high, share in bands
        if high > low
    ]
    line = {"signed": 0.0, "at_least": 0.5 if panel.check == "accuracy" else None}.get(limits.shape)
    if line is not None:
        dash = {"color": colours.text, "width": 1, "dash": "dot"}
        found.append({**_area(line, line, x, y, colours.page), "type": "line", "line": dash})
    return found


def _area(low: float, high: float, x: str, y: str, colour: str) -> Trace:
    place = {"xref": x, "yref": f"{y} domain", "x0": low, "x1": high, "y0": 0, "y1": 1}
    return {"type": "rect", "layer": "below", "fillcolor": colour, "line": {"width": 0}, **place}


def _wrapped(text: str, width: int) -> str:
    return "<br>".join(textwrap.wrap(text, width))


def check_matrix(
    checks: Checks, rows: Sequence[str], chosen: str, *, narrow: bool = False, theme: Theme = "light"
) -> Figure:
    """Judges × checks: the sign and the colour of each grade; a cell's key is `cell_key`.

    narrow : heads stand upright.
    """
    colours = COLOURS[theme]
    grades = {
        "ok": tint(colours.raters[2], colours.page, 0.7),
        "warn": tint(colours.raters[4], colours.page, 0.7),
        "fail": tint(colours.raters[1], colours.page, 0.9),
        "unclear": tint(colours.neutral, colours.page, 0.4),
        "unknown": colours.page,
    }
    columns = list(CHECK_WORDS)
    fig = figure("", "", theme=theme, height=(96 if narrow else 40) + TILE * len(rows), legend=False)
    tiles = [
        Tile(
            x=column,
            y=row,
            key=cell_key(judge, check),
            colour=grades[found.verdict],
            text=SIGNS[found.verdict],
            hover=f"<b>{label(judge, limit=80)}</b><br>{_wrapped(label(found.sentence, limit=400), 80)}",
        )
        for row, judge in enumerate(rows)
        for column, check in enumerate(columns)
        if (found := checks[judge][check])
    ]
    add_tiles(fig, tiles, size=TILE - 4, text_size=14, theme=theme, chosen=None)
    blank = {"showgrid": False, "showline": False, "ticks": ""}
    fig.update_xaxes(
        side="top",
        range=(-0.5, len(columns) - 0.5),
        tickvals=list(range(len(columns))),
        ticktext=[
            CHECK_WORDS[one] if narrow else CHECK_WORDS[one].replace(" ", "<br>", 1) for one in columns
        ],
        tickangle=-90 if narrow else 0,
        tickfont={"size": 12},
        **blank,
    )
    fig.update_yaxes(
        range=(len(rows) - 0.5, -0.5),
        tickvals=list(range(len(rows))),
        ticktext=[_name(name, chosen) for name in rows],
        **blank,
    )
    fig.update_layout(margin={"l": 8, "r": 12, "t": 4, "b": 4})
    return fig


def cell_key(judge: str, check: str) -> str:
    """Key of a cell of the check matrix."""
    return f"{check}: {judge}"
