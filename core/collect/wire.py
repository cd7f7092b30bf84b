"""Calls straight on aiohttp in three protocols: OpenAI's chat completions and responses, and
Anthropic's messages.

A client for every provider spends many times the processor time of its connection on each call.
These protocols carry most votes, so their calls are written here: one POST with the permission
of `gateway`, to the agreed address, no redirect, no second send, no cookie, and no proxy to this
machine.

Source: OpenAI, *API reference: Chat completions* (platform.openai.com/docs/api-reference/chat) and
*Responses* (…/responses);
Anthropic, *API reference: Messages* (docs.anthropic.com/en/api/messages) and *Structured outputs*.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .endpoint import HOSTS, Destination
from .gateway import Permit, TooMuch, environment_proxy, origin

if TYPE_CHECKING:
    import aiohttp

KEPT_ALIVE = 30.0
"""Seconds that an idle connection stays open."""
LAST_SECONDS = 1.0
"""For closing connections when the process ends."""
ANTHROPIC_VERSION = "2023-06-01"
ANTHROPIC_TAKES = frozenset(
    {"temperature", "max_tokens", "top_p", "top_k", "response_format", "stop_sequences"}
)
"""Parameters that are written here; with others the call is litellm's."""
RESPONSES = "responses/"
"""Before the name of a model of OpenAI's: asked by its responses, not its chat."""
INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""Anthropic's reasons to stop, in OpenAI's words."""


class Rejected(Exception):
    """The server answered with an error; the message is its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How calls are written and answers read.

    address : of the calls, from that of the server.  headers : with the key.
    body : model, messages, parameters, server → the body.  read : an answer → in OpenAI's format.
    """

    address: Callable[[str], str]
    headers: Callable[[str | None], dict[str, str]]
    body: Callable[[str, list[dict[str, str]], Mapping[str, Any], Destination], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]]


def spoken(
    model: str, parameters: Mapping[str, Any], listed: Callable[[str], Mapping[str, Any]]
) -> Protocol | None:
    """The protocol in which a model is asked here; None: by litellm.

    listed : what litellm lists of a model; OpenAI has some that have no chat.
    """
    provider, _, name = model.partition("/")
    if provider == "anthropic" and parameters.keys() <= ANTHROPIC_TAKES:
        return ANTHROPIC
    if provider != "openai":
        return None
    if name.startswith(RESPONSES):
        return ANSWERS
    without_chat = name.startswith(("o1-pro", "o3-pro", "gpt-5-pro", "codex"))
    return ANSWERS if without_chat and listed(model).get("mode") == "responses" else OPENAI


async def post(
    protocol: Protocol,
    model: str,
    messages: list[dict[str, str]],
    parameters: Mapping[str, Any],
    where: Destination,
    permit: Permit,
) -> Mapping[str, Any]:
    """One call; the answer in OpenAI's format.

    Raises Rejected, and what aiohttp raises.
    """
    address = protocol.address(where.base_url or f"https://{where.host}/v1")
    if origin(address) != permit.origin:
        permit.refusal = f"the texts would go to {address}; nothing was sent"
        raise ConnectionError
    body = protocol.body(model.partition("/")[2], messages, parameters, where)
    scheme, host, _ = permit.origin
    proxy = None if permit.local else environment_proxy(scheme, host)
    permit.sent = True
    try:
        async with (
            asyncio.timeout(permit.seconds),
            _session().post(
                address,
                data=json.dumps(body).encode(),
                headers={**protocol.headers(where.key), **where.headers},
                allow_redirects=False,
                proxy=proxy,
            ) as response,
        ):
            content = await _whole(response, permit.most)
            permit.status, permit.headers = response.status, response.headers
    except TimeoutError:
        permit.error = TimeoutError(f"no whole reply within {permit.seconds:g} seconds")
        raise permit.error from None
    except Exception as error:
        permit.error = error
        raise
    if response.status != 200:
        raise Rejected(words_of(content, response.status))
    answer = json.loads(content)
    if not isinstance(answer, dict):
        raise TypeError("the reply is no JSON object")
    return protocol.read(answer)


async def _whole(response: aiohttp.ClientResponse, most: int) -> bytes:
    """What a server answers, no longer listened to beyond so many bytes."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > most:
            raise TooMuch(f"the reply has more than {most:,} bytes")
    return b"".join(parts)


def words_of(content: bytes, status: int) -> str:
    """What a server says of a request that it does not serve, with its code."""
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        answer = json.loads(content)
        error = answer.get("error", answer)
        if isinstance(error, str):
            return error
        words = error.get("message") or error.get("detail") or error
        code = error.get("code")
        more = isinstance(code, str) and code not in str(words)
        return f"{words} ({code})" if more else str(words)
    return content.decode("utf-8", "replace").strip()[:1000] or f"HTTP {status}"


def errors() -> tuple[type[Exception], ...]:
    """What aiohttp raises."""
    import aiohttp

    return (aiohttp.ClientError,)


def is_unreachable(error: Exception) -> bool:
    """Whether aiohttp could not connect."""
    import aiohttp

    return isinstance(error, aiohttp.ClientConnectorError)


_SESSIONS: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()


def _session() -> aiohttp.ClientSession:
    """Connections of the running loop."""
    import aiohttp

    loop = asyncio.get_running_loop()
    if loop not in _SESSIONS:
        atexit.register(_close, loop)
        _SESSIONS[loop] = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=KEPT_ALIVE, ssl=_trusted(), ttl_dns_cache=300
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            trust_env=False,
            auto_decompress=True,
        )
    return _SESSIONS[loop]


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop's connections when the process ends, so that nothing complains of them."""
    if loop.is_running() and loop in _SESSIONS:
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(_SESSIONS[loop].close(), loop).result(LAST_SECONDS)


@cache
def _trusted() -> ssl.SSLContext:
    """Certificates of authorities: those that are named, or of the package that httpx brings."""
    import certifi

    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("REQUESTS_CA_BUNDLE")
    return ssl.create_default_context(cafile=named or certifi.where())


def _chat_address(base: str) -> str:
    base = base.rstrip("/")
    return base if base.endswith("/chat/completions") else f"{base}/chat/completions"


def _chat_headers(key: str | None) -> dict[str, str]:
    return {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}


def _chat_body(
    model: str, messages: list[dict[str, str]], parameters: Mapping[str, Any], where: Destination
) -> dict[str, Any]:
    given = dict(parameters)
    if where.host == HOSTS["openai"] and "max_tokens" in given:
        # Its reasoning models take no other name.
        given["max_completion_tokens"] = given.pop("max_tokens")
    return {"model": model, "messages": messages, **given}


def _answers_address(base: str) -> str:
    base = base.rstrip("/")
    return base if base.endswith("/responses") else f"{base}/responses"


def _answers_body(
    model: str, messages: list[dict[str, str]], parameters: Mapping[str, Any], where: Destination
) -> dict[str, Any]:
    given = dict(parameters)
    body = {"model": model.removeprefix(RESPONSES), "input": messages, "store": False}
    if "max_tokens" in given:
        body["max_output_tokens"] = given.pop("max_tokens")
    if "reasoning_effort" in given:
        body["reasoning"] = {"effort": given.pop("reasoning_effort")}
    if "response_format" in given:
        form = given.pop("response_format")
        body["text"] = {"format": {"type": form["type"], **form.get("json_schema", {})}}
    return {**body, **given}


def _answers_read(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """A response of OpenAI's in the format of its chat."""
    output = [each for each in answer.get("output") or () if isinstance(each, Mapping)]
    parts = [part for each in output for part in each.get("content") or ()]
    thoughts = [part for each in output for part in each.get("summary") or ()]
    calls = [
        {"function": {"name": each.get("name"), "arguments": each.get("arguments")}}
        for each in output
        if each.get("type") == "function_call"
    ]
    usage = answer.get("usage") or {}
    reason = (answer.get("incomplete_details") or {}).get("reason")
    message = {
        "content": parts,
        "tool_calls": calls,
        "reasoning_content": "\n".join(part.get("text", "") for part in thoughts),
    }
    return {
        "choices": [{"message": message, "finish_reason": INCOMPLETE.get(str(reason), "stop")}]
        if "output" in answer
        else [],
        "usage": {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "prompt_tokens_details": usage.get("input_tokens_details"),
        },
    }


def _messages_address(base: str) -> str:
    base = base.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return f"{base}/v1/messages"


def _messages_headers(key: str | None) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "anthropic-version": ANTHROPIC_VERSION,
        "x-api-key": key or "",
    }


def _messages_body(
    model: str, messages: list[dict[str, str]], parameters: Mapping[str, Any], where: Destination
) -> dict[str, Any]:
    given = dict(parameters)
    schema = given.pop("response_format", None)
    system = [message["content"] for message in messages if message["role"] == "system"]
    body = {
        "model": model,
        "messages": [
            {"role": each["role"], "content": [{"type": "text", "text": each["content"]}]}
            for each in messages
            if each["role"] != "system"
        ],
        **given,
    }
    if system:
        # The instructions that all calls of a run share: the provider caches what is marked.
        marked = {"cache_control": {"type": "ephemeral"}}
        body["system"] = [{"type": "text", "text": text, **marked} for text in system]
    if schema is not None:
        form = {"type": "json_schema", "schema": schema["json_schema"]["schema"]}
        body["output_config"] = {"format": form}
    return body


def _message(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer of Anthropic's in OpenAI's format."""
    blocks = [block for block in answer.get("content") or () if isinstance(block, Mapping)]
    thoughts = "\n".join(block.get("thinking", "") for block in blocks)
    calls = [
        {"function": {"name": block.get("name"), "arguments": block.get("input")}}
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    usage = answer.get("usage") or {}
    read, written = (usage.get(f"cache_{kind}_input_tokens") or 0 for kind in ("read", "creation"))
    prompt = usage.get("input_tokens")
    message = {
        "content": [block for block in blocks if block.get("type") == "text"],
        "tool_calls": calls,
        "reasoning_content": thoughts.strip(),
    }
    return {
        "choices": [
            {"message": message, "finish_reason": STOPS.get(str(answer.get("stop_reason")), "stop")}
        ]
        if answer.get("type", "message") == "message" and "content" in answer
        else [],
        "usage": {
            "prompt_tokens": prompt + read + written if isinstance(prompt, int) else None,
            "completion_tokens": usage.get("output_tokens"),
            "prompt_tokens_details": {"cached_tokens": read},
            "cache_creation_input_tokens": written,
        },
    }


OPENAI = Protocol(
    address=_chat_address, headers=_chat_headers, body=_chat_body, read=lambda answer: answer
)
ANSWERS = Protocol(
    address=_answers_address, headers=_chat_headers, body=_answers_body, read=_answers_read
)
ANTHROPIC = Protocol(
    address=_messages_address, headers=_messages_headers, body=_messages_body, read=_message
)
