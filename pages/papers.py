"""What would the papers' tables and figures show of these votes?"""

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from core.auditing.options import AuditOptions
from core.papers import boards, labels, lists
from core.papers.asked import Asked, Settings
from core.papers.figure import MAIN, figure
from core.papers.items import ITEMS
from core.papers.made import Made, Maker, place
from core.papers.planted import PLANTED
from core.papers.record import PAPERS, Item
from core.schema import Selection
from pages.shared import cached, evidence, limits, numbers, parts, widgets

# The column of tasks, and random splits where rules are compared; the command has 100.
BY, SPLITS = "category", (5, 20, 50, 100)
BY_COLUMN = {
    labels.tie_rates,
    labels.grid,
    labels.gains,
    labels.parameters,
    labels.transfers,
    labels.transfer_foreseen,
    boards.by_task,
    boards.between,
    boards.kappas,
    lists.pairwise_sources,
}
ON_SPLITS = {
    labels.rules,
    labels.grid,
    labels.gains,
    labels.parameters,
    labels.transfers,
    labels.transfer_foreseen,
    labels.forced,
    labels.order_balances,
    labels.confidence_weights,
}

widgets.title("papers", "What would the papers' tables and figures show of these votes?")


def made(selection: Selection, options: AuditOptions, item: Item, by: str) -> Made:
    """The item on the selection, its table made once."""
    maker = cached.computed(
        "papers",
        (selection, options, by),
        lambda: Maker(Asked(evidence.counted(selection, options), Settings(by=by))),
    )
    name = item.table.__name__ if item.table else ""
    found = cached.computed("paper table", (selection, options, by, name), lambda: maker(item))
    return Made(item=item, table=found.table, lacks=found.lacks)


def address(item: Item) -> str:
    """Where the section of an item lies, on this data set."""
    state = {"dataset": widgets.current_dataset()} | ({"tab": item.tab} if item.tab else {})
    return f"{item.page}?{urlencode(state)}"


def at_main_figure() -> None:
    """Another paper begins with its own figure, also where it has an item of the same number."""
    st.session_state["paper-item"] = MAIN[st.session_state["paper"]]


def page() -> None:
    """The items of a paper, and one of them on the visitor's data."""
    paper = widgets.choice(
        "Paper",
        list(PAPERS),
        key="paper",
        help="; ".join(f"{k}: {v}" for k, v in PAPERS.items()),
        on_change=at_main_figure,
    )
    items = [item for item in ITEMS if item.paper == paper]
    st.caption(PAPERS[paper])
    chosen = widgets.select(
        "Table or figure", [item.number for item in items], start=MAIN[paper], key="paper-item"
    )
    item = next(item for item in items if item.number == chosen)
    selection = widgets.current_selection()
    by, options = BY, limits.current_options()
    with st.container(horizontal=True):
        if item.table in BY_COLUMN:
            columns = cached.filter_columns(Selection(datasets=selection.datasets))
            by = widgets.select(
                "Tasks or prompts by", [*dict.fromkeys((BY, *columns))], start=BY, key="paper-by"
            )
        splits = 20
        if item.table in ON_SPLITS:
            splits = widgets.select("Random splits", SPLITS, start=20, key="paper-splits")
        options = replace(options, splits=splits)
    st.subheader(f"{item.name}: {item.shows}", anchor=False)
    if item.ours:
        st.text(f"Ours: {item.ours}.")
    if item.name in PLANTED and widgets.simulated():
        st.text(f"Planted in the demo: {PLANTED[item.name]}.")
    if item.page and item.page != "papers":
        st.markdown(f"[{place(item)}]({address(item)})")
    found = made(selection, options, item, by)
    if found.table is None:
        if item.command:
            st.code(f"appellate {item.told}", language="bash")
        else:
            widgets.not_applicable(found.lacks)
    else:
        fig = figure(item, found.table, theme=widgets.current_look())
        if fig is None:
            st.dataframe(found.table, hide_index=True)
        else:
            widgets.figure(fig, "paper", alt=item.shows)
            numbers.table(found.table, "paper-table", alt=item.shows)
    st.subheader("All items", anchor=False)
    with st.container(key="paper-items"):
        st.markdown("\n".join(line(item) for item in items))


def line(item: Item) -> str:
    """An item with links to its table here, and to its section."""
    here = {"dataset": widgets.current_dataset(), "paper": item.paper, "paper-item": item.number}
    told = f"- [{item.number}](papers?{urlencode(here)}) {item.shows}"
    if item.page and item.page != "papers":
        told += f" · [{place(item)}]({address(item)})"
    return told + (f" · lacks {item.lacks}" if item.lacks else "")


parts.body(page)
