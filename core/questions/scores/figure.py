"""Figures of Scores: the judge's levels against people's, rates, and the pass rate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Unpack

from ...finding.figure import (
    COLOURS,
    Tile,
    figure,
    hover,
    ideal_trace,
    label,
    thinned,
    tiled,
    tint,
    undimmed,
)
from ...finding.forest import Shown, forest, narrow_lines, row_names, series
from ...finding.question import Picture
from ...finding.wording import count, number, percent
from .levels import level_counts
from .words import pair_sentence

if TYPE_CHECKING:
    from ...finding.figure import Figure, Theme
    from ..agreement.reliability import Repeatability
    from .agreement import Leniency, LevelBias
    from .by_category import CategoryRate
    from .cut import Cut
    from .drift import Drift
    from .evidence import ScoreEvidence
    from .levels import LevelCounts
    from .pass_rate import PassRate
    from .passing import PassFail
    from .raters import RaterPair
    from .recalibration import ScoreRecalibration
    from .versions import VersionDifference

CELL = 84
"""Side of the cell of two levels in pixels; more levels have smaller ones."""
WIDTH = 330
"""Pixels that all cells of a line have together, so that they fit a phone."""


RATES = ("passes what is good", "fails what is bad")
"""Rows of the figure of rates, and their keys."""
MOST_LEVELS = 5
"""Levels of a scale whose pairs are drawn one by one in a report."""
PAIR_CELL = 40
"""Height of a cell of two raters."""


def level_key(person: str, judge: str) -> str:
    """What a cell is called: people's level, then the judge's."""
    return f"people {person}, judge {judge}"


def levels_figure(
    table: LevelCounts, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """People's level (rows) against the judge's (columns): answers, and their share of the row.

    A cell is the stronger in colour the larger its share; its key is `level_key`, and empty cells
    have none.
    """
    colours = COLOURS[theme]
    rows, columns = table.counts.shape
    size = min(CELL, WIDTH // max(columns, 1))
    fig = figure(
        "the judge says",
        "people say",
        theme=theme,
        height=120 + rows * (size + 6),
        square=True,
        legend=False,
    )
    places = [(row, column) for row in range(rows) for column in range(columns)]
    counts = [int(table.counts[place]) for place in places]
    of_row = table.counts.sum(axis=1)
    shares = [n / max(int(of_row[row]), 1) for (row, _), n in zip(places, counts, strict=True)]
    keys = [level_key(table.people[row], table.judge[column]) for row, column in places]
    fig.add_scatter(
        x=[column for _, column in places],
        y=[row for row, _ in places],
        mode="markers+text",
        customdata=[[key if n else None] for key, n in zip(keys, counts, strict=True)],
        text=[
            f"{n:,}<br>{percent(share)}" if size >= CELL else f"{n:,}"
            for n, share in zip(counts, shares, strict=True)
        ],
        textposition="middle center",
        textfont={"color": colours.text, "size": 13 if size >= 40 else 12},
        marker={
            "symbol": "square",
            "size": size,
            "opacity": 1,
            "color": [
                tint(
                    colours.accent
                    if table.people[row] == table.judge[column]
                    else colours.raters[1],
                    colours.page,
                    share,
                )
                for (row, column), share in zip(places, shares, strict=True)
            ],
            "line": {
                "color": [colours.text if key == chosen else colours.grid for key in keys],
                "width": [3 if key == chosen else 1 for key in keys],
            },
        },
        **hover(
            f"<b>{key}</b><br>{count(n, 'answer')}, {percent(share)} of the row"
            for key, n, share in zip(keys, counts, shares, strict=True)
        ),
        **undimmed(1, textfont={"color": colours.text}),
    )
    axis = {"showgrid": False, "ticks": "", "showline": False, "zeroline": False}
    fig.update_xaxes(
        tickvals=list(range(columns)),
        ticktext=list(table.judge),
        range=[-0.5, columns - 0.5],
        **axis,
    )
    fig.update_yaxes(
        tickvals=list(range(rows)), ticktext=list(table.people), range=[-0.5, rows - 0.5], **axis
    )
    return fig


def pair_key(pair: RaterPair) -> str:
    """What a cell of the matrix of raters is called."""
    return f"{pair.first} – {pair.second}"


def raters_figure(
    pairs: Sequence[RaterPair],
    judges: Sequence[str],
    *,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Agreement of each judge with each person, then of every two people, as a matrix.

    pairs : of the judges with people, and of people.  judges : rows at the top, in this order.

    The stronger the colour, the better two agree; below 0 it changes. A cell's key is `pair_key`;
    two raters without a shared answer have none.
    """
    colours = COLOURS[theme]
    shared = {(pair.first, pair.second): pair for pair in pairs if pair.n}
    people = list(dict.fromkeys(pair.second for pair in pairs if pair.first in judges))
    rows = [*judges, *(name for name in people if any(key[1] == name for key in shared))]
    rows = [row for row in rows if row in judges or row != people[0]]
    tiles = []
    for y, row in enumerate(rows):
        for x, person in enumerate(people):
            # People meet below the diagonal: the later of two is the row.
            pair = shared.get((row, person) if row in judges else (person, row))
            if pair is not None:
                value = 0.0 if pair.agreement is None else pair.agreement.value
                colour = colours.accent if value >= 0 else colours.raters[1]
                tiles.append(
                    Tile(
                        *(x, y, pair_key(pair)),
                        tint(colour, colours.page, abs(value)),
                        "–" if pair.agreement is None else number(value, ".2f"),
                        f"<b>{label(pair_key(pair), limit=80)}</b><br>{pair_sentence(pair)}",
                    )
                )
    # On a phone more columns than these are narrower than a word: their names stand upright.
    upright = len(people) > 4
    heads = [label(name, limit=18) if upright else narrow_lines(name) for name in people]
    high = (160 if upright else 90) + PAIR_CELL * len(rows)
    marks, shapes = tiled(tiles, size=PAIR_CELL - 6, text_size=12, theme=theme, chosen=chosen)
    bare = {"showgrid": False, "showline": False, "ticks": "", "fixedrange": True}
    return figure(
        "",
        "",
        theme=theme,
        height=high,
        legend=False,
        traces=[marks],
        x_axis={
            "range": [-0.5, max(len(people), 3) - 0.5],
            "tickvals": list(range(len(people))),
            "ticktext": heads,
            "tickangle": -90 if upright else 0,
            "side": "top",
            **bare,
        },
        y_axis={
            "range": [len(rows) - 0.5, -0.5],
            "tickvals": list(range(len(rows))),
            "ticktext": row_names(rows),
            **bare,
        },
        layout={"shapes": shapes},
    )


def side_key(side: str, level: str) -> str:
    """What a bar of the distributions is called."""
    return f"{side} {level}"


def distribution_figure(
    table: LevelCounts, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Share of answers on each level, people's beside the judge's; a bar's key is `side_key`."""
    colours = COLOURS[theme]
    total = max(int(table.counts.sum()), 1)
    fig = figure("level", "share of the answers", theme=theme, height=300)
    sides = (
        ("people", table.people, table.counts.sum(axis=1), colours.neutral),
        ("judge", table.judge, table.counts.sum(axis=0), colours.accent),
    )
    for side, levels, counts, colour in sides:
        keys = [side_key(side, level) for level in levels]
        fig.add_bar(
            x=list(levels),
            y=[int(n) / total for n in counts],
            name=side,
            customdata=[[key if n else None] for key, n in zip(keys, counts, strict=True)],
            marker={
                "color": colour,
                "line": {
                    "color": colours.text,
                    "width": [3 if key == chosen else 0 for key in keys],
                },
            },
            **hover(
                f"<b>{key}</b><br>{count(int(n), 'answer')}, {percent(int(n) / total)}"
                for key, n in zip(keys, counts, strict=True)
            ),
            **undimmed(1),
        )
    fig.update_layout(barmode="group")
    fig.update_xaxes(type="category")
    fig.update_yaxes(tickformat=".0%", rangemode="tozero")
    return fig


COSTS = ("this cut", "pass everything", "fail everything")
"""Rows of the figure of costs, and their keys."""


def cost_figure(found: Cut, **looks: Unpack[Shown]) -> Figure:
    """What the cut costs on answers that did not choose it, beside the two trivial cuts."""
    costs = dict(zip(COSTS, (found.cost, found.pass_all, found.fail_all), strict=True))
    drawn = series("cost per answer", costs, "", "{0.n:,} items")
    return forest([drawn], "cost per answer", **looks)


def versions_figure(found: VersionDifference, **looks: Unpack[Shown]) -> Figure:
    """Version B less version A: by labels and judge, by labels alone, as the judge sees it."""
    rows = {
        name: one
        for name, one in (
            ("labels and judge", found.difference),
            ("labels alone", found.labels),
            ("as the judge sees it", found.judge),
        )
        if one is not None
    }
    drawn = series("difference", rows, "", "{0.n:,} items", key=None)
    what = "pass rate" if found.of == "pass" else "score, share of the scale"
    return forest([drawn], f"B − A, {what}", reference=0.0, **looks)


def groups_figure(found: Drift, **looks: Unpack[Shown]) -> Figure:
    """How much higher than people it scores in each group, less the rest; a mark's key is the
    group's.
    """
    rows = {group.group: group for group in found.groups}
    drawn = series("difference", rows, "difference", "{0.n:,} answers")
    return forest([drawn], "judge − people, less the rest", reference=0.0, **looks)


def categories_figure(rates: Sequence[CategoryRate], **looks: Unpack[Shown]) -> Figure:
    """TNR and TPR in each category, the lowest first."""
    drawn = [
        series(
            name,
            {rate.category: rate for rate in rates if rate.side == side},
            "rate",
            "{0.items:,} items",
            look=look,
            key=None,
        )
        for side, name, look in (
            ("tnr", "fails what people failed", "filled"),
            ("tpr", "passes what people passed", "hollow"),
        )
    ]
    return forest(drawn, "share of that class", x_range=(0, 1), reference=0.8, **looks)


def runs_figure(found: Repeatability, **looks: Unpack[Shown]) -> Figure:
    """ICC of one run and of the mean of all."""
    rows = {
        name: icc
        for name, icc in (("mean of its runs", found.icc_3_k), ("one run", found.icc_3_1))
        if icc is not None
    }
    drawn = series("ICC", rows, "", "{0.n:,} items", key=None)
    return forest([drawn], "intraclass correlation", x_range=(0, 1.03), reference=0.75, **looks)


def score_key(score: float) -> str:
    """What a point of the map is called."""
    return f"scored {score:g}"


def map_figure(
    found: ScoreRecalibration,
    *,
    same_scale: bool,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """What each score of the judge is mapped to, beside leaving it as it is; a point's key is
    `score_key`.
    """
    colours = COLOURS[theme]
    kept = thinned(len(found.score))
    x, y = found.score[kept].tolist(), found.mapped[kept].tolist()
    keys = [score_key(value) for value in x]
    fig = figure("the judge's score", "mapped to", theme=theme, height=320, legend=False)
    if same_scale and x:
        ends = [min(x), max(x)]
        fig.add_trace(ideal_trace(x=ends, y=ends, name="as it is", theme=theme))
    fig.add_scatter(
        x=x,
        y=y,
        mode="lines+markers",
        name="map",
        customdata=[[key] for key in keys],
        line={"color": colours.accent, "width": 2},
        marker={
            "size": 9,
            "color": colours.accent,
            "line": {"color": colours.text, "width": [3 if key == chosen else 0 for key in keys]},
        },
        **hover(
            f"<b>{key}</b><br>mapped to {number(value, '.2f')}"
            for key, value in zip(keys, y, strict=True)
        ),
        **undimmed(1),
    )
    return fig


def rates_figure(passing: PassFail, **looks: Unpack[Shown]) -> Figure:
    """How much of what people passed it passes, and how much of what they failed it fails."""
    sides = zip(RATES, (passing.tpr, passing.tnr), strict=True)
    rates = {name: rate for name, rate in sides if rate is not None}
    drawn = series("rate", rates, "", "{0.n:,} items")
    return forest([drawn], "share of that class", x_range=(0, 1), reference=0.9, **looks)


def pass_rate_figure(rates: PassRate, **looks: Unpack[Shown]) -> Figure:
    """The share that passes: as the judge says, by people's labels alone, and corrected."""
    shares = {
        name: share
        for name, share in (
            ("the judge says", rates.judge),
            ("labels alone", rates.labels),
            ("corrected by labels", rates.corrected),
        )
        if share is not None
    }
    drawn = series("pass rate", shares, "", "{0.n:,} items", key=None)
    return forest([drawn], "share that passes", x_range=(0, 1), **looks)


def level_name(level: LevelBias) -> str:
    """People's score, or the middle of some, in words; the key of its mark."""
    return f"people {'about ' if level.half_width else ''}{level.score:g}"


def bias_figure(leaning: Leniency, **looks: Unpack[Shown]) -> Figure:
    """How much higher than people it scores, by people's score."""
    levels = {level_name(level): level for level in leaning.by_level}
    drawn = series("bias", levels, "bias", "{0.n:,} items")
    return forest([drawn], "judge − people, share of the scale", reference=0.0, **looks)


def levels_picture(evidence: ScoreEvidence, whose: str) -> Picture | None:
    """What people and the judge say of the same answers: each pair of levels, or how much higher
    it scores where the scale has many; None without answers that both judged.
    """
    counts, leaning = level_counts(evidence.table), evidence.leniency
    if not counts.counts.sum():
        return None
    if max(counts.counts.shape) <= MOST_LEVELS:
        said = f"What people say (rows), and what {whose} says of the same answers"
        return Picture(said, partial(levels_figure, counts))
    said = f"How much higher than people {whose} scores, by people's score"
    return Picture(said, partial(bias_figure, leaning))
