"""What stands before Streamlit: foreign pages, people who have not signed in, and uploads without
end.
"""

from __future__ import annotations

import json
from collections import defaultdict
from hashlib import sha256
from html import escape
from time import time
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.auth_util import encode_provider_token, get_origin_from_redirect_uri
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from pages.shared import people
from pages.shared.tidy import Tidying

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN = ("/_stcore/health", "/auth/login", "/auth/logout", "/oauth2callback")
"""Paths of Streamlit that who has not signed in may ask for."""
EXIT = "/auth/logout"
GOOD_FOR = 31 * 24 * 3600
"""Seconds after which no cookie of a sign-in is good any more; Streamlit's are for 30 days."""
ENTRANCE = "/sign-in"
UPLOADS = "/_stcore/upload_file/"
KEPT = 2
"""A session may keep uploads of so many times the size that one file may have."""
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Appellate</title>
<meta name="viewport" content="width=device-width"><style>body {{ font: 1.1rem system-ui; margin: 4rem auto;
max-width: 30rem; padding: 0 1rem }}</style><h1>Appellate</h1><p>{said}</p>
<p><a href="{link}">{does}</a></p></html>"""


class Gate:
    """Refuses requests before anything of them is read, kept or shown."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._kept: dict[str, dict[str, int]] = defaultdict(dict)
        self._ended: dict[str, float] = {}
        self._tidying = Tidying()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self.refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None and scope["type"] == "websocket":
            taken = self._while_signed_in(scope, receive) if people.sign_in() else receive
            try:
                await self.app(scope, taken, send)
            finally:
                self._tidying.after_a_visit()
        elif refusal is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            # Before it is accepted: the handshake is answered with 403.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refusal(scope, receive, send)

    def refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that goes no further, or None."""
        headers = Headers(scope=scope)
        if not is_own_origin(headers.get("origin"), headers.get("host")):
            return PlainTextResponse("This page is of another origin", 403)
        base = "/" + str(config.get_option("server.baseUrlPath") or "").strip("/")
        base = base.rstrip("/")
        path = str(scope["path"]).removeprefix(base)
        if people.sign_in() and path == EXIT:
            self._end(signed_in(headers))
        if people.sign_in() and path not in OPEN:
            refused = self._sign_in(path, base, scope, headers)
            if refused is not None:
                return refused
        if path.startswith(UPLOADS):
            return self._weigh(path.removeprefix(UPLOADS), str(scope["method"]), headers)
        return None

    def _sign_in(self, path: str, base: str, scope: Scope, headers: Headers) -> Response | None:
        if path == ENTRANCE:
            return RedirectResponse(
                f"{base}/auth/login?provider={encode_provider_token('default')}", 302
            )
        user = signed_in(headers)
        if self._has_ended(user):
            user = {}
        role = people.role(user)
        if role == "editor" or (role == "reader" and not path.startswith(UPLOADS)):
            return None
        if scope["type"] == "websocket" or "text/html" not in headers.get("accept", ""):
            return PlainTextResponse(
                "Sign in first" if not user else "Not allowed", 401 if not user else 403
            )
        if not user:
            said, link, does = "Sign in to see anything here.", ENTRANCE, "Sign in"
        else:
            who = escape(str(user.get("email") or "You"))
            said, link, does = (
                f"{who} may not come in. Ask who runs this server.",
                "/auth/logout",
                "Sign out",
            )
        return HTMLResponse(
            PAGE.format(said=said, link=base + link, does=does), 403 if user else 401
        )

    def _end(self, user: dict[str, Any]) -> None:
        """Remember a sign-in as ended, so that a copy of its cookie opens nothing."""
        now = time()
        self._ended = {name: until for name, until in self._ended.items() if until > now}
        if user:
            self._ended[_digest(user)] = now + GOOD_FOR

    def _has_ended(self, user: dict[str, Any]) -> bool:
        return bool(self._ended) and _digest(user) in self._ended

    def _while_signed_in(self, scope: Scope, receive: Receive) -> Receive:
        """What a visitor sends over an open connection; nothing any more once its sign-in ended."""
        user = signed_in(Headers(scope=scope))

        async def received() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and self._has_ended(user):
                return {"type": "websocket.disconnect", "code": 1008}
            return message

        return received

    def _weigh(self, name: str, method: str, headers: Headers) -> Response | None:
        """Refuse an upload beyond what a session may keep; what is deleted counts no longer."""
        session, _, file = name.partition("/")
        if method == "DELETE":
            self._kept[session].pop(file, None)
        if method not in ("PUT", "POST"):
            return None
        length = headers.get("content-length", "")
        if not length.isdigit():
            return PlainTextResponse("Say how long the file is", 411)
        most = KEPT * int(config.get_option("server.maxUploadSize")) * 1024**2
        self._kept[session][file] = int(length)
        if sum(self._kept[session].values()) > most:
            del self._kept[session][file]
            return PlainTextResponse("This session has uploaded enough: remove files first", 413)
        return None


def _digest(user: dict[str, Any]) -> str:
    """Tells sign-ins apart: what a provider says of a person has the time and a nonce in it."""
    return sha256(json.dumps(user, sort_keys=True).encode()).hexdigest()


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Whether a page may talk to this server: its own, or one of a name that it is configured to
    have.

    Another port of this machine is another program: its pages are foreign.
    """
    if origin is None:
        return True
    page = urlsplit(origin)
    if page.netloc == host or origin in (config.get_option("server.corsAllowedOrigins") or ()):
        return True
    # Behind a gateway the host that arrives may be the gateway's.
    names = [str(name).casefold() for name in config.get_option("server.allowedHosts") or ()]
    return (page.hostname or "") not in LOOPBACK and (page.hostname or "").casefold() in names


def signed_in(headers: Headers) -> dict[str, Any]:
    """What the provider said of the visitor, from the cookie that this server signed; empty without
    one.
    """
    cookies = cookie_parser(headers.get("cookie", ""))
    content = _get_signed_cookie_with_chunks(cookies, USER_COOKIE_NAME)
    try:
        user = json.loads(content or b"{}")
    except ValueError:
        return {}
    return user if user.get("origin") == get_origin_from_redirect_uri() else {}
