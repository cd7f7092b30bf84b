"""Figures of the Ensembles page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..consensus.ensembles import EnsembleTable
from ..interpretation.ensembles import without_rows
from .base import COLOURS, Style, Theme
from .forest import ForestMark, Series, forest, forest_mark

if TYPE_CHECKING:
    from .base import Figure


def accuracies_figure(
    found: EnsembleTable, *, styles: Mapping[str, Style], theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Share right of each member, rule and fuser with its interval, hollow if it is fitted on gold labels.

    A dotted line stands at the best member as it votes, a dashed one at the best one as it votes or by BTD.
    """
    series = [
        Series(
            name=name,
            look=look,
            marks=[
                forest_mark(score, "accuracy", row=score.name, n=f"{score.n:,} comparisons", key=score.name)
                for score in found.scores.values()
                if score.fitted == fitted
            ],
        )
        for name, look, fitted in (
            ("needs no gold labels", "filled", False),
            ("fitted on gold labels", "hollow", True),
        )
    ]
    fig = forest(
        [one for one in series if one.marks],
        styles=_looks(found, styles, theme),
        x_title="share of comparisons right",
        reference=found.scores[found.best_member].accuracy.value,
        theme=theme,
        chosen=chosen,
    )
    if found.best_fitted is not None:
        best = found.scores[found.best_fitted].accuracy.value
        fig.add_vline(x=best, line={"color": COLOURS[theme].neutral, "width": 1, "dash": "dash"})
    return fig


def without_figure(
    found: EnsembleTable, rule: str, *, styles: Mapping[str, Style], theme: Theme = "light"
) -> Figure:
    """Change of a rule's accuracy when one member leaves, in percentage points."""
    marks = [
        ForestMark.of(gap.scaled(100), row=name, n=f"{gap.n:,} comparisons")
        for name, gap in without_rows(found, rule).items()
    ]
    return forest(
        [Series(name="change without this judge", marks=marks)],
        styles=_looks(found, styles, theme),
        x_title="change of accuracy without this judge, points",
        reference=0.0,
        theme=theme,
    )


def _looks(found: EnsembleTable, styles: Mapping[str, Style], theme: Theme) -> dict[str, Style]:
    """Judges keep their look, by BTD too; rules have the neutral one."""
    rule = Style(colour=COLOURS[theme].accent, symbol="diamond-tall")
    return {score.name: styles.get(score.member or score.key, rule) for score in found.scores.values()}
