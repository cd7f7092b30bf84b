"""Direct scores and listwise judgements: what each judge gave each response, and how it ranked candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import DirectScores, ListRankings
from ..schema import Selection
from .selection import at_one_moment, fetch, scope

if TYPE_CHECKING:
    from .connection import Database, Snapshot


def direct_scores(store: Database | Snapshot, selection: Selection) -> dict[str, DirectScores]:
    """Direct scores of each judge, one row per (item, model, run), failed ones left out.

    Codes of items, models and categories are shared by all judges of the selection.

    Raises
    ------
    NoUsableVotes : no score with status ok is selected.
    UnknownName : a name that the store does not have, or a column that scores do not have.
    """
    listed = """
        select v.judge, v.item, v.run, v.score, c.name as category_, m.name as model_
        from {usable} v join models m on m.id = v.model left join categories c on c.id = v.category
        order by v.judge, v.item, m.name, v.run"""
    return fetch(store, selection, listed, DirectScores, kind="scores")


UNKNOWN = {"rank": 0, "uncertain": -1, "major_error": -1, "unsupported": -1}
"""What a record has where the file says nothing."""


def list_rankings(store: Database | Snapshot, selection: Selection) -> dict[str, ListRankings]:
    """Rankings of each judge, one row per (item, run, candidate) in the order shown, failed ones left out.

    Codes of items, candidates and categories are shared by all judges of the selection.

    Raises
    ------
    NoUsableVotes : no ranking with status ok is selected.
    UnknownName : a name that the store does not have, or a column that rankings do not have.
    """
    known = ", ".join(f"coalesce(v.{name}, {value})::bigint as {name}_" for name, value in UNKNOWN.items())
    listed = """
        select v.judge, v.item, v.run, v.slot, v.score, v.chosen, coalesce(v.is_best, -1)::bigint as best,
               {known}, c.name as category_, m.name as candidate_
        from {usable} v join models m on m.id = v.candidate left join categories c on c.id = v.category
        order by v.judge, v.item, v.run, v.slot"""
    return fetch(store, selection, listed, ListRankings, kind="rankings", known=known)


@at_one_moment
def ranked_items(store: Snapshot, selection: Selection) -> tuple[str, ...]:
    """Names of the items that `list_rankings` numbers, in the order of their codes."""
    selected = scope(store, selection, "rankings")
    listed = "select it.name from items it where it.id in (select v.item from {usable} v) order by it.id"
    return tuple(name for (name,) in store.rows(selected.sql(listed), selected.params))
