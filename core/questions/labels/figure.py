"""Figures of Calibrated aggregation: decision maps to click on, errors of rules, label shares,
priors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np

from ...finding.figure import (
    COLOURS,
    MAX_POINTS,
    Style,
    error_bars,
    figure,
    hover,
    ideal_trace,
    label,
    trace,
    undimmed,
)
from ...finding.forest import Look, Shown, forest, series
from ...finding.wording import SAYS
from ...stats.estimate import Estimate, Estimates
from .words import Measure, change_of

if TYPE_CHECKING:
    from ...finding.figure import Figure, Theme, Trace
    from ...stats.splits import HeldOutScores
    from .btd import DecisionMap
    from .confidence_weights import ConfidenceWeighted
    from .evaluation import Evaluation, MethodScore, ShrinkageGain
    from .ordinal_model import Ordinal
    from .shrinkage import ShrunkenFits


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
    height: int = 320,
) -> Figure:
    """What n votes become: one square a way to fall, votes for A across, for B up, the rest ties.

    seen : comparisons with each pattern; squares without any are pale and have no key. A heavy
        outline marks
    where calibrated and majority labels differ; `chosen` is ringed heaviest.
    """
    colours = COLOURS[theme]
    decision = drawn.decision if by == "calibrated" else drawn.majority
    fill = label_colours(theme)
    names = ("plus", "tie", "minus", "decision", "majority", "p")
    parts = (decision, *(getattr(drawn, name) for name in names))
    rows = list(zip(*(part.tolist() for part in parts), strict=True))
    traces: list[Trace] = []
    for vote in (1, 0, -1):
        own = [row[1:] for row in rows if row[0] == vote]
        keys = [pattern_key(*row[:3]) for row in own]
        counted = [seen.get(row[:3], 0) for row in own]
        outlines = [
            4 if key == chosen else 2 if row[3] != row[4] else 0
            for key, row in zip(keys, own, strict=True)
        ]
        said = (
            f"<b>{key}</b><br>{_probabilities(p) if by == 'calibrated' else ''}"
            f"calibrated: {SAYS[calibrated]}<br>majority: {SAYS[majority]}<br>n {n:,} comparisons"
            for key, n, (_, _, _, calibrated, majority, p) in zip(keys, counted, own, strict=True)
        )
        squares = pattern_squares(
            drawn.n, own, counted, fill[vote], [SIGNS[vote]] * len(own), outlines, said, theme
        )
        traces += [
            squares
            | {
                "name": SAYS[vote],
                "customdata": [[key if n else None] for key, n in zip(keys, counted, strict=True)],
                "selected": {"textfont": {"color": colours.text}},
                "unselected": {"marker": {"opacity": 1}},
            },
            legend_square(vote, theme),
        ]
    return pattern_figure(traces, drawn.n, theme=theme, height=height)


def _probabilities(p: Sequence[float]) -> str:
    """Those of BTD, which majority does not have: its map stays as it is while a slider moves."""
    return f"p(A better) {p[2]:.3f}<br>p(tie) {p[1]:.3f}<br>p(B better) {p[0]:.3f}<br>"


def pattern_squares(
    n: int,
    patterns: Sequence[Sequence[int]],
    counted: Sequence[int],
    fill: str | Sequence[str],
    signs: Sequence[str],
    outlines: Sequence[float],
    said: Iterable[str],
    theme: Theme,
) -> Trace:
    """A square for each pattern of n votes, pale where no comparison is `counted`, with its sign on
    it.
    """
    colours = COLOURS[theme]
    return {
        "type": "scatter",
        "x": [pattern[0] for pattern in patterns] or [None],
        "y": [pattern[2] for pattern in patterns] or [None],
        "mode": "markers+text" if n <= MOST_SIGNS else "markers",
        "showlegend": False,
        "text": signs,
        "textposition": "middle center",
        "textfont": {
            "color": [colours.page if seen else colours.text for seen in counted],
            "size": 12,
        },
        "marker": {
            "symbol": "square",
            "size": max(3.0, 0.92 * MAP_PIXELS / (n + 1)),
            "color": fill,
            "opacity": [1.0 if seen else UNSEEN for seen in counted],
            "line": {"color": colours.text, "width": outlines},
        },
        **hover(said),
    }


def pattern_figure(traces: Sequence[Trace], n: int, *, theme: Theme, height: int) -> Figure:
    """Figure of the ways that n votes can fall: votes for A across, for B up."""
    axis: dict[str, object] = {"range": [-0.6, n + 0.6], "showgrid": False}
    if n <= MOST_SIGNS:
        axis["dtick"] = 1
    return figure(
        "votes for A",
        "votes for B",
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
    """Empty trace, so that the legend shows the colour of a label, not the outline of the first
    square.
    """
    return {
        "type": "scatter",
        "x": [None],
        "y": [None],
        "mode": "markers",
        "name": SAYS[label],
        "hoverinfo": "skip",
        "marker": {"symbol": "square", "size": 12, "color": label_colours(theme)[label]},
    }


def errors_figure(
    value: Evaluation, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """MAE of each rule, least first, with its interval by item and beneath it how far it varies
    over splits.

    A mark's key is the rule's name; the random dummy, which has no labels of its own, has none.
    """
    by_name = {score.name: score for score in value.scores.values()}
    dummies = {score.name for score in value.scores.values() if score.key == "random"}

    def key(name: str) -> str | None:
        return None if name in dummies else name

    def by_item(score: MethodScore) -> Estimate:
        return Estimate(score.mae, score.mae_item_low, score.mae_item_high)

    def over_splits(score: MethodScore) -> Estimate:
        return Estimate(score.mae, score.mae_low, score.mae_high)

    n = f"PA {{0.pa:.3f}}, n {value.n:,} comparisons, {value.n_splits} splits"
    return forest(
        [
            series("MAE, with its sampling error", by_name, by_item, n, key=key),
            series("how far it varies over splits", by_name, over_splits, n, look="plain", key=key),
        ],
        "mean absolute error (0 to 2)",
        styles={name: _style(score.key, score.dummy, theme) for name, score in by_name.items()},
        theme=theme,
        chosen=chosen,
    )


def shares_figure(
    shares: Mapping[str, Sequence[Estimate]], *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Share of each label by source (gold, majority, calibrated), with intervals; key
    `share_key`.
    """
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
                "marker": {
                    "color": fill,
                    "pattern": {
                        "shape": pattern,
                        "fillmode": "overlay",
                        "fgcolor": colours.page,
                        "size": 6,
                    },
                    "line": {
                        "color": colours.text,
                        "width": [3 if share_key(source, y) == chosen else 0 for y, _ in bars],
                    },
                },
                "error_y": error_bars(Estimates.of([one for _, one in bars]), colours.text),
                **hover(
                    f"<b>{label(share_key(source, y))}</b><br>{one.value:.3f} ({one.low:.3f} to "
                    f"{one.high:.3f})<br>{round(one.value * one.n):,} of {one.n:,} comparisons"
                    for y, one in bars
                ),
                **undimmed(1),
            }
        )
    return figure(
        "label",
        "share of comparisons",
        theme=theme,
        height=250,
        traces=traces,
        y_axis={"rangemode": "tozero", "tickformat": ".0%"},
    )


def share_key(source: str, vote: int) -> str:
    """Key of a bar, also what a select box shows."""
    return f"{source}: {SAYS[vote]}"


def _style(key: str, dummy: bool, theme: Theme) -> Style:
    """BTD has the accent, other rules the text's colour, dummies are hollow and grey: no judge's
    colours.
    """
    colours = COLOURS[theme]
    if key == "btd":
        return Style(colour=colours.accent, symbol="circle")
    if dummy:
        return Style(colour=colours.neutral, symbol="diamond-open", dash="dash")
    return Style(colour=colours.text, symbol="square")


def changes_figure(found: Mapping[str, HeldOutScores], **looks: Unpack[Look]) -> Figure:
    """Change of MAE (filled) and DRPS (hollow) by the first rule over the second, one row per
    judge.
    """
    n = "{0.n:,} comparisons, {0.calibration:.0f} to calibrate on"
    losses: tuple[tuple[Measure, str, str], ...] = (
        ("mae", "error (MAE)", "filled"),
        ("drps", "forecast (DRPS)", "hollow"),
    )
    drawn = []
    for measure, name, look in losses:
        changes = {judge: (change_of(one, measure)[1], one) for judge, one in found.items()}
        drawn.append(
            series(
                name, changes, itemgetter(0), lambda known: n.format(known[1]), look=look, key=None
            )
        )
    return forest(drawn, "change of held-out loss", reference=0, **looks)


def rules_figure(
    scores: HeldOutScores, *, style: Style, x_title: str, **looks: Unpack[Shown]
) -> Figure:
    """MAE of each rule with its interval by item."""
    errors = dict(zip(scores.names, scores.mae, strict=True))
    drawn = [series("MAE", errors, "", f"{scores.n:,} held out", key=None)]
    return forest(drawn, x_title, styles=style, **looks)


def weights_figure(found: ConfidenceWeighted, *, style: Style, theme: Theme = "light") -> Figure:
    """Weight of a vote by its stated confidence; the mean vote weighs 1."""
    curve = trace(
        found.confidence,
        found.weight,
        "weight",
        style.colour,
        dash=style.dash,
        hovertemplate="confidence %{x:.2f}<br>weight %{y:.2f}<extra></extra>",
    )
    return figure(
        "stated confidence",
        "weight of a vote",
        theme=theme,
        height=260,
        traces=[ideal_trace(x=(0, 1), y=(1, 1), name="all alike", theme=theme), curve],
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
        "level",
        "share of answers",
        theme=theme,
        height=260,
        traces=bars,
        x_axis={"type": "category"},
    )


def priors_figure(
    found: Mapping[str, Mapping[str, ShrinkageGain]], **looks: Unpack[Look]
) -> Figure:
    """Change of MAE by each prior, one row per prior, one series per size of calibration set.

    found : by size of set, then by name of the prior, which is the key of its marks.
    """
    n = (
        "error {1.mae:.3f}, n {0.beside_btd.n:,} comparisons, {0.evaluation.calibration:.0f} "
        "to calibrate on"
    )

    def about(gain: ShrinkageGain) -> str:
        return n.format(gain, gain.evaluation.scores["btd_shrunk"])

    drawn = [
        series(size, by_prior, "beside_btd.mae", about, look="hollow" if place else "filled")
        for place, (size, by_prior) in enumerate(found.items())
    ]
    return forest(drawn, "change of error (below 0: better)", reference=0, **looks)


def prior_weights_figure(fits: ShrunkenFits, *, theme: Theme = "light") -> Figure:
    """Weight of each λ, mean over the calibration sets, bars from the first to the third
    quartile.
    """
    colours = COLOURS[theme]
    mean = fits.weight.mean(axis=0)
    low, high = np.quantile(fits.weight, [0.25, 0.75], axis=0)
    names = [strength_name(one) for one in fits.strengths.tolist()]
    bars = {
        "type": "bar",
        "x": names,
        "y": mean,
        "marker": {"color": colours.accent},
        "error_y": error_bars(
            Estimates(mean, np.minimum(low, mean), np.maximum(high, mean)), colours.text
        ),
        **hover(
            f"<b>λ {name}</b><br>weight {one:.3f}<br>quartiles {a:.3f} to {b:.3f}"
            f"<br>n {len(fits.weight):,} calibration sets"
            for name, one, a, b in zip(names, mean, low, high, strict=True)
        ),
    }
    return figure(
        "λ, weight of the prior",
        "weight in the shrunken fit",
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
