"""Judge screening: what a cut on repeatability does to the pooled board, and which judges are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.agreement.repeatability import Repeatability
from core.counts import PairScores
from core.leaderboard.pooling import PooledBoard, mean_of_judges
from core.leaderboard.raee import Prior
from core.leaderboard.ratings import met
from core.votes import InvalidOption, NoUsableVotes

if TYPE_CHECKING:
    import pandas as pd

CUTS = tuple(round(0.05 * step, 2) for step in range(20))
"""0, 0.05, … 0.95."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Screened:
    """The board of the judges whose ICC(3,k) is at least `cut`; None: no cut, all with a known one.

    width : mean width of the interval of the models' Elo, points, on the models rated whatever the cut.
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
    """One row a cut, the one without a cut first.

    icc : ICC(3,k) of each judge.  unknown : judges without one, which no cut can judge: they are left out.
    """

    anchor: str
    rows: tuple[Screened, ...]
    icc: dict[str, float]
    unknown: tuple[str, ...]
    level: float

    def to_frame(self) -> pd.DataFrame:
        """`judges` is their number; `left` names them."""
        import pandas as pd

        return pd.DataFrame(
            [
                [
                    row.cut,
                    len(row.judges),
                    row.width,
                    row.sd_judges,
                    row.kendall,
                    row.n_models,
                    "; ".join(row.judges),
                ]
                for row in self.rows
            ],
            columns=["cut", "judges", "width", "sd_judges", "kendall", "n_models", "left"],
        )


def screening(
    judged: Mapping[str, PairScores],
    anchor: str,
    *,
    icc: Mapping[str, Repeatability],
    cuts: Sequence[float] = CUTS,
    prior: Prior = "jeffreys",
    level: float = 0.95,
) -> Screening:
    """Keep the judges whose ICC(3,k) is at least each cut and pool their Elo gaps (`mean_of_judges`).

    Fewer judges widen the interval unless they were the noisy ones. Widths are compared on the models that
    some judge still rates at every cut that leaves a judge, so that a cut cannot gain by losing models.

    Raises
    ------
    NoUsableVotes : no judge with a known ICC met the anchor.  InvalidOption : a cut above 1 or not a number.

    Source: [RAEE] §2, judge screening; methods §6.
    """
    for given in cuts:
        if not given <= 1:
            raise InvalidOption(f"cut = {given}: an ICC is at most 1")
    seen = {name: pairs for name, pairs in judged.items() if met(pairs, anchor)}
    known = {name: value for name in seen if name in icc and (value := icc[name].icc_3_k) is not None}
    if not known:
        raise NoUsableVotes(
            "screening needs judges that voted repeatedly on the same comparisons; "
            f"none of {len(seen)} has a known ICC"
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
    everyone = {row.model: row.elo for row in boards[kept[0][1]].rows}
    return Screening(
        anchor=anchor,
        rows=tuple(_screened(cut, left, boards.get(left), common, everyone) for cut, left in kept),
        icc=known,
        unknown=tuple(name for name in seen if name not in known),
        level=level,
    )


def _screened(
    cut: float | None,
    judges: tuple[str, ...],
    found: PooledBoard | None,
    common: set[str],
    everyone: Mapping[str, float],
) -> Screened:
    rows = [] if found is None else [row for row in found.rows if row.model in common]
    kendall = None
    if len(rows) >= 2:
        from scipy.stats import kendalltau

        tau = kendalltau(
            np.round([row.elo for row in rows], 9), np.round([everyone[row.model] for row in rows], 9)
        )
        kendall = None if np.isnan(tau.statistic) else float(tau.statistic)
    spreads = [row.sd_judges for row in rows if row.sd_judges is not None]
    return Screened(
        cut=cut,
        judges=judges,
        width=float(np.mean([row.elo_high - row.elo_low for row in rows])) if rows else None,
        sd_judges=float(np.mean(spreads)) if spreads else None,
        kendall=kendall,
        n_models=len(rows),
    )
