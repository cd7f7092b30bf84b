"""Is its confidence worth anything?"""

import streamlit as st

from core.calibration import calibration
from core.figures import bin_key, reliability_diagram
from core.queries import Mark
from pages.shared import cached, theme, widgets

widgets.title("Calibration", "Is its confidence worth anything?")
bins = st.slider("Bins", 2, 20, 10, key="bins", bind="query-params")

outcomes = cached.outcomes(widgets.current_selection())
stated = {judge: found for judge, found in outcomes.items() if found.with_confidence().n.any()}
results = {judge: calibration(found, bins=bins) for judge, found in stated.items()}
worst = max(results, key=lambda judge: results[judge].ece)
widgets.answer(f"{worst} has ECE {results[worst].ece:.3f} (n {results[worst].n:,} verdicts).")

marks = {
    bin_key(judge, low, high): Mark(judge=judge, confidence=(low, high))
    for judge, result in results.items()
    for low, high, n in zip(
        result.reliability.low.tolist(), result.reliability.high.tolist(), result.reliability.n, strict=True
    )
    if n
}
look = theme.current()
fig = reliability_diagram(
    {judge: result.reliability for judge, result in results.items()},
    styles=cached.styles(widgets.current_dataset(), look),
    theme=look,
    chosen=st.session_state.get("bin"),
)
chosen = widgets.figure(fig, "bin", alt="Reliability diagram", marks=list(marks))
widgets.how_to_read(
    "Each mark is a bin of stated confidence. On the diagonal the judge is right as often as it says; below it the "
    "judge is overconfident. Bars are intervals over items, marks grow with the number of verdicts."
)
if chosen:
    widgets.votes_table(marks[chosen], name="bin")
widgets.copy_as_python(
    f"""from core.calibration import calibration

for judge, outcomes in queries.outcomes(store, selection).items():
    print(judge, calibration(outcomes, bins={bins}).ece)"""
)
