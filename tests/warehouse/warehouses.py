"""Engines that tests start for themselves: PostgreSQL, ClickHouse (chdb behind HTTP), Spark, and
plain files.

Each has the tables of a folder of Parquet files, and can be killed. What is not installed has a
reason.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from places import REPOSITORY

HERE = REPOSITORY / "tests" / "warehouse"
_MOTO = shutil.which(
    "moto_server", path=f"{REPOSITORY}/.venv-objects/bin{os.pathsep}{os.environ['PATH']}"
)
PASSWORD = "correct horse"
"""Of the role `auditor`, which may only read."""


@dataclass(frozen=True)
class Running:
    """An engine with tables. url : with user and password.  table : template of a table's name."""

    url: str
    process: subprocess.Popen[bytes] | None = None
    table: str = "{}"
    folder: Path = Path()

    def kill(self) -> None:
        """End it as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def absent(name: str) -> str | None:
    """Why an engine cannot be started here; None if it can."""
    needed = {
        "parquet": (),
        "postgresql": ("adbc_driver_postgresql",),
        "clickhouse": ("clickhouse_connect", "chdb"),
        "spark": ("pyspark", "grpc"),
        "s3": (),
    }[name]
    missing = [package for package in needed if importlib.util.find_spec(package) is None]
    if missing:
        return f"{', '.join(missing)}: not installed"
    if name == "postgresql" and _binaries() is None:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    if name == "s3" and _MOTO is None:
        return "moto is not installed (make .venv-objects/.done)"
    if name == "spark" and shutil.which("java") is None:
        return "Java is not installed (apt-get install openjdk-17-jre-headless)"
    return None


@contextmanager
def running(name: str, tables: Path, **more: Any) -> Iterator[Running]:
    """Start an engine with each Parquet file of a folder as a table.  more : `settings` of
    Spark.
    """
    start = {
        "parquet": _files,
        "postgresql": _postgresql,
        "clickhouse": _clickhouse,
        "spark": _spark,
        "s3": _objects,
    }[name]
    with start(tables, **more) as engine:
        try:
            yield engine
        finally:
            engine.kill()


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 400) -> None:
    """Wait until somebody listens at a port."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    raise RuntimeError(f"nobody listens at {port}")


@contextmanager
def _files(tables: Path) -> Iterator[Running]:
    yield Running(url=f"parquet://{tables}")


@contextmanager
def _objects(tables: Path) -> Iterator[Running]:
    """S3 on this machine: moto, in an environment of its own as it needs another boto."""
    from pyarrow import fs

    assert _MOTO is not None
    port = free_port()
    server = subprocess.Popen(
        [_MOTO, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    place = f"127.0.0.1:{port}"
    signed = {
        "AWS_ACCESS_KEY_ID": "auditor",
        "AWS_SECRET_ACCESS_KEY": PASSWORD,
        "AWS_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in (*signed, "AWS_ENDPOINT_URL")}
    try:
        wait_for(port, server)
        os.environ.update(signed, AWS_ENDPOINT_URL=f"http://{place}")
        store = fs.S3FileSystem(scheme="http", endpoint_override=place, allow_bucket_creation=True)
        store.create_dir("lake/tables")
        fs.copy_files(str(tables), "lake/tables", destination_filesystem=store)
        yield Running(url="s3://lake/tables", process=server)
    finally:
        server.kill()
        server.wait()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@contextmanager
def _postgresql(tables: Path) -> Iterator[Running]:
    import pyarrow.parquet as pq
    from adbc_driver_postgresql import dbapi

    binaries = _binaries()
    assert binaries is not None
    # PostgreSQL refuses to run as root; Debian's package makes a user for it.
    as_user: dict[str, Any] = (
        {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    )
    folder = Path(tempfile.mkdtemp(prefix="appellate-pg-"))
    folder.chmod(0o755)
    if as_user:
        shutil.chown(folder, "postgres")
    data, port = folder / "data", free_port()
    make = [
        binaries / "initdb",
        "-D",
        data,
        "-U",
        "owner",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
    ]
    subprocess.run([*make, "--no-sync"], check=True, capture_output=True, cwd=folder, **as_user)
    trusted = (data / "pg_hba.conf").read_text(encoding="utf-8")
    (data / "pg_hba.conf").write_text(
        f"host all auditor 127.0.0.1/32 scram-sha-256\n{trusted}", encoding="utf-8"
    )
    options = [
        "-c",
        "listen_addresses=127.0.0.1",
        "-p",
        str(port),
        "-k",
        str(folder),
        "-c",
        "fsync=off",
    ]
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, *options],
        cwd=folder,
        **as_user,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port, server)
        # It listens before it answers.
        ready = [binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(port), "-q"]
        while server.poll() is None and subprocess.run(ready, check=False).returncode:
            time.sleep(0.2)
        place = f"127.0.0.1:{port}/postgres"
        with (
            dbapi.connect(f"postgresql://owner@{place}", autocommit=True) as owner,
            owner.cursor() as cursor,
        ):
            for path in sorted(tables.glob("*.parquet")):
                cursor.adbc_ingest(path.stem, pq.read_table(path), mode="create")
            cursor.execute(f"create role auditor login password '{PASSWORD}'")
            cursor.execute("create role stranger login")
            cursor.execute("grant select on all tables in schema public to auditor")
            # A database in which nobody but its owner makes temporary tables.
            cursor.execute("create database strict template postgres")
            cursor.execute("revoke temporary on database strict from public")
        yield Running(
            url=f"postgresql://auditor:{PASSWORD.replace(' ', '%20')}@{place}",
            process=server,
            folder=folder,
        )
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _clickhouse(tables: Path) -> Iterator[Running]:
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("warehouse_clickhouse.py"), str(port), tables],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(port, server)
        yield Running(
            url=f"clickhouse://auditor:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}",
            process=server,
        )
    finally:
        server.kill()
        server.wait()


# Small data: what Java would compile is used once, so that it is not compiled.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SPARK = {
    "spark.master": "local-cluster[1,1,1024]",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": _JAVA,
    "spark.executor.extraJavaOptions": _JAVA,
    "spark.ui.enabled": "false",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.authenticate.token": PASSWORD,
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.log.level": "OFF",
}


@contextmanager
def _spark(tables: Path, settings: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Spark Connect in front of a master and an executor, each a process of its own.

    settings : besides and instead of those for small data.
    """
    import pyspark

    installed, port = Path(pyspark.__file__).parent, free_port()
    folder = Path(tempfile.mkdtemp(prefix="appellate-spark-"))
    # Executors write below Spark's home, which is not ours.
    for part in ("bin", "jars", "python"):
        (folder / part).symlink_to(installed / part)
    conf = _SPARK | {
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    given = [
        part
        for name, value in (conf | dict(settings or {})).items()
        for part in ("--conf", f"{name}={value}")
    ]
    server = subprocess.Popen(
        [
            *(folder / "bin" / "spark-submit", "--class"),
            *("org.apache.spark.sql.connect.service.SparkConnectServer", *given, "spark-internal"),
        ],
        cwd=folder,
        env=os.environ
        | {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
            "SPARK_HOME": str(folder),
            "PYTHONPATH": str(installed.parent),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port, server)
        # A token crosses a connection without TLS only to `localhost`.
        token = PASSWORD.replace(" ", "%20")
        yield Running(
            url=f"sc://localhost:{port}/;token={token}",
            process=server,
            table=f"parquet.`{tables}/{{}}.parquet`",
            folder=folder,
        )
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)
