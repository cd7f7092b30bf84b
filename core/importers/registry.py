"""All native formats, and the tools whose files are known but cannot be read."""

from __future__ import annotations

from ..errors import UnreadableFile
from . import inspect_logs, labelled, pandalm, preferences, promptfoo, published, tools
from .native import NativeFormat
from .source import Source
from .tables import Record
from .unreadable import UNREADABLE

HEADER, PROMPTFOO_CSV = 64 * 1024, b"Grader Reason"
"""Bytes in which a header ends, and what promptfoo's has."""


FORMATS: dict[str, NativeFormat] = {
    format.name: format
    for format in (
        *published.FORMATS,
        *labelled.FORMATS,
        pandalm.FORMAT,
        *inspect_logs.FORMATS,
        *promptfoo.FORMATS,
        *tools.FORMATS,
        *preferences.FORMATS,
    )
}
"""By name, in the order in which they are tried: no file of one is another's."""
TELLING = tuple(ending for format in FORMATS.values() for ending in format.tables)
"""Endings of columns by which a table may be of a format."""


def refuse_known(first: Record, name: str, wanted: str) -> None:
    """Raise UnreadableFile for a file of a known tool that holds no judgements that can be read."""
    if wanted != "auto":
        return
    for known in UNREADABLE:
        if known.fits(first):
            raise UnreadableFile(f"{name}: line 1: {known.what}. {known.remedy}.")


def refuse_header(source: Source) -> None:
    """Raise UnreadableFile for promptfoo's CSV, which is no table."""
    header = source.data[:HEADER].partition(b"\n")[0]
    if b"Named Scores" in header and PROMPTFOO_CSV in header:
        raise UnreadableFile(
            f"{source.name}: line 1: the file is promptfoo's CSV, which has the same columns once "
            "for each model and does not say which assertion gave a score. Write the results with "
            "-o results.json or -o results.jsonl."
        )
