"""Is a jury better than one judge? Pooled judges, what each adds, and screening by
repeatability.
"""

from __future__ import annotations

import streamlit as st

from core.errors import NoUsableVotes
from core.questions.agreement.check import ICC_STRONG
from core.questions.agreement.reliability import Repeatability, icc
from core.questions.boards import check_words as sentences
from core.questions.boards.anchored import board
from core.questions.boards.check_figure import pooling_figure, screening_figure
from core.questions.boards.judges import (
    CUTS,
    PooledBoard,
    Pooling,
    mean_of_judges,
    pooling,
    screening,
)
from pages.sections.leaderboard.controls import PageState
from pages.shared import cached, numbers, widgets


def judges_tab(state: PageState) -> None:
    """Boards of all judges that met the anchor, whichever one the page shows."""
    if len(state.judges) < 2:
        widgets.not_applicable(
            f"one judge alone ({state.judges[0]}) met {state.anchor}; pooling needs two."
        )
        return
    key = (state.selection, state.prior, state.anchor)
    tables = cached.ratings(state.selection, anchors=(state.anchor,))
    repeats = cached.of_each("icc by anchor", key, tables, icc)
    pooled = cached.computed(
        "mean of judges",
        key,
        lambda: mean_of_judges(state.by_judge, state.anchor, prior=state.prior),
    )
    found: Pooling | None = None
    reason = ""
    try:
        found = cached.computed(
            "pooling",
            key,
            lambda: pooling(
                state.by_judge,
                state.anchor,
                rng=widgets.seeded(),
                icc={
                    name: one.icc_3_1.value if one.icc_3_1 else None
                    for name, one in repeats.items()
                },
                prior=state.prior,
            ),
        )
    except NoUsableVotes as error:
        reason = str(error)
    widgets.answer(sentences.judges_answer(pooled, found), part="-judges")
    widgets.in_full(sentences.judges(pooled, found), part="-judges")
    drawn, measured = st.columns([4, 5], gap="medium")
    with drawn:
        if found is None:
            widgets.not_applicable(reason)
        else:
            _variance(state, found)
    with measured:
        _means(state, pooled)
    _screening(state, repeats)
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)
judged = {{name: pairs[name] for name in {state.judges!r}}}
tables = queries.ratings(store, selection, anchors=({state.anchor!r},))
repeats = {{name: icc(table) for name, table in tables.items()}}
within = {{name: one.icc_3_1.value for name, one in repeats.items() if one.icc_3_1}}
print(mean_of_judges(judged, {state.anchor!r}, prior={state.prior!r}).to_frame())
print(judge_pooling(judged, {state.anchor!r}, rng=default_rng(0), prior={state.prior!r},
              icc=within).to_frame())
print(judge_screening(judged, {state.anchor!r}, icc=repeats, prior={state.prior!r}).to_frame())"""
    )


def _variance(state: PageState, found: Pooling) -> None:
    fig = pooling_figure(found, theme=state.look)
    widgets.figure(fig, "pooling", alt="Standard error of the pooled Elo by number of judges")
    if found.rho_runs is None:
        st.caption("RAEE's ρ, repeatability within judges, is unknown: no judge voted twice alike.")
    widgets.how_to_read(
        "Marks: standard error of the mean of J judges' Elo over prompts, mean over models; bars "
        "hold 95 % of the juries of that size. If judges erred independently it would fall as "
        "1/√J; they err on the same prompts, so it levels off at σ√ρ. The dashed line is σ²(ρ + (1 "
        "− ρ)/J) with the correlation of the judges' errors that was observed. RAEE takes for ρ "
        "how well each judge repeats itself, drawn dotted; that says how steady a judge is, not "
        "how alike judges are, so it can promise too little or too much.\n\nAll of this is about "
        "other prompts. *Jury to jury* in the table is how far a model's Elo moves when other "
        "judges of this data set are taken."
    )
    alt = "Standard error by number of judges"
    numbers.show(sentences.JURY_SIZES, found.sizes, "pooling", found.to_frame(), alt=alt)


def _means(state: PageState, pooled: PooledBoard) -> None:
    votes = board(state.pairs[None], state.anchor, prior=state.prior)
    frame = pooled.to_frame()
    elo = {row.model: row.elo.value for row in votes.rows}
    frame = frame.assign(pooled=frame["model"].map(elo))
    alt = "Mean of judges beside pooled votes"
    numbers.show(sentences.pooled_columns(votes), pooled.rows, "mean-of-judges", frame, alt=alt)
    st.caption(
        "Mean of judges: every judge weighs alike. Pooled votes: every vote weighs alike within a "
        "prompt, so a judge that voted more often counts more, and a judge's extreme scores are "
        "tempered by the others."
    )


def _screening(state: PageState, repeats: dict[str, Repeatability]) -> None:
    st.subheader("Would screening help?", anchor=False)
    cut = st.slider("Least ICC(3,k)", 0.0, 1.0, ICC_STRONG, 0.01, key="screen", bind=widgets.URL)
    cuts = tuple(sorted({*CUTS, cut}))
    try:
        found = cached.computed(
            "screening",
            (state.selection, state.prior, state.anchor, cut),
            lambda: screening(
                state.by_judge, state.anchor, icc=repeats, cuts=cuts, prior=state.prior
            ),
        )
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    st.text(sentences.screened(found, next(row for row in found.rows if row.cut == cut)))
    fig = screening_figure(found, cut=cut, theme=state.look)
    widgets.figure(fig, "screening", alt="Width of the pooled interval by the cut on repeatability")
    widgets.how_to_read(
        "ICC(3,k) says how much of the variance of a judge's mean over its runs is the "
        "comparisons', oriented candidate against anchor. Raising the cut drops unsteady judges. "
        "Numbers above the line are the judges left; the height is the mean width of the interval "
        "of their mean Elo. Where it rises, dropping judges loses more than their noise cost."
    )
    changed = [
        row
        for row, last in zip(found.rows, (None, *found.rows), strict=False)
        if last is None or row.judges != last.judges or row.cut == cut
    ]
    # Beside the figure its last columns would be cut.
    numbers.show(sentences.CUTS, changed, "screening", found.to_frame(), alt="Screening")
    if found.unknown:
        st.text(f"Left out throughout, as they never voted twice alike: {', '.join(found.unknown)}")
