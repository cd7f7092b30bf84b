"""The app in this process: pages come to by their links, and what they say."""

from __future__ import annotations

from patience import LONG
from places import MAIN
from streamlit.testing.v1 import AppTest

from core.places import NAMES, now

OPENED = "Store.open(default_path(), read_only=True)"
"""How copied lines open the store; tests give them the open one, as they are one process."""


def new_app() -> AppTest:
    """The app before its first run."""
    return AppTest.from_file(str(MAIN), default_timeout=LONG)


def calm(app: AppTest) -> AppTest:
    """The app, which raised nothing."""
    assert not app.exception
    return app


def opened(app: AppTest, page: str, **query: str | list[str]) -> AppTest:
    """The app on the page at this address, come to by a link with this query."""
    for name, value in query.items():
        app.query_params[name] = value
    if page != "verdict":
        app.switch_page(f"{page}.py")
    calm(app.run())
    shown, _ = now(page, str(query.get("tab", "")))
    assert [title.value for title in app.title] == [NAMES[shown]]
    return app


def texts(app: AppTest) -> list[str]:
    """The texts of a page."""
    return [element.value for element in app.text]


def all_text(app: AppTest) -> str:
    """The texts of a page that raised nothing, one a line."""
    return "\n".join(texts(calm(app)))


def judge_of(app: AppTest) -> str:
    """The judge that a page is about: the chosen one, or the one that its empty box names."""
    box = app.selectbox(key="judge")
    return box.value or box.placeholder.partition(": ")[2]
