"""Sentences and table of the page Juries: is a jury better than its best judge?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...finding.answer import Answer, difference, line, named
from ...finding.tables import Column
from ...finding.wording import count, percent, percent_span, points, points_ends
from ...stats.estimate import Estimate
from ...stats.intervals import bonferroni_interval
from .method import RULES, Difference, EnsembleScore, EnsembleTable

FEW = 30
"""Fewer items than this: a difference is not called shown or not shown."""
WITHOUT = (
    Column("without", lambda row: row[0], ""),
    Column("n", lambda row: row[1].n, "d"),
    Column("change of share right", lambda row: row[1], ends=("low", "high")),
)
"""Rows of `without_rows`."""


def score_columns(found: EnsembleTable) -> tuple[Column, ...]:
    """Members, rules and fusers, a row each."""

    def measured(field: str) -> Callable[[EnsembleScore], float | None]:
        return lambda score: getattr(score.calibration, field, None)

    epsilon = next((score.th.epsilon for score in found.scores.values() if score.th), None)
    return (
        Column("who", "name", ""),
        Column("kind", "kind", ""),
        Column("fitted on gold labels", "fitted", ""),
        Column("n", "n", "d"),
        Column("share right", "accuracy", ends=("low", "high")),
        Column(
            "compared with", lambda score: score.against and found.scores[score.against].name, ""
        ),
        Column("minus that one", "against_best", ends=("minus low", "minus high")),
        Column("the same model alone", "alone", ""),
        Column("minus it alone", "against_alone", ends=("alone low", "alone high")),
        Column("differs from majority", "differs", "d"),
        Column("right where it differs", "right", "d"),
        Column("majority right where it differs", "wrong", "d"),
        Column(
            f"TH-Score, ε {epsilon:g}" if epsilon else "TH-Score",
            lambda score: score.th and score.th.th.value,
        ),
        *(Column(name, measured(name.lower())) for name in ("ECE", "ACE", "MCE")),
        Column("Brier", measured("brier")),
        Column("NLL", measured("nll")),
        Column("cost", "cost"),
    )


def jury_sentence(found: EnsembleTable) -> str:
    """Best rule against the best member treated like it, first where the most accurate rule stands.

    BTD is fitted on gold labels and is compared with members by BTD too (`EnsembleScore.against`);
    rules that need no labels are compared with members as they vote, so there are two answers. A
    jury is better if the whole interval of the difference is above 0, worse if below, else not
    shown to differ. The rule is the best of several: to be better, its interval must be above 0
    when widened for their number too (Bonferroni; ours). Fusers that did not judge all labelled
    comparisons are no part of it: those that they judged may be the easy ones.
    """
    others = [score for score in found.scores.values() if score.kind in ("rule", "fuser")]
    rules = [score for score in others if score.n == found.n]
    partly = [f"{score.name} ({score.n:,})" for score in others if score.n < found.n]
    best = max(rules, key=lambda score: score.accuracy.value)
    other = [score for score in rules if score.fitted != best.fitted]
    word, sentence = _compared(found, best, len(rules))
    if other:
        second = max(other, key=lambda score: score.accuracy.value)
        also, rest = _compared(found, second, len(rules))
        how = "With a fit on gold labels" if second.fitted else "Without gold labels"
        sentence = f"{sentence} {how}: {also[0].lower()}{also[1:]}. {rest}"
    if partly:
        sentence += (
            f" Not among them, as they judged fewer of the {found.n:,}: {', '.join(partly)}."
        )
    return f"{word}. {sentence}"


def jury_answer(found: EnsembleTable) -> Answer:
    """Whether the most accurate jury is shown to beat the best judge treated like it."""
    rules = [
        score
        for score in found.scores.values()
        if score.kind in ("rule", "fuser") and score.n == found.n
    ]
    best = max(rules, key=lambda score: score.accuracy.value)
    word, _ = _compared(found, best, len(rules))
    gap = best.against_best
    assert gap is not None
    assert best.against is not None
    member = found.scores[best.against]
    alone = f"{member.name} by BTD alone" if best.fitted else f"{member.name} alone"
    headline = {
        "Yes": f"The jury by {best.name} is right more often than {alone}.",
        "No": f"Even the best jury here is right less often than {alone}.",
    }.get(word, f"No jury here is shown to beat {alone}.")
    return Answer(
        headline=headline,
        figures=line(
            [
                f"{best.name} {percent(best.accuracy.value, 1)} against "
                f"{percent(member.accuracy.value, 1)}, {difference(gap, unit=' points')}",
                f"{best.n:,} comparisons",
            ]
        ),
        good=word == "Yes",
    )


def _compared(found: EnsembleTable, best: EnsembleScore, rules: int) -> tuple[str, str]:
    """Yes, No or Not shown, and why, of one rule against the best member treated like it."""
    gap = best.against_best
    # Only members are compared with nothing.
    assert gap is not None
    assert best.against is not None
    member = found.scores[best.against]
    judges = sum(score.kind == "member" for score in found.scores.values())
    rival = f"{member.name} ({percent(member.accuracy.value, 1)}), the best of {judges} judges"
    rival += ", as they vote or by BTD" if best.fitted else ""
    right = (
        f"{best.name} is right on {percent(best.accuracy.value, 1)} of comparisons "
        f"({percent_span(best.accuracy, 1)}, n {best.n:,})"
    )
    measured = _measured(gap)
    if widened(gap, rules).low > 0:
        return (
            "Yes",
            f"{right}, which is more often than {rival}: by {measured}{_among(rules, 'rules')}.",
        )
    if gap.high < 0:
        return "No", f"{right}, which is less often than {rival}: by {measured}."
    if 1 < gap.items < FEW:
        few = f"{gap.items} items are too few to tell"
        return (
            "Not shown",
            f"{right}, a difference of {points(gap.value)} points from {rival}; {few}.",
        )
    if gap.low > 0:
        measured += f", within chance for the best of {rules} rules,"
    return "Not shown", f"{right}, a difference of {measured} from {rival}."


def widened(gap: Difference, comparisons: int) -> Estimate:
    """A difference of shares with its interval at 1 − (1 − level)/comparisons
    (`bonferroni_interval`).
    """
    wide = bonferroni_interval(gap, comparisons)
    return replace(wide, low=max(wide.low, -1.0), high=min(wide.high, 1.0))


def without_rows(found: EnsembleTable, rule: str) -> dict[str, Difference]:
    """Change of a rule's accuracy when each member leaves; empty where no rule is left of
    so few.
    """
    members = [score.name for score in found.scores.values() if score.kind == "member"]
    gaps = zip(members, found.without[found.rules.index(rule)], strict=True)
    return {name: gap for name, gap in gaps if gap is not None}


def without_answer(found: EnsembleTable, rule: str) -> Answer:
    """The member that a rule needs most, and the members without which it is right more often.

    Intervals in the figures are those of the figure and table. The members are several, so one is
    named in the headline only if its interval leaves out 0 when widened for their number too.
    """
    gaps, name = without_rows(found, rule), RULES[rule].name
    if not gaps:
        return Answer(headline=f"{name} cannot be made without any one member.")
    wide = {member: widened(gap, len(gaps)) for member, gap in gaps.items()}
    needed = min(gaps, key=lambda member: gaps[member].value)
    better = [member for member, one in wide.items() if one.low > 0]
    if 1 < gaps[needed].items < FEW:
        headline = f"{count(gaps[needed].items, 'item')} are too few to tell whom {name} needs."
    elif wide[needed].high < 0:
        headline = f"{name} is right less often without {needed}"
        headline += f", more often without {named(better)}." if better else "."
    elif better:
        headline = f"{name} is right more often without {named(better)}."
    else:
        headline = f"{name} is not shown to need any one judge."
    shown = dict.fromkeys([needed, *better])
    return Answer(
        headline=headline,
        figures=line(
            [
                *(f"without {one} {difference(gaps[one], unit=' points')}" for one in shown),
                f"{gaps[needed].n:,} comparisons",
            ]
        ),
        good=not better,
    )


def _measured(gap: Difference, *, counted: bool = False) -> str:
    """A difference in points with the interval that tables and figures show."""
    if not gap.has_interval:
        return f"{points(gap.value)} points (on one item, so its interval is unknown)"
    ends = points_ends(gap)
    return (
        f"{points(gap.value)} points {ends[:-1]}, n {gap.n:,})"
        if counted
        else f"{points(gap.value)} points {ends}"
    )


def _among(several: int, what: str) -> str:
    return f", beyond chance among {several} {what}" if several > 1 else ""


def fusers_answer(found: EnsembleTable) -> Answer | None:
    """Whether reading the members' verdicts helps the same model alone; None without a pair."""
    gaps = {
        score.name: (score.alone, score.against_alone)
        for score in found.scores.values()
        if score.against_alone is not None
    }
    if not gaps:
        return None
    helped = [name for name, (_, gap) in gaps.items() if gap.items >= FEW and gap.low > 0]
    harmed = [name for name, (_, gap) in gaps.items() if gap.items >= FEW and gap.high < 0]
    parts = [f"helps {named(helped)}" if helped else "", f"harms {named(harmed)}" if harmed else ""]
    said = " and ".join(filter(None, parts)) or f"is not shown to help or harm {named([*gaps])}"
    return Answer(
        headline=f"Reading the others' verdicts {said}.",
        figures=line(
            f"{name} against {alone} alone {difference(gap, unit=' points')}, n {gap.n:,}"
            for name, (alone, gap) in gaps.items()
        ),
        good=not harmed,
    )


def departures_answer(found: EnsembleTable) -> Answer:
    """Of the rules and fusers that differ from the majority of judges, which are right more often
    there, by the counts.
    """
    others = [
        score
        for score in found.scores.values()
        if score.kind in ("rule", "fuser") and score.key != "majority" and score.differs
    ]
    ahead = [score.name for score in others if score.right > score.wrong]
    if not others:
        headline = "No rule ever departs from the majority of judges."
    elif ahead:
        verb = "is" if len(ahead) == 1 else "are"
        headline = f"Where they differ, {named(ahead)} {verb} right more often than the majority."
    else:
        headline = "Where they differ, no rule is right more often than the majority."
    return Answer(
        headline=headline,
        figures=line(
            f"{score.name} right on {score.right:,} of {score.differs:,}, majority on "
            f"{score.wrong:,}"
            for score in others
        ),
    )


def fusers_alone(found: EnsembleTable) -> tuple[str, ...]:
    """Of each fuser whether reading the members' verdicts helps the same model alone."""
    said = []
    for score in found.scores.values():
        gap = score.against_alone
        if gap is None:
            continue
        if 1 < gap.items < FEW:
            word = f"{gap.items} items are too few to tell whether reading the others helps"
        elif gap.low > 0:
            word = "reading the others helps"
        elif gap.high < 0:
            word = "reading the others harms"
        else:
            word = "reading the others is not shown to help or harm"
        said.append(
            f"{score.name} against {score.alone} alone: {_measured(gap, counted=True)}; {word}."
        )
    return tuple(said)


def rules_departures(found: EnsembleTable) -> tuple[str, ...]:
    """A sentence for each rule and fuser that departs from the majority, and one for those that
    never do.
    """
    others = [
        score
        for score in found.scores.values()
        if score.kind in ("rule", "fuser") and score.key != "majority"
    ]
    never = [score.name for score in others if not score.differs]
    sentences = tuple(departures(score) for score in others if score.differs)
    return (
        (*sentences, f"Never different from the majority of judges: {', '.join(never)}.")
        if never
        else sentences
    )


def departures(score: EnsembleScore) -> str:
    """How often a rule, member or fuser differs from the majority of judges, and who is right
    there.
    """
    neither = score.differs - score.right - score.wrong
    rest = f"; neither is on {neither:,}" if neither else ""
    return (
        f"{score.name} departs from the majority of judges on {score.differs:,} of {score.n:,} "
        "comparisons: "
        f"it is right on {score.right:,} of them, the majority on {score.wrong:,}{rest}."
    )
