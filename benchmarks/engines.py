"""The audit of a table on other engines beside that of the same rows in a file: equal results, time
and rows.

    python -m benchmarks --only engines [--large 999936]

PostgreSQL, ClickHouse (chdb behind its HTTP interface) and Spark Connect are started as the tests
start them. Times are of processors, since a busy machine stretches the clock: of the engine with
its workers, and of Appellate. An engine that is not installed is left out.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.random_votes import as_reading, random_votes
from core.auditing.options import AuditOptions
from core.auditing.results import Audit
from core.auditing.run import audit
from core.reporting.document import to_json
from core.schema import Selection
from core.store import Store
from core.warehouse import fetch

ENGINES = ("parquet", "postgresql", "clickhouse", "spark")
JUDGES = 4
SPARK = {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraJavaOptions": "",
    "spark.executor.extraJavaOptions": "",
}
"""Settings that the tests have for small data, as they are by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class There:
    """One audit: seconds of waiting, of the engine's processors and of ours, and what crossed the
    network.
    """

    engine: str
    votes: int
    wall_s: float
    engine_s: float
    own_s: float
    statements: int
    rows: int
    bytes: int
    equal: bool

    @property
    def rate(self) -> float:
        """Votes per second of one core of the engine."""
        return self.votes / (self.engine_s or self.own_s)


def run(votes: int, names: tuple[str, ...] = ENGINES) -> Iterator[There]:
    """Audit a table of random votes with 100 splits on each engine."""
    tests = Path(__file__).resolve().parents[1] / "tests"
    sys.path[:0] = [str(tests), str(tests / "warehouse")]
    from warehouses import absent, running

    table = random_votes(votes, judges=JUDGES, rng=np.random.default_rng(0))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        pq.write_table(_wide(table), folder / "votes.parquet")
        began, own = time.perf_counter(), time.process_time()
        with Store.open() as store:
            store.load(as_reading(table, name="votes"))
            wanted = _plain(audit(store, Selection(), AuditOptions()))
        yield There(
            engine="file, loaded and audited",
            votes=votes,
            wall_s=time.perf_counter() - began,
            engine_s=0.0,
            own_s=time.process_time() - own,
            statements=0,
            rows=0,
            bytes=0,
            equal=True,
        )
        for name in names:
            if reason := absent(name):
                print(f"{name}: {reason}", file=sys.stderr)
                continue
            more = {"settings": SPARK} if name == "spark" else {}
            with running(name, folder, **more) as engine:
                yield _timed(name, engine, votes, wanted)


def _timed(name: str, engine: object, votes: int, wanted: str) -> There:
    process = engine.process  # type: ignore[attr-defined]
    with _processors(process.pid if process else None) as spent:
        began, own = time.perf_counter(), time.process_time()
        url, table = engine.url, engine.table.format("votes")  # type: ignore[attr-defined]
        fetched = fetch(url, table)
        with Store.holding(fetched.readings) as store:
            found = audit(store, Selection(), AuditOptions(), readings=fetched.readings)
        spent.append(_cpu(process.pid) if process else 0.0)
        return There(
            engine=name,
            votes=votes,
            wall_s=time.perf_counter() - began,
            engine_s=spent[-1] - spent[0],
            own_s=time.process_time() - own,
            statements=fetched.statements,
            rows=fetched.rows,
            bytes=fetched.bytes,
            equal=_plain(found) == wanted,
        )


def recorded(rows: list[There]) -> Iterator[dict[str, object]]:
    """Rows of `results.json`: each engine beside the file audit, with what crossed the network."""
    first, *others = rows
    for row in others:
        yield {
            "work": f"audit on {row.engine}, {row.votes:,} votes",
            "against": first.engine,
            "ours_s": row.wall_s,
            "theirs_s": first.wall_s,
            "ratio": row.wall_s / first.wall_s,
            "low": row.wall_s / first.wall_s,
            "high": row.wall_s / first.wall_s,
            "wanted": "reported",
            "met": row.equal,
            "votes_per_second_and_core": row.rate,
            "rows_fetched": row.rows,
            "bytes_fetched": row.bytes,
        }


@contextmanager
def _processors(pid: int | None) -> Iterator[list[float]]:
    yield [_cpu(pid) if pid else 0.0]


def _cpu(pid: int) -> float:
    """Processor seconds of a process and all below it, those that have ended included."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(place.parent.name)
        children.setdefault(int(parts[1]), []).append(number)
        spent[number] = sum(map(int, parts[11:15])) / os.sysconf("SC_CLK_TCK")
    below, total = [pid], 0.0
    while below:
        one = below.pop()
        total += spent.get(one, 0.0)
        below += children.get(one, [])
    return total


def _wide(table: pa.Table) -> pa.Table:
    """The votes as a table of an engine: no column that is empty throughout."""
    kept = [name for name in table.column_names if table[name].null_count < len(table)]
    plain = [
        table[name].cast(pa.string()) if pa.types.is_dictionary(table[name].type) else table[name]
        for name in kept
    ]
    return pa.table(plain, names=kept)


def _plain(found: Audit) -> str:
    document = json.loads(to_json(replace(found, readings=())))
    del document["input"], document["options"]
    return json.dumps(document, sort_keys=True)


def table(rows: list[There]) -> str:
    """The rows in Markdown."""
    lines = [
        "| where | votes | waiting | engine | Appellate | votes per second and core | statements "
        "| fetched | equal |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {r.engine} | {r.votes:,} | {r.wall_s:,.1f} s | {r.engine_s:,.1f} s | {r.own_s:,.1f} s "
        f"| {r.rate:,.0f} | {r.statements} | {r.rows:,} rows, {r.bytes / 1e6:,.1f} MB "
        f"| {'yes' if r.equal else 'no'} |"
        for r in rows
    ]
    return "\n".join(lines)
