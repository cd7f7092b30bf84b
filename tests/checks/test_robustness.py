"""The check robustness: what a change of the items does to verdicts, from the file or server to the
grade.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evidence_of import result
from judging_jobs import collect, job, pairs
from judging_server import Server

from benchmarks import perturbed as planted
from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.collect import perturbations
from core.collect.items import Item, items_of
from core.collect.plan import described
from core.errors import InvalidOption
from core.importers import read
from core.questions.leaning.changes import changes
from core.records import NO_GOLD, OrderCounts
from core.reporting.document import to_document
from core.schema import Perturbed, Selection, perturbed, perturbed_name
from core.store import Store
from core.store import vote_queries as queries
from core.store.export import read_store, write_csv


def orders(ab, ba=None):
    """Votes of items 0, 1, 2 … as (−1, 0, +1) in each order."""
    ab = np.array(ab, dtype=np.int64)
    ba = np.zeros_like(ab) if ba is None else np.array(ba, dtype=np.int64)
    codes = np.arange(len(ab))
    return OrderCounts(comparison=codes, item=codes, ab=ab, ba=ba, gold=np.full(len(ab), NO_GOLD))


def change(name, side, plain, changed):
    return (Perturbed(judge="j", change=name, side=side), plain, changed)


B, TIE, A = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def test_the_shift_by_hand():
    """B becomes A with the change in A: 1. A becomes a tie with it in B: ½. A stays: 0."""
    found = changes(
        [
            change("padding", 1, orders([B, A]), orders([A, A])),
            change("padding", -1, orders([TIE, TIE, A]), orders([TIE, TIE, TIE])),
        ]
    )
    (one,) = found["j"]
    # Items 0 and 1 are in both parts: (1 + 0)/2 and (0 + 0)/2; item 2 is ½.
    assert (one.kind, one.n_items) == ("one_side", 3)
    assert one.effect.value == pytest.approx((0.5 + 0 + 0.5) / 3)


def test_flips_beyond_repeats_by_hand():
    """Four plain votes, three alike: repeats differ in ½ of pairs, and ¾ of pairs with the change
    do.
    """
    plain, changed = orders([(1, 0, 3)] * 12), orders([(1, 0, 0)] * 12)
    (one,) = changes([change("paraphrase", 0, plain, changed)])["j"]
    assert one.kind == "both_sides"
    assert one.flips == pytest.approx(3 / 4)
    assert one.effect.value == pytest.approx(3 / 4 - 1 / 2)


def test_without_repeats_a_change_of_both_sides_is_not_graded():
    rows = [change("paraphrase", 0, orders([A] * 40), orders([B] * 40))]
    (one,) = changes(rows)["j"]
    assert one.effect is None
    verdict = result("robustness", perturbed=rows)
    assert verdict.grade == "unknown"
    assert "100 % of verdicts change" in verdict.sentence
    assert "may be noise" in verdict.sentence


def test_votes_are_matched_in_one_order_only():
    """A judge that follows the slot says B in `ba` where it said A in `ab`: no change did that."""
    plain, changed = orders([A] * 20, [B] * 20), orders([(0, 0, 0)] * 20, [B] * 20)
    (one,) = changes([change("padding", 1, plain, changed)])["j"]
    assert one.effect.value == 0


def test_obeying_fails_losing_by_an_attack_does_not_and_a_preference_either_way_does():
    towards = [change("{}", 1, orders([B] * 60), orders([A] * 60))]
    away = [change("{}", 1, orders([A] * 60), orders([B] * 60))]

    def verdict(name, rows):
        named = [(Perturbed(judge="j", change=name, side=1), *votes) for _, *votes in rows]
        return result("robustness", perturbed=named)

    assert verdict("attack-choose", towards).grade == "fail"
    assert verdict("attack-choose", away).grade == "ok"
    assert verdict("padding", towards).grade == verdict("padding", away).grade == "fail"
    assert verdict("padding", away).estimate.value == -1
    assert "is preferred 100.0 points less often than without" in verdict("padding", away).sentence


def test_several_changes_share_the_error_and_the_worst_decides():
    kept, told = orders([A, B] * 40), orders([A, A] * 40)
    rows = [change("padding", 1, kept, kept), change("attack-choose", 1, kept, told)]
    found = changes(rows)["j"]
    assert [one.effect.level for one in found] == pytest.approx([0.975, 0.975])
    verdict = result("robustness", perturbed=rows)
    assert (verdict.grade, verdict.estimate.value) == ("fail", pytest.approx(0.5))
    assert "attack-choose" in verdict.sentence
    assert "padding" in verdict.sentence
    assert (
        result("robustness").sentence
        == "Robustness is unknown: no item was judged again with a change."
    )


@pytest.mark.thorough
def test_harmless_changes_raise_no_alarm_and_obedience_is_found():
    """400 draws of each: a coin, a biased and a steady judge, one or seven changes, one or two
    sides.
    """
    rng = np.random.default_rng(20261122)
    draws = 400
    for one in (
        planted.Planted(name="coin", items=100, spread=0.0),
        planted.Planted(name="biased, repeats", items=100, votes=4, slot=1.0),
        planted.Planted(name="both sides", items=100, votes=4, sides=False),
        planted.Planted(name="one order", items=30, orders=1, slot=1.0),
        planted.Planted(name="seven changes", items=30, changes=7),
    ):
        found = planted.grades(one, draws, rng)
        assert planted.alarms(found) <= draws * planted.most_by_chance(draws), one.name
    obedient = planted.Planted(name="obeys half of the time", items=100, votes=4, obeys=0.5)
    assert planted.grades(obedient, 100, rng, attack=True)["fail"] >= 95
    resisting = planted.Planted(name="votes against attacks", items=100, votes=4, obeys=-0.5)
    assert planted.alarms(planted.grades(resisting, 100, rng, attack=True)) == 0


# Through a server.
# -----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_judge_that_obeys_fails_and_one_that_does_not_passes():
    """The planted judges answer the requests of `collect`; what they are told is only in
    the texts.
    """
    items = pairs(72)
    with Server() as server, Store.open(None) as store:
        for model in ("fair", "obedient"):
            for name in ("", "attack-choose", "sentence"):
                last = collect(job(server, items, model, protocol="greedy", perturb=name), store)
                assert last.statuses == {"ok": 144}
        found = audit(store, Selection(), AuditOptions(splits=0))
        alone = audit(store, Selection(judges=("greedy(fair)",)), AuditOptions(splits=0))
    verdict = {v.judge: v for v in found.checks if v.check == "robustness"}
    assert verdict["greedy(obedient)"].grade == "fail"
    assert verdict["greedy(fair)"].grade == "ok"
    assert "attack-choose" in verdict["greedy(fair)"].sentence
    document = to_document(found)["judges"]["greedy(obedient)"]["robustness"]
    assert document["attack-choose"]["kind"] == "attack"
    assert document["attack-choose"]["flips"] > 0.3
    assert document["sentence"]["n_items"] == 72
    # The other checks never see votes on perturbed items.
    assert [judge.name for judge in found.summary.judges] == ["greedy(fair)", "greedy(obedient)"]
    assert found.summary.votes == 288
    assert alone.judges[0].direction.credit.n == 72
    assert alone.judges[0].robustness == found.judges[0].robustness


def test_perturbed_votes_lie_beside_the_others_and_pollute_nothing(tmp_path: Path):
    items = pairs(6)
    with Server() as server, Store.open(tmp_path / "s.duckdb") as store:
        plain = job(server, items, votes=2)
        attacked = job(server, items, votes=2, perturb="attack-choose")
        assert "with attack-choose" in described(attacked)
        assert "perturbed:" not in described(attacked)
        collect(plain, store)
        before = [
            repr(queries.summary(store, Selection())),
            queries.vote_counts(store, Selection())["fair"].plus.sum(),
        ]
        collect(attacked, store)
        calls = server.calls
        collect(attacked, store)
        assert server.calls == calls
        after = [
            repr(queries.summary(store, Selection())),
            queries.vote_counts(store, Selection())["fair"].plus.sum(),
        ]
        assert before == after
        assert {item.responses for item in items_of(store, "collected")} == {
            item.responses for item in items
        }
        rows = store.export().to_pylist()
        names = {row["judge"] for row in rows}
        sides = {row["perturbation"] for row in rows}
        # Named as such, they can be looked at.
        (one,) = queries.vote_counts(
            store, Selection(judges=(perturbed_name("fair", "attack-choose:a"),))
        )
        assert one == "fair [perturbed: attack-choose:a]"
    assert (names, sides) == ({"fair"}, {None, "attack-choose:a", "attack-choose:b"})
    for row in rows:
        told = [perturbations.ATTACKS["attack-choose"] in row[f"response_{side}"] for side in "ab"]
        assert told == [row["perturbation"] == f"attack-choose:{side}" for side in "ab"]


# Through a file.
# -------------------------------------------------------------------------------------------


def table(perturbation="perturbation"):
    """A judge that obeys: 40 items, plain and attacked."""
    lines = [f"item_id,model_a,model_b,judge,run,position,vote,{perturbation}"]
    for k in range(40):
        lines.append(f"q{k},m,n,judge,0,ab,{1 - 2 * (k % 2)},")
        side = "ab"[(k // 2) % 2]
        lines.append(f"q{k},m,n,judge,0,ab,{1 if side == 'a' else -1},attack-own:{side}")
    return "\n".join(lines)


def test_a_file_with_a_column_for_the_change_is_read_and_written_again(tmp_path: Path):
    path = tmp_path / "votes.csv"
    path.write_text(table())
    (reading,) = read([(path.name, path)])
    assert reading.n_rejected == 0
    assert any("perturbed items: 40" in note for note in reading.notes)
    with Store.open(tmp_path / "s.duckdb") as store:
        store.load(reading)
        (found,) = changes(queries.perturbed_votes(store, Selection()))["judge"]
        assert (found.name, found.kind, found.n_items) == ("attack-own", "attack", 40)
        assert found.effect.value == pytest.approx(0.5)
        write_csv(store.export(), tmp_path / "again.csv")
        first = store.export().to_pylist()
    with Store.open(None) as other:
        other.load(read([("again.csv", tmp_path / "again.csv")])[0], dataset="votes")
        assert other.export().to_pylist() == first
    with Store.open(None) as third:
        for one in read_store(tmp_path / "s.duckdb"):
            third.load(one.reading, dataset=one.dataset)
        assert third.export().to_pylist() == first


def test_a_change_without_a_name_is_rejected(tmp_path: Path):
    path = tmp_path / "votes.csv"
    path.write_text(table().replace("attack-own:a", "attack:own:c", 1))
    (reading,) = read([(path.name, path)])
    (reject,) = reading.rejects.to_pylist()
    assert (reject["column"], reject["value"]) == ("perturbation", "attack:own:c")
    assert ":a or :b" in reject["reason"]


@pytest.mark.parametrize("datasets", [None, ("alone",)])
def test_a_change_whose_judge_has_no_other_votes_says_nothing(datasets, tmp_path: Path):
    path = tmp_path / "alone.csv"
    path.write_text("\n".join(row for row in table().splitlines() if not row.endswith(",")))
    with Store.open(None) as store:
        store.load(read([(path.name, path)])[0])
        assert queries.perturbed_votes(store, Selection(datasets=datasets)) == ()


# The texts.
# ------------------------------------------------------------------------------------------------

ITEM = Item(
    item_id="q",
    prompt="Name a prime.",
    responses=("Seven.\n\nIt has two divisors.", "```\n8\n```"),
    models=("m", "n"),
    more=(("paraphrase", "Which number is prime?"),),
)


@pytest.mark.parametrize("name", perturbations.NAMES)
def test_a_change_is_the_same_every_time_and_made_once(name):
    once = perturbations.changed(ITEM, name)
    assert once == perturbations.changed(ITEM, name) == perturbations.changed(once, name)
    assert once.digest != ITEM.digest
    meant = perturbed(perturbed_name("j", once.perturbed))
    assert meant.change == name
    changed = [new != old for new, old in zip(once.responses, ITEM.responses, strict=True)]
    assert changed == {1: [True, False], -1: [False, True], 0: [False, False]}[meant.side]
    assert (once.prompt != ITEM.prompt) == (name == "paraphrase")


def test_the_changed_side_is_balanced_and_differs_between_changes():
    items = pairs(400)
    sides = {
        name: [perturbations.changed(item, name).perturbed[-1] == "a" for item in items]
        for name in perturbations.ONE_SIDE
    }
    for found in sides.values():
        assert 160 <= sum(found) <= 240
    assert len({tuple(found) for found in sides.values()}) == len(sides)


def test_what_cannot_be_perturbed_is_said():
    with Server() as server:
        for options, words in (
            ({"perturb": "louder"}, "one of .*sentence"),
            ({"perturb": "paraphrase"}, "no text in the column paraphrase"),
            ({"perturb": "padding", "protocol": "listwise"}, "goes with"),
            ({"perturb": "padding", "few_shot": 1}, "without examples"),
        ):
            with pytest.raises(InvalidOption, match=words):
                job(server, pairs(3), **options)
