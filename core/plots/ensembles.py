"""Figures of the Ensembles page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.consensus.ensemble_scores import EnsembleTable
from core.figures import COLOURS, Style, Theme
from core.plots.forest import Estimate, Series, forest

if TYPE_CHECKING:
    from core.figures import Figure


def accuracies_figure(
    found: EnsembleTable, *, styles: Mapping[str, Style], theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Share right of each member, rule and fuser with its interval; a line at the best member."""
    marks = [
        Estimate(
            row=score.name,
            value=score.accuracy.value,
            low=score.accuracy.low,
            high=score.accuracy.high,
            n=f"{score.n:,} comparisons",
            key=score.name,
        )
        for score in found.scores.values()
    ]
    return forest(
        [Series(name="share right", marks=marks)],
        styles=_looks(found, styles, theme),
        x_title="share of comparisons right",
        reference=found.scores[found.best_member].accuracy.value,
        theme=theme,
        chosen=chosen,
    )


def without_figure(
    found: EnsembleTable, rule: str, *, styles: Mapping[str, Style], theme: Theme = "light"
) -> Figure:
    """Change of a rule's accuracy when one member leaves, in percentage points."""
    members = [score.name for score in found.scores.values() if score.kind == "member"]
    gaps = found.without[found.rules.index(rule)]
    marks = [
        Estimate(
            row=name,
            value=100 * gap.value,
            low=100 * gap.low,
            high=100 * gap.high,
            n=f"{gap.n:,} comparisons",
        )
        for name, gap in zip(members, gaps, strict=True)
        if gap is not None
    ]
    return forest(
        [Series(name="change without this judge", marks=marks)],
        styles=_looks(found, styles, theme),
        x_title="change of accuracy without this judge, points",
        reference=0.0,
        theme=theme,
    )


def _looks(found: EnsembleTable, styles: Mapping[str, Style], theme: Theme) -> dict[str, Style]:
    """Judges keep their look; rules have the neutral one."""
    rule = Style(colour=COLOURS[theme].accent, symbol="diamond-tall")
    return {score.name: styles.get(score.key, rule) for score in found.scores.values()}
