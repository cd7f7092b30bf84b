"""Which rule is right most often, and what does it lose when one judge leaves?"""

from __future__ import annotations

import streamlit as st

from core.consensus.ensembles import RULES, EnsembleTable
from core.interpretation import tables
from core.interpretation.ensembles import WITHOUT, rules_departures, score_columns, without, without_rows
from core.plots.consensus import accuracies_figure, without_figure
from core.store.vote_queries import Mark
from pages.shared import cached, theme, widgets


def rules_tab(found: EnsembleTable) -> None:
    """Everybody's accuracy, and the votes where one departs from the majority."""
    look = theme.current()
    styles = cached.styles(widgets.current_dataset(), look)
    by_name = {score.name: score for score in found.scores.values()}
    drawn, aside = st.columns([3, 2], gap="medium")
    with drawn:
        fig = accuracies_figure(found, styles=styles, theme=look, chosen=st.session_state.get("departing"))
        chosen = widgets.figure(
            fig,
            "departing",
            alt="Share right of members and rules",
            marks=list(by_name),
            prompt="Departures of",
        )
    with aside:
        for sentence in rules_departures(found):
            st.text(sentence)
        widgets.how_to_read(
            "Every row is judged on the same comparisons: those that all members judged and that have a gold "
            "label. Bars are 95 % intervals that allow for comparisons of one item being alike. *Majority* "
            "counts heads, equal heads go to the highest confidence. The weighted rules weigh each member by "
            "its confidence c, by √c, or by c divided by the entropy of c. A rule's confidence is its share "
            "of the weight. Hollow rows are fitted on gold labels, of other items than those they label. A "
            "fit improves any judge's votes, so *BTD over pooled votes* is compared with the best member as "
            "it votes or by BTD (dashed line), and a rule that needs no labels with the best member as it "
            "votes (dotted line). An interval is of one row; the answer says Yes only if the jury is ahead "
            "by more than the best of that many rules is by chance. Choose a row to see the votes on which "
            "it departs from the majority."
        )
    frame = tables.frame(score_columns(found), found.scores.values())
    widgets.table(frame.dropna(axis=1, how="all"), "ensembles", alt="Members, rules and fusers")
    if chosen and by_name[chosen].differs:
        behind = by_name[chosen].departures[: widgets.VOTES_SHOWN]
        widgets.votes_table(Mark(comparisons=tuple(behind.tolist())), name="departing")


def without_tab(found: EnsembleTable) -> None:
    """What a rule loses or gains when one member leaves."""
    if found.without[0][0] is None:
        widgets.not_applicable("a jury of two has nobody to spare.")
        return
    names = {RULES[key].name: key for key in found.rules}
    rule = names[widgets.choice("Rule", list(names), default=next(iter(names)), key="jury-rule")]
    look = theme.current()
    st.text(without(found, rule))
    fig = without_figure(found, rule, styles=cached.styles(widgets.current_dataset(), look), theme=look)
    widgets.figure(fig, "without", alt="Change of accuracy without each member")
    widgets.how_to_read(
        "Left of 0 the jury needs this judge; right of 0 it would be right more often without. Bars are 95 % "
        "intervals of the paired change, by item. The sentence names a judge as needed only if the change is "
        "more than the worst of that many judges shows by chance."
    )
    frame = tables.frame(WITHOUT, without_rows(found, rule).items())
    widgets.table(frame, "without", alt="Change of accuracy without each member")
