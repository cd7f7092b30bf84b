"""A judge of pass and fail that is weak in one category may not decide, and the category is named."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import confint_proportions_2indep

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.importers import ReadOptions, read
from core.questions.scores.by_category import by_category
from core.questions.scores.table import ScoreTable
from core.reporting.document import to_json
from core.reporting.html import report
from core.reporting.text import to_text
from core.schema import Selection
from core.store import Store


def audited(tmp_path, columns, **options):
    path = tmp_path / "judged.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    (reading,) = read([(path.name, path)], ReadOptions())
    with Store.holding([reading]) as store:
        found = audit(store, Selection(), AuditOptions(**options), readings=[reading])
    return found, found.scores[0]


def check(scores, name="score_category"):
    return next(result for result in scores.checks if result.check == name)


def answers(of_category):
    """Columns of a file: category → (people failed, of those failed by it, passed, passed by it)."""
    rows = []
    for category, (failed, found, passed, kept) in of_category.items():
        rows += [(category, "fail", "fail" if k < found else "pass") for k in range(failed)]
        rows += [(category, "pass", "pass" if k < kept else "fail") for k in range(passed)]
    category, people, judge = zip(*rows, strict=True)
    return {
        "prompt": [f"question {k}" for k in range(len(rows))],
        "response": [f"answer {k}" for k in range(len(rows))],
        "category": category,
        "human_passed": people,
        "judge_passed": judge,
    }


REFUNDS = {"refunds": (28, 15, 60, 58), "orders": (90, 87, 160, 157), "mail": (90, 87, 160, 157)}


def test_a_weak_category_is_named_first_in_every_output(tmp_path):
    found, scores = audited(tmp_path, answers(REFUNDS))
    said = "On refunds it fails 54 % of what people failed (15 of 28)."
    assert scores.headline == said
    use = scores.overall.use
    assert (use["decide"].answer, use["measure"].answer) == ("no", "yes")
    assert scores.overall.word == "May measure, not decide"
    result = check(scores)
    assert result.grade == "fail"
    assert result.sentence.startswith("In refunds it fails 15 of 28 items that people failed (at ")
    document = json.loads(to_json(found))
    (metrics,) = document["scores"].values()
    (figures,) = metrics.values()
    lowest = figures["categories"][0]
    assert (lowest["category"], lowest["rate"], lowest["value"]) == ("refunds", "tnr", 15 / 28)
    assert said in document["headline"]
    assert said in to_text(found)
    assert said in report(found)


def test_without_the_weak_category_it_may_decide(tmp_path):
    _, scores = audited(tmp_path, answers(REFUNDS | {"refunds": (28, 27, 60, 58)}))
    assert scores.overall.use["decide"].answer == "yes"
    assert check(scores).grade in ("unclear", "unknown", "ok")


def test_a_small_category_that_is_always_wrong_is_named(tmp_path):
    few = {"safety": (6, 0, 30, 30), "other": (200, 196, 200, 196)}
    _, scores = audited(tmp_path, answers(few))
    assert "In safety it fails 0 of 6 items that people failed" in check(scores).sentence
    assert scores.overall.use["decide"].answer == "no"


def test_ends_are_those_of_other_code():
    failed, found = np.array([28, 90, 90]), np.array([15, 87, 80])
    category = np.repeat(np.arange(3), failed)
    judge = np.concatenate([np.arange(n) >= k for n, k in zip(failed, found, strict=True)])
    table = ScoreTable.of(
        np.append(judge, [1.0]),
        np.append(np.zeros(len(judge)), [1.0]),
        category=np.append(category, 0),
        categories=("refunds", "orders", "mail"),
    )
    rates = {rate.category: rate for rate in by_category(table)}
    tail = 0.05 / 6
    for code, name in enumerate(table.categories):
        n, x = int(failed[code]), int(found[code])
        exact = binomtest(x, n).proportion_ci(1 - 2 * tail, method="exact")
        assert rates[name].high == pytest.approx(exact.high)
        rest = np.delete(np.arange(3), code)
        ends = confint_proportions_2indep(
            *(x, n, found[rest].sum(), failed[rest].sum()),
            method="agresti-caffo",
            compare="diff",
            alpha=2 * tail,
        )
        assert rates[name].apart == pytest.approx(ends[1])


def test_answers_of_one_item_are_one(tmp_path):
    """Ten answers of one question that are all wrong are no ten answers."""
    table = ScoreTable.of(
        np.r_[np.ones(10), np.zeros(40), 1.0],
        np.r_[np.zeros(50), 1.0],
        unit=np.r_[np.zeros(10), np.arange(1, 42)],
        category=np.r_[np.zeros(13), np.ones(38)].astype(int),
        categories=("a", "b"),
    )
    of_a = next(rate for rate in by_category(table) if rate.category == "a")
    assert (of_a.items, of_a.found) == (4, 3.0)


def test_a_judge_at_the_limit_is_seldom_named():
    """TPR and TNR .80 in each of eight categories: one is shown below .80 in at most 5 %."""
    rng, named = np.random.default_rng(4), 0
    draws = 300
    for _ in range(draws):
        people = rng.random(300) < 0.6
        judge = np.where(rng.random(300) < 0.8, people, ~people)
        table = ScoreTable.of(
            judge.astype(float),
            people.astype(float),
            category=rng.integers(0, 8, 300),
            categories=tuple("abcdefgh"),
        )
        named += by_category(table)[0].high < 0.80
    assert named / draws <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / draws)


def test_people_who_differ_as_much_there_blame_no_judge(tmp_path):
    """Two people contradict each other on poems: a judge like them is not called weak there."""
    rng, rows = np.random.default_rng(5), []
    for k in range(400):
        category, noise = ("poems", 0.4) if k < 100 else ("facts", 0.03)
        truth = rng.random() < 0.6
        said = [bool(truth) != bool(rng.random() < noise) for _ in range(4)]
        rows.append((f"question {k}", f"answer {k}", category, *map(int, said)))
    names = ("prompt", "response", "category", "judge_passed", "human_1", "human_2", "human_3")
    _, scores = audited(tmp_path, dict(zip(names, zip(*rows, strict=True), strict=True)))
    rates = {(rate.category, rate.side): rate for rate in by_category(scores.evidence.table)}
    assert rates["poems", "tnr"].high < 0.80
    assert check(scores).grade != "fail"


def test_labels_drawn_by_verdict_say_nothing_of_a_category(tmp_path):
    more = {name: [*column] for name, column in answers(REFUNDS).items()}
    for k, verdict in enumerate(["pass", "fail"] * 200):
        row = (f"more {k}", f"answer to more {k}", "mail", "", verdict)
        for column, value in zip(more.values(), row, strict=True):
            column.append(value)
    _, scores = audited(tmp_path, more, labels_drawn="verdicts")
    assert check(scores).grade == "unknown"


def test_levels_are_not_asked(tmp_path):
    rng = np.random.default_rng(6)
    people = rng.integers(1, 6, 120)
    columns = {
        "id": range(120),
        "judge": "j",
        "score": np.clip(people + rng.integers(-1, 2, 120), 1, 5),
        "gold": people,
        "category": rng.choice(["a", "b"], 120),
    }
    _, scores = audited(tmp_path, columns)
    assert "score_category" not in {result.check for result in scores.checks}
