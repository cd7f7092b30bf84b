"""An audit as text for a terminal: verdict sentences first, then tables."""

from __future__ import annotations

from collections.abc import Sequence

from ..auditing import Audit, JudgeAudit
from ..interpretation.format import one_line
from ..interpretation.summary import because, confidence_line
from ..stats.estimate import Estimate

MAX_BOARD_ROWS = 20
MARKS = {"ok": "ok", "warn": "WARN", "fail": "FAIL", "unclear": "~", "unknown": "?"}


def to_text(audit: Audit) -> str:
    """Readable summary of an audit; control characters in names become spaces: text from votes is hostile."""
    found = audit.summary
    lines = [
        f"Judges: {len(found.judges)}; votes: {found.votes:,}; comparisons: {found.comparisons:,}; "
        f"items: {found.items:,}; outputs without a vote: {found.unparsed:,}; "
        f"rejected rows: {sum(reading.rejects.num_rows for reading in audit.readings):,}; "
        f"duplicates left out: {sum(reading.duplicates for reading in audit.readings):,}."
    ]
    for judge in audit.judges:
        checks = [verdict for verdict in audit.verdicts if verdict.judge == judge.judge]
        lines += ["", f"{because(judge.judge, audit.overall[judge.judge], checks)} {confidence_line(checks)}"]
        lines += [f"  {MARKS[v.verdict]:4}  {v.check:14}  {v.sentence}" for v in checks]
    lines += ["", "Judges", *_table(JUDGE_HEADER, [_judge_row(judge) for judge in audit.judges])]
    if any(judge.splits for judge in audit.judges):
        lines += ["", _splits_title(audit)]
        lines += _table(
            ("judge", "MAE BTD", "MAE majority", "PA BTD", "PA majority", "beta", "nu", "gamma"),
            [_btd_row(judge) for judge in audit.judges if judge.splits],
        )
    for anchor, boards in audit.boards.items():
        pooled = boards[0].board
        shown = pooled.rows[:MAX_BOARD_ROWS]
        lines += ["", f"Leaderboard against {anchor}, all judges pooled, {pooled.n_items:,} prompts"]
        lines += _table(
            ("tier", "model", "n", "p", "low", "high", "Elo", "low", "high"),
            [
                (
                    str(row.tier),
                    row.model,
                    f"{row.n:,}",
                    *(f"{value:.3f}" for value in (row.p.value, row.p.low, row.p.high)),
                    *(f"{value:+.0f}" for value in (row.elo.value, row.elo.low, row.elo.high)),
                )
                for row in shown
            ],
        )
        if len(pooled.rows) > len(shown):
            lines.append(f"  … and {len(pooled.rows) - len(shown)} more; all of them are in the JSON.")
    if audit.notes:
        lines += ["", "Notes", *(f"  {note}" for note in audit.notes)]
    return "\n".join(one_line(line) for line in lines)


JUDGE_HEADER = ("judge", "votes", "accuracy", "ECE", "TH(ε)", "bias decided", "flips", "pairs", "ICC(3,k)")


def _judge_row(judge: JudgeAudit) -> tuple[str, ...]:
    th = judge.th[len(judge.th) // 2] if judge.th else None
    position, icc = judge.position, judge.repeatability
    return (
        judge.judge,
        f"{judge.votes.n:,}",
        _value(judge.accuracy),
        _number(judge.calibration.ece if judge.calibration else None),
        "–" if th is None else f"{th.th.value:.2f} ({th.epsilon:g})",
        _value(position.bias_decided if position else None),
        _value(position.flip_rate if position else None),
        "–" if position is None else f"{position.pairs:,}",
        _value(icc.icc_3_k if icc else None),
    )


def _splits_title(audit: Audit) -> str:
    share = audit.options.calibration_share
    return f"Aggregation: mean over {audit.options.splits} splits, {share:.0%} of the items for calibration"


def _btd_row(judge: JudgeAudit) -> tuple[str, ...]:
    assert judge.splits is not None
    assert judge.btd is not None
    btd, majority = judge.splits.scores["btd"], judge.splits.scores["majority"]
    return (
        judge.judge,
        *(f"{value:.3f}" for value in (btd.mae, majority.mae, btd.pa, majority.pa)),
        *(f"{value:.3g}" for value in (judge.btd.beta, judge.btd.nu, judge.btd.gamma)),
    )


def _value(found: Estimate | None) -> str:
    return _number(found.value if found else None)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as needed: the first text to the left, the others to the right."""
    grid = [header, *rows]
    widths = [max(len(one_line(row[i])) for row in grid) for i in range(len(header))]
    text_columns = {i for i, name in enumerate(header) if name in ("judge", "model")}
    return [
        "  "
        + "  ".join(
            one_line(cell).ljust(width) if i in text_columns else one_line(cell).rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in grid
    ]
