"""Whatever writes single answers and their labels into a store, in any order: the store passes its
own check, and holds what a plain model of dictionaries holds, as `test_all_writers` asks of pairs.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from test_all_writers import LookedAt, Tab, sequences

from core.errors import AppellateError, NoUsableVotes
from core.importers import read
from core.labelling.desk import Card, open_desk
from core.labelling.sheet import join_sheet, write_sheet
from core.store import Store
from core.store.labelling import label_log

NAMES = ("d", "e")
ITEMS = tuple(f"i{k}" for k in range(20))
ITEM_OF = {f"answer {item}": item for item in ITEMS}
KEYS = {"p": 1.0, "f": 0.0, "x": None}

names = st.sampled_from(NAMES)
people = st.sampled_from(("ann", "bob"))
keys = st.sampled_from(tuple(KEYS))
notes = st.sampled_from(("", "ok", "answer i1"))
some_items = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=20, unique=True)


@dataclass
class Held:
    """What a data set should hold."""

    scores: dict[tuple[str, str], float] = field(default_factory=dict)
    gold: dict[str, float] = field(default_factory=dict)
    labels: dict[tuple[str, str], tuple[float, str] | None] = field(default_factory=dict)
    log: int = 0
    gold_before_labels: bool | None = None

    @property
    def items(self) -> set[str]:
        return {item for item, _ in self.scores}

    def gold_of(self, item: str) -> float | None:
        """A file's gold, else the mean of the labels; none where as many pass it as fail it."""
        if item in self.gold:
            return self.gold[item]
        said = [word[0] for (about, _), word in self.labels.items() if about == item and word]
        if not said or self.gold_before_labels or 2 * sum(said) == len(said):
            return None
        return sum(said) / len(said)


class ScoreWriters(LookedAt):
    """Every writer of a store of single answers and labels."""

    def __init__(self) -> None:
        super().__init__()
        self.tab: Tab | None = None

    def _read(self, head: list[str], rows: list[list]):
        out = io.StringIO(newline="")
        csv.writer(out).writerows([head, *rows])
        self.files += 1
        (reading,) = read([("scores.csv", (out.getvalue() + "\n" * self.files).encode())])
        assert reading.kind == "scores"
        return reading

    @rule(
        name=names,
        items=some_items,
        seed=st.integers(0, 3),
        gold=st.sampled_from((None, None, 1, 0)),
        person=st.booleans(),
        on_conflict=st.sampled_from(("keep", "replace")),
    )
    def load(self, name, items, seed, gold, person, on_conflict):
        head = [
            "item_id",
            "judge",
            "score",
            "rater_type",
            "response",
            *(["gold"] if gold is not None else []),
        ]
        rows, said = [], {}
        for item in items:
            for place, judge in enumerate(["gpt", "claude", *(["ann"] if person else [])]):
                said[item, judge] = float((seed + int(item[1:]) * (place + 1)) % 2)
                kind = "human" if judge == "ann" else "llm"
                row = [item, judge, int(said[item, judge]), kind, f"answer {item}"]
                rows.append([*row, *([gold] if gold is not None else [])])
        self.store.load(self._read(head, rows), dataset=name, on_conflict=on_conflict)
        held = self.held.setdefault(name, Held())
        for key, score in said.items():
            if key not in held.scores or on_conflict == "replace":
                held.scores[key] = score
        for item in items if gold is not None else ():
            if item not in held.gold or on_conflict == "replace":
                held.gold[item] = float(gold)

    @precondition(lambda self: self.held)
    @rule(name=names, person=people)
    def open_tab(self, name, person):
        held = self.held.get(name)
        if held is None:
            return
        desk = open_desk(self.store, name, kind="scores", seed=self.files)
        if held.gold_before_labels is None:
            held.gold_before_labels = bool(held.gold)
        order = self.store.rows(
            """select o.place, i.name from label_order o join items i on i.id = o.item
               join datasets d on d.id = o.dataset where d.name = ?""",
            [name],
        )
        cards = desk.cards(person)
        self.tab = Tab(desk, person, cards[0] if cards else None, held, name, dict(order))

    def _press(self, press) -> bool:
        tab = self.tab
        if self.held.get(tab.name) is tab.held:
            press(tab)
            tab.held.log += 1
            return True
        with pytest.raises(AppellateError):
            press(tab)
        self.tab = None
        return False

    def _say(self, card: Card, key: str, note: str, tab: Tab) -> None:
        tab.desk.answer(tab.person, card, key, note=note)

    def _next(self) -> None:
        cards = self.tab.desk.cards(self.tab.person)
        self.tab.card = cards[0] if cards else None

    @precondition(lambda self: self.tab)
    @rule(key=keys, note=notes, times=st.sampled_from((1, 3, 22)))
    def answer(self, key, note, times):
        for _ in range(times):
            card = self.tab and self.tab.card
            if card is None:
                return
            if self._press(partial(self._say, card, key, note)):
                said = KEYS[key]
                if not card.again:
                    tab = self.tab
                    word = None if said is None else (said, note)
                    tab.held.labels[ITEM_OF[card.texts[0]], tab.person] = word
                self._next()

    @precondition(lambda self: self.tab)
    @rule()
    def undo(self):
        tab = self.tab
        if self.held.get(tab.name) is tab.held:
            tab.desk.refresh()
        if tab.desk.session.last(tab.person) is None:
            return
        taken = []
        if self._press(lambda tab: taken.append(tab.desk.undo(tab.person))):
            tab.held.labels.pop((tab.places[taken[0]], tab.person), None)
            tab.card = tab.desk.card(tab.person, taken[0])

    @precondition(lambda self: self.tab)
    @rule(n=st.integers(1, 20), word=st.sampled_from(("p", "f", "x")), note=notes)
    def fill_a_sheet(self, n, word, note):
        tab = self.tab
        if self.held.get(tab.name) is not tab.held:
            return
        rows = list(csv.DictReader(io.StringIO(write_sheet(tab.desk, n))))
        for row in rows[::2]:
            row.update(label=word, note=note, person=tab.person)
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        join_sheet(self.store, tab.name, "sheet.csv", out.getvalue().encode())
        for row in rows[::2]:
            said = KEYS[word]
            tab.held.labels[ITEM_OF[row["response"]], tab.person] = (
                None if said is None else (said, note)
            )
            tab.held.log += 1

    @precondition(lambda self: self.held)
    @rule(name=names, new=names)
    def rename(self, name, new):
        if name in self.held and new not in self.held:
            self.store.rename_dataset(name, new)
            self.held[new] = self.held.pop(name)

    @precondition(lambda self: self.held)
    @rule(name=names)
    def delete(self, name):
        if name in self.held:
            self.store.delete_dataset(name)
            del self.held[name]

    def compare(self) -> None:
        if self.tab:
            self.tab.desk.store = self.store
        try:
            rows = self.store.export(kind="scores").to_pylist()
        except NoUsableVotes:
            rows = []
        for name, held in self.held.items():
            own = [row for row in rows if row["dataset"] == name]
            judges = [row for row in own if row["rater_type"] == "llm"]
            assert Counter((r["item_id"], r["judge"], r["score"]) for r in judges) == Counter(
                (*key, score) for key, score in held.scores.items() if key[1] != "ann"
            )
            said = {
                (r["item_id"], r["judge"], r["score"]) for r in own if r["rater_type"] == "human"
            }
            imported = {(*key, score) for key, score in held.scores.items() if key[1] == "ann"}
            labels = {(*key, word[0]) for key, word in held.labels.items() if word}
            assert said == imported | labels
            assert {r["item_id"]: r["gold"] for r in judges} == {
                item: held.gold_of(item) for item in held.items
            }
            assert len(label_log(self.store, name)) == held.log


class ShortOfScores(ScoreWriters):
    """A few sequences in every build, looked at after every step."""

    looked_at_after_each = 1


ShortOfScores.TestCase.settings = sequences(4, 15)
TestScoreWritersInShort = ShortOfScores.TestCase
ScoreWriters.TestCase.settings = sequences(int(os.environ.get("APPELLATE_SEQUENCES", "15")), 50)
TestScoreWriters = pytest.mark.thorough(ScoreWriters.TestCase)


def test_gold_that_differs_is_kept_for_new_raters_too_and_counted(tmp_path):
    def reading(judges, gold):
        rows = [f"i{k},{judge},{k % 2},{gold}" for k in range(3) for judge in judges]
        text = "\n".join(["item_id,judge,score,gold", *rows])
        return read([("scores.csv", text.encode())])[0]

    with Store.open(tmp_path / "s.duckdb") as store:
        store.load(reading(["gpt"], 1), dataset="d")
        report = store.load(reading(["claude"], 0), dataset="d", on_conflict="keep")
        assert (report.loaded, report.conflicts) == (3, 3)
        assert {row["gold"] for row in store.export(kind="scores").to_pylist()} == {1.0}
