"""Tables of [RAEE]: models against an anchor, and direct scores beside."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product

import numpy as np

from ..bounds import MOST_SWAPPED, models_with_most_votes, of_models
from ..errors import NoUsableVotes
from ..questions.agreement.kappa import agreement_matrix, reliability_factor
from ..questions.agreement.reliability import Repeatability, icc
from ..questions.boards.anchored import Board, board, met, subsample_errors
from ..questions.boards.anchors import anchor_swap, kendall_tau, triangles
from ..questions.boards.board_checks import STARTS
from ..questions.boards.by_anchor import STRONG, anchor_choices
from ..questions.boards.judge_dispersion import Dispersion, dispersion, rating_spread
from ..questions.boards.judges import CUTS, mean_of_judges, pooling, screening
from ..questions.boards.robustness import abstention, between_tasks, changes
from ..questions.boards.score_board import score_boards, scored_anchors
from ..questions.boards.score_spread import score_abstention
from ..questions.boards.scores import direct_statistics
from ..questions.boards.standings import compare_outside, read_outside
from ..questions.leaning.results import LENGTH, OWN_FAMILY
from ..records import DirectScores, PairScores, VoteCounts, kept_rows
from ..stats.estimate import DataFrame, flat
from ..stats.intervals import t_quantile
from ..store import vote_queries as queries
from .asked import Asked, rows, scores_in, together

MOST_SHOWN_ANCHORS = 3
NEAR = 20
"""Elo points within which two boards are called alike."""
POINTS = 400


def _board(asked: Asked, pairs: PairScores, anchor: str) -> Board:
    return board(
        pairs,
        anchor,
        prior=asked.settings.prior,
        level=asked.options.level,
        pool=asked.options.pool,
    )


def boards(asked: Asked) -> DataFrame:
    """p, Elo and errors of every model against every anchor, pooled and by judge."""
    frames = {}
    for anchor, (name, pairs) in product(asked.anchors, asked.pairs.items()):
        if met(pairs, anchor):
            frame = _board(asked, pairs, anchor).to_frame()
            frame.insert(0, "anchor", anchor)
            frames[f"{anchor}\0{name or 'all'}"] = frame
    found = together(frames)
    return found.assign(judge=found["judge"].str.partition("\0")[2])


def _repeatability(asked: Asked) -> dict[str, Repeatability]:
    tables = asked.counted.ask(queries.ratings, anchors=asked.anchors)
    return {name: icc(table, level=asked.options.level) for name, table in tables.items()}


def _strong(asked: Asked) -> set[str]:
    return {
        name
        for name, found in _repeatability(asked).items()
        if found.icc_3_k and found.icc_3_k.value >= STRONG
    }


def repeatabilities(asked: Asked) -> DataFrame:
    """ICC(3,1) and ICC(3,k) of each judge, ρ_eval, and which are strong."""
    found = _repeatability(asked)
    frame = together({name: each.to_frame() for name, each in found.items()})
    return frame.assign(strong=[name in _strong(asked) for name in frame["judge"]])


def over_judges(asked: Asked) -> DataFrame:
    """Mean of judges' Elo with SE, p of it, and how far judges differ."""
    return mean_of_judges(asked.by_judge, asked.anchor, prior=asked.settings.prior).to_frame()


def jury_sizes(asked: Asked) -> DataFrame:
    """Variance of the mean of J judges, seen and by σ²(ρ + (1 − ρ)/J)."""
    within = {
        name: each.icc_3_1.value if each.icc_3_1 else None
        for name, each in _repeatability(asked).items()
    }
    found = pooling(
        asked.by_judge, asked.anchor, rng=asked.rng(), icc=within, prior=asked.settings.prior
    )
    return found.to_frame().assign(rho=found.rho, rho_runs=found.rho_runs, sigma2=found.sigma2)


def _p_of(elo: float) -> float:
    return float(1 / (1 + 10 ** (-elo / POINTS)))


def screened(asked: Asked) -> DataFrame:
    """Judges left by the cut on ICC, mean width of their pooled Elo, median width of its p."""
    repeats = _repeatability(asked)
    found = screening(
        asked.by_judge, asked.anchor, icc=repeats, cuts=CUTS, prior=asked.settings.prior
    )
    widths = []
    for row in found.rows:
        kept = {name: asked.by_judge[name] for name in row.judges}
        try:
            means = mean_of_judges(kept, asked.anchor, prior=asked.settings.prior).rows
        except NoUsableVotes:
            means = ()
        width = [_p_of(each.elo.high) - _p_of(each.elo.low) for each in means]
        widths.append(float(np.median(width)) if width else np.nan)
    return found.to_frame().assign(median_width_p=np.array(widths))


def _spread(values: list[float]) -> tuple[float, float]:
    """SE of a mean over judges, and CV; NaN with fewer than two."""
    if len(values) < 2:
        return np.nan, np.nan
    sd = float(np.std(values, ddof=1))
    mean = abs(float(np.mean(values)))
    return sd / len(values) ** 0.5, sd / mean if mean else np.nan


def _model_rows(
    asked: Asked, judged: Mapping[str, PairScores], anchor: str
) -> list[dict[str, object]]:
    """p, SE, Elo and CV of each model over judges, and over the strong ones, with the change."""
    strong = _strong(asked)
    of_model: dict[str, dict[str, tuple[float, float]]] = {}
    for name, pairs in judged.items():
        if met(pairs, anchor):
            for each in _board(asked, pairs, anchor).rows:
                of_model.setdefault(each.model, {})[name] = each.p.value, each.elo.value
    listed = []
    for model, seen in of_model.items():
        row: dict[str, object] = {"model": model}
        errors = {}
        for whose, kept in (("all", set(seen)), ("strong", strong & set(seen))):
            p, elo = ([seen[name][k] for name in sorted(kept)] for k in (0, 1))
            se_p, cv = _spread(p)
            errors[whose] = se_p
            row |= {
                f"{whose}_judges": len(kept),
                f"{whose}_p": float(np.mean(p)) if p else np.nan,
                f"{whose}_se_p": se_p,
                f"{whose}_elo": float(np.mean(elo)) if elo else np.nan,
                f"{whose}_se_elo": _spread(elo)[0],
                f"{whose}_cv": cv,
            }
        change = 1 - errors["strong"] / errors["all"] if errors["all"] else np.nan
        listed.append(row | {"se_reduced_percent": 100 * change})
    return listed


def by_anchor(asked: Asked) -> DataFrame:
    """Model × anchor: p, SE, Elo, SE and CV over all judges and over the strong ones."""
    return rows(
        {"anchor": anchor} | row
        for anchor in asked.anchors
        for row in _model_rows(asked, asked.by_judge, anchor)
    )


def _by_task(asked: Asked) -> dict[str, dict[str | None, PairScores]]:
    found = {}
    for task in asked.tasks:
        try:
            found[task] = asked.counted.ask(scores_in, column=asked.settings.by, value=task)
        except NoUsableVotes:
            continue
    return found


def by_task(asked: Asked) -> DataFrame:
    """Task × model: p, SE, Elo, SE and CV over all judges and over the strong ones."""
    return rows(
        {"task": task, "anchor": asked.anchor} | row
        for task, pairs in _by_task(asked).items()
        for row in _model_rows(
            asked, {name: each for name, each in pairs.items() if name is not None}, asked.anchor
        )
        if asked.anchor in pairs[None].models
    )


def between(asked: Asked) -> DataFrame:
    """Variance of each model's Elo between tasks, τ²."""
    of_task = {
        task: of_models(pairs[None], asked.pairs[None].models)
        for task, pairs in _by_task(asked).items()
    }
    return between_tasks(of_task, asked.anchor, prior=asked.settings.prior).to_frame()


def kappas(asked: Asked) -> DataFrame:
    """Mean κ of judges and the factor √κ by task, with the mean SE as published and times it."""
    error = np.mean([row.se_elo for row in _board(asked, asked.pairs[None], asked.anchor).rows])
    listed = []
    tasks: dict[str, dict[str, VoteCounts]] = {"all": asked.votes}
    with suppress(NoUsableVotes):
        tasks |= asked.tasks
    for task, of in tasks.items():
        matrix = agreement_matrix(of, level=asked.options.level)
        known = [pair.kappa.value for pair in matrix.pairs if pair.kappa]
        factor = reliability_factor(matrix)
        listed.append(
            {"task": task, "pairs": len(known), "kappa": float(np.mean(known)) if known else np.nan}
            | {"factor": factor, "se_elo": float(error)}
            | {"se_elo_adjusted": None if factor is None else float(error * factor)}
        )
    return rows(listed)


def subsamples(asked: Asked) -> DataFrame:
    """SD of p over subsamples of n prompts beside its formula, finite pool and √κ; and ratios."""
    shown = _board(asked, asked.pairs[None], asked.anchor)
    prompts = float(np.median([row.n for row in shown.rows]))
    sizes = tuple(sorted({max(5, round(prompts * share)) for share in (0.25, 0.5, 0.75)}))
    found = subsample_errors(asked.pairs[None], asked.anchor, sizes=sizes, rng=asked.rng())
    frame = found.to_frame()
    factor = reliability_factor(agreement_matrix(asked.votes)) or np.nan
    frame["se_kappa"] = frame["se_analytic"] * factor
    for name in ("analytic", "finite", "kappa"):
        frame[f"ratio_{name}"] = frame["se_empirical"] / frame[f"se_{name}"]
    return frame


def swaps(asked: Asked) -> DataFrame:
    """τ and mean absolute centred shift of every two anchors."""
    if len(asked.anchors) < 2:
        raise NoUsableVotes("It needs two models that met others.")
    return anchor_swap(asked.pairs[None], asked.anchors, prior=asked.settings.prior).to_frame()


def centred(asked: Asked) -> DataFrame:
    """Elo of each model under three anchors, centred by the models that met them all."""
    used = asked.anchors[:MOST_SHOWN_ANCHORS]
    if len(used) < 2:
        raise NoUsableVotes("It needs two models that met others.")
    elos = {
        anchor: {row.model: row.elo.value for row in _board(asked, asked.pairs[None], anchor).rows}
        for anchor in used
    }
    common = set.intersection(*(set(of) for of in elos.values()))
    middle = {
        anchor: float(np.mean([of[name] for name in common])) if common else 0.0
        for anchor, of in elos.items()
    }
    models = sorted({name for of in elos.values() for name in of})
    return rows(
        {"model": name, "on_all": name in common}
        | {
            anchor: elos[anchor][name] - middle[anchor] if name in elos[anchor] else None
            for anchor in used
        }
        for name in models
    )


def additivity(asked: Asked) -> DataFrame:
    """Triangles of models: Δ(B, C) − (Δ(B, A) + Δ(A, C)) with its test."""
    most = models_with_most_votes(asked.pairs[None], asked.anchors, most=MOST_SWAPPED)
    return triangles(of_models(asked.pairs[None], most), level=asked.options.level).to_frame()


def priors(asked: Asked) -> DataFrame:
    """Jeffreys beside Laplace by anchor: τ, mean and largest difference, share within 20 points."""
    listed = []
    for anchor in asked.anchors:
        one, two = (
            {row.model: row.elo.value for row in board(asked.pairs[None], anchor, prior=prior).rows}
            for prior in ("jeffreys", "laplace")
        )
        gaps = np.array([abs(one[name] - two[name]) for name in one])
        listed.append(
            {"anchor": anchor, "models": len(gaps)}
            | {"tau": kendall_tau(list(one.values()), [two[name] for name in one])}
            | {"mean_abs": gaps.mean(), "largest": gaps.max()}
            | {f"percent_within_{NEAR}": 100 * float((gaps <= NEAR).mean())}
        )
    return rows(listed)


def anchors(asked: Asked) -> DataFrame:
    """Which anchor serves: share of models in the mid-region, least τ with another."""
    used = asked.anchors
    pooled = {anchor: _board(asked, asked.pairs[None], anchor) for anchor in used}
    swap = (
        anchor_swap(asked.pairs[None], used, prior=asked.settings.prior) if len(used) > 1 else None
    )
    return rows(
        flat(each) | {"serves": each.serves, "models": len(pooled[each.anchor].rows)}
        for each in anchor_choices(pooled, swap)
    )


def ratings(asked: Asked) -> DataFrame:
    """SD over judges by anchored Elo, Bradley–Terry, Glicko-2 and TrueSkill, and correlations."""
    return rating_spread(
        asked.by_judge,
        asked.anchor,
        rng=asked.rng(),
        pooled=asked.pairs[None],
        prior=asked.settings.prior,
    ).to_frame()


def abstained(asked: Asked) -> DataFrame:
    """Coverage, SE and CV where judges drop the prompts on which they are unsure, by threshold."""
    asked.anchors  # noqa: B018  says what is missing
    doubts = asked.counted.ask(queries.pair_doubts)
    frames: dict[str, DataFrame] = {}
    for rule in STARTS:
        try:
            frames[rule] = abstention(
                doubts, asked.anchor, rule=rule, prior=asked.settings.prior
            ).to_frame()
        except NoUsableVotes:
            continue
    return together(frames, "rule")


def abstained_models(asked: Asked) -> DataFrame:
    """Each model before and after: coverage, p, Δp, Elo, ΔElo."""
    asked.anchors  # noqa: B018  says what is missing
    doubts = asked.counted.ask(queries.pair_doubts)
    listed = []
    for rule, threshold in STARTS.items():
        try:
            found = changes(doubts, asked.anchor, rule=rule, threshold=threshold)
        except NoUsableVotes:
            continue
        listed += [
            {"rule": rule, "threshold": threshold}
            | flat(each)
            | {"coverage": each.kept / each.n, "delta_elo": each.elo_after - each.elo}
            for each in found
        ]
    return rows(listed, "It needs repeated votes, or a stated confidence.")


def outside(asked: Asked) -> DataFrame:
    """A published board beside this one: τ, ρ, mean differences of Elo and win rate, Jaccard."""
    if asked.options.outside is None:
        raise NoUsableVotes("It needs a published board: --outside FILE with model and score.")
    from pathlib import Path

    path = Path(asked.options.outside)
    found = compare_outside(
        _board(asked, asked.pairs[None], asked.anchor),
        read_outside(path.read_bytes(), name=path.name),
        rng=asked.rng(),
        level=asked.options.level,
    )
    return rows(
        [
            flat(
                found, names=("kendall", "spearman", "mean_abs_elo", "mean_abs_p", "jaccard", "top")
            )
            | {"models": len(found.models), "scale": found.scale}
        ]
    )


def score_statistics(asked: Asked) -> DataFrame:
    """Mean, SD and kurtosis of direct scores by judge and target."""
    found = direct_statistics(asked.scores, level=asked.options.level)
    return rows(flat(row) | {"model": row.model or "all"} for row in found.rows)


def _of_model(scores: DirectScores, code: int) -> DirectScores:
    return replace(scores, **kept_rows(scores, scores.model == code))


def model_scores(asked: Asked) -> DataFrame:
    """Per model over judges: mean ± interval, SD, kurtosis, and mean r, τ, κ of pairs of judges."""
    models = next(iter(asked.scores.values())).models
    listed = []
    for code, model in enumerate(models):
        of = {name: _of_model(each, code) for name, each in asked.scores.items()}
        of = {name: each for name, each in of.items() if len(each)}
        if not of:
            continue
        found = direct_statistics(of, level=asked.options.level)
        means = np.array([row.mean.value for row in found.rows if row.model is None])
        every = np.concatenate([each.score for each in of.values()])
        half = (
            t_quantile(len(means) - 1, asked.options.level) * means.std(ddof=1) / len(means) ** 0.5
            if len(means) > 1
            else np.nan
        )
        centred_scores = every - every.mean()
        variance = float((centred_scores**2).mean())
        row: dict[str, object] = {"model": model, "judges": len(means), "scores": len(every)}
        row |= {"mean": means.mean(), "low": means.mean() - half, "high": means.mean() + half}
        row |= {"sd": every.std(ddof=1) if len(every) > 1 else np.nan}
        row |= {
            "kurtosis": float((centred_scores**4).mean()) / variance**2 - 3 if variance else None
        }
        for name in ("pearson", "kendall", "kappa"):
            known = [value.value for pair in found.pairs if (value := getattr(pair, name))]
            row[name] = float(np.mean(known)) if known else np.nan
        listed.append(row)
    return rows(listed)


def score_counts(asked: Asked) -> DataFrame:
    """How often each judge gave each score to each model: what the violins are drawn from."""
    listed = []
    for name, each in asked.scores.items():
        for code in np.unique(each.model).tolist():
            values, counts = np.unique(each.score[each.model == code], return_counts=True)
            listed += [
                {"judge": name, "model": each.models[code], "score": float(value), "count": int(n)}
                | {"share": float(n / counts.sum())}
                for value, n in zip(values, counts, strict=True)
            ]
    return rows(listed)


def _score_anchor(asked: Asked) -> str:
    offered = scored_anchors(asked.scores)
    if not offered:
        raise NoUsableVotes("It needs two models or more that were scored.")
    if asked.counted.summary.votes:
        try:
            return asked.anchor if asked.anchor in offered else offered[0]
        except NoUsableVotes:
            pass
    return offered[0]


def score_board(asked: Asked) -> DataFrame:
    """Win probability and Elo of direct scores by proportional odds, by judge and their mean."""
    return score_boards(asked.scores, _score_anchor(asked)).to_frame()


def _judge_boards(asked: Asked, anchor: str) -> dict[str, Board]:
    if not asked.counted.summary.votes:
        return {}
    return {
        name: _board(asked, pairs, anchor)
        for name, pairs in asked.by_judge.items()
        if met(pairs, anchor)
    }


def _dispersion(asked: Asked) -> Dispersion:
    anchor = _score_anchor(asked)
    found = score_boards(asked.scores, anchor)
    return dispersion(found, _judge_boards(asked, anchor), anchor, rng=asked.rng())


def reductions(asked: Asked) -> DataFrame:
    """SE and CV over judges by direct scores and by anchored votes, and by how many % less."""
    found = _dispersion(asked)
    of = {(row.measure, row.model): row for row in found.rows}
    listed = []
    for model in dict.fromkeys(row.model for row in found.rows):
        row: dict[str, object] = {"model": model}
        pair = []
        for name, measure in (
            ("direct", "mean score"),
            ("scores_p", "p by scores"),
            ("raee", "p by votes"),
        ):
            known = next(
                (each for (what, whose), each in of.items() if whose == model and what == measure),
                None,
            )
            row |= {
                f"{name}_{field}": getattr(known, field, None)
                for field in ("n_judges", "mean", "sd", "se", "cv")
            }
            pair.append(known)
        direct, raee = pair[0], pair[2]
        for field in ("sd", "se", "cv"):
            before = getattr(pair[1] if field != "cv" else direct, field, None)
            after = getattr(raee, field, None)
            row[f"{field}_reduced_percent"] = (
                100 * (1 - after / before) if before and after is not None else None
            )
        listed.append(row)
    return rows(listed)


def scores_beside_votes(asked: Asked) -> DataFrame:
    """Per judge and model: mean direct score beside p and Elo by votes, with the correlation."""
    anchor = _score_anchor(asked)
    direct = score_boards(asked.scores, anchor).judges
    votes = _judge_boards(asked, anchor)
    listed = []
    for name in sorted(direct.keys() & votes.keys()):
        of_votes = {row.model: row for row in votes[name].rows}
        both = [row for row in direct[name].rows if row.model in of_votes]
        means = [row.mean for row in both]
        elos = [of_votes[row.model].elo.value for row in both]
        r = float(np.corrcoef(means, elos)[0, 1]) if len(both) > 2 else np.nan
        listed += [
            {"judge": name, "model": row.model, "score": row.mean}
            | {"p_by_scores": row.p.value, "p_by_votes": of_votes[row.model].p.value}
            | {"elo_by_votes": of_votes[row.model].elo.value, "r": r}
            for row in both
        ]
    return rows(listed, "It needs judges with both votes and direct scores of the same models.")


def score_abstained(asked: Asked) -> DataFrame:
    """Abstention of direct scores by threshold of their SD over runs."""
    return score_abstention(asked.scores, level=asked.options.level).to_frame()


def leanings(asked: Asked) -> DataFrame:
    """How often each judge prefers the longer response, and models of its own family."""
    listed = []
    for each in asked.evidence():
        row: dict[str, object] = {"judge": each.judge}
        length, family = each[LENGTH], each[OWN_FAMILY]
        if length is not None:
            row |= flat(length)
        if family is not None:
            row |= {f"own_family_{name}": value for name, value in flat(family).items()}
        if len(row) > 1:
            listed.append(row)
    return rows(listed, "It needs lengths of the responses, or judges of a model's family.")
