"""One call: store, selection and options in, every result of every judge out.

`audit` holds no statistics of its own. Counts come from the queries (`checks.evidence.Counted`),
methods make results of them (`Evidence`), checks grade those, and this gathers what comes back, so
that page, command line and report show the same figures. It never writes 0 for what it cannot know:
each None or NaN has a note, from the reason that its result carries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bounds import MOST_ANCHORS, of_models, within_judges, within_models
from ..errors import InvalidOption, NoUsableVotes, TooFewLabels, UnreadableFile
from ..files import shown_name
from ..finding.check import CheckResult, results_of
from ..finding.evidence import Counted, Evidence
from ..finding.wording import count
from ..options import default_of
from ..questions.agreement.kappa import agreement_matrix
from ..questions.agreement.results import AGREEMENT, OWN_GOLD, REPEATABILITY
from ..questions.boards.anchored import met
from ..questions.boards.anchors import anchor_swap
from ..questions.boards.anchors import anchors as models_that_anchor
from ..questions.boards.board_checks import BoardChecks, board_checks
from ..questions.boards.by_anchor import anchor_summary
from ..questions.boards.panels import JudgedBoard, judged_boards, panels, unequal
from ..questions.boards.standings import OutsideBoard, compare_outside, read_outside
from ..questions.boards.words import anchors_unknown, judged_unequally
from ..questions.confidence.words import several_kinds
from ..questions.juries.jury import Jury, judge_jury
from ..questions.labels.btd import MINIMUM_LABELS, BTDFit, BTDOptions, fit
from ..questions.labels.evaluation import Evaluation, evaluate
from ..questions.labels.forced_prompts import ForcedChoice, forced_choice
from ..questions.labels.rules import given_labels
from ..questions.lists.audit import audit_rankings
from ..questions.planning.grid import ALL_TASKS, Grid, given_in_cells, task_grid
from ..questions.scores.audit import audit_scores
from ..records import PairScores, Panel
from ..schema import Selection
from ..store import parts
from ..store import vote_queries as queries
from ..store.browse import Summary, default_gold, summary
from ..store.cells import CELLS
from .checks import CHECKS
from .options import AuditOptions
from .overall import overall_verdict, ranked
from .questions import all_questions
from .results import Audit, JudgeAudit, unknown_of_judges

if TYPE_CHECKING:
    from ..importers import ReadOptions
    from ..schema import ImportResult
    from ..store.connection import Database, Snapshot


MOST_NAMED = 5
"""Raters that a message names."""
REFERENCE_LEVEL = 0.95
"""Level of the intervals from which p-values are reckoned, whatever the options' is."""


def audit(
    store: Database | Snapshot,
    selection: Selection,
    options: AuditOptions | None = None,
    *,
    readings: Sequence[ImportResult] = (),
    reading_options: ReadOptions | None = None,
) -> Audit:
    """Audit the judges of a selection.

    Raises UnknownName for a judge, data set or anchor that is not there, NoUsableVotes if nothing
    is selected, and InvalidOption for an option outside what its method allows.
    """
    options = options or AuditOptions()
    notes = _notes_on_readings(readings)
    beside = None if options.outside is None else _outside_board(options.outside)
    # One state of the store for all counts, so that a load meanwhile cannot mix two.
    with store.snapshot() as moment:
        gold = selection.gold or default_gold(moment, selection)
        selection = replace(selection, gold=gold)
        about = summary(moment, selection)
        judged = {rater.name for rater in about.judges}
        judged |= {rater.name for rater in (*about.scores, *about.rankings)}
        notes += parts.notes(moment, judged)
        if not about.judges and (about.scores or about.rankings):
            return _without_votes(
                moment, selection, options, about, readings, reading_options, notes
            )
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
            gold=gold,
            anchors=lambda: anchors,
        )
        counted.settle(all_questions())
        moment.release(*CELLS)
        if not anchors and any(counted.of(judge.name)[REPEATABILITY] for judge in about.judges):
            notes.append(
                "Repeatability has no anchor to orient by: ICC then depends on the arbitrary A/B "
                "orientation."
            )
        aggregated = {judge.name: _aggregate(counted.of(judge.name)) for judge in about.judges}
        grid = _grid(counted, notes) if options.grid else None
        # What rules need is as large as the outcomes that checks are about to ask for.
        counted.release("weighed")
        judge_of = {
            judge.name: audit_judge(counted, judge.name, aggregated[judge.name])
            for judge in about.judges
        }
        agreed = counted[AGREEMENT]
        scores = (
            audit_scores(moment, within, options, counted.rows_read, notes) if about.scores else ()
        )
        lists = audit_rankings(moment, within, options, about.rankings) if about.rankings else ()
        forced = _forced(counted, notes) if options.forced_choice else None
        jury = _jury(counted, queries.costs(moment, within), notes) if options.jury else None
        boards = judged_boards(pairs, of_anchor, scores_of, level=options.level, pool=options.pool)
        checked = None
        if options.board_checks:
            checked = _board_checks(moment, within, pairs, boards, options)
    best_first = ranked(
        {name: judge.overall for name, judge in judge_of.items()},
        [result for judge in judge_of.values() for result in judge.checks],
        {name for name, judge in judge_of.items() if judge.rater_type == "human"},
    )
    judges = [judge_of[name] for name in best_first]
    notes += [note for judge in judges for note in judge.notes]
    notes += _notes_on_boards(pairs, of_anchor)
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
    own = [name for name in counted.about if counted.of(name)[OWN_GOLD] is not None]
    if own:
        notes.append(
            f"{', '.join(own)}: gold is made of these votes, so accuracy, calibration, confusion "
            "and BTD against it flatter them."
        )
    repeated = {judge.judge: judge[REPEATABILITY] for judge in judges}
    notes += [*checked.unknown] if checked else []
    summed_up = anchor_summary(boards, swap, repeatability=repeated) if boards else None
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
        forced=forced,
        anchors=summed_up,
        jury=jury,
        board_checks=checked,
        outside=None
        if beside is None or not boards
        else compare_outside(
            next(iter(boards.values()))[0].board,
            beside,
            rng=np.random.default_rng(options.seed),
            level=options.level,
        ),
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
            given=given_in_cells(models, counted.weighed, counted.votes),
            confidences=counted.by_confidence if options.grid_votes else None,
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


def _forced(counted: Counted, notes: list[str]) -> ForcedChoice | None:
    """Two prompts side by side; `notes` take why they are not."""
    options = counted.options
    forced, free = options.forced_choice
    try:
        return forced_choice(
            counted.votes,
            counted.positions,
            forced,
            free,
            BTDOptions(alpha=options.alpha, kappa=options.kappa),
            rng=np.random.default_rng(options.seed),
            n_splits=options.splits or default_of(AuditOptions, "splits"),
            share=options.calibration_share,
            level=options.level,
        )
    except NoUsableVotes as error:
        notes.append(f"Forced choice against ties allowed: {error}")
        return None


def _jury(counted: Counted, costs: Mapping[str, float | None], notes: list[str]) -> Jury | None:
    """The judges that can sit together, by every rule; `notes` take why there is no jury."""
    options = counted.options
    votes = {name: one for name, one in counted.votes.items() if name not in counted.people}
    try:
        return judge_jury(
            votes,
            counted.by_confidence,
            rng=np.random.default_rng(options.seed),
            by=options.confidence_by,
            costs=costs,
            epsilon=options.middle_epsilon,
            level=options.level,
        )
    except (NoUsableVotes, InvalidOption) as error:
        notes.append(f"No jury. {error}")
        return None


def _outside_board(file: str) -> OutsideBoard:
    name = shown_name(Path(file).name)
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{name}: cannot be read ({error.strerror})") from None
    return read_outside(content, name=name)


def _board_checks(
    moment: Snapshot,
    selection: Selection,
    pairs: Mapping[str | None, PairScores],
    boards: Mapping[str, Sequence[JudgedBoard]],
    options: AuditOptions,
) -> BoardChecks:
    """Triangles, abstention and direct scores of a selection with or without votes."""
    doubts = queries.pair_doubts(moment, selection) if boards else {}
    try:
        scores = queries.direct_scores(moment, selection)
    except NoUsableVotes:
        scores = {}
    judged = {
        anchor: {each.judge: each.board for each in of_anchor if each.judge is not None}
        for anchor, of_anchor in boards.items()
    }
    return board_checks(pairs.get(None), judged, doubts, scores, level=options.level)


def _without_votes(
    moment: Snapshot,
    selection: Selection,
    options: AuditOptions,
    about: Summary,
    readings: Sequence[ImportResult],
    reading_options: ReadOptions | None,
    notes: list[str],
) -> Audit:
    """The audit of a selection without votes; `notes` take what could not be computed."""
    counted = Counted(lambda query, **given: query(moment, selection, **given), about, options)
    scores = (
        audit_scores(moment, selection, options, counted.rows_read, notes) if about.scores else ()
    )
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
        notes=tuple(notes),
        scores=scores,
        rankings=lists,
        board_checks=_board_checks(moment, selection, {}, {}, options)
        if options.board_checks
        else None,
    )


def check_judge(counted: Counted, judge: str) -> tuple[CheckResult, ...]:
    """One result per check, in the order of `CHECKS`.

    p-values are reckoned from 95 % intervals, so that they are the same at every level.
    """
    evidence = counted.of(judge)
    results = results_of(CHECKS, evidence)
    if counted.options.level == REFERENCE_LEVEL:
        return results
    reference = counted.at_level(REFERENCE_LEVEL).of(judge)
    return tuple(
        replace(result, p_value=other.p_value)
        for result, other in zip(results, results_of(CHECKS, reference), strict=True)
    )


class Aggregated(NamedTuple):
    """The fit of one judge's votes and its splits, and why there is none."""

    fit: BTDFit | None
    splits: Evaluation | None
    notes: tuple[str, ...]


def audit_judge(counted: Counted, judge: str, aggregated: Aggregated) -> JudgeAudit:
    """Every result and every check of one judge."""
    evidence = counted.of(judge)
    results = check_judge(counted, judge)
    notes: list[str] = []
    if evidence.stated is None:
        notes.append(
            f"{judge}: no calibration, because no verdict has both a confidence and a gold label."
        )
    elif (kinds := several_kinds(evidence.stated)) is not None:
        notes.append(f"{judge}: {kinds}")
    notes += aggregated.notes
    of_check = {result.check: result for result in results}
    return JudgeAudit(
        judge=judge,
        rater_type=evidence.about.rater_type,
        votes=evidence.about,
        btd=aggregated.fit,
        splits=aggregated.splits,
        checks=results,
        overall=overall_verdict(evidence, results),
        notes=tuple(notes),
        findings=tuple(question.finding(evidence, of_check) for question in all_questions()),
    )


def _aggregate(evidence: Evidence) -> Aggregated:
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


def _notes_on_readings(readings: Sequence[ImportResult]) -> list[str]:
    """What was drawn of larger files, and kept of files without a cell that could not be read."""
    drawn = [f"{each.name}: {each.sampled.sentence}" for each in readings if each.sampled]
    return drawn + [f"{reading.name}: {reading.unread}" for reading in readings if reading.unread]


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


def _notes_on_boards(
    pairs: Mapping[str | None, PairScores], of_anchor: Mapping[str, tuple[Panel, ...]]
) -> list[str]:
    """Boards that pool some judges only, and judges without one."""
    notes = []
    for anchor, found in of_anchor.items():
        if (reason := judged_unequally(found)) is not None:
            notes.append(reason)
        notes += [
            f"{judge}: no board against {anchor}, which it never judged."
            for judge in sorted(name for name in pairs if name is not None)
            if not met(pairs[judge], anchor)
        ]
    return notes
