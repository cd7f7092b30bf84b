"""Versions of one judge under one name, told apart by a column or by the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import UnknownName
from ..schema import FORMS, ImportResult
from .source import stem_of

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "file"
"""What is said instead of a column where each file has a version of its own."""
NONE = "none"
"""What is said where no column or file has versions."""
BETWEEN = "between files"
"""Each file has a version of its own of the judges that are in several: what `--compare` reads."""


def name_versions(results: Sequence[ImportResult], version: str | None) -> list[ImportResult]:
    """The readings with `judge@value` for each judge, where `version` is a column that has a value,
    or `judge@week1` where it is `file`; people keep their names.

    Raises UnknownName: no reading has the column.
    """
    if version in (None, NONE) or not results:
        return [*results]
    if version == BETWEEN:
        return _between(results)
    named = [_named(result, version) for result in results]
    if all(each is None for each in named):
        raise UnknownName(
            "{option} {value!r}: no file has this column. Use a column, or {allowed}.",
            option="version",
            value=version,
            allowed=f"{FILE} or {NONE}",
        )
    return [result if one is None else one for result, one in zip(results, named, strict=True)]


def _between(results: Sequence[ImportResult]) -> list[ImportResult]:
    """The readings with `judge@week1` where a judge is in several files."""
    files: dict[str, set[str]] = {}
    for result in results:
        if not result.gold_only and result.votes.num_rows:
            for judge in result.votes["judge"].unique().to_pylist():
                files.setdefault(judge, set()).add(stem_of(result.name))
    if all(len(each) < 2 for each in files.values()):
        return [*results]
    return [_named(result, FILE) or result for result in results]


def _named(result: ImportResult, version: str) -> ImportResult | None:
    """A reading with versions in the names of its judges; None if it has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if result.gold_only or not result.votes.num_rows:
        return None
    values = _values(result, version)
    if values is None:
        return None
    judge, rater_type = (
        result.votes[name].cast(pa.string()).combine_chunks() for name in ("judge", "rater_type")
    )
    with_version = pc.binary_join_element_wise(judge, values, "@")
    own = pc.and_(pc.is_valid(values), pc.not_equal(pc.fill_null(rater_type, "llm"), "human"))
    names = pc.if_else(own, with_version, judge).dictionary_encode()
    place = result.votes.schema.get_field_index("judge")
    return replace(result, votes=result.votes.set_column(place, "judge", names))


def _values(result: ImportResult, version: str) -> pa.Array | None:
    """The version of each row as text; None if the file has no such column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = result.votes
    if version == FILE:
        return pa.repeat(stem_of(result.name), table.num_rows)
    column: Any
    if version in FORMS[result.kind].names:
        column = table[version].cast(pa.string())
    else:
        column = pc.map_lookup(table["extra"], version, "first")
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return None if column.null_count == len(column) else column
