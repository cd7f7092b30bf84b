"""Stores of earlier layouts: a step from each layout to the next, and the copy that is kept first.

Whoever raises `schema.VERSION` adds a step here, and a small store of the layout before to
`tests/data/stores` (its README says how). A step never changes afterwards: it names the columns
of its own layouts, not those of `schema`, which go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .label_upgrade import separate_labels
from .schema import VERSION

if TYPE_CHECKING:
    import duckdb

    from .statements import Statements

Step = Callable[["Statements"], Sequence[str]]
"""Brings a store from one layout to the next inside one transaction, and gives what its user should
know.
"""
UNFINISHED = ".part"
"""Ends the name of a copy that is being written."""


def _without(names: Sequence[str]) -> str:
    """SQL: the extra columns of a row, but those that now have a column of their own."""
    listed = ", ".join(f"'{each}'" for name in names for each in _names(name))
    left = f"map_from_entries(list_filter(map_entries(extra), lambda e: e.key not in ({listed})))"
    return f"case when cardinality({left}) > 0 then {left} end as extra"


def _rebuild(change: Statements, table: str, columns: str, new: Mapping[str, str]) -> None:
    """Give a table further columns in the order of the next layout.

    columns : all of its columns, as `create table` takes them.  new : the further ones, and SQL of
    their values in rows of before. A column of a file that had the name of a further one was an
    extra column until now.
    """
    values = ", ".join(f"{value} as {name}" for name, value in new.items())
    change.execute(f"alter table {table} rename to earlier")
    change.execute(f"create table {table} ({columns})")
    change.execute(
        f"insert into {table} by name "
        f"select * replace ({_without(tuple(new))}), {values} from earlier order by rowid"
    )
    change.execute("drop table earlier")


def _was_extra(name: str, kind: str = "varchar") -> str:
    """SQL: what a file said in a column that had no name of ours until now, or another's."""
    cells = ", ".join(f"extra['{each}']" for each in _names(name))
    return f"try_cast(coalesce({cells}) as {kind})"


def _names(name: str) -> tuple[str, str]:
    return name, f"{name} (in the file)"


def _number_clusters(change: Statements, table: str) -> None:
    """Enter the texts of clusters, which lie where all texts do."""
    cluster = _was_extra("cluster")
    change.execute(
        f"""insert into texts
            select (select coalesce(max(id), 0) from texts) + row_number() over (order by text),
                   text
            from (select distinct {cluster} as text from {table})
            where text is not null and text not in (select text from texts)"""
    )


def _from_5(change: Statements) -> list[str]:
    """The longest reply is no part of the key of a request any more."""
    if not change.count("select count(*) from replies"):
        return []
    return [
        "Replies of models that were stored in layout 5 are kept; a collection that is gone on "
        "with asks for them again"
    ]


def _from_6(change: Statements) -> list[str]:
    """Rankings: whether an answer itself says that it is not sure. Files: how many rows."""
    # The earlier stores of layout 6 lack them; of those files nobody knows it.
    for column in ("rows", "rejected"):
        change.execute(f"alter table files add column if not exists {column} bigint")
    _rebuild(
        change,
        "rankings",
        """id bigint, dataset integer, item integer, category integer, judge integer, run bigint,
           candidate integer, slot integer, score double, rank integer,
           calibrated_uncertainty tinyint, uncertain tinyint,
           major_error tinyint, unsupported tinyint, chosen tinyint, is_best tinyint,
           status tinyint, human boolean,
           prompt integer, response integer, rationale integer, prompt_hash integer,
           temperature double, cost double, extra map(varchar, varchar)""",
        {"calibrated_uncertainty": _was_extra("calibrated_uncertainty", "tinyint")},
    )
    return []


def _from_7(change: Statements) -> list[str]:
    """Scores: a metric, gold, the scale, a cluster, a length and a confidence."""
    change.execute("create table metrics (id integer, name varchar)")
    metric, cluster = f"coalesce({_was_extra('metric')}, 'score')", _was_extra("cluster")
    change.execute(
        f"""insert into metrics select row_number() over (order by name), name from
            (select distinct {metric} as name from scores)"""
    )
    _number_clusters(change, "scores")
    numbers = {
        **dict.fromkeys(("gold", "scale_low", "scale_high"), "double"),
        "lower_is_better": "tinyint",
        "length": "bigint",
        "confidence": "double",
    }
    _rebuild(
        change,
        "scores",
        """id bigint, dataset integer, item integer, category integer, model integer, judge integer,
           metric integer, run bigint, score double, gold double, scale_low double,
           scale_high double, lower_is_better tinyint, cluster integer, status tinyint,
           human boolean, prompt integer, response integer, length bigint, rationale integer,
           confidence double, prompt_hash integer, temperature double, cost double,
           extra map(varchar, varchar)""",
        {
            "metric": f"(select m.id from metrics m where m.name = {metric})",
            "cluster": f"(select t.id from texts t where t.text = {cluster})",
            **{name: _was_extra(name, kind) for name, kind in numbers.items()},
        },
    )
    return []


def _from_8(change: Statements) -> list[str]:
    """Labels that people give here."""
    change.execute(
        """create table labelling (dataset integer, seed bigint, planned integer, kind varchar,
                                   of_file boolean, metric integer, began_at timestamp);
           create table label_order (dataset integer, place integer, item integer,
                                     comparison integer, model integer);
           create table label_log (id bigint, dataset integer, person varchar, act varchar,
                                   place integer, answer varchar, label double, swapped boolean,
                                   tags varchar, note varchar, given_at timestamp)"""
    )
    return []


def _from_9(change: Statements) -> list[str]:
    """Files: how many rows were kept without a confidence that could not be read."""
    change.execute("alter table files add column unread bigint")
    change.execute("update files set unread = 0")
    return []


def _from_11(change: Statements) -> list[str]:
    """Votes: a cluster, the unit that intervals count."""
    _number_clusters(change, "details")
    _rebuild(
        change,
        "details",
        """vote bigint, prompt integer, response_a integer, response_b integer, rationale integer,
           prompt_hash integer, length_a bigint, length_b bigint, temperature double, cost double,
           cluster integer, extra map(varchar, varchar)""",
        {"cluster": f"(select t.id from texts t where t.text = {_was_extra('cluster')})"},
    )
    return []


STEPS: Mapping[int, Step] = {
    5: _from_5,
    6: _from_6,
    7: _from_7,
    8: _from_8,
    9: _from_9,
    10: separate_labels,
    11: _from_11,
}
"""Layout → what brings a store from it to the next."""
OLDEST = min(STEPS)
"""The earliest layout that is upgraded."""


def upgrade(change: Statements, layout: int) -> list[str]:
    """Bring a store from a layout to the present one, inside one transaction; what its user should
    know.
    """
    notes: list[str] = []
    for each in range(layout, int(VERSION)):
        notes += STEPS[each](change)
    change.execute("update settings set value = ? where key = 'schema'", [VERSION])
    change.execute("update settings set value = (value::bigint + 1)::varchar where key = 'version'")
    return notes


def copy(connection: duckdb.DuckDBPyConnection, target: Path) -> None:
    """Write all that a store holds, whatever is in its log too, into a new file: whole or not at
    all.

    The file is read as a database, and not byte by byte: who closes a file gives up every lock that
    the process has on it, and blocks that are damaged are found.
    """
    part = target.with_name(target.name + UNFINISHED)
    try:
        ((name,),) = connection.execute("select current_database()").fetchall()
        connection.execute(f"attach '{_quoted(part)}' as kept (type duckdb)")
        _copy(connection, str(name), "kept")
        # Written out, else it would only be in the log of the copy.
        connection.execute("detach kept")
        part.rename(target)
    except BaseException:
        with suppress(Exception):
            connection.execute("detach kept")
        for path in (part, part.with_name(f"{part.name}.wal")):
            path.unlink(missing_ok=True)
        raise


def copy_into(connection: duckdb.DuckDBPyConnection, place: Path) -> None:
    """Write all that a store holds, which is only read, into an empty database."""
    ((name,),) = connection.execute("select current_database()").fetchall()
    connection.execute(f"attach '{_quoted(place)}' as kept (type duckdb, read_only)")
    _copy(connection, "kept", str(name))
    connection.execute("detach kept")


def _copy(connection: duckdb.DuckDBPyConnection, source: str, target: str) -> None:
    names = [name.replace('"', '""') for name in (source, target)]
    connection.execute('copy from database "{}" to "{}"'.format(*names))


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def kept_beside(place: Path, layout: int) -> Path:
    """A name for the copy of a store of an earlier layout that no other file has."""
    return place.with_name(f"{place.name}.layout-{layout}-{time.strftime('%Y%m%d-%H%M%S')}")


def cut_short(place: Path, layout: int) -> list[str]:
    """What is to be said where an earlier upgrade of a store was begun; its half copies are
    removed.
    """
    begun = sorted(place.parent.glob(f"{_literal(place.name)}.layout-{layout}-*"))
    for path in begun:
        if path.name.endswith((UNFINISHED, f"{UNFINISHED}.wal")):
            path.unlink(missing_ok=True)
    whole = [path.name for path in begun if path.exists()]
    if not begun:
        return []
    copies = f" (copies of then: {', '.join(whole)})" if whole else ""
    return [
        f"An earlier upgrade of {place.name} did not come to its end and left the store as it was"
        f"{copies}"
    ]


def _literal(name: str) -> str:
    """A name of a file in a pattern that stands for itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
