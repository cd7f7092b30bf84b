"""The one way out for calls: to the server that was agreed to, once a call, and to nobody else.

Clients of providers follow redirects, read base URLs and proxies from the environment, and send again what
they think was lost. None of it gets past this transport, whichever provider's client sits on it.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from ssl import SSLContext

import httpx

PORTS = {"http": 80, "https": 443}
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=128, keepalive_expiry=30.0)

Origin = tuple[str, str, int | None]


@dataclass(slots=True)
class Permit:
    """Leave for one request.

    local : to this machine, so never through a proxy.
    status, headers : of the server's answer.  refusal : why nothing was sent.
    """

    origin: Origin
    local: bool
    sent: bool = False
    status: int | None = None
    headers: httpx.Headers | None = None
    error: Exception | None = None
    refusal: str | None = None


PERMIT: ContextVar[Permit | None] = ContextVar("permit", default=None)
"""Leave of the call that is being made; tasks and threads that a client starts for it inherit it."""


def origin(url: httpx.URL | str) -> Origin:
    """Scheme, host and port of an address.

    Raises httpx.InvalidURL.
    """
    url = httpx.URL(url)
    return url.scheme, url.host, url.port or PORTS.get(url.scheme)


class Gate(httpx.AsyncBaseTransport):
    """Connections to servers; asks for leave before each request.

    verify : gives what certificates are checked with, once they are needed.
    """

    def __init__(self, verify: Callable[[], SSLContext | str | bool]) -> None:
        self._verify = verify
        self._ways: dict[tuple[str | None, bool], httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        permit = PERMIT.get()
        if permit is None:
            raise httpx.ConnectError("no call is being made", request=request)
        to = origin(request.url)
        if to != permit.origin:
            if permit.refusal is None and not permit.sent:
                permit.refusal = (
                    f"the texts would go to {to[1]} instead of {permit.origin[1]}; nothing was sent"
                )
            raise httpx.ConnectError("another server than the one agreed to", request=request)
        if permit.sent:
            raise permit.error or httpx.ConnectError("a call is sent once", request=request)
        permit.sent = True
        try:
            response = await self._way(request.url, local=permit.local).handle_async_request(request)
        except Exception as error:
            permit.error = error
            raise
        permit.status, permit.headers = response.status_code, response.headers
        return response

    def _way(self, url: httpx.URL, *, local: bool) -> httpx.AsyncHTTPTransport:
        """Connections straight to the server, or through the environment's proxy for it."""
        proxy = None if local else environment_proxy(url)
        key = proxy, url.scheme == "https"
        if key not in self._ways:
            # The contexts of certificates are slow to make, and a server on this machine needs none.
            verify = self._verify() if url.scheme == "https" else True
            self._ways[key] = httpx.AsyncHTTPTransport(verify=verify, proxy=proxy, limits=LIMITS)
        return self._ways[key]

    async def aclose(self) -> None:
        """Clients come and go; the connections stay for the next."""


def environment_proxy(url: httpx.URL) -> str | None:
    """Proxy that the environment names for this address."""
    if urllib.request.proxy_bypass(url.host):
        return None
    named = urllib.request.getproxies()
    proxy = named.get(url.scheme) or named.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"
