"""Plans of the tables of a file, and when one may be taken unasked.

A plan is admitted only if every judgement has two kinds of evidence (its values, what stands
beside it, its name), its rater is said by something, no other column has the same claim, its rows
are told apart, and its words are known. Else the plan holds the questions that are open, or says
what the table is instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import questions as ask
from .facts import Column
from .items import Items
from .mapping import Said
from .plan import Plan, PlannedColumn
from .questions import Asked, listed
from .roles import find_roles, may_judge
from .scores import Scores
from .verdicts import Verdicts
from .walk import Table
from .words import clean

MOST_QUESTIONS = 2


def make_plan(tables: Sequence[Table], source: str, said: Said | None = None) -> Plan:
    """The plan of the only table of a file that holds judgements.

    said : what the owner of the file decided.  source : name of the file without its ending.
    """
    said = said or Said()
    tables = [table for table in tables if table.rows and table.columns]
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


class _Planner(Verdicts, Scores, Items):
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
        out.roles = find_roles([c for c in open_ if c.name not in asked], self.constants, self.rows)
        for role, name in said.mapping.items():
            if name in self.by and role not in ("vote", "score", "gold"):
                out.roles.of[role] = self.by[name]
                out.roles.take(self.by[name], "as you said")
        candidates = [
            each
            for each in open_
            if (each.name in asked and each.name not in out.roles.taken)
            or (each.name not in out.roles.taken and may_judge(each) and each.kind != "empty")
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
            self._items()
            self._status()
            if out.form == "votes":
                self._orders()
            else:
                self._scales()
        elif not out.refusal:
            self._say_what_it_is()
        out.questions = _most_harmful(out.questions)
        return self._listed()

    def _results(self, columns: Sequence[Column]) -> None:
        """A table whose numbers are statistics, or whose columns are its keys, holds results."""
        numbers = [c for c in columns if c.kind == "number" and "item" not in c.what]
        statistics = [c for c in numbers if "aggregate" in c.what]
        if len(numbers) >= 3 and 2 * len(statistics) >= len(numbers):
            self._refuse(
                f"It is a table of results ({listed(c.name for c in statistics[:4])}): each row "
                "sums up many judgements. The judgements themselves are needed, a row each."
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

    def _status(self) -> None:
        of = self.out.roles.of
        if "rater_type" in of and not any(j.whose == "judge" for j in self.out.judgements):
            self.out.roles.of.pop("rater_type", None)

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
