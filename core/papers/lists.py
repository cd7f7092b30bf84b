"""Tables of [PCF]: one list in several orders."""

from __future__ import annotations

import math

import numpy as np

from ..questions.accuracy.method import direction
from ..questions.lists.method import consensus, pooled_improvements
from ..questions.lists.results import audit_lists
from ..stats.estimate import DataFrame, flat
from .asked import Asked, rows, together

LABELS = "It needs to know which candidate is best (column is_best)."


def candidates(asked: Asked) -> DataFrame:
    """Mean score, Borda, top-set share, uncertainty and consensus of every candidate."""
    return together({name: consensus(each).to_frame() for name, each in asked.rankings.items()})


def improvements(asked: Asked) -> DataFrame:
    """Direct against consensus by judge and source, improved, regressed, p; all judges last."""
    found = {name: audit_lists(name, each, asked.options) for name, each in asked.rankings.items()}
    known = {name: each.improvements for name, each in found.items() if each.improvements}
    listed = []
    for name, each in known.items():
        listed += [{"judge": name} | flat(part) for part in (each.overall, *each.by_category)]
        listed.append(
            {"judge": name, "category": "mean of sources", "n": each.overall.n}
            | {"direct": each.macro_direct, "consensus": each.macro_consensus}
        )
    if (all_judges := pooled_improvements(known.values())) is not None:
        listed.append(
            {"judge": f"all {all_judges.judges}", "improved": all_judges.improved}
            | {"regressed": all_judges.regressed, "p_value": all_judges.p_value}
        )
    return rows(listed, LABELS)


def parts(asked: Asked) -> DataFrame:
    """Score, rank and top set alone, and direct, against all parts."""
    found = {
        name: audit_lists(name, each, asked.options).parts for name, each in asked.rankings.items()
    }
    frames = {
        name: rows(flat(part, without=("differs",)) for part in each)
        for name, each in found.items()
        if each
    }
    return together(frames)


def faults(asked: Asked) -> DataFrame:
    """How often the winner is flagged with a fault, by consensus and directly."""
    found = {
        name: audit_lists(name, each, asked.options).flagged
        for name, each in asked.rankings.items()
    }
    return together(
        {name: rows(flat(part) for part in each) for name, each in found.items() if each}
    )


def orders(asked: Asked) -> DataFrame:
    """Accuracy by number of orders, the error of the majority, and Hoeffding's bound."""
    found = {
        name: audit_lists(name, each, asked.options).sweep for name, each in asked.rankings.items()
    }
    return together({name: each.to_frame() for name, each in found.items() if each is not None})


def slots(asked: Asked) -> DataFrame:
    """Share of winners by slot, against that of the same candidates elsewhere."""
    found = {
        name: audit_lists(name, each, asked.options).sensitivity
        for name, each in asked.rankings.items()
    }
    return together({name: each.to_frame() for name, each in found.items() if each is not None})


def pairwise_sources(asked: Asked) -> DataFrame:
    """Half credit of each judge in each source, and the mean of sources."""
    listed = []
    for name in asked.votes:
        of_source = {}
        for source, judges in asked.tasks.items():
            found = direction(judges[name], level=asked.options.level) if name in judges else None
            if found is not None:
                of_source[source] = found.credit.value
        if of_source:
            listed.append(
                {"judge": name}
                | {source: of_source.get(source, math.nan) for source in asked.tasks}
                | {"mean of sources": float(np.mean(list(of_source.values())))}
            )
    return rows(listed, "It needs gold on votes of several sources.")
