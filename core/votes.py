"""The vocabulary: what a vote is, which columns it has, what can be selected, and what can go wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

VOTE_LABELS = (-1, 0, 1)
"""A vote in the canonical orientation: -1 model_b is better, 0 tie, +1 model_a is better."""

POSITIONS = ("ab", "ba")
"""Order shown: `ab` has model_a first, `ba` model_b first."""

STATUSES = ("ok", "unparsed", "refused", "error")
RATER_TYPES = ("llm", "human")
CONFIDENCE_KINDS = ("self", "multi", "logprob")

CorrectnessRule = Literal["single", "both_orders"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of the canonical form."""

    name: str
    kind: Literal["text", "int", "float"]
    meaning: str
    required: bool = False
    default: str | int | None = None


COLUMNS = (
    Column(
        name="dataset", kind="text", meaning="data set that the item belongs to (default: the file's stem)"
    ),
    Column(name="item_id", kind="text", meaning="the prompt that was judged", required=True),
    Column(name="category", kind="text", meaning="topic or task of the item"),
    Column(name="model_a", kind="text", meaning="author of response A", default="A"),
    Column(name="model_b", kind="text", meaning="author of response B", default="B"),
    Column(name="judge", kind="text", meaning="who voted", required=True),
    Column(name="run", kind="int", meaning="number of the repetition", default=0),
    Column(name="position", kind="text", meaning="order shown: ab or ba"),
    Column(name="vote", kind="int", meaning="+1 model_a better, 0 tie, -1 model_b better", required=True),
    Column(name="confidence", kind="float", meaning="judge's confidence that its vote is right, 0 to 1"),
    Column(name="confidence_kind", kind="text", meaning="self, multi or logprob"),
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
)
"""The canonical columns in order. Any other column of a file is kept as text, in `extra`."""

COLUMN_NAMES = tuple(column.name for column in COLUMNS)


class AppellateError(Exception):
    """Something the user gave cannot be used. The message names the place, the value and the remedy."""


class UnreadableFile(AppellateError):
    """The file is not what its format needs: encoding, compression, columns or structure."""


class AmbiguousLabels(AppellateError):
    """The labels can be read in more than one way and the user must say which."""


class NoUsableVotes(AppellateError):
    """Nothing is left to work on: no valid vote, or a filter that matches nothing."""


class UnknownName(AppellateError):
    """A dataset, judge, model, column or option that does not exist."""


class InvalidOption(AppellateError):
    """An option outside what its method allows."""


class TooFewLabels(AppellateError):
    """A method needs more labelled comparisons than there are."""


class StoreInUse(AppellateError):
    """Another process has the store file open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which votes to look at, and what counts as gold. Hashable, so it can key a cache.

    `None` selects all. `where` pairs a column (canonical or extra) with a value; several mean AND.
    `gold` is `given` (the file's), `humans` (modal label of the human votes on the comparison; no unique mode
    is 0; a comparison without human votes has no gold), or the name of a judge (its majority label).
    """

    datasets: tuple[str, ...] | None = None
    judges: tuple[str, ...] | None = None
    rater_types: tuple[str, ...] | None = None
    where: tuple[tuple[str, str], ...] = ()
    gold: str = "given"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reading:
    """What one file said, typed and checked, before anything is loaded.

    votes : Arrow table with `vote_schema()`, one row a vote (or a failed vote: `status` not ok, `vote` null).
    rejects : Arrow table with `REJECT_SCHEMA_NAMES`: row (1 = first data row), column, value (cut), reason.
    rows : data rows in the file; a wide row or a two-order record can give several votes, so it need not be
        votes + rejects.
    duplicates : votes that repeat an earlier one of the file word for word; they are left out of `votes`.
    gold_only : True for a file of gold labels without votes (item_id, model_a, model_b, gold).
    mapping : canonical column → the file's column, as used.  notes : what was decided, in words.
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
    gold_only: bool = False


def vote_schema() -> pa.Schema:
    """Arrow schema of `Reading.votes`: the canonical columns, `extra` (map of other columns) and `row`."""
    import pyarrow as pa

    types = {"text": pa.string(), "int": pa.int64(), "float": pa.float64()}
    fields = [pa.field(column.name, types[column.kind]) for column in COLUMNS]
    return pa.schema(
        [*fields, pa.field("extra", pa.map_(pa.string(), pa.string())), pa.field("row", pa.int64())]
    )


REJECT_SCHEMA_NAMES = ("row", "column", "value", "reason")
