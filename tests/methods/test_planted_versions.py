"""What is promised of versions, in a few cells; `python -m benchmarks.planted --only versions` draws
all of them.
"""

from __future__ import annotations

import pytest

from benchmarks.planted_reference import FAR, drawn_cells
from benchmarks.planted_versions import MOST, families

pytestmark = pytest.mark.thorough

CHOSEN = (
    "40 edits that change nothing",
    "11 fixed, 3 broken of 100, try 1",
    "file of 200 sealed labels, try 1",
    "a judge beside itself",
    "interval of pairs, 120 items, 10% parted",
    "interval of levels, 30 items, 14% parted",
)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_cell_is_as_promised(name: str) -> None:
    (one,) = (each for each in families() if each.name == name)
    cells, _ = drawn_cells(one, 60, seed=1)
    for cell in cells:
        assert cell.z <= FAR, cell


def test_eight_points_take_about_24_labels() -> None:
    (one,) = (each for each in families() if each.name == "11 fixed, 3 broken of 100, try 1")
    (cell,), labels = drawn_cells(one, 150, seed=2)
    assert cell.seen >= 0.90
    assert labels * MOST <= 30
