"""What is audited, wherever it lies: files, folders and patterns of names, and stores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InvalidOption
from ..files import Progress
from ..importers import Inspection, ReadOptions, read
from ..importers.same_items import as_one
from ..importers.versions import BETWEEN
from ..schema import ImportResult
from ..store.export import is_database, read_store

Source = tuple[str, bytes | Path]
"""What a file is called, and its path or its bytes."""


def is_store(data: bytes | Path) -> bool:
    """Whether a source is a store, not a file of judgements."""
    return isinstance(data, Path) and is_database(data)


def read_sources(
    sources: Sequence[Source],
    options: ReadOptions | None = None,
    *,
    progress: Progress | None = None,
    looks: Inspection | None = None,
) -> list[ImportResult]:
    """Read files and stores together, as `importers.read` does files.

    looks : what was seen of the only one, see `importers.read`.

    Raises as that and `read_store`; InvalidOption for options of how to read, where there are only
    stores.
    """
    files = [source for source in sources if not is_store(source[1])]
    if len(files) == len(sources):
        return read(files, options, progress=progress, looks=looks)
    options = options or ReadOptions()
    if not files:
        check_columns_known(sources[0][0], options)
    results = read(files, options, progress=progress) if files else []
    for _, data in sources:
        if is_store(data):
            assert isinstance(data, Path)
            results += [each.reading for each in read_store(data)]
    return as_one(results, options.items)


def check_columns_known(name: str, options: ReadOptions) -> None:
    """Raise InvalidOption where options say how to read what is only a store."""
    if options not in (ReadOptions(), ReadOptions(version=BETWEEN)):
        raise InvalidOption(
            f"{name}: is a store, whose columns are known; --format, --map and the like are for "
            "other files"
        )
