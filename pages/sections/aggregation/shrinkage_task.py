"""The task that a fit with few labels is for, its candidate priors, and what they gain."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from core.aggregation.btd import BTDOptions
from core.aggregation.evaluation import FEWEST, ShrinkageGain, shrinkage_gain
from core.aggregation.shrinkage import CandidatePrior, Kind, by_item_name, candidate_priors
from core.errors import NoUsableVotes
from core.records import VoteCounts
from core.schema import Selection
from core.store.vote_queries import comparison_names
from pages.sections.aggregation.controls import PageState, share_slider
from pages.sections.aggregation.rules import SPLITS
from pages.shared import cached, widgets


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Task:
    """The votes that a fit is for, and where else labels are.

    selection : of the votes whose codes the counts have.  category : None for all of them.
    """

    state: PageState
    selection: Selection
    category: str | None
    share: float
    of_judge: dict[str, VoteCounts]
    by_category: dict[str, dict[str, VoteCounts]]

    @property
    def counts(self) -> VoteCounts:
        return self.of_judge[self.state.judge]

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (*self.state.key, self.category)

    @property
    def options(self) -> BTDOptions:
        return self.state.options


def read_task(state: PageState) -> Task:
    """Draw the controls of the task; all records have the codes of the selection without its category."""
    given = dict(state.selection.where).get("category")
    rest = tuple(pair for pair in state.selection.where if pair[0] != "category")
    selection = replace(state.selection, where=rest)
    by_category: dict[str, dict[str, VoteCounts]] = {}
    if sum(bool(name) for name in cached.summary(selection).categories) > 1:
        by_category = _alike(state, cached.vote_counts_by(selection, "category"))
    category = given
    if given is None and by_category:
        own = [name for name, voters in by_category.items() if state.judge in voters]
        category = state.controls.selectbox(
            "Task",
            own,
            index=None,
            key="lean_task",
            bind=widgets.URL,
            placeholder="all categories",
            width=180,
        )
    share = share_slider(state.controls, "lean_share")
    if category is None or category not in by_category:
        of_judge = _alike(state, {"": cached.vote_counts(state.selection)})[""]
        selection = state.selection
        by_category = {} if category is not None else by_category
    else:
        of_judge = by_category[category]
    if state.judge not in of_judge or not len(of_judge[state.judge].labelled()):
        raise NoUsableVotes(
            f"{state.judge} judged no comparison of this task with a gold label; choose another task or "
            "judge."
        )
    return Task(
        state=state,
        selection=selection,
        category=category,
        share=share,
        of_judge=of_judge,
        by_category=by_category,
    )


def _alike(state: PageState, found: dict[str, dict[str, VoteCounts]]) -> dict[str, dict[str, VoteCounts]]:
    """Only raters of the judge's type: humans may be where gold is from."""
    kinds = cached.raters(widgets.current_dataset())
    wanted = kinds.get(state.judge)
    return {
        value: {name: votes for name, votes in voters.items() if kinds.get(name) == wanted}
        for value, voters in found.items()
    }


def all_priors(task: Task) -> dict[Kind, CandidatePrior]:
    judge = task.state.judge
    by_dataset: dict[str, VoteCounts] = {}
    if len(cached.datasets()) > 1:
        wide = Selection(judges=(judge,), gold=task.selection.gold)
        names = comparison_names(cached.get_store(), wide)["item_id"].to_pylist()
        by_dataset = {
            dataset: by_item_name(voters[judge], names)
            for dataset, voters in cached.vote_counts_by(wide, "dataset").items()
        }
    return candidate_priors(
        judge,
        task.of_judge,
        task.options,
        category=task.category,
        by_category=task.by_category,
        dataset=widgets.current_dataset(),
        by_dataset=by_dataset,
    )


def gain_of(task: Task, candidate: CandidatePrior, share: float) -> ShrinkageGain:
    prior = candidate.prior
    assert prior is not None  # only available priors are used
    return cached.computed(
        "shrinkage gain",
        (*task.key, candidate.kind, share),
        lambda: shrinkage_gain(
            task.counts, prior, task.options, rng=np.random.default_rng(0), share=share, n_splits=SPLITS
        ),
    )


def gain_of_few(task: Task, candidate: CandidatePrior) -> ShrinkageGain | None:
    """Calibrated on the fewest comparisons; None if the chosen share is no more."""
    few = gain_of(task, candidate, FEWEST)
    chosen = gain_of(task, candidate, task.share)
    return few if few.evaluation.calibration < chosen.evaluation.calibration else None


def code_of(task: Task, candidate: CandidatePrior) -> str:
    """Lines of Python that make the prior and give the page's numbers."""
    state = task.state
    judge, dataset = state.judge, widgets.current_dataset()
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
    if candidate.kind == "datasets":
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
options = {state.options!r}
priors = candidate_priors(
    judge, task, options, category={task.category!r}, by_category=by_category,
    dataset={dataset!r}, by_dataset=by_dataset,
)
prior = priors[{candidate.kind!r}].prior
gain = shrinkage_gain(task[judge], prior, options, rng=default_rng(0), share={task.share})
print(gain.evaluation.to_frame().to_string())
print(gain.to_frame().to_string())"""
