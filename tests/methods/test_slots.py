"""The slot-corrected winner: planted slots are found and taken out, and without them nothing moves."""

import re
from dataclasses import replace

import numpy as np
import pytest
from places import REPOSITORY
from scipy.optimize import minimize
from test_listwise import planted, rankings

from benchmarks import slot_corrected as measured
from core.errors import InvalidOption
from core.questions.lists.slots import slot_corrected

PULL = np.array([1.5, 0.0, -0.5, -1.0])


def drawn(rng, *, items=400, runs=4, pull=PULL, spread=1.0):
    """Picks by a conditional logit: utilities N(0, spread²), of which the highest is the best."""
    n = len(pull)
    shape = (items, runs)
    utility = rng.normal(scale=spread, size=(items, n))
    slot = rng.permuted(np.tile(np.arange(n), (*shape, 1)), axis=2)
    odds = utility[:, None, :] + pull[slot] + rng.gumbel(size=(*shape, n))
    blank = planted(rng, items=items, runs=runs, q=0.5, n=n)
    chosen = (odds.argmax(axis=2)[:, :, None] == np.arange(n)).astype(np.int64).ravel()
    best = (utility.argmax(axis=1)[blank.item] == blank.candidate).astype(np.int64)
    return replace(blank, slot=slot.ravel(), chosen=chosen, best=best)


def test_planted_slots_are_recovered_and_taken_out():
    picks = drawn(np.random.default_rng(0))
    slots = slot_corrected(picks).slots
    assert slots == pytest.approx(PULL - PULL.mean(), abs=0.25)
    assert slot_corrected(picks).change.low > 0


def test_slots_have_no_quality_in_them_where_the_best_always_stands_in_one_slot():
    """In run 0 the best is always first, in run 1 always second; the judge has no slot it likes."""
    rng = np.random.default_rng(1)
    picks = drawn(rng, runs=2, pull=np.zeros(4), spread=2.0)
    place = np.where(picks.best == 1, picks.run, -1)
    others = np.lexsort((picks.candidate, picks.best == 1, picks.run, picks.item))
    slot = np.empty_like(picks.slot)
    for run in (0, 1):
        free = [s for s in range(4) if s != run]
        here = others[picks.run[others] == run]
        slot[here] = np.tile([*free, run], len(here) // 4)
    assert (slot[place >= 0] == picks.run[place >= 0]).all()
    assert not slot_corrected(replace(picks, slot=slot)).slots.any()


@pytest.mark.parametrize("runs", [2, 3, 6])
def test_a_judge_without_slots_keeps_the_winners_of_its_plurality(runs):
    changes = [
        slot_corrected(
            planted(np.random.default_rng(seed), items=150, runs=runs, q=0.6)
        ).change.value
        for seed in range(12)
    ]
    assert abs(np.mean(changes)) <= 0.005
    assert np.mean(np.abs(changes) > 0) <= 0.25


def test_utilities_are_the_mode_that_scipy_finds():
    picks = drawn(np.random.default_rng(2), items=60, runs=4)
    found = slot_corrected(picks, ridges=(0.5,))
    assert found.slots.any()
    first = picks.item == 0
    slot = picks.slot[first].reshape(4, 4)
    chosen = picks.chosen[first].reshape(4, 4).astype(float)

    def objective(utility):
        odds = utility + found.slots[slot]
        picked = (chosen * (odds - np.log(np.exp(odds).sum(axis=1, keepdims=True)))).sum()
        return -picked + 0.25 * (utility**2).sum()

    at = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    assert found.utility[:4] == pytest.approx(at, abs=1e-5)


def test_naming_candidates_otherwise_changes_nothing():
    picks = drawn(np.random.default_rng(3), items=80)
    turned = replace(picks, candidate=3 - picks.candidate)
    first, second = slot_corrected(picks), slot_corrected(turned)
    assert second.slots == pytest.approx(first.slots, abs=1e-6)
    assert second.utility.reshape(-1, 4)[:, ::-1] == pytest.approx(
        first.utility.reshape(-1, 4), abs=1e-4
    )


def test_few_items_leave_slots_alone_and_one_order_says_nothing():
    few = slot_corrected(drawn(np.random.default_rng(4), items=10))
    assert few.gain is None
    assert not few.slots.any()
    one = slot_corrected(
        rankings(
            [
                {"item": 0, "run": 0, "candidate": c, "slot": c, "chosen": int(c == 2)}
                for c in range(4)
            ]
        )
    )
    assert one.winner.tolist() == [False, False, True, False]
    with pytest.raises(InvalidOption, match="above 0"):
        slot_corrected(drawn(np.random.default_rng(4), items=10), ridges=(0.0,))


@pytest.mark.thorough
def test_on_real_picks_it_beats_plurality_for_four_of_five_judges_at_least(shared_data):
    of_judges = measured.gains(shared_data / "votes" / "listwise_choices.csv.gz")
    results = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- slots -->\n(.*?)\n<!-- /slots -->", results, flags=re.DOTALL)
    assert shown is not None
    assert shown[1] == measured.table(of_judges)
    assert sum(every.right.value > every.plurality.value for every, *_ in of_judges.values()) >= 4
