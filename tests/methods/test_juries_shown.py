"""Juries in figures and sentences."""

from dataclasses import replace

import numpy as np
from test_ensembles import simulated

from core.finding.answer import MOST_WORDS, words
from core.finding.figure import rater_styles
from core.finding.wording import points
from core.questions.juries.figure import accuracies_figure, without_figure
from core.questions.juries.method import Difference, compare
from core.questions.juries.words import (
    departures,
    departures_answer,
    fusers_answer,
    jury_sentence,
    rules_departures,
    widened,
    without_answer,
    without_rows,
)


def test_figures_plot_what_was_found():
    rng = np.random.default_rng(0)
    found = compare(simulated(rng, accuracy=[0.8, 0.7, 0.6], rows=300), rng=rng)
    styles = rater_styles([f"judge {place}" for place in range(3)])
    drawn = accuracies_figure(found, styles=styles)
    plotted = sorted(
        x
        for trace in drawn.data
        for x in (trace.x if trace.mode == "markers" else ())
        if x is not None
    )
    assert plotted == sorted(score.accuracy.value for score in found.scores.values())
    without = without_figure(found, "majority", styles=styles)
    gaps = [100 * gap.value for gap in found.without[found.rules.index("majority")]]
    assert [
        x
        for trace in without.data
        for x in (trace.x if trace.mode == "markers" else ())
        if x is not None
    ] == gaps


def test_a_fuser_beside_the_same_model_alone_in_words():
    table = compare(
        simulated(np.random.default_rng(0), accuracy=[0.8, 0.7, 0.6], rows=300),
        rng=np.random.default_rng(0),
    )
    member = next(iter(table.scores.values()))

    def said(low, high, items=60):
        gap = Difference(value=(low + high) / 2, low=low, high=high, n=300, items=items, level=0.95)
        fuser = replace(member, name="fuser(x)", kind="fuser", alone="x", against_alone=gap)
        return fusers_answer(replace(table, scores={"fuser(x)": fuser}))

    assert said(0.1, 0.3).headline == "Reading the others' verdicts helps fuser(x)."
    assert said(0.1, 0.3).figures == ("fuser(x) against x alone +20.0 points (10.0–30.0), n 300")
    assert said(-0.3, -0.1).headline == "Reading the others' verdicts harms fuser(x)."
    assert not said(-0.3, -0.1).good
    for few in (said(-0.1, 0.3), said(0.1, 0.3, items=20)):
        assert few.headline == (
            "Reading the others' verdicts is not shown to help or harm fuser(x)."
        )


def test_words_follow_from_numbers():
    rng = np.random.default_rng(0)
    better = compare(simulated(rng, accuracy=[0.7] * 5, rows=3000), rng=rng)
    assert jury_sentence(better).startswith("Yes. ")
    worse = compare(
        simulated(rng, accuracy=[0.97, 0.5, 0.5], rows=2000, informative=False), rng=rng
    )
    best = max(score.accuracy.value for score in worse.scores.values() if score.kind != "member")
    gap = next(
        s.against_best
        for s in worse.scores.values()
        if s.kind != "member" and s.accuracy.value == best
    )
    assert jury_sentence(worse).startswith("No. " if widened(gap, 5).high < 0 else "Not shown. ")
    told = " ".join(rules_departures(worse))
    short = departures_answer(worse)
    others = [score for score in worse.scores.values() if score.kind == "rule" and score.differs]
    ahead = [score.name for score in others if score.right > score.wrong]
    assert ("no rule is right more often" in short.headline) == (not ahead)
    assert all(name in short.headline for name in ahead[:1])
    assert words(short.headline, worse.scores) <= MOST_WORDS
    assert all(f"{score.name} right on {score.right:,} of" in short.figures for score in others)
    assert fusers_answer(worse) is None
    for score in worse.scores.values():
        if score.kind == "rule" and score.key != "majority":
            assert (f"{score.name} departs" in told) == (score.differs > 0)
    told = without_answer(worse, "majority")
    assert told.headline.startswith("Majority of judges is right less often without judge 0")
    gap = without_rows(worse, "majority")["judge 0"]
    assert told.figures.startswith(f"without judge 0 −{abs(100 * gap.value):.1f} points (−")
    assert words(told.headline) <= MOST_WORDS
    alike = compare(simulated(rng, accuracy=[0.7] * 7, rows=60), rng=rng)
    gaps = alike.without[alike.rules.index("majority")]
    needed = any(widened(gap, 7).high < 0 for gap in gaps)
    told = without_answer(alike, "majority").headline
    assert told.startswith("Majority of judges is right less often") == needed
    few = compare(simulated(rng, accuracy=[0.7] * 3, rows=20), rng=rng)
    told = without_answer(few, "majority").headline
    assert told == "20 items are too few to tell whom Majority of judges needs."
    member = worse.scores["judge 0"]
    assert f"on {member.right:,} of them, the majority on {member.wrong:,}" in departures(member)
    assert points(-0.0004) == "0.0"
    wide = widened(Difference(value=0.0, low=-0.0196, high=0.0196, n=10, items=10, level=0.95), 5)
    np.testing.assert_allclose([wide.low, wide.high], [-0.02576, 0.02576], atol=1e-5)
