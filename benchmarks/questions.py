"""A million votes in memory: what a slider step, the table of splits and the counting
queries cost.
"""

from __future__ import annotations

import numpy as np

from benchmarks import alternatives
from benchmarks.random_votes import as_reading, random_votes
from benchmarks.timing import Row, alone, in_turns
from core.finding.figure import rater_styles
from core.questions.confidence.calibration_error import calibration, reliability
from core.questions.confidence.figure import reliability_diagram
from core.questions.labels.btd import decision_map, fit, held_out_labels
from core.questions.labels.evaluation import evaluate
from core.records import OutcomeCounts, VoteCounts
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries

STEP_MS, SPLITS_MS = 15.0, 150.0
VOTES_A_COMPARISON = 12


def rows(
    n_votes: int = 1_000_000, *, judges: int = 1, repeats: int = 9, n_splits: int = 100
) -> list[Row]:
    """Time everything that starts from votes in a store; one judge holds them all unless told
    otherwise.
    """
    votes = random_votes(n_votes, judges=judges, rng=np.random.default_rng(0))
    frame = votes.to_pandas()
    everything = Selection()
    with Store.open(None) as store:
        store.load(as_reading(votes, name="random votes"))
        counting = [
            ("votes of each comparison", queries.vote_counts, alternatives.vote_counts),
            ("right and wrong by item and confidence", queries.outcomes, alternatives.outcomes),
            ("first-slot votes and flips", queries.positions, alternatives.first_and_flips),
        ]
        counted = []
        for what, ask, instead in counting:
            ours, theirs = in_turns(
                lambda ask=ask: ask(store, everything),
                lambda instead=instead: instead(frame),
                repeats=repeats,
            )
            counted.append(
                Row(what=f"count {what}", ours=ours, instead="pandas groupby", theirs=theirs)
            )
        counts = queries.vote_counts(store, everything)
        outcomes = queries.outcomes(store, everything)
    judge = next(iter(counts))
    ofone = frame[frame["judge"] == judge]
    return [
        *_step(counts[judge], outcomes[judge], ofone, repeats),
        _splits(counts[judge], repeats, n_splits),
        *counted,
    ]


def _step(counts: VoteCounts, outcomes: OutcomeCounts, votes: object, repeats: int) -> list[Row]:
    """Parts of a slider step from cached counts and cells, and their sum, which has the goal."""
    cells = counts.labelled().cells()[0]
    fitted = fit(cells)
    correct, stated = (votes["vote"] == votes["gold"]).to_numpy(), votes["confidence"].to_numpy()
    styles = rater_styles(["judge"])
    diagram = {"judge": reliability(outcomes)}

    def whole() -> None:
        decision_map(fit(cells), VOTES_A_COMPARISON)
        reliability(outcomes)

    def instead() -> None:
        alternatives.btd_step(cells, VOTES_A_COMPARISON)
        alternatives.calibration_curve(correct, stated, n_bins=10)

    fit_ours, fit_theirs = in_turns(
        lambda: fit(cells),
        lambda: alternatives.btd(*alternatives.features(cells), cells.gold, cells.weight),
        repeats=repeats,
    )
    curve_ours, curve_theirs = in_turns(
        lambda: reliability(outcomes),
        lambda: alternatives.calibration_curve(correct, stated, n_bins=10),
        repeats=repeats,
    )
    ece_ours, ece_theirs = in_turns(
        lambda: calibration(outcomes), lambda: alternatives.pandas_ece(votes), repeats=repeats
    )
    all_ours, all_theirs = in_turns(
        lambda: calibration(outcomes),
        lambda: alternatives.sklearn_calibration(correct, stated),
        repeats=repeats,
    )
    step_ours, step_theirs = in_turns(whole, instead, repeats=repeats)
    solver, curve = "scipy L-BFGS-B, 5 starts, on the same cells", "scikit-learn calibration_curve"
    return [
        Row(
            what="**slider step: point fit, decision map, reliability**",
            ours=step_ours,
            instead=f"{solver}; {curve}",
            theirs=step_theirs,
            goal_ms=STEP_MS,
        ),
        Row(what="– point fit", ours=fit_ours, instead=solver, theirs=fit_theirs),
        Row(
            what="– decision map",
            ours=alone(lambda: decision_map(fitted, VOTES_A_COMPARISON), repeats=repeats),
        ),
        Row(
            what="– reliability, with intervals",
            ours=curve_ours,
            instead=curve,
            theirs=curve_theirs,
        ),
        Row(
            what="counts to cells, once a selection",
            ours=alone(lambda: counts.labelled().cells(), repeats=repeats),
        ),
        Row(
            what="labels by fits on the other nine tenths, once a step",
            ours=alone(
                lambda: held_out_labels(counts, rng=np.random.default_rng(0)), repeats=repeats
            ),
        ),
        Row(
            what="reliability diagram, drawn",
            ours=alone(
                lambda: reliability_diagram(diagram, styles=styles).to_json(), repeats=repeats
            ),
        ),
        Row(
            what="all calibration measures",
            ours=all_ours,
            instead="scikit-learn curve, Brier, log loss",
            theirs=all_theirs,
        ),
        Row(
            what="all calibration measures, again",
            ours=ece_ours,
            instead="pandas cut and groupby: ECE alone",
            theirs=ece_theirs,
        ),
    ]


def _splits(counts: VoteCounts, repeats: int, n_splits: int) -> Row:
    ours, theirs = in_turns(
        lambda: evaluate(counts, n_splits=n_splits, rng=np.random.default_rng(0)),
        lambda: alternatives.split_maes(
            counts.labelled(), n_splits=n_splits, rng=np.random.default_rng(0)
        ),
        repeats=repeats,
        theirs_repeats=1,
    )
    return Row(
        what=f"**table of {n_splits} splits, all aggregators, intervals, top cluster**",
        ours=ours,
        instead="scipy L-BFGS-B, one split after another: two MAEs, no intervals",
        theirs=theirs,
        goal_ms=SPLITS_MS,
    )
