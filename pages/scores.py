"""Does it score single answers as people do?"""

from functools import partial

from pages.sections.scores import agreement, alone, passing, steadiness
from pages.sections.scores.controls import read_controls
from pages.shared import widgets

TABS = {
    "Agreement": agreement.agreement_tab,
    "Pass or fail": passing.passing_tab,
    "True rate": passing.true_rate_tab,
    "Alone": alone.alone_tab,
    "Steadiness": steadiness.steadiness_tab,
    "Recalibrate": steadiness.recalibrate_tab,
}

widgets.title("scores", "Does it score single answers as people do?")
with widgets.errors():
    state = read_controls()
    if state is None:
        widgets.not_applicable(
            "this selection has no judge of single answers. Load a table of item_id, score (or "
            "passed) and what people said of the same answers (Start)."
        )
    else:
        agreement.answer(state)
        widgets.tabs({name: partial(draw, state) for name, draw in TABS.items()})
        agreement.checks(state)
        agreement.everybody(state)
        options = ", ".join(widgets.arguments(state.options))
        widgets.copy_as_python(
            f"""for scores in audit_scores(store, selection, AuditOptions({options})):
    print(scores.whose, scores.overall.verdict, scores.headline)
    for result in scores.checks:
        print(result.grade, result.check, result.sentence)
    print(scores.evidence.cut, scores.evidence.versions, scores.evidence.alternative)
    print(scores.alone, scores.evidence.calibration, scores.evidence.th)"""
        )
