"""For who has no mouse, a small screen, or other eyes: contrast, names, keys, texts that
overlap.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest
from test_browser_frame import TITLES, pages_in_navigation
from visits import start_app, stop_app, visiting

DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}}
# A page of figures, and one of widgets; the first screen has tests of its own.
SOME = ["calibration", "collect"]
REST = [name for name in pages_in_navigation() if name not in SOME]
OF_STREAMLIT = {
    # A list of pages with headed sections: Streamlit wraps each section in a <div> between <ul> and
    # <li>.
    ("list", "stSidebarNavItems"),
    ("listitem", "stSidebarNavItems"),
}
"""Serious faults of every app with a navigation like ours: rule of axe-core, and the element that
has it.
"""
OF_STREAMLIT_IN_THE_DARK = {
    # Names of what is chosen: white on the primary colour, which must be light enough to be read
    # itself.
    ("color-contrast", "stMultiSelectTagsContainer")
}
BARE = """
import streamlit as st

def page():
    st.title("One")
    names = [f"name-{number}" for number in range(3)]
    st.multiselect("Chosen", names, names)


pages = [st.Page(page, title=name, url_path=name) for name in ("One", "Two")]
st.navigation({"": pages[:1], "More": pages[1:]}).run()
"""
FAULTS = """async (rules) => {
  const which = rules ? {runOnly: {type: 'rule', values: rules}} : {};
  const found = await axe.run(document, {resultTypes: ['violations'], ...which});
  const holder = (target) => {
    const found = document.querySelector(target[0])?.closest('[data-testid]');
    return found ? found.dataset.testid : target.join(' ');
  };
  return found.violations
    .filter((one) => ['serious', 'critical'].includes(one.impact))
    .flatMap((one) => one.nodes.map((node) => [one.id, holder(node.target), node.html.slice(0, 200)]));
}"""
SCHEMES = ("light", "dark")
OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""Rules that a page in other colours may break though it keeps all others."""


# Lines of the first answer of a page, its headline and its figures apart.
LINES = """() => {
  const first = document.querySelector('[class*=st-key-answer-], .st-key-found');
  if (!first) return [];
  return [[...first.querySelectorAll('[data-testid=stText]')].map((text) =>
    Math.round(text.getBoundingClientRect().height / parseFloat(getComputedStyle(text).lineHeight))
  ).reduce((sum, lines) => sum + lines, 0)];
}"""
MOST_LINES = 4
"""Of headline and figures together, on average."""


def axe() -> str:
    """Source of axe-core, which the package of the test requirements brings."""
    spec = find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        pytest.skip("axe-playwright-python is not installed")
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def faults(visitor, rules: list[str] | None = None) -> dict[tuple[str, str], str]:
    """rules : of axe-core; None: all that it holds everybody to."""
    visitor.page.evaluate(f"{axe()};null")
    return {(rule, element): html for rule, element, html in visitor.page.evaluate(FAULTS, rules)}


def turn(visitor, scheme: str) -> None:
    """Day or night on the visitor's machine, and the page drawn anew in its colours."""
    visitor.page.emulate_media(color_scheme=scheme)
    visitor.page.reload()
    visitor.settle()


@pytest.fixture(scope="module")
def bare_url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    (folder / "bare.py").write_text(BARE, encoding="utf-8")
    server, address = start_app(folder / "votes.duckdb", folder / "bare.py")
    yield address
    stop_app(server)


def arrived(visitor, name: str) -> None:
    """The page of this name, come to by its link."""
    visitor.open(f"/{name}" if name != "verdict" else "/")
    assert visitor.title() == TITLES[name]
    assert visitor.page.locator("[data-testid=stException]").count() == 0


def all_in_view(visitor, name: str) -> None:
    """No text of a figure is cut or lies on another, and nothing is reached by scrolling sideways."""
    for _ in range(20):
        found = [(figure["overlaps"], figure["cut"]) for figure in visitor.figures()]
        if all(one == ([], []) for one in found):
            break
        # A figure is drawn once more when its fonts are there, or its place has its width.
        visitor.page.wait_for_timeout(500)
    assert all(one == ([], []) for one in found), (name, found)
    assert visitor.fits_across(), name


def nothing_wider_than_the_window(visitor, name: str) -> None:
    wide = visitor.page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stMain] [data-testid=stElementContainer]')]
             .map(e => [e.getBoundingClientRect(), e.className])
             .filter(([box]) => box.width > 0 && (box.right > innerWidth + 1 || box.left < -1))
             .map(([box, name]) => name)"""
    )
    assert wide == [], name


def test_browser_pages_in_one_visit(chromium, app_url, bare_url):
    """On a desk nothing that we draw shuts anybody out, and all of it is in view: every other page
    in the dark, and each in the other colours too.
    """
    look = {**DESK, "color_scheme": "light", "bypass_csp": True}
    bare = {}
    with visiting(chromium, bare_url, **look) as visitor:
        visitor.open("/")
        for scheme in SCHEMES:
            turn(visitor, scheme)
            visitor.page.get_by_title("name-2").wait_for()
            bare[scheme] = faults(visitor).keys()
    assert bare["light"] >= OF_STREAMLIT
    assert bare["dark"] >= OF_STREAMLIT | OF_STREAMLIT_IN_THE_DARK
    with visiting(chromium, app_url, **look) as visitor:
        now, other = SCHEMES
        for name in SOME + REST:
            arrived(visitor, name)
            all_in_view(visitor, name)
            ours = faults(visitor)
            assert ours.keys() <= bare[now], (name, now, ours)
            turn(visitor, other)
            ours = faults(visitor, OF_COLOURS)
            assert ours.keys() <= bare[other], (name, other, ours)
            now, other = other, now


@pytest.mark.parametrize(
    ("visitor", "names"),
    [({**PHONE, "color_scheme": "light"}, SOME), ({**PHONE, "color_scheme": "dark"}, REST)],
    indirect=["visitor"],
    ids=["some light", "the rest dark"],
)
def test_browser_pages_open_on_a_phone(visitor, names):
    lines = []
    for name in names:
        arrived(visitor, name)
        all_in_view(visitor, name)
        nothing_wider_than_the_window(visitor, name)
        lines += visitor.page.evaluate(LINES)
    assert sum(lines) / len(lines) <= MOST_LINES, lines


@pytest.mark.parametrize("visitor", [DESK], indirect=True)
def test_browser_the_keyboard_alone_reaches_the_evidence(visitor):
    """From the top of the page to a check's page: Tab to the folded list, Enter, Tab to a link,
    Enter.
    """
    visitor.open("/")
    # Not a region of the page that scrolls, which has focus for its arrow keys and all of the
    # page's words.
    focused = "() => (document.activeElement.innerText || '').slice(0, 100)"

    def tab_to(words: str) -> None:
        for _ in range(120):
            visitor.page.keyboard.press("Tab")
            if words in visitor.page.evaluate(focused):
                return
        raise AssertionError(f"{words!r} is not reached")

    tab_to("Every check in words")
    visitor.page.keyboard.press("Enter")
    visitor.page.get_by_role("button", name="See slot").wait_for()
    tab_to("See slot")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url("**/position_bias?**judge=**")
    visitor.arrive("Position bias")
