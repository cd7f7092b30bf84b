"""Get the bytes of a file, bounded and unpacked, and refuse what cannot be text."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ..errors import UnreadableFile
from ..installation import PROGRAM
from .plain import sqlite_as_csv, without_separator_line, without_titles

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# The most regular votes pack about 100 to 1; gzip reaches 1,030 to 1 only on what says nothing.
_RATIO = 200
_FREE = 64 * 1024**2
MAX_COLUMNS = 10_000
"""Most columns of a table, or different keys of JSON objects."""
MAX_ROWS = 100_000_000
"""Most rows of a table: a Parquet file of a kilobyte can have a billion."""
MAX_CELLS = 100_000_000
"""Most cells (rows × columns) of a table with more than `_NARROW` columns."""
_NARROW = 64
MAX_TEXT = 1024**3
"""Most bytes of the texts of a Parquet file, each written out as often as it stands there, unless
the file has a twentieth of them: a page of a kilobyte can say a text a million times.
"""
_REPEATED = 20
MAX_DEPTH = 64
"""How deep JSON may be nested."""
_LARGE = 4 * 1024**2
_BYTES_PER_OBJECT, _BYTES_PER_COMMA = 24, 4
"""JSON larger than `_LARGE` with less text than that would unfold to a hundred times its size in
memory.
"""
_HELD = 32 * 1024**2
"""Bytes of a delimited file that are held while it is read; a larger one is read part by part."""
_HEAD, _STEP = 4 * 1024**2, 4 * 1024**2
"""Bytes of a file that are looked at, and unpacked, at once."""
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
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
_SQLITE = b"SQLite format 3\0"
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
    notes : on lines left out above the header.
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

    @property
    def stem(self) -> str:
        """File name without folders and without the endings of its kind: `a/b.csv.gz` is `b`."""
        return stem_of(self.name)

    def text(self) -> str:
        """The bytes as text."""
        return self.data.decode("utf-8")


def stem_of(name: str) -> str:
    """File name without folders and without the endings of its kind: `a/b.csv.gz` is `b`."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
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

    Raises UnreadableFile: absent, empty, too large, cut or bloated gzip, of a kind that holds no
    table, no UTF-8.
    """
    if isinstance(data, Path) and (large := _where_it_is(name, data, max_bytes, together)):
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
    for magic, (kind, remedy) in FOREIGN.items():
        if unpacked.startswith(magic):
            raise UnreadableFile(f"{name}: byte 1: the file is {kind}. {remedy}.")
    if unpacked[8:12] == b"DUCK":
        raise UnreadableFile(
            f"{name}: byte 9: the file is a DuckDB database. If it is a store of Appellate, take "
            "it over "
            f"with {PROGRAM} import, or export it; else save the table as CSV or Parquet."
        )
    sha256 = hashlib.sha256(raw).hexdigest()
    folders = data.resolve().parent.parts if isinstance(data, Path) else ()
    if unpacked.startswith(_SQLITE):
        unpacked = sqlite_as_csv(name, unpacked, max_bytes)
    if unpacked[:4] == b"PAR1" or name.casefold().endswith((".parquet", ".pq")):
        return Source(name=name, data=unpacked, sha256=sha256, kind="parquet", together=together)
    text, encoding = _text(name, unpacked)
    if _JSON.match(text):
        refuse_unfolding(name, text)
        return Source(
            name=name, data=text, sha256=sha256, kind="json", folders=folders, together=together
        )
    if b"\n" not in text:
        # Old programs end a line with CR alone.
        text = text.replace(b"\r", b"\n")
    text, separator = without_separator_line(text)
    text, note = without_titles(text, separator)
    return Source(
        name=name,
        data=text,
        sha256=sha256,
        kind="delimited",
        together=together,
        size=len(text),
        rows=max(text.count(b"\n"), text.count(b"\r")),
        encoding=encoding,
        separator=separator,
        notes=(note,) if note else (),
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
    packed = (GZIP, ZSTD, b"PK", b"PAR1", _BOM, b"\xff\xfe", b"\xfe\xff", _SQLITE, *FOREIGN)
    known = head.startswith(packed) or name.casefold().endswith((".parquet", ".pq"))
    other = known or head[8:12] == b"DUCK" or head[:1] in b"\r\n" or head.isspace()
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
            "the columns "
            "that the votes need, or split the file."
        )


def unpack_gzip(name: str, raw: bytes, limit: int) -> bytes:
    """Unpack gzip, never more than `limit` bytes. Raises UnreadableFile: cut, damaged, or more."""
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while part := file.read(_STEP):
                parts.append(part)
                size += len(part)
                if size > limit:
                    raise UnreadableFile(
                        f"{name}: byte {limit + 1:,} unpacked: the gzip file of {len(raw):,} "
                        "bytes unpacks to more "
                        f"than {limit:,} bytes, which no file of votes does. Unpack it yourself, "
                        "or split it."
                    )
    except EOFError:
        raise UnreadableFile(
            f"{name}: the gzip data is cut off after byte {len(raw):,} ({size:,} bytes could be "
            "unpacked). "
            "Copy or download the file again."
        ) from None
    except (OSError, zlib.error) as error:
        raise UnreadableFile(
            f"{name}: the gzip data is damaged after {size:,} unpacked bytes ({error}). Copy or "
            "download "
            "the file again."
        ) from None
    unpacked = b"".join(parts)
    if unpacked[:2] == GZIP:
        raise UnreadableFile(
            f"{name}: byte 1 unpacked: the file is packed with gzip twice. Unpack it once."
        )
    if not unpacked:
        raise UnreadableFile(
            f"{name}: the gzip file is empty inside. Save it again with a header and at least one "
            "row."
        )
    return unpacked


def unpack_zstd(name: str, raw: bytes, limit: int) -> bytes:
    """Unpack zstd, never more than `limit` bytes. Raises UnreadableFile: cut, damaged, or more."""
    import pyarrow as pa

    parts: list[bytes] = []
    size = 0
    try:
        with pa.CompressedInputStream(pa.BufferReader(raw), "zstd") as stream:
            while part := stream.read(_STEP):
                parts.append(part)
                size += len(part)
                if size > limit:
                    raise UnreadableFile(
                        f"{name}: byte {limit + 1:,} unpacked: {len(raw):,} bytes of zstd unpack "
                        f"to more than {limit:,} bytes, which no file of votes does. Unpack it "
                        "yourself, or split it."
                    )
    except (OSError, pa.ArrowException) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise UnreadableFile(
            f"{name}: the zstd data is cut off or damaged after {size:,} unpacked bytes ({first}). "
            "Copy or download the file again."
        ) from None
    if not size:
        raise UnreadableFile(
            f"{name}: the zstd file is empty inside, or cut off. Save it again with a header and "
            "at least one row."
        )
    return b"".join(parts)


def unpacked_limit(packed: int, max_bytes: int) -> int:
    """Most bytes that a file of so many may unpack to."""
    return min(max_bytes, max(_FREE, _RATIO * packed))


def text_limit(packed: int, max_bytes: int) -> int:
    """Most bytes of text that a Parquet file of so many bytes may write out."""
    return min(max_bytes, max(MAX_TEXT, _REPEATED * packed))


def refuse_unfolding(name: str, text: bytes) -> None:
    """Refuse JSON that is brackets and commas mostly: each object takes 200 bytes, whatever is in
    it.
    """
    if len(text) < _LARGE:
        return
    for what, count, least in (
        ("objects", text.count(b"{"), _BYTES_PER_OBJECT),
        ("values", text.count(b",") + text.count(b"["), _BYTES_PER_COMMA),
    ):
        if count * least > len(text):
            raise UnreadableFile(
                f"{name}: {count:,} {what} in {len(text):,} bytes: fewer than {least} bytes each, "
                "which no "
                "file of votes has. Check what wrote it."
            )


def depth(text: bytes) -> int:
    """How deep JSON is nested at most. Brackets in strings count only where the limit seems
    exceeded.
    """
    brackets = _deepest(text)
    return _deepest(_STRINGS.sub(b"", text)) if brackets > MAX_DEPTH else brackets


def _deepest(text: bytes) -> int:
    brackets = np.frombuffer(text.translate(None, _NO_BRACKETS), np.uint8)
    opening = (brackets == ord("[")) | (brackets == ord("{"))
    return int(np.cumsum(np.where(opening, np.int8(1), np.int8(-1)), dtype=np.int32).max(initial=0))


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
            "binary or "
            "UTF-16. Save it as text in UTF-8."
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
