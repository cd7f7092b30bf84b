"""Is a jury better than its best judge: voting rules over judges, compared with their members.

Every member has one verdict per comparison (a label and a confidence); a rule weighs the verdicts.
Members, rules and fusers are compared on the comparisons that all members judged: accuracy,
calibration, cost, and who departs from the majority. Source: [TH] §5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Literal

import numpy as np

from ...errors import AppellateError, InvalidOption, NoUsableVotes, UnknownName
from ...records import (
    NO_GOLD,
    BoolArray,
    ConfidenceCounts,
    FloatArray,
    IntArray,
    OutcomeCounts,
    VoteCounts,
)
from ...schema import ConfidenceSource
from ...stats.estimate import DataFrame, Estimate, data_frame, flat
from ...stats.intervals import clustered_share, common_places, mean_interval, n_distinct
from ...stats.repeated_votes import share_behind
from ..confidence.calibration_error import Calibration, calibration
from ..confidence.selective import stated_behind
from ..confidence.th_scores import EPSILON, ThScore, th_score

ENTROPY_FLOOR = 1e-6
"""Keeps the weight of a judge that is certain finite (docs/methods.md §2)."""

EQUAL = 1e-12


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """Verdicts of several judges on the comparisons that all of them judged.

    votes : of each member, in the same rows.
    label : (members, rows) majority label of the member's votes.
    confidence : (members, rows) in [0, 1], that the label is right; None if some member states
        none.
    kind : what the confidence is: `stated`, `share` or `none`.
    left_out : comparisons that some member judged and another did not.
    """

    votes: dict[str, VoteCounts]
    label: IntArray
    confidence: FloatArray | None
    kind: Literal["stated", "share", "none"]
    left_out: int

    def __len__(self) -> int:
        return len(self.comparison)

    @property
    def names(self) -> tuple[str, ...]:
        """The members."""
        return tuple(self.votes)

    @property
    def comparison(self) -> IntArray:
        """Code of the comparison in each row."""
        return next(iter(self.votes.values())).comparison

    @property
    def item(self) -> IntArray:
        """Code of the item in each row."""
        return next(iter(self.votes.values())).item

    @property
    def gold(self) -> IntArray:
        """Gold label of each row, `NO_GOLD` where unknown."""
        return next(iter(self.votes.values())).gold

    @property
    def pooled(self) -> VoteCounts:
        """Votes of all members as if one judge had cast them."""
        sums = {
            name: np.sum([getattr(one, name) for one in self.votes.values()], axis=0)
            for name in ("plus", "tie", "minus")
        }
        return VoteCounts(comparison=self.comparison, item=self.item, gold=self.gold, **sums)

    def of(self, name: str) -> VoteCounts:
        """Votes of one member on the same comparisons. Raises UnknownName for a judge that is no
        member.
        """
        if name not in self.votes:
            raise UnknownName(f"{name!r} is no member; members are {', '.join(self.names)}.")
        return self.votes[name]

    def without(self, name: str) -> Members:
        """The same comparisons without one member. Raises UnknownName for a judge that is no
        member.
        """
        self.of(name)
        keep = np.array([one != name for one in self.names])
        return replace(
            self,
            votes={one: votes for one, votes in self.votes.items() if one != name},
            label=self.label[keep],
            confidence=None if self.confidence is None else self.confidence[keep],
        )

    def to_frame(self) -> DataFrame:
        """One row per comparison, a column of labels per member."""
        columns = {
            "comparison": self.comparison,
            "gold": np.where(self.gold == NO_GOLD, np.nan, self.gold),
        }
        return data_frame(columns | dict(zip(self.names, self.label, strict=True)))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Verdicts:
    """A label for each row of `Members`, and its share of the weight as confidence."""

    label: IntArray
    confidence: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One voting rule. `weigh` turns confidences into weights; None gives each member one vote."""

    key: str
    name: str
    source: str
    weigh: Callable[[FloatArray], FloatArray] | None = None


def entropy_weight(confidence: FloatArray) -> FloatArray:
    """c/(H(c) + 1e−6), H(c) = −c·ln c − (1 − c)·ln(1 − c) in nats, 0 at 0 and 1.

    Source: [TH] §5.1 says "inverse entropy" only; the form is ours (docs/methods.md §2).
    """
    from scipy.special import entr

    return np.asarray(confidence / (entr(confidence) + entr(1 - confidence) + ENTROPY_FLOOR))


RULES: dict[str, Rule] = {
    rule.key: rule
    for rule in (
        Rule(key="majority", name="Majority of judges", source="[TH] §5.1"),
        Rule(key="confidence", name="Confidence-weighted", source="[TH] §5.1", weigh=lambda c: c),
        Rule(key="root", name="Root-confidence-weighted", source="[TH] §5.1", weigh=np.sqrt),
        Rule(
            key="entropy",
            name="Entropy-weighted",
            source="[TH] §5.1; weight ours",
            weigh=entropy_weight,
        ),
    )
}
"""Voting rules by key, in the order of tables."""


def members(
    counts: Mapping[str, VoteCounts],
    votes: Mapping[str, ConfidenceCounts],
    *,
    by: ConfidenceSource = "stated",
) -> Members:
    """One verdict per comparison of each judge, on the comparisons that all of them judged.

    The label is the majority label of the judge's votes (no unique mode: 0). Its confidence is the
    mean confidence stated by the votes that gave it, times their share among the judge's votes on
    the comparison (one vote: what it states); for a tie that no vote gave, as votes split evenly,
    what all of them state, times the share of either side. If some member states none, it is that
    share for all, provided every member voted more than once somewhere; else there is none (ours).

    counts, votes : by judge, of one selection.  by : `share` takes the share of its votes for all
        even where they state one.  Raises InvalidOption for fewer than two judges, UnknownName
    for a judge without votes, NoUsableVotes if no comparison has a verdict of every member.
    """
    names = tuple(counts)
    if len(names) < 2:
        raise InvalidOption(f"An ensemble needs two judges or more; {len(names)} is chosen.")
    for name in names:
        if name not in votes:
            raise UnknownName(f"Judge {name!r} has no vote in this selection.")
    common = reduce(
        partial(np.intersect1d, assume_unique=True), (one.comparison for one in counts.values())
    )
    if not len(common):
        raise NoUsableVotes(f"No comparison was judged by all of {', '.join(names)}.")
    rows = {name: one.rows(np.searchsorted(one.comparison, common)) for name, one in counts.items()}
    share = np.stack([share_behind(one) for one in rows.values()])
    stated = [_stated(rows[name], votes[name]) for name in names]
    confidence = None
    kind: Literal["stated", "share", "none"] = "none"
    if by == "stated" and not any(np.isnan(one).any() for one in stated):
        confidence, kind = np.stack(stated) * share, "stated"
    elif all(int((one.plus + one.tie + one.minus).max()) > 1 for one in rows.values()):
        confidence, kind = share, "share"
    return Members(
        votes=rows,
        label=np.stack([one.label for one in rows.values()]),
        confidence=confidence,
        kind=kind,
        left_out=n_distinct(np.concatenate([one.comparison for one in counts.values()]))
        - len(common),
    )


MOST_FIRST = 5
"""Members with which a jury begins: more make each of them count less than a look can follow."""


def likely_jury(counts: Mapping[str, VoteCounts]) -> tuple[str, ...]:
    """Judges that can sit together: from the one with most comparisons down, each that leaves at
    least half of the first one's comparisons judged by all (ours). In the order of `counts`.
    """
    ranked = sorted(counts, key=lambda name: -len(counts[name]))
    chosen, common = (
        ranked[:1],
        counts[ranked[0]].comparison if ranked else np.zeros(0, dtype=np.int64),
    )
    for name in ranked[1:]:
        shared = np.intersect1d(common, counts[name].comparison, assume_unique=True)
        if 2 * len(shared) >= len(counts[ranked[0]]):
            chosen, common = [*chosen, name], shared
    return tuple(name for name in counts if name in chosen)


def best_jury(counts: Mapping[str, VoteCounts], most: int = MOST_FIRST) -> tuple[str, ...]:
    """The judges of `likely_jury` whose majority labels are right most often, at most `most` of
    them, in the order of `counts`; the first ones where gold is unknown.
    """
    likely = likely_jury(counts)

    def right(name: str) -> float:
        known = counts[name].labelled()
        return float((known.label == known.gold).mean()) if len(known) else 0.0

    best = sorted(likely, key=right, reverse=True)[:most]
    return tuple(name for name in likely if name in best)


def applicable(jury: Members) -> tuple[dict[str, Rule], dict[str, str]]:
    """Rules that this jury can use, and why it cannot use the others."""
    if jury.confidence is not None:
        return dict(RULES), {}
    reason = (
        "needs the confidence of every member; some state none, and "
        "some vote only once per comparison"
    )
    usable = {key: rule for key, rule in RULES.items() if rule.weigh is None}
    return usable, {key: reason for key in RULES if key not in usable}


def combine(jury: Members, key: str) -> Verdicts:
    """Label with the most weight, and its share of the weight as confidence.

    majority : every member weighs 1; labels with equally many members are decided by the highest
        confidence
    of a member behind them.  confidence, root, entropy : weights c, √c and c/(H(c) + 1e−6).
    What is still equal is 0 (ours). If every weight is 0, all members weigh the same (ours). The
    ensemble's confidence as weight share is ours: [TH] names none.

    Raises UnknownName for another key, InvalidOption for a rule that needs confidence where there
    is none.
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
        highest = np.stack(
            [np.where(jury.label == y, jury.confidence, -1.0).max(axis=0) for y in (-1, 0, 1)]
        )
        highest = np.where(best, highest, -1.0)
        best &= highest >= highest.max(axis=0) - EQUAL
    label = np.where(best.sum(axis=0) == 1, best.argmax(axis=0) - 1, 0).astype(np.int64)
    total = behind.sum(axis=0)
    return Verdicts(
        label=label, confidence=np.take_along_axis(behind, label[None] + 1, axis=0)[0] / total
    )


def btd_verdicts(jury: Members, *, rng: np.random.Generator, member: str | None = None) -> Verdicts:
    """BTD over the votes of all members, each label by a fit on other items; confidence is its
    p(label).

    member : the votes of this one only. Generators in the same state hold out the same items for
        everybody. Errors as
    `Members.of` and `core.questions.labels.btd.held_out_forecast`. Source: [BTD] §4 on pooled votes
    (ours).
    """
    from ..labels.btd import decide, held_out_forecast

    p = held_out_forecast(jury.pooled if member is None else jury.of(member), rng=rng)
    label = decide(p)
    return Verdicts(label=label, confidence=np.take_along_axis(p, label[:, None] + 1, axis=1)[:, 0])


def fuser_verdicts(
    jury: Members, counts: VoteCounts, votes: ConfidenceCounts
) -> tuple[Verdicts, IntArray]:
    """Verdicts of a judge that read the members' verdicts, and the rows of `jury` that it judged.

    Its confidence is as in `members`, NaN on rows where it states none; in a jury by share of votes
    it is that share, NaN where it voted once. Source: [TH] §5.
    """
    rows, place = common_places(jury.comparison, counts.comparison)
    one = counts.rows(place)
    confidence = share_behind(one)
    if jury.kind == "share":
        confidence = np.where(one.n > 1, confidence, np.nan)
    else:
        confidence = _stated(one, votes) * confidence
    return Verdicts(label=one.label, confidence=confidence), rows


def _stated(one: VoteCounts, votes: ConfidenceCounts) -> FloatArray:
    """Mean stated confidence behind each label, of all votes where none is behind it; NaN where
    none states any.
    """
    behind = np.choose(one.label + 1, (one.minus, one.tie, one.plus))
    return np.where(behind > 0, stated_behind(one, votes), stated_behind(one, votes, of_all=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Estimate):
    """Mean paired difference of two accuracies over n comparisons; no interval with one of its
    `items`.
    """

    items: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnsembleScore:
    """One member, rule or fuser on the labelled comparisons that it and all members judged.

    kind : `member`, `rule`, `fuser`, or `member by BTD`: the votes of the judge `member` alone,
        under BTD.
    fitted : its labels come from a fit on gold labels (of other items).
    accuracy : share of labels equal to gold.  calibration, th : None without a confidence on each.
    against : key of the best member that needs no more labels: of all members as they vote, and for
        one that
    is fitted of all members by BTD too.  against_best : accuracy minus that one's, on the same
        comparisons.
    Both None for the best one itself.
    alone : of a fuser the judge that is the same model by itself, and against_alone : accuracy
        minus that one's on the comparisons that both judged; None where there is no such judge.
    differs, right, wrong : comparisons on which its label differs from the majority of judges, and
        on how
    many of those it is right while the majority is wrong, and the other way round.
    departures : codes of the comparisons on which its label differs.
    cost : mean cost of one verdict in the currency of the votes, None if some part of it is
        unknown.
    """

    key: str
    name: str
    kind: str
    member: str | None
    fitted: bool
    n: int
    accuracy: Estimate
    calibration: Calibration | None
    th: ThScore | None
    against: str | None
    against_best: Difference | None
    alone: str | None
    against_alone: Difference | None
    differs: int
    right: int
    wrong: int
    departures: IntArray
    cost: float | None


COLUMNS = (
    *("key", "name", "kind", "fitted", "n", "accuracy", "accuracy_low", "accuracy_high"),
    *(
        "ece",
        "ace",
        "mce",
        "brier",
        "nll",
        "th",
        "against",
        "against_best_value",
        "against_best_low",
    ),
    *("against_best_high", "alone", "against_alone_value", "against_alone_low"),
    *("against_alone_high", "differs", "right", "wrong", "cost"),
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnsembleTable:
    """Scores by key, members first; why rules are missing; accuracy of each rule without each
    member.

    best_member : key of the most accurate member as it votes.  best_fitted : key of the most
        accurate member
    as it votes or by BTD, None if nothing could be fitted.  without : (rules, members), None where
    a rule cannot be made; `rules` names the rows.  n : labelled comparisons.
    """

    scores: dict[str, EnsembleScore]
    not_applicable: dict[str, str]
    best_member: str
    best_fitted: str | None
    rules: tuple[str, ...]
    without: tuple[tuple[Difference | None, ...], ...]
    n: int
    left_out: int
    unlabelled: int

    def to_frame(self) -> DataFrame:
        """One row per member, rule or fuser."""
        rows = []
        for score in self.scores.values():
            row = flat(score)
            for name in ("against_best", "against_alone"):
                row |= {
                    f"{name}_{end}": getattr(getattr(score, name), end, None)
                    for end in ("value", "low", "high")
                }
            row |= {
                name: getattr(score.calibration, name, None)
                for name in ("ece", "ace", "mce", "brier", "nll")
            }
            row["th"] = getattr(score.th, "th", None)
            row["against"] = score.against and self.scores[score.against].name
            rows.append(row)
        return data_frame(rows)[list(COLUMNS)]


def compare(
    jury: Members,
    *,
    rng: np.random.Generator,
    fusers: Mapping[str, tuple[Verdicts, IntArray]] | None = None,
    same_model: Mapping[str, tuple[str, VoteCounts]] | None = None,
    costs: Mapping[str, float | None] | None = None,
    epsilon: float = EPSILON,
    level: float = 0.95,
) -> EnsembleTable:
    """Judge members, voting rules, BTD over the pooled votes, and fusers, on comparisons with gold.

    BTD is fitted on gold labels, which mends any judge's ties and scale. So every member is judged
    by BTD on its own votes too, with the same items held out, and a fitted jury is compared with
    the best of those: what it gains over a member as it votes may be the fit's work and none of the
    jury's (ours).

    fusers : by judge, as of `fuser_verdicts`; each is judged on the rows that
        it has.  same_model : of a fuser the judge that is the same model by itself, and its votes.
    costs : mean cost of a verdict by judge; a rule costs what its members cost together, a fuser
        that and
    its own. A cost that is not known stays unknown, never 0.

    The difference to the best member is optimistic for no rule: that member was picked on these
    same comparisons, which favours it. Leave-one-member-out is the rule without the member minus
    the rule.

    Raises NoUsableVotes if no common comparison has gold. Source: [TH] §5; paired intervals are
    ours.
    """
    known = jury.gold != NO_GOLD
    if not known.any():
        raise NoUsableVotes("No comparison that all members judged has a gold label.")
    costs = costs or {}
    everything = _sum([costs.get(name) for name in jury.names])
    found: dict[str, tuple[str, str, Verdicts, IntArray, float | None]] = {}
    all_rows, every = np.flatnonzero(known), np.arange(len(jury))
    for place, name in enumerate(jury.names):
        own = np.full(len(jury), np.nan) if jury.confidence is None else jury.confidence[place]
        verdicts = Verdicts(label=jury.label[place], confidence=own)
        found[name] = (name, "member", verdicts, every, costs.get(name))
    rules, skipped = applicable(jury)
    voted = {key: combine(jury, key) for key in rules}
    for key, verdicts in voted.items():
        found[key] = (RULES[key].name, "rule", verdicts, every, everything)
    by_btd: dict[str, str] = {}
    try:
        alone = {name: btd_verdicts(jury, rng=deepcopy(rng), member=name) for name in jury.names}
        found["btd"] = (
            "BTD over pooled votes",
            "rule",
            btd_verdicts(jury, rng=rng),
            every,
            everything,
        )
        for name, verdicts in alone.items():
            by_btd[f"btd of {name}"] = name
            found[f"btd of {name}"] = (
                f"BTD on {name}'s votes",
                "member by BTD",
                verdicts,
                every,
                costs.get(name),
            )
    except AppellateError as error:
        # Without its members by BTD there is nothing to compare a fitted jury with.
        skipped["btd"] = str(error)
    for name, (verdicts, rows) in (fusers or {}).items():
        if known[rows].any():
            found[name] = (name, "fuser", verdicts, rows, _sum([everything, costs.get(name)]))
        else:
            skipped[name] = "judged none of the labelled comparisons of the members"
    hits = {
        key: float((found[key][2].label == jury.gold)[known].mean())
        for key in (*jury.names, *by_btd)
    }
    best = max(jury.names, key=hits.__getitem__)
    best_fitted = max(hits, key=hits.__getitem__) if by_btd else None
    scores = {}
    for key, (name, kind, verdicts, rows, cost) in found.items():
        kept = known[rows]
        at = rows[kept]
        label, gold, item = verdicts.label[kept], jury.gold[at], jury.item[at]
        fitted = key == "btd" or key in by_btd
        against = best_fitted if fitted and best_fitted else best
        right, best_right = label == gold, found[against][2].label[at] == gold
        majority = voted["majority"].label[at]
        outcomes = _outcomes(item, verdicts.confidence[kept], right)
        departs = label != majority
        same, by_itself = None, None
        if same_model and key in same_model:
            same, votes_alone = same_model[key]
            mine, there = common_places(jury.comparison[at], votes_alone.comparison)
            if len(mine):
                own_right = votes_alone.label[there] == gold[mine]
                by_itself = paired(item[mine], right[mine], own_right, level=level)
        scores[key] = EnsembleScore(
            key=key,
            name=name,
            kind=kind,
            member=by_btd.get(key),
            fitted=fitted,
            n=len(at),
            accuracy=clustered_share(item, right, level=level),
            calibration=None if outcomes is None else calibration(outcomes, level=level),
            th=None if outcomes is None else th_score(outcomes, epsilon, level=level),
            against=None if key == against else against,
            against_best=None if key == against else paired(item, right, best_right, level=level),
            alone=None if by_itself is None else same,
            against_alone=by_itself,
            differs=int(departs.sum()),
            right=int((departs & right).sum()),
            wrong=int((departs & (majority == gold)).sum()),
            departures=jury.comparison[at][departs],
            cost=cost,
        )
    return EnsembleTable(
        scores=scores,
        not_applicable=skipped,
        best_member=best,
        best_fitted=best_fitted,
        rules=tuple(voted),
        without=tuple(_without(jury, key, whole, all_rows, level) for key, whole in voted.items()),
        n=len(all_rows),
        left_out=jury.left_out,
        unlabelled=int((~known).sum()),
    )


def paired(item: IntArray, one: BoolArray, two: BoolArray, *, level: float = 0.95) -> Difference:
    """Mean of one − two over comparisons, with an interval that takes items as the unit.

    It is `intervals.mean_interval` with the ends −1 and 1, cut where the accuracy of the second
    leaves no room: with its interval [a, b], a difference lies between −b and 1 − a (ours).
    """
    difference = one.astype(np.float64) - two
    mean = mean_interval(item, difference, ends=(-1.0, 1.0), level=level)
    rate = clustered_share(item, two, level=level)
    low, high = np.clip((mean.low, mean.high), -rate.high, 1 - rate.low).tolist()
    return Difference(
        value=mean.value, low=low, high=high, n=len(difference), items=mean.n, level=level
    )


def _without(
    jury: Members, key: str, whole: Verdicts, rows: IntArray, level: float
) -> tuple[Difference | None, ...]:
    """Accuracy of a rule without each member, minus with all; None where one member alone would be
    left.
    """
    if len(jury.names) < 3:
        return (None,) * len(jury.names)
    gold, item = jury.gold[rows], jury.item[rows]
    full = whole.label[rows] == gold
    return tuple(
        paired(item, combine(jury.without(name), key).label[rows] == gold, full, level=level)
        for name in jury.names
    )


def _outcomes(item: IntArray, confidence: FloatArray, right: BoolArray) -> OutcomeCounts | None:
    """Confidence and correctness of each row; None if a confidence is unknown."""
    if np.isnan(confidence).any():
        return None
    return OutcomeCounts(
        item=item,
        confidence=np.clip(confidence, 0.0, 1.0),
        n=np.ones(len(item), dtype=np.int64),
        correct=right.astype(np.int64),
    )


def _sum(parts: list[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
