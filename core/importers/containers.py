"""Excel workbooks: which sheet holds the table, and its cells as CSV, bounded before they are laid
out.

python-calamine reads the cells. It lays out every cell between the first and the last of a sheet,
and writes a shared text out in each cell that has it: a file of a kilobyte could take any memory.
Its parts are looked through first, and it gets those only that were.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from itertools import zip_longest
from xml.parsers import expat

from ..errors import UnreadableFile
from ..extras import install, installed
from ..labels import shown
from .archives import Archive
from .databases import SEPARATOR
from .plain import without_titles

MAX_AREA = 20_000_000
"""Most cells between the first and the last of a sheet, empty ones included."""
_PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_FIRST_ROWS = 200
"""Rows in which a table is looked for."""
_PLAIN_NUMBER = 1e15
"""Whole numbers below it are written without a point; Excel keeps 15 digits."""


def workbook_as_csv(archive: Archive, called: str | None = None) -> tuple[bytes, str]:
    """The sheet of that name, else the first visible one that holds a table, as CSV, and a note on
    which it is and which are not read.

    A line is a row of the sheet, so that a line above the header has its number there. Whole
    numbers are without a point, dates are ISO 8601, and a formula is the value it was saved with.

    Raises UnreadableFile: python-calamine is not installed, damaged, protected, too large, or no
    sheet with a table.
    """
    name = archive.name
    if not installed("python_calamine"):
        raise UnreadableFile(
            f"{name}: an Excel workbook, which needs python-calamine, and that is not installed: "
            f"{install('app')} brings it. Or save the sheet as CSV (UTF-8)."
        )
    import python_calamine as calamine

    try:
        with calamine.load_workbook(io.BytesIO(_looked_through(archive))) as book:
            sheets = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.typ == calamine.SheetTypeEnum.WorkSheet
                and (called is not None or sheet.visible == calamine.SheetVisibleEnum.Visible)
            ]
            for each in sheets if called is None else [_called(name, sheets, called)]:
                sheet = book.get_sheet_by_name(each)
                above, _ = sheet.start or (0, 0)
                first = _csv(sheet.to_python(nrows=_FIRST_ROWS), above)
                if _holds_table(first):
                    text = _csv(sheet.iter_rows(), above)
                    others = [other for other in sheets if other != each]
                    return text, _which(name, each, others, named=called is not None)
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise UnreadableFile(
            f"{name}: the Excel workbook cannot be read ({error}). Save the sheet as CSV (UTF-8)."
        ) from None
    held = ", ".join(map(shown, sheets[:12])) or "none"
    raise UnreadableFile(
        f"{name}: no visible sheet holds a table, which has a header and a row below it (sheets: "
        f"{held}). Put the judgements on one, with a header such as item_id, judge, vote."
    )


def _called(name: str, sheets: Sequence[str], called: str) -> str:
    """The sheet of that name, whatever the case of its letters. Raises UnreadableFile."""
    alike = [sheet for sheet in sheets if sheet.casefold() == called.casefold()]
    if called in sheets or len(alike) == 1:
        return called if called in sheets else alike[0]
    held = ", ".join(map(shown, sheets[:12])) or "none"
    raise UnreadableFile(
        f"{name}: the workbook has no sheet {shown(called)} (sheets: {held}). Name one of these."
    )


def _which(name: str, called: str, others: Sequence[str], *, named: bool) -> str:
    if named or not others:
        return f"Sheet {shown(called)} of the workbook is read."
    more = f" and {len(others) - 12:,} more" if len(others) > 12 else ""
    return (
        f"Sheet {shown(called)} of the workbook is read, the first with a table; not read: "
        f"{', '.join(map(shown, others[:12]))}{more}. Another is read as "
        f"{shown(name + SEPARATOR + others[0])}."
    )


def _holds_table(text: bytes) -> bool:
    """Whether there are two names and a row below them, titles above them aside."""
    below, _ = without_titles(text, ",")
    rows = csv.reader(io.StringIO(below.decode(), newline=""))
    filled = [sum(map(bool, cells)) for cells in rows if any(cells)]
    return len(filled) > 1 and filled[0] > 1


def _csv(rows: Sequence[Sequence[object]] | Iterator[Sequence[object]], above: int) -> bytes:
    """Rows as CSV; one without a cell is an empty line, as are those `above` the first."""
    written = io.StringIO(newline="")
    written.write("\n" * above)
    writer = csv.writer(written, lineterminator="\n")
    for row in rows:
        cells = [_cell(value) for value in row]
        if any(cells):
            writer.writerow(cells)
        else:
            written.write("\n")
    return written.getvalue().encode()


def _cell(value: object) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case float() if value.is_integer() and abs(value) < _PLAIN_NUMBER:
            return str(int(value))
        case datetime() | date() | time():
            return value.isoformat()
    return str(value)


def _looked_through(archive: Archive) -> bytes:
    """The parts of a workbook that are XML and within bounds, packed anew; the others are left out.

    Raises UnreadableFile.
    """
    parts: dict[str, bytes] = {}
    for info in archive.members:
        name = info.filename.casefold()
        # Names are found whatever their case, so of two that differ in it the second is none.
        if name.endswith((".xml", ".rels")) and name not in map(str.casefold, parts):
            parts[info.filename] = archive.read(info)
    packed, looks = io.BytesIO(), []
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        for name, data in parts.items():
            looks.append(_Part(archive.name).look(data))
            file.writestr(name, data)
    # Another part says which part holds the texts that cells share, so the longest of all count.
    lengths = [max(each) for each in zip_longest(*(part.lengths for part in looks), fillvalue=0)]
    used = sum((part.used for part in looks), Counter[int]())
    written_out = sum(n * lengths[at] for at, n in used.items() if at < len(lengths))
    if written_out > archive.left:
        raise UnreadableFile(
            f"{archive.name}: the texts of its cells come to {written_out:,} characters, more than "
            f"{archive.left:,}. Leave out columns that are no part of the votes, or save the sheet "
            "as CSV (UTF-8)."
        )
    return packed.getvalue()


@dataclass(slots=True, eq=False)
class _Part:
    """What a part of a workbook would take: the cells that have a value, and their texts.

    lengths : of the texts that cells share, in characters, where it is the part that holds them.
    used : place of such a text → number of cells that have it.
    """

    name: str
    lengths: list[int] = field(default_factory=list)
    used: Counter[int] = field(default_factory=Counter)
    row: int = 0
    column: int = 0
    shared: bool = False
    value: list[str] | None = None
    rows: list[int] = field(default_factory=lambda: [2**31, 0])
    columns: list[int] = field(default_factory=lambda: [2**31, 0])

    def look(self, data: bytes) -> _Part:
        """Go through it. Raises UnreadableFile: no XML, or more cells than a sheet may have."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._begins
        parser.EndElementHandler = self._ends
        parser.CharacterDataHandler = self._says
        parser.StartDoctypeDeclHandler = self._declares
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise UnreadableFile(
                f"{self.name}: the Excel workbook is damaged ({error}). Save it again, or save the "
                "sheet as CSV (UTF-8)."
            ) from None
        return self

    def _declares(self, *_: object) -> None:
        raise UnreadableFile(
            f"{self.name}: the Excel workbook declares a type of document, which Excel never does. "
            "Save the sheet as CSV (UTF-8)."
        )

    def _begins(self, element: str, attributes: dict[str, str]) -> None:
        match element.rpartition(":")[2]:
            case "row":
                said = attributes.get("r", "")
                self.row = int(said) if said.isdecimal() else self.row + 1
                self.column = 0
            case "c":
                self.shared = attributes.get("t") == "s"
                self.column += 1
                if place := _PLACE.fullmatch(attributes.get("r", "")):
                    self.row, self.column = int(place[2]), _number(place[1])
            case "v" | "is" | "f":
                self._has_value()
                self.value = []
            case "si":
                self.value = []

    def _says(self, text: str) -> None:
        if self.value is not None:
            self.value.append(text)

    def _ends(self, element: str) -> None:
        match element.rpartition(":")[2]:
            case "v" if self.value is not None:
                place = "".join(self.value).strip() if self.shared else ""
                if place.isdecimal():
                    self.used[int(place)] += 1
                self.value = None
            case "si" if self.value is not None:
                self.lengths.append(sum(map(len, self.value)))
                self.value = None

    def _has_value(self) -> None:
        for ends, at in ((self.rows, self.row), (self.columns, self.column)):
            if at < ends[0]:
                ends[0] = at
            if at > ends[1]:
                ends[1] = at
        height, width = (last - first + 1 for first, last in (self.rows, self.columns))
        if height * width > MAX_AREA:
            raise UnreadableFile(
                f"{self.name}: a sheet with {height * width:,} cells between its first and its "
                f"last, more than {MAX_AREA:,}. Save it as CSV (UTF-8), or remove what lies apart."
            )


def _number(letters: str) -> int:
    """Number of a column from 1, by its letters: `AB` is 28."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
