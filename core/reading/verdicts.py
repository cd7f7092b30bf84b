"""Which columns are verdicts between two answers, whose they are and what their words name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Literal

from . import questions as ask
from .facts import Column, codes, differ_in_one, side
from .plan import CANONICAL, UNREAD, Draft, Judgement, own_name
from .questions import listed
from .roles import by_header, clear_order, order_of, two_sides
from .words import TIES, clean

CLEAR = 20
"""Fewest rows in which gold may decide what a label names."""


class Verdicts(Draft):
    """The part of a plan that is about verdicts."""

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
        if column.name in self.alike or column.name in self.as_gold:
            return True
        if column.kind == "number" and column.coded:
            # One number in every row is no side of two, unless another column like it has both.
            alone = column.distinct < 2 and column.name not in CANONICAL
            if alone and not any(c.coded > column.coded for c in self.columns if _alike(column, c)):
                return False
            if any(c.kind == "pass" and codes(column, c) for c in self.columns):
                return False
            return (
                bool({"verdict"} & column.what or "gold" in column.who)
                and not {"score", "pass"} & column.what
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
        votes = self._beside_gold(self._without_restated(votes))
        gold, people, judges = self._whose(votes, told)
        if nameless := self._nameless(judges):
            like = [c.name for c in judges if c not in nameless]
            out.questions.append(ask.who([c.name for c in nameless], like, metrics=False))
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
        main, people = self._of_raters(main, people)
        if not main and not people:
            out.questions.append(ask.who([c.name for c in rest], (), metrics=False))
            main, rest = rest, []
        elif self._anybodys(main) and not people and not gold:
            out.questions.append(ask.who([c.name for c in main], (), metrics=False))
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

    def _without_restated(self, votes: list[Column]) -> list[Column]:
        """Verdicts without those that say again what another says: turned, or by a name."""
        kept: list[Column] = []
        for column in sorted(votes, key=lambda c: c.kind != "choice"):
            twin = next((each for each in kept if _turns(column, each)), None)
            again = next((each for each in kept if self._names_again(column, each)), None)
            if column.name in self.said.columns or (twin is None and again is None):
                kept.append(column)
            elif twin is not None:
                self.out.roles.take(column, f"says what '{twin.name}' says, turned: not used")
                self.turned.add(twin.name)
            elif again is not None:
                self.out.roles.take(column, f"names what '{again.name}' says: not used")
        return sorted(kept, key=lambda c: c.at)

    def _beside_gold(self, votes: list[Column]) -> list[Column]:
        """Verdicts without those that say in every row what gold says, in other words than it, if
        others are left, and without codes of what another says in words.
        """
        said = {c.name: self._said_by(c) for c in votes}
        gold = [c for c in votes if "gold" in c.who]
        free = [c for c in votes if c not in gold and c.name not in self.said.columns]
        copies = [
            c
            for c in free
            if any(
                not c.folded & g.folded and _say_the_same(said[c.name], said[g.name]) for g in gold
            )
        ]
        if len(copies) < len(free):
            for column in copies:
                self.out.roles.take(column, "says in every row what gold says: not used")
        else:
            copies = []
        coded = [c for c in free if c not in copies and c.kind == "number"]
        words = [c for c in votes if c.kind == "short" and c not in gold]
        for column in coded:
            again = next((w for w in words if _say_the_same(said[column.name], said[w.name])), None)
            if again is not None:
                self.out.roles.take(column, f"codes what '{again.name}' says: not used")
                copies.append(column)
        return [c for c in votes if c not in copies]

    def _said_by(self, column: Column) -> list[object]:
        """What a verdict says in each row: a side where it can be read, else the cell."""
        of = self.out.roles.of
        if column.kind != "choice" and self._names_model(column):
            rows = zip(column.cells, of["model_a"].cells, of["model_b"].cells, strict=True)
            return [
                cell
                and (
                    1
                    if clean(cell) == clean(a or "")
                    else -1
                    if clean(cell) == clean(b or "")
                    else 0
                )
                for cell, a, b in rows
            ]
        return [
            cell and (side(cell) if column.kind == "choice" else clean(cell))
            for cell in column.cells
        ]

    def _names_again(self, column: Column, other: Column) -> bool:
        """Whether a column names the model that another says by its side, in every row, and both
        are called alike.
        """
        of = self.out.roles.of
        if other.kind != "choice" or column.kind == "choice" or column.who != other.who:
            return False
        if not {*column.tokens} & {*other.tokens} or not self._names_model(column):
            return False
        rows = zip(column.cells, other.cells, of["model_a"].cells, of["model_b"].cells, strict=True)
        told = [
            (cell, {1: a, -1: b}.get(side(word) or 0)) for cell, word, a, b in rows if cell and word
        ]
        return len(told) >= CLEAR // 2 and all(cell == named for cell, named in told if named)

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
            rater = self._rater(column) if len(main) == 1 else own_name(column)
            whose: Literal["judge", "person"] = "judge"
            if (
                len(main) == 1
                and "judge" not in of
                and "person" in of
                and "rater_type" not in of
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
            if meaning is not None:
                numbered = [c.name for c in columns if c.kind == "number"]
                sides = {1: "the first is better", -1: "the second is better", 0: "a tie"}
                each = (f"{value:g} {sides[vote]}" for value, vote in meaning.items())
                out.notes.append(f"Numbers of {listed(numbered)} are read so: {', '.join(each)}.")
            for value, vote in (meaning or {}).items():
                out.sides |= dict.fromkeys((f"{value:g}", f"{value:.1f}"), vote)
                if value > 0:
                    out.sides[f"+{value:g}"] = vote
        for column in columns:
            out.sides = {**column.named_sides, **out.sides}
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
                whole = len(unread) == 2 and {clean(c) for c in column.counts} - TIES == {
                    clean(c) for c in unread
                }
                out.questions.append(
                    ask.two_words(sorted(unread), column.name)
                    if whole
                    else ask.unread(column.name, unread.most_common())
                )
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

    def _shown_turned(self, position: Column) -> bool:
        """Whether the two columns of models are exchanged where answers were shown turned."""
        of = self.out.roles.of
        if not {"model_a", "model_b"} <= of.keys():
            return False
        pairs: dict[str, set[tuple[str, str]]] = {}
        for order, a, b in zip(
            position.cells, of["model_a"].cells, of["model_b"].cells, strict=True
        ):
            if order and a and b:
                pairs.setdefault(order, set()).add((a, b))
        if len(pairs) != 2:
            return False
        one, other = pairs.values()
        return one == {(b, a) for a, b in other} and one != other

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
        if position is not None and not turned and self._shown_turned(position):
            # Its columns of models name who stood on which side, so labels need not be turned.
            out.orders = dict.fromkeys(out.orders, "ab")
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


def _alike(one: Column, other: Column) -> bool:
    return differ_in_one(one, other) is not None


def _say_the_same(one: list[object], other: list[object]) -> bool:
    """Whether what two columns say stands for each other, one to one, in rows enough to show it."""
    pairs = Counter(
        (x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None
    )
    lefts, rights = {x for x, _ in pairs}, {y for _, y in pairs}
    return pairs.total() >= CLEAR and len(pairs) == len(lefts) == len(rights) >= 2


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
