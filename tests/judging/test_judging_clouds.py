"""Azure, Bedrock and Vertex as people set them up: by variables of litellm, and nothing invented is
sent.
"""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from judging_jobs import collect, pairs
from judging_server import Server

from core.collect.client import listed_price
from core.collect.endpoint import NotConfirmed, destination
from core.collect.job import Job, Judge
from core.errors import InvalidOption
from core.store import Store

SECRET = "planted/secret-0c9f"
VARIABLES = ("AZURE_API_BASE", "AZURE_API_KEY", "AZURE_AD_TOKEN", "AWS_REGION_NAME", "AWS_REGION")
VARIABLES += (
    "AWS_BEDROCK_RUNTIME_ENDPOINT",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "VERTEXAI_LOCATION",
)


class Clouds(Server):
    """Azure's and Bedrock's addresses in front of the simulated judges."""

    def app(self) -> web.Application:
        app = super().app()
        self.headers: list[dict[str, str]] = []
        self.asked: list[dict[str, Any]] = []
        app.router.add_post("/openai/deployments/{model}/chat/completions", self._azure)
        app.router.add_post("/model/{model}/converse", self._bedrock)
        app.router.add_post("/v1/messages", self._anthropic)
        return app

    async def _azure(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        return await self._chat(request)

    async def _anthropic(self, request: web.Request) -> web.Response:
        """1,000 prompt tokens, of which 800 were read from the cache and 100 written to it."""
        self.asked.append(await request.json())
        asked = [*self.asked[-1]["system"], *self.asked[-1]["messages"][0]["content"]]
        text = "\n".join(part["text"] for part in asked)
        body = {"model": "fair", "messages": [{"role": "user", "content": text}]}
        said = self.completion(body, None)
        used = {
            "input_tokens": 100,
            "cache_read_input_tokens": 800,
            "cache_creation_input_tokens": 100,
        }
        return web.json_response(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": CACHED.partition("/")[2],
                "content": [{"type": "text", "text": said["choices"][0]["message"]["content"]}],
                "stop_reason": "end_turn",
                "usage": used | {"output_tokens": 4},
            }
        )

    async def _bedrock(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        asked = await request.json()
        parts = [*asked.get("system", ()), *asked["messages"][0]["content"]]
        text = "\n".join(part["text"] for part in parts if "text" in part)
        body = {"model": "fair", "messages": [{"role": "user", "content": text}]}
        said = self.completion(body, None)
        return web.json_response(
            {
                "output": {
                    "message": {
                        "role": "assistant",
                        "content": [{"text": said["choices"][0]["message"]["content"]}],
                    }
                },
                "stopReason": "end_turn",
                "usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13},
            }
        )


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def votes(model: str) -> list[str]:
    with Store.open(None) as store:
        last = collect(
            Job(
                dataset="d", items=pairs(2), judges=(Judge(model=model, price=(1.0, 1.0)),), votes=2
            ),
            store,
        )
        assert (last.state, last.left) == ("done", 0), last.messages
        return store.export()["status"].to_pylist()


CACHED = "anthropic/claude-haiku-4-5"


def test_what_a_provider_caches_is_marked_and_paid_at_its_own_price(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    with Clouds() as server, Store.open(None) as store:
        judge = Judge(model=CACHED, base_url=server.url.removesuffix("/v1"), price=(1.0, 5.0))
        last = collect(Job(dataset="d", items=pairs(2), judges=(judge,), votes=2), store)
    assert (last.state, last.left) == ("done", 0), last.messages
    assert len(server.asked) == 4
    for asked in server.asked:
        (system,) = asked["system"]
        assert system["cache_control"] == {"type": "ephemeral"}
        assert "cache_control" not in str(asked["messages"])
    # Reading costs a tenth of the price and writing a quarter more: 100 + 80 + 125 tokens.
    assert last.cost == pytest.approx(4 * (305 * 1.0 + 4 * 5.0) / 1e6)
    assert listed_price(CACHED) == pytest.approx((1e-6, 5e-6))


def test_azure(monkeypatch):
    with Clouds() as server:
        monkeypatch.setenv("AZURE_API_BASE", server.url.removesuffix("/v1"))
        monkeypatch.setenv("AZURE_API_KEY", SECRET)
        monkeypatch.setenv("AZURE_API_VERSION", "2024-06-01")
        assert votes("azure/fair") == ["ok"] * 4
        assert {headers["api-key"] for headers in server.headers} == {SECRET}
        assert not any("none-needed" in str(headers) for headers in server.headers)


def test_bedrock_signs_its_requests(monkeypatch):
    pytest.importorskip("boto3")
    with Clouds() as server:
        monkeypatch.setenv("AWS_BEDROCK_RUNTIME_ENDPOINT", server.url.removesuffix("/v1"))
        monkeypatch.setenv("AWS_REGION_NAME", "eu-west-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAPLANTED")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        assert votes("bedrock/meta.llama3-8b-instruct-v1:0") == ["ok"] * 4
        for headers in server.headers:
            assert "Credential=AKIAPLANTED/" in headers["Authorization"]
            assert "/eu-west-1/bedrock/" in headers["Authorization"]
            assert SECRET not in str(headers)
            assert "none-needed" not in str(headers)


def test_where_calls_go_without_an_address(monkeypatch):
    pytest.importorskip("boto3")
    monkeypatch.setenv("AWS_REGION_NAME", "eu-west-1")
    found = destination(Judge(model="bedrock/x"))
    assert (found.host, found.base_url, found.key) == (
        "bedrock-runtime.eu-west-1.amazonaws.com",
        None,
        None,
    )
    monkeypatch.setenv("AZURE_API_BASE", "https://mine.openai.azure.com")
    found = destination(Judge(model="azure/gpt-4o"), listed_price=listed_price)
    assert (found.host, found.key) == ("mine.openai.azure.com", None)
    assert found.price is not None
    # Anybody can have an address that only looks like it.
    for host in (
        "https://bedrock-runtime.eu-west-1.amazonaws.com.example.org",
        "https://s3.amazonaws.com",
    ):
        with pytest.raises(NotConfirmed):
            destination(Judge(model="bedrock/x", base_url=host))


@pytest.mark.parametrize(
    "base",
    [
        "https://another.openai.azure.com/v1",
        "https://another.cognitiveservices.azure.com/v1",
        "https://another.services.ai.azure.com/v1",
        "https://bedrock-runtime.us-east-1.amazonaws.com",
        "https://asia-east1-aiplatform.googleapis.com",
    ],
)
@pytest.mark.parametrize("model", ["openai/gpt-4o", "azure/gpt-4o"])
def test_a_name_in_a_cloud_is_trusted_only_where_the_environment_names_it(model, base, monkeypatch):
    """Anybody can have a name in Azure's, and a region is the user's choice."""
    monkeypatch.setenv("AZURE_API_BASE", "https://mine.openai.azure.com")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    judge = Judge(model=model, base_url=base, key_env="OPENAI_API_KEY")
    host = base.split("/")[2]
    with pytest.raises(NotConfirmed, match=f"OPENAI_API_KEY holds, would be sent to {host}"):
        destination(judge)
    assert destination(judge, confirmed=(host,)).host == host
    monkeypatch.setenv("AZURE_API_BASE", base)
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")
    monkeypatch.setenv("VERTEXAI_LOCATION", "asia-east1")
    assert destination(judge).host == host


@pytest.mark.parametrize(
    "host", ["mine.openai.azure.com", "bedrock-runtime.us-west-2.amazonaws.com"]
)
def test_nothing_goes_to_a_cloud_unencrypted(host, monkeypatch):
    monkeypatch.setenv("AZURE_API_BASE", f"http://{host}")
    for judge in (Judge(model="azure/x"), Judge(model="openai/x", base_url=f"http://{host}/v1")):
        with pytest.raises(InvalidOption, match=f"unencrypted; write https://{host}"):
            destination(judge, confirmed=(host,))


def test_what_is_missing_is_named(monkeypatch):
    with pytest.raises(InvalidOption, match="AZURE_API_BASE"):
        destination(Judge(model="azure/gpt-4o"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidOption, match="pip install boto3"):
        destination(Judge(model="bedrock/x"))
    with pytest.raises(InvalidOption, match="pip install google-auth"):
        destination(Judge(model="vertex_ai/gemini-pro"))
