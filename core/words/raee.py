"""What the tabs of a leaderboard say in words: ratings, judges, doubtful prompts, tasks, outside boards."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.intervals import wider
from core.leaderboard.abstention import Abstained, Abstention, Changed
from core.leaderboard.between_tasks import BetweenTasks, TaskSpread
from core.leaderboard.outside import LEAST_FOR_INTERVAL, OutsideComparison
from core.leaderboard.pooling import PooledBoard, Pooling
from core.leaderboard.rating_spread import RAEE, MethodSpread, RatingSpread
from core.leaderboard.screening import Screened, Screening
from core.leaderboard.subsampling import SubsampleErrors
from core.words.ensembles import points
from core.words.verdicts import percent

METHOD_NAMES = {
    RAEE: "anchored Elo",
    "bradley_terry": "Bradley–Terry",
    "glicko2": "Glicko-2",
    "trueskill": "TrueSkill",
}
LEVEL = 0.05
TOLERATED = 0.05
"""A formula within so much of what subsamples show is called right."""


def other_ratings(found: RatingSpread) -> str:
    """Whether other ratings rank alike, and whether judges differ more or less under them."""
    others = [row for row in found.methods if row.method != RAEE]
    known = [row for row in others if row.kendall is not None]
    parts = []
    if known:
        n = known[0].n_rated
        listed = ", ".join(f"{row.kendall:.2f} by {METHOD_NAMES[row.method]}" for row in known)
        parts.append(f"Kendall τ of {n} models with their order by anchored Elo is {listed}.")
    else:
        parts.append("Fewer than three models are rated by every method, so orders cannot be compared.")
    raee = found.methods[0]
    if raee.sd is None:
        parts.append("Dispersion needs two judges that rated the same models.")
        return " ".join(parts)
    parts.append(
        f"One judge's Elo of a model differs from another's by an SD of {_with_ends(raee, 'sd')} points "
        f"({raee.n_judges} judges, anchored Elo); " + "; ".join(_excess(row) for row in others) + "."
    )
    return " ".join(parts)


def judges(board: PooledBoard, found: Pooling | None) -> str:
    """What pooling judges gains: the interval of one and of all, and what theory promises."""
    first = board.rows[0]
    who = f"The mean of {first.n_judges} judges" if first.n_judges > 1 else "The one judge that rated it"
    told = (
        f"{who} puts {first.model} first with "
        f"{_elo(first.elo)} Elo ({_elo(first.elo_low)} to {_elo(first.elo_high)})."
    )
    if found is None:
        return told
    one, everyone = found.sizes[0], found.sizes[-1]
    promised = (
        f"errors that correlate by ρ = {_decimals(found.rho)} predict ±{_width(everyone.predicted):.0f}"
    )
    if found.rho_runs is not None and everyone.predicted_runs is not None:
        runs = _width(everyone.predicted_runs)
        promised += f", repeatability as ρ = {_decimals(found.rho_runs)} (as RAEE has it) ±{runs:.0f}"
    return (
        f"{told} One judge knows a model's Elo to ±{_width(one.observed):.0f} points, all {everyone.size} "
        f"pooled to ±{_width(everyone.observed):.0f}; {promised}."
    )


def screened(found: Screening, row: Screened) -> str:
    """What a cut leaves."""
    everyone = found.rows[0]
    if not row.judges:
        return (
            f"No judge repeats itself as well as that; of {len(everyone.judges)}, the best has ICC(3,k) "
            f"{_decimals(max(found.icc.values()))}."
        )
    dropped = [name for name in everyone.judges if name not in row.judges]
    if not dropped:
        several = len(everyone.judges) > 1
        who = f"All {len(everyone.judges)} judges with repeats pass" if several else "The one judge passes"
        width = "" if everyone.width is None else f", and the mean interval is {everyone.width:.0f} Elo wide"
        least = "the least repeatable" if several else "it"
        return f"{who}; {least} has ICC(3,k) {_decimals(min(found.icc.values()))}{width}."
    passing = f"{len(row.judges)} of {len(everyone.judges)} judges pass{'es' if len(row.judges) == 1 else ''}"
    names = f"Dropped: {', '.join(dropped)}."
    if row.width is None or everyone.width is None:
        return f"{passing}; no model is rated at every cut, so widths cannot be compared. {names}"
    change = row.width - everyone.width
    apart = "as before"
    if round(abs(change)):
        apart = f"{abs(change):.0f} points " + (
            "wider, not narrower, as fewer judges average out less"
            if change > 0
            else "narrower, as fewer judges err together less"
        )
    return f"{passing}; without the others the mean interval is {row.width:.0f} Elo wide, {apart}. {names}"


def abstained(found: Abstention, row: Abstained, changed: Sequence[Changed]) -> str:
    """What dropping doubtful prompts keeps and moves.

    The model named is the most changed of several, so its interval is widened for their number
    (`core.intervals.wider`) before it is said to be more than chance.
    """
    what = (
        f"prompts on which a judge's runs differ by an SD above {row.threshold:g}"
        if found.rule == "run_sd"
        else f"prompts of which a judge is less than {percent(row.threshold or 0.0)} confident"
    )
    if not row.n:
        return f"Nothing is left without {what}."
    parts = [
        f"Without {what}, {percent(row.coverage)} of {found.n:,} judged prompts stay, and win probabilities "
        f"move by {100 * (row.delta_p or 0.0):.1f} points on average."
    ]
    if row.coverage < 1 and changed:
        most = changed[0]
        ends = f"({points(most.delta_low)} to {points(most.delta_high)})"
        parts.append(
            f"Most: {most.model}, {points(most.delta)} points {ends}, "
            f"{'more than chance' if _beyond_chance(most, len(changed)) else 'which may be chance'}."
        )
    error, before = row.se_elo or 0.0, found.rows[0].se_elo or 0.0
    parts.append(f"The mean standard error goes from {before:.0f} to {error:.0f} Elo.")
    return " ".join(parts)


def subsampled(found: SubsampleErrors) -> str:
    """Whether the closed-form error is what subsamples show."""
    if not len(found.n):
        return "No model has more prompts than the smallest subsample, so nothing can be compared."
    ratio = found.se_empirical / np.where(found.se_finite > 0, found.se_finite, np.nan)
    ratio = ratio[~np.isnan(ratio)]
    middle = float(np.median(ratio))
    said = (
        "too large: votes that tie or are averaged vary less"
        if middle < 1 - TOLERATED
        else "too small"
        if middle > 1 + TOLERATED
        else "right"
    )
    return (
        f"On subsamples of the prompts the win probability varies by {middle:.2f} times the standard error "
        f"of the formula (from {ratio.min():.2f} to {ratio.max():.2f} over {len(set(found.model)):,} "
        f"models), so that error is {said}."
    )


def tasks(found: BetweenTasks) -> str:
    """Whose Elo depends on the task by more than chance (Holm over models), and by how much."""
    tested = [row for row in found.rows if row.p_value is not None]
    if not tested:
        return "No model met the anchor in two categories, so nothing is known of differences between them."
    differing = differ(found)
    models = f"{len(tested)} model{'' if len(tested) == 1 else 's'}"
    among = f"of {models} over {len(found.boards)} categories"
    if not differing:
        most = max(tested, key=lambda row: (row.tau or 0.0, row.tau_high or 0.0))
        largest = f"the largest SD between categories is {_tau(most)}, of {most.model}"
        if not most.tau:
            largest = (
                "what differs between categories is what chance explains, though an SD of up to "
                f"{most.tau_high or 0.0:.0f} points ({most.model}) cannot be excluded"
            )
        return f"No Elo {among} is shown to depend on the category; {largest}."
    most = max(differing, key=lambda row: row.tau or 0.0)
    verb = "depends" if len(differing) == 1 else "depend"
    return (
        f"The Elo of {len(differing)} {among} {verb} on the category by more than chance; most that of "
        f"{most.model}, by an SD of {_tau(most)}."
    )


def differ(found: BetweenTasks) -> tuple[TaskSpread, ...]:
    """Models whose p-value times the number still to test, the least first, stays below .05 (Holm)."""
    tested = sorted(
        (row for row in found.rows if row.p_value is not None), key=lambda row: row.p_value or 0.0
    )
    kept: list[TaskSpread] = []
    for place, row in enumerate(tested):
        if (row.p_value or 0.0) * (len(tested) - place) >= LEVEL:
            break
        kept.append(row)
    return tuple(kept)


def outside(found: OutsideComparison) -> str:
    """Whether an imported board ranks alike, and how far apart the two are."""
    n = len(found.models)
    left = f"{len(found.only_here)} here and {len(found.only_outside)} there have no partner"
    if n >= 3 and found.kendall is None:
        return f"All models of both boards are equal on one of them, so ranks say nothing: {n} match, {left}."
    if found.kendall is None:
        return f"Too few models stand on both boards to compare them: {n} match, {left}."
    ends = order_ends(found.kendall_low, found.kendall_high, n)
    apart = (
        ""
        if found.mean_abs_elo is None or found.mean_abs_p is None
        else f"; after centring they differ by {found.mean_abs_elo:.0f} Elo, "
        f"{100 * found.mean_abs_p:.1f} points of win probability, a model on average"
    )
    return f"On the {n} models of both boards, Kendall τ is {found.kendall:.2f}{ends}{apart}. {left}."


def order_ends(low: float | None, high: float | None, models: int) -> str:
    """The interval of a Kendall τ over models, or why there is none."""
    if low is not None and high is not None:
        return f" ({low:.2f} to {high:.2f})"
    if models < LEAST_FOR_INTERVAL:
        return f" (no interval: it needs {LEAST_FOR_INTERVAL} models)"
    return " (no interval: a perfect order does not show how sure it is)"


def _beyond_chance(most: Changed, models: int) -> bool:
    reach = most.delta - most.delta_low if most.delta > 0 else most.delta_high - most.delta
    return abs(most.delta) > wider(models, level=1 - LEVEL) * reach


def _excess(row: MethodSpread) -> str:
    name = METHOD_NAMES[row.method]
    if row.sd is None or row.excess is None:
        return f"{name}: unknown"
    if row.excess_low is None or row.excess_high is None or row.excess_low <= 0 <= row.excess_high:
        return f"{name} {row.sd:.0f}, not shown to differ"
    return f"{name} {row.sd:.0f}, {'more' if row.excess > 0 else 'less'} by more than chance"


def _with_ends(row: MethodSpread, name: str) -> str:
    value, low, high = (getattr(row, name + end) for end in ("", "_low", "_high"))
    return f"{value:.0f}" if low is None else f"{value:.0f} ({max(low, 0):.0f} to {high:.0f})"


def _tau(row: TaskSpread) -> str:
    return f"{row.tau:.0f} points ({row.tau_low:.0f} to {row.tau_high:.0f})"


def _width(variance: float) -> float:
    return 1.96 * math.sqrt(variance)


def _decimals(value: float) -> str:
    # Adding 0 takes the minus of a rounded -0.00 away.
    return f"{round(value, 2) + 0.0:.2f}"


def _elo(elo: float) -> str:
    return f"{elo:+.0f}" if round(elo) else "0"
