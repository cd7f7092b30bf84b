"""The clients of all providers against servers on loopback: where texts and keys go, and what comes
back.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from aiohttp import web
from judging_jobs import collect, job, pairs
from judging_server import Server
from patience import LONG

from core.collect import client
from core.collect.client import CallFailed
from core.collect.endpoint import (
    HOSTS,
    NO_KEY,
    Destination,
    NotConfirmed,
    destination,
    key_variable,
)
from core.collect.job import Judge
from core.collect.scrubbing import scrub
from core.errors import InvalidOption
from core.store import Store

# The client ignores these for the process; here they would be errors.
pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")

KEY = "sk-planted-0123456789"
PROXIES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
)
SAID = '{"verdict": "A"}'


class AnyServer(Server):
    """Takes requests to any path; answers in the form that the client of the path expects."""

    def __init__(self, answer: Any = None) -> None:
        super().__init__()
        self.answer, self.seen = answer, []

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._any)
        return app

    async def _any(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        self.seen.append(
            f"{request.method} {request.path_qs} {dict(request.headers)} {await request.text()}"
        )
        return self.answer(request) if self.answer else web.json_response(in_form_of(request.path))


def in_form_of(path: str) -> dict[str, Any]:
    if "generateContent" in path:
        part = {"content": {"parts": [{"text": SAID}], "role": "model"}, "finishReason": "STOP"}
        counts = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
        return {"candidates": [part], "usageMetadata": counts}
    if path.endswith("/messages"):
        content = [{"type": "text", "text": SAID}]
        usage = {"input_tokens": 7, "output_tokens": 3}
        head = {
            "id": "1",
            "type": "message",
            "role": "assistant",
            "model": "x",
            "stop_reason": "end_turn",
        }
        return {**head, "content": content, "usage": usage}
    if not path.endswith("/completions"):
        message = {"role": "assistant", "content": [{"type": "text", "text": SAID}]}
        tokens = {"input_tokens": 7, "output_tokens": 3}
        return {
            "id": "1",
            "finish_reason": "COMPLETE",
            "message": message,
            "usage": {"tokens": tokens},
        }
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": SAID},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    head = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "x",
        "service_tier": "default",
    }
    return {**head, "choices": [choice], "usage": usage}


def ask(model: str, where: Destination) -> client.Answer:
    """One call, on the loop that calls are made on."""
    messages = [
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": "the judged text"},
    ]
    asked = client.ask(
        model, messages, {"temperature": 0.0, "max_tokens": 9}, where=where, timeout=10
    )
    return asyncio.run_coroutine_threadsafe(asked, client.loop()).result(60)


def at(
    server: Server, *, key: str = KEY, path: str = "/v1", host: str = "127.0.0.1"
) -> Destination:
    base = f"http://{host}:{server.port}{path}"
    return Destination(host=host, base_url=base, local=True, price=None, key=key)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


@contextmanager
def proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy that refuses all, and what it was asked for."""
    asked: list[str] = []

    def serve() -> None:
        while True:
            try:
                taken, _ = listening.accept()
            except OSError:
                return
            with taken:
                asked.append(taken.recv(65536).decode(errors="replace").partition("\r\n")[0])
                taken.sendall(
                    b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                )

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("provider", HOSTS)
def test_the_client_of_each_provider_is_read_and_sends_no_key_of_its_own(provider, monkeypatch):
    for name in {key_variable(Judge(model=f"{other}/x")) for other in HOSTS}:
        monkeypatch.setenv(name, KEY)
    with AnyServer() as server:
        answer = ask(f"{provider}/some-model", at(server, key=NO_KEY))
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == (SAID, 7, 3)
    (seen,) = server.seen
    assert "the judged text" in seen
    assert KEY not in seen


@pytest.mark.parametrize("status", [301, 307])
@pytest.mark.parametrize("provider", HOSTS)
def test_no_client_follows_a_redirect(provider, status):
    with AnyServer() as elsewhere:
        for target in (elsewhere, None):

            def answer(request, target=target):
                to = (
                    f"http://127.0.0.1:{target.port}/v1/chat/completions"
                    if target
                    else "/v1/messages"
                )
                return web.Response(status=status, headers={"Location": to})

            with AnyServer(answer) as server, pytest.raises(CallFailed) as caught:
                ask(f"{provider}/some-model", at(server))
            assert (caught.value.status, caught.value.mends, server.calls) == (status, False, 1)
    assert elsewhere.calls == 0


@pytest.mark.parametrize("provider", HOSTS)
def test_no_client_sends_a_call_twice(provider):
    def drop(request):
        request.transport.abort()
        return web.Response()

    with AnyServer(drop) as server, pytest.raises(CallFailed) as caught:
        ask(f"{provider}/some-model", at(server))
    assert (caught.value.mends, caught.value.billed, server.calls) == (True, True, 1)


@pytest.mark.parametrize("provider", HOSTS)
def test_calls_to_this_machine_pass_no_proxy(provider, monkeypatch):
    with proxy() as (address, asked), AnyServer() as server:
        for name in PROXIES[:6]:
            monkeypatch.setenv(name, address)
        monkeypatch.setenv("AIOHTTP_TRUST_ENV", "True")
        for host in ("127.0.0.1", "localhost"):
            assert ask(f"{provider}/some-model", at(server, host=host)).text == SAID
        assert (server.calls, asked) == (2, [])


@pytest.mark.parametrize("provider", HOSTS)
def test_calls_to_a_provider_go_to_the_host_of_the_plan_and_through_the_proxy(
    provider, monkeypatch
):
    with proxy() as (address, asked):
        monkeypatch.setenv("HTTPS_PROXY", address)
        there = destination(
            Judge(model=f"{provider}/some-model", key_env="PLANTED"), keys={"PLANTED": KEY}
        )
        with pytest.raises(CallFailed):
            ask(f"{provider}/some-model", there)
    assert asked == [f"CONNECT {HOSTS[provider]}:443 HTTP/1.1"]


REDIRECTED = [(provider, f"{provider.upper()}_API_BASE") for provider in HOSTS]
REDIRECTED += [
    ("openai", "OPENAI_BASE_URL"),
    ("anthropic", "ANTHROPIC_BASE_URL"),
    ("mistral", "MISTRAL_AZURE_API_BASE"),
]
REDIRECTED += [("cohere_chat", "COHERE_API_BASE"), ("fireworks_ai", "FIREWORKS_API_BASE")]


@pytest.mark.parametrize(("provider", "name"), REDIRECTED)
def test_a_base_url_of_the_environment_needs_to_be_agreed_to(provider, name, monkeypatch):
    judge = Judge(model=f"{provider}/some-model", key_env="PLANTED")
    there = destination(judge, keys={"PLANTED": KEY})
    with AnyServer() as server:
        monkeypatch.setenv(name, "http://elsewhere.example/v1")
        with pytest.raises(NotConfirmed, match=r"elsewhere\.example"):
            destination(judge, keys={"PLANTED": KEY})
        # Nor is it followed if it appears once the plan is made.
        monkeypatch.setenv(name, f"http://127.0.0.1:{server.port}/v1")
        with proxy() as (address, asked):
            monkeypatch.setenv("HTTPS_PROXY", address)
            with pytest.raises(CallFailed) as caught:
                ask(f"{provider}/some-model", there)
    assert server.calls == 0
    if asked:
        assert asked == [f"CONNECT {HOSTS[provider]}:443 HTTP/1.1"]
    else:
        assert "127.0.0.1 instead of" in str(caught.value)
        assert (caught.value.mends, caught.value.billed) == (False, False)


def test_another_proxy_of_models_is_not_used(monkeypatch):
    with AnyServer() as server, AnyServer() as elsewhere:
        monkeypatch.setenv("USE_LITELLM_PROXY", "True")
        monkeypatch.setenv("LITELLM_PROXY_API_BASE", f"http://127.0.0.1:{elsewhere.port}/v1")
        there = Destination(host="api.openai.com", base_url=None, local=False, price=None, key=KEY)
        with proxy() as (address, _):
            monkeypatch.setenv("HTTPS_PROXY", address)
            with pytest.raises(CallFailed):
                ask("openai/x", there)
        assert (server.calls, elsewhere.calls) == (0, 0)


def changed(**changes: Any) -> dict[str, Any]:
    found = in_form_of("/completions")
    if "content" in changes:
        found["choices"][0]["message"]["content"] = changes["content"]
    if "usage" in changes:
        found["usage"] |= changes["usage"]
    return found


def test_what_cannot_be_stored_is_mended():
    with AnyServer(lambda r: web.json_response(changed(content="x \ud83d y [[A]]"))) as server:
        assert ask("openai/x", at(server)).text == "x ? y [[A]]"
    for status in (400, 500):
        broken = f'{{"error": {{"message": "bad \\ud83d thing of {KEY}"}}}}'

        def answer(request, status=status, broken=broken):
            return web.Response(status=status, text=broken, content_type="application/json")

        with (
            AnyServer(answer) as server,
            pytest.raises(CallFailed, match=r"bad \? thing of \[key\]"),
        ):
            ask("openai/x", at(server))


@pytest.mark.parametrize(
    "usage",
    [
        {"completion_tokens": 2**70},
        {"prompt_tokens": 2**63},
        {"prompt_tokens": -5},
        {"prompt_tokens": None},
        {"completion_tokens": None},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    ],
)
def test_a_count_that_no_call_has_is_none(usage):
    with AnyServer(lambda r: web.json_response(changed(usage=usage))) as server:
        answer = ask("openai/x", at(server))
    assert answer.text == SAID
    assert (answer.prompt_tokens, answer.completion_tokens) == (None, None)


def test_poison_fails_no_run(tmp_path):
    poison = iter(["x \ud83d\nVerdict: A", '{"reason": "\\ud83d", "verdict": "A"}'])

    class Poisonous(Server):
        def completion(self, body, fault):
            found = super().completion(body, fault)
            if fault == "poison":
                found["choices"][0]["message"]["content"] = next(poison)
                found["usage"]["completion_tokens"] = 2**70
            return found

    fault = {3: "poison", 5: "poison"}
    with (
        Poisonous(fault=lambda n, body: fault.get(n)) as server,
        Store.open(tmp_path / "v.duckdb") as store,
    ):
        last = collect(job(server, pairs(5), votes=2), store, concurrency=4)
        assert (last.state, last.answered, last.statuses, server.calls) == (
            "done",
            10,
            {"ok": 10},
            10,
        )
        assert len(store.export()) == 10


def test_a_key_that_is_sent_back_is_not_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("PLANTED", KEY)

    class Echo(Server):
        def completion(self, body, fault):
            found = super().completion(body, fault)
            found["choices"][0]["message"]["content"] = json.dumps(
                {"reason": f"You sent {KEY} to me.", "verdict": "A"}
            )
            return found

    path = tmp_path / "votes.duckdb"
    with Echo() as server, Store.open(path) as store:
        given = job(server, pairs(2), votes=2)
        judge = Judge(model="openai/fair", base_url=server.url, key_env="PLANTED")
        last = collect(type(given)(dataset="d", items=given.items, judges=(judge,), votes=2), store)
        assert (last.statuses, server.keys) == ({"ok": 4}, {f"Bearer {KEY}"})
        assert {row["rationale"] for row in store.export().to_pylist()} == {"You sent [key] to me."}
        kept = store.query("select * from replies").to_pylist()
        assert KEY not in str(kept)
    assert KEY.encode() not in path.read_bytes()


def test_short_keys_are_scrubbed_as_words(monkeypatch):
    monkeypatch.setenv("SOME_PASSWORD", "the")
    assert scrub("said ab1, abba and the ab12", ["ab1"]) == "said [key], abba and the ab12"
    refused = AnyServer(lambda r: web.json_response({"error": {"message": "no ab1!"}}, status=401))
    with refused as server, pytest.raises(CallFailed) as caught:
        ask("openai/x", at(server, key="ab1"))
    assert "ab1" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "kind", "mends"),
    [
        (400, "refused by the provider", False),
        (404, "refused by the provider", False),
        (408, "timeout", True),
        (409, "server error", True),
        (429, "rate limit", True),
        (500, "server error", True),
        (503, "server error", True),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "cohere"])
def test_kinds_of_failures(provider, status, kind, mends):
    def answer(request):
        error = {"error": {"message": "in plain words", "type": "x"}, "message": "in plain words"}
        return web.json_response(error, status=status, headers={"Retry-After": "7"})

    with AnyServer(answer) as server, pytest.raises(CallFailed, match="in plain words") as caught:
        ask(f"{provider}/some-model", at(server))
    found = caught.value
    assert (found.status, found.kind, found.mends) == (status, kind, mends)
    assert (found.wait, found.billed, server.calls) == (7.0, False, 1)


ODD = """
import asyncio, sys
from core.collect import client
from core.collect.endpoint import Destination
where = Destination(host="127.0.0.1", base_url=sys.argv[1], local=True, price=None, key="k")
for model in 3 * ("openai/x", "anthropic/x", "cohere/x"):
    asked = client.ask(model, [{"role": "user", "content": "q"}], {}, where=where, timeout=10)
    try:
        asyncio.run_coroutine_threadsafe(asked, client.loop()).result(60)
    except client.CallFailed:
        pass
"""


@pytest.mark.thorough
def test_nothing_of_a_reply_is_printed():
    """Whatever is in the place of a text, to each of three clients."""
    contents = ([{"type": "text", "text": "what was said"}], {"a": "what was said"}, 5)
    left = [content for content in contents for _ in range(3)]

    def answer(request):
        found, content = in_form_of(request.path), left.pop(0)
        if "choices" in found:
            found["choices"][0]["message"]["content"] = content
            found["choices"][0]["finish_reason"] = "what was said"
            found["usage"]["prompt_tokens_details"] = "what was said"
        return web.json_response(found)

    with AnyServer(answer) as server:
        said = subprocess.run(
            [sys.executable, "-c", ODD, server.url],
            capture_output=True,
            text=True,
            timeout=LONG,
            cwd=os.getcwd(),
        )
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
    assert (server.calls, left) == (9, [])


def test_a_known_provider_is_not_called_unencrypted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for base in ("http://api.openai.com/v1", "http://API.OPENAI.COM:443/v1"):
        with pytest.raises(InvalidOption, match="write https://api"):
            destination(Judge(model="openai/x", base_url=base), confirmed=["api.openai.com"])
    monkeypatch.setenv("OPENAI_API_BASE", "http://api.openai.com/v1")
    with pytest.raises(InvalidOption, match="write https://api"):
        destination(Judge(model="openai/x"))
    there = destination(Judge(model="openai/x", base_url="https://api.openai.com/v1"))
    assert (there.host, there.key) == ("api.openai.com", KEY)


@pytest.mark.parametrize(
    "base",
    [
        "ftp://me:secret@localhost/v1",
        "http://me:secret@[/v1",
        "http://:secret@localhost/v1",
        "ws://localhost/v1?key=secret",
        "http://localhost:99999/v1#secret",
        "http://lo cal@secret/v1",
    ],
)
def test_what_may_be_a_key_in_an_address_is_not_repeated(base):
    with pytest.raises(InvalidOption) as caught:
        destination(Judge(model="openai/x", base_url=base))
    assert "secret" not in str(caught.value)


def test_addresses_that_are_none_are_refused():
    for base in (
        "http://local host/v1",
        "http://localhost:99999/v1",
        "http://",
        "http:///v1",
        "http://a\\b/v1",
    ):
        with pytest.raises(InvalidOption, match="HOST:PORT"):
            destination(Judge(model="openai/x", base_url=base))


def test_keys_have_the_names_that_providers_give_them():
    assert (
        key_variable(Judge(model="cohere_chat/x"))
        == key_variable(Judge(model="cohere/x"))
        == "COHERE_API_KEY"
    )
    assert key_variable(Judge(model="anthropic/x")) == "ANTHROPIC_API_KEY"
