"""What the votes cannot tell of judges, and why: a note for each figure of an audit that
is null.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..agreement.kappa import AgreementMatrix

if TYPE_CHECKING:
    from ..audit_results import AuditOptions, JudgeAudit

NAMED = 5
"""More pairs of judges than this are counted, not listed."""


def unknown_of_judges(judges: Sequence[JudgeAudit], options: AuditOptions) -> list[str]:
    """One note per reason, with the judges that it concerns; `options` name the anchors that were
    used.
    """
    names: dict[str, list[str]] = {}
    for judge in judges:
        for what, why in _unknown(judge, options).items():
            names.setdefault(f"no {what}, because {why}.", []).append(judge.judge)
    every = len(judges) if len(judges) > 1 else 0
    return [
        f"{'Every judge' if len(found) == every else ', '.join(found)}: {reason}"
        for reason, found in names.items()
    ]


def _unknown(judge: JudgeAudit, options: AuditOptions) -> dict[str, str]:
    """What the votes of one judge cannot tell → why: of results that are missing, and as results
    carry it.

    Why there is no calibration or BTD fit at all is noted where they are tried, with the counts.
    """
    if not judge.votes.n:
        what = (
            "accuracy, no half credit, no confusion table, no position figures, no repeatability, "
            "no "
            "discrimination, no length, no own family and no robustness"
        )
        return {what: "no output has a vote"}
    reasons: dict[str, str] = {}
    if judge.accuracy is None:
        paired = options.correctness == "both_orders" and judge.confusion is not None
        which = (
            "with gold was judged in both orders of one run"
            if paired
            else "that it judged has a gold label"
        )
        reasons["accuracy"] = f"no comparison {which}"
    if judge.confusion is None:
        reasons["confusion table"] = "no comparison that it judged has a gold label"
    for result in (judge.calibration, *judge.th):
        reasons |= result.unknown if result else {}
    reasons |= (
        judge.position.unknown
        if judge.position
        else {"position figures": "none of its votes says which response was shown first"}
    )
    if judge.btd is not None and not options.splits:
        reasons["splits"] = "none were asked for"
    reasons |= _unknown_of_checks(judge)
    where = " against an anchor" if options.anchors else ""
    return reasons | (
        judge.repeatability.unknown
        if judge.repeatability
        else {"repeatability": f"it judged no comparison{where} twice in the same way"}
    )


def _unknown_of_checks(judge: JudgeAudit) -> dict[str, str]:
    """Why half credit, discrimination, length, own family or robustness, or a part of one, is not
    known.
    """
    one_item = "one item says nothing of others"
    reasons = {}
    if judge.direction is None:
        reasons["half credit"] = "no comparison that it judged has decided gold"
    else:
        if not judge.direction.credit.has_interval:
            reasons["interval of the half credit"] = one_item
        if judge.direction.among_decided is None:
            reasons["share right among decided votes"] = "all its votes on decided gold are ties"
    if judge.discrimination is None:
        reasons["discrimination"] = "no verdict has both a confidence and a gold label"
    elif math.isnan(judge.discrimination.value):
        reasons["discrimination of right and wrong"] = (
            "all its verdicts are right, or all are wrong"
        )
    elif not judge.discrimination.has_interval:
        reasons["discrimination with an interval"] = (
            "fewer than 5 items have a right verdict, or a wrong one"
        )
    if judge.length is None:
        reasons["length"] = "no vote decides between responses of known, different length"
    elif judge.length_beyond_gold is None:
        reasons["length beyond gold"] = (
            "gold prefers the longer, or the shorter, response nearly always"
        )
    if judge.own_family is None:
        reasons["own family"] = "no family was named"
    elif judge.own_family.difference is None:
        reasons["own family beyond gold"] = (
            "it met too few models of its family, or one side nearly always won"
        )
    if not judge.robustness:
        reasons["robustness"] = "no item was judged again with a change"
    for change in judge.robustness:
        if change.effect is None:
            reasons[f"effect of {change.name}"] = (
                "it has no repeats in one order, and flips may be noise"
            )
        elif not change.effect.has_interval:
            reasons[f"interval of the effect of {change.name}"] = one_item
    return reasons


def unknown_of_pairs(agreed: AgreementMatrix) -> list[str]:
    """One note per reason, with the pairs of judges that it concerns."""
    pairs: dict[str, list[str]] = {}
    for pair in agreed.pairs:
        if pair.kappa is None:
            what = "agreement" if pair.raw is None else "κ"
            reason = f"no {what}: {pair.reason or 'it is undefined.'}"
            pairs.setdefault(reason, []).append(f"{pair.judge_1} and {pair.judge_2}")
    return [
        f"{'; '.join(found) if len(found) <= NAMED else f'{len(found)} pairs of judges'}: {reason}"
        for reason, found in pairs.items()
    ]
