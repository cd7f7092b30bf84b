"""What of a store is open to who writes a judge, what is sealed for proofs, and which were tried.

Kept as one row of `settings`. A store without it has no parts: nothing of it is sealed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..schema import Kind

if TYPE_CHECKING:
    from .connection import Change, Database, Snapshot

KEY = "parts"
MARK = "@"
"""Between the family of a judge and its version."""
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)


def family_of(judge: str) -> str:
    """The judge whose version this is.

    >>> family_of("gpt@v2"), family_of("gpt")
    ('gpt', 'gpt')
    """
    return judge.rpartition(MARK)[0] or judge


def ordinal(number: int) -> str:
    """first, second … tenth, 11th, 12th …"""
    return ORDINALS[number - 1] if number <= len(ORDINALS) else f"{number}th"


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One try to prove a version better.

    attempt : its number within the family and metric, which decides what it may spend.
    order : keys of the rows that are asked about, in order; none where all labels were there.
    labels : key → the label, None for a row that was skipped.
    state : `open`, or how it ended.  ended : the day.  said : its sentence.
    """

    old: str
    new: str
    metric: str | None
    attempt: int
    order: tuple[str, ...] = ()
    labels: Mapping[str, float | None] = field(default_factory=dict)
    state: str = "open"
    ended: str = ""
    said: str = ""

    @property
    def sentence(self) -> str:
        """What an audit says of it."""
        words = {"better": "better than", "worse": "worse than", "open": "not yet decided beside"}
        result = words.get(self.state, "not shown to be better than")
        what = f" on {self.metric}" if self.metric not in (None, "score") else ""
        return (
            f"{self.new}: {result} {self.old}{what}, "
            f"{ordinal(self.attempt)} try{f', {self.ended}' if self.ended else ''}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The split of a store.

    seed : of the hashes that decide.  items : numbers of the open items.  used : of those that were
    labelled for a try: they may be read, and are in no figure of a later version, as they were
    drawn where two versions part. All others are sealed, and so is what is collected later.
    """

    seed: str
    items: frozenset[int]
    used: frozenset[int] = frozenset()
    tries: tuple[Try, ...] = ()

    def half(self, unit: str) -> bool:
        """Whether a labelled unit is of the open half."""
        return hashlib.sha256(f"{self.seed}\0{unit}".encode()).digest()[0] < 128

    def is_sealed(self, item: int) -> bool:
        """Whether an item may be seen by nobody who writes a judge."""
        return item not in self.items and item not in self.used

    def using(self, items: Iterable[int]) -> Parts:
        """With further items that were labelled for a try."""
        return replace(self, used=self.used | {*items})

    def opened(self, items: Iterable[int]) -> Parts:
        """With further open items."""
        return replace(self, items=self.items | {*items})

    def with_try(self, one: Try) -> Parts:
        """With a try that is new, or that went on."""
        others = [
            each
            for each in self.tries
            if (each.metric, each.attempt) != (one.metric, one.attempt)
            or family_of(each.new) != family_of(one.new)
        ]
        return replace(self, tries=(*others, one))

    def of_family(self, judge: str, metric: str | None) -> list[Try]:
        """The tries of a judge's versions by a metric, in their order."""
        own = [t for t in self.tries if (family_of(t.new), t.metric) == (family_of(judge), metric)]
        return sorted(own, key=lambda each: each.attempt)


def read(store: Database | Snapshot | Change) -> Parts | None:
    """The parts of a store; None where it was never split."""
    rows = store.rows("select value from settings where key = ?", [KEY])
    if not rows:
        return None
    held: dict[str, Any] = json.loads(rows[0][0])
    tries = [{**each, "order": tuple(each["order"])} for each in held["tries"]]
    return Parts(
        seed=held["seed"],
        items=frozenset(held["items"]),
        used=frozenset(held["used"]),
        tries=tuple(Try(**each) for each in tries),
    )


def write(change: Change, parts: Parts) -> None:
    """Keep the parts of a store."""
    held = {
        "seed": parts.seed,
        "items": sorted(parts.items),
        "used": sorted(parts.used),
        "tries": [asdict(each) for each in parts.tries],
    }
    change.execute("delete from settings where key = ?", [KEY])
    change.execute("insert into settings values (?, ?)", [KEY, json.dumps(held)])


_UNITS = """
    with c as (
        select s.item, t.text from scores s join texts t on t.id = s.cluster
        union all select o.item, t.text from details d join votes v on v.id = d.vote
        join comparisons o on o.id = v.comparison join texts t on t.id = d.cluster)
    select i.id, coalesce((select min(c.text) from c where c.item = i.id), i.name) as unit,
           coalesce(bool_or(s.human or s.gold is not null), false)
           or coalesce(bool_or(c.gold is not null), false)
           or i.id in (select o.item from comparisons o join votes v on v.comparison = o.id
                       where v.human) as labelled
    from items i left join scores s on s.item = i.id
    left join comparisons c on c.item = i.id group by i.id, i.name order by i.id"""


def split(change: Change, seed: str) -> Parts:
    """Seal a half of the units that people labelled, whole clusters, and all that they did not;
    what is split stays as it is.
    """
    there = read(change)
    if there is not None:
        return there
    parts = Parts(seed=seed, items=frozenset())
    rows = change.rows(_UNITS)
    labelled = {unit for _, unit, known in rows if known}
    parts = parts.opened(item for item, unit, _ in rows if unit in labelled and parts.half(unit))
    write(change, parts)
    return parts


def begin(change: Change) -> str | None:
    """Split a store, and say so; None if it was split before."""
    if read(change) is not None:
        return None
    n_open = len(split(change, secrets.token_hex(8)).items)
    return (
        f"{n_open:,} of {items_of(change):,} items are open, the others sealed for `prove`: read "
        "and tune on what is open"
    )


def open_all(change: Change) -> None:
    """Open the sealed part, if there is one: nothing can be proven on it any more."""
    parts = read(change)
    if parts is not None:
        write(change, parts.opened(item for (item,) in change.rows("select id from items")))


def items_of(store: Snapshot | Change) -> int:
    """How many items a store has."""
    return int(store.rows("select count(*) from items")[0][0])


def open_names(store: Snapshot) -> frozenset[str] | None:
    """Names that open items alone have; None in a store without parts, where all are open."""
    parts = read(store)
    if parts is None:
        return None
    rows = store.rows("select id, name from items")
    sealed = {name for item, name in rows if parts.is_sealed(item)}
    return frozenset(name for _, name in rows) - sealed


def judges_in_order(store: Snapshot | Change) -> dict[str, int]:
    """Name → number of every judge, in the order of which they came."""
    return dict(store.rows("select name, id from judges order by id"))


def later_versions(judges: Mapping[str, int]) -> list[int]:
    """Numbers of the judges that are no first version of their family.

    judges : name → number, in the order of which they came.
    """
    first: dict[str, int] = {}
    for name, number in judges.items():
        family = family_of(name)
        first[family] = min(first.get(family, number), number)
    return sorted(number for name, number in judges.items() if number != first[family_of(name)])


def condition(
    store: Snapshot, kind: Kind, judges: Mapping[str, int], *, listed: bool = False
) -> str | None:
    """SQL on a row `v` that leaves out what is sealed; None where nothing is.

    Of the first version of a judge and of people figures have all items; of a later one, and of
    any list of judgements, the open items.
    """
    parts = read(store)
    if parts is None:
        return None
    items = parts.items | parts.used if listed else parts.items
    numbers = ", ".join(map(str, sorted(items))) or "null"
    column = "v.item"
    if kind == "votes":
        column, numbers = "v.comparison", f"select id from comparisons where item in ({numbers})"
    is_open = f"{column} in ({numbers})"
    if listed:
        return is_open
    later = later_versions(judges)
    if not later:
        return None
    return f"(v.judge not in ({', '.join(map(str, later))}) or {is_open})"


def notes(store: Snapshot, judged: Collection[str]) -> list[str]:
    """What an audit says of sealed items and of the tries of the judges that it has."""
    parts = read(store)
    if parts is None:
        return []
    judges = judges_in_order(store)
    later = set(later_versions(judges))
    named = sorted(name for name in judged if judges.get(name) in later)
    items = items_of(store)
    used = len(parts.used - parts.items)
    sealed = items - len(parts.items) - used
    said = []
    if named and (sealed or used):
        left = [f"{sealed:,} sealed"] if sealed else []
        left += [f"{used:,} labelled for a try"] if used else []
        one = "item" if sealed + used == 1 else "items"
        said.append(f"{' and '.join(left)} {one} left out of {', '.join(named)}: `prove` has them.")
    families = {family_of(name) for name in judged}
    tried = [each for each in parts.tries if family_of(each.new) in families]
    return said + [each.sentence for each in tried]
