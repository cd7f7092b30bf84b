"""Would other ratings, or other people's boards, rank them alike?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.finding import tables
from core.questions.boards import check_words as sentences
from core.questions.boards.figure import outside_figure, ratings_figure
from core.questions.boards.judge_dispersion import RatingSpread, rating_spread
from core.questions.boards.standings import SCALES, OutsideComparison, compare_outside, read_outside
from pages.sections.leaderboard.controls import PageState, all_pooled, how_many
from pages.shared import cached, cards, numbers, widgets

SHOWN = 8


def ratings_tab(state: PageState) -> None:
    """The answer in words, every rating of each model as a figure, judges' dispersion and all
    numbers.
    """
    found = cached.computed("rating spread", (*state.key, state.anchor), lambda: _spread(state))
    st.text(sentences.other_ratings(found))
    all_pooled(state)
    drawn, measured = st.columns(2, gap="medium")
    marks = {row.model: state.votes(row.model) for row in state.board.rows}
    shown = how_many(len(marks), SHOWN, key="ratings_all", place=measured)
    with drawn:
        fig = ratings_figure(
            state.board, found.pooled, shown=shown, theme=state.look, chosen=widgets.in_url("rated")
        )
        chosen = widgets.figure(fig, "rated", alt="Elo of each model by four ratings", marks=marks)
        widgets.how_to_read(
            "Each row is a model; its marks are its Elo over the anchor by four ratings of the "
            "same votes, one prompt being one game. *Anchored Elo* uses the games with the anchor "
            "alone; the others use all games. Where all games are with the anchor, Bradley–Terry "
            "says the same but for the half win that anchored Elo starts with. A model that won or "
            "lost every game has no finite Bradley–Terry rating. Glicko-2 and TrueSkill depend on "
            "the order of games, so they are averaged over random orders of the prompts; models do "
            "not change from prompt to prompt, so neither lets old games fade. TrueSkill knows "
            "only won, drawn and lost, which stretches its scale where votes were averaged.\n\n*SD "
            "of judges*: how far one judge's Elo of a model is from another's. Compare it as a "
            "share of the spread of models, since the scales of ratings differ. Where Glicko-2 and "
            "TrueSkill play only part of the games in each order (see below the table), a little "
            "of their SD is that choice."
        )
    with measured:
        frame, alt = found.to_frame(), "Ratings side by side"
        numbers.show(
            sentences.METHODS, found.methods, "rating-methods", frame, alt=alt, known_only=True
        )
        _all_numbers(state, found)
    cards.votes_behind(chosen, name="rated")
    names = state.judges if state.judge is None else [state.judge]
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)
judged = {{name: pairs[name] for name in {names!r}}}
found = rating_spread(judged, {state.anchor!r}, rng=default_rng(0),
                      pooled={_pooled_code(state)}, prior={state.prior!r})
print(found.to_frame().to_string())"""
    )


def _all_numbers(state: PageState, found: RatingSpread) -> None:
    """Every rating of every model on the board, with reasons for what is missing."""
    rows = state.board.rows
    frame = pd.concat([rated.to_frame() for rated in found.pooled.values()], ignore_index=True)
    columns = sentences.rating_columns(found.pooled)
    numbers.show(columns, rows, "ratings", frame, alt="Every rating of every model")
    on_board = {row.model for row in rows}
    for method, rated in found.pooled.items():
        for model, reason in zip(rated.models, rated.reason, strict=True):
            if reason and model in on_board:
                st.text(f"{sentences.METHOD_NAMES[method]} has no number of {model}: {reason}.")
    rated = found.pooled["glicko2"]
    st.caption(
        f"Glicko-2 and TrueSkill: mean of {rated.orders} random orders of "
        f"{rated.games_an_order:,} games each"
        + (f" of {rated.games:,}" if rated.games_an_order < rated.games else "")
    )


def _pooled_code(state: PageState) -> str:
    if state.judge is not None or len(state.judges) == 1:
        return f"pairs[{(state.judge or state.judges[0])!r}]"
    return "pairs[None]"


def _spread(state: PageState) -> RatingSpread:
    names = state.judges if state.judge is None else [state.judge]
    return rating_spread(
        {name: state.pairs[name] for name in names},
        state.anchor,
        rng=widgets.seeded(),
        pooled=state.pairs[names[0]] if len(names) == 1 else state.scores,
        prior=state.prior,
    )


def outside_tab(state: PageState) -> None:
    """A file, kept for this visit only, against the board."""
    chooser, scaled = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    file = chooser.file_uploader(
        "Leaderboard to compare with: a CSV with the columns model and score",
        type="csv",
        key="outside_file",
        help="It stays in this browser session and is not loaded into the store.",
    )
    if file is None:
        st.text(
            "Drop a published leaderboard, or your own, to see whether it ranks the same models "
            "alike. A "
            "higher score must be better: a win rate from 0 to 1 or 0 to 100, or Elo points."
        )
        return
    with widgets.errors():
        read = cached.kept(
            file.file_id,
            "outside",
            file.name,
            lambda: read_outside(file.getvalue(), name=file.name),
        )
        scale = widgets.choice(
            "Scale of the scores",
            SCALES,
            default=read.scale,
            key="outside_scale",
            place=scaled,
            help="By their range they can be what is chosen at first.",
        )
        found = cached.kept(
            file.file_id,
            "compared",
            (*state.key, state.anchor, tuple(state.options.items()), scale),
            lambda: compare_outside(state.board, read, rng=widgets.seeded(), scale=scale),
        )
        _show(state, found, file.name)


def _show(state: PageState, found: OutsideComparison, name: str) -> None:
    widgets.answer(sentences.outside_answer(found), part="-outside")
    widgets.in_full(sentences.outside(found), part="-outside")
    drawn, measured = st.columns([3, 2], gap="medium")
    marks = {model: state.votes(model) for model in found.models if model != state.anchor}
    chosen = None
    with drawn:
        if found.models:
            fig = outside_figure(
                found, state.board, theme=state.look, chosen=widgets.in_url("outside")
            )
            chosen = widgets.figure(
                fig, "outside", alt="Elo here against Elo by the file", marks=marks
            )
            widgets.how_to_read(
                "A mark is a model on both boards. The two boards have different zeros, so the "
                "outside one is moved until both means over these models are equal; on the line a "
                "model has the same Elo. Bars are 95 % intervals here; the file's own uncertainty "
                "is not known. Kendall τ and Spearman ρ compare orders alone. Judges, prompts and "
                "rivals differ between boards: disagreement does not say which is wrong."
            )
    with measured:
        agreement = tables.frame(sentences.AGREEMENT, sentences.outside_agreement(found))
        numbers.table(agreement, "outside-measures", alt="Agreement of the two boards")
        if found.jaccard is None:
            st.caption(f"The top {found.top} are compared once more than {found.top} models match.")
        frame = found.to_frame()
        alt = "Both boards side by side"
        numbers.show(sentences.OUTSIDE, frame.itertuples(), "outside", frame, alt=alt)
        for title, names in (("Only here", found.only_here), ("Only there", found.only_outside)):
            if names:
                st.text(f"{title} ({len(names)}): {', '.join(names)}")
    cards.votes_behind(chosen, name="outside")
    options = ", ".join(f"{key}={value!r}" for key, value in state.options.items())
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)[{state.judge!r}]
file = Path({name!r})
outside = read_outside(file.read_bytes(), name=file.name)
found = compare_outside(board(pairs, {state.anchor!r}, {options}), outside, scale={found.scale!r},
                        rng=default_rng(0))
print(found.kendall, found.spearman, found.mean_abs_elo, found.mean_abs_p, found.jaccard)
print(found.to_frame().to_string())"""
    )
