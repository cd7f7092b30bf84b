"""Unpack gzip and zstd, bounded while it is done."""

from __future__ import annotations

import gzip
import io
import zlib

from ..errors import UnreadableFile

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_STEP = 4 * 1024**2


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
    if unpacked[:2] == b"\x1f\x8b":
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
