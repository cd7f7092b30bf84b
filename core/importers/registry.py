"""All native formats, and the tools whose files are known but cannot be read."""

from __future__ import annotations

from ..errors import UnreadableFile
from . import inspect_logs, labelled, pandalm, preferences, promptfoo, published, tools
from .native import NativeFormat
from .source import Source
from .tables import Record
from .unreadable import UNREADABLE

_HEADER = 64 * 1024

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


def refuse_known(first: Record, name: str, wanted: str) -> None:
    """Raise UnreadableFile for a file of a known tool that holds no judgements that can be read."""
    if wanted != "auto":
        return
    for known in UNREADABLE:
        if known.fits(first):
            raise UnreadableFile(f"{name}: line 1: {known.what}. {known.remedy}.")


def refuse_header(source: Source, wanted: str) -> None:
    """Raise UnreadableFile for a CSV file of a known tool that is no table."""
    header = source.data[:_HEADER].decode("utf-8", "ignore").partition("\n")[0]
    if wanted == "auto" and "Named Scores" in header and "Grader Reason" in header:
        raise UnreadableFile(
            f"{source.name}: line 1: the file is promptfoo's CSV, which has the same columns once "
            "for each model and does not say which assertion gave a score. Write the results with "
            "-o results.json or -o results.jsonl."
        )
