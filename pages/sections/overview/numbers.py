"""Below the first screen: every check of one judge in words, its categories, and the table of all
raters.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.auditing.checks import BY_NAME
from core.auditing.overall import SIGNS, because, best_sentence, confidence_line
from core.auditing.results import JudgeAudit
from core.finding.forest import forest, series
from core.questions.accuracy.method import by_category
from core.questions.accuracy.results import CREDIT, EXACT
from core.questions.confidence.results import CALIBRATION, DISCRIMINATION
from core.questions.labels.rules import dummies
from core.stats.estimate import Estimate
from core.store.vote_queries import Mark
from pages.sections.overview.first_screen import PAGES, Screen
from pages.shared import cached, cards, numbers, widgets
from pages.shared.folds import folded

MOST_CATEGORIES = 12


def every_check(state: Screen, judge: str) -> None:
    """Why the verdicts are what they are: of all judges in a sentence, and every check of one, each
    with a link to its page.
    """

    def draw() -> None:
        checks = state.checks(judge)
        st.text(best_sentence(state.found.checks, state.found.overall))
        st.text(f"{because(judge, state.found.overall[judge], checks)} {confidence_line(checks)}")
        for result in checks:
            grade, sentence, link = st.columns([1, 9, 2])
            grade.text(f"{SIGNS[result.grade]} {result.grade}")
            sentence.text(result.sentence)
            with link:
                check, page = result.check, PAGES[result.check]
                widgets.goto(f"See {BY_NAME[check].title}", page, key=f"go-{check}", judge=judge)

    folded("Every check in words, with its numbers", draw, key="checks")


def categories(state: Screen, judge: str) -> None:
    """Accuracy of the chosen judge by category, the weakest first; nothing where there are
    not two.
    """
    of = cached.vote_counts_by(state.selection, "category")
    mine = {name: counts[judge] for name, counts in of.items() if name and judge in counts}
    rules = state.options.rules
    found = by_category(mine, items=rules.limits["accuracy"].items, level=rules.level)
    if not found:
        return
    st.subheader("Where it is right", anchor=False)
    shown = dict(list(found.items())[:MOST_CATEGORIES])
    rows = series("right", shown, "", "{0.n:,} items")
    styles, theme = state.styles[judge], state.look
    fig = forest([rows], "share right", reference=0.5, unit="%", styles=styles, theme=theme)
    marks = {name: Mark(judge=judge, category=name) for name in shown}
    chosen = widgets.figure(
        fig, "weak", alt="Share right by category, the weakest first", marks=marks
    )
    left = f"; the weakest {len(shown)} of {len(found)}" if len(found) > len(shown) else ""
    st.caption(f"Intervals are Bonferroni's for {len(found)} categories{left}")
    cards.votes_behind(chosen, name="weak")


def table(state: Screen) -> None:
    """All raters in one table, baselines that judge without looking among them, folded."""
    of = {judge.judge: judge for judge in state.found.judges}
    rows = [_judge_row(of[name], state) for name in state.raters]
    baselines = dummies(cached.vote_counts(state.selection), cached.length_counts(state.selection))
    rows += [
        _row(name, "dummy", "baseline", one.n) | {"exact": one.value}
        for name, one in baselines.items()
    ]
    # Of a baseline the items are not known, which would make them fractions.
    frame = pd.DataFrame(rows).astype({"items": "Int64"})
    numbers.table(frame, "raters", alt="Raters and their verdicts")


def _row(
    name: str, kind: str, verdict: str, votes: int, credit: Estimate | None = None
) -> dict[str, object]:
    row: dict[str, object] = {"rater": name, "kind": kind, "verdict": verdict, "votes": votes}
    ends = (credit.value, credit.low, credit.high, credit.n) if credit else (None,) * 4
    return row | dict(zip(("right", "low", "high", "items"), ends, strict=True))


def _judge_row(judge: JudgeAudit, state: Screen) -> dict[str, object]:
    auroc = judge[DISCRIMINATION]
    name, calibration = judge.judge, judge[CALIBRATION]
    verdict = f"{SIGNS[state.grade(name)]} {state.found.overall[name].verdict.replace('_', ' ')}"
    credit, exact = judge[CREDIT], judge[EXACT]
    row = _row(name, judge.rater_type, verdict, judge.votes.n, credit)
    row["exact"] = exact.value if exact else None
    row["ECE"] = calibration.ece if calibration else None
    row["AUROC"] = auroc.value if auroc else None
    flips = state.flips[name]
    row["flips"] = flips.value if flips else None
    return row


def reading() -> None:
    """How grades, verdicts and figures are read."""
    widgets.how_to_read(
        "**Picture.** One row per judge, best first by the low end of its interval; the chosen "
        "judge is in colour, the band is where people lie. Shaded zones are beyond a limit: *!* "
        "caution, *✗* failure.\n\nEvery check estimates one number with a 95 % interval by item "
        "and grades the **whole interval** by two limits: ✓ ok, all of it is within *caution*; ! "
        "warn, all of it is beyond *caution* (of a difference: it leaves out 0); ✗ fail, all of it "
        "is beyond *failure*; ~ unclear, none of these, with the number of items that would "
        "decide; ? unknown says what is missing. No grade turns on the estimate "
        "alone.\n\n**Verdict**, the first that holds. *Do not trust*: accuracy or position fails "
        "(without gold: agreement with people, or position), or too many outputs have no verdict. "
        "*Cannot say*: accuracy is unknown or may be below 60 % (without gold: agreement is not "
        "ok). *Trust*: accuracy, position and stability are ok, nothing warns or fails, and it is "
        "shown to be right on 80 %. *Trust with limits*: everything else. The card says what it "
        "may be used for: deciding one answer, measuring a rate, or sorting. Confidence has a line "
        "of its own and never causes *do not trust*.\n\nOf many checks some warn by chance. Where "
        "there are several judges, warnings are counted beside the number that judges without any "
        "fault would get, and a judge is named for a warning only if it survives a false discovery "
        "rate of 5 %. The best supported judge has the highest low end of its interval; people are "
        "no candidates.\n\n**Numbers.** *Right*: half credit on decided gold, right 1, tie ½, "
        "opposite 0, with *low* and *high* of its interval; guessing gets .5. *Exact*: share of "
        "votes with gold's very label. *ECE*: how far stated confidence is from the share right. "
        "*AUROC*: how often a right verdict is surer than a wrong one; .5 separates nothing. "
        "*Flips*: share of verdicts that change when the responses swap places. The baselines "
        "judge without looking: always the commonest gold label, at random, or for the longest "
        "answer."
    )
