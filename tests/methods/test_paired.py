"""Two judges on common comparisons: differences against pandas, coverage by simulation, two data
sets.
"""

import numpy as np
import pandas as pd
import pytest
from readings import reading

from core.questions.agreement.paired import JudgeVotes, compare_judges, pool_raters, share_codes
from core.records import ConfidenceCounts, PositionCounts, VoteCounts
from core.schema import Selection
from core.store import Store
from core.store.vote_queries import comparison_names, confidence_counts, positions, vote_counts


def rows(
    rng: np.random.Generator, judges: dict[str, float], items: int, *, each: int = 2
) -> pd.DataFrame:
    """Judges who are right with a chance of their own, in both orders of two runs, `each` pairs an
    item.
    """
    found = []
    for item in range(items):
        for pair in range(each):
            gold = int(rng.integers(-1, 2))
            about = {"item_id": f"q{item}", "model_a": f"m{pair}", "model_b": "n", "gold": gold}
            for judge, right in judges.items():
                for run in (0, 1):
                    for position in ("ab", "ba"):
                        vote = gold if rng.random() < right else int(rng.integers(-1, 2))
                        sure = float(rng.integers(50, 100)) / 100
                        own = {"judge": judge, "run": run, "position": position, "confidence": sure}
                        found.append(about | own | {"vote": vote})
    return pd.DataFrame(found)


def of_store(frame: pd.DataFrame, *, gold: str = "given") -> dict[str, JudgeVotes]:
    with Store.open(None) as store:
        store.load(reading(frame))
        asked = Selection(gold=gold)
        return judge_votes(store, asked)


def judge_votes(store: Store, asked: Selection) -> dict[str, JudgeVotes]:
    counts, stated, placed = (
        ask(store, asked) for ask in (vote_counts, confidence_counts, positions)
    )
    return {
        name: JudgeVotes(counts=counts[name], stated=stated[name], placed=placed.get(name))
        for name in counts
    }


def test_differences_are_those_of_pandas() -> None:
    frame = rows(np.random.default_rng(1), {"one": 0.7, "two": 0.4}, 12)
    # They have not judged the same, and an item of one only counts for neither.
    frame = frame.drop(frame[(frame.judge == "one") & (frame.item_id == "q3")].index)
    frame = frame.drop(
        frame[(frame.judge == "two") & (frame.model_a == "m1") & (frame.item_id == "q5")].index
    )
    votes = of_store(frame)
    found = compare_judges(votes["one"], votes["two"])
    keys = ["item_id", "model_a"]
    both = set(map(tuple, frame[frame.judge == "one"][keys].to_numpy()))
    both &= set(map(tuple, frame[frame.judge == "two"][keys].to_numpy()))
    common = frame[[tuple(row) in both for row in frame[keys].to_numpy()]]
    assert (found.n, found.n_items) == (len(both), 11)

    def by_item(values: pd.Series) -> pd.DataFrame:
        table = common.assign(value=values).dropna(subset="value")
        return table.pivot_table(index="item_id", columns="judge", values="value").dropna()

    decided = common[common.gold != 0]
    credit = (1 + decided.vote * decided.gold) / 2
    exact = (common.vote == common.gold).astype(float)
    wide = {
        "right": by_item(credit),
        "brier": by_item((common.confidence - exact) ** 2),
        "overconfidence": by_item(common.confidence - exact),
    }
    orders = ["item_id", "model_a", "run", "judge"]
    pairs = common.pivot_table(index=orders, columns="position", values="vote").reset_index()
    pairs["flipped"] = pairs.ab != pairs.ba
    wide["flips"] = pairs.pivot_table(index="item_id", columns="judge", values="flipped")
    for one in found.measures:
        expected = wide[one.measure]
        assert one.one == pytest.approx(expected["one"].mean()), one.measure
        assert one.two == pytest.approx(expected["two"].mean()), one.measure
        assert one.difference.value == pytest.approx((expected["one"] - expected["two"]).mean())
        assert one.difference.n == len(expected)
        assert one.difference.low < one.difference.value < one.difference.high
    labels = common.pivot_table(index=keys, columns="judge", values="vote", aggfunc=majority)
    assert len(found.parted) == int((labels["one"] != labels["two"]).sum())


def majority(votes: pd.Series) -> int:
    said = votes.value_counts()
    top = said[said == said.max()].index
    return int(top[0]) if len(top) == 1 else 0


def test_a_judge_does_not_differ_from_itself_and_turned_round_the_sign_turns() -> None:
    votes = of_store(rows(np.random.default_rng(2), {"one": 0.7, "two": 0.4}, 20))
    same = compare_judges(votes["one"], votes["one"])
    assert [one.difference.value for one in same.measures] == [0.0] * 4
    assert len(same.parted) == 0
    forth, back = (
        compare_judges(votes["one"], votes["two"]),
        compare_judges(votes["two"], votes["one"]),
    )
    for one, two in zip(forth.measures, back.measures, strict=True):
        assert one.difference.value == pytest.approx(-two.difference.value)
        assert one.difference.low == pytest.approx(-two.difference.high)


def test_what_is_not_there_is_said() -> None:
    frame = rows(np.random.default_rng(3), {"one": 0.7, "two": 0.4}, 5)
    frame = frame.drop(columns=["confidence", "gold", "position"])
    frame = frame.drop_duplicates(["item_id", "model_a", "judge", "run"])
    votes = of_store(frame)
    found = {one.measure: one for one in compare_judges(votes["one"], votes["two"]).measures}
    assert all(one.difference is None and one.reason for one in found.values())
    assert "decided gold" in str(found["right"].reason)


def test_people_are_one_rater_with_all_their_votes() -> None:
    frame = rows(np.random.default_rng(4), {"p1": 0.7, "p2": 0.6, "p3": 0.5}, 8)
    frame = frame.drop(frame[(frame.judge == "p3") & (frame.item_id == "q1")].index)
    votes = of_store(frame)
    people = pool_raters([votes[name] for name in ("p1", "p2", "p3")])
    totals = frame.groupby(["item_id", "model_a"]).vote.agg(lambda v: (v == 1).sum())
    assert people.counts.plus.sum() == totals.sum() == (frame.vote == 1).sum()
    assert len(people.counts) == len(totals)
    assert people.stated.n.sum() == len(frame)
    # Pairs of orders are each person's own.
    found = {one.measure: one for one in compare_judges(people, votes["p1"]).measures}
    pairs = frame.pivot_table(
        index=["item_id", "model_a", "run", "judge"], columns="position", values="vote"
    )
    flipped = (pairs.ab != pairs.ba).astype(float).groupby(["item_id"]).mean()
    assert found["flips"].one == pytest.approx(flipped.mean())


def test_two_data_sets_meet_by_the_names_of_their_comparisons() -> None:
    """The same judge before and after: other codes, another order of rows, items of one
    set only.
    """
    rng = np.random.default_rng(5)
    before = rows(rng, {"judge": 0.4}, 12)
    after = before.copy()
    after["vote"] = np.where(rng.random(len(after)) < 0.6, after.gold, after.vote)
    before, after = before[before.item_id != "q2"], after[after.item_id != "q7"]
    together = pd.concat([before, after.assign(judge="later")])
    votes = of_store(together)
    expected = compare_judges(votes["judge"], votes["later"])
    with Store.open(None) as store:
        store.load(reading(before.assign(dataset="old")))
        shuffled = after.drop(columns="gold").sample(frac=1, random_state=0)
        store.load(reading(shuffled.assign(dataset="new"), name="new.csv"))
        sets = [Selection(datasets=(name,)) for name in ("old", "new")]
        sides = [judge_votes(store, asked)["judge"] for asked in sets]
        names = [comparison_names(store, asked) for asked in sets]
    moved = share_codes(sides[1], names[1], sides[0], names[0])
    found = compare_judges(sides[0], moved)
    assert (found.n, found.n_items) == (expected.n, expected.n_items)
    assert len(found.parted) == len(expected.parted)
    for one, two in zip(found.measures, expected.measures, strict=True):
        assert one.difference.value == pytest.approx(two.difference.value, abs=1e-12), one.measure
        assert one.difference.low == pytest.approx(two.difference.low, abs=1e-12)


def judge(rng: np.random.Generator, skill: np.ndarray, gold: np.ndarray, each: int) -> JudgeVotes:
    """Votes in both orders on `each` comparisons of an item, right with the chance of the item."""
    comparisons = len(gold)
    item = np.arange(comparisons) // each
    right = rng.random((comparisons, 2)) < skill[item][:, None]
    vote = np.where(right, gold[:, None], -gold[:, None])
    sure = np.clip(skill[item] + 0.1, 0, 1)
    counts = VoteCounts(
        comparison=np.arange(comparisons),
        item=item,
        plus=(vote == 1).sum(axis=1),
        tie=np.zeros(comparisons, dtype=np.int64),
        minus=(vote == -1).sum(axis=1),
        gold=gold,
    )
    stated = ConfidenceCounts(
        comparison=np.repeat(np.arange(comparisons), 2),
        vote=vote.reshape(-1),
        confidence=np.repeat(sure, 2),
        n=np.ones(2 * comparisons, dtype=np.int64),
    )
    none, one = np.zeros(comparisons, dtype=np.int64), np.ones(comparisons, dtype=np.int64)
    flips = (vote[:, 0] != vote[:, 1]).astype(np.int64)
    placed = PositionCounts(
        comparison=counts.comparison,
        item=item,
        category=none,
        categories=("",),
        first=one,
        second=one,
        tie=none,
        pairs=one,
        flips=flips,
        hard_flips=flips,
        slot_sum=none,
        same_order_pairs=none,
        same_order_disagreements=none,
        margin=np.full(comparisons, np.nan),
    )
    return JudgeVotes(counts=counts, stated=stated, placed=placed)


@pytest.mark.thorough
@pytest.mark.parametrize(("items", "each"), [(15, 1), (30, 3), (100, 2)])
def test_intervals_hold_the_truth(items: int, each: int) -> None:
    """Two judges whose skill varies by item and is alike on an item; the truth is that of many
    items.
    """
    rng = np.random.default_rng(items)

    def draw(n: int) -> list:
        hardness = rng.normal(0, 0.8, n)
        gold = rng.choice([-1, 1], n * each)
        skills = [
            1 / (1 + np.exp(-(level + hardness + rng.normal(0, 0.4, n)))) for level in (1.5, 0.9)
        ]
        return compare_judges(*(judge(rng, skill, gold, each) for skill in skills)).measures

    truth = {one.measure: one.difference.value for one in draw(60_000)}
    inside = dict.fromkeys(truth, 0)
    draws = 600
    for _ in range(draws):
        for one in draw(items):
            inside[one.measure] += one.difference.low <= truth[one.measure] <= one.difference.high
    for measure, n in inside.items():
        assert n / draws > 0.925, (measure, n / draws)
