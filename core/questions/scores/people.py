"""Is a judge as near to people as people are to each other: one of them left out at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidOption
from ...records import BoolArray, FloatArray, VoteCounts
from ...stats.estimate import DataFrame, Estimate, OneRow, rows_frame
from ...stats.intervals import check_level, mean_interval
from ...stats.jackknife import PairMoments, jackknife_interval
from .agreement import NO_ORDER, OTHER_SCALE, between_people, fisher_jackknife, with_people
from .table import SAME, ScoreTable

Closeness = Literal["rmse", "equal"]
EPSILON = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}
"""What a person's cost and care are worth in the test, by kind of person [AltTest §4]."""
LEAST_ITEMS = 30
"""Answers that a person must share with the judge and another person to be left out."""
LEAST_PEOPLE = 3
"""Fewer people than this say little of who is nearer in the Alternative Annotator Test."""
LEAST_PAIR = 10
"""Answers that two people must share to count in how far people agree."""

ONE_PERSON = "it needs two people or more on one answer"


def nearer(
    judge: FloatArray, people: FloatArray, *, closeness: Closeness
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Who is at least as near to the other people: (n, k) usable, judge ≥ person, person ≥ judge.

    `rmse`: the score of x against the others o is −√(mean (x − o)²); `equal`: the share of others
    with the same label. A cell is usable if the judge, the person and another one are known.
    """
    known = ~np.isnan(people)
    usable = known & (known.sum(axis=1) > 1)[:, None] & ~np.isnan(judge)[:, None]
    own = judge[:, None]
    if closeness == "rmse":
        # Centred: squares of large scores would swallow their differences.
        centre = float(np.nanmean(people)) if known.any() else 0.0
        filled, own = np.where(known, people - centre, 0.0), own - centre
        others = known.sum(axis=1, keepdims=True) - 1
        mean = (filled.sum(axis=1, keepdims=True) - filled) / np.maximum(others, 1)
        # Mean squared distances from the same others differ as those from their mean do.
        far, near = np.abs(filled - mean), np.abs(own - mean)
        return usable, usable & (near <= far + SAME), usable & (far <= near + SAME)
    alike_judge = (people == own).sum(axis=1, keepdims=True) - (people == own)
    alike_person = np.zeros(people.shape, dtype=np.int64)
    for place, column in enumerate(people.T):
        alike_person[:, place] = (people == column[:, None]).sum(axis=1) - 1
    return usable, usable & (alike_judge >= alike_person), usable & (alike_person >= alike_judge)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PeopleCheck(OneRow):
    """Is the judge nearer to the others than a left-out person? None where `reason` says why.

    difference : chance that the judge is at least as near, minus that the person is, −1 to 1.
    persons : people who were left out once.  n, units : answers they share with the judge and
        another person, and their units.
    """

    difference: Estimate | None
    persons: int
    n: int
    units: int
    reason: str | None


def people_check(
    table: ScoreTable, *, least_items: int = LEAST_ITEMS, level: float = 0.95
) -> PeopleCheck:
    """How much more often the judge than a left-out person is at least as near to the others.

    Of answer i: dᵢ = mean over people h of [judge not farther from the others than h] − [h not
    farther than the judge], by squared distance, of labels by the share that is equal. The value
    is the mean over answers, with `mean_interval` by unit and the added ends −1 and 1. A judge
    that is one more person has 0, however little people agree.

    least_items : answers that a person must share with the judge and another person to be left
        out; others count among the others only.

    Raises InvalidOption for a level outside (0, 1).
    Source: docs/methods.md §11 (ours); indicators of Calderon et al. (2025), the Alternative
    Annotator Test.
    """
    check_level(level)
    if table.kind != "labels" and not table.same_scale:
        return PeopleCheck(difference=None, persons=0, n=0, units=0, reason=OTHER_SCALE)
    closeness: Closeness = "equal" if table.kind == "labels" else "rmse"
    usable, judge_wins, person_wins = nearer(table.judge, table.people, closeness=closeness)
    items = usable.sum(axis=0)
    graded = items >= least_items
    persons = int(graded.sum())
    if persons < 2:
        reason = ONE_PERSON
        if (items > 0).sum() > 1:
            reason = (
                f"it needs two people with {least_items} answers each that another person and the "
                f"judge scored too; there {'is one' if persons else 'is none'}"
            )
        return PeopleCheck(difference=None, persons=persons, n=0, units=0, reason=reason)
    gain = (judge_wins.astype(np.float64) - person_wins)[:, graded]
    of_answer = usable[:, graded].sum(axis=1)
    rows = of_answer > 0
    value = gain.sum(axis=1)[rows] / of_answer[rows]
    found = mean_interval(table.unit[rows], value, ends=(-1.0, 1.0), level=level)
    return PeopleCheck(
        difference=found, persons=persons, n=int(rows.sum()), units=found.n, reason=None
    )


# How far people agree with each other.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ceiling(OneRow):
    """How far two people agree, beside judge and person; None where `reason` says why.

    people_association, judge_association : mean Pearson r of two people, and of judge and person.
    people_kappa, judge_kappa : the same of κ_w.
    association_gain, kappa_gain : judge's minus people's, by unit.
    pairs : pairs of people that share at least 10 answers.
    """

    people_association: Estimate | None
    judge_association: Estimate | None
    association_gain: Estimate | None
    people_kappa: Estimate | None
    judge_kappa: Estimate | None
    kappa_gain: Estimate | None
    persons: int
    pairs: int
    reason: str | None


def ceiling(table: ScoreTable, *, level: float = 0.95) -> Ceiling:
    """Mean r and κ_w of two people, and of the judge with one person.

    Means over pairs of raters that share at least 10 answers, weighted by how many they share; a
    pair in which one rater gives one score throughout, or would without one unit, is left out.
    One person's noise lowers the judge's r as it does that of another person, so the two compare;
    r with the mean over people (`score_agreement`) is higher than both.

    Intervals leave out units (`jackknife_interval`), of coefficients on Fisher's scale, of
    differences on their own. Raises InvalidOption for a level outside (0, 1).
    Source: docs/methods.md §11 (ours).
    """
    check_level(level)
    known = table.scored()
    reason = NO_ORDER if table.kind == "labels" else None
    reason = reason or (None if table.same_scale else OTHER_SCALE)
    code, units = known.unit_codes()
    of_people = None if reason else mean_coefficients(between_people(known, code, units))
    of_judge = None if reason else mean_coefficients(with_people(known, code, units))
    if reason is None and of_people is None:
        reason = f"no two people share {LEAST_PAIR} answers on which neither gives one score to all"
    found: dict[str, Estimate | None] = {}
    for place, name in enumerate(("association", "kappa")):
        between, beside = (None if of is None else of[0][place] for of in (of_people, of_judge))
        for who, values in (("people", between), ("judge", beside)):
            known_values = None if values is None else fisher_jackknife(values, level=level)
            found[f"{who}_{name}"] = known_values
        found[f"{name}_gain"] = None
        if between is not None and beside is not None:
            found[f"{name}_gain"] = jackknife_interval(beside - between, level=level)
    return Ceiling(
        **found,
        persons=int((~np.isnan(known.people)).any(axis=0).sum()),
        pairs=0 if of_people is None else of_people[1],
        reason=reason,
    )


def mean_coefficients(
    raters: Iterable[PairMoments],
) -> tuple[tuple[FloatArray, FloatArray], int] | None:
    """Mean r and κ_w over pairs of raters, with all units and without each; and how many pairs."""
    association = kappa = np.zeros(1)
    pairs = total = 0
    for each in raters:
        of = each.moments
        if each.n >= LEAST_PAIR and bool((of.var_x * of.var_y > 0).all()):
            pairs, total = pairs + 1, total + each.n
            association = association + each.n * each.of_all(of.correlation)
            kappa = kappa + each.n * each.of_all(of.concordance)
    return ((association / total, kappa / total), pairs) if pairs else None


# The Alternative Annotator Test.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LeftOut:
    """One person left out: how often judge and person are at least as near to the others.

    n : answers.  judge_wins, person_wins : shares, both 1 where they always tie.
    p_value : of H₀ that the person beats the judge by ε or more.  won : H₀ is rejected.
    """

    person: str
    n: int
    judge_wins: float
    person_wins: float
    p_value: float
    won: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AltTest:
    """May the judge take a person's place? ω and ρ of the Alternative Annotator Test.

    omega : share of the people left out against whom it wins; rho : chance that it is at least as
        near to the others as they. None where `reason` says why.
    passes : ω ≥ ½.
    few : fewer than three people were left out: ω is 0, ½ or 1, and says little.
    """

    omega: float | None
    rho: float | None
    passes: bool | None
    epsilon: float
    people: tuple[LeftOut, ...]
    few: bool
    reason: str | None

    def to_frame(self) -> DataFrame:
        """One row per person left out."""
        return rows_frame(LeftOut, self.people)


def alttest(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    closeness: Closeness,
    epsilon: float = 0.2,
    least_items: int = LEAST_ITEMS,
    alpha: float = 0.05,
    names: Sequence[str] = (),
) -> AltTest:
    """The Alternative Annotator Test: is the judge as good a stand-in as each person, given ε?

    Of person h on the answers that h, the judge and another person labelled: W = [score of the
    judge against the others ≥ h's], B = [h's ≥ the judge's]. p is that of the one-sided t test of
    mean(B − W) < ε; ω the share of people whose H₀ Benjamini and Yekutieli reject at `alpha`,
    ρ the mean over people of mean W.

    judge : (n,) labels as codes, or scores; NaN where there is none.
    people : (n, k) the same, a column per person.
    closeness : `equal`, share of the others with the same label, for labels, pass/fail and votes;
        `rmse`, − root mean squared distance, for scores.
    epsilon : what a person costs more than a judge: .2 experts, .15 skilled people, .1 crowd.
    least_items : answers that a person must have to be left out.

    Where B − W is the same on every answer, its variance is 0 and t does not exist: won if the
    mean is below ε (ours; the authors' code counts it as not won). Answers count as independent,
    as in the paper. The test grades no size; `people_check` does.

    Raises InvalidOption for an unknown closeness, ε or alpha outside (0, 1).
    Source: docs/methods.md §11; Calderon, Reichart & Dror (2025); Benjamini & Yekutieli (2001).

    >>> people = [[1, 1, 0], [0, 0, 0], [1, 0, 1]] * 12
    >>> found = alttest([1, 0, 1] * 12, people, closeness="equal")
    >>> found.omega, round(found.rho, 2)
    (1.0, 1.0)
    """
    if closeness not in get_args(Closeness):
        raise InvalidOption(
            f"closeness: {closeness!r} is not one of {', '.join(get_args(Closeness))}"
        )
    for name, value in (("epsilon", epsilon), ("alpha", alpha)):
        if not 0 < value < 1:
            raise InvalidOption(f"{name}: {value} is not between 0 and 1")
    theirs = np.asarray(people, dtype=np.float64)
    usable, judge_wins, person_wins = nearer(
        np.asarray(judge, dtype=np.float64), theirs, closeness=closeness
    )
    items = usable.sum(axis=0)
    graded = np.flatnonzero(items >= max(least_items, 2))
    if not len(graded):
        reason = ONE_PERSON
        if items.any():
            reason = (
                f"no person has {least_items} answers that another person and the judge "
                f"labelled too; the most is {int(items.max())}"
            )
        return AltTest(
            omega=None, rho=None, passes=None, epsilon=epsilon, people=(), few=True, reason=reason
        )
    wins = [
        (judge_wins[usable[:, place], place], person_wins[usable[:, place], place])
        for place in graded
    ]
    p_values = np.array(
        [_p_value(beaten.astype(np.float64) - won, epsilon) for won, beaten in wins]
    )
    rejected = _benjamini_yekutieli(p_values, alpha)
    people_left_out = tuple(
        LeftOut(
            person=names[int(place)] if names else f"person {place + 1}",
            n=int(items[place]),
            judge_wins=float(won.mean()),
            person_wins=float(beaten.mean()),
            p_value=float(p),
            won=bool(out),
        )
        for place, (won, beaten), p, out in zip(graded, wins, p_values, rejected, strict=True)
    )
    omega = float(rejected.mean())
    return AltTest(
        omega=omega,
        rho=float(np.mean([each.judge_wins for each in people_left_out])),
        passes=omega >= 0.5,
        epsilon=epsilon,
        people=people_left_out,
        few=len(people_left_out) < LEAST_PEOPLE,
        reason=None,
    )


def alttest_of_votes(
    judge: VoteCounts, people: Mapping[str, VoteCounts], *, epsilon: float = 0.2
) -> AltTest:
    """The test on pairwise votes: the majority of a rater's own votes is its label.

    judge, people : votes per comparison, of one selection.

    Raises and source as `alttest`.
    """
    size = 1 + max(int(one.comparison.max(initial=-1)) for one in (judge, *people.values()))
    labels = np.full((size, 1 + len(people)), np.nan)
    for column, counts in enumerate((judge, *people.values())):
        labels[counts.comparison, column] = counts.label
    return alttest(
        labels[:, 0], labels[:, 1:], closeness="equal", epsilon=epsilon, names=tuple(people)
    )


def _p_value(loss: FloatArray, epsilon: float) -> float:
    """P of a one-sided t test of mean loss < ε."""
    from scipy.special import stdtr

    spread, mean, n = float(loss.std(ddof=1)), float(loss.mean()), len(loss)
    if spread < SAME:
        return 0.0 if mean < epsilon else 1.0
    return float(stdtr(n - 1, (mean - epsilon) / (spread / math.sqrt(n))))


def _benjamini_yekutieli(p_values: FloatArray, alpha: float) -> BoolArray:
    """Hypotheses rejected at a false discovery rate of `alpha` under any dependence."""
    tests = len(p_values)
    rank = np.arange(1, tests + 1)
    order = np.argsort(p_values, kind="stable")
    below = np.flatnonzero(p_values[order] <= rank * alpha / (tests * (1 / rank).sum()))
    rejected = np.zeros(tests, dtype=bool)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return rejected
