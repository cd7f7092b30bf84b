"""Calls to models, on one event loop of the process. Only this module imports litellm.

Servers that speak OpenAI's protocol or Anthropic's are asked by `wire`; every other provider, and
the list of prices, is litellm's.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import httpx

from . import wire
from .endpoint import Destination
from .gateway import PERMIT, Gate, Permit, TooMuch, origin
from .reading import storable, text_of
from .scrubbing import scrub, scrub_key

OPTIONAL = (
    "temperature",
    "top_p",
    "seed",
    "reasoning_effort",
    "frequency_penalty",
    "presence_penalty",
    "top_k",
    "response_format",
)
"""Parameters of a call that may be left out for a model that does not take them."""
OVERLONG = re.compile(
    r"context_length_exceeded|maximum context length|context window|prompt is too long|too many "
    r"tokens|"
    r"input is too long|exceeds the (?:model's )?(?:maximum|context)",
    re.IGNORECASE,
)
FILTERED = re.compile(
    r"content_filter|content_policy|content management policy|content filtering policy|"
    r"responsibleaipolicy|flagged as potentially violating|safety system",
    re.IGNORECASE,
)
WRONG_KEY = re.compile(
    r"api[ _-]?key|invalid_api_key|authenticat|unauthori[sz]ed|(?:model|deployment)\b.{0,80}"
    r"(?:not found|does not exist|not exist)",
    re.IGNORECASE,
)
"""What is wrong with every call, whatever status a server gives it."""
SCHEMAS = re.compile(
    r"response_format|json_schema|output_config|output_format|structured output|guided",
    re.IGNORECASE,
)
LIBRARY = re.compile(r"^(?:litellm\.\w+: |\w+(?:Exception|Error)(?: [A-Z][\w ]{0,40})?(?: - |: ))+")
TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\).*", re.DOTALL)
"""What litellm writes before the provider's message."""
EMPTY_ACCOUNT = re.compile(
    r"insufficient_quota|exceeded your current quota|credit balance is too low|insufficient "
    r"(?:balance|credits?|funds)",
    re.IGNORECASE,
)
RETRIED = (408, 409, 429)
"""Failures below 500 that another attempt may mend."""
TURN = 0.0005
"""Seconds that a thread may keep another waiting."""
LONGEST_WAIT = 300.0
"""A server that asks to be left alone for longer is taken at this."""
ANYTHING = [{"role": "user", "content": "."}]
UNSENT = 60.0
"""Messages and timeout of a call that is not sent."""
MOST_REPLY, MOST_RESULTS = 32 * 1024**2, 1024**3
"""Bytes, unpacked, of a reply to a call, and of what comes beside the calls, as a batch's results:
a server that sends more is not listened to any longer.
"""
MOST_TOKENS = 10**9
"""A count of tokens above this is no count: no call has so many."""
KINDS = {429: "rate limit", 408: "timeout"}
REFUSED = "refused by the provider"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back.

    refused : the provider says that the model declined.  cut_off : at the limit of tokens.
    reasoning : what the server gives apart from the reply; "" if nothing.
    paid_tokens : prompt tokens, those from a cache or for one at their share of the price; None:
        not counted.
    alternatives : tokens in place of the first one → natural-log probability; None if not given.
    """

    text: str
    refused: bool
    alternatives: dict[str, float] | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    cut_off: bool = False
    reasoning: str = ""
    paid_tokens: float | None = None


@dataclass(eq=False)
class CallFailed(Exception):
    """A call without an answer. The message holds no key.

    status : of HTTP, or as near as there is; 408 for a timeout.
    kind : `rate limit`, `timeout`, `server error`, `connection or broken reply` or `refused by the
        provider`.
    billed : it may cost all the same: nothing says that the model did not run.
    content_policy : this one text is what the provider will not judge, not the judge as a whole.
    overlong : this one text is longer than the model can read.
    item : the server rejects this one request (400, 413, 422); others may fare better.
    dead : no server answers, or the account is empty: other calls will fare no better.
    unsupported : names of parameters of the call that the model does not take.
    """

    message: str
    status: int
    kind: str
    wait: float | None = None
    billed: bool = True
    content_policy: bool = False
    overlong: bool = False
    item: bool = False
    dead: bool = False
    unsupported: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.message

    @property
    def mends(self) -> bool:
        """Whether another attempt may help."""
        return self.status in RETRIED or self.status >= 500


@cache
def library() -> Any:
    """litellm, configured to fetch nothing, print nothing and retry nothing by itself."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"
    # Calls go where the plan says.
    os.environ["USE_LITELLM_PROXY"] = "False"
    # At DEBUG it would print whole requests, keys in their headers; at a level it does not know it
    # fails.
    os.environ["LITELLM_LOG"] = "CRITICAL"
    # What pydantic thinks of types inside litellm is no news to a user, and it may quote a reply.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic\.")
    with warnings.catch_warnings():
        # It says so when the first reply is built, so one is built here.
        warnings.simplefilter("ignore")
        import litellm
        from litellm.llms.custom_httpx import http_handler

        litellm.ModelResponse()

    handlers: Any = http_handler

    def connect() -> httpx.AsyncBaseTransport:
        verify = handlers.get_ssl_configuration()
        kind = "ssl_verify" if isinstance(verify, bool) else "ssl_context"
        made: httpx.AsyncBaseTransport = handlers.AsyncHTTPHandler.create_aiohttp_transport(
            **{kind: verify}
        )
        return made

    gate = Gate(connect)

    def client(*_: Any, timeout: Any = None, **__: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=gate,
            timeout=timeout,
            headers=handlers.get_default_headers(),
            cookies=handlers.blocked_cookie_jar(),
            follow_redirects=False,
            trust_env=False,
        )

    # Providers' clients are of two kinds; either takes its connections here. `ask` sees if one does
    # not.
    litellm.aclient_session = client()
    handlers.AsyncHTTPHandler.create_client = client
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.turn_off_message_logging = True
    litellm.num_retries = None
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def listed_price(model: str) -> tuple[float, float] | None:
    """Price of one prompt and one completion token in US dollars, from litellm's local list."""
    facts = _listed(model)
    prompt, completion = (facts.get(f"{kind}_cost_per_token") for kind in ("input", "output"))
    return None if prompt is None or completion is None else (float(prompt), float(completion))


def _listed(model: str) -> dict[str, Any]:
    listed = library().model_cost
    return listed.get(model) or listed.get(model.partition("/")[2]) or {}


def _cacheable(model: str, messages: list[dict[str, str]]) -> list[dict[str, Any]]:
    """The messages, with the instructions that all calls share marked where a provider caches what
    is marked.

    Others cache equal beginnings by themselves. A prompt below the provider's least length is not
    cached, and costs what it costs without the mark.
    """
    if model.partition("/")[0] != "anthropic" or messages[0]["role"] != "system":
        return [*messages]
    block = {"type": "text", "text": messages[0]["content"], "cache_control": {"type": "ephemeral"}}
    return [{"role": "system", "content": [block]}, *messages[1:]]


async def ask(
    model: str,
    messages: list[dict[str, str]],
    parameters: Mapping[str, Any],
    *,
    where: Destination,
    timeout: float,
    instead: Callable[[httpx.Request], httpx.Response] | None = None,
    named: Mapping[str, Any] | None = None,
) -> Answer:
    """One call, one attempt, to the server of `where` only.

    instead : answers in the server's place, and nothing is sent.
    named : parameters that the server was sent, if not these.

    Raises CallFailed.
    """
    spoken = None if instead is not None else wire.spoken(model, parameters, _listed)
    if spoken is None:
        # Its first import takes seconds, which are not the server's.
        library()
    sent = parameters if named is None else named
    with _permitted(where, sent, instead, most=MOST_REPLY, seconds=timeout) as permit:
        begun = time.perf_counter()
        if spoken is not None:
            reply = await wire.post(spoken, model, messages, parameters, where, permit)
        else:
            reply = await _by_library(model, messages, parameters, where, timeout)
        if permit.sent:
            return _answer(reply, where, model, time.perf_counter() - begun)
        permit.refusal = f"{model} has a client that cannot be kept to {where.host}"
        raise ConnectionError


def keeps_to_schema(model: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a model may be asked for a reply in a schema, as far as is known before a call."""
    if wire.spoken(model, parameters, _listed) is not None:
        return True
    return bool(library().supports_response_schema(model=model))


async def _by_library(
    model: str,
    messages: list[dict[str, str]],
    parameters: Mapping[str, Any],
    where: Destination,
    timeout: float,
) -> dict[str, Any]:
    """The reply to a call by litellm, in OpenAI's chat format."""
    litellm = library()
    response = await litellm.acompletion(
        model=model,
        messages=_cacheable(model, messages),
        api_base=where.base_url,
        api_key=where.key,
        timeout=timeout,
        num_retries=0,
        max_retries=0,
        **({"extra_headers": where.headers} if where.headers else {}),
        **parameters,
    )
    reply: dict[str, Any] = response.model_dump()
    return reply


async def prepared(
    model: str, messages: list[dict[str, str]], parameters: Mapping[str, Any], *, where: Destination
) -> httpx.Request:
    """The request that `ask` would send, with address, headers and body; nothing is sent.

    Raises CallFailed if there is none.
    """
    taken: list[httpx.Request] = []

    def keep(request: httpx.Request) -> httpx.Response:
        taken.append(request)
        return httpx.Response(503)

    try:
        await ask(model, messages, parameters, where=where, timeout=UNSENT, instead=keep)
    except CallFailed:
        if not taken:
            raise
    return taken[0]


async def recalled(
    model: str, response: httpx.Response, parameters: Mapping[str, Any], *, where: Destination
) -> Answer:
    """Read an answer that the server gave earlier to a call with these parameters, as `ask` reads
    one.

    Raises CallFailed.
    """
    # The parameters may be such as litellm refuses by itself, and the answer is there whatever it
    # says.
    return await ask(
        model,
        ANYTHING,
        {},
        where=where,
        timeout=UNSENT,
        instead=lambda _: response,
        named=parameters,
    )


async def send(
    method: str, url: str, *, where: Destination, timeout: float, **content: Any
) -> httpx.Response:
    """A request beside the calls, such as of a batch, to the server of `where` only. Raises
    CallFailed.
    """
    client: httpx.AsyncClient = library().aclient_session
    with _permitted(where, {}, most=MOST_RESULTS):
        response = await client.request(method, url, timeout=timeout, **content)
        if response.is_success:
            return response
        raise ValueError(wire.words_of(response.content, response.status_code))


def _answer(reply: Mapping[str, Any], where: Destination, model: str, seconds: float) -> Answer:
    """What a reply in OpenAI's chat format says."""
    if not reply.get("choices"):
        raise ValueError("the reply holds no choice")
    choice = reply["choices"][0]
    message = choice["message"]
    declined = _declined(message)
    text = text_of(message) or declined
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    usage = reply.get("usage") or {}
    prompt_tokens, completion_tokens = _counts(usage, text)
    return Answer(
        text=scrub_key(storable(text), where.key),
        refused=bool(declined) or choice.get("finish_reason") == "content_filter",
        alternatives=_alternatives(choice),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        seconds=seconds,
        cut_off=choice.get("finish_reason") == "length",
        reasoning=scrub_key(storable(reasoning), where.key) if isinstance(reasoning, str) else "",
        paid_tokens=None if prompt_tokens is None else _paid(prompt_tokens, usage, model),
    )


def _declined(message: Mapping[str, Any]) -> str:
    """The words with which a model refuses, in a field of their own; "" if it does not."""
    further = message.get("provider_specific_fields") or {}
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    said = (each.get("refusal") for each in (message, further, *parts) if isinstance(each, Mapping))
    return next((words for words in said if isinstance(words, str) and words), "")


def _counts(usage: Mapping[str, Any], text: str) -> tuple[int | None, int | None]:
    """Prompt and completion tokens as the server counted them, both or none.

    What a reply does not count is 0 in `usage`, which no prompt has, nor a completion with a text.
    """
    prompt, completion = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
    for count, least in ((prompt, 1), (completion, 1 if text else 0)):
        if not isinstance(count, int) or not least <= count <= MOST_TOKENS:
            return None, None
    return prompt, completion


def _paid(prompt_tokens: float, usage: Mapping[str, Any], model: str) -> float:
    """Prompt tokens, each at its share of the listed price: read from a cache, written to one, or
    neither.

    What is not listed, or makes no sense, counts in full.
    """
    read = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    if not read and not written:
        return float(prompt_tokens)
    listed = _listed(model)
    price = listed.get("input_cost_per_token") or 0.0
    if not price or not 0 <= read + written <= prompt_tokens or min(read, written) < 0:
        return float(prompt_tokens)
    for kind, tokens in (("read", read), ("creation", written)):
        share = listed.get(f"cache_{kind}_input_token_cost")
        prompt_tokens += 0 if share is None else tokens * (share / price - 1)
    return float(prompt_tokens)


def _alternatives(choice: Mapping[str, Any]) -> dict[str, float] | None:
    content = (choice.get("logprobs") or {}).get("content")
    if not content:
        return None
    first = content[0]
    others = {each["token"]: float(each["logprob"]) for each in first.get("top_logprobs") or ()}
    return {first["token"]: float(first["logprob"]), **others}


@contextmanager
def _permitted(
    where: Destination,
    parameters: Mapping[str, Any],
    instead: Callable[[httpx.Request], httpx.Response] | None = None,
    *,
    most: int,
    seconds: float | None = None,
) -> Iterator[Permit]:
    """Permission for one call with these parameters; whatever goes wrong in it is a CallFailed."""
    permit = Permit(origin(where.address), where.local, most, seconds, instead)
    leave = PERMIT.set(permit)
    try:
        yield permit
    except Exception as error:
        raise _failure(error, where, permit, parameters) from None
    finally:
        PERMIT.reset(leave)


def _failure(
    error: Exception, where: Destination, permit: Permit, parameters: Mapping[str, Any]
) -> CallFailed:
    answered = permit.status is not None and permit.status >= 400
    if permit.status is not None and 300 <= permit.status < 400:
        permit.refusal = "the server sends calls on to another address, which is not followed"
    if permit.refusal is not None:
        return CallFailed(permit.refusal, permit.status or 400, REFUSED, billed=False)
    headers = permit.headers or getattr(error, "litellm_response_headers", None) or {}
    status = permit.status if answered else getattr(error, "status_code", None)
    if isinstance(error, TimeoutError):
        status = 408
    # A success that cannot be read is a failure of the server's.
    status = status if isinstance(status, int) and status >= 400 else 500
    if isinstance(permit.error, TooMuch):
        # Clients say no more than that the connection failed.
        error = permit.error
    message = _message(error)
    failure = CallFailed(
        scrub(message, [where.key, *where.headers.values()])[:1000],
        status=status,
        kind=KINDS.get(status, REFUSED),
        wait=retry_after(headers),
        billed=permit.sent and not answered,
    )
    if failure.mends and status not in KINDS:
        failure.kind = "server error" if answered else "connection or broken reply"
    if EMPTY_ACCOUNT.search(message):
        failure.kind, failure.dead = "empty account", True
    elif not answered and _not_reached(permit.error):
        failure.kind, failure.dead, failure.billed = "no connection", True, False
    elif status in (400, 413, 422):
        _look_at_item(failure, error, parameters)
    return failure


def _look_at_item(failure: CallFailed, error: Exception, parameters: Mapping[str, Any]) -> None:
    """What of a rejected request is rejected: its text, a parameter, or that it is sent at all."""
    message, kind = failure.message, type(error).__name__
    failure.overlong = bool(OVERLONG.search(message)) or kind == "ContextWindowExceededError"
    failure.content_policy = bool(FILTERED.search(message)) or kind == "ContentPolicyViolationError"
    if failure.overlong:
        failure.kind = "too long for the model"
        return
    failure.unsupported = tuple(
        name
        for name in parameters
        if (name in OPTIONAL and re.search(rf"\b{name}\b", message))
        or (name == "response_format" and SCHEMAS.search(message))
    )
    failure.item = not (failure.content_policy or failure.unsupported or WRONG_KEY.search(message))


def _not_reached(error: Exception | None) -> bool:
    """Whether no connection was made."""
    if isinstance(error, wire.errors()):
        return wire.is_unreachable(error)
    return isinstance(error, httpx.ConnectError | OSError) and not isinstance(error, TimeoutError)


def _message(error: Exception) -> str:
    """A failure in the words of the provider."""
    words = storable(" ".join(str(getattr(error, "message", None) or error).split()))
    words = TRACEBACK.sub("", LIBRARY.sub("", words))
    if words.startswith("{"):
        words = wire.words_of(words.encode(), 0)
    return words or type(error).__name__


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: a number, or a date."""
    given = headers.get("retry-after") or headers.get("Retry-After")
    if given is None:
        return None
    try:
        wait = float(given)
    except ValueError:
        try:
            wait = parsedate_to_datetime(given).timestamp() - time.time()
        except ValueError:
            return None
    return min(max(wait, 0.0), LONGEST_WAIT) if wait == wait else None


@cache
def loop() -> asyncio.AbstractEventLoop:
    """The process's loop for calls, in its own thread: litellm keeps connections, each bound to a
    loop.
    """
    # The loop and the thread that stores replies take turns. At Python's 5 ms a turn the store
    # waits 100 ms for its dozen turns while calls keep the loop busy; other programs in the process
    # lose nothing by it.
    sys.setswitchinterval(min(sys.getswitchinterval(), TURN))
    made = asyncio.new_event_loop()
    threading.Thread(target=made.run_forever, name="judging", daemon=True).start()
    return made
