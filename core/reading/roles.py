"""Which column does what beside the judgements: items, raters, models, texts, orders and the like.

A role has a gate, which its values must pass, and evidence; a name breaks ties and never passes a
gate for values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .facts import Column, differ_in_one, side
from .words import (
    CLEAR_ORDERS,
    HUMANS,
    MACHINES,
    ORDERS,
    SIDES,
    TIES,
    VERSIONS,
    clean,
    tokens,
    what,
    who,
    without_ending,
)

FEW = 40
"""Most different names of raters, models or metrics that a column of names has."""
TELLING = frozenset({"verdict", "score", "pass"})
NEVER = frozenset({"confidence", "reason", "order", "time", "status", "book"})
"""What a name says of a column that holds no judgement, whatever its cells are."""
_UNLIKELY = frozenset({"item", "model", "run", "prompt", "answer", "category", "metric", "cluster"})


@dataclass(eq=False)
class Roles:
    """Columns with a role, and why each has it.

    of : role → column.  why : name of a column → a sentence.
    sides : words of the header that name the first and the second of two, as `old` and `new`.
    """

    of: dict[str, Column] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    sides: tuple[str, str] | None = None

    def give(self, role: str, column: Column, why: str) -> None:
        """Give a column a role, if neither has another."""
        if role not in self.of and column.name not in self.taken:
            self.of[role] = column
            self.take(column, why)

    def take(self, column: Column, why: str) -> None:
        self.taken.add(column.name)
        self.why[column.name] = why

    def has(self, *roles: str) -> bool:
        return any(role in self.of for role in roles)


def may_judge(column: Column) -> bool:
    """Whether a name leaves open that a column holds judgements."""
    if "judge" in column.who and column.what == {"run"}:
        # `judge_run2`: what a judge said again.
        return True
    if column.what & (NEVER - {"order"}) or ("order" in column.what and not column.what & TELLING):
        return False
    return bool(column.what & TELLING or column.who - {"judge"}) or not column.what & _UNLIKELY


def is_few(column: Column, rows: int) -> bool:
    """Whether a column holds few short names that return."""
    return (
        column.kind in ("short", "pass", "choice", "level", "number")
        and 0 < column.distinct <= min(FEW, max(2, rows // 2))
        and max(map(len, column.counts)) <= 60
    )


def two_sides(one: Column, other: Column) -> tuple[Column, Column, tuple[str, str]] | None:
    """Two columns in the order of the sides that their names say, with the words that say it."""
    apart = differ_in_one(one, other)
    if apart is None:
        return None
    x, y = apart
    if x in SIDES and y in SIDES and SIDES[x] != SIDES[y]:
        return (one, other, (x, y)) if SIDES[x] == 0 else (other, one, (y, x))
    x, y = without_ending(x), without_ending(y)
    for pair in VERSIONS:
        if (x, y) == pair:
            return one, other, pair
        if (y, x) == pair:
            return other, one, pair
    return None


def find_roles(columns: Sequence[Column], constants: Sequence[Column], rows: int) -> Roles:
    """Roles of the columns that are no judgements."""
    roles = Roles()
    texts = {c.name.casefold(): c for c in columns if c.kind == "text"}
    if {"q", "a"} <= texts.keys():
        roles.give("prompt", texts["q"], "texts, called q beside a")
        roles.give("response", texts["a"], "texts, called a beside q")
    _pairs((*columns, *constants), rows, roles)
    _raters(columns, constants, rows, roles)
    for column in columns:
        if column.name in roles.taken or column.kind == "empty":
            continue
        what = column.what
        if column.kind == "date" and not what & TELLING:
            roles.give("timestamp", column, "dates")
        elif (
            "order" in what and not what & TELLING and is_few(column, rows) and column.distinct == 2
        ):
            roles.give("position", column, "two words, and its name says an order")
        elif "confidence" in what and column.kind == "number":
            roles.give("confidence", column, "numbers, and its name says confidence")
        elif (
            "status" in what
            and not what & TELLING
            and column.kind != "number"
            and is_few(column, rows)
        ):
            roles.give("status", column, "few words, and its name says a status")
        elif "reason" in what and column.kind in ("text", "short"):
            roles.give("rationale", column, "texts, and its name says a reason") if (
                "person" not in column.who
            ) else None
        elif what & TELLING or column.who:
            continue
        elif "metric" in what and is_few(column, rows) and column.kind == "short":
            roles.give("metric", column, f"{column.distinct} names of what is judged")
        elif "prompt" in what and "item" not in what and column.kind in ("text", "short"):
            roles.give("prompt", column, "texts, and its name says the question")
        elif "answer" in what and (
            column.kind == "text" or (column.kind == "short" and not is_few(column, rows))
        ):
            roles.give("response", column, "texts, and its name says the answer")
        elif column.tokens == ("version",) and "model_a" in roles.of:
            continue
        elif "model" in what and column.kind == "short" and is_few(column, rows):
            roles.give("model", column, f"{column.distinct} names, and its name says a model")
        elif "run" in what and _is_run(column) and is_few(column, rows):
            roles.give("run", column, f"{column.distinct} values, and its name says a run")
        elif (
            "category" in what
            and "item" not in what
            and column.kind == "short"
            and is_few(column, rows)
        ):
            roles.give("category", column, f"{column.distinct} groups, by its name")
        elif column.kind == "number" and column.tokens[:1] == ("cost",):
            roles.give("cost", column, "numbers, and its name says a cost")
        elif column.kind == "number" and column.tokens == ("temperature",):
            roles.give("temperature", column, "numbers, and its name says a temperature")
    return roles


def _is_run(column: Column) -> bool:
    """Whether a name says a run and no item: `run`, `run_index`, and not `sample_id`."""
    words = set(column.tokens)
    return "item" not in column.what or bool(words & {"run", "repeat", "trial", "attempt"})


def _pairs(columns: Sequence[Column], rows: int, roles: Roles) -> None:
    """Columns of the two that are compared: their models, answers, lengths."""
    for i, one in enumerate(columns):
        for other in columns[i + 1 :]:
            if one.name in roles.taken or other.name in roles.taken:
                continue
            if {one.kind, other.kind} - {"text", "short", "number"} or len(
                {one.kind == "number", other.kind == "number"}
            ) > 1:
                continue
            sided = two_sides(one, other)
            if sided is None:
                continue
            a, b, words = sided
            both = one.what & other.what
            if one.kind == "number":
                if "book" in both and {"len", "length", "chars"} & set(one.tokens):
                    _give_both(roles, "length", a, b, "lengths of the two")
                elif "score" in both and not one.who & {"person", "gold"}:
                    _give_both(roles, "score", a, b, "scores of the two")
                continue
            if both & {"verdict", "reason", "confidence"} or one.who & {"person", "gold"}:
                continue
            few = all(column.kind == "short" and is_few(column, max(rows, 4)) for column in (a, b))
            if few and ("model" in both or "answer" not in both):
                named = _is_named(a, b, columns) or _are_called(words, columns)
                if not both and not one.what and not named:
                    continue
                _give_both(roles, "model", a, b, "names of the two that are compared")
            elif (
                not few
                and both & {"answer", "model"}
                and ("model" not in both or one.kind == "text")
            ):
                _give_both(roles, "response", a, b, "texts of the two that are compared")
            elif few:
                for column in (a, b):
                    roles.take(column, "few short values, so no texts of answers: not used")
                continue
            else:
                continue
            roles.sides = roles.sides or words


def _are_called(words: tuple[str, str], columns: Sequence[Column]) -> bool:
    """Whether a column says the words that part the names of two, and nothing else but ties."""
    return any(column.folded == {*words} for column in columns if column.kind == "choice")


def _is_named(a: Column, b: Column, columns: Sequence[Column]) -> bool:
    """Whether the cells of another column are, row by row, those of one of two, and of either."""
    for other in columns:
        if other in (a, b) or other.kind != "short" or other.at < 0:
            continue
        rows = [row for row in zip(other.cells, a.cells, b.cells, strict=True) if row[0]]
        firsts = sum(cell == x != y for cell, x, y in rows)
        seconds = sum(cell == y != x for cell, x, y in rows)
        if firsts and seconds and firsts + seconds >= 0.95 * len(rows):
            return True
    return False


def _give_both(roles: Roles, what: str, a: Column, b: Column, why: str) -> None:
    if f"{what}_a" not in roles.of:
        roles.give(f"{what}_a", a, f"{why}: the first")
        roles.give(f"{what}_b", b, f"{why}: the second")


def _raters(
    columns: Sequence[Column], constants: Iterable[Column], rows: int, roles: Roles
) -> None:
    """Columns of names of raters, and of what kind they are."""
    for column in columns:
        words = {word for cell in column.counts for word in tokens(cell)}
        both = words & HUMANS and words & MACHINES
        kinds = column.kind in ("short", "choice") and words and words <= HUMANS | MACHINES
        if kinds and (both or {"type", "kind"} & set(column.tokens)):
            roles.give("rater_type", column, "says of each row whether a person or a model judged")
    for column in (*columns, *constants):
        if column.name in roles.taken or not column.who & {"judge", "person"}:
            continue
        # Within an `annotation` an `annotator` is who, and what the whole is called says nothing.
        last = column.name.rpartition(".")[2]
        says = what(last) if who(last) & {"judge", "person"} else column.what
        if says & (TELLING | NEVER | {"answer", "prompt", "metric", "category"}):
            continue
        named = (
            column.kind == "short"
            or (
                column.kind in ("number", "choice")
                and "item" in column.what
                and column.distinct <= FEW
            )
            or column.name in ("judge", "judge_id", "annotator", "annotator_id")
            or (column.at < 0 and column.kind == "text" and max(map(len, column.counts)) <= 80)
        )
        if named and 0 < column.distinct <= max(2, min(500, rows // 2)) and not _is_code(column):
            models = frozenset().union(
                *(roles.of[role].folded for role in ("model_a", "model_b") if role in roles.of)
            )
            if by_header(column, roles.sides) or _says_as_another(column, columns, models):
                continue
            person = "person" in column.who
            role = "person" if person else "judge"
            roles.give(
                role,
                column,
                f"{_names(column)}, and its name says {'people' if person else 'a judge'}",
            )


def _says_as_another(
    column: Column, columns: Sequence[Column], models: frozenset[str] = frozenset()
) -> bool:
    """Whether half of its words stand in a column of verdicts, or in one of the other of judge and
    person: labels, and no names.

    models : names of those that are compared, of which a verdict may name one that judges too.
    """
    return any(
        2 * len(column.folded & other.folded) > len(column.folded)
        for other in columns
        if other is not column and not other.folded <= models
        if other.what & TELLING
        or (
            "item" not in column.what
            and {*other.who, *column.who} >= {"judge", "person"} > other.who
        )
    )


def by_header(column: Column, sides: tuple[str, str] | None) -> dict[str, int] | None:
    """Words of a column that name one of two columns by a word of its header."""
    if sides is None or sides[0].isdigit() or len(sides[0]) == 1:
        return None
    found: dict[str, int] = {}
    n = 0
    for cell, times in column.counts.items():
        words = set(map(without_ending, tokens(cell)))
        there = [each in words for each in sides]
        if sum(there) == 1 and len(words) <= 6:
            found[clean(cell)] = 1 if there[0] else -1
        elif clean(cell) in TIES:
            found[clean(cell)] = 0
        else:
            continue
        n += times
    return found if n >= 0.75 * column.filled and {1, -1} <= set(found.values()) else None


def _is_code(column: Column) -> bool:
    """Whether cells look like verdicts and not like names."""
    return column.kind in ("pass", "level") or (
        column.kind == "choice"
        and {side(cell) for cell in column.counts} >= {1, -1}
        and "item" not in column.what
    )


def _names(column: Column) -> str:
    return "one name in every row" if column.distinct == 1 else f"{column.distinct} names"


def order_of(column: Column) -> dict[str, str] | None:
    """Word of a column of orders → `ab` or `ba`; None if a word is unknown."""
    words = {cell: clean(cell) for cell in column.counts}
    if set(words.values()) <= {"a", "b"}:
        return {cell: "ab" if word == "a" else "ba" for cell, word in words.items()}
    places = {cell: ORDERS.get(word) for cell, word in words.items()}
    if None in places.values() or (len(places) > 1 and len(set(places.values())) == 1):
        return None
    return {cell: "ba" if place else "ab" for cell, place in places.items()}


def clear_order(words: tuple[str, str]) -> tuple[int, int] | None:
    """Orders that two words in the names of columns say, if both say nothing else."""
    if set(words) <= CLEAR_ORDERS:
        first, second = ORDERS[words[0]], ORDERS[words[1]]
        if first != second:
            return first, second
    return None
