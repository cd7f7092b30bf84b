"""What is made of all judges for this question; counts keep each result once."""

from __future__ import annotations

import numpy as np

from ...errors import InvalidOption, NoUsableVotes
from ...finding.check import Unknown
from ...finding.evidence import Counted
from ...finding.result import Result
from ...store import vote_queries as queries
from .jury import Jury, judge_jury


def _tried_jury(counted: Counted) -> Jury | Unknown | None:
    options = counted.options
    if not options.jury or not counted.about:
        return None
    votes = {name: of for name, of in counted.votes.items() if name not in counted.people}
    try:
        return judge_jury(
            votes,
            counted.by_confidence,
            rng=np.random.default_rng(options.seed),
            by=options.confidence_by,
            costs=counted.ask(queries.costs),
            epsilon=options.middle_epsilon,
            level=options.level,
        )
    except (NoUsableVotes, InvalidOption) as error:
        return Unknown(str(error))


TRIED_JURY = Result("tried_jury", _tried_jury)
"""The judges that can sit together, or why there is no jury; None if it was not asked for."""


def _jury(counted: Counted) -> Jury | None:
    tried = counted[TRIED_JURY]
    return None if isinstance(tried, Unknown) else tried


JURY = Result("jury", _jury)
"""The judges that can sit together, by every rule."""
