"""Does a judge agree with itself, with each other, with all at once, and is it as good as
a person?
"""

from __future__ import annotations

import math

import streamlit as st

from core.finding.tables import frame, frame_of
from core.questions.agreement import figure as plots
from core.questions.agreement import words as sentences
from core.questions.agreement.kappa import disagreements
from core.questions.agreement.reliability import inter_rater_reliability, split_comparisons
from core.records import IntArray, VoteCounts
from core.store.vote_queries import Mark
from pages.sections.agreement.controls import Results
from pages.shared import cached, cards, many, numbers, widgets


def itself_section(results: Results, mark: float) -> Mark | None:
    """ICC of every judge that voted repeatedly; the votes behind the chosen one."""
    st.subheader("With itself", anchor=False)
    repeated = results.repeated
    if not repeated:
        widgets.not_applicable("no comparison was judged twice in the same way (column run).")
        return None
    steady = {
        name: one.icc_3_k.value if one.icc_3_k else math.nan for name, one in repeated.items()
    }
    order = many.in_order(steady, key="steady")
    repeated = order.all(repeated)
    fig = plots.repeatability_figure(
        order.few(repeated),
        mark=mark,
        styles=results.styles,
        theme=results.look,
        chosen=st.session_state.get("repeat"),
    )
    marks = {name: Mark(judge=name) for name in repeated}
    chosen = widgets.figure(fig, "repeat", alt="ICC of each judge", marks=marks)
    st.text(sentences.screening(repeated, mark))
    widgets.how_to_read(
        "How much of what sets comparisons apart a judge repeats when asked again: 1 all, 0 none, "
        "below 0 its runs differ more than comparisons do. ICC(3,1) is one run, ICC(3,k) the mean "
        "of k runs; judges right of the line pass the screening. Bars are jackknife intervals over "
        "items. The table also has the classical F intervals, which are exact for normal data only "
        "and too narrow for votes. A judge that nearly always says the same has a low ICC too: see "
        "*all runs alike*.\n\n**Verdict.** *Repeatability* is ICC(3,k): fine if its whole interval "
        "is at least .75, a warning if all of it is below, a failure if all of it is below .50, "
        "else unclear. The line above is a screening of its own and changes no grade."
    )
    if not results.anchors:
        st.caption(
            "Without an anchor ICC depends on which model is called A: read *all runs alike* too."
        )
    return chosen


def others_section(results: Results) -> tuple[IntArray, dict[str, VoteCounts]] | None:
    """κ of every pair; comparisons that the chosen one disagrees on, and the votes of the two, or
    of one.
    """
    st.subheader("With others", anchor=False)
    matrix, own_gold = results.matrix, results.own_gold
    pairs = {plots.pair_key(one): one for one in plots.shown_pairs(matrix, without_gold=own_gold)}
    if not pairs:
        widgets.not_applicable("no comparison was labelled by two raters, or by one and by gold.")
        return None
    fig = plots.kappa_matrix(
        matrix, without_gold=own_gold, theme=results.look, chosen=st.session_state.get("disagree")
    )
    pair = widgets.figure(
        fig, "disagree", alt="Cohen κ of each pair", marks=pairs, prompt="Disagreements of"
    )
    widgets.how_to_read(
        "Cohen's κ between majority labels, ties a class of their own: 0 is chance, 1 perfect. A "
        "rater's name heads its column and ends its row. Only comparisons that both labelled "
        "count; the table has their number, raw agreement and intervals by item. Raw agreement "
        "alone can mislead: two raters that nearly always say *A* agree by chance. Choose a cell "
        "for what they disagree on.\n\n**Verdict.** *Agreement* is graded with people only, and "
        "only where the judge has no gold: how much more often it says what the other people say "
        "than a left-out person does. Fine if the whole interval is at least −10 points, a warning "
        "if all of it is below, a failure if all of it is below −20. Agreement with another judge "
        "is described: differing is no fault of either. κ is left out where one label has more "
        "than 90 % of the judge's votes."
    )
    if len(matrix.judges) > plots.MOST_RATERS:
        measure = "gold" if matrix.gold else "the others"
        st.caption(
            f"The {plots.BEST} raters who agree most with {measure} and the {plots.WORST} who "
            "agree least; the table has all."
        )
    if pair is None:
        return None
    names = [pair.judge_1] if pair in matrix.gold else [pair.judge_1, pair.judge_2]
    counts = {name: results.counts[name] for name in names}
    return disagreements(*counts.values()), counts


def pair_tables(results: Results, mark: float) -> None:
    """Every ICC and every κ with its intervals; gold made of a rater's own votes is left out."""
    if results.repeated:
        numbers.table(
            sentences.repeatabilities(results.repeated, mark),
            "repeatability",
            alt="ICC of each judge",
        )
    matrix = results.matrix
    with_gold = [pair for pair in matrix.gold if pair.judge_1 not in results.own_gold]
    numbers.table(
        sentences.pair_table([*matrix.pairs, *with_gold]), "pairs", alt="Agreement of each pair"
    )


def all_section(results: Results) -> None:
    """α and Fleiss κ of all raters, of judges and of people, with the comparisons that
    split them.
    """
    st.subheader("All at once", anchor=False)
    counts = results.counts
    everybody = {
        "all raters": list(counts),
        "judges alone": results.judges,
        "people alone": results.humans,
    }
    groups = cached.of_each(
        "inter-rater",
        (results.selection,),
        # Of judges or people alone only where there are both.
        {
            group: {name: counts[name] for name in names}
            for group, names in everybody.items()
            if len(names) > 1 and (group == "all raters" or len(names) < len(counts))
        },
        lambda members: inter_rater_reliability(members, rng=widgets.seeded()),
    )
    if not groups:
        widgets.not_applicable("Krippendorff α and Fleiss κ need at least two raters.")
        return
    for members, found in groups.items():
        st.text(sentences.together(members.capitalize(), found))
    fig = plots.inter_rater_figure(groups, theme=results.look, chosen=st.session_state.get("group"))
    group = widgets.figure(
        fig, "group", alt="Krippendorff α and Fleiss κ", marks=groups, prompt="Split comparisons of"
    )
    widgets.how_to_read(
        "Krippendorff's α and Fleiss' κ: 0 is chance, 1 perfect. Nominal α takes every difference "
        "alike; ordinal α counts A against B as farther apart than either from a tie. α uses every "
        "comparison that at least two labelled; Fleiss' κ only those with the commonest number of "
        "raters. Bars are bootstrap intervals by item."
    )
    if group:
        raters = {name: counts[name] for name in group.raters}
        cards.comparisons(split_comparisons(raters), raters, name="group")
    numbers.table(
        frame_of(sentences.GROUPS, groups, heading="group"),
        "concord",
        alt="Agreement of all raters",
    )


def people_section(results: Results, rater: str) -> None:
    """The chosen judge beside each person, both against the other people; the tables have all."""
    st.subheader("As good as a person?", anchor=False)
    humans = len(results.humans)
    if humans < 2:
        widgets.not_applicable(
            "it needs at least two human raters (rater_type human), and there "
            f"{'is' if humans else 'are'} {humans}."
        )
        return
    _beside_people(results, rater)
    widgets.how_to_read(
        "Each person in turn is left out, and the mode of the *other* people is gold. Person and "
        "judge are held to it on the same comparisons: right of the line the judge is nearer to "
        "the others than the person is. BTD labels are calibrated to the same gold, on other items "
        "than they are judged on. With three people the mode is that of two, and two that differ "
        "make a tie."
    )
    found = results.beside_people
    numbers.table(
        frame(sentences.PEOPLE, found.humans), "people", alt="Each person against the others"
    )
    if found.judges:
        numbers.table(
            frame(sentences.JUDGES_BESIDE_PEOPLE, found.judges),
            "contests",
            alt="Each judge beside each person",
        )


def _beside_people(results: Results, rater: str) -> None:
    """One judge's figure, and the comparisons on which it and a chosen person disagree."""
    shown = [one for one in results.beside_people.judges if one.judge == rater and one.n]
    if shown:
        fig = plots.judge_vs_human_figure(
            shown,
            style=results.styles[rater],
            theme=results.look,
            chosen=st.session_state.get("person"),
        )
        person = widgets.figure(
            fig,
            "person",
            alt="Judge's accuracy minus each person's",
            marks={one.human: one.human for one in shown},
            prompt="Disagreements with",
        )
        if person is not None:
            both = {name: results.counts[name] for name in (rater, person)}
            cards.comparisons(disagreements(*both.values()), both, name="person")
    elif not results.judges:
        widgets.not_applicable(
            "only people voted here; the table has each of them against the others."
        )
    elif rater in results.humans:
        widgets.not_applicable(f"{rater} is a person; choose a judge to set it beside people.")
