"""Calibration in figures and sentences: what is plotted is the result, and names are only text."""

from dataclasses import replace

import numpy as np
import pytest
from draws import seeded
from evidence_of import confidence_results, result

from core.finding.figure import COLOURS, rater_styles
from core.questions.confidence import words as sentences
from core.questions.confidence.alone import threshold_for_risk
from core.questions.confidence.calibration_error import by_chance, noise_floor, reliability
from core.questions.confidence.figure import (
    before_and_after,
    bin_key,
    reliability_diagram,
    risk_figure,
    th_figure,
)
from core.questions.confidence.recalibration import recalibrate
from core.questions.confidence.selective import risk_coverage
from core.questions.confidence.th_scores import th_score, th_sweep
from core.records import OutcomeCounts
from core.stats.estimate import Estimate

HOSTILE = '<a href="javascript:alert(1)">x</a>\n<b>%{x}'


@pytest.fixture
def judged() -> OutcomeCounts:
    rng = np.random.default_rng(5)
    confidence = rng.integers(0, 21, 400) / 20
    return OutcomeCounts(
        item=rng.integers(0, 90, 400),
        confidence=confidence,
        n=np.ones(400, dtype=np.int64),
        correct=(rng.random(400) < confidence).astype(np.int64),
    )


def test_reliability_diagram_plots_the_result(judged: OutcomeCounts) -> None:
    diagram = reliability(judged, bins=10)
    fig = reliability_diagram({"j": diagram}, styles=rater_styles(["j"]), chosen="j: 0.4 to 0.5")
    ideal, _, marks, strip = fig.data
    filled = diagram.n > 0
    assert list(ideal.x) == list(ideal.y) == [0, 1]
    np.testing.assert_array_equal(marks.x, diagram.confidence[filled])
    np.testing.assert_array_equal(marks.y, diagram.accuracy.value[filled])
    np.testing.assert_allclose(marks.y + marks.error_y.array, diagram.accuracy.high[filled])
    np.testing.assert_allclose(marks.y - marks.error_y.arrayminus, diagram.accuracy.low[filled])
    keys = [
        bin_key("j", low, high)
        for low, high in zip(diagram.low[filled], diagram.high[filled], strict=True)
    ]
    assert [row[0] for row in marks.customdata] == keys == [row[0] for row in strip.customdata]
    assert [width > 0 for width in marks.marker.line.width] == [
        key == "j: 0.4 to 0.5" for key in keys
    ]
    np.testing.assert_allclose(strip.y, 100 * diagram.n[filled] / 400)
    assert fig.layout.yaxis.scaleanchor == "x"
    assert f"n {diagram.n[filled][0]:,}" in marks.hovertext[0]


def test_th_figure_plots_the_sweep(judged: OutcomeCounts) -> None:
    sweep, score = th_sweep(judged), th_score(judged, 0.1)
    fig = th_figure({"j": sweep}, {"j": score}, 0.1, styles=rater_styles(["j"]))
    band, line, mark, rates, rate, share, _ = fig.data
    np.testing.assert_array_equal(band.y, [*sweep.th.low, *sweep.th.high[::-1]])
    np.testing.assert_array_equal(line.y, sweep.th.value)
    np.testing.assert_array_equal(rates.y, sweep.accuracy)
    np.testing.assert_allclose(share.y, 100 * sweep.share)
    assert mark.y[0] == score.th.value
    assert mark.customdata[0][0] == "j: from 0.9"
    assert rate.y[0] - rate.error_y.arrayminus[0] == pytest.approx(score.accuracy.low)
    assert rate.y[0] + rate.error_y.array[0] == pytest.approx(score.accuracy.high)


def test_risk_figure_plots_curve_and_threshold(judged: OutcomeCounts) -> None:
    curve, found = risk_coverage(judged), threshold_for_risk(judged, alpha=0.35, delta=0.1)
    assert found.threshold is not None
    fig = risk_figure({"j": curve}, {"j": found}, styles=rater_styles(["j"]))
    _, band, line, cuts = fig.data
    np.testing.assert_array_equal(line.x, curve.coverage)
    np.testing.assert_array_equal(line.y, curve.risk.value)
    np.testing.assert_array_equal(band.y, [*curve.risk.low, *curve.risk.high[::-1]])
    np.testing.assert_allclose(cuts.y + cuts.error_y.array, found.cut_bound)
    assert [symbol.endswith("-open") for symbol in cuts.marker.symbol] == [
        not ok for ok in found.passed
    ]
    assert cuts.marker.size.index(14) == int(found.passed.sum()) - 1
    two = risk_figure(
        {"j": curve, "k": curve}, {"j": found, "k": found}, styles=rater_styles(["j", "k"])
    )
    assert [list(trace.x) for trace in two.data if trace.mode == "markers"] == [
        [found.coverage]
    ] * 2


def test_only_stated_confidence_leads_to_votes(judged: OutcomeCounts) -> None:
    found = recalibrate(judged, method="histogram", rng=seeded())
    fig = before_and_after(found, style=rater_styles(["j"])["j"])
    _, _, stated, _, after, _ = fig.data
    np.testing.assert_array_equal(
        stated.y, found.before.reliability.accuracy.value[found.before.reliability.n > 0]
    )
    np.testing.assert_array_equal(
        after.x, found.after.reliability.confidence[found.after.reliability.n > 0]
    )
    assert all(row[0].startswith("as stated: ") for row in stated.customdata)
    assert all(row[0] is None for row in after.customdata)


def test_hostile_names_are_escaped(judged: OutcomeCounts) -> None:
    styles = rater_styles([HOSTILE, "b"])
    both = {HOSTILE: judged, "b": judged}
    figures = (
        reliability_diagram({name: reliability(one) for name, one in both.items()}, styles=styles),
        th_figure(
            {name: th_sweep(one) for name, one in both.items()},
            {name: th_score(one, 0.1) for name, one in both.items()},
            0.1,
            styles=styles,
        ),
        risk_figure(
            {name: risk_coverage(one) for name, one in both.items()},
            {name: threshold_for_risk(one, alpha=0.35, delta=0.1) for name, one in both.items()},
            styles=styles,
        ),
    )
    for fig in figures:
        shown = [
            text for trace in fig.data for text in (trace.name or "", *(trace.hovertext or ()))
        ]
        assert any("&lt;a" in text for text in shown)
        assert not any("<a" in text or "<b>%" in text for text in shown)
        assert all(trace.hovertemplate is None for trace in fig.data)
        assert all("<" not in (trace.legendgroup or "") for trace in fig.data)


def test_long_names_do_not_squeeze_the_figure(judged: OutcomeCounts) -> None:
    def drawn(names: list[str]) -> tuple[float, float]:
        layout = reliability_diagram(
            {name: reliability(judged) for name in names}, styles=rater_styles(names)
        ).layout
        return layout.height, layout.height - (layout.margin.b or 8)

    short, long = (
        drawn(["a", "b"]),
        drawn([f"{k} with a name of forty characters or more" for k in range(9)]),
    )
    assert short == (440, 432)
    # Eight rows of legend and one for the ideal line; the axis title's room stays as it was.
    assert long == (440 + 9 * 23, 440 - 56)


def test_of_many_judges_eight_have_a_colour_and_a_name(judged: OutcomeCounts) -> None:
    names = [f"judge {k}" for k in range(65)]
    fig = reliability_diagram(
        {name: reliability(judged) for name in names}, styles=rater_styles(names)
    )
    named = [one.name for one in fig.data if one.showlegend is not False and one.name in names]
    assert named == names[:8]
    grey = [one for one in fig.data if one.name in names[8:] and one.visible is not False]
    assert {one.line.color for one in grey} == {COLOURS["light"].neutral}
    # Behind those with a colour.
    order = [one.name in named for one in fig.data if one.name in names]
    assert order == sorted(order)


def of(confidence: float, right: int, wrong: int) -> OutcomeCounts:
    """One vote an item, all with one confidence."""
    n = right + wrong
    return OutcomeCounts(
        item=np.arange(n),
        confidence=np.full(n, confidence),
        n=np.ones(n, dtype=np.int64),
        correct=(np.arange(n) < right).astype(np.int64),
    )


def test_answer_joins_three_verdicts_and_takes_the_worst_grade() -> None:
    known = of(0.95, 70, 30)
    parts = confidence_results(known)
    said = sentences.confidence(parts, of=3)
    assert said.sentence == (
        f"{' '.join(part.sentence for part in parts)} Of 3 judges it has the largest ECE."
    )
    # One confidence for all separates nothing, which is a warning at most.
    assert [part.grade for part in parts] == ["warn", "fail", "warn"]
    assert said.grade == "fail"
    assert "largest" not in sentences.confidence(parts).sentence
    assert sentences.confidence(confidence_results(None)).grade == "unknown"


def test_the_sentence_has_the_noise_of_the_table() -> None:
    known = of(0.95, 70, 30)
    floor = by_chance(noise_floor(known, rng=seeded()))
    sentence = result("calibration", outcomes=known).sentence
    assert f"noise alone shows up to {100 * floor:.1f};" in sentence


def test_sentences_of_a_threshold() -> None:
    known = of(0.9, 98, 2)
    curve = risk_coverage(known)
    said = sentences.selective("j", curve, threshold_for_risk(known, alpha=0.1, delta=0.1))
    # Only the target is certified: the bound of the cut that was picked is not.
    assert said == (
        "j: nothing need be dropped for a target of 10 %; keeping all of its 100 votes, 2 % are "
        "wrong, in the long run at most 10 % with 90 % certainty."
    )
    said = sentences.selective("j", curve, threshold_for_risk(known, alpha=0.025, delta=0.1))
    assert said.startswith(
        "j: no threshold keeps its error rate at or below 2.5 % with 90 % certainty (the first "
        "verdicts that are tested, the 100 % of confidence 0.9 and above (n 100), may err up to 5."
    )
    mixed = OutcomeCounts(
        item=np.arange(200),
        confidence=np.repeat([0.9, 0.6], 100),
        n=np.ones(200, dtype=np.int64),
        correct=np.concatenate([np.arange(100) >= 2, np.arange(100) >= 50]).astype(np.int64),
    )
    said = sentences.selective(
        "j",
        risk_coverage(mixed),
        threshold_for_risk(mixed, alpha=0.1, delta=0.1),
        noun="both-order pairs",
    )
    assert said == (
        "j: trust it from confidence 0.9 up. That keeps 50 % of its both-order pairs (n 100), of "
        "which 2.0 % are wrong, in the long run at most 10 % with 90 % certainty; the other 50 % "
        "need another judge. Without a threshold 26 % are wrong."
    )


def test_sentences_of_near_certainty() -> None:
    assert sentences.near_certain("j", th_score(of(0.7, 3, 1), 0.1)) == (
        "j: none of its votes is nearly certain (confidence over 0.90 or under 0.10), so TH-Score "
        "is 0."
    )
    score = replace(
        th_score(of(0.95, 3, 1), 0.1, scale="published"), th=Estimate(14.2013, 1.0, 2.0)
    )
    said = sentences.near_certain("j", score)
    # (exp(.25) − 1) · 100 / 2 = 14.2013; Wilson interval of 3 of 4: .3006 to .9544.
    assert said == (
        "j: 100 % of its votes are nearly certain (confidence over 0.90 or under 0.10), and 75 % "
        "of those "
        "are right (30 % to 95 %, n 4). TH-Score 14.20 (1.00 to 2.00, halved as published)."
    )
