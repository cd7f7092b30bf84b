"""Figures of items that no section of a page draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..finding.figure import Theme
from ..finding.figure import figure as drawn
from ..stats.estimate import DataFrame
from .record import Item

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MOST_DRAWN = 12
"""Judges, models or sizes that one figure shows."""
RELIABILITY = "Figures 1, 3, 6–10"
MAIN = {"BTD": "Figure 2", "TH": RELIABILITY, "PCF": "Figure 1", "RAEE": "Figure 2, right"}
"""Paper → the figure that it is known by, with which the view of its items begins."""
NAMES = (*(f"{paper} {number}" for paper, number in MAIN.items()), "RAEE Figure 6", "BTD Figure 16")


def figure(item: Item, table: DataFrame, *, theme: Theme = "light") -> Figure | None:
    """The figure of an item from its table; None for one that is a table, or drawn elsewhere."""
    if item.name not in NAMES:
        return None
    fig = drawn("", "", theme=theme)
    {
        f"TH {RELIABILITY}": _reliability,
        "RAEE Figure 6": _violins,
        "PCF Figure 1": _bars,
        "BTD Figure 2": _both_errors,
        "RAEE Figure 2, right": _anchors,
        "BTD Figure 16": _shares,
    }[item.name](fig, table)
    return fig


def _reliability(fig: Any, table: DataFrame) -> None:
    """Accuracy of each judge's bins over their mean confidence, beside the diagonal."""
    fig.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line_dash="dot", name="calibrated")
    for judge, rows in list(table.groupby("judge"))[:MOST_DRAWN]:
        fig.add_scatter(x=rows["confidence"], y=rows["accuracy"], name=judge)
    fig.update_layout(xaxis_title="confidence", yaxis_title="accuracy")


def _violins(fig: Any, table: DataFrame) -> None:
    """A violin of scores per judge at each target."""
    for judge, rows in list(table.groupby("judge"))[:MOST_DRAWN]:
        each = rows.loc[rows.index.repeat(rows["count"])]
        fig.add_violin(x=each["model"], y=each["score"], name=judge, spanmode="hard", points=False)
    fig.update_layout(violinmode="group", yaxis_title="score")


def _bars(fig: Any, table: DataFrame) -> None:
    """Improved items upwards, regressed ones downwards, per judge."""
    rows = table[(table["category"] == "all") | table["category"].isna()].head(MOST_DRAWN)
    fig.add_bar(x=rows["judge"], y=rows["improved"], name="improved")
    fig.add_bar(x=rows["judge"], y=-rows["regressed"], name="regressed")
    fig.update_layout(barmode="relative", yaxis_title="items")


def _both_errors(fig: Any, table: DataFrame) -> None:
    """MAE to the left, accuracy to the right, a line per rule."""
    for number, (rule, rows) in enumerate(table.groupby("rule")):
        for place, name in (("", "mae"), ("2", "pa")):
            fig.add_scatter(
                x=rows["votes"],
                y=rows[name],
                xaxis=f"x{place}",
                yaxis=f"y{place}",
                name=rule,
                legendgroup=rule,
                # Colours come again after so many rules.
                line_dash="solid" if number < len(fig.layout.template.layout.colorway) else "dash",
                showlegend=not place,
            )
    # The two axes meet in the middle of a phone: whole numbers at their ends, away from the edge.
    low, high = float(table["votes"].min()), float(table["votes"].max())
    pad = 0.15 * (high - low) or 1
    votes = {
        "title": "votes",
        "range": [low - pad, high + pad],
        "tickvals": sorted({low, high}),
        "tickformat": ",.0f",
    }
    fig.update_layout(
        xaxis={**votes, "domain": [0, 0.46]},
        xaxis2={**votes, "domain": [0.54, 1], "anchor": "y2"},
        yaxis_title="MAE",
        yaxis2={"title": "pairwise accuracy", "anchor": "x2"},
    )


def _anchors(fig: Any, table: DataFrame) -> None:
    """Centred Elo of each model, a mark per anchor."""
    for anchor in table.columns.drop(["model", "on_all"]):
        fig.add_scatter(x=table["model"], y=table[anchor], mode="markers", name=anchor)
    fig.update_layout(yaxis_title="centred Elo")


def _shares(fig: Any, table: DataFrame) -> None:
    """Labels A, tie and B of each judge by gold, majority and BTD."""
    for label in ("A", "tie", "B"):
        fig.add_bar(x=[table["judge"], table["source"]], y=table[label], name=label)
    fig.update_layout(barmode="stack", yaxis_title="share of comparisons")
