"""Votes, scores and rankings out of files, each recognised by its columns or fields.

`read` turns files into ImportResults, `inspect` says beforehand what a file looks like and what
only its owner knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AmbiguousLabels, AppellateError, InvalidOption, UnknownName, UnreadableFile
from ..files import Progress, part_of
from ..labels import candidates, shown
from ..reading.plan import Plan as Evidence
from ..reading.words import SYNONYMS
from ..schema import ImportResult
from . import by_plan, pandalm
from .answer_pairs import paired_metrics, with_votes
from .archives import ZIP
from .arrow_tables import digest, read_parquet, table_of_arrow
from .clusters import clustered
from .gather import Given, gather
from .json_tables import MAX_NAME, Record, read_records, records_of_table, table_of_records
from .layouts import (
    COMPARED,
    DIRECT,
    LISTS,
    PICKS,
    SHAPES,
    Shape,
    as_votes,
    judged_alone,
    lay_out,
    merge_one_hot,
    plain,
    recognise,
)
from .mixed import MAY_SCORE, two_forms
from .native import NativeFile, NativeFormat, read_native
from .options import CANONICAL, Inspection, Plan, Question, ReadOptions
from .preview import TEMPLATES, read_back
from .rankings import read_choices, read_rankings
from .raters import are_scores, lay_out_scores, raters_of
from .registry import FORMATS as _NATIVE
from .registry import HEADER, PROMPTFOO_CSV, TELLING, KnownFile, refuse_header, refuse_known
from .same_items import as_one
from .scores import check_metrics, read_scores
from .source import Source, open_source
from .suggest import suggest, suggest_gold
from .tables import TextTable, read_delimited
from .versions import name_versions, noted, with_versions
from .vote_plan import LABELS_READ, plan
from .votes import read_table
from .wide_metrics import Metrics, find_metrics, in_long_form, judged_by, named_metrics, offered

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = (
    "Inspection",
    "Question",
    "ReadOptions",
    "formats",
    "inspect",
    "mostly_rejected",
    "paired_metrics",
    "read",
    "read_arrow",
    "read_back",
    "template",
    "with_votes",
)

AUTO = "auto"


_READERS: dict[str, Callable[[TextTable, Source, Shape, ReadOptions], ImportResult]] = {
    DIRECT.format: read_scores,
    LISTS.format: read_rankings,
    PICKS.format: read_choices,
}


def formats() -> dict[str, str]:
    """Names of the formats that `ReadOptions.format` takes, with a line on each."""
    tabular = (
        "CSV, TSV, JSON Lines, JSON or Parquet: one row per vote, one "
        "column per judge, or two scores per row"
    )
    others = {name: shape.line for name, shape in SHAPES.items()}
    return {CANONICAL: tabular} | others | {name: native.line for name, native in _NATIVE.items()}


def template(of: str = "two answers compared") -> str:
    """Small CSV file of made-up judgements, to fill in.  of : what was judged (`TEMPLATES`)."""
    return TEMPLATES[of]


def read(
    files: Sequence[tuple[str, bytes | Path]],
    options: ReadOptions | None = None,
    *,
    progress: Progress | None = None,
    looks: Inspection | None = None,
) -> list[ImportResult]:
    """Read files into an `ImportResult` for each kind of judgement that each holds, in their order;
    `progress` hears how far it is.

    A folder, a pattern of names, or a ZIP archive stands for its files, which are one data set.
    Files of those that no format reads are left out and named, as long as one is read. Named one by
    one or together, files are read together: an item of several counts once, and so does a
    judgement (`same_items.as_one`); outputs in the PandaLM format need the test set beside them.

    looks : what `inspect` said of the only file under these options, which is not opened again.

    Raises UnreadableFile: a file is not what its format needs. AmbiguousLabels: labels can be read
    in several ways; the message names the option that settles it. UnknownName, InvalidOption: an
    option names what does not exist.
    """
    options = options or ReadOptions()
    if all(isinstance(data, bytes) and data[:4] != ZIP for _, data in files):
        given = [Given(name=name, data=data) for name, data in files]
    else:
        given = gather(files, options.max_bytes)
    steps = 2 * max(len(given), 1)
    opened: list[NativeFile | _TableFile] = []
    left_out: list[AppellateError] = []
    for each in given:
        if looks is not None and looks.opened is not None and len(given) == 1:
            opened.append(looks.opened)
            continue
        told = part_of(progress, len(opened) / steps, (len(opened) + 1) / steps)
        told(0.0, "Reading the file")
        try:
            opened.append(_open(each, options, told))
        except UnreadableFile as error:
            if each.together is None:
                raise
            left_out.append(error)
    native = [file for file in opened if isinstance(file, NativeFile)]
    if native:
        pandalm.give_test_set(native)
    results: list[ImportResult] = []
    for file in opened:
        if progress is not None:
            rows = file.records.rows if isinstance(file, NativeFile) else file.table.rows
            progress(min(len(opened) + len(results), steps) / steps, f"Checking {rows:,} rows")
        try:
            if isinstance(file, NativeFile):
                results += read_native(file)
            else:
                flat = file.shape or MAY_SCORE.isdisjoint(map(str.casefold, file.table.columns))
                of_file = [*map(_read_table, [file] if flat else _of_one_form(file))]
                as_told = file.options.version in (None, options.version)
                results += of_file if as_told else noted(of_file, file.options.version)
        except UnreadableFile as error:
            if file.source.together is None:
                raise
            left_out.append(error)
    if not results and left_out:
        raise left_out[0]
    results = [clustered(each, options) for each in results]
    if options.version is not None:
        results = name_versions(results, options.version)
    if len(results) > 1:
        together = {file.together for file in given if file.together}
        results = as_one(results, options.items, together={*together, options.dataset or ""})
    if left_out:
        notes = tuple(f"Left out: {error}" for error in left_out)
        results[0] = replace(results[0], notes=(*results[0].notes, *notes))
    if options.lower_is_better:
        check_metrics(results, options)
    return with_votes(results, options) if options.votes_of else results


def read_arrow(
    table: pa.Table, options: ReadOptions | None = None, *, name: str = "votes"
) -> ImportResult:
    """Read a table that is in memory, as a Parquet file of it is read.

    A text is kept once however often it stands there, and no cell is copied; NaN is a missing
    value, as null is.

    name : stands for the name of the file.

    Raises as `read`.
    """
    options = options or ReadOptions()
    if options.format not in (AUTO, CANONICAL, *SHAPES):
        raise InvalidOption(
            "{option} {value!r}: a table in memory has no format of files; use {allowed}.",
            option="format",
            value=options.format,
            allowed=(AUTO, CANONICAL, *SHAPES),
        )
    cells = table_of_arrow(table, name)
    source = Source(name=name, data=b"", sha256=digest(cells), kind="parquet")
    file, *others = _of_one_form(_recognised(cells, source, options))
    if others:
        raise UnreadableFile(f"{name}: {file.table.notes[-1]} Give them as two tables.")
    reading = clustered(_read_table(file), options)
    if file.options.version not in (None, options.version):
        (reading,) = noted([reading], file.options.version)
    if options.lower_is_better:
        check_metrics([reading], options)
    return reading


def _of_one_form(file: _TableFile) -> list[_TableFile]:
    """The table, or its rows of votes and its rows of scores where it holds both."""
    if file.shape or file.options.format != AUTO:
        return [file]
    parts = two_forms(file.table, file.source.name, file.options)
    if parts is None:
        return [file]
    return [_recognised(part, file.source, file.options) for part in parts]


def _read_table(file: _TableFile) -> ImportResult:
    if file.refusal is not None:
        raise file.refusal
    if file.result is not None:
        return file.result
    if file.shape:
        reader = _READERS[file.shape.format]
        return reader(file.table, file.source, file.shape, file.options)
    return read_table(file.table, file.source, file.options, CANONICAL)


def mostly_rejected(reading: ImportResult) -> UnreadableFile | None:
    """Why a file is refused of which more than half was rejected, confidences that could not be
    read included; None if it was not.

    What is left would not stand for the file: which rows can be read is seldom chance.
    """
    judged = reading.judged
    if 2 * judged.lost <= judged.rows:
        return None
    columns, reasons = (reading.rejects[name].to_pylist() for name in ("column", "reason"))
    (column, reason), n = Counter(zip(columns, reasons, strict=True)).most_common(1)[0]
    place = next(
        i for i, why in enumerate(zip(columns, reasons, strict=True)) if why == (column, reason)
    )
    worded = next((message for message in reading.reasons if message == reason), reason)
    spared = 2 * judged.rejected <= judged.rows
    return UnreadableFile(
        "{file}: {rejected} of {judged} rows {were}, more than half, so the file is not "
        "used. Most often ({n}): column {column}, first {value} in row {row}: {reason}."
        + (" Or leave the confidences out with {option:map confidence=}." if spared else ""),
        file=reading.name,
        rejected=f"{judged.lost:,}",
        were=judged.were,
        judged=f"{judged.rows:,}",
        n=f"{n:,}",
        column=column,
        value=shown(reading.rejects["value"][place].as_py()),
        row=reading.rejects["row"][place].as_py(),
        reason=worded,
    )


def inspect(data: bytes | Path, name: str, options: ReadOptions | None = None) -> Inspection:
    """Say what a file looks like and what must be asked, without raising for what is merely
    ambiguous.

    Raises UnreadableFile: the file cannot be read in any way. UnknownName, InvalidOption: an option
    names what does not exist.
    """
    options = options or ReadOptions()
    given, *others = gather([(name, data)], options.max_bytes)
    try:
        file = _open(given, options)
    except by_plan.PlanAsks as asks:
        return by_plan.look(asks.plan, name)
    looks = _looks(file, name, options, len(others))
    return looks if others else replace(looks, opened=file)


def _looks(
    file: NativeFile | _TableFile, name: str, options: ReadOptions, others: int
) -> Inspection:
    """What an opened file looks like. others : files beside it that it stands for."""
    if not isinstance(file, NativeFile) and file.plan is not None:
        return by_plan.look(file.plan, name, file.table.notes)
    if not isinstance(file, NativeFile) and file.refusal is not None and file.result is not None:
        # Nothing is missing that could be named: it is not what it looks like.
        raise file.refusal
    beside = (f"{others + 1:,} files; what follows is of {file.source.name}.",) if others else ()
    table = table_of_records(file.records, name) if isinstance(file, NativeFile) else file.table
    looks = Inspection(
        name=name,
        format=CANONICAL,
        layout="native",
        columns=tuple(table.columns),
        head=table.head(),
        mapping={},
    )
    if isinstance(file, NativeFile):
        note = "PandaLM outputs need the test set (testset-v1.json) beside them."
        alone = file.format is pandalm.FORMAT and not pandalm.is_test_set(file)
        return replace(
            looks,
            format=file.format.name,
            kind=file.format.form.kind,
            notes=(*beside, note) if alone else beside,
        )
    if file.shape:
        scored = file.shape is DIRECT
        how = (
            lay_out_scores(table, name, file.options)
            if scored
            else lay_out(table, name, file.options, file.shape)
        )
        looks = replace(
            looks, format=file.shape.format, kind=file.shape.form.kind, metrics=file.metrics
        )
    else:
        how = plan(table, name, options)
        suggested = (
            suggest_gold(how.judges, how.mapping) if how.judges else suggest(table, how.mapping)
        )
        if file.tried is not None and file.tried.is_certain:
            # What is no judgement by evidence is not made one by a name.
            suggested = {}
        looks = replace(looks, suggested=suggested)
    refused = (str(file.refusal),) if isinstance(file, _TableFile) and file.refusal else ()
    notes = (*beside, *refused, *table.notes, *how.notes)
    return replace(planned(looks, how), notes=notes, refusal=" ".join(refused))


def planned(looks: Inspection, how: Plan) -> Inspection:
    """What a table looks like if it is read by a plan, with what that leaves open."""
    chosen = how.gold_vocabulary if how.gold_only else how.vocabulary
    return replace(
        looks,
        layout=how.layout,
        mapping=dict(how.mapping),
        missing=how.missing,
        labels=tuple(sorted(how.labels.items(), key=lambda pair: -pair[1])),
        vocabularies=candidates(how.labels) if how.labels else (),
        vocabulary=chosen.name if chosen else None,
        judges=how.judges,
        confidence_scale=how.scale if "confidence" in how.mapping else None,
        questions=how.questions,
        notes=how.notes,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _TableFile:
    """A file that is a table, of votes or of a `shape`, and how it is to be read.

    metrics : columns that may hold a metric each, and whether they are taken for one.
    result : what was read of it, if it was.  plan : by which, if not by names.  tried : one that
        could be taken, whether it is or not.  refusal : why it is not read, unless options say how.
    """

    source: Source
    table: TextTable
    shape: Shape | None
    options: ReadOptions
    metrics: tuple[tuple[str, bool], ...] = ()
    result: ImportResult | None = None
    plan: Evidence | None = None
    tried: Evidence | None = None
    refusal: UnreadableFile | None = None


def _open(
    given: Given, options: ReadOptions, progress: Progress | None = None
) -> NativeFile | _TableFile:
    """A file, opened by its format, by a plan of what its columns hold, or by their names.

    Raises AmbiguousLabels: a plan leaves open what only the owner of the file knows.
    """
    wanted = options.format
    if wanted != AUTO and wanted not in formats():
        raise InvalidOption(
            "{option} {value!r}: use {allowed}.",
            option="format",
            value=wanted,
            allowed=(AUTO, *formats()),
        )
    source = open_source(given.name, given.data, options.max_bytes, given.together)
    source = replace(source, sha256=given.sha256 or source.sha256)
    # A table that cannot be taken apart is refused, and no other reader tries it.
    table = None
    if source.kind == "parquet":
        table = read_parquet(source, options.max_bytes)
    elif source.kind == "delimited":
        if wanted == AUTO and PROMPTFOO_CSV in source.data[:HEADER]:
            refuse_header(source)
        table = read_delimited(source, progress)
    found: NativeFile | _TableFile | None = None
    refused: AppellateError | None = None
    try:
        found = _open_by_names(source, table, options)
    except KnownFile:
        raise
    except (UnreadableFile, AmbiguousLabels, UnknownName) as error:
        # A name that is not of the table may be one that only a plan finds, within objects.
        refused = error
    if refused is not None and not by_plan.wanted(options):
        raise refused
    if isinstance(found, _TableFile):
        options = replace(options, version=found.options.version)
    elif found is None and table is not None:
        options = with_versions(table, options)
    if isinstance(found, NativeFile) or not by_plan.wanted(options):
        assert found is not None
        return found
    if found is not None and found.shape not in (None, DIRECT):
        return found
    return _planned_file(source, table, found, options, refused)


def _planned_file(
    source: Source,
    table: TextTable | None,
    found: _TableFile | None,
    options: ReadOptions,
    error: AppellateError | None,
    *,
    whole: bool = False,
) -> _TableFile:
    """What of a reading by names and a plan is taken, see `by_plan`.

    table : of the whole file; None of JSON, in which tables are looked for.  whole : a plan of all
    rows is made, however long the table is.
    """
    if found is not None:
        if by_plan.is_canonical(found.table.columns) and by_plan.is_large(found.table):
            return found
        long = len(found.table.row) > 2 * by_plan.SAMPLED and source.kind != "json"
        if long and not whole:
            return _long_file(source, table or found.table, found, options)
        if by_plan.is_large(found.table) or (
            not MAY_SCORE.isdisjoint(map(str.casefold, found.table.columns))
            and two_forms(found.table, source.name, options)
        ):
            return found
        try:
            found = replace(found, result=_read_table(found))
        except (UnreadableFile, AmbiguousLabels, UnknownName) as refused:
            error = refused
        flat = source.kind != "json"
        if by_plan.names_stand(found.table, found.result, options, error, flat=flat):
            return found
    result = found.result if found else None
    # The table as it stands in the file, before names have turned or joined any of its columns.
    table = table if table is not None or found is None else found.table
    canonical = found is not None and by_plan.is_canonical(found.table.columns)
    plan = by_plan.plan_of(source, table, options)
    columns = () if table is None or (found and found.metrics) else table.columns
    nobody = by_plan.names_nobody(result, columns)
    plan = plan if plan and by_plan.is_told(plan, result, error, nobody=nobody) else None
    taken = None
    if plan is not None and plan.admitted:
        taken = _by_plan(source, plan, table, options)
    elif (
        plan is not None
        and plan.questions
        and not (canonical and (result is None or mostly_rejected(result) is None))
    ):
        raise by_plan.PlanAsks(plan, source.name)
    if taken is None or taken.result is None:
        is_gold = result is not None and result.gold_only and not (plan and plan.is_certain)
        refusal = (
            by_plan.refusal_of(plan, source.name, error, nobody=nobody)
            if plan is not None and not is_gold
            else None
        )
        if found is None:
            assert error is not None
            raise refusal or error
        return found if canonical else replace(found, refusal=refusal)
    if found is None or result is None or by_plan.is_better(taken.result, result, found.table):
        return replace(taken, tried=plan)
    return replace(found, tried=plan)


def _long_file(
    source: Source, table: TextTable, found: _TableFile, options: ReadOptions
) -> _TableFile:
    """What of both readings is taken of a long table, decided on a part of its rows."""
    sample = by_plan.sample_of(table)
    by_names = sample if table is found.table else by_plan.sample_of(found.table)
    try:
        decided = _planned_file(source, sample, replace(found, table=by_names), options, None)
    except by_plan.PlanAsks:
        raise
    except (UnreadableFile, AmbiguousLabels):
        # Its own reading says why, of all rows.
        return found
    plan = decided.tried
    if plan is None:
        return replace(found, refusal=decided.refusal)
    if (asked := by_plan.asked_of_whole(plan, table)) is not None:
        if by_plan.is_large(table):
            raise by_plan.PlanAsks(replace(plan, questions=[asked]), source.name)
        return _planned_file(source, table, found, options, None, whole=True)
    if decided.plan is None:
        return found
    if by_plan.is_large(found.table, by_plan.MOST_PLANNED):
        note = "Too many cells for a plan, which would read the first rows otherwise: "
        said = " ".join(plan.sentences()[:2])
        return replace(found, table=replace(found.table, notes=(*found.table.notes, note + said)))
    whole = by_plan.of_whole(plan, table)
    return _by_plan(source, whole, table, options) or found


def _by_plan(
    source: Source, plan: Evidence, table: TextTable | None, options: ReadOptions
) -> _TableFile | None:
    """A file as an admitted plan reads it; None where its rows come to no reading."""
    planned = by_plan.as_table(plan, options, table)
    file = _TableFile(
        source=replace(source, data=b""),
        table=planned.table,
        shape=DIRECT if planned.scores else None,
        options=planned.options,
    )
    try:
        result = _read_table(file)
    except UnreadableFile:
        return None
    # Into which labels the plan has put its words says nothing of the file.
    notes = tuple(note for note in result.notes if not str(note).startswith(LABELS_READ))
    result = replace(result, mapping=by_plan.mapping_of(plan), notes=notes)
    return replace(file, result=result, plan=plan)


def _open_by_names(
    source: Source, table: TextTable | None, options: ReadOptions
) -> NativeFile | _TableFile:
    wanted = options.format
    if source.kind != "json" and wanted in _NATIVE and not _NATIVE[wanted].tables:
        raise UnreadableFile(
            "{file}: line 1: not JSON, as a {format} file is. Choose {option} {canonical}.",
            option="format",
            file=source.name,
            format=wanted,
            canonical=CANONICAL,
        )
    if table is None:
        records = read_records(source, _is_record)
        first, row = records.records[0], records.row[0]
        if format := _native_of(first, wanted, source.name, row=row):
            return NativeFile(format=format, source=source, records=records, options=options)
        refuse_known(first, source.name, wanted)
        table = table_of_records(records, source.name)
    # What follows needs the table only, and the bytes may be half of all that is held.
    source = replace(source, data=b"")
    if source.kind != "json":
        told = wanted in _NATIVE or any(name.endswith(TELLING) for name in table.columns)
        # A column is there, whether the first row has a cell in it or not.
        probe = {column: cell or " " for column, cell in _first_row(table).items()} if told else {}
        if told and (format := _native_of(probe, wanted, source.name, tables=True)):
            records = records_of_table(table, source.name)
            return NativeFile(format=format, source=source, records=records, options=options)
        found = _recognised(table, source, options)
        if found.shape is None and not as_votes(table.columns, options):
            refuse_known(_first_row(table), source.name, wanted)
        return found
    return _recognised(table, source, options)


def _recognised(table: TextTable, source: Source, options: ReadOptions) -> _TableFile:
    """A table with what its columns say it holds."""
    if "version" in " ".join(table.columns).casefold():
        options = with_versions(table, options)
    table = merge_one_hot(table, source.name, options)
    shape, metrics = shape_of(table, source.name, options)
    if metrics is None:
        return _TableFile(source=source, table=table, shape=shape, options=options)
    return _TableFile(
        source=source,
        table=in_long_form(table, metrics),
        shape=DIRECT,
        options=judged_by(table, metrics, source.name, options),
        metrics=offered(table, metrics),
    )


def shape_of(
    table: TextTable, name: str, options: ReadOptions
) -> tuple[Shape | None, Metrics | None]:
    """What a table holds by its columns and cells, None for votes; and its columns of metrics, if
    there is one per metric.

    Raises UnknownName: an option names a column that the table has not.
    """
    shape = recognise(tuple(table.columns), options)
    compared = COMPARED & table.columns.keys()
    if shape is None and not compared and judged_alone(table, name, options):
        shape = DIRECT
    if options.metrics:
        return shape, named_metrics(table, name, options)
    # Columns or options that compare two answers have the first claim.
    open_ = options.format == (AUTO if shape is None else DIRECT.format)
    if shape not in (None, DIRECT) or not open_ or as_votes(table.columns, options):
        return shape, None
    raters = raters_of(table, {theirs for _, theirs in options.mapping})
    if are_scores(table, raters, options):
        # A judge and people beside each other are raters of one metric, and no metrics.
        return shape if compared else DIRECT, None
    named = {"score", "metric"} & {canonical for canonical, _ in options.mapping}
    return shape, None if named else find_metrics(table)


def _is_record(whole: Record) -> bool:
    """Whether an object that is a whole file is a record that holds arrays, and not a wrapper of
    records.
    """
    votes = {"vote", *SYNONYMS["vote"]}
    own = any(
        len(name) < MAX_NAME and plain(name) in votes and not isinstance(value, list | dict)
        for name, value in whole.items()
    )
    return own or any(native.fits(whole) for native in _NATIVE.values())


def _first_row(table: TextTable) -> Record:
    return dict(zip(table.columns, (table.head(1) or ((),))[0], strict=False))


def _native_of(
    first: Record, wanted: str, name: str, *, row: int = 1, tables: bool = False
) -> NativeFormat | None:
    """Native format of records of which this is the first; None if they are a table of their own.

    tables : they are the rows of a table.
    """
    if wanted == AUTO:
        formats = (native for native in _NATIVE.values() if native.tables or not tables)
        return next((native for native in formats if native.fits(first)), None)
    native = _NATIVE.get(wanted)
    if native and not native.fits(first):
        raise UnreadableFile(
            "{file}: row {row}: not a {format} file, which has {needs}. Choose another {option}, "
            "or {auto}.",
            option="format",
            file=name,
            row=row,
            format=native.name,
            needs=native.needs,
            auto=AUTO,
        )
    return native
