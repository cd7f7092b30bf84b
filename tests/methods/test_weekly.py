"""Several files of one judge: intervals hold the truth, and `one_judge` says which judge changed.
`python -m benchmarks.weekly` has more draws.
"""

import numpy as np
import pytest

from benchmarks import weekly
from core.questions.one_judge.method import FEWEST_ITEMS, between_files
from core.records import ByFile


def judged(*files: np.ndarray, first: tuple[int, ...] | None = None) -> ByFile:
    """Shares right on items 0, 1, … of each file, from `first` on."""
    first = first or (0,) * len(files)
    right = np.concatenate(files).astype(float)
    starts = zip(first, files, strict=True)
    return ByFile(
        files=tuple(f"week{k}" for k in range(1, len(files) + 1)),
        file=np.repeat(np.arange(len(files)), [len(file) for file in files]),
        item=np.concatenate([start + np.arange(len(file)) for start, file in starts]),
        right=right,
        said=2 * right - 1,
        said_is="vote",
    )


def test_a_difference_is_paired_by_common_items():
    before, after = np.array([1] * 80 + [0] * 20), np.array([1] * 60 + [0] * 40)
    found = between_files(judged(before, after))
    assert found is not None
    assert (found.before, found.after, found.pairs) == (0.8, 0.6, 1)
    assert found.difference.value == pytest.approx(-0.2)
    assert found.difference.level == pytest.approx(0.99)
    assert found.shown
    assert between_files(judged(before, after, first=(0, 100 - FEWEST_ITEMS + 1))) is None
    part = between_files(judged(before, after, first=(0, 100 - FEWEST_ITEMS)))
    assert part is not None
    assert (part.before, part.after, part.difference.n) == (0.0, 1.0, FEWEST_ITEMS)


def test_of_several_files_the_two_that_differ_most():
    steady, fell = np.tile([1, 1, 1, 0], 30), np.tile([1, 0, 0, 0], 30)
    found = between_files(judged(steady, steady, fell))
    assert found is not None
    assert (found.earlier, found.later, found.pairs) == ("week1", "week3", 3)
    assert found.difference.level == pytest.approx(1 - 0.01 / 3)
    alike = between_files(judged(steady, steady, steady))
    assert alike is not None
    assert not alike.shown


def test_without_labels_votes_are_compared():
    before, after = np.array([1] * 80 + [0] * 20), np.array([1] * 60 + [0] * 40)
    votes = judged(before, after)
    unlabelled = ByFile(
        files=votes.files,
        file=votes.file,
        item=votes.item,
        right=np.full(len(votes.right), np.nan),
        said=votes.said,
        said_is="vote",
    )
    found = between_files(unlabelled)
    assert found is not None
    assert (found.measure, found.before, found.after) == ("vote", 0.6, pytest.approx(0.2))


@pytest.mark.thorough
def test_intervals_of_eight_weeks_hold_the_truth():
    held, wider, warned = weekly.steady(40, seed=5)
    # Of 40 draws .95 is .875 or more in 97 of 100 cases.
    assert held >= 0.875
    assert wider <= 0.05
    assert warned <= 0.05


@pytest.mark.thorough
def test_a_judge_that_fell_is_two_judges():
    assert weekly.warnings(40, fall=0.15, hard=weekly.FEW_HARD, seed=6) >= 0.9
    assert weekly.warnings(40, fall=0.0, seed=7) <= 0.05


@pytest.mark.thorough
@pytest.mark.parametrize("levels", [2, 5])
def test_labels_tell_the_same_items_from_others(levels: int):
    for common, other in ((10, 0.12), (20, 0.05), (50, 0.01)):
        assert weekly.joined(1000, common=common, same=True, levels=levels) >= 0.99
        assert weekly.joined(1000, common=common, same=False, levels=levels) <= other
