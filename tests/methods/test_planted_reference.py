"""What is promised of who, which, follows and of what is decided alone, in a few cells of each
family; `python -m benchmarks.planted --only reference alone` draws all of them.
"""

from __future__ import annotations

import pytest

from benchmarks.planted_reference import FAR, drawn_cells, situations

pytestmark = pytest.mark.thorough

DRAWS = 60
CHOSEN = (
    "always 3, 2 of r 0.5, 300",
    "coin of 5, 3 of r 0.8, 300",
    "inverted, 2 of r 0.8, 60",
    "as a person, 2 of r 0.65, 100",
    "half as good, 2 of r 0.65, 100",
    "clean .96/.93, 300",
    "leaky .95/.68, 300",
    "weak .75/.65, 2 people erring 0.2, 300",
    "good .95/.90, 300 labels, half of each verdict",
    "coin, 100 labels, equal classes",
    "300 answers, both err on 0.05",
    "seven levels, 2 %, α 0.05, 300",
    "surest are worst, α 0.1, 1000",
    "200 conversations of 5, ICC 0.8, α 0.1",
)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_cell_is_as_promised(name: str) -> None:
    found = [one for one in situations() if one.name == name]
    assert found
    for one in found:
        cells, _ = drawn_cells(one, DRAWS, seed=1)
        for cell in cells:
            assert cell.z <= FAR, cell
