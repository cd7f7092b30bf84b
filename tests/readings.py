"""Readings made from plain rows, so that the store can be tested without an importer."""

import hashlib

import pandas as pd
import pyarrow as pa

from core.schema import REJECT_SCHEMA, VOTES, ImportResult


def reading(
    frame: pd.DataFrame | list[dict], *, name: str = "votes.csv", gold_only: bool = False
) -> ImportResult:
    """A reading with the canonical columns of `frame`; its other columns go into `extra`."""
    frame = pd.DataFrame(frame)
    schema = VOTES.schema()
    others = [column for column in frame.columns if column not in schema.names]
    columns = {}
    for field in schema:
        if field.name == "extra":
            rows = frame[others].to_dict("records") if others else [{}] * len(frame)
            cells = [[(k, v) for k, v in row.items() if isinstance(v, str)] for row in rows]
            columns["extra"] = pa.array(cells, field.type)
        elif field.name == "row":
            columns["row"] = pa.array(range(1, len(frame) + 1), pa.int64())
        elif field.name == "status" and "status" not in frame:
            columns["status"] = pa.array(["ok"] * len(frame))
        elif field.name in frame:
            columns[field.name] = pa.array(frame[field.name], field.type, from_pandas=True)
        else:
            columns[field.name] = pa.nulls(len(frame), field.type)
    return ImportResult(
        name=name,
        sha256=hashlib.sha256(frame.to_csv().encode()).hexdigest(),
        format="canonical",
        rows=len(frame),
        votes=pa.table(columns, schema=schema),
        rejects=pa.table({n: pa.array([], kind) for n, kind in REJECT_SCHEMA.items()}),
        duplicates=0,
        mapping={},
        gold_only=gold_only,
    )
