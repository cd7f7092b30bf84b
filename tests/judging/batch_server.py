"""A server on loopback with the batches of OpenAI (files and batches) and of Anthropic.

What it is sent is checked as the providers check it. Batches end when `finish` says so.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from judging_server import Server

DAY = 24 * 3600
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class BatchServer(Server):
    """`Server` with batches as well; `/v1` is both providers' address.

    entry : (number of the call in its batch from 1, its body) → `expired`, `invalid`, `overloaded`,
        `temperature`, `unreadable`, or None to answer it.
    lost : submissions, by their number from 1, that are taken but not answered.
    limit : calls in a batch at most.
    """

    def __init__(
        self,
        *,
        entry: Callable[[int, dict[str, Any]], str | None] = lambda n, body: None,
        lost: tuple[int, ...] = (),
        limit: int = 50_000,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.entry, self.lost, self.limit = entry, lost, limit
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.lines: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.submissions = self.looks = 0
        self.refusal: str | None = None
        self.through = 0.0

    @property
    def asked(self) -> int:
        """Calls that were handed in, in all batches."""
        return sum(map(len, self.lines.values()))

    def finish(self, through: float = math.inf) -> None:
        """Batches up to this number end, those to come too."""
        self.through = through

    def app(self) -> web.Application:
        app = super().app()
        add = app.router.add_route
        add("POST", "/v1/files", self._upload)
        add("GET", "/v1/files/{name}/content", self._content)
        for path in ("/v1/batches", "/v1/messages/batches"):
            add("POST", path, self._submit)
            add("GET", path, self._list)
            add("GET", path + "/{name}", self._look)
        add("GET", "/v1/messages/batches/{name}/results", self._results)
        return app

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"].file.read()
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _content(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["name"]])

    async def _submit(self, request: web.Request) -> web.Response:
        self.submissions += 1
        number = self.submissions
        anthropic, asked = "messages" in request.path, await request.json()
        if self.refusal is not None:
            return _refused(400, self.refusal)
        if anthropic:
            assert request.headers["anthropic-version"] == "2023-06-01"
            assert request.headers["x-api-key"]
            calls = [(line["custom_id"], line["params"]) for line in asked["requests"]]
            assert all(body["max_tokens"] for _, body in calls)
        else:
            assert request.headers["Authorization"].startswith("Bearer ")
            assert (asked["endpoint"], asked["completion_window"]) == (
                "/v1/chat/completions",
                "24h",
            )
            lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
            assert {(line["method"], line["url"]) for line in lines} == {
                ("POST", "/v1/chat/completions")
            }
            calls = [(line["custom_id"], line["body"]) for line in lines]
            assert len({body["model"] for _, body in calls}) == 1
        names = {name for name, _ in calls}
        assert len(names) == len(calls)
        assert all(NAME.fullmatch(name) for name in names)
        if len(calls) > self.limit:
            return _refused(400, f"a batch may have {self.limit} requests")
        name = f"msgbatch_{number}" if anthropic else f"batch_{number}"
        self.lines[name] = calls
        now = int(time.time())
        made: dict[str, Any] = {"number": number, "made": now, "anthropic": anthropic}
        self.batches[name] = made | {"metadata": asked.get("metadata")}
        if number in self.lost and request.transport is not None:
            request.transport.abort()
        return web.json_response(self._facts(name))

    def _facts(self, name: str) -> dict[str, Any]:
        """What each provider says of a batch."""
        made, n = self.batches[name], len(self.lines[name])
        done = made["number"] <= self.through
        if made["anthropic"]:
            counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
            counts["succeeded" if done else "processing"] = n
            return {
                "id": name,
                "type": "message_batch",
                "processing_status": "ended" if done else "in_progress",
                "request_counts": counts,
                "created_at": _iso(made["made"]),
                "expires_at": _iso(made["made"] + DAY),
                "ended_at": _iso(made["made"] + 1) if done else None,
                "results_url": "https://elsewhere.invalid/never-followed" if done else None,
            }
        if done and "output_file_id" not in made:
            self._write(name)
        return {
            "id": name,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "status": "completed" if done else "in_progress",
            "created_at": made["made"],
            "expires_at": made["made"] + DAY,
            "metadata": made["metadata"],
            "request_counts": {"total": n, "completed": n if done else 0, "failed": 0},
            "errors": None,
            "output_file_id": made.get("output_file_id"),
            "error_file_id": made.get("error_file_id"),
        }

    def _write(self, name: str) -> None:
        """Results and errors of a batch as OpenAI's two files, in another order than the calls."""
        results, errors = [], []
        for number, (call, body) in enumerate(self.lines[name], start=1):
            line: dict[str, Any] = {"id": f"batch_req_{number}", "custom_id": call, "error": None}
            fault = self.entry(number, body)
            if fault == "expired":
                words = "This request could not be executed before the completion window expired."
                line |= {"response": None, "error": {"code": "batch_expired", "message": words}}
            else:
                status, said = self._said_to(body, fault)
                line["response"] = {"status_code": status, "request_id": "r", "body": said}
            (
                results if line["response"] and line["response"]["status_code"] == 200 else errors
            ).append(line)
        for kind, lines in (("output", results), ("error", errors)):
            if lines:
                file = f"file-{name}-{kind}"
                self.files[file] = "\n".join(map(json.dumps, reversed(lines))).encode() + b"\n"
                self.batches[name][f"{kind}_file_id"] = file

    def _said_to(self, body: dict[str, Any], fault: str | None) -> tuple[int, dict[str, Any]]:
        if fault == "temperature" and "temperature" in body:
            words = "Unsupported value: 'temperature' does not support 1 with this model."
            return 400, {"error": {"message": words, "type": "invalid_request_error"}}
        if fault == "invalid":
            words = "This model's maximum context length is 8192 tokens"
            return 400, {"error": {"message": words, "code": "context_length_exceeded"}}
        if fault == "overloaded":
            return 503, {"error": {"message": "The engine is overloaded", "type": "server_error"}}
        return 200, {"result": "fine"} if fault == "unreadable" else self.completion(body, fault)

    async def _list(self, request: web.Request) -> web.Response:
        """The latest first, two to a page."""
        anthropic = "messages" in request.path
        names = [name for name, made in self.batches.items() if made["anthropic"] == anthropic][
            ::-1
        ]
        after = request.query.get("after_id" if anthropic else "after")
        names = names[names.index(after) + 1 :] if after else names
        page = [self._facts(name) for name in names[:2]]
        return web.json_response({"data": page, "has_more": len(names) > 2})

    async def _look(self, request: web.Request) -> web.Response:
        self.looks += 1
        name = request.match_info["name"]
        if name not in self.batches:
            return _refused(404, f"No batch {name}")
        return web.json_response(self._facts(name))

    async def _results(self, request: web.Request) -> web.Response:
        lines = []
        for number, (call, body) in enumerate(self.lines[request.match_info["name"]], start=1):
            lines.append(
                {"custom_id": call, "result": self._message(body, self.entry(number, body))}
            )
        return web.Response(text="\n".join(map(json.dumps, reversed(lines))))

    def _message(self, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        """A result in Anthropic's words."""
        if fault == "expired":
            return {"type": "expired"}
        system = body.get("system", "")
        system = system if isinstance(system, str) else "".join(part["text"] for part in system)
        asked = [
            {"role": "system", "content": system},
            *(
                {
                    "role": message["role"],
                    "content": "".join(part["text"] for part in message["content"]),
                }
                for message in body["messages"]
            ),
        ]
        status, said = self._said_to({**body, "messages": asked}, fault)
        if status != 200:
            kind = "overloaded_error" if status == 503 else "invalid_request_error"
            error = {"type": kind, "message": said["error"]["message"]}
            return {"type": "errored", "error": {"type": "error", "error": error}}
        if "choices" not in said:
            return {"type": "succeeded", "message": said}
        used, (choice,) = said["usage"], said["choices"]
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": choice["message"]["content"]}],
            "stop_reason": "max_tokens" if choice["finish_reason"] == "length" else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": used["prompt_tokens"],
                "output_tokens": used["completion_tokens"],
            },
        }
        return {"type": "succeeded", "message": message}


def _iso(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


def _refused(status: int, message: str) -> web.Response:
    return web.json_response(
        {"type": "error", "error": {"message": message, "type": "e"}}, status=status
    )
