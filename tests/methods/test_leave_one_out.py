"""Human leave-one-out against plain loops, on real votes, and its laws."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raters import rater
from scipy.stats import binom

from core.errors import UnknownName
from core.questions.agreement import judge_vs_human
from core.questions.agreement.judge_vs_human import leave_one_out
from core.questions.labels.btd import held_out_labels
from core.records import VoteCounts

SEED = 0


def rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def mode(labels: list[int]) -> int:
    (first, n), *rest = Counter(labels).most_common()
    return 0 if rest and rest[0][1] == n else first


def real(shared_data: Path, name: str) -> tuple[dict[str, dict[int, int]], list[str]]:
    frame = pd.read_csv(shared_data / "votes" / f"{name}.csv.gz")
    frame["code"] = pd.factorize(
        frame["item_id"] + "|" + frame["model_a"] + "|" + frame["model_b"]
    )[0]
    labels = {
        str(judge): dict(zip(rows["code"], rows["vote"], strict=True))
        for judge, rows in frame.groupby("judge")
    }
    return labels, sorted(frame.loc[frame["rater_type"] == "human", "judge"].unique())


def check_pandalm_against_plain_loops(shared_data: Path) -> None:
    """Three people agree with the mode of the other two far more often than either judge does."""
    labels, humans = real(shared_data, "pandalm")
    found = leave_one_out({name: rater(one) for name, one in labels.items()}, humans, rng=rng())
    for contest in found.judges:
        if contest.rule == "BTD":
            continue
        others = [labels[name] for name in humans if name != contest.human]
        shared = labels[contest.human].keys() & labels[contest.judge].keys()
        gold = {code: mode([one[code] for one in others]) for code in shared}
        assert contest.n == len(shared)
        for name, value in ((contest.human, contest.human_pa), (contest.judge, contest.judge_pa)):
            assert value == pytest.approx(
                np.mean([labels[name][code] == gold[code] for code in shared])
            )
    assert not any(contest.wins for contest in found.judges)
    assert [round(row.pa.value, 4) for row in found.humans] == [0.8879, 0.8959, 0.8959]


def check_wmt23_has_people_only(shared_data: Path) -> None:
    """Ten raters, three a comparison: gold is the mode of the other two on the rater's own
    comparisons.
    """
    labels, humans = real(shared_data, "wmt23_ende_humans")
    found = leave_one_out({name: rater(one) for name, one in labels.items()}, humans, rng=rng())
    assert found.judges == ()
    assert len(found.to_frame()) == 0
    assert sum(row.n for row in found.humans) == 1560
    for row in found.humans:
        right = [
            label
            == mode(
                [
                    labels[name][code]
                    for name in humans
                    if name != row.human and code in labels[name]
                ]
            )
            for code, label in labels[row.human].items()
        ]
        assert row.pa.value == pytest.approx(np.mean(right))
        assert row.pa.low < row.pa.value < row.pa.high


def simulated(n: int = 400, noise: float = 0.3) -> dict[str, VoteCounts]:
    """Three people who err in `noise` of the cases, a judge that never errs and one that
    guesses.
    """
    draw = np.random.default_rng(5)
    truth = draw.choice([-1, 0, 1], n, p=[0.4, 0.2, 0.4])
    people = {
        f"human {k}": np.where(draw.random(n) < noise, draw.choice([-1, 0, 1], n), truth)
        for k in range(3)
    }
    raters = people | {"perfect": truth, "guess": draw.choice([-1, 0, 1], n)}
    return {name: rater(dict(enumerate(label.tolist()))) for name, label in raters.items()}


def test_a_perfect_judge_wins_against_noisy_people_and_a_guesser_loses() -> None:
    counts = simulated()
    found = leave_one_out(counts, [name for name in counts if "human" in name], rng=rng())
    for contest in found.judges:
        if contest.rule == "majority":
            assert contest.wins is contest.clearly is (contest.judge == "perfect")
        assert contest.difference.value == pytest.approx(contest.judge_pa - contest.human_pa)
        assert contest.difference.low < contest.difference.value < contest.difference.high


def test_btd_labels_are_calibrated_to_the_mode_of_the_other_people() -> None:
    counts = simulated()
    humans = [name for name in counts if "human" in name]
    found = leave_one_out(counts, humans, rng=rng())
    others = counts["human 1"].label, counts["human 2"].label
    gold = np.array([mode([int(a), int(b)]) for a, b in zip(*others, strict=True)])
    judge = counts["guess"]
    graded = VoteCounts(
        **{f: getattr(judge, f) for f in ("comparison", "item", "plus", "tie", "minus")}, gold=gold
    )
    seed = int(rng().integers(2**63))
    labels = held_out_labels(graded, rng=np.random.default_rng(seed))
    row = next(
        one
        for one in found.judges
        if (one.human, one.judge, one.rule) == ("human 0", "guess", "BTD")
    )
    assert row.judge_pa == np.mean(labels == gold)


def test_a_judge_that_repeats_a_person_is_level_with_it() -> None:
    counts = simulated()
    counts["echo"] = counts["human 0"]
    humans = [name for name in counts if "human" in name]
    row = next(
        one
        for one in leave_one_out(counts, humans, rng=rng()).judges
        if (one.human, one.judge, one.rule) == ("human 0", "echo", "majority")
    )
    assert (row.difference.value, row.wins, row.clearly) == (0, False, False)
    # Four hundred comparisons without a difference do not show that there is none.
    assert row.difference.low == -row.difference.high
    assert 0.003 < row.difference.high < 0.03


labels_of = st.dictionaries(
    st.integers(0, 30), st.sampled_from([-1, 0, 1]), min_size=1, max_size=30
)


@given(st.lists(labels_of, min_size=2, max_size=4), labels_of)
def test_swapping_a_and_b_changes_nothing(
    people: list[dict[int, int]], judge: dict[int, int]
) -> None:
    humans = [f"human {k}" for k in range(len(people))]
    raters = dict(zip(humans, people, strict=True)) | {"judge": judge}
    swapped = {name: {code: -label for code, label in one.items()} for name, one in raters.items()}
    first, second = (
        leave_one_out({name: rater(one) for name, one in given.items()}, humans, rng=rng())
        for given in (raters, swapped)
    )
    for one, two in zip(first.judges, second.judges, strict=True):
        if one.rule == "majority":
            assert (one.n, one.human_pa, one.judge_pa) == (two.n, two.human_pa, two.judge_pa)
            assert (one.n == 0) == (one.difference is None) == (one.reason is not None)
        elif one.judge_pa is None:
            assert one.reason


@pytest.mark.parametrize("rate", [0.01, 0.03, 0.1])
@pytest.mark.thorough
def test_interval_of_the_difference_covers_where_only_one_errs_and_rarely(rate: float) -> None:
    """Exact coverage over how often the judge errs on 100; by mean ± t·SE it is .63 at .01 and .80
    at .03.
    """
    sides, held = np.tile([-1, 1], 50), 0.0
    people = {f"human {name}": rater(dict(enumerate(sides.tolist()))) for name in "abc"}
    for errors in range(31):
        labels = np.where(np.arange(100) < errors, -sides, sides)
        judged = people | {"judge": rater(dict(enumerate(labels.tolist())))}
        contest = next(
            one
            for one in leave_one_out(judged, people, rng=rng()).judges
            if (one.human, one.rule) == ("human a", "majority")
        )
        assert contest.difference.value == pytest.approx(-errors / 100)
        held += (contest.difference.low <= -rate <= contest.difference.high) * binom.pmf(
            errors, 100, rate
        )
    assert held >= 0.935


def test_what_cannot_be_compared_says_why() -> None:
    counts = simulated()
    alone = leave_one_out(
        {"human 0": counts["human 0"], "perfect": counts["perfect"]}, ["human 0"], rng=rng()
    )
    assert alone.humans[0].pa is None
    assert all(contest.n == 0 and "another" in contest.reason for contest in alone.judges)
    few = {name: one.rows(np.arange(10)) for name, one in counts.items()}
    row = leave_one_out(few, ["human 0", "human 1"], rng=rng()).judges[1]
    assert (row.rule, row.judge_pa, row.difference) == ("BTD", None, None)
    assert "20" in row.reason
    with pytest.raises(UnknownName, match="nobody"):
        leave_one_out(counts, ["nobody"], rng=rng())


@pytest.mark.thorough
def test_interval_of_the_difference_covers_with_several_comparisons_an_item(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A judge and a person of equal skill on comparisons of which three share an item; nominal 95
    %. Labels of BTD have the same interval, and would be fitted 800 times for nothing.
    """
    monkeypatch.setattr(judge_vs_human, "RULES", judge_vs_human.RULES[:1])
    draw = np.random.default_rng(8)

    def held() -> bool:
        items = 60
        hard = np.repeat(draw.random(items) < 0.5, 3)
        truth = np.ones(3 * items, dtype=np.int64)
        item_wrong = {name: np.repeat(draw.random(items) < 0.5, 3) for name in ("human 0", "judge")}
        raters = {name: np.where(hard & wrong, -1, truth) for name, wrong in item_wrong.items()}
        raters["human 1"] = truth
        counts = {
            name: rater(dict(enumerate(label.tolist())), an_item=3)
            for name, label in raters.items()
        }
        contest = leave_one_out(counts, ["human 0", "human 1"], rng=rng()).judges[0]
        return contest.difference.low <= 0 <= contest.difference.high

    assert 0.93 <= np.mean([held() for _ in range(400)]) <= 0.98
