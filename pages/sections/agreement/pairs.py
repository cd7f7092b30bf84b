"""Does a judge agree with itself, and with each of the others?"""

from __future__ import annotations

import streamlit as st

from core.agreement.kappa import disagreements
from core.interpretation.agreement import pair_table, repeatabilities, screening
from core.plots.agreement import MOST_RATERS, kappa_matrix, pair_key, repeatability_figure, shown_pairs
from core.records import IntArray
from core.store.vote_queries import Mark
from pages.sections.agreement.controls import Results
from pages.shared import widgets


def itself_section(results: Results, mark: float) -> Mark | None:
    """ICC of every judge that voted repeatedly; the votes behind the chosen one."""
    st.subheader("With itself", anchor=False)
    repeated = results.repeated
    if not repeated:
        widgets.not_applicable("no comparison was judged twice in the same way (column run).")
        return None
    fig = repeatability_figure(
        repeated,
        mark=mark,
        styles=results.styles,
        theme=results.look,
        chosen=st.session_state.get("repeat"),
    )
    chosen = widgets.figure(fig, "repeat", alt="ICC of each judge", marks=list(repeated))
    st.text(screening(repeated, mark))
    widgets.how_to_read(
        "How much of what sets comparisons apart a judge repeats when asked again: 1 all, 0 none, "
        "below 0 its runs differ more than comparisons do. "
        "ICC(3,1) is one run, ICC(3,k) the mean of k runs; judges right of the line pass the screening. "
        "Bars are jackknife intervals over items. The table also has the classical F intervals, "
        "which are exact for normal data only and too narrow for votes. A judge that nearly always says "
        "the same has a low ICC too: see *all runs alike*."
    )
    if not results.anchors:
        st.caption("Without an anchor ICC depends on which model is called A: read *all runs alike* too.")
    return Mark(judge=chosen) if chosen else None


def others_section(results: Results) -> tuple[IntArray, str | None] | None:
    """κ of every pair; comparisons that the chosen one disagrees on, and the judge if the other is gold."""
    st.subheader("With others", anchor=False)
    matrix, own_gold = results.matrix, results.own_gold
    pairs = {pair_key(one): one for one in shown_pairs(matrix, without_gold=own_gold)}
    if not pairs:
        widgets.not_applicable("no comparison was labelled by two raters, or by one and by gold.")
        return None
    fig = kappa_matrix(
        matrix, without_gold=own_gold, theme=results.look, chosen=st.session_state.get("disagree")
    )
    chosen = widgets.figure(
        fig, "disagree", alt="Cohen κ of each pair", marks=list(pairs), prompt="Disagreements of"
    )
    widgets.how_to_read(
        "Cohen's κ between majority labels, ties a class of their own: 0 is chance, 1 perfect. A rater's "
        "name heads its column and ends its row. Only comparisons that both labelled count; the table "
        "has their number, raw agreement and intervals by item. Raw agreement alone can mislead: two "
        "raters that nearly always say *A* agree by chance. Choose a cell for what they disagree on."
    )
    if len(matrix.judges) > MOST_RATERS:
        st.caption(f"The {MOST_RATERS} raters who share most comparisons; the table has all.")
    if not chosen:
        return None
    pair, counts = pairs[chosen], results.counts
    if pair in matrix.gold:
        return disagreements(counts[pair.judge_1]), pair.judge_1
    return disagreements(counts[pair.judge_1], counts[pair.judge_2]), None


def pair_tables(results: Results, mark: float) -> None:
    """Every ICC and every κ with its intervals; gold made of a rater's own votes is left out."""
    if results.repeated:
        widgets.table(repeatabilities(results.repeated, mark), "repeatability", alt="ICC of each judge")
    matrix = results.matrix
    with_gold = [pair for pair in matrix.gold if pair.judge_1 not in results.own_gold]
    widgets.table(pair_table([*matrix.pairs, *with_gold]), "pairs", alt="Agreement of each pair")
