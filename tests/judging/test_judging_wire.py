"""What providers send, in the forms of their documentation, read through a server on loopback.

`data/wire/*.json` has a full reply, a refusal, a filter, a cut-off, a tool call, a rate limit and a
wrong key of each of four wires, with its source, and of other providers what differs.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from judging_server import Server
from places import REPOSITORY

from core.collect import client
from core.collect.client import Answer, CallFailed
from core.collect.endpoint import Destination
from core.collect.reading import verdict, votes

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
FOLDER = REPOSITORY / "tests" / "data" / "wire"
WIRES = ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock")
KINDS = ("full", "refusal", "filter", "cut_off", "tool", "rate", "key")


class Canned(Server):
    """Answers every request with one reply."""

    def __init__(self, reply: dict[str, Any]) -> None:
        super().__init__()
        self.reply, self.seen = reply, []

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._any)
        return app

    async def _any(self, request: web.Request) -> web.Response:
        self.calls += 1
        self.seen.append((request.path, await request.text()))
        headers = self.reply.get("headers", {})
        return web.json_response(self.reply["body"], status=self.reply["status"], headers=headers)


def asked(model: str, reply: dict[str, Any], **parameters: Any) -> Answer | CallFailed:
    with Canned(reply) as server:
        base = f"http://127.0.0.1:{server.port}/v1"
        key = None if model.startswith("bedrock/") else "sk-planted-0123456789"
        where = Destination(host="127.0.0.1", base_url=base, local=True, price=None, key=key)
        said = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "q"}]
        given = {"max_tokens": 99, **parameters}
        call = client.ask(model, said, given, where=where, timeout=60)
        try:
            return asyncio.run_coroutine_threadsafe(call, client.loop()).result(120)
        except CallFailed as failure:
            return failure
        finally:
            assert server.calls <= 1


def check(kind: str, found: Answer | CallFailed) -> None:
    """That a reply is what its kind says."""
    if kind in ("rate", "key", "item", "overlong", "account"):
        assert isinstance(found, CallFailed), found
        assert not {"litellm", "Traceback"} & set(found.message.split())
        assert "Exception" not in found.message
        facts = {
            "rate": (found.status, found.wait, found.mends) == (429, 2.0, True),
            "key": not (found.mends or found.item or found.content_policy or found.overlong),
            "account": found.dead,
            "item": found.item,
            "overlong": found.overlong,
        }
        assert facts[kind], found
        return
    if kind == "filter" and isinstance(found, CallFailed):
        assert found.content_policy, found
        return
    assert isinstance(found, Answer), found
    read = verdict(
        found.text, votes("any", ties=True), refused=found.refused, cut_off=found.cut_off
    )
    meant = {"full": ("ok", 1), "tool": ("ok", 1), "cut_off": ("cut_off", None)}
    # What is not the provider's own word for a refusal is left to the question about the reply.
    refused = ("refused" if found.refused else "unparsed", None)
    assert (read.status, read.slot_vote) == meant.get(kind, refused), found
    assert kind == "filter" or (found.prompt_tokens, found.completion_tokens) == (41, 12)


@pytest.fixture(autouse=True)
def of_amazon(monkeypatch):
    for name, value in (("ACCESS_KEY_ID", "AKIA"), ("SECRET_ACCESS_KEY", "s"), ("REGION", "x")):
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_wire_is_read_as_its_documentation_says(wire, kind):
    if wire == "bedrock":
        pytest.importorskip("boto3")
    given = json.loads((FOLDER / f"{wire}.json").read_text(encoding="utf-8"))
    check(kind, asked(given["model"], given[kind]))


OTHERS = json.loads((FOLDER / "others.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in OTHERS if name != "source"])
def test_what_differs_elsewhere(name):
    check(OTHERS[name]["as"], asked(OTHERS[name]["model"], OTHERS[name]))


def test_thoughts_are_kept_apart():
    given = json.loads((FOLDER / "anthropic.json").read_text(encoding="utf-8"))
    found = asked(given["model"], given["full"])
    assert isinstance(found, Answer)
    assert found.reasoning == "Perhaps B? No."
