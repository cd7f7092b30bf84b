"""Questions to the store about direct scores: what each judge gave each response by itself.

Questions to the store about listwise judgements: how each judge ranked candidates shown together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..records import DirectScores, ListRankings
from ..schema import Selection
from .selection import at_one_moment, by_judge, coded, floats, ints, nothing, numbered, row_scope

if TYPE_CHECKING:
    from .connection import Snapshot


@at_one_moment
def direct_scores(store: Snapshot, selection: Selection) -> dict[str, DirectScores]:
    """Direct scores of each judge, one row a (item, model, run), failed ones left out.

    Codes of items, models and categories are shared by all judges of the selection.

    Raises
    ------
    NoUsableVotes : no score with status ok is selected.
    UnknownName : a name that the store does not have, or a column that scores do not have.
    """
    selected = row_scope(store, selection, "scores")
    table = store.query(
        f"""select v.judge, v.item, v.run, v.score, c.name as category, m.name as model
            from scores v join models m on m.id = v.model left join categories c on c.id = v.category
            where v.status = 0 and {selected.filter}
            order by v.judge, v.item, m.name, v.run""",
        selected.params,
    )
    if not table.num_rows:
        raise nothing(store, selection, "scores")
    item, run, score = numbered(ints(table, "item")), ints(table, "run"), floats(table, "score")
    models, model = coded(table, "model")
    categories, category = coded(table, "category")
    return {
        judge: DirectScores(
            models=models,
            categories=categories,
            item=item[rows],
            category=category[rows],
            model=model[rows],
            run=run[rows],
            score=score[rows],
        )
        for judge, rows in by_judge(table, selected.judges).items()
    }


UNKNOWN = {"rank": 0, "uncertain": -1, "major_error": -1, "unsupported": -1, "is_best": -1}
"""What a record has where the file says nothing."""


@at_one_moment
def list_rankings(store: Snapshot, selection: Selection) -> dict[str, ListRankings]:
    """Rankings of each judge, one row a (item, run, candidate) in the order shown, failed ones left out.

    Codes of items, candidates and categories are shared by all judges of the selection.

    Raises
    ------
    NoUsableVotes : no ranking with status ok is selected.
    UnknownName : a name that the store does not have, or a column that rankings do not have.
    """
    selected = row_scope(store, selection, "rankings")
    known = ", ".join(f"coalesce(v.{name}, {value})::bigint as {name}" for name, value in UNKNOWN.items())
    table = store.query(
        f"""select v.judge, v.item, v.run, v.slot, v.score, v.chosen, {known},
                   c.name as category, m.name as candidate
            from rankings v join models m on m.id = v.candidate left join categories c on c.id = v.category
            where v.status = 0 and {selected.filter}
            order by v.judge, v.item, v.run, v.slot""",
        selected.params,
    )
    if not table.num_rows:
        raise nothing(store, selection, "rankings")
    candidates, candidate = coded(table, "candidate")
    categories, category = coded(table, "category")
    columns: dict[str, Any] = {
        "item": numbered(ints(table, "item")),
        "category": category,
        "candidate": candidate,
        "score": floats(table, "score"),
        "best": ints(table, "is_best"),
        **{
            name: ints(table, name)
            for name in ("run", "slot", "rank", "chosen", "uncertain", "major_error", "unsupported")
        },
    }
    return {
        judge: ListRankings(
            candidates=candidates,
            categories=categories,
            **{name: values[rows] for name, values in columns.items()},
        )
        for judge, rows in by_judge(table, selected.judges).items()
    }


@at_one_moment
def ranked_items(store: Snapshot, selection: Selection) -> tuple[str, ...]:
    """Names of the items that `list_rankings` numbers, in the order of their codes."""
    selected = row_scope(store, selection, "rankings")
    found = store.query(
        f"""select it.name from items it
            where it.id in (select v.item from rankings v where v.status = 0 and {selected.filter})
            order by it.id""",
        selected.params,
    )
    return tuple(found["name"].to_pylist())
