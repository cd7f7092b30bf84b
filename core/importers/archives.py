"""ZIP archives: what is in them, bounded before and while it is unpacked.

Python before 3.14 reads no member that is packed with zstd (method 93), as Inspect's logs have
them; Arrow does.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from ..errors import UnreadableFile
from ..labels import shown
from .bounds import MAX_DEPTH, depth, refuse_unfolding, unpack_zstd, unpacked_limit

ZIP = b"PK\x03\x04"
MAX_MEMBERS = 200_000
"""Most files in an archive."""
_ZSTD_MEMBER = 93
_KEPT = ("id", "epoch", "input", "target", "output", "scores", "error", "metadata", "events")
"""What is kept of a sample of Inspect, whose events and messages are most of its log."""


class Archive:
    """A ZIP archive in memory. Raises UnreadableFile: damaged, too many members, or protected."""

    def __init__(self, name: str, raw: bytes, max_bytes: int) -> None:
        self.name, self.raw = name, raw
        if len(raw) > max_bytes:
            raise UnreadableFile(
                f"{name}: {len(raw):,} bytes, more than {max_bytes:,}. Unpack it, or split it."
            )
        self.left = unpacked_limit(len(raw), max_bytes)
        try:
            self.file = zipfile.ZipFile(io.BytesIO(raw))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise UnreadableFile(
                f"{name}: byte 1: the file is a ZIP archive or an Excel workbook, cut off or "
                f"damaged ({error}). Copy or download it again, or save the sheet as CSV (UTF-8)."
            ) from None
        self.members = [info for info in self.file.infolist() if not info.is_dir()]
        if len(self.members) > MAX_MEMBERS:
            raise UnreadableFile(
                f"{name}: {len(self.members):,} files in it, more than {MAX_MEMBERS:,}. Split it."
            )
        self.names = {info.filename: info for info in self.members}

    def read(self, info: zipfile.ZipInfo) -> bytes:
        """Bytes of a member; all members together come to no more than the archive may."""
        place = f"{self.name}: {shown(info.filename)} in it"
        if info.flag_bits & 1:
            raise UnreadableFile(
                f"{place} is protected by a password. Unpack the archive yourself."
            )
        if info.file_size > self.left:
            raise UnreadableFile(
                f"{place} unpacks to {info.file_size:,} bytes, and all to more than an archive of "
                f"{len(self.raw):,} bytes may. Unpack it yourself, or split it."
            )
        try:
            if info.compress_type == _ZSTD_MEMBER:
                data = unpack_zstd(place, self._packed(info), self.left) if info.file_size else b""
            else:
                with self.file.open(info) as file:
                    data = file.read(self.left + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
            raise UnreadableFile(f"{place} is damaged ({error}). Copy the archive again.") from None
        except (NotImplementedError, RuntimeError):
            raise UnreadableFile(
                f"{place} is packed by method {info.compress_type}, which is not read. Unpack the "
                "archive yourself."
            ) from None
        if len(data) > self.left:
            raise UnreadableFile(
                f"{place} unpacks to more than it says. Unpack the archive yourself."
            )
        if zlib.crc32(data) != info.CRC:
            raise UnreadableFile(f"{place} is damaged (its checksum). Copy the archive again.")
        self.left -= len(data)
        return data

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        """The bytes of a member as they lie in the archive, behind its local header."""
        start = info.header_offset
        name = int.from_bytes(self.raw[start + 26 : start + 28], "little")
        extra = int.from_bytes(self.raw[start + 28 : start + 30], "little")
        return self.raw[start + 30 + name + extra :][: info.compress_size]


def is_workbook(archive: Archive) -> bool:
    """Whether an archive is an Excel workbook, or a document of that family."""
    return "[Content_Types].xml" in archive.names


def is_excel(archive: Archive) -> bool:
    """Whether an archive is a workbook in the XML of Excel since 2007, with macros or without."""
    return any(name.casefold() == "xl/workbook.xml" for name in archive.names)


def is_inspect_log(archive: Archive) -> bool:
    """Whether an archive is a log of Inspect, `.eval`."""
    return bool({"header.json", "_journal/start.json"} & archive.names.keys())


def inspect_log(archive: Archive) -> bytes:
    """A log of Inspect as the one JSON object that its other format writes, without the messages.

    A log that was not finished has no header; what it began with stands in for it.
    """
    first = "header.json" if "header.json" in archive.names else "_journal/start.json"
    header = _object(archive, first)
    header.pop("samples", None)
    samples = ", ".join(_samples(archive))
    head = json.dumps({"status": "started"} | header)
    return f'{head[:-1]}, "samples": [{samples}]}}'.encode("utf-8", "replace")


def _samples(archive: Archive) -> Iterator[str]:
    for name in sorted(archive.names):
        if name.startswith("samples/") and name.endswith(".json"):
            sample = _object(archive, name)
            events = sample.get("events")
            sample["events"] = [
                {"event": "model", "model": event.get("model")}
                for event in (events if isinstance(events, list) else ())
                if isinstance(event, dict) and event.get("event") == "model"
            ]
            yield json.dumps({key: sample[key] for key in _KEPT if key in sample})


def _object(archive: Archive, name: str) -> dict[str, Any]:
    data = archive.read(archive.names[name])
    refuse_unfolding(f"{archive.name}: {shown(name)}", data)
    problem = "nested too deep"
    if depth(data) <= MAX_DEPTH:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            problem = str(error)
        else:
            if isinstance(value, dict):
                return value
            problem = "no object"
    raise UnreadableFile(
        f"{archive.name}: {shown(name)} in it is not the JSON of a log of Inspect ({problem}). "
        "Write the log again, or convert it with inspect log convert."
    )
