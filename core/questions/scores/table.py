"""What every method on scores takes: one judge and one metric, an answer a row, people beside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...records import BoolArray, FloatArray, IntArray, InvalidCounts, kept_rows
from ...stats.intervals import dense_codes

NO_GROUP = -1
"""Code of an answer without a category."""
UNDECIDED = -1
"""Where as many passed an answer as failed it, or nobody judged it; 1 is pass, 0 fail."""
SAME = 1e-9
"""Scores closer than this, in units of the score, are one: means over runs differ by rounding."""

ScoreKind = Literal["levels", "pass_fail", "labels"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreTable:
    """Scores of one judge on one metric, one row per answer, and the people who scored it too.

    judge : (n,) mean over the judge's runs, NaN where it gave none.
    people : (n, k) a column per person, NaN where a person gave none; gold is one person, k = 1.
    unit : (n,) code of the item, conversation or document: rows of one unit are dependent, and
        every interval counts units.
    low, high : ends of the scale, declared or as seen over judge and people together.
    kind : `levels`, numbers of which more is better; `pass_fail`, where `low` is fail, `high` is
        pass and a judge's mean is the share of its runs that pass; `labels` without an order,
        whose numbers are codes and of which only equality means anything.
    passing : a judge's score of at least this passes; None if it never says so.
    people_passing : the same for people's scores. Both are the middle of the scale of pass/fail.
    same_scale : False where people say only pass or fail and the judge gives levels, or the other
        way round; then nothing that subtracts one from the other has a meaning, and the ends are
        those of the judge.
    category : (n,) codes into `categories`, −1 for none.
    length : (n,) length of the answer in any unit, NaN where it is not known.
    names : of the people, (k,), or none.

    Raises InvalidCounts for arrays of unequal length, infinite scores, scores outside the scale,
    ends that are not in order, or an unknown kind.
    """

    judge: FloatArray
    people: FloatArray
    unit: IntArray
    low: float
    high: float
    kind: ScoreKind = "levels"
    passing: float | None = None
    people_passing: float | None = None
    same_scale: bool = True
    category: IntArray | None = None
    categories: tuple[str, ...] = ()
    length: FloatArray | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        judge: ArrayLike,
        people: ArrayLike,
        *,
        unit: ArrayLike | None = None,
        low: float | None = None,
        high: float | None = None,
        kind: ScoreKind | None = None,
        passing: float | None = None,
        people_passing: float | None = None,
        same_scale: bool | None = None,
        **more: Any,
    ) -> ScoreTable:
        """A table from plain arrays, with what they show where nothing is declared.

        people : (n, k), or (n,) for one person or gold.
        unit : without it every answer is a unit of its own.
        low, high : by default the lowest and highest score of judge and people.
        kind : by default `pass_fail` where all scores are two values, else `levels`. Means over
            several runs of pass and fail look like levels, so declare theirs.
        same_scale : by default False for levels of one side beside exactly two values of the
            other, such as scores of 1 to 10 beside gold of 0 and 1.
        passing, people_passing : by default, where a side has two values, the middle between them;
            on one scale people's is the judge's.
        more : other fields of `ScoreTable`.

        >>> table = ScoreTable.of([1, 1, 0, 1], [1, 0, 0, 1])
        >>> table.kind, table.verdict.tolist(), table.people_verdict.tolist()
        ('pass_fail', [1, 1, 0, 1], [1, 0, 0, 1])
        """
        own = np.asarray(judge, dtype=np.float64)
        theirs = np.asarray(people, dtype=np.float64)
        theirs = theirs[:, None] if theirs.ndim == 1 else theirs
        of_judge, of_people = (np.unique(side[~np.isnan(side)]) for side in (own, theirs))
        both = np.union1d(of_judge, of_people)
        if kind is None:
            kind = "pass_fail" if len(both) == 2 else "levels"
        if same_scale is None:
            sides = (of_judge, of_people), (of_people, of_judge)
            same_scale = kind != "levels" or not any(
                len(two) == 2 and not np.isin(other, two).all() for two, other in sides
            )
        seen = both if same_scale else of_judge
        if low is None:
            low = float(seen[0]) if len(seen) else 0.0
        if high is None:
            high = float(seen[-1]) if len(seen) else 1.0
        if kind == "pass_fail":
            passing = people_passing = (low + high) / 2
        elif not same_scale:
            if passing is None and len(of_judge) == 2:
                passing = float(of_judge.mean())
            if people_passing is None and len(of_people) == 2:
                people_passing = float(of_people.mean())
        elif people_passing is None:
            people_passing = passing
        return cls(
            judge=own,
            people=theirs,
            unit=np.arange(len(own)) if unit is None else np.asarray(unit, dtype=np.int64),
            low=low,
            high=high,
            kind=kind,
            passing=passing,
            people_passing=people_passing,
            same_scale=same_scale,
            **more,
        )

    def __post_init__(self) -> None:
        if self.kind not in get_args(ScoreKind):
            raise InvalidCounts(f"ScoreTable.kind: {self.kind!r} is not one of its kinds")
        if self.judge.ndim != 1 or self.people.ndim != 2:
            raise InvalidCounts("ScoreTable: judge needs one axis, people two (answers, persons)")
        columns: dict[str, Any] = {"judge": self.judge, "people": self.people, "unit": self.unit}
        columns |= {"category": self.category, "length": self.length}
        sizes = {name: len(values) for name, values in columns.items() if values is not None}
        if len(set(sizes.values())) > 1:
            raise InvalidCounts(f"ScoreTable: arrays of one table differ in length: {sizes}")
        if self.names and len(self.names) != self.people.shape[1]:
            raise InvalidCounts("ScoreTable.names: needs a name per column of people")
        if not self.low <= self.high:
            raise InvalidCounts(f"ScoreTable: the scale {self.low} to {self.high} is not in order")
        for what, values in (("judge", self.judge), ("people", self.people)):
            known = values[~np.isnan(values)]
            if not np.isfinite(known).all():
                raise InvalidCounts(f"ScoreTable.{what}: a score that is no number")
            bounded = len(known) and self.kind != "labels" and (self.same_scale or what == "judge")
            if bounded and (known.min() < self.low - SAME or known.max() > self.high + SAME):
                raise InvalidCounts(
                    f"ScoreTable.{what}: {known.min():g} to {known.max():g} is not within the "
                    f"scale {self.low:g} to {self.high:g}"
                )

    def __len__(self) -> int:
        return len(self.judge)

    @property
    def scale(self) -> float:
        """Length of the scale, high − low."""
        return self.high - self.low

    @property
    def persons(self) -> IntArray:
        """(n,) how many people scored each answer."""
        return np.asarray((~np.isnan(self.people)).sum(axis=1))

    @property
    def reference(self) -> FloatArray:
        """(n,) mean over the people who scored the answer, NaN where nobody did."""
        return mean_of_known(self.people)

    @property
    def several(self) -> bool:
        """Whether an answer was scored by two people or more."""
        return bool((self.persons > 1).any())

    @property
    def says_pass(self) -> bool:
        """Whether pass or fail is what the judge itself says."""
        return self.kind == "pass_fail"

    @property
    def verdict(self) -> IntArray:
        """(n,) 1 where the judge passes the answer, 0 where it fails it, −1 undecided or unknown.

        Of pass/fail what most of its runs say; of levels whether score ≥ `passing`. All are −1
        without one.
        """
        if self.passing is None:
            return np.full(len(self), UNDECIDED)
        above = self.judge - self.passing
        decided = ~np.isnan(above)
        if self.says_pass:
            decided &= np.abs(above) > SAME
        return np.where(decided, np.nan_to_num(above) >= -SAME, UNDECIDED).astype(np.int64)

    @property
    def passed(self) -> FloatArray:
        """(n,) share of the judge's runs that pass the answer; of levels 0 or 1. NaN unknown."""
        if self.says_pass and self.scale > 0:
            return np.asarray((self.judge - self.low) / self.scale)
        verdict = self.verdict
        return np.where(verdict == UNDECIDED, np.nan, verdict)

    @property
    def person_passed(self) -> FloatArray:
        """(n, k) 1 where a person passes the answer, 0 where not, NaN unknown: of pass/fail also
        where the person said both as often.
        """
        if self.people_passing is None:
            return np.full(self.people.shape, np.nan)
        above = self.people - self.people_passing
        undecided = np.isnan(above)
        if self.says_pass:
            undecided |= np.abs(above) <= SAME
        return np.where(undecided, np.nan, (above >= -SAME).astype(np.float64))

    @property
    def people_verdict(self) -> IntArray:
        """(n,) what most people say: 1 pass, 0 fail, −1 as many of both, or nobody."""
        passed = self.person_passed
        balance = np.where(np.isnan(passed), 0.0, 2 * passed - 1).sum(axis=1)
        return np.where(balance > 0, 1, np.where(balance < 0, 0, UNDECIDED)).astype(np.int64)

    @property
    def constant(self) -> str | None:
        """Who gives one score to all answers, as a reason; None if nobody does."""
        for who, values in (("the judge gives", self.judge), ("people give", self.people)):
            known = values[~np.isnan(values)]
            if len(known) and np.ptp(known) <= SAME:
                return f"{who} one score to all ({known[0]:g})"
        return None

    def rows(self, keep: BoolArray | IntArray) -> ScoreTable:
        """Some of the answers."""
        return replace(self, **kept_rows(self, keep))

    def scored(self) -> ScoreTable:
        """The answers that the judge and at least one person scored."""
        known = ~np.isnan(self.judge) & (self.persons > 0)
        return self if known.all() else self.rows(known)

    def unit_codes(self) -> tuple[IntArray, int]:
        """Units as 0, 1, 2 … without gaps, and how many there are."""
        if not len(self):
            return np.zeros(0, dtype=np.int64), 0
        code = dense_codes(self.unit)
        return code, int(code.max()) + 1


def mean_of_known(values: FloatArray) -> FloatArray:
    """(n,) mean of what is known in each row of (n, k), NaN where nothing is."""
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    mean: FloatArray = np.divide(total, n, out=np.full(len(total), np.nan), where=n > 0)
    return mean
