"""Judges of single answers: the scores of a selection in, every check of every judge out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...auditing.options import AuditOptions
from ...auditing.overall import OVERALL_WORDS
from ...bounds import MOST_METRICS
from ...stats.periods import periods
from ...store.file_queries import by_file
from .alone import alone_of_scores
from .ask import (
    Unscored,
    at_other_temperatures,
    score_answers,
    score_dates,
    score_runs,
    scored_metrics,
    unscored_answers,
)
from .audited import ScoreAudit
from .card import score_answer
from .evidence import JudgedScores, ScoreEvidence
from .overall import check_scores, overall_of_scores
from .table import ScoreTable

if TYPE_CHECKING:
    from ...schema import RowsRead, Selection
    from ...store.connection import Database, Snapshot
    from .alone import alone_of_scores
from .ask import ScoredMetric

REFERENCE_LEVEL = 0.95
"""Level of the intervals from which p-values are reckoned, whatever the options' is."""


def audit_scores(
    store: Database | Snapshot,
    selection: Selection,
    options: AuditOptions,
    rows_read: RowsRead | None = None,
    notes: list[str] | None = None,
) -> tuple[ScoreAudit, ...]:
    """Audit every judge by every metric that it scored, the best first; people are what it is
    measured by.

    rows_read : the rows of the files.  notes : takes what is left out: of more than `MOST_METRICS`
        those with fewest labels and scores.
    """
    every = [
        about
        for about in scored_metrics(store, selection)
        if about.rater_type != "human" and about.n
    ]
    kept = every
    if len(every) > MOST_METRICS:
        kept = sorted(every, key=lambda about: (-about.gold, -about.n))[:MOST_METRICS]
        if notes is not None:
            notes.append(
                f"{len(every):,} metrics were scored, and the {MOST_METRICS:,} with most labels "
                "and scores are audited. Keep those that are asked about in the file."
            )
    audits = [
        _audit(judged(store, selection, about, options), options, rows_read) for about in kept
    ]
    return tuple(sorted(audits, key=_place))


def judged(
    store: Database | Snapshot,
    selection: Selection,
    about: ScoredMetric,
    options: AuditOptions | None = None,
) -> JudgedScores:
    """The scores of one judge by one metric, with people's beside; levels pass from the score that
    the options say.
    """
    options = options or AuditOptions()
    answers = score_answers(store, selection, about.judge, about.metric)
    dates = score_dates(store, selection, about.judge, about.metric)
    period, names = next(filter(None, map(periods, dates.values())), (None, ()))
    table = ScoreTable(**answers.table | ({} if answers.categories else {"category": None}))
    cut = options.pass_from.get(about.metric)
    if cut is not None and table.kind == "levels":
        # Turned around, where less is better: what is said in the file's units is too.
        cut = table.low + table.high - cut if answers.turned else cut
        people = cut if table.same_scale else table.people_passing
        table = replace(table, passing=cut, people_passing=people)
    return JudgedScores(
        judge=about.judge,
        metric=about.metric,
        table=table,
        item=answers.item,
        model=answers.model,
        models=answers.models,
        confidence=answers.confidence,
        period=period,
        periods=names,
        wrong_pass=options.wrong_pass,
        drawn=None if options.labels_drawn == "seen" else options.labels_drawn,
        by_file=by_file(store, selection, "scores").get((about.judge, about.metric)),
        runs=score_runs(store, selection, about.judge, about.metric),
        other_temperatures=at_other_temperatures(store, selection, about.judge, about.metric),
        outputs=about.n + about.failed,
        missing=about.failed,
        unscored=unscored_answers(store, selection, about.judge, about.metric)
        if about.failed and table.says_pass
        else Unscored(),
    )


def _audit(scores: JudgedScores, options: AuditOptions, rows_read: RowsRead | None) -> ScoreAudit:
    limits = options.rules.limits
    evidence = ScoreEvidence(
        scores, limits, level=options.level, rows_read=rows_read, options=options
    )
    results = check_scores(evidence)
    if options.level != REFERENCE_LEVEL:
        reference = check_scores(
            ScoreEvidence(scores, limits, rows_read=rows_read, options=options)
        )
        results = tuple(
            replace(result, p_value=other.p_value)
            for result, other in zip(results, reference, strict=True)
        )
    overall = overall_of_scores(evidence, results)
    answer = score_answer(evidence, overall, results)
    return ScoreAudit(
        judge=scores.judge,
        metric=scores.metric,
        evidence=evidence,
        checks=results,
        overall=overall,
        headline=answer.headline,
        figures=answer.figures,
        alone=alone_of_scores(evidence, overall.use["measure"]),
    )


def _place(audit: ScoreAudit) -> tuple[int, float, int, str, str]:
    """By overall verdict, the least low end of the checks of merit, and how many checks are ok."""
    lows = [
        result.interval.low
        for result in audit.checks
        if result.check in audit.evidence.merit
        and result.interval is not None
        and result.interval.has_interval
    ]
    ok = sum(result.grade == "ok" for result in audit.checks)
    verdict = list(OVERALL_WORDS).index(audit.overall.verdict)
    return verdict, -min(lows, default=-1.0), -ok, audit.judge, audit.metric
