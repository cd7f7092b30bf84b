"""What an audit of leaderboards asks beyond the boards: do three models' gaps add up, what if
unsure judges abstained, and what are direct scores like?

Source: [RAEE] Tables 1, 6 and 13; triangles are ours, docs/methods.md §6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...bounds import MOST_SWAPPED, models_with_most_votes, of_models
from ...errors import NoUsableVotes
from ...records import DirectScores, PairDoubt, PairScores
from .anchored import Board
from .anchors import Triangles, triangles
from .robustness import RULES, Abstention, Changed, Rule, abstention, changes
from .score_spread import ScoreAbstention, score_abstention
from .scores import DirectStatistics, direct_statistics

STARTS: dict[Rule, float] = {"run_sd": 0.2, "confidence": 0.7}
"""Threshold at which each model's change is shown first (ours)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Abstained:
    """Abstention by one rule against one anchor: by threshold, and each model at `threshold`."""

    anchor: str
    rule: Rule
    threshold: float
    found: Abstention
    changed: tuple[Changed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverJudges:
    """Elo of one model by the judges that have a board of their own: quartiles and ends, points."""

    anchor: str
    model: str
    judges: int
    least: float
    q1: float
    median: float
    q3: float
    most: float


def over_judges(anchor: str, judged: Mapping[str, Board]) -> tuple[OverJudges, ...]:
    """The distribution over judges of each model's Elo against the anchor, highest median first;
    quartiles by linear interpolation. Source: [RAEE] Figure 6.
    """
    elos: dict[str, list[float]] = {}
    for board in judged.values():
        for row in board.rows:
            elos.setdefault(row.model, []).append(row.elo.value)
    rows = []
    for model, values in elos.items():
        least, q1, median, q3, most = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
        rows.append(
            OverJudges(
                anchor=anchor,
                model=model,
                judges=len(values),
                least=least,
                q1=q1,
                median=median,
                q3=q3,
                most=most,
            )
        )
    return tuple(sorted(rows, key=lambda row: (-round(row.median, 9), row.model)))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoardChecks:
    """Triangles of models, distributions over judges, abstention by anchor and rule, and direct
    scores; None and nothing where `unknown` says why.
    """

    triangles: Triangles | None
    over_judges: tuple[OverJudges, ...]
    abstained: tuple[Abstained, ...]
    statistics: DirectStatistics | None
    score_abstention: ScoreAbstention | None
    unknown: tuple[str, ...]


def board_checks(
    pooled: PairScores | None,
    judged: Mapping[str, Mapping[str, Board]],
    doubts: Mapping[str, PairDoubt],
    scores: Mapping[str, DirectScores],
    *,
    level: float = 0.95,
) -> BoardChecks:
    """All checks that the votes and scores allow.

    pooled : pair scores of all judges; triangles are of the models with most votes.  judged :
        anchor → judge → its board.  doubts : of each judge.  scores : direct ones of each judge.
    """
    anchors = tuple(judged)
    unknown: list[str] = []
    tested = None
    if pooled is not None and anchors:
        most = models_with_most_votes(pooled, anchors, most=MOST_SWAPPED)
        tested = triangles(of_models(pooled, most), level=level)
    abstained = []
    for anchor in anchors:
        for rule in RULES:
            try:
                by_threshold = abstention(doubts, anchor, rule=rule)
            except NoUsableVotes as error:
                unknown.append(f"No abstention against {anchor}: {error}.")
                continue
            threshold = STARTS[rule]
            changed = changes(doubts, anchor, rule=rule, threshold=threshold, level=level)
            abstained.append(
                Abstained(
                    anchor=anchor,
                    rule=rule,
                    threshold=threshold,
                    found=by_threshold,
                    changed=changed,
                )
            )
    statistics = kept = None
    if scores:
        statistics = direct_statistics(scores, level=level)
        try:
            kept = score_abstention(scores, level=level)
        except NoUsableVotes as error:
            unknown.append(f"Direct scores: {error}.")
    return BoardChecks(
        triangles=tested,
        over_judges=tuple(
            row for anchor, boards in judged.items() for row in over_judges(anchor, boards)
        ),
        abstained=tuple(abstained),
        statistics=statistics,
        score_abstention=kept,
        unknown=tuple(unknown),
    )
