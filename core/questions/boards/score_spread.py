"""Direct scores without those on which a judge's runs differ: what abstaining keeps and moves.

Source: [RAEE] Table 6, for direct scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidOption, NoUsableVotes
from ...records import BoolArray, DirectScores, FloatArray, IntArray
from ...stats.estimate import DataFrame, Estimate, rows_frame
from ...stats.intervals import dense_codes, t_quantile
from .anchors import kendall_tau
from .scores import response_means

THRESHOLDS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
"""SD over runs, as a share of the scale."""
THRESHOLD = 0.1
FEWEST_KEPT = 5
"""Items that a judge must keep of a model for its change to have an interval: the variance of fewer
is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresKept:
    """Direct scores without the responses beyond `threshold`; None: all whose SD is known.

    coverage : share of the responses kept; n : their number.  n_models : models with some left.
    delta : mean |change| of the models' mean score, in points of the scale.
    sd_judges : SD of a model's mean score over judges, mean over models; None with one judge.
    kendall : τ_b of the models' order with that of all. Nothing left: None.
    """

    threshold: float | None
    coverage: float
    n: int
    n_models: int
    delta: float | None = None
    sd_judges: float | None = None
    kendall: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChanged:
    """One model: mean over judges of its mean score before and after, and the difference."""

    model: str
    n: int
    kept: int
    mean: float
    mean_after: float
    delta: Estimate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreAbstention:
    """A row per threshold, all responses first, then from mild to strict; and each model at one.

    scale : highest minus lowest score that anybody gave.  changed : most changed first, at
        `threshold`.  n_unknown : responses scored once, left out throughout.
    """

    rows: tuple[ScoresKept, ...]
    changed: tuple[ScoreChanged, ...]
    threshold: float
    scale: float
    judges: tuple[str, ...]
    n: int
    n_unknown: int

    def to_frame(self) -> DataFrame:
        """One row per threshold."""
        return rows_frame(ScoresKept, self.rows)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Responses:
    """Mean and SD over runs of each response of a judge that it scored more than once."""

    item: IntArray
    model: IntArray
    mean: FloatArray
    sd: FloatArray


def score_abstention(
    judged: Mapping[str, DirectScores],
    *,
    threshold: float = THRESHOLD,
    thresholds: Sequence[float] = THRESHOLDS,
    level: float = 0.95,
) -> ScoreAbstention:
    """Mean scores without the responses on which a judge's runs differ by more than a threshold.

    A judge drops a response (item and model) if the SD of its scores over runs, n − 1 below, is
    above threshold × scale; scale is the highest minus the lowest score that anybody gave, so that
    judges of any scale have one threshold. Each judge drops its own; a model's score is the mean
    over judges of its mean over responses, and a judge that keeps none of a model is left out of
    that model's numbers. Of a model: change Δ = S̄ᵏ − S̄ with t(G − 1) over the G items, variance
    G/(G − 1)·Σ_items (Σ influences)², where the influence of a response is
    [k(S − S̄ᵏ)/n_k − (S − S̄)/n]/J, k = 1 if it is kept; without an interval where a judge keeps
    fewer than 5. Where all is kept it is exactly 0.

    Raises InvalidOption for a threshold outside 0 to 1, NoUsableVotes if no judge scored a response
    twice. Source: [RAEE] Table 6; scale and interval ours, docs/methods.md §6.
    """
    for cut in (threshold, *thresholds):
        if not 0 <= cut <= 1:
            raise InvalidOption(f"threshold = {cut}: must be from 0 to 1")
    known = {
        name: repeated for name, one in judged.items() if (repeated := _repeated(one)) is not None
    }
    if not known:
        raise NoUsableVotes(
            "abstention by repeats needs a judge that scored a response twice; none did here"
        )
    every = np.concatenate([one.score for one in judged.values() if len(one)])
    scale = float(every.max() - every.min())
    names = next(iter(judged.values())).models
    responses = sum(len(response_means(one)[0]) for one in judged.values() if len(one))
    n = sum(len(one.mean) for one in known.values())
    full = _means(known, {name: np.ones(len(one.mean), dtype=bool) for name, one in known.items()})
    rows = [_kept(None, known, scale, full, n)]
    rows += [
        _kept(cut, known, scale, full, n) for cut in sorted({*thresholds, threshold}, reverse=True)
    ]
    return ScoreAbstention(
        rows=tuple(rows),
        changed=_changed(known, names, threshold * scale, level),
        threshold=threshold,
        scale=scale,
        judges=tuple(known),
        n=n,
        n_unknown=responses - n,
    )


def dropped_responses(
    judged: Mapping[str, DirectScores], found: ScoreAbstention
) -> dict[str, IntArray]:
    """Model → codes of the items on which some judge drops its response, in `score_abstention` at
    its threshold.
    """
    models = next(iter(judged.values())).models
    dropped: dict[str, set[int]] = {}
    for one in (_repeated(scores) for scores in judged.values()):
        if one is None:
            continue
        unsure = ~_keep(one, found.threshold * found.scale)
        for code, item in zip(one.model[unsure].tolist(), one.item[unsure].tolist(), strict=True):
            dropped.setdefault(models[code], set()).add(item)
    return {model: np.array(sorted(items)) for model, items in sorted(dropped.items())}


def _repeated(scores: DirectScores) -> _Responses | None:
    if not len(scores):
        return None
    key, place, runs = np.unique(
        scores.item * len(scores.models) + scores.model, return_inverse=True, return_counts=True
    )
    mean = np.bincount(place, scores.score) / runs
    squares = np.bincount(place, (scores.score - mean[place]) ** 2)
    twice = runs > 1
    if not twice.any():
        return None
    return _Responses(
        item=key[twice] // len(scores.models),
        model=key[twice] % len(scores.models),
        mean=mean[twice],
        sd=np.sqrt(squares[twice] / (runs[twice] - 1)),
    )


def _keep(one: _Responses, most: float) -> BoolArray:
    # Means of thirds differ in their last bits; what is at the threshold stays.
    return np.asarray(one.sd <= most + 1e-9)


def _means(
    known: Mapping[str, _Responses], keep: Mapping[str, BoolArray]
) -> dict[int, list[float]]:
    """Model → its mean score by each judge that keeps some of it."""
    means: dict[int, list[float]] = {}
    for name, one in known.items():
        model, mean = one.model[keep[name]], one.mean[keep[name]]
        for code in np.unique(model).tolist():
            means.setdefault(code, []).append(float(mean[model == code].mean()))
    return means


def _kept(
    cut: float | None,
    known: Mapping[str, _Responses],
    scale: float,
    full: Mapping[int, Sequence[float]],
    n: int,
) -> ScoresKept:
    most = math.inf if cut is None else cut * scale
    keep = {name: _keep(one, most) for name, one in known.items()}
    kept = int(sum(part.sum() for part in keep.values()))
    if not kept:
        return ScoresKept(threshold=cut, coverage=0.0, n=0, n_models=0)
    now = _means(known, keep)
    after = np.array([np.mean(values) for values in now.values()])
    before = np.array([np.mean(full[code]) for code in now])
    spreads = [float(np.std(values, ddof=1)) for values in now.values() if len(values) > 1]
    return ScoresKept(
        threshold=cut,
        coverage=kept / n,
        n=kept,
        n_models=len(now),
        delta=float(np.abs(after - before).mean()),
        sd_judges=float(np.mean(spreads)) if spreads else None,
        kendall=kendall_tau(after, before),
    )


def _changed(
    known: Mapping[str, _Responses], names: Sequence[str], most: float, level: float
) -> tuple[ScoreChanged, ...]:
    changes = []
    for code in sorted({code for one in known.values() for code in np.unique(one.model).tolist()}):
        parts = []
        for one in known.values():
            own = one.model == code
            keep = _keep(one, most)[own]
            if keep.any():
                parts.append((one.item[own], one.mean[own], keep))
        if parts:
            changes.append(_changed_model(names[code], parts, level))
    return tuple(sorted(changes, key=lambda one: (-round(abs(one.delta.value), 9), one.model)))


def _changed_model(
    model: str, parts: Sequence[tuple[IntArray, FloatArray, BoolArray]], level: float
) -> ScoreChanged:
    judges = len(parts)
    mean = float(np.mean([score.mean() for _, score, _ in parts]))
    after = float(np.mean([score[keep].mean() for _, score, keep in parts]))
    influence = np.concatenate(
        [
            keep * (score - score[keep].mean()) / keep.sum() - (score - score.mean()) / len(score)
            for _, score, keep in parts
        ]
    )
    by_item = np.bincount(dense_codes(np.concatenate([item for item, _, _ in parts])), influence)
    items = len(by_item)
    delta = Estimate(after - mean, n=items, level=level)
    if all(keep.all() for _, _, keep in parts):
        delta = replace(delta, low=0.0, high=0.0)
    elif items > 1 and min(int(keep.sum()) for _, _, keep in parts) >= FEWEST_KEPT:
        error = math.sqrt(items / (items - 1) * float((by_item**2).sum())) / judges
        half = t_quantile(items - 1, level) * error
        delta = replace(delta, low=delta.value - half, high=delta.value + half)
    return ScoreChanged(
        model=model,
        n=sum(len(score) for _, score, _ in parts),
        kept=int(sum(keep.sum() for _, _, keep in parts)),
        mean=mean,
        mean_after=after,
        delta=delta,
    )
