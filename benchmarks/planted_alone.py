"""What a judge decides alone, and how often more of it is wrong than was allowed:
`python -m benchmarks.planted --only alone`.

Sureness and errors are drawn here by code that shares nothing with the method. The table that the
method was designed with names its populations by a few words each; what the words leave open (how
often a level is stated, how fast errors rise) is set so that a method that is not ours, the plain
walk over every cut from the first that allows two errors, decides as much as it did there. So its
column says whether the population is the one that was meant, and the column of ours is compared.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import beta

from core.questions.confidence.alone import threshold_for_risk
from core.records import OutcomeCounts

DRAWS = 1000
LARGE = 3000
"""Answers from which on a third of the draws are made, as in the design's table."""
BROKEN, SLACK = 0.05, 0.02
"""Share of broken promises that is allowed, beside three standard errors of it; and how far a share
decided alone may be below the table."""

Drawn = tuple[Any, Any, Any]
"""Sureness, whether it is wrong, and the unit, of each answer."""
Draw = Callable[[np.random.Generator], Drawn]


@dataclass(frozen=True, slots=True)
class Population:
    """What is drawn, the share of wrong verdicts that is allowed, and what the design's table says.

    true_error : true share of wrong verdicts from a sureness on.
    wanted, walked : shares decided by our method and by the plain walk; None where the table has
        none.
    """

    name: str
    n: int
    alpha: float
    draw: Draw
    true_error: Callable[[float], float]
    wanted: float | None = None
    walked: float | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """Mean shares decided alone, over draws, and the share of draws in which the promise broke."""

    population: Population
    draws: int
    share: float
    error: float
    walked: float
    broken: float

    @property
    def short(self) -> bool:
        """Less is decided than the table says, by more than is allowed."""
        wanted = self.population.wanted
        return wanted is not None and self.share < wanted - SLACK

    @property
    def breaks(self) -> bool:
        """The promise is broken more often than chance explains."""
        return self.broken > BROKEN + 3 * math.sqrt(BROKEN * (1 - BROKEN) / self.draws)


# Populations, an answer a unit.

SureAndWrong = Callable[[int, np.random.Generator], tuple[Any, Any]]
SEVEN = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0])


def stated(weights: Sequence[float], errors: Any) -> SureAndWrong:
    """Seven stated levels, how often each is stated, and how often it is wrong."""

    def draw(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        level = rng.choice(len(SEVEN), n, p=np.array(weights) / np.sum(weights))
        return SEVEN[level], rng.random(n) < np.asarray(errors)[level]

    return draw


def rising(least: float, mean: float) -> Any:
    """Errors of seven levels stated equally often: `mean` in all, nearly all where it is unsure."""
    shape = (1 - SEVEN) ** 4
    return least + (mean - least) * shape / shape.mean()


def overconfident(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """P(yes) with log-odds 1.75 times the true ones, which are normal with a deviation of 1.85."""
    odds = rng.normal(0, 1.85, n)
    yes, stated_yes = rng.random(n) < expit(odds), expit(1.75 * odds)
    return np.maximum(stated_yes, 1 - stated_yes), (odds > 0) != yes


def says_nothing(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.random(n), rng.random(n) < 0.02


def surest_worst(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """The surest 7 % are wrong in 30 %, the others in 5 %."""
    sure = rng.random(n)
    return sure, rng.random(n) < np.where(sure > 0.93, 0.30, 0.05)


SOURCES: dict[str, SureAndWrong] = {
    "overconfident P(yes)": overconfident,
    "seven stated levels, wrong from 45 % at .5 to 3 % at 1": stated(
        (1, 1, 1, 2, 1, 3, 1), 0.45 - 0.42 * (SEVEN - 0.5) / 0.5
    ),
    "seven stated levels, 2 % wrong": stated((1,) * 7, rising(0.006, 0.02)),
    "seven stated levels, 4 % wrong": stated((1,) * 7, rising(0.004, 0.04)),
    "confidence says nothing, 2 % wrong": says_nothing,
    "surest 7 % are its worst": surest_worst,
    "seven stated levels, each 2 % wrong": stated((1,) * 7, (0.02,) * 7),
    "seven stated levels, each 4 % wrong": stated((1,) * 7, (0.04,) * 7),
}
TABLE: tuple[tuple[str, float, dict[int, tuple[float, float] | None]], ...] = (
    (
        "overconfident P(yes)",
        0.10,
        {100: (0.00, 0.01), 300: (0.12, 0.12), 1000: (0.29, 0.25), 3000: (0.39, 0.37)},
    ),
    ("overconfident P(yes)", 0.05, {1500: (0.052, 0.054), 3000: (0.090, 0.074)}),
    (
        "seven stated levels, wrong from 45 % at .5 to 3 % at 1",
        0.10,
        {300: (0.16, 0.17), 1000: (0.37, 0.34), 3000: (0.50, 0.50)},
    ),
    ("seven stated levels, 2 % wrong", 0.05, {300: (0.93, 0.94), 500: (0.97, 0.96)}),
    ("seven stated levels, 4 % wrong", 0.02, {500: (0.26, 0.28), 1000: (0.60, 0.61)}),
    (
        "confidence says nothing, 2 % wrong",
        0.05,
        {300: (0.57, 0.46), 1000: (0.99, 0.41), 3000: (1.00, 0.42)},
    ),
    ("surest 7 % are its worst", 0.10, {300: (0.14, 0.11), 1000: (0.50, 0.00), 3000: (0.99, 0.00)}),
    # Errors are exactly as many as are allowed, or twice that, wherever the threshold is.
    ("seven stated levels, each 2 % wrong", 0.02, {100: None, 300: None, 1000: None}),
    ("seven stated levels, each 4 % wrong", 0.02, {100: None, 300: None, 1000: None}),
    ("confidence says nothing, 2 % wrong", 0.02, {100: None, 300: None, 1000: None}),
)
"""Population, α, and by answers what the design's table says of our method and of the walk."""
TRUTH_DRAWS = 400_000


@cache
def _truth(name: str) -> tuple[Any, Any]:
    """Sureness, strictest first, and the true error rate from each on."""
    sure, wrong = SOURCES[name](TRUTH_DRAWS, np.random.default_rng(99))
    order = np.argsort(-sure, kind="stable")
    return -sure[order], np.cumsum(wrong[order]) / np.arange(1, TRUTH_DRAWS + 1)


EXACT = {
    "seven stated levels, each 2 % wrong": 0.02,
    "seven stated levels, each 4 % wrong": 0.04,
    "confidence says nothing, 2 % wrong": 0.02,
}
"""True error rates that are the same from every sureness on."""


def by_item() -> Iterator[Population]:
    for name, alpha, cells in TABLE:
        for n, said in cells.items():

            def draw(rng: np.random.Generator, name: str = name, n: int = n) -> Drawn:
                return *SOURCES[name](n, rng), np.arange(n)

            def true_error(threshold: float, name: str = name) -> float:
                if name in EXACT:
                    return EXACT[name]
                negative, rate = _truth(name)
                last = int(np.searchsorted(negative, -threshold + 1e-9)) - 1
                return float(rate[max(last, 0)])

            yield Population(name, n, alpha, draw, true_error, *(said or (None, None)))


# Conversations whose errors go together.


def _three_in_a_hundred(rng: np.random.Generator) -> Any:
    return np.where(rng.random(400) < 0.03, 40, 2)


SIZES: tuple[tuple[str, int, float | None, Callable[[np.random.Generator], Any]], ...] = (
    ("500 conversations of 3", 1500, 0.30, lambda _: np.full(500, 3)),
    ("200 conversations of 5", 1000, 0.14, lambda _: np.full(200, 5)),
    ("400 conversations, geometric of mean 3", 1200, None, lambda rng: rng.geometric(1 / 3, 400)),
    ("200 conversations, geometric of mean 6", 1200, None, lambda rng: rng.geometric(1 / 6, 200)),
    ("400 conversations of 2, 3 % of them of 40", 1256, None, _three_in_a_hundred),
)
"""Name, answers (their mean), and the share that the table says at α = .10."""


def by_conversation() -> Iterator[Population]:
    for name, n, share, sizes in SIZES:
        # The table's share is of conversations of either correlation.
        for icc in ((0.3,), (0.8,), (0.3, 0.8)):
            for alpha in (0.05, 0.10):

                def draw(
                    rng: np.random.Generator,
                    sizes: Callable[[np.random.Generator], Any] = sizes,
                    icc: tuple[float, ...] = icc,
                ) -> Drawn:
                    each = sizes(rng)
                    unit = np.repeat(np.arange(len(each)), each)
                    sure = rng.uniform(0.5, 1, len(unit))
                    # One value of the conversation takes the place of an answer's own in some.
                    shared = rng.random(len(unit)) < math.sqrt(rng.choice(icc))
                    chance = np.where(shared, rng.random(len(each))[unit], rng.random(len(unit)))
                    return sure, chance < 0.58 - 0.56 * sure, unit

                yield Population(
                    f"{name}, ICC {' or '.join(f'{value:g}' for value in icc)}",
                    n,
                    alpha,
                    draw,
                    # Mean of .58 − .56·s over s from the threshold to 1.
                    lambda threshold: 0.30 - 0.28 * threshold,
                    share if alpha == 0.10 and len(icc) > 1 else None,
                )


def populations() -> list[Population]:
    return [*by_item(), *by_conversation()]


# Methods.


def plain_walk(sure: Any, wrong: Any, alpha: float) -> float:
    """Share decided by the walk over every cut from the first that allows two errors."""
    order = np.argsort(-sure, kind="stable")
    strict, errors = sure[order], np.cumsum(wrong[order])
    ends = np.flatnonzero(np.append(strict[1:] < strict[:-1], True))
    n, errors = ends + 1, errors[ends]
    begins = beta.ppf(1 - BROKEN, 3, np.maximum(n - 2, 1e-9)) <= alpha
    passes = (beta.ppf(1 - BROKEN, errors + 1, np.maximum(n - errors, 1e-9)) <= alpha)[begins]
    kept = n[begins][np.logical_and.accumulate(passes)]
    return float(kept[-1]) / len(sure) if len(kept) else 0.0


def decided(population: Population, draws: int, seed: int) -> Decided:
    """Both methods on so many draws."""
    text = f"{population.name} {population.n} {population.alpha}"
    rng = np.random.default_rng([seed, zlib.crc32(text.encode())])
    draws = draws // 3 if population.n >= LARGE else draws
    shares, walked, broken = np.zeros(draws), np.zeros(draws), 0
    for k in range(draws):
        sure, wrong, unit = population.draw(rng)
        outcomes = OutcomeCounts(
            item=unit,
            confidence=sure,
            n=np.ones(len(sure), np.int64),
            correct=(~wrong).astype(np.int64),
        )
        found = threshold_for_risk(outcomes, alpha=population.alpha, delta=BROKEN)
        if found.threshold is not None:
            shares[k] = found.coverage
            broken += population.true_error(found.threshold) > population.alpha + 1e-12
        if population.walked is not None:
            walked[k] = plain_walk(sure, wrong, population.alpha)
    return Decided(
        population=population,
        draws=draws,
        share=float(shares.mean()),
        error=float(shares.std() / math.sqrt(draws)),
        walked=float(walked.mean()),
        broken=broken / draws,
    )


def _of_place(place: int, draws: int, seed: int) -> tuple[int, float, float, float, float]:
    """What is drawn is a function, which does not go from one process to another."""
    found = decided(populations()[place], draws, seed)
    return found.draws, found.share, found.error, found.walked, found.broken


def run(*, draws: int = DRAWS, workers: int = 1, seed: int = 0) -> list[Decided]:
    """Print the table of what is decided alone."""
    began, every = time.perf_counter(), populations()
    print(
        "| decided alone | α | answers | share (SE) | wanted | plain walk | as designed | broken |"
        "\n|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    found = []
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        jobs = [pool.submit(_of_place, place, draws, seed) for place in range(len(every))]
        for one, job in zip(every, jobs, strict=True):
            cell = Decided(one, *job.result())
            found.append(cell)
            wanted = "–" if one.wanted is None else f"{one.wanted:.3g}"
            walk = ("–", "–") if one.walked is None else (f"{cell.walked:.3f}", f"{one.walked:.3g}")
            print(
                f"| {one.name} | {one.alpha:.2f} | {one.n:,} | {cell.share:.3f} ({cell.error:.3f})"
                f"{' !' if cell.short else ''} | {wanted} | {' | '.join(walk)} | "
                f"{cell.broken:.3f}{' !' if cell.breaks else ''} |",
                flush=True,
            )
    compared = [cell for cell in found if cell.population.wanted is not None]
    print(
        f"\n{len(compared)} shares of {draws:,} draws ({draws // 3:,} from {LARGE:,} answers on): "
        f"{sum(cell.short for cell in compared)} more than {SLACK:g} below what was wanted. "
        f"{len(found)} promises: {sum(cell.breaks for cell in found)} broken in more than "
        f"{BROKEN:g} + 3 SE, at most in {max(cell.broken for cell in found):.3f}; "
        f"{time.perf_counter() - began:.0f} s."
    )
    return found
