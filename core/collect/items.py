"""What is to be judged: prompts with two or more responses, from a CSV file or out of the store."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidOption, NoUsableVotes, UnreadableFile
from ..importers.arrow_tables import arrow_table
from ..importers.columns import Rejects
from ..importers.databases import with_table
from ..importers.json_tables import read_records
from ..importers.layouts import plain
from ..importers.options import ReadOptions
from ..importers.raters import of_people
from ..importers.source import open_source
from ..importers.tables import read_delimited
from ..labels import grade_word
from ..reading.words import SYNONYMS, UNGRADED
from ..schema import ONE_METRIC

if TYPE_CHECKING:
    from ..store import Store

RESPONSE = re.compile(r"(?:response|candidate)_(\w+)\Z")
GOLD = {"1": 1, "+1": 1, "a": 1, "0": 0, "tie": 0, "-1": -1, "b": -1}
ESTIMATION = {
    "": False,
    "no": False,
    "false": False,
    "0": False,
    "yes": True,
    "true": True,
    "1": True,
}
KNOWN = ("item_id", "prompt", "gold", "category", "estimation")
"""Columns with a meaning of their own, beside responses and their authors."""
SHOWN = 10
"""Repeated rows that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A prompt and the responses to it.

    responses, models : texts and their authors, in canonical order: of two, the first is A.
    gold : +1 the first is better, 0 tie, −1 the second; None if unknown. Only for two responses.
    people : what people say of the only response, as columns with their cells.
    best : authors that are truly the best, for lists; () if unknown.
    more : further columns by name, such as `reference`, which a prompt of one's own may show.
    estimation : the prompt asks to estimate a quantity, which APOCJudge does not override.
    perturbed : the change that its texts have, as `schema.Perturbed` names it; "" none.
    sealed : for proofs, so that no prompt shows it as an example.
    """

    item_id: str
    prompt: str
    responses: tuple[str, ...]
    models: tuple[str, ...]
    gold: int | None = None
    best: tuple[str, ...] = ()
    people: tuple[tuple[str, str], ...] = ()
    category: str | None = None
    estimation: bool = False
    more: tuple[tuple[str, str], ...] = ()
    perturbed: str = ""
    sealed: bool = False

    @property
    def digest(self) -> str:
        """Hash of everything that a judge sees or that names the comparison."""
        return digest_of([self.item_id, self.prompt, *self.models, *self.responses])


def digest_of(facts: object) -> str:
    """sha256 of facts as JSON."""
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFile:
    """What a file asks to be judged. notes : what was left out, in words."""

    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


def read_items(path: Path) -> tuple[Item, ...]:
    """Items of a CSV file; see `read_file`."""
    return read_file(path).items


def read_file(path: Path) -> ItemFile:
    """Read a CSV, JSON Lines (`.jsonl`, `.ndjson`) or Parquet file, or any other that votes may be
    in: a workbook, a table of a database (`items.sqlite::prompts`), JSON.

    Columns: `prompt` and `response`, or `response_a`, `response_b` or more `response_…` (also
    `candidate_…`); beside a single response `model`, its author, and what people say of it
    (`human_passed`; by several people their majority).
    optional `item_id` (else a hash of the row's texts, so that the order of rows does not matter),
    `model_…` beside each response (else the letter), `gold` (1, 0, −1, A, tie, B; for lists the
    name of the best model), `category`, `estimation` (yes or no). A prompt may be a JSON list of
    messages, the system's too. Any other column goes with the item: a prompt may show it by its
    name. A row that repeats an earlier one is left out, and a note says so.

    Raises UnreadableFile : no such file, no text, missing columns, a row that cannot be used, a
        name given twice, or
    rows that differ under one item_id and the same models, or in what is true of the same texts.
    """
    file, _ = with_table(path.name, path)
    try:
        content = file.read_bytes() if isinstance(file, Path) else file
    except OSError as error:
        raise UnreadableFile(f"{path.name}: cannot be read ({error})") from error
    return items_from(content, path.name)


def items_from(content: bytes, name: str) -> ItemFile:
    """Items of a file whose bytes are there already; columns and errors as `read_file`."""
    source = open_source(name, content, ReadOptions().max_bytes)
    if source.kind == "delimited":
        table = read_delimited(source)
        columns, rejects = list(table.columns), table.rejects
        cells = (column.to_pylist() for column in table.columns.values())
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]
    elif source.kind == "json":
        found = read_records(source, lambda whole: "prompt" in whole)
        rows, rejects = [dict(record) for record in found.records], found.rejects
        columns = list(dict.fromkeys(name for row in rows for name in row))
    else:
        parquet = arrow_table(name, source.data, ReadOptions().max_bytes)
        rows, columns, rejects = parquet.to_pylist(), parquet.column_names, Rejects()
    for number, _, _, reason, _ in rejects.found:
        raise UnreadableFile(f"{name}, row {number}: {reason}")
    return _items([{name: _cell(row.get(name)) for name in columns} for row in rows], columns, name)


def _cell(value: object) -> str:
    """The text of a value; of a list or an object its JSON."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else str(value)


def _items(rows: list[dict[str, str]], columns: list[str], name: str) -> ItemFile:
    responses = {column: match.group(1) for column in columns if (match := RESPONSE.match(column))}
    if "prompt" in columns and "response" in columns and not responses:
        responses = {"response": "response"}
    if "prompt" not in columns or not (len(responses) > 1 or "response" in responses):
        raise UnreadableFile(
            f"{name}: needs the columns prompt, response_a and response_b (or more candidates), or "
            "prompt and response; "
            f"it has {', '.join(columns) or 'none'}"
        )
    items = [
        _item(f"{name}, row {number}", row, responses) for number, row in enumerate(rows, start=1)
    ]
    kept, notes = _once(items, name)
    if "response" in responses:
        notes = (*notes, *_of_people(kept, columns, name))
    twice = _repeated((item.item_id, *item.models) for item in kept)
    if twice is not None:
        raise UnreadableFile(f"{name}: item {twice[0]!r} is there twice with the same models")
    return ItemFile(items=kept, notes=notes)


def _once(items: list[Item], name: str) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """Each row once; the same row again is left out, with a note."""
    first: dict[str, int] = {}
    kept, repeated = [], []
    for number, item in enumerate(items, start=1):
        earlier = first.setdefault(item.digest, number)
        if earlier == number:
            kept.append(item)
            continue
        for column in ("gold", "people", "best", "category", "estimation"):
            if getattr(item, column) != getattr(items[earlier - 1], column):
                raise UnreadableFile(
                    f"{name}, row {number}: the texts of row {earlier} with another "
                    f"{'gold' if column in ('best', 'people') else column}; correct one, or "
                    "give both an item_id"
                )
        repeated.append(f"row {number} (as {earlier})")
    if not repeated:
        return tuple(kept), ()
    shown = ", ".join(repeated[:SHOWN]) + (", …" if len(repeated) > SHOWN else "")
    single, several = (
        "1 row repeats an earlier one and is",
        f"{len(repeated):,} rows repeat earlier ones and are",
    )
    return tuple(kept), (
        f"{name}: {single if len(repeated) == 1 else several} judged once: {shown}",
    )


def _item(place: str, cells: dict[str, str], columns: dict[str, str]) -> Item:
    """The item of a row. columns : of responses, with what their names end in."""

    def cell(name: str) -> str:
        return cells.get(name, "").strip()

    shown = {name: letter for name, letter in columns.items() if cell(name)}
    single = columns.keys() == {"response"}
    if len(shown) < 2 - single or not cell("prompt"):
        needed = "a response" if single else "at least two responses"
        raise UnreadableFile(f"{place}: needs a prompt and {needed}; a cell is empty")
    default = {letter: letter.upper() if len(letter) == 1 else letter for letter in shown.values()}
    models = tuple(cell(f"model_{letter}") or name for letter, name in default.items())
    if single:
        models = (cell("model") or "response",)
    if len(set(models)) < len(models):
        raise UnreadableFile(f"{place}: two responses have the same author: {', '.join(models)}")
    gold, best = (None, ()) if single else _gold(cell("gold"), models, place)
    estimation = cell("estimation").lower()
    if estimation not in ESTIMATION:
        raise UnreadableFile(f"{place}, column estimation: {estimation!r}; write yes or no")
    responses = tuple(cells[name] for name in shown)
    named = {*KNOWN, *columns, *(f"model_{letter}" for letter in columns.values())}
    named |= {"model", *filter(is_label, cells)} if single else set()
    more = (
        (name, text) for name, text in cells.items() if name.isidentifier() and name not in named
    )
    return Item(
        # Among a million rows two share 16 digits by a chance of 3e-8.
        item_id=cell("item_id") or digest_of([cells["prompt"], *models, *responses])[:16],
        prompt=_conversation(cells["prompt"], place),
        responses=responses,
        models=models,
        gold=gold,
        best=best,
        people=_said(cells) if single else (),
        category=cell("category") or None,
        estimation=ESTIMATION[estimation],
        more=tuple((name, text) for name, text in more if text.strip()),
    )


def is_label(column: str) -> bool:
    """Whether a column beside a single response holds what people say of it."""
    return plain(column) in ("gold", "label", *SYNONYMS["gold"]) or of_people(column)


def _said(cells: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What people say of a response, as it stands in their columns."""
    return tuple(
        (column, text.strip())
        for column, text in cells.items()
        if is_label(column) and text.strip() and grade_word(text) not in UNGRADED
    )


def _of_people(items: Sequence[Item], columns: Sequence[str], name: str) -> tuple[str, ...]:
    """What is taken for people's labels, in words."""
    people = [column for column in columns if is_label(column)]
    if not people:
        return ()
    labels = sum(bool(item.people) for item in items)
    what = "is a person's verdict" if len(people) == 1 else "are people's verdicts"
    return (f"{name}: {' and '.join(people)} {what}: {labels:,} labels",)


def _conversation(text: str, place: str) -> str:
    """The prompt; a JSON list of messages (`role`, `content`) as a plain conversation."""
    try:
        messages = json.loads(text) if text.lstrip().startswith("[") else None
    except ValueError:
        return text
    if not isinstance(messages, list) or not all(
        isinstance(message, dict) and "role" in message for message in messages
    ):
        return text
    turns = []
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = [
            part["text"]
            for part in parts
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        if len(texts) < len(parts):
            raise UnreadableFile(
                f"{place}, column prompt: a message of {message['role']!r} is not all text"
            )
        turns.append("\n".join([f"{str(message['role']).capitalize()}:", *texts]))
    return "\n\n".join(turns) or text


def _gold(given: str, models: tuple[str, ...], place: str) -> tuple[int | None, tuple[str, ...]]:
    """The verdict on a pair, and the best model where that is named."""
    if not given:
        return None, ()
    if len(models) == 2 and given.lower() in GOLD:
        return GOLD[given.lower()], ()
    if given not in models:
        raise UnreadableFile(
            f"{place}, column gold: {given!r} is neither 1, 0, -1, A, tie, B nor a model"
        )
    return (None if len(models) > 2 else 1 - 2 * models.index(given)), (given,)


def items_of(store: Store, dataset: str) -> tuple[Item, ...]:
    """What a loaded data set has with its texts: comparisons; without one, single answers with what
    people say of them.

    Raises NoUsableVotes if none has texts.
    """
    from ..store.export import answers_with_texts, with_texts

    with store.snapshot() as moment:
        rows = with_texts(moment, dataset).to_pylist()
        answers = [] if rows else answers_with_texts(moment, dataset).to_pylist()
    if not rows and not answers:
        raise NoUsableVotes(
            f"The votes of {dataset} carry no texts: collecting votes on them needs prompt, "
            "response_a and response_b, or prompt and response"
        )
    pairs = (
        Item(
            item_id=row["item_id"],
            prompt=row["prompt"],
            responses=(row["response_a"], row["response_b"]),
            models=(row["model_a"], row["model_b"]),
            gold=row["gold"],
            category=row["category"],
        )
        for row in rows
    )
    return (*pairs, *_answers(answers))


def _answers(rows: Iterable[Mapping[str, Any]]) -> Iterator[Item]:
    """Each answer once, out of its scores, with what each person says of it, or else its gold."""
    by_answer = defaultdict(list)
    for row in rows:
        by_answer[row["item_id"], row["model"] or "response"].append(row)
    for (item_id, model), scores in by_answer.items():
        whole = [row for row in scores if row["metric"] == ONE_METRIC] or scores
        said = {
            row["judge"]: row["score"]
            for row in whole
            if row["rater_type"] == "human" and row["score"] is not None
        }
        gold = [("gold", row["gold"]) for row in whole if row["gold"] is not None]
        yield Item(
            item_id=item_id,
            prompt=scores[0]["prompt"],
            responses=(scores[0]["response"],),
            models=(model,),
            people=tuple((name, f"{label:g}") for name, label in [*said.items()] or gold[:1]),
            category=scores[0]["category"],
        )


def _repeated(keys: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The first key that is there for the second time."""
    seen = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    return None


def paired(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items, if all have exactly two responses. Raises InvalidOption otherwise."""
    for item in items:
        if len(item.responses) != 2:
            raise InvalidOption(
                "item {item_id!r} has {responses} responses: pairs need two. "
                "Use {option:protocol pass} or score for one, listwise for more.",
                item_id=item.item_id,
                responses=len(item.responses),
            )
    return items


def alone(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Each response by itself, as an item of one; a response that several comparisons share is
    there once.

    Raises InvalidOption if a model has two responses to one item: its scores would be one
    another's.
    """
    answers: dict[tuple[str, str], Item] = {}
    for item in items:
        for model, text in zip(item.models, item.responses, strict=True):
            place = (item.item_id, model)
            if place not in answers:
                people = item.people if len(item.responses) == 1 else ()
                answers[place] = replace(
                    item, responses=(text,), models=(model,), gold=None, best=(), people=people
                )
            elif (answers[place].prompt, answers[place].responses) != (item.prompt, (text,)):
                raise InvalidOption(
                    f"item {item.item_id!r} has two different texts of {model!r}: a score is kept "
                    "by item "
                    "and model. Give each prompt with its responses an item_id of its own"
                )
    return tuple(answers.values())


def listed(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items, if each item_id has one list: rankings are kept by item. Raises InvalidOption
    otherwise.
    """
    for item in items:
        if len(item.responses) < 2:
            raise InvalidOption(
                "item {item_id!r} has one response: lists need two or more. "
                "Use {option:protocol pass} or score",
                item_id=item.item_id,
            )
    twice = _repeated((item.item_id,) for item in items)
    if twice is not None:
        raise InvalidOption(
            f"item {twice[0]!r} has several lists of candidates: a ranking is kept by item. Put "
            "all "
            "its candidates into one row, or give each row an item_id of its own"
        )
    return items


def lists_of(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """One list per item, of all the responses that its comparisons show, in order of their authors'
    names.

    The best is who beats every other by gold, if anybody does. An item with one comparison stays as
    it is.

    Raises InvalidOption if a model has two responses to one item.
    """
    alone(items)
    by_id = defaultdict(list)
    for item in items:
        by_id[item.item_id].append(item)
    return tuple(given[0] if len(given) == 1 else _list(given) for given in by_id.values())


def _list(given: list[Item]) -> Item:
    texts = {
        model: text
        for item in given
        for model, text in zip(item.models, item.responses, strict=True)
    }
    names = tuple(sorted(texts))
    beaten: dict[str, set[str]] = defaultdict(set)
    for item in given:
        best = item.best or (() if not item.gold else (item.models[0 if item.gold > 0 else 1],))
        for name in best:
            beaten[name] |= set(item.models) - set(best)
    return replace(
        next(item for item in given if names[0] in item.models),
        models=names,
        responses=tuple(texts[name] for name in names),
        gold=None,
        best=tuple(name for name in names if beaten[name] == set(names) - {name}),
    )
