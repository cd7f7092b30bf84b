"""Does the closed-form standard error of a board hold? Compare it with subsamples of its own prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.counts import FloatArray, IntArray, PairScores
from core.leaderboard.raee import against, standard_error, win_probability

if TYPE_CHECKING:
    import pandas as pd


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
