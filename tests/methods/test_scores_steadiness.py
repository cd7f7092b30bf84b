"""Length, categories, repeats and recalibration of scores of single answers."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from levels import first_of
from scipy.stats import ttest_ind
from score_draws import levels, panel, score_rows
from sklearn.isotonic import IsotonicRegression

from core.errors import InvalidOption, TooFewLabels
from core.questions.scores.drift import drift
from core.questions.scores.length import length_effect
from core.questions.scores.recalibration import recalibrate_scores
from core.questions.scores.repeatability import repeatability
from core.questions.scores.table import ScoreTable

# Length.


def long_answers(
    rng: np.random.Generator, n: int, *, taste: float, people: int, noise: float = 0.5
) -> ScoreTable:
    """Scores of −5 to 5 where long answers are better ones, and the judge adds `taste` per SD."""
    quality = rng.normal(size=n)
    length = 300 + 100 * (0.4 * quality + np.sqrt(1 - 0.4**2) * rng.normal(size=n))
    judge = quality + taste * (length - 300) / 100 + noise * rng.normal(size=n)
    given = quality[:, None] + noise * rng.normal(size=(n, people))
    return ScoreTable.of(
        np.clip(judge, -5, 5), np.clip(given, -5, 5), low=-5, high=5, length=length
    )


def test_slopes_are_least_squares() -> None:
    table = long_answers(np.random.default_rng(0), 200, taste=0.3, people=1)
    z = (table.length - table.length.mean()) / table.length.std()
    j, h = table.judge / 10, table.people[:, 0] / 10
    found = length_effect(table)
    assert found.raw.value == pytest.approx(np.polyfit(z, j - h, 1)[0])
    design = np.stack([np.ones(200), h, z], axis=1)
    assert found.partial.value == pytest.approx(np.linalg.lstsq(design, j)[0][2])
    assert found.sd == pytest.approx(table.length.std())
    assert found.instrumented is None
    left = np.array(
        [
            np.linalg.lstsq(np.delete(design, one, axis=0), np.delete(j, one))[0][2]
            * np.delete(z, one).std()
            for one in range(200)
        ]
    )
    error = np.sqrt(199 / 200 * ((left - left.mean()) ** 2).sum())
    assert found.partial.high - found.partial.value == pytest.approx(1.971957 * error, rel=1e-5)


def test_one_person_instruments_the_other() -> None:
    """Two-stage least squares, both ways round, by matrices."""
    table = long_answers(np.random.default_rng(1), 150, taste=0.2, people=3)
    z = (table.length - table.length.mean()) / table.length.std()
    people = table.people / 10
    slopes = []
    for person in range(3):
        others = np.delete(people, person, axis=1).mean(axis=1)
        for one, two in ((people[:, person], others), (others, people[:, person])):
            x, w = (np.stack([np.ones(150), side, z], axis=1) for side in (one, two))
            slopes.append(np.linalg.solve(w.T @ x, w.T @ (table.judge / 10))[2])
    found = length_effect(table)
    assert found.instrumented.value == pytest.approx(np.mean(slopes))
    assert found.instrumented.n == 150


@pytest.mark.thorough
@pytest.mark.parametrize("people", first_of(3, 2))
def test_noise_of_people_is_no_taste_for_length(people: int) -> None:
    """Without a taste the instrumented slope is 0, and that of least squares is not; with one it
    is found.
    """
    rng = np.random.default_rng(2)
    outside = held = 0
    for _ in range(150):
        fair = length_effect(long_answers(rng, 150, taste=0.0, people=people, noise=0.8))
        outside += fair.instrumented is not None and fair.instrumented.excludes(0)
        loving = length_effect(long_answers(rng, 150, taste=0.5, people=people))
        # A tenth of the scale is one of its points.
        held += loving.instrumented.low < 0.05 < loving.instrumented.high
    assert outside <= 15
    assert held >= 133
    large = length_effect(long_answers(rng, 20_000, taste=0.0, people=people, noise=0.8))
    assert large.partial.low > 0.005
    assert not large.instrumented.excludes(0)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (None, "not known"),
        (np.full(20, 3.0), "equally long"),
        (np.r_[np.arange(9.0), np.full(11, np.nan)], "there are 9"),
    ],
)
def test_lengths_that_say_nothing(length: np.ndarray | None, words: str) -> None:
    table = ScoreTable.of(np.arange(20) % 5, np.arange(20) % 4, length=length)
    found = length_effect(table)
    assert found.raw is found.partial is None
    assert words in found.reason


def test_people_who_do_not_agree_are_no_instrument() -> None:
    rng = np.random.default_rng(3)
    table = ScoreTable.of(
        rng.integers(1, 6, 60), rng.integers(1, 6, (60, 2)), length=rng.normal(size=60)
    )
    found = length_effect(table)
    assert found.instrumented is None
    assert "not shown to agree" in found.reason


# Categories.


def test_one_answer_per_unit_is_welch() -> None:
    rng = np.random.default_rng(4)
    _, judge, people = panel(rng, 120)
    category = rng.integers(0, 3, 120)
    judge = np.where(category == 1, np.minimum(judge + 1, 5), judge)
    table = ScoreTable.of(
        judge, people, low=1, high=5, category=category, categories=("code", "math", "chat")
    )
    found = drift(table)
    share = (judge - people[:, 0]) / 4
    assert [one.group for one in found.groups] == ["code", "math", "chat"]
    for code, one in enumerate(found.groups):
        inside = category == code
        welch = ttest_ind(share[inside], share[~inside], equal_var=False)
        ends = welch.confidence_interval(1 - 0.05 / 3)
        assert one.difference.value == pytest.approx(share[inside].mean() - share[~inside].mean())
        assert one.difference.low == pytest.approx(ends.low)
        assert one.difference.high == pytest.approx(ends.high)
        assert one.bias == pytest.approx(share[inside].mean())
        assert one.difference.level == pytest.approx(1 - 0.05 / 3)
    assert found.worst.group == "math"


def test_units_count_and_not_answers() -> None:
    """Three equal answers per conversation: the interval of one each."""
    rng = np.random.default_rng(5)
    _, judge, people = panel(rng, 60)
    category = np.arange(60) % 2
    one = drift(ScoreTable.of(judge, people, low=1, high=5, category=category))
    tripled = ScoreTable.of(
        np.repeat(judge, 3),
        np.repeat(people, 3, axis=0),
        low=1,
        high=5,
        category=np.repeat(category, 3),
        unit=np.repeat(np.arange(60), 3),
    )
    for alone, three in zip(one.groups, drift(tripled).groups, strict=True):
        assert three.difference.low == pytest.approx(alone.difference.low)
        assert three.difference.n == 30


def test_pairs_within_a_unit_take_its_share_out() -> None:
    """A conversation in both categories at once: its own leniency cancels in the difference."""
    rng = np.random.default_rng(6)
    own = rng.normal(size=50)
    share = np.concatenate([own, own + 0.1 + 0.01 * rng.normal(size=50)])
    table = ScoreTable.of(
        share, np.zeros(100), low=-10, high=10, same_scale=True,
        unit=np.tile(np.arange(50), 2), category=np.repeat([0, 1], 50),
    )  # fmt: skip
    found = drift(table).groups[1].difference
    assert found.low < 0.1 / 20 < found.high
    assert found.high - found.low < 0.001


def test_leniency_of_four_policies(shared_data: Path) -> None:
    """Scores of 0 to 1 with an oracle beside; means by independent code."""
    rows = [row for row in score_rows(shared_data, "cje_arena.csv.gz") if row["gold"]]
    policies, policy = np.unique([row["model"] for row in rows], return_inverse=True)
    item = np.unique([row["item_id"] for row in rows], return_inverse=True)[1]
    judge, gold = ([float(row[name]) for row in rows] for name in ("score", "gold"))
    table = ScoreTable.of(judge, gold, unit=item, low=0, high=1)
    found = drift(table, group=policy, names=[str(name) for name in policies])
    published = {
        "base": 0.0856,
        "clone": 0.0868,
        "parallel_universe_prompt": 0.0636,
        "unhelpful": 0.1334,
    }
    assert {one.group: round(one.bias, 4) for one in found.groups} == published
    assert found.worst.group == "unhelpful"


def test_small_categories_are_named() -> None:
    rng = np.random.default_rng(7)
    _, judge, people = panel(rng, 40)
    category = np.r_[np.zeros(31, dtype=int), np.ones(9, dtype=int)]
    table = ScoreTable.of(judge, people, category=category, categories=("code", "rare"))
    found = drift(table)
    assert found.groups == ()
    assert found.small == ("code", "rare")
    assert "10 items each" in found.reason
    assert "no categories" in drift(ScoreTable.of(judge, people)).reason
    months = drift(ScoreTable.of(judge, people), group=np.arange(40) // 20, names=("May", "June"))
    assert [one.group for one in months.groups] == ["May", "June"]


def test_fair_judges_seldom_drift() -> None:
    rng = np.random.default_rng(8)
    alarms = 0
    for _ in range(200):
        _, judge, people = panel(rng, 100)
        category = rng.integers(0, 5, 100)
        found = drift(ScoreTable.of(judge, people, low=1, high=5, category=category))
        alarms += any(one.difference.excludes(0) for one in found.groups)
    assert alarms <= 19


# Repeats.


def test_repeatability_is_that_of_another_library() -> None:
    import pandas as pd
    import pingouin

    rng = np.random.default_rng(9)
    quality = rng.normal(size=40)
    runs = np.stack([levels(quality, rng, 0.6) for _ in range(4)], axis=1)
    long = pd.DataFrame(runs).reset_index().melt("index", var_name="run", value_name="score")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = pingouin.intraclass_corr(long, targets="index", raters="run", ratings="score")
    value = dict(zip(rows["Type"], rows["ICC"], strict=True))
    found = repeatability(runs)
    single, mean = ("ICC3", "ICC3k") if "ICC3" in value else ("ICC(C,1)", "ICC(C,k)")
    assert found.icc_3_1.value == pytest.approx(value[single], abs=1e-9)
    assert found.icc_3_k.value == pytest.approx(value[mean], abs=1e-9)
    assert found.icc_3_1.low < found.icc_3_1.value < found.icc_3_1.high


def test_answers_with_fewer_runs_are_left_out() -> None:
    rng = np.random.default_rng(10)
    quality = rng.normal(size=30)
    runs = np.stack([levels(quality, rng, 0.6) for _ in range(3)], axis=1)
    gaps = np.column_stack([np.full(30, np.nan), runs])
    gaps[:5, 2] = np.nan
    gaps[5:7] = np.nan
    found = repeatability(gaps)
    assert found.k == 3
    assert found.n_comparisons == 23
    assert found.icc_3_1.value == pytest.approx(repeatability(runs[7:]).icc_3_1.value)
    once = repeatability(runs[:, :1])
    assert once.icc_3_1 is None
    assert "answers with 2 runs" in once.reason


# Recalibration.


def test_a_map_takes_leniency_and_compression_out() -> None:
    rng = np.random.default_rng(11)
    quality, _, people = panel(rng, 300, people=2)
    judge = np.clip(4 + 0.4 * quality + 0.2 * rng.normal(size=300), 1, 5)
    found = recalibrate_scores(ScoreTable.of(judge, people, low=1, high=5), rng=rng)
    assert found.bias_before > 0.2
    assert abs(found.bias_after) < 0.02
    assert found.error_after < 0.6 * found.error_before
    assert found.helps
    assert (np.diff(found.mapped) >= 0).all()
    fair = recalibrate_scores(
        ScoreTable.of(levels(quality, rng, 0.1), people, low=1, high=5), rng=rng
    )
    assert not fair.helps


def test_the_map_is_that_of_another_library_and_held_out_by_unit() -> None:
    rng = np.random.default_rng(12)
    _, judge, people = panel(rng, 80)
    judge += 0.1 * rng.normal(size=80)
    unit = np.arange(80) // 2
    table = ScoreTable.of(judge, people, unit=unit, low=0, high=6, same_scale=True)
    found = recalibrate_scores(table, rng=np.random.default_rng(3), folds=5)
    fold = (np.random.default_rng(3).permutation(40) % 5)[unit]
    for one in range(5):
        out = fold == one
        other = IsotonicRegression(out_of_bounds="clip").fit(judge[~out], people[~out, 0])
        assert found.recalibrated[out] == pytest.approx(other.predict(judge[out]))
    apart = (found.recalibrated - people[:, 0]) / 6
    assert found.error_after == pytest.approx(np.sqrt((apart**2).mean()))
    assert found.change.n == 40


def test_levels_become_shares_that_pass() -> None:
    rng = np.random.default_rng(13)
    quality, judge, _ = panel(rng, 400)
    found = recalibrate_scores(ScoreTable.of(judge, (quality > 0).astype(float)), rng=rng)
    assert found.change is None
    assert found.error_before is None
    assert 0 <= found.mapped.min() < 0.1
    assert 0.9 < found.mapped.max() <= 1


def test_few_answers_have_no_map() -> None:
    table = ScoreTable.of(np.arange(29) % 5, np.arange(29) % 5)
    with pytest.raises(TooFewLabels, match="there are 29 of 29"):
        recalibrate_scores(table, rng=np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="folds: 1"):
        recalibrate_scores(table, rng=np.random.default_rng(0), folds=1)
