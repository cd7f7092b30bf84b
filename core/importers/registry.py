"""All native formats, and the tools whose files are known but cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import UnreadableFile
from . import labelled, pandalm, preferences, promptfoo, published, tools
from .declared import get
from .json_tables import Record
from .native import NativeFormat
from .source import Source

HEADER, PROMPTFOO_CSV = 64 * 1024, b"Grader Reason"
"""Bytes in which a header ends, and what promptfoo's has."""


FORMATS: dict[str, NativeFormat] = {
    format.name: format
    for format in (
        *published.FORMATS,
        *labelled.FORMATS,
        pandalm.FORMAT,
        tools.INSPECT,
        *promptfoo.FORMATS,
        *tools.FORMATS,
        *preferences.FORMATS,
    )
}
"""By name, in the order in which they are tried: no file of one is another's."""
TELLING = tuple(ending for format in FORMATS.values() for ending in format.tables)
"""Endings of columns by which a table may be of a format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A file that is known and cannot be read. what, remedy : without their full stops."""

    fits: Callable[[Record], object]
    what: str
    remedy: str


def _has(*names: str) -> Callable[[Record], bool]:
    return lambda record: {*names} <= record.keys()


def _label_studio(record: Record) -> bool:
    return {"annotations", "data"} <= record.keys() and isinstance(record["annotations"], list)


UNREADABLE = (
    Unreadable(
        fits=_has("trace_id", "trace_metadata", "assessments"),
        what="the file is MLflow's search_traces as CSV, whose assessments are no JSON",
        remedy="Write the traces with Trace.to_json, one a line, or search_traces as JSON",
    ),
    Unreadable(
        fits=_has("testRunLink"),
        what="the file is DeepEval's link to a run on Confident AI, without its cases",
        remedy=(
            "Set DEEPEVAL_RESULTS_FOLDER, or log out (deepeval logout), and run it again: the run "
            "is then written here"
        ),
    ),
    Unreadable(
        fits=_has("results", "configs", "versions", "n-shot"),
        what="the file is lm-evaluation-harness's results_….json, which holds means only",
        remedy="Run it with --log_samples, and give samples_….jsonl",
    ),
    Unreadable(
        fits=_has("version", "status", "eval"),
        what="the file is the header of a log of Inspect, without samples",
        remedy="Give the log itself (.eval, or inspect log dump LOG > log.json)",
    ),
    Unreadable(
        fits=_label_studio,
        what="the file is an export of Label Studio without results of type pairwise",
        remedy="Export a project that compares two texts (pairwise), or a table of its labels",
    ),
    Unreadable(
        fits=_has("user_id", "instance_id_to_label_to_value"),
        what="the file is Potato's user_state.json, one person's labels in schemas of their own",
        remedy=(
            "Give a table with a row per label, annotated_instances.csv, and name its columns, or "
            "join it to a log with --labels-from"
        ),
    ),
    Unreadable(
        fits=_has("spec"),
        what="the file is a log of OpenAI Evals (oaieval)",
        remedy="Give its events of type metrics as a table of sample_id, choice and score",
    ),
    Unreadable(
        fits=lambda record: (
            {"model", "score"} <= record.keys()
            and {"rating_q025", "CI", "rating", "elo"} & record.keys()
        ),
        what="the file is a leaderboard, one row per model, and holds no judgements",
        remedy="Give the judgements it was made of, one row per answer or battle",
    ),
    Unreadable(
        fits=lambda record: {*record} <= {"question_id", "text", "category"} and "text" in record,
        what="the file holds questions only, and no judgements",
        remedy="Give the file of reviews or judgements, one row each",
    ),
    Unreadable(
        fits=lambda record: bool(get({"root": record}, "root.results.stats")),
        what="the file is a summary of promptfoo without rows",
        remedy="Write the results with -o results.json",
    ),
)


class KnownFile(UnreadableFile):
    """A file of a known tool that holds no judgements that can be read: no plan says otherwise."""


def refuse_known(first: Record, name: str, wanted: str) -> None:
    """Raise KnownFile for a file of a known tool that holds no judgements that can be read."""
    if wanted != "auto":
        return
    for known in UNREADABLE:
        if known.fits(first):
            raise KnownFile(f"{name}: line 1: {known.what}. {known.remedy}.")


def refuse_header(source: Source) -> None:
    """Raise UnreadableFile for promptfoo's CSV, which is no table."""
    header = source.data[:HEADER].partition(b"\n")[0]
    if b"Named Scores" in header and PROMPTFOO_CSV in header:
        raise KnownFile(
            f"{source.name}: line 1: the file is promptfoo's CSV, which has the same columns once "
            "for each model and does not say which assertion gave a score. Write the results with "
            "-o results.json or -o results.jsonl."
        )
