"""Two judges, or one before and after: which is better on what both judged, and where they part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from core.finding.forest import forest, series
from core.questions.agreement.paired import (
    JudgeVotes,
    PairedJudges,
    compare_judges,
    pool_raters,
    share_codes,
)
from core.questions.agreement.words import DIFFERENCES, MEASURES, compared
from core.schema import Selection
from core.store import vote_queries as queries
from pages.shared import cached, cards, numbers, widgets

PEOPLE = "pool of people"
HERE = "this data set"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Side:
    """One of the two: its name, the raters whose votes it is, and which votes those are."""

    name: str
    raters: tuple[str, ...]
    selection: Selection

    @property
    def of_raters(self) -> Selection:
        """Only its raters, whatever the sidebar names."""
        return replace(self.selection, judges=self.raters, rater_types=None)

    def votes(self, selection: Selection) -> JudgeVotes:
        """Its votes with the codes of a selection that holds them."""
        counts, stated = cached.vote_counts(selection), cached.confidence_counts(selection)
        placed = cached.positions(selection)
        return pool_raters(
            [
                JudgeVotes(counts=counts[name], stated=stated[name], placed=placed.get(name))
                for name in self.raters
            ]
        )


def pair_section() -> None:
    """Choose two, then the answer, the differences, and the comparisons on which they part."""
    selection = widgets.current_selection()
    here = cached.raters(widgets.current_dataset())
    one_box, two_box, set_box = st.columns(3)
    voters = [name for name in here if name in cached.vote_counts(replace(selection, judges=None))]
    first = widgets.select("Judge", voters, start=voters[0], key="one", place=one_box)
    others = [found.name for found in cached.datasets() if found.name != widgets.current_dataset()]
    other = (
        widgets.select("In", [HERE, *others], start=HERE, key="beside", place=set_box)
        if others
        else HERE
    )
    there = selection if other == HERE else replace(selection, datasets=(other,))
    offered, people = _offered(there, without=first if other == HERE else None)
    if not offered:
        widgets.not_applicable(
            "a second rater is needed: another judge, people, or another data set."
        )
        return
    same = first if first in offered else offered[0]
    second = widgets.select("against", offered, start=same, key="two", place=two_box)
    one = _Side(name=first, raters=(first,), selection=selection)
    raters = people if second == PEOPLE else (second,)
    name = second if other == HERE else f"{second} ({other})"
    two = _Side(name=name, raters=raters, selection=there)
    _answer(one, two)


def _offered(selection: Selection, *, without: str | None) -> tuple[list[str], tuple[str, ...]]:
    """Raters with votes to compare with, people together among them, and who these people are."""
    counts = cached.vote_counts(replace(selection, judges=None, rater_types=None))
    kinds = cached.raters(str((selection.datasets or ("",))[0]))
    names = [name for name in counts if name != without]
    people = tuple(name for name in names if kinds[name] == "human")
    return [*names, *([PEOPLE] if len(people) > 1 else [])], people


def _answer(one: _Side, two: _Side) -> None:
    """The differences of two sides, and the comparisons on which they part."""
    apart = one.selection.datasets != two.selection.datasets
    both = replace(one.of_raters, judges=tuple(dict.fromkeys((*one.raters, *two.raters))))
    asked = [one.of_raters, two.of_raters] if apart else [both, both]
    first, second = one.votes(asked[0]), two.votes(asked[1])
    if apart:
        names = [cached.comparison_names(selection) for selection in asked]
        second = share_codes(second, names[1], first, names[0])
    key = (*asked, one.raters, two.raters)
    found = cached.computed("two judges", key, lambda: compare_judges(first, second))
    if not found.n:
        widgets.not_applicable(
            "both voted on no comparison: items and models must have the same names."
        )
        return
    widgets.answer(compared(one.name, two.name, found))
    _figure(found)
    st.subheader("Where they part", anchor=False)
    counts = {one.name: first.counts, two.name: second.counts}
    cards.comparisons(
        found.parted,
        counts,
        name="parted",
        selection=asked[0],
        votes_on=lambda row: _votes_on(row, [(one, asked[0]), (two, asked[1])]),
    )
    widgets.copy_as_python(_code(one, two, asked, apart=apart))


def _figure(found: PairedJudges) -> None:
    """Every difference with its interval, and the table."""
    known = {MEASURES[one.measure]: one for one in found.measures if one.difference}
    if known:
        drawn = series("difference", known, "difference", "{0.difference.n:,} items", key=None)
        fig = forest([drawn], "first minus second", reference=0, theme=widgets.current_look())
        widgets.figure(fig, "differences", alt="Differences of the two with their intervals")
    widgets.how_to_read(
        "Each mark is the first minus the second on the items that both have, with a 95 % interval "
        "that pairs by item: right of the line the first has more of it. *Right* is half credit on "
        "decided gold: more is better. *Changed by order*, *squared error of its confidence* "
        "(Brier) and *overconfidence* (stated confidence minus the share right): nearer to 0 is "
        "better. Where an interval leaves out 0, the two are shown to differ."
    )
    numbers.show(
        DIFFERENCES, found.measures, "differences", found.to_frame, alt="Differences of the two"
    )


def _votes_on(row: Mapping[str, str], sides: list[tuple[_Side, Selection]]) -> pd.DataFrame:
    """Votes of both sides on the comparison of a row; other data sets know it by the same names."""
    found: list[pd.DataFrame] = []
    for side, selection in sides:
        models, items = (row["model_a"], row["model_b"]), (row["item_id"],)
        mark = queries.Mark(judges=side.raters, models=models, items=items)
        votes = cached.votes_behind(selection, mark=mark, limit=cards.SHOWN).to_pandas()
        found.append(votes if len(side.raters) > 1 else votes.assign(judge=side.name))
    return pd.concat(found, ignore_index=True)


def _code(one: _Side, two: _Side, asked: list[Selection], *, apart: bool) -> str:
    """The same numbers in Python."""
    parts = []
    for name, side, selection in (("one", one, asked[0]), ("two", two, asked[1])):
        given = ", ".join(widgets.arguments(selection))
        parts += [
            f"asked_{name} = Selection({given})",
            f"counts = queries.vote_counts(store, asked_{name})",
            f"stated = queries.confidence_counts(store, asked_{name})",
            f"placed = queries.positions(store, asked_{name})",
            "votes = [",
            "    JudgeVotes(counts=counts[name], stated=stated[name], placed=placed.get(name))",
            f"    for name in {side.raters!r}",
            "]",
            f"{name} = pool_raters(votes)",
        ]
    if apart:
        parts.append(
            "names = [queries.comparison_names(store, asked) for asked in (asked_one, asked_two)]"
        )
        parts.append("two = share_codes(two, names[1], one, names[0])")
    return "\n".join(
        [
            *parts,
            "for row in compare_judges(one, two).measures:",
            "    print(row.measure, row.difference)",
        ]
    )
