"""Do other people's numbers agree? An imported leaderboard beside the board."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.interpretation.leaderboard import outside
from core.leaderboard.outside import SCALES, OutsideComparison, compare_outside, read_outside
from core.plots.leaderboard import outside_figure
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import Asked, in_url, number
from pages.shared import cached, theme, widgets

SEED = 0
COLUMNS = {
    "model": "model",
    "outside_score": number("score there", "%.2f"),
    "elo": number("Elo here", "%+.0f"),
    "outside_elo": number("Elo there", "%+.0f", "moved to the same mean"),
    "difference": number("difference", "%+.0f", "there minus here"),
    "p": number("wins %", "%.1f", "win probability against the anchor here"),
    "outside_p": number("wins % there", "%.1f", "that its Elo there stands for"),
}


def outside_tab(asked: Asked) -> None:
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
            (*asked.key, asked.anchor, tuple(asked.options.items()), scale),
            lambda: compare_outside(asked.board, read, rng=np.random.default_rng(SEED), scale=scale),
        )
        _show(asked, found, file.name)


def _show(asked: Asked, found: OutsideComparison, name: str) -> None:
    st.text(outside(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    marks = {model: Mark(models=(model, asked.anchor), judge=asked.judge) for model in found.models}
    marks.pop(asked.anchor, None)
    chosen = None
    with drawn:
        if found.models:
            fig = outside_figure(found, asked.board, theme=theme.current(), chosen=in_url("outside"))
            chosen = widgets.figure(fig, "outside", alt="Elo here against Elo by the file", marks=list(marks))
            widgets.how_to_read(
                "A mark is a model on both boards. The two boards have different zeros, so the outside one "
                "is moved until both means over these models are equal; on the line a model has the same "
                "Elo. Bars are 95 % intervals here; the file's own uncertainty is not known. Kendall τ and "
                "Spearman ρ compare orders alone. Judges, prompts and rivals differ between boards: "
                "disagreement does not say which is wrong."
            )
    with measured:
        _numbers(found)
        frame = found.to_frame()
        shown = {c: frame[c].round() + 0.0 for c in ("elo", "outside_elo", "difference")}
        shares = {c: 100 * frame[c] for c in ("p", "outside_p")}
        st.dataframe(
            frame[list(COLUMNS)].assign(**shown, **shares),
            hide_index=True,
            column_config=COLUMNS,
            placeholder="–",
            alt="Both boards side by side",
        )
        widgets.downloads(frame, "outside")
        for title, names in (("Only here", found.only_here), ("Only there", found.only_outside)):
            if names:
                st.text(f"{title} ({len(names)}): {', '.join(names)}")
    if chosen:
        widgets.votes_table(marks[chosen], name="outside")
    options = ", ".join(f"{key}={value!r}" for key, value in asked.options.items())
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)[{asked.judge!r}]
file = Path({name!r})
outside = read_outside(file.read_bytes(), name=file.name)
found = compare_outside(board(pairs, {asked.anchor!r}, {options}), outside, scale={found.scale!r},
                        rng=default_rng({SEED}))
print(found.kendall, found.spearman, found.mean_abs_elo, found.mean_abs_p, found.jaccard)
print(found.to_frame().to_string())"""
    )


def _numbers(found: OutsideComparison) -> None:
    import pandas as pd

    rows = [
        ("Kendall τ", found.kendall, found.kendall_low, found.kendall_high),
        ("Spearman ρ", found.spearman, found.spearman_low, found.spearman_high),
        ("mean |difference|, Elo", found.mean_abs_elo, None, None),
        ("mean |difference|, wins", found.mean_abs_p, None, None),
        (f"top {found.top}, Jaccard", found.jaccard, None, None),
    ]
    frame = pd.DataFrame(rows, columns=["measure", "value", "low", "high"]).assign(n=len(found.models))
    widgets.table(frame, "outside-measures", alt="Agreement of the two boards")
    if found.jaccard is None:
        st.caption(f"The top {found.top} are compared once more than {found.top} models match.")
