"""What labels show, in sentences."""

from __future__ import annotations

from ..labelling.shown import JudgeStanding, Shown
from ..labelling.verdict import LEAST_LABELS, Forecast
from ..wording import count, percent, percent_span

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
    if stands.too_undecided:
        said += f" {stands.undecided:,} of {stands.n:,} labels cannot tell: too many for a verdict."
    elif one.grade != stands.grade:
        said += " The labels may err: the same person said something else too often."
    if one.forecast is not None:
        said += f" {forecast_sentence(one.forecast)}"
    if one.corrected is not None and one.corrected.corrected is not None:
        both = one.corrected.corrected
        said += f" As two people would both say it: {percent(both.value)} ({percent_span(both)})."
    return said


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
