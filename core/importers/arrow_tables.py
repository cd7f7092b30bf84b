"""Parquet files, and tables that are in memory, as tables of text."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnreadableFile
from ..labels import shown
from .bounds import text_limit, unpacked_limit
from .columns import Cells, Rejects, encode_cells
from .json_tables import as_cell
from .source import Source, refuse_size
from .tables import TextTable, refuse_twice

if TYPE_CHECKING:
    import pyarrow as pa

_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(source: Source, max_bytes: int) -> TextTable:
    """Read a Parquet file; see `arrow_table` for its bounds.

    Raises UnreadableFile: no Parquet, damaged, too large, no rows, or duplicate column names.
    """
    table = arrow_table(source.name, source.data, max_bytes)
    if table.num_rows == 0:
        raise UnreadableFile(
            f"{source.name}: row 1: the file has columns but no rows. Add at least one row."
        )
    return table_of_arrow(table, source.name)


def table_of_arrow(table: pa.Table, name: str) -> TextTable:
    """The cells of a table in memory; each distinct text is there once, and NaN is missing.

    Raises UnreadableFile: too large, no rows, or duplicate names.
    """
    refuse_size(name, table.num_rows, table.num_columns)
    called = [column.strip() for column in table.column_names]
    refuse_twice(f"{name}: columns", called)
    if table.num_rows == 0:
        raise UnreadableFile(f"{name}: the table has no rows. Add at least one row.")
    # pandas gives an index without a name a column of its own.
    columns = {
        column: _coded(table.column(i))
        for i, column in enumerate(called)
        if not _INDEX.fullmatch(column)
    }
    return TextTable(
        columns=columns,
        row=np.arange(1, table.num_rows + 1, dtype=np.int32),
        rejects=Rejects(),
        rows=table.num_rows,
    )


def digest(table: TextTable) -> str:
    """SHA-256 of the names, cells and order of a table, whichever library held it."""
    whole = hashlib.sha256()
    for name, cells in table.columns.items():
        texts = [text.encode() for text in cells.dictionary.to_pylist()]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        codes = cells.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        for part in (name.encode(), ends.tobytes(), b"".join(texts), codes.tobytes()):
            whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()


def _coded(column: Any) -> Cells:
    """A column of any type as cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if isinstance(column.type, pa.BaseExtensionType):
            column = pa.chunked_array(
                [chunk.storage for chunk in column.chunks], column.type.storage_type
            )
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        if not (pa.types.is_dictionary(column.type) or pa.types.is_nested(column.type)):
            if pa.types.is_string_view(column.type):
                column = column.cast(pa.large_string())
            if not pa.types.is_null(column.type):
                column = column.dictionary_encode()
        if not pa.types.is_dictionary(column.type):
            return encode_cells(_text(column))
        cells = column.unify_dictionaries().combine_chunks()
        cells = cells.chunk(0) if isinstance(cells, pa.ChunkedArray) else cells
        # Categories that no row has are left out.
        used = cells.indices.dictionary_encode()
        texts = _text(pa.chunked_array([cells.dictionary.take(used.dictionary)]))
        coded = pa.DictionaryArray.from_arrays(used.indices.cast(pa.int32()), texts)
        plain = not texts.null_count and len(pc.unique(texts)) == len(texts)
        return coded if plain else coded.cast(pa.string()).dictionary_encode()
    except pa.ArrowNotImplementedError:
        # Arrow has no text of it, as of an interval; Python has.
        return encode_cells([None if each is None else str(each) for each in column.to_pylist()])


def arrow_table(name: str, data: bytes, max_bytes: int) -> pa.Table:
    """A Parquet file as a table whose texts are still dictionaries where the file has them so.

    Bounded by what the file says that it unpacks to, before anything is read, and by the texts
    written out, while it is read: a column that is too large is named.

    Raises UnreadableFile.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts: dict[str, int] = {}
    batches, size = [], 0
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        _refuse_pages(name, file, len(data), max_bytes)
        leaves = [file.schema.column(i) for i in range(len(file.schema))]
        texts_of = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts_of)
        limit = text_limit(len(data), max_bytes)
        for batch in file.iter_batches():
            batches.append(batch)
            size += batch.nbytes
            for column, values in zip(batch.schema.names, batch.columns, strict=True):
                texts[column] = texts.get(column, 0) + _written_out(values)
            longest = max(texts, key=lambda column: texts[column], default="")
            if sum(texts.values()) > limit or size > max_bytes:
                raise UnreadableFile(
                    f"{name}: column {shown(longest)}: its texts come to {texts[longest]:,} bytes "
                    f"up to row {sum(each.num_rows for each in batches):,}, and all texts to more "
                    f"than {min(limit, max_bytes):,}. Leave out columns that are no part of the "
                    "votes, or split the file."
                )
        return pa.Table.from_batches(batches, batches[0].schema if batches else file.schema_arrow)
    except (pa.ArrowException, OSError) as error:
        first_line = (str(error) or type(error).__name__).splitlines()[0]
        raise UnreadableFile(
            f"{name}: byte 1: not a Parquet file, or damaged ({first_line}). Write it "
            "again, or use CSV."
        ) from None


def _refuse_pages(name: str, file: Any, packed: int, max_bytes: int) -> None:
    """Refuse a Parquet file by what it says of itself. Raises UnreadableFile."""
    facts = file.metadata
    refuse_size(name, facts.num_rows, len(file.schema_arrow.names))
    limit = unpacked_limit(packed, max_bytes)
    sizes: dict[str, list[int]] = {}
    for group in range(facts.num_row_groups):
        for number in range(facts.num_columns):
            chunk = facts.row_group(group).column(number)
            of = file.schema.column(number)
            # A flag is a byte where it is read, and a text at least as long as its place.
            width = {"FIXED_LEN_BYTE_ARRAY": of.length, "BOOLEAN": 1}.get(of.physical_type, 8)
            pair = sizes.setdefault(of.path, [0, 0])
            pair[0] += max(chunk.total_uncompressed_size, 0)
            pair[1] += max(chunk.num_values, 0) * width
    for kind, most in ((0, limit), (1, max_bytes)):
        if sum(pair[kind] for pair in sizes.values()) <= most:
            continue
        largest = max(sizes, key=lambda column: sizes[column][kind])
        raise UnreadableFile(
            f"{name}: column {shown(largest)}: {sizes[largest][kind]:,} bytes once unpacked, and "
            f"all columns more than {most:,}, which no file of votes of {packed:,} bytes has. "
            "Write it without that column, or split it."
        )


def _written_out(values: Any) -> int:
    """Bytes of the texts in an array, each as often as it stands there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_dictionary(kind):
        lengths = pc.binary_length(values.dictionary) if _is_text(kind.value_type) else None
        if lengths is None:
            return 0
        return int(pc.sum(pc.take(lengths, values.indices)).as_py() or 0)
    if _is_text(kind):
        return int(pc.sum(pc.binary_length(values)).as_py() or 0)
    if pa.types.is_struct(kind):
        return sum(_written_out(values.field(i)) for i in range(kind.num_fields))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        inner = values.values if not pa.types.is_map(kind) else None
        return sum(map(_written_out, (values.keys, values.items) if inner is None else (inner,)))
    return 0


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    texts = (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string)
    return any(check(kind) for check in (*texts, pa.types.is_large_binary))


def _text(column: Any) -> Any:
    """Column as text: nested values as JSON, everything else as Arrow writes it."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        return pa.array(
            [
                as_cell(value if not isinstance(value, bytes) else value.hex())
                for value in column.to_pylist()
            ]
        )
    text = column.cast(pa.string()).combine_chunks()
    return text.chunk(0) if isinstance(text, pa.ChunkedArray) else text
