"""How should I turn n votes into one label?"""

import time
from typing import get_args

import numpy as np
import pandas as pd
import streamlit as st

from core.btd import Bounds, decision_map, fit
from core.btd_solver import Loss
from core.confusion import confusion
from core.counts import NO_GOLD, BoolArray, IntArray, VoteCounts
from core.crossfit import held_out_labels
from core.evaluation import METHODS, Evaluation, evaluate
from core.labelling import given_labels, label_shares, label_table, rule_labels
from core.plots.aggregation import (
    MOST_VOTES,
    decision_figure,
    errors_figure,
    pattern_key,
    share_key,
    shares_figure,
)
from core.plots.confusion import cell_key, confusion_matrix
from core.queries import Mark, comparison_names
from core.recommendation import recommend
from core.votes import VOTE_LABELS, NoUsableVotes
from pages.shared import cached, theme, widgets

URL = "query-params"
SPLITS = 100
# Seconds without a new slider step after which the resampling starts.
QUIET = 0.3
LIMITS = {"beta": (1e-3, 5.0), "nu": (1e-4, 1e3), "gamma": (-10.0, 10.0)}
GREEK = {"beta": "β", "nu": "ν", "gamma": "γ"}
RULES = {
    "name": "rule",
    "n": "n",
    "mae": "MAE",
    "mae_item_low": "low",
    "mae_item_high": "high",
    "mae_low": "split low",
    "mae_high": "split high",
    "pa": "PA",
    "pa_item_low": "PA low",
    "pa_item_high": "PA high",
    "pa_low": "PA split low",
    "pa_high": "PA split high",
    "regret": "regret",
    "top_cluster": "top cluster",
    "p_value": "p",
}


def in_url(key: str) -> str | None:
    """The chosen mark before its select box is drawn; on a cold link only the URL knows it."""
    return st.session_state.get(key, st.query_params.get(key))


def majority_error(found: VoteCounts) -> float:
    known = found.labelled()
    return float(np.abs(known.label - known.gold).mean()) if len(known) else -1.0


def behind(wanted: BoolArray, among: VoteCounts) -> Mark:
    """Votes on the first of the comparisons wanted."""
    return Mark(judge=judge, comparisons=tuple(among.comparison[wanted][: widgets.VOTES_SHOWN].tolist()))


def evaluated(share: int, seed: int, resamples: int) -> Evaluation:
    """The rules on the same splits; with resamples only once the sliders rest."""

    def compute() -> Evaluation:
        for _ in range(10 if resamples else 0):
            time.sleep(QUIET / 10)
            # A waiting slider step ends the run here, before the slow work.
            st.session_state.get(widgets.SELECTION)
        rng = np.random.default_rng(seed)
        made = {"share": share / 100, "resamples": resamples, "bounds": bounds, **options}
        return evaluate(labelled, rng=rng, n_splits=SPLITS, given=given, **made)

    key = (selection, judge, alpha, kappa, bounds, loss, share, seed, resamples)
    return cached.computed("aggregation", key, compute)


@st.fragment
def rules() -> None:
    """Every rule on the same splits, and the page's answer."""
    st.subheader("Which rule errs least", anchor=False)
    asked = st.container(horizontal=True)
    share = asked.slider(
        "Calibration share", 1, 50, 5, format="%d %%", key="share", bind=URL, help="Share of the items"
    )
    seed = asked.number_input("Seed", 0, 2**31 - 1, 0, key="seed", bind=URL, width=140)
    shown = st.empty()
    with widgets.errors():
        for resamples in (0, 10_000):
            found = evaluated(share, seed, resamples)
            verdict = recommend(judge, found, most_votes=int(cells.n.max()))
            with said.container():
                kind = "warning" if verdict.verdict in ("warn", "fail") else "finding"
                widgets.answer(f"{judge}: {verdict.sentence}", kind, part=f"-{resamples}")
            with shown.container():
                rules_table(found, done=bool(resamples))
        widgets.copy_as_python(
            f"""from numpy.random import default_rng

from core.btd import Bounds, fit
from core.evaluation import evaluate
from core.labelling import given_labels

labelled = queries.vote_counts(store, selection)[{judge!r}].labelled()
given, reasons = given_labels(labelled, queries.single_votes(store, selection)[{judge!r}])
options = dict(alpha={alpha}, kappa={kappa}, loss={loss!r}, bounds={bounds!r})
print(fit(labelled.cells()[0], **options).to_frame())
found = evaluate(
    labelled, rng=default_rng({seed}), n_splits={SPLITS}, share={share / 100}, given=given, **options
)
for score in found.scores.values():
    print(score.name, score.mae, score.mae_item_low, score.mae_item_high, score.top_cluster)"""
        )


def rules_table(found: Evaluation, *, done: bool) -> None:
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        fig = errors_figure(found, theme=look, chosen=in_url("wrong"))
        wrong = None
        if done:
            names = [score.name for score in found.scores.values() if score.key != "random"]
            wrong = widgets.figure(
                fig, "wrong", alt="MAE of each rule", marks=names, prompt="Comparisons labelled wrongly by"
            )
            widgets.how_to_read(
                "Error (MAE) is the mean distance between a label and gold: 1 for a mistaken tie, 2 for the "
                "opposite. *Majority* takes the commonest vote. *Threshold* calls a tie unless the mean vote "
                "is large enough; *BTD* turns votes into probabilities of A, tie and B. Both learn from the "
                "calibration set, as *constant*, always one label, does. *Soft-SC* and *CI-SC* weigh votes "
                "by confidence. Hollow marks use no vote.\n\n"
                "Wide bars are sampling error (bootstrap by item). Narrow bars are how far the mean over "
                f"{found.n_splits} random calibration sets varies; those overlap, so that is split "
                "variability, not sampling error. *Top cluster*: not told apart from the best by sign flips "
                "of the difference by item (p > .05; tested down to the first that differs), which leaves "
                "out the luck of the calibration draw. *Regret*: MAE above that of BTD fitted on every "
                "label. *PA*: share of labels equal to gold."
            )
        else:
            st.plotly_chart(
                fig, key="wrong-first", theme=None, config=widgets.PLOTLY_CONFIG, alt="MAE of each rule"
            )
    with measured:
        parameters = found.parameters.to_frame() if found.parameters else pd.DataFrame()
        parameters["parameter"] = parameters["parameter"].map(GREEK)
        parameters.insert(1, "all labels", [fitted.beta, fitted.nu, fitted.gamma])
        parameters["n"] = fitted.n_items
        parameters["on its bound"] = ["yes" if name in fitted.at_bounds else "no" for name in GREEK]
        names = {"mean": "mean of splits", "q1": "Q1", "q3": "Q3"}
        if done:
            st.text(f"BTD's correction towards ties: {found.parameters.regime if found.parameters else ''}")
            widgets.table(parameters.rename(columns=names), "parameters", alt="Parameters of BTD")
            for key, reason in found.not_applicable.items():
                st.caption(f"{METHODS[key]}: not applicable, {reasons.get(key, reason)}.")
    frame = found.to_frame().assign(n=found.n)[list(RULES)].rename(columns=RULES)
    if done:
        widgets.table(frame.astype({"p": float}), "rules", alt="Error of each rule")
    if done and wrong:
        key = next(score.key for score in found.scores.values() if score.name == wrong)
        labels = given[key] if key in given else rule_labels(key, labelled, fitted)
        if labels is not None:
            st.caption("Labels of the rule calibrated on every label.")
            widgets.votes_table(behind(labels != labelled.gold, labelled), name="wrong")


def labels_become() -> None:
    """Shares of labels and errors by gold, before and after."""
    gold = counts.gold != NO_GOLD

    def held_out() -> dict[str, IntArray]:
        rng = np.random.default_rng(0)
        labels = held_out_labels(counts, rng=rng, bounds=bounds, **options)
        return {"majority": counts.label, "calibrated": labels}

    key = (selection, judge, alpha, kappa, bounds, loss)
    labels = cached.computed("held out", key, held_out)
    shares = cached.computed(
        "label shares",
        key,
        lambda: label_shares(
            counts.item[gold], {"gold": counts.gold[gold]} | {name: one[gold] for name, one in labels.items()}
        ),
    )
    tables = cached.computed(
        "confusions", key, lambda: {name: confusion(counts, labels=one) for name, one in labels.items()}
    )
    bars = {
        share_key(source, y): (counts.gold if source == "gold" else labels[source]) == y
        for source in shares
        for y in VOTE_LABELS
        if shares[source][y + 1].value
    }
    fig = shares_figure(shares, theme=look, chosen=in_url("share_of"))
    bar = widgets.figure(fig, "share_of", alt="Share of each label by source", marks=list(bars))
    if bar:
        widgets.votes_table(behind(bars[bar] & gold, counts), name="share_of")
    for place, (name, table) in zip(st.columns(2, gap="medium"), tables.items(), strict=True):
        with place:
            st.caption(f"{name.capitalize()} against gold")
            mark = f"cell_{name}"
            found = {
                cell_key(g, y): (counts.gold == g) & (labels[name] == y)
                for g in VOTE_LABELS
                for y in VOTE_LABELS
                if table.counts[g + 1, y + 1]
            }
            fig = confusion_matrix(table, theme=look, chosen=in_url(mark))
            picked = widgets.figure(fig, mark, alt=f"Gold against {name} label", marks=list(found))
            if picked:
                widgets.votes_table(behind(found[picked], counts), name=mark)
    widgets.how_to_read(
        "Calibrated labels here come from fits on the other nine tenths of the items, so that they do not "
        "flatter."
    )


widgets.title("Aggregation", "How should I turn n votes into one label?")
selection, look = widgets.current_selection(), theme.current()
of_judge = cached.vote_counts(selection)
said = st.empty()
asked = st.container(horizontal=True, vertical_alignment="bottom")
hardest = cached.computed(
    "hardest", (selection,), lambda: max(of_judge, key=lambda name: majority_error(of_judge[name]))
)
judge = asked.selectbox(
    "Judge", list(of_judge), list(of_judge).index(hardest), key="rater", bind=URL, width=260
)
counts = of_judge[judge]
alpha = asked.slider("α, smoothing of the margin", 0.1, 5.0, 1.0, 0.1, key="alpha", bind=URL, width=170)
kappa = asked.slider("κ, smoothing of ties", 0.1, 5.0, 1.0, 0.1, key="kappa_ties", bind=URL, width=170)
labelled, labelled_cells, cells = cached.computed(
    "cells",
    (selection, judge),
    lambda: (counts.labelled(), counts.labelled().cells()[0], counts.cells()[0]),
)
if not len(labelled):
    raise NoUsableVotes(
        f"{judge} judged no comparison with a gold label, so which rule errs least is unknown and nothing "
        "can be calibrated. Load true or human labels of 20 comparisons or more: a column gold with the "
        "votes, or a second file on the Data page."
    )
sizes = np.bincount(cells.n, weights=cells.weight).astype(np.int64)
offered = [int(n) for n in np.flatnonzero(sizes) if n <= MOST_VOTES]
with asked.popover("Bounds, loss"):
    box = {}
    for name, limits in LIMITS.items():
        low, high = st.columns(2)
        box[name] = tuple(
            place.number_input(
                f"{GREEK[name]} {end}", value=limit, format="%g", key=f"{name}_{end}", bind=URL
            )
            for place, end, limit in zip((low, high), ("from", "to"), limits, strict=True)
        )
    loss: Loss = st.selectbox("Loss to minimise", get_args(Loss), key="loss", bind=URL)
bounds = Bounds(**box)
options = {"alpha": alpha, "kappa": kappa, "loss": loss}
fitted = fit(labelled_cells, bounds=bounds, **options)

if offered:
    n = asked.selectbox(
        "Votes", offered, offered.index(max(offered, key=lambda n: sizes[n])), key="n", bind=URL, width=90
    )
    patterns = zip(*(part.tolist() for part in (cells.plus, cells.tie, cells.minus)), strict=True)
    seen: dict[tuple[int, int, int], int] = {}
    for pattern, weight in zip(patterns, cells.weight.tolist(), strict=True):
        if sum(pattern) == n:
            seen[pattern] = seen.get(pattern, 0) + round(weight)
    keys = {pattern_key(*pattern): pattern for pattern in seen}
    drawn = decision_map(fitted, n)
    calibrated, plain = st.columns(2, gap="medium")
    ring = in_url("cell")
    with plain:
        fig = decision_figure(drawn, by="majority", seen=seen, theme=look, chosen=ring)
        st.caption("Majority")
        widgets.figure(fig, "majority", alt="What majority decides", marks=list(keys), into="cell")
    with calibrated:
        fig = decision_figure(drawn, by="calibrated", seen=seen, theme=look, chosen=ring)
        st.caption(f"Calibrated (BTD), fitted on {fitted.n_items:,} labels")
        cell = widgets.figure(fig, "cell", alt="What calibrated aggregation decides", marks=list(keys))
    with plain:
        widgets.how_to_read(
            f"A square is one way in which {n} votes can fall: votes for A across, for B up, the rest are "
            "ties. Its letter is the label that it becomes. Pale squares have no comparison here; a heavy "
            "outline marks where the two rules differ."
        )
    if cell:
        widgets.votes_table(Mark(judge=judge, counts=keys[cell]), name="cell")
else:
    widgets.not_applicable(f"every comparison has over {MOST_VOTES} votes, too many to draw each way.")
for note in fitted.notes:
    st.text(note)

given, reasons = cached.computed(
    "given labels",
    (selection, judge),
    lambda: given_labels(labelled, cached.single_votes(selection)[judge]),
)
compared = st.container()

st.subheader("What the labels become", anchor=False)
with widgets.errors():
    labels_become()


def download() -> pd.DataFrame:
    names = comparison_names(cached.get_store(), selection).to_pandas().iloc[counts.comparison]
    frame = label_table(counts, fitted).to_frame().drop(columns="comparison")
    frame.insert(frame.columns.get_loc("calibrated"), "threshold", rule_labels("threshold", counts, fitted))
    return pd.concat([names.reset_index(drop=True), frame], axis=1)


st.subheader("Apply and download", anchor=False)
st.text(
    f"Majority, threshold and calibrated (BTD) labels of all {len(counts):,} comparisons that {judge} "
    f"judged, {len(counts) - fitted.n_items:,} of them without gold; both rules that learn use every label."
)
widgets.downloads(download, "calibrated-labels")
with compared:
    rules()
