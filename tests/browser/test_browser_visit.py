"""One visit: judge and filters stay through back, forward, reload, copied links and two tabs."""

import os
import random
from urllib.parse import parse_qs, urlsplit

import pytest

WALKS = int(os.environ.get("APPELLATE_WALKS", "2"))
JUDGES = ("sim-judge-careful", "sim-judge-decisive", "sim-judge-boaster", "sim-judge-first-slot")
PAGES = {
    "Verdict": "/",
    "Confusion matrices": "/confusion",
    "Reliability diagrams": "/calibration",
    "Position bias": "/position_bias",
}
TABS = {
    "Reliability diagrams": ("Reliability", "Threshold", "Recalibration"),
    "Position bias": ("What order does", "Correcting for order"),
}
KEPT = ("judge", "category", "dataset", "tab")


def state(visitor) -> dict[str, list[str]]:
    given = parse_qs(urlsplit(visitor.page.url).query)
    return {name: given[name] for name in KEPT if name in given}


def wanted(visitor, **known: str | None) -> None:
    """Wait until the address has this much; None: until it has none of the name."""
    for name, value in known.items():
        visitor.in_address(name, value)


def settled(visitor, kept: dict[str, list[str]]) -> None:
    """Wait until the address has what it had, and nothing else of what is looked at."""
    for name, values in kept.items():
        wanted(visitor, **{name: values[0]})
    assert state(visitor) == kept


def opened_tab(visitor, title: str) -> None:
    """Wait until the tab in the address is the open one."""
    first = TABS.get(title, ("",))[0]
    name = state(visitor).get("tab", [first])[0]
    if name:
        visitor.page.get_by_role("tab", name=name, selected=True).wait_for()


def open_tab(visitor, title: str, name: str) -> None:
    visitor.page.get_by_role("tab", name=name).click()
    wanted(visitor, tab=None if name == TABS[title][0] else name)
    visitor.settle()


def go(visitor, title: str) -> None:
    visitor.page.locator("[data-testid=stSidebarNavLink]").filter(has_text=title).first.click()
    visitor.arrive(title)


def test_browser_back_leads_to_a_page_as_it_was_left(visitor):
    judge = "sim-judge-first-slot"
    visitor.open(f"/?judge={judge}")
    assert visitor.page.title() == "Verdict · demo (simulated) · Appellate"
    go(visitor, "Confusion matrices")
    wanted(visitor, judge=judge)
    assert visitor.page.title() == "Confusion matrices · demo (simulated) · Appellate"
    assert f"{judge} names a winner in" in visitor.text()
    sidebar = visitor.page.locator("[data-testid=stSidebar]")
    assert sidebar.is_visible()
    visitor.page.emulate_media(media="print")
    assert not sidebar.is_visible()
    visitor.page.emulate_media(media="screen")
    go(visitor, "Reliability diagrams")
    wanted(visitor, judge=judge)
    go(visitor, "Position bias")
    wanted(visitor, judge=judge)
    visitor.page.go_back()
    visitor.arrive("Reliability diagrams")
    wanted(visitor, judge=judge)
    visitor.page.go_back()
    visitor.arrive("Confusion matrices")
    wanted(visitor, judge=judge)
    visitor.page.go_forward()
    visitor.arrive("Reliability diagrams")
    wanted(visitor, judge=judge)


def test_browser_back_goes_through_tabs_also_from_a_deep_link(visitor):
    judge = "sim-judge-first-slot"
    visitor.open(f"/position_bias?judge={judge}")
    open_tab(visitor, "Position bias", "Correcting for order")
    go(visitor, "Reliability diagrams")
    wanted(visitor, judge=judge, tab=None)
    open_tab(visitor, "Reliability diagrams", "Threshold")
    open_tab(visitor, "Reliability diagrams", "Reliability")
    seen = [("Reliability diagrams", "Threshold"), ("Reliability diagrams", None)]
    seen += [("Position bias", "Correcting for order"), ("Position bias", None)]
    for title, tab in seen:
        visitor.page.go_back()
        visitor.arrive(title)
        wanted(visitor, judge=judge, tab=tab)
        opened_tab(visitor, title)


def test_browser_worst_here_is_a_click_and_changes_the_judge_of_the_visit(visitor):
    visitor.open("/confusion?judge=sim-judge-careful")
    visitor.page.get_by_role("button", name="Worst here:").click()
    wanted(visitor, judge="sim-judge-decisive")
    visitor.settle()
    assert "sim-judge-decisive names a winner in" in visitor.text()
    go(visitor, "Position bias")
    wanted(visitor, judge="sim-judge-decisive")


@pytest.mark.parametrize("draw", range(WALKS))
def test_browser_drawn_walks_keep_judge_and_filters(visitor, draw):
    """Each entry of the history keeps the address that the page had when it was left.

    A walk takes half a minute: APPELLATE_WALKS=30 draws more.
    """
    rng = random.Random(draw)
    judge = rng.choice(JUDGES)
    page = rng.choice(list(PAGES))
    category = rng.choice(("Math", "Factuality", ""))
    filters = f"&category={category}" if category else ""
    visitor.open(f"{PAGES[page]}?judge={judge}{filters}")
    visitor.arrive(page)
    wanted(visitor, judge=judge)
    entries, place = [(page, state(visitor))], 0
    for _ in range(6):
        move = rng.choice(
            ("page", "page", "tab", "tab", "back", "forward", "reload", "link", "two tabs")
        )
        title, kept = entries[place]
        if move == "page":
            title = rng.choice([each for each in PAGES if each != title])
            go(visitor, title)
            wanted(visitor, judge=judge)
            entries[place + 1 :] = [(title, {})]
            place += 1
        elif move == "tab":
            names = [name for name in TABS.get(title, ()) if [name] != kept.get("tab")]
            names = names if "tab" in kept else names[1:]
            if not names:
                continue
            open_tab(visitor, title, rng.choice(names))
            entries[place + 1 :] = [(title, {})]
            place += 1
        elif move in ("back", "forward"):
            step = -1 if move == "back" else 1
            if not 0 <= place + step < len(entries):
                continue
            place += step
            getattr(visitor.page, f"go_{move}")()
            title, kept = entries[place]
            visitor.arrive(title)
            settled(visitor, kept)
            opened_tab(visitor, title)
        elif move == "reload":
            visitor.page.reload()
            visitor.arrive(title)
            settled(visitor, kept)
        elif move in ("link", "two tabs"):
            other = visitor.page.context.new_page()
            other.goto(visitor.page.url)
            other.locator("[data-testid=stMain] h1").filter(has_text=title).wait_for()
            given = parse_qs(urlsplit(other.url).query)
            assert given.get("judge") == [judge]
            assert {name: given.get(name) for name in kept} == dict(kept)
            other.close()
            assert state(visitor) == kept
        wanted(visitor, judge=judge)
        assert state(visitor)["judge"] == [judge]
        assert state(visitor).get("category") == ([category] if category else None)
        entries[place] = (entries[place][0], state(visitor))
