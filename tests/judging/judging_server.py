"""A server on loopback that speaks the OpenAI chat format: simulated judges, and faults on order.

    PYTHONPATH=tests python tests/judging/judging_server.py [--port PORT] [--delay SECONDS]
        [--hold-after CALLS] [--fault KIND:EVERY ...]

prints its address. `GET /stats` tells how many calls it had, `POST /release` lets held ones go. A
response under judgement carries its quality in its text; the judges see nothing else, so what they
answer follows known probabilities.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from patience import LONG

QUALITY = re.compile(r"quality is ([+-]\d+\.\d+)")
FENCE = re.compile(r"data-[0-9a-f]{16}")
TOLD = re.compile(r"choose this response")
CANDIDATE = re.compile(r"^Candidate ([A-Z]):$", re.MULTILINE)

FAULTS = ("slow", "429", "500", "400", "401", "truncated", "schema", "hang", "drop", "filter")
"""Faults of the server; those of the model are in `said`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedJudge:
    """P(first) = expit(x − tie_width), P(second) = expit(−x − tie_width).

    x = discrimination·(q₁ − q₂) + first_bias.

    overconfidence : added to the log odds of the probability of its own verdict before it is
        stated.
    obeys : probability that it votes for a response whose text says "choose this response".
    """

    discrimination: float = 2.0
    first_bias: float = 0.0
    tie_width: float = 0.0
    overconfidence: float = 0.0
    obeys: float = 0.0

    def probabilities(self, first: float, second: float, *, ties: bool) -> dict[str, float]:
        x = self.discrimination * (first - second) + self.first_bias
        if not ties:
            return {"A": expit(x), "B": expit(-x)}
        a, b = expit(x - self.tie_width), expit(-x - self.tie_width)
        return {"A": a, "B": b, "C": 1 - a - b}

    def stated(self, p: float) -> float:
        p = min(max(p, 1e-6), 1 - 1e-6)
        return round(expit(math.log(p / (1 - p)) + self.overconfidence), 2)


JUDGES = {
    "fair": SimulatedJudge(),
    "first": SimulatedJudge(first_bias=1.0),
    "tying": SimulatedJudge(tie_width=0.8),
    "boastful": SimulatedJudge(overconfidence=2.0),
    "obedient": SimulatedJudge(obeys=1.0),
    "swayed": SimulatedJudge(obeys=0.3),
    "everything": SimulatedJudge(
        first_bias=0.7, tie_width=0.6, overconfidence=1.5, discrimination=1.5
    ),
}


def expit(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def answer_text(quality: float, words: str = "") -> str:
    """A response whose quality a simulated judge can see."""
    return f"{words or 'An answer.'} Its quality is {quality:+.3f}."


class Server:
    """The server in a thread: `with Server(fault=...) as server: server.url`.

    fault : (number of the call from 1, request body) → kind of fault, or None. What a model may say
        wrong: `prose`, `refusal`, `cut`, `wrong keys`, `two verdicts`, `tagged`, `no usage`.
    hold_after : calls after so many wait for `release`, unless they meet a fault. A run is then
        known to be going on, however fast or slow the machine is.
    """

    def __init__(
        self,
        *,
        fault: Callable[[int, dict[str, Any]], str | None] = lambda n, body: None,
        delay: float = 0.0,
        hold_after: float = math.inf,
        seed: int = 0,
        port: int = 0,
        repair: Callable[[str], str] = lambda question: "It is not clear.",
    ) -> None:
        self.repair, self.repairs = repair, 0
        self.fault, self.delay, self.seed, self.port = fault, delay, seed, port
        self._through, self._released = hold_after, asyncio.Event()
        self.calls, self.in_flight, self.peak = 0, 0, 0
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.times: list[float] = []
        self.keep_bodies = True
        self._asked: Counter[str] = Counter()
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Server:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(LONG)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LONG)

    def release(self, calls: float = math.inf) -> None:
        """Let calls up to this number through; all, if none is given. From any thread."""
        self._through = calls
        self._loop.call_soon_threadsafe(self._released.set)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._runner = runner = web.AppRunner(self.app(), shutdown_timeout=0.1)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        self._loop.run_until_complete(site.start())
        self.port = site._server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/stats", self._stats)
        app.router.add_post("/release", self._release)
        return app

    async def _stats(self, request: web.Request) -> web.Response:
        connections = len(self._runner.server.connections)
        return web.json_response(
            {"calls": self.calls, "peak": self.peak, "connections": connections}
        )

    async def _release(self, request: web.Request) -> web.Response:
        self.release()
        return web.json_response({})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        number = self.calls
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.times.append(asyncio.get_running_loop().time())
        try:
            body = await request.json()
            self.keys.add(request.headers.get("Authorization", ""))
            if self.keep_bodies:
                self.bodies.append(body)
            return await self._answer(number, body, request)
        finally:
            self.in_flight -= 1

    async def _answer(
        self, number: int, body: dict[str, Any], request: web.Request
    ) -> web.StreamResponse:
        fault = self.fault(number, body)
        while number > self._through and fault is None:
            self._released.clear()
            await self._released.wait()
        if self.delay:
            await asyncio.sleep(self.delay)
        key = request.headers.get("Authorization", "")
        if fault == "slow":
            await asyncio.sleep(0.5)
        elif fault == "429":
            return _error(429, "too many requests", {"Retry-After": "1"})
        elif fault == "500":
            return _error(500, f"out of order, you sent {key}")
        elif fault == "400":
            return _error(400, f"this model takes no such parameter, said {key}")
        elif fault == "401":
            return _error(401, f"Incorrect API key provided: {key}")
        elif fault == "truncated":
            return web.Response(
                text='{"id": "1", "object": "chat.completion", "choi',
                content_type="application/json",
            )
        elif fault == "schema":
            return web.json_response({"result": "fine"})
        elif fault == "hang":
            await asyncio.sleep(LONG)
        elif fault == "drop" and request.transport is not None:
            request.transport.abort()
        return web.json_response(self.completion(body, fault))

    def completion(self, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        question = body["messages"][-1]["content"]
        if question.startswith("A judge was to end its reply"):
            self.repairs += 1
            content, logprobs = self.repair(question), None
        else:
            content, logprobs = self._said(body)
            content = said(content, fault)
        reason = "content_filter" if fault == "filter" else "stop"
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": content if fault != "filter" else ""},
            "finish_reason": reason,
            "logprobs": logprobs,
        }
        prompt = sum(len(message["content"]) for message in body["messages"]) // 4
        found = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": len(content) // 4 + 1,
                "total_tokens": prompt + len(content) // 4 + 1,
            },
        }
        if fault == "no usage":
            del found["usage"]
        return found

    def _said(self, body: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
        text = body["messages"][-1]["content"]
        # The same question asked again is another draw, whatever the order in which calls arrive.
        # The same question is the same draw with a schema or without.
        asked = {name: given for name, given in body.items() if name != "response_format"}
        same = FENCE.sub("data", json.dumps(asked, sort_keys=True))
        self._asked[same] += 1
        digest = hashlib.sha256(f"{self.seed}{self._asked[same]}{same}".encode()).digest()
        rng = random.Random(digest)
        judge = JUDGES.get(body["model"], JUDGES["fair"])
        quality = [float(found) for found in QUALITY.findall(text)]
        if '{"candidates"' in text:
            return _listwise(text, quality, judge, rng), None
        if '{"key"' in text:
            return json.dumps({"key": "the better one is right"}), None
        if '"score": a whole' in text:
            score = min(10, max(1, round(5.5 + 2 * quality[-1] + rng.gauss(0, 0.5))))
            return json.dumps({"reason": "It is so.", "score": score}), None
        return _verdict(body, text, quality, judge, rng)


def _verdict(
    body: dict[str, Any], text: str, quality: list[float], judge: SimulatedJudge, rng: random.Random
) -> tuple[str, dict[str, Any] | None]:
    ties = "or C" in text
    p = judge.probabilities(quality[-2], quality[-1], ties=ties)
    letter = max(p, key=lambda option: p[option])
    if body.get("temperature"):
        letter = rng.choices(list(p), weights=list(p.values()))[0]
    if judge.obeys and rng.random() < judge.obeys and (told := TOLD.search(text)):
        letter = "A" if told.start() < text.index("\nResponse B:") else "B"
    if body.get("logprobs"):
        options = [
            {"token": option, "logprob": math.log(max(share, 1e-12)), "bytes": None}
            for option, share in p.items()
        ]
        first = {"token": letter, "logprob": math.log(max(p[letter], 1e-12)), "bytes": None}
        return letter, {"content": [{**first, "top_logprobs": options}]}
    said: dict[str, Any] = {"reason": f"I find {letter} better."}
    if '"confidence"' in text:
        said["confidence"] = judge.stated(p[letter])
    return json.dumps({**said, "verdict": letter}), None


def _listwise(text: str, quality: list[float], judge: SimulatedJudge, rng: random.Random) -> str:
    labels = CANDIDATE.findall(text)
    value = [q + judge.first_bias * (k == 0) + rng.gauss(0, 0.1) for k, q in enumerate(quality)]
    rank = {
        k: place
        for place, k in enumerate(sorted(range(len(value)), key=lambda k: -value[k]), start=1)
    }
    entries = [
        {
            "label": label,
            "score": max(0, min(100, round(50 + 20 * value[k]))),
            "rank": rank[k],
            "calibrated_uncertainty": False,
            "major_error": value[k] < -1,
            "unsupported": False,
        }
        for k, label in enumerate(labels)
    ]
    return json.dumps({"candidates": entries})


def said(content: str, fault: str | None) -> str:
    """What a model says instead of `content`."""
    return {
        "prose": "Both have their merits, but on the whole I like the first one.",
        "refusal": "I'm sorry, but I can't help with comparing these responses.",
        "cut": content[: len(content) * 2 // 3],
        "wrong keys": '{"certainty": "high"}',
        "two verdicts": '{"verdict": "A"} or perhaps {"verdict": "B"}',
        "tagged": "The first is better: [[A]]",
        "line": "The first is better.\nVerdict: A",
    }.get(fault or "", content)


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(
        {"error": {"message": message, "type": "error"}}, status=status, headers=headers
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--hold-after", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], metavar="KIND:EVERY")
    options = parser.parse_args()
    orders = [
        (kind, int(every)) for kind, _, every in (text.partition(":") for text in options.fault)
    ]

    def fault(number: int, body: dict[str, Any]) -> str | None:
        return next((kind for kind, every in orders if number % every == 0), None)

    server = Server(
        fault=fault,
        delay=options.delay,
        hold_after=options.hold_after,
        seed=options.seed,
        port=options.port,
    )
    server.keep_bodies = False
    with server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
