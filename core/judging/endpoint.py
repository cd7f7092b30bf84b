"""Where judged texts would be sent, with which key, and at what price; settled before anything is
sent.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
    "vertex_ai": ("VERTEXAI", "VERTEX"),
}
"""What else than the provider's name may begin the variables from which its client takes a base
URL.
"""
CLOUDS = {"azure": None, "bedrock": ("boto3", "boto3"), "vertex_ai": ("google.auth", "google-auth")}
"""Providers that litellm signs in to by variables of its own → the module and the package that it
needs.
"""
CLOUD_HOST = re.compile(
    r"bedrock-runtime\.[a-z0-9-]+\.amazonaws\.com|(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com|"
    r"[a-z0-9-]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.com"
)
BATCHING = ("openai", "anthropic")
"""Providers whose batches are known here."""
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
    """Where a judge's calls go. The key is in no text of it. price : None if it is unknown."""

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

    @property
    def halved(self) -> Destination:
        """The same at half the price, which is that of calls in a batch."""
        return (
            self
            if self.price is None
            else replace(self, price=(self.price[0] / 2, self.price[1] / 2))
        )

    def cost(self, prompt_tokens: float | None, completion_tokens: int | None) -> float | None:
        """What so many tokens cost; None if the price or the prompt's tokens are unknown."""
        if self.price is None or prompt_tokens is None:
            return None
        return prompt_tokens * self.price[0] + (completion_tokens or 0) * self.price[1]


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

    Raises NotConfirmed: another host than this machine and the known providers. InvalidOption: no
    provider known under this name and no base URL, or the key is missing.
    """
    _check_package(judge)
    host, base = host_of(judge), _base(judge)
    if not trusted(host) and host not in {name.lower() for name in confirmed}:
        raise NotConfirmed(
            "{base} is neither this machine nor a known provider. All prompts and responses would "
            "be "
            "sent to {host}: confirm it with {option:yes_send_to {host}}",
            base=base,
            host=host,
        )
    price = None
    if judge.price is not None:
        price = judge.price[0] / 1e6, judge.price[1] / 1e6
    elif HOSTS.get(judge.provider) == host or CLOUD_HOST.fullmatch(host):
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

    Raises InvalidOption : no provider known under this name and no base URL, or no address of a
        server.
    """
    base = _base(judge)
    if base is not None:
        return _host(base)
    if judge.provider == "bedrock":
        region = _environment("AWS_REGION_NAME", "AWS_REGION") or "us-west-2"
        return f"bedrock-runtime.{region}.amazonaws.com"
    if judge.provider == "vertex_ai":
        place = _environment("VERTEXAI_LOCATION", "VERTEX_LOCATION") or "us-central1"
        return (
            "aiplatform.googleapis.com"
            if place == "global"
            else f"{place}-aiplatform.googleapis.com"
        )
    if judge.provider == "azure":
        raise InvalidOption(
            "{model} needs the address of your resource: put it into the environment variable "
            "AZURE_API_BASE",
            model=judge.model,
        )
    if judge.provider not in HOSTS:
        raise InvalidOption(
            "{model}: {provider!r} is not a known provider ({known}); give the {option:base_url} "
            "of a "
            "server that speaks the OpenAI format, with {option:model openai/NAME}",
            model=judge.model,
            provider=judge.provider,
            known=sorted([*HOSTS, *CLOUDS]),
        )
    return HOSTS[judge.provider]


def trusted(host: str) -> bool:
    """Whether texts go to this host without asking: this machine, or a known provider."""
    return _is_loopback(host) or host in HOSTS.values() or CLOUD_HOST.fullmatch(host) is not None


def key_variable(judge: Judge) -> str | None:
    """Name of the variable that holds the key of a judge; None where none is sent."""
    if judge.key_env is not None or judge.provider in CLOUDS:
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
    """The judge's base URL, or one that the provider's client would take from the environment by
    itself.
    """
    beginnings = (judge.provider.upper(), *REDIRECTING.get(judge.provider, ()))
    names = [f"{begun}_{ending}" for begun in beginnings for ending in ("BASE_URL", "API_BASE")]
    if judge.provider == "bedrock":
        names.append("AWS_BEDROCK_RUNTIME_ENDPOINT")
    return judge.base_url or _environment(*names)


def _environment(*names: str) -> str | None:
    """The first of these variables that holds something."""
    return next(filter(None, map(os.environ.get, names)), None)


def _check_package(judge: Judge) -> None:
    """A cloud's own sign-in may need a package that is not there. Raises InvalidOption."""
    needed = CLOUDS.get(judge.provider)
    if needed is None:
        return
    module, package = needed
    there = False
    with suppress(ModuleNotFoundError):
        there = importlib.util.find_spec(module) is not None
    if not there:
        raise InvalidOption(f"{judge.model} needs the package {package}: pip install {package}")


def _host(base: str) -> str:
    # What may hold a key is not repeated.
    shown = (
        "an address with a key or a question in it"
        if any(mark in base for mark in "@?#")
        else repr(base)
    )
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
            "{option}: a key does not belong in the address; put it into the environment",
            option="base_url",
        )
    if parts.scheme not in ("http", "https") or host is None or not NAME.fullmatch(host):
        raise unreadable
    if parts.scheme == "http" and host in HOSTS.values():
        words = "{option} {shown}: texts and the key would go unencrypted; write https://{host}"
        raise InvalidOption(words, option="base_url", shown=shown, host=host)
    return host


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _headers(judge: Judge, keys: dict[str, str]) -> dict[str, str]:
    """Further headers; `$NAME` stands for what an environment variable holds."""
    found = {}
    for name, value in judge.headers:
        variable = value.removeprefix("$")
        found[name] = (
            value if variable == value else keys.get(variable) or os.environ.get(variable, "")
        )
        if not found[name]:
            words = "{option} {name}: the environment variable {variable} is empty"
            raise InvalidOption(words, option="header", name=name, variable=variable)
    return found


def _key(judge: Judge, keys: dict[str, str]) -> str | None:
    """The key that is sent; None: litellm signs in. A provider's own key goes to that provider
    only.
    """
    name = key_variable(judge)
    if name is None:
        return keys.get("AZURE_API_KEY") if judge.provider in CLOUDS else NO_KEY
    found = keys.get(name) or os.environ.get(name)
    if not found:
        raise InvalidOption(
            f"{judge.model} needs a key: put it into the environment variable {name}"
        )
    return found
