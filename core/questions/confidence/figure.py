"""Figures of the Calibration page: reliability, TH-Score over ε, risk against coverage, before and
after.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...finding.figure import (
    COLOURS,
    SHARE_TICKS,
    Style,
    error_bars,
    figure,
    hover,
    ideal_trace,
    label,
    thinned,
    trace,
    undimmed,
)
from ...finding.wording import interval
from ...stats.estimate import Estimate, Estimates

if TYPE_CHECKING:
    from ...finding.figure import Figure, Theme, Trace
    from ...records import FloatArray, IntArray
    from .alone import RiskThreshold
    from .calibration_error import Reliability
    from .recalibration import Recalibration
    from .selective import Guarantee, RiskCoverage
    from .th_scores import ThScore, ThSweep


STRIP = 0.13
"""Share of a figure's height that the strip of counts beneath takes."""
CURVE_POINTS = 300
LONG_NAME, ROWS_ABOVE = 24, 2
"""Longer names, or more rows of a legend, stand below the figure."""
LEGEND_WIDTH, SIGN, LETTER, LEGEND_ROW = 440, 45, 7, 23
"""Pixels: what a legend may take across, a sign with its margin, a letter, a row."""
MOST_NAMED = 8
"""Judges in colour and in the legend."""
FEW_CUTS = 25
"""A curve through no more cuts than this shows each of them as a mark."""

PASSED = {True: "passed", False: "not passed"}


def bin_key(judge: str, low: float, high: float) -> str:
    """Key of a bin of a reliability diagram, also what a select box shows."""
    return f"{judge}: {low:g} to {high:g}"


def cut_key(judge: str, cut: float) -> str:
    """Key of the votes from a confidence up, also what a select box shows."""
    return f"{judge}: from {cut:.10g}"


def reliability_diagram(
    results: Mapping[str, Reliability],
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
    height: int = 440,
    clickable: Sequence[str] | None = None,
    confidence: str = "stated confidence",
) -> Figure:
    """Accuracy against stated confidence, one mark a non-empty bin, with its interval; the diagonal
    is ideal.

    Marks below the diagonal are overconfident. Area grows with the number of verdicts; the strip
    beneath shows how they spread over the bins. A mark's key is `bin_key(judge, low, high)`;
    `chosen` is ringed.
    clickable : names whose marks have a key; by default all.  confidence : what it is, as the axis
        says.

    Source: [TH] §3; intervals ours.
    """
    colours = COLOURS[theme]
    traces = [
        ideal_trace(x=(0, 1), y=(0, 1), name="ideal", theme=theme),
        _area((0, 1, 1, 0), (0, 0, 1, 0), colours.neutral, 0.09),
    ]
    largest = max((int(result.n.max()) for result in results.values()), default=1)
    for judge, result in results.items():
        style, right = styles[judge], result.accuracy
        filled = np.flatnonzero(result.n > 0).tolist()
        keys: list[str | None] = [
            bin_key(judge, low, high)
            for low, high in zip(
                result.low[filled].tolist(), result.high[filled].tolist(), strict=True
            )
        ]
        if clickable is not None and judge not in clickable:
            keys = [None] * len(keys)
        common: Trace = {
            "name": label(judge),
            "legendgroup": judge_group(results, judge),
            "customdata": [[key] for key in keys],
            **hover(
                f"<b>{label(judge)}</b><br>confidence over {result.low[i]:g} to {result.high[i]:g}"
                f"<br>mean stated {result.confidence[i]:.3f}"
                f"<br>share right {interval(right[i], '.3f')}"
                f"<br>n {result.n[i]:,} verdicts, {result.items[i]:,} items"
                for i in filled
            ),
            **undimmed(0.85),
        }
        known = Estimates(right.value[filled], right.low[filled], right.high[filled])
        is_open = style.symbol.endswith("-open")
        ringed = [key is not None and key == chosen for key in keys]
        traces.append(
            {
                "type": "scatter",
                "x": result.confidence[filled],
                "y": known.value,
                "mode": "lines+markers",
                "error_y": error_bars(known, style.colour),
                "line": {"color": style.colour, "width": 1, "dash": style.dash},
                "marker": {
                    "symbol": style.symbol,
                    "color": style.colour,
                    "opacity": 0.85,
                    "size": 7 + 13 * np.sqrt(result.n[filled] / largest),
                    "line": {
                        "color": style.colour if is_open else colours.text,
                        "width": [3 if ring else 2 * is_open for ring in ringed],
                    },
                },
                **common,
            }
        )
        traces.append(
            {
                "type": "bar",
                "x": (result.low[filled] + result.high[filled]) / 2,
                "y": 100 * result.n[filled] / result.n.sum(),
                "yaxis": "y2",
                "showlegend": False,
                "marker": {"color": style.colour, "opacity": 0.85, "line": {"width": 0}},
                **common,
            }
        )
    fig = figure(
        confidence,
        "share right",
        theme=theme,
        height=height,
        square=True,
        legend=len(results) > 1,
        traces=traces,
        x_axis={"range": [-0.03, 1.05], "dtick": 0.2, "anchor": "y2", "tickformat": SHARE_TICKS},
        y_axis={
            "range": [-0.03, 1.05],
            "dtick": 0.2,
            "domain": [STRIP + 0.04, 1],
            "tickformat": SHARE_TICKS,
        },
    )
    words = {"showarrow": False, "font": {"color": colours.neutral, "size": 12}, "yref": "y"}
    fig.update_layout(
        yaxis2={
            "domain": [0, STRIP],
            "title": {"text": "% of n"},
            "rangemode": "tozero",
            "nticks": 3,
        },
        bargap=0.15,
        bargroupgap=0,
        annotations=[
            {"x": 1.03, "y": 0.02, "xanchor": "right", "text": "overconfident", **words},
            {"x": 0.0, "y": 1.0, "xanchor": "left", "text": "underconfident", **words},
        ],
    )
    return _legend(fig, results, theme) if len(results) > 1 else fig


def judge_group(results: Mapping[str, object], judge: str) -> str:
    """Legend group of a judge: its place, as a name from votes has no business in a figure."""
    return str(list(results).index(judge))


def th_figure(
    sweeps: Mapping[str, ThSweep],
    scores: Mapping[str, ThScore],
    epsilon: float,
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
    height: int = 440,
) -> Figure:
    """TH-Score over ε with its band, and beneath it the accuracy and share that it is made of.

    scores : at `epsilon`, with the interval of their accuracy; it must be one of the sweeps'.
    Marks stand there; their key is `cut_key(judge, 1 - epsilon)`.

    Source: [TH] §4; band ours.
    """
    colours = COLOURS[theme]
    traces: list[Trace] = []
    for judge, sweep in sweeps.items():
        style, score = styles[judge], scores[judge]
        common: Trace = {"name": label(judge), "legendgroup": judge_group(sweeps, judge)}
        at = int(np.abs(sweep.epsilon - epsilon).argmin())
        traces.append(
            _band(sweep.epsilon, sweep.th, style.colour) | {"legendgroup": common["legendgroup"]}
        )
        key = cut_key(judge, 1 - epsilon)
        panels = (
            ("TH-Score", sweep.th.value, sweep.th[at], "y"),
            ("share right", sweep.accuracy, score.accuracy, "y2"),
            ("% of n", 100 * sweep.share, Estimate(100 * sweep.share[at]), "y3"),
        )
        for name, values, found, axis in panels:
            own = {"yaxis": axis, **common}
            said = (
                f"<b>{label(judge)}</b><br>ε {epsilon:g}<br>{name} {interval(found, '.3f')}"
                f"<br>n {score.n:,} verdicts inside"
            )
            curve = trace(sweep.epsilon, values, "", style.colour, dash=style.dash) | own
            mark = {
                "x": sweep.epsilon[at : at + 1],
                "y": values[at : at + 1],
                "mode": "markers+lines",
                "showlegend": axis == "y",
                "customdata": [[key]],
                "error_y": error_bars(Estimates.of([found]), style.colour),
                "marker": _marker(style, 10, ring=key == chosen, theme=theme),
                **hover([said]),
                **undimmed(0.85),
            }
            traces += [curve | {"showlegend": False, "hoverinfo": "skip"}, curve | mark]
    fig = figure(
        "ε (nearly certain: c > 1 − ε or c < ε)",
        "TH-Score",
        theme=theme,
        height=height,
        legend=len(sweeps) > 1,
        traces=traces,
        x_axis={"range": [0, 0.5], "dtick": 0.1, "anchor": "y3"},
        y_axis={"domain": [0.5, 1], "zeroline": True, "zerolinecolor": colours.neutral},
    )
    fig.update_layout(
        yaxis2={
            "domain": [0.24, 0.45],
            "title": {"text": "share right"},
            "range": [-0.03, 1.05],
            "tickformat": SHARE_TICKS,
        },
        yaxis3={"domain": [0, 0.19], "title": {"text": "% of n"}, "range": [0, 104], "nticks": 3},
    )
    at_epsilon = {"color": colours.neutral, "width": 1, "dash": "dot"}
    fig.add_shape(type="line", x0=epsilon, x1=epsilon, y0=0, y1=1, yref="paper", line=at_epsilon)
    return _legend(fig, sweeps, theme) if len(sweeps) > 1 else fig


def risk_figure(
    curves: Mapping[str, RiskCoverage],
    thresholds: Mapping[str, RiskThreshold],
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
    height: int = 440,
) -> Figure:
    """Error rate among the votes kept against the share kept, and the threshold that holds the
    target.

    A filled mark is the threshold, its bar reaching up to the bound. Of a single judge every cut
    that was tried is drawn, hollow where it was not passed. Its key is `cut_key(judge, cut)`.

    Source: Geifman & El-Yaniv (2017); threshold ours.
    """
    alpha = next(iter(thresholds.values())).alpha
    traces = [ideal_trace(x=(0, 1), y=(alpha, alpha), name=f"target {alpha:.1%}", theme=theme)]
    for judge, curve in curves.items():
        style, found = styles[judge], thresholds[judge]
        common: Trace = {
            "name": label(judge),
            "legendgroup": judge_group(curves, judge),
            **undimmed(0.85),
        }
        at = thinned(len(curve.coverage), limit=CURVE_POINTS)
        x = curve.coverage[at]
        traces.append(
            _band(x, curve.risk, style.colour, at=at) | {"legendgroup": common["legendgroup"]}
        )
        said = (
            f"<b>{label(judge)}</b><br>kept from confidence {curve.threshold[i]:.4g}"
            f"<br>share kept {curve.coverage[i]:.3f}<br>error rate {interval(curve.risk[i], '.3f')}"
            f"<br>n {curve.n[i]:,} verdicts, {curve.errors[i]:,} wrong"
            for i in at
        )
        drawn = trace(x, curve.risk.value[at], "", style.colour, dash=style.dash, **hover(said))
        points = {
            "mode": "lines+markers" if len(x) <= FEW_CUTS else "lines",
            "marker": {"symbol": style.symbol, "size": 4, "color": style.colour},
        }
        traces.append(drawn | points | common)
        passed = np.flatnonzero(found.passed)
        cuts = cuts_drawn(found) if len(curves) == 1 else passed[-1:]
        if not len(cuts):
            continue
        rate = found.cut_errors[cuts] / found.cut_n[cuts]
        keys = [cut_key(judge, cut) for cut in found.cut[cuts].tolist()]
        is_threshold = cuts == (passed[-1] if len(passed) else -1)
        traces.append(
            {
                "type": "scatter",
                "x": found.cut_n[cuts] / found.n,
                "y": rate,
                "mode": "markers",
                "showlegend": False,
                "customdata": [[key] for key in keys],
                "error_y": error_bars(
                    Estimates(rate, rate, np.maximum(rate, found.cut_bound[cuts])), style.colour
                ),
                "marker": {
                    "symbol": [
                        style.symbol.removesuffix("-open") + ("" if ok else "-open")
                        for ok in found.passed[cuts]
                    ],
                    "color": style.colour,
                    "size": [14 if here else 9 for here in is_threshold],
                    "line": {
                        "color": [
                            COLOURS[theme].text if key == chosen or here else style.colour
                            for key, here in zip(keys, is_threshold, strict=True)
                        ],
                        "width": [3 if key == chosen else 1.5 for key in keys],
                    },
                },
                **hover(
                    f"<b>{label(judge)}</b><br>"
                    f"{'threshold' if is_threshold[k] else PASSED[bool(found.passed[i])]}: "
                    f"confidence from {found.cut[i]:.4g}<br>share kept "
                    f"{found.cut_n[i] / found.n:.3f}"
                    f"<br>error rate {rate[k]:.3f}, at most {found.cut_bound[i]:.3f}"
                    f"<br>n {found.cut_n[i]:,} verdicts, {found.cut_errors[i]:,} wrong"
                    for k, i in enumerate(cuts)
                ),
                **common,
            }
        )
    fig = figure(
        "share of votes kept, the surest first",
        "error rate among those kept",
        theme=theme,
        height=height,
        traces=traces,
        x_axis={"range": [0, 1.03], "dtick": 0.2, "tickformat": SHARE_TICKS},
        y_axis={"rangemode": "tozero", "tickformat": SHARE_TICKS},
    )
    return _legend(fig, curves, theme)


def cuts_drawn(found: RiskThreshold) -> IntArray:
    """Places of the tested cuts that are drawn: 25 of them, with the threshold."""
    places = thinned(len(found.cut), limit=FEW_CUTS)
    return np.union1d(places, np.flatnonzero(found.passed)[-1:])


def before_and_after(
    found: Recalibration, *, style: Style, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Reliability as stated (hollow, clickable) and after recalibration on other items (filled)."""
    symbol = style.symbol.removesuffix("-open")
    return reliability_diagram(
        {"as stated": found.before.reliability, f"after {found.method}": found.after.reliability},
        styles={
            "as stated": Style(colour=COLOURS[theme].neutral, symbol=f"{symbol}-open", dash="dot"),
            f"after {found.method}": Style(colour=style.colour, symbol=symbol),
        },
        theme=theme,
        chosen=chosen,
        clickable=("as stated",),
    )


def _in_grey(fig: Figure, groups: Collection[str], theme: Theme) -> None:
    """Curves of these legend groups thin and grey, behind the others and without a name, marks and
    bands.
    """
    grey = COLOURS[theme].neutral
    for one in fig.data:
        if one.legendgroup in groups:
            one.update(showlegend=False, opacity=0.35, marker_color=grey, hoverinfo="text")
            if one.type == "bar" or one.mode in ("none", "markers"):
                one.visible = False
            else:
                one.update(line={"color": grey, "width": 1}, error_y_visible=False, marker_size=3)
    fig.data = sorted(fig.data, key=lambda one: one.legendgroup not in groups)


def _legend(fig: Figure, names: Collection[str], theme: Theme) -> Figure:
    """Move a legend that would squeeze the figure to below it; after the first eight the curves are
    grey.
    """
    if len(names) > MOST_NAMED:
        _in_grey(
            fig,
            {judge_group(dict.fromkeys(names), name) for name in list(names)[MOST_NAMED:]},
            theme,
        )
        names = list(names)[:MOST_NAMED]
    lengths = [len(label(name)) for name in ("ideal", *names)]
    longest = max(lengths)
    if (
        longest <= LONG_NAME
        and sum(SIGN + LETTER * n for n in lengths) <= ROWS_ABOVE * LEGEND_WIDTH
    ):
        return fig
    across = max(1, LEGEND_WIDTH // (SIGN + LETTER * longest))
    room = LEGEND_ROW * -(-(len(names) + 1) // across)
    fig.update_layout(
        height=fig.layout.height + room,
        margin={"t": 12, "b": room + 56},
        legend={"yref": "container", "y": 0, "yanchor": "bottom"},
    )
    return fig


def _marker(style: Style, size: int, *, ring: bool, theme: Theme) -> dict[str, Any]:
    is_open = style.symbol.endswith("-open")
    return {
        "symbol": style.symbol,
        "color": style.colour,
        "size": size,
        "line": {
            "color": COLOURS[theme].text if ring else style.colour,
            "width": 3 if ring else 2 * is_open,
        },
    }


def _band(
    x: FloatArray, found: Estimates, colour: str, *, at: IntArray | slice = slice(None)
) -> Trace:
    ends = np.concatenate([found.low[at], found.high[at][::-1]])
    return _area(np.concatenate([x, x[::-1]]), ends, colour, 0.14)


def _area(x: ArrayLike, y: ArrayLike, colour: str, opacity: float) -> Trace:
    r, g, b = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "fill": "toself",
        "mode": "none",
        "fillcolor": f"rgba({r},{g},{b},{opacity:g})",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def guarantee_figure(
    curves: Mapping[str, RiskCoverage],
    found: Mapping[str, Guarantee],
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Curves over all labelled comparisons; marks are the cuts, on the one of each item that was
    tested.

    Keys of marks are `core.questions.confidence.figure.cut_key` of judge and cut.
    """
    tests = {judge: one.test for judge, one in found.items()}
    fig = risk_figure(curves, tests, styles=styles, theme=theme, chosen=chosen)
    fig.update_xaxes(title_text="share of comparisons kept, the surest first")
    fig.update_yaxes(title_text="wrong labels among those kept")
    return fig
