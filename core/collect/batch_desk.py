"""Where batches are handed in and fetched: the interfaces of OpenAI (files and batches) and
Anthropic.

Addresses and headers are those of an ordinary call, bodies are those of ordinary calls, and a
result is the response that an ordinary call would have had.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from ..store.batches import Batch
from . import client
from .client import CallFailed
from .endpoint import Destination
from .job import Judge

KEY = 48
"""Characters of a request's key in the name of its call; with the batch's own id 61 of the 64
allowed.
"""
SKEW = timedelta(hours=1)
"""How far the provider's clock may be from ours."""
STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
"""HTTP status of Anthropic's errors in a batch; of others 500."""
OF_ONE_CALL = ("content-length", "content-type", "host", "accept-encoding", "transfer-encoding")
"""Headers that are no other request's."""

Found = dict[str, Any]
"""What a provider says of a batch."""
Result = httpx.Response | CallFailed


class Desk:
    """The batches of a judge's provider.

    sample : an ordinary call to it.

    Raises CallFailed where the model's calls have no batches; so does whatever asks the server.
    """

    def __init__(self, judge: Judge, where: Destination, sample: httpx.Request) -> None:
        self._anthropic = judge.provider == "anthropic"
        path = "/messages" if self._anthropic else "/chat/completions"
        base, separator, _ = str(sample.url).partition(path)
        if not separator:
            raise CallFailed(
                f"{judge.model} has no batches of {path} calls", 400, client.REFUSED, billed=False
            )
        self._batches = f"{base}{path}/batches" if self._anthropic else f"{base}/batches"
        self._files = f"{base}/files"
        self._where, self._timeout = where, judge.timeout
        self._headers = {
            name: text for name, text in sample.headers.items() if name not in OF_ONE_CALL
        }

    async def _ask(self, method: str, url: str, **content: Any) -> httpx.Response:
        facts: Found = {"where": self._where, "timeout": self._timeout, "headers": self._headers}
        return await client.send(method, url, **facts, **content)

    async def submit(self, batch: Batch, bodies: Mapping[str, Found]) -> str:
        """Hand in the bodies of calls by key; returns the provider's name of the batch."""
        calls = {call_name(batch, key): body for key, body in bodies.items()}
        if self._anthropic:
            content: Found = {
                "requests": [{"custom_id": name, "params": body} for name, body in calls.items()]
            }
        else:
            call = {"method": "POST", "url": "/v1/chat/completions"}
            lines = [
                json.dumps({"custom_id": name, **call, "body": body})
                for name, body in calls.items()
            ]
            file = f"{batch.id}.jsonl", "\n".join(lines).encode(), "application/jsonl"
            kept = await self._ask(
                "POST", self._files, files={"file": file}, data={"purpose": "batch"}
            )
            content = {
                "input_file_id": kept.json()["id"],
                "endpoint": call["url"],
                "completion_window": "24h",
            }
            content["metadata"] = {"appellate": batch.id}
        return str((await self._ask("POST", self._batches, json=content)).json()["id"])

    async def find(self, batch: Batch, others: Collection[str]) -> str | None:
        """The name of a batch, which is not one of the others; None if it was never submitted.

        Raises CallFailed, to be tried again, while one that may be it does not show yet whose calls
        it holds.
        """
        after: dict[str, str] = {}
        while True:
            page = (await self._ask("GET", self._batches, params={"limit": "100", **after})).json()
            for facts in page["data"]:
                if _time(facts["created_at"]) < batch.made_at - SKEW:
                    return None
                if facts["id"] not in others and await self._is(facts, batch):
                    return str(facts["id"])
            if not page.get("has_more"):
                return None
            after = {"after_id" if self._anthropic else "after": page["data"][-1]["id"]}

    async def _is(self, facts: Found, batch: Batch) -> bool:
        if not self._anthropic:
            return bool((facts.get("metadata") or {}).get("appellate") == batch.id)
        if sum(facts["request_counts"].values()) < len(batch.calls):
            return False
        if not ended(facts):
            raise CallFailed(
                f"{facts['id']} may be the batch, which it shows when it ends", 409, "unknown batch"
            )
        return any(name.startswith(batch.id) for name in await self.results(facts))

    async def look(self, name: str) -> Found:
        """What the provider says of a batch."""
        return dict((await self._ask("GET", f"{self._batches}/{name}")).json())

    async def results(self, facts: Found) -> dict[str, Result]:
        """Results of a batch that ended, by the names of its calls; a call may have none."""
        if self._anthropic:
            lines = await self._lines(f"{self._batches}/{facts['id']}/results")
            return {line["custom_id"]: _of_anthropic(line["result"]) for line in lines}
        files = [facts[name] for name in ("output_file_id", "error_file_id") if facts.get(name)]
        lines = [
            line for file in files for line in await self._lines(f"{self._files}/{file}/content")
        ]
        return {line["custom_id"]: _of_openai(line) for line in lines}

    async def _lines(self, url: str) -> list[Found]:
        text = (await self._ask("GET", url)).content.decode()
        return [json.loads(line) for line in text.split("\n") if line.strip()]


def call_name(batch: Batch, key: str) -> str:
    """The name of the call of a request in a batch."""
    return f"{batch.id}-{key[:KEY]}"


def ended(facts: Found) -> bool:
    """Whether nothing more will come of a batch."""
    state = facts.get("processing_status") or facts["status"]
    return state in ("ended", "completed", "failed", "expired", "cancelled")


def due(facts: Found) -> datetime | None:
    """When a batch ends at the latest, in UTC."""
    given = facts.get("expires_at")
    return None if given is None else _time(given)


def without_result(facts: Found) -> CallFailed:
    """Of a call in a batch that ended without it: it was not made, and the next run may make it."""
    errors = (facts.get("errors") or {}).get("data") or [{}]
    state = facts.get("processing_status") or facts["status"]
    return _not_made(errors[0].get("message") or f"the batch is {state} and has no result for it")


def _not_made(why: str) -> CallFailed:
    return CallFailed(why, 408, "no result in its batch", billed=False)


def _time(given: int | str) -> datetime:
    if isinstance(given, int):
        return datetime.fromtimestamp(given, UTC).replace(tzinfo=None)
    return datetime.fromisoformat(given).astimezone(UTC).replace(tzinfo=None)


def _of_openai(line: Found) -> Result:
    if answer := line.get("response"):
        return httpx.Response(answer["status_code"], json=answer["body"])
    return _not_made((line.get("error") or {}).get("message") or "the batch has no result for it")


def _of_anthropic(result: Found) -> Result:
    if result["type"] == "succeeded":
        return httpx.Response(200, json=result["message"])
    if result["type"] != "errored":
        return _not_made(f"the call is {result['type']}")
    error = result["error"].get("error", result["error"])
    return httpx.Response(STATUS.get(error["type"], 500), json={"type": "error", "error": error})
