"""Files written for the user: results, whole or not at all, and the report of an
unforeseen error.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import AppellateError, InvalidOption, UnreadableFile


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to, which becomes `path` if all goes well: nobody sees half a
    file.

    A link stays one. What is no regular file (a pipe, /dev/null) is written to as it is.

    Raises InvalidOption: the file cannot be written; one that was there is as it was.
    """
    part = None
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            yield path
            return
        part = target.with_name(f".{target.name[:80]}.{os.getpid()}.part")
        yield part
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except BaseException as error:
        if part is not None:
            with suppress(OSError):
                part.unlink()
        if isinstance(error, OSError | RuntimeError) and not isinstance(error, AppellateError):
            raise InvalidOption(
                f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})."
            ) from error
        raise


def write_report(error: BaseException, arguments: Sequence[str], version: str) -> Path | None:
    """Write all that is known of an error to a new file that only its owner may read; None if none
    can be.
    """
    lines = [
        f"Appellate {version}, Python {platform.python_version()}, {platform.platform()}",
        f"Command: {' '.join(map(ascii, arguments))}",
        "This may hold names from your files: look through it before you send it to anyone.",
        "",
        *traceback.format_exception(error),
    ]
    with suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="appellate-report-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("\n".join(lines))
        return Path(name)
    return None


def is_text(value: object) -> bool:
    """Whether an argument is text in UTF-8: bytes that are none come in as lone surrogates."""
    return not isinstance(value, str) or not any(
        "\ud800" <= character <= "\udfff" for character in value
    )


def shown_name(name: str | Path) -> str:
    """A file's name as text, whatever bytes it is made of."""
    return os.fsencode(name).decode(sys.getfilesystemencoding(), "replace")


def file_to_read(path: str | Path) -> tuple[str, Path]:
    """What a file or folder is called, and its path; `.` and `..` go by the folder's own name.

    Raises UnreadableFile for an empty name, which a path would take for this folder.
    """
    if path == "":
        raise UnreadableFile(
            "the name of a file is empty. Name the file; a dot names all files of this folder."
        )
    path = Path(path)
    own = path if path.name not in ("", "..") else path.resolve()
    return shown_name(own.name or own), path


Progress = Callable[[float, str], object]
"""Told how much of a work is done, 0 to 1, and what is done now, in words without a text of the
user's.
"""


def part_of(progress: Progress | None, start: float, end: float) -> Progress:
    """What a part of a work tells, which lasts from `start` to `end` of the whole; None tells
    nobody.
    """
    return lambda done, doing: progress(start + (end - start) * done, doing) if progress else None


@contextmanager
def shown_progress() -> Iterator[Progress | None]:
    """A line on the terminal that is gone afterwards; None if standard error is no terminal."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield None
        return

    def show(done: float, doing: str) -> None:
        with suppress(OSError):
            stream.write(f"\r\x1b[K{done:4.0%}  {doing}")
            stream.flush()

    try:
        yield show
    finally:
        with suppress(OSError):
            stream.write("\r\x1b[K")
            stream.flush()
