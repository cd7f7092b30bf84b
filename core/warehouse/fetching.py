"""Fetch the rows of a table on another engine, and read them as those of a file.

Three statements, which only read: the first rows, to see what the columns are; rows per rater, to
see whether all fit; the rows themselves, filtered, without texts, and above a bound whole items
drawn at random.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import AmbiguousLabels, InvalidOption, NoUsableVotes
from ..importers import Inspection, ReadOptions, inspect, mostly_rejected, read_arrow, with_votes
from ..schema import ImportResult, Sampled
from .answers import making_sense
from .engines import Engine, connect
from .sample import DIGITS, MOST_ROWS, shares_of, threshold

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = ("prompt", "response", "response_a", "response_b", "rationale")
"""Columns whose cells stay where they are; of the responses the lengths are fetched."""
LENGTHS = {"response": "length", "response_a": "length_a", "response_b": "length_b"}
NAMES = ("dataset", "item_id", "judge", "category", "model", "model_a", "model_b")
"""Columns that the engine can filter by: a file's cells are kept as they stand there."""
FIRST_ROWS, LONG, CUT = 16_384, 200, 500
"""Rows that are looked at; mean characters of a column of texts; characters of a cell that are
looked at.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What was read of a table.

    readings : as of a file.  place : the engine, without what signs in.  statements, rows, bytes :
    what crossed the network.
    """

    readings: list[ImportResult]
    place: str
    table: str
    statements: int
    rows: int
    bytes: int

    @property
    def sentence(self) -> str:
        """How much was read, in one line."""
        reading = self.readings[0]
        rows = reading.sampled.rows if reading.sampled else reading.rows
        return (
            f"{self.place} {self.table}: {reading.n_read:,} {reading.kind} read of {rows:,} rows; "
            f"{reading.n_rejected:,} rejected, {reading.duplicates:,} duplicates left out"
            + (
                f", {reading.n_unread:,} kept without their confidence."
                if reading.n_unread
                else "."
            )
        )

    @property
    def crossed(self) -> str:
        """What crossed the network."""
        return (
            f"{self.place}: {self.statements:,} statements, {self.rows:,} rows and "
            f"{self.bytes:,} bytes fetched."
        )


def look_at(url: str, table: str, options: ReadOptions | None = None) -> Inspection:
    """What the first rows of a table look like, and what must be asked; raises as `fetch`."""
    with closing(connect(url, table)) as engine, making_sense(engine.shown):
        return _looks(engine, engine.columns(), options or ReadOptions())[0]


def fetch(
    url: str,
    table: str,
    options: ReadOptions | None = None,
    *,
    where: Sequence[tuple[str, str]] = (),
    most_rows: int = MOST_ROWS,
    seed: int = 0,
) -> Fetched:
    """Read a table of votes or of scores.

    where : column and text; rows with another text there are not fetched.
    most_rows : of a table with more rows whole items of each rater, drawn by `seed`.

    Raises WarehouseError: the engine cannot be reached, refuses, answers something else or without
    end, or its driver is not installed. InvalidOption, UnknownName, AmbiguousLabels,
    UnreadableFile, NoUsableVotes: as for a file of votes.
    """
    if most_rows < 1:
        raise InvalidOption("{option} {value}: at least 1.", option="most_rows", value=most_rows)
    options = options or ReadOptions()
    with closing(connect(url, table)) as engine, making_sense(engine.shown):
        columns = engine.columns()
        looks, long = _looks(engine, columns, options)
        statement = _Statement(engine, columns, looks, long, where)
        shares, there = statement.shares(most_rows)
        rows = engine.ask(statement.rows(shares, seed))
        # A table that grows meanwhile has a few more.
        if rows.num_rows > 1.1 * there + 100:
            raise ValueError(f"{rows.num_rows:,} rows of {there:,}")
        readings = with_votes([_read(statement.whole(rows), options, engine)], options)
        kept = {rater: share for rater, share in shares.items() if share < 1}
        if kept:
            said = Sampled(rows=there, fetched=rows.num_rows, seed=seed, shares=shares)
            readings = [replace(reading, sampled=said) for reading in readings]
        if statement.left:
            names = ", ".join(map(repr, statement.left))
            note = f"Texts stay on the engine: {names}."
            readings[0] = replace(readings[0], notes=(*readings[0].notes, note))
        return Fetched(
            readings=readings,
            place=engine.shown,
            table=table,
            statements=engine.statements,
            rows=engine.rows_fetched,
            bytes=engine.bytes_fetched,
        )


def _bare(table: str) -> str:
    """A table's name without its schema, by which its data set and judge may be called."""
    return table.rpartition(".")[2].strip('`"').rpartition("/")[2]


def _looks(
    engine: Engine, columns: Mapping[str, str], options: ReadOptions
) -> tuple[Inspection, set[str]]:
    """What the first rows look like, their cells cut; and the columns of long texts."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    cut = ", ".join(f"{sql} as c{place}" for place, sql in enumerate(columns.values()))
    rows = engine.ask(f"select {cut} from {engine.table} limit {FIRST_ROWS}").rename_columns(
        [*columns]
    )
    long = set()
    for place, (name, column) in enumerate(zip(columns, rows.columns, strict=True)):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            if (pc.mean(pc.utf8_length(column)).as_py() or 0) > LONG:
                long.add(name)
            short = pc.utf8_slice_codeunits(column, 0, CUT)
            rows = rows.set_column(place, name, short)
    content = io.BytesIO()
    pq.write_table(rows, content)
    # A table of an engine is read by the names of its columns.
    by_names = replace(options, reader="old")
    return inspect(content.getvalue(), f"{_bare(engine.named)}.parquet", by_names), long


class _Statement:
    """The statements that fetch a table's rows."""

    def __init__(
        self,
        engine: Engine,
        columns: Mapping[str, str],
        looks: Inspection,
        long: set[str],
        where: Sequence[tuple[str, str]],
    ) -> None:
        self.engine, self.columns, self.dialect = engine, columns, engine.dialect
        mapping = {name: column for name, column in looks.mapping.items() if column in columns}
        self.item, self.rater = mapping.get("item_id"), mapping.get("judge")
        texts = {mapping[name]: name for name in TEXTS if name in mapping}
        if self.item is None or self.item in texts:
            raise InvalidOption(
                "{table}: no column names its items. Rows of another engine have no number, so "
                "name one with {option:map item_id=COLUMN}.",
                option="map",
                table=engine.named,
            )
        self.left = [
            name for name in columns if name in texts or name in long - {*mapping.values()}
        ]
        self.fetched = {name: sql for name, sql in columns.items() if name not in self.left}
        for column, name in texts.items():
            if name in LENGTHS:
                own = mapping.get(LENGTHS[name], LENGTHS[name])
                length = self.dialect.length.format(f"nullif({self._text(column)}, '')")
                # A column of lengths wins, where it says one.
                given = f"{self._text(own)}, " if own in columns else ""
                length = self.dialect.text.format(length)
                self.fetched[own] = f"coalesce({given}{length})" if given else length
        self.conditions = []
        for name, wanted in where:
            if name in TEXTS:
                raise InvalidOption(
                    f"where {name}: texts stay on the engine; select by another column."
                )
            column = mapping.get(name, name)
            # Other columns of the canonical form are read before they are compared.
            if wanted and column in columns and (name in NAMES or column not in mapping.values()):
                self.conditions.append(
                    f"trim({self._text(column)}) = {self.dialect.literal(wanted)}"
                )

    def _text(self, column: str) -> str:
        return self.dialect.text.format(self.dialect.name(column))

    def _where(self, *more: str) -> str:
        conditions = [*self.conditions, *more]
        return f" where {' and '.join(conditions)}" if conditions else ""

    def shares(self, most: int) -> tuple[dict[str, float], int]:
        """Share of each rater's rows that is fetched, and the rows that there are."""
        rater = f"coalesce({self._text(self.rater)}, '')" if self.rater else "''"
        counted = self.engine.ask(
            f"select {rater} as r, count(*) as n from {self.engine.table}{self._where()} group by 1"
        ).to_pydict()
        rows = {str(rater): int(n) for rater, n in zip(counted["r"], counted["n"], strict=True)}
        if not sum(rows.values()):
            raise NoUsableVotes(f"{self.engine.named}: no row that was asked for.")
        if len(rows) < len(counted["r"]) or any(n < 0 for n in rows.values()):
            raise ValueError("rows per rater that cannot be")
        return shares_of(rows, most), sum(rows.values())

    def rows(self, shares: Mapping[str, float], seed: int) -> str:
        """The statement that fetches them."""
        listed = ", ".join(f"{sql} as c{place}" for place, sql in enumerate(self.fetched.values()))
        begin = f"select {listed} from {self.engine.table}"
        if min(shares.values()) >= 1:
            return begin + self._where()
        literal = self.dialect.literal
        item = f"concat({literal(f'{seed}:')}, {self._text(self.item or '')})"
        digits = f"substring({self.dialect.md5.format(item)}, 1, {DIGITS})"
        by_threshold: dict[str, list[str]] = {}
        for rater, share in shares.items():
            below = (
                ""
                if share >= 1
                else f"{digits}{self.dialect.bytewise} < {literal(threshold(share))}"
            )
            by_threshold.setdefault(below, []).append(rater)
        parts = []
        for below, raters in by_threshold.items():
            rater = f"coalesce({self._text(self.rater)}, '')" if self.rater else "''"
            named = f"{rater} in ({', '.join(map(literal, raters))})"
            parts.append(f"({below} and {named})" if below else f"({named})")
        return begin + self._where(f"({' or '.join(parts)})")

    def whole(self, rows: pa.Table) -> pa.Table:
        """The rows with the table's columns: those that stay there are here without cells, as which
        columns a table has says what it holds.
        """
        import pyarrow as pa

        cells = dict(zip(self.fetched, rows.columns, strict=True))
        empty = pa.nulls(rows.num_rows, pa.string())
        order = [*self.columns, *(name for name in cells if name not in self.columns)]
        return pa.table([cells.get(name, empty) for name in order], names=order)


def _read(rows: pa.Table, options: ReadOptions, engine: Engine) -> ImportResult:
    """Read what was fetched. Raises as `core.importers.read`."""
    reading = read_arrow(rows, options, name=_bare(engine.named))
    if problem := mostly_rejected(reading):
        raise problem
    if reading.gold_only:
        raise InvalidOption(
            f"{engine.named} holds gold and no votes. Join it to its votes in a view of the "
            "engine, and name that."
        )
    if not reading.n_read:
        first = reading.rejects.slice(0, 1).to_pylist()
        why = f" First: column {first[0]['column']}: {first[0]['reason']}." if first else ""
        raise NoUsableVotes(
            f"{engine.named}: no usable {reading.kind[:-1]} in {reading.rows:,} rows.{why}"
        )
    if reading.runs_by_order and not engine.in_order:
        raise AmbiguousLabels(
            "{table}: a judge judged the same more than once, and no column says which came first; "
            "rows of {engine} come in any order. Number them in a column of a view, and name it "
            "with {option:map run=COLUMN}.",
            table=engine.named,
            engine=engine.called,
            option="map",
        )
    return reading
