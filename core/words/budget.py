"""What the vote-budget planner saves, in plain words."""

from __future__ import annotations

from core.experiments.budget import BudgetPlan
from core.experiments.budget_trial import BudgetTrial, TrialRow
from core.words.spans import span
from core.words.verdicts import percent


def saving(judge: str, found: BudgetTrial, tolerance: float) -> str:
    """How many votes held-out comparisons needed, at the same labels and at up to `tolerance` more error.

    Both planners must be among the rows of the trial.
    """
    same, chosen = found.rows["planner-0"], found.rows[f"planner-{tolerance:g}"]
    if found.votes == found.step:
        asked = f"{found.votes} {_plural('vote', found.votes)}"
        return f"{judge}: a comparison has only {asked}, all asked at once, so no vote can be saved."
    how = "vote by vote" if found.step == 1 else f"{found.step} votes at a time"
    sentence = (
        f"{judge}: asked {how}, {same.votes:.1f} of {found.votes} votes a comparison give the same "
        f"labels as all {found.votes} ({percent(same.saved)} saved)."
    )
    if tolerance:
        sentence += (
            f" With up to {tolerance:g} more error allowed {chosen.votes:.1f} do ({percent(chosen.saved)} "
            f"saved), and the error {_measured(chosen)} on held-out comparisons "
            f"({span(chosen.added_low, chosen.added_high, '+.4f')}, n {found.n:,}; it leaves out which "
            f"{found.calibration:.0f} of them the planner learned from)."
        )
    return sentence


def outlook(budget: BudgetPlan, comparisons: int, *, call: float | None = None) -> str:
    """What labelling so many more comparisons takes under a plan, beside all votes; call : cost of a vote."""
    asked, everything = comparisons * budget.expected_votes, comparisons * budget.votes
    sentence = (
        f"For {comparisons:,} more {_plural('comparison', comparisons)} expect {asked:,.0f} "
        f"{_plural('vote', round(asked))} instead of {everything:,}, and a "
        f"mean error of {budget.expected_mae:.3f} instead of {budget.fixed_mae:.3f}."
    )
    if call is not None:
        sentence += f" At {call:g} a vote that costs {asked * call:,.2f} instead of {everything * call:,.2f}."
    return sentence


def _plural(noun: str, n: int) -> str:
    return noun if n == 1 else f"{noun}s"


def _measured(row: TrialRow) -> str:
    if abs(row.added) < 5e-5:
        return "stayed the same"
    return f"{'rose' if row.added > 0 else 'fell'} by {abs(row.added):.4f}"
