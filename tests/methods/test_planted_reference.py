"""What is promised of who, which, follows and of what is decided alone, in a few cells of each
family; `python -m benchmarks.planted --only reference alone` draws all of them.
"""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, t

from benchmarks import planted, planted_alone, planted_reference
from benchmarks.planted_reference import ATTAINABLE, FAR, GOOD, attainable, drawn_cells, situations

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
    "right 0.86, 100",
    "good .95/.90, 300 labels, half of each verdict",
    "coin, 100 labels, equal classes",
    "60 labels of 300, by conversation",
    "100 labels of 1000, short",
    "300 answers, both err on 0.05",
)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_cell_is_as_promised(name: str) -> None:
    found = [one for one in situations() if one.name == name]
    assert found
    for one in found:
        cells, _ = drawn_cells(one, DRAWS, seed=1)
        for cell in cells:
            assert cell.z <= FAR, cell


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("overconfident P(yes)", 300),
        ("seven stated levels, 2 % wrong", 300),
        ("seven stated levels, 4 % wrong", 500),
        ("surest 7 % are its worst", 1000),
        ("200 conversations of 5, ICC 0.3 or 0.8", 1000),
    ],
)
def test_what_is_decided_alone_is_as_designed(name: str, n: int) -> None:
    (one,) = (
        each
        for each in planted_alone.populations()
        if (each.name, each.n) == (name, n) and each.wanted is not None
    )
    found = planted_alone.decided(one, 100, seed=1)
    assert not found.breaks
    assert one.wanted is not None
    assert found.share >= one.wanted - 0.02 - 3 * found.error


def test_the_walk_is_the_published_one() -> None:
    """61 answers allow two errors at .10, no fewer; with 60 nothing is decided."""
    sure = np.linspace(1, 0.5, 61)
    wrong = np.isin(np.arange(61), (5, 40))
    assert planted_alone.plain_walk(sure, wrong, 0.10) == 1.0
    assert planted_alone.plain_walk(sure[:60], wrong[:60], 0.10) == 0.0
    assert planted_alone.plain_walk(sure, wrong | (np.arange(61) == 50), 0.10) == 0.0


def test_what_can_be_reached_is_reckoned_without_the_methods() -> None:
    rng = np.random.default_rng(2)
    for (r, n), share in ATTAINABLE.items():
        draws = 4000
        error = math.sqrt(share * (1 - share) / draws)
        assert attainable(r, n, draws, rng) == pytest.approx(share, abs=4 * error), (r, n)
    for half, share in zip((30, 50, 150), GOOD["equal classes, said"], strict=True):
        shrink = t.ppf(0.975, half - 1) ** 2 / half
        p = np.arange(half + 1) / half
        low = p + shrink / 2 - np.sqrt(shrink * p * (1 - p) + shrink**2 / 4)
        fewest = int(np.argmax(low / (1 + shrink) >= 0.80))
        both = binom.sf(fewest - 1, half, 0.95) * binom.sf(fewest - 1, half, 0.90)
        assert both == pytest.approx(share, abs=5e-4)


@pytest.mark.parametrize("module", [planted_alone, planted_reference])
def test_what_is_drawn_shares_no_code_with_the_methods(module) -> None:
    """Names of `core` stand only in the functions that ask the product."""
    asking = {
        "audited",
        "audited_categories",
        "audited_pairs",
        "of_which",
        "of_second_look",
        "decided",
    }
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    ours = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("core")
        for name in node.names
    }
    assert ours
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name not in asking:
            names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            assert not names & (ours - {"Design"}), node.name


def test_the_command_prints_both_tables(capsys) -> None:
    planted.main(["--only", "alone", "--draws", "3", "--workers", "1"])
    printed = capsys.readouterr().out
    rows = re.findall(r"^\| (?!decided|-)", printed, flags=re.MULTILINE)
    assert len(rows) == len(planted_alone.populations())
    assert "21 shares of 3 draws" in printed
