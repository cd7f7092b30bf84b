"""Planning in sentences: are votes and labels enough, do labels carry over, who does better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ...finding.answer import Answer, in_words, line, measured
from ...finding.tables import Column
from ...finding.wording import count, ends, minus, number, percent, signed, signed_ends, span
from ...stats.estimate import Estimate
from ...stats.intervals import bonferroni_interval
from ..agreement.repeats import EffectiveVotes
from ..labels.rules import RULES
from .budget import BudgetPlan, BudgetTrial, TrialRow
from .comparison import Comparison, PairedDifference, ParameterGrid
from .parameter_transfer import Transfer, TransferPrediction
from .sweeps import Sweep

SIGNIFICANT = 0.05
REGIMES = ("high correction", "mismatched", "low correction")


ERROR_NEAR = 0.01
"""A mean absolute error (0 to 2) within this of another serves as well."""


def enough_votes(found: Sweep, rule: str = "btd") -> int:
    """Fewest votes from which on the error is shown to be within ERROR_NEAR of that at the most
    votes.

    Shown: by the upper end of the interval by item of the paired difference.
    """
    # Written so that an unknown end counts as far.
    far = ~(found.more.high[:, found.methods.index(rule)] <= ERROR_NEAR)
    return (
        int(found.sizes[len(far) - int(np.argmax(far[::-1]))]) if far.any() else int(found.sizes[0])
    )


def votes_answer(judge: str, found: Sweep, rule: str = "btd") -> str:
    """Whether fewer votes per comparison would do, and what they would cost in error."""
    column, name = found.methods.index(rule), RULES[rule].name
    most, enough = int(found.sizes[-1]), enough_votes(found, rule)
    on = f"on {found.n:,} labelled comparisons"
    if RULES[rule].fitted:
        on += f" (intervals leave out which {found.calibration:,.0f} calibrate)"
    if len(found.sizes) == 1:
        return (
            f"{judge}: only {count(most, 'vote')} per comparison {'was' if most == 1 else 'were'} "
            "tried, "
            f"so nothing is known of other numbers: {name} errs {_error(found, -1, column)}, {on}."
        )
    whole = f"{_error(found, -1, column)} with all {most}"
    if enough < most:
        place = found.sizes.tolist().index(enough)
        sentence = (
            f"{judge}: {count(enough, 'vote')} per comparison {'does' if enough == 1 else 'do'} "
            f"nearly as well as {most}: {name} errs {whole} and {_more(found, place, column)} with "
            f"{enough}, {on}."
        )
        first = f" With {found.sizes[0]} it errs {_more(found, 0, column)}."
        return sentence if place == 0 else sentence + first
    before = f"with {found.sizes[-2]} it errs {_more(found, -2, column)}"
    few = (
        ""
        if len(found.sizes) == 2
        else f", with {found.sizes[0]} it errs {_more(found, 0, column)}"
    )
    verdict = (
        f"more votes pay up to all {most}"
        if found.more.low[-2, column] > 0
        else f"whether fewer than {most} votes would do is not known"
    )
    return f"{judge}: {verdict}: {name} errs {whole}, {before}{few}, {on}."


def worth_answer(judge: str, found: EffectiveVotes) -> Answer:
    """How many independent votes the repeated ones are worth, and what their majority errs."""
    worth, first, last = found.effective, found.errors[0], found.errors[-1]
    independent = worth.high >= found.votes
    why = "which may be chance" if independent else "as they err together"
    return Answer(
        headline=f"The {in_words(found.votes)} votes of {judge} are worth "
        f"{number(worth.value, '.1f')} independent ones, {why}.",
        figures=line(
            [
                f"worth {measured(worth, 1)}",
                f"majority on the wrong side, ties tossed, {percent(first.observed.value, 1)} with "
                f"1 vote, {percent(last.observed.value, 1)} with {last.n}",
                found.votes == 2 and "with two votes BTD rarely errs less than the majority",
                count(worth.n, "item"),
            ]
        ),
        good=independent,
    )


EFFECTIVE = (
    Column("votes", "n", "d"),
    Column("wrong side, predicted", "predicted"),
    Column("wrong side, seen", "observed", ends=("low", "high")),
)
"""A row per number of votes (`ErrorWith`)."""


def plan_answer(judge: str, found: Sweep, rule: str = "btd") -> Answer:
    """Whether fewer votes per comparison would do."""
    column = found.methods.index(rule)
    most, enough = int(found.sizes[-1]), enough_votes(found, rule)
    good = enough < most
    if good:
        votes = "vote" if enough == 1 else "votes"
        headline = (
            f"{in_words(enough).capitalize()} {votes} per comparison "
            f"{'is' if enough == 1 else 'are'} nearly as good as {in_words(most)} for {judge}."
        )
    elif len(found.sizes) == 1:
        headline = f"One number of votes was tried for {judge}, so nothing is known of fewer."
    elif found.more.low[-2, column] > 0:
        headline = f"More votes per comparison pay for {judge} up to all {in_words(most)}."
    else:
        headline = f"Whether fewer than {in_words(most)} votes would do for {judge} is open."
    parts = [f"error {measured(found.mae_item[len(found.sizes) - 1, column], 3)} with {most}"]
    for size in dict.fromkeys((enough, int(found.sizes[0]))):
        if size < most:
            place = found.sizes.tolist().index(size)
            parts.append(f"{signed(float(found.more.value[place, column]), 3)} with {size}")
    if "majority" in found.methods:
        majority = found.mae.value[-1, found.methods.index("majority")]
        parts.append(f"majority {majority:.3f}")
    parts.append(f"{found.n:,} labelled comparisons")
    return Answer(headline=headline, figures=line(parts), good=good)


def enough_labels(found: Sweep, rule: str = "btd") -> int | None:
    """Fewest labels that bring a rule within ERROR_NEAR of BTD fitted on every label, and keep it
    there.
    """
    far = found.mae.value[:, found.methods.index(rule)] - found.mae_all_labels > ERROR_NEAR
    if far[-1]:
        return None
    return (
        int(found.sizes[len(far) - int(np.argmax(far[::-1]))]) if far.any() else int(found.sizes[0])
    )


def enough_answer(judge: str, found: Sweep, rule: str = "btd") -> Answer:
    """Whether more labels to calibrate on would change little."""
    column, name = found.methods.index(rule), RULES[rule].name
    enough, last = enough_labels(found, rule), int(found.sizes[-1])
    headline = (
        f"Even {last:,} labels are too few to calibrate {name} for {judge}."
        if enough is None
        else f"{enough:,} labels calibrate {name} for {judge} nearly as well as all {found.n:,}."
    )
    place = len(found.sizes) - 1 if enough is None else found.sizes.tolist().index(enough)
    parts = [
        f"error {measured(found.mae_item[place, column], 3)} with {int(found.sizes[place]):,}",
        f"{float(found.mae_all_labels[-1]):.3f} with all",
    ]
    if "majority" in found.methods:
        majority = float(found.mae.value[0, found.methods.index("majority")])
        parts.append(f"majority {majority:.3f}")
    parts.append(f"{found.n:,} labelled comparisons")
    return Answer(headline=headline, figures=line(parts), good=enough is not None)


def labels_answer(judge: str, found: Sweep, rule: str = "btd") -> str:
    """How many labels calibration needs before more of them change little."""
    column, name = found.methods.index(rule), RULES[rule].name
    enough, everything = enough_labels(found, rule), float(found.mae_all_labels[-1])
    first, last = int(found.sizes[0]), int(found.sizes[-1])
    if enough is None:
        sentence = (
            f"{judge}: even {last:,} labelled comparisons leave {name} "
            f"{found.mae.value[-1, column] - everything:.3f} above its error with all {found.n:,} "
            f"labels: {_over_splits(found, -1, column)} against {everything:.3f}."
        )
    else:
        place = found.sizes.tolist().index(enough)
        sentence = (
            f"{judge}: {enough:,} labelled comparisons bring {name} within {ERROR_NEAR:g} of its "
            f"error with all {found.n:,} labels: {_over_splits(found, place, column)} against "
            f"{everything:.3f}."
        )
    parts = (
        []
        if enough == first or first == last
        else [f"With {first} it errs {_over_splits(found, 0, column)}"]
    )
    if "majority" in found.methods:
        error = float(found.mae.value[0, found.methods.index("majority")])
        never = (
            f", and {name} with labels never less"
            if found.mae.value[:, column].min() >= error
            else ""
        )
        parts.append(
            f"{'m' if parts else 'M'}ajority, which needs no labels, errs {error:.3f}{never}"
        )
    return f"{sentence} {'; '.join(parts)}." if parts else sentence


def transfer_answer(found: Transfer, between: str) -> str:
    """In how many pairs of tasks a fit on one is not shown to cost more on the other, and the worst
    shown.
    """
    # All pairs are tested at once.
    worse, better = found.change.low > 0, found.change.high < 0
    k = len(found.tasks)
    pairs = k * (k - 1)
    sentence = (
        f"In {pairs - int(worse.sum())} of {pairs} pairs of {between} a transferred fit is not "
        "shown to cost "
        "more: on the one, BTD fitted on the other is not shown to err more than its own fit"
    )
    if better.any():
        sentence += f", and in {int(better.sum())} it errs less"
    if not worse.any():
        return f"{sentence}."
    row, column = np.unravel_index(
        int(np.where(worse, found.change.value, -np.inf).argmax()), (k, k)
    )
    worst = found.change[int(row), int(column)]
    larger = int((~worse & (found.change.value > worst.value)).sum())
    chance = ""
    if larger:
        pairs_rise = "1 pair rises" if larger == 1 else f"{larger} pairs rise"
        chance = f" {pairs_rise} by more, but not shown beyond chance."
    return (
        f"{sentence}. Worst shown: fitted on {found.tasks[row]}, the error on "
        f"{found.tasks[column]} rises by "
        f"{worst.value:.3f} ({ends(worst)}) from {found.mae[column, column]:.3f}.{chance}"
    )


def prediction_answer(found: TransferPrediction) -> str:
    """Whether the distance of votes and labels predicts the loss and the matrix."""
    kind = found.kinds.index("joint")
    parts = []
    for target, words in (
        ("drps", "the loss of fits on all labels (DRPS)"),
        ("mae", "the matrix above (MAE)"),
    ):
        place = found.targets.index(target)
        rho, p = found.rho[place, kind], found.p_value[place, kind]
        if np.isnan(rho):
            parts.append(
                f"is not known to go with {words}: unknown, all distances or changes are alike"
            )
            continue
        verb = "goes with" if p <= SIGNIFICANT and rho > 0 else "is not shown to go with"
        error, constant = found.error[place, kind], found.constant_error[place, kind]
        parts.append(
            f"{verb} {words}: ρ {rho:.2f}, {_p(float(p))}, off by {error:.4f} on a task left out, "
            f"where the mean of the others is off by {constant:.4f}"
        )
    return (
        f"How far tasks lie apart in votes and gold {'; it '.join(parts)} ({found.n_tasks} tasks)."
    )


def comparison_answer(found: Comparison, column: str, rule: str = "btd") -> str:
    """Which value of a column errs least, and whether it is shown to differ from the baseline.

    The value named is the best of several: its interval is widened for the number of values
    compared with the baseline (Bonferroni by the ratio of t quantiles; ours), as are those counted
    as shown to err more.
    """
    scored = {
        name: one.evaluation.scores[rule]
        for name, one in found.values.items()
        if one.evaluation is not None
    }
    name = RULES[rule].name
    if not scored:
        who = "No judge" if column == "judge" else f"No value of {column}"
        return f"{who} has labels enough to know its error; the tie rates are beside."
    best = min(scored, key=lambda value: scored[value].mae)
    score = scored[best]
    least = f"{best} errs least of {len(scored)} under {name}"
    sentence = (
        f"{least if len(scored) > 1 else f'Only {best} has labels enough; under {name} it errs'}: "
        f"{score.mae:.3f} ({span(score.mae_item_low, score.mae_item_high)})."
    )
    known = [
        (one, one.delta) for one in found.differences if one.rule == rule and one.delta is not None
    ]
    paired = {
        one: bonferroni_interval(delta, len(known), df=max(one.n_items - 1, 1))
        for one, delta in known
    }
    if best == found.baseline:
        return f"{sentence} {_against_others(found.baseline, paired)}"
    own = next((one for one in paired if one.candidate == best), None)
    if own is None:
        return f"{sentence} It shares too few labels with {found.baseline}."
    return f"{sentence} {_against(own, paired[own])}"


def parameters_answer(found: ParameterGrid) -> str:
    """How many groups need much or little correction towards ties, and whether that is one and the
    same.
    """
    if not found.tables:
        return (
            "No task has labels enough to fit BTD; it needs 20 to calibrate "
            "on and others to evaluate on."
        )
    names: Mapping[str, list[str]] = {
        regime: [
            f"{task}, {judge}"
            for (task, judge), one in found.tables.items()
            if one.regime == regime
        ]
        for regime in REGIMES
    }
    counted = [
        f"{regime.removesuffix(' correction')} in {len(groups)}"
        for regime, groups in names.items()
        if groups
    ]
    nu = [float(table.mean[1]) for table in found.tables.values()]
    between = " to ".join(dict.fromkeys(_nu(value) for value in (min(nu), max(nu))))
    groups = "group" if len(nu) == 1 else "groups"
    sentence = counted[0] if len(counted) == 1 else f"{', '.join(counted[:-1])} and {counted[-1]}"
    end = "." if len(counted) == 1 else ": the parameters of one are no guide to another."
    return (
        f"BTD's correction towards ties is {sentence} of {len(found.tables)} "
        f"{groups} (mean ν {between}){end}"
    )


def _error(found: Sweep, place: int, column: int) -> str:
    error = found.mae_item[place, column]
    return f"{error.value:.3f} ({ends(error)})"


def _over_splits(found: Sweep, place: int, column: int) -> str:
    error = found.mae[place, column]
    return f"{error.value:.3f} ({error.low:.3f} to {error.high:.3f} over splits)"


def _more(found: Sweep, place: int, column: int) -> str:
    change = found.more[place, column]
    more, low, high = change.value, change.low, change.high
    if low >= 0 or more > -0.0005:
        more, low, high = (round(value, 3) + 0.0 for value in (more, low, high))
        return f"{more:.3f} more ({minus(span(low, high))})"
    return f"{-more:.3f} less ({minus(span(-high, -low))})"


def _nu(nu: float) -> str:
    return f"{nu:,.0f}" if nu >= 100 else f"{nu:.1f}" if nu >= 1 else f"{nu:.2g}"


def _p(value: float) -> str:
    return "p < .001" if value < 0.001 else f"p = {value:.3g}"


def _against(one: PairedDifference, delta: Estimate) -> str:
    on = f"on the {one.n:,} labelled comparisons that both have"
    if delta.high < 0:
        return (
            f"That is {-delta.value:.3f} less ({span(-delta.high, -delta.low)}) "
            f"than {one.baseline} {on}."
        )
    if delta.low > 0:
        more = f"{delta.value:.3f} more ({ends(delta)})"
        return f"But {on} it errs {more} than {one.baseline}: its lead comes from the others."
    difference = f"{signed(delta.value, 3)}, {signed_ends(delta, 3)}"
    return f"It is not shown to differ from {one.baseline} (difference {difference}) {on}."


def _against_others(baseline: str, paired: Mapping[PairedDifference, Estimate]) -> str:
    worse = [one for one, delta in paired.items() if delta.low > 0]
    if not paired:
        return f"No other value shares labels enough with {baseline}."
    if not worse:
        none = "The other is not" if len(paired) == 1 else f"Of {len(paired)} others none is"
        return f"{none} shown to err more on the labelled comparisons they share."
    one = min(worse, key=lambda each: paired[each].value)
    who = (
        f"{len(worse)} of {len(paired)} others are shown to err more, the nearest of them, "
        f"{one.candidate},"
        if len(worse) > 1
        else f"1 of {len(paired)} others, {one.candidate}, is shown to err more,"
        if len(paired) > 1
        else f"The other, {one.candidate}, is shown to err more,"
    )
    return f"{who} by {paired[one].value:.3f} ({ends(paired[one])}, n {one.n:,})."


SIMPLER = ("btd-", "majority-", "posterior-", "unanimous-")
"""Rules that need no planner: so many votes always, or on unless the first few agree."""


def budget_answer(
    judge: str, found: BudgetTrial, tolerance: float
) -> tuple[str, Literal["finding", "warning"]]:
    """What is saved, and what is against it: an allowance not kept to, a simpler rule."""
    sentence = saving(judge, found, tolerance)
    if found.votes == found.step:
        return sentence, "finding"
    exceeded, simple = not_kept(found, tolerance), simpler(found, tolerance)
    parts = [part for part in (sentence, exceeded, simple) if part is not None]
    return " ".join(parts), "warning" if exceeded or simple else "finding"


def not_kept(found: BudgetTrial, tolerance: float) -> str | None:
    """That the whole interval of the added error lies above the allowance, and which planner stays
    below.
    """
    if not tolerance or not found.rows[f"planner-{tolerance:g}"].added.low > tolerance:
        return None
    below = [
        row
        for key, row in found.rows.items()
        if key.startswith("planner-") and row.added.high <= tolerance and row.votes < found.votes
    ]
    sentence = f"So it does not keep to {tolerance:g}."
    if not below:
        return f"{sentence} No planner tried is shown to."
    one = min(below, key=lambda row: row.votes)
    return (
        f"{sentence} Shown to keep to it: {one.name[0].lower()}{one.name[1:]}, at {one.votes:.1f} "
        f"votes ({percent(one.saved)} saved; it measured {signed(one.added.value, 4)}, "
        f"{signed_ends(one.added, 4)})."
    )


def simpler(found: BudgetTrial, tolerance: float) -> str | None:
    """The rule without a planner that asks no more votes than the planner and errs no more, if
    there is one.

    Of several the one with the fewest votes. Both are means over the same comparisons; that the
    rule errs less is not tested, as asking less and planning nothing needs no lower error.
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
            f"A simpler rule ({one.name}) has no higher error with no more votes: it uses "
            f"{one.votes:.2f} where the planner uses {chosen.votes:.2f}, and adds "
            f"{signed(one.added.value, 4)} ({signed_ends(one.added, 4)}) to the error where the "
            f"planner adds {signed(chosen.added.value, 4)}."
        )
    if every.added.high < 0:
        parts.append(
            f"The plain majority of all {found.votes} votes errs {-every.added.value:.4f} less "
            f"than BTD on them ({span(-every.added.high, -every.added.low, '.4f')})."
        )
    return " ".join(parts) or None


def saving(judge: str, found: BudgetTrial, tolerance: float) -> str:
    """How many votes held-out comparisons needed, at the same labels and at up to `tolerance` more
    error.

    Both planners must be among the rows of the trial.
    """
    same, chosen = found.rows["planner-0"], found.rows[f"planner-{tolerance:g}"]
    if found.votes == found.step:
        at_once = count(found.votes, "vote")
        return (
            f"{judge}: a comparison has only {at_once}, all asked at once, so no vote can be saved."
        )
    how = "vote by vote" if found.step == 1 else f"{found.step} votes at a time"
    sentence = (
        f"{judge}: asked {how}, {same.votes:.1f} of {found.votes} votes per comparison give the "
        f"same labels as all {found.votes} ({percent(same.saved)} saved)."
    )
    if tolerance:
        sentence += (
            f" With up to {tolerance:g} more error allowed {chosen.votes:.1f} do "
            f"({percent(chosen.saved)} saved), and the error {_measured(chosen)} on held-out "
            f"comparisons ({signed_ends(chosen.added, 4)}, n {found.n:,}; it leaves out which "
            f"{found.calibration:,.0f} of them the planner learned from)."
        )
    return sentence


def outlook(
    budget: BudgetPlan,
    comparisons: int,
    *,
    call: float | None = None,
    found: BudgetTrial | None = None,
) -> str:
    """What labelling so many more comparisons takes under a plan, beside all votes; call : cost of
    a vote.

    found : a trial shown beside it, whose numbers differ; the sentence says why.
    """
    planned, everything = comparisons * budget.expected_votes, comparisons * budget.votes
    sentence = (
        f"For {count(comparisons, 'more comparison')} expect "
        f"{count(round(planned), 'vote')} instead of {everything:,}, and a "
        f"mean error of {budget.expected_mae:.3f} instead of {budget.fixed_mae:.3f}."
    )
    if call is not None:
        sentence += (
            f" At {call:g} a vote that costs {planned * call:,.2f} instead "
            f"of {everything * call:,.2f}."
        )
    if found is not None:
        sentence += (
            f" So a plan learned from all {budget.n_comparisons:,} comparisons with "
            f"{count(budget.votes, 'vote')} expects of itself. The rules tried learn from "
            f"{found.calibration:,.0f} each and are measured on the others, so their votes and "
            "errors differ."
        )
    return sentence


def _measured(row: TrialRow) -> str:
    added = row.added.value
    if abs(added) < 5e-5:
        return "stayed the same"
    return f"{'rose' if added > 0 else 'fell'} by {abs(added):.4f}"
