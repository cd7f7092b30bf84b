"""Is a jury better than one judge? Pooled judges, what each adds, and screening by repeatability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.agreement.reliability import Repeatability, icc
from core.errors import NoUsableVotes
from core.interpretation.leaderboard import judges, screened
from core.interpretation.verdicts import ICC_STRONG
from core.leaderboard.anchored import board
from core.leaderboard.judges import CUTS, PooledBoard, Pooling, mean_of_judges, pooling, screening
from core.plots.ensembles import pooling_figure, screening_figure
from pages.sections.leaderboard.controls import MODEL, Asked, number
from pages.shared import cached, theme, widgets

if TYPE_CHECKING:
    import pandas as pd


SEED = 0
POOLED_COLUMNS = {
    "model": MODEL,
    "prompts": number("n", "%d", "prompts"),
    "elo": number("mean Elo", "%+.0f", "mean of the judges' Elo gaps"),
    "elo_low": number("low", "%+.0f", "95 %, over prompts"),
    "elo_high": number("high", "%+.0f", "95 %, over prompts"),
    "pooled": number("pooled votes", "%+.0f", "one board of all votes together"),
    "sd_judges": number("SD of judges", "%.0f", "across judges, points"),
    "n_judges": number("judges", "%d"),
}
SIZE_COLUMNS = {
    "size": number("judges", "%d"),
    "observed": number("SE", "%.1f", "observed, Elo"),
    "predicted": number("by ρ", "%.1f", "predicted with the observed correlation"),
    "predicted_runs": number("by repeatability", "%.1f", "predicted with the ICC within judges"),
    "between": number("jury to jury", "%.1f", "SD of a model's Elo over juries of this size"),
    "juries": number("juries", "%d"),
}
CUT_COLUMNS = {
    "cut": number("cut", "%.2f", "empty: no cut"),
    "judges": number("judges", "%d"),
    "width": number("width", "%.0f", "mean interval, Elo"),
    "sd_judges": number("SD of judges", "%.0f"),
    "kendall": number("Kendall τ", "%.2f", "against the board without a cut"),
    "n_models": number("n", "%d", "models"),
    "left": "left",
}


def judges_tab(asked: Asked) -> None:
    """Boards of all judges that met the anchor, whichever one the page speaks of."""
    if len(asked.judges) < 2:
        widgets.not_applicable(f"one judge alone ({asked.judges[0]}) met {asked.anchor}; pooling needs two.")
        return
    key = (asked.selection, asked.prior, asked.anchor)
    judged = {name: asked.pairs[name] for name in asked.judges}
    repeats = cached.computed("icc by anchor", key, lambda: _repeats(asked))
    pooled = cached.computed(
        "mean of judges", key, lambda: mean_of_judges(judged, asked.anchor, prior=asked.prior)
    )
    found: Pooling | None = None
    reason = ""
    try:
        found = cached.computed(
            "pooling",
            (*key, SEED),
            lambda: pooling(
                judged,
                asked.anchor,
                rng=np.random.default_rng(SEED),
                icc={name: one.icc_3_1 for name, one in repeats.items()},
                prior=asked.prior,
            ),
        )
    except NoUsableVotes as error:
        reason = str(error)
    st.text(judges(pooled, found))
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        if found is None:
            widgets.not_applicable(reason)
        else:
            _variance(found)
    with measured:
        _means(asked, pooled)
    _screening(asked, repeats)
    _code(asked)


def _variance(found: Pooling) -> None:
    st.plotly_chart(
        pooling_figure(found, theme=theme.current()),
        key="pooling-figure",
        theme=None,
        config=widgets.PLOTLY_CONFIG,
        alt="Standard error of the pooled Elo by number of judges",
    )
    if found.rho_runs is None:
        st.caption("RAEE's ρ, repeatability within judges, is unknown: no judge voted twice alike.")
    widgets.how_to_read(
        "Marks: standard error of the mean of J judges' Elo over prompts, mean over models; bars hold 95 % "
        "of the juries of that size. If judges erred independently it would fall as 1/√J; they err on the "
        "same prompts, so it levels off at σ√ρ. The dashed line is σ²(ρ + (1 − ρ)/J) with the correlation of "
        "the judges' errors that was observed. RAEE takes for ρ how well each judge repeats itself, "
        "drawn dotted; that says how steady a judge is, not how alike judges are, so it can promise too "
        "little or too much.\n\nAll of this speaks of other prompts. *Jury to jury* in the table is how far "
        "a model's Elo moves when other judges of this data set are taken."
    )
    frame = found.to_frame()
    roots = {name: np.sqrt(frame[name].astype(float)) for name in ("observed", "predicted", "predicted_runs")}
    st.dataframe(
        frame[list(SIZE_COLUMNS)].assign(**roots),
        hide_index=True,
        column_config=SIZE_COLUMNS,
        placeholder="–",
        alt="Standard error by number of judges",
    )
    widgets.downloads(frame, "pooling")


def _means(asked: Asked, pooled: PooledBoard) -> None:
    frame = _mean_frame(asked, pooled)
    elo = {name: frame[name].round() + 0.0 for name in ("elo", "elo_low", "elo_high", "pooled")}
    st.dataframe(
        frame[list(POOLED_COLUMNS)].assign(**elo),
        hide_index=True,
        column_config=POOLED_COLUMNS,
        placeholder="–",
        alt="Mean of judges beside pooled votes",
    )
    widgets.downloads(frame, "mean-of-judges")
    st.caption(
        "Mean of judges: every judge weighs alike. Pooled votes: every vote weighs alike within a prompt, so "
        "a judge that voted more often counts more, and a judge's extreme scores are tempered by the others."
    )


def _mean_frame(asked: Asked, pooled: PooledBoard) -> pd.DataFrame:
    votes = board(asked.pairs[None], asked.anchor, prior=asked.prior)
    frame = pooled.to_frame()
    return frame.assign(pooled=frame["model"].map({row.model: row.elo for row in votes.rows}))


def _screening(asked: Asked, repeats: dict[str, Repeatability]) -> None:
    st.subheader("Would screening help?", anchor=False)
    key = (asked.selection, asked.prior, asked.anchor)
    judged = {name: asked.pairs[name] for name in asked.judges}
    cut = st.slider("Least ICC(3,k)", 0.0, 1.0, ICC_STRONG, 0.01, key="screen", bind=widgets.URL)
    cuts = tuple(sorted({*CUTS, cut}))
    try:
        found = cached.computed(
            "screening",
            (*key, cut),
            lambda: screening(judged, asked.anchor, icc=repeats, cuts=cuts, prior=asked.prior),
        )
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    st.text(screened(found, next(row for row in found.rows if row.cut == cut)))
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        st.plotly_chart(
            screening_figure(found, cut=cut, theme=theme.current()),
            key="screening-figure",
            theme=None,
            config=widgets.PLOTLY_CONFIG,
            alt="Width of the pooled interval by the cut on repeatability",
        )
        widgets.how_to_read(
            "ICC(3,k) says how much of the variance of a judge's mean over its runs is the comparisons', "
            "oriented candidate against anchor. Raising the cut drops unsteady judges. Numbers above the "
            "line are the judges left; the height is the mean width of the interval of their mean Elo. Where "
            "it rises, dropping judges loses more than their noise cost."
        )
    with measured:
        frame = found.to_frame()
        changed = frame["left"].ne(frame["left"].shift()) | frame["cut"].eq(cut)
        st.dataframe(
            frame[changed], hide_index=True, column_config=CUT_COLUMNS, placeholder="–", alt="Screening"
        )
        widgets.downloads(frame, "screening")
        if found.unknown:
            st.text(f"Left out throughout, as they never voted twice alike: {', '.join(found.unknown)}")


def _repeats(asked: Asked) -> dict[str, Repeatability]:
    tables = cached.ratings(asked.selection, anchors=(asked.anchor,))
    return {name: icc(table) for name, table in tables.items()}


def _code(asked: Asked) -> None:
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)
judged = {{name: pairs[name] for name in {asked.judges!r}}}
tables = queries.ratings(store, selection, anchors=({asked.anchor!r},))
repeats = {{name: icc(table) for name, table in tables.items()}}
print(mean_of_judges(judged, {asked.anchor!r}, prior={asked.prior!r}).to_frame())
print(judge_pooling(judged, {asked.anchor!r}, rng=default_rng({SEED}), prior={asked.prior!r},
              icc={{name: one.icc_3_1 for name, one in repeats.items()}}).to_frame())
print(judge_screening(judged, {asked.anchor!r}, icc=repeats, prior={asked.prior!r}).to_frame())"""
    )
