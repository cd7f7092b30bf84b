"""Say in words what was read, so that it can be compared with the file; and a template to start
from.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import Any

import numpy as np

from ..labels import shown
from ..schema import ONE_METRIC, RANKINGS, ImportResult

TEMPLATES = {
    "one answer, pass or fail": """\
case_id,question,answer,judge_passed,human_passed
c1,How do I return it?,Send it back within 30 days.,1,1
c2,Where is my order?,I do not know.,1,0
c3,Can I pay later?,No.,0,0
""",
    "one answer, levels": """\
item_id,question,answer,judge_score,annotator_1,annotator_2
q1,How do I return it?,Send it back within 30 days.,4,4,5
q2,Where is my order?,I do not know.,2,1,2
q3,Can I pay later?,Yes.,5,4,5
""",
    "people's labels in a file of their own": """\
item_id,label
c1,pass
c2,fail
c3,fail
""",
    "two answers compared": """\
dataset,item_id,category,model_a,model_b,judge,run,position,vote,confidence,gold,rater_type
my-data,q1,math,model-x,model-y,judge-1,0,ab,1,0.9,1,llm
my-data,q1,math,model-x,model-y,judge-1,0,ba,-1,0.6,1,llm
my-data,q2,math,model-x,model-y,judge-1,0,ab,0,0.55,-1,llm
my-data,q2,math,model-x,model-y,person-1,0,,-1,,-1,human
""",
}
"""Small files of made-up judgements, to fill in, by what was judged."""

_NAME_LIMIT = 60
_CANDIDATES = 8

_PART, _KINDS = 2**17, 1_000
"""Rows that are looked through at once, and combinations of what they say that are looked at."""


def read_back(reading: ImportResult, n: int = 10) -> list[str]:
    """Up to n judgements of a reading in plain words, from every combination of what they
    can say.
    """
    import pyarrow as pa

    if reading.votes.num_rows == 0 or n < 1:
        return []
    if reading.kind == "rankings":
        return _rankings(reading, n)
    telling = ["status", "score"]
    if reading.kind != "scores":
        telling = ["position", "vote", "gold", "status"]
    places: dict[tuple[object, ...], list[int]] = {}
    for start in range(0, reading.votes.num_rows, _PART):
        part = reading.votes.select(telling).slice(start, _PART)
        numbered = part.append_column("place", pa.array(np.arange(start, start + part.num_rows)))
        # In one thread the kinds come in the order in which they first occur, and so do their rows.
        kinds = numbered.group_by(telling, use_threads=False).aggregate([("place", "list")])
        *said, rows_of = (kinds.slice(0, _KINDS)[name] for name in (*telling, "place_list"))
        for *kind, rows in zip(*(column.to_pylist() for column in said), rows_of, strict=True):
            if tuple(kind) in places or len(places) < n:
                first_rows = places.setdefault(tuple(kind), [])
                first_rows += rows.values.slice(0, n - len(first_rows)).to_pylist()
    chosen: list[int] = []
    for depth in range(n):
        chosen += [rows[depth] for rows in places.values() if depth < len(rows)]
        if len(chosen) >= n:
            break
    rows = reading.votes.take(sorted(chosen[:n])).to_pylist()
    if reading.kind == "scores":
        return [_score_sentence(row) for row in rows]
    return [_gold_sentence(row) if reading.gold_only else _sentence(row) for row in rows]


def _sentence(row: Mapping[str, Any]) -> str:
    saw = {"ab": "saw A first and ", "ba": "saw B first and "}.get(row["position"] or "", "")
    said = f"gave no vote ({row['status']})" if row["vote"] is None else f"said {_label(row)}"
    confidence = (
        f" with confidence {row['confidence']:.0%}" if row["confidence"] is not None else ""
    )
    gold = f"; gold says {_short(row)}" if row["gold"] is not None else ""
    return (
        f"item {_name(row['item_id'])}: {_rater(row)} {saw}{said}{confidence}{gold}{_models(row)}"
    )


def _score_sentence(row: Mapping[str, Any]) -> str:
    said = f"gave no score ({row['status']})" if row["score"] is None else f"gave {row['score']:g}"
    metric = "" if row["metric"] in (None, ONE_METRIC) else f" on {_name(row['metric'])}"
    model = "" if row["model"] is None else f" to {_name(row['model'])}"
    gold = "" if row["gold"] is None else f"; gold says {row['gold']:g}"
    return f"item {_name(row['item_id'])}{_run(row)}: {_rater(row)} {said}{metric}{model}{gold}"


def _rater(row: Mapping[str, Any]) -> str:
    """Who judged: a judge that is a model, or a person."""
    kind = "person" if row["rater_type"] == "human" else "judge"
    return f"the {kind}" if row["judge"] == kind else f"{kind} {_name(row['judge'])}"


def _rankings(reading: ImportResult, n: int) -> list[str]:
    """The first rankings of a reading, failed ones too."""
    table = reading.votes
    ok = [status == "ok" for status in table["status"].to_pylist()]
    # Rows of a ranking need not stand together; the first rows of each are enough to find it by.
    keys = list(zip(*(table[name].to_pylist() for name in RANKINGS.key), strict=True))
    good = list(dict.fromkeys(compress(keys, ok)))[: n if all(ok) else n - 1]
    bad = list(dict.fromkeys(key for key, fine in zip(keys, ok, strict=True) if not fine))[
        : n - len(good)
    ]
    wanted: dict[tuple[Any, ...], list[int]] = {key: [] for key in (*good, *bad)}
    for i, key in enumerate(keys):
        if key in wanted:
            wanted[key].append(i)
    lists = [
        sorted(table.take(rows).to_pylist(), key=lambda row: row["slot"])
        for rows in wanted.values()
    ]
    return [_ranking_sentence(rows) for rows in lists]


def _ranking_sentence(rows: list[dict[str, Any]]) -> str:
    first = rows[0]
    who = f"item {_name(first['item_id'])}{_run(first)}: judge {_name(first['judge'])}"
    saw = f"saw {_few(rows)}"
    best = [row for row in rows if row["is_best"] == 1]
    gold = f"; the best is {_few(best)}" if best else ""
    if first["status"] != "ok":
        return f"{who} {saw} and gave no ranking ({first['status']}){gold}"
    if first["rank"] is not None:
        said = f"ranked {_few(sorted(rows, key=lambda row: row['rank']))}"
    else:
        said = f"chose {_few([row for row in rows if row['chosen'] == 1])}"
    scores = [f"{row['score']:g}" for row in rows[:_CANDIDATES] if row["score"] is not None]
    given = f" with scores {', '.join(scores)} as shown" if scores else ""
    return f"{who} {saw} and {said}{given}{gold}"


def _run(row: Mapping[str, Any]) -> str:
    return f", run {row['run']}" if row["run"] else ""


def _few(rows: list[dict[str, Any]]) -> str:
    names = ", ".join(_name(row["candidate"]) for row in rows[:_CANDIDATES])
    return names + (f" and {len(rows) - _CANDIDATES} more" if len(rows) > _CANDIDATES else "")


def _gold_sentence(row: Mapping[str, Any]) -> str:
    return f"item {_name(row['item_id'])}: gold says {_short(row)}{_models(row)}"


def _models(row: Mapping[str, Any]) -> str:
    named = f" (A is {_name(row['model_a'])}, B is {_name(row['model_b'])})"
    return "" if (row["model_a"], row["model_b"]) == ("A", "B") else named


def _name(text: str) -> str:
    """Name as it is, or quoted and escaped where it holds line breaks or other signs that do not
    print.
    """
    return text if text.isprintable() and len(text) <= _NAME_LIMIT else shown(text, _NAME_LIMIT)


def _label(row: Mapping[str, Any]) -> str:
    return "it is a tie" if row["vote"] == 0 else f"{_better(row, row['vote'])} is better"


def _short(row: Mapping[str, Any]) -> str:
    return "tie" if row["gold"] == 0 else _better(row, row["gold"])


def _better(row: Mapping[str, Any], vote: int) -> str:
    """The model that a vote is for, with its letter; the letter alone where models have no
    names.
    """
    letter = "A" if vote > 0 else "B"
    name = row["model_a" if vote > 0 else "model_b"]
    return letter if name == letter else f"{_name(name)} ({letter})"
