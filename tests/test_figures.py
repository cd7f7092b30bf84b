"""Figures as `go.Figure`: what is plotted equals the result, names are safe, raters keep their look."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.calibration import reliability
from core.counts import OutcomeCounts
from core.figures import COLOURS, MAX_POINTS, bin_key, label, rater_styles, reliability_diagram, thinned


@pytest.fixture
def diagram():
    rng = np.random.default_rng(5)
    confidence = rng.integers(0, 21, 400) / 20
    outcomes = OutcomeCounts(
        item=rng.integers(0, 90, 400),
        confidence=confidence,
        n=np.ones(400, dtype=np.int64),
        correct=(rng.random(400) < confidence).astype(np.int64),
    )
    return reliability(outcomes, bins=10)


def test_reliability_diagram_plots_the_result(diagram):
    fig = reliability_diagram({"j": diagram}, styles=rater_styles(["j"]), chosen="j: 0.4 to 0.5")
    ideal, marks = fig.data
    filled = diagram.n > 0
    assert list(ideal.x) == list(ideal.y) == [0, 1]
    np.testing.assert_array_equal(marks.x, diagram.confidence[filled])
    np.testing.assert_array_equal(marks.y, diagram.accuracy[filled])
    np.testing.assert_allclose(marks.y + marks.error_y.array, diagram.accuracy_high[filled])
    np.testing.assert_allclose(marks.y - marks.error_y.arrayminus, diagram.accuracy_low[filled])
    assert [row[0] for row in marks.customdata] == [
        bin_key("j", low, high) for low, high in zip(diagram.low[filled], diagram.high[filled], strict=True)
    ]
    assert [width > 0 for width in marks.marker.line.width] == [
        row[0] == "j: 0.4 to 0.5" for row in marks.customdata
    ]
    assert fig.layout.yaxis.scaleanchor == "x"
    assert f"n {diagram.n[filled][0]:,}" in marks.hovertext[0]


def test_hostile_names_are_escaped_in_hover_and_legend(diagram):
    hostile = '<a href="javascript:alert(1)">x</a>\n<b>%{x}'
    fig = reliability_diagram({hostile: diagram}, styles=rater_styles([hostile]))
    shown = [fig.data[1].name, *fig.data[1].hovertext]
    assert all("<a" not in text and "<b>%" not in text for text in shown)
    assert fig.data[1].hovertemplate is None


@given(some.text(max_size=200))
def test_label_leaves_no_markup_and_is_short(name):
    text = label(name)
    assert "<" not in text
    assert ">" not in text
    assert "\n" not in text
    assert len(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")) <= 40


@given(some.integers(1, 5_000))
def test_thinned_keeps_both_ends_and_the_cap(length):
    kept = thinned(length)
    assert kept[0] == 0
    assert kept[-1] == length - 1
    assert (np.diff(kept) > 0).all()
    assert len(kept) == min(length, MAX_POINTS)


def test_seventy_judges_look_different_and_keep_their_look():
    judges = [f"judge {k:02d}" for k in range(70)]
    styles = rater_styles(judges)
    assert len({(style.colour, style.symbol) for style in styles.values()}) == 70
    with_people = rater_styles({**dict.fromkeys(judges, "llm"), "ann": "human"}, dummies=["constant"])
    assert {name: with_people[name] for name in judges} == styles
    assert with_people["ann"].colour == COLOURS["light"].human
    assert with_people["constant"].dash == "dash"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_stands_out_from_the_page(theme):
    # WCAG 2.2, 1.4.11: marks of a chart need 3 : 1, text 4.5 : 1 (1.4.3).
    def luminance(colour: str) -> float:
        parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    def contrast(colour: str) -> float:
        light, dark = sorted((luminance(colour), luminance(COLOURS[theme].page)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    colours = COLOURS[theme]
    assert min(contrast(c) for c in (*colours.raters, colours.human, colours.neutral, colours.accent)) >= 3
    assert contrast(colours.text) >= 4.5
    assert len(set(colours.raters)) == 7
    assert math.gcd(len(colours.raters), 10) == 1
