"""What the Ensembles page says in words: is a jury better than its best judge?"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ..consensus.ensembles import Difference, EnsembleScore, EnsembleTable
from ..stats.intervals import bonferroni_factor
from .format import percent
from .verdicts import FEW


def answer(found: EnsembleTable) -> tuple[str, Literal["finding", "warning"]]:
    """Best rule against the best member treated like it, first where the most accurate rule stands.

    BTD is fitted on gold labels and is compared with members by BTD too (`EnsembleScore.against`); rules that
    need no labels are compared with members as they vote, so there are two answers. A jury is better if the
    whole interval of the difference is above 0, worse if below, else not told apart. The rule is the best of
    several: to be better, its interval must be above 0 when widened for their number too (Bonferroni; ours).
    Fusers that did not judge all labelled comparisons are no part of it: those that they judged may be the
    easy ones.
    """
    others = [score for score in found.scores.values() if score.kind in ("rule", "fuser")]
    rules = [score for score in others if score.n == found.n]
    partly = [f"{score.name} ({score.n:,})" for score in others if score.n < found.n]
    best = max(rules, key=lambda score: score.accuracy.value)
    other = [score for score in rules if score.fitted != best.fitted]
    word, said = _told(found, best, len(rules))
    if other:
        second = max(other, key=lambda score: score.accuracy.value)
        also, rest = _told(found, second, len(rules))
        how = "With a fit on gold labels" if second.fitted else "Without gold labels"
        said = f"{said} {how}: {also[0].lower()}{also[1:]}. {rest}"
    if partly:
        said += f" Not among them, as they judged fewer of the {found.n:,}: {', '.join(partly)}."
    return f"{word}. {said}", "finding" if word == "Yes" else "warning"


def _told(found: EnsembleTable, best: EnsembleScore, rules: int) -> tuple[str, str]:
    """Yes, No or Not shown, and why, of one rule against the best member treated like it."""
    gap = best.against_best
    # Only members are compared with nothing.
    assert gap is not None
    assert best.against is not None
    member = found.scores[best.against]
    judges = sum(score.kind == "member" for score in found.scores.values())
    taken = ", as they vote or by BTD," if best.fitted else ""
    versus = f"than {member.name} ({percent(member.accuracy.value, 1)}), the best of {judges} judges{taken}"
    said = (
        f"{best.name} is right on {percent(best.accuracy.value, 1)} of comparisons "
        f"({percent(best.accuracy.low, 1)} to {percent(best.accuracy.high, 1)}, n {best.n:,})"
    )
    measured = _measured(gap)
    if widened(gap, rules)[0] > 0:
        return (
            "Yes",
            f"{said}, which is more often {versus.rstrip(',')}: by {measured}{_among(rules, 'rules')}.",
        )
    if gap.high < 0:
        return "No", f"{said}, which is less often {versus.rstrip(',')}: by {measured}."
    rival = versus.removeprefix("than ").rstrip(",")
    if 1 < gap.items < FEW:
        few = f"{gap.items} items are too few to tell"
        return "Not shown", f"{said}, a difference of {points(gap.value)} points from {rival}; {few}."
    if gap.low > 0:
        measured += f", within chance for the best of {rules} rules,"
    return "Not shown", f"{said}, a difference of {measured} from {rival}."


def widened(gap: Difference, comparisons: int) -> tuple[float, float]:
    """Interval of a difference of shares at 1 − (1 − level)/comparisons (`bonferroni_factor`)."""
    ratio = bonferroni_factor(comparisons, level=gap.level)
    ends = gap.value - ratio * (gap.value - gap.low), gap.value + ratio * (gap.high - gap.value)
    low, high = np.clip(ends, -1.0, 1.0).tolist()
    return low, high


def without(found: EnsembleTable, rule: str) -> str:
    """The member that a rule needs most, and the members without which it is right more often.

    Intervals are those of the figure and table. The members are several, so one is named only if its interval
    leaves out 0 when widened for their number too.
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
    gap = gaps[needed]
    changes, among = _measured(gap, counted=True), _among(len(gaps), "judges")
    if ends[needed][1] < 0:
        said = f"Without {needed} the share right changes most for the worse: by {changes}{among}"
    else:
        if gap.high < 0:
            changes += f", within chance for the worst of {len(gaps)}"
        elif 1 < gap.items < FEW:
            changes = f"{points(gap.value)} points; {gap.items} items are too few to tell"
        said = f"No judge is shown to be needed: without {needed} the share right changes by {changes}"
    better = [name for name, (low, _) in ends.items() if low > 0]
    return said + (f". It is right more often without {' or '.join(better)}." if better else ".")


def _measured(gap: Difference, *, counted: bool = False) -> str:
    """A difference in points with the interval that tables and figures show."""
    if math.isnan(gap.low):
        return f"{points(gap.value)} points (on one item, so its interval is unknown)"
    n = f", n {gap.n:,}" if counted else ""
    return f"{points(gap.value)} points ({points(gap.low)} to {points(gap.high)}{n})"


def _among(several: int, what: str) -> str:
    return f", beyond chance among {several} {what}" if several > 1 else ""


def rules_departures(found: EnsembleTable) -> tuple[str, ...]:
    """A sentence for each rule and fuser that departs from the majority, and one for those that never do."""
    others = [
        score
        for score in found.scores.values()
        if score.kind in ("rule", "fuser") and score.key != "majority"
    ]
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
