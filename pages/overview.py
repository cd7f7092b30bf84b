"""Can I trust this judge? One row per rater, and what each check found, with the page that explains it."""

import streamlit as st

from core.auditing import AuditOptions, audit
from core.interpretation.verdicts import missing
from core.reporting.html import report
from pages.sections.overview.verdicts import checks_section, findings_section, raters_section, summary
from pages.shared import cached, widgets

widgets.title("Overview", "Can I trust this judge?")
selection, store = widgets.current_selection(), cached.get_store()
# Splits take seconds on large files and no verdict rests on them; the Aggregation page has them.
found = cached.computed("audit", (selection,), lambda: audit(store, selection, AuditOptions(splits=0)))
widgets.answer(*summary(found))
raters_section(found, selection)
findings_section(found)
st.download_button(
    "Report",
    # Made when it is asked for, with the splits that the page does without.
    lambda: report(audit(store, selection)).encode(),
    "appellate-report.html",
    "text/html",
    key="report",
    on_click="ignore",
    help="All verdicts, tables and figures as one HTML file to read offline, print or send",
)
checks_section(found)
widgets.how_to_read(
    "**fail** and **warn** are findings, **unknown** says what is missing; a rater has the worst grade of "
    "its checks. *Accuracy* is the share of votes that agree with gold, *low* to *high* its 95 % interval. "
    "*ECE* (expected calibration error) is how far stated confidence is from the share right, 0 to 1. "
    "*Flips* is the share of verdicts that change when the two responses swap places. The baselines "
    "judge without looking: always the commonest gold label, at random, or for the longest answer.\n\n"
    "Accuracy is compared with the best constant answer, calibration against what chance alone would show, "
    "position only against comparisons judged in both orders. *Repeatability* is ICC(3,k): how much of the "
    "differences between comparisons the mean of k runs repeats. *Agreement* is Cohen's κ between majority "
    "labels: 0 is chance, 1 is perfect."
)
if lacking := missing(found.verdicts):
    st.subheader("For a fuller audit", anchor=False)
    for sentence in lacking:
        st.text(sentence)
widgets.copy_as_python(
    """for verdict in audit(store, selection, AuditOptions(splits=0)).verdicts:
    print(verdict.judge, verdict.check, verdict.verdict, verdict.sentence)"""
)
