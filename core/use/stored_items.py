"""New files beside what a store holds: which items are there already, and which judgements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ..importers.same_items import Stored, as_one
from ..schema import Kind, Selection
from ..store.export import as_reading, listed
from ..store.schema import OF_FILE
from ..store.selection import scope

if TYPE_CHECKING:
    from ..schema import ImportResult
    from ..store.connection import Database, Snapshot

MOST_ROWS = 1_000_000
"""Stored judgements of the same ids of more than which none is compared."""


def beside_stored(
    store: Database | Snapshot,
    readings: Sequence[ImportResult],
    items: Literal["same", "apart"] | None = None,
) -> list[ImportResult]:
    """Readings as they are to be loaded into a store: items that are there already are shared, what
    a stored file holds too is left out, and runs are numbered on (`importers.same_items.as_one`).

    Of data sets that are there already nothing is decided: a load into one says of each judgement
    whether it is there (`Store.load`).
    """
    with store.snapshot() as moment:
        there = {name for (name,) in moment.rows("select name from datasets")}
        if not there or items == "apart":
            return [*readings]
        new = [
            place
            for place, reading in enumerate(readings)
            if reading.votes.num_rows
            and not reading.gold_only
            and not there & {*reading.votes["dataset"].unique().to_pylist()}
        ]
        stored = _stored(moment, [readings[place] for place in new]) if new else []
    if not stored:
        return [*readings]
    chosen = [readings[place] for place in new]
    named = {name for each in chosen for name in each.votes["dataset"].unique().to_pylist()}
    joined = as_one(chosen, items, together=named, stored=stored)
    of_place = dict(zip(new, joined, strict=True))
    return [of_place.get(place, reading) for place, reading in enumerate(readings)]


def _stored(store: Snapshot, readings: Sequence[ImportResult]) -> list[Stored]:
    """What a store holds of the items that these readings name, by whose items they are."""
    names = sorted({name for r in readings for name in r.votes["item_id"].unique().to_pylist()})
    given = {"names": json.dumps(names)}
    met = """select unnest(from_json($names, '["varchar"]'))"""
    spaces = store.rows(
        f"select dataset, min(id) from items where name in ({met}) group by 1 order by 1", given
    )
    found = []
    for space, _ in spaces:
        items = f"select id from items where dataset = {space} and name in ({met})"
        files: list[ImportResult] = []
        for kind in {reading.kind: None for reading in readings}:
            files += _files(store, kind, items, given)
        owner = store.rows("select name from datasets where id = ?", [space])
        if files and owner:
            found.append(Stored(dataset=owner[0][0], files=tuple(files)))
    return found


def _files(store: Snapshot, kind: Kind, items: str, given: dict[str, str]) -> list[ImportResult]:
    """The judgements of a kind on some items, file by file."""
    about = f"v.item in ({items})"
    if kind == "votes":
        about = f"v.comparison in (select id from comparisons where item in ({items}))"
    datasets = store.rows(
        f"select v.dataset, count(*) from {kind} v where {about} group by 1 order by 1", given
    )
    if sum(n for _, n in datasets) > MOST_ROWS:
        return []
    selected = replace(scope(store, Selection(), kind, with_perturbed=True), params=given)
    files = []
    for dataset, _ in datasets:
        for name, first, last in _spans(store, dataset, kind):
            own = f"v.dataset = {dataset} and v.id between {first} and {last} and {about}"
            if (rows := listed(store, selected, own)).num_rows:
                files.append(as_reading(name, kind, rows))
    return files


def _spans(store: Snapshot, dataset: int, kind: Kind) -> list[tuple[str, int, int]]:
    """Name, first and last number of the files of a data set; all of it, if it is of none."""
    files = []
    begins = f"{OF_FILE}{dataset}:{kind}:"
    spans = store.rows("select key, value from settings where key like ?", [f"{begins}%"])
    for key, value in spans:
        last, name = json.loads(value)
        files.append((str(name), int(key.removeprefix(begins)), int(last)))
    whole = store.rows("select name from datasets where id = ?", [dataset])[0][0]
    return files or [(str(whole), 0, 2**62)]
