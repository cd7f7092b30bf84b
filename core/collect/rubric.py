"""Scales and rubrics: the words that answer a question, and what each of them counts."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ..errors import InvalidOption, UnreadableFile
from ..labels import GRADES, grade_word
from ..reading.words import UNGRADED
from ..schema import ONE_METRIC

RANGE = re.compile(r"\s*(-?\d{1,3})\s*\.\.\s*(-?\d{1,3})\s*")
NAME = re.compile(r"\w[\w -]{0,58}\w|\w")
PASS_FAIL = ("FAIL", "PASS")
"""The words of pass or fail, from worst to best."""
MOST_LEVELS = 101
COLUMNS = ("name", "question", "scale", "weight")

Words = tuple[str, ...]
"""The words of a scale, from worst to best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One question of a rubric. words : of its answers.  weight : in the whole."""

    name: str
    question: str = ""
    words: Words = PASS_FAIL
    weight: float = 1.0


@cache
def scale_of(text: str) -> Words:
    """The words of a scale: `1..5`, or `poor,fair,good` from worst to best; "" is pass or fail.

    Raises InvalidOption.
    """
    if not text.strip():
        return PASS_FAIL
    if (ends := RANGE.fullmatch(text)) is not None:
        low, high = int(ends[1]), int(ends[2])
        words = tuple(str(level) for level in range(low, high + 1))
    else:
        words = tuple(part.strip() for part in re.split(r"[,|]", text))
    known = {word.casefold() for word in words}
    if not 2 <= len(words) <= MOST_LEVELS or len(known) < len(words) or "" in known:
        raise InvalidOption(
            "{option} {text!r}: write 1..5, or words from worst to best such as poor,fair,good; 2 "
            "levels at least, each once",
            option="scale",
            text=text,
        )
    return words


@cache
def values_of_words(words: Words) -> Mapping[str, int]:
    """What each word counts: a number itself, pass 1 and fail 0, a word its place from 1."""
    if words == PASS_FAIL:
        return {"PASS": 1, "FAIL": 0}
    if all(RANGE.fullmatch(f"{word}..0") for word in words):
        return {word: int(word) for word in words}
    return {word: place for place, word in enumerate(words, start=1)}


def ends_of(words: Words) -> tuple[float, float]:
    """What the worst and the best word count."""
    values = values_of_words(words).values()
    return float(min(values)), float(max(values))


def label_in(people: tuple[tuple[str, str], ...], words: Words) -> dict[str, float]:
    """What people say on a scale, by their columns; who says nothing is left out.

    Raises UnreadableFile: a cell is no word of the scale.
    """
    values = {word.casefold(): float(value) for word, value in values_of_words(words).items()}
    low, high = ends_of(words)
    said = {}
    for column, text in people:
        word = grade_word(text)
        if words == PASS_FAIL and word in GRADES:
            said[column] = GRADES[word]
        elif text.strip().casefold() in values:
            said[column] = values[text.strip().casefold()]
        elif re.fullmatch(r"-?\d+(\.\d+)?", text.strip()) and low <= float(text) <= high:
            said[column] = float(text)
        elif word not in UNGRADED:
            wanted = "pass or fail" if words == PASS_FAIL else f"one of {', '.join(words)}"
            raise UnreadableFile(f"column {column}: {text!r} is not {wanted}; correct it")
    return said


def agreed(said: Mapping[str, float], words: Words) -> float | None:
    """What people say together: of pass or fail their majority, half where they are split; of
    levels their mean. None where nobody said.
    """
    if not said:
        return None
    mean = sum(said.values()) / len(said)
    if words == PASS_FAIL and len(said) > 1:
        return float((mean > 0.5) + (mean >= 0.5)) / 2
    return mean


@cache
def criteria_of(text: str) -> tuple[Criterion, ...]:
    """The criteria of a rubric: CSV with the columns name, question, scale and weight, or TOML with
    a table `[[criterion]]` for each; all but the name may be left out.

    Raises UnreadableFile, InvalidOption.
    """
    rows: list[Mapping[str, object]]
    if text.lstrip().startswith("[["):
        try:
            rows = tomllib.loads(text).get("criterion", [])
        except tomllib.TOMLDecodeError as error:
            raise UnreadableFile(f"the criteria: are no TOML ({error})") from error
    else:
        rows = list(csv.DictReader(io.StringIO(text.strip(), newline=""), skipinitialspace=True))
    found = []
    for number, row in enumerate(rows, start=1):
        cells = {name: str(value or "").strip() for name, value in row.items() if name}
        if not cells.get("name") or not cells.keys() <= {*COLUMNS}:
            raise UnreadableFile(
                f"the criteria, {number}: needs a name, and may have question, scale and weight; "
                f"it has {', '.join(cells) or 'nothing'}"
            )
        name, weight = cells["name"], cells.get("weight") or "1"
        if not NAME.fullmatch(name) or name.lower() in (ONE_METRIC, "scores", "reason"):
            raise InvalidOption(f"criterion {name!r}: a few letters, digits and blanks")
        if not re.fullmatch(r"\d+(\.\d+)?", weight) or not float(weight):
            raise InvalidOption(f"criterion {name!r}: a weight of {weight}; it is above 0")
        found.append(
            Criterion(
                name=name,
                question=cells.get("question", ""),
                words=scale_of(cells.get("scale", "")),
                weight=float(weight),
            )
        )
    if not found or len({each.name.lower() for each in found}) < len(found):
        raise InvalidOption("the criteria: name one at least, and each once")
    return tuple(found)


def whole(rubric: tuple[Criterion, ...], scores: Mapping[str, float]) -> float | None:
    """Σ weight·(score − worst)/(best − worst) / Σ weight, from 0 to 1; None if one is missing."""
    shares = []
    for each in rubric:
        low, high = ends_of(each.words)
        if each.name not in scores:
            return None
        shares.append(each.weight * (scores[each.name] - low) / (high - low))
    return sum(shares) / sum(each.weight for each in rubric)
