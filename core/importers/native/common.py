"""What the readers of native files share: votes from records, and the texts inside a judging prompt."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ...errors import InvalidOption
from ...labels import VOCABULARIES
from ...schema import VOTES, Form, ImportResult
from ..checks import TypedRows, finish
from ..columns import encode_cells, masked_numbers, unstorable
from ..options import ReadOptions
from ..source import Source
from ..tables import Record, Records

Vote = Mapping[str, Any]
"""Canonical column → value, missing columns left out; `extra` holds a mapping of text."""

VERDICTS = VOCABULARIES["A>B"]


class BadField(ValueError):
    """A field of a record that its format does not allow: the whole record is rejected."""

    def __init__(self, column: str, value: object, reason: str) -> None:
        super().__init__(reason)
        self.column, self.value, self.reason = column, value, reason


def field(record: Record, name: str, kind: type | tuple[type, ...] = str) -> Any:
    """Field that must be there and of that kind.

    Raises
    ------
    BadField : absent, null, or of another kind.
    """
    value = record.get(name)
    # bool is an int to Python, and no label here is a truth value.
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        raise BadField(name, value, f"{name} is missing or of another kind; export the record again")
    return value


def text(value: object) -> str | None:
    """Text of an optional field; anything but text and numbers is missing."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") or None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def number(value: object) -> float | None:
    """Finite number that fits 64 bits; anything else is missing."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)


def verdict(label: object, column: str) -> int | None:
    """Vote of a label such as A>B, +1 for A; None where the tool wrote null because it found no verdict.

    Raises
    ------
    BadField : another label.
    """
    if label is None or label == "":
        return None
    vote = VERDICTS.vote(label) if isinstance(label, str) else None
    if vote is None:
        raise BadField(column, label, f"not a label of {VERDICTS.name} ({VERDICTS.meaning}); correct it")
    return vote


def status(vote: int | None) -> str:
    """`ok` for a vote, `unparsed` where the tool found none."""
    return "unparsed" if vote is None else "ok"


def read_votes(
    source: Source,
    records: Records,
    options: ReadOptions,
    format: str,
    votes: Callable[[Record], Iterable[Vote]],
    *,
    dataset: str,
    notes: Iterable[str] = (),
    form: Form = VOTES,
) -> ImportResult:
    """Collect the votes of every record; a record with a bad field, or a huge one, is rejected whole.

    form : what the records hold, if it is not votes.

    Raises
    ------
    InvalidOption : `mapping` names a column; native files take a fixed text only.
    """
    for canonical, theirs in options.mapping:
        if not theirs.startswith("="):
            raise InvalidOption(
                "{file}: {option} {column}={value}: columns of a {format} file are known. Only a fixed text "
                "can be given: {option} {column}=={value}.",
                option="map",
                file=source.name,
                column=canonical,
                value=theirs,
                format=format,
            )
    found: list[Vote] = []
    rows: list[int] = []
    for row, record in zip(records.row, records.records, strict=True):
        try:
            those = list(votes(record))
            _refuse_unstorable(those)
        except BadField as bad:
            value = "" if bad.value is None else str(bad.value)
            records.rejects.add(row, bad.column, value, bad.reason)
        else:
            found += those
            rows += [row] * len(those)
    kinds = {"int": np.int64, "float": np.float64}
    present = [c for c in form.columns if any(c.name in vote for vote in found)]
    extra = dict.fromkeys(name for vote in found for name in vote.get("extra", ()))
    constants = options.constants()
    if options.rater_type and not any("rater_type" in vote for vote in found):
        constants["rater_type"] = options.rater_type
    typed = TypedRows(
        row=np.array(rows, np.int64),
        text={c.name: encode_cells(text(v.get(c.name)) for v in found) for c in present if c.kind == "text"},
        numbers={
            c.name: masked_numbers((v.get(c.name) for v in found), kinds[c.kind])
            for c in present
            if c.kind != "text"
        },
        extra={name: encode_cells(text(vote.get("extra", {}).get(name)) for vote in found) for name in extra},
        rejects=records.rejects,
        rows=records.rows,
        mapping={name: f"={value}" for name, value in constants.items()},
        notes=list(notes),
        form=form,
    )
    return finish(typed, source, format, constants=constants, dataset=dataset)


def _refuse_unstorable(votes: Iterable[Vote]) -> None:
    for vote in votes:
        for name, value in vote.items():
            if isinstance(value, str) and (why := unstorable(value)):
                raise BadField(name, value, why)


_PROMPT = re.compile(
    r"(?:<\|User Prompt\|>|\[User Question\])\n(?P<prompt>.*?)\n+"
    r"(?:<\||\[)The Start of Assistant A's Answer(?:\|>|\])\n(?P<a>.*?)\n"
    r"(?:<\||\[)The End of Assistant A's Answer(?:\|>|\])\s+"
    r"(?:<\||\[)The Start of Assistant B's Answer(?:\|>|\])\n(?P<b>.*?)\n"
    r"(?:<\||\[)The End of Assistant B's Answer",
    re.DOTALL,
)


def prompt_texts(judging_prompt: object, *, first_is_a: bool) -> dict[str, str]:
    """Prompt and responses out of a pairwise judging prompt of FastChat or Arena-Hard, where it is whole."""
    match = _PROMPT.search(judging_prompt) if isinstance(judging_prompt, str) else None
    if match is None:
        return {}
    first, second = ("response_a", "response_b") if first_is_a else ("response_b", "response_a")
    return {"prompt": match["prompt"], first: match["a"], second: match["b"]}
