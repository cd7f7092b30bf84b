"""How do the parameters of BTD differ between tasks and judges? One table of them all, with regimes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.aggregation.btd import MINIMUM_LABELS, PARAMETERS, Bounds
from core.aggregation.evaluation import ParameterTable, evaluate
from core.counts import VoteCounts
from core.votes import TooFewLabels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParameterGrid:
    """BTD parameters of many groups: (name, name) → mean, quartiles, regime; and why some have none."""

    tables: dict[tuple[str, str], ParameterTable]
    calibration: dict[tuple[str, str], float]
    n: dict[tuple[str, str], int]
    not_possible: dict[tuple[str, str], str]
    n_splits: int

    def to_frame(self) -> pd.DataFrame:
        """One row a group."""
        import pandas as pd

        rows = []
        for (task, judge), table in self.tables.items():
            row: dict[str, object] = {"task": task, "judge": judge}
            for place, name in enumerate(PARAMETERS):
                row |= {f"{name}_{part}": getattr(table, part)[place] for part in ("mean", "q1", "q3")}
            key = (task, judge)
            rows.append(
                row | {"regime": table.regime, "calibration": self.calibration[key], "n": self.n[key]}
            )
        return pd.DataFrame(rows)


def parameter_grid(
    groups: Mapping[tuple[str, str], VoteCounts],
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
) -> ParameterGrid:
    """Mean and quartiles of β, ν, γ over the splits of each (task, judge), and the regime that ν shows.

    Every group starts from the same state of `rng`, so its numbers are those of `evaluate` on it alone. A
    group too small to split is listed with the reason. Source: [BTD] Table 9.
    """
    tables, calibration, n, not_possible = {}, {}, {}, {}
    for key, counts in groups.items():
        try:
            found = evaluate(
                counts,
                rng=copy.deepcopy(rng),
                methods=("btd",),
                n_splits=n_splits,
                share=share,
                minimum=minimum,
                alpha=alpha,
                kappa=kappa,
                bounds=bounds,
                resamples=0,
            )
        except TooFewLabels as error:
            not_possible[key] = str(error)
            continue
        assert found.parameters is not None  # BTD is among the methods
        tables[key], calibration[key], n[key] = found.parameters, found.calibration, found.n
    return ParameterGrid(
        tables=tables, calibration=calibration, n=n, not_possible=not_possible, n_splits=n_splits
    )
