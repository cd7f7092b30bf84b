"""Is gold made of the votes that it is to grade: the mode of the file's people, or a judge's first
vote?

A rater that is graded against its own votes looks better than it is. Whoever is very good equals
gold honestly, so equality alone accuses nobody: what tells is that gold follows where a good rater
would be wrong now and then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...records import NO_GOLD, FirstVotes, FloatArray, IntArray, VoteCounts, majority
from ...stats.estimate import Estimate
from ...stats.intervals import common_places, mean_interval, n_distinct
from .judge_vs_human import left_out_people, people_agreement

ALIKE = 0.98
"""Share of comparisons on which gold has to equal the votes."""
FEWEST = 30
"""Comparisons of people, or items of a judge, below which nothing is said."""
CHANCE = 0.01
"""How unlikely so few misses of independent gold have to be."""
PRIOR_PERSONS = 10.0
"""Weight of the rate of all people in that of one person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldOfPeople:
    """How gold follows the mode of the people of its file.

    n : comparisons with gold on which the people's votes have one mode.  alike : share of them on
        which gold is that mode; NaN without any.
    close : those decided by one vote, whose voters' rates are known.  misses : close comparisons on
        which gold is another label.
    expected : misses of gold that was made without these votes.  p : chance of so few or fewer; 1
        without a close comparison, and where gold does not equal the mode anyway.
    """

    n: int
    alike: float
    close: int
    misses: int
    expected: float
    p: float

    @property
    def equals(self) -> bool:
        """Gold is their mode on 98 % or more of 30 or more comparisons, whyever that is."""
        return self.n >= FEWEST and self.alike >= ALIKE

    @property
    def is_theirs(self) -> bool:
        """Gold was made of these people's votes: it equals their mode even where one vote decides
        and independent gold would not.
        """
        return self.equals and self.p < CHANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldOfJudge:
    """How gold follows the first vote of a judge on comparisons on which it voted twice or more.

    n_items : items of those comparisons.  alike : share of the comparisons on which gold is the
        first vote.
    gain : share right of the first vote minus that of the later ones, by item.
    """

    n_items: int
    alike: float
    gain: Estimate

    @property
    def is_its_own(self) -> bool:
        """Gold was made of the judge's first votes: it equals them, and later votes are worse."""
        return self.n_items >= FEWEST and self.alike >= ALIKE and self.gain.low > 0


def gold_is_their_majority(people: Mapping[str, VoteCounts]) -> GoldOfPeople:
    """Whether the gold of these people is the mode of their own votes.

    Two conditions. Gold equals the mode on ≥ 98 % of ≥ 30 comparisons: people who are all but
    always right reach that honestly. And on comparisons decided by one vote, gold that was made
    otherwise would miss the mode in 1 − qᵢ, by the rates at which the people who voted there agree
    with the others: with a₊ of those for the mode and a₋ of those against it,
    qᵢ = Πa₊·Π(1 − a₋)/[Πa₊·Π(1 − a₋) + Π(1 − a₊)·Πa₋], which is a where all have the rate a. The
    chance of as few misses as were seen, P(Σ Bernoulli(1 − qᵢ) ≤ misses), is below .01.

    A person's rate a is that of `people_agreement` over the comparisons of this person, with that
    of all people worth ten more: people of unequal skill who are outvoted one by one are not taken
    for gold that was made of votes. Votes for a label that is neither the mode nor opposed to it
    (ties beside a decided mode) do not bear on qᵢ.

    people : person → its counts, with gold; comparison codes shared by all. Comparisons without a
        unique mode say nothing.

    Honest people who are right on 75 to 99 % are named in under 2 % of draws; those right on 75 %
    whose mode gold is, in all, with 300 items. Source: ours.
    """
    size = 1 + max((int(c.comparison.max(initial=-1)) for c in people.values()), default=-1)
    votes, gold = np.zeros((3, size), dtype=np.int64), np.full(size, NO_GOLD)
    for counts in people.values():
        votes[:, counts.comparison] += counts.plus, counts.tie, counts.minus
        gold[counts.comparison] = counts.gold
    ranked = np.sort(votes, axis=0)
    graded = (ranked[2] > ranked[1]) & (gold != NO_GOLD)
    n = int(graded.sum())
    if not n:
        return GoldOfPeople(n=0, alike=float("nan"), close=0, misses=0, expected=0.0, p=1.0)
    mode = majority(*votes)
    alike = float((gold == mode)[graded].mean())
    rate = _rates(people)
    close = graded & (ranked[2] - ranked[1] == 1)
    if rate is None:
        close &= False
    miss = 1 - _chance_of_mode(people, rate or {}, mode)[close]
    misses = int((gold != mode)[close].sum())
    return GoldOfPeople(
        n=n,
        alike=alike,
        close=len(miss),
        misses=misses,
        expected=float(miss.sum()),
        p=_at_most(misses, miss) if alike >= ALIKE else 1.0,
    )


def gold_is_its_first_vote(votes: VoteCounts, first: FirstVotes) -> GoldOfJudge | None:
    """Whether the gold of a judge is the first of its own votes.

    Of comparisons with gold and two or more votes: gold equals the first vote on ≥ 98 %, and the
    first vote is right more often than the later ones, Σᵢ[right₁ − mean right of the others] by
    item with the whole 95 % interval of `mean_interval` above 0, on ≥ 30 items. A judge that is
    always right, or always repeats itself, gains nothing by its first vote.

    first : first votes of the same judge and selection.
    None without such a comparison. Source: ours.
    """
    at, of_first = common_places(votes.comparison, first.comparison)
    counts, vote = votes.rows(at), first.vote[of_first]
    used = (counts.gold != NO_GOLD) & (counts.n > 1)
    if not used.any():
        return None
    counts, vote = counts.rows(used), vote[used]
    alike = (vote == counts.gold).astype(np.float64)
    right = np.select([counts.gold == 1, counts.gold == 0], [counts.plus, counts.tie], counts.minus)
    later = (right - alike) / (counts.n - 1)
    return GoldOfJudge(
        n_items=n_distinct(counts.item),
        alike=float(alike.mean()),
        gain=mean_interval(counts.item, alike - later, ends=(-1.0, 1.0)),
    )


def _rates(people: Mapping[str, VoteCounts]) -> dict[str, float] | None:
    """How often each person says what the others say; None where nobody has others that decide."""
    everyone = people_agreement(people)
    if everyone is None:
        return None
    prior = PRIOR_PERSONS * everyone.value
    rate = {}
    for name, (_, credit) in left_out_people(people).items():
        own = (float(credit.sum()) + prior) / (len(credit) + PRIOR_PERSONS)
        # A rate of exactly 1 would make a single miss impossible.
        rate[name] = min(max(own, 1e-6), 1 - 1e-6)
    return rate


def _chance_of_mode(
    people: Mapping[str, VoteCounts], rate: Mapping[str, float], mode: IntArray
) -> FloatArray:
    """qᵢ of each comparison code: chance that a mode, opposed as it is, is what gold says."""
    log_odds = np.zeros(len(mode))
    for name, counts in people.items():
        if name in rate:
            label, at = counts.label, mode[counts.comparison]
            towards = np.where(label == at, 1, np.where((label != 0) | (at == 0), -1, 0))
            log_odds[counts.comparison] += towards * np.log(rate[name] / (1 - rate[name]))
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _at_most(misses: int, chance: FloatArray) -> float:
    """P(Σ Bernoulli(chanceᵢ) ≤ misses), exactly."""
    ways = np.zeros(misses + 1)
    ways[0] = 1.0
    for p in chance:
        ways[1:] = ways[1:] * (1 - p) + ways[:-1] * p
        ways[0] *= 1 - p
    return min(float(ways.sum()), 1.0)
