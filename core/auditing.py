"""One call: store, selection and options in, every result of every judge out.

`audit` holds no statistics of its own. It takes counts from the queries, hands them to the methods
with the options given and gathers what comes back, so that page, command line and report show the
same figures. It never writes 0 for what it cannot know: each None or NaN has a note, from the
reason that its result carries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from .aggregation.btd import MINIMUM_LABELS, BTDFit, BTDOptions, fit
from .aggregation.evaluation import Evaluation, evaluate
from .aggregation.rules import given_labels
from .agreement.confusion_matrix import confusion
from .agreement.kappa import AgreementMatrix, agreement_matrix
from .agreement.reliability import icc
from .audit_results import Audit, AuditOptions, Direction, JudgeAudit, JudgedBoard, OwnFamily
from .bias import position_bias, verbosity
from .confidence.calibration_error import calibration, confidence_gap, noise_floor
from .confidence.th_scores import ThScore, th_scores
from .errors import TooFewLabels
from .interpretation import estimates, verdicts
from .interpretation.grading import (
    accuracy_verdict,
    agreement_verdict,
    data_verdict,
    makes_gold,
    unless_own_gold,
)
from .interpretation.leaderboard import judged_unequally
from .interpretation.robustness import Change, changes, robustness
from .interpretation.summary import overall_verdict
from .interpretation.unknown import unknown_of_judges, unknown_of_pairs
from .interpretation.verdicts import Verdict
from .leaderboard.anchored import board, met
from .leaderboard.anchors import anchor_swap
from .leaderboard.anchors import anchors as models_that_anchor
from .leaderboard.panels import panels, unequal
from .records import (
    NO_GOLD,
    LengthCounts,
    OutcomeCounts,
    OutputCounts,
    PairScores,
    Panel,
    PositionCounts,
    RatingTable,
    VoteCounts,
    WeighedVotes,
)
from .schema import Selection
from .stats.estimate import Estimate
from .stats.intervals import wilson_by_item
from .store import vote_queries as queries
from .store.browse import JudgeSummary, summary

if TYPE_CHECKING:
    import pyarrow as pa

    from .confidence.calibration_error import Calibration, ConfidenceGap, NoiseFloor
    from .importers import ReadOptions
    from .schema import ImportResult
    from .store.connection import Database, Snapshot
    from .warehouse.relations import TableRead


MOST_ANCHORS = 30
"""Every two anchors are compared, so the work grows with their square."""


def audit(
    store: Database | Snapshot,
    selection: Selection,
    options: AuditOptions | None = None,
    *,
    readings: Sequence[ImportResult | TableRead] = (),
    reading_options: ReadOptions | None = None,
) -> Audit:
    """Audit the judges of a selection.

    Raises UnknownName for a judge, data set or anchor that is not there, NoUsableVotes if nothing
    is selected, and InvalidOption for an option outside what its method allows.
    """
    options = options or AuditOptions()
    notes: list[str] = []
    # One state of the store for all counts, so that a load meanwhile cannot mix two.
    with store.snapshot() as moment:
        found = summary(moment, selection)
        namesakes = options.namesakes(
            (judge.name for judge in found.judges if judge.rater_type == "llm"), found.models
        )
        pairs = queries.pair_scores(moment, selection, pooled=True)
        anchors = _anchors(pairs[None], options, notes)
        judged = {name: scores for name, scores in pairs.items() if name is not None}
        of_anchor = panels(judged, anchors)
        apart = [panel for found in of_anchor.values() if unequal(found) for panel in found]
        scores_of = (
            dict(zip(apart, queries.panel_scores(moment, selection, apart), strict=True))
            if apart
            else {}
        )
        counted = Counted(
            votes=queries.vote_counts(moment, selection),
            outcomes=queries.outcomes(moment, selection, rule=options.correctness),
            positions=queries.positions(moment, selection),
            ratings=queries.ratings(moment, selection, anchors=anchors),
            weighed=queries.weighed_votes(moment, selection) if options.splits else {},
            lengths=queries.length_counts(moment, selection),
            outputs=queries.outputs(moment, selection) if found.unparsed else {},
            by_category=queries.vote_counts_by(moment, selection, "category")
            if len(found.categories) > 1
            else {},
            names=queries.comparison_names(moment, selection)
            if options.families or namesakes
            else None,
            changes=changes(queries.perturbed_votes(moment, selection), level=options.level),
            namesakes=namesakes,
        )
    if counted.ratings and not anchors:
        notes.append(
            "Repeatability has no anchor to orient by: ICC then depends on the arbitrary A/B "
            "orientation."
        )
    judges = [_judge(about, counted, options, notes) for about in found.judges]
    agreed = agreement_matrix(counted.votes, level=options.level)
    boards = _boards(pairs, of_anchor, scores_of, options, notes)
    # What is compared with another anchor's board is what is shown first.
    first = {
        anchor: boards[anchor][0].board for anchor, found in of_anchor.items() if unequal(found)
    }
    swap = anchor_swap(pairs[None], anchors=anchors, boards=first) if len(boards) > 1 else None
    humans = frozenset(judge.judge for judge in judges if judge.rater_type == "human")
    used = replace(options, anchors=anchors)
    notes += [*unknown_of_judges(judges, used), *unknown_of_pairs(agreed)]
    notes += (
        [f"Anchors {r.anchor_1} and {r.anchor_2}: {r.reason}" for r in swap.rows if r.reason]
        if swap
        else []
    )
    notes += [
        f"{judge} judged {' and '.join(models)}, which bears its name: read as its own family. "
        "Its maker's other models are not; name a family to add them."
        for judge, models in namesakes.items()
    ]
    own = [judge.judge for judge in judges if makes_gold(judge.judge, humans, selection.gold)]
    if own:
        notes.append(
            f"{', '.join(own)}: gold is made of these votes, so accuracy, calibration, confusion "
            "and BTD "
            "against it flatter them."
        )
    graded = {
        judge.judge: judge_verdicts(judge, counted, agreed, humans, options, gold=selection.gold)
        for judge in judges
    }
    return Audit(
        selection=selection,
        options=used,
        readings=tuple(readings),
        reading_options=reading_options,
        summary=found,
        judges=tuple(judges),
        agreement=agreed,
        boards=boards,
        anchor_swap=swap,
        verdicts=tuple(verdict for checks in graded.values() for verdict in checks),
        overall={name: overall_verdict(checks) for name, checks in graded.items()},
        notes=tuple(notes),
    )


def judge_verdicts(
    judge: JudgeAudit,
    counted: Counted,
    agreed: AgreementMatrix,
    humans: frozenset[str],
    options: AuditOptions,
    *,
    gold: str = "given",
) -> list[Verdict]:
    """One verdict per check, in the order of `verdicts.CHECKS`; `gold` is the selection's.

    Whoever gold is made of is not graded against it: its own votes would be right by construction.
    """
    name, rules = judge.judge, options.rules
    counts, outputs = counted.votes.get(name), counted.outputs.get(name)
    outcomes, order = counted.outcomes.get(name), counted.positions.get(name)
    own = judge.own_family
    found = [
        accuracy_verdict(
            name,
            counted.votes,
            humans,
            gold=gold,
            outputs=outputs,
            by_category=counted.by_category,
            estimate=judge.direction.credit if judge.direction else None,
            rules=rules,
        ),
        verdicts.position(name, order, rules=rules),
        verdicts.stability(name, order, rules=rules),
        verdicts.calibration(
            name,
            outcomes,
            seed=options.seed,
            bins=options.bins,
            measured=(judge.calibration, judge.floor)
            if judge.calibration and judge.floor
            else None,
            rules=rules,
        ),
        verdicts.overconfidence(name, outcomes, rules=rules),
        verdicts.discrimination(name, outcomes, estimate=judge.discrimination, rules=rules),
        verdicts.repeatability(name, judge.repeatability, rules=rules),
        agreement_verdict(name, counted.votes, agreed, humans, gold=gold, rules=rules),
        verdicts.ties(name, counts, rules=rules),
        verdicts.length(
            name, counted.lengths.get(name), estimate=judge.length_beyond_gold, rules=rules
        ),
        verdicts.own_family(
            name,
            *((own.counts, own.side) if own else (None, None)),
            against=own.against if own else "gold",
            estimate=own.difference if own else None,
            rules=rules,
        ),
        robustness(name, judge.robustness, rules=rules),
        data_verdict(name, judge.votes, outputs, counts, rules=rules),
    ]
    return [unless_own_gold(verdict, humans, gold=gold) for verdict in found]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Counted:
    """What the votes are counted to, by judge; a judge without such votes is absent.

    outputs : only where some output has no verdict.  by_category : category → judge → votes.
    weighed : only where there are splits.
    names : models of the comparisons, where families are named or a judge judges its namesake.
    namesakes : judge without a named family → the models that bear its name.
    changes : what changes of the items did to verdicts.
    """

    votes: dict[str, VoteCounts]
    outcomes: dict[str, OutcomeCounts]
    positions: dict[str, PositionCounts]
    ratings: dict[str, RatingTable]
    weighed: dict[str, WeighedVotes]
    lengths: dict[str, LengthCounts]
    outputs: dict[str, OutputCounts]
    by_category: dict[str, dict[str, VoteCounts]]
    names: pa.Table | None
    changes: dict[str, tuple[Change, ...]]
    namesakes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _judge(
    about: JudgeSummary, counted: Counted, options: AuditOptions, notes: list[str]
) -> JudgeAudit:
    """Every result of one judge; `notes` take why there is no calibration, fit or split."""
    name, level = about.name, options.level
    outcomes, votes = counted.outcomes.get(name), counted.votes.get(name)
    positions, ratings = counted.positions.get(name), counted.ratings.get(name)
    lengths = counted.lengths.get(name)
    confidence, floor, gap, th = _calibrate(name, outcomes, options, notes)
    fitted, splits = _aggregate(name, counted, options, notes)
    return JudgeAudit(
        judge=name,
        rater_type=about.rater_type,
        votes=about,
        accuracy=_exact(outcomes, level) if outcomes else None,
        calibration=confidence,
        floor=floor,
        gap=gap,
        th=th,
        position=position_bias(positions, level=level) if positions else None,
        confusion=confusion(votes, level=level)
        if votes and (votes.gold != NO_GOLD).any()
        else None,
        btd=fitted,
        splits=splits,
        repeatability=icc(ratings, level=level) if ratings else None,
        direction=_direction(votes, level) if votes else None,
        discrimination=estimates.discrimination(outcomes, level=level) if outcomes else None,
        constant_confidence=outcomes is not None and verdicts.constant(outcomes),
        length=verbosity(lengths, level=level) if lengths else None,
        length_beyond_gold=estimates.length_preference(lengths, balanced=True, level=level)
        if lengths
        else None,
        own_family=_own_family(name, counted, options) if votes else None,
        robustness=counted.changes.get(name, ()),
    )


def _exact(outcomes: OutcomeCounts, level: float) -> Estimate:
    """Share of verdicts that equal gold by item; its n is the number of verdicts."""
    by_item = wilson_by_item(outcomes.item, outcomes.n, outcomes.correct, level=level)
    return replace(by_item, n=int(outcomes.n.sum()))


def _direction(votes: VoteCounts, level: float) -> Direction | None:
    credit = estimates.direction(votes, level=level)
    if credit is None:
        return None
    known = votes.rows((votes.gold == 1) | (votes.gold == -1))
    decided = int(known.plus.sum() + known.minus.sum())
    right = int(np.where(known.gold == 1, known.plus, known.minus).sum())
    return Direction(
        credit=credit,
        among_decided=right / decided if decided else None,
        decided_share=decided / (decided + int(known.tie.sum())),
    )


def _own_family(name: str, counted: Counted, options: AuditOptions) -> OwnFamily | None:
    """Its votes where exactly one response is of its family, with gold, else the other judges'
    label.
    """
    if counted.names is None or (options.family(name) is None and name not in counted.namesakes):
        return None
    votes = counted.votes[name]
    models = [counted.names[column].to_pylist() for column in ("model_a", "model_b")]
    own = {model for model in {*models[0], *models[1]} if options.same_family(name, model)}
    of_family = [np.array([model in own for model in side]) for side in models]
    side = (of_family[0].astype(np.int64) - of_family[1].astype(np.int64))[votes.comparison]
    against: Literal["gold", "judges"] = "gold"
    if not (votes.gold[side != 0] != NO_GOLD).any():
        others = [
            theirs
            for judge, theirs in counted.votes.items()
            if not options.same_family(name, judge)
        ]
        votes, against = replace(votes, gold=estimates.majority_label(others, votes)), "judges"
    found = estimates.side_preference(votes, side, balanced=True, level=options.level)
    return OwnFamily(counts=votes, side=side, against=against, difference=found)


def _calibrate(
    name: str, outcomes: OutcomeCounts | None, options: AuditOptions, notes: list[str]
) -> tuple[Calibration | None, NoiseFloor | None, ConfidenceGap | None, tuple[ThScore, ...]]:
    known = None if outcomes is None else outcomes.with_confidence()
    if known is None or not len(known):
        notes.append(
            f"{name}: no calibration, because no verdict has both a confidence and a gold label."
        )
        return None, None, None, ()
    rng = np.random.default_rng(options.seed)
    measured = calibration(known, bins=options.bins, level=options.level)
    return (
        measured,
        noise_floor(
            known, bins=options.bins, level=options.level, rng=rng, diagram=measured.reliability
        ),
        confidence_gap(known, level=options.level),
        th_scores(known, options.epsilons),
    )


def _aggregate(
    name: str, counted: Counted, options: AuditOptions, notes: list[str]
) -> tuple[BTDFit | None, Evaluation | None]:
    labelled = counted.votes[name].labelled() if name in counted.votes else None
    n = 0 if labelled is None else len(labelled)
    if labelled is None or n < MINIMUM_LABELS:
        notes.append(
            f"{name}: no BTD fit, which needs at least {MINIMUM_LABELS} labelled comparisons; it "
            f"has {n}."
        )
        return None, None
    fit_options = BTDOptions(alpha=options.alpha, kappa=options.kappa)
    fitted = fit(labelled.cells()[0], fit_options)
    notes.extend(f"{name}: {note}" for note in fitted.notes)
    if name not in counted.weighed:
        return fitted, None
    given, reasons = given_labels(labelled, counted.weighed[name], judge=name, judges=counted.votes)
    try:
        splits = evaluate(
            labelled,
            fit_options,
            given=given,
            n_splits=options.splits,
            share=options.calibration_share,
            level=options.level,
            rng=np.random.default_rng(options.seed),
        )
    except TooFewLabels as error:
        notes.append(f"{name}: no splits. {error}")
        return fitted, None
    return fitted, replace(splits, not_applicable=splits.not_applicable | reasons)


def _anchors(pooled: PairScores, options: AuditOptions, notes: list[str]) -> tuple[str, ...]:
    if options.anchors is not None:
        return options.anchors
    found = models_that_anchor(pooled)
    if not found:
        notes.append(
            "No leaderboard: no model met at least three others. Name an anchor to see a smaller "
            "board."
        )
    if len(found) <= MOST_ANCHORS:
        return found
    codes, n = np.concatenate([pooled.model_1, pooled.model_2]), np.tile(pooled.n_votes, 2)
    votes = dict(zip(pooled.models, np.bincount(codes, n, len(pooled.models)), strict=True))
    notes.append(
        f"Leaderboards against {MOST_ANCHORS} of the {len(found):,} models that met at least "
        "three others, "
        "those with most votes. Name others as anchors to see theirs."
    )
    return tuple(
        sorted(sorted(found, key=lambda name: (-votes[name], name))[:MOST_ANCHORS], key=found.index)
    )


def _boards(
    pairs: Mapping[str | None, PairScores],
    of_anchor: Mapping[str, tuple[Panel, ...]],
    scores_of: Mapping[Panel, PairScores],
    options: AuditOptions,
    notes: list[str],
) -> dict[str, tuple[JudgedBoard, ...]]:
    """Pooled boards, one where the same judges judged all models; then of each judge that saw the
    anchor.
    """
    boards = {}
    for anchor, found in of_anchor.items():
        # An anchor that met nobody has no panel, and says so where its board is made.
        everyone = board(pairs[None], anchor, level=options.level, pool=options.pool)
        rows = [
            JudgedBoard(
                judge=None,
                board=replace(
                    board(scores_of[panel], anchor, level=options.level, pool=options.pool),
                    never_met=everyone.never_met,
                )
                if panel in scores_of
                else everyone,
                pooled_judges=panel.judges,
                left_out_judges=panel.left_out,
            )
            for panel in found
        ]
        if (reason := judged_unequally(found)) is not None:
            notes.append(reason)
        for judge in sorted(name for name in pairs if name is not None):
            if not met(pairs[judge], anchor):
                notes.append(f"{judge}: no board against {anchor}, which it never judged.")
                continue
            own = board(pairs[judge], anchor, level=options.level, pool=options.pool)
            rows.append(
                JudgedBoard(judge=judge, board=own, pooled_judges=(judge,), left_out_judges=())
            )
        boards[anchor] = tuple(rows)
    return boards
