"""What is in an audit only if it was asked for, in every output: forced choice, the jury, checks of
leaderboards and an outside board, as JSON, as lines of text, as a section of the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from ..auditing.results import Audit
from ..finding.tables import field_of
from ..questions.boards import check_words as sentences
from ..questions.boards.board_checks import BoardChecks
from ..questions.boards.score_words import PAIRS, STATISTICS, scores_abstained
from ..questions.boards.standings import OutsideComparison
from ..questions.boards.words import triangles_add_up
from ..questions.juries.jury import Jury
from ..questions.juries.method import EnsembleScore
from ..questions.juries.words import fusers_alone, jury_answer, rules_departures, score_columns
from ..questions.labels.forced_prompts import ForcedChoice
from ..questions.labels.forced_words import LABELS, PROMPTS, forced_answer, not_forced
from ..questions.labels.words import grid_answer
from ..stats.estimate import Estimate, flat

Part = tuple[Any, ...]
Written = Callable[[Estimate | None], dict[str, Any] | None]
MOST_LISTED = 60
TRIANGLE_FIELDS = (
    *("a", "b", "c", "gap_ab", "gap_bc", "gap_ca", "residual"),
    *("n", "residual_common", "z", "p_value", "p_holm", "broken"),
)
MEASURES = ("ece", "ace", "mce", "brier", "nll")


def lines(audit: Audit) -> list[str]:
    """What was asked for beyond the judges: grid, jury, outside board and checks of boards."""
    said: list[str] = []
    if audit.grid is not None:
        answer = grid_answer(audit.grid)
        said += ["", f"Tasks and judges: {answer.headline}", f"  {answer.figures}"]
    if audit.forced is not None:
        answer = forced_answer(audit.forced)
        said += ["", f"Forced choice: {answer.headline}", f"  {answer.figures}"]
        said += [f"  {said_of}"] if (said_of := not_forced(audit.forced)) else []
    if audit.jury is not None:
        answer = jury_answer(audit.jury.table)
        said += ["", f"Juries: {answer.headline}", f"  {answer.figures}"]
        table = audit.jury.table
        said += [f"  {sentence}" for sentence in (*fusers_alone(table), *rules_departures(table))]
    if (checks := audit.board_checks) is not None:
        checked = _sentences(checks)
        said += ["", "Leaderboards, checked", *(f"  {sentence}" for sentence in checked)]
    if audit.outside is not None:
        said += ["", f"Outside board {audit.outside.name}: {sentences.outside(audit.outside)}"]
    return said


def _sentences(checks: BoardChecks) -> list[str]:
    said = []
    if checks.triangles is not None:
        said.append(triangles_add_up(checks.triangles))
    for each in checks.abstained:
        row = next(row for row in each.found.rows if row.threshold == each.threshold)
        said.append(f"Against {each.anchor}: {sentences.abstained(each.found, row, each.changed)}")
    if checks.score_abstention is not None:
        said.append(scores_abstained(checks.score_abstention))
    return said


def section(audit: Audit) -> Iterator[Part]:
    """Parts of the HTML report: forced choice, jury, checks of boards, outside board."""
    if audit.forced is not None:
        answer = forced_answer(audit.forced)
        yield "words", "h3", answer.headline
        yield "words", "p", f"{answer.figures} {not_forced(audit.forced)}".strip()
        yield "table", "Both prompts by kind of gold", PROMPTS, audit.forced.rows
        yield "table", "Errors of their labels", LABELS, audit.forced.labels
    if audit.jury is not None:
        table = audit.jury.table
        answer = jury_answer(table)
        yield "words", "h3", answer.headline
        yield "words", "p", answer.figures
        for sentence in (*fusers_alone(table), *rules_departures(table)):
            yield "words", "p", sentence
        yield "table", "Members, rules and fusers", score_columns(table), [*table.scores.values()]
    if (checks := audit.board_checks) is not None:
        for sentence in _sentences(checks):
            yield "words", "p", sentence
        if checks.over_judges:
            rows = checks.over_judges[:MOST_LISTED]
            yield "table", "Elo of each model over judges", sentences.OVER_JUDGES, rows
        for each in checks.abstained:
            title = f"Abstention by {sentences.RULE_WORDS[each.rule]} against {each.anchor}"
            yield "table", title, sentences.ABSTENTION, each.found.rows
            yield "table", f"{title}, by model", sentences.CHANGED, each.changed[:MOST_LISTED]
        if checks.statistics is not None:
            yield "table", "Direct scores as given", STATISTICS, checks.statistics.rows
            yield "table", "Agreement on direct scores", PAIRS, checks.statistics.pairs
    if audit.outside is not None:
        yield "words", "p", f"{audit.outside.name}: {sentences.outside(audit.outside)}"


def documents(audit: Audit, written: Written) -> dict[str, Any]:
    """Parts of the JSON that were asked for; `written` is the form of an estimate there."""
    parts: dict[str, Any] = {}
    if audit.forced is not None:
        parts["forced_choice"] = _forced(audit.forced, written)
    if audit.jury is not None:
        parts["jury"] = _jury(audit.jury, written)
    if audit.board_checks is not None:
        parts["board_checks"] = _checks(audit.board_checks, written)
    if audit.outside is not None:
        parts["outside"] = _outside(audit.outside, written)
    return parts


def _forced(found: ForcedChoice, written: Written) -> dict[str, Any]:
    return {
        "forced": found.forced,
        "free": found.free,
        "n": found.n,
        "gold_ties": found.near,
        "bias_change": written(found.bias),
        "bias_change_gold_ties": written(found.bias_near),
        "rows": [
            {
                **{name: getattr(row, name) for name in ("judge", "where", "n", "n_votes")},
                **{name: written(getattr(row, name)) for name in ("ties", "right", "bias")},
                "bias_decided": field_of(row, "position.bias_decided.value"),
                "bias_all": field_of(row, "position.bias_all.value"),
            }
            for row in found.rows
        ],
        "labels": [
            {
                **{name: getattr(one, name) for name in ("rule", "n", "mae", "mae_baseline")},
                "delta": written(one.delta),
                "pa_delta": written(one.pa_delta),
                "reason": one.reason,
            }
            for one in found.labels
        ],
    }


def _jury(jury: Jury, written: Written) -> dict[str, Any]:
    table = jury.table

    def row(score: EnsembleScore) -> dict[str, Any]:
        measured = score.calibration
        return {
            "name": score.name,
            "kind": score.kind,
            "fitted": score.fitted,
            "n": score.n,
            "accuracy": written(score.accuracy),
            "against": score.against and table.scores[score.against].name,
            "against_best": written(score.against_best),
            "alone": score.alone,
            "against_alone": written(score.against_alone),
            "differs": score.differs,
            "right": score.right,
            "wrong": score.wrong,
            **{name: getattr(measured, name, None) for name in MEASURES},
            "th": score.th and score.th.th.value,
            "epsilon": score.th and score.th.epsilon,
            "cost": score.cost,
        }

    return {
        "members": list(jury.members.names),
        "confidence": jury.members.kind,
        "n": table.n,
        "left_out": table.left_out,
        "rows": [row(score) for score in table.scores.values()],
        "without": {
            rule: dict(zip(jury.members.names, map(written, gaps), strict=True))
            for rule, gaps in zip(table.rules, table.without, strict=True)
        },
        "not_applicable": table.not_applicable,
    }


def _checks(checks: BoardChecks, written: Written) -> dict[str, Any]:
    found = checks.triangles
    statistics, kept = checks.statistics, checks.score_abstention
    triangles = []
    if found is not None:
        columns = flat(found, names=TRIANGLE_FIELDS)
        triangles = [
            dict(zip(TRIANGLE_FIELDS, values, strict=True))
            for values in zip(*(columns[name] for name in TRIANGLE_FIELDS), strict=True)
        ]
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
                        **{name: getattr(one, name) for name in ("model", "n", "kept", "p")},
                        **{name: getattr(one, name) for name in ("p_after", "elo", "elo_after")},
                        "delta": written(one.delta),
                    }
                    for one in each.changed
                ],
            }
            for each in checks.abstained
        ],
        "direct_scores": [
            {
                **{name: getattr(row, name) for name in ("judge", "model", "n", "items")},
                "mean": written(row.mean),
                "sd": row.sd,
                "kurtosis": row.kurtosis,
                "top": written(row.top),
            }
            for row in (statistics.rows if statistics else ())
        ],
        "direct_score_pairs": [
            {
                **{name: getattr(pair, name) for name in ("judge_1", "judge_2", "n", "items")},
                **{
                    name: written(getattr(pair, name))
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
                    **{name: getattr(one, name) for name in ("model", "n", "kept")},
                    **{name: getattr(one, name) for name in ("mean", "mean_after")},
                    "delta": written(one.delta),
                }
                for one in kept.changed
            ],
        },
    }


def _outside(found: OutsideComparison, written: Written) -> dict[str, Any]:
    names = ("outside_score", "elo", "outside_elo", "p", "outside_p")
    columns = flat(found, names=names)
    return {
        "name": found.name,
        "scale": found.scale,
        "kendall": written(found.kendall),
        "spearman": written(found.spearman),
        **{name: getattr(found, name) for name in ("mean_abs_elo", "mean_abs_p", "jaccard", "top")},
        "models": [
            {"model": model, **dict(zip(names, values, strict=True))}
            for model, *values in zip(found.models, *(columns[name] for name in names), strict=True)
        ],
        "only_here": list(found.only_here),
        "only_outside": list(found.only_outside),
    }
