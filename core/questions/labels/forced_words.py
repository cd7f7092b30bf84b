"""What allowing ties does to position bias and labels, beside a prompt that forces a choice."""

from __future__ import annotations

from ...finding.answer import Answer, difference, line, measured
from ...finding.tables import TEXT, Column
from ...finding.wording import percent
from ...stats.estimate import Estimate
from ..planning.comparison import PairedDifference
from .forced_prompts import FORCED_TIES, ForcedChoice, PromptRow


def forced_answer(found: ForcedChoice) -> Answer:
    """Whether the votes follow the slot less where ties are allowed, and what labels gain."""
    forced, free = found.row(found.forced), found.row(found.free)
    assert forced is not None  # rows of all comparisons are there always
    assert free is not None
    btd = found.labels[0]
    headline = (
        f"{found.free} and {found.forced} have no pair of orders in common, so what ties do to "
        "position bias is unknown."
    )
    if found.bias is not None and forced.bias is not None and free.bias is not None:
        headline = f"Allowing ties is not shown to change position bias{_labels_gain(found, btd)}."
        if found.bias.excludes():
            headline = (
                f"{found.free}, which may call ties, follows the slot by {_points(free)}; "
                f"{found.forced}, forced to choose, by {_points(forced)}."
            )
    return Answer(
        headline=headline,
        figures=line(
            [
                found.bias and f"slot, ties allowed minus forced {_gap(found.bias)}",
                found.bias_near
                and f"where gold is a tie {_gap(found.bias_near)} (n {found.near:,})",
                f"ties {percent(free.ties.value)} against {percent(forced.ties.value)}",
                _labels(btd),
                f"n {found.n:,} comparisons of both",
            ]
        ),
        good=found.bias is not None and not found.bias.excludes(),
    )


def not_forced(found: ForcedChoice) -> str:
    """That the prompt said to force a choice does not; empty where it does."""
    forced = found.row(found.forced)
    assert forced is not None
    if forced.ties.value <= FORCED_TIES:
        return ""
    return (
        f"{found.forced} calls {percent(forced.ties.value)} of its votes ties, so no choice was "
        "forced on it; the two are compared as they are."
    )


def _labels_gain(found: ForcedChoice, btd: PairedDifference) -> str:
    if btd.delta is None or not btd.delta.excludes():
        return f": {found.free} beside {found.forced}"
    fewer = "less" if btd.delta.value < 0 else "more"
    return f", but {found.free}'s labels err {fewer} than {found.forced}'s"


def _gap(bias: Estimate) -> str:
    return difference(bias, unit=" points")


def _points(row: PromptRow) -> str:
    assert row.bias is not None
    n = abs(100 * row.bias.value)
    return "1 point" if f"{n:.0f}" == "1" else f"{n:.0f} points"


def _labels(btd: PairedDifference) -> str:
    if btd.delta is None or btd.mae is None or btd.mae_baseline is None:
        return ""
    change = measured(btd.delta, 3)
    return f"BTD's error {btd.mae:.3f} against {btd.mae_baseline:.3f}, difference {change}"


PROMPTS = (
    Column("judge", "judge", TEXT),
    Column("comparisons", "where", TEXT),
    Column("n", "n", ",d"),
    Column("votes", "n_votes", ",d"),
    Column("ties", "ties", help="Mean share of ties among the votes, by item."),
    Column("right", "right", help="Share of votes that are gold's very label, by item."),
    Column(
        "slot within pairs",
        "bias",
        "+.3f",
        help="Mean of +1 for the response shown first, 0 for a tie, −1, in pairs of both orders.",
    ),
    Column("slot, decided", "position.bias_decided", "+.3f", help="(F − S)/(F + S), [BTD] Table 1"),
    Column("slot, all", "position.bias_all", "+.3f", help="(F − S)/(F + S + T)"),
)
"""A row per `PromptRow`."""
LABELS = (
    Column("rule", "rule", TEXT),
    Column("MAE, ties allowed", "mae"),
    Column("MAE, forced", "mae_baseline"),
    Column("difference", "delta", "+.3f"),
    Column("difference of PA", "pa_delta", "+.3f"),
    Column("n", "n", ",d"),
    Column("why not", "reason", TEXT, optional=True),
)
"""A row per `PairedDifference`."""
