"""What the Ensembles page says in words: is a jury better than its best judge?"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from core.consensus.ensemble_scores import Difference, EnsembleScore, EnsembleTable
from core.intervals import wider
from core.words.verdicts import percent


def answer(found: EnsembleTable) -> tuple[str, Literal["finding", "warning"]]:
    """Best rule against best member, with the interval of the difference widened for the number of rules.

    A jury is better if the whole interval is above 0, worse if below, else not told apart. The interval is at
    1 − (1 − level)/rules (Bonferroni; ours): the rule shown is the best of several. Fusers that did not judge
    all labelled comparisons are no part of it: those that they judged may be the easy ones.
    """
    others = [score for score in found.scores.values() if score.kind != "member"]
    rules = [score for score in others if score.n == found.n]
    partly = [f"{score.name} ({score.n:,})" for score in others if score.n < found.n]
    apart = (
        f" Not among them, as they judged fewer of the {found.n:,}: {', '.join(partly)}." if partly else ""
    )
    best = max(rules, key=lambda score: score.accuracy.value)
    member = found.scores[found.best_member]
    gap = best.against_best
    assert gap is not None  # only the best member is compared with nothing
    low, high = widened(gap, len(rules))
    versus = f"than {member.name}, the best of {_members(found)} judges"
    said = (
        f"{best.name} is right on {percent(best.accuracy.value, 1)} of comparisons "
        f"({percent(best.accuracy.low, 1)} to {percent(best.accuracy.high, 1)}, n {best.n:,})"
    )
    measured = f"{points(gap.value)} points ({points(low)} to {points(high)})"
    if math.isnan(low):
        measured = f"{points(gap.value)} points (on one item, so its interval is unknown)"
    if low > 0:
        return f"Yes. {said}, which is more often {versus}: by {measured}.{apart}", "finding"
    if high < 0:
        return f"No. Even the best rule is less often right {versus}. {said}: {measured}.{apart}", "warning"
    told = f"Not shown. {said}, a difference of {measured} from {member.name}, its best judge."
    return f"{told}{apart}", "warning"


def widened(gap: Difference, comparisons: int) -> tuple[float, float]:
    """Interval of a difference of shares at 1 − (1 − level)/comparisons (`core.intervals.wider`)."""
    ratio = wider(comparisons, level=gap.level)
    ends = gap.value - ratio * (gap.value - gap.low), gap.value + ratio * (gap.high - gap.value)
    low, high = np.clip(ends, -1.0, 1.0).tolist()
    return low, high


def without(found: EnsembleTable, rule: str) -> str:
    """The member that a rule needs most, and the members without which it is right more often.

    The members are several, so each interval is widened for their number, as in `answer`.
    """
    members = [score.name for score in found.scores.values() if score.kind == "member"]
    gaps = {
        name: gap
        for name, gap in zip(members, found.without[found.rules.index(rule)], strict=True)
        if gap is not None
    }
    if not gaps:
        return "This rule cannot be made without any one member."
    ends = {name: widened(gap, len(gaps)) for name, gap in gaps.items()}
    needed = min(gaps, key=lambda name: gaps[name].value)
    low, high = ends[needed]
    changes = f"{points(gaps[needed].value)} points ({points(low)} to {points(high)}, n {gaps[needed].n:,})"
    if math.isnan(low):
        changes = f"{points(gaps[needed].value)} points (on one item, so its interval is unknown)"
    said = f"Without {needed} the share right changes most for the worse: by {changes}"
    if not high < 0:
        said = f"No judge is shown to be needed: without {needed} the share right changes by {changes}"
    better = [name for name, (low, _) in ends.items() if low > 0]
    return said + (f". It is right more often without {' or '.join(better)}." if better else ".")


def rules_departures(found: EnsembleTable) -> tuple[str, ...]:
    """A sentence for each rule and fuser that departs from the majority, and one for those that never do."""
    others = [score for score in found.scores.values() if score.kind != "member" and score.key != "majority"]
    never = [score.name for score in others if not score.differs]
    said = tuple(departures(score) for score in others if score.differs)
    return (*said, f"Never different from the majority of judges: {', '.join(never)}.") if never else said


def departures(score: EnsembleScore) -> str:
    """How often a rule, member or fuser departs from the majority of judges, and who is right then."""
    neither = score.differs - score.right - score.wrong
    rest = f"; neither is on {neither:,}" if neither else ""
    return (
        f"{score.name} departs from the majority of judges on {score.differs:,} of {score.n:,} comparisons: "
        f"it is right on {score.right:,} of them, the majority on {score.wrong:,}{rest}."
    )


def points(share: float) -> str:
    """A difference of shares in percentage points, signed, without a minus before 0.0."""
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}" if rounded else "0.0"


def _members(found: EnsembleTable) -> int:
    return sum(score.kind == "member" for score in found.scores.values())
