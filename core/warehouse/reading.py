"""How the rows of a table on another engine are read: the importers' own rules, as one statement of
SQL.

Words and labels are parsed here: the engine counts the distinct cells of a column, the importers'
functions read them, and the statement carries what each means. Numbers are parsed there, by a
pattern and a cast. A row with a cell that cannot be read gets the number of its reason, and is
counted and left out; one whose cell of a spared column cannot be read is counted and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InvalidOption
from ..importers import Inspection, ReadOptions, planned
from ..importers.columns import (
    CHOICES,
    LEVELS,
    SPARED,
    BadCell,
    CountedCells,
    Rejects,
    label_counts,
    order_word,
    parse_choice,
    scale_word,
)
from ..importers.layouts import map_columns
from ..importers.options import CANONICAL, SCORE_COLUMNS, Plan
from ..importers.tables import TextTable
from ..importers.vote_plan import plan
from ..importers.votes import NUMBERS
from ..labels import NAMES, TIE_WORDS, Vocabulary, normalise
from ..schema import CONFIDENCE_KINDS, LEVEL_KIND, VOTES
from ..store.schema import CODES
from .dialects import SOURCE, literal, quoted
from .engines import Engine

MOST_WORDS = 20_000
"""Distinct cells of the columns of words that are looked at, most frequent first."""
WORDS = ("vote", "gold", "model_a", "model_b", *CHOICES)
"""Columns of few distinct cells, which are read one by one."""

BLANKS = " \t\r\n"
_INT = "^[+-]?[0-9]{1,18}([.]0*)?$"
_FLOAT = "^[+-]?([0-9]{1,30}[.]?[0-9]{0,30}|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?$"
LONG = ("prompt", "response_a", "response_b", "rationale")
"""Texts that stay where they are: of the responses only the lengths are looked at."""


class Columns(Mapping[str, CountedCells]):
    """Columns of the user's table; each is counted by the engine when it is first asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.known = {column.strip(): column for column in engine.columns()}
        self._counted: dict[str, CountedCells] = {}

    def count_words(self, mapping: Mapping[str, str]) -> None:
        """Count the columns of words of votes together, in one pass; of a confidence the plan only
        needs to know the scale.

        mapping : canonical column of votes → the table's.
        """
        cells = {column: self.cell(column) for name, column in mapping.items() if name in WORDS}
        if "confidence" in mapping:
            cells[mapping["confidence"]] = _scale_word(self.cell(mapping["confidence"]))
        if cells:
            self._counted |= self._count(cells)

    def cell(self, name: str) -> str:
        """SQL of a column's cell as text, see `cell_of`."""
        return cell_of(self.known[name])

    def length(self, name: str) -> str:
        """SQL of the length of a column's text; null where there is none."""
        return f"length(nullif(cast({quoted(self.known[name])} as varchar), ''))"

    def __getitem__(self, name: str) -> CountedCells:
        if name not in self._counted:
            self._counted |= self._count({name: self.cell(name)})
        return self._counted[name]

    def _count(self, cells: Mapping[str, str]) -> dict[str, CountedCells]:
        """Distinct values of some expressions, by the column that each is of."""
        import pyarrow as pa

        names = [f"c{place}" for place in range(len(cells))]
        selected = ", ".join(
            f"{sql} as {name}" for name, sql in zip(names, cells.values(), strict=True)
        )
        found = self._engine.run(
            f"""select {", ".join(f"t.{name} as {name}" for name in names)}, count(*)::bigint as n
                from (select {selected} from {SOURCE}) t
                group by grouping sets ({", ".join(f"(t.{name})" for name in names)})
                order by n desc limit {MOST_WORDS}"""
        )
        counted = {}
        for column, name in zip(cells, names, strict=True):
            there = found.filter(found[name].is_valid())
            cell, n = (
                there[name].combine_chunks().cast(pa.string()),
                there["n"].to_numpy().astype(np.int64),
            )
            # Equal numbers come in any order.
            order = np.lexsort((cell.to_pylist(), -n)) if len(n) else np.zeros(0, np.int64)
            counted[column] = CountedCells(cell.take(pa.array(order)), n[order])
        return counted

    def repeated(self, key: Iterable[str]) -> _Repeated | None:
        """The rows that have the same cells in these columns as others; None without any."""
        cells = {f"k{place}": self.cell(column) for place, column in enumerate(key)}
        selected = ", ".join(f"{sql} as {name}" for name, sql in cells.items())
        (found,) = self._engine.run(
            f"""select count(*)::bigint as n
                from (select {", ".join(cells)}, count(*) as n
                      from (select {selected} from {SOURCE}) s
                      group by {", ".join(cells)} having count(*) > 1) x"""
        ).to_pylist()
        return _Repeated(self._engine, self, cells) if found["n"] else None

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def cell_of(column: str) -> str:
    """Text of a cell of the user's table without blanks around it; null where nothing is left."""
    return f"nullif(trim(cast({quoted(column)} as varchar), {literal(BLANKS)}), '')"


def _scale_word(cell: str) -> str:
    """A cell of a confidence, or a word of those that decide the scale in the same way."""
    return f"case when {_signed(cell)} then '50%' else {scale_word(_float(f'({cell})'))} end"


def _signed(cell: str) -> str:
    return f"regexp_matches({cell}, '%$')"


def _int(cell: str) -> str:
    digits = f"replace(regexp_replace({cell}, '[.]0*$', ''), '+', '')"
    return f"(case when regexp_matches({cell}, '{_INT}') then try_cast({digits} as bigint) end)"


def _float(cell: str) -> str:
    number = f"replace({cell}, '+', '')"
    return f"(case when regexp_matches({cell}, '{_FLOAT}') then try_cast({number} as double) end)"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reading:
    """How a table will be read.

    sql : rows with `ordinal`, the canonical columns that count, the lengths of responses, `bad`,
        and `unread`, 1 where a row is kept without a cell.
    reasons : number in `bad` → column and reason.  unread : column and reason of such a cell.
    columns : of `sql`, but for `bad`.
    extra : other columns that were asked for, by the name of their column in `sql`.
    """

    how: Plan
    sql: str
    columns: tuple[str, ...]
    reasons: dict[int, tuple[str, str]]
    unread: tuple[str, str] | None
    extra: dict[str, str]


def table_of(engine: Engine) -> TextTable:
    """The user's table, whose cells are counted by the engine where a plan asks for them."""
    columns: Any = Columns(engine)
    return TextTable(columns=columns, row=np.zeros(1, np.int64), rejects=Rejects(), rows=1)


def read(
    engine: Engine, table: TextTable, name: str, options: ReadOptions, extra: tuple[str, ...] = ()
) -> Reading:
    """Plan how a table of votes is read, as `core.importers.read` does for a file.

    extra : columns outside the canonical form that votes are selected by.

    Raises UnreadableFile, AmbiguousLabels, UnknownName: as for a file. InvalidOption: the table
    holds no votes, or no column names its items.
    """
    how = _planned(table, name, options).checked(name)
    if how.gold_only:
        raise InvalidOption(
            f"{name} holds gold and no votes. Join it to its votes in a view of the engine, and "
            "name that."
        )
    models = {"model_a", "model_b"} <= {*how.mapping}
    if "item_id" not in how.mapping or (how.items == "texts" and not models):
        raise without_items(name)
    return _Statement(how, columns_of(table), options, extra).reading(name)


def without_items(name: str) -> InvalidOption:
    """What to say of a table none of whose columns names the items."""
    return InvalidOption(
        "{table}: no column names its items. Rows of another engine have no number, so name one "
        "with {option:map item_id=COLUMN}.",
        option="map",
        table=name,
    )


def inspect(engine: Engine, table: TextTable, name: str, options: ReadOptions) -> Inspection:
    """Say what a table of votes looks like and what must be asked, as `core.importers.inspect` does
    of a file.

    No row is fetched, only names of columns and the distinct cells of those of words. Raises
    UnknownName for an option that names what is not there.
    """
    how = _planned(table, name, options)
    looks = Inspection(
        name=name, format=CANONICAL, layout=how.layout, columns=tuple(table.columns), mapping={}
    )
    return planned(looks, how)


def _planned(table: TextTable, name: str, options: ReadOptions) -> Plan:
    columns = columns_of(table)
    columns.count_words(map_columns(tuple(columns), name, options)[0])
    return plan(table, name, options)


def columns_of(table: TextTable) -> Columns:
    """The columns of a table of `table_of`."""
    columns: Any = table.columns
    assert isinstance(columns, Columns)
    return columns


@dataclass(frozen=True, slots=True)
class _Repeated:
    """The rows of the user's table that share their key with others, counted by the engine.

    key : SQL of the cells of the key, by the name that each has here.
    """

    engine: Engine
    columns: Columns
    key: Mapping[str, str]

    def _rows(self, column: str) -> str:
        cells = {**self.key, "cell": self.columns.cell(column)}
        return (
            f"select {', '.join(f'{sql} as {name}' for name, sql in cells.items())} from {SOURCE}"
        )

    def kinds(self, column: str) -> tuple[int, int]:
        (found,) = self.engine.run(
            f"""select count(*)::bigint as kinds, coalesce(sum(x.n), 0)::bigint as n
                from (select c.cell as cell, count(*) as n
                      from (select s.cell as cell,
                                   count(*) over (partition by {", ".join(self.key)}) as total
                            from ({self._rows(column)}) s) c
                      where c.total > 1 group by c.cell) x"""
        ).to_pylist()
        return found["kinds"], found["n"]

    def even(self, column: str) -> float:
        key = ", ".join(self.key)
        # By key and cell, then by key.
        (found,) = self.engine.run(
            f"""select avg(case when x.kinds > 1 and x.least = x.most then 1.0 else 0.0 end)::double
                       as even
                from (select {key}, count(*) as kinds, min(s.n) as least, max(s.n) as most
                      from (select {key}, cell, count(*) as n from ({self._rows(column)}) c
                            group by {key}, cell) s
                      group by {key} having sum(s.n) > 1) x"""
        ).to_pylist()
        return float(found["even"])


@dataclass(slots=True, eq=False)
class _Statement:
    """Writes the statement of a plan column by column."""

    how: Plan
    columns: Columns
    options: ReadOptions
    extra: tuple[str, ...]
    bad: list[tuple[str, str, str]] = field(default_factory=list)
    """Condition, column and reason of what rejects a row, in the order in which files are checked.
    """
    unread: tuple[str, str, str] | None = None
    """The same of a cell that a row is kept without."""

    def reading(self, name: str) -> Reading:
        how = self.how
        unknown = [column for column in self.extra if column not in self.columns]
        extra = {
            column: f"extra{place}"
            for place, column in enumerate(self.extra)
            if column not in unknown
        }
        typed = {"ordinal": "c.ordinal"}
        typed |= {
            column.name: self.text(column.name, column.default, name)
            for column in VOTES.columns
            if column.kind == "text" and column.name not in (*CHOICES, *LONG)
        }
        words = {column: self.word(column) for column in CHOICES}
        for column in ("item_id", "judge"):
            self.reject(f"c.{column} is null", column, f"{column} is missing; fill it")
        typed |= {column: self.number(column, of) for column, of in NUMBERS.items()}
        typed["confidence"] = self.confidence()
        gold = self.gold(words["position"])
        vote = self.vote(words["position"])
        status, failed = self.status(words["status"], vote)
        typed["gold"], typed["vote"] = gold, f"(case when {failed} then null else {vote} end)"
        typed["confidence"] = (
            f"(case when {failed} or {vote} is null then null else {typed['confidence']} end)"
        )
        kind = words["confidence_kind"]
        if self.how.scale in LEVELS and self.has("confidence"):
            level = CONFIDENCE_KINDS.index(LEVEL_KIND)
            kind = f"(case when {typed['confidence']} is not null then {level} else {kind} end)"
        typed["status"], typed["position"] = status, f"coalesce({words['position']}, 0)"
        typed["run"] = f"coalesce({typed['run']}, 0)"
        rater = f"coalesce({words['rater_type']}, {int(self.options.rater_type == 'human')})"
        if self.how.people:
            people = ", ".join(map(literal, sorted(self.how.people)))
            rater = f"(case when c.judge in ({people}) then 1 else 0 end)"
        typed["human"], typed["confidence_kind"] = f"({rater} = 1)", kind
        typed |= {f"length_{side}": self.length(side, typed) for side in "ab"}
        typed |= {column: f"c.{column}" for column in extra.values()}
        reasons = {k: (column, why) for k, (_, column, why) in enumerate(self.bad, start=1)}
        cases = " ".join(
            f"when {condition} then {k}" for k, (condition, *_) in enumerate(self.bad, start=1)
        )
        spared, *about = self.unread or ("1 = 0",)
        typed["unread"] = f"(case when {spared} then 1 else 0 end)"
        selected = ", ".join(f"{sql} as {column}" for column, sql in typed.items())
        return Reading(
            how=how,
            sql=f"select {selected}, (case {cases} else 0 end) as bad from ({self.cells(extra)}) c",
            columns=tuple(typed),
            reasons=reasons,
            unread=(about[0], about[1]) if about else None,
            extra=extra,
        )

    def cells(self, extra: Mapping[str, str]) -> str:
        """Text cells by canonical column; of a table with a column per judge, a row per vote."""
        how = self.how
        theirs = {
            name: self.columns.cell(column)
            for name, column in how.mapping.items()
            if name not in how.constants and name not in LONG
        }
        parts = [f"{cell} as {name}" for name, cell in theirs.items()]
        parts += [f"{literal(text)} as {name}" for name, text in how.constants.items()]
        parts += [
            f"{self.columns.length(how.mapping[name])} as size_{name[-1]}"
            for name in ("response_a", "response_b")
            if name in how.mapping
        ]
        parts += [f"{self.columns.cell(column)} as {name}" for column, name in extra.items()]
        if how.layout != "wide":
            return f"select row_in_order() as ordinal, {', '.join(parts)} from {SOURCE}"
        return " union all ".join(
            f"""select row_in_order() as ordinal, {", ".join(parts)},
            {self.columns.cell(judge)} as vote,
                       {literal(judge)} as judge
                from {SOURCE} where {self.columns.cell(judge)} is not null"""
            for judge in how.judges
        )

    def has(self, name: str) -> bool:
        wide = self.how.layout == "wide" and name in ("vote", "judge")
        return wide or name in self.how.mapping

    def reject(self, condition: str, column: str, reason: str) -> None:
        found = (condition, self.how.mapping.get(column, column), reason)
        if column in SPARED:
            self.unread = found
        else:
            self.bad.append(found)

    def text(self, name: str, default: object, table: str) -> str:
        filled = table.rpartition(".")[2] if name == "dataset" else default
        if not self.has(name):
            return "cast(null as varchar)" if filled is None else literal(str(filled))
        return f"c.{name}" if filled is None else f"coalesce(c.{name}, {literal(str(filled))})"

    def word(self, name: str) -> str:
        """Number of a word of a few, null without one."""
        if not self.has(name):
            return "cast(null as integer)"
        numbers = (
            {word: code for code, word in CODES[name].items()}
            if name in CODES
            else {"llm": 0, "human": 1}
        )

        def number(text: str) -> int:
            text = order_word(text, self.how.first) if name == "position" else text
            return numbers[parse_choice(text, CHOICES[name])]

        found = self.coded(name, number)
        reason = f"not allowed here; use {', '.join(CHOICES[name])}, or leave the cell empty"
        self.reject(f"c.{name} is not null and {found} is null", name, reason)
        return found

    def coded(self, name: str, function: Callable[[str], int | None]) -> str:
        """The number that a function gives for each distinct cell; null for other cells."""
        if self.how.layout == "wide" and name == "vote":
            texts = [*label_counts(*(self.columns[judge] for judge in self.how.judges))]
        elif name in self.how.constants:
            texts = [self.how.constants[name]]
        else:
            texts = self.columns[self.how.mapping[name]].dictionary.to_pylist()
        found: dict[str, int] = {}
        for text in texts:
            try:
                number = function(text)
            except BadCell:
                continue
            if number is not None:
                found[text] = number
        cases = " ".join(f"when {literal(text)} then {number}" for text, number in found.items())
        return f"(case c.{name} {cases} else null end)" if cases else "cast(null as integer)"

    def number(self, name: str, kind: str) -> str:
        if not self.has(name):
            return f"cast(null as {'bigint' if kind == 'int' else 'double'})"
        found = _int(f"c.{name}") if kind == "int" else _float(f"c.{name}")
        what = "whole number" if kind == "int" else "number"
        self.reject(f"c.{name} is not null and {found} is null", name, f"not a {what}; correct it")
        return found

    def confidence(self) -> str:
        """Fraction on the scale of the column, null for a cell outside it."""
        if not self.has("confidence"):
            return "cast(null as double)"
        scale, cell = self.how.scale or "1", "c.confidence"
        value, hundredths = _float(cell), _float(f"regexp_replace({cell}, '[ ]*%$', '')")
        low, top = LEVELS.get(scale, (0, 100 if scale in ("100", "%") else 1))
        inside = f"{value} between {low} and {top}" + (f" and {value} > 1" if scale == "%" else "")
        fraction = f"{value} / {float(top)}"
        reason = f"outside {low} to {top}, or no number; correct it, or set --confidence-scale"
        if scale == "logit":
            inside, reason = f"{value} is not null", "not a number; correct it"
            # Some engines refuse the exponential of a large number.
            bounded = f"case when {value} < -500 then -500.0 when {value} > 500 then 500.0"
            fraction = f"1.0 / (1.0 + exp(-({bounded} else {value} end)))"
        stated = f"""(case when {_signed(cell)} and {hundredths} between 0 and 100
                         then {hundredths} / 100.0 when {inside} then {fraction} end)"""
        self.reject(f"{cell} is not null and {stated} is null", "confidence", reason)
        return stated

    def label(self, name: str, vocabulary: Vocabulary) -> str:
        if vocabulary.name == NAMES:
            tie = self.coded(name, lambda text: 0 if normalise(text) in TIE_WORDS else None)
            label, a, b = (f"lower(c.{column})" for column in (name, "model_a", "model_b"))
            found = f"""(case when {tie} = 0 then 0 when {label} = {a} and {label} <> {b} then 1
                              when {label} = {b} and {label} <> {a} then -1 end)"""
        else:
            found = self.coded(name, vocabulary.vote)
        reason = (
            f"not a label of {vocabulary.name} ({vocabulary.meaning}); correct it, or use --labels"
        )
        self.reject(f"c.{name} is not null and {found} is null", name, reason)
        return found

    def shown(self, label: str, position: str) -> str:
        """A label that names the first or second shown, as one that names the models."""
        reason = (
            "the label names the first or second shown, but position is missing; write ab or ba"
        )
        self.reject(f"{position} is null and {label} is not null", "position", reason)
        return f"({label} * {position})"

    def gold(self, position: str) -> str:
        if self.how.gold_vocabulary is None:
            return "cast(null as integer)"
        found = self.label("gold", self.how.gold_vocabulary)
        return self.shown(found, position) if self.how.gold_slots else found

    def vote(self, position: str) -> str:
        if self.how.layout == "scores":
            a, b = (self.number(name, "float") for name in SCORE_COLUMNS)
            margin = self.options.tie_margin * (1 + 1e-9)
            higher = f"when {a} > {b} then 1 when {a} < {b} then -1"
            return f"(case when abs({a} - {b}) <= {margin!r} then 0 {higher} end)"
        assert self.how.vocabulary is not None
        found = self.label("vote", self.how.vocabulary)
        return self.shown(found, position) if self.how.slots else found

    def status(self, given: str, vote: str) -> tuple[str, str]:
        """Number of the status, and whether the call failed whatever label is there."""
        by_value = f"(case when {vote} is null then 1 else 0 end)"
        if not self.has("status"):
            return by_value, "false"
        reason = "the vote is missing although status is ok; fill it, or change status"
        self.reject(f"{given} = 0 and {vote} is null", "vote", reason)
        return f"coalesce({given}, {by_value})", f"coalesce({given} <> 0, false)"

    def length(self, side: str, typed: Mapping[str, str]) -> str:
        """Length of a response: the table's own where it has both, else that of its text."""
        texts = {"response_a", "response_b"} <= self.how.mapping.keys()
        own = typed[f"length_{side}"]
        if not texts:
            return own
        both = " and ".join(f"{typed[f'length_{one}']} is not null" for one in "ab")
        return f"(case when {both} then {own} else c.size_{side} end)"
