"""What spreadsheets put around a table: `sep=`, and titles above the header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

from ..labels import shown

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
_SEPARATOR = re.compile(rb'[ \t]*"?sep=([,;|\t])"?[;, \t]*(?:\r\n|\n|\r)', re.IGNORECASE)
_HEAD = 64 * 1024
"""Bytes in which the header is looked for."""
_RECORDS = 200
_TITLES = 20
"""Most lines above a header."""


def without_separator_line(text: bytes) -> tuple[bytes, str | None]:
    """The text below a first line `sep=;`, as spreadsheets write it, and that separator."""
    if said := _SEPARATOR.match(text[:64]):
        return text[said.end() :], said.group(1).decode()
    return text, None


def without_titles(text: bytes, separator: str | None) -> tuple[bytes, str | None]:
    """The text from its header on, and a note on the lines left out above it.

    A title is a record with a `#` before it and too few cells, or with its first cell alone, above
    a record as wide as most. A first record that is as wide as most, with two names, is the header.
    """
    head = text[:_HEAD].decode("utf-8", "ignore")
    lines = list(io.StringIO(head, newline=""))
    separators = [separator] if separator else list(DELIMITERS)
    tables = {each: _records(lines, each) for each in separators}
    if not all(tables.values()):
        return text, None
    widths = {each: _usual_width(records) for each, records in tables.items()}
    first = max(separators, key=lambda each: len(tables[each][0][1]))
    if len(tables[first][0][1]) == widths[first][0] and _filled(tables[first][0][1]) > 1:
        return text, None
    best = max(separators, key=lambda each: (widths[each][1] >= 0.5, widths[each][0]))
    width, records = widths[best][0], tables[best]
    start = 0
    while start < min(_TITLES, len(records) - 1) and _is_title(records[start][1], width):
        start += 1
    header = records[start][1]
    if width < 2 or not start or len(header) != width or 2 * _filled(header) < width:
        return text, None
    line = records[start][0]
    above = " / ".join(shown(" ".join(filter(None, cells))) for _, cells in records[:start])
    rest = text[len("".join(lines[:line]).encode()) :]
    return rest, f"Line {line + 1} is the header; left out above it: {above}."


def _records(lines: list[str], separator: str) -> list[tuple[int, list[str]]]:
    """First records that are not blank, each with the number of lines above it."""
    reader, records, above = csv.reader(lines, delimiter=separator), [], 0
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                records.append((above, [cell.strip() for cell in cells]))
            above = reader.line_num
            if len(records) == _RECORDS:
                break
    except csv.Error:
        pass
    return records


def _usual_width(records: list[tuple[int, list[str]]]) -> tuple[int, float]:
    """The number of cells that most records have, and the share of those."""
    (width, n), *_ = Counter(len(cells) for _, cells in records).most_common(1)
    return width, n / len(records)


def _filled(cells: list[str]) -> int:
    return sum(map(bool, cells))


def _is_title(cells: list[str], width: int) -> bool:
    if cells[0].startswith("#") and _filled(cells) < width:
        return True
    return bool(cells[0]) and _filled(cells) == 1 and (len(cells) == 1 or width > 2)
