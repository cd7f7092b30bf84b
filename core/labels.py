"""What cells mean: vocabularies of labels, which of them fits a column, and the scalars of other columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from core.votes import CONFIDENCE_KINDS, POSITIONS, RATER_TYPES, STATUSES, AmbiguousLabels, UnknownName

TIE_WORDS = frozenset(
    (
        "tie",
        "ties",
        "tied",
        "same",
        "draw",
        "equal",
        "both",
        "neither",
        "tie (bothbad)",
        "bothbad",
        "both bad",
    )
)
"""Words that mean a tie in every vocabulary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """One way of writing votes.

    `labels` maps a label, as `normalise` returns it, to a vote. `names` says what the label can name: the
    models,
    the first and second shown, or either, in which case the user must say once a file has rows shown as `ba`.
    """

    name: str
    meaning: str
    labels: Mapping[str, int]
    names: Literal["model", "slot", "either"]

    def vote(self, label: str) -> int | None:
        """Vote of a label, None for a label outside the vocabulary."""
        text = normalise(label)
        return 0 if text in TIE_WORDS else self.labels.get(text)


def _letters() -> dict[str, int]:
    labels = {"c": 0}
    for prefix in ("", "assistant ", "response ", "answer ", "option ", "output "):
        labels |= {f"{prefix}a": 1, f"{prefix}b": -1}
    return labels


CANONICAL = "1/0/-1"
NAMES = "names"

VOCABULARIES = {
    vocabulary.name: vocabulary
    for vocabulary in (
        Vocabulary(
            name=CANONICAL,
            meaning="1 model_a is better, 0 tie, -1 model_b is better (the canonical form)",
            labels={"1": 1, "0": 0, "-1": -1},
            names="model",
        ),
        Vocabulary(
            name="1/2/0",
            meaning="1 the first is better, 2 the second is better, 0 tie",
            labels={"1": 1, "2": -1, "0": 0},
            names="either",
        ),
        Vocabulary(
            name="1/0",
            meaning="1 A is better, 0 B is better, no ties",
            labels={"1": 1, "0": -1, "true": 1, "false": -1},
            names="either",
        ),
        Vocabulary(
            name="0/1",
            meaning="0 A is better, 1 B is better, no ties",
            labels={"0": 1, "1": -1, "false": 1, "true": -1},
            names="either",
        ),
        Vocabulary(
            name="A/B",
            meaning="A or [[A]], B or [[B]]; tie, same or C for a tie",
            labels=_letters(),
            names="either",
        ),
        Vocabulary(
            name="A>B",
            meaning="A>B, A>>B, A=B, B>A, B>>A, with or without [[ ]]",
            labels={"a>b": 1, "a>>b": 1, "a=b": 0, "b=a": 0, "b>a": -1, "b>>a": -1, "a<b": -1, "a<<b": -1},
            names="either",
        ),
        Vocabulary(
            name="model_a/model_b",
            meaning="model_a, model_b (or model_1, model_2), tie, tie (bothbad)",
            labels={"model_a": 1, "model a": 1, "model_1": 1, "model_b": -1, "model b": -1, "model_2": -1},
            names="model",
        ),
        Vocabulary(
            name="win/lose",
            meaning="win: model_a is better; lose: model_b is better; tie or draw",
            labels={"win": 1, "wins": 1, "won": 1, "lose": -1, "loss": -1, "loses": -1, "lost": -1},
            names="model",
        ),
        Vocabulary(
            name="first/second",
            meaning="first or second, of the two as they were shown; tie",
            labels={"first": 1, "second": -1},
            names="slot",
        ),
        Vocabulary(name=NAMES, meaning="the name of the better model, or tie", labels={}, names="model"),
    )
}
"""Vocabularies by the name that `--labels` takes."""


def vocabulary(name: str) -> Vocabulary:
    """Vocabulary of that name, whatever its case.

    Raises
    ------
    UnknownName : no such vocabulary.
    """
    for known in VOCABULARIES.values():
        if known.name.casefold() == name.strip().casefold():
            return known
    raise UnknownName(f"--labels {name!r}: no such vocabulary. Known: {', '.join(VOCABULARIES)}.")


_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def normalise(label: str) -> str:
    """Label without case, outer blanks and [[ ]], and with one way of writing a number (`+1`, `1.0`: `1`)."""
    text = " ".join(label.split()).casefold().replace("−", "-").replace("≫", ">>")
    while text.startswith("[") and text.endswith("]") and len(text) > 2:
        text = text[1:-1].strip()
    if ">" in text or "=" in text or "<" in text:
        text = text.replace(" ", "")
    whole = _WHOLE.fullmatch(text)
    return str(int(whole[1])) if whole and len(whole[1]) < 20 else text


def candidates(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Names of the vocabularies that hold every one of these labels."""
    return tuple(
        name
        for name, known in VOCABULARIES.items()
        if name != NAMES and all(known.vote(x) is not None for x in counts)
    )


def decide(
    counts: Mapping[str, int], *, column: str, models: frozenset[str] = frozenset(), canonical: bool = False
) -> Vocabulary:
    """Vocabulary that a column is written in, from its distinct labels and how often each occurs.

    The vocabulary that holds most rows is taken; a few labels outside it are left to be rejected by row.
    Numbers: a -1 makes it `1/0/-1`, a 2 makes it `1/2/0`; with both, the rarer must be below 5 % of the
    other.
    `models` are the casefolded names of the models compared. `canonical`: numbers follow the canonical form
    where they leave it open (an export of this product). All of it is ours.

    Raises
    ------
    AmbiguousLabels : 0 and 1 only, -1 and 2 both common, several vocabularies in one column, or none known.
    """
    normal: dict[str, int] = {}
    for label, count in counts.items():
        key = normalise(label)
        normal[key] = normal.get(key, 0) + count
    telling = {label: count for label, count in normal.items() if label not in TIE_WORDS}
    if not telling:
        return VOCABULARIES["A/B" if normal else CANONICAL]
    covered = {
        name: sum(count for label, count in telling.items() if known.vote(label) is not None)
        for name, known in VOCABULARIES.items()
    }
    covered[NAMES] = sum(count for label, count in telling.items() if label in models)
    best = max(covered, key=lambda name: covered[name])
    total = sum(telling.values())
    if covered[best] * 2 < total:
        raise AmbiguousLabels(
            f"column {shown(column)}: its labels {_sample(telling)} fit no known vocabulary. "
            f"Allowed: {_menu(VOCABULARIES)}. Name the column with --map or the vocabulary with --labels."
        )
    if best not in NUMERIC:
        others = sum(
            count
            for label, count in telling.items()
            if VOCABULARIES[best].vote(label) is None
            and best != NAMES
            and any(known.vote(label) is not None for known in VOCABULARIES.values())
        )
        _refuse_mixture(column, others, total, telling)
        return VOCABULARIES[best]
    others = sum(count for label, count in telling.items() if label not in {"1", "0", "-1", "2"})
    known_others = {
        label
        for label in telling
        if any(VOCABULARIES[n].vote(label) is not None for n in VOCABULARIES if n not in NUMERIC)
    }
    _refuse_mixture(column, others if known_others else 0, total, telling)
    return _decide_numeric(telling, column=column, canonical=canonical)


NUMERIC = (CANONICAL, "1/2/0", "1/0", "0/1")


def _decide_numeric(counts: Mapping[str, int], *, column: str, canonical: bool) -> Vocabulary:
    minus, two = counts.get("-1", 0), counts.get("2", 0)
    if minus and two and 20 * min(minus, two) >= max(minus, two):
        raise AmbiguousLabels(
            f"column {shown(column)}: holds both -1 and 2, so it is neither 1/0/-1 nor 1/2/0. "
            f"Say which with --labels; rows with another label are then rejected."
        )
    if minus > two:
        return VOCABULARIES[CANONICAL]
    if two:
        return VOCABULARIES["1/2/0"]
    only_ones = set(counts) == {"1"} and column.strip().casefold() in ("vote", "gold")
    if canonical or only_ones:
        return VOCABULARIES[CANONICAL]
    raise AmbiguousLabels(
        f"column {shown(column)}: holds only {_sample(counts)}, which can be read in several ways. "
        f"Name the vocabulary with --labels: {_menu(NUMERIC)}."
    )


def _refuse_mixture(column: str, others: int, total: int, counts: Mapping[str, int]) -> None:
    if 10 * others > total:
        raise AmbiguousLabels(
            f"column {shown(column)}: mixes vocabularies ({_sample(counts)}). Write all labels in one of "
            "them, "
            f"or name it with --labels: {_menu(VOCABULARIES)}; rows with another label are then rejected."
        )


def _menu(names: Iterable[str]) -> str:
    return "; ".join(f"{name} ({VOCABULARIES[name].meaning})" for name in names)


def _sample(counts: Mapping[str, int]) -> str:
    common = sorted(counts, key=lambda label: (-counts[label], label))
    return ", ".join(shown(label) for label in common[:6]) + (" …" if len(common) > 6 else "")


def shown(text: str, limit: int = 80) -> str:
    """Text of a user's file for a message: quoted, escaped, and cut to `limit` characters."""
    return repr(text if len(text) <= limit else text[:limit] + "…")


class BadCell(ValueError):
    """A cell that its column does not allow; the message is the reason and what is allowed."""


def parse_int(text: str) -> int:
    """Whole number that fits 64 bits; `3.0` is one, `1_000` and `3.5` are not.

    Raises
    ------
    BadCell : anything else.
    """
    whole = _WHOLE.fullmatch(text)
    if not whole:
        raise BadCell("not a whole number; write digits only, or leave the cell empty")
    if len(whole[1]) > 20 or not -(2**63) <= int(whole[1]) < 2**63:
        raise BadCell(
            "does not fit 64 bits; use a number between -9223372036854775808 and 9223372036854775807"
        )
    return int(whole[1])


def parse_float(text: str) -> float:
    """Finite number with a decimal point.

    Raises
    ------
    BadCell : anything else; `nan` and `inf` too, because an empty cell is how a missing value is written.
    """
    if not _NUMBER.fullmatch(text):
        if text.casefold().lstrip("+-") in ("nan", "inf", "infinity"):
            raise BadCell("not a finite number; leave the cell empty if the value is missing")
        raise BadCell("not a number; write it with a decimal point, or leave the cell empty")
    value = float(text)
    if math.isinf(value):
        raise BadCell("too large for a number of 64 bits; leave the cell empty if the value is missing")
    return value


def parse_choice(text: str, allowed: tuple[str, ...]) -> str:
    """One of the allowed words, whatever its case.

    Raises
    ------
    BadCell : another word.
    """
    word = text.strip().casefold()
    if word not in allowed:
        raise BadCell(f"not allowed here; use {', '.join(allowed)}, or leave the cell empty")
    return word


CHOICES = {
    "position": POSITIONS,
    "status": STATUSES,
    "rater_type": RATER_TYPES,
    "confidence_kind": CONFIDENCE_KINDS,
}
"""Columns whose cells are one of a few words."""

ConfidenceScale = Literal["1", "100", "%"]


def confidence_scale(counts: Mapping[str, int]) -> ConfidenceScale:
    """Scale of a confidence column, from its distinct cells and how often each occurs.

    Percent if a cell carries `%`; 0 to 100 if at least half of the values exceed 1 and at least one is 10
    or more;
    else 0 to 1. Cells that are no number do not count. Source: methods §0 (ours).
    """
    total = above = 0
    largest = -math.inf
    for text, count in counts.items():
        if text.endswith("%"):
            return "%"
        try:
            value = parse_float(text)
        except BadCell:
            continue
        total, above, largest = total + count, above + count * (value > 1), max(largest, value)
    return "100" if total and 2 * above >= total and largest >= 10 else "1"


def parse_confidence(text: str, scale: ConfidenceScale) -> float:
    """Confidence as a fraction, read on the scale of its column.

    Raises
    ------
    BadCell : no number, or outside the scale; a cell is never rescaled alone.
    """
    if scale == "%" and not text.endswith("%"):
        raise BadCell("carries no % where other cells of the column do; write it as a percentage")
    if scale == "1" and text.endswith("%"):
        raise BadCell(
            "a percentage where the scale is 0 to 1; write it as a fraction, or set --confidence-scale 100"
        )
    value = parse_float(text.removesuffix("%").rstrip())
    top = 1 if scale == "1" else 100
    if not 0 <= value <= top:
        raise BadCell(f"outside 0 to {top}, the scale of this column; correct it, or set --confidence-scale")
    return value / top
