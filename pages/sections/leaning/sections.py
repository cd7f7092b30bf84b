"""Whether the longer response wins, and what changes of the items do."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.finding.tables import Column, frame_of
from core.questions.leaning.results import ALL_CHANGES, LENGTH
from core.questions.leaning.words import LENGTHS, verbosity
from pages.shared import cached, evidence, numbers, widgets
from pages.shared.limits import current_options

CHANGES = (
    Column("flips by it", "effect", "+.3f"),
    Column("verdicts that differ", "flips"),
    Column("items", "n_items", ",d"),
)
"""A row per change that one judge saw."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The chosen judge, and all of them."""

    judge: str
    judges: tuple[str, ...]


def read_controls() -> PageState:
    """Draw the control: the judge, first the model that goes most by length beyond what gold does,
    or by length where there is no gold.
    """
    selection = widgets.current_selection()
    kinds = cached.raters(widgets.current_dataset())
    of_all = evidence.counted(selection, current_options())

    def place(name: str) -> tuple[bool, bool, float, str]:
        found = of_all.of(name)[LENGTH]
        gold = found.beyond_gold if found else None
        beyond = gold.value if gold else found.longer_rate.value - 0.5 if found else 0.0
        return kinds[name] == "human", found is None, -abs(beyond), name

    judges = tuple(sorted(cached.vote_counts(selection), key=place))
    return PageState(judge=widgets.judge(judges, start=judges[0]), judges=judges)


def length_section(state: PageState) -> None:
    """One judge in words, all in the table."""
    st.subheader("Does the longer response win?", anchor=False)
    options = current_options()
    of_all = evidence.counted(state.selection, options)
    lengths = {name: of_all.of(name)[LENGTH] for name in state.judges}
    measured = {name: length for name, length in lengths.items() if length is not None}
    if not measured:
        widgets.not_applicable("no vote has the lengths or the texts of both responses.")
        return
    st.text(verbosity(state.judge, measured.get(state.judge)))
    (result,) = evidence.results(state.selection, options, state.judge, ["length"])
    st.text(result.sentence)
    numbers.table(
        frame_of(LENGTHS, measured), "verbosity", alt="Preference for the longer response"
    )
    widgets.how_to_read(
        "Prefers longer: share of decided votes that went to the longer response. Longer "
        "responses are often "
        "better, so it is compared with how often gold prefers the longer one on the same "
        "comparisons. The "
        "table's *beyond gold* gives items where gold "
        "prefers the "
        "longer response as much weight as those where it prefers the shorter one: otherwise a "
        "judge that "
        "merely errs seems to prefer what gold rejects. It is fine if its whole interval is "
        "within caution "
        "(±10 points), a warning if the interval leaves out 0, and a failure if all of it is "
        "beyond ±20."
    )


def robustness_section(state: PageState) -> None:
    """What changes of the items do to one judge; nothing where no judge saw any."""
    options = current_options()
    of_all = evidence.counted(state.selection, options)
    if not of_all[ALL_CHANGES]:
        widgets.not_applicable("no comparison was judged with a change, too (a column `variant`).")
        return
    st.subheader("Do changes that should not matter move it?", anchor=False)
    mine = of_all[ALL_CHANGES].get(state.judge, ())
    (result,) = evidence.results(state.selection, options, state.judge, ["robustness"])
    st.text(result.sentence)
    if not mine:
        return
    numbers.table(
        frame_of(CHANGES, {one.name: one for one in mine}, heading="change"),
        "robustness",
        alt="What each change does",
    )
    widgets.how_to_read(
        "The same comparisons were judged as they are and with a change. Flips by it: how much "
        "more often "
        "the changed response is preferred, a tie counting half; of a change of both sides, how "
        "many more "
        "verdicts change than on a repeat. Noise flips both ways alike and adds nothing. Of an "
        "attack only a "
        "gain is a fault."
    )
