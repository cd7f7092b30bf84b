"""What labels show, in sentences."""

from __future__ import annotations

from ..finding.wording import count, interval, number, percent, percent_span
from ..stats.estimate import Estimate
from .answers import LEAST_OF_CLASS, PassVerdict
from .rate import Rate
from .shown import JudgeStanding, LevelStanding, PassStanding, Shown
from .verdict import LEAST_LABELS, Forecast, Standing

WORDS = {
    "ok": "right often enough",
    "warn": "not right often enough",
    "fail": "wrong too often",
    "unclear": "not decided yet",
}


FEW, ENOUGH, MANY = 20, 50, 120
"""Labels that show a judge far from the limit, one right on 9 of 10, and on 8 of 10 (half of the
sessions or more; docs/results.md)."""
READ_PER_MINUTE = 240
DECIDE_SECONDS = 6


def what_labels_bring(items: int, words: float) -> str:
    """What can be known of a judge with a few labels, and how long they take.

    items : that can be labelled.  words : that a person reads for one label.
    """
    seconds = 60 * words / READ_PER_MINUTE + DECIDE_SECONDS
    if items <= FEW:
        return f"All {items:,} items are labelled in {_minutes(items * seconds)}."
    said = f"{FEW} labels ({_minutes(FEW * seconds)}) show a judge that is far off"
    if items >= ENOUGH:
        said += f"; about {ENOUGH} ({_minutes(ENOUGH * seconds)}) decide on one right on 9 of 10"
    if items >= MANY:
        said += f", about {MANY} on one right on 8 of 10"
    return f"{said}."


def _minutes(seconds: float) -> str:
    minutes = max(round(seconds / 60), 1)
    return f"{minutes} minute{'s' * (minutes != 1)}"


def known_so_far(shown: Shown) -> str:
    """How many labels there are, and what may be done with what they show."""
    plan = f" of {shown.planned:,} planned" if shown.planned else ""
    return f"{count(shown.n, 'label')}{plan}. What is shown is valid whenever you stop."


def standing_sentence(one: JudgeStanding) -> str:
    """The grade of a judge, its interval, and how much longer it is likely to take."""
    stands = one.standing
    if stands.right is None:
        return f"{one.judge}: nothing before {LEAST_LABELS} labels of its items."
    said = f"{one.judge}: {WORDS[one.grade]}"
    if stands.since is not None and one.grade != "unclear":
        how = "at the end of the plan" if stands.by_plan else f"since label {stands.since:,}"
        said += f", {how}"
    said += (
        f". Right on {percent(stands.right.value)} ({percent_span(stands.right)}, valid whenever "
        "you stop)."
    )
    if stands.planned is not None:
        said += f" At the end of the plan, looked at once: {percent_span(stands.planned)}."
    said += _doubts(stands.too_undecided, (stands.undecided, stands.n), one.grade != stands.grade)
    if one.forecast is not None:
        said += f" {forecast_sentence(one.forecast)}"
    if one.corrected is not None and one.corrected.corrected is not None:
        both = one.corrected.corrected
        said += f" As two people would both say it: {percent(both.value)} ({percent_span(both)})."
    return said


def _doubts(too_undecided: bool, undecided: tuple[int, int], changed: bool) -> str:
    if too_undecided:
        skipped, n = undecided
        return f" {skipped:,} of {n:,} labels cannot tell: too many for a verdict."
    if changed:
        return " The labels may err: the same person said something else too often."
    return ""


def wins_sentence(models: tuple[str, str], one: JudgeStanding) -> str | None:
    """How often the first of two models wins, by few labels and all votes of a judge."""
    if one.wins is None or one.standing.right is None:
        return None
    first, second = models
    wins = _rate_words(one.wins, "by all of its votes alone")
    return f"With {one.judge}: {first} against {second} gets {wins}, a tie counting half."


def _rate_words(rate: Rate, alone: str) -> str:
    said = (
        f"{percent(rate.now.value)} ({percent_span(rate.now)}, valid whenever you stop; {alone} "
        f"{percent(rate.judge)}"
    )
    if rate.planned is not None:
        said += (
            f"; at the end of the plan {percent(rate.planned.value)}, {percent_span(rate.planned)}"
        )
    return said + ")"


PASS_WORDS = {
    "ok": "right often enough on passes and on failures",
    "warn": "not right often enough",
    "fail": "wrong too often",
    "unclear": "not decided yet",
}


def passing_sentence(one: PassStanding) -> str:
    """Grade, TPR and TNR of a judge that says pass or fail, and the true pass rate."""
    verdict = one.verdict
    alone = "by its own scores" if verdict is None else "by its own verdicts"
    true = f"True pass rate: {_rate_words(one.rate, alone)}."
    if verdict is None:
        return f"{one.judge}: nothing says from which score it passes an answer. {true}"
    if verdict.n < LEAST_LABELS:
        return f"{one.judge}: nothing before {LEAST_LABELS} labels of its answers."
    said = f"{one.judge}: {PASS_WORDS[one.grade]}"
    if verdict.since is not None and one.grade != "unclear":
        said += f", since label {verdict.since:,}"
    rates = [
        _class_words(rate, does, did)
        for rate, does, did in (
            (verdict.passed, "passes", "passed"),
            (verdict.failed, "fails", "failed"),
        )
    ]
    said += f". {' '.join(rates)}"
    changed = one.grade != verdict.grade
    said += _doubts(verdict.too_undecided, (verdict.undecided, verdict.n), changed)
    if verdict.too_undecided:
        return said
    if one.forecast is not None:
        of_passes, ahead = one.forecast
        said += f" What people {'passed' if of_passes else 'failed'} decides last."
        said += f" {forecast_sentence(ahead)}"
    elif few := _few_of(verdict):
        said += f" {few}"
    return f"{said} {true}"


def _class_words(rate: Standing, does: str, did: str) -> str:
    if rate.right is None:
        return f"No label is of an answer that people {did}."
    said = f"It {does} {percent(rate.right.value)} of what people {did} "
    said += f"({percent_span(rate.right)}, valid whenever you stop"
    if rate.planned is not None and rate.planned.has_interval:
        end = rate.planned
        said += f"; at the end of the plan {percent(end.value)}, {percent_span(end)}"
    return said + ")."


def _few_of(verdict: PassVerdict) -> str | None:
    for rate, did in ((verdict.passed, "pass"), (verdict.failed, "fail")):
        n = 0 if rate.right is None else rate.right.n
        if verdict.grade == "unclear" and n < LEAST_OF_CLASS:
            return f"{count(n, 'label')} {did}: a verdict needs {LEAST_OF_CLASS}."
    return None


LEVELS_NOT_GRADED = (
    "Levels are not graded here: whether scores move with people's, are high or lie close together "
    "has no interval that may be looked at after every label. Look once, after the labels that you "
    "planned, on the page Scores."
)


def levels_sentence(one: LevelStanding) -> str:
    """How near a judge's levels are to people's, and the mean level, without a grade."""
    if one.same is None or one.near is None:
        return f"{one.judge}: nothing before {LEAST_LABELS} labels of its answers."
    return (
        f"{one.judge}: people's very level on {_share(one.same)}, at most one off on "
        f"{_share(one.near)}. The mean by people is {interval(one.mean.now, '.1f')}, by its own "
        f"scores {number(one.mean.judge, '.1f')}."
    )


def _share(found: Estimate) -> str:
    return f"{percent(found.value)} ({percent_span(found)})"


def forecast_sentence(ahead: Forecast) -> str:
    """How many more labels decide, or that they probably will not."""
    if ahead.futile and ahead.left:
        return (
            f"It sits near the limit: {percent(ahead.by_end)} chance that {ahead.left:,} more "
            "labels decide. You may stop here; that costs nothing."
        )
    if ahead.low is None:
        return f"Most likely not decided within {ahead.horizon:,} more labels."
    if ahead.high is None:
        return f"Most likely decided after {ahead.low:,} more labels, or many more."
    return f"Most likely decided after {ahead.low:,} to {ahead.high:,} more labels (10–90 %)."


def repeats_sentence(shown: Shown) -> str | None:
    """How well people repeat themselves."""
    if shown.repeated is None:
        return None
    same, n = shown.repeats
    doubt = " Verdicts against a judge wait for better labels." if shown.doubtful else ""
    return f"The person repeats {same} of {n} ({percent_span(shown.repeated)}).{doubt}"


def contested_sentence(n: int) -> str | None:
    """Units on which people differ, and who settles them."""
    if not n:
        return None
    said = (
        "item is contested: people differ on it" if n == 1 else "items are contested: people differ"
    )
    return (
        f"{n:,} {said}, and no answer has most of them. Whoever labels next and has not seen "
        f"{'it' if n == 1 else 'them'} gets {'it' if n == 1 else 'them'} first, for a third look."
    )


def second_person_sentence(shown: Shown) -> str | None:
    """Of pass and fail: how often two people agree, and that their errors are not taken out."""
    if not shown.passing or shown.agree is None:
        return None
    same, n = shown.agree
    return (
        f"Two people say the same of {same} of {n}. TPR and TNR are by the first one's labels, "
        "with the errors of people left in: agreement alone does not say whether they miss "
        "failures or invent them, which move the two rates apart."
    )
