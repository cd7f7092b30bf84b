"""Does it repeat itself, toss coins, and say what people say?"""

from __future__ import annotations

from dataclasses import replace

from ...finding.check import Check, Grade, Limits, Unknown, differs, points_span, share_span
from ...finding.evidence import Evidence
from ...finding.wording import count, interval, percent
from ...stats.estimate import Estimate
from ...store import vote_queries as queries
from . import results
from .reliability import OTHER_TEMPERATURES
from .steadiness import LEAST_ITEMS

ICC_STRONG = 0.90
"""ICC(3,k) of a strong judge (Source: [RAEE] §2)."""
ONE_LABEL = 0.90
"""A larger share of one label leaves κ without meaning."""


def _icc(evidence: Evidence) -> Estimate | Unknown:
    repeats = evidence[results.REPEATABILITY]
    if repeats is None:
        return Unknown("it judged no comparison twice in the same way")
    if evidence.judge in evidence.counted.ask(queries.of_several_temperatures):
        return Unknown(OTHER_TEMPERATURES)
    if repeats.icc_3_k is None:
        return Unknown(str(repeats.reason))
    if repeats.icc_3_k.value == 1.0:
        return Estimate(1.0, 1.0, 1.0, n=repeats.n_items, level=repeats.level)
    return replace(repeats.icc_3_k, n=repeats.n_items)


def _icc_sentence(evidence: Evidence, icc: Estimate) -> str:
    repeats = evidence[results.REPEATABILITY]
    k = repeats.k if repeats else 0
    strong = icc.has_interval and icc.low >= ICC_STRONG
    return (
        f"The mean of {k} runs has ICC(3,k) {interval(icc)} on {count(icc.n, 'item')}"
        f"{', a strong judge by the 0.90 mark' if strong else ''}"
    )


def _unanimous(evidence: Evidence, _: Estimate, __: Grade) -> str:
    """A judge that nearly always says the same has a low ICC too, so what repeats change is said by
    itself.
    """
    repeats = evidence[results.REPEATABILITY]
    share = repeats.unanimous_share if repeats else None
    return "" if share is None else f"All runs agree on {percent(share)}."


REPEATABILITY = Check(
    name="repeatability",
    title="repeats",
    gravity=120,
    fault="does not repeat itself",
    subject="Repeatability",
    question="Does it say the same when asked again?",
    page="agreement",
    limits=Limits(
        "at_least",
        0.75,
        0.50,
        "Koo & Li (2016): good from .75, poor below .50, from 30 items.",
        items=30,
        unit="number",
    ),
    needs="repeated votes (column run)",
    more_of="asked more than once",
    advice="Ask several times and take the majority: one vote is a draw of luck.",
    estimate=_icc,
    sentence=_icc_sentence,
    then=_unanimous,
)


def _coin(evidence: Evidence) -> Estimate | Unknown:
    return evidence[results.COIN_SHARE] or Unknown(
        f"it needs {LEAST_ITEMS} items with four votes in one order, or two in each, and a judge "
        "that is steady on most"
    )


def _coin_sentence(_: Evidence, coin: Estimate) -> str:
    return f"As unsteady as a coin on {percent(coin.value)} of comparisons ({share_span(coin)})"


COIN_SHARE = Check(
    name="coin_share",
    title="coin tosses",
    gravity=110,
    fault="tosses coins on some comparisons",
    subject="The share of comparisons on which it tosses a coin",
    question="Are there comparisons on which it tosses a coin?",
    page="agreement",
    limits=Limits(
        "at_most",
        0.05,
        None,
        "Never a failure: more votes per comparison, or a person, settle those comparisons.",
        items=LEAST_ITEMS,
    ),
    needs="four votes per comparison in one order, or two in each",
    more_of="asked four times",
    advice="Where its votes are split, ask another judge or a person: more of its own votes are "
    "coins.",
    estimate=_coin,
    sentence=_coin_sentence,
)


def _beside_people(evidence: Evidence) -> Estimate | Unknown:
    """Against a left-out person, where there is no gold; with another judge it is described, not
    graded.
    """
    against_people = None if evidence.counted.gold == "humans" else evidence[results.BESIDE_PEOPLE]
    if against_people is not None:
        if not evidence.has_gold:
            return against_people
        said = _people_sentence(evidence, against_people)
        return Unknown(f"there is gold; {said[0].lower()}{said[1:]}", False)
    agreed, judge = evidence.counted[results.AGREEMENT], evidence.judge
    pair = evidence[results.PARTNER]
    if pair is None:
        shared = "" if len(agreed.judges) < 2 else " on the same comparisons"
        return Unknown(f"no other judge voted{shared}")
    other = pair.judge_2 if pair.judge_1 == judge else pair.judge_1
    if pair.raw is None:
        return Unknown(f"with {other}: {pair.reason}")
    said = f"it agrees with {other} on {percent(pair.raw.value)} of {count(pair.n, 'comparison')}"
    if pair.kappa is not None and _largest_label(evidence) <= ONE_LABEL:
        said += f", κ {interval(pair.kappa)}"
    kappa = evidence.counted[results.PEOPLE_KAPPA]
    if kappa is not None:
        said += f"; people agree with each other at κ {kappa:.2f}"
    return Unknown(f"{said}. Differing from another judge is no fault of either", False)


def _largest_label(evidence: Evidence) -> float:
    votes = evidence.votes
    if votes is None:
        return 1.0
    of_each = votes.plus.sum(), votes.tie.sum(), votes.minus.sum()
    return float(max(of_each) / sum(of_each))


def _people_sentence(_: Evidence, against_people: Estimate) -> str:
    return (
        f"It says what the other people say {differs(against_people.value, 'more', 'less')} often "
        f"than a left-out person does ({points_span(against_people)})"
    )


def _people_rate(evidence: Evidence, _: Estimate, __: Grade) -> str:
    rate = evidence[results.PEOPLE_RATE]
    if rate is None:
        return ""
    if rate.low <= 0.5:
        return (
            f"The people agree with each other on {percent(rate.value)}, no more than chance: they "
            "are no reference."
        )
    return f"A left-out person says what the others say in {percent(rate.value)}."


AGREEMENT = Check(
    name="agreement",
    title="people",
    gravity=20,
    fault="agrees with people less than people do",
    not_known="people are too few to say how it agrees with them",
    not_shown="is not shown to agree with people as people do",
    subject="Agreement",
    question="Does it say what people say?",
    page="agreement",
    limits=Limits(
        "at_least",
        -0.10,
        -0.20,
        "The alternative annotator test allows a judge .1 to .2 less than a person.",
        unit="points",
    ),
    needs="people's votes on the same comparisons",
    more_of="that people judge too",
    advice="Let people decide where it matters: it says less often than a person what people say.",
    estimate=_beside_people,
    sentence=_people_sentence,
    then=_people_rate,
)


CHECKS: tuple[Check, ...] = (REPEATABILITY, COIN_SHARE, AGREEMENT)
