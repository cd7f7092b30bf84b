"""Who agrees with whom on one metric: the judge with each person, and every two people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...records import FloatArray, IntArray
from ...stats.estimate import Estimate
from ...stats.intervals import check_level, mean_interval
from ...stats.jackknife import PairMoments, pair_moments
from .agreement import LEAST_SHARED, fisher_jackknife
from .table import SAME, ScoreTable

MOST_PEOPLE = 12
"""People beside a judge; of more, those who share most answers with it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RaterPair:
    """How far two raters agree on the answers that both scored.

    first, second : names; the judge is `judge`.
    agreement : κ_w on one scale, else Pearson r; of labels without an order the share that is
        equal. None where one of them gives one score to all, or too few are shared.
    bias : mean of first − second in shares of the scale; None without one scale.
    n : answers of both.
    """

    first: str
    second: str
    agreement: Estimate | None
    bias: float | None
    n: int


def rater_pairs(
    table: ScoreTable, *, judge: str = "judge", level: float = 0.95
) -> tuple[RaterPair, ...]:
    """The judge beside each person, then every two people, in the order of the people.

    κ_w = 2·s_xy/(s_x² + s_y² + (x̄ − ȳ)²) on the answers that both scored, its interval on Fisher's
    scale by leaving units out; where judge and people are not on one scale, the judge's is r. More
    people than `MOST_PEOPLE` are cut to those who share most answers with the judge.

    Raises InvalidOption for a level outside (0, 1). Source: docs/methods.md §11; Lin (1989).
    """
    check_level(level)
    code, units = table.unit_codes()
    known = ~np.isnan(table.people)
    shared = (known & ~np.isnan(table.judge)[:, None]).sum(axis=0)
    places = np.sort(np.argsort(-shared, kind="stable")[:MOST_PEOPLE]).tolist()
    names = table.names or tuple(f"person {k + 1}" for k in range(table.people.shape[1]))

    def pairs() -> Iterator[RaterPair]:
        for k in places:
            yield _pair((judge, names[k]), table.judge, table.people[:, k], table.same_scale)
        for place, first in enumerate(places):
            for second in places[place + 1 :]:
                of = table.people[:, first], table.people[:, second]
                yield _pair((names[first], names[second]), *of, True)

    def _pair(who: tuple[str, str], x: FloatArray, y: FloatArray, one_scale: bool) -> RaterPair:
        both = ~np.isnan(x) & ~np.isnan(y)
        n, agreement, bias = int(both.sum()), None, None
        if table.kind == "labels":
            if n:
                equal = np.abs(x[both] - y[both]) <= SAME
                agreement = mean_interval(code[both], equal, ends=(0.0, 1.0), level=level)
        elif n >= LEAST_SHARED:
            agreement = _coefficient(
                pair_moments(x[both], y[both], code[both], units), one_scale, level
            )
            bias = float((x[both] - y[both]).mean() / (table.scale or 1.0)) if one_scale else None
        return RaterPair(first=who[0], second=who[1], agreement=agreement, bias=bias, n=n)

    return tuple(pairs())


def _coefficient(found: PairMoments, one_scale: bool, level: float) -> Estimate | None:
    of = found.moments
    if not bool((of.var_x > 0).all() and (of.var_y > 0).all()):
        return None
    return fisher_jackknife(of.concordance if one_scale else of.correlation, level=level)


def both_scored(table: ScoreTable, first: int | None, second: int) -> IntArray:
    """Rows that two raters scored, the farthest apart first; columns of people, None the judge."""
    x = table.judge if first is None else table.people[:, first]
    apart = np.abs(x - table.people[:, second])
    rows = np.flatnonzero(~np.isnan(apart))
    return rows[np.argsort(-apart[rows], kind="stable")]
