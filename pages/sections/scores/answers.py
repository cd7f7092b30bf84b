"""Answers behind a mark: question, answer, what the judge said and why, and what people said."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.finding.wording import count
from core.questions.scores.ask import said_of_answers
from core.questions.scores.audited import ScoreAudit
from core.records import BoolArray, IntArray
from pages.sections.scores.controls import PageState
from pages.shared import cached, folds, numbers

if TYPE_CHECKING:
    import pandas as pd

SIDE_BY_SIDE = 2
"""Answers that stand beside each other."""
LONG, HEIGHT = 600, 220
"""Characters from which a text scrolls, and the height of its box in pixels."""
MOST_IN_FILE = 5_000
"""Answers whose texts the download of one mark has."""
WORDS = {0.0: "fail", 1.0: "pass"}


def answers_behind(
    state: PageState,
    rows: IntArray | BoolArray | None,
    *,
    name: str,
    audit: ScoreAudit | None = None,
) -> None:
    """Cards of the answers in these rows of the table of a judge, those farthest from people first.

    rows : places in the table, in the order in which they are shown, or a mask; None shows nothing.
    """
    if rows is None:
        return
    shown = audit or state.shown
    table = shown.evidence.table
    if rows.dtype == bool:
        # Who is farthest from people tells most.
        places = np.flatnonzero(rows)
        apart = np.abs(table.judge - table.reference)[places]
        rows = places[np.argsort(-np.nan_to_num(apart, nan=-1.0), kind="stable")]
    if not len(rows):
        st.text("There is no such answer.")
        return
    _leaf_through(state, shown, np.asarray(rows), name)


@st.fragment
def _leaf_through(state: PageState, shown: ScoreAudit, rows: IntArray, name: str) -> None:
    """Two cards with the way to the others; a step draws them anew and nothing else of the page."""
    asked = repr((state.selection, shown.whose, len(rows), rows[:100].tolist()))
    key = f"{name}-answers"
    was, place = st.session_state.get(key, ("", 0))
    place = place if was == asked else 0
    with st.container(key=f"{key}-behind", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(count(len(rows), "answer"), width="content")
            _steps(key, asked, place, len(rows))
        here = rows[place : place + SIDE_BY_SIDE]
        said = _said(state, shown, here)
        for column, row in zip(st.columns(SIDE_BY_SIDE), here.tolist(), strict=False):
            with column, st.container(border=True, key=f"{key}-{row}", gap="xsmall"):
                _card(shown, said, row)
        box = st.expander("Table", folds.OPEN_AT_FIRST, key=f"fold-{key}", on_change="rerun")
        if box.open:
            with box:
                _table(state, shown, rows, name)


def _steps(key: str, asked: str, place: int, total: int) -> None:
    if total <= SIDE_BY_SIDE:
        return
    move = partial(_turn_to, key, asked)
    last = place + SIDE_BY_SIDE >= total
    st.button(
        "Previous",
        key=f"{key}-previous",
        icon=":material/chevron_left:",
        on_click=move,
        args=(place - SIDE_BY_SIDE,),
        disabled=not place,
    )
    to = min(place + SIDE_BY_SIDE, total)
    st.text(f"{place + 1:,} to {to:,} of {total:,}", width="content")
    st.button(
        "Next",
        key=f"{key}-next",
        icon=":material/chevron_right:",
        on_click=move,
        args=(place + SIDE_BY_SIDE,),
        disabled=last,
    )


def _turn_to(key: str, asked: str, place: int) -> None:
    st.session_state[key] = asked, place


def _said(state: PageState, shown: ScoreAudit, rows: IntArray) -> pd.DataFrame:
    """What everybody said of the answers in some rows; `place` is the row of each."""
    scores = shown.evidence.scores
    assert scores.item is not None
    assert scores.model is not None
    keys = {}
    for row in rows.tolist():
        code = int(scores.model[row])
        keys[int(scores.item[row]), scores.models[code] if code >= 0 else None] = row
    found: pd.DataFrame = said_of_answers(
        *cached.where(state.selection), shown.metric, list(keys)
    ).to_pandas()
    models = [model if isinstance(model, str) else None for model in found["model"]]
    places = [keys.get(key, -1) for key in zip(found["item"], models, strict=True)]
    return found.assign(place=places)


def _card(shown: ScoreAudit, said: pd.DataFrame, row: int) -> None:
    """One answer: who said what of it first, then the question and the answer."""
    own = said[said["place"] == row]
    first = own.iloc[0]
    about = [first["item_id"], first["model"], first["category"]]
    st.text(" · ".join(part for part in about if isinstance(part, str)))
    passes = shown.evidence.table.says_pass
    judge_first = sorted(own.groupby("judge", sort=False), key=lambda one: one[0] != shown.judge)
    for rater, scores in judge_first:
        st.text(f"{rater}: {_scores(scores, passes)}")
        for reason in dict.fromkeys(text for text in scores["rationale"] if _is_text(text)):
            _text("Reason", reason)
    gold = own["gold"].dropna()
    if len(gold):
        st.text(f"gold: {_word(float(gold.iloc[0]), passes)}")
    for heading, column in (("Question", "prompt"), ("Answer", "response")):
        text = next((text for text in own[column] if _is_text(text)), None)
        if text is not None:
            _text(heading, text)


def _text(heading: str, text: str) -> None:
    st.caption(heading)
    long = len(text) > LONG
    with st.container(height=HEIGHT if long else "content", border=long):
        st.text(text)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _scores(own: pd.DataFrame, passes: bool) -> str:
    known = own["score"].dropna()
    if not len(known):
        return "no score"
    several = f" ({len(known)} runs)" if len(known) > 1 else ""
    return ", ".join(_word(float(score), passes) for score in known) + several


def _word(score: float, passes: bool) -> str:
    return WORDS[score] if passes and score in WORDS else f"{score:g}"


def _table(state: PageState, shown: ScoreAudit, rows: IntArray, name: str) -> None:
    frame = _said(state, shown, rows[:MOST_IN_FILE]).sort_values(
        ["place", "human", "judge", "run"], kind="stable"
    )
    frame = frame[frame["place"] >= 0].drop(columns=["place", "item", "status"])
    st.dataframe(
        frame.dropna(axis=1, how="all").head(200),
        hide_index=True,
        alt="What each rater said of these answers",
    )
    if len(rows) > MOST_IN_FILE:
        st.caption(f"The files have the first {MOST_IN_FILE:,} answers.")
    numbers.downloads(frame, f"{name}-answers")
