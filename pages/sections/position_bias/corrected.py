"""What if the fit knew the order of each vote? BTD with a term for the order, on held-out items."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.auditing.options import AuditOptions
from core.finding.tables import Column, frame_of
from core.options import default_of
from core.questions.labels.figure import changes_figure
from core.questions.labels.position_aware_btd import PositionAware, one_order, position_aware
from core.questions.labels.words import position_aware as sentence
from core.records import OrderCounts
from pages.sections.position_bias.order import PageState
from pages.shared import cached, numbers, widgets

SPLITS: int = default_of(AuditOptions, "splits")
ALL, ONE = "as they are", "one order each"
JUDGES = (
    Column("n", "fit.n_items", "d"),
    Column("unbalanced", "fit.unbalanced", "d"),
    Column("δ", "delta", ends=("low", "high")),
    Column("z", "fit.z"),
    Column("corrected on all labels", lambda one: "yes" if one.fit.delta else "no", ""),
    Column("MAE change", lambda one: one.scores.mae_change[1], ends=("MAE low", "MAE high")),
)


def corrected_tab(state: PageState, answer: DeltaGenerator) -> None:
    """One judge in words, into `answer`, under the page's own answer; all drawn, and the rules of
    one.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom")
    votes = widgets.choice(
        "Votes",
        (ALL, ONE),
        key="order_votes",
        place=row,
        help="One order each: of every comparison only the votes of one order, drawn at random, as "
        "if each had been asked once",
    )
    share = widgets.share_slider(row, "order_share", 240)
    counts = cached.order_counts(state.selection)
    found, failed = cached.of_each_possible(
        "position aware",
        (state.selection, votes, share),
        counts,
        lambda one: _position_aware(one, votes, share),
    )
    if state.judge not in found:
        widgets.not_applicable(
            failed.get(state.judge, f"{state.judge} has no vote with a known order."),
            door="corrected-door",
        )
        return
    with answer:
        widgets.answer(
            sentence(state.judge, found[state.judge], state.results.get(state.judge)),
            part="-corrected",
        )
    unbalanced = {name: one.scores for name, one in found.items() if one.fit.unbalanced}
    if unbalanced:
        fig = changes_figure(unbalanced, styles=state.styles, theme=state.look)
        widgets.figure(fig, "corrected", alt="Change of held-out loss by correcting for the order")
        widgets.how_to_read(
            "Left of the line the correction helps. Each judge's votes are fitted with and without "
            "a term δ·(share of votes with A first − ½) on the same random calibration sets, and "
            "both fits are judged on the other comparisons; bars are intervals by item. δ enters "
            "only where a calibration set shows that the order matters (|z| ≥ 1.96): *untested* in "
            "the table always uses it. So the error can change for a judge that the fit on all "
            "labels leaves uncorrected. δ below 0 corrects a bias towards the response shown "
            "first. With balanced orders there is nothing to correct: try one order each to see "
            "what asking once would have cost."
        )
    numbers.table(
        frame_of(JUDGES, found), "corrected-judges", alt="Parameter of the order by judge"
    )
    frame = found[state.judge].to_frame()
    numbers.held_out_table(frame, "corrected-rules", alt="Held-out error of each rule")
    widgets.without_result(failed)
    thinned = "" if votes == ALL else "counts = one_order(counts, rng=default_rng(0))\n"
    widgets.copy_as_python(
        f"""counts = queries.order_counts(store, selection)[{state.judge!r}]
{thinned}found = position_aware(counts, rng=default_rng(0), n_splits={SPLITS}, share={share})
print(found.delta, found.fit.z)
print(found.to_frame().to_string())"""
    )


def _position_aware(counts: OrderCounts, votes: str, share: float) -> PositionAware:
    used = counts if votes == ALL else one_order(counts, rng=widgets.seeded())
    return position_aware(used, rng=widgets.seeded(), n_splits=SPLITS, share=share)
