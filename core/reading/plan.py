"""How a table is read: the plan itself, and the draft of which parts are settled one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from . import questions as ask
from .facts import Column, is_missing, side
from .mapping import Said
from .questions import Asked, listed
from .roles import Roles
from .walk import Table
from .words import (
    ANY_RATERS,
    ANYBODYS,
    ARTIFICIAL,
    JUDGED,
    MODELS,
    RATERS,
    clean,
    tokens,
    what,
    who,
)

Form = Literal["votes", "scores"]
UNREAD = 0.05
"""Share of the words of a judgement that may be unknown."""
CANONICAL = {"vote", "score", "gold", "judge", "item_id"}


@dataclass(eq=False)
class Judgement:
    """A column of judgements. rater : whose, empty if a column of names says it.  order : in which
    order its answers were shown.  run : which run it is.  metric : what it judges.
    """

    column: Column
    whose: Literal["judge", "person"]
    rater: str = ""
    order: str = ""
    run: int | None = None
    metric: str = ""


@dataclass(eq=False)
class PlannedColumn:
    """A column, what it is read as, and why."""

    name: str
    kind: str
    distinct: int
    role: str
    why: str


@dataclass(eq=False)
class Plan:
    """How a table is read.

    form : None if the table holds no judgement.  item : None, and each row is an item of its own.
    sides : word of a verdict, folded → 1, 0 or -1; `by_name`: verdicts name the value of the
    column of a model.  refusal : what the table is, if it is not read.
    """

    source: str
    table: Table | None = None
    form: Form | None = None
    columns: list[PlannedColumn] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    gold: Column | None = None
    item: Column | None = None
    item_why: str = ""
    version: Column | None = None
    roles: Roles = field(default_factory=Roles)
    sides: dict[str, int | None] = field(default_factory=dict)
    grades: dict[str, float | None] = field(default_factory=dict)
    by_name: bool = False
    orders: dict[str, str] = field(default_factory=dict)
    slots: bool = False
    runs: bool = False
    outliers: dict[str, frozenset[float]] = field(default_factory=dict)
    lower_is_better: tuple[str, ...] = ()
    people: frozenset[str] = frozenset()
    """Names of raters who are people, in a column where models judge too."""
    questions: list[Asked] = field(default_factory=list)
    refusal: str = ""
    notes: list[str] = field(default_factory=list)
    rows: int = 0
    key: list[Column] = field(default_factory=list)
    """Columns that with the item tell rows apart."""

    def of_rows(self, rows: int, cells: Callable[[str], list[str | None]]) -> Plan:
        """The same plan of all rows of a table that it was made of some rows of.

        cells : name of a column → its cells, None where one stands for none.
        """
        known: dict[int, Column] = {}

        def whole(column: Column) -> Column:
            if id(column) not in known:
                constant = column.at < 0
                known[id(column)] = column.of_rows(
                    [next(iter(column.counts))] * rows if constant else cells(column.name)
                )
            return known[id(column)]

        return replace(
            self,
            rows=rows,
            judgements=[replace(each, column=whole(each.column)) for each in self.judgements],
            gold=self.gold and whole(self.gold),
            item=self.item and whole(self.item),
            version=self.version and whole(self.version),
            key=[whole(column) for column in self.key],
            roles=replace(
                self.roles, of={role: whole(column) for role, column in self.roles.of.items()}
            ),
        )

    @property
    def admitted(self) -> bool:
        """Whether the table may be read without asking."""
        return self.form is not None and not self.questions and not self.refusal

    @property
    def has_people(self) -> bool:
        """Whether it is of scores, and people gave some of them."""
        of_people = any(each.whose == "person" for each in self.judgements)
        return self.form == "scores" and of_people

    @property
    def n_rows(self) -> int:
        """Rows of its table."""
        return len(self.table.rows) if self.table is not None else 0

    @property
    def is_of_one_table(self) -> bool:
        """Whether no other table of the file may be meant."""
        return all(question.about != "tables" for question in self.questions)

    @property
    def is_certain(self) -> bool:
        """Whether it is refused for what it shows however few rows it has, and whatever its names
        say: results, or categories.
        """
        of_results = self.refusal.startswith("It is a table of results")
        return of_results or "categories without an order" in self.refusal

    @property
    def is_gold(self) -> bool:
        """Whether it is refused because it holds gold alone."""
        return "holds gold, and no column" in self.refusal

    def knows(self, names: Collection[str]) -> bool:
        """Whether all of some names are columns or constants of its table, or raters in it."""
        here = {*self.table.columns, *self.table.constants} if self.table is not None else set()
        raters = (
            self.roles.of[role].counts for role in ("judge", "person") if role in self.roles.of
        )
        return here.union(*raters) >= {*names}

    def vote(self, cell: str) -> int | None:
        """What a verdict says, where it does not name a model."""
        word = clean(cell)
        return self.sides[word] if word in self.sides else side(cell)

    def options(self) -> str:
        """The options that answer what is asked, the first choice of each."""
        return " ".join(question.choices[0][0] for question in self.questions)

    def sentences(self) -> list[str]:
        """The plan in words, at most six."""
        if self.refusal:
            return [self.refusal]
        judged = {"votes": "votes between two answers", "scores": "scores of single answers"}
        lines = [f"Read as {judged[self.form or 'votes']}; {self.item_why}."]
        used = [f"'{each.name}': {each.why}" for each in self.columns if each.role != "not used"]
        lines.append(" ".join(f"{sentence}." for sentence in used[:12]))
        unused = [each.name for each in self.columns if each.role == "not used"]
        lines.append(f"Not used: {listed(unused) if unused else 'none'}.")
        return lines + [f"{note}" for note in self.notes[:3]]


class Draft:
    """A plan while it is made, and the columns that it is made of."""

    def __init__(self, table: Table, source: str, said: Said) -> None:
        self.said, self.source = said, source
        self.rows = len(table.rows)
        cells: list[list[str | None]] = [
            [None if is_missing(cell) else cell for cell in column]
            for column in zip(*table.rows, strict=True)
        ]
        self.columns = [
            Column(name, i, column, name in table.keys, name in table.inherited)
            for i, (name, column) in enumerate(zip(table.columns, cells, strict=True))
        ]
        here = set(table.columns)
        self.constants = [
            Column(name, -1, [value] * self.rows)
            for name, value in table.constants.items()
            if name not in here and not is_missing(value)
        ]
        self.by = {column.name: column for column in (*self.constants, *self.columns)}
        self.out = Plan(source=source, table=table, rows=self.rows, notes=list(table.notes))
        self.alike: frozenset[str] = frozenset()
        """Columns of 0 and 1 whose names say models."""
        self.as_gold: frozenset[str] = frozenset()
        """Gold in two words of its own, and the columns in the same words."""
        self.turned: set[str] = set()
        """Verdicts that another column has turned."""

    def _refuse(self, why: str) -> Plan:
        self.out.refusal = why
        return self.out

    def _named_people(self, column: Column) -> bool:
        """Whether another column names the person wherever this one holds a judgement."""
        person = self.out.roles.of.get("person")
        if person is None:
            return False
        named = sum(p is not None for p, c in zip(person.cells, column.cells, strict=True) if c)
        if named >= 0.95 * column.filled:
            return True
        del self.out.roles.of["person"]
        self.out.roles.why[person.name] = (
            f"names nobody in {column.filled - named:,} rows of '{column.name}': not used"
        )
        return False

    def _whose(
        self, columns: Sequence[Column], told: Container[str | None]
    ) -> tuple[list[Column], list[Column], list[Column]]:
        """Which columns are gold, people's and a judge's, as said or by their names.

        told : columns that were said to be a judge's.
        """
        said = self.said
        gold = [
            c
            for c in columns
            if c.name == said.mapping.get("gold") or ("gold" in c.who and c.name not in told)
        ]
        left = [c for c in columns if c not in gold]
        named = self.out.roles.of.get("person")
        people = [
            c
            for c in left
            if c.name in said.people
            or (c.name not in told and ("person" in c.who or _is_beside(c, named)))
        ]
        if any({*c.tokens} & MODELS for c in left):
            # A rater beside a model is a person.
            raters = [c for c in left if {*c.tokens} & RATERS and not {*c.tokens} & ARTIFICIAL]
            people += [c for c in raters if c not in people and c.name not in told]
        left = [c for c in left if c not in people]
        judges = [c for c in left if c.name in told or "judge" in c.who or c.name in self.alike]
        return gold, self._without_totals(people), judges

    def _anybodys(self, columns: Sequence[Column]) -> bool:
        """Whether columns are called labels and nothing says whose: not even the file's name."""
        told = self.out.roles.has("judge", "person", "rater_type") or "judge" in who(self.source)
        told = told or any(c.name in self.said.columns for c in columns)
        return not told and all({*c.tokens} and {*c.tokens} <= ANYBODYS for c in columns)

    def _nameless(self, judges: Sequence[Column]) -> list[Column]:
        """Columns of a grader or a rater who may be a person or a model, where nothing says which,
        or others are called as models are.
        """
        told = self.out.roles.has("judge", "person", "rater_type")
        open_ = [
            c
            for c in judges
            if {*c.tokens} & ANY_RATERS
            and not {*c.tokens} & (ARTIFICIAL | {"judge", "judges"})
            and c.name not in self.said.columns
        ]
        named = [c for c in judges if c not in open_ and {*c.tokens} & ARTIFICIAL]
        return open_ if (named or len(open_) > 1) and not told else []

    def _of_raters(
        self, main: list[Column], people: list[Column]
    ) -> tuple[list[Column], list[Column]]:
        """Judge's and people's columns; people's alone beside a column of names of judges are of
        those who are named there, and whether they are people is asked.
        """
        of, said = self.out.roles.of, self.said
        if main or not people or "judge" not in of or "person" in of:
            return main, people
        raters = sorted(of["judge"].counts)
        if not {*raters} & {*said.people, *said.judges}:
            self.out.questions.append(ask.raters(of["judge"].name, (), raters))
        return people, []

    def _called_by_file(self, columns: Sequence[Column]) -> bool:
        """A2: whether nothing but the name of the file says who judged, and the name of a column
        says more than that it holds a verdict or a score, or less.
        """
        told = self.out.roles.has("judge", "person", "rater_type") or "judge" in who(self.source)
        told = told or any(c.name in self.said.columns or "judge" in c.who for c in columns)
        return not told and not all(
            all(what(word) & {"verdict", "score"} for word in c.tokens) for c in columns
        )

    def _without_totals(self, people: list[Column]) -> list[Column]:
        """People's columns without those that sum up others of them."""
        totals = [c for c in people if "aggregate" in c.what and c.name not in self.said.people]
        if totals and len(people) > len(totals):
            for column in totals:
                self.out.roles.take(column, "sums up what several people say: not used")
            return [c for c in people if c not in totals]
        return people

    def _settle_gold(self, gold: list[Column]) -> None:
        if not gold:
            return
        exact = [c for c in gold if c.name == self.said.mapping.get("gold")] or [
            c for c in gold if c.name == "gold"
        ]
        if len(gold) > 1 and not exact:
            self.out.questions.append(
                ask.Asked(
                    about="claim",
                    text=f"{listed(c.name for c in gold)} both name what is right: which is gold?",
                    choices=tuple((f"--map gold={c.name}", f"'{c.name}'") for c in gold),
                )
            )
        self.out.gold = (exact or gold)[0]
        self.out.roles.take(self.out.gold, "labels, and its name says what is right")

    def _rater(self, column: Column | None = None) -> str:
        """Name of the judge of one column; empty if a column of names says it."""
        roles = self.out.roles
        if roles.has("judge") or (roles.has("person") and roles.has("rater_type")):
            return ""
        return own_name(column) if column is not None and _tells_name(column) else self.source


def _is_beside(column: Column, other: Column | None) -> bool:
    """Whether two columns are of one object within a row, as `review.label` and `review.by`."""
    within = column.name.rpartition(".")[0]
    return other is not None and bool(within) and other.name.rpartition(".")[0] == within


def _tells_name(column: Column) -> bool:
    """Whether the name of a column names a judge, and not only that there is one."""
    return bool(MODELS & set(column.tokens))


def own_name(column: Column) -> str:
    """Name of the rater of a column: that of the column without the word for what it says."""
    words = [w for w in column.name.replace("_", " ").split() if not ({*tokens(w)} & JUDGED)]
    return " ".join(words) or column.name
