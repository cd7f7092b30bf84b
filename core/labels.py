"""What labels mean: the vocabularies that votes are written in, and which of them a column is
written in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from .errors import AmbiguousLabels, UnknownName

TIE_WORDS = frozenset(
    {"tie", "ties", "tied", "same", "draw", "equal", "both", "neither"}
    | {"tie (bothbad)", "bothbad", "both bad", "both_bad"}
    | {"tie (bothgood)", "bothgood", "both good", "both_good"}
    | {"unentschieden", "gleich", "gleich gut", "gleich schlecht", "gleichstand", "beide", "keine"}
)
"""Words that mean a tie in every vocabulary, of English and of German spreadsheets."""


ALONE = {
    **dict.fromkeys(("pass", "passed", "yes", "correct", "true", "1"), 1),
    **dict.fromkeys(("fail", "failed", "no", "incorrect", "false", "0"), 0),
}
"""Labels of single answers, as `normalise` returns them → 1 for a good one. Votes have some of them
too.
"""

GRADES = {
    label: value
    for value, labels in {
        1.0: "pass passed yes y correct right true good up thumbs_up 👍 ✓ ✔ c ja richtig bestanden",
        0.5: "partial partially partly partially_correct partly_correct partial_pass p",
        0.0: "fail failed no n incorrect wrong false bad down thumbs_down 👎 ✗ ✘ i nein falsch "
        "nicht_bestanden",
    }.items()
    for label in labels.split()
}
"""Words for an answer judged alone, with `_` for blanks and hyphens → its score; `partial` lies
between. C, P, I and N are Inspect's: correct, partial, incorrect, and no answer, which is none that
is right.
"""
UNGRADED = {
    **dict.fromkeys(("n/a", "na", "not_applicable", "none", "null", "-"), "unparsed"),
    **dict.fromkeys(("unsure", "unknown", "undecided", "not_graded", "skipped"), "unparsed"),
    **dict.fromkeys(("refused", "refusal", "refuses"), "refused"),
    "error": "error",
}
"""Words that stand where a score would → the status of such a row: it is not graded, and no fail.
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


_SIDES = {
    f"{noun}_{side}": vote
    for noun in ("model", "response", "text", "chosen")
    for side, vote in {"a": 1, "b": -1, "1": 1, "2": -1}.items()
} | {"model a": 1, "model b": -1}
_LETTERS = {"c": 0} | {
    f"{noun} {letter} {better}".strip(): vote
    for noun in ("", "assistant", "response", "answer", "option", "output", "antwort")
    for letter, vote in (("a", 1), ("b", -1))
    for better in ("", "better", "is better", "wins", "besser", "ist besser", "gewinnt")
}

CANONICAL = "1/0/-1"
ZERO_FIRST = "0/1/2"
NAMES = "names"

VOCABULARIES = {
    vocabulary.name: vocabulary
    for vocabulary in (
        Vocabulary(
            CANONICAL,
            "1 model_a is better, 0 tie, -1 model_b is better (the canonical form)",
            {"1": 1, "0": 0, "-1": -1},
            "model",
        ),
        Vocabulary(
            "1/2/0",
            "1 the first is better, 2 the second is better, 0 tie",
            {"1": 1, "2": -1, "0": 0},
            "either",
        ),
        Vocabulary(
            ZERO_FIRST,
            "0 the first is better, 1 the second is better, 2 tie",
            {"0": 1, "1": -1, "2": 0},
            "either",
        ),
        Vocabulary(
            "1/0",
            "1 A is better, 0 B is better, no ties",
            {"1": 1, "0": -1, "true": 1, "false": -1},
            "either",
        ),
        Vocabulary(
            "0/1",
            "0 A is better, 1 B is better, no ties",
            {"0": 1, "1": -1, "false": 1, "true": -1},
            "either",
        ),
        Vocabulary("A/B", "A or [[A]], B or [[B]]; tie, same or C for a tie", _LETTERS, "either"),
        Vocabulary(
            "A>B",
            "A>B, A>>B, A=B, B>A, B>>A, with or without [[ ]]; A++, A+, B+, B++",
            {"a>b": 1, "a>>b": 1, "a=b": 0, "b=a": 0, "b>a": -1, "b>>a": -1, "a<b": -1, "a<<b": -1}
            | {"a++": 1, "a+": 1, "b+": -1, "b++": -1},
            "either",
        ),
        Vocabulary(
            "model_a/model_b",
            "model_a, model_b (or model_1, model_2; also with response, text or chosen), tie, tie "
            "(bothbad)",
            _SIDES,
            "model",
        ),
        Vocabulary(
            "win/lose",
            "win: model_a is better; lose: model_b is better; tie or draw",
            {"win": 1, "wins": 1, "won": 1, "lose": -1, "loss": -1, "loses": -1, "lost": -1},
            "model",
        ),
        Vocabulary(
            "first/second",
            "first or second, of the two as they were shown; tie",
            {"first": 1, "second": -1, "erste": 1, "zweite": -1},
            "slot",
        ),
        Vocabulary(
            "left/right",
            "left or right, of the two as they were shown; tie",
            {"left": 1, "right": -1, "links": 1, "rechts": -1},
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
