"""What a file or a data set holds, and what was left out and why, in words and counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.store.inventory import RaterCount, Summary
from core.store.scope import PAGES
from core.votes import FORMS, Kind, Reading

if TYPE_CHECKING:
    import pandas as pd

SAID: dict[Kind, str] = {"votes": "verdict", "scores": "score", "rankings": "ranking"}
"""What a judgement of a kind lacks when its call failed or its cell is empty."""

_ITEM = re.compile(r"item (?:'[^']*'|\"[^\"]*\")")
_ROW = re.compile(r"\brow [\d,]+")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stored:
    """What is in a data set: `sentence` says how much, `gaps` what it lacks and which answers that costs."""

    sentence: str
    gaps: tuple[str, ...]


def stored(summary: Summary) -> Stored:
    """Say how much a selection holds, and what cannot be answered with it.

    Shares are of usable votes, cut to whole percent, so that 100 % means all of them.
    """
    others = [
        _others(*each) for each in (("scores", summary.scores), ("rankings", summary.rankings)) if each[1]
    ]
    if others and not summary.votes and not summary.unparsed:
        return Stored(
            sentence=" ".join(others),
            gaps=("There are no votes on pairs of responses, which the other pages are about.",),
        )
    n = summary.votes
    labelled = sum(judge.labelled for judge in summary.judges)
    confident = sum(judge.with_confidence for judge in summary.judges)
    placed = sum(judge.with_position for judge in summary.judges)
    failed = _left_out(summary.unparsed, "votes")
    shares = f"Gold is known for {_share(labelled, n)} of the votes, the order shown for {_share(placed, n)}"
    people = any(judge.rater_type == "human" for judge in summary.judges)
    gaps = []
    if not labelled:
        gaps.append(
            "No vote has gold: accuracy, calibration, confusion and aggregation cannot be judged. "
            "Add a file of gold labels (item_id, model_a, model_b, gold)"
            + (", or choose humans as gold in the sidebar." if people else ".")
        )
    if not confident:
        gaps.append("No vote has a confidence: there is no calibration to judge.")
    if not placed:
        gaps.append("No vote says which response was shown first: position bias cannot be tested.")
    return Stored(
        sentence=(
            f"{_count(n, 'vote')} of {_count(len(summary.judges), 'rater')} on "
            f"{_count(summary.comparisons, 'comparison')} of {_count(summary.items, 'item')} "
            f"{'is' if n == 1 else 'are'} in{failed}. {shares}, a confidence for {_share(confident, n)}."
            + "".join(f" {other}" for other in others)
        ),
        gaps=tuple(gaps),
    )


def _others(kind: Kind, raters: tuple[RaterCount, ...]) -> str:
    n, failed = sum(rater.n for rater in raters), sum(rater.failed for rater in raters)
    found = f"{_count(n, FORMS[kind].unit)} of {_count(len(raters), 'rater')}"
    return f"{found} {'is' if n == 1 else 'are'} in{_left_out(failed, kind)}: see the page {PAGES[kind]}."


def _left_out(n: int, kind: Kind) -> str:
    return f"; {n:,} more without a {SAID[kind]} {'is' if n == 1 else 'are'} not counted" if n else ""


def arrived(reading: Reading) -> str:
    """Say what a file gave, before it is loaded."""
    n = reading.votes.num_rows
    left = reading.rejects.num_rows
    if reading.gold_only:
        found = f"{_count(n, 'gold label')} read from {_count(reading.rows, 'row')}"
    else:
        n = reading.units
        raters = len(reading.votes["judge"].unique())
        items = len(reading.votes["item_id"].unique())
        failed = without_result(reading)
        found = (
            f"{_count(n, FORMS[reading.kind].unit)} of {_count(raters, 'rater')} on "
            f"{_count(items, 'item')} read from {_count(reading.rows, 'row')}"
        )
        found += f", {failed:,} of them without a {SAID[reading.kind]}" if failed else ""
    found += f"; {left:,} rejected" if left else "; nothing was rejected"
    return (
        found + (f"; {_count(reading.duplicates, 'duplicate')} left out" if reading.duplicates else "") + "."
    )


def without_result(reading: Reading) -> int:
    """How many votes, scores or rankings of a reading say nothing: failed calls and empty cells."""
    import pyarrow.compute as pc

    if reading.kind == "votes":
        return int(reading.votes["vote"].null_count)
    rows = reading.votes.filter(pc.not_equal(reading.votes["status"], "ok"))
    return int(rows.group_by(list(FORMS[reading.kind].key)).aggregate([]).num_rows)


def reject_reasons(reading: Reading) -> pd.DataFrame:
    """Rejects by column and reason, most frequent first; names of items and rows in a reason become `…`."""
    frame = reading.rejects.to_pandas()
    frame["reason"] = [_ROW.sub("row …", _ITEM.sub("item …", reason)) for reason in frame["reason"]]
    counted = frame.groupby(["column", "reason"], as_index=False, sort=False).agg(
        n=("row", "size"), first_row=("row", "min")
    )
    ordered: pd.DataFrame = counted.sort_values(
        ["n", "first_row"], ascending=[False, True], ignore_index=True
    )
    return ordered[["n", "reason", "column", "first_row"]]


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _share(part: int, n: int) -> str:
    if 0 < 100 * part < n:
        return "under 1 %"
    return f"{100 * part // n} %" if n else "none"
