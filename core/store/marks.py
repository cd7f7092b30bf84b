"""The votes behind a mark of a chart: a bin, a cell, a bar or a row; and the errors that
tell most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InvalidOption, NoUsableVotes
from ..schema import CorrectnessRule, Selection
from .arrays import dense_codes
from .export import listed
from .selection import BOTH_ORDERS, Scope, at_one_moment, of_one_kind, pick, scope

if TYPE_CHECKING:
    import pyarrow as pa

    from .connection import Snapshot


LISTED_AT_ONCE = 20_000
"""Votes whose numbers one statement names."""
EDGE_TOLERANCE = 1e-9
"""Bins are (low, high] with edges compared so (docs/methods.md §5)."""
MAJORITY = """(case when n.plus > n.tie and n.plus > n.minus then 1
                   when n.minus > n.tie and n.minus > n.plus then -1 else 0 end)"""
"""Label of a tally `n`."""
SHARE_BEHIND = f"""((case {MAJORITY} when 1 then n.plus when -1 then n.minus else n.tie end)::double
                    / (n.plus + n.tie + n.minus))"""
"""Share of its votes that say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What the votes behind a mark have in common; None sets no condition.

    confidence : (low, high], with 0 in the bin that starts there. vote, gold : -1, 0 or 1. correct
        : vote and
    gold agree (False: there is gold and they do not). counts : (plus, tie, minus) of the judge on
    the
    comparison. label : the judge's majority label of the comparison. models : two models, in either
    orientation. flip : of the pair of orders in one run: `same` verdict, `flip` (another verdict,
        hard flips
    included) or `hard` (+1 against -1). category : "" means without one. slot : the vote went to
        the
    response shown `first`, `second`, or was a `tie` with known position. items : item ids.
    comparisons : codes of comparisons, as the counts of the same selection have them.  judges : any
        of them.
    text : in the prompt, a response or the rationale of the vote, whatever its case.
    rule : under `both_orders`, `confidence` and `correct` speak of the pair of orders as in
        `outcomes`; under `share` of the judge's majority on a comparison with gold and two votes or
        more, and of its share of the votes, as `stats.repeated_votes` has them.
    """

    judge: str | None = None
    judges: tuple[str, ...] | None = None
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
    text: str | None = None
    rule: CorrectnessRule | Literal["share"] = "single"


@at_one_moment
def votes_behind(
    store: Snapshot, selection: Selection, *, mark: Mark, limit: int | None = 1000, offset: int = 0
) -> pa.Table:
    """Usable votes that meet a mark, in the order of loading: at most `limit` after the first
    `offset`.

    Columns are the canonical ones, with gold as the selection forms it, and every extra column.

    Raises NoUsableVotes: no vote meets the mark. UnknownName: a judge or model that the store does
    not have.
    """
    selected = scope(store, selection, listed=True)
    behind, params = _behind(store, selected, selection, mark)
    part = "" if limit is None else f" limit {int(limit)} offset {int(offset)}"
    numbers = store.rows(f"select v.id {behind} order by v.id{part}", params)
    if not numbers:
        raise NoUsableVotes("No vote is behind this mark")
    return _listed(store, selected, [number for (number,) in numbers])


@at_one_moment
def count_behind(store: Snapshot, selection: Selection, *, mark: Mark) -> int:
    """How many usable votes meet a mark: as many rows as `votes_behind` has without a limit."""
    behind, params = _behind(store, scope(store, selection, listed=True), selection, mark)
    ((n,),) = store.rows(f"select count(*) {behind}", params)
    return int(n)


def _behind(
    store: Snapshot, selected: Scope, selection: Selection, mark: Mark
) -> tuple[str, dict[str, str]]:
    """`from … where …` of the votes `v` that meet a mark, and its parameters."""
    if mark.confidence is not None and mark.rule != "share":
        selected = of_one_kind(store, selected)
    conditions, params = _conditions(selected, mark)
    if mark.comparisons is not None:
        # A code rises where a comparison of the selection begins.
        codes = dense_codes(store, selected, selection).comparison
        present = np.flatnonzero(np.diff(codes, prepend=-1))
        if not all(0 <= code < len(present) for code in mark.comparisons):
            raise InvalidOption(f"mark.comparisons: codes go from 0 to {len(present) - 1}")
        wanted = ", ".join(str(present[code]) for code in mark.comparisons) or "null"
        conditions.append(f"v.comparison in ({wanted})")
    joins = ""
    if mark.flip is not None or mark.rule == "both_orders":
        joins += (
            f" join {BOTH_ORDERS} p on (p.judge, p.comparison, p.run) "
            "= (v.judge, v.comparison, v.run)"
        )
        conditions.append("v.position <> 0")
    if mark.counts is not None or mark.label is not None or mark.rule == "share":
        joins += """ join (select v.judge, v.comparison, count_if(v.vote = 1) as plus,
                                  count_if(v.vote = 0) as tie, count_if(v.vote = -1) as minus
                           from {usable} v group by v.judge, v.comparison) n
                    on (n.judge, n.comparison) = (v.judge, v.comparison)"""
    behind = (
        f"from {{usable}} v join {{gold}} g on g.comparison = v.comparison "
        f"{joins} where {{conditions}}"
    )
    return selected.sql(behind, conditions=" and ".join(conditions) or "true"), {
        **selected.params,
        **params,
    }


def _listed(store: Snapshot, selected: Scope, votes: list[Any]) -> pa.Table:
    """All columns of these votes, in the order of their numbers."""
    import pyarrow as pa

    parts = [
        listed(
            store,
            selected,
            f"v.id in ({', '.join(map(str, votes[start : start + LISTED_AT_ONCE]))})",
        )
        for start in range(0, len(votes), LISTED_AT_ONCE)
    ]
    # Extra columns may be of some votes only.
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts, promote_options="default")


Telling = Literal["surest", "flipped", "against people"]


@at_one_moment
def telling_errors(store: Snapshot, selection: Selection, judge: str) -> dict[Telling, pa.Table]:
    """The errors of a judge that tell most, each as the votes to read; those that it did not make
    are absent.

    surest : the vote against gold with the highest confidence.
    flipped : two votes of one run that differ with the order shown, A against B before a tie.
    against people : its votes and theirs where two or more people agree and its majority says
        another, the opposite before a tie, most people first.

    Equal ones: the first that was loaded. Source: ours.
    """
    selected = of_one_kind(store, scope(store, selection, listed=True))
    (number,) = pick("judge", (judge,), {name: number for number, name in selected.judges.items()})
    statements = {
        "surest": """select v.id from {usable} v join {gold} g using (comparison)
            where v.judge = {number} and v.vote <> g.gold and {stated} is not null
            order by {stated} desc, abs(v.vote - g.gold) desc, v.id limit 1""",
        "flipped": f"""select v.id from {{usable}} v join (
                select p.judge, p.comparison, p.run from {BOTH_ORDERS} p
                where p.judge = {{number}} and p.apart > 0
                order by p.apart desc, p.stated desc nulls last, p.comparison, p.run limit 1) f
            on (f.judge, f.comparison, f.run) = (v.judge, v.comparison, v.run)
            where v.position <> 0 order by v.id""",
        "against people": """with o as (
                select v.comparison, min(v.vote) as theirs, count(distinct v.judge) as people
                from votes v
                where v.human and v.status = 0 and v.judge <> {number} and {pool} group by
                v.comparison
                having min(v.vote) = max(v.vote) and count(distinct v.judge) > 1),
            m as (select v.comparison, count_if(v.vote = 1) as plus, count_if(v.vote = 0) as tie,
                         count_if(v.vote = -1) as minus
                  from {usable} v where v.judge = {number} group by v.comparison),
            l as (select o.comparison, o.people, o.theirs,
                         case when plus > tie and plus > minus then 1
                              when minus > plus and minus > tie then -1 else 0 end as own
                  from o join m using (comparison)),
            c as (select l.comparison from l where l.own <> l.theirs
                  order by abs(l.own - l.theirs) desc, l.people desc, l.comparison limit 1)
            select v.id from votes v join c using (comparison)
            where v.status = 0 and {pool} and (v.human or v.judge = {number})""",
    }
    errors: dict[Telling, pa.Table] = {}
    kind: Telling
    for kind in ("surest", "flipped", "against people"):
        votes = store.rows(
            selected.sql(statements[kind], number=str(number), pool=selected.pool), selected.params
        )
        if votes:
            errors[kind] = _listed(store, selected, [vote for (vote,) in votes])
    return errors


def _conditions(selected: Scope, mark: Mark) -> tuple[list[str], dict[str, str]]:
    """SQL predicates on a vote `v`, its gold `g`, its pair `p` and its tally `n`."""
    stated, verdict = {
        "both_orders": ("p.stated", "p.verdict"),
        "share": (SHARE_BEHIND, MAJORITY),
    }.get(mark.rule, (selected.stated, "v.vote"))
    conditions: list[str] = []
    if mark.rule == "share":
        conditions.append("g.gold is not null and n.plus + n.tie + n.minus > 1")
    params: dict[str, str] = {}
    judges = {name: number for number, name in selected.judges.items()}
    if mark.judge is not None:
        conditions.append(f"v.judge = {pick('judge', (mark.judge,), judges)[0]}")
    if mark.judges is not None:
        wanted = ", ".join(map(str, pick("judge", mark.judges, judges))) or "null"
        conditions.append(f"v.judge in ({wanted})")
    if mark.confidence is not None:
        low, high = (float(edge) for edge in mark.confidence)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise InvalidOption(f"mark.confidence {mark.confidence}: both edges must be numbers")
        conditions.append(f"({stated} > {low + EDGE_TOLERANCE!r} or {low <= 0} and {stated} >= 0)")
        conditions.append(f"{stated} <= {high + EDGE_TOLERANCE!r}")
    conditions += [f"v.vote = {int(mark.vote)}"] if mark.vote is not None else []
    conditions += [f"g.gold = {int(mark.gold)}"] if mark.gold is not None else []
    if mark.correct is not None:
        conditions.append(f"{verdict} {'=' if mark.correct else '<>'} g.gold")
    if mark.counts is not None:
        plus, tie, minus = (int(count) for count in mark.counts)
        conditions.append(f"n.plus = {plus} and n.tie = {tie} and n.minus = {minus}")
    if mark.label is not None:
        label = mark.label if mark.label in (-1, 1) else 0
        conditions.append(f"{MAJORITY} = {label}")
    if mark.models is not None:
        params |= {"mark_model_1": mark.models[0], "mark_model_2": mark.models[1]}
        first, second = (f"(select id from models where name = $mark_model_{k})" for k in (1, 2))
        conditions.append(
            f"((g.model_a = {first} and g.model_b = {second}) or "
            f"(g.model_a = {second} and g.model_b = {first}))"
        )
    if mark.flip is not None:
        conditions.append(
            {"same": "p.apart = 0", "flip": "p.apart > 0", "hard": "p.apart = 2"}[mark.flip]
        )
    if mark.category is not None:
        params["mark_category"] = mark.category
        conditions.append(
            "coalesce((select name from categories k where k.id = v.category), '') = $mark_category"
        )
    if mark.slot is not None:
        shown = {"first": 1, "second": -1, "tie": 0}[mark.slot]
        conditions.append(f"v.position <> 0 and v.vote * v.position = {shown}")
    if mark.items is not None:
        params |= {f"mark_item{k}": item for k, item in enumerate(mark.items)}
        listed = ", ".join(f"$mark_item{k}" for k in range(len(mark.items))) or "null"
        conditions.append(f"g.item in (select id from items where name in ({listed}))")
    if mark.text is not None:
        params["mark_text"] = mark.text
        conditions.append(
            "v.id in (select d.vote from details d join texts t "
            "on t.id in (d.prompt, d.response_a, d.response_b, d.rationale) "
            "where contains(lower(t.text), lower($mark_text)))"
        )
    return conditions, params
