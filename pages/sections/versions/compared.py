"""Two versions of a judge, or two judges of single answers: which is better on what both judged,
and where they part.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.finding.answer import Answer
from core.finding.forest import forest, series
from core.questions.agreement.paired import JudgeVotes, compare_judges
from core.questions.versions.ask import parted_answers
from core.questions.versions.audit import compared, families, in_order
from core.questions.versions.results import FIGURES, Comparison
from core.schema import Selection
from pages.shared import cached, cards, evidence, numbers, widgets
from pages.shared.limits import current_options


def versions_here() -> dict[str, list[str]]:
    """Judge → its versions in the store, of those judges of this data set that have several."""
    if widgets.elsewhere():
        return {}
    every = {
        name
        for each in cached.stored()
        for name, kind in cached.raters(each.name).items()
        if kind != "human"
    }
    here = cached.raters(widgets.current_dataset()).keys()
    found = families(sorted(every, key=in_order))
    return {family: each for family, each in found.items() if here & {*each}}


def chosen_versions() -> tuple[str, str]:
    """The older and the newer version that the visitor chooses; at first the last of a judge over
    its first.
    """
    versions = versions_here()
    newer_box, older_box = st.columns(2)
    later = [name for each in versions.values() for name in each[1:]]
    last = next(iter(versions.values()))[-1]
    newer = widgets.select("Version", later, start=last, key="newer", place=newer_box)
    family = next(each for each in versions.values() if newer in each)
    older = [name for name in family if name != newer]
    first = widgets.select("over", older, start=older[0], key="older", place=older_box)
    return first, newer


def versions_tab() -> None:
    """Choose two versions, then the answer, the differences, and what the two part on."""
    judges = chosen_versions()
    held = [each.name for each in cached.stored() if {*judges} & {*cached.raters(each.name)}]
    _answered(judges, Selection(datasets=tuple(held)))


def scorers() -> list[str]:
    """The judges of single answers of the data set, v10 behind v2."""
    people = widgets.current_people()
    names = {rater.name for rater in cached.summary(widgets.current_selection()).scores}
    return sorted(names - {*people}, key=in_order)


def scorers_section() -> None:
    """Choose two judges of single answers; at first the last over the first."""
    names = scorers()
    newer_box, older_box = st.columns(2)
    newer = widgets.select(
        "Judge of answers", names, start=names[-1], key="scorer", place=newer_box
    )
    others = [name for name in names if name != newer]
    older = widgets.select("beside", others, start=others[0], key="other_scorer", place=older_box)
    _answered((older, newer), replace(widgets.current_selection(), judges=None))


def _answered(judges: tuple[str, str], selection: Selection) -> None:
    """What is said of two judges, their differences, and what they part on."""
    options, about = current_options(), cached.summary(selection)
    found = cached.computed(
        "versions",
        (selection, options, judges),
        lambda: compared(
            cached.get_store(),
            selection,
            judges,
            tuple(cached.vote_counts(selection)) if about.votes else (),
            [each.evidence.scores for each in evidence.scores(selection, options)]
            if about.scores
            else (),
            level=options.level,
        ),
    )
    if not found:
        widgets.not_applicable(f"{judges[0]} and {judges[1]} did not judge the same answers.")
    for each in found:
        _shown(each, selection)


def _shown(found: Comparison, selection: Selection) -> None:
    about = found.metric or "votes"
    headline, figures, then = found.answer()
    good = found.decision == "better"
    answer = Answer(headline=f"{headline}.", figures=figures, good=good)
    widgets.answer(answer, part=f"-versions-{about}")
    for sentence in filter(None, (then, *found.sentences()[1:])):
        st.text(sentence)
    known = {FIGURES[each.figure]: each for each in found.figures if each.difference}
    if known:
        drawn = series("difference", known, "difference", "{0.difference.n:,} items", key=None)
        fig = forest(
            [drawn], f"{found.new} minus {found.old}", reference=0, theme=widgets.current_look()
        )
        widgets.figure(fig, f"versions-{about}", alt="Differences, with intervals")
    numbers.table(found.to_frame(), f"versions-{about}", alt="Figures of both")
    st.subheader("Where they part", anchor=False)
    if found.metric is None:
        _parted_votes(found, selection)
        return
    with cached.get_store().snapshot() as moment:
        rows = parted_answers(moment, selection, (found.old, found.new), found.metric)
    if rows:
        numbers.table(pd.DataFrame(rows), f"parted-{about}", alt="Answers on which the two part")
    else:
        st.text("Nowhere that may be read: what is sealed for proofs is in no list.")


def _parted_votes(found: Comparison, selection: Selection) -> None:
    of_both = replace(selection, judges=(found.old, found.new))
    counts, stated = cached.vote_counts(of_both), cached.confidence_counts(of_both)
    old, new = (
        JudgeVotes(counts=counts[name], stated=stated[name]) for name in (found.old, found.new)
    )
    cards.comparisons(
        compare_judges(new, old).parted, counts, name="parted-versions", selection=of_both
    )
