"""Where judged texts would be sent, with which key, and at what price; settled before anything is
sent.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import re
from collections.abc import Callable, Collection, Iterable
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
"""Name spaces of clouds; anybody can have a name in Azure's."""
KEY_ENDING = "_API_KEY"
OTHER_NAMES = {
    "GOOGLE_API_KEY": "gemini",
    "TOGETHERAI_API_KEY": "together_ai",
    "TOGETHER_API_KEY": "together_ai",
    "CO_API_KEY": "cohere",
    "FIREWORKS_API_KEY": "fireworks_ai",
    "FIREWORKSAI_API_KEY": "fireworks_ai",
    "PERPLEXITYAI_API_KEY": "perplexity",
    "PPLX_API_KEY": "perplexity",
}
"""Further variables in which people keep a provider's key."""
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
        variables = sent_variables(judge)
        raise NotConfirmed(
            "{base} is neither this machine nor a known provider. All prompts and responses{keys} "
            "would be sent to {host}: confirm it with {option:yes_send_to {host}}",
            base=base,
            keys=f", and what {' and '.join(variables)} holds," if variables else "",
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
        return _bedrock_host()
    if judge.provider == "vertex_ai":
        return _vertex_host()
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
    """Whether texts go to this host without asking: this machine, a known provider, or the place
    in a cloud that the environment names.
    """
    return _is_loopback(host) or host in HOSTS.values() or host in _own_clouds()


def _own_clouds() -> set[str]:
    """Hosts in the clouds' name spaces that litellm's variables name, or that it takes without."""
    found = {_bedrock_host(), _vertex_host()}
    # An address that cannot be read names no host; who asks for it is told so.
    with suppress(InvalidOption):
        if base := _environment("AZURE_API_BASE"):
            found.add(_host(base))
    return {host for host in found if CLOUD_HOST.fullmatch(host)}


def _bedrock_host() -> str:
    region = _environment("AWS_REGION_NAME", "AWS_REGION") or "us-west-2"
    return f"bedrock-runtime.{region}.amazonaws.com"


def _vertex_host() -> str:
    place = _environment("VERTEXAI_LOCATION", "VERTEX_LOCATION") or "us-central1"
    return f"{'' if place == 'global' else place + '-'}aiplatform.googleapis.com"


def owners_of(variable: str) -> frozenset[str]:
    """Hosts of the provider whose key a variable holds; empty where it is no provider's."""
    name = variable.upper()
    if name == provider_variable("azure"):
        return frozenset(host for host in _own_clouds() if host.endswith(".azure.com"))
    providers = {p for p in HOSTS if provider_variable(p) == name} | {OTHER_NAMES.get(name, "")}
    return frozenset(HOSTS[provider] for provider in providers if provider)


def is_provider_key(variable: str) -> bool:
    """Whether a variable is one in which a provider's key is kept."""
    name = variable.upper()
    return name in OTHER_NAMES or name in map(provider_variable, (*HOSTS, "azure"))


def sent_variables(judge: Judge) -> tuple[str, ...]:
    """Environment variables that a judge names, whose content goes along with every call."""
    named = [judge.key_env, *(value[1:] for _, value in judge.headers if value.startswith("$"))]
    return tuple(dict.fromkeys(filter(None, named)))


def check_secrets(judge: Judge, place: str, chosen: Collection[str] = ()) -> None:
    """Refuse a judge of a file that would send what whoever wrote the file may not have sent.

    place : of the judge, for the message.  chosen : options (`key_env`, `header`) that are not the
    file's, but of the command line.

    Raises InvalidOption; see `check_variable`.
    """
    if judge.key_env is not None and "key_env" not in chosen:
        check_variable(judge.key_env, judge, f"{place}, key-env")
    for name, value in judge.headers if "header" not in chosen else ():
        if value.startswith("$"):
            check_variable(value[1:], judge, f"{place}, header {name}")
    host = host_of(judge)
    if judge.provider in CLOUDS and judge.base_url is not None and host not in _own_clouds():
        raise InvalidOption(
            f"{place}: {judge.model} signs in with your credentials of the cloud, which are not "
            f"sent to {host}; name your own address in the environment, not in a file"
        )


def check_variable(variable: str, judge: Judge, place: str) -> None:
    """Refuse a variable that a file, or somebody else than the server's owner, names.

    Only keys may be named, by names that end in `_API_KEY`, and a provider's key only where it is
    sent to that provider. place : where it is named, for the message.

    Raises InvalidOption, also where the judge's host cannot be told.
    """
    if not variable.upper().endswith(KEY_ENDING):
        raise InvalidOption(
            f"{place}: {variable} is not sent: a file may name only variables that end in "
            f"{KEY_ENDING}; keep the key in such a one"
        )
    host = host_of(judge)
    if is_provider_key(variable) and host not in owners_of(variable):
        raise InvalidOption(
            f"{place}: {variable} is the key of a provider and is not sent to {host}; keep that "
            f"server's own key in another variable that ends in {KEY_ENDING}"
        )


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
    if parts.scheme == "http" and (host in HOSTS.values() or CLOUD_HOST.fullmatch(host)):
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
