"""What the direct scores of a leaderboard say in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from core.counts import DirectScores
from core.intervals import wider
from core.leaderboard.direct_scores import DirectStatistics, ScoreStatistics
from core.leaderboard.dispersion import Dispersion, Spread
from core.leaderboard.score_board import ScoreBoard, ScoreBoards
from core.words.raee import order_ends
from core.words.verdicts import percent

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
    return logit - wider(len(found.rows), level=found.level) * (logit - low) > 0


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


def sound(boards: ScoreBoards, found: DirectStatistics) -> Kind:
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
