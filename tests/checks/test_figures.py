"""Figures as `go.Figure`: what is plotted equals the result, names are safe, raters keep their
look.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.finding.figure import COLOURS, MAX_POINTS, label, rater_styles, thinned


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
    with_people = rater_styles(
        {**dict.fromkeys(judges, "llm"), "ann": "human"}, dummies=["constant"]
    )
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
    assert (
        min(contrast(c) for c in (*colours.raters, colours.human, colours.neutral, colours.accent))
        >= 3
    )
    assert contrast(colours.text) >= 4.5
    assert len(set(colours.raters)) == 7
    assert math.gcd(len(colours.raters), 10) == 1
