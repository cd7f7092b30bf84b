"""Get the bytes of a file, bounded and unpacked, and refuse what cannot be text."""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import UnreadableFile
from .archives import ZIP, Archive, is_excel
from .bounds import GZIP, ZSTD, refuse_unfolding, unpack_gzip, unpack_zstd, unpacked_limit
from .databases import (
    DUCKDB,
    DUCKDB_AT,
    SEPARATOR,
    SQLITE,
    duckdb_as_parquet,
    refuse_table,
    sqlite_as_csv,
    with_table,
)
from .plain import without_separator_line, without_titles

MAX_COLUMNS = 10_000
"""Most columns of a table, or different keys of JSON objects."""
MAX_ROWS = 100_000_000
"""Most rows of a table: a Parquet file of a kilobyte can have a billion."""
MAX_CELLS = 100_000_000
"""Most cells (rows × columns) of a table with more than `_NARROW` columns."""
_NARROW = 64
_HELD = 32 * 1024**2
"""Bytes of a delimited file that are held while it is read; a larger one is read part by part."""
_HEAD = 4 * 1024**2
"""Bytes of a file that are looked at at once."""
_BOM = b"\xef\xbb\xbf"
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
"""A character of UTF-8 beyond ASCII."""
_MARKS = frozenset("‚„“”‘’«»‹›…–—¡¿€£°§·±×²³ºª½\N{NO-BREAK SPACE}")
_CAPITAL_WITHIN = re.compile(r"[a-zß-öø-ÿ][À-ÖØ-Þ]")
_SUFFIXES = (
    ".gz",
    ".zst",
    ".zip",
    ".eval",
    ".csv",
    ".tsv",
    ".txt",
    ".jsonl",
    ".ndjson",
    ".json",
    ".parquet",
    ".pq",
    ".xlsx",
    ".xlsm",
    ".sqlite",
    ".sqlite3",
    ".db",
    ".duckdb",
)

_JSON = re.compile(rb"\s*[{\[]")
FOREIGN = {
    b"PK\x03\x04": (
        "a ZIP archive or an Excel workbook",
        "Unpack it, or save the sheet as CSV (UTF-8)",
    ),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word file", "Save the sheet as CSV (UTF-8)"),
    b"%PDF": ("a PDF document", "Save the votes as CSV (UTF-8)"),
    b"BZh": ("packed with bzip2", "Unpack it, or pack it with gzip"),
    b"\xfd7zXZ": ("packed with xz", "Unpack it, or pack it with gzip"),
    b"\x93NUMPY": ("a NumPy array", "Save the votes as CSV or Parquet"),
}
"""How a file begins that is none → what it is, and what to do."""

Encoding = Literal["UTF-8", "Windows-1252", "UTF-16", "UTF-32"]
_WIDE: dict[bytes, tuple[Encoding, str]] = {
    codecs.BOM_UTF32_LE: ("UTF-32", "utf-32"),
    codecs.BOM_UTF32_BE: ("UTF-32", "utf-32"),
    codecs.BOM_UTF16_LE: ("UTF-16", "utf-16"),
    codecs.BOM_UTF16_BE: ("UTF-16", "utf-16"),
}
"""Byte order marks, the longer first: that of UTF-32 begins as that of UTF-16 does."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Source:
    """A file's name and unpacked bytes, text without its byte order mark; `sha256` is of the file
    as given.

    kind : json begins like JSON or JSON Lines.  folders : those above the file, if it was read from
        a path.  together : name of the folder or archive that it is one of several files of.
    path : of a delimited file that is too large to be held: `data` is its beginning.
    size : in bytes.  rows : lines of a delimited file, at least.
    encoding : that the file had; `data` is UTF-8.  separator : that its first line names (`sep=;`).
    notes : on what was left out around the table, such as lines above the header, of which there
        are `above`.
    """

    name: str
    data: bytes
    sha256: str
    kind: Literal["parquet", "json", "delimited"]
    folders: tuple[str, ...] = ()
    together: str | None = None
    path: Path | None = None
    size: int = 0
    rows: int = 0
    encoding: Encoding = "UTF-8"
    separator: str | None = None
    notes: tuple[str, ...] = ()
    above: int = 0

    @property
    def stem(self) -> str:
        """File name without folders and without the endings of its kind: `a/b.csv.gz` is `b`."""
        return stem_of(self.name)

    def text(self) -> str:
        """The bytes as text."""
        return self.data.decode("utf-8")


def stem_of(name: str) -> str:
    """File name without folders and without the endings of its kind or a table's name:
    `a/b.csv.gz` is `b`.
    """
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    base = base.partition(SEPARATOR)[0] or base
    for _ in range(2):
        for suffix in _SUFFIXES:
            if base.casefold().endswith(suffix) and len(base) > len(suffix):
                base = base[: -len(suffix)]
                break
    return base


def open_source(
    name: str, data: bytes | Path, max_bytes: int, together: str | None = None
) -> Source:
    """Read and unpack a file, never more than `max_bytes`.

    A table of a database or a sheet of a workbook may be named after the file, as `with_table`
    says.

    Raises UnreadableFile: absent, empty, too large, cut or bloated gzip, of a kind that holds no
    table, no UTF-8.
    """
    data, called = with_table(name, data) if SEPARATOR in name else (data, None)
    if isinstance(data, Path) and called is None:
        large = _where_it_is(name, data, max_bytes, together)
        if large is not None:
            return large
    raw = read_path(name, data, max_bytes) if isinstance(data, Path) else bytes(data)
    if len(raw) > max_bytes:
        raise UnreadableFile(
            f"{name}: {len(raw):,} bytes, more than {max_bytes:,}. Split it into smaller files."
        )
    if not raw:
        raise UnreadableFile(
            f"{name}: the file is empty (0 bytes). Save it again with a header and at least one "
            "row."
        )
    unpacked = raw
    if raw.startswith((GZIP, ZSTD)):
        unpack = unpack_gzip if raw.startswith(GZIP) else unpack_zstd
        unpacked = unpack(name, raw, unpacked_limit(len(raw), max_bytes))
    workbook = None
    if unpacked.startswith(ZIP) and is_excel(archive := Archive(name, unpacked, max_bytes)):
        from .containers import workbook_as_csv

        workbook = workbook_as_csv(archive, called)
    for magic, (kind, remedy) in () if workbook else FOREIGN.items():
        if unpacked.startswith(magic):
            raise UnreadableFile(f"{name}: byte 1: the file is {kind}. {remedy}.")
    sha256 = hashlib.sha256(raw).hexdigest()
    folders = data.resolve().parent.parts if isinstance(data, Path) else ()
    if unpacked[DUCKDB_AT:].startswith(DUCKDB):
        place = data if isinstance(data, Path) and unpacked is raw else unpacked
        unpacked = duckdb_as_parquet(name, place, max_bytes, called)
    elif unpacked.startswith(SQLITE):
        unpacked = sqlite_as_csv(name, unpacked, max_bytes, called)
    elif called is not None and not workbook:
        refuse_table(name, called)
    if unpacked[:4] == b"PAR1" or name.casefold().endswith((".parquet", ".pq")):
        return Source(name=name, data=unpacked, sha256=sha256, kind="parquet", together=together)
    text, encoding = _text(name, workbook[0] if workbook else unpacked)
    if not workbook and _JSON.match(text):
        refuse_unfolding(name, text)
        return Source(
            name=name, data=text, sha256=sha256, kind="json", folders=folders, together=together
        )
    if b"\n" not in text:
        # Old programs end a line with CR alone.
        text = text.replace(b"\r", b"\n")
    table, separator = (text, ",") if workbook else without_separator_line(text)
    table, note = without_titles(table, separator)
    above = text[: len(text) - len(table)]
    return Source(
        name=name,
        data=table,
        sha256=sha256,
        kind="delimited",
        together=together,
        size=len(table),
        rows=max(table.count(b"\n"), table.count(b"\r")),
        encoding=encoding,
        separator=separator,
        notes=tuple(filter(None, (workbook[1] if workbook else None, note))),
        above=max(above.count(b"\n"), above.count(b"\r")),
    )


def _where_it_is(name: str, path: Path, max_bytes: int, together: str | None) -> Source | None:
    """A large file of delimited text, which stays where it is; None for any other, and for one with
    anything in it that has to be named.
    """
    try:
        if not path.is_file() or not _HELD < path.stat().st_size <= max_bytes:
            return None
        whole, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
        head, size, breaks, returns, quotes = b"", 0, 0, 0, 0
        with path.open("rb") as file:
            while part := file.read(_HEAD):
                head = head or part
                if not size and not _begins_delimited(name, head):
                    return None
                if b"\0" in part:
                    return None
                if decoder.getstate()[0] or not part.isascii():
                    decoder.decode(part)
                whole.update(part)
                size += len(part)
                breaks, returns = breaks + part.count(b"\n"), returns + part.count(b"\r")
                quotes += part.count(b'"')
        decoder.decode(b"", final=True)
    except (OSError, UnicodeDecodeError):
        return None
    if not breaks or quotes % 2:
        return None
    return Source(
        name=name,
        data=head,
        sha256=whole.hexdigest(),
        kind="delimited",
        together=together,
        path=path,
        size=size,
        rows=max(breaks, returns),
    )


def _begins_delimited(name: str, head: bytes) -> bool:
    """Whether a file begins as text that is no JSON, with its header."""
    packed = (GZIP, ZSTD, b"PK", b"PAR1", _BOM, b"\xff\xfe", b"\xfe\xff", SQLITE, *FOREIGN)
    known = head.startswith(packed) or name.casefold().endswith((".parquet", ".pq"))
    other = known or head[DUCKDB_AT:].startswith(DUCKDB) or head[:1] in b"\r\n" or head.isspace()
    if other or _JSON.match(head) is not None or without_separator_line(head)[1]:
        return False
    return without_titles(head, None)[1] is None


def refuse_size(name: str, rows: int, columns: int) -> None:
    """Refuse a table that is wider than votes are, before it is taken apart."""
    if columns > MAX_COLUMNS:
        raise UnreadableFile(
            f"{name}: {columns:,} columns, more than {MAX_COLUMNS:,}. Keep those that the votes "
            "need."
        )
    if rows > MAX_ROWS:
        raise UnreadableFile(f"{name}: {rows:,} rows, more than {MAX_ROWS:,}. Split the file.")
    if columns > _NARROW and rows * columns > MAX_CELLS:
        raise UnreadableFile(
            f"{name}: {rows:,} rows of {columns:,} columns, more than {MAX_CELLS:,} cells. Keep "
            "the columns that the votes need, or split the file."
        )


def read_path(name: str, path: Path, max_bytes: int) -> bytes:
    """The bytes of a file, one more than `max_bytes` at most. Raises UnreadableFile."""
    if "\0" in str(path):
        raise UnreadableFile(f"{name}: a name with a NUL character is no file's. Check the path.")
    try:
        if path.is_dir():
            raise UnreadableFile(f"{name}: is a folder. Name the file in it.")
        if path.exists() and not path.is_file():
            raise UnreadableFile(f"{name}: is not a regular file. Save it to a file first.")
        # As much room is taken as is asked for, and special files say that they have no size.
        size = path.stat().st_size or max_bytes
        with path.open("rb") as file:
            return file.read(min(size, max_bytes) + 1)
    except FileNotFoundError:
        raise UnreadableFile(f"{name}: there is no such file. Check the path.") from None
    except OSError as error:
        raise UnreadableFile(
            f"{name}: cannot be read ({error.strerror}). Check the path and its permissions."
        ) from None


def _text(name: str, data: bytes) -> tuple[bytes, Encoding]:
    """The bytes in UTF-8 without a byte order mark, and what they were in; the message names byte
    and line.
    """
    text = data.removeprefix(_BOM)
    if not text or text.isspace():
        raise UnreadableFile(
            f"{name}: the file holds blanks only. Save it again with a header and at least one row."
        )
    for mark, (encoding, codec) in _WIDE.items():
        if data.startswith(mark):
            try:
                return _text(name, data.decode(codec).encode("utf-8"))[0], encoding
            except UnicodeError as error:
                raise UnreadableFile(
                    f"{name}: begins as {encoding} and cannot be read so ({error}). Save it as "
                    "UTF-8."
                ) from None
    nul = data.find(b"\0")
    if nul >= 0:
        raise UnreadableFile(
            f"{name}: line {_line(data, nul)}, byte {nul + 1}: a NUL byte. The file is damaged, "
            "binary or UTF-16. Save it as text in UTF-8."
        )
    try:
        if not text.isascii():
            _decode(text)
    except UnicodeDecodeError as error:
        if len(text) == len(data) and not _JSON.match(text) and (windows := _windows_text(text)):
            return windows, "Windows-1252"
        at = error.start + len(data) - len(text)
        raise UnreadableFile(
            f"{name}: line {_line(data, at)}, byte {at + 1}: 0x{data[at]:02x} is not UTF-8 "
            "(Latin-1 or Windows-1252, perhaps). Save the file as UTF-8."
        ) from None
    return text, "UTF-8"


def _decode(text: bytes) -> None:
    """See that bytes are UTF-8, by parts: as text a large file would be two to four times as large.

    Raises UnicodeDecodeError, with the place in the whole.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    for end in range(0, len(text), _HEAD):
        # What a part before left open stands before this one.
        start = end - len(decoder.getstate()[0])
        try:
            decoder.decode(text[end : end + _HEAD], final=end + _HEAD >= len(text))
        except UnicodeDecodeError as error:
            error.start += start
            raise


def _windows_text(text: bytes) -> bytes | None:
    """Text of Windows-1252, as spreadsheets of Western Europe save CSV, in UTF-8; None if it may be
    anything else.

    It is nothing else where no character of UTF-8 is in it, and what is beyond ASCII is letters and
    marks that are written there, no capital after a small letter, which damaged UTF-8 looks like.
    """
    if _MULTIBYTE.search(text):
        return None
    try:
        decoded = text.decode("cp1252")
    except UnicodeDecodeError:
        return None
    beyond = {character for character in decoded if not character.isascii()}
    if any(not character.isalpha() and character not in _MARKS for character in beyond):
        return None
    return None if _CAPITAL_WITHIN.search(decoded) else decoded.encode("utf-8")


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1
