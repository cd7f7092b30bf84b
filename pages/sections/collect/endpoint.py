"""The model: a server or a provider, whose key the page looks for and never shows."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from core.errors import InvalidOption
from core.judging.endpoint import HOSTS, host_of, key_variable, provider_variable, trusted
from core.judging.job import MAX_CONCURRENCY, REPLY_TOKENS, Judge
from pages.shared import widgets

LOCAL = "http://localhost:8000/v1"
SERVER, PROVIDER = "a server", "a provider"
NO_KEY = "none needed"
KEY_ENDING = "_API_KEY"
HOST = re.compile(r"[0-9a-z.:_-]+\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The judge, how many calls it gets at once, and the host that was agreed to."""

    judge: Judge
    concurrency: int
    confirmed: tuple[str, ...]


def secret_keys() -> dict[str, str]:
    """Keys among Streamlit's secrets, by name."""
    try:
        found = {name: st.secrets[name] for name in st.secrets if name.upper().endswith(KEY_ENDING)}
    except StreamlitSecretNotFoundError:
        return {}
    return {name: key for name, key in found.items() if isinstance(key, str)}


def read_endpoint() -> Endpoint | None:
    """The model; None until it is named.

    Raises InvalidOption for an address or a model that cannot be.
    """
    kind = widgets.choice("Where to", [SERVER, PROVIDER], key="collect-where")
    if kind == SERVER:
        base = st.text_input(
            "Base URL",
            LOCAL,
            key="collect-url",
            help="A server that speaks the OpenAI chat format, such as one on this machine.",
        )
        provider = "openai"
    else:
        base = None
        provider = st.selectbox("Provider", sorted(HOSTS), key="collect-provider", bind=widgets.URL)
    name = st.text_input(
        "Model", key="collect-model", bind=widgets.URL, placeholder="as the server or provider calls it"
    )
    key_env = _key_of_server() if kind == SERVER else None
    with st.popover("More about the model", width="stretch"):
        more = _more()
    concurrency = more.pop("concurrency")
    if not name.strip():
        return None
    judge = Judge(
        model=f"{provider}/{name.strip()}", base_url=base.strip() if base else None, key_env=key_env, **more
    )
    host = host_of(judge)
    st.text(_key_line(judge))
    return Endpoint(judge=judge, concurrency=concurrency, confirmed=_confirmed(host))


def _key_of_server() -> str | None:
    """Variable of a server's own key; a provider's key goes to that provider only, so it is not offered."""
    providers = {provider_variable(provider) for provider in HOSTS}
    names = {name for name in (*os.environ, *secret_keys()) if name.upper().endswith(KEY_ENDING)}
    offered = sorted(names - providers)
    if not offered:
        return None
    chosen = st.selectbox(
        "Key",
        [NO_KEY, *offered],
        key="collect-key",
        help="Variables of the environment and of Streamlit's secrets whose names end in _API_KEY.",
    )
    return None if chosen == NO_KEY else str(chosen)


def _key_line(judge: Judge) -> str:
    variable = key_variable(judge)
    if variable is None:
        return "Key: none is sent."
    if os.environ.get(variable) or variable in secret_keys():
        return f"Key: {variable}, found."
    return f"Key: {variable}, not found. Set it in the environment or in Streamlit's secrets."


def _confirmed(host: str) -> tuple[str, ...]:
    """The host, if it needs to be agreed to and was."""
    if trusted(host):
        return ()
    if not HOST.match(host):
        raise InvalidOption(f"{host!r} is no name of a host")
    # One box per host: another address needs its own.
    agreed = st.checkbox(f"Send all prompts and responses to `{host}`", key=f"collect-send-{host}")
    return (host,) if agreed else ()


def _more() -> dict[str, Any]:
    name = st.text_input("Name of the judge", placeholder="the model's name", key="collect-judge")
    tokens = st.number_input("Longest reply, tokens", 1, 1_000_000, REPLY_TOKENS, key="collect-reply-tokens")
    timeout = st.number_input("Timeout of a call, seconds", 1, 3600, 120, key="collect-timeout")
    calls = st.number_input("Calls at once", 1, MAX_CONCURRENCY, 16, key="collect-concurrency")
    st.caption("Price of a million tokens. Empty: looked up for providers, unknown for servers.")
    left, right = st.columns(2)
    prompt = left.number_input("Prompt", 0.0, value=None, key="collect-price-prompt")
    completion = right.number_input("Completion", 0.0, value=None, key="collect-price-completion")
    if (prompt is None) != (completion is None):
        raise InvalidOption("A price needs both: that of prompt tokens and that of completion tokens")
    return {
        "name": name.strip(),
        "max_tokens": int(tokens),
        "timeout": float(timeout),
        "concurrency": int(calls),
        "price": None if prompt is None or completion is None else (prompt, completion),
    }
