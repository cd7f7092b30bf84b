"""Can I trust this judge? One row a rater."""

from pages.shared import cached, widgets

widgets.title("Overview", "Can I trust this judge?")
summary = cached.summary(widgets.current_selection())
widgets.answer(
    f"{len(summary.judges)} raters cast {summary.votes:,} votes on {summary.comparisons:,} comparisons of "
    f"{summary.items:,} items; {summary.unparsed:,} more calls failed and are left out."
)
widgets.table(summary.to_frame(), "raters", alt="Raters and their votes")
