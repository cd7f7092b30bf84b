"""A figure as SVG text, for files that run no script: the report, what is shared, and print.

A figure is described once, as Plotly has it, and drawn here of dots, lines, bars, error bars,
shapes, notes and a legend on linear, logarithmic or named axes; another kind of trace is refused by
name. Every text goes through `_text`, which knows <b>, <i>, <sup>, <sub> and <br> and escapes the
rest. Places are in pixels from the top left.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from html import escape, unescape
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import AppellateError

FONT = "Source Sans, system-ui, -apple-system, Segoe UI, Roboto, sans-serif"
DASHES = {"dot": "1.5 3", "dash": "6 4", "dashdot": "6 3 1.5 3", "longdash": "10 5"}
WIDE_SIGNS, NARROW_SIGNS = "mwMWm@%—", "iljtfrI.,:;'|!() "
TAG = re.compile(r"(<br ?/?>|</?(?:b|i|sup|sub)>)")
LINE_BREAK = re.compile(r"<br ?/?>")
COLOUR = re.compile(r"(#[0-9a-fA-F]{3,8}\b|rgba?\([^)]*\))")
LEAST_SIZE = 12
"""Type is never smaller, in pixels."""
DRAWN = frozenset({"scatter", "scattergl", "bar"})
POLYGONS = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "diamond-tall": ((0, -1.4), (0.7, 0), (0, 1.4), (-0.7, 0)),
    "triangle-up": ((0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    "triangle-down": ((0, 1.2), (1.1, -0.8), (-1.1, -0.8)),
    "pentagon": ((0, -1.1), (1.05, -0.34), (0.65, 0.9), (-0.65, 0.9), (-1.05, -0.34)),
}
STROKES = {"x": "M-1,-1L1,1M1,-1L-1,1", "cross": "M-1,0H1M0,-1V1"}
STROKES |= {"line-ns": "M0,-1V1", "line-ew": "M-1,0H1"}
STROKES |= {
    "star": "M0,-1V1M-1,-.5L1,.5M1,-.5L-1,.5",
    "hexagram": "M0,-1V1M-1,-.5L1,.5M1,-.5L-1,.5",
}

Drawing = Mapping[str, Any]


class NotDrawn(AppellateError):
    """A figure has something that is not drawn as SVG."""


def two_themes(light: str, dark: str) -> tuple[str, str]:
    """One drawing whose colours are variables, and the style sheet that sets them by theme.

    light, dark : the same figure in both themes. Where more than colours differs, both stand in
    the file and the style sheet of the page shows one.
    """
    ours, theirs = COLOUR.split(light), COLOUR.split(dark)
    if ours[::2] != theirs[::2]:
        return f'<div class="light">{light}</div><div class="dark">{dark}</div>', ""
    names: dict[tuple[str, str], str] = {}
    for pair in zip(ours[1::2], theirs[1::2], strict=True):
        names[pair] = f"--k{hashlib.sha256(' '.join(pair).encode()).hexdigest()[:10]}"
    parts = [
        part if place % 2 == 0 else f"var({names[part, theirs[place]]})"
        for place, part in enumerate(ours)
    ]
    of_light = "".join(f"{name}:{pair[0]};" for pair, name in names.items())
    of_dark = "".join(f"{name}:{pair[1]};" for pair, name in names.items())
    dark_only = f"@media screen and (prefers-color-scheme:dark){{:root{{{of_dark}}}}}"
    return "".join(parts), f":root{{{of_light}}}{dark_only}"


def svg(fig: Drawing, *, width: int, alt: str) -> str:
    """The figure as one `<svg>` element.

    fig : data and layout, as Plotly's JSON has them; width : pixels, the most it is shown with;
    alt : what it says, for those who do not see it.
    Raises NotDrawn of a trace that is neither of points, lines nor bars.
    """
    return _Picture(fig, width, alt).drawn()


def _values(given: object) -> list[Any]:
    """Numbers or names of a field, which Plotly may have packed."""
    if given is None:
        return []
    if isinstance(given, dict):
        packed = np.frombuffer(base64.b64decode(given["bdata"]), dtype=given["dtype"])
        shape = given.get("shape")
        unpacked = packed.reshape([int(n) for n in str(shape).split(",")]) if shape else packed
        return list(unpacked.tolist())
    assert isinstance(given, list | tuple)
    return [_values(one) if isinstance(one, list | tuple | dict) else one for one in given]


def _each(given: object, n: int, otherwise: object) -> list[Any]:
    """A field that is one value for all marks or a list of them."""
    if isinstance(given, list | tuple | dict):
        return _values(given)
    return [otherwise if given is None else given] * n


def _merged(base: Drawing, over: Drawing) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _breadth(text: str, size: float) -> float:
    """About how broad a text is; the browser's font decides, so a little is added."""
    lines = [unescape(TAG.sub("", line)) for line in LINE_BREAK.split(text)]
    breadths = (
        sum(0.8 if c in WIDE_SIGNS else 0.3 if c in NARROW_SIGNS else 0.53 for c in line)
        for line in lines
    )
    return max(breadths) * size * (1.14 if "<b>" in text else 1.04)


def _rows(texts: Iterable[str]) -> int:
    return max((len(LINE_BREAK.split(text)) for text in texts), default=1)


def _plain(words: str) -> str:
    """Text without markup as harmless markup; what cannot be printed becomes spaces."""
    return escape("".join(c if c.isprintable() else " " for c in unescape(words)))


def _text(
    x: float,
    y: float,
    text: object,
    size: float,
    colour: str,
    anchor: str = "start",
    down: str = "middle",
    turn: float = 0,
) -> str:
    lines = LINE_BREAK.split(str(text))
    first = {
        "middle": 0.35 - 0.6 * (len(lines) - 1),
        "top": 0.8,
        "bottom": -0.2 - 1.2 * (len(lines) - 1),
    }[down]
    spans = []
    for place, line in enumerate(lines):
        look, words = {"b": False, "i": False}, []
        for part in TAG.split(line):
            if TAG.fullmatch(part):
                if part.strip("</>") in look:
                    look[part.strip("</>")] = not part.startswith("</")
            elif part:
                style = ' font-weight="600"' * look["b"] + ' font-style="italic"' * look["i"]
                said = _plain(part)
                words.append(f"<tspan{style}>{said}</tspan>" if style else said)
        dy = 1.2 if place else first
        spans.append(f'<tspan x="{x:.1f}" dy="{dy:.2f}em">{"".join(words)}</tspan>')
    turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{max(size, LEAST_SIZE):g}" '
        f'fill="{escape(colour)}" text-anchor="{anchor}"{turned}>{"".join(spans)}</text>'
    )


def _round_ticks(low: float, high: float, most: int) -> list[float]:
    if not math.isfinite(low + high) or high <= low:
        return [low]
    raw = (high - low) / max(most, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= raw * 0.999)
    return _stepped(low, high, step)


def _stepped(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


def _written(value: float, form: str | None) -> str:
    if form and "%" in form:
        return f"{round(100 * value, 6):g}%"
    return f"{value:,.10g}".replace("-", "−")


class _Axis:
    """Where a value is on the page, and the ticks."""

    def __init__(self, about: Drawing, data: list[Any], *, from_zero: bool, most: int) -> None:
        self.about = about
        self.start, self.end = 0.0, 1.0
        self.log = about.get("type") == "log"
        named = [value for value in data if isinstance(value, str)]
        self.names = list(about.get("categoryarray") or dict.fromkeys(named)) if named else []
        numbers = [n for n in map(self.number, data) if math.isfinite(n)] or [0.0, 1.0]
        low, high = min(numbers), max(numbers)
        pad = 0.05 * (high - low or 1)
        fitting = [0.0 if from_zero and low >= 0 else low - pad, high + pad]
        if self.names:
            fitting = [-0.5, len(self.names) - 0.5]
        wanted = about.get("range") or (None, None)
        self.range = [
            fit if end is None else float(end) for end, fit in zip(wanted, fitting, strict=True)
        ]
        if about.get("autorange") == "reversed":
            self.range.reverse()
        self.size = max(about.get("tickfont", {}).get("size", LEAST_SIZE), LEAST_SIZE)
        self.title = about.get("title", {}).get("text")
        self.hidden = about.get("visible") is False
        self.bare = self.hidden or about.get("showticklabels") is False
        low, high = sorted(self.range)
        slack = 1e-6 * (high - low)
        ticks = self._ticks(low, high, most)
        self.ticks = [(at, text) for at, text in ticks if low - slack <= at <= high + slack]

    def _ticks(self, low: float, high: float, most: int) -> list[tuple[float, str]]:
        about, form = self.about, self.about.get("tickformat")
        if about.get("tickvals") is not None:
            places = _values(about["tickvals"])
            texts = _values(about.get("ticktext")) or [_written(at, form) for at in places]
            both = zip(places, texts, strict=False)
            return [(self.number(at), str(text)) for at, text in both]
        if self.names:
            return [(float(place), escape(name)) for place, name in enumerate(self.names)]
        if self.log:
            powers = range(math.ceil(low), math.floor(high) + 1)
            if len(powers) > 1:
                return [(float(power), _written(10.0**power, None)) for power in powers]
            at = [v for v in _round_ticks(10**low, 10**high, 4) if v > 0]
            return [(math.log10(value), _written(value, None)) for value in at]
        step = about.get("dtick")
        if isinstance(step, int | float) and step > 0:
            places = _stepped(low, high, step)
        else:
            places = _round_ticks(low, high, most)
        before, after = about.get("tickprefix", ""), about.get("ticksuffix", "")
        return [(at, f"{before}{_written(at, form)}{after}") for at in places]

    def number(self, value: object) -> float:
        if isinstance(value, str):
            return float(self.names.index(value)) if value in self.names else math.nan
        if not isinstance(value, int | float):
            return math.nan
        if self.log:
            return math.log10(value) if value > 0 else math.nan
        return float(value)

    def placed(self, number: float) -> float:
        low, high = self.range
        return self.start + (number - low) / ((high - low) or 1) * (self.end - self.start)

    def at(self, value: object) -> float:
        return self.placed(self.number(value))


class _Picture:
    """One figure on its way to SVG: layout, axes, then what is drawn from back to front."""

    def __init__(self, fig: Drawing, width: int, alt: str) -> None:
        raw = fig["layout"]
        styles = raw.get("template", {}).get("layout", {})
        self.layout = _merged(styles, {k: v for k, v in raw.items() if k != "template"})
        shown = [one for one in fig["data"] if one.get("visible", True) is True]
        self.traces = [{"type": "scatter", **one} for one in shown]
        for one in self.traces:
            if one["type"] not in DRAWN:
                raise NotDrawn(f"A trace of the kind {one['type']} is not drawn as SVG.")
        self.width, self.alt = width, alt
        self.height = int(self.layout.get("height") or 360)
        self.ink = str(self.layout["font"]["color"])
        self.base = max(float(self.layout["font"]["size"]), LEAST_SIZE)
        palette = self.layout["colorway"]
        self.colours = [palette[place % len(palette)] for place in range(len(self.traces))]
        self.stacked = self.layout.get("barmode") in ("stack", "relative")
        self.stack: dict[tuple[object, bool], float] = {}
        self.axes = {
            key.replace("axis", ""): self._axis(key, raw, styles)
            for key in sorted({"xaxis", "yaxis"} | {k for k in raw if re.match("[xy]axis", k)})
        }
        self.legend = self._legend()
        self._place()

    def _axis(self, key: str, raw: Drawing, styles: Drawing) -> _Axis:
        side, ref = key[0], key.replace("axis", "")
        data: list[Any] = []
        from_zero = False
        for trace in self.traces:
            if trace.get(f"{side}axis", side) != ref:
                continue
            column = _values(trace.get(side))
            data += column
            if trace["type"] == "bar" and (trace.get("orientation", "v") == "v") == (side == "y"):
                from_zero = True
                if self.stacked:
                    data.append(sum(abs(v) for v in column if isinstance(v, int | float)))
            for value, down, up in self._errors(trace, side, column):
                data += [value - down, value + up]
        about = _merged(styles.get(f"{side}axis", {}), raw.get(key, {}))
        domain = about.get("domain") or (0, 1)
        room = (self.width if side == "x" else self.height) * (domain[1] - domain[0])
        most = max(2, round(room / (90 if side == "x" else 50)))
        return _Axis(about, data, from_zero=from_zero, most=most)

    @staticmethod
    def _errors(trace: Drawing, side: str, column: list[Any]) -> list[tuple[float, float, float]]:
        """Value and lengths below and above it of each mark that has an interval."""
        error = trace.get(f"error_{side}")
        if not error or error.get("array") is None:
            return []
        ups = _values(error["array"])
        downs = _values(error.get("arrayminus")) or ups
        three = zip(column, downs, ups, strict=False)
        missing = (math.nan,) * 3
        return [
            row if all(isinstance(one, int | float) for one in row) else missing for row in three
        ]

    def _legend(self) -> list[list[tuple[int, float]]]:
        """Traces by row of the legend, each with its place from the left."""
        if self.layout.get("showlegend", len(self.traces) > 1) is False:
            return []
        rows: list[list[tuple[int, float]]] = [[]]
        used = 0.0
        for place, trace in enumerate(self.traces):
            if not trace.get("showlegend", True) or not trace.get("name"):
                continue
            need = _breadth(str(trace["name"]), self.base) + 38
            if rows[-1] and used + need > self.width - 16:
                rows.append([])
                used = 0.0
            rows[-1].append((place, used))
            used += need
        return [row for row in rows if row]

    def _place(self) -> None:
        """Margins from what stands in them, then each axis."""
        margin = self.layout["margin"]
        left, right, top, bottom = (float(margin[side]) for side in "lrtb")
        for ref, axis in self.axes.items():
            if axis.hidden:
                continue
            title = 22 if axis.title else 0
            if ref[0] == "y":
                texts = [] if axis.bare else [_breadth(text, axis.size) for _, text in axis.ticks]
                first = self.axes.get(axis.about.get("anchor") or "x")
                if not first or (first.about.get("domain") or [0])[0] < 0.02:
                    left = max(left, max(texts, default=0) + 8 + title)
            elif not axis.bare:
                need = axis.size * 1.25 * _rows(text for _, text in axis.ticks) + 8 + title
                if axis.about.get("side") == "top":
                    top = max(top, need)
                elif (axis.about.get("domain") or [0, 1]) == [0, 1] or margin["b"]:
                    bottom = max(bottom, need)
        if self.legend:
            top = max(top, 20 * len(self.legend) + 6)
        self.left, self.top = left, top
        self.inner_width = max(self.width - left - right, 40)
        self.inner_height = max(self.height - top - bottom, 40)
        for ref, axis in self.axes.items():
            axis.start, axis.end = (
                self._on_paper(share, ref[0]) for share in axis.about.get("domain") or (0, 1)
            )
        for axis in self.axes.values():
            other = self.axes.get(axis.about.get("scaleanchor") or "")
            if other is None:
                continue
            # Equal units: the longer one gives way.
            spans = [(one, abs(one.range[1] - one.range[0]) or 1) for one in (axis, other)]
            unit = min(abs(one.end - one.start) / span for one, span in spans)
            for one, span in spans:
                one.end = one.start + math.copysign(unit * span, one.end - one.start)

    def _on_paper(self, share: float, side: str) -> float:
        if side == "x":
            return self.left + share * self.inner_width
        return self.top + (1 - share) * self.inner_height

    def _spot(self, ref: str, value: Any, side: str) -> float:
        if ref == "paper":
            return self._on_paper(value, side)
        axis = self.axes[ref.split()[0]]
        if ref.endswith("domain"):
            return axis.start + float(value) * (axis.end - axis.start)
        # Shapes and notes on a logarithmic axis stand at the logarithm already.
        return axis.placed(float(value)) if axis.log else axis.at(value)

    def drawn(self) -> str:
        shapes = [(one.get("layer") == "below", self._shape(one)) for one in self._of("shapes")]
        behind = [drawn for below, drawn in shapes if below]
        before = [drawn for below, drawn in shapes if not below]
        grid, named = self._grid()
        traces = [mark for place in range(len(self.traces)) for mark in self._trace(place)]
        notes = [self._note(one) for one in self._of("annotations")]
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'role="img" aria-label="{escape(self.alt)}" font-family="{FONT}" '
            f'style="width:100%;max-width:{self.width}px;height:auto">'
        )
        parts = [*grid, *behind, *traces, *named, *before, *notes, *self._keys()]
        return "".join([head, *parts, "</svg>"])

    def _of(self, name: str) -> list[Drawing]:
        return list(self.layout.get(name) or ())

    def _grid(self) -> tuple[list[str], list[str]]:
        """Lines behind the marks, and axes with their texts."""
        lines, texts = [], []
        for ref, axis in self.axes.items():
            if axis.hidden:
                continue
            across = ref[0] == "x"
            anchor = axis.about.get("anchor") or ("y" if across else "x")
            other = self.axes.get(anchor) or self.axes["y" if across else "x"]
            above = axis.about.get("side") == "top"
            for value, text in axis.ticks:
                at = axis.placed(value)
                if axis.about.get("showgrid", True):
                    d = f"M{at:.1f},{other.start:.1f}V{other.end:.1f}"
                    d = d if across else f"M{other.start:.1f},{at:.1f}H{other.end:.1f}"
                    lines.append(f'<path d="{d}" stroke="{escape(axis.about["gridcolor"])}"/>')
                if axis.bare:
                    continue
                if across:
                    place = (at, other.end - 6, "bottom") if above else (at, other.start + 6, "top")
                    x, y, down = place
                    texts.append(_text(x, y, text, axis.size, self.ink, "middle", down))
                else:
                    texts.append(_text(other.start - 6, at, text, axis.size, self.ink, "end"))
            if axis.about.get("showline"):
                d = f"M{axis.start:.1f},{other.start:.1f}H{axis.end:.1f}"
                d = d if across else f"M{other.start:.1f},{axis.start:.1f}V{axis.end:.1f}"
                texts.append(f'<path d="{d}" stroke="{escape(axis.about["linecolor"])}"/>')
            if axis.title:
                texts.append(self._title(axis, other, across=across, above=above))
        return lines, texts

    def _title(self, axis: _Axis, other: _Axis, *, across: bool, above: bool) -> str:
        middle = (axis.start + axis.end) / 2
        size = axis.about["title"].get("font", {}).get("size", self.base)
        if not across:
            return _text(10, middle, axis.title, size, self.ink, "middle", "middle", -90)
        high = 0 if axis.bare else axis.size * 1.2 * _rows(text for _, text in axis.ticks)
        if above:
            return _text(
                middle, other.end - 8 - high, axis.title, size, self.ink, "middle", "bottom"
            )
        return _text(middle, other.start + 10 + high, axis.title, size, self.ink, "middle", "top")

    def _shape(self, shape: Drawing) -> str:
        line, width = shape.get("line", {}), shape.get("line", {}).get("width", 2)
        look = (
            f'fill="{escape(shape.get("fillcolor") or "none")}" '
            f'stroke="{escape(line.get("color") or self.ink) if width else "none"}" '
            f'stroke-width="{width:g}"{_dash(line)}{_faded(shape.get("opacity", 1))}'
        )
        x, y = shape.get("xref", "x"), shape.get("yref", "y")
        if shape["type"] == "path":
            moved = re.sub(
                r"([MLHVZ])([^MLHVZ]*)", lambda step: self._moved(step, x, y), shape["path"]
            )
            return f'<path d="{moved}" {look}/>'
        left, right = self._spot(x, shape["x0"], "x"), self._spot(x, shape["x1"], "x")
        up, down = self._spot(y, shape["y0"], "y"), self._spot(y, shape["y1"], "y")
        if shape["type"] == "line":
            return f'<path d="M{left:.1f},{up:.1f}L{right:.1f},{down:.1f}" {look}/>'
        return _box(min(left, right), min(up, down), abs(right - left), abs(down - up), look)

    def _moved(self, step: re.Match[str], x: str, y: str) -> str:
        kind, rest = step.group(1), step.group(2).split()
        if kind == "H":
            return f"H{self._spot(x, float(rest[0]), 'x'):.1f}"
        if kind == "V":
            return f"V{self._spot(y, float(rest[0]), 'y'):.1f}"
        pairs = [[float(n) for n in pair.split(",")] for pair in rest]
        return kind + " ".join(
            f"{self._spot(x, a, 'x'):.1f},{self._spot(y, b, 'y'):.1f}" for a, b in pairs
        )

    def _note(self, note: Drawing) -> str:
        x = self._spot(note.get("xref", "x"), note["x"], "x") + note.get("xshift", 0)
        y = self._spot(note.get("yref", "y"), note["y"], "y") - note.get("yshift", 0)
        anchor = {"left": "start", "right": "end"}.get(note.get("xanchor", "center"), "middle")
        down = note.get("yanchor", "middle")
        font = note.get("font", {})
        size, colour = font.get("size", self.base), font.get("color", self.ink)
        down = down if down in ("top", "bottom") else "middle"
        return _text(x, y, note["text"], size, colour, anchor, down, note.get("textangle", 0))

    def _keys(self) -> list[str]:
        drawn = []
        for number, row in enumerate(self.legend):
            y = self.top - 14 - 20 * (len(self.legend) - 1 - number)
            # From the left edge, where a row has the whole width.
            for place, x in row:
                trace = self.traces[place]
                marker, line = trace.get("marker", {}), trace.get("line", {})
                colour = marker.get("color")
                if not isinstance(colour, str):
                    colour = line.get("color") or self.colours[place]
                mode = trace.get("mode", "")
                if "lines" in mode:
                    stroke = escape(line.get("color") or colour)
                    look = f'stroke="{stroke}" stroke-width="2"{_dash(line)}'
                    drawn.append(f'<path d="M{x + 4:.1f},{y:.1f}h20" {look}/>')
                if trace["type"] == "bar" or "markers" in mode:
                    kind = marker.get("symbol")
                    kind = kind if isinstance(kind, str) else "square"
                    drawn.append(_symbol(kind, x + 14, y, 9, colour, "none", 0, 1))
                drawn.append(_text(x + 29, y, trace["name"], self.base, self.ink))
        return drawn

    def _trace(self, place: int) -> list[str]:
        trace = self.traces[place]
        ax, ay = self.axes[trace.get("xaxis", "x")], self.axes[trace.get("yaxis", "y")]
        xs, ys = _values(trace.get("x")), _values(trace.get("y"))
        xs = xs or list(range(len(ys)))
        n = min(len(xs), len(ys))
        own = trace.get("line", {}).get("color") or self.colours[place]
        colours = [str(one) for one in _each(trace.get("marker", {}).get("color"), n, own)]
        back: list[str] = []
        if trace["type"] == "bar":
            marks = self._bars(trace, xs[:n], ys[:n], colours, ax, ay)
        else:
            points = [(ax.at(x), ay.at(y)) for x, y in zip(xs, ys, strict=False)]
            back = self._line(trace, points, own)
            marks = self._points(trace, points, colours)
        for side, axis, column in (("x", ax, xs), ("y", ay, ys)):
            error = trace.get(f"error_{side}") or {}
            for i, (value, down, up) in enumerate(self._errors(trace, side, column)[:n]):
                a, b = axis.at(value - down), axis.at(value + up)
                across = (ay.at(ys[i]) if side == "x" else ax.at(xs[i])) if marks[i] else math.nan
                if not math.isfinite(a + b + across):
                    continue
                d = f"M{a:.1f},{across:.1f}H{b:.1f}"
                d = d if side == "x" else f"M{across:.1f},{a:.1f}V{b:.1f}"
                stroke = escape(error.get("color") or colours[i])
                thick = error.get("thickness", 1.5)
                marks[i].insert(0, f'<path d="{d}" stroke="{stroke}" stroke-width="{thick:g}"/>')
        hovers = _each(trace.get("hovertext"), n, "")
        for i, parts in enumerate(marks):
            said = _plain(TAG.sub(" ", str(hovers[i] or ""))) if i < len(hovers) else ""
            drawn = "".join(parts)
            titled = f"<g><title>{said}</title>{drawn}</g>"
            back.append(titled if said and drawn else drawn)
        return back

    def _bars(
        self, trace: Drawing, xs: list[Any], ys: list[Any], colours: list[str], ax: _Axis, ay: _Axis
    ) -> list[list[str]]:
        lying = trace.get("orientation") == "h"
        along, across = (ax, ay) if lying else (ay, ax)
        lengths, places = (xs, ys) if lying else (ys, xs)
        bars = [one for one in self.traces if one["type"] == "bar"]
        beside = len(bars) if self.layout.get("barmode", "group") == "group" else 1
        steps = sorted({across.number(one) for one in places})
        step = min((b - a for a, b in pairwise(steps)), default=1.0)
        unit = abs(across.end - across.start) / (abs(across.range[1] - across.range[0]) or 1)
        thick = unit * step * (1 - self.layout.get("bargap", 0.2)) / beside
        n = len(lengths)
        widths = _each(trace.get("width"), n, None)
        starts = _each(trace.get("base"), n, 0)
        fades = _each(trace.get("marker", {}).get("opacity"), n, trace.get("opacity", 1))
        texts = _each(trace.get("text"), n, "")
        number = next(place for place, one in enumerate(bars) if one is trace)
        marks: list[list[str]] = [[] for _ in range(n)]
        for i, (value, where) in enumerate(zip(lengths, places, strict=True)):
            if value is None or where is None:
                continue
            high = unit * widths[i] if widths[i] else thick
            moved = 0 if widths[i] or beside == 1 else (number - (beside - 1) / 2) * thick
            centre, start = across.at(where) + moved, starts[i] or 0
            if self.stacked:
                start = self.stack.get((where, value < 0), 0)
                self.stack[where, value < 0] = start + value
            a, b = (
                along.at(start if along.log else max(start, min(along.range))),
                along.at(start + value),
            )
            if not math.isfinite(a + b + centre):
                continue
            look = f'fill="{escape(colours[i])}"{_faded(fades[i])}'
            near, long, low = min(a, b), abs(b - a), centre - high / 2
            box = _box(near, low, long, high, look) if lying else _box(low, near, high, long, look)
            marks[i].append(box)
            if texts[i]:
                inside = trace.get("textposition") == "inside"
                if lying:
                    x, anchor = (b - 4, "end") if inside else (b + 4, "start")
                    marks[i].append(_text(x, centre, texts[i], 12, self.ink, anchor))
                else:
                    marks[i].append(
                        _text(centre, b - 4, texts[i], 12, self.ink, "middle", "bottom")
                    )
        return marks

    def _line(self, trace: Drawing, points: list[tuple[float, float]], own: str) -> list[str]:
        line, d, pen = trace.get("line", {}), "", False
        steps = {"vh": "V{1:.1f}H{0:.1f}", "hv": "H{0:.1f}V{1:.1f}"}
        step = steps.get(line.get("shape", ""), "L{0:.1f},{1:.1f}")
        for x, y in points:
            seen = math.isfinite(x + y)
            d += (step if pen else "M{0:.1f},{1:.1f}").format(x, y) if seen else ""
            pen = seen
        drawn = []
        if trace.get("fill") == "toself" and d:
            drawn.append(f'<path d="{d}Z" fill="{escape(trace.get("fillcolor") or own)}"/>')
        width = line.get("width", 2)
        if "lines" in trace.get("mode", "lines+markers") and width and d:
            look = f'fill="none" stroke="{escape(own)}" stroke-width="{width:g}"'
            faded = _faded(trace.get("opacity", 1))
            drawn.append(f'<path d="{d}" {look}{_dash(line)}{faded}/>')
        return drawn

    def _points(
        self, trace: Drawing, points: list[tuple[float, float]], colours: list[str]
    ) -> list[list[str]]:
        n, mode, marker = len(points), trace.get("mode", "lines+markers"), trace.get("marker", {})
        fades = _each(marker.get("opacity"), n, trace.get("opacity", 1))
        sizes = _each(marker.get("size"), n, 6)
        kinds = _each(marker.get("symbol"), n, "circle")
        edge = marker.get("line", {})
        edges, edge_widths = _each(edge.get("color"), n, "none"), _each(edge.get("width"), n, 0)
        texts, wheres = _each(trace.get("text"), n, ""), _each(trace.get("textposition"), n, "")
        font = trace.get("textfont", {})
        type_sizes = _each(font.get("size"), n, 12)
        inks = _each(font.get("color"), n, self.ink)
        marks: list[list[str]] = [[] for _ in range(n)]
        for i, (x, y) in enumerate(points):
            if not math.isfinite(x + y):
                continue
            if "markers" in mode and fades[i] > 0:
                line = (edges[i] or "none", edge_widths[i] or 0)
                marks[i].append(_symbol(str(kinds[i]), x, y, sizes[i], colours[i], *line, fades[i]))
            elif "markers" in mode:  # nothing to see, but a place that says its hover text
                half = sizes[i] / 2
                marks[i].append(_box(x - half, y - half, 2 * half, 2 * half, 'fill="transparent"'))
            if "text" in mode and texts[i]:
                where = str(wheres[i])
                anchor, dx = ("end", -8) if "left" in where else ("middle", 0)
                anchor, dx = ("start", 8) if "right" in where else (anchor, dx)
                down, dy = ("bottom", -7) if "top" in where else ("middle", 0)
                down, dy = ("top", 7) if "bottom" in where else (down, dy)
                words = _text(x + dx, y + dy, texts[i], type_sizes[i], inks[i], anchor, down)
                marks[i].append(words)
        return marks


def _dash(line: Drawing) -> str:
    dash = DASHES.get(line.get("dash") or "")
    return f' stroke-dasharray="{dash}"' if dash else ""


def _faded(opacity: float) -> str:
    return f' opacity="{opacity:g}"' if opacity != 1 else ""


def _box(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {look}/>'


def _symbol(
    kind: str, x: float, y: float, size: float, colour: str, edge: str, width: float, opacity: float
) -> str:
    half, colour = size / 2, escape(colour)
    hollow, kind = kind.endswith("-open"), kind.removesuffix("-open").removesuffix("-thin")
    paint = f'fill="{colour}" stroke="{escape(edge)}" stroke-width="{width:g}"'
    if hollow:
        paint = f'fill="none" stroke="{colour}" stroke-width="{max(width, 1.5):g}"'
    paint += _faded(opacity)
    if kind in STROKES:
        moved = f'transform="translate({x:.1f} {y:.1f}) scale({half:.1f})"'
        look = f'fill="none" stroke="{colour}" stroke-width="{2 / max(half, 1):.2f}"'
        return f'<path d="{STROKES[kind]}" {moved} {look}{_faded(opacity)}/>'
    if kind in POLYGONS:
        corners = " ".join(f"{x + a * half:.1f},{y + b * half:.1f}" for a, b in POLYGONS[kind])
        return f'<polygon points="{corners}" {paint}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{half:.1f}" {paint}/>'
