"""What of a reply is the model's own answer: without end tokens, channels, thoughts and quotations.

A verdict that a response under judgement names, and the reply repeats, is not the judge's. A reply
says that it quotes by marks, by a line of quotation, by code, or by words ("Response A says …");
and what stands in a response together with the words around it is a quotation without any of these.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from .forms import CONDITION, CRITERION, GOES_ON, LOWER, NEGATED, OWN, POSSIBLE, REPORTED, WORSE

END_TOKENS = re.compile(
    r"<\|(?:im_end|im_start|eot_id|end|endoftext|end_of_text|return|eom_id|END_OF_TURN_TOKEN|assistant|"
    r"user)\|>|</?s>|<(?:end|start)_of_turn>|\[/?INST\]|<\uff5cend\u2581of\u2581sentence\uff5c>"
)
FINAL_CHANNEL = re.compile(
    r"<\|channel\|>\s*final\b[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>|(?<=\S)assistantfinal(?=\S)"
)
CHANNEL = re.compile(r"<\|channel\|>|\Aanalysis(?=[A-Z])")
THOUGHTS = re.compile(
    r"</?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|seed:think)>|◁/?think▷|\[/?THINK\]"
    r"|<\|(?:begin|end)_of_thought\|>",
    re.IGNORECASE,
)
STRUCK = "\0"
"""Stands for each character of a quotation."""
LONGEST_QUOTATION = 600
MARKS = re.compile(
    rf"(?<![\w\"])\"(?=\S)([^\"\n]{{1,{LONGEST_QUOTATION}}}?)\"(?!\w)"
    rf"|“([^”\n]{{1,{LONGEST_QUOTATION}}})”|„([^“”\n]{{1,{LONGEST_QUOTATION}}})[“”]"
    rf"|«([^»\n]{{1,{LONGEST_QUOTATION}}})»|「([^」\n]{{1,{LONGEST_QUOTATION}}})」"
    rf"|(?<!`)`([^`\n]{{1,{LONGEST_QUOTATION}}})`(?!`)"
    rf"|(?<!\w)'(?=\S)([^'\n]{{1,{LONGEST_QUOTATION}}}?)'(?!\w)"
)
BLOCK = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
STRUCK_OUT = re.compile(r"~~[^~\n]{1,200}~~")
QUOTED_LINE = re.compile(r"^[ \t]*>[^\n]*$", re.MULTILINE)
SHORT_BLOCK = 24
"""Characters of a block of code that may hold nothing but a verdict."""
SENTENCE = re.compile(r"[.!?。！？](?=[\s*_\"'”)]|\Z)|[。！？]|\n[ \t]*\n")
LEAD = 200
"""Characters before a statement that are looked at."""
CONTEXT = 6
"""Letters around a statement that stand in a response too, from which on it is a quotation."""


def storable(text: str) -> str:
    """The text with a question mark for each lone half of a surrogate pair: no file can
    hold those.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def unwrapped(text: str) -> str:
    """The reply, where all of it is a JSON string its content."""
    if not text.lstrip().startswith('"{'):
        return text
    try:
        inside = json.loads(text.strip(), strict=False)
    except (ValueError, RecursionError):
        return text
    return inside if isinstance(inside, str) else text


def answer_of(text: str, quoted: Sequence[str] = ()) -> str | None:
    """The reply without end tokens, channels and thoughts; None if it is not clear where thoughts
    end.

    quoted : texts that the model was shown. One that holds a mark of thoughts makes a lone mark
        unclear.
    """
    body = text.strip().strip("\ufeff").strip()
    if CHANNEL.search(body):
        final = list(FINAL_CHANNEL.finditer(body))
        if not final:
            return None
        body = body[final[-1].end() :]
    # An object may speak of thoughts in a string; what begins otherwise may begin with thoughts.
    if not body.startswith("{"):
        unthought = _after_thoughts(body, quoted)
        if unthought is None:
            return None
        body = unthought
    # At the end only, repeatedly: one within the text may be quoted.
    while (last := _last_token(body)) is not None:
        body = body[:last].rstrip()
    return unicodedata.normalize("NFC", body).strip().strip("\ufeff").strip()


def _last_token(text: str) -> int | None:
    """Where an end token that ends the text begins."""
    tail = max(0, len(text) - 40)
    return next(
        (m.start() + tail for m in END_TOKENS.finditer(text[tail:]) if m.end() + tail == len(text)),
        None,
    )


def _after_thoughts(text: str, quoted: Sequence[str]) -> str | None:
    marks = [(mark.start(), mark.end(), _opens(mark)) for mark in THOUGHTS.finditer(text)]
    if not marks:
        return text
    if not marks[0][2] and any(THOUGHTS.search(other) for other in quoted):
        # The server cut off the first mark, or the model speaks of a response that has one.
        begin = marks[0][0]
        if text[text.rfind("\n", 0, begin) + 1 : begin].strip():
            return None
    kept, at, depth = [], 0, 0
    for begin, end, opens in marks:
        if opens:
            if depth == 0:
                kept.append(text[at:begin])
            depth += 1
        elif depth == 0:
            # Some servers cut off the mark that begins the thoughts: all before it is one.
            kept = []
        else:
            depth -= 1
        at = end
    return None if depth else "\n".join([*kept, text[at:]])


def _opens(mark: re.Match[str]) -> bool:
    said = mark.group().lower()
    return "/" not in said and "end_" not in said


def without_quotations(text: str) -> str:
    """The text of the same length with `STRUCK` for quotation lines, blocks of code and what stands
    in marks.

    A block or a mark that holds little more than a letter stays: judges write their own verdict so
    too.
    """

    def strike(found: re.Match[str]) -> str:
        return STRUCK * len(found.group())

    def block(found: re.Match[str]) -> str:
        inside = found.group(2).strip()
        if len(inside) <= SHORT_BLOCK:
            return found.group().replace("`", " ").replace("~", " ")
        return strike(found)

    def mark(found: re.Match[str]) -> str:
        inside = next(filter(None, found.groups()))
        line = text_now[text_now.rfind("\n", 0, found.start()) + 1 : found.start()]
        after = text_now[found.end() : found.end() + 60].partition("\n")[0]
        alone = not line.strip(" \t*_#>-") and not after.strip(" \t*_.")
        if len(inside) <= 2 or alone or OWN.search(line[-40:]):
            return f" {found.group()[1:-1]} "
        return strike(found)

    text_now = STRUCK_OUT.sub(strike, QUOTED_LINE.sub(strike, BLOCK.sub(block, text)))
    return MARKS.sub(mark, text_now)


class Quotations:
    """Tells whether what stands at a place of the answer is the model's own statement.

    shown : the texts that the model was shown.
    """

    def __init__(self, answer: str, shown: Sequence[str]) -> None:
        self.answer = answer
        self._shown = shown

    @cached_property
    def _plain(self) -> list[str]:
        return [_plain(text) for text in self._shown]

    def reported(self, begin: int, end: int) -> bool:
        """Whether a statement is another's, of one criterion, or denied."""
        lead, trail = self._around(begin, end)
        spoken = REPORTED.search(f"{lead} {trail}") or NEGATED.search(lead) or WORSE.search(lead)
        if spoken is not None or CRITERION.search(lead) is not None:
            return True
        return self.repeated(begin, end)

    def unsure(self, begin: int, end: int) -> bool:
        """Whether a statement is made under a condition or as a possibility."""
        lead, trail = self._around(begin, end)
        behind = self.answer[end : end + LEAD]
        if GOES_ON.match(behind) is not None or LOWER.match(behind) is not None:
            return True
        return any(map(CONDITION.search, (lead, trail))) or POSSIBLE.search(lead) is not None

    def _around(self, begin: int, end: int) -> tuple[str, str]:
        """The sentence before and after a place; a colon goes on over a line."""
        before = self.answer[max(0, begin - LEAD) : begin]
        trimmed = before.rstrip(" \t\n*_#`>")
        if trimmed.endswith((":", "：")):
            before = trimmed
        cut = [mark.end() for mark in SENTENCE.finditer(before)]
        after = self.answer[end : end + LEAD].partition("\n")[0]
        stop = SENTENCE.search(after)
        lead = before[cut[-1] :] if cut else before
        return lead.rstrip(" \t\n*_#`"), after[: stop.start()] if stop else after

    def repeated(self, begin: int, end: int) -> bool:
        """Whether a place stands in a text that was shown, with the words around it."""
        said = _plain(self.answer[begin:end])
        left = _plain(self.answer[max(0, begin - 80) : begin])
        right = _plain(self.answer[end : end + 80])
        if not said or self._last_line_of_its_own(begin, end):
            return False
        for text in self._plain:
            at = text.find(said)
            for _ in range(50):
                if at < 0:
                    break
                before, after = (
                    text[max(0, at - 80) : at],
                    text[at + len(said) : at + len(said) + 80],
                )
                if _common(left[::-1], before[::-1]) + _common(right, after) >= CONTEXT:
                    return True
                at = text.find(said, at + 1)
        return False

    def _last_line_of_its_own(self, begin: int, end: int) -> bool:
        near = self.answer[max(0, begin - 2 * LEAD) : begin]
        lines = [line for line in near.split("\n") if line.strip(" \t*_#`{}")]
        own = not self.answer[self.answer.rfind("\n", 0, begin) + 1 : begin].strip(" \t*_#")
        led = (
            bool(lines)
            and lines[-1].rstrip(" *_").endswith((":", "："))
            and bool(REPORTED.search(lines[-1]))
        )
        return own and not self.answer[end : end + LEAD].strip(" \t\n*_.`}") and not led


def _plain(text: str) -> str:
    """Letters, digits and brackets of a text, in lower case: what is left when it is set
    differently.
    """
    return "".join(re.findall(r"[\w\[\]{}:]+", unicodedata.normalize("NFKC", text).lower()))


def _common(first: str, second: str) -> int:
    """Letters that both begin with."""
    different = (
        at for at, (mine, theirs) in enumerate(zip(first, second, strict=False)) if mine != theirs
    )
    return next(different, min(len(first), len(second)))
