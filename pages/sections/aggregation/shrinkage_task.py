"""The task that a fit with few labels is for, what else it can lean on, and what that gains."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.aggregation.shrinkage import Kind, Offer, by_item_name, offers
from core.aggregation.shrinkage_trial import FEWEST, ShrinkageGain, shrinkage_gain
from core.errors import NoUsableVotes
from core.records import VoteCounts
from core.schema import Selection
from core.store.vote_queries import comparison_names
from pages.sections.aggregation.controls import Asked
from pages.sections.aggregation.rules import SPLITS
from pages.shared import cached, widgets


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Task:
    """The votes that a fit is for, and where else labels are.

    selection : of the votes whose codes the counts have.  category : None for all of them.
    """

    asked: Asked
    selection: Selection
    category: str | None
    share: int
    of_judge: dict[str, VoteCounts]
    by_category: dict[str, dict[str, VoteCounts]]

    @property
    def counts(self) -> VoteCounts:
        return self.of_judge[self.asked.judge]

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (*self.asked.key, self.category)

    @property
    def options(self) -> dict[str, Any]:
        return {"bounds": self.asked.bounds, **self.asked.options}


def task_asked(asked: Asked) -> Task:
    """Draw the controls of the task; all records have the codes of the selection without its category."""
    given = dict(asked.selection.where).get("category")
    rest = tuple(pair for pair in asked.selection.where if pair[0] != "category")
    selection = replace(asked.selection, where=rest)
    by_category: dict[str, dict[str, VoteCounts]] = {}
    if sum(bool(name) for name in cached.summary(selection).categories) > 1:
        by_category = _alike(asked, cached.vote_counts_by(selection, "category"))
    category = given
    if given is None and by_category:
        own = [name for name, voters in by_category.items() if asked.judge in voters]
        category = asked.controls.selectbox(
            "Task",
            own,
            index=None,
            key="lean_task",
            bind=widgets.URL,
            placeholder="all categories",
            width=180,
        )
    share = asked.controls.slider(
        "Calibration share",
        1,
        50,
        5,
        format="%d %%",
        key="lean_share",
        bind=widgets.URL,
        help="Share of the items",
        width=170,
    )
    if category is None or category not in by_category:
        of_judge = _alike(asked, {"": cached.vote_counts(asked.selection)})[""]
        selection = asked.selection
        by_category = {} if category is not None else by_category
    else:
        of_judge = by_category[category]
    if asked.judge not in of_judge or not len(of_judge[asked.judge].labelled()):
        raise NoUsableVotes(
            f"{asked.judge} judged no comparison of this task with a gold label; choose another task or "
            "judge."
        )
    return Task(
        asked=asked,
        selection=selection,
        category=category,
        share=share,
        of_judge=of_judge,
        by_category=by_category,
    )


def _alike(asked: Asked, found: dict[str, dict[str, VoteCounts]]) -> dict[str, dict[str, VoteCounts]]:
    """Only raters of the judge's type: humans may be where gold is from."""
    kinds = cached.raters(widgets.current_dataset())
    wanted = kinds.get(asked.judge)
    return {
        value: {name: votes for name, votes in voters.items() if kinds.get(name) == wanted}
        for value, voters in found.items()
    }


def all_offers(task: Task) -> dict[Kind, Offer]:
    judge = task.asked.judge
    by_dataset: dict[str, VoteCounts] = {}
    if len(cached.datasets()) > 1:
        wide = Selection(judges=(judge,), gold=task.selection.gold)
        names = comparison_names(cached.get_store(), wide)["item_id"].to_pylist()
        by_dataset = {
            dataset: by_item_name(voters[judge], names)
            for dataset, voters in cached.vote_counts_by(wide, "dataset").items()
        }
    return offers(
        judge,
        task.of_judge,
        category=task.category,
        by_category=task.by_category,
        dataset=widgets.current_dataset(),
        by_dataset=by_dataset,
        **task.options,
    )


def gain_of(task: Task, offer: Offer, share: float) -> ShrinkageGain:
    prior = offer.prior
    assert prior is not None  # only what is at hand is asked for
    return cached.computed(
        "shrinkage gain",
        (*task.key, offer.kind, share),
        lambda: shrinkage_gain(
            task.counts, prior, rng=np.random.default_rng(0), share=share, n_splits=SPLITS, **task.options
        ),
    )


def gain_of_few(task: Task, offer: Offer) -> ShrinkageGain | None:
    """Calibrated on the fewest comparisons; None if the chosen share is no more."""
    few = gain_of(task, offer, FEWEST)
    chosen = gain_of(task, offer, task.share / 100)
    return few if few.evaluation.calibration < chosen.evaluation.calibration else None


def code_of(task: Task, offer: Offer) -> str:
    """Lines of Python that make the prior and give the page's numbers."""
    asked = task.asked
    judge, dataset = asked.judge, widgets.current_dataset()
    same = tuple(sorted(task.of_judge))
    lines = [f"judge, alike = {judge!r}, {same!r}"]
    if task.by_category:
        lines += [
            f"whole = replace(selection, where={task.selection.where!r})",
            'by_category = queries.vote_counts_by(store, whole, "category")',
            "by_category = {c: {j: v for j, v in of.items() if j in alike} for c, of in by_category.items()}",
        ]
    else:
        lines.append("by_category = {}")
    if task.category is not None and task.by_category:
        lines.append(f"task = by_category[{task.category!r}]")
    else:
        lines.append("task = {j: v for j, v in queries.vote_counts(store, selection).items() if j in alike}")
    if offer.kind == "datasets":
        lines += [
            f"wide = Selection(judges=(judge,), gold={task.selection.gold!r})",
            'names = queries.comparison_names(store, wide)["item_id"].to_pylist()',
            'found = queries.vote_counts_by(store, wide, "dataset")',
            "by_dataset = {name: prior_votes(of[judge], names) for name, of in found.items()}",
        ]
    else:
        lines.append("by_dataset = {}")
    body = "\n".join(lines)
    return f"""{body}
options = dict({", ".join(f"{key}={one!r}" for key, one in asked.options.items())}, bounds={asked.bounds!r})
offered = prior_offers(
    judge, task, category={task.category!r}, by_category=by_category,
    dataset={dataset!r}, by_dataset=by_dataset, **options,
)
prior = offered[{offer.kind!r}].prior
gain = shrinkage_gain(task[judge], prior, rng=default_rng(0), share={task.share / 100}, **options)
print(gain.evaluation.to_frame().to_string())
print(gain.to_frame().to_string())"""
