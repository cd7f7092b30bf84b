"""Planted situations: what is drawn has the faults that it says, and checks find them and nothing
else.
"""

from __future__ import annotations

import ast
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from core.interpretation.rules import LIMITS

from benchmarks import planted, planted_votes
from benchmarks.planted_votes import (
    CHECKS,
    FILES,
    Judge,
    Situation,
    draw,
    equal_models,
    many_judges,
    situations,
)
from core.audit_results import AuditOptions
from core.auditing import audit
from core.importers import read
from core.interpretation import estimates
from core.records import OutcomeCounts, VoteCounts
from core.schema import COLUMN_NAMES, VOTES, Selection
from core.store import Store

BASE = Situation(name="base", items=40_000, votes=4)


def drawn(*, items=40_000, votes=4, seed=0, gold="balanced", gold_longer=0.5, **judge):
    """One large draw as plain columns, votes without a verdict left out."""
    situation = Situation(
        name="large",
        items=items,
        votes=votes,
        gold=gold,
        gold_longer=gold_longer,
        judge=Judge(**judge),
    )
    table = draw(situation, 1, np.random.default_rng(seed))
    valid = table["status"] == "ok"
    plain = {name: column[valid] for name, column in table.items()}
    for name in ("vote", "gold"):
        plain[name] = plain[name].astype(int)
    plain["shown"] = np.where(plain["position"] == "ab", 1, -1)
    plain["longer"] = np.sign(plain["length_a"] - plain["length_b"])
    plain["own"] = np.where(plain["model_a"] == "alpha-1", 1, -1)
    plain["failed"] = np.array([1 - valid.mean()])
    return plain


def pairs(table):
    """(pairs, 2) votes of a run in the orders ab and ba."""
    return table["vote"].reshape(-1, 2)


def test_the_generator_knows_nothing_of_core():
    tree = ast.parse(Path(planted_votes.__file__).read_text(encoding="utf-8"))
    modules = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else name.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in node.names
    }
    roots = {module.split(".")[0] for module in modules}
    assert roots <= {"numpy", *sys.stdlib_module_names}, roots


def test_there_are_many_situations_and_all_differ():
    found = situations()
    assert len(found) >= 300
    assert len({(one.name, one.items) for one in found}) == len(found)
    assert {one.items for one in found} == {10, 30, 100, 300, 419, 1000}
    assert {one.votes for one in found} == {1, 2, 4, 8}
    assert {one.gold for one in found} == {"balanced", "one-sided", "half ties", "none"}
    assert all((one.fault == "none") == (one.effect == 0) for one in found)
    # Robustness has situations of its own in benchmarks/perturbed.
    assert {*CHECKS, "robustness"} == set(LIMITS)


def test_a_judge_without_a_fault_has_none():
    found = drawn()
    right = found["vote"] == found["gold"]
    assert right.mean() == pytest.approx(0.85, abs=0.01)
    assert found["confidence"].mean() == pytest.approx(right.mean(), abs=0.01)
    for stated in (0.6, 0.75, 0.9, 1.0):
        rows = found["confidence"] == stated
        assert right[rows].mean() == pytest.approx(stated, abs=0.04)
    both = pairs(found)
    assert (
        both[:, 0] * found["shown"][0] + both[:, 1] * found["shown"][1]
    ).mean() == pytest.approx(0, abs=0.01)
    assert (both[:, 0] * both[:, 1] < 0).mean() < 0.12
    for side in ("longer", "own"):
        assert (found[side] * (found["vote"] - found["gold"])).mean() == pytest.approx(0, abs=0.01)
    assert found["failed"] == 0


@pytest.mark.parametrize("gold", ["one-sided", "half ties"])
def test_gold_forms(gold):
    found = drawn(gold=gold)
    assert (found["gold"] == 0).mean() == pytest.approx((found["vote"] == 0).mean(), abs=0.01)
    if gold == "one-sided":
        assert set(found["gold"]) == {1}
    else:
        assert (found["gold"] == 0).mean() == pytest.approx(0.5, abs=0.01)
    assert (found["vote"] == found["gold"]).mean() == pytest.approx(0.85, abs=0.01)


@pytest.mark.parametrize("bias", [0.1, 0.4])
def test_slot_bias_is_the_lean_within_pairs(bias):
    found = drawn(slot_bias=bias)
    assert (found["vote"] * found["shown"]).mean() == pytest.approx(bias, abs=0.01)


def test_item_slots_flip_without_a_lean():
    found = drawn(item_slots=0.3)
    both = pairs(found)
    assert (both[:, 0] * both[:, 1] < 0).mean() > 0.3
    assert (found["vote"] * found["shown"]).mean() == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("over", [0.2, 0.05, -0.1])
def test_stated_confidence_is_over_or_under_by_so_much(over):
    found = drawn(over=over, accuracy=0.75 if over < 0 else 0.85)
    right = found["vote"] == found["gold"]
    assert found["confidence"].mean() - right.mean() == pytest.approx(over, abs=0.01)


def test_confidences_that_are_worth_nothing():
    assert set(drawn(stated="constant")["confidence"]) == {0.9}
    for stated, sign in (("random", 0), ("inverse", -1)):
        found = drawn(stated=stated)
        right = found["vote"] == found["gold"]
        ahead = found["confidence"][right].mean() - found["confidence"][~right].mean()
        assert (abs(ahead) < 0.01) if sign == 0 else (ahead < -0.05)


@pytest.mark.parametrize(("fault", "side"), [("length", "longer"), ("family", "own")])
def test_half_of_the_votes_that_follow_a_side_are_beyond_gold(fault, side):
    found = drawn(**{fault: 0.4})
    assert (found[side] * (found["vote"] - found["gold"])).mean() / 2 == pytest.approx(
        0.2, abs=0.01
    )


def test_other_faults():
    assert (drawn(extra_ties=0.2)["vote"] == 0).mean() == pytest.approx(0.2, abs=0.01)
    assert drawn(missing=0.1)["failed"] == pytest.approx(0.1, abs=0.01)
    assert (
        drawn(accuracy=0.3, stated="none")["vote"] == drawn(accuracy=0.3, stated="none")["gold"]
    ).mean() < 0.31
    identical = drawn(alike=1.0)
    assert (pairs(identical)[:, 0] == pairs(identical)[:, 1]).all()


def test_people_and_unequal_votes():
    situation = Situation(
        name="people", items=500, votes=8, unequal="evenly", people=3, gold="none"
    )
    table = draw(situation, 2, np.random.default_rng(1))
    human = table["rater_type"] == "human"
    assert human.sum() == 2 * 3 * 500
    assert len(set(table["judge"][human])) == 6
    assert all(value is None for value in table["gold"])
    _, votes = np.unique(table["item_id"][~human].astype(str), return_counts=True)
    assert set(votes) == {2, 4, 6, 8}
    assert len(set(table["item_id"])) == 1000
    assert set(table) <= set(COLUMN_NAMES)


def test_most_items_may_have_one_pair_and_gold_may_like_the_own_family():
    situation = Situation(
        name="few", items=20_000, votes=8, unequal="mostly one pair", gold_own=0.7
    )
    table = draw(situation, 1, np.random.default_rng(9))
    _, votes = np.unique(table["item_id"].astype(str), return_counts=True)
    assert set(votes) == {2, 8}
    assert (votes == 8).mean() == pytest.approx(0.1, abs=0.01)
    own = np.where(table["model_a"] == "alpha-1", 1, -1)
    assert (own == table["gold"].astype(int)).mean() == pytest.approx(0.7, abs=0.02)


def test_estimates_find_what_is_planted():
    """Every estimate of a large draw is near what the columns say when counted by hand."""
    found = {}
    for fault, judge in {
        "none": Judge(),
        "order": Judge(slot_bias=0.2),
        "sides": Judge(length=0.4, family=0.2),
        "ties": Judge(extra_ties=0.2),
    }.items():
        table = draw(replace(BASE, items=4_000, judge=judge), 1, np.random.default_rng(2))
        ((_, found[fault], _),) = planted.judged(table, seed=0, clock=planted.Clock())
    near = {
        ("none", "accuracy"): 0.85,
        ("none", "position"): 0.0,
        ("none", "overconfidence"): 0.0,
        ("none", "ties"): 0.0,
        ("none", "data"): 0.0,
        ("order", "position"): 0.2,
        # A fifth of the votes that follow length are then turned to the own family's response.
        ("sides", "length"): 0.4 * 0.8 / 2,
        ("sides", "own_family"): 0.1,
        ("ties", "ties"): 0.2,
        ("ties", "accuracy"): 0.8 * 0.85 + 0.1,
    }
    for (fault, check), truth in near.items():
        assert found[fault][check].value == pytest.approx(truth, abs=0.02), (fault, check)
        assert found[fault][check].n == 4_000


def test_an_estimate_knows_no_order_of_items():
    table = draw(Situation(name="few", items=50, votes=4), 1, np.random.default_rng(3))
    turned = {name: column[::-1] for name, column in table.items()}
    one, other = (
        next(iter(planted.judged(columns, seed=0, clock=planted.Clock())))[1]
        for columns in (table, turned)
    )
    for check in ("accuracy", "position", "ties", "length", "overconfidence", "discrimination"):
        assert one[check].value == pytest.approx(other[check].value), check
        assert (one[check].low, one[check].high) == pytest.approx(
            (other[check].low, other[check].high)
        ), check


def counts(plus, minus, gold, item=None):
    code = np.arange(len(plus))
    return VoteCounts(
        comparison=code,
        item=code if item is None else np.array(item),
        plus=np.array(plus),
        tie=np.zeros(len(plus), dtype=int),
        minus=np.array(minus),
        gold=np.array(gold),
    )


def test_errors_alone_are_no_preference_for_the_side_that_gold_rejects():
    """Gold prefers the longer in 7 of 10; the judge errs in a fifth, of whatever length."""
    gold = np.array([1] * 700 + [-1] * 300)
    wrong = np.arange(1000) % 5 == 0
    vote = np.where(wrong, -gold, gold)
    own = counts((vote == 1) * 1, (vote == -1) * 1, gold)
    side = np.ones(1000, dtype=int)
    plain = estimates.side_preference(own, side)
    fair = estimates.side_preference(own, side, balanced=True)
    assert plain.value == pytest.approx(-0.2 * 0.4)
    assert plain.high < 0
    assert fair.value == pytest.approx(0)
    assert fair.low < 0 < fair.high


def test_a_side_that_gold_always_takes_says_nothing_balanced():
    own = counts([1] * 20, [0] * 20, [1] * 20)
    assert estimates.side_preference(own, np.ones(20, dtype=int), balanced=True) is None
    assert estimates.side_preference(own, np.zeros(20, dtype=int)) is None


def test_judge_against_people_is_the_mean_of_left_out_people():
    rng = np.random.default_rng(4)
    labels = {name: rng.choice([-1, 1], 60) for name in ("judge", "p1", "p2", "p3")}
    raters = {
        name: counts((x == 1) * 1, (x == -1) * 1, np.ones(60, dtype=int))
        for name, x in labels.items()
    }
    judge = raters.pop("judge")
    expected = []
    for person in raters:
        others = sum(labels[other] for other in raters if other != person)
        mode = np.sign(others)
        expected.append((labels["judge"] == mode).astype(float) - (labels[person] == mode))
    found = estimates.judge_against_people(judge, raters)
    assert found.value == pytest.approx(np.mean(expected))
    assert found.n == 60
    assert estimates.judge_against_people(judge, {"p1": raters["p1"]}) is None


def test_nothing_to_estimate_is_none():
    unknown = OutcomeCounts(
        item=np.arange(3),
        confidence=np.full(3, np.nan),
        n=np.ones(3, dtype=int),
        correct=np.ones(3, dtype=int),
    )
    assert estimates.confidence_gap(unknown) is None
    assert estimates.discrimination(unknown) is None
    assert estimates.expected_calibration_error(unknown, rng=np.random.default_rng(0)) is None
    no_gold = counts([1, 1], [0, 0], [-9, -9])
    assert estimates.direction(no_gold) is None
    assert estimates.tie_gap(no_gold) is None
    assert estimates.repeatability(None) is None


def test_many_judges_have_the_shape_of_a_benchmark():
    table, right = many_judges(np.random.default_rng(5))
    assert len(set(table["judge"])) == len(right) == 65
    assert len(set(table["item_id"])) == 419
    assert 50_000 <= len(table["vote"]) <= 52_000
    own = table["judge"] == "judge-00"
    assert (table["vote"][own] == table["gold"][own]).mean() == pytest.approx(
        right["judge-00"], abs=0.04
    )


def test_the_best_of_many_judges_do_not_fail():
    table, right = many_judges(np.random.default_rng(6))
    best = sorted(right, key=lambda name: -right[name])[:12]
    rows = np.isin(table["judge"].astype(str), best)
    found = planted.judged({n: c[rows] for n, c in table.items()}, seed=0, clock=planted.Clock())
    for name, estimate, floor in found:
        grades, verdict = planted.graded(estimate, floor)
        assert grades["accuracy"] == "ok", name
        assert verdict in ("trust", "trust_with_limits"), (name, grades)


def audited_file(table, folder, **options):
    """Audit of a table that is written as a file, read and loaded: the verdict of each judge and
    check.
    """
    suffix, write = FILES["plain"]
    file = folder / f"votes{suffix}"
    file.write_bytes(write(table))
    with Store.open(None) as store:
        store.load(read([(file.name, file)])[0])
        found = audit(store, Selection(), AuditOptions(splits=0, **options))
    return found, {(verdict.judge, verdict.check): verdict for verdict in found.verdicts}


@pytest.mark.thorough
def test_a_file_of_65_judges_with_gold(tmp_path):
    """No judge fails for differing from a bad one, and the twelve most accurate do not fail."""
    table, right = many_judges(np.random.default_rng(6))
    found, verdicts = audited_file(table, tmp_path)
    assert len(found.judges) == 65
    best = sorted(right, key=lambda name: -right[name])[:12]
    for name in right:
        agreement = verdicts[name, "agreement"]
        assert agreement.verdict == "unknown"
        assert "Differing from another judge is no fault" in agreement.sentence
        assert "agreement" not in found.overall[name].because
        # What fails does so for what is known of it: its own share right, or its own outputs.
        failed = {
            check
            for judge, check in verdicts
            if judge == name and verdicts[judge, check].verdict == "fail"
        }
        assert failed <= {"accuracy", "data", "repeatability"}, name
        assert (found.overall[name].verdict == "do_not_trust") <= (right[name] < 0.62), name
    for name in best:
        assert verdicts[name, "accuracy"].verdict == "ok"
        assert found.overall[name].verdict in ("trust", "trust_with_limits")


def test_a_file_of_chosen_and_rejected_responses(tmp_path):
    """Gold is always A: a judge right on 95 % is ok on 30 items, and no constant label counts
    against it.
    """
    surest = Situation(
        name="chosen",
        items=30,
        votes=2,
        gold="one-sided",
        judge=Judge(accuracy=0.95, stated="none"),
    )
    table = draw(surest, 40, np.random.default_rng(10))
    found, verdicts = audited_file(table, tmp_path, anchors=())
    graded = [verdicts[judge.judge, "accuracy"] for judge in found.judges]
    assert len(graded) == 40
    assert sum(verdict.verdict == "ok" for verdict in graded) >= 36
    assert not any(verdict.verdict in ("warn", "fail") for verdict in graded)
    assert not any("commonest" in verdict.sentence for verdict in found.verdicts)
    assert {found.overall[judge.judge].verdict for judge in found.judges} <= {
        "trust",
        "trust_with_limits",
    }


@pytest.mark.parametrize(
    ("check", "fault"),
    [
        ("length", {"length": 0.5}),
        ("own_family", {"family": 0.5}),
        ("discrimination", {"stated": "random"}),
    ],
)
def test_a_judge_with_such_a_fault_passes_not_every_check(check, fault, tmp_path):
    """Half of the votes follow length or family, or confidence says nothing, and no other check
    sees it.
    """
    table = draw(
        Situation(name="fault", items=300, votes=2, judge=Judge(**fault)),
        1,
        np.random.default_rng(11),
    )
    found, verdicts = audited_file(table, tmp_path, families={"alpha": ("alpha", "judge")})
    assert verdicts["judge-0000", check].verdict in ("warn", "fail")
    overall = found.overall["judge-0000"]
    assert overall.verdict == "trust_with_limits"
    assert check in overall.because


def test_equal_models_are_equal():
    table = equal_models(np.random.default_rng(7), models=7, items=20_000)
    share = [
        table["vote"][table["model_a"] == name].astype(float).mean()
        for name in sorted(set(table["model_a"]))
    ]
    assert np.ptp(share) < 0.03
    assert len(share) == 7


@pytest.mark.parametrize("form", FILES)
def test_the_same_votes_in_every_form_of_file(form, tmp_path):
    table = draw(
        Situation(name="file", items=30, votes=4, gold="half ties"), 1, np.random.default_rng(8)
    )
    suffix, write = FILES[form]
    file = tmp_path / f"votes{suffix}"
    file.write_bytes(write(table))
    (result,) = read([(file.name, file)])
    key = ["item_id", "run", "position"]
    found = (
        result.votes.cast(VOTES.schema())
        .select([*key, "vote", "gold"])
        .to_pandas()
        .sort_values(key)
    )
    order = np.lexsort([table[name].astype(str) for name in reversed(key)])
    assert found["vote"].tolist() == table["vote"][order].tolist()
    assert found["gold"].tolist() == table["gold"][order].tolist()


def test_tables(capsys):
    few = ["--items", "30", "100", "--draws", "3", "--power-draws", "2", "--workers", "1"]
    planted.main(
        [*few, "--only", "slot bias 0.4, 2 votes", "no fault, balanced gold, 2 votes, alike 0.8"]
    )
    shown = capsys.readouterr().out
    for heading in ("## Wanted", "## False alarms", "## Power", "## Overall"):
        assert heading in shown
    assert "| slot bias | 0.4 | 2 | 0.8 | position | 1.00" in shown
    assert "| no fault, balanced gold, 2 votes, alike 0.8 | 100 |" in shown


def test_what_is_kept_is_not_drawn_again(tmp_path, monkeypatch, capsys):
    few = [
        "--only",
        "slot bias 0.4, 2 votes",
        "--items",
        "30",
        "--power-draws",
        "2",
        "--workers",
        "1",
    ]
    kept = ["--kept", str(tmp_path / "found.jsonl")]
    planted.main([*few, *kept])
    first = capsys.readouterr().out
    monkeypatch.setattr(planted, "_job", None)
    planted.main([*few, *kept])
    assert capsys.readouterr().out == first


def test_a_cell_may_show_what_chance_shows():
    def beyond(alarms):
        return 1 - sum(math.comb(400, k) * 0.05**k * 0.95 ** (400 - k) for k in range(alarms + 1))

    for cells in (1, 300):
        most = planted.most_by_chance(400, cells)
        assert beyond(most) <= 0.05 / cells < beyond(most - 1)
