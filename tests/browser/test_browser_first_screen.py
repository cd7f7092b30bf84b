"""The first screen in a real browser: what stands above the fold, on a wide screen and on a phone."""

import pytest

WIDE = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}


def bottom(visitor, selector: str) -> float:
    """Lower edge of the first visible element, in pixels of the screen."""
    box = visitor.page.locator(f"{selector} >> visible=true").first.bounding_box()
    return float(box["y"] + box["height"])


def too_wide(visitor) -> list[str]:
    """Texts of figures that lie outside of their figure or of the screen."""
    found: list[str] = visitor.page.evaluate(
        """() => [...document.querySelectorAll('[class*=st-key-wide-], [class*=st-key-narrow-]')]
          .filter(part => part.getBoundingClientRect().width > 0)
          .flatMap(part => [...part.querySelectorAll('.js-plotly-plot text')])
          .filter(text => { const own = text.getBoundingClientRect();
                            const all = text.closest('.js-plotly-plot').getBoundingClientRect();
                            return own.width > 0 && (own.left < all.left - 1 || own.right > all.right + 1); })
          .map(text => text.textContent)"""
    )
    return found


@pytest.mark.parametrize("visitor", [WIDE], indirect=True)
def test_browser_card_picture_and_matrix_stand_above_the_fold(visitor):
    visitor.open("/")
    visitor.page.wait_for_selector(".st-key-wide-matrix .js-plotly-plot .point")
    assert visitor.page.locator(".st-key-word-warn").inner_text() == "! Trust with limits"
    for part in ("card", "wide-strip", "wide-matrix"):
        assert bottom(visitor, f".st-key-{part}") <= 900, part
    assert too_wide(visitor) == []
    assert not visitor.page.locator(".st-key-narrow-strip").is_visible()


@pytest.mark.parametrize("visitor", [PHONE], indirect=True)
def test_browser_a_phone_shows_the_panels_below_each_other(visitor):
    visitor.open("/?judge=sim-judge-boaster")
    visitor.page.wait_for_selector(".st-key-narrow-matrix .js-plotly-plot .point")
    assert bottom(visitor, ".st-key-card") <= 844
    assert not visitor.page.locator(".st-key-wide-strip").is_visible()
    assert too_wide(visitor) == []
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
