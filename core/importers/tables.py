"""Files as tables of text cells: CSV, TSV and their like, JSON, JSON Lines and Parquet.

JSON objects are also kept as records, which the native formats are read from.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnreadableFile
from ..files import Progress
from ..labels import shown
from .bounds import MAX_DEPTH, depth, text_limit, unpacked_limit
from .columns import (
    Cells,
    JoinedCells,
    Rejects,
    cell_codes,
    cell_text,
    constant_cells,
    encode_cells,
    map_cells,
    wide_cells,
)
from .plain import DELIMITERS
from .source import MAX_COLUMNS, Source, refuse_size

if TYPE_CHECKING:
    import pyarrow as pa

_HEADER_LIMIT = 1024**2
_BLOCK = 1024**2
_INDEX = re.compile(r"__index_level_\d+__")
MAX_NAME = 10_000
"""Most characters of a key of JSON objects."""
MAX_RAGGED = 100_000
"""Most rows with another number of cells than the header."""
MAX_RECORDED = 20_000_000
"""Most cells of a table that is read as the records of a tool."""
_WITH_COMMA = re.compile(r"\s*(?:[+-]?[0-9]+(?:,[0-9]+)?\s?%?|)\s*")
_THOUSANDS = re.compile(r"\s*[1-9][0-9]{0,2}(?:,[0-9]{3})?\s*|0?")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TextTable:
    """Columns of text cells; `row` numbers the data rows from 1, ragged rows are in `rejects` only.

    one_hot : the column `winner` was made of several that hold a 1 for the winner.
    """

    columns: dict[str, Cells]
    row: NDArray[np.integer[Any]]
    rejects: Rejects
    rows: int
    delimited: bool = False
    notes: tuple[str, ...] = ()
    one_hot: bool = False

    def head(self, n: int = 20) -> tuple[tuple[str, ...], ...]:
        """First rows as text."""
        first = [column.slice(0, n).to_pylist() for column in self.columns.values()]
        return tuple(tuple(text or "" for text in row) for row in zip(*first, strict=True))


def stack(
    table: TextTable, columns: Sequence[str], whole: Collection[str] = ()
) -> tuple[TextTable, Cells, NDArray[np.int64]]:
    """A row per cell of some columns, row by row: the other columns, the cells, and the place of
    the column that each is of.

    whole : columns of which a blank cell has a row too.
    """
    import pyarrow as pa

    cells = [map_cells(table.columns[name], str.strip) for name in columns]
    rows = [
        np.arange(len(table.row)) if name in whole else np.flatnonzero(cell_codes(column) >= 0)
        for name, column in zip(columns, cells, strict=True)
    ]
    take, which = (
        np.concatenate([np.zeros(0, np.int64), *parts])
        for parts in (rows, [np.full(len(part), k) for k, part in enumerate(rows)])
    )
    order = np.lexsort((which, take))
    parts = [
        wide_cells(column.take(pa.array(part))) for column, part in zip(cells, rows, strict=True)
    ]
    stacked = pa.chunked_array(parts, wide_cells(constant_cells(None, 0)).type)
    take, which = take[order], which[order]
    long = replace(
        table,
        columns={
            name: column.take(pa.array(take))
            for name, column in table.columns.items()
            if name not in columns
        },
        row=table.row[take],
    )
    return long, stacked.unify_dictionaries().combine_chunks().take(pa.array(order)), which


def read_delimited(source: Source, progress: Progress | None = None) -> TextTable:
    """Read a delimited text file with a header.

    Blank cells are missing; rows with too few or too many cells are rejected by row.
    progress : hears how much of it is read.

    Raises UnreadableFile: no header, one column only, no rows, duplicate column names, a quote that
    never closes.
    """
    delimiter, header = _header(source)
    cells, ragged = _split(source, delimiter, len(header), progress)
    if ragged and ragged[0].number == 1:
        raise UnreadableFile(
            f"{source.name}: line {_header_line(source)}: the header cannot be split into columns "
            f"({shown(ragged[0].text)}). "
            "Close its quotes, or write names without quotes."
        )
    rejects = Rejects()
    for bad in ragged:
        found = f"{bad.actual_columns} cells where the header has {bad.expected_columns}"
        reason = f"{found}; quote cells that hold the {DELIMITERS[delimiter]} or a line break"
        rejects.add(bad.number - 1, "(whole row)", bad.text, reason)
    columns = dict(zip(header, cells, strict=True))
    if source.path is None and source.data.count(b'"') % 2:
        _refuse_open_quote(source, columns, ragged)
    rows = len(cells[0]) + len(ragged)
    if rows == 0:
        raise UnreadableFile(
            f"{source.name}: line {_header_line(source) + 1}: the file has a header but no rows. "
            "Add at least one row of votes."
        )
    row = np.arange(1, rows + 1, dtype=np.int32)
    row = np.delete(row, [bad.number - 2 for bad in ragged]) if ragged else row
    unnamed = [i + 1 for i, name in enumerate(header) if not name]
    columns.pop("", None)
    notes = source.notes
    if source.encoding != "UTF-8":
        notes += (f"The text is no UTF-8 and is read as {source.encoding}.",)
    if unnamed:
        notes += (f"Column {unnamed[0]} has no name and was left out.",)
    if delimiter != "," and (with_commas := _read_decimal_commas(columns)):
        notes += (f"Decimal commas read in {', '.join(map(shown, with_commas))}.",)
    return TextTable(
        columns=columns, row=row, rejects=rejects, rows=rows, delimited=True, notes=notes
    )


def _read_decimal_commas(columns: dict[str, Cells]) -> list[str]:
    """Write numbers with a point in columns that have a comma there, and name those.

    Spreadsheets of many countries write `92,5`, and part cells by semicolons for it. A column is
    read so if all of its cells are numbers (also with `%`), none of them has a point, and one has a
    comma. Where three digits stand behind each comma, and others are whole numbers below 1,000, the
    commas part thousands.
    """
    changed = []
    for name, cells in columns.items():
        texts = cells.dictionary.to_pylist()
        parted = [text for text in texts if "," in text]
        numbers = bool(parted) and all(_WITH_COMMA.fullmatch(text) for text in texts)
        whole = len(parted) < len(texts) and all(map(_THOUSANDS.fullmatch, texts))
        if numbers and not whole:
            columns[name] = map_cells(cells, lambda text: text.replace(",", "."))
            changed.append(name)
    return changed


def _split(
    source: Source, delimiter: str, width: int, progress: Progress | None
) -> tuple[list[Cells], list[Any]]:
    """Columns of the rows below the header that have as many cells as it, and all rows of any other
    number.
    """
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    names = [str(i) for i in range(width)]
    text = pa.py_buffer(source.data)
    start = len(source.data) - len(source.data.lstrip(b"\r\n")) if source.data[:1] in b"\r\n" else 0
    ragged: list[Any] = []

    def skip(row: Any) -> str:
        ragged.append(row)
        return "skip" if len(ragged) <= MAX_RAGGED else "error"

    whole = source.size + 1
    # A cell may be longer than a block, and then the file is one. With threads a row of another
    # width has no number, so where there is one the file is read again without.
    for block, threads in ((min(_BLOCK, whole), True), (min(_BLOCK, whole), False), (whole, False)):
        ragged.clear()
        columns = [JoinedCells() for _ in names]
        file = pa.OSFile(str(source.path)) if source.path else pa.BufferReader(text.slice(start))
        try:
            with file:
                batches = pa_csv.open_csv(
                    file,
                    read_options=pa_csv.ReadOptions(
                        use_threads=threads, block_size=block, column_names=names
                    ),
                    parse_options=pa_csv.ParseOptions(
                        delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
                    ),
                    convert_options=pa_csv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())),
                        null_values=[""],
                        strings_can_be_null=True,
                        check_utf8=False,
                    ),
                )
                header, rows = 1, 0
                for batch in batches:
                    rows += len(batch)
                    if progress is not None:
                        progress(min(rows / max(source.rows, 1), 1.0), "Reading the file")
                    for column, cells in zip(columns, batch.columns, strict=True):
                        if header and len(cells):
                            cells = cells.slice(1).cast(pa.string()).dictionary_encode()
                        column.add(cells)
                    header = header and not len(batch)
            if not (threads and ragged):
                break
        except pa.ArrowInvalid as error:
            if threads:
                continue
            if len(ragged) > MAX_RAGGED:
                line = ragged[0].number + _header_line(source) - 1
                raise UnreadableFile(
                    f"{source.name}: line {line}: more than {MAX_RAGGED:,} rows have another "
                    f"number of cells than the header, which has {width}. Check the header and "
                    "the separator."
                ) from None
            if block == whole:
                raise UnreadableFile(
                    f"{source.name}: no table of {DELIMITERS[delimiter]}-separated cells ({error})."
                ) from None
    # Arrow keeps what the blocks took for the next file, a hundred megabytes and more.
    pa.default_memory_pool().release_unused()
    return [column.whole() for column in columns], ragged


def unguard(text: str) -> str:
    """Undo the apostrophe that an export puts before a text cell which a spreadsheet would run as a
    formula.

    The export puts one before any text that matches ^'*[=+-@ tab CR LF ＝＋－＠], so one is
    taken from the same after ^'+.
    """
    return text[1:] if _GUARDED.match(text) else text


def _header_line(source: Source) -> int:
    """Number of the line of the header in the file, from 1."""
    blank = source.data[: len(source.data) - len(source.data.lstrip(b"\r\n"))]
    return 1 + source.above + max(blank.count(b"\n"), blank.count(b"\r"))


def _refuse_labels_alone(place: str, start: str) -> None:
    """Refuse a file of one label a line, as FairEval's people gave them, for what it is."""
    lines = [line.strip() for line in start.splitlines() if line.strip()]
    labels = sorted({*lines})
    if len(lines) >= 3 * len(labels) and 2 <= len(labels) <= 5:
        raise UnreadableFile(
            f"{place}: the file holds one label a line ({', '.join(map(shown, labels))}) "
            "and does not say of what. Put the name of the item and of whoever labelled it beside "
            "each, in the order of the questions, under a header such as item_id,judge,vote."
        )


def _header(source: Source) -> tuple[str, list[str]]:
    """Delimiter and column names: the delimiter that splits the first record into most columns."""
    start = source.data[:_HEADER_LIMIT].decode("utf-8", "ignore").lstrip("\r\n")
    if start.lstrip()[:1] == "<":
        raise UnreadableFile(
            f"{source.name}: line {_header_line(source)}: the file is HTML or XML. Download the "
            "raw file, or save it as CSV."
        )
    found: list[tuple[int, int, str, list[str]]] = []
    for order, delimiter in enumerate([source.separator] if source.separator else DELIMITERS):
        try:
            cells = next(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter), [])
        except csv.Error:
            continue
        found.append((len(cells), -order, delimiter, [cell.strip() for cell in cells]))
    width, _, delimiter, cells = max(found, default=(0, 0, ",", []))
    if width < 2:
        place = f"{source.name}: line {_header_line(source)}"
        _refuse_labels_alone(place, start)
        raise UnreadableFile(
            f"{place}: one column only ({shown(cells[0] if cells else '')}). The file must "
            "be "
            "separated by comma, semicolon, tab or bar, with a header such as item_id,judge,vote."
        )
    refuse_size(source.name, source.rows, width)
    if len(set(cells)) < width:
        _refuse_twice(f"{source.name}: line {_header_line(source)}: columns", cells)
    return delimiter, cells


def _refuse_open_quote(source: Source, columns: Mapping[str, Cells], ragged: Sequence[Any]) -> None:
    """Refuse a quote that runs to the end of the file: it swallows every row after it."""
    last = [cell_text(column, len(column) - 1) for column in columns.values() if len(column)]
    tails = [tail for tail in (*last[-1:], *(bad.text for bad in ragged[-1:])) if "\n" in tail]
    whole = source.text().rstrip("\r\n")
    for tail in (tail.rstrip("\r\n") for tail in tails):
        if whole.endswith(tail[-200:]):
            line = source.above + whole.count("\n") - tail.count("\n") + 1
            raise UnreadableFile(
                f"{source.name}: line {line}: a quote is opened and never closed, so the rest of "
                "the file is "
                f"one cell ({shown(tail)}). Close the quote, or write it twice inside a quoted "
                "cell."
            )


Record = Mapping[str, Any]
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Records:
    """JSON objects with their row, counted from 1; lines that are none are in `rejects`."""

    records: list[Record]
    row: list[int]
    rejects: Rejects
    rows: int


def read_records(
    source: Source, is_record: Callable[[Record], bool] = lambda whole: False
) -> Records:
    """Read a JSON array of objects, an object that holds one such array, or one object a line.

    The text is parsed whole before it is tried as lines: lines of one large object may parse alone.

    is_record : whether an object that is the whole file is itself the record, whatever arrays it
        holds.

    Raises UnreadableFile: no JSON, nested too deep, or no object in it.
    """
    text, deep = source.text(), depth(source.data) > MAX_DEPTH
    if text.lstrip()[:1] == "[":
        found, rejects = _array(source.name, text, deep), Rejects()
    else:
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError) as error:
            found, rejects = _lines(source.name, text, error, deep)
        else:
            found, rejects = (
                _unwrapped(source.name, _flat(source.name, whole, deep), is_record),
                Rejects(),
            )
    good = [(row, value) for row, value in found if isinstance(value, dict)]
    for row, value in found:
        if not isinstance(value, dict):
            rejects.add(
                row,
                "(whole row)",
                json.dumps(value),
                "not a JSON object; write {…} with the columns as keys",
            )
    if not good:
        first = f" Row {rejects.found[0][0]}: {rejects.found[0][3]}." if len(rejects) else ""
        raise UnreadableFile(
            f"{source.name}: row 1: no JSON object in the file.{first} Write an array of objects, "
            "or one object a line."
        )
    row_numbers, records = map(list, zip(*good, strict=True))
    return Records(records=records, row=row_numbers, rejects=rejects, rows=len(good) + len(rejects))


def _flat(name: str, whole: Any, deep: bool) -> Any:
    """What was read, unless it is nested too deep."""
    if deep:
        raise UnreadableFile(
            f"{name}: line 1: nested deeper than {MAX_DEPTH}, which is no file of votes. Write a "
            "flat array of objects."
        )
    return whole


def _array(name: str, text: str, deep: bool) -> list[tuple[int, Any]]:
    try:
        values = _flat(name, json.loads(text), deep)
    except RecursionError:
        _flat(name, None, True)
    except json.JSONDecodeError as error:
        raise _invalid(name, error) from None
    except ValueError as error:
        raise UnreadableFile(
            f"{name}: line 1: a number that cannot be read ({error}). Shorten it."
        ) from None
    return list(enumerate(values, start=1))


def _invalid(name: str, error: json.JSONDecodeError) -> UnreadableFile:
    return UnreadableFile(
        f"{name}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}). "
        "The file may be cut off; write it again, or use one object a line."
    )


def _unwrapped(
    name: str, whole: Record, is_record: Callable[[Record], bool]
) -> list[tuple[int, Any]]:
    """The records of an object: those of its only list of objects, or itself."""
    lists = {
        key: value
        for key, value in whole.items()
        if isinstance(value, list) and any(isinstance(one, dict) for one in value)
    }
    if not lists or is_record(whole):
        return [(1, whole)]
    if len(lists) > 1:
        raise UnreadableFile(
            f"{name}: line 1: one JSON object with {len(lists)} lists of objects "
            f"({', '.join(map(shown, lists))}). Save the one that holds the judgements as a file "
            "of its own."
        )
    (records,) = lists.values()
    return list(enumerate(records, start=1))


def _lines(
    name: str, text: str, whole: Exception, deep: bool
) -> tuple[list[tuple[int, Any]], Rejects]:
    """One object per line. whole : why the text is not JSON as a whole."""
    found: list[tuple[int, Any]] = []
    rejects = Rejects()
    for row, line in enumerate(filter(str.strip, text.split("\n")), start=1):
        try:
            if deep and depth(line.encode()) > MAX_DEPTH:
                raise RecursionError
            found.append((row, json.loads(line)))
        except RecursionError:
            reason = f"nested deeper than {MAX_DEPTH}, which is no vote; write a flat object"
            rejects.add(row, "(whole row)", line, reason)
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            rejects.add(
                row,
                "(whole row)",
                line,
                f"not valid JSON ({reason}); write one complete object a line",
            )
    # Most lines of a large object that was cut off are no objects; the few that are would pass for
    # it.
    cut_off = found and len(rejects) > len(found) and rejects.found[0][0] == 1
    if cut_off and isinstance(whole, json.JSONDecodeError):
        raise _invalid(name, whole)
    return found, rejects


def table_of_records(records: Records, file: str) -> TextTable:
    """Records as a table: nested values stay as JSON text, null is missing."""
    names: dict[str, None] = {}
    for record in records.records:
        names |= dict.fromkeys(record)
        if len(names) > MAX_COLUMNS:
            break
    refuse_size(file, len(records.records), len(names))
    if (longest := max(map(len, names), default=0)) > MAX_NAME:
        raise UnreadableFile(
            f"{file}: row 1 or below: a key of {longest:,} characters, more than {MAX_NAME:,}. "
            "Shorten it."
        )
    called = [_text_of(name).strip() for name in names]
    _refuse_twice(f"{file}: row 1 or below: keys", called)
    cells = (
        encode_cells([_cell(record.get(name)) for record in records.records]) for name in names
    )
    columns = dict(zip(called, cells, strict=True))
    return TextTable(
        columns=columns,
        row=np.array(records.row, np.int32),
        rejects=records.rejects,
        rows=records.rows,
    )


def records_of_table(table: TextTable, file: str) -> Records:
    """Rows of a table as records of texts; a missing cell is None.

    Raises UnreadableFile: more cells than a log has.
    """
    names = list(table.columns)
    if len(names) * len(table.row) > MAX_RECORDED:
        raise UnreadableFile(
            f"{file}: {len(table.row):,} rows of {len(names):,} columns, more than "
            f"{MAX_RECORDED:,} cells, which no log of a tool has. Keep the columns of the "
            "judgements, or split the file."
        )
    columns = (column.to_pylist() for column in table.columns.values())
    rows = zip(*columns, strict=True)
    records: list[Record] = [dict(zip(names, cells, strict=True)) for cells in rows]
    return Records(
        records=records, row=[int(row) for row in table.row], rejects=table.rejects, rows=table.rows
    )


def _refuse_twice(place: str, names: list[str]) -> None:
    """A column would hide another of the same name, spaces around it aside."""
    named = Counter(filter(None, names))
    if twice := next((name for name, count in named.items() if count > 1), None):
        first = names.index(twice)
        both = f"{first + 1} and {names.index(twice, first + 1) + 1} are both named {shown(twice)}"
        raise UnreadableFile(f"{place} {both}. Rename or remove one.")


def _cell(value: object) -> str | None:
    kind = type(value)
    if value is None or value == "":
        return None
    if kind is int or (kind is float and math.isfinite(value)):  # type: ignore[arg-type]
        return repr(value)
    return _text_of(value if isinstance(value, str) else _ENCODE(value))


def _text_of(text: str) -> str:
    """A lone surrogate is legal in JSON and in no UTF-8 text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def read_parquet(source: Source, max_bytes: int) -> TextTable:
    """Read a Parquet file; see `arrow_table` for its bounds.

    Raises UnreadableFile: no Parquet, damaged, too large, no rows, or duplicate column names.
    """
    table = arrow_table(source.name, source.data, max_bytes)
    if table.num_rows == 0:
        raise UnreadableFile(
            f"{source.name}: row 1: the file has columns but no rows. Add at least one row of "
            "votes."
        )
    return table_of_arrow(table, source.name)


def table_of_arrow(table: pa.Table, name: str) -> TextTable:
    """The cells of a table in memory; each distinct text is there once, and NaN is missing.

    Raises UnreadableFile: too large, no rows, or duplicate names.
    """
    refuse_size(name, table.num_rows, table.num_columns)
    called = [column.strip() for column in table.column_names]
    _refuse_twice(f"{name}: columns", called)
    if table.num_rows == 0:
        raise UnreadableFile(f"{name}: the table has no rows. Add at least one row of votes.")
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
                _cell(value if not isinstance(value, bytes) else value.hex())
                for value in column.to_pylist()
            ]
        )
    text = column.cast(pa.string()).combine_chunks()
    return text.chunk(0) if isinstance(text, pa.ChunkedArray) else text
