"""The judge and metric that the Scores page shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from core.auditing.options import AuditOptions
from core.questions.scores.audited import ScoreAudit
from core.questions.scores.table import ScoreTable
from pages.shared import cached, evidence, widgets
from pages.shared.limits import current_options

PASS_FROM, NOT_SAID = "pass-from", "not said"
MOST_LEVELS = 10
"""Levels from which a pass can be chosen one by one; a finer scale is cut at its tenths."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """All judges of single answers by metric, and the one that is shown."""

    audits: tuple[ScoreAudit, ...]
    shown: ScoreAudit
    options: AuditOptions


def read_controls() -> PageState | None:
    """Draw the controls; None where the selection has no judge of single answers."""
    selection, options = widgets.current_selection(), current_options()
    if not cached.summary(selection).scores:
        return None
    audits = evidence.scores(selection, options)
    if not audits:
        return None
    judges = list(dict.fromkeys(audit.judge for audit in audits))
    left, middle, right = st.columns(3)
    judge = widgets.select("Judge", judges, start=judges[0], key="scored", place=left)
    of_judge = {audit.metric: audit for audit in audits if audit.judge == judge}
    metrics = list(of_judge)
    metric = metrics[0]
    if len(metrics) > 1:
        metric = widgets.select("Metric", metrics, start=metrics[0], key="metric", place=middle)
    shown = of_judge[metric]
    cut = _pass_from(shown, right)
    if cut is not None:
        options = replace(options, pass_from={**options.pass_from, metric: cut})
        audits = evidence.scores(selection, options)
        shown = next(one for one in audits if (one.judge, one.metric) == (judge, metric))
    return PageState(audits=audits, shown=shown, options=options)


def _pass_from(shown: ScoreAudit, place: object) -> float | None:
    """The level from which an answer passes, where the scores do not say; None if nobody does."""
    table = shown.evidence.table
    if table.kind != "levels" or not table.same_scale:
        return None
    levels = _cuts(table)
    chosen = widgets.select(
        "An answer passes from",
        [NOT_SAID, *levels],
        start=NOT_SAID,
        key=PASS_FROM,
        place=place,
        help="The scores do not say which answers are good enough; what you choose counts for "
        "people's scores and the judge's.",
    )
    return levels.get(chosen)


def _cuts(table: ScoreTable) -> dict[str, float]:
    steps = table.high - table.low
    if steps == round(steps) and 1 <= steps <= MOST_LEVELS:
        values = table.low + np.arange(1, int(steps) + 1)
    else:
        values = np.linspace(table.low, table.high, MOST_LEVELS + 1)[1:]
    return {f"{value:g}": float(value) for value in values}
