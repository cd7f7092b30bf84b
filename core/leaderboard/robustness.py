"""Abstention: what dropping the prompts that a judge is unsure of does to a board.

Does a model's Elo depend on the task? Boards by category, and the variance between them.

Does the closed-form standard error of a board hold? Compare it with subsamples of its own prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ..errors import InvalidOption, NoUsableVotes
from ..records import BoolArray, FloatArray, IntArray, PairDoubt, PairScores
from ..stats.intervals import check_level
from .anchored import Board, Prior, against, board, elo_of_p, standard_error, win_probability
from .judges import PooledBoard, mean_of_judges
from .rating_methods import met

if TYPE_CHECKING:
    import pandas as pd


Rule = Literal["run_sd", "confidence"]
RULES: tuple[Rule, ...] = get_args(Rule)

THRESHOLDS: dict[Rule, tuple[float, ...]] = {
    "run_sd": (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
    "confidence": (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstained:
    """The board without the rows beyond `threshold`; None: all rows with a known doubt.

    coverage : share of rows kept; n : their number.  n_models : models with prompts left under some judge.
    delta_p, delta_elo : mean |change| of win probability and Elo over these models.
    se_elo : mean SE of the mean of judges.  cv : SD over mean of p̄ across judges, mean over models; None with
    one judge.  kendall : τ_b with the full board.  No row left: numbers are None.
    """

    threshold: float | None
    coverage: float
    n: int
    n_models: int
    delta_p: float | None
    delta_elo: float | None
    se_elo: float | None
    cv: float | None
    kendall: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One model at one threshold: mean of judges' win probability before and after, with an interval.

    delta, delta_low, delta_high : p after minus before; interval from the change that each prompt makes.
    """

    model: str
    n: int
    kept: int
    p: float
    p_after: float
    delta: float
    delta_low: float
    delta_high: float
    elo: float
    elo_after: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Abstention:
    """One row a threshold, the one without first, then from mild to strict.

    n_unknown : rows without a known doubt (no repeats, or no confidence), left out throughout.
    judges : with known rows against the anchor.
    """

    anchor: str
    rule: Rule
    judges: tuple[str, ...]
    rows: tuple[Abstained, ...]
    n: int
    n_unknown: int

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        names = [field.name for field in fields(Abstained)]
        return pd.DataFrame([[getattr(row, name) for name in names] for row in self.rows], columns=names)


def abstention(
    doubts: Mapping[str, PairDoubt],
    anchor: str,
    *,
    rule: Rule = "run_sd",
    thresholds: Sequence[float] | None = None,
    prior: Prior = "jeffreys",
) -> Abstention:
    """Board without the prompts on which a judge's runs differ too much, or it is not confident enough.

    A judge drops a prompt of a pair if its across-run SD is above the threshold (`run_sd`), or its mean
    confidence below it (`confidence`); each judge drops its own. Boards are means of judges.

    Parameters
    ----------
    doubts : of each judge, of one selection (`core.store.model_queries.pair_doubts`).
    thresholds : default `THRESHOLDS`.

    Raises
    ------
    InvalidOption : another rule, or a threshold outside 0 to 1.
    NoUsableVotes : no row against the anchor has a known doubt.

    Source: [RAEE]; methods §6.
    """
    known, n_unknown = _known(doubts, anchor, rule)
    cuts = THRESHOLDS[rule] if thresholds is None else tuple(thresholds)
    for cut in cuts:
        if not 0 <= cut <= 1:
            raise InvalidOption(f"threshold = {cut}: must be from 0 to 1")
    full = mean_of_judges({name: one.pairs for name, one in known.items()}, anchor, prior=prior)
    n = sum(len(one.pairs) for one in known.values())
    rows = [_abstained(None, known, full, anchor, n, rule, prior)]
    for cut in sorted(set(cuts), reverse=rule == "run_sd"):
        rows.append(_abstained(cut, known, full, anchor, n, rule, prior))
    return Abstention(
        anchor=anchor, rule=rule, judges=tuple(known), rows=tuple(rows), n=n, n_unknown=n_unknown
    )


def changes(
    doubts: Mapping[str, PairDoubt],
    anchor: str,
    *,
    rule: Rule = "run_sd",
    threshold: float,
    level: float = 0.95,
) -> tuple[Changed, ...]:
    """Each model's win probability with all known prompts and with those kept, most changed first (ours).

    p is the mean over judges of the plain share S̄. Its change is (1 - w)(S̄ᵏ - S̄ᵈ), of prompts kept and
    dropped, w the share kept. For the interval two prompts more, one won and one lost, are added to either
    (Agresti & Caffo 2000), as three kept prompts that were all won say little of others; its variance is that
    of the sum over prompts of Σ_j [(1 - w_j)(k_ij(S_ij - S̄ᵏ_j)/(n_j + 2) - d_ij(S_ij - S̄ᵈ_j)/(m_j + 2)) -
    (S̄ᵏ_j - S̄ᵈ_j)(k_ij - w_j)/N_j]/J, k_ij = 1 if kept and d_ij = 1 if dropped, plus that of the added, alike
    for all judges. Where all is kept, it is exactly 0.
    Judges without a kept prompt of a model leave that model's numbers; a model without any is left out.

    Source: methods §6 (interval ours).
    """
    from scipy.special import ndtri

    known, _ = _known(doubts, anchor, rule)
    z = float(ndtri((1 + level) / 2))
    names = next(iter(known.values())).pairs.models
    parts = []
    for one in known.values():
        model, item, score, _ = against(one.pairs, anchor)
        parts.append((model, item, score, _keep(one, rule, threshold)))
    found = []
    for code in np.unique(np.concatenate([part[0] for part in parts])).tolist():
        items, pulls, values, smooth, added = [], [], [], [], []
        for model, item, score, keep in parts:
            rows = model == code
            s, k = score[rows], keep[rows]
            if not k.any():
                continue
            n, total = np.array([len(s), k.sum()]), np.array([s.sum(), s[k].sum()])
            share = total / n
            items.append(item[rows])
            change, pull, ends = _pulls(s, k)
            smooth.append(change)
            pulls.append(pull)
            added.append(ends)
            values.append([*n, *share, *elo_of_p(win_probability(n, total)[0])])
        if not values:
            continue
        n_all, n_kept, *_ = np.sum(values, axis=0)
        _, _, p, p_after, elo, elo_after = np.mean(values, axis=0)
        _, group = np.unique(np.concatenate(items), return_inverse=True)
        pull = np.bincount(group, np.concatenate(pulls)) / len(values)
        pull = np.concatenate([pull, np.mean(added, axis=0)])
        half = z * float(np.sqrt((pull**2).sum() * len(pull) / max(len(pull) - 1, 1)))
        centre, delta = float(np.mean(smooth)), float(p_after - p)
        found.append(
            Changed(
                model=names[code],
                n=int(n_all),
                kept=int(n_kept),
                p=float(p),
                p_after=float(p_after),
                delta=delta,
                delta_low=max(min(centre - half, delta), -1.0),
                delta_high=min(max(centre + half, delta), 1.0),
                elo=float(elo),
                elo_after=float(elo_after),
            )
        )
    return tuple(sorted(found, key=lambda one: (-round(abs(one.delta), 9), one.model)))


def _pulls(score: FloatArray, kept: BoolArray) -> tuple[float, FloatArray, FloatArray]:
    """Change of a share with the added prompts, the pull of each prompt on it, and of the four added."""
    n, dropped = len(score), ~kept
    more, fewer = int(kept.sum()) + 2, int(dropped.sum()) + 2
    left = 1 - kept.mean()
    one, two = (score[kept].sum() + 1) / more, (score[dropped].sum() + 1) / fewer
    pull = left * (kept * (score - one) / more - dropped * (score - two) / fewer)
    pull -= (one - two) * (kept - kept.mean()) / n
    ends = left * np.array([(1 - one) / more, -one / more, (1 - two) / fewer, -two / fewer])
    return float(left * (one - two)), pull, ends


def _known(doubts: Mapping[str, PairDoubt], anchor: str, rule: Rule) -> tuple[dict[str, PairDoubt], int]:
    """Rows against the anchor whose doubt is known, of judges that have any; how many are unknown."""
    if rule not in RULES:
        raise InvalidOption(f"rule = {rule!r}: must be 'run_sd' or 'confidence'")
    known, n_unknown = {}, 0
    for name, one in doubts.items():
        if not met(one.pairs, anchor):
            continue
        code = one.pairs.models.index(anchor)
        rows = (one.pairs.model_1 == code) | (one.pairs.model_2 == code)
        usable = rows & ~np.isnan(getattr(one, rule))
        n_unknown += int(rows.sum() - usable.sum())
        if usable.any():
            known[name] = _rows(one, usable)
    if not known:
        raise NoUsableVotes(
            "abstention by confidence needs votes with a confidence, and no judge has any here"
            if rule == "confidence"
            else "abstention by repeats needs a judge that voted twice in the same orders on a comparison; "
            "none did here"
        )
    return known, n_unknown


def _keep(one: PairDoubt, rule: Rule, threshold: float) -> BoolArray:
    # Means of sixths differ in their last bits; what is at the threshold stays.
    return one.run_sd <= threshold + 1e-9 if rule == "run_sd" else one.confidence >= threshold - 1e-9


def _rows(one: PairDoubt, keep: BoolArray) -> PairDoubt:
    pairs = one.pairs
    return PairDoubt(
        pairs=PairScores(
            models=pairs.models,
            model_1=pairs.model_1[keep],
            model_2=pairs.model_2[keep],
            item=pairs.item[keep],
            score=pairs.score[keep],
            n_votes=pairs.n_votes[keep],
            tie=None if pairs.tie is None else pairs.tie[keep],
        ),
        run_sd=one.run_sd[keep],
        confidence=one.confidence[keep],
    )


def _abstained(
    cut: float | None,
    known: Mapping[str, PairDoubt],
    full: PooledBoard,
    anchor: str,
    n: int,
    rule: Rule,
    prior: Prior,
) -> Abstained:
    left = (
        known
        if cut is None
        else {name: _rows(one, keep) for name, one in known.items() if (keep := _keep(one, rule, cut)).any()}
    )
    kept = sum(len(one.pairs) for one in left.values())
    if not kept:
        return Abstained(
            threshold=cut, coverage=0.0, n=0, n_models=0,
            delta_p=None, delta_elo=None, se_elo=None, cv=None, kendall=None,
        )  # fmt: skip
    found = (
        full
        if cut is None
        else mean_of_judges({name: one.pairs for name, one in left.items()}, anchor, prior=prior)
    )
    before = {row.model: row for row in full.rows}
    now = [(row, before[row.model]) for row in found.rows]
    kendall = None
    if len(now) > 1:
        from scipy.stats import kendalltau

        tau = kendalltau(
            *(np.round([row.elo for row in side], 9) for side in zip(*now, strict=True))
        ).statistic
        kendall = None if np.isnan(tau) else float(tau)
    return Abstained(
        threshold=cut,
        coverage=kept / n,
        n=kept,
        n_models=len(now),
        delta_p=float(np.mean([abs(row.p - was.p) for row, was in now])),
        delta_elo=float(np.mean([abs(row.elo - was.elo) for row, was in now])),
        se_elo=float(np.mean([row.se_elo for row, _ in now])),
        cv=_cv({name: one.pairs for name, one in left.items()}, anchor, prior),
        kendall=kendall,
    )


def _cv(judged: Mapping[str, PairScores], anchor: str, prior: Prior) -> float | None:
    p: dict[str, list[float]] = {}
    for pairs in judged.values():
        for row in board(pairs, anchor, prior=prior).rows:
            p.setdefault(row.model, []).append(row.p)
    several = [np.array(values) for values in p.values() if len(values) > 1]
    return float(np.mean([values.std(ddof=1) / values.mean() for values in several])) if several else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskSpread:
    """Elo of one model over tasks.

    tau2 : variance of its true Elo between tasks, squared points, by DerSimonian and Laird; tau is its root;
    tau_low, tau_high : Q-profile interval.  q, p_value : Cochran's test of τ² = 0.  i2 : share of the
    variance of task boards that is not chance.
    mean, mean_low, mean_high : over tasks, modified Hartung–Knapp interval with t(k - 1).
    n_tasks : tasks in which it met the anchor; with one, everything but `mean` is None.
    """

    model: str
    n_tasks: int
    prompts: int
    mean: float
    mean_low: float | None
    mean_high: float | None
    tau2: float | None
    tau: float | None
    tau_low: float | None
    tau_high: float | None
    q: float | None
    p_value: float | None
    i2: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BetweenTasks:
    """Models in order of their mean over tasks, with the board of each task.

    left_out : tasks in which nobody met the anchor.
    """

    anchor: str
    boards: dict[str, Board]
    rows: tuple[TaskSpread, ...]
    left_out: tuple[str, ...]
    level: float

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        names = [field.name for field in fields(TaskSpread)]
        return pd.DataFrame([[getattr(row, name) for name in names] for row in self.rows], columns=names)


def between_tasks(
    by_task: Mapping[str, PairScores], anchor: str, *, prior: Prior = "jeffreys", level: float = 0.95
) -> BetweenTasks:
    """Board of each task, and for each model the variance τ² of its Elo between tasks.

    With yₜ the Elo in task t and vₜ its squared dispersion-corrected SE, w = 1/v, ȳ = Σwy/Σw:
    Q = Σw(y - ȳ)², τ² = max(0, (Q - (k - 1))/(Σw - Σw²/Σw)), I² = max(0, (Q - (k - 1))/Q).
    Mean over tasks: μ = Σw*y/Σw*, w* = 1/(v + τ²), SE² = max(1, Σw*(y - μ)²/(k - 1))/Σw*, ± t(k - 1)·SE.
    Interval of τ²: those values at which Σ(y - μ)²/(v + τ²) lies between the χ²(k - 1) quantiles; its upper
    end is never below that of tasks which differ just as chance makes expected, Q = k - 1 (ours). Where they
    happen to differ far less, it would be 0 to 0, as if tasks were known not to differ.

    Limits: the test is cautious, as v counts the prior (among equal tasks it rejects in 1 to 3 % at .05). The
    prior draws each task towards 0 and w favours the tasks drawn most, so the mean is too near 0 where tasks
    are small and a model wins almost always: at p = .97 over ten tasks of 20 prompts 95 % hold .4 (five of
    30 at .95: .96). The board of all prompts together does not have this.

    Parameters
    ----------
    by_task : task → pair scores of that task's prompts.
    anchor : Elo 0 in every task.

    Raises
    ------
    NoUsableVotes : the anchor met nobody in any task.

    Source: methods §6; DerSimonian & Laird (1986); Hartung & Knapp (2001), modified by Röver et al. (2015);
    Viechtbauer (2007).
    """
    check_level(level)
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
            seen.setdefault(row.model, []).append((row.elo, row.se_elo_corrected**2, row.n))
    rows = [_spread(model, np.array(values), level) for model, values in seen.items()]
    return BetweenTasks(
        anchor=anchor,
        boards=boards,
        rows=tuple(sorted(rows, key=lambda row: (-round(row.mean, 9), row.model))),
        left_out=tuple(task for task in by_task if task not in boards),
        level=level,
    )


def heterogeneity(y: FloatArray, v: FloatArray, *, level: float = 0.95) -> dict[str, float]:
    """DerSimonian–Laird τ² with its Q-profile interval, Q, p, I², and the mean with its interval.

    y : (k,) estimates, k ≥ 2.  v : (k,) their variances, above 0.  Formulas as in `between_tasks`.
    """
    from scipy.special import chdtrc, chdtri, stdtrit

    k = len(y)
    w = 1 / v
    q = float((w * (y - (w * y).sum() / w.sum()) ** 2).sum())
    tau2 = max(0.0, (q - (k - 1)) / float(w.sum() - (w**2).sum() / w.sum()))
    weight = 1 / (v + tau2)
    mean = float((weight * y).sum() / weight.sum())
    spread = float((weight * (y - mean) ** 2).sum()) / (k - 1)
    half = float(stdtrit(k - 1, (1 + level) / 2) * np.sqrt(max(1.0, spread) / weight.sum()))
    tail = (1 - level) / 2
    lower = float(chdtri(k - 1, 1 - tail))
    return {
        "tau2": tau2,
        "tau2_low": _profile(y, v, float(chdtri(k - 1, tail))),
        "tau2_high": max(_profile(y, v, lower), _profile_of_chance(v, lower)),
        "q": q,
        "p_value": float(chdtrc(k - 1, q)),
        "i2": max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0,
        "mean": mean,
        "mean_low": mean - half,
        "mean_high": mean + half,
    }


def _profile(y: FloatArray, v: FloatArray, target: float) -> float:
    """τ² at which the generalised Q falls to `target`; 0 if it starts below."""

    def generalised(tau2: float) -> float:
        w = 1 / (v + tau2)
        return float((w * (y - (w * y).sum() / w.sum()) ** 2).sum())

    return _falls_to(target, generalised, float(((y - y.mean()) ** 2).sum()) / target + float(v.max()))


def _profile_of_chance(v: FloatArray, target: float) -> float:
    """`_profile` of the Q that is expected where true values are equal: Σwv - Σw²v/Σw, k - 1 at τ² = 0."""

    def expected(tau2: float) -> float:
        w = 1 / (v + tau2)
        return float((w * v).sum() - (w**2 * v).sum() / w.sum())

    return _falls_to(target, expected, float(v.max()))


def _falls_to(target: float, falling: Callable[[float], float], top: float) -> float:
    """Where a falling function of τ² reaches `target`; 0 if it starts below.  top : a first upper bound."""
    if falling(0.0) <= target:
        return 0.0
    from scipy.optimize import brentq

    while falling(top) > target:
        top *= 2
    return float(brentq(lambda tau2: falling(tau2) - target, 0.0, top, xtol=1e-9 * top))


def _spread(model: str, values: FloatArray, level: float) -> TaskSpread:
    elo, variance, prompts = values.T
    found: dict[str, float | None] = dict.fromkeys(
        ("mean_low", "mean_high", "tau2", "tau2_low", "tau2_high", "q", "p_value", "i2")
    )
    found["mean"] = float(elo[0])
    if len(elo) > 1:
        found |= heterogeneity(elo, variance, level=level)
    root = {
        name.replace("tau2", "tau"): None if value is None else float(np.sqrt(value))
        for name, value in found.items()
        if name.startswith("tau2")
    }
    named = {name: value for name, value in found.items() if name not in ("tau2_low", "tau2_high", "mean")}
    return TaskSpread(
        model=model,
        n_tasks=len(elo),
        prompts=int(prompts.sum()),
        mean=found["mean"] or 0.0,
        **named,
        **root,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SubsampleErrors:
    """SE(p̄) predicted beside the SD over subsamples, one row a (model, n); pool = the model's prompts."""

    model: tuple[str, ...]
    n: IntArray
    pool: IntArray
    se_analytic: FloatArray
    se_finite: FloatArray
    se_empirical: FloatArray
    draws: int

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        names = ("model", "n", "pool", "se_analytic", "se_finite", "se_empirical")
        return pd.DataFrame({name: getattr(self, name) for name in names})


def subsample_errors(
    pairs: PairScores, anchor: str, *, sizes: tuple[int, ...], rng: np.random.Generator, draws: int = 500
) -> SubsampleErrors:
    """SE(p̄) predicted from all prompts, beside the SD of p̄ over `draws` subsamples of n prompts.

    se_analytic = √(p̄(1 - p̄)/(n + 2)) with p̄ from all M prompts of the model; se_finite = √((M - n)/(M -
    1)) times that, the one to compare, as subsamples are drawn without replacement. Sizes of M or more are
    left out.

    Source: [RAEE] Table 9.
    """
    model, _, score, _ = against(pairs, anchor)
    names: list[str] = []
    rows: list[tuple[float, ...]] = []
    for code in np.unique(model):
        values = score[model == code]
        m = len(values)
        usable = np.array([size for size in sorted(set(sizes)) if 1 <= size < m], dtype=np.int64)
        if not len(usable):
            continue
        p, _ = win_probability(np.array([m]), values.sum(keepdims=True))
        # Prompts with one score are alike, so a subsample is a hypergeometric draw of counts of scores.
        distinct, held = np.unique(values, return_counts=True)
        drawn = [rng.multivariate_hypergeometric(held, int(size), size=draws) @ distinct for size in usable]
        empirical = win_probability(usable[:, None], np.stack(drawn))[0].std(axis=1, ddof=1)
        mass = np.asarray(usable + 1.0, dtype=np.float64)
        analytic = standard_error(p, mass)
        finite = standard_error(p, mass, n=usable, pool=m)
        names += [pairs.models[code]] * len(usable)
        rows += zip(usable, [m] * len(usable), analytic, finite, empirical, strict=True)
    table = np.array(rows).reshape(-1, 5)
    return SubsampleErrors(
        model=tuple(names),
        n=table[:, 0].astype(np.int64),
        pool=table[:, 1].astype(np.int64),
        se_analytic=table[:, 2],
        se_finite=table[:, 3],
        se_empirical=table[:, 4],
        draws=draws,
    )
