"""Where judged texts would be sent, with which key, and at what price; settled before anything is sent."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterable
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

Price = tuple[float, float]
"""Of one prompt token and of one completion token."""


class NotConfirmed(InvalidOption):
    """The texts would go to a host that is neither this machine nor a known provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a judge's calls go. The key is in no text of it.

    price : None if it is unknown.
    """

    host: str
    base_url: str | None
    local: bool
    price: Price | None
    key: str | None = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def address(self) -> str:
        """Of the server, as a URL."""
        return self.base_url or f"https://{self.host}"

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What so many tokens cost; None if the price is unknown."""
        if self.price is None:
            return None
        return prompt_tokens * self.price[0] + completion_tokens * self.price[1]


def destination(
    judge: Judge,
    *,
    confirmed: Iterable[str] = (),
    keys: dict[str, str] | None = None,
    listed_price: Callable[[str], Price | None] = lambda model: None,
) -> Destination:
    """Where a judge's calls go.

    confirmed : hosts that the user agreed to send texts to.
    keys : name → key, looked up before the environment; never stored.
    listed_price : price of a provider's model, where the judge has none of its own.

    Raises
    ------
    NotConfirmed : another host than this machine and the known providers.
    InvalidOption : no provider known under this name and no base URL, or the key is missing.
    """
    host, base = host_of(judge), _base(judge)
    if not trusted(host) and host not in {name.lower() for name in confirmed}:
        raise NotConfirmed(
            "{base} is neither this machine nor a known provider. All prompts and responses would be "
            "sent to {host}: confirm it with {option:yes_send_to {host}}",
            base=base,
            host=host,
        )
    price = None
    if judge.price is not None:
        price = judge.price[0] / 1e6, judge.price[1] / 1e6
    elif HOSTS.get(judge.provider) == host:
        price = listed_price(judge.model)
    return Destination(
        host=host,
        base_url=base,
        local=_is_loopback(host),
        price=price,
        key=_key(judge, keys or {}),
        headers=_headers(judge, keys or {}),
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
            "{model}: {provider!r} is not a known provider ({known}); give the {option:base_url} of a "
            "server that speaks the OpenAI format, with {option:model openai/NAME}",
            model=judge.model,
            provider=judge.provider,
            known=sorted(HOSTS),
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
    owners = [provider for provider, place in HOSTS.items() if place == host]
    if not owners:
        return None
    return provider_variable(judge.provider if judge.provider in owners else owners[0])


def provider_variable(provider: str) -> str:
    """Name of the variable that holds a provider's key."""
    return f"{provider.removesuffix('_chat').upper()}_API_KEY"


def _base(judge: Judge) -> str | None:
    """The judge's base URL, or one that the provider's client would take from the environment by itself."""
    beginnings = (judge.provider.upper(), *REDIRECTING.get(judge.provider, ()))
    names = [f"{begun}_{ending}" for begun in beginnings for ending in ("BASE_URL", "API_BASE")]
    return next(filter(None, [judge.base_url, *map(os.environ.get, names)]), None)


def _host(base: str) -> str:
    # What may hold a key is not repeated.
    shown = "an address with a key or a question in it" if any(mark in base for mark in "@?#") else repr(base)
    unreadable = InvalidOption(
        "{option} {shown}: write it as http://HOST:PORT/v1", option="base_url", shown=shown
    )
    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise unreadable from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InvalidOption(
            "{option}: a key does not belong in the address; put it into the environment", option="base_url"
        )
    if parts.scheme not in ("http", "https") or host is None or not NAME.fullmatch(host):
        raise unreadable
    if parts.scheme == "http" and host in HOSTS.values():
        raise InvalidOption(
            "{option} {shown}: texts and the key would go unencrypted; write https://{host}",
            option="base_url",
            shown=shown,
            host=host,
        )
    return host


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _headers(judge: Judge, keys: dict[str, str]) -> dict[str, str]:
    """Further headers; `$NAME` stands for what an environment variable holds."""
    found = {}
    for name, value in judge.headers:
        variable = value.removeprefix("$")
        found[name] = value if variable == value else keys.get(variable) or os.environ.get(variable, "")
        if not found[name]:
            raise InvalidOption(
                "{option} {name}: the environment variable {variable} is empty",
                option="header",
                name=name,
                variable=variable,
            )
    return found


def _key(judge: Judge, keys: dict[str, str]) -> str:
    """The key that is sent. A provider's own key goes to that provider only."""
    name = key_variable(judge)
    if name is None:
        return NO_KEY
    found = keys.get(name) or os.environ.get(name)
    if not found:
        raise InvalidOption(f"{judge.model} needs a key: put it into the environment variable {name}")
    return found
