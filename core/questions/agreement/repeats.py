"""How many independent votes a judge's repeated votes are worth.

Votes of one judge on one comparison err together: what misleads the first mostly misleads the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...records import FloatArray, IntArray, VoteCounts, distinct
from ...stats.estimate import DataFrame, Estimate, rows_frame
from ...stats.intervals import dense_codes, mean_error_interval
from ...stats.jackknife import jackknife_interval, leave_one_out

LEAST_ITEMS = 30
MOST_SIZES = 16
"""Numbers of votes for which an error is told."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ErrorWith:
    """Share of comparisons whose majority of `n` votes is on the wrong side, an even split counting
    half: `predicted` by the beta-binomial, `observed` over all ways to draw n of the votes.
    """

    n: int
    predicted: float
    observed: Estimate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EffectiveVotes:
    """What repeated votes on comparisons with decided gold are worth.

    votes : per comparison, the median; comparisons with fewer are left out.
    right : share of votes on gold's side, a tie half.
    correlation : ρ of being right between two votes on one comparison, by item.
    effective : votes/(1 + (votes − 1)·ρ), with the ends of ρ.
    errors : by number of votes, on the same comparisons.
    """

    votes: int
    right: float
    correlation: Estimate
    effective: Estimate
    errors: tuple[ErrorWith, ...]

    def to_frame(self) -> DataFrame:
        """One row per number of votes."""
        return rows_frame(ErrorWith, self.errors)


def effective_votes(counts: VoteCounts, *, level: float = 0.95) -> EffectiveVotes | None:
    """The effective number of repeated votes on comparisons whose gold is decided.

    A tie is a coin: right or wrong with ½ each, as half credit has it. Of k right, t ties and n
    votes on comparison i let μ = E[(k + t/2)/n] and
    M₂ = E[(k(k − 1) + kt + t(t − 1)/4)/(n(n − 1))], the chance that two of its votes are right,
    items weighing alike. Under a beta-binomial with mean μ and correlation ρ = 1/(α + β + 1),
    M₂ = μ² + ρμ(1 − μ), which is solved for ρ, cut to 0 to 1; its interval is the jackknife over
    items. n votes then vary as n/(1 + (n − 1)ρ) independent ones do (Kish 1965). The error of a
    majority of m votes is P(R < m/2) + ½·P(R = m/2).

    None below 30 items with at least two votes and as many as the median comparison, or where all
    votes are right, or all wrong. Source: Skellam (1948) for the distribution; moments and their
    use here are ours, docs/methods.md §8.
    """
    decided = counts.rows((np.abs(counts.gold) == 1) & (counts.n >= 2))
    if not len(decided):
        return None
    votes = int(np.median(decided.n))
    decided = decided.rows(decided.n >= votes)
    n, tied = decided.n, decided.tie
    right = np.where(decided.gold == 1, decided.plus, decided.minus)
    code = dense_codes(decided.item)
    items = int(code.max()) + 1
    if items < LEAST_ITEMS:
        return None
    alike = 1.0 / np.bincount(code)[code]
    one = (right + tied / 2) / n
    two = (right * (right - 1) + right * tied + tied * (tied - 1) / 4) / (n * (n - 1))
    weight, first, second = leave_one_out(code, items, alike, alike * one, alike * two)
    mean = first / weight
    if not 0 < mean[0] < 1:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        # Without the one item that errs all are right, and two votes cannot differ.
        correlation = np.clip((second / weight - mean**2) / (mean * (1 - mean)), 0.0, 1.0)
    rho = _within(jackknife_interval(correlation, level=level))
    ends = (_worth(votes, rho.high), _worth(votes, rho.low))
    sizes = range(1, min(votes, MOST_SIZES) + 1)
    return EffectiveVotes(
        votes=votes,
        right=float(mean[0]),
        correlation=rho,
        effective=Estimate(_worth(votes, rho.value), *ends, n=items, level=level),
        errors=tuple(
            ErrorWith(
                n=size, predicted=_predicted(size, float(mean[0]), rho.value), observed=observed
            )
            for size, observed in zip(
                sizes, _observed(sizes, decided.item, right, tied, n, level), strict=True
            )
        ),
    )


def _within(found: Estimate) -> Estimate:
    return Estimate(
        found.value, max(found.low, 0.0), min(found.high, 1.0), n=found.n, level=found.level
    )


def _worth(votes: int, rho: float) -> float:
    return votes / (1 + (votes - 1) * rho)


def _predicted(size: int, mean: float, rho: float) -> float:
    """Error of a majority of `size` votes under the beta-binomial; binomial at ρ = 0."""
    from scipy.special import betaln, xlog1py, xlogy

    if rho >= 1:
        return 1 - mean
    half = np.arange((size - 1) // 2 + 2)
    if rho > 0:
        a, b = mean * (1 / rho - 1), (1 - mean) * (1 / rho - 1)
        chance = np.exp(_ways(size, half) + betaln(half + a, size - half + b) - betaln(a, b))
    else:
        chance = np.exp(_ways(size, half) + xlogy(half, mean) + xlog1py(size - half, -mean))
    wrong = float(chance[:-1].sum())
    return wrong if size % 2 else wrong + 0.5 * float(chance[-1])


def _ways(n: IntArray | int, k: IntArray) -> FloatArray:
    """Logarithm of the number of ways to choose k of n; -∞ where there is none."""
    from scipy.special import betaln

    # As in scipy.stats, which takes longer to import than a small file to audit.
    there = (k >= 0) & (k <= n)
    chosen = np.where(there, k, 0)
    return np.where(there, -np.log1p(n) - betaln(n - chosen + 1, chosen + 1), -np.inf)


def _observed(
    sizes: Sequence[int], item: IntArray, right: IntArray, tied: IntArray, n: IntArray, level: float
) -> list[Estimate]:
    """The same over all draws of so many of the votes, ties tossed, by item; one for each size."""
    base = int(n.max()) + 1
    ways, way_of_row, _ = distinct((right * base + tied) * base + n)
    sure, coins, total = ways // base**2, ways // base % base, ways % base
    # Every way that votes fall, with every number of its ties that come up right.
    way = np.repeat(np.arange(len(ways)), coins + 1)
    heads = np.arange(len(way)) - np.repeat(np.cumsum(coins + 1) - coins - 1, coins + 1)
    chance = np.exp(_ways(coins[way], heads) - coins[way] * np.log(2))
    winners, losers = sure[way] + heads, total[way] - sure[way] - heads
    found = []
    for size in sizes:
        right_drawn = np.arange(size // 2 + 1)[:, None]
        counts_as = np.where(2 * right_drawn == size, 0.5, 1.0)
        chances = np.exp(
            _ways(winners, right_drawn)
            + _ways(losers, size - right_drawn)
            - _ways(total[way], np.asarray(size))
        )
        error = (counts_as * chances).sum(axis=0)
        wrong: FloatArray = np.clip(np.bincount(way, chance * error), 0.0, 1.0)
        found.append(mean_error_interval(item, wrong[way_of_row], highest=1.0, level=level))
    return found
