"""Does it score single answers as people do?"""

from pages.sections.scores import people
from pages.sections.scores.controls import read_controls
from pages.shared import widgets

widgets.title("Scores", "Does it score single answers as people do?")
with widgets.errors():
    state = read_controls()
    if state is None:
        widgets.not_applicable(
            "this selection has no judge of single answers. Load a table of item_id, score (or "
            "passed) and what people said of the same answers (Data page)."
        )
    else:
        people.answer(state)
        people.levels(state)
        people.checks(state)
        people.everybody(state)
        widgets.copy_as_python(
            """for scores in audit_scores(store, selection, AuditOptions()):
    print(scores.whose, scores.overall.verdict, scores.headline)
    for result in scores.checks:
        print(result.grade, result.check, result.sentence)"""
        )
