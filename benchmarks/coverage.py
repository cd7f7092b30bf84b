"""How often the interval of every check holds the truth: `python -m benchmarks.coverage`.

Counts are drawn by `coverage_votes`, which shares no code with the methods and knows the truth;
intervals are those that checks and `judges.*` show. From the number of items at which a check is
graded, at 30 and at 100 items, with one to forty votes per item, equal and very unequal.
"""

from __future__ import annotations

import argparse
import math
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.questions.accuracy.method import (
    blind_rule,
    by_category,
    half_credit,
    missing_outputs,
    tie_gap,
)
from core.questions.agreement.judge_vs_human import (
    judge_against_people,
    judge_credit_against_people,
    people_agreement,
)
from core.questions.agreement.kappa import agreement_matrix
from core.questions.agreement.reliability import icc
from core.questions.agreement.steadiness import coin_share
from core.questions.confidence.calibration_error import confidence_gap, ece_interval
from core.questions.confidence.selective import auroc
from core.questions.leaning.changes import changes
from core.questions.leaning.preference import own_family, verbosity
from core.questions.order.method import first_slot_gain, position_bias
from core.records import (
    NO_GOLD,
    LengthCounts,
    OrderCounts,
    OutcomeCounts,
    OutputCounts,
    PositionCounts,
    RatingTable,
    VoteCounts,
)
from core.schema import Perturbed
from core.stats.estimate import Estimate
from core.stats.intervals import wilson_by_item

from . import coverage_votes as worlds
from .coverage_votes import Drawn, Rates, Votes, World

DRAWS, SLOW_DRAWS = 1000, 400
WANTED = 0.93
SIZES = (30, 100)
"""Items, beside the number at which a check is graded."""
FEW, MANY = Votes(least=1, most=1), Votes(least=40, most=40)
VOTES = (FEW, Votes(least=4, most=4), MANY, Votes(least=1, most=40))
TWICE = (Votes(least=2, most=2), MANY, Votes(least=2, most=40))
FOUR = (Votes(least=4, most=4), MANY, Votes(least=4, most=40))
Held = tuple[Estimate | None, float]
"""An interval, and the truth that it is to hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An interval of the product, the worlds that it is tried on, and from how many items.

    measure : what was drawn, and the truth of the world → the estimate and its truth.
    """

    name: str
    measure: Callable[[Drawn, float], Held]
    worlds: tuple[World, ...]
    least: int = 10
    votes: tuple[Votes, ...] = VOTES
    draws: int = DRAWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Share of the draws with an interval in which it held the truth; `known`: such draws."""

    name: str
    setting: str
    items: int
    votes: str
    draws: int
    known: int
    share: float


def _only(estimate: Callable[[Drawn], Estimate | None]) -> Callable[[Drawn, float], Held]:
    return lambda drawn, truth: (estimate(drawn), truth)


def _outputs(drawn: Drawn) -> Estimate | None:
    cast = drawn["n"] - drawn["correct"]
    nothing = np.zeros_like(cast)
    codes = drawn["item"]
    return missing_outputs(
        None,
        OutputCounts(
            comparison=codes,
            item=codes,
            plus=cast,
            tie=nothing,
            minus=nothing,
            missing=drawn["correct"],
            gold=nothing,
        ),
    )


def _weakest(drawn: Drawn, _: float) -> Held:
    of_each = by_category({name: VoteCounts(**votes) for name, votes in drawn.items()})
    if not of_each:
        return None, math.nan
    name = next(iter(of_each))
    return of_each[name], float(name)


def _position(figure: str) -> Callable[[Drawn, float], Held]:
    return _only(lambda drawn: getattr(position_bias(PositionCounts(**drawn)), figure))


def _ece(drawn: Drawn) -> Estimate:
    return ece_interval(OutcomeCounts(**drawn), rng=np.random.default_rng(0))


def _gap(drawn: Drawn) -> Estimate | None:
    gap = confidence_gap(OutcomeCounts(**drawn))
    return gap.gap if gap else None


def _icc(drawn: Drawn) -> Estimate | None:
    return icc(RatingTable(**drawn, orders="ab", oriented=True)).icc_3_k


def _family(drawn: Drawn) -> Estimate | None:
    votes = VoteCounts(
        comparison=drawn["comparison"],
        item=drawn["item"],
        plus=drawn["longer"],
        tie=drawn["tie"],
        minus=drawn["shorter"],
        gold=drawn["gold"],
    )
    return own_family(votes, np.ones(len(votes), dtype=np.int64), []).difference


def _length(drawn: Drawn) -> Estimate | None:
    length = verbosity(LengthCounts(**drawn))
    return length.beyond_gold if length else None


def _rater(drawn: Drawn, cast: Any) -> VoteCounts:
    return VoteCounts(
        comparison=np.arange(len(cast)),
        item=drawn["item"],
        plus=(cast == 1).astype(np.int64),
        tie=np.zeros(len(cast), dtype=np.int64),
        minus=(cast == -1).astype(np.int64),
        gold=np.full(len(cast), NO_GOLD),
    )


def _people(drawn: Drawn, start: int = 0) -> dict[str, VoteCounts]:
    return {f"p{k}": _rater(drawn, cast) for k, cast in enumerate(drawn["cast"][start:])}


def _judge_and_people(
    measure: Callable[[VoteCounts, dict[str, VoteCounts]], Estimate | None],
) -> Callable[[Drawn, float], Held]:
    return _only(lambda drawn: measure(_rater(drawn, drawn["cast"][0]), _people(drawn, 1)))


def _robustness(change: str) -> Callable[[Drawn, float], Held]:
    def measured(drawn: Drawn) -> Estimate | None:
        codes = np.arange(len(drawn["side"]))

        def shown(votes: Any, rows: Any) -> OrderCounts:
            return OrderCounts(
                comparison=codes[rows],
                item=codes[rows],
                ab=votes[rows],
                ba=np.zeros_like(votes[rows]),
                gold=np.full(int(rows.sum()), NO_GOLD),
            )

        if change == "both":
            parts = [(0, np.ones(len(codes), dtype=bool))]
        else:
            parts = [(side, drawn["side"] == side) for side in (-1, 1)]
        votes = [
            (
                Perturbed(judge="j", change="change", side=side),
                shown(drawn["plain"], rows),
                shown(drawn[change], rows),
            )
            for side, rows in parts
        ]
        return changes(votes)["j"][0].effect

    return _only(measured)


def intervals() -> tuple[Interval, ...]:
    """Every interval of a check, and of what an audit says of a judge beside them."""
    right = (Rates(mean=0.85), Rates(mean=0.7), Rates(mean=0.85, alike=0.8))
    credits = (*(worlds.credit(rates, 0.0) for rates in right), worlds.credit(right[1], 0.2))
    exact = (*(worlds.share(rates) for rates in right), worlds.share(Rates(mean=0.95)))
    confident = [worlds.confident(over, alike) for over in (0.0, 0.1) for alike in (0.1, 0.8)]
    pairs = [
        worlds.pairs(Rates(mean=0.85), 0.0, 0.0),
        worlds.pairs(Rates(mean=0.85), 0.2, 0.1),
        worlds.pairs(Rates(mean=0.85, alike=0.8), 0.2, 0.0),
        worlds.pairs(Rates(mean=0.7), 0.1, 0.3),
    ]
    sides = tuple(
        worlds.towards(effect, gold, Rates(mean=0.85))
        for effect, gold in ((0.0, 0.5), (0.1, 0.5), (0.0, 0.7), (0.2, 0.7))
    )
    harmless, led = (
        worlds.changed(obeys, flips, Rates(mean=0.5)) for obeys, flips in ((0.0, 0.0), (0.3, 0.2))
    )
    steady = tuple(
        worlds.coins(share, sure) for share, sure in ((0.0, 0.9), (0.05, 0.9), (0.2, 0.97))
    )
    three, five = (0.75,) * 3, (0.75,) * 5

    def of(figure: str, drawn: Sequence[dict[str, World]]) -> tuple[World, ...]:
        return tuple(each[figure] for each in drawn)

    return (
        Interval(name="accuracy, half credit", worlds=credits,
                 measure=_only(lambda drawn: half_credit(VoteCounts(**drawn)))),
        Interval(name="accuracy, exact", worlds=exact,
                 measure=_only(lambda drawn: wilson_by_item(**drawn))),
        Interval(name="weakest category", least=30, measure=_weakest,
                 worlds=(worlds.categories((0.85, 0.8, 0.75)), worlds.categories((0.8,) * 5))),
        Interval(name="blind rule, b", least=30, worlds=(
            worlds.one_sided(0.9, 0.7, 0.5), worlds.one_sided(0.9, 0.7, 0.8)),
            measure=_only(lambda drawn: getattr(blind_rule(VoteCounts(**drawn)), "right", None))),
        Interval(name="position bias", worlds=of("lean", pairs), measure=_position("bias_pairs")),
        Interval(name="hard flips", worlds=of("hard flips", pairs),
                 measure=_position("hard_flip_rate")),
        Interval(name="half flips", worlds=of("half flips", pairs),
                 measure=_position("half_flip_rate")),
        Interval(name="flip excess", worlds=of("flip excess", pairs), votes=TWICE,
                 measure=_position("excess")),
        Interval(name="slot gain in one order", least=30, worlds=(
            worlds.one_order(0.85, 0.85), worlds.one_order(0.95, 0.65)),
            measure=_only(lambda drawn: first_slot_gain(OrderCounts(**drawn)))),
        Interval(name="ECE", least=30, worlds=of("ece", confident), measure=_only(_ece),
                 draws=SLOW_DRAWS),
        Interval(name="confidence gap", least=30, worlds=of("gap", confident),
                 measure=_only(_gap)),
        Interval(name="AUROC", least=30, worlds=of("auroc", confident),
                 measure=_only(lambda drawn: auroc(OutcomeCounts(**drawn)))),
        *(
            Interval(name=f"ICC(3,{k})", least=30, measure=_only(_icc),
                     votes=(Votes(least=k, most=k),),
                     worlds=tuple(worlds.repeats(Rates(mean=mean, alike=alike), k)
                                  for mean, alike in ((0.5, 0.4), (0.5, 0.8), (0.8, 0.4))))
            for k in (2, 4, 40)
        ),
        Interval(name="coin share", least=40, worlds=steady, votes=FOUR,
                 measure=_only(lambda drawn: coin_share(VoteCounts(**drawn)))),
        Interval(name="κ", worlds=(
            worlds.kappa((0.85, 0.8), 0.3, 0.5), worlds.kappa((0.9, 0.85), 0.3, 0.85)),
            measure=_only(lambda drawn: agreement_matrix(_people(drawn)).pairs[0].kappa)),
        Interval(name="agreement with people", measure=_judge_and_people(judge_against_people),
                 worlds=(worlds.beside_people(0.85, three, 0.3),
                         worlds.beside_people(0.65, five, 0.3))),
        Interval(name="people's rate",
                 measure=_only(lambda drawn: people_agreement(_people(drawn))),
                 worlds=(worlds.people_rate(three, 0.3), worlds.people_rate(five, 0.3),
                         worlds.people_rate((0.9, 0.9), 0.3))),
        Interval(name="credit by the people's majority",
                 measure=_judge_and_people(judge_credit_against_people),
                 worlds=(worlds.credit_by_people(0.85, three, 0.3),
                         worlds.credit_by_people(0.65, five, 0.3))),
        Interval(name="ties", measure=_only(lambda drawn: tie_gap(VoteCounts(**drawn))),
                 worlds=(worlds.ties_beside_gold(Rates(mean=0.3), 0.3),
                         worlds.ties_beside_gold(Rates(mean=0.2), 0.05))),
        Interval(name="length", worlds=sides, measure=_only(_length)),
        Interval(name="own family", worlds=sides, measure=_only(_family)),
        Interval(name="robustness, one response", measure=_robustness("one"),
                 worlds=of("one side", (harmless, led))),
        Interval(name="robustness, both", measure=_robustness("both"), votes=TWICE,
                 worlds=of("both sides", (harmless, led))),
        Interval(name="outputs without a verdict", measure=_only(_outputs),
                 worlds=(worlds.share(Rates(mean=0.05)), worlds.share(Rates(mean=0.15)))),
    )  # fmt: skip


def cells(interval: Interval, *, draws: int | None = None, seed: int = 0) -> Iterator[Cell]:
    """One cell per world, number of items and votes."""
    number = draws or interval.draws
    for world in interval.worlds:
        for items in sorted({interval.least, *(size for size in SIZES if size > interval.least)}):
            for votes in interval.votes:
                name = f"{interval.name} {world.setting} {items} {votes.name}"
                rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
                known = held = 0
                for _ in range(number):
                    estimate, truth = interval.measure(world.draw(items, votes, rng), world.truth)
                    if estimate is not None and estimate.has_interval:
                        known += 1
                        # Ends of a share are exact where nothing else was seen.
                        held += estimate.low - 1e-12 <= truth <= estimate.high + 1e-12
                yield Cell(
                    name=interval.name,
                    setting=world.setting,
                    items=items,
                    votes=votes.name,
                    draws=number,
                    known=known,
                    share=held / known if known else math.nan,
                )


ENOUGH = 100
"""Draws with an interval below which a share says little and is left out of the table."""


def table(found: Sequence[Cell]) -> list[str]:
    """The least share of each interval by number of items, and the cells below what is wanted."""
    of_name: dict[str, list[Cell]] = defaultdict(list)
    for cell in found:
        of_name[cell.name].append(cell)
    lines = [
        "| interval | fewest items | at the fewest | 30 items | 100 items | worst with |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for name, own in of_name.items():
        known = [cell for cell in own if cell.known >= ENOUGH]
        fewest = min(cell.items for cell in own)
        shares = []
        for items in (fewest, *SIZES):
            least = min((cell.share for cell in known if cell.items == items), default=None)
            shares.append("–" if least is None else f"{100 * least:.1f}")
        worst = min(known, key=lambda cell: cell.share, default=None)
        where = "–" if worst is None else f"{worst.items} items, {worst.votes}, {worst.setting}"
        lines.append(f"| {name} | {fewest} | {' | '.join(shares)} | {where} |")
    below = [cell for cell in found if cell.known >= ENOUGH and cell.share < WANTED]
    tried = sum(cell.known >= ENOUGH for cell in found)
    lines += ["", f"{len(below)} of {tried} cells are below {100 * WANTED:g} %:"]
    lines += [
        f"- {cell.name}, {cell.items} items, {cell.votes}, {cell.setting}: "
        f"{100 * cell.share:.1f} of {cell.known:,}"
        for cell in sorted(below, key=lambda cell: cell.share)
    ]
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--draws", type=int, help=f"per cell ({DRAWS}, of ECE {SLOW_DRAWS})")
    parser.add_argument("--only", nargs="+", default=[""], help="only intervals so named")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    start = time.process_time()
    found = [
        cell
        for interval in intervals()
        if any(text in interval.name for text in options.only)
        for cell in cells(interval, draws=options.draws, seed=options.seed)
    ]
    print("\n".join(table(found)))
    print(f"\n{len(found)} cells, {time.process_time() - start:.0f} seconds of a core.")


if __name__ == "__main__":
    main()
