"""Say in words what was read, so that it can be held against the file; and a template to start from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.labels import shown
from core.votes import Reading

TEMPLATE = """\
dataset,item_id,category,model_a,model_b,judge,run,position,vote,confidence,gold,rater_type
my-data,q1,math,model-x,model-y,judge-1,0,ab,1,0.9,1,llm
my-data,q1,math,model-x,model-y,judge-1,0,ba,-1,0.6,1,llm
my-data,q2,math,model-x,model-y,judge-1,0,ab,0,0.55,-1,llm
my-data,q2,math,model-x,model-y,person-1,0,,-1,,-1,human
"""

_NAME_LIMIT = 60


def read_back(reading: Reading, n: int = 10) -> list[str]:
    """Up to n votes of a reading in plain words, from every combination of order, vote and gold in it."""
    if reading.votes.num_rows == 0 or n < 1:
        return []
    by_kind: dict[tuple[Any, ...], list[int]] = {}
    columns = [reading.votes.column(name).to_pylist() for name in ("position", "vote", "gold", "status")]
    for i, kind in enumerate(zip(*columns, strict=True)):
        by_kind.setdefault(kind, []).append(i)
    chosen: list[int] = []
    for depth in range(n):
        chosen += [rows[depth] for rows in by_kind.values() if depth < len(rows)]
        if len(chosen) >= n:
            break
    rows = reading.votes.take(sorted(chosen[:n])).to_pylist()
    return [_gold_sentence(row) if reading.gold_only else _sentence(row) for row in rows]


def _sentence(row: Mapping[str, Any]) -> str:
    saw = {"ab": "saw A first and ", "ba": "saw B first and "}.get(row["position"] or "", "")
    said = f"gave no vote ({row['status']})" if row["vote"] is None else f"said {_label(row['vote'])}"
    confidence = f" with confidence {row['confidence']:.0%}" if row["confidence"] is not None else ""
    gold = f"; gold says {_short(row['gold'])}" if row["gold"] is not None else ""
    who = f"item {_name(row['item_id'])}: judge {_name(row['judge'])}"
    return f"{who} {saw}{said}{confidence}{gold} {_models(row)}"


def _gold_sentence(row: Mapping[str, Any]) -> str:
    return f"item {_name(row['item_id'])}: gold says {_short(row['gold'])} {_models(row)}"


def _models(row: Mapping[str, Any]) -> str:
    return f"(A is {_name(row['model_a'])}, B is {_name(row['model_b'])})"


def _name(text: str) -> str:
    """Name as it is, or quoted and escaped where it holds line breaks or other signs that do not print."""
    return text if text.isprintable() and len(text) <= _NAME_LIMIT else shown(text, _NAME_LIMIT)


def _label(vote: int) -> str:
    return {1: "A is better", 0: "it is a tie", -1: "B is better"}[vote]


def _short(vote: int) -> str:
    return {1: "A", 0: "tie", -1: "B"}[vote]
