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

from benchmarks import planted, planted_audit, planted_votes
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
from core.auditing.checks import CHECKS as ALL_CHECKS
from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.importers import read
from core.questions.accuracy.results import CREDIT
from core.questions.agreement.results import OWN_GOLD, PEOPLE_RATE
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
    assert len(found) >= 500
    assert len({(one.name, one.items) for one in found}) == len(found)
    assert {one.items for one in found} == {10, 30, 60, 100, 300, 419, 1000}
    assert {one.votes for one in found} == {1, 2, 4, 6, 8}
    assert {one.gold for one in found} == {
        "balanced",
        "one-sided",
        "half ties",
        "none",
        "humans",
        "people's mode",
        "first vote",
    }
    assert all((one.fault == "none") == (one.effect == 0) for one in found)
    # Robustness has situations of its own in benchmarks/perturbed, files in benchmarks/weekly, and
    # who and which in benchmarks/planted_reference.
    elsewhere = {"robustness", "one_judge", "who", "labels", "right_over_time"}
    assert {*CHECKS, *elsewhere} == {check.name for check in ALL_CHECKS}


def test_a_judge_without_a_fault_has_none():
    found = drawn()
    right = found["vote"] == found["gold"]
    assert right.mean() == pytest.approx(0.85, abs=0.01)
    assert found["confidence"].mean() == pytest.approx(right.mean(), abs=0.01)
    for stated in (0.6, 0.75, 0.9, 1.0):
        rows = np.abs(found["confidence"] - stated) < 0.035
        assert right[rows].mean() == pytest.approx(found["confidence"][rows].mean(), abs=0.04)
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


def audited(situation, *, seed=0, draws=1, table=None, **options):
    """Evidence and results of every rater that a situation is about."""
    drawn_table = draw(situation, draws, np.random.default_rng(seed)) if table is None else table
    return [
        (evidence, {result.check: result for result in results})
        for evidence, (results,) in planted.audited_draws(situation, drawn_table, **options)
    ]


@pytest.mark.thorough
def test_estimates_find_what_is_planted():
    """Every estimate of a large draw is near what the columns say when counted by hand."""
    found = {}
    for fault, judge in {
        "none": Judge(),
        "order": Judge(slot_bias=0.2),
        "sides": Judge(length=0.4, family=0.2),
        "ties": Judge(extra_ties=0.2),
        "coins": Judge(coins=0.2, alike=1.0),
    }.items():
        ((_, found[fault]),) = audited(replace(BASE, items=4_000, judge=judge), seed=2)
    near = {
        ("none", "accuracy"): 0.85,
        ("none", "position"): 0.0,
        ("none", "overconfidence"): 0.0,
        ("none", "ties"): 0.0,
        ("order", "position"): 0.2,
        # A fifth of the votes that follow length are then turned to the own family's response.
        ("sides", "length"): 0.4 * 0.8 / 2,
        ("sides", "own_family"): 0.1,
        ("ties", "ties"): 0.2,
        ("ties", "accuracy"): 0.8 * 0.85 + 0.1,
        ("coins", "coin_share"): 0.2,
        ("coins", "stability"): 0.1,
    }
    for (fault, check), truth in near.items():
        estimate = found[fault][check].estimate
        assert estimate.value == pytest.approx(truth, abs=0.025), (fault, check)
        assert estimate.n == 4_000
    assert found["none"]["data"].grade == "ok"


def test_an_estimate_knows_no_order_of_items():
    few = Situation(name="few", items=50, votes=4)
    table = draw(few, 1, np.random.default_rng(3))
    turned = {name: column[::-1] for name, column in table.items()}
    (_, forwards), (_, backwards) = (audited(few, table=columns)[0] for columns in (table, turned))
    for check in ("accuracy", "position", "ties", "length", "overconfidence", "discrimination"):
        one, other = forwards[check].estimate, backwards[check].estimate
        assert one.value == pytest.approx(other.value), check
        assert (one.low, one.high) == pytest.approx((other.low, other.high)), check


@pytest.mark.thorough
def test_each_draw_is_audited_as_if_it_were_alone():
    """Draws that were loaded together give what each gives in a store of its own."""
    situation = Situation(name="few", items=40, votes=4, people=3, judge=Judge(missing=0.1))
    table = draw(situation, 3, np.random.default_rng(5))
    together = audited(situation, table=table)
    assert len(together) == 3
    number = np.array([planted_audit.draw_of(name) for name in table["judge"].astype(str)])
    for place, (evidence, results) in enumerate(together):
        own = {name: column[number == f"{place:04d}"] for name, column in table.items()}
        ((alone, expected),) = audited(situation, table=own)
        assert (evidence.judge, sorted(evidence.other_people)) == (
            alone.judge,
            sorted(alone.other_people),
        )
        assert evidence[PEOPLE_RATE] == alone[PEOPLE_RATE]
        for check, result in expected.items():
            assert results[check].sentence == result.sentence


def test_what_was_drawn_is_what_the_product_says_of_a_file(tmp_path):
    """The benchmark's short cut, one load for many draws, and an audit of the file are one."""
    situation = Situation(name="file", items=60, votes=4, judge=Judge(slot_bias=0.2))
    table = draw(situation, 1, np.random.default_rng(12))
    _, verdicts = audited_file(table, tmp_path, families=planted_audit.FAMILIES)
    ((evidence, results),) = audited(situation, table=table)
    for check, result in results.items():
        of_file = verdicts[evidence.judge, check]
        assert (result.grade, result.sentence) == (of_file.grade, of_file.sentence)


def test_one_order_and_what_gold_has_to_do_with_it():
    situation = Situation(name="one", items=20_000, votes=1, gold_first=0.9, gold_a=0.7)
    table = draw(situation, 1, np.random.default_rng(13))
    gold = table["gold"].astype(int)
    first = np.where(table["position"] == "ab", 1, -1)
    assert (gold == first).mean() == pytest.approx(0.9, abs=0.01)
    assert (gold == 1).mean() == pytest.approx(0.7, abs=0.01)
    several = replace(situation, items=50, votes=4, orders="one")
    table = draw(several, 1, np.random.default_rng(13))
    orders = {
        (item, order) for item, order in zip(table["item_id"], table["position"], strict=True)
    }
    assert len(orders) == 50
    assert set(table["run"]) == {0, 1, 2, 3}
    unknown = draw(replace(situation, orders="unknown"), 1, np.random.default_rng(13))
    assert all(order is None for order in unknown["position"])


def test_judges_that_do_not_read():
    for judge, column in (
        (Judge(family=1.0), "own"),
        (Judge(length=1.0), "longer"),
        (Judge(slot_bias=1.0), "shown"),
    ):
        columns = drawn(
            items=2_000,
            **{name: getattr(judge, name) for name in ("family", "length", "slot_bias")},
        )
        assert (columns["vote"] == columns[column]).all()
    assert set(drawn(items=500, label=1.0)["vote"]) == {1}


@pytest.mark.thorough
def test_noise_that_is_alike_everywhere_and_coins_on_some():
    turned = pairs(drawn(alike=1.0, flips=0.1))
    assert (turned[:, 0] != turned[:, 1]).mean() == pytest.approx(2 * 0.1 * 0.9, abs=0.01)
    coins = drawn(alike=1.0, coins=0.2)["vote"].reshape(-1, 4)
    split = (np.abs(coins.sum(axis=1)) < 4).mean()
    assert split == pytest.approx(0.2 * (1 - 2 / 16), abs=0.01)
    ties = pairs(drawn(alike=1.0, swap_ties=0.5))
    assert (ties[:, 0] == 0).mean() == 0
    assert (ties[:, 1] == 0).mean() == pytest.approx(0.5, abs=0.01)


def test_the_least_sure_rows_are_rejected():
    situation = Situation(name="rejected", items=500, votes=2, rejected=0.15)
    kept = draw(situation, 3, np.random.default_rng(14))
    everything = draw(replace(situation, rejected=0.0), 3, np.random.default_rng(14))
    assert situation.n_rejected == 150
    assert len(kept["vote"]) == 3 * (1000 - 150)
    for place in range(3):
        own = kept["judge"] == f"judge-{place:04d}"
        least = np.sort(everything["confidence"][everything["judge"] == f"judge-{place:04d}"])
        assert kept["confidence"][own].min() >= least[149]


def test_gold_that_is_made_of_votes():
    people = Situation(
        name="people", items=300, votes=2, people=3, people_accuracy=0.75, gold="people's mode"
    )
    table = draw(people, 1, np.random.default_rng(15))
    by_item: dict[str, list[int]] = {}
    for item, kind, vote in zip(table["item_id"], table["rater_type"], table["vote"], strict=True):
        if kind == "human":
            by_item.setdefault(item, []).append(vote)
    gold = dict(zip(table["item_id"], table["gold"], strict=True))
    assert {item: int(np.sign(sum(votes))) for item, votes in by_item.items()} == gold
    first = replace(people, people=0, votes=4, gold="first vote", judge=Judge(alike=0.0))
    table = draw(first, 1, np.random.default_rng(15))
    firsts = (table["run"] == 0) & (table["position"] == "ab")
    assert (table["vote"][firsts] == table["gold"][firsts]).all()
    assert (table["vote"] == table["gold"]).mean() < 1


UNREAD = [one for one in planted_votes._unread() if one.items in (100, 300)]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "situation",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.thorough] if place % 5 else [])
        for place, one in enumerate(
            one for one in UNREAD if one.items == (300 if one.fault in planted.AT_300 else 100)
        )
    ],
)
def test_a_judge_that_does_not_read_is_never_plainly_trusted(situation):
    """And votes, people or rows that tell less than they seem to. The benchmark wants .9 found."""
    found = planted.audit_draws(situation, 12, seed=3)
    assert found.caught >= 0.8 * found.draws, found.overall
    assert found.overall["trust"] <= 0.1 * found.draws


def test_people_are_not_graded_against_gold_of_their_own_votes():
    own = next(one for one in UNREAD if one.audited == "people" and one.items == 300)
    for evidence, results in audited(own, seed=16):
        assert results["accuracy"].grade == "unknown"
        assert not results["accuracy"].applicable
        assert "gold is made of the people's votes" in results["accuracy"].sentence
        assert evidence[CREDIT] is None or evidence[OWN_GOLD] is not None
    honest = replace(own, gold="balanced", people_accuracy=0.9)
    for evidence, results in audited(honest, seed=16):
        assert results["accuracy"].grade == "ok", evidence.judge
    # People who are nearly always right equal gold honestly: they are graded, and told so.
    surest = replace(honest, people_accuracy=0.998)
    for _, results in audited(surest, seed=16):
        assert results["accuracy"].grade == "ok"
        assert "Gold equals the people's majority" in results["accuracy"].sentence


def test_a_judge_is_not_graded_against_its_own_first_votes():
    own = next(one for one in UNREAD if one.gold == "first vote" and one.items == 300)
    ((_, results),) = audited(own, seed=17)
    assert "gold is made of its own first votes" in results["accuracy"].sentence
    ((_, results),) = audited(replace(own, gold="balanced"), seed=17)
    assert results["accuracy"].grade != "unknown"


@pytest.mark.thorough
def test_levels_move_no_p_value_and_warn_within_themselves():
    found = planted.warnings_at_levels(4)
    assert found.difference <= planted.SAME_P
    assert found.graded["accuracy"] == 4 * 9
    for level, warned in found.warned.items():
        for check, judges in found.graded.items():
            most = (1 - level) * judges
            assert warned[check] <= most + 4 * math.sqrt(most) + 1, (level, check)
    lines = planted.levels_table(found)
    assert "0.8 | 0.9 | 0.95 | 0.99" in lines[0]
    assert "equal" in lines[-1]


def test_many_judges_have_the_shape_of_a_benchmark():
    table, right = many_judges(np.random.default_rng(5))
    assert len(set(table["judge"])) == len(right) == 65
    assert len(set(table["item_id"])) == 419
    assert 50_000 <= len(table["vote"]) <= 52_000
    own = table["judge"] == "judge-00"
    assert (table["vote"][own] == table["gold"][own]).mean() == pytest.approx(
        right["judge-00"], abs=0.04
    )


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
    return found, {(result.judge, result.check): result for result in found.checks}


@pytest.mark.thorough
def test_a_file_of_65_judges_with_gold(tmp_path):
    """No judge fails for differing from a bad one, and the twelve most accurate do not fail."""
    table, right = many_judges(np.random.default_rng(6))
    found, verdicts = audited_file(table, tmp_path)
    assert len(found.judges) == 65
    best = sorted(right, key=lambda name: -right[name])[:12]
    for name in right:
        agreement = verdicts[name, "agreement"]
        assert agreement.grade == "unknown"
        assert "Differing from another judge is no fault" in agreement.sentence
        assert "agreement" not in found.overall[name].because
        # What fails does so for what is known of it: its own share right, or its own outputs.
        failed = {
            check
            for judge, check in verdicts
            if judge == name and verdicts[judge, check].grade == "fail"
        }
        assert failed <= {"accuracy", "category", "data", "repeatability"}, name
        assert (found.overall[name].verdict == "do_not_trust") <= (right[name] < 0.62), name
    for name in best:
        assert verdicts[name, "accuracy"].grade == "ok"
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
    assert sum(result.grade == "ok" for result in graded) >= 36
    assert not any(result.grade in ("warn", "fail") for result in graded)
    assert not any("commonest" in result.sentence for result in found.checks)
    assert {found.overall[judge.judge].verdict for judge in found.judges} <= {
        "trust",
        "trust_with_limits",
    }


@pytest.mark.thorough
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
    assert verdicts["judge-0000", check].grade in ("warn", "fail")
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
    few += ["--level-draws", "0"]
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
        "--level-draws",
        "0",
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
