"""What a reading says of items as keys: its units, its judgements, the labels of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..schema import FORMS, RANKINGS, ImportResult, Kind
from .columns import cell_codes, is_text
from .source import stem_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Rows = NDArray[np.int64]

_PENDING = 32

MODELS: dict[Kind, tuple[str, ...]] = {
    "votes": ("model_a", "model_b"),
    "scores": ("model",),
    "rankings": ("candidate",),
}

_TEXTS: dict[Kind, tuple[str, ...]] = {
    "votes": ("prompt", "response_a", "response_b"),
    "scores": ("prompt", "response"),
    "rankings": ("prompt", "response"),
}

_LABEL: dict[Kind, tuple[str, str] | None] = {
    "votes": ("gold", "vote"),
    "scores": ("gold", "score"),
    "rankings": None,
}
"""Columns of gold, and of what people say."""

_MIX = np.uint64(0x9E3779B97F4A7C15)

_SPREAD = np.uint64(0xBF58476D1CE4E5B9)


@dataclass(slots=True, eq=False)
class Index:
    """Numbers by key: of equal keys the first added, or the highest."""

    highest: bool = False
    parts: list[tuple[Keys, Rows]] = field(default_factory=list)

    def add(self, keys: Keys, numbers: Rows) -> None:
        self.parts.append(self._once(keys, numbers))
        if len(self.parts) > _PENDING:
            columns = zip(*self.parts, strict=True)
            self.parts = [self._once(*(np.concatenate(column) for column in columns))]

    def _once(self, keys: Any, numbers: Any) -> tuple[Keys, Rows]:
        order = np.lexsort((-numbers, keys)) if self.highest else np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
        first = np.ones(len(keys), bool)
        first[1:] = keys[1:] != keys[:-1]
        return keys[first], numbers[first]

    def find(self, keys: Keys) -> Rows:
        """The number of each key, −1 where there is none."""
        numbers = np.full(len(keys), -1, np.int64)
        for known, of_known in self.parts:
            place, here = places_of(keys, known)
            if self.highest:
                numbers[here] = np.maximum(numbers[here], of_known[place[here]])
            else:
                new = here & (numbers < 0)
                numbers[new] = of_known[place[new]]
        return numbers


def places_of(keys: Keys, known: Keys) -> tuple[Rows, NDArray[np.bool_]]:
    """Where each key is among sorted ones, and whether it is there."""
    if not len(known):
        return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return place, known[place] == keys


@dataclass(slots=True, eq=False)
class Part:
    """What one reading says: its units (an item and its models), and its judgements.

    by_row : the file names no items, so each of its rows is one.
    units : key of each row's unit, by the file's names.  once : where each unit first stands.
    final : names of the items by row, as they are in the end.  space : number of the group.
    judgements : sorted keys of the judgements, which are those of the rows `order`.
    kept : rows that no earlier file holds.  low : number of the first run.
    said : keys of what the rows say, once they were asked for.
    """

    result: ImportResult
    by_row: bool
    units: Keys
    once: Rows
    final: pa.DictionaryArray
    judgements: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    order: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    kept: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    space: int = 0
    low: int = 0
    said: Keys | None = None
    unsure: str = ""

    @classmethod
    def of(cls, result: ImportResult, several: bool) -> Part:
        table = result.votes
        names = cells_of(table, "item_id")
        by_row = named_by_row(names, stem_of(result.name), table["row"])
        named = ["dataset"] if several else []
        units = keys_of_columns(table, [*named, "item_id", *MODELS[result.kind]])
        once = np.sort(np.unique(units, return_index=True)[1])
        return cls(result=result, by_row=by_row, units=units, once=once, final=names)

    def say(self, note: str) -> None:
        """Add a note to the reading, once."""
        if note in self.result.notes:
            return
        self.result = replace(self.result, notes=(*self.result.notes, note))

    @property
    def has_texts(self) -> bool:
        table = self.result.votes
        return any(table[name].null_count < len(table) for name in _TEXTS[self.result.kind])

    def texts(self, rows: Rows) -> NDArray[np.uint64]:
        """Keys of the prompt and responses of rows, a column each; 0 where there is none."""
        columns = [
            keys_of_cells(
                cells_of(self.result.votes.select([name]).take(rows), name), _hash_of_text
            )
            for name in _TEXTS[self.result.kind]
        ]
        return np.stack(columns, axis=1)

    def labels(self) -> tuple[Keys, NDArray[np.float64]]:
        """Sorted keys of labelled units, of scores by metric, and the label of each: gold, else
        the mean of people.
        """
        columns = _LABEL[self.result.kind]
        table = self.result.votes
        if columns is None:
            return np.zeros(0, np.uint64), np.zeros(0)
        gold, said = (numbers_of(table[name]) for name in columns)
        if np.isnan(gold).all():
            human = is_text(cells_of(table, "rater_type"), "human")
            gold = np.where(human, said, np.nan)
        own = np.flatnonzero(~np.isnan(gold))
        key = self.units[own]
        if self.result.kind == "scores":
            key = mixed_keys(key, keys_of_columns(table, ["metric"])[own])
        key, place = np.unique(key, return_inverse=True)
        mean = np.bincount(place, gold[own], len(key)) / np.maximum(np.bincount(place), 1)
        return key, mean

    def key_judgements(self) -> None:
        """Sort the judgements by the key that they have under the final names of their items."""
        named = (
            keys_of_columns(self.result.votes, ["row"])
            if self.by_row
            else keys_of_cells(self.final, hash)
        )
        run = numbers_of(self.result.votes["run"]) - self.low
        key = mixed_keys(self.without_run(named), (run + 0.0).view(np.uint64))
        if self.result.kind == "rankings":
            key = mixed_keys(key, keys_of_columns(self.result.votes, ["candidate"]))
        self.order = np.argsort(key, kind="stable")
        self.judgements = key[self.order]

    def without_run(self, items: Keys) -> Keys:
        """What was judged, by whom, on what and in which order."""
        form = FORMS[self.result.kind]
        rest = [name for name in form.key if name not in ("run", "dataset", "item_id")]
        return mixed_keys(items, keys_of_columns(self.result.votes, rest))

    def count(self, rows: Any) -> int:
        """Judgements of some rows; a ranking has several."""
        if self.result.kind != "rankings":
            return len(rows)
        return int(self.result.votes.take(rows).group_by(list(RANKINGS.key)).aggregate([]).num_rows)

    def cells(self, rows: Rows) -> Keys:
        """Key of all that rows say besides what tells them apart."""
        if self.said is not None:
            return self.said[rows]
        table = self.result.votes
        apart = {"dataset", "item_id", "run", "row", "extra"}
        said = [name for name in FORMS[self.result.kind].names if name not in apart]
        self.said = mixed_keys(keys_of_columns(table, said), _keys_of_maps(table["extra"]))
        return self.said[rows]


def cells_of(table: pa.Table, name: str) -> pa.DictionaryArray:
    """A column of texts, by its dictionary."""
    import pyarrow as pa

    column = table[name]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    cells = column.unify_dictionaries().combine_chunks()
    return cells.chunk(0) if isinstance(cells, pa.ChunkedArray) else cells


def keys_of_columns(table: pa.Table, names: Iterable[str]) -> Keys:
    """One key of several columns of texts and numbers, by row."""
    import pyarrow as pa

    key = np.zeros(len(table), np.uint64)
    for name in names:
        kind = table.schema.field(name).type
        text = pa.types.is_dictionary(kind) or pa.types.is_string(kind)
        own = keys_of_cells(cells_of(table, name), hash) if text else _keys_of_numbers(table[name])
        key = mixed_keys(key, own)
    return key


def keys_of_cells(cells: pa.DictionaryArray, function: Callable[[str], int]) -> Keys:
    """A key of each text, 0 where there is none; hashes are of this process only."""
    texts = cells.dictionary.to_pylist()
    own = np.array([*(function(text) % 2**64 for text in texts), 0], np.uint64)
    return own[cell_codes(cells)]


def _keys_of_numbers(column: pa.ChunkedArray) -> Keys:
    numbers = numbers_of(column)
    numbers[np.isnan(numbers)] = np.nan
    return (numbers + 0.0).view(np.uint64)


def _keys_of_maps(column: pa.ChunkedArray) -> Keys:
    """A key of the other columns of each row, whatever their order."""
    parts = []
    for chunk in column.chunks:
        offsets = chunk.offsets.to_numpy()
        first, last = int(offsets[0]), int(offsets[-1])
        names, texts = (
            (
                keys_of_cells(side.slice(first, last - first).dictionary_encode(), hash)
                for side in (chunk.keys, chunk.items)
            )
            if last > first
            else (np.zeros(0, np.uint64),) * 2
        )
        sums = np.append(np.zeros(1, np.uint64), np.cumsum(mixed_keys(names, texts)))
        parts.append(sums[offsets[1:] - first] - sums[offsets[:-1] - first])
    return np.concatenate([np.zeros(0, np.uint64), *parts])


def _hash_of_text(text: str) -> int:
    return hash(" ".join(text.split()))


def mixed_keys(key: Keys, other: Keys) -> Keys:
    key = (key ^ (key >> np.uint64(31))) * _MIX + other * _SPREAD
    return key ^ (key >> np.uint64(29))


def numbers_of(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """A column of numbers, NaN where there is none."""
    return np.array(column.to_numpy(), np.float64)


def runs_of(table: pa.Table) -> Rows:
    return np.nan_to_num(numbers_of(table["run"])).astype(np.int64)


def named_by_row(names: pa.DictionaryArray, stem: str, rows: Any) -> bool:
    """Whether the items are named by file and row, as they are where nothing names them."""
    ends = (0, len(names) // 2, len(names) - 1)
    return all(names[place].as_py() == f"{stem} {rows[place].as_py()}" for place in ends)
