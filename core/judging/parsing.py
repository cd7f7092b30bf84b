"""Read what a model replied, strictly: one JSON object, or one tagged verdict, or it is not read at all.

The object, or the tag, ends the reply. Words may stand before it, and thoughts in a `<think>` block; the
object has a line of its own, a Markdown fence, or a colon before it: within a sentence it is a quotation.
Nothing is guessed: another key, a value out of range, two verdicts that differ, an object cut short or inside
another, anything after the verdict — and the reply is `unparsed`, kept with its text. A refusal without a
verdict is `refused`. Neither is a vote.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONG_REPLY = 200_000
"""Characters. A longer reply is not read, and this much of it is kept."""
TAG = re.compile(r"\[\[\s*(\w+)\s*\]\]")
LAST_TAG = re.compile(rf"{TAG.pattern}[\s*_.]*\Z")
FENCE = re.compile(r"`{3,}\w*")
THOUGHTS = re.compile(r"<(/?)(?:think|thinking)>")
OBJECT = re.compile(r"\{\s*[\"']")
"""Where an object begins or might; another brace in front of a tag is one of code or a formula."""
REFUSAL = re.compile(
    r"(?:i['’]?m|i am|we are)?\s*(?:very\s+|so\s+)?sorry\b.{0,80}?"
    r"\b(?:can(?:no|['’])t|unable|not able|won['’]t)\b"
    r"|i\s+(?:can(?:no|['’])t|won['’]t|will not|must decline|decline|am unable|am not able|['’]m unable|"
    r"do not feel comfortable)\b"
    r"|i['’]m (?:unable|not able)\b"
    r"|as an ai\b.{0,80}?\b(?:can(?:no|['’])t|unable|not able)\b",
    re.IGNORECASE | re.DOTALL,
)
SLOT_VOTE = {"A": 1, "B": -1, "C": 0}
FLAGS = ("uncertain", "major_error", "unsupported")

Status = Literal["ok", "unparsed", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a reply says.

    slot_vote : +1 the response shown first is better, −1 the second, 0 a tie; None unless a verdict was read.
    reason : the model's words about it; of what could not be read, all of its text.
    ranking : of each candidate the `slot` in which it was shown, from 0, `score`, `rank` and `FLAGS`.
    """

    status: Status
    slot_vote: int | None = None
    confidence: float | None = None
    reason: str = ""
    score: int | None = None
    ranking: tuple[dict[str, Any], ...] = ()
    key: str | None = None


class _Unreadable(Exception):
    """The reply does not have the form that its prompt wants."""


def _need(holds: object) -> None:
    if not holds:
        raise _Unreadable


def _strict(read: Callable[..., Parsed]) -> Callable[..., Parsed]:
    """Let a reader of replies give up: the reply is unparsed then, or refused.

    The reader takes `refused` also: the provider says that the model declined.
    """

    @wraps(read)
    def reader(text: str, *args: Any, refused: bool = False, **options: Any) -> Parsed:
        try:
            return read(text, *args, **options)
        except _Unreadable:
            return _unread(text, refused)

    return reader


@_strict
def verdict(text: str, *, ties: bool, confidence: bool = False) -> Parsed:
    """A verdict A, B or (with `ties`) C, from JSON or else from a tag such as [[A]].

    confidence : JSON must state one, from 0 to 1; a tagged verdict has none.
    """
    letters = _letters(ties)
    letter, found = _choice(text, "verdict", letters, also={"confidence"} if confidence else set())
    stated = _number(found["confidence"], 0, 1) if confidence and "confidence" in found else None
    return Parsed(status="ok", slot_vote=letters[letter], confidence=stated, reason=_reason(found, text))


@_strict
def token(text: str, alternatives: Mapping[str, float] | None, *, ties: bool) -> Parsed:
    """A verdict that is one letter, and its confidence from the probabilities of the first token.

    confidence = Σ p(tokens of the letter) / Σ p(tokens of all letters): the softmax over the option tokens,
    which is its maximum where the model chose the likeliest ([TH] §3; for a letter drawn against the odds its
    own share, ours). None without `alternatives` (token → natural-log probability) or if the letter is not
    among them.
    """
    letters = _letters(ties)
    letter = text.strip().strip(".").upper()
    _need(len(text.strip()) <= 2 and letter in letters)
    share = dict.fromkeys(letters, 0.0)
    for option, logprob in (alternatives or {}).items():
        if option.strip() in share:
            share[option.strip()] += math.exp(min(logprob, 0.0))
    total = sum(share.values())
    return Parsed(
        status="ok",
        slot_vote=letters[letter],
        confidence=share[letter] / total if total > 0 and share[letter] > 0 else None,
        reason=storable(text),
    )


@_strict
def direct_score(text: str) -> Parsed:
    """A whole score from 1 to 10, from JSON or else from a tag such as [[7]]."""
    score, found = _choice(text, "score", range(1, 11))
    return Parsed(status="ok", score=score, reason=_reason(found, text))


@_strict
def ranking(text: str, candidates: int) -> Parsed:
    """Score, rank and flags of every candidate: each label and each rank exactly once."""
    labels = LETTERS[:candidates]
    found, _ = _read(text, {"candidates"})
    if found is None or not isinstance(found["candidates"], list):
        raise _Unreadable
    entries = (_candidate(entry, labels) for entry in found["candidates"])
    ranked = tuple(sorted(entries, key=lambda entry: entry["slot"]))
    _need([entry["slot"] for entry in ranked] == list(range(candidates)))
    _need(sorted(entry["rank"] for entry in ranked) == list(range(1, candidates + 1)))
    return Parsed(status="ok", ranking=ranked, reason=_reason(found, text))


@_strict
def answer_key(text: str) -> Parsed:
    """The text of an answer key."""
    found, _ = _read(text, {"key"})
    if found is None or not _text(found["key"]).strip():
        raise _Unreadable
    return Parsed(status="ok", key=_text(found["key"]), reason=_reason(found, text))


def storable(text: str) -> str:
    """The text with a question mark for each lone half of a surrogate pair: no file can hold those."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _letters(ties: bool) -> dict[str, int]:
    """The letters that are verdicts, with the vote of each."""
    return {letter: vote for letter, vote in SLOT_VOTE.items() if vote or ties}


def _choice(
    text: str, key: str, options: Collection[Any], *, also: Collection[str] = ()
) -> tuple[Any, dict[str, Any]]:
    """The option that the object states under `key`, or that a tag names; and the object, {} for a tag.

    also : keys that the object must have beside it.
    """
    found, tags = _read(text, {key, *also})
    tags = {tag.upper() for tag in tags}
    if found is None:
        named = [option for option in options if {str(option)} == tags]
        _need(named)
        return named[0], {}
    value = found[key]
    # True and 1.0 are equal to 1.
    _need(any(type(value) is type(option) and value == option for option in options))
    _need(not tags - {str(value)})
    return value, found


def _reason(found: Mapping[str, Any], text: str) -> str:
    """The model's words: the reason in its object; where there is no object, all that it wrote."""
    return _text(found.get("reason", "")) if found else storable(text)


def _candidate(entry: Any, labels: str) -> dict[str, Any]:
    _need(isinstance(entry, dict) and set(entry) == {"label", "score", "rank", *FLAGS})
    label, rank = entry["label"], entry["rank"]
    _need(label in list(labels) and type(rank) is int)
    _need(all(isinstance(entry[flag], bool) for flag in FLAGS))
    flags = {flag: int(entry[flag]) for flag in FLAGS}
    return {"slot": labels.index(label), "score": _number(entry["score"], 0, 100), "rank": rank, **flags}


def _unread(text: str, refused: bool) -> Parsed:
    kept = storable(text[:LONG_REPLY])
    try:
        words = _after_thoughts(kept)
    except _Unreadable:
        words = kept
    declined = refused or REFUSAL.match(words.lstrip(" \t\r\n\"'*>")) is not None
    return Parsed(status="refused" if declined else "unparsed", reason=kept)


def _read(text: str, keys: set[str]) -> tuple[dict[str, Any] | None, set[str]]:
    """The JSON object of these keys, and a `reason` or none, that ends the text, None if a tag does; and all
    tags beside the object.

    Raises _Unreadable if neither ends the text, or the object has other keys.
    """
    _need(len(text) <= LONG_REPLY)
    body = text.strip().strip("\ufeff").strip()
    # An object may speak of thoughts in a string; what begins otherwise may begin with thoughts.
    if not body.startswith("{"):
        body = _after_thoughts(body).strip()
    if body.endswith("```") and "```" in body[:-3]:
        body = body[:-3].rstrip()
    last = LAST_TAG.search(body)
    if last is not None:
        body = body[: last.start()].rstrip()
    begun = body.startswith("{") or OBJECT.search(body)
    place = body.find("{") if begun or last is None else -1
    if place < 0:
        if last is None:
            raise _Unreadable
        return None, {*TAG.findall(body), last.group(1)}
    before = body[:place]
    _need(_leads(before))
    found = _object(body, place)
    _need(set(found) - {"reason"} == keys)
    return found, {*TAG.findall(before), *(() if last is None else (last.group(1),))}


def _leads(before: str) -> bool:
    """Whether an answer may follow these words, rather than a quotation or a part of something."""
    line, words = before[before.rfind("\n") + 1 :].strip(" \t*_"), before.rstrip()
    member = words.endswith(":") and words[:-1].rstrip().endswith(('"', "'"))
    if member or words.endswith(("[", ",")):
        return False
    return not line or line.endswith(":") or FENCE.fullmatch(line) is not None


def _after_thoughts(text: str) -> str:
    """What follows the model's thoughts. Some servers cut off the mark that begins them.

    Raises _Unreadable if it is not clear where they end.
    """
    marks = list(THOUGHTS.finditer(text))
    if not marks:
        return text
    closing = [mark for mark in marks if mark.group(1)]
    opening = [mark for mark in marks if not mark.group(1)]
    _need(len(closing) == 1 and len(opening) <= 1)
    begin, end = closing[0].span()
    if opening:
        clear = opening[0].end() <= begin and not text[: opening[0].start()].strip()
    else:
        # A reply may quote the mark; its own begins a line.
        clear = not text[text.rfind("\n", 0, begin) + 1 : begin].strip()
    _need(clear)
    return text[end:]


def _object(text: str, place: int) -> dict[str, Any]:
    """The object that begins at this place and ends the text. Tried once, so that no text takes long."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    try:
        found, end = decoder.raw_decode(text, place)
    except (ValueError, RecursionError):
        raise _Unreadable from None
    if end != len(text) or not isinstance(found, dict):
        raise _Unreadable
    return found


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    _need(len({key for key, _ in pairs}) == len(pairs))
    return dict(pairs)


def _no_constant(name: str) -> float:
    raise _Unreadable


def _number(value: Any, low: float, high: float) -> float:
    _need(type(value) in (int, float) and low <= value <= high)
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unreadable
    return storable(value)
