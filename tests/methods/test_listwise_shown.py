"""Listwise rankings in figures and sentences."""

from dataclasses import replace

import numpy as np
from test_listwise import planted

from core.finding.answer import MOST_WORDS, words
from core.finding.figure import rater_styles
from core.finding.tables import frame
from core.finding.wording import percent
from core.questions.juries.figure import (
    improvements_figure,
    orders_key,
    parts_figure,
    sensitivities_figure,
    slots_figure,
    sweep_figure,
)
from core.questions.lists import words as list_sentences
from core.questions.lists.method import Pooled, improvement, pooled_improvements
from core.questions.lists.orders import order_sensitivity, order_sweep
from core.questions.lists.parts import FlaggedWinner, parts_alone
from core.questions.lists.slots import slot_corrected
from core.stats.estimate import Estimate

STYLE = rater_styles(["judge"])["judge"]


def test_figures_plot_what_was_found():
    table = planted(np.random.default_rng(0), items=60, runs=5, q=0.7)
    sweep = order_sweep(table, rng=np.random.default_rng(0))
    drawn = sweep_figure(sweep, style=STYLE)
    assert tuple(drawn.data[0].y) == tuple(row.accuracy.value for row in sweep.rows)
    assert tuple(drawn.data[1].y) == tuple(row.majority_error for row in sweep.rows)
    assert tuple(drawn.data[2].y) == tuple(row.bound for row in sweep.rows)
    assert [key for (key,) in drawn.data[0].customdata] == [orders_key(k) for k in range(1, 6)]
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
    parts = parts_alone(table)
    (right, _) = parts_figure(parts, styles=STYLE).data
    assert list(right.x) == [parts[-1].right.value, *(part.right.value for part in parts[:-1])]
    assert [key for (key,) in right.customdata][:2] == ["all parts", "first places"]


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
    said = list_sentences.orders_answer("judge", sweep)
    last = sweep.rows[-1]
    assert last.gain.low > 0
    near = next(row.k for row in sweep.rows if row.accuracy.value >= last.accuracy.value - 0.01)
    assert said.headline == (
        "Fewer orders than all seven cost judge a point of accuracy or more."
        if near == 7
        else f"{list_sentences.in_words(near).capitalize()} orders are nearly as good as all seven "
        "for judge."
    )
    assert f"{percent(last.accuracy.value, 1)} with 7, +" in said.figures
    same = planted(np.random.default_rng(0), items=40, runs=3, q=1.0)
    assert "not demonstrably more often" in list_sentences.gained(improvement(same))
    of = "judge", improvement(same), order_sensitivity(same)
    said, good = list_sentences.order_sentence(*of), list_sentences.candidates_answer(*of).good
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
    told = list_sentences.judges_answer(apart)
    assert told.headline == (
        "Candidate order decides least often for steady and most often for fickle."
    )
    assert told.figures.startswith("steady 0 % (0–")
    assert f"fickle {percent(apart['fickle'].changed.value)} (" in told.figures
    assert not told.good
    # The same share in both, and one that a wide interval reaches.
    same_share = list_sentences.judges_answer({"one": apart["fickle"], "two": apart["fickle"]})
    assert same_share.headline == "Candidate order decides equally often for all two judges."
    wide = replace(apart["fickle"].changed, value=0.01, low=0.0, high=0.9)
    told = list_sentences.judges_answer(apart | {"steady": replace(apart["steady"], changed=wide)})
    assert told.headline.endswith("for fickle, which may be chance.")
    alone = list_sentences.judges_answer({"steady": apart["steady"]})
    assert alone.headline == "Candidate order decides who comes first for steady on 0 % of items."
    once = planted(np.random.default_rng(0), items=5, runs=1, q=1.0)
    one_order = order_sweep(once, rng=np.random.default_rng(0))
    assert "is unknown" in list_sentences.orders_answer("judge", one_order).headline


def test_headlines_of_parts_follow_from_their_differences():
    whole, rest = parts_alone(planted(np.random.default_rng(0), items=60, runs=5, q=0.7))[-1], {}
    for name in ("score", "borda", "top"):
        rest[name] = replace(whole, part=name, change=Estimate(0.0, -0.05, 0.05, n=60))
    worse, better = Estimate(-0.1, -0.15, -0.05, n=60), Estimate(0.1, 0.05, 0.15, n=60)

    def said(**changes):
        parts = [
            replace(part, change=changes.get(name, part.change)) for name, part in rest.items()
        ]
        answer = list_sentences.parts_answer("judge", (*parts, whole))
        assert words(answer.headline) <= MOST_WORDS
        return answer

    assert said().headline == (
        "No part alone is shown to change how often the consensus of judge is right."
    )
    assert said().figures.startswith(f"all parts {percent(whole.right.value, 1)} (")
    assert said(top=worse).headline == (
        "The consensus of judge is right less often by first places alone than by all parts."
    )
    assert "· first places −10.0 (−15.0 to −5.0) ·" in said(top=worse).figures
    assert said(score=worse, borda=worse, top=worse).headline.endswith("than by any one alone.")
    assert said(borda=better).headline == (
        "The consensus of judge is right more often by ranks alone than by all parts."
    )
    assert not said(borda=better).good
    only = list_sentences.parts_answer("judge", (rest["top"], whole))
    assert only.headline == "judge gave first places only, so there is one part."


def test_all_judges_together_are_counted():
    table = planted(np.random.default_rng(0), items=60, runs=5, q=0.7)
    found = improvement(table)
    together = pooled_improvements([found, found])
    assert pooled_improvements([found]) is None
    assert (together.improved, together.regressed) == (
        2 * found.overall.improved,
        2 * found.overall.regressed,
    )
    assert together.p_value < found.overall.p_value
    rows = list_sentences.judge_rows(["a"], {"a": found}, {}, together)
    assert [row.judge for row in rows] == ["a", list_sentences.ALL_JUDGES]
    shown = frame(list_sentences.JUDGES, rows)
    assert shown["improved"].tolist() == [found.overall.improved, together.improved]

    # Where first orders test a slot, they are no measure of what averaging does.
    slot = replace(found.overall, first_share=0.95, chance=0.25)
    gains = [(-0.1, 0.05, 0.2), (0.02, 0.1, 0.2), (0.02, 0.1, 0.2)]
    judges = [
        replace(found, overall=replace(slot, gain=Estimate(value, low, high)))
        for low, value, high in gains
    ]
    guarded = list_sentences.pooled_answer(pooled_improvements(judges))
    assert guarded.headline == "All judges together: averaging orders helps 2 of 3 judges."
    assert "the best stands in one slot for 3 judges" in guarded.figures

    def headline(improved, regressed, p):
        row = Pooled(judges=2, improved=improved, regressed=regressed, p_value=p)
        return list_sentences.pooled_answer(row).headline

    start = "All judges together: the consensus of orders sets "
    assert headline(9, 1, 0.02) == f"{start}more items right than wrong."
    assert headline(5, 3, 0.7) == f"{start}more items right than wrong, which may be chance."
    assert headline(1, 9, 0.02) == f"{start}fewer items right than wrong."
    assert headline(4, 4, 1.0) == f"{start}as many items right as wrong."


def test_headlines_of_flags_follow_from_their_differences():
    def said(**changes):
        flags = [
            FlaggedWinner(
                fault=fault,
                consensus=Estimate(0.2, 0.1, 0.3, n=60),
                direct=Estimate(0.2, 0.1, 0.3, n=60),
                change=change,
                all=0.3,
            )
            for fault, change in changes.items()
        ]
        return list_sentences.flags_answer("judge", flags)

    level = Estimate(0.0, -0.05, 0.05, n=60)
    less, more = Estimate(-0.1, -0.15, -0.05, n=60), Estimate(0.1, 0.05, 0.15, n=60)
    rarely = said(major_error=less, unsupported=level)
    assert rarely.headline == "Pooling orders puts answers first that judge flags less often."
    assert "major error 20.0 % (10.0–30.0), first order 20.0 %, −10.0 points" in rarely.figures
    assert said(major_error=more).headline.endswith("flags more often.")
    assert "changes how often" in said(major_error=more, unsupported=less).headline
    assert "is not shown to change" in said(major_error=level).headline
