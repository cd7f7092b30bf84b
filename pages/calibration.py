"""Is its confidence worth anything?"""

import numpy as np
import pandas as pd
import streamlit as st

from core import verdicts
from core.calibration import calibration, noise_floor
from core.counts import OutcomeCounts
from core.figures import bin_key, reliability_diagram
from core.queries import Mark
from core.votes import NoUsableVotes
from pages.shared import cached, theme, widgets

widgets.title("Calibration", "Is its confidence worth anything?")
selection, look = widgets.current_selection(), theme.current()
outcomes: dict[str, OutcomeCounts] = {
    judge: found for judge, found in cached.outcomes(selection).items() if found.with_confidence().n.any()
}
if not outcomes:
    raise NoUsableVotes(
        "Calibration needs votes with a confidence on comparisons with gold; this selection has none."
    )

said = st.container()
drawn, measured = st.columns([3, 2], gap="medium")
bins = measured.slider("Bins", 2, 20, 10, key="bins", bind="query-params")

results = {judge: calibration(found, bins=bins) for judge, found in outcomes.items()}
floors = cached.computed(
    "noise floor",
    (selection, bins),
    lambda: {
        judge: noise_floor(found, rng=np.random.default_rng(0), bins=bins)
        for judge, found in outcomes.items()
    },
)
worst = max(results, key=lambda judge: results[judge].ece)
verdict = verdicts.calibration(worst, results[worst], floors[worst])
with said:
    widgets.answer(f"{worst}: {verdict.sentence}", "finding" if verdict.verdict == "ok" else "warning")

diagrams = {judge: result.reliability for judge, result in results.items()}
marks = {
    bin_key(judge, low, high): Mark(judge=judge, confidence=(low, high))
    for judge, diagram in diagrams.items()
    for low, high, n in zip(diagram.low.tolist(), diagram.high.tolist(), diagram.n.tolist(), strict=True)
    if n
}
with drawn:
    fig = reliability_diagram(
        diagrams,
        styles=cached.styles(widgets.current_dataset(), look),
        theme=look,
        chosen=st.session_state.get("bin"),
    )
    chosen = widgets.figure(fig, "bin", alt="Accuracy against stated confidence", marks=list(marks))
    widgets.how_to_read(
        "Each mark is a bin of stated confidence, larger with more verdicts. On the diagonal a judge is "
        "right as often as it says; below it, it is overconfident. Bars are 95 % intervals that allow for "
        "votes of one item being alike."
    )
with measured:
    table = pd.DataFrame(
        {
            "judge": list(results),
            "n": [result.n for result in results.values()],
            "accuracy": [result.accuracy for result in results.values()],
            "stated": [result.mean_confidence for result in results.values()],
            "ECE": [result.ece for result in results.values()],
            "ECE by chance": [floors[judge].ece_mean for judge in results],
            "ACE": [result.ace for result in results.values()],
            "MCE": [result.mce for result in results.values()],
            "Brier": [result.brier for result in results.values()],
            "NLL": [result.nll for result in results.values()],
        }
    )
    widgets.table(table, "calibration", alt="Calibration measures of each judge")
if chosen:
    widgets.votes_table(marks[chosen], name="bin")
widgets.copy_as_python(
    f"""from core.calibration import calibration

for judge, outcomes in queries.outcomes(store, selection).items():
    if outcomes.with_confidence().n.any():
        print(judge, calibration(outcomes, bins={bins}).ece)"""
)
