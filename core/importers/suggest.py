"""Which columns of an unknown table may be what, by their names and by their values; never used
unasked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..labels import candidates, normalise
from ..reading.words import TIE_WORDS, meaning, tokens
from .columns import Cells
from .tables import TextTable
from .values import BadCell, is_number, order_word, parse_number

_LEFT = "a 1 left first one old previous baseline"
_RIGHT = "b 2 right second two new next candidate"
_SYSTEM = "model system generator assistant bot engine author candidate method modell"
_ITEM = (
    "item question prompt example instance sample pair case task query row ticket conversation "
    "frage aufgabe"
)
_SHOWN = "shown presented presentation first swap zuerst"

WORDS = {
    "item_id": (meaning(more=_ITEM), meaning("number", more="key name")),
    "judge": (meaning("judge", "critic", "rater", "expert"),),
    "vote": (meaning("verdict", "choice"),),
    "position": (meaning("order", more=_SHOWN),),
    "gold": (meaning("truth", "human", "expert", more="correct label target referenz"),),
    "confidence": (meaning("confidence"),),
    "model_a": (meaning(more=_SYSTEM), meaning(more=_LEFT)),
    "model_b": (meaning(more=_SYSTEM), meaning(more=_RIGHT)),
    "prompt": (meaning(more="prompt question instruction query input"),),
    "response_a": (meaning("answer"), meaning(more=_LEFT)),
    "response_b": (meaning("answer"), meaning(more=_RIGHT)),
    "rationale": (meaning("reason"),),
    "category": (meaning(more="category topic domain subset genre subject kategorie thema"),),
}
"""Canonical column → words of its name, one of each set."""

REFERENCE = meaning("human", "expert", more="gold truth")
"""Words in the name of a column of labels that others are measured by."""
_OTHERS = meaning("llm", more="final overall the of model raw is")
"""Words beside a verdict's in the name of a column that name no judge."""
SIDED = {"left", "right"}
"""Words in the name of a model's column that say which labels may name it."""
FEW = 12
"""Distinct labels that a column of verdicts may have."""
LABELS, ROWS = 3, 10
"""Distinct labels of verdicts in words of their own, and rows from which values alone may tell."""


def suggest(table: TextTable, mapping: Mapping[str, str]) -> dict[str, str]:
    """Canonical columns that are not mapped yet → columns that may be them, each once.

    A column must have the name's words and values of the kind; a column of verdicts may have any
    name, if it is the only one with words such as A, left and tie. Columns named best come first;
    where names do not tell, values may (`_by_values`).
    Labels that are names of two models, see `_two_models`, make them `=NAME`, one text for every
    row, and the only other column that has them gold. Source: ours.
    """
    free = {name: cells for name, cells in table.columns.items() if name not in mapping.values()}
    kinds = {name: _kinds(cells) for name, cells in free.items()}
    scored = [
        (len(hits), -place, canonical, name)
        for canonical, wanted in WORDS.items()
        if canonical not in mapping
        for place, name in enumerate(free)
        if canonical in kinds[name] and (hits := _hits(set(tokens(name)), wanted))
    ]
    suggested: dict[str, str] = {}
    for _, _, canonical, name in sorted(scored, reverse=True):
        if canonical not in suggested and name not in suggested.values():
            suggested[canonical] = name
    verdicts = [name for name in free if "words" in kinds[name] and name not in suggested.values()]
    if "vote" not in suggested and "vote" not in mapping and len(verdicts) == 1:
        suggested["vote"] = verdicts[0]
    suggested |= _by_values(free, kinds, {**mapping, **suggested})
    suggested |= _judge_in_a_name({**mapping, **suggested})
    suggested |= _two_models(table, {**mapping, **suggested})
    return _named_by_their_columns(table, mapping, suggested)


def _judge_in_a_name(mapped: Mapping[str, str]) -> dict[str, str]:
    """The judge that the column of its verdicts is called by: `gpt-4o verdict`, `Urteil GPT`."""
    column = mapped.get("vote", "")
    verdict, judges = WORDS["vote"][0], WORDS["judge"][0] | REFERENCE
    parts = [part for part in re.split(r"[\s_()\[\]:]+", column) if part]
    name = [part for part in parts if part.casefold() not in verdict]
    if "judge" in mapped or not name or len(name) == len(parts) or set(tokens(column)) & judges:
        return {}
    used = {word for groups in WORDS.values() for group in groups for word in group}
    return (
        {}
        if {part.casefold() for part in name} & (used | _OTHERS)
        else {"judge": f"={' '.join(name)}"}
    )


def _by_values(
    free: Mapping[str, Cells], kinds: Mapping[str, set[str]], mapped: Mapping[str, str]
) -> dict[str, str]:
    """Columns that their values tell, each the only one left that has such: two or three labels
    are verdicts, numbers of 50 to 100 or of .5 to 1 a confidence, texts that never repeat items.
    """
    found: dict[str, str] = {}
    looks = {"vote": _few_labels, "confidence": _may_be_sure, "item_id": _all_differ}
    if {"model_a", "model_b", "vote"} <= mapped.keys():
        # Each row is a comparison of its own, and what never repeats may be its time.
        del looks["item_id"]
    for canonical, fits in looks.items():
        taken = {*mapped.values(), *found.values()}
        left = [name for name, cells in free.items() if name not in taken and fits(cells)]
        left = [name for name in left if canonical in kinds[name]]
        if canonical not in mapped and len(left) == 1:
            found[canonical] = left[0]
    return found


def _few_labels(cells: Cells) -> bool:
    texts = {normalise(text) for text in cells.dictionary.to_pylist() if text.strip()}
    few = 2 <= len(texts) <= LABELS and len(cells) >= ROWS
    return few and not any(is_number(text) for text in texts)


def _may_be_sure(cells: Cells) -> bool:
    texts = [text.strip() for text in cells.dictionary.to_pylist()]
    try:
        values = [parse_number(text) for text in texts if text]
    except BadCell:
        return False
    ends = ((50, 100), (0.5, 1))
    return (
        len(cells) >= ROWS
        and len(values) > LABELS
        and any(all(low <= value <= high for value in values) for low, high in ends)
    )


def _all_differ(cells: Cells) -> bool:
    return len(cells) >= ROWS and len(cells.dictionary) == len(cells) and not cells.null_count


def suggest_gold(judges: tuple[str, ...], mapping: Mapping[str, str]) -> dict[str, str]:
    """The one column of labels beside those of judges whose name says that it holds what people
    say.
    """
    said = [name for name in judges if set(tokens(name)) & REFERENCE]
    return {"gold": said[0]} if len(said) == 1 < len(judges) and "gold" not in mapping else {}


def _two_models(table: TextTable, mapped: Mapping[str, str]) -> dict[str, str]:
    """Models whose names are the labels, where the file shows it: by what was shown first, or in
    headers.
    """
    two = _two_names(table.columns.get(mapped.get("vote", "")))
    if two is None or {"model_a", "model_b"} & mapped.keys():
        return {}
    free = [name for name in table.columns if name not in mapped.values()]
    alike = [
        name
        for name in (*free, mapped.get("position", ""))
        if _two_names(table.columns.get(name)) == two
    ]
    first = [
        name
        for name in alike
        if name == mapped.get("position") or _hits(set(tokens(name)), WORDS["position"])
    ]
    heads = (*free, *(mapped.get(side, "") for side in ("response_a", "response_b")))
    headed = all(any(side.casefold() in name.casefold() for name in heads) for side in two)
    if len(first) != 1 and not headed:
        return {}
    answers = mapped.get("response_a", "").casefold(), mapped.get("response_b", "").casefold()
    if all(name.casefold() in answer for name, answer in zip(two[::-1], answers, strict=True)):
        # The one whose answer is A is model A.
        two = two[::-1]
    models = {side: f"={name}" for side, name in zip(("model_a", "model_b"), two, strict=True)}
    models |= {"position": first[0]} if len(first) == 1 and "position" not in mapped else {}
    rest = [name for name in alike if name not in first]
    return models | ({"gold": rest[0]} if "gold" not in mapped and len(rest) == 1 else {})


def _named_by_their_columns(
    table: TextTable, mapping: Mapping[str, str], suggested: dict[str, str]
) -> dict[str, str]:
    """Two columns whose names are the labels, `old bot` and `new bot`, hold the answers of models
    that are called so.
    """
    two = _two_names(table.columns.get({**mapping, **suggested}.get("vote", "")))
    label = {name.casefold(): name for name in two or ()}
    columns = [suggested.get(side, "") for side in ("model_a", "model_b")]
    if two is None or {column.casefold() for column in columns} != label.keys():
        return suggested
    models = (f"={label[column.casefold()]}" for column in columns)
    return (
        suggested
        | dict(zip(("model_a", "model_b"), models, strict=True))
        | dict(zip(("response_a", "response_b"), columns, strict=True))
    )


def _two_names(cells: Cells | None) -> tuple[str, str] | None:
    """The two labels beside ties that a column has, if no vocabulary reads them."""
    texts = [
        text.strip()
        for text in ([] if cells is None else cells.dictionary.to_pylist())
        if text.strip()
    ]
    names = sorted(text for text in texts if normalise(text) not in TIE_WORDS)
    numbers = any(is_number(text) for text in names)
    if numbers or len({normalise(name) for name in names}) != 2 or len(names) != 2:
        return None
    return None if candidates(dict.fromkeys(texts, 1)) else (names[0], names[1])


def _hits(words: set[str], wanted: tuple[frozenset[str], ...]) -> set[str]:
    """Words of a name that are wanted, if there is one of each set; an item's may be of the first
    alone.
    """
    if wanted is WORDS["item_id"] and words <= wanted[0]:
        return words
    parts = [words & group for group in wanted]
    return set.union(*parts) if all(parts) else set()


def _kinds(cells: Cells) -> set[str]:
    """What the values of a column may be: canonical columns, and `words` for verdicts in words."""
    texts = [text.strip() for text in cells.dictionary.to_pylist() if text.strip()]
    if not texts:
        return set()
    numbers = sum(is_number(text) for text in texts)
    fitting = candidates(dict.fromkeys(texts, 1))
    words = bool(fitting) and not numbers
    kinds = {"words"} if words else set()
    if all(order_word(text) in ("ab", "ba") for text in texts):
        kinds.add("position")
    if fitting or 1 < len({normalise(text) for text in texts}) <= min(FEW, len(cells) / 2):
        kinds |= {"vote", "gold"}
    if numbers == len(texts) and len(texts) > 2 and not fitting:
        kinds.add("confidence")
    if not words:
        kinds.add("item_id")
        if not numbers:
            kinds |= {"judge", "model_a", "model_b", "category"}
    if not numbers and not words:
        kinds |= {"prompt", "response_a", "response_b", "rationale"}
    return kinds


def sided(columns: Iterable[str]) -> bool:
    """Whether names of columns say left or right, so that a label `left` may name a
    column's model.
    """
    return any(set(tokens(column)) & SIDED for column in columns)
