"""Where is it wrong?"""

from typing import get_args

import numpy as np
import pandas as pd
import streamlit as st

from core.aggregation.btd import held_out_labels
from core.agreement.confusion_matrix import Confusion, TieRule, commonest_error, confusion
from core.errors import NoUsableVotes, TooFewLabels
from core.interpretation import sentences
from core.plots.confusion import accuracies, cell_key, confusion_matrix
from core.records import IntArray, VoteCounts
from core.schema import VOTE_LABELS
from core.store.vote_queries import Mark
from pages.shared import cached, theme, widgets

COMPARED = {"votes": "votes", "majority": "majority labels", "BTD": "BTD labels"}
SHOWN = widgets.VOTES_SHOWN


def labels_of(found: VoteCounts, compared: str) -> IntArray | None:
    """What is compared with gold: None for the votes themselves, else one label a comparison."""
    if compared == "votes":
        return None
    if compared == "majority":
        return found.label
    return held_out_labels(found, rng=np.random.default_rng(0))


def tabled() -> tuple[dict[str, tuple[Confusion, IntArray | None]], dict[str, str]]:
    """Each judge's table with the labels in it, and why a judge has none."""
    tables, reasons = {}, {}
    for judge, found in counts.items():
        try:
            labels = labels_of(found, compared)
        except TooFewLabels as error:
            reasons[judge] = str(error)
            continue
        tables[judge] = (confusion(found, labels=labels, ties=ties), labels)
    return tables, reasons


widgets.title("Confusion", "Where is it wrong?")
selection, look = widgets.current_selection(), theme.current()
counts = {judge: found for judge, found in cached.vote_counts(selection).items() if len(found.labelled())}
if not counts:
    raise NoUsableVotes("Confusion needs comparisons with a gold label; this selection has none.")

said, asked = st.container(), st.container(horizontal=True)
compared = (
    asked.segmented_control(
        "Compare with gold",
        list(COMPARED),
        default="votes",
        required=True,
        key="compared",
        bind="query-params",
    )
    or "votes"
)  # an empty value in the URL is none
ties: TieRule = asked.selectbox("Ties", get_args(TieRule), key="ties", bind="query-params", width=180)
tables, reasons = cached.computed("confusion", (selection, compared, ties), tabled)
if not tables:
    raise NoUsableVotes(f"No judge has labels enough. {next(iter(reasons.values()))}")
hardest = min(tables, key=lambda judge: tables[judge][0].accuracy or 0)
judge = asked.selectbox("Judge", list(tables), list(tables).index(hardest), key="rater", bind="query-params")
table, labels = tables[judge]
verdict = sentences.confusion(judge, table, noun=COMPARED[compared])
with said:
    widgets.answer(f"{judge}: {verdict.sentence}", "finding" if verdict.verdict == "ok" else "warning")


def mark(gold: int, label: int) -> Mark:
    """Votes behind a cell: those votes, or all votes of the comparisons with that label."""
    if labels is None:
        return Mark(judge=judge, gold=gold, vote=label)
    found = counts[judge]
    behind = found.comparison[(found.gold == gold) & (labels == label)][:SHOWN]
    return Mark(judge=judge, comparisons=tuple(behind.tolist()))


cells = {
    cell_key(gold, label): (gold, label)
    for gold in VOTE_LABELS
    for label in VOTE_LABELS
    if table.counts[gold + 1, label + 1]
}
matrix, others = st.columns([1, 1], gap="medium")
with matrix:
    fig = confusion_matrix(table, theme=look, chosen=st.session_state.get("cell"))
    cell = widgets.figure(fig, "cell", alt="Gold against verdict, 3 by 3", marks=list(cells))
    widgets.how_to_read(
        "Rows are what gold says, columns what was said; each row adds up to 100 %. The diagonal is right. "
        "Each cell gives the count, its share of the row and a 95 % interval that allows for votes of one "
        "item being alike. Ties: *keep* treats a tie as a class of its own; *drop_votes* leaves tied "
        "verdicts out; *drop_gold* leaves out comparisons on which gold ties; *drop_both* both. BTD labels "
        "are made by fits on the other nine tenths of the items, so that they do not flatter."
    )
with others:
    styles = cached.styles(widgets.current_dataset(), look)
    fig = accuracies(
        {name: one for name, (one, _) in tables.items()},
        styles=styles,
        theme=look,
        chosen=st.session_state.get("wrong"),
    )
    wrong = widgets.figure(
        fig, "wrong", alt="Share right of each judge", marks=list(tables), prompt="Wrong votes of"
    )
if cell:
    widgets.votes_table(mark(*cells[cell]), name="cell")
if wrong:
    widgets.votes_table(Mark(judge=wrong, correct=False), name="wrong")


def row(name: str, one: Confusion) -> dict[str, object]:
    worst = commonest_error(one)
    return {
        "judge": name,
        "n": one.n,
        "share right": one.accuracy,
        "low": one.accuracy_low,
        "high": one.accuracy_high,
        "commonest error": cell_key(*worst[:2]) if worst else "none",
        "of it": worst[2] if worst else 0,
        "best constant": one.constant,
        **{f"right: {sentences.SAYS[k]}": one.share[k + 1, k + 1] for k in (1, 0, -1)},
    }


widgets.table(
    pd.DataFrame([row(name, one) for name, (one, _) in tables.items()]),
    "confusion",
    alt="Share right by gold",
)
st.caption("*right: A better* is the share right where gold says that A is better, and so on.")
for name, reason in reasons.items():
    widgets.not_applicable(f"{name}: {reason}")
given = {"votes": "None", "majority": "counts.label", "BTD": "held_out_labels(counts, rng=default_rng(0))"}
widgets.copy_as_python(
    f"""counts = queries.vote_counts(store, selection)[{judge!r}]
table = confusion(counts, labels={given[compared]}, ties={ties!r})
print(table.accuracy, table.accuracy_low, table.accuracy_high, table.n)
print(table.counts)"""
)
