"""What is named to be read: a file, a folder, a pattern of names, or an archive of files."""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UnreadableFile
from ..files import shown_name
from .archives import ZIP, Archive, inspect_log, is_excel, is_inspect_log, is_workbook
from .bounds import GZIP, ZSTD, unpack_gzip, unpack_zstd, unpacked_limit
from .source import FOREIGN, read_path, stem_of

MAX_FILES = 10_000
"""Most files of a folder or pattern."""
ENDINGS = (
    ".csv",
    ".tsv",
    ".jsonl",
    ".ndjson",
    ".json",
    ".parquet",
    ".pq",
    ".xlsx",
    ".sqlite",
    ".sqlite3",
    ".eval",
    ".zip",
)
"""Files of a folder or archive that are read; each may also end in .gz or .zst."""


WILD = "*?["
"""Signs of a pattern of names."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Given:
    """A file to read.

    together : name of the folder or archive that it is one of several of.
    sha256 : of the file as given, where `data` was made of it.
    """

    name: str
    data: bytes | Path
    together: str | None = None
    sha256: str | None = None


def gather(files: Sequence[tuple[str, bytes | Path]], max_bytes: int) -> list[Given]:
    """The files that are named, in order; those of a folder or archive by their names.

    Raises UnreadableFile: a folder, pattern or archive without a file that may be read, or a
    damaged archive.
    """
    return [given for name, data in files for given in _of(name, data, max_bytes)]


def _of(name: str, data: bytes | Path, max_bytes: int) -> Iterator[Given]:
    if isinstance(data, Path):
        paths = _several(name, data)
        if paths is not None:
            together = stem_of(name) or name
            if any(sign in together for sign in WILD):
                together = _fixed_part(data) or together
            for path in paths:
                for given in _one(shown_name(path.name), path, max_bytes):
                    yield replace(given, together=together)
            return
    yield from _one(name, data, max_bytes)


def _several(name: str, path: Path) -> list[Path] | None:
    """Files of a folder or pattern; None for the path of a file."""
    try:
        if path.is_dir():
            found = sorted(
                each for each in path.rglob("*") if _is_read(str(each.relative_to(path)))
            )
            what = "the folder"
        elif any(sign in str(path) for sign in WILD) and not path.exists():
            found = sorted(map(Path, glob.iglob(str(path), recursive=True)))
            what, name = "the pattern", shown_name(str(path))
        else:
            return None
    except (OSError, ValueError):
        return None
    found = [each for each in found if each.is_file()]
    if not found:
        raise UnreadableFile(
            f"{name}: {what} has no file that can be read ({', '.join(ENDINGS)}). Name the file."
        )
    if len(found) > MAX_FILES:
        raise UnreadableFile(
            f"{name}: {what} has {len(found):,} files, more than {MAX_FILES:,}. Name fewer."
        )
    return found


def _fixed_part(pattern: Path) -> str:
    """The beginning that all names of a pattern share, else the name of a folder."""
    begins = re.split(r"[*?\[]", str(pattern), maxsplit=1)[0].replace("\\", "/").split("/")
    return next((part for text in reversed(begins) if (part := text.strip(" ._-"))), "")


def _is_read(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    if any(part.startswith(("__MACOSX", ".git", "node_modules")) for part in parts[:-1]):
        return False
    base = parts[-1].casefold().removesuffix(".gz").removesuffix(".zst")
    # Spreadsheets and editors leave files such as ._x.csv behind; DeepEval's has one point.
    return base.endswith(ENDINGS) and not base.startswith("._")


def _one(name: str, data: bytes | Path, max_bytes: int) -> Iterable[Given]:
    """A file, or those of an archive."""
    if _begins(data) != ZIP:
        return [Given(name=name, data=data)]
    raw = read_path(name, data, max_bytes) if isinstance(data, Path) else bytes(data)
    archive = Archive(name, raw, max_bytes)
    if is_inspect_log(archive):
        sha256 = hashlib.sha256(raw).hexdigest()
        return [Given(name=name, data=inspect_log(archive), sha256=sha256)]
    if is_excel(archive):
        return [Given(name=name, data=data)]
    if is_workbook(archive):
        raise UnreadableFile(f"{name}: byte 1: the file is {FOREIGN[ZIP][0]}. {FOREIGN[ZIP][1]}.")
    infos = sorted(
        (info for info in archive.members if _is_read(info.filename)), key=lambda i: i.filename
    )
    if not infos:
        raise UnreadableFile(
            f"{name}: the archive has no file that can be read ({', '.join(ENDINGS)}). Unpack it, "
            "and name the file."
        )
    if len(infos) > MAX_FILES:
        raise UnreadableFile(f"{name}: {len(infos):,} files in it, more than {MAX_FILES:,}.")
    together = stem_of(name) if len(infos) > 1 else None
    given: list[Given] = []
    for info in infos:
        inner = archive.read(info)
        own = shown_name(info.filename.rsplit("/", 1)[-1])
        if inner[:4] == ZIP:
            log = Archive(f"{name}: {own}", inner, max_bytes)
            if is_excel(log):
                archive.left -= min(archive.left, sum(part.file_size for part in log.members))
                given.append(Given(name=own, data=inner, together=together))
                continue
            if not is_inspect_log(log):
                raise UnreadableFile(
                    f"{name}: {own} is an archive in an archive. Unpack the outer one."
                )
            # What logs in an archive unpack to counts as the archive's: all have one total.
            before = log.left = min(log.left, archive.left)
            inner = inspect_log(log)
            archive.left -= before - log.left
        given.append(_unpacked(own, inner, archive, together))
    return given


def _unpacked(name: str, data: bytes, archive: Archive, together: str | None) -> Given:
    """A file out of an archive, which unpacked counts as the archive's: all have one total."""
    if not data.startswith((GZIP, ZSTD)):
        return Given(name=name, data=data, together=together)
    unpack = unpack_gzip if data.startswith(GZIP) else unpack_zstd
    place = f"{archive.name}: {name}"
    unpacked = unpack(place, data, min(unpacked_limit(len(data), archive.left), archive.left))
    if unpacked.startswith((GZIP, ZSTD)):
        raise UnreadableFile(f"{place} in it is packed twice. Unpack it once.")
    archive.left -= len(unpacked)
    return Given(
        name=name, data=unpacked, together=together, sha256=hashlib.sha256(data).hexdigest()
    )


def _begins(data: bytes | Path) -> bytes:
    if not isinstance(data, Path):
        return bytes(data[:4])
    try:
        if not data.is_file():
            return b""
        with data.open("rb") as file:
            return file.read(4)
    except (OSError, ValueError):
        return b""
