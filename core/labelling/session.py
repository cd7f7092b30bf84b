"""Who labels what next, and which labels stand: a fold of the log of answers."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from .people import APART, LEAST_REPEATS, OVERLAP, REPEATED

Sharing = Literal["part", "all"]
"""Whether several people share out the items but for 30 %, or all label all."""


Unit = tuple[str | None, ...]
"""Names of an item and its models, as `core.store.labelling.unit_names` gives them."""


class Line(Protocol):
    """One answer of a log, as the store keeps it (`core.store.labelling.LogLine`)."""

    @property
    def number(self) -> int: ...
    @property
    def person(self) -> str: ...
    @property
    def act(self) -> str: ...
    @property
    def place(self) -> int: ...
    @property
    def answer(self) -> str: ...
    @property
    def label(self) -> float | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """What stands of one unit.

    label : of the people who labelled it, canonical; the first person's where they differ; None
        where that one cannot tell, or it is still skipped.
    """

    place: int
    label: float | None


class Session:
    """State of labelling one data set: units 0 … n − 1 in the order drawn, and the log so far.

    near : difference of two labels up to which people do not contradict each other: one level.
    sealed : units that are kept for proofs and shown to nobody here.
    """

    def __init__(
        self,
        n: int,
        seed: int,
        log: Iterable[Line],
        *,
        sharing: Sharing = "part",
        near: float = 0,
        sealed: frozenset[int] = frozenset(),
    ) -> None:
        self.n, self.seed, self.sharing, self.near = n, seed, sharing, near
        self.sealed = sealed
        self._of: dict[str, dict[int, Line]] = {}
        self._skipped: dict[str, dict[int, int]] = {}
        self._again: dict[str, list[Line]] = {}
        self._acts: dict[str, list[Line]] = {}
        self.last_number = 0
        for line in log:
            self._take(line)

    def _take(self, line: Line) -> None:
        person, self.last_number = line.person, line.number
        own, skipped = self._of.setdefault(person, {}), self._skipped.setdefault(person, {})
        if line.act == "label":
            own.pop(line.place, None)
            own[line.place] = line
            skipped.pop(line.place, None)
        elif line.act == "skip":
            skipped[line.place] = line.number
        elif line.act == "repeat":
            self._again.setdefault(person, []).append(line)
        else:
            own.pop(line.place, None)
            skipped.pop(line.place, None)
        if line.act in ("label", "skip"):
            self._acts.setdefault(person, []).append(line)

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody who has labelled, in the order of their first answer."""
        return tuple(person for person, own in self._of.items() if own)

    def count(self, person: str) -> int:
        """Labels of a person."""
        return len(self._of.get(person, {}))

    def answer_of(self, person: str, place: int) -> Line | None:
        """What a person said of a unit."""
        return self._of.get(person, {}).get(place)

    def upcoming(self, person: str, most: int = 1) -> list[int]:
        """The next units of a person: those on which others differ, for a third look; in order,
        those of the others left out but for the part that all share; then what the person skipped.
        """
        own, skipped = self._of.get(person, {}), self._skipped.get(person, {})
        done = own.keys() | skipped.keys() | self.sealed
        found = [place for place in self.contested() if place not in done][:most]
        if len(found) == most:
            return found
        others: set[int] = set()
        if self.sharing == "part":
            for name, labels in self._of.items():
                if name != person:
                    others |= {place for place in labels if not self.shared(place)}
        third = set(found)
        for place in range(self.n):
            if not any(place in taken for taken in (done, others, third)):
                found.append(place)
                if len(found) == most:
                    return found
        waiting = sorted(skipped.keys() - self.sealed, key=skipped.__getitem__)
        return [*found, *waiting][:most]

    def contested(self) -> list[int]:
        """Units on which people differ and no answer has most of them, in order: whoever has not
        labelled one comes to it first, and its labels make no gold until somebody settles it.
        """
        said: dict[int, Counter[float]] = {}
        for own in self._of.values() if len(self._of) > 1 else ():
            for place, line in own.items():
                if line.label is not None:
                    said.setdefault(place, Counter())[line.label] += 1
        units = []
        for place, labels in said.items():
            most = max(labels.values())
            modes = [label for label, n in labels.items() if n == most]
            if max(modes) - min(modes) > self.near:
                units.append(place)
        return sorted(units)

    def shared(self, place: int) -> bool:
        """Whether everybody labels a unit, drawn with the order."""
        return _drawn(self.seed, "shared", place) < OVERLAP

    def swapped(self, person: str, place: int, *, again: bool = False) -> bool:
        """Whether response B is shown left; drawn anew for each person, and for a repeat."""
        return _drawn(self.seed, person, place, again) < 0.5

    def due_again(self, person: str) -> int | None:
        """A unit to ask a person once more, blind: a tenth of the labels, ten at least."""
        own, again = self._of.get(person, {}), self._again.get(person, [])
        n = len(own)
        wanted = max(math.floor(n * REPEATED), min(LEAST_REPEATS, (n - APART) // 3))
        if n <= APART or len(again) >= wanted:
            return None
        asked = self.sealed.union(line.place for line in again)
        earlier = list(own)[:-APART]
        return next((place for place in earlier if place not in asked), None)

    def repeats(self, person: str | None = None) -> tuple[int, int]:
        """Blind repeats that were answered as the first time, and all of them."""
        same = n = 0
        for name, lines in self._again.items():
            for line in lines if person in (None, name) else ():
                first = self.answer_of(name, line.place)
                if first is not None:
                    same, n = same + (first.label == line.label), n + 1
        return same, n

    def last(self, person: str) -> Line | None:
        """The last answer of a person that can be taken back."""
        own, skipped = self._of.get(person, {}), self._skipped.get(person, {})
        for line in reversed(self._acts.get(person, [])):
            if line.act == "label" and own.get(line.place) is line:
                return line
            if line.act == "skip" and skipped.get(line.place) == line.number:
                return line
        return None

    def labels(self) -> list[Labelled]:
        """What stands of each unit, in the order in which the first person came to it; a unit that
        everybody skipped is undecided.
        """
        first: dict[int, tuple[int, float | None]] = {}
        for own in self._of.values():
            for place, line in own.items():
                if place not in first or line.number < first[place][0]:
                    first[place] = line.number, line.label
        for skipped in self._skipped.values():
            for place, number in skipped.items():
                if place not in first:
                    first[place] = number, None
        order = sorted(first, key=lambda place: first[place][0])
        return [Labelled(place=place, label=first[place][1]) for place in order]

    def pairs(self) -> tuple[str, str, dict[int, bool]] | None:
        """The two people with most units in common, and where they say the same."""
        best: tuple[str, str, dict[int, bool]] | None = None
        names = self.people
        for k, one in enumerate(names):
            for two in names[k + 1 :]:
                ours, theirs = self._of[one], self._of[two]
                same = {
                    place: line.label == theirs[place].label
                    for place, line in ours.items()
                    if place in theirs
                    and line.label is not None
                    and theirs[place].label is not None
                }
                if same and (best is None or len(same) > len(best[2])):
                    best = one, two, same
        return best


def _drawn(*of: object) -> float:
    """A number in [0, 1) that depends on what is given alone."""
    digest = hashlib.blake2b(repr(of).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def card_code(seed: int, place: int, unit: Unit) -> str:
    """What a sheet calls a unit: nothing about item, judge or order can be read from it, and where
    another unit has the place, its code is another.
    """
    return hashlib.blake2b(repr(("card", seed, place, *unit)).encode(), digest_size=5).hexdigest()


def places_of(codes: Sequence[str], seed: int, units: Sequence[Unit]) -> list[int | None]:
    """Places that codes of a sheet stand for in an order; None for one that is none."""
    known = {card_code(seed, place, unit): place for place, unit in enumerate(units)}
    return [known.get(code.strip().casefold()) for code in codes]
