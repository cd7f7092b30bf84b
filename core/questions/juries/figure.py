"""Figures of the pages Juries and Listwise: juries and their members; orders of candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ...finding.figure import (
    COLOURS,
    SHARE_TICKS,
    Style,
    error_bars,
    figure,
    hover,
    label,
    trace,
    undimmed,
)
from ...finding.forest import Look, forest, row_names, series
from ...finding.question import Picture
from ...finding.wording import count
from ...stats.estimate import Estimates
from ..lists.method import Improvements
from ..lists.orders import OrderSensitivity, OrderSweep, Slot
from ..lists.parts import PartAlone
from ..lists.words import PART_NAMES
from .method import EnsembleTable
from .words import without_rows

if TYPE_CHECKING:
    from ...finding.figure import Figure, Theme
    from ..lists.results import ListwiseAudit


def accuracies_figure(
    found: EnsembleTable,
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Share right of each member, rule and fuser with its interval, hollow if it is fitted on gold
    labels.

    A dotted line stands at the best member as it votes, a dashed one at the best one as it votes or
    by BTD.
    """
    drawn = []
    for name, look, fitted in (
        ("needs no gold labels", "filled", False),
        ("fitted on gold labels", "hollow", True),
    ):
        scores = {score.name: score for score in found.scores.values() if score.fitted == fitted}
        drawn.append(series(name, scores, "accuracy", "{0.n:,} comparisons", look=look))
    fig = forest(
        [one for one in drawn if one.marks],
        "share of comparisons right",
        styles=_looks(found, styles, theme),
        reference=found.scores[found.best_member].accuracy.value,
        unit="%",
        theme=theme,
        chosen=chosen,
    )
    if found.best_fitted is not None:
        best = found.scores[found.best_fitted].accuracy.value
        fig.add_vline(x=best, line={"color": COLOURS[theme].neutral, "width": 1, "dash": "dash"})
    return fig


def departures_figure(found: EnsembleTable, *, theme: Theme = "light") -> Figure:
    """Comparisons on which each differs from the majority of judges: where it is right, where the
    majority is, and where neither is. Source: [TH] Figure 5.
    """
    colours = COLOURS[theme]
    scores = [
        score
        for score in found.scores.values()
        if score.differs and score.key != "majority" and score.kind != "member by BTD"
    ]
    places = list(range(len(scores)))
    parts = (
        ("it is right", colours.accent, [score.right for score in scores]),
        ("the majority is right", colours.raters[1], [score.wrong for score in scores]),
        (
            "neither is",
            colours.neutral,
            [score.differs - score.right - score.wrong for score in scores],
        ),
    )
    fig = figure("departures", "", theme=theme, height=max(220, 110 + 38 * len(scores)))
    for name, colour, counts in parts:
        fig.add_bar(
            x=counts,
            y=places,
            orientation="h",
            name=name,
            marker={"color": colour},
            customdata=[[score.name] for score in scores],
            **hover(
                f"<b>{label(score.name, limit=80)}</b><br>{name}: {n:,} of {score.differs:,} "
                f"departures<br>n {score.n:,} comparisons"
                for score, n in zip(scores, counts, strict=True)
            ),
        )
    fig.update_layout(barmode="stack", legend_traceorder="normal")
    fig.update_yaxes(
        tickvals=places,
        ticktext=row_names([score.name for score in scores]),
        range=[len(scores) - 0.5, -0.5],
        showgrid=False,
        ticks="",
    )
    return fig


def without_figure(
    found: EnsembleTable,
    rule: str,
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Change of a rule's accuracy when one member leaves, in percentage points; key of a mark the
    member.
    """
    gaps = {name: gap.scaled(100) for name, gap in without_rows(found, rule).items()}
    return forest(
        [series("change without this judge", gaps, "", "{0.n:,} comparisons")],
        "change of accuracy, points",
        styles=_looks(found, styles, theme),
        reference=0.0,
        theme=theme,
        chosen=chosen,
    )


def _looks(found: EnsembleTable, styles: Mapping[str, Style], theme: Theme) -> dict[str, Style]:
    """Judges keep their look, by BTD too; rules have the neutral one."""
    rule = Style(colour=COLOURS[theme].accent, symbol="diamond-tall")
    return {
        score.name: styles.get(score.member or score.key, rule) for score in found.scores.values()
    }


def improvements_figure(found: Mapping[str, Improvements], **looks: Unpack[Look]) -> Figure:
    """Share of items right by the first order (hollow), any one (a bar) and consensus (filled), by
    judge.
    """
    drawn = [
        series(name, found, f"overall.{kind}", "{0.overall.n:,} items", look=look)
        for name, kind, look in (
            ("first order", "direct", "hollow"),
            ("any one order, mean", "single", "plain"),
            ("consensus", "consensus", "filled"),
        )
    ]
    return forest(drawn, "share of items right", unit="%", **looks)


def sensitivities_figure(found: Mapping[str, OrderSensitivity], **looks: Unpack[Look]) -> Figure:
    """Share of items on which the order of candidates decides who comes first, one row per
    judge.
    """
    drawn = [series("order decides", found, "changed", "{0.changed.n:,} items")]
    return forest(drawn, "share of items", unit="%", **looks)


def pictures(audits: Sequence[ListwiseAudit]) -> Iterator[Picture]:
    """Judges of lists in a report: what order does to them, and what pooling orders gains."""
    sensitive = {each.judge: each.sensitivity for each in audits if each.sensitivity}
    if sensitive:
        said = "Items on which the order of candidates decides"
        yield Picture(said, partial(sensitivities_figure, sensitive))
    improved = {each.judge: each.improvements for each in audits if each.improvements}
    if improved:
        said = "Right by the first order, any one, and all together"
        yield Picture(said, partial(improvements_figure, improved))


def parts_figure(found: Sequence[PartAlone], **looks: Unpack[Look]) -> Figure:
    """Share of items right by all parts of the consensus, whose value is the line, and by each
    alone; key of a mark its name.
    """
    rows = {PART_NAMES[part.part]: part for part in (*found[-1:], *found[:-1])}
    return forest(
        [series("right", rows, "right", "{0.right.n:,} items")],
        "share of items right",
        reference=found[-1].right.value,
        unit="%",
        **looks,
    )


def orders_key(k: int) -> str:
    """Key of the marks of so many orders; also what a select box shows."""
    return count(k, "order")


def sweep_figure(
    found: OrderSweep, *, style: Style, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Accuracy against the number of orders, the error of the majority of orders, and Hoeffding's
    bound; key of a mark `orders_key`.
    """
    k = [row.k for row in found.rows]
    keys = [orders_key(row.k) for row in found.rows]
    clicked = {"customdata": [[key] for key in keys], **undimmed(1)}

    def sizes(size: int) -> list[int]:
        return [size + 5 if key == chosen else size for key in keys]

    accuracy = Estimates.of([row.accuracy for row in found.rows])
    right = trace(
        k,
        accuracy.value,
        "consensus right",
        style.colour,
        marker={"color": style.colour, "symbol": style.symbol, "size": sizes(9), "opacity": 1},
        error_y=error_bars(accuracy, style.colour),
        hovertemplate="K = %{x}: %{y:.3f} right<extra></extra>",
        **clicked,
    )
    wrong = trace(
        k,
        [row.majority_error for row in found.rows],
        "majority of orders wrong",
        style.colour,
        width=1,
        dash="dot",
        marker={
            "color": style.colour,
            "symbol": "circle-open",
            "size": sizes(7),
            "opacity": 1,
            # Marks of several sizes have a border of their own.
            "line": {"color": style.colour, "width": 1},
        },
        hovertemplate="K = %{x}: %{y:.3f} wrong<extra></extra>",
        **clicked,
    )
    bound = trace(
        k,
        [row.bound for row in found.rows],
        "Hoeffding bound on it",
        COLOURS[theme].neutral,
        width=1,
        dash="dash",
        hovertemplate="K = %{x}: at most %{y:.3f}<extra></extra>",
    )
    marked = {"mode": "lines+markers"}
    return figure(
        "orders K",
        "share of items",
        theme=theme,
        height=380,
        traces=[right | marked, wrong | marked, *([] if found.rows[0].bound is None else [bound])],
        x_axis={"dtick": 1},
        y_axis={"range": [0, 1.02], "tickformat": SHARE_TICKS},
    )


def slot_key(slot: int) -> str:
    """Key of the marks of a slot, counted from 0; also what a select box shows."""
    return f"slot {slot + 1}"


def slots_figure(
    found: Sequence[Slot], *, style: Style, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """How often each slot comes first, beside chance and what the quality of its candidates would
    give; key of a mark `slot_key`.
    """
    fig = figure("slot, in the order shown", "share of runs first", theme=theme, height=380)
    place = [row.slot + 1 for row in found]
    wins, best = [row.win for row in found], [row.best for row in found]
    series = [("comes first", "", wins, style.symbol, 11)]
    if any(rate.n for rate in best):
        series.append(("right when the best is there", "right in ", best, "circle-open", 9))
    top = 0.0
    for name, verb, rates, symbol, size in series:
        known = Estimates.of(rates)
        top = max(top, float(np.nanmax(known.high)))
        fig.add_scatter(
            x=place,
            y=known.value,
            name=name,
            mode="markers",
            marker={
                "color": style.colour,
                "symbol": symbol,
                "size": [size + 5 if slot_key(row.slot) == chosen else size for row in found],
                # Marks of several sizes would be pale, and have a border of their own.
                "opacity": 1,
                "line": {"color": style.colour, "width": 1},
            },
            error_y=error_bars(known, style.colour),
            customdata=[[slot_key(row.slot)] for row in found],
            **undimmed(1),
            **hover(
                f"slot {slot}: {verb}{rate.value:.3f} of {rate.n:,} runs"
                for slot, rate in zip(place, rates, strict=True)
            ),
        )
    for name, values, dash in (
        ("its candidates in other slots", [row.expected for row in found], "solid"),
        ("chance 1/n", [row.chance for row in found], "dot"),
    ):
        template = "%{y:.3f}<extra>" + name + "</extra>"
        neutral = COLOURS[theme].neutral
        fig.add_trace(
            trace(place, values, name, neutral, width=1, dash=dash, hovertemplate=template)
        )
    fig.update_xaxes(dtick=1)
    fig.update_yaxes(range=[0, min(1.02, 1.1 * top)], tickformat=SHARE_TICKS)
    return fig
