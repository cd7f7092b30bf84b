"""What a leaderboard says in words: who leads, whether that is separable, whether another anchor agrees.

What the tabs of a leaderboard say in words: ratings, judges, doubtful prompts, tasks, outside boards.

What the direct scores of a leaderboard say in words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..leaderboard.anchored import MID_REGION, Board, BoardRow, board, limits
from ..leaderboard.anchors import Triangles
from ..leaderboard.judges import PooledBoard, Pooling, Screened, Screening
from ..leaderboard.order_ratings import RAEE, MethodSpread, RatingSpread
from ..leaderboard.outside import LEAST_FOR_INTERVAL, OutsideComparison
from ..leaderboard.robustness import (
    Abstained,
    Abstention,
    BetweenTasks,
    Changed,
    SubsampleErrors,
    TaskSpread,
)
from ..leaderboard.score_board import ScoreBoard, ScoreBoards
from ..leaderboard.score_dispersion import Dispersion, Spread
from ..leaderboard.scores import DirectStatistics, ScoreStatistics
from ..leaderboard.standings import MID_REGION_WANTED, Lead, Standings, most_reversing
from ..records import DirectScores, PairScores
from ..stats.intervals import bonferroni_factor
from .ensembles import points
from .format import percent, signed_elo

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class TriangleTold:
    """A triangle as plain facts. `intransitive`: broken, and every model beats the next all the way round."""

    words: str
    broken: bool
    intransitive: bool


def answer(found: Standings, told: Sequence[TriangleTold] = (), *, corrected: bool = False) -> str:
    """Who leads, by how much, whether that is separable, and whether the ranking survives another anchor.

    Parameters
    ----------
    found : of `standings`.
    told : triangles in words, least p first (`triangle_words`).
    corrected : say the dispersion-corrected interval instead of the published one.
    """
    parts = (_first(found.board, corrected), _separable(found.lead), _survives(found, told))
    return " ".join(part for part in parts if part)


def sound(found: Standings, told: Sequence[TriangleTold] = ()) -> bool:
    """The first is alone in its tier, no other anchor reverses models, and no triangle is broken."""
    alone = found.lead is None or len(found.lead.top_tier) == 1
    reversed_somewhere = any(other.reversals for other in found.others)
    return alone and not reversed_somewhere and not any(triangle.broken for triangle in told)


def mid_region(shown: Board) -> str:
    """How much of a board lies where Elo is near linear in the win probability."""
    low, high = (percent(end) for end in MID_REGION)
    enough = shown.mid_region_coverage >= MID_REGION_WANTED
    share = percent(shown.mid_region_coverage)
    if not enough and share == percent(MID_REGION_WANTED):
        # 94.7 % is too little and must not read as the 95 % that are wanted.
        share = percent(math.floor(1000 * shown.mid_region_coverage) / 1000, 1)
    found = (
        f"{share} of {len(shown.rows):,} models score between {low} and {high} "
        f"against {shown.anchor}; {percent(MID_REGION_WANTED)} are wanted"
    )
    return f"{found}." if enough else f"{found}: outside that range a small difference is many points of Elo."


def no_board(pairs: PairScores) -> str:
    """Why a selection without an anchor has no board, with the result where just two models met."""
    if not len(pairs):
        return "A leaderboard needs votes on two or more named models; this selection has none."
    if len(pairs.models) == 2:
        row = board(pairs, pairs.models[1]).rows[0]
        return (
            f"Only two models met, so there is nothing to rank: against {pairs.models[1]}, {row.model} "
            f"scores {_share(row)}."
        )
    met = sorted(set(zip(pairs.model_1.tolist(), pairs.model_2.tolist(), strict=True)))
    listed = "; ".join(f"{pairs.models[a]} and {pairs.models[b]}" for a, b in met[:5])
    more = f"; and {len(met) - 5} more" if len(met) > 5 else ""
    return (
        "There is no leaderboard: it ranks models by their votes against one common opponent, the anchor, "
        f"and no model met two others. Those that met: {listed}{more}."
    )


def triangle_words(found: Triangles, boards: Mapping[str, Board]) -> tuple[TriangleTold, ...]:
    """The triangles that could be tested as three facts each, worst first: who beats whom round the triangle.

    x beats y if the dispersion-corrected interval of its Elo on the board of y excludes 0. The walk goes
    in the direction of the residual, so that three wins in a row are a circle: intransitive judging.

    Source: methods §6 (ours).
    """
    rows = {(row.model, anchor): row for anchor, known in boards.items() for row in known.rows}
    told = []
    for i in np.flatnonzero(~np.isnan(found.z)).tolist():
        walk = [found.a[i], found.b[i], found.c[i]]
        if found.residual[i] < 0:
            walk.reverse()
        legs = [(x, y, rows[x, y]) for x, y in zip(walk, [*walk[1:], walk[0]], strict=True)]
        told.append(
            TriangleTold(
                words=", ".join(_fact(*leg) for leg in legs),
                broken=bool(found.broken[i]),
                intransitive=bool(found.broken[i]) and all(row.elo_low_corrected > 0 for _, _, row in legs),
            )
        )
    return tuple(told)


def triangles_frame(found: Triangles, told: Sequence[TriangleTold]) -> pd.DataFrame:
    """One row a triangle that could be tested, worst first, with its words and its verdict."""
    import pandas as pd

    frame = found.to_frame().head(len(told)).drop(columns=["broken"])
    verdicts = [
        "intransitive" if one.intransitive else "does not add up" if one.broken else "not shown to be broken"
        for one in told
    ]
    words = pd.DataFrame({"triangle": [one.words for one in told], "verdict": verdicts})
    return pd.concat([words, frame], axis=1)


def _first(shown: Board, corrected: bool) -> str:
    """The best of several models is above the anchor by chance more often than one model is.

    So it leads if its corrected interval, which tiers rest on too, also excludes one half at 1 − (1 −
    level)/models (Bonferroni; ours). That no model beats the anchor needs no such care.
    """
    best = shown.rows[0]
    low, high, _, _ = _limits(best, corrected)
    level = 1 - (1 - shown.level) / len(shown.rows)
    sure = float(limits(best.p, best.se_p_corrected, level=level)[0])
    score = f"scores {_share(best, corrected)}"
    if high < 0.5:
        return f"No model beats the anchor, {shown.anchor}; {best.model}, the best of them, {score}."
    if min(low, sure) <= 0.5:
        of_several = f"as the best of {len(shown.rows)} " if low > 0.5 else ""
        return (
            f"{best.model} is first, but {of_several}not shown to be better than the anchor: "
            f"against {shown.anchor} it {score}."
        )
    return f"{best.model} leads: against {shown.anchor} it {score}."


def _separable(found: Lead | None) -> str:
    if found is None:
        return ""
    prompts = "on the same prompts" if found.paired else f"on {found.n:,} prompts or more each"
    lead_over = (
        f"Its lead over {found.runner_up}, {100 * found.difference:.1f} points "
        f"({100 * found.low:.1f} to {100 * found.high:.1f} {prompts}),"
    )
    if len(found.top_tier) == 1:
        return f"{lead_over} is more than chance: it is alone in the top tier."
    return f"{lead_over} may be chance: {len(found.top_tier)} models share the top tier."


def _survives(found: Standings, told: Sequence[TriangleTold]) -> str:
    compared = [other for other in found.others if other.kendall_tau is not None]
    worst = most_reversing(found)
    broken = [triangle for triangle in told if triangle.broken]
    circle = next((triangle for triangle in broken if triangle.intransitive), None)
    parts = []
    if worst is not None and worst.reversals:
        turned = sum(bool(other.reversals) for other in compared)
        which = worst.anchor if turned == 1 else f"most of all {worst.anchor}"
        parts.append(
            f"The ranking depends on the anchor: {turned} of {len(compared)} others "
            f"({which}, Kendall τ {worst.kendall_tau or 0.0:.2f}) "
            f"{'reverses' if turned == 1 else 'reverse'} models by more than chance."
        )
    elif circle is not None:
        parts.append("The ranking depends on the anchor.")
    elif compared:
        least = min(other.kendall_tau or 0.0 for other in compared)
        many = (
            f"{len(compared)} other anchors"
            if len(compared) > 1
            else f"the other anchor, {compared[0].anchor}"
        )
        parts.append(
            f"The ranking is not shown to change under {many} "
            f"({'lowest ' if len(compared) > 1 else ''}Kendall τ {least:.2f})."
        )
    else:
        parts.append("Whether another anchor would rank them alike is unknown: no other model met enough.")
    if broken:
        worst_words = (circle or broken[0]).words
        parts.append(
            f"{len(broken):,} of {len(told):,} triangles of models do not add up; "
            f"{'intransitive' if circle else 'worst'}: {worst_words}."
        )
    return " ".join(parts)


def _fact(x: str, y: str, row: BoardRow) -> str:
    if row.elo_low_corrected > 0:
        return f"{x} beats {y}"
    return f"{y} beats {x}" if row.elo_high_corrected < 0 else f"{x} and {y} not told apart"


def _share(row: BoardRow, corrected: bool = False) -> str:
    low, high, elo_low, elo_high = _limits(row, corrected)
    return (
        f"{percent(row.p)} ({percent(low).removesuffix(' %')} to {percent(high)}, {row.n:,} prompts), "
        f"{signed_elo(row.elo)} Elo ({signed_elo(elo_low)} to {signed_elo(elo_high)})"
    )


def _limits(row: BoardRow, corrected: bool) -> tuple[float, float, float, float]:
    if corrected:
        return row.p_low_corrected, row.p_high_corrected, row.elo_low_corrected, row.elo_high_corrected
    return row.p_low, row.p_high, row.elo_low, row.elo_high


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
    (`core.stats.intervals.bonferroni_factor`) before it is said to be more than chance.
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
    return abs(most.delta) > bonferroni_factor(models, level=1 - LEVEL) * reach


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


Kind = Literal["finding", "warning"]
CROWDED = 1 / 3
"""A judge that gives the top score so often leaves little room to tell good models apart (ours)."""


def alone(found: DirectStatistics) -> str:
    """What scores of one model, or of models that no judge scored together, can and cannot say."""
    models = {row.model for row in found.rows if row.model is not None}
    listed = [row for row in found.rows if row.model is not None]
    told = " ".join(_given(row, found.highest) for row in listed[:3])
    more = f" The table has {len(listed) - 3:,} more." if len(listed) > 3 else ""
    why = (
        "One model has nothing to be compared with: score another one on the same items."
        if len(models) == 1
        else "No judge scored two models, so nothing can be compared."
    )
    return f"{told}{more} {why}"


def leader(found: ScoreBoard) -> str:
    """Which model leads by direct scores, by how much, and whether that may be chance."""
    best = found.rows[0]
    scores = (
        f"its score beats that of {found.anchor} with probability {percent(best.p)}"
        f"{_ends(best.p_low, best.p_high)}, a tie being half a win ({best.n:,} items"
        f"{f', mean of {best.n_judges} judges' if best.n_judges > 1 else f', {found.judges[0]}'})"
    )
    shown = best.p_low is not None and best.p_high is not None
    if shown and (best.p_high or 0.0) < 0.5:
        return f"By direct scores no model beats the anchor; {best.model} comes nearest: {scores}."
    if not beats_anchor(found):
        of_several = f"as the best of {len(found.rows)} " if (best.p_low or 0.0) > 0.5 else ""
        return (
            f"By direct scores {best.model} is first, but {of_several}not shown to be better than the "
            f"anchor: {scores}."
        )
    return f"By direct scores {best.model} leads: {scores}.{_runner_up(found)}"


def beats_anchor(found: ScoreBoard) -> bool:
    """The interval of the first's logit p, widened as it is the best of several, lies above 0."""
    best = found.rows[0]
    if best.p_low is None:
        return False
    logit, low = (math.log(p) - math.log1p(-p) for p in (best.p, best.p_low))
    return logit - bonferroni_factor(len(found.rows), level=found.level) * (logit - low) > 0


def beside_votes(found: Dispersion) -> str:
    """Whether votes rank alike, and on which of the two judges agree more."""
    by_votes = _measure(found, "p by votes")
    if by_votes.n_judges == 0:
        return "There are no votes against this anchor to hold the scores against."
    return f"{_order(found)} {agree_more(found)}"


def agree_more(found: Dispersion) -> str:
    """On which measure these judges agree more: SDs of p on one scale, and in units of the models' spread.

    The interval is over models, so it speaks of these judges on other models, not of other judges: of judges
    drawn to be as sharp by scores as by votes, nine sets in ten do differ.
    """
    scores, votes = _measure(found, "p by scores"), _measure(found, "p by votes")
    if not found.shared or found.excess is None or scores.sd is None or votes.sd is None:
        return "Whether these judges agree more on scores or on votes is unknown: no two of them gave both."
    told = (
        f"These judges' win probabilities of a model differ by an SD of {100 * scores.sd:.1f} points by "
        f"scores and {100 * votes.sd:.1f} by votes ({votes.n_judges} judges, {votes.n_models} models)"
    )
    low, high = found.excess_low, found.excess_high
    if low is None or high is None or low <= 0 <= high:
        return f"{told}: not shown that they agree more on either of other models."
    more, less = ("votes", "scores") if low > 0 else ("scores", "votes")
    said = f"{told}: on other models too, these judges agree more on {more}"
    one, two = (scores.relative, votes.relative) if more == "scores" else (votes.relative, scores.relative)
    if one is not None and two is not None and one >= two:
        return f"{said}, but {more} put models nearer together: by the models' spread, more on {less}."
    return f"{said}."


def correlations(found: DirectStatistics) -> str:
    """How far judges agree on direct scores."""
    known = [row for row in found.pairs if row.pearson is not None]
    if not known:
        return "Fewer than two judges scored the same responses, so their agreement is unknown."
    if len(known) == 1:
        row = known[0]
        ends = "" if row.pearson_low is None else f" ({row.pearson_low:.2f} to {row.pearson_high:.2f})"
        return (
            f"Scores of {row.judge_1} and {row.judge_2} correlate by {row.pearson:.2f}{ends} on "
            f"{row.n:,} responses."
        )
    values = np.array([row.pearson for row in known])
    least = known[int(values.argmin())]
    return (
        f"Judges' scores of the same responses correlate by {values.mean():.2f} on average of "
        f"{len(known):,} pairs; least those of {least.judge_1} and {least.judge_2}, {values.min():.2f}."
    )


def crowded(found: DirectStatistics) -> str | None:
    """Judges that give the highest score so often that it tells little; None if there are none."""
    whole = [row for row in found.rows if row.model is None]
    full = sorted((row for row in whole if row.top_low > CROWDED), key=lambda row: -row.top)
    if not full:
        return None
    listed = ", ".join(
        f"{row.judge} {percent(row.top)} ({_bare(row.top_low)} to {percent(row.top_high)})"
        for row in full[:5]
    )
    return (
        f"Little room at the top: share of scores at the highest given, {found.highest:g}: {listed}. A judge "
        "that gives its top score to everybody measures nothing."
    )


def scores_kind(boards: ScoreBoards, found: DirectStatistics) -> Kind:
    """A warning where the first model is not shown to beat the anchor, or judges are at their ceiling."""
    return "finding" if beats_anchor(boards.mean) and crowded(found) is None else "warning"


def no_scores(judged: Mapping[str, DirectScores], judge: str) -> str:
    """Why a chosen judge has none."""
    return f"{judge} gave no direct scores; shown are those of {', '.join(judged)}."


def _given(row: ScoreStatistics, highest: float) -> str:
    why = "one item" if row.items < 2 else "no judge gave another score"
    ends = f" (no interval: {why})"
    if row.mean_low is not None:
        ends = f" ({row.mean_low:.2f} to {row.mean_high:.2f})"
    return (
        f"{row.judge} gave {row.model} a mean of {row.mean:.2f}{ends} on {row.items:,} items; "
        f"{percent(row.top)} ({_bare(row.top_low)} to {percent(row.top_high)}) of its scores are "
        f"{highest:g}, the highest given."
    )


def _runner_up(found: ScoreBoard) -> str:
    if found.lead is None or found.lead_low is None or found.lead_high is None:
        return ""
    chance = "is more than chance" if found.lead_low > 0 else "may be chance"
    return (
        f" Its lead over {found.rows[1].model}, {100 * found.lead:.1f} points ({100 * found.lead_low:.1f} to "
        f"{100 * found.lead_high:.1f}), {chance}."
    )


def _order(found: Dispersion) -> str:
    if found.kendall is None:
        return "Fewer than three models have both scores and votes, so orders cannot be compared."
    ends = order_ends(found.kendall_low, found.kendall_high, found.n_ordered)
    same = "Votes rank them the same" if found.kendall > 1 - 1e-9 else "Against the order by votes"
    return f"{same}: Kendall τ {found.kendall:.2f}{ends}, {found.n_ordered} models."


def _measure(found: Dispersion, name: str) -> Spread:
    return next(row for row in found.measures if row.measure == name)


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" ({_bare(low)} to {percent(high)})"


def _bare(share: float) -> str:
    return percent(share).removesuffix(" %")
