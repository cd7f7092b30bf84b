"""Is a jury better than its best judge?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from core.consensus.ensembles import (
    EPSILON,
    RULES,
    EnsembleTable,
    Members,
    compare,
    fuser_verdicts,
    likely_jury,
    members,
)
from core.errors import InvalidOption
from core.interpretation.ensembles import answer, rules_departures, without
from core.plots.ensembles import accuracies_figure, without_figure
from core.schema import Selection
from core.store.vote_queries import Mark
from pages.shared import cached, theme, widgets

# Judges that read other judgements: no members, unless they are chosen.
DERIVED = ("fuser(", "usc(", "gsa(", "apoc(")
FUSER = "fuser("
COLUMNS = {
    "name": "who",
    "kind": "kind",
    "fitted": "fitted on gold labels",
    "n": "n",
    "accuracy": "share right",
    "accuracy_low": "low",
    "accuracy_high": "high",
    "against": "compared with",
    "against_best_value": "minus that one",
    "against_best_low": "minus low",
    "against_best_high": "minus high",
    "differs": "departs from majority",
    "right": "right then",
    "wrong": "majority right then",
    "th": "TH-Score",
    "ece": "ECE",
    "ace": "ACE",
    "mce": "MCE",
    "brier": "Brier",
    "nll": "NLL",
    "cost": "cost",
}
KINDS = {
    "stated": "Confidence is what the members state.",
    "share": "A member's confidence is the share of its votes on a comparison that agree: not all state one.",
    "none": "Members state no confidence and vote once, so only heads and pooled votes count.",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Asked:
    """The jury, the fusers beside it, and the tail of the TH-Score."""

    selection: Selection
    jury: tuple[str, ...]
    fusers: tuple[str, ...]
    epsilon: float

    @property
    def key(self) -> tuple[object, ...]:
        return (self.selection, self.jury, self.fusers, self.epsilon)


def ask() -> Asked:
    """Draw the controls; a jury needs two judges."""
    selection = widgets.current_selection()
    raters = cached.raters(widgets.current_dataset())
    counts = cached.vote_counts(selection)
    judges = [name for name in counts if raters.get(name) != "human"]
    start = likely_jury({name: counts[name] for name in judges if not name.startswith(DERIVED)})
    slots = st.columns([4, 3, 2], gap="small", vertical_alignment="bottom")
    jury = slots[0].multiselect("Members", judges, default=list(start), key="jury", bind=widgets.URL)
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
    epsilon = slots[2].slider("TH-Score ε", 0.01, 0.3, EPSILON, 0.01, key="jury-epsilon", bind=widgets.URL)
    if len(jury) < 2:
        people = sum(raters.get(name) == "human" for name in counts)
        if people and len(judges) < 2:
            raise InvalidOption(
                f"People are no members here, and {people} human {'rater' if people == 1 else 'raters'} and "
                f"{len(judges)} of the judges are selected in the sidebar: a jury needs two judges or more. "
                "Page Agreement compares people."
            )
        raise InvalidOption("A jury needs two judges or more: choose them as Members, or in the sidebar.")
    return Asked(selection=selection, jury=tuple(jury), fusers=tuple(fusers), epsilon=epsilon)


def judged(asked: Asked) -> tuple[Members, EnsembleTable]:
    """The jury's verdicts, and everybody's scores."""
    counts, votes = cached.vote_counts(asked.selection), cached.single_votes(asked.selection)
    found = members({name: counts[name] for name in asked.jury}, votes)
    fused = {name: fuser_verdicts(found, counts[name], votes[name]) for name in asked.fusers}
    costs = cached.costs(asked.selection)
    rng = np.random.default_rng(0)
    return found, compare(found, rng=rng, fusers=fused, costs=costs, epsilon=asked.epsilon)


def rules_tab(found: EnsembleTable) -> None:
    """Everybody's accuracy, and the votes where one departs from the majority."""
    look = theme.current()
    styles = cached.styles(widgets.current_dataset(), look)
    by_name = {score.name: score for score in found.scores.values()}
    drawn, said = st.columns([3, 2], gap="medium")
    with drawn:
        fig = accuracies_figure(found, styles=styles, theme=look, chosen=st.session_state.get("departing"))
        chosen = widgets.figure(
            fig,
            "departing",
            alt="Share right of members and rules",
            marks=list(by_name),
            prompt="Departures of",
        )
    with said:
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
    frame = found.to_frame()[list(COLUMNS)].rename(columns=COLUMNS)
    widgets.table(frame.dropna(axis=1, how="all"), "ensembles", alt="Members, rules and fusers")
    if chosen and by_name[chosen].differs:
        behind = by_name[chosen].departures[: widgets.VOTES_SHOWN]
        widgets.votes_table(Mark(comparisons=tuple(behind.tolist())), name="departing")


def without_frame(found: EnsembleTable, rule: str) -> pd.DataFrame:
    """Change of a rule's accuracy when each member leaves, as the figure draws it."""
    members = [score.name for score in found.scores.values() if score.kind == "member"]
    gaps = zip(members, found.without[found.rules.index(rule)], strict=True)
    rows = [(name, gap.n, gap.value, gap.low, gap.high) for name, gap in gaps if gap is not None]
    return pd.DataFrame(rows, columns=["without", "n", "change of share right", "low", "high"])


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
    widgets.table(without_frame(found, rule), "without", alt="Change of accuracy without each member")


widgets.title("Ensembles", "Is a jury better than its best judge?")
said = st.container()
asked = ask()
jury, found = cached.computed("jury", asked.key, lambda: judged(asked))
with said:
    widgets.answer(*answer(found))
    left = f" {found.left_out:,} comparisons that not all judged are left out." if found.left_out else ""
    st.caption(f"{found.n:,} comparisons. {KINDS[jury.kind]}{left}")
on_rules, on_without = st.tabs(["Rules", "Without one judge"], key="jury-tab", bind=widgets.URL)
with on_rules:
    if on_rules.open:
        rules_tab(found)
with on_without:
    if on_without.open:
        without_tab(found)
for key, reason in found.not_applicable.items():
    widgets.not_applicable(f"{RULES[key].name if key in RULES else key}: {reason}")
widgets.copy_as_python(
    f"""counts, votes = queries.vote_counts(store, selection), queries.single_votes(store, selection)
jury = ensemble_members({{name: counts[name] for name in {asked.jury!r}}}, votes)
fusers = {{name: fuser_verdicts(jury, counts[name], votes[name]) for name in {asked.fusers!r}}}
costs = queries.costs(store, selection)
found = compare_ensembles(jury, rng=default_rng(0), fusers=fusers, costs=costs, epsilon={asked.epsilon})
print(found.to_frame())"""
)
