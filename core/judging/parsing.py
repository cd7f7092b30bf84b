"""Read what a model replied, strictly: one JSON object, or one tagged verdict, or it is not read at all.

Nothing is guessed: another key, a value out of range, two verdicts that differ, an object cut short — and the
reply is `unparsed`, kept with its text. A refusal without a verdict is `refused`. Neither is a vote.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TAG = re.compile(r"\[\[\s*(\w+)\s*\]\]")
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
class Ranked:
    """One candidate of a listwise reply: `slot` in which it was shown, from 0; flags 0 or 1."""

    slot: int
    score: float
    rank: int
    uncertain: int
    major_error: int
    unsupported: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a reply says.

    slot_vote : +1 the response shown first is better, −1 the second, 0 a tie; None unless a verdict was read.
    reason : the model's words about it; of what could not be read, all of its text.
    """

    status: Status
    slot_vote: int | None = None
    confidence: float | None = None
    reason: str = ""
    score: int | None = None
    ranking: tuple[Ranked, ...] = ()
    key: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


class _Unreadable(Exception):
    """The reply does not have the form that was asked for."""


def verdict(text: str, *, ties: bool, confidence: bool = False, refused: bool = False) -> Parsed:
    """A verdict A, B or (with `ties`) C, from JSON or else from a tag such as [[A]].

    confidence : JSON must state one, from 0 to 1; a tagged verdict has none.
    refused : the provider says that the model declined.
    """
    allowed = "ABC" if ties else "AB"
    keys = {"verdict", "confidence"} if confidence else {"verdict"}
    try:
        tags = {tag.upper() for tag in TAG.findall(_outside_objects(text))}
        found = _object(text, required=keys, optional={"reason"})
        if found is None:
            letter = _single(tags, allowed)
            return Parsed(status="ok", slot_vote=SLOT_VOTE[letter], reason=text)
        letter = found["verdict"]
        if not isinstance(letter, str) or letter not in allowed or len(letter) != 1:
            raise _Unreadable
        if tags - {letter}:
            raise _Unreadable
        stated = _number(found["confidence"], 0, 1) if confidence else None
        return Parsed(
            status="ok", slot_vote=SLOT_VOTE[letter], confidence=stated, reason=_text(found.get("reason", ""))
        )
    except _Unreadable:
        return _unread(text, refused)


def token(
    text: str, alternatives: Mapping[str, float] | None, *, ties: bool, refused: bool = False
) -> Parsed:
    """A verdict that is one letter, and its confidence from the probabilities of the first token.

    confidence = Σ p(tokens of the letter) / Σ p(tokens of all letters): the softmax over the option tokens,
    which is its maximum where the model chose the likeliest ([TH] §3; for a letter drawn against the odds its
    own share, ours). None without `alternatives` (token → natural-log probability) or if the letter is not
    among them.
    """
    allowed = "ABC" if ties else "AB"
    letter = text.strip().strip(".").upper() if len(text.strip()) <= 2 else ""
    if letter not in allowed or len(letter) != 1:
        return _unread(text, refused)
    share = dict.fromkeys(allowed, 0.0)
    for option, logprob in (alternatives or {}).items():
        if option.strip() in share:
            share[option.strip()] += math.exp(min(logprob, 0.0))
    total = sum(share.values())
    known = total > 0 and share[letter] > 0
    return Parsed(
        status="ok",
        slot_vote=SLOT_VOTE[letter],
        confidence=share[letter] / total if known else None,
        reason=text,
    )


def direct_score(text: str, *, refused: bool = False) -> Parsed:
    """A whole score from 1 to 10, from JSON or else from a tag such as [[7]]."""
    try:
        tags = set(TAG.findall(_outside_objects(text)))
        found = _object(text, required={"score"}, optional={"reason"})
        if found is None:
            score = int(_single(tags, tuple(str(k) for k in range(1, 11))))
            return Parsed(status="ok", score=score, reason=text)
        score = found["score"]
        if (
            isinstance(score, bool)
            or not isinstance(score, int)
            or not 1 <= score <= 10
            or tags - {str(score)}
        ):
            raise _Unreadable
        return Parsed(status="ok", score=score, reason=_text(found.get("reason", "")))
    except _Unreadable:
        return _unread(text, refused)


def ranking(text: str, candidates: int, *, refused: bool = False) -> Parsed:
    """Score, rank and flags of every candidate: each label and each rank exactly once."""
    labels = LETTERS[:candidates]
    try:
        found = _object(text, required={"candidates"}, optional={"reason"})
        if found is None or not isinstance(found["candidates"], list):
            raise _Unreadable
        ranked = tuple(
            sorted((_candidate(entry, labels) for entry in found["candidates"]), key=lambda r: r.slot)
        )
        if [entry.slot for entry in ranked] != list(range(candidates)):
            raise _Unreadable
        if sorted(entry.rank for entry in ranked) != list(range(1, candidates + 1)):
            raise _Unreadable
        return Parsed(status="ok", ranking=ranked, reason=_text(found.get("reason", "")))
    except _Unreadable:
        return _unread(text, refused)


def answer_key(text: str, *, refused: bool = False) -> Parsed:
    """The text of an answer key."""
    try:
        found = _object(text, required={"key"}, optional={"reason"})
        if found is None or not _text(found["key"]).strip():
            raise _Unreadable
        return Parsed(status="ok", key=found["key"], reason=_text(found.get("reason", "")))
    except _Unreadable:
        return _unread(text, refused)


def _candidate(entry: Any, labels: str) -> Ranked:
    if not isinstance(entry, dict) or set(entry) != {"label", "score", "rank", *FLAGS}:
        raise _Unreadable
    label, rank = entry["label"], entry["rank"]
    if not isinstance(label, str) or len(label) != 1 or label not in labels:
        raise _Unreadable
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise _Unreadable
    if not all(isinstance(entry[flag], bool) for flag in FLAGS):
        raise _Unreadable
    return Ranked(
        slot=labels.index(label),
        score=_number(entry["score"], 0, 100),
        rank=rank,
        **{flag: int(entry[flag]) for flag in FLAGS},
    )


def _unread(text: str, refused: bool) -> Parsed:
    declined = refused or REFUSAL.match(text.lstrip(" \t\r\n\"'*>")) is not None
    return Parsed(status="refused" if declined else "unparsed", reason=text)


def _object(text: str, *, required: set[str], optional: set[str]) -> dict[str, Any] | None:
    """The one JSON object of the text; None if there is no object at all."""
    found = _objects(text)
    if not found:
        # An object cut short may quote a tag that is not its verdict.
        if text.lstrip("` \t\r\njson").startswith("{"):
            raise _Unreadable
        return None
    if len(found) > 1:
        raise _Unreadable
    keys = set(found[0])
    if not required <= keys or keys - required - optional:
        raise _Unreadable
    return found[0]


def _objects(text: str) -> list[dict[str, Any]]:
    return [value for value, _, _ in _spans(text)]


def _spans(text: str) -> list[tuple[dict[str, Any], int, int]]:
    """Top-level JSON objects with where they begin and end."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    found, place = [], text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            found.append((value, place, end))
        place = text.find("{", end)
    return found


def _outside_objects(text: str) -> str:
    """The text without its JSON objects: a reason may quote a tag."""
    for _, begin, end in reversed(_spans(text)):
        text = text[:begin] + text[end:]
    return text


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _Unreadable
    return dict(pairs)


def _no_constant(name: str) -> float:
    raise _Unreadable


def _number(value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise _Unreadable
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unreadable
    return value


def _single(tags: set[str], allowed: Sequence[str]) -> str:
    if len(tags) != 1 or not tags <= set(allowed):
        raise _Unreadable
    return next(iter(tags))
