"""Which model is better, against which anchor, and would another anchor rank them alike?"""

import pandas as pd
import streamlit as st

from core.agreement import agreement_matrix, reliability_factor
from core.anchors import anchor_swap, anchors, triangles
from core.counts import PairScores
from core.plots.leaderboard import board_figure, judge_key, swap_figure, swap_key
from core.queries import Mark
from core.raee import Board, Prior, board
from core.standings import (
    Standings,
    answer,
    met,
    mid_region,
    most_reversing,
    no_board,
    sound,
    standings,
    triangle_words,
    triangles_frame,
)
from core.votes import NoUsableVotes
from pages.shared import cached, theme, widgets

FIRST_SHOWN, FIRST_WITH_JUDGES, TRIANGLES_SHOWN = 15, 10, 200
PUBLISHED, CORRECTED = "published", "corrected"
BOARD, SWAP = "Board", "Another anchor"
URL = "query-params"


def boards_by_anchor(
    scores: PairScores, anchor: str, prior: Prior
) -> tuple[dict[str, Board], tuple[str, ...]]:
    """Board of every possible anchor, and those to compare: this one, then all that met three others."""
    names = dict.fromkeys([anchor, *anchors(scores, minimum=2)])
    compared = tuple(dict.fromkeys([anchor, *anchors(scores)]))
    return {name: board(scores, name, prior=prior) for name in names}, compared


def in_url(key: str) -> str | None:
    """The chosen mark before its select box is drawn; on a cold link only the URL knows it."""
    return st.session_state.get(key, st.query_params.get(key))


def kappa_factor(pooled: bool) -> float | None:
    """κ of the pooled judges if it is switched on."""
    selection = widgets.current_selection()
    factor = None
    if pooled:
        counts = cached.vote_counts(selection)
        factor = cached.computed("κ", (selection,), lambda: reliability_factor(agreement_matrix(counts)))
    on = st.toggle("Multiply standard errors by κ", key="kappa", bind=URL, disabled=factor is None)
    if factor is None:
        st.caption("κ needs two or more pooled judges that agree beyond chance.")
    else:
        st.caption("Not advised: judges that agree less then give a narrower interval, which is backwards.")
    return factor if on else None


def board_tab(found: Board, judged: dict[str, Board], judge: str | None, corrected: bool) -> None:
    """The board, its table, and the votes of the chosen model."""
    look, rows, shown = theme.current(), found.rows, None
    drawn, measured = st.columns([3, 2], gap="medium")
    most = FIRST_WITH_JUDGES if judged else FIRST_SHOWN
    if len(rows) > most and not measured.toggle(f"Draw all {len(rows)} models", key="all", bind=URL):
        shown = most
    marks = {row.model: Mark(models=(row.model, found.anchor), judge=judge) for row in rows}
    for name, known in judged.items():
        for row in known.rows:
            marks[judge_key(name, row.model)] = Mark(models=(row.model, found.anchor), judge=name)
    with drawn:
        fig = board_figure(
            found,
            judged=judged,
            styles=cached.styles(widgets.current_dataset(), look),
            judge=judge,
            corrected=corrected,
            shown=shown,
            theme=look,
            chosen=in_url("model"),
        )
        chosen = widgets.figure(fig, "model", alt="Elo of each model against the anchor", marks=list(marks))
        widgets.how_to_read(
            "Each row is a model: its Elo over the anchor, and below it the win probability that this "
            "stands for, a tie being half a win. Bars are 95 % intervals over prompts, never over votes: "
            "the votes on one prompt are averaged first. The published interval takes each prompt for "
            "won or lost, so with ties or averaged votes it is too wide; the corrected one uses the "
            "variance that was seen.\n\n"
            "A tier starts at the first model whose difference from the tier's best is more than chance "
            "(|z| > 1.96, prompt by prompt where both played the same ones). Bars of two models may "
            "overlap and the models still be in different tiers: on the same prompts their difference is "
            "known better than either score. Small marks are single judges; choose a judge to see its "
            "own board."
        )
    with measured:
        frame = found.to_frame()
        st.dataframe(
            shown_numbers(frame),
            hide_index=True,
            column_config=COLUMNS,
            alt="Board",
        )
        widgets.downloads(frame, "leaderboard")
        for said in (mid_region(found), *found.notes):
            st.text(said)
        if found.never_met:
            st.text(f"Without a number, as they never met {found.anchor}: {', '.join(found.never_met)}")
    if chosen:
        widgets.votes_table(marks[chosen], name="model")


def swap_tab(found: Standings, boards: dict[str, Board], judge: str | None, corrected: bool) -> None:
    """The board beside that of another anchor."""
    here = found.board
    if not found.others:
        widgets.not_applicable(f"besides {here.anchor}, no model met three others and could be the anchor.")
        return
    drawn, measured = st.columns([3, 2], gap="medium")
    names = [other.anchor for other in found.others]
    worst = most_reversing(found)
    start = 0 if worst is None else names.index(worst.anchor)
    other = measured.selectbox("Compare with anchor", names, index=start, key="other", bind=URL)
    row = found.others[names.index(other)]
    there = boards[other]
    marks = {
        swap_key(known.anchor, model): Mark(models=(model, known.anchor), judge=judge)
        for known in (here, there)
        for model in row.models
    }
    with drawn:
        if row.models:
            fig = swap_figure(
                here,
                there,
                row.models,
                corrected=corrected,
                theme=theme.current(),
                chosen=in_url("swapped"),
            )
            alt = "Centred Elo of each model against two anchors"
            chosen = widgets.figure(fig, "swapped", alt=alt, marks=list(marks))
        else:
            chosen = None
            widgets.not_applicable(f"no model met both {here.anchor} and {other}.")
        widgets.how_to_read(
            "Each row is a model that met both anchors, with its Elo on either board. Another anchor "
            "moves the zero, so each board is centred on its mean over these models. Where the anchor "
            "does not matter the two marks of a row agree within their bars. Kendall τ compares the two "
            "orders: 1 the same, 0 unrelated, −1 reversed; with few models it takes few values. "
            "*Reversed* counts pairs of models whose order is opposite and more than chance on both "
            "boards, allowing for the number of pairs and anchors."
        )
    with measured:
        frame = found.to_frame()
        st.dataframe(
            frame.assign(mid_region_coverage=100 * frame["mid_region_coverage"]),
            hide_index=True,
            column_config=SWAP_COLUMNS,
            alt="Other anchors",
        )
        widgets.downloads(frame, "other-anchors")
    if chosen:
        widgets.votes_table(marks[chosen], name="swapped")


def triangles_section(frame: pd.DataFrame, tested: int, judge: str | None) -> None:
    """Triangles of models, worst first, and the votes of the chosen one's three pairs."""
    st.subheader("Do three models' gaps add up?", anchor=False)
    if not len(frame):
        reason = (
            "no three models all met each other."
            if not tested
            else f"none of {tested:,} triangles has two prompts that all three pairs of its models played."
        )
        widgets.not_applicable(reason)
        return
    shown = frame.head(TRIANGLES_SHOWN)
    words = shown["triangle"].tolist()

    def choose() -> None:
        for row in st.session_state["triangles"]["selection"]["rows"]:
            st.session_state["triangle"] = words[row]

    st.dataframe(
        shown[list(TRIANGLE_COLUMNS)],
        hide_index=True,
        column_config=TRIANGLE_COLUMNS,
        key="triangles",
        on_select=choose,
        selection_mode="single-row",
        alt="Triangles",
    )
    widgets.downloads(frame, "triangles")
    widgets.how_to_read(
        "If a beats b by 100 Elo and b beats c by 50, a should beat c by 150. *Left over* is what is "
        "missing round the triangle, from all prompts of each pair; z is that of the prompts which all "
        "three pairs played, and p is adjusted for the number of triangles (Holm). Broken (p < .05): no "
        "single scale holds the three, so their ranking depends on the anchor. Intransitive: moreover "
        "each beats the next, all the way round."
    )
    chosen = st.selectbox(
        "Votes behind", words, index=None, key="triangle", bind=URL, placeholder="click a row, or choose here"
    )
    if chosen:
        row = shown.iloc[words.index(chosen)]
        for one, two in (("a", "b"), ("b", "c"), ("c", "a")):
            st.text(f"{row[one]} and {row[two]}")
            widgets.votes_table(Mark(models=(row[one], row[two]), judge=judge), name=f"triangle-{one}{two}")


def shown_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """A board as it is read: whole Elo without a minus before 0, shares in percent."""
    elo = {name: frame[name].round() + 0.0 for name in COLUMNS if name.startswith("elo")}
    shares = {name: 100 * frame[name] for name in COLUMNS if name.startswith("p")}
    return frame[list(COLUMNS)].assign(**elo, **shares)


def number(name: str, form: str, about: str | None = None) -> object:
    return st.column_config.NumberColumn(name, format=form, help=about)


COLUMNS = {
    "tier": "tier",
    "model": "model",
    "n": number("n", "%d", "prompts"),
    "elo": number("Elo", "%+.0f"),
    "elo_low": number("low", "%+.0f", "95 % credible interval, as published"),
    "elo_high": number("high", "%+.0f", "95 % credible interval, as published"),
    "elo_low_corrected": number("low, corrected", "%+.0f", "with the variance that was seen"),
    "elo_high_corrected": number("high, corrected", "%+.0f", "with the variance that was seen"),
    "p": number("wins %", "%.1f", "win probability, a tie being half a win"),
    "p_low": number("low %", "%.1f"),
    "p_high": number("high %", "%.1f"),
    "p_low_corrected": number("low %, corrected", "%.1f"),
    "p_high_corrected": number("high %, corrected", "%.1f"),
}
SWAP_COLUMNS = {
    "anchor": "anchor",
    "models": number("models", "%d", "on both boards"),
    "kendall_tau": number("Kendall τ", "%.2f"),
    "mean_abs_centred_shift": number("mean shift", "%.0f", "Elo, after centring"),
    "reversals": number(
        "reversed", "%d", "pairs of models in opposite order, more than chance on both boards"
    ),
    "leader": "its first",
    "mid_region_coverage": number("mid-region %", "%.0f", "models that score between 20 % and 80 %"),
    "mid_region_enough": st.column_config.CheckboxColumn("≥ 95 %"),
    "n_items": number("n", "%d", "prompts"),
}
TRIANGLE_COLUMNS = {
    "triangle": st.column_config.TextColumn("triangle", width=470),
    "verdict": "verdict",
    "residual": number("left over", "%+.0f", "Elo round the triangle"),
    "n": number("n", "%d", "prompts that all three pairs played"),
    "z": number("z", "%.1f"),
    "p_holm": number("p, Holm", "%.2g", "adjusted for the number of triangles"),
}

widgets.title("Leaderboard", "Which model is better, against which anchor?")
selection = widgets.current_selection()
pairs = cached.pair_scores(selection, pooled=True)
offered = cached.computed("anchors of 2", (selection,), lambda: anchors(pairs[None], minimum=2))
if not offered:
    raise NoUsableVotes(no_board(pairs[None]))

said = st.container()
slots = st.columns([3, 3, 3, 2], gap="small", vertical_alignment="bottom")
anchor = slots[0].selectbox("Anchor", offered, key="anchor", bind=URL)
judges = [name for name, known in pairs.items() if name is not None and met(known, anchor)]
judge = slots[1].selectbox(
    "Judge",
    judges,
    index=None,
    key="voter",
    bind=URL,
    placeholder=f"all {len(judges)}, pooled" if len(judges) > 1 else "the only one",
)
interval = (
    slots[2].segmented_control(
        "95 % interval", [PUBLISHED, CORRECTED], default=PUBLISHED, required=True, key="interval", bind=URL
    )
    or PUBLISHED
)  # an empty value in the URL is none
corrected = interval == CORRECTED
scores = pairs[judge]
with slots[3].popover("Options", width="stretch"):
    prior = (
        st.segmented_control(
            "Prior", ["jeffreys", "laplace"], default="jeffreys", required=True, key="prior", bind=URL
        )
        or "jeffreys"
    )
    key = (selection, judge, prior)
    boards, compared = cached.computed(
        "boards", (*key, anchor), lambda: boards_by_anchor(scores, anchor, prior)
    )
    pool = st.number_input(
        "Prompts in the finite pool, M",
        min_value=max(row.n for row in boards[anchor].rows),
        value=None,
        placeholder="infinite",
        key="pool",
        bind=URL,
        help="For prompts drawn from a known set of M: standard errors times √((M − N)/(M − 1)).",
    )
    kappa = kappa_factor(judge is None)

found = boards[anchor]
if pool or kappa:
    found = board(scores, anchor, prior=prior, pool=pool, kappa_factor=kappa)
swap = cached.computed("swap", (*key, anchor), lambda: anchor_swap(scores, anchors=compared, prior=prior))
known = cached.computed("triangles", key, lambda: triangles(scores, prior=prior))
told = cached.computed("triangle words", key, lambda: triangle_words(known, boards))
standing = cached.computed(
    "standings",
    (*key, anchor, pool, kappa),
    lambda: standings(scores, found, boards=boards, swap=swap),
)
with said:
    widgets.answer(
        answer(standing, told, corrected=corrected), "finding" if sound(standing, told) else "warning"
    )
on_board, on_swap = st.tabs([BOARD, SWAP], key="board", bind=URL)
with on_board:
    if on_board.open:
        judged = {}
        if judge is None and len(judges) > 1:
            judged = cached.computed(
                "judged",
                (*key, anchor),
                lambda: {name: board(pairs[name], anchor, prior=prior) for name in judges},
            )
        board_tab(found, judged, judge, corrected)
with on_swap:
    if on_swap.open:
        swap_tab(standing, boards, judge, corrected)
        triangles_section(triangles_frame(known, told), len(known), judge)
options = (
    f"prior={prior!r}" + (f", pool={pool}" if pool else "") + (f", kappa_factor={kappa!r}" if kappa else "")
)
widgets.copy_as_python(
    f"""from core.anchors import anchor_swap, triangles
from core.raee import board

pairs = queries.pair_scores(store, selection, pooled=True)[{judge!r}]
print(board(pairs, {anchor!r}, {options}).to_frame().to_string())
print(anchor_swap(pairs, anchors={compared!r}, prior={prior!r}).to_frame())
print(triangles(pairs, prior={prior!r}).to_frame())"""
)
