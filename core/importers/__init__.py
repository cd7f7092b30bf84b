"""Votes, scores and rankings out of files: a small module a format, and a registry that recognises it.

`read` turns files into ImportResults, `inspect` says beforehand what a file looks like and what only
its owner knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidOption, UnreadableFile
from ..labels import candidates
from ..schema import ImportResult
from . import scores as direct
from .layouts import DIRECT, LISTS, PICKS, SHAPES, Layout, Shape, lay_out, recognise
from .native import alpacaeval, arenahard, judgebench, mtbench, pandalm
from .options import Inspection, Question, ReadOptions
from .plan import head, plan
from .preview import TEMPLATE, read_back
from .rankings import read_choices, read_rankings
from .source import Source, open_source
from .tables import (
    Record,
    Records,
    Sheet,
    looks_like_json,
    read_delimited,
    read_parquet,
    read_records,
    sheet_of_records,
)
from .votes import read_table

__all__ = ("Inspection", "Question", "ReadOptions", "formats", "inspect", "read", "read_back", "template")

CANONICAL = "canonical"
AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    line: str
    needs: tuple[str, ...]
    sniff: Callable[[Record], bool] | None = None

    def fits(self, record: Record) -> bool:
        return self.sniff(record) if self.sniff else all(name in record for name in self.needs)


_READERS: dict[str, Callable[[Sheet, Source, Layout, ReadOptions], ImportResult]] = {
    DIRECT.format: direct.read_scores,
    LISTS.format: read_rankings,
    PICKS.format: read_choices,
}
_NATIVE = {
    judgebench.NAME: _Format(line=judgebench.LINE, needs=judgebench.NEEDS),
    alpacaeval.NAME: _Format(line=alpacaeval.LINE, needs=alpacaeval.NEEDS),
    arenahard.NAME: _Format(line=arenahard.LINE, needs=arenahard.NEEDS),
    mtbench.NAME: _Format(line=mtbench.LINE, needs=mtbench.NEEDS),
    direct.NAME: _Format(line=direct.LINE, needs=direct.NEEDS),
    pandalm.NAME: _Format(line=pandalm.LINE, needs=pandalm.NEEDS, sniff=pandalm.fits),
}


def formats() -> dict[str, str]:
    """Names of the formats that `ReadOptions.format` takes, with a line on each."""
    tabular = "CSV, TSV, JSON Lines, JSON or Parquet: one row a vote, a column a judge, or two scores a row"
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
    _check_format(options)
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
    _check_format(options)
    file = _open(name, data, options)
    sheet = file.sheet or sheet_of_records(_known(file.records))
    columns, first_rows = tuple(sheet.columns), head(sheet)
    if file.shape:
        layout = lay_out(sheet, name, options, file.shape)
        return Inspection(
            name=name,
            format=file.format,
            layout="table",
            columns=columns,
            head=first_rows,
            mapping=layout.mapping,
            missing=layout.missing,
            notes=(*sheet.notes, *layout.notes),
            kind=file.shape.form.kind,
        )
    if file.format != CANONICAL:
        alone = file.format == pandalm.NAME and not file.test_set
        return Inspection(
            name=name,
            format=file.format,
            layout="native",
            columns=columns,
            head=first_rows,
            mapping={},
            kind="scores" if file.format == direct.NAME else "votes",
            notes=("PandaLM outputs need the test set (testset-v1.json) beside them.",) if alone else (),
        )
    how = plan(sheet, name, options)
    chosen = how.gold_vocabulary if how.gold_only else how.vocabulary
    return Inspection(
        name=name,
        format=file.format,
        columns=columns,
        head=first_rows,
        layout=how.layout,
        mapping=how.mapping,
        missing=how.missing,
        labels=tuple(sorted(how.labels.items(), key=lambda pair: -pair[1])),
        vocabularies=candidates(how.labels) if how.labels else (),
        vocabulary=chosen.name if chosen else None,
        judges=how.judges,
        confidence_scale=how.scale if "confidence" in how.mapping else None,
        questions=tuple(how.questions),
        notes=(*sheet.notes, *how.notes),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Opened:
    """A file with its recognised format: `sheet` for a table, `records` for a native file.

    shape : layout of a table that holds no votes.
    """

    source: Source
    format: str
    sheet: Sheet | None = None
    records: Records | None = None
    test_set: bool = False
    shape: Shape | None = None


def _check_format(options: ReadOptions) -> None:
    if options.format not in (AUTO, *formats()):
        raise InvalidOption(f"--format {options.format!r}: use {AUTO}, {', '.join(formats())}.")


def _open(name: str, data: bytes | Path, options: ReadOptions) -> _Opened:
    source = open_source(name, data, options.max_bytes)
    wanted = options.format
    if source.is_parquet:
        _refuse_native(source, wanted)
        return _table(source, read_parquet(source, options.max_bytes), options)
    if not looks_like_json(source.text()):
        _refuse_native(source, wanted)
        return _table(source, read_delimited(source), options)
    records = read_records(source)
    first = records.records[0]
    if wanted == AUTO:
        wanted = next((name for name, native in _NATIVE.items() if native.fits(first)), CANONICAL)
    elif wanted in _NATIVE and not _NATIVE[wanted].fits(first):
        raise UnreadableFile(
            f"{source.name}: row {records.row[0]}: not a {wanted} file, which has "
            f"{', '.join(_NATIVE[wanted].needs)}. "
            f"Choose another --format, or {AUTO}."
        )
    if wanted not in _NATIVE:
        return _table(source, sheet_of_records(records), options)
    return _Opened(
        source=source,
        format=wanted,
        records=records,
        test_set=wanted == pandalm.NAME and pandalm.is_test_set(first),
    )


def _table(source: Source, sheet: Sheet, options: ReadOptions) -> _Opened:
    shape = recognise(tuple(sheet.columns), options)
    return _Opened(source=source, format=shape.format if shape else CANONICAL, sheet=sheet, shape=shape)


def _read(file: _Opened, options: ReadOptions, test_set: Records | None) -> ImportResult:
    if file.sheet is not None and file.shape:
        layout = lay_out(file.sheet, file.source.name, options, file.shape)
        return _READERS[file.format](file.sheet, file.source, layout, options)
    if file.sheet is not None:
        return read_table(file.sheet, file.source, options, file.format)
    records = _known(file.records)
    if file.format == pandalm.NAME:
        if file.test_set:
            return pandalm.read_test_set(file.source, records, options)
        return pandalm.read_output(file.source, records, options, test_set)
    reader = {
        judgebench.NAME: judgebench.read,
        alpacaeval.NAME: alpacaeval.read,
        arenahard.NAME: arenahard.read,
        mtbench.NAME: mtbench.read,
        direct.NAME: direct.read_mtbench,
    }[file.format]
    return reader(file.source, records, options)


def _known(records: Records | None) -> Records:
    assert records is not None
    return records


def _refuse_native(source: Source, wanted: str) -> None:
    if wanted in _NATIVE:
        raise UnreadableFile(
            f"{source.name}: line 1: not JSON, as a {wanted} file is. Choose --format {CANONICAL}."
        )
