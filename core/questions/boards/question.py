"""Which model is best: what outputs write of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from ...bounds import MOST_ANCHORS, MOST_BOARDS, MOST_DRAWN, MOST_LISTED
from ...finding.answer import Answer
from ...finding.evidence import Counted
from ...finding.fields import estimate, estimated, fields
from ...finding.question import (
    CHECKED,
    Finding,
    Folded,
    Heading,
    OfAll,
    Paragraph,
    Part,
    Picture,
    Question,
    Section,
    Table,
)
from ...finding.tables import TEXT, Column
from ...finding.wording import percent
from ...stats.estimate import flat
from . import check_words as sentences
from .anchored import Board, met
from .anchors import Triangles
from .anchors import anchors as models_that_anchor
from .board_checks import BoardChecks
from .by_anchor import AnchorSummary
from .panels import JudgedBoard
from .results import (
    ANCHOR_SWAP,
    ANCHORS,
    BOARD_CHECKS,
    BOARDS,
    OUTSIDE,
    OUTSIDE_BOARD,
    PAIRS,
    PANEL_SCORES,
    PANELS,
)
from .score_words import PAIRS as PAIRS_OF_JUDGES
from .score_words import STATISTICS, scores_abstained
from .standings import OutsideComparison, Standings
from .words import (
    ANCHOR_CHOICES,
    MODEL_AT_ANCHOR,
    anchors_unknown,
    board_answer,
    circle_of,
    judged_unequally,
    parts_of,
    pooled_by,
    readers_apart,
    triangles_add_up,
    which_anchor,
)

ROUND = (
    Column("triangle", lambda row: ", ".join(row[name] for name in "abc"), TEXT),
    Column("left over", lambda row: row["residual"], "+.0f", "Elo round the triangle"),
    Column("n", lambda row: row["n"], "d", "prompts that all three pairs played"),
    Column("p, Holm", lambda row: row["p_holm"], ".2g", "adjusted for the number of triangles"),
    Column("adds up", lambda row: "no" if row["broken"] else "not shown not to", TEXT),
)
MOST_ROWS = 20
"""Rows of a board in the text; the JSON has all."""
MOST_CHECKED = 60
"""Rows of a table of checks."""
TOGETHER = 5
"""Judges in one figure of a board; more could not be distinguished."""
IN_TEXT = (
    Column("tier", "tier", "d"),
    Column("model", "model", TEXT),
    Column("n", "n", ",d"),
    Column("p", "p.value"),
    *(Column(end, f"p.{end}") for end in ("low", "high")),
    Column("Elo", "elo.value", "+.0f"),
    *(Column(end, f"elo.{end}", "+.0f") for end in ("low", "high")),
)
BOARD = (
    Column("model", "model", TEXT),
    Column("tier", "tier", ",d"),
    Column("prompts", "n", ",d"),
    *(
        Column(name, field, ".1f")
        for name, field in (("won", "wins"), ("tied", "ties"), ("lost", "losses"))
    ),
    Column("win probability", "p"),
    Column("Elo", "elo", "+.0f"),
)
SWAPS = (
    Column("anchor", "anchor_1", TEXT),
    Column("other anchor", "anchor_2", TEXT),
    Column("models", lambda row: len(row.models), ",d"),
    Column("Kendall τ", "kendall_tau"),
    Column("mean shift, Elo", "mean_abs_centred_shift", ".1f"),
)
BOARD_FIELDS = (
    *("model", "n", "wins", "ties", "losses"),
    *("p", "p_low", "p_high", "se_p", "elo", "elo_low", "elo_high", "se_elo", "tier"),
)
ANCHOR_FIELDS = ("se_elo", "judges", "sd_elo", "cv", "strong_judges", "elo_strong")
TRIANGLE_FIELDS = (
    *("a", "b", "c", "gap_ab", "gap_bc", "gap_ca", "residual"),
    *("n", "residual_common", "z", "p_value", "p_holm", "broken"),
)


def _first_notes(counted: Counted) -> Iterator[str]:
    """Models and anchors that boards leave out."""
    pairs, too_wide = counted[PAIRS]
    if too_wide is not None:
        yield too_wide
    if not pairs or counted.options.anchors is not None:
        return
    anchors = models_that_anchor(pairs[None])
    if not anchors:
        yield (
            "No leaderboard: no model met at least three others. Name an anchor to see a smaller "
            "board."
        )
    elif len(anchors) > MOST_ANCHORS:
        yield (
            f"Leaderboards against {MOST_ANCHORS} of the {len(anchors):,} models that met at least "
            "three others, those with most votes. Name others as anchors to see theirs."
        )


def _notes_on_boards(counted: Counted) -> Iterator[str]:
    """Boards that pool some judges only, and judges without one."""
    pairs, _ = counted[PAIRS]
    for anchor, some in counted[PANELS].items():
        if (reason := judged_unequally(some)) is not None:
            yield reason
        judges = sorted(name for name in pairs if name is not None)
        at_anchor = [name for name in judges if met(pairs[name], anchor)]
        if (reason := readers_apart(at_anchor)) is not None:
            yield f"Against {anchor}: {reason}"
        for judge in judges:
            if judge not in at_anchor:
                yield f"{judge}: no board against {anchor}, which it never judged."


def _notes_on_anchors(counted: Counted) -> Iterator[str]:
    swap = counted[ANCHOR_SWAP]
    for row in () if swap is None else swap.rows:
        if row.reason:
            yield f"Anchors {row.anchor_1} and {row.anchor_2}: {row.reason}"


def _last_notes(counted: Counted) -> Iterator[str]:
    """What checks and the summary of anchors cannot tell."""
    checks, summary = counted[BOARD_CHECKS], counted[ANCHORS]
    yield from () if checks is None else checks.unknown
    yield from () if summary is None else anchors_unknown(summary)


def _said(finding: Finding) -> Answer | None:
    boards = finding[BOARDS]
    shown = next(iter(boards.values()))[0] if boards else None
    if shown is None or shown.judge is not None:
        return None
    # What another anchor would say needs the votes.
    pooled = {anchor: some[0].board for anchor, some in boards.items() if some[0].judge is None}
    standings = Standings(board=shown.board, lead=None, others=())
    return board_answer(standings, circle=circle_of(pooled), parts=parts_of(pooled))


def _boards_in_text(finding: Finding) -> Iterator[str | Table]:
    for anchor, boards in finding[BOARDS].items():
        first, pooled = boards[0], boards[0].board
        whose = pooled_by(first.pooled_judges, first.left_out_judges)
        title = f"Leaderboard against {anchor}, {whose}, {pooled.n_items:,} prompts"
        yield Table(title, IN_TEXT, pooled.rows[:MOST_ROWS])
        more = len(pooled.rows) - MOST_ROWS
        if more > 0:
            yield f"  … and {more} more; all of them are in the JSON."
        others = sum(judged.judge is None for judged in boards) - 1
        if others:
            boards_of = f"pooled board{'s' if others > 1 else ''} of other judges"
            yield f"  … and {others} {boards_of}, not comparable, in the JSON; see Notes."


def _lines(finding: Finding) -> Iterator[str]:
    if (checks := finding[BOARD_CHECKS]) is not None:
        yield from ("", "Leaderboards, checked")
        yield from (f"  {sentence}" for sentence in _sentences(checks))
    if (outside := finding[OUTSIDE]) is not None:
        yield from ("", f"Outside board {outside.name}: {sentences.outside(outside)}")


def _sentences(checks: BoardChecks) -> Iterator[str]:
    if checks.triangles is not None:
        yield triangles_add_up(checks.triangles)
    for each in checks.abstained:
        row = next(row for row in each.found.rows if row.threshold == each.threshold)
        yield f"Against {each.anchor}: {sentences.abstained(each.found, row, each.changed)}"
    if checks.score_abstention is not None:
        yield scores_abstained(checks.score_abstention)


def _triangles(found: Triangles) -> list[dict[str, Any]]:
    """A row per triangle, by field."""
    columns = flat(found, names=TRIANGLE_FIELDS)
    return [
        dict(zip(TRIANGLE_FIELDS, values, strict=True))
        for values in zip(*(columns[name] for name in TRIANGLE_FIELDS), strict=True)
    ]


def _tables(finding: Finding) -> Iterator[Table]:
    checks = finding[BOARD_CHECKS]
    if checks is None:
        return
    if checks.triangles is not None and len(checks.triangles):
        yield Table("Triangles of models", ROUND, _triangles(checks.triangles)[:MOST_CHECKED])
    if checks.over_judges:
        rows = checks.over_judges[:MOST_CHECKED]
        yield Table("Elo of each model over judges", sentences.OVER_JUDGES, rows)
    for each in checks.abstained:
        title = f"Abstention by {sentences.RULE_WORDS[each.rule]} against {each.anchor}"
        yield Table(title, sentences.ABSTENTION, each.found.rows)
        yield Table(f"{title}, by model", sentences.CHANGED, each.changed[:MOST_CHECKED])
    if checks.statistics is not None:
        yield Table("Direct scores as given", STATISTICS, checks.statistics.rows)
        yield Table("Agreement on direct scores", PAIRS_OF_JUDGES, checks.statistics.pairs)


def _checked_section(finding: Finding) -> Iterator[Part]:
    if (checks := finding[BOARD_CHECKS]) is not None:
        yield from map(Paragraph, _sentences(checks))
        yield from _tables(finding)
    if (outside := finding[OUTSIDE]) is not None:
        yield Paragraph(f"{outside.name}: {sentences.outside(outside)}")


def _drawn(board: Board, own: dict[str, Board] | None, **look: Any) -> Any:
    from .figure import board_figure

    return board_figure(board, judged=own, shown=MOST_DRAWN, **look)


def _boards_section(finding: Finding) -> Iterator[Part]:
    """Each anchor's board of all judges pooled, each judge's own, and what changes with
    the anchor.
    """
    every = finding[BOARDS]
    for anchor, boards in list(every.items())[:MOST_BOARDS]:
        first, *others = (judged for judged in boards if judged.judge is None)
        pooled, whose = first.board, pooled_by(first.pooled_judges, first.left_out_judges)
        own = {judged.judge: judged.board for judged in boards if judged.judge is not None}
        yield Heading(f"Against {anchor}")
        coverage = f"{percent(pooled.mid_region_coverage, 1)} of the models in the mid region"
        caption = f"{whose[0].upper() if not first.left_out_judges else whose[0]}{whose[1:]}"
        caption += f", {pooled.n_items:,} prompts; {coverage}"
        yield Table(caption, BOARD, pooled.rows)
        alt = f"Elo of the first {min(MOST_DRAWN, len(pooled.rows))} models against {anchor}"
        beside = own if 1 < len(own) <= TOGETHER else None
        yield Picture(alt, partial(_drawn, pooled, beside))
        if others:
            tables = [
                (pooled_by(each.pooled_judges, each.left_out_judges), each.board.rows)
                for each in others
            ]
            caption = "Pooled boards of other judges, not comparable with this one"
            yield Folded(caption, BOARD, tables)
        if len(own) > 1:
            tables = [(name, board.rows) for name, board in own.items()]
            yield Folded("The board of each judge", BOARD, tables)
    left = len(every) - MOST_BOARDS
    if left > 0:
        yield Paragraph(f"Leaderboards against {left} more anchors are in the JSON of the audit.")
    if (swap := finding[ANCHOR_SWAP]) is not None:
        yield Table(
            "What changes with the anchor, over the models on both boards", SWAPS, swap.rows
        )


def _anchors_section(finding: Finding) -> Iterator[Part]:
    summary = finding[ANCHORS]
    if summary is None or len(summary.anchors) < 2:
        return
    yield Paragraph(which_anchor(summary))
    yield Table("Anchors", ANCHOR_CHOICES, summary.anchors[:MOST_LISTED])
    rows = summary.rows[:MOST_LISTED]
    yield Table("Model × anchor; the JSON has all rows", MODEL_AT_ANCHOR, rows)


def _board(judged: JudgedBoard) -> dict[str, Any]:
    board = judged.board
    return {
        "judge": judged.judge,
        "pooled_judges": judged.pooled_judges,
        "left_out_judges": judged.left_out_judges,
        "n_items": board.n_items,
        "mid_region_coverage": board.mid_region_coverage,
        "rows": [
            {name: columns[name] for name in BOARD_FIELDS}
            for columns in (row.columns() for row in board.rows)
        ],
    }


def _boards_document(finding: Finding) -> dict[str, Any]:
    return {anchor: [_board(board) for board in some] for anchor, some in finding[BOARDS].items()}


def _swap_document(finding: Finding) -> list[dict[str, Any]]:
    swap = finding[ANCHOR_SWAP]
    return [
        {
            "anchor_1": row.anchor_1,
            "anchor_2": row.anchor_2,
            "models": len(row.models),
            **fields(row, ("kendall_tau", "mean_abs_centred_shift")),
        }
        for row in (() if swap is None else swap.rows)
    ]


def _anchors_document(summary: AnchorSummary | None) -> dict[str, Any] | None:
    """Which anchor to take, and a row per anchor and model."""
    if summary is None:
        return None
    return {
        "recommended": summary.recommended,
        "strong_judges": list(summary.strong),
        "choices": [
            {
                "anchor": each.anchor,
                "coverage": each.coverage,
                "least_tau": each.tau,
                "prompts": each.prompts,
                "missed": each.missed,
                "serves": each.serves,
            }
            for each in summary.anchors
        ],
        "rows": [
            {
                **{name: getattr(row, name) for name in ("anchor", "model", "n")},
                "p": estimated(row.p),
                "se_p": row.se_p,
                "elo": estimated(row.elo),
                **{name: getattr(row, name) for name in ANCHOR_FIELDS},
            }
            for row in summary.rows
        ],
    }


def _checks_document(checks: BoardChecks | None) -> dict[str, Any] | None:
    if checks is None:
        return None
    statistics, kept = checks.statistics, checks.score_abstention
    triangles = []
    if checks.triangles is not None:
        triangles = _triangles(checks.triangles)
    return {
        "triangles": triangles,
        "over_judges": [asdict(row) for row in checks.over_judges],
        "abstention": [
            {
                "anchor": each.anchor,
                "rule": each.rule,
                "threshold": each.threshold,
                "n_unknown": each.found.n_unknown,
                "rows": [asdict(row) for row in each.found.rows],
                "models": [
                    {
                        **{name: getattr(row, name) for name in ("model", "n", "kept", "p")},
                        **{name: getattr(row, name) for name in ("p_after", "elo", "elo_after")},
                        "delta": estimate(row.delta),
                    }
                    for row in each.changed
                ],
            }
            for each in checks.abstained
        ],
        "direct_scores": [
            {
                **{name: getattr(row, name) for name in ("judge", "model", "n", "items")},
                "mean": estimate(row.mean),
                "sd": row.sd,
                "kurtosis": row.kurtosis,
                "top": estimate(row.top),
            }
            for row in (statistics.rows if statistics else ())
        ],
        "direct_score_pairs": [
            {
                **{name: getattr(pair, name) for name in ("judge_1", "judge_2", "n", "items")},
                **{
                    name: estimate(getattr(pair, name))
                    for name in ("pearson", "kendall", "kappa", "weighted_kappa")
                },
            }
            for pair in (statistics.pairs if statistics else ())
        ],
        "score_abstention": kept
        and {
            "threshold": kept.threshold,
            "scale": kept.scale,
            "n_unknown": kept.n_unknown,
            "rows": [asdict(row) for row in kept.rows],
            "models": [
                {
                    **{name: getattr(row, name) for name in ("model", "n", "kept")},
                    **{name: getattr(row, name) for name in ("mean", "mean_after")},
                    "delta": estimate(row.delta),
                }
                for row in kept.changed
            ],
        },
    }


def _outside_document(outside: OutsideComparison | None) -> dict[str, Any] | None:
    if outside is None:
        return None
    names = ("outside_score", "elo", "outside_elo", "p", "outside_p")
    columns = flat(outside, names=names)
    counts = ("mean_abs_elo", "mean_abs_p", "jaccard", "top")
    return {
        "name": outside.name,
        "scale": outside.scale,
        "kendall": estimate(outside.kendall),
        "spearman": estimate(outside.spearman),
        **{name: getattr(outside, name) for name in counts},
        "models": [
            {"model": model, **dict(zip(names, values, strict=True))}
            for model, *values in zip(
                outside.models, *(columns[name] for name in names), strict=True
            )
        ],
        "only_here": list(outside.only_here),
        "only_outside": list(outside.only_outside),
    }


QUESTION = Question(
    name="boards",
    place=110,
    title="Leaderboards",
    page="leaderboard",
    page_place=60,
    of_all=OfAll(
        results=(BOARDS, ANCHOR_SWAP, ANCHORS, BOARD_CHECKS, OUTSIDE),
        own_counts={"panels": (OUTSIDE_BOARD, PANEL_SCORES)},
        notes={5: _first_notes, 60: _notes_on_boards, 90: _notes_on_anchors, 120: _last_notes},
        document={
            "leaderboards": _boards_document,
            "anchor_swap": _swap_document,
            "anchors": lambda finding: _anchors_document(finding[ANCHORS]),
            "board_checks": lambda finding: _checks_document(finding[BOARD_CHECKS]),
            "outside": lambda finding: _outside_document(finding[OUTSIDE]),
        },
        lines={10: _boards_in_text, 40: _lines},
        tables=_tables,
        sections=(
            Section(
                place=120,
                key="leaderboards",
                title="Leaderboards",
                parts=_boards_section,
                page="leaderboard",
            ),
            Section(place=130, key="anchors", title="Which anchor", parts=_anchors_section),
            Section(place=CHECKED[0], key=CHECKED[1], title=CHECKED[2], parts=_checked_section),
        ),
        said=_said,
    ),
)
