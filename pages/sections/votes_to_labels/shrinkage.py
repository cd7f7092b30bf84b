"""With few labels: priors from other tasks, other judges or none, and what they change."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from core.errors import AppellateError, NoUsableVotes
from core.questions.labels import shrinkage
from core.questions.labels.btd import PARAMETERS, BTDFit, fit
from core.questions.labels.evaluation import FEWEST, ShrinkageGain, shrinkage_gain
from core.questions.labels.figure import (
    errors_figure,
    prior_weights_figure,
    priors_figure,
    strength_name,
)
from core.questions.labels.words import bound, helps, prior_use, shrinkage_answer, some, weighed
from core.records import FloatArray, VoteCounts
from core.schema import Selection
from pages.sections.votes_to_labels.controls import GREEK, PageState
from pages.sections.votes_to_labels.labels import named_labels
from pages.sections.votes_to_labels.rules import COLUMNS, SPLITS, rules_frame
from pages.shared import cached, numbers, widgets

CHANGES = {
    "key": "rule",
    "beside": "beside",
    "calibration": "to calibrate on",
    "mae": "MAE change",
    "mae_low": "low",
    "mae_high": "high",
    "pa": "PA change",
    "pa_low": "PA low",
    "pa_high": "PA high",
    "n": "n",
}


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


def read_task(state: PageState) -> Task:
    """Draw the controls of the task; all records have the codes of the selection without its
    category.
    """
    given = dict(state.selection.where).get("category")
    rest = tuple(pair for pair in state.selection.where if pair[0] != "category")
    selection = replace(state.selection, where=rest)
    by_category: dict[str, dict[str, VoteCounts]] = {}
    if sum(bool(name) for name in cached.summary(selection).categories) > 1:
        by_category = _alike(state, cached.vote_counts_by(selection, "category"))
    category = given
    if given is None and by_category:
        own = [name for name, voters in by_category.items() if state.judge in voters]
        category = widgets.select(
            "Task",
            own,
            start=None,
            key="lean_task",
            place=state.controls,
            placeholder="all categories",
            width=180,
        )
    share = widgets.share_slider(state.controls, "lean_share")
    if category is None or category not in by_category:
        of_judge = _alike(state, {"": cached.vote_counts(state.selection)})[""]
        selection = state.selection
        by_category = {} if category is not None else by_category
    else:
        of_judge = by_category[category]
    if state.judge not in of_judge or not len(of_judge[state.judge].labelled()):
        raise NoUsableVotes(
            f"{state.judge} judged no comparison of this task with a gold label; choose another "
            "task or judge."
        )
    return Task(
        state=state,
        selection=selection,
        category=category,
        share=share,
        of_judge=of_judge,
        by_category=by_category,
    )


def _alike(
    state: PageState, found: dict[str, dict[str, VoteCounts]]
) -> dict[str, dict[str, VoteCounts]]:
    """Only raters of the judge's type: humans may be where gold is from."""
    kinds = cached.raters(widgets.current_dataset())
    wanted = kinds.get(state.judge)
    return {
        value: {name: votes for name, votes in voters.items() if kinds.get(name) == wanted}
        for value, voters in found.items()
    }


def all_priors(task: Task) -> dict[shrinkage.Kind, shrinkage.CandidatePrior]:
    judge = task.state.judge
    by_dataset: dict[str, VoteCounts] = {}
    if len(cached.datasets()) > 1:
        wide = Selection(judges=(judge,), gold=task.selection.gold)
        names = cached.comparison_names(wide)["item_id"].to_pylist()
        by_dataset = {
            dataset: shrinkage.by_item_name(voters[judge], names)
            for dataset, voters in cached.vote_counts_by(wide, "dataset").items()
        }
    return shrinkage.candidate_priors(
        judge,
        task.of_judge,
        task.state.options,
        category=task.category,
        by_category=task.by_category,
        dataset=widgets.current_dataset(),
        by_dataset=by_dataset,
    )


def gain_of(task: Task, candidate: shrinkage.CandidatePrior, share: float) -> ShrinkageGain:
    prior = candidate.prior
    assert prior is not None  # only available priors are used
    return cached.computed(
        "shrinkage gain",
        (*task.key, candidate.kind, share),
        lambda: shrinkage_gain(
            task.counts,
            prior,
            task.state.options,
            rng=widgets.seeded(),
            share=share,
            n_splits=SPLITS,
        ),
    )


def gain_of_few(task: Task, candidate: shrinkage.CandidatePrior) -> ShrinkageGain | None:
    """Calibrated on the fewest comparisons; None if the chosen share is no more."""
    few = gain_of(task, candidate, FEWEST)
    chosen = gain_of(task, candidate, task.share)
    return few if few.evaluation.calibration < chosen.evaluation.calibration else None


def code_of(task: Task, candidate: shrinkage.CandidatePrior) -> str:
    """Lines of Python that make the prior and give the page's numbers."""
    state = task.state
    judge, dataset = state.judge, widgets.current_dataset()
    same = tuple(sorted(task.of_judge))
    lines = [f"judge, alike = {judge!r}, {same!r}"]
    if task.by_category:
        lines += [
            f"whole = replace(selection, where={task.selection.where!r})",
            'by_category = queries.vote_counts_by(store, whole, "category")',
            "by_category = {c: {j: v for j, v in of.items() if j in alike} for c, of in "
            "by_category.items()}",
        ]
    else:
        lines.append("by_category = {}")
    if task.category is not None and task.by_category:
        lines.append(f"task = by_category[{task.category!r}]")
    else:
        lines.append(
            "task = {j: v for j, v in queries.vote_counts(store, selection).items() if j in alike}"
        )
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


def shrinkage_tab(state: PageState) -> None:
    """What a prior changes for the judge, in words first; the other priors; the labels."""
    task = read_task(state)
    found = cached.computed("priors", task.key, lambda: all_priors(task))
    at_hand = {one.name: one for one in found.values() if one.prior is not None}
    name = state.controls.selectbox(
        "Prior", list(at_hand), key="lean_on", bind=widgets.URL, width=280
    )
    prior = at_hand[name]
    gain, few = gain_of(task, prior, task.share), gain_of_few(task, prior)
    with state.answer.container():
        better = helps(gain) or (few is not None and helps(few))
        sentence = shrinkage_answer(state.judge, prior, gain, few)
        widgets.answer(sentence, "finding" if better else "warning", part="-shrinkage")
    own, shrunken = cached.computed(
        "shrunken fit", (*task.key, prior.kind), lambda: _both(task, prior)
    )
    drawn, compared = st.columns([3, 2], gap="medium")
    with drawn:
        st.caption("Error of each rule on the same splits")
        fig = errors_figure(gain.evaluation, theme=state.look)
        widgets.figure(fig, "shrinkage-errors", alt="MAE of four rules")
    widgets.how_to_read(
        "Left: error (MAE) is the mean distance between a label and gold; wide bars are sampling "
        "error (by item), narrow bars how far the mean varies over random calibration sets. Right: "
        "error of shrunken BTD minus that of BTD on the same splits, with its interval by item; "
        "left of the line the prior helps. Filled: calibrated on the chosen share of the items, "
        "hollow: on 20 comparisons, or what whole items make of 20. A prior from other tasks has "
        "seen all labels there, and none of an item of this task; one from other judges sees the "
        "calibration comparisons of each split and no others, so nothing leaks. A click on a row "
        "chooses it."
    )
    st.text(bound(few or gain, state.options.bounds, own))
    _numbers(gain, few)
    for other in found.values():
        if other.reason:
            st.text(f"Not available, {other.name}: {other.reason}.")
        if other.left_out:
            left = [f"{donor} {reason}" for donor, reason in other.left_out.items()]
            st.text(f"Left out of {other.name}: {some(left)}.")
    st.subheader("The fits", anchor=False)
    _fits(prior, gain, own, shrunken)
    st.subheader("Apply and download", anchor=False)
    counts = task.counts
    st.text(
        f"Labels of all {len(counts):,} comparisons that {state.judge} judged in this task, by "
        "majority and "
        f"by BTD shrunk towards {prior.name}, which uses all {shrunken.n_items:,} labels."
    )
    numbers.downloads(lambda: labels_frame(counts, shrunken, task.selection), "shrunken-labels")
    widgets.copy_as_python(code_of(task, prior))
    # The slowest comes last, when all about the chosen prior is there to read.
    with compared:
        st.caption("What each prior changes beside BTD's own fit")
        _compared(task, at_hand, name)


def _compared(task: Task, at_hand: dict[str, shrinkage.CandidatePrior], chosen: str) -> None:
    """Every prior at both sizes, one click from being chosen."""
    sizes: dict[str, dict[str, ShrinkageGain]] = {}
    for name, prior in at_hand.items():
        for gain in (gain_of(task, prior, task.share), gain_of_few(task, prior)):
            if gain is not None:
                size = f"{gain.evaluation.calibration:.0f} labels"
                sizes.setdefault(size, {})[name] = gain
    fig = priors_figure(sizes, theme=task.state.look, chosen=chosen)
    widgets.figure(
        fig, "shrinkage-priors", alt="Change of error by each prior", marks=at_hand, into="lean_on"
    )


def _numbers(gain: ShrinkageGain, few: ShrinkageGain | None) -> None:
    both = [one for one in (gain, few) if one is not None]
    rules = [
        rules_frame(one.evaluation).assign(calibration=round(one.evaluation.calibration))
        for one in both
    ]
    heads = {"name": "rule", "calibration": "to calibrate on"} | COLUMNS
    shown = pd.concat(rules, ignore_index=True)
    numbers.table(shown, "shrinkage-rules", alt="Error of four rules", heads=heads)
    names = {score.key: score.name for score in gain.evaluation.scores.values()}
    changes = pd.concat([one.to_frame() for one in both], ignore_index=True)
    changes = changes.replace({"key": names, "beside": names})
    changes["calibration"] = changes["calibration"].round().astype(int)
    st.caption("Paired differences, with intervals by item")
    alt = "What shrinking changes beside other rules"
    numbers.table(changes, "shrinkage-changes", alt=alt, heads=CHANGES)


def _fits(
    prior: shrinkage.CandidatePrior, gain: ShrinkageGain, own: BTDFit | None, shrunken: BTDFit
) -> None:
    """θ of the own fit, the prior and the shrunken fit, and how the prior was weighed."""
    fits, whole = gain.evaluation.shrunken, prior.whole
    assert fits is not None  # a gain has always compared it
    assert whole is not None  # only available priors are used
    donors = (
        f", the mean of {len(prior.donors)} fits ({some(prior.donors)})" if prior.donors else ""
    )
    st.text(f"The prior: {prior.name}{donors}.")
    numbers.table(
        _theta(gain, fits, own, whole, shrunken), "shrinkage-theta", alt="Parameters of each fit"
    )
    for note in shrunken.notes[1:]:
        st.text(f"On all {shrunken.n_items:,} labels: {note}")
    st.text(prior_use(gain))
    st.text(weighed(gain))
    if len(fits.strengths) > 1:
        drawn, measured = st.columns([3, 2], gap="medium")
        with drawn:
            fig = prior_weights_figure(fits, theme=widgets.current_look())
            widgets.figure(fig, "shrinkage-weights", alt="Weight of each λ")
        with measured:
            frame = pd.DataFrame(
                {
                    "λ": [strength_name(one) for one in fits.strengths.tolist()],
                    "weight": fits.weight.mean(axis=0),
                    "held-out DRPS": np.nanmean(fits.held_out, axis=0),
                    "calibration sets": len(fits.weight),
                }
            )
            numbers.table(frame, "shrinkage-weighed", alt="Weight and held-out error of each λ")
    widgets.how_to_read(
        "β weighs the margin of the votes, ν pulls towards ties, γ weighs the share of tie votes. "
        "*Few labels*: medians over the random calibration sets of the chosen share; *all labels*: "
        "one fit on every label of the task, as in the labels to download; the prior shown is the "
        "one of that fit. λ is the weight of the prior: 0 is the own fit, ∞ the prior itself. Each "
        "calibration set is cut into five parts by item; each λ is weighed by its error (DRPS) on "
        "the part left out, and the fits are averaged by weight; where the checks speak against "
        "the prior, λ = 0 has all of it. Bars run from the first to the third quartile over the "
        "sets."
    )


def _both(task: Task, prior: shrinkage.CandidatePrior) -> tuple[BTDFit | None, BTDFit]:
    """Own and shrunken fit on every label; the own one may not exist."""
    assert prior.whole is not None  # only available priors are used
    shrunken = shrinkage.shrunken_fit(
        task.counts, prior.whole, options=task.state.options, rng=widgets.seeded()
    )
    try:
        return fit(task.counts.labelled().cells()[0], task.state.options), shrunken
    except AppellateError:
        return None, shrunken


def _theta(
    gain: ShrinkageGain,
    fits: shrinkage.ShrunkenFits,
    own: BTDFit | None,
    whole: shrinkage.Prior,
    shrunken: BTDFit,
) -> pd.DataFrame:
    """β, ν, γ; medians over the splits, as a mean of ν says little when some end on the bound."""

    def natural(theta: FloatArray) -> list[float]:
        return [float(theta[0]), float(np.exp(theta[1])), float(theta[2])]

    return pd.DataFrame(
        {
            "parameter": [GREEK[name] for name in PARAMETERS],
            "own, few labels": natural(np.median(gain.evaluation.theta, axis=0)),
            "prior θ₀": natural(whole.theta0),
            "shrunken, few labels": natural(np.median(fits.theta, axis=0)),
            "own, all labels": [np.nan] * 3 if own is None else [own.beta, own.nu, own.gamma],
            "shrunken, all labels": [shrunken.beta, shrunken.nu, shrunken.gamma],
            "n": shrunken.n_items,
        }
    )


def labels_frame(counts: VoteCounts, fitted: BTDFit, selection: Selection) -> pd.DataFrame:
    """Majority and shrunken label of each comparison, by name."""
    return named_labels(counts, fitted, selection).rename(columns={"calibrated": "shrunken"})
