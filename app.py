"""Launcher: serves pages/main.py with security headers, to this machine only unless sign-in is
configured.

The main script lives inside `pages/` because a `pages/` folder beside it would put a cold server in
auto-discovery mode, in which a deep link runs its page without the navigation and the sidebar.
"""

import atexit
import base64
import gc
import hashlib
import importlib
import ipaddress
import os
import re
import tomllib
from pathlib import Path
from typing import Any

# Our matrices are small: a second BLAS thread doubles the work of a step and saves no time. NumPy
# asks once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config, net_util
from streamlit.auth_util import is_authlib_installed

from core.extras import EXTRA_OF
from pages.shared import first_picture, history, people, uploads, usable
from pages.shared.gate import Gate

REMOTE_FLAG = "APPELLATE_ALLOW_REMOTE"


def _inline_script_hashes() -> str:
    """CSP sources of the inline scripts in Streamlit's own page, so that no other inline script
    runs.
    """
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digests = (
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    )
    return " ".join(f"'sha256-{digest}'" for digest in digests)


# Names and texts of votes are hostile: even if one of them got into a page as markup, nothing may
# be fetched from, or sent to, another host.
HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' {_inline_script_hashes()}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class SecurityHeaders:
    """Adds HEADERS to every HTTP response, and to pages those of the first picture."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                page = message["status"] == 200 and headers.get("content-type", "").startswith(
                    "text/html"
                )
                # A report that is downloaded is HTML too.
                if page and "content-disposition" not in headers:
                    headers.update(first_picture.HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def is_loopback(address: str | None) -> bool:
    """Whether a server bound to `address` is out of reach of other machines; no address means all
    of them.
    """
    if not address:
        return False
    if address == "localhost" or address.startswith("unix://"):
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse_open_network(address: str | None, *, sign_in: bool, allowed: bool) -> None:
    """Stop unless the address is this machine's own, or visitors sign in, or the flag accepts
    everyone.
    """
    if not (is_loopback(address) or sign_in or allowed):
        raise SystemExit(
            "Appellate would be open to anyone who can reach "
            f"{address or 'any address of this machine'}. "
            "Use --server.address localhost, or configure sign-in ([auth] in "
            ".streamlit/secrets.toml), "
            f"or accept it with {REMOTE_FLAG}=1."
        )


def secrets() -> dict[str, Any] | None:
    """What stands in the files of secrets; None if there is none. Streamlit takes a broken one for
    none.
    """
    found: dict[str, Any] | None = None
    for path in map(Path, config.get_option("secrets.files")):
        if path.is_file():
            try:
                found = (found or {}) | tomllib.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise SystemExit(
                    f"{path}: cannot be read ({error}). Nobody could sign in."
                ) from error
    return found


people.check_configuration(secrets(), os.environ)
if people.sign_in() and not is_authlib_installed():
    raise SystemExit("Sign-in needs the package Authlib: pip install 'Authlib>=1.3.2'")
refuse_open_network(
    config.get_option("server.address"),
    sign_in=people.sign_in(),
    allowed=os.environ.get(REMOTE_FLAG) == "1",
)

# Asked by a foreign page, Streamlit would ask another host for this machine's address to compare
# the page's with. Nothing may leave this machine; whoever serves others names the address in
# server.allowedHosts.
net_util.get_external_ip = lambda: None

# The main script runs behind this launcher only.
os.environ["APPELLATE_LAUNCHED"] = str(os.getpid())

# What pages are made of, and what they compute with: loaded before the first visitor comes, who
# would wait.
PAGES = Path(__file__).parent / "pages"
for section in sorted(PAGES.glob("sections/*/*.py")):
    try:
        importlib.import_module(".".join(section.relative_to(PAGES.parent).with_suffix("").parts))
    except ModuleNotFoundError as error:
        # A page says which extra it lacks.
        if error.name not in EXTRA_OF:
            raise
importlib.import_module("scipy.special")
# Streamlit looks through everything for garbage after each run of a page: what is loaded is none.
gc.collect()
gc.freeze()
atexit.register(gc.unfreeze)


async def to_the_front(request: Request) -> Response:
    """The verdict is the page without an address: a link to its name leads there, as it is."""
    query = request.url.query
    return RedirectResponse(f"./?{query}" if query else "./")


app = st.App(
    PAGES / "main.py",
    routes=[first_picture.ROUTE, history.ROUTE, Route("/verdict", to_the_front)],
    middleware=[Middleware(SecurityHeaders), Middleware(Gate), Middleware(history.WithHistory)],
    lifespan=uploads.while_served,
    on_script_error=usable.say,
)
