"""Answers of the Agreement page in plain words: with itself, with others, with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..agreement.judge_vs_human import RULES, Contest, Rule
from ..agreement.kappa import JudgePair
from ..agreement.reliability import Concord, Repeatability
from . import verdicts
from .sentences import GRADES
from .verdicts import NAMED, Verdict

LABELS_OF: dict[Rule, str] = {"majority": "its majority label", "BTD": "its held-out BTD label"}


def accord(
    judge: str,
    itself: Repeatability | None,
    partner: JudgePair | None,
    *,
    others: int,
    people: float | None,
    contests: Sequence[Contest] = (),
) -> Verdict:
    """How a rater agrees with itself, with its closest partner and, where people voted, beside each of them.

    others : raters besides it.  people : mean κ of the human pairs.  contests : of this judge, all rules.
    The grade is the worse of the first two; contests are said, not graded.
    """
    parts = (
        verdicts.repeatability(judge, itself),
        verdicts.agreement(judge, partner, others, people),
    )
    worst = max(parts, key=lambda part: GRADES.index(part.verdict))
    said = [part.sentence for part in parts] + ([wins(contests)] if contests else [])
    return Verdict(judge=judge, check="agreement", verdict=worst.verdict, sentence=" ".join(said))


def wins(contests: Sequence[Contest]) -> str:
    """Of how many people a judge's labels are nearer to the mode of the others, by rule."""
    parts = []
    for rule in RULES:
        of_rule = [one for one in contests if one.rule == rule and one.wins is not None]
        if of_rule:
            won = sum(bool(one.wins) for one in of_rule)
            clearly = sum(bool(one.clearly) for one in of_rule)
            sure = f" ({clearly} of them clearly)" if won else ""
            parts.append(f"{LABELS_OF[rule]} beats {won} of {len(of_rule)} people{sure}")
    if not parts:
        return "It cannot be set beside people: no two of them labelled what it judged."
    return f"Held to the mode of the other people, {', and '.join(parts)}."


def screening(results: Mapping[str, Repeatability], mark: float) -> str:
    """How many judges reach a mark of ICC(3,k), and who does not."""
    known = {judge: one.icc_3_k for judge, one in results.items() if one.icc_3_k is not None}
    if not known:
        return "No ICC is defined here, so no judge can be screened."
    below = sorted((value, judge) for judge, value in known.items() if value < mark)
    sure = sum((results[judge].icc_3_k_low or 0) >= mark for judge in known)
    found = (
        f"{len(known) - len(below)} of {len(known)} reach ICC(3,k) {mark:.2f}, {sure} of them with their "
        "whole interval."
    )
    if not below:
        return found
    named = ", ".join(f"{judge} ({value:.2f})" for value, judge in below[:NAMED])
    more = f" and {len(below) - NAMED} more" if len(below) > NAMED else ""
    return f"{found} Below it: {named}{more}."


def together(group: str, found: Concord) -> str:
    """One group's Krippendorff α with its interval, and what it rests on."""
    if found.alpha_nominal is None or found.alpha_ordinal is None:
        return f"{group}: Krippendorff α is unknown: {found.reason}"

    def said(value: float, low: float | None, high: float | None) -> str:
        return f"{value:.2f}" + ("" if low is None or high is None else f" ({low:.2f} to {high:.2f})")

    nominal = said(found.alpha_nominal, found.alpha_nominal_low, found.alpha_nominal_high)
    ordinal = said(found.alpha_ordinal, found.alpha_ordinal_low, found.alpha_ordinal_high)
    return (
        f"{group} ({len(found.raters)}): Krippendorff α {nominal}, ordinal {ordinal}, on {found.n:,} "
        "comparisons labelled by at least two of them."
    )
