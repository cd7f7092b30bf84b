"""Which prompts carry the board? Doubtful ones dropped, and subsamples against the formula's error."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.errors import NoUsableVotes
from core.interpretation.leaderboard import abstained, subsampled
from core.leaderboard.robustness import (
    THRESHOLDS,
    Rule,
    SubsampleErrors,
    abstention,
    changes,
    subsample_errors,
)
from core.plots.base import COLOURS, Style
from core.plots.ensembles import abstention_figure, subsample_figure
from core.plots.forest import ForestMark, Series, forest
from core.store.model_queries import pair_doubts
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import MODEL, Asked, in_url, number
from pages.shared import cached, theme, widgets

SEED = 0
SHOWN = 12
DRAWS = 500
RULE_NAMES: dict[str, Rule] = {"repeats": "run_sd", "confidence": "confidence"}
ABSTENTION_COLUMNS = {
    "threshold": number("threshold", "%.2f", "empty: all prompts"),
    "coverage": number("kept %", "%.1f"),
    "n": number("n", "%d", "judged prompts kept"),
    "delta_p": number("|Δp| points", "%.1f", "mean over models"),
    "delta_elo": number("|ΔElo|", "%.0f", "mean over models"),
    "se_elo": number("SE", "%.0f", "of Elo, mean over models"),
    "cv": number("CV", "%.2f", "of p across judges, mean over models"),
    "kendall": number("Kendall τ", "%.2f", "against the full board"),
    "n_models": number("models", "%d"),
}


SUBSAMPLE_COLUMNS = {
    "model": MODEL,
    "n": number("n", "%d", "prompts in a subsample"),
    "pool": number("of", "%d", "prompts"),
    "se_finite": number("formula", "%.4f", "standard error of p, for so many of a finite pool"),
    "se_empirical": number("subsamples", "%.4f", "SD of p over subsamples"),
    "se_analytic": number("infinite pool", "%.4f", "standard error of p, for prompts without end"),
}


def prompts_tab(asked: Asked) -> None:
    """Abstention, then whether the closed-form error holds on subsamples."""
    _abstention(asked)
    _subsamples(asked)


def _abstention(asked: Asked) -> None:
    st.subheader("What if judges abstained when in doubt?", anchor=False)
    left, right = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
    name = widgets.choice(
        "Doubt by",
        list(RULE_NAMES),
        default="repeats",
        key="abstain_by",
        place=left,
        help="repeats: SD of the score over runs; confidence: mean of what the judge stated",
    )
    rule = RULE_NAMES[name]
    start = 0.2 if rule == "run_sd" else 0.7
    threshold = right.select_slider(
        "Drop above this SD" if rule == "run_sd" else "Drop below this confidence",
        THRESHOLDS[rule],
        value=start,
        key=f"abstain_{rule}",
        bind=widgets.URL,
    )
    doubts = cached.computed(
        "doubts", (asked.selection,), lambda: pair_doubts(cached.get_store(), asked.selection)
    )
    if asked.judge is not None:
        doubts = {name: one for name, one in doubts.items() if name == asked.judge}
    key = (*asked.key, asked.anchor, rule)
    try:
        found = cached.computed(
            "abstention", key, lambda: abstention(doubts, asked.anchor, rule=rule, prior=asked.prior)
        )
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    changed = cached.computed(
        "changes", (*key, threshold), lambda: changes(doubts, asked.anchor, rule=rule, threshold=threshold)
    )
    row = next(row for row in found.rows if row.threshold == threshold)
    st.text(abstained(found, row, changed))
    drawn, measured = st.columns([3, 2], gap="medium")
    marks = {one.model: Mark(models=(one.model, asked.anchor), judge=asked.judge) for one in changed}
    look = theme.current()
    with drawn:
        if changed:
            estimates = [
                ForestMark(
                    row=one.model,
                    value=100 * one.delta,
                    low=100 * one.delta_low,
                    high=100 * one.delta_high,
                    n=f"{one.kept:,} of {one.n:,} judged prompts kept",
                    key=one.model,
                )
                for one in changed[:SHOWN]
            ]
            fig = forest(
                [Series(name="change", marks=estimates)],
                styles=Style(colour=COLOURS[look].accent, symbol="circle"),
                x_title="change of win probability, points",
                reference=0,
                theme=look,
                chosen=in_url("abstained"),
            )
            chosen = widgets.figure(
                fig, "abstained", alt="Change of each model's win probability", marks=list(marks)
            )
            if chosen:
                widgets.votes_table(marks[chosen], name="abstained")
        widgets.how_to_read(
            "Each judge drops the prompts on which it was in doubt; boards are means of judges. A row is a "
            "model: how far its win probability against the anchor moves, with a 95 % interval that counts "
            "the prompts in common only once. Undecided prompts are often close ones, so dropping them "
            "pushes win probabilities away from 50 %: that is no gain in truth, and only gold can tell "
            "whether what is left is better. The curve shows what strictness costs: the standard error grows "
            "as prompts go."
        )
    with measured:
        st.plotly_chart(
            abstention_figure(found, threshold=threshold, theme=look),
            key="abstention-figure",
            theme=None,
            config=widgets.PLOTLY_CONFIG,
            alt="Change of Elo and its standard error by share of prompts kept",
        )
        frame = found.to_frame()
        st.dataframe(
            frame[list(ABSTENTION_COLUMNS)].assign(
                coverage=100 * frame["coverage"], delta_p=100 * frame["delta_p"].astype(float)
            ),
            hide_index=True,
            column_config=ABSTENTION_COLUMNS,
            placeholder="–",
            alt="Abstention by threshold",
        )
        widgets.downloads(frame, "abstention")
        if found.n_unknown:
            st.caption(
                f"{found.n_unknown:,} judged prompts without "
                + ("repeats in the same orders" if rule == "run_sd" else "a stated confidence")
                + " are left out throughout."
            )
    widgets.copy_as_python(
        f"""doubts = queries.pair_doubts(store, selection)
doubts = {{name: doubts[name] for name in {list(found.judges)!r}}}
print(abstention(doubts, {asked.anchor!r}, rule={rule!r}, prior={asked.prior!r}).to_frame())"""
    )


def _subsamples(asked: Asked) -> None:
    st.subheader("Does the standard error hold on fewer prompts?", anchor=False)
    found = cached.computed("subsamples", (*asked.key, asked.anchor, SEED), lambda: _errors(asked))
    st.text(subsampled(found))
    if not len(found.n):
        return
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        st.plotly_chart(
            subsample_figure(found, theme=theme.current()),
            key="subsample-figure",
            theme=None,
            config=widgets.PLOTLY_CONFIG,
            alt="SD over subsamples against the formula's standard error",
        )
        widgets.how_to_read(
            "Each mark is a model and a number of prompts: n of its prompts were drawn many times and the "
            "win probability computed anew. On the line, it varies as the closed formula says, with the "
            "finite pool of prompts allowed for. Below the line the published interval is too wide: it takes "
            "every prompt for won or lost, while ties and averaged votes vary less. The corrected interval "
            "of the Board tab mends that."
        )
    with measured:
        frame = found.to_frame()
        st.dataframe(
            frame[list(SUBSAMPLE_COLUMNS)],
            hide_index=True,
            column_config=SUBSAMPLE_COLUMNS,
            alt="Standard errors by formula and on subsamples",
        )
        widgets.downloads(frame, "subsamples")
        st.caption(f"{found.draws:,} subsamples of each size")
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)[{asked.judge!r}]
print(subsample_errors(pairs, {asked.anchor!r}, sizes={_sizes(asked)!r}, draws={DRAWS},
                       rng=default_rng({SEED})).to_frame())"""
    )


def _sizes(asked: Asked) -> tuple[int, ...]:
    """A quarter, half and three quarters of the prompts that a model typically has."""
    prompts = float(np.median([row.n for row in asked.board.rows]))
    return tuple(sorted({max(5, round(prompts * share)) for share in (0.25, 0.5, 0.75)}))


def _errors(asked: Asked) -> SubsampleErrors:
    return subsample_errors(
        asked.scores, asked.anchor, sizes=_sizes(asked), rng=np.random.default_rng(SEED), draws=DRAWS
    )
