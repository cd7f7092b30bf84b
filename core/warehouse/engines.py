"""Connections to engines: one statement in, one Arrow table out, and temporary relations that only
we see.

Each engine has a dialect of sqlglot, an expression for the number of a row, and `define`, which
keeps the rows of a statement under a name until the session ends. What a driver raises becomes a
`WarehouseError` with what to do about it; a password is never in it, nor in the name that is shown.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from ..errors import ConnectionLost, InvalidOption, WarehouseError
from .answers import Bounded, gathered, plain
from .dialects import SOURCE, missing, translate

if TYPE_CHECKING:
    import pyarrow as pa

USER, PASSWORD = "APPELLATE_WAREHOUSE_USER", "APPELLATE_WAREHOUSE_PASSWORD"
"""Environment variables that sign in where the URL does not."""

ENGINES = (
    "parquet:///FOLDER, csv:///FOLDER, s3://BUCKET/FOLDER, postgresql://, "
    "clickhouse://, sc:// or spark:"
)


class Engine:
    """What all engines share. `rows_fetched`, `bytes_fetched`, `statements` count what crossed.

    extra : columns outside the canonical form → what `votes` calls them here.
    """

    dialect: ClassVar[str]
    needs: ClassVar[tuple[str, str]] = ("duckdb", "warehouse")
    """The driver's package, and the extra that brings it."""
    ordinal: ClassVar[str] = "row_number() over ()"
    binary: ClassVar[str] = ""
    """What makes a text column sort by its bytes, as the store's do."""

    def __init__(self, shown: str, table: str, url: str) -> None:
        self.shown, self.table = shown, table
        self.extra: dict[str, str] = {}
        self.kept: list[str] = []
        self.statements = self.rows_fetched = self.bytes_fetched = 0
        self._secrets = _secrets_of(url)
        with self._told():
            self._open(url)

    def run(self, sql: str, params: dict[str, str] | None = None) -> pa.Table:
        """The rows of a statement of DuckDB's dialect."""
        with self._told():
            found = plain(self._fetch(self._text(sql, params)), self.shown)
        self.statements += 1
        self.rows_fetched += found.num_rows
        self.bytes_fetched += found.nbytes
        return found

    def keep(self, name: str, sql: str) -> None:
        """Keep the rows of a statement under a name, in the engine, until the session ends."""
        with self._told():
            self._keep(name, self._text(sql, None))
        self.kept.append(name)
        self.statements += 1

    def columns(self) -> tuple[str, ...]:
        """Columns of the user's table."""
        with self._told():
            return tuple(
                self._fetch(self._text(f"select * from {SOURCE} where 1 = 0", None)).column_names
            )

    def close(self) -> None:
        """Forget what was kept, and the connection."""

    def _text(self, sql: str, params: dict[str, str] | None) -> str:
        return translate(
            sql,
            self.dialect,
            source=self.table,
            ordinal=self.ordinal,
            params=params,
            extra=self.extra,
        )

    def _open(self, url: str) -> None:
        raise NotImplementedError

    def _fetch(self, sql: str) -> pa.Table:
        raise NotImplementedError

    def _keep(self, name: str, sql: str) -> None:
        raise NotImplementedError

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what a driver raises in words of ours."""
        try:
            yield
        except (WarehouseError, InvalidOption):
            raise
        except ImportError:
            raise missing(*self.needs) from None
        except Exception as error:
            raise explained(error, self.shown, self.table, self.kept, self._secrets) from error


_GONE = (
    r"table_or_view_not_found|relation .* does not exist|unknown_table|code: 60\b|no files found|"
    r"does not exist.*table|path_not_found|no_?such_?bucket"
)
_LOST = (
    "The connection to {place} was lost or never made ({reason}). Check that it runs and can be "
    "reached, "
    "then start again: nothing is left behind on it."
)
_PROBLEMS = (
    (
        r"(password|authentication) (authentication )?failed|auth\w* fail|no password supplied|"
        r"role .* does not exist|code: (516|192|194)\b|wrong_password|"
        r"unauthenticated|invalid (token|credential|authentication)|access.?key|no aws "
        r"credentials|signature",
        "{place} refuses the login. Check user and password ("
        + f"{USER}, {PASSWORD}; for s3 AWS_ACCESS_KEY_ID, "
        "AWS_SECRET_ACCESS_KEY).",
    ),
    (
        r"permission denied|not enough privileges|access.?denied|forbidden|insufficient privil|"
        r"code: (497|164)\b|readonly mode|read-only transaction",
        "{place} does not allow this role to do what an audit needs ({reason}). It needs SELECT "
        "on {table}, "
        "and the right to make temporary tables (GRANT TEMPORARY; on ClickHouse CREATE TEMPORARY "
        "TABLE).",
    ),
    (
        r"database \S+ does not exist|unknown_database|code: 81\b",
        "{place} has no such database ({reason}). Name another in the URL.",
    ),
    (
        _GONE,
        "{place} has no table {table} that this role can see. Name another with {option:table}, as "
        "SCHEMA.TABLE where it lies in a schema.",
    ),
    (
        r"column .* does not exist|unknown_identifier|code: 47\b|unresolved_column|referenced "
        r"column",
        "{place}: {table} has another column than a moment ago ({reason}). Start again.",
    ),
    (
        r"connection refused|could not connect|could not translate|connection to "
        r"server|terminating|"
        r"server closed|connection (was )?(reset|closed|aborted|lost)|max retries|timed? "
        r"?out|unavailable|"
        r"broken pipe|remote end closed|name or service|py4j|no connection to|eof detected|ssl|"
        r"\[errno|failed to connect|cannot connect|couldn.t connect|curlcode|nodename|"
        r"connection error|lost synchron|"
        r"session_(not_found|closed|changed)|checkpoint_rdd_block|code: 37[23]\b",
        _LOST,
    ),
    (
        r"memory|no space left|disk full|resources",
        "{place} ran out of room ({reason}). Select fewer judges or columns, or give it more "
        "memory.",
    ),
)


def explained(
    error: Exception,
    place: str,
    table: str,
    kept: Sequence[str] = (),
    secrets: Collection[str] = (),
) -> WarehouseError:
    """What a driver said, in one sentence that names the remedy.

    kept : relations of this session; if one is gone, so is the session, as after a restart.
    secrets : what of the URL is left out of the sentence.
    """
    text = " ".join(_without_secrets(str(error), secrets).split())
    reason = text[:200]
    found = f"{type(error).__name__} {text}"
    if re.search(_GONE, found, re.IGNORECASE) and any(
        re.search(rf"\b{name}\b", text) for name in kept
    ):
        return ConnectionLost(_LOST, place=place, reason=reason)
    for pattern, sentence in _PROBLEMS:
        if re.search(pattern, found, re.IGNORECASE):
            kind = ConnectionLost if sentence is _LOST else WarehouseError
            return kind(sentence, place=place, table=table, reason=reason, option="table")
    return WarehouseError(
        f"{place} cannot answer ({reason}). Check the engine's own log, then start again."
    )


def _without_secrets(text: str, secrets: Collection[str] = ()) -> str:
    """What a driver said, without secrets; it may quote a URL, or what it took for a part."""
    given = {*secrets, os.environ.get(PASSWORD, ""), os.environ.get("PGPASSWORD", "")}
    # The longest first: another may be a part of it.
    for secret in sorted(filter(None, given), key=len, reverse=True):
        text = text.replace(secret, "…")
    return re.sub(r"(://[^:/@\s]*):[^@]*@", r"\1@", text)


_NO_PORT = re.compile(r"\A[^:/\[\]]*:(?!\d*(?:[/?#;]|\Z))(.*)", re.DOTALL)
"""Behind a host, where a port would be: perhaps the password of an address that names no host."""


def _secrets_of(url: str) -> set[str]:
    """What of a URL signs in, as it stands there, decoded and encoded, and its parts: an address
    with a blank or a slash in a password is taken apart by each driver in its own way.
    """
    rest = url.partition("://")[2] or url
    whole = [rest.rpartition("@")[0].partition(":")[2], *_NO_PORT.findall(rest)]
    whole += re.findall(r"(?:password|token|secret|access_key)=([^&;]*)", rest, re.IGNORECASE)
    spelled = {
        way for text in whole for way in (text, unquote(text), quote(unquote(text), safe=""))
    }
    parts = {part for text in spelled for part in re.split(r"[\s/?#@:&;]+", text)}
    return {text for text in spelled if text} | {part for part in parts if len(part) > 2}


class Files(Engine):
    """Parquet or CSV files of a folder, or Parquet in an object store, read by a DuckDB of their
    own.
    """

    dialect = "duckdb"

    def _open(self, url: str) -> None:
        import duckdb

        table, self.table = self.table, SOURCE
        scheme, _, place = url.partition("://")
        kind = "csv" if scheme == "csv" else "parquet"
        folder = (
            unquote(place).strip("/") if scheme == "s3" else str(Path(unquote(place)).absolute())
        )
        if not re.fullmatch(r"[\w.*\-=]+(/[\w.*\-=]+)*", table) or ".." in table:
            raise InvalidOption(
                "{option} {value!r}: name a file of the folder, with or without ending, or a "
                "folder in it.",
                option="table",
                value=table,
            )
        offline = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        self._connection = duckdb.connect(":memory:", config=offline)
        if scheme == "s3":
            self._connection.register(SOURCE, self._objects(folder, table))
        else:
            found = self._files(folder, table, kind) or self._nothing(kind, table)
            read = f"read_{kind}(['{found.replace(chr(39), chr(39) * 2)}'], "
            read += "all_varchar = true)" if kind == "csv" else "union_by_name = true)"
            self._connection.execute(f"create view {SOURCE} as select * from {read}")
            # From here on nothing but the folder can be read, and nothing changed.
            inside = folder.replace("'", "''")
            self._connection.execute(f"set allowed_directories = ['{inside}']")
        self._connection.execute("set enable_external_access = false")
        self._connection.execute("set lock_configuration = true")

    def _objects(self, folder: str, table: str) -> Any:
        """Parquet files of an object store, which Arrow reads for DuckDB; the environment
        signs in.
        """
        from pyarrow import dataset, fs

        retries = fs.AwsStandardS3RetryStrategy(max_attempts=2)
        given = {"connect_timeout": 10, "retry_strategy": retries}
        if endpoint := os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"):
            given |= {
                "scheme": urlsplit(endpoint).scheme,
                "endpoint_override": urlsplit(endpoint).netloc,
            }
        store = fs.S3FileSystem(**given)
        for place in (f"{folder}/{table}", f"{folder}/{table}.parquet"):
            if store.get_file_info(place).type != fs.FileType.NotFound:
                return dataset.dataset(
                    place, filesystem=store, format="parquet", partitioning="hive"
                )
        return self._nothing("parquet", table)

    def _nothing(self, kind: str, table: str) -> NoReturn:
        raise WarehouseError(
            "{place} has no {kind} file or folder {table!r}. Name one with {option}, such as "
            "votes for "
            "votes.{kind} or a folder votes of such files.",
            place=self.shown,
            kind=kind,
            table=table,
            option="table",
        )

    def _files(self, folder: str, table: str, kind: str) -> str | None:
        """The pattern of names, with or without ending, that holds a file."""
        endings = ("", ".gz") if kind == "csv" else ("",)
        tried = [f"{folder}/{table}"] if table.endswith((f".{kind}", f".{kind}.gz")) else []
        tried += [
            f"{folder}/{table}{middle}.{kind}{end}"
            for middle in ("", "/*", "/*/*")
            for end in endings
        ]
        for pattern in tried:
            if self._connection.execute("select count(*) from glob(?)", [pattern]).fetchall()[0][0]:
                return pattern
        return None

    def _fetch(self, sql: str) -> pa.Table:
        return self._connection.sql(sql).to_arrow_table()

    def _keep(self, name: str, sql: str) -> None:
        self._connection.execute(f"create temp table {name} as {sql}")

    def close(self) -> None:
        self._connection.close()


class PostgreSQL(Engine):
    """PostgreSQL by ADBC, in one session; everything kept is a temporary table.

    Every statement that reads the user's table runs in a transaction that is read only, so that not
    even a function behind a view writes; only empty temporary tables are made in others.
    """

    dialect = "postgres"
    needs = ("adbc-driver-postgresql", "postgres")
    binary = ' collate "C"'

    def _open(self, url: str) -> None:
        from adbc_driver_postgresql import dbapi

        self._connection = dbapi.connect(_signed(url), autocommit=True)
        self._execute("set jit = off")
        # Two columns of a join are taken for independent, so one row is expected and a loop over
        # millions thought cheap: one statement then ran for 40 minutes. Hashes cost little more
        # where rows are few.
        self._execute("set enable_nestloop = off")
        self._execute("set application_name = 'appellate'")
        self._execute("set default_transaction_read_only = on")

    def _execute(self, sql: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)

    def _fetch(self, sql: str) -> pa.Table:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return gathered(cursor.fetch_record_batch(), self.shown)

    def _keep(self, name: str, sql: str) -> None:
        # Without data nothing is planned or run; a temporary table may be filled read only.
        self._execute("begin read write")
        try:
            self._execute(f"create temp table {name} as {sql} with no data")
        except BaseException:
            with suppress(Exception):
                self._execute("rollback")
            raise
        self._execute("commit")
        self._execute(f"insert into {name} {sql}")
        self._execute(f"analyze {name}")

    def close(self) -> None:
        with suppress(Exception):
            self._connection.close()


class ClickHouse(Engine):
    """ClickHouse by HTTP, in one session; everything kept is a temporary table in its memory.

    readonly 2 : the session may read, and make temporary tables, and nothing else.
    """

    dialect = "clickhouse"
    needs = ("clickhouse-connect", "clickhouse")
    ordinal = "rowNumberInAllBlocks()"
    SETTINGS: ClassVar = {
        "join_use_nulls": 1,
        "group_by_use_nulls": 1,
        "precise_float_parsing": 1,
        "prefer_column_name_to_alias": 1,
        "output_format_arrow_string_as_string": 1,
        "readonly": 2,
    }
    PATIENCE: ClassVar = 300
    """Seconds without a byte after which the engine counts as lost; at work it sends progress."""

    def _open(self, url: str) -> None:
        import clickhouse_connect

        parts = urlsplit(url)
        self._client = clickhouse_connect.get_client(
            host=parts.hostname or "localhost",
            port=parts.port or 0,
            username=unquote(parts.username or os.environ.get(USER, "default")),
            password=unquote(parts.password or os.environ.get(PASSWORD, "")),
            database=parts.path.strip("/") or "default",
            secure=parts.scheme == "clickhouses",
            settings=self.SETTINGS,
            query_retries=0,
            send_receive_timeout=self.PATIENCE,
        )

    def _fetch(self, sql: str) -> pa.Table:
        import pyarrow as pa

        with closing(self._client.raw_stream(sql, fmt="ArrowStream")) as answer:
            return gathered(pa.ipc.open_stream(Bounded(answer, self.shown)), self.shown)

    def _keep(self, name: str, sql: str) -> None:
        self._client.command(f"create temporary table {name} engine = Memory as {sql}")

    def close(self) -> None:
        with suppress(Exception):
            self._client.close()


class Spark(Engine):
    """Spark, by Connect or a session of this process; everything kept is a checkpoint on its
    executors, called by a temporary view.
    """

    dialect = "spark"
    needs = ("pyspark-client", "spark")
    ordinal = "monotonically_increasing_id()"

    def _open(self, url: str) -> None:
        self._frames: list[Any] = []
        with warnings.catch_warnings():
            # It says that it does not know our pandas, which is not asked for anything.
            warnings.simplefilter("ignore", FutureWarning)
            from pyspark.sql import SparkSession

            if url.startswith("sc://"):
                import pyspark.sql.connect.client.retries  # noqa: F401
        if url.startswith("sc://"):
            self._session = _connected(url)
        else:
            self._session = SparkSession.builder.getOrCreate()
        self._session.conf.set("spark.sql.session.timeZone", "UTC")

    def _fetch(self, sql: str) -> pa.Table:
        return self._session.sql(sql).toArrow()

    def _keep(self, name: str, sql: str) -> None:
        # A cached view brings the plans of all views below it into each statement, and to plan one
        # took seconds; a checkpoint is rows, which stay as long as their frame is held.
        rows = self._session.sql(sql).localCheckpoint()
        if self.shown.startswith("sc://"):
            # It comes back as that of the session that this process made last.
            rows._session = rows._plan._spark_session = self._session
        rows.createOrReplaceTempView(name)
        self._frames.append(rows)

    def close(self) -> None:
        for name in reversed(self.kept):
            with suppress(Exception):
                self._session.catalog.dropTempView(name)
        self._frames.clear()
        with suppress(Exception):
            if self.shown.startswith("sc://"):
                self._session.stop()


def _connected(url: str) -> Any:
    """A session of Spark Connect that gives up soon: it would try for ten minutes where nobody
    answers.
    """
    import socket

    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    parts = urlsplit(url)
    socket.create_connection(
        (parts.hostname or "localhost", parts.port or 15002), timeout=10
    ).close()
    token = os.environ.get(PASSWORD)
    host = url if parts.path else f"{url}/"
    session = SparkSession.builder.remote(f"{host};token={token}" if token else url).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=2)])
    return session


def connect(url: str, table: str) -> Engine:
    """Connect to the engine that a URL names.

    Raises InvalidOption: no such engine. WarehouseError: it cannot be reached or refuses.
    """
    scheme = url.partition(":")[0].casefold()
    engines: dict[str, type[Any]] = {
        **dict.fromkeys(("parquet", "csv", "s3"), Files),
        **dict.fromkeys(("postgresql", "postgres"), PostgreSQL),
        **dict.fromkeys(("clickhouse", "clickhouses"), ClickHouse),
        **dict.fromkeys(("sc", "spark"), Spark),
    }
    if scheme not in engines:
        raise InvalidOption(
            "{option} {value!r}: no such engine. Write {known}.",
            option="warehouse",
            value=shown(url),
            known=ENGINES,
        )
    engine: Engine = engines[scheme](shown(url), table, url)
    return engine


def shown(url: str) -> str:
    """A URL without what signs in: no user, password, query or token, whatever marks a password
    holds.
    """
    scheme, colon, rest = url.partition(":")
    slashes = "//" if rest.startswith("//") else ""
    rest = rest.removeprefix(slashes)
    if not re.fullmatch(r"[\w+.-]+", scheme):
        scheme, colon, rest = "", "", url.rpartition("@")[2]
    # Without a host nobody signs in, and folders may have an @ in their names.
    elif not rest.startswith("/"):
        rest = _NO_PORT.sub("…", rest.rpartition("@")[2])
    return f"{scheme}{colon}{slashes}{re.split('[?#;]', rest)[0]}".removesuffix("/;")


def _signed(url: str) -> str:
    """A URL of PostgreSQL with user and password from the environment where it names none."""
    parts = urlsplit(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    user = user or quote(os.environ.get(USER, ""), safe="")
    password = password or quote(os.environ.get(PASSWORD, ""), safe="")
    signed = f"{user}:{password}@" if password else f"{user}@" if user else ""
    # A blank is none of the characters of a URL; libpq would refuse it, and repeat it all.
    signed = re.sub(r"\s", lambda blank: quote(blank.group()), signed)
    query = dict(parse_qsl(parts.query))
    query.setdefault("connect_timeout", "10")
    text = "&".join(f"{name}={quote(value, safe='/')}" for name, value in query.items())
    return urlunsplit(
        ("postgresql", signed + parts.netloc.rpartition("@")[2], parts.path, text, "")
    )
