"""Which label do the votes give: what outputs write of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ...bounds import MOST_DRAWN
from ...finding.answer import Answer
from ...finding.check import Unknown
from ...finding.evidence import Counted
from ...finding.fields import estimate, fields
from ...finding.question import (
    CHECKED,
    Finding,
    Heading,
    OfAll,
    Paragraph,
    Part,
    Picture,
    Question,
    Section,
    Table,
)
from ...finding.tables import TEXT, Column, field_of
from ...finding.wording import count
from ...stats.estimate import Estimate
from ..planning.grid import Grid
from .evaluation import Evaluation
from .forced_prompts import ForcedChoice
from .forced_words import LABELS, PROMPTS, forced_answer, not_forced
from .results import AGGREGATED, BTD, FORCED, GRID, SPLITS, TRIED_FORCED, TRIED_GRID
from .rules import RULES
from .words import grid_answer, grid_columns, labels_answer

JUDGE = Column("judge", "judge", TEXT)
FITS = (
    JUDGE,
    *(
        Column(name, f"btd.{field}", ".4g")
        for name, field in (("β", "beta"), ("ν", "nu"), ("γ", "gamma"))
    ),
    Column("DRPS", "btd.drps", ".4f"),
    Column("n", "btd.n_items", ",d"),
    Column("at bounds", lambda finding: ", ".join(finding[BTD].at_bounds) or "none", TEXT),
)
SCORES = (
    Column("rule", "name", TEXT),
    Column("MAE", lambda score: Estimate(score.mae, score.mae_item_low, score.mae_item_high)),
    Column("MAE, over splits", lambda score: Estimate(score.mae, score.mae_low, score.mae_high)),
    Column(
        "pairwise accuracy", lambda score: Estimate(score.pa, score.pa_item_low, score.pa_item_high)
    ),
    Column("regret", "regret", "+.3f"),
    Column("top cluster", lambda score: {True: "yes", False: "no", None: None}[score.top_cluster]),
)
BESIDE_MAJORITY = (
    JUDGE,
    Column("MAE BTD", lambda finding: finding[SPLITS].scores["btd"].mae),
    Column("MAE majority", lambda finding: finding[SPLITS].scores["majority"].mae),
    Column("PA BTD", lambda finding: finding[SPLITS].scores["btd"].pa),
    Column("PA majority", lambda finding: finding[SPLITS].scores["majority"].pa),
    *(Column(name, f"btd.{name}", ".3g") for name in ("beta", "nu", "gamma")),
)
GRID_FIELDS = (
    *("mae", "mae_item_low", "mae_item_high", "pa", "pa_item_low", "pa_item_high"),
    *("regret", "top_cluster"),
)


def _btd(finding: Finding) -> dict[str, Any] | None:
    fitted, splits = finding[BTD], finding[SPLITS]
    if fitted is None:
        return None
    document = fields(fitted, ("beta", "nu", "gamma", "drps", "n_items", "at_bounds"))
    document |= {"fit_on": "all", "splits": None}
    if splits is not None:
        btd, majority = splits.scores["btd"], splits.scores["majority"]
        document["splits"] = {
            "n": splits.n_splits,
            "calibration": splits.calibration,
            "mae_btd": btd.mae,
            "mae_majority": majority.mae,
            "pa_btd": btd.pa,
            "pa_majority": majority.pa,
            "mae_btd_low": btd.mae_low,
            "mae_btd_high": btd.mae_high,
        }
    return document


def _no_splits(finding: Finding) -> dict[str, str]:
    asked_for_none = finding[BTD] is not None and not finding.options.splits
    return {"splits": "none were asked for"} if asked_for_none else {}


def _said(findings: Sequence[Finding]) -> Answer | None:
    judges = [each for each in findings if not each.is_person] or findings
    split = [(each.judge, splits) for each in judges if (splits := each[SPLITS]) is not None]
    if not split:
        return None
    return labels_answer(*max(split, key=lambda each: each[1].scores["majority"].mae))


def _lines(findings: Sequence[Finding]) -> Iterator[str | Table]:
    split = [each for each in findings if each[SPLITS]]
    if split:
        options = split[0].options
        caption = (
            f"Aggregation: mean over {options.splits} splits, {options.calibration_share:.0%} of "
            "the items for calibration"
        )
        yield Table(caption, BESIDE_MAJORITY, split)


def _section(findings: Sequence[Finding]) -> Iterator[Part]:
    fitted = [each for each in findings if each[BTD]]
    if not fitted:
        return
    yield Table("BTD fitted on all labels", FITS, fitted)
    evaluated = {each.judge: splits for each in fitted if (splits := each[SPLITS]) is not None}
    for place, (name, splits) in enumerate(evaluated.items()):
        yield Heading(name)
        caption = (
            f"Rules on held-out comparisons: mean over {splits.n_splits} splits by item, "
            f"{100 * splits.share:g} % of the items for calibration (n {splits.n:,})"
        )
        yield Table(caption, SCORES, [*splits.scores.values()])
        if place < MOST_DRAWN:
            yield Picture(f"Errors of rules, {name}", partial(_drawn, splits), styled=False)
        reasons: dict[str, list[str]] = {}
        for key, reason in splits.not_applicable.items():
            reasons.setdefault(reason, []).append(RULES[key].name)
        for reason, names in reasons.items():
            yield Paragraph(f"Not compared here: {', '.join(names)} ({reason}).")


def _drawn(splits: Evaluation, **look: Any) -> Any:
    from .figure import errors_figure

    return errors_figure(splits, **look)


def _grid_notes(counted: Counted) -> Iterator[str]:
    tried = counted[TRIED_GRID]
    if isinstance(tried, Unknown):
        yield f"No grid of rules. {tried.reason}"
    elif tried is not None:
        for why, n in Counter(tried.left_out.values()).items():
            yield f"Grid: {count(n, 'cell')} left out. {why}"


def _forced_notes(counted: Counted) -> Iterator[str]:
    tried = counted[TRIED_FORCED]
    if isinstance(tried, Unknown):
        yield f"Forced choice against ties allowed: {tried.reason}"


def _answered(what: str, answer: Answer) -> Iterator[str]:
    yield from ("", f"{what}: {answer.headline}", f"  {answer.figures}")


def _lines_of_all(finding: Finding) -> Iterator[str]:
    if (grid := finding[GRID]) is not None:
        yield from _answered("Tasks and judges", grid_answer(grid))
    if (forced := finding[FORCED]) is not None:
        yield from _answered("Forced choice", forced_answer(forced))
        if not_told := not_forced(forced):
            yield f"  {not_told}"


def _tables(finding: Finding) -> Iterator[Table]:
    if (grid := finding[GRID]) is not None:
        yield Table("Rules by task and judge, MAE", grid_columns(grid), grid.cells)
    if (forced := finding[FORCED]) is not None:
        yield Table("Both prompts by kind of gold", PROMPTS, forced.rows)
        yield Table("Errors of their labels", LABELS, forced.labels)


def _grid_section(finding: Finding) -> Iterator[Part]:
    if (grid := finding[GRID]) is not None:
        answer = grid_answer(grid)
        yield Heading(answer.headline)
        yield Paragraph(answer.figures)
        yield Table("Mean absolute error of each rule", grid_columns(grid), grid.cells)


def _forced_section(finding: Finding) -> Iterator[Part]:
    if (forced := finding[FORCED]) is not None:
        answer = forced_answer(forced)
        yield Heading(answer.headline)
        yield Paragraph(f"{answer.figures} {not_forced(forced)}".strip())
        yield Table("Both prompts by kind of gold", PROMPTS, forced.rows)
        yield Table("Errors of their labels", LABELS, forced.labels)


def _grid_document(grid: Grid | None) -> list[dict[str, Any]] | None:
    """A row per task, judge, number of votes and rule."""
    if grid is None:
        return None
    return [
        {
            "task": cell.task,
            "judge": cell.judge,
            "votes": cell.votes,
            "n": cell.n,
            "rule": score.key,
            **{name: getattr(score, name) for name in GRID_FIELDS},
            "mae_all_labels": cell.mae_all_labels,
        }
        for cell in grid.cells
        for score in cell.scores
    ]


def _forced_document(forced: ForcedChoice | None) -> dict[str, Any] | None:
    if forced is None:
        return None
    return {
        "forced": forced.forced,
        "free": forced.free,
        "n": forced.n,
        "gold_ties": forced.near,
        "bias_change": estimate(forced.bias),
        "bias_change_gold_ties": estimate(forced.bias_near),
        "rows": [
            {
                **{name: getattr(row, name) for name in ("judge", "where", "n", "n_votes")},
                **{name: estimate(getattr(row, name)) for name in ("ties", "right", "bias")},
                "bias_decided": field_of(row, "position.bias_decided.value"),
                "bias_all": field_of(row, "position.bias_all.value"),
            }
            for row in forced.rows
        ],
        "labels": [
            {
                **{name: getattr(row, name) for name in ("rule", "n", "mae", "mae_baseline")},
                "delta": estimate(row.delta),
                "pa_delta": estimate(row.pa_delta),
                "reason": row.reason,
            }
            for row in forced.labels
        ],
    }


QUESTION = Question(
    name="labels",
    place=90,
    title="Votes to labels",
    page="votes_to_labels",
    page_place=50,
    section_place=90,
    results=(BTD, SPLITS),
    own_counts={"weighed": (AGGREGATED,)},
    document={"btd": _btd},
    notes=lambda evidence: evidence[AGGREGATED].notes,
    unknown={80: _no_splits},
    said=_said,
    lines=_lines,
    section=_section,
    of_all=OfAll(
        results=(GRID, FORCED),
        own_counts={"weighed": (GRID,)},
        notes={10: _grid_notes, 30: _forced_notes},
        document={
            "grid": lambda finding: _grid_document(finding[GRID]),
            "forced_choice": lambda finding: _forced_document(finding[FORCED]),
        },
        lines={20: _lines_of_all},
        tables=_tables,
        sections=(
            Section(place=100, key="grid", title="Rules by task and judge", parts=_grid_section),
            Section(place=CHECKED[0], key=CHECKED[1], title=CHECKED[2], parts=_forced_section),
        ),
    ),
)
