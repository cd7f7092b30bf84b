"""Intervals of checks where few items have the votes or the differences: `benchmarks.coverage`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from levels import first_of

from benchmarks import coverage_votes as worlds
from benchmarks.coverage import cells, intervals


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "setting", "items", "votes"),
    first_of(
        # Added items of the labels at hand hold .75, and of average size .81.
        ("κ", "right on 90% and 85%, A right in 85%", 10, "1 each"),
        # With as many degrees of freedom as items these hold .73, .74, .63 and .85.
        ("confidence gap", "states +10%, alike 0.8", 30, "1 or 40"),
        ("AUROC", "states +10%, alike 0.8", 30, "1 or 40"),
        ("ICC(3,2)", "A in 80%, alike 0.4", 10, "2 each"),
        ("people's rate", "5 people right on 75%", 30, "1 or 40"),
        ("κ", "right on 90% and 85%, A right in 85%", 100, "1 or 40"),
        # Without a coin beside the items seen: .81.
        ("coin share", "coin on 5%, else 90% for one side", 40, "40 each"),
    ),
)
def test_an_interval_holds_where_few_items_decide(
    name: str, setting: str, items: int, votes: str
) -> None:
    """300 data sets of a generator that shares no code with the methods; two standard errors of
    .95 are .025.
    """
    (interval,) = (each for each in intervals() if each.name == name)
    found = replace(
        interval,
        worlds=tuple(world for world in interval.worlds if world.setting == setting),
        votes=tuple(each for each in interval.votes if each.name == votes),
        least=items,
    )
    (cell,) = (cell for cell in cells(found, draws=300) if cell.items == items)
    assert cell.known >= 100
    assert cell.share >= 0.925


@pytest.mark.thorough
def test_a_preference_holds_where_gold_is_hardly_ever_against_it() -> None:
    """Ten of 100 items decide; with added items of average weight 95 % hold .82."""
    (interval,) = (each for each in intervals() if each.name == "own family")
    world = worlds.towards(0.0, 0.9, worlds.Rates(mean=0.85, alike=0.8))
    found = replace(interval, worlds=(world,), votes=interval.votes[1:2], least=100)
    (cell,) = cells(found, draws=300)
    assert cell.known >= 200
    assert cell.share >= 0.93
