"""Do direct scores say the same? Their statistics, win probabilities by proportional odds, votes
beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import NoUsableVotes
from core.finding import tables
from core.finding.wording import count
from core.questions.boards import score_words as sentences
from core.questions.boards.anchored import Board, board, met
from core.questions.boards.check_figure import score_changes_figure
from core.questions.boards.figure import scores_figure
from core.questions.boards.judge_dispersion import Dispersion, dispersion
from core.questions.boards.score_board import ScoreBoards, score_boards, scored_anchors
from core.questions.boards.score_spread import (
    THRESHOLD,
    THRESHOLDS,
    dropped_responses,
    score_abstention,
)
from core.questions.boards.scores import DirectStatistics, direct_statistics
from core.records import DirectScores, IntArray
from core.schema import Selection
from pages.sections.leaderboard.controls import MOST_MARKED, PageState, how_many
from pages.shared import cached, numbers, widgets

SHOWN = 10
MOST_READ = 500
"""Responses whose scores one mark leads to."""


def scores_tab(state: PageState) -> None:
    """Direct scores beside the board by votes."""
    try:
        judged = cached.direct_scores(state.selection)
    except NoUsableVotes:
        widgets.not_applicable(
            "this selection has no direct scores. Load a table of item_id, model, judge and score, "
            "or MT-Bench single grades, under the same name as the votes (Start)."
        )
        return
    if state.judge is not None and state.judge not in judged:
        st.text(sentences.no_scores(judged, state.judge))
    elif state.judge is not None:
        judged = {state.judge: judged[state.judge]}
    offered = scored_anchors(judged)
    if not offered:
        _only_statistics(judged)
        return
    anchor = state.anchor
    if anchor not in offered:
        st.text(
            f"{anchor} was not scored beside another model: these scores need an anchor of their "
            "own."
        )
        middling = _middling(judged, offered)
        anchor = widgets.select(
            "Anchor of the scores", offered, start=middling, key="scores_anchor"
        )
    voters = state.judges if state.judge is None else [state.judge]
    votes = {
        name: board(state.pairs[name], anchor, prior=state.prior)
        for name in voters
        if met(state.pairs[name], anchor)
    }
    _compared(judged, anchor, votes, state.boards.get(anchor), state.prior)


def only_scores(selection: Selection, *, no_board: bool = False) -> bool:
    """Show direct scores by themselves where a selection has no votes; whether there were any.

    no_board : there are votes, but they rank nobody.
    """
    found = cached.summary(selection)
    if (found.votes and not no_board) or not found.scores:
        return False
    judged = cached.direct_scores(selection)
    answer = st.container()
    offered = scored_anchors(judged)
    if not offered:
        _only_statistics(judged, answer)
        return True
    chosen = widgets.select(
        "Anchor", offered, start=_middling(judged, offered), key="scores_anchor"
    )
    _compared(judged, chosen, {}, None, None, place=answer)
    return True


def _middling(judged: dict[str, DirectScores], offered: Sequence[str]) -> str:
    """The model of middling mean score: against the best one, nobody wins."""
    means: dict[str, list[float]] = {name: [] for name in offered}
    for scores in judged.values():
        # Judges' scales differ, so each is brought to its own mean first.
        centred = scores.score - scores.score.mean() if len(scores) else scores.score
        for code in np.unique(scores.model).tolist():
            if (name := scores.models[code]) in means:
                means[name].append(float(centred[scores.model == code].mean()))
    ranked = sorted(offered, key=lambda name: (float(np.mean(means[name])), name))
    return ranked[(len(ranked) - 1) // 2]


def _only_statistics(judged: dict[str, DirectScores], place: DeltaGenerator | None = None) -> None:
    found = _statistics(judged)
    with place or st.container():
        widgets.answer(sentences.alone_answer(found), part="-scores")
        widgets.in_full(sentences.alone(found), part="-scores")
    _statistics_tables(found)
    widgets.copy_as_python(_code(judged))
    _abstention(judged)


def _compared(
    judged: dict[str, DirectScores],
    anchor: str,
    votes: dict[str, Board],
    shown_votes: Board | None,
    prior: str | None,
    *,
    place: DeltaGenerator | None = None,
) -> None:
    key = (widgets.current_selection(), tuple(judged), anchor)
    statistics = _statistics(judged)
    try:
        found = cached.computed("score boards", key, lambda: score_boards(judged, anchor))
    except NoUsableVotes as error:
        with place or st.container():
            widgets.not_applicable(str(error))
        _statistics_tables(statistics)
        _abstention(judged)
        return
    beside = cached.computed(
        "dispersion",
        (*key, tuple(votes), prior),
        lambda: dispersion(found, votes, anchor, rng=widgets.seeded()),
    )
    with place or st.container():
        widgets.answer(sentences.scores_answer(found, statistics, beside), part="-scores")
        widgets.in_full(
            f"{sentences.leader(found.mean)} {sentences.beside_votes(beside)}", part="-scores"
        )
    _board(judged, found, shown_votes)
    _notes(found, statistics)
    _dispersion_table(beside)
    _statistics_tables(statistics)
    widgets.copy_as_python(_code(judged, anchor=anchor, votes=tuple(votes), prior=prior))
    _abstention(judged)


def _board(judged: dict[str, DirectScores], found: ScoreBoards, votes: Board | None) -> None:
    drawn, measured = st.columns([4, 5], gap="medium")
    shown = how_many(len(found.mean.rows), SHOWN, key="scores_all", place=measured)
    few = replace(found, judges=dict(list(found.judges.items())[:MOST_MARKED]))
    with drawn:
        fig = scores_figure(
            few,
            styles=widgets.current_styles(),
            votes=votes,
            shown=shown,
            theme=widgets.current_look(),
            chosen=widgets.in_url("scored"),
        )
        chosen = widgets.figure(
            fig,
            "scored",
            alt="Chance of each model's score to beat the anchor's",
            marks={row.model: row.model for row in found.mean.rows[:shown]},
            prompt="Scores of",
        )
        widgets.how_to_read(
            "Each row is a model. Filled marks: the chance that its direct score is above the "
            "anchor's, a tie being half a win, mean of judges; small marks below are single "
            "judges. Hollow marks: how often it wins against the anchor in votes, from the board. "
            "Bars are 95 % intervals over items.\n\nA judge's scale is its own: 8 may be praise or "
            "blame. So each judge's scores are fitted by proportional odds, logit P(score ≤ k) = "
            "θ_k − β_model: thresholds θ for the judge's use of the scale, one β a model. Only the "
            "order of scores counts, not their distances. One response spread like all of the "
            "judge's is added to each model, so that a model that always got the top score keeps "
            "finite odds; the board by votes does the same with half a win and half a loss.\n\nThe "
            "chance compares two responses drawn at random, each from any item. A vote compares "
            "them on one item, so votes can be more decided than scores where items differ much in "
            "difficulty."
        )
    with measured:
        alt = "Models by direct scores"
        numbers.show(
            sentences.BOARD, found.mean.rows, "direct-scores-board", found.to_frame, alt=alt
        )
        st.text(
            f"The anchor, {found.mean.anchor}, has a mean score of {found.mean.anchor_mean:.2f}."
        )
    if chosen is not None:
        _scores_of(chosen, _items_of(judged, chosen), "of this model", name="scores-behind")


def _notes(found: ScoreBoards, statistics: DirectStatistics) -> None:
    if (full := sentences.crowded(statistics)) is not None:
        st.text(full)
    st.text(sentences.correlations(statistics))
    if found.left_out:
        reasons = "; ".join(f"{name}: {why}" for name, why in found.left_out.items())
        st.text(f"Left out of the board: {reasons}")


def _dispersion_table(found: Dispersion) -> None:
    st.subheader("Dispersion across judges", anchor=False)
    by_measure, by_model = st.columns(2, gap="medium")
    with by_measure:
        frame = tables.frame(sentences.MEASURES, found.measures)
        # Elo points stand in the same columns as shares.
        several_units = [name for name in map(str, frame) if name != "SD / spread of models"]
        alt = "Dispersion across judges by measure"
        numbers.table(frame, "dispersion", alt=alt, significant=several_units)
        for reason in dict.fromkeys(row.reason for row in found.measures if row.reason):
            missing = ", ".join(row.measure for row in found.measures if row.reason == reason)
            st.text(f"{missing}: {reason}")
    with by_model:
        frame = tables.frame(sentences.BY_MODEL, found.rows)
        alt = "Dispersion across judges by model"
        numbers.table(
            frame, "dispersion-by-model", alt=alt, significant=[str(name) for name in frame]
        )
    st.caption(
        "SD, SE = SD/√judges and CV = SD/mean across judges. Elo has no CV: its 0 is the anchor, "
        "not nothing. CVs of scores and of p are on different scales: compare the SDs of p, or the "
        "SD by the spread of models."
    )


def _statistics(judged: dict[str, DirectScores]) -> DirectStatistics:
    key = (widgets.current_selection(), tuple(judged))
    return cached.computed("score statistics", key, lambda: direct_statistics(judged))


def _statistics_tables(found: DirectStatistics) -> None:
    st.subheader("Scores as given", anchor=False)
    numbers.table(
        tables.frame(sentences.STATISTICS, found.rows), "direct-scores", alt="Score statistics"
    )
    if found.pairs:
        st.subheader("Agreement of judges", anchor=False)
        frame = tables.frame(sentences.PAIRS, found.pairs)
        numbers.table(frame, "direct-scores-pairs", alt="Agreement of every two judges")
        st.caption(
            "Pearson and Kendall τ_b on mean scores of the same responses; Cohen κ on those "
            "rounded to whole "
            "scores, plain and with quadratic weights. Intervals are clustered by item."
        )


def _abstention(judged: dict[str, DirectScores]) -> None:
    """What is left of the scores where a judge that contradicts itself abstains."""
    st.subheader("What if judges abstained when unsure?", anchor=False)
    threshold = st.select_slider(
        "Drop responses whose scores differ by an SD above this share of the scale",
        sorted(THRESHOLDS),
        value=THRESHOLD,
        key="scores_abstain",
        bind=widgets.URL,
    )
    try:
        found = cached.computed(
            "score abstention",
            (widgets.current_selection(), tuple(judged), threshold),
            lambda: score_abstention(judged, threshold=threshold),
        )
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    widgets.answer(sentences.scores_abstained_answer(found), part="-scores-abstained")
    widgets.in_full(sentences.scores_abstained(found), part="-scores-abstained")
    dropped, drawn_models = dropped_responses(judged, found), {one.model for one in found.changed}
    chosen = None
    drawn, measured = st.columns([4, 5], gap="medium")
    with drawn:
        if found.changed:
            fig = score_changes_figure(
                found, theme=widgets.current_look(), chosen=widgets.in_url("scores-abstained")
            )
            chosen = widgets.figure(
                fig,
                "scores-abstained",
                alt="Change of each model's mean score",
                marks={model: model for model in dropped if model in drawn_models},
                prompt="Responses dropped of",
            )
        widgets.how_to_read(
            "Each judge drops the responses on which its own runs differ too much; a model's score "
            "is the mean of judges. A row is a model: how far its mean score moves, with a 95 % "
            "interval by item, none where a judge keeps fewer than five of its responses. "
            "Responses that are easy to score are often good or bad ones, so dropping the others "
            "can move means: that is no gain in truth."
        )
    with measured:
        alt = "Direct scores by threshold"
        numbers.show(sentences.KEPT, found.rows, "score-abstention", found.to_frame(), alt=alt)
        numbers.table(
            tables.frame(sentences.CHANGED, found.changed),
            "score-abstention-by-model",
            alt="Direct scores by model, at this threshold",
        )
        if found.n_unknown:
            st.caption(f"{found.n_unknown:,} responses that were scored once are left out.")
    if chosen is not None:
        said = "of this model on which a judge contradicts itself"
        _scores_of(chosen, dropped[chosen], said, name="dropped-responses")
    widgets.copy_as_python(
        f"""scores = queries.direct_scores(store, selection)
scores = {{name: scores[name] for name in {tuple(judged)!r}}}
print(score_abstention(scores, threshold={threshold!r}).to_frame().to_string())"""
    )


def _items_of(judged: dict[str, DirectScores], model: str) -> IntArray:
    """Codes of the items on which some judge scored a model."""
    scored = [one.item[one.model == one.models.index(model)] for one in judged.values()]
    return np.unique(np.concatenate(scored))


def _scores_of(model: str, items: IntArray, which: str, *, name: str) -> None:
    """What everybody said of some responses of a model.  which : what they are, after their
    number.
    """
    selection = widgets.current_selection()
    metric = cached.board_metrics(selection)[0]
    stored = cached.scored_items(selection, metric)[items[:MOST_READ]]
    answers = [(item, model) for item in stored.tolist()]
    said = cached.said_of_answers(selection, metric, answers).to_pandas()
    st.caption(
        f"{count(len(items), 'response')} {which}"
        + (f"; the first {MOST_READ:,} are here" if len(items) > MOST_READ else "")
    )
    shown = said.drop(columns=["item", "status", "human"], errors="ignore")
    st.dataframe(shown.dropna(axis=1, how="all"), hide_index=True, alt="Scores behind the mark")
    numbers.downloads(shown, name)


def _code(
    judged: dict[str, DirectScores],
    *,
    anchor: str | None = None,
    votes: tuple[str, ...] = (),
    prior: str | None = None,
) -> str:
    lines = [
        "scores = queries.direct_scores(store, selection)",
        f"scores = {{name: scores[name] for name in {tuple(judged)!r}}}",
        "found = direct_statistics(scores)",
        "print(found.to_frame().to_string())",
    ]
    if anchor is not None:
        boards = "{}"
        if votes:
            lines.append("pairs = queries.pair_scores(store, selection, pooled=True)")
            boards = (
                f"{{name: board(pairs[name], {anchor!r}, prior={prior!r}) for name in {votes!r}}}"
            )
        lines = [
            *lines,
            f"boards = score_boards(scores, {anchor!r})",
            "print(boards.to_frame().to_string())",
            f"beside = dispersion(boards, {boards}, {anchor!r}, rng=default_rng(0))",
            "print(beside.to_frame().to_string())",
        ]
    return "\n".join(lines)
