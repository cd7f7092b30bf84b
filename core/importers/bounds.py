"""What packed files and nested ones may take, and how they are unpacked within it."""

from __future__ import annotations

import gzip
import io
import re
import zlib

import numpy as np

from ..errors import UnreadableFile

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# The most regular votes pack about 100 to 1; gzip reaches 1,030 to 1 only on what says nothing.
_RATIO = 200
_FREE = 64 * 1024**2
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
_STEP = 4 * 1024**2
"""Bytes that are unpacked at once."""
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


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
                        f"{name}: byte {limit + 1:,} unpacked: the gzip file of {len(raw):,} bytes "
                        f"unpacks to more than {limit:,} bytes, which no file of votes does. "
                        "Unpack it yourself, or split it."
                    )
    except EOFError:
        raise UnreadableFile(
            f"{name}: the gzip data is cut off after byte {len(raw):,} ({size:,} bytes could be "
            "unpacked). Copy or download the file again."
        ) from None
    except (OSError, zlib.error) as error:
        raise UnreadableFile(
            f"{name}: the gzip data is damaged after {size:,} unpacked bytes ({error}). Copy or "
            "download the file again."
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
                "which no file of votes has. Check what wrote it."
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
