"""What is made of the votes for this question; evidence and counts keep each result once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...errors import NoUsableVotes, TooFewLabels
from ...finding.check import Unknown
from ...finding.evidence import Counted, Evidence
from ...finding.result import Result
from ..planning.grid import ALL_TASKS, Grid, given_in_cells, task_grid
from .btd import MINIMUM_LABELS, BTDFit, BTDOptions, fit
from .evaluation import SPLITS_BY_DEFAULT, Evaluation, evaluate
from .forced_prompts import ForcedChoice, forced_choice
from .rules import given_labels


class Aggregated(NamedTuple):
    """The fit of one judge's votes and its splits, and why there is none."""

    fit: BTDFit | None
    splits: Evaluation | None
    notes: tuple[str, ...]


def _aggregated(evidence: Evidence) -> Aggregated:
    """Calibrate the labels of one judge's votes, and compare the rules on random splits."""
    name, options, counted = evidence.judge, evidence.options, evidence.counted
    labelled = None if evidence.votes is None else evidence.votes.labelled()
    n = 0 if labelled is None else len(labelled)
    if labelled is None or n < MINIMUM_LABELS:
        note = (
            f"{name}: no BTD fit, which needs at least {MINIMUM_LABELS} labelled comparisons; it "
            f"has {n}."
        )
        return Aggregated(None, None, (note,))
    fit_options = BTDOptions(alpha=options.alpha, kappa=options.kappa)
    fitted = fit(labelled.cells()[0], fit_options)
    notes = [f"{name}: {note}" for note in fitted.notes]
    if not options.splits or name not in counted.weighed:
        return Aggregated(fitted, None, tuple(notes))
    given, reasons = given_labels(labelled, counted.weighed[name], judge=name, judges=counted.votes)
    splits = None
    try:
        found = evaluate(
            labelled,
            fit_options,
            given=given,
            n_splits=options.splits,
            share=options.calibration_share,
            level=options.level,
            rng=np.random.default_rng(options.seed),
        )
        splits = replace(found, not_applicable=found.not_applicable | reasons)
    except TooFewLabels as error:
        notes.append(f"{name}: no splits. {error}")
    return Aggregated(fitted, splits, tuple(notes))


AGGREGATED = Result("aggregated", _aggregated)
"""Its labels as they are calibrated, and every rule on random splits."""
BTD = Result("btd", lambda evidence: evidence[AGGREGATED].fit)
"""BTD fitted on all labels."""
SPLITS = Result("splits", lambda evidence: evidence[AGGREGATED].splits)
"""Every rule on random splits; None where there are none."""


def _tried_grid(counted: Counted) -> Grid | Unknown | None:
    options = counted.options
    if not options.grid or not counted.about:
        return None
    by_task = counted.by_category or {ALL_TASKS: counted.votes}
    models = {
        task: {judge: votes for judge, votes in of_judge.items() if judge not in counted.people}
        for task, of_judge in by_task.items()
    }
    try:
        return task_grid(
            models,
            BTDOptions(alpha=options.alpha, kappa=options.kappa),
            sizes=options.grid_votes,
            given=given_in_cells(models, counted.weighed, counted.votes),
            confidences=counted.by_confidence if options.grid_votes else None,
            seed=options.seed,
            n_splits=options.splits or SPLITS_BY_DEFAULT,
            share=options.calibration_share,
            level=options.level,
        )
    except NoUsableVotes as error:
        return Unknown(str(error))


TRIED_GRID = Result("tried_grid", _tried_grid)
"""Of all judges: every rule by task and judge, or why there is none; None if it was not asked for.
"""


def _grid(counted: Counted) -> Grid | None:
    tried = counted[TRIED_GRID]
    return None if isinstance(tried, Unknown) else tried


GRID = Result("grid", _grid)
"""Of all judges: every rule by task and judge."""


def _tried_forced(counted: Counted) -> ForcedChoice | Unknown | None:
    options = counted.options
    if not options.forced_choice or not counted.about:
        return None
    forced, free = options.forced_choice
    try:
        return forced_choice(
            counted.votes,
            counted.positions,
            forced,
            free,
            BTDOptions(alpha=options.alpha, kappa=options.kappa),
            rng=np.random.default_rng(options.seed),
            n_splits=options.splits or SPLITS_BY_DEFAULT,
            share=options.calibration_share,
            level=options.level,
        )
    except NoUsableVotes as error:
        return Unknown(str(error))


TRIED_FORCED = Result("tried_forced", _tried_forced)
"""Of all judges: two prompts side by side, or why they are not; None if it was not asked for."""


def _forced(counted: Counted) -> ForcedChoice | None:
    tried = counted[TRIED_FORCED]
    return None if isinstance(tried, Unknown) else tried


FORCED = Result("forced", _forced)
"""Of all judges: the prompt that forces a choice beside the one that allows ties."""
