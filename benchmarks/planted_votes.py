"""Votes of judges whose faults are known, drawn without a line of `core`, to see what verdicts
find.

A situation says how many items there are, how often each is judged, what gold looks like and what
is wrong with the judge. `draw` gives tables of votes in the canonical columns; a table holds many
draws, each with judges and items of its own, so that one load audits them all.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
Table = dict[str, Array]
Gold = Literal[
    "balanced", "one-sided", "half ties", "none", "humans", "people's mode", "first vote"
]
Stated = Literal["calibrated", "random", "constant", "inverse", "none"]

CHECKS = (
    "accuracy",
    "category",
    "position",
    "stability",
    "calibration",
    "overconfidence",
    "discrimination",
    "repeatability",
    "coin_share",
    "ties",
    "length",
    "own_family",
    "agreement",
    "data",
)
CONFIDENCE = ("calibration", "overconfidence", "discrimination")
TIES = {"half ties": 0.5}
"""Share of gold ties; 0 for the other forms of gold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What a judge is like. The default has no fault: right on 85 %, as sure as it should be.

    accuracy : mean probability to be right; items differ in it, and a calibrated judge states that
        of the item. With `over` it is the mean of what it states.
    alike : probability that a vote repeats the item's first opinion, right or wrong, instead of a
        new one.
    over : stated confidence minus probability to be right, the same for every vote.
    slot_bias : probability that a vote goes to the response shown first, whatever it is: the lean
        in pairs.
    item_slots : share of items on which one slot, first or second at random, always wins: flips, no
        lean.
    length, family : share of votes that go to the longer response, to its own family's, whatever
        they are; half of it is the preference beyond gold.
    label : share of votes that go to A, whatever is better.
    extra_ties : probability that a vote is turned into a tie, each vote by itself.
    swap_ties : share of items on which it says a tie whenever B is shown first.
    coins : share of items on which every vote is a coin.
    flips : probability that a vote is turned into the opposite, each vote by itself.
    missing : probability that an output has no verdict.
    """

    accuracy: float = 0.85
    alike: float = 0.8
    stated: Stated = "calibrated"
    over: float = 0.0
    slot_bias: float = 0.0
    item_slots: float = 0.0
    length: float = 0.0
    family: float = 0.0
    label: float = 0.0
    extra_ties: float = 0.0
    swap_ties: float = 0.0
    coins: float = 0.0
    flips: float = 0.0
    missing: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A judge, what it judges, and which checks have nothing to find.

    votes : per item: one in an order drawn at random, else half of them in each order. `unequal`:
        at most; "evenly", each number of pairs is as frequent; "mostly one pair", one item in ten
        has them all.
    orders : "one": all votes of an item in one order, drawn at random; "unknown": it is not said.
    gold : besides its forms "none", no label; "humans", it is formed from the people's votes;
        "people's mode", it is in the file and is their majority; "first vote", the judge's first.
    gold_longer, gold_own, gold_a, gold_first : probability that gold prefers the longer response,
        that of the judge's own family (the model `alpha-1`), response A, and where one order was
        shown the first.
    people : people who label every item once, each right on `people_accuracy`.
    rejected : share of the rows that were not read, those with the least confidence.
    family : whether the judge's family is named, so that the check of it is made.
    audited : whose votes are graded.
    concerns : checks that should not be ok where something is planted.
    fault, effect : what is planted; "none" and 0 where nothing is.
    clean : checks that have nothing to find; on these every warning is a false alarm.
    """

    name: str
    items: int
    votes: int
    judge: Judge = field(default_factory=Judge)
    gold: Gold = "balanced"
    unequal: Literal["", "evenly", "mostly one pair"] = ""
    orders: Literal["both", "one", "unknown"] = "both"
    gold_longer: float = 0.5
    gold_own: float = 0.5
    gold_a: float = 0.5
    gold_first: float = 0.5
    people: int = 0
    people_accuracy: float = 0.85
    rejected: float = 0.0
    family: bool = True
    audited: Literal["judge", "people"] = "judge"
    fault: str = "none"
    effect: float = 0.0
    concerns: tuple[str, ...] = ()
    clean: frozenset[str] = frozenset(CHECKS)

    @property
    def rows(self) -> int:
        """Rows of one draw at most."""
        return self.items * (self.votes + self.people)

    @property
    def n_rejected(self) -> int:
        """Rows of one draw that were not read."""
        return round(self.rejected * self.items * self.votes)


SPREAD = 2.0
"""α + β of the beta distribution of an item's probability to be right, between .5 and 1."""


def draw(situation: Situation, draws: int, rng: np.random.Generator) -> Table:
    """Tables of `draws` independent draws, one below another, as columns of equal length.

    Judge `judge-0007` of data set `draw-0007` judges items that no other draw has. Text columns are
    objects; an unknown confidence is NaN, an unknown gold label None.
    """
    about, ties = situation.judge, TIES.get(situation.gold, 0.0)
    shape = (draws, situation.items, situation.votes)
    gold = _gold(situation, ties, shape[:2], rng)
    stated, chance = _confidence(about, shape[:2], rng)
    opinion = _labels(gold, rng.random(shape[:2]) < chance, ties, rng)
    anew = _labels(_over(gold, shape), rng.random(shape) < chance[:, :, None], ties, rng)
    vote = np.where(rng.random(shape) < about.alike, opinion[:, :, None], anew)
    one_order = situation.votes == 1 or situation.orders == "one"
    shown = _in_one_order(gold, situation, shape, rng) if one_order else _alternating(shape)
    # +1 where response A is the longer, or the own family's.
    longer, own = (
        np.where(rng.random(shape[:2]) < preferred, 1, -1) * np.where(gold == 0, 1, gold)
        for preferred in (situation.gold_longer, situation.gold_own)
    )
    for share, side in ((about.length, longer[:, :, None]), (about.family, own[:, :, None])):
        vote = np.where(rng.random(shape) < share, side, vote)
    coin = (rng.random(shape[:2]) < about.coins)[:, :, None]
    vote = np.where(coin, rng.choice([-1, 1], shape), vote)
    vote = np.where(rng.random(shape) < about.flips, -vote, vote)
    stuck = rng.choice([-1, 1], shape[:2]) * (rng.random(shape[:2]) < about.item_slots)
    vote = np.where(stuck[:, :, None] != 0, stuck[:, :, None] * shown, vote)
    vote = np.where(rng.random(shape) < about.slot_bias, shown, vote)
    vote = np.where(rng.random(shape) < about.label, 1, vote)
    vote = np.where(rng.random(shape) < about.extra_ties, 0, vote)
    tied = (rng.random(shape[:2]) < about.swap_ties)[:, :, None] & (shown == -1)
    vote = np.where(tied, 0, vote)
    said = _over(stated, shape)
    if about.stated == "random":
        said = np.round(rng.uniform(0.5, 1.0, shape), 2)
    labels = [_labels(gold, right, ties, rng) for right in _right_people(situation, shape, rng)]
    if situation.gold == "people's mode":
        gold = np.sign(np.sum(labels, axis=0))
    elif situation.gold == "first vote":
        gold = vote[:, :, 0]
    judge = _table(situation, gold, vote, shown, said, longer, own, "llm")
    judge["judge"] = _words("judge-{:04d}", draws)[_index(shape, 0)]
    failed = rng.random(vote.size) < about.missing
    judge["status"] = np.where(failed, "unparsed", "ok").astype(object)
    judge["vote"] = np.where(failed, None, judge["vote"])
    rows = _kept(situation, shape, said, rng)
    tables = [{name: column[rows] for name, column in judge.items()}]
    alone = (*shape[:2], 1)
    for person, label in enumerate(labels):
        stated_by_people = np.full(alone, np.nan)
        order = rng.choice([-1, 1], alone)
        table = _table(
            situation, gold, label[:, :, None], order, stated_by_people, longer, own, "human"
        )
        table["judge"] = _words(f"person-{{:04d}}-{person + 1}", draws)[_index(alone, 0)]
        tables.append(table)
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _right_people(
    situation: Situation, shape: tuple[int, ...], rng: np.random.Generator
) -> Iterator[Array]:
    """Of each person, on which items it is right."""
    for _ in range(situation.people):
        yield rng.random(shape[:2]) < situation.people_accuracy


def _gold(
    situation: Situation, ties: float, shape: tuple[int, int], rng: np.random.Generator
) -> Array:
    prefers_a = 1.0 if situation.gold == "one-sided" else situation.gold_a
    side = np.where(rng.random(shape) < prefers_a, 1, -1)
    return np.where(rng.random(shape) < ties, 0, side)


def _confidence(
    about: Judge, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[Array, Array]:
    """What is stated on each item, and the probability to be right there."""
    low, high = 0.5, min(1.0, 1.0 + about.over)
    share = min(max((max(about.accuracy, 1 - about.accuracy) - low) / (high - low), 0.0), 1.0)
    if about.accuracy <= 0.5 or share in (0.0, 1.0):
        said = np.full(shape, low + share * (high - low))
    else:
        said = low + (high - low) * rng.beta(SPREAD * share, SPREAD * (1 - share), shape)
    # Stated in whole per cent, and right exactly as often as that.
    said = np.round(said, 2)
    chance = said - about.over if about.accuracy >= 0.5 else 1 - said
    if about.stated == "constant":
        said = np.full(shape, 0.9)
    elif about.stated == "inverse":
        said = np.round(1.5 - said, 2)
    elif about.stated == "none":
        said = np.full(shape, np.nan)
    return said, chance


def _labels(gold: Array, right: Array, ties: float, rng: np.random.Generator) -> Array:
    """Gold where right; else the opposite, or a tie as often as keeps the share of ties at
    gold's.
    """
    tied = rng.random(gold.shape) < (ties / (1 - ties) if ties else 0.0)
    wrong = np.where(gold == 0, rng.choice([-1, 1], gold.shape), np.where(tied, 0, -gold))
    return np.where(right, gold, wrong)


def _over(values: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(values[:, :, None], shape)


def _alternating(shape: tuple[int, ...]) -> Array:
    """+1 where A is shown first, of every second vote."""
    return np.broadcast_to(np.where(np.arange(shape[2]) % 2 == 0, 1, -1), shape)


def _in_one_order(
    gold: Array, situation: Situation, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    """+1 where A is shown first, the same for all votes of an item; gold's response as often as the
    situation says.
    """
    preferred = np.where(gold == 0, rng.choice([-1, 1], shape[:2]), gold)
    gold_first = rng.random(shape[:2]) < situation.gold_first
    return _over(np.where(gold_first, preferred, -preferred), shape)


def _kept(
    situation: Situation, shape: tuple[int, ...], said: Array, rng: np.random.Generator
) -> Array:
    """All votes, or as many pairs of each item as are drawn from 1 to votes/2; without those that
    were rejected.
    """
    if situation.rejected:
        # Of equal confidences any.
        least_sure = np.argsort((said + 1e-6 * rng.random(shape)).reshape(shape[0], -1), axis=1)
        kept = np.ones((shape[0], shape[1] * shape[2]), dtype=bool)
        np.put_along_axis(kept, least_sure[:, : situation.n_rejected], values=False, axis=1)
        return kept.ravel()
    if not situation.unequal:
        return np.ones(np.prod(shape), dtype=bool)
    most = rng.integers(1, shape[2] // 2 + 1, shape[:2])
    if situation.unequal == "mostly one pair":
        most = np.where(rng.random(shape[:2]) < 0.1, shape[2] // 2, 1)
    return (np.arange(shape[2])[None, None] // 2 < most[:, :, None]).ravel()


def _index(shape: tuple[int, ...], axis: int) -> Array:
    """Index along one axis of every entry, flat."""
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return np.broadcast_to(np.arange(shape[axis]).reshape(along), shape).ravel()


def _words(pattern: str, n: int) -> Array:
    return np.array([pattern.format(k) for k in range(n)], dtype=object)


def _table(
    situation: Situation,
    gold: Array,
    vote: Array,
    shown: Array,
    said: Array,
    longer: Array,
    own: Array,
    rater: str,
) -> Table:
    """Canonical columns of votes of shape (draws, items, votes), without the judge's name."""
    draws, items, votes = vote.shape
    item = _index((draws * items, votes), 0)
    wide = np.repeat(longer.ravel(), votes)
    # A judge of the family alpha: its own family's response is A or B at random.
    mine = np.repeat(own.ravel(), votes) == 1
    known = situation.gold not in ("none", "humans")
    several_in_one = situation.orders != "both"
    return {
        "dataset": _words("draw-{:04d}", draws)[_index(vote.shape, 0)],
        "item_id": _words("item-{:07d}", draws * items)[item],
        "category": np.array(["maths", "prose", "code"], dtype=object)[item % 3],
        "model_a": np.where(mine, "alpha-1", "beta-1").astype(object),
        "model_b": np.where(mine, "beta-1", "alpha-1").astype(object),
        "run": _index(vote.shape, 2) // (1 if several_in_one else 2),
        "position": np.where(
            situation.orders == "unknown", None, np.where(shown.ravel() == 1, "ab", "ba")
        ).astype(object),
        "vote": vote.ravel().astype(object),
        "confidence": said.ravel(),
        "gold": np.repeat(gold.ravel(), votes).astype(object)
        if known
        else np.full(vote.size, None),
        "rater_type": np.full(vote.size, rater, dtype=object),
        "status": np.full(vote.size, "ok", dtype=object),
        "length_a": 300 + 50 * wide,
        "length_b": 300 - 50 * wide,
    }


# What is planted.
# ------------------------------------------------------------------------------------------

SIZES = (10, 30, 100, 300, 1000)
POWER_SIZES = (30, 100, 300)
VOTES = ((1, 0.8), (2, 0.0), (2, 0.8), (4, 0.8), (8, 0.8), (8, 1.0))
"""Votes per item, and how alike they are."""

ALL = frozenset(CHECKS)


def _clean(*disturbed: str) -> frozenset[str]:
    """Checks that stay clean; that of repeatability is a fault's only where runs alone differ."""
    return ALL - frozenset(disturbed) - {"repeatability"}


def _without_fault() -> Iterator[Situation]:
    for items in SIZES:
        for votes, alike in VOTES:
            for gold in ("balanced", "one-sided", "half ties"):
                # New opinions on every vote do flip, on more than .20 of pairs.
                dirty = {"stability"} if alike < 0.5 else set()
                # Where gold is constant or tied, runs differ by little else than noise: a low ICC
                # is right.
                dirty |= {"repeatability"} if gold != "balanced" or alike < 0.5 else set()
                # New opinions on items that are hard are coins.
                dirty |= {"coin_share"} if alike < 0.5 else set()
                yield Situation(
                    name=f"no fault, {gold} gold, {votes} votes, alike {alike:g}",
                    items=items,
                    votes=votes,
                    gold=gold,
                    judge=Judge(alike=alike),
                    clean=ALL - dirty,
                )
        base = Situation(name="no fault", items=items, votes=2)
        yield replace(base, name="no fault, unequal votes", votes=8, unequal="evenly")
        yield replace(base, name="no fault, mostly one pair", votes=8, unequal="mostly one pair")
        yield replace(
            base, name="no fault, half ties gold, mostly one pair", votes=8, gold="half ties",
            unequal="mostly one pair", clean=_clean(),
        )  # fmt: skip
        # At the limit of accuracy: a warning there is a false one.
        limit = Judge(accuracy=0.7)
        for votes, unequal in ((1, ""), (2, ""), (8, "mostly one pair")):
            name = f"right on 70 %, {unequal or f'{votes} votes'}"
            yield replace(
                base,
                name=name,
                votes=votes,
                unequal=unequal,
                judge=limit,
                clean=_clean("stability"),
            )
        yield replace(base, name="no fault, gold mostly of its own family", gold_own=0.7)
        yield replace(
            base, name="no fault, 1 % without a verdict", votes=4, judge=Judge(missing=0.01)
        )
        yield replace(base, name="no fault, no gold, three people", gold="none", people=3)
        yield replace(base, name="no fault, no gold, five people", gold="none", people=5)
        yield replace(base, name="no fault, gold and three people", people=3)
        yield replace(base, name="no fault, gold mostly longer", gold_longer=0.7)
        yield replace(
            base,
            name="right on 95 %, one-sided gold",
            gold="one-sided",
            judge=Judge(accuracy=0.95),
            clean=_clean(),
        )
    yield Situation(
        name="no fault, one of 65 judges", items=419, votes=2, judge=Judge(alike=0.9, stated="none")
    )
    for items in POWER_SIZES:
        yield from _honest(items)


def _honest(items: int) -> Iterator[Situation]:
    """Judges and people without a fault, where a rule without reading would do well, where people
    make gold or are all there is, and judges that are noisy alike everywhere.
    """
    base = Situation(name="", items=items, votes=2)
    for share in (0.7, 0.9):
        yield replace(base, name=f"no fault, gold prefers one model in {share:.0%}", gold_own=share)
        yield replace(
            base, name=f"no fault, gold prefers the longer in {share:.0%}", gold_longer=share
        )
        yield replace(
            base, name=f"no fault, one order, gold first in {share:.0%}", votes=1, gold_first=share
        )
    yield replace(
        base,
        name="right on 75 %, gold prefers one model in 70%",
        gold_own=0.7,
        judge=Judge(accuracy=0.75),
        clean=_clean("stability"),
    )
    for people in (3, 5):
        # People err too, so that a calibrated judge is right less often than it states.
        yield replace(
            base,
            name=f"no fault, gold of {people} people",
            gold="humans",
            people=people,
            clean=_clean(*CONFIDENCE),
        )
    for accuracy in (0.65, 0.75):
        name = f"no fault, no gold, five people right on {accuracy:.0%}"
        yield replace(base, name=name, gold="none", people=5, people_accuracy=accuracy)
    yield replace(
        base,
        name="people right on 95 %, gold of others",
        people=3,
        people_accuracy=0.95,
        audited="people",
    )
    yield replace(
        base,
        name="no fault, votes change to a tie by themselves in 30%",
        judge=Judge(extra_ties=0.3, stated="none"),
        clean=_clean("ties", "accuracy"),
    )


def _steady() -> Iterator[Situation]:
    """Votes often enough to tell coins: judges that turn votes everywhere alike, and one that
    tosses a coin on a fifth of the comparisons.
    """
    for items, votes, orders in ((300, 4, "one"), (300, 4, "both"), (60, 6, "one")):
        shown = "in one order" if orders == "one" else "in both orders"
        base = Situation(name="", items=items, votes=votes, orders=orders)
        for flips in (0.03, 0.1, 0.2):
            yield replace(
                base,
                name=f"no fault, turns {flips:.0%} of {votes} votes {shown}",
                judge=Judge(alike=1.0, flips=flips, stated="none"),
                clean=_clean(*(("stability",) if flips > 0.1 else ())),
            )
        yield replace(
            base,
            name=f"coin on 20% of comparisons, {votes} votes {shown}",
            judge=Judge(alike=1.0, coins=0.2, stated="none"),
            fault=f"coin on comparisons, {shown}",
            effect=0.2,
            concerns=("coin_share",),
            clean=_clean("coin_share", "stability", "accuracy"),
        )


def _fault(
    fault: str,
    judges: dict[float, Judge],
    disturbed: tuple[str, ...],
    *,
    votes: tuple[int, ...],
    **given: Any,
) -> Iterator[Situation]:
    for effect, judge in judges.items():
        for items in POWER_SIZES:
            for each in votes:
                yield Situation(
                    name=f"{fault} {effect:g}, {each} votes, alike {judge.alike:g}",
                    items=items,
                    votes=each,
                    judge=judge,
                    fault=fault,
                    effect=effect,
                    clean=_clean(*disturbed),
                    **given,
                )


def _with_faults() -> Iterator[Situation]:
    order = ("position", "stability", "accuracy")
    yield from _fault(
        "slot bias",
        {b: Judge(slot_bias=b) for b in (0.1, 0.2, 0.4)},
        (*order, *CONFIDENCE),
        votes=(2, 4, 8),
    )
    yield from _fault(
        "slot bias, one order", {0.4: Judge(slot_bias=0.4)}, (*order, *CONFIDENCE), votes=(1,)
    )
    yield from _fault(
        "flips without a lean",
        {s: Judge(item_slots=s) for s in (0.2, 0.4)},
        ("stability", "accuracy", *CONFIDENCE),
        votes=(2, 4, 8),
    )
    # Votes of an item that are new opinions each, and votes that mostly repeat the first.
    for alike, votes in ((0.0, (1, 2, 8)), (0.8, (2, 8))):
        yield from _fault(
            "overconfidence",
            {d: Judge(over=d, alike=alike) for d in (0.05, 0.1, 0.2)},
            ("calibration", "overconfidence", "accuracy", "stability", "discrimination"),
            votes=votes,
        )
        yield from _fault(
            "underconfidence",
            {d: Judge(over=-d, accuracy=0.75, alike=alike) for d in (0.1, 0.2)},
            ("calibration", "overconfidence", "discrimination", "stability"),
            votes=votes,
        )
        for stated in ("random", "constant", "inverse"):
            judge = {1.0: Judge(stated=stated, alike=alike)}
            yield from _fault(
                f"{stated} confidence", judge, (*CONFIDENCE, "stability"), votes=votes
            )
    for fault, name in (("length", "length"), ("family", "own_family")):
        # Half of the votes that follow it would have gone that way anyhow.
        judges = {e: Judge(**{fault: 2 * e}) for e in (0.1, 0.2)}
        yield from _fault(
            fault, judges, (name, "accuracy", "stability", *CONFIDENCE), votes=(1, 2, 8)
        )
    yield from _fault(
        "seldom right",
        {p: Judge(accuracy=p, stated="none") for p in (0.3, 0.5, 0.6, 0.65)},
        ("accuracy", "stability"),
        votes=(1, 2, 8),
    )
    yield from _fault(
        "ties",
        {e: Judge(extra_ties=e) for e in (0.1, 0.2, 0.4)},
        ("ties", "accuracy", "stability", *CONFIDENCE),
        votes=(2, 8),
    )
    yield from _fault(
        "no repeatability",
        {1.0: Judge(accuracy=0.55, alike=0.0, stated="none")},
        ("accuracy", "stability", "repeatability"),
        votes=(4, 8),
    )
    yield from _fault(
        "worse than people",
        {d: Judge(accuracy=0.85 - d, stated="none") for d in (0.15, 0.3)},
        ("accuracy", "stability", "agreement"),
        votes=(2,),
        people=4,
        gold="none",
    )
    yield from _fault(
        "no verdict",
        {m: Judge(missing=m) for m in (0.05, 0.1, 0.2)},
        ("data", "stability"),
        votes=(2, 8),
    )


def _unread() -> Iterator[Situation]:
    """Judges that do not read the answers, and gold, people or rows that tell less than they
    seem to.
    """
    blind = Judge(stated="none")
    coin = Judge(accuracy=0.5, stated="none")
    for items in POWER_SIZES:
        base = Situation(name="", items=items, votes=2, family=False)
        one_order = replace(base, votes=1)
        rules = {
            "the same model always": replace(base, gold_own=0.9, judge=replace(blind, family=1.0)),
            "the longer always": replace(base, gold_longer=0.9, judge=replace(blind, length=1.0)),
            "the first always": replace(
                one_order, gold_first=0.9, judge=replace(blind, slot_bias=1.0)
            ),
            "the first always, gold too": replace(
                one_order, gold_first=1.0, judge=replace(blind, slot_bias=1.0)
            ),
            "the same label always": replace(
                one_order, orders="unknown", gold_a=0.9, judge=replace(blind, label=1.0)
            ),
        }
        for fault, situation in rules.items():
            yield _planted(situation, fault, ("accuracy",))
        for people, accuracy in ((3, 0.55), (3, 0.75), (3, 0.85), (5, 0.75)):
            fault = f"coin, gold of {people} people right on {accuracy:.0%}"
            by_people = replace(base, gold="humans", people=people, people_accuracy=accuracy)
            yield _planted(replace(by_people, judge=coin), fault, ("accuracy",))
        repeats = replace(coin, alike=1.0)
        for accuracy in (0.5, 0.65, 0.75):
            fault = f"coin that repeats itself, five people right on {accuracy:.0%}"
            beside = replace(base, gold="none", people=5, people_accuracy=accuracy, judge=repeats)
            yield _planted(beside, fault, ("accuracy",))
        for share in (0.05, 0.15):
            for votes in (1, 2):
                rejected = replace(base, votes=votes, rejected=share)
                yield _planted(rejected, "rows rejected", ("data",), effect=share)
        lean = replace(one_order, judge=Judge(slot_bias=0.3))
        yield _planted(lean, "lean in one order", ("position",), effect=0.15)
        for share in (0.5, 1.0):
            for votes in (2, 4):
                ties = replace(base, votes=votes, judge=Judge(swap_ties=share))
                yield _planted(ties, "ties on swap", ("stability",), effect=share)
        own = replace(base, gold="people's mode", people=3, people_accuracy=0.75)
        yield _planted(replace(own, audited="people"), "gold is their own mode", ("accuracy",))
        first = replace(base, votes=4, gold="first vote", judge=Judge(accuracy=0.75, alike=0.0))
        yield _planted(first, "gold is its first vote", ("accuracy",))


def _planted(
    situation: Situation, fault: str, concerns: tuple[str, ...], *, effect: float = 1.0
) -> Situation:
    name = fault if effect == 1.0 else f"{fault} {effect:g}"
    return replace(
        situation,
        name=f"{name}, {situation.votes} votes",
        fault=fault,
        effect=effect,
        concerns=concerns,
        clean=frozenset(),
    )


def situations() -> tuple[Situation, ...]:
    """Every situation of one judge, those without a fault first."""
    steady = tuple(_steady())
    honest = tuple(one for one in steady if one.fault == "none")
    coins = tuple(one for one in steady if one.fault != "none")
    return (*_without_fault(), *honest, *_with_faults(), *coins, *_unread())


# Many judges, boards and files.
# ----------------------------------------------------------------------------


def many_judges(
    rng: np.random.Generator,
    *,
    judges: int = 65,
    items: int = 419,
    both_orders: float = 0.88,
    stated: bool = False,
) -> tuple[Table, dict[str, float]]:
    """Judges of one benchmark in the shape of LLMBar, and how often each is right: about 51,000
    votes.

    Right on .95 down to .30 of pairs; `both_orders` of the judges are shown both orders, the others
    one; two in a hundred outputs have no verdict. If `stated`, every vote has a confidence, too
    high for two thirds.
    """
    gold = rng.choice([-1, 1], (1, items))
    tables, right = [], {}
    for place in range(judges):
        accuracy = 0.95 - 0.65 * place / max(judges - 1, 1)
        votes = 2 if place % judges < round(both_orders * judges) else 1
        situation = Situation(
            name="",
            items=items,
            votes=votes,
            judge=Judge(accuracy=accuracy, missing=0.0, stated="none", alike=0.9),
        )
        shape = (1, items, votes)
        opinion = _labels(gold, rng.random(shape[:2]) < accuracy, 0.0, rng)
        anew = _labels(_over(gold, shape), rng.random(shape) < accuracy, 0.0, rng)
        vote = np.where(rng.random(shape) < 0.9, opinion[:, :, None], anew)
        side = np.ones(shape[:2], dtype=np.int64)
        said = np.full(shape, np.nan)
        if stated:
            said = np.clip(rng.normal(accuracy, 0.1, shape) + 0.1 * (place % 3), 0.5, 1.0).round(2)
        shown = rng.choice([-1, 1], shape) if votes == 1 else _alternating(shape)
        table = _table(situation, gold, vote, shown, said, side, side, "llm")
        name = f"judge-{place:02d}"
        table["judge"] = np.full(vote.size, name, dtype=object)
        failed = rng.random(vote.size) < 0.02 * (place % 5 == 4)
        table["status"] = np.where(failed, "unparsed", "ok").astype(object)
        table["vote"] = np.where(failed, None, table["vote"])
        tables.append(table)
        right[name] = accuracy
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}, right


def equal_models(
    rng: np.random.Generator, *, models: int, items: int, ties: float = 0.2, judges: int = 1
) -> Table:
    """Every model against the model `anchor` on every item, all equally good: a board has
    one tier.
    """
    shape = (1, models * items, 2 * judges)
    item = np.tile(np.arange(items), models).repeat(2 * judges)
    model = np.arange(models).repeat(items * 2 * judges)
    # Some prompts are hard for all candidates alike, so that the scores of an item are correlated.
    ease = np.clip(rng.normal(0.5, 0.15, items), 0.05, 0.95)[np.tile(np.arange(items), models)]
    base = np.where(rng.random(shape[:2]) < ease[None], 1, -1)
    base = np.where(rng.random(shape[:2]) < ties, 0, base)
    anew = np.where(rng.random(shape) < ease[None, :, None], 1, -1)
    vote = np.where(rng.random(shape) < 0.8, base[:, :, None], anew)
    shown = _alternating(shape)
    rows = vote.size
    return {
        "dataset": np.full(rows, "equal models", dtype=object),
        "item_id": _words("item-{:05d}", items)[item],
        "model_a": _words("model-{:02d}", models)[model],
        "model_b": np.full(rows, "anchor", dtype=object),
        "judge": _words("judge-{:02d}", judges)[_index(shape, 2) // 2],
        "run": np.zeros(rows, dtype=np.int64),
        "position": np.where(shown.ravel() == 1, "ab", "ba").astype(object),
        "vote": vote.ravel().astype(object),
        "rater_type": np.full(rows, "llm", dtype=object),
        "status": np.full(rows, "ok", dtype=object),
    }


def _csv(table: Table, *, separator: str = ",", words: dict[Any, str] | None = None) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(table)
    for row in zip(*table.values(), strict=True):
        writer.writerow([_cell(name, value, words) for name, value in zip(table, row, strict=True)])
    return text.getvalue().encode()


def _cell(name: str, value: Any, words: dict[Any, str] | None) -> Any:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return words[value] if words and name in ("vote", "gold") else value


def _records(table: Table) -> list[dict[str, Any]]:
    plain = {
        name: [None if value is None or value != value else value for value in column.tolist()]
        for name, column in table.items()
    }
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


NAMED = {1: "model_a", 0: "tie", -1: "model_b"}
SIDES = {1: "left", 0: "both_bad", -1: "right"}


def _by_side(table: Table) -> Table:
    """The table with votes and gold that name the side of the screen, model_a left in the
    order ab.
    """
    sign = np.where(table["position"] == "ba", -1, 1)
    words = {
        name: np.array(
            [
                None if x is None or x != x else SIDES[int(x) * s]
                for x, s in zip(table[name], sign, strict=True)
            ],
            dtype=object,
        )
        for name in ("vote", "gold")
    }
    return table | words


FILES: dict[str, tuple[str, Callable[[Table], bytes]]] = {
    "plain": (".csv", _csv),
    "semicolons": (".csv", lambda table: _csv(table, separator=";")),
    "byte order mark": (".csv", lambda table: b"\xef\xbb\xbf" + _csv(table)),
    "Windows lines": (".csv", lambda table: _csv(table).replace(b"\n", b"\r\n")),
    "labels by name": (".csv", lambda table: _csv(table, words=NAMED)),
    "left, right and both bad": (".csv", lambda table: _csv(_by_side(table))),
    "rows shuffled": (
        ".csv",
        lambda table: _csv(
            {n: c[np.random.default_rng(0).permutation(len(c))] for n, c in table.items()}
        ),
    ),
    "JSON lines": (".jsonl", lambda table: "\n".join(map(json.dumps, _records(table))).encode()),
    "JSON list": (".json", lambda table: json.dumps(_records(table), indent=1).encode()),
    "JSON object, a row per line": (
        ".json",
        lambda table: (
            '{"votes": [\n' + ",\n".join(map(json.dumps, _records(table))) + "\n]}\n"
        ).encode(),
    ),
}
"""The same votes as files of other forms: suffix, and the bytes of a table. A verdict is the same
in each.
"""
