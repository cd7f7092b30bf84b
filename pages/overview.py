"""Can I trust this judge? One row a rater, and what each check found, with the page that explains it."""

import pandas as pd
import streamlit as st

from core.aggregation.rules import dummies
from core.auditing import AuditOptions, audit
from core.interpretation.verdicts import answer, missing, overall, worst
from core.reporting import SIGNS, report
from pages.shared import cached, widgets

FIRST = 8  # raters whose worst findings are in view; those of more are folded
PAGES = {
    "accuracy": "confusion.py",
    "calibration": "calibration.py",
    "overconfidence": "calibration.py",
    "position": "position.py",
    "ties": "aggregation.py",
    "repeatability": "agreement.py",
    "agreement": "agreement.py",
    "data": "data.py",
}

widgets.title("Overview", "Can I trust this judge?")
selection = widgets.current_selection()
# Splits take seconds on large files and no verdict rests on them; the Aggregation page has them.
store = cached.get_store()
found = cached.computed("audit", (selection,), lambda: audit(store, selection, AuditOptions(splits=0)))
of_judge = {judge.judge: [v for v in found.verdicts if v.judge == judge.judge] for judge in found.judges}
grades = {judge: overall(verdicts) for judge, verdicts in of_judge.items()}
problems = any(grade in ("warn", "fail") for grade in grades.values())
measured = [(judge.judge, judge.accuracy) for judge in found.judges if judge.accuracy]
most = max(measured, key=lambda each: each[1].value, default=None)
right = ""
if most:
    name, share = most
    who = "It" if len(found.judges) == 1 else f"Most often right is {name}: it"
    right = f" {who} agrees with gold in {share.value:.1%} of votes ({share.low:.1%} to {share.high:.1%})."
widgets.answer(
    answer(found.verdicts) + right.replace("%", " %"),
    "warning" if problems else "finding",
)

rows: list[dict[str, object]] = []
for judge in found.judges:
    worst_three = [verdict.sentence for verdict in worst(of_judge[judge.judge])]
    accuracy, calibration, position = judge.accuracy, judge.calibration, judge.position
    rows.append(
        {
            "rater": judge.judge,
            "kind": judge.rater_type,
            "verdict": f"{SIGNS[grades[judge.judge]]} {grades[judge.judge]}",
            "votes": judge.votes.n,
            "accuracy": accuracy.value if accuracy else None,
            "low": accuracy.low if accuracy else None,
            "high": accuracy.high if accuracy else None,
            "ECE": calibration.ece if calibration else None,
            "flips": position.flip_rate if position else None,
        }
        | {f"finding {i + 1}": sentence for i, sentence in enumerate(worst_three)}
    )
baselines = dummies(cached.vote_counts(selection), cached.length_counts(selection))
for name, accuracy in baselines.items():
    rows.append(
        {
            "rater": name,
            "kind": "dummy",
            "verdict": "baseline",
            "votes": accuracy.n,
            "accuracy": accuracy.value,
            "low": accuracy.low,
            "high": accuracy.high,
        }
    )
frame = pd.DataFrame(rows)
told = [column for column in frame if str(column).startswith("finding")]
numbers = [str(column) for column in frame if column not in told]
widgets.table(frame, "raters", alt="Raters and their verdicts", columns=numbers)


def findings(judge: str) -> None:
    """The worst findings of one judge, in full: a cell of a table would cut them."""
    who, what = st.columns([2, 9])
    who.text(f"{SIGNS[grades[judge]]} {judge}")
    what.text("\n".join(verdict.sentence for verdict in worst(of_judge[judge])))


faulted = [judge for judge in of_judge if worst(of_judge[judge])]
if faulted:
    st.subheader("Worst findings", anchor=False)
for judge in faulted[:FIRST]:
    findings(judge)
if faulted[FIRST:]:
    with st.expander(f"Worst findings of {len(faulted) - FIRST} more"):
        for judge in faulted[FIRST:]:
            findings(judge)

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

chosen = st.selectbox("Every check of", list(of_judge), key="checked", bind="query-params")
for verdict in of_judge.get(chosen or "", []):
    grade, sentence, link = st.columns([1, 9, 2])
    grade.text(f"{SIGNS[verdict.verdict]} {verdict.verdict}")
    sentence.text(verdict.sentence)
    if verdict.check in PAGES:
        with link:
            page = PAGES[verdict.check]
            widgets.goto(f"See {verdict.check}", page, key=f"go-{verdict.check}", judges=[verdict.judge])
widgets.how_to_read(
    "**fail** and **warn** are findings, **unknown** says what is missing; a rater has the worst grade of "
    "its checks. *Accuracy* is the share of votes that agree with gold, *low* to *high* its 95 % interval. "
    "*ECE* (expected calibration error) is how far stated confidence is from the share right, 0 to 1. "
    "*Flips* is the share of verdicts that change when the two responses swap places. The baselines "
    "judge without looking: always the commonest gold label, at random, or for the longest answer.\n\n"
    "Accuracy is held against the best constant answer, calibration against what chance alone would show, "
    "position only against comparisons judged in both orders. *Repeatability* is ICC(3,k): how much of the "
    "differences between comparisons the mean of k runs repeats. *Agreement* is Cohen's κ between majority "
    "labels: 0 is chance, 1 is perfect."
)
lacking = missing(found.verdicts)
if lacking:
    st.subheader("For a fuller audit", anchor=False)
    for sentence in lacking:
        st.text(sentence)
widgets.copy_as_python(
    """for verdict in audit(store, selection, AuditOptions(splits=0)).verdicts:
    print(verdict.judge, verdict.check, verdict.verdict, verdict.sentence)"""
)
