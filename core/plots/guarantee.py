"""Figure of the guaranteed threshold: error rate of labels against the share of comparisons kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.figures import Style, Theme
from core.plots.calibration import risk_figure

if TYPE_CHECKING:
    from core.confidence.guarantee import Guarantee
    from core.confidence.selective import RiskCoverage
    from core.figures import Figure


def guarantee_figure(
    curves: Mapping[str, RiskCoverage],
    found: Mapping[str, Guarantee],
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Curves over all labelled comparisons; marks are the cuts, on the one of each item that was tested.

    Keys of marks are `core.plots.calibration.cut_key` of judge and cut.
    """
    tests = {judge: one.test for judge, one in found.items()}
    fig = risk_figure(dict(curves), tests, styles=dict(styles), theme=theme, chosen=chosen)
    fig.update_xaxes(title_text="share of comparisons kept, the surest first")
    fig.update_yaxes(title_text="wrong labels among those kept")
    return fig
