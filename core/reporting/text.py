"""An audit on the command line: text for a terminal, and gates such as `ece>0.1`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..auditing import Audit, JudgeAudit
from ..errors import InvalidOption
from ..interpretation.format import one_line
from ..interpretation.tables import TEXT, Column, field_of

MAX_BOARD_ROWS = 20
MARKS = {"ok": "ok", "warn": "WARN", "fail": "FAIL", "unknown": "?"}

METRICS = {
    "ece": "calibration.ece",
    "ace": "calibration.ace",
    "mce": "calibration.mce",
    "brier": "calibration.brier",
    "nll": "calibration.nll",
    "accuracy": "accuracy.value",
    "bias_decided": "position.bias_decided.value",
    "flip_rate": "position.flip_rate.value",
    "icc_3_k": "repeatability.icc_3_k.value",
}
"""What a gate can test, and which field of a `JudgeAudit` it is."""
OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def _th(judge: JudgeAudit) -> str | None:
    middle = judge.th[len(judge.th) // 2] if judge.th else None
    return f"{middle.th.value:.2f} ({middle.epsilon:g})" if middle else None


JUDGES = (
    Column("judge", "judge", TEXT),
    Column("votes", "votes.n", ",d"),
    Column("accuracy", METRICS["accuracy"]),
    Column("ECE", METRICS["ece"]),
    Column("TH(ε)", _th),
    Column("bias decided", METRICS["bias_decided"]),
    Column("flips", METRICS["flip_rate"]),
    Column("pairs", "position.pairs", ",d"),
    Column("ICC(3,k)", METRICS["icc_3_k"]),
)
SPLITS = (
    Column("judge", "judge", TEXT),
    Column("MAE BTD", lambda judge: judge.splits.scores["btd"].mae),
    Column("MAE majority", lambda judge: judge.splits.scores["majority"].mae),
    Column("PA BTD", lambda judge: judge.splits.scores["btd"].pa),
    Column("PA majority", lambda judge: judge.splits.scores["majority"].pa),
    *(Column(name, f"btd.{name}", ".3g") for name in ("beta", "nu", "gamma")),
)
BOARD = (
    Column("tier", "tier", "d"),
    Column("model", "model", TEXT),
    Column("n", "n", ",d"),
    Column("p", "p.value"),
    *(Column(end, f"p.{end}") for end in ("low", "high")),
    Column("Elo", "elo.value", "+.0f"),
    *(Column(end, f"elo.{end}", "+.0f") for end in ("low", "high")),
)


def to_text(audit: Audit) -> str:
    """Readable summary of an audit; control characters in names become spaces: text from votes is hostile."""
    found = audit.summary
    lines = [
        f"Judges: {len(found.judges)}; votes: {found.votes:,}; comparisons: {found.comparisons:,}; "
        f"items: {found.items:,}; outputs without a vote: {found.unparsed:,}; "
        f"rejected rows: {sum(reading.rejects.num_rows for reading in audit.readings):,}."
    ]
    for judge in audit.judges:
        lines += ["", judge.judge]
        lines += [
            f"  {MARKS[verdict.verdict]:4}  {verdict.check:14}  {verdict.sentence}"
            for verdict in audit.verdicts
            if verdict.judge == judge.judge
        ]
    lines += ["", "Judges", *_table(JUDGES, audit.judges)]
    if any(judge.splits for judge in audit.judges):
        share, splits = audit.options.calibration_share, audit.options.splits
        lines += ["", f"Aggregation: mean over {splits} splits, {share:.0%} of the items for calibration"]
        lines += _table(SPLITS, [judge for judge in audit.judges if judge.splits])
    for anchor, boards in audit.boards.items():
        pooled = boards[0].board
        lines += ["", f"Leaderboard against {anchor}, all judges pooled, {pooled.n_items:,} prompts"]
        lines += _table(BOARD, pooled.rows[:MAX_BOARD_ROWS])
        more = len(pooled.rows) - MAX_BOARD_ROWS
        if more > 0:
            lines.append(f"  … and {more} more; all of them are in the JSON.")
    if audit.notes:
        lines += ["", "Notes", *(f"  {note}" for note in audit.notes)]
    return "\n".join(one_line(line) for line in lines)


def _table(columns: Sequence[Column], rows: Sequence[object]) -> list[str]:
    """Columns as wide as needed: names to the left, numbers to the right."""
    grid = [
        [column.name for column in columns],
        *([one_line(_cell(column, row)) for column in columns] for row in rows),
    ]
    widths = [max(map(len, cells)) for cells in zip(*grid, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if column.form else cell.ljust(width)
            for column, cell, width in zip(columns, row, widths, strict=True)
        ).rstrip()
        for row in grid
    ]


def _cell(column: Column, row: object) -> str:
    value = column.of(row)
    if value is None:
        return "–"
    return value if isinstance(value, str) else format(value, column.form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Fail when `metric` `sign` `limit` holds."""

    metric: str
    sign: str
    limit: float

    def __str__(self) -> str:
        return f"{self.metric}{self.sign}{self.limit:g}"


def parse_gate(text: str) -> Gate:
    """Read `ece>0.1`; raises InvalidOption with what is allowed."""
    match = re.fullmatch(r"\s*(\w+)\s*(<=|>=|<|>)\s*(\S+)\s*", text)
    if match is None:
        raise InvalidOption(
            f"--fail-if {text!r}: write it as METRIC>NUMBER, with < <= > or >=, such as ece>0.1."
        )
    metric, sign, limit = match.groups()
    if metric not in METRICS:
        raise InvalidOption(
            f"--fail-if {text!r}: there is no metric {metric!r}; choose from {', '.join(METRICS)}."
        )
    try:
        number = float(limit)
    except ValueError:
        number = float("nan")
    if number != number:
        raise InvalidOption(f"--fail-if {text!r}: {limit!r} is not a number.")
    return Gate(metric=metric, sign=sign, limit=number)


def failed_gates(audit: Audit, gates: Sequence[Gate]) -> list[str]:
    """One sentence for each judge and gate that fails; an unknown value fails too, and is named."""
    failures = []
    for gate in gates:
        for judge in audit.judges:
            value = field_of(judge, METRICS[gate.metric])
            if value is None:
                failures.append(f"{gate}: {judge.judge} has no {gate.metric}.")
            elif OPERATORS[gate.sign](value, gate.limit):
                failures.append(f"{gate}: {judge.judge} has {gate.metric} {value:.6g}.")
    return failures
