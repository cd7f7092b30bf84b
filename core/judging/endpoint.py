"""Where judged texts would be sent, with which key, and at what price; asked before anything is sent."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ..errors import InvalidOption
from .job import Judge

HOSTS = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "gemini": "generativelanguage.googleapis.com",
    "mistral": "api.mistral.ai",
    "groq": "api.groq.com",
    "deepseek": "api.deepseek.com",
    "xai": "api.x.ai",
    "together_ai": "api.together.ai",
    "openrouter": "openrouter.ai",
    "fireworks_ai": "api.fireworks.ai",
    "cohere": "api.cohere.com",
    "cohere_chat": "api.cohere.com",
    "cerebras": "api.cerebras.ai",
    "perplexity": "api.perplexity.ai",
}
"""Known providers and where they are."""
REDIRECTING = {
    "mistral": ("MISTRAL_AZURE",),
    "cohere": ("COHERE",),
    "cohere_chat": ("COHERE",),
    "fireworks_ai": ("FIREWORKS",),
}
"""What else than the provider's name may begin the variables from which its client takes a base URL."""

NO_KEY = "none-needed"
"""Sent to servers that ask for no key: clients of the OpenAI format must send one."""
NAME = re.compile(r"[0-9a-z._:-]+")
"""Of a host, in lower case, or its number."""
REMOVED = "[key]"
SHORT = 6
"""Characters below which a secret may be part of other words."""
SECRET_ENDINGS = ("_API_KEY", "_TOKEN", "_SECRET", "_SECRET_KEY", "_ACCESS_KEY", "_PASSWORD", "_CREDENTIALS")


class NotConfirmed(InvalidOption):
    """The texts would go to a host that is neither this machine nor a known provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a judge's calls go. The key is in no text of it.

    price : of one prompt token and one completion token; None: unknown.
    """

    host: str
    base_url: str | None
    local: bool
    price: tuple[float, float] | None
    key: str | None = field(repr=False)

    @property
    def address(self) -> str:
        """Of the server, as a URL."""
        return self.base_url or f"https://{self.host}"


def destination(
    judge: Judge, *, confirmed: Iterable[str] = (), keys: dict[str, str] | None = None
) -> Destination:
    """Where a judge's calls go.

    confirmed : hosts that the user agreed to send texts to.
    keys : name → key, looked up before the environment; never stored.

    Raises
    ------
    NotConfirmed : another host than this machine and the known providers.
    InvalidOption : no provider known under this name and no base URL, or the key is missing.
    """
    host, base = host_of(judge), _base(judge)
    if not trusted(host) and host not in {name.lower() for name in confirmed}:
        raise NotConfirmed(
            f"{base} is neither this machine nor a known provider. All prompts and responses would be "
            f"sent to {host}: confirm it with --yes-send-to {host}"
        )
    return Destination(
        host=host,
        base_url=base,
        local=_is_loopback(host),
        price=_price(judge, host),
        key=_key(judge, keys or {}),
    )


def host_of(judge: Judge) -> str:
    """The host that a judge's calls go to.

    Raises InvalidOption : no provider known under this name and no base URL, or no address of a server.
    """
    base, known = _base(judge), HOSTS.get(judge.provider)
    if base is not None:
        return _host(base)
    if known is None:
        raise InvalidOption(
            f"{judge.model}: {judge.provider!r} is no provider known here ({', '.join(sorted(HOSTS))}); "
            "give the --base-url of a server that speaks the OpenAI format, with --model openai/NAME"
        )
    return known


def trusted(host: str) -> bool:
    """Whether texts go to this host without asking: this machine, or a known provider."""
    return _is_loopback(host) or host in HOSTS.values()


def key_variable(judge: Judge) -> str | None:
    """Name of the variable that holds the key of a judge; None where none is sent."""
    if judge.key_env is not None:
        return judge.key_env
    host = host_of(judge)
    owner = next((provider for provider, place in HOSTS.items() if place == host), None)
    if owner is None:
        return None
    return provider_variable(judge.provider if HOSTS.get(judge.provider) == host else owner)


def provider_variable(provider: str) -> str:
    """Name of the variable that holds a provider's key."""
    return f"{provider.removesuffix('_chat').upper()}_API_KEY"


def _base(judge: Judge) -> str | None:
    return judge.base_url or _redirected(judge.provider)


def _redirected(provider: str) -> str | None:
    """A base URL that the provider's client would take from the environment by itself."""
    for beginning in (provider.upper(), *REDIRECTING.get(provider, ())):
        for name in (f"{beginning}_BASE_URL", f"{beginning}_API_BASE"):
            if os.environ.get(name):
                return os.environ[name]
    return None


def _host(base: str) -> str:
    # What may hold a key is not repeated.
    shown = "an address with a key or a question in it" if any(mark in base for mark in "@?#") else repr(base)
    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidOption(f"--base-url {shown}: write it as http://HOST:PORT/v1") from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InvalidOption("--base-url: a key does not belong into the address; put it into the environment")
    if parts.scheme not in ("http", "https") or host is None or not NAME.fullmatch(host):
        raise InvalidOption(f"--base-url {shown}: write it as http://HOST:PORT/v1")
    if parts.scheme == "http" and host in HOSTS.values():
        raise InvalidOption(
            f"--base-url {shown}: texts and the key would go unencrypted; write https://{host}"
        )
    return host


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _key(judge: Judge, keys: dict[str, str]) -> str:
    """The key that is sent. A provider's own key goes to that provider only."""
    name = key_variable(judge)
    if name is None:
        return NO_KEY
    found = keys.get(name) or os.environ.get(name)
    if not found:
        raise InvalidOption(f"{judge.model} needs a key: put it into the environment variable {name}")
    return found


def _price(judge: Judge, host: str) -> tuple[float, float] | None:
    """What a token costs: as given, else from litellm's list if the provider itself is called."""
    if judge.price is not None:
        return judge.price[0] / 1e6, judge.price[1] / 1e6
    if HOSTS.get(judge.provider) != host:
        return None
    from .client import listed_price

    return listed_price(judge.model)


def scrub(text: str, keys: Iterable[str | None]) -> str:
    """The text without the keys, nor anything that the environment calls a secret."""
    for key in sorted({key for key in keys if key}, key=len, reverse=True):
        text = scrub_key(text, key)
    secret = {value for name, value in os.environ.items() if name.upper().endswith(SECRET_ENDINGS)}
    for value in sorted(secret, key=len, reverse=True):
        # A short secret, unlike a key that was sent, may be a word by chance.
        if len(value) >= SHORT:
            text = text.replace(value, REMOVED)
    return text


def scrub_key(text: str, key: str | None) -> str:
    """The text without a key that was sent; a short one counts as a whole word only."""
    if not key or key == NO_KEY:
        return text
    if len(key) >= SHORT:
        return text.replace(key, REMOVED)
    return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", REMOVED, text)
