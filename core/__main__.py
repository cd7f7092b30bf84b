"""The command line: `python -m core demo | doctor | audit | report | import | export | …`.

Exit codes: 0 done, 1 a --fail-if gate failed, 2 unusable input, 3 collecting stopped before its
end, 4 collecting failed, 70 an error that nobody foresaw, 130 interrupted. Messages go to standard
error.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

# Our matrices are small: a second BLAS thread doubles the work of a step and saves no time. NumPy
# asks once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from . import __version__
from .demo import demo
from .doctor import doctor
from .errors import AppellateError, InvalidOption, NoUsableVotes
from .extras import APP, COLLECT, EXTRA_OF, missing, require
from .files import (
    Progress,
    file_to_read,
    is_text,
    part_of,
    shown_progress,
    write_report,
    written_whole,
)
from .installation import INSTALLED, PROGRAM, leave_out, leave_out_fortran, serve
from .options import Adds, add_flags, from_flags, pair
from .schema import FORMS, Selection
from .validate import DRAWS, validate
from .wording import one_line

if TYPE_CHECKING:
    from .audit_results import Audit, AuditOptions
    from .importers import ReadOptions
    from .schema import ImportResult
    from .store import Store
    from .store.export import StoredDataset
    from .store.load import LoadReport

DONE, GATE_FAILED, UNUSABLE, UNFORESEEN, INTERRUPTED = 0, 1, 2, 70, 130
SEVERAL: dict[str, Any] = {"action": Adds, "nargs": "+"}
"""An option that takes several values, also in several places."""
_DEFAULT_STORE = "votes.duckdb in the user's data directory" if INSTALLED else "data/votes.duckdb"


def main(arguments: Sequence[str] | None = None, *, alone: bool = False) -> int:
    """Run one command and return its exit code.

    alone : nothing else runs in this process.
    """
    try:
        options = _parsed(arguments)
        if (
            alone
            and options.command in (_audit, _report, _import, _export, demo, doctor, validate)
            and not _elsewhere(options)
        ):
            leave_out("pandas")
            leave_out_fortran()
        _check_text(options)
        code = int(options.command(options))
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except AppellateError as error:
        _complain(str(error))
        return UNUSABLE
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _stop_output()
        return DONE
    except OSError as error:
        _stop_output()
        _complain(f"cannot go on: {error}")
        return UNUSABLE
    except ModuleNotFoundError as error:
        if error.name not in EXTRA_OF:
            return _unforeseen(error, arguments)
        _complain(str(missing(error.name)))
        return UNUSABLE
    except MemoryError:
        _complain("cannot go on: not enough memory. Use a smaller file, or a machine with more.")
        return UNUSABLE
    except Exception as error:
        return _unforeseen(error, arguments)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What a command is told: by its flags, else by the options of this folder."""
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser(words=words).parse_args(words)
    if getattr(options, "isolated", True):
        return options
    from . import options_file

    folder = options_file.read(Path())
    if folder is None:
        return options
    _complain(folder.sentence)
    return folder.completed(_parser(folder.defaults, words).parse_args(words))


def _unforeseen(error: Exception, arguments: Sequence[str] | None) -> int:
    """Say where the report of an error lies; a traceback with exit code 1 would pass for a gate
    that failed.
    """
    report = write_report(error, sys.argv[1:] if arguments is None else arguments, __version__)
    said = f"{type(error).__name__}: {str(error)[:200]}"
    where = (
        f"{report} says where; with it, please report it (SECURITY.md)" if report else "no report"
    )
    _complain(f"an error that nobody foresaw ({said}). {where}")
    return UNFORESEEN


def _elsewhere(options: argparse.Namespace) -> bool:
    """Whether another engine counts, whose driver may need any package."""
    return getattr(options, "warehouse", None) is not None


def _check_text(options: argparse.Namespace) -> None:
    """Refuse what is no text, but for the names of files to read, and a store without a name."""
    for name, value in vars(options).items():
        several = value if isinstance(value, list) else [value]
        if name != "files" and not all(map(is_text, several)):
            raise InvalidOption(f"{name}: {several!r} is not UTF-8. Rename it.")
    if getattr(options, "store", None) == "":
        raise InvalidOption("--store: the name is empty. Name a file, or leave the option out.")


def _complain(message: str) -> None:
    try:
        print(f"appellate: {one_line(message)}", file=sys.stderr, flush=True)
    except BrokenPipeError:
        _stop_output()


def _audit(options: argparse.Namespace) -> int:
    from .reporting.build import (
        ShiftGate,
        failed_gates,
        parse_gate,
        strict_gates,
        to_junit,
        to_markdown,
    )
    from .reporting.document import to_json
    from .reporting.text import shortened, to_text

    gates = [parse_gate(text, strict=options.strict) for text in options.fail_if or ()]
    for gate in gates:
        if isinstance(gate, ShiftGate) and not options.against:
            raise InvalidOption(f"--fail-if {str(gate)!r}: name the last audit with --against.")
    if options.strict and not gates:
        gates = [*strict_gates()]
    result = _audited(options)

    json_to_stdout = options.json == "-"
    summary_to = sys.stderr if json_to_stdout else sys.stdout
    try:
        print(to_text(result) if options.all else shortened(result), file=summary_to)
        if json_to_stdout:
            print(to_json(result), flush=True)
    except BrokenPipeError:
        # A reader that has seen enough (`| head`) does not open the gates.
        _stop_output()
    if options.json is not None and not json_to_stdout:
        _write(Path(options.json), to_json(result) + "\n")
    if options.junit is not None:
        _write(Path(options.junit), to_junit(result, strict=options.strict))
    if options.markdown is not None:
        _write(Path(options.markdown), to_markdown(result, made=date.today()))
    failures = failed_gates(result, gates)
    with suppress(BrokenPipeError):
        for failure in failures:
            print(f"appellate: gate failed: {one_line(failure)}", file=sys.stderr)
    return GATE_FAILED if failures else DONE


def _report(options: argparse.Namespace) -> int:
    require("plotly", purpose="The HTML report")
    if options.brief:
        from .reporting.brief import brief
        from .store.vote_queries import telling_errors

        errors: dict[Any, Any] = {}

        def look_up(store: Store, result: Audit) -> None:
            judges = [judge.judge for judge in result.judges if judge.rater_type != "human"]
            if judges:
                errors.update(telling_errors(store, result.selection, judges[0]))

        result = _audited(options, then=look_up)
        _write(Path(options.html), brief(result, errors=errors, made=date.today()))
    else:
        from .reporting.html import report

        _write(Path(options.html), report(_audited(options)))
    print(one_line(options.html))
    return DONE


def _audited(
    options: argparse.Namespace, then: Callable[[Store, Audit], None] | None = None
) -> Audit:
    """Audit the files, or the table of another engine, that are named, as the options say.

    then : what is still to be asked of the files' votes.
    """
    from .audit_results import AuditOptions
    from .auditing import audit
    from .one_call import refuse_unusable
    from .store import Store

    settings = from_flags(AuditOptions, options)
    selection = Selection(
        judges=tuple(options.judge) if options.judge else None,
        where=tuple(pair(text, "--where") for text in options.where or ()),
        gold=options.gold,
    )
    if options.warehouse is not None:
        return _audited_there(options, selection, settings)
    with shown_progress() as progress:
        readings = _with_labels(_readings(options, part_of(progress, 0, 0.4)), options)
        refuse_unusable(readings)
        if not any(reading.kind == "votes" for reading in readings):
            # Nothing can be audited, and why may be how the file was read.
            for reading in readings:
                for note in reading.notes:
                    _complain(f"{reading.name}: {note}")
    with Store.open() as store:
        with shown_progress() as progress:
            for k, reading in enumerate(readings):
                start, end = (0.4 + 0.6 * (k + done) / len(readings) for done in (0, 1))
                store.load(reading, progress=part_of(progress, start, end))
        how = _read_options(options)
        if options.labels_from is not None:
            from .label_sheet import join_if_sheet

            (sheet,) = _files([options.labels_from])
            if (joined := join_if_sheet(store, *sheet)) is not None:
                _complain(f"{sheet[0]}: {joined.sentence}")
        result = audit(store, selection, settings, readings=readings, reading_options=how)
        if then is not None:
            then(store, result)
        if options.against:
            from .against import with_files

            result = with_files(result, _files(options.against), store, how)
        if options.series:
            from .file_series import with_series

            audited = {Path(name).resolve() for name in options.files}
            older = [name for name in options.series if Path(name).resolve() not in audited]
            result = with_series(result, _files(older), store, how)
        return result


def _audited_there(
    options: argparse.Namespace, selection: Selection, settings: AuditOptions
) -> Audit:
    """Audit a table where it lies; what could not be read, and what crossed the network,
    is said.
    """
    from .auditing import audit
    from .warehouse import Warehouse
    from .warehouse.answers import making_sense

    for flag in ("against", "series"):
        if getattr(options, flag):
            raise InvalidOption(
                f"--{flag}: compares files. Export the table's votes, and audit the file."
            )
    if options.files or not options.table or options.format not in ("auto", "canonical"):
        raise InvalidOption(
            f"--warehouse takes the votes of one table: {PROGRAM} audit --warehouse URL --table "
            "NAME, "
            "with --map, --labels and the like, and without files or --format."
        )
    reading = _read_options(options)
    with Warehouse.open(
        options.warehouse, options.table, reading, selection=selection
    ) as warehouse:
        table = warehouse.table
        _complain(table.sentence)
        for column, reason, n in table.rejected:
            _complain(f"{n:,} rows rejected: column {column}: {reason}")
        for note in table.notes:
            _complain(note)
        with making_sense(warehouse.place):
            found = audit(warehouse, selection, settings, readings=[table], reading_options=reading)
        _complain(warehouse.sentence)
        return found


def _import(options: argparse.Namespace) -> int:
    from .store.export import is_database

    target = _store(options)
    new = not target.exists()
    stores = [name for name in options.files if is_database(Path(name))]
    # Everything is read before anything is loaded, and an error leaves the store as it was.
    held = [found for name in stores for found in _held(name, target, options)]
    options.files = [name for name in options.files if name not in stores]
    with shown_progress() as progress:
        half = part_of(progress, 0, 0.5)
        readings = _readings(options, half) if options.files or not stores else []
        readings = _with_labels(readings, options)
        _refuse_mostly_rejected(readings)
    told: list[str] = []
    with _open(target) as store:
        if not new:
            # A load into a damaged store would seem to succeed.
            store.check()
        dataset, conflict = options.dataset, options.on_conflict
        with shown_progress() as progress, store.together():
            for found in held:
                report = store.load(
                    found.reading, dataset=dataset, on_conflict=conflict, simulated=found.simulated
                )
                name = f"{one_line(found.reading.name)}, {one_line(found.dataset)}"
                told.append(f"{name}: {one_line(report.sentence)}")
            for k, reading in enumerate(readings):
                start, end = (0.5 + 0.5 * (k + done) / len(readings) for done in (0, 1))
                part = part_of(progress, start, end)
                report = store.load(reading, dataset=dataset, on_conflict=conflict, progress=part)
                told += _told(report, reading)
    try:
        print("\n".join(told), flush=True)
    except OSError as error:
        _stop_output()
        if not isinstance(error, BrokenPipeError):
            _complain(
                f"the load is done, only its lines cannot be written ({error.strerror}): {told[0]}"
            )
    for reading in readings:
        _complain_of_rejects(reading)
    return DONE


def _held(name: str, target: Path, options: argparse.Namespace) -> list[StoredDataset]:
    """What another store holds."""
    from .importers import ReadOptions
    from .store.export import read_store

    if target.exists() and target.samefile(name):
        raise InvalidOption(f"{name}: is the store itself; name another with --store")
    if _read_options(options) != ReadOptions():
        raise InvalidOption(
            f"{name}: is a store, whose columns are known; --format, --map and the like are for "
            "other files"
        )
    return read_store(Path(name))


def _told(report: LoadReport, reading: ImportResult) -> list[str]:
    """What a load did, line by line."""
    judge = reading.mapping.get("judge", "")
    named = f", judge {judge[1:]} (in no column)" if judge.startswith("=") else ""
    first = f"{one_line(reading.name)}: {one_line(report.sentence + named)}"
    return [first, *(f"  {one_line(note)}" for note in reading.notes)]


def _complain_of_rejects(reading: ImportResult) -> None:
    rejected = reading.rejected
    with suppress(BrokenPipeError):
        for reject in rejected.slice(0, 10).to_pylist():
            print(
                f"  row {reject['row']}, {reject['column']}: {one_line(reject['reason'])}",
                file=sys.stderr,
            )
        if rejected.num_rows > 10:
            print(f"  … and {rejected.num_rows - 10} more rejected rows", file=sys.stderr)


def _open(path: Path, *, read_only: bool = False) -> Store:
    """The store of a command; says what was found at opening."""
    from .store import Store

    store = Store.open(path, read_only=read_only)
    for note in store.notes:
        _complain(note)
    return store


def _export(options: argparse.Namespace) -> int:
    from .store.export import write_file

    path, out = _store(options), Path(options.out)
    if not path.exists():
        raise NoUsableVotes(
            f"{path}: there is no store here. Load votes first: {PROGRAM} import FILE --store "
            f"{path}"
        )
    if out.exists() and path.samefile(out):
        raise InvalidOption(f"{out}: is the store itself; name another file to write to")
    selection = Selection(datasets=(options.dataset,) if options.dataset else None)
    with _open(path, read_only=True) as store:
        store.check(options.what)
        table = store.export(selection, kind=options.what)
    write_file(table, out)
    rows = " rows of rankings" if options.what == "rankings" else f" {FORMS[options.what].units}"
    print(f"{options.out}: {table.num_rows:,}{rows}")
    return DONE


def _app(options: argparse.Namespace) -> int:
    require(*APP, purpose="The dashboard")
    arguments = list(options.settings)
    for name, value in (("server.port", options.port), ("server.address", options.address)):
        if value is not None:
            arguments += [f"--{name}", str(value)]
    return serve(arguments, store=_store(options))


def _collect(options: argparse.Namespace) -> int:
    require(*COLLECT, purpose="Collecting votes")
    from .judging.cli import collect

    return collect(options)


def _store(options: argparse.Namespace) -> Path:
    """The store that a command is about; says where it is unless that was given."""
    if options.store:
        return Path(options.store)
    from .store import default_path

    path = default_path()
    _complain(f"the store is {path}")
    return path


def _simulate(options: argparse.Namespace) -> int:
    from .simulate.answers import write_demo_answers
    from .simulate.tables import write_demo_rankings, write_demo_scores
    from .simulate.votes import write_demo

    write = {
        "votes": write_demo,
        "answers": write_demo_answers,
        "scores": write_demo_scores,
        "rankings": write_demo_rankings,
    }[options.what]
    rows = write(
        Path(options.out),
        seed=options.seed,
        **({} if options.items is None else {"items": options.items}),
    )
    print(f"{options.out}: {rows:,} rows of simulated {options.what} (seed {options.seed})")
    return DONE


def _readings(options: argparse.Namespace, progress: Progress) -> list[ImportResult]:
    from .importers import read

    if not options.files:
        # An option that takes several values takes a file after it for one of them.
        raise NoUsableVotes(
            f"No file is named. Files come first: {PROGRAM} audit FILE … --judge NAME …"
        )
    return read(_files(options.files), _read_options(options), progress=progress)


def _with_labels(readings: list[ImportResult], options: argparse.Namespace) -> list[ImportResult]:
    """The readings, with people's labels out of another file beside."""
    if options.labels_from is None:
        if options.key is not None:
            raise InvalidOption("--key: names a column of the sheet; name it with --labels-from.")
        return readings
    from .importers.join import join_labels

    (sheet,) = _files([options.labels_from])
    from .label_sheet import is_sheet

    if is_sheet(*sheet):
        # It is joined when its items are in a store (`join_if_sheet`).
        return readings
    joined = join_labels(readings, sheet, _read_options(options), key=options.key)
    _complain(f"{sheet[0]}: {joined.sentence}")
    return [*readings, *joined.readings]


def _label(options: argparse.Namespace) -> int:
    """Write the items to label as a sheet, or join one that was filled in to a store."""
    from .label_desk import open_desk
    from .label_sheet import add_labels, only_dataset, write_sheet, write_tasks
    from .store import Store

    if bool(options.files) == bool(options.store):
        raise InvalidOption("label takes files, or a store with --store; one of the two")
    if options.files:
        readings = _readings(options, lambda *_: None)
        _refuse_mostly_rejected(readings)
    with _open(_store(options)) if options.store else Store.open() as store:
        for reading in readings if options.files else ():
            store.load(reading)
        dataset, kind = only_dataset(store, options.dataset)
        if options.labels_from is not None:
            if not options.store:
                raise InvalidOption(
                    "--labels-from: labels are kept in a store; name it with --store"
                )
            (sheet,) = _files([options.labels_from])
            print(f"{one_line(sheet[0])}: {add_labels(store, dataset, *sheet, kind=kind)}")
            return DONE
        desk = open_desk(store, dataset, kind=kind, seed=options.seed)
        write = write_tasks if options.sheet.casefold().endswith(".json") else write_sheet
        text = write(desk, options.count)
    _write(Path(options.sheet), text)
    print(
        f"{one_line(options.sheet)}: {min(options.count, desk.size):,} of {desk.size:,} items of "
        f"{one_line(dataset)}, to be labelled with {', '.join(desk.keys)}"
    )
    return DONE


def _files(names: Sequence[str]) -> list[tuple[str, bytes | Path]]:
    return [file_to_read(name) for name in names]


def _refuse_mostly_rejected(readings: Sequence[ImportResult]) -> None:
    """Raise UnreadableFile for the first file of which more than half was rejected."""
    from .importers import mostly_rejected

    for reading in readings:
        if problem := mostly_rejected(reading):
            raise problem


def _read_options(options: argparse.Namespace) -> ReadOptions:
    from .importers import ReadOptions

    return from_flags(ReadOptions, options)


def _stop_output() -> None:
    """Nobody reads an output any more: what is still buffered must not fail at exit."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write(path: Path, text: str) -> None:
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")


def _parser(
    folder: Mapping[str, Any] = MappingProxyType({}), words: Collection[str] | None = None
) -> argparse.ArgumentParser:
    """The commands.

    folder : values of options that are not the usual ones in this folder.
    words : of the command line; commands that are not among them are there without their options,
        as those take a tenth of the time that a small file takes. None: with all.
    """
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="Audit LLM judges from a file of votes."
    )
    parser.add_argument("--version", action="version", version=f"appellate {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (about, command, add_options) in COMMANDS.items():
        one = commands.add_parser(name, help=about)
        one.set_defaults(command=command)
        if words is None or name in words:
            add_options(one)
        if name in OF_FOLDER:
            one.set_defaults(**folder)
    return parser


def _add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store", metavar="PATH", help=f"store file ({_DEFAULT_STORE}, or $APPELLATE_STORE)"
    )


def _audit_options(parser: argparse.ArgumentParser) -> None:
    _add_audit_options(parser)
    parser.add_argument(
        "--json", metavar="OUT", help="write the audit as JSON to OUT, or - for standard output"
    )
    parser.add_argument(
        "--fail-if",
        metavar="GATE",
        help='exit 1 if any judge has, e.g., "ece>0.1", "abs(bias_decided)>0.1", "position=fail", '
        '"overall=do_not_trust" or, with --against, "accuracy falls"',
        **SEVERAL,
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="let unclear and cannot say fail too; alone, any check that fails or is unclear",
    )
    parser.add_argument(
        "--all", action="store_true", help="print every check and table, not the first 60 lines"
    )
    parser.add_argument("--junit", metavar="OUT", help="write the checks as JUnit XML")
    parser.add_argument("--markdown", metavar="OUT", help="write a summary for a pull request")


def _report_options(parser: argparse.ArgumentParser) -> None:
    _add_audit_options(parser)
    parser.add_argument(
        "--html", metavar="OUT", required=True, help="file to write, readable offline"
    )
    parser.add_argument(
        "--brief", action="store_true", help="two pages to print: what to do, what fails, errors"
    )


def _import_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="of votes, scores or rankings; or a store"
    )
    _add_reading_options(parser)
    _add_labels(parser)
    _add_store(parser)
    parser.add_argument(
        "--dataset", help="name of the data set (default: the file's column, else its stem)"
    )
    parser.add_argument(
        "--on-conflict",
        choices=("keep", "replace"),
        default="keep",
        help="a vote that is stored with other content is kept as stored, or replaced (keep)",
    )


def _export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", help="OUT.csv, OUT.csv.gz or OUT.parquet")
    _add_store(parser)
    parser.add_argument("--dataset", help="this data set only (default: all)")
    parser.add_argument(
        "--what", choices=tuple(FORMS), default="votes", help="kind of judgement (votes)"
    )


def _label_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="files of votes or scores")
    parser.add_argument("--store", metavar="PATH", help="a store, in place of files")
    parser.add_argument("--dataset", help="the data set, where there are several")
    parser.add_argument(
        "--sheet",
        metavar="OUT",
        default="label.csv",
        help="the sheet to write (label.csv); OUT.json: tasks for Label Studio",
    )
    parser.add_argument("--count", type=int, default=200, help="items on the sheet (200)")
    parser.add_argument(
        "--labels-from", metavar="SHEET", help="a filled sheet, whose labels go to --store"
    )
    parser.add_argument("--seed", type=int, help="of the order (drawn)")
    _add_reading_options(parser)


def _simulate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", help="OUT.csv or OUT.csv.gz")
    parser.add_argument(
        "--what",
        choices=("votes", "answers", "scores", "rankings"),
        default="votes",
        help="kind of judgement (votes); answers are judged singly, with people's labels",
    )
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (0)")
    parser.add_argument("--items", type=int, help="prompts (default: the demo's)")


def _app_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, help="(8501)")
    parser.add_argument("--address", help="to listen at (localhost); another one needs sign-in")
    _add_store(parser)
    more = "further settings of Streamlit, such as -- --server.allowedHosts judges.example.org"
    parser.add_argument("settings", nargs="*", metavar="-- SETTING", help=more)


def _collect_options(parser: argparse.ArgumentParser) -> None:
    from .judging.cli import add_arguments

    add_arguments(parser)


def _validate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help=f"files that are simulated ({DRAWS})"
    )
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (0)")


def _doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="of votes, gold, scores or rankings")
    _add_reading_options(parser)


def _add_audit_options(parser: argparse.ArgumentParser) -> None:
    from .audit_results import AuditOptions

    parser.add_argument("files", nargs="*", metavar="FILE", help="of votes, and of gold")
    where = "audit a table where it lies: postgresql://, clickhouse://, sc:// (Spark), parquet:///FOLDER"
    parser.add_argument("--warehouse", metavar="URL", help=where)
    parser.add_argument("--table", metavar="NAME", help="table of votes on that engine")
    _add_reading_options(parser)
    _add_labels(parser)
    parser.add_argument(
        "--gold",
        help="what is true: given, humans, or a judge's name; without it, people's majority where "
        "people voted and no gold is given",
    )
    parser.add_argument("--judge", help="only these judges", **SEVERAL)
    where = "only these votes; several mean AND"
    parser.add_argument("--where", metavar="COLUMN=VALUE", help=where, **SEVERAL)
    parser.add_argument(
        "--against",
        metavar="OLD",
        help="say what moved since these files of votes, or since the JSON of an audit",
        **SEVERAL,
    )
    parser.add_argument(
        "--series",
        metavar="OLD",
        help="control charts over these older files, oldest first, and the audited one (8 or more)",
        **SEVERAL,
    )
    add_flags(parser, AuditOptions)


def _add_labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels-from", metavar="SHEET", help="a file of people's labels of the same answers"
    )
    parser.add_argument(
        "--key",
        metavar="COLUMN",
        help="column of that file that names the answers (else their ids, or their texts)",
    )


def _add_reading_options(parser: argparse.ArgumentParser) -> None:
    from .importers import ReadOptions, formats

    add_flags(parser, ReadOptions, formats=", ".join(formats()))
    parser.add_argument(
        "--isolated",
        action="store_true",
        help="take no options from appellate.toml or pyproject.toml of this folder",
    )


def _no_options(_: argparse.ArgumentParser) -> None:
    pass


COMMANDS: dict[
    str, tuple[str, Callable[[argparse.Namespace], int], Callable[[argparse.ArgumentParser], None]]
] = {
    "audit": ("audit the judges in one or several files, without a store", _audit, _audit_options),
    "report": ("audit files and write all of it as one HTML file", _report, _report_options),
    "import": ("load files into a store, or all of another store", _import, _import_options),
    "export": ("write what a store holds as CSV or Parquet", _export, _export_options),
    "label": (
        "write items in random order, blind, as a sheet for a person to label",
        _label,
        _label_options,
    ),
    "simulate": ("write simulated votes with known parameters", _simulate, _simulate_options),
    "app": ("serve the dashboard to this machine", _app, _app_options),
    "collect": ("collect votes from models into a store", _collect, _collect_options),
    "demo": ("audit simulated votes with planted biases", demo, _no_options),
    "validate": (
        "plant faults in simulated judges and show how many an audit finds",
        validate,
        _validate_options,
    ),
    "doctor": (
        "say what is in a file, how it would be read and what checks would lack",
        doctor,
        _doctor_options,
    ),
}
"""What each is for, what it does, and what adds its options."""
OF_FOLDER = ("audit", "report", "import", "doctor")
"""Commands whose options may be given for a folder."""


def console() -> int:
    """Run the command that the process was started with and return its exit code."""
    # The document is UTF-8 whatever the console is, and a sentence with a κ must not end in an
    # error.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    return main(alone=True)


if __name__ == "__main__":
    sys.exit(console())
