"""Items made on a user's data: their tables, or what the data lack; as text and as the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..auditing.options import AuditOptions
from ..bounds import within_judges
from ..errors import AppellateError, UnknownName
from ..finding.evidence import Counted
from ..finding.wording import one_line
from ..places import NAMES
from ..questions.boards.results import anchors_of
from ..schema import Selection
from ..stats.estimate import DataFrame
from ..store import vote_queries as queries
from ..store.browse import default_gold, summary
from . import boards, confidence, labels, lists
from .asked import NOTHING, Asked, Settings
from .items import BY_NAME, ITEMS
from .record import PAPERS, Item

if TYPE_CHECKING:
    from ..store import Store

MOST_ROWS = 60
"""Rows of a table that a terminal gets; `--csv` has all."""
NO_TABLE = "It is no table of votes: a model is asked, or a file read, by the command."


def sentence(text: str) -> str:
    """A reason as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ")", "?")) else ".")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Made:
    """An item with its table, or why there is none."""

    item: Item
    table: DataFrame | None
    lacks: str


NEEDS: dict[Callable[[Asked], DataFrame], str] = {
    boards.abstained: "It needs a confidence beside the votes, or two votes or more in one order.",
    boards.additivity: "It needs three models that met each other.",
    boards.repeatabilities: "It needs two votes or more of a judge on the same comparisons.",
    confidence.surest_errors: "It needs a confidence beside the votes, and gold.",
    labels.confidence_weights: "It needs a confidence beside the votes, and gold on at least 20.",
    labels.parameters: "It needs tasks (--by COLUMN) with gold enough to fit a judge on each.",
    labels.position: "It needs votes with the order shown (column position).",
    lists.faults: "It needs candidates with flags of their faults.",
}
"""Table → what data without a row of it lack."""


class Maker:
    """Makes items of one selection; a table that several items share is made once."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self._made: dict[Callable[[Asked], DataFrame], tuple[DataFrame | None, str]] = {}

    def __call__(self, item: Item) -> Made:
        """The item's table, or what the data lack for it."""
        if item.table is None:
            return Made(item=item, table=None, lacks=item.lacks or NO_TABLE)
        if item.table not in self._made:
            try:
                found = item.table(self.asked)
                self._made[item.table] = (found, "") if len(found) else (None, NOTHING)
            except AppellateError as error:
                self._made[item.table] = None, sentence(str(error))
            if self._made[item.table][1] == NOTHING:
                self._made[item.table] = None, NEEDS.get(item.table, NOTHING)
        table, lacks = self._made[item.table]
        return Made(item=item, table=table, lacks=lacks)


@contextmanager
def maker(
    store: Store, selection: Selection, options: AuditOptions, settings: Settings
) -> Iterator[Maker]:
    """What makes items of the votes, scores and rankings of a store."""
    with store.snapshot() as moment:
        selection = replace(selection, gold=selection.gold or default_gold(moment, selection))
        about = summary(moment, selection)
        counted_judges = ((each.name, each.rater_type == "human", each.n) for each in about.judges)
        others = ((each.name, each.n) for each in (*about.scores, *about.rankings))
        within, too_many = within_judges(selection, counted_judges, others=others)
        if too_many is not None:
            about = summary(moment, within)
        counted = Counted(
            lambda query, **given: query(moment, within, **given),
            about,
            options,
            gold=selection.gold or "given",
            anchors=lambda: anchors_of(
                queries.pair_scores(moment, within, pooled=True)[None], options
            ),
        )
        yield Maker(Asked(counted, settings))


def items_named(names: Sequence[str]) -> tuple[Item, ...]:
    """Items by name, such as `RAEE Table 2`, or by paper; all without names. Raises UnknownName."""
    if not names:
        return ITEMS
    found = []
    for name in names:
        wanted = " ".join(name.split()).casefold()
        these = [item for item in ITEMS if wanted in (item.name.casefold(), item.paper.casefold())]
        if not these:
            near = [known for known in BY_NAME if wanted in known.casefold()]
            hint = f" Did you mean {', '.join(near[:5])}?" if near else ""
            raise UnknownName(f"--item {name!r}: no paper has it.{hint} `papers` lists all.")
        found += these
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many items of a paper stand whole here, parts of one item counted once."""

    paper: str
    items: int
    on_page: int
    by_command: int


def counts() -> tuple[Count, ...]:
    """Whole items by paper, all of them last; one of several parts is whole if each part is."""
    found = []
    for paper in (*PAPERS, ""):
        parts: dict[tuple[str, str], list[Item]] = {}
        for item in ITEMS:
            if paper in ("", item.paper):
                parts.setdefault((item.paper, item.part_of or item.number), []).append(item)
        found.append(
            Count(
                paper=paper or "all",
                items=len(parts),
                on_page=sum(all(each.on_page for each in of) for of in parts.values()),
                by_command=sum(all(each.by_command for each in of) for of in parts.values()),
            )
        )
    return tuple(found)


def counted() -> str:
    """The count for a terminal, with what is not whole and why."""
    lines = [f"{'paper':6}{'items':>7}{'in the app':>12}{'by command':>12}"]
    lines += [f"{c.paper:6}{c.items:7}{c.on_page:12}{c.by_command:12}" for c in counts()]
    lines += ["", "Not whole:"]
    lines += [
        f"  {item.name}: " + (f"lacks {item.lacks}" if item.lacks else f"ours: {item.ours}")
        for item in ITEMS
        if not (item.on_page and item.by_command)
    ]
    return "\n".join(lines)


def in_text(made: Made, *, planted: str = "", shown_at: str = "") -> str:
    """An item with its table for a terminal.

    planted : what the demo was drawn with.  shown_at : the item above that has the same table.
    """
    item = made.item
    lines = ["", f"{item.name}: {item.shows}"]
    if item.ours:
        lines.append(f"  Ours: {item.ours}.")
    if planted:
        lines.append(f"  Planted in the demo: {planted}.")
    if made.table is not None and shown_at:
        lines.append(f"  The table of {shown_at}: {', '.join(item.columns)}.")
        return "\n".join(lines)
    if made.table is None:
        lines.append(
            f"  {one_line(made.lacks)}" + (f" Command: {item.told}" if item.command else "")
        )
        return "\n".join(lines)
    shown = made.table.head(MOST_ROWS).map(
        lambda cell: one_line(cell) if isinstance(cell, str) else cell
    )
    text = shown.to_string(index=False, float_format=lambda value: f"{value:.4g}", na_rep="–")
    lines += [f"  {line}" for line in text.splitlines()]
    if len(made.table) > MOST_ROWS:
        lines.append(f"  … and {len(made.table) - MOST_ROWS:,} rows more: --csv FILE has all.")
    return "\n".join(lines)


def listed(items: Iterable[Item] = ITEMS) -> str:
    """All items: what each shows, and how to see it."""
    lines: list[str] = []
    for item in items:
        if not lines or f"[{item.paper}]" not in "".join(lines):
            lines += ["", f"{PAPERS[item.paper]} [{item.paper}]"]
        how = "" if item.table else f"  ({item.told or item.lacks})"
        lines.append(f"  {item.name:32}  {item.shows}{how}")
    return "\n".join(lines).strip()


def place(item: Item) -> str:
    """Page and tab, as they are read."""
    page = NAMES.get(item.page, item.page)
    return " · ".join(part for part in (page, item.tab) if part)


def _documented(item: Item) -> str:
    """What an item shows, what of it is ours or lacking, its command and its place in the JSON."""
    said = [item.shows]
    if item.ours:
        said.append(f"*{item.ours}*")
    if item.lacks:
        said.append(f"**lacks** {item.lacks}")
    told = [f"`{name}`" for name in (item.command, item.field) if name]
    return f"- {item.number}: {'; '.join(said)}" + (f" ({', '.join(told)})" if told else "")


def document() -> str:
    """The lists of docs/papers.md: by paper and place, what is shown there."""
    lines: list[str] = []
    for paper, about in PAPERS.items():
        lines += ["", f"## {about} [{paper}]"]
        at_place: dict[str, list[str]] = {}
        for item in ITEMS:
            if item.paper == paper:
                at_place.setdefault(place(item) or "Nowhere", []).append(_documented(item))
        for where, shown in at_place.items():
            lines += ["", f"**{where}**", "", *shown]
    total = counts()[-1]
    lines += [
        "",
        f"{total.items} items, where parts of one count once; whole in the app {total.on_page}, by "
        f"a command {total.by_command}. The others say in the last column what is another "
        "definition on purpose, or what they lack.",
    ]
    return "\n".join(lines).strip() + "\n"
