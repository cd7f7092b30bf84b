"""Read what a model replied: lenient in form, strict in content, and nothing on a guess.

A verdict is taken when exactly one is stated in a form of `forms`, in the model's own words: not in
its thoughts, not in a quotation, not of a criterion or of another judge, not under a condition, not
taken back behind it. In doubt the reply is `unparsed`, kept with its text, and settled by hand or
asked for again. A refusal without a verdict is `refused`. Neither is a vote.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Literal

from . import loose_json
from .forms import (
    ALIKE,
    CORRECTED,
    CRITERION_KEYS,
    KEY_OF_VERDICT,
    NAME,
    ONLY_OTHER,
    REMARK_KEYS,
    TAG,
    VERDICT,
    Form,
    declined,
    score_form,
    step,
    whole_score,
)
from .loose_json import Found, Pairs
from .own_verdicts import OwnVerdicts
from .own_words import (
    BLOCK,
    LEAD,
    SENTENCE,
    STRUCK,
    Quotations,
    answer_of,
    storable,
    unwrapped,
    without_quotations,
)

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONG_REPLY = 200_000
"""Characters. A longer reply is not read, and this much of it is kept."""
MOST_STATEMENTS, MOST_OBJECTS = 200, 50
"""Statements of verdicts, and objects, in one reply; one that has more is not read."""
OBJECT = re.compile(
    r"\{\s*(?:[\"“„]|'\w|//|/\*|(?:reason|verdict|winner|choice|score|confidence|candidates|explanation|label)\s*:)"
)
"""Where an object begins or might; another brace is one of code or a formula."""
WRAPPERS = (
    *("result", "output", "answer", "response", "evaluation", "judgement", "judgment", "final"),
    *("decision", "arguments", "parameters"),
)
"""Keys under which some models put the whole object."""
REASONS = (
    *(
        "reason",
        "reasoning",
        "explanation",
        "rationale",
        "justification",
        "analysis",
        "thoughts",
        "critique",
    ),
    *("begründung", "razón", "raison", "理由"),
)
SLOT_VOTE = {"A": 1, "B": -1, "C": 0}
FLAGS = ("calibrated_uncertainty", "major_error", "unsupported")
MOST_BEHIND = 2_000
"""Characters behind the last statement that are looked at for one that takes it back."""
EDGE_MARKS = " \t*_\"'`“”()[]>#→-"
PICTURES = re.compile(r"[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]")
"""Emoji, which say nothing."""
OTHER = {1: "B", -1: "A"}

Status = Literal["ok", "unparsed", "refused", "cut_off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a reply says.

    slot_vote : +1 the response shown first is better, −1 the second, 0 a tie; None unless a verdict
        was read.
    steps : of a five-level verdict, from +2 for `A>>B` to −2; None if it is stated in fewer.
    reason : the model's words about it; of what could not be read, all of its text.
    criteria : names of criteria with the score of each, beside that of the whole.
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


class _Unreadable(Exception):
    """The reply states nothing that was asked for, or more than one thing."""


def _need(holds: object) -> None:
    if not holds:
        raise _Unreadable


def _answer(text: str, shown: Sequence[str] = ()) -> str:
    """What of a reply is the model's own answer. Raises _Unreadable if that is not clear."""
    answer = answer_of(text, shown)
    if answer is None:
        raise _Unreadable
    return answer


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
            _need(not cut_off or _is_whole(text))
            return read(text, *args, **options)
        except _Unreadable:
            kept = storable(text[:LONG_REPLY])
            if cut_off:
                return Parsed(status="cut_off", reason=kept)
            words = answer_of(kept)
            no = refused or declined(kept if words is None else words)
            return Parsed(status="refused" if no else "unparsed", reason=kept)

    return reader


@_strict
def verdict(
    text: str, *, ties: bool, confidence: bool = False, shown: Sequence[str] = ()
) -> Parsed:
    """A verdict A, B or (with `ties`) C.

    confidence : JSON should state one, from 0 to 1; another is none, and the verdict counts
        without.
    shown : texts that the judge was shown; what a reply repeats of them is a quotation.
    """
    stated = _Stated(text, VERDICT, shown)
    vote = stated.value()
    _need(vote != 0 or ties)
    sure = _confidence(stated.entry("confidence")) if confidence else None
    return Parsed(
        status="ok", slot_vote=vote, steps=stated.steps(), confidence=sure, reason=stated.reason()
    )


@_strict
def own_verdict(text: str, own: OwnVerdicts, *, ties: bool, shown: Sequence[str] = ()) -> Parsed:
    """A verdict as a pattern or words of one's own state it: one, wherever the judge says it
    itself.
    """
    answer = _answer(text, shown)
    quotations, votes, sure = Quotations(answer, shown), set(), None
    try:
        for count, (vote, confidence, place) in enumerate(own.stated(answer)):
            _need(count < MOST_STATEMENTS)
            if not quotations.reported(*place):
                votes.add(vote)
                sure = confidence
    except TimeoutError:
        raise _Unreadable from None
    _need(len(votes) == 1)
    (vote,) = votes
    _need(vote is not None and (vote != 0 or ties))
    return Parsed(
        status="ok", slot_vote=vote, confidence=_confidence(sure), reason=storable(answer)
    )


@_strict
def token(text: str, alternatives: Mapping[str, float] | None, *, ties: bool) -> Parsed:
    """A verdict that is one letter, and its confidence from the probabilities of the first token.

    confidence = Σ p(tokens of the letter) / Σ p(tokens of all letters): the softmax over the option
    tokens, which is its maximum where the model chose the likeliest ([TH] §3; for a letter drawn
    against the odds its own share, ours). None without `alternatives` (token → natural-log
    probability) or if the letter is not among them.
    """
    letters = {letter: vote for letter, vote in SLOT_VOTE.items() if vote or ties}
    letter = text.strip().strip(".").upper()
    _need(len(text.strip()) <= 2 and letter in letters)
    share = dict.fromkeys(letters, 0.0)
    for option, logprob in (alternatives or {}).items():
        if option.strip() in share:
            share[option.strip()] += math.exp(min(logprob, 0.0))
    total = sum(share.values())
    sure = share[letter] / total if total > 0 and share[letter] > 0 else None
    return Parsed(status="ok", slot_vote=letters[letter], confidence=sure, reason=storable(text))


@_strict
def direct_score(
    text: str,
    *,
    low: int = 1,
    high: int = 10,
    criteria: Collection[str] = (),
    shown: Sequence[str] = (),
) -> Parsed:
    """A whole score from `low` to `high`; those of single criteria under the key `scores`.

    criteria : those that were asked for: all of them are stated, and no other.
    """
    stated = _Stated(text, score_form(low, high), shown)
    scores = _criteria(stated.entry("scores"), low, high)
    _need(not criteria or {name for name, _ in scores} == set(criteria))
    return Parsed(status="ok", score=stated.value(), criteria=scores, reason=stated.reason())


@_strict
def ranking(text: str, candidates: int, *, shown: Sequence[str] = ()) -> Parsed:
    """Score, rank and flags of every candidate: each label and each rank exactly once."""
    labels = LETTERS[:candidates]
    answer = _answer(text, shown)
    objects, broken = loose_json.find(answer, OBJECT, most=MOST_OBJECTS)
    _need(broken == len(answer))
    lists = [value for each in objects for value in each.values("candidates")] or [
        [each.pairs for each in objects]
    ]
    _need(len(lists) == 1 and isinstance(lists[0], list))
    entries = (_candidate(entry, labels) for entry in lists[0])
    ranked = tuple(sorted(entries, key=lambda entry: entry["slot"]))
    _need([entry["slot"] for entry in ranked] == list(range(candidates)))
    _need(sorted(entry["rank"] for entry in ranked) == list(range(1, candidates + 1)))
    return Parsed(status="ok", ranking=ranked, reason=_reason(objects) or "")


@_strict
def answer_key(text: str) -> Parsed:
    """The text of an answer key."""
    objects, _ = loose_json.find(_answer(text), OBJECT, most=MOST_OBJECTS)
    keys = {
        value
        for each in objects
        for value in each.values("key")
        if isinstance(value, str) and value.strip()
    }
    _need(len(keys) == 1)
    return Parsed(status="ok", key=storable(keys.pop()), reason=_reason(objects) or "")


class _Stated:
    """What a reply states in one form, with the objects that it holds.

    Raises _Unreadable if it is not clear what of the reply is the answer.
    """

    def __init__(self, text: str, form: Form, shown: Sequence[str]) -> None:
        self.text, self.form, self.answer = text, form, _answer(unwrapped(text), shown)
        self.quotations = Quotations(self.answer, shown)
        found, broken = loose_json.find(self.answer, OBJECT, most=MOST_OBJECTS)
        self.objects = [each for each in found if not self._is_quoted(each)]
        masked = self.answer[:broken] + STRUCK * (len(self.answer) - broken)
        for each in found:
            begin, end = each.span
            masked = masked[:begin] + STRUCK * (end - begin) + masked[end:]
        # Most replies are an object and nothing beside it, which no form has to be looked for in.
        beside = masked.strip(f"{STRUCK} \t\n")
        self.rest = PICTURES.sub(" ", without_quotations(masked)) if beside else ""

    def value(self) -> int:
        """The one thing that is stated. Raises _Unreadable if nothing is, two things that differ,
        or one of which something around it makes it doubtful.
        """
        firm: dict[int, int] = {}
        for value, place in self._in_objects:
            firm[value] = max(firm.get(value, 0), place)
        for words, begin, end in (*self._inline, *self._outer):
            read = self.form.read(words)
            if read is not None and not self.quotations.reported(begin, end):
                _need(not self.quotations.unsure(begin, end))
                _need(not self._assessed_alike(words, begin, end))
                firm[read] = max(firm.get(read, 0), end)
        _need(len(firm) == 1)
        ((value, end),) = firm.items()
        _need(not self._taken_back(value, end))
        may_be = (
            self.form.read(found["v"])
            for pattern in self.form.loose
            for found in pattern.finditer(self.rest)
            if not self.quotations.reported(*found.span())
        )
        _need(all(other in (None, value) for other in may_be))
        _need(all(self.form.read(line) in (None, value) for _, line in self._lines_alone))
        return value

    def _assessed_alike(self, words: str, begin: int, end: int) -> bool:
        """Whether a letter has a mark behind it and the other one too, in the same line or the
        next.
        """
        other = OTHER.get(self.form.read(words) or 0)
        behind = self.rest[end : end + 2 * LEAD].lstrip(EDGE_MARKS)
        if self.form is not VERDICT or other is None or not behind or behind[0] in "\n\0":
            return False
        near = "\n".join([line for line in behind.split("\n") if line.strip()][:2])
        alike = ALIKE.format(name=f"(?i:{NAME})", other=other)
        return re.search(alike, near) is not None

    def _taken_back(self, value: int, end: int) -> bool:
        """Whether what stands behind a statement takes it back, or names the other in its place."""
        behind = self.rest[end : end + MOST_BEHIND]
        if CORRECTED.search(behind) is not None:
            return True
        others = [letter for vote, letter in OTHER.items() if vote == value] or list("AB")
        return self.form is VERDICT and any(
            re.search(ONLY_OTHER.format(other=other), behind, re.IGNORECASE) for other in others
        )

    def steps(self) -> int | None:
        """How far apart a five-level verdict puts the two."""
        texts = [
            value for each in self.objects for key in self.form.keys for value in each.values(key)
        ]
        texts += [words for words, *_ in self._inline]
        levels = {step(text) for text in texts if isinstance(text, str)} - {None}
        return levels.pop() if len(levels) == 1 else None

    def entry(self, key: str) -> Any:
        """The value under a key of the objects, if there is exactly one."""
        values = [value for each in self.objects for value in each.values(key)]
        return values[0] if values and all(value == values[0] for value in values) else None

    def reason(self) -> str:
        """The model's words: the reason in its object; where there is no object, all that
        it wrote.
        """
        if not self._in_objects:
            return storable(self.text)
        return _reason(self.objects) or ""

    @cached_property
    def _in_objects(self) -> list[tuple[int, int]]:
        """What the objects state, with the ends of their places."""
        return [(value, each.span[1]) for each in self.objects for value in self._of_object(each)]

    @cached_property
    def _inline(self) -> list[tuple[str, int, int]]:
        """Statements in the text, with their places."""
        stated: list[tuple[str, int, int]] = []
        for pattern in self.form.inline:
            for match in pattern.finditer(self.rest):
                _need(len(stated) < MOST_STATEMENTS)
                words = next(
                    given
                    for name in ("v", "w")
                    if (given := match.groupdict().get(name)) is not None
                )
                # A letter that is none of those asked for may be the verdict that was meant.
                _need(pattern is not TAG or len(words) > 1 or self.form.read(words) is not None)
                blank = len(match.group()) - len(match.group().lstrip())
                stated.append((words, match.start() + blank, match.end()))
        return stated

    @cached_property
    def _outer(self) -> list[tuple[str, int, int]]:
        """Statements that count on the first and the last line only, or as the last sentence."""
        lines = [(at, line) for at, line in _lines(self.rest) if line.strip(f"{STRUCK} \t`[],;")]
        if not lines or STRUCK in lines[-1][1]:
            return []
        told = re.search(r"[.!?:。：！？\0]", self.rest[: lines[-1][0]]) is not None
        if len(lines) > 1 and not told and self.form.alone.fullmatch(lines[-1][1]):
            # Nothing is said before it: a letter of a list.
            return []
        outer = lines[-1:] if STRUCK in lines[0][1] or len(lines) == 1 else [lines[0], lines[-1]]
        stated = [
            (found["v"], at + found.start("v"), at + found.end("v"))
            for at, line in outer
            for pattern in (self.form.alone, *self.form.last)
            for found in pattern.finditer(line)
            if pattern is not self.form.alone or not found.start()
        ]
        at, line = lines[-1]
        cut = [mark.end() for mark in SENTENCE.finditer(line.rstrip(" *_.!。"))]
        begin = cut[-1] if cut else 0
        begin += len(line[begin:]) - len(line[begin:].lstrip(EDGE_MARKS))
        for pattern in self.form.sentence:
            if found := pattern.match(line[begin:].rstrip()):
                place = at + begin
                stated.append((found["v"], place + found.start("v"), place + found.end()))
        return stated

    @property
    def _lines_alone(self) -> Iterator[tuple[int, str]]:
        """Lines that hold nothing but what may be a verdict."""
        return ((at, line) for at, line in _lines(self.rest) if self.form.alone.fullmatch(line))

    def _of_object(self, object_: Found) -> Iterator[int]:
        """What an object states; a mended one may not say anything else anywhere."""
        pairs, read = object_, self.form.read
        _need(not self._doubtful(object_.pairs))
        _need(not any(object_.values(key) for key in CRITERION_KEYS))
        remarks = (str(value) for key in REMARK_KEYS for value in object_.values(key))
        _need(not any(map(CORRECTED.search, remarks)))
        values = [value for key in self.form.keys for value in pairs.values(key)]
        if not values and not object_.mended:
            inner = [
                value
                for key in WRAPPERS
                for value in object_.values(key)
                if isinstance(value, Pairs)
            ]
            inner = (
                inner
                or [v for _, v in object_.pairs if isinstance(v, Pairs)][: len(object_.pairs) == 1]
            )
            pairs = Found(
                pairs=tuple(pair for each in inner for pair in each),
                mended=object_.mended,
                span=object_.span,
            )
            values = [value for key in self.form.keys for value in pairs.values(key)]
        for value in values:
            stated = read(str(value)) if type(value) in (str, int, float) else None
            _need(stated is not None or value not in pairs.values(self.form.keys[0]))
            if stated is None:
                continue
            _need(not object_.mended or self._agrees(object_, stated))
            yield stated

    def _doubtful(self, pairs: Sequence[tuple[str, Any]]) -> bool:
        """Whether the keys of an object state two verdicts; those of objects within it decide
        nothing.
        """
        stated = {
            value
            for key, given in pairs
            if KEY_OF_VERDICT.search(key) or key.strip().lower() in self.form.keys
            if isinstance(given, str) and (value := self.form.read(given)) is not None
        }
        return self.form is VERDICT and len(stated) > 1

    def _agrees(self, object_: Found, stated: int) -> bool:
        """Whether all mentions of the keys from a mended object on, but for quotations, say the
        same.
        """
        keys = "|".join(map(re.escape, self.form.keys))
        mention = re.compile(
            rf"\b(?:{keys})[\"'”]?\s*:\s*[\"'“]?([^\"'”,}}\n]{{1,40}})", re.IGNORECASE
        )
        mentions = mention.finditer(self.answer, object_.span[0])
        others = (each for each in mentions if self.form.read(each[1]) != stated)
        return all(self.quotations.repeated(*each.span()) for each in others)

    def _is_quoted(self, object_: Found) -> bool:
        """Whether an object is a quotation, or a part of something."""
        begin, end = object_.span
        before, after = self.answer[:begin], self.answer[end:]
        line, words = before[before.rfind("\n") + 1 :], before.rstrip()
        if line.lstrip().startswith(">") or (
            line.endswith(("`", '"', "“", "'")) and not line.endswith("```")
        ):
            return True
        if words.endswith(":") and words[:-1].rstrip().endswith(('"', "'")):
            return True
        if words.endswith(("[", ",")) and "]" not in after:
            return True
        for block in BLOCK.finditer(self.answer):
            if block.start() < begin < block.end():
                inside = block.group(2).lstrip(" \t\n[/*#")
                if not inside.startswith(("{", "json")):
                    return True
                begin, end = block.span()
        return self.quotations.reported(begin, end)


def _is_whole(text: str) -> bool:
    """Whether the reply is one valid JSON object."""
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(answer_of(text) or ""), dict)
    return False


def _confidence(value: Any) -> float | None:
    """A probability; a number without a percent sign is never rescaled."""
    if isinstance(value, str):
        try:
            number = float(value.strip().rstrip("%"))
        except ValueError:
            return None
        value = number / 100 if value.strip().endswith("%") else number
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None


def _reason(objects: Sequence[Found]) -> str | None:
    reasons = (value for each in objects for key in REASONS for value in each.values(key))
    text = next((value for value in reasons if isinstance(value, str)), None)
    return None if text is None else storable(text)


def _criteria(value: Any, low: int, high: int) -> tuple[tuple[str, int], ...]:
    """Scores of single criteria: an object of names and scores, or of names and objects with a
    `score`. Raises _Unreadable if it holds anything else, or a name twice.
    """
    if value is None:
        return ()
    _need(isinstance(value, Pairs))
    found: dict[str, int] = {}
    for name, given in value:
        inner = dict(given).get("score") if isinstance(given, Pairs) else given
        score = whole_score(str(inner), low, high) if type(inner) in (str, int, float) else None
        if score is None or not name.strip() or name in found:
            raise _Unreadable
        found[storable(name.strip())] = score
    return tuple(found.items())


def _candidate(entry: Any, labels: str) -> dict[str, Any]:
    _need(isinstance(entry, Sequence) and not isinstance(entry, str))
    fields = loose_json.as_dict([pair for pair in entry if isinstance(pair, tuple)])
    if fields is None:
        raise _Unreadable
    _need({"label", "score", "rank", *FLAGS} <= set(fields))
    label = (
        str(fields["label"])
        .strip(" .[]*")
        .upper()
        .removeprefix("CANDIDATE ")
        .removeprefix("RESPONSE ")
    )
    rank, score = fields["rank"], fields["score"]
    _need(len(label) == 1 and label in labels and type(rank) is int)
    _need(type(score) in (int, float) and 0 <= score <= 100)
    _need(all(isinstance(fields[flag], bool) for flag in FLAGS))
    flags = {flag: int(fields[flag]) for flag in FLAGS}
    return {"slot": labels.index(label), "score": float(score), "rank": rank, **flags}


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their places."""
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1
