"""What an audit may say: a reason for every null, alarms that are rarely false, intervals that cover."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from readings import reading

from core.audit import AuditOptions, audit
from core.document import to_json
from core.importers import read
from core.store import Store
from core.votes import Reading, Selection

REASONS = {
    ("judges", "*", "accuracy"): "no accuracy",
    ("judges", "*", "calibration"): "no calibration",
    ("judges", "*", "calibration", "bins", "*", "confidence"): "no confidence and accuracy in",
    ("judges", "*", "calibration", "bins", "*", "accuracy"): "no confidence and accuracy in",
    ("judges", "*", "calibration", "bins", "*", "accuracy_low"): "no confidence and accuracy in",
    ("judges", "*", "calibration", "bins", "*", "accuracy_high"): "no confidence and accuracy in",
    ("judges", "*", "calibration", "th", "*", "accuracy"): "no accuracy at ε",
    ("judges", "*", "position"): "no position figures",
    ("judges", "*", "position", "bias_decided"): "no bias of decided votes",
    ("judges", "*", "position", "flip_rate"): "no flip rates and p-value",
    ("judges", "*", "position", "hard_flip_rate"): "no flip rates and p-value",
    ("judges", "*", "position", "p_value"): "no flip rates and p-value",
    ("judges", "*", "position", "same_order_disagreement"): "no same-order disagreement",
    ("judges", "*", "confusion"): "no confusion table",
    ("judges", "*", "btd"): "no BTD fit",
    ("judges", "*", "btd", "splits"): "no splits",
    ("judges", "*", "repeatability"): "no repeatability",
    ("judges", "*", "repeatability", "icc_3_1"): "no ICC",
    ("judges", "*", "repeatability", "icc_3_k"): "no ICC",
    ("judges", "*", "repeatability", "icc_3_k_low"): "ICC",
    ("judges", "*", "repeatability", "icc_3_k_high"): "ICC",
    ("agreement", "*", "raw"): "no agreement",
    ("agreement", "*", "kappa"): "no ",
    ("anchor_swap", "*", "kendall_tau"): "no Kendall τ",
    ("anchor_swap", "*", "mean_abs_centred_shift"): "no shift",
}
"""Words that the note on a null holds. The null `judge` of a board stands for all judges pooled."""


def nulls(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from nulls(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from nulls(item, (*path, place))
    elif value is None:
        yield path


def unexplained(document: dict[str, Any]) -> list[tuple[str | int, ...]]:
    """Nulls without a note that names their judge, pair or anchors and says why."""
    missing = []
    for path in nulls({key: document[key] for key in document if key != "options"}):
        if path[0] == "leaderboards" and path[-1] == "judge":
            continue
        kind = tuple(
            "*" if isinstance(key, int) or (place == 1 and path[0] == "judges") else str(key)
            for place, key in enumerate(path)
        )
        if path[0] == "judges":
            names = ["Every judge", str(path[1])]
        elif path[0] == "agreement":
            row = document["agreement"][path[1]]
            names = [f"{row['judge_1']} and {row['judge_2']}", "pairs of judges"]
        else:
            row = document["anchor_swap"][path[1]]
            names = [f"{row['anchor_1']} and {row['anchor_2']}"]
        if not any(
            REASONS[kind] in note and any(name in note for name in names) for note in document["notes"]
        ):
            missing.append(path)
    return missing


def document_of(readings: list[Reading], *, gold: str = "given", **options: Any) -> dict[str, Any]:
    with Store.open() as store:
        for one in readings:
            store.load(one)
        found = audit(store, Selection(gold=gold), AuditOptions(**options), readings=readings)
    return dict(json.loads(to_json(found)))


@pytest.mark.parametrize(
    ("name", "gold", "options"),
    [
        ("judgebench", "given", {}),
        ("judgebench", "given", {"correctness": "both_orders"}),
        ("judgeconf", "given", {"bins": 40}),
        ("faireval", "given", {}),
        ("pandalm", "humans", {"splits": 5}),
        ("pba_repeat", "given", {}),
        ("pba_position", "given", {}),
        ("wmt23_ende_humans", "given", {}),
    ],
)
def test_every_null_of_a_real_audit_has_its_reason(
    shared_data: Path, name: str, gold: str, options: dict[str, Any]
) -> None:
    path = shared_data / "votes" / f"{name}.csv.gz"
    document = document_of(read([(path.name, path)]), gold=gold, **{"splits": 0, **options})
    assert unexplained(document) == []


def rows(n: int, **columns: Any) -> list[dict[str, Any]]:
    """n votes of judge j for A, one an item, with the columns given by place or once for all."""
    usual = {"item_id": [f"i{k}" for k in range(n)], "judge": "j", "vote": 1}
    return [
        {
            name: value[k % len(value)] if isinstance(value, list) else value
            for name, value in (usual | columns).items()
        }
        for k in range(n)
    ]


MADE_UP = {
    "one vote": rows(1),
    "one vote with all that can be known": rows(1, gold=1, confidence=1.0, position="ab"),
    "all ties": rows(40, vote=0, gold=[1, 0], position=["ab", "ba"], confidence=0.5),
    "certain and wrong": rows(40, gold=-1, confidence=[0.0, 1.0], position="ab"),
    "no confidence near the edges": rows(40, gold=[1, -1], confidence=0.5),
    "repeats that never differ": rows(
        40, item_id=["a", "a", "b", "b"], run=list(range(40)), vote=[1, 1, -1, -1]
    ),
    "repeats of one comparison": rows(10, item_id="a", run=list(range(10)), vote=[1, -1]),
    "repeats that differ once": rows(
        8, item_id=list("aabbccdd"), run=[0, 1], vote=[1, 1, -1, -1, 1, 1, -1, 1]
    ),
    "failed outputs beside one vote": rows(
        3, status=["ok", "error", "refused"], vote=[1, None, None], gold=1
    ),
    "a judge with failed outputs only": rows(
        4, judge=["j", "k"], status=["ok", "error"], vote=[1, None], gold=1
    ),
    "two judges that say one thing": [*rows(30, gold=1), *rows(30, judge="k", gold=1)],
    "judges that share nothing": [*rows(3), *rows(3, judge="k", item_id=["x", "y", "z"])],
    "a gold tie for all": rows(25, gold=0, vote=[0, 1]),
    "two anchors with little in common": [
        {"item_id": "i", "judge": "j", "vote": 1, "model_a": a, "model_b": b}
        for a, b in (["am", "an", "ao", "bp", "bq", "br", "ab"][k] for k in range(7))
    ],
    "boards that tie all": [
        {"item_id": "i", "judge": "j", "vote": 0, "model_a": a, "model_b": b} for a in "ab" for b in "mno"
    ],
}


@pytest.mark.parametrize("name", MADE_UP)
@pytest.mark.parametrize("correctness", ["single", "both_orders"])
def test_every_null_of_an_edge_case_has_its_reason(name: str, correctness: str) -> None:
    document = document_of([reading(MADE_UP[name])], splits=5, correctness=correctness)
    assert unexplained(document) == []
