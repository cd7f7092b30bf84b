"""Read what a model replied: one object that is the whole reply, or last lines `name: word`.

A `Form` says which words may be answered. What stands in neither way is no verdict: nothing is
guessed, in no language, from no phrase. Such a reply is asked about once (`prompts.repair`), and
settled by hand after that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any, Literal, TypeVar, cast

from .rubric import PASS_FAIL, Criterion, Words, values_of_words

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONG_REPLY = 200_000
"""Characters. A longer reply is not read, and this much of it is kept."""
STEPS = {"A>>B": 2, "A>B": 1, "A=B": 0, "B>A": -1, "B>>A": -2}
FLAGS = ("calibrated_uncertainty", "major_error", "unsupported")
LEAST_COVERED = 0.5
"""Probability that tokens of the words must have together, for a confidence."""
NONE = "NONE"
"""The answer to a repair question about a reply that states nothing."""
CLOSED = (
    *("</think>", "</thinking>", "</thought>", "</thoughts>", "</reasoning>", "</analysis>"),
    *("</seed:think>", "◁/think▷", "[/think]", "<|end_of_thought|>"),
    "<|channel|>final<|message|>",
)
"""Marks with which thoughts end, in small letters."""
OPEN = (
    *("<think>", "<thinking>", "<thought>", "<thoughts>", "<reasoning>", "<analysis>"),
    *("<seed:think>", "◁think▷", "[think]", "<|begin_of_thought|>", "<|channel|>analysis"),
)
TOKENS = re.compile(r"<\|[\w ]{1,40}\|>|</?s>|<eos>|<(?:end|start)_of_turn>")
FENCE = re.compile(r"```\w*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
EDGE = "*_`#>\"'“”‘’[]().,:;!—\ufe0f" + "".join(
    chr(code) for code in range(0x3001) if chr(code).isspace()
)
"""What may stand around a word; braces may not, nor what strikes it out."""
TAG = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
LAST_TAG = re.compile(r"^[ \t*_]*\[\[([^\[\]\n]{1,200})\]\][ \t*_.]*\Z", re.MULTILINE)
LONE_BACKSLASH = re.compile(r'\\(?!["\\/bfnrtu])')
TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
LINE = re.compile(
    r"[\s*_`#>\-]*(?:(?:final|overall)\s+)?(?P<name>\w[\w \-]{0,60}?)[\s*_`]{0,4}[:：]"
    r"(?P<value>.*)",
    re.IGNORECASE,
)

REASONS = ("reason", "reasoning", "explanation", "rationale", "justification", "analysis")
BESIDE = (*REASONS, "confidence", "own_answer")
"""Keys that may stand beside the verdict."""
CALLED = {"arguments", "parameters"}

T = TypeVar("T")
Status = Literal["ok", "unparsed", "refused", "cut_off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a reply says.

    slot_vote : +1 the response shown first is better, −1 the second, 0 a tie; None unless a verdict
        was read.
    steps : of a five-level verdict, from +2 for `A>>B` to −2; None if it is stated in fewer.
    reason : the model's words about it; of what could not be read, all of its text.
    criteria : names of criteria with the score of each, beside that of the whole.
    expected : Σ k·p(k) over the levels, by the probabilities of the first token.
    ranking : of each candidate the `slot` in which it was shown, from 0, `score`, `rank` and
        `FLAGS`.
    """

    status: Status
    slot_vote: int | None = None
    steps: int | None = None
    confidence: float | None = None
    reason: str = ""
    score: int | None = None
    criteria: tuple[tuple[str, int], ...] = ()
    ranking: tuple[dict[str, Any], ...] = ()
    key: str | None = None
    expected: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a reply may answer.

    words : a word in capitals → what it means, of the whole.  key : its name, in an object and
        before the colon; "" where only criteria are answered.  options : the words that a repair
        question names.
    criteria : names that are answered too, in an object `scores`, each by one of its words (`of`,
        by name in small letters), else by one of `words`.
    scores : what it means is a score, not a vote.
    tags : a last line may be `[[word]]` too, as prompts of one's own ask for.
    """

    words: Mapping[str, int] = field(hash=False)
    options: tuple[str, ...]
    key: str = "verdict"
    criteria: tuple[str, ...] = ()
    of: Mapping[str, Mapping[str, int]] = field(default_factory=dict, hash=False)
    scores: bool = False
    tags: bool = False
    asked: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        names = {self.key, *map(str.lower, self.criteria)} - {""}
        object.__setattr__(self, "asked", frozenset(names))

    def meaning(self, value: object, name: str = "") -> int | None:
        """What a word of the form means, whatever marks stand around it; None of anything else.

        name : of what is answered, in small letters.
        """
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return self.of.get(name, self.words).get(bare(str(value)))

    def parsed(self, meaning: int | None, **facts: Any) -> Parsed:
        """What a meaning of the whole is: a score, or a vote, of five levels with its steps."""
        if self.scores or meaning is None:
            return Parsed(status="ok", score=meaning, **facts)
        steps = meaning if self.words.keys() <= STEPS.keys() else None
        return Parsed(status="ok", slot_vote=(meaning > 0) - (meaning < 0), steps=steps, **facts)


def bare(words: str) -> str:
    """Words in capitals, without what may stand around them."""
    return " ".join(words.strip(EDGE).upper().split())


PAIR = {"A": 1, "B": -1, "C": 0, "RESPONSE A": 1, "RESPONSE B": -1, "TIE": 0}
VOTES = {
    "pair": PAIR,
    "five": STEPS,
    "any": {**PAIR, **{word: (n > 0) - (n < 0) for word, n in STEPS.items()}},
}
"""Words of verdicts on two responses: letters, five levels as steps, and what prompts of one's own
ask for, letters or levels, in brackets too.
"""


@cache
def votes(kind: Literal["pair", "five", "any"], *, ties: bool) -> Form:
    """A verdict on two responses; a tie only with `ties`."""
    words = {word: vote for word, vote in VOTES[kind].items() if ties or vote}
    first = {vote: word for word, vote in reversed(words.items())}
    options = tuple(word for word in words if word in first.values())
    return Form(words=words, options=options, tags=kind == "any")


@cache
def own(words: tuple[tuple[str, str], ...], *, ties: bool) -> Form:
    """Words of one's own: pairs of `A`, `B` or `tie` and what means it."""
    votes = {"A": 1, "B": -1, "tie": 0}
    meant = {bare(text): votes[name] for name, text in words if ties or name != "tie"}
    return Form(words=meant, options=tuple(text for _, text in words), tags=True)


@cache
def scale(words: Words, criteria: tuple[str, ...] = ()) -> Form:
    """A word of a scale; of pass or fail it is a verdict, else a score."""
    passes = words == PASS_FAIL
    return Form(
        words=_meant(words),
        options=words[::-1] if passes else words,
        key="verdict" if passes else "score",
        criteria=criteria,
        scores=True,
    )


@cache
def rubric(criteria: tuple[Criterion, ...]) -> Form:
    """A word for each criterion."""
    of = {each.name.lower(): _meant(each.words) for each in criteria}
    names = tuple(each.name for each in criteria)
    return Form(words={}, options=(), key="", criteria=names, of=of, scores=True)


def _meant(words: Words) -> dict[str, int]:
    """The words of a scale in capitals; numbers may stand over the best one."""
    values = values_of_words(words)
    meant = {bare(word): value for word, value in values.items()}
    if words[-1].isdigit():
        meant |= {f"{word}/{words[-1]}": value for word, value in values.items()}
    return meant


class _Unreadable(Exception):
    """The reply states nothing that was asked for, or more than one thing."""


def _need(holds: object) -> None:
    if not holds:
        raise _Unreadable


def _given(value: T | None) -> T:
    _need(value is not None)
    return cast(T, value)


def _of_type(kind: type[T], value: object) -> T:
    return _given(value if isinstance(value, kind) else None)


def _meant_by(form: Form, value: object, name: str = "") -> int:
    return _given(form.meaning(value, name))


def _strict(read: Callable[..., Parsed]) -> Callable[..., Parsed]:
    """Let a reader of replies give up: the reply is unparsed then, refused, or cut off.

    The reader takes `refused` also: the provider says that the model declined; `cut_off`: that it
    came to its limit of tokens. A reply that was cut off counts only if it is one complete JSON
    object.
    """

    @wraps(read)
    def reader(
        text: str, *args: Any, refused: bool = False, cut_off: bool = False, **options: Any
    ) -> Parsed:
        try:
            _need(len(text) <= LONG_REPLY)
            _need(not cut_off or _object(text) is not None)
            return read(text, *args, **options)
        except _Unreadable:
            status: Status = "cut_off" if cut_off else "refused" if refused else "unparsed"
            return Parsed(status=status, reason=storable(text[:LONG_REPLY]))

    return reader


@dataclass(frozen=True, slots=True)
class _Said:
    """What a reply answers, by name in small letters; the object that says so, if one does."""

    by_name: Mapping[str, int]
    confidence: object
    reason: str
    found: Mapping[str, Any] = field(default_factory=dict)


def _said(text: str, form: Form, shown: Sequence[str]) -> _Said:
    """Raises _Unreadable."""
    if (found := _object(text, shown)) is not None:
        return _from_object(found, form)
    answer = _given(answer_of(text, shown))
    if not form.criteria and (meaning := form.meaning(answer)) is not None:
        return _Said({form.key: meaning}, None, storable(text))
    if form.tags and (last := LAST_TAG.search(answer)) is not None:
        meant = {_meant_by(form, tag) for tag in TAG.findall(answer)}
        _need(len(meant) == 1 and not form.criteria)
        return _Said({form.key: _meant_by(form, last[1])}, None, storable(text))
    return _from_lines(answer, form, text)


def _from_object(found: Mapping[str, Any], form: Form) -> _Said:
    if found.keys() == {"name"} | (found.keys() & CALLED) and len(found) == 2:
        # A call of a tool that is written as text.
        given = next(value for name, value in found.items() if name in CALLED)
        found = {name.lower(): value for name, value in _of_type(dict, given).items()}
    inner = found.get("scores") if form.key in ("score", "") else None
    scores = _scores(inner) if isinstance(inner, dict) else {}
    said = {name: _meant_by(form, {**found, **scores}.get(name), name) for name in form.asked}
    # Another key with another of the words: which of the two holds is not ours to say.
    others = {
        name: value
        for name, value in found.items()
        if name not in form.asked and name not in BESIDE and isinstance(value, str)
    }
    stated = {form.meaning(value) for value in others.values()}
    _need(stated <= {None, said[form.key]} if form.key else not others)
    # Nor what a further text behind the verdict says of it.
    names = list(found)
    last = max((names.index(name) for name in form.asked & found.keys()), default=0)
    _need(not others.keys() & {*names[last:]})
    given = (found[name] for name in REASONS if isinstance(found.get(name), str))
    return _Said(said, found.get("confidence"), storable(next(given, "")), found)


def _scores(given: Mapping[str, Any]) -> dict[str, Any]:
    """Scores of criteria by name in small letters, each a word or an object with a `score`."""
    return {
        name.lower(): value.get("score") if isinstance(value, dict) else value
        for name, value in given.items()
    }


def _from_lines(answer: str, form: Form, text: str) -> _Said:
    """The last lines, each a name and a word, every name once; no line before says otherwise."""
    lines = [line for line in answer.splitlines() if re.search(r"\w", line)]
    said: dict[str, int] = {}
    sure: object = None
    while lines and (match := LINE.fullmatch(lines[-1])) is not None:
        name, value = match["name"].lower(), match["value"]
        if name == "confidence" and sure is None and _share(value.strip(" *_`")) is not None:
            sure = value.strip(" *_`")
        elif name in form.asked - said.keys() and (
            (meaning := form.meaning(value, name)) is not None
        ):
            said[name] = meaning
        else:
            break
        lines.pop()
    _need(said.keys() == form.asked)
    for each in filter(None, map(LINE.fullmatch, lines)):
        for name, meaning in said.items():
            if each["name"].lower().endswith(name):
                _need(form.meaning(each["value"], name) in (None, meaning))
    return _Said(said, sure, storable(text))


@_strict
def verdict(
    text: str, form: Form, *, confidence: bool = False, shown: Sequence[str] = ()
) -> Parsed:
    """What a reply answers of a form; of scores also those of single criteria, in an object
    `scores` of any names where the form has none.

    confidence : one may be stated, from 0 to 1; another is none, and the verdict counts without.
    shown : texts that the judge was shown. Where one holds a mark of thoughts, none is looked for.
    """
    said = _said(text, form, shown)
    names, scores = form.criteria, said.by_name
    inner = said.found.get("scores") if form.scores else None
    if isinstance(inner, dict):
        names = form.criteria or tuple(inner)
        _need({name.lower() for name in names} == {name.lower() for name in inner})
        scores = {name: _meant_by(form, value, name) for name, value in _scores(inner).items()}
    _need(all(map(str.strip, names)))
    return form.parsed(
        said.by_name.get(form.key),
        confidence=_share(said.confidence) if confidence else None,
        criteria=tuple((storable(name.strip()), scores[name.lower()]) for name in names),
        reason=said.reason,
    )


@_strict
def repaired(text: str, form: Form) -> Parsed:
    """The answer to a repair question: one of the words, or NONE for a reply that gives no
    verdict.
    """
    answer = _given(answer_of(text))
    if bare(answer) == NONE:
        return Parsed(status="refused", reason=storable(text))
    return form.parsed(_meant_by(form, answer), reason=storable(text))


@_strict
def token(text: str, alternatives: Mapping[str, float] | None, form: Form) -> Parsed:
    """A verdict that is one token, and its confidence from the probabilities of the first token.

    confidence = Σ p(tokens that begin only its word) / Σ p(tokens that begin one of the words): the
    softmax over the option tokens, which is its maximum where the model chose the likeliest ([TH]
    §3; for a word drawn against the odds its own share, ours). None without `alternatives` (token →
    natural-log probability), where they hold less than half of the probability, or not the word.
    """
    word = _given(_begun(text.strip().strip(".").upper(), form.options))
    share = dict.fromkeys(form.options, 0.0)
    for option, logprob in (alternatives or {}).items():
        begun = option.strip()
        # A small letter may begin any word.
        of = _begun(begun.upper() if len(begun) > 1 else begun, form.options)
        if of is not None:
            share[of] += math.exp(min(logprob, 0.0))
    total = sum(share.values())
    sure = share[word] / total if total >= LEAST_COVERED and share[word] > 0 else None
    mean = sum(form.words[bare(each)] * p for each, p in share.items()) / (total or 1)
    expected = None if sure is None or form.key != "score" else mean
    meaning = form.words[bare(word)]
    return form.parsed(meaning, confidence=sure, expected=expected, reason=storable(text))


def _begun(start: str, options: Sequence[str]) -> str | None:
    """The only one of the words that begins so."""
    begun = [word for word in options if start and word.upper().startswith(start)]
    return begun[0] if len(begun) == 1 else None


@_strict
def ranking(text: str, candidates: int, *, shown: Sequence[str] = ()) -> Parsed:
    """Score, rank and flags of every candidate: each label and each rank exactly once."""
    labels = LETTERS[:candidates]
    entries = _given(_object(text, shown)).get("candidates")
    ranked = [_candidate(each, labels) for each in _of_type(list, entries)]
    ranked.sort(key=lambda entry: entry["slot"])
    _need([entry["slot"] for entry in ranked] == list(range(candidates)))
    _need(sorted(entry["rank"] for entry in ranked) == list(range(1, candidates + 1)))
    return Parsed(status="ok", ranking=tuple(ranked))


@_strict
def answer_key(text: str) -> Parsed:
    """The text of an answer key."""
    key = _of_type(str, _given(_object(text)).get("key"))
    _need(key.strip())
    return Parsed(status="ok", key=storable(key))


def _candidate(entry: Any, labels: str) -> dict[str, Any]:
    fields = {name.lower(): value for name, value in _of_type(dict, entry).items()}
    _need({"label", "score", "rank", *FLAGS} <= set(fields))
    label = bare(str(fields["label"])).removeprefix("CANDIDATE ").removeprefix("RESPONSE ")
    rank, score = fields["rank"], fields["score"]
    _need(len(label) == 1 and label in labels and type(rank) is int)
    _need(type(score) in (int, float) and 0 <= score <= 100)
    _need(all(isinstance(fields[flag], bool) for flag in FLAGS))
    flags = {flag: int(fields[flag]) for flag in FLAGS}
    return {"slot": labels.index(label), "score": float(score), "rank": rank, **flags}


def answer_of(text: str, shown: Sequence[str] = ()) -> str | None:
    """What stands behind the thoughts, without end tokens; None where they do not end, or where a
    mark of thoughts may be a quotation of a judged text.
    """
    body = text.strip().strip("\ufeff").strip()
    small = body.lower()
    if len(small) != len(body):
        # A few letters are longer in small: places would differ.
        small = body
    ends = [small.rfind(mark) + len(mark) for mark in CLOSED if mark in small]
    if ends and any(mark in each.lower() for each in shown for mark in CLOSED):
        return None
    end = max(ends, default=0)
    if not ends and small.startswith(OPEN):
        return None
    return TOKENS.sub("", body[end:]).strip()


def _object(text: str, shown: Sequence[str] = ()) -> dict[str, Any] | None:
    """The object that is the whole reply, or all of what stands behind its thoughts, or of a fence
    that is; its keys in small letters. None if it is anything else.
    """
    whole = text.strip().strip("\ufeff").strip()
    for body in dict.fromkeys((whole, answer_of(text, shown))):
        if body is None:
            continue
        fenced = FENCE.fullmatch(body)
        inside = (fenced[1] if fenced else body).strip()
        if not (inside.startswith("{") and inside.endswith("}")):
            continue
        for mended in (inside, TRAILING_COMMA.sub("", LONE_BACKSLASH.sub(r"\\\\", inside))):
            try:
                found = json.loads(mended, strict=False, object_pairs_hook=_unique)
            except (ValueError, RecursionError):
                continue
            return {name.lower(): value for name, value in found.items()}
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name.lower() for name, _ in pairs}) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def _share(value: object) -> float | None:
    """A probability; a number without a percent sign is never rescaled."""
    if isinstance(value, str):
        try:
            number = float(value.strip().rstrip("%"))
        except ValueError:
            return None
        value = number / 100 if value.strip().endswith("%") else number
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def storable(text: str) -> str:
    """The text with a question mark for each lone half of a surrogate pair: no file can hold
    those.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message in OpenAI's chat format: content as a text or as parts, then the
    arguments of its tool calls. Parts of thinking are no text.

    >>> text_of({"content": None, "function_call": {"name": "f", "arguments": '{"verdict": "A"}'}})
    '{"verdict": "A"}'
    """
    content = message.get("content") or ""
    if not isinstance(content, str):
        parts = [part for part in content if isinstance(part, Mapping) and not part.get("thought")]
        spoken = [part for part in parts if part.get("type", "text") in ("text", "output_text")]
        content = "".join(p["text"] for p in spoken if isinstance(p.get("text"), str))
    called = [call.get("function") for call in message.get("tool_calls") or ()]
    given = [
        call.get("arguments", call.get("parameters"))
        for call in (*called, message.get("function_call"))
        if isinstance(call, Mapping)
    ]
    calls = [each if isinstance(each, str) else json.dumps(each) for each in given if each]
    return "\n".join(filter(None, [content, *calls]))
