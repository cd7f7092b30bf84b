"""Listwise rankings in figures and sentences."""

from dataclasses import replace

import numpy as np
from test_listwise import planted

from core.consensus.listwise import improvement
from core.consensus.listwise_orders import order_sensitivity, order_sweep
from core.consensus.slots import slot_corrected
from core.interpretation import listwise as list_sentences
from core.interpretation.answer import MOST_WORDS, words
from core.plots.base import rater_styles
from core.plots.consensus import (
    improvements_figure,
    sensitivities_figure,
    slots_figure,
    sweep_figure,
)
from core.stats.estimate import Estimate
from core.wording import percent

STYLE = rater_styles(["judge"])["judge"]


def test_figures_plot_what_was_found():
    table = planted(np.random.default_rng(0), items=60, runs=5, q=0.7)
    sweep = order_sweep(table, rng=np.random.default_rng(0))
    drawn = sweep_figure(sweep, style=STYLE)
    assert tuple(drawn.data[0].y) == tuple(row.accuracy.value for row in sweep.rows)
    assert tuple(drawn.data[1].y) == tuple(row.majority_error for row in sweep.rows)
    assert tuple(drawn.data[2].y) == tuple(row.bound for row in sweep.rows)
    slots = order_sensitivity(table).slots
    assert tuple(slots_figure(slots, style=STYLE).data[0].y) == tuple(
        row.win.value for row in slots
    )
    sensitive = {"judge": order_sensitivity(table)}
    changed = sensitive["judge"].changed
    drawn = sensitivities_figure(sensitive, styles={"judge": STYLE})
    assert [x for trace in drawn.data for x in trace.x or () if x is not None] == [changed.value]
    found = improvement(table)
    marks = [
        x
        for trace in improvements_figure({"judge": found}, styles={"judge": STYLE}).data
        for x in trace.x or ()
    ]
    assert {found.overall.direct.value, found.overall.consensus.value} <= set(marks)


def test_headlines_of_slots_follow_from_pull_and_change():
    table = planted(np.random.default_rng(0), items=120, runs=7, q=0.6)
    plain, corrected = order_sensitivity(table), slot_corrected(table)
    said = list_sentences.slots_answer("judge", plain, corrected)
    assert said.headline == "No slot is shown to sway judge."
    assert said.good
    most = max(plain.slots, key=lambda row: abs(row.pull.value))
    assert said.figures.startswith(f"slot {most.slot + 1} first in {percent(most.win.value, 1)} (")
    pulled = replace(most, pull=replace(most.pull, value=0.2, low=0.15, high=0.25))
    others = tuple(pulled if row is most else row for row in plain.slots)
    change = Estimate(0.05, 0.02, 0.08, n=120)
    mended = replace(
        corrected,
        slots=np.array([0.3, -0.1, -0.1, -0.1]),
        change=change,
        right=Estimate(0.75, 0.7, 0.8, n=120),
        plurality=Estimate(0.7, 0.65, 0.75, n=120),
    )
    swayed = list_sentences.slots_answer("judge", replace(plain, slots=others), mended)
    assert swayed.headline == (
        f"judge picks slot {most.slot + 1} more often than the same candidates elsewhere; "
        "without the slots' pull it is right more often."
    )
    assert words(swayed.headline) <= MOST_WORDS
    assert "+20.0 points (15.0–25.0) from the same candidates elsewhere" in swayed.figures
    assert "right 75.0 % without slots, by most picks 70.0 %, +5.0 points" in swayed.figures
    assert not swayed.good
    still = replace(mended, change=replace(change, low=-0.01))
    assert list_sentences.slots_answer("judge", replace(plain, slots=others), still).headline == (
        f"judge picks slot {most.slot + 1} more often than the same candidates elsewhere."
    )
    unmoved = tuple(replace(row, pull=replace(row.pull, n=0)) for row in plain.slots)
    unknown = list_sentences.slots_answer("judge", replace(plain, slots=unmoved), corrected)
    assert unknown.headline.startswith("No candidate changed its slot")


def test_words_follow_from_numbers():
    gains = planted(np.random.default_rng(0), items=400, runs=7, q=0.6)
    found, sweep = improvement(gains), order_sweep(gains, rng=np.random.default_rng(0))
    assert "more often than the first order" in list_sentences.gained(found)
    assert "not demonstrably" not in list_sentences.gained(found)
    assert "7 orders instead of any one (mean over orders, " in list_sentences.enough(sweep)
    same = planted(np.random.default_rng(0), items=40, runs=3, q=1.0)
    assert "not demonstrably more often" in list_sentences.gained(improvement(same))
    of = "judge", improvement(same), order_sensitivity(same)
    said, good = list_sentences.answer(*of), list_sentences.candidates_answer(*of).good
    assert "on 0 % of items" in said
    assert good
    assert "no slot effect is shown" in list_sentences.slots(order_sensitivity(gains))
    assert "in it the best stands" not in list_sentences.gained(found)
    fields = {name: getattr(gains, name) for name in gains.__dataclass_fields__}
    first = gains.run == 0
    # The best one trades places with whoever stands in slot 0 of its item's first order.
    slot, item = gains.slot.copy(), gains.item
    best_slot = {
        int(i): int(s)
        for i, s in zip(
            item[first & (gains.best == 1)], slot[first & (gains.best == 1)], strict=True
        )
    }
    for row in np.flatnonzero(first):
        if gains.best[row] == 1:
            slot[row] = 0
        elif slot[row] == 0:
            slot[row] = best_slot[int(item[row])]
    unfair = improvement(type(gains)(**(fields | {"slot": slot})))
    assert (unfair.overall.first_slot, unfair.overall.first_share) == (0, 1.0)
    said = list_sentences.gained(unfair)
    assert "in slot 1 on 100 % of the items" in said
    # The yardstick that no slot flatters comes first.
    assert said.index("any one order") < said.index("The first order alone")
    apart = {"steady": order_sensitivity(same), "fickle": order_sensitivity(gains)}
    told = list_sentences.judges(apart)
    assert "least often for steady, on 0 % of 40 items" in told
    assert (
        f"most often for fickle, on {percent(apart['fickle'].changed.value)} of 400 items" in told
    )
    assert list_sentences.judges({"steady": apart["steady"]}).startswith("steady: order decides")
    once = planted(np.random.default_rng(0), items=5, runs=1, q=1.0)
    assert "nothing is known about more" in list_sentences.enough(
        order_sweep(once, rng=np.random.default_rng(0))
    )
