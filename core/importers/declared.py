"""A format as a declaration: by which keys it is known, which rows its records unfold to, and where
in them each column lies.

`tools` holds the formats; CONTRIBUTING has a worked example.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..labels import GRADES, grade_word, normalise
from ..reading.words import UNGRADED
from ..schema import SCORES, Form
from .bounds import MAX_DEPTH, depth
from .columns import text_hash
from .json_tables import Record
from .native import REPEATS, BadField, NativeFile, NativeFormat, Reader, Vote, number, text
from .values import BadCell, parse_float

Scopes = Mapping[str, Any]
"""What a path begins with: `root`, the record, and the names of the steps."""
Function = Callable[[Scopes], Any]
Place = str | Function
"""A path, or a function where no path will do."""

LEFT_OUT = object()
"""What a word means whose row is no judgement at all, such as a person's own answer."""
_PARSED, _LITERAL = 4 * 1024**2, 256 * 1024
"""Most characters of a cell that is read as JSON, and as a Python object: both unfold manifold."""
_MISSING = (None, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a format's reader is made of.

    A path goes through objects by names and through lists by numbers: `root.info.tags`,
    `case.choices.0.message`. A name may have points in it (`root.context.span_id`); `{path}` in a
    path stands for the text found there; `=text` is that text; ` | ` separates places that are
    tried in turn until one holds something. Text that is a JSON or Python object, as in cells of
    CSV files, is gone into as that object.

    each : the steps that make rows of a record, (name, path): the path holds a list, or an object
        whose entries are then `name.key` and `name.value`.
    columns : canonical column → where it lies. `extra` are columns of no canonical name.
    words : canonical column → what its words mean there, as `normalise` returns them; `LEFT_OUT`
        leaves the row out. Other columns have `GRADES` for scores, and texts as they are.
    in_order : columns that number the texts of a place in the order in which the file has them.
    repeats : a place by whose text repetitions of one judgement are put in order, and numbered.
    failed : a place that holds something where the call failed.
    """

    each: tuple[tuple[str, Place], ...] = ()
    columns: Mapping[str, Place]
    extra: Mapping[str, Place] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    in_order: Mapping[str, Place] = field(default_factory=dict)
    repeats: Place | None = None
    failed: Place | None = None


def declared(
    *,
    name: str,
    line: str,
    needs: tuple[str, ...],
    dataset: str,
    form: Form = SCORES,
    sniff: Callable[[Record], bool] | None = None,
    tables: tuple[str, ...] = (),
    also: tuple[NativeFormat, ...] = (),
    judge: str | None = None,
    notes: Callable[[Record], list[str]] | None = None,
    **what: Any,
) -> NativeFormat:
    """A native format that is read as declared.

    needs : paths that the first record has, by which it is known; ` | ` separates alternatives.
    tables : CSV and Parquet files with those columns are of the format too, and one of these
        endings of names tells so.
    also : formats that read other judgements out of the same records.
    judge : name of the judge, where nothing names one; `""` is the file's name.
    notes : what is to be said of a file, by its first record.
    what : the fields of `Declared`.
    """
    how = Declared(**what)

    def reader(file: NativeFile) -> Reader:
        if judge is not None:
            file.name_judge(judge)
        if notes is not None:
            file.notes += notes(file.records.records[0])
        order: dict[tuple[str, object], int] = {}
        return lambda record: rows_of(how, form, record, file.left_out, order)

    def fits(record: Record) -> bool:
        scopes = {"root": record}
        found = all(
            _held(scopes, " | ".join(f"root.{p}" for p in path.split(" | "))) for path in needs
        )
        return found and (sniff is None or sniff(record))

    return NativeFormat(
        name=name,
        line=line,
        needs=needs,
        dataset=dataset,
        reader=reader,
        sniff=fits,
        form=form,
        tables=tables,
        also=also,
    )


def rows_of(
    how: Declared,
    form: Form,
    record: Record,
    left_out: dict[str, int],
    order: dict[tuple[str, object], int],
) -> Iterator[Vote | BadField]:
    """The judgements of a record.

    left_out : counts rows that are none, by what says so. order : column and text → its number in
    the file; both grow.
    """
    kinds = {column.name: column.kind for column in form.columns}
    verdict = "vote" if "vote" in how.columns else "score"
    for scopes in unfolded({"root": record}, how.each):
        try:
            found: dict[str, Any] = {}
            for name, place in how.columns.items():
                found[name] = _read(how, scopes, name, place, kinds[name])
        except _LeftOut as why:
            left_out[str(why)] = left_out.get(str(why), 0) + 1
            continue
        except BadField as bad:
            yield bad
            continue
        if found.get(verdict) is None and how.failed is not None and _held(scopes, how.failed):
            found["status"] = "error"
        for name, place in how.in_order.items():
            text_there = said(get(scopes, place))
            if text_there is not None:
                numbers = sum(column == name for column, _ in order)
                found[name] = order.setdefault((name, text_there), numbers)
        if how.repeats is not None:
            found[REPEATS] = said(get(scopes, how.repeats)) or ""
        if how.extra:
            found["extra"] = {name: said(get(scopes, place)) for name, place in how.extra.items()}
        yield found


class _LeftOut(Exception):
    """A row that is no judgement."""


def _read(how: Declared, scopes: Scopes, name: str, place: Place, kind: str) -> Any:
    value = get(scopes, place)
    words = how.words.get(name)
    if words is not None and isinstance(value, str):
        word = normalise(value)
        if word not in words:
            raise BadField(name, value, f"unknown here; allowed are {', '.join(map(repr, words))}")
        value = words[word]
        if value is LEFT_OUT:
            raise _LeftOut(f"{name} {word}")
    if name == "score":
        return score_of(value)
    if kind == "text":
        return said(value)
    if kind == "int":
        whole = number(value)
        return int(whole) if whole is not None and whole == int(whole) else None
    return number(value)


def score_of(value: object) -> float | None:
    """A score: a number, true or false, or a word for a good or bad answer; NaN is none.

    Raises BadField for another word, which is a category and no score.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = grade_word(value)
        if word in GRADES:
            return float(GRADES[word])
        if word in UNGRADED or word in ("", "nan"):
            return None
        try:
            return parse_float(value.strip())
        except BadCell:
            raise BadField(
                "score",
                value,
                "no number and no word for a good or bad answer, so it is a category; leave it "
                "out, or write a number",
            ) from None
    if isinstance(value, list | dict):
        raise BadField("score", json.dumps(value)[:80], "several values where a score is needed")
    return number(value) if not (isinstance(value, float) and math.isnan(value)) else None


def unfolded(scopes: Scopes, each: tuple[tuple[str, Place], ...]) -> Iterator[Scopes]:
    """The rows that steps make of a record; a step whose path holds nothing makes none."""
    if not each:
        yield scopes
        return
    (name, path), *rest = each
    found = get(scopes, path)
    entries: Iterable[Any] = ()
    if isinstance(found, dict):
        entries = ({"key": key, "value": value} for key, value in found.items())
    elif isinstance(found, list):
        entries = found
    for place, entry in enumerate(entries):
        yield from unfolded({**scopes, name: entry, f"{name}_number": place}, tuple(rest))


def get(scopes: Scopes, place: Place) -> Any:
    """What lies at a place; None if nothing does."""
    if not isinstance(place, str):
        return place(scopes)
    for one in place.split(" | "):
        found = one[1:] if one.startswith("=") else _walk(scopes, scopes, one)
        if found not in _MISSING if not isinstance(found, list | dict) else found:
            return found
    return None


def listed(scopes: Scopes, place: Place) -> list[Any]:
    """The list at a place; an empty one if none lies there."""
    found = get(scopes, place)
    return found if isinstance(found, list) else []


def _held(scopes: Scopes, place: Place) -> bool:
    """Whether a place holds anything, be it an empty list or false."""
    if not isinstance(place, str):
        return bool(place(scopes))
    return any(_walk(scopes, scopes, one) not in _MISSING for one in place.split(" | "))


def _walk(scopes: Scopes, value: Any, path: str) -> Any:
    """Go down a path; `{…}` in it is looked up in the scopes."""
    if "{" in path:
        before, _, rest = path.partition("{")
        inner, _, after = rest.partition("}")
        value = _walk(scopes, value, before.rstrip("."))
        value = opened(value)
        named = get(scopes, inner)
        value = value.get(str(named)) if isinstance(value, dict) else None
        after = after.removeprefix(".")
        return _walk(scopes, value, after) if after else value
    while path:
        value = opened(value)
        if isinstance(value, dict):
            if path in value:
                return value[path]
            head, _, path = path.partition(".")
            while head not in value and path and any(key.startswith(f"{head}.") for key in value):
                more, _, path = path.partition(".")
                head = f"{head}.{more}"
            value = value.get(head)
        elif isinstance(value, list):
            head, _, path = path.partition(".")
            value = value[int(head)] if head.isdigit() and int(head) < len(value) else None
        else:
            return None
    return value


def opened(value: Any) -> Any:
    """Text that is an object or a list, as that; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "[") and len(value) <= _PARSED:
        return _parsed(value)
    return value


@lru_cache(maxsize=2)
def _parsed(value: str) -> Any:
    if depth(value.encode("utf-8", "replace")) > MAX_DEPTH:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    if len(value) > _LITERAL:
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return value


def said(value: Any) -> str | None:
    """A text, the texts of messages in turn, or what else lies there as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float) or value is None:
        return text(value)
    if isinstance(value, dict):
        inner = next((value[key] for key in ("content", "text", "value") if value.get(key)), None)
        if inner is not None:
            return said(inner)
    if isinstance(value, list) and value and all(isinstance(each, str | dict) for each in value):
        parts = [part for each in value if (part := said(each))]
        return "\n\n".join(parts) or None
    return text(json.dumps(value, ensure_ascii=False)) if value else None


def hashed(*places: str) -> Function:
    """Name of an item that only its texts name."""
    return lambda scopes: text_hash(*(said(get(scopes, place)) or "" for place in places))


def joined(*places: str, by: str = " ") -> Function:
    """Texts that name something together; those that are missing are left out."""
    return lambda scopes: (
        by.join(part for place in places if (part := said(get(scopes, place)))) or None
    )


def numbered(place: str, less: int = 1) -> Function:
    """A number that the file counts from 1."""

    def from_zero(scopes: Scopes) -> float | None:
        found = number(get(scopes, place))
        return None if found is None else found - less

    return from_zero
