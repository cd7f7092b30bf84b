"""Versions of one judge under one name, told apart by a column or by the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnknownName
from ..reading.words import OF_VERSIONS, may_be_versions, tokens, what, who
from ..schema import FORMS, ImportResult
from .columns import cell_codes, small_codes
from .options import ReadOptions
from .source import stem_of
from .tables import TextTable

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "file"
"""What is said instead of a column where each file has a version of its own."""
NONE = "none"
"""What is said where no column or file has versions."""
BETWEEN = "between files"
"""Each file has a version of its own of the judges that are in several: what `--compare` reads."""

MOST_VERSIONS = 12
FEWEST_ROWS = 10
"""Rows that each version has at least, and answers that are compared."""
COMMON = 0.8
"""Share of the answers that several versions judged."""
_SURE = OF_VERSIONS - {"prompt"}
_OF_ANSWERS = ("item_id", "judge", "model", "model_a", "model_b", "metric", "dataset")


def versions_in(table: TextTable) -> str | None:
    """The column that tells versions of a judge apart, by its name and by what was judged.

    `judge_version` or `rubric_version` beside a column of judges is one. `version` and
    `prompt_version` may be the product's own: these are where 80 % of the answers, known by their
    texts or by canonical columns, were judged under several of 2 to 12 values.
    """
    for name, cells in table.columns.items():
        if not may_be_versions(name):
            continue
        codes = cell_codes(cells)
        rows = np.bincount(codes[codes >= 0], minlength=1)
        rows = rows[rows > 0]
        if not 2 <= len(rows) <= MOST_VERSIONS or rows.min() < FEWEST_ROWS:
            continue
        others = [column for column in table.columns if column != name]
        if sure := set(tokens(name)) & _SURE:
            if "rubric" in sure or any("judge" in who(column) for column in others):
                return name
            continue
        texts = [each for each in others if what(each) in ({"answer"}, {"prompt"})]
        known = [each for each in _OF_ANSWERS if each in table.columns]
        if not any("answer" in what(each) for each in texts) and "item_id" not in known:
            continue
        key = small_codes([table.columns[each] for each in dict.fromkeys((*known, *texts))])
        pairs = np.unique(np.stack([key, codes], axis=1)[codes >= 0], axis=0)
        times = np.unique(pairs[:, 0], return_counts=True)[1]
        if len(times) >= FEWEST_ROWS and (times > 1).mean() >= COMMON:
            return name
    return None


def with_versions(table: TextTable, options: ReadOptions) -> ReadOptions:
    """The options, with the column of versions that a table has, unless they say."""
    if options.version not in (None, BETWEEN):
        return options
    return replace(options, version=versions_in(table) or options.version)


def noted(results: Sequence[ImportResult], column: str | None) -> list[ImportResult]:
    """The readings of a file with its versions, by a column that was found and not given."""
    note = (
        f"'{column}' tells versions of a judge apart, each a judge of its own; with "
        f"--version {NONE} it does not."
    )
    return [replace(each, notes=(*each.notes, note)) for each in name_versions(results, column)]


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
