"""What is read of one file, written as text."""

from __future__ import annotations

from core.importers import ReadOptions, read
from core.schema import ImportResult


def read_one(text: str | bytes, name: str = "votes.csv", **options: object) -> ImportResult:
    """The only reading of a file of this name and content."""
    data = text if isinstance(text, bytes) else text.encode()
    return read([(name, data)], ReadOptions(**options))[0]  # type: ignore[arg-type]
