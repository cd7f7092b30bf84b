"""The real app on a free loopback port, and Debian's Chromium to look at it with."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from visits import (
    CHROMIUM,
    LONG_MILLISECONDS,
    Visitor,
    new_context,
    start_app,
    stop_app,
    sync_api,
    visiting,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the app with an own, fresh store; one server for each worker."""
    server, address = start_app(tmp_path_factory.mktemp("store") / "votes.duckdb")
    yield address
    stop_app(server)


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """Headless Chromium; skips where there is none, unless browser tests are required."""
    path = shutil.which("chromium")
    if path is None:
        reason = "no chromium on the PATH (on Debian: apt-get install chromium)"
        if os.environ.get("APPELLATE_BROWSER_TESTS") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=list(CHROMIUM), timeout=LONG_MILLISECONDS
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def at_home(chromium) -> Iterator[Callable[..., object]]:
    """Contexts by their options, kept for the tabs of all tests: to load and compile the app's code
    anew takes longer than most tests.
    """
    contexts: dict[str, object] = {}

    def of(**options: object) -> object:
        key = repr(sorted(options.items()))
        if key not in contexts:
            contexts[key] = new_context(chromium, **options)
        return contexts[key]

    yield of
    for context in contexts.values():
        context.close()


@pytest.fixture
def visitor(request: pytest.FixtureRequest, chromium, at_home, app_url: str) -> Iterator[Visitor]:
    """A visitor of the app (see `visiting`) whose browser knows it.

    Parametrise indirectly with options of Playwright's `new_context`, such as `color_scheme` or
    `viewport`.
    """
    home = at_home(**getattr(request, "param", {}))
    with visiting(chromium, app_url, within=home) as found:
        yield found


@pytest.fixture
def new_visitor(chromium, app_url: str) -> Iterator[Visitor]:
    """A visitor whose browser has loaded nothing yet."""
    with visiting(chromium, app_url) as found:
        yield found
