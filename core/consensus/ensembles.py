"""Is a jury better than its best judge: voting rules over judges, judged beside their members.

Every member has one verdict a comparison (a label and a confidence); a rule weighs the verdicts. Members,
rules and fusers are compared on the comparisons that all members judged. Source: [TH] §5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.counts import NO_GOLD, FloatArray, IntArray, SingleVotes, VoteCounts
from core.votes import InvalidOption, NoUsableVotes, UnknownName

if TYPE_CHECKING:
    import pandas as pd

ENTROPY_FLOOR = 1e-6
"""Keeps the weight of a judge that is certain finite (methods §2)."""

EQUAL = 1e-12


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """Verdicts of several judges on the comparisons that all of them judged.

    comparison, item, gold : (rows,), gold `NO_GOLD` where unknown.
    label : (members, rows) majority label of the member's votes.
    confidence : (members, rows) in [0, 1], that the label is right; None if some member states none.
    kind : what the confidence is: `stated`, `share` or `none`.
    plus, tie, minus : (members, rows) votes of each member.
    left_out : comparisons that some member judged and another did not.
    """

    names: tuple[str, ...]
    comparison: IntArray
    item: IntArray
    gold: IntArray
    label: IntArray
    confidence: FloatArray | None
    kind: str
    plus: IntArray
    tie: IntArray
    minus: IntArray
    left_out: int

    def __len__(self) -> int:
        return len(self.comparison)

    @property
    def pooled(self) -> VoteCounts:
        """Votes of all members as if one judge had cast them."""
        return VoteCounts(
            comparison=self.comparison,
            item=self.item,
            plus=self.plus.sum(axis=0),
            tie=self.tie.sum(axis=0),
            minus=self.minus.sum(axis=0),
            gold=self.gold,
        )

    def of(self, name: str) -> VoteCounts:
        """Votes of one member on the same comparisons. Raises UnknownName for a judge that is no member."""
        if name not in self.names:
            raise UnknownName(f"{name!r} is no member; members are {', '.join(self.names)}.")
        place = self.names.index(name)
        return VoteCounts(
            comparison=self.comparison,
            item=self.item,
            plus=self.plus[place],
            tie=self.tie[place],
            minus=self.minus[place],
            gold=self.gold,
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a comparison, a column of labels a member."""
        import pandas as pd

        columns = {"comparison": self.comparison, "gold": np.where(self.gold == NO_GOLD, np.nan, self.gold)}
        return pd.DataFrame(columns | dict(zip(self.names, self.label, strict=True)))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Verdicts:
    """What a rule says of each row of `Members`: a label, and its share of the weight as confidence."""

    label: IntArray
    confidence: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One voting rule. `weigh` turns confidences into weights; None counts heads."""

    key: str
    name: str
    source: str
    weigh: Callable[[FloatArray], FloatArray] | None = None


def entropy_weight(confidence: FloatArray) -> FloatArray:
    """c/(H(c) + 1e−6), H(c) = −c·ln c − (1 − c)·ln(1 − c) in nats, 0 at 0 and 1.

    Source: [TH] §5.1 says "inverse entropy" only; the form is ours (methods §2).
    """
    from scipy.special import entr

    return np.asarray(confidence / (entr(confidence) + entr(1 - confidence) + ENTROPY_FLOOR))


RULES: dict[str, Rule] = {
    rule.key: rule
    for rule in (
        Rule(key="majority", name="Majority of judges", source="[TH] §5.1"),
        Rule(key="confidence", name="Confidence-weighted", source="[TH] §5.1", weigh=lambda c: c),
        Rule(key="root", name="Root-confidence-weighted", source="[TH] §5.1", weigh=np.sqrt),
        Rule(key="entropy", name="Entropy-weighted", source="[TH] §5.1; weight ours", weigh=entropy_weight),
    )
}
"""Voting rules by key, in the order of tables."""


def members(counts: Mapping[str, VoteCounts], votes: Mapping[str, SingleVotes]) -> Members:
    """One verdict a comparison of each judge, on the comparisons that all of them judged.

    The label is the majority label of the judge's votes (no unique mode: 0). Its confidence is the mean
    confidence stated by the votes that gave it, times their share among the judge's votes on the comparison
    (one vote: what it states); 0 for a tie that no vote gave. If some member states none, it is that share
    for all, provided every member voted more than once somewhere; else there is none (ours).

    counts, votes : by judge, of one selection.  Raises InvalidOption for fewer than two judges, UnknownName
    for a judge without votes, NoUsableVotes if no comparison has a verdict of every member.
    """
    names = tuple(counts)
    if len(names) < 2:
        raise InvalidOption(f"An ensemble needs two judges or more; {len(names)} is chosen.")
    for name in names:
        if name not in votes:
            raise UnknownName(f"Judge {name!r} has no vote in this selection.")
    common = counts[names[0]].comparison
    for name in names[1:]:
        common = np.intersect1d(common, counts[name].comparison, assume_unique=True)
    anyone = np.unique(np.concatenate([one.comparison for one in counts.values()]))
    if not len(common):
        raise NoUsableVotes(f"No comparison was judged by all of {', '.join(names)}.")
    rows = {name: one.rows(np.searchsorted(one.comparison, common)) for name, one in counts.items()}
    share = np.stack([_share(one) for one in rows.values()])
    stated = [_stated(rows[name], votes[name]) for name in names]
    first = rows[names[0]]
    confidence, kind = None, "none"
    if not any(np.isnan(one).any() for one in stated):
        confidence, kind = np.stack(stated) * share, "stated"
    elif all(int((one.plus + one.tie + one.minus).max()) > 1 for one in rows.values()):
        confidence, kind = share, "share"
    return Members(
        names=names,
        comparison=common,
        item=first.item,
        gold=first.gold,
        label=np.stack([one.label for one in rows.values()]),
        confidence=confidence,
        kind=kind,
        plus=np.stack([one.plus for one in rows.values()]),
        tie=np.stack([one.tie for one in rows.values()]),
        minus=np.stack([one.minus for one in rows.values()]),
        left_out=len(anyone) - len(common),
    )


def likely_jury(counts: Mapping[str, VoteCounts]) -> tuple[str, ...]:
    """Judges that can sit together: from the one with most comparisons down, each that leaves at least half
    of the first one's comparisons judged by all (ours). In the order of `counts`.
    """
    ranked = sorted(counts, key=lambda name: -len(counts[name]))
    chosen, common = ranked[:1], counts[ranked[0]].comparison if ranked else np.zeros(0, dtype=np.int64)
    for name in ranked[1:]:
        shared = np.intersect1d(common, counts[name].comparison, assume_unique=True)
        if 2 * len(shared) >= len(counts[ranked[0]]):
            chosen, common = [*chosen, name], shared
    return tuple(name for name in counts if name in chosen)


def applicable(jury: Members) -> tuple[dict[str, Rule], dict[str, str]]:
    """Rules that this jury can use, and why it cannot use the others."""
    if jury.confidence is not None:
        return dict(RULES), {}
    reason = "needs the confidence of every member; some state none, and some vote only once a comparison"
    usable = {key: rule for key, rule in RULES.items() if rule.weigh is None}
    return usable, {key: reason for key in RULES if key not in usable}


def combine(jury: Members, key: str) -> Verdicts:
    """Label with the most weight, and its share of the weight as confidence.

    majority : every member weighs 1; labels with equally many members are decided by the highest confidence
    of a member behind them.  confidence, root, entropy : weights c, √c and c/(H(c) + 1e−6).
    What is still equal is 0 (ours). If every weight is 0, all members weigh the same (ours). The ensemble's
    confidence as weight share is ours: [TH] names none.

    Raises UnknownName for another key, InvalidOption for a rule that needs confidence where there is none.
    """
    if key not in RULES:
        raise UnknownName(f"There is no voting rule {key!r}; choose from {', '.join(RULES)}.")
    rule = RULES[key]
    if rule.weigh is None:
        weight = np.ones(jury.label.shape)
    elif jury.confidence is None:
        raise InvalidOption(f"{rule.name}: {applicable(jury)[1][key]}.")
    else:
        weight = rule.weigh(jury.confidence)
        weight = np.where(weight.sum(axis=0) > 0, weight, 1.0)
    behind = np.stack([np.where(jury.label == y, weight, 0.0).sum(axis=0) for y in (-1, 0, 1)])
    best = behind >= behind.max(axis=0) * (1 - EQUAL)
    if rule.weigh is None and jury.confidence is not None:
        highest = np.stack([np.where(jury.label == y, jury.confidence, -1.0).max(axis=0) for y in (-1, 0, 1)])
        highest = np.where(best, highest, -1.0)
        best &= highest >= highest.max(axis=0) - EQUAL
    label = np.where(best.sum(axis=0) == 1, best.argmax(axis=0) - 1, 0).astype(np.int64)
    total = behind.sum(axis=0)
    return Verdicts(label=label, confidence=np.take_along_axis(behind, label[None] + 1, axis=0)[0] / total)


def btd_verdicts(jury: Members, *, rng: np.random.Generator, member: str | None = None) -> Verdicts:
    """BTD over the votes of all members, each label by a fit on other items; confidence is its p(label).

    member : the votes of this one only. Generators in the same state hold out the same items for everybody.
    Errors as `Members.of` and `core.aggregation.crossfit.held_out_forecast`. Source: [BTD] §4 on pooled votes
    (ours).
    """
    from core.aggregation.btd import decide
    from core.aggregation.crossfit import held_out_forecast

    p = held_out_forecast(jury.pooled if member is None else jury.of(member), rng=rng)
    label = decide(p)
    return Verdicts(label=label, confidence=np.take_along_axis(p, label[:, None] + 1, axis=1)[:, 0])


def fuser_verdicts(jury: Members, counts: VoteCounts, votes: SingleVotes) -> tuple[Verdicts, IntArray]:
    """Verdicts of a judge that read the members' verdicts, and the rows of `jury` that it judged.

    Its confidence is as in `members`, NaN on rows where it states none. Source: [TH] §5.
    """
    _, rows, place = np.intersect1d(
        jury.comparison, counts.comparison, assume_unique=True, return_indices=True
    )
    one = counts.rows(place)
    return Verdicts(label=one.label, confidence=_stated(one, votes) * _share(one)), rows


def _share(one: VoteCounts) -> FloatArray:
    """Share of the votes of each comparison that gave its majority label."""
    agreeing = np.where(one.label > 0, one.plus, np.where(one.label < 0, one.minus, one.tie))
    return np.asarray(agreeing / (one.plus + one.tie + one.minus))


def _stated(one: VoteCounts, votes: SingleVotes) -> FloatArray:
    """Mean confidence of votes for the majority label that state one; 1 if no vote gave it, else NaN."""
    if not len(one):
        return np.zeros(0)
    place = np.searchsorted(one.comparison, votes.comparison)
    place[place == len(one)] = 0
    behind = (one.comparison[place] == votes.comparison) & (one.label[place] == votes.vote)
    stating = behind & ~np.isnan(votes.confidence)
    total = np.bincount(place[stating], weights=votes.confidence[stating], minlength=len(one))
    n = np.bincount(place[stating], minlength=len(one))
    nobody = np.bincount(place[behind], minlength=len(one)) == 0
    return np.where(n > 0, total / np.maximum(n, 1), np.where(nobody, 1.0, np.nan))
