"""What the commands do that have no module of their own: audit, report, import, export, label,
simulate, app and collect.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidOption, NoUsableVotes
from ..extras import APP, COLLECT, require
from ..files import Progress, file_to_read, part_of, shown_progress, written_whole
from ..finding.wording import count, one_line
from ..installation import PROGRAM, serve
from ..options import from_flags, pair
from ..schema import FORMS, Selection

if TYPE_CHECKING:
    from ..auditing.results import Audit
    from ..importers import ReadOptions
    from ..labelling.label_files import LabelFiles
    from ..schema import ImportResult
    from ..store import Store
    from ..store.export import StoredDataset
    from ..store.load import LoadReport

DONE, GATE_FAILED = 0, 1
"""Exit codes."""


def complain(message: str) -> None:
    try:
        print(f"appellate: {one_line(message)}", file=sys.stderr, flush=True)
    except BrokenPipeError:
        stop_output()


def run_audit(options: argparse.Namespace) -> int:
    from ..reporting.build import to_junit, to_markdown
    from ..reporting.document import to_json
    from ..reporting.gates import (
        BetterGate,
        GainGate,
        ShiftGate,
        failures,
        parse_gate,
        strict_gates,
        with_gates,
    )
    from ..reporting.text import shortened, to_text

    if options.use and not options.strict:
        raise InvalidOption(f"--use {options.use}: it says what --strict asks for; add --strict.")
    gates = [parse_gate(text, strict=options.strict) for text in options.fail_if or ()]
    gates += [parse_gate(f"use.{options.use}!=yes")] if options.use and gates else []
    for gate in gates:
        if isinstance(gate, ShiftGate) and not options.against:
            raise InvalidOption(f"--fail-if {str(gate)!r}: name the last audit with --against.")
        if isinstance(gate, GainGate | BetterGate) and options.compare is None:
            raise InvalidOption(f"--fail-if {str(gate)!r}: name the versions with --compare.")
    if options.strict and not gates:
        gates = strict_gates(options.use)
    if options.disagreements is not None:
        from ..collect.trial import split_versions

        for said in map(split_versions, options.files):
            if said is not None:
                complain(said)
    result = with_gates(_audited(options, then=partial(_write_answers, options)), gates)

    json_to_stdout = options.json == "-"
    summary_to = sys.stderr if json_to_stdout else sys.stdout
    try:
        print(to_text(result) if options.all else shortened(result), file=summary_to)
        if json_to_stdout:
            print(to_json(result), flush=True)
    except BrokenPipeError:
        # A reader that has seen enough (`| head`) does not open the gates.
        stop_output()
    if options.json is not None and not json_to_stdout:
        _write(Path(options.json), to_json(result) + "\n")
    if options.junit is not None:
        _write(Path(options.junit), to_junit(result))
    if options.markdown is not None:
        _write(Path(options.markdown), to_markdown(result, made=date.today()))
    failed = failures(result)
    with suppress(BrokenPipeError):
        for failure in failed:
            print(f"appellate: gate failed: {one_line(failure)}", file=sys.stderr)
    return GATE_FAILED if failed else DONE


def _write_answers(options: argparse.Namespace, store: Store, result: Audit) -> None:
    """Write the answers that go to a person, and those on which judge and people differ."""
    from ..labelling.disagreements import as_csv, disagreements, to_people

    agreements = options.with_agreements
    wanted = (
        (options.to_people, to_people),
        (options.disagreements, partial(disagreements, with_agreements=agreements)),
    )
    for name, make in wanted:
        if name is None:
            continue
        if not result.scores:
            raise InvalidOption(f"{name}: no single answers were judged, so none are written.")
        table = make(store, result)
        with written_whole(Path(name)) as part:
            part.write_bytes(as_csv(table))
        complain(f"{name}: {count(table.num_rows, 'answer')}")


def run_report(options: argparse.Namespace) -> int:
    require("plotly", purpose="The HTML report")
    if options.brief:
        from ..reporting.brief import Examples, brief, examples

        found: list[Examples] = []

        def look_up(store: Store, result: Audit) -> None:
            found.append(examples(store, result))

        result = _audited(options, then=look_up)
        _write(
            Path(options.html),
            brief(
                result,
                shown=found[0] if found else None,
                texts=not options.without_texts,
                made=date.today(),
                # An address of an engine may have a password in it.
                command=f"{PROGRAM} {options.written}" if options.warehouse is None else "",
            ),
        )
    else:
        from ..reporting.html import report

        _write(Path(options.html), report(_audited(options)))
    print(one_line(options.html))
    return DONE


def _audited(
    options: argparse.Namespace, then: Callable[[Store, Audit], None] | None = None
) -> Audit:
    """Audit the files, or the table of another engine, that are named, as the options say.

    then : what is still to be asked of the files' votes.
    """
    from ..auditing.options import AuditOptions
    from ..auditing.run import audit
    from ..auditing.sources import check_columns_known
    from ..store import Store
    from ..store.export import is_database
    from .one_call import refuse_unusable

    settings = from_flags(AuditOptions, options)
    selection = Selection(
        judges=tuple(options.judge) if options.judge else None,
        where=tuple(pair(text, "--where") for text in options.where or ()),
        gold=options.gold,
    )
    labels = _label_files(options)
    paths = [Path(name) for name in options.files]
    if len(paths) == 1 and is_database(paths[0]) and options.labels_from is None:
        check_columns_known(options.files[0], _read_options(options))
        with _open(paths[0], read_only=True) as held:
            held.check()
            result = audit(held, selection, settings)
            return _beside(result, held, options, then)
    with shown_progress() as progress:
        if options.warehouse is not None:
            readings = labels.beside(
                _fetched(options, selection.where), _read_options(options), options.key
            )
        else:
            # No name holds what was read beside the list, which the store empties as it loads.
            readings = labels.beside(
                _readings(options, part_of(progress, 0, 0.4)), _read_options(options), options.key
            )
            if options.most_rows is not None:
                from ..warehouse.sample import sample_of

                readings = [sample_of(reading, options.most_rows) for reading in readings]
        refuse_unusable(readings)
        for line in [f"{each.name}: {note}" for each in readings for note in each.told]:
            complain(line)
    with ExitStack() as stack:
        with shown_progress() as progress:
            store = stack.enter_context(Store.holding(readings, part_of(progress, 0.4, 1)))
        how = _read_options(options)
        labels.into(store)
        for line in labels.lines:
            complain(line)
        result = audit(store, selection, settings, readings=readings, reading_options=how)
        result = labels.after(result, store)
        return _beside(result, store, options, then)


def _beside(
    result: Audit,
    store: Store,
    options: argparse.Namespace,
    then: Callable[[Store, Audit], None] | None,
) -> Audit:
    """An audit with what moved since other files, as the options say.

    then : what is still to be asked of the votes.
    """
    how = _read_options(options)
    if then is not None:
        then(store, result)
    if options.compare is not None:
        from ..questions.versions.audit import with_comparisons

        result = with_comparisons(result, store, options.compare)
    if options.against:
        from ..questions.change.files import with_files

        result = with_files(result, _files(options.against), store, how)
    if options.series:
        from ..questions.change.series import with_series

        audited = {Path(name).resolve() for name in options.files}
        older = [name for name in options.series if Path(name).resolve() not in audited]
        result = with_series(result, _files(older), store, how)
    return result


def _fetched(options: argparse.Namespace, where: tuple[tuple[str, str], ...]) -> list[ImportResult]:
    """What was read of a table on another engine; what could not be read, and what crossed the
    network, is said.
    """
    from ..warehouse import fetch
    from ..warehouse.sample import MOST_ROWS

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
    most = MOST_ROWS if options.most_rows is None else options.most_rows
    fetched = fetch(
        options.warehouse, options.table, _read_options(options), where=where, most_rows=most
    )
    reading = fetched.readings[0]
    complain(fetched.sentence)
    for (column, reason), n in reading.counted_reasons.items():
        complain(f"{n:,} rows rejected: column {column}: {reason}")
    for note in reading.notes:
        complain(note)
    complain(fetched.crossed)
    return fetched.readings


def run_import(options: argparse.Namespace) -> int:
    from ..store.export import is_database

    target = _store(options)
    new = not target.exists()
    stores = [name for name in options.files if is_database(Path(name))]
    # Everything is read before anything is loaded, and an error leaves the store as it was.
    held = [found for name in stores for found in _held(name, target, options)]
    options.files = [name for name in options.files if name not in stores]
    with shown_progress() as progress:
        half = part_of(progress, 0, 0.5)
        readings = _readings(options, half) if options.files or not stores else []
        labels = _label_files(options)
        readings = labels.beside(readings, _read_options(options), options.key)
        for line in labels.lines:
            complain(line)
        _refuse_mostly_rejected(readings)
    told: list[str] = []
    with _open(target) as store:
        if not new:
            # A load into a damaged store would seem to succeed.
            store.check()
        dataset, conflict = options.dataset, options.on_conflict
        readings = _beside_stored(store, readings, options)
        with shown_progress() as progress, store.together():
            for found in held:
                report = store.load(
                    found.reading, dataset=dataset, on_conflict=conflict, simulated=found.simulated
                )
                for note in found.reading.notes:
                    complain(one_line(note))
                name = f"{one_line(found.reading.name)}, {one_line(found.dataset)}"
                told.append(f"{name}: {one_line(report.sentence)}")
                if found.labels:
                    told.append(
                        f"  {count(found.labels, 'label')} of people came along as judgements; "
                        f"to label on, to repeat or to undo, open {one_line(found.reading.name)}"
                    )
            for name, sealed in {
                one.reading.name: one.sealed for one in held if one.sealed
            }.items():
                told.append(
                    f"{one_line(name)}: {count(sealed, 'item')} sealed there for proofs can be "
                    "read here; prove a version in that store"
                )
            for k, reading in enumerate(readings):
                start, end = (0.5 + 0.5 * (k + done) / len(readings) for done in (0, 1))
                part = part_of(progress, start, end)
                report = store.load(reading, dataset=dataset, on_conflict=conflict, progress=part)
                told += _told(report, reading)
    try:
        print("\n".join(told), flush=True)
    except OSError as error:
        stop_output()
        if not isinstance(error, BrokenPipeError):
            complain(
                f"the load is done, only its lines cannot be written ({error.strerror}): {told[0]}"
            )
    for reading in readings:
        _complain_of_rejects(reading)
    return DONE


def _beside_stored(
    store: Store, readings: list[ImportResult], options: argparse.Namespace
) -> list[ImportResult]:
    """The readings, beside what the store holds in other data sets; a data set that is named by
    hand is one of its own.
    """
    from .stored_items import beside_stored

    if options.dataset is not None:
        return readings
    return beside_stored(store, readings, options.items)


def _held(name: str, target: Path, options: argparse.Namespace) -> list[StoredDataset]:
    """What another store holds."""
    from ..auditing.sources import check_columns_known
    from ..store.export import read_store

    if target.exists() and target.samefile(name):
        raise InvalidOption(f"{name}: is the store itself; name another with --store")
    check_columns_known(name, _read_options(options))
    return read_store(Path(name), sealed=True)


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
    from ..store import Store

    store = Store.open(path, read_only=read_only)
    for note in store.notes:
        complain(note)
    return store


def _existing_store(options: argparse.Namespace) -> Path:
    """Where the store of a command is. Raises NoUsableVotes: nothing is there."""
    path = _store(options)
    # Opening it says so of a folder that may not be looked into.
    with suppress(PermissionError):
        if not path.exists():
            raise NoUsableVotes(
                f"{path}: there is no store here. Load votes first: {PROGRAM} import FILE --store "
                f"{path}"
            )
    return path


def run_export(options: argparse.Namespace) -> int:
    from ..store.export import write_file

    path, out = _existing_store(options), Path(options.out)
    with suppress(PermissionError):
        if out.exists() and path.samefile(out):
            raise InvalidOption(f"{out}: is the store itself; name another file to write to")
    selection = Selection(datasets=(options.dataset,) if options.dataset else None)
    with _open(path, read_only=not options.with_sealed) as store:
        store.check(options.what)
        if options.with_sealed:
            from ..store.parts import open_all

            with store.change() as change:
                open_all(change)
        table = store.export(selection, kind=options.what)
    write_file(table, out)
    rows = " rows of rankings" if options.what == "rankings" else f" {FORMS[options.what].units}"
    print(f"{options.out}: {table.num_rows:,}{rows}")
    return DONE


def run_app(options: argparse.Namespace) -> int:
    require(*APP, purpose="The dashboard")
    arguments = list(options.settings)
    for name, value in (("server.port", options.port), ("server.address", options.address)):
        if value is not None:
            arguments += [f"--{name}", str(value)]
    return serve(arguments, store=_store(options))


def run_collect(options: argparse.Namespace) -> int:
    require(*COLLECT, purpose="Collecting votes")
    from ..collect.cli import collect

    return collect(options)


def _store(options: argparse.Namespace) -> Path:
    """The store that a command is about; says where it is unless that was given."""
    if options.store:
        return Path(options.store)
    from ..store import default_path

    path = default_path()
    complain(f"the store is {path}")
    return path


def run_simulate(options: argparse.Namespace) -> int:
    from ..simulate.answers import write_demo_answers
    from ..simulate.fuser import write_demo_fuser
    from ..simulate.tables import write_demo_rankings, write_demo_scores
    from ..simulate.votes import write_demo

    write = {
        "votes": write_demo,
        "fuser": write_demo_fuser,
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
    from ..auditing.sources import read_sources

    if not options.files:
        # An option that takes several values takes a file after it for one of them.
        raise NoUsableVotes(
            f"No file is named. Files come first: {PROGRAM} audit FILE … --judge NAME …"
        )
    return read_sources(_files(options.files), _read_options(options), progress=progress)


def _label_files(options: argparse.Namespace) -> LabelFiles:
    """The files of people's labels that the options name."""
    from ..labelling.label_files import LabelFiles

    if options.labels_from is None and options.key is not None:
        raise InvalidOption("--key: names a column of the sheet; name it with --labels-from.")
    return LabelFiles(_files(options.labels_from or ()))


def run_label(options: argparse.Namespace) -> int:
    """Write the items to label as a sheet, or join one that was filled in to a store."""
    from ..labelling.desk import open_desk
    from ..labelling.sheet import add_labels, only_dataset, write_sheet, write_tasks
    from ..store import Store
    from ..store.export import is_database

    if len(options.files) == 1 and is_database(Path(options.files[0])) and not options.store:
        # Labels are kept in the store that is labelled.
        options.files, options.store = [], options.files[0]
    if bool(options.files) == bool(options.store):
        raise InvalidOption("label takes files, or a store with --store; one of the two")
    if options.files:
        readings = _readings(options, lambda *_: None)
        _refuse_mostly_rejected(readings)
    with _open(_existing_store(options)) if options.store else Store.open() as store:
        for reading in readings if options.files else ():
            store.load(reading)
        dataset, kind = only_dataset(store, options.dataset)
        if options.labels_from is not None:
            if not options.store:
                raise InvalidOption(
                    "--labels-from: labels are kept in a store; name it with --store"
                )
            said = add_labels(store, dataset, _files(options.labels_from), kind=kind)
            print("\n".join(f"{one_line(name)}: {sentence}" for name, sentence in said))
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


BETTER, NOT_BETTER, LABELS_WANTED = 0, 1, 3
"""Exit codes of `prove`."""


def run_prove(options: argparse.Namespace) -> int:
    """Go on with the proof of a version, and write the sheet that it asks people to label."""
    from .proving import proved

    options.store = options.file
    path = _existing_store(options)
    sheet = None if options.labels_from is None else file_to_read(options.labels_from)
    with _open(path) as store:
        found = proved(
            store,
            options.new,
            options.over,
            metric=options.metric,
            labels_from=sheet,
            most=options.most,
        )
    print(one_line(found.sentence))
    if found.sheet is None:
        return BETTER if found.state == "better" else NOT_BETTER
    _write(Path(options.sheet), found.sheet)
    out = one_line(options.sheet)
    print(f"{out}: {count(found.cards, 'card')} to label; go on with --labels-from {out}")
    return LABELS_WANTED


def _files(names: Sequence[str]) -> list[tuple[str, bytes | Path]]:
    return [file_to_read(name) for name in names]


def _refuse_mostly_rejected(readings: Sequence[ImportResult]) -> None:
    """Raise UnreadableFile for the first file of which more than half was rejected."""
    from ..importers import mostly_rejected

    for reading in readings:
        if problem := mostly_rejected(reading):
            raise problem


def _read_options(options: argparse.Namespace) -> ReadOptions:
    from ..importers import ReadOptions
    from ..importers.versions import BETWEEN

    how = from_flags(ReadOptions, options)
    comparing = getattr(options, "compare", None) is not None
    return replace(how, version=BETWEEN) if comparing and how.version is None else how


def stop_output() -> None:
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
