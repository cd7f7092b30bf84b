"""How a table is read: which columns are whose judgements, and when that may be taken unasked.

A plan is admitted only if every judgement has two kinds of evidence (its values, what stands
beside it, its name), its rater is said by something, no other column has the same claim, its rows
are told apart, and its words are known. Else the plan holds the questions that are open, or says
what the table is instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Literal

from . import questions as ask
from .facts import (
    Column,
    constant_in,
    differ_in_one,
    grade,
    is_missing,
    level,
    number,
    repeats,
    side,
)
from .mapping import Said
from .questions import Asked, listed
from .roles import Roles, by_header, clear_order, find_roles, is_few, may_judge, order_of, two_sides
from .walk import Table
from .words import HARM, LABELS, TIES, WHO, clean, tokens
from .words import who as who_says

Form = Literal["votes", "scores"]
UNREAD = 0.05
"""Share of the words of a verdict that may be unknown."""
CLEAR = 20
"""Fewest rows in which gold may decide what a label names."""
LEVELS_OF_A_SCALE = 11
"""Most levels of a scale that people fill in; a statistic has nearly as many values as rows."""
MOST_QUESTIONS = 2
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
    questions: list[Asked] = field(default_factory=list)
    refusal: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def names_nobody(self) -> bool:
        """Whether nothing but the name of the file says who judged."""
        return all(each.rater == self.source for each in self.judgements)

    @property
    def admitted(self) -> bool:
        """Whether the table may be read without asking."""
        return self.form is not None and not self.questions and not self.refusal

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


def make_plan(tables: Sequence[Table], source: str, said: Said | None = None) -> Plan:
    """The plan of the only table of a file that holds judgements.

    said : what the owner of the file decided.  source : name of the file without its ending.
    """
    said = said or Said()
    tables = [_stacked(table) for table in tables if table.rows and table.columns]
    if said.table is not None:
        tables = [table for table in tables if table.name == said.table]
    several = [table for table in tables if len(table.rows) > 1]
    plans = [_Planner(table, source, said).plan() for table in several or tables]
    judging = [plan for plan in plans if plan.form]
    if not judging:
        refused = [plan for plan in plans if plan.refusal]
        return max(
            refused,
            key=lambda plan: len(plan.table.rows if plan.table else ()),
            default=Plan(source=source, refusal="There is no table of judgements in it."),
        )
    if len(judging) > 1:
        chosen = max(judging, key=lambda plan: len(plan.table.rows) if plan.table else 0)
        names = [plan.table.name or "(top)" for plan in judging if plan.table]
        chosen.questions = [ask.tables(names), *chosen.questions][:MOST_QUESTIONS]
        return chosen
    return judging[0]


def _stacked(table: Table) -> Table:
    """A table of objects that hold numbers under the same names (`A.clarity`, `A.tone`,
    `B.clarity`, `B.tone`) with a row for each of them; another one as it is.

    Who is judged or judges then stands in a column of its own.
    """
    split = [name.rpartition(".") for name in table.columns]
    under: dict[str, list[str]] = {}
    for head, dot, tail in split:
        if dot:
            under.setdefault(head, []).append(tail)
    alike = [head for head, tails in under.items() if len(tails) > 1]
    if len(alike) < 2 or len({tuple(sorted(under[head])) for head in alike}) > 1:
        return table
    at = {name: i for i, name in enumerate(table.columns)}
    tails = under[alike[0]]
    cells = [row[at[f"{head}.{tail}"]] for row in table.rows for head in alike for tail in tails]
    whose = {who_says(head) & {"person", "gold"} for head in alike}
    if len(whose) > 1 or any(c is not None and number(c) is None for c in cells):
        return table
    others = [i for i, (head, _, _) in enumerate(split) if head not in alike]
    key = next(iter(next(iter(whose))), f"{table.name.rsplit('.', 1)[-1]} part".strip())
    return Table(
        table.name,
        [*(table.columns[i] for i in others), key, *tails],
        [
            [*(row[i] for i in others), head, *(row[at[f"{head}.{tail}"]] for tail in tails)]
            for row in table.rows
            for head in alike
        ],
        table.constants,
        {*table.keys, key},
        [*table.notes, f"{listed(alike)} hold the same numbers: a row each."],
        table.inherited,
    )


class _Planner:
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
        self.out = Plan(source=source, table=table, notes=list(table.notes))
        self.turned: set[str] = set()  # Verdicts that another column has turned.

    def plan(self) -> Plan:
        """Roles, judgements, and what is open about them."""
        out, said = self.out, self.said
        if len(self.columns) > 300:
            return self._refuse(
                f"It has {len(self.columns):,} columns: names of columns are data there. Give a "
                "row to each judgement."
            )
        open_ = [each for each in self.columns if each.name not in said.unused]
        asked = said.columns
        named = {*asked, said.version}
        out.roles = find_roles([c for c in open_ if c.name not in named], self.constants, self.rows)
        for role, name in said.mapping.items():
            if name in self.by and role not in ("vote", "score", "gold"):
                out.roles.of[role] = self.by[name]
                out.roles.take(self.by[name], "as you said")
        candidates = [
            each
            for each in open_
            if (each.name in asked and each.name not in out.roles.taken)
            or (
                each.name not in out.roles.taken
                and each.name != said.version
                and not each.is_key
                and may_judge(each)
                and each.kind != "empty"
            )
        ]
        self._results(open_)
        if out.refusal:
            return self._listed()
        if len(self.columns) == 1:
            return self._refuse(
                "It is one column: nothing says what the values belong to. Put the name of the "
                "item beside each."
            )
        self.alike = self._coded_alike(open_)
        candidates += [c for c in open_ if c.name in self.alike and c not in candidates]
        votes = [each for each in candidates if self._is_vote(each)]
        if self._votes(votes) or self._scores([each for each in candidates if each not in votes]):
            self._constant()
            self._items()
            self._status()
            if out.form == "votes":
                self._orders()
            else:
                self._scales()
                self._systems()
        elif not out.refusal:
            self._say_what_it_is()
        out.questions = _most_harmful(out.questions)
        return self._listed()

    def _refuse(self, why: str) -> Plan:
        self.out.refusal = why
        return self.out

    def _results(self, columns: Sequence[Column]) -> None:
        """A table whose numbers are statistics, or whose columns are its keys, holds results."""
        numbers = [
            c
            for c in columns
            if c.kind == "number" and "item" not in c.what and not c.inherited
        ]
        statistics = [c for c in numbers if "aggregate" in c.what]
        observed = [c for c in numbers if c not in statistics and c.who & {"judge", "person"}]
        observed = [c for c in observed if self.rows >= CLEAR and c.distinct <= LEVELS_OF_A_SCALE]
        if not observed and len(numbers) >= 3 and 2 * len(statistics) >= len(numbers):
            self._refuse(
                f"It is a table of results ({listed(c.name for c in statistics[:4])}): each row "
                "sums up many judgements. The judgements themselves are needed, a row each."
            )
        counts = [c for c in numbers if _is_verdict(c.name.split(".")[-1])]
        if len(counts) >= 2 and len({_is_verdict(c.name.split(".")[-1]) for c in counts}) >= 2:
            self._refuse(
                f"Its columns {listed(c.name for c in counts[:4])} count verdicts: results, and "
                "not the verdicts themselves."
            )
        names = {clean(column.name) for column in columns}
        for column in columns:
            if (
                column.kind == "short"
                and column.distinct >= 3
                and column.distinct == self.rows
                and {clean(cell) for cell in column.counts} <= names
            ):
                self._refuse("It is a matrix whose columns are its rows: results, not judgements.")

    def _systems(self) -> None:
        """A7: numbers of which nothing says who judged, or what was judged, are results."""
        out = self.out
        told = {"judge", "person", "rater_type", "prompt", "response", "response_a"}
        of_people = any(each.whose == "person" for each in out.judgements)
        if out.item is None and out.gold is None and not of_people and len(out.judgements) == 1:
            (each,) = out.judgements
            named = each.column.name in self.said.columns or "judge" in each.column.who
            if not named and not out.roles.has(*told) and not out.questions:
                self._refuse(
                    f"{listed([each.column.name])} holds numbers, and nothing says who judged or "
                    "what: it may be a table of results, a row per system. If not, name what was "
                    "judged with --map item_id=COLUMN, and who judged with --map judge=COLUMN."
                )

    def _constant(self) -> None:
        """A1: what always says the same shows no kind, unless somebody else says otherwise."""
        out = self.out
        said = [each.column for each in out.judgements] + ([out.gold] if out.gold else [])
        alone = [c for c in said if c.distinct <= 1 and c.name not in self.said.columns]
        if self.rows >= 3 and len(alone) == len(said) and not CANONICAL & {c.name for c in said}:
            words = listed(word for c in alone for word in c.counts)
            self._refuse(
                f"{listed(c.name for c in alone)} says {words} in every row, and nobody says "
                "anything else: nothing shows that it is a judgement. If it is, name it with --map."
            )

    # -- votes ---------------------------------------------------------------------------------

    def _is_vote(self, column: Column) -> bool:
        """Whether cells of a column can name one of two."""
        if self.said.mapping.get("score") == column.name:
            return False
        if column.name in (self.said.mapping.get("vote"), *self.said.orders):
            return True
        words = {clean(cell) for cell in column.counts}
        if words and words <= self.said.labels.keys():
            return bool({self.said.labels[word] for word in words} & {"A", "B"})
        if column.kind == "choice":
            return True
        if column.kind in ("short", "text", "pass") and self._names_model(column):
            return True
        if column.kind in ("short", "text") and self._by_header(column):
            return True
        if column.name in self.alike:
            return True
        if column.kind == "number" and column.coded:
            return (
                bool({"verdict"} & column.what or "gold" in column.who)
                and "score" not in column.what
            )
        return False

    def _coded_alike(self, columns: Sequence[Column]) -> frozenset[str]:
        """Two or more columns of 0 and 1 whose names say models, and nothing of what they hold."""
        coded = [
            c
            for c in columns
            if c.coded
            and c.coded <= {0.0, 1.0}
            and c.what == {"model"}
            and c.name not in self.out.roles.taken
        ]
        alike = {c.name for c in coded} if len(coded) > 1 else set()
        return frozenset(alike) if any(c.kind == "choice" for c in columns) else frozenset()

    def _names_model(self, column: Column) -> bool:
        """Whether cells are the value, in their row, of one of two columns of models."""
        of = self.out.roles.of
        if not {"model_a", "model_b"} <= of.keys():
            return False
        a, b = of["model_a"], of["model_b"]
        hits = sum(
            clean(cell) in (clean(x or ""), clean(y or "")) or clean(cell) in TIES
            for cell, x, y in zip(column.cells, a.cells, b.cells, strict=True)
            if cell is not None
        )
        named = sum(n for cell, n in column.counts.items() if clean(cell) not in TIES)
        return hits >= 0.95 * column.filled and named > 0

    def _by_header(self, column: Column) -> dict[str, int] | None:
        """Words of a column that name one of two columns by a word of its header."""
        return by_header(column, self.out.roles.sides)

    def _votes(self, votes: list[Column]) -> bool:
        """Whose verdicts the columns are. False if they are none."""
        out, said = self.out, self.said
        if not votes:
            return False
        of = out.roles.of
        if any(column.letters_beyond for column in votes):
            self._refuse(
                "Its labels are letters beyond B: picks of one of several, and no votes between "
                "two. Name them with --map pick_slot=COLUMN gold_slot=COLUMN."
            )
            return False
        told = {said.mapping.get("vote"), *said.orders, *said.runs, *said.judges}
        votes = self._without_turned(votes)
        gold = [
            c
            for c in votes
            if c.name == said.mapping.get("gold") or ("gold" in c.who and c.name not in told)
        ]
        people = [
            c
            for c in votes
            if c not in gold
            and (c.name in said.people or ("person" in c.who and c.name not in told))
        ]
        people = self._without_totals(people, gold)
        judges = [
            c
            for c in votes
            if c not in gold
            and c not in people
            and (c.name in told or "judge" in c.who or c.name in self.alike)
        ]
        named = [
            c
            for c in votes
            if c not in gold and c not in people and c not in judges and "verdict" in c.what
        ]
        rest = [
            c
            for c in votes
            if c not in gold and c not in people and c not in judges and c not in named
        ]
        if said.mapping.get("vote"):
            judges, rest, named = [c for c in judges if c.name in told], [], []
        if exact := [c for c in named if c.name in CANONICAL]:
            named = exact
        elif judges and len(named) == 1 and not said.orders and not said.runs:
            out.questions.append(ask.beside(named[0].name, judges[0].name))
            named = []
        compared = out.roles.has("model_a", "response_a", "position", "length_a") or len(votes) > 1
        weak = all(c.kind == "number" for c in (*judges, *named)) and not compared
        if not (judges or named or people) and not (rest and (compared or of.get("judge"))):
            if gold:
                self._refuse(
                    f"{listed(c.name for c in gold)} holds gold, and no column a judge's verdicts."
                )
            return False
        if weak and not told and "judge" not in of and "person" not in of:
            return False
        out.form = "votes"
        self._settle_gold(gold)
        main = [*judges, *named]
        if not main and not people:
            out.questions.append(ask.who([c.name for c in rest], (), metrics=False))
            main, rest = rest, []
        self._place(main, judged_by_name=bool(judges))
        for column in people:
            rater = "" if len(people) == 1 and self._named_people(column) else column.name
            out.judgements.append(Judgement(column, "person", rater))
            out.roles.take(
                column,
                "verdicts, and its name says a person"
                if column.name not in said.people
                else "verdicts of a person, as you said",
            )
        vocabulary = frozenset().union(*(c.folded for c in (*main, *people)))
        alike = [c for c in rest if c.folded & vocabulary or c.kind == "choice"]
        alike = [c for c in alike if not c.what - {"verdict"} and c.distinct > 1]
        if alike and not any(q.about == "who" for q in out.questions):
            out.questions.append(
                ask.who([c.name for c in alike], [c.name for c in main], metrics=False)
            )
        self._labels([*main, *people, *gold])
        return True

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

    def _without_totals(self, people: list[Column], gold: list[Column]) -> list[Column]:
        """People's columns without those that sum up others of them."""
        totals = [c for c in people if "aggregate" in c.what and c.name not in self.said.people]
        if totals and len(people) > len(totals):
            for column in totals:
                self.out.roles.take(column, "sums up what several people say: not used")
            return [c for c in people if c not in totals]
        return people

    def _without_turned(self, votes: list[Column]) -> list[Column]:
        """Verdicts without those that turn what another says: B in each row in which it says A."""
        kept: list[Column] = []
        for column in votes:
            twin = next((each for each in kept if _turns(column, each)), None)
            if twin is None or column.name in self.said.columns:
                kept.append(column)
            else:
                self.out.roles.take(column, f"says what '{twin.name}' says, turned: not used")
                self.turned.add(twin.name)
        return kept

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

    def _place(self, main: list[Column], *, judged_by_name: bool) -> None:
        """Whether columns of verdicts are one judge's in two orders, runs, or several judges'."""
        out, said = self.out, self.said
        of = out.roles.of
        if said.orders or said.runs:
            for i, name in enumerate(said.orders or said.runs):
                order = ("ab", "ba")[i % 2] if said.orders else ""
                run = i if said.runs else None
                out.judgements.append(Judgement(self.by[name], "judge", self._rater(), order, run))
                out.roles.take(self.by[name], "verdicts, as you said")
            return
        if len(main) == 2 and not said.judges:
            apart = differ_in_one(*main)
            if apart and (places := clear_order(apart)):
                for column, place in zip(main, places, strict=True):
                    out.judgements.append(
                        Judgement(column, "judge", self._rater(), ("ab", "ba")[place])
                    )
                    out.roles.take(
                        column,
                        f"verdicts of one judge in two orders: the names differ in {listed(apart)}",
                    )
                return
            if not judged_by_name and apart and two_sides(*main):
                out.questions.append(ask.two_columns([c.name for c in main]))
            elif not judged_by_name:
                out.questions.append(ask.two_columns([c.name for c in main], gold=True))
        elif len(main) > 2 and not judged_by_name and not said.judges:
            out.questions.append(ask.two_columns([c.name for c in main]))
        for column in main:
            rater = self._rater(column) if len(main) == 1 else _own_name(column)
            whose: Literal["judge", "person"] = "judge"
            if (
                len(main) == 1
                and "judge" not in of
                and "person" in of
                and "judge" not in column.who
            ):
                whose, rater = "person", ""
            out.judgements.append(Judgement(column, whose, rater))
            out.roles.take(column, self._why_verdict(column))

    def _why_verdict(self, column: Column) -> str:
        if self._names_model(column):
            of = self.out.roles.of
            return f"names the value of '{of['model_a'].name}' or '{of['model_b'].name}'"
        if self._by_header(column):
            return "names one of two columns by a word of its header"
        return "each names one of two answers"

    def _rater(self, column: Column | None = None) -> str:
        """Name of the judge of one column; empty if a column of names says it."""
        if "judge" in self.out.roles.of:
            return ""
        return _own_name(column) if column is not None and _tells_name(column) else self.source

    def _labels(self, columns: list[Column]) -> None:
        """What the words of verdicts mean, and which are unknown (A5)."""
        out, said = self.out, self.said
        numbers: set[float] = set()
        for column in columns:
            numbers |= column.coded if column.kind == "number" else set()
        out.sides = {clean(w): {"A": 1, "B": -1, "tie": 0}.get(m) for w, m in said.labels.items()}
        if numbers and not {f"{n:g}" for n in numbers} <= said.labels.keys():
            meaning = {
                frozenset({1.0, 2.0}): {1.0: 1, 2.0: -1},
                frozenset({-1.0, 0.0, 1.0}): {1.0: 1, 0.0: 0, -1.0: -1},
                frozenset({-1.0, 1.0}): {1.0: 1, -1.0: -1},
            }.get(frozenset(numbers))
            if meaning is None:
                coded = [c for c in columns if c.kind == "number"]
                out.questions.append(
                    ask.codes(
                        sorted(numbers),
                        [c.name for c in coded],
                        grades=not out.roles.has("model_a", "response_a", "position"),
                    )
                )
            for value, vote in (meaning or {}).items():
                out.sides |= dict.fromkeys((f"{value:g}", f"{value:.1f}"), vote)
                if value > 0:
                    out.sides[f"+{value:g}"] = vote
        for column in columns:
            if self._names_model(column) and column.kind != "choice":
                out.by_name = True
                continue
            if column.kind != "choice" and (by_header := self._by_header(column)):
                out.sides = {**by_header, **out.sides}
        if out.by_name:
            return
        for column in columns:
            unread = Counter(
                {
                    cell: n
                    for cell, n in column.counts.items()
                    if out.vote(cell) is None and clean(cell) not in out.sides
                }
            )
            if unread.total() > UNREAD * column.filled and not any(
                q.about == "labels" for q in out.questions
            ):
                out.questions.append(ask.unread(column.name, unread.most_common()))
            elif unread:
                words = ", ".join(
                    f"'{word[:40]}' in {n:,} rows" for word, n in unread.most_common(5)
                )
                out.notes.append(
                    f"'{column.name}': {words}: not read, and no verdict of the judge."
                )
            if (
                column.kind == "choice"
                and len({clean(c) for c in column.counts}) == 1
                and not out.gold
                and len(columns) == 1
            ):
                out.notes.append(f"'{column.name}' always says the same.")

    # -- scores --------------------------------------------------------------------------------

    def _scores(self, candidates: list[Column]) -> bool:
        """Whose scores the columns are. False if they are none."""
        out, said = self.out, self.said
        of = out.roles.of
        scored = [
            c
            for c in candidates
            if c.kind in ("number", "pass", "level")
            or c.name in said.columns
            or ({clean(w) for w in c.counts} <= {*said.labels})
        ]
        scored = [
            c
            for c in scored
            if c.kind != "number" or not _is_count(c, self.rows) or c.name in said.columns
        ]
        told = {
            said.mapping.get("score"),
            said.mapping.get("vote"),
            *said.judges,
            *said.runs,
            *said.metrics,
        } - {None}
        gold = [
            c
            for c in scored
            if c.name == said.mapping.get("gold") or ("gold" in c.who and c.name not in told)
        ]
        people = [
            c
            for c in scored
            if c not in gold
            and (c.name in said.people or ("person" in c.who and c.name not in told))
        ]
        people = self._without_totals(people, gold)
        judges = [
            c
            for c in scored
            if c not in gold and c not in people and (c.name in told or "judge" in c.who)
        ]
        taken = {c.name for c in (*gold, *people, *judges)} | out.roles.taken
        named = [c for c in scored if c.name not in taken and c.what & {"score", "pass", "verdict"}]
        if exact := [c for c in named if c.name in CANONICAL]:
            named = exact
        rest = [
            c
            for c in scored
            if c.name not in taken and c not in named and not c.what - {"aggregate"} and not c.who
        ]
        mates = [
            c for c in rest if any(c.stem and c.stem == p.stem for p in (*people, *judges, *gold))
        ]
        rest = [c for c in rest if c not in mates]
        # `0` and `1` with another name are one judgement said twice, if each says the other.
        main = self._once([*judges, *mates, *(named if not judges or mates else [])])
        if judges and not mates and named:
            rest = [*rest, *(c for c in named if "verdict" in c.what or "score" in c.what)]
        beside = out.roles.has("response", "prompt") or "judge" in of
        if main and not judges and not mates and beside and not exact:
            main += [c for c in rest if c.kind == "number" and _is_rating(c)]
            rest = [c for c in rest if c not in main]
        if not main and not people:
            if any(c.kind == "number" for c in rest):
                rest = [c for c in rest if c.kind == "number"]
            if rest and (of.get("judge") or beside) and all(_on_a_scale(c) for c in rest):
                out.form = "scores"
                judged = "judge" in of and "person" not in of
                names = [c.name for c in rest]
                out.questions.append(ask.who(names, (), metrics=True, judge=judged))
                main, rest = rest, []
            else:
                if gold:
                    self._refuse(
                        f"{listed(c.name for c in gold)} holds gold, and no column scores."
                    )
                return False
        if (
            not out.roles.has("judge", "person", "rater_type")
            and not judges
            and not people
            and not told
        ):
            lone = [c for c in main if c.kind == "number" and not _on_a_scale(c)]
            unnamed = not beside and all(not c.what for c in main)
            # A file's name is a judge's only where one column is called a score.
            several = len(main) > 1 and "judge" not in who_says(self.source)
            if lone or unnamed or several or all(_is_label(c) for c in main):
                out.questions.append(ask.who([c.name for c in main], (), metrics=True))
        out.form = "scores"
        self._settle_gold(gold)
        metrics = {c.stem for c in main} if len(main) > 1 else set()
        apart = self._apart(main)
        by_metric = len(main) > 1 and len(metrics) == len(main) and not said.judges and not apart
        if said.metrics:
            by_metric = True
        if (
            len(main) > 1
            and not by_metric
            and not said.judges
            and not said.runs
            and not all("judge" in c.who for c in main)
        ):
            out.questions.append(ask.two_columns([c.name for c in main]))
        for i, column in enumerate(main):
            metric = " ".join(column.stem) if (by_metric or _names_harm(column)) else ""
            if by_metric and not metric:
                metric = column.name
            if by_metric or len(main) == 1:
                rater = self._rater(column) if len(main) == 1 else self._rater()
            else:
                rater = self._rater() if said.runs else _own_name(column)
            whose: Literal["judge", "person"] = "judge"
            if (
                "judge" not in of
                and "person" in of
                and "judge" not in column.who
                and not people
                and column.name not in told
            ):
                whose, rater = "person", ""
            out.judgements.append(
                Judgement(column, whose, rater, run=i if said.runs else None, metric=metric)
            )
            out.roles.take(column, _why_score(column, by_metric))
        judged = {each.metric for each in out.judgements}
        by_name = len(people) == 1 or (not main and len({c.stem for c in people}) == len(people))
        by_name = by_name and all(self._named_people(column) for column in people)
        for column in people:
            metric = " ".join(column.stem)
            if metric not in judged:
                if len(judged) > 1 and column.name not in said.people:
                    out.questions.append(ask.who([column.name], (), metrics=False))
                alone = not main and len(people) == 1
                metric = next(iter(judged)) if len(judged) == 1 else "" if alone else metric
            rater = "" if by_name else column.name
            out.judgements.append(Judgement(column, "person", rater, metric=metric))
            out.roles.take(column, _why_person(column, metric, column.name in said.people))
        scales = frozenset().union(
            *(c.numbers.keys() for c in (*main, *people) if c.kind == "number")
        )
        alike = [
            c
            for c in rest
            if c.kind == "number"
            and c.distinct >= 2
            and main
            and main[0].kind == "number"
            and (set(c.numbers) <= scales or _within(c, main[0]))
        ]
        alike += [
            c for c in rest if c.kind in ("pass", "level") and any(m.kind == c.kind for m in main)
        ]
        alike = [c for c in alike if not (c.what - {"score", "verdict"})]
        if alike and not any(q.about == "who" for q in out.questions):
            out.questions.append(
                ask.who(
                    [c.name for c in alike], [c.name for c in main or people], metrics=bool(main)
                )
            )
        self._grades([*main, *people, *gold], main)
        return True

    def _apart(self, main: list[Column]) -> bool:
        return len(main) == 2 and differ_in_one(*main) is not None and two_sides(*main) is not None

    def _once(self, main: list[Column]) -> list[Column]:
        """Columns without those that say again what another says."""
        kept: list[Column] = []
        for column in sorted(main, key=lambda c: ("score" not in c.what, c.at)):
            twin = next(
                (
                    k
                    for k in kept
                    if k.stem == column.stem
                    and k.who == column.who
                    and repeats([k, column])
                    == max(k.distinct, column.distinct)
                    == min(k.distinct, column.distinct)
                    and k.kind != column.kind
                ),
                None,
            )
            if twin is not None:
                self.out.roles.take(column, f"says what '{twin.name}' says: not used")
            else:
                kept.append(column)
        return sorted(kept, key=lambda c: c.at)

    def _grades(self, columns: list[Column], main: list[Column]) -> None:
        """What words of grades mean, and which are unknown."""
        out, said = self.out, self.said
        worth = {"pass": 1.0, "fail": 0.0}
        out.grades = {clean(w): worth.get(m, number(m)) for w, m in said.labels.items()}
        for column in columns:
            reads = {"number": number, "pass": grade, "level": level}.get(column.kind)
            unread = Counter(
                {
                    c: n
                    for c, n in column.counts.items()
                    if (reads is None or reads(c) is None) and clean(c) not in out.grades
                }
            )
            if unread and len(unread) == column.distinct == 2:
                out.questions.append(ask.two_words(sorted(unread), [column.name]))
            elif unread:
                words = ", ".join(f"'{w[:40]}' in {n:,} rows" for w, n in unread.most_common(5))
                share = unread.total() / column.filled
                whose = "no score of the judge" if column in main else "no label"
                if share > UNREAD and column in main:
                    out.questions.append(ask.unread(column.name, unread.most_common(), grades=True))
                else:
                    out.notes.append(f"'{column.name}': {words}: not read, {whose}.")

    def _scales(self) -> None:
        """Numbers far beyond the scale of the others, and metrics of which less is better."""
        out = self.out
        for each in out.judgements:
            if each.column.kind == "number":
                odd = _outliers(each.column)
                if odd:
                    out.outliers[each.column.name] = frozenset(odd)
                for value in sorted(odd):
                    rows = [
                        i + 1
                        for i, cell in enumerate(each.column.cells)
                        if cell and number(cell) == value
                    ]
                    others = [v for v in each.column.numbers if v not in odd]
                    out.notes.append(
                        f"Row {rows[0]}: {value:g} in '{each.column.name}', others "
                        f"{min(others):g} to "
                        f"{max(others):g}: left out."
                    )
        out.lower_is_better = tuple(
            dict.fromkeys(
                j.metric for j in out.judgements if j.metric and set(tokens(j.metric)) & HARM
            )
        )

    # -- items, orders -------------------------------------------------------------------------

    def _items(self) -> None:
        """What an item is: the fewest values that tell rows apart beside what explains them."""
        out, said = self.out, self.said
        of = out.roles.of
        judged = {each.column.name for each in out.judgements}
        explained = [
            of[r]
            for r in ("judge", "person", "metric", "run", "position", "model", "model_a", "model_b")
            if r in of
        ]
        explained += [self.by[name] for name in ("perturbation",) if name in self.by]
        if said.version in self.by:
            out.version = self.by[said.version]
            out.roles.why[out.version.name] = "a version of the judge, as you said"
            explained.append(out.version)
        texts = [of[r] for r in ("response",) if r in of]
        if "item_id" in of:
            ids = [of["item_id"]]
        else:
            ids = [
                c
                for c in (*self.columns,)
                if "item" in c.what
                and not c.what & {"verdict", "score", "time", "book"}
                and not c.who
                and c.kind != "empty"
                and c.name not in out.roles.taken
                and c.name not in judged
                and c.filled >= 0.95 * self.rows
                and c.kind != "choice"
                and c.name not in said.unused
            ]
            if any(not c.is_key or c.distinct > 12 for c in ids):
                ids = [c for c in ids if not c.is_key or c.distinct > 12]
            ids += [
                c
                for c in self.columns
                if c.is_key and c not in ids and c.name not in out.roles.taken and c.distinct > 12
            ]
        keyed = self._explain_keys(ids, explained)
        explained += keyed
        whole = [c for c in ids if repeats([c, *explained]) == self.rows]
        if said.unit == "rows":
            out.item_why = "each row is an item of its own, as you said"
            return
        if whole:
            item = min(whole, key=lambda c: (c.distinct, c.at))
            times = Counter(item.counts.values()).most_common(1)[0][0]
            out.item = item
            out.item_why = (
                f"{item.distinct:,} items ('{item.name}': {times} row{'s' * (times > 1)} each)"
            )
        elif ids:
            item = max(
                ids,
                key=lambda c: (
                    c.name == "item_id",
                    c.filled >= self.rows,
                    -c.at if c.distinct > 1 else -999,
                ),
            )
            out.item = item
            self._repeated(item, explained, texts, judged)
        elif (
            "prompt" in of
            and of["prompt"].distinct > 1
            and of["prompt"].distinct < self.rows
            and out.form == "votes"
        ):
            out.item = of["prompt"]
            out.item_why = f"{out.item.distinct:,} items by '{out.item.name}'"
            self._repeated(out.item, explained, texts, judged)
        else:
            out.item_why = f"no column names the items, so each of {self.rows:,} rows is one"
            self._structural(explained, judged)
        if out.item is not None:
            out.roles.take(out.item, f"{out.item.distinct:,} values: the items")
            self._given_once(out.item)

    def _explain_keys(self, ids: list[Column], explained: list[Column]) -> list[Column]:
        """Keys of objects that complete the key of a row: a judge each, if none is named."""
        out = self.out
        found = []
        for column in self.columns:
            if (
                not column.is_key
                or column.name in out.roles.taken
                or not 2 <= column.distinct <= 12
                or column in ids
            ):
                continue
            if (
                "judge" not in out.roles.of
                and out.form == "votes"
                and any(repeats([c, *explained, column]) > repeats([c, *explained]) for c in ids)
            ):
                out.roles.give(
                    "judge", column, f"{column.distinct} keys, each with every item: who judged"
                )
                for each in out.judgements:
                    if each.whose == "judge":
                        each.rater = ""
                found.append(column)
        return found

    def _repeated(
        self, item: Column, explained: list[Column], texts: list[Column], judged: set[str]
    ) -> None:
        """Rows of one key: runs, if gold and text agree; else asked."""
        out, said, of = self.out, self.said, self.out.roles.of
        key = [item, *explained]
        times = max(Counter(zip(*(c.cells for c in key), strict=True)).values())
        out.item_why = f"{item.distinct:,} items ('{item.name}', up to {times} rows each)"
        if said.unit == "runs":
            out.runs = True
            return
        others = [
            c
            for c in self.columns
            if (c.name not in out.roles.taken or c is of.get("prompt"))
            and c.name not in judged
            and c is not item
            and 2 <= c.distinct <= 20
            and is_few(c, self.rows)
            and c.filled == self.rows
            and not c.what & {"book", "time"}
            and repeats([*key, c]) == self.rows
        ]
        if others:
            other = others[0]
            out.questions.append(ask.completes(other.name, list(other.counts), item.name))
            return
        gold = [out.gold] if out.gold else []
        people = [j.column for j in out.judgements if j.whose == "person" and j.rater]
        answers = texts or [
            of[r] for r in ("response_a", "response_b") if r in of
        ]
        same = all(constant_in(c, item) for c in (*gold, *people, *answers)) and bool(
            gold or people or answers
        )
        if same:
            out.runs = True
            named = gold or people or answers
            out.item_why += f": runs, as '{named[0].name}' is the same in each"
        else:
            differ = not all(constant_in(c, item) for c in answers)
            out.questions.append(ask.items(item.name, times, answers_differ=differ))

    def _structural(self, explained: list[Column], judged: set[str]) -> None:
        """A4 without a named id: a column that returns equally often may be the item."""
        out = self.out
        for column in self.columns:
            if (
                column.name in out.roles.taken
                or column.name in judged
                or column.kind not in ("short", "number")
            ):
                continue
            times = set(column.counts.values())
            if (
                column.filled == self.rows
                and len(times) == 1
                and times != {1}
                and column.distinct >= 5
                and not column.what
            ):
                out.questions.append(
                    ask.Asked(
                        about="items",
                        text=f"'{column.name}' has {column.distinct:,} values that return "
                        f"{times.pop()} times each: are they the items?",
                        choices=(
                            (f"--map item_id={column.name}", "yes"),
                            ("--unit rows", "no, each row is an item"),
                        ),
                    )
                )
                return

    def _given_once(self, item: Column) -> None:
        """A8: a person's number that never differs between the answers of an item."""
        out = self.out
        if out.form != "scores" or out.runs or not out.roles.has("model", "response"):
            return
        answer = out.roles.of.get("response") or out.roles.of["model"]
        if constant_in(answer, item) or item.distinct < 5 or item.distinct == self.rows:
            return
        for each in out.judgements:
            if (
                each.whose == "person"
                and each.column.name not in self.said.people
                and each.column.distinct > 1
            ):
                judges = [j.column for j in out.judgements if j.whose == "judge"]
                if constant_in(each.column, item) and not any(constant_in(c, item) for c in judges):
                    out.questions.append(ask.given_once(each.column.name, item.name))

    def _status(self) -> None:
        of = self.out.roles.of
        if "rater_type" in of and not any(j.whose == "judge" for j in self.out.judgements):
            self.out.roles.of.pop("rater_type", None)

    def _orders(self) -> None:
        """What verdicts name where answers are shown turned: gold may decide, consistency never."""
        out, said = self.out, self.said
        position = out.roles.of.get("position")
        if position is not None and not any(j.order for j in out.judgements):
            words = {cell: said.position[cell] for cell in position.counts if cell in said.position}
            orders = words if len(words) == position.distinct else order_of(position)
            if orders is None:
                out.questions.append(ask.positions(position.name, sorted(position.counts)))
            out.orders = orders or {}
        turned = [j for j in out.judgements if j.order == "ba"]
        if position is None and not turned:
            return
        if said.refers:
            out.slots = said.refers == "slot"
            return
        if (
            position is not None
            and not turned
            and position.name == "position"
            and "vote" in self.by
        ):
            # The canonical columns: labels are by the answers' own names.
            return
        if out.by_name or any(self._by_header(j.column) for j in out.judgements):
            return
        if by_place := [j.column.name for j in turned if j.column.name in self.turned]:
            # Whoever turned them beside knew that they name a place.
            out.slots = True
            out.notes.append(f"{listed(by_place)} names answers by their place: a column turns it.")
            return
        pairs = []
        if out.gold is not None:
            shown = position.cells if position is not None and not turned else ["ba"] * self.rows
            orders = out.orders if position is not None and not turned else {"ba": "ba"}
            for each in turned or [j for j in out.judgements if j.whose == "judge"]:
                for cell, gold, place in zip(each.column.cells, out.gold.cells, shown, strict=True):
                    if cell and gold and place and orders.get(place) == "ba":
                        vote, right = out.vote(cell), out.vote(gold)
                        if vote and right:
                            pairs.append(vote == right)
        own = sum(pairs)
        if len(pairs) >= CLEAR and abs(2 * own - len(pairs)) > 3 * sqrt(len(pairs)):
            out.slots = 2 * own < len(pairs)
            by = "place shown" if out.slots else "own name"
            out.notes.append(
                f"Labels of answers shown turned are by {by}: so read, "
                f"{max(own, len(pairs) - own)} of "
                f"{len(pairs)} agree with gold, the other way {min(own, len(pairs) - own)}."
            )
            return
        plain = next((j.column.name for j in out.judgements if j.order == "ab"), "")
        name = turned[0].column.name if turned else out.judgements[0].column.name
        out.questions.append(ask.refers(name, plain))

    # -- what it is ----------------------------------------------------------------------------

    def _say_what_it_is(self) -> None:
        of = self.out.roles.of
        texts = [c.name for c in self.columns if c.kind == "text"]
        if {"response", "response_a"} & of.keys() or len(texts) >= 2:
            why = (
                "It holds items to judge, and no judgement: `collect` asks a judge, `label` people."
            )
        elif texts:
            why = f"It holds texts ({listed(texts[:3])}) and no verdict or score."
        else:
            why = "No column holds verdicts or scores that two things speak for."
        names = listed(c.name for c in self.columns[:12])
        self._refuse(
            f"{why} Columns: {names}. Name one with --map vote=COLUMN or --map score=COLUMN."
        )

    def _listed(self) -> Plan:
        """The plan with every column, its role and why."""
        out = self.out
        roles = {column.name: role for role, column in out.roles.of.items()}
        for each in out.judgements:
            roles[each.column.name] = "judge's" if each.whose == "judge" else "person's"
        if out.gold is not None:
            roles[out.gold.name] = "gold"
        if out.item is not None:
            roles[out.item.name] = "item"
        out.columns = [
            PlannedColumn(
                name=c.name,
                kind=c.kind,
                distinct=c.distinct,
                role=roles.get(c.name, "not used"),
                why=out.roles.why.get(c.name, f"{c.kind}, {c.distinct:,} values"),
            )
            for c in self.columns
        ]
        return out


_HARMFUL = (
    "tables",
    "labels",
    "two columns",
    "who",
    "claim",
    "position",
    "refers",
    "items",
    "once",
    "words",
)


def _most_harmful(questions: list[Asked]) -> list[Asked]:
    return sorted(questions, key=lambda q: _HARMFUL.index(q.about))[:MOST_QUESTIONS]


_GENERIC = frozenset().union(*WHO.values()) - frozenset(
    [
        "gpt",
        "chatgpt",
        "claude",
        "gemini",
        "llama",
        "mistral",
        "qwen",
        "deepseek",
        "gemma",
        "mixtral",
    ]
)


def _is_label(column: Column) -> bool:
    """Whether a name says no more than that it is a label, which is anybody's."""
    return bool(column.tokens) and set(column.tokens) <= LABELS


def _turns(column: Column, other: Column) -> bool:
    """Whether two columns never agree: A where the other says B, and ties alone in common."""
    pairs = [
        (side(one), side(two))
        for one, two in zip(column.cells, other.cells, strict=True)
        if one is not None and two is not None
    ]
    sides = [one for one, two in pairs if one and two]
    return (
        len(sides) >= CLEAR // 2
        and len(set(sides)) == 2
        and all(one is not None and two is not None and one == -two for one, two in pairs)
    )


def _is_verdict(word: str) -> str:
    """Which verdict a name is, if it is a word of one alone: a side, or a tie."""
    told = side(word)
    return "" if told is None or len(tokens(word)) != 1 else f"side {told}"


def _tells_name(column: Column) -> bool:
    """Whether the name of a column names a judge, and not only that there is one."""
    return bool(
        {
            "gpt",
            "chatgpt",
            "claude",
            "gemini",
            "llama",
            "mistral",
            "qwen",
            "deepseek",
            "gemma",
            "mixtral",
        }
        & set(column.tokens)
    )


def _own_name(column: Column) -> str:
    """Name of the rater of a column: that of the column without the word for what it says."""
    words = [w for w in column.name.replace("_", " ").split() if not ({*tokens(w)} & _SAYS)]
    return " ".join(words) or column.name


_SAYS = frozenset(
    ["verdict", "vote", "score", "scores", "rating", "winner", "label", "urteil", "note", "passed"]
)


def _names_harm(column: Column) -> bool:
    return bool(set(column.stem) & HARM)


def _is_rating(column: Column) -> bool:
    """Whether numbers are those of a usual scale: 0 or 1 up to 1 to 5, 7 or 10, or shares."""
    low, high = min(column.numbers), max(column.numbers)
    whole = low in (0, 1) and high in (1, 2, 3, 4, 5, 7, 10) and column.distinct <= 11
    return whole or (low >= 0 and high <= 1)


def _on_a_scale(column: Column) -> bool:
    """Whether numbers look like points of a scale."""
    if column.kind != "number":
        return column.kind in ("pass", "level")
    low, high = min(column.numbers), max(column.numbers)
    whole = all(value.is_integer() for value in column.numbers)
    return _is_rating(column) or (low >= 0 and (5 < high <= 100 or (whole and high <= 5)))


def _within(column: Column, other: Column) -> bool:
    low, high = min(other.numbers), max(other.numbers)
    return (
        low >= 0
        and low - 1 <= min(column.numbers)
        and max(column.numbers) <= high + 1
        and column.distinct <= 11
    )


def _is_count(column: Column, rows: int) -> bool:
    """Whether numbers number the rows: all different and whole."""
    return (
        rows >= 12
        and column.distinct == rows
        and all(value.is_integer() for value in column.numbers)
    )


def _outliers(column: Column) -> list[float]:
    """Values of at most 2 % of the rows beyond the scale of the others by more than its width."""
    values = sorted(column.numbers)
    total = sum(column.numbers.values())
    for cut in range(1, min(3, len(values) - 2) + 1):
        low, high = values[0], values[-cut - 1]
        odd = values[-cut:]
        if (
            high > low
            and odd[0] - high > high - low
            and sum(column.numbers[v] for v in odd) <= 0.02 * total
        ):
            return odd
    return []


def _why_score(column: Column, by_metric: bool) -> str:
    said = {"number": "numbers", "pass": "pass and fail", "level": "grades"}.get(
        column.kind, "values"
    )
    whose = ", and its name says a judge" if "judge" in column.who else ""
    return f"{said}{whose}{': a metric' if by_metric else ''}"


def _why_person(column: Column, metric: str, said: bool) -> str:
    of = f" of {metric}" if metric else ""
    return f"a person's{of}, as you said" if said else f"a person's{of}, by its name"
