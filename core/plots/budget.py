"""Figure of the vote-budget planner: votes asked for against the error that they leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.figures import COLOURS, Style, Theme, Trace, error_bars, figure, label
from core.words.spans import span

if TYPE_CHECKING:
    from core.experiments.budget_trial import BudgetTrial, TrialRow
    from core.figures import Figure

HIDDEN = 0.12
"""Rules that add more error than this would flatten the figure; the table has them."""


def budget_figure(
    found: BudgetTrial, *, style: Style, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Mean votes a comparison against the error added to that of BTD on all votes, with intervals by item.

    One series for the planner at each tolerance, one for BTD on fixed numbers of votes, one for the simple
    rules. chosen : key of a row to ring.
    """
    colours = COLOURS[theme]
    looks: tuple[tuple[str, str, dict[str, object], str], ...] = (
        ("planner-", "planner", {"color": style.colour, "symbol": style.symbol, "size": 11}, "lines+markers"),
        (
            "btd-",
            "BTD, as many votes on all",
            {"color": colours.text, "symbol": "square-open"},
            "lines+markers",
        ),
        ("unanimous-", "stop if the first agree", {"color": colours.neutral, "symbol": "x"}, "markers"),
    )
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": (0, found.votes),
            "y": (0, 0),
            "mode": "lines",
            "name": f"error of all {found.votes} votes",
            "hoverinfo": "skip",
            "line": {"color": colours.neutral, "width": 1, "dash": "dot"},
        }
    ]
    for kind, name, marker, mode in looks:
        rows = [row for key, row in found.rows.items() if key.startswith(kind) and row.added <= HIDDEN]
        rows.sort(key=lambda row: row.votes)
        if rows:
            traces.append(_series(rows, name, marker, mode, chosen, colours.text, found.n))
    return figure(
        x_title="mean votes a comparison",
        y_title="added error (MAE)",
        theme=theme,
        traces=traces,
        x_axis={"range": [0, found.votes + 0.3]},
    )


def _series(
    rows: Sequence[TrialRow],
    name: str,
    marker: dict[str, Any],
    mode: str,
    chosen: str | None,
    ring: str,
    n: int,
) -> Trace:
    return {
        "type": "scatter",
        "x": [row.votes for row in rows],
        "y": [row.added for row in rows],
        "mode": mode,
        "name": name,
        "error_y": error_bars(
            [row.added for row in rows],
            [row.added_low for row in rows],
            [row.added_high for row in rows],
            marker["color"],
        ),
        "line": {"color": marker["color"], "width": 1},
        "marker": marker
        | {"line": {"color": ring, "width": [3 if row.key == chosen else 1 for row in rows]}},
        "hovertext": [
            f"<b>{label(row.name)}</b><br>{row.votes:.2f} votes a comparison, {row.saved:.1%} saved"
            f"<br>added error {row.added:+.4f} ({span(row.added_low, row.added_high, '+.4f')})"
            f"<br>MAE {row.mae:.4f}<br>n {n:,} comparisons"
            for row in rows
        ],
        "hoverinfo": "text",
    }
