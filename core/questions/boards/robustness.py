"""Is a board robust: without the prompts that a judge is unsure of, and from task to task?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ...errors import InvalidOption, NoUsableVotes
from ...records import BoolArray, FloatArray, IntArray, PairDoubt, PairScores, kept_rows
from ...stats.estimate import DataFrame, Estimate, rows_frame
from ...stats.intervals import t_quantile, z_quantile
from .anchored import Board, Prior, against, anchor_rows, board, elo_of_p, met, win_probability
from .anchors import holm, kendall_tau
from .judges import PooledBoard, mean_of_judges

Rule = Literal["run_sd", "confidence"]
RULES: tuple[Rule, ...] = get_args(Rule)

THRESHOLDS: dict[Rule, tuple[float, ...]] = {
    "run_sd": (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
    "confidence": (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstained:
    """The board without the rows beyond `threshold`; None: all rows with a known doubt.

    coverage : share of rows kept; n : their number.  n_models : models with prompts left under some
        judge.
    delta_p, delta_elo : mean |change| of win probability and Elo over these models.
    se_elo : mean SE of the mean of judges.  cv : SD over mean of p̄ across judges, mean over
        models; None with
    one judge.  kendall : τ_b with the full board.  No row left: numbers are None.
    """

    threshold: float | None
    coverage: float
    n: int
    n_models: int
    delta_p: float | None = None
    delta_elo: float | None = None
    se_elo: float | None = None
    cv: float | None = None
    kendall: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One model at one threshold: mean of judges' win probability before and after, with an
    interval.

    delta : p after minus before; interval from the change that each prompt makes.
    """

    model: str
    n: int
    kept: int
    p: float
    p_after: float
    delta: Estimate
    elo: float
    elo_after: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Abstention:
    """One row per threshold, the one without first, then from mild to strict.

    n_unknown : rows without a known doubt (no repeats, or no confidence), left out throughout.
    judges : with known rows against the anchor.
    """

    rule: Rule
    judges: tuple[str, ...]
    rows: tuple[Abstained, ...]
    n: int
    n_unknown: int

    def to_frame(self) -> DataFrame:
        """One row per threshold."""
        return rows_frame(Abstained, self.rows)


def abstention(
    doubts: Mapping[str, PairDoubt],
    anchor: str,
    *,
    rule: Rule = "run_sd",
    thresholds: Sequence[float] | None = None,
    prior: Prior = "jeffreys",
) -> Abstention:
    """Board without the prompts on which a judge's runs differ too much, or it is not confident
    enough.

    A judge drops a prompt of a pair if its across-run SD is above the threshold (`run_sd`), or its
    mean confidence below it (`confidence`); each judge drops its own. Boards are means of judges.

    doubts : of each judge, of one selection (`core.questions.boards.ask.pair_doubts`).
    thresholds : default `THRESHOLDS`.

    Raises InvalidOption for another rule or a threshold outside 0 to 1, NoUsableVotes if no row
    against the anchor has a known doubt. Source: [RAEE]; docs/methods.md §6.
    """
    known, n_unknown = _known(doubts, anchor, rule)
    cuts = THRESHOLDS[rule] if thresholds is None else tuple(thresholds)
    for cut in cuts:
        if not 0 <= cut <= 1:
            raise InvalidOption(f"threshold = {cut}: must be from 0 to 1")
    pairs = {name: one.pairs for name, one in known.items()}
    full, n = mean_of_judges(pairs, anchor, prior=prior), sum(map(len, pairs.values()))
    rows = [_abstained(None, pairs, full, n, prior)]
    for cut in sorted(set(cuts), reverse=rule == "run_sd"):
        left = {name: _rows(one, _keep(one, rule, cut)).pairs for name, one in known.items()}
        rows.append(
            _abstained(
                cut, {name: kept for name, kept in left.items() if len(kept)}, full, n, prior
            )
        )
    return Abstention(rule=rule, judges=tuple(known), rows=tuple(rows), n=n, n_unknown=n_unknown)


def changes(
    doubts: Mapping[str, PairDoubt],
    anchor: str,
    *,
    rule: Rule = "run_sd",
    threshold: float,
    level: float = 0.95,
) -> tuple[Changed, ...]:
    """Each model's win probability with all known prompts and with those kept, most changed first
    (ours).

    p is the mean over judges of the plain share S̄. Its change is (1 - w)(S̄ᵏ - S̄ᵈ), of prompts
    kept and dropped, w the share kept. For the interval two prompts more, one won and one lost, are
    added to either (Agresti & Caffo 2000), as three kept prompts that were all won say little of
    others; its variance is that of the sum over prompts of Σ_j [(1 - w_j)(k_ij(S_ij - S̄ᵏ_j)/(n_j +
    2) - d_ij(S_ij - S̄ᵈ_j)/(m_j + 2)) - (S̄ᵏ_j - S̄ᵈ_j)(k_ij - w_j)/N_j]/J, k_ij = 1 if kept and
    d_ij = 1 if dropped, plus that of the added, alike for all judges. Where all is kept, it is
    exactly 0. Judges without a kept prompt of a model leave that model's numbers; a model without
    any is left out.

    Source: docs/methods.md §6 (interval ours).
    """
    known, _ = _known(doubts, anchor, rule)
    names = next(iter(known.values())).pairs.models
    parts = []
    for one in known.values():
        model, item, score, _ = against(one.pairs, anchor)
        parts.append((model, item, score, _keep(one, rule, threshold)))
    found = []
    for code in np.unique(np.concatenate([part[0] for part in parts])).tolist():
        own = [[column[model == code] for column in columns] for model, *columns in parts]
        if judged := [(item, score, keep) for item, score, keep in own if keep.any()]:
            found.append(_changed(names[code], judged, level))
    return tuple(sorted(found, key=lambda one: (-round(abs(one.delta.value), 9), one.model)))


def _changed(
    model: str, judged: Sequence[tuple[IntArray, FloatArray, BoolArray]], level: float
) -> Changed:
    """`changes` of one model, from (item, score, kept) of each judge."""
    values, parts = [], []
    for _, score, keep in judged:
        n, total = np.array([len(score), keep.sum()]), np.array([score.sum(), score[keep].sum()])
        values.append([*n, *(total / n), *elo_of_p(win_probability(n, total)[0])])
        parts.append(_influence(score, keep))
    change, by_prompt, by_added = zip(*parts, strict=True)
    n_all, n_kept, *_ = np.sum(values, axis=0)
    _, _, p, p_after, elo, elo_after = (float(value) for value in np.mean(values, axis=0))
    _, group = np.unique(np.concatenate([item for item, _, _ in judged]), return_inverse=True)
    influence = np.bincount(group, np.concatenate(by_prompt)) / len(judged)
    influence = np.concatenate([influence, np.mean(by_added, axis=0)])
    half = z_quantile(level) * float(
        np.sqrt((influence**2).sum() * len(influence) / max(len(influence) - 1, 1))
    )
    centre, delta = float(np.mean(change)), p_after - p
    low, high = max(min(centre - half, delta), -1.0), min(max(centre + half, delta), 1.0)
    return Changed(
        model=model,
        n=int(n_all),
        kept=int(n_kept),
        p=p,
        p_after=p_after,
        delta=Estimate(delta, low, high, n=int(n_kept), level=level),
        elo=elo,
        elo_after=elo_after,
    )


def _influence(score: FloatArray, kept: BoolArray) -> tuple[float, FloatArray, FloatArray]:
    """Change of a share with the added prompts, the influence of each prompt on it, and of the four
    added.
    """
    n, dropped = len(score), ~kept
    more, fewer = int(kept.sum()) + 2, int(dropped.sum()) + 2
    left = 1 - kept.mean()
    one, two = (score[kept].sum() + 1) / more, (score[dropped].sum() + 1) / fewer
    influence = left * (kept * (score - one) / more - dropped * (score - two) / fewer)
    influence -= (one - two) * (kept - kept.mean()) / n
    ends = left * np.array([(1 - one) / more, -one / more, (1 - two) / fewer, -two / fewer])
    return float(left * (one - two)), influence, ends


def _known(
    doubts: Mapping[str, PairDoubt], anchor: str, rule: Rule
) -> tuple[dict[str, PairDoubt], int]:
    """Rows against the anchor whose doubt is known, of judges that have any; how many are
    unknown.
    """
    if rule not in RULES:
        raise InvalidOption(f"rule = {rule!r}: must be 'run_sd' or 'confidence'")
    known, n_unknown = {}, 0
    for name, one in doubts.items():
        rows = anchor_rows(one.pairs, anchor)
        usable = rows & ~np.isnan(getattr(one, rule))
        n_unknown += int(rows.sum() - usable.sum())
        if usable.any():
            known[name] = _rows(one, usable)
    if not known:
        raise NoUsableVotes(
            "abstention by confidence needs votes with a confidence, and no judge has any here"
            if rule == "confidence"
            else "abstention by repeats needs a judge that voted twice in the same orders on a "
            "comparison; none did here"
        )
    return known, n_unknown


def _keep(one: PairDoubt, rule: Rule, threshold: float) -> BoolArray:
    # Means of sixths differ in their last bits; what is at the threshold stays.
    return (
        one.run_sd <= threshold + 1e-9 if rule == "run_sd" else one.confidence >= threshold - 1e-9
    )


def _rows(one: PairDoubt, keep: BoolArray) -> PairDoubt:
    """The rows of a judge that are kept."""
    return PairDoubt(pairs=replace(one.pairs, **kept_rows(one.pairs, keep)), **kept_rows(one, keep))


def _abstained(
    cut: float | None, left: Mapping[str, PairScores], full: PooledBoard, n: int, prior: Prior
) -> Abstained:
    kept = sum(map(len, left.values()))
    if not kept:
        return Abstained(threshold=cut, coverage=0.0, n=0, n_models=0)
    found = full if cut is None else mean_of_judges(left, full.anchor, prior=prior)
    before = {row.model: row for row in full.rows}
    now = [(row, before[row.model]) for row in found.rows]
    return Abstained(
        threshold=cut,
        coverage=kept / n,
        n=kept,
        n_models=len(now),
        delta_p=float(np.mean([abs(row.p - was.p) for row, was in now])),
        delta_elo=float(np.mean([abs(row.elo.value - was.elo.value) for row, was in now])),
        se_elo=float(np.mean([row.se_elo for row, _ in now])),
        cv=_cv(left, full.anchor, prior),
        kendall=kendall_tau([row.elo.value for row, _ in now], [was.elo.value for _, was in now]),
    )


def _cv(judged: Mapping[str, PairScores], anchor: str, prior: Prior) -> float | None:
    """SD over mean of p across judges, mean over the models that several judges rated."""
    p: dict[str, list[float]] = {}
    for pairs in judged.values():
        for row in board(pairs, anchor, prior=prior).rows:
            p.setdefault(row.model, []).append(row.p.value)
    several = [np.array(values) for values in p.values() if len(values) > 1]
    return (
        float(np.mean([values.std(ddof=1) / values.mean() for values in several]))
        if several
        else None
    )


LEVEL = 0.05
"""Significance of `differing`, over all models together."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskSpread:
    """Elo of one model over tasks.

    tau2 : variance of its true Elo between tasks, squared points, by DerSimonian and Laird; tau is
        its root,
    with the Q-profile interval.  q, p_value : Cochran's test of τ² = 0.  i2 : share of the variance
        of task
    boards that is not chance.
    mean : over tasks, modified Hartung–Knapp interval with t(k - 1).
    n_tasks : tasks in which it met the anchor; with one, everything but `mean` is None.
    """

    model: str
    n_tasks: int
    prompts: int
    mean: Estimate
    tau2: float | None = None
    tau: Estimate | None = None
    q: float | None = None
    p_value: float | None = None
    i2: float | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BetweenTasks:
    """Models in order of their mean over tasks, with the board of each task.

    left_out : tasks in which nobody met the anchor.
    """

    boards: dict[str, Board]
    rows: tuple[TaskSpread, ...]
    left_out: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """One row per model."""
        return rows_frame(TaskSpread, self.rows)


def between_tasks(
    by_task: Mapping[str, PairScores],
    anchor: str,
    *,
    prior: Prior = "jeffreys",
    level: float = 0.95,
) -> BetweenTasks:
    """Board of each task, and for each model the variance τ² of its Elo between tasks.

    With yₜ the Elo in task t and vₜ its squared dispersion-corrected SE, w = 1/v, ȳ = Σwy/Σw:
    Q = Σw(y - ȳ)², τ² = max(0, (Q - (k - 1))/(Σw - Σw²/Σw)), I² = max(0, (Q - (k - 1))/Q).
    Mean over tasks: μ = Σw*y/Σw*, w* = 1/(v + τ²), SE² = max(1, Σw*(y - μ)²/(k - 1))/Σw*, ± t(k -
    1)·SE. Interval of τ²: those values at which Σ(y - μ)²/(v + τ²) lies between the χ²(k - 1)
    quantiles; its upper end is never below that of tasks which differ just as chance makes
    expected, Q = k - 1 (ours). Where they happen to differ far less, it would be 0 to 0, as if
    tasks were known not to differ.

    Limits: the test is cautious, as v counts the prior (among equal tasks it rejects in 1 to 3 % at
    .05). The prior draws each task towards 0 and w favours the tasks drawn most, so the mean is too
    near 0 where tasks are small and a model wins almost always: at p = .97 over ten tasks of 20
    prompts 95 % hold .4 (five of 30 at .95: .96). The board of all prompts together does not have
    this.

    by_task : pair scores of each task's prompts.  anchor : Elo 0 in every task.

    Raises NoUsableVotes if the anchor met nobody in any task. Source: docs/methods.md §6;
    DerSimonian & Laird (1986); Hartung & Knapp (2001), modified by Röver et al. (2015); Viechtbauer
    (2007).
    """
    boards = {
        task: board(pairs, anchor, prior=prior, level=level)
        for task, pairs in by_task.items()
        if met(pairs, anchor)
    }
    if not boards:
        raise NoUsableVotes(f"anchor {anchor!r} met no other model in any task of this selection")
    seen: dict[str, list[tuple[float, float, int]]] = {}
    for found in boards.values():
        for row in found.rows:
            seen.setdefault(row.model, []).append((row.elo.value, row.se_elo_corrected**2, row.n))
    rows = [_over_tasks(model, np.array(values), level) for model, values in seen.items()]
    rows.sort(key=lambda row: (-round(row.mean.value, 9), row.model))
    return BetweenTasks(
        boards=boards,
        rows=tuple(rows),
        left_out=tuple(task for task in by_task if task not in boards),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Heterogeneity:
    """τ² and the mean with their intervals, Cochran's Q with its p-value, and I²."""

    tau2: Estimate
    q: float
    p_value: float
    i2: float
    mean: Estimate


def heterogeneity(y: FloatArray, v: FloatArray, *, level: float = 0.95) -> Heterogeneity:
    """DerSimonian–Laird τ² with its Q-profile interval, Q, p, I², and the mean with its interval.

    y : (k,) estimates, k ≥ 2.  v : (k,) their variances, above 0.  Formulas as in `between_tasks`.
    """
    from scipy.special import chdtrc, chdtri

    k = len(y)
    w, q = 1 / v, _cochran(y, v)
    tau2 = max(0.0, (q - (k - 1)) / float(w.sum() - (w**2).sum() / w.sum()))
    weight = 1 / (v + tau2)
    mean = float((weight * y).sum() / weight.sum())
    half = t_quantile(k - 1, level) * float(
        np.sqrt(max(1.0, _cochran(y, v + tau2) / (k - 1)) / weight.sum())
    )
    tail = (1 - level) / 2
    lower, upper = float(chdtri(k - 1, 1 - tail)), float(chdtri(k - 1, tail))
    high = max(_profile(y, v, lower), _profile_of_chance(v, lower))
    return Heterogeneity(
        tau2=Estimate(tau2, _profile(y, v, upper), high, n=k, level=level),
        q=q,
        p_value=float(chdtrc(k - 1, q)),
        i2=max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0,
        mean=Estimate(mean, mean - half, mean + half, n=k, level=level),
    )


def _cochran(y: FloatArray, v: FloatArray) -> float:
    """Σw(y - ȳ)² with w = 1/v and ȳ the mean of those weights: Q, or with v + τ² for v the
    generalised Q.
    """
    w = 1 / v
    return float((w * (y - (w * y).sum() / w.sum()) ** 2).sum())


def _profile(y: FloatArray, v: FloatArray, target: float) -> float:
    """τ² at which the generalised Q falls to `target`; 0 if it starts below."""
    top = float(((y - y.mean()) ** 2).sum()) / target + float(v.max())
    return _falls_to(target, lambda tau2: _cochran(y, v + tau2), top)


def _profile_of_chance(v: FloatArray, target: float) -> float:
    """`_profile` of the Q that is expected where true values are equal: Σwv - Σw²v/Σw, k - 1 at τ²
    = 0.
    """

    def expected(tau2: float) -> float:
        w = 1 / (v + tau2)
        return float((w * v).sum() - (w**2 * v).sum() / w.sum())

    return _falls_to(target, expected, float(v.max()))


def _falls_to(target: float, falling: Callable[[float], float], top: float) -> float:
    """Where a falling function of τ² reaches `target`; 0 if it starts below.  top : a first upper
    bound.
    """
    if falling(0.0) <= target:
        return 0.0
    from scipy.optimize import brentq

    while falling(top) > target:
        top *= 2
    return float(brentq(lambda tau2: falling(tau2) - target, 0.0, top, xtol=1e-9 * top))


def _over_tasks(model: str, values: FloatArray, level: float) -> TaskSpread:
    elo, variance, prompts = values.T
    k, n = len(elo), int(prompts.sum())
    if k == 1:
        return TaskSpread(
            model=model, n_tasks=1, prompts=n, mean=Estimate(float(elo[0]), n=1, level=level)
        )
    found = heterogeneity(elo, variance, level=level)
    tau, low, high = np.sqrt([found.tau2.value, found.tau2.low, found.tau2.high]).tolist()
    return TaskSpread(
        model=model,
        n_tasks=k,
        prompts=n,
        mean=found.mean,
        tau2=found.tau2.value,
        tau=Estimate(tau, low, high, n=k, level=level),
        q=found.q,
        p_value=found.p_value,
        i2=found.i2,
    )


def differing(found: BetweenTasks) -> tuple[TaskSpread, ...]:
    """Models whose p-value times the number still to test, the least first, stays below
    .05 (Holm).
    """
    p = np.array([row.p_value for row in found.rows], dtype=np.float64)
    adjusted = holm(p)
    return tuple(found.rows[k] for k in np.argsort(p, kind="stable") if adjusted[k] < LEVEL)
