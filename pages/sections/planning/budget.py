"""How many votes does a comparison need? The vote-budget planner, on held-out votes and for votes
to come.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.finding.wording import SAYS
from core.questions.planning.budget import TOLERANCE, BudgetPlan, BudgetTrial, learn, plan, trial
from core.questions.planning.figure import budget_figure
from core.questions.planning.words import budget_answer, outlook
from pages.sections.planning.sweeps import PageState
from pages.shared import cached, numbers, widgets

CURVE = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02)
TRIAL = {
    "name": "rule",
    "votes": "votes",
    "saved": "saved",
    "mae": "MAE",
    "added": "added error",
    "added_low": "low",
    "added_high": "high",
    "expected_votes": "expected votes",
    "expected_mae": "expected MAE",
    "n": "n",
}
STOPS = {
    "plus": "A",
    "tie": "tie",
    "minus": "B",
    "label": "label",
    "reached": "stops here",
    "risk": "expected error",
}


def budget_tab(state: PageState) -> None:
    """What stopping early saves, measured and ahead."""
    judge, counts = state.judge, state.counts[state.judge]
    both = cached.positions(state.selection).get(judge)
    paired = both is not None and bool((both.pairs > 0).mean() >= 0.5)
    answer, controls = st.container(), st.container(horizontal=True)
    tolerance = controls.slider(
        "Added error allowed",
        0.0,
        0.02,
        TOLERANCE,
        0.001,
        format="%.3f",
        key="added",
        bind=widgets.URL,
    )
    step = int(
        widgets.choice(
            "Votes at a time",
            ("1", "2"),
            default="2" if paired else "1",
            key="at_a_time",
            place=controls,
            help="Two: one vote in each order",
        )
    )
    ahead = controls.number_input(
        "Comparisons to come", 1, 10**9, 1_000, key="to_come", bind=widgets.URL
    )
    call = controls.number_input(
        "Cost of a vote", 0.0, None, None, key="vote_cost", placeholder="unknown"
    )
    if int((counts.plus + counts.tie + counts.minus).max()) <= step:
        least = "one vote" if step == 1 else "two votes"
        widgets.not_applicable(
            f"{judge} has no comparison with more than {least}, so none can be saved."
        )
        return
    found, budget = _results(state, tolerance, step)
    with answer:
        widgets.answer(*budget_answer(judge, found, tolerance), part="budget")
        st.text(outlook(budget, ahead, call=call, found=found))
    _drawn(state, found, budget, tolerance)
    widgets.copy_as_python(
        f"""counts = queries.vote_counts(store, selection)[{judge!r}]
found = trial_budget(counts, rng=default_rng(0), tolerances=(0.0, {tolerance!r}), step={step})
print(found.to_frame().to_string())
budget = plan_budget(learn_budget(counts.cells()[0], step={step}), tolerance={tolerance!r})
print(budget.expected_votes, budget.expected_mae, budget.to_frame()[budget.stop].to_string())"""
    )


def _results(state: PageState, tolerance: float, step: int) -> tuple[BudgetTrial, BudgetPlan]:
    """The planner tried on splits, and the plan learned from all labels."""
    counts = state.counts[state.judge]
    tolerances = tuple(sorted({*CURVE, tolerance}))
    found = cached.computed(
        "budget trial",
        (*state.key, tolerances, step),
        lambda: trial(counts, rng=widgets.seeded(), tolerances=tolerances, step=step),
    )
    pilot = cached.computed(
        "pilot", (*state.key, step), lambda: learn(counts.cells()[0], step=step)
    )
    return found, plan(pilot, tolerance=tolerance)


def _drawn(state: PageState, found: BudgetTrial, budget: BudgetPlan, tolerance: float) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        fig = budget_figure(
            found, style=state.style, theme=state.look, chosen=f"planner-{tolerance:g}"
        )
        widgets.figure(fig, "budget", alt="Votes against added error")
        widgets.how_to_read(
            "After each vote the planner weighs the error that further votes can be expected to "
            "save against their number, and stops where it no longer pays. It learns how votes "
            f"fall, and what gold then is, from a calibration part of {found.calibration:.0f} "
            "comparisons that keep all their votes; the figure shows the others, mean over random "
            "splits and exactly over the orders of a comparison's votes. *Added error* is the MAE "
            "above that of BTD on all votes; bars are intervals by item. The rightmost mark of the "
            "planner gives the same labels as all votes. Hollow squares: the same number of votes "
            "on every comparison. Crosses: stop if the first 2, 3 or 4 votes agree, else use all."
        )
    with right:
        st.caption("When to stop, and the label then")
        frame = budget.to_frame().assign(label=pd.Series(budget.decision).map(SAYS))
        stops = frame[budget.stop & (budget.reached > 1e-9)].sort_values("reached", ascending=False)
        numbers.table(stops, "stops", alt="Votes after which to stop", heads=STOPS)
    rules = (
        found.to_frame().astype({"expected_votes": float, "expected_mae": float}).assign(n=found.n)
    )
    numbers.table(rules, "budget", alt="Votes and error of each rule", heads=TRIAL)
