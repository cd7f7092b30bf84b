"""The jury of a selection, the fusers beside it, and whether either beats its best judge.

Source: [TH] §5, Tables 5 and 7, Figure 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...records import DERIVED, ConfidenceCounts, VoteCounts
from ...schema import ConfidenceSource
from ..confidence.th_scores import EPSILON
from .method import EnsembleTable, Members, compare, fuser_verdicts, likely_jury, members

FUSER = "fuser("


def model_of_fuser(name: str) -> str | None:
    """The model that a fuser is: that of `fuser(model)`; None for another name.

    >>> model_of_fuser("fuser(sim-model)")
    'sim-model'
    """
    return name[len(FUSER) : -1] if name.startswith(FUSER) and name.endswith(")") else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Jury:
    """A jury, what it is compared with, and what came out."""

    members: Members
    fusers: tuple[str, ...]
    table: EnsembleTable


def judge_jury(
    counts: Mapping[str, VoteCounts],
    votes: Mapping[str, ConfidenceCounts],
    *,
    rng: np.random.Generator,
    jury: Sequence[str] | None = None,
    fusers: Sequence[str] | None = None,
    by: ConfidenceSource = "stated",
    costs: Mapping[str, float | None] | None = None,
    epsilon: float = EPSILON,
    level: float = 0.95,
) -> Jury:
    """`compare` of the judges that can sit together, and of the fusers beside them.

    counts, votes : of every judge that is no person.  jury, fusers : by default `likely_jury` of
        those that read no other judgements, and every other judge named `fuser(model)`. A fuser is
        also compared with the judge of that name, the same model alone.
    Raises as `members` and `compare`.
    """
    if jury is None:
        jury = likely_jury(
            {name: one for name, one in counts.items() if not name.startswith(DERIVED)}
        )
    if fusers is None:
        fusers = [name for name in counts if name not in jury and name.startswith(FUSER)]
    seated = members({name: counts[name] for name in jury}, votes, by=by)
    models = {name: model for name in fusers if (model := model_of_fuser(name)) and model in counts}
    table = compare(
        seated,
        rng=rng,
        fusers={name: fuser_verdicts(seated, counts[name], votes[name]) for name in fusers},
        same_model={name: (model, counts[model]) for name, model in models.items()},
        costs=costs,
        epsilon=epsilon,
        level=level,
    )
    return Jury(members=seated, fusers=tuple(fusers), table=table)
