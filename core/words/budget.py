"""What the vote-budget planner saves, in plain words."""

from __future__ import annotations

from typing import Literal

from core.experiments.budget import BudgetPlan
from core.experiments.budget_trial import BudgetTrial, TrialRow
from core.words.signed import signed, signed_span
from core.words.spans import span
from core.words.verdicts import percent

SIMPLER = ("btd-", "majority-", "posterior-", "unanimous-")
"""Rules that need no planner: so many votes always, or on unless the first few agree."""


def answer(judge: str, found: BudgetTrial, tolerance: float) -> tuple[str, Literal["finding", "warning"]]:
    """What is saved, and what speaks against it: an allowance not kept to, a simpler rule."""
    said = saving(judge, found, tolerance)
    if found.votes == found.step:
        return said, "finding"
    exceeded, simple = not_kept(found, tolerance), simpler(found, tolerance)
    parts = [part for part in (said, exceeded, simple) if part is not None]
    return " ".join(parts), "warning" if exceeded or simple else "finding"


def not_kept(found: BudgetTrial, tolerance: float) -> str | None:
    """That the whole interval of the added error lies above the allowance, and which planner stays below."""
    if not tolerance or not found.rows[f"planner-{tolerance:g}"].added_low > tolerance:
        return None
    below = [
        row
        for key, row in found.rows.items()
        if key.startswith("planner-") and row.added_high <= tolerance and row.votes < found.votes
    ]
    said = f"So it does not keep to {tolerance:g}."
    if not below:
        return f"{said} No planner tried is shown to."
    one = min(below, key=lambda row: row.votes)
    return (
        f"{said} Shown to keep to it: {one.name[0].lower()}{one.name[1:]}, at {one.votes:.1f} votes "
        f"({percent(one.saved)} saved; it measured {signed(one.added, 4)}, "
        f"{signed_span(one.added_low, one.added_high, 4)})."
    )


def simpler(found: BudgetTrial, tolerance: float) -> str | None:
    """The rule without a planner that asks no more votes than the planner and errs no more, if there is one.

    Of several the one with the fewest votes. Both are means over the same comparisons; that the rule errs
    less is not tested, as asking less and planning nothing needs no lower error.
    """
    chosen = found.rows[f"planner-{tolerance:g}"]
    # Sums over the orders of votes are exact but for rounding: equal must not pass for better.
    better = [
        row
        for key, row in found.rows.items()
        if key.startswith(SIMPLER)
        and row.votes <= chosen.votes + 1e-9
        and row.mae <= chosen.mae + 1e-9
        and (row.votes < chosen.votes - 1e-9 or row.mae < chosen.mae - 1e-9)
    ]
    every = found.rows[f"majority-{found.votes}"]
    parts = []
    if better:
        one = min(better, key=lambda row: (row.votes, row.mae))
        parts.append(
            f"A simpler rule ({one.name}) does no worse for no more votes: it asks {one.votes:.2f} where the "
            f"planner asks {chosen.votes:.2f}, and adds {signed(one.added, 4)} "
            f"({signed_span(one.added_low, one.added_high, 4)}) to the error where the planner adds "
            f"{signed(chosen.added, 4)}."
        )
    if every.added_high < 0:
        parts.append(
            f"The plain majority of all {found.votes} votes errs {-every.added:.4f} less than BTD on them "
            f"({span(-every.added_high, -every.added_low, '.4f')})."
        )
    return " ".join(parts) or None


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
            f"({signed_span(chosen.added_low, chosen.added_high, 4)}, n {found.n:,}; it leaves out which "
            f"{found.calibration:,.0f} of them the planner learned from)."
        )
    return sentence


def outlook(
    budget: BudgetPlan, comparisons: int, *, call: float | None = None, found: BudgetTrial | None = None
) -> str:
    """What labelling so many more comparisons takes under a plan, beside all votes; call : cost of a vote.

    found : a trial shown beside it, whose numbers differ; the sentence says why.
    """
    asked, everything = comparisons * budget.expected_votes, comparisons * budget.votes
    sentence = (
        f"For {comparisons:,} more {_plural('comparison', comparisons)} expect {asked:,.0f} "
        f"{_plural('vote', round(asked))} instead of {everything:,}, and a "
        f"mean error of {budget.expected_mae:.3f} instead of {budget.fixed_mae:.3f}."
    )
    if call is not None:
        sentence += f" At {call:g} a vote that costs {asked * call:,.2f} instead of {everything * call:,.2f}."
    if found is not None:
        sentence += (
            f" So a plan learned from all {budget.n_comparisons:,} comparisons with {budget.votes} "
            f"{_plural('vote', budget.votes)} expects of itself. The rules tried learn from "
            f"{found.calibration:,.0f} each and are measured on the others, so their votes and errors differ."
        )
    return sentence


def _plural(noun: str, n: int) -> str:
    return noun if n == 1 else f"{noun}s"


def _measured(row: TrialRow) -> str:
    if abs(row.added) < 5e-5:
        return "stayed the same"
    return f"{'rose' if row.added > 0 else 'fell'} by {abs(row.added):.4f}"
