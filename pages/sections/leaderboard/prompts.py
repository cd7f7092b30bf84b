"""Which prompts carry the board? Doubtful ones dropped, and subsamples against the formula's error."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.errors import NoUsableVotes
from core.interpretation.leaderboard_checks import ABSTENTION, SUBSAMPLES, abstained, subsampled
from core.leaderboard.anchored import SubsampleErrors, subsample_errors
from core.leaderboard.robustness import THRESHOLDS, Rule, abstention, changes
from core.plots.leaderboard_checks import abstention_figure, changes_figure, subsample_figure
from core.store.model_queries import pair_doubts
from pages.sections.leaderboard.controls import PageState, in_url
from pages.shared import cached, theme, widgets

SEED = 0
SHOWN = 12
DRAWS = 500
RULE_NAMES: dict[str, Rule] = {"repeats": "run_sd", "confidence": "confidence"}


def prompts_tab(state: PageState) -> None:
    """Abstention, then whether the closed-form error holds on subsamples."""
    _abstention(state)
    _subsamples(state)


def _abstention(state: PageState) -> None:
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
        "doubts", (state.selection,), lambda: pair_doubts(cached.get_store(), state.selection)
    )
    if state.judge is not None:
        doubts = {name: one for name, one in doubts.items() if name == state.judge}
    key = (*state.key, state.anchor, rule)
    try:
        found = cached.computed(
            "abstention", key, lambda: abstention(doubts, state.anchor, rule=rule, prior=state.prior)
        )
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    changed = cached.computed(
        "changes", (*key, threshold), lambda: changes(doubts, state.anchor, rule=rule, threshold=threshold)
    )
    row = next(row for row in found.rows if row.threshold == threshold)
    st.text(abstained(found, row, changed))
    drawn, measured = st.columns([3, 2], gap="medium")
    look = theme.current()
    with drawn:
        if changed:
            fig = changes_figure(changed[:SHOWN], theme=look, chosen=in_url("abstained"))
            models = [one.model for one in changed]
            chosen = widgets.figure(
                fig, "abstained", alt="Change of each model's win probability", marks=models
            )
            if chosen:
                widgets.votes_table(state.votes(chosen), name="abstained")
        widgets.how_to_read(
            "Each judge drops the prompts on which it was in doubt; boards are means of judges. A row is a "
            "model: how far its win probability against the anchor moves, with a 95 % interval that counts "
            "the prompts in common only once. Undecided prompts are often close ones, so dropping them "
            "pushes win probabilities away from 50 %: that is no gain in truth, and only gold can tell "
            "whether what is left is better. The curve shows what strictness costs: the standard error grows "
            "as prompts go."
        )
    with measured:
        fig = abstention_figure(found, threshold=threshold, theme=look)
        widgets.figure(fig, "abstention", alt="Change of Elo and its standard error by share of prompts kept")
        widgets.results(ABSTENTION, found.rows, alt="Abstention by threshold")
        widgets.downloads(found.to_frame(), "abstention")
        if found.n_unknown:
            st.caption(
                f"{found.n_unknown:,} judged prompts without "
                + ("repeats in the same orders" if rule == "run_sd" else "a stated confidence")
                + " are left out throughout."
            )
    widgets.copy_as_python(
        f"""doubts = queries.pair_doubts(store, selection)
doubts = {{name: doubts[name] for name in {list(found.judges)!r}}}
print(abstention(doubts, {state.anchor!r}, rule={rule!r}, prior={state.prior!r}).to_frame())"""
    )


def _subsamples(state: PageState) -> None:
    st.subheader("Does the standard error hold on fewer prompts?", anchor=False)
    found = cached.computed("subsamples", (*state.key, state.anchor, SEED), lambda: _errors(state))
    st.text(subsampled(found))
    if not len(found.n):
        return
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        fig = subsample_figure(found, theme=theme.current())
        widgets.figure(fig, "subsample", alt="SD over subsamples against the formula's standard error")
        widgets.how_to_read(
            "Each mark is a model and a number of prompts: n of its prompts were drawn many times and the "
            "win probability computed anew. On the line, it varies as the closed formula says, with the "
            "finite pool of prompts allowed for. Below the line the published interval is too wide: it takes "
            "every prompt for won or lost, while ties and averaged votes vary less. The corrected interval "
            "of the Board tab mends that."
        )
    with measured:
        frame = found.to_frame()
        widgets.results(SUBSAMPLES, frame.itertuples(), alt="Standard errors by formula and on subsamples")
        widgets.downloads(frame, "subsamples")
        st.caption(f"{found.draws:,} subsamples of each size")
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)[{state.judge!r}]
print(subsample_errors(pairs, {state.anchor!r}, sizes={_sizes(state)!r}, draws={DRAWS},
                       rng=default_rng({SEED})).to_frame())"""
    )


def _sizes(state: PageState) -> tuple[int, ...]:
    """A quarter, half and three quarters of the prompts that a model typically has."""
    prompts = float(np.median([row.n for row in state.board.rows]))
    return tuple(sorted({max(5, round(prompts * share)) for share in (0.25, 0.5, 0.75)}))


def _errors(state: PageState) -> SubsampleErrors:
    return subsample_errors(
        state.scores, state.anchor, sizes=_sizes(state), rng=np.random.default_rng(SEED), draws=DRAWS
    )
