"""A judge of single answers beside people: the left-out person, the ceiling, and the AltTest."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, pearsonr, ttest_1samp
from score_draws import levels, panel
from sklearn.metrics import cohen_kappa_score

from core.errors import InvalidOption
from core.questions.scores.people import alttest, alttest_of_votes, ceiling, nearer, people_check
from core.questions.scores.raters import both_scored, rater_pairs
from core.questions.scores.table import ScoreTable
from core.records import NO_GOLD, VoteCounts

SCORES = st.one_of(st.none(), st.integers(1, 5))


def beside(judge: float, person: float, others: list[float], closeness: str) -> tuple[bool, bool]:
    """Who is at least as near to the others, one answer at a time, as the paper writes it."""

    def score(own: float) -> float:
        if closeness == "equal":
            return float(np.mean([own == other for other in others]))
        return -float(np.sqrt(np.mean([(own - other) ** 2 for other in others])))

    one, two = score(judge), score(person)
    return one >= two - 1e-12, two >= one - 1e-12


@settings(max_examples=50)
@given(
    st.lists(st.tuples(SCORES, st.lists(SCORES, min_size=3, max_size=3)), min_size=1, max_size=12),
    st.sampled_from(["rmse", "equal"]),
)
def test_who_is_nearer_is_that_of_the_definition(
    rows: list[tuple[int | None, list[int | None]]], closeness: str
) -> None:
    judge = np.array([np.nan if own is None else own for own, _ in rows], dtype=float)
    people = np.array([[np.nan if x is None else x for x in all_] for _, all_ in rows], dtype=float)
    usable, judge_wins, person_wins = nearer(judge, people, closeness=closeness)
    for row, (own, scores) in enumerate(rows):
        for place, person in enumerate(scores):
            others = [x for n, x in enumerate(scores) if n != place and x is not None]
            possible = own is not None and person is not None and bool(others)
            assert usable[row, place] == possible
            if possible:
                expected = beside(own, person, others, closeness)
                assert (judge_wins[row, place], person_wins[row, place]) == expected


def test_published_lines_of_the_authors(shared_data: Path, golden: Path) -> None:
    """MT-Bench, three people and six models, to the digits that the authors' notebook prints."""
    with (golden / "alttest_published.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    folder = shared_data / "native" / "alttest"
    of_people, of_models = (
        json.loads((folder / f"{who}_annotations.json").read_text(encoding="utf-8"))
        for who in ("human", "llm")
    )
    keys = sorted({key for labels in of_people.values() for key in labels})
    code = {label: n for n, label in enumerate(("model_a", "model_b", "tie"))}
    people = np.array(
        [[code.get(own.get(key), np.nan) for own in of_people.values()] for key in keys]
    )
    assert len(lines) == len(of_models) == 6
    for line in lines:
        judge = [code.get(of_models[line["model"]].get(key), np.nan) for key in keys]
        found = alttest(judge, people, closeness="equal", epsilon=float(line["epsilon"]))
        assert (f"{found.omega:.2f}", f"{found.rho:.2f}") == (line["omega"], line["rho"])


def test_p_values_and_the_people_won_against_are_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    _, judge, people = panel(rng, 60, people=5, noise=0.7)
    people[rng.random(people.shape) < 0.2] = np.nan
    found = alttest(judge, people, closeness="rmse", epsilon=0.1)
    usable, judge_wins, person_wins = nearer(judge, people, closeness="rmse")
    p_values = []
    for place, person in enumerate(found.people):
        rows = usable[:, place]
        loss = person_wins[rows, place].astype(float) - judge_wins[rows, place]
        expected = ttest_1samp(loss, 0.1, alternative="less").pvalue
        assert person.p_value == pytest.approx(expected, rel=1e-9)
        assert person.n == rows.sum()
        p_values.append(expected)
    rejected = false_discovery_control(p_values, method="by") <= 0.05
    assert [person.won for person in found.people] == rejected.tolist()
    assert found.omega == pytest.approx(rejected.mean())
    assert found.rho == pytest.approx(np.mean([person.judge_wins for person in found.people]))


def test_a_judge_that_never_loses_wins_although_nothing_varies() -> None:
    person = np.tile([0.0, 1.0], 20)
    same = alttest(person, np.stack([person] * 3, axis=1), closeness="equal")
    assert (same.omega, same.rho) == (1.0, 1.0)
    worse = alttest(1 - person, np.stack([person] * 3, axis=1), closeness="equal")
    assert (worse.omega, worse.rho) == (0.0, 0.0)
    assert not same.few


def test_too_few_answers_or_people_have_no_omega() -> None:
    person = np.tile([0.0, 1.0], 10)
    few = alttest(person, np.stack([person] * 3, axis=1), closeness="equal")
    assert few.omega is None
    assert "30 answers" in few.reason
    assert "the most is 20" in few.reason
    assert "two people" in alttest(person, person[:, None], closeness="equal").reason
    assert alttest(
        np.tile(person, 2), np.stack([np.tile(person, 2)] * 2, axis=1), closeness="equal"
    ).few
    with pytest.raises(InvalidOption, match="epsilon"):
        alttest(person, person[:, None], closeness="equal", epsilon=1.0)


def test_a_judge_that_is_one_more_person_has_no_difference() -> None:
    """Fair judges are seldom above or below 0, however little people agree; a coin is below."""
    rng = np.random.default_rng(9)
    for noise in (0.3, 1.2):
        outside = 0
        for _ in range(200):
            _, judge, people = panel(rng, 40, people=3, noise=noise)
            found = people_check(ScoreTable.of(judge, people, low=1, high=5)).difference
            outside += found.excludes(0)
        assert outside <= 18  # 200 draws at .05: 10, and two standard errors
    _, judge, people = panel(rng, 100, people=3)
    coin = people_check(ScoreTable.of(rng.permutation(judge), people, low=1, high=5)).difference
    assert coin.high < -0.1


def test_difference_to_people_by_hand() -> None:
    """Two answers: the judge with all; then with one of three, where that one is alone too."""
    people = np.array([[1.0, 1, 1], [1, 5, 5]])
    judge = np.array([1.0, 1])
    table = ScoreTable.of(np.tile(judge, 30), np.tile(people, (30, 1)), low=1, high=5)
    found = people_check(table)
    # Second answer: against 5, 5 it ties with the first person; against 1, 5 (mean 3) it ties too.
    assert found.difference.value == 0
    away = ScoreTable.of(np.full(60, 5.0), np.tile(people, (30, 1)), low=1, high=5)
    # First answer: loses thrice. Second: nearer than the first person, else equal.
    assert people_check(away).difference.value == pytest.approx((-1 + 1 / 3) / 2)
    assert found.persons == 3
    assert (found.n, found.units) == (60, 60)


def test_people_with_few_answers_are_others_only() -> None:
    rng = np.random.default_rng(2)
    _, judge, people = panel(rng, 80, people=3)
    people[29:, 2] = np.nan
    assert people_check(ScoreTable.of(judge, people)).persons == 2
    people[29:, 1] = np.nan
    assert "there is none" in people_check(ScoreTable.of(judge, people)).reason
    assert "two people" in people_check(ScoreTable.of(judge, people[:, :1])).reason


def test_labels_are_near_where_they_are_equal() -> None:
    codes = np.tile([0.0, 1, 2], 20)
    people = np.stack([codes, codes, (codes + 1) % 3], axis=1)
    found = people_check(ScoreTable.of(codes, people, kind="labels"))
    # Against the third the judge has half of the others; against the others it ties.
    assert found.difference.value == pytest.approx(1 / 3)


def test_ceiling_is_the_mean_over_pairs() -> None:
    rng = np.random.default_rng(6)
    _, judge, people = panel(rng, 120, people=4, noise=0.8)
    found = ceiling(ScoreTable.of(judge, people, low=1, high=5))
    pairs = [(people[:, a], people[:, b]) for a, b in combinations(range(4), 2)]
    assert found.pairs == 6
    assert found.people_association.value == pytest.approx(
        np.mean([pearsonr(*pair).statistic for pair in pairs])
    )
    assert found.people_kappa.value == pytest.approx(
        np.mean(
            [
                cohen_kappa_score(*pair, labels=[1, 2, 3, 4, 5], weights="quadratic")
                for pair in pairs
            ]
        )
    )
    assert found.judge_association.value == pytest.approx(
        np.mean([pearsonr(judge, column).statistic for column in people.T])
    )
    assert found.association_gain.value == pytest.approx(
        found.judge_association.value - found.people_association.value
    )
    assert not found.association_gain.excludes(0)
    assert found.association_gain.n == 120


def test_ceiling_of_many_people_with_few_answers_each() -> None:
    """Twelve people, a third of the answers each: the same r as of everybody on everything."""
    rng = np.random.default_rng(12)
    quality = rng.normal(size=900)
    full = np.stack([levels(quality, rng, 0.8) for _ in range(12)], axis=1)
    sparse = np.where(rng.random(full.shape) < 1 / 3, full, np.nan)
    judge = levels(quality, rng, 0.8)
    one, two = (ceiling(ScoreTable.of(judge, each, low=1, high=5)) for each in (full, sparse))
    assert two.pairs == 66
    assert two.people_association.low < one.people_association.value < two.people_association.high
    assert two.judge_kappa.low < one.judge_kappa.value < two.judge_kappa.high


def test_no_ceiling_of_one_person() -> None:
    rng = np.random.default_rng(1)
    _, judge, people = panel(rng, 50)
    found = ceiling(ScoreTable.of(judge, people))
    assert found.people_association is None
    assert found.judge_association is not None
    assert "share 10 answers" in found.reason


def test_every_two_raters_have_the_weighted_kappa_of_scikit_learn():
    rng = np.random.default_rng(8)
    quality = rng.normal(size=120)
    scores = np.clip(np.round(3 + quality[:, None] + rng.normal(size=(120, 4)) * 0.7), 1, 5)
    people = scores[:, 1:].copy()
    people[:20, 1] = np.nan
    table = ScoreTable.of(scores[:, 0], people, low=1, high=5, names=("a", "b", "c"))
    found = {(pair.first, pair.second): pair for pair in rater_pairs(table, judge="j")}
    columns = {"j": scores[:, 0], "a": people[:, 0], "b": people[:, 1], "c": people[:, 2]}
    assert list(found) == [*(("j", name) for name in "abc"), ("a", "b"), ("a", "c"), ("b", "c")]
    for (first, second), pair in found.items():
        both = ~np.isnan(columns[first]) & ~np.isnan(columns[second])
        x, y = columns[first][both], columns[second][both]
        expected = cohen_kappa_score(x, y, weights="quadratic", labels=[1, 2, 3, 4, 5])
        assert pair.agreement is not None
        assert pair.agreement.value == pytest.approx(expected, abs=1e-9)
        assert pair.bias == pytest.approx((x - y).mean() / 4)
        assert pair.n == both.sum()
    apart = np.abs(scores[:, 0] - people[:, 1])
    rows = both_scored(table, None, 1)
    assert apart[rows].tolist() == sorted(apart[20:], reverse=True)


def test_votes_are_labels_of_the_alternative_annotator_test():
    """The majority of each rater's votes, in one matrix, gives what the test on labels gives."""
    rng = np.random.default_rng(9)
    truth = rng.integers(-1, 2, 80)
    counts, labels = {}, {}
    for name, noise in (("j", 0.2), ("p", 0.3), ("q", 0.3), ("r", 0.5)):
        label = np.where(rng.random(80) < noise, rng.integers(-1, 2, 80), truth)
        seen = np.sort(rng.choice(80, 70, replace=False))
        labels[name] = np.full(80, np.nan)
        labels[name][seen] = label[seen]
        rows = [(int(c), int(c) // 2, *(3 * (label[c] == v) for v in (1, 0, -1))) for c in seen]
        comparison, item, plus, tie, minus = np.array(rows, dtype=np.int64).T
        counts[name] = VoteCounts(
            comparison=comparison,
            item=item,
            plus=plus,
            tie=tie,
            minus=minus,
            gold=np.full(len(item), NO_GOLD),
        )
    people = {name: counts[name] for name in "pqr"}
    found = alttest_of_votes(counts["j"], people, epsilon=0.1)
    expected = alttest(
        labels["j"],
        np.stack([labels[name] for name in "pqr"], axis=1),
        closeness="equal",
        epsilon=0.1,
        names=("p", "q", "r"),
    )
    assert (found.omega, found.rho) == (expected.omega, expected.rho)
    assert [person.n for person in found.people] == [person.n for person in expected.people]
