"""Temperatures, prompts, models, judges side by side, each against one of them."""

from __future__ import annotations

import math
from dataclasses import replace

import streamlit as st

from core.errors import NoUsableVotes
from core.questions.planning.comparison import ComparedValue, Comparison, compare
from core.questions.planning.figure import compared_figure, ties_figure
from core.questions.planning.words import comparison_answer
from core.records import VoteCounts
from core.schema import Selection
from pages.sections.planning.sweeps import PageState
from pages.shared import cached, many, numbers, widgets

JUDGE = "judge"
LEFT_OUT = ("gold", "position", "run", "confidence_kind")
MOST_VALUES = 20
COLUMNS = {
    "value": "value",
    "rule": "rule",
    "n": "n",
    "mae": "MAE",
    "mae_item_low": "low",
    "mae_item_high": "high",
    "pa": "PA",
    "pa_item_low": "PA low",
    "pa_item_high": "PA high",
    "difference": "MAE minus reference",
    "difference_low": "minus low",
    "difference_high": "minus high",
    "common": "n of both",
    "ties": "ties",
    "ties_low": "ties low",
    "ties_high": "ties high",
    "gold_ties": "gold ties",
    "votes": "votes",
}


def compared_tab(state: PageState) -> None:
    """Error and ties by the value of a column."""
    columns = cached.filter_columns(Selection(datasets=state.selection.datasets))
    controls = st.container(horizontal=True)
    column = controls.selectbox(
        "Compare by",
        [JUDGE, *(name for name in columns if name not in LEFT_OUT)],
        key="compare_by",
        bind=widgets.URL,
        width=220,
    )
    if column == JUDGE:
        st.caption("All judges are compared; the judge above is whose votes other columns divide.")
    values, code = _values(state, column)
    most = max(values, key=lambda value: len(values[value].labelled()))
    baseline = widgets.select(
        "Against", values, start=most, key="against", place=controls, width=320
    )
    found = cached.computed(
        "comparison",
        (*state.key, column, baseline),
        lambda: compare(values, rng=widgets.seeded(), baseline=baseline),
    )
    whose = "" if column == JUDGE else f" ({state.judge})"
    widgets.answer(f"{comparison_answer(found, column)}{whose}", part="compare")
    _drawn(found, state, column)
    widgets.how_to_read(
        "Upper mark: BTD, calibrated on 5 % of the items; lower mark, hollow: majority. Bars are "
        "95 % intervals by item, of each value on all its labelled comparisons. *MAE minus "
        "reference*: the difference in error on the comparisons that both judged, the same items "
        "to calibrate on; its interval is often much narrower than the bars, which share their "
        "items. Each interval is of one difference: of many values the best is partly luck."
    )
    # The values are headed by the column that they are of, unless the table has such a head
    # already.
    heads = COLUMNS | ({} if column in COLUMNS.values() else {"value": column})
    numbers.table(found.to_frame(), "compared", alt="Error and ties of each value", heads=heads)
    reasons = {name: one.reason for name, one in found.values.items() if one.reason}
    reasons |= {one.candidate: one.reason for one in found.differences if one.reason}
    widgets.left_out(reasons, key="compared-left-out")
    widgets.copy_as_python(
        f"""{code}
found = compare_settings(values, rng=default_rng(0), baseline={baseline!r})
print(found.to_frame().to_string())"""
    )


def _values(state: PageState, column: str) -> tuple[dict[str, VoteCounts], str]:
    """Votes under each value, and the lines of Python that make them."""
    if column == JUDGE:
        values, code = state.counts, "values = queries.vote_counts(store, selection)"
    else:
        by_value = cached.vote_counts_by(state.selection, column)
        values = {
            value: judges[state.judge]
            for value, judges in by_value.items()
            if state.judge in judges
        }
        code = (
            f"by_value = queries.vote_counts_by(store, selection, {column!r})\n"
            f"values = {{name: judges[{state.judge!r}] for name, judges in by_value.items() "
            f"if {state.judge!r} in judges}}"
        )
    if not values:
        raise NoUsableVotes(f"{state.judge} has no vote with a {column} to compare by.")
    if len(values) > MOST_VALUES:
        kept = sorted(values, key=lambda name: -len(values[name].labelled()))[:MOST_VALUES]
        st.caption(f"The {MOST_VALUES} values with most labelled comparisons of {len(values)}.")
        values = {name: one for name, one in values.items() if name in kept}
        code += f"\nvalues = {{name: values[name] for name in {list(values)!r}}}"
    return values, code


def _merit(one: ComparedValue) -> float:
    """The less error of the first rule the better; unknown where nothing was calibrated."""
    return -next(iter(one.evaluation.scores.values())).mae if one.evaluation else math.nan


def _drawn(found: Comparison, state: PageState, column: str) -> None:
    styles = state.styles if column == JUDGE else {}
    errors, ties = st.columns([3, 2], gap="medium")
    order = many.sorted_by({name: _merit(one) for name, one in found.values.items()}, "best first")
    found = replace(found, values={name: found.values[name] for name in order})
    with errors:
        if any(one.evaluation for one in found.values.values()):
            fig = compared_figure(found, styles=styles, theme=state.look)
            widgets.figure(fig, "compared", alt="MAE of each value")
        else:
            widgets.not_applicable(
                "no value has 20 labelled comparisons to calibrate on and others."
            )
    with ties:
        fig = ties_figure(found, styles=styles, theme=state.look)
        widgets.figure(fig, "compared-ties", alt="Share of ties of each value")
