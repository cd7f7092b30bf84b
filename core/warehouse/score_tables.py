"""Tables of scores of single answers on another engine.

An audit of scores needs each of them, so here the engine does not count: the columns that matter
are fetched as text, prompts, responses and rationales left out, and read by the importers as those
of a file.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..importers import Inspection, ReadOptions, planned, read_arrow, shape_of
from ..importers.columns import CountedCells, label_counts
from ..importers.layouts import DIRECT, PROMPTS, plain
from ..importers.options import Plan
from ..importers.raters import lay_out_scores
from ..importers.tables import TextTable
from ..importers.wide_metrics import Metrics, judged_by, offered
from ..schema import ImportResult
from ..store.selection import DATED
from .dialects import SOURCE
from .engines import Engine
from .reading import columns_of, without_items

TEXTS = ("prompt", "response", "rationale")
"""Texts that stay where they are: of the responses only the lengths are looked at."""


def _laid_out(
    table: TextTable, name: str, options: ReadOptions
) -> tuple[Plan, Metrics | None] | None:
    """How a table of scores is read, and its columns of metrics, if it has one for each; None for
    a table of votes.
    """
    shape, metrics = shape_of(table, name, options)
    if metrics is not None:
        # As `in_long_form` would make it of the rows.
        long = {"metric": _counted(dict.fromkeys(metrics.names, 1))}
        for canonical, theirs in (("score", metrics.columns), ("gold", metrics.gold.values())):
            if theirs:
                counts = label_counts(*(table.columns[column] for column in theirs))
                long[canonical] = _counted(counts)
        columns: Any = ChainMap(long, table.columns)
        options = judged_by(table, metrics, name, options)
        table = replace(table, columns=columns)
    elif shape is not DIRECT:
        return None
    return lay_out_scores(table, name, options), metrics


def _counted(counts: Mapping[str, int]) -> CountedCells:
    import pyarrow as pa

    return CountedCells(pa.array(list(counts), pa.string()), np.array([*counts.values()], np.int64))


def inspect_scores(table: TextTable, name: str, options: ReadOptions) -> Inspection | None:
    """Say what a table of scores looks like and what must be asked, as `core.importers.inspect`
    does of a file; None for a table of votes.

    No row is fetched. Raises UnknownName for an option that names what is not there.
    """
    name = _bare(name)
    found = _laid_out(table, name, options)
    if found is None:
        return None
    how, metrics = found
    looks = Inspection(
        name=name,
        format=DIRECT.format,
        layout=how.layout,
        columns=tuple(table.columns),
        mapping={},
        kind=DIRECT.form.kind,
        metrics=offered(table, metrics) if metrics else (),
    )
    return replace(planned(looks, how), notes=how.notes)


def read_scores(
    engine: Engine, table: TextTable, name: str, options: ReadOptions, extra: tuple[str, ...] = ()
) -> ImportResult | None:
    """Fetch and read a table of scores, as `core.importers.read_arrow` reads one in memory; None
    for a table of votes.

    extra : columns outside the canonical form that scores are selected by; those named like a date
        are read too. Of a response the length is fetched, measured by the engine.

    Raises as `core.importers.read`. InvalidOption: no column names the items.
    """
    import pyarrow as pa

    name = _bare(name)
    found = _laid_out(table, name, options)
    if found is None:
        return None
    how, metrics = found
    how, columns = how.checked(name), columns_of(table)
    item = how.mapping.get("item_id")
    if item is None or ("item_id" not in how.constants and plain(item) in PROMPTS):
        raise without_items(name)
    texts = {how.mapping[text]: text for text in TEXTS if text in how.mapping}
    wanted = {*how.mapping.values(), *how.raters, *extra, *filter(DATED.search, columns)}
    if metrics:
        wanted |= {*metrics.columns, *metrics.left_out, *metrics.gold.values()}
    cells = {column: columns.cell(column) for column in columns if column in wanted - {*texts}}
    if "response" in how.mapping and ("length", "") not in options.mapping:
        length = f"cast({columns.length(how.mapping['response'])} as varchar)"
        own = how.mapping.get("length", "length")
        cells[own] = f"coalesce({cells[own]}, {length})" if own in cells else length
    selected = ", ".join(f"{sql} as c{place}" for place, sql in enumerate(cells.values()))
    rows = engine.run(f"select {selected} from {SOURCE}")
    fetched = dict(zip(cells, rows.columns, strict=True))
    # Which columns a table has says what it holds, so those that stay there are here without cells.
    empty = pa.nulls(rows.num_rows, pa.string())
    order = [*columns, *(column for column in fetched if column not in columns)]
    whole = pa.table([fetched.get(column, empty) for column in order], names=order)
    return read_arrow(whole, options, name=name)


def _bare(name: str) -> str:
    """A table's name without its schema, which its data set and judge may be called by."""
    return name.rpartition(".")[2].strip("`")
