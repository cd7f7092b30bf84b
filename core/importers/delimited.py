"""CSV, TSV and their like, as a sheet of text cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.importers.columns import Coded, Rejects
from core.importers.source import Source
from core.labels import shown
from core.votes import UnreadableFile

DELIMITERS = (",", "\t", ";", "|")
_NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
_HEADER_LIMIT = 1024**2
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sheet:
    """Columns of text cells; `row` numbers the data rows from 1, ragged rows are in `rejects` only."""

    columns: dict[str, Coded]
    row: NDArray[np.int64]
    rejects: Rejects
    rows: int
    delimited: bool = False
    notes: tuple[str, ...] = ()


def read_delimited(source: Source) -> Sheet:
    """Read a delimited text file with a header.

    Blank cells are missing; rows with too few or too many cells are rejected by row.

    Raises
    ------
    UnreadableFile : no header, one column only, no rows, duplicate column names, a quote that never closes.
    """
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    text = source.text()
    delimiter, header = _header(source.name, text)
    _check_names(source.name, header)
    keys = [str(i) for i in range(len(header))]
    ragged: list[Any] = []

    def skip(row: Any) -> str:
        ragged.append(row)
        return "skip"

    data = text.encode("utf-8")
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(data),
            # One block: rows keep their number, and a quoted cell may be as long as it likes.
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=keys),
            parse_options=pa_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()), strings_can_be_null=False, check_utf8=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise UnreadableFile(
            f"{source.name}: no table of {_NAMES[delimiter]}-separated cells ({error})."
        ) from None
    if ragged and ragged[0].number == 1:
        raise UnreadableFile(
            f"{source.name}: line 1: the header cannot be split into columns ({shown(ragged[0].text)}). "
            "Close its quotes, or write names without quotes."
        )
    rejects = Rejects()
    for bad in ragged:
        rejects.add(
            bad.number - 1,
            "(whole row)",
            bad.text,
            f"{bad.actual_columns} cells where the header has {bad.expected_columns}; quote cells that "
            "hold the "
            f"{_NAMES[delimiter]} or a line break",
        )
    table = table.slice(1)
    rows = table.num_rows + len(ragged)
    row = np.setdiff1d(np.arange(1, rows + 1), np.array([bad.number - 1 for bad in ragged], np.int64))
    columns = {name: Coded.of(_one_array(column)) for name, column in zip(header, table.columns, strict=True)}
    _check_quotes(source, text, columns, ragged)
    if rows == 0:
        raise UnreadableFile(
            f"{source.name}: line 2: the file has a header but no rows. Add at least one row of votes."
        )
    unnamed = [i + 1 for i, name in enumerate(header) if not name]
    columns.pop("", None)
    notes = (f"Column {unnamed[0]} has no name and was left out.",) if unnamed else ()
    return Sheet(columns=columns, row=row, rejects=rejects, rows=rows, delimited=True, notes=notes)


def unguard(text: str) -> str:
    """Undo the apostrophe that an export puts before a text cell which a spreadsheet would run as a formula.

    The export puts one before any text that matches ^'*[=+-@ tab CR], so one is taken from ^'+[=+-@ tab CR].
    """
    return text[1:] if _GUARDED.match(text) else text


def _one_array(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _header(name: str, text: str) -> tuple[str, list[str]]:
    """Delimiter and column names: the delimiter that splits the first record into most columns."""
    start = text[:_HEADER_LIMIT].lstrip("\r\n")
    if start.lstrip()[:1] == "<":
        raise UnreadableFile(
            f"{name}: line 1: the file is HTML or XML. Download the raw file, or save it as CSV."
        )
    found: list[tuple[int, int, str, list[str]]] = []
    for order, delimiter in enumerate(DELIMITERS):
        try:
            cells = next(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter), [])
        except csv.Error:
            continue
        found.append((len(cells), -order, delimiter, [cell.strip() for cell in cells]))
    width, _, delimiter, cells = max(found, default=(0, 0, ",", []))
    if width < 2:
        raise UnreadableFile(
            f"{name}: line 1: one column only ({shown(cells[0] if cells else '')}). The file must be "
            "separated by comma, "
            "semicolon, tab or bar, with a header such as item_id,judge,vote."
        )
    return delimiter, cells


def _check_names(name: str, header: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for i, column in enumerate(header, start=1):
        if column and column in seen:
            raise UnreadableFile(
                f"{name}: line 1: columns {seen[column]} and {i} are both named {shown(column)}. Rename "
                "or remove one."
            )
        seen[column] = i


def _check_quotes(source: Source, text: str, columns: dict[str, Coded], ragged: Sequence[Any]) -> None:
    """Refuse a quote that runs to the end of the file: it swallows every row after it."""
    if text.count('"') % 2 == 0:
        return
    last = [column.cell(len(column) - 1) for column in columns.values() if len(column)]
    tails = [cell for cell in (*last[-1:], *(bad.text for bad in ragged[-1:])) if "\n" in cell]
    whole = text.rstrip("\r\n")
    for tail in (tail.rstrip("\r\n") for tail in tails):
        if whole.endswith(tail[-200:]):
            line = whole.count("\n") - tail.count("\n") + 1
            raise UnreadableFile(
                f"{source.name}: line {line}: a quote is opened and never closed, so the rest of "
                "the file is one "
                f"cell ({shown(tail)}). Close the quote, or write it twice inside a quoted cell."
            )
