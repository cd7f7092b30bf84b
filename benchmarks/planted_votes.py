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
Gold = Literal["balanced", "one-sided", "half ties", "none"]
Stated = Literal["calibrated", "random", "constant", "inverse", "none"]

CHECKS = (
    "accuracy",
    "position",
    "stability",
    "flip_excess",
    "calibration",
    "overconfidence",
    "discrimination",
    "repeatability",
    "ties",
    "length",
    "own_family",
    "agreement",
    "data",
)
CONFIDENCE = ("calibration", "overconfidence", "discrimination")
TIES = {"balanced": 0.0, "one-sided": 0.0, "half ties": 0.5, "none": 0.0}
"""Share of gold ties."""


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
    extra_ties : probability that a vote is turned into a tie.
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
    extra_ties: float = 0.0
    missing: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A judge, what it judges, and which checks have nothing to find.

    votes : per item: one in an order drawn at random, else half of them in each order. `unequal`:
        at most; "evenly", each number of pairs is as frequent; "mostly one pair", one item in ten
        has them all.
    gold_longer, gold_own : probability that gold prefers the longer response, that of the judge's
        own family.
    people : people who label every item once, each right on `people_accuracy`.
    fault, effect : what is planted; "none" and 0 where nothing is.
    clean : checks that have nothing to find; on these every warning is a false alarm.
    """

    name: str
    items: int
    votes: int
    judge: Judge = field(default_factory=Judge)
    gold: Gold = "balanced"
    unequal: Literal["", "evenly", "mostly one pair"] = ""
    gold_longer: float = 0.5
    gold_own: float = 0.5
    people: int = 0
    people_accuracy: float = 0.85
    fault: str = "none"
    effect: float = 0.0
    clean: frozenset[str] = frozenset(CHECKS)

    @property
    def rows(self) -> int:
        """Rows of one draw at most."""
        return self.items * (self.votes + self.people)


SPREAD = 2.0
"""α + β of the beta distribution of an item's probability to be right, between .5 and 1."""


def draw(situation: Situation, draws: int, rng: np.random.Generator) -> Table:
    """Tables of `draws` independent draws, one below another, as columns of equal length.

    Judge `judge-0007` of data set `draw-0007` judges items that no other draw has. Text columns are
    objects; an unknown confidence is NaN, an unknown gold label None.
    """
    about = situation.judge
    shape = (draws, situation.items, situation.votes)
    gold = _gold(situation.gold, shape[:2], rng)
    stated, chance = _confidence(about, shape[:2], rng)
    opinion = _labels(gold, rng.random(shape[:2]) < chance, TIES[situation.gold], rng)
    anew = _labels(
        _over(gold, shape), rng.random(shape) < chance[:, :, None], TIES[situation.gold], rng
    )
    vote = np.where(rng.random(shape) < about.alike, opinion[:, :, None], anew)
    shown = _shown(shape, rng)
    # +1 where response A is the longer, or the own family's.
    longer, own = (
        np.where(rng.random(shape[:2]) < preferred, 1, -1) * np.where(gold == 0, 1, gold)
        for preferred in (situation.gold_longer, situation.gold_own)
    )
    for share, side in ((about.length, longer[:, :, None]), (about.family, own[:, :, None])):
        vote = np.where(rng.random(shape) < share, side, vote)
    stuck = rng.choice([-1, 1], shape[:2]) * (rng.random(shape[:2]) < about.item_slots)
    vote = np.where(stuck[:, :, None] != 0, stuck[:, :, None] * shown, vote)
    vote = np.where(rng.random(shape) < about.slot_bias, shown, vote)
    vote = np.where(rng.random(shape) < about.extra_ties, 0, vote)
    said = _over(stated, shape)
    if about.stated == "random":
        said = np.round(rng.uniform(0.5, 1.0, shape), 2)
    judge = _table(situation, gold, vote, shown, said, longer, own, "llm")
    judge["judge"] = _words("judge-{:04d}", draws)[_index(shape, 0)]
    failed = rng.random(vote.size) < about.missing
    judge["status"] = np.where(failed, "unparsed", "ok").astype(object)
    judge["vote"] = np.where(failed, None, judge["vote"])
    rows = _kept(situation, shape, rng)
    kept = [{name: column[rows] for name, column in judge.items()}]
    for person in range(situation.people):
        one = (*shape[:2], 1)
        right = rng.random(one) < situation.people_accuracy
        label = _labels(_over(gold, one), right, TIES[situation.gold], rng)
        table = _table(
            situation, gold, label, _shown(one, rng), np.full(one, np.nan), longer, own, "human"
        )
        table["judge"] = _words(f"person-{{:04d}}-{person + 1}", draws)[_index(one, 0)]
        kept.append(table)
    return {name: np.concatenate([table[name] for table in kept]) for name in kept[0]}


def _gold(form: Gold, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    side = np.ones(shape, dtype=np.int64) if form == "one-sided" else rng.choice([-1, 1], shape)
    return np.where(rng.random(shape) < TIES[form], 0, side)


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


def _shown(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """+1 where A is shown first: the orders alternate, and a single vote has one at random."""
    if shape[2] == 1:
        return rng.choice([-1, 1], shape)
    return np.broadcast_to(np.where(np.arange(shape[2]) % 2 == 0, 1, -1), shape)


def _kept(situation: Situation, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """All votes, or as many pairs of each item as are drawn from 1 to votes/2."""
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
    known = situation.gold != "none"
    return {
        "dataset": _words("draw-{:04d}", draws)[_index(vote.shape, 0)],
        "item_id": _words("item-{:07d}", draws * items)[item],
        "category": np.array(["maths", "prose", "code"], dtype=object)[item % 3],
        "model_a": np.where(mine, "alpha-1", "beta-1").astype(object),
        "model_b": np.where(mine, "beta-1", "alpha-1").astype(object),
        "run": _index(vote.shape, 2) // 2,
        "position": np.where(shown.ravel() == 1, "ab", "ba").astype(object),
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
    order = ("position", "stability", "flip_excess", "accuracy")
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
        ("stability", "flip_excess", "accuracy", *CONFIDENCE),
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
        ("ties", "accuracy", "flip_excess", *CONFIDENCE),
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
        ("data", "flip_excess"),
        votes=(2, 8),
    )


def situations() -> tuple[Situation, ...]:
    """Every situation of one judge, those without a fault first."""
    return (*_without_fault(), *_with_faults())


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
        table = _table(situation, gold, vote, _shown(shape, rng), said, side, side, "llm")
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
    shown = _shown(shape, rng)
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
