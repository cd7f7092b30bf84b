"""The tables of a store: their statements, and how each kind of judgement lies in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..schema import CONFIDENCE_KINDS, FORMS, STATUSES, Kind
from .cells import TABLES as CELL_TABLES

VERSION = "12"
"""The layout of a store: its tables, and the form of what stands in them, keys of requests too.

Whoever changes either raises it, and adds a step to `upgrades` and a store to its tests.
"""

# No keys or constraints: a primary key costs 7 times the loading time and 17 times the file. Text
# lives in dictionaries and in `details`, which has rows only for votes that need one, so counting
# reads integers only. Category, lengths and texts belong to a vote and may differ within a
# comparison; gold is the comparison's.
VOTE_TABLES = """
create table settings (key varchar, value varchar);
create table datasets (id integer, name varchar, simulated boolean, loaded_at timestamp);
create table files (sha256 varchar, fingerprint varchar, dataset integer, target varchar, name varchar,
                    format varchar, loaded_at timestamp, rows bigint, rejected bigint, unread bigint);
create table items (id integer, dataset integer, name varchar);
create table models (id integer, name varchar);
create table judges (id integer, name varchar);
create table categories (id integer, name varchar);
create table metrics (id integer, name varchar);
create table comparisons (id integer, dataset integer, item integer, model_a integer, model_b integer,
                          gold tinyint);
create table votes (id bigint, dataset integer, comparison integer, judge integer, category integer,
                    run bigint, position tinyint, vote tinyint, confidence double, confidence_kind tinyint,
                    status tinyint, human boolean);
create table texts (id integer, text varchar);
create table details (vote bigint, prompt integer, response_a integer, response_b integer, rationale integer,
                      prompt_hash integer, length_a bigint, length_b bigint, temperature double, cost double,
                      cluster integer, extra map(varchar, varchar));
"""

# A score or a ranking holds its texts itself: columns without a value take no room. The rows of one
# ranking, one per candidate, share its id. A score has its gold and its scale beside it, so that
# what a file said of it is kept as it was said; the model may be missing.
ROW_TABLES = """
create table scores (id bigint, dataset integer, item integer, category integer, model integer, judge integer,
                     metric integer, run bigint, score double, gold double, scale_low double, scale_high double,
                     lower_is_better tinyint, cluster integer, status tinyint, human boolean,
                     prompt integer, response integer, length bigint, rationale integer, confidence double,
                     prompt_hash integer, temperature double, cost double, extra map(varchar, varchar));
create table rankings (id bigint, dataset integer, item integer, category integer, judge integer, run bigint,
                       candidate integer, slot integer, score double, rank integer,
                       calibrated_uncertainty tinyint, uncertain tinyint,
                       major_error tinyint, unsupported tinyint, chosen tinyint, is_best tinyint,
                       status tinyint, human boolean,
                       prompt integer, response integer, rationale integer, prompt_hash integer,
                       temperature double, cost double, extra map(varchar, varchar));
"""

LEDGER_TABLES = """
create table replies (
    key varchar, task varchar, dataset varchar, judge varchar, model varchar, item_id varchar,
    candidate varchar, position varchar, run bigint, status varchar, vote tinyint, confidence double,
    confidence_kind varchar, rationale varchar, body varchar, raw varchar, prompt_hash varchar,
    temperature double, attempts integer,
    prompt_tokens bigint, completion_tokens bigint, cost double, seconds double, received_at timestamp);
create table calls (key varchar, dataset varchar, tokens bigint, cost double, batch varchar);
create table batches (id varchar, dataset varchar, name varchar, left_out varchar, made_at timestamp);
create table jobs (id varchar, dataset varchar, job varchar, started_at timestamp);
"""
# Items in the order in which people label them here, and every answer as it was given. `label_rows`
# says which vote or score is a label, and whether a file has the same one too; `label_gold` names the
# comparisons and scores whose gold is of labels, so that a file's gold is known from it.
LABEL_TABLES = """
create table labelling (dataset integer, seed bigint, planned integer, kind varchar, of_file boolean,
                        metric integer, began_at timestamp, number bigint);
create table label_order (dataset integer, place integer, item integer, comparison integer, model integer);
create table label_log (id bigint, dataset integer, person varchar, act varchar, place integer, answer varchar,
                        label double, swapped boolean, tags varchar, note varchar, given_at timestamp);
create table label_rows (dataset integer, place integer, person varchar, judgement bigint, of_file boolean);
create table label_gold (comparison integer, score bigint);
"""
LABELLED = ("labelling", "label_order", "label_log", "label_rows")
NAMED_BY_DATASET = ("replies", "calls", "batches", "jobs")
"""Tables whose column `dataset` holds the name of a data set, not its number."""

RUBRIC = "rubric:"
"""Begins the key of a setting, with the number of a data set: what counts for who labels it."""
OF_FILE = "file:"
"""Begins the keys of `settings` that say which file judgements came from: data set, kind and first
number of the judgements → last number and name of the file, as JSON.
"""

TABLES = VOTE_TABLES + ROW_TABLES + LEDGER_TABLES + LABEL_TABLES + CELL_TABLES
"""The tables of a new store."""
COLUMNS = {
    name: frozenset(
        re.findall(r"(\w+) (?:varchar|boolean|timestamp|integer|bigint|tinyint|double|map)\b", body)
    )
    for name, body in re.findall(r"create table (\w+) \((.*?)\);", TABLES, re.DOTALL)
}
"""The columns of every table."""

_TEXTS = dict.fromkeys(("prompt", "rationale", "prompt_hash"), "texts")
_JUDGED = {"dataset": "datasets", "judge": "judges", "category": "categories"}
REFERENCES: dict[str, dict[str, str]] = {
    "items": {"dataset": "datasets"},
    "comparisons": {
        "dataset": "datasets",
        "item": "items",
        "model_a": "models",
        "model_b": "models",
    },
    "votes": _JUDGED | {"comparison": "comparisons"},
    "details": _TEXTS | {"response_a": "texts", "response_b": "texts", "cluster": "texts"},
    "scores": _JUDGED
    | _TEXTS
    | {"item": "items", "model": "models", "metric": "metrics"}
    | {"response": "texts", "cluster": "texts"},
    "rankings": _JUDGED | _TEXTS | {"item": "items", "candidate": "models", "response": "texts"},
    "labelling": {"dataset": "datasets", "metric": "metrics"},
    "label_order": {"dataset": "datasets", "item": "items", "comparison": "comparisons"},
    "label_log": {"dataset": "datasets"},
    "label_rows": {"dataset": "datasets"},
    "label_gold": {"comparison": "comparisons"},
}
"""Columns that hold the number of a row of another table, and which."""

CODES: dict[str, dict[int, str]] = {
    "position": {1: "ab", -1: "ba"},
    "status": dict(enumerate(STATUSES)),
    "confidence_kind": dict(enumerate(CONFIDENCE_KINDS)),
}
"""Columns of a closed vocabulary: number in the store → word. Position 0 is unknown."""


VOTE_COLUMNS = (
    *("id", "dataset", "comparison", "judge", "category", "run", "position"),
    *("vote", "confidence", "confidence_kind", "status", "human"),
)
"""Columns of the table `votes`; those of `details` are `Layout.details`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How judgements of one kind lie in the store.

    key : columns that tell one judgement from another.  judged : columns of the file that name
        models.
    texts : columns that hold numbers of `texts`.  part : column that tells the rows of one
        judgement apart.
    """

    kind: Kind
    key: tuple[str, ...]
    judged: tuple[str, ...]
    texts: tuple[str, ...]
    part: str | None = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that hold the file's numbers as they are, besides `run` and the gold of votes."""
        columns = FORMS[self.kind].columns
        other = ("run", "gold") if self.kind == "votes" else ("run",)
        return tuple(c.name for c in columns if c.kind != "text" and c.name not in other)

    @property
    def details(self) -> tuple[str, ...]:
        """Columns that lie in `details`, not in the table of the kind."""
        if self.kind != "votes":
            return ()
        return (*self.texts, *(name for name in self.numbers if name not in VOTE_COLUMNS), "extra")

    @property
    def content(self) -> tuple[str, ...]:
        """Columns in which judgements with one key can differ."""
        kind = ("confidence_kind",) if self.kind == "votes" else ()
        return ("category", "status", "human", *kind, *self.numbers, *self.texts, "extra")


LAYOUTS: dict[Kind, Layout] = {
    "votes": Layout(
        kind="votes",
        key=("comparison", "judge", "run", "position"),
        judged=("model_a", "model_b"),
        texts=("prompt", "response_a", "response_b", "rationale", "prompt_hash", "cluster"),
    ),
    "scores": Layout(
        kind="scores",
        key=("item", "model", "judge", "metric", "run"),
        judged=("model",),
        texts=("cluster", "prompt", "response", "rationale", "prompt_hash"),
    ),
    "rankings": Layout(
        kind="rankings",
        key=("item", "judge", "run"),
        judged=("candidate",),
        texts=("prompt", "response", "rationale", "prompt_hash"),
        part="candidate",
    ),
}


def decode(column: str, names: Mapping[int, str]) -> str:
    """SQL that turns the number of a closed vocabulary into its word; other numbers are null."""
    cases = " ".join(f"when {code} then '{name}'" for code, name in names.items())
    return f"(case {column} {cases} end)"


def encode(column: str, names: Mapping[int, str], otherwise: str = "null") -> str:
    """SQL that turns a word of a closed vocabulary into its number."""
    cases = " ".join(f"when '{name}' then {code}" for code, name in names.items())
    return f"(case {column} {cases} else {otherwise} end)::tinyint"


def needed_by(kind: Kind) -> frozenset[str]:
    """The tables that hold the judgements of a kind, with all that they refer to."""
    needed: set[str] = set()
    waiting = {kind, "settings", *(("details",) if LAYOUTS[kind].details else ())}
    while waiting:
        table = waiting.pop()
        needed.add(table)
        waiting |= set(REFERENCES.get(table, {}).values()) - needed
    return frozenset(needed)
