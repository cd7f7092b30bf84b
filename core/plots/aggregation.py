"""Figures of the Aggregation page: decision maps to click on, errors of rules, shares of labels, priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..interpretation.aggregation import Measure, change_of
from ..interpretation.format import SAYS
from .base import COLOURS, MAX_POINTS, Style, Theme, Trace, error_bars, figure, label
from .forest import ForestMark, Series, forest, forest_mark

if TYPE_CHECKING:
    from ..aggregation.btd import DecisionMap
    from ..aggregation.confidence_weights import ConfidenceWeighted
    from ..aggregation.evaluation import Evaluation, ShrinkageGain
    from ..aggregation.ordinal_model import Ordinal
    from ..aggregation.shrinkage import ShrunkenFits
    from ..stats.estimate import Estimate
    from ..stats.splits import HeldOutScores
    from .base import Figure


Pattern = tuple[int, int, int]
"""Votes for A, ties, votes for B."""

SIGNS = {1: "A", 0: "=", -1: "B"}
MAP_PIXELS = 250
"""Side of a map's grid on a phone, where squares must not overlap."""
MOST_SIGNS = 12
"""With more votes a square is too small for a letter; colour, place and hover text remain."""
MOST_VOTES = int((2 * MAX_POINTS + 0.25) ** 0.5 - 1.5)
"""The largest n whose (n + 1)(n + 2)/2 patterns fit a figure."""
UNSEEN = 0.3
"""Opacity of a pattern that no comparison has."""


def pattern_key(plus: int, tie: int, minus: int) -> str:
    """Key of a square of a map, also what a select box shows."""
    return f"{plus} A, {tie} tie, {minus} B"


def decision_figure(
    drawn: DecisionMap,
    *,
    by: Literal["calibrated", "majority"],
    seen: Mapping[Pattern, int],
    theme: Theme = "light",
    chosen: str | None = None,
    height: int = 380,
) -> Figure:
    """What n votes become: one square a way to fall, votes for A across, for B up, the rest ties.

    seen : comparisons with each pattern; squares without any are pale and have no key. A heavy outline marks
    where calibrated and majority labels differ; `chosen` is ringed heaviest.
    """
    colours = COLOURS[theme]
    decision = drawn.decision if by == "calibrated" else drawn.majority
    fill = label_colours(theme)
    size = max(3.0, 0.92 * MAP_PIXELS / (drawn.n + 1))
    names = ("plus", "tie", "minus", "decision", "majority", "p")
    parts = (decision, *(getattr(drawn, name) for name in names))
    rows = list(zip(*(part.tolist() for part in parts), strict=True))
    traces: list[Trace] = []
    for vote in (1, 0, -1):
        own = [row[1:] for row in rows if row[0] == vote]
        keys = [pattern_key(*row[:3]) for row in own]
        counted = [seen.get(row[:3], 0) for row in own]
        traces.append(
            {
                "type": "scatter",
                "x": [row[0] for row in own] or [None],
                "y": [row[2] for row in own] or [None],
                "mode": "markers+text" if drawn.n <= MOST_SIGNS else "markers",
                "name": SAYS[vote],
                "showlegend": False,
                "customdata": [[key if n else None] for key, n in zip(keys, counted, strict=True)],
                "text": [SIGNS[vote]] * len(own),
                "textposition": "middle center",
                "textfont": {"color": [colours.page if n else colours.text for n in counted], "size": 12},
                "hovertext": [
                    f"<b>{key}</b><br>p(A better) {p[2]:.3f}<br>p(tie) {p[1]:.3f}<br>p(B better) {p[0]:.3f}"
                    f"<br>calibrated: {SAYS[calibrated]}<br>majority: {SAYS[majority]}<br>n {n:,} comparisons"
                    for key, n, (_, _, _, calibrated, majority, p) in zip(keys, counted, own, strict=True)
                ],
                "hoverinfo": "text",
                "marker": {
                    "symbol": "square",
                    "size": size,
                    "color": fill[vote],
                    "opacity": [1.0 if n else UNSEEN for n in counted],
                    "line": {
                        "color": colours.text,
                        "width": [
                            4 if key == chosen else 2 if row[3] != row[4] else 0
                            for key, row in zip(keys, own, strict=True)
                        ],
                    },
                },
                "selected": {"textfont": {"color": colours.text}},
                "unselected": {"marker": {"opacity": 1}},
            }
        )
        traces.append(legend_square(vote, theme))
    return pattern_figure(traces, drawn.n, theme=theme, height=height)


def pattern_figure(traces: Sequence[Trace], n: int, *, theme: Theme, height: int) -> Figure:
    """Figure of the ways that n votes can fall: votes for A across, for B up."""
    axis: dict[str, object] = {"range": [-0.6, n + 0.6], "showgrid": False}
    if n <= MOST_SIGNS:
        axis["dtick"] = 1
    return figure(
        x_title="votes for A",
        y_title="votes for B",
        theme=theme,
        height=height,
        square=True,
        traces=traces,
        x_axis=axis,
        y_axis=axis,
    )


def label_colours(theme: Theme) -> dict[int, str]:
    """Colour of each label."""
    colours = COLOURS[theme]
    return {1: colours.raters[0], 0: colours.neutral, -1: colours.raters[1]}


def legend_square(label: int, theme: Theme) -> Trace:
    """Empty trace, so that the legend shows the colour of a label, not the outline of the first square."""
    return {
        "type": "scatter",
        "x": [None],
        "y": [None],
        "mode": "markers",
        "name": SAYS[label],
        "hoverinfo": "skip",
        "marker": {"symbol": "square", "size": 12, "color": label_colours(theme)[label]},
    }


def errors_figure(value: Evaluation, *, theme: Theme = "light", chosen: str | None = None) -> Figure:
    """MAE of each rule, least first, with its interval by item and beneath it how far it varies over splits.

    A mark's key is the rule's name; the random dummy, which has no labels of its own, has none.
    """
    scores = list(value.scores.values())

    def marks(kind: Literal["item", "splits"]) -> Sequence[ForestMark]:
        return [
            ForestMark(
                row=score.name,
                value=score.mae,
                low=score.mae_item_low if kind == "item" else score.mae_low,
                high=score.mae_item_high if kind == "item" else score.mae_high,
                n=f"PA {score.pa:.3f}, n {value.n:,} comparisons, {value.n_splits} splits",
                key=None if score.key == "random" else score.name,
            )
            for score in scores
        ]

    return forest(
        [
            Series(name="MAE, with its sampling error", marks=marks("item")),
            Series(name="how far it varies over splits", marks=marks("splits"), look="plain"),
        ],
        styles={score.name: _style(score.key, score.dummy, theme) for score in scores},
        x_title="mean absolute error (0 to 2)",
        theme=theme,
        chosen=chosen,
    )


def shares_figure(
    shares: Mapping[str, Sequence[Estimate]], *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Share of each label by source (gold, majority, calibrated), with intervals; key `share_key`."""
    colours = COLOURS[theme]
    fills = (colours.neutral, colours.raters[4], colours.accent)
    traces: list[Trace] = []
    for (source, found), fill, pattern in zip(shares.items(), fills, ("", "/", ""), strict=True):
        bars = [(y, found[y + 1]) for y in (1, 0, -1)]
        traces.append(
            {
                "type": "bar",
                "x": [SAYS[y] for y, _ in bars],
                "y": [one.value for _, one in bars],
                "name": label(source),
                "customdata": [[share_key(source, y) if one.value else None] for y, one in bars],
                "hovertext": [
                    f"<b>{label(share_key(source, y))}</b>"
                    f"<br>{one.value:.3f} ({one.low:.3f} to {one.high:.3f})"
                    f"<br>{round(one.value * one.n):,} of {one.n:,} comparisons"
                    for y, one in bars
                ],
                "hoverinfo": "text",
                "marker": {
                    "color": fill,
                    "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": colours.page, "size": 6},
                    "line": {
                        "color": colours.text,
                        "width": [3 if share_key(source, y) == chosen else 0 for y, _ in bars],
                    },
                },
                "error_y": error_bars(
                    [one.value for _, one in bars],
                    [one.low for _, one in bars],
                    [one.high for _, one in bars],
                    colours.text,
                ),
                "selected": {"marker": {"opacity": 1}},
                "unselected": {"marker": {"opacity": 1}},
            }
        )
    return figure(
        x_title="label",
        y_title="share of comparisons",
        theme=theme,
        height=320,
        traces=traces,
        y_axis={"rangemode": "tozero", "tickformat": ".0%"},
    )


def share_key(source: str, vote: int) -> str:
    """Key of a bar, also what a select box shows."""
    return f"{source}: {SAYS[vote]}"


def _style(key: str, dummy: bool, theme: Theme) -> Style:
    """BTD has the accent, other rules the text's colour, dummies are hollow and grey: no judge's colours."""
    colours = COLOURS[theme]
    if key == "btd":
        return Style(colour=colours.accent, symbol="circle")
    if dummy:
        return Style(colour=colours.neutral, symbol="diamond-open", dash="dash")
    return Style(colour=colours.text, symbol="square")


def changes_figure(
    found: Mapping[str, HeldOutScores], *, styles: Mapping[str, Style], theme: Theme = "light"
) -> Figure:
    """Change of MAE (filled) and DRPS (hollow) by the first rule over the second, one row per judge."""
    looks: tuple[tuple[Measure, str, Literal["filled", "hollow"]], ...] = (
        ("mae", "error (MAE)", "filled"),
        ("drps", "forecast (DRPS)", "hollow"),
    )
    series = [
        Series(
            name=name,
            look=look,
            marks=[
                ForestMark(
                    row=judge,
                    value=change_of(one, measure)[1].value,
                    low=change_of(one, measure)[1].low,
                    high=change_of(one, measure)[1].high,
                    n=f"{one.n:,} comparisons, {one.calibration:.0f} to calibrate on",
                )
                for judge, one in found.items()
            ],
        )
        for measure, name, look in looks
    ]
    return forest(series, styles=styles, x_title="change of held-out loss", reference=0, theme=theme)


def rules_figure(scores: HeldOutScores, *, style: Style, x_title: str, theme: Theme = "light") -> Figure:
    """MAE of each rule with its interval by item."""
    marks = [
        ForestMark(
            row=name,
            value=mae.value,
            low=mae.low,
            high=mae.high,
            n=f"{scores.n:,} held out",
        )
        for name, mae in zip(scores.names, scores.mae, strict=True)
    ]
    return forest([Series(name="MAE", marks=marks)], styles=style, x_title=x_title, theme=theme)


def weights_figure(found: ConfidenceWeighted, *, style: Style, theme: Theme = "light") -> Figure:
    """Weight of a vote by its stated confidence; the mean vote weighs 1."""
    colours = COLOURS[theme]
    curve = {
        "type": "scatter",
        "x": found.confidence,
        "y": found.weight,
        "mode": "lines",
        "name": "weight",
        "line": {"color": style.colour, "width": 2, "dash": style.dash},
        "hovertemplate": "confidence %{x:.2f}<br>weight %{y:.2f}<extra></extra>",
    }
    alike = {
        "type": "scatter",
        "x": (0, 1),
        "y": (1, 1),
        "mode": "lines",
        "name": "all alike",
        "hoverinfo": "skip",
        "line": {"color": colours.neutral, "width": 1, "dash": "dot"},
    }
    return figure(
        x_title="stated confidence",
        y_title="weight of a vote",
        theme=theme,
        height=260,
        traces=[alike, curve],
        x_axis={"range": [-0.02, 1.02]},
        y_axis={"rangemode": "tozero"},
    )


def levels_figure(found: Ordinal, *, style: Style, theme: Theme = "light") -> Figure:
    """Share of labelled answers on each level, by gold and by the fit on all labels."""
    colours = COLOURS[theme]
    levels = [f"{x:g}" for x in found.fit.scale]
    bars = [
        {
            "type": "bar",
            "x": levels,
            "y": share,
            "name": name,
            "marker": {"color": colour},
            "hovertemplate": f"level %{{x}}<br>{name} %{{y:.3f}}<extra></extra>",
        }
        for name, share, colour in (
            ("gold", found.gold_share, colours.neutral),
            ("calibrated", found.said_share, style.colour),
        )
    ]
    return figure(
        x_title="level",
        y_title="share of answers",
        theme=theme,
        height=260,
        traces=bars,
        x_axis={"type": "category"},
    )


def priors_figure(
    found: Mapping[str, Mapping[str, ShrinkageGain]],
    *,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Change of MAE by each prior, one row per prior, one series per size of calibration set.

    found : by size of set, then by name of the prior, which is the key of its marks.
    """
    series = [
        Series(
            name=size,
            look="hollow" if place else "filled",
            marks=[
                forest_mark(
                    gain.beside_btd,
                    "mae",
                    row=name,
                    n=f"error {gain.evaluation.scores['btd_shrunk'].mae:.3f}, n {gain.beside_btd.n:,} "
                    f"comparisons, {gain.evaluation.calibration:.0f} to calibrate on",
                    key=name,
                )
                for name, gain in by_prior.items()
            ],
        )
        for place, (size, by_prior) in enumerate(found.items())
    ]
    return forest(
        series,
        styles=Style(colour=COLOURS[theme].accent, symbol="circle"),
        x_title="change of error (below 0: better)",
        reference=0,
        theme=theme,
        chosen=chosen,
    )


def prior_weights_figure(fits: ShrunkenFits, *, theme: Theme = "light") -> Figure:
    """Weight of each λ, mean over the calibration sets, bars from the first to the third quartile."""
    colours = COLOURS[theme]
    mean = fits.weight.mean(axis=0)
    low, high = np.quantile(fits.weight, [0.25, 0.75], axis=0)
    names = [strength_name(one) for one in fits.strengths.tolist()]
    bars = {
        "type": "bar",
        "x": names,
        "y": mean,
        "marker": {"color": colours.accent},
        "error_y": error_bars(mean, np.minimum(low, mean), np.maximum(high, mean), colours.text),
        "hovertext": [
            f"<b>λ {name}</b><br>weight {one:.3f}<br>quartiles {a:.3f} to {b:.3f}"
            f"<br>n {len(fits.weight):,} calibration sets"
            for name, one, a, b in zip(names, mean, low, high, strict=True)
        ],
        "hoverinfo": "text",
    }
    return figure(
        x_title="λ, how stiffly the fit is held to the prior",
        y_title="weight in the shrunken fit",
        theme=theme,
        height=260,
        legend=False,
        traces=[bars],
        x_axis={"type": "category"},
        y_axis={"range": [0, 1.05]},
    )


def strength_name(strength: float) -> str:
    """λ as an axis shows it, its ends in words."""
    if strength == 0:
        return "0 (own fit)"
    return "∞ (prior alone)" if np.isinf(strength) else f"{strength:g}"
