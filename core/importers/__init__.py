"""Votes out of files: one small module a format, and a registry that recognises which it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.importers.delimited import read_delimited
from core.importers.options import Inspection, Question, ReadOptions
from core.importers.records import looks_like_json, read_parquet, read_records, sheet_of_records
from core.importers.source import Source, open_source
from core.importers.tabular import read_table
from core.votes import Reading

__all__ = ("Inspection", "Question", "ReadOptions", "formats", "read")


def formats() -> dict[str, str]:
    """Names of the formats that `ReadOptions.format` takes, with a line on each."""
    return {"canonical": "CSV, TSV, JSON Lines, JSON or Parquet with a vote, a judge or two scores a row"}


def read(files: Sequence[tuple[str, bytes | Path]], options: ReadOptions | None = None) -> list[Reading]:
    options = options or ReadOptions()
    readings = []
    for name, data in files:
        source = open_source(name, data, options.max_bytes)
        readings.append(_read_one(source, options))
    return readings


def _read_one(source: Source, options: ReadOptions) -> Reading:
    if source.is_parquet:
        return read_table(read_parquet(source, options.max_bytes), source, options, "canonical")
    if looks_like_json(source.text()):
        return read_table(sheet_of_records(read_records(source)), source, options, "canonical")
    return read_table(read_delimited(source), source, options, "canonical")
