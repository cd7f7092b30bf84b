"""Can I trust this judge? The decision on one judge, the evidence on all of them, and every check."""

from dataclasses import replace

import streamlit as st

from core.auditing import AuditOptions, audit
from core.interpretation.overview import by_support
from core.interpretation.summary import missing
from core.reporting.html import report
from pages.sections.overview.first import (
    card_section,
    categories_section,
    coverage_section,
    evidence_section,
    matrix_section,
)
from pages.sections.overview.verdicts import checks_section, raters_section, summary
from pages.shared import cached, cards, widgets
from pages.shared.limits import current_options, limits_section

widgets.title("Overview", "Can I trust this judge?")
selection, store, options = widgets.current_selection(), cached.get_store(), current_options()
found = cached.computed("audit", (selection, options), lambda: audit(store, selection, options))
coverage_section(found)
people = widgets.current_people()
ordered = by_support(found.verdicts, people)
chosen = card_section(found, ordered)
evidence_section(found, ordered, chosen, people)
matrix_section(found, ordered, chosen)
categories_section(selection, chosen, level=options.level)
cards.error_cards(chosen)
widgets.answer(*summary(found))
with st.expander("Every check in words"):
    checks_section(found, chosen)
with st.expander("All raters in numbers"):
    raters_section(found, selection)
st.download_button(
    "Report",
    # Made when it is asked for, with the splits that the page does without.
    lambda: report(audit(store, selection, replace(options, splits=AuditOptions().splits))).encode(),
    "appellate-report.html",
    "text/html",
    key="report",
    on_click="ignore",
    help="All verdicts, tables and figures as one HTML file to read offline, print or send",
)
limits_section()
widgets.how_to_read(
    "Every check estimates one number with a 95 % interval by item and grades the **whole interval** by two "
    "limits: ✓ ok, all of it is within *caution*; ! warn, all of it is beyond *caution* (of a difference: it "
    "leaves out 0); ✗ fail, all of it is beyond *failure*; ~ unclear, none of these, with the number of "
    "items that would decide; ? unknown says what is missing. No grade turns on the estimate alone.\n\n"
    "**Verdict**, the first that holds. *Do not trust*: accuracy or position fails (without gold: agreement "
    "with people, or position), or too many outputs have no verdict. *Cannot say*: accuracy is unknown or "
    "may be below 60 % (without gold: agreement is not ok). *Trust*: accuracy, position and stability are ok "
    "and nothing warns or fails. *Trust with limits*: everything else. Confidence has a line of its own and "
    "never causes *do not trust*.\n\n"
    "Of many checks some warn by chance. Where there are several judges, warnings are counted beside the "
    "number that judges without any fault would get, and a judge is named for a warning only if it survives "
    "a false discovery rate of 5 %. The best supported judge has the highest low end of its interval; people "
    "are no candidates.\n\n"
    "**Table.** *Right*: half credit on decided gold, right 1, tie ½, opposite 0, with *low* and *high* of "
    "its interval; guessing gets .5. *Exact*: share of votes with exactly gold's label, ties included. "
    "*ECE*: how far stated confidence is from the share right. *AUROC*: how often a right verdict is surer "
    "than a wrong one; .5 separates nothing. *Flips*: share of verdicts that change when the responses "
    "swap places. The baselines judge without looking: always the commonest gold label, at random, or for "
    "the longest answer."
)
if lacking := missing(found.verdicts):
    st.subheader("For a fuller audit", anchor=False)
    for sentence in lacking:
        st.text(sentence)
given = ", ".join(widgets.arguments(options))
widgets.copy_as_python(
    f"""found = audit(store, selection, AuditOptions({given}))
for judge, overall in found.overall.items():
    print(judge, overall.verdict, overall.because)
for verdict in found.verdicts:
    print(verdict.judge, verdict.check, verdict.verdict, verdict.sentence)"""
)
