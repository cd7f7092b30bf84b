"""Would another rating rank them alike? Bradley–Terry, Glicko-2 and TrueSkill beside anchored Elo."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.interpretation.leaderboard import METHOD_NAMES, other_ratings
from core.leaderboard.order_ratings import RatingSpread, rating_spread
from core.plots.leaderboard import ratings_figure
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import MODEL, Asked, in_url, number
from pages.shared import cached, theme, widgets

SHOWN = 8
SEED = 0
SPREAD_COLUMNS = {
    "method": "rating",
    "kendall": number("Kendall τ", "%.2f", "order of models, against anchored Elo"),
    "pearson": number("Pearson", "%.3f", "mean Elo of judges, against anchored Elo"),
    "sd": number("SD of judges", "%.0f", "points, mean over models"),
    "sd_low": number("low", "%.0f", "95 %, over models"),
    "sd_high": number("high", "%.0f", "95 %, over models"),
    "relative": number("SD / spread", "%.2f", "SD of judges by the SD of models: no scale enters"),
    "n_models": number("n", "%d", "models that two judges or more rated"),
    "n_judges": number("judges", "%d"),
}


def ratings_tab(asked: Asked) -> None:
    """The answer in words, every rating of each model as a figure, judges' dispersion and all numbers."""
    found = cached.computed("rating spread", (*asked.key, asked.anchor, SEED), lambda: _spread(asked))
    st.text(other_ratings(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    marks = {row.model: Mark(models=(row.model, asked.anchor), judge=asked.judge) for row in asked.board.rows}
    shown = SHOWN
    if len(marks) > SHOWN and measured.toggle(
        f"Draw all {len(marks)} models", key="ratings_all", bind=widgets.URL
    ):
        shown = len(marks)
    with drawn:
        fig = ratings_figure(
            asked.board, found.pooled, shown=shown, theme=theme.current(), chosen=in_url("rated")
        )
        chosen = widgets.figure(fig, "rated", alt="Elo of each model by four ratings", marks=list(marks))
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
        frame = found.to_frame()
        st.dataframe(
            frame[list(SPREAD_COLUMNS)]
            .assign(method=frame["method"].map(METHOD_NAMES))
            .dropna(axis=1, how="all"),
            hide_index=True,
            column_config=SPREAD_COLUMNS,
            placeholder="–",
            alt="Ratings side by side",
        )
        widgets.downloads(frame, "rating-methods")
        _all_numbers(asked, found)
    if chosen:
        widgets.votes_table(marks[chosen], name="rated")
    names = asked.judges if asked.judge is None else [asked.judge]
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)
judged = {{name: pairs[name] for name in {names!r}}}
found = rating_spread(judged, {asked.anchor!r}, rng=default_rng({SEED}),
                      pooled={_pooled_code(asked)}, prior={asked.prior!r})
print(found.to_frame().to_string())"""
    )


def _all_numbers(asked: Asked, found: RatingSpread) -> None:
    """Every rating of every model on the board, with reasons for what is missing."""
    import pandas as pd

    anchored = asked.board.to_frame()[["model", "n", "elo"]].rename(columns={"elo": "anchored Elo"})
    missing = []
    for method, rated in found.pooled.items():
        own = rated.to_frame().set_index("model")
        anchored[METHOD_NAMES[method]] = anchored["model"].map(own["elo"])
        reasons = own.loc[own.index.isin(anchored["model"]) & (own["reason"] != ""), "reason"]
        missing += [
            f"{METHOD_NAMES[method]} has no number of {name}: {why}." for name, why in reasons.items()
        ]
    numbers = {name: number(name, "%+.0f") for name in anchored.columns[2:]}
    shown = anchored.assign(**{name: anchored[name].round() + 0.0 for name in numbers})
    st.dataframe(
        shown,
        hide_index=True,
        column_config={"model": MODEL, **numbers},
        placeholder="–",
        alt="Every rating of every model",
    )
    frames = [rated.to_frame() for rated in found.pooled.values()]
    widgets.downloads(pd.concat(frames, ignore_index=True), "ratings")
    for said in missing:
        st.text(said)
    rated = found.pooled["glicko2"]
    st.caption(
        f"Glicko-2 and TrueSkill: mean of {rated.orders} random orders of {rated.games_an_order:,} games each"
        + (f" of {rated.games:,}" if rated.games_an_order < rated.games else "")
    )


def _pooled_code(asked: Asked) -> str:
    if asked.judge is not None or len(asked.judges) == 1:
        return f"pairs[{(asked.judge or asked.judges[0])!r}]"
    return "pairs[None]"


def _spread(asked: Asked) -> RatingSpread:
    names = asked.judges if asked.judge is None else [asked.judge]
    return rating_spread(
        {name: asked.pairs[name] for name in names},
        asked.anchor,
        rng=np.random.default_rng(SEED),
        pooled=asked.pairs[names[0]] if len(names) == 1 else asked.scores,
        prior=asked.prior,
    )
