"""Task × judge × number of votes × rule: which way of turning votes into labels errs least, where.

Source: [BTD] Tables 3, 4, 6 and 7, and Figure 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import AppellateError, InvalidOption, NoUsableVotes
from ...records import ConfidenceCounts, IntArray, VoteCounts, WeighedVotes
from ...stats.estimate import DataFrame, Estimate, data_frame, flat
from ..labels.btd import DEFAULTS, BTDOptions
from ..labels.evaluation import MethodScore, evaluate
from ..labels.rules import given_labels
from .sweeps import labels_by_confidence, subsample

ALL_TASKS = "all"
MAJORITY = "majority"
MOST_REASONS = 2


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GridCell:
    """Every rule on the votes of one judge on one task.

    votes : per comparison; None: all that there are.  n : labelled comparisons.
    calibration : mean comparisons that calibrate.  gain : MAE of the majority minus that of BTD.
    """

    task: str
    judge: str
    votes: int | None
    n: int
    calibration: float
    mae_all_labels: float
    scores: tuple[MethodScore, ...]

    @property
    def gain(self) -> float | None:
        """Δ(SC − BTD) of the MAE; None where either is missing."""
        mae = {score.key: score.mae for score in self.scores}
        return mae[MAJORITY] - mae["btd"] if {MAJORITY, "btd"} <= set(mae) else None


def cell_name(cell: GridCell) -> str:
    """Task and judge; the judge alone where there is one task."""
    return cell.judge if cell.task == ALL_TASKS else f"{cell.task} · {cell.judge}"


def cell_mae(cell: GridCell, key: str) -> Estimate | None:
    """MAE of a rule with its interval by item; None where the cell does not have the rule."""
    score = next((score for score in cell.scores if score.key == key), None)
    if score is None:
        return None
    return Estimate(score.mae, score.mae_item_low, score.mae_item_high, n=cell.n)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Grid:
    """All cells in order of task and judge; `left_out`: (task, judge, votes) → why."""

    cells: tuple[GridCell, ...]
    left_out: dict[tuple[str, str, int | None], str] = field(default_factory=dict)

    def to_frame(self) -> DataFrame:
        """One row per task, judge, number of votes and rule."""
        rows = [
            {"task": cell.task, "judge": cell.judge, "votes": cell.votes, "n": cell.n} | flat(score)
            for cell in self.cells
            for score in cell.scores
        ]
        return data_frame({name: [row[name] for row in rows] for name in rows[0]} if rows else {})


def task_grid(
    by_task: Mapping[str, Mapping[str, VoteCounts]],
    options: BTDOptions = DEFAULTS,
    *,
    sizes: Sequence[int] = (),
    seed: int = 0,
    given: Mapping[tuple[str, str], Mapping[str, IntArray]] | None = None,
    confidences: Mapping[str, ConfidenceCounts] | None = None,
    n_splits: int = 100,
    share: float = 0.05,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Grid:
    """`evaluate` in every cell: with all votes, and with n votes of each comparison for each size.

    by_task : task → judge → votes.  sizes : votes per comparison, drawn without replacement from
        comparisons that have so many.  seed : of the splits of each cell, so that a cell is what
        `evaluate` with `default_rng(seed)` gives, and of the draws.
    given : (task, judge) → labels by rules that need more than counts, one per labelled row; they
        are of all votes.  confidences : of the votes of each judge, for Soft-SC and CI-SC with
        fewer votes too; a judge of which some vote has none is left out of those rules. What other
        rules say of fewer votes is not known: USC and GSA are calls that read all of them.

    A cell with too few labels is left out with its reason. Raises InvalidOption for a size below 1,
    NoUsableVotes if nothing can be evaluated. Source: [BTD] §5.
    """
    if any(size < 1 for size in sizes):
        raise InvalidOption(f"grid votes {tuple(sizes)}: use 1 or more.")
    cells, left_out = [], {}
    for task, of_judge in by_task.items():
        for judge, counts in of_judge.items():
            for votes in (None, *sizes):
                try:
                    drawn = _with(counts.labelled(), votes, seed)
                    known = (given or {}).get((task, judge))
                    if votes is not None:
                        known = _weighed(drawn, (confidences or {}).get(judge), seed)
                    found = evaluate(
                        drawn,
                        options,
                        rng=np.random.default_rng(seed),
                        given=known,
                        n_splits=n_splits,
                        share=share,
                        level=level,
                        resamples=resamples,
                    )
                except AppellateError as error:
                    left_out[task, judge, votes] = str(error)
                    continue
                cells.append(
                    GridCell(
                        task=task,
                        judge=judge,
                        votes=votes,
                        n=found.n,
                        calibration=found.calibration,
                        mae_all_labels=found.mae_all_labels,
                        scores=tuple(found.scores.values()),
                    )
                )
    if not cells:
        reasons = sorted({reason.rstrip(".") for reason in left_out.values()})
        said = "; ".join(reasons[:MOST_REASONS]) or "there are no votes"
        more = len(reasons) - MOST_REASONS
        more_said = f"; {more} more reasons of this kind" if more > 0 else ""
        raise NoUsableVotes(f"No task and judge can be evaluated: {said}{more_said}.")
    return Grid(cells=tuple(cells), left_out=left_out)


def given_in_cells(
    by_task: Mapping[str, Mapping[str, VoteCounts]],
    votes: Mapping[str, WeighedVotes],
    judges: Mapping[str, VoteCounts],
) -> dict[tuple[str, str], dict[str, IntArray]]:
    """Labels by rules that need more than counts, (task, judge) → rule → one per labelled row.

    votes : of each judge.  judges : among whom USC and GSA of a judge are sought. A cell without
    labels has none; a rule that lacks its input is left out, as `aggregation.rules.given_labels`
    says. Source: [BTD] §5.
    """
    found = {}
    for task, of_judge in by_task.items():
        for judge, counts in of_judge.items():
            labelled = counts.labelled()
            if judge in votes and len(labelled):
                found[task, judge], _ = given_labels(
                    labelled, votes[judge], judge=judge, judges=judges
                )
    return found


def _weighed(
    drawn: VoteCounts, confidences: ConfidenceCounts | None, seed: int
) -> dict[str, IntArray] | None:
    """Labels of the drawn votes by the rules that weigh confidence; None without confidences."""
    if confidences is None:
        return None
    try:
        return labels_by_confidence(drawn, confidences, rng=np.random.default_rng(seed))
    except NoUsableVotes:
        return None


def _with(counts: VoteCounts, votes: int | None, seed: int) -> VoteCounts:
    """The comparisons that have so many votes, with so many of them."""
    if votes is None:
        return counts
    enough = counts.rows(counts.n >= votes)
    if not len(enough):
        raise NoUsableVotes(f"no labelled comparison has {votes} votes")
    drawn: VoteCounts = subsample(enough, votes, rng=np.random.default_rng(seed))
    return drawn
