"""Tables of results, and the downloads that hold all of their numbers.

A table shows the digits that its intervals earn, a value and its interval in one cell; the menu has
the numbers in full.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.finding import tables
from core.finding.tables import Column
from core.store.export import write_csv, write_parquet
from pages.shared.folds import folded

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pandas.io.formats.style import Styler

WIDTHS = {"model": 130, "verdict": 140, "triangle": 470}
"""Long names are cut, so that numbers stay in view beside a figure; the figure and the download
have them.
"""
P_VALUE = "p"
"""Column of p-values: to two significant digits, as 0.000 is none."""
MENU = "downloads of the page"
HELD_OUT = {
    "rule": "rule",
    "n": "n",
    "mae": "MAE",
    "mae_low": "low",
    "mae_high": "high",
    "mae_change": "ΔMAE",
    "mae_change_low": "ΔMAE low",
    "mae_change_high": "ΔMAE high",
    "drps": "DRPS",
    "drps_change": "ΔDRPS",
    "drps_change_low": "ΔDRPS low",
    "drps_change_high": "ΔDRPS high",
}
"""Columns of a table of rules judged on held-out items; Δ: first minus this."""
FILES = (
    ("CSV", write_csv, "text/csv"),
    ("Parquet", write_parquet, "application/vnd.apache.parquet"),
)
"""Kinds of downloads: a CSV file is safe in a spreadsheet, a Parquet file exact."""


@dataclass(slots=True, eq=False, kw_only=True)
class Downloads:
    """What a page offers for download, by name: what it is and what makes it; `place` is for its
    button. `shown` : whether the menu is; None until the page is drawn.
    """

    place: DeltaGenerator
    tables: dict[str, tuple[str, Callable[[], pa.Table]]] = field(default_factory=dict)
    shown: bool | None = None


def downloads_in(place: DeltaGenerator) -> None:
    """Where the button of the page's downloads will be."""
    st.session_state[MENU] = Downloads(place=place)


def download_menu() -> None:
    """Behind one button whatever the page has offered, if anything; called when the page is drawn.

    The menu is filled when it opens: a fragment that draws its tables again must not write to it,
    as what a fragment writes elsewhere moves down with each of its runs until the browser has no
    place for it.
    """
    held: Downloads | None = st.session_state.get(MENU)
    if held is None:
        return
    held.shown = bool(held.tables)
    if held.shown:
        with held.place:
            _menu(held)


def offer_anew() -> None:
    """Forget the tables of the page, whose body is drawn again and offers its own."""
    held: Downloads | None = st.session_state.get(MENU)
    if held is not None:
        held.tables.clear()


def menu_is_missing() -> bool:
    """Whether the page was drawn without a menu and now offers a table."""
    held: Downloads | None = st.session_state.get(MENU)
    return held is not None and bool(held.tables) and held.shown is False


@st.fragment
def _menu(held: Downloads) -> None:
    menu = st.popover(
        "Download", icon=":material/download:", key="download", type="tertiary", on_change="rerun"
    )
    if not menu.open:
        return
    for name, (about, make) in held.tables.items():
        with menu.container(horizontal=True, vertical_alignment="center"):
            st.caption(about)
            download_buttons(make, name)


def table(
    frame: pd.DataFrame,
    name: str,
    *,
    alt: str,
    heads: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    significant: Sequence[str] = (),
) -> None:
    """Show a table of numbers, digits cut for reading, with downloads that hold them all.

    heads : the columns that the table has, where `frame` has them, in this order, with their
        headings.
    columns : shown, in this order; the others are in the downloads only.
    significant : columns of several units, with three significant digits in place of three
        decimals.
    """
    if heads:
        frame = frame[[name for name in heads if name in frame]].rename(columns=heads)
    shown = frame.assign(**{column: _as_numbers(frame[column]) for column in frame.columns})
    form = {}
    for column in shown.columns:
        kind = shown[column].dtype.kind
        if kind == "f" and (column in significant or column == P_VALUE):
            form[column] = st.column_config.NumberColumn(
                format="%.2g" if column == P_VALUE else "%.3g"
            )
        elif kind == "f":
            # Three digits of -0.0004 would read -0.000.
            unsigned = (shown[column] > 0) | (shown[column].round(3) != 0)
            shown[column] = shown[column].where(unsigned | shown[column].isna(), 0.0)
            form[column] = st.column_config.NumberColumn(format="%.3f")
        elif kind in "iu":
            form[column] = st.column_config.NumberColumn(format="localized")

    def draw() -> None:
        st.dataframe(
            shown,
            hide_index=True,
            column_config=form,
            column_order=columns,
            placeholder="–",
            alt=alt,
        )

    folded(f"Numbers: {alt}", draw, key=name)
    downloads(frame, name, alt)


def held_out_table(frame: pd.DataFrame, name: str, *, alt: str, of: str = "comparisons") -> None:
    """Show the errors of rules on the same held-out comparisons."""
    st.caption(
        f"Rules on the same held-out {of}; Δ is the first rule minus this one, below 0 the first "
        "is better"
    )
    table(frame, name, alt=alt, heads=HELD_OUT)


def show(
    columns: Sequence[Column],
    rows: Iterable[object],
    name: str,
    download: pd.DataFrame | Callable[[], pd.DataFrame],
    *,
    alt: str,
    known_only: bool = False,
    **options: Any,
) -> None:
    """Show results in the digits that their intervals earn, with downloads that hold all numbers.

    known_only : leave out columns in which nothing is known.  options : of `st.dataframe`.
    """
    listed = list(rows)
    shown = tables.frame(columns, listed)
    config: dict[str, Any] = {}
    cells: dict[str, list[str]] = {}
    for column in columns:
        low, high = column.interval_names()
        if column.name not in shown or column.name in config:
            continue
        if {low, high} <= {*shown}:
            # The interval stands in the value's cell; its ends are in the downloads.
            cells[column.name] = [column.text(row) for row in listed]
            about = " ".join(filter(None, (column.help, column.ends_help)))
            config |= {
                column.name: st.column_config.NumberColumn(help=about or None),
                low: None,
                high: None,
            }
        elif column.form:
            config[column.name] = st.column_config.NumberColumn(
                format=f"%{column.form}", help=column.help or None
            )
        else:
            config[column.name] = st.column_config.Column(
                help=column.help or None, width=WIDTHS.get(column.name)
            )
        if column.form == "+.0f":
            for head in {column.name, low, high} & {*shown}:
                # No minus before a rounded 0.
                shown[head] = shown[head].astype(float).round() + 0.0
    if known_only:
        shown = shown.dropna(axis=1, how="all")
    styled = _with_texts(shown, cells)
    st.dataframe(styled, hide_index=True, column_config=config, placeholder="–", alt=alt, **options)
    downloads(download, name, alt)


def _with_texts(frame: pd.DataFrame, cells: Mapping[str, Sequence[str]]) -> Styler | pd.DataFrame:
    """The table with a text in place of each number of these columns, by which they are still
    sorted.
    """
    if not cells:
        return frame
    styled = frame.style
    for column in [name for name in cells if name in frame]:
        said: dict[object, str] = {}
        rows = zip(frame.index, frame[column], cells[column], strict=True)
        alike = [(row, text) for row, value, text in rows if said.setdefault(value, text) != text]
        styled = styled.format(said.__getitem__, subset=[column], na_rep="–")
        # Equal numbers may have different intervals. A format of one cell costs as much as that of
        # a column.
        for row, text in alike:
            styled = styled.format(text, subset=(row, column))
    return styled


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of numbers and None as numbers; pandas keeps one that starts with None as
    objects.
    """
    import pandas as pd

    if column.dtype != object or not all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        for value in column
    ):
        return column
    return pd.to_numeric(column)


def downloads(frame: pd.DataFrame | Callable[[], pd.DataFrame], name: str, about: str = "") -> None:
    """Offer a table, or what makes it on demand, as CSV, safe in a spreadsheet, and as Parquet,
    exact.

    about : what the table is; then it is offered in the page's menu.
    """
    import pyarrow as pa

    def made() -> pa.Table:
        return pa.Table.from_pandas(frame() if callable(frame) else frame, preserve_index=False)

    held: Downloads | None = st.session_state.get(MENU)
    if about and held is not None:
        held.tables[name] = (about, made)
        return
    with st.container(horizontal=True):
        download_buttons(made, name)


def download_buttons(make: Callable[[], pa.Table], name: str, *, text: str = "") -> None:
    """One button per kind of file, which makes the table only when it is clicked."""

    def written(write: Callable[[pa.Table, BinaryIO], None]) -> bytes:
        buffer = io.BytesIO()
        write(make(), buffer)
        return buffer.getvalue()

    for kind, write, mime in FILES:
        file, key = f"{name}.{kind.lower()}", f"{text}{name}-{kind.lower()}"
        make_file = partial(written, write)
        st.download_button(f"{text}{kind}", make_file, file, mime, key=key, on_click="ignore")
