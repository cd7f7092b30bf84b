"""Whatever writes to a store, in any order and by two people at once: it passes its own check, and
says what a plain model of dictionaries says, also after it is opened again.

Whoever adds a writer adds a rule.
"""

from __future__ import annotations

import csv
import io
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from core.errors import LabellingReplaced, UnknownName
from core.importers import read
from core.labelling.desk import Card, Desk, open_desk
from core.labelling.sheet import SHEET_PERSON, add_labels, write_sheet
from core.schema import Selection
from core.store import Store
from core.store.label_writing import forget_labels
from core.store.labelling import keep_rubric, label_plan, rubric

ITEMS = 8
PEOPLE = ("ann", "bob")
NAMES = ("d", "e")
Votes = dict[tuple[str, str], int]


class Modelled:
    """What a data set holds: votes and gold of files, labels, and the line that says what counts."""

    def __init__(self) -> None:
        self.votes: Votes = {}
        self.gold: dict[str, int] = {}
        self.labels: dict[tuple[str, str], int] = {}
        self.of_file: bool | None = None
        self.rubric: str | None = None

    def gold_of(self, item: str) -> int | None:
        """Gold of the file; else, where labelling began without any, what most labels say."""
        if item in self.gold or self.of_file:
            return self.gold.get(item)
        said = Counter(vote for (labelled, _), vote in self.labels.items() if labelled == item)
        most = [vote for vote, n in said.items() if n == max(said.values())]
        return None if not most else most[0] if len(most) == 1 else 0

    def rows(self) -> Counter[tuple[str, str, int, int | None]]:
        """Item, rater, vote and gold of each row."""
        every = [*self.votes.items(), *self.labels.items()]
        return Counter((item, who, vote, self.gold_of(item)) for (item, who), vote in every)


class EveryWriter(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="appellate-writers-"))
        self.path = self.folder / "votes.duckdb"
        self.model: dict[str, Modelled] = {}
        self.desks: dict[str, tuple[Desk, Card]] = {}
        self.store = Store.open(self.path)

    @initialize(people=st.booleans())
    def first_file(self, people: bool) -> None:
        self._load("d", people=people, flipped=frozenset(), mode="keep")

    def _file(self, votes: Votes) -> bytes:
        head = "item_id,judge,rater_type,vote,model_a,model_b,prompt,response_a,response_b\n"
        return (
            head
            + "".join(
                f"{item},{who},{'human' if who in PEOPLE else 'llm'},{vote},m,n,Ask {item}?,"
                f"a{item},b{item}\n"
                for (item, who), vote in votes.items()
            )
        ).encode()

    def _load(self, name: str, *, people: bool, flipped: frozenset[int], mode: str) -> None:
        given = {
            (f"i{k}", who): (1 if (k + len(who)) % 2 else -1) * (-1 if k in flipped else 1)
            for k in range(ITEMS)
            for who in ("gpt", "claude", *PEOPLE[:1] * people)
        }
        (reading,) = read([(f"{name}.csv", self._file(given))])
        self.store.load(reading, dataset=name, on_conflict=mode)  # type: ignore[arg-type]
        held = self.model.setdefault(name, Modelled()).votes
        for key, vote in given.items():
            if key not in held or mode == "replace":
                held[key] = vote

    @rule(
        name=st.sampled_from(NAMES),
        people=st.booleans(),
        flipped=st.frozensets(st.integers(0, ITEMS - 1), max_size=3),
        mode=st.sampled_from(("keep", "replace")),
    )
    def load(self, name: str, people: bool, flipped: frozenset[int], mode: str) -> None:
        self._load(name, people=people, flipped=flipped, mode=mode)

    @rule(
        data=st.data(),
        some=st.sets(st.integers(0, ITEMS - 1), min_size=1),
        vote=st.sampled_from((1, -1)),
        mode=st.sampled_from(("keep", "replace")),
    )
    def gold_file(self, data: st.DataObject, some: set[int], vote: int, mode: str) -> None:
        name = self._one(data)
        rows = "".join(f"i{k},m,n,{vote}\n" for k in sorted(some))
        (reading,) = read([("gold.csv", f"item_id,model_a,model_b,gold\n{rows}".encode())])
        self.store.load(reading, dataset=name, on_conflict=mode)  # type: ignore[arg-type]
        for k in some:
            if f"i{k}" not in self.model[name].gold or mode == "replace":
                self.model[name].gold[f"i{k}"] = vote

    def _one(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.model)))

    def _desk(self, name: str) -> Desk:
        desk = open_desk(self.store, name, seed=7)
        self.model[name].of_file = desk.plan.of_file
        return desk

    @staticmethod
    def _item(card: Card) -> str:
        assert card.prompt is not None
        return card.prompt.removeprefix("Ask ").removesuffix("?")

    def _said(self, name: str, person: str, card: Card, key: str) -> None:
        if card.again:
            return
        shown = {"1": 1, "2": -1, "0": 0, "b": 0, "x": None}[key]
        key_of = self._item(card), person
        if shown is None:
            self.model[name].labels.pop(key_of, None)
        else:
            self.model[name].labels[key_of] = -shown if card.swapped else shown

    @precondition(lambda self: self.model)
    @rule(
        data=st.data(),
        person=st.sampled_from(PEOPLE),
        key=st.sampled_from("120bx"),
        note=st.sampled_from(("", "ai3", "Ask i1?", "unclear")),
    )
    def label(self, data: st.DataObject, person: str, key: str, note: str) -> None:
        name = self._one(data)
        desk = self._desk(name)
        if cards := desk.cards(person):
            desk.answer(person, cards[0], key, note=note, tags=["tone"] if note else ())
            self._said(name, person, cards[0], key)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), person=st.sampled_from(PEOPLE), key=st.sampled_from("120x"))
    def label_anew(self, data: st.DataObject, person: str, key: str) -> None:
        name = self._one(data)
        desk = self._desk(name)
        card = desk.card(person, data.draw(st.integers(0, desk.size - 1)))
        desk.answer(person, card, key)
        self._said(name, person, card, key)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), person=st.sampled_from(PEOPLE))
    def skip(self, data: st.DataObject, person: str) -> None:
        desk = self._desk(self._one(data))
        if cards := [card for card in desk.cards(person) if not card.again]:
            desk.skip(person, cards[0])

    @precondition(lambda self: self.model)
    @rule(data=st.data(), person=st.sampled_from(PEOPLE))
    def undo(self, data: st.DataObject, person: str) -> None:
        name = self._one(data)
        desk = self._desk(name)
        place = desk.undo(person)
        if place is not None:
            self.model[name].labels.pop((self._item(desk.card(person, place)), person), None)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), person=st.sampled_from(PEOPLE))
    def leave_a_tab_open(self, data: st.DataObject, person: str) -> None:
        name = self._one(data)
        desk = self._desk(name)
        if cards := [card for card in desk.cards(person) if not card.again]:
            self.desks[f"{name} {person}"] = desk, cards[0]

    @precondition(lambda self: self.desks)
    @rule(data=st.data(), key=st.sampled_from("12x"))
    def answer_in_the_open_tab(self, data: st.DataObject, key: str) -> None:
        tab = data.draw(st.sampled_from(sorted(self.desks)))
        name, person = tab.split()
        desk, card = self.desks.pop(tab)
        desk.store = self.store
        plan = label_plan(self.store, name) if name in self.model else None
        try:
            desk.answer(person, card, key)
        except (LabellingReplaced, UnknownName):
            assert plan is None or plan.number != desk.plan.number
            return
        assert plan is not None
        assert plan.number == desk.plan.number
        self._said(name, person, card, key)

    @precondition(lambda self: self.model)
    @rule(
        data=st.data(),
        keys=st.lists(st.sampled_from(("1", "2", "0", "x", "")), min_size=3, max_size=3),
        note=st.sampled_from(("", "ai3", "ai3")),
    )
    def fill_a_sheet(self, data: st.DataObject, keys: list[str], note: str) -> None:
        name = self._one(data)
        desk = self._desk(name)
        rows = list(csv.DictReader(io.StringIO(write_sheet(desk, 3).removeprefix("\ufeff"))))
        if not rows or not any(keys):
            return
        places = range(len(rows))
        for row, key in zip(rows, keys, strict=False):
            row["label"] = key
            row["note"] = note if "note" in row else ""
        sheet = io.StringIO()
        writer = csv.DictWriter(sheet, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        if not any(keys[: len(rows)]):
            return
        add_labels(self.store, name, "sheet.csv", sheet.getvalue().encode())
        for row, key, place in zip(rows, keys, places, strict=False):
            if key:
                swapped = desk.session.swapped(SHEET_PERSON, place)
                card = desk.card(SHEET_PERSON, place)
                assert row["prompt"] == card.prompt
                assert swapped == card.swapped
                self._said(name, SHEET_PERSON, card, key)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        name = self._one(data)
        forget_labels(self.store, name)
        self.model[name].labels.clear()
        self.model[name].of_file = None

    @precondition(lambda self: self.model)
    @rule(data=st.data(), line=st.sampled_from((None, "Safe answers win.")))
    def say_what_counts(self, data: st.DataObject, line: str | None) -> None:
        name = self._one(data)
        keep_rubric(self.store, name, line)
        self.model[name].rubric = line

    @precondition(lambda self: len(self.model) == 1)
    @rule()
    def rename(self) -> None:
        (old,) = self.model
        (new,) = set(NAMES) - {old}
        self.store.rename_dataset(old, new)
        self.model[new] = self.model.pop(old)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = self._one(data)
        self.store.delete_dataset(name)
        del self.model[name]

    def check_invariants(self, *given: object, **more: object) -> None:
        """The store passes its own check and says what the model says; so it does opened again."""
        super().check_invariants(*given, **more)
        for again in (False, True):
            if again:
                self.store.close()
                self.store = Store.open(self.path)
            self.store.check()
            assert {each.name for each in self.store.datasets()} == set(self.model)
            for name, modelled in self.model.items():
                rows = self.store.export(Selection(datasets=(name,))).to_pylist()
                held = Counter(
                    (row["item_id"], row["judge"], row["vote"], row["gold"]) for row in rows
                )
                assert held == modelled.rows()
                asked = {f"Ask i{k}?" for k in range(ITEMS)}
                # A label has no prompt of its own.
                assert {row["prompt"] for row in rows} - {None} <= asked
                assert rubric(self.store, name) == modelled.rubric

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)


Short = EveryWriter.TestCase
Short.settings = settings(max_examples=8, stateful_step_count=12)


@pytest.mark.thorough
class TestLong(EveryWriter.TestCase):
    settings = settings(max_examples=60, stateful_step_count=50)
