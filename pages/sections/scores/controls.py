"""The judge and metric that the Scores page shows."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.audit_results import AuditOptions, ScoreAudit
from core.score_auditing import audit_scores
from pages.shared import cached, evidence, widgets
from pages.shared.limits import current_options


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
    rejected = evidence.counted(selection, options).rejected
    audits = cached.computed(
        "scores",
        (selection, options),
        lambda: audit_scores(*cached.where(selection), options, rejected),
    )
    if not audits:
        return None
    judges = list(dict.fromkeys(audit.judge for audit in audits))
    left, right = st.columns(2)
    judge = widgets.select("Judge", judges, start=judges[0], key="scored", place=left)
    of_judge = {audit.metric: audit for audit in audits if audit.judge == judge}
    metrics = list(of_judge)
    metric = metrics[0]
    if len(metrics) > 1:
        metric = widgets.select("Metric", metrics, start=metrics[0], key="metric", place=right)
    return PageState(audits=audits, shown=of_judge[metric], options=options)
