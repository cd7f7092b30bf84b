"""Sign-in through a real redirect flow: who is not listed sees and changes nothing, a
reader reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from patience import LONG

pytest.importorskip(
    "authlib", reason="Authlib, which Streamlit needs for st.login, is not installed"
)
pytest.importorskip("cryptography")
from oidc_provider import CLIENT, SECRET, Provider
from served import Server, Session
from websockets.exceptions import ConnectionClosed, InvalidStatus

HTML = {"Accept": "text/html"}
COOKIE_SECRET = "0123456789abcdef" * 4
EDITOR = {"email": "Ann@Example.org", "email_verified": True}
READER = {"email": "bob@readers.example.com"}
STRANGERS = (
    {"email": "eve@example.com"},
    {"email": "ann@example.org.evil.example"},
    {"email": "eve@sub.readers.example.com"},
    {"email": "ann@example.org", "email_verified": False},
    {"email": ""},
    {},
)


class Served(Server):
    """The app with sign-in."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        self.visitors: list[httpx.Client] = []
        secrets = folder / "secrets.toml"

        def arguments(port: int) -> list[str]:
            secrets.write_text(
                f"""[auth]
                redirect_uri = "http://localhost:{port}/oauth2callback"
                cookie_secret = "{COOKIE_SECRET}"
                client_id = "{CLIENT}"
                client_secret = "{SECRET}"
                server_metadata_url = "{provider.url}/.well-known/openid-configuration"
                """
            )
            return ["--secrets.files", str(secrets)]

        environment = {
            "APPELLATE_ALLOWED": "ann@example.org, @editors.example.org",
            "APPELLATE_READERS": "readers.example.com",
        }
        super().__init__("app.py", folder / "votes.duckdb", arguments, environment)

    def visitor(self) -> httpx.Client:
        made = httpx.Client(base_url=self.url, follow_redirects=True, timeout=LONG, headers=HTML)
        self.visitors.append(made)
        return made


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture(scope="module")
def served(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("sign-in"), provider) as running:
        yield running


@pytest.fixture(autouse=True)
def _visitors_leave(served: Served) -> Iterator[None]:
    yield
    while served.visitors:
        served.visitors.pop().close()


def signed_in(served: Served, provider: Provider, user: dict[str, object]) -> httpx.Client:
    """A visitor who has gone through the provider."""
    provider.user = user
    visitor = served.visitor()
    visitor.get("/sign-in")
    visitor.get("/_stcore/health")
    assert "_streamlit_user" in visitor.cookies
    return visitor


def seen(served: Served, visitor: httpx.Client, page: str = "") -> tuple[str, str]:
    """All that a page sends to a browser over its WebSocket, and the id of the session."""
    cookies = {cookie.name: str(cookie.value) for cookie in visitor.cookies.jar}
    with Session(served, cookies) as session:
        return session.run(page), session.id


@pytest.mark.thorough
def test_nobody_sees_or_sends_anything_without_signing_in(served: Served) -> None:
    visitor = served.visitor()
    first = visitor.get("/")
    assert first.status_code == 401
    assert "Sign in" in first.text
    assert first.headers["Content-Security-Policy"]
    for path in (
        "/data",
        "/static/index.html",
        "/media/x.csv",
        "/_stcore/host-config",
        "/component/x",
    ):
        assert visitor.get(path).status_code == 401, path
    for method in ("PUT", "POST", "DELETE"):
        assert visitor.request(method, "/_stcore/upload_file/a/b", content=b"x").status_code == 401
    with pytest.raises(InvalidStatus, match="403"):
        seen(served, visitor)


@pytest.mark.thorough
def test_uploads_without_a_session_take_no_memory(served: Served) -> None:
    before = served.memory()
    visitor = served.visitor()

    def much() -> Iterator[bytes]:
        for _ in range(100):
            yield bytes(1024**2)

    for k in range(6):
        try:
            answer = visitor.put(
                f"/_stcore/upload_file/{k}/file",
                content=much(),
                headers={"Content-Length": str(100 * 1024**2)},
            )
            assert answer.status_code == 401
        except httpx.TransportError:
            # The server hangs up on who goes on sending.
            continue
    assert served.memory() - before < 50 * 1024**2


@pytest.mark.thorough
@pytest.mark.parametrize("user", STRANGERS, ids=str)
def test_who_is_not_listed_sees_nothing(
    served: Served, provider: Provider, user: dict[str, object]
) -> None:
    visitor = signed_in(served, provider, user)
    page = visitor.get("/")
    assert page.status_code == 403
    assert "may not come in" in page.text
    assert "Sign out" in page.text
    with pytest.raises(InvalidStatus, match="403"):
        seen(served, visitor)
    assert visitor.put("/_stcore/upload_file/a/b", content=b"x").status_code == 403
    assert visitor.get("/media/x").status_code == 403


@pytest.mark.thorough
@pytest.mark.parametrize("change", ["flipped", "other secret", "other origin"])
def test_a_cookie_that_this_server_did_not_sign_is_none(
    change: str, served: Served, provider: Provider
) -> None:
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    visitor = signed_in(served, provider, EDITOR)
    cookie = visitor.cookies["_streamlit_user"]
    if change == "flipped":
        cookie = cookie[:-2] + ("A" if cookie[-2] != "A" else "B") + cookie[-1]
    else:
        origin = served.url if change == "other secret" else "http://localhost:1"
        secret = COOKIE_SECRET if change == "other origin" else "guessed"
        payload = f'{{"email": "ann@example.org", "is_logged_in": true, "origin": "{origin}"}}'
        cookie = create_signed_value(secret, "_streamlit_user", payload).decode()
    visitor.cookies.clear()
    visitor.cookies.set("_streamlit_user", cookie)
    assert visitor.get("/").status_code == 401


@pytest.mark.thorough
def test_a_reader_reads_and_changes_nothing(served: Served, provider: Provider) -> None:
    reader = signed_in(served, provider, READER)
    assert reader.get("/").status_code == 200
    text, session = seen(served, reader)
    assert "Sign out" in text
    assert "bob@readers.example.com" in text
    assert "Simulated demo data" in text
    assert "Collect" not in [line.strip() for line in text.splitlines() if "page_name" in line]
    text, _ = seen(served, reader, "start")
    assert "Export" in text
    for absent in ("Drop files of votes", "Delete it", "New name"):
        assert absent not in text
    text, _ = seen(served, reader, "collect")
    assert "collect-start" not in text
    answer = reader.put(
        f"/_stcore/upload_file/{session}/b", files={"file": b"x"}, headers={"Accept": "*/*"}
    )
    assert answer.status_code == 403


@pytest.mark.thorough
def test_a_sign_in_that_ended_is_good_nowhere(served: Served, provider: Provider) -> None:
    editor, other = (signed_in(served, provider, EDITOR) for _ in range(2))
    cookies = {cookie.name: str(cookie.value) for cookie in editor.cookies.jar}
    copied = served.visitor()
    copied.cookies.update(cookies)
    assert copied.get("/").status_code == 200
    with Session(served, cookies) as session:
        assert "Simulated demo data" in session.run("")
        editor.get("/auth/logout")
        # An open page answers nothing more.
        with pytest.raises(ConnectionClosed):
            session.run("start")
    assert copied.get("/").status_code == 401
    upload = copied.put("/_stcore/upload_file/a/b", files={"file": b"x"}, headers={"Accept": "*/*"})
    assert upload.status_code == 401
    with pytest.raises(InvalidStatus):
        Session(served, cookies).__enter__()
    # Another sign-in of the same person stays, and so does the next.
    assert other.get("/").status_code == 200
    assert signed_in(served, provider, EDITOR).get("/").status_code == 200


@pytest.mark.thorough
@pytest.mark.parametrize(
    "user", [EDITOR, {"email": "cy@editors.example.org"}], ids=["address", "domain"]
)
def test_an_editor_may_change_everything_and_sign_out(
    user: dict[str, object], served: Served, provider: Provider
) -> None:
    editor = signed_in(served, provider, user)
    text, _ = seen(served, editor, "start")
    for present in ("Drop files of votes", "Delete it", "New name"):
        assert present in text
    editor.get("/auth/logout")
    assert "_streamlit_user" not in editor.cookies
    assert editor.get("/").status_code == 401
