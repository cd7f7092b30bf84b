"""Drawn votes through the product: loaded, counted and given to the checks that a user sees.

A table holds many draws, which are loaded at once; each is then audited as if it were alone, from
the counts of its own raters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.random_votes import as_reading
from core.auditing.options import AuditOptions
from core.finding.evidence import Counted
from core.schema import RowsRead, Selection
from core.simulate.votes import vote_table
from core.store import Store
from core.store import vote_queries as queries
from core.store.browse import summary

from .planted_votes import Situation, Table

FAMILIES = {"alpha": ("alpha", "judge")}
"""A judge's own family, where that is named."""


def options_of(situation: Situation, *, level: float = 0.95) -> AuditOptions:
    """What a situation is audited with."""
    return AuditOptions(splits=0, level=level, families=FAMILIES if situation.family else {})


def loaded(table: Table) -> pa.Table:
    """A drawn table as typed votes."""
    columns: dict[str, Any] = dict(table)
    if "confidence" in table:
        stated = table["confidence"].astype(np.float64)
        columns["confidence"] = pa.array(stated, mask=np.isnan(stated))
    return vote_table(columns)


def draw_of(name: str) -> str:
    """The number of the draw that a rater belongs to: `person-0007-2` to `0007`."""
    return name.split("-")[1]


def counted_draws(
    table: Table, options: AuditOptions, *, gold: str = "given", rows: RowsRead | None = None
) -> Iterator[Counted]:
    """The counts of each draw of a table, while the store is open.

    rows : those of the file of each draw.
    """
    selection = Selection(gold=gold)
    with Store.open(None) as store:
        store.load(as_reading(loaded(table), name="planted"))
        with store.snapshot() as moment:
            everything = summary(moment, selection)
            raters = defaultdict(list)
            for judge in everything.judges:
                raters[draw_of(judge.name)].append(judge)
            answers: dict[str, Any] = {}

            def answer(query: Callable[..., Any], **given: Any) -> Any:
                """What a query says of all draws, asked once."""
                key = f"{query.__name__} {given}"
                if key not in answers:
                    answers[key] = query(moment, selection, **given)
                return answers[key]

            for own in raters.values():
                about = replace(
                    everything, judges=tuple(own), unparsed=sum(judge.failed for judge in own)
                )
                names = frozenset(judge.name for judge in own)
                yield Counted(_of_raters(answer, names, rows), about, options, gold=gold)


def _of_raters(
    answer: Callable[..., Any], names: frozenset[str], rows: RowsRead | None
) -> Callable[..., Any]:
    """Answers of queries cut to the raters of one draw, their comparisons and items numbered from
    0 as if they were alone.
    """
    votes = _cut(answer(queries.vote_counts), names)
    codes = np.concatenate([record.comparison for record in votes.values()])
    items = np.concatenate([record.item for record in votes.values()])
    first, first_item, end = int(codes.min()), int(items.min()), int(codes.max()) + 1

    def renumbered(record: Any) -> Any:
        shift = {
            name: getattr(record, name) - least
            for name, least in (("comparison", first), ("item", first_item))
            if hasattr(record, name)
        }
        return replace(record, **shift)

    def ask(query: Callable[..., Any], **given: Any) -> Any:
        if query is queries.perturbed_votes:
            return ()
        if query is queries.rows_read:
            return rows
        asked = answer(query, **given)
        if isinstance(asked, frozenset):
            return asked & names
        if not isinstance(asked, Mapping):
            return asked[first:end]
        # Outputs have codes of the store, which are matched with nothing else.
        return _cut(asked, names, None if query is queries.outputs else renumbered)

    return ask


def _cut(
    asked: Mapping[str, Any], names: frozenset[str], change: Callable[[Any], Any] | None = None
) -> dict[str, Any]:
    """Records of these raters, by rater, or by the value of a column and then by rater."""
    if any(isinstance(value, Mapping) for value in asked.values()):
        return {value: _cut(of_value, names, change) for value, of_value in asked.items()}
    own = {name: asked[name] for name in names if name in asked}
    return {name: change(record) for name, record in sorted(own.items())} if change else own
