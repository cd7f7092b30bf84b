"""Does it repeat itself, and say what people say?"""

from __future__ import annotations

from typing import Any

from ...finding.fields import estimated, written
from ...finding.question import Finding, Question
from . import check
from .results import ALTERNATIVE, ANCHORS, COIN_SHARE, EFFECTIVE_VOTES, OWN_GOLD, REPEATABILITY

NO_REPEATS = (
    "fewer than 30 items with decided gold were judged more than once, or no vote on them differs"
)
REPEATABILITY_FIELDS = (
    *("icc_3_1", "icc_3_k", "k", "n_items", "unanimous_share", "icc_3_k_low", "icc_3_k_high"),
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


QUESTION = Question(
    name="agreement",
    place=40,
    title="Repeatability and agreement",
    checks=check.CHECKS,
    results=(REPEATABILITY, EFFECTIVE_VOTES, ALTERNATIVE, ANCHORS),
    own_counts={"ratings": (REPEATABILITY,), "first_votes": (OWN_GOLD,), "orders": (COIN_SHARE,)},
    document={
        "repeatability": lambda finding: written(finding[REPEATABILITY], REPEATABILITY_FIELDS),
        "effective_votes": _effective_votes,
        "alternative": lambda finding: written(finding[ALTERNATIVE], ("omega", "rho", "epsilon")),
    },
    unknown={50: _no_effective_votes, 60: _no_alternative, 100: _no_repeatability},
)
