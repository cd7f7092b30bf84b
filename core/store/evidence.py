"""The votes behind a mark of a chart: a bin, a cell, a bar or a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.store.export import vote_rows
from core.store.scope import Scope, at_one_moment, number, scope, unknown
from core.votes import CorrectnessRule, InvalidOption, NoUsableVotes, Selection, UnknownName

if TYPE_CHECKING:
    import pyarrow as pa

    from core.store.database import Snapshot

EDGE_TOLERANCE = 1e-9
"""Bins are (low, high] with edges compared so (methods §5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What the votes behind a mark have in common; None does not ask.

    confidence : (low, high], with 0 in the bin that starts there. vote, gold : -1, 0 or 1. correct : vote and
    gold agree (False: there is gold and they do not). counts : (plus, tie, minus) of the judge on the
    comparison. label : the judge's majority label of the comparison. models : two models, in either
    orientation. flip : of the pair of orders in one run: `same` verdict, `flip` (another verdict, hard flips
    included) or `hard` (+1 against -1). category : "" means without one. slot : the vote went to the
    response shown `first`, `second`, or was a `tie` with known position. items : item ids.
    comparisons : codes of comparisons, as the counts of the same selection have them.
    rule : under `both_orders`, `confidence` and `correct` speak of the pair of orders as in `outcomes`.
    """

    judge: str | None = None
    confidence: tuple[float, float] | None = None
    vote: int | None = None
    gold: int | None = None
    correct: bool | None = None
    counts: tuple[int, int, int] | None = None
    label: int | None = None
    models: tuple[str, str] | None = None
    flip: Literal["same", "flip", "hard"] | None = None
    category: str | None = None
    slot: Literal["first", "second", "tie"] | None = None
    items: tuple[str, ...] | None = None
    comparisons: tuple[int, ...] | None = None
    rule: CorrectnessRule = "single"


@at_one_moment
def votes_behind(store: Snapshot, selection: Selection, *, mark: Mark, limit: int = 1000) -> pa.Table:
    """Usable votes that meet a mark, in the order of loading, at most `limit`.

    Columns are the canonical ones, with gold as the selection forms it, and every extra column.

    Raises
    ------
    NoUsableVotes : no vote meets the mark. UnknownName : a judge or model that the store does not have.
    """
    selected = scope(store, selection)
    conditions, params = _conditions(selected, mark)
    if mark.comparisons is not None:
        # A code rises where a comparison of the selection begins.
        present = np.flatnonzero(np.diff(number(store, selected, selection).comparison, prepend=-1))
        if not all(0 <= code < len(present) for code in mark.comparisons):
            raise InvalidOption(f"mark.comparisons: codes go from 0 to {len(present) - 1}")
        wanted = ", ".join(str(present[code]) for code in mark.comparisons) or "null"
        conditions.append(f"v.comparison in ({wanted})")
    pair = f"""(select v.judge, v.comparison, v.run, max(v.vote) - min(v.vote) as apart,
                  sign(sum(v.vote)) as vote,
                  case when count(v.confidence) = 2 then sum(v.confidence) / 2 end as confidence
           from votes v where v.status = 0 and v.position <> 0 and {selected.filter}
           group by v.judge, v.comparison, v.run having count(*) = 2)"""
    tally = f"""(select v.judge, v.comparison, count_if(v.vote = 1) as plus, count_if(v.vote = 0) as tie,
                   count_if(v.vote = -1) as minus
            from votes v where v.status = 0 and {selected.filter} group by v.judge, v.comparison)"""
    joins = []
    if mark.flip is not None or mark.rule == "both_orders":
        joins.append(
            f"join {pair} p on v.position <> 0 "
            "and (p.judge, p.comparison, p.run) = (v.judge, v.comparison, v.run)"
        )
    if mark.counts is not None or mark.label is not None:
        joins.append(f"join {tally} n on (n.judge, n.comparison) = (v.judge, v.comparison)")
    found = store.query(
        f"""select v.id from votes v join {selected.gold} g on g.comparison = v.comparison {" ".join(joins)}
            where v.status = 0 and {" and ".join([selected.filter, *conditions])}
            order by v.id limit {int(limit)}""",
        {**selected.params, **params},
    )
    if found.num_rows == 0:
        raise NoUsableVotes("No vote is behind this mark")
    ids = ", ".join(map(str, found["id"].to_pylist()))
    return vote_rows(store, f"v.id in ({ids})", {}, gold=selected.gold)


def _conditions(selected: Scope, mark: Mark) -> tuple[list[str], dict[str, str]]:
    """SQL predicates on a vote `v`, its gold `g`, its pair `p` and its tally `n`."""
    judged = "p" if mark.rule == "both_orders" else "v"
    found: list[str] = []
    params: dict[str, str] = {}
    if mark.judge is not None:
        ids = [code for code, name in selected.judges.items() if name == mark.judge]
        if not ids:
            raise UnknownName(unknown("judge", mark.judge, list(selected.judges.values())))
        found.append(f"v.judge = {ids[0]}")
    if mark.confidence is not None:
        low, high = (float(edge) for edge in mark.confidence)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise InvalidOption(f"mark.confidence {mark.confidence}: both edges must be numbers")
        over = f"{judged}.confidence > {low + EDGE_TOLERANCE!r}"
        found.append(f"({over} or {low <= 0} and {judged}.confidence >= 0)")
        found.append(f"{judged}.confidence <= {high + EDGE_TOLERANCE!r}")
    found += [f"v.vote = {int(mark.vote)}"] if mark.vote is not None else []
    found += [f"g.gold = {int(mark.gold)}"] if mark.gold is not None else []
    if mark.correct is not None:
        found.append(f"{judged}.vote {'=' if mark.correct else '<>'} g.gold")
    if mark.counts is not None:
        plus, tie, minus = (int(count) for count in mark.counts)
        found.append(f"n.plus = {plus} and n.tie = {tie} and n.minus = {minus}")
    if mark.label is not None:
        wins = "n.plus > n.tie and n.plus > n.minus"
        loses = "n.minus > n.tie and n.minus > n.plus"
        found.append({1: f"({wins})", -1: f"({loses})"}.get(mark.label, f"not ({wins}) and not ({loses})"))
    if mark.models is not None:
        params |= {"mark_model_1": mark.models[0], "mark_model_2": mark.models[1]}
        one, two = (f"(select id from models where name = $mark_model_{k})" for k in (1, 2))
        found.append(
            f"((g.model_a = {one} and g.model_b = {two}) or (g.model_a = {two} and g.model_b = {one}))"
        )
    if mark.flip is not None:
        found.append({"same": "p.apart = 0", "flip": "p.apart > 0", "hard": "p.apart = 2"}[mark.flip])
    if mark.category is not None:
        params["mark_category"] = mark.category
        found.append("coalesce((select name from categories k where k.id = v.category), '') = $mark_category")
    if mark.slot is not None:
        shown = {"first": 1, "second": -1, "tie": 0}[mark.slot]
        found.append(f"v.position <> 0 and v.vote * v.position = {shown}")
    if mark.items is not None:
        params |= {f"mark_item{k}": item for k, item in enumerate(mark.items)}
        listed = ", ".join(f"$mark_item{k}" for k in range(len(mark.items))) or "null"
        found.append(f"g.item in (select id from items where name in ({listed}))")
    return found, params
