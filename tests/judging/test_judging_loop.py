"""The whole loop: simulated judges with known faults, collected, stored, audited; the audit finds
them.
"""

from __future__ import annotations

import math

import pytest
from judging_jobs import collect, job, pairs
from judging_server import JUDGES, Server

from core.questions.confidence.calibration_error import confidence_gap
from core.questions.order.method import position_bias
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries

pytestmark = pytest.mark.thorough

ITEMS, VOTES = 120, 8


@pytest.fixture(scope="module")
def collected():
    items = pairs(ITEMS, seed=11)
    with Server(seed=3) as server, Store.open() as store:
        last = collect(
            job(server, items, "everything", votes=VOTES, confidence="self"), store, concurrency=32
        )
        assert last.answered == ITEMS * VOTES == server.calls
        positions = queries.positions(store, Selection())["everything"]
        outcomes = queries.outcomes(store, Selection())["everything"]
    return items, positions, outcomes


def expected(items) -> dict[str, float]:
    """What the judge's probabilities say of these very items, half in each order."""
    judge, totals = (
        JUDGES["everything"],
        dict.fromkeys(("first", "second", "tie", "right", "stated"), 0.0),
    )
    for item in items:
        a, b = (float(text.split()[-1].rstrip(".")) for text in item.responses)
        for first, second, better in (
            (a, b, "A" if item.gold == 1 else "B"),
            (b, a, "B" if item.gold == 1 else "A"),
        ):
            p = judge.probabilities(first, second, ties=True)
            for name, letter in (("first", "A"), ("second", "B"), ("tie", "C")):
                totals[name] += p[letter]
            totals["right"] += p[better]
            totals["stated"] += sum(share * judge.stated(share) for share in p.values())
    return {name: total / (2 * len(items)) for name, total in totals.items()}


def test_position_bias_is_recovered(collected):
    items, positions, _ = collected
    known, found = expected(items), position_bias(positions)
    bias_all = known["first"] - known["second"]
    bias_decided = bias_all / (known["first"] + known["second"])
    assert found.bias_all.low < bias_all < found.bias_all.high
    assert found.bias_decided.low < bias_decided < found.bias_decided.high
    assert bias_all > 0.1
    assert found.bias_all.low > 0
    assert found.p_value < 0.01
    assert found.direction == "first"
    assert found.unpaired == 0


def test_tie_propensity_is_recovered(collected):
    items, positions, _ = collected
    share = expected(items)["tie"]
    n = ITEMS * VOTES
    found = int(positions.tie.sum()) / n
    # Votes are independent given their item, and items differ in p: the variance is at most
    # binomial.
    assert abs(found - share) < 1.96 * math.sqrt(share * (1 - share) / n)
    assert share > 0.15


def test_overconfidence_is_recovered(collected):
    items, _, outcomes = collected
    known, found = expected(items), confidence_gap(outcomes)
    gap = known["stated"] - known["right"]
    assert found.gap.low < gap < found.gap.high
    assert gap > 0.1
    assert found.gap.low > 0.05
