"""Which judges judged which models against an anchor: models are ranked together by the same judges
only.

A strict judge gives low scores to whatever it judges, so a board that pools models of different
judges ranks the judges as much as the models.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...records import PairScores, Panel, independent
from .anchored import Board, Prior, board, met


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgedBoard:
    """A leaderboard and whose votes made it; `judge` None is a pooled board.

    pooled_judges : whose votes made it.  left_out_judges : others that met the anchor and are not
        in a pooled board, because they did not judge all of its models or read other judgements;
        none for a judge's own board.
    """

    judge: str | None
    board: Board
    pooled_judges: tuple[str, ...]
    left_out_judges: tuple[str, ...]


def panels(
    judged: Mapping[str, PairScores], anchors: Iterable[str]
) -> dict[str, tuple[Panel, ...]]:
    """Panels of each anchor, most models first; one, of all models and judges, where all judged the
    same.

    J(m) are the judges of model m against the anchor. Each distinct J(m), and their intersection,
    is the set of judges of a panel; its models are those with J(m) ⊇ the set. A panel of one model
    is kept only for a model that is on no other, so every model that met the anchor has a number.
    Judges that met the anchor and are not of the set are left out; those that read other judgements
    are in no set (`independent`).

    judged : scores of each judge, which share the codes of models.
    anchors : one that met nobody, or is unknown, has no panel.

    Source: docs/methods.md §6 (ours).
    """
    judges_of: dict[str, dict[str, set[str]]] = {anchor: defaultdict(set) for anchor in anchors}
    for judge in independent(judged):
        pairs = judged[judge]
        size = max(len(pairs.models), 1)
        for code in np.unique(pairs.model_1 * size + pairs.model_2).tolist():
            names = [pairs.models[place] for place in divmod(code, size)]
            for anchor, model in (names, names[::-1]):
                if anchor in judges_of:
                    judges_of[anchor][model].add(judge)
    return {
        anchor: _panels(
            {model: frozenset(judges) for model, judges in sorted(found.items())}, anchor
        )
        for anchor, found in judges_of.items()
    }


def _panels(judges_of: Mapping[str, frozenset[str]], anchor: str) -> tuple[Panel, ...]:
    if not judges_of:
        return ()
    sets = {*judges_of.values(), frozenset.intersection(*judges_of.values())} - {frozenset()}
    ranked = {own: tuple(model for model in judges_of if judges_of[model] >= own) for own in sets}
    together = {model for models in ranked.values() if len(models) > 1 for model in models}
    everyone = frozenset().union(*judges_of.values())
    found = [
        Panel(
            anchor=anchor,
            judges=tuple(sorted(own)),
            models=models,
            left_out=tuple(sorted(everyone - own)),
        )
        for own, models in ranked.items()
        if len(models) > 1 or models[0] not in together
    ]
    return tuple(
        sorted(found, key=lambda panel: (-len(panel.models), -len(panel.judges), panel.judges))
    )


def unequal(found: Sequence[Panel]) -> bool:
    """Whether the models of an anchor were judged by different judges."""
    return any(panel.left_out for panel in found) or len(found) > 1


def judged_boards(
    pairs: Mapping[str | None, PairScores],
    of_anchor: Mapping[str, Sequence[Panel]],
    scores_of: Mapping[Panel, PairScores],
    *,
    prior: Prior = "jeffreys",
    level: float = 0.95,
    pool: int | None = None,
) -> dict[str, tuple[JudgedBoard, ...]]:
    """By anchor its pooled boards, most models first, then the board of each judge that met it.

    pairs : of each judge, and of all under None.  of_anchor : `panels`.  scores_of : of the panels
        of anchors whose models were judged by different judges; others pool all votes.
    prior, level, pool : as for `anchored.board`.
    Raises as that does, for an anchor that met nobody. Source: docs/methods.md §6.
    """
    found = {}
    for anchor, panels_of in of_anchor.items():
        # An anchor that met nobody has no panel, and says so where its board is made.
        everyone = board(pairs[None], anchor, prior=prior, level=level, pool=pool)
        judges = sorted(name for name in pairs if name is not None and met(pairs[name], anchor))
        readers = tuple(name for name in judges if name not in independent(judges))
        rows = [
            JudgedBoard(
                judge=None,
                board=replace(
                    board(scores_of[panel], anchor, prior=prior, level=level, pool=pool),
                    never_met=everyone.never_met,
                )
                if panel in scores_of
                else everyone,
                pooled_judges=panel.judges,
                left_out_judges=(*panel.left_out, *readers),
            )
            for panel in panels_of
        ]
        for judge in judges:
            own = board(pairs[judge], anchor, prior=prior, level=level, pool=pool)
            rows.append(
                JudgedBoard(judge=judge, board=own, pooled_judges=(judge,), left_out_judges=())
            )
        found[anchor] = tuple(rows)
    return found
