"""Audit whatever holds votes with one call, and a result that shows itself.

`audit` takes files, tables in memory and stores; what it returns is the `Audit` of `auditing.audit`
with ways to read it in a notebook, as a table and by the name of a judge.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, get_args, get_origin, get_type_hints, overload

from ..auditing import run as auditing
from ..auditing.answers import headlines
from ..auditing.options import AuditOptions
from ..auditing.results import Audit, JudgeAudit
from ..auditing.sources import read_sources
from ..errors import AppellateError, InvalidOption, NoUsableVotes, UnknownName, render
from ..extras import require
from ..files import written_whole
from ..finding.wording import count, one_line
from ..importers import ReadOptions, mostly_rejected, read_arrow, with_votes
from ..importers.objects import are_records, as_arrow, as_file, as_files, sources_in
from ..importers.same_items import as_one
from ..importers.versions import BETWEEN, name_versions
from ..labelling import disagreements as tables
from ..labelling.label_files import LabelFiles
from ..questions.change.files import with_files
from ..questions.change.series import with_series
from ..questions.versions.audit import with_comparisons
from ..schema import Selection
from ..stats.estimate import DataFrame, data_frame
from ..store import Store
from ..store.export import is_database

if TYPE_CHECKING:
    import pyarrow as pa

    from ..schema import ImportResult
    from ..store.connection import Database, Snapshot

"""Lines of the text of an audit."""
MOST_CHARACTERS = 500
"""Characters of its `repr`."""
KEYWORDS = {
    each.name: each.metadata["flag"].name or each.name
    for each in fields(ReadOptions)
    if "flag" in each.metadata
}
"""What messages call an option of reading here."""
SELECTING = ("judge", "where", "gold")


class Judges(tuple[JudgeAudit, ...]):
    """The audits of judges, by their place or by the name of the judge."""

    __slots__ = ()

    @overload
    def __getitem__(self, place: SupportsIndex | str) -> JudgeAudit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[JudgeAudit, ...]: ...
    def __getitem__(
        self, place: SupportsIndex | slice | str
    ) -> JudgeAudit | tuple[JudgeAudit, ...]:
        """Raises UnknownName, which is no KeyError, for a judge that was not audited."""
        if not isinstance(place, str):
            return super().__getitem__(place)
        for judge in self:
            if judge.judge == place:
                return judge
        names = [judge.judge for judge in self]
        raise UnknownName("judge {value!r}: not audited. Known: {known}.", value=place, known=names)


class ShownAudit(Audit):
    """An `Audit` that a notebook, `print` and tables can show.

    `judges["name"]` is the audit of one judge: `judges["name"].calibration.ece` is a number.
    """

    __slots__ = ()
    judges: Judges

    @classmethod
    def of(cls, found: Audit) -> ShownAudit:
        """The same audit."""
        facts = {field.name: getattr(found, field.name) for field in fields(Audit)}
        return cls(**facts | {"judges": Judges(found.judges)})

    @property
    def headline(self) -> str:
        """Which judge to use, or why none: what is said first."""
        return one_line(headlines(self))

    def __str__(self) -> str:
        """The text of the command line in at most 60 lines; `to_text` gives all."""
        from ..reporting.text import shortened

        return shortened(self)

    def __repr__(self) -> str:
        """What was audited and the answer, in at most `MOST_CHARACTERS` characters."""
        judges = len(self.judges) or len({scores.judge for scores in self.scores})
        scores = sum(rater.n for rater in self.summary.scores)
        held = count(self.summary.votes, "vote") if self.judges else count(scores, "score")
        text = f"<Audit of {count(judges, 'judge')}, {held}: {self.headline}"
        most = MOST_CHARACTERS - 1
        return f"{text if len(text) <= most else text[: most - 1] + '…'}>"

    def _repr_html_(self) -> str:
        from ..reporting.notebook import to_html

        return to_html(self)

    def to_arrow(self) -> pa.Table:
        """One row per judge and check: grade, estimate with its interval, what would decide it,
        sentence.
        """
        import pyarrow as pa

        results = [(self.overall[result.judge], result) for result in self.checks]
        results += [(each.overall, result) for each in self.scores for result in each.checks]
        rows = [
            {
                "judge": result.judge,
                "metric": result.metric,
                "overall": overall.verdict,
                "check": result.check,
                "grade": result.grade,
                **{
                    name: None if result.interval is None else getattr(result.interval, name)
                    for name in ("value", "low", "high", "n", "level")
                },
                "needed_items": result.needed_items,
                "more_items": result.more_items,
                "applicable": result.applicable,
                "sentence": result.sentence,
            }
            for overall, result in results
        ]
        kinds = {
            **dict.fromkeys(("value", "low", "high", "level"), pa.float64()),
            **dict.fromkeys(("n", "needed_items", "more_items"), pa.int64()),
            "applicable": pa.bool_(),
        }
        names = [
            *("judge", "metric", "overall", "check", "grade"),
            *("value", "low", "high", "n", "level"),
            *("needed_items", "more_items", "applicable", "sentence"),
        ]
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
        # An end that is not known is NaN in an estimate, and null in a table.
        columns = [
            pa.array([row[name] for row in rows], schema.field(name).type, from_pandas=True)
            for name in names
        ]
        return pa.Table.from_arrays(columns, schema=schema)

    def to_frame(self) -> DataFrame:
        """`to_arrow` as a pandas frame. Raises MissingExtra where pandas is not installed."""
        return data_frame(self.to_arrow().to_pydict())

    def report(self, path: str | Path) -> Path:
        """Write the audit as one HTML file and return its path.

        Raises MissingExtra where plotly is not installed, InvalidOption: it cannot be written.
        """
        require("plotly", purpose="The HTML report")
        from ..reporting.html import report

        target = Path(path)
        with written_whole(target) as part:
            part.write_text(report(self), encoding="utf-8")
        return target


def audit(
    source: Any,
    selection: Selection | None = None,
    options: AuditOptions | None = None,
    *,
    name: str = "votes",
    readings: Sequence[ImportResult] = (),
    reading_options: ReadOptions | None = None,
    against: Any = None,
    series: Sequence[Any] | None = None,
    compare: Sequence[str] | str | None = None,
    labels_from: Any = None,
    key: str | None = None,
    then: Callable[[Any, Audit], None] | None = None,
    **given: Any,
) -> ShownAudit:
    """Audit the judges in a file, a table or a store.

    source : a path, the bytes of a file, a list of records or a dict of columns, a table that
        offers Arrow's C stream or `to_pandas` (pandas, Polars, Arrow, a DuckDB relation, a data
        set of Hugging Face), a DuckDB connection that holds one table, a `Store` or its path, a
        `Warehouse`; or a list of files and tables, such as votes and gold.
    selection, options, reading_options : which votes, how to audit, and how to read; or else their
        fields by keyword.
    name : of a table or of bytes, which have no file name.
    readings : what was loaded into a store, where its counts shall be said.
    against : files or tables of votes, or an audit's JSON, of the last audit: what moved since
        then.
    series : older files or tables of votes, oldest first: control charts over them and the audited
        one.
    compare : two judges, versions or files, or judges with versions; none in the list for every
        version against the first. `comparisons` of the audit say which is better.
    labels_from, key : sheets of people's labels of the same answers, one or a list of them, and
        their column that names the answers: see `core.labelling.join.join_labels`.
    then : what is still to be asked of the store, with the audit.
    given : fields of `ReadOptions` and `AuditOptions`, and `judge`, `where` and `gold`, by the
        names that they have there or on the command line: `map={"judge": "grader"}`,
        `labels="arena"`, `level=0.9`, `gold="humans"`.

    Texts of answers are not copied. Raises TypeError: no source, or no such option. UnreadableFile,
    AmbiguousLabels, NoUsableVotes: as the command line says. UnknownName, InvalidOption: an option
    names what does not exist, or is outside what its method allows.

    >>> rows = "item_id,judge,vote,gold\\nq1,j,1,1\\nq2,j,-1,1\\n"
    >>> audit(rows.encode(), level=0.9).judges["j"].accuracy.value
    0.5
    """
    selection = _with(Selection, selection, _selecting(given), "selection")
    options = _with(AuditOptions, options, _of_kind(AuditOptions, given), "options")
    reading = _of_kind(ReadOptions, given)
    if given:
        raise TypeError(_unknown_keyword(next(iter(given))))
    ask = then or (lambda *_: None)
    if _is_store(source):
        if reading:
            raise InvalidOption(
                f"{next(iter(reading))}: is said of a file or table; what a store holds was read "
                "already."
            )
        found = auditing.audit(
            source, selection, options, readings=readings, reading_options=reading_options
        )
        ask(source, found)
        how = reading_options or ReadOptions()
        return ShownAudit.of(_beside(found, source, how, name, against, series, compare))
    how = _with(ReadOptions, reading_options, reading, "reading_options")
    stored = isinstance(source, str | Path) and is_database(Path(source))
    if stored and (reading or reading_options is not None):
        raise InvalidOption(f"{source}: is a store, whose columns are known already.")
    if stored and labels_from is None:
        with Store.open(source, read_only=True) as store:
            found = auditing.audit(store, selection, options)
            ask(store, found)
            return ShownAudit.of(
                _beside(found, store, ReadOptions(), name, against, series, compare)
            )
    if compare is not None and how.version is None:
        how = replace(how, version=BETWEEN)
    try:
        results = _read(sources_in(source), how, name)
        labels = LabelFiles(() if labels_from is None else as_files(labels_from, "labels"))
        results = labels.beside(results, how, key)
        refuse_unusable(results)
    except AppellateError as error:
        # What a reader raises may have a class of its own, made of a plan and not of a sentence.
        classes = type(error).__mro__
        public = next(each for each in classes if each.__module__ == AppellateError.__module__)
        raise public(render(error, KEYWORDS)) from None
    with Store.holding(results) as store:
        labels.into(store)
        found = auditing.audit(store, selection, options, readings=results, reading_options=how)
        found = labels.after(found, store)
        ask(store, found)
        return ShownAudit.of(_beside(found, store, how, name, against, series, compare))


def disagreements(
    source: Any, *, with_agreements: int = 30, options: AuditOptions | None = None, **given: Any
) -> pa.Table:
    """The single answers on which judges and people differ, as `audit --disagreements` writes them.

    source, given : as of `audit`.  with_agreements : agreements among them, unmarked.
    Filled in, the table is `labels_from` of `audit`. Raises as `audit`.
    """
    return _answers_of(
        partial(tables.disagreements, with_agreements=with_agreements), source, options, given
    )


def to_people(source: Any, *, options: AuditOptions | None = None, **given: Any) -> pa.Table:
    """The single answers that judges may not decide alone, as `audit --to-people` writes them.

    source, given : as of `audit`. Raises as `audit`.
    """
    return _answers_of(tables.to_people, source, options, given)


def _answers_of(
    make: Callable[[Any, Audit], pa.Table],
    source: Any,
    options: AuditOptions | None,
    given: dict[str, Any],
) -> pa.Table:
    """A table of answers of what is audited."""
    made: list[pa.Table] = []

    def write(store: Any, found: Audit) -> None:
        made.append(make(store, found))

    audit(source, None, options, then=write, **given)
    return made[0]


def _beside(
    found: Audit,
    store: Database | Snapshot,
    options: ReadOptions,
    name: str,
    older: Any,
    series: Sequence[Any] | None,
    versions: Sequence[str] | str | None,
) -> Audit:
    """An audit with its versions compared, what moved since files of votes, or since an audit's
    JSON, and over a series of files.
    """
    if versions is not None:
        named = [versions] if isinstance(versions, str) else list(versions)
        found = with_comparisons(found, store, named)
    if older is not None:
        found = with_files(found, as_files(older, f"old {name}"), store, options)
    if series is not None:
        found = with_series(found, as_files(series, name), store, options)
    return found


def refuse_unusable(readings: Sequence[ImportResult]) -> None:
    """Raise NoUsableVotes where nothing was read, UnreadableFile for the first file of which more
    than half was rejected.
    """
    if not sum(reading.votes.num_rows for reading in readings):
        raise NoUsableVotes(_no_votes(readings))
    for reading in readings:
        if problem := mostly_rejected(reading):
            raise problem
    if all(reading.gold_only for reading in readings):
        labels = sum(reading.votes.num_rows for reading in readings)
        names = ", ".join(reading.name for reading in readings)
        raise NoUsableVotes(
            f"{names}: {labels:,} gold labels, and no votes of a judge that they could be gold of. "
            "Name the file of its votes beside."
        )


def _no_votes(readings: Sequence[ImportResult]) -> str:
    first = next((r for r in readings if r.rejects.num_rows), None)
    names = ", ".join(reading.name for reading in readings)
    if first is None:
        said = " ".join(str(note) for reading in readings for note in reading.notes)
        return f"{names}: no judgement of a judge in it. {said}".rstrip()
    reject = first.rejects.slice(0, 1).to_pylist()[0]
    return (
        f"{names}: no usable vote; all {first.rejects.num_rows} rows were rejected. First: row "
        f"{reject['row']}, column {reject['column']}: {reject['value']!r}: {reject['reason']}"
    )


def _is_store(source: Any) -> bool:
    return callable(getattr(source, "snapshot", None))


def _read(sources: Sequence[Any], options: ReadOptions, name: str) -> list[ImportResult]:
    """Files together, because some are read beside others, and tables each alone."""
    files: list[tuple[str, bytes | Path]] = []
    tables: list[tuple[str, Any]] = []
    for number, source in enumerate(sources, 1):
        own = name if len(sources) == 1 else f"{name} {number}"
        if isinstance(source, str | Path | bytes | bytearray | memoryview) or are_records(source):
            files.append(as_file(source, own))
        else:
            tables.append((own, as_arrow(source, own)))
    alone = replace(options, votes_of=None)
    results = read_sources(files, alone) if files else []
    of_tables = [read_arrow(table, alone, name=own) for own, table in tables]
    of_tables = name_versions(of_tables, options.version)
    return with_votes(as_one([*results, *of_tables], options.items), options)


def _selecting(given: dict[str, Any]) -> dict[str, Any]:
    """Fields of `Selection` by the names that the command line has for them, out of `given`."""
    fields_given: dict[str, Any] = {}
    for name in SELECTING:
        if name in given:
            value = given.pop(name)
            if name == "gold":
                fields_given["gold"] = value
            elif name == "judge":
                fields_given["judges"] = _several(value)
            else:
                fields_given["where"] = _pairs(value)
    return fields_given


def _of_kind(kind: type, given: dict[str, Any]) -> dict[str, Any]:
    """Fields of a dataclass of options, by their names or those of their flags, out of `given`."""
    hints = get_type_hints(kind, vars(inspect.getmodule(kind)))
    values = {}
    for field in fields(kind):
        for name in _names(field):
            if name in given:
                if field.name in values:
                    raise TypeError(f"{name}: is {field.name}, which is given too.")
                values[field.name] = _value(given.pop(name), hints[field.name])
    return values


def _names(field: Field[Any]) -> Iterable[str]:
    flag = field.metadata.get("flag")
    named = flag.name.replace("-", "_") if flag is not None and flag.name else field.name
    return dict.fromkeys((field.name, named))


def _value(value: Any, hint: Any) -> Any:
    """A value as its field holds it: several in a tuple, names and what they mean in pairs."""
    kinds = [hint, *get_args(hint)]
    origins = [get_origin(kind) for kind in kinds]
    if Mapping in origins:
        return {
            name: _several(each) if isinstance(each, str | list) else each
            for name, each in dict(value).items()
        }
    for kind, origin in zip(kinds, origins, strict=True):
        if origin is tuple and value is not None:
            inner = get_args(kind)[0]
            return _pairs(value) if get_origin(inner) is tuple else _several(value)
    return value


def _several(value: Any) -> tuple[Any, ...] | None:
    if value is None:
        return None
    return tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)


def _pairs(value: Any) -> tuple[tuple[Any, Any], ...]:
    pairs = value.items() if isinstance(value, Mapping) else value
    return tuple((left, right) for left, right in pairs)


def _with(kind: type, given: Any, values: Mapping[str, Any], name: str) -> Any:
    """Options from an object, or from keywords, never from both."""
    if given is not None and values:
        raise TypeError(f"{next(iter(values))}: say it in {name}, which is given too.")
    return kind(**values) if given is None else given


def _unknown_keyword(name: str) -> str:
    kinds = (ReadOptions, AuditOptions)
    known = [each for kind in kinds for field in fields(kind) for each in _names(field)]
    near = difflib.get_close_matches(name, [*known, *SELECTING, "name"], n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"audit() has no option {name!r}.{meant}"
