"""Would another rating rank them alike? Bradley–Terry, Glicko-2 and TrueSkill beside anchored Elo."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.interpretation.leaderboard_checks import METHOD_NAMES, METHODS, other_ratings, rating_columns
from core.leaderboard.judge_dispersion import RatingSpread, rating_spread
from core.plots.leaderboard import ratings_figure
from pages.sections.leaderboard.controls import PageState, how_many, in_url
from pages.shared import cached, theme, widgets

SHOWN = 8
SEED = 0


def ratings_tab(state: PageState) -> None:
    """The answer in words, every rating of each model as a figure, judges' dispersion and all numbers."""
    found = cached.computed("rating spread", (*state.key, state.anchor, SEED), lambda: _spread(state))
    st.text(other_ratings(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    models = [row.model for row in state.board.rows]
    shown = how_many(len(models), SHOWN, key="ratings_all", place=measured)
    with drawn:
        fig = ratings_figure(
            state.board, found.pooled, shown=shown, theme=theme.current(), chosen=in_url("rated")
        )
        chosen = widgets.figure(fig, "rated", alt="Elo of each model by four ratings", marks=models)
        widgets.how_to_read(
            "Each row is a model; its marks are its Elo over the anchor by four ratings of the same votes, "
            "one prompt being one game. *Anchored Elo* uses the games with the anchor alone; the others use "
            "all games. Where all games are with the anchor, Bradley–Terry says the same but for the half "
            "win that anchored Elo starts with. A model that won or lost every game has no finite "
            "Bradley–Terry rating. Glicko-2 and TrueSkill depend on the order of games, so they are averaged "
            "over random orders of the prompts; models do not change from prompt to prompt, so neither lets "
            "old games fade. TrueSkill knows only won, drawn and lost, which stretches its scale where votes "
            "were averaged.\n\n*SD of judges*: how far one judge's Elo of a model is from another's. Compare "
            "it as a share of the spread of models, since the scales of ratings differ. Where Glicko-2 and "
            "TrueSkill play only part of the games in each order (see below the table), a little of their SD "
            "is that choice."
        )
    with measured:
        widgets.results(METHODS, found.methods, alt="Ratings side by side", known_only=True)
        widgets.downloads(found.to_frame(), "rating-methods")
        _all_numbers(state, found)
    if chosen:
        widgets.votes_table(state.votes(chosen), name="rated")
    names = state.judges if state.judge is None else [state.judge]
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)
judged = {{name: pairs[name] for name in {names!r}}}
found = rating_spread(judged, {state.anchor!r}, rng=default_rng({SEED}),
                      pooled={_pooled_code(state)}, prior={state.prior!r})
print(found.to_frame().to_string())"""
    )


def _all_numbers(state: PageState, found: RatingSpread) -> None:
    """Every rating of every model on the board, with reasons for what is missing."""
    import pandas as pd

    rows = state.board.rows
    widgets.results(rating_columns(found.pooled), rows, alt="Every rating of every model")
    frames = [rated.to_frame() for rated in found.pooled.values()]
    widgets.downloads(pd.concat(frames, ignore_index=True), "ratings")
    on_board = {row.model for row in rows}
    for method, rated in found.pooled.items():
        for model, reason in zip(rated.models, rated.reason, strict=True):
            if reason and model in on_board:
                st.text(f"{METHOD_NAMES[method]} has no number of {model}: {reason}.")
    rated = found.pooled["glicko2"]
    st.caption(
        f"Glicko-2 and TrueSkill: mean of {rated.orders} random orders of {rated.games_an_order:,} games each"
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
        rng=np.random.default_rng(SEED),
        pooled=state.pairs[names[0]] if len(names) == 1 else state.scores,
        prior=state.prior,
    )
