"""The frame of the app in a real browser: deep links, the URL as state, no other host, narrow and dark."""

import ast
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "pages"


def pages_in_navigation() -> list[str]:
    """Names listed in pages/main.py that exist, in order."""
    tree = ast.parse((PAGES / "main.py").read_text(encoding="utf-8"))
    listed = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "SECTIONS"
    )
    names = [name for section in ast.literal_eval(listed).values() for name in section]
    return [name.removesuffix(".py") for name in names if (PAGES / name).exists()]


@pytest.mark.parametrize("name", pages_in_navigation())
def test_browser_cold_deep_link(visitor, name):
    visitor.open(f"/{name}" if name != "overview" else "/")
    assert visitor.title().lower().startswith(name)
    assert visitor.page.locator("[data-testid=stSidebarNav] a").count() == len(pages_in_navigation())
    assert visitor.page.locator("[data-testid=stSidebar] [data-testid=stSelectbox]").first.is_visible()
    assert visitor.page.locator("[data-testid=stException]").count() == 0
