"""One item of a paper: what it shows, where it stands here, and how ours differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..stats.estimate import DataFrame
from .asked import Asked

PAPERS = {
    "BTD": "Distribution-calibrated aggregation",
    "TH": "Overconfidence and fusers",
    "PCF": "Permutation consensus",
    "RAEE": "Anchored Elo",
}
"""Key of a paper, as in docs/methods.md → what it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A table, figure, equation or protocol of a paper.

    paper : key of `PAPERS`.  number : as the paper has it.  shows : in our words.
    page, tab : where the app shows it at length; the view Papers prints `table` besides.
    table : makes it of a user's votes, scores or rankings.  columns : of the table that the caption
        names.
    command : where it is not `papers VOTES`, as it asks a model or draws votes.
    field : in the JSON of an audit.
    ours : where ours differs from the paper or fills in what it leaves open, and why.
    differs : the paper is definite, and ours is another.  lacks : what is missing here, and why.
    part_of : number of the item with which it is counted as one.
    """

    paper: str
    number: str
    shows: str
    page: str = ""
    tab: str = ""
    table: Callable[[Asked], DataFrame] | None = None
    columns: tuple[str, ...] = ()
    command: str = ""
    field: str = ""
    ours: str = ""
    differs: bool = False
    lacks: str = ""
    part_of: str = ""

    @property
    def name(self) -> str:
        """As it is asked for: `BTD Table 2`."""
        return f"{self.paper} {self.number}"

    @property
    def on_page(self) -> bool:
        """Whether it stands whole in the app."""
        return bool(self.page or self.table) and not self.lacks and not self.differs

    @property
    def by_command(self) -> bool:
        """Whether a command gives it whole."""
        return bool(self.told) and not self.lacks and not self.differs

    @property
    def told(self) -> str:
        """The command, without the program's name."""
        if self.command:
            return self.command
        return f'papers VOTES --item "{self.name}"' if self.table else ""


PROMPTS = "the words of prompts are ours: the papers' are theirs"


def place(paper: str, page: str = "", tab: str = "") -> Callable[..., Item]:
    """Maker of items of a paper that stand on one page and tab, by number and what is shown."""

    def item(
        number: str,
        shows: str,
        table: Callable[[Asked], DataFrame] | None = None,
        columns: tuple[str, ...] = (),
        **more: Any,
    ) -> Item:
        return Item(
            paper=paper,
            number=number,
            shows=shows,
            page=page,
            tab=tab,
            table=table,
            columns=columns,
            **more,
        )

    return item
