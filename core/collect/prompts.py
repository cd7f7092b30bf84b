"""One request to a model: its prompt out of a file, judged texts fenced as data, its key, and its
reply.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import InvalidOption, UnreadableFile
from ..schema import POSITIONS
from ..store.ledger import Reply, Task
from . import reading
from .items import Item, digest_of
from .job import Job, Judge
from .reading import LETTERS, Form, Parsed, answer_of
from .rubric import PASS_FAIL, Criterion, Words, scale_of
from .schemas import schema_of

FOLDER = Path(__file__).resolve().parent / "prompts"
REPAIR = "repair"
"""Name of the prompt that asks what a reply says that could not be read."""
NAMES = (
    *("pairwise", "levels", "score", "pass", "rubric", "listwise"),
    *("usc", "gsa", "fuser", "key", "keyed"),
)
OWN = "own"
"""Name of a prompt of one's own."""
REPAIR_TOKENS = 1_000
"""Longest answer to a question about a reply: one word, and the thoughts of a model that thinks."""
SEPARATOR = "\n--- user\n"
PLACE = re.compile(r"\{\{(\w+)\}\}")
CONDITION = re.compile(r"\?(!?)(\w+)(?: |\Z)")
OWN_PLACES = {"prompt", "response", "first", "second", "candidates", "samples", "key"}
OWN_PLACES |= {"examples", "columns", "fence", "count", "labels", "criteria", "verdict_words"}
OWN_PLACES |= {"scale", "questions"}
"""Places of prompts that no column of a file fills."""
TOP_LOGPROBS = 20
FIVE, TEN = scale_of("1..5"), scale_of("1..10")
THOUGHTS = "<think>\n{}\n</think>\n\n"
"""How a model's reasoning is kept in front of its reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt before anything is filled in.

    examples : what the place of that name holds; like judged texts it is put in as it is.
    hash : sha256 of its text, with the conditions decided, and of the examples: the `prompt_hash`
        of votes.
    """

    name: str
    system: str
    user: str
    hash: str
    examples: str = ""

    @property
    def title(self) -> str:
        """What messages call it."""
        return "your prompt" if self.name == OWN else f"the prompt {self.name}.md"

    @property
    def places(self) -> set[str]:
        """What stands in double braces."""
        return {*PLACE.findall(self.system), *PLACE.findall(self.user)}


def load(
    name: str,
    *,
    flags: Iterable[str] = (),
    examples: str = "",
    folder: Path | None = None,
    own: str | None = None,
) -> Prompt:
    """Read a prompt and decide its conditional lines.

    own : the text of a prompt of one's own, instead of the file; it may be the user's part alone.

    Raises UnreadableFile : the file is missing, no UTF-8, or lacks the line `--- user`.
    """
    if own is None:
        title = f"the prompt {name}.md"
        decided = _decide(read_text((folder or FOLDER) / f"{name}.md", title), frozenset(flags))
        system, separator, user = decided.partition(SEPARATOR)
        if not separator:
            raise UnreadableFile(f"{title} needs a line '--- user' between its two parts")
    else:
        name, decided = OWN, _decide(own, frozenset(flags))
        system, _, user = decided.rpartition(SEPARATOR)
    digest = hashlib.sha256(f"{decided}\0{examples}".encode()).hexdigest()
    return Prompt(
        name=name, system=system.strip(), user=user.strip(), hash=digest, examples=examples
    )


@cache
def _repair_prompt() -> Prompt:
    return load(REPAIR)


def read_text(path: Path, title: str) -> str:
    """The text of a file in UTF-8. title : what messages call it. Raises UnreadableFile."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{title} cannot be read ({error})") from error


def _decide(text: str, flags: frozenset[str]) -> str:
    lines = []
    for line in text.splitlines():
        condition = CONDITION.match(line)
        if condition is None:
            lines.append(line)
        elif (condition.group(2) in flags) != (condition.group(1) == "!"):
            lines.append(line[condition.end() :])
    return "\n".join(lines)


def new_fence() -> str:
    """A number that no text written before can contain on purpose."""
    return secrets.token_hex(8)


def messages(
    prompt: Prompt,
    texts: Mapping[str, str | Sequence[tuple[str, str]]],
    words: Mapping[str, str],
    fence: str,
    *,
    about: str = "this item",
) -> list[dict[str, str]]:
    """Fill a prompt: chat messages, system first.

    texts : place → what to fence, one text or several, each with its heading.
    words : place → our own words, put in as they are.  fence : number of the fence; if a text has
        it inside,
    another is drawn.  about : what is asked about, for errors.
    """
    passages = {
        place: [("", text)] if isinstance(text, str) else text for place, text in texts.items()
    }
    shown = [prompt.examples, *(body for each in passages.values() for _, body in each)]
    while any(fence in text for text in shown):
        fence = new_fence()
    filled = {**words, "examples": prompt.examples, "fence": fence}
    for place, each in passages.items():
        parts = [part for heading, body in each for part in (heading, fenced(body, fence)) if part]
        filled[place] = "\n\n".join(parts)

    def fill(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in filled:
            allowed = ", ".join(f"{{{{{place}}}}}" for place in sorted(filled))
            raise InvalidOption(
                f"{prompt.title} has the place {{{{{name}}}}}, which nothing fills for {about}: "
                "it may have "
                f"{allowed}, and every further column of the items that has a text in each row"
            )
        return filled[name]

    # One pass each: a place that a judged text names is not filled.
    system = (
        [{"role": "system", "content": PLACE.sub(fill, prompt.system)}] if prompt.system else []
    )
    return [*system, {"role": "user", "content": PLACE.sub(fill, prompt.user)}]


def fenced(text: str, fence: str) -> str:
    """The text between two marks that it cannot write itself."""
    return f"<data-{fence}>\n{text}\n</data-{fence}>"


def _question(criterion: Criterion) -> str:
    """A criterion in a line of a prompt."""
    asks = f" {criterion.question}" if criterion.question else ""
    return f"- {criterion.name}:{asks} ({', '.join(criterion.words)})"


def _quoted(word: str) -> str:
    return word if word.lstrip("-").isdigit() else f'"{word}"'


def closing(job: Job) -> str:
    """What is put behind a prompt of one's own for single answers: how to answer."""
    if job.rubric:
        lines = (f"`{each.name}: {' | '.join(each.words)}`" for each in job.criteria_asked)
        return "\n".join(["End with these lines, each with one of its words:", *lines])
    words = job.levels[::-1] if job.levels == PASS_FAIL else job.levels
    if job.confidence == "logprob":
        return f"Answer with one word: {_either(words)}."
    if job.levels == PASS_FAIL:
        return "End with one line: `Verdict: PASS` or `Verdict: FAIL`."
    return f"End with one line: `Score: ` and one of {', '.join(words)}."


def _either(words: Words) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to one model about one item: what makes it the same request, and how its reply is
    kept.

    voter : who the reply is stored as.  order : slot → place of the response in the item.
    material : what stored judgements it reads, each a heading and a text.  answer_key : for a keyed
        verdict.
    five : of verdicts.  scale : the words of a score.  rubric : criteria, each with a scale.
    show : further columns of the item that stand in the prompt.
    criteria : what a reply scores besides the whole.
    verdict_words : what means A, B and tie, if not these letters.
    repairs : key of the request whose reply this one asks about, with the task `about`.
    key : sha256 of model, server, voter, prompt hash, item, order, run, parameters and material,
        not of the longest reply; two requests with one key are the same request.
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
    five: bool = False
    show: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    verdict_words: tuple[tuple[str, str], ...] = ()
    repairs: str = ""
    about: Task = "vote"
    scale: Words = ()
    rubric: tuple[Criterion, ...] = ()
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self._key())

    def _key(self) -> str:
        parts: list[Any] = [
            self.task,
            self.judge.model,
            self.judge.same_server or self.judge.base_url,
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
        if self._further:
            parts.append(self._further)
        if self.judge.parameters:
            parts.append(sorted(self.judge.parameters))
        if self.verdict_words:
            parts.append(["own verdicts", None, sorted(self.verdict_words)])
        if self.criteria:
            parts.append(["criteria", *self.criteria])
        # How many levels the project's own prompt asks for is in its hash.
        if self.scale not in ((), PASS_FAIL, FIVE, TEN) or (self.scale and self._own_scale):
            parts.append(["scale", *self.scale])
        if self.rubric:
            parts.append(["rubric", *([c.name, c.question, *c.words] for c in self.rubric)])
        if self.repairs:
            parts.append([REPAIR, self.about, *self.form.options])
        return digest_of(parts)

    @property
    def _own_scale(self) -> bool:
        """Whether a prompt of one's own is read by another scale than pass or fail."""
        return self.prompt.name == OWN and self.scale != PASS_FAIL

    @property
    def position(self) -> str:
        """`ab` or `ba` of a pair, "" of anything else."""
        return (
            POSITIONS[self.order[0]]
            if len(self.order) == 2 and self.task in ("vote", "note")
            else ""
        )

    @property
    def _further(self) -> list[tuple[str, str]]:
        """Further columns of the item that the prompt shows."""
        if not self.item.more:
            return []
        places = self.prompt.places - OWN_PLACES
        return [
            (name, text) for name, text in self.item.more if name in places or name in self.show
        ]

    @property
    def shown(self) -> tuple[str, ...]:
        """The judged texts that the model reads."""
        return self.item.prompt, *self.item.responses, *(text for _, text in self._further)

    def messages(self, fence: str) -> list[dict[str, str]]:
        """Chat messages, judged texts fenced."""
        shown = [self.item.responses[place] for place in self.order]
        texts: dict[str, Any] = {"prompt": self.item.prompt}
        number = "a whole number"
        if self.scale not in (FIVE, TEN):
            number = f"one of {', '.join(self.scale)}"
        answers = [(name, number) for name in self.criteria]
        answers += [(each.name, " or ".join(map(_quoted, each.words))) for each in self.rubric]
        scores = ", ".join(f'"{name}": {answer}' for name, answer in answers)
        comma = "" if self.rubric else ", "
        words = {
            "count": str(len(shown)),
            "labels": ", ".join(LETTERS[: len(shown)]),
            "criteria": f'"scores": {{{scores}}}{comma}' if scores else "",
            "questions": "\n".join(map(_question, self.rubric)),
            "scale": ", ".join(self.scale),
            "verdict_words": ", ".join(self.form.options),
        }
        if self.task == "rank":
            texts["candidates"] = [
                (f"Candidate {LETTERS[k]}:", text) for k, text in enumerate(shown)
            ]
        elif self.prompt.name != "key":
            texts |= dict(zip(("first", "second"), shown, strict=False))
            texts |= {"response": shown[0]} if self.task == "score" else {}
        texts |= dict(self._further)
        if self.show:
            texts["columns"] = [
                (f"{name.capitalize()}:", dict(self.item.more)[name]) for name in self.show
            ]
        if self.material:
            texts["samples"] = self.material
        if self.answer_key is not None:
            texts["key"] = self.answer_key
        return messages(self.prompt, texts, words, fence, about=f"item {self.item.item_id!r}")

    @property
    def schema(self) -> str | None:
        """The `response_format` that a reply is kept to where its server can, as JSON; none for
        prompts and verdicts of one's own. It is no part of the key: what is asked is the same.
        """
        if self.prompt.name == OWN or self.verdict_words or self.confidence == "logprob":
            return None
        return schema_of(
            self.task,
            self.prompt.user,
            ties=self.ties,
            candidates=len(self.order),
            levels=self.scale,
            criteria=tuple((each, self.scale) for each in self.criteria)
            or tuple((each.name, each.words) for each in self.rubric),
        )

    def parameters(self) -> dict[str, Any]:
        """What the call takes beside model and messages."""
        given: dict[str, Any] = {
            "temperature": self.temperature,
            "max_tokens": self.judge.max_tokens,
        }
        if self.schema is not None:
            given["response_format"] = json.loads(self.schema)
        given |= self.judge.extra
        if given.get("response_format", "") is None:
            del given["response_format"]
        if self.repairs:
            given["max_tokens"] = min(given["max_tokens"], REPAIR_TOKENS)
        if self.confidence == "logprob":
            given |= {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return given

    def read(
        self,
        text: str,
        *,
        refused: bool,
        alternatives: dict[str, float] | None,
        cut_off: bool = False,
    ) -> Parsed:
        """What a reply to this request says; cut_off : its server ended it at the limit of
        tokens.
        """
        end: dict[str, Any] = {"refused": refused, "cut_off": cut_off}
        if self.confidence == "logprob" and self.task in ("vote", "score"):
            # One token is all that was asked for.
            return reading.token(text, alternatives, self.form, refused=refused)
        if self.prompt.name == "key":
            return reading.answer_key(text, **end)
        if self.repairs:
            return reading.repaired(text, self.form, **end)
        end["shown"] = self.shown
        if self.task == "rank":
            return reading.ranking(text, len(self.order), **end)
        return reading.verdict(text, self.form, confidence=self.confidence == "self", **end)

    @property
    def form(self) -> Form:
        """What a reply may answer."""
        if self.rubric:
            return reading.rubric(self.rubric)
        if "score" in (self.task, self.repairs and self.about):
            return reading.scale(self.scale, self.criteria)
        if self.verdict_words:
            return reading.own(self.verdict_words, ties=self.ties)
        if self.prompt.name == OWN:
            return reading.votes("any", ties=self.ties)
        return reading.votes("five" if self.five else "pair", ties=self.ties)

    def repair(self, raw: str) -> Request | None:
        """The question to the same model what its reply says, without the judged texts, so that
        nothing in them can act; None where the reply is empty or more than one word was asked for.
        """
        asked = self.task in ("vote", "score") or self.prompt.name == "keyed"
        said = answer_of(raw) or ""
        several = self.criteria or self.rubric
        if not asked or self.repairs or several or self.confidence == "logprob" or not said:
            return None
        # What is asked about depends on nothing but the reply and its form.
        return replace(
            self,
            task="note",
            voter=f"repair({self.voter})",
            prompt=_repair_prompt(),
            temperature=0.0,
            confidence="none",
            material=(("", said),),
            answer_key=None,
            show=(),
            repairs=self.key,
            about="score" if self.task == "score" else "vote",
        )

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
        """The ledger's row for a request that got no answer; the next run sends it again."""
        return Reply(**self.identity(), status="error", rationale=message, raw=message, **facts)

    @property
    def candidate(self) -> str:
        """The model whose response is scored; both models of a vote, as JSON; "" for a ranking."""
        if self.task == "score":
            return self.item.models[self.order[0]]
        return json.dumps(self.item.models) if self.task in ("vote", "note") else ""

    def identity(self) -> dict[str, Any]:
        """What the ledger knows of a request before it is answered."""
        return {
            "key": self.key,
            "task": self.task,
            "judge": self.voter,
            "model": self.judge.model,
            "item_id": self.item.item_id,
            "candidate": self.candidate,
            "position": self.position,
            "run": self.run,
            "prompt_hash": self.prompt.hash,
            "temperature": self.temperature,
        }

    def _body(self, parsed: Parsed) -> str | None:
        if parsed.ranking:
            models = [self.item.models[place] for place in self.order]
            return json.dumps(
                [{"candidate": models[entry["slot"]], **entry} for entry in parsed.ranking]
            )
        steps = parsed.steps if self.five else None
        strength = -steps if steps is not None and self.position == "ba" else steps
        facts = {
            "score": parsed.score,
            "scores": dict(parsed.criteria) or None,
            "key": parsed.key,
            "strength": strength,
            "expected": parsed.expected,
        }
        given = {name: value for name, value in facts.items() if value is not None}
        return json.dumps(given) if given else None
