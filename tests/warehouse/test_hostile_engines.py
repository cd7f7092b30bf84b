"""Engines that answer otherwise than asked, without end, or not at all; and that are only read."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from warehouses import Running, absent, running

from core.__main__ import main
from core.errors import WarehouseError
from core.simulate.votes import write_demo
from core.warehouse import answers, engines
from core.warehouse.answers import Bounded, gathered, plain

Answer = Callable[[pa.Table], pa.Table]


def cells(change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> Answer:
    return lambda table: pa.table(
        [change(column) for column in table.columns], names=table.column_names
    )


def full(value: object) -> Answer:
    return cells(lambda column: pa.chunked_array([pa.array([value] * len(column))]))


def whole(change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> Answer:
    """Changes whole numbers."""
    return cells(lambda column: change(column) if pa.types.is_integer(column.type) else column)


ANSWERS: dict[str, Answer] = {
    "numbers as text": cells(
        lambda column: column if pa.types.is_string(column.type) else column.cast(pa.string())
    ),
    "words": full("zz"),
    "nulls": cells(lambda column: pa.chunked_array([pa.nulls(len(column), column.type)])),
    "lists": full([1]),
    "NaN": full(float("nan")),
    "bytes": full(b"\xff\xfe"),
    "times": cells(
        lambda column: pa.chunked_array([pa.array([0] * len(column), pa.timestamp("us"))])
    ),
    "negative counts": whole(pc.negate),
    "counts beyond any": whole(lambda column: pa.chunked_array([pa.array([2**62] * len(column))])),
    "parts of votes": whole(lambda column: pc.add(column.cast(pa.float64()), 0.5)),
    "a column less": lambda table: table.select(table.column_names[1:]),
    "other names": lambda table: table.rename_columns([f"x{k}" for k in range(table.num_columns)]),
    "nothing": lambda table: table.slice(0, 0),
    "everything twice": lambda table: pa.concat_tables([table, table]),
    "no column": lambda table: pa.table({}),
}


PLAUSIBLE = {"numbers as text": 1, "negative counts": 4, "other names": 4}
"""Answers that a right table may give, from that one on: columns are known by their places, numbers
may be text, and a vote of -1 is one.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small table of votes."""
    made = tmp_path_factory.mktemp("hostile")
    write_demo(made / "votes.csv", items=4)
    pq.write_table(pa_csv.read_csv(made / "votes.csv"), made / "votes.parquet")
    (made / "votes.csv").unlink()
    return made


def audited(folder: Path) -> int:
    given = ["--warehouse", f"parquet://{folder}", "--table", "votes", "--isolated"]
    return main(["audit", *given, "--splits", "0"])


@pytest.mark.parametrize(
    ("way", "from_answer"),
    [
        pytest.param(way, first, marks=[] if first == 4 and k % 4 == 0 else [pytest.mark.thorough])
        for k, way in enumerate(ANSWERS)
        for first in (1, 2, 4)
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_engine_that_answers_otherwise_is_named(
    way: str,
    from_answer: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """From its first, second or fourth answer on; the reports go with the test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sound, asked = engines.Files._fetch, 0

    def fetch(engine: engines.Files, sql: str) -> pa.Table:
        nonlocal asked
        asked += 1
        found = sound(engine, sql)
        return ANSWERS[way](found) if asked >= from_answer else found

    monkeypatch.setattr(engines.Files, "_fetch", fetch)
    plausible = way in PLAUSIBLE and from_answer >= PLAUSIBLE[way]
    assert audited(folder) == (0 if plausible else 2)
    assert asked >= from_answer
    said = capsys.readouterr().err.splitlines()
    assert plausible or said[-1].startswith("appellate: ")
    assert not any("Traceback" in line for line in said)


def test_plain_answers_are_left_as_they_are() -> None:
    table = pa.table({"n": [1, 2], "name": ["a", None], "mean": [0.5, None]})
    assert plain(table, "here").equals(table)
    with pytest.raises(WarehouseError, match=r"here answers with list<.*> in 'n'"):
        plain(pa.table({"n": [[1]]}), "here")


class Endless(io.RawIOBase):
    """A stream of zeros that counts what was taken."""

    taken = 0

    def read(self, size: int = -1) -> bytes:
        assert size >= 0, "an endless stream was read to its end"
        self.taken += min(size, 65_536)
        return bytes(min(size, 65_536))


def test_an_answer_without_end_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_BYTES", 1_000_000)
    for size in (-1, 2**62):
        stream = Endless()
        with pytest.raises(WarehouseError, match="more than 1,000,000 bytes"):
            Bounded(stream, "here").read(size)
        assert stream.taken <= 1_000_001
    assert Bounded(io.BytesIO(b"abc"), "here").read(10) == b"abc"

    asked = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal asked
        while True:
            asked += 1
            yield batch

    batch = pa.record_batch({"n": np.zeros(10_000, np.int64)})
    with pytest.raises(WarehouseError, match="more than 1,000,000 bytes"):
        gathered(pa.RecordBatchReader.from_batches(batch.schema, batches()), "here")
    assert asked == 13


@contextmanager
def silent() -> Iterator[int]:
    """Port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    taken.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    for each in taken:
        each.close()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["postgresql", "clickhouse"])
def test_an_engine_that_says_nothing_ends_with_exit_2(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if reason := absent(name):
        pytest.skip(reason)
    assert engines.ClickHouse.PATIENCE == 300
    monkeypatch.setattr(engines.ClickHouse, "PATIENCE", 3)
    with silent() as port:
        begun = time.monotonic()
        given = ["--warehouse", f"{name}://u:p@127.0.0.1:{port}/d", "--table", "votes"]
        assert main(["audit", *given, "--isolated"]) == 2
        assert time.monotonic() - begun < 60
    assert "lost or never made" in capsys.readouterr().err


@pytest.fixture(scope="module")
def started(folder: Path) -> Iterator[Callable[[str], Running]]:
    """Real engines with the table, each started when it is first asked for."""
    with ExitStack() as stack:
        made: dict[str, Running] = {}

        def start(name: str) -> Running:
            if reason := absent(name):
                pytest.skip(reason)
            if name not in made:
                made[name] = stack.enter_context(running(name, folder))
            return made[name]

        yield start


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_postgresql_is_only_read_whatever_a_view_does(
    started: Callable[[str], Running], capsys: pytest.CaptureFixture[str]
) -> None:
    """A view of the owner's calls a function that writes, with the owner's rights."""
    from adbc_driver_postgresql import dbapi

    engine = started("postgresql")
    owner = engine.url.replace(engine.url.partition("://")[2].partition("@")[0], "owner")
    with dbapi.connect(owner, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in (
            "create table trace (n bigint)",
            "create function leave() returns boolean language plpgsql volatile security definer as "
            "$$ begin insert into trace values (1); return true; end $$",
            "create view trap as select * from votes where leave()",
            "grant select on trap to auditor",
        ):
            cursor.execute(statement)
    given = ["audit", "--isolated", "--splits", "0", "--warehouse", engine.url, "--table"]
    assert main([*given, "trap"]) == 2
    assert "read-only transaction" in capsys.readouterr().err
    assert main([*given, "votes"]) == 0
    with dbapi.connect(owner, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("select count(*) from trace")
        assert cursor.fetchone() == (0,)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["postgresql", "clickhouse"])
def test_a_session_can_change_nothing(name: str, started: Callable[[str], Running]) -> None:
    running_there = started(name)
    engine = engines.connect(running_there.url, running_there.table.format("votes"))
    try:
        assert engine.ask("select 1 as n").to_pydict() == {"n": [1]}
        end = " engine = Memory" if name == "clickhouse" else ""
        with pytest.raises(Exception, match=r"(?i)read-?only"):
            engine._fetch(f"create table made_by_us (n bigint){end}")
        with pytest.raises(Exception, match=r"(?i)read-?only|permission denied"):
            engine._fetch("drop table votes")
    finally:
        engine.close()
