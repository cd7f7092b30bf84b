"""One call: store, selection and options in, every result of every judge out.

`audit` holds no statistics of its own. Counts come from the queries (`checks.evidence.Counted`),
methods make results of them (`Evidence`), checks grade those, and this gathers what comes back, so
that page, command line and report show the same figures. It never writes 0 for what it cannot know:
each None or NaN has a note, from the reason that its result carries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .aggregation.btd import MINIMUM_LABELS, BTDFit, BTDOptions, fit
from .aggregation.evaluation import Evaluation, evaluate
from .aggregation.rules import given_labels
from .agreement.confusion_matrix import confusion
from .agreement.kappa import agreement_matrix
from .audit_results import Audit, AuditOptions, JudgeAudit, JudgedBoard, unknown_of_judges
from .bounds import MOST_ANCHORS, of_models, within_judges, within_models
from .checks import CHECKS
from .checks.check import CheckResult
from .checks.evidence import Counted, Evidence
from .checks.overall import overall_verdict, ranked
from .confidence.th_scores import th_scores
from .errors import NoUsableVotes, TooFewLabels
from .experiments.grid import ALL_TASKS, Grid, task_grid
from .interpretation.calibration import several_kinds
from .interpretation.leaderboard import anchors_unknown, judged_unequally
from .leaderboard.anchored import board, met
from .leaderboard.anchors import AnchorSwap, anchor_swap
from .leaderboard.anchors import anchors as models_that_anchor
from .leaderboard.by_anchor import STRONG, AnchorSummary, anchor_summary
from .leaderboard.panels import panels, unequal
from .listwise_auditing import audit_rankings
from .options import default_of
from .records import PairScores, Panel
from .schema import Selection
from .score_auditing import audit_scores
from .store import vote_queries as queries
from .store.browse import Summary, summary
from .wording import count

if TYPE_CHECKING:
    from .importers import ReadOptions
    from .schema import ImportResult
    from .store.connection import Database, Snapshot
    from .warehouse.relations import TableRead


MOST_NAMED = 5
"""Raters that a message names."""
REFERENCE_LEVEL = 0.95
"""Level of the intervals from which p-values are reckoned, whatever the options' is."""


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
        about = summary(moment, selection)
        if not about.judges and (about.scores or about.rankings):
            return _without_votes(moment, selection, options, about, readings, reading_options)
        counted_judges = ((each.name, each.rater_type == "human", each.n) for each in about.judges)
        others = ((each.name, each.n) for each in (*about.scores, *about.rankings))
        within, too_many = within_judges(selection, counted_judges, others=others)
        if too_many is not None:
            notes.append(too_many)
            about = summary(moment, within)
        pairs, too_wide = within_models(
            queries.pair_scores(moment, within, pooled=True), options.anchors or ()
        )
        notes += [too_wide] if too_wide is not None else []
        anchors = anchors_of(pairs[None], options)
        notes += _notes_on_anchors(pairs[None], options)
        scores_by_judge = {name: scores for name, scores in pairs.items() if name is not None}
        of_anchor = panels(scores_by_judge, anchors)
        apart = [panel for some in of_anchor.values() if unequal(some) for panel in some]
        together = queries.panel_scores(moment, within, apart) if apart else []
        scores_of = {
            panel: of_models(scores, pairs[None].models)
            for panel, scores in zip(apart, together, strict=True)
        }
        counted = Counted(
            lambda query, **given: query(moment, within, **given),
            about,
            options,
            gold=selection.gold,
            anchors=lambda: anchors,
        )
        if counted.ratings and not anchors:
            notes.append(
                "Repeatability has no anchor to orient by: ICC then depends on the arbitrary A/B "
                "orientation."
            )
        judge_of = {judge.name: audit_judge(counted, judge.name) for judge in about.judges}
        agreed = counted.agreement
        scores = audit_scores(moment, within, options, counted.rejected) if about.scores else ()
        lists = audit_rankings(moment, within, options, about.rankings) if about.rankings else ()
        grid = _grid(counted, notes) if options.grid else None
    best_first = ranked(
        {name: judge.overall for name, judge in judge_of.items()},
        [result for judge in judge_of.values() for result in judge.checks],
        {name for name, judge in judge_of.items() if judge.rater_type == "human"},
    )
    judges = [judge_of[name] for name in best_first]
    notes += [note for judge in judges for note in judge.notes]
    boards = _boards(pairs, of_anchor, scores_of, options, notes)
    # What is compared with another anchor's board is what is shown first.
    first = {anchor: boards[anchor][0].board for anchor, some in of_anchor.items() if unequal(some)}
    swap = anchor_swap(pairs[None], anchors=anchors, boards=first) if len(boards) > 1 else None
    used = replace(options, anchors=anchors)
    notes += [*unknown_of_judges(judges, used), *agreed.unknown]
    notes += (
        [f"Anchors {r.anchor_1} and {r.anchor_2}: {r.reason}" for r in swap.rows if r.reason]
        if swap
        else []
    )
    notes += [
        f"{judge} judged {' and '.join(models)}, which bears its name: read as its own family. "
        "Its maker's other models are not; name a family to add them."
        for judge, models in counted.namesakes.items()
    ]
    own = [name for name in counted.about if counted.of(name).own_gold is not None]
    if own:
        notes.append(
            f"{', '.join(own)}: gold is made of these votes, so accuracy, calibration, confusion "
            "and BTD against it flatter them."
        )
    summed_up = _anchor_summary(boards, swap, judges) if boards else None
    notes += anchors_unknown(summed_up) if summed_up else []
    return Audit(
        selection=selection,
        options=used,
        readings=tuple(readings),
        reading_options=reading_options,
        summary=about,
        judges=tuple(judges),
        agreement=agreed,
        boards=boards,
        anchor_swap=swap,
        checks=tuple(result for judge in judges for result in judge.checks),
        overall={judge.judge: judge.overall for judge in judges},
        notes=tuple(notes),
        scores=scores,
        rankings=lists,
        grid=grid,
        anchors=summed_up,
    )


def _anchor_summary(
    boards: Mapping[str, tuple[JudgedBoard, ...]],
    swap: AnchorSwap | None,
    judges: Sequence[JudgeAudit],
) -> AnchorSummary:
    """Model × anchor of the boards that are shown first, with those of single judges beside."""
    icc = {
        judge.judge: judge.repeatability.icc_3_k
        for judge in judges
        if judge.repeatability and judge.repeatability.icc_3_k
    }
    return anchor_summary(
        {anchor: of_anchor[0].board for anchor, of_anchor in boards.items()},
        {
            anchor: {each.judge: each.board for each in of_anchor if each.judge is not None}
            for anchor, of_anchor in boards.items()
        },
        swap,
        strong={judge for judge, found in icc.items() if found.value >= STRONG},
    )


def _grid(counted: Counted, notes: list[str]) -> Grid | None:
    """Every rule by category and judge; `notes` take what is left out and why."""
    options = counted.options
    by_task = counted.by_category or {ALL_TASKS: counted.votes}
    models = {
        task: {judge: votes for judge, votes in of_judge.items() if judge not in counted.people}
        for task, of_judge in by_task.items()
    }
    try:
        grid = task_grid(
            models,
            BTDOptions(alpha=options.alpha, kappa=options.kappa),
            sizes=options.grid_votes,
            seed=options.seed,
            n_splits=options.splits or default_of(AuditOptions, "splits"),
            share=options.calibration_share,
            level=options.level,
        )
    except NoUsableVotes as error:
        notes.append(f"No grid of rules. {error}")
        return None
    reasons: dict[str, int] = {}
    for reason in grid.left_out.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    notes += [f"Grid: {count(n, 'cell')} left out. {why}" for why, n in reasons.items()]
    return grid


def _without_votes(
    moment: Snapshot,
    selection: Selection,
    options: AuditOptions,
    about: Summary,
    readings: Sequence[ImportResult | TableRead],
    reading_options: ReadOptions | None,
) -> Audit:
    """The audit of a selection without votes."""
    counted = Counted(lambda query, **given: query(moment, selection, **given), about, options)
    scores = audit_scores(moment, selection, options, counted.rejected) if about.scores else ()
    lists = audit_rankings(moment, selection, options, about.rankings) if about.rankings else ()
    if not scores and not lists:
        people = ", ".join(rater.name for rater in about.scores[:MOST_NAMED])
        raise NoUsableVotes(
            f"All scores are people's ({people}), and no judge scored an answer. Name the judge's "
            "column, or say with a column rater_type which raters are people."
        )
    return Audit(
        selection=selection,
        options=replace(options, anchors=()),
        readings=tuple(readings),
        reading_options=reading_options,
        summary=about,
        judges=(),
        agreement=agreement_matrix({}, level=options.level),
        boards={},
        anchor_swap=None,
        checks=(),
        overall={},
        notes=(),
        scores=scores,
        rankings=lists,
    )


def check_judge(counted: Counted, judge: str) -> tuple[CheckResult, ...]:
    """One result per check, in the order of `CHECKS`.

    p-values are reckoned from 95 % intervals, so that they are the same at every level.
    """
    evidence = counted.of(judge)
    results = tuple(check.result(evidence) for check in CHECKS)
    if counted.options.level == REFERENCE_LEVEL:
        return results
    reference = counted.at_level(REFERENCE_LEVEL).of(judge)
    return tuple(
        replace(result, p_value=check.result(reference).p_value)
        for check, result in zip(CHECKS, results, strict=True)
    )


def audit_judge(counted: Counted, judge: str) -> JudgeAudit:
    """Every result and every check of one judge."""
    evidence, options = counted.of(judge), counted.options
    results = check_judge(counted, judge)
    notes: list[str] = []
    if evidence.stated is None:
        notes.append(
            f"{judge}: no calibration, because no verdict has both a confidence and a gold label."
        )
    elif (kinds := several_kinds(evidence.stated)) is not None:
        notes.append(f"{judge}: {kinds}")
    fitted, splits = _aggregate(evidence, notes)
    votes = evidence.votes
    return JudgeAudit(
        judge=judge,
        rater_type=evidence.about.rater_type,
        votes=evidence.about,
        exact=evidence.exact,
        calibration=evidence.calibration,
        ece=evidence.ece,
        floor=evidence.noise_floor,
        gap=evidence.gap,
        th=() if evidence.stated is None else th_scores(evidence.stated, options.epsilons),
        position=evidence.position,
        confusion=confusion(votes, level=options.level)
        if votes is not None and evidence.has_gold
        else None,
        btd=fitted,
        splits=splits,
        repeatability=evidence.repeatability,
        direction=evidence.direction,
        blind_rule=evidence.blind_rule,
        discrimination=evidence.discrimination,
        confidences=evidence.confidences,
        effective_votes=evidence.effective_votes,
        constant_confidence=evidence.constant_confidence,
        length=evidence.length,
        own_family=evidence.own_family,
        robustness=evidence.changes,
        alternative=evidence.alternative,
        checks=results,
        overall=overall_verdict(evidence, results),
        notes=tuple(notes),
    )


def _aggregate(evidence: Evidence, notes: list[str]) -> tuple[BTDFit | None, Evaluation | None]:
    """The fit and its splits; `notes` take why there is none."""
    name, options, counted = evidence.judge, evidence.options, evidence.counted
    labelled = None if evidence.votes is None else evidence.votes.labelled()
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


def anchors_of(pooled: PairScores, options: AuditOptions) -> tuple[str, ...]:
    """The anchors that were asked for; else the models that met at least three others, of many
    those with most votes.
    """
    if options.anchors is not None:
        return options.anchors
    anchors = models_that_anchor(pooled)
    if len(anchors) <= MOST_ANCHORS:
        return anchors
    codes, n = np.concatenate([pooled.model_1, pooled.model_2]), np.tile(pooled.n_votes, 2)
    votes = dict(zip(pooled.models, np.bincount(codes, n, len(pooled.models)), strict=True))
    most = sorted(anchors, key=lambda name: (-votes[name], name))[:MOST_ANCHORS]
    return tuple(sorted(most, key=anchors.index))


def _notes_on_anchors(pooled: PairScores, options: AuditOptions) -> list[str]:
    anchors = () if options.anchors is not None else models_that_anchor(pooled)
    if options.anchors is None and not anchors:
        return [
            "No leaderboard: no model met at least three others. Name an anchor to see a smaller "
            "board."
        ]
    if len(anchors) <= MOST_ANCHORS:
        return []
    return [
        f"Leaderboards against {MOST_ANCHORS} of the {len(anchors):,} models that met at least "
        "three others, those with most votes. Name others as anchors to see theirs."
    ]


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
