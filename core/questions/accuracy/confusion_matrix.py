"""Where a judge is wrong: its votes, or an aggregator's labels, against gold; a tie is a class of
its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ...errors import InvalidOption
from ...records import NO_GOLD, FloatArray, IntArray, VoteCounts
from ...schema import VOTE_LABELS
from ...stats.estimate import DataFrame, Estimate, Estimates, data_frame, flat
from ...stats.intervals import dense_codes, design_effect_of_sums, wilson, wilson_by_item

TieRule = Literal["keep", "drop_votes", "drop_gold", "drop_both"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Confusion:
    """Counts of gold against verdict, 3 × 3 in the order -1, 0, 1: rows gold, columns verdict.

    share : P(verdict | gold), each row sums to 1, its interval clustered by item; NaN in a row
        without gold.
    accuracy : share of verdicts on the diagonal, items weighing alike, with `wilson_by_item`; None
        when n = 0.
    constant : share of the `n` that the best constant answer gets right, the commonest gold label;
        None when n = 0.
    unit : `votes`, or `comparisons` when one label per comparison was given.
    without_gold : verdicts left out because their comparison has no gold; `dropped` by the tie rule
        `ties`.
    """

    labels: tuple[int, ...]
    counts: IntArray
    share: Estimates
    accuracy: Estimate | None
    constant: float | None
    n: int
    unit: Literal["votes", "comparisons"]
    ties: TieRule
    without_gold: int
    dropped: int

    def to_frame(self) -> DataFrame:
        """One row per cell: gold, verdict, count, share and its interval."""
        gold, verdict = np.meshgrid(self.labels, self.labels, indexing="ij")
        columns = {"gold": gold, "verdict": verdict, "count": self.counts} | flat(
            self, names=["share"]
        )
        return data_frame({name: values.reshape(-1) for name, values in columns.items()})


def confusion(
    counts: VoteCounts,
    *,
    labels: IntArray | None = None,
    ties: TieRule = "keep",
    level: float = 0.95,
) -> Confusion:
    """3 × 3 table of gold against verdict, P(verdict | gold) and accuracy.

    P(j | i) = N_ij / Σ_j N_ij; accuracy = Σ_i N_ii / N. Nothing left: zero counts, NaN shares,
    accuracy None.

    counts : votes of one judge with gold; comparisons without gold are left out and counted.
    labels : (comparisons,) in {-1, 0, 1}: an aggregator's label of each, in place of the votes.
    ties : what a tie is (ours). `keep`: a class like the others, right only against a tie.
        `drop_votes`: verdicts that tie are left out, so accuracy is among decided verdicts.
        `drop_gold`: comparisons whose gold is a tie are left out, and a tied verdict on the others
        is wrong. `drop_both`: both, the forced two-way accuracy.
    level : of the accuracy's interval, Wilson with a design effect by item (ours).

    Raises InvalidOption for an unknown tie rule, or labels of another length or outside -1, 0, 1.
    Source: docs/methods.md §3, §0.

    >>> said = np.array([[0, 0, 1], [0, 0, 1], [1, 0, 0]])  # votes -1, 0, +1 on each comparison
    >>> votes = VoteCounts.of(said, comparison=np.arange(3), item=np.arange(3),
    ...     gold=np.array([1, -1, -1]))
    >>> table = confusion(votes)
    >>> table.counts.tolist(), round(table.accuracy.value, 3)
    ([[1, 0, 1], [0, 0, 0], [0, 0, 1]], 0.667)
    """
    if ties not in get_args(TieRule):
        raise InvalidOption(f"ties = {ties!r}: must be one of {', '.join(get_args(TieRule))}")
    verdicts = counts.votes
    if labels is not None:
        if len(labels) != len(counts) or not np.isin(labels, VOTE_LABELS).all():
            raise InvalidOption(f"labels: needs {len(counts)} values in -1, 0, 1, one a comparison")
        verdicts = (np.asarray(labels)[:, None] == np.array(VOTE_LABELS)).astype(np.int64)
    has_gold = counts.gold != NO_GOLD
    without_gold = int(verdicts[~has_gold].sum())
    verdicts, gold, item = verdicts[has_gold], counts.gold[has_gold], counts.item[has_gold]
    before = int(verdicts.sum())
    if ties in ("drop_gold", "drop_both"):
        decided = gold != 0
        verdicts, gold, item = verdicts[decided], gold[decided], item[decided]
    if ties in ("drop_votes", "drop_both"):
        verdicts = verdicts * np.array([1, 0, 1])
    table = np.stack([verdicts[gold == label].sum(axis=0) for label in VOTE_LABELS]).astype(
        np.int64
    )
    n = int(table.sum())
    row_total = table.sum(axis=1, keepdims=True)
    share = np.divide(table, row_total, out=np.full((3, 3), np.nan), where=row_total > 0)
    low, high = _cell_intervals(item, verdicts, gold, table, level)
    correct = verdicts[np.arange(len(gold)), gold + 1]
    return Confusion(
        labels=VOTE_LABELS,
        counts=table,
        share=Estimates(share, low, high, n=np.broadcast_to(row_total, (3, 3)), level=level),
        accuracy=wilson_by_item(item, verdicts.sum(axis=1), correct, level=level) if n else None,
        constant=float(row_total.max() / n) if n else None,
        n=n,
        unit="votes" if labels is None else "comparisons",
        ties=ties,
        without_gold=without_gold,
        dropped=before - n,
    )


def commonest_error(table: Confusion) -> tuple[int, int, int] | None:
    """(gold, verdict, count) of the largest cell off the diagonal; None without an error.

    Equal ones: the first in the order -1, 0, 1 of gold, then of the verdict.
    """
    off = np.where(np.eye(3, dtype=bool), 0, table.counts)
    row, column = np.unravel_index(int(off.argmax()), off.shape)
    count = int(off[row, column])
    return (table.labels[row], table.labels[column], count) if count else None


def _cell_intervals(
    item: IntArray, verdicts: IntArray, gold: IntArray, table: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Wilson interval of each share at n/deff, deff by item within the row; NaN in a row without
    gold.
    """
    code = dense_codes(item)
    low, high = np.full((3, 3), np.nan), np.full((3, 3), np.nan)
    for row, label in enumerate(VOTE_LABELS):
        of_label = gold == label
        n = int(table[row].sum())
        if not n:
            continue
        hits = np.stack([np.bincount(code[of_label], verdicts[of_label, k]) for k in range(3)])
        total = hits.sum(axis=0)
        items, n_n = int((total > 0).sum()), float((total**2).sum())
        deff = design_effect_of_sums(n, table[row], items, n_n, hits @ total, (hits**2).sum(axis=1))
        low[row], high[row] = wilson(table[row], n, level=level, deff=deff)
    return low, high
