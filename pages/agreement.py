"""Does it agree with itself, with others, with people?"""

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.judge_vs_human import leave_one_out
from core.agreement.kappa import agreement_matrix, disagreements
from core.agreement.reliability import Concord, concord, icc, split_comparisons
from core.auditing import closest_partner, people_kappa
from core.interpretation import agreement as accord
from core.interpretation.sentences import GRADES
from core.interpretation.verdicts import ICC_STRONG
from core.leaderboard.anchors import anchors as models_that_anchor
from core.plots.agreement import (
    MOST_RATERS,
    concord_figure,
    contest_figure,
    kappa_matrix,
    pair_key,
    repeatability_figure,
    shown_pairs,
)
from core.records import IntArray
from core.store.vote_queries import Mark
from pages.shared import cached, theme, widgets

REPEATS = {
    "k": "runs",
    "n_comparisons": "comparisons",
    "icc_3_k": "ICC(3,k)",
    "icc_3_k_low": "low",
    "icc_3_k_high": "high",
    "icc_3_k_f_low": "F low",
    "icc_3_k_f_high": "F high",
    "icc_3_1": "ICC(3,1)",
    "icc_3_1_low": "ICC(3,1) low",
    "icc_3_1_high": "ICC(3,1) high",
    "icc_3_1_f_low": "ICC(3,1) F low",
    "icc_3_1_f_high": "ICC(3,1) F high",
    "unanimous_share": "all runs alike",
    "orders": "orders",
    "reason": "note",
}
PAIRS = {
    "judge_1": "rater",
    "judge_2": "against",
    "n": "comparisons",
    "kappa": "κ",
    "kappa_low": "κ low",
    "kappa_high": "κ high",
    "raw": "alike",
    "raw_low": "low",
    "raw_high": "high",
    "reason": "note",
}
GROUPS = {
    "group": "group",
    "raters": "raters",
    "n": "comparisons",
    "raw": "alike",
    "alpha_nominal": "α nominal",
    "alpha_nominal_low": "low",
    "alpha_nominal_high": "high",
    "alpha_ordinal": "α ordinal",
    "alpha_ordinal_low": "ordinal low",
    "alpha_ordinal_high": "ordinal high",
    "fleiss": "Fleiss κ",
    "fleiss_low": "Fleiss low",
    "fleiss_high": "Fleiss high",
    "fleiss_n": "comparisons of κ",
    "fleiss_raters": "raters each",
}
CONTESTS = {
    "human": "person",
    "judge": "judge",
    "rule": "labels",
    "n": "comparisons",
    "human_pa": "person's accuracy",
    "judge_pa": "judge's accuracy",
    "difference": "difference",
    "difference_low": "low",
    "difference_high": "high",
    "wins": "judge wins",
    "clearly": "clearly",
    "reason": "note",
}


def without_empty_notes(frame: pd.DataFrame) -> pd.DataFrame:
    """A column of notes that says nothing is no column."""
    return frame.drop(columns="note") if frame["note"].isna().all() else frame


def behind(codes: IntArray, judge: str | None = None) -> Mark:
    """The first comparisons of many: the table of votes shows no more."""
    return Mark(judge=judge, comparisons=tuple(codes[: widgets.VOTES_SHOWN].tolist()))


widgets.title("Agreement", "Does it agree with itself, with others, with people?")
selection, look = widgets.current_selection(), theme.current()
styles = cached.styles(widgets.current_dataset(), look)
counts = cached.vote_counts(selection)
kinds = cached.raters(widgets.current_dataset())
humans = [name for name in counts if kinds[name] == "human"]
judges = [name for name in counts if name not in humans]
own_gold = humans if selection.gold == "humans" else [selection.gold]

anchors = models_that_anchor(cached.pair_scores(selection, pooled=True)[None])
repeated = cached.computed(
    "repeatability",
    (selection, anchors),
    lambda: {name: icc(found) for name, found in cached.ratings(selection, anchors=anchors).items()},
)
matrix = cached.computed("agreement", (selection,), lambda: agreement_matrix(counts))
contests = cached.computed(
    "leave one out", (selection,), lambda: leave_one_out(counts, humans, rng=np.random.default_rng(0))
)
partners = {name: closest_partner(name, matrix, frozenset(humans)) for name in counts}
people = people_kappa(matrix, frozenset(humans))
graded = {
    name: accord.accord(
        name,
        repeated.get(name),
        partners[name],
        others=len(counts) - 1,
        people=people,
        contests=[one for one in contests.contests if one.judge == name],
    )
    for name in counts
}


def badness(name: str) -> tuple[int, float]:
    """The worse its grade, then the lower its κ with its closest partner."""
    partner = partners[name]
    kappa = partner.kappa if partner else None
    return GRADES.index(graded[name].verdict), -(kappa or 0.0)


worst = max(judges or humans, key=badness)

said, asked = st.container(), st.container(horizontal=True)
rater = asked.selectbox("Judge", list(counts), list(counts).index(worst), key="rater", bind=widgets.URL)
mark = asked.slider("Strong judge from ICC(3,k)", 0.5, 1.0, ICC_STRONG, 0.01, key="strong", bind=widgets.URL)
with said:
    ok = graded[rater].verdict == "ok"
    widgets.answer(f"{rater}: {graded[rater].sentence}", "finding" if ok else "warning")

left, right = st.columns(2, gap="medium")
repeat, pair = None, None
pairs = {pair_key(one): one for one in shown_pairs(matrix, without_gold=own_gold)}
with left:
    st.subheader("With itself", anchor=False)
    if repeated:
        fig = repeatability_figure(
            repeated, mark=mark, styles=styles, theme=look, chosen=st.session_state.get("repeat")
        )
        repeat = widgets.figure(fig, "repeat", alt="ICC of each judge", marks=list(repeated))
        st.text(accord.screening(repeated, mark))
        widgets.how_to_read(
            "How much of what sets comparisons apart a judge repeats when asked again: 1 all, 0 none, "
            "below 0 its runs differ more than comparisons do. "
            "ICC(3,1) is one run, ICC(3,k) the mean of k runs; judges right of the line pass the screening. "
            "Bars are jackknife intervals over items. The table also has the classical F intervals, "
            "which are exact for normal data only and too narrow for votes. A judge that nearly always says "
            "the same has a low ICC too: see *all runs alike*."
        )
        if not anchors:
            st.caption("Without an anchor ICC depends on which model is called A: read *all runs alike* too.")
    else:
        widgets.not_applicable("no comparison was judged twice in the same way (column run).")
with right:
    st.subheader("With others", anchor=False)
    if pairs:
        fig = kappa_matrix(matrix, without_gold=own_gold, theme=look, chosen=st.session_state.get("disagree"))
        pair = widgets.figure(
            fig, "disagree", alt="Cohen κ of each pair", marks=list(pairs), prompt="Disagreements of"
        )
        widgets.how_to_read(
            "Cohen's κ between majority labels, ties a class of their own: 0 is chance, 1 perfect. A rater's "
            "name heads its column and ends its row. Only comparisons that both labelled count; the table "
            "has their number, raw agreement and intervals by item. Raw agreement alone can mislead: two "
            "raters that nearly always say *A* agree by chance. Choose a cell for what they disagree on."
        )
        if len(matrix.judges) > MOST_RATERS:
            st.caption(f"The {MOST_RATERS} raters who share most comparisons; the table has all.")
    else:
        widgets.not_applicable("no comparison was labelled by two raters, or by one and by gold.")
if repeat:
    widgets.votes_table(Mark(judge=repeat), name="repeat")
if pair:
    one, two = pairs[pair].judge_1, pairs[pair].judge_2
    against_gold = pairs[pair] in matrix.gold
    codes = disagreements(counts[one], None if against_gold else counts[two])
    if len(codes):
        widgets.votes_table(behind(codes, one if against_gold else None), name="disagree")
    else:
        st.text("They never disagree.")

if repeated:
    frame = pd.concat([one.to_frame() for one in repeated.values()], ignore_index=True)[list(REPEATS)]
    frame.insert(0, "judge", list(repeated))
    frame.insert(
        1, "strong", [None if v is None else v >= mark for v in (o.icc_3_k for o in repeated.values())]
    )
    widgets.table(
        without_empty_notes(frame.rename(columns=REPEATS)), "repeatability", alt="ICC of each judge"
    )
frame = matrix.to_frame()[list(PAIRS)]
frame = frame[(frame["n"] > 0) & ~((frame["judge_2"] == "gold") & frame["judge_1"].isin(own_gold))]
widgets.table(without_empty_notes(frame.rename(columns=PAIRS)), "pairs", alt="Agreement of each pair")

st.subheader("All at once", anchor=False)


def concords() -> dict[str, Concord]:
    groups = {"all raters": list(counts), "judges alone": judges, "people alone": humans}
    return {
        group: concord({name: counts[name] for name in names}, rng=np.random.default_rng(0))
        for group, names in groups.items()
        if len(names) > 1 and (group == "all raters" or len(names) < len(counts))
    }


groups = cached.computed("concord", (selection,), concords)
if not groups:
    widgets.not_applicable("Krippendorff α and Fleiss κ need at least two raters.")
else:
    for members, found in groups.items():
        st.text(accord.together(members.capitalize(), found))
    fig = concord_figure(groups, theme=look, chosen=st.session_state.get("group"))
    group = widgets.figure(
        fig, "group", alt="Krippendorff α and Fleiss κ", marks=list(groups), prompt="Split comparisons of"
    )
    widgets.how_to_read(
        "Krippendorff's α and Fleiss' κ: 0 is chance, 1 perfect. Nominal α takes every difference alike; "
        "ordinal α counts A against B as farther apart than either from a tie. α uses every comparison that "
        "at least two labelled; Fleiss' κ only those with the commonest number of raters. Bars are bootstrap "
        "intervals by item."
    )
    if group:
        codes = split_comparisons({name: counts[name] for name in groups[group].raters})
        if len(codes):
            widgets.votes_table(behind(codes), name="group")
        else:
            st.text("They never disagree.")
    frame = pd.concat([one.to_frame().assign(group=name) for name, one in groups.items()], ignore_index=True)
    widgets.table(frame[list(GROUPS)].rename(columns=GROUPS), "concord", alt="Agreement of all raters")

st.subheader("As good as a person?", anchor=False)
if len(humans) < 2:
    widgets.not_applicable(
        f"it needs at least two human raters (rater_type human), and there {'is' if humans else 'are'} "
        f"{len(humans)}."
    )
else:
    of_rater = [one for one in contests.contests if one.judge == rater and one.n]
    if of_rater:
        fig = contest_figure(of_rater, style=styles[rater], theme=look, chosen=st.session_state.get("person"))
        person = widgets.figure(
            fig,
            "person",
            alt="Judge's accuracy minus each person's",
            marks=list(dict.fromkeys(one.human for one in of_rater)),
            prompt="Disagreements with",
        )
        if person:
            widgets.votes_table(behind(disagreements(counts[rater], counts[person])), name="person")
    elif not judges:
        widgets.not_applicable("only people voted here; the table has each of them against the others.")
    elif rater in humans:
        widgets.not_applicable(f"{rater} is a person; choose a judge to set it beside people.")
    widgets.how_to_read(
        "Each person in turn is left out, and the mode of the *other* people is gold. Person and judge are "
        "held to it on the same comparisons: right of the line the judge is nearer to the others than the "
        "person is. BTD labels are calibrated to the same gold, on other items than they are judged on. "
        "With three people the mode is that of two, and two that differ make a tie."
    )
    alone = pd.DataFrame(
        [(one.human, one.n, one.pa, one.pa_low, one.pa_high) for one in contests.humans],
        columns=["person", "comparisons", "accuracy against the others", "low", "high"],
    )
    widgets.table(alone, "people", alt="Each person against the others")
    if contests.contests:
        frame = contests.to_frame()[list(CONTESTS)]
        widgets.table(
            without_empty_notes(frame.rename(columns=CONTESTS)),
            "contests",
            alt="Each judge beside each person",
        )

widgets.copy_as_python(
    f"""counts = queries.vote_counts(store, selection)
for pair in agreement_matrix(counts).pairs:
    print(pair.judge_1, pair.judge_2, pair.kappa, pair.kappa_low, pair.kappa_high, pair.raw, pair.n)
found = inter_rater_reliability(counts, rng=default_rng(0))
print(found.alpha_nominal, found.alpha_ordinal, found.fleiss)
ratings = queries.ratings(store, selection, anchors={anchors!r}).get({rater!r})
print(ratings and icc(ratings).icc_3_k)"""
)
