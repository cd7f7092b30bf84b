"""Answer of the Leaderboard page: who leads, whether that is separable, whether another anchor
agrees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...finding.answer import Answer, in_words, line, longest, share, size
from ...finding.tables import TEXT, Column
from ...finding.wording import count, elo_ends, percent, signed_elo
from ...records import PairScores, Panel, independent
from ...stats.estimate import Estimate
from ...stats.intervals import bonferroni_interval
from .anchored import MID_REGION, Board, BoardRow, board, limits
from .anchors import Triangles
from .by_anchor import AnchorSummary
from .panels import unequal
from .standings import MID_REGION_WANTED, Lead, Standings, most_reversing

if TYPE_CHECKING:
    import pandas as pd

ENDS = ("low", "high")
NAMED = 5
"""More names than this are counted, not listed."""
PUBLISHED, SEEN = "95 % credible interval, as published", "with the variance that was seen"
BOARD = (
    Column("tier", "tier", "d"),
    Column("model", "model", ""),
    Column("n", "n", "d", "prompts"),
    Column("Elo", "elo", "+.0f", ends=ENDS, ends_help=PUBLISHED),
    Column("wins %", "p.value", ".1f", "win probability, a tie being half a win", scale=100),
)
"""A board with its published interval."""
BOARD_CORRECTED = (
    *BOARD[:3],
    Column("Elo", "elo_corrected", "+.0f", ends=ENDS, ends_help=SEEN),
    *BOARD[4:],
)
OTHER_ANCHORS = (
    Column("anchor", "anchor", ""),
    Column("Kendall τ", "kendall_tau", ".2f"),
    Column(
        "reversed",
        lambda row: len(row.reversals),
        "d",
        "pairs of models in opposite order, more than chance on both boards",
    ),
    Column("models", lambda row: len(row.models), "d", "on both boards"),
    Column("mean shift", "mean_abs_centred_shift", ".0f", "Elo, after centring"),
    Column("its first", "leader", ""),
    Column(
        "mid-region %",
        "mid_region_coverage",
        ".0f",
        "models that score between 20 % and 80 %",
        scale=100,
    ),
    Column("≥ 95 %", "mid_region_enough", ""),
    Column("n", "n_items", "d", "prompts"),
)
TRIANGLES = (
    Column("verdict", "verdict", ""),
    Column("triangle", "triangle", ""),
    Column("left over", "residual", "+.0f", "Elo round the triangle"),
    Column("n", "n", "d", "prompts that all three pairs played"),
    Column("z", "z", ".1f"),
    Column("p, Holm", "p_holm", ".2g", "adjusted for the number of triangles"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriangleSummary:
    """A triangle as plain facts.

    words : who beats whom.  intransitive : broken, and every model beats the next all the way
        round.
    """

    words: str
    broken: bool
    intransitive: bool


def leader_sentence(
    found: Standings, triangles: Sequence[TriangleSummary] = (), *, corrected: bool = False
) -> str:
    """Who leads, by how much, whether that is separable, and whether the ranking survives another
    anchor.

    Parameters
    ----------
    found : of `standings`.
    triangles : least p first (`triangle_summaries`).
    corrected : say the dispersion-corrected interval instead of the published one.
    """
    parts = (_first(found.board, corrected), _separable(found.lead), _survives(found, triangles))
    return " ".join(part for part in parts if part)


def sound(found: Standings, triangles: Sequence[TriangleSummary] = ()) -> bool:
    """The first is alone in its tier, no other anchor reverses models, and no triangle is
    broken.
    """
    alone = found.lead is None or len(found.lead.top_tier) == 1
    reversed_somewhere = any(other.reversals for other in found.others)
    return alone and not reversed_somewhere and not any(triangle.broken for triangle in triangles)


MOST_OF_CIRCLE = 50
"""Models up to which three that beat each other in turn are looked for."""


def circle_of(boards: Mapping[str, Board]) -> tuple[str, str, str] | None:
    """Three models of which each is shown to beat the next: a circle, in which none leads.

    x beats y if the dispersion-corrected interval of its Elo on the board of y, widened by
    Bonferroni for the pairs of anchors, is above 0. The circle whose least low end is highest; None
    without one, or among more than 50 anchors. Source: ours.
    """
    if not 3 <= len(boards) <= MOST_OF_CIRCLE:
        return None
    pairs = len(boards) * (len(boards) - 1) // 2
    low = {
        (row.model, anchor): bonferroni_interval(row.elo_corrected, pairs).low
        for anchor, shown in boards.items()
        for row in shown.rows
        if row.model in boards
    }
    beaten: dict[str, list[str]] = {}
    for (model, anchor), end in low.items():
        if end > 0:
            beaten.setdefault(model, []).append(anchor)
    circles = [
        (min(low[a, b], low[b, c], low[c, a]), a, b, c)
        for a, losers in beaten.items()
        for b in losers
        for c in beaten.get(b, ())
        if a in beaten.get(c, ()) and a == min(a, b, c)
    ]
    return max(circles)[1:] if circles else None


def parts_of(boards: Mapping[str, Board]) -> tuple[tuple[str, ...], ...]:
    """Groups of models that met within, and never between, the largest first; one if all are
    joined by others.
    """
    group: dict[str, set[str]] = {}
    for anchor, shown in boards.items():
        joined = {anchor, *(row.model for row in shown.rows)}
        for model in tuple(joined):
            joined |= group.get(model, set())
        group |= dict.fromkeys(joined, joined)
    groups = {tuple(sorted(members)) for members in group.values()}
    return tuple(sorted(groups, key=lambda members: (-len(members), members)))


LEAST_PROMPTS = 10
"""Prompts of a board, below which no model leads or trails by more than chance would show."""


def board_answer(
    found: Standings,
    triangles: Sequence[TriangleSummary] = (),
    *,
    corrected: bool = False,
    circle: tuple[str, str, str] | None = None,
    parts: Sequence[Sequence[str]] = (),
) -> Answer:
    """Who leads, whether that is settled, and whether another anchor agrees.

    circle : three models that beat each other in turn (`circle_of`); then nobody leads.
    parts : groups of models that never met (`parts_of`).
    """
    shown = found.board
    best = shown.rows[0]
    p, elo = best.interval(corrected)
    worst = most_reversing(found)
    turned = worst is not None and bool(worst.reversals)
    broken = any(triangle.intransitive for triangle in triangles)
    top = [row.model for row in shown.rows if row.tier == best.tier]
    several = len(top) > 1
    most = max(row.n for row in shown.rows)
    if p.high < 0.5:
        first = f"No model beats the anchor {shown.anchor}; {best.model} comes nearest"
        if several:
            first = f"No model beats the anchor {shown.anchor}"
    elif several:
        who = " and ".join(top) if len(top) == 2 else f"{in_words(len(top)).capitalize()} models"
        first = f"{who} lead; which is first is open"
    elif len(shown.rows) == 1 and p.low <= 0.5:
        first = f"Which of {best.model} and {shown.anchor} is better is open"
    else:
        first = f"{best.model} leads alone"
    compared = [other for other in found.others if other.kendall_tau is not None]
    ways = [first]
    if circle is not None:
        a, b, c = circle
        ways = [
            f"Nobody leads: {a} beats {b}, {b} beats {c} and {c} beats {a}",
            "Nobody leads: three models beat each other in turn",
        ]
    elif most < LEAST_PROMPTS:
        ways = [f"Nobody leads yet: the board rests on {count(most, 'prompt')}, too few to rank"]
    elif len(parts) > 1:
        never = f"{in_words(len(parts))} groups of models never met"
        ways = [f"{first}; {never}", f"Nobody leads all: {never}"]
    elif turned or broken:
        joined = ", and" if several else "; but"
        ways.insert(0, f"{first}{joined} another anchor changes the order")
    elif compared:
        ways.insert(0, f"{first}; no other anchor is shown to change the order")
    tau = min(compared, key=lambda other: other.kendall_tau or 0.0) if compared else None
    if turned:
        tau = worst
    return Answer(
        headline=f"{longest(ways, [row.model for row in shown.rows] + [shown.anchor])}.",
        figures=line(
            [
                f"{best.model} {share(p)} against {shown.anchor}",
                f"{signed_elo(elo.value)} Elo ({signed_elo(elo.low)} to {signed_elo(elo.high)})",
                tau and f"τ {tau.kendall_tau or 0.0:.2f} with {tau.anchor}",
                count(best.n, "prompt"),
            ]
        ),
        good=circle is None
        and most >= LEAST_PROMPTS
        and len(parts) < 2
        and sound(found, triangles),
    )


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
    return (
        f"{found}."
        if enough
        else f"{found}: outside that range a small difference is many points of Elo."
    )


MODEL_AT_ANCHOR = (
    Column("anchor", "anchor", TEXT),
    Column("model", "model", TEXT),
    Column("prompts", "n", ",d"),
    Column("p", "p"),
    Column("SE of p", "se_p"),
    Column("Elo", "elo", "+.0f"),
    Column("SE of Elo", "se_elo", ".0f"),
    Column("judges", "judges", "d"),
    Column("SD over judges, Elo", "sd_elo", ".0f"),
    Column("CV over judges, p", "cv"),
    Column("strong judges", "strong_judges", "d"),
    Column("Elo, strong judges", "elo_strong", "+.0f"),
)
"""A row per anchor and model (`ModelAtAnchor`)."""
ANCHOR_CHOICES = (
    Column("anchor", "anchor", TEXT),
    Column("models with p in .2 to .8", "coverage", ".2f"),
    Column("least Kendall τ with another anchor", "tau", ".2f"),
    Column("prompts", "prompts", ",d"),
    Column("models it never met", "missed", "d"),
    Column("ranks as all others", lambda row: "yes" if row.serves else "no", TEXT),
)
"""A row per anchor (`AnchorChoice`)."""


def anchor_answer(found: AnchorSummary) -> Answer:
    """The anchor to take, or that none will do."""
    best = found.anchors[0]
    headline = f"No anchor ranks models as all others do; {best.anchor} measures most of them."
    if best.serves:
        others = "every other one" if all_met(found) else "others that met every model"
        ranks = "ranks" if all_met(found) else "rank"
        headline = f"Take {best.anchor} as the anchor: {others} {ranks} models alike."
    return Answer(
        headline=headline,
        figures=line(
            [
                f"{percent(best.coverage)} of the models have a p in .2 to .8",
                best.tau is not None and f"least τ with another anchor {size(best.tau, 2)}",
                count(len(found.anchors), "anchor"),
            ]
        ),
        good=best.serves,
    )


def all_met(found: AnchorSummary) -> bool:
    """Whether no anchor lacks a model that another has."""
    return not any(each.missed for each in found.anchors)


def which_anchor(found: AnchorSummary) -> str:
    """The anchor to take, or that none will do."""
    if len(found.anchors) < 2:
        return "Only one model can be the anchor, so nothing is known of another."
    best = found.anchors[0]
    covered = f"{percent(best.coverage)} of the models have a p in .2 to .8"
    if best.serves and best.tau is not None:
        others = "" if all_met(found) else " that met every model"
        return (
            f"Take {best.anchor} as the anchor: {covered}, and every other anchor{others} ranks "
            f"alike (least τ {best.tau:.2f})."
        )
    return (
        f"None will do: no anchor ranks as all others do (τ above .90). Of all, {best.anchor} "
        f"measures most: {covered}."
    )


def anchors_unknown(found: AnchorSummary) -> list[str]:
    """What the summary of anchors cannot tell, and why."""
    notes = [which_anchor(found)] if found.recommended is None else []
    if any(math.isnan(row.cv) for row in found.rows):
        notes.append(
            "Model × anchor: no spread over judges where fewer than two have a board of their own."
        )
    if any(math.isnan(row.elo_strong) for row in found.rows):
        notes.append("Model × anchor: no Elo of strong judges where none of them met both.")
    return notes


def judged_unequally(found: Sequence[Panel]) -> str | None:
    """Why an anchor has several pooled boards; None where the same judges judged all of
    its models.
    """
    if not unequal(found):
        return None
    first, alone = found[0], [panel.models[0] for panel in found if len(panel.models) == 1]
    every = {model for panel in found for model in panel.models}
    parts = [
        f"Not all models were judged by the same judges against {first.anchor}, and judges differ "
        "in how strict they are, so votes are pooled only over models that the same judges judged"
        + (f": {len(found)} pooled boards, which cannot be compared." if len(found) > 1 else ".")
    ]
    if len(first.models) == len(every):
        parts.append(
            f"{'The first' if len(found) > 1 else 'The board'} ranks all {len(every)} models by "
            f"{named(first.judges)}; left out of it: {named(first.left_out)}."
        )
    if alone:
        parts.append(f"Ranked with no other model, as none had the same judges: {named(alone)}.")
    return " ".join(parts)


ALL_POOLED = (
    "Unlike the board, this pools the votes of all judges, though not all of them judged every "
    "model: part of what differs between models can be how strict their judges are. Choose one "
    "judge to compare them."
)


def readers_apart(judges: Sequence[str]) -> str | None:
    """Which judges are in no pool, as they read the others' judgements; None without any."""
    used = independent(judges)
    readers = [name for name in judges if name not in used]
    if not readers:
        return None
    has = "has a board of its own" if len(readers) == 1 else "have boards of their own"
    return (
        "Left out of the pool, as it would count what other judges said twice: "
        f"{named(readers)}, which {has}."
    )


def pooled_by(judges: Sequence[str], left_out: Sequence[str]) -> str:
    """Whose votes make a pooled board."""
    if not left_out:
        return "all judges pooled"
    return f"{named(judges)} {'pooled' if len(judges) > 1 else 'alone'}"


def named(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:NAMED])
    return f"{shown} and {len(names) - NAMED:,} more" if len(names) > NAMED else shown


def no_board(pairs: PairScores) -> str:
    """Why a selection without an anchor has no board, with the result where just two models met."""
    if not len(pairs):
        return "A leaderboard needs votes on two or more named models; this selection has none."
    if len(pairs.models) == 2:
        row = board(pairs, pairs.models[1]).rows[0]
        return (
            f"Only two models met, so there is nothing to rank: against {pairs.models[1]}, "
            f"{row.model} scores {_share(row)}."
        )
    met = sorted(set(zip(pairs.model_1.tolist(), pairs.model_2.tolist(), strict=True)))
    listed = "; ".join(f"{pairs.models[a]} and {pairs.models[b]}" for a, b in met[:5])
    more = f"; and {len(met) - 5} more" if len(met) > 5 else ""
    return (
        "There is no leaderboard: it ranks models by their votes against one common opponent, the "
        f"anchor, and no model met two others. Those that met: {listed}{more}."
    )


def triangle_summaries(
    found: Triangles, boards: Mapping[str, Board]
) -> tuple[TriangleSummary, ...]:
    """The triangles that could be tested as three facts each, worst first: who beats whom round the
    triangle.

    x beats y if the dispersion-corrected interval of its Elo on the board of y excludes 0. The walk
    goes in the direction of the residual, so that three wins in a row are a circle: intransitive
    judging.

    Source: docs/methods.md §6 (ours).
    """
    rows = {(row.model, anchor): row for anchor, known in boards.items() for row in known.rows}
    summaries = []
    for i in np.flatnonzero(found.tested).tolist():
        walk = [found.a[i], found.b[i], found.c[i]]
        if found.residual[i] < 0:
            walk.reverse()
        legs = [(x, y, rows[x, y]) for x, y in zip(walk, [*walk[1:], walk[0]], strict=True)]
        summaries.append(
            TriangleSummary(
                words=", ".join(_fact(*leg) for leg in legs),
                broken=bool(found.broken[i]),
                intransitive=bool(found.broken[i])
                and all(row.elo_corrected.low > 0 for _, _, row in legs),
            )
        )
    return tuple(summaries)


def triangles_add_up(found: Triangles) -> str:
    """How many of the triangles that could be tested do not add up."""
    if not (tested := int(found.tested.sum())):
        return "Triangles: none could be tested."
    return (
        f"Triangles: {int(found.broken.sum()):,} of {tested:,} that could be tested do not add up."
    )


def triangles_frame(found: Triangles, summaries: Sequence[TriangleSummary]) -> pd.DataFrame:
    """One row per triangle that could be tested, worst first, with its words and its verdict."""
    import pandas as pd

    frame = found.to_frame().head(len(summaries)).drop(columns=["broken"])
    verdicts = [
        "intransitive"
        if one.intransitive
        else "does not add up"
        if one.broken
        else "not shown to be broken"
        for one in summaries
    ]
    words = pd.DataFrame({"triangle": [one.words for one in summaries], "verdict": verdicts})
    return pd.concat([words, frame], axis=1)


def _first(shown: Board, corrected: bool) -> str:
    """The best of several models is above the anchor by chance more often than one model is.

    So it leads if its corrected interval, which tiers rest on too, also excludes one half at 1 − (1
    − level)/models (Bonferroni; ours). That no model beats the anchor needs no such care.
    """
    best = shown.rows[0]
    p, _ = best.interval(corrected)
    level = 1 - (1 - shown.level) / len(shown.rows)
    sure = float(limits(best.p.value, best.se_p_corrected, level=level)[0])
    score = f"scores {_share(best, corrected)}"
    if p.high < 0.5:
        return (
            f"No model beats the anchor, {shown.anchor}; {best.model}, the best of them, {score}."
        )
    if min(p.low, sure) <= 0.5:
        of_several = f"as the best of {len(shown.rows)} " if p.low > 0.5 else ""
        return (
            f"{best.model} is first, but {of_several}not shown to be better than the anchor: "
            f"against {shown.anchor} it {score}."
        )
    return f"{best.model} leads: against {shown.anchor} it {score}."


def _separable(found: Lead | None) -> str:
    if found is None:
        return ""
    lead = found.difference.scaled(100)
    prompts = (
        "on the same prompts" if found.paired else f"on {count(lead.n, 'prompt')} or more each"
    )
    prompts += of_pairs(found.compared)
    # No two shares are more than 100 points apart, whatever a quantile for one or two prompts says.
    low, high = max(lead.low, -100.0), min(lead.high, 100.0)
    lead_over = (
        f"Its lead over {found.runner_up}, {lead.value:.1f} points "
        f"({low:.1f} to {high:.1f} {prompts}),"
    )
    if len(found.top_tier) == 1:
        return f"{lead_over} is more than chance: it is alone in the top tier."
    return f"{lead_over} may be chance: {len(found.top_tier)} models share the top tier."


def of_pairs(compared: int) -> str:
    """What an interval of one pair of models allows for."""
    return f", 95 % for all {compared:,} pairs of models at once" if compared > 1 else ""


def _survives(found: Standings, triangles: Sequence[TriangleSummary]) -> str:
    compared = [other for other in found.others if other.kendall_tau is not None]
    worst = most_reversing(found)
    broken = [triangle for triangle in triangles if triangle.broken]
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
        parts.append(
            "Whether another anchor would rank them alike is unknown: no other model met enough."
        )
    if broken:
        worst_words = (circle or broken[0]).words
        parts.append(
            f"{len(broken):,} of {len(triangles):,} triangles of models do not add up; "
            f"{'intransitive' if circle else 'worst'}: {worst_words}."
        )
    return " ".join(parts)


def _fact(x: str, y: str, row: BoardRow) -> str:
    if not row.elo_corrected.excludes(0):
        return f"{x} and {y} are not separated"
    return f"{x} beats {y}" if row.elo.value > 0 else f"{y} beats {x}"


def _share(row: BoardRow, corrected: bool = False) -> str:
    p, elo = row.interval(corrected)
    scores = f"{percent(p.value)} ({percent_span(p)}, {count(row.n, 'prompt')})"
    return f"{scores}, {signed_elo(elo.value)} Elo {elo_ends(elo)}"


def percent_span(share: Estimate) -> str:
    """Ends of a share with one sign of percent: 31 to 44 %."""
    return f"{percent(share.low).removesuffix(' %')} to {percent(share.high)}"
