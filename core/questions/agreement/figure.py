"""Figures of Agreement and Errors: ICC, the κ matrix, judges beside people; gold against
verdict; control charts of a series of files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Unpack

from ...finding.figure import (
    COLOURS,
    Tile,
    figure,
    hover,
    ideal_trace,
    label,
    tiled,
    tint,
    trace,
    undimmed,
)
from ...finding.forest import Look, Shown, forest, series
from ...finding.wording import SAYS, interval, percent
from .words import cell_key

if TYPE_CHECKING:
    from ...finding.figure import Figure, Style, Theme, Trace
    from ..accuracy.confusion_matrix import Confusion
    from ..change.charts import Chart
    from .judge_vs_human import JudgeVsHuman
    from .kappa import AgreementMatrix, JudgePair
    from .reliability import InterRaterReliability, Repeatability

BEST, WORST = 8, 4
MOST_RATERS = BEST + WORST
"""Raters in one matrix: more cells are too small to read or to hit; the table has every pair."""
CELL = 36
"""Height of a cell in pixels; on a phone it is about as wide."""
NAME_CELLS = 3
"""Cells' width right of the matrix for the last names."""
NAME_LIMIT = 18
"""Characters that `NAME_CELLS` hold on a phone; names further up have the empty half of the matrix
too.
"""
ORDER = (1, 0, -1)
"""Labels from left to right and from top to bottom."""
CONFUSION_CELL = 84
"""Side of a cell in pixels; three of them and the axis fit a phone."""

NARROW = 3
"""Percentage points; a narrower interval earns a digit after the point."""


def pair_key(pair: JudgePair) -> str:
    """Key of a cell, also what a select box shows."""
    return f"{pair.judge_1} – {pair.judge_2}"


def repeatability_figure(
    results: Mapping[str, Repeatability], *, mark: float, **looks: Unpack[Look]
) -> Figure:
    """ICC(3,k) (filled) and ICC(3,1) (hollow) with jackknife intervals; the line is the screening
    mark.

    A mark's key is the judge's name.
    """
    drawn = [
        series(name, results, field, "{0.n_comparisons:,} comparisons, {0.k} runs", look=look)
        for name, field, look in (
            ("ICC(3,k)", "icc_3_k", "filled"),
            ("ICC(3,1)", "icc_3_1", "hollow"),
        )
    ]
    known = [found for one in results.values() for found in (one.icc_3_k, one.icc_3_1) if found]
    lows = [found.low if found.has_interval else found.value for found in known]
    return forest(
        drawn,
        "intraclass correlation",
        x_range=(min([0.0, *lows]) - 0.03, 1.03),
        reference=mark,
        missing="undefined",
        **looks,
    )


def shown_raters(matrix: AgreementMatrix) -> tuple[str, ...]:
    """The raters that the κ matrix has room for: all in the order given, or of more than twelve the
    eight who agree best with gold, or without gold with the others, and the four who agree least.
    """
    if len(matrix.judges) <= MOST_RATERS:
        return matrix.judges
    with_gold = {pair.judge_1: pair.kappa.value for pair in matrix.gold if pair.kappa}
    of: dict[str, list[float]] = {name: [] for name in matrix.judges}
    for pair in matrix.pairs:
        for name in (pair.judge_1, pair.judge_2):
            of[name] += [pair.kappa.value] if pair.kappa else []
    merit = {name: sum(known) / len(known) for name, known in of.items() if known}
    merit = with_gold if len(with_gold) >= MOST_RATERS else merit
    known = sorted(merit, key=lambda name: -merit[name])
    unknown = [name for name in matrix.judges if name not in merit]
    ranked = [*known[:BEST], *unknown, *known[BEST:]]
    return (*ranked[:BEST], *ranked[-WORST:])


def shown_pairs(matrix: AgreementMatrix, *, without_gold: Sequence[str] = ()) -> list[JudgePair]:
    """Pairs of the shown raters that share a comparison, and those raters against gold.

    without_gold : raters of whose votes gold is made; comparing them with it would flatter them.
    """
    shown = set(shown_raters(matrix))
    pairs = [pair for pair in matrix.pairs if pair.n and {pair.judge_1, pair.judge_2} <= shown]
    return pairs + [
        pair
        for pair in matrix.gold
        if pair.n and pair.judge_1 in shown and pair.judge_1 not in without_gold
    ]


def kappa_matrix(
    matrix: AgreementMatrix,
    *,
    without_gold: Sequence[str] = (),
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Cohen κ of every pair, half a matrix: a rater's name stands at the head of its column, in its
    row.

    The stronger the colour, the higher κ; below 0 it changes. A cell's key is `pair_key`; a pair
    without a shared comparison has none. Tiles scale with the page, the square markers on them take
    clicks.
    """
    colours = COLOURS[theme]
    raters = shown_raters(matrix)
    pairs = shown_pairs(matrix, without_gold=without_gold)
    with_gold = any(pair.judge_2 == "gold" and pair in matrix.gold for pair in pairs)
    rows = len(raters) + with_gold
    gold = {id(pair) for pair in matrix.gold}
    # Raters stand by rank, so the second of a pair may stand before the first.
    places = [
        (raters.index(pair.judge_1), len(raters))
        if id(pair) in gold
        else tuple(sorted((raters.index(pair.judge_1), raters.index(pair.judge_2))))
        for pair in pairs
    ]
    kappas = [pair.kappa.value if pair.kappa else 0.0 for pair in pairs]
    tiles = [
        Tile(
            *(x, y, pair_key(pair)),
            tint(colours.accent if kappa >= 0 else colours.raters[1], colours.page, abs(kappa)),
            "–" if pair.kappa is None else _short(kappa),
            _hover(pair),
        )
        for pair, kappa, (x, y) in zip(pairs, kappas, places, strict=True)
    ]
    marks, shapes = tiled(tiles, size=CELL - 4, text_size=12, theme=theme, chosen=chosen)
    names = [
        {
            "x": place - 0.45,
            "y": place,
            "text": label(name, limit=max(NAME_LIMIT, 4 * (rows - place + NAME_CELLS))),
            "showarrow": False,
            "xanchor": "left",
            "font": {"color": colours.text, "size": 12},
        }
        for place, name in enumerate([*raters, "gold"][:rows])
    ]
    bare = {
        "showgrid": False,
        "showline": False,
        "ticks": "",
        "showticklabels": False,
        "fixedrange": True,
    }
    return figure(
        "",
        "",
        theme=theme,
        height=20 + CELL * rows,
        legend=False,
        traces=[marks],
        x_axis={"range": [-0.5, len(raters) - 0.5 + NAME_CELLS], **bare},
        y_axis={"range": [rows - 0.5, -0.5], **bare},
        layout={"shapes": shapes, "annotations": names},
    )


def inter_rater_figure(
    groups: Mapping[str, InterRaterReliability], **looks: Unpack[Look]
) -> Figure:
    """Krippendorff α, nominal and ordinal, and Fleiss κ of each group; a mark's key is the
    group.
    """
    drawn = [
        series(name, groups, field, f"{{0.{n}:,}} comparisons", look=look)
        for name, field, n, look in (
            ("α nominal", "alpha_nominal", "n", "filled"),
            ("α ordinal", "alpha_ordinal", "n", "hollow"),
            ("Fleiss κ", "fleiss", "fleiss_n", "plain"),
        )
    ]
    return forest(drawn, "agreement beyond chance", reference=0, **looks)


def judge_vs_human_figure(
    compared: Sequence[JudgeVsHuman], *, style: Style, **looks: Unpack[Shown]
) -> Figure:
    """PA of a judge minus that of each person: majority labels (filled), BTD labels (hollow).

    Right of the line the judge is nearer to the mode of the other people. A mark's key is the
    person.
    """
    drawn = []
    for rule, look in (("majority", "filled"), ("BTD", "hollow")):
        people = {one.human: one for one in compared if one.rule == rule}
        drawn.append(
            series(f"{rule} labels", people, "difference", "{0.n:,} comparisons", look=look)
        )
    title = "judge's accuracy − person's, points"
    return forest(drawn, title, styles=style, reference=0, unit="points", **looks)


def _short(value: float) -> str:
    """0.534 as .53: a cell has room for no more."""
    text = f"{value:.2f}"
    return text if abs(round(value, 2)) >= 1 else text.replace("0.", ".").replace("-.00", ".00")


def _hover(pair: JudgePair) -> str:
    names = f"<b>{label(pair.judge_1, limit=80)} – {label(pair.judge_2, limit=80)}</b>"
    unknown = f"no κ: {label(pair.reason, limit=80)}"
    kappa = unknown if pair.kappa is None else f"κ {interval(pair.kappa, '.3f')}"
    raw = "" if pair.raw is None else interval(pair.raw, ".3f")
    return f"{names}<br>{kappa}<br>{raw} of {pair.n:,} comparisons alike"


def confusion_matrix(
    table: Confusion, *, theme: Theme = "light", chosen: str | None = None, height: int = 400
) -> Figure:
    """Gold (rows) against verdict (columns): count, P(verdict | gold) and its interval in each
    cell.

    The diagonal is right. A cell is the stronger in colour the larger its share of its row. Its key
    is `cell_key(gold, verdict)`; empty cells have none. A heatmap would not report clicks.
    """
    colours = COLOURS[theme]
    places = [(row, column) for row in range(3) for column in range(3)]
    cells = [(ORDER[row], ORDER[column]) for row, column in places]
    counts = [int(table.counts[g + 1, v + 1]) for g, v in cells]
    shares = [float(table.share.value[g + 1, v + 1]) for g, v in cells]
    texts = [_cell_text(table, g, v) for g, v in cells]
    squares: Trace = {
        "type": "scatter",
        "x": [column for _, column in places],
        "y": [row for row, _ in places],
        "mode": "markers+text",
        "customdata": [
            [cell_key(g, v) if n else None] for (g, v), n in zip(cells, counts, strict=True)
        ],
        "text": texts,
        "textposition": "middle center",
        "textfont": {"color": colours.text, "size": 13},
        "marker": {
            "symbol": "square",
            "size": CONFUSION_CELL,
            "opacity": 1,
            "color": [
                tint(colours.accent if g == v else colours.raters[1], colours.page, share)
                for (g, v), share in zip(cells, shares, strict=True)
            ],
            "line": {
                "color": [
                    colours.text if cell_key(g, v) == chosen else colours.grid for g, v in cells
                ],
                "width": [3 if cell_key(g, v) == chosen else 1 for g, v in cells],
            },
        },
        **hover(
            f"<b>{cell_key(g, v)}</b><br>{text}<br>{'right' if g == v else 'wrong'}"
            for (g, v), text in zip(cells, texts, strict=True)
        ),
        **undimmed(1, textfont={"color": colours.text}),
    }
    words = [SAYS[label] for label in ORDER]
    axis = {
        "tickvals": [0, 1, 2],
        "ticktext": words,
        "showgrid": False,
        "ticks": "",
        "showline": False,
    }
    return figure(
        "the judge says",
        "gold says",
        theme=theme,
        height=height,
        square=True,
        legend=False,
        traces=[squares],
        x_axis={"range": [-0.5, 2.5], **axis},
        y_axis={"range": [2.5, -0.5], "tickangle": -90, **axis},
    )


def accuracies(tables: Mapping[str, Confusion], **looks: Unpack[Look]) -> Figure:
    """Accuracy of each judge with its interval, and the best constant answer on the same verdicts.

    A mark's key is the judge's name; the constant answers have none.
    """
    known = {judge: table for judge, table in tables.items() if table.accuracy is not None}
    always = "always the commonest gold label"
    return forest(
        [
            series("share right", known, "accuracy", "n {0.n:,} {0.unit}"),
            series("best constant answer", known, "constant", always, look="plain", key=None),
        ],
        "share right",
        x_range=(0, 1),
        unit="%",
        **looks,
    )


def _cell_text(table: Confusion, gold: int, verdict: int) -> str:
    cell = gold + 1, verdict + 1
    share = table.share[cell]
    if isnan(share.value):
        return "0<br>never gold"
    low, high = 100 * share.low, 100 * share.high
    digits = 0 if high - low >= NARROW else 1
    return (
        f"{table.counts[cell]:,}<br><b>{percent(share.value, digits)}</b>"
        f"<br>{low:.{digits}f}–{high:.{digits}f} %"
    )


def control_figure(
    chart: Chart, files: Sequence[str], *, theme: Theme = "light", **_: object
) -> Figure:
    """Changes from the first four files (dots), their moving average, and the limits that it keeps
    to where nothing changes; an average beyond them is a diamond in the colour of a failed check.
    """
    assert chart.change is not None
    assert chart.average is not None
    assert chart.limit is not None
    colours, places = COLOURS[theme], list(range(len(files)))
    change, average, limit = (100 * each for each in (chart.change, chart.average, chart.limit))
    said = [
        f"{label(name)}: {moved:+.1f} points"
        + ("" if isnan(mean) else f", moving average {mean:+.1f}, limit ±{most:.1f}")
        for name, moved, mean, most in zip(files, change, average, limit, strict=True)
    ]
    limits = [
        trace(
            places,
            sign * limit,
            "limits",
            colours.neutral,
            width=1,
            dash="dash",
            legendgroup="limits",
            showlegend=sign > 0,
            hoverinfo="skip",
        )
        for sign in (1, -1)
    ]
    beyond = list(chart.beyond)
    return figure(
        "file",
        "points from the first four",
        theme=theme,
        height=280,
        x_axis={
            "tickmode": "array",
            "tickvals": places,
            "ticktext": [label(name, limit=12) for name in files],
        },
        traces=[
            ideal_trace(x=[0, len(files) - 1], y=[0, 0], name="first four files", theme=theme),
            *limits,
            trace(places, change, "this file alone", colours.neutral, **hover(said))
            | {"mode": "markers"},
            trace(places, average, "moving average", colours.accent, **hover(said)),
            trace(
                beyond,
                average[beyond],
                "beyond the limits",
                colours.fail,
                marker={"symbol": "diamond", "size": 10},
                **hover([said[place] for place in beyond]),
            )
            | {"mode": "markers"},
        ],
    )
