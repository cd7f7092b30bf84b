"""Sentences and tables of Agreement and Errors: with itself, with others, with people,
with gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...finding.answer import (
    Answer,
    Found,
    bad,
    difference,
    good,
    in_words,
    line,
    longest,
    measured,
    share,
)
from ...finding.check import CheckResult, combined
from ...finding.tables import TEXT, Column, frame
from ...finding.wording import (
    NAMED,
    SAYS,
    count,
    interval,
    percent,
    percent_span,
    signed,
    signed_span,
)
from ...stats.estimate import Estimate
from ..accuracy.confusion_matrix import Confusion, commonest_error
from .judge_vs_human import RULES, JudgeVsHuman, Rule
from .kappa import JudgePair
from .paired import PairedJudges
from .reliability import InterRaterReliability, Repeatability

if TYPE_CHECKING:
    import pandas as pd

LABELS_OF: dict[Rule, str] = {"majority": "its majority label", "BTD": "its held-out BTD label"}

REPEATABILITY = (
    Column("runs", "k", ",d"),
    Column("comparisons", "n_comparisons", ",d"),
    Column("ICC(3,k)", "icc_3_k", ends=("low", "high")),
    Column("F low", "icc_3_k_f.low"),
    Column("F high", "icc_3_k_f.high"),
    Column("ICC(3,1)", "icc_3_1"),
    Column("ICC(3,1) F low", "icc_3_1_f.low"),
    Column("ICC(3,1) F high", "icc_3_1_f.high"),
    Column("all runs alike", "unanimous_share"),
    Column("orders", "orders", TEXT),
    Column("note", "reason", TEXT, optional=True),
)
"""A row per judge: ICC with jackknife and F intervals."""

PAIRS = (
    Column("rater", "judge_1", TEXT),
    Column("against", "judge_2", TEXT),
    Column("comparisons", "n", ",d"),
    Column("κ", "kappa"),
    Column("alike", "raw", ends=("low", "high")),
    Column("note", "reason", TEXT, optional=True),
)
"""A row per pair of raters, or rater and gold."""

GROUPS = (
    Column("raters", lambda row: len(row.raters), ",d"),
    Column("comparisons", "n", ",d"),
    Column("alike", "raw"),
    Column("α nominal", "alpha_nominal", ends=("low", "high")),
    Column("α ordinal", "alpha_ordinal", ends=("ordinal low", "ordinal high")),
    Column("Fleiss κ", "fleiss", ends=("Fleiss low", "Fleiss high")),
    Column("comparisons of κ", "fleiss_n", ",d"),
    Column("raters each", "fleiss_raters", ",d"),
)
"""A row per group of raters: agreement of all of them at once."""

PEOPLE = (
    Column("person", "human", TEXT),
    Column("comparisons", "n", ",d"),
    Column("accuracy against the others", "pa", ends=("low", "high")),
)
"""A row per person, against the other people."""

JUDGES_BESIDE_PEOPLE = (
    Column("person", "human", TEXT),
    Column("judge", "judge", TEXT),
    Column("labels", "rule", TEXT),
    Column("comparisons", "n", ",d"),
    Column("person's accuracy", "human_pa"),
    Column("judge's accuracy", "judge_pa"),
    Column("difference", "difference", "+.3f", ends=("low", "high")),
    Column("judge wins", "wins", TEXT),
    Column("clearly", "clearly", TEXT),
    Column("note", "reason", TEXT, optional=True),
)
"""A row per judge, person and rule."""


MEASURES = {
    "right": "right",
    "flips": "changed by order",
    "brier": "squared error of its confidence",
    "overconfidence": "overconfidence",
}
"""What a measure of two judges is called."""

DIFFERENCES = (
    Column("measure", lambda row: MEASURES[row.measure], TEXT),
    Column("first", "one"),
    Column("second", "two"),
    Column("difference", "difference", "+.3f", ends=("low", "high")),
    Column("items", "difference.n", ",d"),
    Column("note", "reason", TEXT, optional=True),
)
"""A row per measure of two judges on what both judged."""


COMPARED_BY = {
    "right": ("right", "{more} is right more often than {less}."),
    "flips": ("reversed", "{more} changes more verdicts with the order than {less}."),
    "brier": ("Brier", "{more} is further off with its confidence than {less}."),
}
"""What a difference is called in one word, and what is said first of one that is not 0, in the
order in which it counts.
"""


def compared(one: str, two: str, found: PairedJudges) -> Answer:
    """Which of two judges is better at what, and on how many comparisons they part."""
    rows = {
        row.measure: row.difference
        for row in found.measures
        if row.measure in COMPARED_BY and row.difference and row.difference.has_interval
    }
    first = next((name for name, row in rows.items() if row.low > 0 or row.high < 0), None)
    turned = first is not None and rows[first].value < 0
    more, less = (two, one) if turned else (one, two)
    sign = -1 if turned else 1
    figures = [
        f"{COMPARED_BY[name][0]} {signed(100 * sign * row.value, 1)} points "
        f"({signed_span(min(ends), max(ends), 1)})"
        for name, row in rows.items()
        for ends in [(100 * sign * row.low, 100 * sign * row.high)]
    ]
    apart = f"differ on {percent(len(found.parted) / found.n)} of {found.n:,}"
    items = [count(max(row.n for row in rows.values()), "item")] if rows else []
    return Answer(
        headline=COMPARED_BY[first][1].format(more=more, less=less)
        if first is not None
        else f"Which of {one} and {two} is better is open.",
        figures=line([*figures, apart, *items]),
        good=first is not None,
    )


def repeatabilities(results: Mapping[str, Repeatability], strong: float) -> pd.DataFrame:
    """Table of `REPEATABILITY`, and which judges reach the mark of a `strong` ICC(3,k)."""
    found = frame(REPEATABILITY, results.values())
    found.insert(0, "judge", list(results))
    reached = [one.icc_3_k and one.icc_3_k.value >= strong for one in results.values()]
    found.insert(1, "strong", reached)
    return found


def pair_table(pairs: Iterable[JudgePair]) -> pd.DataFrame:
    """Table of `PAIRS`; those without a shared comparison are left out."""
    return frame(PAIRS, [pair for pair in pairs if pair.n])


def agreement(
    itself: Sequence[CheckResult],
    others: CheckResult,
    *,
    beside_people: Sequence[JudgeVsHuman] = (),
) -> CheckResult:
    """How a rater agrees with itself, with others and, where people voted, beside each of them.

    itself, others : its results on repeatability and coins, and on agreement.  beside_people : of
        this judge, all rules.
    The grade is the worst of them.
    """
    return combined(
        "agreement", (*itself, others), *([wins(beside_people)] if beside_people else [])
    )


def wins(beside_people: Sequence[JudgeVsHuman]) -> str:
    """Of how many people a judge's labels are nearer to the mode of the others, by rule."""
    parts = []
    for rule in RULES:
        known = [one for one in beside_people if one.rule == rule and one.wins is not None]
        if known:
            won = sum(bool(one.wins) for one in known)
            clearly = sum(bool(one.clearly) for one in known)
            sure = f" ({clearly} of them clearly)" if won else ""
            parts.append(f"{LABELS_OF[rule]} beats {won} of {len(known)} people{sure}")
    if not parts:
        return "It cannot be set beside people: no two of them labelled what it judged."
    return f"Compared with the mode of the other people, {', and '.join(parts)}."


def screening(results: Mapping[str, Repeatability], mark: float) -> str:
    """How many judges reach a mark of ICC(3,k), and who does not."""
    known = {judge: one.icc_3_k for judge, one in results.items() if one.icc_3_k}
    if not known:
        return "No ICC is defined here, so no judge can be screened."
    below = sorted((one.value, judge) for judge, one in known.items() if one.value < mark)
    sure = sum(one.low >= mark for one in known.values())
    found = (
        f"{len(known) - len(below)} of {len(known)} reach ICC(3,k) {mark:.2f}, {sure} of them with "
        "their whole interval."
    )
    if not below:
        return found
    named = ", ".join(f"{judge} ({value:.2f})" for value, judge in below[:NAMED])
    more = f" and {len(below) - NAMED} more" if len(below) > NAMED else ""
    return f"{found} Below it: {named}{more}."


def together(group: str, found: InterRaterReliability) -> str:
    """One group's Krippendorff α with its interval, and what it rests on."""
    if found.alpha_nominal is None or found.alpha_ordinal is None:
        return f"{group}: Krippendorff α is unknown: {found.reason}"
    return (
        f"{group} ({len(found.raters)}): Krippendorff α {interval(found.alpha_nominal)}, ordinal "
        f"{interval(found.alpha_ordinal)}, on {count(found.n, 'comparison')} labelled by at least "
        "two of them."
    )


def confusion(accuracy: CheckResult, value: Confusion, *, noun: str = "votes") -> CheckResult:
    """The share right and the commonest error of a table, above the judge's own accuracy, which
    grades it.

    noun : what the table compares with gold.
    """
    unit = f"decided {noun}" if value.ties in ("drop_votes", "drop_both") else noun
    gold_kept = "untied gold" if value.ties in ("drop_gold", "drop_both") else "gold"
    if value.accuracy is None:
        return accuracy
    parts = [
        f"Of {value.n:,} {unit} with {gold_kept}, {percent(value.accuracy.value)} are exactly "
        f"gold's ({percent_span(value.accuracy)})."
    ]
    if worst := commonest_error(value):
        gold, says, times = worst
        errors = value.n - int(value.counts.trace())
        parts.append(
            f"The commonest error: saying {SAYS[says]} where gold says {SAYS[gold]} ({times:,} of "
            f"{errors:,} errors)."
        )
    return replace(accuracy, sentence=" ".join([*parts, accuracy.sentence]))


def over_time_answer(judge: str, found: Mapping[str, Estimate]) -> Answer:
    """Whether a judge is right less often at one time than at another.

    found : share right in each period, of two or more.
    """
    worst = min(found, key=lambda period: found[period].value)
    best = max(found, key=lambda period: found[period].value)
    apart = found[worst].high < found[best].low
    headline = (
        f"{judge} is right less often in {worst} than in {best}."
        if apart
        else f"{judge} is not shown to be right more often at one time than at another."
    )
    said = [f"{period} {share(found[period])} right" for period in dict.fromkeys((best, worst))]
    figures = line([*said, count(len(found), "period")])
    return Answer(headline=headline, figures=figures, good=not apart)


def errors_answer(judge: str, accuracy: CheckResult, value: Confusion, noun: str) -> Answer:
    """Which kind of error a judge makes most.

    noun : what is compared with gold, `votes` or the labels made of them.
    """
    if value.accuracy is None:
        return Answer(headline=f"No gold label says where {judge} errs.", good=False)
    own = judge if noun == "votes" else f"The {noun} of {judge}"
    one = noun == "votes"
    counts, kinds = value.counts, _kinds_of_error(value)
    wrong = {kind: cases for kind, (cases, _) in kinds.items()}
    most = max(wrong, key=lambda kind: wrong[kind])
    cases, of = kinds[most]
    beats = accuracy.interval is None or accuracy.interval.excludes(0.5)
    if not cases:
        headline = f"{own} {'gives' if one else 'give'} gold's label in every case."
    else:
        verb = ERRORS[most][0 if one else 1]
        headline = f"{own} {verb.format(share=percent(cases / of))}."
    if not beats:
        headline = f"{judge} is not shown to be right more often than a coin where gold decides."
    commonest = commonest_error(value)
    said = ""
    if commonest:
        gold, says, times = commonest
        errors = value.n - int(counts.trace())
        said = f"commonest: {SHORT[says]} for {SHORT[gold]}, {times:,} of {errors:,}"
    constant = value.labels[int(counts.sum(axis=1).argmax())]
    always = f'"always {SHORT[constant].removeprefix("a ")}" {percent(value.constant or 0.0)}'
    return Answer(
        headline=headline,
        figures=line([f"right label {share(value.accuracy)}, {always}", said]),
        good=good(accuracy),
    )


SHORT = {1: "A", 0: "a tie", -1: "B"}
ERRORS = {
    "wins": (
        "names a winner in {share} of the cases that gold calls a tie",
        "name a winner in {share} of the cases that gold calls a tie",
    ),
    "ties": (
        "calls a tie in {share} of the cases that gold decides",
        "call a tie in {share} of the cases that gold decides",
    ),
    "opposite": (
        "picks the wrong answer in {share} of the cases that gold decides",
        "pick the wrong answer in {share} of the cases that gold decides",
    ),
}
"""A kind of error as a judge makes it, and as labels do."""


def _kinds_of_error(value: Confusion) -> dict[str, tuple[int, int]]:
    """Kind → cases of it, and the cases in which it could be made."""
    counts = value.counts
    ties, decided = int(counts[1].sum()), int(counts[0].sum() + counts[2].sum())
    return {
        "wins": (int(counts[1, 0] + counts[1, 2]), ties),
        "ties": (int(counts[0, 1] + counts[2, 1]), decided),
        "opposite": (int(counts[0, 2] + counts[2, 0]), decided),
    }


def agreement_answer(
    found: Mapping[str, Found],
    rater: str,
    beside_people: Estimate | None,
    pairs: Iterable[JudgePair] = (),
) -> Answer:
    """Whether judges repeat themselves, and how one of them agrees with people, or else which two
    agree least.

    found : repeatability and coins of every judge.  beside_people : of `rater`, how much more often
        than a left-out person it says what the others say.  pairs : of raters.
    """
    itself = found[rater]["repeatability"]
    known = [
        (pair, pair.raw)
        for pair in pairs
        if pair.raw is not None and {pair.judge_1, pair.judge_2} <= found.keys()
    ]
    asked = any(of["repeatability"].interval for of in found.values())
    parts = [_repeats(found)] if asked or not known else []
    apart = None
    if not asked and beside_people is None and known:
        pair, apart = min(known, key=lambda one: one[1].value)
        alike = percent(apart.value)
        parts = [f"{pair.judge_1} and {pair.judge_2} agree least: on {alike} of comparisons"]
    if beside_people is not None:
        parts.append(_with_people(rater, beside_people))
    headline = longest(["; ".join(parts), *reversed(parts)], found)
    return Answer(
        headline=f"{headline}.",
        figures=line(
            [
                itself.interval and f"ICC(3,k) {measured(itself.interval)}",
                beside_people and f"people {difference(beside_people, unit=' points')}",
                apart and f"alike {share(apart)}",
                apart and pair.kappa and f"κ {measured(pair.kappa)}",
                itself.interval and count(itself.interval.n, "item"),
            ]
        ),
        good=not bad(itself) and not bad(found[rater].get("coin_share")),
    )


def _repeats(found: Mapping[str, Found]) -> str:
    asked = {
        name: of["repeatability"] for name, of in found.items() if of["repeatability"].interval
    }
    steady = [name for name, result in asked.items() if good(result)]
    loose = [name for name, result in asked.items() if bad(result)]
    if not asked:
        return "Nobody was asked twice, so nothing is known of repeats"
    if len(steady) == len(asked):
        if len(asked) == 1:
            return f"{steady[0]} repeats itself well"
        return f"All {in_words(len(asked))} judges repeat themselves well"
    if loose:
        worst = min(loose, key=lambda name: asked[name].interval.value)  # type: ignore[union-attr]
        others = f", nor do {in_words(len(loose) - 1)} more" if len(loose) > 1 else ""
        return f"{worst} does not repeat itself{others}"
    if len(asked) == 1:
        return f"{next(iter(asked))} is not shown to repeat itself"
    few = in_words(len(steady)).capitalize() if steady else "None"
    do = "is shown to repeat itself" if len(steady) < 2 else "are shown to repeat themselves"
    return f"{few} of {in_words(len(asked))} judges {do}"


def _with_people(rater: str, beside: Estimate) -> str:
    if not beside.excludes(0):
        return f"{rater} agrees with people about as people do"
    how = "more" if beside.value > 0 else "less"
    return f"{rater} agrees with people {how} than people do"


def cell_key(gold: int, verdict: int) -> str:
    """Name of a cell, also what a select box shows."""
    return f"gold says {SAYS[gold]}, judge says {SAYS[verdict]}"


def _error(table: Confusion) -> str:
    worst = commonest_error(table)
    return cell_key(*worst[:2]) if worst else "none"


def _errors(table: Confusion) -> int:
    worst = commonest_error(table)
    return worst[2] if worst else 0


ACCURACY = (
    Column("n", "n", ",d"),
    Column("share right", "accuracy", ends=("low", "high")),
    Column("commonest error", _error, TEXT),
    Column("of it", _errors, ",d"),
    Column("best constant", "constant"),
    Column("right: A better", lambda table: float(table.share.value[2, 2])),
    Column("right: a tie", lambda table: float(table.share.value[1, 1])),
    Column("right: B better", lambda table: float(table.share.value[0, 0])),
)
"""A row per judge: accuracy, its commonest error, and the share right where gold says each label.
"""
