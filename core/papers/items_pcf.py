"""Permutation consensus, item by item: [PCF]."""

from __future__ import annotations

from . import lists
from .record import place

_collect = place("PCF", "collect")
_consensus = place("PCF", "listwise", "Consensus")
_orders = place("PCF", "listwise", "How many orders")
_here = place("PCF", "papers")
_parts = place("PCF", "listwise", "Parts")
_SWEEP = ("judge", "k", "accuracy", "bound")
_GAINS = ("judge", "category", "direct", "consensus", "improved", "regressed", "p_value")

ITEMS = (
    _collect(
        "§3.2",
        "listwise prompt with five outputs",
        command="collect --preset pcf",
        ours="without a rationale for each candidate, which no rule reads",
        differs=True,
    ),
    _consensus(
        "§3.2, eq. 4", "whether an answer shows apt caution", lists.candidates, ("uncertainty",)
    ),
    _consensus(
        "eq. 1–3",
        "mean score, Borda, share of top sets",
        lists.candidates,
        ("score", "borda", "top"),
        field="listwise",
    ),
    _consensus(
        "eq. 5",
        "weights .50, .25, .20, .05 and tolerance",
        lists.candidates,
        ("consensus", "winner"),
        ours="other weights by sliders on the page",
    ),
    _collect("§4.2", "seven orders, the first as given", command="collect --protocol listwise"),
    _collect(
        "§4.2, orders",
        "the same orders for all items",
        command="collect --protocol listwise --same-orderings",
    ),
    _consensus(
        "Algorithm 1",
        "remap to candidates, then aggregate",
        lists.candidates,
        ("candidate", "consensus", "winner"),
    ),
    _orders(
        "§3.4",
        "Hoeffding's bound on the majority over orders",
        lists.orders,
        ("k", "majority_error", "bound"),
        field="listwise.*.by_orders",
    ),
    _orders(
        "number of orders",
        "accuracy by number of orders",
        lists.orders,
        _SWEEP,
        field="listwise.*.by_orders",
    ),
    _consensus(
        "§4.4",
        "accuracy over items, improved and regressed, sign test",
        lists.improvements,
        _GAINS,
        field="listwise.*.improvement",
    ),
    _consensus(
        "§4.2, direct",
        "one order as given",
        lists.improvements,
        ("direct",),
        field="listwise.*.improvement",
    ),
    place("PCF", "listwise", "Judges")(
        "Table 1",
        "a row per judge and one of all",
        lists.improvements,
        _GAINS,
        field="listwise_pooled",
        ours="also any one order, where slots decide who stands first",
    ),
    _here(
        "Figure 1",
        "items improved and regressed",
        lists.improvements,
        ("judge", "improved", "regressed"),
        field="listwise.*.improvement",
    ),
    _parts(
        "Figure 2, §5.3",
        "score, rank and top set alone, direct, and all",
        lists.parts,
        ("judge", "part", "right", "change"),
        field="listwise.*.parts",
    ),
    place("PCF")(
        "§5.3, variants",
        "ladders of anchors, panels, overrides",
        lacks="left out on purpose: the paper's own failed variants",
    ),
    _collect(
        "§3.5",
        "base verdict, overridden where a keyed judge confirms",
        command="collect --protocol apoc",
    ),
    _collect(
        "§3.5, estimation",
        "questions that ask for an estimate are skipped",
        command="collect --protocol apoc",
    ),
    _here(
        "§4.3, Table 2",
        "mean over sources, of verdicts on pairs",
        lists.pairwise_sources,
        ("judge", "mean of sources"),
        ours="half credit, so that a tie is half right",
    ),
    _parts(
        "Table 3",
        "faults of winners, by consensus and directly",
        lists.faults,
        ("judge", "fault", "consensus", "direct"),
        field="listwise.*.flagged",
    ),
    place("PCF", "listwise", "Slots")(
        "§5.4", "winners by slot", lists.slots, ("slot", "win", "chance"), field="listwise.*.slots"
    ),
    _parts(
        "§4.4, ties",
        "mean size of the top set",
        lists.parts,
        ("winners",),
        field="listwise.*.parts",
    ),
    place("PCF", "listwise")(
        "all of it", "an audit of rankings", command="audit RANKINGS", field="listwise"
    ),
)
