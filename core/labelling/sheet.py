"""The same cards for a spreadsheet or for Label Studio: written blind, filled by people, and joined
again.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidOption, UnreadableFile
from ..finding.wording import count, one_line
from ..importers import ReadOptions, read
from ..importers.declared import get
from ..importers.json_tables import Record, read_records
from ..importers.source import open_source
from ..importers.tables import read_delimited
from ..schema import Kind
from ..store import Store
from ..store.export import without_labels
from ..store.labelling import unit_names
from .desk import Card, Desk, open_desk
from .join import join_labels
from .labelled_rows import NOBODY, readings_of
from .session import card_code, places_of
from .words import contested_sentence

CARD, DRAW, LABEL, NOTE, TAGS, PERSON = "card", "draw", "label", "note", "tags", "person"
MARKS = frozenset({CARD, DRAW, LABEL})
"""Columns by which a sheet of this program is known."""
WORDS: Mapping[str, str] = {
    "left": "1",
    "l": "1",
    "right": "2",
    "r": "2",
    "tie": "0",
    "same": "0",
    "equal": "0",
    "both bad": "b",
    "bad": "b",
    "cannot tell": "x",
    "?": "x",
    "pass": "p",
    "passed": "p",
    "yes": "p",
    "fail": "f",
    "failed": "f",
    "no": "f",
}
"""Words for keys; keys stand for themselves."""
SHEET_PERSON = "sheet"
"""Who labelled, where a sheet names nobody: the rows of its labels need a name."""
NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetReport:
    """What became of a sheet.

    labels : filled rows.  joined : those that are labels now.  missed : (row of the file, why).
    first : of the labelled, how many are the first of the order by design, without a gap.
    contested : items on which people differ now, and no answer has most of them.
    """

    labels: int
    joined: int
    missed: tuple[tuple[int, str], ...]
    first: int
    contested: int = 0

    @property
    def sentence(self) -> str:
        said = (
            f"{self.joined:,} of {count(self.labels, 'label')} joined, the order by design is "
            f"known (the first {self.first:,} of it without a gap)."
        )
        if self.contested:
            said += f" {contested_sentence(self.contested)}"
        if not self.missed:
            return said
        named = "; ".join(f"row {row}: {why}" for row, why in self.missed[:NAMED])
        more = len(self.missed) - NAMED
        return f"{said} Not joined: {named}{f'; and {more:,} more' if more > 0 else ''}."


def write_sheet(desk: Desk, labels: int) -> str:
    """The first items of the order as a CSV to be filled in: texts, sides drawn anew, and nothing
    of judges, models, order or results. Of fewer items than wanted, all.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([*_heads(desk), LABEL, TAGS, NOTE, PERSON])
    for draw, card, *texts in _cards(desk, labels):
        writer.writerow([draw, card, *map(cell, texts), *[""] * 4])
    return out.getvalue()


def write_tasks(desk: Desk, labels: int) -> str:
    """The cards of `write_sheet` as tasks for Label Studio, a JSON to import there.

    docs/collecting.md has the labelling interface that shows them.
    """
    heads = _heads(desk)
    cards = _cards(desk, labels)
    tasks = [{"data": dict(zip(heads, (x or "" for x in card), strict=True))} for card in cards]
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def _heads(desk: Desk) -> tuple[str, ...]:
    texts = ("left", "right") if desk.plan.kind == "votes" else ("response",)
    return (DRAW, CARD, "prompt", *texts)


def _cards(desk: Desk, labels: int) -> Iterator[tuple[str | None, ...]]:
    units = unit_names(desk.store, desk.plan.dataset)
    open_ = [place for place in range(len(units)) if place not in desk.session.sealed]
    for place in open_[:labels]:
        unit, card = units[place], desk.card(SHEET_PERSON, place)
        code = card_code(desk.plan.seed, place, unit)
        yield (f"{desk.plan.seed:x}", code, card.prompt, *card.texts)


def cell(text: str | None) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text and text[0] in "=+-@\t\r" else text or ""


def is_sheet(name: str, data: bytes | Path) -> bool:
    """Whether a file is a sheet that this program wrote, or its tasks out of Label Studio."""
    source = open_source(name, data, ReadOptions().max_bytes)
    if source.kind == "delimited":
        return set(read_delimited(source).columns) >= MARKS
    if source.kind != "json":
        return False
    records = read_records(source, _is_task).records
    return bool(records) and _is_task(records[0])


def _is_task(record: Record) -> bool:
    return {CARD, DRAW} <= (get({"root": record}, "root.data") or {}).keys()


def _filled(name: str, data: bytes | Path) -> tuple[dict[str, list[str]], list[int]]:
    """Cells of a filled sheet by column, and the numbers of its rows."""
    source = open_source(name, data, ReadOptions().max_bytes)
    if source.kind == "json":
        rows = [
            (number, row)
            for number, record in enumerate(read_records(source, _is_task).records, start=1)
            for row in _annotated(record)
        ]
        heads = (DRAW, CARD, LABEL, NOTE, TAGS, PERSON)
        return {head: [row[head] for _, row in rows] for head in heads}, [n for n, _ in rows]
    table = read_delimited(source)
    cells = {
        column: [(value or "").strip() for value in values.to_pylist()]
        for column, values in table.columns.items()
    }
    return cells, [int(row) for row in table.row]


def _annotated(task: Record) -> Iterator[dict[str, str]]:
    """What each person said of a task in Label Studio: the side of a pairwise result, else a choice
    or a rating; cancelled ones are left out.
    """
    annotations = get({"root": task}, "root.annotations")
    for one in annotations if isinstance(annotations, list) else []:
        if not isinstance(one, dict) or one.get("was_cancelled"):
            continue
        by = get({"one": one}, "one.completed_by.email | one.completed_by.id | one.completed_by")
        row = {head: str(get({"root": task}, f"root.data.{head}") or "") for head in (DRAW, CARD)}
        row |= {LABEL: "", NOTE: "", TAGS: "", PERSON: f"annotator {by}" if by else ""}
        results = one.get("result")
        for result in results if isinstance(results, list) else []:
            scopes = {"value": result.get("value") if isinstance(result, dict) else None}
            said = get(scopes, "value.selected | value.choices.0 | value.rating")
            row[LABEL] = row[LABEL] or str("" if said is None else said).strip()
            row[NOTE] = row[NOTE] or str(get(scopes, "value.text.0") or "").strip()
        yield row


def _seed(name: str, cells: Sequence[str]) -> int:
    """The seed that most rows name; one that was damaged does not hide it."""
    for text, _ in Counter(cell for cell in cells if cell).most_common():
        with suppress(ValueError):
            return int(text, 16)
    raise UnreadableFile(f"{name}: column {DRAW}: no row names the draw of its items")


def join_sheet(
    store: Store,
    dataset: str,
    name: str,
    data: bytes | Path,
    *,
    kind: Kind = "votes",
    person: str = SHEET_PERSON,
) -> SheetReport:
    """Write the labels of a sheet as if they had been given on the page; all of them, or none.

    person : who labelled the rows that name nobody.
    A row whose card or label cannot be read is named and left out. A data set that is not labelled
    yet takes the order of the sheet.

    Raises UnreadableFile: no row has a label, or no card is of this data set's order.
    """
    columns, numbers = _filled(name, data)
    seed = _seed(name, columns[DRAW])
    desk = open_desk(store, dataset, kind=kind, seed=seed)
    places = places_of(columns[CARD], seed, unit_names(store, dataset))
    if desk.plan.seed != seed:
        places = [None] * len(places)
    missed: list[tuple[int, str]] = []
    joined: list[int] = []
    filled = [k for k, label in enumerate(columns[LABEL]) if label]
    if not filled:
        raise UnreadableFile(f"{name}: column {LABEL}: no row has a label yet. Fill some.")
    blank = [""] * len(columns[LABEL])
    with store.together():
        for k in filled:
            row, said = numbers[k], columns[LABEL][k]
            key = WORDS.get(said.casefold(), said.casefold())
            place = places[k]
            if place is None:
                card = one_line(columns[CARD][k])[:40]
                missed.append((row, f"no card {card!r} in the order of {dataset} as it is now"))
                continue
            if key not in desk.keys:
                missed.append((row, f"label {one_line(said)[:40]!r}; use {', '.join(desk.keys)}"))
                continue
            who = columns.get(PERSON, blank)[k] or person
            tags = [tag.strip() for tag in columns.get(TAGS, blank)[k].split(",") if tag.strip()]
            swapped = desk.plan.kind == "votes" and desk.session.swapped(SHEET_PERSON, place)
            shown = Card(place=place, again=False, swapped=swapped, prompt=None, texts=())
            desk.answer(who, shown, key, tags=tags, note=columns.get(NOTE, blank)[k])
            joined.append(place)
    if not joined:
        raise UnreadableFile(
            f"{name}: none of its {len(filled)} labels is of {dataset}: row {missed[0][0]}: "
            f"{missed[0][1]}"
        )
    return SheetReport(
        labels=len(filled),
        joined=len(joined),
        missed=tuple(missed),
        first=_without_gap(joined),
        contested=len(desk.session.contested()),
    )


def add_labels(
    store: Store, dataset: str, files: Sequence[tuple[str, bytes | Path]], *, kind: Kind = "votes"
) -> list[tuple[str, str]]:
    """Add people's labels in files to a data set that is stored; what became of each.

    A file is a sheet or an export of tasks that were written here (`join_sheet`), or any that
    names the answers by ids or texts (`core.labelling.join.join_labels`). Where there are several,
    who labelled one that names nobody is called as the file is. A sheet is added whole or not at
    all, and so are all other files together.

    Raises UnreadableFile: no label finds its answer, and what those two refuse.
    """
    import pyarrow.parquet as pq

    several = len(files) > 1
    said, joined = [], []
    for name, data in files:
        stem = Path(name).stem
        if is_sheet(name, data):
            person = stem if several else SHEET_PERSON
            report = join_sheet(store, dataset, name, data, kind=kind, person=person)
            said.append((name, report.sentence))
            continue
        log = io.BytesIO()
        pq.write_table(without_labels(store, dataset, kind), log)
        readings = read([("log.parquet", log.getvalue())])
        labels = join_labels(readings, (name, data), person=stem if several else NOBODY)
        said.append((name, labels.sentence))
        joined.append((labels.sheet, labels.said))
    made, contested = readings_of(joined)
    with store.together():
        for reading in made:
            store.load(reading, dataset=dataset)
    if contested:
        said.append((files[0][0], contested_gold(contested)))
    return said


def contested_gold(n: int) -> str:
    """Comparisons on which people's files differ and no label has most of them."""
    return (
        f"{count(n, 'comparison')} {'is' if n == 1 else 'are'} contested: people differ, no label "
        "has most of them, and there is no gold until another settles it."
    )


def only_dataset(store: Store, named: str | None = None) -> tuple[str, Kind]:
    """The data set that is labelled, and of what: the one named, or the only one.

    Raises InvalidOption: there are several and none is named, or it does not exist.
    """
    found = {one.name: one for one in store.datasets()}
    if named is None and len(found) != 1:
        raise InvalidOption(
            f"--dataset: there are {len(found)} data sets ({', '.join(map(one_line, found))}); "
            "name the one that is labelled"
        )
    chosen = named if named is not None else next(iter(found))
    if chosen not in found:
        raise InvalidOption(f"--dataset: no data set named {chosen!r}")
    return chosen, "votes" if found[chosen].votes else "scores"


def _without_gap(places: Sequence[int]) -> int:
    there, first = set(places), 0
    while first in there:
        first += 1
    return first
