"""Counts of judges whose true figures are known, drawn without a line of `core`.

A world says what is drawn on each item and what the figure is over all items that there could be.
The rate of an item is drawn from a beta distribution: votes of one item are alike, as they are in
real files, and how alike is a number of the world. Truths are integrals over that distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.special import betaincinv

Array = np.ndarray[Any, Any]
Drawn = dict[str, Any]
POINTS = 20_000
"""Quantiles of the beta distribution over which a truth is averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """How many votes, or comparisons, items have: all `most`, or one in ten `most` and the others
    `least`.
    """

    least: int
    most: int

    @property
    def name(self) -> str:
        if self.least == self.most:
            return f"{self.most} each"
        return f"{self.least} or {self.most}"

    def of(self, items: int, rng: np.random.Generator) -> Array:
        return np.where(rng.random(items) < 0.1, self.most, self.least)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Where counts come from.

    setting : in words.  truth : the figure over all items there could be.
    draw : items, votes per item and a generator → counts.
    """

    setting: str
    truth: float
    draw: Callable[[int, Votes, np.random.Generator], Drawn]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Rates of items: a beta distribution of this mean, and a correlation of votes of one item."""

    mean: float
    alike: float = 0.3

    @property
    def shapes(self) -> tuple[float, float]:
        total = 1 / self.alike - 1
        return self.mean * total, (1 - self.mean) * total

    def draw(self, items: int, rng: np.random.Generator) -> Array:
        return rng.beta(*self.shapes, items)

    def average(self, figure: Callable[[Array], Array]) -> float:
        """Mean of a figure over all rates."""
        at = betaincinv(*self.shapes, (np.arange(POINTS) + 0.5) / POINTS)
        return float(figure(at).mean())


def _codes(items: int) -> dict[str, Array]:
    return {"comparison": np.arange(items), "item": np.arange(items)}


# Right or wrong.
# ------------------------------------------------------------------------------------------


def credit(rates: Rates, ties: float) -> World:
    """Right at the rate of the item, else wrong; a tie instead of either in a share of votes."""

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        n, p = votes.of(items, rng), rates.draw(items, rng)
        tie = rng.binomial(n, ties)
        right = rng.binomial(n - tie, p)
        gold = rng.choice([-1, 1], items)
        wrong = n - tie - right
        return _codes(items) | {
            "plus": np.where(gold == 1, right, wrong),
            "tie": tie,
            "minus": np.where(gold == 1, wrong, right),
            "gold": gold,
        }

    return World(
        setting=f"right on {rates.mean:.0%}, {ties:.0%} ties, alike {rates.alike:g}",
        truth=(1 - ties) * rates.mean + ties / 2,
        draw=draw,
    )


def share(rates: Rates) -> World:
    """A thing that happens to an output at the rate of its item."""

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        n = votes.of(items, rng)
        hits = rng.binomial(n, rates.draw(items, rng))
        return {"item": np.arange(items), "n": n, "correct": hits}

    return World(setting=f"{rates.mean:.0%}, alike {rates.alike:g}", truth=rates.mean, draw=draw)


def categories(means: tuple[float, ...]) -> World:
    """Categories of these rates; the truth depends on which is found the weakest."""

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        return {
            f"{mean:.3f}": credit(Rates(mean=mean), 0.0).draw(items, votes, rng) for mean in means
        }

    named = ", ".join(f"{mean:.0%}" for mean in means)
    return World(setting=f"right on {named}", truth=np.nan, draw=draw)


def ties_beside_gold(rates: Rates, of_gold: float) -> World:
    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        n = votes.of(items, rng)
        tie = rng.binomial(n, rates.draw(items, rng))
        gold = np.where(rng.random(items) < of_gold, 0, 1)
        return _codes(items) | {
            "plus": n - tie,
            "tie": tie,
            "minus": np.zeros_like(n),
            "gold": gold,
        }

    return World(
        setting=f"ties {rates.mean:.0%}, gold's {of_gold:.0%}",
        truth=rates.mean - of_gold,
        draw=draw,
    )


def one_sided(right_with: float, right_against: float, share_with: float) -> World:
    """Gold is A on a share of items; right at one rate there and at another where it is B."""

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        gold = np.where(rng.random(items) < share_with, 1, -1)
        n = votes.of(items, rng)
        p = np.where(
            gold == 1,
            Rates(mean=right_with).draw(items, rng),
            Rates(mean=right_against).draw(items, rng),
        )
        right = rng.binomial(n, p)
        return _codes(items) | {
            "plus": np.where(gold == 1, right, n - right),
            "tie": np.zeros_like(n),
            "minus": np.where(gold == 1, n - right, right),
            "gold": gold,
        }

    return World(
        setting=f"gold A in {share_with:.0%}, right on {right_with:.0%} and {right_against:.0%}",
        truth=(right_with + right_against) / 2,
        draw=draw,
    )


# Confidence.
# ------------------------------------------------------------------------------------------

STATED = np.array([0.55, 0.65, 0.75, 0.85, 0.95])
OFTEN = np.array([0.1, 0.2, 0.2, 0.3, 0.2])
"""Confidences that are stated, one in each of five bins, and how often."""


def confident(over: float, alike: float) -> Drawn:
    """Draws of verdicts that state so much more than they are right, and the three truths."""

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        stated = rng.choice(STATED, items, p=OFTEN)
        n = votes.of(items, rng)
        total = 1 / alike - 1
        p = rng.beta((stated - over) * total, (1 - stated + over) * total)
        return {
            "item": np.arange(items),
            "confidence": stated,
            "n": n,
            "correct": rng.binomial(n, p),
        }

    right, wrong = OFTEN * (STATED - over), OFTEN * (1 - STATED + over)
    right, wrong = right / right.sum(), wrong / wrong.sum()
    surer = np.tril(np.ones((5, 5)), -1) + np.eye(5) / 2
    truths = {"gap": over, "ece": abs(over), "auroc": float(right @ surer @ wrong)}
    setting = f"states {over:+.0%}, alike {alike:g}"
    return {name: World(setting=setting, truth=truth, draw=draw) for name, truth in truths.items()}


# Order.
# ------------------------------------------------------------------------------------------


def pairs(rates: Rates, bias: float, ties: float) -> dict[str, World]:
    """Pairs of both orders, in a share `bias` of which the first wins whatever it is; votes of a
    pair are independent but for the item.
    """

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        p, n = rates.draw(items, rng), votes.of(items, rng)
        cell = rng.multinomial(n, _nine(p, bias, ties)).reshape(items, 3, 3)
        step = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
        ab, ba = cell.sum(axis=2), cell.sum(axis=1)
        repeats = n * (n - 1)
        alike = (ab * (ab - 1)).sum(axis=1) // 2 + (ba * (ba - 1)).sum(axis=1) // 2
        slot = (ab - ba) @ np.array([-1, 0, 1])
        return _codes(items) | {
            "category": np.zeros(items, dtype=np.int64),
            "categories": ("",),
            "first": ab[:, 2] + ba[:, 0],
            "second": ab[:, 0] + ba[:, 2],
            "tie": ab[:, 1] + ba[:, 1],
            "pairs": n,
            "flips": (cell * (step > 0)).sum(axis=(1, 2)),
            "hard_flips": (cell * (step == 2)).sum(axis=(1, 2)),
            "slot_sum": slot,
            "same_order_pairs": repeats,
            "same_order_disagreements": repeats - alike,
            "margin": np.full(items, np.nan),
        }

    both = (1 - ties) ** 2
    hard = both * rates.average(
        lambda p: (
            _towards_a(p, bias, 1)
            + _towards_a(p, bias, -1)
            - 2 * _towards_a(p, bias, 1) * _towards_a(p, bias, -1)
        )
    )
    truths = {
        "lean": (1 - ties) * bias,
        "hard flips": hard,
        "half flips": hard + ties * (1 - ties),
        "flip excess": both * bias**2,
    }
    setting = f"slot bias {bias:g}, {ties:.0%} ties, alike {rates.alike:g}"
    return {name: World(setting=setting, truth=truth, draw=draw) for name, truth in truths.items()}


def _towards_a(p: Array, bias: float, shown: int) -> Array:
    """Probability of A where it is shown first (1) or second (−1)."""
    return (1 - bias) * p + (bias if shown == 1 else 0.0)


def _nine(p: Array, bias: float, ties: float) -> Array:
    """(items, 9) probabilities of the votes −1, 0, +1 in the order ab by those in ba."""
    sides = []
    for shown in (1, -1):
        a = (1 - ties) * _towards_a(p, bias, shown)
        sides.append(np.stack([1 - ties - a, np.full(len(p), ties), a], axis=1))
    nine = (sides[0][:, :, None] * sides[1][:, None, :]).reshape(len(p), 9)
    return np.asarray(nine / nine.sum(axis=1, keepdims=True))


def one_order(right_first: float, right_second: float) -> World:
    """Each comparison in one order; right at one rate where gold is first, at another if second."""

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        gold, a_first = rng.choice([-1, 1], items), rng.random(items) < 0.5
        gold_first = (gold == 1) == a_first
        n = votes.of(items, rng)
        p = np.where(
            gold_first,
            Rates(mean=right_first).draw(items, rng),
            Rates(mean=right_second).draw(items, rng),
        )
        right = rng.binomial(n, p)
        cast = np.zeros((items, 3), dtype=np.int64)
        cast[np.arange(items), gold + 1] = right
        cast[np.arange(items), 1 - gold] = n - right
        shown = a_first[:, None]
        return _codes(items) | {
            "ab": np.where(shown, cast, 0),
            "ba": np.where(shown, 0, cast),
            "gold": gold,
        }

    return World(
        setting=f"right on {right_first:.0%} of gold first, {right_second:.0%} second",
        truth=(right_first - right_second) / 2,
        draw=draw,
    )


# Repeats, other raters.
# ------------------------------------------------------------------------------------------


def repeats(rates: Rates, k: int) -> World:
    """k votes on every comparison; the truth is ICC(3,k) of the variances of this world."""

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        p = rates.draw(items, rng)
        ratings = np.where(rng.random((items, k)) < p[:, None], 1.0, -1.0)
        return {"item": np.arange(items), "ratings": ratings}

    between = 4 * (rates.average(lambda p: p**2) - rates.mean**2)
    within = 4 * rates.average(lambda p: p * (1 - p))
    return World(
        setting=f"A in {rates.mean:.0%}, alike {rates.alike:g}",
        truth=between / (between + within / k),
        draw=draw,
    )


def coins(share_of_coins: float, steady: float) -> World:
    """Votes of one order: a coin on a share of items, else for one side at the rate `steady`."""

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        n = votes.of(items, rng)
        p = np.where(rng.random(items) < share_of_coins, 0.5, steady)
        p = np.where(rng.random(items) < 0.5, p, 1 - p)
        plus = rng.binomial(n, p)
        return _codes(items) | {
            "plus": plus,
            "tie": np.zeros_like(n),
            "minus": n - plus,
            "gold": np.full(items, -9),
        }

    return World(
        setting=f"coin on {share_of_coins:.0%}, else {steady:.0%} for one side",
        truth=share_of_coins,
        draw=draw,
    )


def raters(right: tuple[float, ...], alike: float, sides: float = 0.5) -> Callable[..., Drawn]:
    """One vote of each rater on every comparison; `votes` are comparisons per item. An item has one
    right label and one ease, which moves all raters alike.
    """

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        size = votes.of(items, rng)
        item = np.arange(items).repeat(size)
        truth = np.where(rng.random(items) < sides, 1, -1)[item]
        ease = Rates(mean=0.5, alike=alike).draw(items, rng)[item]
        cast = [np.where(rng.random(len(item)) < _eased(p, ease), truth, -truth) for p in right]
        return {"item": item, "cast": cast, "gold": truth}

    return draw


def _eased(p: float, ease: Array) -> Array:
    """A rater's rate on an item: p on average, between 2p − 1 and 1 with the ease of the item."""
    return np.asarray(2 * p - 1 + 2 * (1 - p) * ease)


def over_cases(
    right: tuple[float, ...], alike: float, figure: Callable[[Array], tuple[float, ...]]
) -> Array:
    """Means of figures of the labels of all raters, 1 right and −1 wrong, over cases and items."""
    at = betaincinv(*Rates(mean=0.5, alike=alike).shapes, (np.arange(POINTS) + 0.5) / POINTS)
    rates = np.stack([_eased(p, at) for p in right])
    total = 0.0
    for case in product((1, -1), repeat=len(right)):
        labels = np.array(case)
        chance = np.where(labels[:, None] == 1, rates, 1 - rates).prod(axis=0).mean()
        total = total + chance * np.array(figure(labels))
    return np.asarray(total)


def kappa(right: tuple[float, float], alike: float, sides: float) -> World:
    (equal,) = over_cases(right, alike, lambda x: (float(x[0] == x[1]),))
    plus = [sides * p + (1 - sides) * (1 - p) for p in right]
    by_chance = plus[0] * plus[1] + (1 - plus[0]) * (1 - plus[1])
    return World(
        setting=f"right on {right[0]:.0%} and {right[1]:.0%}, A right in {sides:.0%}",
        truth=float((equal - by_chance) / (1 - by_chance)),
        draw=raters(right, alike, sides),
    )


def people_rate(right: tuple[float, ...], alike: float) -> World:
    """Of the persons whose others decide, how many say the same."""

    def figure(labels: Array) -> tuple[float, ...]:
        others = labels.sum() - labels
        return float(((others != 0) & (np.sign(others) == labels)).sum()), float(
            (others != 0).sum()
        )

    same, deciding = over_cases(right, alike, figure)
    named = f"{len(right)} people right on {right[0]:.0%}"
    return World(setting=named, truth=float(same / deciding), draw=raters(right, alike))


def beside_people(judge: float, right: tuple[float, ...], alike: float) -> World:
    """The judge is the first rater."""

    def figure(labels: Array) -> tuple[float, ...]:
        people = labels[1:]
        mode = np.sign(people.sum() - people)
        return (float(((labels[0] == mode).astype(float) - (people == mode)).mean()),)

    (truth,) = over_cases((judge, *right), alike, figure)
    named = f"judge right on {judge:.0%}, {len(right)} people on {right[0]:.0%}"
    return World(setting=named, truth=float(truth), draw=raters((judge, *right), alike))


def credit_by_people(judge: float, right: tuple[float, ...], alike: float) -> World:
    def figure(labels: Array) -> tuple[float, ...]:
        mode = np.sign(labels[1:].sum())
        return float(mode != 0 and mode == labels[0]), float(mode != 0)

    same, deciding = over_cases((judge, *right), alike, figure)
    named = f"judge right on {judge:.0%}, {len(right)} people on {right[0]:.0%}"
    return World(setting=named, truth=float(same / deciding), draw=raters((judge, *right), alike))


# What moves a judge beside the answers.
# ------------------------------------------------------------------------------------------


def towards(effect: float, gold_with: float, rates: Rates) -> World:
    """A share of votes, twice the effect, goes to one side whatever is right; gold is on that side
    in `gold_with` of the items.
    """

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        gold = np.where(rng.random(items) < gold_with, 1, -1)
        n = votes.of(items, rng)
        p = rates.draw(items, rng)
        follows = 2 * effect
        to_side = follows + (1 - follows) * np.where(gold == 1, p, 1 - p)
        longer = rng.binomial(n, to_side)
        return _codes(items) | {
            "longer": longer,
            "shorter": n - longer,
            "tie": np.zeros_like(n),
            "gold": gold,
        }

    return World(
        setting=f"effect {effect:g}, gold on that side in {gold_with:.0%}", truth=effect, draw=draw
    )


def changed(obeys: float, flips: float, rates: Rates) -> dict[str, World]:
    """Votes without and with a change: of one side, that a share of votes follows; of both, that
    turns a share of votes.
    """

    def draw(items: int, votes: Votes, rng: np.random.Generator) -> Drawn:
        p, n = rates.draw(items, rng), votes.of(items, rng)
        side = rng.choice([-1, 1], items)
        led = (1 - obeys) * p + obeys * (side == 1)
        turned = (1 - flips) * p + flips * (1 - p)
        plus = {
            name: rng.binomial(n, rate)
            for name, rate in (("plain", p), ("one", led), ("both", turned))
        }
        counted = {
            name: np.stack([n - of, np.zeros_like(n), of], axis=1) for name, of in plus.items()
        }
        return {"side": side, **counted}

    truths = {
        "one side": obeys / 2,
        "both sides": flips * rates.average(lambda p: (1 - 2 * p) ** 2),
    }
    settings = {"one side": f"follows in {obeys:.0%}", "both sides": f"turns {flips:.0%}"}
    return {
        name: World(setting=settings[name], truth=truth, draw=draw)
        for name, truth in truths.items()
    }
