"""Comparisons as people read them: prompt, both responses side by side, what was said and what gold
says.

Behind every mark, for disagreements, and for a judge's errors that tell most. The table is one
click away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from core.errors import NoUsableVotes
from core.labelling.disagreements import disagreements, in_short
from core.questions.agreement.paired import WORDS, verdict_table
from core.records import IntArray, VoteCounts
from core.schema import COLUMN_NAMES, Selection
from core.store import vote_queries as queries
from core.store.marks import Telling
from pages.shared import cached, folds, numbers, share, texts, widgets

if TYPE_CHECKING:
    import pandas as pd


SHOWN = 200
"""Rows of a table at once; its download has all."""
VOTE_COLUMNS = (
    *(
        "judge",
        "item_id",
        "model_a",
        "model_b",
        "position",
        "run",
        "vote",
        "gold",
        "confidence",
        "category",
    ),
    *(
        "prompt",
        "response_a",
        "response_b",
        "rationale",
        "length_a",
        "length_b",
        "temperature",
        "cost",
    ),
)
TEXTS = ("prompt", "response_a", "response_b", "rationale")
MOST_ANSWERS = 5
"""Single answers that are shown with their texts; the table has all."""
ONE_BY_ONE = 6
"""Votes on one comparison that a card lists one by one; more are counted for each rater."""
RATIONALES = 3
SAID = {1: "A is better", 0: "it is a tie", -1: "B is better"}
LONG, HEIGHT = (1200, 260), (320, 160)
"""Characters from which a text scrolls, in a card of the page's width and in a small one; and its
pixels.
"""
TELLING: dict[Telling, tuple[str, str]] = {
    "surest": ("Wrong where it was surest", "Nothing to show: no wrong vote has a confidence."),
    "flipped": (
        "Changed when the responses swapped places",
        "Nothing to show: no votes in both orders differ.",
    ),
    "against people": (
        "Against all people",
        "Nothing to show: no two people agree on another verdict.",
    ),
}
"""Heading of each telling error, and what its place says without one."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Stack:
    """Cards to leaf through: how many, of what, and what is on each.

    asked : tells one stack from the next in the same place, which then starts at its first card.
    card : votes on the card of a place.  rows : of the table, from a place on, one per card.
    whole : all rows of the table, for its download.
    """

    name: str
    asked: str
    total: int
    unit: str
    card: Callable[[int], pd.DataFrame]
    rows: Callable[[int], pd.DataFrame]
    whole: Callable[[], pd.DataFrame]
    columns: tuple[str, ...] = ()


def votes_behind(mark: queries.Mark | None, *, name: str) -> None:
    """The votes behind the chosen mark, if one is: one card a vote, all of them in the download."""
    if mark is None:
        return
    selection = widgets.current_selection()
    total = cached.count_behind(selection, mark=mark)
    if not total:
        raise NoUsableVotes("No vote is behind this mark")

    first = _frame(cached.votes_behind(selection, mark=mark, limit=SHOWN))
    if total > 1 and first[[*TEXTS]].notna().to_numpy().any() and not widgets.elsewhere():
        wanted = st.text_input(
            "Find in the texts",
            key=f"{name}-find",
            placeholder="a word of the prompt, a response or the reason",
            width=360,
        ).strip()
        if wanted:
            mark = replace(mark, text=wanted)
            total = cached.count_behind(selection, mark=mark)
        if not total:
            st.text(f"None of these votes has a text with “{wanted}”.")
            return

    def rows(start: int) -> pd.DataFrame:
        return _frame(cached.votes_behind(selection, mark=mark, limit=SHOWN, offset=start))

    def whole() -> pd.DataFrame:
        return _frame(queries.votes_behind(*cached.where(selection), mark=mark, limit=None))

    def card(place: int) -> pd.DataFrame:
        return rows(place - place % SHOWN).iloc[[place % SHOWN]]

    asked = repr((selection, mark))
    _leaf_through(
        _Stack(
            name=name,
            asked=asked,
            total=total,
            unit="vote",
            card=card,
            rows=rows,
            whole=whole,
            columns=VOTE_COLUMNS,
        )
    )


def mark_of(codes: IntArray, judge: str | None = None) -> queries.Mark:
    """Votes on these comparisons, of one judge or of all."""
    return queries.Mark(judge=judge, comparisons=tuple(codes.tolist()))


def comparisons(
    codes: IntArray,
    counts: Mapping[str, VoteCounts],
    *,
    name: str,
    selection: Selection | None = None,
    votes_on: Callable[[Mapping[str, str]], pd.DataFrame] | None = None,
) -> None:
    """The comparisons on which these raters disagree: one card and one row each, with their
    verdicts only.

    codes : comparisons, as the counts have them.  counts : rater → its votes.
    selection : that the codes belong to, by default the sidebar's.
    votes_on : the votes to read on the comparison of a row of the table, by default those of the
        raters.
    """
    if not len(codes):
        st.text("They never disagree.")
        return
    asked = selection or widgets.current_selection()

    def table(start: int = 0, end: int | None = None) -> pd.DataFrame:
        return verdict_table(cached.comparison_names(asked), counts, codes[start:end])

    def card(place: int) -> pd.DataFrame:
        if votes_on:
            row = table(place, place + 1).iloc[0]
            return votes_on({str(name): row[name] for name in row.index})
        mark = queries.Mark(judges=tuple(counts), comparisons=(int(codes[place]),))
        return _frame(cached.votes_behind(asked, mark=mark, limit=SHOWN))

    _leaf_through(
        _Stack(
            name=name,
            asked=repr((asked, tuple(counts), len(codes), codes[:SHOWN].tolist())),
            total=len(codes),
            unit="comparison",
            card=card,
            rows=lambda start: table(start, start + SHOWN),
            whole=table,
        )
    )


def error_cards(judge: str) -> None:
    """The errors of a judge that tell most, at most three, side by side; a line for each kind that
    it did not make.
    """
    st.subheader("Show me", anchor=False)
    found = cached.telling_errors(widgets.current_selection(), judge)
    shown = {kind: heading for kind, (heading, _) in TELLING.items() if kind in found}
    for place, (kind, heading) in zip(st.columns(len(shown) or 1), shown.items(), strict=False):
        with (
            place,
            st.container(border=True, height="stretch", key=f"telling-{kind.replace(' ', '-')}"),
        ):
            st.markdown(f"**{heading}**")
            _card(_frame(found[kind]), small=True)
    for kind, (heading, without) in TELLING.items():
        if kind not in found:
            st.text(f"{heading}: {without[:1].lower()}{without[1:]}")


def answers() -> None:
    """Single answers on which judge and people differ, those in which the judge is most likely
    right first.
    """
    audited = share.found()
    found = disagreements(cached.where(widgets.current_selection())[0], audited, with_agreements=0)
    if not audited.scores or not len(found):
        return
    st.subheader("Single answers on which judge and people differ", anchor=False)
    for place, row in enumerate(found.slice(0, MOST_ANSWERS).to_pylist()):
        about, said = in_short(row)
        shown = [row[name] for name in ("question", "answer", "judge_reason") if row[name]]
        with st.container(border=True, key=f"telling-answer-{place}"):
            st.text("\n\n".join([about, f"{said}.", *shown]))
    numbers.table(
        found.to_pandas(), "disagreements", alt="Answers on which judge and people differ"
    )


def _frame(votes: Any) -> pd.DataFrame:
    frame: pd.DataFrame = votes.to_pandas()
    return frame


@st.fragment
def _leaf_through(stack: _Stack) -> None:
    """One card with the way to the others; a step draws the card anew and nothing else of
    the page.
    """
    key = f"{stack.name}-card"
    asked, place = st.session_state.get(key, ("", 0))
    if asked != stack.asked:
        place = 0
        st.session_state[key] = stack.asked, place
    with st.container(key=f"{stack.name}-behind", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{stack.total:,} {stack.unit}{'s' * (stack.total > 1)}", width="content")
            if stack.total > 1:
                _steps(stack, key, place)
        with st.container(border=True, gap="small"), widgets.errors(elsewhere=False):
            _card(stack.card(place))
        _table(stack, key, place - place % SHOWN)


def _steps(stack: _Stack, key: str, place: int) -> None:
    move = partial(_turn_to, key, stack.asked)
    previous, next_ = ":material/chevron_left:", ":material/chevron_right:"
    st.button(
        "Previous",
        key=f"{key}-previous",
        icon=previous,
        on_click=move,
        args=(place - 1,),
        disabled=not place,
    )
    st.text(f"{place + 1:,} of {stack.total:,}", width="content")
    last = place + 1 == stack.total
    st.button(
        "Next", key=f"{key}-next", icon=next_, on_click=move, args=(place + 1,), disabled=last
    )


def _turn_to(key: str, asked: str, place: int) -> None:
    st.session_state[key] = asked, place


def _turn_to_row(key: str, asked: str, start: int, table: str) -> None:
    for row in st.session_state[table]["selection"]["rows"]:
        _turn_to(key, asked, start + row)


def _table(stack: _Stack, key: str, start: int) -> None:
    """The rows around the card, folded; a chosen one turns to its card."""
    frame = stack.rows(start)
    part = f", {start + 1:,} to {start + len(frame):,}" if len(frame) < stack.total else ""
    # No box of `folded`: a row that is chosen turns the card above.
    box = st.expander(f"Table{part}", folds.OPEN_AT_FIRST, key=f"fold-{key}", on_change="rerun")
    if not box.open:
        return
    with box:
        # What differs between votes comes first; columns without a value stay in the download.
        names = [str(name) for name in frame]
        order = [*stack.columns, *(name for name in names if name not in COLUMN_NAMES)]
        st.dataframe(
            frame,
            hide_index=True,
            column_order=[name for name in order if name in names and frame[name].notna().any()]
            if stack.columns
            else None,
            key=f"{stack.name}-votes",
            on_select=partial(_turn_to_row, key, stack.asked, start, f"{stack.name}-votes"),
            selection_mode="single-row",
            alt=f"One row per {stack.unit}; select one to read it",
        )
        st.caption(f"The files have all {stack.total:,}.")
        numbers.downloads(stack.whole, f"{stack.name}-votes")


def _card(votes: pd.DataFrame, *, small: bool = False) -> None:
    """One comparison, with one vote on it or several: what was said first, then what it was said
    of.
    """
    first = votes.iloc[0]
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            category = first["category"]
            about = f"{first['item_id']}{f' · {category}' if isinstance(category, str) else ''}"
            st.text(about, width="content")
            _right_or_wrong(votes)
        _verdicts(votes)
        prompt, responses = (
            _said(votes, "prompt"),
            [_said(votes, f"response_{side}") for side in "ab"],
        )
        if prompt:
            st.caption("Prompt")
            _text(prompt, small)
        sides: tuple[Literal["a", "b"], ...] = ("a", "b")
        differing = texts.marked(*responses)
        for place, side, text, shown in zip(
            st.columns(2), sides, responses, differing, strict=True
        ):
            with place, st.container(gap="xsmall"):
                st.caption(f"Response {side.upper()}")
                st.text(str(first[f"model_{side}"]))
                _badges(votes, side)
                if text:
                    _text(text, small, shown=shown if "<mark>" in shown else None)
        if not prompt and not any(responses):
            st.caption("The data have no texts of this comparison.")
        _rationales(votes)


def _said(votes: pd.DataFrame, column: str) -> str:
    """The first text that a vote on the comparison has."""
    return next((text for text in votes[column] if isinstance(text, str) and text), "")


def _text(text: str, small: bool, *, shown: str | None = None) -> None:
    """A text, in a box that scrolls if it is long.  shown : the same escaped, with marks."""
    long, height = len(text) > LONG[small], HEIGHT[small]
    with st.container(height=height if long else "content", border=long):
        if shown is None:
            st.text(text)
        else:
            st.html(shown)


def _badges(votes: pd.DataFrame, side: Literal["a", "b"]) -> None:
    """What all votes on a card say of one response: the better one, gold's, shown first."""
    label, shown = (1, "ab") if side == "a" else (-1, "ba")
    with st.container(horizontal=True, gap="small"):
        if (votes["vote"] == label).all():
            st.badge("said to be better", icon=":material/check:", color="blue")
        if (votes["gold"] == label).all():
            st.badge("better by gold", icon=":material/verified:", color="green")
        if (votes["position"] == shown).all():
            st.badge("shown first", icon=":material/looks_one:", color="gray")


def _right_or_wrong(votes: pd.DataFrame) -> None:
    """Whether gold agrees with the one vote of a card."""
    vote, gold = votes["vote"].iloc[0], votes["gold"].iloc[0]
    if len(votes) > 1 or _missing(gold):
        return
    if vote == gold:
        st.badge("right", icon=":material/check_circle:", color="green")
    else:
        st.badge("wrong", icon=":material/cancel:", color="red")


def _verdicts(votes: pd.DataFrame) -> None:
    """Who said what, in words, and what gold says."""
    few, gold = len(votes) <= ONE_BY_ONE, votes["gold"].iloc[0]
    raters = [own for _, own in votes.groupby("judge", sort=False)]
    lines = [
        line
        for own in raters
        for line in (_sentences(own) if few or len(own) == 1 else [_tally(own)])
    ]
    lines.append("There is no gold." if _missing(gold) else f"Gold: {WORDS[int(gold)]}.")
    st.text("\n".join(lines))


def _rationales(votes: pd.DataFrame) -> None:
    """The first few, with who gave them if there are several votes."""
    told = votes[[isinstance(text, str) and bool(text) for text in votes["rationale"]]]
    for judge, text in list(zip(told["judge"], told["rationale"], strict=True))[:RATIONALES]:
        st.caption("Rationale")
        _text(text if len(votes) == 1 else f"{judge}: {text}", small=len(votes) > 1)


def _missing(value: Any) -> bool:
    return value is None or value != value


def _sentences(votes: pd.DataFrame) -> list[str]:
    """Each vote of a rater in words."""
    lines = []
    for vote in votes.to_dict("records"):
        saw = {"ab": " saw A first and", "ba": " saw B first and"}.get(vote["position"], "")
        sure = "" if _missing(vote["confidence"]) else f", {100 * vote['confidence']:.0f} % sure"
        lines.append(f"{vote['judge']}{saw} said {SAID[int(vote['vote'])]}{sure}.")
    return lines


def _tally(votes: pd.DataFrame) -> str:
    """How many votes of a rater say what."""
    said, sure = votes["vote"].value_counts(), votes["confidence"].mean()
    parts = ", ".join(f"{WORDS[label]} {said[label]:,}" for label in (1, 0, -1) if label in said)
    about = "" if _missing(sure) else f", {100 * sure:.0f} % sure on average"
    return f"{votes['judge'].iloc[0]}: {parts} of {len(votes):,} votes{about}."
