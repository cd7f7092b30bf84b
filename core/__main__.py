"""The command line: `python -m core demo | doctor | audit | report | import | export | …`.

Exit codes: 0 done, 1 a --fail-if gate failed, 2 unusable input, 3 collecting stopped before its
end, 4 collecting failed, 70 an error that nobody foresaw, 130 interrupted. Messages go to standard
error.
"""

from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

# Our matrices are small: a second BLAS thread doubles the work of a step and saves no time. NumPy
# asks once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from . import __version__
from .errors import AppellateError, InvalidOption
from .extras import EXTRA_OF, missing
from .files import is_text, write_report
from .installation import INSTALLED, PROGRAM, leave_out, leave_out_fortran
from .options import Adds, add_flags
from .schema import FORMS
from .use.commands import (
    DONE,
    complain,
    run_app,
    run_audit,
    run_collect,
    run_export,
    run_import,
    run_label,
    run_prove,
    run_report,
    run_simulate,
    stop_output,
)
from .use.demo import demo
from .use.doctor import doctor
from .use.papers import add_options as papers_options
from .use.papers import papers

UNUSABLE, UNFORESEEN, INTERRUPTED = 2, 70, 130
SEVERAL: dict[str, Any] = {"action": Adds, "nargs": "+"}
"""An option that takes several values, also in several places."""
_DEFAULT_STORE = "votes.duckdb in the user's data directory" if INSTALLED else "data/votes.duckdb"


def main(arguments: Sequence[str] | None = None, *, alone: bool = False) -> int:
    """Run one command and return its exit code.

    alone : nothing else runs in this process.
    """
    try:
        options = _parsed(arguments)
        if alone and options.command in ON_STORES and not _elsewhere(options):
            leave_out("pandas")
            leave_out_fortran()
        _check_text(options)
        code = int(options.command(options))
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except AppellateError as error:
        complain(str(error))
        return UNUSABLE
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        stop_output()
        return DONE
    except OSError as error:
        stop_output()
        complain(f"cannot go on: {error}")
        return UNUSABLE
    except ModuleNotFoundError as error:
        if error.name not in EXTRA_OF:
            return _unforeseen(error, arguments)
        complain(str(missing(error.name)))
        return UNUSABLE
    except MemoryError:
        complain("cannot go on: not enough memory. Use a smaller file, or a machine with more.")
        return UNUSABLE
    except Exception as error:
        return _unforeseen(error, arguments)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What a command is told: by its flags, else by the options of this folder."""
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser(words=words).parse_args(words)
    options.written = shlex.join(words).encode("utf-8", "backslashreplace").decode()
    if getattr(options, "isolated", True):
        return options
    from .use import options_file

    folder = options_file.read_folder(Path())
    if folder is None:
        return options
    complain(folder.sentence)
    completed = folder.completed(_parser(folder.defaults, words).parse_args(words))
    completed.written = options.written
    return completed


def _unforeseen(error: Exception, arguments: Sequence[str] | None) -> int:
    """Say where the report of an error lies; a traceback with exit code 1 would pass for a gate
    that failed.
    """
    report = write_report(error, sys.argv[1:] if arguments is None else arguments, __version__)
    said = f"{type(error).__name__}: {str(error)[:200]}"
    where = (
        f"{report} says where; with it, please report it (SECURITY.md)" if report else "no report"
    )
    complain(f"an error that nobody foresaw ({said}). {where}")
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
        '"overall=do_not_trust" or, with --against, "accuracy falls", with --compare "gain<0.02"',
        **SEVERAL,
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="alone, fail on judges that are not shown to be fit for their use; beside gates let "
        "unclear and cannot say fail too",
    )
    parser.add_argument(
        "--use",
        choices=("decide", "measure", "sort"),
        help="what --strict asks that judges are fit for (default: decide where they say pass or "
        "fail, else measure)",
    )
    parser.add_argument(
        "--to-people",
        metavar="OUT",
        help="write the single answers that no judge may decide alone at --error, and some of the "
        "others, as CSV",
    )
    parser.add_argument(
        "--disagreements",
        metavar="OUT",
        help="write the single answers on which judge and people differ as CSV; with who_is_right "
        "filled in it is read back by --labels-from",
    )
    parser.add_argument(
        "--with-agreements",
        metavar="N",
        type=int,
        default=30,
        help="agreements among them, unmarked, by which errors that both made are seen (30)",
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
        "--brief",
        action="store_true",
        help="two pages to print or send: what to do, what fails, errors",
    )
    parser.add_argument(
        "--without-texts",
        action="store_true",
        help="leave prompts, answers and reasons out of what --brief writes",
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
    parser.add_argument(
        "--with-sealed",
        action="store_true",
        help="open what is sealed for `prove` for good, and write it too",
    )


def _label_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="of votes or scores; or a store")
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
        "--labels-from",
        nargs="+",
        metavar="SHEET",
        help="filled sheets, whose labels go to --store",
    )
    parser.add_argument("--seed", type=int, help="of the order (drawn)")
    _add_reading_options(parser)


def _prove_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="STORE", help="a store with votes or scores of both")
    parser.add_argument("new", metavar="VERSION", help="the newer version, such as v2 or gpt@v2")
    parser.add_argument("--over", metavar="VERSION", help="the older one (the first of its family)")
    parser.add_argument("--metric", help="of scores, where there are several")
    parser.add_argument(
        "--labels-from", metavar="SHEET", help="the sheet, filled in: the proof goes on"
    )
    parser.add_argument(
        "--sheet", metavar="OUT", default="prove.csv", help="the sheet to write (prove.csv)"
    )
    parser.add_argument("--most", type=int, default=60, help="labels of a try at most (60)")


def _simulate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", help="OUT.csv or OUT.csv.gz")
    parser.add_argument(
        "--what",
        choices=("votes", "fuser", "answers", "scores", "rankings"),
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
    from .collect.cli import add_arguments

    add_arguments(parser)


def _doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="of votes, gold, scores or rankings; or a store"
    )
    _add_reading_options(parser)


def _add_audit_options(parser: argparse.ArgumentParser) -> None:
    from .auditing.options import AuditOptions

    parser.add_argument("files", nargs="*", metavar="FILE", help="of votes, and of gold; or stores")
    where = "audit a table where it lies: postgresql://, clickhouse://, sc:// (Spark), parquet:///FOLDER"
    parser.add_argument("--warehouse", metavar="URL", help=where)
    parser.add_argument("--table", metavar="NAME", help="table of votes on that engine")
    most = (
        "of a table with more rows, whole items drawn at random (10,000,000; a file is read whole)"
    )
    parser.add_argument("--most-rows", type=int, metavar="N", help=most)
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
        "--compare",
        metavar="VERSION",
        nargs="*",
        help="say which of two versions of a judge is better, such as v1 v2: two judges, versions "
        "or files; alone, every version against the first",
    )
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
        "--labels-from",
        nargs="+",
        metavar="SHEET",
        help="files of people's labels of the same answers",
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
    "audit": (
        "audit the judges in one or several files, without a store",
        run_audit,
        _audit_options,
    ),
    "report": ("audit files and write all of it as one HTML file", run_report, _report_options),
    "papers": ("print the tables and figures of the papers on your file", papers, papers_options),
    "import": ("load files into a store, or all of another store", run_import, _import_options),
    "export": ("write what a store holds as CSV or Parquet", run_export, _export_options),
    "label": (
        "write items in random order, blind, as a sheet for a person to label",
        run_label,
        _label_options,
    ),
    "prove": (
        "prove that a version of a judge is better, by labels where two part",
        run_prove,
        _prove_options,
    ),
    "simulate": ("write simulated votes with known parameters", run_simulate, _simulate_options),
    "app": ("serve the dashboard to this machine", run_app, _app_options),
    "collect": ("collect votes from models into a store", run_collect, _collect_options),
    "demo": ("audit simulated votes with planted biases", demo, _no_options),
    "doctor": (
        "say what is in a file, how it would be read and what checks would lack",
        doctor,
        _doctor_options,
    ),
}
"""What each is for, what it does, and what adds its options."""
ON_STORES = (run_audit, run_report, run_import, run_export, demo, doctor)
"""Commands that need no more than what a store needs."""
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
