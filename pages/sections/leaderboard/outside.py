"""Do other people's numbers agree? An imported leaderboard beside the board."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.interpretation import tables
from core.interpretation.leaderboard_checks import AGREEMENT, OUTSIDE, outside, outside_agreement
from core.leaderboard.standings import SCALES, OutsideComparison, compare_outside, read_outside
from core.plots.leaderboard import outside_figure
from pages.sections.leaderboard.controls import PageState, in_url
from pages.shared import cached, theme, widgets

SEED = 0


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
            "Drop a published leaderboard, or your own, to see whether it ranks the same models alike. A "
            "higher score must be better: a win rate from 0 to 1 or 0 to 100, or Elo points."
        )
        return
    with widgets.errors():
        read = cached.kept(
            file.file_id, "outside", file.name, lambda: read_outside(file.getvalue(), name=file.name)
        )
        scale = widgets.choice(
            "Scores are",
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
            lambda: compare_outside(state.board, read, rng=np.random.default_rng(SEED), scale=scale),
        )
        _show(state, found, file.name)


def _show(state: PageState, found: OutsideComparison, name: str) -> None:
    st.text(outside(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    marks = {model: state.votes(model) for model in found.models if model != state.anchor}
    chosen = None
    with drawn:
        if found.models:
            fig = outside_figure(found, state.board, theme=theme.current(), chosen=in_url("outside"))
            chosen = widgets.figure(fig, "outside", alt="Elo here against Elo by the file", marks=list(marks))
            widgets.how_to_read(
                "A mark is a model on both boards. The two boards have different zeros, so the outside one "
                "is moved until both means over these models are equal; on the line a model has the same "
                "Elo. Bars are 95 % intervals here; the file's own uncertainty is not known. Kendall τ and "
                "Spearman ρ compare orders alone. Judges, prompts and rivals differ between boards: "
                "disagreement does not say which is wrong."
            )
    with measured:
        agreement = tables.frame(AGREEMENT, outside_agreement(found))
        widgets.table(agreement, "outside-measures", alt="Agreement of the two boards")
        if found.jaccard is None:
            st.caption(f"The top {found.top} are compared once more than {found.top} models match.")
        frame = found.to_frame()
        widgets.results(OUTSIDE, frame.itertuples(), alt="Both boards side by side")
        widgets.downloads(frame, "outside")
        for title, names in (("Only here", found.only_here), ("Only there", found.only_outside)):
            if names:
                st.text(f"{title} ({len(names)}): {', '.join(names)}")
    if chosen:
        widgets.votes_table(marks[chosen], name="outside")
    options = ", ".join(f"{key}={value!r}" for key, value in state.options.items())
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)[{state.judge!r}]
file = Path({name!r})
outside = read_outside(file.read_bytes(), name=file.name)
found = compare_outside(board(pairs, {state.anchor!r}, {options}), outside, scale={found.scale!r},
                        rng=default_rng({SEED}))
print(found.kendall, found.spearman, found.mean_abs_elo, found.mean_abs_p, found.jaccard)
print(found.to_frame().to_string())"""
    )
