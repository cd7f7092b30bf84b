"""What pages share and nobody computes twice: the store, and what it was asked. The only
`st.cache_*`.

Records are frozen, so `cache_resource` hands out the same object to every session: no copy, no
pickle. Answers are cached by (version of the store, selection): any change of the store leaves the
old ones behind.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import streamlit as st

from core.errors import AppellateError
from core.finding.figure import Style, Theme, rater_styles
from core.questions.scores import ask as score_queries
from core.schema import Selection
from core.store import DatasetInfo, Store, default_path
from core.store import vote_queries as queries
from pages.shared import people, uploads

if TYPE_CHECKING:
    from core.importers import ReadOptions
    from core.store.connection import Database, Snapshot
    from core.warehouse import Warehouse

Result = TypeVar("Result")
Record = TypeVar("Record")
Given = ParamSpec("Given")

DATA = Path(__file__).resolve().parents[2] / "data"
# A bare address opens on the data set that came last: the pairs.
DEMO_KINDS = ("answers", "votes", "fuser", "scores", "rankings")
DEMO = tuple(DATA / f"demo_{kind}.csv.gz" for kind in DEMO_KINDS)
EXAMPLES = {
    "A judge that prefers what it sees first": DATA / "example_first_shown.csv",
    "A judge that is too sure, in columns of other names": DATA / "example_overconfident.csv",
}
"""Small simulated files with a planted fault, to try how a file is read and what is found."""
DEMO_DELETED = "demo deleted"
"""Flag of the store: the visitor deleted the demo, so it must not come back."""
PATIENCE = 2.0
"""Seconds after which one is told how far it is."""


def changeable_store() -> Store:
    """The store of this server, for a visitor who may change it. Raises InvalidOption for
    another.
    """
    people.only_editors()
    return get_store()


def get_store() -> Store:
    """The store of this server, with the demo in it unless that was deleted."""
    return _open(str(default_path()))


@st.cache_resource(show_spinner="Opening the store", on_release=Store.close)
def _open(path: str) -> Store:
    store = Store.open(Path(path))
    uploads.clear(Path(path))
    if not store.datasets() and store.flag(DEMO_DELETED) is None:
        load_demo(store)
    return store


def load_demo(store: Store) -> None:
    """Load the demo; nothing happens twice."""
    from core.importers import read

    for reading in read([(path.name, path) for path in DEMO]):
        store.load(reading, simulated=True)


@st.cache_resource(show_spinner=False, max_entries=8)
def _datasets(version: int, _store: Store) -> tuple[DatasetInfo, ...]:
    return tuple(_store.datasets())


def stored() -> tuple[DatasetInfo, ...]:
    """The data sets of the store in order of name."""
    store = get_store()
    return _datasets(store.version, store)


def datasets() -> tuple[DatasetInfo, ...]:
    """The data sets of the store and the connected tables, in order of name."""
    return tuple(
        sorted((*stored(), *(one.info for one in connected().values())), key=lambda one: one.name)
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Connected:
    """A table on another engine, whose rows pages show as a data set.  url, options : how it was
    read.
    """

    warehouse: Warehouse
    info: DatasetInfo
    url: str
    table: str
    options: ReadOptions


@dataclass(slots=True)
class _Tables:
    """Connected tables by the name of their data set, and the names of those that no longer are."""

    held: dict[str, Connected] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)


@st.cache_resource(show_spinner=False)
def _tables() -> _Tables:
    return _Tables()


def connected() -> dict[str, Connected]:
    """The tables of other engines, by the name of their data set; all visitors of this server share
    them.
    """
    return _tables().held


def connect(url: str, table: str, options: ReadOptions) -> str:
    """Fetch a table of another engine into a store of its own, and give the name of its data set;
    raises as `core.warehouse.fetch`.
    """
    from core.warehouse import Warehouse

    people.only_editors()
    warehouse = Warehouse.open(url, table, options)
    found = queries.summary(warehouse, Selection())
    name = f"{warehouse.fetched.place} {table}"
    disconnect(name)
    info = DatasetInfo(
        name=name,
        votes=found.votes + found.unparsed,
        items=found.items or int(warehouse.rows("select count(*) from items")[0][0]),
        comparisons=found.comparisons,
        judges=len({each.name for each in found.judges} | {each.name for each in found.scores}),
        scores=sum(rater.n + rater.failed for rater in found.scores),
        files=0,
        simulated=False,
        loaded_at=datetime.now(UTC).replace(tzinfo=None),
    )
    _tables().held[name] = Connected(
        warehouse=warehouse, info=info, url=url, table=table, options=options
    )
    return name


def disconnect(name: str) -> None:
    """Let go of the rows of a table of another engine, if a data set is one."""
    if one := _tables().held.pop(name, None):
        _tables().gone.add(name)
        one.warehouse.close()


def was_connected(name: str) -> bool:
    """Whether a data set was a table on another engine."""
    return name in _tables().gone


def where(selection: Selection) -> tuple[Database | Snapshot, Selection]:
    """Where the votes of a selection lie, the store or that of a connected table, and what selects
    them there.
    """
    table = connected().get(selection.datasets[0]) if selection.datasets else None
    return (
        (table.warehouse, replace(selection, datasets=None)) if table else (get_store(), selection)
    )


def version() -> str:
    """Changes with the store and with the tables that are connected."""
    return "-".join(
        map(str, (get_store().version, *(one.warehouse.version for one in connected().values())))
    )


def raters(dataset: str) -> dict[str, str]:
    """Every rater of a data set, with its rater type."""
    found = summary(Selection(datasets=(dataset,)))
    others = {rater.name: rater.rater_type for rater in (*found.scores, *found.rankings)}
    return dict(sorted((others | {judge.name: judge.rater_type for judge in found.judges}).items()))


def styles(dataset: str, theme: Theme, dummies: tuple[str, ...] = ()) -> dict[str, Style]:
    """Colour and marker of every rater of a data set, the same on every page and under every
    filter.
    """
    return rater_styles(raters(dataset), dummies=dummies, theme=theme)


@st.cache_resource(show_spinner="Counting votes", max_entries=256)
def _answer(version: str, question: str, options: str, _ask: Callable[[], object]) -> object:
    return _ask()


@st.cache_resource(show_spinner=False, max_entries=8)
def _texts(version: str, question: str, options: str, _ask: Callable[[], object]) -> object:
    return _ask()


def _asked(
    question: Callable[Concatenate[Database | Snapshot, Selection, Given], Result],
    kept: Callable[..., object] = _answer,
) -> Callable[Concatenate[Selection, Given], Result]:
    """The question to where the votes of a selection lie, asked once for each selection and state
    of that.

    kept : where answers are, many of them, or few if they hold texts.
    """

    def answered(selection: Selection, /, *given: Given.args, **options: Given.kwargs) -> Result:
        # A query takes an open gold for the given one: one answer serves both.
        selection = replace(selection, gold=selection.gold or "given")
        # A selection's text names its every field, and is made three times faster than Streamlit's
        # own hash.
        found = kept(
            version(),
            question.__name__,
            repr((selection, given, options)),
            lambda: question(*where(selection), *given, **options),
        )
        return cast(Result, found)

    return answered


def ask(query: Callable[..., Any], selection: Selection, **options: Any) -> Any:
    """What any query says of a selection, asked once for each selection and state of the store."""
    return _asked(query)(selection, **options)


def _filter_columns(store: Database | Snapshot, selection: Selection) -> tuple[str, ...]:
    return queries.filter_columns(store, selection.datasets)


summary = _asked(queries.summary)
default_gold = _asked(queries.default_gold)
vote_counts = _asked(queries.vote_counts)
vote_counts_by = _asked(queries.vote_counts_by)
outcomes = _asked(queries.outcomes)
outputs = _asked(queries.outputs)
positions = _asked(queries.positions)
order_counts = _asked(queries.order_counts)
length_counts = _asked(queries.length_counts)
perturbed_votes = _asked(queries.perturbed_votes)
confidence_counts = _asked(queries.confidence_counts)
weighed_votes = _asked(queries.weighed_votes)
costs = _asked(queries.costs)
pair_scores = _asked(queries.pair_scores)
panel_scores = _asked(queries.panel_scores)
pair_doubts = _asked(queries.pair_doubts)
ratings = _asked(queries.ratings)
rows_read = _asked(queries.rows_read)
direct_scores = _asked(queries.direct_scores)
board_metrics = _asked(queries.board_metrics)
scored_items = _asked(queries.scored_items)
said_of_answers = _asked(score_queries.said_of_answers, _texts)
list_rankings = _asked(queries.list_rankings)
ranked_items = _asked(queries.ranked_items)
values = _asked(queries.values)
filter_columns = _asked(_filter_columns)
compared_models = _asked(queries.compared_models)
comparison_names = _asked(queries.comparison_names)
count_behind = _asked(queries.count_behind)
votes_behind = _asked(queries.votes_behind, _texts)
telling_errors = _asked(queries.telling_errors, _texts)


class _Kept:
    """Place of one result: whoever comes while it is computed waits for it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.found: list[object] = []


@st.cache_resource(show_spinner=False, max_entries=64)
def _place(version: str, name: str, key: str) -> _Kept:
    return _Kept()


def computed(name: str, key: tuple[Hashable, ...], compute: Callable[[], Result]) -> Result:
    """Result of something slow, computed once for each `key` and state of the store.

    key : every input that the result depends on, the selection and the seed included; told apart by
        `repr`.
    """
    place = _place(version(), name, repr(key))
    # Not in the cached function itself, which may not show how far it is.
    with place.lock:
        if not place.found:
            with st.spinner("Computing", show_time=True):
                place.found.append(compute())
    return cast(Result, place.found[0])


def is_computed(name: str, key: tuple[Hashable, ...]) -> bool:
    """Whether `computed` has the result already."""
    return bool(_place(version(), name, repr(key)).found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """One worker of this server for what no visitor waits for.

    free : clear while a visitor waits.  found : newest result by name, with its key.
    """

    worker: ThreadPoolExecutor
    free: Event
    running: dict[str, Future[tuple[Hashable, Any]]] = field(default_factory=dict)
    found: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def _beside() -> _Beside:
    made = _Beside(worker=ThreadPoolExecutor(1, "beside"), free=Event())
    made.free.set()
    return made


def beside(
    name: str, key: Hashable, compute: Callable[[Callable[[], object]], Result]
) -> Result | None:
    """The newest result of something slow that is computed beside the pages; None before the first.

    Where that is of another `key` the next one is begun. Raises what `compute` raised.

    compute : gets what it has to call between two parts of its work, so that visitors go first.
    """
    here = _beside()
    running = here.running.get(name)
    if running is not None and running.done():
        here.running.pop(name, None)
        here.found[name] = running.result()
    elif running is None and here.found.get(name, (None,))[0] != key:
        here.running[name] = here.worker.submit(
            lambda: (key, compute(lambda: here.free.wait(PATIENCE)))
        )
    return cast(Result, here.found[name][1]) if name in here.found else None


@contextmanager
def first() -> Iterator[None]:
    """What is done here goes before what is computed beside the pages."""
    free = _beside().free
    free.clear()
    try:
        yield
    finally:
        free.set()


def counted(records: Mapping[str, Record]) -> Iterator[tuple[str, Record]]:
    """The records one by one; what takes more than two seconds shows how many are done."""
    began, bar = monotonic(), st.empty()
    for done, (name, record) in enumerate(records.items()):
        if done and monotonic() - began > PATIENCE:
            bar.progress(done / len(records), f"{done} of {len(records)}")
        yield name, record
    bar.empty()


def of_each(
    name: str,
    key: tuple[Hashable, ...],
    records: Mapping[str, Record],
    compute: Callable[[Record], Result],
) -> dict[str, Result]:
    """Result of every judge that has a record, `computed` together."""
    return computed(
        name, key, lambda: {judge: compute(record) for judge, record in counted(records)}
    )


def of_each_possible(
    name: str,
    key: tuple[Hashable, ...],
    records: Mapping[str, Record],
    compute: Callable[[Record], Result],
    *,
    unless: type[AppellateError] = AppellateError,
) -> tuple[dict[str, Result], dict[str, str]]:
    """Result of every judge whose record allows it, `computed` together, and why another has none.

    unless : the error that says so; another one is the whole question's.
    """

    def tried() -> tuple[dict[str, Result], dict[str, str]]:
        found, reasons = {}, {}
        for judge, record in counted(records):
            try:
                found[judge] = compute(record)
            except unless as error:
                reasons[judge] = str(error)
        return found, reasons

    return computed(name, key, tried)


KEPT = "kept of uploads"


def kept(file: str, kind: str, key: Hashable, compute: Callable[[], Result]) -> Result:
    """Result about an uploaded file, kept in the visitor's session until `key` changes.

    A file may be large: there is one result of each kind per file, and none once it is gone
    (`keep_only`).
    """
    held = st.session_state.setdefault(KEPT, {}).setdefault(file, {})
    if kind not in held or held[kind][0] != key:
        held.pop(kind, None)
        with st.spinner("Reading the file"):
            held[kind] = (key, compute())
    return cast(Result, held[kind][1])


def forget(file: str) -> None:
    """Forget what was kept of an uploaded file."""
    st.session_state.get(KEPT, {}).pop(file, None)


def keep_only(files: Iterable[str]) -> None:
    """Forget what was kept of every other uploaded file."""
    held = st.session_state.get(KEPT, {})
    for gone in held.keys() - set(files):
        del held[gone]
