"""The desk at which a person labels a data set: the next card, what becomes of an answer, and what
the labels show of each judge.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .accuracy import credit
from .checks import BY_NAME
from .errors import InvalidOption
from .labelling.people import CorrectedAccuracy, corrected_accuracy, doubtful, repeatability
from .labelling.session import Session, Sharing
from .labelling.shown import JudgeStanding, Shown
from .labelling.verdict import LabelledRow, Limits, Plan, forecast, standing
from .labelling.wealth import strata
from .records import FloatArray, VoteCounts
from .schema import Kind
from .store import Store
from .store.label_writing import write_answer
from .store.labelling import (
    LabelPlan,
    UnitTexts,
    UnitVotes,
    begin,
    label_log,
    label_plan,
    order_size,
    unit_texts,
    unit_votes,
)

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
        self.session = self._read()

    def _read(self) -> Session:
        log = label_log(self.store, self.plan.dataset)
        return Session(self.size, self.plan.seed, log, sharing=self.sharing)

    def refresh(self) -> None:
        """Read the log anew: others may label too."""
        self.session = self._read()

    @property
    def keys(self) -> Mapping[str, float | None]:
        """Keys of answers, and what each says of what is shown."""
        if self.plan.kind == "votes":
            return PAIR_KEYS
        low, high = self.scale
        if (low, high) == (0.0, 1.0):
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
        return (0.0, 1.0) if low >= 0 and high <= 1 else (np.floor(low), np.ceil(high))

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
        """Keep an answer; raises InvalidOption for a key that is none."""
        if key not in self.keys:
            raise InvalidOption(f"{key!r} is no answer; there are {', '.join(self.keys)}")
        said = self.keys[key]
        label = -said if said is not None and card.swapped else said
        write_answer(
            self.store,
            self.plan.dataset,
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
            self.store, self.plan.dataset, person=person, act="skip", place=card.place, answer="s"
        )
        self.refresh()

    def undo(self, person: str) -> int | None:
        """Take the person's last answer back; the place that is free again."""
        line = self.session.last(person)
        if line is None:
            return None
        write_answer(
            self.store, self.plan.dataset, person=person, act="undo", place=line.place, answer="u"
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

        between : called before each judge, for who lets others go first.
        """
        of_check = BY_NAME["accuracy"].limits
        limits = limits or (of_check.caution, of_check.failure or of_check.caution)
        votes = unit_votes(self.store, self.plan.dataset)
        same, again = self.session.repeats()
        repeated = repeatability(same, again) if again else None
        plan = Plan(labels=self.plan.planned)
        rows = labelled_rows(self.session, votes) if self.plan.kind == "votes" else {}
        found = []
        for judge in votes if judges is None else judges:
            if judge not in rows:
                continue
            between()
            row, places = rows[judge]
            stands = standing(row, plan, limits=limits)
            found.append(
                JudgeStanding(
                    judge=judge,
                    standing=stands,
                    grade=doubtful(stands.grade, repeated),
                    forecast=forecast(row, plan, limits=limits, rng=np.random.default_rng(0))
                    if stands.grade == "unclear"
                    else None,
                    corrected=self._corrected(row, places),
                )
            )
        return Shown(
            n=len(self.session.labels()),
            size=self.size,
            planned=self.plan.planned,
            repeats=(same, again),
            repeated=repeated,
            judges=tuple(found),
        )

    def _corrected(self, row: LabelledRow, places: Sequence[int]) -> CorrectedAccuracy | None:
        """Beside what a second person says, where there is one."""
        pair = self.session.pairs()
        if pair is None:
            return None
        same = pair[2]
        decided = np.flatnonzero(~np.isnan(row.credit) & ~row.undecided)
        agrees = [float(same.get(place, np.nan)) for place in np.array(places)[decided].tolist()]
        return (
            corrected_accuracy(row.credit[decided], np.array(agrees)) if len(decided) > 1 else None
        )


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


def labelled_rows(
    session: Session, votes: Mapping[str, UnitVotes]
) -> dict[str, tuple[LabelledRow, list[int]]]:
    """Labels as they count for each judge, with their places: its units in the order of labelling,
    then those left.
    """
    labels = session.labels()
    means = {judge: (own.plus - own.minus) / _n(own) for judge, own in votes.items()}
    total, raters = np.zeros(session.n), np.zeros(session.n)
    for judge, own in votes.items():
        total[own.place] += means[judge]
        raters[own.place] += 1
    rows = {}
    for judge, own in votes.items():
        others = raters[own.place] - 1
        with np.errstate(invalid="ignore", divide="ignore"):
            beside = np.where(others > 0, (total[own.place] - means[judge]) / others, np.nan)
        stratum = dict(zip(own.place.tolist(), strata(means[judge], beside).tolist(), strict=True))
        at = {place: k for k, place in enumerate(own.place.tolist())}
        of_judge = [label for label in labels if label.place in at]
        seen = [label.place for label in of_judge]
        seen_set = set(seen)
        left = [place for place in own.place.tolist() if place not in seen_set]
        gold = np.array([0 if x.label is None else int(x.label) for x in of_judge], dtype=np.int64)
        place = np.array([at[p] for p in seen], dtype=np.int64)
        gets = np.full(len(seen), np.nan)
        sided = gold != 0
        if sided.any():
            gets[sided] = credit(_counts(own, place[sided], gold[sided]))
        rows[judge] = (
            LabelledRow(
                stratum=np.array([stratum[p] for p in (*seen, *left)], dtype=np.int64),
                credit=gets,
                undecided=np.array([x.label is None for x in of_judge], dtype=bool),
            ),
            seen,
        )
    return rows


def _n(own: UnitVotes) -> FloatArray:
    return np.asarray(own.plus + own.tie + own.minus, dtype=np.float64)


def _counts(own: UnitVotes, place: np.ndarray, gold: np.ndarray) -> VoteCounts:
    return VoteCounts(
        comparison=place,
        item=place,
        plus=own.plus[place],
        tie=own.tie[place],
        minus=own.minus[place],
        gold=gold,
    )
