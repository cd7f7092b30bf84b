"""What labels mean: the vocabularies that votes are written in, and which of them a column is
written in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from .errors import AmbiguousLabels, UnknownName
from .reading import words
from .reading.words import LABELS, LETTER_GRADES, SAID_OF_ONE, TIE_WORDS, UNGRADED

ALONE = SAID_OF_ONE
GRADES = {
    word: value for word, value in words.GRADES.items() if word not in UNGRADED
} | LETTER_GRADES
"""Words for an answer judged alone, with `_` for blanks and hyphens → its score; `partial` lies
between.
"""


def grade_word(label: str) -> str:
    """Label as `GRADES` and `UNGRADED` have it."""
    word = normalise(label).replace("\ufe0f", "")
    return word if word == "-" else word.replace(" ", "_").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One way of writing votes.

    labels : label, as `normalise` returns it, → vote.
    names : what a label can name: the models, the first and second shown, or either, in which case
        the user must say which once a file has rows shown as `ba`.
    """

    name: str
    meaning: str
    labels: Mapping[str, int]
    names: Literal["model", "slot", "either"]

    def vote(self, label: str) -> int | None:
        """Vote of a label, None for a label outside the vocabulary."""
        text = normalise(label)
        return 0 if text in TIE_WORDS else self.labels.get(text)


CANONICAL = "1/0/-1"
ZERO_FIRST = "0/1/2"
NAMES = "names"

VOCABULARIES = {
    vocabulary.name: vocabulary
    for vocabulary in (
        Vocabulary(
            CANONICAL,
            "1 model_a is better, 0 tie, -1 model_b is better (the canonical form)",
            LABELS[CANONICAL],
            "model",
        ),
        Vocabulary(
            "1/2/0",
            "1 the first is better, 2 the second is better, 0 tie",
            LABELS["1/2/0"],
            "either",
        ),
        Vocabulary(
            ZERO_FIRST,
            "0 the first is better, 1 the second is better, 2 tie",
            LABELS[ZERO_FIRST],
            "either",
        ),
        Vocabulary("1/0", "1 A is better, 0 B is better, no ties", LABELS["1/0"], "either"),
        Vocabulary("0/1", "0 A is better, 1 B is better, no ties", LABELS["0/1"], "either"),
        Vocabulary(
            "A/B", "A or [[A]], B or [[B]]; tie, same or C for a tie", LABELS["A/B"], "either"
        ),
        Vocabulary(
            "A>B",
            "A>B, A>>B, A=B, B>A, B>>A, with or without [[ ]]; A++, A+, B+, B++",
            LABELS["A>B"],
            "either",
        ),
        Vocabulary(
            "model_a/model_b",
            "model_a, model_b (or model_1, model_2; also with response, text or chosen), tie, tie "
            "(bothbad)",
            LABELS["model_a/model_b"],
            "model",
        ),
        Vocabulary(
            "win/lose",
            "win: model_a is better; lose: model_b is better; tie or draw",
            LABELS["win/lose"],
            "model",
        ),
        Vocabulary(
            "first/second",
            "first or second, of the two as they were shown; tie",
            LABELS["first/second"],
            "slot",
        ),
        Vocabulary(
            "left/right",
            "left or right, of the two as they were shown; tie",
            LABELS["left/right"],
            "slot",
        ),
        Vocabulary(NAMES, "the name of the better model, or tie", {}, "model"),
    )
}
"""Vocabularies by the name that `--labels` takes."""


def vocabulary(name: str) -> Vocabulary:
    """Vocabulary of that name, whatever its case; UnknownName if there is none."""
    for known in VOCABULARIES.values():
        if known.name.casefold() == name.strip().casefold():
            return known
    raise UnknownName(
        "{option} {value!r}: no such vocabulary. Known: {known}.",
        option="labels",
        value=name,
        known=tuple(VOCABULARIES),
    )


WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")


def normalise(label: str) -> str:
    """Label without case, outer blanks and [[ ]], and with one way of writing a number (`+1`,
    `1.0`: `1`).
    """
    text = " ".join(label.split()).casefold().replace("−", "-").replace("≫", ">>")
    while text.startswith("[") and text.endswith("]") and len(text) > 2:
        text = text[1:-1].strip()
    if ">" in text or "=" in text or "<" in text:
        text = text.replace(" ", "")
    whole = WHOLE.fullmatch(text)
    return str(int(whole[1])) if whole and len(whole[1]) < 20 else text


def candidates(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Names of the vocabularies that hold every one of these labels."""
    return tuple(
        name
        for name, known in VOCABULARIES.items()
        if name != NAMES
        and all(known.vote(x) is not None for x in counts)
        # Without a 2 it says what 0/1 says.
        and (name != ZERO_FIRST or "2" in map(normalise, counts))
    )


def decide(
    counts: Mapping[str, int],
    *,
    column: str,
    models: frozenset[str] = frozenset(),
    canonical: bool = False,
) -> Vocabulary:
    """Vocabulary that a column is written in, from its distinct labels and how often each occurs.

    The vocabulary that holds most rows is taken; a few labels outside it are left to be rejected by
    row. Numbers: a -1 makes it `1/0/-1`, a 2 without a 0 makes it `1/2/0`; with -1 and 2, the
    rarer must be below 5 % of the other. All of it is ours.

    models : casefolded names of the models compared.
    canonical : numbers follow the canonical form where they leave it open (an export of this
        product).

    Raises AmbiguousLabels: 0 and 1 only, 0 beside 2, -1 and 2 both common, several vocabularies in
    one column, or none known.
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
        raise _ambiguous(
            "its labels {labels} are none that are known. Say what each of a judge's means, A, B, "
            "tie or failed, with {option:label_map {example}}; or name another column with "
            "{option:map}, or their vocabulary with {option}.",
            column,
            labels=_sample(telling),
            example=_example(telling),
        )
    if best in NUMERIC:
        others = sum(
            count for label, count in telling.items() if label not in {"1", "0", "-1", "2"}
        )
        words = [known for known in VOCABULARIES.values() if known.name not in NUMERIC]
        mixed = any(known.vote(label) is not None for label in telling for known in words)
        _refuse_mixture(column, others if mixed else 0, total, telling)
        return _decide_numeric(telling, column=column, canonical=canonical)
    others = sum(
        count
        for label, count in telling.items()
        if VOCABULARIES[best].vote(label) is None
        and best != NAMES
        and any(known.vote(label) is not None for known in VOCABULARIES.values())
    )
    _refuse_mixture(column, others, total, telling)
    return VOCABULARIES[best]


NUMERIC = (CANONICAL, "1/2/0", ZERO_FIRST, "1/0", "0/1")
"""Vocabularies whose labels are numbers, so that another of them may read the same labels."""


def _decide_numeric(counts: Mapping[str, int], *, column: str, canonical: bool) -> Vocabulary:
    minus, two = counts.get("-1", 0), counts.get("2", 0)
    if minus and two and 20 * min(minus, two) >= max(minus, two):
        raise _ambiguous(
            "holds both -1 and 2, so it is neither 1/0/-1 nor 1/2/0. Say which with {option}; "
            "rows with "
            "another label are then rejected.",
            column,
        )
    if minus > two:
        return VOCABULARIES[CANONICAL]
    if two and counts.get("0"):
        # Gold is written as the votes are, so that agreement with it cannot tell the two apart.
        raise _ambiguous(
            "holds 0 and 2, and either may be the tie. Name the vocabulary with {option}: "
            "{allowed}.",
            column,
            allowed=_menu(("1/2/0", ZERO_FIRST)),
        )
    if two:
        return VOCABULARIES["1/2/0"]
    only_ones = set(counts) == {"1"} and column.strip().casefold() in ("vote", "gold")
    if canonical or only_ones:
        return VOCABULARIES[CANONICAL]
    raise _ambiguous(
        "holds only {labels}, which can be read in several ways. Name the vocabulary with "
        "{option}: {allowed}.",
        column,
        labels=_sample(counts),
        allowed=_menu(name for name in NUMERIC if name != ZERO_FIRST),
    )


def _refuse_mixture(column: str, others: int, total: int, counts: Mapping[str, int]) -> None:
    if 10 * others > total:
        raise _ambiguous(
            "mixes vocabularies ({labels}). Say what each of a judge's means, A, B, tie or failed, "
            "with {option:label_map {example}}; or name the one that holds with {option} "
            "({allowed}), and rows with another label are rejected.",
            column,
            labels=_sample(counts),
            example=_example(counts),
            allowed=[
                name
                for name, known in VOCABULARIES.items()
                if any(known.vote(label) is not None for label in counts)
            ],
        )


def _example(counts: Mapping[str, int]) -> str:
    """How two labels are explained, as it is typed."""
    pairs = zip(list(counts)[:2], "AB", strict=False)
    return " ".join(shown(f"{label}={meaning}", 40) for label, meaning in pairs)


def _ambiguous(problem: str, column: str, **fields: object) -> AmbiguousLabels:
    return AmbiguousLabels(
        "column {column}: " + problem, option="labels", column=shown(column), **fields
    )


def _menu(names: Iterable[str]) -> str:
    return "; ".join(f"{name} ({VOCABULARIES[name].meaning})" for name in names)


def _sample(counts: Mapping[str, int]) -> str:
    common = sorted(counts, key=lambda label: (-counts[label], label))
    return ", ".join(shown(label) for label in common[:6]) + (" …" if len(common) > 6 else "")


def shown(text: str, limit: int = 80) -> str:
    """Text of a user's file for a message: quoted, escaped, and cut to `limit` characters."""
    return repr(text if len(text) <= limit else text[:limit] + "…")
