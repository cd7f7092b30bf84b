"""Which priors a judge's votes allow: what else there is to lean on, and why something is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.aggregation.btd import MINIMUM_LABELS, Bounds, BTDFit, fit
from core.aggregation.btd_solver import Loss
from core.aggregation.shrinkage import WEAK, Prior, PriorOfSplits, pool, same_items, shrunken_fit
from core.counts import IntArray, VoteCounts
from core.votes import AppellateError

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["all", "own", "judges", "datasets", "weak"]

NAMES: dict[Kind, str] = {
    "all": "all judges' other categories",
    "own": "this judge's other categories",
    "judges": "other judges on the same items",
    "datasets": "this judge in other data sets",
    "weak": "a fixed weak prior",
}
"""What a fit can lean on, the one that helped most on real votes first."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Offer:
    """One thing to lean on, or why it cannot be had.

    prior : for `evaluate`, which must not see a label of what it evaluates.  whole : for a fit on every label
        of the task, whose other comparisons have none.  Both None where there is a `reason`.
    lenders : whose fits were pooled.  left_out : who could not lend, and why.
    """

    kind: Kind
    prior: Prior | PriorOfSplits | None
    whole: Prior | None
    lenders: tuple[str, ...] = ()
    left_out: dict[str, str]
    reason: str | None = None

    @property
    def name(self) -> str:
        return NAMES[self.kind]

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        row: dict[str, object] = {"lean_on": self.name, "lenders": ", ".join(self.lenders)}
        theta = [None] * 3 if self.whole is None else self.whole.theta0.tolist()
        row |= dict(zip(("beta", "eta0", "gamma"), theta, strict=True))
        return pd.DataFrame([row | {"reason": self.reason}])


def offers(
    judge: str,
    task: Mapping[str, VoteCounts],
    *,
    category: str | None = None,
    by_category: Mapping[str, Mapping[str, VoteCounts]] | None = None,
    dataset: str | None = None,
    by_dataset: Mapping[str, VoteCounts] | None = None,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    loss: Loss = "drps",
) -> dict[Kind, Offer]:
    """Every prior of NAMES for the votes of `judge` on a task, or why there is none.

    task : votes of each judge on the task.  category : which one the task is, None if it is all of them.
    by_category : votes by category, then judge, with the item codes of `task`.
    dataset, by_dataset : the data set of the task, and the judge's votes in each, with item codes of their
    own (`by_item_name`).
    Whoever lends labels of another task lends none of an item of this one, and needs 20 of them.
    Source: ours, methods §9.
    """
    options = _Options(alpha=alpha, kappa=kappa, bounds=bounds, loss=loss)
    items = task[judge].item
    by_category, by_dataset = by_category or {}, by_dataset or {}
    elsewhere = {name: votes for name, votes in by_dataset.items() if name != dataset}
    there = by_dataset[dataset].item if dataset is not None and dataset in by_dataset else items[:0]
    found: dict[Kind, Offer] = {}
    kinds: tuple[tuple[Kind, dict[str, VoteCounts], IntArray], ...] = (
        ("all", _others(by_category, category, None), items),
        ("own", _others(by_category, category, judge), items),
        ("datasets", elsewhere, there),
    )
    for kind, votes, taken in kinds:
        reason = _missing(kind, votes, category, by_category)
        found[kind] = _none(kind, reason) if reason else _pooled(kind, votes, taken, options)
    found["judges"] = _same_items(judge, task, options)
    found["weak"] = Offer(kind="weak", prior=WEAK, whole=WEAK, left_out={})
    return {kind: found[kind] for kind in NAMES}


def by_item_name(counts: VoteCounts, item_ids: Sequence[str]) -> VoteCounts:
    """The same votes with items of one name made one item, as data sets may share their questions.

    item_ids : name of the item of each comparison code.
    """
    code = np.unique(np.asarray(item_ids, dtype=object).astype(str), return_inverse=True)[1]
    return replace(counts, item=code[counts.comparison].astype(np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What every fit of one call shares."""

    alpha: float
    kappa: float
    bounds: Bounds | None
    loss: Loss

    def fit(self, votes: VoteCounts) -> BTDFit:
        return fit(
            votes.labelled().cells()[0],
            alpha=self.alpha,
            kappa=self.kappa,
            bounds=self.bounds,
            loss=self.loss,
        )

    def weak(self, votes: VoteCounts) -> BTDFit:
        return shrunken_fit(votes, alpha=self.alpha, kappa=self.kappa, bounds=self.bounds, loss=self.loss)


def _none(kind: Kind, reason: str, left_out: dict[str, str] | None = None) -> Offer:
    return Offer(kind=kind, prior=None, whole=None, left_out=left_out or {}, reason=reason)


def _others(
    by_category: Mapping[str, Mapping[str, VoteCounts]], category: str | None, judge: str | None
) -> dict[str, VoteCounts]:
    """Votes of each other category, of one judge or of each."""
    if category is None:
        return {}
    return {
        name if judge else f"{voter}, {name}": votes
        for name, voters in by_category.items()
        if name != category
        for voter, votes in voters.items()
        if judge in (None, voter)
    }


def _missing(
    kind: Kind,
    votes: Mapping[str, VoteCounts],
    category: str | None,
    by_category: Mapping[str, Mapping[str, VoteCounts]],
) -> str | None:
    """Why nobody could lend, before anything is fitted."""
    if votes:
        return None
    if kind == "datasets":
        return "no other data set has votes of this judge"
    if len(by_category) < 2:
        return "the votes have fewer than two categories"
    if category is None:
        return "choose one category as the task, so that the others can lend"
    return "the judge has votes in no other category"


def _pooled(kind: Kind, votes: Mapping[str, VoteCounts], taken: IntArray, options: _Options) -> Offer:
    """Prior of the fits of all who can lend."""
    fits: dict[str, BTDFit] = {}
    left_out: dict[str, str] = {}
    for name, lent in votes.items():
        known = lent.labelled()
        apart = known.rows(~np.isin(known.item, taken))
        if len(apart) < MINIMUM_LABELS:
            shared = (
                f", {len(known) - len(apart):,} more on items of the task" if len(apart) < len(known) else ""
            )
            left_out[name] = f"has {len(apart)} labelled comparisons{shared}; {MINIMUM_LABELS} are needed"
            continue
        try:
            fits[name] = options.fit(apart)
        except AppellateError as error:
            left_out[name] = str(error)
    if not fits:
        who = "category" if kind != "datasets" else "data set"
        return _none(
            kind, f"no other {who} has {MINIMUM_LABELS} labelled comparisons of other items", left_out
        )
    prior = pool(list(fits.values()), source=NAMES[kind])
    return Offer(kind=kind, prior=prior, whole=prior, lenders=tuple(fits), left_out=left_out)


def _same_items(judge: str, task: Mapping[str, VoteCounts], options: _Options) -> Offer:
    """Prior of other judges on the comparisons that calibrate."""
    known = task[judge].labelled()
    others, left_out = {}, {}
    for name, votes in task.items():
        if name == judge:
            continue
        both = votes.rows(np.isin(votes.comparison, known.comparison))
        if len(both) < MINIMUM_LABELS:
            left_out[name] = f"judged {len(both)} of the labelled comparisons; {MINIMUM_LABELS} are needed"
        else:
            others[name] = both
    if not others:
        return _none("judges", "no other judge voted on these labelled comparisons", left_out)
    return Offer(
        kind="judges",
        prior=same_items(
            known, others, alpha=options.alpha, kappa=options.kappa, bounds=options.bounds, loss=options.loss
        ),
        whole=pool([options.weak(votes) for votes in others.values()], source=NAMES["judges"]),
        lenders=tuple(others),
        left_out=left_out,
    )
