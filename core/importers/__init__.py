"""Votes, scores and rankings out of files: a small module a format, and a registry that recognises it.

`read` turns files into ImportResults, `inspect` says beforehand what a file looks like and what only
its owner knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import InvalidOption, UnreadableFile
from ..labels import candidates
from ..schema import ImportResult, Kind
from . import scores as direct
from .layouts import DIRECT, LISTS, PICKS, SHAPES, Layout, Shape, lay_out, recognise
from .native import alpacaeval, arenahard, judgebench, mtbench, pandalm
from .options import Inspection, Question, ReadOptions
from .plan import plan
from .preview import TEMPLATE, read_back
from .rankings import read_choices, read_rankings
from .source import Source, open_source
from .tables import (
    Record,
    Records,
    TextTable,
    read_delimited,
    read_parquet,
    read_records,
    table_of_records,
)
from .votes import read_table

__all__ = ("Inspection", "Question", "ReadOptions", "formats", "inspect", "read", "read_back", "template")

CANONICAL = "canonical"
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    line: str
    needs: tuple[str, ...]
    read: Callable[[Source, Records, ReadOptions], ImportResult]
    sniff: Callable[[Record], bool] | None = None

    def fits(self, record: Record) -> bool:
        return self.sniff(record) if self.sniff else all(name in record for name in self.needs)


_READERS: dict[str, Callable[[TextTable, Source, Layout, ReadOptions], ImportResult]] = {
    DIRECT.format: direct.read_scores,
    LISTS.format: read_rankings,
    PICKS.format: read_choices,
}
_NATIVE = {
    format.name: format
    for format in (
        _Format(judgebench.NAME, judgebench.LINE, judgebench.NEEDS, judgebench.read),
        _Format(alpacaeval.NAME, alpacaeval.LINE, alpacaeval.NEEDS, alpacaeval.read),
        _Format(arenahard.NAME, arenahard.LINE, arenahard.NEEDS, arenahard.read),
        _Format(mtbench.NAME, mtbench.LINE, mtbench.NEEDS, mtbench.read),
        _Format(direct.NAME, direct.LINE, direct.NEEDS, direct.read_mtbench),
        _Format(pandalm.NAME, pandalm.LINE, pandalm.NEEDS, pandalm.read_test_set, sniff=pandalm.fits),
    )
}


def formats() -> dict[str, str]:
    """Names of the formats that `ReadOptions.format` takes, with a line on each."""
    tabular = (
        "CSV, TSV, JSON Lines, JSON or Parquet: one row per vote, one column per judge, or two scores per row"
    )
    others = {name: shape.line for name, shape in SHAPES.items()}
    return {CANONICAL: tabular} | others | {name: native.line for name, native in _NATIVE.items()}


def template() -> str:
    """Small CSV file of made-up votes in the canonical form, to fill in."""
    return TEMPLATE


def read(files: Sequence[tuple[str, bytes | Path]], options: ReadOptions | None = None) -> list[ImportResult]:
    """Read files into one `ImportResult` each, in their order.

    They are read together because outputs in the PandaLM format need the test set beside them.

    Raises
    ------
    UnreadableFile : a file is not what its format needs.
    AmbiguousLabels : labels can be read in several ways; the message names the option that settles it.
    UnknownName, InvalidOption : an option names what does not exist.
    """
    options = options or ReadOptions()
    opened = [_open(name, data, options) for name, data in files]
    test_sets = [file for file in opened if file.test_set]
    if len(test_sets) > 1 and any(file.format == pandalm.NAME and not file.test_set for file in opened):
        names = ", ".join(file.source.name for file in test_sets)
        raise UnreadableFile(
            f"{names}: row 1: several PandaLM test sets. Give one at a time, with the outputs made for it."
        )
    test_set = test_sets[0].records if test_sets else None
    return [_read(file, options, test_set) for file in opened]


def inspect(data: bytes | Path, name: str, options: ReadOptions | None = None) -> Inspection:
    """Say what a file looks like and what must be asked, without raising for what is merely ambiguous.

    Raises
    ------
    UnreadableFile : the file cannot be read in any way.
    UnknownName, InvalidOption : an option names what does not exist.
    """
    options = options or ReadOptions()
    file = _open(name, data, options)
    table = file.table or table_of_records(_known(file.records))
    looks = Inspection(
        name=name,
        format=file.format,
        layout="native",
        columns=tuple(table.columns),
        head=table.head(),
        mapping={},
    )
    if file.shape:
        layout = lay_out(table, name, options, file.shape)
        return replace(
            looks,
            layout="table",
            mapping=layout.mapping,
            missing=layout.missing,
            notes=(*table.notes, *layout.notes),
            kind=file.shape.form.kind,
        )
    if file.format != CANONICAL:
        alone = file.format == pandalm.NAME and not file.test_set
        note = "PandaLM outputs need the test set (testset-v1.json) beside them."
        kind: Kind = "scores" if file.format == direct.NAME else "votes"
        return replace(looks, kind=kind, notes=(note,) if alone else ())
    how = plan(table, name, options)
    chosen = how.gold_vocabulary if how.gold_only else how.vocabulary
    return replace(
        looks,
        layout=how.layout,
        mapping=how.mapping,
        missing=how.missing,
        labels=tuple(sorted(how.labels.items(), key=lambda pair: -pair[1])),
        vocabularies=candidates(how.labels) if how.labels else (),
        vocabulary=chosen.name if chosen else None,
        judges=how.judges,
        confidence_scale=how.scale if "confidence" in how.mapping else None,
        questions=tuple(how.questions),
        notes=(*table.notes, *how.notes),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Opened:
    """A file with its recognised format: `table` for a table, `records` for a native file.

    shape : layout of a table that holds no votes.
    """

    source: Source
    format: str
    table: TextTable | None = None
    records: Records | None = None
    test_set: bool = False
    shape: Shape | None = None


def _open(name: str, data: bytes | Path, options: ReadOptions) -> _Opened:
    wanted = options.format
    if wanted != AUTO and wanted not in formats():
        raise InvalidOption(
            "{option} {value!r}: use {allowed}.", option="format", value=wanted, allowed=(AUTO, *formats())
        )
    source = open_source(name, data, options.max_bytes)
    if source.kind != "json" and wanted in _NATIVE:
        raise UnreadableFile(
            "{file}: line 1: not JSON, as a {format} file is. Choose {option} {canonical}.",
            option="format",
            file=source.name,
            format=wanted,
            canonical=CANONICAL,
        )
    if source.kind == "json":
        records = read_records(source)
        if native := _native_format(records, wanted, source.name):
            test_set = native == pandalm.NAME and pandalm.is_test_set(records.records[0])
            return _Opened(source=source, format=native, records=records, test_set=test_set)
        table = table_of_records(records)
    else:
        table = (
            read_parquet(source, options.max_bytes) if source.kind == "parquet" else read_delimited(source)
        )
    shape = recognise(tuple(table.columns), options)
    return _Opened(source=source, format=shape.format if shape else CANONICAL, table=table, shape=shape)


def _native_format(records: Records, wanted: str, name: str) -> str | None:
    """Native format of JSON records; None if they are a table."""
    first = records.records[0]
    if wanted == AUTO:
        return next((format for format, native in _NATIVE.items() if native.fits(first)), None)
    if wanted in _NATIVE and not _NATIVE[wanted].fits(first):
        raise UnreadableFile(
            "{file}: row {row}: not a {format} file, which has {needs}. Choose another {option}, or {auto}.",
            option="format",
            file=name,
            row=records.row[0],
            format=wanted,
            needs=_NATIVE[wanted].needs,
            auto=AUTO,
        )
    return wanted if wanted in _NATIVE else None


def _read(file: _Opened, options: ReadOptions, test_set: Records | None) -> ImportResult:
    if file.table is not None and file.shape:
        layout = lay_out(file.table, file.source.name, options, file.shape)
        return _READERS[file.format](file.table, file.source, layout, options)
    if file.table is not None:
        return read_table(file.table, file.source, options, file.format)
    records = _known(file.records)
    if file.format == pandalm.NAME and not file.test_set:
        return pandalm.read_output(file.source, records, options, test_set)
    return _NATIVE[file.format].read(file.source, records, options)


def _known(records: Records | None) -> Records:
    assert records is not None
    return records
