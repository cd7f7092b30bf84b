"""What direct scores say on the Leaderboard page: who leads, how judges agree, whether votes rank
alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from ...finding.answer import Answer, difference, line, longest, measured, share
from ...finding.tables import Column
from ...finding.wording import count, percent, signed
from ...records import DirectScores
from ...stats.estimate import Estimate
from ...stats.intervals import bonferroni_factor, bonferroni_interval
from .anchored import pairs_of
from .check_words import beyond_chance, order_ends, without_doubtful
from .judge_dispersion import Dispersion, Spread
from .score_board import ScoreBoard, ScoreBoards
from .score_spread import ScoreAbstention
from .scores import DirectStatistics, ScoreStatistics
from .words import ENDS, of_pairs, percent_span

Kind = Literal["finding", "warning"]
CROWDED = 1 / 3
"""A judge that gives the top score so often leaves little room to tell good models apart (ours)."""


BOARD = (
    Column("model", "model", ""),
    Column("n", "n", "d", "items"),
    Column("mean score", "mean", ".2f", "of items, then of judges"),
    Column(
        "beats %",
        "p",
        ".1f",
        "chance that its score beats the anchor's, a tie being half a win",
        ENDS,
        "95 %, over items",
        scale=100,
    ),
    Column("Elo", "elo", "+.0f", "points that this chance stands for"),
    Column("judges", "n_judges", "d"),
)
SPREADS = (Column("SD", "sd"), Column("SE", "se"), Column("CV", "cv"))
MEASURES = (
    Column("measure", "measure", ""),
    Column("models", "n_models", "d"),
    Column("judges", "n_judges", "d"),
    SPREADS[0],
    Column("SD / spread of models", "relative"),
    *SPREADS[1:],
    Column("spread of models", "spread"),
)
BY_MODEL = (
    *(Column(name, name, "") for name in ("measure", "model")),
    Column("judges", "n_judges", "d"),
    Column("mean", "mean"),
    *SPREADS,
)
STATISTICS = (
    Column("judge", "judge", ""),
    Column("model", lambda row: "all" if row.model is None else row.model, ""),
    Column("n", "n", "d"),
    Column("items", "items", "d"),
    Column("mean", "mean"),
    Column("SD", "sd"),
    Column("excess kurtosis", "kurtosis"),
    Column("share at the top", "top", ends=("top low", "top high")),
)
PAIRS = (
    Column("judge", "judge_1", ""),
    Column("other judge", "judge_2", ""),
    Column("n", "n", "d"),
    Column("items", "items", "d"),
    Column("Pearson", "pearson"),
    Column("Kendall τ", "kendall", ends=("τ low", "τ high")),
    Column("κ", "kappa"),
    Column("weighted κ", "weighted_kappa"),
)


KEPT = (
    Column("SD / scale up to", "threshold", ".2f", "empty: all responses scored twice"),
    Column("kept %", "coverage", ".1f", scale=100),
    Column("n", "n", ",d"),
    Column("models", "n_models", "d"),
    Column("|change| of mean score", "delta", ".3f"),
    Column("SD over judges", "sd_judges", ".3f"),
    Column("Kendall τ", "kendall", ".2f"),
)
"""A row per threshold (`ScoresKept`)."""
CHANGED = (
    Column("model", "model", ""),
    Column("responses", "n", ",d"),
    Column("kept", "kept", ",d"),
    Column("mean score", "mean"),
    Column("without", "mean_after"),
    Column("change", "delta", "+.3f"),
)
"""A row per model (`ScoreChanged`)."""


def scores_abstained(found: ScoreAbstention) -> str:
    """What dropping the responses on which a judge's runs differ keeps and moves.

    The model named is the most changed of several, so its interval is widened for their number
    (`bonferroni_interval`) before it counts as more than chance.
    """
    row = next(row for row in found.rows if row.threshold == found.threshold)
    what = (
        f"responses on which a judge's scores differ by an SD above {percent(found.threshold)} "
        "of the scale"
    )
    if not row.n:
        return f"Nothing is left without {what}."
    said = (
        f"Without {what}, {percent(row.coverage)} of {found.n:,} stay, and mean scores move by "
        f"{row.delta or 0.0:.2f} points on average."
    )
    if row.coverage < 1 and found.changed:
        most = found.changed[0]
        certain = bonferroni_interval(most.delta, len(found.changed)).excludes(0)
        known = most.delta.has_interval
        how = "more than chance" if certain else "which may be chance"
        said += (
            f" Most: {most.model}, {signed(most.delta.value, 2)} points, "
            f"{how if known else 'with too few left to tell from chance'}."
        )
    return said


def scores_abstained_answer(found: ScoreAbstention) -> Answer:
    """Whether any mean score moves by more than chance without doubtful responses, and the
    order.
    """
    row = next(row for row in found.rows if row.threshold == found.threshold)
    moved = beyond_chance({one.model: one.delta for one in found.changed})
    return Answer(
        headline=without_doubtful("responses", row.coverage, moved, row.kendall),
        figures=line(
            [
                f"{percent(row.coverage)} of {found.n:,} scored responses stay",
                found.changed
                and row.n
                and f"{found.changed[0].model} "
                + difference(found.changed[0].delta, scale=1, digits=2, unit=" points"),
                row.kendall is not None and f"τ {row.kendall:.2f} with all responses",
            ]
        ),
        good=bool(row.n) and not moved,
    )


def alone_answer(found: DirectStatistics) -> Answer:
    """That nothing can be compared, and the mean scores that there are."""
    listed = [row for row in found.rows if row.model is not None]
    models = sorted({row.model for row in listed if row.model is not None})
    headline = (
        f"Only {models[0]} was scored, so it can be compared with no other model."
        if len(models) == 1
        else "No judge scored two models, so nothing can be compared."
    )
    means = [f"{row.judge} on {row.model} {measured(row.mean)}" for row in listed[:3]]
    return Answer(headline=headline, figures=line(means), good=False)


def alone(found: DirectStatistics) -> str:
    """What scores of one model, or of models that no judge scored together, can and cannot say."""
    models = {row.model for row in found.rows if row.model is not None}
    listed = [row for row in found.rows if row.model is not None]
    given = " ".join(_given(row, found.highest) for row in listed[:3])
    more = f" The table has {len(listed) - 3:,} more." if len(listed) > 3 else ""
    why = (
        "A single model cannot be compared: score another one on the same items."
        if len(models) == 1
        else "No judge scored two models, so nothing can be compared."
    )
    return f"{given}{more} {why}"


def scores_answer(boards: ScoreBoards, statistics: DirectStatistics, beside: Dispersion) -> Answer:
    """Which model leads by direct scores, whether that is settled, and whether votes rank alike."""
    found, best, tau = boards.mean, boards.mean.rows[0], beside.kendall
    lead = found.lead if found.lead is not None and found.lead.has_interval else None
    if best.p.high < 0.5:
        first = f"By direct scores no model beats {found.anchor}; {best.model} comes nearest"
    elif not beats_anchor(found):
        first = f"By direct scores {best.model} is first, but not shown to beat {found.anchor}"
    elif lead is None:
        first = f"By direct scores {best.model} beats {found.anchor}"
    elif lead.low > 0:
        first = f"By direct scores {best.model} leads alone"
    else:
        first = f"By direct scores {best.model} is first, though its lead may be chance"
    ways = [first]
    if tau is not None:
        votes = "are not shown to order models differently"
        if tau.value > 1 - 1e-9:
            votes = "rank models the same"
        elif tau.has_interval and tau.high < 1 - 1e-9:
            votes = "order models differently"
        ways.insert(0, f"{first}; votes {votes}")
    return Answer(
        headline=f"{longest(ways, [row.model for row in found.rows] + [found.anchor])}.",
        figures=line(
            [
                f"{best.model} {share(best.p)} against {found.anchor}",
                lead and f"lead over {found.rows[1].model} {difference(lead, unit=' points')}",
                tau and f"τ {measured(tau)} with votes",
                count(best.n, "item"),
                count(best.n_judges, "judge"),
            ]
        ),
        good=scores_kind(boards, statistics) == "finding",
    )


def leader(found: ScoreBoard) -> str:
    """Which model leads by direct scores, by how much, and whether that may be chance."""
    best = found.rows[0]
    scores = (
        f"its score beats that of {found.anchor} with probability {percent(best.p.value)}"
        f"{_ends(best.p)}, a tie being half a win ({best.n:,} items"
        f"{f', mean of {best.n_judges} judges' if best.n_judges > 1 else f', {found.judges[0]}'})"
    )
    if best.p.high < 0.5:
        return f"By direct scores no model beats the anchor; {best.model} comes nearest: {scores}."
    if not beats_anchor(found):
        of_several = f"as the best of {len(found.rows)} " if best.p.low > 0.5 else ""
        return (
            f"By direct scores {best.model} is first, but {of_several}not shown "
            f"to be better than the anchor: {scores}."
        )
    return f"By direct scores {best.model} leads: {scores}.{_runner_up(found)}"


def beats_anchor(found: ScoreBoard) -> bool:
    """The interval of the first's logit p, widened as it is the best of several, lies above 0."""
    best = found.rows[0]
    if not best.p.has_interval:
        return False
    logit, low = (math.log(p) - math.log1p(-p) for p in (best.p.value, best.p.low))
    return logit - bonferroni_factor(len(found.rows), level=found.level) * (logit - low) > 0


def beside_votes(found: Dispersion) -> str:
    """Whether votes rank alike, and on which of the two judges agree more."""
    by_votes = _measure(found, "p by votes")
    if by_votes.n_judges == 0:
        return "There are no votes against this anchor to compare the scores with."
    return f"{_order(found)} {agree_more(found)}"


def agree_more(found: Dispersion) -> str:
    """On which measure these judges agree more: SDs of p on one scale, and in units of the models'
    spread.

    The interval is over models, so it is about these judges on other models, not other judges: of
    judges drawn to be as sharp by scores as by votes, nine sets in ten do differ.
    """
    scores, votes = _measure(found, "p by scores"), _measure(found, "p by votes")
    if not found.shared or found.excess is None or scores.sd is None or votes.sd is None:
        return (
            "Whether these judges agree more on scores or on votes is "
            "unknown: no two of them gave both."
        )
    differ = (
        "These judges' win probabilities of a model differ by an SD of "
        f"{100 * scores.sd.value:.1f} points by scores and {100 * votes.sd.value:.1f} by votes "
        f"({votes.n_judges} judges, {votes.n_models} models)"
    )
    if not found.excess.excludes(0):
        return f"{differ}: not shown that they agree more on either of other models."
    more, less = ("votes", "scores") if found.excess.value > 0 else ("scores", "votes")
    sentence = f"{differ}: on other models too, these judges agree more on {more}"
    one, two = (
        (scores.relative, votes.relative) if more == "scores" else (votes.relative, scores.relative)
    )
    if one is not None and two is not None and one >= two:
        return (
            f"{sentence}, but {more} put models nearer together: by "
            f"the models' spread, more on {less}."
        )
    return f"{sentence}."


def correlations(found: DirectStatistics) -> str:
    """How far judges agree on direct scores."""
    known = [(row, row.pearson) for row in found.pairs if row.pearson is not None]
    if not known:
        return "Fewer than two judges scored the same responses, so their agreement is unknown."
    least, r = min(known, key=lambda pair: pair[1].value)
    if len(known) == 1:
        ends = f" ({r.low:.2f} to {r.high:.2f})" if r.has_interval else ""
        return (
            f"Scores of {least.judge_1} and {least.judge_2} correlate by {r.value:.2f}{ends} "
            f"on {least.n:,} responses."
        )
    mean = np.mean([found.value for _, found in known])
    return (
        f"Judges' scores of the same responses correlate by {mean:.2f} on average of "
        f"{len(known):,} pairs; least those of {least.judge_1} and {least.judge_2}, {r.value:.2f}."
    )


def crowded(found: DirectStatistics) -> str | None:
    """Judges that give the highest score so often that it tells little; None if there are none."""
    whole = [row for row in found.rows if row.model is None]
    full = sorted((row for row in whole if row.top.low > CROWDED), key=lambda row: -row.top.value)
    if not full:
        return None
    listed = ", ".join(f"{row.judge} {percent(row.top.value)}{_ends(row.top)}" for row in full[:5])
    return (
        f"Ceiling effect: share of scores at the highest given, {found.highest:g}: {listed}. A "
        "judge that gives its top score to everybody measures nothing."
    )


def scores_kind(boards: ScoreBoards, found: DirectStatistics) -> Kind:
    """A warning where the first model is not shown to beat the anchor, or judges are at their
    ceiling.
    """
    return "finding" if beats_anchor(boards.mean) and crowded(found) is None else "warning"


def no_scores(judged: Mapping[str, DirectScores], judge: str) -> str:
    """Why a chosen judge has none."""
    return f"{judge} gave no direct scores; shown are those of {', '.join(judged)}."


def _given(row: ScoreStatistics, highest: float) -> str:
    why = "one item" if row.items < 2 else "no judge gave another score"
    mean, ends = row.mean, f" (no interval: {why})"
    if mean.has_interval:
        ends = f" ({mean.low:.2f} to {mean.high:.2f})"
    return (
        f"{row.judge} gave {row.model} a mean of {mean.value:.2f}{ends} on {row.items:,} items; "
        f"{percent(row.top.value)}{_ends(row.top)} of its scores are {highest:g}, the highest "
        "given."
    )


def _runner_up(found: ScoreBoard) -> str:
    if found.lead is None or not found.lead.has_interval:
        return ""
    lead = found.lead.scaled(100)
    chance = "is more than chance" if lead.low > 0 else "may be chance"
    return (
        f" Its lead over {found.rows[1].model}, {lead.value:.1f} points ({lead.low:.1f} to "
        f"{lead.high:.1f}{of_pairs(pairs_of(len(found.rows)))}), {chance}."
    )


def _order(found: Dispersion) -> str:
    tau = found.kendall
    if tau is None:
        return "Fewer than three models have both scores and votes, so orders cannot be compared."
    same = "Votes rank them the same" if tau.value > 1 - 1e-9 else "Against the order by votes"
    return f"{same}: Kendall τ {tau.value:.2f}{order_ends(tau)}, {found.n_ordered} models."


def _measure(found: Dispersion, name: str) -> Spread:
    return next(row for row in found.measures if row.measure == name)


def _ends(share: Estimate) -> str:
    return f" ({percent_span(share)})" if share.has_interval else ""
