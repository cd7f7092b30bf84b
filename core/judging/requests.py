"""One request to a model: what makes it the same request, the messages it sends, how its reply is read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from core.judging import parsing
from core.judging.items import Item
from core.judging.job import Judge
from core.judging.parsing import LETTERS, Parsed
from core.judging.prompts import Prompt, messages
from core.store.reply_rows import Reply, Task
from core.votes import POSITIONS

TOP_LOGPROBS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to one model about one item.

    voter : who the reply is stored as.  order : slot → place of the response in the item.
    material : what stored judgements it reads, each a heading and a text.  answer_key : for a keyed verdict.
    key : sha256 of model, server, voter, prompt hash, item, order, run, parameters and material; two requests
        with one key are the same request.
    """

    task: Task
    judge: Judge
    voter: str
    item: Item
    order: tuple[int, ...]
    run: int
    prompt: Prompt
    temperature: float
    ties: bool = True
    confidence: str = "none"
    material: tuple[tuple[str, str], ...] = ()
    answer_key: str | None = None
    key: str = field(init=False)

    def __post_init__(self) -> None:
        parts = [
            self.task,
            self.judge.model,
            self.judge.base_url,
            self.judge.max_tokens,
            self.voter,
            self.item.digest,
            self.order,
            self.run,
            self.prompt.hash,
            self.temperature,
            self.ties,
            # Agreement of repeated votes is counted afterwards; the request is the same without it.
            "none" if self.confidence == "multi" else self.confidence,
            self.material,
            self.answer_key,
        ]
        object.__setattr__(self, "key", hashlib.sha256(json.dumps(parts).encode()).hexdigest())

    @property
    def position(self) -> str:
        """`ab` or `ba` of a pair, "" of anything else."""
        return POSITIONS[self.order[0]] if len(self.order) == 2 and self.task in ("vote", "note") else ""

    def messages(self, fence: str) -> list[dict[str, str]]:
        """Chat messages, judged texts fenced."""
        shown = [self.item.responses[place] for place in self.order]
        texts: dict[str, Any] = {"prompt": self.item.prompt}
        words = {"count": str(len(shown)), "labels": ", ".join(LETTERS[: len(shown)])}
        if self.task == "rank":
            texts["candidates"] = [(f"Candidate {LETTERS[k]}:", text) for k, text in enumerate(shown)]
        elif self.prompt.name != "key":
            texts |= dict(zip(("first", "second"), shown, strict=False))
        if self.material:
            texts["samples"] = self.material
        if self.answer_key is not None:
            texts["key"] = self.answer_key
        return messages(self.prompt, texts, words, fence)

    def parameters(self) -> dict[str, Any]:
        """What the call takes beside model and messages."""
        given: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.judge.max_tokens}
        if self.confidence == "logprob":
            given |= {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return given

    def read(self, text: str, *, refused: bool, alternatives: dict[str, float] | None) -> Parsed:
        """What a reply to this request says."""
        if self.task == "score":
            return parsing.direct_score(text, refused=refused)
        if self.task == "rank":
            return parsing.ranking(text, len(self.order), refused=refused)
        if self.prompt.name == "key":
            return parsing.answer_key(text, refused=refused)
        if self.confidence == "logprob":
            return parsing.token(text, alternatives, ties=self.ties, refused=refused)
        stated = self.confidence == "self"
        return parsing.verdict(text, ties=self.ties, confidence=stated, refused=refused)

    def reply(self, parsed: Parsed, raw: str, **facts: Any) -> Reply:
        """The ledger's row; a slot verdict becomes a canonical one."""
        vote = parsed.slot_vote
        if vote is not None and self.position == "ba":
            vote = -vote
        return Reply(
            **self.identity(),
            status=parsed.status,
            vote=vote,
            confidence=parsed.confidence,
            confidence_kind=self.confidence if parsed.confidence is not None else None,
            rationale=parsed.reason or None,
            body=self._body(parsed),
            raw=raw,
            **facts,
        )

    def failure(self, message: str, **facts: Any) -> Reply:
        """The ledger's row for a request that got no answer; it is asked again next time."""
        return Reply(**self.identity(), status="error", rationale=message, raw=message, **facts)

    def identity(self) -> dict[str, Any]:
        """What the ledger knows of a request before it is answered."""
        if self.task == "score":
            candidate = self.item.models[self.order[0]]
        else:
            candidate = json.dumps(self.item.models) if self.task in ("vote", "note") else ""
        return {
            "key": self.key,
            "task": self.task,
            "judge": self.voter,
            "model": self.judge.model,
            "item_id": self.item.item_id,
            "candidate": candidate,
            "position": self.position,
            "run": self.run,
            "prompt_hash": self.prompt.hash,
            "temperature": self.temperature,
        }

    def _body(self, parsed: Parsed) -> str | None:
        if parsed.score is not None:
            return json.dumps({"score": parsed.score})
        if parsed.key is not None:
            return json.dumps({"key": parsed.key})
        if parsed.ranking:
            return json.dumps(
                [
                    {
                        "candidate": self.item.models[self.order[entry.slot]],
                        "slot": entry.slot,
                        "score": entry.score,
                        "rank": entry.rank,
                        **{flag: getattr(entry, flag) for flag in parsing.FLAGS},
                    }
                    for entry in parsed.ranking
                ]
            )
        return None
