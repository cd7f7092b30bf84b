"""What pages share and nobody computes twice: the store, and what it was asked. The only `st.cache_*`.

Records are frozen, so `cache_resource` hands out the same object to every session: no copy, no pickle.
Answers are cached by (version of the store, selection): any change of the store leaves the old ones behind.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar, cast

import streamlit as st

from core.plots.base import Style, Theme, rater_styles
from core.records import (
    DirectScores,
    LengthCounts,
    ListRankings,
    OrderCounts,
    OutcomeCounts,
    PairScores,
    PositionCounts,
    RatingTable,
    SingleVotes,
    VoteCounts,
)
from core.schema import CorrectnessRule, Selection
from core.store import DatasetInfo, Store, default_path
from core.store import vote_queries as by_value
from core.store import vote_queries as queries

Result = TypeVar("Result")

DATA = Path(__file__).resolve().parents[2] / "data"
DEMO = tuple(DATA / f"demo_{kind}.csv.gz" for kind in ("votes", "scores", "rankings"))
DEMO_DELETED = "demo deleted"
"""Flag of the store: the visitor deleted the demo, so it must not come back."""


def get_store() -> Store:
    """The store of this server, with the demo in it unless that was deleted."""
    return _open(str(default_path()))


@st.cache_resource(show_spinner="Opening the store", on_release=Store.close)
def _open(path: str) -> Store:
    store = Store.open(Path(path))
    if not store.datasets() and store.flag(DEMO_DELETED) is None:
        from core.importers import read

        for reading in read([(path.name, path) for path in DEMO]):
            store.load(reading, simulated=True)
    return store


@st.cache_resource(show_spinner=False, max_entries=8)
def _datasets(version: int, _store: Store) -> tuple[DatasetInfo, ...]:
    return tuple(_store.datasets())


def datasets() -> tuple[DatasetInfo, ...]:
    """The data sets of the store in order of name."""
    store = get_store()
    return _datasets(store.version, store)


def raters(dataset: str) -> dict[str, str]:
    """Every rater of a data set, with its rater type."""
    found = summary(Selection(datasets=(dataset,)))
    others = {rater.name: rater.rater_type for rater in (*found.scores, *found.rankings)}
    return dict(sorted((others | {judge.name: judge.rater_type for judge in found.judges}).items()))


def styles(dataset: str, theme: Theme, dummies: tuple[str, ...] = ()) -> dict[str, Style]:
    """Colour and marker of every rater of a data set, the same on every page and under every filter."""
    return rater_styles(raters(dataset), dummies=dummies, theme=theme)


# A selection's text names its every field, and is made three times faster than Streamlit's own hash.
@st.cache_resource(show_spinner="Counting votes", max_entries=256, hash_funcs={Selection: repr})
def _answer(
    version: int, question: str, selection: Selection, options: str, _ask: Callable[[], object]
) -> object:
    return _ask()


def _answered(question: Callable[..., Result], selection: Selection, **options: Hashable) -> Result:
    """What `core.store.vote_queries` answers about a selection, asked once for each state of the store."""
    store = get_store()
    found = _answer(
        store.version,
        question.__name__,
        selection,
        repr(options),
        lambda: question(store, selection, **options),
    )
    return cast(Result, found)


def summary(selection: Selection) -> queries.Summary:
    return _answered(queries.summary, selection)


def vote_counts(selection: Selection) -> dict[str, VoteCounts]:
    return _answered(queries.vote_counts, selection)


def vote_counts_by(selection: Selection, column: str) -> dict[str, dict[str, VoteCounts]]:
    return _answered(by_value.vote_counts_by, selection, column=column)


def outcomes(selection: Selection, *, rule: CorrectnessRule = "single") -> dict[str, OutcomeCounts]:
    return _answered(queries.outcomes, selection, rule=rule)


def positions(selection: Selection) -> dict[str, PositionCounts]:
    return _answered(queries.positions, selection)


def order_counts(selection: Selection) -> dict[str, OrderCounts]:
    return _answered(queries.order_counts, selection)


def length_counts(selection: Selection) -> dict[str, LengthCounts]:
    return _answered(queries.length_counts, selection)


def single_votes(selection: Selection) -> dict[str, SingleVotes]:
    return _answered(queries.single_votes, selection)


def costs(selection: Selection) -> dict[str, float | None]:
    return _answered(queries.costs, selection)


def pair_scores(selection: Selection, *, pooled: bool = False) -> dict[str | None, PairScores]:
    return _answered(queries.pair_scores, selection, pooled=pooled)


def ratings(selection: Selection, *, anchors: tuple[str, ...] = ()) -> dict[str, RatingTable]:
    return _answered(queries.ratings, selection, anchors=anchors)


def direct_scores(selection: Selection) -> dict[str, DirectScores]:
    return _answered(queries.direct_scores, selection)


def list_rankings(selection: Selection) -> dict[str, ListRankings]:
    return _answered(queries.list_rankings, selection)


def ranked_items(selection: Selection) -> tuple[str, ...]:
    return _answered(queries.ranked_items, selection)


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

    A file may be large: there is one result of each kind per file, and none once it is gone (`keep_only`).
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
