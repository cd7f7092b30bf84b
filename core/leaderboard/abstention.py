"""Abstention: what dropping the prompts that a judge is unsure of does to a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from core.counts import BoolArray, FloatArray, PairDoubt, PairScores
from core.leaderboard.pooling import PooledBoard, mean_of_judges
from core.leaderboard.raee import Prior, against, board, elo_of_p, win_probability
from core.leaderboard.ratings import met
from core.votes import InvalidOption, NoUsableVotes

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
    doubts : of each judge, of one selection (`core.store.runs.pair_doubts`).
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
