"""Whatever writes into a store, in any order, by two visitors at once: the store passes its own check,
and holds what a plain model of dictionaries holds. Whoever adds a writer adds a rule.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from judging_jobs import collect, job, pairs
from judging_server import Server

from core.collect.by_hand import settle, unread
from core.errors import AppellateError, InvalidOption, NoUsableVotes, UnreadableFile
from core.importers import ReadOptions, read
from core.labelling.desk import Card, Desk, open_desk
from core.labelling.sheet import join_sheet, write_sheet
from core.schema import Selection
from core.store import Store
from core.store.labelling import keep_rubric, label_log, rubric

NAMES = ("d", "e", "collected")
ITEMS = tuple(f"i{k}" for k in range(24))
COLLECTED = tuple(replace(item, gold=None) for item in pairs(4))
TEXTS = {item: (f"p{item[1:]}", f"a{item[1:]}", f"b{item[1:]}") for item in ITEMS} | {
    item.item_id: (item.prompt, *item.responses) for item in COLLECTED
}
ITEM_OF = {prompt: item for item, (prompt, _, _) in TEXTS.items()}
PEOPLE = ("ann", "bob")
NOTES = ("", "ok", "a1", "b2", "p0")
AS_SHOWN = {"1": 1, "2": -1, "0": 0, "b": 0, "x": None}

names = st.sampled_from(NAMES)
people = st.sampled_from(PEOPLE)
visitors = st.sampled_from((0, 1))
keys = st.sampled_from(tuple(AS_SHOWN))
notes = st.sampled_from(NOTES)
some_items = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=24, unique=True)


@dataclass
class Held:
    """What a data set should hold."""

    votes: dict[tuple, tuple] = field(default_factory=dict)
    gold: dict[str, int] = field(default_factory=dict)
    labels: dict[tuple[str, str], tuple[int, str] | None] = field(default_factory=dict)
    log: int = 0
    gold_before_labels: bool | None = None
    what_counts: str | None = None

    @property
    def items(self) -> set[str]:
        return {item for item, *_ in self.votes}

    def gold_of(self, item: str) -> int | None:
        """A file's gold, else the most frequent label; none where several are as frequent."""
        if item in self.gold:
            return self.gold[item]
        votes = [said[0] for (about, _), said in self.labels.items() if about == item and said]
        if not votes or self.gold_before_labels:
            return None
        ranked = Counter(votes).most_common()
        return None if len(ranked) > 1 and ranked[0][1] == ranked[1][1] else ranked[0][0]


@dataclass
class Tab:
    """What a visitor has open: perhaps a card of what is no more."""

    desk: Desk
    person: str
    card: Card | None
    held: Held
    name: str
    places: dict[int, str]


class LookedAt(RuleBasedStateMachine):
    """A store that is looked at after some steps, and at the end."""

    looked_at_after_each = 3
    """Looks take most of the time; what is written in between meets a store that is open and knows
    what it did before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.store = Store.open(f"{self.folder.name}/votes.duckdb")
        self.held = {}
        self.files = self.steps = 0

    def look(self) -> None:
        """That the store is whole and holds what it should."""
        self.store.check()
        self.store.close()
        self.store = Store.open(f"{self.folder.name}/votes.duckdb")
        assert self.store.notes == ()
        assert {one.name for one in self.store.datasets()} == {*self.held}
        self.compare()

    def teardown(self) -> None:
        try:
            self.look()
        finally:
            self.store.close()
            self.folder.cleanup()

    @invariant()
    def the_store_is_whole_and_holds_what_it_should(self):
        self.steps += 1
        if self.steps % self.looked_at_after_each == 0:
            self.look()


class Writers(LookedAt):
    """Every writer of a store of votes and labels."""

    def __init__(self) -> None:
        super().__init__()
        self.tabs: dict[int, Tab] = {}
        self.last: tuple[str, bytes, Held] | None = None
        self.server: Server | None = None

    def teardown(self) -> None:
        if self.server is not None:
            self.server.__exit__()
        super().teardown()

    def _read(self, data: bytes):
        options = ReadOptions(labels="1/0/-1", gold_labels="1/0/-1")
        (reading,) = read([("votes.csv", data)], options)
        return reading

    def _bytes(self, head: list[str], rows: list[list]) -> bytes:
        out = io.StringIO(newline="")
        csv.writer(out).writerows([head, *rows])
        self.files += 1
        # No two files are the same bytes.
        return (out.getvalue() + "\n" * self.files).encode()

    @rule(
        name=names,
        items=some_items,
        vote=st.integers(0, 5),
        gold=st.sampled_from((None, 1, -1)),
        person=st.booleans(),
        on_conflict=st.sampled_from(("keep", "replace")),
    )
    def load(self, name, items, vote, gold, person, on_conflict):
        judges = ["gpt", "claude", *(["ann"] if person else [])]
        head = ["item_id", "judge", "vote", "model_a", "model_b", "rater_type", "position"]
        head += ["prompt", "response_a", "response_b", *(["gold"] if gold else [])]
        rows, said = [], {}
        for item in items:
            for place, judge in enumerate(judges):
                # A person's row has no texts, and may be all that a label is, too.
                human = judge == "ann"
                cast = (vote + int(item[1:]) * (place + 1)) % 3 - 1
                said[item, judge, 0, "ab"] = (cast, human, "" if human else TEXTS[item][0])
                texts = ["", "", ""] if human else TEXTS[item]
                kind = "human" if human else "llm"
                row = [item, judge, cast, "m", "n", kind, "ab", *texts]
                rows.append([*row, *([gold] if gold else [])])
        data = self._bytes(head, rows)
        report = self.store.load(self._read(data), dataset=name, on_conflict=on_conflict)
        assert not report.rejected
        held = self.held.setdefault(name, Held())
        for key, row in said.items():
            if key not in held.votes or on_conflict == "replace":
                held.votes[key] = row
        for item in items if gold else ():
            if item not in held.gold or on_conflict == "replace":
                held.gold[item] = gold
        self.last = name, data, held

    @precondition(lambda self: self.last and self.held.get(self.last[0]) is self.last[2])
    @rule()
    def load_again(self):
        name, data, _ = self.last
        report = self.store.load(self._read(data), dataset=name)
        assert not report.loaded

    @rule(name=names, items=some_items, gold=st.sampled_from((1, -1, 0)), new=st.booleans())
    def load_gold(self, name, items, gold, new):
        data = self._bytes(
            ["item_id", "model_a", "model_b", "gold"], [[i, "m", "n", gold] for i in items]
        )
        held = self.held.get(name)
        on_conflict = "replace" if new else "keep"
        if held is None or not held.items & {*items}:
            with pytest.raises(AppellateError):
                self.store.load(self._read(data), dataset=name, on_conflict=on_conflict)
            return
        self.store.load(self._read(data), dataset=name, on_conflict=on_conflict)
        for item in held.items & {*items}:
            if item not in held.gold or new:
                held.gold[item] = gold

    @precondition(lambda self: self.held)
    @rule(name=names, person=people, visitor=visitors)
    def open_tab(self, name, person, visitor):
        held = self.held.get(name)
        if held is None:
            return
        desk = open_desk(self.store, name, seed=self.files)
        if held.gold_before_labels is None:
            held.gold_before_labels = bool(held.gold)
        order = self.store.rows(
            """select o.place, i.name from label_order o join items i on i.id = o.item
               join datasets d on d.id = o.dataset where d.name = ?""",
            [name],
        )
        cards = desk.cards(person)
        self.tabs[visitor] = Tab(desk, person, cards[0] if cards else None, held, name, dict(order))

    def _current(self, tab: Tab) -> bool:
        return self.held.get(tab.name) is tab.held

    def _press(self, visitor: int, press) -> bool:
        """Whether what was pressed was kept; a press on what is no more is refused in words."""
        tab = self.tabs[visitor]
        if self._current(tab):
            press(tab)
            tab.held.log += 1
            return True
        with pytest.raises(AppellateError):
            press(tab)
        del self.tabs[visitor]
        return False

    def _answer(self, visitor: int, key: str, note: str) -> None:
        tab = self.tabs[visitor]
        card = tab.card
        if card is None:
            return
        if self._press(visitor, lambda tab: tab.desk.answer(tab.person, card, key, note=note)):
            item = ITEM_OF[card.prompt]
            swapped = card.texts[0] == TEXTS[item][2]
            said = AS_SHOWN[key]
            if not card.again:
                tab.held.labels[item, tab.person] = (
                    None if said is None else (-said if swapped else said, note)
                )
            self._next(tab)

    def _next(self, tab: Tab) -> None:
        cards = tab.desk.cards(tab.person)
        tab.card = cards[0] if cards else None

    @precondition(lambda self: self.tabs)
    @rule(visitor=visitors, key=keys, note=notes, times=st.sampled_from((1, 1, 3, 22)))
    def answer(self, visitor, key, note, times):
        for _ in range(times):
            if visitor in self.tabs:
                self._answer(visitor, key, note)

    @precondition(lambda self: len(self.tabs) == 2)
    @rule(key=keys, note=notes)
    def answer_at_once(self, key, note):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda visitor: self._answer(visitor, key, note), (0, 1)))

    @precondition(lambda self: self.tabs)
    @rule(visitor=visitors)
    def skip(self, visitor):
        tab = self.tabs.get(visitor)
        card = tab and tab.card
        if card and self._press(visitor, lambda tab: tab.desk.skip(tab.person, card)):
            self._next(tab)

    @precondition(lambda self: self.tabs)
    @rule(visitor=visitors, look=st.booleans())
    def undo(self, visitor, look):
        tab = self.tabs.get(visitor)
        if tab is None or (look and not self._current(tab)):
            return
        if look:
            tab.desk.refresh()
        if tab.desk.session.last(tab.person) is None:
            return
        taken = []
        if self._press(visitor, lambda tab: taken.append(tab.desk.undo(tab.person))):
            tab.held.labels.pop((tab.places[taken[0]], tab.person), None)
            tab.card = tab.desk.card(tab.person, taken[0])

    @precondition(lambda self: self.tabs)
    @rule(
        visitor=visitors, n=st.integers(1, 24), word=st.sampled_from(("left", "x", "")), note=notes
    )
    def fill_a_sheet(self, visitor, n, word, note):
        tab = self.tabs.get(visitor)
        if tab is None or not self._current(tab):
            return
        rows = list(csv.DictReader(io.StringIO(write_sheet(tab.desk, n))))
        for row in rows[::2]:
            row.update(label=word, note=note, person=tab.person)
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        if not word:
            with pytest.raises(UnreadableFile):
                join_sheet(self.store, tab.name, "sheet.csv", out.getvalue().encode())
            return
        join_sheet(self.store, tab.name, "sheet.csv", out.getvalue().encode())
        for row in rows[::2]:
            item = ITEM_OF[row["prompt"]]
            vote = 1 if row["left"] == TEXTS[item][1] else -1
            tab.held.labels[item, tab.person] = (vote, note) if word == "left" else None
            tab.held.log += 1

    @precondition(lambda self: self.held)
    @rule(name=names, new=names)
    def rename(self, name, new):
        if name not in self.held:
            return
        if new in self.held and new != name:
            with pytest.raises(InvalidOption):
                self.store.rename_dataset(name, new)
            return
        self.store.rename_dataset(name, new)
        self.held[new] = self.held.pop(name)

    @precondition(lambda self: self.held)
    @rule(name=names)
    def delete(self, name):
        if name in self.held:
            self.store.delete_dataset(name)
            del self.held[name]

    @precondition(lambda self: self.held)
    @rule(name=names, line=st.sampled_from((None, "safe answers win")))
    def say_what_counts(self, name, line):
        if name in self.held:
            keep_rubric(self.store, name, line)
            self.held[name].what_counts = line

    def _job(self):
        if self.server is None:
            self.server = Server(fault=lambda n, body: "prose" if n % 5 == 0 else None)
            self.server.__enter__()
        return job(self.server, COLLECTED, votes=2)

    def _taken_from_store(self, given) -> list[dict]:
        """The votes of a judge that was asked: what it said is known from the store alone, and from
        now on nothing may change it.
        """
        rows = self.store.export(Selection(datasets=(given.dataset,))).to_pylist()
        own = [row for row in rows if row["judge"] in given.voters]
        held = self.held.setdefault(given.dataset, Held())
        for row in own:
            key = row["item_id"], row["judge"], row["run"], row["position"]
            held.votes[key] = (row["vote"], False, row["prompt"])
        return own

    @rule()
    def collect_votes(self):
        given = self._job()
        collect(given, self.store)
        assert len(self._taken_from_store(given)) == 2 * len(COLLECTED)

    @precondition(lambda self: "collected" in self.held)
    @rule(vote=st.sampled_from((1, -1)))
    def settle_by_hand(self, vote):
        given = self._job()
        for reply in unread(given, self.store)[:1]:
            settle(given, self.store, reply.key, vote)
            own = self._taken_from_store(given)
            (row,) = [
                row
                for row in own
                if (row["item_id"], row["position"]) == (reply.item_id, reply.position)
                and row["judge"] == reply.judge
            ]
            assert row["vote"] == (-vote if reply.position == "ba" else vote)

    def compare(self) -> None:
        for tab in self.tabs.values():
            tab.desk.store = self.store
        try:
            rows = self.store.export().to_pylist()
        except NoUsableVotes:
            rows = []
        for name, held in self.held.items():
            own = [row for row in rows if row["dataset"] == name]
            judges = Counter(
                (r["item_id"], r["judge"], r["run"], r["position"], r["vote"], r["prompt"])
                for r in own
                if r["rater_type"] == "llm"
            )
            assert judges == Counter(
                (*key, vote, prompt)
                for key, (vote, human, prompt) in held.votes.items()
                if not human
            )
            # A label that a file has too may be one row or two.
            said = {
                (r["item_id"], r["judge"], r["vote"], r["rationale"] or "")
                for r in own
                if r["rater_type"] == "human"
            }
            imported = [
                (item, person, vote, "")
                for (item, person, *_), (vote, human, _) in held.votes.items()
                if human
            ]
            labels = [(*key, *word) for key, word in held.labels.items() if word is not None]
            assert said == {*imported, *labels}
            assert max(len(imported), len(labels)) <= len(own) - judges.total()
            assert len(own) - judges.total() <= len(imported) + len(labels)
            assert {r["item_id"]: r["gold"] for r in own} == {
                item: held.gold_of(item) for item in held.items
            }
            assert len(label_log(self.store, name)) == held.log
            assert rubric(self.store, name) == held.what_counts
            counted = self.store.rows(
                """select coalesce(sum(t.plus + t.tie + t.minus), 0) from tallies t
                   join datasets d on d.id = t.dataset where d.name = ?""",
                [name],
            )
            assert counted[0][0] == sum(row["vote"] is not None for row in own)


def sequences(n: int, steps: int):
    return settings(
        max_examples=n,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


class Short(Writers):
    """A few sequences in every build, looked at after every step."""

    looked_at_after_each = 1


Short.TestCase.settings = sequences(4, 15)
TestWritersInShort = Short.TestCase
# `APPELLATE_SEQUENCES=200` draws as many as a change of a writer should stand.
Writers.TestCase.settings = sequences(int(os.environ.get("APPELLATE_SEQUENCES", "15")), 50)
TestWriters = pytest.mark.thorough(Writers.TestCase)
