"""The judges: of each its server or provider, whose key the page looks for and never shows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from core.collect.endpoint import HOSTS, KEY_ENDING, host_of, is_provider_key, key_variable, trusted
from core.collect.job import MAX_CONCURRENCY, Budget, Judge, Terms
from core.collect.job_file import named
from core.errors import InvalidOption
from core.options import default_of
from pages.shared import widgets

LOCAL = "http://localhost:8000/v1"
SERVER, PROVIDER = "a server", "a provider"
NO_KEY = "none needed"
HOST = re.compile(r"[0-9a-z.:_-]+\Z")
JUDGES = "collect-judges"
"""Where the session keeps the numbers of the judges that have fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The judges, how many calls are made at once, and the hosts that were agreed to."""

    judges: tuple[Judge, ...]
    concurrency: int
    confirmed: tuple[str, ...]


def secret_keys() -> dict[str, str]:
    """Keys among Streamlit's secrets, by name."""
    try:
        found = {name: st.secrets[name] for name in st.secrets if name.upper().endswith(KEY_ENDING)}
    except StreamlitSecretNotFoundError:
        return {}
    return {name: key for name, key in found.items() if isinstance(key, str)}


def offered_keys() -> list[str]:
    """Variables whose keys a server may get; a provider's key goes to that provider only."""
    names = {name for name in (*os.environ, *secret_keys()) if name.upper().endswith(KEY_ENDING)}
    return sorted(name for name in names if not is_provider_key(name))


def key_of(number: int, name: str) -> str:
    """The key of a judge's field."""
    return f"collect-{name}" if number == 1 else f"collect-{name}-{number}"


def read_endpoints(errors: Callable[[], AbstractContextManager[None]]) -> Endpoints | None:
    """The judges; None until each has a model. errors : shows what is wrong with one.

    Raises InvalidOption for an address or a model that cannot be.
    """
    numbers: list[int] = st.session_state.setdefault(JUDGES, [1])
    several = len(numbers) > 1
    found: list[tuple[Judge, int] | None] = []
    for place, number in enumerate(numbers, start=1):
        with st.container(border=several, key=f"collect-a-judge-{number}", gap="small"):
            if several:
                row = st.container(
                    horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
                )
                row.markdown(f"**Judge {place}**")
                row.button(
                    "Remove",
                    key=f"collect-remove-{number}",
                    on_click=_remove,
                    args=(number,),
                    type="tertiary",
                )
            with errors():
                found.append(_judge(number))
    st.button(
        "Add a judge", key="collect-add", icon=":material/add:", on_click=_add, type="tertiary"
    )
    read = [each for each in found if each is not None]
    if len(read) < len(numbers):
        return None
    hosts = dict.fromkeys(host_of(judge) for judge, _ in read)
    confirmed = tuple(host for host in hosts if _confirmed(host))
    if not several:
        return Endpoints(judges=(read[0][0],), concurrency=read[0][1], confirmed=confirmed)
    judges = tuple(replace(judge, concurrency=calls) for judge, calls in read)
    return Endpoints(judges=judges, concurrency=16, confirmed=confirmed)


def _add() -> None:
    numbers = st.session_state[JUDGES]
    st.session_state[JUDGES] = [*numbers, max(numbers) + 1]


def _remove(number: int) -> None:
    st.session_state[JUDGES] = [each for each in st.session_state[JUDGES] if each != number]


def _judge(number: int) -> tuple[Judge, int] | None:
    """A judge and its calls at once; None until it is named."""
    kind = widgets.choice("Where to", [SERVER, PROVIDER], key=key_of(number, "where"))
    bound: dict[str, Any] = {"bind": widgets.URL} if number == 1 else {}
    if kind == SERVER:
        base = st.text_input(
            "Base URL",
            LOCAL,
            key=key_of(number, "url"),
            help="A server that speaks the OpenAI chat format, such as one on this machine.",
        )
        provider = "openai"
    else:
        base = None
        provider = st.selectbox("Provider", sorted(HOSTS), key=key_of(number, "provider"), **bound)
    hint = "as the server or provider calls it"
    name = st.text_input("Model", key=key_of(number, "model"), placeholder=hint, **bound)
    key_env = _key_of_server(number) if kind == SERVER else None
    with st.expander("More about the model"):
        more = _more(number)
    calls = more.pop("concurrency")
    if not name.strip():
        return None
    judge = Judge(
        model=f"{provider}/{name.strip()}",
        base_url=base.strip() if base else None,
        key_env=key_env,
        **more,
    )
    host_of(judge)
    st.text(_key_line(judge))
    return judge, calls


def _key_of_server(number: int) -> str | None:
    """Variable of a server's own key."""
    offered = offered_keys()
    if not offered:
        return None
    chosen = st.selectbox(
        "Key",
        [NO_KEY, *offered],
        key=key_of(number, "key"),
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


def _confirmed(host: str) -> bool:
    """Whether a host needs to be agreed to and was."""
    # One box per host: another address needs its own.
    return agreed(host, f"collect-send-{host}")


def agreed(host: str, key: str) -> bool:
    """Whether a host needs to be agreed to, and the box of this key says so."""
    if trusted(host):
        return False
    if not HOST.match(host):
        raise InvalidOption(f"{host!r} is no name of a host")
    return st.checkbox(f"Send all prompts and responses to `{host}`", key=key)


def check_variables(headers: tuple[tuple[str, str], ...]) -> None:
    """Visitors may send no other variable of this server than the keys that the page offers.

    Raises InvalidOption.
    """
    for name, value in headers:
        if value.startswith("$") and value[1:] not in offered_keys():
            raise InvalidOption(
                f"Header {name}: {value} is not among the keys of this server ({KEY_ENDING})"
            )


def _more(number: int) -> dict[str, Any]:
    def key(name: str) -> str:
        return key_of(number, name)

    name = st.text_input("Name of the judge", placeholder="the model's name", key=key("judge"))
    tokens = st.number_input(
        "Longest reply, tokens", 1, None, default_of(Judge, "max_tokens"), key=key("reply-tokens")
    )
    patience: float = default_of(Judge, "timeout")
    timeout = st.number_input("Timeout of a call, seconds", 0.1, None, patience, key=key("timeout"))
    calls = st.number_input(
        "Calls at once", 1, MAX_CONCURRENCY, Terms().concurrency, key=key("concurrency")
    )
    st.caption("Price of a million tokens. Empty: looked up for providers, unknown for servers.")
    left, right = st.columns(2)
    prompt = left.number_input("Prompt", 0.0, value=None, key=key("price-prompt"))
    completion = right.number_input("Completion", 0.0, value=None, key=key("price-completion"))
    parameters = st.text_area(
        "Parameters, one a line", key=key("param"), placeholder="seed=7", height=68
    )
    headers = st.text_area(
        "Headers, one a line", key=key("header"), placeholder="X-Team=red", height=68
    )
    budget = Budget()
    if len(st.session_state[JUDGES]) > 1:
        st.caption("Limits of this judge")
        budget = read_budget("", lambda limit: key(f"own-{limit}"))
    moved = st.text_input(
        "Earlier address of this server", key=key("same-server"), placeholder="it has not moved"
    )
    if (prompt is None) != (completion is None):
        raise InvalidOption(
            "A price needs both: that of prompt tokens and that of completion tokens"
        )
    given = named("header", headers.splitlines())
    check_variables(given)
    return {
        "name": name.strip(),
        "max_tokens": int(tokens),
        "timeout": float(timeout),
        "concurrency": int(calls),
        "price": None if prompt is None or completion is None else (prompt, completion),
        "parameters": named("param", parameters.splitlines()),
        "headers": given,
        "budget": budget,
        "same_server": moved.strip() or None,
    }


def read_budget(most: str, key: Any) -> Budget:
    """Limits, each with what stands before its name and with the key of its field."""
    calls, tokens, cost = st.columns(3)
    limit: dict[str, Any] = {"value": None, "placeholder": "no limit"}

    def label(name: str) -> str:
        return f"{most} {name}".strip().capitalize()

    return Budget(
        calls=calls.number_input(label("calls"), 0, key=key("calls"), **limit),
        tokens=tokens.number_input(label("tokens"), 0, key=key("tokens"), **limit),
        cost=cost.number_input(label("money"), 0.0, key=key("cost"), **limit),
    )
