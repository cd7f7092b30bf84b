"""The first screen in a real browser: what is in view on a desk and on a phone, light and dark;
clicks.
"""

import pytest
from test_browser_frame import query

DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}}
LIGHT, DARK = {"color_scheme": "light"}, {"color_scheme": "dark"}
LOOKS = [{**DESK, **LIGHT}, {**DESK, **DARK}]
PHONES = [{**PHONE, **LIGHT}, {**PHONE, **DARK}]
SIGNS = {"✓", "!", "✗", "~", "?"}


def drawn(visitor, part: str):
    found = visitor.page.locator(f".st-key-{part} .js-plotly-plot")
    found.locator(".main-svg").first.wait_for()
    return found


def inside(visitor, selector: str, width: int) -> list[str]:
    """Texts of a figure that its frame or the page cuts."""
    return visitor.page.evaluate(
        """([selector, width]) => {
             const frame = document.querySelector(selector).getBoundingClientRect();
             return [...document.querySelectorAll(selector + ' svg text')].filter(text => {
               const box = text.getBoundingClientRect();
               return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1
                 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1 || box.right > width);
             }).map(text => text.textContent);
           }""",
        [selector, width],
    )


def no_sideways_scroll(visitor) -> bool:
    main = visitor.page.locator("[data-testid=stMain]")
    return main.evaluate("main => main.scrollWidth <= main.clientWidth")


@pytest.mark.parametrize("visitor", LOOKS, indirect=True)
def test_browser_decision_evidence_and_checks_are_in_view(visitor):
    visitor.open("/")
    for part in ("wide-strip", "wide-matrix"):
        drawn(visitor, part)
        assert inside(visitor, f".st-key-{part} .js-plotly-plot", 1440) == []
    assert visitor.page.locator(".st-key-word-ok").inner_text().startswith("✓ May decide ·")
    for key in ("card", "wide-strip", "wide-matrix"):
        box = visitor.page.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 900, key
    assert visitor.page.locator(".st-key-narrow-strip").is_hidden()
    assert no_sideways_scroll(visitor)


@pytest.mark.parametrize("visitor", PHONES, indirect=True)
def test_browser_decision_evidence_and_checks_are_in_view_on_a_phone(visitor):
    visitor.open("/")
    for part in ("narrow-strip", "narrow-matrix"):
        drawn(visitor, part)
        assert inside(visitor, f".st-key-{part} .js-plotly-plot", 390) == []
    for key in ("card", "narrow-strip", "narrow-matrix"):
        box = visitor.page.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 844, key
    assert visitor.page.locator(".st-key-wide-strip").is_hidden()
    assert no_sideways_scroll(visitor)
    figures = [figure for figure in visitor.figures() if figure["marks"]]
    assert [figure["overlaps"] for figure in figures] == [[]] * len(figures)
    cells = drawn(visitor, "narrow-matrix")
    assert "✓ ties" in cells.locator("g.textpoint text").all_text_contents()
    cells.locator("path.point").nth(2).click(force=True)
    visitor.page.wait_for_url("**/position_bias?**")
    visitor.arrive("Position bias")
    assert query(visitor)["judge"] == ["sim-judge-careful"]


@pytest.mark.parametrize("visitor", [DESK], indirect=True)
def test_browser_a_click_chooses_the_judge_and_a_cell_opens_its_page(visitor):
    visitor.open("/")
    points = drawn(visitor, "wide-strip").locator("path.point")
    # The chosen judge's mark is drawn last, so the fourth is that of the fifth judge.
    points.nth(3).click(force=True)
    visitor.page.wait_for_url("**judge=sim-judge-first-slot**")
    visitor.settle()
    assert "Not " in visitor.page.locator(".st-key-card").inner_text()
    cells = drawn(visitor, "wide-matrix")
    assert set(cells.locator("g.textpoint text").all_text_contents()) <= SIGNS
    cells.locator("path.point").nth(2).click(force=True)
    visitor.page.wait_for_url("**/position_bias?**")
    visitor.arrive("Position bias")
    assert query(visitor)["judge"] == ["sim-judge-careful"]
