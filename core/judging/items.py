"""What is to be judged: prompts with two or more responses, from a CSV file or out of the store."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidOption, NoUsableVotes, UnreadableFile
from ..schema import Selection

if TYPE_CHECKING:
    from ..store import Store

PAIR = ("response_a", "response_b")
RESPONSE = re.compile(r"(?:response|candidate)_(\w+)\Z")
GOLD = {"1": 1, "+1": 1, "a": 1, "0": 0, "tie": 0, "-1": -1, "b": -1}
FIELD_LIMIT = 2**27
SHOWN = 10
"""Repeated rows that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A prompt and the responses to it.

    responses, models : texts and their authors, in canonical order: of two, the first is A.
    gold : +1 the first is better, 0 tie, −1 the second; None if unknown. Only for two responses.
    best : authors that are truly the best, for lists; () if unknown.
    estimation : the prompt asks to estimate a quantity, which APOCJudge does not override.
    """

    item_id: str
    prompt: str
    responses: tuple[str, ...]
    models: tuple[str, ...]
    gold: int | None = None
    best: tuple[str, ...] = ()
    category: str | None = None
    estimation: bool = False

    @property
    def digest(self) -> str:
        """Hash of everything that a judge sees or that names the comparison."""
        parts = [self.item_id, self.prompt, *self.models, *self.responses]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFile:
    """What a file asks to be judged. notes : what was left out, in words."""

    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


def read_items(path: Path) -> tuple[Item, ...]:
    """Items of a CSV file; see `read_file`."""
    return read_file(path).items


def read_file(path: Path) -> ItemFile:
    """Read a CSV file.

    Columns: `prompt` and `response_a`, `response_b`, or more `response_…` (also `candidate_…`); optional
    `item_id` (else a hash of the row's texts, so that the order of rows does not matter), `model_…` beside
    each response (else the letter), `gold` (1, 0, −1, A, tie, B; for lists the name of the best model),
    `category`, `estimation` (yes or no). A row that repeats an earlier one in all of this is left out, and a
    note says so.

    Raises
    ------
    UnreadableFile : no such file, no text, missing columns, a row that cannot be used, a name given twice, or
        rows that differ under one item_id and the same models, or in what is true of the same texts.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path.name}: cannot be read ({error})") from error
    return items_from(content, path.name)


def items_from(content: bytes, name: str) -> ItemFile:
    """Items of a CSV file whose bytes are there already; columns and errors as `read_file`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{name}: cannot be read as UTF-8 text ({error})") from error
    csv.field_size_limit(FIELD_LIMIT)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        rows = list(reader)
    except csv.Error as error:
        raise UnreadableFile(f"{name}, line {reader.line_num}: {error}") from error
    columns = list(reader.fieldnames or ())
    if len(set(columns)) < len(columns):
        raise UnreadableFile(f"{name}: a column is named twice: {', '.join(columns)}")
    letters = [found.group(1) for column in columns if (found := RESPONSE.match(column))]
    responses = [column for column in columns if RESPONSE.match(column)]
    if "prompt" not in columns or len(responses) < 2:
        raise UnreadableFile(
            f"{name}: needs the columns prompt, response_a and response_b (or more candidates); "
            f"it has {', '.join(columns) or 'none'}"
        )
    items = [_item(name, number, row, responses, letters) for number, row in enumerate(rows, start=1)]
    kept, notes = _once(items, name)
    return ItemFile(items=checked(kept, name), notes=notes)


def _once(items: list[Item], name: str) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """Each row once; the same row again is left out and said."""
    first: dict[str, int] = {}
    kept, repeated = [], []
    for number, item in enumerate(items, start=1):
        earlier = first.setdefault(item.digest, number)
        if earlier == number:
            kept.append(item)
            continue
        same = items[earlier - 1]
        for column in ("gold", "best", "category", "estimation"):
            if getattr(item, column) != getattr(same, column):
                raise UnreadableFile(
                    f"{name}, row {number}: the texts of row {earlier} with another "
                    f"{'gold' if column == 'best' else column}; correct one, or give both an item_id"
                )
        repeated.append(f"row {number} (as {earlier})")
    if not repeated:
        return tuple(kept), ()
    shown = ", ".join(repeated[:SHOWN]) + (", …" if len(repeated) > SHOWN else "")
    rows = (
        "1 row repeats an earlier one and is"
        if len(repeated) == 1
        else (f"{len(repeated):,} rows repeat earlier ones and are")
    )
    return tuple(kept), (f"{name}: {rows} asked once: {shown}",)


def _item(file: str, number: int, row: dict[str, str | None], names: list[str], letters: list[str]) -> Item:
    def cell(name: str) -> str:
        return row.get(name) or ""

    place = f"{file}, row {number}"
    if None in row or None in row.values():
        raise UnreadableFile(f"{place}: has more or fewer cells than the header; check its quotes")
    shown = [k for k, name in enumerate(names) if cell(name).strip()]
    if len(shown) < 2 or not cell("prompt").strip():
        raise UnreadableFile(f"{place}: needs a prompt and at least two responses; a cell is empty")
    default = [letter.upper() if len(letter) == 1 else letter for letter in letters]
    models = tuple(cell(f"model_{letters[k]}").strip() or default[k] for k in shown)
    if len(set(models)) < len(models):
        raise UnreadableFile(f"{place}: two responses have the same author: {', '.join(models)}")
    given, gold = cell("gold").strip(), None
    best: tuple[str, ...] = ()
    if given and len(shown) == 2 and given.lower() in GOLD:
        gold = GOLD[given.lower()]
    elif given and given in models:
        best, gold = (given,), None if len(shown) > 2 else 1 - 2 * models.index(given)
    elif given:
        raise UnreadableFile(f"{place}, column gold: {given!r} is neither 1, 0, -1, A, tie, B nor a model")
    estimation = cell("estimation").strip().lower()
    if estimation not in ("", "yes", "no", "true", "false", "1", "0"):
        raise UnreadableFile(f"{place}, column estimation: {estimation!r}; write yes or no")
    responses = tuple(cell(names[k]) for k in shown)
    return Item(
        item_id=cell("item_id").strip() or _hashed(cell("prompt"), *models, *responses),
        prompt=cell("prompt"),
        responses=responses,
        models=models,
        gold=gold,
        best=best,
        category=cell("category").strip() or None,
        estimation=estimation in ("yes", "true", "1"),
    )


def _hashed(*texts: str) -> str:
    """An item_id for texts without one. Among a million rows two share 16 digits by a chance of 3e-8."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


def items_of(store: Store, dataset: str) -> tuple[Item, ...]:
    """Comparisons of a loaded data set that have their texts.

    Raises NoUsableVotes if none has.
    """
    from ..store.export import judgements

    with store.snapshot() as moment:
        votes = judgements(moment, Selection(datasets=(dataset,)), "votes")
    names = ("item_id", "model_a", "model_b", "prompt", "response_a", "response_b", "gold", "category")
    found: dict[tuple[str, str, str], Item] = {}
    for row in votes.select(names).to_pylist():
        key = (row["item_id"], row["model_a"], row["model_b"])
        if key not in found and all(row[name] for name in ("prompt", *PAIR)):
            found[key] = Item(
                item_id=row["item_id"],
                prompt=row["prompt"],
                responses=(row["response_a"], row["response_b"]),
                models=(row["model_a"], row["model_b"]),
                gold=row["gold"],
                category=row["category"],
            )
    if not found:
        raise NoUsableVotes(
            f"The votes of {dataset} carry no texts: judging anew needs prompt, response_a and response_b"
        )
    return checked(tuple(found.values()), dataset)


def checked(items: tuple[Item, ...], source: str) -> tuple[Item, ...]:
    """The items, if each comparison is there once.

    Raises UnreadableFile otherwise, or if there is none.
    """
    if not items:
        raise UnreadableFile(
            f"{source}: has no row; a line under the header is one prompt with its responses"
        )
    seen: set[tuple[str, ...]] = set()
    for item in items:
        key = (item.item_id, *item.models)
        if key in seen:
            raise UnreadableFile(f"{source}: item {item.item_id!r} is there twice with the same models")
        seen.add(key)
    return items


def paired(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items, if all have exactly two responses.

    Raises InvalidOption otherwise.
    """
    for item in items:
        if len(item.responses) != 2:
            raise InvalidOption(
                f"item {item.item_id!r} has {len(item.responses)} responses: pairs need two. "
                "Use --protocol listwise or score for more."
            )
    return items


def alone(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Each response by itself, as an item of one; a response that several comparisons share is there once.

    Raises InvalidOption if a model has two responses to one item: its scores would be one another's.
    """
    found: dict[tuple[str, str], Item] = {}
    for item in items:
        for model, text in zip(item.models, item.responses, strict=True):
            place = (item.item_id, model)
            if place not in found:
                found[place] = replace(item, responses=(text,), models=(model,), gold=None, best=())
            elif (found[place].prompt, found[place].responses) != (item.prompt, (text,)):
                raise InvalidOption(
                    f"item {item.item_id!r} has two different texts of {model!r}: a score is kept by item "
                    "and model. Give each prompt with its responses an item_id of its own"
                )
    return tuple(found.values())


def listed(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items, if each item_id has one list: rankings are kept by item.

    Raises InvalidOption otherwise.
    """
    seen = set()
    for item in items:
        if item.item_id in seen:
            raise InvalidOption(
                f"item {item.item_id!r} has several lists of candidates: a ranking is kept by item. Put all "
                "its candidates into one row, or give each row an item_id of its own"
            )
        seen.add(item.item_id)
    return items


def lists_of(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """One list an item, of all the responses that its comparisons show, in order of their authors' names.

    The best is who beats every other by gold, if anybody does. An item with one comparison stays as it is.

    Raises InvalidOption if a model has two responses to one item.
    """
    singles = defaultdict(list)
    for single in alone(items):
        singles[single.item_id].append(single)
    together = defaultdict(list)
    for item in items:
        together[item.item_id].append(item)
    return tuple(
        given[0] if len(given) == 1 else _list(sorted(singles[item_id], key=lambda one: one.models), given)
        for item_id, given in together.items()
    )


def _list(shown: list[Item], given: list[Item]) -> Item:
    names = tuple(one.models[0] for one in shown)
    beaten: dict[str, set[str]] = defaultdict(set)
    for item in given:
        best = item.best or (() if not item.gold else (item.models[0 if item.gold > 0 else 1],))
        for name in best:
            beaten[name] |= set(item.models) - set(best)
    first = tuple(name for name in names if beaten[name] == set(names) - {name})
    responses = tuple(one.responses[0] for one in shown)
    return replace(shown[0], models=names, responses=responses, best=first)
