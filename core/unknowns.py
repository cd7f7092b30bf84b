"""Why a number of an audit is unknown: one note for every null of the document (ours).

An audit never writes 0 for what it cannot know. Where a result is None or NaN, its reason is here, in words
that name the judges concerned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from core.agreement.kappa import AgreementMatrix
from core.leaderboard.anchors import AnchorSwap

if TYPE_CHECKING:
    from core.audit import AuditOptions, JudgeAudit

NAMED = 5
"""More pairs of judges than this are counted, not listed."""


def unknowns(
    judges: Sequence[JudgeAudit], agreed: AgreementMatrix, swap: AnchorSwap | None, options: AuditOptions
) -> tuple[str, ...]:
    """One sentence a reason with the judges that it concerns, then those on pairs of judges and on anchors.

    `options` name the anchors that were used. Calibration and BTD that are missing altogether are noted where
    they are tried, with their counts.
    """
    who: dict[str, list[str]] = {}
    for judge in judges:
        for what, why in _of_judge(judge, options):
            who.setdefault(f"no {what}, because {why}.", []).append(judge.judge)
    notes = [f"{_names(names, len(judges))}: {reason}" for reason, names in who.items()]
    return (*notes, *_of_pairs(agreed), *_of_anchors(swap))


def _of_judge(judge: JudgeAudit, options: AuditOptions) -> Iterator[tuple[str, str]]:
    if not judge.votes.n:
        yield "accuracy, no confusion table, no position figures and no repeatability", "no output has a vote"
        return
    if judge.accuracy is None:
        paired = options.correctness == "both_orders" and judge.confusion is not None
        asked = (
            "with gold was judged in both orders of one run" if paired else "that it judged has a gold label"
        )
        yield "accuracy", f"no comparison {asked}"
    if judge.confusion is None:
        yield "confusion table", "no comparison that it judged has a gold label"
    if judge.calibration is not None:
        empty = int((judge.calibration.reliability.n == 0).sum())
        if empty:
            yield (
                f"confidence and accuracy in {empty} of {len(judge.calibration.reliability.n)} bins",
                "no verdict has such a confidence",
            )
        for score in judge.th:
            if score.n == 0:
                yield f"accuracy at ε {score.epsilon:g}", "no confidence is that near to 0 or 1"
    yield from _of_position(judge)
    if judge.btd is not None and not options.splits:
        yield "splits", "none were asked for"
    yield from _of_repeats(judge, bool(options.anchors))


def _of_position(judge: JudgeAudit) -> Iterator[tuple[str, str]]:
    found = judge.position
    if found is None:
        yield "position figures", "none of its votes says which response was shown first"
        return
    if found.bias_decided is None:
        yield "bias of decided votes", "all its votes with a known position are ties"
    if found.flip_rate is None:
        yield "flip rates and p-value", "no comparison was judged in both orders of one run"
    if found.same_order_disagreement is None:
        yield "same-order disagreement", "no comparison was judged twice in the same order"


def _of_repeats(judge: JudgeAudit, anchored: bool) -> Iterator[tuple[str, str]]:
    found = judge.repeatability
    if found is None:
        where = " against an anchor" if anchored else ""
        yield "repeatability", f"it judged no comparison{where} twice in the same way"
    elif found.icc_3_k is None:
        yield "ICC", (found.reason or "it is undefined").rstrip(".")
    elif found.icc_3_k_low is None:
        yield "interval of the ICC", (found.reason or "it is undefined").rstrip(".")


def _of_pairs(agreed: AgreementMatrix) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for pair in agreed.pairs:
        if pair.kappa is None:
            what = "agreement" if pair.raw is None else "κ"
            sentence = f"no {what}: {pair.reason or 'it is undefined.'}"
            reasons.setdefault(sentence, []).append(f"{pair.judge_1} and {pair.judge_2}")
    for reason, pairs in reasons.items():
        named = "; ".join(pairs) if len(pairs) <= NAMED else f"{len(pairs)} pairs of judges"
        yield f"{named}: {reason}"


def _of_anchors(swap: AnchorSwap | None) -> Iterator[str]:
    for row in swap.rows if swap else ():
        boards = f"Anchors {row.anchor_1} and {row.anchor_2}"
        if row.mean_abs_centred_shift is None:
            yield f"{boards}: no Kendall τ and no shift, because no third model is on both boards."
        elif row.kendall_tau is None:
            one = "only one third model is on both boards"
            why = "one board ties them all" if len(row.models) > 1 else one
            yield f"{boards}: no Kendall τ, because {why}."


def _names(names: Sequence[str], judges: int) -> str:
    return "Every judge" if len(names) == judges > 1 else ", ".join(names)
