"""The one way out for calls: to the server that was agreed to, once a call, and to nobody else.

Clients of providers follow redirects, read base URLs and proxies from the environment, send again
what they think was lost, and listen for as long as a server sends. None of it gets past this
transport, whichever provider's client sits on it; the calls of `wire` ask for the same permission.
"""

from __future__ import annotations

import asyncio
import os
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache

import httpx

PROXY_SETTINGS = tuple(
    name
    for kind in ("http", "https", "all", "no")
    for name in (f"{kind}_proxy", f"{kind}_proxy".upper())
)
PORTS = {"http": 80, "https": 443}
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=128, keepalive_expiry=30.0)

Origin = tuple[str, str, int | None]


@dataclass(slots=True)
class Permit:
    """Permission for one request.

    local : to this machine, so never through a proxy.  instead : answers in the server's place.
    most, seconds : bytes that the reply may have, and until all of it is there.
    status, headers : of the server's answer.  refusal : why nothing was sent.
    """

    origin: Origin
    local: bool
    most: int
    seconds: float | None = None
    instead: Callable[[httpx.Request], httpx.Response] | None = None
    sent: bool = False
    status: int | None = None
    headers: Mapping[str, str] | None = None
    error: Exception | None = None
    refusal: str | None = None


PERMIT: ContextVar[Permit | None] = ContextVar("permit", default=None)
"""Permission of the call that is being made; tasks and threads that a client starts for it inherit
it.
"""


def origin(url: httpx.URL | str) -> Origin:
    """Scheme, host and port of an address. Raises httpx.InvalidURL."""
    return _origin(url) if isinstance(url, str) else _of_url(url)


@cache
def _origin(url: str) -> Origin:
    return _of_url(httpx.URL(url))


def _of_url(url: httpx.URL) -> Origin:
    return url.scheme, url.host, url.port or PORTS.get(url.scheme)


class Gate(httpx.AsyncBaseTransport):
    """Connections to servers; each request needs permission.

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
            raise httpx.ConnectError("another server than the confirmed one", request=request)
        if permit.sent:
            raise permit.error or httpx.ConnectError("a call is sent once", request=request)
        permit.sent = True
        try:
            if permit.instead is not None:
                response = permit.instead(request)
            else:
                way = self._way(request.url, local=permit.local)
                async with asyncio.timeout(permit.seconds):
                    response = await _whole(await way.handle_async_request(request), permit.most)
        except TimeoutError:
            said = f"no whole reply within {permit.seconds:g} seconds"
            permit.error = httpx.ReadTimeout(said, request=request)
            raise permit.error from None
        except Exception as error:
            permit.error = error
            raise
        permit.status, permit.headers = response.status_code, response.headers
        return response

    def _way(self, url: httpx.URL, *, local: bool) -> httpx.AsyncBaseTransport:
        """Connections through the environment's proxy for an address; straight ones to this
        machine.
        """
        proxy = environment_proxy(url.scheme, url.host)
        straight = local and proxy is not None
        key = proxy, straight
        if key not in self._ways:
            # Those that read the environment are faster, and do where it names no proxy.
            self._ways[key] = (
                httpx.AsyncHTTPTransport(limits=LIMITS) if straight else self._connect()
            )
        return self._ways[key]

    async def aclose(self) -> None:
        """Clients come and go; the connections stay for the next."""


class TooMuch(httpx.ReadError):
    """A server sends more than any reply has."""


async def _whole(response: httpx.Response, most: int) -> httpx.Response:
    """A response that is read and unpacked, and no longer listened to beyond so many bytes.

    Clients would read on for as long as a byte comes now and then.
    """
    parts: list[bytes] = []
    size = 0
    async with aclosing(response):
        async for part in response.aiter_bytes():
            parts.append(part)
            size += len(part)
            if size > most:
                raise TooMuch(f"the reply has more than {most:,} bytes")
    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name not in ("content-encoding", "content-length", "transfer-encoding")
    ]
    return httpx.Response(response.status_code, headers=headers, content=b"".join(parts))


def environment_proxy(scheme: str, host: str) -> str | None:
    """Proxy that the environment names for this host."""
    # The environment is read for every request; what follows from it is worked out once.
    return _proxy(scheme, host, tuple(os.environ.get(name) for name in PROXY_SETTINGS))


@cache
def _proxy(scheme: str, host: str, settings: tuple[str | None, ...]) -> str | None:
    if urllib.request.proxy_bypass(host):
        return None
    named = urllib.request.getproxies()
    proxy = named.get(scheme) or named.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"
