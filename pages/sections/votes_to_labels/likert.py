"""Which level would another rater give? Ordinal BTD on direct scores, beside mode, mean
and median.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.auditing.options import AuditOptions
from core.errors import NoUsableVotes
from core.options import default_of
from core.questions.labels.figure import levels_figure, rules_figure
from core.questions.labels.ordinal_model import OrdinalFit, of_scores, ordinal
from core.questions.labels.words import ordinal as ordinal_answer
from core.records import DirectScores
from pages.shared import cached, numbers, widgets

SPLITS: int = default_of(AuditOptions, "splits")


def likert_tab() -> None:
    """Judge and gold rater to choose, the answer, errors of the rules and shares of the levels."""
    selection = widgets.current_selection()
    try:
        scores = cached.direct_scores(selection)
    except NoUsableVotes:
        widgets.not_applicable(
            "this data set has no direct scores. Votes are -1, 0 or +1 only; a scale of more "
            "levels needs scores of single answers, say 1 to 10, in a file with the columns "
            "item_id, model, judge, score."
        )
        return
    if len(scores) < 2:
        widgets.not_applicable(
            f"only {', '.join(scores)} gave direct scores. A second rater is needed, whose scores "
            "are gold."
        )
        return
    answer = st.container()
    judge, gold, share = _controls(scores)
    if judge == gold:
        widgets.not_applicable("a rater cannot be gold for itself; choose another one.")
        return
    levels = of_scores(scores[judge], scores[gold])
    found = cached.computed(
        "ordinal",
        (selection, judge, gold, share),
        lambda: ordinal(levels, rng=widgets.seeded(), n_splits=SPLITS, share=share),
    )
    with answer:
        widgets.answer(ordinal_answer(judge, gold, found), part="-likert")
    look = widgets.current_look()
    style = widgets.current_styles()[judge]
    errors, shares = st.columns(2, gap="medium")
    with errors:
        fig = rules_figure(found.scores, style=style, x_title="mean error, in levels", theme=look)
        widgets.figure(fig, "likert_rules", alt="Error of each rule in levels")
    with shares:
        fig = levels_figure(found, style=style, theme=look)
        widgets.figure(fig, "likert_levels", alt="Share of answers on each level")
    widgets.how_to_read(
        "Gold is the median score that the other rater gave an answer. *Mode*, *mean* and *median* "
        "of the judge's scores take both raters to use the scale alike. *Ordinal BTD* learns from "
        "the calibration set how the judge's scores are shifted and spread, and where the other "
        "rater's levels begin: it pays where one rater is kinder or uses less of the scale, and "
        "costs a little where they agree. Errors are on held-out answers, bars intervals by item. "
        "The shares are of the fit on all labels."
    )
    for note in found.fit.notes:
        st.text(note)
    numbers.held_out_table(
        found.to_frame(), "likert-rules", alt="Held-out error of each rule", of="answers"
    )
    _thresholds(found.fit)
    widgets.copy_as_python(
        f"""scores = queries.direct_scores(store, selection)
levels = score_levels(scores[{judge!r}], scores[{gold!r}])
found = ordinal(levels, rng=default_rng(0), n_splits={SPLITS}, share={share})
print(found.fit.to_frame())
print(found.to_frame().to_string())"""
    )


def _thresholds(fit: OrdinalFit) -> None:
    """Parameters of the fit on all labels."""
    st.caption(
        f"Fit on all labels: a level or lower has log odds threshold − β·s, β {fit.beta:.3f}; the "
        f"middle share of the votes spreads the thresholds with γ {fit.gamma:.3f}"
    )
    frame = pd.DataFrame(
        {"level": [f"up to {x:g}" for x in fit.scale[:-1]], "threshold": fit.location + fit.cuts}
    )
    numbers.table(frame.assign(n=fit.n_items), "likert-fit", alt="Thresholds between the levels")


def _controls(scores: dict[str, DirectScores]) -> tuple[str, str, float]:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    people = [
        name for name, kind in cached.raters(widgets.current_dataset()).items() if kind == "human"
    ]
    gold_first = next((name for name in scores if name in people), list(scores)[-1])
    judge_first = next(name for name in scores if name != gold_first)
    judge = widgets.select(
        "Judge", scores, start=judge_first, key="likert_judge", place=row, width=260
    )
    gold = widgets.select(
        "Gold rater", scores, start=gold_first, key="likert_gold", place=row, width=260
    )
    return judge, gold, widgets.share_slider(row, "likert_share", 200)
