"""Does order decide?"""

import pandas as pd
import streamlit as st

from core import sentences, verdicts
from core.order_balance import order_balance
from core.plots.position import (
    ORDER_NAMES,
    flip_key,
    flips,
    flips_by_group,
    lean_key,
    leaning,
    leans,
    order_errors,
)
from core.position import flips_by, margin_group, position_bias
from core.queries import Mark
from core.verbosity import verbosity
from core.votes import NoUsableVotes
from pages.shared import cached, theme, widgets

GRADES = ("fail", "warn", "ok", "unknown")
COLUMNS = {
    "first": "first",
    "second": "second",
    "tie": "tie",
    "bias_decided": "bias decided",
    "bias_decided_low": "low",
    "bias_decided_high": "high",
    "bias_all": "bias all",
    "bias_all_low": "low ",
    "bias_all_high": "high ",
    "unpaired": "unpaired votes",
    "pairs": "pairs",
    "bias_pairs": "bias in pairs",
    "flip_rate": "flips",
    "flip_rate_low": "low  ",
    "flip_rate_high": "high  ",
    "hard_flip_rate": "hard flips",
    "hard_flip_rate_low": "low   ",
    "hard_flip_rate_high": "high   ",
    "same_order_disagreement": "same order differs",
    "excess": "excess",
    "towards_first": "lean first",
    "towards_second": "lean second",
    "p_value": "p",
}
ERRORS = {
    "judge": "judge",
    "orders": "orders",
    "votes": "votes each",
    "mae": "MAE",
    "mae_low": "low",
    "mae_high": "high",
    "n": "n",
}
LENGTHS = {
    "judge": "judge",
    "n": "decided votes",
    "longer_rate": "prefers longer",
    "longer_rate_low": "low",
    "longer_rate_high": "high",
    "judge_rate": "where gold is known",
    "n_gold": "votes with decided gold",
    "gold_rate": "gold prefers longer",
    "excess": "difference",
    "excess_low": "low ",
    "excess_high": "high ",
}

widgets.title("Position bias", "Does order decide?")
selection, look = widgets.current_selection(), theme.current()
positions = cached.positions(selection)
if not positions:
    raise NoUsableVotes(
        "No vote here says which response was shown first, so position bias cannot be tested. Ask the judge "
        "about each comparison in both orders and load the votes with a column position: ab where A was "
        "shown first, ba where B was."
    )
results = cached.computed(
    "position", (selection,), lambda: {judge: position_bias(found) for judge, found in positions.items()}
)
graded = {judge: verdicts.position(judge, one) for judge, one in results.items()}
worst = min(
    results, key=lambda judge: (GRADES.index(graded[judge].verdict), -(results[judge].flip_rate or 0))
)

said = st.container()
judge = st.selectbox("Judge", list(results), list(results).index(worst), key="rater", bind="query-params")
with said:
    found = graded[judge]
    widgets.answer(f"{judge}: {found.sentence}", "finding" if found.verdict == "ok" else "warning")
styles = cached.styles(widgets.current_dataset(), look)

left, right = st.columns(2, gap="medium")
with left:
    st.subheader("Which slot gains", anchor=False)
    marks = {
        lean_key(name, leaning(one)): Mark(judge=name, slot=leaning(one)) for name, one in results.items()
    }
    fig = leans(results, styles=styles, theme=look, chosen=st.session_state.get("lean"))
    lean = widgets.figure(fig, "lean", alt="Lean to a slot by judge", marks=list(marks))
    widgets.how_to_read(
        "Right of the line a judge favours the response shown first, left of it the one shown second. "
        "*Within pairs* counts only runs of a comparison judged in both orders, so a judge that picks the "
        "better response each time stands on the line. *All decided votes* (raw) is (first − second) / "
        "(first + second); where orders are unbalanced it also shows where the better response sat. In the "
        "table, *bias decided* leaves ties out of the votes it divides by, *bias all* keeps them in."
    )
with right:
    st.subheader("How often the verdict changes", anchor=False)
    flipped = {
        flip_key(name, "flip"): Mark(judge=name, flip="flip") for name in results if results[name].flips
    }
    flipped |= {
        flip_key(name, "hard"): Mark(judge=name, flip="hard") for name in results if results[name].hard_flips
    }
    fig = flips(results, styles=styles, theme=look, chosen=st.session_state.get("flip"))
    flip = widgets.figure(
        fig, "flip", alt="Share of verdicts that change with the order", marks=list(flipped)
    )
    widgets.how_to_read(
        "Share of pairs (one run of a comparison, in both orders) whose verdicts differ; hollow marks count "
        "only those that go from one response to the other. The small bar is how often repeats in the *same* "
        "order differ: the judge's own noise. What lies beyond it is what order adds (*excess*)."
    )
if lean:
    widgets.votes_table(marks[lean], name="lean")
if flip:
    widgets.votes_table(flipped[flip], name="flip")

if warning := sentences.unbalanced(results):
    st.text(warning)
frame = pd.concat([one.to_frame() for one in results.values()], ignore_index=True)[list(COLUMNS)]
frame.insert(0, "judge", list(results))
widgets.table(
    frame.rename(columns=COLUMNS).astype({"p": float}), "position", alt="Position figures of each judge"
)

st.subheader("Where verdicts change", anchor=False)
if results[judge].pairs:
    grouped = st.columns(2, gap="medium")
    for place, by in zip(grouped, ("category", "margin"), strict=True):
        with place:
            st.caption("By category" if by == "category" else "By how decided the other judges are")
            counts = positions[judge]
            table = flips_by(counts, by)
            code = counts.category if by == "category" else margin_group(counts)
            key = f"flips_by_{by}"
            groups = [
                name or "(none)" for name, n in zip(table.groups, table.flips.tolist(), strict=True) if n
            ]
            fig = flips_by_group(table, style=styles[judge], theme=look, chosen=st.session_state.get(key))
            group = widgets.figure(fig, key, alt=f"Flips by {by}", marks=groups)
            if group:
                place_of = [name or "(none)" for name in table.groups].index(group)
                behind = counts.comparison[(code == place_of) & (counts.flips > 0)][: widgets.VOTES_SHOWN]
                widgets.votes_table(
                    Mark(judge=judge, flip="flip", comparisons=tuple(behind.tolist())), name=key
                )
    widgets.how_to_read(
        "Filled: share of pairs whose verdict changed with the order; hollow: from one response to the "
        "other. The margin is |mean vote of all other judges| on the comparison: 0 split, 1 unanimous. A "
        "judge that flips where others agree is not merely unsure."
    )
else:
    widgets.not_applicable(f"{judge} judged no comparison in both orders.")

st.subheader("Does asking in both orders pay?", anchor=False)
balances = cached.computed(
    "order balance",
    (selection,),
    lambda: {name: order_balance(one) for name, one in cached.order_counts(selection).items()},
)
balance = balances[judge]
if balance is None:
    widgets.not_applicable(sentences.order_balance(judge, balance))
else:
    st.text(sentences.order_balance(judge, balance))
    drawn, listed = st.columns(2, gap="medium")
    with drawn:
        st.plotly_chart(
            order_errors(balance, style=styles[judge], theme=look),
            key="orders-figure",
            theme=None,
            config=widgets.PLOTLY_CONFIG,
            alt="Error by order",
        )
        widgets.how_to_read(
            "Mean absolute error of the majority label against gold, with the number of votes a label is "
            "made from in brackets. Compare orders at the same number of votes; the gain in the sentence "
            "does, comparison by comparison. It is the exact mean over all ways to draw that many votes."
        )
    with listed:
        frame = pd.concat(
            [one.to_frame().assign(judge=name) for name, one in balances.items() if one], ignore_index=True
        ).query("votes > 0")
        frame["orders"] = frame["orders"].map(ORDER_NAMES)
        widgets.table(
            frame[list(ERRORS)].rename(columns=ERRORS), "orders", alt="Error by order of each judge"
        )

st.subheader("Does the longer response win?", anchor=False)
measured = cached.computed(
    "verbosity",
    (selection,),
    lambda: {name: verbosity(one) for name, one in cached.length_counts(selection).items()},
)
known = {name: one for name, one in measured.items() if one}
if not known:
    widgets.not_applicable("no vote has the lengths or the texts of both responses.")
else:
    st.text(sentences.verbosity(judge, known.get(judge)))
    frame = pd.concat([one.to_frame() for one in known.values()], ignore_index=True)
    frame.insert(0, "judge", list(known))
    widgets.table(
        frame[list(LENGTHS)].rename(columns=LENGTHS), "verbosity", alt="Preference for the longer response"
    )
    widgets.how_to_read(
        "Prefers longer: share of decided votes that went to the longer response. Longer responses are often "
        "better, so it is held against how often gold prefers the longer one on the same comparisons; the "
        "difference is what length alone may have bought."
    )
widgets.copy_as_python(
    f"""from core.position import position_bias

bias = position_bias(queries.positions(store, selection)[{judge!r}])
print(bias.flip_rate, bias.flip_rate_low, bias.flip_rate_high, bias.pairs)
print(bias.bias_decided, bias.bias_all, bias.p_value)"""
)
