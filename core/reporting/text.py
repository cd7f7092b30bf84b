"""An audit as text for a terminal: verdict sentences first, then tables."""

from __future__ import annotations

from collections.abc import Sequence

from ..audit_results import Audit, JudgeAudit, ScoreAudit
from ..checks.overall import because, confidence_line
from ..interpretation.leaderboard import pooled_by
from ..interpretation.tables import TEXT, Column
from ..wording import one_line, target
from . import listwise

MAX_BOARD_ROWS = 20
MARKS = {"ok": "ok", "warn": "WARN", "fail": "FAIL", "unclear": "~", "unknown": "?"}

METRICS = {
    "ece": "calibration.ece",
    "ace": "calibration.ace",
    "mce": "calibration.mce",
    "brier": "calibration.brier",
    "nll": "calibration.nll",
    "accuracy": "accuracy.value",
    "exact": "exact.value",
    "bias_decided": "position.bias_decided.value",
    "flip_rate": "position.flip_rate.value",
    "icc_3_k": "repeatability.icc_3_k.value",
}
"""What a gate can test, and which field of a `JudgeAudit` it is."""


def _th(judge: JudgeAudit) -> str | None:
    middle = judge.th[len(judge.th) // 2] if judge.th else None
    return f"{middle.th.value:.2f} ({middle.epsilon:g})" if middle else None


JUDGES = (
    Column("judge", "judge", TEXT),
    Column("votes", "votes.n", ",d"),
    Column("right", METRICS["accuracy"]),
    Column("exact", METRICS["exact"]),
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
    """Readable summary of an audit; control characters in names become spaces: text from votes is
    hostile.
    """
    found = audit.summary
    named = {reading.mapping.get("judge", "") for reading in audit.readings}
    fixed = ", ".join(sorted(name[1:] for name in named if name.startswith("=")))
    judges = f"{len(found.judges)} ({fixed}, in no column)" if fixed else str(len(found.judges))
    of_answers = sum(rater.n for rater in found.scores)
    scored = f"scores of single answers: {of_answers:,}; " if of_answers else ""
    lines = [
        f"Judges: {judges}; votes: {found.votes:,}; {scored}comparisons: {found.comparisons:,}; "
        f"items: {found.items:,}; outputs without a vote: {found.unparsed:,}; "
        f"rejected rows: {sum(reading.n_rejected for reading in audit.readings):,}; "
        f"duplicates left out: {sum(reading.duplicates for reading in audit.readings):,}. "
        f"Intervals: {target(audit.options.level)}."
    ]
    if not found.votes:
        lines = [_scores_read(audit)] if audit.scores else []
    if audit.against is not None:
        lines += ["", *audit.against.sentences()]
    for scores in audit.scores:
        lines += ["", _score_headline(scores)]
        lines += [f"  {part}" for part in (scores.headline, scores.figures) if part]
        lines += [
            f"  {MARKS[result.grade]:4}  {result.check:19}  {result.sentence}"
            for result in scores.checks
        ]
    if lists := listwise.lines(audit.rankings):
        lines += ["", *lists] if lines else lists
    if not found.votes:
        if audit.notes:
            lines += ["", "Notes", *(f"  {note}" for note in audit.notes)]
        return "\n".join(one_line(line) for line in lines)
    for judge in audit.judges:
        verdict = because(judge.judge, judge.overall, judge.checks)
        lines += ["", f"{verdict} {confidence_line(judge.checks)}"]
        lines += [
            f"  {MARKS[result.grade]:4}  {result.check:14}  {result.sentence}"
            for result in judge.checks
        ]
    lines += ["", "Judges", *_table(JUDGES, audit.judges)]
    if any(judge.splits for judge in audit.judges):
        share, splits = audit.options.calibration_share, audit.options.splits
        lines += [
            "",
            f"Aggregation: mean over {splits} splits, {share:.0%} of the items for calibration",
        ]
        lines += _table(SPLITS, [judge for judge in audit.judges if judge.splits])
    for anchor, boards in audit.boards.items():
        first, pooled = boards[0], boards[0].board
        whose = pooled_by(first.pooled_judges, first.left_out_judges)
        lines += ["", f"Leaderboard against {anchor}, {whose}, {pooled.n_items:,} prompts"]
        lines += _table(BOARD, pooled.rows[:MAX_BOARD_ROWS])
        more = len(pooled.rows) - MAX_BOARD_ROWS
        if more > 0:
            lines.append(f"  … and {more} more; all of them are in the JSON.")
        others = sum(judged.judge is None for judged in boards) - 1
        if others:
            boards_of = f"pooled board{'s' if others > 1 else ''} of other judges"
            lines.append(f"  … and {others} {boards_of}, not comparable, in the JSON; see Notes.")
    if audit.notes:
        lines += ["", "Notes", *(f"  {note}" for note in audit.notes)]
    return "\n".join(one_line(line) for line in lines)


def _scores_read(audit: Audit) -> str:
    people = sorted({name for scores in audit.scores for name in scores.evidence.table.names})
    said = f"; people: {', '.join(people)}" if people else ""
    unread = sum(rater.failed for rater in audit.summary.scores)
    said += f"; without a score: {unread:,}" if unread else ""
    named = sorted({reading.mapping.get("judge", "") for reading in audit.readings})
    fixed = ", ".join(name[1:] for name in named if name.startswith("="))
    judges = f"{len({scores.judge for scores in audit.scores})}"
    judges += f" ({fixed}, in no column)" if fixed else ""
    return (
        f"Judges of single answers: {judges}; metrics: "
        f"{', '.join(sorted({scores.metric for scores in audit.scores}))}; scores: "
        f"{sum(rater.n for rater in audit.summary.scores):,}{said}; rejected rows: "
        f"{sum(reading.n_rejected for reading in audit.readings):,}. "
        f"Intervals: {target(audit.options.level)}."
    )


def _score_headline(scores: ScoreAudit) -> str:
    """Judge, metric and verdict, with what was not checked."""
    return because(scores.whose, scores.overall, scores.checks)


def shortened(audit: Audit, most: int) -> str:
    """`to_text` in at most `most` lines: what is fine goes first, then all but the verdicts.

    The last line says what was left out, if anything was.
    """
    lines = to_text(audit).splitlines()
    if len(lines) <= most:
        return "\n".join(lines)
    ends = lines.index("Judges")
    verdicts = [line for line in lines[:ends] if line]
    table = lines[ends - 1 : ends + 2 + len(audit.judges)]
    left_out: tuple[str, ...] = ()
    kept = verdicts
    for grade in ("ok", "unknown", "unclear", "warn", "fail"):
        left_out = (*left_out, f"  {MARKS[grade]:4}  ")
        kept = [*(line for line in verdicts if not line.startswith(left_out)), *table]
        if len(kept) < most:
            break
    kept = kept[: most - 1]
    return "\n".join([*kept, f"… {len(lines) - len(kept):,} more lines: to_text(audit) has all."])


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
