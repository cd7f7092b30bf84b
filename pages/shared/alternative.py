"""May the judge take a person's place? The Alternative Annotator Test, of scores and of votes."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.finding.tables import frame
from core.questions.scores.people import EPSILON, AltTest
from core.questions.scores.words import LEFT_OUT, alternative_answer
from pages.shared import numbers, widgets


def alternative_section(test: Callable[[str], AltTest | None], *, key: str) -> None:
    """ω and ρ in words for the kind of people chosen, and each person left out.

    test : of a kind of people, a key of `EPSILON`; None where there are not two people.
    """
    st.subheader("In a person's place?", anchor=False)
    kind = widgets.choice(
        "The people are",
        list(EPSILON),
        key=f"{key}-people",
        help="What a person's care is worth in the test: ε "
        + ", ".join(f"{epsilon:g} for {name}" for name, epsilon in EPSILON.items()),
    )
    found = test(kind)
    if found is None:
        widgets.not_applicable("it needs two people or more beside a judge.")
        return
    widgets.answer(alternative_answer(found), part=f"-{key}-place")
    widgets.how_to_read(
        "The Alternative Annotator Test (Calderon, Reichart and Dror, 2025) leaves each person out "
        "in turn and asks whether the judge is nearer to the others. ω is the share of people whom "
        "it beats, given that a person costs ε more; ρ how often it is at least as near. It passes "
        "at ω ≥ ½ and says little with fewer than three people. It grades no size, so no verdict "
        "here rests on it."
    )
    if found.people:
        numbers.table(frame(LEFT_OUT, found.people), f"{key}-left-out", alt="Each person left out")
