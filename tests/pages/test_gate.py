"""What stands before Streamlit: who is listed, which pages are foreign, how much one session may
upload.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from levels import first_of
from patience import LONG
from places import REPOSITORY
from served import Server, Session

from pages.shared import people
from pages.shared.gate import Gate, is_own_origin

WHOLE = {
    "redirect_uri": "http://localhost:8501/oauth2callback",
    "cookie_secret": "0123456789abcdef" * 4,
    "client_id": "c",
    "client_secret": "s",
    "server_metadata_url": "http://localhost:1/.well-known/openid-configuration",
}


@pytest.mark.parametrize(
    ("address", "names", "found"),
    [
        ("ann@example.org", "ann@example.org", True),
        ("Ann@Example.ORG", "bob@example.org, ann@example.org", True),
        ("ann@example.org", "@example.org", True),
        ("ann@example.org", "example.com example.org", True),
        ("ann@example.org", "*", True),
        ("ann@sub.example.org", "example.org", False),
        ("ann@example.org.evil.example", "example.org", False),
        ('"x@example.org"@evil.example', "example.org", False),
        ("example.org", "example.org", False),
        ("@example.org", "example.org", False),
        ("", "", False),
        ("ann@", "@", False),
        ("ann@example.org", "", False),
    ],
)
def test_addresses_and_domains_are_compared_whole(address: str, names: str, found: bool) -> None:
    assert people.listed(address, names) is found


@pytest.mark.parametrize(
    ("user", "role"),
    [
        ({"is_logged_in": True, "email": "ann@a.example"}, "editor"),
        ({"is_logged_in": True, "email": "ann@a.example", "email_verified": True}, "editor"),
        ({"is_logged_in": True, "email": "ann@a.example", "email_verified": False}, None),
        ({"is_logged_in": True, "email": "ann@a.example", "email_verified": "false"}, None),
        ({"is_logged_in": True, "email": "bob@r.example"}, "reader"),
        ({"is_logged_in": True, "email": ["ann@a.example"]}, None),
        ({"is_logged_in": True}, None),
        ({"email": "ann@a.example"}, None),
        ({}, None),
    ],
)
def test_a_role_needs_a_listed_address(user: dict[str, object], role: str | None) -> None:
    listed = {people.ALLOWED: "ann@a.example", people.READERS: "r.example"}
    assert people.role(user, listed) == role


@pytest.mark.parametrize("name", people.NEEDED)
def test_a_sign_in_that_is_half_configured_is_refused(name: str) -> None:
    listed = {people.ALLOWED: "ann@a.example"}
    people.check_configuration({"auth": WHOLE}, listed)
    for given in ({k: v for k, v in WHOLE.items() if k != name}, WHOLE | {name: " "}):
        with pytest.raises(SystemExit, match=name):
            people.check_configuration({"auth": given}, listed)


def test_a_list_needs_a_sign_in_and_a_sign_in_a_list() -> None:
    people.check_configuration(None, {})
    people.check_configuration({"other": 1}, {})
    for given, listed, said in (
        ({"auth": WHOLE}, {}, "Say who may come in"),
        ({"auth": WHOLE}, {people.ALLOWED: " "}, "Say who may come in"),
        ({"auth": WHOLE | {"cookie_secret": "short"}}, {people.ALLOWED: "*"}, "fewer than 32"),
        ({"auth": {}}, {people.ALLOWED: "*"}, "lacks redirect_uri"),
        ({}, {people.READERS: "*"}, "nobody signs in"),
        (None, {people.ALLOWED: "*"}, "nobody signs in"),
    ):
        with pytest.raises(SystemExit, match=said):
            people.check_configuration(given, listed)


@pytest.mark.parametrize(
    ("written", "said"),
    first_of(
        ("[auth\n", "cannot be read"),
        ("[auth]\nclient_id = 'c'\n", "lacks redirect_uri"),
        ("[auth]\n", "lacks"),
    ),
)
def test_the_launcher_does_not_start_with_it(written: str, said: str, tmp_path: Path) -> None:
    """Streamlit takes a file of secrets that it cannot read for none, and would let in everyone."""
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(written)
    code = (
        f"from streamlit import config; config.set_option('secrets.files', "
        f"[{str(secrets)!r}]); import app"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, timeout=LONG
    )
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        (None, "localhost:8501", True),
        ("http://localhost:8501", "localhost:8501", True),
        ("http://127.0.0.1:8501", "127.0.0.1:8501", True),
        ("https://judges.example.org", "127.0.0.1:8501", True),
        ("http://localhost:3000", "localhost:8501", False),
        ("http://127.0.0.1:8501", "localhost:8501", False),
        ("http://[::1]:9", "localhost:8501", False),
        ("http://host.invalid", "localhost:8501", False),
        ("null", "localhost:8501", False),
        ("file://", "localhost:8501", False),
    ],
)
def test_pages_of_other_ports_are_foreign(origin: str | None, host: str, own: bool) -> None:
    from streamlit import config

    before = config.get_option("server.allowedHosts")
    config.set_option(
        "server.allowedHosts", ["localhost", "127.0.0.1", "[::1]", "judges.example.org"]
    )
    try:
        assert is_own_origin(origin, host) is own
    finally:
        config.set_option("server.allowedHosts", before)


def test_a_session_may_upload_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit import config

    most = 2 * config.get_option("server.maxUploadSize") * 1024**2

    def answered(gate: Gate, method: str, path: str, length: int | None) -> int:
        headers = [(b"host", b"localhost:8501")]
        if length is not None:
            headers.append((b"content-length", str(length).encode()))
        scope = {
            "type": "http",
            "method": method,
            "path": f"/_stcore/upload_file/{path}",
            "headers": headers,
        }
        refusal = gate.refusal(scope)
        return 0 if refusal is None else refusal.status_code

    async def nothing(*_: object) -> None:
        raise AssertionError

    gate = Gate(nothing)
    assert answered(gate, "PUT", "one/a", None) == 411
    assert answered(gate, "PUT", "one/a", most // 2) == 0
    assert answered(gate, "PUT", "one/a", most // 2) == 0
    assert answered(gate, "PUT", "one/b", most // 2) == 0
    assert answered(gate, "PUT", "one/c", 1) == 413
    assert answered(gate, "PUT", "two/c", 1) == 0
    assert answered(gate, "DELETE", "one/a", None) == 0
    assert answered(gate, "PUT", "one/c", 1) == 0


@pytest.mark.thorough
def test_the_main_script_alone_shows_nothing(tmp_path: Path) -> None:
    from served import Server, Session

    with Server("pages/main.py", tmp_path / "s.duckdb") as server, Session(server) as visitor:
        said = visitor.run()
    assert "Start it with: streamlit run app.py" in said
    assert "Simulated demo data" not in said
    assert not (tmp_path / "s.duckdb").exists()


LARGE = 100 * 1024**2


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="needs the accounting of Linux")
def test_a_visit_that_ended_gives_back_its_uploads(tmp_path: Path) -> None:
    """The server is as large as before, though no other visit comes; a second turn follows the
    visits that end while one is planned.
    """
    environment = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1"}
    with (
        Server("app.py", tmp_path / "votes.duckdb", environment=environment) as server,
        httpx.Client(base_url=server.url, timeout=LONG) as visitor,
    ):
        visitor.get("/_stcore/health")
        with Session(server) as visit:
            visit.run()
            before = server.memory()
        for _ in range(2):
            with Session(server) as visit:
                visit.run()
                answer = visitor.put(
                    f"/_stcore/upload_file/{visit.id}/one",
                    files={"file": ("votes.csv", bytes(LARGE))},
                    headers={"X-Xsrftoken": visitor.cookies["_streamlit_xsrf"]},
                )
                assert answer.status_code == 204, answer.text
                # The turn after the first visit gives back what starting took, too.
                assert server.memory() - before > LARGE * 0.5
        until = time.monotonic() + LONG
        while server.memory() - before > LARGE * 0.2:
            assert time.monotonic() < until
            time.sleep(0.2)
