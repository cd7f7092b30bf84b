"""Win rates of models against an anchor as gold would give them, from many votes and few labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from core.counts import NO_GOLD, VoteCounts
from core.leaderboard.debiased import (
    DebiasedRate,
    RoganGladen,
    Weighting,
    debiased_rate,
    oriented,
    rogan_gladen,
)
from core.votes import InvalidOption, NoUsableVotes, TooFewLabels, UnknownName

if TYPE_CHECKING:
    import pandas as pd

RATE_COLUMNS = ("value", "low", "high", "judge", "bias", "labels", "labels_low", "labels_high")
COUNT_COLUMNS = ("weight", "n_labelled", "n_unlabelled", "items_labelled", "items_unlabelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class DebiasedRow:
    """One model against the anchor: its debiased rate, and the two-class correction beside it."""

    model: str
    rate: DebiasedRate
    two_class: RoganGladen


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DebiasedBoard:
    """Debiased win rates against one anchor, best first.

    reasons : why another model that met the anchor has no rate.
    """

    anchor: str
    rows: tuple[DebiasedRow, ...]
    reasons: dict[str, str]
    weighting: Weighting
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a model."""
        import pandas as pd

        rows = []
        for row in self.rows:
            found: dict[str, object] = {"model": row.model}
            found |= {name: getattr(row.rate, name) for name in (*RATE_COLUMNS, "gain", *COUNT_COLUMNS)}
            names = ("value", "low", "high", "sensitivity", "specificity")
            rows.append(found | {f"rogan_gladen_{name}": getattr(row.two_class, name) for name in names})
        return pd.DataFrame(rows)


def pooled(judges: Iterable[VoteCounts]) -> VoteCounts:
    """Votes of several judges of one selection together, each vote weighing the same."""
    known = list(judges)
    if not known:
        raise NoUsableVotes("there is no judge to pool")
    names = [field.name for field in fields(VoteCounts)]
    joined = {name: np.concatenate([getattr(one, name) for one in known]) for name in names}
    comparison, first, row = np.unique(joined["comparison"], return_index=True, return_inverse=True)
    sums = {
        name: np.bincount(row, weights=joined[name], minlength=len(comparison)).astype(np.int64)
        for name in ("plus", "tie", "minus")
    }
    return VoteCounts(comparison=comparison, item=joined["item"][first], gold=joined["gold"][first], **sums)


def hide_gold(counts: VoteCounts, *, share: float, rng: np.random.Generator) -> VoteCounts:
    """Keep the gold of a random `share` of the items that have some: what fewer labels would have told."""
    if not 0 <= share <= 1:
        raise InvalidOption(f"share = {share}: must be between 0 and 1")
    labelled = np.unique(counts.item[counts.gold != NO_GOLD])
    kept = rng.permutation(labelled)[: round(share * len(labelled))]
    gold = np.where(np.isin(counts.item, kept), counts.gold, NO_GOLD)
    return VoteCounts(**{f.name: getattr(counts, f.name) for f in fields(counts)} | {"gold": gold})


def debiased_board(
    counts: VoteCounts,
    anchor: str,
    *,
    model_a: Sequence[str],
    model_b: Sequence[str],
    weighting: Weighting = "full",
    level: float = 0.95,
) -> DebiasedBoard:
    """`debiased_rate` of every model that met `anchor`, its comparisons turned so that it is side A.

    model_a, model_b : name by code of comparison (`core.store.queries.comparison_names`).
    A model with too few labels has a reason instead of a rate; a model compared with itself is left out.

    Raises
    ------
    UnknownName : `anchor` is in no comparison of these votes.  InvalidOption : as for `debiased_rate`.

    Source: methods §9 (ours).
    """
    a, b = (np.asarray(side, dtype=object)[counts.comparison] for side in (model_a, model_b))
    met = (a == anchor) ^ (b == anchor)
    if not met.any():
        raise UnknownName(f"anchor {anchor!r} is in no comparison of these votes")
    candidate = np.where(a == anchor, b, a)
    rows, reasons = [], {}
    for model in sorted(set(candidate[met].tolist())):
        votes = oriented(counts, met & (candidate == model), a == anchor)
        try:
            rate = debiased_rate(votes, weighting=weighting, level=level)
        except TooFewLabels as error:
            reasons[model] = str(error)
            continue
        rows.append(DebiasedRow(model=model, rate=rate, two_class=rogan_gladen(votes, level=level)))
    rows.sort(key=lambda row: (-row.rate.value, row.model))
    return DebiasedBoard(anchor=anchor, rows=tuple(rows), reasons=reasons, weighting=weighting, level=level)


def most_misjudged(found: DebiasedBoard) -> DebiasedRow | None:
    """The model whose rate by the judge is farthest from what gold would give; None without a row."""
    return max(found.rows, key=lambda row: abs(row.rate.judge - row.rate.value), default=None)
