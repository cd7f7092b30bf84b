"""Who the people are: do they agree enough to be a reference, and does one go against it?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...records import FloatArray
from ...stats.estimate import Estimate, OneRow
from ...stats.intervals import check_level
from ...stats.jackknife import moments
from ..scores.agreement import between_people, fisher_jackknife
from ..scores.people import LEAST_PAIR, mean_coefficients
from ..scores.table import SAME, ScoreTable, mean_of_known

LEAST_REFERENCE = 0.30
"""Two people whose mean r is less are no reference."""
COPIED = {"levels": (30, 0.98), "pass_fail": (200, 1.0), "labels": (200, 1.0)}
"""Answers, and the share of equal scores, from which a person's are the judge's own."""
NO_PAIR = f"no two people share {LEAST_PAIR} answers on which neither gives one score to all"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Who(OneRow):
    """The people beside a judge.

    people : how many scored answers of the judge.
    agreement : mean Pearson r of two of them, of pass/fail φ; None where `reason` says why.
    is_reference : whether r ≥ .30 with a low end above 0; None where nothing can be said.
    against : people who are shown to go against the mean of the others.
    copied : people whose scores are the judge's own.
    """

    people: int
    agreement: Estimate | None
    is_reference: bool | None
    against: tuple[str, ...]
    copied: tuple[str, ...]
    reason: str | None

    @property
    def one(self) -> bool:
        """Whether what is right is one person's standard."""
        return self.people == 1


def who(table: ScoreTable, *, level: float = 0.95) -> Who:
    """How far two people agree, who goes against the others, and whose scores are the judge's.

    r is the mean over pairs of people that share at least 10 answers, weighted by how many they
    share; its interval leaves units out on Fisher's scale. People are a reference if r ≥ .30 and
    its low end is above 0. A person goes against the others if the high end of r with the mean of
    the others is below 0 at the level 1 − .05/k, k the number of people.

    Raises InvalidOption for a level outside (0, 1). Source: ours, docs/verdicts.md.
    """
    check_level(level)
    known = table.scored()
    present = ~np.isnan(known.people).all(axis=0)
    names = tuple(
        known.names[place] if known.names else f"person {place + 1}"
        for place in np.flatnonzero(present)
    )
    people = known.people[:, present]
    copied = _copied(known, people, names)
    if len(names) < 2 or known.kind == "labels":
        reason = "it needs two people or more" if len(names) < 2 else "labels have no order"
        return Who(
            people=len(names),
            agreement=None,
            is_reference=None,
            against=(),
            copied=copied,
            reason=reason,
        )
    code, units = known.unit_codes()
    means = mean_coefficients(between_people(known, code, units))
    if means is None:
        return Who(
            people=len(names),
            agreement=None,
            is_reference=None,
            against=(),
            copied=copied,
            reason=NO_PAIR,
        )
    agreement = fisher_jackknife(means[0][0], level=level)
    against = tuple(name for place, name in enumerate(names) if going_against(people, place, known))
    return Who(
        people=len(names),
        agreement=agreement,
        is_reference=agreement.value >= LEAST_REFERENCE and agreement.low > 0,
        against=against,
        copied=copied,
        reason=None,
    )


def going_against(people: FloatArray, place: int, table: ScoreTable) -> bool:
    """Whether one person's column is shown to go against the mean of the others."""
    own, others = people[:, place], mean_of_known(np.delete(people, place, axis=1))
    both = ~np.isnan(own) & ~np.isnan(others)
    shared = table.rows(both)
    if len(shared) < LEAST_PAIR:
        return False
    own, others = own[both], others[both]
    if np.ptp(own) <= SAME or np.ptp(others) <= SAME:
        return False
    code, units = shared.unit_codes()
    level = 1 - 0.05 / people.shape[1]
    r = fisher_jackknife(moments(own, others, code, units).correlation, level=level)
    return r.has_interval and r.high < 0


def _copied(table: ScoreTable, people: FloatArray, names: tuple[str, ...]) -> tuple[str, ...]:
    if not table.same_scale:
        return ()
    least, share = COPIED[table.kind]
    equal = np.abs(people - table.judge[:, None]) < SAME
    n = (~np.isnan(people)).sum(axis=0)
    constant = len(table) == 0 or np.ptp(table.judge) <= SAME
    return tuple(
        name
        for name, same, of in zip(names, equal.sum(axis=0), n, strict=True)
        if not constant and of >= least and same >= share * of
    )
