"""Which rule should turn the votes of a judge into labels, and whether priors, order or confidence
help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import Literal

import numpy as np

from ...finding.answer import Answer, line, measured
from ...finding.check import CheckResult, Grade
from ...finding.tables import TEXT, Column
from ...finding.wording import minus, number, percent, signed, signed_ends, span
from ...stats.estimate import Estimate, Estimates
from ...stats.splits import HeldOutScores
from ..order.method import PositionBias
from ..planning.grid import MAJORITY, Grid, GridCell, cell_mae
from .btd import Bounds, BTDFit
from .confidence_weights import ConfidenceWeighted
from .evaluation import SIGNIFICANCE, Evaluation, MethodScore, PairedChange, ShrinkageGain
from .ordinal_model import Ordinal
from .position_aware_btd import PositionAware
from .prior_check import FEWEST_TASKS
from .rules import RULES
from .shrinkage import CandidatePrior

POSITION_SIGNIFICANCE = 0.05

FEW_VOTES = {
    1: " With one vote per comparison a rule can only keep it or call a tie, and BTD rarely gains "
    "(RewardBench 2: in 5 of 15 cells).",
    2: " With two votes per comparison BTD rarely gains (RewardBench 2: in 3 of 15 cells).",
}
"""docs/results.md has the figures."""


def grid_columns(grid: Grid) -> tuple[Column, ...]:
    """A row per `GridCell`: MAE of every rule that some cell has, then BTD on all labels."""

    def best(cell: GridCell) -> str:
        return ", ".join(score.name for score in cell.scores if score.top_cluster)

    keys = dict.fromkeys(score.key for cell in grid.cells for score in cell.scores)
    return (
        Column("task", "task", TEXT),
        Column("judge", "judge", TEXT),
        Column("votes", lambda cell: "all" if cell.votes is None else str(cell.votes), TEXT),
        Column("n", "n", ",d"),
        *(Column(RULES[key].name, partial(cell_mae, key=key), ends_last=True) for key in keys),
        Column("majority − BTD", "gain", "+.3f"),
        Column("BTD, all labels", "mae_all_labels"),
        Column("not told from the best", best, TEXT),
    )


def grid_answer(grid: Grid) -> Answer:
    """Which rule is most often not told from the best, and how often the majority is."""
    whole = [cell for cell in grid.cells if cell.votes is None]
    best: dict[str, int] = {}
    for cell in whole:
        for score in cell.scores:
            if score.top_cluster and not score.dummy:
                best[score.key] = best.get(score.key, 0) + 1
    if not best:
        return Answer(headline="No rule is shown to be among the best anywhere.", good=False)
    (first, n), *others = sorted(best.items(), key=lambda row: (-row[1], row[0]))
    headline = f"{RULES[first].name} is among the best in {n} of {len(whole)} tasks and judges"
    if first != MAJORITY:
        headline += f", the majority in {best.get(MAJORITY, 0)}"
    named = [f"{RULES[key].name} {n}" for key, n in ((first, n), *others[:4])]
    gains = [cell.gain for cell in whole if cell.gain is not None]
    lower = f"BTD errs less than the majority in {sum(gain > 0 for gain in gains)} of {len(gains)}"
    return Answer(
        headline=f"{headline}.",
        figures=line([f"not told from the best: {', '.join(named)}", lower if gains else ""]),
        good=MAJORITY in best and best[MAJORITY] == len(whole),
    )


def recommend(judge: str, value: Evaluation, *, most_votes: int) -> CheckResult:
    """Say which rule errs least, whether majority would do, and what is not distinguished from the
    best.

    `ok`: majority is in the top cluster, or a paired test does not tell it from the best rule, so
    nothing is to be changed. `warn`: another rule is better. `fail`: a dummy is in the top cluster,
    so no rule is shown to beat labels without any vote. `unknown`: an evaluation without resamples,
    which knows no cluster. Ours.
    most_votes : most votes that a comparison has; with one there is nothing to aggregate.
    """
    scores = list(value.scores.values())
    best, majority = scores[0], value.scores["majority"]
    calibration = (
        "0 is always right, 2 always the opposite; "
        f"n {value.n:,} labelled comparisons, {value.calibration:,.0f} of them to calibrate on"
    )

    few_votes = FEW_VOTES.get(most_votes, "")

    def result(grade: Grade, sentence: str) -> CheckResult:
        return CheckResult(
            judge=judge, check="aggregation", grade=grade, sentence=sentence + few_votes
        )

    if best.top_cluster is None:
        against = "" if best is majority else f" against majority's {majority.mae:.3f}"
        return result("unknown", f"{best.name} errs least: average error {best.mae:.3f}{against}.")
    top = [score for score in scores if score.top_cluster]
    dummies = [score for score in top if score.dummy]
    if dummies:
        if best.dummy:
            found = f"{best.name} labels, without any vote, err least: average error {_error(best)}"
            found += f", majority's is {_error(majority)}"
        else:
            found = f"{best.name} has an average error of {_error(best)}"
            found += "".join(f", {score.name.lower()} labels {score.mae:.3f}" for score in dummies)
        return result(
            "fail", f"No rule is shown to beat labels without any vote. {found} ({calibration})."
        )
    p = value.majority_p_value
    if majority.top_cluster or (p is not None and p > SIGNIFICANCE):
        if f"{best.mae:.3f}" == f"{majority.mae:.3f}":
            found = (
                f"Majority is enough: no rule errs less than its average "
                f"error of {_error(majority)}"
            )
        else:
            found = (
                f"Majority is enough: its average error {_error(majority)} is not significantly "
                f"different from the least, {best.mae:.3f} of {best.name}"
            )
        return result("ok", f"{found}{_btd(value, best)} ({calibration}).")
    less = 1 - best.mae / majority.mae
    found = (
        f"{best.name} labels better than majority: average error {_error(best)} against "
        f"{_error(majority)}, {percent(less)} less"
    )
    level = [score.name for score in top if score is not best and score.key != "btd"]
    if level:
        found += f"; not significantly different: {', '.join(level)}"
    return result("warn", f"{found}{_btd(value, best)} ({calibration}).")


def _error(score: MethodScore) -> str:
    return f"{score.mae:.3f} ({span(score.mae_item_low, score.mae_item_high)})"


def _btd(value: Evaluation, best: MethodScore) -> str:
    """BTD's own place, where it is neither best nor left out."""
    btd = value.scores.get("btd")
    if btd is None or btd is best:
        return ""
    if btd.top_cluster:
        return f"; BTD is level with it at {btd.mae:.3f}"
    return f"; BTD is behind at {btd.mae:.3f}"


def labels_answer(judge: str, value: Evaluation) -> Answer:
    """Whether another rule than plain majority is worth it, as `recommend` grades it."""
    scores = list(value.scores.values())
    best, majority = scores[0], value.scores["majority"]
    grade = recommend(judge, value, most_votes=3).grade
    less = 1 - best.mae / majority.mae if majority.mae else 0.0
    if grade == "ok":
        headline = f"Plain majority is enough to make labels of the votes of {judge}."
    elif grade == "fail":
        headline = f"No rule is shown to beat labels that ignore the votes of {judge}."
    elif grade == "unknown":
        headline = f"So far {best.name} labels the votes of {judge} with the least error."
    else:
        how = "Calibrating" if best.key in RULES and RULES[best.key].fitted else f"{best.name} on"
        size = (
            "more than halves"
            if less > 0.505
            else "halves"
            if less >= 0.495
            else f"cuts by {percent(less)}"
        )
        headline = f"{how} the votes of {judge} {size} the label errors of plain majority."
    errs = f"error of {best.name} {_briefly(best)}"
    if grade == "ok":
        errs = f"error of {majority.name} {_briefly(majority)}"
        if f"{best.mae:.3f}" != f"{majority.mae:.3f}":
            errs += f", the least {best.mae:.3f} of {best.name}"
    elif best is not majority:
        change = minus(f"{-100 * less:+.0f}")
        errs += f" against {_briefly(majority)}, {change} %"
    return Answer(
        headline=headline,
        figures=line(
            [errs, f"{value.calibration:,.0f} labels used", f"{value.n:,} labelled comparisons"]
        ),
        good=grade == "ok",
    )


def _briefly(score: MethodScore) -> str:
    ends = Estimate(score.mae, score.mae_item_low, score.mae_item_high)
    return measured(ends, 3)


OFTEN = 0.25
"""Share of splits with ν on its bound from which so few labels do not settle it."""


def shrinkage_answer(
    judge: str, prior: CandidatePrior, gain: ShrinkageGain, few: ShrinkageGain | None = None
) -> str:
    """Change of error by a prior, with the share of labels, with the fewest, and beside the
    threshold.
    """
    value = gain.evaluation
    own, shrunk, rule = (value.scores[key].mae for key in ("btd", "btd_shrunk", "threshold"))
    parts = [
        f"{judge}: with {percent(value.share)} of the items labelled ({value.calibration:,.0f} "
        f"comparisons), shrinking towards {prior.name} "
        f"{_effect(gain.beside_btd, 'the error beside its own fit')}, from {own:.3f} to "
        f"{shrunk:.3f} (n {value.n:,})."
    ]
    if few is not None:
        size = f"{few.evaluation.calibration:,.0f} labelled comparisons"
        parts.append(f"With {size} it {_effect(few.beside_btd, 'that error')}.")
    change = _effect(gain.beside_threshold, "the error")
    parts.append(f"Compared with the threshold rule ({rule:.3f}) it {change}.")
    return " ".join(parts)


def helps(gain: ShrinkageGain) -> bool:
    """Whether the interval of the change beside BTD is below 0."""
    return gain.beside_btd.mae.high < 0


def bound(gain: ShrinkageGain, bounds: Bounds, whole: BTDFit | None = None) -> str:
    """How often ν ends on a bound, alone and shrunken: the sign that a prior is needed, unless more
    labels end there too.

    whole : own fit on every label, if there is one.
    """
    value = gain.evaluation
    low, high = bounds.nu
    counted = (
        f"ν, the pull towards ties, ends on a bound ({low:g} or {high:g}) in {gain.on_bound:,} of "
        f"{value.n_splits:,} own fits on {value.calibration:,.0f} labelled comparisons and in "
        f"{gain.on_bound_shrunken:,} of the shrunken ones."
    )
    if gain.on_bound < OFTEN * value.n_splits:
        return f"{counted} The labels settle it mostly by themselves."
    if whole is not None and "nu" in whole.at_bounds:
        return (
            f"{counted} So does the fit on all {whole.n_items:,} labels: this judge asks for it, "
            "and a prior of judges unlike it cannot help there."
        )
    return f"{counted} So few labels do not settle it alone: the sign that a prior may be needed."


def prior_use(gain: ShrinkageGain) -> str:
    """In how many calibration sets the prior is used, and what speaks against it in the others."""
    fits = gain.evaluation.shrunken
    assert fits is not None  # a gain has always compared it
    if fits.checks is None:
        return (
            "The prior is used in every calibration set: it is fixed, "
            "and not checked against the labels."
        )
    checks, n = fits.checks, len(fits.theta)
    used = int(checks.used.sum())
    sets = f"{n:,} calibration sets"
    text = (
        f"The prior is used in all {sets}."
        if used == n
        else f"The prior is used in {used:,} of {sets}"
    )
    if used < n:
        text += "; the others get BTD's own fit."
    found = (
        (checks.unlike_labels, "the labels do not look as the prior forecasts"),
        (checks.unlike_tasks, "the tasks or judges of the prior do not decide each other well"),
        (checks.no_better_than_a_coin, "the prior does not forecast which response is better"),
    )
    against = [f"{why} ({int(hit.sum()):,})" for hit, why in found if hit.any()]
    if against:
        text += f" Against it: {'; '.join(against)}."
    if np.isnan(checks.transfer).all():
        text += (
            f" Whether its tasks or judges are alike is not known with fewer than {FEWEST_TASKS}: "
            "only the labels were checked."
        )
    return (
        f"{text} A gain is to be expected only where the tasks are alike; with 20 labels the "
        "checks miss some that are not."
    )


def weighed(gain: ShrinkageGain) -> str:
    """How far cross-validation believed the prior, mean over the splits."""
    fits = gain.evaluation.shrunken
    assert fits is not None  # a gain has always compared it
    if len(fits.strengths) == 1:
        return (
            f"λ is fixed at {fits.strengths[0]:g}: the prior counts "
            "the same whatever the labels say."
        )
    weight = fits.to_frame()
    own, alone = float(weight["own_fit"].mean()), float(weight["prior_alone"].mean())
    between = max(0.0, 1 - own - alone)
    return (
        f"Cross-validation within the calibration sets gave the own fit {percent(own)} of the "
        f"weight, the prior alone {percent(alone)}, and fits between them {percent(between)} (mean "
        f"of {gain.evaluation.n_splits} splits)."
    )


def _effect(change: PairedChange, what: str) -> str:
    """The change in a verb, as far as its interval allows, and in numbers."""
    value, low, high = change.mae.value, change.mae.low, change.mae.high
    if high < 0:
        return f"lowers {what} by {number(-value)} ({number(-high)} to {number(-low)})"
    if low > 0:
        return f"raises {what} by {number(value)} ({number(low)} to {number(high)})"
    return f"is not shown to change {what} ({signed(value, 3)}, {signed_ends(change.mae, 3)})"


def some(names: Sequence[str], *, most: int = 12) -> str:
    """Names in a row, the first ones if there are many."""
    more = len(names) - most
    return "; ".join(names[:most]) + (f"; and {more:,} more" if more > 0 else "")


SIMULATED_CONFIDENCE = (
    "These votes are simulated: each states a confidence made from the very chance that it equals "
    "gold. So weighing gains here what no real judge can be expected to give; it is no reason to "
    "weigh real votes."
)
"""Stands beside results of weighing on simulated data (`core.simulate.votes`)."""
Measure = Literal["mae", "drps"]
Effect = Literal["lowers", "raises", "does not change"]

MEASURES: dict[Measure, str] = {"mae": "error", "drps": "forecast error (DRPS)"}


def effect(scores: HeldOutScores, measure: Measure, other: int) -> Effect:
    """What the first rule does to a loss beside another: by whether the interval of the change
    excludes 0.
    """
    change = change_of(scores, measure)[other]
    return "lowers" if change.high < 0 else "raises" if change.low > 0 else "does not change"


def change_of(scores: HeldOutScores, measure: Measure) -> Estimates:
    """Change of a loss by the first rule beside each of the others."""
    return scores.mae_change if measure == "mae" else scores.drps_change


def position_aware(judge: str, found: PositionAware, within: PositionBias | None = None) -> str:
    """Which slot the fit shows the judge to favour, and what correcting for the order does on
    held-out items.

    within : the judge's bias in pairs of both orders. It rests on other votes than δ, which only
        unbalanced
    comparisons can tell, so the sentence gives its bias where δ shows none.
    """
    fit, delta = found.fit, found.delta
    if not fit.unbalanced:
        return (
            f"{judge}: every one of its {fit.n_items:,} labelled comparisons has as many votes in "
            "one order as in the other, so there is nothing to correct: the fit is plain BTD."
        )
    slot = "first" if delta.value < 0 else "second"
    shown = f"δ {minus(f'{delta.value:.2f} ({delta.low:.2f} to {delta.high:.2f})')}"
    lean = f"it favours the response shown {slot}"
    if delta.low <= 0 <= delta.high:
        lean = "no position bias is shown"
        if (
            within is not None
            and within.direction is not None
            and within.p_value is not None
            and within.p_value < POSITION_SIGNIFICANCE
        ):
            lean = (
                "they are too few to show the bias: within pairs of both orders it favours the "
                f"response shown {within.direction} ({within.towards_first:,} comparisons towards "
                f"the first, {within.towards_second:,} towards the second), but δ rests on the "
                "unbalanced ones alone"
            )
    return (
        f"{judge}: orders are unbalanced on {fit.unbalanced:,} of its {fit.n_items:,} labelled "
        "comparisons, "
        f"and {lean} ({shown}). {_changed('Correcting for the order', found.scores, 'plain BTD')}"
    )


def confidence_weighted(judge: str, found: ConfidenceWeighted) -> str:
    """What weighing votes by calibrated confidence does on held-out items."""
    if not found.weighing.slope:
        z = minus(f"{found.weighing.z:.2f}")
        return (
            f"{judge}: its confidence does not show which votes are right (z {z}, 1.645 needed), "
            "so all votes weigh alike on all labels. "
            + _changed(
                "Weighing where a calibration set suggests it", found.scores, "equal weights"
            )
        )
    return f"{judge}: " + _changed(
        "weighing votes by calibrated confidence", found.scores, "equal weights"
    )


def across_judges(found: Mapping[str, ConfidenceWeighted]) -> str:
    """For which judges weighing helps, with how often their repeated votes all agree: low
    temperatures.
    """
    better = [name for name, one in found.items() if effect(one.scores, "drps", 1) == "lowers"]
    of = f"the held-out forecast error (DRPS) of {len(better)} of {len(found)} judges"
    if not better:
        return f"Weighing lowers {of}."
    named = ", ".join(
        f"{name} "
        f"({'no repeats' if isnan(found[name].unanimous) else percent(found[name].unanimous)})"
        for name in sorted(better, key=lambda name: -np.nan_to_num(found[name].unanimous, nan=-1.0))
    )
    return f"Weighing lowers {of}, in brackets how often their repeated votes all agree: {named}."


def ordinal(judge: str, gold: str, found: Ordinal) -> str:
    """What the fit gains over the best plain rule, and which way the two scales differ."""
    scores = found.scores
    best = min(range(1, len(scores.names)), key=lambda i: scores.mae[i].value)
    change = scores.mae_change[best]
    does = effect(scores, "mae", best)
    size = (
        f"average error {scores.mae[0].value:.3f} levels against {scores.mae[best].value:.3f} "
        f"(difference {signed(change.value, 3)}, {signed_ends(change, 3)}, n {scores.n:,} "
        "held-out answers)"
    )
    rule = scores.names[best][0].lower() + scores.names[best][1:]
    outcome = {
        "lowers": f"calibrated levels are closer to {gold} than the best plain rule ({rule})",
        "raises": f"the best plain rule ({rule}) comes nearer to {gold} than calibrated levels",
        "does not change": (
            f"calibrated levels are not significantly different from the best plain rule ({rule})"
        ),
    }[does]
    return f"{judge}: {outcome}: {size}."


def _changed(what: str, scores: HeldOutScores, beside: str) -> str:
    """Both losses of the first rule beside the second, each with its interval."""
    error, forecast = (_change(scores, measure) for measure in MEASURES)
    return (
        f"{what} {error} and {forecast} beside {beside} on held-out items (n {scores.n:,} "
        f"comparisons, {scores.calibration:,.0f} to calibrate on). {_advice(scores)}"
    )


def _advice(scores: HeldOutScores) -> str:
    labels, chances = effect(scores, "mae", 1), effect(scores, "drps", 1)
    if labels == "lowers":
        return "Use it."
    if labels == "does not change" and chances == "lowers":
        return (
            "Labels stay as good and probabilities get better: use it where probabilities matter."
        )
    return "Leave it out."


def _change(scores: HeldOutScores, measure: Measure) -> str:
    change = change_of(scores, measure)[1]
    if change.low == change.high == 0:
        return f"leaves the {MEASURES[measure]} as it is"
    does = effect(scores, measure, 1)
    verb = "is not shown to change" if does == "does not change" else does
    return f"{verb} the {MEASURES[measure]} ({signed(change.value, 4)}, {signed_ends(change, 4)})"
