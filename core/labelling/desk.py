"""The desk at which a person labels a data set: the next card, what becomes of an answer, and what
the labels show of each judge.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import InvalidOption
from ..schema import Kind
from ..store import Store
from ..store.label_writing import write_answer
from ..store.labelling import (
    LabelPlan,
    UnitTexts,
    begin,
    label_log,
    label_plan,
    order_size,
    sealed_places,
    unit_models,
    unit_texts,
    unit_votes,
)
from .results import PASS_OR_FAIL, Look
from .session import Session, Sharing
from .shown import Shown
from .verdict import Limits, Plan

PLANNED = 200
OFFERED = (50, 100, 200)
LABELS_BEFORE_RESULTS = 20
"""Labels before which no result is shown."""
TAGS = ("wrong fact", "too long", "off topic", "tone")
NO_TEXTS = UnitTexts(prompt=None, responses=())
PAIR_KEYS: dict[str, float | None] = {"1": 1.0, "2": -1.0, "0": 0.0, "b": 0.0, "x": None}
"""Key → label as shown: the left response better, the right, a tie, both bad, cannot tell."""
PASS_KEYS: dict[str, float | None] = {"p": 1.0, "f": 0.0, "x": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a person sees of one unit, and nothing else: no judge, model, order or result."""

    place: int
    again: bool
    swapped: bool
    prompt: str | None
    texts: tuple[str | None, ...]


class Desk:
    """Labelling of one data set in a store; see `open_desk`."""

    def __init__(self, store: Store, plan: LabelPlan, *, sharing: Sharing = "part") -> None:
        self.store, self.plan, self.sharing = store, plan, sharing
        self.size = order_size(store, plan.dataset)
        self._texts: dict[int, UnitTexts] = {}
        self._sealed = sealed_places(store, plan.dataset)
        self.session = self._read()

    def _read(self) -> Session:
        log = label_log(self.store, self.plan.dataset)
        levels = self.plan.kind == "scores" and self.scale != PASS_OR_FAIL
        near = float(levels)
        return Session(
            self.size, self.plan.seed, log, sharing=self.sharing, near=near, sealed=self._sealed
        )

    def refresh(self) -> None:
        """Read the log anew: others may label too."""
        self.session = self._read()

    @property
    def keys(self) -> Mapping[str, float | None]:
        """Keys of answers, and what each says of what is shown."""
        if self.plan.kind == "votes":
            return PAIR_KEYS
        low, high = self.scale
        if (low, high) == PASS_OR_FAIL:
            return PASS_KEYS
        levels = range(int(low), int(high) + 1)
        if high - low > 9 or low < 0:
            raise InvalidOption(
                f"{self.plan.dataset}: levels of {low:g} to {high:g} have no keys; at most ten do"
            )
        return {**{str(level): float(level) for level in levels}, "x": None}

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Ends of the scale of single answers, as the judges use it."""
        scores = [votes.score for votes in unit_votes(self.store, self.plan.dataset).values()]
        every = np.concatenate(scores) if scores else np.zeros(1)
        low, high = float(every.min()), float(every.max())
        return PASS_OR_FAIL if low >= 0 and high <= 1 else (np.floor(low), np.ceil(high))

    def cards(self, person: str, most: int = 5) -> list[Card]:
        """The next cards of a person; a blind repeat comes first when it is due."""
        again = self.session.due_again(person)
        places = self.session.upcoming(person, most)
        wanted = [*places[:1], *(() if again is None else (again,))]
        if any(place not in self._texts for place in wanted):
            # Those of the next cards come along, so that most cards ask the store for nothing.
            ahead = [*places, *wanted]
            self._texts = dict.fromkeys(ahead, NO_TEXTS) | unit_texts(
                self.store, self.plan.dataset, ahead
            )
        texts = self._texts
        cards = [self._card(person, k, texts[k]) for k in places if k in texts]
        if again is not None:
            cards.insert(0, self._card(person, again, texts.get(again), again=True))
        return cards

    def card(self, person: str, place: int) -> Card:
        """One unit, to be labelled or labelled anew."""
        return self._card(
            person, place, unit_texts(self.store, self.plan.dataset, [place]).get(place)
        )

    def _card(
        self, person: str, place: int, texts: UnitTexts | None, *, again: bool = False
    ) -> Card:
        swapped = self.plan.kind == "votes" and self.session.swapped(person, place, again=again)
        shown = (
            texts.responses
            if texts and texts.responses
            else (None,) * (2 if self.plan.kind == "votes" else 1)
        )
        return Card(
            place=place,
            again=again,
            swapped=swapped,
            prompt=texts.prompt if texts else None,
            texts=shown[::-1] if swapped else shown,
        )

    def answer(
        self, person: str, card: Card, key: str, *, tags: Sequence[str] = (), note: str = ""
    ) -> None:
        """Keep an answer.

        Raises InvalidOption: the key is none. LabellingReplaced: the card is of a labelling that is
        no more.
        """
        if key not in self.keys:
            raise InvalidOption(f"{key!r} is no answer; there are {', '.join(self.keys)}")
        said = self.keys[key]
        label = -said if said is not None and card.swapped else said
        write_answer(
            self.store,
            self.plan.dataset,
            labelling=self.plan.number,
            person=person,
            act="repeat" if card.again else "label",
            place=card.place,
            answer=key,
            label=None if label is None else label + 0.0,
            swapped=card.swapped,
            tags=tags,
            note=note,
        )
        self.refresh()

    def skip(self, person: str, card: Card) -> None:
        """Put a unit at the end of the person's queue."""
        write_answer(
            self.store,
            self.plan.dataset,
            labelling=self.plan.number,
            person=person,
            act="skip",
            place=card.place,
            answer="s",
        )
        self.refresh()

    def undo(self, person: str) -> int | None:
        """Take the person's last answer back; the place that is free again."""
        line = self.session.last(person)
        if line is None:
            return None
        write_answer(
            self.store,
            self.plan.dataset,
            labelling=self.plan.number,
            person=person,
            act="undo",
            place=line.place,
            answer="u",
        )
        self.refresh()
        return line.place

    def shown(
        self,
        *,
        limits: Limits | None = None,
        judges: Sequence[str] | None = None,
        between: Callable[[], object] = bool,
    ) -> Shown:
        """What the labels show of each judge, or of those named, with forecasts.

        between : called again and again meanwhile, for who lets others go first.
        """
        votes = unit_votes(self.store, self.plan.dataset)
        look = Look(
            session=self.session,
            kind=self.plan.kind,
            plan=Plan(labels=self.plan.planned),
            votes=votes,
            names=[judge for judge in (votes if judges is None else judges) if judge in votes],
            scale=self.scale if self.plan.kind == "scores" else PASS_OR_FAIL,
            models=unit_models(self.store, self.plan.dataset)
            if self.plan.kind == "votes"
            else None,
            limits=limits,
        )
        return look.shown(between)


def open_desk(
    store: Store,
    dataset: str,
    *,
    kind: Kind = "votes",
    planned: int | None = PLANNED,
    seed: int | None = None,
    sharing: Sharing = "part",
) -> Desk:
    """Begin to label a data set, or go on: the order is drawn once.

    planned : labels after which an ordinary interval is looked at too; only before the first label.
    seed : of the order, drawn where it is None.
    """
    plan = label_plan(store, dataset)
    if plan is None:
        drawn = secrets.randbits(48) if seed is None else seed
        plan = begin(store, dataset, kind=kind, planned=planned, seed=drawn)
    return Desk(store, plan, sharing=sharing)
