"""From typed columns to a Reading: defaults, repetitions, duplicates, conflicts and the Arrow table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.importers.columns import Coded, Codes, Mask, Numbers, Rejects, group
from core.importers.source import Source
from core.votes import VOTES, Form, Reading

_DTYPES = {"int": np.int64, "float": np.float64}
COMPARISON = ("dataset", "item_id", "model_a", "model_b")
_TWICE = {
    "votes": "the same models, judge, run and position {} but another vote, confidence, gold or status",
    "scores": "the same model, judge and run {} but another score or status",
}


@dataclass(slots=True, eq=False, kw_only=True)
class Draft:
    """Judgements of one file, typed, in the columns of a form, before rows are held against each other.

    row : data row of the file that each comes from.
    text, numbers : canonical columns; a column in neither takes its default.
    extra : other columns of the file.
    rows : data rows in the file.
    """

    row: NDArray[np.int64]
    text: dict[str, Coded]
    numbers: dict[str, Numbers]
    rejects: Rejects
    rows: int
    extra: dict[str, Coded] = field(default_factory=dict)
    mapping: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    gold_only: bool = False
    form: Form = VOTES

    def take(self, keep: Mask) -> None:
        """Keep only these rows."""
        if keep.all():
            return
        self.row = self.row[keep]
        self.text = {name: column.take(keep) for name, column in self.text.items()}
        self.numbers = {name: Numbers(c.values[keep], c.valid[keep]) for name, c in self.numbers.items()}
        self.extra = {name: column.take(keep) for name, column in self.extra.items()}


def finish(
    draft: Draft, source: Source, format: str, *, constants: Mapping[str, str], dataset: str
) -> Reading:
    """Fill defaults, reject conflicts, drop duplicates, and build the table.

    A vote's key is (dataset, item, models, judge, run, position). Votes with the same key and the same vote,
    confidence, gold and status load once; with others, all of them are rejected. In a file without a run
    column a
    key that comes with different votes means repetitions: all its rows are numbered 0, 1, 2 … in file order.
    Comparisons with two different gold labels lose the rows that carry them. A direct score, whose key is
    (dataset, item, model, judge, run), is held against others in the same way. Source: methods §0 (ours).
    """
    numbered = "run" in draft.numbers
    fill(draft, constants, dataset)
    if draft.form is VOTES:
        _reject_gold_conflicts(draft)
    duplicates = _settle_keys(draft, numbered=numbered)
    return made(draft, source, format, duplicates)


def made(draft: Draft, source: Source, format: str, duplicates: int) -> Reading:
    """The reading of a draft in which every column of its form is filled."""
    import pyarrow as pa

    schema = draft.form.schema()
    arrays = [
        (draft.text[column.name] if column.kind == "text" else draft.numbers[column.name]).arrow()
        for column in draft.form.columns
    ]
    arrays += [_extra(draft.extra, len(draft.row), schema.field("extra").type), pa.array(draft.row)]
    votes = pa.table(
        [array.cast(kind) for array, kind in zip(arrays, schema.types, strict=True)], schema=schema
    )
    return Reading(
        name=source.name,
        sha256=source.sha256,
        format=format,
        rows=draft.rows,
        votes=votes,
        rejects=draft.rejects.table(),
        duplicates=duplicates,
        mapping=draft.mapping,
        notes=tuple(draft.notes),
        gold_only=draft.gold_only,
        kind=draft.form.kind,
    )


def fill(draft: Draft, constants: Mapping[str, str], dataset: str) -> None:
    """Give every column of the form its cells: the file's, the constant, the default, or missing."""
    n = len(draft.row)
    for column in draft.form.columns:
        if column.kind == "text":
            if column.name in constants:
                draft.text[column.name] = Coded.constant(constants[column.name], n)
            cells = draft.text.get(column.name, Coded.constant(None, n))
            default = dataset if column.name == "dataset" else column.default
            if draft.gold_only and column.name in ("status", "rater_type"):
                default = None
            draft.text[column.name] = cells.filled(str(default)) if default is not None else cells
        elif column.name not in draft.numbers:
            draft.numbers[column.name] = Numbers.constant(None, n, _DTYPES[column.kind])
    run = draft.numbers["run"]
    draft.numbers["run"] = Numbers(np.where(run.valid, run.values, 0), np.full(n, not draft.gold_only))


def key_codes(draft: Draft, names: tuple[str, ...]) -> Codes:
    """One code for each distinct combination of these columns."""
    columns = []
    for name in names:
        if name in draft.text:
            columns.append(draft.text[name].codes)
        else:
            numbers = draft.numbers[name]
            distinct = np.unique(numbers.values, return_inverse=True)[1].astype(np.int64)
            columns.append(np.where(numbers.valid, distinct, -1))
    return group(*columns)


def _reject_gold_conflicts(draft: Draft) -> None:
    gold = draft.numbers["gold"]
    if not gold.valid.any():
        return
    comparison = key_codes(draft, COMPARISON)
    low = np.full(comparison.max(initial=0) + 1, 2, np.int64)
    high = np.full_like(low, -2)
    np.minimum.at(low, comparison[gold.valid], gold.values[gold.valid])
    np.maximum.at(high, comparison[gold.valid], gold.values[gold.valid])
    bad = gold.valid & (low < high)[comparison]
    for i in np.flatnonzero(bad):
        draft.rejects.add(
            int(draft.row[i]),
            "gold",
            str(gold.values[i]),
            f"item {item_name(draft, i)} has different gold labels in this file; keep one of them",
        )
    draft.take(~bad)


def _settle_keys(draft: Draft, *, numbered: bool) -> int:
    """Number repetitions or reject conflicts, drop duplicates, and count those."""
    n = len(draft.row)
    if n == 0:
        return 0
    key = key_codes(draft, draft.form.key)
    repeated = np.flatnonzero((np.bincount(key) > 1)[key])
    if not len(repeated):
        return 0
    content = key_codes(draft, draft.form.content)
    sub = repeated[np.lexsort((repeated, key[repeated]))]
    starts = np.r_[True, key[sub][1:] != key[sub][:-1]]
    first = sub[np.maximum.accumulate(np.where(starts, np.arange(len(sub)), 0))]
    groups = np.cumsum(starts) - 1
    differs = np.zeros(groups[-1] + 1, bool)
    np.logical_or.at(differs, groups, content[sub] != content[first])
    keep = np.ones(n, bool)
    if differs.any() and not numbered and not draft.gold_only:
        position_in_group = np.arange(len(sub)) - np.flatnonzero(starts)[groups]
        draft.numbers["run"].values[sub] = position_in_group
        where = (
            "voted more than once on a comparison in the same order"
            if draft.form is VOTES
            else "scored a model more than once on an item"
        )
        draft.notes.append(
            f"There is no column run. Where a judge {where} "
            f"({len(differs):,} times), its {draft.form.units} were numbered as runs 0 to "
            f"{position_in_group.max()}, in file order."
        )
        return 0
    conflict = differs[groups]
    main = draft.form.content[0]
    for i, other in zip(sub[conflict], first[conflict], strict=True):
        partner = f"as row {draft.row[other]}" if i != other else "as a later row"
        draft.rejects.add(
            int(draft.row[i]),
            main,
            str(draft.numbers[main].values[i]) if draft.numbers[main].valid[i] else "",
            f"conflict: item {item_name(draft, i)} has {_TWICE[draft.form.kind].format(partner)}; "
            "keep one of them, or number the repetitions in a column run",
        )
    keep[sub[conflict]] = False
    duplicate = sub[~conflict & ~starts]
    keep[duplicate] = False
    draft.take(keep)
    if len(duplicate) and not numbered:
        draft.notes.append(
            f"{draft.form.units.capitalize()} left out because they repeat an earlier one word for word: "
            f"{len(duplicate):,}. If the judge was asked again, number the repetitions in a column run."
        )
    return len(duplicate)


def item_name(draft: Draft, i: int | np.integer[Any]) -> str:
    return repr(draft.text["item_id"].cell(i)[:80])


def _extra(columns: Mapping[str, Coded], n: int, kind: Any) -> Any:
    import pyarrow as pa

    names = list(columns)
    if not names or not n:
        offsets: Any = np.zeros(n + 1, np.int32)
        return pa.MapArray.from_arrays(offsets, pa.array([], pa.string()), pa.array([], pa.string()), kind)
    filled = np.stack([~columns[name].missing for name in names], axis=1)
    offsets = np.r_[0, np.cumsum(filled.sum(axis=1))].astype(np.int32)
    row, column = np.nonzero(filled)
    values = pa.concat_arrays([pa.array(columns[name].values, pa.string()) for name in names])
    starts = np.cumsum([0, *(len(columns[name].values) for name in names[:-1])])
    codes = np.stack([columns[name].codes for name in names], axis=1)
    items = values.take(pa.array(codes[row, column] + starts[column]))
    return pa.MapArray.from_arrays(offsets, pa.array(names, pa.string()).take(pa.array(column)), items, kind)
