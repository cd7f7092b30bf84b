"""Several judges as one: the mean of their Elo gaps, what one more judge gains, and screening of
judges.

`pooling` compares the variance of pooled boards with what theory predicts; `screening` keeps the
judges that repeat themselves well enough and shows what that does to the pooled board.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...errors import InvalidOption, NoUsableVotes
from ...records import FloatArray, PairScores, independent
from ...stats.estimate import DataFrame, Estimate, Estimates, rows_frame
from ...stats.intervals import z_quantile
from ..agreement.reliability import Repeatability
from .anchored import ELO_PER_NAT, Prior, against, board, judges_that_met, met
from .anchors import kendall_tau

JURIES = 200
"""Juries of one size that are evaluated: all of them, or so many drawn at random (ours)."""
CUTS = tuple(round(0.05 * step, 2) for step in range(20))
"""0, 0.05, … 0.95."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PooledRow:
    """One model: `elo` is the mean of the judges' Elo gaps, `sd_judges` their SD (None with one
    judge).

    The interval of `elo` is over prompts, for these judges: judges that err on the same prompts
    widen it.
    p : win probability that `elo` stands for.  prompts : distinct, of all judges.
    """

    model: str
    elo: Estimate
    se_elo: float
    p: float
    sd_judges: float | None
    n_judges: int
    prompts: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PooledBoard:
    """The variant "mean of judges": best first; "pooled votes" is `anchored.board` of all votes
    together.
    """

    anchor: str
    rows: tuple[PooledRow, ...]

    def to_frame(self) -> DataFrame:
        """One row per model."""
        return rows_frame(PooledRow, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class JurySize:
    """Juries of `size` judges: variance of the mean of their Elo gaps, in squared Elo points.

    observed : mean over juries and models, with the 2.5 and 97.5 % points of juries.
    predicted : σ²(ρ + (1 - ρ)/J) with the observed mean correlation of judges; predicted_runs :
        with the
    within-judge ICC as ρ, None if that is unknown; 0 where so negative a ρ cannot hold for J
    judges.
    between : SD over juries of a model's pooled Elo, mean over models, in points; None with one
        jury.
    juries : number used.
    """

    size: int
    observed: Estimate
    predicted: float
    predicted_runs: float | None
    between: float | None
    juries: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pooling:
    """Variance of the pooled board as judges are added, on the models that every judge rated.

    sigma2 : mean variance of one judge's Elo gap over prompts.  rho : mean correlation of two
        judges' errors.
    rho_runs : the paper's ρ, mean ICC(3,1) within judges; None unknown.
    """

    sizes: tuple[JurySize, ...]
    sigma2: float
    rho: float
    rho_runs: float | None

    def to_frame(self) -> DataFrame:
        """One row per number of judges."""
        return rows_frame(JurySize, self.sizes)


def mean_of_judges(
    judged: Mapping[str, PairScores], anchor: str, *, prior: Prior = "jeffreys", level: float = 0.95
) -> PooledBoard:
    """Mean of the judges' Elo gaps of every model, with an interval over prompts.

    Elo = Σ_j Elo_j/J. Judges see the same prompts, so their errors are correlated (ours): Cov(j, k)
    = r_jk·SE_j·SE_k, SE the corrected one of `anchored.board`, r_jk = Σ_i d_ij·d_ik/√(Σ_i d_ij²·Σ_i
    d_ik²) with d_ij = S_ij - S̄_j, the first sum over prompts of both; SE² = Σ_jk Cov(j, k)/J².
    Where a judge scored all prompts alike, r is n_both/√(n_j·n_k), as of judges that always agree:
    the cautious end. One judge has the mean of itself.

    judged : pair scores of each judge, of one selection; a judge without the anchor is left out, as
        is one that read the others' judgements (`independent`), and a model has the mean of the
        judges that rated it.

    Raises NoUsableVotes if no judge met the anchor. Source: [RAEE] App. C; docs/methods.md §6.
    """
    gap, covariance, _, models, prompts = _gaps(judged, anchor, prior)
    known = ~np.isnan(gap)
    n = known.sum(axis=1)
    elo = np.nansum(gap, axis=1) / n
    # Two judges that always contradict each other cancel; rounding must not take that below 0.
    error = np.sqrt(np.maximum(np.nansum(covariance, axis=(1, 2)), 0.0)) / n
    sd = np.sqrt(np.nansum((gap - elo[:, None]) ** 2, axis=1) / np.maximum(n - 1, 1))
    half = z_quantile(level) * error
    gaps = Estimates(elo, elo - half, elo + half, n, level)
    order = sorted(range(len(models)), key=lambda m: (-round(float(elo[m]), 9), models[m]))
    rows = tuple(
        PooledRow(
            model=models[m],
            elo=gaps[m],
            se_elo=float(error[m]),
            p=float(1 / (1 + math.exp(-elo[m] / ELO_PER_NAT))),
            sd_judges=float(sd[m]) if n[m] > 1 else None,
            n_judges=int(n[m]),
            prompts=prompts[m],
        )
        for m in order
    )
    return PooledBoard(anchor=anchor, rows=rows)


def pooling(
    judged: Mapping[str, PairScores],
    anchor: str,
    *,
    rng: np.random.Generator,
    icc: Mapping[str, float | None] | None = None,
    juries: int = JURIES,
    prior: Prior = "jeffreys",
) -> Pooling:
    """Variance of the mean of J judges' Elo gaps: observed, and σ²(ρ + (1 - ρ)/J) with two ρ.

    σ² is the mean variance of one judge, ρ the mean correlation of two judges' errors over prompts,
    both over models; the paper takes for ρ how well a judge repeats itself, which is another
    quantity. Observed: the variance of the mean of each jury (`mean_of_judges`), over all juries of
    J judges, or `juries` random.

    judged : pair scores of each judge.  icc : ICC(3,1) of each judge, None where unknown.
    rng : draws juries where there are more than `juries` of a size.

    Raises NoUsableVotes unless two judges rated a common model against the anchor, InvalidOption
    below two juries.
    Source: [RAEE] App. C; docs/methods.md §6 (observed ρ ours).
    """
    if juries < 2:
        raise InvalidOption(f"juries = {juries}: needs at least 2")
    gap, covariance, judges, _, _ = _gaps(judged, anchor, prior)
    every = ~np.isnan(gap).any(axis=1)
    if len(judges) < 2 or not every.any():
        raise NoUsableVotes(
            f"pooling needs two judges that rated the same models against {anchor}; there are "
            f"{len(judges)}" + (" without a common model" if len(judges) > 1 else "")
        )
    gap, covariance = gap[every], covariance[every]
    sd = np.sqrt(np.einsum("mjj->mj", covariance))
    off = ~np.eye(len(judges), dtype=bool)
    rho = float((covariance / (sd[:, :, None] * sd[:, None, :]))[:, off].mean())
    sigma2 = float((sd**2).mean())
    known = [value for name in judges if (value := (icc or {}).get(name)) is not None]
    rho_runs = float(np.mean(known)) if known else None

    def predicted(correlation: float, size: int) -> float:
        return max(predicted_variance(sigma2, correlation, size), 0.0)

    sizes = []
    for size in range(1, len(judges) + 1):
        member = _juries(len(judges), size, juries, rng)
        observed = np.einsum("aj,mjk,ak->am", member, covariance, member).mean(axis=1) / size**2
        observed = np.maximum(observed, 0.0)
        low, high = np.quantile(observed, [0.025, 0.975])
        pooled = member @ gap.T / size
        sizes.append(
            JurySize(
                size=size,
                observed=Estimate(float(observed.mean()), float(low), float(high), n=len(member)),
                predicted=predicted(rho, size),
                predicted_runs=None if rho_runs is None else predicted(rho_runs, size),
                between=float(pooled.std(axis=0, ddof=1).mean()) if len(member) > 1 else None,
                juries=len(member),
            )
        )
    return Pooling(sizes=tuple(sizes), sigma2=sigma2, rho=rho, rho_runs=rho_runs)


def predicted_variance(sigma2: float, rho: float, judges: int) -> float:
    """Variance of the mean of J equally correlated judges: σ²(ρ + (1 - ρ)/J).

    Source: [RAEE] App. C.
    """
    return sigma2 * (rho + (1 - rho) / judges)


def _gaps(
    judged: Mapping[str, PairScores], anchor: str, prior: Prior
) -> tuple[FloatArray, FloatArray, tuple[str, ...], tuple[str, ...], list[int]]:
    """Elo gaps (models, judges), their covariance (models, judges, judges), names, distinct
    prompts.
    """
    judges = judges_that_met(judged, anchor)
    seen = {name: against(judges[name], anchor)[:3] for name in independent(judges)}
    names = judged[next(iter(seen))].models
    used = np.unique(np.concatenate([model for model, _, _ in seen.values()]))
    gap, error = np.full((2, len(used), len(seen)), np.nan)
    parts = []
    for j, (name, (model, item, score)) in enumerate(seen.items()):
        rows = {row.model: row for row in board(judged[name], anchor, prior=prior).rows}
        for m, code in enumerate(used.tolist()):
            if (row := rows.get(names[code])) is not None:
                gap[m, j], error[m, j] = row.elo.value, row.se_elo_corrected
        order = np.argsort(model, kind="stable")
        ends = np.searchsorted(model[order], np.append(used, used[-1] + 1))
        parts.append((item[order], score[order], ends))
    covariance = error[:, :, None] * error[:, None, :]
    prompts = []
    for m in range(len(used)):
        cut = [
            (item[ends[m] : ends[m + 1]], score[ends[m] : ends[m + 1]])
            for item, score, ends in parts
        ]
        items, column = np.unique(np.concatenate([item for item, _ in cut]), return_inverse=True)
        judge = np.repeat(np.arange(len(cut)), [len(item) for item, _ in cut])
        away = np.zeros((len(cut), len(items)))
        away[judge, column] = np.concatenate(
            [score - (score.mean() if len(score) else 0) for _, score in cut]
        )
        length = np.sqrt((away**2).sum(axis=1))
        flat = length < 1e-9
        length[flat] = np.inf
        correlation = away @ away.T / (length[:, None] * length)
        if flat.any():
            judged_it = np.zeros(away.shape)
            judged_it[judge, column] = 1.0
            size = np.maximum(np.sqrt(judged_it.sum(axis=1)), 1.0)
            agreed = judged_it @ judged_it.T / (size[:, None] * size)
            correlation = np.where(flat[:, None] | flat, agreed, correlation)
        np.fill_diagonal(correlation, 1.0)
        covariance[m] *= correlation
        prompts.append(len(items))
    return gap, covariance, tuple(seen), tuple(names[m] for m in used), prompts


def _juries(judges: int, size: int, most: int, rng: np.random.Generator) -> FloatArray:
    """(juries, judges) 1 for a member: all juries of a size, or `most` random ones."""
    if math.comb(judges, size) <= most:
        chosen = list(combinations(range(judges), size))
    else:
        chosen = [tuple(rng.permutation(judges)[:size]) for _ in range(most)]
    member = np.zeros((len(chosen), judges))
    np.put_along_axis(member, np.array(chosen), 1.0, axis=1)
    return member


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Screened:
    """The board of the judges whose ICC(3,k) is at least `cut`; None: no cut, all with a known one.

    width : mean width of the interval of the models' Elo, points, on the models rated whatever the
        cut.
    sd_judges : mean SD of Elo across judges; None with fewer than two judges.
    kendall : τ_b with the board without a cut.  No judge left: numbers are None.
    """

    cut: float | None
    judges: tuple[str, ...]
    width: float | None
    sd_judges: float | None
    kendall: float | None
    n_models: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Screening:
    """One row per cut, the one without a cut first.

    icc : ICC(3,k) of each judge.  unknown : judges without one, which no cut can judge: they are
        left out.
    """

    rows: tuple[Screened, ...]
    icc: dict[str, float]
    unknown: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """`judges` is their number; `left` names them."""
        frame = rows_frame(Screened, self.rows)
        return frame.assign(left=frame["judges"].map("; ".join), judges=frame["judges"].map(len))


def screening(
    judged: Mapping[str, PairScores],
    anchor: str,
    *,
    icc: Mapping[str, Repeatability],
    cuts: Sequence[float] = CUTS,
    prior: Prior = "jeffreys",
    level: float = 0.95,
) -> Screening:
    """Keep the judges whose ICC(3,k) is at least each cut and pool their Elo gaps
    (`mean_of_judges`).

    Fewer judges widen the interval unless they were the noisy ones. Widths are compared on the
    models that some judge still rates at every cut that leaves a judge, so that a cut cannot gain
    by losing models.

    Raises NoUsableVotes if no judge with a known ICC met the anchor, InvalidOption for a cut above
    1 or NaN.
    Source: [RAEE] §2, judge screening; docs/methods.md §6.
    """
    for given in cuts:
        if not given <= 1:
            raise InvalidOption(f"cut = {given}: an ICC is at most 1")
    judges = independent(name for name, pairs in judged.items() if met(pairs, anchor))
    seen = {name: judged[name] for name in judges}
    known = {name: found.value for name in seen if name in icc and (found := icc[name].icc_3_k)}
    if not known:
        raise NoUsableVotes(
            "screening needs judges that voted repeatedly on the same comparisons; none of "
            f"{len(seen)} has a known ICC"
        )
    boards: dict[tuple[str, ...], PooledBoard] = {}
    kept: list[tuple[float | None, tuple[str, ...]]] = []
    for cut in (None, *sorted(set(cuts))):
        left = tuple(name for name, value in known.items() if cut is None or value >= cut)
        kept.append((cut, left))
        if left and left not in boards:
            boards[left] = mean_of_judges(
                {name: seen[name] for name in left}, anchor, prior=prior, level=level
            )
    common = set.intersection(*({row.model for row in found.rows} for found in boards.values()))
    return Screening(
        rows=tuple(
            _screened(cut, left, boards.get(left), common, boards[kept[0][1]]) for cut, left in kept
        ),
        icc=known,
        unknown=tuple(name for name in seen if name not in known),
    )


def _screened(
    cut: float | None,
    judges: tuple[str, ...],
    found: PooledBoard | None,
    common: set[str],
    full: PooledBoard,
) -> Screened:
    rows = [] if found is None else [row for row in found.rows if row.model in common]
    everyone = {row.model: row.elo.value for row in full.rows}
    spreads = [row.sd_judges for row in rows if row.sd_judges is not None]
    return Screened(
        cut=cut,
        judges=judges,
        width=float(np.mean([row.elo.high - row.elo.low for row in rows])) if rows else None,
        sd_judges=float(np.mean(spreads)) if spreads else None,
        kendall=kendall_tau([row.elo.value for row in rows], [everyone[row.model] for row in rows]),
        n_models=len(rows),
    )
