"""Do all raters agree at once, and is a judge as good as a person?"""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.agreement.kappa import disagreements
from core.agreement.reliability import InterRaterReliability, inter_rater_reliability, split_comparisons
from core.interpretation.agreement import GROUPS, JUDGES_BESIDE_PEOPLE, PEOPLE, together
from core.interpretation.tables import frame, frame_of
from core.plots.agreement import inter_rater_figure, judge_vs_human_figure
from pages.sections.agreement.controls import Results
from pages.shared import cached, widgets


def all_section(results: Results) -> None:
    """α and Fleiss κ of all raters, of judges and of people, with the comparisons that split them."""
    st.subheader("All at once", anchor=False)
    groups = cached.computed("inter-rater", (results.selection,), lambda: _groups(results))
    if not groups:
        widgets.not_applicable("Krippendorff α and Fleiss κ need at least two raters.")
        return
    for members, found in groups.items():
        st.text(together(members.capitalize(), found))
    fig = inter_rater_figure(groups, theme=results.look, chosen=st.session_state.get("group"))
    group = widgets.figure(
        fig, "group", alt="Krippendorff α and Fleiss κ", marks=list(groups), prompt="Split comparisons of"
    )
    widgets.how_to_read(
        "Krippendorff's α and Fleiss' κ: 0 is chance, 1 perfect. Nominal α takes every difference alike; "
        "ordinal α counts A against B as farther apart than either from a tie. α uses every comparison that "
        "at least two labelled; Fleiss' κ only those with the commonest number of raters. Bars are bootstrap "
        "intervals by item."
    )
    if group:
        counts = results.counts
        widgets.comparisons_table(
            split_comparisons({name: counts[name] for name in groups[group].raters}), name="group"
        )
    widgets.table(frame_of(GROUPS, groups, heading="group"), "concord", alt="Agreement of all raters")


def _groups(results: Results) -> dict[str, InterRaterReliability]:
    counts = results.counts
    groups = {"all raters": list(counts), "judges alone": results.judges, "people alone": results.humans}
    return {
        group: inter_rater_reliability({name: counts[name] for name in names}, rng=np.random.default_rng(0))
        for group, names in groups.items()
        if len(names) > 1 and (group == "all raters" or len(names) < len(counts))
    }


def people_section(results: Results, rater: str) -> None:
    """The chosen judge beside each person, both against the other people; the tables have all."""
    st.subheader("As good as a person?", anchor=False)
    humans = len(results.humans)
    if humans < 2:
        widgets.not_applicable(
            f"it needs at least two human raters (rater_type human), and there {'is' if humans else 'are'} "
            f"{humans}."
        )
        return
    _beside_people(results, rater)
    widgets.how_to_read(
        "Each person in turn is left out, and the mode of the *other* people is gold. Person and judge are "
        "held to it on the same comparisons: right of the line the judge is nearer to the others than the "
        "person is. BTD labels are calibrated to the same gold, on other items than they are judged on. "
        "With three people the mode is that of two, and two that differ make a tie."
    )
    found = results.beside_people
    widgets.table(frame(PEOPLE, found.humans), "people", alt="Each person against the others")
    if found.judges:
        widgets.table(
            frame(JUDGES_BESIDE_PEOPLE, found.judges), "contests", alt="Each judge beside each person"
        )


def _beside_people(results: Results, rater: str) -> None:
    """One judge's figure, and the comparisons on which it and a chosen person disagree."""
    shown = [one for one in results.beside_people.judges if one.judge == rater and one.n]
    if shown:
        fig = judge_vs_human_figure(
            shown, style=results.styles[rater], theme=results.look, chosen=st.session_state.get("person")
        )
        person = widgets.figure(
            fig,
            "person",
            alt="Judge's accuracy minus each person's",
            marks=list(dict.fromkeys(one.human for one in shown)),
            prompt="Disagreements with",
        )
        if person:
            widgets.comparisons_table(
                disagreements(results.counts[rater], results.counts[person]), name="person"
            )
    elif not results.judges:
        widgets.not_applicable("only people voted here; the table has each of them against the others.")
    elif rater in results.humans:
        widgets.not_applicable(f"{rater} is a person; choose a judge to set it beside people.")
