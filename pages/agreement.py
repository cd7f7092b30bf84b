"""Does it agree with itself, with others, with people?"""

from functools import partial

import streamlit as st

from core.questions.agreement.check import ICC_STRONG
from core.questions.agreement.results import alternative_of
from pages.sections.agreement import raters
from pages.sections.agreement.controls import read_results
from pages.shared import alternative, cards, evidence, parts, widgets
from pages.shared.limits import current_options


def everybody() -> None:
    answer, controls = st.container(), st.container(horizontal=True)
    results = read_results()
    rater = widgets.judge(results.listed, start=results.least_agreeing, place=controls)
    mark = controls.slider(
        "Strong judge from ICC(3,k)", 0.5, 1.0, ICC_STRONG, 0.01, key="strong", bind=widgets.URL
    )
    with answer:
        widgets.answer(results.said(rater))
        widgets.beside_judge(rater, results.least_agreeing)
        widgets.in_full(f"{rater}: {results.checks[rater].sentence}")
    left, right = st.columns(2, gap="medium")
    with left:
        repeat = raters.itself_section(results, mark)
    with right:
        disagreement = raters.others_section(results)
    cards.votes_behind(repeat, name="repeat")
    if disagreement:
        cards.comparisons(*disagreement, name="disagree")
    raters.pair_tables(results, mark)
    raters.all_section(results)
    raters.people_section(results, rater)
    if rater not in results.humans:
        alternative.alternative_section(
            partial(
                alternative_of, evidence.counted(results.selection, current_options()).of(rater)
            ),
            key="votes",
        )
    widgets.copy_as_python(
        f"""counts = queries.vote_counts(store, selection)
for pair in agreement_matrix(counts).pairs:
    print(pair.judge_1, pair.judge_2, pair.kappa, pair.raw, pair.n)
found = inter_rater_reliability(counts, rng=default_rng(0))
print(found.alpha_nominal, found.alpha_ordinal, found.fleiss)
ratings = queries.ratings(store, selection, anchors={results.anchors!r}).get({rater!r})
print(ratings and icc(ratings).icc_3_k)"""
    )


widgets.title("agreement", "Does it agree with itself, with others, with people?")
parts.body(everybody)
