"""The vocabulary: what a judgement is, which columns it has, what can be selected, and what can go
wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from .errors import Message

if TYPE_CHECKING:
    import pyarrow as pa


VOTE_LABELS = (-1, 0, 1)
"""A vote in the canonical orientation: -1 model_b is better, 0 tie, +1 model_a is better."""

POSITIONS = ("ab", "ba")
"""Order shown: `ab` has model_a first, `ba` model_b first."""

STATUSES = ("ok", "unparsed", "refused", "error")
RATER_TYPES = ("llm", "human")
LEVEL_KIND = "level"
"""What `confidence_kind` says of a level, which is a rank and no probability."""
CONFIDENCE_KINDS = ("self", "multi", "logprob", LEVEL_KIND)
"""How a confidence came about; a `level` of a scale such as 1 to 5 is a rank and no probability."""

CHANGE = re.compile(r"(?P<change>[^\[\]:]+)(?::(?P<side>[ab]))?")
"""How the column `perturbation` names a change: `padding:a`, `:a` or `:b` if only that response has
it.
"""
PERTURBED = re.compile(rf"(?P<judge>.+) \[perturbed: {CHANGE.pattern}\]\Z", re.DOTALL)
SIDES = {"a": 1, "b": -1}

LabelsDrawn = Literal["seen", "random", "verdicts", "classes", "disagreements"]
"""How labelled answers were drawn, as somebody says; `seen`: as the table shows it."""
CorrectnessRule = Literal["single", "both_orders"]
ConfidenceSource = Literal["stated", "share"]
"""Confidence as each vote states it, or the share of a judge's repeated votes behind its majority.
"""
Kind = Literal["votes", "scores", "rankings"]
"""What a row judges: a pair of responses, one response alone, or one candidate of several shown at
once.
"""


UNNAMED = ("A", "B")
"""What models are called where a file does not name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of the canonical form."""

    name: str
    kind: Literal["text", "int", "float"]
    meaning: str
    default: str | int | None = None


COLUMNS = (
    Column(
        name="dataset",
        kind="text",
        meaning="data set that the item belongs to (default: the file's stem)",
    ),
    Column(name="item_id", kind="text", meaning="the prompt that was judged"),
    Column(name="category", kind="text", meaning="topic or task of the item"),
    Column(name="model_a", kind="text", meaning="author of response A", default="A"),
    Column(name="model_b", kind="text", meaning="author of response B", default="B"),
    Column(name="judge", kind="text", meaning="who voted"),
    Column(name="run", kind="int", meaning="number of the repetition", default=0),
    Column(name="position", kind="text", meaning="order shown: ab or ba"),
    Column(name="vote", kind="int", meaning="+1 model_a better, 0 tie, -1 model_b better"),
    Column(
        name="confidence", kind="float", meaning="judge's confidence that its vote is right, 0 to 1"
    ),
    Column(name="confidence_kind", kind="text", meaning="self, multi, logprob or level"),
    Column(name="gold", kind="int", meaning="true label, like vote"),
    Column(name="rater_type", kind="text", meaning="llm or human", default="llm"),
    Column(name="status", kind="text", meaning="ok, unparsed, refused or error", default="ok"),
    Column(name="prompt", kind="text", meaning="text of the prompt"),
    Column(name="response_a", kind="text", meaning="text of response A"),
    Column(name="response_b", kind="text", meaning="text of response B"),
    Column(name="length_a", kind="int", meaning="length of response A"),
    Column(name="length_b", kind="int", meaning="length of response B"),
    Column(name="rationale", kind="text", meaning="what the judge wrote"),
    Column(name="prompt_hash", kind="text", meaning="hash of the judging prompt"),
    Column(name="temperature", kind="float", meaning="sampling temperature"),
    Column(name="cost", kind="float", meaning="cost of the call"),
    Column(
        name="cluster",
        kind="text",
        meaning="conversation or document that the item is part of: what intervals count",
    ),
)
"""The canonical columns in order. Any other column of a file is kept as text, in `extra`."""

COLUMN_NAMES = tuple(column.name for column in COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The canonical form of one kind of judgement.

    key : columns that tell one judgement from another.  content : columns in which those of one key
        differ.
    unit, units : what one judgement is called; a ranking has a row for each of its candidates.
    """

    kind: Kind
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    content: tuple[str, ...]
    unit: str
    units: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def schema(self) -> pa.Schema:
        """Arrow schema of a reading: the columns, `extra` (map of other columns) and `row`."""
        import pyarrow as pa

        types = {"text": pa.string(), "int": pa.int64(), "float": pa.float64()}
        fields = [pa.field(column.name, types[column.kind]) for column in self.columns]
        return pa.schema(
            [
                *fields,
                pa.field("extra", pa.map_(pa.string(), pa.string())),
                pa.field("row", pa.int64()),
            ]
        )


_SHARED = {column.name: column for column in COLUMNS}
_ANSWERED = (
    *(_SHARED[name] for name in ("rater_type", "status", "prompt")),
    Column(name="response", kind="text", meaning="text of the response"),
    *(_SHARED[name] for name in ("rationale", "prompt_hash", "temperature", "cost")),
)

VOTES = Form(
    kind="votes",
    columns=COLUMNS,
    key=("dataset", "item_id", "model_a", "model_b", "judge", "run", "position"),
    content=("vote", "confidence", "gold", "status"),
    unit="vote",
    units="votes",
)
ONE_METRIC = "score"
"""What the one metric of a file is called that names none."""
SCORES = Form(
    kind="scores",
    columns=(
        *(_SHARED[name] for name in ("dataset", "item_id", "category")),
        Column(name="model", kind="text", meaning="author of the response; may be missing"),
        _SHARED["judge"],
        Column(name="metric", kind="text", meaning="what is scored", default=ONE_METRIC),
        _SHARED["run"],
        Column(
            name="score", kind="float", meaning="score of the response, say 1 to 10; pass 1, fail 0"
        ),
        Column(name="gold", kind="float", meaning="true score, on the scale of the metric"),
        Column(name="scale_low", kind="float", meaning="lowest score of the metric's scale"),
        Column(name="scale_high", kind="float", meaning="highest score of the metric's scale"),
        Column(name="lower_is_better", kind="int", meaning="1 if less is better, else 0"),
        _SHARED["cluster"],
        *_ANSWERED[:4],
        Column(name="length", kind="int", meaning="length of the response"),
        _ANSWERED[4],
        Column(
            name="confidence", kind="float", meaning="judge's confidence that it is right, 0 to 1"
        ),
        *_ANSWERED[5:],
    ),
    key=("dataset", "item_id", "model", "judge", "metric", "run"),
    content=("score", "gold", "status"),
    unit="direct score",
    units="direct scores",
)
RANKINGS = Form(
    kind="rankings",
    columns=(
        *(_SHARED[name] for name in ("dataset", "item_id", "category", "judge")),
        Column(name="run", kind="int", meaning="number of the ordering within the item", default=0),
        Column(name="candidate", kind="text", meaning="one of the responses shown together"),
        Column(name="slot", kind="int", meaning="place in which it was shown: 0, 1 …"),
        Column(name="score", kind="float", meaning="score of the candidate, 0 to 100"),
        Column(name="rank", kind="int", meaning="rank of the candidate, 1 is best"),
        Column(
            name="calibrated_uncertainty",
            kind="int",
            meaning="1 if the answer itself says, where warranted, that it is not sure, else 0",
        ),
        Column(
            name="uncertain",
            kind="int",
            meaning="1 if the judge is uncertain of it, else 0; kept, and without weight",
        ),
        Column(name="major_error", kind="int", meaning="1 if the judge sees a major error, else 0"),
        Column(
            name="unsupported", kind="int", meaning="1 if it is specific without support, else 0"
        ),
        Column(name="chosen", kind="int", meaning="1 if the judge named it the best, else 0"),
        Column(name="is_best", kind="int", meaning="1 if it is truly (among) the best, else 0"),
        *_ANSWERED,
    ),
    key=("dataset", "item_id", "judge", "run"),
    content=(
        *(
            "slot",
            "score",
            "rank",
            "calibrated_uncertainty",
            "uncertain",
            "major_error",
            "unsupported",
            "chosen",
            "is_best",
            "status",
        ),
    ),
    unit="listwise ranking",
    units="listwise rankings",
)
FORMS: dict[Kind, Form] = {form.kind: form for form in (VOTES, SCORES, RANKINGS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbed:
    """A judge's name that stands for its votes on items with a change that should not matter.

    So they lie beside the judge's other votes on the same comparisons, and are nobody's in other
    questions.
    side : +1 only response A has the change, −1 only B, 0 neither more than the other.

    >>> perturbed_name("gpt", "padding:a")
    'gpt [perturbed: padding:a]'
    >>> perturbed("gpt [perturbed: padding:a]")
    Perturbed(judge='gpt', change='padding', side=1)
    """

    judge: str
    change: str
    side: int

    @property
    def label(self) -> str:
        """The change as the column `perturbation` names it."""
        return self.change + {0: "", 1: ":a", -1: ":b"}[self.side]


def perturbed_name(judge: str, label: str) -> str:
    """The name under which votes with a change are stored."""
    return f"{judge} [perturbed: {label}]"


def perturbed(name: str) -> Perturbed | None:
    """What the name of a judge says of a change; None if it is that of a judge as it is."""
    found = PERTURBED.match(name)
    if found is None:
        return None
    return Perturbed(
        judge=found["judge"], change=found["change"], side=SIDES.get(found["side"] or "", 0)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which votes to look at, and what counts as gold. Hashable, so it can key a cache.

    Votes on perturbed items are left out unless their judge is named as such, see `Perturbed`.

    `None` selects all. `where` pairs a column (canonical or extra) with a value; several mean AND.
    `gold` is `given` (the file's), `humans` (modal label of the human votes on the comparison; no
    unique mode is 0; a comparison without human votes has no gold), or the name of a judge (its
    majority label). `None` leaves it open: an audit then takes `default_gold`, a query what
    is given. `sealed` takes what is kept for proofs too (`store.parts`).
    """

    datasets: tuple[str, ...] | None = None
    judges: tuple[str, ...] | None = None
    rater_types: tuple[str, ...] | None = None
    where: tuple[tuple[str, str], ...] = ()
    gold: str | None = None
    sealed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRead:
    """How many rows there were, how many of those were rejected, and how many were kept without a
    confidence that could not be read. A row of a file with several judgements is several.

    What cannot be read is seldom chance, so both are one share of what was lost (docs/verdicts.md,
    data).
    """

    rows: int
    rejected: int
    unread: int = 0

    @property
    def lost(self) -> int:
        """Rows that were not read whole."""
        return self.rejected + self.unread

    @property
    def were(self) -> str:
        """What became of those, as the verb of a sentence about them."""
        unread = "have a confidence that could not be read"
        if self.rejected and self.unread:
            return f"were rejected ({self.rejected:,}) or {unread} ({self.unread:,})"
        return unread if self.unread else "were rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Whole items of each rater, drawn at random of more rows than are read.

    rows : that there are.  fetched : that were drawn.  shares : rater → share of its rows.
    """

    rows: int
    fetched: int
    seed: int
    shares: Mapping[str, float]

    @property
    def sentence(self) -> str:
        """What this means for what is said."""
        least = min(self.shares.values())
        drawn = sum(share < 1 for share in self.shares.values())
        return (
            f"{self.fetched:,} of {self.rows:,} rows were read: whole items of each rater, drawn "
            f"at random ({drawn} of {len(self.shares)} raters in part, {least:.2%} of theirs or "
            "more). "
            "Intervals hold for all rows; small parts have few votes: select them with --where."
        )


UNUSED = "Not used:"
"""How a note begins that lists columns without a role."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ImportResult:
    """What one file said, typed and checked, before anything is loaded.

    kind : what its rows are.
    votes : Arrow table with `FORMS[kind].schema()`: one row per vote, per direct score or per
        candidate of a ranking (or of a failed one: `status` not ok, no vote, score, rank or
        choice).
    rejects : Arrow table with `REJECT_SCHEMA`: row (1 = first data row), column, value (cut),
        reason, and whether the row was kept without this cell.
    rows : data rows in the file; a wide row or a two-order record can give several votes, so it
        need not be votes + rejects.
    duplicates : judgements that repeat an earlier one of the file word for word, left out of
        `votes`.
    gold_only : True for a file of gold labels without votes (item_id, model_a, model_b, gold).
    mapping : canonical column → the file's column, as used.  notes : what was decided, in words.
    reasons : the reasons of rejects that name options, see `errors.Message`.
    items_of : data set of another file, whose items these are by name; None: they are its own.
    runs_by_order : whether repetitions were numbered by the order of the rows.
    sampled : what was drawn of a larger table; None where all of it was read.
    """

    name: str
    sha256: str
    format: str
    rows: int
    votes: pa.Table
    rejects: pa.Table
    duplicates: int
    mapping: dict[str, str]
    notes: tuple[str, ...] = ()
    reasons: tuple[Message, ...] = ()
    gold_only: bool = False
    kind: Kind = "votes"
    items_of: str | None = None
    runs_by_order: bool = False
    sampled: Sampled | None = None

    @classmethod
    def without_rejects(
        cls,
        rows: pa.Table,
        *,
        name: str,
        sha256: str,
        format: str,
        kind: Kind = "votes",
        extra: Any = None,
    ) -> ImportResult:
        """Judgements that are checked already: `rows` with the columns of their form.

        extra : other columns by row, as pairs of name and text; None if there are none.
        """
        import pyarrow as pa

        schema, n = FORMS[kind].schema(), rows.num_rows
        others = pa.array(extra or [[]] * n, schema.field("extra").type)
        columns = [
            *rows.select(FORMS[kind].names).columns,
            others,
            pa.array(range(1, n + 1), pa.int64()),
        ]
        return cls(
            name=name,
            sha256=sha256,
            format=format,
            rows=n,
            votes=pa.table(columns, schema=schema),
            rejects=pa.table({n: pa.array([], kind) for n, kind in REJECT_SCHEMA.items()}),
            duplicates=0,
            mapping={},
            kind=kind,
        )

    def without_votes(self) -> ImportResult:
        """What is to be told of it once its votes are in a store; of them it keeps their number."""
        import pyarrow as pa

        # A copy of a table without a column has no rows.
        return replace(self, votes=pa.table({"votes": pa.nulls(self.votes.num_rows)}))

    @property
    def told(self) -> list[str]:
        """What is to be said of how it was read: its notes, and which columns of a table no note
        says are not used, as its first 100,000 rows have them.
        """
        notes = [str(note) for note in self.notes]
        if not self.mapping or any(note.startswith(UNUSED) for note in notes):
            return notes
        rows = self.votes["extra"][:100_000].to_pylist()
        beside = dict.fromkeys(name for row in rows for name, _ in row or ())
        names = [f"'{name[:60]}'" for name in beside]
        more = f" and {len(names) - 8:,} more" if len(names) > 8 else ""
        unused = f"{UNUSED} {', '.join(names[:8])}{more}; kept beside the rows."
        return [*notes, unused] if names else notes

    @property
    def n_read(self) -> int:
        """Rows that were read."""
        return int(self.votes.num_rows)

    @property
    def rejected(self) -> pa.Table:
        """The rejects that cost their row."""
        import pyarrow.compute as pc

        return self.rejects.filter(pc.invert(self.rejects["kept"]))

    @property
    def counted_reasons(self) -> dict[tuple[str, str], int]:
        """Column and reason of rejected rows → how many."""
        worded = {str(message): message for message in self.reasons}
        pairs = zip(
            *(self.rejected[name].to_pylist() for name in ("column", "reason")), strict=True
        )
        return Counter((column, worded.get(reason, reason)) for column, reason in pairs)

    @property
    def n_rejected(self) -> int:
        """Rejects that cost their row: a row can have several."""
        return self.judged.rejected

    @property
    def n_unread(self) -> int:
        """Judgements that were kept without a cell that could not be read."""
        import pyarrow.compute as pc

        return int(pc.sum(self.rejects["kept"]).as_py() or 0)

    @property
    def judged(self) -> RowsRead:
        """Judgements that its rows hold, whatever became of them."""
        unread = self.n_unread
        rejected = int(self.rejects.num_rows) - unread
        rows = int(self.votes.num_rows) + self.duplicates + rejected
        return RowsRead(rows=rows, rejected=rejected, unread=unread)

    @property
    def unread(self) -> Message | None:
        """What is to be said of judgements that were kept without a cell that could not be read,
        with the first such cell and its remedy; None if there are none.
        """
        import pyarrow.compute as pc

        if not self.n_unread:
            return None
        first = self.rejects.slice(pc.index(self.rejects["kept"], True).as_py(), 1).to_pylist()[0]
        reason = next((worded for worded in self.reasons if worded == first["reason"]), None)
        return kept_without(
            first["column"],
            self.n_unread,
            self.kind,
            Message(
                "The first is {value!r} in row {row}: {reason}",
                value=first["value"],
                row=first["row"],
                reason=reason or first["reason"],
            ),
        )

    @property
    def units(self) -> int:
        """Votes, scores or rankings in it; a ranking has several rows."""
        if self.kind != "rankings":
            return int(self.votes.num_rows)
        return int(self.votes.group_by(list(RANKINGS.key)).aggregate([]).num_rows)


def kept_without(column: str, n: int, kind: Kind, why: str) -> Message:
    """What is to be said of judgements that were kept without a cell that could not be read."""
    form = FORMS[kind]
    return Message(
        "Column {column!r} cannot be read for {kept} kept without it. {why}.",
        column=column,
        kept=f"1 {form.unit}, which is" if n == 1 else f"{n:,} {form.units}, which are",
        why=why,
    )


REJECT_SCHEMA = {
    "row": "int64",
    "column": "string",
    "value": "string",
    "reason": "string",
    "kept": "bool",
}
"""Columns of a table of rejects and their types in Arrow; `kept`: the row, without the cell."""
