"""A table of text cells, and how CSV, TSV and their like are taken apart into one."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnreadableFile
from ..files import Progress
from ..labels import shown
from .columns import (
    Cells,
    JoinedCells,
    Rejects,
    cell_codes,
    cell_text,
    constant_cells,
    map_cells,
    wide_cells,
)
from .plain import DELIMITERS
from .source import Source, refuse_size

if TYPE_CHECKING:
    pass

_HEADER_LIMIT = 1024**2
_BLOCK = 1024**2
MAX_RAGGED = 100_000
"""Most rows with another number of cells than the header."""
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
            f"({shown(ragged[0].text)}). Close its quotes, or write names without quotes."
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
            "Add at least one row."
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
            f"{place}: one column only ({shown(cells[0] if cells else '')}). The file must be "
            "separated by comma, semicolon, tab or bar, with a header such as item_id,judge,vote."
        )
    refuse_size(source.name, source.rows, width)
    if len(set(cells)) < width:
        refuse_twice(f"{source.name}: line {_header_line(source)}: columns", cells)
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
                f"the file is one cell ({shown(tail)}). Close the quote, or write it twice inside "
                "a quoted cell."
            )


def refuse_twice(place: str, names: list[str]) -> None:
    """A column would hide another of the same name, spaces around it aside."""
    named = Counter(filter(None, names))
    if twice := next((name for name, count in named.items() if count > 1), None):
        first = names.index(twice)
        both = f"{first + 1} and {names.index(twice, first + 1) + 1} are both named {shown(twice)}"
        raise UnreadableFile(f"{place} {both}. Rename or remove one.")
