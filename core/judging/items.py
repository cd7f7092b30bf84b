"""What is to be judged: prompts with two or more responses, from a CSV file or out of the store."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.votes import InvalidOption, NoUsableVotes, Selection, UnreadableFile

if TYPE_CHECKING:
    from core.store import Store

PAIR = ("response_a", "response_b")
RESPONSE = re.compile(r"(?:response|candidate)_(\w+)\Z")
GOLD = {"1": 1, "+1": 1, "a": 1, "0": 0, "tie": 0, "-1": -1, "b": -1}
FIELD_LIMIT = 2**27


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


def read_items(path: Path) -> tuple[Item, ...]:
    """Items of a CSV file.

    Columns: `prompt` and `response_a`, `response_b`, or more `response_…` (also `candidate_…`); optional
    `item_id` (else the row's number), `model_…` beside each response (else the letter), `gold` (1, 0, −1, A,
    tie, B; for lists the name of the best model), `category`, `estimation` (yes or no).

    Raises
    ------
    UnreadableFile : no such file, no text, missing columns, a row that cannot be used, or a name given twice.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path.name}: cannot be read ({error})") from error
    return items_from(content, path.name)


def items_from(content: bytes, name: str) -> tuple[Item, ...]:
    """Items of a CSV file that is read already; columns and errors as `read_items`."""
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
    return checked(tuple(items), name)


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
    return Item(
        item_id=cell("item_id").strip() or str(number),
        prompt=cell("prompt"),
        responses=tuple(cell(names[k]) for k in shown),
        models=models,
        gold=gold,
        best=best,
        category=cell("category").strip() or None,
        estimation=estimation in ("yes", "true", "1"),
    )


def items_of(store: Store, dataset: str) -> tuple[Item, ...]:
    """Comparisons of a loaded data set that have their texts.

    Raises NoUsableVotes if none has.
    """
    from core.store.export import export_votes

    with store.snapshot() as moment:
        votes = export_votes(moment, Selection(datasets=(dataset,)))
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
