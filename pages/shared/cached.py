"""What pages share and nobody computes twice: the store, and what it was asked. The only `st.cache_*`.

Records are frozen, so `cache_resource` hands out the same object to every session: no copy, no pickle.
Answers are cached by (version of the store, selection): any change of the store leaves the old ones behind.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar, cast

import streamlit as st

from core import queries
from core.counts import (
    LengthCounts,
    OrderCounts,
    OutcomeCounts,
    PairScores,
    PositionCounts,
    RatingTable,
    SingleVotes,
    VoteCounts,
)
from core.figures import Style, Theme, rater_styles
from core.store import DatasetInfo, Store, default_path
from core.votes import CorrectnessRule, Selection

Result = TypeVar("Result")

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo_votes.csv.gz"
DEMO_DELETED = "demo deleted"
"""Flag of the store: the visitor deleted the demo, so it must not come back."""

# A selection's text names its every field, and is made three times faster than Streamlit's own hash.
remembered = st.cache_resource(show_spinner="Counting votes", max_entries=64, hash_funcs={Selection: repr})


def get_store() -> Store:
    """The store of this server, with the demo in it unless that was deleted."""
    return _open(str(default_path()))


@st.cache_resource(show_spinner="Opening the store", on_release=Store.close)
def _open(path: str) -> Store:
    store = Store.open(Path(path))
    if not store.datasets() and store.flag(DEMO_DELETED) is None:
        from core.importers import read

        for reading in read([(DEMO.name, DEMO)]):
            store.load(reading, simulated=True)
    return store


@remembered
def _datasets(version: int, _store: Store) -> tuple[DatasetInfo, ...]:
    return tuple(_store.datasets())


def datasets() -> tuple[DatasetInfo, ...]:
    """The data sets of the store in order of name."""
    store = get_store()
    return _datasets(store.version, store)


def raters(dataset: str) -> dict[str, str]:
    """Every rater of a data set, with its rater type."""
    return {judge.name: judge.rater_type for judge in summary(Selection(datasets=(dataset,))).judges}


def styles(dataset: str, theme: Theme, dummies: tuple[str, ...] = ()) -> dict[str, Style]:
    """Colour and marker of every rater of a data set, the same on every page and under every filter."""
    return rater_styles(raters(dataset), dummies=dummies, theme=theme)


@remembered
def _summary(version: int, selection: Selection, _store: Store) -> queries.Summary:
    return queries.summary(_store, selection)


def summary(selection: Selection) -> queries.Summary:
    store = get_store()
    return _summary(store.version, selection, store)


@remembered
def _vote_counts(version: int, selection: Selection, _store: Store) -> dict[str, VoteCounts]:
    return queries.vote_counts(_store, selection)


def vote_counts(selection: Selection) -> dict[str, VoteCounts]:
    store = get_store()
    return _vote_counts(store.version, selection, store)


@remembered
def _outcomes(
    version: int, selection: Selection, rule: CorrectnessRule, _store: Store
) -> dict[str, OutcomeCounts]:
    return queries.outcomes(_store, selection, rule=rule)


def outcomes(selection: Selection, *, rule: CorrectnessRule = "single") -> dict[str, OutcomeCounts]:
    store = get_store()
    return _outcomes(store.version, selection, rule, store)


@remembered
def _positions(version: int, selection: Selection, _store: Store) -> dict[str, PositionCounts]:
    return queries.positions(_store, selection)


def positions(selection: Selection) -> dict[str, PositionCounts]:
    store = get_store()
    return _positions(store.version, selection, store)


@remembered
def _order_counts(version: int, selection: Selection, _store: Store) -> dict[str, OrderCounts]:
    return queries.order_counts(_store, selection)


def order_counts(selection: Selection) -> dict[str, OrderCounts]:
    store = get_store()
    return _order_counts(store.version, selection, store)


@remembered
def _length_counts(version: int, selection: Selection, _store: Store) -> dict[str, LengthCounts]:
    return queries.length_counts(_store, selection)


def length_counts(selection: Selection) -> dict[str, LengthCounts]:
    store = get_store()
    return _length_counts(store.version, selection, store)


@remembered
def _single_votes(version: int, selection: Selection, _store: Store) -> dict[str, SingleVotes]:
    return queries.single_votes(_store, selection)


def single_votes(selection: Selection) -> dict[str, SingleVotes]:
    store = get_store()
    return _single_votes(store.version, selection, store)


@remembered
def _pair_scores(
    version: int, selection: Selection, pooled: bool, _store: Store
) -> dict[str | None, PairScores]:
    return queries.pair_scores(_store, selection, pooled=pooled)


def pair_scores(selection: Selection, *, pooled: bool = False) -> dict[str | None, PairScores]:
    store = get_store()
    return _pair_scores(store.version, selection, pooled, store)


@remembered
def _ratings(
    version: int, selection: Selection, anchors: tuple[str, ...], _store: Store
) -> dict[str, RatingTable]:
    return queries.ratings(_store, selection, anchors=anchors)


def ratings(selection: Selection, *, anchors: tuple[str, ...] = ()) -> dict[str, RatingTable]:
    store = get_store()
    return _ratings(store.version, selection, anchors, store)


@st.cache_resource(show_spinner="Computing", max_entries=64)
def _computed(version: int, name: str, key: str, _compute: Callable[[], object]) -> object:
    return _compute()


def computed(name: str, key: tuple[Hashable, ...], compute: Callable[[], Result]) -> Result:
    """Result of something slow, computed once for each `key` and state of the store.

    key : every input that the result depends on, the selection and the seed included; told apart by `repr`.
    """
    return cast(Result, _computed(get_store().version, name, repr(key), compute))


KEPT = "kept of uploads"


def kept(file: str, kind: str, key: Hashable, compute: Callable[[], Result]) -> Result:
    """Result about an uploaded file, kept in the visitor's session until `key` changes.

    A file may be large: there is one result of each kind a file, and none once it is gone (`keep_only`).
    """
    held = st.session_state.setdefault(KEPT, {}).setdefault(file, {})
    if kind not in held or held[kind][0] != key:
        held.pop(kind, None)
        with st.spinner("Reading the file"):
            held[kind] = (key, compute())
    return cast(Result, held[kind][1])


def keep_only(files: Iterable[str]) -> None:
    """Forget what was kept of every other uploaded file."""
    held = st.session_state.get(KEPT, {})
    for gone in held.keys() - set(files):
        del held[gone]
