"""What is made of the votes for this question; evidence keeps each result once."""

from __future__ import annotations

import numpy as np

from ...finding.evidence import Counted, Evidence
from ...finding.question import Result
from ...stats.estimate import Estimate
from ...store import vote_queries as queries
from ..accuracy.method import tie_gap
from ..order.results import POSITION, SLOTS_DIFFER
from .changes import Change, changes
from .favours import Favour, favours
from .preference import OwnFamily, Verbosity, own_family, verbosity


def _tie_gap(evidence: Evidence) -> Estimate | None:
    return None if evidence.votes is None else tie_gap(evidence.votes, level=evidence.level)


TIE_GAP = Result("tie_gap", _tie_gap)
"""Share of ties minus gold's."""


def _length(evidence: Evidence) -> Verbosity | None:
    lengths = evidence.lengths
    return None if lengths is None else verbosity(lengths, level=evidence.level)


LENGTH = Result("length", _length)
"""Preference for the longer response."""


def _own_family(evidence: Evidence) -> OwnFamily | None:
    options, counted, votes = evidence.options, evidence.counted, evidence.votes
    own_judge, names = evidence.judge, counted.names
    named = options.family(own_judge) is not None or own_judge in counted.namesakes
    if names is None or votes is None or not named:
        return None
    models = [names[column].to_pylist() for column in ("model_a", "model_b")]
    own = {m for m in {*models[0], *models[1]} if options.same_family(own_judge, m)}
    of_family = [np.array([model in own for model in side], dtype=np.int64) for side in models]
    others = [
        of_other
        for judge, of_other in counted.votes.items()
        if not options.same_family(own_judge, judge)
    ]
    side = (of_family[0] - of_family[1])[votes.comparison]
    return own_family(votes, side, others, level=evidence.level)


OWN_FAMILY = Result("own_family", _own_family)
"""Preference for models of its own family, where it has one."""


def _favours(evidence: Evidence) -> tuple[Favour, ...]:
    """By gold; nothing where models cannot be told from the place in which they were shown."""
    votes, counted = evidence.votes, evidence.counted
    position = evidence[POSITION]
    shuffled = position is not None and position.pairs > position.unpaired
    one_place = not shuffled and evidence.orders is not None and evidence[SLOTS_DIFFER]
    if votes is None or not evidence.has_gold or one_place:
        return ()
    models = counted.models[votes.comparison]
    if (models < 0).all():
        return ()
    names = counted.ask(queries.model_names)
    return favours(votes, models, names, shuffled=shuffled, level=evidence.level)


FAVOURS = Result("favours", _favours)
"""How much more often than gold it prefers the answers of each model."""


def _all_changes(counted: Counted) -> dict[str, tuple[Change, ...]]:
    return changes(counted.ask(queries.perturbed_votes), level=counted.options.level)


ALL_CHANGES = Result("changes", _all_changes)
"""Of all judges: what changes of the items did to verdicts."""


def _changes(evidence: Evidence) -> tuple[Change, ...]:
    return evidence.counted[ALL_CHANGES].get(evidence.judge, ())


CHANGES = Result("robustness", _changes)
"""What changes of the items did to its verdicts."""
