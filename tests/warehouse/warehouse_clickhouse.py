"""ClickHouse's HTTP interface in front of chdb: `python warehouse_clickhouse.py PORT FOLDER`.

Each Parquet file of the folder is a table. One session at a time: a new session forgets the
temporary tables of the one before, as a server does. User `auditor` has a password, the others
none; `stranger` may only read.
"""

from __future__ import annotations

import base64
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from chdb import session

NOT_SETTINGS = {
    *(
        "query",
        "session_id",
        "database",
        "query_id",
        "session_timeout",
        "session_check",
        "compress",
    ),
    *(
        "wait_end_of_query",
        "client_protocol_version",
        "role",
        "buffer_size",
        "quota_key",
        "decompress",
    ),
}
USERS = {"default": "", "stranger": "", "auditor": "correct horse"}


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine = session.Session()
    lock = Lock()
    current = ""

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        given = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        sql = "\n".join(filter(None, (given.get("query", ""), body))).strip()
        user, _, password = self.signed_in().partition(":")
        if USERS.get(user) != password:
            return self.answer(
                403, f"Code: 516. DB::Exception: {user}: Authentication failed".encode()
            )
        try:
            with Endpoint.lock:
                return self.answer(200, self.run(sql, given, readonly=user == "stranger"))
        except Exception as error:
            return self.answer(500, str(error).encode())

    def signed_in(self) -> str:
        basic = self.headers.get("Authorization", "").removeprefix("Basic ")
        return base64.b64decode(basic).decode() if basic else "default:"

    def run(self, sql: str, given: dict[str, str], *, readonly: bool) -> bytes:
        engine = Endpoint.engine
        if given.get("session_id", "") != Endpoint.current:
            Endpoint.current = given.get("session_id", "")
            names = (
                engine.query("select name from system.tables where is_temporary", "TSV")
                .bytes()
                .decode()
            )
            for name in names.split():
                engine.query(f"drop temporary table {name}")
        if given.get("database", "default") != "default":
            engine.query(f"use {given['database']}")
        for name, value in given.items():
            if name not in NOT_SETTINGS:
                engine.query(f"set {name} = '{value}'")
        named = re.search(r"\s+format\s+(\w+)\s*;?\s*$", sql, re.IGNORECASE)
        sql, form = (sql[: named.start()], named[1]) if named else (sql, "TSV")
        if readonly and sql.casefold().startswith("create"):
            sql += " settings readonly = 1"
        found: bytes = engine.query(sql, form).bytes()
        return found

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-ClickHouse-Timezone", "UTC")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def main(port: int, folder: Path) -> None:
    for path in folder.glob("*.parquet"):
        Endpoint.engine.query(
            f"create table {path.stem} engine = File(Parquet, '{path.absolute()}')"
        )
    server = ThreadingHTTPServer(("127.0.0.1", port), Endpoint)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
