"""The one way out for calls: to the server that was agreed to, once a call, and to nobody else.

Clients of providers follow redirects, read base URLs and proxies from the environment, and send again what
they think was lost. None of it gets past this transport, whichever provider's client sits on it.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

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

    connect : makes connections that go through the proxies of the environment.
    """

    def __init__(self, connect: Callable[[], httpx.AsyncBaseTransport]) -> None:
        self._connect = connect
        self._ways: dict[tuple[str | None, bool], httpx.AsyncBaseTransport] = {}

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

    def _way(self, url: httpx.URL, *, local: bool) -> httpx.AsyncBaseTransport:
        """Connections through the environment's proxy for an address; straight ones to this machine."""
        proxy = environment_proxy(url)
        straight = local and proxy is not None
        key = proxy, straight
        if key not in self._ways:
            # Those that read the environment are faster, and do where it names no proxy.
            self._ways[key] = httpx.AsyncHTTPTransport(limits=LIMITS) if straight else self._connect()
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
