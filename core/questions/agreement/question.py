"""Does it repeat itself, and say what people say?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...bounds import MOST_LISTED
from ...finding.answer import Answer
from ...finding.check import GRADES
from ...finding.evidence import Counted
from ...finding.fields import estimated, fields, written
from ...finding.question import Finding, OfAll, Paragraph, Part, Question, Section, Table
from ...finding.tables import TEXT, Column
from . import check
from .results import (
    AGREEMENT,
    ALL_PAIRS,
    ALTERNATIVE,
    ANCHORS,
    COIN_SHARE,
    EFFECTIVE_VOTES,
    OWN_GOLD,
    REPEATABILITY,
)
from .words import agreement_answer

NO_REPEATS = (
    "fewer than 30 items with decided gold were judged more than once, or no vote on them differs"
)
REPEATABILITY_FIELDS = (
    *("icc_3_1", "icc_3_k", "k", "n_items", "unanimous_share", "icc_3_k_low", "icc_3_k_high"),
)
REPEATS = (
    Column("judge", "judge", TEXT),
    Column("runs", "repeatability.k", ",d"),
    Column("comparisons", "repeatability.n_comparisons", ",d"),
    Column("ICC(3,1)", "repeatability.icc_3_1"),
    Column("ICC(3,k)", "repeatability.icc_3_k"),
    Column("all runs alike", "repeatability.unanimous_share"),
)
PAIRS = (
    Column("judge", "judge_1", TEXT),
    Column("and", "judge_2", TEXT),
    Column("n", "n", ",d"),
    Column("same label", "raw"),
    Column("Cohen κ", "kappa"),
)


def _no_effective_votes(finding: Finding) -> dict[str, str]:
    votes = finding[EFFECTIVE_VOTES]
    if votes is None:
        return {"effective number of votes": NO_REPEATS}
    if not votes.effective.has_interval:
        return {"interval of the effective number of votes": "one item carries all of it"}
    return {}


def _no_alternative(finding: Finding) -> dict[str, str]:
    tested = finding[ALTERNATIVE]
    if tested is None:
        why = "it is a person's, or fewer than two people voted beside it"
        return {"Alternative Annotator Test": why}
    return {"Alternative Annotator Test": tested.reason.rstrip(".")} if tested.reason else {}


def _no_repeatability(finding: Finding) -> dict[str, str]:
    repeats = finding[REPEATABILITY]
    if repeats:
        return dict(repeats.unknown)
    where = " against an anchor" if finding[ANCHORS] else ""
    return {"repeatability": f"it judged no comparison{where} twice in the same way"}


def _effective_votes(finding: Finding) -> dict[str, Any] | None:
    votes = finding[EFFECTIVE_VOTES]
    return (
        None
        if votes is None
        else {
            "votes": votes.votes,
            "effective": estimated(votes.effective),
            "correlation": estimated(votes.correlation),
            "errors": [
                {"votes": row.n, "predicted": row.predicted, "observed": estimated(row.observed)}
                for row in votes.errors
            ],
        }
    )


def _said(findings: Sequence[Finding]) -> Answer:
    judges = [each for each in findings if not each.is_person] or findings
    repeated = [each for each in judges if each[REPEATABILITY]] or judges

    def badness(finding: Finding) -> int:
        results = (finding.checks[check] for check in ("repeatability", "coin_share"))
        return max(GRADES.index(result.grade) for result in results)

    worst = max(repeated, key=badness)
    graded = {each.judge: each.checks for each in judges}
    return agreement_answer(graded, worst.judge, None, worst[ALL_PAIRS])


def _section(findings: Sequence[Finding]) -> Iterator[Part]:
    if repeated := [each for each in findings if each[REPEATABILITY]]:
        yield Table("Repeatability", REPEATS, repeated)


def _pairs(finding: Finding) -> Iterator[Part]:
    pairs = [pair for pair in finding[AGREEMENT].pairs if pair.n]
    if not pairs:
        return
    if len(pairs) <= MOST_LISTED:
        yield Table("Agreement of majority labels", PAIRS, pairs)
        return
    most = sorted(pairs, key=lambda pair: -pair.n)[:MOST_LISTED]
    yield Table("Agreement of majority labels", PAIRS, most)
    yield Paragraph(
        f"The {MOST_LISTED:,} of {len(pairs):,} pairs that share most comparisons; the JSON of the "
        "audit has all."
    )


def _not_oriented(counted: Counted) -> Iterator[str]:
    if not counted.anchors and any(counted.of(judge)[REPEATABILITY] for judge in counted.about):
        yield (
            "Repeatability has no anchor to orient by: ICC then depends on the arbitrary A/B "
            "orientation."
        )


def _graded_by_themselves(counted: Counted) -> Iterator[str]:
    if own := [name for name in counted.about if counted.of(name)[OWN_GOLD] is not None]:
        yield (
            f"{', '.join(own)}: gold is made of these votes, so accuracy, calibration, confusion "
            "and BTD against it flatter them."
        )


QUESTION = Question(
    name="agreement",
    place=40,
    title="Repeatability and agreement",
    checks=check.CHECKS,
    page="agreement",
    page_place=40,
    section_place=110,
    results=(REPEATABILITY, EFFECTIVE_VOTES, ALTERNATIVE, ANCHORS, ALL_PAIRS),
    own_counts={"ratings": (REPEATABILITY,), "first_votes": (OWN_GOLD,), "orders": (COIN_SHARE,)},
    document={
        "repeatability": lambda finding: written(finding[REPEATABILITY], REPEATABILITY_FIELDS),
        "effective_votes": _effective_votes,
        "alternative": lambda finding: written(finding[ALTERNATIVE], ("omega", "rho", "epsilon")),
    },
    unknown={50: _no_effective_votes, 60: _no_alternative, 100: _no_repeatability},
    said=_said,
    section=_section,
    of_all=OfAll(
        results=(AGREEMENT,),
        notes={
            8: _not_oriented,
            80: lambda counted: counted[AGREEMENT].unknown,
            110: _graded_by_themselves,
        },
        document={
            "agreement": lambda finding: [
                fields(pair, ("judge_1", "judge_2", "n", "raw", "kappa"))
                for pair in finding[AGREEMENT].pairs
            ]
        },
        sections=(
            Section(place=110, key="agreement", title="Repeatability and agreement", parts=_pairs),
        ),
    ),
)
