"""Abstention: what dropping the prompts that a judge is unsure of does to a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ..errors import InvalidOption, NoUsableVotes
from ..records import BoolArray, FloatArray, IntArray, PairDoubt, kept_rows
from ..stats.estimate import Estimate, rows_frame
from .anchored import Prior, against, board, elo_of_p, win_probability
from .anchors import kendall_tau
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
    delta_p: float | None = None
    delta_elo: float | None = None
    se_elo: float | None = None
    cv: float | None = None
    kendall: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One model at one threshold: mean of judges' win probability before and after, with an interval.

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

    anchor: str
    rule: Rule
    judges: tuple[str, ...]
    rows: tuple[Abstained, ...]
    n: int
    n_unknown: int

    def to_frame(self) -> pd.DataFrame:
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

    Source: [RAEE]; docs/methods.md §6.
    """
    known, n_unknown = _known(doubts, anchor, rule)
    cuts = THRESHOLDS[rule] if thresholds is None else tuple(thresholds)
    for cut in cuts:
        if not 0 <= cut <= 1:
            raise InvalidOption(f"threshold = {cut}: must be from 0 to 1")
    full = _mean(known, anchor, prior)
    n = _size(known)
    rows = [_abstained(None, known, full, n, prior)]
    for cut in sorted(set(cuts), reverse=rule == "run_sd"):
        kept = {name: (one, _keep(one, rule, cut)) for name, one in known.items()}
        left = {name: _rows(one, keep) for name, (one, keep) in kept.items() if keep.any()}
        rows.append(_abstained(cut, left, full, n, prior))
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
        judged = [
            (item[model == code], score[model == code], keep[model == code])
            for model, item, score, keep in parts
        ]
        judged = [(item, score, keep) for item, score, keep in judged if keep.any()]
        if judged:
            found.append(_changed(names[code], judged, level))
    return tuple(sorted(found, key=lambda one: (-round(abs(one.delta.value), 9), one.model)))


def _changed(model: str, judged: Sequence[tuple[IntArray, FloatArray, BoolArray]], level: float) -> Changed:
    """`changes` of one model, from (item, score, kept) of each judge."""
    from scipy.special import ndtri

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
    half = float(ndtri((1 + level) / 2)) * float(
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
    """Change of a share with the added prompts, the influence of each prompt on it, and of the four added."""
    n, dropped = len(score), ~kept
    more, fewer = int(kept.sum()) + 2, int(dropped.sum()) + 2
    left = 1 - kept.mean()
    one, two = (score[kept].sum() + 1) / more, (score[dropped].sum() + 1) / fewer
    influence = left * (kept * (score - one) / more - dropped * (score - two) / fewer)
    influence -= (one - two) * (kept - kept.mean()) / n
    ends = left * np.array([(1 - one) / more, -one / more, (1 - two) / fewer, -two / fewer])
    return float(left * (one - two)), influence, ends


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
    """The rows of a judge that are kept."""
    return PairDoubt(pairs=replace(one.pairs, **kept_rows(one.pairs, keep)), **kept_rows(one, keep))


def _size(judged: Mapping[str, PairDoubt]) -> int:
    return sum(len(one.pairs) for one in judged.values())


def _mean(judged: Mapping[str, PairDoubt], anchor: str, prior: Prior) -> PooledBoard:
    return mean_of_judges({name: one.pairs for name, one in judged.items()}, anchor, prior=prior)


def _abstained(
    cut: float | None, left: Mapping[str, PairDoubt], full: PooledBoard, n: int, prior: Prior
) -> Abstained:
    kept = _size(left)
    if not kept:
        return Abstained(threshold=cut, coverage=0.0, n=0, n_models=0)
    found = full if cut is None else _mean(left, full.anchor, prior)
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


def _cv(judged: Mapping[str, PairDoubt], anchor: str, prior: Prior) -> float | None:
    """SD over mean of p across judges, mean over the models that several judges rated."""
    p: dict[str, list[float]] = {}
    for one in judged.values():
        for row in board(one.pairs, anchor, prior=prior).rows:
            p.setdefault(row.model, []).append(row.p.value)
    several = [np.array(values) for values in p.values() if len(values) > 1]
    return float(np.mean([values.std(ddof=1) / values.mean() for values in several])) if several else None
