"""Calls to models through litellm, on one event loop of the process. Only this module imports litellm."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

from core.judging.destination import Destination, scrub

RETRIED = (408, 409, 429)
"""Failures below 500 that another attempt may mend."""
TURN = 0.0005
"""Seconds that a thread may keep another waiting."""
LONGEST_WAIT = 300.0
"""A server that asks to be left alone for longer is taken at this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back.

    refused : the provider says that the model declined.
    alternatives : tokens in place of the first one → natural-log probability; None if not given.
    """

    text: str
    refused: bool
    alternatives: dict[str, float] | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


class CallFailed(Exception):
    """A call without an answer. The message holds no key.

    status : of HTTP, or as near as there is; 408 for a timeout.
    kind : `rate limit`, `timeout`, `server error`, `connection or broken reply` or `refused by the provider`.
    billed : it may cost all the same: nothing says that the model did not run.
    content_policy : this one text is what the provider will not judge, not the judge as a whole.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        kind: str,
        wait: float | None = None,
        billed: bool = True,
        content_policy: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.wait = wait
        self.billed = billed
        self.content_policy = content_policy

    @property
    def mends(self) -> bool:
        """Whether another attempt may help."""
        return self.status in RETRIED or self.status >= 500


@cache
def library() -> Any:
    """litellm, told to fetch nothing, to say nothing and to retry nothing by itself."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"
    # At DEBUG it would print whole requests, keys in their headers; at a level it does not know it fails.
    os.environ["LITELLM_LOG"] = "CRITICAL"
    with warnings.catch_warnings():
        # What pydantic thinks of types inside litellm is no news to a user. It says so when the first reply
        # is built, so one is built here.
        warnings.simplefilter("ignore")
        import litellm
        from litellm.llms.openai.common_utils import BaseOpenAILLM

        litellm.ModelResponse()

    # A server that was agreed to must not pass texts on: litellm's own session would follow redirects.
    session = BaseOpenAILLM.get_async_http_client()
    if session is not None:
        session.follow_redirects = False
        litellm.aclient_session = session
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.turn_off_message_logging = True
    litellm.num_retries = None
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def listed_price(model: str) -> tuple[float, float] | None:
    """Price of one prompt and one completion token in US dollars, from litellm's local list."""
    listed = library().model_cost
    facts = listed.get(model) or listed.get(model.partition("/")[2])
    if not facts or facts.get("input_cost_per_token") is None or facts.get("output_cost_per_token") is None:
        return None
    return float(facts["input_cost_per_token"]), float(facts["output_cost_per_token"])


async def ask(
    model: str,
    messages: list[dict[str, str]],
    parameters: Mapping[str, Any],
    *,
    where: Destination,
    timeout: float,
) -> Answer:
    """One call, one attempt.

    Raises CallFailed.
    """
    litellm = library()
    begun = time.perf_counter()
    try:
        response = await litellm.acompletion(
            model=model,
            messages=messages,
            api_base=where.base_url,
            api_key=where.key,
            timeout=timeout,
            num_retries=0,
            max_retries=0,
            **parameters,
        )
    except asyncio.CancelledError:
        raise
    except Exception as error:
        raise _failure(error, where) from None
    seconds = time.perf_counter() - begun
    if not response.choices:
        raise CallFailed("the reply holds no choice", status=500, kind="connection or broken reply")
    choice = response.choices[0]
    declined = getattr(choice.message, "refusal", None) or ""
    usage = getattr(response, "usage", None)
    return Answer(
        text=choice.message.content or declined,
        refused=bool(declined) or choice.finish_reason == "content_filter",
        alternatives=_alternatives(choice),
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        seconds=seconds,
    )


def _count(usage: Any, name: str) -> int | None:
    """Tokens as the server counted them; a reply without usage has 0 there, which no prompt has."""
    total = getattr(usage, "total_tokens", 0) or 0
    value = getattr(usage, name, None)
    return int(value) if total and value is not None else None


def _alternatives(choice: Any) -> dict[str, float] | None:
    content = getattr(getattr(choice, "logprobs", None), "content", None)
    if not content:
        return None
    first = content[0]
    found = {option.token: float(option.logprob) for option in getattr(first, "top_logprobs", None) or ()}
    return {first.token: float(first.logprob), **found}


def _failure(error: Exception, where: Destination) -> CallFailed:
    status = int(getattr(error, "status_code", 500) or 500)
    headers = getattr(error, "litellm_response_headers", None) or {}
    # litellm writes its own class names before what the provider said.
    message = scrub(" ".join(str(getattr(error, "message", None) or error).split()), [where.key])[:1000]
    answered = bool(headers)
    if status == 429:
        kind = "rate limit"
    elif status == 408:
        kind = "timeout"
    elif status >= 500:
        kind = "server error" if answered else "connection or broken reply"
    else:
        kind = "refused by the provider"
    return CallFailed(
        message,
        status=status,
        kind=kind,
        wait=retry_after(headers),
        billed=not answered,
        content_policy=isinstance(error, library().ContentPolicyViolationError),
    )


def safe(message: str, places: Iterable[Destination]) -> str:
    """A message that holds no key."""
    return scrub(message, [place.key for place in places])


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
    """The process's loop for calls, in its own thread: litellm keeps connections, each bound to a loop."""
    # The loop and the thread that stores replies take turns. At Python's 5 ms a turn the store waits 100 ms
    # for its dozen turns while calls keep the loop busy; other programs in the process lose nothing by it.
    sys.setswitchinterval(min(sys.getswitchinterval(), TURN))
    made = asyncio.new_event_loop()
    threading.Thread(target=made.run_forever, name="judging", daemon=True).start()
    return made
