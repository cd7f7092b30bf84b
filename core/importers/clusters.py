"""Which items belong together, so that intervals count conversations and not their turns."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import UnknownName
from ..labels import shown
from ..records import IntArray
from ..schema import ImportResult
from .layouts import names, plain
from .options import ReadOptions

NONE = "none"
"""What `--cluster` says where every item stands for itself."""
CALLED = re.compile(
    r"(?:source_question|parent_question|conversation|session|thread|dialog|dialogue|chat|"
    r"trace_parent|parent_trace)(?:_?(?:id|name|no|number|key))?"
)
"""Names of columns that say it, as `plain` returns them."""
LEAST_MEAN = 1.5
"""Items of a cluster on average; with fewer the column names items."""
LEAST_CLUSTERS = 10
"""Below so many a column is taken only where somebody names it: nothing could be graded."""
MOST_ROWS, MOST_TEXT = 1_000_000, 16 * 1024**2
"""Rows, and bytes of different texts, up to which texts are compared."""
TEXTS = ("prompt", "response", "response_a", "response_b")


def with_cluster(options: ReadOptions, columns: tuple[str, ...], name: str) -> ReadOptions:
    """The options with the column that `--cluster` names mapped.

    Raises UnknownName for a column that the file has not.
    """
    column = "" if options.cluster == NONE and NONE not in columns else options.cluster or ""
    if column and column not in columns:
        raise UnknownName(
            "{file}: {option} {value!r}: there is no such column. Columns: {columns}.",
            option="cluster",
            file=name,
            value=column,
            columns=names(columns),
        )
    named = tuple(pair for pair in options.mapping if pair[0] != "cluster")
    return replace(options, mapping=(*named, ("cluster", column)))


def clustered(reading: ImportResult, options: ReadOptions) -> ImportResult:
    """The reading with the clusters that it shows where nobody said any: a column that is named
    like one and holds 1.5 items or more a value, else items with the very same texts.
    """
    rows = reading.votes
    if (
        options.cluster is not None
        or reading.gold_only
        or "cluster" not in rows.column_names
        or rows["cluster"].null_count < len(rows)
        or not len(rows)
    ):
        return reading
    columns = _columns(rows)
    told = [name for name in TEXTS if name in rows.column_names and rows[name].null_count == 0]
    compared = (
        "prompt" in told
        and len(told) > 1
        and len(rows) <= MOST_ROWS
        and sum(rows[name].nbytes for name in told) <= MOST_TEXT
    )
    if not columns and not compared:
        # Numbers of ten million items would be made for nothing.
        return reading
    item = _item_codes(rows)
    for column in columns:
        codes = _codes(_lookup(rows, column))
        clusters, within = _counted(item, codes)
        if clusters and within >= LEAST_MEAN * clusters and clusters >= LEAST_CLUSTERS:
            note = (
                f"Column {shown(column)} says which items belong together ({within / clusters:.3g} "
                f"each): intervals count its {clusters:,} values. --cluster none undoes it."
            )
            return _with(reading, _lookup(rows, column), note)
    groups = _equal_texts(rows, item, told) if compared else None
    if groups is None:
        return reading
    units = len(np.unique(groups))
    note = (
        f"{int(item.max()) + 1:,} items have {units:,} different texts: intervals count texts. "
        "--cluster none undoes it."
    )
    first = np.unique(item, return_index=True)[1]
    return _with(reading, rows["item_id"].take(first[groups[item]]), note)


def _with(reading: ImportResult, cluster: Any, note: str) -> ImportResult:
    rows = reading.votes
    rows = rows.set_column(rows.column_names.index("cluster"), "cluster", cluster)
    return replace(reading, votes=rows, notes=(*reading.notes, note))


def _item_codes(rows: Any) -> IntArray:
    """Numbers of items from 0, those of two data sets apart."""
    dataset, item = _codes(rows["dataset"]), _codes(rows["item_id"])
    key = dataset * (int(item.max()) + 1) + item
    return np.asarray(np.unique(key, return_inverse=True)[1], dtype=np.int64)


def _codes(texts: Any, fold: Callable[[str], str] | None = None) -> IntArray:
    """Numbers of texts, folded ones, from 0; −1 for none."""
    import pyarrow as pa

    if isinstance(texts, pa.ChunkedArray):
        texts = texts.unify_dictionaries().combine_chunks()
    coded = texts if isinstance(texts, pa.DictionaryArray) else texts.dictionary_encode()
    codes = np.asarray(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    if fold is None:
        return codes
    number: dict[str, int] = {}
    of_text = [
        number.setdefault(fold(text or ""), len(number)) for text in coded.dictionary.to_pylist()
    ]
    return np.append(np.array(of_text, dtype=np.int64), -1)[codes]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _columns(rows: Any) -> list[str]:
    """Further columns that are named like a cluster's."""
    import pyarrow.compute as pc

    found = {
        key
        for chunk in rows["extra"].chunks
        for key in (pc.unique(chunk.keys).to_pylist() if len(chunk) else ())
    }
    return sorted(key for key in found if CALLED.fullmatch(plain(key)))


def _lookup(rows: Any, column: str) -> Any:
    import pyarrow.compute as pc

    return pc.map_lookup(rows["extra"], query_key=column, occurrence="first")


def _counted(item: IntArray, cluster: IntArray) -> tuple[int, int]:
    """Clusters, and the items in them; none where an item is in several."""
    known = cluster >= 0
    pairs = np.unique(np.stack([item[known], cluster[known]], axis=1), axis=0)
    items = np.unique(pairs[:, 0])
    if len(items) < len(pairs):
        return 0, 0
    return len(np.unique(pairs[:, 1])), len(items)


def _equal_texts(rows: Any, item: IntArray, told: list[str]) -> IntArray | None:
    """By item the first item with its very texts, prompt and answers; None where all differ."""
    key = np.zeros(len(rows), dtype=np.int64)
    for name in told:
        code = _codes(rows[name], _folded)
        key = np.unique(key * (int(code.max()) + 1) + code, return_inverse=True)[1]
    pairs = np.unique(np.stack([item, key], axis=1), axis=0)
    if len(np.unique(pairs[:, 1])) == len(pairs):
        return None
    # All texts of an item, so that one of two answers to a prompt makes no two items alike.
    of_item: dict[int, list[int]] = {}
    for one, text in pairs.tolist():
        of_item.setdefault(one, []).append(text)
    first: dict[tuple[int, ...], int] = {}
    groups = np.array([first.setdefault(tuple(of_item[one]), one) for one in sorted(of_item)])
    return None if len(np.unique(groups)) == len(groups) else groups
