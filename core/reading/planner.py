"""Plans of the tables of a file, and when one may be taken unasked.

A plan is admitted only if every judgement has two kinds of evidence (its values, what stands
beside it, its name), its rater is said by something, no other column has the same claim, its rows
are told apart, and its words are known. Else the plan holds the questions that are open, or says
what the table is instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import questions as ask
from .facts import Column, differ_in_one, is_missing, number, side
from .items import Items
from .mapping import Said
from .plan import CANONICAL, Judgement, Plan, PlannedColumn, own_name
from .questions import SHOWN, Asked, listed
from .roles import NEVER, TELLING, find_roles, may_judge
from .scores import Scores
from .verdicts import CLEAR, Verdicts
from .walk import Table
from .words import ARTIFICIAL, HUMANS, SIDES, clean, tokens
from .words import what as what_says
from .words import who as who_says

MOST_QUESTIONS = 2
MOST_HEADS = 12
"""Most first words of names that may say who judged, or whose answer."""
LEVELS_OF_A_SCALE = 11
"""Most levels of a scale that people fill in; a statistic has nearly as many values as rows."""


def make_plan(tables: Sequence[Table], source: str, said: Said | None = None) -> Plan:
    """The plan of the only table of a file that holds judgements.

    said : what the owner of the file decided.  source : name of the file without its ending.
    """
    said = said or Said()
    tables = [table for table in tables if table.rows and table.columns]
    tables = [_stacked(table) if len(table.rows) > 1 else table for table in tables]
    if said.table is not None:
        tables = [table for table in tables if table.name == said.table]
    several = [table for table in tables if len(table.rows) > 1]
    plans = [_Planner(table, source, said).plan() for table in several or tables]
    # What a row inherits is read with its parent, and not again with each child.
    judging = [p for p in plans if p.form and not all(j.column.inherited for j in p.judgements)]
    if not judging:
        refused = [plan for plan in plans if plan.refusal]
        return max(
            refused,
            key=lambda plan: len(plan.table.rows if plan.table else ()),
            default=Plan(source=source, refusal="There is no table of judgements in it."),
        )
    if len(judging) > 1 and not any(plan.admitted for plan in judging):
        unread = listed(plan.table.name for plan in judging if plan.table)
        return Plan(
            source=source,
            table=judging[0].table,
            refusal=f"It holds several tables with what may be judgements ({unread}), and none can "
            "be read as it is. Give the one that is meant as a file, or name it with --file-table.",
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
        return _parted(table)
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


def _parted(table: Table) -> Table:
    """A table in which a first word parts columns of scores alike (`X Clarity`, `X Tone`,
    `Y Clarity`, `Y Tone`), with a row for each of these words; another one as it is.

    Whether a word says who judged or what was judged is not known, and asked.
    """
    split = [re.split(r"[ _.]+", name, maxsplit=1) for name in table.columns]
    at = {tuple(parts): i for i, parts in enumerate(split) if len(parts) == 2}
    scored: dict[str, set[str]] = {}
    for head, tail in at:
        told = head in SIDES or who_says(head) & {"person", "gold"} or what_says(head)
        if not (told or who_says(tail) or what_says(tail) - TELLING) and re.search(
            "[A-Za-z]", tail
        ):
            scored.setdefault(head, set()).add(tail)
    heads = _with_two_alike(scored)
    for head in heads:
        # Only where names part columns alike are cells looked at.
        scored[head] = {tail for tail in scored[head] if _are_numbers(table, at[head, tail])}
    heads = _with_two_alike({head: scored[head] for head in heads})
    if not heads:
        return table
    tails = [tail for head, tail in at if head == heads[0]]
    tails = [tail for tail in tails if all((head, tail) in at for head in heads)]
    parted = {at[head, tail] for head in heads for tail in tails}
    others = [i for i in range(len(split)) if i not in parted]
    key = "first word"
    if {key, *tails} & {table.columns[i] for i in others}:
        return table
    return Table(
        table.name,
        [*(table.columns[i] for i in others), key, *tails],
        [
            [*(row[i] for i in others), head, *(row[at[head, tail]] for tail in tails)]
            for row in table.rows
            for head in heads
        ],
        table.constants,
        {*table.keys, key},
        [*table.notes, f"{listed(heads)} begin the names of the same columns: a row each."],
        table.inherited,
    )


def _with_two_alike(tails: dict[str, set[str]]) -> list[str]:
    """Heads of at least two names, if two or more have at least two tails in common."""
    heads = [head for head, of in tails.items() if len(of) >= 2]
    alike = (
        1 < len(heads) <= MOST_HEADS and len(set.intersection(*(tails[head] for head in heads))) > 1
    )
    return heads if alike else []


def _are_numbers(table: Table, at: int) -> bool:
    cells = {str(row[at]) for row in table.rows if not is_missing(row[at])}
    return bool(cells) and all(number(cell) is not None for cell in cells)


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
        named = {*asked, said.version}
        out.roles = find_roles([c for c in open_ if c.name not in named], self.constants, self.rows)
        for role, name in said.mapping.items():
            if name in self.by and role not in ("vote", "score", "gold"):
                out.roles.of[role] = self.by[name]
                out.roles.take(self.by[name], "as you said")
        if not out.roles.has("model_a", "response_a"):
            for each in open_:
                each.kind = "level" if each.letters else each.kind
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
        # A judgement of the object that holds these rows is read with it, unless there is no other.
        own = [c for c in candidates if not c.inherited and c.what & TELLING]
        if own:
            candidates = [c for c in candidates if not c.inherited or c.who & {"person", "gold"}]
        self._results(open_)
        if out.refusal:
            return self._listed()
        if len(self.columns) == 1:
            return self._refuse(
                "It is one column: nothing says what the values belong to. Put the name of the "
                "item beside each."
            )
        self._one_of_several(open_)
        if out.refusal:
            return self._listed()
        self.alike = self._coded_alike(open_)
        self.as_gold = self._in_words_of_gold(open_)
        if self.out.refusal:
            return self._listed()
        candidates += [c for c in open_ if c.name in self.alike and c not in candidates]
        votes = [each for each in candidates if self._is_vote(each)]
        if all(c.kind == "number" for c in votes) and not out.roles.has("model_a", "response_a"):
            # Beside a judge's pass and fail of one answer 0 and 1 are fail and pass.
            graded = any(c.kind == "pass" and "judge" in c.who for c in candidates)
            flags = [c for c in votes if "judge" not in c.who and c.coded <= {0.0, 1.0}]
            votes = [c for c in votes if not (graded and c in flags)]
        self._judge_beside_models(votes)
        if not votes and self._preferences(candidates):
            pass
        elif self._votes(votes) or self._scores([each for each in candidates if each not in votes]):
            self._raters()
            self._constant()
            self._items()
            self._status()
            if out.form == "votes":
                self._orders()
            else:
                self._scales()
                self._systems()
        elif not out.refusal and not self._graded_alike(open_):
            self._say_what_it_is()
        out.questions = [] if out.refusal else _most_harmful(out.questions)
        return self._listed()

    def _graded_alike(self, columns: Sequence[Column]) -> bool:
        """Whether two or more columns pass and fail in the same words, whatever they are called:
        whose they are is asked.
        """
        free = [
            c
            for c in columns
            if c.kind in ("pass", "level") and c.distinct > 1 and not (c.is_key or c.what & NEVER)
        ]
        alike = [c for c in free if sum(c.folded == other.folded for other in free) > 1]
        if not alike or not self.out.roles.has("prompt", "response"):
            return False
        self.out.form = "scores"
        self.out.judgements = [Judgement(c, "judge", own_name(c)) for c in alike]
        self.out.questions.append(ask.who([c.name for c in alike], (), metrics=True))
        return True

    def _preferences(self, columns: Sequence[Column]) -> bool:
        """Whether two answers stand beside numbers of a verdict: how far one is preferred, and from
        which end of the scale on is asked.
        """
        numbered = [
            c
            for c in columns
            if c.kind == "number"
            and "verdict" in c.what
            and not {"score", "pass"} & c.what
            and 3 <= len(c.numbers) <= LEVELS_OF_A_SCALE
            and all(value.is_integer() for value in c.numbers)
        ]
        if not numbered or not self.out.roles.has("response_a", "model_a"):
            return False
        self.out.form = "votes"
        self.out.judgements = [Judgement(c, "judge", own_name(c)) for c in numbered]
        values = {int(value) for c in numbered for value in c.numbers}
        self.out.questions.append(ask.preferences([c.name for c in numbered], values))
        return True

    def _results(self, columns: Sequence[Column]) -> None:
        """A table whose numbers are statistics, or whose columns are its keys, holds results."""
        numbers = [
            c for c in columns if c.kind == "number" and "item" not in c.what and not c.inherited
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

    def _one_of_several(self, columns: Sequence[Column]) -> None:
        """A9: a verdict that names, in each row, the value of one of three or more columns."""
        short = [c for c in columns if c.kind == "short" and c.filled == self.rows]
        for verdict in [c for c in columns if "verdict" in c.what and c.kind in ("short", "text")]:
            named = [c for c in short if c is not verdict and {*verdict.counts} <= {*c.counts}]
            named = [c for c in named if any(differ_in_one(c, each) for each in named)]
            if len(named) < 3 or verdict.distinct < 3 or verdict.name in self.said.columns:
                continue
            rows = zip(verdict.cells, *(c.cells for c in named), strict=True)
            if all(cell is None or others.count(cell) == 1 for cell, *others in rows):
                self._refuse(
                    f"{listed([verdict.name])} names one of {listed(c.name for c in named)}: "
                    "picks of one of several, and no votes between two. Put the place of what was "
                    "picked, A, B and so on, into a column, and name it with --map "
                    "pick_slot=COLUMN gold_slot=COLUMN."
                )
                return

    def _judge_beside_models(self, votes: Sequence[Column]) -> None:
        """A third column of models beside the two that are compared names who judged."""
        of, taken = self.out.roles.of, self.said.mapping
        if not votes or not {"model_a", "model_b", "model"} <= of.keys():
            return
        third = of["model"]
        if "model" in taken or "judge" in of or self._names_model(third):
            return
        words = {word for cell in third.counts for word in tokens(cell)}
        if words & ARTIFICIAL:
            of["judge"] = of.pop("model")
            self.out.roles.why[third.name] = (
                f"{third.distinct} names of models beside the two that are compared: who judged"
            )

    def _in_words_of_gold(self, columns: Sequence[Column]) -> frozenset[str]:
        """Columns in the same words as gold, which are no known verdicts: two that are compared;
        more are categories.
        """
        short = [c for c in columns if c.kind == "short" and c.name not in self.said.columns]
        for gold in [c for c in short if "gold" in c.who and c.name not in self.out.roles.taken]:
            words = gold.folded & {clean(cell) for cell in gold.counts}
            alike = [c for c in short if c is not gold and c.folded and c.folded <= words]
            alike = [c for c in alike if 2 * len(c.folded) > len(words) and not c.is_key]
            if not alike or words <= {*self.said.labels} or self._by_header(gold):
                continue
            if len(words) == 2 and not self.out.roles.has("model_a"):
                return frozenset(c.name for c in (gold, *alike))
            if 3 <= len(words) <= SHOWN:
                self._refuse(
                    f"{listed([c.name for c in alike])} and {listed([gold.name])} name "
                    f"{len(words)} categories without an order ({listed(gold.counts)}). Verdicts "
                    "are sides of two, grades, or pass and fail: say which words pass and which "
                    "fail with --label-map WORD=pass WORD=fail."
                )
        return frozenset()

    def _raters(self) -> None:
        """Which raters of one column are people, where some are named as models are."""
        of, said = self.out.roles.of, self.said
        column = of.get("judge") or of.get("person")
        # Where people have a column of their own, each column says who its raters are.
        apart = {"judge", "person"} <= of.keys()
        if column is None or apart or any(each.rater for each in self.out.judgements):
            return
        raters = {*column.counts}
        if raters & {*said.people, *said.judges}:
            self.out.people = frozenset(raters & {*said.people} or raters - {*said.judges})
            return
        models = sorted(name for name in raters if {*tokens(name)} & ARTIFICIAL)
        # Who is called a person is one.
        called = {name for name in raters - {*models} if {*tokens(name)} & HUMANS}
        others = sorted(raters - {*models} - called)
        if called and len(called) < len(raters) and "rater_type" not in of:
            self.out.people = frozenset(called)
        told = "rater_type" in of or {*column.tokens} & {"judge", "judges"} or said.columns
        if models and others and not told:
            self.out.questions.append(ask.raters(column.name, models, others))

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

    def _status(self) -> None:
        of = self.out.roles.of
        if "rater_type" in of and not any(j.whose == "judge" for j in self.out.judgements):
            self.out.roles.of.pop("rater_type", None)

    def _say_what_it_is(self) -> None:
        of = self.out.roles.of
        texts = [c.name for c in self.columns if c.kind == "text"]
        if {"response", "response_a"} & of.keys() or len(texts) >= 2:
            why = (
                "It holds items to judge, and no judgement that two things speak for: `collect` "
                "asks a judge, `label` people."
            )
        elif texts:
            why = f"It holds texts ({listed(texts[:3])}) and no verdict or score."
        else:
            why = "No column holds verdicts or scores that two things speak for."
        names = listed(c.name for c in self.columns[:12])
        few = [
            c
            for c in self.columns
            if c.name not in self.out.roles.taken and c.kind in ("short", "number", "pass")
            if 2 <= c.distinct <= SHOWN and 3 * c.distinct <= c.filled
            if not (c.is_key or c.inherited)
        ]
        if few:
            why += (
                f" If {listed(c.name for c in few)} {'hold' if len(few) > 1 else 'holds'} verdicts "
                "or grades, say what their values mean with --label-map."
            )
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
    different = {question.text: question for question in reversed(questions)}.values()
    return sorted(different, key=lambda q: _HARMFUL.index(q.about))[:MOST_QUESTIONS]


def _is_verdict(word: str) -> str:
    """Which verdict a name is, if it is a word of one alone: a side, or a tie."""
    told = side(word)
    return "" if told is None or len(tokens(word)) != 1 else f"side {told}"
