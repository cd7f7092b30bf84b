"""Connections to engines that are only read: one statement in, one Arrow table out.

The dialects differ in a few short strings, which `Dialect` holds. What a driver raises becomes a
`WarehouseError` with what to do about it; a password is never in it, nor in the name that is shown.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from ..errors import ConnectionLost, InvalidOption, WarehouseError
from .answers import Bounded, gathered, is_plain, plain

if TYPE_CHECKING:
    import pyarrow as pa

USER, PASSWORD = "APPELLATE_WAREHOUSE_USER", "APPELLATE_WAREHOUSE_PASSWORD"
"""Environment variables that sign in where the URL does not."""

ENGINES = (
    "parquet:///FOLDER, csv:///FOLDER, s3://BUCKET/FOLDER, postgresql://, "
    "clickhouse://, sc:// or spark:"
)


MISSING = (
    "Audits of other engines need {package}, which is not installed. Install it with: "
    "pip install 'appellate[{extra}]' (in a checkout: pip install -r requirements/{extra}.lock)."
)
_PART = r'[A-Za-z_][\w$]*|"(?:[^"]|"")+"|`[^`]+`'


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How an engine writes what is not the same everywhere; `{}` is an expression.

    quote : around names.  text : an expression as text.  length : characters of a text.
    md5 : its hash in hexadecimal digits.  bytewise : makes texts compare by their bytes.
    escapes : whether a backslash in a text is an escape.
    """

    quote: str = '"'
    text: str = "cast({} as varchar)"
    length: str = "length({})"
    md5: str = "md5({})"
    bytewise: str = ""
    escapes: bool = False

    def name(self, column: str) -> str:
        """A column, whatever it is called."""
        return self.quote + column.replace(self.quote, self.quote * 2) + self.quote

    def literal(self, text: str) -> str:
        """A text. Raises InvalidOption for what no engine holds."""
        if "\0" in text:
            raise InvalidOption("A text with a NUL character is in no table of an engine.")
        text = text.replace("\\", "\\\\") if self.escapes else text
        return "'" + text.replace("'", "''") + "'"

    def table(self, named: str) -> str:
        """TABLE or SCHEMA.TABLE and nothing else. Raises InvalidOption for anything else."""
        if not re.fullmatch(rf"(?:{_PART})(?:\.(?:{_PART})){{0,2}}", named):
            raise InvalidOption(
                "{option} {value!r}: not the name of a table; write TABLE or SCHEMA.TABLE.",
                option="table",
                value=named,
            )
        parts = re.findall(_PART, named)
        return ".".join(
            self.name(part[1:-1].replace('""', '"')) if part[0] in '`"' else part for part in parts
        )


class Engine:
    """What all engines share. `rows_fetched`, `bytes_fetched`, `statements` count what crossed.

    table : as a statement names it.  shown : where it is, without what signs in.
    """

    dialect: ClassVar = Dialect()
    called: ClassVar[str]
    needs: ClassVar[tuple[str, str]] = ("duckdb", "warehouse")
    """The driver's package, and the extra that brings it."""
    in_order: ClassVar[bool] = False
    """Whether rows come in the same order each time."""

    def __init__(self, shown: str, table: str, url: str) -> None:
        self.shown, self.named = shown, table
        self.statements = self.rows_fetched = self.bytes_fetched = 0
        self._secrets = _secrets_of(url)
        with self._told():
            self.table = self._open(url) or self.dialect.table(table)

    def ask(self, sql: str) -> pa.Table:
        """The rows of a statement. Raises WarehouseError: it fails, answers without end, or with
        what is no table of plain values; ConnectionLost.
        """
        with self._told():
            answer = plain(self._fetch(sql), self.shown)
        self.statements += 1
        self.rows_fetched += answer.num_rows
        self.bytes_fetched += answer.nbytes
        return answer

    def columns(self) -> dict[str, str]:
        """Columns of the user's table → the expression that gives each as a plain value."""
        with self._told():
            schema = self._fetch(f"select * from {self.table} where 1 = 0").schema
        self.statements += 1
        # ClickHouse may say which table a column is of.
        return {
            name: self.dialect.name(name)
            if is_plain(kind)
            else self.dialect.text.format(self.dialect.name(name))
            for name, kind in zip(schema.names, schema.types, strict=True)
        }

    def close(self) -> None:
        """Forget the connection."""

    def _open(self, url: str) -> str | None:
        """Connect; what the table is called, where that is not what the user calls it."""
        raise NotImplementedError

    def _fetch(self, sql: str) -> pa.Table:
        raise NotImplementedError

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what a driver raises in words of ours."""
        try:
            yield
        except (WarehouseError, InvalidOption):
            raise
        except ImportError:
            package, extra = self.needs
            raise WarehouseError(MISSING.format(package=package, extra=extra)) from None
        except Exception as error:
            raise explained(error, self.shown, self.named, self._secrets) from error


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
        + f"{USER}, {PASSWORD}; for s3 AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).",
    ),
    (
        r"permission denied|not enough privileges|access.?denied|forbidden|insufficient privil|"
        r"code: (497|164)\b|readonly mode|read-only transaction",
        "{place} does not allow this role to do what an audit needs ({reason}). It needs SELECT "
        "on {table}, and nothing else.",
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
        "{place} ran out of room ({reason}). Fetch fewer rows with {option:most_rows}, or give it "
        "more memory.",
    ),
)


def explained(
    error: Exception, place: str, table: str, secrets: Collection[str] = ()
) -> WarehouseError:
    """What a driver said, in one sentence that names the remedy.

    secrets : what of the URL is left out of the sentence.
    """
    text = " ".join(_without_secrets(str(error), secrets).split())
    reason = text[:200]
    found = f"{type(error).__name__} {text}"
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


_VIEW = "votes_of_files"


class Files(Engine):
    """Parquet or CSV files of a folder, or Parquet in an object store, read by a DuckDB of their
    own.
    """

    called = "files"
    in_order = True

    def _open(self, url: str) -> str:
        import duckdb

        table = self.named
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
            self._connection.register(_VIEW, self._objects(folder, table))
        else:
            found = self._files(folder, table, kind) or self._nothing(kind, table)
            read = f"read_{kind}(['{found.replace(chr(39), chr(39) * 2)}'], "
            read += "all_varchar = true)" if kind == "csv" else "union_by_name = true)"
            self._connection.execute(f"create view {_VIEW} as select * from {read}")
            # From here on nothing but the folder can be read, and nothing changed.
            inside = folder.replace("'", "''")
            self._connection.execute(f"set allowed_directories = ['{inside}']")
        self._connection.execute("set enable_external_access = false")
        self._connection.execute("set lock_configuration = true")
        return _VIEW

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

    def close(self) -> None:
        self._connection.close()


class PostgreSQL(Engine):
    """PostgreSQL by ADBC, in one session whose transactions are read only, so that not even a
    function behind a view writes.
    """

    dialect = Dialect(text="cast({} as text)", bytewise=' collate "C"')
    called = "PostgreSQL"
    needs = ("adbc-driver-postgresql", "postgres")

    def _open(self, url: str) -> None:
        from adbc_driver_postgresql import dbapi

        self._connection = dbapi.connect(_signed(url), autocommit=True)
        self._execute("set application_name = 'appellate'")
        self._execute("set default_transaction_read_only = on")

    def _execute(self, sql: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)

    def _fetch(self, sql: str) -> pa.Table:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return gathered(cursor.fetch_record_batch(), self.shown)

    def close(self) -> None:
        with suppress(Exception):
            self._connection.close()


class ClickHouse(Engine):
    """ClickHouse by HTTP.

    readonly 2 : the session may read, and set how, and nothing else.
    """

    dialect = Dialect(
        quote="`",
        text="toString({})",
        length="lengthUTF8({})",
        md5="lower(hex(MD5({})))",
        escapes=True,
    )
    called = "ClickHouse"
    needs = ("clickhouse-connect", "clickhouse")
    SETTINGS: ClassVar = {"output_format_arrow_string_as_string": 1, "readonly": 2}
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

    def columns(self) -> dict[str, str]:
        """As elsewhere; what it calls an Enum comes as a number without its word."""
        names = super().columns()
        kinds = ", ".join(f"toTypeName({self.dialect.name(name)})" for name in names)
        with self._told():
            first = self._fetch(f"select {kinds} from {self.table} limit 1")
        if first.num_rows:
            for name, kind in zip(names, first.columns, strict=True):
                if "Enum" in str(kind[0].as_py()):
                    names[name] = self.dialect.text.format(self.dialect.name(name))
        return names

    def close(self) -> None:
        with suppress(Exception):
            self._client.close()


class Spark(Engine):
    """Spark, by Connect or a session of this process."""

    dialect = Dialect(quote="`", text="cast({} as string)", escapes=True)
    called = "Spark"
    needs = ("pyspark-client", "spark")

    def _open(self, url: str) -> None:
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

    def close(self) -> None:
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
            value=without_secrets(url),
            known=ENGINES,
        )
    engine: Engine = engines[scheme](without_secrets(url), table, url)
    return engine


def without_secrets(url: str) -> str:
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
