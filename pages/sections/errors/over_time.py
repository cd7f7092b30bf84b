"""How often the chosen judge is right in each period, where a column of the file has dates."""

from __future__ import annotations

import numpy as np

from core.finding.forest import forest, series
from core.questions.accuracy.method import PERIOD_ITEMS, by_period, over_time
from core.questions.agreement.words import over_time_answer
from core.store.vote_queries import dated_columns, vote_counts_by
from pages.sections.errors.tables import PageState
from pages.shared import cached, cards, widgets
from pages.shared.limits import current_options


def over_time_section(state: PageState) -> None:
    """Nothing where no column has dates."""
    selection, judge = state.selection, state.judge
    columns = cached.computed(
        "dated columns", (selection,), lambda: dated_columns(*cached.where(selection))
    )
    if not columns:
        widgets.not_applicable("no column of the file has dates.")
        return
    column = columns[0]
    if len(columns) > 1:
        column = widgets.select("Column of dates", columns, start=column, key="time-column")
    days = cached.computed(
        "votes by day",
        (selection, column),
        lambda: vote_counts_by(*cached.where(selection), column, days=True),
    )
    own = {day: of_judge[judge] for day, of_judge in days.items() if judge in of_judge}
    found = over_time(own, level=current_options().level)
    if not found:
        widgets.not_applicable(
            f"{column} does not tell two periods with {PERIOD_ITEMS} labelled items each."
        )
        return
    widgets.answer(over_time_answer(judge, found), part="-time")
    rows = series("right", found, "", "{0.n:,} items")
    styles, theme = state.styles[judge], state.look
    fig = forest([rows], "share right", reference=0.5, unit="%", styles=styles, theme=theme)
    of_period = by_period(own)
    marks = {
        period: cards.mark_of(np.unique(of_period[period].comparison), judge) for period in found
    }
    chosen = widgets.figure(fig, "when", alt="Share right in each period", marks=marks)
    widgets.how_to_read(
        "Half credit on decided gold (right 1, tie ½, opposite 0) by item. Periods are days, "
        "weeks, months, quarters or years, the finest of which there are at most twelve; intervals "
        "are Bonferroni's for their number, so that two that do not overlap differ. Other "
        "questions at another time move this too: `--series` compares files on the same items."
    )
    cards.votes_behind(chosen, name="when")
