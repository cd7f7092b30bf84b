"""The jury of the page Juries: which rule is right most often, and what is lost when one judge
leaves?
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import streamlit as st

from core.errors import InvalidOption
from core.finding import tables
from core.questions.confidence.th_scores import EPSILON
from core.questions.juries import method as ensembles
from core.questions.juries import words as sentences
from core.questions.juries.figure import accuracies_figure, departures_figure, without_figure
from core.questions.juries.jury import FUSER, judge_jury
from core.records import DERIVED, NO_GOLD, IntArray
from core.schema import ConfidenceSource
from core.store.vote_queries import Mark
from pages.shared import cached, cards, many, numbers, widgets

MOST_MEMBERS, MOST_DEPARTING = 50, 8
"""Members that the figure of accuracies draws, each twice, and that of departures."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The jury, the fusers beside it, what confidence is, and the tail of the TH-Score."""

    jury: tuple[str, ...]
    fusers: tuple[str, ...]
    by: ConfidenceSource
    epsilon: float

    @property
    def key(self) -> tuple[object, ...]:
        return (self.selection, self.jury, self.fusers, self.by, self.epsilon)


def read_controls() -> PageState:
    """Draw the controls; a jury needs two judges."""
    raters = cached.raters(widgets.current_dataset())
    counts = cached.vote_counts(widgets.current_selection())
    judges = [name for name in counts if raters.get(name) != "human"]
    start = cached.computed(
        "likely jury",
        (widgets.current_selection(),),
        lambda: ensembles.best_jury(
            {name: counts[name] for name in judges if not name.startswith(DERIVED)}
        ),
    )
    slots = st.columns([4, 3, 2, 2], gap="small", vertical_alignment="bottom")
    jury = slots[0].multiselect(
        "Members", judges, default=list(start), key="jury", bind=widgets.URL
    )
    others = [name for name in judges if name not in jury]
    fusers = slots[1].multiselect(
        "Fusers",
        others,
        default=[name for name in others if name.startswith(FUSER)],
        key="fusers",
        bind=widgets.URL,
        placeholder="none" if others else "no other judge",
        help="Judges that read the members' verdicts and gave their own (page Collect).",
    )
    by = widgets.choice(
        "Confidence",
        get_args(ConfidenceSource),
        key="jury-by",
        place=slots[2],
        help="stated: what votes state, times their share where a judge votes several times. "
        "share: of a judge's votes on a comparison the share that agree, which needs repeated "
        "votes and no stated confidence.",
    )
    epsilon = slots[3].slider(
        "TH-Score ε", 0.01, 0.3, EPSILON, 0.01, key="jury-epsilon", bind=widgets.URL
    )
    if len(jury) < 2:
        people = sum(raters.get(name) == "human" for name in counts)
        if people and len(judges) < 2:
            raise InvalidOption(
                f"People cannot be members here, and {people} human "
                f"{'rater' if people == 1 else 'raters'} and {len(judges)} of the judges are "
                "selected in the sidebar: a jury needs two judges or more. Page Agreement compares "
                "people."
            )
        raise InvalidOption(
            "A jury needs two judges or more: choose them as Members, or in the sidebar."
        )
    return PageState(jury=tuple(jury), fusers=tuple(fusers), by=by, epsilon=epsilon)


def judged(state: PageState) -> tuple[ensembles.Members, ensembles.EnsembleTable]:
    """The jury's verdicts, and everybody's scores."""
    found = judge_jury(
        cached.vote_counts(state.selection),
        cached.confidence_counts(state.selection),
        rng=widgets.seeded(),
        jury=state.jury,
        fusers=state.fusers,
        by=state.by,
        costs=cached.costs(state.selection),
        epsilon=state.epsilon,
    )
    return found.members, found.table


def rules_tab(state: PageState, found: ensembles.EnsembleTable) -> None:
    """Everybody's accuracy, and the votes where one departs from the majority."""
    by_name = {score.name: score for score in found.scores.values()}
    drawn, aside = st.columns([3, 2], gap="medium")
    with drawn:
        few = _few(found)
        fig = accuracies_figure(
            few, styles=state.styles, theme=state.look, chosen=st.session_state.get("departing")
        )
        chosen = widgets.figure(
            fig,
            "departing",
            alt="Share right of members and rules",
            marks=by_name,
            prompt="Departures of",
        )
    with aside:
        if (said := sentences.fusers_answer(found)) is not None:
            widgets.answer(said, part="-fusers")
        widgets.answer(sentences.departures_answer(found), part="-departures")
        widgets.in_full(
            *sentences.fusers_alone(found), *sentences.rules_departures(found), part="-departures"
        )
        widgets.how_to_read(
            "Every row is judged on the same comparisons: those that all members judged and that "
            "have a gold label. Bars are 95 % intervals that allow for comparisons of one item "
            "being alike. *Majority* counts heads, equal heads go to the highest confidence. The "
            "weighted rules weigh each member by its confidence c, by √c, or by c divided by the "
            "entropy of c. A rule's confidence is its share of the weight. Hollow rows are fitted "
            "on gold labels, of other items than those they label. A fit improves any judge's "
            "votes, so *BTD over pooled votes* is compared with the best member as it votes or by "
            "BTD (dashed line), and a rule that needs no labels with the best member as it votes "
            "(dotted line). An interval is of one row; the answer says Yes only if the jury is "
            "ahead by more than the best of that many rules is by chance. Choose a row to see the "
            "votes on which it departs from the majority."
        )
    departing = [
        score for score in found.scores.values() if score.differs and score.key != "majority"
    ]
    if departing:
        st.subheader("Where it departs from the majority, who is right?", anchor=False)
        fig = departures_figure(_departing(few), theme=state.look)
        widgets.figure(
            fig,
            "departures",
            alt="Departures from the majority, by who is right",
            marks=by_name,
            into="departing",
        )
    frame = tables.frame(sentences.score_columns(found), found.scores.values())
    numbers.table(frame.dropna(axis=1, how="all"), "ensembles", alt="Members, rules and fusers")
    if chosen and chosen.differs:
        cards.votes_behind(cards.mark_of(chosen.departures), name="departing")


def _few(found: ensembles.EnsembleTable) -> ensembles.EnsembleTable:
    """Rules and fusers, and of the members as they vote and by BTD those that a figure has room
    for.
    """
    of = {
        key: one.member or key for key, one in found.scores.items() if one.kind.startswith("member")
    }
    right = {name: found.scores[name].accuracy.value for name in of.values()}
    order = many.in_order(right, key="members", most=MOST_MEMBERS)
    best = {found.best_member, found.best_fitted}
    members = sorted(
        (key for key in of if of[key] in order.drawn or key in best),
        key=lambda key: order.names.index(of[key]),
    )
    rules = [key for key in found.scores if key not in of]
    return replace(found, scores={key: found.scores[key] for key in (*rules, *members)})


def _departing(few: ensembles.EnsembleTable) -> ensembles.EnsembleTable:
    """Rules and fusers, and the first members: bars take more room than intervals."""
    members = [key for key, score in few.scores.items() if score.kind == "member"]
    left_out = {*members[MOST_DEPARTING:]}
    return replace(
        few, scores={key: score for key, score in few.scores.items() if key not in left_out}
    )


def without_tab(state: PageState, jury: ensembles.Members, found: ensembles.EnsembleTable) -> None:
    """What a rule loses or gains when one member leaves."""
    if found.without[0][0] is None:
        widgets.not_applicable("a jury of two has nobody to spare.")
        return
    names = {ensembles.RULES[key].name: key for key in found.rules}
    rule = names[widgets.choice("Rule", list(names), key="jury-rule")]
    widgets.answer(sentences.without_answer(found, rule), part="-without")
    fig = without_figure(
        found, rule, styles=state.styles, theme=state.look, chosen=widgets.in_url("without")
    )
    other = {name: codes for name in jury.names if len(codes := _relabelled(jury, rule, name))}
    chosen = widgets.figure(
        fig,
        "without",
        alt="Change of accuracy without each member",
        marks={name: name for name in other},
        prompt="Comparisons labelled otherwise without",
    )
    widgets.how_to_read(
        "Left of 0 the jury needs this judge; right of 0 it would be right more often without. "
        "Bars are 95 % intervals of the paired change, by item. The sentence names a judge as "
        "needed only if the change is more than the worst of that many judges shows by chance."
    )
    frame = tables.frame(sentences.WITHOUT, sentences.without_rows(found, rule).items())
    numbers.table(frame, "without", alt="Change of accuracy without each member")
    if chosen is not None:
        mark = Mark(judges=jury.names, comparisons=tuple(other[chosen].tolist()))
        cards.votes_behind(mark, name="without")


def _relabelled(jury: ensembles.Members, rule: str, name: str) -> IntArray:
    """Labelled comparisons to which a rule gives another label without this member."""
    whole, rest = ensembles.combine(jury, rule), ensembles.combine(jury.without(name), rule)
    other: IntArray = jury.comparison[(jury.gold != NO_GOLD) & (whole.label != rest.label)]
    return other
