"""Figures of the Agreement page: ICC, the κ matrix, all raters at once, judges beside people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..interpretation.format import interval
from .base import COLOURS, Style, Theme, figure, label
from .confusion import tint
from .forest import ForestMark, Series, forest

if TYPE_CHECKING:
    from ..agreement.judge_vs_human import JudgeVsHuman
    from ..agreement.kappa import AgreementMatrix, JudgePair
    from ..agreement.reliability import InterRaterReliability, Repeatability
    from .base import Figure

MOST_RATERS = 16
"""Raters in one matrix: more cells are too small to read or to hit; the table has every pair."""
CELL = 36
"""Height of a cell in pixels; on a phone it is about as wide."""
NAME_CELLS = 3
"""Cells' width right of the matrix for the last names."""
NAME_LIMIT = 18
"""Characters that `NAME_CELLS` hold on a phone; names further up have the empty half of the matrix too."""


def pair_key(pair: JudgePair) -> str:
    """Key of a cell, also what a select box shows."""
    return f"{pair.judge_1} – {pair.judge_2}"


def repeatability_figure(
    results: Mapping[str, Repeatability],
    *,
    mark: float,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """ICC(3,k) (filled) and ICC(3,1) (hollow) with jackknife intervals; the line is the screening mark.

    A mark's key is the judge's name.
    """
    series = []
    for name, field, look in (("ICC(3,k)", "icc_3_k", "filled"), ("ICC(3,1)", "icc_3_1", "hollow")):
        marks = [
            ForestMark.of(
                getattr(one, field),
                row=judge,
                n=f"{one.n_comparisons:,} comparisons, {one.k} runs",
                key=judge,
            )
            for judge, one in results.items()
        ]
        series.append(Series(name=name, marks=marks, look=look))
    known = [found for one in results.values() for found in (one.icc_3_k, one.icc_3_1) if found]
    lows = [found.low if found.has_interval else found.value for found in known]
    return forest(
        series,
        styles=styles,
        x_title="intraclass correlation",
        x_range=(min(0.0, *lows) - 0.03, 1.03),
        reference=mark,
        missing="undefined",
        theme=theme,
        chosen=chosen,
    )


def shown_raters(matrix: AgreementMatrix) -> tuple[str, ...]:
    """The raters that the κ matrix has room for: those who share most comparisons, in the order given."""
    if len(matrix.judges) <= MOST_RATERS:
        return matrix.judges
    shared = dict.fromkeys(matrix.judges, 0)
    for pair in matrix.pairs:
        shared[pair.judge_1] += pair.n
        shared[pair.judge_2] += pair.n
    kept = set(sorted(shared, key=lambda name: -shared[name])[:MOST_RATERS])
    return tuple(name for name in matrix.judges if name in kept)


def shown_pairs(matrix: AgreementMatrix, *, without_gold: Sequence[str] = ()) -> list[JudgePair]:
    """Pairs of the shown raters that share a comparison, and those raters against gold.

    without_gold : raters of whose votes gold is made; comparing them with it would flatter them.
    """
    shown = set(shown_raters(matrix))
    pairs = [pair for pair in matrix.pairs if pair.n and {pair.judge_1, pair.judge_2} <= shown]
    return pairs + [
        pair for pair in matrix.gold if pair.n and pair.judge_1 in shown and pair.judge_1 not in without_gold
    ]


def kappa_matrix(
    matrix: AgreementMatrix,
    *,
    without_gold: Sequence[str] = (),
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Cohen κ of every pair, half a matrix: a rater's name stands at the head of its column, in its row.

    The stronger the colour, the higher κ; below 0 it changes. A cell's key is `pair_key`; a pair without a
    shared comparison has none. Tiles scale with the page, the square markers on them take clicks.
    """
    colours = COLOURS[theme]
    raters = shown_raters(matrix)
    pairs = shown_pairs(matrix, without_gold=without_gold)
    with_gold = any(pair.judge_2 == "gold" and pair in matrix.gold for pair in pairs)
    rows = len(raters) + with_gold
    fig = figure(x_title="", y_title="", theme=theme, height=20 + CELL * rows, legend=False)
    gold = {id(pair) for pair in matrix.gold}
    places = [
        (raters.index(pair.judge_1), len(raters) if id(pair) in gold else raters.index(pair.judge_2))
        for pair in pairs
    ]
    kappas = [pair.kappa.value if pair.kappa else 0.0 for pair in pairs]
    fig.update_layout(
        shapes=[
            {
                "type": "rect",
                "layer": "below",
                "x0": x - 0.48,
                "x1": x + 0.48,
                "y0": y - 0.46,
                "y1": y + 0.46,
                "fillcolor": tint(
                    colours.accent if kappa >= 0 else colours.raters[1], colours.page, abs(kappa)
                ),
                "line": {
                    "color": colours.text if pair_key(pair) == chosen else colours.grid,
                    "width": 3 if pair_key(pair) == chosen else 1,
                },
            }
            for pair, kappa, (x, y) in zip(pairs, kappas, places, strict=True)
        ]
    )
    same = {"marker": {"opacity": 0}, "textfont": {"color": colours.text}}
    fig.add_scatter(
        x=[x for x, _ in places],
        y=[y for _, y in places],
        mode="markers+text",
        customdata=[[pair_key(pair)] for pair in pairs],
        text=["–" if pair.kappa is None else _short(pair.kappa.value) for pair in pairs],
        textposition="middle center",
        textfont={"color": colours.text, "size": 12},
        hovertext=[_hover(pair) for pair in pairs],
        hoverinfo="text",
        marker={"symbol": "square", "size": CELL - 4, "opacity": 0, "color": colours.page},
        selected=same,
        unselected=same,
    )
    for place, name in enumerate([*raters, "gold"][:rows]):
        fig.add_annotation(
            x=place - 0.45,
            y=place,
            text=label(name, limit=max(NAME_LIMIT, 4 * (rows - place + NAME_CELLS))),
            showarrow=False,
            xanchor="left",
            font={"color": colours.text, "size": 12},
        )
    bare = {"showgrid": False, "showline": False, "ticks": "", "showticklabels": False, "fixedrange": True}
    fig.update_xaxes(range=[-0.5, len(raters) - 0.5 + NAME_CELLS], **bare)
    fig.update_yaxes(range=[rows - 0.5, -0.5], **bare)
    return fig


def inter_rater_figure(
    groups: Mapping[str, InterRaterReliability], *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Krippendorff α, nominal and ordinal, and Fleiss κ of each group; a mark's key is the group."""
    series = [
        Series(
            name=name,
            look=look,
            marks=[
                ForestMark.of(
                    getattr(found, field),
                    row=group,
                    n=f"{found.fleiss_n if field == 'fleiss' else found.n:,} comparisons",
                    key=group,
                )
                for group, found in groups.items()
            ],
        )
        for name, field, look in (
            ("α nominal", "alpha_nominal", "filled"),
            ("α ordinal", "alpha_ordinal", "hollow"),
            ("Fleiss κ", "fleiss", "plain"),
        )
    ]
    return forest(
        series,
        styles=Style(colour=COLOURS[theme].accent, symbol="circle"),
        x_title="agreement beyond chance",
        reference=0,
        theme=theme,
        chosen=chosen,
    )


def judge_vs_human_figure(
    compared: Sequence[JudgeVsHuman], *, style: Style, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """PA of a judge minus that of each person: majority labels (filled), BTD labels (hollow).

    Right of the line the judge is nearer to the mode of the other people. A mark's key is the person.
    """
    series = [
        Series(
            name=f"{rule} labels",
            look=look,
            marks=[
                ForestMark.of(one.difference, row=one.human, n=f"{one.n:,} comparisons", key=one.human)
                for one in compared
                if one.rule == rule
            ],
        )
        for rule, look in (("majority", "filled"), ("BTD", "hollow"))
    ]
    return forest(
        series,
        styles=style,
        x_title="judge's accuracy − person's",
        reference=0,
        theme=theme,
        chosen=chosen,
    )


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
