"""How far people agree, and a judge with their majority: plain loops, known truths, real votes."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from levels import first_of
from scipy.stats import binom

from core.questions.agreement.judge_vs_human import (
    judge_against_people,
    judge_credit_against_people,
    people_agreement,
)
from core.records import NO_GOLD, VoteCounts

Votes = dict[int, list[int]]
"""Comparison → votes of one rater."""


def rater(votes: Votes, item: dict[int, int] | None = None) -> VoteCounts:
    codes = sorted(votes)
    table = np.array([[votes[code].count(vote) for vote in (-1, 0, 1)] for code in codes])
    return VoteCounts.of(
        table.reshape(-1, 3),
        comparison=np.array(codes, dtype=np.int64),
        item=np.array([item[code] if item else code for code in codes], dtype=np.int64),
        gold=np.full(len(codes), NO_GOLD),
    )


def mode(votes: list[int]) -> int:
    ranked = Counter(votes).most_common()
    unique = len(ranked) == 1 or (len(ranked) > 1 and ranked[0][1] > ranked[1][1])
    return ranked[0][0] if unique else 0


def loops(people: dict[str, Votes]) -> float:
    """Leave-one-out credit over leave-one-out persons, one vote after the other."""
    credit, persons = 0.0, 0
    for name, own in people.items():
        for code, votes in own.items():
            others = [v for other in people if other != name for v in people[other].get(code, [])]
            if mode(others):
                persons += 1
                credit += {True: 1.0}.get(mode(votes) == mode(others), 0.5 * (mode(votes) == 0))
    return credit / persons


def random_people(rng: np.random.Generator, people: int, comparisons: int) -> dict[str, Votes]:
    return {
        f"p{person}": {
            code: rng.choice([-1, 0, 1], rng.integers(1, 4), p=[0.3, 0.2, 0.5]).tolist()
            for code in range(comparisons)
            if rng.random() < 0.7
        }
        for person in range(people)
    }


@pytest.mark.parametrize("people", [2, 3, 5])
def test_people_agreement_is_that_of_plain_loops(people: int) -> None:
    votes = random_people(np.random.default_rng(people), people, 60)
    item = {code: code // 3 for code in range(60)}
    found = people_agreement({name: rater(own, item) for name, own in votes.items()})
    assert found.value == pytest.approx(loops(votes))
    assert found.n <= 20
    assert found.low < found.value < found.high


def simulated(
    rng: np.random.Generator, *, right: float, people: int, comparisons: int, an_item: int = 1
) -> dict[str, VoteCounts]:
    hits = rng.random((people, comparisons)) < right
    code = np.arange(comparisons)
    return {
        f"p{person}": VoteCounts(
            comparison=code,
            item=code // an_item,
            plus=own.astype(np.int64),
            tie=np.zeros(comparisons, dtype=np.int64),
            minus=1 - own.astype(np.int64),
            gold=np.full(comparisons, NO_GOLD),
        )
        for person, own in enumerate(hits)
    }


def expected(right: float, people: int) -> float:
    """Chance that one person says what the others' majority says, given that it is decided."""
    others = people - 1
    up = 1 - binom.cdf(others / 2, others, right)
    down = binom.cdf((others - 1) // 2 if others % 2 else others / 2 - 1, others, right)
    return float((right * up + (1 - right) * down) / (up + down))


@pytest.mark.parametrize(
    ("right", "people", "rate"), [(0.75, 3, 0.70), (0.5, 3, 0.5), (0.75, 2, 0.625), (0.9, 5, None)]
)
def test_the_rate_of_many_comparisons_is_the_chance_by_arithmetic(
    right: float, people: int, rate: float | None
) -> None:
    """Three people right on 75 %: .5625 + .0625 decide, .9·.75 + .1·.25 = .70 agree with them."""
    if rate is not None:
        assert expected(right, people) == pytest.approx(rate)
    drawn = simulated(np.random.default_rng(1), right=right, people=people, comparisons=40_000)
    assert people_agreement(drawn).value == pytest.approx(expected(right, people), abs=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("people", [2, 3, 5])
@pytest.mark.parametrize("items", first_of(10, 30, 100))
def test_the_interval_holds_the_truth_from_ten_items_on(people: int, items: int) -> None:
    """Three coins on ten comparisons: where no two of them agree, the interval has to reach .5."""
    for right, an_item in ((0.5, 1), (0.75, 1), (0.75, 3)):
        rng = np.random.default_rng(items)
        truth = expected(right, people)
        seen = [
            people_agreement(
                simulated(
                    rng, right=right, people=people, comparisons=items * an_item, an_item=an_item
                )
            )
            for _ in range(400)
        ]
        held = np.mean([found is None or found.low <= truth <= found.high for found in seen])
        # .93 less two standard errors of 400 draws.
        assert held >= 0.905, (right, an_item)


@pytest.mark.parametrize(("name", "rate"), [("pandalm", 0.966), ("wmt23_ende_humans", 0.718)])
def test_real_people_agree_as_plain_loops_say(shared_data: Path, name: str, rate: float) -> None:
    frame = pd.read_csv(shared_data / "votes" / f"{name}.csv.gz")
    votes, item = of_frame(frame[frame["rater_type"] == "human"].reset_index(drop=True))
    found = people_agreement({person: rater(own, item) for person, own in votes.items()})
    assert found.value == pytest.approx(loops(votes))
    assert found.value == pytest.approx(rate, abs=0.001)


def of_frame(frame: pd.DataFrame) -> tuple[dict[str, Votes], dict[int, int]]:
    columns = ["item_id", "model_a", "model_b"]
    code = pd.Series(pd.factorize(frame[columns].astype(str).agg("|".join, axis=1))[0])
    item = dict(zip(code, pd.factorize(frame["item_id"])[0], strict=True))
    votes: dict[str, Votes] = {}
    for name, at, vote in zip(frame["judge"], code, frame["vote"], strict=True):
        votes.setdefault(name, {}).setdefault(int(at), []).append(int(vote))
    return votes, item


def test_credit_of_a_judge_is_that_of_plain_loops() -> None:
    rng = np.random.default_rng(8)
    people, judge = random_people(rng, 4, 50), random_people(rng, 1, 50)["p0"]
    item = {code: code // 2 for code in range(50)}
    by_item: dict[int, list[float]] = {}
    for code, votes in judge.items():
        label = mode([v for own in people.values() for v in own.get(code, [])])
        if label:
            by_item.setdefault(item[code], []).extend((1 + vote * label) / 2 for vote in votes)
    found = judge_credit_against_people(
        rater(judge, item), {name: rater(own, item) for name, own in people.items()}
    )
    assert found.value == pytest.approx(np.mean([np.mean(credit) for credit in by_item.values()]))
    assert found.n == len(by_item)


def test_a_judge_that_always_ties_gets_half_and_one_that_echoes_the_people_all() -> None:
    people = simulated(np.random.default_rng(3), right=0.8, people=3, comparisons=100)
    ties = rater({code: [0] for code in range(100)})
    assert judge_credit_against_people(ties, people).value == 0.5
    label = sum(own.plus - own.minus for own in people.values())
    echo = rater({code: [int(np.sign(label[code]))] for code in range(100)})
    found = judge_credit_against_people(echo, people, level=0.8)
    assert (found.value, found.high, found.level) == (1.0, 1.0, 0.8)


def test_without_people_or_without_a_decided_comparison_there_is_no_rate() -> None:
    judge = rater({0: [1], 1: [-1]})
    assert people_agreement({}) is None
    assert people_agreement({"p": judge}) is None
    assert judge_credit_against_people(judge, {}) is None
    assert judge_credit_against_people(judge, {"p": rater({0: [0], 2: [1]})}) is None
    assert judge_against_people(judge, {}) is None
