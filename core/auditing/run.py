"""One call: store, selection and options in, every result of every judge out.

`audit` holds no statistics of its own. Counts come from the queries (`finding.evidence.Counted`),
methods make results of them in the rooms of their questions, checks grade those, and this gathers
what comes back, so that page, command line and report show the same figures. It never writes 0 for
what it cannot know: each None or NaN has a note, from the reason that its result carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from ..bounds import within_judges
from ..errors import NoUsableVotes
from ..finding.check import CheckResult, results_of
from ..finding.evidence import Counted
from ..questions.boards.results import USED_ANCHORS
from ..questions.lists.results import RANKINGS
from ..questions.scores.results import SCORES
from ..schema import Selection
from ..store import parts
from ..store.browse import default_gold, summary
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
    notes = [(0, note) for note in _notes_on_readings(readings)]
    questions = all_questions()
    # One state of the store for all counts, so that a load meanwhile cannot mix two.
    with store.snapshot() as moment:
        gold = selection.gold or default_gold(moment, selection)
        within = selection = replace(selection, gold=gold)
        about = summary(moment, selection)
        judged = {rater.name for rater in about.judges}
        judged |= {rater.name for rater in (*about.scores, *about.rankings)}
        notes += [(0, note) for note in parts.notes(moment, judged)]
        if about.clusters is not None:
            notes.append((0, about.clusters))
        if about.judges or not (about.scores or about.rankings):
            voted = ((each.name, each.rater_type == "human", each.n) for each in about.judges)
            others = ((each.name, each.n) for each in (*about.scores, *about.rankings))
            within, too_many = within_judges(selection, voted, others=others)
            if too_many is not None:
                notes.append((0, too_many))
                about = summary(moment, within)
        counted = Counted(
            lambda query, **given: query(moment, within, **given),
            about,
            options,
            gold=gold,
            anchors=lambda: counted[USED_ANCHORS],
        )
        counted.settle(questions, release=partial(moment.release, *CELLS))
        judge_of = {judge: audit_judge(counted, judge) for judge in counted.about}
        if not any(map(len, (judge_of, counted[SCORES], counted[RANKINGS]))):
            raise NoUsableVotes(people_alone([rater.name for rater in about.scores]))
        of_all = tuple(question.finding_of_all(counted) for question in questions)
    best_first = ranked(
        {name: judge.overall for name, judge in judge_of.items()},
        [result for judge in judge_of.values() for result in judge.checks],
        {name for name, judge in judge_of.items() if judge.rater_type == "human"},
    )
    judges = [judge_of[name] for name in best_first]
    notes += [(50, note) for judge in judges for note in judge.notes]
    notes += [(70, note) for note in unknown_of_judges(judges)]
    notes += [
        (place, note)
        for question in questions
        for place, made in question.of_all.notes.items()
        for note in made(counted)
    ]
    return Audit(
        selection=selection,
        options=replace(options, anchors=counted[USED_ANCHORS]),
        readings=tuple(readings),
        reading_options=reading_options,
        summary=about,
        judges=tuple(judges),
        checks=tuple(result for judge in judges for result in judge.checks),
        overall={judge.judge: judge.overall for judge in judges},
        notes=tuple(note for _, note in sorted(notes, key=itemgetter(0))),
        findings=of_all,
    )


def people_alone(names: Sequence[str]) -> str:
    """Why scores that are all people's cannot be audited."""
    return (
        f"All scores are people's ({', '.join(names[:MOST_NAMED])}), and no judge scored an "
        "answer. Name the judge's column, or say with a column rater_type which raters are people."
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


def audit_judge(counted: Counted, judge: str) -> JudgeAudit:
    """Every result and every check of one judge."""
    evidence = counted.of(judge)
    results = check_judge(counted, judge)
    of_check = {result.check: result for result in results}
    questions = all_questions()
    return JudgeAudit(
        judge=judge,
        rater_type=evidence.about.rater_type,
        votes=evidence.about,
        checks=results,
        overall=overall_verdict(evidence, results),
        notes=tuple(note for question in questions for note in question.notes(evidence)),
        findings=tuple(question.finding(evidence, of_check) for question in questions),
    )


def _notes_on_readings(readings: Sequence[ImportResult]) -> list[str]:
    """What was drawn of larger files, and kept of files without a cell that could not be read."""
    drawn = [f"{each.name}: {each.sampled.sentence}" for each in readings if each.sampled]
    return drawn + [f"{reading.name}: {reading.unread}" for reading in readings if reading.unread]
